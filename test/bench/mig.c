/* How much worse than the best possible each placement policy is, and how fast: one JSON object a
 * line. Target: `packed` places at most 2 % fewer slices than the exhaustive optimum. */
#include <stdio.h>
#include <time.h>

#include "mig_optimum.h"

static void gap(const struct sw_mig_model *model, enum sw_mig_policy policy, int n_gpus, int runs)
{
    struct sw_mig_geometry *g = sw_mig_geometry_of(model);
    struct mig_tally got = { 0 }, best = { 0 };
    uint64_t seed = 1;
    int skipped = 0;
    for (int i = 0; i < runs; i++) {
        struct mig_run r;
        struct mig_tally t;
        mig_run_make(&r, g, n_gpus, i % 2, &seed);
        if (!mig_run_optimum(&r, &t)) {
            skipped++;
            continue;
        }
        best.arrived += t.arrived;
        best.placed += t.placed;
        best.slices += t.slices;
        t = mig_run_policy(&r, policy);
        got.placed += t.placed;
        got.slices += t.slices;
    }
    printf("{\"bench\":\"mig-gap\",\"model\":\"%s\",\"gpus\":%d,\"policy\":\"%s\",\"runs\":%d,"
           "\"skipped\":%d,\"arrived\":%ld,\"optimum\":%ld,\"placed\":%ld,\"gap_percent\":%.2f,"
           "\"gap_slices\":%.2f,\"target_percent\":%s}\n",
           model->name, n_gpus, sw_mig_policy_text(policy), runs - skipped, skipped, best.arrived,
           best.placed, got.placed,
           100.0 * (double)(best.placed - got.placed) / (double)best.placed,
           100.0 * (double)(best.slices - got.slices) / (double)best.slices,
           policy == SW_MIG_PACKED ? "2" : "null");
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
    for (size_t i = 0; i < SW_COUNT(different); i++)
        for (enum sw_mig_policy p = SW_MIG_PACKED; p <= SW_MIG_DENSE_NODE; p++) {
            gap(sw_mig_model_find(different[i], 0), p, 1, 200);
            gap(sw_mig_model_find(different[i], 0), p, 2, 16);
        }
    speed(sw_mig_model_find("A100-40GB", 0));
    return 0;
}
