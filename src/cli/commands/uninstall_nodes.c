/* uninstall: labels, taints and cordons that a resource has set on nodes. */
#include "cli/commands/uninstall.h"

#include <json-c/json.h>
#include <string.h>

#include "cli/cluster/requests.h"
#include "data/data.h"
#include "operator/engine/nodes/grace_period.h"
#include "operator/engine/upgrade/upgrade.h"
#include "operator/facts/facts.h"

/* @recorded: ["key=value:effect", ...]: the taints that one resource has set. */
static bool is_recorded(struct json_object *recorded, struct json_object *taint)
{
    SW_AUTO_CHARS *text = sw_printf("%s=%s:%s", sw_json_str(taint, "", "key", NULL),
                                    sw_json_str(taint, "", "value", NULL),
                                    sw_json_str(taint, "", "effect", NULL));
    return sw_json_has_text(recorded, text);
}

/* A patch that takes off the taints that the node's record says were set for the resource (@arg:
 * its name), except those that were set for another one, too; the caller's. NULL: there are none */
static struct json_object *without_taints(struct json_object *node, const void *arg)
{
    const char *resource = arg;
    const char *text = sw_obj_annotation(node, SW_TAINTS_ANNOTATION);
    SW_AUTO_JSON *record = NULL;
    SW_ERR(err);
    if (!text || sw_json_parse(text, strlen(text), NULL, &record, &err) < 0)
        return NULL;
    SW_AUTO_JSON *mine = json_object_get(sw_json_get(record, resource));
    if (!mine)
        return NULL;
    json_object_object_del(record, resource);
    struct json_object *left = json_object_new_array(),
                       *all = sw_json_find(node, "spec", "taints", NULL);
    for (size_t i = 0; i < sw_json_len(all); i++) {
        struct json_object *taint = sw_json_at(all, i);
        bool others = false;
        json_object_object_foreach(record, name, list)
        {
            (void)name;
            others = others || is_recorded(list, taint);
        }
        if (!is_recorded(mine, taint) || others)
            (void)json_object_array_add(left, sw_json_copy(taint));
    }
    struct json_object *patch = json_object_new_object();
    SW_AUTO_CHARS *rest = sw_json_text(record, SW_JSON_PLAIN, NULL);
    bool none = sw_json_len(left) == 0;
    sw_json_set(patch, none ? NULL : left, "spec", "taints", NULL);
    if (none)
        json_object_put(left);
    sw_json_set(patch, sw_json_len(record) ? json_object_new_string(rest) : NULL, "metadata",
                "annotations", SW_TAINTS_ANNOTATION, NULL);
    sw_json_set_str(patch, sw_json_str(node, "", "metadata", "resourceVersion", NULL), "metadata",
                    "resourceVersion", NULL);
    return patch;
}

static void remove_taints(struct uninstall *u, const char *resource, const struct sw_kind *kind,
                          struct json_object *node)
{
    SW_AUTO_JSON *patch = without_taints(node, resource);
    struct json_object *all = sw_json_find(node, "spec", "taints", NULL),
                       *left = sw_json_find(patch, "spec", "taints", NULL);
    SW_ERR(err);
    for (size_t i = 0, at = 0; patch && i < sw_json_len(all); i++) {
        if (sw_json_equal(sw_json_at(all, i), sw_json_at(left, at)))
            at++;
        else
            uninstall_say(u, "untaint", "Node", NULL, sw_obj_name(node),
                          sw_json_str(sw_json_at(all, i), "", "key", NULL));
    }
    if (patch && !u->opts.plan &&
        sw_cluster_change(&u->conn, kind, NULL, node, without_taints, resource, &err) < 0)
        uninstall_failed(u, &err);
}

/* Whether the label was set for an upgrade of the node's driver. */
static bool is_of_upgrade(const char *key, const char *resource)
{
    static const char *const prefixes[] = { SW_UPGRADE_LABEL, SW_UPGRADE_SINCE_LABEL,
                                            SW_UPGRADE_CORDON_LABEL };
    for (size_t i = 0; i < SW_COUNT(prefixes); i++)
        if (sw_starts_with(key, prefixes[i]) && sw_streq(key + strlen(prefixes[i]), resource))
            return true;
    return false;
}

/* Whether the label is of a state, or the one that holds a pod's grace period. */
static bool is_of_states(const char *key, const char *value, struct json_object *resource)
{
    struct json_object *states = sw_json_find(resource, "status", "states", NULL);
    return sw_json_find_by(states, "label", key) ||
           (sw_starts_with(key, SW_READY_LABEL) && sw_json_find_by(states, "readyLabel", key)) ||
           (sw_starts_with(key, SW_GRACE_PERIOD_LABEL) && sw_streq(value, sw_obj_name(resource)));
}

void uninstall_clear_node(struct uninstall *u, struct json_object *resource,
                          const struct sw_kind *node_kind, struct json_object *node)
{
    struct json_object *labels = sw_json_find(node, "metadata", "labels", NULL), *live = NULL;
    const char *name = sw_obj_name(resource), *node_name = sw_obj_name(node);
    bool all = !uninstall_is_orphaning(resource), cordoned = false, by_others = false;
    SW_AUTO_JSON *patch = json_object_new_object();
    SW_ERR(err);
    if (all && sw_obj_annotation(node, SW_TAINTS_ANNOTATION)) {
        /* read it again: another resource's taints may just have been removed */
        if (u->opts.plan)
            live = json_object_get(node);
        else if (sw_cluster_get(&u->conn, node_kind, NULL, node_name,
                                &(struct sw_request_opts){ .retries = 3 }, &live, &err) < 0)
            live = NULL;
        if (live)
            remove_taints(u, name, node_kind, live);
        json_object_put(live);
    }
    if (labels) {
        json_object_object_foreach(labels, key, value)
        {
            bool upgrade = is_of_upgrade(key, name);
            if (sw_starts_with(key, SW_UPGRADE_CORDON_LABEL)) {
                cordoned = cordoned || upgrade;
                by_others = by_others || !upgrade;
            }
            if (!upgrade && (!all || !is_of_states(key, json_object_get_string(value), resource)))
                continue;
            sw_json_set(patch, NULL, "metadata", "labels", key, NULL);
            uninstall_say(u, "unlabel", "Node", NULL, node_name, key);
        }
    }
    if (cordoned && !by_others) {
        sw_json_set(patch, NULL, "spec", "unschedulable", NULL);
        uninstall_say(u, "uncordon", "Node", NULL, node_name, "");
    }
    struct json_object *removed = sw_json_find(patch, "metadata", "labels", NULL);
    if (removed) {
        json_object_object_foreach(removed, key, value)
        {
            (void)value;
            json_object_object_del(labels, key); /* for the next resource */
        }
    }
    if ((removed || (cordoned && !by_others)) && !u->opts.plan &&
        sw_cluster_patch(&u->conn, node_kind, NULL, node_name, patch, &err) < 0)
        uninstall_failed(u, &err);
}

void uninstall_clear_kernels(struct uninstall *u, const struct sw_kind *node_kind)
{
    SW_AUTO_JSON *nodes = NULL;
    SW_ERR(err);
    int rc = sw_cluster_list(&u->conn, node_kind, NULL,
                             &(struct sw_request_opts){ .label_selector = SW_KERNEL_LABEL,
                                                        .fields = sw_node_owner_fields,
                                                        .retries = 3 },
                             &nodes, &err);
    for (size_t i = 0; rc == 0 && i < sw_json_len(nodes); i++) {
        const char *name = sw_obj_name(sw_json_at(nodes, i));
        if (!sw_node_has_own_kernel(sw_json_at(nodes, i)))
            continue;
        uninstall_say(u, "unlabel", "Node", NULL, name, SW_KERNEL_LABEL);
        SW_AUTO_JSON *patch = json_object_new_object();
        sw_json_set(patch, NULL, "metadata", "labels", SW_KERNEL_LABEL, NULL);
        SW_ERR(why);
        int code = u->opts.plan ? 0
                                : sw_cluster_patch(&u->conn, node_kind, NULL, name, patch, &why);
        if (code < 0 && code != SW_NOTFOUND) /* the others get rid of theirs all the same */
            uninstall_failed(u, &why);
    }
    if (rc < 0)
        uninstall_failed(u, &err);
}
