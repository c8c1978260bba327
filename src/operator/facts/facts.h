#pragma once
/* facts: what is read from a cluster and handed to a recipe's templates, computed for each group of
 * nodes that share kernel, operating system and architecture. Pure: objects in, values out; the
 * controller fetches and watches the objects (sw_facts_sources lists them). Of a node only its name
 * and group are kept; which nodes a resource selects is the node set's matter
 * (operator/engine/nodes/node_set.h).
 * Source of the names and meanings: the Special Resource Operator's run-time values. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "operator/engine/nodes/node_set.h"

struct json_object;
struct sw_err;
struct sw_facts;

/* ---- one node ----------------------------------------------------------------------------------
 */

/** The operating system as recipes name it: "rhel8.4", "rhel8", "8.4". Never NULL; unknown parts
 * are "". */
struct sw_os {
    char *major;       /* "rhel8" */
    char *major_minor; /* "rhel8.4" */
    char *decimal;     /* "8.4" */
    char *build;       /* RHCOS: "410.84.202201251210-0"; else "" */
};

/** The annotation of a node that records which of its taints slipway has set, for which resource:
 * JSON, {"<resource>": ["<key>=<value>:<effect>", ...]}. */
#define SW_TAINTS_ANNOTATION "slipway.dev/taints"

/** What is read of a Node. All strings are owned by it. */
struct sw_node {
    char *name;
    char *kernel;   /* nodeInfo's, else NFD's label; "" when neither is there yet */
    char *arch;     /* "amd64" */
    char *os_image; /* nodeInfo's */
    char *boot_id;
    char *taint_record; /* text of SW_TAINTS_ANNOTATION, "" without */
    char *resources;    /* extended ones of which it has any: names, sorted, a blank between two */
    struct sw_os os;
    bool ready, unschedulable;
    size_t n_labels, n_taints;
    const char **labels; /* n_labels pairs key, value; sorted by key */
    struct sw_taint *taints;
};

/** The label of Node Feature Discovery with the kernel's full version. */
#define SW_KERNEL_LABEL "feature.node.kubernetes.io/kernel-version.full"

/** A kernel as that label's value, as Node Feature Discovery writes it: what no label may have is
 * replaced by "_", and cut off at the ends ("6.6.72+" becomes "6.6.72"). Heap, the caller's.
 * Source: kubernetes-sigs/node-feature-discovery, source/kernel. */
char *sw_kernel_label(const char *kernel);
/** Whether slipway has given @node, a document, that label: it is slipway's field, and Node Feature
 * Discovery has set none of its own. */
bool sw_node_has_own_kernel(struct json_object *node);
/** The fields of a Node that this is told by, as paths of a projection; ends with NULL. */
extern const char *const sw_node_owner_fields[];

/** The fields of a Node that are read, by sw_node_parse() and (podCIDRs) for the ranges of pods, as
 * paths of a projection; ends with NULL. */
extern const char *const sw_node_fields[];

/** Read a Node document; fields that are missing or of another type count as absent.
 * @return the caller's; NULL when it has no metadata.name. */
struct sw_node *sw_node_parse(struct json_object *object);
void sw_node_free(struct sw_node *node); /* NULL is accepted */

/** @return the label's value, borrowed, or NULL. */
const char *sw_node_label(const struct sw_node *node, const char *key);

/** What it runs, by the names that AICR gives to measurements ("OS.release.ID"), a map; by the
 * labels of GPU Feature Discovery its driver and GPUs, too. The caller's. */
struct json_object *sw_node_measured(const struct sw_node *node) SW_CHECKED;

/** The system by NFD's os_release labels, else by the text of nodeInfo.osImage. */
void sw_os_detect(const struct sw_node *node, struct sw_os *out);
/** Free what it owns. */
void sw_os_done(struct sw_os *os);

/** "4.18.0-305.45.1.el8_4.x86_64" -> "4.18.0-305"; a version without a patch part stays as it is.
 * Heap, the caller's. */
char *sw_kernel_patch_version(const char *kernel);

/* ---- all of it ---------------------------------------------------------------------------------
 */

/** Nothing is known yet; sw_facts_free(). */
struct sw_facts *sw_facts_new(void);
void sw_facts_free(struct sw_facts *facts); /* NULL is accepted */

/** Remember what @node runs; of the node itself only its name is kept.
 * @return whether a group appeared, vanished or changed by it */
bool sw_facts_put_node(struct sw_facts *facts, const struct sw_node *node);
/** The node is gone. @return whether a group vanished by it */
bool sw_facts_remove_node(struct sw_facts *facts, const char *name);

/** A single object of the cluster that facts are read from; all of them are optional. */
struct sw_facts_source {
    const char *api_version, *kind;
    const char *ns; /* NULL: not namespaced */
    const char *name;
    const char *doc;
    const char *values[3]; /* that come from it, as templates name them; ends with NULL */
};
/** Ends with a NULL kind. */
extern const struct sw_facts_source sw_facts_sources[];

/** What is known of source number @i now: its document, or NULL for "not there".
 * @return whether a fact changed by it. */
bool sw_facts_put_source(struct sw_facts *facts, size_t i, struct json_object *object);

/** The proxy of slipway's own environment (each may be NULL): used where the cluster has no Proxy
 * object. Copied. */
void sw_facts_set_proxy(struct sw_facts *facts, const char *http, const char *https,
                        const char *no);

/** Is the cluster's desired version another than the one that runs? */
bool sw_facts_is_updating(const struct sw_facts *facts);

/** Is the cluster an OpenShift (config.openshift.io is served)? Decides .Values.platform. */
void sw_facts_set_openshift(struct sw_facts *facts, bool openshift);

/** The fact that a recipe is searched for before feature gates are asked for. */
#define SW_FACT_FEATURE_GATES "featureGates"
/** Whether the API server has the feature gate @name ("DRAPartitionableDevices") on: as
 * .Values.featureGates.<name>, a boolean, which is missing while it is not known.
 * @return whether it was not known before, or is another */
bool sw_facts_set_feature_gate(struct sw_facts *facts, const char *name, bool on);

/* ---- driver toolkits ---------------------------------------------------------------------------
 */

/** The file of a toolkit image that describes it. */
#define SW_TOOLKIT_FILE "etc/driver-toolkit-release.json"
/** What that file says; borrowed from its document. */
struct sw_toolkit {
    const char *kernel, *rt_kernel, *os_version; /* "" where not said */
};

struct sw_groups;
struct sw_group;
/** An image of the ImageStream whose file is to be read, because no toolkit is known to be for the
 * kernel of one of @groups: borrowed until the next put; NULL: none. */
const char *sw_facts_unknown_toolkit(const struct sw_facts *facts, const struct sw_groups *groups);
/** What is in @image; @toolkit NULL: it could not be read, for the reason @why.
 * @return whether it was not known before, or is another */
bool sw_facts_put_toolkit(struct sw_facts *facts, const char *image,
                          const struct sw_toolkit *toolkit, const char *why);
/** Images that could not be read are to be read again. */
void sw_facts_forget_toolkits(struct sw_facts *facts);
/** Why @group has no toolkit, naming those that there are; NULL: it has one, or there is no such
 * ImageStream, or it has no images at all (SRO goes on then, with an empty value). Heap, the
 * caller's. */
char *sw_facts_lacks_toolkit(const struct sw_facts *facts, const struct sw_group *group);
/** Read the file's text. @toolkit borrows from @*doc, which is the caller's.
 * @return 0 | SW_INVALID */
int sw_toolkit_parse(const char *text, size_t len_bytes, struct json_object **doc,
                     struct sw_toolkit *toolkit, struct sw_err *err);
/** Is a kernel as a toolkit names it (perhaps without the architecture) the kernel of a node? */
bool sw_toolkit_fits(const struct sw_toolkit *toolkit, const char *kernel);

/* ---- groups and values -------------------------------------------------------------------------
 */

/** What nodes with the same kernel, operating system and architecture share. */
struct sw_group {
    char *id; /* as shown: the kernel, with system and architecture where it does not say them */
    char *kernel, *arch;
    char *kernel_label; /* the kernel as the value of SW_KERNEL_LABEL */
    char *version_id;   /* the node's os_release VERSION_ID label, "" where NFD gave none */
    char *suffix;       /* of kernel-affine names: 16 hex digits */
    struct sw_os os;
    size_t n_nodes;
};

/** The id of the group that @node belongs to: "" while its kernel is not known, else what
 * sw_group.id says. Heap, the caller's. */
char *sw_group_id(const struct sw_node *node);

/** @return borrowed until the next put or remove of a node; NULL where no node is in it. */
const struct sw_group *sw_facts_find_group(const struct sw_facts *facts, const char *id);
/** The labels by which just the nodes of @group are found: a new object, the caller's. */
struct json_object *sw_facts_selector(const struct sw_facts *facts, const struct sw_group *group);

/** Some groups, in the order of kernel, system and architecture. */
struct sw_groups {
    size_t n;
    const struct sw_group **items; /* owned array of borrowed groups */
};
/** The groups of the nodes that @takes (NULL: all) agrees to; sw_groups_done(). They live until the
 * next put or remove. */
void sw_facts_groups(const struct sw_facts *facts, bool (*takes)(const char *node, void *arg),
                     void *arg, struct sw_groups *out);
/** Free the array; there are none then. */
void sw_groups_done(struct sw_groups *groups);

/** What the nodes of @groups run, and the cluster's @kube_version ("v1.34.0", or NULL), by the
 * names that AICR gives to measurements, as chart/aicr/constraints.h has facts; the caller's. */
struct json_object *sw_groups_measured(const struct sw_groups *groups,
                                       const char *kube_version) SW_CHECKED;

/** Name suffix of kernel-affine objects, as SRO has it: hex FNV-64a of
 * "<decimal>-<kernel with _ -> ->". Where the kernel's name does not say the architecture and it is
 * not amd64, "-<arch>" follows, so that two architectures never share an object. Heap. */
char *sw_group_suffix(const char *os_decimal, const char *kernel, const char *arch);

/** For which nodes and resource values are made. All borrowed for the call. */
struct sw_facts_ask {
    const struct sw_groups *groups;
    const struct sw_group *group; /* whose values; NULL: those of the first group, or empty */
    struct json_object *resource; /* the SpecialResource; may be NULL */
    struct json_object *status;   /* its status, as last read or written; may be NULL */
    const char *push_secret; /* name of the namespace's builder-dockercfg Secret; may be NULL */
};

/** The run-time values: a new document, the caller's reference. Every value that looks like a
 * number is a string. */
struct json_object *sw_facts_values(const struct sw_facts *facts, const struct sw_facts_ask *ask);

/** Does this name look like the Secret that OpenShift's builder pushes images with? */
bool sw_facts_is_push_secret(const char *name);
