/* render: how long recipes take to load, plan and render, in this process. Prints one JSON object a
 * chart: medians of the runs, microseconds; the least of parsing, rendering and all besides, since
 * machines are noisy. helm: what Helm 3.7.1's engine takes in process on a machine like this, for
 * rendering alone and with all that comes before it. SW_BENCH_CHARTS: where the charts are, if not
 * in SW_SHARED; hack/bench.sh copies them without goldens/, hundreds of files that are no part of
 * them.
 *
 *     build/bench/render [CHART [VALUES]]   without: what is in SW_SHARED and recipes/nvidia-mig */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "chart/fetch/fetch.h"
#include "chart/recipe/recipe.h"
#include "chart/template/template.h"
#include "emulator/emulator.h"

enum { MAX_RUNS = 2000 };
static const double seconds_each = 1.0;

struct figures {
    double load, plan, again, render, manifests, all, parse; /* microseconds */
};

/* Medians of the other engine: rendering alone, and everything. */
struct peer {
    double render_us, all_us;
};

/* ---- parsing alone ------------------------------------------------------------------------------
 */

static struct {
    char *path, *text;
    size_t len;
} templates[1000];
static size_t n_templates;

static int add_template(const char *path, const struct stat *st SW_UNUSED, int kind,
                        struct FTW *at SW_UNUSED)
{
    SW_ERR(err);
    bool wanted = kind == FTW_F && strstr(path, "/templates/") && !strstr(path, "/goldens/");
    if (!wanted || n_templates == SW_COUNT(templates))
        return 0;
    if (sw_file_read(path, 1 << 20, &templates[n_templates].text, &templates[n_templates].len,
                     &err) == 0)
        templates[n_templates++].path = sw_strdup(path);
    return 0;
}

static void read_templates(const char *chart)
{
    while (n_templates > 0) {
        free(templates[--n_templates].path);
        free(templates[n_templates].text);
    }
    (void)nftw(chart, add_template, 16, 0);
}

static int parse(struct sw_err *err)
{
    SW_AUTO(sw_template_set) *set = sw_template_set_new();
    for (size_t i = 0; i < n_templates; i++) {
        int rc = sw_template_add(set, templates[i].path, templates[i].text, templates[i].len, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* ---- everything ---------------------------------------------------------------------------------
 */

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
    SW_AUTO(sw_fetcher) *fetcher = sw_fetcher_new(
        &(struct sw_fetch_opts){ .stand_ins = sw_stand_ins });
    const struct sw_recipe_opts opts = { .get = sw_fetcher_get, .get_arg = fetcher };
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
        rc = sw_recipe_open(chart, &opts, &recipe, err);
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
    if (rc == 0)
        rc = parse(err);
    double t6 = now_us();
    if (rc < 0)
        return rc;
    *bytes = 0;
    for (size_t i = 0; i < sw_rendered_n_files(files); i++)
        *bytes += sw_rendered_file(files, i)->len;
    *f = (struct figures){ t1 - t0, t2 - t1, t4 - t3, t3 - t2, t5 - t4, t3 - t0, t6 - t5 };
    return 0;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double column[MAX_RUNS];

static double median(const struct figures *runs, size_t n, size_t offset)
{
    for (size_t i = 0; i < n; i++)
        memcpy(&column[i], (const char *)&runs[i] + offset, sizeof column[i]);
    qsort(column, n, sizeof *column, by_size);
    return column[n / 2];
}

static double least(const struct figures *runs, size_t n, size_t offset)
{
    (void)median(runs, n, offset);
    return column[0];
}

static void bench(const char *chart, const char *values_path, const struct peer *peer)
{
    static struct figures runs[MAX_RUNS];
    size_t n = 0, bytes = 0;
    SW_ERR(err);
    read_templates(chart);
    for (double end = now_us() + seconds_each * 1e6; n < MAX_RUNS && (n < 3 || now_us() < end); n++)
        if (run(chart, values_path, &runs[n], &bytes, &err) < 0) {
            (void)fprintf(stderr, "render: %s\n", sw_err_text(&err));
            return;
        }
#define MEDIAN(field) median(runs, n, offsetof(struct figures, field))
#define LEAST(field) least(runs, n, offsetof(struct figures, field))
    (void)printf("{\"bench\":\"render\",\"chart\":\"%s\",\"runs\":%zu,\"output_bytes\":%zu,"
                 "\"parsed_templates\":%zu,\"parse_us\":%.0f,\"load_us\":%.0f,\"plan_us\":%.0f,"
                 "\"plan_again_us\":%.0f,"
                 "\"render_us\":%.0f,\"render_to_manifests_us\":%.0f,\"all_us\":%.0f,"
                 "\"parse_min_us\":%.0f,\"render_min_us\":%.0f,\"all_min_us\":%.0f",
                 chart, n, bytes, n_templates, MEDIAN(parse), MEDIAN(load), MEDIAN(plan),
                 MEDIAN(again), MEDIAN(render), MEDIAN(manifests), MEDIAN(all), LEAST(parse),
                 LEAST(render), LEAST(all));
    if (peer)
        (void)printf(",\"helm\":{\"render_us\":%.0f,\"all_us\":%.0f},\"times_faster\":{"
                     "\"render\":%.1f,\"all\":%.1f}",
                     peer->render_us, peer->all_us, peer->render_us / MEDIAN(render),
                     peer->all_us / MEDIAN(all));
    (void)printf("}\n");
#undef LEAST
#undef MEDIAN
}

static void bench_shared(const char *name, const char *variant, struct peer peer)
{
    const char *shared = getenv("SW_SHARED");
    if (!shared || !*shared)
        return;
    const char *copies = getenv("SW_BENCH_CHARTS");
    SW_AUTO_CHARS *charts = copies ? sw_strdup(copies) : sw_printf("%s/charts", shared);
    SW_AUTO_CHARS *chart = sw_printf("%s/%s", charts, name);
    SW_AUTO_CHARS *values = sw_printf("%s/charts/%s/goldens/%s/values.yaml", shared, name, variant);
    bench(chart, values, &peer);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        bench(argv[1], argc > 2 ? argv[2] : NULL, NULL);
        return 0;
    }
    bench_shared("gpu-operator", "default", (struct peer){ 5300, 13800 });
    bench_shared("simple-kmod", "recipe", (struct peer){ 144, 326 });
    bench("recipes/nvidia-mig", NULL, NULL);
    return 0;
}
