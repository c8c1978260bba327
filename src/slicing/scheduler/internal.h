#pragma once
/* internal: what the scheduler's files share. */
#include "kube/kube.h"
#include "kube/lease.h"
#include "slicing/scheduler/cache/cache.h"
#include "slicing/scheduler/counters.h"
#include "slicing/scheduler/extender.h"
#include "slicing/scheduler/scheduler.h"

#define CLAIM_API "inference.redhat.com/v1alpha1"

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
    bool older; /* it is looked for under the name that older servers have for it */
    struct sw_timer *retry;
    char *trouble; /* NULL: none */
};

struct bind;
struct evict;

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
    struct printbuf *answer; /* its room is kept: thousands of nodes are some 100 KiB */
    struct sw_serve *serve, *health, *metrics_serve;
    struct informer informers[N_INFORMERS];
    struct bind *binds;
    size_t n_binds;
    struct held_filter *held; /* questions that wait until there are fewer binds */
    struct evict *evicts;
    bool old_evictions; /* the API server knows those of policy/v1beta1 only */
    struct tidy *tidy;
    struct metrics metrics;
    bool stopping;
};

/* informers.c: what is watched. */
void sched_informers_open(struct sw_scheduler *s);
void sched_informers_close(struct sw_scheduler *s);
/** NULL: everything was told; else what is missing. */
const char *sched_informers_trouble(const struct sw_scheduler *s);

/* bind.c: claims and Binding of one pod. */
/** @ask is taken. Answers @reply when all is done or undone. */
void sched_bind_start(struct sw_scheduler *s, struct extender_bind *ask,
                      struct sw_serve_reply *reply);
/** The watch told of that claim: who waits for it goes on. */
void sched_bind_observed(struct sw_scheduler *s, const char *claim);
/** After the client is gone: answers whoever still waits. */
void sched_bind_abandon_all(struct sw_scheduler *s);

/* preempt.c: less important pods make room. */
/** A pod found no room: soon, if it still waits then. */
void sched_evict_consider(struct sw_scheduler *s, const struct extender_outcome *told);
/** The scheduler sends somebody away itself: nothing is begun for @pod. */
void sched_evict_cancel(struct sw_scheduler *s, const struct pod *pod);
/** What its status says: kube-scheduler has sent somebody away for it on @node_name ("": nowhere),
 * so nobody else needs to go, and the room there is kept for it. */
void sched_evict_follow(struct sw_scheduler *s, struct pod *pod, const char *node_name);
void sched_evict_close(struct sw_scheduler *s);

/* collect.c: claims left behind, and waking pods that wait. For the leader alone. */
int sched_tidy_open(struct sw_scheduler *s, const struct sw_kube_config *config,
                    struct sw_err *err);
void sched_tidy_close(struct sw_scheduler *s);
/** Something may be to do now. */
void sched_tidy_check(struct sw_scheduler *s);
/** A node that was not asked about has room: it and the pod are touched, so that kube-scheduler
 * tries again, whichever replica this is. */
void sched_tidy_hint(struct sw_scheduler *s, const struct pod *pod, struct node *n);
