#pragma once
/* Printing as Go's fmt package does: print, println, printf, and the text of any value. */
#include "chart/template/go/text.h"
#include "chart/template/value/types.h"

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

/* ---- between print.c and printf.c ---- */

struct printer {
    struct text *out;
    struct sw_value arg; /* what a bad verb's message names */
    bool wid_present, prec_present;
    bool minus, plus, sharp, space, zero;
    bool plus_v, sharp_v;
    bool erroring;
    int wid, prec;
};

/** One operand under one verb. */
void sw_printer_arg(struct printer *p, struct sw_value v, uint32_t verb);
/** The text of a value that has a String method, or an error's; false: it has none. */
bool sw_value_stringer(struct text *out, struct sw_value v);

/* print_format.c: the basic formats, with width, precision and flags */
void sw_printer_pad(struct printer *p, const char *s, size_t len);
void sw_printer_bool(struct printer *p, bool b);
void sw_printer_integer(struct printer *p, uint64_t u, unsigned base, bool is_signed, uint32_t verb,
                        bool upper);
void sw_printer_unicode(struct printer *p, uint64_t u);
void sw_printer_rune(struct printer *p, uint64_t c);
void sw_printer_quoted_rune(struct printer *p, uint64_t c);
void sw_printer_float(struct printer *p, double f, char verb, int prec);
void sw_printer_string(struct printer *p, const char *s, size_t len);
void sw_printer_quoted(struct printer *p, const char *s, size_t len);
void sw_printer_hex(struct printer *p, const char *s, size_t len, bool upper);
