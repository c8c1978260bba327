#pragma once
/* problem: what does not fit, as a tree: a combination of schemas has the problems of each below
 * it; internal to the folder. */
#include <stdbool.h>
#include <stddef.h>

#include "chart/template/value/value.h"

struct check;

/** A problem; in the check's arena. */
struct problem {
    const char *place; /* in the values, a JSON pointer */
    const char *text;
    enum { PROBLEM_PLAIN, PROBLEM_GROUP, PROBLEM_REFERENCE } kind;
    struct problem *first, *last; /* below this one */
    struct problem *next;         /* beside it */
};

/** A problem of the current value; while the check is quiet, or has very many, one without text. */
struct problem *sw_problem(struct check *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/** Put @p, or NULL, below @above. */
void sw_problem_add(struct problem *above, struct problem *p);
/** Append @p, and what is below it, to @text; @indent: how deep it lies. */
void sw_problem_print(char **text, const struct problem *p, int indent);

/* ---- what is in messages ----
 */

/** In single quotes, with Go's escapes. */
const char *sw_problem_quoted(struct check *c, const char *s, size_t len);
/** A value that is no list and no map. */
const char *sw_problem_shown(struct check *c, struct sw_value v);
/** A number with its thousands separated; from a million on as 1.5×10⁰⁷. */
const char *sw_problem_number(struct check *c, double d);
/** A count with its thousands separated. */
const char *sw_problem_count(struct check *c, size_t n);
