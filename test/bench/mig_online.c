/* How near `packed` is to the best policy that does not know the future, and how near that one is
 * to the optimum that does; and what is lost where the devices of a ResourceSlice keep one order
 * instead of being put in order when something was taken: one JSON object a line. */
#include <stdio.h>

#include "mig_online.h"
#include "mig_optimum.h"
#include "slicing/dra/dra.h"

/* mig_run_make(), but everybody leaves with chance @q before each arrival. */
static void memoryless_run(struct mig_run *r, struct sw_mig_geometry *g, int n_gpus, bool small,
                           double q, uint64_t *seed)
{
    mig_run_make(r, g, n_gpus, small, seed);
    for (int i = 0; i < MIG_RUN_LEN; i++) {
        int end = i + 1;
        while (end < MIG_RUN_LEN && (double)(mig_random(seed) % 1000000) / 1e6 >= q)
            end++;
        r->ends[i] = (uint8_t)end;
    }
}

/* Slices leave as early as in mig_run_make(), each with this chance before an arrival. */
static double leaves(int stay, int n_gpus)
{
    return 1 / (1 + (double)stay * n_gpus / 2);
}

/* online_placed(), on average of all distributions. */
static double placed(struct online *o, int n_stays, bool best)
{
    double sum = 0, chances[SW_MIG_MAX_KINDS];
    for (int small = 0; small < 2; small++) {
        online_chances(o->g, small, chances);
        for (int stay = 1; stay <= n_stays; stay++)
            sum += online_placed(o, chances, leaves(stay, o->n_gpus), MIG_RUN_LEN, best);
    }
    return sum / (2 * n_stays);
}

/* The same where devices keep the order that they have on empty GPUs. */
static double placed_in_one_order(struct online *o, int n_stays)
{
    const struct sw_dra_gpu gpus[2] = { { .geometry = o->g }, { .geometry = o->g } };
    const struct sw_dra_node node = { .name = "n", .gpus = gpus, .n_gpus = (size_t)o->n_gpus };
    sw_dra_device *order = NULL;
    const size_t n_order = sw_dra_devices(&node, &order);
    online_take_first(o, order, n_order);
    free(order);
    return placed(o, n_stays, false);
}

/* What is placed by who knows what comes, on average of @runs of each distribution; 0: none. */
static double placed_knowing(struct sw_mig_geometry *g, int n_gpus, int n_stays, int runs)
{
    double sum = 0;
    int n = 0;
    uint64_t seed = 5;
    for (int small = 0; small < 2; small++)
        for (int stay = 1; stay <= n_stays; stay++)
            for (int i = 0; i < runs; i++) {
                struct mig_run r;
                struct mig_tally t;
                memoryless_run(&r, g, n_gpus, small, leaves(stay, n_gpus), &seed);
                if (!mig_run_optimum(&r, &t))
                    continue;
                sum += (double)t.placed;
                n++;
            }
    return n ? sum / n : 0;
}

static void measure(const char *model, int n_gpus, int n_stays, int runs)
{
    SW_AUTO(sw_mig_geometry) *g = sw_mig_geometry_of(sw_mig_model_find(model, 0));
    struct online *o = online_new(g, n_gpus);
    const double best = placed(o, n_stays, true), packed = placed(o, n_stays, false);
    const double fixed = placed_in_one_order(o, n_stays);
    const double future = placed_knowing(g, n_gpus, n_stays, runs);
    printf("{\"bench\":\"mig-online\",\"model\":\"%s\",\"gpus\":%d,\"configurations\":%d,"
           "\"packed\":%.3f,\"best_online\":%.3f,\"packed_below_best_online_percent\":%.3f,"
           "\"dra_one_order\":%.3f,\"dra_one_order_below_packed_percent\":%.3f,"
           "\"dra_one_order_below_best_online_percent\":%.3f",
           model, n_gpus, o->n, packed, best, 100 * (best - packed) / best, fixed,
           100 * (packed - fixed) / packed, 100 * (best - fixed) / best);
    if (future > 0)
        printf(",\"knows_future\":%.3f,\"best_online_below_it_percent\":%.2f,"
               "\"packed_below_it_percent\":%.2f,\"dra_one_order_below_it_percent\":%.2f",
               future, 100 * (future - best) / future, 100 * (future - packed) / future,
               100 * (future - fixed) / future);
    printf(",\"target_percent\":2}\n");
    online_free(o);
}

int main(void)
{
    measure("A30-24GB", 1, 8, 100);
    measure("A30-24GB", 2, 4, 0);
    measure("A100-40GB", 1, 8, 100);
    measure("RTX-PRO-6000-96GB", 1, 8, 100);
    return 0;
}
