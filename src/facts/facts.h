#pragma once
/* facts: what is read from a cluster and handed to a recipe's templates, computed for each group of
 * nodes that share kernel, operating system and architecture. Pure: objects come in, values go out;
 * who fetches and watches the objects is the controller's business (sw_facts_sources says which).
 * Nodes are kept as projections of a few hundred bytes, never as documents.
 * Source of the names and meanings: the Special Resource Operator's run-time values. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;
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

struct sw_taint {
    const char *key, *value, *effect;
};

/** What is kept of a Node. All strings are its own. */
struct sw_node {
    char *name;
    char *kernel;   /* NFD's label, else nodeInfo's; "" when neither is there yet */
    char *arch;     /* "amd64" */
    char *os_image; /* nodeInfo's */
    char *boot_id;
    struct sw_os os;
    bool ready, unschedulable;
    size_t n_labels, n_taints;
    const char **labels; /* n_labels pairs key, value; sorted by key */
    struct sw_taint *taints;
};

/** Where a kernel's full version stands on a node that NFD has labelled. */
#define SW_KERNEL_LABEL "feature.node.kubernetes.io/kernel-version.full"

/** Project a Node document; fields that are missing or of another type count as absent.
 * @return the caller's; NULL when it has no metadata.name. */
struct sw_node *sw_node_parse(struct json_object *object);
void sw_node_free(struct sw_node *node);

/** @return the label's value, borrowed, or NULL. */
const char *sw_node_label(const struct sw_node *node, const char *key);
/** Does the node carry every label of @selector (an object of strings; NULL and {} match all)? */
bool sw_node_matches(const struct sw_node *node, struct json_object *selector);
/** Is there a NoSchedule or NoExecute taint that keeps a resource's payload away? Taints that the
 * kubelet and the node controller set for a passing condition (not ready, cordoned, pressure) do
 * not count, nor do those that @tolerations (an array as in a Pod; may be NULL) tolerate. */
bool sw_node_is_tainted(const struct sw_node *node, struct json_object *tolerations);

/** The same system by NFD's os_release labels, else by the text of nodeInfo.osImage.
 * @label: called for a label's value or NULL. */
void sw_os_detect(const struct sw_node *node, struct sw_os *out);
void sw_os_done(struct sw_os *os);

/** "4.18.0-305.45.1.el8_4.x86_64" -> "4.18.0-305"; a version without a patch part stays as it is.
 * Heap, the caller's. */
char *sw_kernel_patch_version(const char *kernel);

/* ---- all of it ---------------------------------------------------------------------------------
 */

struct sw_facts *sw_facts_new(void);
void sw_facts_free(struct sw_facts *facts);

/** What changed about a node, for those who would have to act on it. */
enum sw_node_change {
    SW_NODE_SAME = 0,
    SW_NODE_ADDED = 1 << 0,
    SW_NODE_REMOVED = 1 << 1,
    SW_NODE_LABELS = 1 << 2,
    SW_NODE_GROUP = 1 << 3, /* kernel, operating system or architecture */
    SW_NODE_TAINTS = 1 << 4,
    SW_NODE_READY = 1 << 5, /* ready, unschedulable */
    SW_NODE_BOOT = 1 << 6,
};

/** Put @node (taken) in the place of the one with its name. @return enum sw_node_change bits. */
unsigned sw_facts_put_node(struct sw_facts *facts, struct sw_node *node);
unsigned sw_facts_remove_node(struct sw_facts *facts, const char *name);
/** Borrowed until the next put or remove; sorted by name. */
struct sw_node *const *sw_facts_nodes(const struct sw_facts *facts, size_t *n);
const struct sw_node *sw_facts_find_node(const struct sw_facts *facts, const char *name);

/** A single object of the cluster that facts are read from; all of them are optional. */
struct sw_facts_source {
    const char *api_version, *kind;
    const char *ns; /* NULL: not namespaced */
    const char *name;
    const char *doc;
};
/** Ends with a NULL kind. */
extern const struct sw_facts_source sw_facts_sources[];

/** What is known of source number @i now: its document, or NULL for "not there".
 * @return whether a fact changed by it. */
bool sw_facts_put_source(struct sw_facts *facts, size_t i, struct json_object *object);

/** Is the cluster an OpenShift (config.openshift.io is served)? Decides .Values.platform. */
void sw_facts_set_openshift(struct sw_facts *facts, bool openshift);

/* ---- groups and values -------------------------------------------------------------------------
 */

/** Nodes with the same kernel, operating system and architecture. */
struct sw_group {
    const char *kernel, *arch; /* borrowed from its first node */
    const struct sw_os *os;    /* likewise */
    size_t n_nodes;
    const struct sw_node **nodes; /* by name */
    char *suffix;                 /* of kernel-affine names: 16 hex digits */
    struct json_object *selector; /* labels by which just this group's nodes are found */
};
struct sw_groups {
    size_t n;
    struct sw_group *items;
};

/** The groups of the nodes that @selector (may be NULL) matches and no taint keeps away, in the
 * order of kernel, system and architecture. Nodes whose kernel is not known yet are in none.
 * The result lives until the next put or remove of a node; sw_groups_done(). */
void sw_facts_groups(const struct sw_facts *facts, struct json_object *selector,
                     struct json_object *tolerations, struct sw_groups *out);
void sw_groups_done(struct sw_groups *groups);

/** Name suffix of kernel-affine objects, as SRO has it: hex FNV-64a of
 * "<decimal>-<kernel with _ -> ->". Where the kernel's name does not say the architecture and it is
 * not amd64, "-<arch>" follows, so that two architectures never share an object. Heap. */
char *sw_group_suffix(const char *os_decimal, const char *kernel, const char *arch);

struct sw_facts_ask {
    const struct sw_groups *groups;
    const struct sw_group *group; /* whose values; NULL: those of the first group, or empty */
    struct json_object *resource; /* the SpecialResource; may be NULL */
    const char *push_secret; /* name of the namespace's builder-dockercfg Secret; may be NULL */
};

/** The run-time values: a new document, the caller's reference. Every value that looks like a
 * number is a string. */
struct json_object *sw_facts_values(const struct sw_facts *facts, const struct sw_facts_ask *ask);

/** Does this name look like the Secret that OpenShift's builder pushes images with? */
bool sw_facts_is_push_secret(const char *name);
