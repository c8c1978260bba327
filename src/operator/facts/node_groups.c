/* Which nodes there are and what group each is in. */
#include "operator/facts/internal.h"

#include "base/base.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

struct sw_facts *sw_facts_new(void)
{
    return sw_zalloc(1, sizeof(struct sw_facts));
}

void sw_facts_free(struct sw_facts *facts)
{
    if (!facts)
        return;
    for (size_t i = 0; i < facts->n; i++)
        free(facts->nodes[i].name);
    for (size_t i = 0; i < facts->n_groups; i++)
        group_free(facts->groups[i]);
    free(facts->nodes);
    free(facts->groups);
    cluster_facts_done(&facts->cluster);
    json_object_put(facts->feature_gates);
    for (size_t i = 0; i < SW_COUNT(facts->own_proxy); i++)
        free(facts->own_proxy[i]);
    free(facts);
}

/* Where the node is, or would be put. */
static size_t place_of(const struct sw_facts *facts, const char *name, bool *found)
{
    size_t low = 0, high = facts->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int order = strcmp(facts->nodes[mid].name, name);
        if (order == 0) {
            *found = true;
            return mid;
        }
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
    }
    *found = false;
    return low;
}

bool sw_facts_put_node(struct sw_facts *facts, const struct sw_node *node)
{
    bool found, vanished;
    size_t at = place_of(facts, node->name, &found), n_before = facts->n_groups;
    struct sw_group *group = group_join(facts, node);
    if (!group)
        return sw_facts_remove_node(facts, node->name);
    bool appeared = facts->n_groups > n_before;
    if (!found) {
        SW_GROW(facts->nodes, facts->n, facts->cap);
        memmove(facts->nodes + at + 1, facts->nodes + at, (facts->n - at) * sizeof *facts->nodes);
        facts->nodes[at] = (struct member){ sw_strdup(node->name), group };
        facts->n++;
        return appeared;
    }
    vanished = group_leave(facts, facts->nodes[at].group);
    facts->nodes[at].group = group;
    return appeared || vanished;
}

bool sw_facts_remove_node(struct sw_facts *facts, const char *name)
{
    bool found;
    size_t at = place_of(facts, name, &found);
    if (!found)
        return false;
    bool vanished = group_leave(facts, facts->nodes[at].group);
    free(facts->nodes[at].name);
    memmove(facts->nodes + at, facts->nodes + at + 1, (facts->n - at - 1) * sizeof *facts->nodes);
    facts->n--;
    return vanished;
}
