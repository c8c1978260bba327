#include "operator/manifests/node_choice.h"

#include "data/data.h"
#include "operator/engine/nodes/grace_period.h"

uint32_t sw_node_put(struct sw_node_set *node_set, struct sw_facts *facts,
                     const struct sw_node *node, const char *group, uint64_t version, bool *changed,
                     bool *groups_changed)
{
    const struct sw_node_set_facts row = {
        .name = node->name,
        .group = group,
        .labels = node->labels,
        .n_labels = node->n_labels,
        .taints = node->taints,
        .n_taints = node->n_taints,
        .taint_record = node->taint_record,
        .resources = node->resources,
        .ready = node->ready,
        .unschedulable = node->unschedulable,
        .boot_id = node->boot_id,
        .version = version,
    };
    uint32_t number = sw_node_set_put(node_set, &row, changed);
    bool groups = sw_facts_put_node(facts, node);
    if (groups_changed)
        *groups_changed = groups;
    return number;
}

bool sw_node_is_chosen(const char *name, void *arg)
{
    const struct sw_node_choice *choice = arg;
    uint32_t node = sw_node_set_find(choice->node_set, name);
    struct json_object *selector = sw_json_find(choice->resource, "spec", "nodeSelector", NULL);
    return node != SW_NO_NODE &&
           sw_node_set_keeps(choice->node_set, node, selector, sw_obj_name(choice->resource)) &&
           !sw_node_set_is_tainted(choice->node_set, node, choice->tolerations);
}
