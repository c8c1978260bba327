/* AICR's recipes: what criteria choose, how overlays add up, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "chart/aicr/aicr.h"
#include "chart/recipe/load/files.h"
#include "data/data.h"
#include "data/yaml/yaml.h"

#define HEAD(kind, name)                                                                           \
    "kind: " kind "\napiVersion: aicr.nvidia.com/v1alpha1\nmetadata: {name: " name "}\n"
#define OVERLAY(name) HEAD("RecipeMetadata", name) "spec:\n"

static char root[64];

/* What catalogues borrow until the end. */
static struct sw_files folders[64];
static struct sw_aicr_files tables[SW_COUNT(folders)];
static size_t n_folders;

static int open_catalog(const char *dir, struct sw_aicr_catalog **out, struct sw_err *err)
{
    assert_true(n_folders < SW_COUNT(folders));
    struct sw_files *files = &folders[n_folders];
    struct sw_aicr_files *table = &tables[n_folders++];
    *files = sw_files_init(NULL);
    int rc = sw_files_read_dir(files, dir, err);
    *table = sw_files_aicr(files);
    return rc < 0 ? rc : sw_aicr_catalog_open(dir, table, out, err);
}

static void put(const char *name, const char *text)
{
    SW_AUTO_CHARS *path = sw_printf("%s/%s", root, name);
    for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        (void)mkdir(path, 0700);
        *at = '/';
    }
    assert_int_equal(sw_file_write(path, text, strlen(text), NULL), 0);
}

static void drop(const char *name)
{
    SW_AUTO_CHARS *path = sw_printf("%s/%s", root, name);
    assert_int_equal(unlink(path), 0);
}

/* A catalogue: base has b, which needs a; eks adds c; h100-eks changes b; hpa is for all. */
static int set_up(void **state)
{
    (void)state;
    (void)snprintf(root, sizeof root, "/tmp/aicr.XXXXXX");
    assert_non_null(mkdtemp(root));
    put("registry.yaml",
        "kind: ComponentRegistry\napiVersion: aicr.nvidia.com/v1alpha1\ncomponents:\n"
        "- name: a\n  helm: {defaultRepository: https://a, defaultChart: x/chart-a, "
        "defaultVersion: v1, defaultNamespace: ns-a}\n"
        "- name: b\n  helm: {defaultRepository: https://b, defaultChart: b}\n"
        "  nodeScheduling: {system: {tolerationPaths: [one.tolerations]}}\n"
        "- name: c\n  kustomize: {defaultSource: https://c, defaultPath: p, defaultTag: t}\n");
    put("overlays/base.yaml",
        OVERLAY("base") "  constraints: [{name: K8s.server.version, value: '>= 1.25'}]\n"
                        "  componentRefs:\n"
                        "  - {name: b, version: 2.0.0, valuesFile: components/b/values.yaml, "
                        "dependencyRefs: [a]}\n"
                        "  - {name: a, type: Helm}\n"
                        "  validation: {deployment: {checks: [one, two], timeout: 5m}}\n");
    put("overlays/hpa.yaml", OVERLAY("hpa") "  criteria: {intent: any}\n"
                                            "  componentRefs: [{name: a, namespace: other}]\n");
    put("overlays/clouds/eks.yaml",
        OVERLAY("eks") "  criteria: {service: eks}\n  componentRefs: [{name: c}]\n"
                       "  constraints: [{name: K8s.server.version, value: '>= 1.28'}]\n"
                       "  validation: {deployment: {checks: [three]}}\n");
    put("overlays/h100.yaml",
        OVERLAY(
            "h100-eks") "  base: eks\n  criteria: {service: eks, accelerator: h100}\n"
                        "  componentRefs:\n"
                        "  - name: b\n    valuesFile: components/b/h100.yaml\n"
                        "    dependencyRefs: [c]\n    overrides: {one: {y: null}, three: [4]}\n");
    put("components/b/values.yaml", "one: {x: 1, y: 2}\ntwo: {z: 3}\nthree: [1, 2]\n");
    put("components/b/h100.yaml", "one: {x: 5}\n");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_folders; i++) {
        sw_files_done(&folders[i]);
        free((struct sw_aicr_file *)tables[i].items);
    }
    n_folders = 0;
    SW_AUTO_CHARS *command = sw_printf("rm -r %s", root);
    return system(command);
}

static struct json_object *resolve_in(const char *dir, const char *criteria)
{
    SW_ERR(err);
    SW_AUTO(sw_aicr_catalog) *c = NULL;
    SW_AUTO_JSON *wanted = NULL;
    struct json_object *result = NULL;
    if (open_catalog(dir, &c, &err) < 0 || sw_aicr_criteria(c, criteria, &wanted, &err) < 0 ||
        sw_aicr_resolve(c, wanted, &result, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    return result;
}

static void check_refused(const char *criteria, const char *why)
{
    SW_ERR(err);
    SW_AUTO(sw_aicr_catalog) *c = NULL;
    SW_AUTO_JSON *wanted = NULL, *result = NULL;
    if (open_catalog(root, &c, &err) == 0 && sw_aicr_criteria(c, criteria, &wanted, &err) == 0 &&
        sw_aicr_resolve(c, wanted, &result, &err) == 0)
        fail_msg("%s is taken", criteria);
    if (!strstr(sw_err_text(&err), why))
        fail_msg("not '%s': %s", why, sw_err_text(&err));
}

static void check_text(struct json_object *doc, const char *text)
{
    SW_AUTO_JSON *wanted = NULL;
    if (sw_yaml_parse(text, strlen(text), NULL, &wanted, NULL) < 0 || !sw_json_equal(doc, wanted))
        fail_msg("%s\nis not\n%s", json_object_to_json_string(doc), text);
}

static struct json_object *component(struct json_object *result, const char *name)
{
    return sw_json_find_by(sw_json_get(result, "componentRefs"), "name", name);
}

static void what_an_overlay_states_must_be_asked_for(void **state)
{
    (void)state;
    SW_AUTO_JSON *none = resolve_in(root, ""), *eks = resolve_in(root, "service=eks"),
                 *h100 = resolve_in(root, "accelerator=h100,service=eks"),
                 *h100_alone = resolve_in(root, "accelerator=h100");
    check_text(sw_json_find(none, "metadata", "appliedOverlays", NULL), "[base, hpa]");
    check_text(sw_json_find(eks, "metadata", "appliedOverlays", NULL), "[base, hpa, eks]");
    check_text(sw_json_find(h100, "metadata", "appliedOverlays", NULL),
               "[base, hpa, eks, h100-eks]");
    check_text(sw_json_find(h100_alone, "metadata", "appliedOverlays", NULL), "[base, hpa]");
    check_text(sw_json_get(eks, "criteria"),
               "{service: eks, accelerator: any, intent: any, os: any, platform: any}");
}

static void overlays_add_up(void **state)
{
    (void)state;
    SW_AUTO_JSON *r = resolve_in(root, "service=eks,accelerator=h100");
    check_text(sw_json_get(r, "constraints"), "[{name: K8s.server.version, value: '>= 1.28'}]");
    check_text(component(r, "a"), "{name: a, type: Helm, namespace: other, chart: chart-a, "
                                  "source: https://a, version: v1}");
    check_text(component(r, "b"),
               "{name: b, type: Helm, chart: b, source: https://b, version: 2.0.0, valuesFile: "
               "components/b/h100.yaml, overrides: {one: {y: null}, three: [4]}, dependencyRefs: "
               "[a, c]}");
    check_text(component(r, "c"), "{name: c, type: Kustomize, source: https://c, path: p, tag: t}");
    check_text(sw_json_get(r, "deploymentOrder"), "[a, c, b]");
    check_text(sw_json_get(r, "validation"), "{deployment: {checks: [three]}}");
}

static void newer_catalogues_add_checks_up(void **state)
{
    (void)state;
    put("overlays/base.yaml", "kind: RecipeMetadata\napiVersion: aicr.run/v1beta1\n"
                              "metadata: {name: base}\nspec:\n  componentRefs: [{name: a}]\n"
                              "  validation: {deployment: {checks: [one, two], timeout: 5m}}\n");
    put("overlays/h100.yaml", OVERLAY("h100-eks") "  base: eks\n  mixins: [m]\n"
                                                  "  criteria: {accelerator: h100}\n");
    put("mixins/m.yaml",
        HEAD("RecipeMixin", "m") "spec:\n  constraints: [{name: x, value: '1'}]\n"
                                 "  componentRefs: [{name: a, manifestFiles: [f]}]\n");
    SW_AUTO_JSON *r = resolve_in(root, "accelerator=h100");
    check_text(sw_json_get(r, "validation"),
               "{deployment: {checks: [one, two, three], timeout: 5m}}");
    check_text(sw_json_find(component(r, "a"), "manifestFiles", NULL), "[f]");
    assert_non_null(sw_json_find_by(sw_json_get(r, "constraints"), "name", "x"));
    assert_null(sw_json_get(r, "mixins"));
    put("mixins/m.yaml",
        HEAD("RecipeMixin", "m") "spec:\n  componentRefs: [{name: a, version: v2}]\n");
    check_refused("accelerator=h100", "the field 'version' is not known here");
}

static void values_are_the_catalogues_then_the_files_then_overrides(void **state)
{
    (void)state;
    SW_AUTO_JSON *r = resolve_in(root, "service=eks,accelerator=h100"), *values = NULL,
                 *none = NULL;
    SW_AUTO(sw_aicr_catalog) *c = NULL;
    assert_int_equal(open_catalog(root, &c, NULL), 0);
    assert_int_equal(sw_aicr_values(c, component(r, "b"), NULL, &values, NULL), 0);
    check_text(values, "{one: {x: 5, y: null, tolerations: [{operator: Exists}]}, two: {z: 3}, "
                       "three: [4]}");
    assert_int_equal(sw_aicr_values(c, component(r, "a"), NULL, &none, NULL), 0);
    check_text(none, "{}");
}

static void files_out_of_the_catalogue_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = { "/etc/passwd", "../x", "components/../../x", "a/..", "" };
    SW_AUTO(sw_aicr_catalog) *c = NULL;
    assert_int_equal(open_catalog(root, &c, NULL), 0);
    for (size_t i = 0; i < SW_COUNT(bad); i++) {
        const struct sw_aicr_file *file;
        assert_int_equal(sw_aicr_file(c, bad[i], &file, NULL), SW_NOTFOUND);
    }
}

static void what_is_not_known_is_named(void **state)
{
    (void)state;
    put("overlays/bad.yaml", OVERLAY("bad") "  componentRefs: [{name: ../a}]\n");
    check_refused("", "'../a' is no name");
    drop("overlays/bad.yaml");
    check_refused("service=gke", "no overlay is for service 'gke'; there are: eks");
    check_refused("cloud=eks", "'cloud' is none of service, accelerator");
    check_refused("eks", "'eks' is no NAME=VALUE");
    check_refused("nodes=x", "'x' is no number");
    put("overlays/bad.yaml", OVERLAY("bad") "  componentRefs: [{name: a, colour: red}]\n");
    check_refused("", "overlays/bad.yaml: componentRefs 'a': the field 'colour' is not known here");
    put("overlays/bad.yaml",
        "kind: RecipeMetadata\napiVersion: aicr.run/v9\nmetadata: {name: bad}\n");
    check_refused("", "apiVersion: 'aicr.run/v9' is not known here");
    put("overlays/bad.yaml", OVERLAY("bad") "  base: nobody\n  criteria: {os: any}\n");
    check_refused("", "there is no 'nobody'");
    put("overlays/bad.yaml", OVERLAY("bad") "  base: bad\n  criteria: {os: any}\n");
    check_refused("", "overlay 'bad' inherits from itself");
    put("overlays/bad.yaml", OVERLAY("bad") "  criteria: {os: any}\n"
                                            "  componentRefs: [{name: a, dependencyRefs: [b]}]\n");
    check_refused("", "its dependencyRefs are a circle");
    put("overlays/bad.yaml", OVERLAY("bad") "  criteria: {os: any}\n"
                                            "  componentRefs: [{name: a, dependencyRefs: [z]}]\n");
    check_refused("", "component 'a': dependencyRefs: there is no component 'z'");
    drop("overlays/bad.yaml");
}

static void results_are_read_as_they_are_written(void **state)
{
    (void)state;
    SW_ERR(err);
    SW_AUTO_JSON *r = resolve_in(root, "service=eks,accelerator=h100"), *again = NULL, *bad = NULL;
    SW_AUTO_CHARS *text = sw_aicr_result_text(r);
    assert_true(sw_starts_with(text, "kind: RecipeResult\napiVersion: "));
    if (sw_aicr_result_read("r.yaml", text, strlen(text), &again, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    assert_true(sw_json_equal(r, again));
    SW_AUTO_CHARS *more = sw_printf("%sextra: 1\n", text);
    assert_int_equal(sw_aicr_result_read("r.yaml", more, strlen(more), &bad, &err), SW_INVALID);
    assert_string_equal(sw_err_text(&err),
                        "r.yaml: the document: the field 'extra' is not known here");
}

/* What `aicr recipe` answered, and what `aicr bundle` made of it: the tests' shared data. */
static void nvidias_own_catalogue_is_resolved_as_aicr_does(void **state)
{
    (void)state;
    const char *shared = getenv("SW_SHARED");
    SW_AUTO_CHARS *list = sw_printf("%s/aicr/resolved", shared ? shared : "/nonexistent");
    if (access(list, R_OK) != 0)
        skip();
    SW_AUTO_CHARS *command = sw_printf("ls %s/*.yaml", list);
    SW_AUTO_CHARS *catalog = sw_printf("%s/aicr/catalog", shared);
    FILE *names = popen(command, "r");
    char path[512];
    int n = 0;
    while (fgets(path, sizeof path, names)) {
        SW_ERR(err);
        SW_AUTO_CHARS *text = NULL;
        SW_AUTO_JSON *wanted = NULL;
        size_t len;
        path[strcspn(path, "\n")] = '\0';
        if (sw_file_read(path, 1 << 20, &text, &len, &err) < 0 ||
            sw_aicr_result_read(path, text, len, &wanted, &err) < 0)
            fail_msg("%s", sw_err_text(&err));
        SW_AUTO_CHARS *criteria = sw_strdup("");
        json_object_object_foreach(sw_json_get(wanted, "criteria"), key, value)
            sw_append(&criteria, "%s=%s,", key, json_object_get_string(value));
        SW_AUTO_JSON *got = resolve_in(catalog, criteria);
        (void)sw_json_del(wanted, "metadata", "version", NULL);
        if (!sw_json_equal(got, wanted)) {
            SW_AUTO_CHARS *a = sw_aicr_result_text(got), *b = sw_aicr_result_text(wanted);
            fail_msg("%s:\n%s\nis not\n%s", path, a, b);
        }
        n++;
    }
    (void)pclose(names);
    assert_true(n >= 24);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(what_an_overlay_states_must_be_asked_for),
        T(overlays_add_up),
        T(newer_catalogues_add_checks_up),
        T(values_are_the_catalogues_then_the_files_then_overrides),
        T(files_out_of_the_catalogue_are_refused),
        T(what_is_not_known_is_named),
        T(results_are_read_as_they_are_written),
        T(nvidias_own_catalogue_is_resolved_as_aicr_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
