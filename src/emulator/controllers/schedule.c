#include "emulator/controllers/fit.h"
#include "emulator/controllers/reasons.h"
#include "emulator/controllers/spread.h"
#include "emulator/rules/rules.h"

#include <stdlib.h>

/* How long after a change of nodes the reasons of pods that do not fit are worded anew. */
enum { REWORD_MS = 200 };

struct sw_schedule {
    bool any_stuck; /* some waiting pod is unschedulable (or was, not long ago) */
    struct sw_alarm reword;
};

/* One pod being placed. */
struct attempt {
    struct sw_ctl *ctl;
    struct sw_pod *pod;
    struct sw_fit fit;
    struct sw_spread *spread;
    struct sw_reasons reasons;
    struct sw_node *best;
};

static int64_t amount_in(const struct sw_amount *set, size_t n, uint32_t resource)
{
    for (size_t i = 0; i < n; i++)
        if (set[i].resource == resource)
            return set[i].milli;
    return 0;
}

static bool is_short_of(const struct sw_node *node, const struct sw_amount *want)
{
    return want->milli > 0 && amount_in(node->used, node->n_used, want->resource) + want->milli >
                                  amount_in(node->allocatable, node->n_allocatable, want->resource);
}

static bool resources_fit(const struct sw_pod *pod, const struct sw_node *node)
{
    for (size_t i = 0; i < pod->n_requests; i++)
        if (is_short_of(node, &pod->requests[i]))
            return false;
    return true;
}

static bool same_port(json_object *a, json_object *b)
{
    int64_t port = sw_json_int(a, 0, "hostPort", NULL);
    return port && port == sw_json_int(b, 0, "hostPort", NULL) &&
           sw_streq(sw_json_str(a, "TCP", "protocol", NULL),
                    sw_json_str(b, "TCP", "protocol", NULL));
}

/* The ports of all containers, in one list; NULL without a hostPort among them. */
static json_object *host_ports(json_object *pod)
{
    json_object *list = NULL, *containers = sw_json_find(pod, "spec", "containers", NULL);
    for (size_t i = 0; i < sw_json_len(containers); i++) {
        json_object *ports = sw_json_get(sw_json_at(containers, i), "ports");
        for (size_t k = 0; k < sw_json_len(ports); k++) {
            json_object *port = sw_json_at(ports, k);
            if (!sw_json_int(port, 0, "hostPort", NULL))
                continue;
            list = list ? list : json_object_new_array();
            json_object_array_add(list, json_object_get(port));
        }
    }
    return list;
}

static bool ports_clash(json_object *wanted, const struct sw_pod *other)
{
    json_object *taken = host_ports(other->doc);
    bool clash = false;
    for (size_t i = 0; i < sw_json_len(wanted); i++)
        for (size_t k = 0; k < sw_json_len(taken); k++)
            clash |= same_port(sw_json_at(wanted, i), sw_json_at(taken, k));
    json_object_put(taken);
    return clash;
}

static bool ports_are_free(const struct sw_pod *pod, const struct sw_node *node)
{
    json_object *wanted = host_ports(pod->doc);
    bool is_free = true;
    for (struct sw_pod *other = node->pods; wanted && other; other = other->node_next)
        if (!sw_pod_is_over(other) && ports_clash(wanted, other))
            is_free = false;
    json_object_put(wanted);
    return is_free;
}

static void no_selector_match(struct attempt *a, size_t times)
{
    int minor = a->ctl->kube_minor;
    sw_reasons_add(&a->reasons, times, "%s",
                   minor < 21   ? "node(s) didn't match node selector"
                   : minor < 22 ? "node(s) didn't match Pod's node affinity"
                                : "node(s) didn't match Pod's node affinity/selector");
}

static bool taints_fit(struct attempt *a, const struct sw_node *node)
{
    if (sw_json_bool(node->doc, false, "spec", "unschedulable", NULL)) {
        json_object *taint = sw_doc_new("key", sw_str("node.kubernetes.io/unschedulable"), "effect",
                                        sw_str("NoSchedule"), NULL);
        bool fine = sw_fit_tolerates(a->fit.tolerations, taint);
        json_object_put(taint);
        if (!fine)
            sw_reasons_add(&a->reasons, 1, "node(s) were unschedulable");
        if (!fine)
            return false;
    }
    json_object *taint = sw_fit_taint(node->doc, a->fit.tolerations,
                                      SW_NO_SCHEDULE | SW_NO_EXECUTE);
    if (!taint)
        return true;
    const char *key = sw_json_str(taint, "", "key", NULL);
    const char *value = sw_json_str(taint, "", "value", NULL);
    if (a->ctl->kube_minor < 24)
        sw_reasons_add(&a->reasons, 1, "node(s) had taint {%s: %s}, that the pod didn't tolerate",
                       key, value);
    else
        sw_reasons_add(&a->reasons, 1, "node(s) had untolerated taint {%s: %s}", key, value);
    return false;
}

static bool has_room(struct attempt *a, const struct sw_node *node)
{
    bool fits = true;
    for (size_t i = 0; i < a->pod->n_requests; i++) {
        const struct sw_amount *want = &a->pod->requests[i];
        if (!is_short_of(node, want))
            continue;
        const char *name = sw_ctl_resource_name(a->ctl, want->resource);
        if (sw_streq(name, "pods"))
            sw_reasons_add(&a->reasons, 1, "Too many pods");
        else
            sw_reasons_add(&a->reasons, 1, "Insufficient %s", name);
        fits = false;
    }
    return fits;
}

/* The filters in kube-scheduler's order; the first that says no is the reason. */
static void try_node(struct attempt *a, struct sw_node *node)
{
    if (!taints_fit(a, node))
        return;
    if (!sw_fit_affinity(&a->fit, node->doc)) {
        no_selector_match(a, 1);
        return;
    }
    if (!ports_are_free(a->pod, node)) {
        sw_reasons_add(&a->reasons, 1,
                       "node(s) didn't have free ports for the requested pod ports");
        return;
    }
    if (!has_room(a, node))
        return;
    const char *apart = sw_spread_check(a->spread, node);
    if (apart) {
        sw_reasons_add(&a->reasons, 1, "%s", apart);
        return;
    }
    if (!a->best || node->n_pods < a->best->n_pods)
        a->best = node;
}

static void try_nodes(struct attempt *a)
{
    size_t n;
    struct sw_node *const *nodes = sw_ctl_nodes(a->ctl, &n);
    struct sw_node *only = a->fit.only_node ? sw_ctl_node(a->ctl, a->fit.only_node) : NULL;
    if (a->fit.only_node) {
        no_selector_match(a, sw_ctl_n_nodes(a->ctl) - (only != NULL));
        if (only)
            try_node(a, only);
        return;
    }
    for (size_t i = 0; i < n; i++)
        if (nodes[i])
            try_node(a, nodes[i]);
}

/* ---- what comes of it ---------------------------------------------------------------------------
 */

struct binding {
    struct sw_ctl *ctl;
    const char *node;
};

static int bind(json_object *doc, void *arg)
{
    const struct binding *b = arg;
    sw_json_set_str(doc, b->node, "spec", "nodeName", NULL);
    (void)sw_cond_set(sw_json_need_list(doc, "status", "conditions", NULL), "PodScheduled", "True",
                      NULL, NULL, sw_ctl_now(b->ctl));
    return 0;
}

struct refusal {
    struct sw_ctl *ctl;
    const char *reason, *message;
};

static int say_why(json_object *doc, void *arg)
{
    const struct refusal *v = arg;
    (void)sw_cond_set(sw_json_need_list(doc, "status", "conditions", NULL), "PodScheduled", "False",
                      v->reason, v->message, sw_ctl_now(v->ctl));
    return 0;
}

static void refuse(struct sw_ctl *ctl, struct sw_pod *pod, const char *reason, const char *message)
{
    json_object *c = sw_obj_condition(pod->doc, "PodScheduled");
    if (sw_streq(sw_json_str(c, "", "message", NULL), message))
        return;
    struct refusal v = { ctl, reason, message };
    if (sw_streq(reason, "Unschedulable"))
        sw_ctl_event(ctl, pod->doc, "Warning", "FailedScheduling", "%s", message);
    (void)sw_ctl_modify(ctl, ctl->kinds.pod, pod->doc, "status", say_why, &v);
}

static void schedule(struct sw_ctl *ctl, struct sw_pod *pod)
{
    struct attempt a = { .ctl = ctl, .pod = pod };
    sw_fit_init(&a.fit, sw_json_get(pod->doc, "spec"));
    a.spread = sw_spread_new(ctl, pod);
    try_nodes(&a);
    if (a.best) {
        struct binding b = { ctl, sw_obj_name(a.best->doc) };
        pod->unschedulable = false;
        if (sw_ctl_modify(ctl, ctl->kinds.pod, pod->doc, "binding", bind, &b) < 0)
            sw_ctl_enqueue_in(ctl, SW_Q_SCHEDULE, sw_pod_ns(pod), sw_pod_name(pod), 1000);
    } else {
        SW_AUTO_CHARS *message = sw_reasons_text(&a.reasons, sw_ctl_n_nodes(ctl));
        pod->unschedulable = true;
        ctl->schedule->any_stuck = true;
        refuse(ctl, pod, "Unschedulable", message);
    }
    sw_reasons_done(&a.reasons);
    sw_spread_free(a.spread);
    sw_fit_done(&a.fit);
}

static void on_waited(struct sw_ctl *ctl, struct sw_alarm *alarm)
{
    struct sw_pod *pod = SW_OF_ALARM(struct sw_pod, alarm, alarm);
    pod->waited = true;
    sw_ctl_enqueue(ctl, SW_Q_SCHEDULE, sw_pod_ns(pod), sw_pod_name(pod));
}

static bool is_ours(struct sw_ctl *ctl, json_object *pod)
{
    const char *name = sw_json_str(pod, "default-scheduler", "spec", "schedulerName", NULL);
    return sw_streq(name, "default-scheduler") || sw_rules_serve_scheduler(ctl->rules, name);
}

static void work(struct sw_ctl *ctl, const char *ns, const char *name)
{
    struct sw_pod *pod = sw_ctl_pod(ctl, ns, name);
    if (!pod || *sw_json_str(pod->doc, "", "spec", "nodeName", NULL) ||
        sw_doc_is_deleted(pod->doc) || sw_pod_is_over(pod) || !is_ours(ctl, pod->doc))
        return;
    if (sw_json_len(sw_json_find(pod->doc, "spec", "schedulingGates", NULL))) {
        refuse(ctl, pod, "SchedulingGated",
               "Scheduling is blocked due to non-empty scheduling gates");
        return;
    }
    if (ctl->delays.schedule_ms > 0 && !pod->waited) {
        pod->alarm.fire = on_waited;
        if (!pod->alarm.slot)
            sw_alarm_set(ctl, &pod->alarm, sw_ctl_jitter(ctl, ctl->delays.schedule_ms));
        return;
    }
    schedule(ctl, pod);
}

/* ---- when to try again --------------------------------------------------------------------------
 */

/* Pods that found no place: those for whose requests this node has room now, or all (NULL). */
static void retry(struct sw_ctl *ctl, const struct sw_node *node)
{
    if (!ctl->schedule->any_stuck)
        return;
    ctl->schedule->any_stuck = false;
    for (struct sw_pod *pod = sw_ctl_waiting_pods(ctl); pod; pod = pod->wait_next) {
        if (!pod->unschedulable)
            continue;
        ctl->schedule->any_stuck = true;
        if (!node || resources_fit(pod, node))
            sw_ctl_enqueue(ctl, SW_Q_SCHEDULE, sw_pod_ns(pod), sw_pod_name(pod));
    }
}

static void on_reword(struct sw_ctl *ctl, struct sw_alarm *alarm)
{
    (void)alarm;
    retry(ctl, NULL);
}

static void reword_soon(struct sw_ctl *ctl)
{
    if (ctl->schedule->any_stuck && !ctl->schedule->reword.slot)
        sw_alarm_set(ctl, &ctl->schedule->reword, REWORD_MS);
}

static bool holds_place(json_object *pod)
{
    const char *phase = sw_json_str(pod, "", "status", "phase", NULL);
    return pod && *sw_json_str(pod, "", "spec", "nodeName", NULL) &&
           !sw_streq(phase, "Succeeded") && !sw_streq(phase, "Failed");
}

static void on_pod(struct sw_ctl *ctl, json_object *before, json_object *after)
{
    if (after && !*sw_json_str(after, "", "spec", "nodeName", NULL))
        sw_ctl_enqueue(ctl, SW_Q_SCHEDULE, sw_obj_namespace(after), sw_obj_name(after));
    if (holds_place(before) && !holds_place(after)) {
        struct sw_node *node = sw_ctl_node(ctl, sw_json_str(before, "", "spec", "nodeName", NULL));
        if (node)
            retry(ctl, node);
        reword_soon(ctl);
    }
}

static void on_node(struct sw_ctl *ctl, struct sw_node *node, json_object *before,
                    json_object *after)
{
    (void)before;
    if (after)
        retry(ctl, node);
    reword_soon(ctl);
}

static void open_schedule(struct sw_ctl *ctl)
{
    ctl->schedule = sw_zalloc(1, sizeof *ctl->schedule);
    ctl->schedule->reword.fire = on_reword;
}

static void close_schedule(struct sw_ctl *ctl)
{
    sw_alarm_stop(ctl, &ctl->schedule->reword);
    free(SW_TAKE(ctl->schedule));
}

const struct sw_controller sw_scheduler = {
    .queue = SW_Q_SCHEDULE,
    .work = work,
    .on_pod = on_pod,
    .on_node = on_node,
    .open = open_schedule,
    .close = close_schedule,
};
