/* Fields that an older server does not know. Server-side apply is refused for them (before
 * Kubernetes 1.25 with a 500: 'failed to create typed patch object: .path.to.field: field not
 * declared in schema'); a create or update would have dropped them. So they are dropped, and named.
 */
#include "operator/controller/apply/apply.h"

#include <stdlib.h>
#include <string.h>

#include "data/data.h"

static const char words[] = ": field not declared in schema";

/* In these the keys are names that somebody chose, not fields. */
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

/* The last part of the path that ends at @end, as "spec.versions[0].x-y" has "x-y". */
static char *field_of(const char *message, const char *end)
{
    const char *from = end;
    while (from > message && !strchr(". \n[]", from[-1]))
        from--;
    return sw_strndup(from, (size_t)(end - from));
}

size_t unknown_fields_drop(struct json_object *doc, const char *message, char **names)
{
    size_t n = 0;
    for (const char *at = message; at && (at = strstr(at, words)); at += strlen(words)) {
        SW_AUTO_CHARS *field = field_of(message, at);
        size_t dropped = *field ? drop(doc, field, false) : 0;
        if (!dropped)
            continue;
        char *had = *names;
        *names = sw_printf("%s%s%s", had ? had : "", had ? ", " : "", field);
        free(had);
        n += dropped;
    }
    return n;
}
