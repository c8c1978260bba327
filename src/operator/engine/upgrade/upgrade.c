#include "operator/engine/upgrade/upgrade.h"

#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "data/json/path.h"
#include "data/selector/selector.h"
#include "data/text/time.h"

#define MINUTE_MS INT64_C(60000)
#define LEAST_TIMEOUT_MS INT64_C(10000) /* less is no upgrade: nodes are cordoned all the time */

/* ---- names -------------------------------------------------------------------------------------
 */

static const char *const step_names[SW_UP_COUNT] = {
    [SW_UP_NONE] = "",
    [SW_UP_DRAINING] = "drain",
    [SW_UP_RESTARTING] = "restart",
    [SW_UP_DRAIN_FAILED] = "drain-failed",
    [SW_UP_RESTART_FAILED] = "restart-failed",
};

static const char *const why_texts[SW_UPWHY_COUNT] = {
    [SW_UPWHY_NONE] = "",
    [SW_UPWHY_PAUSED] = "upgrades are paused (autoUpgrade: false)",
    [SW_UPWHY_SKIPPED] = "the node is labelled slipway.dev/upgrade-skip",
    [SW_UPWHY_NOT_READY] = "the node is not ready",
    [SW_UPWHY_PARALLEL] = "as many nodes are being upgraded as maxParallel allows",
    [SW_UPWHY_UNAVAILABLE] = "as many nodes are out of service as maxUnavailable allows",
    [SW_UPWHY_GATE] = "the new driver is not ready yet",
    [SW_UPWHY_EVICTION] = "pods are being evicted",
    [SW_UPWHY_RETRY] = "it failed, and is tried again later",
    [SW_UPWHY_LATE] = "it took longer than the policy's timeout",
    [SW_UPWHY_REFUSED] = "pods are there that may not be evicted",
    [SW_UPWHY_FORBIDDEN] = ("the cluster's admins allow no work on the node (--nodes-selector, "
                            "--nodes-control-plane), or the resource does not select it"),
    [SW_UPWHY_AT_WORK] = ("as many nodes are worked on as the cluster's admins allow "
                          "(--nodes-at-work)"),
};

const char *sw_upgrade_step_name(enum sw_upgrade_step step)
{
    return step_names[step];
}

enum sw_upgrade_step sw_upgrade_step_find(const char *name)
{
    if (!name || !*name)
        return SW_UP_NONE;
    for (int i = 1; i < SW_UP_COUNT; i++)
        if (sw_streq(step_names[i], name))
            return i;
    return SW_UP_RESTARTING;
}

const char *sw_upgrade_why_text(enum sw_upgrade_why why)
{
    return why_texts[why];
}

/* ---- the policy --------------------------------------------------------------------------------
 */

static int read_count(struct json_object *doc, const char *field, int64_t *n, bool *percent,
                      struct sw_err *err)
{
    struct json_object *value = sw_json_get(doc, field);
    if (!value)
        return 0;
    const char *text = json_object_get_string(value);
    char *end;
    long long got = strtoll(text, &end, 10);
    bool share = percent && sw_streq(end, "%");
    if (end == text || got < 0 || got > 1000000 || (*end && !share) || (share && got > 100))
        return sw_err_set(err, SW_INVALID, "spec.upgradePolicy.%s: '%s' is not a number%s", field,
                          text, percent ? " or a percentage" : "");
    *n = got;
    if (percent)
        *percent = share;
    return 0;
}

int sw_upgrade_policy_read(struct json_object *doc, struct sw_upgrade_policy *out,
                           struct sw_err *err)
{
    struct json_object *drain = sw_json_get(doc, "drain");
    struct sw_selector selector = { 0 };
    *out = (struct sw_upgrade_policy){
        .parallel = 1,
        .unavailable = 25,
        .percent = true,
        .timeout_ms = 30 * MINUTE_MS,
        .paused = !sw_json_bool(doc, true, "autoUpgrade", NULL),
        .cordon = sw_json_bool(doc, true, "cordon", NULL),
        .drain = sw_json_bool(drain, false, "enable", NULL),
        .force = sw_json_bool(drain, false, "force", NULL),
        .empty_dir = sw_json_bool(drain, false, "deleteEmptyDir", NULL),
        .grace_s = sw_json_int(drain, -1, "gracePeriodSeconds", NULL),
        .pod_selector = sw_json_str(drain, "", "podSelector", NULL),
    };
    const char *timeout = sw_json_str(doc, "", "timeout", NULL);
    int rc = read_count(doc, "maxParallel", &out->parallel, NULL, err);
    if (rc == 0)
        rc = read_count(doc, "maxUnavailable", &out->unavailable, &out->percent, err);
    if (rc == 0 && *timeout && sw_span_parse(timeout, &out->timeout_ms, err) < 0)
        rc = sw_err_wrap(err, SW_INVALID, "spec.upgradePolicy.timeout");
    if (rc == 0 && out->timeout_ms < LEAST_TIMEOUT_MS)
        rc = sw_err_set(err, SW_INVALID, "spec.upgradePolicy.timeout: '%s' is less than 10s",
                        timeout);
    if (rc == 0 && *out->pod_selector && sw_selector_parse(out->pod_selector, &selector, err) < 0)
        rc = sw_err_wrap(err, SW_INVALID, "spec.upgradePolicy.drain.podSelector");
    sw_selector_done(&selector);
    return rc;
}

int64_t sw_upgrade_max_unavailable(const struct sw_upgrade_policy *policy, size_t n_nodes)
{
    if (!policy->percent)
        return policy->unavailable;
    return (policy->unavailable * (int64_t)n_nodes + 99) / 100;
}

/* ---- one node ----------------------------------------------------------------------------------
 */

static bool is_under_way(const struct sw_upgrade_node *node)
{
    return node->step == SW_UP_DRAINING || node->step == SW_UP_RESTARTING;
}

/* Cordoned by someone else: slipway neither uncordons it nor counts it as out of service. */
static bool is_foreign(const struct sw_upgrade_node *node)
{
    return node->unschedulable && !node->cordoned && !node->shared;
}

static bool is_unavailable(const struct sw_upgrade_node *node)
{
    if (is_foreign(node))
        return false;
    return !node->ready || node->cordoned || is_under_way(node) ||
           node->step == SW_UP_RESTART_FAILED;
}

/* Does slipway keep it from its work, for this resource or another? */
static bool is_at_work(const struct sw_upgrade_node *node)
{
    return node->at_work || node->cordoned || is_under_way(node) ||
           node->step == SW_UP_RESTART_FAILED;
}

static struct sw_upgrade_decision decide(enum sw_upgrade_do what, enum sw_upgrade_why why,
                                         enum sw_upgrade_step next)
{
    return (struct sw_upgrade_decision){ .what = what, .why = why, .next = next };
}

/* The upgrade ends, and the node may be used: by the new driver, or (@what FAIL, its pods were not
 * evicted) by the old one. */
static struct sw_upgrade_decision end(const struct sw_upgrade_node *node, enum sw_upgrade_do what,
                                      enum sw_upgrade_why why)
{
    struct sw_upgrade_decision d = decide(what, why,
                                          what == SW_UPDO_FAIL ? SW_UP_DRAIN_FAILED : SW_UP_NONE);
    d.uncordon = node->cordoned && !node->shared;
    return d;
}

static struct sw_upgrade_decision decide_next(const struct sw_upgrade_policy *policy,
                                              const struct sw_upgrade_node *node, int64_t now_ms)
{
    int64_t end_ms = node->since_ms + policy->timeout_ms;
    bool draining = node->step == SW_UP_DRAINING, late = end_ms <= now_ms;
    struct sw_upgrade_decision d;
    if (node->finished && !node->outdated)
        return end(node, SW_UPDO_FINISH, SW_UPWHY_NONE);
    if (node->forbidden)
        return end(node, SW_UPDO_FINISH, SW_UPWHY_FORBIDDEN);
    if (draining && policy->drain && node->refused)
        return end(node, SW_UPDO_FAIL, SW_UPWHY_REFUSED);
    if (draining && policy->drain && !node->drained) {
        if (late)
            return end(node, SW_UPDO_FAIL, SW_UPWHY_LATE);
        d = decide(SW_UPDO_DRAIN, SW_UPWHY_EVICTION, SW_UP_DRAINING);
    } else if (late) {
        return decide(SW_UPDO_FAIL, SW_UPWHY_LATE, SW_UP_RESTART_FAILED);
    } else {
        d = decide(SW_UPDO_RESTART, SW_UPWHY_GATE, SW_UP_RESTARTING);
    }
    d.at_ms = end_ms;
    return d;
}

/* Has it to be upgraded, and may that begin as far as the node itself goes? */
static struct sw_upgrade_decision decide_begin(const struct sw_upgrade_policy *policy,
                                               const struct sw_upgrade_node *node, int64_t now_ms)
{
    bool failed = node->step == SW_UP_DRAIN_FAILED || node->step == SW_UP_RESTART_FAILED;
    if (failed && node->finished && !node->outdated)
        return end(node, SW_UPDO_FINISH, SW_UPWHY_NONE);
    if (!node->outdated && !failed)
        return decide(SW_UPDO_NOTHING, SW_UPWHY_NONE, SW_UP_NONE);
    if (node->forbidden && failed)
        return end(node, SW_UPDO_FINISH, SW_UPWHY_FORBIDDEN);
    if (node->forbidden)
        return decide(SW_UPDO_WAIT, SW_UPWHY_FORBIDDEN, node->step);
    if (policy->paused)
        return decide(SW_UPDO_WAIT, SW_UPWHY_PAUSED, node->step);
    if (node->skipped)
        return decide(SW_UPDO_WAIT, SW_UPWHY_SKIPPED, node->step);
    if (!node->ready)
        return decide(SW_UPDO_WAIT, SW_UPWHY_NOT_READY, node->step);
    /* a newer template ends the wait after a failure: it may go well with that */
    bool drained = node->step == SW_UP_RESTART_FAILED, renewed = drained && node->outdated;
    const int64_t wait_ms = policy->timeout_ms > MINUTE_MS ? policy->timeout_ms : MINUTE_MS;
    struct sw_upgrade_decision d;
    if (failed && !renewed && node->since_ms + wait_ms > now_ms) {
        d = decide(SW_UPDO_WAIT, SW_UPWHY_RETRY, node->step);
        d.at_ms = node->since_ms + wait_ms;
        return d;
    }
    d = decide(SW_UPDO_BEGIN, SW_UPWHY_NONE,
               policy->drain && !drained ? SW_UP_DRAINING : SW_UP_RESTARTING);
    /* what another resource has cordoned is uncordoned by the last of both */
    d.cordon = policy->cordon && !node->cordoned && (!node->unschedulable || node->shared);
    return d;
}

/* ---- all of them -------------------------------------------------------------------------------
 */

struct budget {
    int64_t parallel, max_parallel, unavailable, max_unavailable, at_work, max_at_work;
};

static void take_turn(struct budget *b, const struct sw_upgrade_node *node,
                      struct sw_upgrade_decision *d)
{
    bool costs = !is_foreign(node) && !is_unavailable(node);
    if (b->parallel >= b->max_parallel) {
        *d = decide(SW_UPDO_WAIT, SW_UPWHY_PARALLEL, node->step);
    } else if (costs && b->unavailable >= b->max_unavailable) {
        *d = decide(SW_UPDO_WAIT, SW_UPWHY_UNAVAILABLE, node->step);
    } else if (!is_at_work(node) && b->at_work >= b->max_at_work) {
        *d = decide(SW_UPDO_WAIT, SW_UPWHY_AT_WORK, node->step);
    } else {
        b->parallel++;
        b->at_work += !is_at_work(node);
        b->unavailable += costs;
    }
}

void sw_upgrade_decide(const struct sw_upgrade_policy *policy, const struct sw_upgrade_node *nodes,
                       size_t n, int64_t now_ms, struct sw_upgrade_decision *out)
{
    struct budget b = { .max_parallel = policy->parallel ? policy->parallel : INT64_MAX,
                        .max_unavailable = sw_upgrade_max_unavailable(policy, n),
                        .at_work = policy->at_work_elsewhere,
                        .max_at_work = policy->at_work ? policy->at_work : INT64_MAX };
    for (size_t i = 0; i < n; i++) {
        b.parallel += is_under_way(&nodes[i]);
        b.unavailable += is_unavailable(&nodes[i]);
        b.at_work += is_at_work(&nodes[i]);
    }
    for (size_t i = 0; i < n; i++)
        out[i] = is_under_way(&nodes[i]) ? decide_next(policy, &nodes[i], now_ms)
                                         : decide_begin(policy, &nodes[i], now_ms);
    /* those first that are out of service already: they do not count again */
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < n; i++)
            if (out[i].what == SW_UPDO_BEGIN && !is_under_way(&nodes[i]) &&
                (pass == 0) == (is_foreign(&nodes[i]) || is_unavailable(&nodes[i])))
                take_turn(&b, &nodes[i], &out[i]);
}

/* ---- a plan -----------------------------------------------------------------------------------
 */

static void assume_done(struct sw_upgrade_node *node, const struct sw_upgrade_decision *d,
                        int64_t now_ms)
{
    switch (d->what) {
    case SW_UPDO_BEGIN:
        node->step = d->next;
        node->since_ms = now_ms;
        node->cordoned = node->cordoned || d->cordon;
        node->unschedulable = node->unschedulable || d->cordon;
        break;
    case SW_UPDO_DRAIN:
        node->drained = true;
        break;
    case SW_UPDO_RESTART:
        node->step = SW_UP_RESTARTING;
        node->outdated = false;
        node->finished = true;
        break;
    case SW_UPDO_FINISH:
        node->step = SW_UP_NONE;
        node->unschedulable = node->unschedulable && !d->uncordon;
        node->cordoned = false;
        break;
    default:
        break;
    }
}

void sw_upgrade_plan(const struct sw_upgrade_policy *policy, const struct sw_upgrade_node *nodes,
                     size_t n, int64_t now_ms, sw_upgrade_plan_fn *each, void *arg)
{
    struct sw_upgrade_node *now = sw_zalloc(n + 1, sizeof *now);
    struct sw_upgrade_decision *d = sw_zalloc(n + 1, sizeof *d);
    bool any = true;
    size_t round = 0;
    if (n)
        memcpy(now, nodes, n * sizeof *now);
    for (; any && round <= 5 * n; round++) {
        any = false;
        sw_upgrade_decide(policy, now, n, now_ms, d);
        for (size_t i = 0; i < n; i++) {
            if (d[i].what == SW_UPDO_NOTHING || d[i].what == SW_UPDO_WAIT)
                continue;
            each(round, &now[i], &d[i], arg);
            assume_done(&now[i], &d[i], now_ms);
            any = any || d[i].what != SW_UPDO_FAIL;
        }
    }
    for (size_t i = 0; i < n; i++)
        if (d[i].what == SW_UPDO_WAIT)
            each(round, &now[i], &d[i], arg);
    free(now);
    free(d);
}
