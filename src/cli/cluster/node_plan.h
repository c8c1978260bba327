#pragma once
/* node_plan: everything that will be done to nodes for one resource, in order: taints and labels of
 * its states, and drivers that are replaced node by node. Decided by what the controller decides by
 * (operator/engine/upgrade/upgrade.h, operator/engine/nodes/node_set.h), played through as if all
 * went well. Pure.
 */
#include "base/base.h"
#include "operator/engine/upgrade/upgrade.h"

struct json_object;
struct sw_node_set;

/** One state of the resource, in the order of the graph. */
struct sw_node_plan_state {
    char *label; /* the whole key; NULL: it sets none */
    /* its DaemonSets as they will be, an array. The pods of those that are annotated
     * "slipway.dev/upgrade: by-node" are compared with them. */
    struct json_object *sets;
    bool by_node; /* it waits for them: it finishes on one node after another */
};

/** What is known; the caller's, as is what comes of it. sw_node_plan_done() frees all but what is
 * borrowed. */
struct sw_node_plan {
    const char *name;             /* borrowed */
    struct json_object *resource; /* borrowed: spec, and status.states with labels of before */
    struct sw_node_set *node_set; /* borrowed; gets the labels that nodes will have */
    struct json_object *pods;     /* every Pod, an array; owned */
    struct sw_node_plan_state *states;
    size_t n_states, cap_states;
    bool all; /* as if every driver were out of date */

    /* what comes of it */
    bool has_policy, was_paused;
    size_t n_drivers;            /* nodes that have a driver */
    struct json_object *actions; /* [{round, node, action, pods | labels | taint}] */
    struct json_object *waiting; /* [{node, why}] */

    /* its own */
    struct sw_upgrade_policy policy;
    struct json_object *by_node, *placed, *tolerations;
    size_t round;
};

/** @return 0 | SW_INVALID: spec.upgradePolicy */
int sw_node_plan_make(struct sw_node_plan *plan, struct sw_err *err) SW_CHECKED;
/** Free what @plan holds. */
void sw_node_plan_done(struct sw_node_plan *plan);
