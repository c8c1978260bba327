#pragma once
/* schema_check: one check of values against a schema; internal to the folder. What fits is found
 * quietly first; only where something does not, the check is made again for its messages. */
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"
#include "chart/recipe/schema/document.h"
#include "chart/recipe/schema/problem.h"
#include "chart/template/value/value.h"

enum {
    SW_CHECK_MAX_STEPS = 1 << 20, /* anyOf in anyOf doubles the schemas to visit each time */
    SW_CHECK_MAX_PROBLEMS = 2000, /* with a text */
};

/** The place in the values that is checked now; on the stack, each below the one before. */
struct spot {
    const struct spot *up;
    const char *key; /* NULL: an index, or the root */
    size_t key_len;
    size_t index;
};

/** A schema that is checked now, and those that led to it: $dynamicRef asks for them. */
struct scope {
    const struct scope *up;
    const struct sw_value *schema;
    const struct schema_node *node; /* NULL: a bool or an empty map */
    const char *keyword;            /* the reference that led here; NULL: none did */
    unsigned depth;                 /* of the value: it is the same in scopes of one depth */
};

/** One check. */
struct check {
    const struct sw_schema *schema;
    struct sw_arena *arena;
    const struct spot *spot;
    const struct scope *scope;
    size_t steps, depth;
    size_t n_problems;
    bool quiet;   /* only whether it fits is asked for */
    bool gave_up; /* too many steps: no result */
    struct sw_err *err;
};

/** The keys or items of a value that no keyword has evaluated, for unevaluatedProperties and
 * unevaluatedItems: a flag for each, in the order of the value. NULL: nobody asks. */
struct unevaluated {
    bool *is;
    size_t n, left;
};

/** A value and a schema, which is a map with keywords. */
struct frame {
    struct check *c;
    const struct schema_node *node; /* NULL: true, or an empty map */
    int draft;
    struct sw_value v;
    struct unevaluated rest;
    struct problem all; /* the problems found are below it */
};

/** Whether @v fits @schema; else what does not. @spot, whose @up is set here, is where @v is in
 * the current value. */
struct problem *sw_check_inside(struct check *c, const struct sw_value *schema, struct sw_value v,
                                struct spot spot);
/** The same for the current value itself. @quiet: no texts. */
struct problem *sw_check_self(struct frame *f, const struct sw_value *schema, const char *keyword,
                              bool quiet);
/** The same for a text that is in no place of the values: a key. */
struct problem *sw_check_name(struct check *c, const struct sw_value *schema, struct sw_value name);

/** The value of a keyword; NULL: it is not there. */
static inline const struct sw_value *sw_keyword(const struct frame *f, const char *name)
{
    return f->node ? sw_node_keyword(f->node, name) : NULL;
}
/** Count steps for work that depends on the values. @return false: too many, the check ends */
bool sw_check_step(struct check *c, size_t n);
/** End the check. */
void sw_check_give_up(struct check *c, const char *why);
/** Whether a regular expression of the schema matches a text anywhere. */
bool sw_check_matches(struct check *c, struct sw_value pattern, const char *text, size_t len);
/** Equal as JSON: 1 is 1.0. */
bool sw_check_same(struct sw_value a, struct sw_value b);

/* ---- keywords ---------------------------------------------------------------------------------
 */

/** type, const, enum and format: the first that does not fit is the only one told. */
struct problem *sw_check_kind(struct frame *f);
/** Why a text has not the form that `format` names; NULL: it has, or none is known by the name. */
const char *sw_check_format(struct check *c, const char *format, struct sw_value text);
/** Keywords about numbers. */
void sw_check_number(struct frame *f);
/** Keywords about texts. */
void sw_check_string(struct frame *f);
/** Keywords about maps. */
void sw_check_map(struct frame *f);
/** Keywords about lists. */
void sw_check_list(struct frame *f);

/** `minItems` and the like: @n is at least (@is_least) or at most the keyword's value. */
void sw_check_count(struct frame *f, const char *keyword, size_t n, bool is_least);
/** Add a problem of the current value. */
#define sw_check_add(f, ...) sw_problem_add(&(f)->all, sw_problem((f)->c, __VA_ARGS__))
