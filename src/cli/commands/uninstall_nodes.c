/* uninstall: what a resource has set on nodes. */
#include "cli/commands/uninstall.h"

#include <json-c/json.h>
#include <string.h>

#include "cli/cluster/requests.h"
#include "data/data.h"
#include "operator/engine/nodes/grace_period.h"
#include "operator/engine/upgrade/upgrade.h"
#include "operator/facts/facts.h"

static bool is_ours(struct json_object *mine, struct json_object *taint)
{
    SW_AUTO_CHARS *words = sw_printf("%s=%s:%s", sw_json_str(taint, "", "key", NULL),
                                     sw_json_str(taint, "", "value", NULL),
                                     sw_json_str(taint, "", "effect", NULL));
    for (size_t i = 0; i < sw_json_len(mine); i++)
        if (sw_streq(json_object_get_string(sw_json_at(mine, i)), words))
            return true;
    return false;
}

/* The taints that the node's record says were set for the resource, into @patch. What a second
 * resource wanted, too, is in its own part of the record. @return whether there are any */
static bool remove_taints(struct uninstall *u, const char *resource, struct json_object *node,
                          struct json_object *patch)
{
    const char *text = sw_obj_annotation(node, SW_TAINTS_ANNOTATION);
    SW_AUTO_JSON *record = NULL;
    SW_ERR(err);
    if (!text || sw_json_parse(text, strlen(text), NULL, &record, &err) < 0)
        return false;
    SW_AUTO_JSON *mine = json_object_get(sw_json_get(record, resource));
    if (!mine)
        return false;
    json_object_object_del(record, resource);
    struct json_object *left = json_object_new_array(),
                       *all = sw_json_find(node, "spec", "taints", NULL);
    for (size_t i = 0; i < sw_json_len(all); i++) {
        struct json_object *taint = sw_json_at(all, i);
        bool others = false;
        json_object_object_foreach(record, name, list)
        {
            (void)name;
            others = others || is_ours(list, taint);
        }
        if (!is_ours(mine, taint) || others)
            (void)json_object_array_add(left, sw_json_copy(taint));
        else
            uninstall_say(u, "untaint", "Node", NULL, sw_obj_name(node),
                          sw_json_str(taint, "", "key", NULL));
    }
    SW_AUTO_CHARS *rest = sw_json_text(record, SW_JSON_PLAIN, NULL);
    bool none = sw_json_len(left) == 0;
    sw_json_set(patch, none ? NULL : left, "spec", "taints", NULL);
    if (none)
        json_object_put(left);
    sw_json_set(patch, sw_json_len(record) ? json_object_new_string(rest) : NULL, "metadata",
                "annotations", SW_TAINTS_ANNOTATION, NULL);
    sw_json_set_str(patch, sw_json_str(node, "", "metadata", "resourceVersion", NULL), "metadata",
                    "resourceVersion", NULL);
    return true;
}

/* As the node is now: another resource's part may just have been taken off. */
static bool remove_taints_of(struct uninstall *u, const char *resource, struct json_object *node,
                             struct json_object *patch)
{
    SW_AUTO_JSON *live = NULL;
    SW_ERR(err);
    if (!sw_obj_annotation(node, SW_TAINTS_ANNOTATION))
        return false;
    if (u->opts.plan)
        return remove_taints(u, resource, node, patch);
    return sw_cluster_find(&u->conn, "v1", "Node", NULL, sw_obj_name(node),
                           &(struct sw_request_opts){ .retries = 3 }, &live, &err) == 0 &&
           remove_taints(u, resource, live, patch);
}

static void remove_label(struct uninstall *u, struct json_object *node, const char *label,
                         struct json_object *patch)
{
    struct json_object *map = sw_json_need_map(patch, "metadata", "labels", NULL);
    (void)json_object_object_add(map, label, NULL);
    uninstall_say(u, "unlabel", "Node", NULL, sw_obj_name(node), label);
}

/* Set for an upgrade of the node's driver, that nobody ends any more. */
static bool is_of_upgrade(const char *key, const char *resource)
{
    static const char *const prefixes[] = { SW_UPGRADE_LABEL, SW_UPGRADE_SINCE_LABEL,
                                            SW_UPGRADE_CORDON_LABEL };
    for (size_t i = 0; i < SW_COUNT(prefixes); i++)
        if (sw_starts_with(key, prefixes[i]) && sw_streq(key + strlen(prefixes[i]), resource))
            return true;
    return false;
}

/* Of a state, by its whole key, or the one by which pods stay. */
static bool is_of_states(const char *key, const char *value, struct json_object *resource)
{
    struct json_object *states = sw_json_find(resource, "status", "states", NULL);
    if (sw_starts_with(key, SW_GRACE_PERIOD_LABEL) && sw_streq(value, sw_obj_name(resource)))
        return true;
    for (size_t i = 0; i < sw_json_len(states); i++)
        if (sw_streq(sw_json_str(sw_json_at(states, i), "", "label", NULL), key))
            return true;
    return false;
}

/* What one resource has cordoned is uncordoned when it goes, but not what another one has, too. */
static void uncordon(struct uninstall *u, const char *resource, struct json_object *node,
                     struct json_object *patch)
{
    struct json_object *labels = sw_json_find(node, "metadata", "labels", NULL);
    bool mine = false;
    if (!labels)
        return;
    json_object_object_foreach(labels, key, value)
    {
        (void)value;
        if (!sw_starts_with(key, SW_UPGRADE_CORDON_LABEL))
            continue;
        if (!is_of_upgrade(key, resource))
            return;
        mine = true;
    }
    if (!mine)
        return;
    sw_json_set(patch, NULL, "spec", "unschedulable", NULL);
    uninstall_say(u, "uncordon", "Node", NULL, sw_obj_name(node), "");
}

void uninstall_clear_node(struct uninstall *u, struct json_object *resource,
                          const struct sw_kind *node_kind, struct json_object *node)
{
    struct json_object *labels = sw_json_find(node, "metadata", "labels", NULL);
    const char *name = sw_obj_name(resource);
    bool all = !uninstall_is_orphaning(resource);
    SW_AUTO_JSON *patch = json_object_new_object();
    bool any = all && remove_taints_of(u, name, node, patch);
    uncordon(u, name, node, patch);
    if (labels) {
        json_object_object_foreach(labels, key, value)
        {
            if (is_of_upgrade(key, name) ||
                (all && is_of_states(key, json_object_get_string(value), resource)))
                remove_label(u, node, key, patch);
        }
    }
    struct json_object *gone = sw_json_find(patch, "metadata", "labels", NULL);
    if (gone) {
        json_object_object_foreach(gone, key, value)
        {
            (void)value;
            json_object_object_del(labels, key); /* the next resource sees what is left */
        }
    }
    SW_ERR(err);
    if ((any || gone) && !u->opts.plan &&
        sw_cluster_patch(&u->conn, node_kind, NULL, sw_obj_name(node), patch, &err) < 0)
        uninstall_failed(u, &err);
}
