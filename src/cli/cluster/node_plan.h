#pragma once
/* node_plan: all actions on nodes for one resource, in order: taints, labels of its states, drivers
 * that are replaced node by node. The decisions are the controller's
 * (operator/engine/upgrade/upgrade.h, operator/engine/nodes/node_set.h), as if each action
 * succeeded. Pure. */
#include "base/base.h"
#include "operator/engine/upgrade/upgrade.h"

struct json_object;
struct sw_facts;
struct sw_node_set;

/** One state of the resource, in the order of the graph. */
struct sw_node_plan_state {
    char *label;       /* the whole key; NULL: it sets none */
    char *ready_label; /* another one that comes and goes with it, as in engine.h; NULL: none */
    /* its DaemonSets as they will be, an array; those annotated "slipway.dev/upgrade: by-node" are
     * drivers, and are compared with their pods */
    struct json_object *sets;
    bool by_node;       /* it waits for its DaemonSets, and so becomes ready node by node */
    bool kernel_affine; /* its nodes get the label of their kernel where they lack it */
};

/** The input and the plan; sw_node_plan_done(). */
struct sw_node_plan {
    const char *name;                   /* borrowed */
    struct json_object *resource;       /* borrowed: spec, and status.states with the old labels */
    struct sw_node_set *node_set;       /* borrowed; its labels are changed as planned */
    const struct json_object *metadata; /* borrowed: of the recipe; NULL: not known */
    const struct sw_facts *facts;       /* borrowed: the kernels of nodes; NULL: not known */
    struct json_object *pods;           /* every Pod, an array; owned */
    struct sw_node_plan_state *states;
    size_t n_states, cap_states;
    bool all; /* as if every driver were out of date */

    /* the plan */
    bool has_policy, was_paused;
    size_t n_drivers;            /* nodes that have a driver */
    struct json_object *actions; /* [{round, node, action, pods | labels | taint}] */
    struct json_object *waiting; /* [{node, why}] */

    /* internal */
    struct sw_upgrade_policy policy;
    struct json_object *by_node, *placed, *tolerations;
    size_t round;
};

/** Make the plan of the input in @plan. @return 0 | SW_INVALID: spec.upgradePolicy */
int sw_node_plan_make(struct sw_node_plan *plan, struct sw_err *err) SW_CHECKED;
/** Free what @plan holds. */
void sw_node_plan_done(struct sw_node_plan *plan);
