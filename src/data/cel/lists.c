/* Kubernetes' functions of lists, and CEL's sets. */
#include "data/cel/functions.h"

static struct cel_value is_sorted(struct cel_run *x, const struct cel_value *args, int variant)
{
    const struct cel_list *list = args[0].list;
    (void)variant;
    for (size_t i = 1; i < list->n; i++) {
        int order;
        if (!sw_cel_compare(sw_cel_at(x, list, i - 1), sw_cel_at(x, list, i), &order))
            return sw_cel_no_overload(x);
        if (order > 0)
            return sw_cel_bool(false);
    }
    return sw_cel_bool(true);
}

/* @zero: the kind of the sum of nothing. */
static struct cel_value sum(struct cel_run *x, const struct cel_value *args, int zero)
{
    const struct cel_list *list = args[0].list;
    struct cel_value total = { .kind = (enum cel_kind)zero };
    for (size_t i = 0; i < list->n; i++) {
        const struct cel_value v = sw_cel_at(x, list, i);
        bool over = false;
        if (i == 0)
            total.kind = v.kind;
        if (v.kind != total.kind)
            return sw_cel_no_overload(x);
        if (v.kind == CEL_DOUBLE)
            total.d += v.d;
        else if (v.kind == CEL_UINT)
            over = __builtin_add_overflow(total.u, v.u, &total.u);
        else if (v.kind == CEL_INT || v.kind == CEL_DURATION)
            over = __builtin_add_overflow(total.i, v.i, &total.i);
        else
            return sw_cel_fail(x, "no such overload: sum(list)");
        if (over)
            return sw_cel_fail(x, v.kind == CEL_UINT       ? "unsigned integer overflow"
                                  : v.kind == CEL_DURATION ? "duration overflow"
                                                           : "integer overflow");
    }
    return total;
}

/* @sign: 1 for max(), -1 for min() */
static struct cel_value extreme(struct cel_run *x, const struct cel_value *args, int sign)
{
    const struct cel_list *list = args[0].list;
    struct cel_value best = { .kind = CEL_NULL };
    if (!list->n)
        return sw_cel_fail(x, "%s called on empty list", sign > 0 ? "max" : "min");
    for (size_t i = 0; i < list->n; i++) {
        const struct cel_value v = sw_cel_at(x, list, i);
        int order = 0;
        if (i && !sw_cel_compare(v, best, &order))
            return sw_cel_no_overload(x);
        if (i == 0 || order * sign > 0)
            best = v;
    }
    return best;
}

static struct cel_value index_of(struct cel_run *x, const struct cel_value *args, int last)
{
    const struct cel_list *list = args[0].list;
    for (size_t i = 0; i < list->n; i++) {
        const size_t at = last ? list->n - 1 - i : i;
        if (sw_cel_equal(x, sw_cel_at(x, list, at), args[1]))
            return sw_cel_int((int64_t)at);
    }
    return sw_cel_int(-1);
}

/* ---- sets ---------------------------------------------------------------------------------------
 */

static bool has(struct cel_run *x, const struct cel_list *list, struct cel_value v)
{
    for (size_t i = 0; i < list->n && sw_cel_charge(x, 1); i++)
        if (sw_cel_equal(x, sw_cel_at(x, list, i), v))
            return true;
    return false;
}

static bool has_all(struct cel_run *x, const struct cel_list *list, const struct cel_list *of)
{
    for (size_t i = 0; i < of->n; i++)
        if (!has(x, list, sw_cel_at(x, of, i)))
            return false;
    return true;
}

enum { CONTAINS, EQUIVALENT, INTERSECTS };

static struct cel_value compare_sets(struct cel_run *x, const struct cel_value *args, int how)
{
    const struct cel_list *a = args[0].list, *b = args[1].list;
    if (how == CONTAINS)
        return sw_cel_bool(has_all(x, a, b));
    if (how == EQUIVALENT)
        return sw_cel_bool(has_all(x, a, b) && has_all(x, b, a));
    for (size_t i = 0; i < b->n; i++)
        if (has(x, a, sw_cel_at(x, b, i)))
            return sw_cel_bool(true);
    return sw_cel_bool(false);
}

const struct cel_function sw_cel_lists[] = {
    { "isSorted", "Li.>b", is_sorted, 0 },
    { "isSorted", "Lu.>b", is_sorted, 0 },
    { "isSorted", "Ld.>b", is_sorted, 0 },
    { "isSorted", "Lb.>b", is_sorted, 0 },
    { "isSorted", "Ls.>b", is_sorted, 0 },
    { "isSorted", "Ly.>b", is_sorted, 0 },
    { "isSorted", "LT.>b", is_sorted, 0 },
    { "isSorted", "LD.>b", is_sorted, 0 },
    { "sum", "Li.>i", sum, CEL_INT },
    { "sum", "Lu.>u", sum, CEL_UINT },
    { "sum", "Ld.>d", sum, CEL_DOUBLE },
    { "sum", "LD.>D", sum, CEL_DURATION },
    { "max", "Li.>i", extreme, 1 },
    { "max", "Lu.>u", extreme, 1 },
    { "max", "Ld.>d", extreme, 1 },
    { "max", "Lb.>b", extreme, 1 },
    { "max", "Ls.>s", extreme, 1 },
    { "max", "Ly.>y", extreme, 1 },
    { "max", "LT.>T", extreme, 1 },
    { "max", "LD.>D", extreme, 1 },
    { "min", "Li.>i", extreme, -1 },
    { "min", "Lu.>u", extreme, -1 },
    { "min", "Ld.>d", extreme, -1 },
    { "min", "Lb.>b", extreme, -1 },
    { "min", "Ls.>s", extreme, -1 },
    { "min", "Ly.>y", extreme, -1 },
    { "min", "LT.>T", extreme, -1 },
    { "min", "LD.>D", extreme, -1 },
    { "indexOf", "LA.A>i", index_of, 0 },
    { "lastIndexOf", "LA.A>i", index_of, 1 },
    { "sets.contains", "LALA>b", compare_sets, CONTAINS },
    { "sets.equivalent", "LALA>b", compare_sets, EQUIVALENT },
    { "sets.intersects", "LALA>b", compare_sets, INTERSECTS },
    { 0 },
};
