/* Images are built only where they cannot be pulled. */
#include "engine_sim.h"

#define VENDOR(v) "'specialresource.openshift.io/driver-container-vendor':'" v "'"
#define DRIVER "'specialresource.openshift.io/state':'driver-container'"
#define BUILD_OF(v, n)                                                                             \
    {                                                                                              \
        .kind = "BuildConfig", .name = n "-%s", .awaited = true, .annotations = "{" VENDOR(v) "}"  \
    }
#define DRIVER_OF(v, n, more)                                                                      \
    {                                                                                              \
        .kind = "DaemonSet", .name = n "-%s", .awaited = true,                                     \
        .annotations = "{" VENDOR(v) "," DRIVER more "}"                                           \
    }

static struct sim *start(const struct sim_recipe *recipe)
{
    struct sim *sim = sim_new(recipe, 1);
    struct sim_recipe *r = &sim->recipe;
    for (; r->n_states < SW_COUNT(r->states) && r->states[r->n_states].name; r->n_states++) {
        struct sim_state *s = &r->states[r->n_states];
        while (s->n_objects < SW_COUNT(s->objects) && s->objects[s->n_objects].kind)
            s->n_objects++;
    }
    sim_node(sim, "n0", "{'kernel':'k1'}");
    sim_node(sim, "n1", "{'kernel':'k2'}");
    sim_start(sim);
    sim_run(sim, 60000);
    return sim;
}

static void expect_ready(struct sim *sim)
{
    for (size_t i = 0; i < sim->recipe.n_states; i++)
        if (strcmp(sim_phase(sim, sim->recipe.states[i].name), "Ready") != 0)
            fail_msg("%s: %s\n%s", sim->recipe.states[i].name,
                     sim_message(sim, sim->recipe.states[i].name), sim->log);
}

static bool was(struct sim *sim, const char *what)
{
    return sim->log && strstr(sim->log, what);
}

static void nothing_is_built_when_the_image_can_be_pulled(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = {
        .states = { { .name = "0000", .affine = true, .objects = { BUILD_OF("v", "build") } },
                    { .name = "1000",
                      .affine = true,
                      .needs = { 0 },
                      .n_needs = 1,
                      .objects = { DRIVER_OF("v", "driver", "") } } }
    };
    struct sim *sim = start(&recipe);
    expect_ready(sim);
    assert_false(was(sim, "apply BuildConfig"));
    assert_non_null(sim_label(sim, "n0", "1000"));
    sim_free(sim);
}

static void image_that_cannot_be_pulled_is_built_for_its_kernel(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = {
        .states = { { .name = "0000", .affine = true, .objects = { BUILD_OF("v", "build") } },
                    { .name = "1000",
                      .affine = true,
                      .needs = { 0 },
                      .n_needs = 1,
                      .objects = { DRIVER_OF("v", "driver", ",'sim/image':'build'") } } }
    };
    struct sim *sim = start(&recipe);
    expect_ready(sim);
    assert_true(was(sim, "event Building"));
    assert_true(was(sim, "apply BuildConfig build-k1"));
    assert_true(was(sim, "apply BuildConfig build-k2"));
    assert_false(was(sim, "event StateDrifted"));
    sim_restart(sim);
    sim_clear_log(sim);
    sim_run(sim, 60000);
    expect_ready(sim);
    assert_false(was(sim, "apply"));
    sim_free(sim);
}

static void vendors_are_built_each_for_itself_and_at_once(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = {
        .states = { { .name = "0000",
                      .affine = true,
                      .objects = { BUILD_OF("a", "xa"), BUILD_OF("b", "xb"),
                                   BUILD_OF("c", "xc") } },
                    { .name = "1000",
                      .affine = true,
                      .needs = { 0 },
                      .n_needs = 1,
                      .objects = { DRIVER_OF("a", "da", ",'sim/image':'xa'"),
                                   DRIVER_OF("b", "db", ""),
                                   DRIVER_OF("c", "dc", ",'sim/image':'xc'") } } }
    };
    struct sim *sim = start(&recipe);
    expect_ready(sim);
    assert_true(was(sim, "apply BuildConfig xa-k1"));
    assert_true(was(sim, "apply BuildConfig xc-k1"));
    assert_false(was(sim, "apply BuildConfig xb"));
    sim_free(sim);
}

static void build_without_a_driver_container_is_done_at_once(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = {
        .states = { { .name = "0000", .affine = true, .objects = { BUILD_OF("v", "build") } } }
    };
    struct sim *sim = start(&recipe);
    expect_ready(sim);
    assert_true(was(sim, "apply BuildConfig build-k1"));
    sim_free(sim);
}

#define MISSING_DRIVER(v, n, where)                                                                \
    {                                                                                              \
        .kind = "DaemonSet", .name = n "-%s", .awaited = true, .missing = where,                   \
        .annotations = "{" VENDOR(v) "," DRIVER "}"                                                \
    }

static void image_that_is_not_in_the_registry_is_built_before_its_driver_is_touched(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = {
        .states = { { .name = "0000", .affine = true, .objects = { BUILD_OF("v", "build") } },
                    { .name = "1000",
                      .affine = true,
                      .needs = { 0 },
                      .n_needs = 1,
                      .objects = { MISSING_DRIVER("v", "driver", "k2") } } }
    };
    struct sim *sim = start(&recipe);
    expect_ready(sim);
    assert_false(was(sim, "apply BuildConfig build-k1"));
    const char *build = strstr(sim->log, "apply BuildConfig build-k2"),
               *driver = strstr(sim->log, "apply DaemonSet driver-k2");
    assert_non_null(build);
    assert_non_null(driver);
    assert_true(build < driver);
    sim_restart(sim); /* the registry still says no: what runs, runs */
    sim_clear_log(sim);
    sim_run(sim, 60000);
    expect_ready(sim);
    assert_false(was(sim, "apply"));
    sim_free(sim);
}

static void driver_without_image_or_build_waits_and_says_so(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = {
        .states = { { .name = "1000",
                      .affine = true,
                      .objects = { MISSING_DRIVER("v", "d", "k2") } } }
    };
    struct sim *sim = start(&recipe);
    assert_true(was(sim, "apply DaemonSet d-k1"));
    assert_false(was(sim, "apply DaemonSet d-k2"));
    assert_non_null(sim_label(sim, "n0", "1000"));
    assert_null(sim_label(sim, "n1", "1000"));
    assert_string_not_equal(sim_phase(sim, "1000"), "Ready");
    assert_non_null(strstr(sim_message(sim, "1000"), "no such image"));
    sim_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_built_when_the_image_can_be_pulled),
        cmocka_unit_test(image_that_cannot_be_pulled_is_built_for_its_kernel),
        cmocka_unit_test(vendors_are_built_each_for_itself_and_at_once),
        cmocka_unit_test(build_without_a_driver_container_is_done_at_once),
        cmocka_unit_test(image_that_is_not_in_the_registry_is_built_before_its_driver_is_touched),
        cmocka_unit_test(driver_without_image_or_build_waits_and_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
