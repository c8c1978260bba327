/* A check: problems, schemas in schemas, the table of keywords. */
#include "chart/recipe/schema/check.h"

#include <stdlib.h>
#include <string.h>

#include "data/text/percent.h"

enum {
    MAX_DEPTH = 400, /* schemas in each other: $ref to itself */
};

/* ---- problems -----------------------------------------------------------------------------------
 */

static const char *place(struct sw_arena *arena, const struct spot *spot)
{
    if (!spot || !spot->up)
        return "(root)";
    const char *up = spot->up->up ? place(arena, spot->up) : NULL;
    if (!spot->key)
        return sw_arena_printf(arena, "%s[%zu]", up ? up : "", spot->index);
    return sw_arena_printf(arena, "%s%s%.*s", up ? up : "", up ? "." : "", (int)spot->key_len,
                           spot->key);
}

bool sw_check_problem(struct check *c, const char *fmt, ...)
{
    if (c->quiet || c->n_problems++ >= SW_CHECK_MAX_PROBLEMS)
        return false;
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *what = sw_vprintf(fmt, ap);
    va_end(ap);
    sw_append(&c->problems, "\n- %s: %s", place(c->arena, c->spot), what);
    return false;
}

bool sw_check_give_up(struct check *c, const char *why)
{
    if (!c->gave_up)
        (void)sw_err_set(c->err, SW_INVALID, "%s: %s", place(c->arena, c->spot), why);
    c->gave_up = true;
    return false;
}

bool sw_check_enter(struct check *c, struct sw_value schema, struct sw_value v, struct spot spot)
{
    const struct spot *before = c->spot;
    spot.up = before;
    c->spot = &spot;
    bool ok = sw_check_fits(c, schema, v);
    c->spot = before;
    return ok;
}

bool sw_check_fits_quietly(struct check *c, struct sw_value schema, struct sw_value v)
{
    bool before = c->quiet;
    c->quiet = true;
    bool ok = sw_check_fits(c, schema, v);
    c->quiet = before;
    return ok;
}

/* ---- schemas in schemas -------------------------------------------------------------------------
 */

static bool check_all_of(struct check *c, struct sw_value want, struct sw_value v)
{
    bool ok = true;
    for (size_t i = 0; sw_value_is_list(want) && i < want.as.list->n && !c->gave_up; i++)
        ok &= sw_check_fits(c, want.as.list->items[i], v);
    return ok;
}

static size_t count_fits(struct check *c, struct sw_value want, struct sw_value v)
{
    size_t n = 0;
    for (size_t i = 0; i < want.as.list->n && !c->gave_up; i++)
        n += sw_check_fits_quietly(c, want.as.list->items[i], v);
    return n;
}

static bool check_any_of(struct check *c, struct sw_value want, struct sw_value v)
{
    return !sw_value_is_list(want) || count_fits(c, want, v) > 0 ||
           sw_check_problem(c, "fits none of the %zu forms allowed (anyOf)", want.as.list->n);
}

static bool check_one_of(struct check *c, struct sw_value want, struct sw_value v)
{
    size_t n = sw_value_is_list(want) ? count_fits(c, want, v) : 1;
    return n == 1 || sw_check_problem(c, "fits %zu of the %zu forms, expected exactly one (oneOf)",
                                      n, want.as.list->n);
}

static bool check_not(struct check *c, struct sw_value want, struct sw_value v)
{
    return !sw_check_fits_quietly(c, want, v) ||
           sw_check_problem(c, "fits a form that is forbidden (not)");
}

static bool check_if(struct check *c, struct sw_value want, struct sw_value v)
{
    const char *keyword = sw_check_fits_quietly(c, want, v) ? "then" : "else";
    const struct sw_value *schema = sw_map_find_cstr(c->owner, keyword);
    return !schema || sw_check_fits(c, *schema, v);
}

/* One step of a JSON pointer, ~0, ~1 and %XX decoded; at most @cap - 1 bytes. */
static size_t pointer_token(const char **at, const char *end, char *buf, size_t cap)
{
    size_t n = 0;
    while (*at < end && **at != '/' && n + 1 < cap) {
        if (**at == '~' && *at + 1 < end) {
            buf[n++] = (*at)[1] == '1' ? '/' : '~';
            *at += 2;
        } else if (**at == '%' && end - *at > 2 && sw_hex_digit((*at)[1]) >= 0 &&
                   sw_hex_digit((*at)[2]) >= 0) {
            buf[n++] = (char)(sw_hex_digit((*at)[1]) * 16 + sw_hex_digit((*at)[2]));
            *at += 3;
        } else {
            buf[n++] = *(*at)++;
        }
    }
    return n;
}

static bool is_text(const struct sw_value *v, const char *prefix, const char *text, size_t len)
{
    size_t n = strlen(prefix);
    return v && sw_value_is_string(*v) && v->len == n + len && memcmp(v->as.s, prefix, n) == 0 &&
           memcmp(v->as.s + n, text, len) == 0;
}

/* The schema with `"$anchor": "name"`, or draft-07's `"$id": "#name"`. */
static const struct sw_value *find_anchor(const struct sw_value *v, const char *name, size_t len,
                                          int depth)
{
    const struct sw_value *found = NULL;
    if (depth > MAX_DEPTH || !sw_stack_has_room())
        return NULL;
    for (size_t i = 0; sw_value_is_list(*v) && v->as.list && i < v->as.list->n && !found; i++)
        found = find_anchor(&v->as.list->items[i], name, len, depth + 1);
    if (!sw_value_is_map(*v))
        return found;
    if (is_text(sw_map_find_cstr(v->as.map, "$anchor"), "", name, len) ||
        is_text(sw_map_find_cstr(v->as.map, "$id"), "#", name, len))
        return v;
    const struct sw_entry *e = sw_map_sorted(v->as.map);
    for (size_t i = 0; i < sw_map_count(v->as.map) && !found; i++)
        found = find_anchor(&e[i].value, name, len, depth + 1);
    return found;
}

/* The schema that a $ref names; NULL: it is not in this document. */
static const struct sw_value *resolve(const struct sw_schema *schema, struct sw_value ref)
{
    const char *end = ref.as.s + ref.len, *at = memchr(ref.as.s, '#', ref.len);
    size_t base_len = at ? (size_t)(at - ref.as.s) : ref.len;
    const struct sw_value *id = sw_value_is_map(schema->root)
                                    ? sw_map_find_cstr(schema->root.as.map, "$id")
                                    : NULL;
    if (base_len && !is_text(id, "", ref.as.s, base_len))
        return NULL;
    at = at ? at + 1 : end;
    if (at < end && *at != '/')
        return find_anchor(&schema->root, at, (size_t)(end - at), 0);
    const struct sw_value *v = &schema->root;
    while (v && at < end) {
        char token[512];
        if (*at++ != '/')
            return NULL;
        size_t len = pointer_token(&at, end, token, sizeof token);
        token[len] = '\0';
        char *stop;
        if (sw_value_is_map(*v)) {
            v = sw_map_find(v->as.map, token, len);
        } else if (sw_value_is_list(*v)) {
            size_t i = strtoul(token, &stop, 10);
            v = len && !*stop && i < v->as.list->n ? &v->as.list->items[i] : NULL;
        } else {
            v = NULL;
        }
    }
    return v;
}

static bool check_ref(struct check *c, struct sw_value want, struct sw_value v)
{
    if (!sw_value_is_string(want))
        return true;
    const struct sw_value *schema = resolve(c->schema, want);
    bool elsewhere = memmem(want.as.s, want.len, "://", 3) != NULL;
    if (!schema)
        return sw_check_give_up(
            c, sw_arena_printf(c->arena, "$ref '%.*s' %s", (int)want.len, want.as.s,
                               elsewhere ? "is on another host, which is not asked; put what it "
                                           "names into the schema"
                                         : "leads nowhere in the schema"));
    return sw_check_fits(c, *schema, v);
}

/* ---- the keywords -------------------------------------------------------------------------------
 */

static const struct keyword {
    const char *name;
    bool (*check)(struct check *c, struct sw_value want, struct sw_value v);
} keywords[] = {
    { "additionalProperties", sw_check_additional },
    { "allOf", check_all_of },
    { "anyOf", check_any_of },
    { "const", sw_check_const },
    { "contains", sw_check_contains },
    { "dependencies", sw_check_dependencies },
    { "dependentRequired", sw_check_dependencies },
    { "dependentSchemas", sw_check_dependencies },
    { "enum", sw_check_enum },
    { "exclusiveMaximum", sw_check_below },
    { "exclusiveMinimum", sw_check_above },
    { "format", sw_check_format },
    { "if", check_if },
    { "items", sw_check_items },
    { "maxItems", sw_check_max_items },
    { "maxLength", sw_check_max_length },
    { "maxProperties", sw_check_max_properties },
    { "maximum", sw_check_maximum },
    { "minItems", sw_check_min_items },
    { "minLength", sw_check_min_length },
    { "minProperties", sw_check_min_properties },
    { "minimum", sw_check_minimum },
    { "multipleOf", sw_check_multiple },
    { "not", check_not },
    { "oneOf", check_one_of },
    { "pattern", sw_check_pattern },
    { "patternProperties", sw_check_pattern_properties },
    { "prefixItems", sw_check_prefix_items },
    { "properties", sw_check_properties },
    { "propertyNames", sw_check_property_names },
    { "required", sw_check_required },
    { "type", sw_check_type },
    { "uniqueItems", sw_check_unique },
};

static int by_name(const void *key, const void *row)
{
    const struct sw_entry *e = key;
    const char *name = ((const struct keyword *)row)->name;
    size_t len = strlen(name); /* a key may hold NULs: only its length ends it */
    int c = memcmp(e->key, name, e->key_len < len ? e->key_len : len);
    return c ? c : (e->key_len > len) - (e->key_len < len);
}

static bool check_keywords(struct check *c, struct sw_value schema, struct sw_value v)
{
    const struct sw_value *ref = sw_map_find_cstr(schema.as.map, "$ref");
    if (ref) /* up to draft 7 nothing beside it counts; later drafts are rare beside it */
        return check_ref(c, *ref, v);
    const struct sw_map *before = c->owner;
    const struct sw_entry *all = sw_map_sorted(schema.as.map);
    bool ok = true;
    for (size_t i = 0; i < sw_map_count(schema.as.map) && !c->gave_up; i++) {
        const struct keyword *k = bsearch(&all[i], keywords, SW_COUNT(keywords), sizeof *keywords,
                                          by_name);
        c->owner = schema.as.map;
        ok &= !k || k->check(c, all[i].value, v);
    }
    c->owner = before;
    return ok;
}

bool sw_check_fits(struct check *c, struct sw_value schema, struct sw_value v)
{
    if (schema.type == SW_T_BOOL)
        return schema.as.b || sw_check_problem(c, "nothing is allowed here");
    if (!sw_value_is_map(schema))
        return sw_check_give_up(c, "the schema is neither a map nor a bool");
    bool deep = c->depth >= MAX_DEPTH || !sw_stack_has_room();
    if (c->steps++ > SW_CHECK_MAX_STEPS || deep)
        return sw_check_give_up(c, deep ? "the schema's $ref go in circles, or too deep"
                                        : "the check takes too long");
    c->depth++;
    bool ok = check_keywords(c, schema, v);
    c->depth--;
    return ok && !c->gave_up;
}
