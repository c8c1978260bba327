#pragma once
/* webhook: mutating admission of pods that ask for MIG slices. Resources of NVIDIA's names become
 * slipway's (nvidia.com/mig-1g.5gb -> mig.das.com/1g.5gb), and the pods get the scheduler and the
 * runtime class that know slices. Whole GPUs (nvidia.com/gpu) and pods without slices are left as
 * they are, but for tolerations of the taints on the nodes that have them. Ephemeral containers of
 * a pod with slices are checked when they are added.
 *
 * The mutation is a pure function of the review; net/serve serves it. For it no cluster is read and
 * no request sent, so dry runs need no special case; who may read metrics is asked. Source:
 * Kubernetes "Dynamic Admission Control"; DAS's pkg/webhook. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

#include "base/base.h"
#include "base/loop.h"
#include "kube/metrics/metrics_server.h"
#include "net/serve/serve.h"

/* ---- the mutation ------------------------------------------------------------------------------
 */

/** What of envFrom, whose ConfigMaps and Secrets the webhook does not see. */
enum sw_webhook_env_from { SW_WEBHOOK_ENV_WARN, SW_WEBHOOK_ENV_REFUSE, SW_WEBHOOK_ENV_ALLOW };

/** Zero leaves schedulerName and runtimeClassName alone, overrides the user's where they are given
 * here, and refuses NVIDIA_VISIBLE_DEVICES. Texts are borrowed. */
struct sw_webhook_policy {
    const char *scheduler_name; /* NULL or "": leave it alone */
    const char *runtime_class;
    bool keep_user_fields;      /* what the pod sets itself stays ("default-scheduler" is unset) */
    bool strip_visible_devices; /* take NVIDIA_VISIBLE_DEVICES out instead of refusing the pod */
    /** "RESOURCE[=KEY],...": pods that ask for the extended resource ("*" at its end stands for any
     * rest) get a toleration of the taint with that key (its own name, without), Exists,
     * NoSchedule. NULL or "": none. */
    const char *tolerate;
    enum sw_webhook_env_from env_from; /* where it could set NVIDIA_VISIBLE_DEVICES */
    /** "NAMESPACE,...": their pods are left as they are, where no namespaceSelector keeps them away
     * (before Kubernetes 1.21 namespaces have no label to select by). NULL or "": none. */
    const char *excluded_namespaces;
};

/** What is wrong with such rules; NULL: nothing. */
const char *sw_webhook_tolerate_fault(const char *rules);

/** What became of a pod. */
enum sw_webhook_outcome { SW_WEBHOOK_UNCHANGED, SW_WEBHOOK_MUTATED, SW_WEBHOOK_DENIED };

/** Answer an AdmissionReview (v1 or v1beta1) with one of the same version: allowed, allowed with a
 * JSON patch of only what changes, or denied with a message that names the field. @*out is the
 * caller's.
 * @return 0 | SW_INVALID (no AdmissionReview with a request and its uid: it cannot be answered)
 * Pinned by test/unit/slicing/webhook_mutate_test.c. */
int sw_webhook_mutate(const struct sw_webhook_policy *policy, struct json_object *review,
                      struct json_object **out, enum sw_webhook_outcome *outcome,
                      struct sw_err *err) SW_CHECKED;

/** The same from bytes to bytes, reading only the fields that matter to @policy, which is borrowed.
 * Reusable; no state. */
struct sw_webhook_reader;
/** The caller's. */
struct sw_webhook_reader *sw_webhook_reader_new(const struct sw_webhook_policy *policy);
/** NULL is accepted. */
void sw_webhook_reader_free(struct sw_webhook_reader *reader);
SW_DEFINE_AUTO(sw_webhook_reader, sw_webhook_reader_free)

/** What an answer says, for logs. Texts are the caller's. */
struct sw_webhook_answer {
    enum sw_webhook_outcome outcome;
    char *text; /* the AdmissionReview */
    size_t len_bytes;
    char *pod;    /* "namespace/name", for outcomes other than UNCHANGED; else NULL */
    char *reason; /* of a denial; else NULL */
};
/** Free its texts. */
void sw_webhook_answer_done(struct sw_webhook_answer *answer);
/** @return 0 | SW_INVALID (no JSON, no AdmissionReview) */
int sw_webhook_read(const struct sw_webhook_reader *reader, const char *body, size_t len_bytes,
                    struct sw_webhook_answer *out, struct sw_err *err) SW_CHECKED;

/** A review that is read in steps of a fraction of a millisecond, so that others are answered
 * meanwhile. */
struct sw_webhook_reading;
/** @body and @reader are borrowed. The caller's: sw_webhook_reading_free(). */
struct sw_webhook_reading *sw_webhook_reading_new(const struct sw_webhook_reader *reader,
                                                  const char *body, size_t len_bytes);
/** NULL is accepted. */
void sw_webhook_reading_free(struct sw_webhook_reading *reading);
SW_DEFINE_AUTO(sw_webhook_reading, sw_webhook_reading_free)
/** The next step. @return SW_PENDING: there are more | as sw_webhook_read(), then over */
int sw_webhook_reading_step(struct sw_webhook_reading *reading, struct sw_webhook_answer *out,
                            struct sw_err *err) SW_CHECKED;

/* ---- the server --------------------------------------------------------------------------------
 */

/** Zero is the default of each. Everything is borrowed until sw_webhook_server_close(). */
struct sw_webhook_server_opts {
    struct sw_webhook_policy policy;
    struct sw_serve_opts serve; /* but its routes, arg and on_stopped, which are the webhook's */
    struct sw_metrics_flags metrics;
    const char *kubeconfig; /* of who is asked who may read them; NULL: the pod's, $KUBECONFIG */
};

struct sw_webhook_server;
/** Listen and serve on @loop. A certificate that does not exist yet is waited for: until then
 * connections are closed.
 * @return 0 | SW_INVALID (an option) | SW_UNAVAILABLE, SW_FORBIDDEN (the address) */
int sw_webhook_server_open(struct sw_loop *loop, const struct sw_webhook_server_opts *opts,
                           struct sw_webhook_server **out, struct sw_err *err) SW_CHECKED;
/** Its HTTP server, borrowed: its port and state. sw_serve_stop() stops the loop, too. */
struct sw_serve *sw_webhook_server_http(struct sw_webhook_server *server);
/** At once. NULL is accepted. */
void sw_webhook_server_close(struct sw_webhook_server *server);
