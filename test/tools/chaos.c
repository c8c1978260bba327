/* chaos: the controller is killed after every one of its requests (sweep), random faults and kills
 * (seeds), or both. Prints what fails, a file for `slipway replay` each, and last "N passed, N
 * failed"; exit 1 if any failed. */
#include "chaos.h"

static int usage(void)
{
    (void)fprintf(stderr, "usage: chaos sweep RECIPE... | chaos seeds FROM N RECIPE... | "
                          "chaos all N RECIPE...\n");
    return 2;
}

struct task {
    bool sweep;
    uint64_t from, n; /* seeds */
    struct counts sum;
};

static void add(struct task *t, const struct chaos *c)
{
    t->sum.passed += c->counts->passed;
    t->sum.failed += c->counts->failed;
}

static int run(struct task *t, const char *recipe)
{
    struct chaos c = { .recipe = recipe,
                       .dir = "build/chaos",
                       .jobs = (int)sysconf(_SC_NPROCESSORS_ONLN) };
    if (chaos_init(&c) < 0)
        return 1;
    (void)printf("%s: %llu requests, %llu seeds\n", recipe,
                 (unsigned long long)(t->sweep ? c.n_requests : 0), (unsigned long long)t->n);
    if (t->sweep) {
        chaos_all(&c, 1, c.n_requests, chaos_kill_at);
        add(t, &c);
    }
    if (t->n) {
        chaos_all(&c, t->from, t->n, chaos_seed);
        add(t, &c);
    }
    chaos_done(&c);
    return 0;
}

int main(int argc, char **argv)
{
    struct task t = { .from = 1 };
    int first;
    if (argc >= 3 && strcmp(argv[1], "sweep") == 0) {
        t.sweep = true;
        first = 2;
    } else if (argc >= 5 && strcmp(argv[1], "seeds") == 0) {
        t.from = strtoull(argv[2], NULL, 10);
        t.n = strtoull(argv[3], NULL, 10);
        first = 4;
    } else if (argc >= 4 && strcmp(argv[1], "all") == 0) {
        t.sweep = true;
        t.n = strtoull(argv[2], NULL, 10);
        first = 3;
    } else {
        return usage();
    }
    for (int i = first; i < argc; i++)
        if (run(&t, argv[i]) != 0)
            return 1;
    (void)printf("%u passed, %u failed\n", t.sum.passed, t.sum.failed);
    return t.sum.failed > 0;
}
