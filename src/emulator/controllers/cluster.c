#include "emulator/controllers/core.h"
#include "emulator/rules/rules_store.h"

#include <stdlib.h>
#include <string.h>

/* Opens the parts of a cluster: rules, first objects, controllers, in that order. */

#define DEVICES "resource.k8s.io"

enum { USUAL_NODES = 5, MIN_NODES = 2, MAX_NODES = 10000 };

const struct sw_controller *const sw_controllers[SW_N_QUEUES] = {
    [SW_Q_DEPLOYMENT] = &sw_deployment_controller,
    [SW_Q_REPLICASET] = &sw_replicaset_controller,
    [SW_Q_DAEMONSET] = &sw_daemonset_controller,
    [SW_Q_STATEFULSET] = &sw_statefulset_controller,
    [SW_Q_JOB] = &sw_job_controller,
    [SW_Q_NODE] = &sw_node_controller,
    [SW_Q_SCHEDULE] = &sw_scheduler,
    [SW_Q_KUBELET] = &sw_kubelet,
    [SW_Q_SERVICE] = &sw_service_controller,
    [SW_Q_DEVICE] = &sw_device_controller,
    [SW_Q_CLAIM] = &sw_claim_controller,
    [SW_Q_QUOTA] = &sw_quota_controller,
};

/* ---- kinds --------------------------------------------------------------------------------------
 */

static void find_kinds(struct sw_ctl *ctl)
{
    const struct {
        const struct sw_emu_kind **into;
        const char *group, *kind;
    } rows[] = {
        { &ctl->kinds.pod, "", "Pod" },
        { &ctl->kinds.node, "", "Node" },
        { &ctl->kinds.daemonset, "apps", "DaemonSet" },
        { &ctl->kinds.deployment, "apps", "Deployment" },
        { &ctl->kinds.replicaset, "apps", "ReplicaSet" },
        { &ctl->kinds.statefulset, "apps", "StatefulSet" },
        { &ctl->kinds.revision, "apps", "ControllerRevision" },
        { &ctl->kinds.job, "batch", "Job" },
        { &ctl->kinds.service, "", "Service" },
        { &ctl->kinds.endpoints, "", "Endpoints" },
        { &ctl->kinds.endpointslice, "discovery.k8s.io", "EndpointSlice" },
        { &ctl->kinds.event, "", "Event" },
        { &ctl->kinds.pvc, "", "PersistentVolumeClaim" },
        { &ctl->kinds.quota, "", "ResourceQuota" },
        { &ctl->kinds.device_class, DEVICES, "DeviceClass" },
        { &ctl->kinds.claim, DEVICES, "ResourceClaim" },
        { &ctl->kinds.claim_template, DEVICES, "ResourceClaimTemplate" },
        { &ctl->kinds.slice, DEVICES, "ResourceSlice" },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++)
        *rows[i].into = sw_store_kind(ctl->store, rows[i].group, rows[i].kind);
}

/* ---- changes ------------------------------------------------------------------------------------
 */

static bool is_kind(const struct sw_emu_kind *kind, const char *group, const char *name)
{
    return name && sw_streq(name, kind->kind) && sw_streq(group, kind->group);
}

static void on_event(const struct sw_store_event *event, void *arg)
{
    struct sw_ctl *ctl = arg;
    for (enum sw_queue q = 0; q < SW_N_QUEUES; q++) {
        const struct sw_controller *c = sw_controllers[q];
        if (is_kind(event->kind, c->group, c->kind))
            sw_ctl_enqueue(ctl, q, sw_obj_namespace(event->object), sw_obj_name(event->object));
        if (is_kind(event->kind, c->owned_group, c->owned_kind))
            sw_ctl_enqueue_owner(ctl, q, event->object);
    }
}

/* ---- rules --------------------------------------------------------------------------------------
 */

/* Call @cb for the documents of the pods on a node until it returns other than 0. */
static void each_pod_of(void *arg, const char *name, int (*cb)(json_object *doc, void *arg),
                        void *cb_arg)
{
    struct sw_ctl *ctl = arg;
    struct sw_node *node = ctl->index ? sw_ctl_node(ctl, name) : NULL;
    for (struct sw_pod *pod = node ? node->pods : NULL; pod; pod = pod->node_next)
        if (cb(pod->doc, cb_arg))
            return;
}

/* The rules serve another scheduler: pods may wait for it. */
static void on_scheduler(void *arg)
{
    struct sw_ctl *ctl = arg;
    for (struct sw_pod *pod = sw_ctl_waiting_pods(ctl); pod; pod = pod->wait_next)
        sw_ctl_enqueue(ctl, SW_Q_SCHEDULE, sw_pod_ns(pod), sw_pod_name(pod));
}

static int open_rules(struct sw_ctl *ctl, const struct sw_emulator_opts *opts, int n_nodes,
                      struct sw_err *err)
{
    bool pods = !opts->no_controllers;
    const char *version = opts->kube_version ? opts->kube_version : SW_EMULATOR_KUBE_VERSION;
    struct sw_rules_opts r = {
        .dir = opts->rules_dir,
        .troubles = opts->troubles,
        .platform = opts->platform == SW_EMU_KUBERNETES ? "kubernetes" : "openshift",
        .cloud = opts->cloud,
        .kube_version = version + (*version == 'v'),
        .n_nodes = n_nodes,
        .delay_percent = opts->delays.rule_percent,
        .jitter_percent = opts->delays.jitter_percent,
        .seed = opts->seed,
        .on_image = pods ? sw_kubelet_image : NULL,
        .on_scheduler = pods ? on_scheduler : NULL,
        .arg = ctl,
    };
    ctl->backend = sw_rules_store_new(ctl->store, pods ? each_pod_of : NULL, ctl);
    struct sw_rules_backend backend = sw_rules_store_backend(ctl->backend);
    return sw_rules_open(ctl->loop, &backend, &r, &ctl->rules, err);
}

/* ---- set-up -------------------------------------------------------------------------------------
 */

static void subscribe(struct sw_ctl *ctl, const struct sw_controller *c)
{
    const struct sw_emu_kind *kind = c->kind ? sw_store_kind(ctl->store, c->group, c->kind) : NULL;
    if (kind)
        ctl->subs[ctl->n_subs++] = sw_store_subscribe(ctl->store, kind, on_event, ctl);
}

static void start_controllers(struct sw_ctl *ctl)
{
    for (enum sw_queue q = 0; q < SW_N_QUEUES; q++)
        if (sw_controllers[q]->open)
            sw_controllers[q]->open(ctl);
    sw_ctl_index_open(ctl);
    for (enum sw_queue q = 0; q < SW_N_QUEUES; q++) /* each owned kind is one of these, too */
        subscribe(ctl, sw_controllers[q]);
    sw_store_set_logs(ctl->store, sw_kubelet_logs, ctl);
    ctl->started = true;
}

int sw_ctl_open(struct sw_store *store, const struct sw_emulator_opts *opts, struct sw_ctl **out,
                struct sw_err *err)
{
    int n_nodes = opts->no_nodes ? 0 : opts->n_nodes ? opts->n_nodes : USUAL_NODES;
    if (!opts->no_nodes && (n_nodes < MIN_NODES || n_nodes > MAX_NODES))
        return sw_err_set(err, SW_INVALID, "%d nodes: a cluster here has %d to %d", n_nodes,
                          MIN_NODES, MAX_NODES);
    struct sw_ctl *ctl = sw_zalloc(1, sizeof *ctl);
    ctl->store = store;
    ctl->loop = sw_store_loop(store);
    ctl->delays = opts->delays;
    ctl->rng = opts->seed ? opts->seed : (uint64_t)sw_monotonic_ms() | 1;
    find_kinds(ctl);
    sw_ctl_alarms_open(ctl);
    sw_ctl_queues_open(ctl);
    int rc = open_rules(ctl, opts, n_nodes, err);
    if (rc == 0)
        rc = sw_rules_create_objects(ctl->rules, err);
    if (rc < 0) {
        sw_ctl_close(ctl);
        return rc;
    }
    if (!opts->no_controllers)
        start_controllers(ctl);
    sw_rules_store_attach(ctl->backend, ctl->rules);
    sw_rules_start(ctl->rules);
    *out = ctl;
    return 0;
}

void sw_ctl_upgrade(struct sw_ctl *ctl)
{
    const bool had_claims = ctl->kinds.claim;
    find_kinds(ctl);
    if (had_claims || !ctl->kinds.claim || !ctl->started)
        return;
    for (enum sw_queue q = 0; q < SW_N_QUEUES; q++) {
        const struct sw_controller *c = sw_controllers[q];
        if (!sw_streq(c->group, DEVICES))
            continue;
        if (c->open)
            c->open(ctl);
        subscribe(ctl, c);
    }
}

void sw_ctl_close(struct sw_ctl *ctl)
{
    if (!ctl)
        return;
    sw_rules_close(SW_TAKE(ctl->rules));
    sw_rules_store_free(ctl->backend);
    for (size_t i = 0; i < ctl->n_subs; i++)
        sw_store_unsubscribe(ctl->subs[i]);
    if (ctl->started)
        sw_store_set_logs(ctl->store, NULL, NULL);
    for (enum sw_queue q = 0; ctl->started && q < SW_N_QUEUES; q++)
        if (sw_controllers[q]->close)
            sw_controllers[q]->close(ctl);
    sw_ctl_index_close(ctl);
    sw_ctl_queues_close(ctl);
    sw_ctl_alarms_close(ctl);
    free(ctl);
}
