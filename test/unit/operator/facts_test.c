/* What nodes and cluster objects become: projections, groups by kernel, values under SRO's names.
 */
#include "operator/facts/facts.h"

#include "base/base.h"

#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct sw_node *node(const char *name, const char *kernel, const char *os_image,
                            const char *arch, const char *labels, const char *taints)
{
    SW_AUTO_CHARS *json = sw_printf(
        "{\"metadata\":{\"name\":\"%s\",\"labels\":%s},\"spec\":{\"taints\":%s},"
        "\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}],"
        "\"nodeInfo\":{\"kernelVersion\":\"%s\",\"osImage\":\"%s\",\"architecture\":\"%s\","
        "\"bootID\":\"b1\"}}}",
        name, labels, taints, kernel, os_image, arch);
    struct json_object *object = json_tokener_parse(json);
    assert_non_null(object);
    struct sw_node *n = sw_node_parse(object);
    json_object_put(object);
    assert_non_null(n);
    return n;
}

#define RHCOS "Red Hat Enterprise Linux CoreOS 410.84.202201251210-0 (Ootpa)"
#define K84 "4.18.0-305.45.1.el8_4.x86_64"
#define K86 "4.18.0-372.9.1.el8.x86_64"

static void system_is_known_from_the_image_text(void **state)
{
    (void)state;
    static const struct {
        const char *image, *major_minor, *major, *decimal;
    } cases[] = {
        { RHCOS, "rhel8.4", "rhel8", "8.4" },
        { "Red Hat Enterprise Linux CoreOS 414.92.202310210434-0 (Plow)", "rhel9.2", "rhel9",
          "9.2" },
        { "Red Hat Enterprise Linux CoreOS 9.6.20250523-0 (Plow)", "rhel9.6", "rhel9", "9.6" },
        { "Red Hat Enterprise Linux CoreOS 420.810.202401010000-0", "rhel8.10", "rhel8", "8.10" },
        { "Red Hat Enterprise Linux 8.6 (Ootpa)", "rhel8.6", "rhel8", "8.6" },
        { "Ubuntu 22.04.3 LTS", "ubuntu22.04", "ubuntu22", "22.04" },
        { "Debian GNU/Linux 12 (bookworm)", "debian12", "debian12", "12" },
        { "SUSE Linux Enterprise Server 15 SP4", "sles15.4", "sles15", "15.4" },
        { "Rocky Linux 9.3 (Blue Onyx)", "rocky9.3", "rocky9", "9.3" },
        { "Talos (v1.6.1)", "talos1.6", "talos1", "1.6" },
        { "Some Thing 7", "some7", "some7", "7" },
        { "", "", "", "" },
    };
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        struct sw_node *n = node("n", "k", cases[i].image, "amd64", "{}", "[]");
        assert_string_equal(n->os.major_minor, cases[i].major_minor);
        assert_string_equal(n->os.major, cases[i].major);
        assert_string_equal(n->os.decimal, cases[i].decimal);
        sw_node_free(n);
    }
}

static void labels_of_nfd_win_over_the_image_text(void **state)
{
    (void)state;
    struct sw_node *n = node(
        "n", "", "Something 1", "amd64",
        "{\"feature.node.kubernetes.io/kernel-version.full\":\"" K84 "\","
        "\"feature.node.kubernetes.io/system-os_release.ID\":\"rhcos\","
        "\"feature.node.kubernetes.io/system-os_release.OSTREE_VERSION\":\"410.84.2022-0\","
        "\"feature.node.kubernetes.io/system-os_release.RHEL_VERSION\":\"8.4\"}",
        "[]");
    assert_string_equal(n->kernel, K84);
    assert_string_equal(n->os.major_minor, "rhel8.4");
    assert_string_equal(n->os.build, "410.84.2022-0");
    sw_node_free(n);
}

static void kernel_that_the_kubelet_reports_wins_over_an_old_label(void **state)
{
    (void)state;
    struct sw_node *n = node("n", K86, "", "amd64", "{\"" SW_KERNEL_LABEL "\":\"" K84 "\"}", "[]");
    assert_string_equal(n->kernel, K86);
    sw_node_free(n);
}

static void patch_version_survives_short_kernels(void **state)
{
    (void)state;
    static const char *const cases[][2] = { { K84, "4.18.0-305" },
                                            { "5.15.0-91-generic", "5.15.0-91" },
                                            { "6.1.0", "6.1.0" },
                                            { "6", "6" },
                                            { "", "" },
                                            { "6.1-", "6.1-" } };
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        SW_AUTO_CHARS *got = sw_kernel_patch_version(cases[i][0]);
        assert_string_equal(got, cases[i][1]);
    }
}

static void a_kernel_is_labelled_as_node_feature_discovery_does(void **state)
{
    (void)state;
    static const char *const cases[][2] = { { K84, K84 },
                                            { "6.6.72+", "6.6.72" },
                                            { "5.4.0~rc1", "5.4.0_rc1" },
                                            { "+-+", "" },
                                            { "", "" } };
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        SW_AUTO_CHARS *got = sw_kernel_label(cases[i][0]);
        assert_string_equal(got, cases[i][1]);
    }
}

/* @node is taken. */
static bool put_node(struct sw_facts *f, struct sw_node *n)
{
    bool changed = sw_facts_put_node(f, n);
    sw_node_free(n);
    return changed;
}

static void groups_come_and_go_with_their_nodes(void **state)
{
    (void)state;
    struct sw_facts *f = sw_facts_new();
    assert_true(put_node(f, node("a", K84, RHCOS, "amd64", "{}", "[]")));
    assert_false(put_node(f, node("a", K84, RHCOS, "amd64", "{\"x\":\"y\"}", "[]")));
    assert_false(put_node(f, node("b", K84, RHCOS, "amd64", "{}", "[]")));
    assert_true(put_node(f, node("a", K86, RHCOS, "amd64", "{}", "[]")));
    assert_non_null(sw_facts_find_group(f, K84));
    assert_int_equal(sw_facts_find_group(f, K86)->n_nodes, 1);
    assert_false(sw_facts_remove_node(f, "c"));
    assert_true(sw_facts_remove_node(f, "b"));
    assert_null(sw_facts_find_group(f, K84));
    assert_true(put_node(f, node("a", "", "", "amd64", "{}", "[]")));
    assert_null(sw_facts_find_group(f, K86));
    sw_facts_free(f);
}

static void node_without_a_name_is_refused(void **state)
{
    (void)state;
    static const char *const cases[] = { "{}", "[]", "1", "{\"metadata\":{\"name\":1}}",
                                         "{\"metadata\":[]}" };
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        struct json_object *o = json_tokener_parse(cases[i]);
        assert_null(sw_node_parse(o));
        json_object_put(o);
    }
}

static void odd_fields_of_a_node_count_as_absent(void **state)
{
    (void)state;
    struct json_object *o = json_tokener_parse(
        "{\"metadata\":{\"name\":\"n\",\"labels\":{\"a\":1,\"b\":null}},\"spec\":{\"taints\":7},"
        "\"status\":{\"conditions\":[3,{}],\"nodeInfo\":[]}}");
    struct sw_node *n = sw_node_parse(o);
    assert_string_equal(sw_node_label(n, "a"), "1");
    assert_string_equal(sw_node_label(n, "b"), "");
    assert_false(n->ready);
    assert_string_equal(n->kernel, "");
    sw_node_free(n);
    json_object_put(o);
}

/* Two kernels on RHCOS, and one node whose kernel nobody knows. */
static struct sw_facts *cluster(void)
{
    struct sw_facts *f = sw_facts_new();
    put_node(f,
             node("w3", K86, "Red Hat Enterprise Linux CoreOS 411.86.2022-0", "amd64", "{}", "[]"));
    put_node(f, node("w2", K84, RHCOS, "amd64", "{}", "[]"));
    put_node(f, node("w1", K84, RHCOS, "amd64", "{}", "[]"));
    put_node(f, node("w0", "", "", "amd64", "{}", "[]"));
    return f;
}

static bool is_not(const char *name, void *arg)
{
    return strcmp(name, arg) != 0;
}

static void assert_selector(struct sw_facts *f, const struct sw_group *g, const char *want)
{
    struct json_object *selector = sw_facts_selector(f, g);
    assert_string_equal(json_object_to_json_string_ext(
                            selector, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE),
                        want);
    json_object_put(selector);
}

static void groups_follow_kernel_and_system_in_order(void **state)
{
    (void)state;
    struct sw_facts *f = cluster();
    struct sw_groups g;
    sw_facts_groups(f, NULL, NULL, &g);
    assert_int_equal(g.n, 2);
    assert_string_equal(g.items[0]->id, K84);
    assert_int_equal(g.items[0]->n_nodes, 2);
    assert_string_equal(g.items[1]->id, K86);
    assert_string_equal(g.items[1]->os.major_minor, "rhel8.6");
    assert_selector(f, g.items[0],
                    "{\"feature.node.kubernetes.io/kernel-version.full\":\"" K84 "\"}");
    sw_groups_done(&g);
    char w3[] = "w3";
    sw_facts_groups(f, is_not, w3, &g);
    assert_int_equal(g.n, 1);
    sw_groups_done(&g);
    sw_facts_free(f);
}

static void same_kernel_name_on_two_machines_is_two_groups(void **state)
{
    (void)state;
    struct sw_facts *f = sw_facts_new();
    put_node(f, node("a", "5.15.0-91-generic", "Ubuntu 22.04.3 LTS", "amd64", "{}", "[]"));
    put_node(f, node("b", "5.15.0-91-generic", "Ubuntu 22.04.3 LTS", "arm64", "{}", "[]"));
    put_node(f, node("c", "5.15.0-91-generic", "Ubuntu 20.04.6 LTS", "amd64",
                     "{\"feature.node.kubernetes.io/system-os_release.ID\":\"ubuntu\","
                     "\"feature.node.kubernetes.io/system-os_release.VERSION_ID\":\"20.04\"}",
                     "[]"));
    struct sw_groups g;
    sw_facts_groups(f, NULL, NULL, &g);
    assert_int_equal(g.n, 3);
    assert_string_equal(g.items[0]->id, "5.15.0-91-generic ubuntu20.04");
    assert_string_equal(g.items[1]->id, "5.15.0-91-generic ubuntu22.04");
    assert_string_equal(g.items[2]->id, "5.15.0-91-generic ubuntu22.04 arm64");
    assert_selector(f, g.items[0],
                    "{\"feature.node.kubernetes.io/kernel-version.full\":\"5.15.0-91-generic\","
                    "\"kubernetes.io/arch\":\"amd64\","
                    "\"feature.node.kubernetes.io/system-os_release.VERSION_ID\":\"20.04\"}");
    assert_string_not_equal(g.items[1]->suffix, g.items[2]->suffix);
    sw_groups_done(&g);
    sw_facts_free(f);
}

/* FNV-64a of "8.4-4.18.0-305.45.1.el8-4.x86-64", computed elsewhere. */
static void suffix_is_the_one_that_sro_gives(void **state)
{
    (void)state;
    SW_AUTO_CHARS *got = sw_group_suffix("8.4", K84, "amd64");
    assert_string_equal(got, "b657a71de7fad62f");
}

static struct json_object *at(struct json_object *o, const char *a, const char *b, const char *c)
{
    const char *path[] = { a, b, c };
    for (size_t i = 0; i < 3 && path[i]; i++)
        assert_true(json_object_object_get_ex(o, path[i], &o));
    return o;
}

static void assert_value(struct json_object *o, const char *a, const char *b, const char *c,
                         const char *want)
{
    struct json_object *v = at(o, a, b, c);
    assert_true(json_object_is_type(v, json_type_string));
    assert_string_equal(json_object_get_string(v), want);
}

static void put_source(struct sw_facts *f, size_t i, const char *json, bool changed)
{
    struct json_object *o = json ? json_tokener_parse(json) : NULL;
    assert_int_equal(sw_facts_put_source(f, i, o), changed);
    json_object_put(o);
}

static void values_carry_every_name_and_strings_only(void **state)
{
    (void)state;
    struct sw_facts *f = cluster();
    sw_facts_set_openshift(f, true);
    const char *version =
        "{\"status\":{\"history\":[{\"state\":\"Partial\",\"version\":\"4.11.0\"},"
        "{\"state\":\"Completed\",\"version\":\"4.10.3\"}]}}";
    put_source(f, 0, version, true);
    put_source(f, 0, version, false);
    put_source(f, 1,
               "{\"spec\":{\"httpProxy\":\"http://p\",\"noProxy\":\"x\",\"trustedCA\":{\"name\":"
               "\"ca\"}},\"status\":{\"noProxy\":\"x,.svc\"}}",
               true);
    put_source(f, 2, "{\"data\":{\"osImageURL\":\"quay.io/os\"}}", true);
    put_source(f, 3,
               "{\"status\":{\"tags\":[{\"tag\":\"latest\",\"items\":[{\"dockerImageReference\":"
               "\"dtk:new\"}]},{\"tag\":\"410.84.202201251210-0\",\"items\":[{"
               "\"dockerImageReference\":\"dtk:84\"}]}]}}",
               true);
    struct json_object *sr = json_tokener_parse("{\"metadata\":{\"name\":\"kmod\"}}");
    struct sw_groups g;
    sw_facts_groups(f, NULL, NULL, &g);
    struct json_object *v = sw_facts_values(
        f, &(struct sw_facts_ask){ .groups = &g, .resource = sr, .push_secret = "s" });
    assert_value(v, "kind", NULL, NULL, "Values");
    assert_value(v, "operatingSystemMajor", NULL, NULL, "rhel8");
    assert_value(v, "operatingSystemMajorMinor", NULL, NULL, "rhel8.4");
    assert_value(v, "operatingSystemDecimal", NULL, NULL, "8.4");
    assert_value(v, "kernelFullVersion", NULL, NULL, K84);
    assert_value(v, "kernelPatchVersion", NULL, NULL, "4.18.0-305");
    assert_value(v, "driverToolkitImage", NULL, NULL, "dtk:84");
    assert_value(v, "platform", NULL, NULL, "OCP");
    assert_value(v, "clusterVersion", NULL, NULL, "4.10.3");
    assert_value(v, "clusterVersionMajorMinor", NULL, NULL, "4.10");
    assert_value(v, "clusterUpgradeInfo", K86, "OSVersion", "8.6");
    assert_value(at(v, "clusterUpgradeInfo", K86, NULL), "driverToolkit", "imageURL", NULL,
                 "dtk:new");
    assert_value(v, "pushSecretName", NULL, NULL, "s");
    assert_value(v, "osImageURL", NULL, NULL, "quay.io/os");
    assert_value(v, "proxy", "httpProxy", NULL, "http://p");
    assert_value(v, "proxy", "NoProxy", NULL, "x,.svc");
    assert_value(v, "proxy", "trustedCA", NULL, "ca");
    assert_value(v, "groupName", "deviceFeatureDiscovery", NULL, "device-feature-discovery");
    assert_value(v, "specialresource", "metadata", "name", "kmod");
    json_object_put(v);
    v = sw_facts_values(f, &(struct sw_facts_ask){ .groups = &g, .group = g.items[1] });
    assert_value(v, "kernelFullVersion", NULL, NULL, K86);
    assert_value(v, "driverToolkitImage", NULL, NULL, "dtk:new");
    json_object_put(v);
    sw_groups_done(&g);
    json_object_put(sr);
    sw_facts_free(f);
}

static void older_image_of_a_tag_is_for_the_kernel_that_still_runs(void **state)
{
    (void)state;
    struct sw_facts *f = cluster();
    struct sw_groups g;
    const struct sw_toolkit old = { .kernel = K86, .rt_kernel = "", .os_version = "8.6" }, new = {
        .kernel = "5.14.0-70.el9.x86_64", .rt_kernel = "", .os_version = "9.0"
    };
    sw_facts_set_openshift(f, true);
    put_source(f, 3,
               "{\"status\":{\"tags\":[{\"tag\":\"latest\",\"items\":["
               "{\"dockerImageReference\":\"dtk:new\"},{\"dockerImageReference\":\"dtk:old\"}]}]}}",
               true);
    sw_facts_groups(f, NULL, NULL, &g);
    assert_string_equal(sw_facts_unknown_toolkit(f, &g), "dtk:new");
    (void)sw_facts_put_toolkit(f, "dtk:new", &new, NULL);
    assert_string_equal(sw_facts_unknown_toolkit(f, &g), "dtk:old");
    (void)sw_facts_put_toolkit(f, "dtk:old", &old, NULL);
    struct json_object *v = sw_facts_values(
        f, &(struct sw_facts_ask){ .groups = &g, .group = g.items[1] });
    assert_value(v, "kernelFullVersion", NULL, NULL, K86);
    assert_value(v, "driverToolkitImage", NULL, NULL, "dtk:old");
    json_object_put(v);
    sw_groups_done(&g);
    sw_facts_free(f);
}

/* As where SRO walks: its ImageStream is there, and nothing has been imported. */
static void an_image_stream_without_items_is_no_fault(void **state)
{
    (void)state;
    struct sw_facts *f = cluster();
    struct sw_groups g;
    sw_facts_set_openshift(f, true);
    put_source(f, 3, "{\"status\":{\"tags\":[{\"tag\":\"latest\",\"items\":null}]}}", false);
    sw_facts_groups(f, NULL, NULL, &g);
    assert_null(sw_facts_unknown_toolkit(f, &g));
    assert_null(sw_facts_lacks_toolkit(f, g.items[0]));
    put_source(f, 3,
               "{\"status\":{\"tags\":[{\"tag\":\"other\",\"items\":["
               "{\"dockerImageReference\":\"dtk:other\"}]}]}}",
               true);
    char *why = sw_facts_lacks_toolkit(f, g.items[0]);
    assert_non_null(strstr(why, "no driver toolkit is for kernel"));
    free(why);
    sw_groups_done(&g);
    sw_facts_free(f);
}

static void values_without_openshift_are_empty_not_an_error(void **state)
{
    (void)state;
    struct sw_facts *f = sw_facts_new();
    put_source(f, 0, NULL, false);
    put_source(f, 3, NULL, false);
    struct sw_groups g;
    sw_facts_groups(f, NULL, NULL, &g);
    struct json_object *v = sw_facts_values(f, &(struct sw_facts_ask){ .groups = &g });
    assert_value(v, "platform", NULL, NULL, "K8S");
    assert_value(v, "kernelFullVersion", NULL, NULL, "");
    assert_value(v, "driverToolkitImage", NULL, NULL, "");
    assert_int_equal(json_object_object_length(at(v, "clusterUpgradeInfo", NULL, NULL)), 0);
    json_object_put(v);
    sw_groups_done(&g);
    sw_facts_free(f);
}

/* OpenShift's words become what the servers' flags take. */
static void test_tls_profile(void **state)
{
    (void)state;
    struct sw_facts *f = cluster();
    struct sw_groups g;
    sw_facts_groups(f, NULL, NULL, &g);
    struct json_object *v = sw_facts_values(f, &(struct sw_facts_ask){ .groups = &g });
    assert_false(json_object_object_get_ex(v, "tlsSecurityProfile", NULL));
    json_object_put(v);
    put_source(f, 5, "{\"spec\":{}}", true);
    put_source(f, 5, "{\"spec\":{\"tlsSecurityProfile\":{\"type\":\"Intermediate\"}}}", false);
    put_source(f, 5, "{\"spec\":{\"tlsSecurityProfile\":{\"type\":\"Modern\",\"modern\":{}}}}",
               true);
    v = sw_facts_values(f, &(struct sw_facts_ask){ .groups = &g });
    assert_value(v, "tlsSecurityProfile", "type", NULL, "Modern");
    assert_value(v, "tlsSecurityProfile", "minTLSVersion", NULL, "VersionTLS13");
    json_object_put(v);
    put_source(f, 5,
               "{\"spec\":{\"tlsSecurityProfile\":{\"type\":\"Custom\",\"custom\":{\"ciphers\":["
               "\"A\",\"B\"],"
               "\"minTLSVersion\":\"VersionTLS11\"}}}}",
               true);
    v = sw_facts_values(f, &(struct sw_facts_ask){ .groups = &g });
    assert_value(v, "tlsSecurityProfile", "minTLSVersion", NULL, "VersionTLS11");
    assert_value(v, "tlsSecurityProfile", "cipherSuites", NULL, "A,B");
    json_object_put(v);
    sw_groups_done(&g);
    sw_facts_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(system_is_known_from_the_image_text),
        cmocka_unit_test(labels_of_nfd_win_over_the_image_text),
        cmocka_unit_test(kernel_that_the_kubelet_reports_wins_over_an_old_label),
        cmocka_unit_test(patch_version_survives_short_kernels),
        cmocka_unit_test(a_kernel_is_labelled_as_node_feature_discovery_does),
        cmocka_unit_test(groups_come_and_go_with_their_nodes),
        cmocka_unit_test(node_without_a_name_is_refused),
        cmocka_unit_test(odd_fields_of_a_node_count_as_absent),
        cmocka_unit_test(groups_follow_kernel_and_system_in_order),
        cmocka_unit_test(same_kernel_name_on_two_machines_is_two_groups),
        cmocka_unit_test(suffix_is_the_one_that_sro_gives),
        cmocka_unit_test(values_carry_every_name_and_strings_only),
        cmocka_unit_test(test_tls_profile),
        cmocka_unit_test(older_image_of_a_tag_is_for_the_kernel_that_still_runs),
        cmocka_unit_test(an_image_stream_without_items_is_no_fault),
        cmocka_unit_test(values_without_openshift_are_empty_not_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
