#pragma once
/* cycle: orders of things that need each other. */
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

/** What needs what among things 0 to n-1. */
struct sw_needs {
    bool *needs; /* [i * n + j]: i needs j */
    size_t n;
};
struct sw_needs sw_needs_init(size_t n);
void sw_needs_done(struct sw_needs *needs);
void sw_needs_add(struct sw_needs *needs, size_t i, size_t j);
bool sw_needs_has(const struct sw_needs *needs, size_t i, size_t j);

/** The order in which each comes after all that it needs, the lowest number first where there is a
 * choice. @order holds n. @return whether there is one; else order[0..*n_cycle) is a cycle, each
 * needing the next and the last the first */
bool sw_needs_order(const struct sw_needs *needs, size_t *order, size_t *n_cycle) SW_CHECKED;

/** The order as above, of things with @names. @return 0 | SW_INVALID "cycle: a -> b -> a" */
int sw_needs_sort(const struct sw_needs *needs, const char *const *names, size_t *order,
                  struct sw_err *err) SW_CHECKED;
