/* Fields that an older API server does not declare. It refuses to apply them (before
 * Kubernetes 1.25 with a 500: 'failed to create typed patch object: .path.to.field: field not
 * declared in schema'); a create or update would drop them silently. They are removed here, and
 * named in an Event. */
#include "operator/controller/apply/apply.h"

#include <string.h>

#include "data/data.h"

static const char refusal[] = ": field not declared in schema";

/* Is the value of @key a map whose keys are names, not fields? */
static bool holds_names(const char *key)
{
    static const char *const maps[] = { "properties", "patternProperties", "definitions",
                                        "labels",     "annotations",       "matchLabels",
                                        "data",       "stringData",        "binaryData" };
    for (size_t i = 0; i < SW_COUNT(maps); i++)
        if (sw_streq(key, maps[i]))
            return true;
    return false;
}

static size_t drop(struct json_object *value, const char *field, bool names)
{
    size_t n = 0;
    for (size_t i = 0; json_object_is_type(value, json_type_array) && i < sw_json_len(value); i++)
        n += drop(sw_json_at(value, i), field, false);
    if (!json_object_is_type(value, json_type_object))
        return n;
    if (!names && json_object_object_get_ex(value, field, NULL)) {
        json_object_object_del(value, field);
        n++;
    }
    json_object_object_foreach(value, key, child)
    {
        n += drop(child, field, !names && holds_names(key));
    }
    return n;
}

size_t unknown_fields_drop(struct json_object *doc, const char *message, char **names)
{
    size_t n = 0;
    for (const char *at = message; at && (at = strstr(at, refusal)); at += strlen(refusal)) {
        const char *from = at; /* of the last field of the path: x-y in spec.versions[0].x-y */
        while (from > message && !strchr(". \n[]", from[-1]))
            from--;
        SW_AUTO_CHARS *field = sw_strndup(from, (size_t)(at - from));
        size_t dropped = *field ? drop(doc, field, false) : 0;
        if (dropped)
            sw_append(names, "%s%s", *names ? ", " : "", field);
        n += dropped;
    }
    return n;
}
