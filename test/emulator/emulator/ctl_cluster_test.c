/* Nodes, services and namespaces: what a cluster is made of, and what follows from changes to it.
 */
#include "ctl_fixture.h"

static size_t count(struct cluster *c, const char *api_version, const char *kind, const char *ns)
{
    return sw_store_count(c->store, kind_of(c, api_version, kind), ns);
}

static void there_are_five_nodes_of_three_sorts(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, NULL, NULL);
    assert_int_equal(count(&c, "v1", "Node", NULL), 5);
    expect(&c, "v1", "Node", NULL, "master-0", "{.spec.taints[*].key}",
           "node-role.kubernetes.io/master node-role.kubernetes.io/control-plane");
    expect(&c, "v1", "Node", NULL, "worker-0",
           "{.metadata.labels['node-role.kubernetes.io/worker']}"
           "{.metadata.annotations['emulator.slipway.dev/gpus']}"
           "{.status.conditions[?(@.type==\"Ready\")].status}",
           "True");
    expect(&c, "v1", "Node", NULL, "gpu-0",
           "{.metadata.annotations['emulator.slipway.dev/gpus']} "
           "{.status.nodeInfo.kernelVersion} {.status.nodeInfo.osImage}",
           "2 4.18.0-305.45.1.el8_4.x86_64 Red Hat Enterprise Linux CoreOS "
           "410.84.202201251210-0 (Ootpa)");
    SW_AUTO_CHARS *one = see(get(&c, "v1", "Node", NULL, "gpu-1"),
                             "{.status.nodeInfo.kernelVersion}");
    SW_AUTO_CHARS *two = see(get(&c, "v1", "Node", NULL, "gpu-2"),
                             "{.status.nodeInfo.kernelVersion}");
    assert_string_equal(one, "4.18.0-305.45.1.el8_4.x86_64");
    assert_string_not_equal(one, two);
    cluster_close(&c);
}

static void more_nodes_are_more_gpu_workers(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, &(struct sw_emulator_opts){ .n_nodes = 40 }, NULL);
    assert_int_equal(count(&c, "v1", "Node", NULL), 40);
    assert_non_null(get(&c, "v1", "Node", NULL, "gpu-37"));
    cluster_close(&c);
}

static void kubernetes_has_no_openshift_in_it(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, &(struct sw_emulator_opts){ .platform = SW_EMU_KUBERNETES }, NULL);
    settle(&c);
    assert_null(sw_store_kind(c.store, "build.openshift.io", "BuildConfig"));
    assert_null(sw_store_kind(c.store, "operators.coreos.com", "Subscription"));
    assert_null(get(&c, "v1", "Namespace", NULL, "openshift"));
    expect(&c, "v1", "Node", NULL, "gpu-0",
           "{.status.nodeInfo.osImage} {.status.nodeInfo.kernelVersion}",
           "Ubuntu 22.04.4 LTS 5.15.0-91-generic");
    cluster_close(&c);
}

static void too_few_nodes_are_refused(void **state)
{
    (void)state;
    SW_ERR(err);
    struct sw_emulator *emu;
    struct sw_loop *loop = sw_loop_new(&(struct sw_loop_opts){ .virtual_clock = true });
    assert_int_equal(sw_emulator_open(loop, &(struct sw_emulator_opts){ .n_nodes = 1 }, &emu, &err),
                     SW_INVALID);
    assert_string_equal(sw_err_text(&err), "1 nodes: a cluster here has 2 to 10000");
    sw_loop_free(loop);
}

static void a_namespace_gets_its_accounts(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, &(struct sw_emulator_opts){ .kube_version = "1.20" }, NULL);
    put(&c, "{apiVersion: v1, kind: Namespace, metadata: {name: mine}}");
    settle(&c);
    assert_non_null(get(&c, "v1", "ServiceAccount", "mine", "default"));
    assert_non_null(get(&c, "v1", "ConfigMap", "mine", "kube-root-ca.crt"));
    SW_AUTO_CHARS *pull = see(get(&c, "v1", "ServiceAccount", "mine", "builder"),
                              "{.imagePullSecrets[0].name}");
    assert_true(sw_starts_with(pull, "builder-dockercfg-"));
    assert_non_null(get(&c, "v1", "Secret", "mine", pull));
    SW_AUTO_CHARS *token = see(get(&c, "v1", "ServiceAccount", "mine", "default"),
                               "{.secrets[0].name}");
    assert_true(sw_starts_with(token, "default-token-"));
    expect(&c, "v1", "Secret", "mine", token, "{.type}", "kubernetes.io/service-account-token");
    cluster_close(&c);
}

static void newer_accounts_have_no_token(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, &(struct sw_emulator_opts){ .platform = SW_EMU_KUBERNETES }, NULL);
    settle(&c);
    expect(&c, "v1", "ServiceAccount", "default", "default", "{.secrets}", "");
    assert_int_equal(count(&c, "v1", "Secret", "default"), 0);
    cluster_close(&c);
}

/* ---- nodes in trouble ---------------------------------------------------------------------------
 */

static const char web[] = "apiVersion: apps/v1\n"
                          "kind: Deployment\n"
                          "metadata: {name: web}\n"
                          "spec:\n"
                          "  replicas: 2\n"
                          "  selector: {matchLabels: {app: web}}\n"
                          "  template:\n"
                          "    metadata: {labels: {app: web}}\n"
                          "    spec:\n"
                          "      containers: [{name: web, image: web, ports: [{name: http, "
                          "containerPort: 8080}]}]\n";

static void pods_leave_a_node_that_is_deleted(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, &(struct sw_emulator_opts){ .n_nodes = 3 }, NULL);
    put(&c, web);
    settle(&c);
    assert_int_equal(count_pods(&c, "default", "app=web", "{.spec.nodeName}", "gpu-0"), 1);
    drop(&c, "v1", "Node", NULL, "gpu-0");
    settle(&c);
    assert_int_equal(count_pods(&c, "default", "app=web", "{.spec.nodeName}", "worker-0"), 2);
    assert_int_equal(n_running(&c, "app=web"), 2);
    cluster_close(&c);
}

static void a_node_that_is_not_ready_is_tainted_and_left(void **state)
{
    (void)state;
    struct cluster c;
    const char *ready = "{.status.conditions[?(@.type==\"Ready\")].status}";
    cluster_open(&c, &(struct sw_emulator_opts){ .n_nodes = 3 }, NULL);
    put(&c, web);
    settle(&c);
    patch(&c, "v1", "Node", NULL, "gpu-0", "status",
          "{status: {conditions: [{type: Ready, status: \"False\", reason: KubeletNotReady}]}}");
    settle(&c);
    expect(&c, "v1", "Node", NULL, "gpu-0", "{.spec.taints[*].effect}", "NoSchedule NoExecute");
    assert_int_equal(count_pods(&c, "default", "app=web", ready, "False"), 1);
    pass(&c, 310000);
    assert_int_equal(count_pods(&c, "default", "app=web", "{.spec.nodeName}", "worker-0"), 2);
    patch(&c, "v1", "Node", NULL, "gpu-0", "status",
          "{status: {conditions: [{type: Ready, status: \"True\"}]}}");
    settle(&c);
    expect(&c, "v1", "Node", NULL, "gpu-0", "{.spec.taints}", "");
    cluster_close(&c);
}

static void a_no_execute_taint_drives_pods_away(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, &(struct sw_emulator_opts){ .n_nodes = 3 }, NULL);
    put(&c, web);
    settle(&c);
    patch(&c, "v1", "Node", NULL, "gpu-0", NULL,
          "{spec: {taints: [{key: repair, effect: NoExecute}]}}");
    settle(&c);
    assert_int_equal(count_pods(&c, "default", "app=web", "{.spec.nodeName}", "worker-0"), 2);
    cluster_close(&c);
}

/* ---- services -----------------------------------------------------------------------------------
 */

static void a_service_has_its_ready_pods_as_endpoints(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, NULL, NULL);
    put(&c, web);
    put(&c, "apiVersion: v1\n"
            "kind: Service\n"
            "metadata: {name: web}\n"
            "spec: {selector: {app: web}, ports: [{name: p, port: 80, targetPort: http}]}\n");
    settle(&c);
    PODS(pods);
    find_pods(&c, "default", "app=web", &pods);
    SW_AUTO_CHARS *a = see(pods.items[0], "{.status.podIP}");
    SW_AUTO_CHARS *b = see(pods.items[1], "{.status.podIP}");
    SW_AUTO_CHARS *both = sw_printf("%s %s 8080", a, b);
    expect(&c, "v1", "Endpoints", "default", "web",
           "{.subsets[0].addresses[*].ip} {.subsets[0].ports[0].port}", both);
    patch(&c, "v1", "Pod", "default", sw_obj_name(pods.items[0]), NULL,
          "{metadata: {annotations: {emulator.slipway.dev/ready: \"false\"}}}");
    settle(&c);
    SW_AUTO_CHARS *apart = sw_printf("%s|%s", b, a);
    expect(&c, "v1", "Endpoints", "default", "web",
           "{.subsets[0].addresses[*].ip}|{.subsets[0].notReadyAddresses[*].ip}", apart);
    SW_STORE_LIST(slices);
    sw_store_list(c.store, kind_of(&c, "discovery.k8s.io/v1", "EndpointSlice"), "default", &slices);
    size_t found = 0;
    for (size_t i = 0; i < slices.n; i++) {
        if (!sw_streq(sw_obj_label(slices.items[i], "kubernetes.io/service-name"), "web"))
            continue;
        SW_AUTO_CHARS *ready = see(slices.items[i], "{.endpoints[*].conditions.ready}");
        assert_string_equal(ready, "false true");
        found++;
    }
    assert_int_equal(found, 1);
    drop(&c, "v1", "Service", "default", "web");
    settle(&c);
    assert_null(get(&c, "v1", "Endpoints", "default", "web"));
    cluster_close(&c);
}

/* ---- large clusters -----------------------------------------------------------------------------
 */

static void many_nodes_and_daemonsets_settle_without_many_writes(void **state)
{
    (void)state;
    struct cluster c;
    enum { NODES = 200, SETS = 4 };
    cluster_open(&c, &(struct sw_emulator_opts){ .n_nodes = NODES }, NULL);
    settle(&c);
    uint64_t before = sw_store_version(c.store);
    for (int i = 0; i < SETS; i++) {
        SW_AUTO_CHARS *yaml = sw_printf("{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: "
                                        "d%d}, spec: {selector: {matchLabels: {app: d%d}}, "
                                        "template: {metadata: {labels: {app: d%d}}, spec: "
                                        "{containers: [{name: a, image: a}]}}}}",
                                        i, i, i);
        put(&c, yaml);
    }
    settle(&c);
    for (int i = 0; i < SETS; i++) {
        SW_AUTO_CHARS *name = sw_printf("d%d", i);
        expect(&c, "apps/v1", "DaemonSet", "default", name, "{.status.numberAvailable}", "199");
    }
    /* a pod is created, bound and started: three writes; the rest are a few of each DaemonSet */
    assert_true(sw_store_version(c.store) - before < (NODES * 3 + 20) * SETS);
    cluster_close(&c);
}

static void a_quota_says_what_is_used(void **state)
{
    (void)state;
    static const char used[] = "{.status.used.pods} {.status.used.requests\\.cpu} "
                               "{.status.used.count/configmaps} "
                               "{.status.used.persistentvolumeclaims}"
                               "{.status.used.count/foos\\.example\\.com}";
    struct cluster c;
    cluster_open(&c, &(struct sw_emulator_opts){ .platform = SW_EMU_KUBERNETES }, NULL);
    put(&c, "apiVersion: v1\nkind: Namespace\nmetadata: {name: few}\n");
    settle(&c);
    put(&c,
        "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q, namespace: few}\n"
        "spec: {hard: {pods: 3, requests.cpu: 2, count/configmaps: 5, persistentvolumeclaims: 1, "
        "count/foos.example.com: 1}}\n");
    settle(&c);
    expect(&c, "v1", "ResourceQuota", "few", "q", "{.status.hard.pods}", "3");
    expect(&c, "v1", "ResourceQuota", "few", "q", used, "0 0 1 0");
    put(&c, "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: few}\nspec:\n"
            "  initContainers: [{name: i, image: i, resources: {requests: {cpu: 1500m}}}]\n"
            "  containers: [{name: a, image: a, resources: {requests: {cpu: 250m}}}, "
            "{name: b, image: b, resources: {requests: {cpu: 250m}}}]\n");
    put(&c, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, namespace: few}\n");
    settle(&c);
    expect(&c, "v1", "ResourceQuota", "few", "q", used, "1 1500m 2 0");
    drop(&c, "v1", "ConfigMap", "few", "m");
    patch(&c, "v1", "Pod", "few", "p", "status", "status: {phase: Succeeded}");
    settle(&c);
    expect(&c, "v1", "ResourceQuota", "few", "q", used, "0 0 1 0");
    cluster_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_are_five_nodes_of_three_sorts),
        cmocka_unit_test(more_nodes_are_more_gpu_workers),
        cmocka_unit_test(kubernetes_has_no_openshift_in_it),
        cmocka_unit_test(too_few_nodes_are_refused),
        cmocka_unit_test(a_namespace_gets_its_accounts),
        cmocka_unit_test(newer_accounts_have_no_token),
        cmocka_unit_test(pods_leave_a_node_that_is_deleted),
        cmocka_unit_test(a_node_that_is_not_ready_is_tainted_and_left),
        cmocka_unit_test(a_no_execute_taint_drives_pods_away),
        cmocka_unit_test(a_service_has_its_ready_pods_as_endpoints),
        cmocka_unit_test(a_quota_says_what_is_used),
        cmocka_unit_test(many_nodes_and_daemonsets_settle_without_many_writes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
