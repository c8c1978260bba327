#pragma once
/* stay: the pods of a DaemonSet stay where they are while labels of Node Feature Discovery are
 * missing. A nodeSelector alone cannot say that: the DaemonSet controller deletes a pod as soon as
 * its node does not match (Kubernetes, "DaemonSet", on changed node labels). So slipway puts a
 * label on nodes that had what a DaemonSet asks for when its state finished there, and what asks
 * for features lets them be missing where that label is (operator/manifests/hook_node_affinity.c);
 * it goes when the grace is over (node_label.c). */
#include <stdbool.h>
#include <stdint.h>

#include "operator/engine/nodes/node_set.h"

struct json_object;

/** The way from a pod spec to what its nodes must have. */
#define SW_REQUIRED_AFFINITY                                                                       \
    "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"

/** The label's key for the pods of @resource with @pod_spec, as it asks before it lets anything be
 * missing; heap. */
char *sw_grace_period_key(const char *resource, struct json_object *pod_spec);

/** Is it a label that Node Feature Discovery sets, and may lose? */
bool sw_is_feature_label(const char *key);

/** Take the terms that need a label of ours out of @pod_spec, or of what of it says where pods may
 * run: left is where pods are meant to be. @return the label's key, heap; NULL: there were none. */
char *sw_grace_period_remove(struct json_object *pod_spec);

/** sw_node_set_matches(); or it would, were labels of features not missing, and the node has a
 * label of @resource by which pods stay. */
bool sw_node_set_keeps(const struct sw_node_set *roster, uint32_t node,
                       struct json_object *selector, const char *resource);
