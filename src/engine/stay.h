#pragma once
/* stay: the pods of a DaemonSet stay where they are while labels of Node Feature Discovery are
 * missing. A nodeSelector alone cannot say that: the DaemonSet controller deletes a pod as soon as
 * its node does not match (Kubernetes, "DaemonSet", on changed node labels). So slipway puts a
 * label of its own on nodes on which a state has finished, and what asks for features lets them be
 * missing where that label is (controller/hook_stay.c); it goes when the grace is over (label.c).
 */
#include <stdbool.h>
#include <stdint.h>

struct json_object;
struct sw_roster;

/** Before the resource's name: the label's key. Its value is sw_stay_value(). */
#define SW_STAY_LABEL "stay.slipway.dev/"
/** The way from a pod spec to what its nodes must have. */
#define SW_REQUIRED_AFFINITY                                                                       \
    "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"

/** The label's value on nodes of @group (sw_roster_group()): 16 hexadecimal digits, FNV-64a. */
void sw_stay_value(const char *group, char out[17]);

/** Is it a label that Node Feature Discovery sets, and may lose? */
bool sw_is_feature_label(const char *key);

/** Take the terms that need the label out of @pod_spec, or of what of it says where pods may run:
 * left is where pods are meant to be. @return whether there were any. */
bool sw_stay_remove(struct json_object *pod_spec);

/** sw_roster_matches(); or it would, were labels of features not missing, and the node has the
 * label
 * @key. */
bool sw_roster_keeps(const struct sw_roster *roster, uint32_t node, struct json_object *selector,
                     const char *key);
