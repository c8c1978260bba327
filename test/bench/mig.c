/* How much worse than the best possible each placement policy is, and how fast: one JSON object a
 * line. Target: `packed` places at most 2 % fewer slices than the exhaustive optimum. */
#include <stdio.h>
#include <time.h>

#include "mig_optimum.h"

/* What a policy placed in a number of runs, and what could have been placed. */
struct gap {
    int runs, skipped;
    struct mig_tally got, best;
};

static void add(struct mig_tally *to, const struct mig_tally *t)
{
    to->arrived += t->arrived;
    to->placed += t->placed;
    to->slices += t->slices;
}

static void print(const struct gap *g, const char *model, int n_gpus, enum sw_mig_policy policy)
{
    static const char *const policies[] = { "packed", "spread", "dense-node" };
    printf("{\"bench\":\"mig-gap\",\"model\":\"%s\",", model);
    if (n_gpus)
        printf("\"gpus\":%d,", n_gpus);
    printf("\"policy\":\"%s\",\"runs\":%d,\"skipped\":%d,\"arrived\":%ld,\"optimum\":%ld,"
           "\"placed\":%ld,\"gap_percent\":%.2f,\"gap_slices\":%.2f,\"target_percent\":%s}\n",
           policies[policy], g->runs, g->skipped, g->best.arrived, g->best.placed, g->got.placed,
           100.0 * (double)(g->best.placed - g->got.placed) / (double)g->best.placed,
           100.0 * (double)(g->best.slices - g->got.slices) / (double)g->best.slices,
           policy == SW_MIG_PACKED ? "2" : "null");
}

static void measure(const struct sw_mig_model *model, enum sw_mig_policy policy, int n_gpus,
                    int runs, struct gap *all)
{
    struct sw_mig_geometry *g = sw_mig_geometry_of(model);
    struct gap gap = { 0 };
    uint64_t seed = 1;
    for (int i = 0; i < runs; i++) {
        struct mig_run r;
        struct mig_tally best, got;
        mig_run_make(&r, g, n_gpus, i % 2, &seed);
        if (!mig_run_optimum(&r, &best)) {
            gap.skipped++;
            continue;
        }
        got = mig_run_policy(&r, policy);
        gap.runs++;
        add(&gap.best, &best);
        add(&gap.got, &got);
    }
    print(&gap, model->name, n_gpus, policy);
    all->runs += gap.runs;
    all->skipped += gap.skipped;
    add(&all->best, &gap.best);
    add(&all->got, &gap.got);
    sw_mig_geometry_unref(g);
}

static void speed(const struct sw_mig_model *model)
{
    enum { NODES = 5000, GPUS = 8 };
    struct sw_mig_geometry *g = sw_mig_geometry_of(model);
    static struct sw_mig_gpu gpus[NODES][GPUS];
    uint64_t seed = 7;
    for (int n = 0; n < NODES; n++)
        for (int i = 0; i < GPUS; i++) {
            gpus[n][i] = (struct sw_mig_gpu){ .geometry = g };
            for (int k = 0; k < 3; k++) {
                const struct sw_mig_kind *kind = &g->kinds[mig_random(&seed) % g->n_kinds];
                struct sw_mig_choice c;
                if (sw_mig_place(&gpus[n][i], 1, &kind->profile, 1, SW_MIG_PACKED, &c, NULL) == 0)
                    sw_mig_take(&gpus[n][i].use, c.kind, c.place);
            }
        }
    struct timespec a, b;
    (void)clock_gettime(CLOCK_MONOTONIC, &a);
    int fit = 0;
    for (int n = 0; n < NODES; n++) {
        struct sw_mig_choice c;
        fit += sw_mig_place(gpus[n], GPUS, &g->kinds[0].profile, 1, SW_MIG_PACKED, &c, NULL) == 0;
    }
    (void)clock_gettime(CLOCK_MONOTONIC, &b);
    const double ms = (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) / 1e6;
    printf("{\"bench\":\"mig-place\",\"nodes\":%d,\"gpus\":%d,\"fit\":%d,\"ms\":%.2f}\n", NODES,
           GPUS, fit, ms);
    sw_mig_geometry_unref(g);
}

int main(void)
{
    static const char *const different[] = { "A30-24GB", "A100-40GB", "RTX-PRO-6000-96GB" };
    struct gap all[SW_MIG_DENSE_NODE + 1] = { 0 };
    for (size_t i = 0; i < SW_COUNT(different); i++)
        for (enum sw_mig_policy p = SW_MIG_PACKED; p <= SW_MIG_DENSE_NODE; p++) {
            measure(sw_mig_model_find(different[i], 0), p, 1, 200, &all[p]);
            measure(sw_mig_model_find(different[i], 0), p, 2, 16, &all[p]);
        }
    for (enum sw_mig_policy p = SW_MIG_PACKED; p <= SW_MIG_DENSE_NODE; p++)
        print(&all[p], "all", 0, p);
    speed(sw_mig_model_find("A100-40GB", 0));
    return 0;
}
