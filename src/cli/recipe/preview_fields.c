#include "cli/recipe/preview_fields.h"

#include <json-c/json.h>
#include <string.h>

#include "data/data.h"
#include "operator/manifests/ownership.h"

/* ---- sets of fields (fieldsV1) -----------------------------------------------------------------
 */

/* The place is owned itself, not only what is in it. */
static bool is_member(struct json_object *set)
{
    return set && (sw_json_len(set) == 0 || json_object_object_get_ex(set, ".", NULL));
}

static bool has_keys(struct json_object *item, struct json_object *keys)
{
    json_object_object_foreach(keys, name, value)
    {
        if (!sw_json_equal(sw_json_get(item, name), value))
            return false;
    }
    return json_object_is_type(item, json_type_object);
}

/* The index in @list of the item that @element names: "k:{...}" by keys, "v:..." by value. */
static bool find_item(struct json_object *list, const char *element, size_t *at)
{
    SW_AUTO_JSON *wanted = NULL;
    bool by_keys = *element == 'k';
    if (!sw_starts_with(element, by_keys ? "k:" : "v:") ||
        sw_json_parse(element + 2, strlen(element + 2), NULL, &wanted, NULL) < 0)
        return false;
    for (*at = 0; *at < sw_json_len(list); ++*at) {
        struct json_object *item = sw_json_at(list, *at);
        if (by_keys ? has_keys(item, wanted) : sw_json_equal(item, wanted))
            return true;
    }
    return false;
}

/* ---- what goes ---------------------------------------------------------------------------------
 */

static bool drop(struct json_object *doc, struct json_object *theirs, struct json_object *rest);

/* What is at the place of one element. @return its removal is up to the caller */
static bool drop_at(struct json_object *value, struct json_object *theirs, struct json_object *rest,
                    bool *changed)
{
    if (!rest && is_member(theirs))
        return true;
    if (!is_member(rest) || sw_json_len(rest)) /* not a place that another owns as a whole */
        *changed |= drop(value, theirs, rest);
    return false;
}

static bool drop(struct json_object *doc, struct json_object *theirs, struct json_object *rest)
{
    bool changed = false;
    json_object_object_foreach(theirs, element, set)
    {
        struct json_object *kept = sw_json_get(rest, element), *value = NULL;
        size_t i;
        if (sw_starts_with(element, "f:") && json_object_is_type(doc, json_type_object)) {
            if (!json_object_object_get_ex(doc, element + 2, &value))
                continue;
            if (drop_at(value, set, kept, &changed)) {
                json_object_object_del(doc, element + 2);
                changed = true;
            }
        } else if (json_object_is_type(doc, json_type_array) && find_item(doc, element, &i)) {
            if (drop_at(sw_json_at(doc, i), set, kept, &changed)) {
                (void)json_object_array_del_idx(doc, i, 1);
                changed = true;
            }
        }
    }
    return changed;
}

bool preview_fields_drop(struct json_object *applied)
{
    struct json_object *entries = sw_json_find(applied, "metadata", "managedFields", NULL);
    SW_AUTO_JSON *theirs = json_object_new_object();
    SW_AUTO_JSON *rest = json_object_new_object();
    for (size_t i = 0; i < sw_json_len(entries); i++) {
        struct json_object *entry = sw_json_at(entries, i);
        sw_fields_add(sw_entry_is_of_predecessor(entry) ? theirs : rest,
                      sw_json_get(entry, "fieldsV1"));
    }
    (void)sw_json_del(theirs, "f:status", NULL);
    return drop(applied, theirs, rest);
}

/* ---- what is taken from others ------------------------------------------------------------------
 */

/* Add the paths of what is in @before and not in @after to @paths, comma separated. @at: the path
 * so far, as Kubernetes' own messages write it. */
static void add_lost(struct json_object *before, struct json_object *after, const char *at,
                     char **paths)
{
    json_object_object_foreach(before, element, set)
    {
        const char *name = element + strlen("f:");
        struct json_object *left = sw_json_get(after, element);
        if (sw_streq(element, "."))
            continue;
        SW_AUTO_CHARS *path = sw_starts_with(element, "f:") ? sw_printf("%s.%s", at, name)
                                                            : sw_printf("%s[%s]", at, name);
        if (sw_json_len(set))
            add_lost(set, left, path, paths);
        else if (!left)
            sw_append(paths, "%s%s", **paths ? ", " : "", path);
    }
}

char *preview_fields_taken(struct json_object *live, struct json_object *applied)
{
    struct json_object *entries = sw_json_find(live, "metadata", "managedFields", NULL),
                       *after = sw_json_find(applied, "metadata", "managedFields", NULL);
    char *text = sw_strdup("");
    for (size_t i = 0; i < sw_json_len(entries); i++) {
        struct json_object *entry = sw_json_at(entries, i), *same = NULL;
        const char *manager = sw_json_str(entry, "", "manager", NULL),
                   *of = sw_json_str(entry, "", "subresource", NULL),
                   *by = sw_json_str(entry, "", "operation", NULL);
        for (size_t k = 0; !same && k < sw_json_len(after); k++) {
            struct json_object *other = sw_json_at(after, k);
            if (sw_streq(manager, sw_json_str(other, "", "manager", NULL)) &&
                sw_streq(by, sw_json_str(other, "", "operation", NULL)) &&
                sw_streq(of, sw_json_str(other, "", "subresource", NULL)))
                same = other;
        }
        SW_AUTO_CHARS *paths = sw_strdup("");
        if (!sw_starts_with(manager, "slipway") && !sw_streq(of, "status"))
            add_lost(sw_json_get(entry, "fieldsV1"), sw_json_get(same, "fieldsV1"), "", &paths);
        if (*paths)
            sw_append(&text, "field manager '%s' has set %s\n", manager, paths);
    }
    return text;
}
