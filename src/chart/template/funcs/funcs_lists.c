/* sprig's functions on lists. A list is never changed: each makes a new one. */
#include <stdlib.h>

#include "chart/template/funcs/cast.h"
#include "chart/template/funcs/funcs.h"

/* A nil panics in Go, where its type is needed. */
static int check_slice(struct call *c, struct sw_value v, const char *complaint)
{
    if (sw_value_is_nil(v))
        return sw_call_nil_deref(c);
    if (sw_kind(v) == SW_K_SLICE)
        return 0;
    return sw_call_fail(c, "%s type %s", complaint, sw_value_kind_name(v));
}

/* Elements @from up to @to as []interface {}, with room for one more. */
static struct sw_list *sublist(struct call *c, struct sw_value v, size_t from, size_t to)
{
    struct sw_list *list = sw_list_new(c->arena, to - from + 1);
    for (size_t i = from; i < to && !sw_arena_is_over(c->arena); i++)
        sw_list_add(list, sw_value_at(v, i));
    return list;
}

static int fn_list(struct call *c)
{
    struct sw_list *list = sw_list_new(c->arena, c->n);
    for (size_t i = 0; i < c->n; i++)
        sw_list_add(list, c->args[i]);
    return sw_return(c, sw_value_list(list));
}

static bool in_values(struct call *c, const struct sw_value *values, size_t n, struct sw_value v)
{
    bool found = false;
    for (size_t i = 0; i < n && !found; i++)
        found = sw_call_equal(c, values[i], v);
    return found;
}

enum { PUSH, PREPEND, FIRST, LAST, REST, INITIAL, REVERSE, COMPACT, UNIQ, WITHOUT };

/* The functions whose first argument is a list. */
static int fn_of_list(struct call *c)
{
    static const char *const complaints[] = {
        [PUSH] = "Cannot push on",
        [PREPEND] = "Cannot prepend on",
        [FIRST] = "Cannot find first on",
        [LAST] = "Cannot find last on",
        [REST] = "Cannot find rest on",
        [INITIAL] = "Cannot find initial on",
        [REVERSE] = "Cannot find reverse on",
        [COMPACT] = "Cannot compact on",
        [UNIQ] = "Cannot find uniq on",
        [WITHOUT] = "Cannot find without on",
    };
    struct sw_value v = c->args[0];
    int rc = check_slice(c, v, complaints[c->func->variant]);
    if (rc < 0)
        return rc;
    size_t n = sw_value_len(v);
    struct sw_list *list = NULL;
    switch (c->func->variant) {
    case PUSH:
        list = sublist(c, v, 0, n);
        sw_list_add(list, c->args[1]);
        break;
    case PREPEND:
        list = sw_list_new(c->arena, n + 1);
        sw_list_add(list, c->args[1]);
        for (size_t i = 0; i < n; i++)
            sw_list_add(list, sw_value_at(v, i));
        break;
    case FIRST:
        return sw_return(c, n ? sw_value_at(v, 0) : sw_value_nil());
    case LAST:
        return sw_return(c, n ? sw_value_at(v, n - 1) : sw_value_nil());
    case REST:
        list = n ? sublist(c, v, 1, n) : NULL;
        break;
    case INITIAL:
        list = n ? sublist(c, v, 0, n - 1) : NULL;
        break;
    case REVERSE:
        list = sw_list_new(c->arena, n);
        for (size_t i = n; i-- > 0;)
            sw_list_add(list, sw_value_at(v, i));
        break;
    default:
        list = sw_list_new(c->arena, n);
        for (size_t i = 0; i < n && rc == 0; i++) {
            struct sw_value elem = sw_value_at(v, i);
            bool skip;
            if (c->func->variant == COMPACT) {
                skip = sw_value_is_empty(elem);
            } else if (c->func->variant == UNIQ) {
                rc = sw_call_charge(c, list->n / 16);
                skip = in_values(c, list->items, list->n, elem);
            } else {
                rc = sw_call_charge(c, c->n / 16);
                skip = in_values(c, c->args + 1, c->n - 1, elem);
            }
            if (!skip)
                sw_list_add(list, elem);
        }
    }
    return rc < 0 ? rc : sw_return(c, sw_value_list(list));
}

static int fn_has(struct call *c)
{
    struct sw_value v = c->args[1];
    bool has = false;
    int rc = sw_value_is_nil(v) ? 0 : check_slice(c, v, "Cannot find has on");
    if (rc < 0)
        return rc;
    rc = sw_call_charge(c, sw_value_len(v) / 8);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < sw_value_len(v) && !has; i++)
        has = sw_call_equal(c, c->args[0], sw_value_at(v, i));
    return sw_return(c, sw_value_bool(has));
}

static int fn_slice(struct call *c)
{
    struct sw_value v = c->args[0];
    if (sw_value_is_nil(v))
        return sw_call_nil_deref(c);
    if (sw_kind(v) != SW_K_SLICE)
        return sw_call_fail(c, "list should be type of slice or array but %s",
                            sw_value_kind_name(v));
    int64_t len = (int64_t)sw_value_len(v), from = 0, to = len;
    if (len == 0)
        return sw_return(c, sw_value_nil());
    if (c->n > 1)
        from = sw_cast_int64(c->args[1]);
    if (c->n > 2)
        to = sw_cast_int64(c->args[2]);
    if (from < 0 || to < from || to > len)
        return sw_call_fail(c, "reflect.Value.Slice: slice index out of bounds");
    if (v.type == SW_T_BYTES) {
        v.as.s += from;
        v.len = (uint32_t)(to - from);
    } else {
        v.as.list = sublist(c, v, (size_t)from, (size_t)to);
    }
    return sw_return(c, v);
}

static int fn_concat(struct call *c)
{
    struct sw_list *list = NULL;
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) {
        struct sw_value v = c->args[i];
        if (sw_value_is_nil(v))
            return sw_call_nil_deref(c);
        if (sw_kind(v) != SW_K_SLICE)
            return sw_call_fail(c, "Cannot concat type %s as list", sw_value_kind_name(v));
        n += sw_value_len(v);
    }
    if (n > 0)
        list = sw_list_new(c->arena, n);
    for (size_t i = 0; i < c->n && !sw_arena_is_over(c->arena); i++) {
        for (size_t k = 0; k < sw_value_len(c->args[i]); k++)
            sw_list_add(list, sw_value_at(c->args[i], k));
    }
    return sw_return(c, sw_value_list(list));
}

static int fn_chunk(struct call *c)
{
    int64_t size = c->args[0].as.i;
    struct sw_value v = c->args[1];
    int rc = check_slice(c, v, "Cannot chunk");
    if (rc < 0)
        return rc;
    size_t n = sw_value_len(v);
    if (size <= 0)
        return sw_call_fail(c, "runtime error: makeslice: len out of range");
    struct sw_list *list = sw_list_new(c->arena, 0);
    for (size_t i = 0; i < n && !sw_arena_is_over(c->arena); i += (size_t)size) {
        size_t to = (uint64_t)size < n - i ? i + (size_t)size : n;
        sw_list_add(list, sw_value_list(sublist(c, v, i, to)));
    }
    return sw_return(c, sw_value_typed_list(SW_T_LISTS, list));
}

static int by_bytes(const void *a, const void *b)
{
    const struct sw_value *x = a, *y = b;
    return sw_bytes_order(x->as.s, x->len, y->as.s, y->len);
}

static int fn_sort_alpha(struct call *c)
{
    struct sw_list *list;
    if (sw_kind(c->args[0]) == SW_K_SLICE) {
        struct sw_value strings = sw_cast_strings(c, c->args[0]);
        list = sublist(c, strings, 0, sw_value_len(strings));
    } else { /* the text of a value that is no list, nil included */
        list = sw_list_new(c->arena, 1);
        sw_list_add(list, sw_cast_string(c, c->args[0]));
    }
    if (list->n > 1)
        qsort(list->items, list->n, sizeof *list->items, by_bytes);
    return sw_return(c, sw_value_typed_list(SW_T_STRINGS, list));
}

const struct func sw_funcs_lists[] = {
    { "list", fn_list, "v*", "a list of the arguments", 0, 0 },
    { "tuple", fn_list, "v*", "as list", 0, 0 },
    { "append", fn_of_list, "vv", "the list with an element more at its end", PUSH, 0 },
    { "push", fn_of_list, "vv", "as append", PUSH, 0 },
    { "mustAppend", fn_of_list, "vv", "as append", PUSH, 0 },
    { "mustPush", fn_of_list, "vv", "as append", PUSH, 0 },
    { "prepend", fn_of_list, "vv", "the list with an element more in front", PREPEND, 0 },
    { "mustPrepend", fn_of_list, "vv", "as prepend", PREPEND, 0 },
    { "first", fn_of_list, "v", "the first element, or nil", FIRST, 0 },
    { "mustFirst", fn_of_list, "v", "as first", FIRST, 0 },
    { "last", fn_of_list, "v", "the last element, or nil", LAST, 0 },
    { "mustLast", fn_of_list, "v", "as last", LAST, 0 },
    { "rest", fn_of_list, "v", "all but the first", REST, 0 },
    { "mustRest", fn_of_list, "v", "as rest", REST, 0 },
    { "initial", fn_of_list, "v", "all but the last", INITIAL, 0 },
    { "mustInitial", fn_of_list, "v", "as initial", INITIAL, 0 },
    { "reverse", fn_of_list, "v", "from its end to its beginning", REVERSE, 0 },
    { "mustReverse", fn_of_list, "v", "as reverse", REVERSE, 0 },
    { "compact", fn_of_list, "v", "without empty elements", COMPACT, 0 },
    { "mustCompact", fn_of_list, "v", "as compact", COMPACT, 0 },
    { "uniq", fn_of_list, "v", "without elements that were there before", UNIQ, 0 },
    { "mustUniq", fn_of_list, "v", "as uniq", UNIQ, 0 },
    { "without", fn_of_list, "vv*", "without the given values", WITHOUT, 0 },
    { "mustWithout", fn_of_list, "vv*", "as without", WITHOUT, 0 },
    { "has", fn_has, "vv", "whether the value is in the list", 0, 0 },
    { "mustHas", fn_has, "vv", "as has", 0, 0 },
    { "slice", fn_slice, "vv*", "the elements from one position to another", 0, 0 },
    { "mustSlice", fn_slice, "vv*", "as slice", 0, 0 },
    { "concat", fn_concat, "v*", "the lists one after another", 0, 0 },
    { "chunk", fn_chunk, "iv", "a list of lists of so many elements", 0, 0 },
    { "mustChunk", fn_chunk, "iv", "as chunk", 0, 0 },
    { "sortAlpha", fn_sort_alpha, "v", "the elements as text, sorted", 0, 0 },
    { 0 },
};
