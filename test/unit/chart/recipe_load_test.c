/* From files to charts: what is read, where dependencies are found, what is refused. */
#include "recipe_util.h"

#include <sys/stat.h>

#include "chart/recipe/package/config_map.h"

#define LOAD_ERROR(words, ...)                                                                     \
    expect_load_error((const struct sw_recipe_file[]){ __VA_ARGS__, { 0 } }, words)
#define CHART_TEXT(text)                                                                           \
    {                                                                                              \
        "Chart.yaml", text, 0                                                                      \
    }

/* ---- Chart.yaml ---------------------------------------------------------------------------------
 */

static void a_folder_without_chart_yaml_is_no_chart(SW_UNUSED void **state)
{
    LOAD_ERROR("test: not a chart: Chart.yaml is missing", CONFIG_MAP("templates/a.yaml", "a"));
}

static void chart_yaml_must_be_a_map(SW_UNUSED void **state)
{
    LOAD_ERROR("test/Chart.yaml: empty, expected a map", CHART_TEXT(""));
    LOAD_ERROR("test/Chart.yaml: a list, expected a map", CHART_TEXT("- a"));
    LOAD_ERROR("test/Chart.yaml: a string, expected a map", CHART_TEXT("a"));
    LOAD_ERROR("test/Chart.yaml:3:1:", CHART_TEXT("a: 1\nb: [\n"));
}

static void name_and_version_are_required(SW_UNUSED void **state)
{
    LOAD_ERROR("test/Chart.yaml: name: required", CHART_TEXT("apiVersion: v2\nversion: 1.0.0\n"));
    LOAD_ERROR("test/Chart.yaml: version: required", CHART_TEXT("apiVersion: v2\nname: a\n"));
    LOAD_ERROR("version: 'one' is no semantic version",
               CHART_TEXT("apiVersion: v2\nname: a\nversion: one\n"));
}

static void a_name_may_not_lead_elsewhere(SW_UNUSED void **state)
{
    LOAD_ERROR("name: '../a' is no name", CHART_TEXT("name: ../a\nversion: 1.0.0\n"));
    LOAD_ERROR("name: '..' is no name", CHART_TEXT("name: ..\nversion: 1.0.0\n"));
}

static void fields_have_types(SW_UNUSED void **state)
{
    LOAD_ERROR("appVersion: a list, expected a string",
               CHART_TEXT("name: a\nversion: 1.0.0\nappVersion: [1]\n"));
    LOAD_ERROR("annotations.a: a list, expected a string",
               CHART_TEXT("name: a\nversion: 1.0.0\nannotations: {a: [1]}\n"));
    LOAD_ERROR("dependencies: a map, expected a list",
               CHART_TEXT("name: a\nversion: 1.0.0\ndependencies: {}\n"));
    LOAD_ERROR("type: 'app' is neither", CHART_TEXT("name: a\nversion: 1.0.0\ntype: app\n"));
}

/* What Helm 3.17 and 4.1 made of the same file. */
static void numbers_are_text_where_text_belongs(SW_UNUSED void **state)
{
    RECIPE(r,
           CHART_TEXT("apiVersion: v2\nname: 5\nversion: 1.10\nappVersion: 12345678.9\n"
                      "description: 1.5e-7\nicon: yes\nhome: 017\nkeywords: [1.50, true]\n"
                      "annotations: {a: 1e21, b: null, slipway.dev/wait: no}\n"),
           { "templates/t.yaml",
             "# {{ with .Chart }}{{ .Name }} {{ .Version }} {{ .AppVersion }} {{ .Description }} "
             "{{ .Icon }} {{ .Home }} {{ .Keywords }} {{ .Annotations }}{{ end }}",
             0 });
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    SW_AUTO_CHARS *text = render_text(plan, NULL, SW_ALL_STATES);
    assert_string_equal(text, "# 5 1.1 1.2345679e+07 1.5e-07 true 15 [1.5 true] "
                              "map[a:1e+21 b: slipway.dev/wait:false]");
    assert_string_equal(sw_json_str((struct json_object *)sw_recipe_metadata(r), "", "annotations",
                                    "slipway.dev/wait", NULL),
                        "false");
    RECIPE(deps,
           CHART_TEXT("apiVersion: v2\nname: a\nversion: 1\n"
                      "dependencies: [{name: 7, version: 2, tags: [3]}]\n"),
           { "charts/7/Chart.yaml", "apiVersion: v2\nname: 7\nversion: 2\n", 0 });
    assert_string_equal(sw_recipe_version(deps), "1");
}

static void dependencies_are_checked(SW_UNUSED void **state)
{
    LOAD_ERROR("test/Chart.yaml: dependencies[0]: name: required",
               CHART_TEXT("name: a\nversion: 1.0.0\ndependencies: [{version: 1.0.0}]\n"));
    LOAD_ERROR("'x' is there twice",
               CHART_TEXT("name: a\nversion: 1.0.0\n"
                          "dependencies: [{name: x}, {name: b, alias: x}]\n"));
    LOAD_ERROR("alias: 'a b'", CHART_TEXT("name: a\nversion: 1.0.0\n"
                                          "dependencies: [{name: x, alias: 'a b'}]\n"));
    LOAD_ERROR("depends-on[1]: expected a string",
               CHART_TEXT("name: a\nversion: 1.0.0\n"
                          "dependencies: [{name: x, depends-on: [a, []]}]\n"));
}

static void a_library_has_nothing_to_apply(SW_UNUSED void **state)
{
    RECIPE(r, CHART_TEXT("name: a\nversion: 1.0.0\ntype: library\n"));
    expect_plan_error(r, NULL, "is a library chart");
}

static void a_librarys_partials_are_there_and_its_templates_are_not(SW_UNUSED void **state)
{
    RECIPE(r, CHART("top"), { "templates/t.yaml", "# {{ template \"x\" }}", 0 },
           { "charts/lib/Chart.yaml", "name: lib\nversion: 1.0.0\ntype: library\n", 0 },
           { "charts/lib/templates/_x.tpl", "{{ define \"x\" }}from lib{{ end }}", 0 },
           { "charts/lib/templates/y.yaml", "# never", 0 });
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    SW_AUTO_CHARS *text = render_text(plan, NULL, SW_ALL_STATES);
    assert_string_equal(text, "# from lib");
}

static void an_older_kubernetes_than_the_chart_asks_for_is_refused(SW_UNUSED void **state)
{
    RECIPE(r, CHART_TEXT("name: a\nversion: 1.0.0\nkubeVersion: '>= 1.26.0-0'\n"));
    SW_AUTO(sw_plan) *plan = NULL;
    SW_ERR(err);
    struct sw_render_env env = { .kube_version = "v1.25.3" };
    assert_int_equal(sw_recipe_plan(r, NULL, &env, &plan, &err), SW_INVALID);
    assert_non_null(strstr(sw_err_text(&err), ">= 1.26.0-0, this is v1.25.3"));
    env.kube_version = "v1.27.1+k3s1";
    assert_int_equal(sw_recipe_plan(r, NULL, &env, &plan, &err), 0);
}

/* ---- subcharts ----------------------------------------------------------------------------------
 */

static void requirements_yaml_is_read_for_v1(SW_UNUSED void **state)
{
    RECIPE(r, CHART_TEXT("apiVersion: v1\nname: a\nversion: 1.0.0\n"),
           { "requirements.yaml",
             "dependencies: [{name: s, version: 1.0.0, condition: s.enabled}]\n", 0 },
           SUBCHART("s", "s"), CONFIG_MAP("charts/s/templates/x.yaml", "x"));
    expect_graph(r, NULL, "s");
    expect_graph(r, "s: {enabled: false}", "");
}

static void folders_with_a_dot_or_underscore_are_no_subcharts(SW_UNUSED void **state)
{
    RECIPE(r, CHART("top"), { "charts/_x/a", "a", 0 }, { "charts/.y/b", "b", 0 },
           { "charts/README.md", "c", 0 });
    expect_graph(r, NULL, "");
}

static void a_mistake_in_a_subchart_names_it(SW_UNUSED void **state)
{
    LOAD_ERROR("test/charts/s/Chart.yaml: version: required", CHART("top"),
               { "charts/s/Chart.yaml", "name: s\n", 0 });
    LOAD_ERROR("test/charts/s/values.yaml:2:1:", CHART("top"), SUBCHART("s", "s"),
               { "charts/s/values.yaml", "a: [", 0 });
}

static void a_missing_dependency_is_named_with_where_it_comes_from(SW_UNUSED void **state)
{
    LOAD_ERROR("test/Chart.yaml: dependencies[0] 's': not in charts/, where it is to be put "
               "from oci://example.org/charts",
               CHART_TEXT("name: a\nversion: 1.0.0\ndependencies:\n"
                          "- {name: s, version: 1.0.0, repository: 'oci://example.org/charts'}\n"));
}

static void another_version_than_asked_for_is_refused(SW_UNUSED void **state)
{
    LOAD_ERROR("dependencies[0] 's': version '>= 2' is asked for, test/charts/s is 1.0.0",
               CHART_TEXT("name: a\nversion: 1.0.0\ndependencies: [{name: s, version: '>= 2'}]\n"),
               SUBCHART("s", "s"));
}

static void texts_of_chart_yaml_are_one_printable_line(SW_UNUSED void **state)
{
    RECIPE(r, CHART_TEXT("name: a\nversion: 1.0.0\ndescription: \"two\\nli\\u200Bnes\"\n"),
           { "templates/a.yaml", "# {{ .Chart.Description }}", 0 });
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    SW_AUTO_CHARS *text = render_text(plan, NULL, SW_ALL_STATES);
    assert_string_equal(text, "# two lines");
}

static void capabilities_are_the_newest_helms(SW_UNUSED void **state)
{
    RECIPE(
        r, CHART_TEXT("name: a\nversion: 1.0.0\n"),
        { "templates/a.yaml",
          "# {{ .Capabilities.KubeVersion }} {{ .Capabilities.HelmVersion.Version }}"
          " {{ .Capabilities.HelmVersion.GitCommit | trunc 7 }}"
          " {{ .Capabilities.HelmVersion.GitTreeState }} {{ .Capabilities.HelmVersion.GoVersion }}"
          " {{ .Capabilities.APIVersions.Has \"resource.k8s.io/v1\" }}"
          " {{ .Capabilities.APIVersions.Has \"autoscaling/v2beta2\" }}",
          0 });
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    SW_AUTO_CHARS *text = render_text(plan, NULL, SW_ALL_STATES);
    assert_string_equal(text, "# v1.36.0 v3.21.4 813176c clean go1.26 true false");
}

static void a_dependency_without_a_version_takes_any(SW_UNUSED void **state)
{
    RECIPE(r, CHART_TEXT("name: a\nversion: 1.0.0\ndependencies: [{name: s, alias: t}]\n"),
           SUBCHART("s", "s"), CONFIG_MAP("charts/s/templates/x.yaml", "x"));
    expect_graph(r, NULL, "t");
}

static void a_file_repository_needs_a_chart_in_a_directory(SW_UNUSED void **state)
{
    LOAD_ERROR("file:///etc cannot be read for a chart that lies in no directory",
               CHART_TEXT("name: a\nversion: 1.0.0\ndependencies:\n"
                          "- {name: s, version: 1.0.0, repository: 'file:///etc'}\n"));
    LOAD_ERROR("file://../s cannot be read for a chart that lies in no directory",
               CHART_TEXT("name: a\nversion: 1.0.0\ndependencies:\n"
                          "- {name: s, version: 1.0.0, repository: 'file://../s'}\n"));
}

static void charts_in_charts_are_bounded(SW_UNUSED void **state)
{
    struct sw_recipe_file files[20] = { 0 };
    char names[20][256], path[200] = "";
    for (int i = 0; i < 19; i++) {
        (void)snprintf(names[i], sizeof names[i], "%sChart.yaml", path);
        files[i] = (struct sw_recipe_file){ names[i], "name: c\nversion: 1.0.0\n", 0 };
        strncat(path, "charts/c/", sizeof path - strlen(path) - 1);
    }
    expect_load_error(files, "more than 16 charts in each other");
}

/* ---- limits and bytes ---------------------------------------------------------------------------
 */

static void files_are_bounded(SW_UNUSED void **state)
{
    struct sw_recipe_file files[] = { { "Chart.yaml", "name: a\nversion: 1.0.0\n", 23 },
                                      { "b", "0123456789", 10 } };
    SW_AUTO(sw_recipe) *r = NULL;
    SW_ERR(err);
    struct sw_recipe_opts few = { .max_files = 1 }, small = { .max_bytes = 30 };
    assert_int_equal(sw_recipe_from_files("t", files, 2, &few, &r, &err), SW_INVALID);
    assert_string_equal(sw_err_text(&err), "t: more than 1 files");
    assert_int_equal(sw_recipe_from_files("t", files, 2, &small, &r, &err), SW_INVALID);
    assert_string_equal(sw_err_text(&err), "t: more than 30 bytes in all");
}

static void a_file_twice_is_refused(SW_UNUSED void **state)
{
    LOAD_ERROR("test: values.yaml: a file that is there twice", CHART("a"),
               { "values.yaml", "a: 1", 0 }, { "values.yaml", "a: 2", 0 });
}

static void a_byte_order_mark_is_cut_off(SW_UNUSED void **state)
{
    RECIPE(r, CHART("a"),
           { "values.yaml",
             "\xEF\xBB\xBF"
             "a: 1\n",
             0 });
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    expect_values(plan, "{\"a\":1}");
}

static void values_must_be_a_map(SW_UNUSED void **state)
{
    LOAD_ERROR("test/values.yaml: not a map", CHART("a"), { "values.yaml", "- a", 0 });
    RECIPE(r, CHART("a"), { "values.yaml", "# nothing\n", 0 });
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    expect_values(plan, "{}");
}

static void files_can_be_looked_up(SW_UNUSED void **state)
{
    RECIPE(r, CHART("a"), { "a.yaml", "kind: SpecialResource\n", 0 });
    assert_string_equal(sw_recipe_find_file(r, "a.yaml")->bytes, "kind: SpecialResource\n");
    assert_null(sw_recipe_find_file(r, "b.yaml"));
    assert_string_equal(sw_recipe_name(r), "a");
    assert_string_equal(sw_recipe_version(r), "1.2.3");
}

static void templates_see_the_files_of_their_chart(SW_UNUSED void **state)
{
    RECIPE(r, CHART("a"), { "conf/x.txt", "content", 0 },
           { "templates/t.yaml", "# {{ .Files.Get \"conf/x.txt\" }}", 0 });
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    SW_AUTO_CHARS *text = render_text(plan, NULL, SW_ALL_STATES);
    assert_string_equal(text, "# content");
}

/* ---- directories --------------------------------------------------------------------------------
 */

static char base[] = "/tmp/slipway-load-XXXXXX";

static int make_base(SW_UNUSED void **state)
{
    return mkdtemp(base) ? 0 : -1;
}

static int remove_base(SW_UNUSED void **state)
{
    SW_AUTO_CHARS *command = sw_printf("rm -rf %s", base);
    return system(command);
}

static void put(const char *path, const char *text)
{
    SW_AUTO_CHARS *full = sw_printf("%s/%s", base, path);
    for (char *slash = strchr(full + strlen(base) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(full, 0755); /* there already is fine: the file below would fail */
        *slash = '/';
    }
    assert_int_equal(sw_file_write(full, text, strlen(text), NULL), 0);
}

static int open_dir(const char *path, struct sw_recipe **out, struct sw_err *err)
{
    SW_AUTO_CHARS *full = sw_printf("%s/%s", base, path);
    return sw_recipe_open(full, NULL, out, err);
}

static void file_dependencies_are_relative_to_the_chart(SW_UNUSED void **state)
{
    put("umbrella/recipes/top/Chart.yaml",
        "name: top\nversion: 1.0.0\ndependencies:\n"
        "- {name: s, version: 1.0.0, repository: 'file://../../states/s'}\n"
        "- {name: s, version: 1.0.0, alias: t, repository: 'file://../../states/s', "
        "depends-on: [s]}\n");
    put("umbrella/states/s/Chart.yaml", "name: s\nversion: 1.0.0\n");
    put("umbrella/states/s/templates/x.yaml", "# {{ .Chart.Name }}");
    SW_AUTO(sw_recipe) *r = NULL;
    SW_ERR(err);
    if (open_dir("umbrella/recipes/top/", &r, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    expect_graph(r, NULL, "s; t <- s");
}

static void a_copy_in_charts_wins_over_its_repository(SW_UNUSED void **state)
{
    put("copy/Chart.yaml", "name: top\nversion: 1.0.0\ndependencies:\n"
                           "- {name: s, version: 1.0.0, repository: 'file://../nowhere'}\n");
    put("copy/charts/s/Chart.yaml", "name: s\nversion: 1.0.0\n");
    SW_AUTO(sw_recipe) *r = NULL;
    assert_int_equal(open_dir("copy", &r, NULL), 0);
}

static void a_file_dependency_that_is_not_there_is_named(SW_UNUSED void **state)
{
    put("gone/Chart.yaml", "name: top\nversion: 1.0.0\ndependencies:\n"
                           "- {name: s, version: 1.0.0, repository: 'file://../nowhere'}\n");
    SW_AUTO(sw_recipe) *r = NULL;
    SW_ERR(err);
    assert_int_equal(open_dir("gone", &r, &err), SW_INVALID);
    assert_non_null(strstr(sw_err_text(&err), "dependencies[0] 's': file://../nowhere"));
}

static void a_file_dependency_must_have_the_name_asked_for(SW_UNUSED void **state)
{
    put("other/Chart.yaml", "name: top\nversion: 1.0.0\ndependencies:\n"
                            "- {name: s, version: 1.0.0, repository: 'file://sub'}\n");
    put("other/sub/Chart.yaml", "name: z\nversion: 1.0.0\n");
    SW_AUTO(sw_recipe) *r = NULL;
    SW_ERR(err);
    assert_int_equal(open_dir("other", &r, &err), SW_INVALID);
    assert_non_null(strstr(sw_err_text(&err), "file://sub holds chart 'z'"));
}

static void charts_that_depend_on_each_other_are_named(SW_UNUSED void **state)
{
    put("ring/a/Chart.yaml", "name: a\nversion: 1.0.0\ndependencies:\n"
                             "- {name: b, version: 1.0.0, repository: 'file://../b'}\n");
    put("ring/b/Chart.yaml", "name: b\nversion: 1.0.0\ndependencies:\n"
                             "- {name: a, version: 1.0.0, repository: 'file://../a'}\n");
    SW_AUTO(sw_recipe) *r = NULL;
    SW_ERR(err);
    assert_int_equal(open_dir("ring/a", &r, &err), SW_INVALID);
    assert_non_null(strstr(sw_err_text(&err), "charts depend on each other: a -> b -> a"));
}

static void helmignore_leaves_files_out(SW_UNUSED void **state)
{
    put("ign/Chart.yaml", "name: top\nversion: 1.0.0\n");
    put("ign/.helmignore", "# mine\n*.bak\nscratch/\n");
    put("ign/templates/a.yaml", "# a");
    put("ign/templates/a.yaml.bak", "{{ broken");
    put("ign/templates/.hidden.yaml", "{{ broken");
    put("ign/scratch/big", "x");
    SW_AUTO(sw_recipe) *r = NULL;
    assert_int_equal(open_dir("ign", &r, NULL), 0);
    assert_null(sw_recipe_find_file(r, "scratch/big"));
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    SW_AUTO_CHARS *text = render_text(plan, NULL, SW_ALL_STATES);
    assert_string_equal(text, "# a");
}

static void files_of_any_size_are_read_whole(SW_UNUSED void **state)
{
    static const size_t sizes[] = { 0, 1, 32767, 32768, 32769, 131072, 300000 };
    put("big/Chart.yaml", "name: top\nversion: 1.0.0\n");
    char *text = sw_alloc(300001);
    for (size_t i = 0; i < 300000; i++)
        text[i] = (char)('a' + i % 26);
    for (size_t i = 0; i < SW_COUNT(sizes); i++) {
        char saved = text[sizes[i]];
        text[sizes[i]] = '\0';
        put("big/file", text);
        SW_AUTO(sw_recipe) *r = NULL;
        assert_int_equal(open_dir("big", &r, NULL), 0);
        const struct sw_recipe_file *file = sw_recipe_find_file(r, "file");
        assert_int_equal(file->len, sizes[i]);
        assert_memory_equal(file->bytes, text, sizes[i] + 1);
        text[sizes[i]] = saved;
    }
    free(text);
}

static void a_template_or_values_in_utf_16_are_told_with_their_encoding(SW_UNUSED void **state)
{
    LOAD_ERROR("test/templates/a.yaml: the file is in UTF-16LE; a template must be in UTF-8",
               CHART_TEXT("name: a\nversion: 1.0.0\n"),
               { "templates/a.yaml",
                 "\xff\xfe"
                 "a\0:\0 \0001\0",
                 10 });
    LOAD_ERROR("test/templates/_a.tpl: the file is in UTF-16BE; a template must be in UTF-8",
               CHART_TEXT("name: a\nversion: 1.0.0\n"), { "templates/_a.tpl", "\0a\0\n", 4 });
    LOAD_ERROR("test/values.yaml:1:2: the file is in UTF-16LE; it must be in UTF-8",
               CHART_TEXT("name: a\nversion: 1.0.0\n"), { "values.yaml", "a\0:\0 \0001\0", 8 });
}

static void values_in_utf_16_with_its_mark_are_read(SW_UNUSED void **state)
{
    RECIPE(r, CHART_TEXT("name: a\nversion: 1.0.0\n"),
           { "values.yaml",
             "\xff\xfe"
             "a\0:\0 \0001\0",
             10 });
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    expect_values(plan, "{\"a\":1}");
}

static void a_link_to_a_folder_above_ends(SW_UNUSED void **state)
{
    put("loop/Chart.yaml", "name: top\nversion: 1.0.0\n");
    SW_AUTO_CHARS *path = sw_printf("%s/loop/again", base);
    assert_int_equal(symlink(".", path), 0);
    SW_AUTO(sw_recipe) *r = NULL;
    SW_ERR(err);
    assert_int_equal(open_dir("loop", &r, &err), SW_INVALID);
    assert_non_null(strstr(sw_err_text(&err), "deep"));
}

static void urls_of_files_are_paths_and_other_schemes_are_refused(SW_UNUSED void **state)
{
    put("url/Chart.yaml", "name: top\nversion: 1.0.0\n");
    SW_AUTO_CHARS *url = sw_printf("file://%s/url", base);
    SW_AUTO(sw_recipe) *r = NULL;
    SW_ERR(err);
    assert_int_equal(sw_recipe_open(url, NULL, &r, NULL), 0);
    SW_AUTO(sw_recipe) *none = NULL;
    assert_int_equal(sw_recipe_open("gopher://x", NULL, &none, &err), SW_INVALID);
    assert_non_null(strstr(sw_err_text(&err), "recipes cannot be read from gopher://"));
    assert_int_equal(sw_recipe_open("/no/such/dir", NULL, &none, &err), SW_NOTFOUND);
    assert_string_equal(sw_err_text(&err), "/no/such/dir: No such file or directory");
}

/* ---- ConfigMaps ---------------------------------------------------------------------------------
 */

static int open_config_map(const char *json, struct sw_recipe **out, struct sw_err *err)
{
    SW_AUTO_JSON *cm = NULL;
    assert_int_equal(sw_json_parse(json, strlen(json), NULL, &cm, NULL), 0);
    return sw_recipe_from_config_map(cm, NULL, out, err);
}

static void a_config_map_with_a_key_a_file_is_a_recipe(SW_UNUSED void **state)
{
    SW_AUTO(sw_recipe) *r = NULL;
    SW_ERR(err);
    if (open_config_map(
            "{\"metadata\": {\"name\": \"kmod\", \"namespace\": \"ns\"}, \"data\": {"
            "\"Chart.yaml\": \"name: my\\nversion: 2.0.0\\n\","
            "\"values.yaml\": \"a: 1\\n\", \"_h.tpl\": \"{{ define \\\"x\\\" }}h{{ end }}\","
            "\"0001-b.yaml\": \"# b {{ .Values.a }}\","
            "\"0000-a.yaml\": \"# a {{ template \\\"x\\\" }}\"}}",
            &r, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    assert_string_equal(sw_recipe_name(r), "my");
    expect_graph(r, NULL, "0000; 0001 <- 0000");
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    SW_AUTO_CHARS *text = render_text(plan, NULL, SW_ALL_STATES);
    assert_string_equal(text, "# a h\n---\n# b 1");
}

static void a_config_map_needs_no_chart_yaml(SW_UNUSED void **state)
{
    SW_AUTO(sw_recipe) *r = NULL;
    assert_int_equal(open_config_map("{\"metadata\": {\"name\": \"kmod\", \"namespace\": \"ns\"},"
                                     "\"binaryData\": {\"0000-a.yaml\": \"IyBh\"}}",
                                     &r, NULL),
                     0);
    assert_string_equal(sw_recipe_name(r), "kmod");
    SW_AUTO(sw_plan) *plan = plan_or_fail(r, NULL);
    SW_AUTO_CHARS *text = render_text(plan, NULL, SW_ALL_STATES);
    assert_string_equal(text, "# a");
}

static void a_bad_config_map_is_named(SW_UNUSED void **state)
{
    SW_AUTO(sw_recipe) *r = NULL;
    SW_ERR(err);
    assert_int_equal(
        open_config_map("{\"metadata\": {\"name\": \"k\", \"namespace\": \"n\"}}", &r, &err),
        SW_INVALID);
    assert_string_equal(sw_err_text(&err), "configmap n/k: it is empty");
    assert_int_equal(open_config_map("{\"metadata\": {\"name\": \"k\", \"namespace\": \"n\"},"
                                     "\"binaryData\": {\"a\": \"*\"}}",
                                     &r, &err),
                     SW_INVALID);
    assert_string_equal(sw_err_text(&err), "configmap n/k: binaryData.a: expected base64");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_folder_without_chart_yaml_is_no_chart),
        cmocka_unit_test(chart_yaml_must_be_a_map),
        cmocka_unit_test(name_and_version_are_required),
        cmocka_unit_test(a_name_may_not_lead_elsewhere),
        cmocka_unit_test(fields_have_types),
        cmocka_unit_test(numbers_are_text_where_text_belongs),
        cmocka_unit_test(dependencies_are_checked),
        cmocka_unit_test(a_library_has_nothing_to_apply),
        cmocka_unit_test(a_librarys_partials_are_there_and_its_templates_are_not),
        cmocka_unit_test(an_older_kubernetes_than_the_chart_asks_for_is_refused),
        cmocka_unit_test(requirements_yaml_is_read_for_v1),
        cmocka_unit_test(folders_with_a_dot_or_underscore_are_no_subcharts),
        cmocka_unit_test(a_mistake_in_a_subchart_names_it),
        cmocka_unit_test(a_missing_dependency_is_named_with_where_it_comes_from),
        cmocka_unit_test(another_version_than_asked_for_is_refused),
        cmocka_unit_test(texts_of_chart_yaml_are_one_printable_line),
        cmocka_unit_test(capabilities_are_the_newest_helms),
        cmocka_unit_test(a_dependency_without_a_version_takes_any),
        cmocka_unit_test(a_file_repository_needs_a_chart_in_a_directory),
        cmocka_unit_test(charts_in_charts_are_bounded),
        cmocka_unit_test(files_are_bounded),
        cmocka_unit_test(a_file_twice_is_refused),
        cmocka_unit_test(a_byte_order_mark_is_cut_off),
        cmocka_unit_test(values_must_be_a_map),
        cmocka_unit_test(files_can_be_looked_up),
        cmocka_unit_test(templates_see_the_files_of_their_chart),
        cmocka_unit_test(file_dependencies_are_relative_to_the_chart),
        cmocka_unit_test(a_copy_in_charts_wins_over_its_repository),
        cmocka_unit_test(a_file_dependency_that_is_not_there_is_named),
        cmocka_unit_test(a_file_dependency_must_have_the_name_asked_for),
        cmocka_unit_test(charts_that_depend_on_each_other_are_named),
        cmocka_unit_test(helmignore_leaves_files_out),
        cmocka_unit_test(files_of_any_size_are_read_whole),
        cmocka_unit_test(a_link_to_a_folder_above_ends),
        cmocka_unit_test(urls_of_files_are_paths_and_other_schemes_are_refused),
        cmocka_unit_test(a_template_or_values_in_utf_16_are_told_with_their_encoding),
        cmocka_unit_test(values_in_utf_16_with_its_mark_are_read),
        cmocka_unit_test(a_config_map_with_a_key_a_file_is_a_recipe),
        cmocka_unit_test(a_config_map_needs_no_chart_yaml),
        cmocka_unit_test(a_bad_config_map_is_named),
    };
    return cmocka_run_group_tests_name("recipe_load", tests, make_base, remove_base);
}
