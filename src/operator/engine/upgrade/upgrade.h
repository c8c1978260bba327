#pragma once
/* upgrade: which node gets its new driver next, and what is done there. A DaemonSet of drivers is
 * updated node by node: cordon, drain if the policy says so, delete the old pod, wait for the
 * node's gate, uncordon. Pure: the state of the nodes in, decisions out; the controller carries
 * them out and `slipway plan` prints them. How far a node is stands on it in three labels, so that
 * a controller that starts later goes on where the last one stopped. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

struct json_object;

/** On a node, each with the resource's name behind it: how far it is (sw_upgrade_step_name()),
 * since when (seconds since 1970), and "slipway" when the node was cordoned for it. */
#define SW_UPGRADE_LABEL "upgrade.slipway.dev/"
#define SW_UPGRADE_SINCE_LABEL "upgrade-since.slipway.dev/"
#define SW_UPGRADE_CORDON_LABEL "upgrade-cordon.slipway.dev/"
/** "true" on a node: its drivers are not replaced. */
#define SW_UPGRADE_SKIP_LABEL "slipway.dev/upgrade-skip"

/** Of spec.upgradePolicy. */
struct sw_upgrade_policy {
    bool paused;         /* autoUpgrade: false */
    int64_t parallel;    /* nodes at a time; 0: any number */
    int64_t unavailable; /* nodes out of service at most; a share where @percent */
    bool percent;
    bool cordon, drain;
    int64_t timeout_ms; /* of one node */
    /* how a node is drained: as kubectl drain's flags say */
    bool force, empty_dir;
    int64_t grace_s;          /* of an evicted pod; -1: its own */
    const char *pod_selector; /* borrowed; "": all pods */
    /* what the cluster's admins allow (operator/engine/nodes/node_policy.h), not of the document */
    int64_t at_work;           /* nodes at a time, of all resources; 0: any number */
    int64_t at_work_elsewhere; /* those that are not this resource's */
    bool force_forbidden;      /* whatever @force says */
};

/** Read spec.upgradePolicy (@doc); what is not there gets its default.
 * @return 0 | SW_INVALID, naming the field */
int sw_upgrade_policy_read(struct json_object *doc, struct sw_upgrade_policy *out,
                           struct sw_err *err) SW_CHECKED;
/** How many of @n_nodes may be out of service: a share is rounded up, at least 1 of more than 0%.
 */
int64_t sw_upgrade_max_unavailable(const struct sw_upgrade_policy *policy, size_t n_nodes);

/** How far the upgrade of a node is. */
enum sw_upgrade_step {
    SW_UP_NONE,
    SW_UP_DRAINING,       /* cordoned; its pods are being evicted */
    SW_UP_RESTARTING,     /* the old driver is being replaced */
    SW_UP_DRAIN_FAILED,   /* it was not drained in time: the old driver goes on */
    SW_UP_RESTART_FAILED, /* the new driver did not get ready in time: it stays cordoned */
    SW_UP_COUNT
};
/** "drain", "restart", "drain-failed", "restart-failed"; "" for none. */
const char *sw_upgrade_step_name(enum sw_upgrade_step step);
/** The step of that name. An unknown name counts as "restart", so that the upgrade is finished.
 * NULL and "": SW_UP_NONE. */
enum sw_upgrade_step sw_upgrade_step_find(const char *name);

/** One node that the drivers run on. */
struct sw_upgrade_node {
    const char *name;
    bool ready;         /* the node */
    bool unschedulable; /* cordoned, by anyone */
    bool outdated;      /* a driver pod of an older template is there */
    bool finished;      /* all driver pods there are new and ready, and the gate is open */
    bool skipped;       /* SW_UPGRADE_SKIP_LABEL */
    bool forbidden;     /* the cluster's admins allow no work on it, or the resource does not select
                           it */
    bool at_work;       /* for another resource's upgrade */
    enum sw_upgrade_step step;
    int64_t since_ms;
    bool cordoned; /* for this upgrade */
    bool shared;   /* for another resource's upgrade, too */
    bool drained;  /* no pod is left that has to be evicted */
    bool refused;  /* a pod is there that may not be evicted */
};

/** What is to be done on a node. */
enum sw_upgrade_do {
    SW_UPDO_NOTHING,
    SW_UPDO_WAIT,    /* it has to be upgraded, but not now: see why */
    SW_UPDO_BEGIN,   /* label the node with @next, cordon it if @cordon */
    SW_UPDO_DRAIN,   /* evict its pods */
    SW_UPDO_RESTART, /* label it with @next if that has changed; delete the old driver pods */
    SW_UPDO_FINISH,  /* take the labels off, uncordon it if @uncordon */
    SW_UPDO_FAIL,    /* label it with @next; uncordon it if @uncordon */
};

/** Why a node waits, or what has failed. */
enum sw_upgrade_why {
    SW_UPWHY_NONE,
    SW_UPWHY_PAUSED,
    SW_UPWHY_SKIPPED,
    SW_UPWHY_NOT_READY,   /* the node is not */
    SW_UPWHY_PARALLEL,    /* as many are under way as may be */
    SW_UPWHY_UNAVAILABLE, /* as many are out of service as may be */
    SW_UPWHY_GATE,        /* the new driver is not ready yet */
    SW_UPWHY_EVICTION,    /* pods are still there */
    SW_UPWHY_RETRY,       /* it failed; it is tried again later */
    SW_UPWHY_LATE,        /* it took too long */
    SW_UPWHY_REFUSED,     /* pods may not be evicted */
    SW_UPWHY_FORBIDDEN,   /* sw_upgrade_node.forbidden */
    SW_UPWHY_AT_WORK,     /* sw_upgrade_policy.at_work */
    SW_UPWHY_COUNT
};
/** For people: "as many nodes are being upgraded as maxParallel allows". */
const char *sw_upgrade_why_text(enum sw_upgrade_why why);

/** What is decided for one node. */
struct sw_upgrade_decision {
    enum sw_upgrade_do what;
    enum sw_upgrade_why why;
    enum sw_upgrade_step next;
    bool cordon, uncordon;
    int64_t at_ms; /* decide again then at the latest; 0: at the next change */
};

/** Decide for all nodes at once; @out has room for @n. The order of @nodes is the order of turns.
 */
void sw_upgrade_decide(const struct sw_upgrade_policy *policy, const struct sw_upgrade_node *nodes,
                       size_t n, int64_t now_ms, struct sw_upgrade_decision *out);

/** One step of a plan; all borrowed for the call. */
typedef void sw_upgrade_plan_fn(size_t round, const struct sw_upgrade_node *node,
                                const struct sw_upgrade_decision *decision, void *arg);
/** Decide on as if everything went well, in rounds, and call @each for what is done, in order.
 * Nodes that wait for a person (paused, skipped, not ready) come last, once, with SW_UPDO_WAIT. */
void sw_upgrade_plan(const struct sw_upgrade_policy *policy, const struct sw_upgrade_node *nodes,
                     size_t n, int64_t now_ms, sw_upgrade_plan_fn *each, void *arg);

/** Must @pod be evicted from a node that is drained? Kept are pods of DaemonSets, mirror pods, pods
 * that have ended, pods that @policy does not select, and this process's own pod: @self in @self_ns
 * (either may be NULL).
 * @return NULL: it stays | "": it is to be evicted | else why it may not be, constant
 * Source: kubectl's drain filters. */
const char *sw_upgrade_eviction(struct json_object *pod, const struct sw_upgrade_policy *policy,
                                const char *self_ns, const char *self);
