/* --set and its sisters, as Helm reads them. */
#include "recipe_util.h"

static void expect_set(enum sw_values_syntax syntax, const char *before, const char *expression,
                       const char *want)
{
    SW_AUTO(sw_values) *v = sw_values_new();
    SW_ERR(err);
    if (before)
        assert_int_equal(sw_values_add_yaml(v, "v.yaml", before, strlen(before), &err), 0);
    if (sw_values_set(v, syntax, expression, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    SW_AUTO_JSON *doc = sw_values_json(v);
    SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_SORTED, NULL);
    assert_string_equal(text, want);
}

static void expect_bad(enum sw_values_syntax syntax, const char *before, const char *expression,
                       const char *words)
{
    SW_AUTO(sw_values) *v = sw_values_new();
    SW_ERR(err);
    if (before)
        assert_int_equal(sw_values_add_yaml(v, "v.yaml", before, strlen(before), &err), 0);
    assert_int_equal(sw_values_set(v, syntax, expression, &err), SW_INVALID);
    if (!strstr(sw_err_text(&err), words))
        fail_msg("'%s' does not contain '%s'", sw_err_text(&err), words);
}

#define TYPED(expression, want) expect_set(SW_VALUES_TYPED, NULL, expression, want)
#define BAD(expression, words) expect_bad(SW_VALUES_TYPED, NULL, expression, words)

static void several_values_are_set_at_once(SW_UNUSED void **state)
{
    TYPED("a=1,b.c=x,b.d=y", "{\"a\":1,\"b\":{\"c\":\"x\",\"d\":\"y\"}}");
    TYPED("a=1,", "{\"a\":1}");
}

static void words_are_typed(SW_UNUSED void **state)
{
    TYPED("a=true,b=False,c=null,d=NULL", "{\"a\":true,\"b\":false,\"c\":null,\"d\":null}");
    TYPED("a=0,b=-5,c=+7,d=12", "{\"a\":0,\"b\":-5,\"c\":7,\"d\":12}");
    TYPED("a=012,b=1.5,c=1e3,d=0x10,e=1_0", "{\"a\":\"012\",\"b\":\"1.5\",\"c\":\"1e3\","
                                            "\"d\":\"0x10\",\"e\":\"1_0\"}");
    TYPED("a=99999999999999999999", "{\"a\":\"99999999999999999999\"}");
    TYPED("a=,b= 1", "{\"a\":\"\",\"b\":\" 1\"}");
}

static void an_integer_stays_one_for_templates(SW_UNUSED void **state)
{
    RECIPE(r, CHART("c"), { "templates/a.yaml", "# {{ .Values.big }} {{ .Values.yaml }}", 0 });
    SW_AUTO(sw_values) *v = sw_values_new();
    assert_int_equal(sw_values_add_yaml(v, "v", "yaml: 10000000", 14, NULL), 0);
    assert_int_equal(sw_values_set(v, SW_VALUES_TYPED, "big=10000000", NULL), 0);
    SW_AUTO(sw_plan) *plan = NULL;
    assert_int_equal(sw_recipe_plan(r, v, NULL, &plan, NULL), 0);
    SW_AUTO_CHARS *text = render_text(plan, NULL, SW_ALL_STATES);
    assert_string_equal(text, "# 10000000 1e+07");
}

static void lists_stand_in_braces(SW_UNUSED void **state)
{
    TYPED("a={x,1,true},b=2", "{\"a\":[\"x\",1,true],\"b\":2}");
    TYPED("a={}", "{\"a\":[\"\"]}");
    BAD("a={x", "must end with '}'");
}

static void indexes_reach_into_lists(SW_UNUSED void **state)
{
    TYPED("a[0]=x,a[2]=y", "{\"a\":[\"x\",null,\"y\"]}");
    TYPED("a[0].b=x,a[0].c=y", "{\"a\":[{\"b\":\"x\",\"c\":\"y\"}]}");
    TYPED("a[1][0]=x", "{\"a\":[null,[\"x\"]]}");
    expect_set(SW_VALUES_TYPED, "a: [{b: 1}, 2]", "a[0].c=3,a[1]=4",
               "{\"a\":[{\"b\":1,\"c\":3},4]}");
    BAD("a[-1]=x", "index -1");
    BAD("a[65537]=x", "index 65537");
    BAD("a[b]=x", "no index");
    BAD("a[0]x=1", "expected '=', '.' or '[' behind an index");
}

static void a_backslash_takes_the_meaning_away(SW_UNUSED void **state)
{
    TYPED("a\\.b=x\\,y,c={p\\,q,r\\}}", "{\"a.b\":\"x,y\",\"c\":[\"p,q\",\"r}\"]}");
    TYPED("a=b\\\\c", "{\"a\":\"b\\\\c\"}");
    TYPED("nodeSelector.kubernetes\\.io/role=x",
          "{\"nodeSelector\":{\"kubernetes.io/role\":\"x\"}}");
}

static void a_key_needs_a_value(SW_UNUSED void **state)
{
    BAD("a", "key 'a' has no value");
    BAD("a,b=1", "key 'a' has no value");
    BAD("a.b", "key 'b' has no value");
    BAD(".b=1", "empty key");
}

static void what_is_no_map_is_not_entered(SW_UNUSED void **state)
{
    expect_bad(SW_VALUES_TYPED, "a: 5", "a.b=1", "'a' has a value already, which is no map");
    expect_bad(SW_VALUES_TYPED, "a: {}", "a[0]=1", "'a' has a value already, which is no list");
    expect_set(SW_VALUES_TYPED, "a: null", "a.b=1", "{\"a\":{\"b\":1}}");
}

static void nesting_is_bounded(SW_UNUSED void **state)
{
    BAD("a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a=1", "more than 30");
    char chain[400] = "";
    for (int i = 0; i < 40; i++)
        strcat(chain, "a[0].");
    strcat(chain, "b=1");
    BAD(chain, "more than 30");
    char many[400] = "";
    for (int i = 0; i < 20; i++)
        (void)snprintf(many + strlen(many), sizeof many - strlen(many), "a%d[65536]=1,", i);
    BAD(many, "list items");
}

static void set_string_makes_strings(SW_UNUSED void **state)
{
    expect_set(SW_VALUES_STRING, NULL, "a=1,b=true,c={1,null}",
               "{\"a\":\"1\",\"b\":\"true\",\"c\":[\"1\",\"null\"]}");
}

static void set_json_reads_json(SW_UNUSED void **state)
{
    expect_set(SW_VALUES_JSON, NULL, "a={\"x\": [1, \"y,z\"]}, b.c=\"}\"",
               "{\" b\":{\"c\":\"}\"},\"a\":{\"x\":[1,\"y,z\"]}}");
    expect_set(SW_VALUES_JSON, NULL, "a=,b[1]=true", "{\"a\":null,\"b\":[null,true]}");
    expect_bad(SW_VALUES_JSON, NULL, "a={x}", "--set-json a={x}: ");
    expect_bad(SW_VALUES_JSON, NULL, "a=tru", "--set-json");
}

/* As Helm 3.21.4 prints them. */
static void set_literal_takes_the_text_as_it_is(SW_UNUSED void **state)
{
    expect_set(SW_VALUES_LITERAL, NULL, "a.b=1,c={x}", "{\"a\":{\"b\":\"1,c={x}\"}}");
    expect_set(SW_VALUES_LITERAL, NULL, "a=\\d+\\.x", "{\"a\":\"\\\\d+\\\\.x\"}");
    expect_set(SW_VALUES_LITERAL, NULL, "a[1]=null", "{\"a\":[null,\"null\"]}");
    expect_set(SW_VALUES_LITERAL, NULL, "a,b=c", "{\"a,b\":\"c\"}");
    expect_set(SW_VALUES_LITERAL, NULL, "a=", "{\"a\":\"\"}");
}

static void set_file_reads_files(SW_UNUSED void **state)
{
    char path[] = "/tmp/slipway-set-XXXXXX", expression[64];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "1\n2\n", 4), 4);
    close(fd);
    (void)snprintf(expression, sizeof expression, "a.b=%s", path);
    expect_set(SW_VALUES_FILE, NULL, expression, "{\"a\":{\"b\":\"1\\n2\\n\"}}");
    (void)unlink(path);
    SW_AUTO(sw_values) *v = sw_values_new();
    assert_int_equal(sw_values_set(v, SW_VALUES_FILE, expression, NULL), SW_NOTFOUND);
}

static void flags_have_helms_precedence(SW_UNUSED void **state)
{
    char path[] = "/tmp/slipway-val-XXXXXX";
    int fd = mkstemp(path);
    assert_int_equal(write(fd, "a: file\nb: file\nc: {x: 1}\n", 26), 26);
    close(fd);
    const char *files[] = { path }, *json[] = { "a=\"json\"" }, *set[] = { "a=set,b=set" };
    const char *string[] = { "b=string", "c.y=2" };
    struct sw_values_flags flags = { .files = files,
                                     .n_files = 1,
                                     .json = json,
                                     .n_json = 1,
                                     .set = set,
                                     .n_set = 1,
                                     .string = string,
                                     .n_string = 2 };
    SW_AUTO(sw_values) *v = NULL;
    assert_int_equal(sw_values_from_flags(&flags, &v, NULL), 0);
    (void)unlink(path);
    SW_AUTO_JSON *doc = sw_values_json(v);
    SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_SORTED, NULL);
    assert_string_equal(text, "{\"a\":\"set\",\"b\":\"string\",\"c\":{\"x\":1,\"y\":\"2\"}}");
}

static void a_values_file_must_be_a_map(SW_UNUSED void **state)
{
    SW_AUTO(sw_values) *v = sw_values_new();
    SW_ERR(err);
    assert_int_equal(sw_values_add_yaml(v, "v.yaml", "- a", 3, &err), SW_INVALID);
    assert_non_null(strstr(sw_err_text(&err), "v.yaml"));
    assert_int_equal(sw_values_add_yaml(v, "v.yaml", "a: [", 4, &err), SW_INVALID);
    assert_non_null(strstr(sw_err_text(&err), "v.yaml:"));
    assert_int_equal(sw_values_add_yaml(v, "v.yaml", "# nothing", 9, &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_values_are_set_at_once),
        cmocka_unit_test(words_are_typed),
        cmocka_unit_test(an_integer_stays_one_for_templates),
        cmocka_unit_test(lists_stand_in_braces),
        cmocka_unit_test(indexes_reach_into_lists),
        cmocka_unit_test(a_backslash_takes_the_meaning_away),
        cmocka_unit_test(a_key_needs_a_value),
        cmocka_unit_test(what_is_no_map_is_not_entered),
        cmocka_unit_test(nesting_is_bounded),
        cmocka_unit_test(set_string_makes_strings),
        cmocka_unit_test(set_json_reads_json),
        cmocka_unit_test(set_literal_takes_the_text_as_it_is),
        cmocka_unit_test(set_file_reads_files),
        cmocka_unit_test(flags_have_helms_precedence),
        cmocka_unit_test(a_values_file_must_be_a_map),
    };
    return cmocka_run_group_tests_name("recipe_strvals", tests, NULL, NULL);
}
