#pragma once
/* ready_label: labels of nodes that come and go with a state, for what others wrote that selects
 * nodes by them: an annotation of the recipe's chart,
 *
 *     slipway.dev/ready-labels: 1000=kmm.node.kubernetes.io/team.driver.ready, 2000=...
 *
 * A recipe may set those of Kernel Module Management alone, for modules of its own namespace: who
 * may write a resource marks no nodes as ready for others.
 * Source: internal/utils/kmmlabels.go of kubernetes-sigs/kernel-module-management. */
#include "base/base.h"

struct json_object;

#define SW_ANN_READY_LABELS "slipway.dev/ready-labels"

/** Check the annotation in @metadata, a Chart.yaml (or NULL), of a recipe whose namespace is @ns
 * (NULL: not known; any will do). @return 0 | SW_INVALID: the item is named */
int sw_ready_labels_check(struct json_object *metadata, const char *ns,
                          struct sw_err *err) SW_CHECKED;
/** The key for the state that is called @name, or @label; heap, NULL: it has none. What
 * sw_ready_labels_check() refuses is none. */
char *sw_ready_label(struct json_object *metadata, const char *ns, const char *name,
                     const char *label);
