#pragma once
/* schema_check: one check of values against a schema; internal to the folder. The function of a
 * keyword gets the keyword's value and the value to check; a value of a type that the keyword is
 * not for fits. */
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"
#include "chart/recipe/schema/schema.h"
#include "chart/template/go/regex.h"
#include "chart/template/value/value.h"

enum {
    SW_CHECK_MAX_STEPS = 1 << 20, /* anyOf in anyOf doubles the schemas to visit each time */
    SW_CHECK_MAX_PROBLEMS = 20,   /* that are listed */
};

/** A regular expression of the schema, compiled. */
struct pattern {
    const char *text; /* in the schema: the address is the pattern */
    struct sw_regex *regex;
};

/** See schema.h. */
struct sw_schema {
    struct sw_arena *arena;
    struct sw_value root;
    struct pattern *patterns; /* those that were used; owned */
    size_t n_patterns, cap_patterns;
};

/** The place in the values that is checked now; on the stack, each below the one before. */
struct spot {
    const struct spot *up;
    const char *key; /* NULL: an index, or the root */
    size_t key_len;
    size_t index;
};

/** One check. */
struct check {
    const struct sw_schema *schema;
    struct sw_arena *arena;
    const struct sw_map *owner; /* the schema whose keyword is checked */
    const struct spot *spot;
    size_t steps, depth;
    size_t n_problems;
    char *problems; /* owned; NULL: there are none */
    bool quiet;     /* problems are not listed: inside anyOf, not, if */
    bool gave_up;   /* the schema cannot be used, or too many steps: no result */
    struct sw_err *err;
};

/** Whether @v fits @schema; problems are added to the check. */
bool sw_check_fits(struct check *c, struct sw_value schema, struct sw_value v);
/** The same for a value inside of the current one, at @spot, whose @up is set here. */
bool sw_check_enter(struct check *c, struct sw_value schema, struct sw_value v, struct spot spot);
/** As sw_check_fits(), but problems are not listed. */
bool sw_check_fits_quietly(struct check *c, struct sw_value schema, struct sw_value v);

/** Add a problem of the current value. @return false, for the caller to return */
bool sw_check_problem(struct check *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** End the check, since the schema cannot be used. @return false, for the caller to return */
bool sw_check_give_up(struct check *c, const char *why);

/** Whether a regular expression of the schema matches a text anywhere; false with c->gave_up where
 * the expression is malformed or takes too long. */
bool sw_check_matches(struct check *c, struct sw_value pattern, const char *text, size_t len);
/** Whether @n is at least @want; the problem is "5 items, expected at least 6", of @what items. */
bool sw_check_at_least(struct check *c, struct sw_value want, size_t n, const char *what);
/** Whether @n is at most @want. */
bool sw_check_at_most(struct check *c, struct sw_value want, size_t n, const char *what);
/** Equal as JSON: 1 is 1.0. */
bool sw_check_same(struct sw_value a, struct sw_value b);
/** A value as messages show it, strings in quotes; in the check's arena. */
const char *sw_check_shown(struct check *c, struct sw_value v);

/* ---- keywords ---------------------------------------------------------------------------------
 */

/* Each is one keyword of JSON Schema: whether value @v fits @want, the keyword's value.
 * check_value.c: about one value by itself. */
bool sw_check_type(struct check *c, struct sw_value want, struct sw_value v);
bool sw_check_enum(struct check *c, struct sw_value want, struct sw_value v);
bool sw_check_const(struct check *c, struct sw_value want, struct sw_value v);
bool sw_check_minimum(struct check *c, struct sw_value want, struct sw_value v);
bool sw_check_maximum(struct check *c, struct sw_value want, struct sw_value v);
bool sw_check_above(struct check *c, struct sw_value want, struct sw_value v);
bool sw_check_below(struct check *c, struct sw_value want, struct sw_value v);
bool sw_check_multiple(struct check *c, struct sw_value want, struct sw_value v);
bool sw_check_min_length(struct check *c, struct sw_value want, struct sw_value v);
bool sw_check_max_length(struct check *c, struct sw_value want, struct sw_value v);
bool sw_check_pattern(struct check *c, struct sw_value want, struct sw_value v);
/* check_format.c */
bool sw_check_format(struct check *c, struct sw_value want, struct sw_value v);
/* check_collection.c: what is in lists and maps */
bool sw_check_items(struct check *c, struct sw_value want, struct sw_value v);
bool sw_check_prefix_items(struct check *c, struct sw_value want, struct sw_value v);
bool sw_check_contains(struct check *c, struct sw_value want, struct sw_value v);
bool sw_check_unique(struct check *c, struct sw_value want, struct sw_value v);
bool sw_check_min_items(struct check *c, struct sw_value want, struct sw_value v);
bool sw_check_max_items(struct check *c, struct sw_value want, struct sw_value v);
bool sw_check_properties(struct check *c, struct sw_value want, struct sw_value v);
bool sw_check_pattern_properties(struct check *c, struct sw_value want, struct sw_value v);
bool sw_check_additional(struct check *c, struct sw_value want, struct sw_value v);
bool sw_check_required(struct check *c, struct sw_value want, struct sw_value v);
bool sw_check_property_names(struct check *c, struct sw_value want, struct sw_value v);
bool sw_check_dependencies(struct check *c, struct sw_value want, struct sw_value v);
bool sw_check_min_properties(struct check *c, struct sw_value want, struct sw_value v);
bool sw_check_max_properties(struct check *c, struct sw_value want, struct sw_value v);
