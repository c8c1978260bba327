/* sprig's functions on numbers. */
#include <math.h>

#include "chart/template/funcs/cast.h"
#include "chart/template/funcs/funcs.h"
#include "chart/template/value/print.h"
#include "data/go/decimal.h"
#include "data/go/strconv.h"

/* ---- conversion ---- */

/* int, int64: the variant is the result's type. */
static int fn_int(struct call *c)
{
    struct sw_value v = sw_value_int(sw_cast_int64(c->args[0]));
    v.type = (uint8_t)c->func->variant;
    return sw_return(c, v);
}

static int fn_float64(struct call *c)
{
    return sw_return(c, sw_value_float(sw_cast_float64(c->args[0])));
}

/* An octal number's text, such as a file's mode. */
static int fn_to_decimal(struct call *c)
{
    const char *s = sw_value_print(c->arena, c->args[0]);
    int64_t i;
    bool ok = sw_parse_int(s, strlen(s), 8, &i) == SW_PARSE_OK;
    return sw_return(c, sw_value_int64(ok ? i : 0));
}

/* ---- whole numbers: they wrap around ---- */

static int64_t add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

enum { MUL, MAX, MIN };

/* mul, max, min of all arguments. */
static int fn_fold(struct call *c)
{
    int64_t result = sw_cast_int64(c->args[0]);
    for (size_t i = 1; i < c->n; i++) {
        int64_t v = sw_cast_int64(c->args[i]);
        if (c->func->variant == MUL)
            result = (int64_t)((uint64_t)result * (uint64_t)v);
        else if (c->func->variant == MAX ? v > result : v < result)
            result = v;
    }
    return sw_return(c, sw_value_int64(result));
}

/* The sum of the arguments and of the variant. */
static int fn_add(struct call *c)
{
    int64_t sum = c->func->variant;
    for (size_t i = 0; i < c->n; i++)
        sum = add(sum, sw_cast_int64(c->args[i]));
    return sw_return(c, sw_value_int64(sum));
}

static int fn_sub(struct call *c)
{
    uint64_t b = (uint64_t)sw_cast_int64(c->args[1]);
    return sw_return(c, sw_value_int64(add(sw_cast_int64(c->args[0]), (int64_t)(0 - b))));
}

enum { QUOTIENT, REST };

static int fn_div(struct call *c)
{
    int64_t a = sw_cast_int64(c->args[0]), b = sw_cast_int64(c->args[1]);
    bool rest = c->func->variant == REST;
    if (b == 0)
        return sw_call_fail(c, "runtime error: integer divide by zero");
    if (b == -1)
        return sw_return(c, sw_value_int64(rest ? 0 : (int64_t)(0 - (uint64_t)a)));
    return sw_return(c, sw_value_int64(rest ? a % b : a / b));
}

/* ---- floats ---- */

enum { PLUS_ONE = 0x10 }; /* besides enum sw_decimal_op */

/* The arguments in turn, and 1 for add1f. */
static int fn_decimal(struct call *c)
{
    double *terms = sw_arena_alloc(c->arena, (c->n + 1) * sizeof *terms);
    size_t n = c->n;
    SW_ERR(err);
    for (size_t i = 0; i < n; i++)
        terms[i] = sw_cast_float64(c->args[i]);
    if (c->func->variant & PLUS_ONE)
        terms[n++] = 1;
    enum sw_decimal_op op = c->func->variant & ~PLUS_ONE;
    if (n > 0 && sw_decimal_fold(op, &terms[0], terms + 1, n - 1, &err) < 0)
        return sw_call_fail(c, "%s", sw_err_text(&err));
    return sw_return(c, sw_value_float(terms[0]));
}

/* Go's math.Max and Min: a NaN wins, and -0 is less than 0. */
static double max_float(double a, double b)
{
    if (isinf(a) && a > 0)
        return a;
    if (isinf(b) && b > 0)
        return b;
    if (isnan(a) || isnan(b))
        return NAN;
    if (a == 0 && b == 0)
        return signbit(a) ? b : a;
    return a > b ? a : b;
}

static int fn_fold_float(struct call *c)
{
    double f = sw_cast_float64(c->args[0]), sign = c->func->variant == MIN ? -1 : 1;
    for (size_t i = 1; i < c->n; i++)
        f = sign * max_float(sign * f, sign * sw_cast_float64(c->args[i]));
    return sw_return(c, sw_value_float(f));
}

enum { FLOOR, CEIL };

static int fn_floor_ceil(struct call *c)
{
    double f = sw_cast_float64(c->args[0]);
    return sw_return(c, sw_value_float(c->func->variant == CEIL ? ceil(f) : floor(f)));
}

/* Up where the fraction is at least the third argument, .5 by default. */
static int fn_round(struct call *c)
{
    double round_on = c->n > 2 ? c->args[2].as.f : .5, whole;
    double scale = pow(10, (double)c->args[1].as.i);
    double digits = scale * sw_cast_float64(c->args[0]);
    double fraction = modf(digits, &whole);
    return sw_return(c,
                     sw_value_float((fraction >= round_on ? ceil(digits) : floor(digits)) / scale));
}

/* ---- sequences ---- */

/* From @start towards @stop, which is not in it. */
static int count(struct call *c, int64_t start, int64_t stop, int64_t step, struct sw_list **out)
{
    *out = sw_list_new(c->arena, 0);
    uint64_t distance = step > 0 ? (uint64_t)stop - (uint64_t)start
                                 : (uint64_t)start - (uint64_t)stop;
    uint64_t stride = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    if (stride == 0 || (stop < start ? step > 0 : step < 0))
        return 0;
    uint64_t n = distance / stride + (distance % stride != 0);
    int rc = n > SIZE_MAX / sizeof(struct sw_value) ? sw_call_charge(c, n)
                                                    : sw_call_room(c, n * sizeof(struct sw_value));
    if (rc == 0)
        rc = sw_call_charge(c, n);
    if (rc < 0)
        return rc;
    *out = sw_list_new(c->arena, n);
    for (uint64_t i = 0; i < n; i++)
        sw_list_add(*out, sw_value_int((int64_t)((uint64_t)start + i * (uint64_t)step)));
    return 0;
}

/* STOP, START STOP STEP */
static int fn_until(struct call *c)
{
    bool has_step = c->n > 1;
    int64_t start = has_step ? c->args[0].as.i : 0, stop = c->args[has_step].as.i;
    int64_t step = has_step ? c->args[2].as.i : stop < 0 ? -1 : 1;
    struct sw_list *list;
    int rc = count(c, start, stop, step, &list);
    return rc < 0 ? rc : sw_return(c, sw_value_typed_list(SW_T_INTS, list));
}

/* As seq(1): LAST, FIRST LAST, FIRST STEP LAST; in one line. */
static int fn_seq(struct call *c)
{
    struct sw_list *list;
    if (c->n == 0 || c->n > 3)
        return sw_return(c, sw_value_text("", 0));
    int64_t start = c->n > 1 ? c->args[0].as.i : 1, end = c->args[c->n - 1].as.i;
    int64_t past = end < start ? -1 : 1, step = c->n == 3 ? c->args[1].as.i : past;
    if (c->n == 3 && end < start && step > 0)
        return sw_return(c, sw_value_text("", 0));
    int rc = count(c, start, add(end, past), step, &list);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < list->n; i++) {
        if (i > 0)
            sw_text_char(c->text, ' ');
        sw_print_value(c->text, list->items[i]);
    }
    return sw_return_text(c);
}

const struct func sw_funcs_math[] = {
    { "int", fn_int, "v", "as an int; 0 for what is no number", SW_T_INT, 0 },
    { "int64", fn_int, "v", "as an int64; 0 for what is no number", SW_T_INT64, 0 },
    { "float64", fn_float64, "v", "as a float64; 0 for what is no number", 0, 0 },
    { "toDecimal", fn_to_decimal, "v", "the number that an octal text stands for", 0, 0 },
    { "add", fn_add, "v*", "the sum", 0, 0 },
    { "add1", fn_add, "v", "one more", 1, 0 },
    { "sub", fn_sub, "vv", "the difference", 0, 0 },
    { "mul", fn_fold, "vv*", "the product", MUL, 0 },
    { "div", fn_div, "vv", "the quotient, cut to a whole number", QUOTIENT, 0 },
    { "mod", fn_div, "vv", "the rest of a division", REST, 0 },
    { "max", fn_fold, "vv*", "the largest", MAX, 0 },
    { "biggest", fn_fold, "vv*", "as max", MAX, 0 },
    { "min", fn_fold, "vv*", "the smallest", MIN, 0 },
    { "addf", fn_decimal, "v*", "the sum of floats", SW_DECIMAL_ADD, 0 },
    { "add1f", fn_decimal, "v", "one more, of a float", SW_DECIMAL_ADD | PLUS_ONE, 0 },
    { "subf", fn_decimal, "vv*", "the difference of floats", SW_DECIMAL_SUB, 0 },
    { "mulf", fn_decimal, "vv*", "the product of floats", SW_DECIMAL_MUL, 0 },
    { "divf", fn_decimal, "vv*", "the quotient of floats", SW_DECIMAL_DIV, 0 },
    { "maxf", fn_fold_float, "vv*", "the largest float", MAX, 0 },
    { "minf", fn_fold_float, "vv*", "the smallest float", MIN, 0 },
    { "floor", fn_floor_ceil, "v", "the next whole number down", FLOOR, 0 },
    { "ceil", fn_floor_ceil, "v", "the next whole number up", CEIL, 0 },
    { "round", fn_round, "vif*", "rounded to so many places", 0, 0 },
    { "until", fn_until, "i", "0, 1, ... below a number", 0, 0 },
    { "untilStep", fn_until, "iii", "from a number to below another, by steps", 0, 0 },
    { "seq", fn_seq, "i*", "numbers with spaces between, as seq prints them", 0, 0 },
    { 0 },
};
