/* Documents to YAML. The rows of test/golden/yaml-write.jsonl come from sigs.k8s.io/yaml 1.3.0:
 * {"value": any, "yaml": what Marshal gives} or {"value": any, "error": its words}. */
#include "data/yaml/yaml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/json/json.h"
#include "data/json/path.h"
#include "data_cases.h"

static void check_row(struct json_object *row, void *arg)
{
    int *bad = arg;
    struct json_object *value = sw_json_get(row, "value");
    const char *want = sw_json_str(row, NULL, "yaml", NULL);
    SW_ERR(err);
    SW_AUTO_CHARS *got = NULL;
    int rc = sw_yaml_marshal(value, &got, NULL, &err);
    if (rc < 0 ? want == NULL : sw_streq(got, want))
        return;
    print_error("%s\n want %s\n got %s\n", json_object_to_json_string(value), want,
                rc < 0 ? sw_err_text(&err) : got);
    ++*bad;
}

static void writes_what_the_reference_writes(void **state)
{
    (void)state;
    int bad = 0;
    assert_true(each_case(SW_SOURCE_DIR "/test/golden/yaml-write.jsonl", check_row, &bad) > 100);
    assert_int_equal(bad, 0);
}

/* {{ toYaml .Values }} and {{ toYaml .Values.x }}: Helm takes the last line end off */
static void check_template_case(struct json_object *row, void *arg)
{
    const char *template = sw_json_str(row, "", "template", NULL);
    const char *want = sw_json_str(row, NULL, "want", NULL);
    struct json_object *values = sw_json_get(row, "values");
    if (strcmp(template, "{{ toYaml .Values.x }}") == 0)
        values = sw_json_get(values, "x");
    else if (strcmp(template, "{{ toYaml .Values }}") != 0)
        return;
    SW_ERR(err);
    SW_AUTO_CHARS *got = NULL;
    size_t len;
    assert_int_equal(sw_yaml_marshal(values, &got, &len, &err), 0);
    got[len - 1] = '\0';
    if (strcmp(got, want) != 0)
        fail_msg("%s: want\n%s\ngot\n%s", sw_json_str(row, "", "id", NULL), want, got);
    ++*(int *)arg;
}

static void writes_as_the_template_cases_want(void **state)
{
    (void)state;
    const char *shared = getenv("SW_SHARED");
    if (!shared || !*shared)
        skip();
    SW_AUTO_CHARS *path = sw_printf("%s/template-cases/toyaml.jsonl", shared);
    int n = 0;
    assert_true(each_case(path, check_template_case, &n) > 0);
    assert_true(n > 40);
}

static void prints_anything_where_it_need_not_be_helm(void **state)
{
    (void)state;
    SW_AUTO_JSON *doc = json_object_new_object();
    (void)json_object_object_add(doc, "del", json_object_new_string("a\x7f"));
    (void)json_object_object_add(doc, "nel", json_object_new_string("a\xc2\x85"));
    (void)json_object_object_add(doc, "raw", json_object_new_string("\xff\xfe"));
    size_t len;
    SW_AUTO_CHARS *text = sw_yaml_text(doc, &len);
    assert_string_equal(text, "del: \"a\\x7F\"\nnel: \"a\\N\"\nraw: !!binary //4=\n");
    assert_int_equal(len, strlen(text));
    SW_ERR(err);
    char *refused = NULL;
    assert_int_equal(sw_yaml_marshal(doc, &refused, NULL, &err), SW_INVALID);
    assert_null(refused);
}

static void writes_null_and_empty_documents(void **state)
{
    (void)state;
    SW_AUTO_CHARS *null = sw_yaml_text(NULL, NULL);
    assert_string_equal(null, "null\n");
    SW_AUTO_JSON *map = json_object_new_object();
    SW_AUTO_CHARS *empty = sw_yaml_text(map, NULL);
    assert_string_equal(empty, "{}\n");
}

static void large_integers_stay_exact(void **state)
{
    (void)state;
    SW_AUTO_JSON *doc = json_object_new_array();
    (void)json_object_array_add(doc, json_object_new_uint64(UINT64_MAX));
    (void)json_object_array_add(doc, json_object_new_int64(INT64_MIN));
    (void)json_object_array_add(doc, json_object_new_double_s(1.1, "1.10"));
    SW_AUTO_CHARS *text = sw_yaml_text(doc, NULL);
    assert_string_equal(text, "- 18446744073709551615\n- -9223372036854775808\n- 1.1\n");
}

static void a_sink_may_be_used_twice(void **state)
{
    (void)state;
    SW_AUTO(sw_yaml_writer) *w = sw_yaml_writer_new(NULL);
    const struct sw_sink *s = sw_yaml_writer_sink(w);
    for (int round = 0; round < 2; round++) {
        s->ops->begin_map(s->arg, NULL);
        s->ops->key(s->arg, "z", 1, NULL);
        s->ops->begin_list(s->arg, NULL);
        s->ops->integer(s->arg, 1, NULL);
        s->ops->end_list(s->arg, NULL);
        s->ops->key(s->arg, "a", 1, NULL);
        s->ops->string(s->arg, "x\0y", 3, NULL);
        s->ops->end_map(s->arg, NULL);
        SW_AUTO_CHARS *text = sw_yaml_writer_take(w, NULL);
        assert_string_equal(text, "z:\n- 1\na: \"x\\0y\"\n");
    }
}

static void size_is_bounded_on_request(void **state)
{
    (void)state;
    const struct sw_yaml_writer_opts opts = { .max_bytes = 1000 };
    SW_AUTO(sw_yaml_writer) *w = sw_yaml_writer_new(&opts);
    const struct sw_sink *s = sw_yaml_writer_sink(w);
    SW_ERR(err);
    for (int i = 0; i < 50; i++)
        assert_int_equal(s->ops->begin_list(s->arg, &err), 0);
    int n = 0;
    while (s->ops->integer(s->arg, 1, &err) == 0)
        n++;
    assert_true(n > 5 && n < 20);
    assert_string_equal(sw_err_text(&err), "more than 1000 bytes of YAML");
}

static void what_is_written_reads_back(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"a\":{\"b\":[1,\"1\",true,\"true\",null,\"null\",\"\",\" x "
        "\",\"x\\n\",\"\\n\",\"a\\tb\"]}}",
        "[[],{},[[]],\"---\",\"multi\\nline\\n\\n\",\"k: v\",\"- a\",\"😀\",1.5,-3]",
    };
    for (size_t i = 0; i < SW_COUNT(texts); i++) {
        SW_ERR(err);
        SW_AUTO_JSON *doc = NULL, *again = NULL;
        assert_int_equal(sw_json_parse(texts[i], strlen(texts[i]), NULL, &doc, &err), 0);
        size_t len;
        SW_AUTO_CHARS *yaml = sw_yaml_text(doc, &len);
        if (sw_yaml_parse(yaml, len, NULL, &again, &err) < 0)
            fail_msg("%s in\n%s", sw_err_text(&err), yaml);
        assert_true(sw_json_equal(doc, again));
    }
}

static void keys_sort_by_letters_and_numbers(void **state)
{
    (void)state;
    static const char *const sorted[] = { "",    "-",   "_",   "1",  "01", "2",   "10", "A", "a",
                                          "a-1", "a.1", "a_1", "a1", "a9", "a10", "ab", "é" };
    for (size_t i = 0; i < SW_COUNT(sorted); i++)
        for (size_t k = 0; k < SW_COUNT(sorted); k++) {
            int c = sw_yaml_key_cmp(sorted[i], strlen(sorted[i]), sorted[k], strlen(sorted[k]));
            if (i < k ? c >= 0 : i > k ? c <= 0 : c != 0)
                fail_msg("'%s' and '%s': %d", sorted[i], sorted[k], c);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_what_the_reference_writes),
        cmocka_unit_test(writes_as_the_template_cases_want),
        cmocka_unit_test(prints_anything_where_it_need_not_be_helm),
        cmocka_unit_test(writes_null_and_empty_documents),
        cmocka_unit_test(large_integers_stay_exact),
        cmocka_unit_test(a_sink_may_be_used_twice),
        cmocka_unit_test(size_is_bounded_on_request),
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(keys_sort_by_letters_and_numbers),
    };
    return cmocka_run_group_tests_name("data_yaml_write", tests, NULL, NULL);
}
