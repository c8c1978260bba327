/* The picture: whatever is seen, in whatever order, what is taken is what the claims say. */
#include "scheduler_util.h"

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

static unsigned taken(struct scene *s, const char *node, size_t gpu)
{
    const struct node *n = cache_find_node(s->p, node);
    return n && gpu < n->n_gpus ? n->gpus[gpu].use.slices : 0xffff;
}

static void claim_gone(struct scene *s, const char *name)
{
    SW_AUTO_CHARS *uid = sw_printf("uid-%s", name);
    assert_int_equal(cache_observe_claim(s->p, name, uid, NULL, 0, NULL), 0);
}

static void test_claims_take_and_give(void **state)
{
    struct scene *s = *state;
    scene_node(s, "a", "A100-40GB", 2);
    assert_int_equal(scene_claim(s, "c1", "p1", "a", 1, "2g.10gb", 2, 2, NULL), 0);
    assert_int_equal(scene_claim(s, "c1", "p1", "a", 1, "2g.10gb", 2, 2, "created"), 0);
    assert_int_equal(taken(s, "a", 0), 0);
    assert_int_equal(taken(s, "a", 1), 0x0c);
    assert_int_equal(cache_find_claim(s->p, "c1")->state, SW_CLAIM_CREATED);
    claim_gone(s, "c1");
    assert_int_equal(taken(s, "a", 1), 0);
    assert_null(cache_find_pod(s->p, "p1")); /* nothing refers to it any more */
}

static void test_claims_before_their_node(void **state)
{
    struct scene *s = *state;
    (void)scene_claim(s, "c1", "p1", "a", 1, "3g.20gb", 4, 4, "inUse");
    (void)scene_claim(s, "c2", "p1", "a", 0, "1g.5gb", 0, 1, "inUse");
    scene_node(s, "a", "A100-40GB", 2);
    assert_int_equal(taken(s, "a", 0), 0x01);
    assert_int_equal(taken(s, "a", 1), 0xf0);
    assert_non_null(cache_find_claim(s->p, "c1")->kind);
    /* the node's report goes and comes back: the claims are still there */
    assert_int_equal(cache_observe_accelerator(s->p, "a", NULL, NULL), 0);
    scene_node(s, "a", "A100-40GB", 2);
    assert_int_equal(taken(s, "a", 1), 0xf0);
}

static void test_gpus_in_another_order(void **state)
{
    struct scene *s = *state;
    scene_node(s, "a", "A100-40GB", 2);
    (void)scene_claim(s, "c1", "p1", "a", 1, "3g.20gb", 4, 4, "inUse");
    SW_AUTO_JSON *acc = accelerator("a", "A100-40GB", 2);
    struct json_object *list = sw_json_find(acc, "status", "nodeResources", "nodeGpus", NULL);
    struct json_object *first = json_object_get(sw_json_at(list, 0));
    json_object_array_del_idx(list, 0, 1);
    json_object_array_add(list, first);
    assert_int_equal(cache_observe_accelerator(s->p, "a", acc, NULL), 0);
    assert_string_equal(cache_find_node(s->p, "a")->uuids[0], "GPU-a-1");
    assert_int_equal(taken(s, "a", 0), 0xf0);
    assert_int_equal(taken(s, "a", 1), 0);
}

static void test_overlapping_claims_both_count(void **state)
{
    struct scene *s = *state;
    scene_node(s, "a", "A100-40GB", 1);
    (void)scene_claim(s, "c1", "p1", "a", 0, "3g.20gb", 0, 4, "inUse");
    (void)scene_claim(s, "c2", "p2", "a", 0, "1g.5gb", 3, 1, "inUse");
    assert_true(cache_overlaps(cache_find_claim(s->p, "c1")));
    claim_gone(s, "c1");
    assert_int_equal(taken(s, "a", 0), 0x08);
    assert_false(cache_overlaps(cache_find_claim(s->p, "c2")));
}

static void test_unreadable_claims_take_nothing(void **state)
{
    struct scene *s = *state;
    scene_node(s, "a", "A100-40GB", 1);
    assert_int_equal(scene_claim(s, "c1", "p1", "a", 0, "large", 0, 1, NULL), SW_INVALID);
    assert_int_equal(scene_claim(s, "c2", "p1", "a", 0, "1g.5gb", 15, 2, NULL), SW_INVALID);
    assert_int_equal(scene_claim(s, "c3", "", "a", 0, "1g.5gb", 0, 1, NULL), SW_INVALID);
    assert_int_equal(taken(s, "a", 0), 0);
}

static void test_broken_accelerator_shuts_its_node_alone(void **state)
{
    struct scene *s = *state;
    SW_ERR(err);
    scene_node(s, "a", "A100-40GB", 1);
    (void)scene_claim(s, "c1", "p1", "a", 0, "1g.5gb", 0, 1, "inUse");
    SW_AUTO_JSON *doc = json("{\"spec\":{\"acceleratorType\":\"nvidia-mig\"},\"status\":{"
                             "\"nodeResources\":{\"nodeGpus\":[{\"gpuUuid\":\"x\"}],"
                             "\"migPlacement\":{\"1g.5gb\":7}}}}");
    assert_int_equal(cache_observe_accelerator(s->p, "a", doc, &err), SW_INVALID);
    assert_non_null(strstr(sw_err_text(&err), "NodeAccelerator 'a'"));
    const struct pod *pod = scene_pod(s, "p2", "\"mig.das.com/1g.5gb\":1", 0, NULL);
    assert_int_equal(decide_fit(s->p, pod, cache_find_node(s->p, "a"), NULL, &err), SW_UNAVAILABLE);
    scene_node(s, "a", "A100-40GB", 1); /* mended */
    assert_int_equal(decide_fit(s->p, pod, cache_find_node(s->p, "a"), NULL, &err), 0);
    assert_int_equal(taken(s, "a", 0), 1);
}

static void test_gpus_of_two_models_in_one_node(void **state)
{
    struct scene *s = *state;
    SW_AUTO_JSON *acc = accelerator("a", "A100-40GB", 2);
    SW_AUTO_JSON *other = accelerator("a", "A30-24GB", 1);
    struct json_object *gpu = sw_json_at(
        sw_json_find(acc, "status", "nodeResources", "nodeGpus", NULL), 1);
    json_object_object_add(
        gpu, "migPlacement",
        json_object_get(sw_json_find(other, "status", "nodeResources", "migPlacement", NULL)));
    cache_observe_node(s->p, "a", true, false);
    assert_int_equal(cache_observe_accelerator(s->p, "a", acc, NULL), 0);
    struct pod *pod = scene_pod(s, "p", "\"mig.das.com/4g.24gb\":1,\"mig.das.com/7g.40gb\":1", 0,
                                NULL);
    assert_int_equal(cache_reserve(s->p, pod, "a", 0, NULL), 0);
    assert_int_equal(taken(s, "a", 0), 0xff);
    assert_int_equal(taken(s, "a", 1), 0x0f);
}

static void test_unhealthy_gpus_take_nothing_new(void **state)
{
    struct scene *s = *state;
    SW_AUTO_JSON *acc = accelerator("a", "A100-40GB", 1);
    sw_json_set(sw_json_at(sw_json_find(acc, "status", "nodeResources", "nodeGpus", NULL), 0),
                json_object_new_boolean(false), "healthy", NULL);
    cache_observe_node(s->p, "a", true, false);
    assert_int_equal(cache_observe_accelerator(s->p, "a", acc, NULL), 0);
    const struct pod *pod = scene_pod(s, "p2", "\"mig.das.com/1g.5gb\":1", 0, NULL);
    assert_int_equal(decide_fit(s->p, pod, cache_find_node(s->p, "a"), NULL, NULL), SW_PENDING);
}

/* Whoever touched it: it is not touched again within a second. */
static void test_a_change_of_the_epoch_counts_as_a_touch(void **state)
{
    struct scene *s = *state;
    cache_observe_node(s->p, "a", true, false);
    const struct node *a = cache_find_node(s->p, "a");
    cache_observe_epoch(s->p, "a", "", 1000);
    assert_int_equal(a->touched_ms, 0);
    cache_observe_epoch(s->p, "a", "7", 2000);
    assert_int_equal(a->touched_ms, 2000);
    cache_observe_epoch(s->p, "a", "7", 3000); /* another change of the node */
    assert_int_equal(a->touched_ms, 2000);
    cache_observe_epoch(s->p, "a", "8", 4000);
    assert_int_equal(a->touched_ms, 4000);
    cache_observe_epoch(s->p, "unknown", "8", 5000);
    assert_null(cache_find_node(s->p, "unknown"));
}

/* ---- reservations ------------------------------------------------------------------------------
 */

static void test_reservation_holds_until_it_is_dropped(void **state)
{
    struct scene *s = *state;
    scene_node(s, "a", "A100-40GB", 1);
    struct pod *pod = scene_pod(s, "p1", "\"mig.das.com/7g.40gb\":1", 0, NULL);
    const struct pod *other = scene_pod(s, "p2", "\"mig.das.com/1g.5gb\":1", 0, NULL);
    assert_int_equal(cache_reserve(s->p, pod, "a", 0, NULL), 0);
    assert_string_equal(pod->claims->name, "p1-a-main-0");
    assert_int_equal(decide_fit(s->p, other, cache_find_node(s->p, "a"), NULL, NULL), SW_PENDING);
    assert_int_equal(decide_fit(s->p, pod, cache_find_node(s->p, "a"), NULL, NULL),
                     0);          /* its own is not in its way */
    claim_gone(s, "p1-a-main-0"); /* an old tale about an earlier claim of that name */
    assert_int_equal(taken(s, "a", 0), 0xff);
    cache_drop_claim(s->p, pod->claims);
    assert_int_equal(s->p->n_reserved, 0);
    assert_int_equal(decide_fit(s->p, other, cache_find_node(s->p, "a"), NULL, NULL), 0);
}

static void test_reservation_becomes_the_claim_that_is_seen(void **state)
{
    struct scene *s = *state;
    scene_node(s, "a", "A100-40GB", 1);
    struct pod *pod = scene_pod(s, "p1", "\"mig.das.com/1g.5gb\":1", 0, NULL);
    assert_int_equal(cache_reserve(s->p, pod, "a", 0, NULL), 0);
    struct claim *c = pod->claims;
    assert_int_equal(scene_claim(s, c->name, "p1", "a", 0, "1g.5gb", c->place.start, 1, "created"),
                     0);
    assert_ptr_equal(cache_find_claim(s->p, "p1-a-main-0"), c);
    assert_true(c->seen);
    assert_int_equal(s->p->n_reserved, 0);
    c->held = false;
    claim_gone(s, "p1-a-main-0");
    assert_null(pod->claims);
}

static void test_what_an_earlier_attempt_left_is_taken_over(void **state)
{
    struct scene *s = *state;
    scene_node(s, "a", "A100-40GB", 1);
    scene_node(s, "b", "A100-40GB", 1);
    struct pod *pod = scene_pod(s, "p1", "\"mig.das.com/1g.5gb\":2", 0, NULL);
    (void)scene_claim(s, "p1-a-main-1", "p1", "a", 0, "1g.5gb", 6, 1, NULL);
    assert_false(cache_serves(pod->claims, "a")); /* of another replica, which may be at work */
    pod->claims->own = true;
    assert_true(cache_serves(pod->claims, "a"));
    assert_false(cache_serves(pod->claims, "b"));
    assert_int_equal(cache_reserve(s->p, pod, "b", 0, NULL), SW_CONFLICT);
    assert_int_equal(cache_reserve(s->p, pod, "a", 0, NULL), 0);
    const struct claim *left = cache_find_claim(s->p, "p1-a-main-1");
    assert_true(left->held && left->want == 1 && left->place.start == 6);
    assert_non_null(cache_find_claim(s->p, "p1-a-main-0"));
    assert_int_equal(s->p->n_reserved, 1);
}

static void test_claims_of_another_profile_do_not_serve(void **state)
{
    struct scene *s = *state;
    scene_node(s, "a", "A100-40GB", 1);
    const struct pod *pod = scene_pod(s, "p1", "\"mig.das.com/2g.10gb\":1", 0, NULL);
    (void)scene_claim(s, "p1-a-main-0", "p1", "a", 0, "1g.5gb", 6, 1, NULL);
    pod->claims->own = true;
    assert_false(cache_serves(pod->claims, "a"));
    (void)scene_claim(s, "p1-a-main-0", "p1", "a", 0, "2g.10gb", 4, 2, NULL);
    assert_true(cache_serves(pod->claims, "a"));
    (void)scene_claim(s, "p1-a-main-0", "p1", "a", 0, "2g.10gb", 4, 2, "inUse");
    assert_false(cache_serves(pod->claims, "a"));
}

static void test_names_that_would_be_too_long(void **state)
{
    struct scene *s = *state;
    char node[254];
    memset(node, 'n', sizeof node - 1);
    node[sizeof node - 1] = '\0';
    scene_node(s, node, "A100-40GB", 1);
    struct pod *pod = scene_pod(s, "p1", "\"mig.das.com/1g.5gb\":1", 0, NULL);
    assert_int_equal(cache_reserve(s->p, pod, node, 0, NULL), 0);
    assert_true(strlen(pod->claims->name) < 64);
    assert_true(sw_starts_with(pod->claims->name, "p1-"));
}

static void test_waiting_pods_are_counted(void **state)
{
    struct scene *s = *state;
    struct pod *pod = scene_pod(s, "p1", "\"mig.das.com/1g.5gb\":1", 0, NULL);
    (void)scene_pod(s, "p2", "\"cpu\":1", 0, NULL);
    assert_int_equal(s->p->n_waiting, 1);
    (void)scene_pod(s, "p1", "\"mig.das.com/1g.5gb\":1", 0, NULL);
    assert_int_equal(s->p->n_waiting, 1);
    cache_pod_bound(s->p, pod, "a");
    assert_int_equal(s->p->n_waiting, 0);
    (void)scene_pod(s, "p1", "\"mig.das.com/1g.5gb\":1", 0, "a");
    assert_int_equal(s->p->n_waiting, 0);
    (void)scene_pod(s, "p3", "\"mig.das.com/1g.5gb\":1", 0, NULL);
    cache_pod_gone(s->p, "p3");
    cache_pod_gone(s->p, "never-seen");
    assert_int_equal(s->p->n_waiting, 0);
}

/* All that is ever told, in many orders: at the end the same is taken. */
static void test_any_order_gives_the_same_picture(void **state)
{
    struct scene *s = *state;
    uint64_t seed = 42;
    for (int round = 0; round < 200; round++) {
        scene_close(s);
        scene_open(s, SW_MIG_PACKED);
        unsigned done = 0;
        while (done != 0x3f) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            const unsigned step = (unsigned)(seed >> 33) % 6;
            SW_AUTO_JSON *acc = accelerator("a", "A100-40GB", 2);
            done |= 1u << step;
            switch (step) {
            case 0:
                (void)cache_observe_accelerator(s->p, "a", acc, NULL);
                break;
            case 1:
                cache_observe_node(s->p, "a", true, false);
                break;
            case 2:
                (void)scene_claim(s, "c1", "p1", "a", 0, "2g.10gb", 4, 2, "inUse");
                break;
            case 3:
                (void)scene_claim(s, "c2", "p2", "a", 1, "3g.20gb", 0, 4, NULL);
                break;
            case 4:
                (void)scene_pod(s, "p1", "\"mig.das.com/2g.10gb\":1", 0, "a");
                break;
            default:
                if (!(done & 0x20))
                    continue;
                cache_pod_gone(s->p, "p2");
                (void)cache_observe_accelerator(s->p, "a", NULL, NULL);
                (void)cache_observe_accelerator(s->p, "a", acc, NULL);
            }
        }
        const struct node *n = cache_find_node(s->p, "a");
        const size_t zero = strcmp(n->uuids[0], "GPU-a-0") == 0 ? 0 : 1;
        assert_int_equal(n->n_gpus, 2);
        assert_int_equal(n->gpus[zero].use.slices, 0x30);
        assert_int_equal(n->gpus[1 - zero].use.slices, 0x0f);
    }
}

static void reserve_small(struct scene *s, const char *uid, size_t gpu, unsigned start)
{
    struct pod *pod = scene_pod(s, uid, "\"mig.das.com/1g.5gb\":1", 0, NULL);
    assert_int_equal(cache_reserve(s->p, pod, "a", 0, NULL), 0);
    assert_int_equal(pod->claims->gpu, gpu);
    assert_int_equal(pod->claims->place.start, start);
}

/* A GPU that is being cut for a pod is left to it, while there is another one. */
static void test_first_fit_goes_by_the_claims_of_others(void **state)
{
    struct scene *s = *state;
    scene_close(s);
    scene_open(s, SW_MIG_FIRST_FIT);
    scene_node(s, "a", "A100-40GB", 2);
    (void)scene_claim(s, "c", "other", "a", 0, "1g.5gb", 0, 1, "inUse");
    reserve_small(s, "p1", 0, 1); /* no GPU is being cut: the first */
    reserve_small(s, "p2", 1, 0); /* the first is, for p1 */
    reserve_small(s, "p3", 0, 2); /* both are */
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_claims_take_and_give),
        T(test_claims_before_their_node),
        T(test_gpus_in_another_order),
        T(test_overlapping_claims_both_count),
        T(test_unreadable_claims_take_nothing),
        T(test_broken_accelerator_shuts_its_node_alone),
        T(test_gpus_of_two_models_in_one_node),
        T(test_unhealthy_gpus_take_nothing_new),
        T(test_a_change_of_the_epoch_counts_as_a_touch),
        T(test_reservation_holds_until_it_is_dropped),
        T(test_reservation_becomes_the_claim_that_is_seen),
        T(test_what_an_earlier_attempt_left_is_taken_over),
        T(test_claims_of_another_profile_do_not_serve),
        T(test_names_that_would_be_too_long),
        T(test_waiting_pods_are_counted),
        T(test_first_fit_goes_by_the_claims_of_others),
        T(test_any_order_gives_the_same_picture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
