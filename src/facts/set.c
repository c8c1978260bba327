/* The nodes that are known, by name, and what a new projection changed. */
#include "facts/set.h"

#include "base/base.h"

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
        sw_node_free(facts->nodes[i]);
    free(facts->nodes);
    cluster_facts_done(&facts->cluster);
    free(facts);
}

/* Where the node is, or would be put. */
static size_t place_of(const struct sw_facts *facts, const char *name, bool *found)
{
    size_t low = 0, high = facts->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int order = strcmp(facts->nodes[mid]->name, name);
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

static bool same_labels(const struct sw_node *a, const struct sw_node *b)
{
    if (a->n_labels != b->n_labels)
        return false;
    for (size_t i = 0; i < 2 * a->n_labels; i++)
        if (!sw_streq(a->labels[i], b->labels[i]))
            return false;
    return true;
}

static bool same_taints(const struct sw_node *a, const struct sw_node *b)
{
    if (a->n_taints != b->n_taints)
        return false;
    for (size_t i = 0; i < a->n_taints; i++)
        if (!sw_streq(a->taints[i].key, b->taints[i].key) ||
            !sw_streq(a->taints[i].value, b->taints[i].value) ||
            !sw_streq(a->taints[i].effect, b->taints[i].effect))
            return false;
    return true;
}

static bool same_group(const struct sw_node *a, const struct sw_node *b)
{
    return sw_streq(a->kernel, b->kernel) && sw_streq(a->arch, b->arch) &&
           sw_streq(a->os.major_minor, b->os.major_minor) && sw_streq(a->os.build, b->os.build);
}

static unsigned difference(const struct sw_node *a, const struct sw_node *b)
{
    return (same_labels(a, b) ? 0 : SW_NODE_LABELS) | (same_group(a, b) ? 0 : SW_NODE_GROUP) |
           (same_taints(a, b) ? 0 : SW_NODE_TAINTS) |
           (a->ready == b->ready && a->unschedulable == b->unschedulable ? 0 : SW_NODE_READY) |
           (sw_streq(a->boot_id, b->boot_id) ? 0 : SW_NODE_BOOT);
}

unsigned sw_facts_put_node(struct sw_facts *facts, struct sw_node *node)
{
    bool found;
    size_t at = place_of(facts, node->name, &found);
    if (found) {
        unsigned change = difference(facts->nodes[at], node);
        sw_node_free(facts->nodes[at]);
        facts->nodes[at] = node;
        return change;
    }
    SW_GROW(facts->nodes, facts->n, facts->cap);
    memmove(facts->nodes + at + 1, facts->nodes + at, (facts->n - at) * sizeof *facts->nodes);
    facts->nodes[at] = node;
    facts->n++;
    return SW_NODE_ADDED;
}

unsigned sw_facts_remove_node(struct sw_facts *facts, const char *name)
{
    bool found;
    size_t at = place_of(facts, name, &found);
    if (!found)
        return SW_NODE_SAME;
    sw_node_free(facts->nodes[at]);
    memmove(facts->nodes + at, facts->nodes + at + 1, (facts->n - at - 1) * sizeof *facts->nodes);
    facts->n--;
    return SW_NODE_REMOVED;
}

struct sw_node *const *sw_facts_nodes(const struct sw_facts *facts, size_t *n)
{
    *n = facts->n;
    return facts->nodes;
}

const struct sw_node *sw_facts_find_node(const struct sw_facts *facts, const char *name)
{
    bool found;
    size_t at = place_of(facts, name, &found);
    return found ? facts->nodes[at] : NULL;
}
