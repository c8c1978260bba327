#pragma once
/* ast: an expression as it is parsed, checked and evaluated. Macros are nodes of their own.
 * Internal to cel. */
#include "data/cel/cel.h"
#include "data/cel/functions.h"
#include "data/cel/types.h"

/** The kinds of nodes. */
enum cel_node_kind {
    CEL_CONST,
    CEL_IDENT,       /* name; then local or variable */
    CEL_SELECT,      /* args[0].name; has: only whether it is there; optional: .?name */
    CEL_CALL,        /* name(args); method: args[0] is what it is called on */
    CEL_AND,         /* args[0], args[1] */
    CEL_OR,          /* likewise */
    CEL_CHOICE,      /* args[0] ? args[1] : args[2] */
    CEL_NEW_LIST,    /* args; maybe[i]: an optional element */
    CEL_NEW_MAP,     /* keys and values in turn; maybe[i]: of the key's index */
    CEL_NEW_MESSAGE, /* name{fields: args}; maybe[i]: an optional value */
    CEL_LOOP,        /* a macro over args[0] */
    CEL_COMPOSED,    /* variables.name */
};

/** Which macro a loop is. */
enum cel_loop {
    CEL_ALL,
    CEL_EXISTS,
    CEL_EXISTS_ONE,
    CEL_MAP_LIST, /* map(x, result), map(x, condition, result) */
    CEL_FILTER,
    CEL_SORT_BY,
    CEL_TRANSFORM_LIST,
    CEL_TRANSFORM_MAP,
    CEL_TRANSFORM_ENTRY,
    CEL_OPT_MAP,      /* optional.optMap(x, result) */
    CEL_OPT_FLAT_MAP, /* its result is an optional itself */
};

/** A node. */
struct cel_node {
    enum cel_node_kind kind;
    size_t at; /* in the source, for messages */
    const char *name;
    struct cel_value value; /* of a constant */
    struct cel_node **args;
    size_t n;
    bool *maybe;
    const char **fields; /* of a new message, with their places */
    size_t *places;
    bool has, optional, method;
    enum cel_loop loop;
    const char *vars[2]; /* of loops: vars[1] NULL: there is one */
    struct cel_node *condition, *result;
    /* by the checker: */
    size_t slot; /* of a local or variable; of a loop: of its first local */
    bool local;
    const struct cel_type *type;
    const struct cel_function **overloads; /* of the name, as many arguments */
    size_t n_overloads;
};

/** What is wrong with an expression. */
struct cel_problem {
    size_t at;
    const char *text;
};

/** An expression. */
struct sw_cel {
    struct sw_arena *arena;
    const struct sw_cel_env *env;
    const char *source;
    struct cel_node *root;
    struct cel_problem *problems;
    size_t n_problems, cap;
    size_t n_locals; /* how many there are at most at a time */
    uint64_t named;  /* variables that are named, by number */
};

/** Note what is wrong at a place of the source. */
void sw_cel_problem(struct sw_cel *cel, size_t at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/** Parse cel->source into cel->root. Problems are noted (parse.c). */
void sw_cel_parse(struct sw_cel *cel);
/** Find names and types. Problems are noted (check.c). */
void sw_cel_check(struct sw_cel *cel);
/** Evaluate (eval.c). */
struct cel_value sw_cel_eval(struct cel_run *x, const struct sw_cel *cel);
/** A node of a call that is a macro becomes what it stands for; others stay (macros.c). */
struct cel_node *sw_cel_expand(struct sw_cel *cel, struct cel_node *call);
