#include "data/json/path.h"

#include <errno.h>
#include <json-c/linkhash.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* No caller uses longer paths. */
enum { MAX_KEYS = 32 };

struct keys {
    const char *at[MAX_KEYS];
    size_t n;
};

static struct keys collect(va_list ap)
{
    struct keys keys = { .n = 0 };
    for (const char *key; (key = va_arg(ap, const char *)) && keys.n < MAX_KEYS;)
        keys.at[keys.n++] = key;
    return keys;
}

/* `KEYS(last)`: `keys` are the arguments after @last */
#define KEYS(last)                                                                                 \
    va_list ap;                                                                                    \
    va_start(ap, last);                                                                            \
    struct keys keys = collect(ap);                                                                \
    va_end(ap)

/* ---- getters -----------------------------------------------------------------------------------
 */

/* Most maps are so small that comparing their keys takes less than the hash of one. */
enum { FEW_KEYS = 8 };

struct json_object *sw_json_get(struct json_object *map, const char *key)
{
    if (!json_object_is_type(map, json_type_object))
        return NULL;
    struct lh_table *table = json_object_get_object(map);
    if (lh_table_length(table) > FEW_KEYS) {
        void *value = NULL;
        return lh_table_lookup_ex(table, key, &value) ? value : NULL;
    }
    for (const struct lh_entry *entry = lh_table_head(table); entry; entry = lh_entry_next(entry)) {
        const char *own = lh_entry_k(entry);
        if (*own == *key && strcmp(own, key) == 0)
            return (struct json_object *)lh_entry_v(entry);
    }
    return NULL;
}

struct json_object *sw_json_find_at(struct json_object *doc, const char *const *keys, size_t n_keys)
{
    for (size_t i = 0; i < n_keys && doc; i++)
        doc = sw_json_get(doc, keys[i]);
    return doc;
}

struct json_object *sw_json_find(struct json_object *doc, ...)
{
    KEYS(doc);
    return sw_json_find_at(doc, keys.at, keys.n);
}

const char *sw_json_str(struct json_object *doc, const char *otherwise, ...)
{
    KEYS(otherwise);
    struct json_object *v = sw_json_find_at(doc, keys.at, keys.n);
    return json_object_is_type(v, json_type_string) ? json_object_get_string(v) : otherwise;
}

int64_t sw_json_int(struct json_object *doc, int64_t otherwise, ...)
{
    KEYS(otherwise);
    struct json_object *v = sw_json_find_at(doc, keys.at, keys.n);
    if (json_object_is_type(v, json_type_int))
        return json_object_get_int64(v);
    if (!json_object_is_type(v, json_type_double))
        return otherwise;
    double d = json_object_get_double(v);
    return d == trunc(d) && fabs(d) < 0x1p63 ? (int64_t)d : otherwise;
}

bool sw_json_bool(struct json_object *doc, int otherwise, ...)
{
    KEYS(otherwise);
    struct json_object *v = sw_json_find_at(doc, keys.at, keys.n);
    return json_object_is_type(v, json_type_boolean) ? json_object_get_boolean(v) : otherwise;
}

size_t sw_json_len(struct json_object *doc)
{
    if (json_object_is_type(doc, json_type_array))
        return json_object_array_length(doc);
    if (json_object_is_type(doc, json_type_object))
        return (size_t)json_object_object_length(doc);
    return 0;
}

struct json_object *sw_json_at(struct json_object *list, size_t i)
{
    if (!json_object_is_type(list, json_type_array) || i >= json_object_array_length(list))
        return NULL;
    return json_object_array_get_idx(list, i);
}

struct json_object *sw_json_find_by(struct json_object *list, const char *key, const char *value)
{
    if (!json_object_is_type(list, json_type_array))
        return NULL;
    size_t n = json_object_array_length(list);
    for (size_t i = 0; i < n; i++) {
        struct json_object *item = json_object_array_get_idx(list, i);
        struct json_object *v = sw_json_get(item, key);
        if (json_object_is_type(v, json_type_string) &&
            strcmp(json_object_get_string(v), value) == 0)
            return item;
    }
    return NULL;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(json_object_get_string(*(struct json_object *const *)a),
                  json_object_get_string(*(struct json_object *const *)b));
}

struct json_object *sw_json_sorted_keys(struct json_object *map)
{
    struct json_object *keys = json_object_new_array();
    if (!json_object_is_type(map, json_type_object))
        return keys;
    json_object_object_foreach(map, key, value)
    {
        (void)value;
        (void)json_object_array_add(keys, json_object_new_string(key));
    }
    json_object_array_sort(keys, by_text);
    return keys;
}

bool sw_json_has_text(struct json_object *list, const char *text)
{
    for (size_t i = 0; i < sw_json_len(list); i++)
        if (sw_streq(json_object_get_string(sw_json_at(list, i)), text))
            return true;
    return false;
}

char *sw_json_joined(struct json_object *list, const char *between)
{
    char *all = sw_strdup("");
    for (size_t i = 0; i < sw_json_len(list); i++)
        sw_append(&all, "%s%s", i ? between : "", sw_json_str(sw_json_at(list, i), "", NULL));
    return all;
}

/* ---- setters -----------------------------------------------------------------------------------
 */

/* The value of @key in @map; replaced by an empty @type if it has another type. */
static struct json_object *need(struct json_object *map, const char *key, enum json_type type)
{
    struct json_object *v = sw_json_get(map, key);
    if (json_object_is_type(v, type))
        return v;
    v = type == json_type_object ? json_object_new_object() : json_object_new_array();
    (void)json_object_object_add(map, key, v);
    return v;
}

static struct json_object *need_at(struct json_object *doc, const struct keys *keys,
                                   enum json_type type)
{
    for (size_t i = 0; i < keys->n; i++)
        doc = need(doc, keys->at[i], i + 1 == keys->n ? type : json_type_object);
    return doc;
}

void sw_json_set_at(struct json_object *doc, struct json_object *value, const char *const *keys,
                    size_t n_keys)
{
    for (size_t i = 0; i + 1 < n_keys; i++)
        doc = need(doc, keys[i], json_type_object);
    (void)json_object_object_add(doc, keys[n_keys - 1], value);
}

void sw_json_set(struct json_object *doc, struct json_object *value, ...)
{
    KEYS(value);
    sw_json_set_at(doc, value, keys.at, keys.n);
}

void sw_json_set_str(struct json_object *doc, const char *value, ...)
{
    KEYS(value);
    sw_json_set_at(doc, json_object_new_string(value), keys.at, keys.n);
}

bool sw_json_del(struct json_object *doc, ...)
{
    KEYS(doc);
    struct json_object *map = sw_json_find_at(doc, keys.at, keys.n - 1);
    const char *last = keys.at[keys.n - 1];
    if (!json_object_is_type(map, json_type_object) || !json_object_object_get_ex(map, last, NULL))
        return false;
    json_object_object_del(map, last);
    return true;
}

struct json_object *sw_json_need_map(struct json_object *doc, ...)
{
    KEYS(doc);
    return need_at(doc, &keys, json_type_object);
}

struct json_object *sw_json_need_list(struct json_object *doc, ...)
{
    KEYS(doc);
    return need_at(doc, &keys, json_type_array);
}

/* ---- Kubernetes objects ------------------------------------------------------------------------
 */

const char *sw_obj_name(struct json_object *obj)
{
    return sw_json_str(obj, "", "metadata", "name", NULL);
}

const char *sw_obj_namespace(struct json_object *obj)
{
    return sw_json_str(obj, "", "metadata", "namespace", NULL);
}

const char *sw_obj_kind(struct json_object *obj)
{
    return sw_json_str(obj, "", "kind", NULL);
}

const char *sw_obj_api_version(struct json_object *obj)
{
    return sw_json_str(obj, "", "apiVersion", NULL);
}

const char *sw_obj_uid(struct json_object *obj)
{
    return sw_json_str(obj, "", "metadata", "uid", NULL);
}

const char *sw_obj_label(struct json_object *obj, const char *key)
{
    return sw_json_str(obj, NULL, "metadata", "labels", key, NULL);
}

const char *sw_obj_annotation(struct json_object *obj, const char *key)
{
    return sw_json_str(obj, NULL, "metadata", "annotations", key, NULL);
}

struct json_object *sw_obj_controller(struct json_object *obj)
{
    struct json_object *owners = sw_json_find(obj, "metadata", "ownerReferences", NULL);
    for (size_t i = 0; i < sw_json_len(owners); i++)
        if (sw_json_bool(sw_json_at(owners, i), false, "controller", NULL))
            return sw_json_at(owners, i);
    return NULL;
}

bool sw_obj_has_owner(struct json_object *obj, const char *uid)
{
    return sw_json_find_by(sw_json_find(obj, "metadata", "ownerReferences", NULL), "uid", uid);
}

/* Does the entry of metadata.managedFields own more than labels and annotations, as that of a
 * controller that only annotates does not? One without fields does. */
static bool owns_content(struct json_object *entry)
{
    struct json_object *fields = sw_json_get(entry, "fieldsV1");
    if (sw_json_len(fields) == 0 || sw_json_find(fields, "f:metadata", "f:finalizers", NULL))
        return true;
    json_object_object_foreach(fields, key, value)
    {
        (void)value;
        if (strcmp(key, "f:metadata") != 0)
            return true;
    }
    return false;
}

const char *sw_obj_writer(struct json_object *obj)
{
    struct json_object *entries = sw_json_find(obj, "metadata", "managedFields", NULL);
    const char *writer = "", *last = "";
    bool has_content = false;
    for (size_t i = 0; i < sw_json_len(entries); i++) {
        struct json_object *entry = sw_json_at(entries, i);
        const char *time = sw_json_str(entry, "", "time", NULL),
                   *of = sw_json_str(entry, "", "subresource", NULL);
        const bool is_status = sw_json_find(entry, "fieldsV1", "f:status", NULL), /* before 1.22 */
            content = owns_content(entry);
        if (is_status || (*of && !sw_streq(of, "scale")) || (has_content && !content) ||
            (has_content == content && strcmp(time, last) < 0))
            continue;
        last = time;
        has_content = content;
        writer = sw_json_str(entry, "", "manager", NULL);
    }
    return writer;
}

struct json_object *sw_obj_condition(struct json_object *obj, const char *type)
{
    return sw_json_find_by(sw_json_find(obj, "status", "conditions", NULL), "type", type);
}
