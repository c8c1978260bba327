#pragma once
/* cycle: orders of things that need each other, and the cycles for which there is none. */
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

/** What needs what among things 0 to n-1. */
struct sw_needs {
    bool *needs; /* [i * cap + j]: i needs j; owned */
    size_t n;    /* may be set to less than cap when it is known how many there are */
    size_t cap;
};
/** @cap things, n as many, without needs. */
struct sw_needs sw_needs_init(size_t cap);
/** Free it. Twice is harmless. */
void sw_needs_done(struct sw_needs *needs);
/** From here on @i needs @j. */
void sw_needs_add(struct sw_needs *needs, size_t i, size_t j);
/** Whether @i needs @j, directly. */
bool sw_needs_has(const struct sw_needs *needs, size_t i, size_t j);

/** The order in which each comes after all that it needs, the lowest number first where there is a
 * choice. @order holds n; on failure it begins with a cycle. @names: for the message.
 * @return 0 | SW_INVALID "cycle: a -> b -> a" */
int sw_needs_sort(const struct sw_needs *needs, const char *const *names, size_t *order,
                  struct sw_err *err) SW_CHECKED;
