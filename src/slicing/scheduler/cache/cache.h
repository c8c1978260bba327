#pragma once
/* picture: what is known of the cluster - which node has which GPUs, which claims and reservations
 * take what of them, which pods there are - and nothing else: no I/O, no clock. It is told of what
 * was seen; what it was not told of it does not believe. Internal to scheduler. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

#include "base/base.h"
#include "slicing/mig/mig.h"
#include "slicing/scheduler/cache/pod_request.h"

struct lh_table;

enum claim_state { CLAIM_STAGED, CLAIM_CREATED, CLAIM_PROCESSING, CLAIM_IN_USE, CLAIM_ORPHANED };
enum { CLAIM_N_STATES = CLAIM_ORPHANED + 1 };
const char *claim_state_text(enum claim_state state);

struct node {
    char *name;
    bool labelled;         /* it takes part (the label that says so is there) */
    bool avoided;          /* a taint asks that pods go elsewhere if they can (PreferNoSchedule) */
    char *unready;         /* why its GPUs are not usable now; NULL: they are */
    bool is_mig;           /* a NodeAccelerator of nvidia-mig was seen */
    bool grown;            /* there is more room than pods were told of */
    uint64_t epoch;        /* a hash of its SW_SCHEDULER_EPOCH, as it was seen last */
    int64_t touched_ms;    /* when that changed last, or was written here */
    size_t asked;          /* the extender's stamp of the question that was about it last */
    int64_t deselected_ms; /* since when it has a NodeAccelerator and no label; 0: it is not so */
    size_t n_gpus;
    struct sw_mig_gpu *gpus; /* use: of all claims and reservations */
    char **uuids;            /* one each; GPUs that only claims know have no geometry */
    const struct sw_mig_geometry
        *common;   /* of all its GPUs; NULL: they differ, or there are none */
    uint32_t room; /* which kinds of it fit now; see cache_room() */
    bool room_known;
    uint32_t scored; /* bits: how well one slice of a kind goes there is known (decide_score()) */
    uint8_t scores[SW_MIG_MAX_KINDS];
    struct pod *nominee; /* for whom others are sent away; NULL: nobody */
    uint64_t held_gpus;  /* bits: on these the nominee will lie, so nobody else may */
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
    enum claim_state state;
    uint16_t want;    /* reserved: which of the pod's */
    bool seen;        /* the API server told of it */
    bool watched;     /* by its watch, of the one with this uid */
    bool own;         /* the one with this uid was created here: no other replica builds on it */
    bool held;        /* somebody is at work on it: it stays whatever is seen */
    bool labelled;    /* its label names its node: the device plugin sees it */
    bool checking;    /* somebody asks whether its pod is gone */
    int64_t since_ms; /* in the picture, or since its pod was bound; for whoever collects */
    struct claim *prev, *next;         /* of the node */
    struct claim *pod_prev, *pod_next; /* of the pod */
};

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
    bool never_preempts; /* preemptionPolicy Never: it sends nobody away */
    int32_t priority;
    int64_t created_ms; /* 0: not known */
    int64_t asked_ms;   /* filtered first; 0: never */
    unsigned n_hints;   /* times that it was sent to look elsewhere, since it fitted last */
    int64_t hinted_ms;  /* the last of them */
    struct pod_request pod_request; /* of one that is not bound */
    char *fault;                    /* why its wants cannot be read; NULL: they can */
    char *advice; /* how it would fit, when it was refused last; NULL: there is no way */
    struct labels *labels;
    struct node *nominated; /* whose nominee it is */
    bool follows;           /* kube-scheduler said so: it sends others away itself */
    int64_t spared_ms; /* since when nobody is sent away for it, because others leave; 0: not so */
    struct claim *claims;
};

struct cache {
    struct lh_table *nodes, *pods, *claims;
    struct lh_table *budgets, *labels; /* disruption_budgets.c */
    enum sw_mig_policy policy;
    bool any_node;    /* nodes take part without a label */
    bool any_grown;   /* some node has */
    size_t n_waiting; /* pods with wants that are not bound */
    size_t n_reserved;
};

struct cache *cache_new(enum sw_mig_policy policy, bool any_node);
void cache_free(struct cache *p);
SW_DEFINE_AUTO(cache, cache_free)

/* ---- what was seen: each says what is true now, in any order, as often as it likes --------------
 */

void cache_observe_node(struct cache *p, const char *name, bool labelled, bool avoided);
/** @epoch: the label that wakes pods; another process may have set it. Of a node that nothing else
 * is known of nothing is kept. */
void cache_observe_epoch(struct cache *p, const char *name, const char *epoch, int64_t now_ms);
/** @obj: a NodeAccelerator, NULL: it is gone.
 * @return 0 | SW_INVALID: it cannot be read, and so the node has no GPUs; the field is named */
int cache_observe_accelerator(struct cache *p, const char *name, struct json_object *obj,
                              struct sw_err *err);
/** @obj: an AllocationClaim, NULL: the one of @uid is gone.
 * @return 0 | SW_INVALID: it cannot be read and takes nothing */
int cache_observe_claim(struct cache *p, const char *name, const char *uid, struct json_object *obj,
                        int64_t now_ms, struct sw_err *err);
/** @obj: a Pod as the API server has it; or (not @watched) as somebody says who asks about it,
 * which is believed where nothing else is known. @return its record, borrowed */
struct pod *cache_observe_pod(struct cache *p, struct json_object *obj, bool watched,
                              int64_t now_ms);
void cache_pod_gone(struct cache *p, const char *uid);

/** @obj: a PodDisruptionBudget, NULL: it is gone. */
void cache_observe_budget(struct cache *p, const char *ns, const char *name,
                          struct json_object *obj);

/* ---- asking
 * --------------------------------------------------------------------------------------
 */

struct node *cache_find_node(const struct cache *p, const char *name);
struct node *cache_find_node_n(const struct cache *p, const char *name, size_t len_bytes);
/** Which kinds of @n's common geometry fit on some GPU of it: bit i for kinds[i]. Worked out when
 * it is asked for and something has changed. */
uint32_t cache_room(struct node *n);
struct pod *cache_find_pod(const struct cache *p, const char *uid);
struct claim *cache_find_claim(const struct cache *p, const char *name);

/** Reserve @pod's slices on @node: a claim each, held, that takes its place from now on. Claims of
 * the pod that an earlier attempt has created here and that fit a want are taken over. All or none.
 * @return 0 | SW_PENDING (no room) | SW_INVALID (never any) | SW_NOTFOUND (not such a node) */
int cache_reserve(struct cache *p, struct pod *pod, const char *node, int64_t now_ms,
                  struct sw_err *err) SW_CHECKED;
/** Whether a claim of the pod, left by an earlier attempt, is one that cache_reserve() would take
 * over on @node. What does not serve is in the way and has to be deleted first: so does what
 * another replica has created, which may take it back when it finds that its attempt has failed. */
bool cache_serves(const struct claim *c, const char *node);
/** It was never written, or is deleted: what it took is free. */
void cache_drop_claim(struct cache *p, struct claim *c);
/** There is more room on @n than pods were told of. */
void cache_has_grown(struct cache *p, struct node *n);
/** The pod is bound now. */
void cache_pod_bound(struct cache *p, struct pod *pod, const char *node);
/** Nobody is at work on binding it any more. */
void cache_bind_ended(struct cache *p, struct pod *pod);

/** Copy @node's GPUs, as they would be without the claims of those pods. @gpus: n_gpus of them. */
void cache_without(const struct node *node, const struct pod *const *pods, size_t n_pods,
                   struct sw_mig_gpu *gpus);
/** Some of @node's GPUs are kept for @pod (bit i: number i), of which nobody less or equally
 * important gets anything, until it is bound, gone or ended, or this is called with NULL: then
 * there is more room than others were told of. */
void cache_nominate(struct cache *p, struct pod *pod, struct node *node, uint64_t gpus,
                    int64_t now_ms);
/** Bar those of @gpus, a copy of @node's, that are kept for somebody who goes before @pod. */
void cache_bar_held(const struct node *node, const struct pod *pod, struct sw_mig_gpu *gpus);

/** Count what PodDisruptionBudgets allow anew; then whether a pod's leaving is one too many, which
 * counts as if it left.
 * Source: kube-scheduler's DefaultPreemption, filterPodsWithPDBViolation(). */
void cache_begin_spending(const struct cache *p);
bool cache_spend(const struct cache *p, const struct pod *pod);

/** Another claim lies on the same slices: two schedulers were at work. Of two that do, the one that
 * was created later is known to whoever has been told of the other one: so once the watch has told
 * of a claim, nobody else's was there before that this does not see. */
bool cache_overlaps(const struct claim *c);
