#pragma once
/* node_policy_flags: the flags by which the cluster's admins bound what resources may do to nodes
 * (operator/engine/nodes/node_policy.h). */
#include "data/flags/flags.h"
#include "operator/engine/nodes/node_policy.h"

/** Embed this in a command's options, and SW_NODE_POLICY_FLAGS in its rows. */
struct sw_node_policy_opts {
    const char *selector, *at_work, *tainted;
    bool control_plane, force;
};
#define SW_NODE_POLICY_FLAGS(type, member)                                                         \
    SW_FLAG_ROW("nodes-selector", 0, SW_FLAG_STRING, offsetof(type, member.selector), "SELECTOR",  \
                "nodes that resources may taint, and replace drivers on (default: all)"),          \
        SW_FLAG_ROW("nodes-control-plane", 0, SW_FLAG_BOOL, offsetof(type, member.control_plane),  \
                    NULL, "nodes of the control plane, too"),                                      \
        SW_FLAG_ROW("nodes-at-work", 0, SW_FLAG_STRING, offsetof(type, member.at_work), "N",       \
                    "nodes whose drivers are replaced at a time, of all resources, or a "          \
                    "percentage (default 1)"),                                                     \
        SW_FLAG_ROW("nodes-tainted", 0, SW_FLAG_STRING, offsetof(type, member.tainted), "N",       \
                    "nodes that have taints of resources, of all together, or a percentage "       \
                    "(default 50%)"),                                                              \
        SW_FLAG_ROW("nodes-force", 0, SW_FLAG_BOOL, offsetof(type, member.force), NULL,            \
                    "allow drain.force of spec.upgradePolicy, and NoExecute in spec.taints")

/** Fill @out in; sw_node_policy_done() in any case. @return 0 | SW_INVALID, naming the flag */
static inline int sw_node_policy_flags(const struct sw_node_policy_opts *opts,
                                       struct sw_node_policy *out, struct sw_err *err)
{
    *out = (struct sw_node_policy){ .control_plane = opts->control_plane, .force = opts->force };
    return sw_node_policy_read(out, opts->selector, opts->at_work, opts->tainted, err);
}
