#pragma once
/* grace_period: the pods of a DaemonSet stay where they are while labels of Node Feature Discovery
 * are missing. A nodeSelector alone cannot do that: the DaemonSet controller deletes a pod as soon
 * as its node does not match (Kubernetes, "DaemonSet", on changed node labels). So slipway sets a
 * label (SW_GRACE_PERIOD_LABEL) on nodes that had what a DaemonSet selects when its state finished
 * there, and the DaemonSet's node affinity accepts nodes with that label where labels of features
 * are missing (operator/manifests adds that). The label goes when the grace period is over
 * (node_label.c). */
#include <stdbool.h>
#include <stdint.h>

#include "operator/engine/nodes/node_set.h"

struct json_object;

/** The way from a pod spec to what its nodes must have. */
#define SW_REQUIRED_AFFINITY                                                                       \
    "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"

/** The label's key for the pods of @resource with @pod_spec, as it is before the node affinity
 * accepts missing features; heap. */
char *sw_grace_period_key(const char *resource, struct json_object *pod_spec);

/** Is it the key of a label that Node Feature Discovery sets, and may remove? */
bool sw_is_feature_label(const char *key);

/** @manifest, of a DaemonSet, with the nodeSelector and node affinity of @live, which the cluster
 * has: where both ask for the same nodes but for what the grace period adds to one of them, or for
 * the architecture where no other machine of @nodes runs the kernel, and the pods would not be
 * replaced for another reason. A new document, the caller's; NULL: @manifest is to be applied as it
 * is. Pinned by test/unit/operator/engine_keep_template_test.c. */
struct json_object *sw_grace_period_keep(struct json_object *manifest, struct json_object *live,
                                         const struct sw_node_set *nodes);

/** @manifest, of a Job, without the label of slipway's in its pod template, where @live was made
 * without one: by SRO, which labels the pods of other kinds only. A new document, the caller's;
 * NULL: @manifest is to be applied as it is. Pinned by
 * test/unit/operator/engine_keep_template_test.c. */
struct json_object *sw_job_keep(struct json_object *manifest, struct json_object *live);

/** Has @live all that @ours says? What it has beside that are defaults of the server, or what the
 * recipe has dropped: then pods are replaced, and keep the grace period's terms for the next time.
 */
bool sw_live_says(struct json_object *ours, struct json_object *live);

/** Whichever of these two is for @manifest's kind; NULL without @live. */
struct json_object *sw_template_keep(struct json_object *manifest, struct json_object *live,
                                     const struct sw_node_set *nodes);

/** sw_node_set_matches(); or only labels of features are missing, and the node has a label of
 * @resource by which pods stay. */
bool sw_node_set_keeps(const struct sw_node_set *set, uint32_t node, struct json_object *selector,
                       const char *resource);
