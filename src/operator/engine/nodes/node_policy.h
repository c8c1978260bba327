#pragma once
/* node_policy: what resources may do to nodes, as the cluster's admins say (flags of the
 * controller). It bounds spec.upgradePolicy and spec.taints, whatever their author wrote: which
 * nodes, how many at a time, what may be ended on them. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "data/selector/selector.h"

struct sw_node_set;

/** All zero: every node that is no control plane, one at a time, half of them tainted, nothing by
 * force. */
struct sw_node_policy {
    struct sw_selector nodes; /* of the nodes; owned */
    bool control_plane;       /* nodes of the control plane, too */
    bool force;               /* drain.force, and taints with the effect NoExecute */
    int64_t at_work;          /* nodes at a time, of all resources; 0: one */
    bool percent;             /* @at_work is a share of the cluster's nodes, rounded up */
    int64_t tainted;          /* nodes with taints of resources, of all together; 0: 50 % */
    bool tainted_percent;     /* as @percent */
};
/** Free what it holds; harmless on a zeroed one. */
void sw_node_policy_done(struct sw_node_policy *policy);

/** Fill in what flags say: a label selector (NULL: all), and numbers or percentages (NULL: 1, 50
 * %).
 * @policy is zeroed or keeps its other fields; sw_node_policy_done() in any case.
 * @return 0 | SW_INVALID, naming the flag */
int sw_node_policy_read(struct sw_node_policy *policy, const char *selector, const char *at_work,
                        const char *tainted, struct sw_err *err) SW_CHECKED;

/** May resources work on the node, if they select it? */
bool sw_node_policy_allows(const struct sw_node_policy *policy, const struct sw_node_set *set,
                           uint32_t node);
/** How many nodes of a cluster of @n_nodes may be worked on at a time; at least 1. */
int64_t sw_node_policy_at_work(const struct sw_node_policy *policy, size_t n_nodes);
/** How many of them may have taints of resources; at least 1. */
int64_t sw_node_policy_tainted(const struct sw_node_policy *policy, size_t n_nodes);
