#pragma once
/* ctl_core: what the controllers share. They are told of changes through one index of pods and
 * nodes and through queues of keys: whatever happens to an object ends as "look at this key again",
 * and a key is looked at once a turn of the loop however often it was named. Delays are alarms on
 * one timer. The controllers' own files are below; none calls into another. */
#include "emulator/controllers/controllers.h"
#include "emulator/store/document.h"
#include "emulator/store/store.h"

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

struct lh_table;
struct sw_rules;

/** The object whose member an alarm is. */
#define SW_OF_ALARM(type, member, ptr) ((type *)((char *)(ptr)-offsetof(type, member)))

/* ---- alarms -------------------------------------------------------------------------------------
 */

/** Something that happens later; embedded in what it is for. Zero-initialise, set @fire. */
struct sw_alarm {
    void (*fire)(struct sw_ctl *ctl, struct sw_alarm *alarm);
    int64_t due_ms;
    uint64_t seq;
    size_t slot; /* in the heap, from 1; 0: not set */
};
void sw_alarm_set(struct sw_ctl *ctl, struct sw_alarm *alarm, int64_t in_ms);
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

/** What a pod is waiting for, or was last seen doing, in its kubelet. */
enum sw_pod_step {
    SW_STEP_NONE,       /* not looked at yet */
    SW_STEP_PULLING,    /* images */
    SW_STEP_PULL_ERROR, /* one does not exist */
    SW_STEP_PULL_WAIT,  /* back-off, until it does */
    SW_STEP_MOUNTING,   /* a Secret or ConfigMap that it mounts is not there yet */
    SW_STEP_STARTING,   /* init containers, containers */
    SW_STEP_RUNNING,    /* not ready yet */
    SW_STEP_READY,      /* or as ready as it gets; perhaps running to its end */
    SW_STEP_CRASHED,    /* back-off, until it is started again */
    SW_STEP_ENDED,      /* Succeeded or Failed */
    SW_STEP_STOPPING,   /* deleted */
};

struct sw_pod {
    struct sw_pod *node_next, **node_link;   /* pods of a node */
    struct sw_pod *owner_next, **owner_link; /* pods of a controller */
    struct sw_pod *wait_next, **wait_link;   /* pods without a node */
    json_object *doc;                        /* as stored last */
    struct sw_node *node;                    /* NULL: not bound, or to a node that is not there */
    struct sw_amount *requests;
    size_t n_requests;
    bool counted;          /* its requests are in the node's sum */
    bool unschedulable;    /* tried, nothing fitted */
    bool waited;           /* the scheduler's delay is over */
    struct sw_alarm alarm; /* of the scheduler before it is bound, of the kubelet after */
    enum sw_pod_step step;
    int n_restarts;
    int64_t started_ms, ended_ms; /* of the containers' last run */
    unsigned ip;                  /* the last part of its address; 0: none yet */
    /** Changes of the document, and how many of them were there when the kubelet wrote last. */
    unsigned n_changes, n_seen;
};

struct sw_node {
    json_object *doc;
    size_t number; /* a small number of its own, for addresses and bit sets */
    struct sw_pod *pods;
    size_t n_pods;
    struct sw_amount *allocatable, *used;
    size_t n_allocatable, n_used, cap_used;
    struct lh_table *images; /* names that were pulled */
    unsigned last_ip;
};

const char *sw_pod_ns(const struct sw_pod *pod);
const char *sw_pod_name(const struct sw_pod *pod);
const char *sw_pod_phase(const struct sw_pod *pod);
/** Succeeded or Failed. */
bool sw_pod_is_over(const struct sw_pod *pod);
bool sw_pod_is_ready(const struct sw_pod *pod);
/** Ready for at least @min_s seconds; else *@wait_ms says how long it is still to go (or -1). */
bool sw_pod_is_available(struct sw_ctl *ctl, const struct sw_pod *pod, int64_t min_s,
                         int64_t *wait_ms);

struct sw_pod *sw_ctl_pod(struct sw_ctl *ctl, const char *ns, const char *name);
struct sw_node *sw_ctl_node(struct sw_ctl *ctl, const char *name);
/** The first of the pods whose controller has @uid; go on by owner_next. */
struct sw_pod *sw_ctl_owned_pods(struct sw_ctl *ctl, const char *uid);
/** The first of the pods that are on no node, or on one that is not there; go on by wait_next. */
struct sw_pod *sw_ctl_waiting_pods(struct sw_ctl *ctl);
/** Nodes by number; NULL at the numbers of those that went. */
struct sw_node *const *sw_ctl_nodes(const struct sw_ctl *ctl, size_t *n);
/** Nodes that there are. */
size_t sw_ctl_n_nodes(const struct sw_ctl *ctl);

/** Each resource name has a number; the names live as long as @ctl. */
uint32_t sw_ctl_resource(struct sw_ctl *ctl, const char *name);
const char *sw_ctl_resource_name(const struct sw_ctl *ctl, uint32_t resource);

/* ---- queues -------------------------------------------------------------------------------------
 */

enum sw_queue {
    SW_Q_DEPLOYMENT,
    SW_Q_REPLICASET,
    SW_Q_DAEMONSET,
    SW_Q_STATEFULSET,
    SW_Q_JOB,
    SW_Q_NODE,     /* taints, pods of nodes that went */
    SW_Q_SCHEDULE, /* a pod without a node */
    SW_Q_KUBELET,  /* a pod with one */
    SW_Q_SERVICE,  /* its endpoints */
    SW_N_QUEUES
};
/** Look at this object again in a later turn; soon, or in @in_ms. @ns NULL or "": none. */
void sw_ctl_enqueue(struct sw_ctl *ctl, enum sw_queue queue, const char *ns, const char *name);
void sw_ctl_enqueue_in(struct sw_ctl *ctl, enum sw_queue queue, const char *ns, const char *name,
                       int64_t in_ms);

/** What a controller is: how it hears of changes, and what it does with a key. */
struct sw_controller {
    enum sw_queue queue;
    const char *group, *kind; /* what the keys name; changes of it are queued; NULL: none */
    const char *owned_group, *owned_kind; /* a change of such an object queues its controller */
    void (*work)(struct sw_ctl *ctl, const char *ns, const char *name);
    /** A pod changed; @before or @after is NULL where it came or went. May be NULL. */
    void (*on_pod)(struct sw_ctl *ctl, json_object *before, json_object *after);
    void (*on_node)(struct sw_ctl *ctl, struct sw_node *node, json_object *before,
                    json_object *after);
    /** What it keeps besides the store, made at the start and freed at the end. May be NULL. */
    void (*open)(struct sw_ctl *ctl);
    void (*close)(struct sw_ctl *ctl);
};
extern const struct sw_controller sw_deployment_controller, sw_replicaset_controller,
    sw_daemonset_controller, sw_statefulset_controller, sw_job_controller, sw_node_controller,
    sw_scheduler, sw_kubelet, sw_service_controller;

/* ---- writing ------------------------------------------------------------------------------------
 */

/** Kinds that the controllers use. */
struct sw_ctl_kinds {
    const struct sw_emu_kind *pod, *node, *daemonset, *deployment, *replicaset, *statefulset, *job,
        *service, *endpoints, *endpointslice, *revision, *event, *pvc;
};

struct sw_ctl {
    struct sw_store *store;
    struct sw_loop *loop;
    struct sw_ctl_kinds kinds;
    struct sw_emu_delays delays;
    int kube_minor;
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
    bool any_mounting; /* a pod waits for a Secret or ConfigMap (or did, not long ago) */
    struct sw_subscription *subs[24];
    size_t n_subs;
};

int64_t sw_ctl_now(const struct sw_ctl *ctl);
/** A random number below @below, by the seed. */
uint32_t sw_ctl_random(struct sw_ctl *ctl, uint32_t below);

/** Writes go through here: the index follows at once, so that no controller sees a pod that it just
 * made as missing. @doc is taken. A failure is retried by looking at the key again; it becomes an
 * Event on @about (may be NULL). @return 0 or what the store said. */
int sw_ctl_create(struct sw_ctl *ctl, const struct sw_emu_kind *kind, json_object *doc,
                  json_object *about);
int sw_ctl_delete(struct sw_ctl *ctl, const struct sw_emu_kind *kind, json_object *doc, bool now);
/** Replace the status where it differs. @status is taken. @return whether it was written. */
bool sw_ctl_put_status(struct sw_ctl *ctl, const struct sw_emu_kind *kind, json_object *doc,
                       json_object *status);
/** Change a copy and store it; @edit as for sw_store_modify. */
int sw_ctl_modify(struct sw_ctl *ctl, const struct sw_emu_kind *kind, json_object *doc,
                  const char *subresource, int (*edit)(json_object *doc, void *arg), void *arg);
/** Bring the index up to date with the store for this pod. */
void sw_ctl_refresh_pod(struct sw_ctl *ctl, const char *ns, const char *name);

/** An Event on @about. @type Normal or Warning. Repeated ones are counted, not made anew. */
void sw_ctl_event(struct sw_ctl *ctl, json_object *about, const char *type, const char *reason,
                  const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/** Pods that wait for this image look again. */
void sw_kubelet_image(struct sw_ctl *ctl, const char *image);
/** The store's logs function; @arg is the struct sw_ctl. */
int sw_kubelet_logs(void *arg, json_object *pod, const char *container, bool previous, char **text);

/* ---- the parts' own set-up ----------------------------------------------------------------------
 */

void sw_ctl_alarms_open(struct sw_ctl *ctl);
void sw_ctl_alarms_close(struct sw_ctl *ctl);
void sw_ctl_index_open(struct sw_ctl *ctl);
void sw_ctl_index_close(struct sw_ctl *ctl);
void sw_ctl_queues_open(struct sw_ctl *ctl);
void sw_ctl_queues_close(struct sw_ctl *ctl);
/** Rows of controllers, ended by NULL. */
extern const struct sw_controller *const sw_controllers[];
