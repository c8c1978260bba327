/* Quantities written as numbers (`limits: {nvidia.com/gpu: 1}`). Everybody writes them so, and a
 * create or update takes them; server-side apply before Kubernetes 1.21 or so refuses the object:
 * 'expected string, got &value.valueUnstructured{Value:1}'. So they are written as texts then. */
#include "operator/controller/apply/apply.h"

#include <string.h>

#include "data/data.h"

static const char words[] = "expected string, got &value.valueUnstructured{Value:";

/* The maps of built-in kinds whose values are quantities. */
static bool holds_quantities(const char *key)
{
    static const char *const maps[] = { "limits",   "requests",    "hard",
                                        "capacity", "allocatable", "overhead",
                                        "podFixed", "default",     "defaultRequest",
                                        "max",      "min",         "maxLimitRequestRatio" };
    for (size_t i = 0; i < SW_COUNT(maps); i++)
        if (sw_streq(key, maps[i]))
            return true;
    return false;
}

static bool is_number(struct json_object *value)
{
    return json_object_is_type(value, json_type_int) ||
           json_object_is_type(value, json_type_double);
}

static size_t write_out(struct json_object *map)
{
    size_t n = 0;
    json_object_object_foreach(map, key, value)
    {
        if (!is_number(value))
            continue;
        SW_AUTO_CHARS *text = sw_strdup(json_object_get_string(value));
        (void)json_object_object_add(map, key, json_object_new_string(text));
        n++;
    }
    return n;
}

static size_t walk(struct json_object *doc)
{
    size_t n = 0;
    for (size_t i = 0; json_object_is_type(doc, json_type_array) && i < sw_json_len(doc); i++)
        n += walk(sw_json_at(doc, i));
    if (!json_object_is_type(doc, json_type_object))
        return n;
    json_object_object_foreach(doc, key, value)
    {
        if (holds_quantities(key) && json_object_is_type(value, json_type_object))
            n += write_out(value);
        n += walk(value);
    }
    return n;
}

size_t quantity_write_out(struct json_object *doc, const char *message)
{
    return strstr(message, words) ? walk(doc) : 0;
}
