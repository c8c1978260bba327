/* When pods may be moved: the flags --defragment and --defragment-at. */
#include "scheduler_util.h"

#include "slicing/scheduler/scheduler.h"

static int64_t at(int hour, int minute)
{
    return ((INT64_C(20000) * 24 + hour) * 60 + minute) * 60000 + 59999;
}

static void test_time_of_day_begins_and_ends_at_its_minutes(void **state)
{
    (void)state;
    SW_ERR(err);
    struct sw_daytime d;
    assert_int_equal(sw_daytime_parse("01:30-05:00", &d, &err), 0);
    assert_true(sw_daytime_has(&d, at(1, 30)) && sw_daytime_has(&d, at(4, 59)));
    assert_false(sw_daytime_has(&d, at(1, 29)) || sw_daytime_has(&d, at(5, 0)));
}

static void test_time_of_day_may_end_on_the_next(void **state)
{
    (void)state;
    SW_ERR(err);
    struct sw_daytime d;
    assert_int_equal(sw_daytime_parse("22:00-05:30", &d, &err), 0);
    assert_true(sw_daytime_has(&d, at(22, 0)) && sw_daytime_has(&d, at(0, 0)) &&
                sw_daytime_has(&d, at(5, 29)));
    assert_false(sw_daytime_has(&d, at(21, 59)) || sw_daytime_has(&d, at(5, 30)));
}

static void test_without_one_it_is_all_day(void **state)
{
    (void)state;
    const struct sw_daytime d = { 0 };
    assert_true(sw_daytime_has(&d, at(0, 0)) && sw_daytime_has(&d, at(23, 59)));
}

static void test_other_forms_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",           "22:00",       "22-5",         "24:00-01:00",
        "1:60-02:00", "01:00-01:00", "01:00-02:00x", "-1:00-02:00"
    };
    struct sw_daytime d;
    for (size_t i = 0; i < SW_COUNT(texts); i++) {
        SW_ERR(err);
        assert_int_equal(sw_daytime_parse(texts[i], &d, &err), SW_INVALID);
        sw_err_done(&err);
    }
}

static void test_modes_have_names(void **state)
{
    (void)state;
    SW_ERR(err);
    enum sw_defragment mode = SW_DEFRAGMENT_ADVISE;
    assert_int_equal(sw_defragment_parse("off", &mode, &err), 0);
    assert_int_equal(mode, SW_DEFRAGMENT_OFF);
    assert_int_equal(sw_defragment_parse("move", &mode, &err), 0);
    assert_int_equal(mode, SW_DEFRAGMENT_MOVE);
    assert_int_equal(sw_defragment_parse("always", &mode, &err), SW_INVALID);
    assert_string_equal(sw_err_text(&err), "'always' is none of off, advise and move");
    sw_err_done(&err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time_of_day_begins_and_ends_at_its_minutes),
        cmocka_unit_test(test_time_of_day_may_end_on_the_next),
        cmocka_unit_test(test_without_one_it_is_all_day),
        cmocka_unit_test(test_other_forms_are_refused),
        cmocka_unit_test(test_modes_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
