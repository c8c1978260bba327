/* matches(), and Kubernetes' find() and findAll(): RE2's syntax. */
#include <string.h>

#include "data/cel/functions.h"
#include "data/go/regex.h"

/* The steps of a search that cost one. */
enum { STEPS = 64 };
#define ILLEGAL "Illegal regex: "

static bool compile(struct cel_run *x, struct cel_value pattern, const char *wrong,
                    struct sw_regex **out, struct cel_value *error)
{
    SW_ERR(err);
    if (sw_regex_compile(pattern.s.p, pattern.s.len, out, &err) == 0)
        return true;
    *error = sw_cel_fail(x, "%s%s", wrong, sw_err_text(&err));
    return false;
}

static bool find(struct cel_run *x, const struct sw_regex *re, struct cel_value text, size_t from,
                 long *spans)
{
    const uint64_t left = x->limit - x->cost;
    const uint64_t before = left > UINT64_MAX / STEPS ? UINT64_MAX : left * STEPS;
    uint64_t work = before;
    const bool found = sw_regex_find_within(re, text.s.p, text.s.len, from, spans, &work);
    (void)sw_cel_charge(x, (before - work) / STEPS);
    return found;
}

static long *spans_of(struct cel_run *x, const struct sw_regex *re)
{
    return sw_arena_alloc(x->arena, sw_regex_n_groups(re) * 2 * sizeof(long));
}

static struct cel_value cut(struct cel_value text, const long *spans)
{
    return (struct cel_value){ .kind = CEL_STRING,
                               .s = { text.s.p + spans[0], (size_t)(spans[1] - spans[0]) } };
}

static struct cel_value matches(struct cel_run *x, const struct cel_value *args, int variant)
{
    SW_AUTO(sw_regex) *re = NULL;
    struct cel_value error;
    (void)variant;
    if (!compile(x, args[1], "", &re, &error))
        return error;
    return sw_cel_bool(find(x, re, args[0], 0, spans_of(x, re)));
}

static struct cel_value find_one(struct cel_run *x, const struct cel_value *args, int variant)
{
    SW_AUTO(sw_regex) *re = NULL;
    struct cel_value error;
    (void)variant;
    if (!compile(x, args[1], ILLEGAL, &re, &error))
        return error;
    long *spans = spans_of(x, re);
    return find(x, re, args[0], 0, spans) ? cut(args[0], spans) : sw_cel_static("");
}

/* findAll(pattern), findAll(pattern, at most): a match without a text right behind another does not
 * count, as in Go. */
static struct cel_value find_all(struct cel_run *x, const struct cel_value *args, int limited)
{
    SW_AUTO(sw_regex) *re = NULL;
    struct cel_value error, *items = NULL;
    size_t n = 0, cap = 0, from = 0;
    long last = -1;
    const int64_t most = limited && args[2].i >= 0 ? args[2].i : INT64_MAX;
    if (!compile(x, args[1], ILLEGAL, &re, &error))
        return error;
    long *spans = spans_of(x, re);
    while ((int64_t)n < most && from <= args[0].s.len && !x->cancelled &&
           find(x, re, args[0], from, spans)) {
        const bool empty = spans[0] == spans[1];
        if (!empty || spans[0] != last) {
            SW_ARENA_GROW(x->arena, items, n, cap);
            items[n++] = cut(args[0], spans);
        }
        last = spans[1];
        from = (size_t)spans[1] + empty;
    }
    return sw_cel_list(x, items, n);
}

const struct cel_function sw_cel_regexes[] = {
    { "matches", "s.s>b", matches, 0 },    { "matches", "ss>b", matches, 0 },
    { "find", "s.s>s", find_one, 0 },      { "findAll", "s.s>Ls", find_all, 0 },
    { "findAll", "s.si>Ls", find_all, 1 }, { 0 },
};
