/* What nodes run, by the names that AICR gives to measurements (chart/aicr/constraints.h). */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "data/json/json.h"
#include "data/json/path.h"
#include "operator/facts/facts.h"

static void put(struct json_object *facts, const char *name, const char *value)
{
    if (value && *value)
        sw_json_set_str(facts, value, name, NULL);
}

static void put_system(struct json_object *facts, const struct sw_os *os, const char *version_id,
                       const char *kernel)
{
    const size_t len = os->major_minor ? strlen(os->major_minor) : 0,
                 behind = os->decimal ? strlen(os->decimal) : 0;
    SW_AUTO_CHARS *id = sw_strndup(len ? os->major_minor : "", len > behind ? len - behind : 0);
    put(facts, "OS.release.ID", id);
    put(facts, "OS.release.VERSION_ID", version_id && *version_id ? version_id : os->decimal);
    put(facts, "OS.sysctl./proc/sys/kernel/osrelease", kernel);
}

struct json_object *sw_node_measured(const struct sw_node *node)
{
    static const char *const driver[] = { "nvidia.com/cuda.driver.major",
                                          "nvidia.com/cuda.driver.minor",
                                          "nvidia.com/cuda.driver.rev" };
    struct json_object *facts = json_object_new_object();
    SW_AUTO_CHARS *version = NULL;
    put_system(facts, &node->os,
               sw_node_label(node, "feature.node.kubernetes.io/system-os_release.VERSION_ID"),
               node->kernel);
    for (size_t i = 0; i < SW_COUNT(driver); i++) {
        const char *part = sw_node_label(node, driver[i]);
        if (part && *part && (i == 0 || version))
            sw_append(&version, "%s%s", version ? "." : "", part);
    }
    const char *whole = sw_node_label(node, "nvidia.com/cuda.driver-version.full");
    put(facts, "GPU.smi.driver-version", whole ? whole : version);
    put(facts, "GPU.smi.gpu.model", sw_node_label(node, "nvidia.com/gpu.product"));
    return facts;
}

struct json_object *sw_groups_measured(const struct sw_groups *groups, const char *kube_version)
{
    struct json_object *all = json_object_new_object(),
                       *nodes = sw_json_need_list(all, "nodes", NULL);
    put(sw_json_need_map(all, "cluster", NULL), "K8s.server.version", kube_version);
    for (size_t i = 0; i < groups->n; i++) {
        const struct sw_group *g = groups->items[i];
        struct json_object *node = json_object_new_object();
        SW_AUTO_CHARS *name = sw_printf("%zu %s with %s", g->n_nodes,
                                        g->n_nodes == 1 ? "node" : "nodes", g->id);
        sw_json_set_str(node, name, "name", NULL);
        put_system(sw_json_need_map(node, "facts", NULL), &g->os, g->version_id, g->kernel);
        (void)json_object_array_add(nodes, node);
    }
    return all;
}
