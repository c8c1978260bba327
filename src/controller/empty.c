/* Empty texts in typed fields of custom resources. A Kubernetes 1.20 that was built with a newer Go
 * than it was written for takes them for null and refuses the object, wherever they are and however
 * it is written: 'spec.a: Invalid value: "null": spec.a in body must be of type string: "null"'. So
 * they are left out there, and named: what reads such a field finds it empty all the same. */
#include "controller/internal.h"

#include <stdlib.h>
#include <string.h>

static const char words[] = "Invalid value: \"null\": ", end_words[] = " in body must be of type";

static bool is_empty(struct json_object *value)
{
    return json_object_is_type(value, json_type_string) && !json_object_get_string_len(value);
}

/* Items of lists have no number in the path; names that somebody chose may have dots. */
static size_t drop_at(struct json_object *value, const char *path)
{
    size_t n = 0;
    for (size_t i = 0; json_object_is_type(value, json_type_array) && i < sw_json_len(value); i++)
        n += drop_at(sw_json_at(value, i), path);
    if (!json_object_is_type(value, json_type_object))
        return n;
    if (is_empty(sw_json_get(value, path))) {
        json_object_object_del(value, path);
        n++;
    }
    json_object_object_foreach(value, key, child)
    {
        size_t len = strlen(key);
        if (sw_starts_with(path, key) && path[len] == '.')
            n += drop_at(child, path + len + 1);
    }
    return n;
}

/* Of a CustomResourceDefinition: the path is not said. */
static size_t drop_defaults(struct json_object *value)
{
    size_t n = 0;
    for (size_t i = 0; json_object_is_type(value, json_type_array) && i < sw_json_len(value); i++)
        n += drop_defaults(sw_json_at(value, i));
    if (!json_object_is_type(value, json_type_object))
        return n;
    if (is_empty(sw_json_get(value, "default"))) {
        json_object_object_del(value, "default");
        n++;
    }
    json_object_object_foreach(value, key, child)
    {
        (void)key;
        n += drop_defaults(child);
    }
    return n;
}

size_t empty_drop(struct json_object *doc, const char *message, char **names)
{
    size_t n = 0;
    for (const char *at = message; (at = strstr(at, words));) {
        at += strlen(words);
        const char *end = strstr(at, end_words);
        if (!end)
            break;
        SW_AUTO_CHARS *path = sw_strndup(at, (size_t)(end - at));
        size_t dropped = *path ? drop_at(doc, path) : drop_defaults(doc);
        if (!dropped)
            continue;
        char *had = *names;
        *names = sw_printf("%s%s%s: \"\"", had ? had : "", had ? ", " : "",
                           *path ? path : "default");
        free(had);
        n += dropped;
    }
    return n;
}
