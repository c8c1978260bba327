#pragma once
/* selector: which objects are meant. Label selectors (text and object form), field selectors, and
 * node affinity terms are all a list of requirements that must all hold. */
#include <stdbool.h>
#include <stddef.h>

#include <json-c/json.h>

#include "base/base.h"

enum sw_selector_op {
    SW_SEL_EQUALS, /* exactly one value */
    SW_SEL_NOT_EQUALS,
    SW_SEL_IN,
    SW_SEL_NOT_IN,
    SW_SEL_EXISTS,
    SW_SEL_NOT_EXISTS,
    SW_SEL_GREATER, /* both integers */
    SW_SEL_LESS,
};

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
void sw_selector_done(struct sw_selector *selector);

/** "a=b,c!=d,e in (x,y),f notin (z),g,!h,i>4". Empty text selects everything.
 * @return 0 | SW_INVALID with what was found and expected.
 * Source: Kubernetes "Labels and Selectors", k8s.io/apimachinery/pkg/labels. */
int sw_selector_parse(const char *text, struct sw_selector *out, struct sw_err *err) SW_CHECKED;

/** "metadata.name=x,spec.nodeName!=y" (=, ==, !=; `\` escapes `,`, `=` and `\` in values). */
int sw_field_selector_parse(const char *text, struct sw_selector *out,
                            struct sw_err *err) SW_CHECKED;

/** A LabelSelector: {matchLabels, matchExpressions}. NULL selects nothing, {} everything. */
int sw_selector_from_object(struct json_object *object, struct sw_selector *out,
                            struct sw_err *err) SW_CHECKED;

/** A map such as spec.nodeSelector: each key must have that value. NULL or {} selects everything.
 */
int sw_selector_from_map(struct json_object *map, struct sw_selector *out,
                         struct sw_err *err) SW_CHECKED;

/** Does a map of labels (NULL: none) match? */
bool sw_selector_matches(const struct sw_selector *selector, struct json_object *labels);
/** The labels of an object's metadata. */
bool sw_selector_matches_object(const struct sw_selector *selector, struct json_object *object);
/** A field selector: the values at dotted paths; what is missing is the empty text. */
bool sw_field_selector_matches(const struct sw_selector *selector, struct json_object *object);

/** A NodeSelector, read once for many nodes. Zero-initialise. */
struct sw_node_selector {
    struct sw_node_selector_term {
        struct sw_selector labels, fields; /* matchExpressions, matchFields */
    } * terms;
    size_t n_terms;
    bool everything;
};
/** {nodeSelectorTerms: [{matchExpressions, matchFields}]}: any term must match; NULL selects
 * everything. A term that is empty or not well-formed selects nothing (the API server refuses the
 * latter). @doc is borrowed for the call.
 * Source: Kubernetes "Assigning Pods to Nodes". Pinned by test/unit/data/data_selector_test.c. */
void sw_node_selector_init(struct sw_node_selector *selector, struct json_object *doc);
/** Free what it holds; harmless on a zeroed one. */
void sw_node_selector_done(struct sw_node_selector *selector);
/** Does it select this Node? */
bool sw_node_selector_matches(const struct sw_node_selector *selector, struct json_object *node);

/** The selector's text, canonical (sorted by key): "a=b,e in (x,y)". The caller's. */
char *sw_selector_text(const struct sw_selector *selector) SW_CHECKED;

/** Kubernetes' rules for names, each giving NULL or what is wrong (static text). */
const char *sw_label_key_fault(const char *key);
const char *sw_label_value_fault(const char *value);
/** An object's name (RFC 1123 subdomain, 253 bytes); a namespace's or label's part (63 bytes). */
const char *sw_dns_subdomain_fault(const char *name);
const char *sw_dns_label_fault(const char *name);
