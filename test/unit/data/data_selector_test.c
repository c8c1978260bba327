/* Selectors of labels, fields and nodes. */
#include "data/selector/selector.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/json/json.h"
#include "data/json/path.h"
#include "data_util.h"

static void matches_labels(void **state)
{
    (void)state;
    static const struct {
        const char *selector, *labels;
        bool matches;
    } rows[] = {
        { "", "null", true },
        { "", "{\"a\":\"b\"}", true },
        { "a=b", "{\"a\":\"b\"}", true },
        { "a==b", "{\"a\":\"b\"}", true },
        { "a=b", "{\"a\":\"c\"}", false },
        { "a=b", "null", false },
        { "a=", "{\"a\":\"\"}", true },
        { "a!=b", "{}", true },
        { "a!=b", "{\"a\":\"b\"}", false },
        { " a = b , c != d ", "{\"a\":\"b\",\"c\":\"e\"}", true },
        { "e in (x,y)", "{\"e\":\"y\"}", true },
        { "e in (x,y)", "{\"e\":\"z\"}", false },
        { "e in (x,)", "{\"e\":\"\"}", true },
        { "e notin (x,y)", "{}", true },
        { "e notin (x,y)", "{\"e\":\"x\"}", false },
        { "f", "{\"f\":\"\"}", true },
        { "f", "{}", false },
        { "!f", "{}", true },
        { "!f", "{\"f\":\"1\"}", false },
        { "n>3", "{\"n\":\"4\"}", true },
        { "n>3", "{\"n\":\"3\"}", false },
        { "n<3", "{\"n\":\"-4\"}", true },
        { "n<3", "{\"n\":\"x\"}", false },
        { "in=1,notin=2", "{\"in\":\"1\",\"notin\":\"2\"}", true },
        { "a.b/c in (in,notin)", "{\"a.b/c\":\"in\"}", true },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_ERR(err);
        struct sw_selector s;
        SW_AUTO_JSON *labels = parse(rows[i].labels);
        if (sw_selector_parse(rows[i].selector, &s, &err) < 0)
            fail_msg("%s", sw_err_text(&err));
        if (sw_selector_matches(&s, labels) != rows[i].matches)
            fail_msg("'%s' on %s", rows[i].selector, rows[i].labels);
        sw_selector_done(&s);
    }
}

static void refuses_what_is_no_selector(void **state)
{
    (void)state;
    static const struct {
        const char *selector, *want;
    } rows[] = {
        { "a=b,", "selector 'a=b,': unable to parse requirement: found '', expected: identifier "
                  "after ','" },
        { ",a",
          "selector ',a': unable to parse requirement: found ',', expected: !, identifier, or "
          "'end of string'" },
        { "a in x", "selector 'a in x': unable to parse requirement: found 'x', expected: '('" },
        { "a in (x", "selector 'a in (x': unable to parse requirement: found '', expected: ',' or "
                     "')'" },
        { "a b", "selector 'a b': unable to parse requirement: found 'b', expected: ',' or 'end of "
                 "string', in, notin, =, ==, !=, >, <" },
        { "a>x", "selector 'a>x': for Gt and Lt, the value of 'a' must be an integer, not 'x'" },
        { "a=b=c",
          "selector 'a=b=c': unable to parse requirement: found '=', expected: ',' or 'end "
          "of string'" },
        { "-a", "selector '-a': label key '-a' must start and end with an alphanumeric character" },
        { "a=$", "selector 'a=$': label value '$' of key 'a' must consist of alphanumeric "
                 "characters, '-', '_' or '.'" },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_ERR(err);
        struct sw_selector s = { 0 };
        assert_int_equal(sw_selector_parse(rows[i].selector, &s, &err), SW_INVALID);
        assert_string_equal(sw_err_text(&err), rows[i].want);
        assert_null(s.reqs);
    }
}

static void prints_its_text(void **state)
{
    (void)state;
    SW_ERR(err);
    struct sw_selector s;
    assert_int_equal(sw_selector_parse("z, !y,e  in (b,a),d notin(x), c!=1 ,b>2,a = 1", &s, &err),
                     0);
    SW_AUTO_CHARS *text = sw_selector_text(&s);
    assert_string_equal(text, "a=1,b>2,c!=1,d notin (x),e in (a,b),!y,z");
    sw_selector_done(&s);
    sw_selector_done(&s);
}

static void reads_label_selector_objects(void **state)
{
    (void)state;
    SW_ERR(err);
    SW_AUTO_JSON *object = parse(
        "{\"matchLabels\":{\"app\":\"x\"},\"matchExpressions\":[{\"key\":"
        "\"t\",\"operator\":\"In\",\"values\":[\"a\",\"b\"]},{\"key\":\"u\","
        "\"operator\":\"DoesNotExist\"}]}");
    SW_AUTO_JSON *good = parse("{\"metadata\":{\"labels\":{\"app\":\"x\",\"t\":\"b\"}}}");
    SW_AUTO_JSON *bad = parse("{\"metadata\":{\"labels\":{\"app\":\"x\",\"t\":\"b\",\"u\":\"\"}}}");
    struct sw_selector s;
    assert_int_equal(sw_selector_from_object(object, &s, &err), 0);
    assert_true(sw_selector_matches_object(&s, good));
    assert_false(sw_selector_matches_object(&s, bad));
    sw_selector_done(&s);
}

static void null_selects_nothing_and_empty_everything(void **state)
{
    (void)state;
    SW_ERR(err);
    struct sw_selector s;
    SW_AUTO_JSON *empty = json_object_new_object();
    assert_int_equal(sw_selector_from_object(NULL, &s, &err), 0);
    assert_false(sw_selector_matches(&s, NULL));
    assert_int_equal(sw_selector_from_object(empty, &s, &err), 0);
    assert_true(sw_selector_matches(&s, NULL));
    assert_int_equal(sw_selector_from_map(NULL, &s, &err), 0);
    assert_true(sw_selector_matches(&s, NULL));
}

static void says_where_an_object_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *object, *want;
    } rows[] = {
        { "{\"matchLabels\":{\"a\":1}}", "matchLabels: 'a': not a string" },
        { "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Gt\",\"values\":[\"1\"]}]}",
          "matchExpressions: [0]: operator: 'Gt' is none of In, NotIn, Exists, DoesNotExist" },
        { "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\"}]}",
          "matchExpressions: [0]: values: must not be empty for In and NotIn" },
        { "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\",\"values\":[\"1\"]}]}",
          "matchExpressions: [0]: values: must be empty for Exists and DoesNotExist" },
        { "{\"matchExpressions\":[{\"operator\":\"Exists\"}]}",
          "matchExpressions: [0]: key: missing, or not a string" },
        { "{\"matchExpressions\":{}}", "matchExpressions: not a list" },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_ERR(err);
        struct sw_selector s = { 0 };
        SW_AUTO_JSON *object = parse(rows[i].object);
        assert_int_equal(sw_selector_from_object(object, &s, &err), SW_INVALID);
        assert_string_equal(sw_err_text(&err), rows[i].want);
    }
}

static void matches_fields(void **state)
{
    (void)state;
    SW_AUTO_JSON *pod = parse(
        "{\"metadata\":{\"name\":\"p,1\"},\"spec\":{\"nodeName\":\"n\",\"hostNetwork\":"
        "true}}");
    static const struct {
        const char *selector;
        bool matches;
    } rows[] = {
        { "", true },
        { "spec.nodeName=n", true },
        { "spec.nodeName==n,metadata.name=p\\,1", true },
        { "spec.nodeName!=n", false },
        { "spec.hostNetwork=true", true },
        { "status.phase=", true },
        { "status.phase!=Running", true },
        { "status.phase=Running", false },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_ERR(err);
        struct sw_selector s;
        assert_int_equal(sw_field_selector_parse(rows[i].selector, &s, &err), 0);
        if (sw_field_selector_matches(&s, pod) != rows[i].matches)
            fail_msg("%s", rows[i].selector);
        sw_selector_done(&s);
    }
    SW_ERR(err);
    struct sw_selector s = { 0 };
    assert_int_equal(sw_field_selector_parse("metadata.name", &s, &err), SW_INVALID);
    assert_int_equal(sw_field_selector_parse("a=b=c", &s, &err), SW_INVALID);
    assert_int_equal(sw_field_selector_parse("a=\\x", &s, &err), SW_INVALID);
}

static void matches_node_selectors(void **state)
{
    (void)state;
    SW_AUTO_JSON *node = parse(
        "{\"metadata\":{\"name\":\"n1\",\"labels\":{\"gpu\":\"true\",\"mem\":"
        "\"40\"}}}");
    static const struct {
        const char *selector;
        int want;
    } rows[] = {
        { "{\"nodeSelectorTerms\":[]}", 0 },
        { "{\"nodeSelectorTerms\":[{}]}", 0 },
        { "{\"nodeSelectorTerms\":[{\"matchExpressions\":[]}]}", 0 },
        { "{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"gpu\",\"operator\":\"Exists\"}"
          "]}]"
          "}",
          1 },
        { "{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"mem\",\"operator\":\"Gt\","
          "\"values\":[\"39\"]},{\"key\":\"x\",\"operator\":\"Exists\"}]},{\"matchFields\":[{"
          "\"key\":"
          "\"metadata.name\",\"operator\":\"In\",\"values\":[\"n1\"]}]}]}",
          1 },
        { "{\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":"
          "\"In\","
          "\"values\":[\"n2\"]}]}]}",
          0 },
        { "{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"mem\",\"operator\":\"Lt\","
          "\"values\":[\"x\"]}]}]}",
          0 }, /* not well-formed */
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO_JSON *doc = parse(rows[i].selector);
        struct sw_node_selector selector;
        sw_node_selector_init(&selector, doc);
        assert_int_equal(sw_node_selector_matches(&selector, node), rows[i].want);
        sw_node_selector_done(&selector);
    }
    struct sw_node_selector all;
    sw_node_selector_init(&all, NULL);
    assert_true(sw_node_selector_matches(&all, node));
    sw_node_selector_done(&all);
}

static const char *value_of(const char *key, void *arg)
{
    return strcmp(key, "gpu") == 0 ? arg : NULL;
}

static void matches_nodes_that_are_no_documents(void **state)
{
    (void)state;
    SW_AUTO_JSON *doc = parse(
        "{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"gpu\",\"operator\":\"In\","
        "\"values\":[\"yes\"]}],\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\","
        "\"values\":[\"n1\"]}]}]}");
    struct sw_node_selector selector;
    sw_node_selector_init(&selector, doc);
    assert_true(sw_node_selector_selects(&selector, "n1", value_of, "yes"));
    assert_false(sw_node_selector_selects(&selector, "n2", value_of, "yes"));
    assert_false(sw_node_selector_selects(&selector, "n1", value_of, "no"));
    assert_false(sw_node_selector_selects(&selector, "n1", value_of, NULL));
    sw_node_selector_done(&selector);
}

static void tolerates_taints(void **state)
{
    (void)state;
    static const struct {
        const char *toleration;
        bool want; /* of gpu=x:NoSchedule */
    } rows[] = {
        { "{}", false },
        { "{\"operator\":\"Exists\"}", true },
        { "{\"value\":\"x\"}", false },
        { "{\"key\":\"gpu\"}", false },
        { "{\"key\":\"gpu\",\"value\":\"x\"}", true },
        { "{\"key\":\"gpu\",\"operator\":\"Equal\",\"value\":\"y\"}", false },
        { "{\"key\":\"gpu\",\"operator\":\"Exists\"}", true },
        { "{\"key\":\"gpu\",\"operator\":\"Exists\",\"effect\":\"NoSchedule\"}", true },
        { "{\"key\":\"gpu\",\"operator\":\"Exists\",\"effect\":\"NoExecute\"}", false },
        { "{\"key\":\"other\",\"operator\":\"Exists\"}", false },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO_JSON *toleration = parse(rows[i].toleration);
        assert_int_equal(sw_toleration_tolerates(toleration, "gpu", "x", "NoSchedule"),
                         rows[i].want);
    }
}

static void knows_the_rules_for_names(void **state)
{
    (void)state;
    static const char long_name[] =
        "a123456789a123456789a123456789a123456789a123456789a123456789a123"; /* 64 */
    assert_null(sw_label_key_fault("a"));
    assert_null(sw_label_key_fault("feature.node.kubernetes.io/kernel-version.full"));
    assert_non_null(sw_label_key_fault(""));
    assert_non_null(sw_label_key_fault("a/"));
    assert_non_null(sw_label_key_fault("/a"));
    assert_non_null(sw_label_key_fault("a/b/c"));
    assert_non_null(sw_label_key_fault("A/b"));
    assert_non_null(sw_label_key_fault(long_name));
    assert_null(sw_label_key_fault(long_name + 1));
    assert_null(sw_label_value_fault(""));
    assert_null(sw_label_value_fault("4.18.0-305.el8.x86_64"));
    assert_non_null(sw_label_value_fault("a "));
    assert_non_null(sw_label_value_fault("-a"));
    assert_non_null(sw_label_value_fault(long_name));
    assert_null(sw_dns_subdomain_fault("a.b-c.d1"));
    assert_non_null(sw_dns_subdomain_fault("a..b"));
    assert_non_null(sw_dns_subdomain_fault("a."));
    assert_non_null(sw_dns_subdomain_fault("A"));
    assert_null(sw_dns_label_fault("a-b"));
    assert_string_equal(sw_dns_label_fault("a.b"),
                        "must consist of lower case alphanumeric characters or '-'");
    assert_non_null(sw_dns_label_fault(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_labels),
        cmocka_unit_test(refuses_what_is_no_selector),
        cmocka_unit_test(prints_its_text),
        cmocka_unit_test(reads_label_selector_objects),
        cmocka_unit_test(null_selects_nothing_and_empty_everything),
        cmocka_unit_test(says_where_an_object_is_wrong),
        cmocka_unit_test(matches_fields),
        cmocka_unit_test(matches_node_selectors),
        cmocka_unit_test(matches_nodes_that_are_no_documents),
        cmocka_unit_test(tolerates_taints),
        cmocka_unit_test(knows_the_rules_for_names),
    };
    return cmocka_run_group_tests_name("data_selector", tests, NULL, NULL);
}
