/* Dynamic Resource Allocation: a pod has claims of its templates, and runs where the devices are.
 */
#include "ctl_fixture.h"

static void devices_open_at(struct cluster *c, const char *version)
{
    cluster_open(c, &(struct sw_emulator_opts){ .kube_version = version }, NULL);
    put(c, "apiVersion: resource.k8s.io/v1\n"
           "kind: DeviceClass\n"
           "metadata: {name: gpu}\n"
           "spec: {selectors: [{cel: {expression: \"device.driver == 'd.example' && "
           "device.attributes['d.example'].type == 'gpu'\"}}]}\n"
           "---\n"
           "apiVersion: resource.k8s.io/v1\n"
           "kind: ResourceClaimTemplate\n"
           "metadata: {name: one}\n"
           "spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}\n");
}

static void devices_open(struct cluster *c)
{
    devices_open_at(c, "1.34");
}

/* A slice of @node with the devices a and b; b is of another type. */
static void slice(struct cluster *c, const char *node)
{
    SW_AUTO_CHARS *yaml = sw_printf("apiVersion: resource.k8s.io/v1\n"
                                    "kind: ResourceSlice\n"
                                    "metadata: {name: %s-d}\n"
                                    "spec:\n"
                                    "  driver: d.example\n"
                                    "  nodeName: %s\n"
                                    "  pool: {name: %s, generation: 1, resourceSliceCount: 1}\n"
                                    "  devices:\n"
                                    "  - {name: a, attributes: {type: {string: gpu}}}\n"
                                    "  - {name: b, attributes: {type: {string: mig}}}\n",
                                    node, node, node);
    put(c, yaml);
}

static void pod(struct cluster *c, const char *name, const char *from)
{
    SW_AUTO_CHARS *yaml = sw_printf(
        "apiVersion: v1\n"
        "kind: Pod\n"
        "metadata: {name: %s}\n"
        "spec:\n"
        "  resourceClaims: [{name: dev, %s}]\n"
        "  containers: [{name: main, image: \"main:1\", resources: {claims: [{name: dev}]}}]\n",
        name, from);
    put(c, yaml);
}

static void why(struct cluster *c, const char *name, const char *want)
{
    expect(c, "v1", "Pod", "default", name,
           "{.status.phase} {.spec.nodeName} "
           "{.status.conditions[?(@.type==\"PodScheduled\")].message}",
           want);
}

/* The claim that was made for a pod; borrowed. */
static json_object *claim_of(struct cluster *c, const char *pod_name)
{
    SW_AUTO_CHARS *name = see(get(c, "v1", "Pod", "default", pod_name),
                              "{.status.resourceClaimStatuses[0].resourceClaimName}");
    return get(c, "resource.k8s.io/v1", "ResourceClaim", "default", name);
}

static void a_pod_waits_for_a_node_with_the_device(void **state)
{
    (void)state;
    struct cluster c;
    devices_open(&c);
    pod(&c, "p", "resourceClaimTemplateName: one");
    settle(&c);
    why(&c, "p",
        "Pending  0/5 nodes are available: 1 node(s) had untolerated taint "
        "{node-role.kubernetes.io/master: }, 4 cannot allocate all claims.");
    slice(&c, "gpu-1");
    settle(&c);
    why(&c, "p", "Running gpu-1 ");
    SW_AUTO_CHARS *given = see(claim_of(&c, "p"),
                               "{.status.allocation.devices.results[*].device} "
                               "{.status.reservedFor[*].name} {.metadata.ownerReferences[0].name}");
    assert_string_equal(given, "a p p");
    cluster_close(&c);
}

static void a_device_is_given_once(void **state)
{
    (void)state;
    struct cluster c;
    devices_open(&c);
    slice(&c, "gpu-1");
    pod(&c, "p", "resourceClaimTemplateName: one");
    settle(&c);
    pod(&c, "q", "resourceClaimTemplateName: one");
    settle(&c);
    expect(&c, "v1", "Pod", "default", "q", "{.status.phase}", "Pending");
    drop(&c, "v1", "Pod", "default", "p");
    pass(&c, 3000);
    expect(&c, "v1", "Pod", "default", "q", "{.status.phase} {.spec.nodeName}", "Running gpu-1");
    cluster_close(&c);
}

static void an_administrator_takes_nothing(void **state)
{
    (void)state;
    struct cluster c;
    devices_open(&c);
    slice(&c, "gpu-1");
    patch(&c, "v1", "Namespace", NULL, "default", NULL,
          "{metadata: {labels: {resource.kubernetes.io/admin-access: \"true\"}}}");
    put(&c, "apiVersion: resource.k8s.io/v1\n"
            "kind: ResourceClaimTemplate\n"
            "metadata: {name: look}\n"
            "spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, "
            "adminAccess: true}}]}}}\n");
    pod(&c, "p", "resourceClaimTemplateName: look");
    settle(&c);
    pod(&c, "q", "resourceClaimTemplateName: one");
    settle(&c);
    why(&c, "p", "Running gpu-1 ");
    why(&c, "q", "Running gpu-1 ");
    cluster_close(&c);
}

static void the_next_best_will_do(void **state)
{
    (void)state;
    struct cluster c;
    devices_open(&c);
    slice(&c, "gpu-1");
    put(&c, "apiVersion: resource.k8s.io/v1\n"
            "kind: DeviceClass\n"
            "metadata: {name: large}\n"
            "spec: {selectors: [{cel: {expression: \"device.driver == 'e.example'\"}}]}\n"
            "---\n"
            "apiVersion: resource.k8s.io/v1\n"
            "kind: ResourceClaim\n"
            "metadata: {name: own}\n"
            "spec: {devices: {requests: [{name: r, firstAvailable: [{name: best, deviceClassName: "
            "large}, {name: good, deviceClassName: gpu}]}]}}\n");
    pod(&c, "p", "resourceClaimName: own");
    settle(&c);
    why(&c, "p", "Running gpu-1 ");
    expect(&c, "resource.k8s.io/v1", "ResourceClaim", "default", "own",
           "{.status.allocation.devices.results[0].request}", "r/good");
    cluster_close(&c);
}

static void a_claim_that_is_not_there_is_waited_for(void **state)
{
    (void)state;
    struct cluster c;
    devices_open(&c);
    slice(&c, "gpu-1");
    pod(&c, "p", "resourceClaimTemplateName: later");
    settle(&c);
    why(&c, "p",
        "Pending  waiting for dynamic resource controller to create the resourceclaim \"dev\"");
    put(&c, "apiVersion: resource.k8s.io/v1\n"
            "kind: ResourceClaimTemplate\n"
            "metadata: {name: later}\n"
            "spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}\n");
    pass(&c, 2000);
    why(&c, "p", "Running gpu-1 ");
    cluster_close(&c);
}

static void a_claim_is_free_when_its_last_pod_is_gone(void **state)
{
    (void)state;
    struct cluster c;
    devices_open(&c);
    slice(&c, "gpu-1");
    put(&c, "apiVersion: resource.k8s.io/v1\n"
            "kind: ResourceClaim\n"
            "metadata: {name: own}\n"
            "spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}\n");
    pod(&c, "p", "resourceClaimName: own");
    pod(&c, "q", "resourceClaimName: own");
    settle(&c);
    const char *uses = "{.status.allocation.devices.results[*].device} "
                       "{.status.reservedFor[*].name} {.metadata.finalizers[*]}";
    expect(&c, "resource.k8s.io/v1", "ResourceClaim", "default", "own", uses,
           "a p q resource.kubernetes.io/delete-protection");
    drop(&c, "v1", "Pod", "default", "p");
    pass(&c, 3000);
    expect(&c, "resource.k8s.io/v1", "ResourceClaim", "default", "own", uses,
           "a q resource.kubernetes.io/delete-protection");
    drop(&c, "v1", "Pod", "default", "q");
    pass(&c, 3000);
    expect(&c, "resource.k8s.io/v1", "ResourceClaim", "default", "own", uses, "  ");
    cluster_close(&c);
}

static void kubelet_waits_for_the_driver_of_the_devices(void **state)
{
    (void)state;
    struct cluster c;
    devices_open(&c);
    slice(&c, "gpu-1");
    put(&c, "apiVersion: resource.k8s.io/v1\n"
            "kind: ResourceClaim\n"
            "metadata: {name: own}\n"
            "spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}\n");
    pod(&c, "p", "resourceClaimName: own");
    settle(&c);
    why(&c, "p", "Running gpu-1 ");
    drop(&c, "resource.k8s.io/v1", "ResourceSlice", NULL, "gpu-1-d");
    pod(&c, "q", "resourceClaimName: own");
    settle(&c);
    why(&c, "q", "Pending gpu-1 ");
    slice(&c, "gpu-1");
    settle(&c);
    why(&c, "q", "Running gpu-1 ");
    cluster_close(&c);
}

static void a_pod_is_bound_when_its_device_is_ready(void **state)
{
    (void)state;
    struct cluster c;
    devices_open_at(&c, "1.36");
    put(&c, "apiVersion: resource.k8s.io/v1\n"
            "kind: ResourceSlice\n"
            "metadata: {name: far}\n"
            "spec:\n"
            "  driver: d.example\n"
            "  allNodes: true\n"
            "  pool: {name: far, generation: 1, resourceSliceCount: 1}\n"
            "  devices:\n"
            "  - {name: a, attributes: {type: {string: gpu}}, bindsToNode: true, "
            "bindingConditions: [attached], bindingFailureConditions: [broken]}\n"
            "---\n"
            "apiVersion: resource.k8s.io/v1\n"
            "kind: ResourceClaim\n"
            "metadata: {name: own}\n"
            "spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}\n");
    pod(&c, "p", "resourceClaimName: own");
    settle(&c);
    expect(&c, "v1", "Pod", "default", "p", "{.status.phase} {.spec.nodeName}", "Pending ");
    expect(&c, "resource.k8s.io/v1", "ResourceClaim", "default", "own",
           "{.status.allocation.devices.results[0].bindingConditions[0]} "
           "{.status.reservedFor[*].name}",
           "attached p");
    patch(&c, "resource.k8s.io/v1", "ResourceClaim", "default", "own", "status",
          "{status: {devices: [{driver: d.example, pool: far, device: a, conditions: [{type: "
          "attached, status: \"True\", reason: Attached, message: \"\", lastTransitionTime: "
          "\"2026-01-01T00:00:00Z\"}]}]}}");
    settle(&c);
    expect(&c, "v1", "Pod", "default", "p", "{.status.phase}", "Running");
    cluster_close(&c);
}

static void a_taint_of_a_device_ends_its_pods(void **state)
{
    (void)state;
    struct cluster c;
    devices_open_at(&c, "1.36");
    slice(&c, "gpu-1");
    put(&c, "apiVersion: resource.k8s.io/v1\n"
            "kind: ResourceClaim\n"
            "metadata: {name: own}\n"
            "spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, tolerations: "
            "[{key: soft, operator: Exists, effect: NoExecute}]}}]}}\n");
    pod(&c, "p", "resourceClaimName: own");
    settle(&c);
    patch(&c, "resource.k8s.io/v1", "ResourceSlice", NULL, "gpu-1-d", NULL,
          "{spec: {devices: [{name: a, attributes: {type: {string: gpu}}, taints: [{key: soft, "
          "effect: NoExecute}]}]}}");
    pass(&c, 3000);
    why(&c, "p", "Running gpu-1 ");
    patch(&c, "resource.k8s.io/v1", "ResourceSlice", NULL, "gpu-1-d", NULL,
          "{spec: {devices: [{name: a, attributes: {type: {string: gpu}}, taints: [{key: hard, "
          "effect: NoExecute}]}]}}");
    pass(&c, 3000);
    assert_null(get(&c, "v1", "Pod", "default", "p"));
    cluster_close(&c);
}

static void a_device_that_fails_is_given_back(void **state)
{
    (void)state;
    struct cluster c;
    devices_open_at(&c, "1.36");
    put(&c, "apiVersion: resource.k8s.io/v1\n"
            "kind: ResourceSlice\n"
            "metadata: {name: far}\n"
            "spec:\n"
            "  driver: d.example\n"
            "  nodeName: gpu-1\n"
            "  pool: {name: far, generation: 1, resourceSliceCount: 1}\n"
            "  devices:\n"
            "  - {name: a, attributes: {type: {string: gpu}}, bindsToNode: true, "
            "bindingConditions: [attached], bindingFailureConditions: [broken]}\n"
            "---\n"
            "apiVersion: resource.k8s.io/v1\n"
            "kind: ResourceClaim\n"
            "metadata: {name: own}\n"
            "spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}\n");
    pod(&c, "p", "resourceClaimName: own");
    settle(&c);
    slice(&c, "gpu-1");
    patch(&c, "resource.k8s.io/v1", "ResourceClaim", "default", "own", "status",
          "{status: {devices: [{driver: d.example, pool: far, device: a, conditions: [{type: "
          "broken, status: \"True\", reason: Cable, message: none, lastTransitionTime: "
          "\"2026-01-01T00:00:00Z\"}]}]}}");
    pass(&c, 3000);
    why(&c, "p", "Running gpu-1 ");
    expect(&c, "resource.k8s.io/v1", "ResourceClaim", "default", "own",
           "{.status.allocation.devices.results[0].pool}", "gpu-1");
    cluster_close(&c);
}

/* A cluster 1.36 with a class for an extended resource, and two devices of it on gpu-1. */
static void extended_open(struct cluster *c)
{
    cluster_open(c, &(struct sw_emulator_opts){ .kube_version = "1.36" }, NULL);
    put(c, "apiVersion: resource.k8s.io/v1\n"
           "kind: DeviceClass\n"
           "metadata: {name: gpu}\n"
           "spec:\n"
           "  extendedResourceName: example.com/gpu\n"
           "  selectors: [{cel: {expression: \"device.driver == 'd.example'\"}}]\n");
    slice(c, "gpu-1");
}

static void limited(struct cluster *c, const char *name, const char *resource, int n)
{
    SW_AUTO_CHARS *yaml = sw_printf("apiVersion: v1\n"
                                    "kind: Pod\n"
                                    "metadata: {name: %s}\n"
                                    "spec:\n"
                                    "  containers: [{name: main, image: \"main:1\", resources: "
                                    "{limits: {%s: %d}}}]\n",
                                    name, resource, n);
    put(c, yaml);
}

static void limits_are_served_by_a_class(void **state)
{
    (void)state;
    struct cluster c;
    extended_open(&c);
    limited(&c, "p", "example.com/gpu", 1);
    limited(&c, "q", "deviceclass.resource.kubernetes.io/gpu", 1);
    settle(&c);
    why(&c, "p", "Running gpu-1 ");
    why(&c, "q", "Running gpu-1 ");
    json_object *p = get(&c, "v1", "Pod", "default", "p");
    SW_AUTO_CHARS *name = see(p, "{.status.extendedResourceClaimStatus.resourceClaimName}");
    SW_AUTO_CHARS *mapping = see(p, "{.status.extendedResourceClaimStatus.requestMappings[*]}");
    assert_int_equal(strncmp(name, "p-extended-resources-", 21), 0);
    assert_string_equal(mapping, "{\"containerName\":\"main\",\"requestName\":"
                                 "\"container-0-request-0\",\"resourceName\":"
                                 "\"example.com/gpu\"}");
    expect(&c, "resource.k8s.io/v1", "ResourceClaim", "default", name,
           "{.metadata.annotations.resource\\.kubernetes\\.io/extended-resource-claim} "
           "{.spec.devices.requests[0].exactly.deviceClassName} "
           "{.status.allocation.devices.results[0].device} {.status.reservedFor[0].name}",
           "true gpu a p");
    limited(&c, "r", "example.com/gpu", 1);
    settle(&c);
    why(&c, "r",
        "Pending  0/5 nodes are available: 1 node(s) had untolerated taint "
        "{node-role.kubernetes.io/master: }, 4 cannot allocate all claims.");
    drop(&c, "v1", "Pod", "default", "p");
    pass(&c, 3000);
    why(&c, "r", "Running gpu-1 ");
    cluster_close(&c);
}

static void a_class_that_is_missing_is_named(void **state)
{
    (void)state;
    struct cluster c;
    devices_open(&c);
    put(&c, "apiVersion: resource.k8s.io/v1\n"
            "kind: ResourceClaim\n"
            "metadata: {name: own}\n"
            "spec: {devices: {requests: [{name: r, exactly: {deviceClassName: none}}]}}\n");
    pod(&c, "p", "resourceClaimName: own");
    settle(&c);
    why(&c, "p", "Pending  0/5 nodes are available: request r: device class none does not exist.");
    cluster_close(&c);
}

/* The device plugin of the recipe nvidia-mig with its face for Dynamic Resource Allocation. */
static void slices_of_gpus_are_published_and_packed(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(&c, &(struct sw_emulator_opts){ .kube_version = "1.36" }, NULL);
    put(&c,
        "apiVersion: resource.k8s.io/v1\n"
        "kind: DeviceClass\n"
        "metadata: {name: mig-3g.20gb.slipway.dev}\n"
        "spec:\n"
        "  extendedResourceName: nvidia.com/mig-3g.20gb\n"
        "  selectors: [{cel: {expression: \"device.driver == 'mig.slipway.dev' && "
        "device.attributes['mig.slipway.dev'].profile == '3g.20gb'\"}}]\n"
        "---\n"
        "apiVersion: v1\n"
        "kind: Pod\n"
        "metadata: {name: das-daemonset-x, labels: {app: das-daemonset, slipway.dev/api: dra}}\n"
        "spec:\n"
        "  nodeName: gpu-1\n"
        "  containers: [{name: das-daemonset, image: \"das:1\", env: [{name: EMULATED_MODE, "
        "value: enabled}]}]\n");
    pass(&c, 3000);
    for (int i = 0; i < 5; i++) {
        SW_AUTO_CHARS *name = sw_printf("p%d", i);
        limited(&c, name, "nvidia.com/mig-3g.20gb", 1);
        settle(&c);
    }
    why(&c, "p3", "Running gpu-1 ");
    expect(&c, "v1", "Pod", "default", "p4", "{.status.phase}", "Pending");
    drop(&c, "v1", "Pod", "default", "das-daemonset-x");
    pass(&c, 3000);
    assert_null(get(&c, "resource.k8s.io/v1", "ResourceSlice", NULL, "gpu-1-mig.slipway.dev-0"));
    cluster_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pod_waits_for_a_node_with_the_device),
        cmocka_unit_test(a_device_is_given_once),
        cmocka_unit_test(an_administrator_takes_nothing),
        cmocka_unit_test(the_next_best_will_do),
        cmocka_unit_test(a_claim_that_is_not_there_is_waited_for),
        cmocka_unit_test(a_claim_is_free_when_its_last_pod_is_gone),
        cmocka_unit_test(kubelet_waits_for_the_driver_of_the_devices),
        cmocka_unit_test(a_pod_is_bound_when_its_device_is_ready),
        cmocka_unit_test(a_device_that_fails_is_given_back),
        cmocka_unit_test(a_taint_of_a_device_ends_its_pods),
        cmocka_unit_test(limits_are_served_by_a_class),
        cmocka_unit_test(a_class_that_is_missing_is_named),
        cmocka_unit_test(slices_of_gpus_are_published_and_packed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
