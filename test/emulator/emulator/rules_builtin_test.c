/* The rules that travel in the program: each file, by what a user of the cluster would see of it.
 */
#include "ctl_fixture.h"

static void subscribe_to(struct cluster *c, const char *ns, const char *package,
                         const char *channel, const char *source, const char *more)
{
    SW_AUTO_CHARS *yaml = sw_printf(
        "apiVersion: v1\n"
        "kind: Namespace\n"
        "metadata: {name: %s}\n"
        "---\n"
        "apiVersion: operators.coreos.com/v1\n"
        "kind: OperatorGroup\n"
        "metadata: {name: group, namespace: %s}\n"
        "spec: {targetNamespaces: [%s]}\n"
        "---\n"
        "apiVersion: operators.coreos.com/v1alpha1\n"
        "kind: Subscription\n"
        "metadata: {name: sub, namespace: %s}\n"
        "spec: {name: %s, channel: %s, source: %s, sourceNamespace: openshift-marketplace%s}\n",
        ns, ns, ns, ns, package, channel, source, more);
    put(c, yaml);
}

static void see_sub(struct cluster *c, const char *ns, const char *path, const char *want)
{
    expect(c, "operators.coreos.com/v1alpha1", "Subscription", ns, "sub", path, want);
}

static void open_openshift(struct cluster *c)
{
    cluster_open(c, NULL, NULL);
    settle(c);
}

static void a_subscription_brings_its_operator(void **state)
{
    (void)state;
    struct cluster c;
    open_openshift(&c);
    subscribe_to(&c, "cm-op", "openshift-cert-manager-operator", "stable-v1", "redhat-operators",
                 "");
    settle(&c);
    see_sub(&c, "cm-op", "{.status.state} {.status.installedCSV}",
            "AtLatestKnown cert-manager-operator.v1.13.0");
    expect(&c, "operators.coreos.com/v1alpha1", "ClusterServiceVersion", "cm-op",
           "cert-manager-operator.v1.13.0", "{.status.phase}", "Succeeded");
    expect(&c, "apps/v1", "Deployment", "cert-manager", "cert-manager-webhook",
           "{.status.availableReplicas}", "1");
    assert_non_null(kind_of(&c, "cert-manager.io/v1", "Issuer"));
    assert_non_null(get(&c, "v1", "Secret", "cert-manager", "cert-manager-webhook-ca"));
    cluster_close(&c);
}

static void an_unknown_package_is_said_so(void **state)
{
    (void)state;
    struct cluster c;
    open_openshift(&c);
    subscribe_to(&c, "x", "no-such", "stable", "redhat-operators", "");
    settle(&c);
    see_sub(&c, "x", "{.status.state}{.status.conditions[?(@.type==\"ResolutionFailed\")].message}",
            "constraints not satisfiable: no operators found in channel stable of package no-such "
            "in the catalog referenced by subscription sub");
    cluster_close(&c);
}

static void a_manual_plan_waits_for_approval(void **state)
{
    (void)state;
    struct cluster c;
    open_openshift(&c);
    subscribe_to(&c, "nfd", "nfd", "stable", "redhat-operators", ", installPlanApproval: Manual");
    settle(&c);
    see_sub(&c, "nfd", "{.status.state}", "UpgradePending");
    SW_AUTO_CHARS *plan = see(
        get(&c, "operators.coreos.com/v1alpha1", "Subscription", "nfd", "sub"),
        "{.status.installPlanRef.name}");
    expect(&c, "operators.coreos.com/v1alpha1", "InstallPlan", "nfd", plan, "{.status.phase}",
           "RequiresApproval");
    patch(&c, "operators.coreos.com/v1alpha1", "InstallPlan", "nfd", plan, NULL,
          "{spec: {approved: true}}");
    settle(&c);
    see_sub(&c, "nfd", "{.status.state}", "AtLatestKnown");
    cluster_close(&c);
}

static void without_an_operator_group_nothing_is_installed(void **state)
{
    (void)state;
    struct cluster c;
    open_openshift(&c);
    put(&c, "{apiVersion: operators.coreos.com/v1alpha1, kind: Subscription, metadata: {name: sub},"
            " spec: {name: nfd, channel: stable, source: redhat-operators, sourceNamespace: "
            "openshift-marketplace}}");
    settle(&c);
    SW_AUTO_CHARS *plan = see(
        get(&c, "operators.coreos.com/v1alpha1", "Subscription", "default", "sub"),
        "{.status.installPlanRef.name}");
    expect(&c, "operators.coreos.com/v1alpha1", "InstallPlan", "default", plan, "{.status.message}",
           "no operator group found that is managing this namespace");
    see_sub(&c, "default", "{.status.state}", "UpgradePending");
    cluster_close(&c);
}

/* ---- cert-manager -------------------------------------------------------------------------------
 */

static void certificates_get_their_secrets(void **state)
{
    (void)state;
    struct cluster c;
    open_openshift(&c);
    subscribe_to(&c, "cm-op", "cert-manager", "stable", "community-operators", "");
    settle(&c);
    put(&c, "apiVersion: cert-manager.io/v1\n"
            "kind: Issuer\n"
            "metadata: {name: self}\n"
            "spec: {selfSigned: {}}\n"
            "---\n"
            "apiVersion: cert-manager.io/v1\n"
            "kind: Certificate\n"
            "metadata: {name: ca}\n"
            "spec: {isCA: true, commonName: our-ca, secretName: ca-key, issuerRef: {name: self}}\n"
            "---\n"
            "apiVersion: cert-manager.io/v1\n"
            "kind: ClusterIssuer\n"
            "metadata: {name: ours}\n"
            "spec: {selfSigned: {}}\n"
            "---\n"
            "apiVersion: cert-manager.io/v1\n"
            "kind: Issuer\n"
            "metadata: {name: by-ca}\n"
            "spec: {ca: {secretName: ca-key}}\n"
            "---\n"
            "apiVersion: cert-manager.io/v1\n"
            "kind: Certificate\n"
            "metadata: {name: serving}\n"
            "spec: {dnsNames: [a.b.svc, a.b.svc.cluster.local], secretName: serving-key, "
            "issuerRef: {kind: Issuer, name: by-ca}}\n"
            "---\n"
            "apiVersion: cert-manager.io/v1\n"
            "kind: Certificate\n"
            "metadata: {name: lost}\n"
            "spec: {dnsNames: [x.y.svc], secretName: lost-key, issuerRef: {name: nobody}}\n"
            "---\n"
            "apiVersion: admissionregistration.k8s.io/v1\n"
            "kind: MutatingWebhookConfiguration\n"
            "metadata: {name: hook, annotations: {cert-manager.io/inject-ca-from: "
            "default/serving}}\n"
            "webhooks: [{name: a.b.c, admissionReviewVersions: [v1], sideEffects: None, "
            "clientConfig: {service: {name: a, namespace: b}}}]\n");
    settle(&c);
    const char *ready = "{.status.conditions[?(@.type==\"Ready\")].status} "
                        "{.status.conditions[?(@.type==\"Ready\")].reason}";
    expect(&c, "cert-manager.io/v1", "Issuer", "default", "self", ready, "True IsReady");
    expect(&c, "cert-manager.io/v1", "ClusterIssuer", NULL, "ours", ready, "True IsReady");
    expect(&c, "cert-manager.io/v1", "Certificate", "default", "serving", ready, "True Ready");
    expect(&c, "cert-manager.io/v1", "Certificate", "default", "lost", ready, "False DoesNotExist");
    expect(&c, "v1", "Secret", "default", "serving-key", "{.type}", "kubernetes.io/tls");
    SW_AUTO_CHARS *ca = see(get(&c, "v1", "Secret", "default", "ca-key"), "{.data['tls.crt']}");
    expect(&c, "v1", "Secret", "default", "serving-key", "{.data['ca.crt']}", ca);
    expect(&c, "admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", NULL, "hook",
           "{.webhooks[0].clientConfig.caBundle}", ca);
    SW_AUTO_CHARS *first = see(get(&c, "v1", "Secret", "default", "serving-key"),
                               "{.data['tls.crt']}");
    drop(&c, "v1", "Secret", "default", "serving-key");
    settle(&c);
    SW_AUTO_CHARS *second = see(get(&c, "v1", "Secret", "default", "serving-key"),
                                "{.data['tls.crt']}");
    assert_string_not_equal(first, second);
    cluster_close(&c);
}

/* ---- NFD, the GPU operator, slices --------------------------------------------------------------
 */

static const char clusterpolicy[] = "{apiVersion: nvidia.com/v1, kind: ClusterPolicy, metadata: "
                                    "{name: gpu-cluster-policy}, spec: {devicePlugin: {enabled: "
                                    "false}}}";

static void install_gpus(struct cluster *c)
{
    subscribe_to(c, "openshift-nfd", "nfd", "stable", "redhat-operators", "");
    subscribe_to(c, "nvidia-gpu-operator", "gpu-operator-certified", "stable",
                 "certified-operators", "");
    settle(c);
    put(c, clusterpolicy);
}

static void discover(struct cluster *c)
{
    put(c, "{apiVersion: nfd.openshift.io/v1, kind: NodeFeatureDiscovery, metadata: {name: i, "
           "namespace: openshift-nfd}, spec: {}}");
    settle(c);
}

static void nodes_are_labelled_with_what_they_are(void **state)
{
    (void)state;
    struct cluster c;
    open_openshift(&c);
    install_gpus(&c);
    discover(&c);
    const char *f =
        "{.metadata.labels['feature.node.kubernetes.io/kernel-version.full']} "
        "{.metadata.labels['feature.node.kubernetes.io/kernel-version.minor']} "
        "{.metadata.labels['feature.node.kubernetes.io/system-os_release.ID']} "
        "{.metadata.labels['feature.node.kubernetes.io/system-os_release.VERSION_ID']} "
        "{.metadata.labels['feature.node.kubernetes.io/system-os_release.RHEL_VERSION']}"
        " {.metadata.labels['feature.node.kubernetes.io/pci-10de.present']}";
    expect(&c, "v1", "Node", NULL, "gpu-0", f,
           "4.18.0-305.45.1.el8_4.x86_64 18 rhcos 4.10 8.4 true");
    expect(&c, "v1", "Node", NULL, "worker-0", f,
           "4.18.0-305.45.1.el8_4.x86_64 18 rhcos 4.10 8.4 ");
    expect(&c, "nfd.openshift.io/v1", "NodeFeatureDiscovery", "openshift-nfd", "i",
           "{.status.conditions[?(@.type==\"Available\")].status}", "True");
    cluster_close(&c);
}

/* A rule of Node Feature Discovery whose only term is @term. */
static char *feature_rule(const char *name, const char *terms)
{
    return sw_printf(
        "{apiVersion: nfd.openshift.io/v1alpha1, kind: NodeFeatureRule, metadata: "
        "{name: %s}, spec: {rules: [{name: %s, labels: {example.com/%s: \"true\"}, %s}]}}",
        name, name, name, terms);
}

/* "1" where worker-0, which has features, gets the label of a rule with @terms. */
static void expect_rule(struct cluster *c, const char *name, const char *terms, bool labelled)
{
    SW_AUTO_CHARS *rule = feature_rule(name, terms);
    SW_AUTO_CHARS *label = sw_printf("{.metadata.labels['example\\.com/%s']}", name);
    put(c, rule);
    settle(c);
    expect(c, "v1", "Node", NULL, "worker-0", label, labelled ? "true" : "");
}

static void node_feature_rules_label_by_what_a_node_has(void **state)
{
    (void)state;
    static const struct {
        const char *name, *terms;
        bool labelled;
    } cases[] = {
        { "in",
          "matchFeatures: [{feature: pci.device, matchExpressions: {vendor: {op: In, value: "
          "[\"8086\"]}, class: {op: In, value: [\"0300\", \"0380\"]}}}]",
          true },
        { "one-device-has-all",
          "matchFeatures: [{feature: pci.device, matchExpressions: {device: {op: "
          "In, value: [\"56c1\"]}, class: {op: In, value: [\"0b40\"]}}}]",
          false },
        { "exists",
          "matchFeatures: [{feature: kernel.loadedmodule, matchExpressions: {i915: {op: "
          "Exists}}}]",
          true },
        { "exists-not",
          "matchFeatures: [{feature: kernel.loadedmodule, matchExpressions: {xe: {op: "
          "Exists}}}]",
          false },
        { "absent",
          "matchFeatures: [{feature: kernel.loadedmodule, matchExpressions: {xe: {op: "
          "DoesNotExist}}}]",
          true },
        { "is-true",
          "matchFeatures: [{feature: cpu.security, matchExpressions: {sgx.enabled: {op: "
          "IsTrue}}}]",
          true },
        { "all-terms",
          "matchFeatures: [{feature: cpu.security, matchExpressions: {sgx.enabled: {op: "
          "IsTrue}}}, {feature: kernel.loadedmodule, matchExpressions: {xe: {op: Exists}}}]",
          false },
        { "any",
          "matchAny: [{matchFeatures: [{feature: kernel.loadedmodule, matchExpressions: {xe: "
          "{op: Exists}}}]}, {matchFeatures: [{feature: kernel.loadedmodule, matchExpressions: "
          "{i915: {op: Exists}}}]}]",
          true },
        { "none",
          "matchAny: [{matchFeatures: [{feature: kernel.loadedmodule, matchExpressions: {xe: "
          "{op: Exists}}}]}]",
          false },
        { "unknown",
          "matchFeatures: [{feature: usb.device, matchExpressions: {vendor: {op: Exists}}}]",
          false },
    };
    struct cluster c;
    open_openshift(&c);
    install_gpus(&c);
    discover(&c);
    for (size_t i = 0; i < SW_COUNT(cases); i++)
        expect_rule(&c, cases[i].name, cases[i].terms, cases[i].labelled);
    cluster_close(&c);
}

static void the_label_of_a_node_feature_rule_goes_with_it(void **state)
{
    (void)state;
    struct cluster c;
    open_openshift(&c);
    install_gpus(&c);
    discover(&c);
    expect_rule(&c, "i915",
                "matchFeatures: [{feature: kernel.loadedmodule, matchExpressions: {i915: "
                "{op: Exists}}}]",
                true);
    drop(&c, "nfd.openshift.io/v1alpha1", "NodeFeatureRule", NULL, "i915");
    settle(&c);
    expect(&c, "v1", "Node", NULL, "worker-0", "{.metadata.labels['example\\.com/i915']}", "");
    expect(&c, "v1", "Node", NULL, "worker-0",
           "{.metadata.labels['feature.node.kubernetes.io/system-os_release.ID']}", "rhcos");
    cluster_close(&c);
}

static void the_cluster_policy_is_ready_when_gpu_nodes_are(void **state)
{
    (void)state;
    struct cluster c;
    const char *state_of = "{.status.state} {.status.conditions[?(@.type==\"Ready\")].status}";
    open_openshift(&c);
    install_gpus(&c);
    settle(&c);
    expect(&c, "nvidia.com/v1", "ClusterPolicy", NULL, "gpu-cluster-policy", state_of,
           "notReady False");
    discover(&c);
    expect(&c, "nvidia.com/v1", "ClusterPolicy", NULL, "gpu-cluster-policy", state_of,
           "ready True");
    expect(&c, "v1", "Node", NULL, "gpu-2",
           "{.metadata.labels['nvidia.com/gpu.present']} "
           "{.metadata.labels['nvidia.com/mig.capable']} "
           "{.metadata.labels['nvidia.com/gpu.product']} "
           "{.metadata.labels['nvidia.com/gpu.count']}",
           "true true NVIDIA-A100-PCIE-40GB 2");
    expect(&c, "v1", "Node", NULL, "worker-0", "{.metadata.labels['nvidia.com/gpu.present']}", "");
    patch(&c, "apps/v1", "Deployment", "nvidia-gpu-operator", "gpu-operator", NULL,
          "{spec: {template: {metadata: {annotations: {emulator.slipway.dev/ready: "
          "\"false\"}}}}}");
    pass(&c, 2000);
    expect(&c, "apps/v1", "DaemonSet", "nvidia-gpu-operator", "nvidia-operator-validator",
           "{.status.numberReady}", "3");
    cluster_close(&c);
}

static void a_node_that_says_what_it_can_already_is_discovered(void **state)
{
    (void)state;
    struct cluster c;
    open_openshift(&c);
    patch(&c, "v1", "Node", NULL, "gpu-2", NULL,
          "{metadata: {labels: {nvidia.com/mig.capable: \"false\"}}}");
    install_gpus(&c);
    discover(&c);
    expect(&c, "nvidia.com/v1", "ClusterPolicy", NULL, "gpu-cluster-policy", "{.status.state}",
           "ready");
    expect(&c, "v1", "Node", NULL, "gpu-2",
           "{.metadata.labels['nvidia.com/mig.capable']} "
           "{.metadata.labels['nvidia.com/gpu.machine']} "
           "{.metadata.labels['nvidia.com/mig.strategy']}",
           "false emulated ");
    cluster_close(&c);
}

static void the_cluster_policy_leaves_ready_when_an_operand_does(void **state)
{
    (void)state;
    struct cluster c;
    open_openshift(&c);
    install_gpus(&c);
    discover(&c);
    PODS(pods);
    find_pods(&c, "nvidia-gpu-operator", "app=nvidia-operator-validator", &pods);
    assert_int_equal(pods.n, 3);
    patch(&c, "v1", "Pod", "nvidia-gpu-operator", sw_obj_name(pods.items[0]), NULL,
          "{metadata: {annotations: {emulator.slipway.dev/ready: \"false\"}}}");
    settle(&c);
    expect(&c, "nvidia.com/v1", "ClusterPolicy", NULL, "gpu-cluster-policy", "{.status.state}",
           "notReady");
    cluster_close(&c);
}

/* Before 1.34, that is; from then on there can be another one (GPUCluster), and a recipe brings it.
 */
static void kubernetes_has_the_gpu_operator_of_its_chart(void **state)
{
    (void)state;
    struct cluster c;
    cluster_open(
        &c, &(struct sw_emulator_opts){ .platform = SW_EMU_KUBERNETES, .kube_version = "1.33" },
        NULL);
    settle(&c);
    expect(&c, "nvidia.com/v1", "ClusterPolicy", NULL, "gpu-cluster-policy", "{.status.state}",
           "notReady");
    put(&c, "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: nfd-worker}, spec: {selector: "
            "{matchLabels: {app.kubernetes.io/name: nfd-worker}}, template: {metadata: {labels: "
            "{app.kubernetes.io/name: nfd-worker}}, spec: {containers: [{name: w, image: w}]}}}}");
    settle(&c);
    expect(&c, "nvidia.com/v1", "ClusterPolicy", NULL, "gpu-cluster-policy", "{.status.state}",
           "ready");
    expect(&c, "v1", "Node", NULL, "gpu-1",
           "{.metadata.labels['feature.node.kubernetes.io/system-os_release.ID']} "
           "{.metadata.labels['feature.node.kubernetes.io/system-os_release.VERSION_ID']} "
           "{.metadata.labels['nvidia.com/mig.capable']}",
           "ubuntu 22.04 true");
    cluster_close(&c);
}

static const char plugin[] = "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: "
                             "das-daemonset}, spec: {selector: {matchLabels: {app: "
                             "das-daemonset}}, template: {metadata: {labels: {app: "
                             "das-daemonset}}, spec: {containers: [{name: p, image: p}]}}}}";

static void slices_are_there_while_the_device_plugin_is(void **state)
{
    (void)state;
    struct cluster c;
    const char *slices = "{.status.allocatable['mig.das.com/1g.5gb']} "
                         "{.status.allocatable['nvidia.com/mig-1g.5gb']} "
                         "{.status.allocatable['mig.das.com/1g.5gb-plus-me']} "
                         "{.status.capacity['nvidia.com/mig-7g.40gb']}";
    open_openshift(&c);
    put(&c, plugin);
    put(&c, "{apiVersion: v1, kind: Pod, metadata: {name: asks}, spec: {restartPolicy: Never, "
            "containers: [{name: a, image: a, resources: {limits: {nvidia.com/mig-1g.5gb: 1}}}]}}");
    settle(&c);
    expect(&c, "v1", "Node", NULL, "gpu-0", slices, "14 14 2 2");
    expect(&c, "v1", "Node", NULL, "worker-0", slices, "   ");
    expect(&c, "v1", "Pod", "default", "asks", "{.status.phase}", "Succeeded");
    drop(&c, "apps/v1", "DaemonSet", "default", "das-daemonset");
    settle(&c);
    expect(&c, "v1", "Node", NULL, "gpu-0", slices, "0 0 0 2");
    cluster_close(&c);
}

static void pods_of_the_das_scheduler_wait_for_it(void **state)
{
    (void)state;
    struct cluster c;
    open_openshift(&c);
    put(&c, "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {schedulerName: das-scheduler, "
            "containers: [{name: a, image: a}]}}");
    settle(&c);
    expect(&c, "v1", "Pod", "default", "p", "{.spec.nodeName}", "");
    put(&c, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: das-scheduler, labels: "
            "{slipway.dev/api: dra}}, spec: {selector: {matchLabels: {app: s}}, template: "
            "{metadata: {labels: {app: s}}, spec: {containers: [{name: a, image: a}]}}}}");
    settle(&c);
    expect(&c, "v1", "Pod", "default", "p", "{.spec.nodeName}", ""); /* that one only evicts */
    drop(&c, "apps/v1", "Deployment", "default", "das-scheduler");
    settle(&c);
    put(&c, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: das-scheduler}, spec: "
            "{selector: {matchLabels: {app: s}}, template: {metadata: {labels: {app: s}}, spec: "
            "{containers: [{name: a, image: a}]}}}}");
    settle(&c);
    expect(&c, "v1", "Pod", "default", "p", "{.status.phase}", "Running");
    cluster_close(&c);
}

/* ---- OpenShift ----------------------------------------------------------------------------------
 */

static const char buildconfig[] = "apiVersion: image.openshift.io/v1\n"
                                  "kind: ImageStream\n"
                                  "metadata: {name: driver}\n"
                                  "spec: {}\n"
                                  "---\n"
                                  "apiVersion: build.openshift.io/v1\n"
                                  "kind: BuildConfig\n"
                                  "metadata: {name: build%s, annotations: {%s}}\n"
                                  "spec:\n"
                                  "  runPolicy: Serial\n"
                                  "  triggers: [{type: ConfigChange}, {type: ImageChange}]\n"
                                  "  source: {dockerfile: FROM x}\n"
                                  "  strategy: {dockerStrategy: {}}\n"
                                  "  output: {to: {kind: ImageStreamTag, name: \"%s:v1\"}}\n";

static void build(struct cluster *c, const char *suffix, const char *annotations,
                  const char *stream)
{
    const char *a = strstr(buildconfig, "%s"), *b = strstr(a + 2, "%s"), *d = strstr(b + 2, "%s");
    SW_AUTO_CHARS *yaml = sw_printf("%.*s%s%.*s%s%.*s%s%s", (int)(a - buildconfig), buildconfig,
                                    suffix, (int)(b - a - 2), a + 2, annotations, (int)(d - b - 2),
                                    b + 2, stream, d + 2);
    put(c, yaml);
}

static void a_buildconfig_builds_and_its_image_can_be_pulled(void **state)
{
    (void)state;
    struct cluster c;
    struct sw_emulator_opts opts = { .delays = { .rule_percent = 100 } };
    cluster_open(&c, &opts, NULL);
    settle(&c);
    put(&c, "{apiVersion: v1, kind: Pod, metadata: {name: user}, spec: {containers: [{name: a, "
            "image: \"image-registry.openshift-image-registry.svc:5000/default/driver:v1\"}]}}");
    build(&c, "", "", "driver");
    pass(&c, 50);
    const char *phase = "{.status.phase} {.metadata.ownerReferences[0].kind}";
    expect(&c, "build.openshift.io/v1", "Build", "default", "build-1", phase, "New BuildConfig");
    pass(&c, 200);
    expect(&c, "build.openshift.io/v1", "Build", "default", "build-1", phase,
           "Running BuildConfig");
    expect(&c, "v1", "Pod", "default", "user", "{.status.phase}", "Pending");
    pass(&c, 800);
    expect(&c, "build.openshift.io/v1", "Build", "default", "build-1", phase,
           "Complete BuildConfig");
    expect(&c, "v1", "Pod", "default", "build-1-build",
           "{.metadata.ownerReferences[0].kind} {.metadata.annotations['openshift.io/build.name']}",
           "Build build-1");
    expect(&c, "image.openshift.io/v1", "ImageStream", "default", "driver",
           "{.status.dockerImageRepository} {.status.tags[*].tag}",
           "image-registry.openshift-image-registry.svc:5000/default/driver v1");
    expect(&c, "v1", "Pod", "default", "user", "{.status.phase}", "Running");
    expect(&c, "build.openshift.io/v1", "BuildConfig", "default", "build", "{.status.lastVersion}",
           "1");
    cluster_close(&c);
}

static void a_build_fails_when_it_is_told_to(void **state)
{
    (void)state;
    struct cluster c;
    open_openshift(&c);
    build(&c, "", "emulator.slipway.dev/build: Failed", "driver");
    settle(&c);
    expect(&c, "build.openshift.io/v1", "Build", "default", "build-1",
           "{.status.phase} {.status.reason}", "Failed DockerBuildFailed");
    expect(&c, "image.openshift.io/v1", "ImageStream", "default", "driver", "{.status.tags}", "");
    cluster_close(&c);
}

static void a_build_waits_for_the_stream_that_it_pushes_to(void **state)
{
    (void)state;
    struct cluster c;
    open_openshift(&c);
    build(&c, "-early", "", "later");
    settle(&c);
    expect(&c, "build.openshift.io/v1", "Build", "default", "build-early-1",
           "{.status.phase} {.status.reason}", "New InvalidOutputReference");
    put(&c, "{apiVersion: image.openshift.io/v1, kind: ImageStream, metadata: {name: later}}");
    settle(&c);
    expect(&c, "build.openshift.io/v1", "Build", "default", "build-early-1", "{.status.phase}",
           "Complete");
    cluster_close(&c);
}

static void the_driver_toolkit_is_known_by_its_tags(void **state)
{
    (void)state;
    struct cluster c;
    open_openshift(&c);
    expect(&c, "image.openshift.io/v1", "ImageStream", "openshift", "driver-toolkit",
           "{.status.tags[*].tag}", "latest 410.84.202205191234-0 410.84.202201251210-0");
    SW_AUTO_CHARS *from = see(
        get(&c, "image.openshift.io/v1", "ImageStream", "openshift", "driver-toolkit"),
        "{.status.tags[0].items[0].dockerImageReference}");
    assert_true(sw_starts_with(from, "quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:"));
    expect(&c, "config.openshift.io/v1", "ClusterVersion", NULL, "version",
           "{.status.history[0].state} {.status.history[0].version}", "Completed 4.10.15");
    assert_non_null(get(&c, "config.openshift.io/v1", "Proxy", NULL, "cluster"));
    assert_non_null(
        get(&c, "security.openshift.io/v1", "SecurityContextConstraints", NULL, "privileged"));
    assert_non_null(get(&c, "v1", "ConfigMap", "openshift-machine-config-operator",
                        "machine-config-osimageurl"));
    cluster_close(&c);
}

static void a_service_gets_its_serving_certificate(void **state)
{
    (void)state;
    struct cluster c;
    open_openshift(&c);
    put(&c, "apiVersion: v1\n"
            "kind: Service\n"
            "metadata: {name: s, annotations: {service.beta.openshift.io/serving-cert-secret-name: "
            "s-tls}}\n"
            "spec: {ports: [{port: 443}]}\n"
            "---\n"
            "apiVersion: v1\n"
            "kind: ConfigMap\n"
            "metadata: {name: ca, annotations: {service.beta.openshift.io/inject-cabundle: "
            "\"true\"}}\n");
    settle(&c);
    expect(&c, "v1", "Secret", "default", "s-tls", "{.type}", "kubernetes.io/tls");
    SW_AUTO_CHARS *bundle = see(get(&c, "v1", "ConfigMap", "default", "ca"),
                                "{.data['service-ca.crt']}");
    assert_true(sw_starts_with(bundle, "-----BEGIN CERTIFICATE-----"));
    cluster_close(&c);
}

static void a_route_is_admitted(void **state)
{
    (void)state;
    struct cluster c;
    open_openshift(&c);
    put(&c, "{apiVersion: route.openshift.io/v1, kind: Route, metadata: {name: r}, spec: {to: "
            "{kind: Service, name: s}}}");
    settle(&c);
    expect(&c, "route.openshift.io/v1", "Route", "default", "r",
           "{.spec.host} {.status.ingress[0].conditions[0].type}",
           "r-default.apps.emulated.example.com Admitted");
    cluster_close(&c);
}

static void a_cluster_at_rest_writes_nothing(void **state)
{
    (void)state;
    struct cluster c;
    open_openshift(&c);
    install_gpus(&c);
    discover(&c);
    put(&c, plugin);
    pass(&c, 5000);
    uint64_t version = sw_store_version(c.store);
    pass(&c, 3600000);
    assert_int_equal(sw_store_version(c.store), version);
    cluster_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_subscription_brings_its_operator),
        cmocka_unit_test(an_unknown_package_is_said_so),
        cmocka_unit_test(a_manual_plan_waits_for_approval),
        cmocka_unit_test(without_an_operator_group_nothing_is_installed),
        cmocka_unit_test(certificates_get_their_secrets),
        cmocka_unit_test(nodes_are_labelled_with_what_they_are),
        cmocka_unit_test(node_feature_rules_label_by_what_a_node_has),
        cmocka_unit_test(the_label_of_a_node_feature_rule_goes_with_it),
        cmocka_unit_test(the_cluster_policy_is_ready_when_gpu_nodes_are),
        cmocka_unit_test(a_node_that_says_what_it_can_already_is_discovered),
        cmocka_unit_test(the_cluster_policy_leaves_ready_when_an_operand_does),
        cmocka_unit_test(kubernetes_has_the_gpu_operator_of_its_chart),
        cmocka_unit_test(slices_are_there_while_the_device_plugin_is),
        cmocka_unit_test(pods_of_the_das_scheduler_wait_for_it),
        cmocka_unit_test(a_buildconfig_builds_and_its_image_can_be_pulled),
        cmocka_unit_test(a_build_fails_when_it_is_told_to),
        cmocka_unit_test(a_build_waits_for_the_stream_that_it_pushes_to),
        cmocka_unit_test(the_driver_toolkit_is_known_by_its_tags),
        cmocka_unit_test(a_service_gets_its_serving_certificate),
        cmocka_unit_test(a_route_is_admitted),
        cmocka_unit_test(a_cluster_at_rest_writes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
