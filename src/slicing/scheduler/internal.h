#pragma once
/* internal: what the scheduler's files share. */
#include "kube/kube.h"
#include "kube/lease.h"
#include "slicing/scheduler/cache/cache.h"
#include "slicing/scheduler/counters.h"
#include "slicing/scheduler/extender.h"
#include "slicing/scheduler/scheduler.h"

/** The kinds that are watched. */
enum informer_source {
    INFORMER_NODES,
    INFORMER_ACCELERATORS,
    INFORMER_CLAIMS,
    INFORMER_PODS,
    INFORMER_BUDGETS,
    N_INFORMERS
};

/* One kind that is watched. */
struct informer {
    struct sw_scheduler *s;
    enum informer_source source;
    struct sw_kube_request *kind_request; /* for the kind */
    const struct sw_kind *kind;
    struct sw_kube_watch *watch;
    bool older; /* the apiVersion of older servers is tried */
    struct sw_timer *retry;
    char *trouble; /* NULL: none */
};

struct bind;
struct evict;
struct dra_evictor;

/** One for each process. */
struct sw_scheduler {
    /* service.c's, for the files below it: an object was observed, or a bind has ended. Filters
     * that are held back and the collector may go on. */
    void (*changed)(struct sw_scheduler *s);
    struct sw_loop *loop;
    struct sw_scheduler_opts opts;
    struct sw_kube *kube;
    struct sw_lease *lease;
    struct cache *cache;
    struct extender *extender;
    struct printbuf *answer; /* reused: an answer about thousands of nodes has some 100 KiB */
    struct sw_serve *serve, *health;
    struct sw_metrics_server *metrics_server;
    struct informer informers[N_INFORMERS];
    struct bind *binds;
    size_t n_binds;
    struct held_filter *held; /* filter requests that wait until there are fewer binds */
    struct evict *evicts;
    struct dra_evictor *dra; /* NULL: there is none */
    bool old_evictions;      /* the API server knows those of policy/v1beta1 only */
    struct collector *collector;
    struct metrics metrics;
};

/* informers.c: what is watched. */
void sched_informers_open(struct sw_scheduler *s);
/** Stop all watches. */
void sched_informers_close(struct sw_scheduler *s);
/** NULL: all objects are known; else what is missing, borrowed. */
const char *sched_informers_trouble(const struct sw_scheduler *s);

/* bind.c: claims and Binding of one pod. */
/** Bind a pod; @ask is taken. @reply is answered when all is written, or deleted again. */
void sched_bind_start(struct sw_scheduler *s, struct extender_bind *ask,
                      struct sw_serve_reply *reply);
/** The watch has reported @claim: a bind that waits for it goes on. */
void sched_bind_observed(struct sw_scheduler *s, const char *claim);
/** After the client has been freed: answer the requests that are still open. */
void sched_bind_abandon_all(struct sw_scheduler *s);

/* preempt.c: eviction of pods of lower priority. */
/** A pod found no room: evict others for it soon, if it still waits then. */
void sched_evict_consider(struct sw_scheduler *s, const struct extender_outcome *outcome);
/** kube-scheduler evicts pods for @pod itself: cancel what has not begun. */
void sched_evict_cancel(struct sw_scheduler *s, const struct pod *pod);
/** @node_name is its status.nominatedNodeName ("": none): kube-scheduler has evicted pods there, so
 * no others are, and the room is kept for @pod. */
void sched_evict_follow(struct sw_scheduler *s, struct pod *pod, const char *node_name);
/** Cancel all evictions. */
void sched_evict_close(struct sw_scheduler *s);

/* evictions.c: what is written for both ways to evict. */
/** A pod that is evicted, or that an Event is about; the texts are the owner's. */
struct evicted {
    char *uid, *ns, *name;
};
/** Write the pod's status.nominatedNodeName. @node: NULL for none. A pod of another uid is refused
 * as a conflict. */
struct sw_kube_request *sched_nominate(struct sw_scheduler *s, const struct pod *pod,
                                       const char *node, sw_kube_answer_fn *cb, void *arg);
/** Ask the Eviction API. Another pod of the name is refused as a conflict. */
struct sw_kube_request *sched_evict_send(struct sw_scheduler *s, const struct evicted *v,
                                         sw_kube_answer_fn *cb, void *arg);
/** An Event of a pod. Those of one moment differ in @serial. */
void sched_evict_event(struct sw_scheduler *s, const struct evicted *of, const char *reason,
                       const char *message, uint64_t serial);

/* dra_evict.c: eviction where kube-scheduler gives slices away itself. */
/** Begin to watch, where the API server serves resource.k8s.io/v1. */
void sched_dra_open(struct sw_scheduler *s);
/** Stop it; what is written in the cluster stays. */
void sched_dra_close(struct sw_scheduler *s);

/* wake.c: waiting pods that kube-scheduler is to try again. */
/** An answer to a write to a pod whose failure is only logged: @what is the message. That the pod
 * is gone, or another of its name is there (a conflict of its uid), is none. */
void sched_on_written(const struct sw_kube_answer *a, void *what);
/** Write to @pod, so that it is tried at once where it is not backing off. */
void sched_wake_write(struct sw_scheduler *s, const struct pod *pod);
/** Wake those waiting pods that would fit on @n one after the other, the most important first. */
void sched_wake_pods(struct sw_scheduler *s, struct node *n);

/* collect.c: deletion of unused claims, and nodes touched so that waiting pods are tried again.
 * Only the leader does it. */
int sched_collector_open(struct sw_scheduler *s, const struct sw_kube_config *config,
                         struct sw_err *err);
/** Stop its timers. Its requests must have been cancelled with the client. */
void sched_collector_close(struct sw_scheduler *s);
/** A node may have more room: touch it soon, if pods wait. */
void sched_collector_check(struct sw_scheduler *s);
/** Node @n, which kube-scheduler did not ask about, has room for @pod: touch both, so that
 * kube-scheduler tries again. Any replica does it. */
void sched_collector_hint(struct sw_scheduler *s, const struct pod *pod, struct node *n);
