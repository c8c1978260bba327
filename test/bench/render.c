/* render: how long recipes take to load, plan and render, in this process. Prints one JSON object a
 * chart: medians of the runs, microseconds; the least of all besides, since machines are noisy. To
 * beat: Helm 3.7.1's engine, in process, on a machine like this: gpu-operator's chart 5.3 ms
 * rendered, 13.8 ms with all that comes before; simple-kmod 0.144 ms and 0.326 ms.
 *
 *     build/bench/render [CHART [VALUES]]   without: what is in SW_SHARED and recipes/nvidia-mig */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "recipe/recipe.h"

enum { MAX_RUNS = 2000 };
static const double seconds_each = 1.0;

struct figures {
    double load, plan, again, render, manifests, all; /* microseconds */
};

static double now_us(void)
{
    struct timespec ts;
    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

/* One of everything. @return 0, or a code with @err set */
static int run(const char *chart, const char *values_path, struct figures *f, size_t *bytes,
               struct sw_err *err)
{
    SW_AUTO(sw_recipe) *recipe = NULL;
    SW_AUTO(sw_values) *values = sw_values_new();
    SW_AUTO(sw_plan) *plan = NULL;
    SW_AUTO(sw_plan) *second = NULL;
    SW_AUTO(sw_rendered) *files = NULL;
    SW_AUTO(sw_rendered) *all = NULL;
    struct sw_render_env env = { .kube_version = "v1.29.0", .no_crds = true };
    double t0 = now_us();
    int rc = values_path ? sw_values_add_file(values, values_path, err) : 0;
    if (rc == 0)
        rc = sw_recipe_open(chart, NULL, &recipe, err);
    double t1 = now_us();
    if (rc == 0)
        rc = sw_recipe_plan(recipe, values, &env, &plan, err);
    double t2 = now_us();
    if (rc == 0)
        rc = sw_recipe_render_files(plan, &env, SW_ALL_STATES, &files, err);
    double t3 = now_us();
    if (rc == 0)
        rc = sw_recipe_plan(recipe, values, &env, &second, err);
    double t4 = now_us();
    if (rc == 0)
        rc = sw_recipe_render(plan, &env, SW_ALL_STATES, &all, err);
    double t5 = now_us();
    if (rc < 0)
        return rc;
    *bytes = 0;
    for (size_t i = 0; i < sw_rendered_n_files(files); i++)
        *bytes += sw_rendered_file(files, i)->len;
    *f = (struct figures){ t1 - t0, t2 - t1, t4 - t3, t3 - t2, t5 - t4, t3 - t0 };
    return 0;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const struct figures *runs, size_t n, size_t offset)
{
    static double column[MAX_RUNS];
    for (size_t i = 0; i < n; i++)
        memcpy(&column[i], (const char *)&runs[i] + offset, sizeof column[i]);
    qsort(column, n, sizeof *column, by_size);
    return column[n / 2];
}

static double least(const struct figures *runs, size_t n)
{
    double best = runs[0].all;
    for (size_t i = 1; i < n; i++)
        best = runs[i].all < best ? runs[i].all : best;
    return best;
}

static void bench(const char *chart, const char *values_path)
{
    static struct figures runs[MAX_RUNS];
    size_t n = 0, bytes = 0;
    SW_ERR(err);
    for (double end = now_us() + seconds_each * 1e6; n < MAX_RUNS && (n < 3 || now_us() < end); n++)
        if (run(chart, values_path, &runs[n], &bytes, &err) < 0) {
            (void)fprintf(stderr, "render: %s\n", sw_err_text(&err));
            return;
        }
#define MEDIAN(field) median(runs, n, offsetof(struct figures, field))
    (void)printf("{\"bench\":\"render\",\"chart\":\"%s\",\"runs\":%zu,\"output_bytes\":%zu,"
                 "\"load_us\":%.0f,\"plan_us\":%.0f,\"plan_again_us\":%.0f,\"render_us\":%.0f,"
                 "\"render_to_manifests_us\":%.0f,\"all_us\":%.0f,\"all_min_us\":%.0f}\n",
                 chart, n, bytes, MEDIAN(load), MEDIAN(plan), MEDIAN(again), MEDIAN(render),
                 MEDIAN(manifests), MEDIAN(all), least(runs, n));
#undef MEDIAN
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
