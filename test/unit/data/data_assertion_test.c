/* Trees of assertions, as Chainsaw's tests have them. */
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

static const char deployment[] =
    "{\"kind\":\"Deployment\",\"metadata\":{\"name\":\"x\",\"labels\":{\"a\":\"b\",\"c\":\"d\"}},"
    "\"status\":{\"availableReplicas\":0,\"replicas\":2,\"phase\":\"Pending\","
    "\"conditions\":[{\"type\":\"A\",\"status\":\"True\"},{\"type\":\"B\",\"status\":\"False\"}]}}";

/* Why @tree does not hold for the deployment: "" where it does, an error where it is none; the
 * caller's. */
static char *why_not(const char *tree, bool hides)
{
    SW_AUTO_JSON *doc = parse(deployment), *says = parse(tree);
    SW_AUTO(sw_assertion) *assertion = NULL;
    char *why = NULL;
    SW_ERR(err);
    if (sw_assertion_compile(says, &assertion, &err) < 0)
        return sw_strdup(sw_err_text(&err));
    if (sw_assertion_holds(assertion, doc, hides, &why)) {
        assert_null(why);
        return sw_strdup("");
    }
    assert_non_null(why);
    return why;
}

struct row {
    const char *tree, *want;
};

static void check_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        SW_AUTO_CHARS *why = why_not(rows[i].tree, false);
        if (strcmp(why, rows[i].want) != 0)
            fail_msg("%s: '%s', expected '%s'", rows[i].tree, why, rows[i].want);
    }
}

static void holds_where_each_field_is_as_asserted(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "{}", "" },
        { "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}", "" },
        { "{\"status\":{\"replicas\":2.0}}", "" },
        { "{\"status\":{\"(replicas > `1`)\":true}}", "" },
        { "{\"status\":{\"(conditions[?type=='A'].status)\":[\"True\"]}}", "" },
        { "{\"status\":{\"(conditions[?type=='A'])\":[{\"status\":\"True\"}]}}", "" },
        { "{\"status\":{\"replicas\":\"(abs(`-2`))\"}}", "" },
        { "{\"status\":{\"~.conditions\":{\"(length(type))\":1}}}", "" },
        { "{\"status\":{\"~.(conditions)\":{\"(length(type))\":1}}}", "" },
        { "{\"metadata\":{\"~.labels\":{\"(length(@))\":1}}}", "" },
        { "{\"status\":{\"none\":null}}", "" },
    };
    check_rows(rows, SW_COUNT(rows));
}

static void names_the_field_and_what_was_found(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "{\"status\":{\"phase\":\"Running\"}}", "status.phase is Pending, not Running" },
        { "{\"status\":{\"(availableReplicas > `0`)\":true}}",
          "status.(availableReplicas > `0`) is false, not true: what is compared is 0" },
        { "{\"status\":{\"(readyReplicas > `0`)\":true}}",
          "status.(readyReplicas > `0`) is null, not true: what is compared is null" },
        { "{\"spec\":{\"a\":1}}", "spec is missing" },
        { "{\"status\":{\"phase\":{\"x\":1}}}", "status.phase is no map" },
        { "{\"status\":{\"conditions\":[]}}", "status.conditions is no list of 0" },
        { "{\"status\":{\"conditions\":[{\"status\":\"True\"},{\"status\":\"True\"}]}}",
          "status.conditions[1].status is False, not True" },
        { "{\"status\":{\"~.conditions\":{\"status\":\"True\"}}}",
          "status.conditions[1].status is False, not True" },
        { "{\"metadata\":{\"~.labels\":\"b\"}}", "metadata.labels.c is d, not b" },
        { "{\"status\":{\"~.phase\":1}}", "status.phase is neither a list nor a map" },
        { "{\"status\":{\"(length(replicas))\":1}}",
          "status.(length(replicas)) length(): argument 1 has another type" },
    };
    check_rows(rows, SW_COUNT(rows));
}

static void refuses_what_it_does_not_know(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "{\"status\":{\"(a ==)\":1}}",
          "status.(a ==): 'a ==': column 5: an expression was expected" },
        { "{\"status\":{\"(a) -> b\":1}}", "status.(a) -> b: '(a) -> b': bindings are not known "
                                           "here" },
        { "{\"~i.(a)\":1}", "~i.(a): '~i.(a)': names of elements are not known here" },
        { "{\"a\":\"(x_y())\"}", "a: 'x_y()': column 1: the function 'x_y' is not known here" },
    };
    check_rows(rows, SW_COUNT(rows));
}

static void keeps_secrets_to_itself(void **state)
{
    (void)state;
    SW_AUTO_CHARS *why = why_not("{\"status\":{\"phase\":\"Running\"}}", true);
    assert_string_equal(why, "status.phase is not as asserted");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds_where_each_field_is_as_asserted),
        cmocka_unit_test(names_the_field_and_what_was_found),
        cmocka_unit_test(refuses_what_it_does_not_know),
        cmocka_unit_test(keeps_secrets_to_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
