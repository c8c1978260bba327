/* A pod fits nowhere: whose slices would have to lie elsewhere. */
#include "scheduler_util.h"

#include "slicing/scheduler/affinity_hint.h"

static int setup(void **state)
{
    struct scene *s = sw_zalloc(1, sizeof *s);
    scene_open(s, SW_MIG_PACKED);
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    scene_close(*state);
    free(*state);
    return 0;
}

static void add(struct scene *s, const char *uid, const char *node, const char *profile, int start,
                int size)
{
    (void)scene_pod(s, uid, "", 0, node);
    assert_int_equal(scene_claim(s, uid, uid, node, 0, profile, start, size, "inUse"), 0);
}

/* What the filter says of @node. The caller's. */
static char *said_of(struct scene *s, const char *limits, const char *nodes, const char *node)
{
    SW_AUTO_CHARS *pod = pod_text("asker", limits, 0, NULL);
    SW_AUTO_JSON *doc = scene_filter(s, pod, nodes);
    return sw_strdup(sw_json_str(doc, "", "FailedNodes", node, NULL));
}

#define HALF "\"mig.das.com/3g.20gb\":1"
#define WHOLE "\"mig.das.com/7g.40gb\":1"

static void test_small_slice_in_both_halves(void **state)
{
    struct scene *s = *state;
    scene_node(s, "a", "A100-40GB", 1);
    add(s, "x", "a", "1g.5gb", 0, 1);
    add(s, "y", "a", "2g.10gb", 4, 2);
    SW_AUTO_CHARS *said = said_of(s, HALF, "\"a\"", "a");
    assert_string_equal(said, "a: room for 0 of 1 x 3g.20gb; would fit if these moved: "
                              "ns/pod-x (1g.5gb) to another place here");
    assert_non_null(cache_find_pod(s->p, "asker")->advice);
}

static void test_nothing_to_advise_where_all_is_needed(void **state)
{
    struct scene *s = *state;
    scene_node(s, "a", "A100-40GB", 1);
    add(s, "x", "a", "3g.20gb", 0, 4);
    add(s, "y", "a", "2g.10gb", 4, 2);
    SW_AUTO_CHARS *said = said_of(s, HALF, "\"a\"", "a");
    assert_string_equal(said, "a: room for 0 of 1 x 3g.20gb");
    assert_null(cache_find_pod(s->p, "asker")->advice);
}

static void test_slice_that_fits_on_another_node(void **state)
{
    struct scene *s = *state;
    scene_node(s, "a", "A100-40GB", 1);
    scene_node(s, "b", "A100-40GB", 1);
    add(s, "x", "a", "1g.5gb", 6, 1);
    add(s, "y", "b", "4g.20gb", 0, 4);
    SW_AUTO_CHARS *none = said_of(s, WHOLE, "\"a\"", "a"); /* asked about it alone */
    assert_string_equal(none, "a: room for 0 of 1 x 7g.40gb");
    SW_AUTO_CHARS *said = said_of(s, WHOLE, "\"a\",\"b\"", "a");
    assert_string_equal(said, "a: room for 0 of 1 x 7g.40gb; would fit if these moved: "
                              "ns/pod-x (1g.5gb) to node b");
    cache_observe_node(s->p, "b", false, false); /* it takes no more part */
    SW_AUTO_CHARS *alone = said_of(s, WHOLE, "\"a\",\"b\"", "a");
    assert_string_equal(alone, "a: room for 0 of 1 x 7g.40gb");
}

static void test_fewest_moves_are_told(void **state)
{
    struct scene *s = *state;
    scene_node(s, "a", "A100-40GB", 1);
    scene_node(s, "b", "A100-40GB", 1);
    add(s, "a0", "a", "1g.5gb", 0, 1);
    add(s, "a1", "a", "1g.5gb", 1, 1);
    add(s, "a2", "a", "1g.5gb", 4, 1);
    add(s, "a3", "a", "1g.5gb", 5, 1);
    add(s, "b0", "b", "2g.10gb", 0, 2);
    add(s, "b1", "b", "1g.5gb", 4, 1);
    SW_AUTO_CHARS *a = said_of(s, HALF, "\"a\",\"b\"", "a");
    assert_null(strstr(a, "moved"));
    SW_AUTO_CHARS *b = said_of(s, HALF, "\"a\",\"b\"", "b");
    assert_non_null(strstr(b, "moved: ns/pod-b1 (1g.5gb)"));
    assert_null(strchr(strstr(b, "moved:"), ','));
}

static void test_of_many_nodes_the_one_is_named(void **state)
{
    struct scene *s = *state;
    scene_node(s, "9", "A100-40GB", 1);
    add(s, "x", "9", "1g.5gb", 0, 1);
    add(s, "y", "9", "1g.5gb", 4, 1);
    const char *nodes = "\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\",\"10\"";
    SW_AUTO_CHARS *said = said_of(s, HALF, nodes, "9");
    assert_true(sw_starts_with(said, "9: room for 0 of 1 x 3g.20gb; would fit if"));
    cache_pod_gone(s->p, "asker");
    SW_AUTO_CHARS *other = said_of(s, HALF, nodes, "1");
    assert_string_equal(other, "no GPU here that can be cut");
}

static void test_who_cannot_move_is_not_asked_to(void **state)
{
    struct scene *s = *state;
    scene_node(s, "a", "A100-40GB", 1);
    /* of pods that nobody has seen */
    assert_int_equal(scene_claim(s, "x", "unseen", "a", 0, "1g.5gb", 0, 1, "inUse"), 0);
    assert_int_equal(scene_claim(s, "y", "unseen", "a", 0, "1g.5gb", 4, 1, "inUse"), 0);
    SW_AUTO_CHARS *said = said_of(s, HALF, "\"a\"", "a");
    assert_string_equal(said, "a: room for 0 of 1 x 3g.20gb");
}

/* ---- any occupancy -----------------------------------------------------------------------------
 */

static const char *const profiles[] = { "1g.5gb",  "1g.10gb", "2g.10gb",
                                        "3g.20gb", "4g.20gb", "1g.5gb+me" };

/* A slice at a random place where it fits. */
static void add_random(struct scene *s, unsigned *seed, int i)
{
    const struct node *n = cache_find_node(s->p, "a");
    const char *name = profiles[rand_r(seed) % SW_COUNT(profiles)];
    struct sw_mig_profile profile;
    assert_int_equal(sw_mig_profile_parse(name, strlen(name), &profile, NULL), 0);
    const size_t gpu = rand_r(seed) % n->n_gpus;
    const struct sw_mig_kind *kind = sw_mig_kind_find(n->gpus[gpu].geometry, &profile);
    const struct sw_mig_place place = kind->places[rand_r(seed) % kind->n_places];
    if (!sw_mig_fits(n->gpus[gpu].geometry, &n->gpus[gpu].use, kind, place))
        return;
    SW_AUTO_CHARS *uid = sw_printf("p%d", i);
    (void)scene_pod(s, uid, "", 0, "a");
    assert_int_equal(
        scene_claim(s, uid, uid, "a", (int)gpu, name, place.start, place.size, "inUse"), 0);
}

/* The pod and all that should move fit together where they lay. */
static void check_advice(struct scene *s, const struct pod *pod, const struct advice *a)
{
    const struct node *n = a->node;
    struct sw_mig_gpu gpus[4];
    struct sw_mig_profile pod_request[SW_MIG_MAX_REQUESTS];
    struct sw_mig_choice choices[SW_MIG_MAX_REQUESTS];
    size_t n_requests = 0;
    memcpy(gpus, n->gpus, n->n_gpus * sizeof *gpus);
    for (size_t i = 0; i < pod->pod_request.n; i++)
        pod_request[n_requests++] = pod->pod_request.list[i].profile;
    for (size_t i = 0; i < a->n; i++) {
        assert_ptr_equal(a->to[i], n); /* there is no other */
        sw_mig_give(&gpus[a->moves[i]->gpu].use, a->moves[i]->kind, a->moves[i]->place);
        pod_request[n_requests++] = a->moves[i]->profile;
    }
    SW_ERR(err);
    if (sw_mig_place(gpus, n->n_gpus, pod_request, n_requests, s->p->policy, choices, &err) < 0) {
        SW_AUTO_CHARS *text = advice_text(a);
        fail_msg("%s, but: %s", text, sw_err_text(&err));
    }
}

static void test_advice_holds_for_any_occupancy(void **state)
{
    struct scene *s = *state;
    unsigned seed = 7, n_advised = 0, n_refused = 0;
    for (int round = 0; round < 400; round++) {
        scene_close(s);
        scene_open(s, SW_MIG_PACKED);
        scene_node(s, "a", "A100-40GB", 1 + round % 2);
        for (int i = 0; i < 8; i++)
            add_random(s, &seed, i);
        const char *name = profiles[rand_r(&seed) % (SW_COUNT(profiles) - 1)];
        SW_AUTO_CHARS *limits = sw_printf("\"mig.das.com/%s\":%d", name, 1 + round % 3);
        const struct pod *pod = scene_pod(s, "asker", limits, 0, NULL);
        struct node *n = cache_find_node(s->p, "a");
        struct advice a;
        if (decide_fit(s->p, pod, n, NULL, NULL) != SW_PENDING)
            continue;
        n_refused++;
        if (!advice_find(s->p, n, pod, &n, 1, &a))
            continue;
        n_advised++;
        check_advice(s, pod, &a);
    }
    if (n_advised < 10)
        fail_msg("%u of %u advised", n_advised, n_refused);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_small_slice_in_both_halves),      T(test_nothing_to_advise_where_all_is_needed),
        T(test_slice_that_fits_on_another_node), T(test_fewest_moves_are_told),
        T(test_of_many_nodes_the_one_is_named),  T(test_who_cannot_move_is_not_asked_to),
        T(test_advice_holds_for_any_occupancy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
