/* YAML to documents. The rows of test/golden/yaml-read.jsonl come from sigs.k8s.io/yaml 1.3.0:
 * {"yaml": text, "json": what YAMLToJSON gives} or {"yaml": text, "error": its words}. */
#include "data/yaml/yaml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/json/json.h"
#include "data/json/path.h"
#include "data_cases.h"

static int parse(const char *text, const struct sw_yaml_opts *opts, struct json_object **doc,
                 struct sw_err *err)
{
    return sw_yaml_parse(text, strlen(text), opts, doc, err);
}

static void check(const char *text, const char *want)
{
    SW_ERR(err);
    SW_AUTO_JSON *doc = NULL;
    if (parse(text, NULL, &doc, &err) < 0)
        fail_msg("%s: %s", text, sw_err_text(&err));
    SW_AUTO_CHARS *got = sw_json_text(doc, SW_JSON_PLAIN, NULL);
    assert_string_equal(got, want);
}

static void check_error(const char *text, const char *want)
{
    SW_ERR(err);
    SW_AUTO_JSON *doc = NULL;
    const struct sw_yaml_opts opts = { .file = "f.yaml" };
    assert_int_equal(parse(text, &opts, &doc, &err), SW_INVALID);
    assert_null(doc);
    assert_string_equal(sw_err_text(&err), want);
}

static void check_row(struct json_object *row, void *arg)
{
    int *bad = arg;
    struct json_object *yaml = sw_json_get(row, "yaml");
    SW_ERR(err);
    SW_AUTO_JSON *got = NULL;
    const struct sw_yaml_opts opts = { .allow_duplicate = true };
    int rc = sw_yaml_parse(json_object_get_string(yaml), (size_t)json_object_get_string_len(yaml),
                           &opts, &got, &err);
    const char *json = sw_json_str(row, NULL, "json", NULL);
    SW_AUTO_JSON *want = NULL;
    if (json)
        assert_int_equal(sw_json_parse(json, strlen(json), NULL, &want, &err), 0);
    SW_AUTO_CHARS *got_text = sw_json_text(got, SW_JSON_SORTED, NULL);
    SW_AUTO_CHARS *want_text = sw_json_text(want, SW_JSON_SORTED, NULL);
    if ((rc < 0) == (json == NULL) && strcmp(got_text, want_text) == 0)
        return;
    print_error("%s\n  want %s\n  got  %s\n", json_object_get_string(yaml),
                json ? want_text : "an error", rc < 0 ? sw_err_text(&err) : got_text);
    ++*bad;
}

static void reads_what_the_reference_reads(void **state)
{
    (void)state;
    int bad = 0;
    assert_true(each_case(SW_SOURCE_DIR "/test/golden/yaml-read.jsonl", check_row, &bad) > 100);
    assert_int_equal(bad, 0);
}

static void keeps_the_order_of_keys(void **state)
{
    (void)state;
    check("b: 1\na: {d: 2, c: 3}\n", "{\"b\":1,\"a\":{\"d\":2,\"c\":3}}");
}

static void keeps_large_integers(void **state)
{
    (void)state;
    check("[9223372036854775807, 18446744073709551615, -9223372036854775808, 9007199254740993]",
          "[9223372036854775807,18446744073709551615,-9223372036854775808,9007199254740993]");
}

static void refuses_a_key_that_comes_twice(void **state)
{
    (void)state;
    check_error("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n",
                "f.yaml:5:3: key 'c' is already set in this map");
    check_error("1: a\n'1': b\n", "f.yaml:2:1: key '1' is already set in this map");
    check("a: {x: 1}\nb: {x: 1}\n", "{\"a\":{\"x\":1},\"b\":{\"x\":1}}");
}

static void takes_the_last_of_equal_keys_where_allowed(void **state)
{
    (void)state;
    SW_ERR(err);
    SW_AUTO_JSON *doc = NULL;
    const struct sw_yaml_opts opts = { .allow_duplicate = true };
    assert_int_equal(parse("a: 1\na: 2\n", &opts, &doc, &err), 0);
    assert_int_equal(sw_json_int(doc, 0, "a", NULL), 2);
}

static void overrides_of_merged_keys_are_no_duplicates(void **state)
{
    (void)state;
    check("b: &b {p: 1, q: 2}\nu: {<<: *b, q: 3}\n",
          "{\"b\":{\"p\":1,\"q\":2},\"u\":{\"p\":1,\"q\":3}}");
    check("b: &b {p: 1, q: 2}\nu: {q: 3, <<: *b}\n",
          "{\"b\":{\"p\":1,\"q\":2},\"u\":{\"q\":2,\"p\":1}}");
}

static void says_where_and_why(void **state)
{
    (void)state;
    check_error("a: 1\nb: [1, 2\nc: 3\n",
                "f.yaml:3:2: did not find expected ',' or ']' (while parsing a flow sequence that "
                "begins at line 2)");
    check_error("a: b: c\n", "f.yaml:1:5: mapping values are not allowed in this context");
    check_error("a: \"x\nb: 1\n", "f.yaml:3:1: found unexpected end of stream (while scanning a "
                                  "quoted scalar that begins at line 1)");
    check_error("x: 1\ny: *nope\n", "f.yaml:2:4: unknown anchor 'nope' referenced");
    check_error("x: 1\ny: .inf\n", "f.yaml:2:4: .inf is no number in JSON");
    check_error("é: !!int x\n", "f.yaml:1:4: cannot decode !!str `x` as a !!int");
    check_error("a: \"\\/\"\n", "f.yaml:1:4: found unknown escape character '/'");
    check_error("a: x\nb: \x01\n", "f.yaml:2:4: control characters are not allowed");
}

static void counts_lines_from_where_the_text_begins(void **state)
{
    (void)state;
    SW_ERR(err);
    SW_AUTO_JSON *doc = NULL;
    const struct sw_yaml_opts opts = { .file = "t.yaml", .first_line = 10 };
    assert_int_equal(parse("a: 1\nb: }\n", &opts, &doc, &err), SW_INVALID);
    assert_non_null(strstr(sw_err_text(&err), "t.yaml:11:4: "));
}

static void reads_all_documents_with_their_lines(void **state)
{
    (void)state;
    static const char text[] =
        "# first\na: 1\n---\n---\n# only a comment\n---\n\nb: 2\n...\n---\n- c\n";
    SW_ERR(err);
    struct sw_yaml_docs docs;
    assert_int_equal(sw_yaml_parse_all(text, strlen(text), NULL, &docs, &err), 0);
    assert_int_equal(docs.n_docs, 3);
    assert_int_equal(docs.docs[0].line, 2);
    assert_int_equal(docs.docs[1].line, 8);
    assert_int_equal(docs.docs[2].line, 11);
    assert_int_equal(sw_json_int(docs.docs[1].object, 0, "b", NULL), 2);
    sw_yaml_docs_done(&docs);
    sw_yaml_docs_done(&docs);
}

static void an_error_in_any_document_fails_all(void **state)
{
    (void)state;
    static const char text[] = "a: 1\n---\nb: [\n";
    SW_ERR(err);
    struct sw_yaml_docs docs = { 0 };
    assert_int_equal(sw_yaml_parse_all(text, strlen(text), NULL, &docs, &err), SW_INVALID);
    assert_int_equal(docs.n_docs, 0);
}

static void anchors_end_with_their_document(void **state)
{
    (void)state;
    static const char text[] = "a: &x 1\n---\nb: *x\n";
    SW_ERR(err);
    struct sw_yaml_docs docs = { 0 };
    assert_int_equal(sw_yaml_parse_all(text, strlen(text), NULL, &docs, &err), SW_INVALID);
    assert_non_null(strstr(sw_err_text(&err), "unknown anchor 'x'"));
}

static void refuses_billions_of_laughs(void **state)
{
    (void)state;
    char text[4096];
    int n = sprintf(text, "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
    for (int i = 1; i < 9; i++)
        n += sprintf(text + n, "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i, i,
                     i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    SW_ERR(err);
    SW_AUTO_JSON *doc = NULL;
    assert_int_equal(parse(text, NULL, &doc, &err), SW_INVALID);
    assert_non_null(strstr(sw_err_text(&err), "document contains excessive aliasing"));
}

static void refuses_a_long_text_aliased_often(void **state)
{
    (void)state;
    size_t long_len = 1 << 20, n_aliases = 40;
    SW_AUTO_CHARS *text = sw_alloc(long_len + n_aliases * 8 + 64);
    char *p = text + sprintf(text, "- &a ");
    memset(p, 'x', long_len);
    p += long_len;
    *p++ = '\n';
    for (size_t i = 0; i < n_aliases; i++)
        p += sprintf(p, "- *a\n");
    SW_ERR(err);
    SW_AUTO_JSON *doc = NULL;
    assert_int_equal(parse(text, NULL, &doc, &err), SW_INVALID);
    assert_non_null(strstr(sw_err_text(&err), "excessive aliasing"));
}

static void refuses_more_anchors_than_anyone_writes(void **state)
{
    (void)state;
    SW_AUTO_CHARS *text = sw_alloc(5000 * 16);
    char *p = text;
    for (int i = 0; i < 5000; i++)
        p += sprintf(p, "- &a%d x\n", i);
    SW_ERR(err);
    SW_AUTO_JSON *doc = NULL;
    assert_int_equal(parse(text, NULL, &doc, &err), SW_INVALID);
    assert_string_equal(sw_err_text(&err), "4097:3: more than 4096 anchors");
}

static void refuses_what_is_nested_too_deep(void **state)
{
    (void)state;
    char text[3001];
    memset(text, '[', 3000);
    text[3000] = '\0';
    SW_ERR(err);
    SW_AUTO_JSON *doc = NULL;
    assert_int_equal(parse(text, NULL, &doc, &err), SW_INVALID);
    assert_non_null(strstr(sw_err_text(&err), "nested more than 512 levels deep"));
}

/* What libyaml calls one of "any token" is named. */
static void names_the_character_that_begins_nothing(void **state)
{
    (void)state;
    check_error("a:\n\tb: 1\n", "f.yaml:2:1: a tab: YAML is indented by blanks only "
                                "(while scanning for the next token)");
    check_error(
        "a: 1\nb: @x\n",
        "f.yaml:2:4: no value begins with '@': quote it (while scanning for the next token)");
}

static void refuses_what_is_too_long(void **state)
{
    (void)state;
    SW_ERR(err);
    SW_AUTO_JSON *doc = NULL;
    const struct sw_yaml_opts opts = { .file = "f.yaml", .max_bytes = 3 };
    assert_int_equal(parse("a: 1", &opts, &doc, &err), SW_INVALID);
    assert_string_equal(sw_err_text(&err), "f.yaml: 4 bytes are more than the 3 allowed");
}

/* {{ fromYaml "..." | toJson }}, once or more often: the text is a JSON string but for \a and so on
 */
static void check_template_case(struct json_object *row, void *arg)
{
    static const char begin[] = "{{ fromYaml \"", end[] = "\" | toJson }}";
    const char *at = sw_json_str(row, "", "template", NULL);
    const char *want = sw_json_str(row, NULL, "want", NULL);
    int *n = arg;
    while (want && sw_starts_with(at, begin)) {
        const char *text = at + sizeof begin - 2, *stop = strstr(text, end);
        if (!stop || strstr(text, "18446744073709551615") || strstr(text, "0xFFFFFFFF"))
            return; /* templates hold numbers as float64 */
        SW_ERR(err);
        SW_AUTO_JSON *yaml = NULL, *doc = NULL;
        if (sw_json_parse(text, (size_t)(stop + 1 - text), NULL, &yaml, &err) < 0)
            return;
        const struct sw_yaml_opts opts = { .allow_duplicate = true };
        if (sw_yaml_parse(json_object_get_string(yaml), (size_t)json_object_get_string_len(yaml),
                          &opts, &doc, &err) < 0)
            fail_msg("%s: %s", sw_json_str(row, "", "id", NULL), sw_err_text(&err));
        SW_AUTO_CHARS *got = sw_json_text(doc, SW_JSON_SORTED | SW_JSON_HTML, NULL);
        if (!sw_starts_with(want, got))
            fail_msg("%s: want %s, got %s", sw_json_str(row, "", "id", NULL), want, got);
        want += strlen(got) + 1;
        at = stop + sizeof end - 1;
        at += *at == ' ';
        ++*n;
    }
}

static void reads_as_the_template_cases_want(void **state)
{
    (void)state;
    const char *shared = getenv("SW_SHARED");
    if (!shared || !*shared)
        skip();
    SW_AUTO_CHARS *path = sw_printf("%s/template-cases/fromyaml.jsonl", shared);
    int n = 0;
    assert_true(each_case(path, check_template_case, &n) > 0);
    assert_true(n > 10);
}

static void a_field_is_found_in_the_text(void **state)
{
    (void)state;
    static const char yaml[] = "# note\na: 1\nb:\n- c: {d: 2}\n- c:\n    d: 3\ne.f/g: x\n";
    static const struct {
        const char *path;
        int line;
    } rows[] = { { "a", 11 },        { "b", 12 },     { "b[0].c.d", 13 }, { "b[1]", 14 },
                 { "b[1].c.d", 15 }, { "e.f/g", 16 }, { "none", 10 } };
    for (size_t i = 0; i < SW_COUNT(rows); i++)
        if (sw_yaml_line(yaml, sizeof yaml - 1, 10, rows[i].path) != rows[i].line)
            fail_msg("%s: %d", rows[i].path, sw_yaml_line(yaml, sizeof yaml - 1, 10, rows[i].path));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_field_is_found_in_the_text),
        cmocka_unit_test(reads_what_the_reference_reads),
        cmocka_unit_test(keeps_the_order_of_keys),
        cmocka_unit_test(keeps_large_integers),
        cmocka_unit_test(refuses_a_key_that_comes_twice),
        cmocka_unit_test(takes_the_last_of_equal_keys_where_allowed),
        cmocka_unit_test(overrides_of_merged_keys_are_no_duplicates),
        cmocka_unit_test(says_where_and_why),
        cmocka_unit_test(counts_lines_from_where_the_text_begins),
        cmocka_unit_test(reads_all_documents_with_their_lines),
        cmocka_unit_test(an_error_in_any_document_fails_all),
        cmocka_unit_test(anchors_end_with_their_document),
        cmocka_unit_test(refuses_billions_of_laughs),
        cmocka_unit_test(refuses_a_long_text_aliased_often),
        cmocka_unit_test(refuses_more_anchors_than_anyone_writes),
        cmocka_unit_test(refuses_what_is_nested_too_deep),
        cmocka_unit_test(names_the_character_that_begins_nothing),
        cmocka_unit_test(refuses_what_is_too_long),
        cmocka_unit_test(reads_as_the_template_cases_want),
    };
    return cmocka_run_group_tests_name("data_yaml_read", tests, NULL, NULL);
}
