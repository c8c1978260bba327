#pragma once
/* jsonpath_ast: a compiled JSONPath. Internal to data. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "data/jsonpath/jsonpath.h"

/** What a step selects. */
enum jp_step_kind {
    JP_FIELD,     /* .name */
    JP_WILDCARD,  /* .* */
    JP_RECURSIVE, /* .. */
    JP_INDEX,     /* [2] */
    JP_SLICE,     /* [1:3:2], [*] */
    JP_UNION,     /* [0,2], ['a','b'] */
    JP_FILTER,    /* [?(@.a=="b")] */
    JP_LITERAL,   /* "text", 3, true: in filters, and between values */
};

/** The operator of a filter. */
enum jp_op {
    JP_EXISTS,
    JP_EQUAL,
    JP_NOT_EQUAL,
    JP_LESS,
    JP_LESS_EQUAL,
    JP_GREATER,
    JP_GREATER_EQUAL
};

struct jp_step;

/** A list of steps; each is applied to the values that the previous one found. */
struct jp_path {
    struct jp_step *first;
};

/** One step of a path; the arena of the sw_jsonpath owns it. */
struct jp_step {
    struct jp_step *next;
    enum jp_step_kind kind;
    const char *field;
    int64_t from, to, by; /* an index is from */
    bool has_from, has_to;
    struct jp_path *parts; /* of a union */
    size_t n_parts;
    enum jp_op op;               /* of a filter, with its sides */
    struct jp_path left, right;  /* left also: a key with dots, read as a path */
    struct json_object *literal; /* borrowed from sw_jsonpath.literals */
};

/** The kinds of nodes of a template. */
enum jp_node_kind { JP_TEXT, JP_EXPRESSION, JP_RANGE };

/** A node of a template: literal text, an expression, or a range with its body. */
struct jp_node {
    struct jp_node *next;
    enum jp_node_kind kind;
    const char *text;
    size_t len;
    struct jp_path path;
    struct jp_node *body; /* of a range */
};

/** A compiled JSONPath; see jsonpath.h. */
struct sw_jsonpath {
    struct sw_arena *arena; /* owns all nodes, steps and texts */
    struct jp_node *parts;
    struct json_object *literals; /* a list that owns them */
};

/** Which mismatches between path and document are errors; the others find no value. */
struct jp_strictness {
    bool missing_keys; /* a key that no value has */
    bool shapes;    /* an index out of range, or a value that is not a list where one is needed */
    uint64_t *work; /* how many values were looked at so far, by all paths of one evaluation */
};

/** Values that @path finds in @doc, appended to @out. @return 0 | SW_NOTFOUND | SW_INVALID */
int jp_eval(const struct jp_path *path, struct json_object *doc, struct jp_strictness strict,
            struct sw_json_list *out, struct sw_err *err);

/** Compare @a and @b by @op: numbers by value, strings by bytes. Values that cannot be compared are
 * unequal and have no order. */
bool jp_compare(struct json_object *a, enum jp_op op, struct json_object *b);

/** Read ==, !=, <, <=, >, >= at @p. @return its length, or 0 */
size_t jp_read_op(const char *p, enum jp_op *op);
