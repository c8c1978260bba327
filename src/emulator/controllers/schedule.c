#include "emulator/controllers/devices.h"
#include "emulator/controllers/fit.h"
#include "emulator/controllers/reasons.h"
#include "emulator/controllers/spread.h"
#include "emulator/rules/rules.h"
#include "emulator/store/objects.h"

#include <stdlib.h>

/* After a change of nodes or a freed place, all unschedulable pods are tried again at this delay,
 * which also updates their messages. */
enum { RETRY_ALL_MS = 200 };

struct sw_schedule {
    bool any_stuck; /* a waiting pod is unschedulable, or once was */
    struct sw_alarm retry_all;
};

/* One attempt to find a node for a pod. */
struct attempt {
    struct sw_ctl *ctl;
    struct sw_pod *pod;
    struct sw_fit fit;
    struct sw_spread *spread;
    struct sw_reasons reasons;
    struct sw_devices *devices; /* NULL: it asks for none */
    struct sw_node *best;
    int64_t best_score;
    char *fault; /* why no node is tried any more; owned, NULL: none */
};

static bool is_short_of(const struct sw_node *node, const struct sw_amount *want)
{
    return want->milli > 0 && sw_amount_in(&node->used, want->resource) + want->milli >
                                  sw_amount_in(&node->allocatable, want->resource);
}

/* A new list of the ports of all containers that have a hostPort; NULL: there are none. */
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
    SW_AUTO_JSON *taken = host_ports(other->doc);
    for (size_t i = 0; i < sw_json_len(wanted); i++) {
        for (size_t k = 0; k < sw_json_len(taken); k++) {
            json_object *a = sw_json_at(wanted, i), *b = sw_json_at(taken, k);
            if (sw_json_int(a, 0, "hostPort", NULL) == sw_json_int(b, 0, "hostPort", NULL) &&
                sw_streq(sw_json_str(a, "TCP", "protocol", NULL),
                         sw_json_str(b, "TCP", "protocol", NULL)))
                return true;
        }
    }
    return false;
}

static bool ports_are_free(const struct sw_pod *pod, const struct sw_node *node)
{
    SW_AUTO_JSON *wanted = host_ports(pod->doc);
    for (struct sw_pod *other = node->pods; wanted && other; other = other->node_next)
        if (!sw_pod_is_over(other) && ports_clash(wanted, other))
            return false;
    return true;
}

static void no_selector_match(struct attempt *a, size_t times)
{
    int minor = sw_store_minor(a->ctl->store);
    sw_reasons_add(&a->reasons, times, "%s",
                   minor < 21   ? "node(s) didn't match node selector"
                   : minor < 22 ? "node(s) didn't match Pod's node affinity"
                                : "node(s) didn't match Pod's node affinity/selector");
}

/* @return whether the pod tolerates the node's taints; else the reason is added. */
static bool taints_fit(struct attempt *a, const struct sw_node *node)
{
    if (sw_json_bool(node->doc, false, "spec", "unschedulable", NULL)) {
        SW_AUTO_JSON *taint = sw_doc_new("key", sw_str("node.kubernetes.io/unschedulable"),
                                         "effect", sw_str("NoSchedule"), NULL);
        if (!sw_fit_tolerates(a->fit.tolerations, taint)) {
            sw_reasons_add(&a->reasons, 1, "node(s) were unschedulable");
            return false;
        }
    }
    json_object *taint = sw_fit_taint(node->doc, a->fit.tolerations,
                                      SW_NO_SCHEDULE | SW_NO_EXECUTE);
    if (!taint)
        return true;
    const char *key = sw_json_str(taint, "", "key", NULL);
    const char *value = sw_json_str(taint, "", "value", NULL);
    if (sw_store_minor(a->ctl->store) < 24)
        sw_reasons_add(&a->reasons, 1, "node(s) had taint {%s: %s}, that the pod didn't tolerate",
                       key, value);
    else
        sw_reasons_add(&a->reasons, 1, "node(s) had untolerated taint {%s: %s}", key, value);
    return false;
}

/* @return whether the node has the resources that the pod requests; else the reasons are added. */
static bool has_room(struct attempt *a, const struct sw_node *node)
{
    bool fits = true;
    for (size_t i = 0; i < a->pod->requests.n; i++) {
        const struct sw_amount *want = &a->pod->requests.items[i];
        if (!is_short_of(node, want) || sw_devices_provide(a->devices, node, want->resource))
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

/* Apply the filters in kube-scheduler's order; the first that fails gives the reason. Of the nodes
 * that fit, the one with the fewest pods is the best. */
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
    const char *reason = sw_spread_check(a->spread, node);
    if (reason) {
        sw_reasons_add(&a->reasons, 1, "%s", reason);
        return;
    }
    const bool has_more = a->best && node->n_pods >= a->best->n_pods;
    if (has_more && !sw_devices_have_choice(a->devices))
        return;
    SW_ERR(err);
    int64_t score = 0;
    const int rc = a->devices ? sw_devices_find(a->devices, node, &score, &err) : 0;
    if (rc == SW_NOTFOUND)
        sw_reasons_add(&a->reasons, 1, "%s", sw_err_text(&err));
    else if (rc < 0 && !a->fault)
        a->fault = sw_printf("running \"DynamicResources\" filter plugin: %s", sw_err_text(&err));
    if (rc < 0)
        return;
    if (a->best &&
        (score < a->best_score || (score == a->best_score && node->n_pods >= a->best->n_pods)))
        return;
    a->best = node;
    a->best_score = score;
}

/* Why the pod's claims keep it from all nodes, as kube-scheduler says it; the caller's, NULL: they
 * do not. */
static char *unbound_claim(struct sw_ctl *ctl, const struct sw_pod *pod)
{
    json_object *volumes = sw_json_find(pod->doc, "spec", "volumes", NULL);
    for (size_t i = 0; i < sw_json_len(volumes); i++) {
        const char *name = sw_json_str(sw_json_at(volumes, i), NULL, "persistentVolumeClaim",
                                       "claimName", NULL);
        json_object *claim = name ? sw_store_get(ctl->store, ctl->kinds.pvc, sw_pod_ns(pod), name)
                                  : NULL;
        const bool bound = sw_streq(sw_json_str(claim, "", "status", "phase", NULL), "Bound");
        if (!name || bound)
            continue;
        SW_AUTO_CHARS *why = claim ? sw_strdup("pod has unbound immediate PersistentVolumeClaims")
                                   : sw_printf("persistentvolumeclaim \"%s\" not found", name);
        return sw_printf("0/%zu nodes are available: %s.", sw_ctl_n_nodes(ctl), why);
    }
    return NULL;
}

/* ---- results ------------------------------------------------------------------------------------
 */

/* What is written into a pod. */
struct result {
    struct sw_ctl *ctl;
    const char *node;             /* NULL: none */
    const char *reason, *message; /* without a node */
};

static int set_result(json_object *doc, void *arg)
{
    const struct result *r = arg;
    if (r->node)
        sw_json_set_str(doc, r->node, "spec", "nodeName", NULL);
    (void)sw_cond_set(sw_json_need_list(doc, "status", "conditions", NULL), "PodScheduled",
                      r->node ? "True" : "False", r->reason, r->message, sw_ctl_now(r->ctl));
    return 0;
}

static void refuse(struct sw_ctl *ctl, struct sw_pod *pod, const char *reason, const char *message)
{
    json_object *c = sw_obj_condition(pod->doc, "PodScheduled");
    if (sw_streq(sw_json_str(c, "", "message", NULL), message))
        return;
    struct result r = { .ctl = ctl, .reason = reason, .message = message };
    if (!sw_streq(reason, "SchedulingGated"))
        sw_ctl_event(ctl, pod->doc, "Warning", "FailedScheduling", "%s", message);
    (void)sw_ctl_modify(ctl, ctl->kinds.pod, pod->doc, "status", set_result, &r);
}

static void bind(struct sw_ctl *ctl, struct sw_pod *pod, struct sw_devices *devices,
                 const char *node)
{
    struct result r = { .ctl = ctl, .node = node };
    int rc = devices ? sw_devices_take(devices, node) : 0;
    pod->unschedulable = false;
    if (rc == SW_PENDING)
        return;
    if (rc == 0)
        rc = sw_ctl_modify(ctl, ctl->kinds.pod, pod->doc, "binding", set_result, &r);
    if (rc < 0)
        sw_ctl_enqueue_in(ctl, SW_Q_SCHEDULE, sw_pod_ns(pod), sw_pod_name(pod), SW_CTL_RETRY_MS);
}

/* No node will do: try again when something changes. */
static void give_up(struct sw_ctl *ctl, struct sw_pod *pod, const char *reason, const char *message)
{
    pod->unschedulable = true;
    ctl->schedule->any_stuck = true;
    refuse(ctl, pod, reason, message);
}

static void schedule(struct sw_ctl *ctl, struct sw_pod *pod, struct sw_devices *devices)
{
    struct attempt a = { .ctl = ctl, .pod = pod, .devices = devices };
    sw_fit_init(&a.fit, sw_json_get(pod->doc, "spec"));
    a.spread = sw_spread_new(ctl, pod);
    size_t n;
    struct sw_node *const *nodes = sw_ctl_nodes(ctl, &n);
    struct sw_node *only = a.fit.only_node ? sw_ctl_node(ctl, a.fit.only_node) : NULL;
    if (only)
        try_node(&a, only);
    if (a.fit.only_node)
        no_selector_match(&a, sw_ctl_n_nodes(ctl) - (only != NULL));
    for (size_t i = 0; !a.fit.only_node && !a.fault && i < n; i++)
        if (nodes[i])
            try_node(&a, nodes[i]);
    if (a.fault) {
        give_up(ctl, pod, "SchedulerError", a.fault);
    } else if (a.best) {
        bind(ctl, pod, devices, sw_obj_name(a.best->doc));
    } else {
        SW_AUTO_CHARS *message = sw_reasons_text(&a.reasons, sw_ctl_n_nodes(ctl));
        give_up(ctl, pod, "Unschedulable", message);
    }
    free(a.fault);
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

static void work(struct sw_ctl *ctl, const char *ns, const char *name)
{
    struct sw_pod *pod = sw_ctl_pod(ctl, ns, name);
    if (!pod || *sw_json_str(pod->doc, "", "spec", "nodeName", NULL) ||
        sw_doc_is_deleted(pod->doc) || sw_pod_is_over(pod))
        return;
    const char *by = sw_json_str(pod->doc, "default-scheduler", "spec", "schedulerName", NULL);
    if (!sw_streq(by, "default-scheduler") && !sw_rules_serve_scheduler(ctl->rules, by))
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
    SW_AUTO_CHARS *lacks = sw_devices_unclaimed(ctl, pod);
    if (lacks) {
        refuse(ctl, pod, "Unschedulable", lacks);
        return;
    }
    SW_AUTO_CHARS *unbound = unbound_claim(ctl, pod);
    if (unbound) {
        give_up(ctl, pod, "Unschedulable", unbound);
        return;
    }
    SW_AUTO_CHARS *why = NULL;
    struct sw_devices *devices = sw_devices_open(ctl, pod, &why);
    if (why) {
        const bool failed = sw_starts_with(why, "device binding ");
        SW_AUTO_CHARS *message =
            failed ? sw_printf("running PreBind plugin \"DynamicResources\": %s", why)
                   : sw_printf("0/%zu nodes are available: %s.", sw_ctl_n_nodes(ctl), why);
        give_up(ctl, pod, failed ? "SchedulerError" : "Unschedulable", message);
        return;
    }
    schedule(ctl, pod, devices);
    sw_devices_close(devices);
}

/* ---- when to try again --------------------------------------------------------------------------
 */

/* Whether the node may be one for a pod that found none: it has the room, tolerated taints, and
 * what the pod selects by. As kube-scheduler's hints, so that a change of one node does not have
 * all of them looked at. */
static bool may_suit(const struct sw_pod *pod, const struct sw_node *node)
{
    for (size_t i = 0; i < pod->requests.n; i++)
        if (is_short_of(node, &pod->requests.items[i]))
            return false;
    struct sw_fit fit;
    sw_fit_init(&fit, sw_json_get(pod->doc, "spec"));
    const bool suits = !sw_fit_taint(node->doc, fit.tolerations, SW_NO_SCHEDULE | SW_NO_EXECUTE) &&
                       sw_fit_affinity(&fit, node->doc);
    sw_fit_done(&fit);
    return suits;
}

/* Enqueue the unschedulable pods that @node may suit now; NULL: all of them. */
static void retry(struct sw_ctl *ctl, const struct sw_node *node)
{
    if (!ctl->schedule->any_stuck)
        return;
    ctl->schedule->any_stuck = false;
    for (struct sw_pod *pod = sw_ctl_waiting_pods(ctl); pod; pod = pod->wait_next) {
        if (!pod->unschedulable)
            continue;
        ctl->schedule->any_stuck = true;
        if (!node || may_suit(pod, node))
            sw_ctl_enqueue(ctl, SW_Q_SCHEDULE, sw_pod_ns(pod), sw_pod_name(pod));
    }
}

static void on_retry_all(struct sw_ctl *ctl, struct sw_alarm *alarm)
{
    (void)alarm;
    retry(ctl, NULL);
}

static void retry_all_soon(struct sw_ctl *ctl)
{
    if (ctl->schedule->any_stuck && !ctl->schedule->retry_all.slot)
        sw_alarm_set(ctl, &ctl->schedule->retry_all, RETRY_ALL_MS);
}

/* Whether the pod takes resources of a node. */
static bool holds_place(json_object *pod)
{
    return pod && *sw_json_str(pod, "", "spec", "nodeName", NULL) && !sw_doc_is_over(pod);
}

static void on_pod(struct sw_ctl *ctl, json_object *before, json_object *after)
{
    if (after && !*sw_json_str(after, "", "spec", "nodeName", NULL))
        sw_ctl_enqueue(ctl, SW_Q_SCHEDULE, sw_obj_namespace(after), sw_obj_name(after));
    if (holds_place(before) && !holds_place(after)) {
        struct sw_node *node = sw_ctl_node(ctl, sw_json_str(before, "", "spec", "nodeName", NULL));
        if (node)
            retry(ctl, node);
        retry_all_soon(ctl);
    }
}

static void on_node(struct sw_ctl *ctl, struct sw_node *node, json_object *before,
                    json_object *after)
{
    (void)before;
    if (after)
        retry(ctl, node);
    retry_all_soon(ctl);
}

/* A claim that came, or was bound, may be one that a pod waits for. */
static void on_claim(const struct sw_store_event *event, void *arg)
{
    (void)event;
    retry(arg, NULL);
}

static void open_schedule(struct sw_ctl *ctl)
{
    ctl->schedule = sw_zalloc(1, sizeof *ctl->schedule);
    ctl->schedule->retry_all.fire = on_retry_all;
    ctl->subs[ctl->n_subs++] = sw_store_subscribe(ctl->store, ctl->kinds.pvc, on_claim, ctl);
}

static void close_schedule(struct sw_ctl *ctl)
{
    sw_alarm_stop(ctl, &ctl->schedule->retry_all);
    free(SW_TAKE(ctl->schedule));
}

const struct sw_controller sw_scheduler = {
    .work = work,
    .on_pod = on_pod,
    .on_node = on_node,
    .open = open_schedule,
    .close = close_schedule,
};
