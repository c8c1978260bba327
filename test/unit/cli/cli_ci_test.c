/* What systems for continuous integration get of a walk. */
#include "cli/view/ci.h"

#include "data/data.h"
#include "unit/data/data_util.h"

#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define STATES                                                                                     \
    "{\"states\":["                                                                                \
    "{\"name\":\"nfd\",\"phase\":\"Ready\",\"startedAt\":\"1970-01-01T00:00:01Z\","                \
    "\"readyAt\":\"1970-01-01T00:00:03Z\"},"                                                       \
    "{\"name\":\"driver\",\"phase\":\"Waiting\",\"startedAt\":\"1970-01-01T00:00:03Z\","           \
    "\"message\":\"\\u001b[2J <a> & \\\"b\\\"\\nsecond line\"},"                                   \
    "{\"name\":\"last\",\"phase\":\"Pending\",\"message\":\"needs driver\"}]}"

static char *junit_of(const char *status, const char *failure)
{
    struct sw_report r = { .name = "mig", .started_ms = 1000, .now_ms = 6500 };
    SW_AUTO_JSON *doc = status ? parse(status) : NULL;
    r.status = doc;
    return sw_report_junit(&r, failure);
}

static void each_state_is_a_case(void **state)
{
    (void)state;
    SW_AUTO_CHARS *text = junit_of(STATES, "state 'driver': late");
    assert_string_equal(
        text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
              "<testsuites>\n"
              "  <testsuite name=\"mig\" tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\" "
              "time=\"5.500\">\n"
              "    <testcase classname=\"mig\" name=\"nfd\" time=\"2.000\"/>\n"
              "    <testcase classname=\"mig\" name=\"driver\" time=\"3.500\">\n"
              "      <failure message=\"\xef\xbf\xbd[2J &lt;a&gt; &amp; &quot;b&quot;&#10;second "
              "line\"/>\n"
              "    </testcase>\n"
              "    <testcase classname=\"mig\" name=\"last\" time=\"0.000\">\n"
              "      <skipped message=\"needs driver\"/>\n"
              "    </testcase>\n"
              "  </testsuite>\n"
              "</testsuites>\n");
}

static void a_suite_is_no_shorter_than_its_cases(void **state)
{
    (void)state;
    struct sw_report r = { .name = "mig", .started_ms = 6000, .now_ms = 6500 };
    SW_AUTO_JSON *doc = parse(STATES);
    r.status = doc;
    SW_AUTO_CHARS *text = sw_report_junit(&r, NULL);
    assert_non_null(strstr(text, "skipped=\"2\" time=\"5.500\">"));
}

static void a_walk_that_comes_to_no_state_is_an_error(void **state)
{
    (void)state;
    SW_AUTO_CHARS *text = junit_of(NULL, "no such <chart>");
    assert_non_null(strstr(text, "tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\""));
    assert_non_null(
        strstr(text, "name=\"walk\">\n      <error message=\"no such &lt;chart&gt;\"/>"));
}

static void a_state_that_waits_when_the_walk_is_ready_is_no_failure(void **state)
{
    (void)state;
    SW_AUTO_CHARS *text = junit_of(STATES, NULL);
    assert_non_null(strstr(text, "failures=\"0\" errors=\"0\" skipped=\"2\""));
}

static void an_annotation_is_one_line_that_cannot_be_broken_out_of(void **state)
{
    (void)state;
    SW_AUTO_CHARS *line = sw_report_github("run", "a:b,c", "100%\r\n::set-env name=x::y");
    assert_string_equal(line, "::error title=slipway run a%3Ab%2Cc::100%25%0D%0A::set-env "
                              "name=x::y\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_suite_is_no_shorter_than_its_cases),
        cmocka_unit_test(each_state_is_a_case),
        cmocka_unit_test(a_walk_that_comes_to_no_state_is_an_error),
        cmocka_unit_test(a_state_that_waits_when_the_walk_is_ready_is_no_failure),
        cmocka_unit_test(an_annotation_is_one_line_that_cannot_be_broken_out_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
