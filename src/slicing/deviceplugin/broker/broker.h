#pragma once
/* broker: which pod gets which slices, and what has to be done for it. Pure: its input is what
 * happened (a pod, a claim, a call of kubelet's, how a step ended, time), its output a queue of
 * actions; it does no I/O and reads no clock, so that every order of events can be tested.
 *
 * A *grant* is what one container holds: the slices of all its profiles, made together, undone
 * together. Its record (journal.h) is written before each step, so that a restarted process knows
 * which slices may exist.
 *
 *   making   slices are made one after another; ends in ready, or undoing
 *   ready    the container has them; ends in undoing with its pod
 *   undoing  slices are taken down, as often as it takes; ends with the record
 *
 * Internal to deviceplugin. Pinned by test/unit/slicing/deviceplugin_broker_test.c. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/base.h"
#include "slicing/claim/claim.h"
#include "slicing/mig/mig.h"

/* ---- what is known -----------------------------------------------------------------------------
 */

/** The identity of a pod or claim; the texts are owned. */
struct dp_ref {
    char *ns, *name, *uid;
};

/** Profiles are texts as sw_mig_profile_text() writes them. */
struct dp_request {
    char profile[SW_MIG_NAME_LEN];
    unsigned count;
};

/** A container that requests slices. */
struct dp_container {
    char *name;
    struct dp_request *requests;
    size_t n_requests;
};

/** A pod of this node. */
struct dp_pod {
    LIST_ENTRY(dp_pod) link;
    struct dp_ref ref;
    int64_t created_ms;
    bool ended; /* Succeeded or Failed */
    struct dp_container
        *containers; /* those that request slices; init containers first, in kubelet's order */
    size_t n_containers;
};
/** It is in no list. NULL is accepted. */
void dp_pod_free(struct dp_pod *pod);

struct dp_grant;

/** An AllocationClaim of this node: one slice. */
struct dp_claim {
    LIST_ENTRY(dp_claim) link;
    char *ns, *name;
    char profile[SW_MIG_NAME_LEN];
    struct dp_ref pod;
    char *gpu;
    struct sw_mig_place place;
    enum sw_claim_state state;
    int64_t created_ms;
    uint64_t version;
    /* the broker's own */
    uint64_t seq; /* in the order in which they came: timestamps have seconds only */
    struct dp_grant *grant;
    bool pod_gone;    /* its pod's deletion was observed */
    bool pod_changed; /* podRef is to be written */
    bool writing;
    unsigned n_failed;
    int64_t retry_ms;
};
/** It is in no list. NULL is accepted. */
void dp_claim_free(struct dp_claim *claim);

/** What exists of a slice on its GPU. */
enum dp_slice_step {
    DP_NOTHING,  /* nothing */
    DP_INTENT,   /* perhaps a GPU instance at its place; then it was created here */
    DP_INSTANCE, /* a GPU instance with this id; it may hold a compute instance */
    DP_MADE,
};

/** One slice of a grant: the claim that it serves, and its instances on the GPU. */
struct dp_slice {
    char *claim_ns, *claim;
    char profile[SW_MIG_NAME_LEN];
    char *gpu;
    struct sw_mig_place place;
    enum dp_slice_step step;
    uint32_t gi, ci;
    char *uuid;     /* of the MIG device; NULL: none yet */
    char *old_uuid; /* it had before the node was booted anew; not recorded */
};

/** What is set for a ResourceClaim besides its slices, and set back when it ends. */
enum dp_setting_kind {
    DP_SET_TIMESLICE, /* the length of turns on @gpu is @value (1 to 3) */
    DP_SET_EXCLUSIVE, /* one process alone has a context on @gpu: the daemon */
    DP_SET_MPS,       /* the grant's control daemon runs */
};
/** Where it is: nothing, perhaps set (DP_INTENT), set (DP_MADE). */
struct dp_setting {
    enum dp_setting_kind kind;
    char *gpu; /* NULL: of no GPU alone */
    unsigned value;
    enum dp_slice_step step;
};

/** What the control daemon of a ResourceClaim is told. */
struct dp_mps {
    int threads; /* per cent; -1: nothing */
    bool multi_user;
    struct dp_mps_limit {
        char *device; /* UUID, number among the daemon's devices, or "*" */
        int64_t mib;
    } * limits;
    size_t n_limits;
};

/** Device ids that kubelet holds for a grant. */
struct dp_served {
    char profile[SW_MIG_NAME_LEN];
    char **ids;
    size_t n_ids;
};

/** A device that a ResourceClaim has. */
struct dp_device {
    char *request; /* the claim's, without the name of an alternative */
    char *group;   /* devices of one group are in the same containers together */
    char *name;    /* in the node's pool */
    char *gpu;     /* UUID */
    size_t slice;  /* of the grant; DP_NO_SLICE: the GPU as it is */
    bool mps;      /* its containers are clients of the grant's control daemon */
};
#define DP_NO_SLICE SIZE_MAX

/** On the host, what belongs to the control daemon of a ResourceClaim: its folder (with its UID
 * behind it), and its part of /dev/shm. Neither outlives a boot. */
#define DP_MPS_DIR "/run/slipway/mps"
#define DP_MPS_SHM "/dev/shm/slipway-mps-"

/** See the table above. */
enum dp_grant_state { DP_MAKING, DP_READY, DP_UNDOING };

/** What one container holds, or one ResourceClaim. */
struct dp_grant {
    LIST_ENTRY(dp_grant) link;
    char *id;  /* of its record */
    char *cdi; /* the name that DAS gave its CDI device; NULL: the UUID of the first slice */
    enum dp_grant_state state;
    struct dp_ref pod;
    char *container;
    char *boot_id;
    struct dp_slice *slices;
    size_t n_slices;
    struct dp_served *served;
    size_t n_served;
    /* Of a ResourceClaim: kubelet says when it begins and ends, and no pod or container is known;
     * without a UID it is a container's. It may have devices and no slice. */
    struct dp_ref claim;
    struct dp_device *devices;
    size_t n_devices;
    struct dp_setting *settings; /* in the order in which they are made */
    size_t n_settings;
    struct dp_mps mps; /* of a setting DP_SET_MPS */
    /* not recorded */
    uint64_t ticket;           /* the call that waits for it; 0: none */
    uint64_t undo_ticket;      /* the call that waits for its end */
    struct dp_grant *follower; /* of the same claim, begins when this one has ended; owned */
    size_t at;                 /* making: the slice at work */
    bool busy;                 /* a step is under way */
    bool undo_next;            /* when that has ended */
    bool confirmed;            /* kubelet says that the pod is the right one */
    bool remaking;             /* after a reboot */
    bool adopted; /* from a record of an earlier process; reviewed when pods are known */
    unsigned n_failed;
    int64_t retry_ms;
    char *why; /* it is undone */
};
/** An empty one; the caller's. */
struct dp_grant *dp_grant_new(void);
/** It is in no list. NULL is accepted. */
void dp_grant_free(struct dp_grant *grant);
SW_DEFINE_AUTO(dp_grant, dp_grant_free)
/** An empty slice at the end, borrowed until the next one is added. */
struct dp_slice *dp_grant_add_slice(struct dp_grant *grant);
/** @ids are copied. */
void dp_grant_serve(struct dp_grant *grant, const char *profile, const char *const *ids,
                    size_t n_ids);
/** A device of a ResourceClaim at the end; the texts are copied. */
void dp_grant_add_device(struct dp_grant *grant, const char *request, const char *group,
                         const char *name, const char *gpu, size_t slice);
/** Something to be set for it, at the end. @gpu is copied, and may be NULL. */
void dp_grant_add_setting(struct dp_grant *grant, enum dp_setting_kind kind, const char *gpu,
                          unsigned value);
/** A limit of its control daemon, at the end. @device is copied. */
void dp_grant_add_limit(struct dp_grant *grant, const char *device, int64_t mib);
/** kubelet holds nothing for it (any more). */
void dp_grant_unserve(struct dp_grant *grant);

/* ---- what is to be done ------------------------------------------------------------------------
 */

/** A step on a GPU. */
enum dp_step {
    DP_STEP_PROBE,   /* is the place free? SW_NOTFOUND: yes */
    DP_STEP_MAKE_GI, /* -> gi */
    DP_STEP_MAKE_CI, /* -> ci, uuid */
    DP_STEP_REMOVE,  /* the GPU instance at the place (with id gi, if known) and all in it */
    DP_STEP_SET,     /* a setting */
    DP_STEP_UNSET,   /* as it was by default; what was never set is well */
};

/** What an action asks the caller to do, and which function gets its outcome. */
enum dp_act {
    DP_ACT_STEP,       /* write the record, then do @step for slice @i: dp_broker_on_step() */
    DP_ACT_SET,        /* write the record, then do @step for setting @i: dp_broker_on_setting() */
    DP_ACT_COMMIT,     /* write the CDI file and the record: dp_broker_on_commit() */
    DP_ACT_RECORD,     /* write the record so that a power cut does not lose it, and the CDI file */
    DP_ACT_UNCDI,      /* remove the CDI file @message */
    DP_ACT_FORGET,     /* remove the record */
    DP_ACT_ALLOCATED,  /* answer @ticket: @grant_id, or @code and @message */
    DP_ACT_STARTED,    /* answer @ticket (PreStartContainer): @code, @message */
    DP_ACT_PREPARED,   /* answer @ticket: @grant_id, or @code and @message */
    DP_ACT_UNPREPARED, /* answer @ticket: @code, @message */
    DP_ACT_CLAIM_STATE,  /* write @claim's state @state: dp_broker_on_written() */
    DP_ACT_CLAIM_POD,    /* write its podRef: dp_broker_on_written() */
    DP_ACT_CLAIM_DELETE, /* dp_broker_on_written() */
    DP_ACT_LIST_HELD,    /* ask kubelet which container holds which devices: dp_broker_on_held() */
    DP_ACT_EVICT,        /* delete the pod */
    DP_ACT_LOG,          /* log @message; @code is 0 where all is well */
};

/** What the broker asks for; the texts are owned. */
struct dp_action {
    STAILQ_ENTRY(dp_action) link;
    enum dp_act act;
    enum dp_step step;
    size_t i;
    enum sw_claim_state state;
    uint64_t ticket;
    int code;
    char *grant_id;    /* the grant may be gone: dp_broker_grant() */
    struct dp_ref ref; /* of the claim (no uid), or the pod */
    char *message;
};

/** Zero is the default of each but @boot_id. */
struct dp_opts {
    const char *boot_id; /* copied */
    int64_t wait_ms;     /* how long Allocate waits for a claim; 0: 10 s */
    bool check_start;    /* PreStartContainer is called: pods are checked there */
};

struct dp_broker;
/** An empty one; the caller's. */
struct dp_broker *dp_broker_new(const struct dp_opts *opts);
/** With its pods, claims, grants and actions. NULL is accepted. */
void dp_broker_free(struct dp_broker *b);
SW_DEFINE_AUTO(dp_broker, dp_broker_free)

/** The next action, the caller's (dp_action_free()); NULL: none. */
struct dp_action *dp_broker_next(struct dp_broker *b);
/** NULL is accepted. */
void dp_action_free(struct dp_action *a);
/** When dp_broker_tick() is to be called; -1: not at all. */
int64_t dp_broker_next_ms(const struct dp_broker *b);

/* ---- what happened -----------------------------------------------------------------------------
 */

/** Time has passed: see dp_broker_next_ms(). */
void dp_broker_tick(struct dp_broker *b, int64_t now_ms);
/** A record that was found at the start; taken. Before anything else. */
void dp_broker_adopt(struct dp_broker *b, struct dp_grant *grant);
/** Slices that DAS's daemonset made, and that no record knows; taken. After the records: those of
 * slices at the same places are of slices that are gone. */
void dp_broker_inherit(struct dp_broker *b, struct dp_grant *grant);
/** A pod on this node is there or has changed; taken. */
void dp_broker_on_pod(struct dp_broker *b, struct dp_pod *pod, int64_t now_ms);
/** The pod of @uid was deleted. */
void dp_broker_on_pod_gone(struct dp_broker *b, const char *uid, int64_t now_ms);
/** A claim of this node; taken. Its part of the broker's own is kept where it is known. */
void dp_broker_on_claim(struct dp_broker *b, struct dp_claim *claim, int64_t now_ms);
/** The claim was deleted. */
void dp_broker_on_claim_gone(struct dp_broker *b, const char *ns, const char *name, int64_t now_ms);
/** There are GPUs. Records of an earlier process wait for that: after a boot the driver may be
 * loaded long after the plugin starts. */
void dp_broker_on_gpus(struct dp_broker *b, int64_t now_ms);
/** All pods that exist have been reported. */
void dp_broker_on_pods_synced(struct dp_broker *b, int64_t now_ms);

/** kubelet requests @n_ids devices of a profile for a container that it does not name. */
void dp_broker_allocate(struct dp_broker *b, uint64_t ticket, const char *profile,
                        const char *const *ids, size_t n_ids, int64_t now_ms);
/** kubelet has given the call up: it needs no answer. */
void dp_broker_cancel(struct dp_broker *b, uint64_t ticket);
/** kubelet is about to start a container that holds these. */
void dp_broker_start(struct dp_broker *b, uint64_t ticket, const char *profile,
                     const char *const *ids, size_t n_ids, int64_t now_ms);

/** kubelet requests the devices of a ResourceClaim. @grant: not made yet, with its claim, devices
 * and slices; taken. One that is there already for this claim is the answer, whatever @grant has.
 */
void dp_broker_prepare(struct dp_broker *b, uint64_t ticket, struct dp_grant *grant,
                       int64_t now_ms);
/** kubelet needs the devices of the ResourceClaim of this UID no more. One that is not known has
 * none: answered at once. */
void dp_broker_unprepare(struct dp_broker *b, uint64_t ticket, const char *uid, int64_t now_ms);

/** How a step has ended. Texts are borrowed for the call. */
struct dp_step_result {
    int code;
    uint32_t gi, ci;
    const char *uuid;
    const char *message; /* of a failure */
};
/** The outcome of DP_ACT_STEP. */
void dp_broker_on_step(struct dp_broker *b, const char *grant_id, size_t i, enum dp_step step,
                       const struct dp_step_result *result, int64_t now_ms);
/** The outcome of DP_ACT_SET. */
void dp_broker_on_setting(struct dp_broker *b, const char *grant_id, size_t i, enum dp_step step,
                          const struct dp_step_result *result, int64_t now_ms);
/** The outcome of DP_ACT_COMMIT: 0, or an error's code and its message. */
void dp_broker_on_commit(struct dp_broker *b, const char *grant_id, int code, const char *message,
                         int64_t now_ms);
/** @version: of the object after the write; 0: not known. */
void dp_broker_on_written(struct dp_broker *b, enum dp_act act, const char *ns, const char *name,
                          enum sw_claim_state state, int code, uint64_t version, int64_t now_ms);

/** One entry of kubelet's list: that container holds the devices @ids of @profile. */
struct dp_held {
    char *ns, *pod, *container;
    char profile[SW_MIG_NAME_LEN];
    char **ids;
    size_t n_ids;
};
/** @code other than 0: kubelet could not be asked. */
void dp_broker_on_held(struct dp_broker *b, int code, const struct dp_held *held, size_t n_held,
                       int64_t now_ms);

/* ---- queries -----------------------------------------------------------------------------------
 */

/** By the id of its record; borrowed. NULL: none. */
struct dp_grant *dp_broker_grant(const struct dp_broker *b, const char *id);
/** What the ResourceClaim of that UID has, and is not being taken down; borrowed. NULL: nothing. */
struct dp_grant *dp_broker_prepared(const struct dp_broker *b, const char *uid);
/** By its name; borrowed. NULL: none. */
struct dp_claim *dp_broker_claim(const struct dp_broker *b, const char *ns, const char *name);

/** The grant that holds a device; NULL: none. */
const struct dp_grant *dp_broker_holder(const struct dp_broker *b, const char *profile,
                                        const char *id);
/** Calls @each with every grant. */
void dp_broker_each(const struct dp_broker *b, void (*each)(struct dp_grant *g, void *arg),
                    void *arg);

/** Calls @each with every AllocationClaim. */
void dp_broker_each_claim(const struct dp_broker *b,
                          void (*each)(const struct dp_claim *c, void *arg), void *arg);

/** For metrics. */
struct dp_counts {
    size_t n_claims, n_waiting;
    size_t n_grants[3]; /* by enum dp_grant_state */
};
/** Count what there is now. */
void dp_broker_count(const struct dp_broker *b, struct dp_counts *out);
