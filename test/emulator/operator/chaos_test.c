/* The promise that the controller may be killed at any instant, and that everything between it and
 * the server may fail: each walk ends as an undisturbed one does. A sample, unless SW_ALL is set;
 * crash_sweep_test.sh has more kills, without sanitizers. `make chaos SEEDS=n` runs more.
 */
#include "chaos.h"

#include <cmocka.h>

/* Hundreds of walks: where memory came from is not noted, which takes a fifth of the time.
 * `build/test/slipway replay FILE` tells more. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "malloc_context_size=0";
}

static const char mig[] = SW_SOURCE_DIR "/recipes/nvidia-mig";
static const char kmod[] = SW_SOURCE_DIR "/charts/example/simple-kmod";

/* @nodes: 0 for five; @n: 0 for as many as the walk has requests; @every: one in so many is tried
 */
static void try_some(const char *recipe, int nodes, uint64_t n, uint64_t every,
                     const struct chaos_kind *kind)
{
    struct chaos c = { .recipe = recipe, .dir = SW_SOURCE_DIR "/build/chaos", .nodes = nodes };
    c.sample = sample_of(every);
    assert_int_equal(chaos_init(&c), 0);
    n = n ? n : c.n_requests;
    chaos_all(&c, kind, 1, n);
    chaos_done(&c);
    assert_int_equal(c.failed, 0);
    assert_int_equal(c.passed, sample_count(&c.sample, n));
}

static void simple_kmod_survives_a_kill_after_any_request(void **state)
{
    (void)state;
    try_some(kmod, 0, 0, 6, &chaos_kills);
}

static void nvidia_mig_survives_a_kill_after_any_request(void **state)
{
    (void)state;
    try_some(mig, 3, 0, 15, &chaos_kills);
}

static void simple_kmod_survives_random_faults(void **state)
{
    (void)state;
    try_some(kmod, 0, 25, 6, &chaos_seeds);
}

static void nvidia_mig_survives_random_faults(void **state)
{
    (void)state;
    try_some(mig, 0, 25, 12, &chaos_seeds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simple_kmod_survives_a_kill_after_any_request),
        cmocka_unit_test(nvidia_mig_survives_a_kill_after_any_request),
        cmocka_unit_test(simple_kmod_survives_random_faults),
        cmocka_unit_test(nvidia_mig_survives_random_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
