#pragma once
/* gate: when is an object finished? One answer for any object: ready, not yet, or failed for good,
 * with words that name the condition and its reason. Chosen per object, in this order:
 *   1. helm.sh/readiness-success and helm.sh/readiness-failure (HIP-0025): JSON arrays of
 *      conditions with paths relative to .status
 *   2. the kind's own rule (a table: kstatus, and SRO's where kstatus is too weak)
 *   3. kstatus' generic rule by status.conditions and observedGeneration
 * Pure: a gate is built from the manifest once and asked about each live document. */
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

struct json_object;

enum sw_readiness_kind {
    SW_READINESS_WAITING, /* not yet; its next change may open the gate */
    SW_READINESS_READY,
    SW_READINESS_FAILED, /* says itself that it has failed */
};

/** @reason: one CamelCase word ("Unavailable"); @message: a sentence naming condition and reason.
 * Both owned, NULL when ready. Zero-initialise. */
struct sw_readiness {
    enum sw_readiness_kind kind;
    char *reason;
    char *message;
    char *container; /* of a pod: it has ended, and its log may say why; NULL: none has */
};
void sw_readiness_done(struct sw_readiness *readiness);
#define SW_READINESS(name)                                                                         \
    __attribute__((cleanup(sw_readiness_done))) struct sw_readiness name = { 0 }
/** Replace what it says. */
void sw_readiness_set(struct sw_readiness *readiness, enum sw_readiness_kind kind,
                      const char *reason, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/** The object's state by its kind, without annotations. @live is a whole document; NULL: not there.
 * Source: kstatus (sigs.k8s.io/cli-utils), SRO's wait rules. Pinned by
 * test/unit/operator/engine_kstatus_test.c. */
void sw_kstatus(struct json_object *live, struct sw_readiness *out);

/** Kinds that have a rule of their own, for `docs` and tests: NULL after the last. */
const char *sw_kstatus_kind(size_t i);

/* ---- annotations -------------------------------------------------------------------------------
 */

#define SW_ANN_WAIT "specialresource.openshift.io/wait"
#define SW_ANN_WAIT_FOR_LOGS "specialresource.openshift.io/wait-for-logs"
#define SW_ANN_READY_IF "helm.sh/readiness-success"
#define SW_ANN_FAILED_IF "helm.sh/readiness-failure"
#define SW_ANN_STATE "specialresource.openshift.io/state"
#define SW_ANN_VENDOR "specialresource.openshift.io/driver-container-vendor"
#define SW_ANN_HOOK "helm.sh/hook"
/** "true": an object that slipway does not own: it is waited for and never written. */
#define SW_ANN_OBSERVE "slipway.dev/observe"
/** "true": slipway writes the object, but somebody else's controller brings it ready: when it
 * leaves ready later, its state is Held (as for an observed one). */
#define SW_ANN_HOLD "slipway.dev/hold"
/** "true": never kept: the object is applied with dryRun=All until the server accepts it. */
#define SW_ANN_DRY_RUN "slipway.dev/dry-run"
/** Keys, comma-separated: each node of the state must carry these labels; the state finishes node
 * by node. On any object of the state. */
#define SW_ANN_NODE_LABELS "slipway.dev/wait-for-node-labels"
/** "true": an existing object of another owner may be taken over (it is not deleted later). */
#define SW_ANN_ADOPT "slipway.dev/adopt"
/** "true": where a change is refused because a field is immutable, delete and create again. */
#define SW_ANN_REPLACE "slipway.dev/replace"

/** A span of time ("30m"): the state is Failed when it takes longer to get ready. On any object of
 * the state; the longest counts. */
#define SW_ANN_TIMEOUT "slipway.dev/timeout"
/** A number: a Job, or a Pod that is to end, is run again at most so often when it failed. */
#define SW_ANN_RETRIES "slipway.dev/retries"

/** "by-node": a DaemonSet whose old pods are deleted node after node (upgrade.h): one of an older
 * template that is ready counts where it is until its turn comes. Set by the controller. */
#define SW_ANN_UPGRADE "slipway.dev/upgrade"

struct sw_gate;

/** Read the annotations of a manifest. @wait_all: its chart has every object awaited.
 * @return 0 | SW_INVALID: an expression that is none, naming annotation and place */
int sw_gate_new(struct json_object *manifest, bool wait_all, struct sw_gate **out,
                struct sw_err *err) SW_CHECKED;
void sw_gate_free(struct sw_gate *gate);
SW_DEFINE_AUTO(sw_gate, sw_gate_free)

/** Does the state wait for this object? (wait annotations, hooks, observed and dry-run objects,
 * expressions, wait_all; Namespaces and CustomResourceDefinitions always.) */
bool sw_gate_is_awaited(const struct sw_gate *gate);
/** Judge a live document (NULL: not there). */
void sw_gate_judge(const struct sw_gate *gate, struct json_object *live, struct sw_readiness *out);
