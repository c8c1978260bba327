/* Prometheus' text format: headings, labels, histograms. */
#include "data/text/metrics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"

static void samples_follow_their_heading(void **state)
{
    (void)state;
    struct sw_metrics m = { .prefix = "slipway_" };
    size_t len;
    sw_metrics_one(&m, "nodes", "gauge", "Nodes.", UINT64_MAX);
    sw_metrics_head(&m, "things_total", "counter", "Things.");
    sw_metrics_add(&m, "things_total", 0, "a", "1", "b", "", NULL);
    sw_metrics_add_real(&m, "seconds", 3, 1.5, "a", "1", NULL);
    sw_metrics_add_real(&m, "seconds", 9, 0.25, NULL);
    SW_AUTO_CHARS *text = sw_metrics_take(&m, &len);
    assert_string_equal(text, "# HELP slipway_nodes Nodes.\n# TYPE slipway_nodes gauge\n"
                              "slipway_nodes 18446744073709551615\n"
                              "# HELP slipway_things_total Things.\n"
                              "# TYPE slipway_things_total counter\n"
                              "slipway_things_total{a=\"1\",b=\"\"} 0\n"
                              "slipway_seconds{a=\"1\"} 1.500\n"
                              "slipway_seconds 0.250000000\n");
    assert_int_equal(len, strlen(text));
    SW_AUTO_CHARS *none = sw_metrics_take(&m, NULL);
    assert_string_equal(none, "");
}

static void label_values_are_escaped(void **state)
{
    (void)state;
    struct sw_metrics m = { .prefix = "" };
    sw_metrics_add(&m, "x", 1, "path", "C:\\a \"b\"\n", NULL);
    SW_AUTO_CHARS *text = sw_metrics_take(&m, NULL);
    assert_string_equal(text, "x{path=\"C:\\\\a \\\"b\\\"\\n\"} 1\n");
}

static void buckets_are_cumulated(void **state)
{
    (void)state;
    static const struct sw_histogram_bounds bounds = { .n = 4,
                                                       .sum_decimals = 6,
                                                       .le = { 0.000025, 0.0005, 1, 3600 } };
    struct sw_histogram h = { 0 };
    struct sw_metrics m = { .prefix = "p_" };
    sw_histogram_observe(&h, &bounds, 0.000025);
    sw_histogram_observe(&h, &bounds, 0.75);
    sw_histogram_observe(&h, &bounds, 4000);
    sw_metrics_add_histogram(&m, "s", &h, &bounds, "verb", "bind");
    sw_metrics_add_histogram(&m, "t", &h, &bounds, NULL, NULL);
    SW_AUTO_CHARS *text = sw_metrics_take(&m, NULL);
    assert_string_equal(text, "p_s_bucket{verb=\"bind\",le=\"0.000025\"} 1\n"
                              "p_s_bucket{verb=\"bind\",le=\"0.0005\"} 1\n"
                              "p_s_bucket{verb=\"bind\",le=\"1\"} 2\n"
                              "p_s_bucket{verb=\"bind\",le=\"3600\"} 2\n"
                              "p_s_bucket{verb=\"bind\",le=\"+Inf\"} 3\n"
                              "p_s_sum{verb=\"bind\"} 4000.750025\n"
                              "p_s_count{verb=\"bind\"} 3\n"
                              "p_t_bucket{le=\"0.000025\"} 1\n"
                              "p_t_bucket{le=\"0.0005\"} 1\n"
                              "p_t_bucket{le=\"1\"} 2\n"
                              "p_t_bucket{le=\"3600\"} 2\n"
                              "p_t_bucket{le=\"+Inf\"} 3\n"
                              "p_t_sum 4000.750025\n"
                              "p_t_count 3\n");
}

static void of_10000_names_a_label_has_as_many_as_it_may(void **state SW_UNUSED)
{
    struct sw_buffer names = { 0 };
    size_t n;
    for (int i = 0; i < 10000; i++) {
        SW_AUTO_CHARS *name = sw_printf("%snode-%d", i ? "," : "", i);
        sw_buffer_put(&names, name, strlen(name));
    }
    SW_AUTO_CHARS *all = sw_buffer_take(&names, NULL);
    SW_AUTO_CHARS *most = sw_metrics_names(all, 100, &n);
    assert_int_equal(n, 10000);
    assert_true(strlen(most) < 100 * strlen("node-99,"));
    assert_non_null(strstr(most, "node-98,node-99,..."));
    SW_AUTO_CHARS *few = sw_metrics_names("a,b", 2, &n);
    assert_string_equal(few, "a,b");
    assert_int_equal(n, 2);
    SW_AUTO_CHARS *none = sw_metrics_names("", 2, &n);
    assert_string_equal(none, "");
    assert_int_equal(n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_follow_their_heading),
        cmocka_unit_test(label_values_are_escaped),
        cmocka_unit_test(buckets_are_cumulated),
        cmocka_unit_test(of_10000_names_a_label_has_as_many_as_it_may),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
