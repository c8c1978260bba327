/* What `slipway lint --fix` changes in a text, and what it leaves alone. */
#include "cli/lint/fix.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "data/text/nearest.h"

static const struct sw_fix_opts newest = { .kube_minor = 36 };

/* @text changes to @want (NULL: not at all), and does not change again. */
static void check(enum sw_fix_kind kind, const struct sw_fix_opts *opts, const char *text,
                  const char *want)
{
    struct sw_fixes fixes = { 0 };
    SW_AUTO_CHARS *got = sw_fix_text("f.yaml", kind, text, strlen(text), opts, &fixes);
    if (!want) {
        assert_null(got);
        assert_int_equal(fixes.n, 0);
        return;
    }
    assert_non_null(got);
    assert_string_equal(got, want);
    assert_true(fixes.n > 0);
    sw_fixes_done(&fixes);
    SW_AUTO_CHARS *again = sw_fix_text("f.yaml", kind, got, strlen(got), opts, &fixes);
    assert_null(again);
    assert_int_equal(fixes.n, 0);
}

static void manifest(const char *text, const char *want)
{
    check(SW_FIX_MANIFESTS, &newest, text, want);
}

static void an_api_version_with_the_same_fields(void **state SW_UNUSED)
{
    manifest("# daily\napiVersion: batch/v1beta1 # old\nkind: CronJob\n",
             "# daily\napiVersion: batch/v1 # old\nkind: CronJob\n");
    manifest(
        "apiVersion: \"policy/v1beta1\"\r\nkind: PodDisruptionBudget\r\nspec:\r\n  selector:\r\n"
        "    matchLabels: {a: b}\r\n",
        "apiVersion: \"policy/v1\"\r\nkind: PodDisruptionBudget\r\nspec:\r\n  selector:\r\n"
        "    matchLabels: {a: b}\r\n");
    manifest("kind: Role\napiVersion: rbac.authorization.k8s.io/v1\n---\nkind: Role\n"
             "apiVersion: rbac.authorization.k8s.io/v1beta1\n",
             "kind: Role\napiVersion: rbac.authorization.k8s.io/v1\n---\nkind: Role\n"
             "apiVersion: rbac.authorization.k8s.io/v1\n");
    manifest("apiVersion: extensions/v1beta1\nkind: Deployment\nspec:\n  selector:\n  template:\n",
             "apiVersion: apps/v1\nkind: Deployment\nspec:\n  selector:\n  template:\n");
}

static void not_one_whose_fields_differ(void **state SW_UNUSED)
{
    manifest("apiVersion: extensions/v1beta1\nkind: Ingress\n", NULL);
    manifest("apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nspec: {selector: {}}\n", NULL);
    manifest("apiVersion: extensions/v1beta1\nkind: Deployment\nspec:\n  template:\n    spec:\n"
             "      x:\n        selector:\n",
             NULL);
}

static void not_where_a_template_chooses(void **state SW_UNUSED)
{
    manifest("{{- if .Capabilities.APIVersions.Has \"batch/v1\" }}\napiVersion: batch/v1\n"
             "{{- else }}\napiVersion: batch/v1beta1\n{{- end }}\nkind: CronJob\n",
             NULL);
    manifest("{{- if semverCompare \"<1.21\" .Capabilities.KubeVersion.Version }}\n"
             "apiVersion: batch/v1beta1\nkind: CronJob\n{{- end }}\n",
             NULL);
    manifest("apiVersion: {{ .Values.api }}\nkind: CronJob\n", NULL);
    manifest("{{- if .Values.on }}\napiVersion: batch/v1beta1\nkind: CronJob\n{{- end }}\n",
             "{{- if .Values.on }}\napiVersion: batch/v1\nkind: CronJob\n{{- end }}\n");
}

static void not_for_a_kubernetes_that_lacks_it(void **state SW_UNUSED)
{
    static const char text[] = "apiVersion: batch/v1beta1\nkind: CronJob\n";
    check(SW_FIX_MANIFESTS, &(struct sw_fix_opts){ .kube_minor = 20 }, text, NULL);
    check(SW_FIX_MANIFESTS, &(struct sw_fix_opts){ .kube_minor = 36, .kube_range = ">=1.20" }, text,
          NULL);
    check(SW_FIX_MANIFESTS, &(struct sw_fix_opts){ .kube_minor = 36, .kube_range = ">=1.21" }, text,
          "apiVersion: batch/v1\nkind: CronJob\n");
}

static void not_in_texts_within(void **state SW_UNUSED)
{
    manifest(
        "kind: ConfigMap\ndata:\n  a: |\n    apiVersion: batch/v1beta1\n    kind: CronJob\n    "
        "metadata:\n      annotations:\n        slipway.dev/timeout: 5 minutes\n",
        NULL);
    manifest("{{/*\napiVersion: batch/v1beta1\n*/}}\nkind: CronJob\n", NULL);
}

#define ANNOTATED(line) "metadata:\n  name: {{ .Release.Name }}\n  annotations:\n    " line "\n"

static void durations_in_words(void **state SW_UNUSED)
{
    manifest(ANNOTATED("slipway.dev/timeout: \"5 minutes\" # long"),
             ANNOTATED("slipway.dev/timeout: \"5m\" # long"));
    manifest(ANNOTATED("slipway.dev/timeout: 1 Hour and 30 min"),
             ANNOTATED("slipway.dev/timeout: 1h30m"));
    manifest(ANNOTATED("slipway.dev/timeout: 2 days"), ANNOTATED("slipway.dev/timeout: 48h"));
    manifest(ANNOTATED("slipway.dev/timeout: 1h30m"), NULL);
    manifest(ANNOTATED("slipway.dev/timeout: 5 moons"), NULL);
    manifest(ANNOTATED("slipway.dev/timeout: {{ .Values.t }}"), NULL);
}

static void annotations_that_are_misspelt(void **state SW_UNUSED)
{
    manifest(ANNOTATED("slipway.dev/timoeut: 5m"), ANNOTATED("slipway.dev/timeout: 5m"));
    manifest(ANNOTATED("\"specialresource.openshift.io/wait-for-log\": x"),
             ANNOTATED("\"specialresource.openshift.io/wait-for-logs\": x"));
    manifest(ANNOTATED("slipway.dev/timoeut: 5 minutes"), ANNOTATED("slipway.dev/timeout: 5m"));
    manifest(ANNOTATED("slipway.dev/something: 5m"), NULL);
    manifest(ANNOTATED("example.com/timoeut: 5m"), NULL);
    manifest(ANNOTATED("slipway.dev/timoeut: 5m\n    slipway.dev/timeout: 6m"), NULL);
    manifest("spec:\n  nodeSelector:\n    slipway.dev/timoeut: 5m\n", NULL);
}

static void what_must_be_text(void **state SW_UNUSED)
{
    manifest(ANNOTATED("slipway.dev/adopt: true"), ANNOTATED("slipway.dev/adopt: \"true\""));
    manifest("metadata:\n  labels:\n    version: 1.10\n",
             "metadata:\n  labels:\n    version: \"1.10\"\n");
    manifest("metadata:\n  labels:\n    a: yes\n", "metadata:\n  labels:\n    a: \"yes\"\n");
    manifest("metadata:\n  labels:\n    b: v1\n    c: 1.2.3\n", NULL);
    manifest("spec:\n  labels:\n    a: true\n", NULL);
}

#define CONFIG "apiVersion: v1\nkind: ConfigMap\n"
#define POD "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n"

static void fields_that_must_be_text(void **state SW_UNUSED)
{
    manifest(CONFIG "data:\n  port: 8080\n  flag: yes # on\n  a: b\n",
             CONFIG "data:\n  port: \"8080\"\n  flag: \"yes\" # on\n  a: b\n");
    manifest(CONFIG "data: {port: 8080, flag: yes}\n",
             CONFIG "data: {port: \"8080\", flag: \"yes\"}\n");
    manifest(POD "  - name: c\n    env:\n    - name: a\n      value: 80\n",
             POD "  - name: c\n    env:\n    - name: a\n      value: \"80\"\n");
    manifest(
        "apiVersion: apps/v1\nkind: Deployment\nspec: {selector: {matchLabels: {a: 1}}}\n",
        "apiVersion: apps/v1\nkind: Deployment\nspec: {selector: {matchLabels: {a: \"1\"}}}\n");
    manifest(POD "  - name: c\n    ports: [{containerPort: 80}]\n    stdin: true\n", NULL);
    manifest("apiVersion: example.com/v1\nkind: Pod\ndata: {a: 1}\n", NULL);
    manifest(CONFIG "data: {{ .Values.data }}\n", NULL);
}

static void maps_in_braces(void **state SW_UNUSED)
{
    manifest(
        "metadata: {name: a, annotations: {slipway.dev/timout: 5 minutes}, labels: {v: 1.10}}",
        "metadata: {name: a, annotations: {slipway.dev/timeout: 5m}, labels: {v: \"1.10\"}}\n");
    manifest(POD "  - name: c\n    env: [{name: a, value: 80}, {name: b, value: \"x\"}] # two\n",
             POD
             "  - name: c\n    env: [{name: a, value: \"80\"}, {name: b, value: \"x\"}] # two\n");
    manifest(POD "  - {name: c, env: [{name: a, value: true}]}\n",
             POD "  - {name: c, env: [{name: a, value: \"true\"}]}\n");
    manifest("metadata:\n  labels: {v: 1.10\n", NULL); /* it goes on */
    manifest("metadata:\n  labels: {v: {{ .Values.v }}, w: 1}\n", NULL);
    manifest("metadata:\n  labels: {v: 'it''s', w: \"a\\\"\", x: 1}\n", NULL);
    check(SW_FIX_CHART, &newest, "annotations: {slipway.dev/wiat: all}\n",
          "annotations: {slipway.dev/wait: all}\n");
}

#define RESOURCE(spec)                                                                             \
    "apiVersion: sro.openshift.io/v1beta1\nkind: SpecialResource\nmetadata: {name: "               \
    "a}\nspec:\n" spec

static void a_special_resource(void **state SW_UNUSED)
{
    manifest(RESOURCE("  namespcae: a\n  stateTimeout: 5 minutes\n  chart:\n    version: 1\n"),
             RESOURCE("  namespace: a\n  stateTimeout: 5m\n  chart:\n    version: \"1\"\n"));
    manifest(RESOURCE("  chart: {version: 1.10, nmae: x}\n"),
             RESOURCE("  chart: {version: \"1.10\", name: x}\n"));
    manifest(RESOURCE("  namespace: a\n  namespcae: b\n"), NULL);
    manifest(RESOURCE("  set:\n    version: 1\n    namespcae: x\n  stateTimeout: 90s\n"), NULL);
    manifest("apiVersion: example.com/v1\nkind: SpecialResource\nspec:\n  namespcae: a\n", NULL);
}

static void a_chart(void **state SW_UNUSED)
{
    static const char text[] = "apiVersion: v1\nname: c\nversion: 1.2\ndependencies:\n- name: a\n";
    check(SW_FIX_CHART, &newest, text,
          "apiVersion: v2\nname: c\nversion: \"1.2\"\ndependencies:\n- name: a\n");
    check(SW_FIX_CHART, &(struct sw_fix_opts){ .kube_minor = 36, .has_requirements = true }, text,
          "apiVersion: v1\nname: c\nversion: \"1.2\"\ndependencies:\n- name: a\n");
    check(SW_FIX_CHART, &newest, "annotations:\n  slipway.dev/weit: all\n",
          "annotations:\n  slipway.dev/wait: all\n");
    check(SW_FIX_CHART, &newest, "dependencies:\n- name: a\n  version: 1\n", NULL);
}

static void tabs_that_can_be_one_thing_only(void **state SW_UNUSED)
{
    check(SW_FIX_VALUES, &newest, "a:\n\tb: 1\n\tc: 2\n", "a:\n  b: 1\n  c: 2\n");
    check(SW_FIX_VALUES, &newest, "a:\n\tb: 1\nc: {d: e", "a:\n  b: 1\nc: {d: e");
    check(SW_FIX_VALUES, &newest, "a:\n    b:\n\tc: 2\nd: {e", NULL);
    check(SW_FIX_VALUES, &newest, "a:\n    b:\n\tc: 2\n", NULL); /* of a, or of b? */
    check(SW_FIX_VALUES, &newest, "a: |\n  x\n  \ty\n", NULL);
}

static void the_end_of_the_last_line(void **state SW_UNUSED)
{
    check(SW_FIX_VALUES, &newest, "# x\na: 1", "# x\na: 1\n");
    check(SW_FIX_VALUES, &newest, "a: |\n  x", NULL);
    check(SW_FIX_VALUES, &newest, "", NULL);
    manifest("a: {{ .Values.a }}", NULL);
}

static void the_one_that_is_near(void **state SW_UNUSED)
{
    static const char *const names[] = { "wait", "want", "other", NULL };
    assert_string_equal(sw_text_nearest_only("othre", names), "other");
    assert_null(sw_text_nearest_only("wart", names));
    assert_string_equal(sw_text_nearest_only("want", names), "want");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_api_version_with_the_same_fields),
        cmocka_unit_test(not_one_whose_fields_differ),
        cmocka_unit_test(not_where_a_template_chooses),
        cmocka_unit_test(not_for_a_kubernetes_that_lacks_it),
        cmocka_unit_test(not_in_texts_within),
        cmocka_unit_test(durations_in_words),
        cmocka_unit_test(annotations_that_are_misspelt),
        cmocka_unit_test(what_must_be_text),
        cmocka_unit_test(fields_that_must_be_text),
        cmocka_unit_test(maps_in_braces),
        cmocka_unit_test(a_special_resource),
        cmocka_unit_test(a_chart),
        cmocka_unit_test(tabs_that_can_be_one_thing_only),
        cmocka_unit_test(the_end_of_the_last_line),
        cmocka_unit_test(the_one_that_is_near),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
