/* Which pods leave for a more important one where kube-scheduler gives slices away itself. */
#include "scheduler_util.h"

#include "slicing/dra/dra.h"
#include "slicing/scheduler/devices/dra_victims.h"

struct scene_dra {
    struct dra_view *v;
    struct sw_mig_geometry *geometry;
};

/* A node of A100s, with the slices that its device plugin publishes. */
static void add_node(struct scene_dra *s, const char *name, size_t n_gpus, const char *more)
{
    struct sw_dra_gpu gpus[4] = { 0 };
    for (size_t i = 0; i < n_gpus; i++)
        gpus[i] = (struct sw_dra_gpu){ .uuid = "GPU-1", .numa_node = -1, .geometry = s->geometry };
    const struct sw_dra_node node = { .name = name, .uid = name, .gpus = gpus, .n_gpus = n_gpus };
    SW_AUTO_JSON *slices = sw_dra_slices(&node, 1);
    for (size_t i = 0; i < sw_json_len(slices); i++)
        dra_observe(s->v, DRA_SLICES, NULL, sw_obj_name(sw_json_at(slices, i)),
                    sw_json_at(slices, i));
    SW_AUTO_CHARS *text = sw_printf("{\"metadata\":{\"name\":\"%s\"},\"status\":{\"allocatable\":"
                                    "{\"cpu\":\"4\",\"memory\":\"8Gi\",\"pods\":\"110\"}}%s}",
                                    name, more);
    SW_AUTO_JSON *doc = json(text);
    dra_observe(s->v, DRA_NODES, NULL, name, doc);
}

static int setup(void **state)
{
    struct scene_dra *s = sw_zalloc(1, sizeof *s);
    s->v = dra_view_new();
    s->geometry = sw_mig_geometry_of(sw_mig_model_find("A100-40GB", 0));
    SW_AUTO_JSON *classes = sw_dra_classes(&s->geometry, 1);
    for (size_t i = 0; i < sw_json_len(classes); i++)
        dra_observe(s->v, DRA_CLASSES, NULL, sw_obj_name(sw_json_at(classes, i)),
                    sw_json_at(classes, i));
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    struct scene_dra *s = *state;
    dra_view_free(s->v);
    sw_mig_geometry_unref(s->geometry);
    free(s);
    return 0;
}

/* A pod on @node that holds @device of it. @more: of its metadata, with a comma in front */
static void add_pod(struct scene_dra *s, const char *uid, int priority, const char *node,
                    const char *device, const char *more)
{
    SW_AUTO_CHARS *pod = sw_printf("{\"metadata\":{\"name\":\"%s\",\"namespace\":\"ns\",\"uid\":"
                                   "\"%s\"%s},\"spec\":{\"priority\":%d,\"nodeName\":\"%s\","
                                   "\"containers\":[{\"name\":\"c\",\"resources\":{\"limits\":"
                                   "{\"cpu\":\"1\"}}}]}}",
                                   uid, uid, more, priority, node);
    SW_AUTO_CHARS *claim = sw_printf(
        "{\"metadata\":{\"name\":\"of-%s\",\"namespace\":\"ns\",\"uid\":\"claim-%s\"},\"status\":{"
        "\"reservedFor\":[{\"resource\":\"pods\",\"name\":\"%s\",\"uid\":\"%s\"}],\"allocation\":{"
        "\"devices\":{\"results\":[{\"request\":\"r\",\"driver\":\"" SW_DRA_DRIVER
        "\",\"pool\":\"slipway/%s\",\"device\":\"%s\"}]}}}}",
        uid, uid, uid, uid, node, device);
    SW_AUTO_JSON *pod_doc = json(pod), *claim_doc = json(claim);
    dra_observe_pod(s->v, pod_doc, 1000);
    dra_observe(s->v, DRA_CLAIMS, "ns", sw_obj_name(claim_doc), claim_doc);
}

static enum dra_outcome outcome_for(struct scene_dra *s, const char *spec, const char *node,
                                    enum dra_way way, char **text)
{
    static const char *const names[] = { "hopeless", "fits", "comes", "evict" };
    SW_AUTO_CHARS *pod = sw_printf("{\"metadata\":{\"name\":\"asker\",\"namespace\":\"ns\",\"uid\":"
                                   "\"asker\"},\"spec\":{\"priority\":10,%s}}",
                                   spec);
    SW_AUTO_JSON *doc = json(pod);
    struct dra_choice c;
    dra_observe_pod(s->v, doc, 1000);
    const enum dra_outcome outcome = dra_choose(s->v, dra_find_pod(s->v, "asker"), node, way, &c);
    struct printbuf *out = printbuf_new();
    sprintbuf(out, "%s %s:", names[outcome], c.node ? c.node : "-");
    for (size_t i = 0; i < c.victims.n; i++)
        sprintbuf(out, " %s", c.victims.list[i]->uid);
    for (size_t i = 0; i < sw_json_len(c.devices); i++)
        sprintbuf(out, " %s", sw_json_str(sw_json_at(c.devices, i), "", "device", NULL));
    for (size_t i = 0; i < sw_json_len(c.to); i++) {
        struct json_object *to = sw_json_at(c.to, i), *devices = sw_json_get(to, "devices");
        sprintbuf(out, " ->%s", sw_json_str(to, "", "node", NULL));
        for (size_t k = 0; k < sw_json_len(devices); k++)
            sprintbuf(out, ":%s", sw_json_str(sw_json_at(devices, k), "", "device", NULL));
    }
    *text = sw_strdup(out->buf);
    printbuf_free(out);
    dra_choice_done(&c);
    return outcome;
}

#define ASKS(resource)                                                                             \
    "\"containers\":[{\"name\":\"c\",\"resources\":{\"limits\":{\"cpu\":\"1\",\"" resource         \
    "\":1}}}]"

static void expect(struct scene_dra *s, const char *spec, const char *expected)
{
    SW_AUTO_CHARS *text = NULL;
    (void)outcome_for(s, spec, NULL, DRA_PREEMPT, &text);
    assert_string_equal(text, expected);
}

static void test_pod_that_fits_needs_nobody_to_leave(void **state)
{
    struct scene_dra *s = *state;
    add_node(s, "a", 1, "");
    add_pod(s, "low", 1, "a", "gpu-0-mig-3g20gb-4", "");
    expect(s, ASKS("nvidia.com/mig-3g.20gb"), "fits a: gpu-0-mig-3g20gb-0");
}

static void test_small_slice_leaves_for_a_large_one(void **state)
{
    struct scene_dra *s = *state;
    add_node(s, "a", 1, "");
    add_pod(s, "low", 1, "a", "gpu-0-mig-1g5gb-6", "");
    expect(s, ASKS("nvidia.com/mig-7g.40gb"), "evict a: low gpu-0-mig-7g40gb-0");
    expect(s, ASKS("mig.das.com/7g.40gb"), "evict a: low gpu-0-mig-7g40gb-0");
}

static void test_equal_pods_stay(void **state)
{
    struct scene_dra *s = *state;
    add_node(s, "a", 1, "");
    add_pod(s, "same", 10, "a", "gpu-0-mig-1g5gb-6", "");
    expect(s, ASKS("nvidia.com/mig-7g.40gb"), "hopeless -:");
}

static void test_one_large_slice_leaves_rather_than_seven_small_ones(void **state)
{
    struct scene_dra *s = *state;
    add_node(s, "a", 2, "");
    add_pod(s, "one", 1, "a", "gpu-1-mig-7g40gb-0",
            ",\"creationTimestamp\":\"2026-01-01T00:00:00Z\"");
    for (int i = 0; i < 3; i++) {
        SW_AUTO_CHARS *uid = sw_printf("s%d", i), *device = sw_printf("gpu-0-mig-1g5gb-%d", i);
        add_pod(s, uid, 1, "a", device, ",\"creationTimestamp\":\"2026-01-02T00:00:00Z\"");
    }
    expect(s,
           "\"containers\":[{\"name\":\"c\",\"resources\":{\"limits\":{\"nvidia.com/mig-7g.40gb\""
           ":1}}}]",
           "evict a: one gpu-1-mig-7g40gb-0");
}

static void test_least_important_leave_and_those_whom_no_budget_protects(void **state)
{
    struct scene_dra *s = *state;
    add_node(s, "a", 1, "");
    add_pod(s, "mid", 2, "a", "gpu-0-mig-3g20gb-4", "");
    add_pod(s, "low", 1, "a", "gpu-0-mig-3g20gb-0", ",\"labels\":{\"app\":\"x\"}");
    expect(s, ASKS("nvidia.com/mig-3g.20gb"), "evict a: low gpu-0-mig-3g20gb-0");
    SW_AUTO_JSON *budget = json("{\"spec\":{\"selector\":{\"matchLabels\":{\"app\":\"x\"}}},"
                                "\"status\":{\"disruptionsAllowed\":0}}");
    cache_observe_budget(s->v->cache, "ns", "b", budget);
    expect(s, ASKS("nvidia.com/mig-3g.20gb"), "evict a: mid gpu-0-mig-3g20gb-4");
    expect(s, ASKS("nvidia.com/mig-7g.40gb"), "hopeless -:");
}

static void test_node_of_the_least_harm_is_chosen(void **state)
{
    struct scene_dra *s = *state;
    add_node(s, "a", 1, "");
    add_node(s, "b", 1, "");
    add_pod(s, "mid", 2, "a", "gpu-0-mig-7g40gb-0", "");
    add_pod(s, "low", 1, "b", "gpu-0-mig-7g40gb-0", "");
    expect(s, ASKS("nvidia.com/mig-1g.5gb"), "evict b: low gpu-0-mig-1g5gb-6");
    SW_AUTO_CHARS *text = NULL;
    (void)outcome_for(s, ASKS("nvidia.com/mig-1g.5gb"), "a", DRA_PREEMPT, &text);
    assert_string_equal(text, "evict a: mid gpu-0-mig-1g5gb-6");
}

static void test_node_where_the_pod_cannot_be_is_left_alone(void **state)
{
    struct scene_dra *s = *state;
    add_node(s, "a", 1, ",\"spec\":{\"taints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\"}]}");
    add_pod(s, "low", 1, "a", "gpu-0-mig-7g40gb-0", "");
    expect(s, ASKS("nvidia.com/mig-1g.5gb"), "hopeless -:");
    expect(s, "\"tolerations\":[{\"operator\":\"Exists\"}]," ASKS("nvidia.com/mig-1g.5gb"),
           "evict a: low gpu-0-mig-1g5gb-6");
    expect(s,
           "\"tolerations\":[{\"operator\":\"Exists\"}],\"nodeSelector\":{\"x\":\"y\"}," ASKS(
               "nvidia.com/mig-1g.5gb"),
           "hopeless -:");
    expect(s,
           "\"tolerations\":[{\"operator\":\"Exists\"}],\"containers\":[{\"name\":\"c\","
           "\"resources\":{\"limits\":{\"cpu\":\"5\",\"nvidia.com/mig-1g.5gb\":1}}}]",
           "hopeless -:");
}

static void test_nobody_is_chosen_while_a_pod_leaves_anyway(void **state)
{
    struct scene_dra *s = *state;
    add_node(s, "a", 1, "");
    add_pod(s, "low", 1, "a", "gpu-0-mig-3g20gb-0", "");
    add_pod(s, "leaving", 99, "a", "gpu-0-mig-3g20gb-4",
            ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"");
    expect(s, ASKS("nvidia.com/mig-3g.20gb"), "comes a: gpu-0-mig-3g20gb-4");
}

static void test_room_kept_for_a_more_important_pod_stays_its_own(void **state)
{
    struct scene_dra *s = *state;
    add_node(s, "a", 1, "");
    for (int priority = 9; priority <= 11; priority += 2) {
        SW_AUTO_CHARS *pod = sw_printf("{\"metadata\":{\"name\":\"p\",\"namespace\":\"ns\",\"uid\":"
                                       "\"other\"},\"spec\":{\"priority\":%d}}",
                                       priority);
        SW_AUTO_JSON *other = json(pod);
        SW_AUTO_JSON *claim = json(
            "{\"metadata\":{\"name\":\"slipway-room-other\",\"namespace\":\"ns\",\"labels\":{"
            "\"slipway.dev/room-for\":\"other\"}},\"status\":{\"allocation\":{\"devices\":{"
            "\"results\":[{\"request\":\"room\",\"driver\":\"mig.slipway.dev\",\"pool\":"
            "\"slipway/a\",\"device\":\"gpu-0-mig-7g40gb-0\"}]}}}}");
        dra_observe_pod(s->v, other, 1000);
        dra_observe(s->v, DRA_CLAIMS, "ns", "slipway-room-other", claim);
        expect(s, ASKS("nvidia.com/mig-1g.5gb"),
               priority < 10 ? "fits a: gpu-0-mig-1g5gb-6" : "hopeless -:");
    }
}

static void test_claim_goes_by_its_selectors_and_alternatives(void **state)
{
    struct scene_dra *s = *state;
    SW_AUTO_JSON *claim = json(
        "{\"metadata\":{\"name\":\"own\",\"namespace\":\"ns\",\"uid\":\"own\"},\"spec\":{"
        "\"devices\":{\"requests\":[{\"name\":\"r\",\"firstAvailable\":[{\"name\":\"one\","
        "\"deviceClassName\":\"mig.slipway.dev\",\"selectors\":[{\"cel\":{\"expression\":"
        "\"device.attributes['mig.slipway.dev'].profile == '9g.1gb'\"}}]},{\"name\":\"two\","
        "\"deviceClassName\":\"mig.slipway.dev\",\"selectors\":[{\"cel\":{\"expression\":"
        "\"device.attributes['mig.slipway.dev'].profile == '4g.20gb'\"}}]}]}]}}}");
    add_node(s, "a", 1, "");
    add_pod(s, "right", 1, "a", "gpu-0-mig-3g20gb-4", "");
    add_pod(s, "left", 1, "a", "gpu-0-mig-1g5gb-0", "");
    dra_observe(s->v, DRA_CLAIMS, "ns", "own", claim);
    expect(s, "\"resourceClaims\":[{\"name\":\"c\",\"resourceClaimName\":\"own\"}]",
           "evict a: left gpu-0-mig-4g20gb-0");
}

/* ---- defragmentation ---------------------------------------------------------------------------
 */

#define OWNED                                                                                      \
    ",\"ownerReferences\":[{\"kind\":\"ReplicaSet\",\"name\":\"r\",\"uid\":\"r\",\"controller\":"  \
    "true}]"
#define MAY_MOVE ",\"annotations\":{\"slipway.dev/may-move\":\"true\"}"

/* A pod of the asker's priority that asks for a small slice by its limits, and has @device. */
static void add_small(struct scene_dra *s, const char *uid, const char *device, const char *more)
{
    SW_AUTO_CHARS *pod = sw_printf("{\"metadata\":{\"name\":\"%s\",\"namespace\":\"ns\",\"uid\":"
                                   "\"%s\"%s},\"spec\":{\"priority\":10,\"nodeName\":\"a\"," ASKS(
                                       "nvidia.com/mig-1g.5gb") "}}",
                                   uid, uid, more);
    SW_AUTO_JSON *doc = json(pod);
    add_pod(s, uid, 10, "a", device, "");
    dra_observe_pod(s->v, doc, 1000);
}

static void expect_move(struct scene_dra *s, const char *spec, enum dra_way way,
                        const char *expected)
{
    SW_AUTO_CHARS *text = NULL;
    (void)outcome_for(s, spec, NULL, way, &text);
    assert_string_equal(text, expected);
}

/* One slice in each half of the GPU: neither has room for a large one. */
static void fragment(struct scene_dra *s, const char *more)
{
    add_node(s, "a", 1, "");
    add_small(s, "left", "gpu-0-mig-1g5gb-0", OWNED);
    add_small(s, "right", "gpu-0-mig-1g5gb-5", more);
}

static void test_pod_that_opts_in_moves_for_an_equal_one(void **state)
{
    struct scene_dra *s = *state;
    fragment(s, OWNED MAY_MOVE);
    expect_move(s, ASKS("nvidia.com/mig-3g.20gb"), DRA_MOVE,
                "evict a: right gpu-0-mig-3g20gb-4 ->a:gpu-0-mig-1g5gb-3");
    expect_move(s, ASKS("nvidia.com/mig-3g.20gb"), DRA_PREEMPT, "hopeless -:");
}

static void test_pod_that_does_not_opt_in_is_not_moved(void **state)
{
    struct scene_dra *s = *state;
    s->v->every_pod = true;
    fragment(s, OWNED);
    expect_move(s, ASKS("nvidia.com/mig-3g.20gb"), DRA_MOVE, "hopeless -:");
    expect_move(s, ASKS("nvidia.com/mig-3g.20gb"), DRA_MOVE_ANY,
                "evict a: right gpu-0-mig-3g20gb-4 ->a:gpu-0-mig-1g5gb-3");
}

static void test_pod_that_nobody_makes_again_is_not_moved(void **state)
{
    struct scene_dra *s = *state;
    fragment(s, MAY_MOVE);
    expect_move(s, ASKS("nvidia.com/mig-3g.20gb"), DRA_MOVE, "hopeless -:");
}

static void test_pod_without_another_place_is_not_moved(void **state)
{
    struct scene_dra *s = *state;
    fragment(s, OWNED MAY_MOVE);
    add_pod(s, "more", 10, "a", "gpu-0-mig-2g10gb-2", "");
    add_pod(s, "most", 10, "a", "gpu-0-mig-1g5gb-1", "");
    expect_move(s, ASKS("nvidia.com/mig-3g.20gb"), DRA_MOVE, "hopeless -:");
}

static void test_pod_moves_to_another_node(void **state)
{
    struct scene_dra *s = *state;
    fragment(s, OWNED MAY_MOVE);
    add_pod(s, "more", 10, "a", "gpu-0-mig-2g10gb-2", "");
    add_pod(s, "most", 10, "a", "gpu-0-mig-1g5gb-1", "");
    add_node(s, "b", 1, "");
    expect_move(
        s,
        "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":"
        "{\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":"
        "\"In\",\"values\":[\"a\"]}]}]}}}," ASKS("nvidia.com/mig-3g.20gb"),
        DRA_MOVE, "evict a: right gpu-0-mig-3g20gb-4 ->b:gpu-0-mig-1g5gb-6");
}

static void test_budget_keeps_a_pod_from_moving(void **state)
{
    struct scene_dra *s = *state;
    SW_AUTO_JSON *budget = json(
        "{\"metadata\":{\"name\":\"b\",\"namespace\":\"ns\"},\"spec\":{"
        "\"selector\":{\"matchLabels\":{\"a\":\"b\"}}},\"status\":{\"disruptionsAllowed\":0}}");
    fragment(s, ",\"labels\":{\"a\":\"b\"}" OWNED MAY_MOVE);
    cache_observe_budget(s->v->cache, "ns", "b", budget);
    expect_move(s, ASKS("nvidia.com/mig-3g.20gb"), DRA_MOVE, "hopeless -:");
}

static void test_pod_with_a_claim_of_its_own_gets_it_allocated_again(void **state)
{
    struct scene_dra *s = *state;
    fragment(s, OWNED);
    SW_AUTO_JSON *pod = json(
        "{\"metadata\":{\"name\":\"right\",\"namespace\":\"ns\",\"uid\":\"right\"" OWNED MAY_MOVE
        "},\"spec\":{\"priority\":10,\"nodeName\":\"a\",\"containers\":[{\"name\":\"c\"}],"
        "\"resourceClaims\":[{\"name\":\"gpu\",\"resourceClaimTemplateName\":\"t\"}]},\"status\":{"
        "\"resourceClaimStatuses\":[{\"name\":\"gpu\",\"resourceClaimName\":\"of-right\"}]}}");
    SW_AUTO_JSON *claim = json(
        "{\"metadata\":{\"name\":\"of-right\",\"namespace\":\"ns\",\"uid\":\"of-right\"},\"spec\":{"
        "\"devices\":{\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":"
        "\"mig-1g.5gb.slipway.dev\"}}]}},\"status\":{\"reservedFor\":[{\"resource\":\"pods\","
        "\"name\":\"right\",\"uid\":\"right\"}],\"allocation\":{\"devices\":{\"results\":[{"
        "\"request\":\"r\",\"driver\":\"mig.slipway.dev\",\"pool\":\"slipway/a\",\"device\":"
        "\"gpu-0-mig-1g5gb-5\"}]}}}}");
    dra_observe_pod(s->v, pod, 1000);
    dra_observe(s->v, DRA_CLAIMS, "ns", "of-right", claim);
    expect_move(s, ASKS("nvidia.com/mig-3g.20gb"), DRA_MOVE,
                "evict a: right gpu-0-mig-3g20gb-4 ->a:gpu-0-mig-1g5gb-3");
}

static void test_several_pods_move_for_one(void **state)
{
    struct scene_dra *s = *state;
    fragment(s, OWNED MAY_MOVE);
    add_small(s, "other", "gpu-0-mig-1g5gb-4", OWNED MAY_MOVE);
    add_small(s, "second", "gpu-0-mig-1g5gb-1", OWNED);
    expect_move(
        s,
        "\"containers\":[{\"name\":\"c\",\"resources\":{\"limits\":{\"nvidia.com/"
        "mig-3g.20gb\":1}}}]",
        DRA_MOVE,
        "evict a: other right gpu-0-mig-3g20gb-4 ->a:gpu-0-mig-1g5gb-3 ->a:gpu-0-mig-1g5gb-2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        T(test_pod_that_fits_needs_nobody_to_leave),
        T(test_small_slice_leaves_for_a_large_one),
        T(test_equal_pods_stay),
        T(test_one_large_slice_leaves_rather_than_seven_small_ones),
        T(test_least_important_leave_and_those_whom_no_budget_protects),
        T(test_node_of_the_least_harm_is_chosen),
        T(test_node_where_the_pod_cannot_be_is_left_alone),
        T(test_nobody_is_chosen_while_a_pod_leaves_anyway),
        T(test_room_kept_for_a_more_important_pod_stays_its_own),
        T(test_claim_goes_by_its_selectors_and_alternatives),
        T(test_pod_that_opts_in_moves_for_an_equal_one),
        T(test_pod_that_does_not_opt_in_is_not_moved),
        T(test_pod_that_nobody_makes_again_is_not_moved),
        T(test_pod_without_another_place_is_not_moved),
        T(test_pod_moves_to_another_node),
        T(test_budget_keeps_a_pod_from_moving),
        T(test_pod_with_a_claim_of_its_own_gets_it_allocated_again),
        T(test_several_pods_move_for_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
