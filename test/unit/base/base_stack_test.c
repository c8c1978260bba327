/* Recursions whose depth input decides end with an error, or with the result, on a small stack too:
 * each runs in threads whose stacks are a part of what a program has. A recursion that does not ask
 * sw_stack_has_room() ends this program with a segmentation fault. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "chart/recipe/schema/schema.h"
#include "chart/template/template.h"
#include "data/json/json.h"
#include "data/jsonpath/jsonpath.h"
#include "data/patch/merge.h"
#include "data/yaml/yaml.h"
#include "ranges.h"

/* ---- on a stack of a size ---- */

struct job {
    void (*run)(const char *text);
    const char *text;
};

static void *run_job(void *arg)
{
    const struct job *job = arg;
    job->run(job->text);
    return NULL;
}

static void on_stack(size_t kib, void (*run)(const char *text), const char *text)
{
    struct job job = { run, text };
    pthread_attr_t attr;
    pthread_t thread;
    assert_int_equal(pthread_attr_init(&attr), 0);
    assert_int_equal(pthread_attr_setstacksize(&attr, kib * 1024), 0);
    assert_int_equal(pthread_create(&thread, &attr, run_job, &job), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attr);
}

static void on_small_stacks(void (*run)(const char *text), const char *text)
{
    static const size_t kib[] = { 256, 384, 512, 1024, 2048 };
    for (size_t i = 0; i < SW_COUNT(kib); i++)
        on_stack(kib[i], run, text);
}

/* @before n times, @middle, @after n times. */
static char *nested(size_t n, const char *before, const char *middle, const char *after)
{
    size_t a = strlen(before), m = strlen(middle), z = strlen(after);
    char *text = sw_alloc(n * (a + z) + m + 1), *at = text;
    for (size_t i = 0; i < n; i++, at += a)
        memcpy(at, before, a);
    memcpy(at, middle, m);
    at += m;
    for (size_t i = 0; i < n; i++, at += z)
        memcpy(at, after, z);
    *at = '\0';
    return text;
}

/* ---- the measure itself ---- */

static size_t descend(volatile char *above)
{
    volatile char here[1024];
    here[0] = above ? *above : 1;
    return sw_stack_has_room() ? 1 + descend(here) : 0;
}

static size_t deepest;
static void measure(const char *text)
{
    (void)text;
    deepest = descend(NULL);
}

static void deeper_on_a_larger_stack(void **state)
{
    (void)state;
    on_stack(256, measure, NULL);
    size_t small = deepest;
    assert_between(small, 16, 256);
    on_stack(4096, measure, NULL);
    assert_between(deepest, small * 8, 4096);
    measure(NULL);
    assert_true(deepest > small);
}

/* ---- templates ---- */

static void render(const char *text)
{
    SW_AUTO(sw_template_set) *set = sw_template_set_new();
    SW_AUTO(sw_arena) *arena = sw_arena_new();
    struct sw_template_out out = { 0 };
    SW_ERR(err);
    const char *name = "c/templates/t.yaml";
    struct sw_value root = sw_value_map(sw_map_new(arena));
    int rc = sw_template_add(set, name, text, strlen(text), &err);
    if (rc == 0)
        rc = sw_template_exec(set, name, root, arena, NULL, &out, &err);
    assert_true(rc == 0 || rc == SW_INVALID);
    sw_template_out_done(&out);
}

static void templates_in_each_other(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{{ define \"a\" }}{{ template \"a\" }}{{ end }}{{ template \"a\" }}",
        "{{ define \"a\" }}{{ include \"a\" . }}{{ end }}{{ include \"a\" . }}",
        "{{ define \"a\" }}{{ with 1 }}{{ range list 1 }}{{ if (or (eq 1 2) (include \"a\" .)) }}"
        "{{ end }}{{ end }}{{ end }}{{ end }}{{ include \"a\" . }}",
        "{{ $_ := set . \"t\" \"{{ tpl .t . }}\" }}{{ tpl .t . }}",
    };
    for (size_t i = 0; i < SW_COUNT(texts); i++)
        on_small_stacks(render, texts[i]);
}

static void nested_syntax(void **state)
{
    (void)state;
    static const char *const syntax[][3] = {
        { "{{ if true }}", "x", "{{ end }}" },
        { "{{ if false }}{{ else if true }}", "x", "{{ end }}" },
        { "{{ with 1 }}", "x", "{{ end }}" },
        { "{{ range list 1 }}", "x", "{{ end }}" },
        { "{{ block \"b\" . }}", "x", "{{ end }}" },
    };
    for (size_t i = 0; i < SW_COUNT(syntax); i++) {
        SW_AUTO_CHARS *text = nested(999, syntax[i][0], syntax[i][1], syntax[i][2]);
        on_small_stacks(render, text);
    }
    SW_AUTO_CHARS *parens = nested(998, "(", "1", ")");
    SW_AUTO_CHARS *action = sw_printf("{{ %s }}", parens);
    on_small_stacks(render, action);
    SW_AUTO_CHARS *calls = nested(998, "(list ", "1", ")");
    SW_AUTO_CHARS *called = sw_printf("{{ len %s }}", calls);
    on_small_stacks(render, called);
}

#define CYCLE "{{ $d := dict }}{{ $_ := set $d \"d\" $d }}"
#define DEEP "{{ $d := 1 }}{{ range until 900 }}{{ $d = dict \"a\" (list $d) }}{{ end }}"
#define AGAIN "{{ $e := 1 }}{{ range until 900 }}{{ $e = dict \"a\" (list $e) }}{{ end }}"
#define MAPS                                                                                       \
    "{{ $d := dict }}{{ $e := dict }}{{ range until 900 }}{{ $d = dict \"a\" $d }}"                \
    "{{ $e = dict \"a\" $e }}{{ end }}"

static void nested_values(void **state)
{
    (void)state;
    static const char *const texts[] = {
        CYCLE "{{ $d }}",
        CYCLE "{{ deepCopy $d | len }}",
        CYCLE "{{ $e := dict }}{{ $_ := set $e \"d\" $e }}{{ deepEqual $d $e }}",
        CYCLE "{{ $e := dict }}{{ $_ := set $e \"d\" $e }}{{ merge $d $e | len }}",
        CYCLE "{{ toYaml $d }}{{ toJson $d }}{{ toToml $d }}",
        DEEP "{{ $d }}",
        DEEP "{{ printf \"%v %q %d\" $d $d $d }}",
        DEEP "{{ deepCopy $d | len }}",
        DEEP AGAIN "{{ deepEqual $d $e }}{{ has $d (list $e) }}{{ uniq (list $d $e) | len }}",
        MAPS "{{ merge $d $e | len }}{{ mergeOverwrite $d $e | len }}",
        DEEP "{{ toYaml $d | len }}",
        DEEP "{{ toJson $d | len }}{{ toPrettyJson $d | len }}{{ toRawJson $d | len }}",
        DEEP "{{ toToml $d | len }}",
        "{{ $s := printf \"%s1%s\" (repeat 500 \"[\") (repeat 500 \"]\") }}"
        "{{ fromJsonArray $s | len }}{{ fromYamlArray $s | len }}",
        "{{ $s := printf \"%s1%s\" (repeat 500 \"{\\\"a\\\":\") (repeat 500 \"}\") }}"
        "{{ fromJson $s | len }}{{ fromYaml $s | len }}{{ fromYaml $s | toYaml | len }}",
        "{{ fromToml (printf \"a = %s1%s\" (repeat 199 \"[\") (repeat 199 \"]\")) | len }}",
        "{{ fromToml (printf \"a = %s1%s\" (repeat 199 \"{a=\") (repeat 199 \"}\")) | len }}",
    };
    for (size_t i = 0; i < SW_COUNT(texts); i++)
        on_small_stacks(render, texts[i]);
}

static void nested_expressions(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{{ regexMatch (printf \"%sx%s\" (repeat 999 \"(\") (repeat 999 \")\")) \"x\" }}",
        "{{ regexMatch (printf \"%sx%s\" (repeat 900 \"(a|(?:b\") (repeat 900 \"))\")) \"x\" }}",
        "{{ regexMatch (printf \"%sx%s\" (repeat 999 \"(?:\") (repeat 999 \")*\")) \"x\" }}",
        "{{ regexMatch (printf \"%sx%s\" (repeat 999 \"(\") (repeat 999 \")?\")) \"x\" }}",
    };
    for (size_t i = 0; i < SW_COUNT(texts); i++)
        on_small_stacks(render, texts[i]);
}

/* ---- schemas ---- */

static void check_schema(const char *text)
{
    SW_AUTO(sw_arena) *arena = sw_arena_new();
    SW_AUTO(sw_schema) *schema = NULL;
    SW_ERR(err);
    struct sw_value v = sw_value_map(sw_map_new(arena));
    for (int i = 0; i < 900; i++) {
        struct sw_map *outer = sw_map_new(arena);
        sw_map_set_cstr(outer, "a", v);
        v = sw_value_map(outer);
    }
    int rc = sw_schema_new("values.schema.json", text, strlen(text), &schema, &err);
    if (rc == 0)
        rc = sw_schema_check(schema, v, &err);
    assert_true(rc == 0 || rc == SW_INVALID);
}

static void schemas_in_each_other(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"$ref\": \"#\"}",
        "{\"properties\": {\"a\": {\"$ref\": \"#\"}}}",
        "{\"allOf\": [{\"anyOf\": [{\"oneOf\": [{\"not\": {\"if\": {\"$ref\": \"#\"}}}]}]}]}",
        "{\"additionalProperties\": {\"patternProperties\": {\".\": {\"$ref\": \"#\"}}}}",
    };
    for (size_t i = 0; i < SW_COUNT(texts); i++)
        on_small_stacks(check_schema, texts[i]);
    SW_AUTO_CHARS *not = nested(500, "{\"not\":", "{\"$ref\": \"#none\"}", "}");
    on_small_stacks(check_schema, not );
    SW_AUTO_CHARS *listed = nested(250, "{\"allOf\":[", "{\"enum\": [1]}", "]}");
    on_small_stacks(check_schema, listed);
}

/* ---- documents: no deeper than their readers allow, whatever the readers' callers then do ---- */

static void walk_document(const char *text)
{
    SW_AUTO_JSON *doc = NULL, *same = NULL, *other = json_object_new_object();
    SW_ERR(err);
    char *yaml = NULL;
    size_t len;
    if (sw_yaml_parse(text, strlen(text), NULL, &doc, &err) < 0) {
        assert_non_null(strstr(sw_err_text(&err), "nested more than"));
        return;
    }
    same = sw_json_copy(doc);
    assert_true(sw_json_equal(doc, same));
    json_object_put(sw_merge_create(other, doc));
    json_object_put(sw_merge_create(doc, same));
    if (sw_yaml_marshal(doc, &yaml, &len, &err) == 0)
        free(yaml);
    json_object_put(sw_merge_apply(other, doc));
    struct sw_jsonpath *path = NULL;
    struct sw_json_list found = { 0 };
    assert_int_equal(sw_jsonpath_compile("{..a}", &path, &err), 0);
    assert_int_equal(sw_jsonpath_find(path, doc, &found, &err), 0);
    sw_json_list_done(&found);
    sw_jsonpath_free(path);
}

static void parse_json(const char *text)
{
    SW_AUTO_JSON *doc = NULL;
    SW_ERR(err);
    assert_int_equal(sw_json_parse(text, strlen(text), NULL, &doc, &err), 0);
}

static void nested_documents(void **state)
{
    (void)state;
    SW_AUTO_CHARS *lists = nested(512, "[", "1", "]");
    SW_AUTO_CHARS *maps = nested(512, "{\"a\":", "1", "}");
    SW_AUTO_CHARS *both = nested(256, "[{\"a\":", "1", "}]");
    SW_AUTO_CHARS *block = nested(512, "- ", "1", "");
    const char *texts[] = { lists, maps, both, block };
    for (size_t i = 0; i < SW_COUNT(texts); i++) {
        on_small_stacks(walk_document, texts[i]);
        if (texts[i] != block)
            on_small_stacks(parse_json, texts[i]);
    }
    SW_AUTO_CHARS *more = nested(5000, "- ", "1", "");
    on_small_stacks(walk_document, more);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deeper_on_a_larger_stack),
        cmocka_unit_test(templates_in_each_other),
        cmocka_unit_test(nested_syntax),
        cmocka_unit_test(nested_values),
        cmocka_unit_test(nested_expressions),
        cmocka_unit_test(schemas_in_each_other),
        cmocka_unit_test(nested_documents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
