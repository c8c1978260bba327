/* The nodes as engines see them: numbers that stay, labels, and which nodes a pod may run on. */
#include "operator/engine/nodes/node_set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "base/base.h"

static uint32_t put(struct sw_node_set *r, const char *name, const char *const *labels,
                    size_t n_labels, uint64_t version, bool *changed)
{
    return sw_node_set_put(r,
                           &(struct sw_node_set_facts){ .name = name,
                                                        .group = "5.14",
                                                        .labels = labels,
                                                        .n_labels = n_labels,
                                                        .ready = true,
                                                        .version = version },
                           changed);
}

static const char *const gpu[] = { "gpu", "yes", "zone", "a", "count", "7" };

static void a_node_keeps_its_number(void **state)
{
    (void)state;
    struct sw_node_set *r = sw_node_set_new();
    uint32_t a = put(r, "a", gpu, 3, 1, NULL), b = put(r, "b", gpu, 1, 1, NULL);
    assert_int_not_equal(a, b);
    assert_int_equal(put(r, "a", gpu, 2, 2, NULL), a);
    assert_string_equal(sw_node_set_label(r, a, "zone"), "a");
    assert_null(sw_node_set_label(r, a, "count"));
    assert_null(sw_node_set_label(r, b, "zone"));
    assert_string_equal(sw_node_set_group(r, b), "5.14");
    assert_int_equal(sw_node_set_count(r), 2);
    sw_node_set_free(r);
}

static void extended_resources_are_found_by_name_or_domain(void **state)
{
    (void)state;
    struct sw_node_set *r = sw_node_set_new();
    struct sw_node_set_facts facts = { .name = "a", .resources = "a.b/c gpu.x/i9 gpu.x/xe" };
    bool changed;
    uint32_t a = sw_node_set_put(r, &facts, NULL);
    static const struct {
        const char *name;
        bool is_there;
    } rows[] = { { "a.b/c", true },    { "gpu.x/xe", true }, { "gpu.x/*", true },
                 { "gpu.x/i", false }, { "gpu/*", false },   { "b/c", false },
                 { "a.b/*", true },    { "", false },        { "*", false } };
    for (size_t i = 0; i < SW_COUNT(rows); i++)
        assert_int_equal(sw_node_set_has_resource(r, a, rows[i].name), rows[i].is_there);
    (void)sw_node_set_put(r, &facts, &changed);
    assert_false(changed);
    facts.resources = NULL;
    (void)sw_node_set_put(r, &facts, &changed);
    assert_true(changed);
    assert_false(sw_node_set_has_resource(r, a, "a.b/c"));
    sw_node_set_free(r);
}

static void what_is_older_is_ignored(void **state)
{
    (void)state;
    struct sw_node_set *r = sw_node_set_new();
    bool changed;
    uint32_t a = put(r, "a", gpu, 3, 7, &changed);
    assert_true(changed);
    (void)put(r, "a", gpu, 1, 6, &changed);
    assert_false(changed);
    assert_non_null(sw_node_set_label(r, a, "zone"));
    (void)put(r, "a", gpu, 3, 8, &changed);
    assert_false(changed); /* newer, and the same */
    struct json_object *labels = json_tokener_parse("{\"gpu\":\"no\",\"new\":\"1\"}");
    assert_false(sw_node_set_put_labels(r, a, labels, 7));
    assert_true(sw_node_set_put_labels(r, a, labels, 9));
    assert_string_equal(sw_node_set_label(r, a, "gpu"), "no");
    assert_null(sw_node_set_label(r, a, "zone"));
    (void)put(r, "a", gpu, 3, 8, &changed);
    assert_string_equal(sw_node_set_label(r, a, "gpu"), "no");
    json_object_put(labels);
    sw_node_set_free(r);
}

static void what_an_answer_brought_is_told_by_the_next_put(void **state)
{
    (void)state;
    struct sw_node_set *r = sw_node_set_new();
    static const char *const after[] = { "gpu", "yes", "nfd", "1" };
    static const char *const own[] = {
        "gpu", "yes", "nfd", "1", "specialresource.openshift.io/state-r-a", "Ready"
    };
    bool changed;
    uint32_t a = put(r, "a", gpu, 1, 1, NULL);
    struct json_object *labels = json_tokener_parse("{\"gpu\":\"yes\",\"nfd\":\"1\"}");
    assert_true(sw_node_set_put_labels(r, a, labels, 2));
    (void)put(r, "a", after, 2, 2, &changed);
    assert_true(changed);
    (void)put(r, "a", after, 2, 2, &changed);
    assert_false(changed);
    json_object_object_add(labels, own[4], json_object_new_string("Ready"));
    assert_true(sw_node_set_put_labels(r, a, labels, 3));
    (void)put(r, "a", own, 3, 3, &changed);
    assert_false(changed); /* the engine that set it knows */
    json_object_put(labels);
    sw_node_set_free(r);
}

static uint32_t boot(struct sw_node_set *r, const char *boot_id, uint64_t version, bool *changed)
{
    return sw_node_set_put(
        r, &(struct sw_node_set_facts){ .name = "a", .boot_id = boot_id, .version = version },
        changed);
}

static void another_boot_id_is_a_reboot_and_told_once(void **state)
{
    (void)state;
    struct sw_node_set *r = sw_node_set_new();
    bool changed;
    uint32_t a = boot(r, "b1", 1, &changed);
    assert_false(sw_node_set_has_rebooted(r, a)); /* new */
    boot(r, "b1", 2, &changed);
    assert_false(changed || sw_node_set_has_rebooted(r, a));
    boot(r, "", 3, &changed); /* it does not say */
    assert_false(changed || sw_node_set_has_rebooted(r, a));
    boot(r, "b0", 2, &changed); /* older than what is known */
    assert_false(changed || sw_node_set_has_rebooted(r, a));
    boot(r, "b2", 4, &changed);
    assert_true(changed && sw_node_set_has_rebooted(r, a));
    boot(r, "b2", 5, &changed);
    assert_false(changed || sw_node_set_has_rebooted(r, a));
    sw_node_set_free(r);
}

/* More keys than one piece has, and each node's in another order. */
static void labels_are_found_however_many_and_in_any_order(void **state)
{
    (void)state;
    enum { NODES = 50, KEYS = 90 };
    struct sw_node_set *r = sw_node_set_new();
    char texts[2 * KEYS][16];
    const char *labels[2 * KEYS];
    bool changed;
    for (int n = 0; n < NODES; n++) {
        SW_AUTO_CHARS *name = sw_printf("n%d", n);
        for (int i = 0; i < KEYS; i++) {
            int key = (i * 37 + n) % KEYS;
            (void)snprintf(texts[2 * i], sizeof *texts, "k%d", key);
            (void)snprintf(texts[2 * i + 1], sizeof *texts, "v%d", key % 10 ? 0 : n);
            labels[2 * i] = texts[2 * i];
            labels[2 * i + 1] = texts[2 * i + 1];
        }
        uint32_t node = put(r, name, labels, KEYS, 1, NULL);
        (void)put(r, name, labels, KEYS, 2, &changed);
        assert_false(changed);
        for (int i = 0; i < KEYS; i++)
            assert_string_equal(sw_node_set_label(r, node, texts[2 * i]), texts[2 * i + 1]);
        (void)put(r, name, labels, KEYS - 1, 3, &changed);
        assert_true(changed);
        assert_null(sw_node_set_label(r, node, texts[2 * (KEYS - 1)]));
        (void)put(r, name, labels, KEYS, 4, &changed);
        assert_true(changed);
    }
    for (int n = 0; n < NODES; n++) { /* what others share stays theirs */
        SW_AUTO_CHARS *name = sw_printf("n%d", n), *own = sw_printf("v%d", n);
        assert_string_equal(sw_node_set_label(r, sw_node_set_find(r, name), "k30"), own);
        assert_string_equal(sw_node_set_label(r, sw_node_set_find(r, name), "k31"), "v0");
        (void)sw_node_set_remove(r, name);
    }
    assert_int_equal(sw_node_set_text(r, "k31"), UINT32_MAX); /* nobody holds it any more */
    sw_node_set_free(r);
}

static void a_removed_node_is_nobody(void **state)
{
    (void)state;
    struct sw_node_set *r = sw_node_set_new();
    uint32_t a = put(r, "a", gpu, 3, 1, NULL);
    (void)put(r, "b", gpu, 3, 1, NULL);
    assert_int_equal(sw_node_set_remove(r, "a"), a);
    assert_int_equal(sw_node_set_remove(r, "a"), SW_NO_NODE);
    assert_null(sw_node_set_name(r, a));
    assert_null(sw_node_set_label(r, a, "gpu"));
    assert_false(sw_node_set_matches(r, a, NULL));
    assert_int_equal(sw_node_set_find(r, "a"), SW_NO_NODE);
    assert_int_equal(put(r, "c", gpu, 1, 1, NULL), a); /* the number is used again */
    sw_node_set_free(r);
}

/* ---- where a pod may run -----------------------------------------------------------------------
 */

static const struct place {
    const char *pod_spec;
    bool fits;
} places[] = {
    { "{}", true },
    { "{'nodeSelector':{'gpu':'yes'}}", true },
    { "{'nodeSelector':{'gpu':'no'}}", false },
    { "{'nodeSelector':{'gpu':'yes','missing':''}}", false },
#define AFFINITY(terms)                                                                            \
    "{'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':"               \
    "{'nodeSelectorTerms':[" terms "]}}}}"
    { AFFINITY("{'matchExpressions':[{'key':'zone','operator':'In','values':['b','a']}]}"), true },
    { AFFINITY("{'matchExpressions':[{'key':'zone','operator':'NotIn','values':['a']}]}"), false },
    { AFFINITY("{'matchExpressions':[{'key':'none','operator':'NotIn','values':['a']}]}"), true },
    { AFFINITY("{'matchExpressions':[{'key':'zone','operator':'Exists'}]}"), true },
    { AFFINITY("{'matchExpressions':[{'key':'zone','operator':'DoesNotExist'}]}"), false },
    { AFFINITY("{'matchExpressions':[{'key':'count','operator':'Gt','values':['6']}]}"), true },
    { AFFINITY("{'matchExpressions':[{'key':'count','operator':'Lt','values':['7']}]}"), false },
    { AFFINITY("{'matchExpressions':[{'key':'zone','operator':'Gt','values':['6']}]}"), false },
    { AFFINITY("{'matchFields':[{'key':'metadata.name','operator':'In','values':['n']}]}"), true },
    { AFFINITY("{'matchFields':[{'key':'metadata.name','operator':'In','values':['m']}]}"), false },
    { AFFINITY("{}"), false },
    { AFFINITY(""), false },
    { AFFINITY("{'matchExpressions':[{'key':'zone','operator':'In','values':['x']}]},"
               "{'matchExpressions':[{'key':'gpu','operator':'Exists'}]}"),
      true },
    { AFFINITY("{'matchExpressions':[{'key':'zone','operator':'Near','values':['a']}]}"), false },
};

static struct json_object *parse(const char *text)
{
    SW_AUTO_CHARS *json = sw_strdup(text);
    for (char *c = json; *c; c++)
        if (*c == '\'')
            *c = '"';
    struct json_object *doc = json_tokener_parse(json);
    assert_non_null(doc);
    return doc;
}

static void pods_go_where_selector_and_affinity_allow(void **state)
{
    (void)state;
    struct sw_node_set *r = sw_node_set_new();
    uint32_t n = put(r, "n", gpu, 3, 1, NULL);
    for (size_t i = 0; i < SW_COUNT(places); i++) {
        struct json_object *spec = parse(places[i].pod_spec);
        if (sw_node_affinity_takes_pod(r, n, spec) != places[i].fits)
            fail_msg("%s", places[i].pod_spec);
        json_object_put(spec);
    }
    sw_node_set_free(r);
}

static const struct taint_case {
    struct sw_taint taint;
    const char *tolerations;
    bool tainted;
} taints[] = {
    { { "gpu", "x", "NoSchedule", "" }, "[]", true },
    { { "gpu", "x", "NoExecute", "" }, "[]", true },
    { { "gpu", "x", "PreferNoSchedule", "" }, "[]", false },
    { { "node.kubernetes.io/unschedulable", "", "NoSchedule", "" }, "[]", false },
    { { "node.kubernetes.io/not-ready", "", "NoExecute", "" }, "[]", false },
    { { "gpu", "x", "NoSchedule", "" }, "[{'key':'gpu','value':'x'}]", false },
    { { "gpu", "x", "NoSchedule", "" }, "[{'key':'gpu','value':'y'}]", true },
    { { "gpu", "x", "NoSchedule", "" }, "[{'key':'gpu','operator':'Exists'}]", false },
    { { "gpu", "x", "NoSchedule", "" },
      "[{'key':'gpu','operator':'Exists','effect':'NoExecute'}]",
      true },
    { { "gpu", "x", "NoSchedule", "" }, "[{'operator':'Exists'}]", false },
    { { "gpu", "x", "NoSchedule", "" }, "[{'key':'','value':'x'}]", true },
};

static void taints_keep_away_unless_tolerated(void **state)
{
    (void)state;
    for (size_t i = 0; i < SW_COUNT(taints); i++) {
        struct sw_node_set *r = sw_node_set_new();
        uint32_t n = sw_node_set_put(
            r,
            &(struct sw_node_set_facts){ .name = "n", .taints = &taints[i].taint, .n_taints = 1 },
            NULL);
        struct json_object *tolerations = parse(taints[i].tolerations);
        if (sw_node_set_is_tainted(r, n, tolerations) != taints[i].tainted)
            fail_msg("%s with %s", taints[i].taint.key, taints[i].tolerations);
        json_object_put(tolerations);
        sw_node_set_free(r);
    }
}

/* Those of nodes that it selects, each once; none that it tolerates, or that keeps nobody away. */
static void taints_that_keep_a_pod_away_are_named(void **state)
{
    (void)state;
    static const struct sw_taint pressure = { "node.kubernetes.io/memory-pressure", "",
                                              "NoSchedule", "" },
                                 owner = { "owner", "x", "NoExecute", "" },
                                 rather = { "rather", "", "PreferNoSchedule", "" };
    const struct {
        const char *name;
        const struct sw_taint *taint;
        size_t n_labels;
    } nodes[] = { { "a", &pressure, 3 },
                  { "b", &pressure, 3 },
                  { "c", &owner, 3 },
                  { "d", &rather, 3 },
                  { "e", &owner, 0 } };
    struct sw_node_set *r = sw_node_set_new();
    for (size_t i = 0; i < SW_COUNT(nodes); i++)
        (void)sw_node_set_put(r,
                              &(struct sw_node_set_facts){ .name = nodes[i].name,
                                                           .labels = gpu,
                                                           .n_labels = nodes[i].n_labels,
                                                           .taints = nodes[i].taint,
                                                           .n_taints = 1 },
                              NULL);
    const struct {
        const char *pod, *want;
    } cases[] = {
        { "{'nodeSelector':{'gpu':'yes'}}", "{node.kubernetes.io/memory-pressure: }, {owner: x}" },
        { "{'nodeSelector':{'gpu':'yes'},'tolerations':[{'key':'owner','operator':'Exists'}]}",
          "{node.kubernetes.io/memory-pressure: }" },
        { "{'nodeSelector':{'gpu':'yes'},'tolerations':[{'operator':'Exists'}]}", NULL },
        { "{'nodeSelector':{'gpu':'no'}}", NULL },
    };
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        struct json_object *spec = parse(cases[i].pod);
        SW_AUTO(sw_placement) *placement = sw_placement_new(spec);
        SW_AUTO_CHARS *got = sw_placement_taints(placement, r);
        if (!sw_streq(got, cases[i].want))
            fail_msg("%s: '%s'", cases[i].pod, got ? got : "");
        json_object_put(spec);
    }
    sw_node_set_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_keeps_its_number),
        cmocka_unit_test(extended_resources_are_found_by_name_or_domain),
        cmocka_unit_test(what_is_older_is_ignored),
        cmocka_unit_test(what_an_answer_brought_is_told_by_the_next_put),
        cmocka_unit_test(another_boot_id_is_a_reboot_and_told_once),
        cmocka_unit_test(labels_are_found_however_many_and_in_any_order),
        cmocka_unit_test(a_removed_node_is_nobody),
        cmocka_unit_test(pods_go_where_selector_and_affinity_allow),
        cmocka_unit_test(taints_keep_away_unless_tolerated),
        cmocka_unit_test(taints_that_keep_a_pod_away_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
