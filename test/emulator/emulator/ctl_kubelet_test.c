/* The kubelet: what becomes of pods on their nodes, and how their status tells it. */
#include "ctl_fixture.h"

static void pod(struct cluster *c, const char *annotations, const char *spec)
{
    SW_AUTO_CHARS *yaml = sw_printf("apiVersion: v1\n"
                                    "kind: Pod\n"
                                    "metadata: {name: p, annotations: {%s}}\n"
                                    "spec:\n"
                                    "  containers: [{name: main, image: \"main:1\"}]\n"
                                    "  %s\n",
                                    annotations, spec);
    put(c, yaml);
}

static void see_pod(struct cluster *c, const char *path, const char *want)
{
    expect(c, "v1", "Pod", "default", "p", path, want);
}

static void each_step_takes_its_time(void **state)
{
    (void)state;
    struct cluster c;
    struct sw_emulator_opts opts = {
        .delays = { .schedule_ms = 100, .pull_ms = 100, .pod_start_ms = 100, .pod_ready_ms = 100 }
    };
    const char *path = "{.spec.nodeName} {.status.phase} "
                       "{.status.containerStatuses[0].state.waiting.reason} "
                       "{.status.conditions[?(@.type==\"Ready\")].status}";
    cluster_open(&c, &opts, NULL);
    pod(&c, "", "nodeSelector: {kubernetes.io/hostname: gpu-0}");
    pass(&c, 50);
    see_pod(&c, path, " Pending  ");
    pass(&c, 100);
    see_pod(&c, path, "gpu-0 Pending ContainerCreating False");
    pass(&c, 200);
    see_pod(&c, path, "gpu-0 Running  False");
    pass(&c, 100);
    see_pod(&c, path, "gpu-0 Running  True");
    cluster_close(&c);
}

static void an_image_is_pulled_once_a_node(void **state)
{
    (void)state;
    struct cluster c;
    struct sw_emulator_opts opts = { .n_nodes = 2, .delays = { .pull_ms = 1000 } };
    cluster_open(&c, &opts, NULL);
    pod(&c, "", "");
    pass(&c, 900);
    see_pod(&c, "{.status.phase}", "Pending");
    pass(&c, 200);
    see_pod(&c, "{.status.phase}", "Running");
    put(&c, "{apiVersion: v1, kind: Pod, metadata: {name: q}, spec: {containers: "
            "[{name: main, image: \"main:1\"}]}}");
    pass(&c, 100);
    expect(&c, "v1", "Pod", "default", "q", "{.status.phase}", "Running");
    cluster_close(&c);
}

static void a_running_pod_has_its_addresses(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, NULL, NULL);
    pod(&c, "", "nodeSelector: {kubernetes.io/hostname: gpu-0}");
    settle(&c);
    see_pod(&c, "{.status.hostIP} {.status.podIP} {.status.podIPs[0].ip} {.status.qosClass}",
            "10.0.0.4 10.128.2.3 10.128.2.3 BestEffort");
    see_pod(&c,
            "{.status.containerStatuses[0].name} {.status.containerStatuses[0].ready} "
            "{.status.containerStatuses[0].restartCount} {.status.containerStatuses[0].image}",
            "main true 0 main:1");
    cluster_close(&c);
}

static void a_pod_that_is_not_restarted_ends(void **state)
{
    (void)state;
    struct cluster c;
    struct sw_emulator_opts opts = { .delays = { .job_run_ms = 1000 } };
    cluster_open(&c, &opts, NULL);
    pod(&c, "", "restartPolicy: Never");
    pass(&c, 500);
    see_pod(&c, "{.status.phase}", "Running");
    pass(&c, 1000);
    see_pod(&c,
            "{.status.phase} {.status.containerStatuses[0].state.terminated.reason} "
            "{.status.containerStatuses[0].state.terminated.exitCode} "
            "{.status.conditions[?(@.type==\"Ready\")].reason}",
            "Succeeded Completed 0 PodCompleted");
    cluster_close(&c);
}

static void an_exit_code_makes_it_fail(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, NULL, NULL);
    pod(&c, "emulator.slipway.dev/exit-code: \"7\"", "restartPolicy: Never");
    settle(&c);
    see_pod(&c,
            "{.status.phase} {.status.containerStatuses[0].state.terminated.reason} "
            "{.status.containerStatuses[0].state.terminated.exitCode}",
            "Failed Error 7");
    cluster_close(&c);
}

static void what_keeps_crashing_is_started_less_and_less_often(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, NULL, NULL);
    pod(&c, "emulator.slipway.dev/exit-code: \"1\"", "");
    pass(&c, 500);
    see_pod(&c,
            "{.status.phase} {.status.containerStatuses[0].state.waiting.reason} "
            "{.status.containerStatuses[0].restartCount} "
            "{.status.containerStatuses[0].lastState.terminated.exitCode}",
            "Running CrashLoopBackOff 1 1");
    pass(&c, 10000);
    see_pod(&c, "{.status.containerStatuses[0].restartCount}", "4");
    cluster_close(&c);
}

static void an_image_that_does_not_exist_is_waited_for(void **state)
{
    (void)state;
    struct cluster c;
    const char *rules =
        "images:\n"
        "- match: '^registry/([^:]+):(.*)$'\n"
        "  when: [{apiVersion: v1, kind: ConfigMap, namespace: default,"
        " name: '{{ index .match 1 }}', where: {.data.tag: '{{ index .match 2 }}'}}]\n";
    cluster_open(&c, NULL, rules);
    put(&c, "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: "
            "[{name: main, image: \"registry/app:v2\"}]}}");
    pass(&c, 20);
    see_pod(&c, "{.status.containerStatuses[0].state.waiting.reason}", "ErrImagePull");
    pass(&c, 200);
    see_pod(&c, "{.status.phase} {.status.containerStatuses[0].state.waiting.reason}",
            "Pending ImagePullBackOff");
    put(&c, "{apiVersion: v1, kind: ConfigMap, metadata: {name: app}, data: {tag: v1}}");
    settle(&c);
    see_pod(&c, "{.status.phase}", "Pending");
    put(&c, "{apiVersion: v1, kind: ConfigMap, metadata: {name: app}, data: {tag: v2}}");
    settle(&c);
    see_pod(&c, "{.status.phase}", "Running");
    cluster_close(&c);
}

static void a_secret_that_is_mounted_must_be_there(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, NULL, NULL);
    pod(&c, "", "volumes: [{name: certs, secret: {secretName: serving}}]");
    settle(&c);
    see_pod(&c, "{.status.phase} {.status.containerStatuses[0].state.waiting.reason}",
            "Pending ContainerCreating");
    put(&c, "{apiVersion: v1, kind: Secret, metadata: {name: other}}");
    settle(&c);
    see_pod(&c, "{.status.phase}", "Pending");
    put(&c, "{apiVersion: v1, kind: Secret, metadata: {name: serving}}");
    settle(&c);
    see_pod(&c, "{.status.phase}", "Running");
    cluster_close(&c);
}

static void init_containers_come_first(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, NULL, NULL);
    pod(&c, "emulator.slipway.dev/exit-code.second: \"2\"",
        "initContainers: [{name: first, image: i}, {name: second, image: i}]");
    settle(&c);
    see_pod(&c,
            "{.status.phase} {.status.initContainerStatuses[0].state.terminated.exitCode} "
            "{.status.initContainerStatuses[1].state.waiting.reason} "
            "{.status.containerStatuses[0].state.waiting.reason} "
            "{.status.conditions[?(@.type==\"Initialized\")].status}",
            "Pending 0 CrashLoopBackOff PodInitializing False");
    cluster_close(&c);
}

static void readiness_can_be_taken_away_and_given_back(void **state)
{
    (void)state;
    struct cluster c;
    const char *ready = "{.status.conditions[?(@.type==\"Ready\")].status}";
    cluster_open(&c, NULL, NULL);
    pod(&c, "emulator.slipway.dev/ready: \"false\"", "");
    settle(&c);
    see_pod(&c, ready, "False");
    patch(&c, "v1", "Pod", "default", "p", NULL,
          "{metadata: {annotations: {emulator.slipway.dev/ready: null}}}");
    settle(&c);
    see_pod(&c, ready, "True");
    patch(&c, "v1", "Pod", "default", "p", NULL,
          "{metadata: {annotations: {emulator.slipway.dev/ready: \"false\"}}}");
    settle(&c);
    see_pod(&c, ready, "False");
    cluster_close(&c);
}

static void a_deleted_pod_takes_its_time_to_stop(void **state)
{
    (void)state;
    struct cluster c;
    struct sw_emulator_opts opts = { .delays = { .pod_stop_ms = 200 } };
    cluster_open(&c, &opts, NULL);
    pod(&c, "", "");
    settle(&c);
    drop(&c, "v1", "Pod", "default", "p");
    pass(&c, 100);
    assert_non_null(get(&c, "v1", "Pod", "default", "p"));
    pass(&c, 200);
    assert_null(get(&c, "v1", "Pod", "default", "p"));
    cluster_close(&c);
}

static void rules_say_how_pods_end(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, NULL,
                 "pods:\n"
                 "- {image: '^main:', name: p, exitCode: 4, runs: 2s, log: 'on {{ "
                 ".object.spec.nodeName }}'}\n");
    pod(&c, "", "restartPolicy: Never");
    pass(&c, 1500);
    see_pod(&c, "{.status.phase}", "Running");
    pass(&c, 1000);
    see_pod(&c, "{.status.phase} {.status.containerStatuses[0].state.terminated.exitCode}",
            "Failed 4");
    cluster_close(&c);
}

static void a_command_that_never_ends_runs_for_ever(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, NULL, NULL);
    put(&c, "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {restartPolicy: Never, "
            "containers: [{name: main, image: i, command: [sleep, infinity]}]}}");
    pass(&c, 100000);
    see_pod(&c, "{.status.phase}", "Running");
    cluster_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_step_takes_its_time),
        cmocka_unit_test(an_image_is_pulled_once_a_node),
        cmocka_unit_test(a_running_pod_has_its_addresses),
        cmocka_unit_test(a_pod_that_is_not_restarted_ends),
        cmocka_unit_test(an_exit_code_makes_it_fail),
        cmocka_unit_test(what_keeps_crashing_is_started_less_and_less_often),
        cmocka_unit_test(an_image_that_does_not_exist_is_waited_for),
        cmocka_unit_test(a_secret_that_is_mounted_must_be_there),
        cmocka_unit_test(init_containers_come_first),
        cmocka_unit_test(readiness_can_be_taken_away_and_given_back),
        cmocka_unit_test(a_deleted_pod_takes_its_time_to_stop),
        cmocka_unit_test(rules_say_how_pods_end),
        cmocka_unit_test(a_command_that_never_ends_runs_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
