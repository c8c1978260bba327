#include "data/go/decimal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/openssl.h"
#include "data/text/number.h"

/* value * 10^exp */
struct decimal {
    BIGNUM *value;
    int exp;
};

struct machine {
    BN_CTX *ctx;
    struct decimal a, b;
};

/* Express @d with a smaller exponent. */
static void scale(struct machine *m, struct decimal *d, int exp)
{
    BIGNUM *ten = BN_new(), *power = BN_new(), *digits = BN_new();
    BN_set_word(ten, 10);
    BN_set_word(digits, (BN_ULONG)(d->exp - exp));
    BN_exp(power, ten, digits, m->ctx);
    BN_mul(d->value, d->value, power, m->ctx);
    d->exp = exp;
    BN_free(ten);
    BN_free(power);
    BN_free(digits);
}

/* "-1.25e-07" to -125 * 10^-9 */
static void from_float(struct decimal *d, double f)
{
    char text[SW_FLOAT_LEN], digits[SW_FLOAT_LEN];
    sw_float_go(f, 'e', 64, text);
    size_t n = 0, fraction = 0;
    bool after_point = false;
    char *p = text;
    for (; *p && *p != 'e'; p++) {
        if (*p == '.') {
            after_point = true;
            continue;
        }
        fraction += after_point;
        digits[n++] = *p;
    }
    digits[n] = '\0';
    BN_dec2bn(&d->value, digits);
    d->exp = (*p ? atoi(p + 1) : 0) - (int)fraction;
    if (BN_is_zero(d->value))
        d->exp = 0;
}

/* a/b to 16 places: the quotient cut off, then one more in the last place where the rest is at
 * least half of the divisor. */
static void divide(struct machine *m)
{
    enum { PLACES = 16 };
    BIGNUM *quotient = BN_new(), *rest = BN_new();
    int shift = m->a.exp - m->b.exp + PLACES;
    bool negative = BN_is_negative(m->a.value) != BN_is_negative(m->b.value);
    if (shift >= 0) {
        m->a.exp = shift;
        scale(m, &m->a, 0);
    } else {
        m->b.exp = -shift;
        scale(m, &m->b, 0);
    }
    BN_set_negative(m->a.value, 0);
    BN_set_negative(m->b.value, 0);
    BN_div(quotient, rest, m->a.value, m->b.value, m->ctx);
    BN_lshift1(rest, rest);
    if (BN_cmp(rest, m->b.value) >= 0)
        BN_add_word(quotient, 1);
    BN_set_negative(quotient, negative);
    BN_copy(m->a.value, quotient);
    m->a.exp = -PLACES;
    BN_free(quotient);
    BN_free(rest);
}

static int check(double f, struct sw_err *err)
{
    char text[SW_FLOAT_LEN];
    if (isfinite(f))
        return 0;
    (void)sw_float_go(f, 'g', 64, text);
    return sw_err_set(err, SW_INVALID, "Cannot create a Decimal from %s", text);
}

int sw_decimal_fold(enum sw_decimal_op op, double *a, const double *b, size_t n, struct sw_err *err)
{
    int rc = check(*a, err);
    if (rc < 0)
        return rc;
    struct machine m = { .ctx = BN_CTX_new(), .a.value = BN_new(), .b.value = BN_new() };
    from_float(&m.a, *a);
    for (size_t i = 0; i < n && rc == 0; i++) {
        rc = check(b[i], err);
        if (rc < 0)
            break;
        from_float(&m.b, b[i]);
        if (op == SW_DECIMAL_ADD || op == SW_DECIMAL_SUB) {
            int exp = m.a.exp < m.b.exp ? m.a.exp : m.b.exp;
            scale(&m, &m.a, exp);
            scale(&m, &m.b, exp);
            if (op == SW_DECIMAL_ADD)
                BN_add(m.a.value, m.a.value, m.b.value);
            else
                BN_sub(m.a.value, m.a.value, m.b.value);
        } else if (op == SW_DECIMAL_MUL) {
            BN_mul(m.a.value, m.a.value, m.b.value, m.ctx);
            m.a.exp += m.b.exp;
        } else if (BN_is_zero(m.b.value)) {
            rc = sw_err_set(err, SW_INVALID, "decimal division by 0");
        } else {
            divide(&m);
        }
    }
    if (rc == 0) {
        char *digits = BN_bn2dec(m.a.value);
        SW_AUTO_CHARS *text = sw_printf("%se%d", digits, m.a.exp);
        OPENSSL_free(digits);
        *a = strtod(text, NULL);
    }
    BN_free(m.a.value);
    BN_free(m.b.value);
    BN_CTX_free(m.ctx);
    return rc;
}
