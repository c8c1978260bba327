/* template_bench: rendering alone: a chart is read, parsed and planned once and rendered again and
 * again. Prints one JSON object a chart: microseconds a rendering, median and least, since machines
 * are noisy.
 *
 *     build/bench/template_bench [CHART [VALUES]]   without: SW_SHARED's charts, recipes/nvidia-mig
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "chart/fetch/fetch.h"
#include "chart/recipe/recipe.h"
#include "emulator/emulator.h"

enum { MAX_RUNS = 20000 };
static const double seconds_each = 1.0;

static double now_us(void)
{
    struct timespec ts;
    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int measure(const char *chart, const char *values_path, struct sw_err *err)
{
    static double times[MAX_RUNS];
    SW_AUTO(sw_fetcher) *fetcher = sw_fetcher_new(
        &(struct sw_fetch_opts){ .stand_ins = sw_stand_ins });
    const struct sw_recipe_opts opts = { .get = sw_fetcher_get, .get_arg = fetcher };
    SW_AUTO(sw_recipe) *recipe = NULL;
    SW_AUTO(sw_values) *values = sw_values_new();
    SW_AUTO(sw_plan) *plan = NULL;
    struct sw_render_env env = { .kube_version = "v1.29.0", .no_crds = true };
    int rc = values_path ? sw_values_add_file(values, values_path, err) : 0;
    if (rc == 0)
        rc = sw_recipe_open(chart, &opts, &recipe, err);
    if (rc == 0)
        rc = sw_recipe_plan(recipe, values, &env, &plan, err);
    size_t n = 0, bytes = 0, files = 0;
    for (double end = now_us() + seconds_each * 1e6; rc == 0 && n < MAX_RUNS && now_us() < end;
         n++) {
        SW_AUTO(sw_rendered) *out = NULL;
        double start = now_us();
        rc = sw_recipe_render_files(plan, &env, SW_ALL_STATES, &out, err);
        times[n] = now_us() - start;
        if (rc < 0)
            break;
        files = sw_rendered_n_files(out);
        bytes = 0;
        for (size_t i = 0; i < files; i++)
            bytes += sw_rendered_file(out, i)->len;
    }
    if (rc < 0)
        return rc;
    qsort(times, n, sizeof *times, by_size);
    (void)printf("{\"bench\":\"template\",\"chart\":\"%s\",\"runs\":%zu,\"files\":%zu,"
                 "\"output_bytes\":%zu,\"render_us\":%.1f,\"render_min_us\":%.1f}\n",
                 chart, n, files, bytes, times[n / 2], times[0]);
    return 0;
}

static void bench(const char *chart, const char *values_path)
{
    SW_ERR(err);
    if (measure(chart, values_path, &err) < 0)
        (void)fprintf(stderr, "template_bench: %s\n", sw_err_text(&err));
}

static void bench_shared(const char *name, const char *variant)
{
    const char *shared = getenv("SW_SHARED");
    if (!shared || !*shared)
        return;
    SW_AUTO_CHARS *chart = sw_printf("%s/charts/%s", shared, name);
    SW_AUTO_CHARS *values = sw_printf("%s/goldens/%s/values.yaml", chart, variant);
    bench(chart, values);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        bench(argv[1], argc > 2 ? argv[2] : NULL);
        return 0;
    }
    bench_shared("gpu-operator", "default");
    bench_shared("simple-kmod", "recipe");
    bench("recipes/nvidia-mig", NULL);
    return 0;
}
