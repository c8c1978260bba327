/* From templates to manifests: order, hooks, lists, lines, mistakes. */
#include "recipe_util.h"

#define T(file, text)                                                                              \
    {                                                                                              \
        "templates/" file, text, 0                                                                 \
    }
#define OBJECT(kind, name) "apiVersion: v1\nkind: " kind "\nmetadata: {name: " name "}\n"

static struct sw_rendered *rendered(const struct sw_recipe *r, const struct sw_render_env *env)
{
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    struct sw_rendered *out = NULL;
    SW_ERR(err);
    if (sw_recipe_render(plan, env, SW_ALL_STATES, &out, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    return out;
}

/* "Kind/name" of all manifests, in order. */
static void expect_manifests(const struct sw_recipe *r, const struct sw_render_env *env,
                             const char *want)
{
    SW_AUTO(sw_rendered) *out = rendered(r, env);
    SW_AUTO_CHARS *text = sw_strdup("");
    for (size_t i = 0; i < sw_rendered_n_manifests(out); i++) {
        const struct sw_manifest *m = sw_rendered_manifest(out, i);
        char *more = sw_printf("%s%s%s/%s", text, i ? " " : "", sw_obj_kind(m->doc),
                               sw_obj_name(m->doc));
        sw_chars_auto(&text);
        text = more;
    }
    assert_string_equal(text, want);
}

static void expect_render_error(const struct sw_recipe *r, const char *words)
{
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    SW_AUTO(sw_rendered) *out = NULL;
    SW_ERR(err);
    assert_int_equal(sw_recipe_render(plan, NULL, SW_ALL_STATES, &out, &err), SW_INVALID);
    if (!strstr(sw_err_text(&err), words))
        fail_msg("'%s' does not contain '%s'", sw_err_text(&err), words);
}

static void objects_come_by_kind_then_by_file(SW_UNUSED void **state)
{
    RECIPE(r, CHART("c"), T("a.yaml", OBJECT("Service", "s") "---\n" OBJECT("Foo", "f")),
           T("b.yaml", OBJECT("ConfigMap", "z") "---\n" OBJECT("ConfigMap", "w")),
           T("d.yaml", OBJECT("Namespace", "ns") "---\n" OBJECT("Bar", "b")));
    expect_manifests(r, NULL, "Namespace/ns ConfigMap/z ConfigMap/w Service/s Bar/b Foo/f");
}

static void states_come_before_kinds(SW_UNUSED void **state)
{
    RECIPE(r, CHART("c"), T("0001-a.yaml", OBJECT("Service", "s")),
           T("0002-b.yaml", OBJECT("Namespace", "ns")));
    expect_manifests(r, NULL, "Service/s Namespace/ns");
}

static void crds_come_first_unless_left_out(SW_UNUSED void **state)
{
    RECIPE(r, CHART("c"), T("a.yaml", OBJECT("Namespace", "ns")),
           { "crds/x.yaml", "# {{ not a template }}\n" OBJECT("CustomResourceDefinition", "x"), 0 },
           { "crds/README.md", "no manifest", 0 });
    expect_manifests(r, NULL, "CustomResourceDefinition/x Namespace/ns");
    expect_manifests(r, &(struct sw_render_env){ .no_crds = true }, "Namespace/ns");
    SW_AUTO(sw_rendered) *out = rendered(r, NULL);
    assert_true(sw_rendered_manifest(out, 0)->from_crds);
    assert_string_equal(sw_rendered_manifest(out, 0)->path, "c/crds/x.yaml");
}

#define HOOK(name, rest)                                                                           \
    "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: " name "\n  annotations:\n" rest

static void hooks_stand_around_their_state(SW_UNUSED void **state)
{
    RECIPE(
        r, CHART("c"), T("a.yaml", OBJECT("Service", "s")),
        T("h.yaml",
          HOOK("late", "    helm.sh/hook: post-install\n") "---\n" HOOK(
              "heavy",
              "    helm.sh/hook: pre-install,pre-upgrade\n"
              "    helm.sh/hook-weight: \"5\"\n") "---\n" HOOK("light",
                                                               "    helm.sh/hook: pre-install\n"
                                                               "    helm.sh/hook-weight: \"-5\"\n"
                                                               "    helm.sh/hook-delete-policy: "
                                                               "hook-succeeded, "
                                                               "hook-failed\n") "---\n" HOOK("try",
                                                                                             "    "
                                                                                             "helm."
                                                                                             "sh/"
                                                                                             "hook:"
                                                                                             " test"
                                                                                             "\n")));
    expect_manifests(r, NULL, "Job/light Job/heavy Service/s Job/late Job/try");
    expect_manifests(r, &(struct sw_render_env){ .is_upgrade = true },
                     "Job/heavy Service/s Job/light Job/late Job/try");
    SW_AUTO(sw_rendered) *out = rendered(r, NULL);
    const struct sw_manifest *light = sw_rendered_manifest(out, 0);
    assert_int_equal(light->hook_events, SW_HOOK_PRE_INSTALL);
    assert_int_equal(light->hook_weight, -5);
    assert_int_equal(light->hook_policies, SW_HOOK_DELETE_SUCCEEDED | SW_HOOK_DELETE_FAILED);
    assert_int_equal(sw_rendered_manifest(out, 1)->hook_policies, SW_HOOK_DELETE_BEFORE_CREATION);
    assert_int_equal(sw_rendered_manifest(out, 2)->hook_events, 0);
}

static void a_hook_of_an_unknown_event_is_left_out_as_in_helm(SW_UNUSED void **state)
{
    RECIPE(r, CHART("c"), T("h.yaml", HOOK("x", "    helm.sh/hook: crd-install\n")));
    expect_manifests(r, NULL, "");
}

static void lists_are_their_items(SW_UNUSED void **state)
{
    RECIPE(r, CHART("c"),
           T("a.yaml", "apiVersion: v1\nkind: List\nitems:\n"
                       "- {apiVersion: v1, kind: Secret, metadata: {name: a}}\n"
                       "- {apiVersion: v1, kind: Secret, metadata: {name: b}}\n"),
           T("b.yaml", "apiVersion: v1\nkind: ConfigMapList\nitems:\n- {metadata: {name: c}}\n"));
    expect_manifests(r, NULL, "ConfigMap/c Secret/a Secret/b");
}

static void comments_alone_are_a_document_and_no_manifest(SW_UNUSED void **state)
{
    RECIPE(r, CHART("c"), T("a.yaml", "# nothing\n---\n" OBJECT("Secret", "s")),
           T("b.yaml", "  \n"));
    SW_AUTO(sw_rendered) *out = rendered(r, NULL);
    assert_int_equal(sw_rendered_n_docs(out), 2);
    assert_int_equal(sw_rendered_n_manifests(out), 1);
    assert_int_equal(sw_rendered_n_files(out), 1);
    assert_int_equal(sw_rendered_manifest(out, 0)->line, 3);
}

static void a_template_mistake_has_file_and_line(SW_UNUSED void **state)
{
    RECIPE(r, CHART("c"), T("a.yaml", "a: 1\nb: {{ .Values.x.y }}\n"));
    expect_render_error(r, "c/templates/a.yaml:2:");
}

static void a_yaml_mistake_has_file_and_line(SW_UNUSED void **state)
{
    RECIPE(r, CHART("c"), T("a.yaml", "kind: A\n---\n\na: b: c\n"));
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    SW_AUTO(sw_rendered) *out = NULL;
    SW_ERR(err);
    RECIPE(s, CHART("c"), T("a.yaml", OBJECT("A", "a") "---\n\na: b: c\n"));
    expect_render_error(s, "c/templates/a.yaml:6:");
    assert_int_equal(sw_recipe_render(plan, NULL, SW_ALL_STATES, &out, &err), SW_INVALID);
}

static void what_a_manifest_lacks_is_named(SW_UNUSED void **state)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        { "apiVersion: v1\nmetadata: {name: a}", "c/templates/a.yaml:1: a manifest without kind" },
        { "kind: Pod\nmetadata: {name: a}", "a manifest without apiVersion: Pod a" },
        { "apiVersion: v1\nkind: Pod", "a manifest without metadata.name: Pod" },
        { "apiVersion: v1\nkind: {a: 1}", "'kind' is no text" },
        { "apiVersion: v1\nkind: Pod\nmetadata: {name: a, annotations: {b: {c: 1}}}",
          "c/templates/a.yaml:1: Pod a: 'b' is no text" },
        { "just text", "c/templates/a.yaml:1: not a manifest: expected a map" },
        { "- a\n- b", "not a manifest" },
    };
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        RECIPE(r, CHART("c"), T("a.yaml", cases[i].text));
        expect_render_error(r, cases[i].words);
    }
    RECIPE(ok, CHART("c"), T("a.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {generateName: a-}"));
    expect_manifests(ok, NULL, "Pod/");
}

static void for_printing_a_manifest_may_lack_what_a_server_needs(SW_UNUSED void **state)
{
    RECIPE(r, CHART("c"), T("a.yaml", "a: 1\n---\nkind: Pod\nmetadata: {annotations: {b: 1}}"));
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    SW_AUTO(sw_rendered) *out = NULL;
    struct sw_render_env env = { .any_manifest = true };
    assert_int_equal(sw_recipe_render(plan, &env, SW_ALL_STATES, &out, NULL), 0);
    assert_int_equal(sw_rendered_n_docs(out), 2);
}

static void notes_are_rendered_and_left_out(SW_UNUSED void **state)
{
    RECIPE(r, CHART("c"), T("NOTES.txt", "hello"), T("a.yaml", OBJECT("Pod", "a")));
    SW_AUTO(sw_rendered) *out = rendered(r, NULL);
    assert_int_equal(sw_rendered_n_files(out), 1);
    RECIPE(bad, CHART("c"), T("NOTES.txt", "{{ .Values.a.b }}"));
    expect_render_error(bad, "NOTES.txt:1");
}

static void templates_see_release_and_capabilities(SW_UNUSED void **state)
{
    RECIPE(r, CHART("c"),
           T("a.yaml", "# {{ .Release.Name }} {{ .Release.Namespace }} {{ .Release.IsUpgrade }} "
                       "{{ .Release.Revision }} {{ .Capabilities.KubeVersion }} "
                       "{{ .Capabilities.APIVersions.Has \"a/v1\" }} "
                       "{{ .Capabilities.APIVersions.Has \"apps/v1\" }}"));
    const char *apis[] = { "a/v1" };
    struct sw_render_env env = { .release = "rel",
                                 .namespace = "ns",
                                 .is_upgrade = true,
                                 .revision = 3,
                                 .kube_version = "v1.30.1",
                                 .api_versions = apis,
                                 .n_api_versions = 1 };
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    SW_AUTO_CHARS *only = render_text(plan, &env, SW_ALL_STATES);
    assert_string_equal(only, "# rel ns true 3 v1.30.1 true false");
    env.add_api_versions = true;
    SW_AUTO_CHARS *added = render_text(plan, &env, SW_ALL_STATES);
    assert_string_equal(added, "# rel ns true 3 v1.30.1 true true");
    SW_AUTO_CHARS *defaults = render_text(plan, NULL, SW_ALL_STATES);
    assert_int_equal(strncmp(defaults, "# c default false 1 v1.", 23), 0);
}

static int find_node(void *arg, const char *api_version, const char *kind, const char *namespace,
                     const char *name, struct json_object **out, struct sw_err *err)
{
    int *calls = arg;
    ++*calls;
    assert_string_equal(api_version, "v1");
    assert_string_equal(kind, "Node");
    assert_string_equal(namespace, "");
    if (sw_streq(name, "later"))
        return sw_err_set(err, SW_PENDING, "not yet");
    if (sw_streq(name, "n1")) {
        *out = json_object_new_object();
        json_object_object_add(*out, "kind", json_object_new_string("Node"));
    }
    return 0;
}

static void lookups_ask_the_callback(SW_UNUSED void **state)
{
    RECIPE(r, CHART("c"),
           T("a.yaml", "# {{ (lookup \"v1\" \"Node\" \"\" \"n1\").kind }} "
                       "{{ len (lookup \"v1\" \"Node\" \"\" \"gone\") }}"));
    int calls = 0;
    struct sw_render_env env = { .lookup = find_node, .lookup_arg = &calls };
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    SW_AUTO_CHARS *text = render_text(plan, &env, SW_ALL_STATES);
    assert_string_equal(text, "# Node 0");
    assert_int_equal(calls, 2);
    RECIPE(wait, CHART("c"), T("a.yaml", "# {{ lookup \"v1\" \"Node\" \"\" \"later\" }}"));
    SW_AUTO(sw_plan) *waiting = plan_or_fail(wait, NULL);
    SW_AUTO(sw_rendered) *out = NULL;
    assert_int_equal(sw_recipe_render(waiting, &env, 0, &out, NULL), SW_PENDING);
}

static void one_state_is_rendered_alone(SW_UNUSED void **state)
{
    RECIPE(r, CHART("c"), T("0000-a.yaml", OBJECT("Pod", "a")),
           T("0001-b.yaml", "{{ .Values.missing.key }}"));
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    SW_AUTO_CHARS *text = render_text(plan, NULL, 0);
    assert_non_null(strstr(text, "kind: Pod"));
    SW_AUTO(sw_rendered) *out = NULL;
    assert_int_equal(sw_recipe_render(plan, NULL, 1, &out, NULL), SW_INVALID);
    assert_int_equal(sw_recipe_render(plan, NULL, 2, &out, NULL), SW_NOTFOUND);
}

/* All templates and the values together. */
static void limits_are_those_of_a_render(SW_UNUSED void **state)
{
#define LOOP "{{ range until 400 }}{{ end }}"
    RECIPE(r, CHART("c"), T("a.yaml", LOOP), T("b.yaml", LOOP), T("c.yaml", LOOP));
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    SW_AUTO(sw_rendered) *out = NULL;
    SW_ERR(err);
    struct sw_render_env env = { .fuel = 2000 };
    assert_int_equal(sw_recipe_render(plan, &env, SW_ALL_STATES, &out, &err), SW_INVALID);
    assert_non_null(strstr(sw_err_text(&err), "c/templates/a.yaml:1:9: "));
    assert_non_null(strstr(sw_err_text(&err), "took more than its 2000 steps"));
    SW_AUTO(sw_plan) *large = plan_or_fail(r, "a: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]");
    env = (struct sw_render_env){ .max_memory_bytes = 1000 };
    assert_int_equal(sw_recipe_render(large, &env, SW_ALL_STATES, &out, &err), SW_INVALID);
    assert_non_null(strstr(sw_err_text(&err), "the values of chart 'c' take more than"));
}

static void fuel_ends_what_does_not_end(SW_UNUSED void **state)
{
    RECIPE(r, CHART("c"), T("a.yaml", "{{ range 1000000 }}{{ range 1000000 }}{{ end }}{{ end }}"));
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    SW_AUTO(sw_rendered) *out = NULL;
    struct sw_render_env env = { .fuel = 1000 };
    assert_int_equal(sw_recipe_render(plan, &env, 0, &out, NULL), SW_INVALID);
}

static void plans_of_one_recipe_share_the_parsed_templates_and_nothing_else(SW_UNUSED void **state)
{
    RECIPE(r, CHART("c"), T("a.yaml", "# {{ .Values.a }}"));
    SW_AUTO(sw_plan) *one = plan_or_fail(r, "a: 1");
    SW_AUTO(sw_plan) *two = plan_or_fail(r, "a: 2");
    SW_AUTO_CHARS *first = render_text(one, NULL, 0), *second = render_text(two, NULL, 0);
    assert_string_equal(first, "# 1");
    assert_string_equal(second, "# 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_come_by_kind_then_by_file),
        cmocka_unit_test(states_come_before_kinds),
        cmocka_unit_test(crds_come_first_unless_left_out),
        cmocka_unit_test(hooks_stand_around_their_state),
        cmocka_unit_test(a_hook_of_an_unknown_event_is_left_out_as_in_helm),
        cmocka_unit_test(lists_are_their_items),
        cmocka_unit_test(comments_alone_are_a_document_and_no_manifest),
        cmocka_unit_test(a_template_mistake_has_file_and_line),
        cmocka_unit_test(a_yaml_mistake_has_file_and_line),
        cmocka_unit_test(what_a_manifest_lacks_is_named),
        cmocka_unit_test(for_printing_a_manifest_may_lack_what_a_server_needs),
        cmocka_unit_test(notes_are_rendered_and_left_out),
        cmocka_unit_test(templates_see_release_and_capabilities),
        cmocka_unit_test(lookups_ask_the_callback),
        cmocka_unit_test(one_state_is_rendered_alone),
        cmocka_unit_test(limits_are_those_of_a_render),
        cmocka_unit_test(fuel_ends_what_does_not_end),
        cmocka_unit_test(plans_of_one_recipe_share_the_parsed_templates_and_nothing_else),
    };
    return cmocka_run_group_tests_name("recipe_render", tests, NULL, NULL);
}
