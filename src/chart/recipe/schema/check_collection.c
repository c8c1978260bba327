/* Keywords about what is in lists and maps. */
#include "chart/recipe/schema/check.h"

/* ---- lists --------------------------------------------------------------------------------------
 */

static bool enter_item(struct check *c, struct sw_value schema, struct sw_value v, size_t i)
{
    return sw_check_enter(c, schema, v.as.list->items[i], (struct spot){ .index = i });
}

/* @want: one schema for all from item @from on. */
static bool check_rest(struct check *c, struct sw_value want, struct sw_value v, size_t from)
{
    bool ok = true;
    if (want.type == SW_T_BOOL && !want.as.b && v.as.list->n > from)
        return sw_check_problem(c, "%zu items, expected at most %zu", v.as.list->n, from);
    for (size_t i = from; i < v.as.list->n && !c->gave_up; i++)
        ok &= enter_item(c, want, v, i);
    return ok;
}

/* A schema an item (items of draft 4 to 7, prefixItems since). */
static bool check_tuple(struct check *c, struct sw_value want, struct sw_value v,
                        const char *rest_keyword)
{
    bool ok = true;
    size_t n = want.as.list->n;
    for (size_t i = 0; i < n && i < v.as.list->n && !c->gave_up; i++)
        ok &= enter_item(c, want.as.list->items[i], v, i);
    const struct sw_value *rest = sw_map_find_cstr(c->owner, rest_keyword);
    return rest ? check_rest(c, *rest, v, n) && ok : ok;
}

bool sw_check_items(struct check *c, struct sw_value want, struct sw_value v)
{
    if (!sw_value_is_list(v) || sw_map_find_cstr(c->owner, "prefixItems"))
        return true; /* sw_check_prefix_items() checks items too */
    return sw_value_is_list(want) ? check_tuple(c, want, v, "additionalItems")
                                  : check_rest(c, want, v, 0);
}

bool sw_check_prefix_items(struct check *c, struct sw_value want, struct sw_value v)
{
    return !sw_value_is_list(v) || !sw_value_is_list(want) || check_tuple(c, want, v, "items");
}

bool sw_check_contains(struct check *c, struct sw_value want, struct sw_value v)
{
    if (!sw_value_is_list(v))
        return true;
    for (size_t i = 0; i < v.as.list->n; i++)
        if (sw_check_fits_quietly(c, want, v.as.list->items[i]))
            return true;
    return sw_check_problem(c, "no item fits 'contains'");
}

bool sw_check_unique(struct check *c, struct sw_value want, struct sw_value v)
{
    if (!sw_value_is_list(v) || want.type != SW_T_BOOL || !want.as.b)
        return true;
    for (size_t i = 0; i < v.as.list->n; i++)
        for (size_t j = i + 1; j < v.as.list->n; j++) {
            if (c->steps++ > SW_CHECK_MAX_STEPS)
                return sw_check_give_up(c, "the check takes too long");
            if (sw_check_same(v.as.list->items[i], v.as.list->items[j]))
                return sw_check_problem(c, "items %zu and %zu are the same", i, j);
        }
    return true;
}

bool sw_check_min_items(struct check *c, struct sw_value want, struct sw_value v)
{
    return !sw_value_is_list(v) || sw_check_at_least(c, want, v.as.list->n, "items");
}

bool sw_check_max_items(struct check *c, struct sw_value want, struct sw_value v)
{
    return !sw_value_is_list(v) || sw_check_at_most(c, want, v.as.list->n, "items");
}

/* ---- maps ---------------------------------------------------------------------------------------
 */

bool sw_check_properties(struct check *c, struct sw_value want, struct sw_value v)
{
    bool ok = true;
    if (!sw_value_is_map(v) || !sw_value_is_map(want))
        return true;
    const struct sw_entry *all = sw_map_sorted(v.as.map);
    for (size_t i = 0; i < sw_map_count(v.as.map) && !c->gave_up; i++) {
        const struct sw_value *schema = sw_map_find(want.as.map, all[i].key, all[i].key_len);
        if (schema)
            ok &= sw_check_enter(c, *schema, all[i].value,
                                 (struct spot){ .key = all[i].key, .key_len = all[i].key_len });
    }
    return ok;
}

bool sw_check_pattern_properties(struct check *c, struct sw_value want, struct sw_value v)
{
    bool ok = true;
    if (!sw_value_is_map(v) || !sw_value_is_map(want))
        return true;
    const struct sw_entry *patterns = sw_map_sorted(want.as.map);
    const struct sw_entry *all = sw_map_sorted(v.as.map);
    for (size_t p = 0; p < sw_map_count(want.as.map); p++)
        for (size_t i = 0; i < sw_map_count(v.as.map) && !c->gave_up; i++) {
            struct sw_value pattern = sw_value_text(patterns[p].key, patterns[p].key_len);
            if (sw_check_matches(c, pattern, all[i].key, all[i].key_len))
                ok &= sw_check_enter(c, patterns[p].value, all[i].value,
                                     (struct spot){ .key = all[i].key, .key_len = all[i].key_len });
        }
    return ok;
}

/* Whether properties or patternProperties speak of the key. */
static bool is_declared(struct check *c, const struct sw_entry *e)
{
    const struct sw_value *properties = sw_map_find_cstr(c->owner, "properties");
    if (properties && sw_value_is_map(*properties) &&
        sw_map_find(properties->as.map, e->key, e->key_len))
        return true;
    const struct sw_value *patterns = sw_map_find_cstr(c->owner, "patternProperties");
    if (!patterns || !sw_value_is_map(*patterns))
        return false;
    const struct sw_entry *all = sw_map_sorted(patterns->as.map);
    for (size_t i = 0; i < sw_map_count(patterns->as.map); i++)
        if (sw_check_matches(c, sw_value_text(all[i].key, all[i].key_len), e->key, e->key_len))
            return true;
    return false;
}

bool sw_check_additional(struct check *c, struct sw_value want, struct sw_value v)
{
    bool ok = true;
    if (!sw_value_is_map(v) || (want.type == SW_T_BOOL && want.as.b))
        return true;
    const struct sw_entry *all = sw_map_sorted(v.as.map);
    for (size_t i = 0; i < sw_map_count(v.as.map) && !c->gave_up; i++) {
        if (is_declared(c, &all[i]))
            continue;
        if (want.type == SW_T_BOOL)
            ok = sw_check_problem(c, "'%.*s' is not known here", (int)all[i].key_len, all[i].key);
        else
            ok &= sw_check_enter(c, want, all[i].value,
                                 (struct spot){ .key = all[i].key, .key_len = all[i].key_len });
    }
    return ok;
}

bool sw_check_required(struct check *c, struct sw_value want, struct sw_value v)
{
    bool ok = true;
    if (!sw_value_is_map(v) || !sw_value_is_list(want))
        return true;
    for (size_t i = 0; i < want.as.list->n; i++) {
        struct sw_value name = want.as.list->items[i];
        if (sw_value_is_string(name) && !sw_map_find(v.as.map, name.as.s, name.len))
            ok = sw_check_problem(c, "'%.*s' is missing", (int)name.len, name.as.s);
    }
    return ok;
}

bool sw_check_property_names(struct check *c, struct sw_value want, struct sw_value v)
{
    bool ok = true;
    if (!sw_value_is_map(v))
        return true;
    const struct sw_entry *all = sw_map_sorted(v.as.map);
    for (size_t i = 0; i < sw_map_count(v.as.map) && !c->gave_up; i++)
        if (!sw_check_fits_quietly(c, want, sw_value_text(all[i].key, all[i].key_len)))
            ok = sw_check_problem(c, "'%.*s' is not allowed as a name", (int)all[i].key_len,
                                  all[i].key);
    return ok;
}

bool sw_check_dependencies(struct check *c, struct sw_value want, struct sw_value v)
{
    bool ok = true;
    if (!sw_value_is_map(v) || !sw_value_is_map(want))
        return true;
    const struct sw_entry *all = sw_map_sorted(want.as.map);
    for (size_t i = 0; i < sw_map_count(want.as.map) && !c->gave_up; i++) {
        if (!sw_map_find(v.as.map, all[i].key, all[i].key_len))
            continue;
        ok &= sw_value_is_list(all[i].value) ? sw_check_required(c, all[i].value, v)
                                             : sw_check_fits(c, all[i].value, v);
    }
    return ok;
}

bool sw_check_min_properties(struct check *c, struct sw_value want, struct sw_value v)
{
    return !sw_value_is_map(v) || sw_check_at_least(c, want, sw_map_count(v.as.map), "keys");
}

bool sw_check_max_properties(struct check *c, struct sw_value want, struct sw_value v)
{
    return !sw_value_is_map(v) || sw_check_at_most(c, want, sw_map_count(v.as.map), "keys");
}
