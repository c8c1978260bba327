#pragma once
/* One operand printed under one verb of fmt.Printf: between print.c, print_format.c and printf.c.
 */
#include "chart/template/value/types.h"
#include "data/go/text.h"

/** Go's fmt.pp: the flags of the directive that is being printed. */
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

/* The formats of print_format.c. Each appends one operand with width, precision and flags. */

/** @s as it is. */
void sw_printer_pad(struct printer *p, const char *s, size_t len);
/** %t */
void sw_printer_bool(struct printer *p, bool b);
/** An integer in @base; @is_signed: @u is an int64. */
void sw_printer_integer(struct printer *p, uint64_t u, unsigned base, bool is_signed,
                        uint32_t verb);
/** %U */
void sw_printer_unicode(struct printer *p, uint64_t u);
/** %c */
void sw_printer_rune(struct printer *p, uint64_t c);
/** %q of an integer */
void sw_printer_quoted_rune(struct printer *p, uint64_t c);
/** A float; @verb and @prec as for sw_float_format(). */
void sw_printer_float(struct printer *p, double f, char verb, int prec);
/** %s */
void sw_printer_string(struct printer *p, const char *s, size_t len);
/** %q */
void sw_printer_quoted(struct printer *p, const char *s, size_t len);
/** %x, %X of a string */
void sw_printer_hex(struct printer *p, const char *s, size_t len, bool upper);
