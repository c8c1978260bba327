/* RFC 7386, JSON merge patch. */
#include "data/patch/merge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/json/json.h"
#include "data_util.h"

static void applies_as_the_rfc_says(void **state)
{
    (void)state;
    static const struct {
        const char *target, *patch, *want;
    } rows[] = {
        /* RFC 7386, appendix A */
        { "{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}" },
        { "{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}" },
        { "{\"a\":\"b\"}", "{\"a\":null}", "{}" },
        { "{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}" },
        { "{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}" },
        { "{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}" },
        { "{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{\"a\":{\"b\":\"d\"}}" },
        { "{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}" },
        { "[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]" },
        { "{\"a\":\"b\"}", "[\"c\"]", "[\"c\"]" },
        { "{\"a\":\"foo\"}", "null", "null" },
        { "{\"a\":\"foo\"}", "\"bar\"", "\"bar\"" },
        { "{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}" },
        { "[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"a\":\"b\"}" },
        { "{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}" },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO_JSON *target = parse(rows[i].target);
        SW_AUTO_JSON *patch = parse(rows[i].patch);
        SW_AUTO_JSON *got = sw_merge_apply(target, patch);
        check(got, rows[i].want);
        check(target, rows[i].target);
        check(patch, rows[i].patch);
    }
}

static void creates_the_smallest_patch(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *want;
    } rows[] = {
        { "{\"a\":1}", "{\"a\":1}", "{}" },
        { "{\"a\":1}", "{\"a\":1.0}", "{}" },
        { "{\"a\":1,\"b\":2}", "{\"b\":3}", "{\"a\":null,\"b\":3}" },
        { "{\"a\":{\"x\":1,\"y\":2},\"k\":[1]}", "{\"a\":{\"x\":1,\"y\":3},\"k\":[1]}",
          "{\"a\":{\"y\":3}}" },
        { "{\"a\":{\"x\":1}}", "{\"a\":[1]}", "{\"a\":[1]}" },
        { "{\"a\":[1,2]}", "{\"a\":[1]}", "{\"a\":[1]}" },
        { "{\"a\":1}", "{\"a\":null}", "{\"a\":null}" },
        { "{\"a\":null}", "{}", "{}" },
        { "{}", "{\"a\":{\"b\":null,\"c\":{}}}", "{\"a\":{\"c\":{}}}" },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO_JSON *from = parse(rows[i].from);
        SW_AUTO_JSON *to = parse(rows[i].to);
        SW_AUTO_JSON *got = sw_merge_create(from, to);
        check(got, rows[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(applies_as_the_rfc_says),
        cmocka_unit_test(creates_the_smallest_patch),
    };
    return cmocka_run_group_tests_name("data_merge", tests, NULL, NULL);
}
