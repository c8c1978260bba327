/* CEL: what expressions evaluate to, as JSON; what cannot be evaluated or compiled, and why. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/cel/cel.h"
#include "data/data.h"

static const char object[] =
    "{\"name\":\"web\",\"n\":3,\"half\":0.5,\"labels\":{\"app\":\"a\",\"tier\":\"b\"},"
    "\"list\":[3,1,2],\"words\":[\"x\",\"yy\"],\"none\":null,\"nested\":{\"deep\":[{\"k\":1}]}}";

struct row {
    const char *text, *expected; /* JSON; "!..." an error; "?..." does not compile, of the text */
};

static json_object *read_json(const char *text)
{
    json_object *doc = NULL;
    SW_ERR(err);
    if (sw_json_parse(text, strlen(text), NULL, &doc, &err) < 0)
        fail_msg("%s: %s", text, sw_err_text(&err));
    return doc;
}

/* The result as the rows write it; the caller's. */
static bool makes_patches;

static char *result_of(const char *text)
{
    static const struct sw_cel_variable variables[] = { { "x", SW_CEL_DYN, NULL } };
    const struct sw_cel_env env = { .variables = variables,
                                    .n_variables = 1,
                                    .makes_patches = makes_patches };
    SW_ERR(err);
    SW_AUTO(sw_cel) *cel = NULL;
    SW_AUTO_JSON *doc = read_json(object), *out = NULL;
    const struct sw_cel_input input = { .values = &doc };
    if (sw_cel_compile(text, &env, &cel, &err) < 0)
        return sw_printf("?%s", sw_err_text(&err));
    if (sw_cel_run(cel, &input, &out, NULL, &err) < 0)
        return sw_printf("!%s", sw_err_text(&err));
    return sw_json_text(out, SW_JSON_PLAIN, NULL);
}

static void check(const struct row *rows, size_t n)
{
    size_t failed = 0;
    for (size_t i = 0; i < n; i++) {
        SW_AUTO_CHARS *is = result_of(rows[i].text);
        const char *expected = rows[i].expected;
        const bool same = *expected == '?' ? *is == '?' && strstr(is, expected + 1)
                                           : sw_streq(is, expected);
        failed += !same;
        if (!same)
            printf("%s: %s, not %s\n", rows[i].text, is, expected);
    }
    assert_int_equal(failed, 0);
}

static void literals_have_their_values(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "1", "1" },
        { "-9223372036854775808", "-9223372036854775808" },
        { "0x1F", "31" },
        { "7u", "7" },
        { "1.5e3", "1500" },
        { ".5", "0.5" },
        { "true", "true" },
        { "null", "null" },
        { "'a\\n\\t\\\\\\'\\x41\\u00e9\\101'", "\"a\\n\\t\\\\'A\xc3\xa9"
                                               "A\"" },
        { "r'a\\n'", "\"a\\\\n\"" },
        { "'''a'b\n'''", "\"a'b\\n\"" },
        { "\"\"\"a\"b\"\"\"", "\"a\\\"b\"" },
        { "b'\\xff' == b'\\377'", "true" },
        { "size(b'\xc3\xa9')", "2" },
        { "[1, 2,]", "[1,2]" },
        { "{'a': [1], 'b': [2]}", "{\"a\":[1],\"b\":[2]}" },
        { "// a comment\n 1", "1" },
        { "18446744073709551616u", "?invalid uint literal" },
        { "'\\q'", "?token recognition error" },
        { "{'a': 1, 'a': 2}", "{\"a\":2}" },
    };
    check(rows, SW_COUNT(rows));
}

static void operators_bind_as_specified(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "1 + 2 * 3", "7" },
        { "(1 + 2) * 3", "9" },
        { "10 - 3 - 2", "5" },
        { "7 / 2 * 2", "6" },
        { "-7 / 2", "-3" },
        { "-7 % 2", "-1" },
        { "1 < 2 == true", "true" },
        { "true || false && false", "true" },
        { "!true || true", "true" },
        { "true ? 1 : false ? 2 : 3", "1" },
        { "false ? 1 : false ? 2 : 3", "3" },
        { "- - 1", "1" },
        { "2 in [1, 2]", "true" },
        { "'a' in {'a': 1}", "true" },
        { "'a' + 'b'", "\"ab\"" },
        { "[1] + [2]", "[1,2]" },
        { "1.0 / 0.0 > 1.0", "true" },
        { "1 < 1.5", "true" },
        { "dyn(1) == 1.0", "true" },
        { "dyn(1) == 1u", "true" },
        { "dyn(1) == '1'", "false" },
        { "9223372036854775807 + 1", "!integer overflow" },
        { "0u - 1u", "!unsigned integer overflow" },
        { "-9223372036854775808 / -1", "!integer overflow" },
        { "1 / 0", "!division by zero" },
        { "1 % 0", "!modulus by zero" },
        { "[1, 2] == [1, 2]", "true" },
        { "{'a': 1} == {'a': 1}", "true" },
        { "'b' > 'a'", "true" },
    };
    check(rows, SW_COUNT(rows));
}

static void an_error_is_absorbed_where_the_other_side_decides(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "x.nope == 1 || true", "true" },
        { "true || x.nope == 1", "true" },
        { "false && x.nope == 1", "false" },
        { "x.nope == 1 && false", "false" },
        { "x.nope == 1 && true", "!no such key: nope" },
        { "[1, 0].exists(i, 4 / i == 4)", "true" },
        { "[0, 1].exists(i, 4 / i == 4)", "true" },
        { "[0, 2].exists(i, 4 / i == 4)", "!division by zero" },
        { "[0, 2].all(i, 4 / i == 4)", "false" },
        { "true ? 1 : x.nope", "1" },
    };
    check(rows, SW_COUNT(rows));
}

static void fields_and_indexes_select(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "x.name", "\"web\"" },
        { "x['name']", "\"web\"" },
        { "x.nested.deep[0].k", "1" },
        { "x.nope", "!no such key: nope" },
        { "x['nope']", "!no such key: nope" },
        { "x.list[3]", "!index out of bounds: 3" },
        { "x.list[-1]", "!index out of bounds: -1" },
        { "x.name.first", "!no such key: first" },
        { "has(x.name)", "true" },
        { "has(x.nope)", "false" },
        { "has(x.none)", "true" },
        { "has(x.labels.app) && x.labels.app == 'a'", "true" },
        { "has(x.nope.more)", "!no such key: nope" },
        { "x.n + 'a'", "!no such overload" },
        { "x.list['a']", "!unsupported index type 'string' in list" },
        { "x.list[dyn(1.0)]", "1" },
        { "has(x.none.a) || x.none.?a.hasValue()", "false" },
        { "x.list < 1", "!no such overload: _<_" },
        { "x.name == 1", "false" },
    };
    check(rows, SW_COUNT(rows));
}

static void macros_go_through_lists_and_maps(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "x.list.all(i, i > 0)", "true" },
        { "x.list.exists(i, i == 2)", "true" },
        { "x.list.exists_one(i, i > 2)", "true" },
        { "x.words.existsOne(i, w, i == 1 && w == 'yy')", "true" },
        { "x.list.map(i, i * 2)", "[6,2,4]" },
        { "x.list.map(i, i > 1, i * 2)", "[6,4]" },
        { "x.list.filter(i, i > 1)", "[3,2]" },
        { "x.labels.filter(k, k == 'app')", "[\"app\"]" },
        { "x.labels.all(k, x.labels[k].size() == 1)", "true" },
        { "[].all(i, false)", "true" },
        { "[[1, 2], [3]].map(a, a.map(b, b + size(a)))", "[[3,4],[4]]" },
        { "x.words.all(i, w, size(w) == i + 1)", "true" },
        { "x.labels.exists(k, v, k == 'tier' && v == 'b')", "true" },
        { "x.words.transformList(i, w, w + string(i))", "[\"x0\",\"yy1\"]" },
        { "x.labels.transformMap(k, v, v + k)", "{\"app\":\"aapp\",\"tier\":\"btier\"}" },
        { "x.words.transformMapEntry(i, w, {w: i})", "{\"x\":0,\"yy\":1}" },
        { "x.n.all(i, true)", "!got 'types.Int', expected iterable type" },
    };
    check(rows, SW_COUNT(rows));
}

static void optionals_stand_for_what_may_be_missing(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "x.?nope.more.orValue('d')", "\"d\"" },
        { "x.?name.orValue('d')", "\"web\"" },
        { "x.?labels.app.orValue('d')", "\"a\"" },
        { "x.list[?7].hasValue()", "false" },
        { "x.labels[?'app'].value()", "\"a\"" },
        { "optional.none().value()", "!optional.none() dereference" },
        { "optional.of(1).or(optional.of(2)).value()", "1" },
        { "optional.ofNonZeroValue('').hasValue()", "false" },
        { "optional.of(2).optMap(v, v * 3).value()", "6" },
        { "[?optional.none(), ?optional.of(1)]", "[1]" },
        { "{?'a': x.?nope, ?'b': x.?n}", "{\"b\":3}" },
    };
    check(rows, SW_COUNT(rows));
}

static void types_are_converted(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "int('-5')", "-5" },
        { "int(2.9)", "2" },
        { "int(1e30)", "!integer overflow" },
        { "uint(-1)", "!unsigned integer overflow" },
        { "double('1.25')", "1.25" },
        { "string(1.5)", "\"1.5\"" },
        { "string(b'ab')", "\"ab\"" },
        { "string(b'\\xff')", "!invalid UTF-8 in bytes, cannot convert to string" },
        { "bool('true')", "true" },
        { "type(1) == int", "true" },
        { "type(type(1)) == type", "true" },
        { "string(type(timestamp(0)))", "?found no matching overload for 'string'" },
        { "type(x.half) == double", "true" },
        { "size('h\xc3\xa9')", "2" },
        { "size(x.labels)", "2" },
    };
    check(rows, SW_COUNT(rows));
}

static void strings_have_their_functions(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "'h\xc3\xa9llo'.charAt(1)", "\"\xc3\xa9\"" },
        { "'a'.charAt(1)", "\"\"" },
        { "'a'.charAt(2)", "!index out of range: 2" },
        { "'hello'.indexOf('l')", "2" },
        { "'hello'.indexOf('l', 3)", "3" },
        { "'hello'.lastIndexOf('l')", "3" },
        { "'hello'.lastIndexOf('l', 2)", "2" },
        { "['a', 'b'].join('-')", "\"a-b\"" },
        { "['a', 'b'].join()", "\"ab\"" },
        { "'ABc'.lowerAscii() + 'd'.upperAscii()", "\"abcD\"" },
        { "'aaa'.replace('a', 'b', 2)", "\"bba\"" },
        { "'ab'.replace('', '_')", "\"_a_b_\"" },
        { "'a,b,c'.split(',')", "[\"a\",\"b\",\"c\"]" },
        { "'a,b,c'.split(',', 2)", "[\"a\",\"b,c\"]" },
        { "'abc'.split('')", "[\"a\",\"b\",\"c\"]" },
        { "'hello'.substring(1, 3)", "\"el\"" },
        { "' a '.trim()", "\"a\"" },
        { "strings.quote('a\"b')", "\"\\\"a\\\\\\\"b\\\"\"" },
        { "'%s is %d, %.2f, %x, %b, %%'.format(['a', 3, 1.5, 255, 5])",
          "\"a is 3, 1.50, ff, 101, %\"" },
        { "[[1, 'a', {'k': true}]]", "?expected type 'int' but found 'string'" },
        { "'%s'.format([[dyn(1), 'a', {'k': true}]])", "\"[1, \\\"a\\\", {\\\"k\\\":true}]\"" },
        { "'%d'.format(['a'])",
          "!error during formatting: decimal clause can only be used on integers, was given "
          "string" },
        { "'%e %f'.format([-15.0, 12345.5])", "\"-1.500000×10⁰¹ 12,345.500000\"" },
        { "'%z'.format([1])", "?unrecognized formatting clause \"z\"" },
        { "'%s %s'.format([1])", "?index 1 out of range" },
        { "'%s'.format([1, 2])",
          "?too many arguments supplied to string.format (expected 1, got 2)" },
        { "'hello'.startsWith('he') && 'hello'.endsWith('lo') && 'hello'.contains('ell')", "true" },
        { "'foo123'.matches('^[a-z]+\\\\d{3}$')", "true" },
        { "'a'.matches('(')", "?invalid matches argument" },
        { "'abc 123'.find('[0-9]+')", "\"123\"" },
        { "'1 22 3'.findAll('[0-9]+')", "[\"1\",\"22\",\"3\"]" },
        { "'1 22 3'.findAll('[0-9]+', 2)", "[\"1\",\"22\"]" },
    };
    check(rows, SW_COUNT(rows));
}

static void lists_have_their_functions(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "[1, 2, 2].isSorted()", "true" },
        { "['b', 'a'].isSorted()", "false" },
        { "[1, 2].sum() + [].sum()", "3" },
        { "[1.5, 2.0].sum()", "3.5" },
        { "[3, 1].min() + [3, 1].max()", "4" },
        { "[1].filter(i, false).max()", "!max called on empty list" },
        { "[3, 1, 2].sort().reverse() + lists.range(2)", "[3,2,1,0,1]" },
        { "x.words.sortBy(w, -size(w))", "[\"yy\",\"x\"]" },
        { "[[1], [2, 2]].flatten().distinct()", "[1,2]" },
        { "[1, 2, 3].slice(1, 3) + [[7].first().value(), [].last().orValue(8)]", "[2,3,7,8]" },
        { "[1].slice(0, 2)", "!cannot slice(0, 2), list is length 1" },
        { "[x.n, x.name].sort()", "!list elements must have the same type" },
        { "[1, 2, 1].indexOf(1) + [1, 2, 1].lastIndexOf(1)", "2" },
        { "sets.contains([1, 2], [2])", "true" },
        { "sets.equivalent([1, 1, 2], [2, 1])", "true" },
        { "sets.intersects([1], [2])", "false" },
    };
    check(rows, SW_COUNT(rows));
}

static void times_are_computed_with(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "timestamp('2024-02-28T23:30:00Z') + duration('1h')", "\"2024-02-29T00:30:00Z\"" },
        { "timestamp('2024-01-02T00:00:00Z') - timestamp('2024-01-01T00:00:00Z') == "
          "duration('24h')",
          "true" },
        { "timestamp('2024-03-05T06:07:08.009Z').getMonth()", "2" },
        { "timestamp('2024-03-05T06:07:08.009Z').getMilliseconds()", "9" },
        { "timestamp('2024-03-05T23:00:00Z').getDate('+02:00')", "6" },
        { "timestamp('2024-03-03T00:00:00Z').getDayOfWeek()", "0" },
        { "duration('90m').getHours()", "1" },
        { "duration('1h30m')", "\"5400s\"" },
        { "string(duration('-1.5s'))", "\"-1.5s\"" },
        { "int(timestamp('1970-01-01T00:01:00Z'))", "60" },
        { "timestamp('9999-12-31T23:59:59Z') + duration('1s')", "!timestamp overflow" },
        { "duration('x')", "?invalid duration argument" },
    };
    check(rows, SW_COUNT(rows));
}

static void kubernetes_types_have_their_functions(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "quantity('1Gi').isGreaterThan(quantity('1G'))", "true" },
        { "quantity('50k').add(20).asInteger()", "50020" },
        { "quantity('1.5').isInteger()", "false" },
        { "quantity('200M').compareTo(quantity('0.2G'))", "0" },
        { "isQuantity('1x')", "false" },
        { "semver('1.2.3').isLessThan(semver('1.10.0'))", "true" },
        { "semver('v1.2', true).minor()", "2" },
        { "isSemver('1.0')", "false" },
        { "ip('127.0.0.1').isLoopback()", "true" },
        { "ip('::1').family()", "6" },
        { "ip.isCanonical('2001:DB8::1')", "false" },
        { "isIP('1.2.3')", "false" },
        { "cidr('10.0.0.0/8').containsIP('10.1.2.3')", "true" },
        { "cidr('10.0.0.0/8').containsCIDR(cidr('10.1.0.0/16'))", "true" },
        { "string(cidr('10.1.2.3/8').masked())", "\"10.0.0.0/8\"" },
        { "url('https://a.example:80/p?k=1&k=2').getHostname()", "\"a.example\"" },
        { "url('https://a.example:80/p?k=1&k=2').getQuery()['k']", "[\"1\",\"2\"]" },
        { "isURL('a b')", "false" },
        { "format.dns1123Label().validate('a-b').hasValue()", "false" },
        { "format.named('uuid').value().validate('x').value().size()", "1" },
        { "format.named('nope').hasValue()", "false" },
    };
    check(rows, SW_COUNT(rows));
}

static void what_does_not_compile_is_explained(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "foo == 1", "?ERROR: <input>:1:1: undeclared reference to 'foo' (in container '')\n"
                      " | foo == 1\n | ^" },
        { "1 + 'a'", "?1:3: found no matching overload for '_+_' applied to '(int, string)'" },
        { "x.foo()", "?1:6: undeclared reference to 'foo'" },
        { "'a'.charAt('b')",
          "?1:11: found no matching overload for 'charAt' applied to 'string.(string)'" },
        { "x.a >", "?1:6: Syntax error: mismatched input '<EOF>' expecting {'[', '{'," },
        { "1 = 2", "?1:5: Syntax error: extraneous input '2' expecting <EOF>" },
        { "x.list[0", "?missing ']' at '<EOF>'" },
        { "[1, 'a']", "?1:5: expected type 'int' but found 'string'" },
        { "true && 2", "?1:9: expected type 'bool' but found 'int'" },
        { "has(x)", "?1:5: invalid argument to has() macro" },
        { "x.map(1, 2)", "?1:7: argument is not an identifier" },
        { "true ? 1 : 'a'",
          "?1:6: found no matching overload for '_?_:_' applied to '(bool, int, string)'" },
        { "1u == 1", "?found no matching overload for '_==_' applied to '(uint, int)'" },
        { "1 in ['a']", "?applied to '(int, list(string))'" },
        { "for == 1", "?reserved identifier: for" },
        { "(1).all(i, true)", "?cannot be range of a comprehension" },
    };
    check(rows, SW_COUNT(rows));
}

static void what_runs_for_too_long_is_ended(void **state)
{
    (void)state;
    SW_AUTO_CHARS *is = result_of(
        "[[1,2,3,4,5,6,7,8,9,10]].all(a, a.all(b, a.all(c, a.all(d, a.all(e, a.all(f, a.all(g, "
        "a.all(h, true))))))))");
    assert_string_equal(is, "!operation cancelled: actual cost limit exceeded");
}

static void no_error_hides_that_the_budget_is_spent(void **state)
{
    (void)state;
    SW_AUTO_CHARS *is = result_of(
        "[[1,2,3,4,5,6,7,8,9,10]].all(a, a.all(b, a.all(c, a.all(d, a.all(e, a.all(f, a.all(g, "
        "a.all(h, true)))))))) || true");
    assert_string_equal(is, "!operation cancelled: actual cost limit exceeded");
}

static void a_text_keeps_its_expression_as_long_as_the_schema_is_the_same(void **state)
{
    (void)state;
    SW_ERR(err);
    const struct sw_cel *first = NULL, *again = NULL, *other = NULL;
    SW_AUTO_JSON *text = json_object_new_string("self.a == 1");
    SW_AUTO_JSON *schema = read_json(
        "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"}}}");
    SW_AUTO_JSON *without = read_json("{\"type\":\"object\",\"properties\":{}}");
    struct sw_cel_variable self = { "self", SW_CEL_TYPED, schema };
    const struct sw_cel_env env = { .variables = &self, .n_variables = 1 };
    assert_int_equal(sw_cel_keep(text, &env, &first, &err), 0);
    assert_int_equal(sw_cel_keep(text, &env, &again, &err), 0);
    assert_ptr_equal(first, again);
    self.schema = without;
    assert_int_equal(sw_cel_keep(text, &env, &other, &err), SW_INVALID);
    assert_non_null(strstr(sw_err_text(&err), "undefined field 'a'"));
}

/* ---- devices ----
 */

static json_object *device(void)
{
    json_object *root = json_object_new_object(), *attributes = sw_cel_open_map();
    json_object *capacity = sw_cel_open_map();
    sw_json_set(attributes, sw_cel_semver("580.159.4"), "d.example", "version", NULL);
    sw_json_set(attributes, json_object_new_int(3), "d.example", "index", NULL);
    sw_json_set(capacity, sw_cel_quantity("20Gi"), "d.example", "memory", NULL);
    sw_json_set(root, attributes, "attributes", NULL);
    sw_json_set(root, capacity, "capacity", NULL);
    return root;
}

static void marked_documents_have_quantities_versions_and_open_maps(void **state)
{
    (void)state;
    static const struct sw_cel_variable variables[] = { { "device", SW_CEL_DYN, NULL } };
    static const struct sw_cel_env env = { .variables = variables, .n_variables = 1 };
    static const struct {
        const char *text;
        int holds;
    } rows[] = {
        { "device.capacity['d.example'].memory.compareTo(quantity('20480Mi')) == 0", 1 },
        { "device.capacity['d.example'].memory.isGreaterThan(quantity('20Gi'))", 0 },
        { "device.attributes['d.example'].version.isGreaterThan(semver('570.0.0'))", 1 },
        { "device.attributes['d.example'].index in [1, 3]", 1 },
        { "has(device.attributes['e.example'].index)", 0 },
        { "'x' in device.attributes['e.example']", 0 },
        { "device.attributes['d.example'].version.isGreaterThan(quantity('1'))", SW_INVALID },
        { "device.attributes['e.example'].version.major() == 1", SW_INVALID },
    };
    SW_AUTO_JSON *doc = device();
    const struct sw_cel_input input = { .values = &doc };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_ERR(err);
        SW_AUTO(sw_cel) *cel = NULL;
        assert_int_equal(sw_cel_compile(rows[i].text, &env, &cel, &err), 0);
        const int holds = sw_cel_holds(cel, &input, NULL, &err);
        if (holds != rows[i].holds)
            fail_msg("%s: %d %s", rows[i].text, holds, sw_err_text(&err));
    }
}

static void mutations_make_objects_and_patches(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "Object{spec: Object.spec{n: x.n + 1}}", "{\"spec\":{\"n\":4}}" },
        { "Object{list: x.list.map(i, Object.list{i: i})}",
          "{\"list\":[{\"i\":3},{\"i\":1},{\"i\":2}]}" },
        { "Object{?a: x[?'name'], ?b: x[?'nope']}", "{\"a\":\"web\"}" },
        { "Object{`a-b`: 1,}", "{\"a-b\":1}" },
        { "[JSONPatch{op: 'add', path: '/a/' + jsonpatch.escapeKey('k/x~y'), value: null}]",
          "[{\"op\":\"add\",\"path\":\"/a/k~1x~0y\",\"value\":null}]" },
        { "x.n > 9 ? [JSONPatch{op: 'remove', path: '/a'}] : []", "[]" },
        { "JSONPatch{op: 'a'}.op + string(has(JSONPatch{}.op)) + string(has(JSONPatch{value: "
          "1}.value))",
          "\"afalsetrue\"" },
        { "JSONPatch{path: 'a', value: [1]} == JSONPatch{path: 'a', value: [1]}", "true" },
        { "JSONPatch{} == JSONPatch{op: ''}", "true" },
        { "JSONPatch{value: 1} == JSONPatch{value: '1'}", "false" },
        { "Object{a: 1} == Object{a: 2}", "false" },
        { "Object{a: Object.b{}}",
          "!type mismatch: unexpected type name \"Object.b\", expected \"Object.a\", which matches "
          "field name path from root Object type" },
        { "JSONPatch{op: x.n}", "!unexpected type int64 for JSONPatchType 'op' field" },
        { "JSONPatch{odd: x.n}", "!unexpected JSONPatchType field: odd" },
        { "JSONPatch{op: 1}",
          "?1:13: expected type of field 'op' is 'string' but provided type is 'int'" },
        { "Objekt{}", "?1:7: undeclared reference to 'Objekt' (in container '')" },
        { "int{}", "?'int' is not a message type" },
        { "Object{a 1}", "?Syntax error: missing ':' at '1'" },
        { "Object{a: 1", "?Syntax error: mismatched input '<EOF>'" },
    };
    static const struct row others[] = {
        { "Object{}", "?undeclared reference to 'Object' (in container '')" },
        { "jsonpatch.escapeKey('a')", "?undeclared reference to 'jsonpatch'" },
    };
    makes_patches = true;
    check(rows, SW_COUNT(rows));
    makes_patches = false;
    check(others, SW_COUNT(others));
}

static void what_is_empty_takes_the_type_of_what_it_is_joined_with(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        { "[]", "list(dyn)" },
        { "true ? [] : [JSONPatch{}]", "list(JSONPatch)" },
        { "true ? [JSONPatch{}] : []", "list(JSONPatch)" },
        { "[] + [JSONPatch{}]", "list(JSONPatch)" },
        { "[JSONPatch{}] + []", "list(JSONPatch)" },
        { "x.list.map(i, JSONPatch{value: i})", "list(JSONPatch)" },
        { "true ? {} : {'a': 1}", "map(string, int)" },
        { "true ? 1 : x", "dyn" },
        { "[[], [1]]", "list(list(int))" },
        { "Object{}", "Object" },
        { "Object.spec{}", "Object.spec" },
    };
    static const struct sw_cel_variable variables[] = { { "x", SW_CEL_DYN, NULL } };
    const struct sw_cel_env env = { .variables = variables,
                                    .n_variables = 1,
                                    .makes_patches = true };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_ERR(err);
        SW_AUTO(sw_cel) *cel = NULL;
        assert_int_equal(sw_cel_compile(rows[i][0], &env, &cel, &err), 0);
        assert_string_equal(sw_cel_type_name(cel), rows[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals_have_their_values),
        cmocka_unit_test(operators_bind_as_specified),
        cmocka_unit_test(an_error_is_absorbed_where_the_other_side_decides),
        cmocka_unit_test(fields_and_indexes_select),
        cmocka_unit_test(macros_go_through_lists_and_maps),
        cmocka_unit_test(optionals_stand_for_what_may_be_missing),
        cmocka_unit_test(types_are_converted),
        cmocka_unit_test(strings_have_their_functions),
        cmocka_unit_test(lists_have_their_functions),
        cmocka_unit_test(times_are_computed_with),
        cmocka_unit_test(kubernetes_types_have_their_functions),
        cmocka_unit_test(mutations_make_objects_and_patches),
        cmocka_unit_test(what_is_empty_takes_the_type_of_what_it_is_joined_with),
        cmocka_unit_test(what_does_not_compile_is_explained),
        cmocka_unit_test(what_runs_for_too_long_is_ended),
        cmocka_unit_test(no_error_hides_that_the_budget_is_spent),
        cmocka_unit_test(a_text_keeps_its_expression_as_long_as_the_schema_is_the_same),
        cmocka_unit_test(marked_documents_have_quantities_versions_and_open_maps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
