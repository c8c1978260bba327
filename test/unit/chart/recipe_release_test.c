/* Subcharts that are releases of their own: slipway.dev/releases of the chart above. */
#include "recipe_util.h"

/* The recipe "top" over the vendor's chart "gpu"; @releases: the annotation's text, each line
 * indented by four. */
#define TOP(releases)                                                                              \
    {                                                                                              \
        "Chart.yaml",                                                                              \
            "apiVersion: v2\nname: top\nversion: 1.0.0\nannotations:\n"                            \
            "  slipway.dev/releases: |\n" releases,                                                \
            0                                                                                      \
    }
#define SUB(name) SUBCHART(name, name), CONFIG_MAP("charts/" name "/templates/x.yaml", name)
#define WHO(kind)                                                                                  \
    "apiVersion: v1\nkind: " kind                                                                  \
    "\nmetadata: {name: {{ .Release.Name }}-in-{{ .Release.Namespace }}}\n"
#define VENDOR                                                                                     \
    SUBCHART("gpu", "gpu"), { "charts/gpu/templates/who.yaml", WHO("ConfigMap"), 0 },              \
        { "charts/gpu/crds/x.yaml",                                                                \
          "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"                  \
          "metadata: {name: xs.example.com}\n",                                                    \
          0 },                                                                                     \
    {                                                                                              \
        "templates/own.yaml", WHO("Secret"), 0                                                     \
    }

/* "Kind/name" of all manifests, and "@namespace" where the release has one. */
static char *manifests(const struct sw_rendered *out)
{
    char *text = sw_strdup("");
    for (size_t i = 0; i < sw_rendered_n_manifests(out); i++) {
        const struct sw_manifest *m = sw_rendered_manifest(out, i);
        sw_append(&text, "%s%s/%s%s%s", i ? " " : "", sw_obj_kind(m->doc), sw_obj_name(m->doc),
                  m->namespace ? "@" : "", m->namespace ? m->namespace : "");
    }
    return text;
}

static void expect_manifests(const struct sw_recipe *r, const char *values, size_t state,
                             const char *want)
{
    static const struct sw_render_env env = { .release = "mine", .namespace = "here" };
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, values);
    SW_AUTO(sw_rendered) *out = NULL;
    SW_ERR(err);
    if (sw_recipe_render(plan, &env, state, &out, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    SW_AUTO_CHARS *text = manifests(out);
    assert_string_equal(text, want);
}

/* ---- name and namespace -------------------------------------------------------------------------
 */

static void the_subchart_sees_its_own_release_and_its_namespace_comes_first(SW_UNUSED void **state)
{
    RECIPE(r, TOP("    gpu: {name: gpu-operator, namespace: gpus}\n"), VENDOR);
    expect_manifests(r, NULL, SW_ALL_STATES,
                     "Namespace/gpus@gpus CustomResourceDefinition/xs.example.com@gpus "
                     "ConfigMap/gpu-operator-in-gpus@gpus Secret/mine-in-here");
}

static void
without_a_name_it_is_the_subcharts_and_without_a_namespace_the_recipes(SW_UNUSED void **state)
{
    RECIPE(r, TOP("    gpu: {}\n"), VENDOR);
    expect_manifests(r, NULL, SW_ALL_STATES,
                     "CustomResourceDefinition/xs.example.com ConfigMap/gpu-in-here "
                     "Secret/mine-in-here");
}

static void what_is_below_the_subchart_is_in_its_release(SW_UNUSED void **state)
{
    RECIPE(r, TOP("    gpu: {namespace: gpus}\n"), SUBCHART("gpu", "gpu"),
           SUBCHART("gpu/charts/nfd", "nfd"),
           { "charts/gpu/charts/nfd/templates/who.yaml", WHO("ConfigMap"), 0 });
    expect_manifests(r, NULL, SW_ALL_STATES, "Namespace/gpus@gpus ConfigMap/gpu-in-gpus@gpus");
}

static void a_state_names_its_release(SW_UNUSED void **state)
{
    RECIPE(r, TOP("    gpu: {name: g, namespace: gpus}\n"), VENDOR);
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    const struct sw_recipe_state *gpu = sw_plan_state(plan, 0), *own = sw_plan_state(plan, 1);
    assert_string_equal(gpu->release->name, "g");
    assert_string_equal(gpu->release->namespace, "gpus");
    assert_string_equal(gpu->release->chart, "top/charts/gpu");
    assert_null(own->release);
}

static void values_of_the_chart_may_name_the_namespace(SW_UNUSED void **state)
{
    RECIPE(r, TOP("    gpu: {namespace: \"{{ .Values.where }}\"}\n"), VENDOR);
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, "where: there");
    assert_string_equal(sw_plan_state(plan, 0)->release->namespace, "there");
}

static void the_namespace_gets_its_labels(SW_UNUSED void **state)
{
    RECIPE(r,
           TOP("    gpu:\n      namespace: gpus\n      namespaceLabels:\n"
               "        pod-security.kubernetes.io/enforce: privileged\n"),
           VENDOR);
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    SW_AUTO_CHARS *text = render_text(plan, NULL, 0);
    assert_non_null(strstr(text, "pod-security.kubernetes.io/enforce: privileged"));
}

static void a_namespace_that_the_chart_makes_is_not_made_twice(SW_UNUSED void **state)
{
    RECIPE(r, TOP("    gpu: {namespace: gpus}\n"), SUBCHART("gpu", "gpu"),
           { "charts/gpu/templates/ns.yaml",
             "apiVersion: v1\nkind: Namespace\nmetadata: {name: gpus}\n", 0 });
    expect_manifests(r, NULL, SW_ALL_STATES, "Namespace/gpus@gpus");
}

static void the_recipes_own_namespace_is_not_made(SW_UNUSED void **state)
{
    RECIPE(r, TOP("    gpu: {namespace: here}\n"), SUBCHART("gpu", "gpu"),
           { "charts/gpu/templates/who.yaml", WHO("ConfigMap"), 0 });
    expect_manifests(r, NULL, SW_ALL_STATES, "ConfigMap/gpu-in-here@here");
}

/* Annotations of the objects of a rendered recipe, as "Kind/name key=value". */
static char *annotations(const struct sw_rendered *out, const char *key)
{
    char *text = sw_strdup("");
    for (size_t i = 0; i < sw_rendered_n_manifests(out); i++) {
        struct json_object *doc = sw_rendered_manifest(out, i)->doc;
        const char *value = sw_obj_annotation(doc, key);
        if (value)
            sw_append(&text, "%s%s/%s=%s", *text ? " " : "", sw_obj_kind(doc), sw_obj_name(doc),
                      value);
    }
    return text;
}

static void the_chart_above_annotates_what_the_vendors_renders(SW_UNUSED void **state)
{
    RECIPE(r,
           TOP("    gpu:\n      annotations:\n        ConfigMap: {slipway.dev/hold: \"true\"}\n"
               "        Secret/b: {slipway.dev/hold: x}\n"
               "        Secret?spec.driver: {slipway.dev/driver: \"true\"}\n"),
           SUBCHART("gpu", "gpu"),
           { "charts/gpu/templates/all.yaml",
             "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {other: kept}}\n"
             "---\napiVersion: v1\nkind: Secret\nmetadata: {name: a}\nspec: {driver: {}}\n"
             "---\napiVersion: v1\nkind: Secret\nmetadata: {name: b}\n",
             0 },
           CONFIG_MAP("templates/own.yaml", "own"));
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    SW_AUTO(sw_rendered) *out = NULL;
    SW_ERR(err);
    assert_int_equal(sw_recipe_render(plan, NULL, SW_ALL_STATES, &out, &err), 0);
    SW_AUTO_CHARS *held = annotations(out, "slipway.dev/hold"), *other = annotations(out, "other");
    assert_string_equal(held, "Secret/b=x ConfigMap/a=true");
    assert_string_equal(other, "ConfigMap/a=kept");
    SW_AUTO_CHARS *driver = annotations(out, "slipway.dev/driver");
    assert_string_equal(driver, "Secret/a=true");
    SW_AUTO_CHARS *text = render_text(plan, NULL, 0);
    assert_non_null(strstr(text, "slipway.dev/hold: \"true\""));
}

/* ---- whether it is installed --------------------------------------------------------------------
 */

#define IF TOP("    gpu: {namespace: gpus, if: top.installs}\n")
#define INSTALLS(text)                                                                             \
    {                                                                                              \
        "templates/_h.tpl", "{{ define \"top.installs\" }} " text "\n{{ end }}", 0                 \
    }

static void
a_release_that_is_not_to_be_installed_renders_nothing_crds_included(SW_UNUSED void **state)
{
    RECIPE(r, IF, INSTALLS("{{ .Values.install }}"), VENDOR);
    expect_manifests(r, "install: false", SW_ALL_STATES, "Secret/mine-in-here");
    expect_manifests(r, "install: false", 0, "");
    expect_manifests(r, "install: true", 0,
                     "Namespace/gpus@gpus CustomResourceDefinition/xs.example.com@gpus "
                     "ConfigMap/gpu-in-gpus@gpus");
}

/* What is on the cluster decides. */
static int find_api(SW_UNUSED void *arg, SW_UNUSED const char *api_version, const char *kind,
                    SW_UNUSED const char *namespace, SW_UNUSED const char *name,
                    struct json_object **out, SW_UNUSED struct sw_err *err)
{
    *out = sw_streq(kind, "There") ? json_object_new_object() : NULL;
    if (*out)
        sw_json_set_str(*out, kind, "kind", NULL);
    return 0;
}

static void the_condition_may_look_something_up(SW_UNUSED void **state)
{
    RECIPE(r, IF, INSTALLS("{{ empty (lookup \"v1\" .Values.kind \"\" \"x\") }}"), VENDOR);
    const struct sw_render_env env = { .lookup = find_api };
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, "kind: Missing");
    SW_AUTO_CHARS *missing = render_text(plan, &env, 0);
    assert_non_null(strstr(missing, "gpu-in-gpus"));
    SW_AUTO(sw_plan) *other = plan_or_fail(r, "kind: There");
    SW_AUTO_CHARS *there = render_text(other, &env, 0);
    assert_string_equal(there, "");
}

static void expect_render_error(const struct sw_recipe *r, const char *words)
{
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    SW_AUTO(sw_rendered) *out = NULL;
    SW_ERR(err);
    assert_int_equal(sw_recipe_render(plan, NULL, 0, &out, &err), SW_INVALID);
    if (!strstr(sw_err_text(&err), words))
        fail_msg("'%s' does not contain '%s'", sw_err_text(&err), words);
}

static void an_answer_that_is_neither_true_nor_false_is_named(SW_UNUSED void **state)
{
    RECIPE(r, IF, INSTALLS("perhaps"), VENDOR);
    expect_render_error(r, "test/Chart.yaml: slipway.dev/releases: 'top.installs': it printed "
                           "'perhaps', expected true or false");
}

static void a_condition_that_no_template_defines_is_named(SW_UNUSED void **state)
{
    RECIPE(r, IF, VENDOR);
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    SW_AUTO(sw_rendered) *out = NULL;
    SW_ERR(err);
    assert_true(sw_recipe_render(plan, NULL, 0, &out, &err) < 0);
    assert_non_null(strstr(sw_err_text(&err), "top.installs"));
}

/* ---- mistakes -----------------------------------------------------------------------------------
 */

static void mistakes_are_named_with_file_and_field(SW_UNUSED void **state)
{
    static const struct {
        const char *releases, *words;
    } cases[] = {
        { "    gpus: {}\n", "test/Chart.yaml: slipway.dev/releases: there is no subchart 'gpus'" },
        { "    gpu: x\n", "slipway.dev/releases: gpu: expected a map" },
        { "    gpu: {nmae: x}\n", "slipway.dev/releases: gpu: 'nmae' is not known" },
        { "    gpu: {name: 1}\n", "slipway.dev/releases: gpu: name: expected a string" },
        { "    gpu: {name: Up}\n", "slipway.dev/releases: gpu: name: 'Up': " },
        { "    gpu: {name: a1234567890123456789012345678901234567890123456789012345}\n",
          "a release's name has 53 characters at most" },
        { "    gpu: {namespace: a.b}\n", "slipway.dev/releases: gpu: namespace: 'a.b': " },
        { "    gpu: {namespaceLabels: [a]}\n", "gpu: namespaceLabels: expected a map" },
        { "    gpu: {namespaceLabels: {a: 1}}\n", "namespaceLabels: 'a': expected a string" },
        { "    gpu: {namespaceLabels: {\"a b\": c}}\n", "namespaceLabels: 'a b': " },
        { "    gpu: {annotations: [a]}\n", "gpu: annotations: expected a map" },
        { "    gpu: {annotations: {Pod: x}}\n", "gpu: annotations: Pod: expected a map" },
        { "    gpu: {annotations: {Pod/: {a: b}}}\n", "'Pod/': expected a kind, or kind/name" },
        { "    gpu: {annotations: {\"Pod?\": {a: b}}}\n", "'Pod?': expected a kind, or kind/name" },
        { "    gpu: {annotations: {Pod: {a: 1}}}\n", "Pod: 'a': expected a string" },
        { "    gpu: {annotations: {Pod: {a b: c}}}\n", "Pod: 'a b': " },
        { "    - gpu\n", "slipway.dev/releases: expected a map of subcharts" },
        { "    gpu: {\n", "test/Chart.yaml: slipway.dev/releases:" },
        { "    gpu: {namespace: \"{{ .Values.x\"}\n", "test/Chart.yaml: " },
    };
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        SW_AUTO_CHARS *chart = sw_printf("apiVersion: v2\nname: top\nversion: 1.0.0\n"
                                         "annotations:\n  slipway.dev/releases: |\n%s",
                                         cases[i].releases);
        RECIPE(r, { "Chart.yaml", chart, 0 }, VENDOR);
        expect_plan_error(r, NULL, cases[i].words);
    }
}

static void two_releases_of_one_name_and_namespace_are_refused(SW_UNUSED void **state)
{
    RECIPE(r, TOP("    a: {name: x, namespace: ns}\n    b: {name: x, namespace: ns}\n"),
           SUBCHART("a", "a"), SUBCHART("b", "b"));
    expect_plan_error(r, NULL,
                      "slipway.dev/releases: b: chart 'top/charts/a' has release 'x' of namespace "
                      "'ns' already");
    RECIPE(apart, TOP("    a: {name: x, namespace: ns}\n    b: {name: x, namespace: ms}\n"),
           SUB("a"), SUB("b"));
    expect_graph(apart, NULL, "a; b");
}

static void a_release_that_is_called_as_the_recipes_is_that_one(SW_UNUSED void **state)
{
    RECIPE(r, TOP("    gpu: {name: top, annotations: {ConfigMap: {a: b}}}\n"), VENDOR);
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    assert_null(sw_plan_state(plan, 0)->release);
    SW_AUTO_CHARS *text = render_text(plan, NULL, 0);
    assert_non_null(strstr(text, "a: b"));
    RECIPE(elsewhere, TOP("    gpu: {name: top, namespace: gpus}\n"), VENDOR);
    SW_AUTO(sw_plan) *apart = plan_or_fail(elsewhere, NULL);
    assert_non_null(sw_plan_state(apart, 0)->release);
}

static void a_release_of_a_subchart_that_is_off_is_dropped(SW_UNUSED void **state)
{
    RECIPE(r,
           { "Chart.yaml",
             "apiVersion: v2\nname: top\nversion: 1.0.0\nannotations:\n"
             "  slipway.dev/releases: \"gpu: {}\"\n"
             "dependencies: [{name: gpu, version: 1.0.0, condition: gpu.enabled}]\n",
             0 },
           VENDOR);
    expect_graph(r, "gpu: {enabled: false}", "top");
}

/* ---- objects that resources share ---------------------------------------------------------------
 */

#define SHARING(text)                                                                              \
    {                                                                                              \
        "Chart.yaml",                                                                              \
            "apiVersion: v2\nname: top\nversion: 1.0.0\nannotations:\n"                            \
            "  slipway.dev/shared-objects: '" text "'\n",                                          \
            0                                                                                      \
    }
#define NAMED(file, name, annotations)                                                             \
    {                                                                                              \
        "templates/" file ".yaml",                                                                 \
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " name                            \
            "\n  annotations: {a: b" annotations "}\n",                                            \
            0                                                                                      \
    }

static void expect_shared(const struct sw_recipe *r, const char *values, const char *name,
                          const char *version)
{
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, values);
    const struct sw_recipe_state *s = sw_plan_state(plan, 0);
    if (name)
        assert_string_equal(sw_state_shared(s), name);
    else
        assert_null(sw_state_shared(s));
    assert_string_equal(sw_state_shared_version(s), version);
}

static void objects_are_shared_by_a_name_and_the_version_that_is_pinned(SW_UNUSED void **state)
{
    RECIPE(plain, SHARING("olm/nfd"), CONFIG_MAP("templates/x.yaml", "x"));
    expect_shared(plain, NULL, "olm/nfd", "1.0.0");
    RECIPE(pinned, SHARING("olm/nfd@v4.9"), CONFIG_MAP("templates/x.yaml", "x"));
    expect_shared(pinned, NULL, "olm/nfd", "v4.9");
    RECIPE(set, SHARING("{{ with .Values.ns }}{{ . }}/nfd@stable{{ end }}"),
           CONFIG_MAP("templates/x.yaml", "x"));
    expect_shared(set, "ns: there", "there/nfd", "stable");
    expect_shared(set, NULL, NULL, "");
}

static void a_name_of_shared_objects_that_is_none_is_refused(SW_UNUSED void **state)
{
    RECIPE(bare, SHARING("nfd"), CONFIG_MAP("templates/x.yaml", "x"));
    expect_plan_error(bare, NULL,
                      "test/Chart.yaml: slipway.dev/shared-objects: 'nfd': expected "
                      "<namespace>/<name>[@<version>]");
    RECIPE(dotted, SHARING("a.b/nfd"), CONFIG_MAP("templates/x.yaml", "x"));
    expect_plan_error(dotted, NULL, "slipway.dev/shared-objects: 'a.b/nfd': ");
    RECIPE(upper, SHARING("ns/Nfd"), CONFIG_MAP("templates/x.yaml", "x"));
    expect_plan_error(upper, NULL, "slipway.dev/shared-objects: 'ns/Nfd': ");
}

static void objects_in_a_release_of_its_own_are_not_shared_beside_it(SW_UNUSED void **state)
{
    RECIPE(r, TOP("    gpu: {name: gpu-operator, namespace: gpus}\n"),
           { "charts/gpu/Chart.yaml",
             "apiVersion: v2\nname: gpu\nversion: 1.0.0\nannotations: "
             "{slipway.dev/shared-objects: gpus/x}\n",
             0 },
           CONFIG_MAP("charts/gpu/templates/x.yaml", "x"));
    expect_plan_error(r, NULL,
                      "slipway.dev/shared-objects: the chart is in release 'gpu-operator'");
}

/* What another one has is waited for, all of it but what is the resource's own. */
static void objects_that_another_resource_has_are_observed(SW_UNUSED void **state)
{
    RECIPE(
        r, SHARING("olm/nfd"), NAMED("a", "a", ", slipway.dev/adopt: \"true\""),
        NAMED("b", "b", ", slipway.dev/shared-objects: \"false\""),
        NAMED("c", "c", ", slipway.dev/dry-run: \"true\""),
        NAMED("d", "d", ", helm.sh/hook: pre-install"),
        { "templates/e.yaml",
          "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: "
          "e}}\n",
          0 });
    SW_AUTO_JSON *facts = json_object_new_object();
    sw_json_set_str(facts, "first", SW_RELEASES_OF_OTHERS, "olm/nfd", NULL);
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    for (int of_another = 0; of_another < 2; of_another++) {
        const struct sw_render_env env = { .facts = of_another ? facts : NULL };
        SW_AUTO(sw_rendered) *out = NULL;
        SW_AUTO_CHARS *text = sw_strdup("");
        assert_int_equal(sw_recipe_render(plan, &env, 0, &out, NULL), 0);
        for (size_t i = 0; i < sw_rendered_n_manifests(out); i++) {
            struct json_object *doc = sw_rendered_manifest(out, i)->doc;
            sw_append(&text, "%s%s%s ", sw_obj_name(doc),
                      sw_obj_annotation(doc, "slipway.dev/observe") ? " observed" : "",
                      sw_obj_annotation(doc, "slipway.dev/adopt") ? " adopted" : "");
        }
        assert_string_equal(text, of_another ? "a observed b c e observed " : "d a adopted b c e ");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_subchart_sees_its_own_release_and_its_namespace_comes_first),
        cmocka_unit_test(without_a_name_it_is_the_subcharts_and_without_a_namespace_the_recipes),
        cmocka_unit_test(what_is_below_the_subchart_is_in_its_release),
        cmocka_unit_test(the_chart_above_annotates_what_the_vendors_renders),
        cmocka_unit_test(a_state_names_its_release),
        cmocka_unit_test(values_of_the_chart_may_name_the_namespace),
        cmocka_unit_test(the_namespace_gets_its_labels),
        cmocka_unit_test(a_namespace_that_the_chart_makes_is_not_made_twice),
        cmocka_unit_test(the_recipes_own_namespace_is_not_made),
        cmocka_unit_test(a_release_that_is_not_to_be_installed_renders_nothing_crds_included),
        cmocka_unit_test(the_condition_may_look_something_up),
        cmocka_unit_test(an_answer_that_is_neither_true_nor_false_is_named),
        cmocka_unit_test(a_condition_that_no_template_defines_is_named),
        cmocka_unit_test(mistakes_are_named_with_file_and_field),
        cmocka_unit_test(two_releases_of_one_name_and_namespace_are_refused),
        cmocka_unit_test(a_release_that_is_called_as_the_recipes_is_that_one),
        cmocka_unit_test(a_release_of_a_subchart_that_is_off_is_dropped),
        cmocka_unit_test(objects_are_shared_by_a_name_and_the_version_that_is_pinned),
        cmocka_unit_test(a_name_of_shared_objects_that_is_none_is_refused),
        cmocka_unit_test(objects_in_a_release_of_its_own_are_not_shared_beside_it),
        cmocka_unit_test(objects_that_another_resource_has_are_observed),
    };
    return cmocka_run_group_tests_name("recipe_release", tests, NULL, NULL);
}
