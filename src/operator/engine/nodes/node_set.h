#pragma once
/* roster: the nodes of the cluster as the engines see them. One roster serves every engine of a
 * process: a node is a few hundred bytes here (labels are numbers of an interned table), however
 * many resources select it. A node has a number that stays its own while it exists, so that an
 * engine can keep one bit a node.
 *
 * The controller puts nodes in before it steps the engines with SW_EV_NODE. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;
struct sw_node_set;

#define SW_NO_NODE UINT32_MAX

/** Labels that engines set on nodes. Before <resource>-<state>, "Ready": the state has finished on
 * the node. */
#define SW_STATE_LABEL "specialresource.openshift.io/state-"
/** Before 16 hexadecimal digits, the resource's name: its pods of one DaemonSet may stay on the
 * node for the grace period (grace_period.h). */
#define SW_GRACE_PERIOD_LABEL "stay.slipway.dev/"

struct sw_node_set_taint {
    const char *key, *value, *effect;
    const char *added; /* its timeAdded as it is written; "" or NULL: none */
};

/** What is told of a node; all borrowed for the call. */
struct sw_node_set_facts {
    const char *name;
    /** Which rendering of kernel-affine states the node needs, as it is shown: its kernel's full
     * version, with more where that does not tell (system, architecture). "" or NULL: not known
     * yet. */
    const char *group;
    const char *const *labels; /* 2 * n_labels: key, value, key, value... in any order */
    size_t n_labels;
    const struct sw_node_set_taint *taints;
    size_t n_taints;
    /** Which of the taints are slipway's, as it wrote that down on the node (taint.c); "" or NULL:
     * none. */
    const char *taint_record;
    bool ready;         /* its Ready condition is True */
    bool unschedulable; /* cordoned */
    /** Another one than before: the node was started anew. "" or NULL: not known. */
    const char *boot_id;
    /** The resourceVersion as a number, 0 if unknown. A node older than what is known is ignored,
     * so that a watch event that was on its way when our own PATCH was answered cannot bring the
     * old labels back. */
    uint64_t version;
};

struct sw_node_set *sw_node_set_new(void);
void sw_node_set_free(struct sw_node_set *roster); /* NULL is accepted */

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
void sw_node_set_observe(struct sw_node_set *roster, const struct sw_node_set_observer *observer);

/** Put in or replace. @changed (may be NULL): whether anything that engines look at is different.
 * @return the node's number */
uint32_t sw_node_set_put(struct sw_node_set *roster, const struct sw_node_set_facts *facts,
                         bool *changed);
/** Replace one node's labels after a PATCH of them was answered with the node's new document.
 * @labels: its metadata.labels. What others have set meanwhile counts as a change of the next put,
 * so that all engines are told. @return false: older than what is known, or no such node */
bool sw_node_set_put_labels(struct sw_node_set *roster, uint32_t node, struct json_object *labels,
                            uint64_t version);
/** The same of its taints (@taints: the document's spec.taints) and of what is written down about
 * them, out of the answer whose labels were put just now. */
void sw_node_set_put_taints(struct sw_node_set *roster, uint32_t node, struct json_object *taints,
                            const char *record);
/** Its number becomes another node's only after the next put: step the engines with SW_EV_NODE
 * first. @return the number it had, or SW_NO_NODE */
uint32_t sw_node_set_remove(struct sw_node_set *roster, const char *name);

/** Numbers in use are below this. */
uint32_t sw_node_set_end(const struct sw_node_set *roster);
/** How many nodes there are. */
size_t sw_node_set_count(const struct sw_node_set *roster);
uint32_t sw_node_set_find(const struct sw_node_set *roster, const char *name);
/** @return NULL where no node has that number now. Borrowed until the node is put or removed. */
const char *sw_node_set_name(const struct sw_node_set *roster, uint32_t node);
/** "" while not known. Borrowed likewise. */
const char *sw_node_set_group(const struct sw_node_set *roster, uint32_t node);
/** The label's value or NULL. Borrowed likewise. */
const char *sw_node_set_label(const struct sw_node_set *roster, uint32_t node, const char *key);
/** For who asks the same of thousands of nodes: the number of a label's key or value, good until
 * the next put; UINT32_MAX: no node has it. */
uint32_t sw_node_set_text(const struct sw_node_set *roster, const char *text);
/** Has the node the label with that value? Both by number. */
bool sw_node_set_has(const struct sw_node_set *roster, uint32_t node, uint32_t key, uint32_t value);
bool sw_node_set_is_ready(const struct sw_node_set *roster, uint32_t node);
/** Has the last put brought another bootID than the one before? A node that is new, or did not say,
 * has not rebooted. Pinned by test/unit/operator/engine_node_set_test.c. */
bool sw_node_set_has_rebooted(const struct sw_node_set *roster, uint32_t node);
/** Is it cordoned, as of the last put? */
bool sw_node_set_is_unschedulable(const struct sw_node_set *roster, uint32_t node);
/** Call @each with every label of the node; borrowed for the call. */
void sw_node_set_each_label(const struct sw_node_set *roster, uint32_t node,
                            void (*each)(const char *key, const char *value, void *arg), void *arg);
size_t sw_node_set_n_taints(const struct sw_node_set *roster, uint32_t node);
/** @i below sw_node_set_n_taints(). Borrowed likewise. */
struct sw_node_set_taint sw_node_set_taint(const struct sw_node_set *roster, uint32_t node,
                                           size_t i);
/** "" without. Borrowed likewise. */
const char *sw_node_set_taint_record(const struct sw_node_set *roster, uint32_t node);
/** The resourceVersion that all this was read at; 0: unknown. */
uint64_t sw_node_set_version(const struct sw_node_set *roster, uint32_t node);

/* ---- which nodes are meant ---------------------------------------------------------------------
 */

/** Does the node carry every label of @selector (a map of strings; NULL and {} match all)? */
bool sw_node_set_matches(const struct sw_node_set *roster, uint32_t node,
                         struct json_object *selector);
/** Has it a NoSchedule or NoExecute taint that @tolerations (as in a Pod; may be NULL) do not
 * tolerate? Taints of the node's own life cycle (node.kubernetes.io/...: not ready, cordoned,
 * pressure) do not count: they pass, and a node is not taken off for a missed heartbeat. */
bool sw_node_set_is_tainted(const struct sw_node_set *roster, uint32_t node,
                            struct json_object *tolerations);
/** Would a DaemonSet with this pod spec (`spec.template.spec`) have a pod on the node:
 * nodeSelector, required node affinity, taints and tolerations. Source: Kubernetes "Assigning Pods
 * to Nodes", "Taints and Tolerations", DaemonSet controller. */
bool sw_node_affinity_takes_pod(const struct sw_node_set *roster, uint32_t node,
                                struct json_object *pod_spec);
