/* chaos: the controller is killed after every one of its requests (sweep), random faults and kills
 * (seeds), answers that take their time (delays), or all of it. Prints what fails, a file for
 * `slipway replay` each, and last "N passed, N failed"; exit 1 if any failed. --sample N tries one
 * in N (SW_SEED says which, SW_ALL=1 all). */
#include "chaos.h"

static int usage(void)
{
    (void)fprintf(stderr,
                  "usage: chaos [--kubernetes] [--nodes N] [--sample N] sweep RECIPE...\n"
                  "       chaos [--kubernetes] [--nodes N] [--sample N] seeds FROM N RECIPE...\n"
                  "       chaos [--kubernetes] [--nodes N] [--sample N] delays FROM N RECIPE...\n"
                  "       chaos [--kubernetes] [--nodes N] [--sample N] all N RECIPE...\n");
    return 2;
}

struct task {
    const char *platform;
    int nodes; /* 0: the usual five */
    bool sweep;
    uint64_t every; /* one in so many is tried; 0: all */
    uint64_t from, n_seeds, n_delays;
    unsigned passed, failed;
};

static void run_some(struct task *t, struct chaos *c, const struct chaos_kind *kind, uint64_t from,
                     uint64_t n)
{
    if (!n)
        return;
    chaos_all(c, kind, from, n);
    t->passed += c->passed;
    t->failed += c->failed;
}

static int run(struct task *t, const char *recipe)
{
    struct chaos c = { .recipe = recipe, .platform = t->platform, .dir = "build/chaos" };
    c.nodes = t->nodes;
    if (t->every > 1)
        c.sample = sample_of(t->every);
    if (chaos_init(&c) < 0)
        return 1;
    uint64_t n_kills = t->sweep ? c.n_requests : 0;
    (void)printf("%s: %llu kills, %llu seeds, %llu with delays\n", recipe,
                 (unsigned long long)n_kills, (unsigned long long)t->n_seeds,
                 (unsigned long long)t->n_delays);
    run_some(t, &c, &chaos_kills, 1, n_kills);
    run_some(t, &c, &chaos_seeds, t->from, t->n_seeds);
    run_some(t, &c, &chaos_delays, t->from, t->n_delays);
    chaos_done(&c);
    return 0;
}

/* What is to be done, and how many words say so; 0: it is not understood. */
static int read_task(struct task *t, int argc, char **argv)
{
    int at = argc > 1 && strcmp(argv[1], "--kubernetes") == 0 ? 2 : 1;
    t->platform = at == 2 ? "kubernetes" : NULL;
    if (argc - at >= 2 && strcmp(argv[at], "--nodes") == 0) {
        t->nodes = (int)strtol(argv[at + 1], NULL, 10);
        at += 2;
    }
    if (argc - at >= 2 && strcmp(argv[at], "--sample") == 0) {
        t->every = strtoull(argv[at + 1], NULL, 10);
        at += 2;
    }
    t->from = 1;
    if (argc - at >= 2 && strcmp(argv[at], "sweep") == 0) {
        t->sweep = true;
        return at + 1;
    }
    if (argc - at >= 3 && strcmp(argv[at], "all") == 0) {
        t->sweep = true;
        t->n_seeds = strtoull(argv[at + 1], NULL, 10);
        return at + 2;
    }
    bool seeds = argc - at >= 4 && strcmp(argv[at], "seeds") == 0;
    if (!seeds && (argc - at < 4 || strcmp(argv[at], "delays") != 0))
        return 0;
    t->from = strtoull(argv[at + 1], NULL, 10);
    *(seeds ? &t->n_seeds : &t->n_delays) = strtoull(argv[at + 2], NULL, 10);
    return at + 3;
}

int main(int argc, char **argv)
{
    struct task t = { 0 };
    int first = read_task(&t, argc, argv);
    if (!first)
        return usage();
    for (int i = first; i < argc; i++)
        if (run(&t, argv[i]) != 0)
            return 1;
    (void)printf("%u passed, %u failed\n", t.passed, t.failed);
    return t.failed > 0;
}
