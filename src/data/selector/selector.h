#pragma once
/* selector: selects objects by labels and fields. Label selectors (text and object form), field
 * selectors and node affinity terms are lists of requirements that must all hold. */
#include <stdbool.h>
#include <stddef.h>

#include <json-c/json.h>

#include "base/base.h"

/** The operator of a requirement. */
enum sw_selector_op {
    SW_SEL_EQUALS, /* has exactly one value */
    SW_SEL_NOT_EQUALS,
    SW_SEL_IN,
    SW_SEL_NOT_IN,
    SW_SEL_EXISTS,
    SW_SEL_NOT_EXISTS,
    SW_SEL_GREATER, /* this and SW_SEL_LESS compare integers */
    SW_SEL_LESS,
};

/** One requirement; the selector owns its strings. */
struct sw_requirement {
    char *key; /* a label's key; for field selectors a dotted path */
    enum sw_selector_op op;
    char **values;
    size_t n_values;
};

/** All of the requirements must hold; none at all selects everything. Zero-initialise. */
struct sw_selector {
    struct sw_requirement *reqs; /* owned */
    size_t n_reqs;
    size_t cap;
    bool nothing; /* selects nothing, whatever the requirements (a null LabelSelector) */
};
/** Free the requirements; harmless on a zeroed selector. */
void sw_selector_done(struct sw_selector *selector);

/** Parse a label selector: "a=b,c!=d,e in (x,y),f notin (z),g,!h,i>4". Empty text selects
 * everything. @out is the caller's: sw_selector_done(); so it is below.
 * @return 0 | SW_INVALID with what was found and expected.
 * Source: Kubernetes "Labels and Selectors", k8s.io/apimachinery/pkg/labels. */
int sw_selector_parse(const char *text, struct sw_selector *out, struct sw_err *err) SW_CHECKED;

/** Parse a field selector: "metadata.name=x,spec.nodeName!=y" (operators =, ==, !=; `\` escapes
 * `,`, `=` and `\` in values). @return 0 | SW_INVALID
 * Source: k8s.io/apimachinery/pkg/fields. */
int sw_field_selector_parse(const char *text, struct sw_selector *out,
                            struct sw_err *err) SW_CHECKED;

/** Read a LabelSelector: {matchLabels, matchExpressions}. NULL selects nothing, {} everything.
 * @return 0 | SW_INVALID */
int sw_selector_from_object(struct json_object *object, struct sw_selector *out,
                            struct sw_err *err) SW_CHECKED;

/** Read a map such as spec.nodeSelector: each label must have the given value. NULL or {} selects
 * everything. @return 0 | SW_INVALID */
int sw_selector_from_map(struct json_object *map, struct sw_selector *out,
                         struct sw_err *err) SW_CHECKED;

/** Whether the selector matches a map of labels (NULL: no labels). */
bool sw_selector_matches(const struct sw_selector *selector, struct json_object *labels);
/** Whether the selector matches the labels in the metadata of @object. */
bool sw_selector_matches_object(const struct sw_selector *selector, struct json_object *object);
/** Whether a field selector matches @object. A missing field counts as "". */
bool sw_field_selector_matches(const struct sw_selector *selector, struct json_object *object);

/** The value of the label @key in labels that are no document, or NULL. */
typedef const char *sw_label_fn(const char *key, void *arg);
/** Whether a label selector matches the labels that @label gives. */
bool sw_selector_selects(const struct sw_selector *selector, sw_label_fn *label, void *arg);

/** A parsed NodeSelector, to be matched with many nodes. Zero-initialise. */
struct sw_node_selector {
    struct sw_node_selector_term {
        struct sw_selector labels, fields; /* matchExpressions, matchFields */
    } * terms;
    size_t n_terms;
    bool everything;
};
/** Read {nodeSelectorTerms: [{matchExpressions, matchFields}]}: it selects a node if at least one
 * term matches. NULL selects everything. A term that is empty or malformed selects nothing (the API
 * server rejects malformed ones). @doc is borrowed for the call.
 * Source: Kubernetes "Assigning Pods to Nodes". Pinned by test/unit/data/data_selector_test.c. */
void sw_node_selector_init(struct sw_node_selector *selector, struct json_object *doc);
/** Free what it holds; harmless on a zeroed one. */
void sw_node_selector_done(struct sw_node_selector *selector);
/** Whether the selector selects the object @node. */
bool sw_node_selector_matches(const struct sw_node_selector *selector, struct json_object *node);
/** Whether it selects the node @name, whose labels @label gives. */
bool sw_node_selector_selects(const struct sw_node_selector *selector, const char *name,
                              sw_label_fn *label, void *arg);

/** Whether a toleration tolerates a taint; no text may be NULL. An empty key with Exists tolerates
 * every taint, an empty effect every effect.
 * Source: Kubernetes "Taints and Tolerations". Pinned by test/unit/data/data_selector_test.c. */
bool sw_toleration_tolerates(struct json_object *toleration, const char *key, const char *value,
                             const char *effect);

/** The selector as canonical text, sorted by key: "a=b,e in (x,y)". The caller frees it. */
char *sw_selector_text(const struct sw_selector *selector) SW_CHECKED;

/** Check a label's key, with or without a prefix. @return NULL, or what is wrong (static text).
 * Source: Kubernetes "Labels and Selectors", syntax and character set; so is the next. */
const char *sw_label_key_fault(const char *key);
/** Check a label's value. @return NULL, or what is wrong (static text) */
const char *sw_label_value_fault(const char *value);
/** Check an object's name: an RFC 1123 subdomain of at most 253 bytes.
 * @return NULL, or what is wrong (static text). Source: Kubernetes "Object Names and IDs". */
const char *sw_dns_subdomain_fault(const char *name);
/** Check the name of a namespace or another RFC 1123 label: at most 63 bytes.
 * @return NULL, or what is wrong (static text) */
const char *sw_dns_label_fault(const char *name);
