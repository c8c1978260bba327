#pragma once
/* document: a values.schema.json as it was read: which of its maps are schemas, of which draft, and
 * where references lead; internal to the folder. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/base.h"
#include "chart/recipe/schema/schema.h"
#include "chart/template/value/value.h"
#include "data/go/regex.h"

enum {
    SW_SCHEMA_MAX_DEPTH =
        4000, /* schemas in each other, by $ref, too; the stack ends them before */
};

/** A schema that has a name within its resource: $anchor, $dynamicAnchor, or `$id: "#name"`. */
struct schema_anchor {
    const char *name;
    size_t len;
    const struct sw_value *schema;
    bool is_dynamic;
};

/** A schema with a URL of its own ($id), and what is in it; the document itself is the first. */
struct schema_resource {
    const char *url;
    const struct sw_value *root;
    int draft;         /* 4, 6, 7, 2019 or 2020 */
    bool is_recursive; /* $recursiveAnchor */
    struct schema_anchor *anchors;
    size_t n_anchors, cap_anchors;
};

/** A map that is a schema. */
struct schema_node {
    const struct sw_map *map;
    uint64_t keys; /* sw_key_bit() of each of its keys */
    struct schema_resource *res;
    const struct sw_value *ref, *recursive_ref, *dynamic_ref; /* what they name; NULL: none */
    struct schema_anchor dynamic_name; /* what $dynamicRef asks for; name NULL: no anchor */
    bool is_used;
};

/** A regular expression of the schema, compiled. */
struct schema_pattern {
    const char *text; /* in the schema: the address is the pattern */
    struct sw_regex *regex;
};

/** See schema.h. Everything but the patterns is in the arena. */
struct sw_schema {
    struct sw_arena *arena;
    struct sw_value root;
    bool checks_formats; /* in the newest drafts, too */
    bool is_odd;         /* it may be malformed: form.h */
    struct schema_resource **resources;
    size_t n_resources, cap_resources;
    struct schema_node **nodes; /* by the address of the map, open addressing */
    size_t n_nodes, cap_nodes;
    struct schema_pattern *patterns; /* those that were used; owned */
    size_t n_patterns, cap_patterns;
};

/** A bit for a key, which others may have, too: most keywords are in few schemas, and a bit that is
 * not set saves looking one up. */
static inline uint64_t sw_key_bit(const char *key, size_t len)
{
    return len ? 1ULL << (((unsigned char)key[0] + 7 * len + (unsigned char)key[len - 1]) % 64) : 0;
}

/** The value of a keyword; NULL: the schema has it not. */
static inline const struct sw_value *sw_node_keyword(const struct schema_node *node,
                                                     const char *keyword)
{
    size_t len = strlen(keyword);
    return node->keys & sw_key_bit(keyword, len) ? sw_map_find(node->map, keyword, len) : NULL;
}

/** Find the schemas in the root of @schema. @return 0 | SW_INVALID: nested too deep */
int sw_schema_find(struct sw_schema *schema, struct sw_err *err);
/** Follow the references of what is used, and compile its expressions. @return 0 | SW_INVALID: a
 * reference leads nowhere, or out of the document */
int sw_schema_use(struct sw_schema *schema, struct sw_err *err);
/** The draft of the root. */
int sw_schema_version(const struct sw_schema *schema);
/** The node of a schema; NULL: a bool or an empty map. */
const struct schema_node *sw_schema_node(const struct sw_schema *schema, const struct sw_value *v);
/** The regular expression at @pattern, a text of the schema. @return NULL: malformed, @err says
 * how */
const struct sw_regex *sw_schema_regex(const struct sw_schema *schema, struct sw_value pattern,
                                       struct sw_err *err);
/** The place of a value in the document, "/properties/a", in @arena. */
const char *sw_schema_place(const struct sw_schema *schema, const struct sw_value *v,
                            struct sw_arena *arena);
