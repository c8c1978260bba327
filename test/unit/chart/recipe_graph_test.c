/* The states of a recipe: numbers, subcharts, resource groups, and what they need. */
#include "recipe_util.h"

/* ---- numbered templates -------------------------------------------------------------------------
 */

static void numbers_follow_each_other_and_the_rest_is_last(SW_UNUSED void **state)
{
    RECIPE(r, CHART("k"), CONFIG_MAP("templates/1000_b.yaml", "b"),
           CONFIG_MAP("templates/0000-a.yaml", "a"), CONFIG_MAP("templates/other.yaml", "o"),
           CONFIG_MAP("templates/0200-c.yaml", "c"));
    expect_graph(r, NULL, "0000; 0200 <- 0000; 1000 <- 0200; k <- 1000");
}

static void equal_numbers_are_one_state(SW_UNUSED void **state)
{
    RECIPE(r, CHART("k"), CONFIG_MAP("templates/0001-a.yaml", "a"),
           CONFIG_MAP("templates/0001-b.yaml", "b"));
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    assert_int_equal(sw_plan_n_states(plan), 1);
    const struct sw_recipe_state *s = sw_plan_state(plan, 0);
    assert_int_equal(s->n_templates, 2);
    assert_string_equal(s->templates[0], "k/templates/0001-a.yaml");
    assert_string_equal(s->templates[1], "k/templates/0001-b.yaml");
}

static void only_four_digits_and_a_dash_are_a_number(SW_UNUSED void **state)
{
    RECIPE(r, CHART("k"), CONFIG_MAP("templates/001-a.yaml", "a"),
           CONFIG_MAP("templates/00010-b.yaml", "b"), CONFIG_MAP("templates/0001.yaml", "c"),
           CONFIG_MAP("templates/0001-d.yml", "d"));
    expect_graph(r, NULL, "k");
}

static void numbered_states_carry_a_label_and_the_rest_beside_them_none(SW_UNUSED void **state)
{
    RECIPE(r, CHART("k"), CONFIG_MAP("templates/0000-a.yaml", "a"),
           CONFIG_MAP("templates/other.yaml", "o"));
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    assert_string_equal(sw_plan_state(plan, 0)->label, "0000");
    assert_null(sw_plan_state(plan, 1)->label);
}

static void partials_and_notes_are_no_state(SW_UNUSED void **state)
{
    RECIPE(r, CHART("k"), { "templates/_h.tpl", "{{ define \"x\" }}{{ end }}", 0 },
           { "templates/NOTES.txt", "hello", 0 });
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    assert_int_equal(sw_plan_n_states(plan), 0);
}

static void the_annotation_in_its_text_makes_a_state_kernel_affine(SW_UNUSED void **state)
{
    RECIPE(r, CHART("k"),
           { "templates/0000-a.yaml", "a:\n  specialresource.openshift.io/kernel-affine: \"true\"",
             0 },
           { "templates/0001-b.yaml", "specialresource.openshift.io/kernel-affine: x\n", 0 },
           { "templates/0002-c.yaml", "  # specialresource.openshift.io/kernel-affine: x\n", 0 },
           { "templates/0003-d.yaml",
             "a: {b: c, specialresource.openshift.io/kernel-affine: \"true\"}", 0 },
           { "templates/0004-e.yaml", "  'specialresource.openshift.io/kernel-affine': 'true'", 0 },
           { "templates/0005-f.yaml",
             "a: {{ get .a \"specialresource.openshift.io/kernel-affine\" }}", 0 });
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    assert_true(sw_plan_state(plan, 0)->kernel_affine);
    assert_false(sw_plan_state(plan, 1)->kernel_affine);
    assert_false(sw_plan_state(plan, 2)->kernel_affine);
    assert_true(sw_plan_state(plan, 3)->kernel_affine);
    assert_true(sw_plan_state(plan, 4)->kernel_affine);
    assert_false(sw_plan_state(plan, 5)->kernel_affine);
}

/* ---- subcharts ----------------------------------------------------------------------------------
 */

#define UMBRELLA(deps)                                                                             \
    {                                                                                              \
        "Chart.yaml", "apiVersion: v2\nname: top\nversion: 1.0.0\n" deps, 0                        \
    }
#define SUB(name) SUBCHART(name, name), CONFIG_MAP("charts/" name "/templates/x.yaml", name)

static void subcharts_are_states_with_the_needs_of_depends_on(SW_UNUSED void **state)
{
    RECIPE(r,
           UMBRELLA("dependencies:\n"
                    "- {name: a, version: 1.0.0, depends-on: [b, c]}\n"
                    "- {name: b, version: 1.0.0, depends-on: [c]}\n"
                    "- {name: c, version: 1.0.0}\n"
                    "- {name: d, version: 1.0.0}\n"),
           SUB("a"), SUB("b"), SUB("c"), SUB("d"));
    expect_graph(r, NULL, "c; b <- c; a <- c b; d");
}

static void an_alias_names_the_state(SW_UNUSED void **state)
{
    RECIPE(r,
           UMBRELLA("dependencies:\n"
                    "- {name: a, version: 1.0.0, alias: one}\n"
                    "- {name: a, version: 1.0.0, alias: two, depends-on: [one]}\n"),
           SUB("a"));
    expect_graph(r, NULL, "one; two <- one");
}

/* A subchart whose state is called what the template "t" prints, made of @define. */
#define NAMED_SUB(name, define)                                                                    \
    { "charts/" name "/Chart.yaml",                                                                \
      "apiVersion: v2\nname: " name                                                                \
      "\nversion: 1.0.0\nannotations: {slipway.dev/state-name: t}\n",                              \
      0 },                                                                                         \
        { "charts/" name "/templates/_t.tpl", "{{ define \"t\" }}" define "{{ end }}", 0 },        \
        CONFIG_MAP("charts/" name "/templates/x.yaml", name)
#define A_AND_B                                                                                    \
    UMBRELLA("dependencies:\n- {name: a, version: 1.0.0}\n"                                        \
             "- {name: b, version: 1.0.0, depends-on: [a]}\n")
#define BY_VERSION                                                                                 \
    " {{ if semverCompare \">=1.36.0-0\" .Capabilities.KubeVersion.Version }}{{ .Values.new }}"    \
    "{{ end }} "

static void a_chart_names_its_state_by_what_the_cluster_is(SW_UNUSED void **state)
{
    RECIPE(r, A_AND_B, NAMED_SUB("a", BY_VERSION), SUB("b"));
    expect_graph(r, "a: {new: driver}", "driver; b <- driver");
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, "a: {new: driver}");
    assert_string_equal(sw_plan_state(plan, 0)->label, "driver");
    assert_string_equal(sw_plan_state(plan, 0)->chart_name, "a");
    assert_string_equal(sw_plan_state(plan, 0)->chart, "top/charts/a");
}

static void a_state_has_its_charts_name_where_the_template_prints_nothing(SW_UNUSED void **state)
{
    RECIPE(r, A_AND_B, NAMED_SUB("a", BY_VERSION), SUB("b"));
    expect_graph(r, "a: {new: \"\"}", "a; b <- a");
}

static void the_states_of_charts_below_have_the_name_before_theirs(SW_UNUSED void **state)
{
    RECIPE(r, A_AND_B, NAMED_SUB("a", "driver"), SUBCHART("a/charts/in", "in"),
           CONFIG_MAP("charts/a/charts/in/templates/0000-i.yaml", "i"), SUB("b"));
    expect_graph(r, NULL, "driver.in.0000; driver; b <- driver.in.0000 driver");
}

static void a_states_name_that_is_none_is_refused_with_its_place(SW_UNUSED void **state)
{
    RECIPE(r, A_AND_B, NAMED_SUB("a", "A state"), SUB("b"));
    expect_plan_error(r, NULL, "a/Chart.yaml: slipway.dev/state-name: 't': 'A state': ");
}

static void a_states_name_that_a_neighbour_has_is_refused(SW_UNUSED void **state)
{
    RECIPE(r, A_AND_B, NAMED_SUB("a", "b"), SUB("b"));
    expect_plan_error(r, NULL, "slipway.dev/state-name: 't': 'b' is the name of top/charts/b");
}

static void a_states_name_by_a_template_that_is_not_there_is_refused(SW_UNUSED void **state)
{
    RECIPE(r, A_AND_B,
           { "charts/a/Chart.yaml",
             "apiVersion: v2\nname: a\nversion: 1.0.0\n"
             "annotations: {slipway.dev/state-name: nothing}\n",
             0 },
           CONFIG_MAP("charts/a/templates/x.yaml", "a"), SUB("b"));
    expect_plan_error(r, NULL,
                      "a/Chart.yaml: slipway.dev/state-name: 'nothing': there is no "
                      "such template");
}

static void the_annotation_puts_the_parents_own_objects_after_subcharts(SW_UNUSED void **state)
{
    RECIPE(r,
           UMBRELLA("annotations:\n  helm.sh/depends-on/subcharts: '[\"b\"]'\n"
                    "dependencies:\n- {name: a, version: 1.0.0}\n- {name: b, version: 1.0.0}\n"),
           SUB("a"), SUB("b"), CONFIG_MAP("templates/own.yaml", "own"));
    expect_graph(r, NULL, "a; b; top <- b");
}

static void nested_subcharts_have_their_path_as_name(SW_UNUSED void **state)
{
    RECIPE(r,
           UMBRELLA("dependencies:\n"
                    "- {name: a, version: 1.0.0}\n"
                    "- {name: b, version: 1.0.0, depends-on: [a]}\n"),
           { "charts/a/Chart.yaml",
             "apiVersion: v2\nname: a\nversion: 1.0.0\n"
             "annotations: {helm.sh/depends-on/subcharts: '[\"in\"]'}\n"
             "dependencies: [{name: in, version: 1.0.0}]\n",
             0 },
           CONFIG_MAP("charts/a/templates/own.yaml", "own"), SUBCHART("a/charts/in", "in"),
           CONFIG_MAP("charts/a/charts/in/templates/0000-i.yaml", "i"),
           CONFIG_MAP("charts/a/charts/in/templates/0001-j.yaml", "j"), SUB("b"));
    expect_graph(r, NULL, "a.in.0000; a.in.0001 <- a.in.0000; a <- a.in.0001; b <- a");
}

static void a_need_of_a_subchart_that_is_off_is_dropped(SW_UNUSED void **state)
{
    RECIPE(r,
           UMBRELLA("dependencies:\n"
                    "- {name: a, version: 1.0.0, depends-on: [b]}\n"
                    "- {name: b, version: 1.0.0, condition: b.enabled}\n"),
           SUB("a"), SUB("b"));
    expect_graph(r, "b: {enabled: false}", "a");
    expect_graph(r, NULL, "b; a <- b");
}

static void an_empty_subchart_hands_on_what_it_needs(SW_UNUSED void **state)
{
    RECIPE(r,
           UMBRELLA("dependencies:\n"
                    "- {name: a, version: 1.0.0, depends-on: [lib]}\n"
                    "- {name: lib, version: 1.0.0, depends-on: [c]}\n"
                    "- {name: c, version: 1.0.0}\n"),
           SUB("a"), SUBCHART("lib", "lib"), SUB("c"));
    expect_graph(r, NULL, "c; a <- c");
}

static void a_cycle_is_named(SW_UNUSED void **state)
{
    RECIPE(r,
           UMBRELLA("dependencies:\n"
                    "- {name: a, version: 1.0.0, depends-on: [b]}\n"
                    "- {name: b, version: 1.0.0, depends-on: [c]}\n"
                    "- {name: c, version: 1.0.0, depends-on: [a]}\n"),
           SUB("a"), SUB("b"), SUB("c"));
    expect_plan_error(r, NULL, "test/Chart.yaml: depends-on: cycle: a -> b -> c -> a");
}

static void a_chart_that_needs_itself_is_a_cycle(SW_UNUSED void **state)
{
    RECIPE(r, UMBRELLA("dependencies: [{name: a, version: 1.0.0, depends-on: [a]}]\n"), SUB("a"));
    expect_plan_error(r, NULL, "cycle: a -> a");
}

static void an_unknown_need_is_named_with_its_place(SW_UNUSED void **state)
{
    RECIPE(r, UMBRELLA("dependencies: [{name: a, version: 1.0.0, depends-on: [nobody]}]\n"),
           SUB("a"));
    expect_plan_error(r, NULL,
                      "test/Chart.yaml: dependency 'a': depends-on: there is no subchart 'nobody'");
}

static void an_unknown_need_in_the_annotation_is_named(SW_UNUSED void **state)
{
    RECIPE(r, UMBRELLA("annotations: {helm.sh/depends-on/subcharts: '[\"nobody\"]'}\n"),
           CONFIG_MAP("templates/own.yaml", "own"));
    expect_plan_error(r, NULL, "there is no subchart 'nobody'");
}

static void wait_all_is_inherited_by_subcharts(SW_UNUSED void **state)
{
    RECIPE(
        r,
        UMBRELLA("annotations: {slipway.dev/wait: all}\n"
                 "dependencies: [{name: a, version: 1.0.0}, {name: b, version: 1.0.0}]\n"),
        SUB("a"),
        { "charts/b/Chart.yaml",
          "apiVersion: v2\nname: b\nversion: 1.0.0\nannotations: {slipway.dev/wait: annotated}\n",
          0 },
        CONFIG_MAP("charts/b/templates/x.yaml", "b"));
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    assert_true(sw_plan_state(plan, 0)->wait_all);
    assert_false(sw_plan_state(plan, 1)->wait_all);
}

static void a_subchart_may_have_its_parents_name(SW_UNUSED void **state)
{
    RECIPE(r, UMBRELLA("dependencies: [{name: top, version: 1.0.0}]\n"), SUB("top"),
           CONFIG_MAP("templates/own.yaml", "own"));
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    assert_int_equal(sw_plan_n_states(plan), 2);
    int own = sw_plan_find_state(plan, "top-own"), sub = sw_plan_find_state(plan, "top");
    assert_true(own >= 0 && sub >= 0);
    assert_string_equal(sw_plan_state(plan, (size_t)own)->chart, "top");
    assert_string_equal(sw_plan_state(plan, (size_t)own)->label, "top-own");
    assert_string_equal(sw_plan_state(plan, (size_t)sub)->chart, "top/charts/top");
}

static void two_states_of_one_name_are_refused(SW_UNUSED void **state)
{
    RECIPE(
        r,
        UMBRELLA("dependencies: [{name: top, version: 1.0.0}, {name: top-own, version: 1.0.0}]\n"),
        SUB("top"), SUB("top-own"), CONFIG_MAP("templates/own.yaml", "own"));
    expect_plan_error(r, NULL, "two states are called 'top-own'");
}

/* ---- resource groups ----------------------------------------------------------------------------
 */

#define GROUPED(file, name, annotations)                                                           \
    {                                                                                              \
        file,                                                                                      \
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " name                            \
            "\n  annotations:\n" annotations,                                                      \
            0                                                                                      \
    }

static void groups_are_states_and_ungrouped_objects_come_last(SW_UNUSED void **state)
{
    RECIPE(r, CHART("top"),
           GROUPED("templates/a.yaml", "a",
                   "    helm.sh/resource-group: app\n"
                   "    helm.sh/depends-on/resource-groups: '[\"db\", \"queue\"]'\n"),
           GROUPED("templates/d.yaml", "d", "    helm.sh/resource-group: db\n"),
           GROUPED("templates/q.yaml", "q", "    helm.sh/resource-group: queue\n"),
           CONFIG_MAP("templates/z.yaml", "z"));
    expect_graph(r, NULL, "db; queue; app <- db queue; top <- app");
}

static void a_group_renders_its_own_objects_only(SW_UNUSED void **state)
{
    RECIPE(r, CHART("top"),
           GROUPED("templates/a.yaml", "a",
                   "    helm.sh/resource-group: web\n"
                   "    helm.sh/depends-on/resource-groups: '[\"db\"]'\n"),
           GROUPED("templates/d.yaml", "d", "    helm.sh/resource-group: db\n"));
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    SW_AUTO_CHARS *graph = graph_text(plan);
    assert_string_equal(graph, "db; web <- db");
    SW_AUTO_CHARS *text = render_text(plan, NULL, 0);
    assert_non_null(strstr(text, "name: d"));
    assert_null(strstr(text, "name: a"));
    assert_string_equal(sw_plan_state(plan, 1)->group, "web");
}

static void what_orders_groups_is_taken_off_the_manifest(SW_UNUSED void **state)
{
    RECIPE(r, CHART("top"),
           GROUPED("templates/a.yaml", "a",
                   "    helm.sh/resource-group: web\n"
                   "    helm.sh/depends-on/resource-groups: '[]'\n"));
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    SW_AUTO(sw_rendered) *out = NULL;
    assert_int_equal(sw_recipe_render(plan, NULL, SW_ALL_STATES, &out, NULL), 0);
    SW_AUTO_CHARS *text = sw_json_text(sw_rendered_manifest(out, 0)->doc, 0, NULL);
    assert_non_null(strstr(text, "resource-group"));
    assert_null(strstr(text, "depends-on"));
}

static void an_unknown_group_is_named_with_its_place(SW_UNUSED void **state)
{
    RECIPE(r, CHART("top"),
           GROUPED("templates/a.yaml", "a",
                   "    helm.sh/resource-group: web\n"
                   "    helm.sh/depends-on/resource-groups: '[\"nobody\"]'\n"));
    expect_plan_error(r, NULL,
                      "top/templates/a.yaml:1: helm.sh/depends-on/resource-groups: "
                      "there is no group 'nobody'");
}

static void a_cycle_of_groups_is_named(SW_UNUSED void **state)
{
    RECIPE(r, CHART("top"),
           GROUPED("templates/a.yaml", "a",
                   "    helm.sh/resource-group: web\n"
                   "    helm.sh/depends-on/resource-groups: '[\"db\"]'\n"),
           GROUPED("templates/d.yaml", "d",
                   "    helm.sh/resource-group: db\n"
                   "    helm.sh/depends-on/resource-groups: '[\"web\"]'\n"));
    expect_plan_error(r, NULL, "cycle: web -> db -> web");
}

/* As many groups as @n, each of which needs all before it. */
#define NEEDY(n)                                                                                   \
    {                                                                                              \
        "templates/a.yaml",                                                                        \
            "{{ $all := list }}{{ range $i := until " #n " }}\n---\napiVersion: v1\n"              \
            "kind: ConfigMap\nmetadata:\n  name: c{{ $i }}\n  annotations:\n"                      \
            "    helm.sh/resource-group: a-group-with-a-name-of-some-length-{{ $i }}\n"            \
            "    helm.sh/depends-on/resource-groups: '{{ toJson $all }}'\n"                        \
            "{{ $all = append $all (printf \"a-group-with-a-name-of-some-length-%d\" $i) }}"       \
            "{{ end }}",                                                                           \
            0                                                                                      \
    }

static void needs_that_a_status_has_no_room_for_are_refused(SW_UNUSED void **state)
{
    RECIPE(few, CHART("top"), NEEDY(50));
    SW_AUTO(sw_plan) *plan = plan_or_fail(few, NULL);
    assert_int_equal(sw_plan_state(plan, 49)->n_needs, 49);
    RECIPE(many, CHART("top"), NEEDY(150));
    expect_plan_error(many, NULL, "needs too many others: the status of a resource names");
}

/* ---- crds/ --------------------------------------------------------------------------------------
 */

static void crds_belong_to_the_first_state(SW_UNUSED void **state)
{
    RECIPE(r, CHART("top"), { "crds/c.yaml", "a: b", 0 }, CONFIG_MAP("templates/0001-a.yaml", "a"),
           CONFIG_MAP("templates/0002-b.yaml", "b"));
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    assert_true(sw_plan_state(plan, 0)->has_crds);
    assert_false(sw_plan_state(plan, 1)->has_crds);
}

static void crds_are_a_state_before_several_first_ones(SW_UNUSED void **state)
{
    RECIPE(r, CHART("top"), { "crds/c.yaml", "a: b", 0 },
           GROUPED("templates/a.yaml", "a", "    helm.sh/resource-group: web\n"),
           GROUPED("templates/d.yaml", "d", "    helm.sh/resource-group: db\n"));
    expect_graph(r, NULL, "crds; web <- crds; db <- crds");
}

static void a_chart_of_crds_alone_is_a_state(SW_UNUSED void **state)
{
    RECIPE(r, CHART("top"), { "crds/c.yaml", "a: b", 0 });
    expect_graph(r, NULL, "top");
}

/* ---- labels -------------------------------------------------------------------------------------
 */

static void a_label_names_resource_and_state(SW_UNUSED void **state)
{
    SW_AUTO_CHARS *key = NULL;
    assert_int_equal(sw_recipe_label("simple-kmod", "0000", &key, NULL), 0);
    assert_string_equal(key, "specialresource.openshift.io/state-simple-kmod-0000");
}

static void a_label_over_63_characters_ends_in_a_hash(SW_UNUSED void **state)
{
    SW_AUTO_CHARS *fits = NULL, *long_one = NULL, *other = NULL;
    assert_int_equal(sw_recipe_label("k8s-ephemeral-storage-metric", "k8s-ephemeral-storage-metric",
                                     &fits, NULL),
                     0);
    assert_string_equal(fits, "specialresource.openshift.io/"
                              "state-k8s-ephemeral-storage-metric-k8s-ephemeral-storage-metric");
    assert_int_equal(sw_recipe_label("k8s-ephemeral-storage-metrics",
                                     "k8s-ephemeral-storage-metrics", &long_one, NULL),
                     0);
    assert_int_equal(strlen(strchr(long_one, '/') + 1), 63);
    assert_true(sw_starts_with(long_one,
                               "specialresource.openshift.io/"
                               "state-k8s-ephemeral-storage-metrics-k8s-ephemeral-stor-"));
    assert_int_equal(sw_recipe_label("k8s-ephemeral-storage-metrics",
                                     "k8s-ephemeral-storage-metriks", &other, NULL),
                     0);
    assert_string_not_equal(long_one, other);
}

static void a_label_with_a_wrong_character_is_refused_with_the_state(SW_UNUSED void **state)
{
    RECIPE(r, CHART("top"), CONFIG_MAP("templates/0001-a.yaml", "a"));
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    SW_ERR(err);
    assert_int_equal(sw_plan_check_labels(plan, "a b", &err), SW_INVALID);
    assert_non_null(strstr(sw_err_text(&err), "state '0001'"));
    assert_int_equal(sw_plan_check_labels(plan, "a-b", &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_follow_each_other_and_the_rest_is_last),
        cmocka_unit_test(equal_numbers_are_one_state),
        cmocka_unit_test(only_four_digits_and_a_dash_are_a_number),
        cmocka_unit_test(numbered_states_carry_a_label_and_the_rest_beside_them_none),
        cmocka_unit_test(partials_and_notes_are_no_state),
        cmocka_unit_test(the_annotation_in_its_text_makes_a_state_kernel_affine),
        cmocka_unit_test(subcharts_are_states_with_the_needs_of_depends_on),
        cmocka_unit_test(an_alias_names_the_state),
        cmocka_unit_test(a_chart_names_its_state_by_what_the_cluster_is),
        cmocka_unit_test(a_state_has_its_charts_name_where_the_template_prints_nothing),
        cmocka_unit_test(the_states_of_charts_below_have_the_name_before_theirs),
        cmocka_unit_test(a_states_name_that_is_none_is_refused_with_its_place),
        cmocka_unit_test(a_states_name_that_a_neighbour_has_is_refused),
        cmocka_unit_test(a_states_name_by_a_template_that_is_not_there_is_refused),
        cmocka_unit_test(the_annotation_puts_the_parents_own_objects_after_subcharts),
        cmocka_unit_test(nested_subcharts_have_their_path_as_name),
        cmocka_unit_test(a_need_of_a_subchart_that_is_off_is_dropped),
        cmocka_unit_test(an_empty_subchart_hands_on_what_it_needs),
        cmocka_unit_test(a_cycle_is_named),
        cmocka_unit_test(a_chart_that_needs_itself_is_a_cycle),
        cmocka_unit_test(an_unknown_need_is_named_with_its_place),
        cmocka_unit_test(an_unknown_need_in_the_annotation_is_named),
        cmocka_unit_test(wait_all_is_inherited_by_subcharts),
        cmocka_unit_test(a_subchart_may_have_its_parents_name),
        cmocka_unit_test(two_states_of_one_name_are_refused),
        cmocka_unit_test(groups_are_states_and_ungrouped_objects_come_last),
        cmocka_unit_test(a_group_renders_its_own_objects_only),
        cmocka_unit_test(what_orders_groups_is_taken_off_the_manifest),
        cmocka_unit_test(an_unknown_group_is_named_with_its_place),
        cmocka_unit_test(a_cycle_of_groups_is_named),
        cmocka_unit_test(needs_that_a_status_has_no_room_for_are_refused),
        cmocka_unit_test(crds_belong_to_the_first_state),
        cmocka_unit_test(crds_are_a_state_before_several_first_ones),
        cmocka_unit_test(a_chart_of_crds_alone_is_a_state),
        cmocka_unit_test(a_label_names_resource_and_state),
        cmocka_unit_test(a_label_over_63_characters_ends_in_a_hash),
        cmocka_unit_test(a_label_with_a_wrong_character_is_refused_with_the_state),
    };
    return cmocka_run_group_tests_name("recipe_graph", tests, NULL, NULL);
}
