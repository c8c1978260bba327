#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "template/strconv.h"
#include "template/text.h"

static int trim_zeros(char *digits, int n)
{
    while (n > 1 && digits[n - 1] == '0')
        n--;
    digits[n] = '\0';
    return n;
}

static int int_digits(uint64_t u, char *digits, int *point)
{
    char reversed[24];
    int n = 0;
    do {
        reversed[n++] = (char)('0' + u % 10);
        u /= 10;
    } while (u);
    *point = n;
    for (int i = 0; i < n; i++)
        digits[i] = reversed[n - 1 - i];
    return trim_zeros(digits, n);
}

/* @n significant digits of @f, correctly rounded. @return whether they read back as @f */
static bool rounded_digits(double f, int n, char *digits, int *point)
{
    char buf[40];
    snprintf(buf, sizeof buf, "%.*e", n - 1, f);
    digits[0] = buf[0];
    if (n > 1)
        memcpy(digits + 1, buf + 2, (size_t)n - 1);
    digits[n] = '\0';
    *point = atoi(strchr(buf, 'e') + 1) + 1;
    return strtod(buf, NULL) == f;
}

/* The decimal one above the given digits may still be nearer to @f than to its neighbours: below a
 * power of two floats lie closer together than above it. */
static bool next_digits_read_back(double f, int n, char *digits, int point)
{
    char up[24], buf[48];
    memcpy(up, digits, (size_t)n + 1);
    int i = n - 1;
    while (i >= 0 && up[i] == '9')
        up[i--] = '0';
    if (i < 0)
        return false;
    up[i]++;
    snprintf(buf, sizeof buf, "0.%se%d", up, point);
    if (strtod(buf, NULL) != f)
        return false;
    memcpy(digits, up, (size_t)n + 1);
    return true;
}

int sw_float_digits(double f, char digits[static 24], int *point)
{
    f = fabs(f);
    if (f == 0) {
        strcpy(digits, "0");
        *point = 1;
        return 1;
    }
    if (f < 9007199254740992.0 && f == (double)(uint64_t)f)
        return int_digits((uint64_t)f, digits, point);
    int exp;
    bool power_of_two = frexp(f, &exp) == 0.5;
    /* what has up to 15 digits comes back unchanged from 15; only denormals have fewer to give */
    for (int n = fpclassify(f) == FP_SUBNORMAL ? 1 : 15; n < 17; n++) {
        if (rounded_digits(f, n, digits, point) ||
            (power_of_two && next_digits_read_back(f, n, digits, *point)))
            return trim_zeros(digits, n);
    }
    rounded_digits(f, 17, digits, point);
    return trim_zeros(digits, 17);
}

static void put_exponent(struct text *out, int exp, char e)
{
    sw_text_printf(out, "%c%c%02d", e, exp < 0 ? '-' : '+', abs(exp));
}

static void put_e(struct text *out, const char *digits, int n, int point, char e)
{
    sw_text_char(out, digits[0]);
    if (n > 1) {
        sw_text_char(out, '.');
        sw_text_put(out, digits + 1, (size_t)n - 1);
    }
    put_exponent(out, digits[0] == '0' ? 0 : point - 1, e);
}

static void put_f(struct text *out, const char *digits, int n, int point)
{
    if (point <= 0) {
        sw_text_puts(out, "0.");
        sw_text_fill(out, '0', (size_t)-point);
        sw_text_put(out, digits, (size_t)n);
        return;
    }
    int whole = n < point ? n : point;
    sw_text_put(out, digits, (size_t)whole);
    sw_text_fill(out, '0', (size_t)(point - whole));
    if (n > point) {
        sw_text_char(out, '.');
        sw_text_put(out, digits + point, (size_t)(n - point));
    }
}

static void put_shortest(struct text *out, double f, char verb)
{
    char digits[24];
    int point, n = sw_float_digits(f, digits, &point);
    if (signbit(f))
        sw_text_char(out, '-');
    switch (verb) {
    case 'e':
    case 'E':
        put_e(out, digits, n, point, verb);
        return;
    case 'f':
        put_f(out, digits, n, point);
        return;
    default: /* g: an exponent where %g of the default precision has one */
        if (f != 0 && (point - 1 < -4 || point - 1 >= 6))
            put_e(out, digits, n, point, verb == 'G' ? 'E' : 'e');
        else
            put_f(out, digits, n, point);
    }
}

/* C's %a, with the exponent's two digits. */
static void put_hex(struct text *out, double f, char verb, int prec)
{
    char buf[64];
    if (prec < 0)
        snprintf(buf, sizeof buf, verb == 'X' ? "%A" : "%a", f);
    else
        snprintf(buf, sizeof buf, verb == 'X' ? "%.*A" : "%.*a", prec > 30 ? 30 : prec, f);
    char *p = strpbrk(buf, "pP");
    int exp = atoi(p + 1);
    sw_text_put(out, buf, (size_t)(p - buf));
    put_exponent(out, exp, *p);
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

void sw_float_json(struct text *out, double f)
{
    char digits[24];
    int point, n = sw_float_digits(f, digits, &point);
    if (signbit(f))
        sw_text_char(out, '-');
    if (f != 0 && (fabs(f) < 1e-6 || fabs(f) >= 1e21)) {
        sw_text_put(out, digits, 1);
        if (n > 1)
            sw_text_printf(out, ".%s", digits + 1);
        sw_text_printf(out, "e%c%d", point - 1 < 0 ? '-' : '+', abs(point - 1));
    } else {
        put_f(out, digits, n, point);
    }
}
