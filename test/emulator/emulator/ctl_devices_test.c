/* Dynamic Resource Allocation: a pod has claims of its templates, and runs where the devices are.
 */
#include "ctl_fixture.h"

static void devices_open(struct cluster *c)
{
    cluster_open(c, &(struct sw_emulator_opts){ .kube_version = "1.34" }, NULL);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pod_waits_for_a_node_with_the_device),
        cmocka_unit_test(a_device_is_given_once),
        cmocka_unit_test(an_administrator_takes_nothing),
        cmocka_unit_test(the_next_best_will_do),
        cmocka_unit_test(a_claim_that_is_not_there_is_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
