/* Walking, copying and comparing json-c trees. */
#include "data/json/json.h"

#include <json-c/linkhash.h>
#include <stdlib.h>
#include <string.h>

#include "data/text/number.h"

struct member {
    const char *key;
    size_t len;
    struct json_object *value;
};

struct walk {
    sw_key_cmp *cmp;
    const struct sw_sink *sink;
    struct sw_err *err;
    /* the sorted members of all open maps: not on the stack, which a deep document would exhaust */
    struct member *members;
    size_t n_members, cap;
};

static int walk_value(struct walk *w, struct json_object *value);

int sw_json_key_cmp(const char *a, size_t a_len, const char *b, size_t b_len)
{
    int c = memcmp(a, b, a_len < b_len ? a_len : b_len);
    return c ? c : (a_len > b_len) - (a_len < b_len);
}

static int compare_members(const void *a, const void *b, void *arg)
{
    const struct member *x = a, *y = b;
    sw_key_cmp *const *cmp = arg;
    return (*cmp)(x->key, x->len, y->key, y->len);
}

static int walk_member(struct walk *w, const char *key, size_t len, struct json_object *value)
{
    int rc = w->sink->ops->key(w->sink->arg, key, len, w->err);
    return rc < 0 ? rc : walk_value(w, value);
}

static int walk_sorted(struct walk *w, struct json_object *map)
{
    size_t first = w->n_members;
    json_object_object_foreach(map, key, value)
    {
        SW_GROW(w->members, w->n_members, w->cap);
        w->members[w->n_members++] = (struct member){ key, strlen(key), value };
    }
    size_t end = w->n_members;
    if (end - first > 1)
        qsort_r(w->members + first, end - first, sizeof *w->members, compare_members, &w->cmp);
    int rc = 0;
    for (size_t i = first; i < end && rc == 0; i++)
        rc = walk_member(w, w->members[i].key, w->members[i].len, w->members[i].value);
    w->n_members = first;
    return rc;
}

static int walk_map(struct walk *w, struct json_object *map)
{
    int rc = w->sink->ops->begin_map(w->sink->arg, w->err);
    if (rc == 0 && w->cmp) {
        rc = walk_sorted(w, map);
    } else if (rc == 0) {
        json_object_object_foreach(map, key, value)
        {
            rc = walk_member(w, key, strlen(key), value);
            if (rc < 0)
                break;
        }
    }
    return rc < 0 ? rc : w->sink->ops->end_map(w->sink->arg, w->err);
}

static int walk_list(struct walk *w, struct json_object *list)
{
    int rc = w->sink->ops->begin_list(w->sink->arg, w->err);
    size_t n = json_object_array_length(list);
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = walk_value(w, json_object_array_get_idx(list, i));
    return rc < 0 ? rc : w->sink->ops->end_list(w->sink->arg, w->err);
}

static int walk_value(struct walk *w, struct json_object *value)
{
    const struct sw_sink_ops *ops = w->sink->ops;
    void *arg = w->sink->arg;
    uint64_t u;
    const char *text;
    switch (json_object_get_type(value)) {
    case json_type_null:
        return ops->null(arg, w->err);
    case json_type_boolean:
        return ops->boolean(arg, json_object_get_boolean(value), w->err);
    case json_type_int: /* also of a uint64: only a uint64 exceeds INT64_MAX */
        u = json_object_get_uint64(value);
        if (u > INT64_MAX)
            return ops->natural(arg, u, w->err);
        return ops->integer(arg, json_object_get_int64(value), w->err);
    case json_type_double: /* with the text that it was created with, if any */
        text = json_object_get_userdata(value);
        return ops->real(arg, json_object_get_double(value), text, text ? strlen(text) : 0, w->err);
    case json_type_string:
        return ops->string(arg, json_object_get_string(value),
                           (size_t)json_object_get_string_len(value), w->err);
    case json_type_object:
        return walk_map(w, value);
    case json_type_array:
        return walk_list(w, value);
    }
    return 0;
}

int sw_json_walk(struct json_object *doc, sw_key_cmp *cmp, const struct sw_sink *sink,
                 struct sw_err *err)
{
    struct walk w = { .cmp = cmp, .sink = sink, .err = err };
    int rc = walk_value(&w, doc);
    free(w.members);
    return rc;
}

/* json-c allocates a table for 16 keys (640 bytes), but most maps have one or two. A table that is
 * more than two thirds full would grow with the next key. If the allocation fails, it stays. */
static void fit_table(struct json_object *map, int n_keys)
{
    struct lh_table *table = json_object_get_object(map);
    const int fits = n_keys * 3 / 2 + 2;
    if (fits < table->size)
        (void)lh_table_resize(table, fits);
}

static struct json_object *copy_map(struct json_object *map)
{
    struct json_object *copy = json_object_new_object();
    fit_table(copy, json_object_object_length(map));
    json_object_object_foreach(map, key, value)
    {
        (void)json_object_object_add_ex(copy, key, sw_json_copy(value),
                                        JSON_C_OBJECT_ADD_KEY_IS_NEW);
    }
    return copy;
}

static struct json_object *copy_list(struct json_object *list)
{
    size_t n = json_object_array_length(list);
    struct json_object *copy = json_object_new_array_ext(n ? (int)n : 1);
    for (size_t i = 0; i < n; i++)
        (void)json_object_array_add(copy, sw_json_copy(json_object_array_get_idx(list, i)));
    return copy;
}

static struct json_object *copy_real(struct json_object *value)
{
    char shortest[SW_FLOAT_LEN];
    double d = json_object_get_double(value);
    const char *text = json_object_get_userdata(value);
    if (!text)
        (void)sw_float_json(d, shortest);
    return json_object_new_double_s(d, text ? text : shortest);
}

struct json_object *sw_json_copy(struct json_object *doc)
{
    uint64_t u;
    switch (json_object_get_type(doc)) {
    case json_type_boolean:
        return json_object_new_boolean(json_object_get_boolean(doc));
    case json_type_int:
        u = json_object_get_uint64(doc);
        return u > INT64_MAX ? json_object_new_uint64(u)
                             : json_object_new_int64(json_object_get_int64(doc));
    case json_type_double:
        return copy_real(doc);
    case json_type_string:
        return json_object_new_string_len(json_object_get_string(doc),
                                          json_object_get_string_len(doc));
    case json_type_object:
        return copy_map(doc);
    case json_type_array:
        return copy_list(doc);
    default:
        return NULL;
    }
}

void sw_json_fit(struct json_object *doc)
{
    if (json_object_is_type(doc, json_type_array))
        (void)json_object_array_shrink(doc, 0);
    else if (json_object_is_type(doc, json_type_object))
        fit_table(doc, json_object_object_length(doc));
}

void sw_json_pack(struct json_object *doc)
{
    sw_json_fit(doc);
    if (json_object_is_type(doc, json_type_array)) {
        for (size_t i = 0; i < json_object_array_length(doc); i++)
            sw_json_pack(json_object_array_get_idx(doc, i));
    }
    if (!json_object_is_type(doc, json_type_object))
        return;
    json_object_object_foreach(doc, key, value)
    {
        (void)key;
        sw_json_pack(value);
    }
}

static bool equal_maps(struct json_object *a, struct json_object *b)
{
    if (json_object_object_length(a) != json_object_object_length(b))
        return false;
    json_object_object_foreach(a, key, value)
    {
        struct json_object *other;
        if (!json_object_object_get_ex(b, key, &other) || !sw_json_equal(value, other))
            return false;
    }
    return true;
}

static bool equal_lists(struct json_object *a, struct json_object *b)
{
    size_t n = json_object_array_length(a);
    if (n != json_object_array_length(b))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!sw_json_equal(json_object_array_get_idx(a, i), json_object_array_get_idx(b, i)))
            return false;
    return true;
}

bool sw_json_equal(struct json_object *a, struct json_object *b)
{
    if (a == b)
        return true;
    enum json_type type = json_object_get_type(a), other = json_object_get_type(b);
    if ((type == json_type_int && other == json_type_double) ||
        (type == json_type_double && other == json_type_int))
        return json_object_get_double(a) == json_object_get_double(b);
    if (type != other)
        return false;
    switch (type) {
    case json_type_int:
        return json_object_get_int64(a) == json_object_get_int64(b) &&
               json_object_get_uint64(a) == json_object_get_uint64(b);
    case json_type_double:
        return json_object_get_double(a) == json_object_get_double(b);
    case json_type_boolean:
        return json_object_get_boolean(a) == json_object_get_boolean(b);
    case json_type_string:
        return json_object_get_string_len(a) == json_object_get_string_len(b) &&
               memcmp(json_object_get_string(a), json_object_get_string(b),
                      (size_t)json_object_get_string_len(a)) == 0;
    case json_type_object:
        return equal_maps(a, b);
    case json_type_array:
        return equal_lists(a, b);
    default:
        return true; /* both null */
    }
}
