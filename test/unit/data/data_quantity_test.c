/* Resource quantities. The texts and values are those of k8s.io/apimachinery pkg/api/resource. */
#include "data/text/quantity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/json/json.h"

static void reads_and_prints(void **state)
{
    (void)state;
    static const struct {
        const char *text, *canonical;
        int64_t value, milli;
    } rows[] = {
        { "0", "0", 0, 0 },
        { "100m", "100m", 1, 100 },
        { "1000m", "1", 1, 1000 },
        { "1.5", "1500m", 2, 1500 },
        { "1", "1", 1, 1000 },
        { "+1.", "1", 1, 1000 },
        { ".5", "500m", 1, 500 },
        { "2e3", "2e3", 2000, 2000000 },
        { "2E3", "2e3", 2000, 2000000 },
        { "12e6", "12e6", 12000000, 12000000000 },
        { "5e-3", "5e-3", 1, 5 },
        { "1Gi", "1Gi", 1073741824, 1073741824000 },
        { "1.5Gi", "1536Mi", 1610612736, 1610612736000 },
        { "0.5Ki", "512", 512, 512000 },
        { "1024", "1024", 1024, 1024000 },
        { "1024Ki", "1Mi", 1048576, 1048576000 },
        { "0.1Ki", "102400m", 103, 102400 },
        { "3000k", "3M", 3000000, 3000000000 },
        { "1n", "1n", 1, 1 },
        { "0.1n", "1n", 1, 1 },
        { "-1", "-1", -1, -1000 },
        { "8Ei", "9223372036854775807", INT64_MAX, INT64_MAX },
        { "64000Mi", "64000Mi", 67108864000, 67108864000000 },
        { "16Ti", "16Ti", 17592186044416, 17592186044416000 },
        { "9223372036854775807", "9223372036854775807", INT64_MAX, INT64_MAX },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_ERR(err);
        struct sw_quantity q;
        char buf[64];
        if (sw_quantity_parse(rows[i].text, &q, &err) < 0)
            fail_msg("%s", sw_err_text(&err));
        assert_string_equal(sw_quantity_text(&q, buf), rows[i].canonical);
        assert_true(sw_quantity_value(&q) == rows[i].value);
        assert_true(sw_quantity_milli(&q) == rows[i].milli);
    }
}

static void refuses_what_is_none(void **state)
{
    (void)state;
    static const char *const texts[] = { "",      "m",   ".",    "-",    "1x",  "1mm", "1 ",
                                         " 1",    "1e",  "1ee3", "1K",   "1ki", "1i",  "e3",
                                         "1.2.3", "--1", "0x1",  "1e3x", "1e+", "Gi" };
    for (size_t i = 0; i < SW_COUNT(texts); i++) {
        SW_ERR(err);
        struct sw_quantity q;
        if (sw_quantity_parse(texts[i], &q, &err) != SW_INVALID)
            fail_msg("'%s' was accepted", texts[i]);
    }
}

static void does_arithmetic(void **state)
{
    (void)state;
    SW_ERR(err);
    struct sw_quantity a, b;
    char buf[64];
    assert_int_equal(sw_quantity_parse("1500m", &a, &err), 0);
    assert_int_equal(sw_quantity_parse("500m", &b, &err), 0);
    assert_true(sw_quantity_cmp(&a, &b) > 0);
    sw_quantity_add(&a, &b);
    assert_string_equal(sw_quantity_text(&a, buf), "2");
    assert_int_equal(sw_quantity_parse("-2", &b, &err), 0);
    sw_quantity_add(&a, &b);
    assert_string_equal(sw_quantity_text(&a, buf), "0");
    assert_int_equal(sw_quantity_parse("1Gi", &b, &err), 0);
    sw_quantity_add(&a, &b);
    assert_string_equal(sw_quantity_text(&a, buf), "1Gi");
    a = sw_quantity_from_int(7);
    assert_string_equal(sw_quantity_text(&a, buf), "7");
}

static void reads_numbers_of_documents(void **state)
{
    (void)state;
    SW_ERR(err);
    struct sw_quantity q;
    SW_AUTO_JSON *whole = json_object_new_int64(4);
    SW_AUTO_JSON *half = json_object_new_double(0.5);
    SW_AUTO_JSON *text = json_object_new_string("2Gi");
    SW_AUTO_JSON *map = json_object_new_object();
    assert_int_equal(sw_quantity_from_json(whole, &q, &err), 0);
    assert_true(sw_quantity_value(&q) == 4);
    assert_int_equal(sw_quantity_from_json(half, &q, &err), 0);
    assert_true(sw_quantity_milli(&q) == 500);
    assert_int_equal(sw_quantity_from_json(text, &q, &err), 0);
    assert_true(sw_quantity_value(&q) == (int64_t)2 << 30);
    assert_int_equal(sw_quantity_from_json(map, &q, &err), SW_INVALID);
    assert_int_equal(sw_quantity_from_json(NULL, &q, &err), SW_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_and_prints),
        cmocka_unit_test(refuses_what_is_none),
        cmocka_unit_test(does_arithmetic),
        cmocka_unit_test(reads_numbers_of_documents),
    };
    return cmocka_run_group_tests_name("data_quantity", tests, NULL, NULL);
}
