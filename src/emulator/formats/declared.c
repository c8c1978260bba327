#include "emulator/formats/declared.h"

#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/formats/protobuf_table.h"

static const struct sw_protobuf_field *field_of(const struct sw_protobuf_message *message,
                                                const char *name)
{
    for (size_t i = 0; i < message->n_fields; i++) {
        const struct sw_protobuf_field *field = &message->fields[i], *inner = NULL;
        if (field->flags & SW_PB_INLINE)
            inner = field_of(sw_protobuf_message(field->message), name);
        else if (sw_streq(field->name, name))
            inner = field;
        if (inner)
            return inner;
    }
    return NULL;
}

static char *walk(const struct sw_protobuf_message *message, json_object *map, const char *path);

/* The values of a field: one, those of a list, or those of a map. */
static char *walk_field(const struct sw_protobuf_field *field, json_object *value, const char *path)
{
    const struct sw_protobuf_message *message = sw_protobuf_message(field->message);
    char *found = NULL;
    if (field->type != SW_PB_MESSAGE)
        return NULL;
    if (!(field->flags & (SW_PB_MAP | SW_PB_REPEATED)))
        return walk(message, value, path);
    for (size_t i = 0; field->flags & SW_PB_REPEATED && i < sw_json_len(value) && !found; i++) {
        SW_AUTO_CHARS *at = sw_printf("%s[%zu]", path, i);
        found = walk(message, sw_json_at(value, i), at);
    }
    if (field->flags & SW_PB_REPEATED || !json_object_is_type(value, json_type_object))
        return found;
    json_object_object_foreach(value, key, each)
    {
        SW_AUTO_CHARS *at = sw_printf("%s.%s", path, key);
        found = found ? found : walk(message, each, at);
    }
    return found;
}

static char *walk(const struct sw_protobuf_message *message, json_object *map, const char *path)
{
    char *found = NULL;
    if (!json_object_is_type(map, json_type_object))
        return NULL;
    json_object_object_foreach(map, key, value)
    {
        const struct sw_protobuf_field *field = field_of(message, key);
        SW_AUTO_CHARS *at = sw_printf("%s%s%s", path, *path ? "." : "", key);
        const bool is_type = !*path && (sw_streq(key, "apiVersion") || sw_streq(key, "kind"));
        if (found || is_type)
            continue;
        found = field ? walk_field(field, value, at) : sw_strdup(at);
    }
    return found;
}

char *sw_unknown_field(const char *api_version, const char *kind, json_object *doc)
{
    size_t n = 0;
    const struct sw_protobuf_kind *kinds = sw_protobuf_kinds(&n);
    for (size_t i = 0; i < n; i++)
        if (sw_streq(kinds[i].kind, kind) && sw_streq(kinds[i].api_version, api_version))
            return walk(kinds[i].message, doc, "");
    return NULL;
}
