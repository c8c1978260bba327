#include "emulator/apply/list_types.h"

#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/schema/crd.h"
#include "emulator/schema/schema.h"

/* The built-in kinds' lists and maps that are not what their JSON type says by default (maps field
 * by field, lists as a whole). The first row that fits counts. */
static const struct {
    const char *kind;   /* NULL: any */
    const char *parent; /* NULL: any */
    const char *name;
    enum sw_list_type type;
    const char *keys[SW_LIST_TYPE_KEYS];
} rows[] = {
    { NULL, "metadata", "finalizers", SW_LIST_TYPE_SET_LIST, { 0 } },
    { NULL, "metadata", "ownerReferences", SW_LIST_TYPE_MAP_LIST, { "uid" } },
    { NULL, NULL, "conditions", SW_LIST_TYPE_MAP_LIST, { "type" } },
    /* pods */
    { NULL, NULL, "containers", SW_LIST_TYPE_MAP_LIST, { "name" } },
    { NULL, NULL, "initContainers", SW_LIST_TYPE_MAP_LIST, { "name" } },
    { NULL, NULL, "ephemeralContainers", SW_LIST_TYPE_MAP_LIST, { "name" } },
    { NULL, "containers", "ports", SW_LIST_TYPE_MAP_LIST, { "containerPort", "protocol" } },
    { NULL, "initContainers", "ports", SW_LIST_TYPE_MAP_LIST, { "containerPort", "protocol" } },
    { NULL, NULL, "env", SW_LIST_TYPE_MAP_LIST, { "name" } },
    { NULL, NULL, "volumeMounts", SW_LIST_TYPE_MAP_LIST, { "mountPath" } },
    { NULL, NULL, "volumeDevices", SW_LIST_TYPE_MAP_LIST, { "devicePath" } },
    { NULL, NULL, "volumes", SW_LIST_TYPE_MAP_LIST, { "name" } },
    { "ServiceAccount", NULL, "imagePullSecrets", SW_LIST_TYPE_ATOMIC, { 0 } },
    { NULL, NULL, "imagePullSecrets", SW_LIST_TYPE_MAP_LIST, { "name" } },
    { NULL, NULL, "hostAliases", SW_LIST_TYPE_MAP_LIST, { "ip" } },
    { NULL, NULL, "resourceClaims", SW_LIST_TYPE_MAP_LIST, { "name" } },
    { NULL, NULL, "schedulingGates", SW_LIST_TYPE_MAP_LIST, { "name" } },
    { NULL,
      NULL,
      "topologySpreadConstraints",
      SW_LIST_TYPE_MAP_LIST,
      { "topologyKey", "whenUnsatisfiable" } },
    { NULL, NULL, "nodeSelector", SW_LIST_TYPE_ATOMIC, { 0 } },
    { NULL, NULL, "podIPs", SW_LIST_TYPE_MAP_LIST, { "ip" } },
    /* references and selectors are one value */
    { NULL, NULL, "selector", SW_LIST_TYPE_ATOMIC, { 0 } },
    { NULL, NULL, "labelSelector", SW_LIST_TYPE_ATOMIC, { 0 } },
    { NULL, NULL, "namespaceSelector", SW_LIST_TYPE_ATOMIC, { 0 } },
    { NULL, NULL, "objectSelector", SW_LIST_TYPE_ATOMIC, { 0 } },
    { NULL, NULL, "podSelector", SW_LIST_TYPE_ATOMIC, { 0 } },
    { NULL, NULL, "configMapKeyRef", SW_LIST_TYPE_ATOMIC, { 0 } },
    { NULL, NULL, "secretKeyRef", SW_LIST_TYPE_ATOMIC, { 0 } },
    { NULL, NULL, "fieldRef", SW_LIST_TYPE_ATOMIC, { 0 } },
    { NULL, NULL, "resourceFieldRef", SW_LIST_TYPE_ATOMIC, { 0 } },
    { NULL, NULL, "roleRef", SW_LIST_TYPE_ATOMIC, { 0 } },
    /* other kinds */
    { "Service", "spec", "ports", SW_LIST_TYPE_MAP_LIST, { "port", "protocol" } },
    { "ServiceAccount", NULL, "secrets", SW_LIST_TYPE_MAP_LIST, { "name" } },
    { "Node", "status", "addresses", SW_LIST_TYPE_MAP_LIST, { "type" } },
    { "Node", "spec", "podCIDRs", SW_LIST_TYPE_SET_LIST, { 0 } },
    { "CSINode", "spec", "drivers", SW_LIST_TYPE_MAP_LIST, { "name" } },
    { NULL, NULL, "webhooks", SW_LIST_TYPE_MAP_LIST, { "name" } },
    { NULL, "webhooks", "matchConditions", SW_LIST_TYPE_MAP_LIST, { "name" } },
};

struct sw_cursor sw_cursor_root(const struct sw_emu_kind *kind, const char *version)
{
    return (struct sw_cursor){ .kind = kind, .schema = sw_crd_schema(kind, version) };
}

struct sw_cursor sw_cursor_field(const struct sw_cursor *at, const char *name)
{
    struct sw_cursor next = *at;
    next.in_meta = at->in_meta || (!at->name && strcmp(name, "metadata") == 0);
    next.parent = at->name;
    next.name = name;
    next.schema = at->schema && !next.in_meta ? sw_structural_property(at->schema, name) : NULL;
    return next;
}

struct sw_cursor sw_cursor_item(const struct sw_cursor *list)
{
    struct sw_cursor next = *list;
    next.schema = list->schema ? sw_structural_items(list->schema) : NULL;
    return next;
}

static struct sw_list_type_info from_schema(json_object *schema, json_object *value)
{
    struct sw_list_type_info info = { .type = SW_LIST_TYPE_ATOMIC };
    if (json_object_is_type(value, json_type_object)) {
        const char *type = sw_json_str(schema, "granular", "x-kubernetes-map-type", NULL);
        if (strcmp(type, "atomic") != 0)
            info.type = SW_LIST_TYPE_GRANULAR;
        return info;
    }
    const char *type = sw_json_str(schema, "atomic", "x-kubernetes-list-type", NULL);
    json_object *keys = sw_json_get(schema, "x-kubernetes-list-map-keys");
    if (strcmp(type, "set") == 0)
        info.type = SW_LIST_TYPE_SET_LIST;
    if (strcmp(type, "map") != 0 || sw_json_len(keys) == 0)
        return info;
    info.type = SW_LIST_TYPE_MAP_LIST;
    for (size_t i = 0; i < sw_json_len(keys) && i < SW_LIST_TYPE_KEYS - 1; i++) {
        const char *key = json_object_get_string(sw_json_at(keys, i));
        size_t at = i; /* sorted, as they stand in field paths */
        for (; at > 0 && strcmp(info.keys[at - 1], key) > 0; at--)
            info.keys[at] = info.keys[at - 1];
        info.keys[at] = key;
    }
    return info;
}

static struct sw_list_type_info declared_type(const struct sw_cursor *at, json_object *value)
{
    bool list = json_object_is_type(value, json_type_array);
    if (!list && !json_object_is_type(value, json_type_object))
        return (struct sw_list_type_info){ .type = SW_LIST_TYPE_ATOMIC };
    if (at->schema || (!at->kind->builtin && !at->in_meta))
        return from_schema(at->schema, value);
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        if (!at->name || strcmp(rows[i].name, at->name) != 0 ||
            (rows[i].parent && !sw_streq(rows[i].parent, at->parent)) ||
            (rows[i].kind && strcmp(rows[i].kind, at->kind->kind) != 0))
            continue;
        if (!list && rows[i].type != SW_LIST_TYPE_ATOMIC)
            continue; /* a map that only has the same name */
        struct sw_list_type_info info = { .type = rows[i].type };
        memcpy(info.keys, rows[i].keys, sizeof info.keys);
        return info;
    }
    return (struct sw_list_type_info){ .type = list ? SW_LIST_TYPE_ATOMIC : SW_LIST_TYPE_GRANULAR };
}

/* A list by keys has objects in it; one that was written with something else is one value. */
struct sw_list_type_info sw_cursor_list_type(const struct sw_cursor *at, json_object *value)
{
    const struct sw_list_type_info info = declared_type(at, value);
    for (size_t i = 0; info.type == SW_LIST_TYPE_MAP_LIST && i < sw_json_len(value); i++)
        if (!json_object_is_type(sw_json_at(value, i), json_type_object))
            return (struct sw_list_type_info){ .type = SW_LIST_TYPE_ATOMIC };
    return info;
}

/* Ports of one number and several protocols are several ports; most leave the protocol out. */
json_object *sw_list_type_key(json_object *item, const char *key)
{
    static json_object *tcp;
    json_object *value = sw_json_get(item, key);
    if (value || strcmp(key, "protocol") != 0)
        return value;
    if (!tcp)
        tcp = json_object_new_string("TCP");
    return tcp;
}
