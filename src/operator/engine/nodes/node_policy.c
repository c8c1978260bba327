#include "operator/engine/nodes/node_policy.h"

#include <stdlib.h>

#include "operator/engine/nodes/node_set.h"

void sw_node_policy_done(struct sw_node_policy *policy)
{
    sw_selector_done(&policy->nodes);
    *policy = (struct sw_node_policy){ 0 };
}

/* "7" or "10%" into @n and @percent; NULL leaves both. */
static int read_share(const char *flag, const char *text, int64_t *n, bool *percent,
                      struct sw_err *err)
{
    char *end;
    if (!text)
        return 0;
    long long value = strtoll(text, &end, 10);
    bool share = sw_streq(end, "%");
    if (end == text || value < 1 || value > (share ? 100 : 1000000) || (*end && !share))
        return sw_err_set(err, SW_INVALID, "%s: '%s' is not a number or a percentage above 0", flag,
                          text);
    *n = value;
    *percent = share;
    return 0;
}

int sw_node_policy_read(struct sw_node_policy *policy, const char *selector, const char *at_work,
                        const char *tainted, struct sw_err *err)
{
    if (selector && sw_selector_parse(selector, &policy->nodes, err) < 0)
        return sw_err_wrap(err, SW_INVALID, "--nodes-selector");
    int rc = read_share("--nodes-at-work", at_work, &policy->at_work, &policy->percent, err);
    return rc < 0 ? rc
                  : read_share("--nodes-tainted", tainted, &policy->tainted,
                               &policy->tainted_percent, err);
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

static int64_t share_of(int64_t n, bool percent, size_t n_nodes)
{
    return percent ? (n * (int64_t)n_nodes + 99) / 100 : n;
}

int64_t sw_node_policy_at_work(const struct sw_node_policy *policy, size_t n_nodes)
{
    return share_of(policy->at_work ? policy->at_work : 1, policy->percent, n_nodes);
}

int64_t sw_node_policy_tainted(const struct sw_node_policy *policy, size_t n_nodes)
{
    return policy->tainted ? share_of(policy->tainted, policy->tainted_percent, n_nodes)
                           : share_of(50, true, n_nodes);
}
