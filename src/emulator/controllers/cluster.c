#include "emulator/controllers/core.h"
#include "emulator/rules/rules_store.h"

#include <stdlib.h>
#include <string.h>

/* The whole cluster: rules, first objects, controllers, in that order. */

enum { USUAL_NODES = 5, MIN_NODES = 2, MAX_NODES = 10000 };

const struct sw_controller *const sw_controllers[] = {
    &sw_deployment_controller,
    &sw_replicaset_controller,
    &sw_daemonset_controller,
    &sw_statefulset_controller,
    &sw_job_controller,
    &sw_node_controller,
    &sw_scheduler,
    &sw_kubelet,
    &sw_service_controller,
    NULL,
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
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++)
        *rows[i].into = sw_store_kind(ctl->store, rows[i].group, rows[i].kind);
}

/* ---- changes to queues --------------------------------------------------------------------------
 */

static void on_event(const struct sw_store_event *event, void *arg)
{
    struct sw_ctl *ctl = arg;
    for (size_t i = 0; sw_controllers[i]; i++) {
        const struct sw_controller *c = sw_controllers[i];
        if (c->kind && sw_streq(c->kind, event->kind->kind) &&
            sw_streq(c->group, event->kind->group))
            sw_ctl_enqueue(ctl, c->queue, sw_obj_namespace(event->object),
                           sw_obj_name(event->object));
        if (!c->owned_kind || !sw_streq(c->owned_kind, event->kind->kind) ||
            !sw_streq(c->owned_group, event->kind->group))
            continue;
        json_object *owner = sw_doc_controller(event->object);
        if (owner && sw_streq(sw_json_str(owner, "", "kind", NULL), c->kind))
            sw_ctl_enqueue(ctl, c->queue, sw_obj_namespace(event->object),
                           sw_json_str(owner, "", "name", NULL));
    }
}

static void subscribe(struct sw_ctl *ctl)
{
    for (size_t i = 0; sw_controllers[i]; i++) {
        const struct sw_controller *c = sw_controllers[i];
        const struct sw_emu_kind *kind = c->kind ? sw_store_kind(ctl->store, c->group, c->kind)
                                                 : NULL;
        bool known = !kind;
        for (size_t k = 0; k < i; k++) /* an owned kind is somebody's own one, too */
            known |= sw_controllers[k]->kind && sw_streq(sw_controllers[k]->kind, c->kind);
        if (!known)
            ctl->subs[ctl->n_subs++] = sw_store_subscribe(ctl->store, kind, on_event, ctl);
    }
}

/* ---- rules --------------------------------------------------------------------------------------
 */

static void each_pod_of(void *arg, const char *name, int (*cb)(json_object *doc, void *arg),
                        void *cb_arg)
{
    struct sw_ctl *ctl = arg;
    struct sw_node *node = ctl->index ? sw_ctl_node(ctl, name) : NULL;
    for (struct sw_pod *pod = node ? node->pods : NULL; pod; pod = pod->node_next)
        if (cb(pod->doc, cb_arg))
            return;
}

static void on_image(void *arg, const char *image)
{
    sw_kubelet_image(arg, image);
}

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
    const char *version = opts->kube_version;
    struct sw_rules_opts r = {
        .dir = opts->rules_dir,
        .platform = opts->platform == SW_EMU_KUBERNETES ? "kubernetes" : "openshift",
        .kube_version = version && *version == 'v' ? version + 1 : version,
        .n_nodes = n_nodes,
        .delay_percent = opts->delays.rule_percent,
        .jitter_percent = opts->delays.jitter_percent,
        .seed = opts->seed,
        .on_image = pods ? on_image : NULL,
        .on_scheduler = pods ? on_scheduler : NULL,
        .arg = ctl,
    };
    ctl->backend = sw_rules_store_new(ctl->store, pods ? each_pod_of : NULL, ctl);
    struct sw_rules_backend backend = sw_rules_store_backend(ctl->backend);
    return sw_rules_open(ctl->loop, &backend, &r, &ctl->rules, err);
}

/* ---- life ---------------------------------------------------------------------------------------
 */

static void start_controllers(struct sw_ctl *ctl)
{
    for (size_t i = 0; sw_controllers[i]; i++)
        if (sw_controllers[i]->open)
            sw_controllers[i]->open(ctl);
    sw_ctl_index_open(ctl);
    subscribe(ctl);
    sw_store_set_logs(ctl->store, sw_kubelet_logs, ctl);
    ctl->started = true;
}

static int kube_minor(const char *version)
{
    const char *dot = version ? strchr(version, '.') : NULL;
    return dot ? (int)strtol(dot + 1, NULL, 10) : 29;
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
    ctl->kube_minor = kube_minor(opts->kube_version);
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
    sw_rules_store_tell(ctl->backend, ctl->rules);
    sw_rules_start(ctl->rules);
    *out = ctl;
    return 0;
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
    for (size_t i = 0; ctl->started && sw_controllers[i]; i++)
        if (sw_controllers[i]->close)
            sw_controllers[i]->close(ctl);
    sw_ctl_index_close(ctl);
    sw_ctl_queues_close(ctl);
    sw_ctl_alarms_close(ctl);
    free(ctl);
}
