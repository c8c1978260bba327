/* JMESPath, as jmespath.org specifies it. */
#include "data/jmespath/jmespath.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/json/json.h"
#include "data/json/path.h"
#include "data_util.h"

static const char document[] =
    "{\"n\":2,\"s\":\"text\",\"t\":true,\"z\":null,\"e\":{},\"a b\":1,"
    "\"l\":[3,1,2],\"m\":{\"x\":1,\"y\":2},\"w\":[\"b\",\"a\"],"
    "\"nested\":[[1,2],[3],4],"
    "\"pods\":[{\"name\":\"p\",\"phase\":\"Running\",\"n\":5,\"c\":[{\"ready\":true}]},"
    "{\"name\":\"q\",\"phase\":\"Failed\",\"n\":3,\"c\":[{\"ready\":false},{\"ready\":true}]}]}";

/* The result of @expression for the document as JSON, or the error; the caller's. */
static char *search(const char *expression)
{
    SW_AUTO_JSON *doc = NULL, *found = NULL;
    SW_AUTO(sw_jmespath) *path = NULL;
    SW_ERR(err);
    assert_int_equal(sw_json_parse(document, strlen(document), NULL, &doc, &err), 0);
    if (sw_jmespath_compile(expression, &path, &err) < 0 ||
        sw_jmespath_search(path, doc, &found, &err) < 0)
        return sw_strdup(sw_err_text(&err));
    return sw_json_text(found, SW_JSON_SORTED, NULL);
}

static void finds_what_the_specification_says(void **state)
{
    (void)state;
    static const struct {
        const char *expression, *want;
    } rows[] = {
        { "n", "2" },
        { "\"a b\"", "1" },
        { "m.x", "1" },
        { "m.none.x", "null" },
        { "s.x", "null" },
        { "@", NULL },
        { "l[0]", "3" },
        { "l[-1]", "2" },
        { "l[3]", "null" },
        { "l[1:]", "[1,2]" },
        { "l[::-1]", "[2,1,3]" },
        { "l[-2:]", "[1,2]" },
        { "l[:-1].x", "[]" },
        { "pods[*].name", "[\"p\",\"q\"]" },
        { "pods[*].none", "[]" },
        { "pods[].c[].ready", "[true,false,true]" },
        { "pods[*].c[*].ready", "[[true],[false,true]]" },
        { "pods[*].c | [0]", "[{\"ready\":true}]" },
        { "pods[?phase=='Failed'].name", "[\"q\"]" },
        { "pods[?n > `3` && phase != 'Failed'] | [0].name", "\"p\"" },
        { "pods[?contains(name, 'q')].n", "[3]" },
        { "nested[]", "[1,2,3,4]" },
        { "nested[][]", "[1,2,3,4]" },
        { "m.*", "[1,2]" },
        { "*.x", "[1]" },
        { "n > `1`", "true" },
        { "n > `1.5`", "true" },
        { "n >= `3`", "false" },
        { "none > `0`", "null" },
        { "s > `0`", "null" },
        { "n == `2.0`", "true" },
        { "m == `{\"y\": 2, \"x\": 1}`", "true" },
        { "z == none", "true" },
        { "none || s", "\"text\"" },
        { "e || l || s", "[3,1,2]" },
        { "n && z", "null" },
        { "!e", "true" },
        { "!(n == `2`) || t", "true" },
        { "{a: n, b: m.y}", "{\"a\":2,\"b\":2}" },
        { "[n, s]", "[2,\"text\"]" },
        { "pods[*].[name, n]", "[[\"p\",5],[\"q\",3]]" },
        { "pods[*].{k: name}", "[{\"k\":\"p\"},{\"k\":\"q\"}]" },
        { "none.[n]", "null" },
        { "'it\\'s'", "\"it's\"" },
        { "`\"\\`\"`", "\"`\"" },
        { "length(pods)", "2" },
        { "length(s)", "4" },
        { "length('h\xc3\xa9')", "2" },
        { "abs(`-1.5`)", "1.5" },
        { "avg(l)", "2" },
        { "avg(`[]`)", "null" },
        { "ceil(`1.2`)", "2" },
        { "floor(`-1.2`)", "-2" },
        { "sum(l)", "6" },
        { "max(l)", "3" },
        { "min(w)", "\"a\"" },
        { "max_by(pods, &n).name", "\"p\"" },
        { "min_by(pods, &n).name", "\"q\"" },
        { "sort(l)", "[1,2,3]" },
        { "sort_by(pods, &n)[].name", "[\"q\",\"p\"]" },
        { "map(&none, pods)", "[null,null]" },
        { "map(&n, pods)", "[5,3]" },
        { "join('-', w)", "\"b-a\"" },
        { "reverse(w)", "[\"a\",\"b\"]" },
        { "reverse('h\xc3\xa9')", "\"\xc3\xa9h\"" },
        { "keys(m)", "[\"x\",\"y\"]" },
        { "values(m)", "[1,2]" },
        { "merge(m, {y: `3`}, `{\"z\": 4}`)", "{\"x\":1,\"y\":3,\"z\":4}" },
        { "not_null(z, none, n)", "2" },
        { "to_array(n)", "[2]" },
        { "to_array(l)", "[3,1,2]" },
        { "to_number('7')", "7" },
        { "to_number('x')", "null" },
        { "to_string(m)", "\"{\\\"x\\\":1,\\\"y\\\":2}\"" },
        { "type(z)", "\"null\"" },
        { "type(t)", "\"boolean\"" },
        { "starts_with(s, 'te')", "true" },
        { "ends_with(s, 'te')", "false" },
        { "contains(l, `1`)", "true" },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO_CHARS *found = search(rows[i].expression);
        if (rows[i].want && strcmp(found, rows[i].want) != 0)
            fail_msg("%s: %s, expected %s", rows[i].expression, found, rows[i].want);
    }
}

static void refuses_with_the_column(void **state)
{
    (void)state;
    static const struct {
        const char *expression, *want;
    } rows[] = {
        { "", "'': column 1: an expression was expected" },
        { "a.", "'a.': column 3: a name was expected behind '.'" },
        { "a b", "'a b': column 3: an operator or the end was expected" },
        { "a[", "'a[': column 3: an index, a slice or '*' was expected behind '['" },
        { "a[0", "'a[0': column 4: an index, ':' or ']' was expected" },
        { "a[::0]", "'a[::0]': column 6: the step of a slice cannot be 0" },
        { "a[x]", "'a[x]': column 3: an index, a slice or '*' was expected behind '['" },
        { "[a", "'[a': column 3: ',' or the closing bracket was expected" },
        { "(a", "'(a': column 3: ')' was expected" },
        { "'a", "''a': column 1: the quote has no end" },
        { "`a`", "'`a`': column 1: what is between the backquotes is no JSON" },
        { "$a", "'$a': column 1: bindings ($name) are not known here" },
        { "a = b", "'a = b': column 3: this is nothing that JMESPath has" },
        { "time_now()", "'time_now()': column 1: the function 'time_now' is not known here" },
        { "length()", "'length()': column 1: the function takes another number of arguments" },
        { "length(&a)", "'length(&a)': column 1: an expression (&...) is where none was expected, "
                        "or is missing" },
        { "&a", "'&a': column 1: an expression (&...) is an argument of a function only" },
        { "length(n)", "length(): argument 1 has another type" },
        { "sort_by(pods, &c)", "sort_by(): the values to order by are not all numbers or all "
                               "strings" },
        { "[@,@] | [@,@] | [@,@] | [@,@] | [@,@] | [@,@] | [@,@] | [@,@] | [@,@] | [@,@] | [@,@] | "
          "[@,@] | [@,@] | [@,@] | [@,@] | [@,@] | [@,@] | [@,@] | [@,@] | [@,@] | to_string(@)",
          "more than 1000000 values had to be visited" },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO_CHARS *found = search(rows[i].expression);
        if (strcmp(found, rows[i].want) != 0)
            fail_msg("%s: %s, expected %s", rows[i].expression, found, rows[i].want);
    }
}

static void refuses_what_is_nested_too_deeply(void **state)
{
    (void)state;
    char deep[1001];
    memset(deep, '(', 1000);
    deep[1000] = '\0';
    SW_AUTO(sw_jmespath) *path = NULL;
    SW_ERR(err);
    assert_int_equal(sw_jmespath_compile(deep, &path, &err), SW_INVALID);
    assert_non_null(strstr(sw_err_text(&err), "nested too deeply"));
}

static void names_what_is_compared(void **state)
{
    (void)state;
    SW_AUTO(sw_jmespath) *comparison = NULL, *other = NULL;
    SW_AUTO_JSON *doc = NULL, *left = NULL;
    SW_ERR(err);
    assert_int_equal(sw_json_parse("{\"n\":2}", 7, NULL, &doc, &err), 0);
    assert_int_equal(sw_jmespath_compile("n > `3`", &comparison, &err), 0);
    assert_int_equal(sw_jmespath_compile("n", &other, &err), 0);
    assert_null(sw_jmespath_compared(other));
    assert_int_equal(sw_jmespath_search(sw_jmespath_compared(comparison), doc, &left, &err), 0);
    assert_int_equal(json_object_get_int(left), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_the_specification_says),
        cmocka_unit_test(refuses_with_the_column),
        cmocka_unit_test(refuses_what_is_nested_too_deeply),
        cmocka_unit_test(names_what_is_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
