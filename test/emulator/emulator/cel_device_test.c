/* CEL as selectors of devices need it: quantities, versions, and maps that answer for any domain.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/cel/cel.h"
#include "data/data.h"

static json_object *device(void)
{
    json_object *root = json_object_new_object(), *attributes = sw_cel_open_map();
    json_object *capacity = sw_cel_open_map();
    sw_json_set(attributes, sw_cel_semver("580.159.4"), "d.example", "version", NULL);
    sw_json_set(attributes, json_object_new_int(3), "d.example", "index", NULL);
    sw_json_set(capacity, sw_cel_quantity("20Gi"), "d.example", "memory", NULL);
    sw_json_set(root, attributes, "device", "attributes", NULL);
    sw_json_set(root, capacity, "device", "capacity", NULL);
    return root;
}

static void expressions_select(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int holds;
    } rows[] = {
        { "device.capacity['d.example'].memory.compareTo(quantity('20480Mi')) == 0", 1 },
        { "device.capacity['d.example'].memory.isGreaterThan(quantity('20Gi'))", 0 },
        { "device.capacity['d.example'].memory.isLessThan(quantity('1Ti'))", 1 },
        { "device.capacity['d.example'].memory.compareTo(quantity('30Gi')) == -1", 1 },
        { "device.attributes['d.example'].version.isGreaterThan(semver('570.0.0'))", 1 },
        { "device.attributes['d.example'].version.major() == 580", 1 },
        { "device.attributes['d.example'].index in [1, 3]", 1 },
        { "has(device.attributes['e.example'].index)", 0 },
        { "'x' in device.attributes['e.example']", 0 },
        { "isSemver('1.0') || !isQuantity('1Gi')", 0 },
    };
    SW_AUTO_JSON *root = device();
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_ERR(err);
        const int holds = sw_cel_holds(rows[i].text, root, &err);
        if (holds != rows[i].holds)
            fail_msg("%s: %d %s", rows[i].text, holds, sw_err_text(&err));
    }
}

static void a_key_that_is_missing_is_named(void **state)
{
    (void)state;
    SW_ERR(err);
    SW_AUTO_JSON *root = device();
    assert_int_equal(
        sw_cel_holds("device.capacity['e.example'].memory.isGreaterThan(quantity('1'))", root,
                     &err),
        SW_INVALID);
    assert_string_equal(sw_err_text(&err), "no such key: memory");
}

static void types_are_not_mixed(void **state)
{
    (void)state;
    SW_ERR(err);
    SW_AUTO_JSON *root = device();
    assert_int_equal(sw_cel_holds("device.attributes['d.example'].version.isGreaterThan(quantity("
                                  "'1'))",
                                  root, &err),
                     SW_INVALID);
    assert_int_equal(sw_cel_holds("semver('1.0') == semver('1.0')", root, &err), SW_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_select),
        cmocka_unit_test(a_key_that_is_missing_is_named),
        cmocka_unit_test(types_are_not_mixed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
