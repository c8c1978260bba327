#include "emulator/store/document.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

json_object *sw_doc_new(const char *key, ...)
{
    json_object *doc = json_object_new_object();
    va_list ap;
    va_start(ap, key);
    for (; key; key = va_arg(ap, const char *)) {
        json_object *value = va_arg(ap, json_object *);
        if (value)
            json_object_object_add(doc, key, value);
    }
    va_end(ap);
    return doc;
}

json_object *sw_doc_list(json_object *first, ...)
{
    json_object *list = json_object_new_array();
    va_list ap;
    va_start(ap, first);
    for (json_object *value = first; value; value = va_arg(ap, json_object *))
        json_object_array_add(list, value);
    va_end(ap);
    return list;
}

json_object *sw_str(const char *s)
{
    return json_object_new_string(s);
}

json_object *sw_int(int64_t i)
{
    return json_object_new_int64(i);
}

json_object *sw_bool(bool b)
{
    return json_object_new_boolean(b);
}

json_object *sw_time(int64_t ms)
{
    char buf[21];
    return sw_str(sw_time_rfc3339(ms, buf));
}

json_object *sw_doc_at(json_object *doc, const char *path)
{
    while (doc && *path) {
        size_t len = strcspn(path, ".");
        SW_AUTO_CHARS *key = sw_strndup(path, len);
        doc = sw_json_get(doc, key);
        path += len + (path[len] == '.');
    }
    return doc;
}

json_object *sw_doc_shallow_copy(json_object *map)
{
    json_object *copy = json_object_new_object();
    json_object_object_foreach(map, key, value)
    {
        json_object_object_add(copy, key, json_object_get(value));
    }
    return copy;
}

bool sw_doc_is_empty(json_object *value)
{
    switch (json_object_get_type(value)) {
    case json_type_null:
        return true;
    case json_type_object:
        return json_object_object_length(value) == 0;
    case json_type_array:
        return json_object_array_length(value) == 0;
    default:
        return false;
    }
}

bool sw_doc_same(json_object *a, json_object *b)
{
    if (a == b || (sw_doc_is_empty(a) && sw_doc_is_empty(b)))
        return true;
    if (json_object_get_type(a) != json_object_get_type(b))
        return false;
    if (json_object_is_type(a, json_type_object)) {
        json_object_object_foreach(a, key, value)
        {
            if (!sw_doc_same(value, sw_json_get(b, key)))
                return false;
        }
        json_object_object_foreach(b, other_key, other)
        {
            if (!sw_json_get(a, other_key) && !sw_doc_is_empty(other))
                return false;
        }
        return true;
    }
    if (!json_object_is_type(a, json_type_array))
        return json_object_equal(a, b);
    if (sw_json_len(a) != sw_json_len(b))
        return false;
    for (size_t i = 0; i < sw_json_len(a); i++)
        if (!sw_doc_same(sw_json_at(a, i), sw_json_at(b, i)))
            return false;
    return true;
}

const char *sw_cond_status(json_object *doc, const char *type)
{
    return sw_json_str(sw_obj_condition(doc, type), "", "status", NULL);
}

static void set_text(json_object *doc, const char *key, const char *value)
{
    if (value)
        json_object_object_add(doc, key, sw_str(value));
    else
        json_object_object_del(doc, key);
}

static bool has_text(json_object *doc, const char *key, const char *value)
{
    return sw_streq(sw_json_str(doc, NULL, key, NULL), value);
}

bool sw_cond_set(json_object *conditions, const char *type, const char *status, const char *reason,
                 const char *message, int64_t now_ms)
{
    json_object *c = sw_json_find_by(conditions, "type", type);
    bool turned = !c || !has_text(c, "status", status);
    if (!turned && has_text(c, "reason", reason) && has_text(c, "message", message))
        return false;
    if (!c) {
        c = sw_doc_new("type", sw_str(type), NULL);
        json_object_array_add(conditions, c);
    }
    set_text(c, "status", status);
    set_text(c, "reason", reason);
    set_text(c, "message", message);
    if (turned)
        json_object_object_add(c, "lastTransitionTime", sw_time(now_ms));
    return true;
}

json_object *sw_doc_controller(json_object *doc)
{
    json_object *refs = sw_json_find(doc, "metadata", "ownerReferences", NULL);
    for (size_t i = 0; i < sw_json_len(refs); i++)
        if (sw_json_bool(sw_json_at(refs, i), false, "controller", NULL))
            return sw_json_at(refs, i);
    return NULL;
}

json_object *sw_doc_owner_ref(json_object *owner)
{
    return sw_doc_new("apiVersion", sw_str(sw_obj_api_version(owner)), "kind",
                      sw_str(sw_obj_kind(owner)), "name", sw_str(sw_obj_name(owner)), "uid",
                      sw_str(sw_obj_uid(owner)), "controller", sw_bool(true), "blockOwnerDeletion",
                      sw_bool(true), NULL);
}

bool sw_doc_is_deleted(json_object *doc)
{
    return sw_json_find(doc, "metadata", "deletionTimestamp", NULL) != NULL;
}

bool sw_doc_is_over(json_object *doc)
{
    const char *phase = sw_json_str(doc, "", "status", "phase", NULL);
    return sw_streq(phase, "Succeeded") || sw_streq(phase, "Failed");
}

void sw_doc_hash(json_object *doc, char out[static 11])
{
    size_t len;
    SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_SORTED, &len);
    uint64_t h = sw_fnv64a(text, len);
    for (int i = 0; i < 10; i++, h /= sizeof SW_NAME_LETTERS - 1)
        out[i] = SW_NAME_LETTER(h);
    out[10] = '\0';
}

int64_t sw_doc_share(json_object *value, int64_t total, bool round_up, int64_t dflt)
{
    if (json_object_is_type(value, json_type_int))
        return json_object_get_int64(value);
    const char *text = json_object_is_type(value, json_type_string) ? json_object_get_string(value)
                                                                    : NULL;
    char *end = NULL;
    long percent = text ? strtol(text, &end, 10) : 0;
    if (!text || end == text || !sw_streq(end, "%"))
        return dflt;
    return (total * percent + (round_up ? 99 : 0)) / 100;
}
