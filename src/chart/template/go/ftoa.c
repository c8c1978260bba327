#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chart/template/go/strconv.h"
#include "chart/template/go/text.h"
#include "data/text/number.h"

static void put_shortest(struct text *out, double f, char verb)
{
    char buf[SW_FLOAT_LEN];
    size_t n = sw_float_go(f, verb == 'E' ? 'e' : verb == 'G' ? 'g' : verb, 64, buf);
    char *e = verb == 'E' || verb == 'G' ? memchr(buf, 'e', n) : NULL;
    if (e)
        *e = 'E';
    sw_text_put(out, buf, n);
}

/* C's %a, with the exponent's two digits. */
static void put_hex(struct text *out, double f, char verb, int prec)
{
    char buf[64];
    if (prec < 0)
        (void)snprintf(buf, sizeof buf, verb == 'X' ? "%A" : "%a", f);
    else
        (void)snprintf(buf, sizeof buf, verb == 'X' ? "%.*A" : "%.*a", prec > 30 ? 30 : prec, f);
    char *p = strpbrk(buf, "pP");
    int exp = atoi(p + 1);
    sw_text_put(out, buf, (size_t)(p - buf));
    sw_text_printf(out, "%c%c%02d", *p, exp < 0 ? '-' : '+', abs(exp));
}

static void put_binary(struct text *out, double f)
{
    int exp;
    double m = frexp(fabs(f), &exp);
    int shift = fpclassify(f) == FP_SUBNORMAL ? 1074 + exp : 53;
    uint64_t mant = f == 0 ? 0 : (uint64_t)ldexp(m, shift);
    sw_text_printf(out, "%s%llup%+d", signbit(f) ? "-" : "", (unsigned long long)mant,
                   f == 0 ? -1074 : exp - shift);
}

void sw_float_format(struct text *out, double f, char verb, int prec)
{
    if (isnan(f)) {
        sw_text_puts(out, "NaN");
    } else if (isinf(f)) {
        sw_text_puts(out, f < 0 ? "-Inf" : "+Inf");
    } else if (verb == 'b') {
        put_binary(out, f);
    } else if (verb == 'x' || verb == 'X') {
        put_hex(out, f, verb, prec);
    } else if (prec < 0) {
        put_shortest(out, f, verb);
    } else {
        char format[] = "%.*e";
        format[3] = verb;
        char small[512];
        int n = snprintf(small, sizeof small, format, prec, f);
        if (n < (int)sizeof small) {
            sw_text_put(out, small, (size_t)n);
            return;
        }
        SW_AUTO_CHARS *big = sw_printf(format, prec, f);
        sw_text_puts(out, big);
    }
}
