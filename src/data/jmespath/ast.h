#pragma once
/* ast: a JMESPath expression as a tree. Internal to jmespath. */
#include "data/jmespath/jmespath.h"

enum jm_kind {
    JM_CURRENT,    /* @ */
    JM_LITERAL,    /* value */
    JM_FIELD,      /* text */
    JM_INDEX,      /* from */
    JM_SLICE,      /* from, to, step, each with its has_ flag */
    JM_SUB,        /* left.right, also left | right */
    JM_LIST,       /* left[*].right: right of each element */
    JM_VALUES,     /* left.*.right: right of each value */
    JM_FLATTEN,    /* left[].right */
    JM_FILTER,     /* left[?cond].right */
    JM_OR,         /* left || right */
    JM_AND,        /* left && right */
    JM_NOT,        /* !left */
    JM_COMPARE,    /* left op right */
    JM_SELECT,     /* [items] */
    JM_SELECT_MAP, /* {keys: items} */
    JM_CALL,       /* function(items) */
    JM_EXPRESSION, /* &left */
};

enum jm_op { JM_EQ, JM_NE, JM_LT, JM_LE, JM_GT, JM_GE };

struct jm_function;

struct jm_node {
    enum jm_kind kind;
    enum jm_op op;
    struct jm_node *left, *right, *cond;
    const char *text;
    struct json_object *value; /* owned by the expression's list of literals */
    int64_t from, to, step;
    bool has_from, has_to, has_step;
    struct jm_node **items;
    const char **keys;
    size_t n_items, cap_items, cap_keys;
    const struct jm_function *function;
};

struct sw_jmespath {
    struct sw_arena *arena;
    char *text;
    struct jm_node *root;
    struct json_object *literals; /* a list that owns them */
    struct sw_jmespath *compared; /* a view of a part, or NULL; has no arena of its own */
};

/** An evaluation: what bounds it. */
struct jm_run {
    size_t n_visits;
    struct sw_err *err;
};
/** @node of @value; @*out is the caller's. @return 0 | SW_INVALID */
int jm_eval(struct jm_run *run, const struct jm_node *node, struct json_object *value,
            struct json_object **out) SW_CHECKED;
/** Count @n more visits. @return 0 | SW_INVALID: too many */
int jm_visit(struct jm_run *run, size_t n) SW_CHECKED;
/** Is it false, null or empty? */
bool jm_is_false(struct json_object *value);

/** The function @name; NULL: there is none. */
const struct jm_function *jm_function_find(const char *name, size_t len);
/** How many arguments it takes; @*most SIZE_MAX: any number. */
void jm_function_arity(const struct jm_function *function, size_t *least, size_t *most);
/** Whether argument @i is an expression (`&field`). */
bool jm_function_takes_expression(const struct jm_function *function, size_t i);
/** Call the function of @node. */
int jm_call(struct jm_run *run, const struct jm_node *node, struct json_object *value,
            struct json_object **out) SW_CHECKED;
