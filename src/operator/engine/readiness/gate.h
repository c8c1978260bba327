#pragma once
/* gate: when an object of a state is ready. In this order:
 *   1. helm.sh/readiness-success and helm.sh/readiness-failure (HIP-0025): JSON arrays of
 *      conditions with paths relative to .status
 *   2. the kind's own rule (readiness.h: kstatus, and SRO's where kstatus is too weak)
 *   3. kstatus' generic rule by status.conditions and observedGeneration
 * and besides, where it is annotated, slipway.dev/assert.
 * A gate is read from the manifest once, and judges each live document. Pure. */
#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "operator/engine/readiness/readiness.h"

struct json_object;
struct sw_condition;

/* ---- annotations -------------------------------------------------------------------------------
 */

/** "true": the state waits until the object is ready. SRO's. */
#define SW_ANN_WAIT "specialresource.openshift.io/wait"
/** A regular expression that the log of each of the object's pods must match. SRO's. */
#define SW_ANN_WAIT_FOR_LOGS "specialresource.openshift.io/wait-for-logs"
/** HIP-0025: JSON arrays of conditions; both are needed. */
#define SW_ANN_READY_IF "helm.sh/readiness-success"
#define SW_ANN_FAILED_IF "helm.sh/readiness-failure"
/** "driver-container": a DaemonSet of drivers. SRO's. */
#define SW_ANN_STATE "specialresource.openshift.io/state"
/** The vendor that a BuildConfig and a DaemonSet of drivers have in common. SRO's. */
#define SW_ANN_VENDOR "specialresource.openshift.io/driver-container-vendor"
/** Helm's hook events. */
#define SW_ANN_HOOK "helm.sh/hook"
/** "true": an object that slipway does not own: its state waits for it, slipway never writes it.
 * "any", "none": the manifest is no object, but speaks of all objects of its kind in its namespace
 * (of all, where the kind has none): SW_ANN_ASSERT holds for one of them, or for none. */
#define SW_ANN_OBSERVE "slipway.dev/observe"
/** What the object must have besides, to be ready: a tree of assertions as Chainsaw has them, in
 * YAML (data/jmespath). Of "any" and "none", metadata.labels in it select at the API server. */
#define SW_ANN_ASSERT "slipway.dev/assert"
/** For people, beside SW_ANN_ASSERT: what it means where it does not hold, and what to do. */
#define SW_ANN_ASSERT_MESSAGE "slipway.dev/assert-message"
/** For people: what the object's state has chosen, and why. */
#define SW_ANN_NOTE "slipway.dev/note"
/** What of somebody else's the state has chosen instead of installing it; the status keeps it. */
#define SW_ANN_OBSERVES "slipway.dev/observes"
/** "true": slipway writes the object, but another controller makes it ready: when it leaves ready
 * later, its state is Held (as for an observed one). */
#define SW_ANN_HOLD "slipway.dev/hold"
/** "true": the object is applied with dryRun=All until the server accepts it, and never stored. */
#define SW_ANN_DRY_RUN "slipway.dev/dry-run"
/** Keys, or keys with values ("key=value"), comma-separated: each node of the state must carry
 * these labels; the state finishes node by node. On any object of the state, whose name "<name>" in
 * it is. */
#define SW_ANN_NODE_LABELS "slipway.dev/wait-for-node-labels"
/** Names of extended resources ("gpu.intel.com/i915", "gpu.intel.com/" and a star for any of them),
 * comma-separated: each node of the state must have some of each allocatable, as with
 * SW_ANN_NODE_LABELS. */
#define SW_ANN_NODE_RESOURCES "slipway.dev/wait-for-node-resources"
#define SW_ANN_NODES "slipway.dev/wait-for-nodes"
/** "true": an existing object of another owner may be taken over (it is not deleted later). */
#define SW_ANN_ADOPT "slipway.dev/adopt"
/** "true": where a change is refused because a field is immutable, delete and create again. */
#define SW_ANN_REPLACE "slipway.dev/replace"
/** A duration ("30m"): the state is Failed when it takes longer to get ready. On any object of the
 * state; the longest counts. */
#define SW_ANN_TIMEOUT "slipway.dev/timeout"
/** A duration: the state is Failed when the object, with its SW_ANN_ASSERT, is not ready for so
 * long, whatever time others of the state may take. */
#define SW_ANN_ASSERT_TIMEOUT "slipway.dev/assert-timeout"
/** "true": a DaemonSet that matches no node is ready, as those of vendors' charts for devices that
 * no node has; and so is what waits for nodes (SW_ANN_NODE_LABELS) where none is waited for. */
#define SW_ANN_NO_NODE "slipway.dev/may-match-no-node"
/** A number: how often a Job, or a Pod that runs to completion, is run again after it failed. */
#define SW_ANN_RETRIES "slipway.dev/retries"
/** The phase that a Job belongs to which checks something. Where its pod failure policy fails it
 * for exit code 2, the check does not apply, which is no failure; those of one phase that need each
 * other run one after the other, whatever they come to. Source: NVIDIA/aicr, validators. */
#define SW_ANN_CHECK "slipway.dev/check"
/** "by-node": a DaemonSet whose old pods are deleted node after node (upgrade.h): a ready pod of an
 * older template counts on its node until the node's turn comes. Set by the controller. */
#define SW_ANN_UPGRADE "slipway.dev/upgrade"

/* ---- gates -------------------------------------------------------------------------------------
 */

/** Compiled conditions of one annotation. */
struct sw_conditions {
    struct sw_condition **items; /* owned */
    size_t n;
};

/** Of which objects a manifest speaks: of the one that it names, or of all of its kind. */
enum sw_gate_of { SW_GATE_OF_ONE, SW_GATE_OF_ANY, SW_GATE_OF_NONE };

/** What the annotations and the kind of one manifest say. Read only. */
struct sw_gate {
    struct sw_conditions success, failure; /* used only where the manifest has both */
    bool custom;                           /* it has both */
    enum sw_gate_of of;
    struct sw_assertion *assertion; /* SW_ANN_ASSERT; NULL: none */
    char *asserted;                 /* its fields and values, for people */
    char *assert_message;           /* SW_ANN_ASSERT_MESSAGE; NULL: none */
    char *note;                     /* SW_ANN_NOTE; NULL: none */
    char *observes;                 /* SW_ANN_OBSERVES; NULL: none */
    char *check;                    /* of a Job SW_ANN_CHECK; NULL: none */
    char *selector; /* of the objects that it is about, as in a URL; NULL: all, or one */
    bool hides;     /* its values may be secret */
    /** The state waits for this object: wait annotations, hooks, observed and dry-run objects,
     * conditions, @wait_all; Namespaces and CustomResourceDefinitions always. */
    bool awaited;
    bool observe, hold, dry_run, adopt,
        replace;             /* their annotations; @replace: Jobs and Pods too */
    bool runs_to_completion; /* a Job, or a Pod that does not run for ever */
    char *vendor;            /* SW_ANN_VENDOR; NULL: none */
    bool driver_container;   /* see SW_ANN_STATE */
    bool by_node;            /* see SW_ANN_UPGRADE */
    int64_t timeout_ms;      /* 0: none */
    int64_t assert_ms;       /* SW_ANN_ASSERT_TIMEOUT; 0: none */
    int64_t n_retries;       /* -1: any number */
    char **node_labels;      /* of SW_ANN_NODE_LABELS: "key", "key=value" */
    size_t n_node_labels;
    char **node_resources; /* names of SW_ANN_NODE_RESOURCES */
    size_t n_node_resources;
    bool may_match_no_node; /* of these two: SW_ANN_NO_NODE */
    /** Where it waits for nodes: those with the labels in its spec.nodeSelector; NULL: all nodes of
     * the resource. Owned. */
    struct json_object *node_selector;
    char *log_pattern; /* SW_ANN_WAIT_FOR_LOGS, or NULL */
    regex_t log_regex; /* compiled @log_pattern */
};

/** Read the annotations of a manifest; sw_gate_free(). @wait_all: its chart has every object
 * awaited.
 * @return 0 | SW_INVALID: an annotation's value is wrong; names annotation and place */
int sw_gate_new(struct json_object *manifest, bool wait_all, struct sw_gate **out,
                struct sw_err *err) SW_CHECKED;
/** Does it wait for nodes, one by one? */
bool sw_gate_is_by_node(const struct sw_gate *gate);
void sw_gate_free(struct sw_gate *gate); /* NULL is accepted */
SW_DEFINE_AUTO(sw_gate, sw_gate_free)

/** The readiness of a live document (NULL: it does not exist), into @out. Logs and node labels are
 * left to the engine. Pinned by test/unit/operator/engine_gate_test.c. */
void sw_gate_judge(const struct sw_gate *gate, struct json_object *live, struct sw_readiness *out);
/** Does the assertion of a gate hold for @live, one of several objects? @why: as for
 * sw_assertion_holds(). */
bool sw_gate_holds(const struct sw_gate *gate, struct json_object *live, char **why);
