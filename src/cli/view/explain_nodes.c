#include "cli/view/explain_nodes.h"

#include <json-c/json.h>
#include <stdlib.h>

#include "cli/cluster/requests.h"
#include "data/data.h"

enum { MOST_NODES = 5, RETRIES = 3 };

struct step {
    const char *value, *is, *why;
};

/* NVIDIA's GPU operator replaces drivers: github.com/NVIDIA/k8s-operator-libs, pkg/upgrade. */
static const struct step driver_upgrade[] = {
    { "upgrade-required", "Waiting",
      "it waits for its turn (upgradePolicy.maxParallelUpgrades, maxUnavailable)" },
    { "cordon-required", "Waiting", "it is to be cordoned" },
    { "wait-for-jobs-required", "Waiting",
      "the pods of upgradePolicy.waitForCompletion on it have not ended" },
    { "pod-deletion-required", "Waiting",
      "pods with GPUs on it are not gone; a PodDisruptionBudget can hold them" },
    { "drain-required", "Waiting", "it is not drained; a PodDisruptionBudget can hold it" },
    { "node-maintenance-required", "Waiting", "a maintenance operator has not finished with it" },
    { "post-maintenance-required", "Waiting", "a maintenance operator has finished with it" },
    { "pod-restart-required", "Waiting", "the new driver's pod on it is not ready" },
    { "validation-required", "Waiting", "the operator's validator on it is not ready" },
    { "uncordon-required", "Waiting", "it is to be uncordoned" },
    { "upgrade-failed", "Failed",
      "the operator has given up; it goes on by itself once the new driver's pod is ready, and "
      "anew "
      "with the label's value upgrade-required" },
};

static const struct process {
    const char *group, *kind, *label, *done, *skip;
    const struct step *steps;
    size_t n_steps;
} processes[] = {
    { "nvidia.com/", "ClusterPolicy", "nvidia.com/gpu-driver-upgrade-state", "upgrade-done",
      "nvidia.com/gpu-driver-upgrade.skip", driver_upgrade, SW_COUNT(driver_upgrade) },
    { "nvidia.com/", "NVIDIADriver", "nvidia.com/gpu-driver-upgrade-state", "upgrade-done",
      "nvidia.com/gpu-driver-upgrade.skip", driver_upgrade, SW_COUNT(driver_upgrade) },
};

static const struct process *process_of(struct json_object *object)
{
    for (size_t i = 0; i < SW_COUNT(processes); i++)
        if (sw_starts_with(sw_obj_api_version(object), processes[i].group) &&
            sw_streq(sw_obj_kind(object), processes[i].kind))
            return &processes[i];
    return NULL;
}

static struct json_object *link_of(const struct process *process, struct json_object *node)
{
    const char *value = sw_obj_label(node, process->label);
    const struct step *step = NULL;
    for (size_t i = 0; i < process->n_steps; i++)
        if (sw_streq(process->steps[i].value, value))
            step = &process->steps[i];
    const bool skipped = sw_streq(sw_obj_label(node, process->skip), "true");
    struct json_object *link = json_object_new_object();
    SW_AUTO_CHARS *what = sw_printf("Node %s", sw_obj_name(node));
    SW_AUTO_CHARS *why = sw_printf("%s is %s%s%s", process->label, value,
                                   skipped || step ? ": " : "",
                                   skipped ? "it is skipped, as another label says"
                                   : step  ? step->why
                                           : "");
    sw_json_set_str(link, what, "what", NULL);
    sw_json_set_str(link, step ? step->is : "Waiting", "is", NULL);
    sw_json_set_str(link, why, "why", NULL);
    return link;
}

struct json_object *sw_explain_nodes(struct sw_connection *conn, struct json_object *object)
{
    SW_ERR(err);
    SW_AUTO_JSON *nodes = NULL;
    const struct process *process = process_of(object);
    if (!process)
        return NULL;
    SW_AUTO_CHARS *selector = sw_printf("%s,%s!=%s", process->label, process->label, process->done);
    const struct sw_request_opts opts = { .retries = RETRIES, .label_selector = selector };
    if (sw_cluster_find(conn, "v1", "Node", NULL, NULL, &opts, &nodes, &err) < 0)
        return NULL; /* the account may not be allowed to read them */
    struct json_object *links = NULL;
    for (size_t i = 0; i < sw_json_len(nodes) && i < MOST_NODES; i++) {
        links = links ? links : json_object_new_array();
        (void)json_object_array_add(links, link_of(process, sw_json_at(nodes, i)));
    }
    if (sw_json_len(nodes) > MOST_NODES) {
        struct json_object *more = json_object_new_object();
        SW_AUTO_CHARS *what = sw_printf("%zu more nodes", sw_json_len(nodes) - MOST_NODES);
        sw_json_set_str(more, what, "what", NULL);
        sw_json_set_str(more, "Waiting", "is", NULL);
        (void)json_object_array_add(links, more);
    }
    return links;
}
