/* uninstall: what a resource has left behind that was deleted while no operator ran: the garbage
 * collector has taken what had it for an owner, and definitions, namespaces and nodes still have
 * its mark. */
#include "cli/commands/uninstall.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cluster/requests.h"
#include "data/data.h"
#include "operator/engine/nodes/node_set.h"
#include "operator/inventory/inventory.h"
#include "operator/manifests/hooks.h"
#include "operator/manifests/shared_release.h"

#define OWNED SW_OWNED_LABEL "=true"
#define ANN_RESOURCE "slipway.dev/resource"
#define ANN_ADOPTED "slipway.dev/adopted"
#define ANN_POLICY "helm.sh/resource-policy"

/* Entries of an inventory, by the turn of their objects: custom resources go while their operators
 * run, namespaces last. */
struct leftovers {
    struct json_object *turns[4];
};

static size_t turn_of(const struct sw_kind *kind)
{
    static const char theirs[] = ".k8s.io";
    const size_t len = strlen(kind->group), end = strlen(theirs);
    if (sw_streq(kind->kind, "Namespace"))
        return 3;
    if (sw_streq(kind->kind, "CustomResourceDefinition"))
        return 2;
    return strchr(kind->group, '.') && (len < end || strcmp(kind->group + len - end, theirs) != 0)
               ? 0
               : 1;
}

/* Who needs @live, of those that there are; borrowed. NULL: nobody does. */
static const char *user_of(const struct uninstall *u, const struct sw_kind *kind,
                           struct json_object *live)
{
    const char *group = sw_json_str(live, "", "spec", "group", NULL),
               *defined = sw_json_str(live, "", "spec", "names", "kind", NULL);
    SW_AUTO_JSON *releases = sw_shared_releases_of(live);
    for (size_t i = 0; i < sw_json_len(u->resources); i++) {
        struct json_object *other = sw_json_at(u->resources, i);
        struct json_object *inventory = sw_inventory_of(sw_json_get(other, "status"));
        bool needs = sw_streq(kind->kind, "Namespace")
                         ? sw_inventory_needs_namespace(inventory, sw_obj_name(live))
                         : sw_streq(kind->kind, "CustomResourceDefinition") &&
                               sw_inventory_needs_kind(inventory, group, defined);
        json_object_object_foreach(releases, name, entry)
        {
            (void)name;
            needs = needs || sw_shared_is_used_by(entry, sw_obj_uid(other));
        }
        if (needs)
            return sw_obj_name(other);
    }
    return NULL;
}

static void take_object(struct uninstall *u, struct leftovers *left, const struct sw_kind *kind,
                        struct json_object *live)
{
    const char *user = user_of(u, kind, live);
    struct json_object *entry = json_object_new_object();
    sw_json_set_str(entry, kind->api_version, "apiVersion", NULL);
    sw_json_set_str(entry, kind->kind, "kind", NULL);
    sw_json_set_str(entry, sw_obj_name(live), "name", NULL);
    sw_json_set_str(entry, sw_obj_uid(live), "uid", NULL);
    if (kind->namespaced)
        sw_json_set_str(entry, sw_obj_namespace(live), "namespace", NULL);
    if (sw_streq(sw_obj_annotation(live, ANN_POLICY), "keep"))
        sw_json_set(entry, json_object_new_boolean(true), "keep", NULL);
    if (sw_streq(sw_obj_annotation(live, ANN_ADOPTED), "true"))
        sw_json_set(entry, json_object_new_boolean(true), "adopted", NULL);
    if (user) {
        SW_AUTO_CHARS *why = sw_printf("resource %s needs it", user);
        uninstall_say(u, "keep", kind->kind, NULL, sw_obj_name(live), why);
        json_object_put(entry);
        return;
    }
    (void)json_object_array_add(left->turns[turn_of(kind)], entry);
}

/* The objects that have the mark of the resource @u->only. */
static void find_objects(struct uninstall *u, struct leftovers *left)
{
    struct sw_kind_list kinds = sw_cluster_removable(&u->conn);
    for (size_t k = 0; k < kinds.n; k++) {
        const struct sw_kind *kind = kinds.items[k];
        SW_AUTO_JSON *items = NULL;
        SW_ERR(err);
        if (sw_streq(kind->kind, "Endpoints") || sw_streq(kind->kind, "Event"))
            continue; /* made by others, and a server warns of the former */
        if (sw_cluster_list(&u->conn, kind, NULL,
                            &(struct sw_request_opts){ .label_selector = OWNED, .retries = 3 },
                            &items, &err) < 0) {
            if (err.code != SW_NOTFOUND)
                uninstall_failed(u, &err);
            continue;
        }
        for (size_t i = 0; i < sw_json_len(items); i++) {
            struct json_object *live = sw_json_at(items, i);
            if (sw_streq(sw_obj_annotation(live, ANN_RESOURCE), u->only) &&
                !sw_json_find(live, "metadata", "deletionTimestamp", NULL))
                take_object(u, left, kind, live);
        }
    }
    free(kinds.items);
}

static bool is_of_another(const struct uninstall *u, const char *label)
{
    for (size_t i = 0; i < sw_json_len(u->resources); i++) {
        struct json_object *states = sw_json_find(sw_json_at(u->resources, i), "status", "states",
                                                  NULL);
        if (sw_json_find_by(states, "label", label))
            return true;
    }
    return false;
}

/* The labels of its states, which nodes still have. */
static struct json_object *find_states(const struct uninstall *u, struct json_object *nodes)
{
    SW_AUTO_CHARS *prefix = sw_printf(SW_STATE_LABEL "%s-", u->only);
    struct json_object *states = json_object_new_array();
    for (size_t i = 0; i < sw_json_len(nodes); i++) {
        struct json_object *labels = sw_json_find(sw_json_at(nodes, i), "metadata", "labels", NULL);
        if (!labels)
            continue;
        json_object_object_foreach(labels, key, value)
        {
            (void)value;
            if (!sw_starts_with(key, prefix) || sw_json_find_by(states, "label", key) ||
                is_of_another(u, key))
                continue;
            struct json_object *state = json_object_new_object();
            sw_json_set_str(state, key, "label", NULL);
            (void)json_object_array_add(states, state);
        }
    }
    return states;
}

struct json_object *uninstall_left(struct uninstall *u, struct json_object *nodes)
{
    struct leftovers left;
    struct json_object *resource = json_object_new_object();
    struct json_object *inventory = sw_json_need_list(resource, "status", "inventory", NULL);
    sw_json_set_str(resource, u->only, "metadata", "name", NULL);
    for (size_t i = 0; i < sw_json_len(u->resources); i++) /* unpack their states */
        (void)sw_inventory_of(sw_json_get(sw_json_at(u->resources, i), "status"));
    for (size_t i = 0; i < SW_COUNT(left.turns); i++)
        left.turns[i] = json_object_new_array();
    find_objects(u, &left);
    for (size_t i = SW_COUNT(left.turns); i-- > 0;) { /* what comes first goes last */
        for (size_t k = 0; k < sw_json_len(left.turns[i]); k++)
            (void)json_object_array_add(inventory, json_object_get(sw_json_at(left.turns[i], k)));
        json_object_put(left.turns[i]);
    }
    sw_json_set(resource, find_states(u, nodes), "status", "states", NULL);
    return resource;
}
