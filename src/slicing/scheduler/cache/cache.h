#pragma once
/* cache: the scheduler's view of the cluster: which node has which GPUs, which claims and
 * reservations occupy them, which pods exist. It does no I/O and reads no clock: the caller reports
 * what it observes, and the cache holds nothing else. Internal to scheduler. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

#include "base/base.h"
#include "slicing/claim/claim.h"
#include "slicing/mig/mig.h"
#include "slicing/scheduler/cache/pod_request.h"

struct lh_table;

/** A node that takes part, has a NodeAccelerator, or is named by a claim. */
struct node {
    char *name;
    bool labelled;         /* it takes part (the label that says so is there) */
    bool avoided;          /* a taint asks that pods go elsewhere if they can (PreferNoSchedule) */
    bool lost;             /* its kubelet is not heard: evicted pods would not end there */
    char *unready;         /* why its GPUs are not usable now; NULL: they are usable */
    bool is_mig;           /* a NodeAccelerator of nvidia-mig was seen */
    bool grown;            /* there is more room than when pods were refused */
    bool woken;            /* pods that would fit have been woken for what is there now */
    uint64_t epoch;        /* a hash of its SW_SCHEDULER_EPOCH, as it was seen last */
    int64_t woken_ms;      /* when they were */
    int64_t touched_ms;    /* when that changed last, or was written here */
    size_t asked;          /* the extender's stamp of the last request about it */
    int64_t deselected_ms; /* since when it has a NodeAccelerator and no label; 0: it is not so */
    size_t n_gpus;
    struct sw_mig_gpu *gpus; /* use: of all claims and reservations */
    char **uuids;            /* one each; GPUs that only claims know have no geometry */
    const struct sw_mig_geometry
        *common;   /* of all its GPUs; NULL: they differ, or there are none */
    uint32_t room; /* which kinds of it fit now; see cache_room() */
    bool room_known;
    uint32_t scored; /* bit set of kinds whose score is computed (decide_score()) */
    uint8_t scores[SW_MIG_MAX_KINDS];
    struct pod *nominee; /* the pod for which others are evicted; NULL: none */
    uint64_t held_gpus;  /* bit set of the GPUs that are kept for the nominee */
    int64_t nominated_ms;
    struct claim *claims;
};

/** A slice: of a claim that was seen, or reserved for one that is being written. */
struct claim {
    char *name; /* of the AllocationClaim */
    char *uid;  /* "" while it is not written */
    char *resource_version;
    struct node *node;
    struct pod *pod;
    size_t gpu;
    struct sw_mig_profile profile;
    const struct sw_mig_kind *kind; /* NULL: the GPU does not know the profile */
    struct sw_mig_place place;
    enum sw_claim_state state;
    uint16_t want;    /* reserved: which of the pod's */
    bool seen;        /* the API server has reported it */
    bool watched;     /* the watch has reported the one with this uid */
    bool own;         /* the one with this uid was created here: no other replica builds on it */
    bool held;        /* a bind works on it: it stays whatever is observed */
    bool labelled;    /* its label names its node: the device plugin sees it */
    bool checking;    /* the collector is checking whether its pod is gone */
    int64_t since_ms; /* in the cache, or since its pod was bound; for the collector */
    struct claim *prev, *next;         /* of the node */
    struct claim *pod_prev, *pod_next; /* of the pod */
};

/** A pod that was observed or asked about, or that a claim names. */
struct pod {
    char *uid, *ns, *name;
    char *node;          /* bound there; NULL: not bound */
    bool ended;          /* Succeeded or Failed */
    bool known;          /* seen, or asked about; else only a claim names it */
    bool watched;        /* seen, not only asked about */
    bool gone;           /* seen to be deleted */
    bool refused;        /* no node had room when it was asked about last */
    bool binding;        /* a bind is under way */
    bool leaving;        /* its deletion has begun: its slices will be free */
    bool never_preempts; /* preemptionPolicy Never: no pod is evicted for it */
    int32_t priority;
    int64_t created_ms; /* 0: not known */
    int64_t asked_ms;   /* filtered first; 0: never */
    unsigned n_hints;   /* times that it was sent to look elsewhere, since it fitted last */
    int64_t hinted_ms;  /* the last of them */
    struct pod_request pod_request; /* of one that is not bound */
    char *fault;                    /* why its requests cannot be read; NULL: they can */
    char *advice; /* how it would have fitted when it was refused last; NULL: not at all */
    struct labels *labels;
    struct node *nominated; /* whose nominee it is */
    bool follows;           /* nominated by kube-scheduler, which evicts the others itself */
    char *nominated_name;   /* its status.nominatedNodeName; NULL: none */
    int64_t nominated_ms;   /* since when it has that one */
    int64_t offered_ms;     /* when kube-scheduler was last told of nodes to evict on; 0: never */
    int64_t spared_ms; /* since when no pod is evicted for it because others end anyway; 0: never */
    struct claim *claims;
};

/** The tables own their entries. */
struct cache {
    struct lh_table *nodes, *pods, *claims;
    struct lh_table *budgets, *labels; /* disruption_budgets.c */
    enum sw_mig_policy policy;
    bool any_node;    /* nodes take part without a label */
    bool any_grown;   /* some node has */
    bool any_useless; /* a pod that has claims is gone or has ended: the collector may begin */
    size_t n_waiting; /* pods that request slices and are not bound */
    size_t n_reserved;
};

/** An empty one; the caller's. @any_node: nodes take part without a label. */
struct cache *cache_new(enum sw_mig_policy policy, bool any_node);
/** NULL is accepted. */
void cache_free(struct cache *p);
SW_DEFINE_AUTO(cache, cache_free)

/* ---- what was observed --------------------------------------------------------------------------
 * Each call reports the present state, in any order, any number of times.
 */

/** The node @name exists: whether it has the label that makes it take part, and a taint
 * PreferNoSchedule. Without the label only a known node is changed. */
void cache_observe_node(struct cache *p, const char *name, bool labelled, bool avoided);
/** Taints say that the node is not ready, or not reachable: what was kept there for a pod is given
 * up. Ignored for an unknown node. */
void cache_observe_lost(struct cache *p, const char *name, bool lost);
/** The node's label SW_SCHEDULER_EPOCH is @epoch ("": none); another process may have set it.
 * Ignored for an unknown node. */
void cache_observe_epoch(struct cache *p, const char *name, const char *epoch, int64_t now_ms);
/** The node's NodeAccelerator is @obj; NULL: it was deleted.
 * @return 0 | SW_INVALID: it cannot be read and the node has no GPUs; the message names the field
 */
int cache_observe_accelerator(struct cache *p, const char *name, struct json_object *obj,
                              struct sw_err *err);
/** The AllocationClaim @name is @obj; NULL: the one of @uid was deleted.
 * @return 0 | SW_INVALID: it cannot be read and occupies nothing */
int cache_observe_claim(struct cache *p, const char *name, const char *uid, struct json_object *obj,
                        int64_t now_ms, struct sw_err *err);
/** @obj: a Pod as the watch reports it, or (not @watched) as kube-scheduler sends it, which counts
 * only for a pod that is not known yet. @return its record, borrowed */
struct pod *cache_observe_pod(struct cache *p, struct json_object *obj, bool watched,
                              int64_t now_ms);
/** The pod of @uid was deleted. */
void cache_pod_gone(struct cache *p, const char *uid);

/** The PodDisruptionBudget @name is @obj; NULL: it was deleted. */
void cache_observe_budget(struct cache *p, const char *ns, const char *name,
                          struct json_object *obj);

/* ---- queries and reservations -------------------------------------------------------------------
 */

/** Borrowed; NULL: not known. */
struct node *cache_find_node(const struct cache *p, const char *name);
/** cache_find_node() with a name that is not NUL-terminated. */
struct node *cache_find_node_n(const struct cache *p, const char *name, size_t len_bytes);
/** Which kinds of @n's common geometry fit on some GPU of it: bit i for kinds[i]. Computed when
 * something has changed since. */
uint32_t cache_room(struct node *n);
/** Borrowed; NULL: not known. */
struct pod *cache_find_pod(const struct cache *p, const char *uid);
/** Borrowed; NULL: not known. */
struct claim *cache_find_claim(const struct cache *p, const char *name);

/** Reserve @pod's slices on @node: one held claim each, which occupies its place from now on.
 * Claims that an earlier attempt has created for the pod here and that fit a request are reused.
 * All or none.
 * @return 0 | SW_PENDING (no room) | SW_INVALID (never any) | SW_NOTFOUND (not such a node) */
int cache_reserve(struct cache *p, struct pod *pod, const char *node, int64_t now_ms,
                  struct sw_err *err) SW_CHECKED;
/** Whether cache_reserve() would reuse the claim of an earlier attempt on @node. One that it would
 * not reuse must be deleted first; so must one that another replica has created, because that
 * replica may delete it when its own attempt fails. */
bool cache_serves(const struct claim *c, const char *node);
/** Remove a claim that was never written or is deleted: what it occupied is free. */
void cache_drop_claim(struct cache *p, struct claim *c);
/** There is more room on @n: pods that were refused may fit now. */
void cache_has_grown(struct cache *p, struct node *n);
/** The pod is bound to @node now. */
void cache_pod_bound(struct cache *p, struct pod *pod, const char *node);
/** The bind of the pod has ended. */
void cache_bind_ended(struct cache *p, struct pod *pod);

/** Copy @node's GPUs to @gpus (room for n_gpus) as they would be without the claims of @pods. */
void cache_without(const struct node *node, const struct pod *const *pods, size_t n_pods,
                   struct sw_mig_gpu *gpus);
/** Keep the GPUs of @node that @gpus names (bit i: index i) for @pod: no pod of the same or a lower
 * priority gets slices there until @pod is bound, deleted or ended, or this is called with @node
 * NULL. */
void cache_nominate(struct cache *p, struct pod *pod, struct node *node, uint64_t gpus,
                    int64_t now_ms);
/** @pod's status.nominatedNodeName is @name ("": none). */
void cache_observe_nomination(struct pod *pod, const char *name, int64_t now_ms);
/** Where evictions for @pod have begun, or kube-scheduler means to begin them. NULL: nowhere, the
 * node is lost or gone, or that was CACHE_NOMINATED_MS ago. Borrowed. */
struct node *cache_nominated(const struct cache *p, const struct pod *pod, int64_t now_ms);
/** Evicted pods have ended by then. */
enum { CACHE_NOMINATED_MS = 300000 };
/** Mark those of @gpus, a copy of @node's, on which another pod than @pod waits for its slice. */
void cache_mark_begun(const struct node *node, const struct pod *pod, struct sw_mig_gpu *gpus);
/** Bar those of @gpus, a copy of @node's, that are kept for a pod which goes before @pod. */
void cache_bar_held(const struct node *node, const struct pod *pod, struct sw_mig_gpu *gpus);

/** Begin to count what PodDisruptionBudgets allow. cache_spend(): count the eviction of @pod;
 * @return whether a budget does not allow it. Source: kube-scheduler's DefaultPreemption,
 * filterPodsWithPDBViolation(). */
void cache_begin_spending(const struct cache *p);
/** See cache_begin_spending(). */
bool cache_spend(const struct cache *p, const struct pod *pod);

/** Whether another claim occupies the same slices, because two schedulers were at work. Once the
 * watch has reported @c, it has reported every claim that was created before it: none that overlaps
 * is missed. */
bool cache_overlaps(const struct claim *c);
