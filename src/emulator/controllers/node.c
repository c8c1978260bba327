#include "emulator/controllers/fit.h"
#include "emulator/controllers/workload.h"

#include "data/text/time.h"

#include <stdlib.h>

/* kube-controller-manager's work on nodes: taints by their conditions, eviction by NoExecute
 * taints, deletion of the pods of deleted nodes. Heartbeats are ignored: only the Ready condition
 * counts. */

/* How long a pod without a toleration of its own stays on a node with one of the taints below, as
 * the admission controller DefaultTolerationSeconds sets it. */
enum { DEFAULT_TOLERATION_S = 300 };

/* A taint that a node has while @applies. */
struct taint_rule {
    const char *key, *effect;
    bool (*applies)(json_object *node);
};

static bool is_cordoned(json_object *node)
{
    return sw_json_bool(node, false, "spec", "unschedulable", NULL);
}

static bool is_not_ready(json_object *node)
{
    return sw_streq(sw_cond_status(node, "Ready"), "False");
}

static bool is_unreachable(json_object *node)
{
    return sw_streq(sw_cond_status(node, "Ready"), "Unknown");
}

static const struct taint_rule taint_rules[] = {
    { "node.kubernetes.io/unschedulable", "NoSchedule", is_cordoned },
    { "node.kubernetes.io/not-ready", "NoSchedule", is_not_ready },
    { "node.kubernetes.io/not-ready", "NoExecute", is_not_ready },
    { "node.kubernetes.io/unreachable", "NoSchedule", is_unreachable },
    { "node.kubernetes.io/unreachable", "NoExecute", is_unreachable },
};

static bool is_taint(json_object *taint, const struct taint_rule *rule)
{
    return sw_streq(sw_json_str(taint, "", "key", NULL), rule->key) &&
           sw_streq(sw_json_str(taint, "", "effect", NULL), rule->effect);
}

static const struct taint_rule *rule_of(json_object *taint)
{
    for (size_t i = 0; i < SW_COUNT(taint_rules); i++)
        if (is_taint(taint, &taint_rules[i]))
            return &taint_rules[i];
    return NULL;
}

/* The node's taints as they should be; new. */
static json_object *wanted_taints(struct sw_ctl *ctl, json_object *node)
{
    json_object *old = sw_json_find(node, "spec", "taints", NULL), *list = json_object_new_array();
    for (size_t i = 0; i < sw_json_len(old); i++) {
        const struct taint_rule *rule = rule_of(sw_json_at(old, i));
        if (!rule || rule->applies(node))
            json_object_array_add(list, sw_json_copy(sw_json_at(old, i)));
    }
    for (size_t i = 0; i < SW_COUNT(taint_rules); i++) {
        const struct taint_rule *rule = &taint_rules[i];
        bool has = false;
        for (size_t k = 0; k < sw_json_len(list); k++)
            has |= is_taint(sw_json_at(list, k), rule);
        if (has || !rule->applies(node))
            continue;
        bool evicts = sw_streq(rule->effect, "NoExecute");
        json_object_array_add(list, sw_doc_new("key", sw_str(rule->key), "effect",
                                               sw_str(rule->effect), "timeAdded",
                                               evicts ? sw_time(sw_ctl_now(ctl)) : NULL, NULL));
    }
    return list;
}

static int set_taints(json_object *doc, void *arg)
{
    if (sw_json_len(arg))
        sw_json_set(doc, json_object_get(arg), "spec", "taints", NULL);
    else
        (void)sw_json_del(doc, "spec", "taints", NULL);
    return 0;
}

/* ---- eviction -----------------------------------------------------------------------------------
 */

/* Seconds for which a pod tolerates a NoExecute taint; -1: without limit. */
static int64_t toleration_seconds(json_object *pod, json_object *taint)
{
    json_object *list = sw_json_find(pod, "spec", "tolerations", NULL);
    int64_t least = rule_of(taint) ? DEFAULT_TOLERATION_S : 0;
    bool any = false;
    for (size_t i = 0; i < sw_json_len(list); i++) {
        if (!sw_toleration_fits(sw_json_at(list, i), taint))
            continue;
        int64_t s = sw_json_int(sw_json_at(list, i), -1, "tolerationSeconds", NULL);
        least = !any || (s >= 0 && (least < 0 || s < least)) ? s : least;
        any = true;
    }
    return least;
}

/* Milliseconds until the pod is evicted from its node; -1: it may stay. */
static int64_t time_left(struct sw_ctl *ctl, json_object *node, json_object *pod)
{
    json_object *taints = sw_json_find(node, "spec", "taints", NULL);
    int64_t soonest = -1;
    for (size_t i = 0; i < sw_json_len(taints); i++) {
        json_object *taint = sw_json_at(taints, i);
        if (!sw_streq(sw_json_str(taint, "", "effect", NULL), "NoExecute"))
            continue;
        int64_t tolerated_s = toleration_seconds(pod, taint), since = 0;
        if (tolerated_s < 0)
            continue;
        if (sw_time_parse(sw_json_str(taint, "", "timeAdded", NULL), &since, NULL) < 0)
            since = tolerated_s ? sw_ctl_now(ctl) : 0;
        int64_t left = since + tolerated_s * 1000 - sw_ctl_now(ctl);
        soonest = sw_ctl_sooner(soonest, left > 0 ? left : 0);
    }
    return soonest;
}

static void work(struct sw_ctl *ctl, const char *ns, const char *name)
{
    (void)ns;
    struct sw_node *node = sw_ctl_node(ctl, name);
    if (!node) {
        struct sw_doomed orphans = { 0 };
        for (struct sw_pod *pod = sw_ctl_waiting_pods(ctl); pod; pod = pod->wait_next)
            if (sw_streq(sw_json_str(pod->doc, "", "spec", "nodeName", NULL), name))
                sw_doom(&orphans, pod);
        sw_doomed_delete(ctl, &orphans, true);
        return;
    }
    json_object *taints = wanted_taints(ctl, node->doc);
    if (!sw_doc_same(taints, sw_json_find(node->doc, "spec", "taints", NULL)))
        (void)sw_ctl_modify(ctl, ctl->kinds.node, node->doc, NULL, set_taints, taints);
    json_object_put(taints);
    if (!sw_json_find(node->doc, "spec", "taints", NULL))
        return;
    struct sw_doomed evicted = { 0 };
    int64_t again = -1;
    for (struct sw_pod *pod = node->pods; pod; pod = pod->node_next) {
        int64_t left = sw_pod_is_active(pod) ? time_left(ctl, node->doc, pod->doc) : -1;
        if (left == 0)
            sw_doom(&evicted, pod);
        else
            again = sw_ctl_sooner(again, left);
    }
    if (again > 0)
        sw_ctl_enqueue_in(ctl, SW_Q_NODE, NULL, sw_obj_name(node->doc), again);
    sw_doomed_delete(ctl, &evicted, false);
}

/* Enqueues a node only if what the functions above read has changed. */
static void on_node(struct sw_ctl *ctl, struct sw_node *node, json_object *before,
                    json_object *after)
{
    json_object *doc = after ? after : before;
    (void)node;
    if (!before || !after || is_cordoned(before) != is_cordoned(after) ||
        !sw_streq(sw_cond_status(before, "Ready"), sw_cond_status(after, "Ready")) ||
        !sw_doc_same(sw_json_find(before, "spec", "taints", NULL),
                     sw_json_find(after, "spec", "taints", NULL)))
        sw_ctl_enqueue(ctl, SW_Q_NODE, NULL, sw_obj_name(doc));
}

const struct sw_controller sw_node_controller = {
    .work = work,
    .on_node = on_node,
};
