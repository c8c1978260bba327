#pragma once
/* Conversions as sprig does them, without errors. */
#include "chart/template/lang/function.h"

/** @v as a whole number; text is parsed. 0 where it is not a number. */
int64_t sw_cast_int64(struct sw_value v);
/** @v as a float; text is parsed. 0 where it is not a number. */
double sw_cast_float64(struct sw_value v);
/** The value's text: strings and bytes as they are, what has a String method by it, else as print.
 */
struct sw_value sw_cast_string(struct call *c, struct sw_value v);
/** The texts of a list's elements, those that are nil left out; of anything else its own. */
struct sw_value sw_cast_strings(struct call *c, struct sw_value v);
