#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/go/strconv.h"
#include "data/go/text.h"
#include "data/text/number.h"

void sw_float_format(struct text *out, double f, char verb, int prec)
{
    char buf[512], format[] = "%.*e";
    int exp;
    if ((prec < 0 && verb != 'b' && (verb | 0x20) != 'x') || !isfinite(f)) { /* the shortest text */
        char lower = verb == 'E' ? 'e' : verb == 'f' || verb == 'e' ? verb : 'g';
        size_t n = sw_float_go(f, lower, 64, buf);
        char *e = verb == 'E' || verb == 'G' ? memchr(buf, 'e', n) : NULL;
        if (e)
            *e = 'E';
        sw_text_put(out, buf, n);
    } else if (verb == 'b') {
        double m = frexp(fabs(f), &exp);
        int shift = fpclassify(f) == FP_SUBNORMAL ? 1074 + exp : 53;
        uint64_t mant = f == 0 ? 0 : (uint64_t)ldexp(m, shift);
        sw_text_printf(out, "%s%llup%+d", signbit(f) ? "-" : "", (unsigned long long)mant,
                       f == 0 ? -1074 : exp - shift);
    } else if (verb == 'x' || verb == 'X') { /* C's %a, with the exponent's two digits */
        enum { MANTISSA = 13 };              /* digits that a float64 has; zeros follow */
        if (prec < 0)
            (void)snprintf(buf, sizeof buf, verb == 'X' ? "%A" : "%a", f);
        else
            (void)snprintf(buf, sizeof buf, verb == 'X' ? "%.*A" : "%.*a",
                           prec > MANTISSA ? MANTISSA : prec, f);
        char *p = strpbrk(buf, "pP"), *lead = strpbrk(buf, "xX") + 1;
        exp = atoi(p + 1);
        if (*lead == '2') { /* rounded up; Go begins with a 1 */
            *lead = '1';
            exp++;
        }
        sw_text_put(out, buf, (size_t)(p - buf));
        for (int i = MANTISSA; i < prec; i++)
            sw_text_char(out, '0');
        sw_text_printf(out, "%c%c%02d", *p, exp < 0 ? '-' : '+', abs(exp));
    } else {
        format[3] = verb;
        sw_text_printf(out, format, prec, f);
    }
}
