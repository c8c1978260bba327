#pragma once
/* ctl_core: what the controllers share: an index of pods and nodes, a queue of keys for each
 * controller, and alarms on one timer. A change of an object adds the keys that it concerns to the
 * queues; a controller handles a key once in a turn of the loop, however often it was added. No
 * controller calls another. */
#include "emulator/controllers/controllers.h"
#include "emulator/store/document.h"
#include "emulator/store/store.h"

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

struct lh_table;
struct sw_rules;

/** The object that an alarm is a member of. */
#define SW_OF_ALARM(type, member, ptr) ((type *)((char *)(ptr)-offsetof(type, member)))

/* ---- alarms -------------------------------------------------------------------------------------
 */

/** A call of @fire at a later time; a member of the object that it is for, which owns it.
 * Zero-initialise, set @fire. */
struct sw_alarm {
    void (*fire)(struct sw_ctl *ctl, struct sw_alarm *alarm);
    int64_t due_ms;
    uint64_t seq;
    size_t slot; /* in the heap, from 1; 0: not set */
};
/** Call alarm->fire in @in_ms; replaces an earlier time. */
void sw_alarm_set(struct sw_ctl *ctl, struct sw_alarm *alarm, int64_t in_ms);
/** Cancel the call. Harmless if it is not set. */
void sw_alarm_stop(struct sw_ctl *ctl, struct sw_alarm *alarm);
/** @delay_ms with the options' jitter. */
int64_t sw_ctl_jitter(struct sw_ctl *ctl, int delay_ms);

/* ---- the index ----------------------------------------------------------------------------------
 */

/** An amount of one resource, in thousandths ("100m" CPU is 100, 1 is 1000). */
struct sw_amount {
    uint32_t resource; /* a number for its name, see sw_ctl_resource() */
    int64_t milli;
};

/** Amounts, one for each resource; items are owned. */
struct sw_amounts {
    struct sw_amount *items;
    size_t n, cap;
};

/** How far the kubelet is with a pod. In this order: those from RUNNING on have logs. */
enum sw_pod_step {
    SW_STEP_NONE,        /* not started yet */
    SW_STEP_PULLING,     /* pulling images */
    SW_STEP_PULL_ERROR,  /* an image does not exist */
    SW_STEP_PULL_WAIT,   /* back-off until the image exists */
    SW_STEP_PREPARING,   /* waiting for the driver of its devices */
    SW_STEP_MOUNTING,    /* waiting for a Secret or ConfigMap that it mounts */
    SW_STEP_CONFIGURING, /* waiting for a Secret or ConfigMap of its environment */
    SW_STEP_STARTING,    /* starting init containers and containers */
    SW_STEP_RUNNING,     /* running, not ready yet */
    SW_STEP_READY,       /* ready, unless a rule says that it never is; it may end by itself */
    SW_STEP_CRASHED,     /* back-off until it is started again */
    SW_STEP_ENDED,       /* Succeeded or Failed */
    SW_STEP_STOPPING,    /* deleted, in its grace period */
};

/** A pod in the index, which owns it. */
struct sw_pod {
    struct sw_pod *node_next, **node_link;   /* pods of a node */
    struct sw_pod *owner_next, **owner_link; /* pods of a controller */
    struct sw_pod *wait_next, **wait_link;   /* pods without a node */
    json_object *doc;                        /* as stored last; counted */
    struct sw_node *node;                    /* NULL: not bound, or to a node that is deleted */
    struct sw_amounts requests;
    bool ready;            /* its condition Ready is True */
    bool counted;          /* its requests are in the node's sum */
    bool unschedulable;    /* the scheduler tried it, and no node fits */
    bool waited;           /* the scheduler's delay is over */
    struct sw_alarm alarm; /* of the scheduler before it is bound, of the kubelet after */
    enum sw_pod_step step;
    int n_restarts;
    int64_t started_ms, ended_ms; /* of the containers' last run */
    int64_t last_started_ms;      /* of the run before, once it has ended */
    int64_t over_ms;              /* when its DaemonSet saw that it is over; 0: it has not */
    unsigned ip;                  /* the last part of its address; 0: none yet */
    /** Changes of the document, and how many of them the kubelet's last status includes. */
    unsigned n_changes, n_seen;
};

/** A node in the index, which owns it. */
struct sw_node {
    json_object *doc;   /* as stored last; counted */
    unsigned n_changes; /* of the document */
    size_t number;      /* its place in sw_ctl_nodes(); not used again after it */
    struct sw_pod *pods;
    size_t n_pods;
    struct sw_amounts allocatable, used;
    struct lh_table *images; /* names of the images that were pulled */
    unsigned last_ip;        /* the last part of the address that a pod was given last */
};

/** The pod's namespace, borrowed from its document. */
const char *sw_pod_ns(const struct sw_pod *pod);
/** The pod's name, borrowed from its document. */
const char *sw_pod_name(const struct sw_pod *pod);
/** The pod's phase, borrowed from its document; "" where it has none. */
const char *sw_pod_phase(const struct sw_pod *pod);
/** Whether its phase is Succeeded or Failed. */
bool sw_pod_is_over(const struct sw_pod *pod);
/** Whether its condition Ready is True. */
bool sw_pod_is_ready(const struct sw_pod *pod);
/** Whether it has been ready for at least @min_s seconds. *@wait_ms: the time until it has been;
 * -1: not by waiting alone, or it has. */
bool sw_pod_is_available(struct sw_ctl *ctl, const struct sw_pod *pod, int64_t min_s,
                         int64_t *wait_ms);

/** The smaller of two times; -1 stands for none. */
int64_t sw_ctl_sooner(int64_t a_ms, int64_t b_ms);

/** The pod of that name; borrowed, NULL: there is none. */
struct sw_pod *sw_ctl_pod(struct sw_ctl *ctl, const char *ns, const char *name);
/** The node of that name; borrowed, NULL: there is none. */
struct sw_node *sw_ctl_node(struct sw_ctl *ctl, const char *name);
/** The first of the pods whose controller has @uid; go on by owner_next. */
struct sw_pod *sw_ctl_owned_pods(struct sw_ctl *ctl, const char *uid);
/** The first of the pods that are not bound, or to a node that is deleted; go on by wait_next. */
struct sw_pod *sw_ctl_waiting_pods(struct sw_ctl *ctl);
/** Nodes by number, borrowed; NULL at the numbers of deleted ones. */
struct sw_node *const *sw_ctl_nodes(const struct sw_ctl *ctl, size_t *n);
/** Number of nodes, without deleted ones. */
size_t sw_ctl_n_nodes(const struct sw_ctl *ctl);

/** The number of a resource's name; the names live as long as @ctl. */
uint32_t sw_ctl_resource(struct sw_ctl *ctl, const char *name);
/** The name of a resource; borrowed. */
const char *sw_ctl_resource_name(const struct sw_ctl *ctl, uint32_t resource);
/** The amount of @resource in @set; 0: none. */
int64_t sw_amount_in(const struct sw_amounts *set, uint32_t resource);

/* ---- queues -------------------------------------------------------------------------------------
 */

/** The queue of each controller. */
enum sw_queue {
    SW_Q_DEPLOYMENT,
    SW_Q_REPLICASET,
    SW_Q_DAEMONSET,
    SW_Q_STATEFULSET,
    SW_Q_JOB,
    SW_Q_NODE,     /* taints, pods of deleted nodes */
    SW_Q_SCHEDULE, /* pods that are not bound */
    SW_Q_KUBELET,  /* pods that are bound */
    SW_Q_SERVICE,  /* endpoints of services */
    SW_Q_DEVICE,   /* ResourceSlices, for pods that wait for their devices */
    SW_Q_CLAIM,    /* ResourceClaims: free when no pod uses them any more */
    SW_Q_QUOTA,    /* ResourceQuotas: what is used */
    SW_N_QUEUES
};

/** A key whose work failed is handled again after this time. */
enum { SW_CTL_RETRY_MS = 1000 };

/** Handle this key in a later turn. @ns NULL or "": none. */
void sw_ctl_enqueue(struct sw_ctl *ctl, enum sw_queue queue, const char *ns, const char *name);
/** Handle this key in @in_ms, unless it is due earlier already. */
void sw_ctl_enqueue_in(struct sw_ctl *ctl, enum sw_queue queue, const char *ns, const char *name,
                       int64_t in_ms);
/** Enqueue the controller of @object if it is of the kind that @queue's controller handles. */
void sw_ctl_enqueue_owner(struct sw_ctl *ctl, enum sw_queue queue, json_object *object);

/** A controller: which changes it handles, and what it does with a key. Functions may be NULL,
 * except work. */
struct sw_controller {
    const char *group, *kind; /* what its keys name; changes of it are queued; NULL: none */
    const char *owned_group, *owned_kind; /* a change of such an object queues its controller */
    bool owns_pods;                       /* so does a change of a pod */
    void (*work)(struct sw_ctl *ctl, const char *ns, const char *name);
    /** A pod changed. @before is NULL for a new one, @after for a deleted one. */
    void (*on_pod)(struct sw_ctl *ctl, json_object *before, json_object *after);
    /** A node changed; @before and @after as for on_pod. */
    void (*on_node)(struct sw_ctl *ctl, struct sw_node *node, json_object *before,
                    json_object *after);
    /** Make and free what it keeps besides the store. */
    void (*open)(struct sw_ctl *ctl);
    void (*close)(struct sw_ctl *ctl);
};
/** The controllers, each in a file of its own. */
extern const struct sw_controller sw_deployment_controller, sw_replicaset_controller,
    sw_daemonset_controller, sw_statefulset_controller, sw_job_controller, sw_node_controller,
    sw_scheduler, sw_kubelet, sw_service_controller, sw_device_controller, sw_claim_controller,
    sw_quota_controller;

/* ---- writing ------------------------------------------------------------------------------------
 */

/** Kinds that the controllers use. */
struct sw_ctl_kinds {
    const struct sw_emu_kind *pod, *node, *daemonset, *deployment, *replicaset, *statefulset, *job,
        *service, *endpoints, *endpointslice, *revision, *event, *pvc, *quota;
    /** Of resource.k8s.io; NULL: not served. */
    const struct sw_emu_kind *device_class, *claim, *claim_template, *slice;
};

/** The controllers of one cluster. */
struct sw_ctl {
    struct sw_store *store;
    struct sw_loop *loop;
    struct sw_ctl_kinds kinds;
    struct sw_emu_delays delays;
    uint64_t rng;
    struct sw_rules *rules;
    struct sw_rules_store *backend; /* of the rules */
    bool started;
    struct sw_ctl_alarms *alarms;
    struct sw_ctl_index *index;
    struct sw_ctl_queues *queues;
    struct sw_schedule *schedule;     /* the scheduler's own */
    struct sw_daemonsets *daemonsets; /* the DaemonSet controller's */
    struct sw_services *services;     /* the endpoints controller's */
    bool any_quota;                   /* there is, or once was, a ResourceQuota */
    bool any_mounting; /* a pod waits, or once waited, for a Secret, ConfigMap or device */
    struct sw_subscription *subs[24];
    size_t n_subs;
};

/** The loop's clock. */
int64_t sw_ctl_now(const struct sw_ctl *ctl);
/** A random number below @below, by the seed. */
uint32_t sw_ctl_random(struct sw_ctl *ctl, uint32_t below);

/** Create @doc (taken). This and the writes below update the index at once, so that a controller
 * finds the pods that it has just created. A failure becomes an Event on @about (may be NULL).
 * @return 0, or a negative code of the store: enqueue the key again */
int sw_ctl_create(struct sw_ctl *ctl, const struct sw_emu_kind *kind, json_object *doc,
                  json_object *about);
/** The same; @*why is what the server said of a failure, the caller's; else NULL. */
int sw_ctl_create_told(struct sw_ctl *ctl, const struct sw_emu_kind *kind, json_object *doc,
                       json_object *about, char **why);
/** Delete @doc (borrowed); @now: without a grace period. @return as sw_ctl_create() */
int sw_ctl_delete(struct sw_ctl *ctl, const struct sw_emu_kind *kind, json_object *doc, bool now);
/** Replace the status where it differs. @status is taken. A failure is ignored. */
void sw_ctl_put_status(struct sw_ctl *ctl, const struct sw_emu_kind *kind, json_object *doc,
                       json_object *status);
/** Change a copy and store it; @edit as for sw_store_modify(). @return as sw_ctl_create() */
int sw_ctl_modify(struct sw_ctl *ctl, const struct sw_emu_kind *kind, json_object *doc,
                  const char *subresource, int (*edit)(json_object *doc, void *arg), void *arg);
/** Bring the index up to date with the store for this pod. */
void sw_ctl_refresh_pod(struct sw_ctl *ctl, const char *ns, const char *name);

/** An Event on @about; @type: Normal or Warning. A repeated one counts up the one that exists. */
void sw_ctl_event(struct sw_ctl *ctl, json_object *about, const char *type, const char *reason,
                  const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/** @image exists now: enqueue the pods that wait for it. @arg is the struct sw_ctl. */
void sw_kubelet_image(void *arg, const char *image);
/** Slices came or went: enqueue the pods whose devices are not prepared. */
void sw_kubelet_devices(struct sw_ctl *ctl);
/** The store's logs function; @arg is the struct sw_ctl. */
int sw_kubelet_logs(void *arg, json_object *pod, const char *container, bool previous, char **text);

/* ---- set-up -------------------------------------------------------------------------------------
 */

/** Make ctl->alarms. */
void sw_ctl_alarms_open(struct sw_ctl *ctl);
/** Free ctl->alarms, when no alarm is set. Harmless before the open, as those below. */
void sw_ctl_alarms_close(struct sw_ctl *ctl);
/** Make ctl->index and subscribe to pods and nodes. */
void sw_ctl_index_open(struct sw_ctl *ctl);
/** Free ctl->index. */
void sw_ctl_index_close(struct sw_ctl *ctl);
/** Make ctl->queues. */
void sw_ctl_queues_open(struct sw_ctl *ctl);
/** Free ctl->queues with their keys. */
void sw_ctl_queues_close(struct sw_ctl *ctl);
/** The controller of each queue. */
extern const struct sw_controller *const sw_controllers[SW_N_QUEUES];
