#pragma once
/* dra_evictor: what the files of the evictor share: the watches (dra_watch.c), what there is to do
 * (dra_evict.c, dra_defragment.c), and how room is made and kept (dra_room.c). Internal to
 * scheduler. */
#include "slicing/scheduler/devices/dra_victims.h"
#include "slicing/scheduler/internal.h"

/** What is watched: the documents of the view, then pods and budgets. */
enum { DRA_PODS = DRA_N_KINDS, DRA_BUDGETS, DRA_N_SOURCES };

struct dra_source {
    struct dra_evictor *e;
    int which;
    struct sw_kube_request *kind_request;
    const struct sw_kind *kind;
    struct sw_kube_watch *watch;
    struct sw_timer *retry;
};

struct dra_preemption;

/** Of a pod that waits; what is lost with the process is only a delay. */
struct dra_wait {
    int64_t since_ms;
    int64_t again_ms;    /* nobody is evicted before */
    int64_t checked_ms;  /* last */
    int64_t complete_ms; /* since when all of its room is free but for being kept; 0: it is not */
    unsigned n_made;     /* times that room was made for it */
    unsigned n_moves;    /* times that pods were moved for it */
    int64_t moves_ms;    /* nobody is moved before */
    uint64_t request;    /* a hash of its SW_SCHEDULER_DEFRAGMENT, as it was acted on last */
    uint64_t advised;    /* a hash of what was advised last */
    uint64_t refused;    /* a hash of what the API server has refused last */
    bool waits;          /* while waits are swept */
};

/** One for each process. */
struct dra_evictor {
    struct sw_scheduler *s;
    struct dra_view *view;
    struct dra_source sources[DRA_N_SOURCES];
    bool all_watched; /* not only ResourceSlices */
    struct sw_timer *check;
    struct lh_table *waits;            /* struct dra_wait, by the uid of the pod */
    struct dra_preemption *preemption; /* one at a time; NULL: none */
    int64_t moves_ms;                  /* no pod is moved before */
};

/** dra_watch.c: begin with ResourceSlices: without one of our driver nothing else is watched. */
void dra_watches_open(struct dra_evictor *e);
/** Stop all watches. */
void dra_watches_close(struct dra_evictor *e);
/** Whether all that there is has been told of. */
bool dra_watches_synced(const struct dra_evictor *e);

/** dra_evict.c: something has changed. */
void dra_check_soon(struct dra_evictor *e);

/** dra_defragment.c: whether pods may be moved for @p at all, by the flag or on request. */
bool dra_may_defragment(const struct dra_evictor *e, const struct dra_pod *p);
/** dra_defragment.c: nobody less important makes room for @p: would others, elsewhere? Move them,
 * or say so. @node: only there; NULL: on any. */
void dra_defragment(struct dra_evictor *e, const struct dra_pod *p, struct dra_wait *w,
                    const char *node, int64_t now_ms);
/** dra_room.c: nominate @c's node for the pod, keep the room by a ResourceClaim, evict the victims.
 * dra_check_soon() at the end. */
void dra_make_room(struct dra_evictor *e, const struct dra_pod *pod, const struct dra_choice *c);
/** dra_room.c: give back what @claim keeps, so that kube-scheduler can allocate it, and delete it.
 * @nominee (may be NULL): its nomination is taken back, too. */
void dra_release_room(struct dra_evictor *e, struct json_object *claim, const struct pod *nominee);
/** dra_room.c: forget what is under way, after its requests have been cancelled. */
void dra_preemption_close(struct dra_evictor *e);
