#pragma once
/* internal to the broker's sources */
#include "slicing/deviceplugin/broker/broker.h"

enum {
    WAIT_MS = 10 * 1000,   /* Allocate for a claim */
    RETRY_FIRST_MS = 1000, /* after a failure; doubles */
    RETRY_MOST_MS = 60 * 1000,
    LOOK_SOON_MS = 1000, /* after Allocate kubelet notes down whose it was */
    LOOK_AGAIN_MS = 10 * 1000,
};

/** An Allocate without a claim yet, or a PreStartContainer without kubelet's word. */
struct waiting {
    LIST_ENTRY(waiting) link;
    uint64_t ticket;
    char profile[SW_MIG_NAME_LEN];
    char **ids;
    size_t n_ids;
    int64_t deadline_ms;
};
LIST_HEAD(waiting_list, waiting);

struct dp_broker {
    char *boot_id;
    int64_t wait_ms;
    bool check_start;
    LIST_HEAD(dp_pods, dp_pod) pods;
    LIST_HEAD(dp_claims, dp_claim) claims;
    LIST_HEAD(dp_grants, dp_grant) grants;
    struct waiting_list allocating, starting;
    STAILQ_HEAD(dp_action_queue, dp_action) actions;
    bool pods_synced, claims_synced, has_gpus;
    int64_t look_ms; /* ask kubelet then; -1: not */
    bool looking;
    uint64_t n_grants; /* ever, for their names */
    uint64_t n_claims; /* ever, for their order */
};

/* broker.c */
struct dp_action *broker_act(struct dp_broker *b, enum dp_act act);
struct dp_action *broker_tell(struct dp_broker *b, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
struct dp_pod *broker_pod(const struct dp_broker *b, const char *uid);
struct dp_pod *broker_pod_named(const struct dp_broker *b, const char *ns, const char *name);
void dp_ref_done(struct dp_ref *ref);
struct dp_ref dp_ref_copy(const struct dp_ref *ref);
int64_t broker_backoff_ms(unsigned n_failed);
void waiting_free(struct waiting *w);
struct waiting *waiting_new(struct waiting_list *list, uint64_t ticket, const char *profile,
                            const char *const *ids, size_t n_ids);

/* allocate.c */
/** Try the calls that wait once more; those whose time is up are refused. */
void broker_allocate_all(struct dp_broker *b, int64_t now_ms);
/** Whether the container wants exactly @count of @profile. */
bool container_requests(const struct dp_container *c, const char *profile, size_t count);
struct dp_container *pod_container(const struct dp_pod *pod, const char *name);

/* grant.c */
void grant_begin(struct dp_broker *b, struct dp_grant *g, int64_t now_ms);
/** Take it down; @why for people. */
void grant_undo(struct dp_broker *b, struct dp_grant *g, int64_t now_ms, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void grant_retry(struct dp_broker *b, struct dp_grant *g, int64_t now_ms);
/** Pods are known: look at what was adopted, and whether pods are still there. */
void grant_review(struct dp_broker *b, struct dp_grant *g, int64_t now_ms);

/* claims.c */
/** Bring the claims' objects in line with the grants. */
void broker_settle(struct dp_broker *b, int64_t now_ms);

/* held_devices.c */
struct dp_grant *grant_of_ids(const struct dp_broker *b, const char *profile,
                              const char *const *ids, size_t n_ids);
