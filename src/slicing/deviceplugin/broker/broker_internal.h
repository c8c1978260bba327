#pragma once
/* internal to the broker's sources */
#include "slicing/deviceplugin/broker/broker.h"

enum {
    WAIT_MS = 10 * 1000,   /* Allocate for a claim */
    RETRY_FIRST_MS = 1000, /* after a failure; doubles */
    RETRY_MOST_MS = 60 * 1000,
    LIST_SOON_MS = 1000, /* after Allocate, when kubelet has stored the allocation */
    LIST_AGAIN_MS = 10 * 1000,
};

/** An Allocate without a claim yet, or a PreStartContainer until kubelet has listed the devices. */
struct waiting {
    LIST_ENTRY(waiting) link;
    uint64_t ticket;
    char profile[SW_MIG_NAME_LEN];
    char **ids;
    size_t n_ids;
    int64_t deadline_ms;
};
LIST_HEAD(waiting_list, waiting);

/** The lists own what is in them. */
struct dp_broker {
    char *boot_id;
    int64_t wait_ms;
    bool check_start;
    LIST_HEAD(dp_pods, dp_pod) pods;
    LIST_HEAD(dp_claims, dp_claim) claims;
    LIST_HEAD(dp_grants, dp_grant) grants;
    struct waiting_list allocating, starting;
    STAILQ_HEAD(dp_action_queue, dp_action) actions;
    bool pods_synced, has_gpus;
    int64_t list_held_ms; /* ask kubelet then; -1: not */
    bool listing_held;
    uint64_t n_grants; /* ever, for their names */
    uint64_t n_claims; /* ever, for their order */
};

/* tables.c */
/** A new action at the end of the queue, borrowed. */
struct dp_action *broker_act(struct dp_broker *b, enum dp_act act);
/** DP_ACT_LOG with that text. */
struct dp_action *broker_log(struct dp_broker *b, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/** The pod of that uid, or of that name; NULL: not known. */
struct dp_pod *broker_pod(const struct dp_broker *b, const char *uid);
/** The pod of that name; NULL: not known. */
struct dp_pod *broker_pod_named(const struct dp_broker *b, const char *ns, const char *name);
/** Free its texts. */
void dp_ref_done(struct dp_ref *ref);
/** The texts of the copy are the caller's. */
struct dp_ref dp_ref_copy(const struct dp_ref *ref);
/** How long to wait after so many failures in a row. */
int64_t broker_backoff_ms(unsigned n_failed);
/** Take it off its list. */
void waiting_free(struct waiting *w);
/** A call at the end of @list, which owns it; @ids are copied. */
struct waiting *waiting_new(struct waiting_list *list, uint64_t ticket, const char *profile,
                            const char *const *ids, size_t n_ids);

/* allocate.c */
/** Try the calls that wait once more; those whose deadline has passed are refused. */
void broker_allocate_all(struct dp_broker *b, int64_t now_ms);
/** NULL: it has no such container with slices. */
struct dp_container *pod_container(const struct dp_pod *pod, const char *name);

/* grant.c */
/** Begin to make its slices. */
void grant_begin(struct dp_broker *b, struct dp_grant *g);
/** A step of slice @i has ended. The grant may be gone after it. */
void grant_stepped(struct dp_broker *b, struct dp_grant *g, size_t i, enum dp_step step,
                   const struct dp_step_result *result, int64_t now_ms);
/** The same of setting @i. */
void grant_set(struct dp_broker *b, struct dp_grant *g, size_t i, enum dp_step step,
               const struct dp_step_result *result, int64_t now_ms);
/** Its CDI file and record were written, or not: @code and @message. */
void grant_committed(struct dp_broker *b, struct dp_grant *g, int code, const char *message,
                     int64_t now_ms);
/** Take its slices down, after the step that is under way; the reason is for people. The grant may
 * be gone after it. */
void grant_undo(struct dp_broker *b, struct dp_grant *g, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/** Its retry_ms has come. */
void grant_retry(struct dp_broker *b, struct dp_grant *g);
/** Of a ResourceClaim: kubelet, and no pod, says when it ends. */
bool grant_is_claims(const struct dp_grant *g);
/** With all pods known: undo it where its pod has ended; decide about an adopted one. */
void grant_review(struct dp_broker *b, struct dp_grant *g, int64_t now_ms);

/* claims.c */
/** Write the claims that do not say what the grants are. */
void broker_settle(struct dp_broker *b, int64_t now_ms);
/** A write of @c has ended. */
void claim_written(struct dp_claim *c, enum dp_act act, enum sw_claim_state state, int code,
                   uint64_t version, int64_t now_ms);

/* held_devices.c */
/** The newest grant for which kubelet holds all of @ids; NULL: none. */
struct dp_grant *grant_of_ids(const struct dp_broker *b, const char *profile,
                              const char *const *ids, size_t n_ids);
