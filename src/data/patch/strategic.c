/* Kubernetes' strategic merge patch. Source: k8s.io/apimachinery pkg/util/strategicpatch. */
#include <stdlib.h>
#include <string.h>

#include "data/json/json.h"
#include "data/json/path.h"
#include "data/patch/merge.h"
#include "data/patch/strategic_list.h"
#include "data/patch/strategic_table.h"
#include "data/text/buffer.h"

static const char delete_prefix[] = "$deleteFromPrimitiveList/";
static const char order_prefix[] = "$setElementOrder/";

/* Where in the object a merge stands, for messages; each on the stack of its merge. */
struct where {
    const struct where *up;
    const char *key; /* NULL: an element */
    size_t index;
};

static void put_where(struct sw_buffer *out, const struct where *w)
{
    if (!w)
        return;
    put_where(out, w->up);
    SW_AUTO_CHARS *part = w->key ? sw_printf("%s%s", out->len ? "." : "", w->key)
                                 : sw_printf("[%zu]", w->index);
    sw_buffer_put(out, part, strlen(part));
}

static int fail(const struct where *w, struct sw_err *err, const char *what)
{
    struct sw_buffer path = { 0 };
    put_where(&path, w);
    SW_AUTO_CHARS *text = sw_buffer_take(&path, NULL);
    return sw_err_set(err, SW_INVALID, "%s%s%s", text, *text ? ": " : "", what);
}

static int merge_map(struct json_object *target, struct json_object *patch, const char *type,
                     const struct where *w, struct sw_err *err);

static bool is_map(struct json_object *doc)
{
    return json_object_is_type(doc, json_type_object);
}

static bool is_list(struct json_object *doc)
{
    return json_object_is_type(doc, json_type_array);
}

/* ---- lists -------------------------------------------------------------------------------------
 */

/* The element of @list whose @key is that of @item; its index, or -1. */
static ssize_t find_element(struct json_object *list, const char *key, struct json_object *item)
{
    struct json_object *value = sw_json_get(item, key);
    for (size_t i = 0; i < sw_json_len(list); i++)
        if (sw_json_equal(sw_json_get(sw_json_at(list, i), key), value))
            return (ssize_t)i;
    return -1;
}

static int check_element(struct json_object *item, const char *key, const struct where *w,
                         struct sw_err *err)
{
    if (!is_map(item))
        return fail(w, err, "not a map");
    if (sw_json_get(item, key))
        return 0;
    SW_AUTO_CHARS *what = sw_printf("no merge key '%s'", key);
    return fail(w, err, what);
}

/* Elements of the patch that say what to do: delete one, or replace all. The others are left to be
 * merged. @replace is set. */
static int apply_directives(struct json_object *list, struct json_object *patch, const char *key,
                            bool *replace, const struct where *w, struct sw_err *err)
{
    *replace = false;
    for (size_t i = 0; i < sw_json_len(patch); i++) {
        const struct where here = { .up = w, .index = i };
        struct json_object *item = sw_json_at(patch, i);
        struct json_object *directive = sw_json_get(item, "$patch");
        if (!directive)
            continue;
        const char *what = json_object_get_string(directive);
        if (strcmp(what, "replace") == 0) {
            *replace = true;
        } else if (strcmp(what, "delete") == 0) {
            int rc = check_element(item, key, &here, err);
            if (rc < 0)
                return rc;
            for (ssize_t at; (at = find_element(list, key, item)) >= 0;)
                (void)json_object_array_del_idx(list, (size_t)at, 1);
        } else {
            return fail(&here, err, "$patch is neither replace nor delete");
        }
    }
    return 0;
}

/* Merge a list of maps into @list, which is ours. */
static int merge_maps(struct json_object *list, struct json_object *patch,
                      const struct sw_merge_rule *rule, const struct where *w, struct sw_err *err)
{
    bool replace;
    int rc = apply_directives(list, patch, rule->key, &replace, w, err);
    if (replace)
        (void)json_object_array_del_idx(list, 0, json_object_array_length(list));
    for (size_t i = 0; i < sw_json_len(patch) && rc == 0; i++) {
        const struct where here = { .up = w, .index = i };
        struct json_object *item = sw_json_at(patch, i);
        if (sw_json_get(item, "$patch"))
            continue;
        rc = check_element(item, rule->key, &here, err);
        if (rc < 0)
            break;
        ssize_t at = find_element(list, rule->key, item);
        struct json_object *element = sw_json_at(list, (size_t)at); /* NULL: -1 is in no list */
        if (!element) {
            element = json_object_new_object();
            (void)json_object_array_add(list, element);
        }
        rc = merge_map(element, item, rule->element, &here, err);
    }
    return rc;
}

/* Merge @patch into @list, then put the patch's elements into its order. */
static int merge_list(struct json_object *list, struct json_object *patch,
                      const struct sw_merge_rule *rule, const struct where *w, struct sw_err *err)
{
    SW_AUTO_JSON *before = sw_list_of(list);
    int rc = rule->key ? merge_maps(list, patch, rule, w, err) : 0;
    for (size_t i = 0; !rule->key && i < sw_json_len(patch); i++) {
        struct json_object *item = sw_json_at(patch, i);
        if (sw_list_index(list, NULL, item) < 0)
            (void)json_object_array_add(list, sw_json_copy(item));
    }
    if (rc == 0)
        sw_list_order(list, rule->key, patch, before);
    return rc;
}

/* "$deleteFromPrimitiveList/finalizers": ["a"] */
static void delete_scalars(struct json_object *target, const char *field,
                           struct json_object *values)
{
    struct json_object *list = sw_json_get(target, field);
    for (size_t i = sw_json_len(list); is_list(list) && i > 0; i--)
        if (sw_list_index(values, NULL, sw_json_at(list, i - 1)) >= 0)
            (void)json_object_array_del_idx(list, i - 1, 1);
}

/* ---- maps --------------------------------------------------------------------------------------
 */

/* {"$patch": "replace", ...} begins with nothing, {"$patch": "delete"} leaves nothing.
 * @return 1: the rest of the patch is to be merged, 0: that was all */
static int apply_map_directive(struct json_object *target, struct json_object *patch,
                               const struct where *w, struct sw_err *err)
{
    struct json_object *directive = sw_json_get(patch, "$patch");
    if (!directive)
        return 1;
    const char *what = json_object_get_string(directive);
    bool replace = strcmp(what, "replace") == 0;
    if (!replace && strcmp(what, "delete") != 0)
        return fail(w, err, "$patch is neither replace nor delete");
    for (struct lh_entry *e; (e = json_object_get_object(target)->head);)
        json_object_object_del(target, (const char *)lh_entry_k(e));
    return replace;
}

static bool is_retained(struct json_object *keys, const char *key)
{
    for (size_t i = 0; i < sw_json_len(keys); i++)
        if (strcmp(json_object_get_string(sw_json_at(keys, i)), key) == 0)
            return true;
    return false;
}

/* "$retainKeys": fields that it does not name are deleted. */
static int apply_retain_keys(struct json_object *target, struct json_object *patch,
                             const struct where *w, struct sw_err *err)
{
    struct json_object *keys = sw_json_get(patch, "$retainKeys");
    if (!keys)
        return 0;
    if (!is_list(keys))
        return fail(w, err, "$retainKeys: not a list");
    json_object_object_foreach(patch, key, value)
    {
        if (value && *key != '$' && !is_retained(keys, key))
            return fail(w, err, "$retainKeys does not name all keys of the patch");
    }
    SW_AUTO_JSON *old = sw_json_copy(target);
    json_object_object_foreach(old, old_key, ignored)
    {
        (void)ignored;
        if (!is_retained(keys, old_key))
            json_object_object_del(target, old_key);
    }
    return 0;
}

/* One member of the patch that is no directive. */
static int merge_member(struct json_object *target, const char *key, struct json_object *value,
                        const char *type, const struct where *w, struct sw_err *err)
{
    const struct where here = { .up = w, .key = key };
    if (!value) {
        json_object_object_del(target, key);
        return 0;
    }
    struct json_object *old = sw_json_get(target, key);
    const struct sw_merge_rule *rule = sw_merge_rule_find(type, key);
    if (is_map(value)) {
        if (!is_map(old)) {
            old = json_object_new_object();
            (void)json_object_object_add(target, key, old);
        }
        return merge_map(old, value, rule ? rule->element : NULL, &here, err);
    }
    if (!is_list(value) || !rule || !rule->merge) {
        (void)json_object_object_add(target, key, sw_json_copy(value));
        return 0;
    }
    if (!is_list(old)) {
        old = json_object_new_array();
        (void)json_object_object_add(target, key, old);
    }
    return merge_list(old, value, rule, &here, err);
}

/* "$setElementOrder/containers": [{"name": "a"}, {"name": "b"}], once all is merged.
 * @before: the target before the merge */
static void apply_orders(struct json_object *target, struct json_object *before,
                         struct json_object *patch, const char *type)
{
    json_object_object_foreach(patch, key, order)
    {
        if (!sw_starts_with(key, order_prefix))
            continue;
        const char *field = key + sizeof order_prefix - 1;
        struct json_object *list = sw_json_get(target, field);
        const struct sw_merge_rule *rule = sw_merge_rule_find(type, field);
        if (is_list(list) && is_list(order) && rule && rule->merge)
            sw_list_order(list, rule->key, order, sw_json_get(before, field));
    }
}

static bool has_orders(struct json_object *patch)
{
    json_object_object_foreach(patch, key, value)
    {
        (void)value;
        if (sw_starts_with(key, order_prefix))
            return true;
    }
    return false;
}

/* Merge @patch into @target, which is ours to change; @type: what the target is. */
static int merge_map(struct json_object *target, struct json_object *patch, const char *type,
                     const struct where *w, struct sw_err *err)
{
    int rc = apply_map_directive(target, patch, w, err);
    if (rc <= 0)
        return rc;
    rc = apply_retain_keys(target, patch, w, err);
    SW_AUTO_JSON *before = has_orders(patch) ? sw_json_copy(target) : NULL;
    if (rc < 0)
        return rc;
    json_object_object_foreach(patch, key, value)
    {
        if (sw_starts_with(key, delete_prefix))
            delete_scalars(target, key + sizeof delete_prefix - 1, value);
        else if (strcmp(key, "$patch") != 0 && strcmp(key, "$retainKeys") != 0 &&
                 !sw_starts_with(key, order_prefix))
            rc = merge_member(target, key, value, type, w, err);
        if (rc < 0)
            return rc;
    }
    if (before)
        apply_orders(target, before, patch, type);
    return 0;
}

int sw_strategic_apply(struct json_object *target, struct json_object *patch, const char *kind,
                       struct json_object **out, struct sw_err *err)
{
    if (!is_map(patch))
        return sw_err_set(err, SW_INVALID, "a strategic merge patch must be a map");
    SW_AUTO_JSON *doc = is_map(target) ? sw_json_copy(target) : json_object_new_object();
    int rc = merge_map(doc, patch, kind, NULL, err);
    if (rc < 0)
        return rc;
    *out = SW_TAKE(doc);
    return 0;
}
