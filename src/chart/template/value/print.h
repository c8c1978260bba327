#pragma once
/* Printing as Go's fmt package does: print, println, printf, and the text of any value. */
#include "chart/template/value/types.h"
#include "data/go/text.h"

/** fmt.Fprint of one value: what an action writes. */
void sw_print_value(struct text *out, struct sw_value v);
/** As an action prints it: a pointer's struct in place of the pointer. */
void sw_print_indirect(struct text *out, struct sw_value v);
/** fmt.Sprint: a space between two operands when neither is a string. */
void sw_print(struct text *out, const struct sw_value *args, size_t n);
/** fmt.Sprintln: spaces between all operands, a newline after them. */
void sw_println(struct text *out, const struct sw_value *args, size_t n);
/** fmt.Sprintf. */
void sw_printf_values(struct text *out, const char *format, size_t len, const struct sw_value *args,
                      size_t n);

/** The text of a value that has a String method, or an error's; false: it has none. */
bool sw_value_stringer(struct text *out, struct sw_value v);
