/* Floats as Go prints them. The expected texts are from strconv.FormatFloat and encoding/json. */
#include "data/text/number.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"

static void prints_as_go_does(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *g, *json;
    } rows[] = {
        { 0, "0", "0" },
        { -0.0, "-0", "-0" },
        { 1, "1", "1" },
        { 0.1, "0.1", "0.1" },
        { 0.30000000000000004, "0.30000000000000004", "0.30000000000000004" },
        { 1e6, "1e+06", "1000000" },
        { 100000.5, "100000.5", "100000.5" },
        { 1234567.891, "1.234567891e+06", "1234567.891" },
        { 1e20, "1e+20", "100000000000000000000" },
        { 1e21, "1e+21", "1e+21" },
        { 0.000001, "1e-06", "0.000001" },
        { 1e-7, "1e-07", "1e-7" },
        { 0.0001, "0.0001", "0.0001" },
        { 5e-324, "5e-324", "5e-324" },
        { 1.7976931348623157e308, "1.7976931348623157e+308", "1.7976931348623157e+308" },
        { 5.684341886080802e-14, "5.684341886080802e-14", "5.684341886080802e-14" },
        { 9007199254740993, "9.007199254740992e+15", "9007199254740992" },
        { -123.25, "-123.25", "-123.25" },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        char buf[SW_FLOAT_LEN];
        assert_int_equal(sw_float_go(rows[i].value, 'g', 64, buf), strlen(rows[i].g));
        assert_string_equal(buf, rows[i].g);
        assert_int_equal(sw_float_json(rows[i].value, buf), strlen(rows[i].json));
        assert_string_equal(buf, rows[i].json);
    }
}

static void prints_what_is_no_number(void **state)
{
    (void)state;
    char buf[SW_FLOAT_LEN];
    sw_float_go(NAN, 'g', 64, buf);
    assert_string_equal(buf, "NaN");
    sw_float_go(-INFINITY, 'f', 64, buf);
    assert_string_equal(buf, "-Inf");
}

static void prints_with_the_precision_of_32_bits(void **state)
{
    (void)state;
    char buf[SW_FLOAT_LEN];
    sw_float_go(3.14159265358979, 'g', 32, buf);
    assert_string_equal(buf, "3.1415927");
    sw_float_go(0.1, 'f', 32, buf);
    assert_string_equal(buf, "0.1");
    sw_float_go(1e300, 'g', 32, buf);
    assert_string_equal(buf, "+Inf");
}

static void every_power_of_two_reads_back(void **state)
{
    (void)state;
    for (int e = -1074; e < 1024; e++) {
        char buf[SW_FLOAT_LEN];
        double v = ldexp(1, e), got;
        size_t len = sw_float_go(v, 'f', 64, buf);
        assert_true(len < sizeof buf);
        assert_true(sw_number_read(buf, len, &got));
        assert_true(got == v);
    }
}

static void classifies_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum sw_number_kind kind;
    } rows[] = {
        { "0", SW_NUMBER_INT },
        { "-0", SW_NUMBER_REAL },
        { "9223372036854775807", SW_NUMBER_INT },
        { "9223372036854775808", SW_NUMBER_UINT },
        { "-9223372036854775808", SW_NUMBER_INT },
        { "-9223372036854775809", SW_NUMBER_REAL },
        { "18446744073709551615", SW_NUMBER_UINT },
        { "18446744073709551616", SW_NUMBER_REAL },
        { "1.0", SW_NUMBER_REAL },
        { "1e2", SW_NUMBER_REAL },
        { "1e999", SW_NUMBER_RANGE },
        { "1e-999", SW_NUMBER_REAL },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++)
        assert_int_equal(sw_number_classify(rows[i].text, strlen(rows[i].text)).kind, rows[i].kind);
    assert_true(sw_number_classify("-9223372036854775808", 20).i == INT64_MIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_as_go_does),
        cmocka_unit_test(prints_what_is_no_number),
        cmocka_unit_test(prints_with_the_precision_of_32_bits),
        cmocka_unit_test(every_power_of_two_reads_back),
        cmocka_unit_test(classifies_numbers),
    };
    return cmocka_run_group_tests_name("data_number", tests, NULL, NULL);
}
