/* Operators: arithmetic with its overflows, comparisons, index, in. */
#include <math.h>
#include <string.h>

#include "data/cel/functions.h"
#include "data/cel/types.h"

static struct cel_value overflow(struct cel_run *x, bool is_unsigned)
{
    return sw_cel_fail(x, "%s overflow", is_unsigned ? "unsigned integer" : "integer");
}

static struct cel_value of_uint(uint64_t u)
{
    return (struct cel_value){ .kind = CEL_UINT, .u = u };
}

static struct cel_value of_double(double d)
{
    return (struct cel_value){ .kind = CEL_DOUBLE, .d = d };
}

static struct cel_value arith_int(struct cel_run *x, const struct cel_value *args, int op)
{
    const int64_t a = args[0].i, b = args[1].i;
    int64_t r = 0;
    bool over = false;
    switch (op) {
    case '+':
        over = __builtin_add_overflow(a, b, &r);
        break;
    case '-':
        over = __builtin_sub_overflow(a, b, &r);
        break;
    case '*':
        over = __builtin_mul_overflow(a, b, &r);
        break;
    default:
        if (b == 0)
            return sw_cel_fail(x, op == '/' ? "division by zero" : "modulus by zero");
        over = a == INT64_MIN && b == -1;
        r = over ? 0 : op == '/' ? a / b : a % b;
    }
    return over ? overflow(x, false) : sw_cel_int(r);
}

static struct cel_value arith_uint(struct cel_run *x, const struct cel_value *args, int op)
{
    const uint64_t a = args[0].u, b = args[1].u;
    uint64_t r = 0;
    bool over = false;
    switch (op) {
    case '+':
        over = __builtin_add_overflow(a, b, &r);
        break;
    case '-':
        over = __builtin_sub_overflow(a, b, &r);
        break;
    case '*':
        over = __builtin_mul_overflow(a, b, &r);
        break;
    default:
        if (b == 0)
            return sw_cel_fail(x, op == '/' ? "division by zero" : "modulus by zero");
        r = op == '/' ? a / b : a % b;
    }
    return over ? overflow(x, true) : of_uint(r);
}

static struct cel_value arith_double(struct cel_run *x, const struct cel_value *args, int op)
{
    const double a = args[0].d, b = args[1].d;
    (void)x;
    return of_double(op == '+' ? a + b : op == '-' ? a - b : op == '*' ? a * b : a / b);
}

static struct cel_value join_texts(struct cel_run *x, const struct cel_value *args, int variant)
{
    const size_t len = args[0].s.len + args[1].s.len;
    (void)variant;
    if (!sw_cel_charge(x, len / 10) || !sw_arena_has_room(x->arena, len + 1))
        return sw_cel_over(x);
    char *both = sw_arena_alloc(x->arena, len + 1);
    if (args[0].s.len)
        memcpy(both, args[0].s.p, args[0].s.len);
    if (args[1].s.len)
        memcpy(both + args[0].s.len, args[1].s.p, args[1].s.len);
    return (struct cel_value){ .kind = args[0].kind, .s = { both, len } };
}

static struct cel_value join_lists(struct cel_run *x, const struct cel_value *args, int variant)
{
    const size_t n = args[0].list->n + args[1].list->n;
    (void)variant;
    if (!sw_cel_charge(x, n) || !sw_arena_has_room(x->arena, n * sizeof(struct cel_value)))
        return sw_cel_over(x);
    struct cel_value *items = sw_arena_alloc(x->arena, (n + 1) * sizeof *items);
    for (size_t i = 0; i < n; i++)
        items[i] = i < args[0].list->n ? sw_cel_at(x, args[0].list, i)
                                       : sw_cel_at(x, args[1].list, i - args[0].list->n);
    return sw_cel_list(x, items, n);
}

static struct cel_value negate(struct cel_run *x, const struct cel_value *args, int variant)
{
    (void)variant;
    if (args[0].kind == CEL_DOUBLE)
        return of_double(-args[0].d);
    return args[0].i == INT64_MIN ? overflow(x, false) : sw_cel_int(-args[0].i);
}

static struct cel_value negated(struct cel_run *x, const struct cel_value *args, int variant)
{
    (void)x;
    (void)variant;
    return sw_cel_bool(!args[0].b);
}

/* @op: '<', '>', 'l' for <=, 'g' for >= */
static struct cel_value compare(struct cel_run *x, const struct cel_value *args, int op)
{
    int order = 0;
    if (!sw_cel_compare(args[0], args[1], &order)) {
        const bool nan = (args[0].kind == CEL_DOUBLE && isnan(args[0].d)) ||
                         (args[1].kind == CEL_DOUBLE && isnan(args[1].d));
        return nan ? sw_cel_fail(x, "NaN values cannot be ordered") : sw_cel_no_overload(x);
    }
    return sw_cel_bool(op == '<'   ? order < 0
                       : op == '>' ? order > 0
                       : op == 'l' ? order <= 0
                                   : order >= 0);
}

static struct cel_value equals(struct cel_run *x, const struct cel_value *args, int wanted)
{
    return sw_cel_bool(sw_cel_equal(x, args[0], args[1]) == (wanted != 0));
}

static struct cel_value is_in(struct cel_run *x, const struct cel_value *args, int variant)
{
    struct cel_value found;
    (void)variant;
    if (args[1].kind == CEL_MAP)
        return sw_cel_bool(sw_cel_find(x, args[1].map, args[0], &found));
    for (size_t i = 0; i < args[1].list->n; i++)
        if (sw_cel_equal(x, sw_cel_at(x, args[1].list, i), args[0]))
            return sw_cel_bool(true);
    return sw_cel_bool(false);
}

/* ---- index --------------------------------------------------------------------------------------
 */

/* A whole number of any type. */
static bool as_index(struct cel_value key, int64_t *out)
{
    if (key.kind == CEL_UINT && key.u <= INT64_MAX)
        *out = (int64_t)key.u;
    else if (key.kind == CEL_INT)
        *out = key.i;
    else if (key.kind == CEL_DOUBLE && key.d == floor(key.d) && fabs(key.d) < 1e15)
        *out = (int64_t)key.d;
    else
        return false;
    return true;
}

struct cel_value sw_cel_index(struct cel_run *x, struct cel_value of, struct cel_value key)
{
    struct cel_value found;
    int64_t i;
    if (of.kind == CEL_MAP) {
        if (sw_cel_find(x, of.map, key, &found))
            return found;
        const struct cel_value text = sw_cel_to_string(x, &key, 0);
        return sw_cel_fail(x, "no such key: %.*s", (int)text.s.len, text.s.p);
    }
    if (of.kind != CEL_LIST) {
        const struct cel_value text = sw_cel_to_string(x, &key, 0);
        return sw_cel_fail(x, "no such key: %.*s", (int)text.s.len, text.s.p);
    }
    if (!as_index(key, &i))
        return sw_cel_fail(x, "unsupported index type '%s' in list", sw_cel_kind_name(key.kind));
    if (i < 0 || (uint64_t)i >= of.list->n)
        return sw_cel_fail(x, "index out of bounds: %lld", (long long)i);
    return sw_cel_at(x, of.list, (size_t)i);
}

static struct cel_value fn_index(struct cel_run *x, const struct cel_value *args, int variant)
{
    (void)variant;
    if (args[0].kind != CEL_OPTIONAL)
        return sw_cel_index(x, args[0], args[1]);
    if (!args[0].some)
        return args[0];
    const struct cel_value v = sw_cel_index(x, *args[0].some, args[1]);
    return sw_cel_optional(x, v.kind == CEL_ERROR ? NULL : &v);
}

static struct cel_value maybe_index(struct cel_run *x, const struct cel_value *args, int variant)
{
    struct cel_value of = args[0];
    (void)variant;
    if (of.kind == CEL_OPTIONAL && !of.some)
        return of;
    of = of.kind == CEL_OPTIONAL ? *of.some : of;
    if (of.kind != CEL_LIST && of.kind != CEL_MAP)
        return sw_cel_no_overload(x);
    const struct cel_value v = sw_cel_index(x, of, args[1]);
    return sw_cel_optional(x, v.kind == CEL_ERROR ? NULL : &v);
}

#define ORDERED(name, op)                                                                          \
    { name, "ii>b", compare, op }, { name, "uu>b", compare, op }, { name, "dd>b", compare, op },   \
        { name, "iu>b", compare, op }, { name, "ui>b", compare, op },                              \
        { name, "id>b", compare, op }, { name, "di>b", compare, op },                              \
        { name, "ud>b", compare, op }, { name, "du>b", compare, op },                              \
        { name, "ss>b", compare, op }, { name, "yy>b", compare, op },                              \
        { name, "bb>b", compare, op }, { name, "TT>b", compare, op },                              \
    {                                                                                              \
        name, "DD>b", compare, op                                                                  \
    }
#define NUMERIC(name, op)                                                                          \
    { name, "ii>i", arith_int, op }, { name, "uu>u", arith_uint, op },                             \
    {                                                                                              \
        name, "dd>d", arith_double, op                                                             \
    }

const struct cel_function sw_cel_operators[] = {
    { "_==_", "AA>b", equals, 1 },
    { "_!=_", "AA>b", equals, 0 },
    ORDERED("_<_", '<'),
    ORDERED("_>_", '>'),
    ORDERED("_<=_", 'l'),
    ORDERED("_>=_", 'g'),
    NUMERIC("_+_", '+'),
    NUMERIC("_-_", '-'),
    NUMERIC("_*_", '*'),
    NUMERIC("_/_", '/'),
    { "_%_", "ii>i", arith_int, '%' },
    { "_%_", "uu>u", arith_uint, '%' },
    { "_+_", "ss>s", join_texts, 0 },
    { "_+_", "yy>y", join_texts, 0 },
    { "_+_", "LALA>LA", join_lists, 0 },
    { "-_", "i>i", negate, 0 },
    { "-_", "d>d", negate, 0 },
    { "!_", "b>b", negated, 0 },
    { "@in", "ALA>b", is_in, 0 },
    { "@in", "AMAB>b", is_in, 0 },
    { "_[_]", "LAi>A", fn_index, 0 },
    { "_[_]", "MABA>B", fn_index, 0 },
    { "_[_]", "OLAi>OA", fn_index, 0 },
    { "_[_]", "OMABA>OB", fn_index, 0 },
    { "_[?_]", "LAi>OA", maybe_index, 0 },
    { "_[?_]", "MABA>OB", maybe_index, 0 },
    { "_[?_]", "OLAi>OA", maybe_index, 0 },
    { "_[?_]", "OMABA>OB", maybe_index, 0 },
    { 0 },
};
