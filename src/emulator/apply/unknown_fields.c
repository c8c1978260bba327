#include "emulator/apply/unknown_fields.h"

#include <string.h>

#include "base/base.h"
#include "data/data.h"

/* Source: the release notes of Kubernetes, and its feature gates. */
static const struct {
    const char *kind, *field;
    int since; /* the first minor release that declares it */
} rows[] = {
    { "CustomResourceDefinition", "x-kubernetes-validations", 23 },
    { "CustomResourceDefinition", "selectableFields", 30 },
    { "ValidatingWebhookConfiguration", "matchConditions", 27 },
    { "MutatingWebhookConfiguration", "matchConditions", 27 },
};

/* Whether release @minor does not have @field (NULL: any field of the table) in @kind. */
static bool is_unknown(const struct sw_emu_kind *kind, int minor, const char *field)
{
    for (size_t i = 0; i < SW_COUNT(rows); i++)
        if (kind->builtin && minor < rows[i].since && strcmp(rows[i].kind, kind->kind) == 0 &&
            (!field || strcmp(rows[i].field, field) == 0))
            return true;
    return false;
}

/* Depth first. @drop: remove all such fields. @return else the path of the first one, or NULL */
static char *walk(const struct sw_emu_kind *kind, int minor, json_object *value, const char *path,
                  bool drop)
{
    char *found = NULL;
    for (size_t i = 0;
         json_object_is_type(value, json_type_array) && i < sw_json_len(value) && !found; i++) {
        SW_AUTO_CHARS *at = sw_printf("%s[%zu]", path, i);
        found = walk(kind, minor, sw_json_at(value, i), at, drop);
    }
    if (!json_object_is_type(value, json_type_object))
        return found;
    struct json_object_iterator it = json_object_iter_begin(value);
    struct json_object_iterator end = json_object_iter_end(value);
    while (!json_object_iter_equal(&it, &end) && !found) {
        const char *key = json_object_iter_peek_name(&it);
        json_object *child = json_object_iter_peek_value(&it);
        SW_AUTO_CHARS *at = sw_printf("%s.%s", path, key);
        json_object_iter_next(&it);
        if (!is_unknown(kind, minor, key))
            found = walk(kind, minor, child, at, drop);
        else if (drop)
            json_object_object_del(value, key);
        else
            found = sw_strdup(at);
    }
    return found;
}

char *sw_unknown_fields_find(const struct sw_emu_kind *kind, int minor, json_object *doc)
{
    return is_unknown(kind, minor, NULL) ? walk(kind, minor, doc, "", false) : NULL;
}

void sw_unknown_fields_drop(const struct sw_emu_kind *kind, int minor, json_object *doc)
{
    if (is_unknown(kind, minor, NULL))
        (void)walk(kind, minor, doc, "", true);
}
