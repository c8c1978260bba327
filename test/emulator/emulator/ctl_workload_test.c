/* Deployments, ReplicaSets, StatefulSets and Jobs: pods come, are replaced and end as they do in a
 * cluster, and the status says so. */
#include "ctl_fixture.h"

static void deployment(struct cluster *c, int replicas, const char *image, const char *more)
{
    SW_AUTO_CHARS *yaml = sw_printf("apiVersion: apps/v1\n"
                                    "kind: Deployment\n"
                                    "metadata: {name: web}\n"
                                    "spec:\n"
                                    "  replicas: %d\n"
                                    "  selector: {matchLabels: {app: web}}\n"
                                    "  %s\n"
                                    "  template:\n"
                                    "    metadata: {labels: {app: web}}\n"
                                    "    spec: {containers: [{name: web, image: %s}]}\n",
                                    replicas, more, image);
    put(c, yaml);
}

static void a_deployment_becomes_available(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, NULL, NULL);
    deployment(&c, 3, "web:1", "");
    settle(&c);
    assert_int_equal(n_running(&c, "app=web"), 3);
    expect(&c, "apps/v1", "Deployment", "default", "web",
           "{.status.replicas} {.status.updatedReplicas} {.status.readyReplicas} "
           "{.status.availableReplicas} {.status.unavailableReplicas} {.status.observedGeneration}",
           "3 3 3 3  1");
    expect(&c, "apps/v1", "Deployment", "default", "web",
           "{.status.conditions[?(@.type==\"Available\")].status} "
           "{.status.conditions[?(@.type==\"Progressing\")].reason}",
           "True NewReplicaSetAvailable");
    cluster_close(&c);
}

static void a_new_template_rolls_out_within_its_limits(void **state)
{
    (void)state;
    struct cluster c;
    struct sw_emulator_opts opts = { .delays = { .pod_start_ms = 100, .pod_stop_ms = 10 } };
    cluster_open(&c, &opts, NULL);
    const char *strategy = "strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}";
    deployment(&c, 3, "web:1", strategy);
    pass(&c, 2000);
    assert_int_equal(n_running(&c, "app=web"), 3);
    deployment(&c, 3, "web:2", strategy);
    for (int i = 0; i < 200; i++) {
        pass(&c, 10);
        size_t all = count_pods(&c, "default", "app=web", "{.metadata.deletionTimestamp}", "");
        assert_true(all <= 4);
        assert_true(count_pods(&c, "default", "app=web",
                               "{.status.conditions[?(@.type==\"Ready\")].status}", "True") >= 3);
    }
    assert_int_equal(count_pods(&c, "default", "app=web", "{.spec.containers[0].image}", "web:2"),
                     3);
    assert_int_equal(count_pods(&c, "default", "app=web", "{.spec.containers[0].image}", "web:1"),
                     0);
    expect(&c, "apps/v1", "Deployment", "default", "web",
           "{.metadata.annotations['deployment.kubernetes.io/revision']} {.status.updatedReplicas}",
           "2 3");
    cluster_close(&c);
}

static void a_template_of_before_gets_its_replicaset_back(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, NULL, NULL);
    deployment(&c, 1, "web:1", "");
    settle(&c);
    deployment(&c, 1, "web:2", "");
    settle(&c);
    deployment(&c, 1, "web:1", "");
    settle(&c);
    SW_STORE_LIST(sets);
    sw_store_list(c.store, kind_of(&c, "apps/v1", "ReplicaSet"), "default", &sets);
    assert_int_equal(sets.n, 2);
    expect(&c, "apps/v1", "Deployment", "default", "web",
           "{.metadata.annotations['deployment.kubernetes.io/revision']}", "3");
    assert_int_equal(count_pods(&c, "default", "app=web", "{.spec.containers[0].image}", "web:1"),
                     1);
    cluster_close(&c);
}

static void recreate_has_no_pods_of_two_templates(void **state)
{
    (void)state;
    struct cluster c;
    struct sw_emulator_opts opts = { .delays = { .pod_start_ms = 50, .pod_stop_ms = 50 } };
    cluster_open(&c, &opts, NULL);
    deployment(&c, 2, "web:1", "strategy: {type: Recreate}");
    settle(&c);
    deployment(&c, 2, "web:2", "strategy: {type: Recreate}");
    for (int i = 0; i < 60; i++) {
        pass(&c, 10);
        size_t old = count_pods(&c, "default", "app=web", "{.spec.containers[0].image}", "web:1");
        size_t new = count_pods(&c, "default", "app=web", "{.spec.containers[0].image}", "web:2");
        assert_true(!old || !new);
    }
    assert_int_equal(n_running(&c, "app=web"), 2);
    cluster_close(&c);
}

static void a_rollout_that_stands_still_says_so(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, NULL, "images: [{match: nowhere, exists: false}]");
    deployment(&c, 1, "nowhere:1", "progressDeadlineSeconds: 60");
    pass(&c, 30000);
    expect(&c, "apps/v1", "Deployment", "default", "web",
           "{.status.conditions[?(@.type==\"Available\")].status} "
           "{.status.conditions[?(@.type==\"Progressing\")].status}",
           "False True");
    pass(&c, 60000);
    expect(&c, "apps/v1", "Deployment", "default", "web",
           "{.status.conditions[?(@.type==\"Progressing\")].reason}", "ProgressDeadlineExceeded");
    cluster_close(&c);
}

static void scaling_down_takes_what_is_not_ready_first(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, NULL, NULL);
    deployment(&c, 3, "web:1", "");
    settle(&c);
    PODS(pods);
    find_pods(&c, "default", "app=web", &pods);
    patch(&c, "v1", "Pod", "default", sw_obj_name(pods.items[1]), NULL,
          "{metadata: {annotations: {emulator.slipway.dev/ready: \"false\"}}}");
    settle(&c);
    SW_AUTO_CHARS *gone = sw_strdup(sw_obj_name(pods.items[1]));
    deployment(&c, 2, "web:1", "");
    settle(&c);
    assert_null(get(&c, "v1", "Pod", "default", gone));
    assert_int_equal(n_running(&c, "app=web"), 2);
    cluster_close(&c);
}

static void a_deleted_pod_is_replaced(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, NULL, NULL);
    deployment(&c, 2, "web:1", "");
    settle(&c);
    PODS(pods);
    find_pods(&c, "default", "app=web", &pods);
    drop(&c, "v1", "Pod", "default", sw_obj_name(pods.items[0]));
    settle(&c);
    assert_int_equal(n_running(&c, "app=web"), 2);
    assert_null(get(&c, "v1", "Pod", "default", sw_obj_name(pods.items[0])));
    cluster_close(&c);
}

/* ---- StatefulSets -------------------------------------------------------------------------------
 */

static void stateful(struct cluster *c, int replicas, const char *image)
{
    SW_AUTO_CHARS *yaml = sw_printf(
        "apiVersion: apps/v1\n"
        "kind: StatefulSet\n"
        "metadata: {name: db}\n"
        "spec:\n"
        "  replicas: %d\n"
        "  serviceName: db\n"
        "  selector: {matchLabels: {app: db}}\n"
        "  template:\n"
        "    metadata: {labels: {app: db}}\n"
        "    spec: {containers: [{name: db, image: %s}]}\n"
        "  volumeClaimTemplates:\n"
        "  - metadata: {name: data}\n"
        "    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n",
        replicas, image);
    put(c, yaml);
}

static void a_statefulset_starts_one_after_the_other(void **state)
{
    (void)state;
    struct cluster c;
    struct sw_emulator_opts opts = { .delays = { .pod_start_ms = 100 } };
    cluster_open(&c, &opts, NULL);
    stateful(&c, 3, "db:1");
    pass(&c, 50);
    assert_non_null(get(&c, "v1", "Pod", "default", "db-0"));
    assert_null(get(&c, "v1", "Pod", "default", "db-1"));
    pass(&c, 1000);
    assert_int_equal(n_running(&c, "app=db"), 3);
    expect(&c, "v1", "PersistentVolumeClaim", "default", "data-db-2", "{.status.phase}", "Bound");
    expect(&c, "apps/v1", "StatefulSet", "default", "db",
           "{.status.replicas} {.status.readyReplicas} {.status.currentReplicas} "
           "{.status.updatedReplicas}",
           "3 3 3 3");
    cluster_close(&c);
}

static void a_statefulset_updates_from_the_top(void **state)
{
    (void)state;
    struct cluster c;
    struct sw_emulator_opts opts = { .delays = { .pod_start_ms = 100 } };
    cluster_open(&c, &opts, NULL);
    stateful(&c, 2, "db:1");
    pass(&c, 1000);
    stateful(&c, 2, "db:2");
    pass(&c, 50);
    expect(&c, "v1", "Pod", "default", "db-1", "{.spec.containers[0].image}", "db:2");
    expect(&c, "v1", "Pod", "default", "db-0", "{.spec.containers[0].image}", "db:1");
    pass(&c, 1000);
    expect(&c, "v1", "Pod", "default", "db-0", "{.spec.containers[0].image}", "db:2");
    SW_AUTO_CHARS *current = see(get(&c, "apps/v1", "StatefulSet", "default", "db"),
                                 "{.status.currentRevision}");
    expect(&c, "apps/v1", "StatefulSet", "default", "db", "{.status.updateRevision}", current);
    stateful(&c, 1, "db:2");
    pass(&c, 500);
    assert_null(get(&c, "v1", "Pod", "default", "db-1"));
    cluster_close(&c);
}

/* ---- Jobs ---------------------------------------------------------------------------------------
 */

static void job(struct cluster *c, const char *spec, const char *annotations)
{
    SW_AUTO_CHARS *yaml = sw_printf("apiVersion: batch/v1\n"
                                    "kind: Job\n"
                                    "metadata: {name: once}\n"
                                    "spec:\n"
                                    "  %s\n"
                                    "  template:\n"
                                    "    metadata: {annotations: {%s}}\n"
                                    "    spec:\n"
                                    "      restartPolicy: Never\n"
                                    "      containers: [{name: work, image: work:1}]\n",
                                    spec, annotations);
    put(c, yaml);
}

static void jobs_run_as_many_as_they_may(void **state)
{
    (void)state;
    struct cluster c;
    struct sw_emulator_opts opts = { .delays = { .job_run_ms = 1000 } };
    cluster_open(&c, &opts, NULL);
    job(&c, "completions: 3\n  parallelism: 2", "");
    pass(&c, 500);
    expect(&c, "batch/v1", "Job", "default", "once", "{.status.active} {.status.ready}", "2 2");
    pass(&c, 3000);
    expect(&c, "batch/v1", "Job", "default", "once",
           "{.status.active} {.status.succeeded} "
           "{.status.conditions[?(@.type==\"Complete\")].status}",
           " 3 True");
    cluster_close(&c);
}

static void a_job_that_keeps_failing_fails(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, NULL, NULL);
    job(&c, "backoffLimit: 2", "emulator.slipway.dev/exit-code: \"3\"");
    pass(&c, 5000);
    expect(&c, "batch/v1", "Job", "default", "once",
           "{.status.failed} {.status.conditions[?(@.type==\"Failed\")].reason}",
           "3 BackoffLimitExceeded");
    cluster_close(&c);
}

static const char exit_code_policy[] =
    "podFailurePolicy:\n"
    "    rules:\n"
    "    - action: Ignore\n"
    "      onExitCodes: {operator: In, values: [4]}\n"
    "    - action: FailJob\n"
    "      onExitCodes: {containerName: work, operator: In, values: [2, 3]}";

static void a_job_fails_at_once_for_an_exit_code_of_its_policy(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, NULL, NULL);
    job(&c, exit_code_policy,
        "emulator.slipway.dev/exit-code: \"3\", emulator.slipway.dev/message: not here");
    pass(&c, 5000);
    expect(&c, "batch/v1", "Job", "default", "once",
           "{.status.failed} {.status.conditions[?(@.type==\"Failed\")].reason}",
           "1 PodFailurePolicy");
    json_object *live = get(&c, "batch/v1", "Job", "default", "once");
    const char *message = sw_json_str(sw_obj_condition(live, "Failed"), "", "message", NULL);
    assert_non_null(strstr(message, "Container work for pod default/once-"));
    assert_non_null(strstr(message, " failed with exit code 3 matching FailJob rule at index 1"));
    cluster_close(&c);
}

static void a_failure_that_the_policy_ignores_does_not_count(void **state)
{
    (void)state;
    struct cluster c;
    struct sw_emulator_opts opts = { .delays = { .job_run_ms = 500 } };
    cluster_open(&c, &opts, NULL);
    SW_AUTO_CHARS *spec = sw_printf("backoffLimit: 0\n  %s", exit_code_policy);
    job(&c, spec, "emulator.slipway.dev/exit-code: \"4\"");
    pass(&c, 3000);
    expect(&c, "batch/v1", "Job", "default", "once",
           "{.status.conditions[?(@.type==\"Failed\")].reason}", "");
    cluster_close(&c);
}

static void a_job_is_stopped_at_its_deadline(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, NULL, NULL);
    job(&c, "activeDeadlineSeconds: 10", "emulator.slipway.dev/run: forever");
    pass(&c, 9000);
    expect(&c, "batch/v1", "Job", "default", "once", "{.status.active}", "1");
    pass(&c, 3000);
    expect(&c, "batch/v1", "Job", "default", "once",
           "{.status.active}{.status.conditions[?(@.type==\"Failed\")].reason}",
           "DeadlineExceeded");
    assert_int_equal(n_running(&c, "job-name=once"), 0);
    cluster_close(&c);
}

static void the_time_of_a_run_has_any_unit(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, NULL, NULL);
    job(&c, "", "emulator.slipway.dev/run: 1h");
    pass(&c, 3500 * 1000);
    expect(&c, "batch/v1", "Job", "default", "once", "{.status.active}", "1");
    pass(&c, 200 * 1000);
    expect(&c, "batch/v1", "Job", "default", "once", "{.status.succeeded}", "1");
    cluster_close(&c);
}

static void a_job_that_is_over_goes_when_its_time_has_passed(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, NULL, NULL);
    job(&c, "ttlSecondsAfterFinished: 30", "");
    pass(&c, 20000);
    assert_non_null(get(&c, "batch/v1", "Job", "default", "once"));
    pass(&c, 20000);
    assert_null(get(&c, "batch/v1", "Job", "default", "once"));
    cluster_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deployment_becomes_available),
        cmocka_unit_test(a_new_template_rolls_out_within_its_limits),
        cmocka_unit_test(a_template_of_before_gets_its_replicaset_back),
        cmocka_unit_test(recreate_has_no_pods_of_two_templates),
        cmocka_unit_test(a_rollout_that_stands_still_says_so),
        cmocka_unit_test(scaling_down_takes_what_is_not_ready_first),
        cmocka_unit_test(a_deleted_pod_is_replaced),
        cmocka_unit_test(a_statefulset_starts_one_after_the_other),
        cmocka_unit_test(a_statefulset_updates_from_the_top),
        cmocka_unit_test(jobs_run_as_many_as_they_may),
        cmocka_unit_test(a_job_that_keeps_failing_fails),
        cmocka_unit_test(a_job_fails_at_once_for_an_exit_code_of_its_policy),
        cmocka_unit_test(a_failure_that_the_policy_ignores_does_not_count),
        cmocka_unit_test(a_job_is_stopped_at_its_deadline),
        cmocka_unit_test(the_time_of_a_run_has_any_unit),
        cmocka_unit_test(a_job_that_is_over_goes_when_its_time_has_passed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
