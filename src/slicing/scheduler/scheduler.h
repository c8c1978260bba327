#pragma once
/* scheduler: places MIG slices as the extender of a stock kube-scheduler. Which nodes a pod may go
 * to, which of them is best and which pods to evict for it is answered from a cache, which watches
 * NodeAccelerators, AllocationClaims, Pods and Nodes; the API server is written to for the chosen
 * node alone: the pod's claims, then its Binding. All other rules of scheduling stay
 * kube-scheduler's.
 *
 * Nothing is kept anywhere but in the cluster: a process that begins anew reads what there is.
 * Source: DAS's MigAccelerator scheduler plugin (names, states); k8s.io/kube-scheduler/extender/v1.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "base/loop.h"
#include "kube/config/kubeconfig.h"
#include "kube/metrics/metrics_server.h"
#include "net/serve/serve.h"
#include "slicing/mig/mig.h"

/** A label of nodes and an annotation of pods: written so that kube-scheduler tries again. */
#define SW_SCHEDULER_EPOCH "slipway.dev/slices-epoch"

/** An annotation of a pod that waits, with any value: pods that may be moved are moved for it, as
 * with SW_DEFRAGMENT_MOVE and at once. `slipway slices --defragment` sets it. */
#define SW_SCHEDULER_DEFRAGMENT "slipway.dev/defragment"

/** What is done for a pod that would get its devices if others, which may be moved, lay elsewhere.
 */
enum sw_defragment {
    SW_DEFRAGMENT_ADVISE, /* an Event says which; they move on request */
    SW_DEFRAGMENT_MOVE,   /* they are evicted, and made again elsewhere */
    SW_DEFRAGMENT_OFF,
};
/** "off", "advise", "move". @return 0 | SW_INVALID */
int sw_defragment_parse(const char *text, enum sw_defragment *out, struct sw_err *err) SW_CHECKED;

/** A time of day, UTC; zero: all day. */
struct sw_daytime {
    int from_min, to_min; /* minutes since midnight; it ends on the next day where @to is smaller */
};
/** "22:00-05:30". @return 0 | SW_INVALID: another form, or no time between the two */
int sw_daytime_parse(const char *text, struct sw_daytime *out, struct sw_err *err) SW_CHECKED;
/** Whether @wall_ms is in it. */
bool sw_daytime_has(const struct sw_daytime *d, int64_t wall_ms);

/** Zero is the default of each. Texts are borrowed for the scheduler's life. */
struct sw_scheduler_opts {
    const char *ns;             /* of claims and NodeAccelerators; must be set */
    const char *scheduler_name; /* pods of this schedulerName only; NULL: all */
    const char *node_label;     /* "key=value" that nodes must have; NULL: none */
    enum sw_mig_policy policy;
    struct sw_serve_opts extender; /* address, TLS; routes and callbacks are filled in */
    const char *health_address; /* "HOST:PORT" of /healthz and /readyz; NULL or "0": nowhere else */
    struct sw_metrics_flags metrics;              /* of /metrics; zero: nowhere */
    bool leader_elect;                            /* only one of several deletes unused claims */
    const char *lease_ns, *lease_name, *identity; /* with leader_elect; must be set then */
    bool no_preemption;                           /* no pod is evicted for slices */
    bool no_eviction;    /* none where kube-scheduler itself gives slices away (ResourceClaims) */
    int64_t handover_ms; /* room for such a pod is kept so long after it is free; 0: 11 s */
    enum sw_defragment defragment;
    struct sw_daytime defragment_at; /* with SW_DEFRAGMENT_MOVE: only then, else as advised */
    int64_t defragment_after_ms; /* a pod waits so long before others move for it, and so much time
                                    is between two such moves; 0: 30 s */
    size_t nodes_to_score;       /* so many nodes with room are named to kube-scheduler; 0: all */
    int64_t unbound_ms; /* a claim whose pod is not bound after so long is collected; 0: 30 s */
    void (*on_stopped)(void *arg); /* after sw_scheduler_stop() */
    void *arg;
};

struct sw_scheduler;
/** Watch and serve on @loop. @return 0 | SW_INVALID | SW_UNAVAILABLE, SW_FORBIDDEN (an address) */
int sw_scheduler_open(struct sw_loop *loop, const struct sw_kube_config *config,
                      const struct sw_scheduler_opts *opts, struct sw_scheduler **out,
                      struct sw_err *err) SW_CHECKED;
/** Where the extender, health and metrics listen; 0: nowhere. */
int sw_scheduler_port(const struct sw_scheduler *s);
/** Of /healthz and /readyz alone; 0: nowhere. */
int sw_scheduler_health_port(const struct sw_scheduler *s);
/** Of /metrics alone; 0: nowhere. */
int sw_scheduler_metrics_port(const struct sw_scheduler *s);
/** NULL: it answers; else why not yet. Borrowed until the next turn. */
const char *sw_scheduler_trouble(const struct sw_scheduler *s);
/** Take no new requests, finish those that are under way, give leadership up; then on_stopped. */
void sw_scheduler_stop(struct sw_scheduler *s);
/** At once. NULL is accepted. */
void sw_scheduler_close(struct sw_scheduler *s);

/** Prometheus' text; the caller's. */
char *sw_scheduler_metrics(struct sw_scheduler *s);

/** A KubeSchedulerConfiguration that makes a stock kube-scheduler of @kube_version ("1.20",
 * "v1.29.3") use this extender. @options may be NULL.
 * @return 0 | SW_INVALID (no version, or older than 1.20) */
struct sw_scheduler_config {
    const char *kube_version;
    const char *scheduler_name; /* NULL: das-scheduler */
    const char *url;            /* NULL: http://127.0.0.1:8888 */
    const char *ca_file;        /* by which the extender's certificate is verified; NULL: no TLS */
    const char *lease_ns;       /* NULL: no leader election */
    const char *kubeconfig;     /* NULL: as kube-scheduler finds it itself */
    int percentage_of_nodes_to_score; /* 0: kube-scheduler's choice; negative: by its version */
};
int sw_scheduler_config_text(const struct sw_scheduler_config *options, char **out,
                             struct sw_err *err) SW_CHECKED;
