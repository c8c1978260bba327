/* Which fields go when those of SRO and DAS are taken over. */
#include "cli/recipe/preview_fields.h"

#include "data/data.h"

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include <string.h>

#define OURS "{\"manager\":\"slipway\",\"operation\":\"Apply\",\"fieldsV1\":"
#define THEIRS "{\"manager\":\"manager\",\"operation\":\"Update\",\"fieldsV1\":"
#define KUBELETS "{\"manager\":\"kubelet\",\"operation\":\"Update\",\"fieldsV1\":"

static void must_leave(const char *body, const char *entries, const char *left)
{
    SW_AUTO_JSON *doc = NULL;
    SW_AUTO_JSON *managed = NULL;
    SW_AUTO_JSON *want = NULL;
    assert_int_equal(sw_json_parse(body, strlen(body), NULL, &doc, NULL), 0);
    assert_int_equal(sw_json_parse(entries, strlen(entries), NULL, &managed, NULL), 0);
    assert_int_equal(sw_json_parse(left, strlen(left), NULL, &want, NULL), 0);
    bool same = sw_json_equal(doc, want);
    sw_json_set(doc, json_object_get(managed), "metadata", "managedFields", NULL);
    assert_true(preview_fields_drop(doc) != same);
    (void)sw_json_del(doc, "metadata", NULL);
    if (!sw_json_equal(doc, want))
        fail_msg("%s", json_object_to_json_string(doc));
}

static void what_slipway_applies_too_stays(void **state)
{
    (void)state;
    must_leave("{\"data\":{\"a\":\"1\",\"b\":\"2\"}}",
               "[" THEIRS "{\"f:data\":{\".\":{},\"f:a\":{},\"f:b\":{}}}}," OURS
               "{\"f:data\":{\"f:a\":{}}}}]",
               "{\"data\":{\"a\":\"1\"}}");
    must_leave("{\"data\":{\"a\":\"1\"}}",
               "[" THEIRS "{\"f:data\":{\".\":{},\"f:a\":{}}}}," OURS "{\"f:data\":{\"f:a\":{}}}}]",
               "{\"data\":{\"a\":\"1\"}}");
}

static void what_nobody_else_owns_goes_as_a_whole(void **state)
{
    (void)state;
    must_leave("{\"data\":{\"a\":\"1\",\"x\":\"default\"},\"kind\":\"ConfigMap\"}",
               "[" THEIRS "{\"f:data\":{\".\":{},\"f:a\":{}}}}]", "{\"kind\":\"ConfigMap\"}");
}

static void status_is_nobodys(void **state)
{
    (void)state;
    must_leave("{\"status\":{\"a\":1}}", "[" THEIRS "{\"f:status\":{\"f:a\":{}}}}]",
               "{\"status\":{\"a\":1}}");
}

static void items_of_lists_go_by_key_and_by_value(void **state)
{
    (void)state;
    must_leave(
        "{\"list\":[{\"name\":\"a\",\"x\":1},{\"name\":\"b\",\"x\":1,\"y\":2}],\"set\":[\"u\","
        "\"v\"]}",
        "[" THEIRS "{\"f:list\":{\"k:{\\\"name\\\":\\\"a\\\"}\":{\".\":{},\"f:x\":{}},"
        "\"k:{\\\"name\\\":\\\"b\\\"}\":{\".\":{},\"f:x\":{},\"f:y\":{}}},"
        "\"f:set\":{\"v:\\\"u\\\"\":{},\"v:\\\"w\\\"\":{}}}}," OURS
        "{\"f:list\":{\"k:{\\\"name\\\":\\\"b\\\"}\":{\".\":{},\"f:x\":{}}}}}]",
        "{\"list\":[{\"name\":\"b\",\"x\":1}],\"set\":[\"v\"]}");
}

static void what_another_owns_as_a_whole_stays(void **state)
{
    (void)state;
    must_leave("{\"spec\":{\"a\":{\"b\":1}}}",
               "[" THEIRS "{\"f:spec\":{\"f:a\":{\".\":{},\"f:b\":{}}}}}," KUBELETS
               "{\"f:spec\":{\"f:a\":{}}}}]",
               "{\"spec\":{\"a\":{\"b\":1}}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_slipway_applies_too_stays),
        cmocka_unit_test(what_nobody_else_owns_goes_as_a_whole),
        cmocka_unit_test(status_is_nobodys),
        cmocka_unit_test(items_of_lists_go_by_key_and_by_value),
        cmocka_unit_test(what_another_owns_as_a_whole_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
