#pragma once
/* jsonpath_in: comparisons, which filters and conditions share. Internal to data. */
#include <stdbool.h>
#include <stddef.h>

struct json_object;

enum sw_compare {
    SW_COMPARE_NONE,
    SW_COMPARE_EQ,
    SW_COMPARE_NE,
    SW_COMPARE_LT,
    SW_COMPARE_LE,
    SW_COMPARE_GT,
    SW_COMPARE_GE,
};

/** Take an operator and the blanks behind it; SW_COMPARE_NONE: there is none, nothing is taken. */
enum sw_compare sw_compare_read(const char **at);

/** A bare word as a value: true, false, null, a number, else a text; the caller's. */
struct json_object *sw_compare_value(const char *text, size_t len);

/** Numbers and quantities by value, true and false only by == and !=, other texts by bytes. What
 * cannot be compared is only !=. */
bool sw_compare_holds(enum sw_compare op, struct json_object *left, struct json_object *right);
