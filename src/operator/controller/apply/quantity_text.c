/* Quantities written as numbers (`limits: {nvidia.com/gpu: 1}`), as is common. A create or update
 * accepts them; server-side apply before Kubernetes 1.21 refuses the object: 'expected string, got
 * &value.valueUnstructured{Value:1}'. It is applied again with strings then. */
#include "operator/controller/apply/apply.h"

#include <string.h>

#include "data/data.h"

static const char refusal[] = "expected string, got &value.valueUnstructured{Value:";

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

/* @is_quantities: the values of @doc, a map, are quantities. */
static size_t write_out(struct json_object *doc, bool is_quantities)
{
    size_t n = 0;
    for (size_t i = 0; json_object_is_type(doc, json_type_array) && i < sw_json_len(doc); i++)
        n += write_out(sw_json_at(doc, i), false);
    if (!json_object_is_type(doc, json_type_object))
        return n;
    json_object_object_foreach(doc, key, value)
    {
        bool is_number = json_object_is_type(value, json_type_int) ||
                         json_object_is_type(value, json_type_double);
        if (is_quantities && is_number) {
            SW_AUTO_CHARS *text = sw_strdup(json_object_get_string(value));
            sw_json_set_str(doc, text, key, NULL);
            n++;
        } else {
            n += write_out(value, holds_quantities(key));
        }
    }
    return n;
}

size_t quantity_write_out(struct json_object *doc, const char *message)
{
    return strstr(message, refusal) ? write_out(doc, false) : 0;
}
