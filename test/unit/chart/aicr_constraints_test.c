/* AICR's constraints: expressions, snapshots, outcomes. */
#include "chart/aicr/constraints.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "data/data.h"
#include "data/yaml/yaml.h"

static struct json_object *yaml(const char *text)
{
    struct json_object *doc = NULL;
    SW_ERR(err);
    if (sw_yaml_parse(text, strlen(text), NULL, &doc, &err) < 0)
        fail_msg("%s: %s", text, sw_err_text(&err));
    return doc;
}

static void values_are_compared_as_aicr_does(void **state)
{
    (void)state;
    static const struct {
        const char *expression, *found;
        int want; /* 1: met, 0: not, -1: refused */
    } rows[] = {
        { ">= 1.32.4", "v1.32.4-eks-1", 1 },
        { ">= 1.32.4", "v1.32.3", 0 },
        { ">= 1.34", "v1.34.0", 1 },
        { ">= 1.34", "v1.33.9", 0 },
        { "> 1.34", "1.34.2", 0 }, /* to the precision of the one that has less */
        { "<= 1.34", "1.34.2", 1 },
        { "< 2", "1.99", 1 },
        { ">=6.8", "6.8.0-1028-aws", 1 },
        { "ubuntu", "ubuntu", 1 },
        { "ubuntu", "Ubuntu", 0 },
        { "24.04", "24.04", 1 },
        { "24.04", "24.4", 0 }, /* without an operator it is the text */
        { "== 24.04", "24.4.0", 1 },
        { "!= 24.04", "24.4", 0 },
        { "!= rhel", "ubuntu", 1 },
        { ">= 1.x", "1.2", -1 },
        { ">= 1.2", "unknown", -1 },
        { ">=", "1", -1 },
        { "", "1", -1 },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        bool met = false;
        SW_ERR(err);
        const int rc = sw_aicr_is_met(rows[i].expression, rows[i].found, &met, &err);
        if (rc < 0 ? rows[i].want != -1 : met != (rows[i].want == 1) || rows[i].want < 0)
            fail_msg("%s of %s: %d, %d", rows[i].expression, rows[i].found, rc, met);
    }
}

static void a_snapshot_is_of_a_cluster_and_a_node(void **state)
{
    (void)state;
    static const char text[] =
        "metadata: {source-node: gpu-1}\n"
        "measurements:\n"
        "- {type: K8s, subtypes: [{subtype: server, data: {version: v1.33.0}}]}\n"
        "- {type: OS, subtypes: [{subtype: release, data: {ID: ubuntu, VERSION_ID: '24.04'}}, "
        "{subtype: sysctl, data: {/proc/sys/kernel/osrelease: 6.8.0}}]}\n"
        "- {type: GPU, subtypes: [{subtype: smi, data: {gpu-count: 8}}]}\n";
    SW_AUTO_JSON *facts = NULL, *none = NULL;
    SW_ERR(err);
    assert_int_equal(sw_aicr_snapshot_read("s", text, strlen(text), &facts, &err), 0);
    struct json_object *node = sw_json_at(sw_json_get(facts, "nodes"), 0);
    assert_string_equal(sw_json_str(facts, "", "cluster", "K8s.server.version", NULL), "v1.33.0");
    assert_string_equal(sw_json_str(node, "", "name", NULL), "gpu-1");
    assert_string_equal(sw_json_str(node, "", "facts", "OS.release.VERSION_ID", NULL), "24.04");
    assert_string_equal(
        sw_json_str(node, "", "facts", "OS.sysctl./proc/sys/kernel/osrelease", NULL), "6.8.0");
    assert_string_equal(sw_json_str(node, "", "facts", "GPU.smi.gpu-count", NULL), "8");
    assert_int_equal(sw_aicr_snapshot_read("s", "a: b", 4, &none, &err), SW_INVALID);
    assert_string_equal(sw_err_text(&err), "s is no snapshot: it has no list measurements");
}

static void an_outcome_names_value_nodes_and_remedy(void **state)
{
    (void)state;
    SW_AUTO_JSON *facts = yaml(
        "{cluster: {K8s.server.version: v1.30.0}, nodes: [{name: a, facts: {OS.release.ID: rhel}}, "
        "{name: b, facts: {OS.release.ID: ubuntu}}, {name: c, facts: {OS.release.ID: rhel}}]}");
    SW_AUTO_JSON *constraints = yaml(
        "[{name: K8s.server.version, value: '>= 1.30'}, "
        "{name: OS.release.ID, value: ubuntu, remediation: use another image}, "
        "{name: OS.release.ID, value: ubuntu, severity: warning}, "
        "{name: GPU.smi.driver-version, value: '>= 570'}, {name: K8s.server.version, value: '> "
        "x'}]");
    static const struct {
        const char *text;
        bool stops;
    } want[] = {
        { "K8s.server.version is as asked for (>= 1.30)", false },
        { "OS.release.ID is rhel on a, c, ubuntu is asked for: use another image", true },
        { "OS.release.ID is rhel on a, c, ubuntu is asked for", false },
        { "GPU.smi.driver-version is not known (>= 570 is asked for)", false },
        { "K8s.server.version: 'x' is no version", true },
    };
    SW_AUTO_JSON *outcomes = sw_aicr_constraints_check(constraints, facts);
    assert_int_equal(sw_json_len(outcomes), SW_COUNT(want));
    for (size_t i = 0; i < SW_COUNT(want); i++) {
        SW_AUTO_CHARS *text = sw_aicr_outcome_text(sw_json_at(outcomes, i));
        assert_string_equal(text, want[i].text);
        assert_int_equal(sw_aicr_outcome_stops(sw_json_at(outcomes, i)), want[i].stops);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_compared_as_aicr_does),
        cmocka_unit_test(a_snapshot_is_of_a_cluster_and_a_node),
        cmocka_unit_test(an_outcome_names_value_nodes_and_remedy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
