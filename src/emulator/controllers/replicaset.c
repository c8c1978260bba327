#include "emulator/controllers/workload.h"

#include <stdlib.h>

/* A batch; their coming queues the ReplicaSet for the next one. */
static bool create_pods(struct sw_ctl *ctl, json_object *rs, int64_t n)
{
    SW_AUTO_CHARS *prefix = sw_printf("%s-", sw_obj_name(rs));
    for (int64_t i = 0; i < n && i < SW_PODS_A_ROUND; i++)
        if (sw_ctl_create(ctl, ctl->kinds.pod, sw_workload_pod(rs, prefix), rs) < 0)
            return false;
    return true;
}

static bool scale(struct sw_ctl *ctl, json_object *rs)
{
    struct sw_pod **pods;
    struct sw_doomed surplus = { 0 };
    int64_t want = sw_json_int(rs, 1, "spec", "replicas", NULL);
    size_t n = sw_workload_pods(ctl, rs, &pods);
    bool fine = true;
    if ((int64_t)n < want)
        fine = create_pods(ctl, rs, want - (int64_t)n);
    for (size_t i = 0; (int64_t)(n - i) > want && i < n; i++)
        sw_doom(&surplus, pods[i]);
    sw_doomed_delete(ctl, &surplus, false);
    free(pods);
    return fine;
}

static void write_status(struct sw_ctl *ctl, json_object *rs, bool failed)
{
    struct sw_workload_count n;
    sw_workload_count(ctl, rs, NULL, NULL, &n);
    json_object *status = sw_workload_status(rs, "replicas", n.active, "fullyLabeledReplicas",
                                             n.active, "readyReplicas", n.ready,
                                             "availableReplicas", n.available, NULL);
    static const char *const left_out[] = { "fullyLabeledReplicas", "readyReplicas",
                                            "availableReplicas" };
    for (size_t i = 0; i < SW_COUNT(left_out); i++) /* as omitempty leaves them out */
        if (!sw_json_int(status, 0, left_out[i], NULL))
            json_object_object_del(status, left_out[i]);
    if (failed)
        (void)sw_cond_set(sw_json_need_list(status, "conditions", NULL), "ReplicaFailure", "True",
                          "FailedCreate", "pods could not be created, see the events",
                          sw_ctl_now(ctl));
    else
        json_object_object_del(status, "conditions");
    (void)sw_ctl_put_status(ctl, ctl->kinds.replicaset, rs, status);
    if (n.wait_ms >= 0)
        sw_ctl_enqueue_in(ctl, SW_Q_REPLICASET, sw_obj_namespace(rs), sw_obj_name(rs), n.wait_ms);
}

static void work(struct sw_ctl *ctl, const char *ns, const char *name)
{
    json_object *rs = sw_store_get(ctl->store, ctl->kinds.replicaset, ns, name);
    if (!rs)
        return;
    json_object_get(rs);
    bool fine = sw_doc_is_deleted(rs) || scale(ctl, rs);
    write_status(ctl, rs, !fine);
    if (!fine)
        sw_ctl_enqueue_in(ctl, SW_Q_REPLICASET, ns, name, 1000);
    json_object_put(rs);
}

static void on_pod(struct sw_ctl *ctl, json_object *before, json_object *after)
{
    sw_workload_on_pod(ctl, SW_Q_REPLICASET, "ReplicaSet", before, after);
}

const struct sw_controller sw_replicaset_controller = {
    .queue = SW_Q_REPLICASET,
    .group = "apps",
    .kind = "ReplicaSet",
    .work = work,
    .on_pod = on_pod,
};
