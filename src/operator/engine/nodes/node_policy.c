#include "operator/engine/nodes/node_policy.h"

#include <stdlib.h>

#include "operator/engine/nodes/node_set.h"

void sw_node_policy_done(struct sw_node_policy *policy)
{
    sw_selector_done(&policy->nodes);
    *policy = (struct sw_node_policy){ 0 };
}

int sw_node_policy_read(struct sw_node_policy *policy, const char *selector, const char *at_work,
                        struct sw_err *err)
{
    if (selector && sw_selector_parse(selector, &policy->nodes, err) < 0)
        return sw_err_wrap(err, SW_INVALID, "--nodes-selector");
    if (!at_work)
        return 0;
    char *end;
    long long n = strtoll(at_work, &end, 10);
    policy->percent = sw_streq(end, "%");
    if (end == at_work || n < 1 || n > (policy->percent ? 100 : 1000000) ||
        (*end && !policy->percent))
        return sw_err_set(err, SW_INVALID,
                          "--nodes-at-work: '%s' is not a number or a percentage above 0", at_work);
    policy->at_work = n;
    return 0;
}

struct one_node {
    const struct sw_node_set *set;
    uint32_t node;
};

static const char *label_of(const char *key, void *arg)
{
    const struct one_node *one = arg;
    return sw_node_set_label(one->set, one->node, key);
}

bool sw_node_policy_allows(const struct sw_node_policy *policy, const struct sw_node_set *set,
                           uint32_t node)
{
    static const char *const roles[] = { "node-role.kubernetes.io/control-plane",
                                         "node-role.kubernetes.io/master" };
    struct one_node one = { set, node };
    for (size_t i = 0; !policy->control_plane && i < SW_COUNT(roles); i++)
        if (sw_node_set_label(set, node, roles[i]))
            return false;
    return sw_selector_selects(&policy->nodes, label_of, &one);
}

int64_t sw_node_policy_at_work(const struct sw_node_policy *policy, size_t n_nodes)
{
    int64_t n = policy->at_work ? policy->at_work : 1;
    return policy->percent ? (n * (int64_t)n_nodes + 99) / 100 : n;
}
