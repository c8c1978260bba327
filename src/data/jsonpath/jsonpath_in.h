#pragma once
/* jsonpath_in: comparisons in filters and conditions. Internal to data. */
#include <stdbool.h>
#include <stddef.h>

struct json_object;

/** An operator: ==, !=, <, <=, >, >=. */
enum sw_compare {
    SW_COMPARE_NONE,
    SW_COMPARE_EQ,
    SW_COMPARE_NE,
    SW_COMPARE_LT,
    SW_COMPARE_LE,
    SW_COMPARE_GT,
    SW_COMPARE_GE,
};

/** Read an operator at @*at and skip it and the blanks after it. @return SW_COMPARE_NONE: there is
 * no operator, and @*at is unchanged */
enum sw_compare sw_compare_read(const char **at);

/** An unquoted word as a value: true, false, null (NULL), a number, else a string. The caller owns
 * it. */
struct json_object *sw_compare_value(const char *text, size_t len);

/** Whether @left @op @right holds. Numbers and quantities compare by value, booleans only by == and
 * !=, other strings by bytes. For values that cannot be compared only != holds. */
bool sw_compare_holds(enum sw_compare op, struct json_object *left, struct json_object *right);
