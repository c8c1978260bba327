/* Server-side apply. Source: Kubernetes "Server-Side Apply" and KEP-555; the messages are
 * kube-apiserver's. Pinned by test/emulator/emulator/api_apply_test.c. */
#include <json-c/printbuf.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/apply/apply.h"
#include "emulator/apply/fieldset.h"
#include "emulator/apply/managed_fields.h"
#include "emulator/apply/unknown_fields.h"
#include "emulator/formats/declared.h"
#include "emulator/store/status.h"

/* ---- the configuration --------------------------------------------------------------------------
 */

/* Each element of a map list must have the keys, and no two may have the same. @return the message
 * of the first error, heap; NULL: none */
static char *find_fault(json_object *value, const struct sw_cursor *at, const char *path,
                        bool defaults);

static char *find_list_fault(json_object *list, const struct sw_list_type_info *info,
                             const struct sw_cursor *at, const char *path, bool defaults)
{
    struct sw_cursor item_at = sw_cursor_item(at);
    for (size_t i = 0; i < sw_json_len(list); i++) {
        json_object *item = sw_json_at(list, i);
        for (size_t k = 0; k < SW_LIST_TYPE_KEYS && info->keys[k]; k++)
            if (!(defaults ? sw_list_type_key(item, info->keys[k])
                           : sw_json_get(item, info->keys[k])))
                return sw_printf("%s: element %zu: associative list with keys has an element that "
                                 "omits key field \"%s\"%s",
                                 path, i, info->keys[k],
                                 defaults ? " (and doesn't have default value)" : "");
        SW_AUTO_CHARS *element = sw_fields_item(info, item);
        for (size_t before = 0; before < i; before++) {
            SW_AUTO_CHARS *other = sw_fields_item(info, sw_json_at(list, before));
            if (strcmp(element, other) == 0)
                return sw_printf("%s: duplicate entries for key [%s]", path, element + 2);
        }
        SW_AUTO_CHARS *at_item = sw_printf("%s[%s]", path, element + 2);
        char *fault = info->type == SW_LIST_TYPE_MAP_LIST
                          ? find_fault(item, &item_at, at_item, defaults)
                          : NULL;
        if (fault)
            return fault;
    }
    return NULL;
}

static char *find_fault(json_object *value, const struct sw_cursor *at, const char *path,
                        bool defaults)
{
    struct sw_list_type_info info = sw_cursor_list_type(at, value);
    if (info.type == SW_LIST_TYPE_MAP_LIST || info.type == SW_LIST_TYPE_SET_LIST)
        return find_list_fault(value, &info, at, path, defaults);
    if (info.type != SW_LIST_TYPE_GRANULAR)
        return NULL;
    json_object_object_foreach(value, key, child)
    {
        struct sw_cursor next = sw_cursor_field(at, key);
        SW_AUTO_CHARS *at_child = sw_printf("%s.%s", path, key);
        char *fault = find_fault(child, &next, at_child, defaults);
        if (fault)
            return fault;
    }
    return NULL;
}

static int check_config(struct sw_write *w, json_object *config, const struct sw_cursor *root)
{
    if (!json_object_is_type(config, json_type_object))
        return sw_status_bad_request(w->status, "the applied configuration must be an object");
    if (sw_json_find(config, "metadata", "managedFields", NULL))
        return sw_status_bad_request(w->status, "metadata.managedFields must be nil");
    /* Before 1.21, a port's protocol had no default, and the message did not name the object. */
    bool modern = sw_store_minor(w->store) > 20;
    SW_AUTO_CHARS *unknown = sw_unknown_fields_find(w->kind, sw_store_minor(w->store), config);
    SW_AUTO_CHARS *fault = unknown ? sw_printf("%s: field not declared in schema", unknown)
                                   : find_fault(config, root, "", modern);
    if (!fault)
        return 0;
    SW_AUTO_CHARS *object = modern ? sw_printf(" (%s/%s; %s, Kind=%s)", w->ns, sw_obj_name(config),
                                               sw_obj_api_version(config), w->kind->kind)
                                   : sw_strdup("");
    return sw_status_set(w->status, 500, "", "failed to create typed patch object%s: %s", object,
                         fault);
}

/* A copy of the fields that the endpoint accepts: all but the status, or the status alone. */
static json_object *own_fields(struct sw_write *w, json_object *config)
{
    json_object *out = json_object_new_object();
    bool status = sw_streq(w->subresource, "status");
    json_object_object_foreach(config, key, value)
    {
        bool frame = strcmp(key, "apiVersion") == 0 || strcmp(key, "kind") == 0 ||
                     strcmp(key, "metadata") == 0;
        bool is_status = strcmp(key, "status") == 0 && w->kind->has_status;
        if (value && (frame || is_status == status))
            json_object_object_add(out, key, sw_json_copy(value));
    }
    return out;
}

/* ---- merging ------------------------------------------------------------------------------------
 */

/* A new value; it shares parts with both. */
static json_object *merge(json_object *live, json_object *config, const struct sw_cursor *at)
{
    struct sw_list_type_info info = sw_cursor_list_type(at, config);
    if (!live || json_object_get_type(live) != json_object_get_type(config) ||
        info.type == SW_LIST_TYPE_ATOMIC)
        return json_object_get(config);
    if (info.type == SW_LIST_TYPE_GRANULAR) {
        json_object *map = sw_doc_shallow_copy(live);
        json_object_object_foreach(config, name, applied)
        {
            struct sw_cursor next = sw_cursor_field(at, name);
            json_object_object_add(map, name, merge(sw_json_get(live, name), applied, &next));
        }
        return map;
    }
    /* Live elements keep their place; new ones follow in the order of the configuration. */
    json_object *list = json_object_new_array();
    struct sw_cursor item_at = sw_cursor_item(at);
    for (size_t i = 0; i < sw_json_len(live); i++) {
        json_object *item = sw_json_at(live, i);
        SW_AUTO_CHARS *element = sw_fields_item(&info, item);
        json_object *applied = sw_fields_find_item(config, &info, element);
        if (applied && sw_fields_find_item(list, &info, element))
            continue; /* of several with one key one is left */
        json_object_array_add(list,
                              applied ? merge(item, applied, &item_at) : json_object_get(item));
    }
    for (size_t i = 0; i < sw_json_len(config); i++) {
        json_object *item = sw_json_at(config, i);
        SW_AUTO_CHARS *element = sw_fields_item(&info, item);
        if (!sw_fields_find_item(live, &info, element))
            json_object_array_add(list, json_object_get(item));
    }
    return list;
}

/* ---- fields that are no longer applied ----------------------------------------------------------
 */

/* @value without the fields in @gone, which the applier owned and no longer sets, except those in
 * @kept, which have an owner now. A new value; NULL where nothing is left. */
static json_object *prune(json_object *value, const struct sw_cursor *at, json_object *gone,
                          json_object *kept);

static json_object *prune_map(json_object *value, const struct sw_cursor *at, json_object *gone,
                              json_object *kept)
{
    json_object *out = json_object_new_object();
    json_object_object_foreach(value, key, child)
    {
        SW_AUTO_CHARS *element = sw_printf("f:%s", key);
        json_object *child_gone = sw_json_get(gone, element);
        json_object *child_kept = sw_json_get(kept, element);
        struct sw_cursor next = sw_cursor_field(at, key);
        if (!child_gone)
            json_object_object_add(out, key, json_object_get(child));
        else if (child_kept || !sw_fields_is_member(child_gone)) {
            json_object *left = prune(child, &next, child_gone, child_kept);
            if (left)
                json_object_object_add(out, key, left);
        }
    }
    if (json_object_object_length(out) > 0 || kept)
        return out;
    json_object_put(out);
    return NULL;
}

static json_object *prune(json_object *value, const struct sw_cursor *at, json_object *gone,
                          json_object *kept)
{
    struct sw_list_type_info info = sw_cursor_list_type(at, value);
    if (info.type == SW_LIST_TYPE_ATOMIC)
        return json_object_get(value);
    if (info.type == SW_LIST_TYPE_GRANULAR)
        return prune_map(value, at, gone, kept);
    json_object *out = json_object_new_array();
    struct sw_cursor item_at = sw_cursor_item(at);
    for (size_t i = 0; i < sw_json_len(value); i++) {
        json_object *item = sw_json_at(value, i);
        SW_AUTO_CHARS *element = sw_fields_item(&info, item);
        json_object *item_gone = sw_json_get(gone, element);
        json_object *item_kept = sw_json_get(kept, element);
        if (!item_gone)
            json_object_array_add(out, json_object_get(item));
        else if (item_kept || !sw_fields_is_member(item_gone))
            json_object_array_add(out, info.type == SW_LIST_TYPE_MAP_LIST
                                           ? prune_map(item, &item_at, item_gone, item_kept)
                                           : json_object_get(item));
    }
    if (json_object_array_length(out) > 0)
        return out;
    json_object_put(out);
    return NULL;
}

/* ---- conflicts ----------------------------------------------------------------------------------
 */

struct conflicts {
    struct sw_status causes; /* its details */
    struct printbuf *list;   /* "conflicts with ... :\n- .spec.a" */
    char *manager;           /* of the entry under comparison, as messages name it */
    size_t n;
    char *first; /* the message of the first conflict */
};

/* A manager in messages: "kubectl" using apps/v1, "x" using v1 at 2024-01-02T03:04:05Z. */
static char *manager_text(json_object *entry)
{
    SW_AUTO_CHARS *name = sw_status_quote(sw_json_str(entry, "", "manager", NULL));
    const char *sub = sw_json_str(entry, "", "subresource", NULL);
    const char *time = sw_json_str(entry, "", "time", NULL);
    SW_AUTO_CHARS *with = sub[0] ? sw_printf("%s with subresource \"%s\"", name, sub)
                                 : sw_strdup(name);
    if (strcmp(sw_json_str(entry, "", "operation", NULL), "Update") != 0)
        return SW_TAKE(with);
    return sw_printf("%s using %s%s%s", with, sw_json_str(entry, "", "apiVersion", NULL),
                     time[0] ? " at " : "", time);
}

static void on_conflict(const char *path, void *arg)
{
    struct conflicts *c = arg;
    SW_AUTO_CHARS *message = sw_printf("conflict with %s", c->manager);
    sw_status_cause(&c->causes, "FieldManagerConflict", message, path);
    sprintbuf(c->list, "\n- %s", path);
    c->n++;
    if (!c->first)
        c->first = sw_printf("%s: %s", message, path);
}

static int check_conflicts(struct sw_write *w, json_object *touched)
{
    if (w->opts->force)
        return 0;
    struct conflicts c = { .list = printbuf_new() };
    json_object *list = sw_json_find(w->old, "metadata", "managedFields", NULL);
    int rc = 0;
    for (size_t i = 0; i < sw_json_len(list); i++) {
        json_object *entry = sw_json_at(list, i);
        if (sw_managed_is_own(w, "Apply", entry))
            continue;
        SW_AUTO_JSON *both = sw_fields_touched(sw_json_get(entry, "fieldsV1"), touched);
        if (!both)
            continue;
        SW_AUTO_CHARS *manager = c.manager = manager_text(entry);
        sprintbuf(c.list, "%sconflicts with %s:", c.n ? "\n" : "", manager);
        sw_fields_each(both, on_conflict, &c);
    }
    if (c.n > 0) {
        rc = sw_status_set(w->status, 409, "Conflict", "Apply failed with %zu conflict%s: %s", c.n,
                           c.n > 1 ? "s" : "", c.n > 1 ? c.list->buf : c.first);
        if (w->status)
            w->status->details = SW_TAKE(c.causes.details);
    }
    sw_status_done(&c.causes);
    printbuf_free(c.list);
    free(c.first);
    return rc;
}

/* ---- apply --------------------------------------------------------------------------------------
 */

/* @merged (taken) without the fields that are no longer applied and have no other owner. @last: the
 * fields of the last apply; @own: those that are applied now. */
static json_object *drop_unapplied(struct sw_write *w, json_object *merged, json_object *last,
                                   json_object *own, const struct sw_cursor *root)
{
    SW_AUTO_JSON *gone = sw_fields_minus(last, own), *kept = json_object_get(own);
    if (!gone)
        return merged;
    json_object *list = sw_json_find(w->old, "metadata", "managedFields", NULL);
    for (size_t i = 0; i < sw_json_len(list); i++) {
        if (sw_managed_is_own(w, "Apply", sw_json_at(list, i)))
            continue;
        json_object *sum = sw_fields_union(kept, sw_json_get(sw_json_at(list, i), "fieldsV1"));
        json_object_put(kept);
        kept = sum;
    }
    json_object *left = prune_map(merged, root, gone, kept);
    json_object_put(merged);
    return left ? left : json_object_new_object();
}

int sw_apply_merge(struct sw_write *w, json_object **out)
{
    struct sw_cursor root = sw_cursor_root(w->kind, w->opts->version);
    int rc = check_config(w, w->patch, &root);
    if (rc < 0)
        return rc;
    SW_AUTO_JSON *config = own_fields(w, w->patch), *added = NULL, *touched = NULL;
    SW_AUTO_JSON *own = sw_managed_strip(sw_fields_of(config, &root, false));
    json_object *last = sw_managed_find(w, w->old, "Apply");
    if (w->old &&
        sw_json_get(config, "apiVersion")) /* the stored version stays; the type is the same */
        json_object_object_add(config, "apiVersion",
                               json_object_get(sw_json_get(w->old, "apiVersion")));
    SW_AUTO_JSON *merged = w->old ? merge(w->old, config, &root) : json_object_get(config);
    if (w->old) {
        sw_fields_diff(w->old, merged, &root, &added, &touched);
        rc = check_conflicts(w, touched);
        if (rc < 0)
            return rc;
        merged = drop_unapplied(w, SW_TAKE(merged), last, own, &root);
        touched = sw_managed_strip(SW_TAKE(touched));
    }
    w->doc = sw_meta_copy(merged); /* merged shares parts with the stored document */
    if (touched)
        sw_managed_take(w, "Apply", touched);
    if (!last || touched || !sw_json_equal(last, own))
        sw_managed_set(w, "Apply", json_object_get(own));
    *out = SW_TAKE(w->doc);
    return 0;
}

/* ---- configurations of policies -----------------------------------------------------------------
 */

/* Add the places of lists and maps that are one value: what is not named in it would be lost. */
static void find_atomics(json_object *value, const struct sw_cursor *at, const char *path,
                         char **atomics)
{
    const bool list = json_object_is_type(value, json_type_array);
    if (!list && !json_object_is_type(value, json_type_object))
        return;
    const struct sw_list_type_info info = sw_cursor_list_type(at, value);
    const struct sw_cursor item = sw_cursor_item(at);
    if (info.type == SW_LIST_TYPE_ATOMIC && at->name)
        sw_append(atomics, "%s%s", *atomics ? ", " : "", path);
    for (size_t i = 0; list && i < sw_json_len(value); i++) {
        SW_AUTO_CHARS *at_item = sw_printf("%s[%zu]", path, i);
        find_atomics(sw_json_at(value, i), &item, at_item, atomics);
    }
    if (list)
        return;
    json_object_object_foreach(value, key, child)
    {
        struct sw_cursor next = sw_cursor_field(at, key);
        SW_AUTO_CHARS *at_child = sw_printf("%s.%s", path, key);
        find_atomics(child, &next, at_child, atomics);
    }
}

int sw_apply_configuration(struct sw_write *w, json_object *config, json_object **out,
                           struct sw_err *err)
{
    const struct sw_cursor root = sw_cursor_root(w->kind, w->opts->version);
    char *found = NULL;
    json_object_object_add(config, "apiVersion", sw_json_copy(sw_json_get(w->doc, "apiVersion")));
    json_object_object_add(config, "kind", sw_str(w->kind->kind));
    SW_AUTO_CHARS *unknown = sw_unknown_field(sw_obj_api_version(config), w->kind->kind, config);
    SW_AUTO_CHARS *fault = unknown ? sw_printf(".%s: field not declared in schema", unknown)
                                   : find_fault(config, &root, "", true);
    if (fault)
        return sw_err_set(err, SW_INVALID, "failed to convert patch object to typed object: %s",
                          fault);
    find_atomics(config, &root, "", &found);
    SW_AUTO_CHARS *atomics = found;
    if (atomics)
        return sw_err_set(err, SW_INVALID,
                          "invalid ApplyConfiguration: may not mutate atomic arrays, maps or "
                          "structs: %s",
                          atomics);
    SW_AUTO_JSON *merged = merge(w->doc, config, &root);
    *out = sw_json_copy(merged);
    return 0;
}
