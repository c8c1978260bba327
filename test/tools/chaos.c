/* chaos: `chaos sweep RECIPE` kills the controller after every one of its requests; `chaos seeds
 * RECIPE FROM N` runs random faults. Prints what fails, a file for `slipway replay` each, and last
 * "N passed, N failed"; exit 1 if any failed. */
#include "chaos.h"

static int usage(void)
{
    (void)fprintf(stderr, "usage: chaos sweep RECIPE... | chaos seeds FROM N RECIPE...\n");
    return 2;
}

int main(int argc, char **argv)
{
    bool sweep = argc >= 3 && strcmp(argv[1], "sweep") == 0;
    bool seeds = argc >= 5 && strcmp(argv[1], "seeds") == 0;
    unsigned passed = 0, failed = 0;
    if (!sweep && !seeds)
        return usage();
    for (int i = sweep ? 2 : 4; i < argc; i++) {
        struct chaos c = { .recipe = argv[i],
                           .dir = "build/chaos",
                           .jobs = (int)sysconf(_SC_NPROCESSORS_ONLN) };
        if (chaos_init(&c) < 0)
            return 1;
        (void)printf("%s: %llu requests\n", c.recipe, (unsigned long long)c.n_requests);
        if (sweep)
            chaos_all(&c, 1, c.n_requests, chaos_kill_at);
        else
            chaos_all(&c, strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10), chaos_seed);
        passed += c.counts->passed;
        failed += c.counts->failed;
        chaos_done(&c);
    }
    (void)printf("%u passed, %u failed\n", passed, failed);
    return failed > 0;
}
