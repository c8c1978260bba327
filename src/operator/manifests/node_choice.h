#pragma once
/* node_choice: puts a node into node set and facts, and says which nodes are a resource's; for the
 * controller and for commands. */
#include <stdint.h>

#include "operator/engine/nodes/node_set.h"
#include "operator/facts/facts.h"

/** Put @node into both. @group: sw_group_id() of it. @version, @changed: as sw_node_set_put() has
 * them.
 * @return its number; @*groups_changed (may be NULL) as sw_facts_put_node() says */
uint32_t sw_node_put(struct sw_node_set *node_set, struct sw_facts *facts,
                     const struct sw_node *node, const char *group, uint64_t version, bool *changed,
                     bool *groups_changed);

/** Nodes that match the resource's selector, or did before features were lost there
 * (operator/engine/nodes/grace_period.h), and whose taints are tolerated. */
struct sw_node_choice {
    const struct sw_node_set *node_set;
    struct json_object *resource, *tolerations;
};
/** For sw_facts_groups(); @choice: a struct sw_node_choice. */
bool sw_node_is_chosen(const char *name, void *choice);
