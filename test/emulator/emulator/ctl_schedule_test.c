/* The scheduler: pods go where they fit, and say why where they fit nowhere. */
#include "ctl_fixture.h"

static void pod(struct cluster *c, const char *name, const char *spec, const char *resources)
{
    SW_AUTO_CHARS *yaml = sw_printf(
        "apiVersion: v1\n"
        "kind: Pod\n"
        "metadata: {name: %s, labels: {app: %s}}\n"
        "spec:\n"
        "  %s\n"
        "  containers: [{name: main, image: \"main:1\", resources: {%s}}]\n",
        name, name, spec, resources);
    put(c, yaml);
}

static void why(struct cluster *c, const char *name, const char *want)
{
    expect(c, "v1", "Pod", "default", name,
           "{.status.phase} {.status.conditions[?(@.type==\"PodScheduled\")].reason} "
           "{.status.conditions[?(@.type==\"PodScheduled\")].message}",
           want);
}

static void what_nobody_has_is_waited_for(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, NULL, NULL);
    pod(&c, "sliced", "", "limits: {nvidia.com/mig-1g.5gb: 1}");
    settle(&c);
    why(&c, "sliced",
        "Pending Unschedulable 0/5 nodes are available: 1 node(s) had untolerated taint "
        "{node-role.kubernetes.io/master: }, 4 Insufficient nvidia.com/mig-1g.5gb.");
    patch(&c, "v1", "Node", NULL, "gpu-1", "status",
          "{status: {allocatable: {nvidia.com/mig-1g.5gb: \"1\"}}}");
    settle(&c);
    expect(&c, "v1", "Pod", "default", "sliced", "{.spec.nodeName} {.status.phase}",
           "gpu-1 Running");
    cluster_close(&c);
}

static void what_is_taken_is_taken(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, NULL, NULL);
    patch(&c, "v1", "Node", NULL, "gpu-1", "status",
          "{status: {allocatable: {nvidia.com/gpu: \"2\"}}}");
    pod(&c, "a", "", "limits: {nvidia.com/gpu: 1}");
    pod(&c, "b", "", "limits: {nvidia.com/gpu: 1}");
    settle(&c);
    pod(&c, "c", "", "limits: {nvidia.com/gpu: 1}");
    settle(&c);
    assert_int_equal(n_running(&c, "app in (a,b)"), 2);
    expect(&c, "v1", "Pod", "default", "c", "{.status.phase}", "Pending");
    drop(&c, "v1", "Pod", "default", "a");
    settle(&c);
    expect(&c, "v1", "Pod", "default", "c", "{.spec.nodeName}", "gpu-1");
    cluster_close(&c);
}

static void a_pod_that_is_over_gives_back_what_it_had(void **state)
{
    (void)state;
    struct cluster c;
    struct sw_emulator_opts opts = { .delays = { .job_run_ms = 1000 } };
    cluster_open(&c, &opts, NULL);
    patch(&c, "v1", "Node", NULL, "gpu-1", "status",
          "{status: {allocatable: {nvidia.com/gpu: \"1\"}}}");
    pod(&c, "a", "restartPolicy: Never", "limits: {nvidia.com/gpu: 1}");
    pod(&c, "b", "restartPolicy: Never", "limits: {nvidia.com/gpu: 1}");
    pass(&c, 500);
    assert_int_equal(n_running(&c, "app in (a,b)"), 1);
    pass(&c, 3000);
    assert_int_equal(count_pods(&c, "default", "app in (a,b)", "{.status.phase}", "Succeeded"), 2);
    cluster_close(&c);
}

static void cpu_and_memory_are_counted_exactly(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, &(struct sw_emulator_opts){ .n_nodes = 2 }, NULL);
    pod(&c, "a", "", "requests: {cpu: 15500m, memory: 1Gi}");
    pod(&c, "b", "", "requests: {cpu: 500m, memory: 1Gi}");
    settle(&c);
    assert_int_equal(n_running(&c, "app in (a,b)"), 2);
    pod(&c, "c", "", "requests: {cpu: 1m, memory: 100Gi}");
    settle(&c);
    why(&c, "c",
        "Pending Unschedulable 0/2 nodes are available: 1 Insufficient cpu, 1 Insufficient "
        "memory, 1 node(s) had untolerated taint {node-role.kubernetes.io/master: }.");
    cluster_close(&c);
}

static void node_selectors_must_match(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, NULL, NULL);
    pod(&c, "picky", "nodeSelector: {disk: fast}", "");
    settle(&c);
    why(&c, "picky",
        "Pending Unschedulable 0/5 nodes are available: 1 node(s) had untolerated taint "
        "{node-role.kubernetes.io/master: }, 4 node(s) didn't match Pod's node "
        "affinity/selector.");
    patch(&c, "v1", "Node", NULL, "worker-0", NULL, "{metadata: {labels: {disk: fast}}}");
    settle(&c);
    expect(&c, "v1", "Pod", "default", "picky", "{.spec.nodeName}", "worker-0");
    cluster_close(&c);
}

static void the_words_are_those_of_the_version(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, &(struct sw_emulator_opts){ .kube_version = "1.20" }, NULL);
    pod(&c, "picky", "nodeSelector: {disk: fast}", "");
    settle(&c);
    why(&c, "picky",
        "Pending Unschedulable 0/5 nodes are available: 1 node(s) had taint "
        "{node-role.kubernetes.io/master: }, that the pod didn't tolerate, 4 node(s) didn't match "
        "node selector.");
    cluster_close(&c);
}

static void anti_affinity_keeps_pods_apart(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, &(struct sw_emulator_opts){ .n_nodes = 3 }, NULL);
    put(&c, "apiVersion: apps/v1\n"
            "kind: Deployment\n"
            "metadata: {name: apart}\n"
            "spec:\n"
            "  replicas: 3\n"
            "  selector: {matchLabels: {app: apart}}\n"
            "  template:\n"
            "    metadata: {labels: {app: apart}}\n"
            "    spec:\n"
            "      containers: [{name: a, image: a}]\n"
            "      affinity:\n"
            "        podAntiAffinity:\n"
            "          requiredDuringSchedulingIgnoredDuringExecution:\n"
            "          - topologyKey: kubernetes.io/hostname\n"
            "            labelSelector: {matchLabels: {app: apart}}\n");
    settle(&c);
    assert_int_equal(n_running(&c, "app=apart"), 2);
    assert_int_equal(count_pods(&c, "default", "app=apart", "{.spec.nodeName}", "worker-0"), 1);
    assert_int_equal(count_pods(&c, "default", "app=apart", "{.spec.nodeName}", "gpu-0"), 1);
    cluster_close(&c);
}

static void host_ports_are_had_once_a_node(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, &(struct sw_emulator_opts){ .n_nodes = 2 }, NULL);
    const char *yaml = "apiVersion: v1\n"
                       "kind: Pod\n"
                       "metadata: {name: %s, labels: {app: port}}\n"
                       "spec: {containers: [{name: a, image: a, ports: "
                       "[{containerPort: 80, hostPort: 80}]}]}\n";
    SW_AUTO_CHARS *first = sw_printf("%.*sone%s", (int)(strstr(yaml, "%s") - yaml), yaml,
                                     strstr(yaml, "%s") + 2);
    SW_AUTO_CHARS *second = sw_printf("%.*stwo%s", (int)(strstr(yaml, "%s") - yaml), yaml,
                                      strstr(yaml, "%s") + 2);
    put(&c, first);
    settle(&c);
    put(&c, second);
    settle(&c);
    assert_int_equal(n_running(&c, "app=port"), 1);
    why(&c, "two",
        "Pending Unschedulable 0/2 nodes are available: 1 node(s) didn't have free ports for the "
        "requested pod ports, 1 node(s) had untolerated taint {node-role.kubernetes.io/master: }.");
    cluster_close(&c);
}

static void another_scheduler_is_waited_for(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, NULL,
                 "scheduler: mine\nwhen: [{apiVersion: v1, kind: ConfigMap, name: go, "
                 "namespace: default}]");
    pod(&c, "other", "schedulerName: mine", "");
    pod(&c, "foreign", "schedulerName: not-ours", "");
    settle(&c);
    expect(&c, "v1", "Pod", "default", "other", "{.spec.nodeName}{.status.conditions}", "");
    put(&c, "{apiVersion: v1, kind: ConfigMap, metadata: {name: go}}");
    settle(&c);
    expect(&c, "v1", "Pod", "default", "other", "{.status.phase}", "Running");
    expect(&c, "v1", "Pod", "default", "foreign", "{.spec.nodeName}", "");
    cluster_close(&c);
}

static void gates_hold_a_pod_back(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, NULL, NULL);
    pod(&c, "gated", "schedulingGates: [{name: example.com/wait}]", "");
    settle(&c);
    expect(&c, "v1", "Pod", "default", "gated",
           "{.spec.nodeName}{.status.conditions[?(@.type==\"PodScheduled\")].reason}",
           "SchedulingGated");
    patch(&c, "v1", "Pod", "default", "gated", NULL, "{spec: {schedulingGates: null}}");
    settle(&c);
    expect(&c, "v1", "Pod", "default", "gated", "{.status.phase}", "Running");
    cluster_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_nobody_has_is_waited_for),
        cmocka_unit_test(what_is_taken_is_taken),
        cmocka_unit_test(a_pod_that_is_over_gives_back_what_it_had),
        cmocka_unit_test(cpu_and_memory_are_counted_exactly),
        cmocka_unit_test(node_selectors_must_match),
        cmocka_unit_test(the_words_are_those_of_the_version),
        cmocka_unit_test(anti_affinity_keeps_pods_apart),
        cmocka_unit_test(host_ports_are_had_once_a_node),
        cmocka_unit_test(another_scheduler_is_waited_for),
        cmocka_unit_test(gates_hold_a_pod_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
