/* When a DaemonSet's template is kept as it is on the cluster. */
#include "operator/engine/nodes/grace_period.h"
#include "operator/manifests/hooks.h"

#include "data/data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#define POD(selects, more)                                                                         \
    "{template: {metadata: {labels: {a: b}}, spec: {" selects                                      \
    "containers: [{name: c, image: i" more "}]}}}"
#define KERNEL "nodeSelector: {role: '', feature.node.kubernetes.io/kernel: '5'}, "

static struct json_object *doc_of(const char *spec)
{
    struct json_object *doc = NULL;
    SW_ERR(err);
    SW_AUTO_CHARS *text = sw_printf("{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: d}, "
                                    "spec: %s}",
                                    spec);
    if (sw_yaml_parse(text, strlen(text), NULL, &doc, &err) < 0)
        fail_msg("%s: %s", spec, sw_err_text(&err));
    return doc;
}

/* The manifest that a chart with @spec gives, with the terms of the grace period. */
static struct json_object *rendered(const char *spec)
{
    SW_ERR(err);
    struct json_object *doc = doc_of(spec);
    SW_AUTO_JSON *resource = json_object_new_object();
    sw_json_set_str(resource, "SpecialResource", "kind", NULL);
    sw_json_set_str(resource, "r", "metadata", "name", NULL);
    assert_int_equal(
        sw_hooks_apply(doc,
                       &(struct sw_hook_env){ .resource = resource, .ns = "r", .namespaced = true },
                       &err),
        0);
    return doc;
}

static const struct {
    const char *chart, *live;
    bool kept;
} rows[] = {
    { POD(KERNEL, ""), POD(KERNEL, ""), true },
    /* what a server adds, and how it writes it */
    { POD(KERNEL, ", resources: {limits: {cpu: 1000m}}, env: [{name: e, value: ''}]"),
      POD("dnsPolicy: ClusterFirst, " KERNEL,
          ", resources: {limits: {cpu: '1'}}, env: [{name: e}], terminationMessagePath: /x"),
      true },
    /* an affinity that says the same */
    { POD(KERNEL, ""),
      POD("affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
          "{nodeSelectorTerms: [{matchExpressions: [{key: feature.node.kubernetes.io/kernel, "
          "operator: In, values: ['5']}, {key: role, operator: In, values: ['']}]}]}}}, ",
          ""),
      true },
    { POD(KERNEL "affinity: {podAntiAffinity: {a: b}}, ", ""),
      POD(KERNEL "affinity: {podAntiAffinity: {a: b}}, ", ""), true },
    /* other nodes */
    { POD(KERNEL, ""), POD("nodeSelector: {role: ''}, ", ""), false },
    { POD(KERNEL, ""), POD("", ""), false },
    { POD(KERNEL, ""),
      POD("nodeSelector: {role: '', feature.node.kubernetes.io/kernel: '4'}, ", ""), false },
    /* the pods are replaced anyway */
    { POD(KERNEL, ", command: [new]"), POD(KERNEL, ""), false },
    { POD(KERNEL, ", args: [a]"), POD(KERNEL, ", args: [a, b]"), false },
    { POD(KERNEL, ", args: [a]"), POD(KERNEL, ""), false },
    /* the grace period has no part in it */
    { POD("nodeSelector: {role: ''}, ", ""), POD("nodeSelector: {role: ''}, ", ""), false },
};

static void template_is_kept_where_it_means_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO_JSON *ours = rendered(rows[i].chart);
        SW_AUTO_JSON *live = doc_of(rows[i].live);
        sw_json_set_str(live, "true", "spec", "template", "metadata", "labels", SW_OWNED_LABEL,
                        NULL);
        SW_AUTO_JSON *kept = sw_grace_period_keep(ours, live, NULL);
        if ((kept != NULL) != rows[i].kept)
            fail_msg("row %zu: %s with %s", i, rows[i].chart, rows[i].live);
        if (!kept)
            continue;
        struct json_object *spec = sw_json_find(kept, "spec", "template", "spec", NULL);
        struct json_object *live_spec = sw_json_find(live, "spec", "template", "spec", NULL);
        assert_true(json_object_equal(sw_json_get(spec, "nodeSelector"),
                                      sw_json_get(live_spec, "nodeSelector")));
        assert_true(
            json_object_equal(sw_json_get(spec, "affinity"), sw_json_get(live_spec, "affinity")));
    }
}

static void what_has_the_grace_period_is_left_as_rendered(void **state)
{
    (void)state;
    SW_AUTO_JSON *ours = rendered(POD(KERNEL, ""));
    assert_null(sw_grace_period_keep(ours, ours, NULL));
    assert_null(sw_grace_period_keep(ours, NULL, NULL));
}

static void nodes_are_asked_for_as_before_without_the_grace_period_too(void **state)
{
    (void)state;
    SW_AUTO_JSON *live = rendered(POD(KERNEL, ""));
    SW_AUTO_JSON *ours = doc_of(POD(KERNEL, ""));
    SW_AUTO_JSON *other = doc_of(POD(KERNEL, ", command: [new]"));
    SW_AUTO_JSON *kept = sw_grace_period_keep(ours, live, NULL);
    assert_true(json_object_equal(
        sw_json_find(kept, "spec", "template", "spec", SW_REQUIRED_AFFINITY, NULL),
        sw_json_find(live, "spec", "template", "spec", SW_REQUIRED_AFFINITY, NULL)));
    assert_null(sw_grace_period_keep(other, live, NULL));
}

#define KERNEL_KEY "feature.node.kubernetes.io/kernel-version.full"
#define OF_KERNEL(more) "nodeSelector: {role: '', " KERNEL_KEY ": '6.1'" more "}, "

static void add_node(struct sw_node_set *nodes, const char *name, const char *kernel,
                     const char *arch)
{
    const char *labels[] = { KERNEL_KEY, kernel, "kubernetes.io/arch", arch };
    (void)sw_node_set_put(
        nodes, &(struct sw_node_set_facts){ .name = name, .labels = labels, .n_labels = 2 }, NULL);
}

/* As SRO left a driver of a kernel whose name does not tell the machine. */
static void architecture_alone_replaces_no_pod(void **state)
{
    (void)state;
    struct sw_node_set *nodes = sw_node_set_new();
    SW_AUTO_JSON *ours = doc_of(POD(OF_KERNEL(", kubernetes.io/arch: amd64"), ""));
    SW_AUTO_JSON *graced = rendered(POD(OF_KERNEL(", kubernetes.io/arch: amd64"), ""));
    SW_AUTO_JSON *live = doc_of(POD(OF_KERNEL(""), ""));
    sw_json_set_str(live, "true", "spec", "template", "metadata", "labels", SW_OWNED_LABEL, NULL);
    struct json_object *both[] = { ours, graced };
    add_node(nodes, "a", "6.1", "amd64");
    add_node(nodes, "b", "5.4", "arm64");
    assert_null(sw_grace_period_keep(ours, live, nodes)); /* the recipe asks for it */
    for (size_t i = 0; i < SW_COUNT(both); i++) {
        sw_json_set_str(both[i], "true", "metadata", "annotations", SW_KERNEL_AFFINE, NULL);
        SW_AUTO_JSON *kept = sw_grace_period_keep(both[i], live, nodes);
        struct json_object *spec = sw_json_find(kept, "spec", "template", "spec", NULL);
        assert_true(json_object_equal(
            sw_json_get(spec, "nodeSelector"),
            sw_json_find(live, "spec", "template", "spec", "nodeSelector", NULL)));
        assert_null(sw_json_get(spec, "affinity"));
    }
    SW_AUTO_JSON *other = doc_of(POD(OF_KERNEL(", kubernetes.io/arch: amd64"), ", command: [n]"));
    sw_json_set_str(other, "true", "metadata", "annotations", SW_KERNEL_AFFINE, NULL);
    assert_null(sw_grace_period_keep(other, live, nodes)); /* the pods are replaced anyway */
    add_node(nodes, "c", "6.1", "arm64");                  /* it is for one of two machines now */
    assert_null(sw_grace_period_keep(ours, live, nodes));
    sw_node_set_free(nodes);
}

static void label_of_a_jobs_pods_is_left_out_where_sro_made_it(void **state)
{
    (void)state;
    SW_AUTO_JSON *ours = doc_of("{template: {metadata: {labels: {a: b, "
                                "specialresource.openshift.io/owned: 'true'}}}}");
    SW_AUTO_JSON *of_sro = doc_of("{template: {metadata: {labels: {a: b, job-name: x}}}}");
    SW_AUTO_JSON *kept = sw_job_keep(ours, of_sro);
    struct json_object *labels = sw_json_find(kept, "spec", "template", "metadata", "labels", NULL);
    assert_int_equal(sw_json_len(labels), 1);
    assert_string_equal(sw_json_str(labels, "", "a", NULL), "b");
    assert_null(sw_job_keep(ours, ours)); /* slipway's own */
    assert_null(sw_job_keep(of_sro, of_sro));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(template_is_kept_where_it_means_the_same),
        cmocka_unit_test(what_has_the_grace_period_is_left_as_rendered),
        cmocka_unit_test(nodes_are_asked_for_as_before_without_the_grace_period_too),
        cmocka_unit_test(architecture_alone_replaces_no_pod),
        cmocka_unit_test(label_of_a_jobs_pods_is_left_out_where_sro_made_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
