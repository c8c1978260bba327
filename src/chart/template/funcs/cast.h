#pragma once
/* Conversions as sprig does them, without errors: what is no number is 0. */
#include "chart/template/lang/function.h"

int64_t sw_cast_int64(struct sw_value v);
double sw_cast_float64(struct sw_value v);
/** The value's text: strings and bytes as they are, what has a String method by it, else as print.
 */
struct sw_value sw_cast_string(struct call *c, struct sw_value v);
/** The texts of a list's elements, those that are nil left out; of anything else its own. */
struct sw_value sw_cast_strings(struct call *c, struct sw_value v);
/** sprig's empty(). Pointers are never. */
static inline bool sw_cast_empty(struct sw_value v)
{
    return v.type != SW_T_OBJECT && !sw_value_truth(v);
}
