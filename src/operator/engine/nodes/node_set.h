#pragma once
/* node_set: the nodes of the cluster as the engines see them. One set serves every engine of a
 * process: a node takes a few hundred bytes (labels are numbers of interned texts), however many
 * resources select it. A node keeps its number while it exists, so that an engine can keep one bit
 * a node.
 *
 * The controller puts nodes in before it steps the engines with SW_EV_NODE. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

struct json_object;
struct sw_node_set;

#define SW_NO_NODE UINT32_MAX

/** Labels that engines set on nodes. Before <resource>-<state>, "Ready": the state has finished on
 * the node. */
#define SW_STATE_LABEL "specialresource.openshift.io/state-"
/** Before 16 hexadecimal digits, the resource's name: its pods of one DaemonSet may stay on the
 * node for the grace period (grace_period.h). */
#define SW_GRACE_PERIOD_LABEL "stay.slipway.dev/"
/** Before <namespace>.<module>.ready and the like: those of Kernel Module Management, which come
 * and go with the label of a state, where its recipe asks for that (sw_state_spec.ready_label). */
#define SW_READY_LABEL "kmm.node.kubernetes.io/"

/** Of a key "<SW_READY_LABEL><namespace>.<module>.ready" the label "....version.ready", which says
 * in which version the module is ready on a node; *@chosen: "<SW_READY_LABEL>version-module.
 * <namespace>.<module>", by which the node chooses that. Both heap; NULL: @ready_label, which may
 * be NULL, is another key. Source: internal/utils/kmmlabels.go of
 * kubernetes-sigs/kernel-module-management. */
char *sw_ready_version_label(const char *ready_label, char **chosen);

/** A taint. The texts are borrowed. */
struct sw_taint {
    const char *key, *value, *effect;
    const char *added; /* timeAdded as it is written; "" or NULL: none */
};

/** What is known of a node; all borrowed for the call. */
struct sw_node_set_facts {
    const char *name;
    /** Which variant of kernel-affine states the node needs (facts.h: sw_group_id()), as it is
     * shown: its kernel's full version, with system and architecture where that does not say them.
     * "" or NULL: not known yet. */
    const char *group;
    const char *const *labels; /* 2 * n_labels: key, value, key, value... in any order */
    size_t n_labels;
    const struct sw_taint *taints;
    size_t n_taints;
    /** Which of the taints slipway has set, as its annotation on the node says (taint.c); "" or
     * NULL: none. */
    const char *taint_record;
    /** Extended resources that it has allocatable, more than 0 of each: names, sorted, a blank
     * between two; "" or NULL: none. */
    const char *resources;
    bool ready;         /* its Ready condition is True */
    bool unschedulable; /* cordoned */
    /** It differs from the last one: the node has rebooted. "" or NULL: not known. */
    const char *boot_id;
    /** The resourceVersion as a number, 0 if unknown. A node older than what is known is ignored,
     * so that a watch event that was on its way when our own PATCH was answered cannot bring the
     * old labels back. */
    uint64_t version;
};

/** Without nodes; sw_node_set_free(). */
struct sw_node_set *sw_node_set_new(void);
void sw_node_set_free(struct sw_node_set *set); /* NULL is accepted */

/** What changes the set from outside, call by call: each function is called with the arguments of
 * the sw_node_set function of its name, before that changes anything. */
struct sw_node_set_observer {
    void (*put)(const struct sw_node_set_facts *facts, void *arg);
    void (*put_labels)(uint32_t node, struct json_object *labels, uint64_t version, void *arg);
    void (*put_taints)(uint32_t node, struct json_object *taints, const char *record, void *arg);
    void (*remove)(const char *name, void *arg);
    void *arg;
};
/** Call @observer from here on; it is copied. One at a time. */
void sw_node_set_observe(struct sw_node_set *set, const struct sw_node_set_observer *observer);

/** Add or replace a node. @changed (may be NULL): whether anything that engines read has changed.
 * @return the node's number */
uint32_t sw_node_set_put(struct sw_node_set *set, const struct sw_node_set_facts *facts,
                         bool *changed);
/** Replace one node's labels after a PATCH of them was answered with the node's new document.
 * @labels: its metadata.labels. What other clients have set meanwhile counts as a change of the
 * next put, so that all engines get an event. @return false: older than what is known, or no such
 * node */
bool sw_node_set_put_labels(struct sw_node_set *set, uint32_t node, struct json_object *labels,
                            uint64_t version);
/** The same for its taints (@taints: the document's spec.taints) and the record of those that
 * slipway has set, from the answer whose labels were put just now. */
void sw_node_set_put_taints(struct sw_node_set *set, uint32_t node, struct json_object *taints,
                            const char *record);
/** An engine has begun to set its taints on the node (@begins), or that has been answered, or given
 * up: until then the node counts as tainted, for all engines. Ends as often as it began; that of a
 * node that is gone counts as ended. */
void sw_node_set_begin_taint(struct sw_node_set *set, uint32_t node, bool begins);
/** Remove a node. Its number may become another node's with the next put: step the engines with
 * SW_EV_NODE first. @return the number it had, or SW_NO_NODE */
uint32_t sw_node_set_remove(struct sw_node_set *set, const char *name);

/** All numbers of nodes are below this. */
uint32_t sw_node_set_end(const struct sw_node_set *set);
/** How many nodes there are. */
size_t sw_node_set_count(const struct sw_node_set *set);
/** The node's number; SW_NO_NODE: there is none of that name (which may be NULL). */
uint32_t sw_node_set_find(const struct sw_node_set *set, const char *name);
/** @return NULL where no node has that number now. Borrowed until the node is put or removed. */
const char *sw_node_set_name(const struct sw_node_set *set, uint32_t node);
/** "" while not known. Borrowed likewise. */
const char *sw_node_set_group(const struct sw_node_set *set, uint32_t node);
/** The label's value or NULL. Borrowed likewise. */
const char *sw_node_set_label(const struct sw_node_set *set, uint32_t node, const char *key);
/** The number of a label's key or value, to ask many nodes for it; valid until the next put.
 * UINT32_MAX: no node has it. */
uint32_t sw_node_set_text(const struct sw_node_set *set, const char *text);
/** Has the node the label with that value? Both by number. */
bool sw_node_set_has(const struct sw_node_set *set, uint32_t node, uint32_t key, uint32_t value);
/** Is its Ready condition True? */
bool sw_node_set_is_ready(const struct sw_node_set *set, uint32_t node);
/** Had the last put another bootID than the one before? A node that is new, or without bootID, has
 * not rebooted. Pinned by test/unit/operator/engine_node_set_test.c. */
bool sw_node_set_has_rebooted(const struct sw_node_set *set, uint32_t node);
/** Is it cordoned, as of the last put? */
bool sw_node_set_is_unschedulable(const struct sw_node_set *set, uint32_t node);
/** Call @each with every label of the node; borrowed for the call. */
void sw_node_set_each_label(const struct sw_node_set *set, uint32_t node,
                            void (*each)(const char *key, const char *value, void *arg), void *arg);
/** How many taints it has. */
size_t sw_node_set_n_taints(const struct sw_node_set *set, uint32_t node);
/** @i below sw_node_set_n_taints(). Borrowed likewise. */
struct sw_taint sw_node_set_taint(const struct sw_node_set *set, uint32_t node, size_t i);
/** See sw_node_set_facts.taint_record; "" without. Borrowed likewise. */
const char *sw_node_set_taint_record(const struct sw_node_set *set, uint32_t node);
/** How many nodes have taints that slipway has set, or are getting some. */
size_t sw_node_set_n_tainted(const struct sw_node_set *set);
/** Is the node one of them? */
bool sw_node_set_counts_as_tainted(const struct sw_node_set *set, uint32_t node);
/** Has it any allocatable of the extended resource @name, or with "<domain>/" and a star of any of
 * that domain? As of the last put. */
bool sw_node_set_has_resource(const struct sw_node_set *set, uint32_t node, const char *name);
/** The resourceVersion of all this; 0: unknown. */
uint64_t sw_node_set_version(const struct sw_node_set *set, uint32_t node);

/* ---- selectors and taints ----------------------------------------------------------------------
 */

/** Does the node carry every label of @selector (a map of strings; NULL and {} match all)? */
bool sw_node_set_matches(const struct sw_node_set *set, uint32_t node,
                         struct json_object *selector);
/** Has it a NoSchedule or NoExecute taint that @tolerations (as in a Pod; may be NULL) do not
 * tolerate? Taints of the node's own life cycle (node.kubernetes.io/...: not ready, cordoned,
 * pressure) do not count: they pass, and a node is not deselected for a missed heartbeat. */
bool sw_node_set_is_tainted(const struct sw_node_set *set, uint32_t node,
                            struct json_object *tolerations);

/** What chooses the nodes of a pod: nodeSelector, required node affinity and tolerations of its
 * spec, read once for many nodes. */
struct sw_placement;
/** That of @pod_spec, which is borrowed for the call; NULL or {}: no restriction. */
struct sw_placement *sw_placement_new(struct json_object *pod_spec);
void sw_placement_free(struct sw_placement *placement); /* NULL is accepted */
SW_DEFINE_AUTO(sw_placement, sw_placement_free)
/** Would a DaemonSet with this placement have a pod on the node? Source: Kubernetes "Assigning Pods
 * to Nodes", "Taints and Tolerations", DaemonSet controller. */
bool sw_placement_takes(const struct sw_placement *placement, const struct sw_node_set *set,
                        uint32_t node);
/** Does it choose only nodes that have the label @key? */
bool sw_placement_needs_label(const struct sw_placement *placement, const char *key);
/** Remove the node affinity terms that need a label of the grace period (grace_period.h): what is
 * left chooses the nodes that are to have pods. @return the label's key, heap; NULL: no term did */
char *sw_placement_remove_grace(struct sw_placement *placement);
/** sw_placement_takes() for one pod spec (`spec.template.spec`) and one node. */
bool sw_node_affinity_takes_pod(const struct sw_node_set *set, uint32_t node,
                                struct json_object *pod_spec);
/** Why no node takes such a pod: the label that no node has, the affinity that none of those left
 * fits, or the taint that is not tolerated. Heap, the caller's; NULL: a node takes it.
 * Pinned by test/unit/operator/engine_node_set_test.c. */
char *sw_placement_why_none(const struct sw_placement *placement, const struct sw_node_set *set);
/** The same without regard to taints: NULL where a node has the labels. */
char *sw_placement_why_unmatched(const struct sw_placement *placement,
                                 const struct sw_node_set *set);
/** Taints that keep such a pod off nodes which it selects, "{key: value}, ...", the first three
 * that differ. Heap, the caller's; NULL: there are none. Pinned as above. */
char *sw_placement_taints(const struct sw_placement *placement, const struct sw_node_set *set);
