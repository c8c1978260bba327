/* Kubernetes' strategic merge patch. */
#include <stdlib.h>
#include <string.h>

#include "data/json.h"
#include "data/merge.h"
#include "data/path.h"

#define DIRECTIVE "$patch"
#define RETAIN_KEYS "$retainKeys"
#define DELETE_FROM "$deleteFromPrimitiveList/"
#define ELEMENT_ORDER "$setElementOrder/"

/* ---- which lists merge -------------------------------------------------------------------------
 */

/* The field that a list is in, and the field that the map which has it is in ("": the object).
 * From the patchStrategy and patchMergeKey notes of the API reference; all other lists are atomic.
 * "*ontainers" stands for containers, initContainers and ephemeralContainers. */
static const struct list_row {
    const char *kind; /* NULL: any */
    const char *parent, *field;
    const char *key; /* of the elements; NULL: they are plain values, merged as a set */
} list_rows[] = {
    { NULL, "metadata", "ownerReferences", "uid" },
    { NULL, "metadata", "finalizers", NULL },
    { NULL, "spec", "containers", "name" },
    { NULL, "spec", "initContainers", "name" },
    { NULL, "spec", "ephemeralContainers", "name" },
    { NULL, "spec", "volumes", "name" },
    { NULL, "spec", "imagePullSecrets", "name" },
    { NULL, "spec", "hostAliases", "ip" },
    { NULL, "spec", "topologySpreadConstraints", "topologyKey" },
    { NULL, "spec", "schedulingGates", "name" },
    { NULL, "spec", "resourceClaims", "name" },
    { NULL, "*ontainers", "ports", "containerPort" },
    { NULL, "*ontainers", "env", "name" },
    { NULL, "*ontainers", "volumeMounts", "mountPath" },
    { NULL, "*ontainers", "volumeDevices", "devicePath" },
    { NULL, "status", "conditions", "type" },
    { NULL, "status", "podIPs", "ip" },
    { "Node", "status", "addresses", "type" },
    { "Node", "spec", "podCIDRs", NULL },
    { "Service", "spec", "ports", "port" },
    { "ServiceAccount", "", "secrets", "name" },
    { "MutatingWebhookConfiguration", "", "webhooks", "name" },
    { "ValidatingWebhookConfiguration", "", "webhooks", "name" },
};

static const struct list_row *find_row(const char *kind, const char *parent, const char *field)
{
    for (size_t i = 0; i < SW_COUNT(list_rows); i++) {
        const struct list_row *r = &list_rows[i];
        if (strcmp(r->field, field) != 0 || (r->kind && !sw_streq(r->kind, kind)))
            continue;
        if (r->parent[0] == '*' ? sw_ends_with(parent, r->parent + 1)
                                : strcmp(r->parent, parent) == 0)
            return r;
    }
    return NULL;
}

static const char *const built_in_groups[] = {
    "",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "apps",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "extensions",
    "flowcontrol.apiserver.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
};

bool sw_strategic_knows(const char *api_version, const char *kind SW_UNUSED)
{
    const char *slash = strchr(api_version, '/');
    size_t len = slash ? (size_t)(slash - api_version) : 0;
    for (size_t i = 0; i < SW_COUNT(built_in_groups); i++)
        if (strlen(built_in_groups[i]) == len && memcmp(built_in_groups[i], api_version, len) == 0)
            return true;
    return false;
}

/* ---- merging -----------------------------------------------------------------------------------
 */

/* Where the merge is, for rows and messages. */
struct place {
    const struct place *up;
    const char *kind;  /* of the object */
    const char *field; /* "" at the top; an element of a list has its list's */
    long index;        /* -1: not an element */
};

static char *place_text(const struct place *at)
{
    if (!at->up)
        return sw_strdup("");
    SW_AUTO_CHARS *before = place_text(at->up);
    if (at->index >= 0)
        return sw_printf("%s[%ld]", before, at->index);
    return sw_printf("%s%s%s", before, *before ? "." : "", at->field);
}

static int invalid(struct sw_err *err, const struct place *at, const char *what)
{
    SW_AUTO_CHARS *where = place_text(at);
    return sw_err_set(err, SW_INVALID, "%s: %s", *where ? where : "patch", what);
}

static bool is_map(struct json_object *doc)
{
    return json_object_is_type(doc, json_type_object);
}

static bool is_list(struct json_object *doc)
{
    return json_object_is_type(doc, json_type_array);
}

static int merge_map(struct json_object *target, struct json_object *patch, const struct place *at,
                     struct sw_err *err);

/* The element of @list whose @key has the same value as @element's; its index, or the length. */
static size_t find_element(struct json_object *list, const char *key, struct json_object *value)
{
    size_t n = sw_json_len(list);
    for (size_t i = 0; i < n; i++)
        if (sw_json_equal(key ? sw_json_get(sw_json_at(list, i), key) : sw_json_at(list, i), value))
            return i;
    return n;
}

static void remove_values(struct json_object *list, struct json_object *values)
{
    for (size_t i = 0; i < sw_json_len(values); i++)
        for (size_t at; (at = find_element(list, NULL, sw_json_at(values, i))) < sw_json_len(list);)
            (void)json_object_array_del_idx(list, at, 1);
}

/* `- $patch: replace` among the elements: the others are the whole list from now on. */
static bool says_replace(struct json_object *patch)
{
    for (size_t i = 0; i < sw_json_len(patch); i++)
        if (sw_streq(sw_json_str(sw_json_at(patch, i), NULL, DIRECTIVE, NULL), "replace") &&
            sw_json_len(sw_json_at(patch, i)) == 1)
            return true;
    return false;
}

static int merge_element(struct json_object *list, struct json_object *element, const char *key,
                         const struct place *at, struct sw_err *err)
{
    if (!is_map(element))
        return invalid(err, at, "is no map, and the list merges by a key");
    const char *directive = sw_json_str(element, NULL, DIRECTIVE, NULL);
    if (sw_streq(directive, "replace") && sw_json_len(element) == 1)
        return 0;
    struct json_object *value = sw_json_get(element, key);
    if (!value) {
        SW_AUTO_CHARS *what = sw_printf("no merge key '%s'", key);
        return invalid(err, at, what);
    }
    size_t i = find_element(list, key, value);
    bool found = i < sw_json_len(list);
    if (sw_streq(directive, "delete")) {
        if (found)
            (void)json_object_array_del_idx(list, i, 1);
        return 0;
    }
    if (!found)
        (void)json_object_array_add(list, json_object_new_object());
    return merge_map(sw_json_at(list, i), element, at, err);
}

static int merge_list(struct json_object *list, struct json_object *patch,
                      const struct list_row *row, const struct place *at, struct sw_err *err)
{
    if (row->key && says_replace(patch))
        (void)json_object_array_del_idx(list, 0, sw_json_len(list));
    for (size_t i = 0; i < sw_json_len(patch); i++) {
        struct json_object *element = sw_json_at(patch, i);
        if (!row->key) {
            if (find_element(list, NULL, element) == sw_json_len(list))
                (void)json_object_array_add(list, sw_json_copy(element));
            continue;
        }
        struct place here = { at, at->kind, at->field, (long)i };
        int rc = merge_element(list, element, row->key, &here, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Put the elements into the order that the patch asks for; those that it does not name stay behind
 * the one that they stood behind. */
static void reorder(struct json_object *map, const char *field, struct json_object *order,
                    const char *key)
{
    struct json_object *list = sw_json_get(map, field);
    if (!is_list(list) || !is_list(order))
        return;
    struct json_object *out = json_object_new_array();
    size_t n = sw_json_len(list), named_upto = 0;
    /* unnamed ones at the front stay there */
    for (; named_upto < n; named_upto++) {
        struct json_object *e = sw_json_at(list, named_upto);
        struct json_object *id = key ? sw_json_get(e, key) : e;
        if (find_element(order, key, id) < sw_json_len(order))
            break;
        (void)json_object_array_add(out, json_object_get(e));
    }
    for (size_t i = 0; i < sw_json_len(order); i++) {
        struct json_object *o = sw_json_at(order, i);
        size_t at = find_element(list, key, key ? sw_json_get(o, key) : o);
        if (at < n && find_element(out, key, key ? sw_json_get(o, key) : o) == sw_json_len(out))
            (void)json_object_array_add(out, json_object_get(sw_json_at(list, at)));
        for (size_t j = at + 1; j < n; j++) {
            struct json_object *e = sw_json_at(list, j);
            struct json_object *id = key ? sw_json_get(e, key) : e;
            if (find_element(order, key, id) < sw_json_len(order))
                break;
            if (find_element(out, key, id) == sw_json_len(out))
                (void)json_object_array_add(out, json_object_get(e));
        }
    }
    (void)json_object_object_add(map, field, out);
}

static void retain(struct json_object *target, struct json_object *keys)
{
    json_object_object_foreach(target, key, value)
    {
        (void)value;
        bool kept = false;
        for (size_t i = 0; i < sw_json_len(keys) && !kept; i++)
            kept = sw_streq(json_object_get_string(sw_json_at(keys, i)), key);
        if (!kept)
            json_object_object_del(target, key); /* json-c's foreach has the next one already */
    }
}

static void clear(struct json_object *map)
{
    json_object_object_foreach(map, key, value)
    {
        (void)value;
        json_object_object_del(map, key);
    }
}

static int merge_field(struct json_object *target, const char *field, struct json_object *value,
                       const struct place *at, struct sw_err *err)
{
    struct place here = { at, at->kind, field, -1 };
    struct json_object *old = sw_json_get(target, field);
    if (!value) {
        json_object_object_del(target, field);
        return 0;
    }
    if (is_map(value)) {
        if (!is_map(old)) {
            old = json_object_new_object();
            (void)json_object_object_add(target, field, old);
        }
        return merge_map(old, value, &here, err);
    }
    const struct list_row *row = is_list(value) ? find_row(at->kind, at->field, field) : NULL;
    if (!row) {
        (void)json_object_object_add(target, field, sw_json_copy(value));
        return 0;
    }
    if (!is_list(old)) {
        old = json_object_new_array();
        (void)json_object_object_add(target, field, old);
    }
    return merge_list(old, value, row, &here, err);
}

/* The directives of a map, before its fields. @return whether the fields still count */
static bool take_directives(struct json_object *target, struct json_object *patch)
{
    const char *directive = sw_json_str(patch, NULL, DIRECTIVE, NULL);
    if (sw_streq(directive, "delete")) {
        clear(target);
        return false;
    }
    if (sw_streq(directive, "replace"))
        clear(target);
    struct json_object *keys = sw_json_get(patch, RETAIN_KEYS);
    if (is_list(keys))
        retain(target, keys);
    json_object_object_foreach(patch, name, value)
    {
        if (sw_starts_with(name, DELETE_FROM)) {
            struct json_object *list = sw_json_get(target, name + strlen(DELETE_FROM));
            if (is_list(list))
                remove_values(list, value);
        }
    }
    return true;
}

static int merge_map(struct json_object *target, struct json_object *patch, const struct place *at,
                     struct sw_err *err)
{
    if (!take_directives(target, patch))
        return 0;
    json_object_object_foreach(patch, field, value)
    {
        if (field[0] == '$')
            continue;
        int rc = merge_field(target, field, value, at, err);
        if (rc < 0)
            return rc;
    }
    json_object_object_foreach(patch, name, order)
    {
        if (!sw_starts_with(name, ELEMENT_ORDER))
            continue;
        const char *list = name + strlen(ELEMENT_ORDER);
        const struct list_row *row = find_row(at->kind, at->field, list);
        if (row)
            reorder(target, list, order, row->key);
    }
    return 0;
}

int sw_strategic_apply(struct json_object *target, struct json_object *patch, const char *kind,
                       struct json_object **out, struct sw_err *err)
{
    if (!is_map(patch))
        return sw_err_set(err, SW_INVALID, "a strategic merge patch is a map");
    SW_AUTO_JSON *doc = is_map(target) ? sw_json_copy(target) : json_object_new_object();
    int rc = merge_map(doc, patch, &(struct place){ NULL, kind, "", -1 }, err);
    if (rc < 0)
        return rc;
    *out = SW_TAKE(doc);
    return 0;
}
