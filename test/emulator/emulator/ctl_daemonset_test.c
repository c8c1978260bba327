/* DaemonSets: one pod on each node that should have one, replaced node by node. */
#include "ctl_fixture.h"

static const char node_of[] = "{.spec.nodeName}";

static void daemonset(struct cluster *c, const char *image, const char *spec, const char *pod_spec)
{
    SW_AUTO_CHARS *yaml = sw_printf("apiVersion: apps/v1\n"
                                    "kind: DaemonSet\n"
                                    "metadata: {name: agent}\n"
                                    "spec:\n"
                                    "  selector: {matchLabels: {app: agent}}\n"
                                    "  %s\n"
                                    "  template:\n"
                                    "    metadata: {labels: {app: agent}}\n"
                                    "    spec:\n"
                                    "      containers: [{name: agent, image: %s}]\n"
                                    "      %s\n",
                                    spec, image, pod_spec);
    put(c, yaml);
}

static void numbers(struct cluster *c, const char *want)
{
    expect(c, "apps/v1", "DaemonSet", "default", "agent",
           "{.status.desiredNumberScheduled} {.status.currentNumberScheduled} "
           "{.status.numberReady} {.status.numberAvailable} {.status.updatedNumberScheduled} "
           "{.status.numberMisscheduled} {.status.numberUnavailable}",
           want);
}

static void it_runs_on_every_node_without_a_taint(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, NULL, NULL);
    daemonset(&c, "agent:1", "", "");
    settle(&c);
    numbers(&c, "4 4 4 4 4 0 ");
    assert_int_equal(count_pods(&c, "default", "app=agent", node_of, "master-0"), 0);
    assert_int_equal(count_pods(&c, "default", "app=agent", node_of, "worker-0"), 1);
    cluster_close(&c);
}

static void a_toleration_brings_it_to_the_control_plane(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, NULL, NULL);
    daemonset(&c, "agent:1", "", "tolerations: [{operator: Exists}]");
    settle(&c);
    numbers(&c, "5 5 5 5 5 0 ");
    cluster_close(&c);
}

static void selectors_and_affinity_narrow_it(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, NULL, NULL);
    patch(&c, "v1", "Node", NULL, "gpu-1", NULL, "{metadata: {labels: {disk: fast}}}");
    daemonset(&c, "agent:1", "",
              "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
              "{nodeSelectorTerms: [{matchExpressions: [{key: disk, operator: Exists}]}]}}}");
    settle(&c);
    numbers(&c, "1 1 1 1 1 0 ");
    assert_int_equal(count_pods(&c, "default", "app=agent", node_of, "gpu-1"), 1);
    cluster_close(&c);
}

static void labels_on_a_node_bring_and_take_its_pod(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, NULL, NULL);
    daemonset(&c, "agent:1", "", "nodeSelector: {role: x}");
    settle(&c);
    numbers(&c, "0 0 0  "
                " 0 ");
    patch(&c, "v1", "Node", NULL, "gpu-2", NULL, "{metadata: {labels: {role: x}}}");
    settle(&c);
    numbers(&c, "1 1 1 1 1 0 ");
    patch(&c, "v1", "Node", NULL, "gpu-2", NULL, "{metadata: {labels: {role: null}}}");
    settle(&c);
    numbers(&c, "0 0 0  "
                " 0 ");
    assert_int_equal(n_running(&c, "app=agent"), 0);
    cluster_close(&c);
}

static void its_pods_stay_on_a_cordoned_node(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, NULL, NULL);
    daemonset(&c, "agent:1", "", "");
    settle(&c);
    patch(&c, "v1", "Node", NULL, "gpu-0", NULL, "{spec: {unschedulable: true}}");
    settle(&c);
    expect(&c, "v1", "Node", NULL, "gpu-0", "{.spec.taints[*].key}",
           "node.kubernetes.io/unschedulable");
    numbers(&c, "4 4 4 4 4 0 ");
    cluster_close(&c);
}

static void a_rolling_update_goes_node_by_node(void **state)
{
    (void)state;
    struct cluster c;
    struct sw_emulator_opts opts = { .delays = { .pod_start_ms = 100, .pod_stop_ms = 20 } };
    cluster_open(&c, &opts, NULL);
    daemonset(&c, "agent:1", "", "");
    pass(&c, 1000);
    daemonset(&c, "agent:2", "", "");
    for (int i = 0; i < 100; i++) {
        pass(&c, 10);
        assert_true(count_pods(&c, "default", "app=agent",
                               "{.status.conditions[?(@.type==\"Ready\")].status}"
                               "{.metadata.deletionTimestamp}",
                               "True") >= 3);
    }
    numbers(&c, "4 4 4 4 4 0 ");
    assert_int_equal(
        count_pods(&c, "default", "app=agent", "{.spec.containers[0].image}", "agent:2"), 4);
    cluster_close(&c);
}

static void on_delete_waits_for_the_pod_to_be_deleted(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, NULL, NULL);
    daemonset(&c, "agent:1", "updateStrategy: {type: OnDelete}", "");
    settle(&c);
    daemonset(&c, "agent:2", "updateStrategy: {type: OnDelete}", "");
    settle(&c);
    numbers(&c, "4 4 4 4  0 ");
    PODS(pods);
    find_pods(&c, "default", "app=agent", &pods);
    drop(&c, "v1", "Pod", "default", sw_obj_name(pods.items[0]));
    settle(&c);
    numbers(&c, "4 4 4 4 1 0 ");
    expect(&c, "apps/v1", "DaemonSet", "default", "agent", "{.status.observedGeneration}", "2");
    cluster_close(&c);
}

static void revisions_carry_the_hash_that_pods_have(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, NULL, NULL);
    daemonset(&c, "agent:1", "", "");
    settle(&c);
    daemonset(&c, "agent:2", "", "");
    settle(&c);
    PODS(pods);
    find_pods(&c, "default", "app=agent", &pods);
    SW_AUTO_CHARS *hash = see(pods.items[0], "{.metadata.labels.controller-revision-hash}");
    SW_AUTO_CHARS *name = sw_printf("agent-%s", hash);
    expect(&c, "apps/v1", "ControllerRevision", "default", name, "{.revision}", "2");
    assert_int_equal(
        count_pods(&c, "default", "app=agent", "{.metadata.labels.pod-template-generation}", "2"),
        4);
    cluster_close(&c);
}

static void nodes_come_and_go(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, NULL, NULL);
    daemonset(&c, "agent:1", "", "");
    settle(&c);
    put(&c, "{apiVersion: v1, kind: Node, metadata: {name: late, labels: {a: b}},"
            " status: {allocatable: {cpu: \"4\", memory: 8Gi, pods: \"110\"},"
            " conditions: [{type: Ready, status: \"True\"}]}}");
    settle(&c);
    numbers(&c, "5 5 5 5 5 0 ");
    drop(&c, "v1", "Node", NULL, "late");
    settle(&c);
    numbers(&c, "4 4 4 4 4 0 ");
    PODS(pods);
    find_pods(&c, "default", "app=agent", &pods);
    assert_int_equal(pods.n, 4);
    cluster_close(&c);
}

static void readiness_must_last_min_ready_seconds(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, NULL, NULL);
    daemonset(&c, "agent:1", "minReadySeconds: 20", "");
    pass(&c, 5000);
    numbers(&c, "4 4 4  4 0 4");
    pass(&c, 20000);
    numbers(&c, "4 4 4 4 4 0 ");
    cluster_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_runs_on_every_node_without_a_taint),
        cmocka_unit_test(a_toleration_brings_it_to_the_control_plane),
        cmocka_unit_test(selectors_and_affinity_narrow_it),
        cmocka_unit_test(labels_on_a_node_bring_and_take_its_pod),
        cmocka_unit_test(its_pods_stay_on_a_cordoned_node),
        cmocka_unit_test(a_rolling_update_goes_node_by_node),
        cmocka_unit_test(on_delete_waits_for_the_pod_to_be_deleted),
        cmocka_unit_test(revisions_carry_the_hash_that_pods_have),
        cmocka_unit_test(nodes_come_and_go),
        cmocka_unit_test(readiness_must_last_min_ready_seconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
