#pragma once
/* fit: whether a pod may be on a node, by node selector, required node affinity, taints and
 * tolerations. Source: Kubernetes "Assigning Pods to Nodes" and "Taints and Tolerations". */
#include "emulator/controllers/core.h"

#include "data/selector/selector.h"

/** A pod's nodeSelector, required node affinity and tolerations, read once for many nodes. */
struct sw_fit {
    struct sw_selector node_selector;
    struct sw_node_selector affinity; /* the required one */
    json_object *tolerations;         /* counted */
    char *only_node;                  /* the one name that matchFields allows, or NULL */
};
/** Read @pod_spec, which is borrowed for the call; its tolerations are counted. */
void sw_fit_init(struct sw_fit *fit, json_object *pod_spec);
/** Free what it holds; harmless on a zeroed one. */
void sw_fit_done(struct sw_fit *fit);

/** Whether nodeSelector and required node affinity select @node. */
bool sw_fit_affinity(const struct sw_fit *fit, json_object *node);

/** Effects of taints. */
enum { SW_NO_SCHEDULE = 1, SW_NO_EXECUTE = 2 };
/** The first taint of @node with one of @effects that no toleration in the list @tolerations (or
 * NULL) tolerates; borrowed, NULL: none. */
json_object *sw_fit_taint(json_object *node, json_object *tolerations, unsigned effects);
/** Whether one of @tolerations (a list, or NULL) tolerates @taint. */
bool sw_fit_tolerates(json_object *tolerations, json_object *taint);
/** Whether @toleration tolerates @taint. */
bool sw_toleration_fits(json_object *toleration, json_object *taint);
