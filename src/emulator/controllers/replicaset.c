#include "emulator/controllers/workload.h"

#include <stdlib.h>

/* Create a batch of missing pods, or delete surplus ones. The new pods enqueue the ReplicaSet, for
 * the next batch. @return false: a pod could not be created, and *@why, the caller's */
static bool scale(struct sw_ctl *ctl, json_object *rs, char **why)
{
    struct sw_pod **pods;
    struct sw_doomed surplus = { 0 };
    SW_AUTO_CHARS *prefix = sw_printf("%s-", sw_obj_name(rs));
    int64_t want = sw_json_int(rs, 1, "spec", "replicas", NULL);
    size_t n = sw_workload_pods(ctl, rs, &pods);
    bool ok = true;
    for (int64_t i = 0; ok && i < want - (int64_t)n && i < SW_PODS_A_ROUND; i++)
        ok = sw_ctl_create_told(ctl, ctl->kinds.pod, sw_workload_pod(rs, prefix), rs, why) == 0;
    for (size_t i = 0; (int64_t)(n - i) > want && i < n; i++)
        sw_doom(&surplus, pods[i]);
    sw_doomed_delete(ctl, &surplus, false);
    free(pods);
    return ok;
}

/* @failure: why a pod could not be created; NULL: none failed */
static void write_status(struct sw_ctl *ctl, json_object *rs, const char *failure)
{
    struct sw_workload_count n;
    sw_workload_count(ctl, rs, NULL, NULL, &n);
    json_object *status = sw_workload_status(rs, "replicas", n.active, "fullyLabeledReplicas",
                                             n.active, "readyReplicas", n.ready,
                                             "availableReplicas", n.available, NULL);
    sw_status_omit_zeros(status, "fullyLabeledReplicas", "readyReplicas", "availableReplicas",
                         NULL);
    const json_object *told = sw_obj_condition(rs, "ReplicaFailure");
    if (failure && !told) /* as the real one, which keeps the first message */
        (void)sw_cond_set(sw_json_need_list(status, "conditions", NULL), "ReplicaFailure", "True",
                          "FailedCreate", failure, sw_ctl_now(ctl));
    else if (!failure)
        json_object_object_del(status, "conditions");
    sw_ctl_put_status(ctl, ctl->kinds.replicaset, rs, status);
    if (n.wait_ms >= 0)
        sw_ctl_enqueue_in(ctl, SW_Q_REPLICASET, sw_obj_namespace(rs), sw_obj_name(rs), n.wait_ms);
}

static void work(struct sw_ctl *ctl, const char *ns, const char *name)
{
    json_object *rs = sw_store_get(ctl->store, ctl->kinds.replicaset, ns, name);
    if (!rs)
        return;
    json_object_get(rs);
    SW_AUTO_CHARS *why = NULL;
    bool ok = sw_doc_is_deleted(rs) || scale(ctl, rs, &why);
    write_status(ctl, rs, why);
    if (!ok)
        sw_ctl_enqueue_in(ctl, SW_Q_REPLICASET, ns, name, SW_CTL_RETRY_MS);
    json_object_put(rs);
}

const struct sw_controller sw_replicaset_controller = {
    .group = "apps",
    .kind = "ReplicaSet",
    .owns_pods = true,
    .work = work,
};
