/* How an object's fields that were applied look: what counts as a change of them. */
#include "operator/engine/internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "data/data.h"
#include "data/yaml/yaml.h"

static uint64_t of(const char *ours, const char *live)
{
    SW_AUTO_JSON *mine = NULL;
    SW_AUTO_JSON *there = NULL;
    SW_ERR(err);
    if (sw_yaml_parse(ours, strlen(ours), NULL, &mine, &err) < 0 ||
        sw_yaml_parse(live, strlen(live), NULL, &there, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    return drift_fingerprint(mine, there);
}

static void what_was_applied_counts_and_nothing_else(void **state)
{
    (void)state;
    static const char ours[] = "{metadata: {name: a, labels: {x: y}}, spec: {n: 1}}";
    const uint64_t first = of(ours, "{metadata: {name: a, labels: {x: y}}, spec: {n: 1}}");
    assert_int_equal(first, of(ours, "{metadata: {name: a, uid: u, labels: {x: y, z: z}}, "
                                     "spec: {n: 1, m: 2}, status: {s: 1}}"));
    assert_int_not_equal(first, of(ours, "{metadata: {name: a, labels: {x: z}}, spec: {n: 1}}"));
    assert_int_not_equal(first, of(ours, "{metadata: {name: a, labels: {x: y}}, spec: {n: 2}}"));
}

static void the_time_when_an_object_was_made_does_not_count(void **state)
{
    (void)state;
    static const char ours[] = "{metadata: {name: a, creationTimestamp: null}, spec: {n: 1}}";
    static const char live[] = "{metadata: {name: a, creationTimestamp: \"2026-01-0%dT00:00:00Z\"},"
                               " spec: {n: 1}}";
    SW_AUTO_CHARS *monday = sw_printf(live, 5), *friday = sw_printf(live, 9);
    assert_int_equal(of(ours, monday), of(ours, friday));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_applied_counts_and_nothing_else),
        cmocka_unit_test(the_time_when_an_object_was_made_does_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
