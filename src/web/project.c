#include "web/project.h"

#include <json-c/json.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "kube/kube.h"
#include "operator/inventory/inventory.h"

#define STATE_LABEL "specialresource.openshift.io/state-"

/* Copy the value at @key, if there is one. */
static void keep(struct json_object *to, struct json_object *from, const char *key)
{
    struct json_object *value = sw_json_get(from, key);
    if (value)
        sw_json_set(to, json_object_get(value), key, NULL);
}

static void keep_all(struct json_object *to, struct json_object *from, const char *const *keys,
                     size_t n)
{
    for (size_t i = 0; i < n; i++)
        keep(to, from, keys[i]);
}

/* ---- SpecialResources --------------------------------------------------------------------------
 */

/* Which objects there are, without their hashes. */
static struct json_object *inventory_of(struct json_object *status)
{
    static const char *const keys[] = { "apiVersion", "kind", "namespace", "name", "state" };
    struct json_object *list = json_object_new_array(), *inventory = sw_inventory_of(status);
    for (size_t i = 0; i < sw_json_len(inventory); i++) {
        struct json_object *item = json_object_new_object();
        keep_all(item, sw_json_at(inventory, i), keys, SW_COUNT(keys));
        (void)json_object_array_add(list, item);
    }
    return list;
}

struct json_object *web_project_resource(struct json_object *object)
{
    static const char *const keys[] = { "state", "conditions", "states", "upgrade", "lostNodes" };
    struct json_object *doc = json_object_new_object(), *status = sw_json_get(object, "status"),
                       *metadata = sw_json_get(object, "metadata");
    keep(doc, metadata, "creationTimestamp");
    keep(doc, metadata, "deletionTimestamp");
    const char *chart = sw_json_str(object, NULL, "spec", "chart", "name", NULL),
               *version = sw_json_str(object, NULL, "spec", "chart", "version", NULL);
    if (chart)
        sw_json_set_str(doc, chart, "chart", NULL);
    if (version)
        sw_json_set_str(doc, version, "version", NULL);
    sw_json_set(doc, inventory_of(status), "inventory", NULL); /* it unpacks the states, too */
    keep_all(doc, status, keys, SW_COUNT(keys));
    return doc;
}

/* ---- nodes -------------------------------------------------------------------------------------
 */

/* What a node belongs to: its provider's pool, else its roles. Heap; NULL: nothing is known. */
static char *pool_of(struct json_object *labels)
{
    static const char role[] = "node-role.kubernetes.io/";
    static const char *const pools[] = { "karpenter.sh/nodepool", "eks.amazonaws.com/nodegroup",
                                         "cloud.google.com/gke-nodepool",
                                         "kubernetes.azure.com/agentpool" };
    for (size_t i = 0; i < SW_COUNT(pools); i++) {
        const char *pool = sw_json_str(labels, NULL, pools[i], NULL);
        if (pool)
            return sw_strdup(pool);
    }
    char *roles = NULL;
    if (labels) {
        json_object_object_foreach(labels, key, value)
        {
            (void)value;
            if (sw_starts_with(key, role))
                sw_append(&roles, "%s%s", roles ? ", " : "", key + strlen(role));
        }
    }
    return roles;
}

struct json_object *web_project_node(struct json_object *object)
{
    struct json_object *doc = json_object_new_object(), *states = json_object_new_object(),
                       *labels = sw_json_find(object, "metadata", "labels", NULL),
                       *info = sw_json_find(object, "status", "nodeInfo", NULL);
    SW_AUTO_CHARS *pool = pool_of(labels);
    if (labels) {
        json_object_object_foreach(labels, key, value)
        {
            if (sw_starts_with(key, STATE_LABEL))
                sw_json_set(states, json_object_get(value), key + strlen(STATE_LABEL), NULL);
        }
    }
    if (pool)
        sw_json_set_str(doc, pool, "pool", NULL);
    keep(doc, info, "kernelVersion");
    keep(doc, info, "osImage");
    if (sw_json_bool(object, false, "spec", "unschedulable", NULL))
        sw_json_set(doc, json_object_new_boolean(true), "cordoned", NULL);
    if (!sw_streq(sw_json_str(sw_obj_condition(object, "Ready"), "", "status", NULL), "True"))
        sw_json_set(doc, json_object_new_boolean(true), "down", NULL);
    sw_json_set(doc, states, "states", NULL);
    return doc;
}

/* ---- pods --------------------------------------------------------------------------------------
 */

/* Whether a container, or one before it of the same name, is not as it should be. */
static bool is_ill(struct json_object *status)
{
    struct json_object *ended = sw_json_find(status, "state", "terminated", NULL);
    if (ended)
        return sw_json_int(ended, 0, "exitCode", NULL) != 0;
    return !sw_json_bool(status, false, "ready", NULL);
}

static void add_containers(struct json_object *doc, struct json_object *list, bool init)
{
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *status = sw_json_at(list, i), *c;
        if (!is_ill(status))
            continue;
        c = json_object_new_object();
        keep(c, status, "name");
        keep(c, status, "state");
        keep(c, status, "lastState");
        keep(c, status, "restartCount");
        if (init)
            sw_json_set(c, json_object_new_boolean(true), "init", NULL);
        (void)json_object_array_add(sw_json_need_list(doc, "containers", NULL), c);
    }
}

struct json_object *web_project_pod(struct json_object *object)
{
    struct json_object *status = sw_json_get(object, "status"), *owner = sw_obj_controller(object),
                       *scheduled = sw_obj_condition(object, "PodScheduled");
    const char *phase = sw_json_str(status, "Pending", "phase", NULL),
               *node = sw_json_str(object, NULL, "spec", "nodeName", NULL);
    if (sw_streq(phase, "Succeeded") ||
        sw_streq(sw_json_str(sw_obj_condition(object, "Ready"), "", "status", NULL), "True"))
        return NULL;
    struct json_object *doc = json_object_new_object();
    sw_json_set_str(doc, phase, "phase", NULL);
    if (node)
        sw_json_set_str(doc, node, "node", NULL);
    if (owner) {
        sw_json_set_str(doc, sw_json_str(owner, "", "kind", NULL), "owner", "kind", NULL);
        sw_json_set_str(doc, sw_json_str(owner, "", "name", NULL), "owner", "name", NULL);
    }
    keep(doc, status, "reason");
    keep(doc, status, "message");
    if (sw_streq(sw_json_str(scheduled, "", "status", NULL), "False"))
        sw_json_set_str(doc, sw_json_str(scheduled, "", "message", NULL), "unscheduled", NULL);
    add_containers(doc, sw_json_get(status, "initContainerStatuses"), true);
    add_containers(doc, sw_json_get(status, "containerStatuses"), false);
    return doc;
}

/* ---- the rest ----------------------------------------------------------------------------------
 */

struct json_object *web_project_event(struct json_object *object)
{
    static const char *const keys[] = { "reason", "message", "type", "count" };
    struct json_object *doc = json_object_new_object();
    sw_json_set_str(doc, sw_json_str(object, "", "involvedObject", "name", NULL), "of", NULL);
    sw_json_set_str(doc, sw_kube_event_time(object), "at", NULL);
    keep_all(doc, object, keys, SW_COUNT(keys));
    return doc;
}

struct json_object *web_project_accelerator(struct json_object *object)
{
    struct json_object *doc = json_object_new_object(), *ready = sw_obj_condition(object, "Ready");
    if (!sw_streq(sw_json_str(ready, "", "status", NULL), "True"))
        sw_json_set_str(doc, sw_json_str(ready, "not ready", "message", NULL), "unready", NULL);
    return doc;
}
