#include "data/cel/value.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "data/cel/cel.h"
#include "data/cel/functions.h"
#include "data/cel/marks.h"
#include "data/data.h"
#include "data/text/base64.h"

/* ---- making values ------------------------------------------------------------------------------
 */

struct cel_value sw_cel_fail(struct cel_run *x, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *text = sw_vprintf(fmt, ap);
    va_end(ap);
    const char *kept = sw_arena_strdup(x->arena, text);
    return (struct cel_value){ .kind = CEL_ERROR, .s = { kept, strlen(kept) } };
}

struct cel_value sw_cel_no_overload(struct cel_run *x)
{
    return sw_cel_fail(x, "no such overload");
}

struct cel_value sw_cel_over(struct cel_run *x)
{
    x->cancelled = true;
    return sw_cel_fail(x, "operation cancelled: actual cost limit exceeded");
}

bool sw_cel_charge(struct cel_run *x, uint64_t cost)
{
    x->cost = cost > UINT64_MAX - x->cost ? UINT64_MAX : x->cost + cost;
    if (x->cost > x->limit || sw_arena_is_over(x->arena))
        x->cancelled = true;
    return !x->cancelled;
}

struct cel_value sw_cel_text(struct cel_run *x, const char *text, size_t len)
{
    if (!sw_cel_charge(x, len / 10) || !sw_arena_has_room(x->arena, len + 1))
        return sw_cel_over(x);
    return (struct cel_value){ .kind = CEL_STRING,
                               .s = { sw_arena_strndup(x->arena, text, len), len } };
}

struct cel_value sw_cel_list(struct cel_run *x, const struct cel_value *items, size_t n)
{
    struct cel_list *list = sw_arena_alloc(x->arena, sizeof *list);
    *list = (struct cel_list){ .n = n, .items = items };
    return (struct cel_value){ .kind = CEL_LIST, .list = list };
}

struct cel_value sw_cel_map(struct cel_run *x, const struct cel_value *entries, size_t n)
{
    struct cel_map *map = sw_arena_alloc(x->arena, sizeof *map);
    *map = (struct cel_map){ .n = n, .entries = entries };
    return (struct cel_value){ .kind = CEL_MAP, .map = map };
}

struct cel_value sw_cel_optional(struct cel_run *x, const struct cel_value *some)
{
    struct cel_value *kept = NULL;
    if (some) {
        kept = sw_arena_alloc(x->arena, sizeof *kept);
        *kept = *some;
    }
    return (struct cel_value){ .kind = CEL_OPTIONAL, .some = kept };
}

const char *sw_cel_chars(struct cel_run *x, struct cel_value text)
{
    return sw_arena_strndup(x->arena, text.s.p, text.s.len);
}

/* ---- schemas ------------------------------------------------------------------------------------
 */

void sw_cel_unescape(const char *name, char *out, size_t room)
{
    static const struct {
        const char *escape, *text;
    } rows[] = {
        { "__underscores__", "__" },
        { "__dot__", "." },
        { "__dash__", "-" },
        { "__slash__", "/" },
    };
    static const char *const reserved[] = {
        "true",     "false",   "null",      "in",       "as",  "break",  "const",
        "continue", "else",    "for",       "function", "if",  "import", "let",
        "loop",     "package", "namespace", "return",   "var", "void",   "while",
    };
    for (size_t i = 0; i < SW_COUNT(reserved); i++) {
        SW_AUTO_CHARS *escaped = sw_printf("__%s__", reserved[i]);
        if (sw_streq(escaped, name)) {
            (void)snprintf(out, room, "%s", reserved[i]);
            return;
        }
    }
    size_t len = 0;
    while (*name && len + 3 < room) {
        size_t k = 0;
        while (k < SW_COUNT(rows) && !sw_starts_with(name, rows[k].escape))
            k++;
        if (k == SW_COUNT(rows)) {
            out[len++] = *name++;
            continue;
        }
        memcpy(out + len, rows[k].text, strlen(rows[k].text));
        len += strlen(rows[k].text);
        name += strlen(rows[k].escape);
    }
    out[len] = '\0';
}

enum cel_kind sw_cel_format_kind(json_object *schema)
{
    static const struct {
        const char *format;
        enum cel_kind kind;
    } rows[] = {
        { "byte", CEL_BYTES },        { "date", CEL_TIMESTAMP },    { "date-time", CEL_TIMESTAMP },
        { "duration", CEL_DURATION }, { "quantity", CEL_QUANTITY },
    };
    const char *format = sw_json_str(schema, "", "format", NULL);
    for (size_t i = 0; i < SW_COUNT(rows); i++)
        if (sw_streq(rows[i].format, format))
            return rows[i].kind;
    return CEL_STRING;
}

/* ---- documents ----------------------------------------------------------------------------------
 */

static struct cel_value from_text(struct cel_run *x, json_object *json, json_object *schema)
{
    const char *p = json_object_get_string(json);
    struct cel_value text = { .kind = CEL_STRING,
                              .s = { p, (size_t)json_object_get_string_len(json) } };
    if (sw_cel_mark(json) == SW_CEL_QUANTITY)
        return sw_cel_to_quantity(x, &text, 0);
    if (sw_cel_mark(json) == SW_CEL_SEMVER)
        return sw_cel_to_semver(x, &text, 0);
    struct cel_value v = text;
    switch (schema ? sw_cel_format_kind(schema) : CEL_STRING) {
    case CEL_BYTES: {
        size_t len = 0;
        SW_AUTO_CHARS *bytes = sw_base64_decode(p, text.s.len, &len);
        if (!bytes)
            return sw_cel_fail(x, "byte format must be base64");
        v = sw_cel_text(x, bytes, len);
        v.kind = v.kind == CEL_ERROR ? CEL_ERROR : CEL_BYTES;
        return v;
    }
    case CEL_TIMESTAMP:
        if (sw_streq(sw_json_str(schema, "", "format", NULL), "date")) {
            const char *full = sw_arena_printf(x->arena, "%sT00:00:00Z", p);
            v = sw_cel_static(full);
        }
        return sw_cel_to_timestamp(x, &v, 0);
    case CEL_DURATION:
        return sw_cel_to_duration(x, &v, 0);
    case CEL_QUANTITY:
        return sw_cel_to_quantity(x, &v, 0);
    default:
        return v;
    }
}

static struct cel_value from_number(json_object *json, json_object *schema)
{
    const char *type = schema ? sw_json_str(schema, "", "type", NULL) : "";
    if (json_object_is_type(json, json_type_double) || sw_streq(type, "number")) {
        const double d = json_object_get_double(json);
        if (sw_streq(type, "integer"))
            return sw_cel_int((int64_t)d);
        return (struct cel_value){ .kind = CEL_DOUBLE, .d = d };
    }
    return sw_cel_int(json_object_get_int64(json));
}

struct cel_value sw_cel_from_json(struct cel_run *x, json_object *json, json_object *schema)
{
    struct cel_value v = { .kind = CEL_NULL };
    switch (json_object_get_type(json)) {
    case json_type_null:
        break;
    case json_type_boolean:
        return sw_cel_bool(json_object_get_boolean(json));
    case json_type_int:
    case json_type_double:
        return from_number(json, schema);
    case json_type_string:
        return from_text(x, json, schema);
    case json_type_array: {
        struct cel_list *list = sw_arena_alloc(x->arena, sizeof *list);
        *list = (struct cel_list){ .n = sw_json_len(json), .json = json, .schema = schema };
        v = (struct cel_value){ .kind = CEL_LIST, .list = list };
        break;
    }
    case json_type_object: {
        struct cel_map *map = sw_arena_alloc(x->arena, sizeof *map);
        *map = (struct cel_map){ .n = (size_t)json_object_object_length(json),
                                 .json = json,
                                 .schema = schema };
        v = (struct cel_value){ .kind = CEL_MAP, .map = map };
        break;
    }
    }
    return v;
}

struct cel_value sw_cel_at(struct cel_run *x, const struct cel_list *list, size_t i)
{
    if (!list->json)
        return list->items[i];
    return sw_cel_from_json(x, sw_json_at(list->json, i), sw_json_get(list->schema, "items"));
}

/* The schema of a property. */
static json_object *schema_of(const struct cel_map *map, const char *key)
{
    json_object *own = sw_json_find(map->schema, "properties", key, NULL);
    json_object *others = own ? own : sw_json_get(map->schema, "additionalProperties");
    return json_object_is_type(others, json_type_object) ? others : NULL;
}

/* A null where null is not allowed counts as missing. */
static bool find_json(struct cel_run *x, const struct cel_map *map, const char *key,
                      struct cel_value *out)
{
    json_object *found = NULL;
    char name[256];
    if (json_object_is_type(sw_json_get(map->schema, "properties"), json_type_object) &&
        strstr(key, "__")) {
        sw_cel_unescape(key, name, sizeof name);
        key = name;
    }
    if (!json_object_object_get_ex(map->json, key, &found)) {
        if (sw_cel_mark(map->json) != SW_CEL_OPEN_MAP)
            return false;
        *out = sw_cel_map(x, NULL, 0);
        return true;
    }
    *out = sw_cel_from_json(x, found, schema_of(map, key));
    return true;
}

bool sw_cel_find(struct cel_run *x, const struct cel_map *map, struct cel_value key,
                 struct cel_value *out)
{
    if (map->json)
        return key.kind == CEL_STRING && !memchr(key.s.p, '\0', key.s.len) &&
               find_json(x, map, sw_cel_chars(x, key), out);
    (void)sw_cel_charge(x, map->n / 16);
    for (size_t i = 0; i < map->n; i++)
        if (sw_cel_equal(x, map->entries[2 * i], key)) {
            *out = map->entries[2 * i + 1];
            return true;
        }
    return false;
}

const struct cel_value *sw_cel_entries(struct cel_run *x, const struct cel_map *map)
{
    if (!map->json)
        return map->entries;
    struct cel_value *entries = sw_arena_alloc(x->arena, (2 * map->n + 1) * sizeof *entries);
    size_t i = 0;
    json_object_object_foreach(map->json, key, value)
    {
        entries[i++] = sw_cel_static(key);
        entries[i++] = sw_cel_from_json(x, value, schema_of(map, key));
    }
    return entries;
}

/* ---- as documents -------------------------------------------------------------------------------
 */

static bool list_to_json(struct cel_run *x, const struct cel_list *list, json_object **out)
{
    SW_AUTO_JSON *array = json_object_new_array();
    for (size_t i = 0; i < list->n; i++) {
        json_object *item = NULL;
        if (!sw_cel_to_json(x, sw_cel_at(x, list, i), &item))
            return false;
        json_object_array_add(array, item);
    }
    *out = SW_TAKE(array);
    return true;
}

static bool map_to_json(struct cel_run *x, const struct cel_map *map, json_object **out)
{
    SW_AUTO_JSON *object = json_object_new_object();
    const struct cel_value *entries = sw_cel_entries(x, map);
    for (size_t i = 0; i < map->n; i++) {
        json_object *item = NULL;
        if (entries[2 * i].kind != CEL_STRING || !sw_cel_to_json(x, entries[2 * i + 1], &item))
            return false;
        json_object_object_add(object, sw_cel_chars(x, entries[2 * i]), item);
    }
    *out = SW_TAKE(object);
    return true;
}

bool sw_cel_to_json(struct cel_run *x, struct cel_value v, json_object **out)
{
    if (!sw_cel_charge(x, 1))
        return false;
    switch (v.kind) {
    case CEL_NULL:
        *out = NULL;
        return true;
    case CEL_BOOL:
        *out = json_object_new_boolean(v.b);
        return true;
    case CEL_INT:
        *out = json_object_new_int64(v.i);
        return true;
    case CEL_UINT:
        *out = json_object_new_uint64(v.u);
        return true;
    case CEL_DOUBLE:
        *out = json_object_new_double(v.d);
        return true;
    case CEL_LIST:
        return list_to_json(x, v.list, out);
    case CEL_MAP:
        return map_to_json(x, v.map, out);
    case CEL_MESSAGE:
        return sw_cel_message_json(x, v.message, out);
    default:
        v = sw_cel_to_string(x, &v, 0);
        if (v.kind != CEL_STRING)
            return false;
        *out = json_object_new_string_len(v.s.p, (int)v.s.len);
        return true;
    }
}

/* ---- comparisons --------------------------------------------------------------------------------
 */

static bool is_number(enum cel_kind kind)
{
    return kind == CEL_INT || kind == CEL_UINT || kind == CEL_DOUBLE;
}

/* A double and an integer, exactly. */
static int compare_double(double d, struct cel_value n)
{
    if (n.kind == CEL_INT) {
        if (d >= 9223372036854775808.0 || d < -9223372036854775808.0)
            return d > 0 ? 1 : -1;
        const int64_t whole = (int64_t)d;
        if (whole != n.i)
            return whole < n.i ? -1 : 1;
        return d > (double)whole ? 1 : d < (double)whole ? -1 : 0;
    }
    if (d < 0 || d >= 18446744073709551616.0)
        return d < 0 ? -1 : 1;
    const uint64_t whole = (uint64_t)d;
    if (whole != n.u)
        return whole < n.u ? -1 : 1;
    return d > (double)whole ? 1 : 0;
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static bool compare_numbers(struct cel_value a, struct cel_value b, int *order)
{
    if ((a.kind == CEL_DOUBLE && isnan(a.d)) || (b.kind == CEL_DOUBLE && isnan(b.d)))
        return false;
    if (a.kind == CEL_DOUBLE && b.kind == CEL_DOUBLE)
        *order = ORDER(a.d, b.d);
    else if (a.kind == CEL_DOUBLE)
        *order = compare_double(a.d, b);
    else if (b.kind == CEL_DOUBLE)
        *order = -compare_double(b.d, a);
    else if (a.kind == CEL_INT && b.kind == CEL_INT)
        *order = ORDER(a.i, b.i);
    else if (a.kind == CEL_UINT && b.kind == CEL_UINT)
        *order = ORDER(a.u, b.u);
    else if (a.kind == CEL_INT)
        *order = a.i < 0 ? -1 : ORDER((uint64_t)a.i, b.u);
    else
        *order = b.i < 0 ? 1 : ORDER(a.u, (uint64_t)b.i);
    return true;
}

static int compare_texts(struct cel_value a, struct cel_value b)
{
    const size_t least = a.s.len < b.s.len ? a.s.len : b.s.len;
    const int order = least ? memcmp(a.s.p, b.s.p, least) : 0;
    return order ? order : ORDER(a.s.len, b.s.len);
}

bool sw_cel_compare(struct cel_value a, struct cel_value b, int *order)
{
    if (is_number(a.kind) && is_number(b.kind))
        return compare_numbers(a, b, order);
    if (a.kind != b.kind)
        return false;
    switch (a.kind) {
    case CEL_BOOL:
        *order = a.b - b.b;
        return true;
    case CEL_STRING:
    case CEL_BYTES:
        *order = compare_texts(a, b);
        return true;
    case CEL_TIMESTAMP:
        *order = a.i != b.i ? ORDER(a.i, b.i) : ORDER(a.nsec, b.nsec);
        return true;
    case CEL_DURATION:
        *order = ORDER(a.i, b.i);
        return true;
    case CEL_QUANTITY:
        *order = sw_quantity_cmp(a.quantity, b.quantity);
        return true;
    case CEL_SEMVER:
        *order = sw_semver_compare(a.semver, b.semver);
        return true;
    default:
        return false;
    }
}

/* Lists of the type "set" are equal in any order. */
static bool is_set(const struct cel_list *list)
{
    return list->schema &&
           sw_streq(sw_json_str(list->schema, "", "x-kubernetes-list-type", NULL), "set");
}

static bool has(struct cel_run *x, const struct cel_list *list, struct cel_value v)
{
    for (size_t i = 0; i < list->n; i++)
        if (sw_cel_equal(x, sw_cel_at(x, list, i), v))
            return true;
    return false;
}

static bool equal_lists(struct cel_run *x, const struct cel_list *a, const struct cel_list *b)
{
    if (a->n != b->n)
        return false;
    const bool set = is_set(a) || is_set(b);
    for (size_t i = 0; i < a->n; i++) {
        const struct cel_value v = sw_cel_at(x, a, i);
        if (set ? !has(x, b, v) : !sw_cel_equal(x, v, sw_cel_at(x, b, i)))
            return false;
    }
    return true;
}

static bool equal_maps(struct cel_run *x, const struct cel_map *a, const struct cel_map *b)
{
    if (a->n != b->n)
        return false;
    const struct cel_value *entries = sw_cel_entries(x, a);
    for (size_t i = 0; i < a->n; i++) {
        struct cel_value other;
        if (!sw_cel_find(x, b, entries[2 * i], &other) ||
            !sw_cel_equal(x, entries[2 * i + 1], other))
            return false;
    }
    return true;
}

bool sw_cel_equal(struct cel_run *x, struct cel_value a, struct cel_value b)
{
    int order = 1;
    if (!sw_cel_charge(x, 0) || !sw_stack_has_room())
        return false;
    if (sw_cel_compare(a, b, &order))
        return order == 0;
    if (a.kind != b.kind)
        return false;
    switch (a.kind) {
    case CEL_NULL:
        return true;
    case CEL_LIST:
        return sw_cel_charge(x, a.list->n / 4) && equal_lists(x, a.list, b.list);
    case CEL_MAP:
        return sw_cel_charge(x, a.map->n / 4) && equal_maps(x, a.map, b.map);
    case CEL_MESSAGE:
        return sw_cel_message_equal(x, a.message, b.message);
    case CEL_OPTIONAL:
        return a.some && b.some ? sw_cel_equal(x, *a.some, *b.some) : !a.some && !b.some;
    default:
        return sw_cel_equal_of_library(x, a, b);
    }
}
