/* Lists as a whole: CEL's lists library. */
#include <stdlib.h>

#include "data/cel/functions.h"

/* ---- sorting ------------------------------------------------------------------------------------
 */

/* An element and what it is sorted by. */
struct ranked {
    struct cel_value element, key;
    size_t at; /* equal ones stay in order */
};

static int by_key(const void *a, const void *b)
{
    const struct ranked *p = a, *q = b;
    int order = 0;
    (void)sw_cel_compare(p->key, q->key, &order);
    return order ? order : (p->at > q->at) - (p->at < q->at);
}

struct cel_value sw_cel_sorted(struct cel_run *x, const struct cel_value *elements,
                               const struct cel_value *keys, size_t n)
{
    if (!sw_cel_charge(x, n))
        return sw_cel_over(x);
    struct ranked *all = sw_arena_alloc(x->arena, (n + 1) * sizeof *all);
    struct cel_value *sorted = sw_arena_alloc(x->arena, (n + 1) * sizeof *sorted);
    for (size_t i = 0; i < n; i++) {
        int order;
        all[i] = (struct ranked){ elements[i], keys[i], i };
        if (keys[i].kind != keys[0].kind)
            return sw_cel_fail(x, "list elements must have the same type");
        if (!sw_cel_compare(keys[i], keys[0], &order))
            return sw_cel_fail(x, "list elements must be comparable");
    }
    qsort(all, n, sizeof *all, by_key);
    for (size_t i = 0; i < n; i++)
        sorted[i] = all[i].element;
    return sw_cel_list(x, sorted, n);
}

/* The elements as values, with room for one more. */
static struct cel_value *items_of(struct cel_run *x, const struct cel_list *list)
{
    struct cel_value *items = sw_arena_alloc(x->arena, (list->n + 1) * sizeof *items);
    for (size_t i = 0; i < list->n; i++)
        items[i] = sw_cel_at(x, list, i);
    return items;
}

static struct cel_value sort(struct cel_run *x, const struct cel_value *args, int variant)
{
    const struct cel_value *items = items_of(x, args[0].list);
    (void)variant;
    return sw_cel_sorted(x, items, items, args[0].list->n);
}

/* ---- others -------------------------------------------------------------------------------------
 */

static struct cel_value reverse(struct cel_run *x, const struct cel_value *args, int variant)
{
    const size_t n = args[0].list->n;
    struct cel_value *items = sw_arena_alloc(x->arena, (n + 1) * sizeof *items);
    (void)variant;
    for (size_t i = 0; i < n; i++)
        items[i] = sw_cel_at(x, args[0].list, n - 1 - i);
    return sw_cel_list(x, items, n);
}

static struct cel_value distinct(struct cel_run *x, const struct cel_value *args, int variant)
{
    struct cel_value *items = items_of(x, args[0].list);
    size_t n = 0;
    (void)variant;
    for (size_t i = 0; i < args[0].list->n; i++) {
        size_t k = 0;
        while (k < n && sw_cel_charge(x, 1) && !sw_cel_equal(x, items[k], items[i]))
            k++;
        if (k == n)
            items[n++] = items[i];
    }
    return sw_cel_list(x, items, n);
}

static struct cel_value slice(struct cel_run *x, const struct cel_value *args, int variant)
{
    const int64_t from = args[1].i, to = args[2].i, n = (int64_t)args[0].list->n;
    (void)variant;
    if (from < 0 || to < 0)
        return sw_cel_fail(x, "cannot slice(%lld, %lld), negative indexes not supported",
                           (long long)from, (long long)to);
    if (from > to)
        return sw_cel_fail(x,
                           "cannot slice(%lld, %lld), start index must be less than or equal to "
                           "end index",
                           (long long)from, (long long)to);
    if (to > n)
        return sw_cel_fail(x, "cannot slice(%lld, %lld), list is length %lld", (long long)from,
                           (long long)to, (long long)n);
    return sw_cel_list(x, items_of(x, args[0].list) + from, (size_t)(to - from));
}

/* Elements while lists in lists are opened. */
struct flat {
    struct cel_value *items;
    size_t n, cap;
};

static void flatten_into(struct cel_run *x, struct flat *out, const struct cel_list *list,
                         int64_t depth)
{
    for (size_t i = 0; i < list->n && sw_cel_charge(x, 1); i++) {
        const struct cel_value v = sw_cel_at(x, list, i);
        if (v.kind == CEL_LIST && depth > 0 && sw_stack_has_room()) {
            flatten_into(x, out, v.list, depth - 1);
            continue;
        }
        SW_ARENA_GROW(x->arena, out->items, out->n, out->cap);
        out->items[out->n++] = v;
    }
}

static struct cel_value flatten(struct cel_run *x, const struct cel_value *args, int deep)
{
    struct flat out = { 0 };
    const int64_t depth = deep ? args[1].i : 1;
    if (depth < 0)
        return sw_cel_fail(x, "level must be non-negative");
    flatten_into(x, &out, args[0].list, depth);
    return sw_cel_list(x, out.items, out.n);
}

static struct cel_value range(struct cel_run *x, const struct cel_value *args, int variant)
{
    const int64_t n = args[0].i < 0 ? 0 : args[0].i;
    (void)variant;
    if (!sw_cel_charge(x, (uint64_t)n) ||
        !sw_arena_has_room(x->arena, ((size_t)n + 1) * sizeof(struct cel_value)))
        return sw_cel_over(x);
    struct cel_value *items = sw_arena_alloc(x->arena, ((size_t)n + 1) * sizeof *items);
    for (int64_t i = 0; i < n; i++)
        items[i] = sw_cel_int(i);
    return sw_cel_list(x, items, (size_t)n);
}

static struct cel_value end(struct cel_run *x, const struct cel_value *args, int last)
{
    const struct cel_list *list = args[0].list;
    if (!list->n)
        return sw_cel_optional(x, NULL);
    const struct cel_value v = sw_cel_at(x, list, last ? list->n - 1 : 0);
    return sw_cel_optional(x, &v);
}

const struct cel_function sw_cel_sequences[] = {
    { "sort", "LA.>LA", sort, 0 },         { "reverse", "LA.>LA", reverse, 0 },
    { "distinct", "LA.>LA", distinct, 0 }, { "slice", "LA.ii>LA", slice, 0 },
    { "flatten", "LLA.>LA", flatten, 0 },  { "flatten", "L*.i>L*", flatten, 1 },
    { "lists.range", "i>Li", range, 0 },   { "first", "LA.>OA", end, 0 },
    { "last", "LA.>OA", end, 1 },          { 0 },
};
