/* sprig's functions on maps. */
#include "chart/template/funcs/cast.h"
#include "chart/template/funcs/funcs.h"
#include "chart/template/lang/exec.h"

static int fn_dict(struct call *c)
{
    struct sw_map *map = sw_map_new(c->arena);
    for (size_t i = 0; i < c->n; i += 2) {
        struct sw_value key = sw_cast_string(c, c->args[i]);
        sw_map_set_borrowed(map, key.as.s, key.len,
                            i + 1 < c->n ? c->args[i + 1] : sw_value_text("", 0));
    }
    return sw_return(c, sw_value_map(map));
}

static struct sw_value *find(struct call *c, size_t map, size_t key)
{
    return sw_map_find(c->args[map].as.map, c->args[key].as.s, c->args[key].len);
}

static int fn_get(struct call *c)
{
    const struct sw_value *v = find(c, 0, 1);
    return sw_return(c, v ? *v : sw_value_text("", 0));
}

static int fn_set(struct call *c)
{
    struct sw_map *map = c->args[0].as.map;
    if (!map)
        return sw_call_fail(c, "assignment to entry in nil map");
    sw_map_set(map, c->args[1].as.s, c->args[1].len, c->args[2]);
    return sw_return(c, sw_value_map(map));
}

static int fn_unset(struct call *c)
{
    int rc = sw_call_charge(c, sw_map_count(c->args[0].as.map) / 16);
    if (rc < 0)
        return rc;
    if (c->args[0].as.map)
        sw_map_remove(c->args[0].as.map, c->args[1].as.s, c->args[1].len);
    return sw_return(c, sw_value_map(c->args[0].as.map));
}

static int fn_has_key(struct call *c)
{
    return sw_return(c, sw_value_bool(find(c, 0, 1) != NULL));
}

static int fn_pluck(struct call *c)
{
    struct sw_list *list = sw_list_new(c->arena, c->n);
    for (size_t i = 1; i < c->n; i++) {
        const struct sw_value *v = find(c, i, 0);
        if (v)
            sw_list_add(list, *v);
    }
    return sw_return(c, sw_value_list(list));
}

/* In the order of the keys; Go's is random. */
static int fn_keys(struct call *c)
{
    struct sw_list *list = sw_list_new(c->arena, 0);
    for (size_t i = 0; i < c->n; i++) {
        const struct sw_entry *e = sw_map_sorted(c->args[i].as.map);
        for (size_t k = 0; k < sw_map_count(c->args[i].as.map); k++)
            sw_list_add(list, sw_value_text(e[k].key, e[k].key_len));
    }
    return sw_return(c, sw_value_typed_list(SW_T_STRINGS, list));
}

static int fn_values(struct call *c)
{
    struct sw_map *map = c->args[0].as.map;
    struct sw_list *list = sw_list_new(c->arena, sw_map_count(map));
    const struct sw_entry *e = sw_map_sorted(map);
    for (size_t i = 0; i < sw_map_count(map); i++)
        sw_list_add(list, e[i].value);
    return sw_return(c, sw_value_list(list));
}

static int fn_pick(struct call *c)
{
    struct sw_map *map = sw_map_new(c->arena);
    for (size_t i = 1; i < c->n; i++) {
        const struct sw_value *v = find(c, 0, i);
        if (v)
            sw_map_set_borrowed(map, c->args[i].as.s, c->args[i].len, *v);
    }
    return sw_return(c, sw_value_map(map));
}

static int fn_omit(struct call *c)
{
    struct sw_map *map = sw_map_copy(c->arena, c->args[0].as.map);
    int rc = sw_call_charge(c, c->n * sw_map_count(map) / 16);
    if (rc < 0)
        return rc;
    for (size_t i = 1; i < c->n; i++)
        sw_map_remove(map, c->args[i].as.s, c->args[i].len);
    return sw_return(c, sw_value_map(map));
}

/* ---- merging, as mergo 1.0 does it ---- */

enum { KEEP, OVERWRITE };

/* A value of the destination is kept, unless it is empty or to be overwritten; two maps are merged.
 */
static int merge_maps(struct call *c, struct sw_map *dst, struct sw_map *src, int depth)
{
    enum { DEEPEST = 1000 };
    bool overwrite = c->func->variant == OVERWRITE;
    if (dst == src)
        return 0;
    if (depth > DEEPEST || !sw_stack_has_room())
        return sw_call_fail(c, "maps are nested too deeply");
    const struct sw_entry *e = sw_map_sorted(src);
    for (const struct sw_entry *end = e + sw_map_count(src); e < end; e++) {
        struct sw_value v = e->value, *old = sw_map_find_hashed(dst, e->key, e->key_len, e->hash);
        bool keep = !overwrite && (sw_value_is_nil(v) || (old && !sw_value_is_empty(*old)));
        int rc = sw_call_charge(c, 1);
        if (rc == 0 && old && sw_value_is_map(v) && sw_value_is_map(*old) && old->as.map)
            rc = merge_maps(c, old->as.map, v.as.map, depth + 1);
        else if (rc == 0 && !keep)
            sw_map_set(dst, e->key, e->key_len, v);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int fn_merge(struct call *c)
{
    struct sw_map *dst = c->args[0].as.map;
    for (size_t i = 1; i < c->n; i++) {
        if (!c->args[i].as.map)
            continue;
        if (!dst) /* stays nil where there is nothing to add */
            dst = sw_map_new(c->arena);
        int rc = merge_maps(c, dst, c->args[i].as.map, 0);
        if (rc < 0)
            return rc;
    }
    return sw_return(c, sw_value_map(dst));
}

/* ---- digging, copying ---- */

static int bad_conversion(struct call *c, struct sw_value v, const char *wanted)
{
    return sw_call_fail(c, "interface conversion: interface {} is %s, not %s",
                        sw_value_is_nil(v) ? "nil" : sw_value_type_name(v), wanted);
}

/* dig KEY... DEFAULT MAP */
static int fn_dig(struct call *c)
{
    if (c->n < 3)
        return sw_call_fail(c, "dig needs at least three arguments");
    struct sw_value at = c->args[c->n - 1], dflt = c->args[c->n - 2];
    size_t n_keys = c->n - 2;
    for (size_t i = 0; i < n_keys && at.type == SW_T_MAP; i++) {
        if (c->args[i].type != SW_T_STRING)
            return bad_conversion(c, c->args[i], "string");
    }
    for (size_t i = 0; i < n_keys; i++) {
        if (at.type != SW_T_MAP)
            return bad_conversion(c, at, "map[string]interface {}");
        const struct sw_value *v = sw_map_find(at.as.map, c->args[i].as.s, c->args[i].len);
        if (!v)
            return sw_return(c, dflt);
        at = *v;
    }
    return sw_return(c, at);
}

static int fn_deep_copy(struct call *c)
{
    struct sw_value v = c->args[0];
    if (sw_value_is_nil(v)) /* the error of Go, where a nil has no type to copy */
        return sw_call_fail(c, "reflect: call of reflect.Value.Type on zero Value");
    if (!sw_value_copy_steps(c->arena, &v, false, &c->x->fuel))
        return sw_call_fail(c, "deepCopy error: nested too deeply or too large");
    return sw_return(c, v);
}

const struct func sw_funcs_dicts[] = {
    { "dict", fn_dict, "v*", "a map of keys and values in turn", 0, 0 },
    { "get", fn_get, "ms", "the value under a key, or \"\"", 0, 0 },
    { "set", fn_set, "msv", "change the map: put a value under a key", 0, 0 },
    { "unset", fn_unset, "ms", "change the map: remove a key", 0, 0 },
    { "hasKey", fn_has_key, "ms", "whether the key is there", 0, 0 },
    { "pluck", fn_pluck, "sm*", "the values under a key in several maps", 0, 0 },
    { "keys", fn_keys, "m*", "the keys", 0, 0 },
    { "values", fn_values, "m", "the values", 0, 0 },
    { "pick", fn_pick, "ms*", "a map of the given keys only", 0, 0 },
    { "omit", fn_omit, "ms*", "a map without the given keys", 0, 0 },
    { "merge", fn_merge, "mm*", "change the first map: add what it lacks of the others", KEEP, 0 },
    { "mustMerge", fn_merge, "mm*", "as merge", KEEP, 0 },
    { "mergeOverwrite", fn_merge, "mm*", "change the first map: the others win", OVERWRITE, 0 },
    { "mustMergeOverwrite", fn_merge, "mm*", "as mergeOverwrite", OVERWRITE, 0 },
    { "dig", fn_dig, "v*", "the value under a path of keys, or a default", 0, 0 },
    { "deepCopy", fn_deep_copy, "v", "a copy that shares nothing", 0, 0 },
    { "mustDeepCopy", fn_deep_copy, "v", "as deepCopy", 0, 0 },
    { 0 },
};
