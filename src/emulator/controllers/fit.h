#pragma once
/* ctl_fit: may a pod of this spec be on this node? What the scheduler and the DaemonSet controller
 * both ask. Source: Kubernetes "Assigning Pods to Nodes" and "Taints and Tolerations"; wording of
 * the reasons: kube-scheduler's. */
#include "emulator/controllers/core.h"

#include "data/selector/selector.h"

struct sw_fit_term {
    struct sw_selector labels, fields; /* matchExpressions, matchFields */
    bool empty;
};

/** A pod's nodeSelector, required node affinity and tolerations, read once for many nodes. */
struct sw_fit {
    struct sw_selector node_selector;
    bool has_terms;
    struct sw_fit_term *terms;
    size_t n_terms;
    json_object *tolerations; /* counted */
    char *only_node;          /* the one name that matchFields allows, or NULL */
};
void sw_fit_init(struct sw_fit *fit, json_object *pod_spec);
void sw_fit_done(struct sw_fit *fit);

/** nodeSelector and required node affinity. */
bool sw_fit_affinity(const struct sw_fit *fit, json_object *node);

enum { SW_NO_SCHEDULE = 1, SW_NO_EXECUTE = 2, SW_PREFER_NO_SCHEDULE = 4 };
/** The first taint of @node with one of @effects that nothing in @tolerations tolerates; borrowed,
 * NULL: none. */
json_object *sw_fit_taint(json_object *node, json_object *tolerations, unsigned effects);
bool sw_fit_tolerates(json_object *tolerations, json_object *taint);
