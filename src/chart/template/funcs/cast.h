#pragma once
/* Conversions as sprig does them, without errors: what is no number is 0. */
#include "chart/template/lang/function.h"

/** The whole number that @v is or that its text is; 0: it is none. */
int64_t sw_cast_int64(struct sw_value v);
/** The number that @v is or that its text is; 0: it is none. */
double sw_cast_float64(struct sw_value v);
/** The value's text: strings and bytes as they are, what has a String method by it, else as print.
 */
struct sw_value sw_cast_string(struct call *c, struct sw_value v);
/** The texts of a list's elements, those that are nil left out; of anything else its own. */
struct sw_value sw_cast_strings(struct call *c, struct sw_value v);
