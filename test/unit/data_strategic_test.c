/* Strategic merge patch: lists of the core kinds merge by their key, as a real API server does. */
#include "data/merge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "data/json.h"
#include "data/yaml.h"

static struct json_object *parse(const char *text)
{
    struct json_object *doc = NULL;
    SW_ERR(err);
    if (sw_yaml_parse(text, strlen(text), NULL, &doc, &err) < 0)
        fail_msg("%s: %s", text, sw_err_text(&err));
    return doc;
}

static void merges(const char *kind, const char *target, const char *patch, const char *want)
{
    SW_AUTO_JSON *t = parse(target), *p = parse(patch), *w = parse(want), *got = NULL;
    SW_ERR(err);
    if (sw_strategic_apply(t, p, kind, &got, &err) < 0)
        fail_msg("%s: %s", patch, sw_err_text(&err));
    if (!sw_json_equal(got, w))
        fail_msg("%s: want %s, got %s", patch, want, json_object_to_json_string(got));
}

static void containers_merge_by_name_and_others_stay(void **state)
{
    (void)state;
    merges("Pod", "spec: {containers: [{name: a, image: x, args: [1]}, {name: b, image: y}]}",
           "spec: {containers: [{name: b, image: z}, {name: c, image: w}]}",
           "spec: {containers: [{name: a, image: x, args: [1]}, {name: b, image: z}, {name: c, "
           "image: w}]}");
}

static void env_merges_inside_containers_and_args_are_replaced(void **state)
{
    (void)state;
    merges("Deployment",
           "spec: {template: {spec: {initContainers: [{name: a, args: [1, 2], env: [{name: X, "
           "value: '1'}]}]}}}",
           "spec: {template: {spec: {initContainers: [{name: a, args: [3], env: [{name: Y, value: "
           "'2'}]}]}}}",
           "spec: {template: {spec: {initContainers: [{name: a, args: [3], env: [{name: X, value: "
           "'1'}, {name: Y, value: '2'}]}]}}}");
}

static void ports_have_another_key_in_a_service(void **state)
{
    (void)state;
    merges("Service", "spec: {ports: [{port: 80, targetPort: 1}, {port: 443}]}",
           "spec: {ports: [{port: 80, targetPort: 2}]}",
           "spec: {ports: [{port: 80, targetPort: 2}, {port: 443}]}");
}

static void tolerations_are_atomic(void **state)
{
    (void)state;
    merges("Pod", "spec: {tolerations: [{key: a}, {key: b}]}", "spec: {tolerations: [{key: c}]}",
           "spec: {tolerations: [{key: c}]}");
}

static void finalizers_are_a_set(void **state)
{
    (void)state;
    merges("Pod", "metadata: {finalizers: [a, b]}", "metadata: {finalizers: [b, c]}",
           "metadata: {finalizers: [a, b, c]}");
    merges("Pod", "metadata: {finalizers: [a, b, c]}",
           "metadata: {'$deleteFromPrimitiveList/finalizers': [b]}",
           "metadata: {finalizers: [a, c]}");
}

static void directives_delete_and_replace(void **state)
{
    (void)state;
    merges("Pod", "spec: {containers: [{name: a}, {name: b}]}",
           "spec: {containers: [{name: a, $patch: delete}]}", "spec: {containers: [{name: b}]}");
    merges("Pod", "spec: {containers: [{name: a}, {name: b}]}",
           "spec: {containers: [{$patch: replace}, {name: c}]}", "spec: {containers: [{name: c}]}");
    merges("Pod", "spec: {nodeSelector: {a: b}}", "spec: {nodeSelector: {$patch: replace, c: d}}",
           "spec: {nodeSelector: {c: d}}");
    merges("Pod", "spec: {nodeSelector: {a: b}}", "spec: {nodeSelector: null}", "spec: {}");
}

static void retained_keys_are_all_that_stays(void **state)
{
    (void)state;
    merges("Deployment", "spec: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}}",
           "spec: {strategy: {$retainKeys: [type], type: Recreate}}",
           "spec: {strategy: {type: Recreate}}");
}

static void elements_stand_in_the_order_asked_for(void **state)
{
    (void)state;
    merges("Pod", "spec: {containers: [{name: a}, {name: b}, {name: c}]}",
           "spec: {$setElementOrder/containers: [{name: c}, {name: d}, {name: a}], containers: "
           "[{name: d}]}",
           "spec: {containers: [{name: c}, {name: d}, {name: a}, {name: b}]}");
}

static void an_element_without_its_key_is_named(void **state)
{
    (void)state;
    SW_AUTO_JSON *t = parse("{}"), *p = parse("spec: {containers: [{name: a}, {image: x}]}");
    struct json_object *got = NULL;
    SW_ERR(err);
    assert_int_equal(sw_strategic_apply(t, p, "Pod", &got, &err), SW_INVALID);
    assert_string_equal(err.text, "spec.containers[1]: no merge key 'name'");
}

static void only_built_in_groups_have_it(void **state)
{
    (void)state;
    assert_true(sw_strategic_knows("v1", "Pod"));
    assert_true(sw_strategic_knows("rbac.authorization.k8s.io/v1", "Role"));
    assert_false(sw_strategic_knows("nvidia.com/v1", "ClusterPolicy"));
    assert_false(sw_strategic_knows("nfd.k8s-sigs.io/v1alpha1", "NodeFeature"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(containers_merge_by_name_and_others_stay),
        cmocka_unit_test(env_merges_inside_containers_and_args_are_replaced),
        cmocka_unit_test(ports_have_another_key_in_a_service),
        cmocka_unit_test(tolerations_are_atomic),
        cmocka_unit_test(finalizers_are_a_set),
        cmocka_unit_test(directives_delete_and_replace),
        cmocka_unit_test(retained_keys_are_all_that_stays),
        cmocka_unit_test(elements_stand_in_the_order_asked_for),
        cmocka_unit_test(an_element_without_its_key_is_named),
        cmocka_unit_test(only_built_in_groups_have_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
