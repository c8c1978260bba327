/* Who has to leave for a more important pod, and who keeps the room meanwhile. */
#include "scheduler_util.h"

#include "slicing/scheduler/victims.h"

static int setup(void **state)
{
    struct scene *s = sw_zalloc(1, sizeof *s);
    scene_open(s, SW_MIG_PACKED);
    scene_node(s, "a", "A100-40GB", 1);
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    scene_close(*state);
    free(*state);
    return 0;
}

/* A pod on node a with one slice; @more: of its metadata, with a comma in front */
static void add(struct scene *s, const char *uid, int priority, const char *profile, int start,
                int size, const char *more)
{
    SW_AUTO_CHARS *text = sw_printf("{\"metadata\":{\"name\":\"pod-%s\",\"namespace\":\"ns\","
                                    "\"uid\":\"%s\"%s},\"spec\":{\"priority\":%d,\"nodeName\":"
                                    "\"a\"}}",
                                    uid, uid, more, priority);
    SW_AUTO_JSON *doc = json(text);
    (void)cache_observe_pod(s->p, doc, true, 1000);
    assert_int_equal(scene_claim(s, uid, uid, "a", 0, profile, start, size, "inUse"), 0);
}

static void budget(struct scene *s, const char *ns, const char *spec, const char *status)
{
    SW_AUTO_CHARS *text = sw_printf("{\"spec\":{\"selector\":%s},\"status\":%s}", spec, status);
    SW_AUTO_JSON *doc = json(text);
    cache_observe_budget(s->p, ns, "b", doc);
}

/* "mid,low 1": who, and how many against a budget; "": nobody */
static char *victims_of(struct scene *s, const struct pod *pod)
{
    struct victims v = { 0 };
    if (!victims_find(s->p, pod, cache_find_node(s->p, "a"), NULL, 0, &v))
        return sw_strdup("");
    struct printbuf *out = printbuf_new();
    for (size_t i = 0; i < v.n; i++)
        sprintbuf(out, "%s%s", i ? "," : "", v.list[i]->uid);
    sprintbuf(out, " %d", (int)v.n_violations);
    char *text = sw_strdup(out->buf);
    printbuf_free(out);
    victims_done(&v);
    return text;
}

static void expect_victims(struct scene *s, const char *limits, const char *expected)
{
    cache_pod_gone(s->p, "asker");
    const struct pod *pod = scene_pod(s, "asker", limits, 10, NULL);
    SW_AUTO_CHARS *text = victims_of(s, pod);
    assert_string_equal(text, expected);
}

#define HALF "\"mig.das.com/3g.20gb\":1"
#define WHOLE "\"mig.das.com/7g.40gb\":1"
#define APP ",\"labels\":{\"app\":\"x\"}"
#define LEAVING ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\""
#define SELECTS_APP "{\"matchLabels\":{\"app\":\"x\"}}"

static void test_whom_a_budget_protects_goes_last(void **state)
{
    struct scene *s = *state;
    add(s, "low", 1, "3g.20gb", 0, 4, APP);
    add(s, "mid", 2, "3g.20gb", 4, 4, "");
    expect_victims(s, HALF, "low 0");
    budget(s, "ns", SELECTS_APP, "{\"disruptionsAllowed\":0}");
    expect_victims(s, HALF, "mid 0");
    expect_victims(s, WHOLE, "mid,low 1");
    cache_observe_budget(s->p, "ns", "b", NULL);
    expect_victims(s, HALF, "low 0");
}

static void test_budget_is_spent_pod_by_pod(void **state)
{
    struct scene *s = *state;
    add(s, "low", 1, "3g.20gb", 0, 4, APP);
    add(s, "mid", 2, "3g.20gb", 4, 4, APP);
    budget(s, "ns", SELECTS_APP, "{\"disruptionsAllowed\":1}");
    expect_victims(s, WHOLE, "mid,low 1");
    /* the more important one has the one disruption: the other is against the budget */
    expect_victims(s, HALF, "mid 0");
    budget(s, "ns", SELECTS_APP, "{\"disruptionsAllowed\":2}");
    expect_victims(s, WHOLE, "mid,low 0");
}

static void test_budgets_of_others_do_not_count(void **state)
{
    struct scene *s = *state;
    add(s, "low", 1, "7g.40gb", 0, 8, APP);
    budget(s, "elsewhere", SELECTS_APP, "{\"disruptionsAllowed\":0}");
    expect_victims(s, WHOLE, "low 0");
    budget(s, "ns", "{\"matchLabels\":{\"app\":\"y\"}}", "{\"disruptionsAllowed\":0}");
    expect_victims(s, WHOLE, "low 0");
    budget(s, "ns", "{}", "{\"disruptionsAllowed\":0}");
    expect_victims(s, WHOLE, "low 0");
    budget(s, "ns", SELECTS_APP,
           "{\"disruptionsAllowed\":0,\"disruptedPods\":{\"pod-low\":\"t\"}}");
    expect_victims(s, WHOLE, "low 0");
    budget(s, "ns", SELECTS_APP, "{\"disruptionsAllowed\":0}");
    expect_victims(s, WHOLE, "low 1");
}

static void test_preempt_counts_violations_of_those_it_adds(void **state)
{
    struct scene *s = *state;
    add(s, "low", 1, "3g.20gb", 0, 4, APP);
    add(s, "mid", 2, "3g.20gb", 4, 4, APP);
    budget(s, "ns", SELECTS_APP, "{\"disruptionsAllowed\":1}");
    SW_AUTO_CHARS *pod = pod_text("p1", WHOLE, 10, NULL);
    SW_AUTO_CHARS *body = sw_printf("{\"Pod\":%s,\"NodeNameToMetaVictims\":{\"a\":{\"Pods\":[{"
                                    "\"UID\":\"low\"}],\"NumPDBViolations\":0}}}",
                                    pod);
    SW_AUTO_JSON *doc = scene_ask(s, extender_preempt, body);
    struct json_object *a = sw_json_find(doc, "NodeNameToMetaVictims", "a", NULL);
    assert_int_equal(sw_json_len(sw_json_get(a, "Pods")), 2);
    assert_int_equal(sw_json_int(a, -1, "NumPDBViolations", NULL), 1);
}

static void test_without_preemption_nobody_is_added(void **state)
{
    struct scene *s = *state;
    add(s, "low", 1, "7g.40gb", 0, 8, "");
    extender_free(s->x);
    s->x = extender_new(s->p, false, 0);
    SW_AUTO_CHARS *pod = pod_text("p1", WHOLE, 10, NULL);
    SW_AUTO_CHARS *body = sw_printf("{\"Pod\":%s,\"NodeNameToMetaVictims\":{\"a\":{\"Pods\":[{"
                                    "\"UID\":\"cpu-hog\"}]}}}",
                                    pod);
    SW_AUTO_JSON *doc = scene_ask(s, extender_preempt, body);
    assert_int_equal(sw_json_len(sw_json_get(doc, "NodeNameToMetaVictims")), 0);
    SW_AUTO_JSON *answer = scene_filter(s, pod, "\"a\"");
    assert_int_equal(s->outcome.n_likely, 0);
}

static void test_who_leaves_already_is_no_victim(void **state)
{
    struct scene *s = *state;
    add(s, "low", 1, "3g.20gb", 0, 4, "");
    add(s, "gone", 90, "3g.20gb", 4, 4, LEAVING);
    expect_victims(s, HALF, "");
    expect_victims(s, WHOLE, "low 0");
}

/* So nobody has to be sent away from other nodes. */
static void test_room_that_is_coming_is_known(void **state)
{
    struct scene *s = *state;
    const struct node *a = cache_find_node(s->p, "a");
    const struct pod *half = scene_pod(s, "half", HALF, 10, NULL),
                     *whole = scene_pod(s, "whole", WHOLE, 10, NULL);
    assert_int_equal(victims_none(s->p, whole, a), 1); /* there is room now */
    add(s, "low", 1, "3g.20gb", 0, 4, "");
    add(s, "gone", 90, "3g.20gb", 4, 4, LEAVING);
    assert_int_equal(victims_none(s->p, half, a), 1);
    assert_int_equal(victims_none(s->p, whole, a), 0);
    cache_pod_gone(s->p, "low"); /* its claim is there until its slice is unmade */
    assert_int_equal(victims_none(s->p, whole, a), 1);
    expect_victims(s, WHOLE, "");
    cache_observe_node(s->p, "a", false, false);
    assert_int_equal(victims_none(s->p, whole, a), 0);
}

static void test_filter_tells_where_somebody_leaves_anyway(void **state)
{
    struct scene *s = *state;
    scene_node(s, "b", "A100-40GB", 1);
    add(s, "gone", 90, "7g.40gb", 0, 8, LEAVING);
    (void)scene_pod(s, "low", "", 20, "b");
    (void)scene_claim(s, "c2", "low", "b", 0, "7g.40gb", 0, 8, "inUse");
    SW_AUTO_CHARS *pod = pod_text("p1", WHOLE, 10, NULL), *high = pod_text("p2", WHOLE, 30, NULL);
    SW_AUTO_JSON *nobody_less = scene_filter(s, pod, "\"a\",\"b\"");
    assert_int_equal(s->outcome.n_likely, 0);
    SW_AUTO_JSON *both = scene_filter(s, high, "\"a\",\"b\"");
    assert_int_equal(s->outcome.n_likely, 2);
}

/* kube-scheduler asks for another node while room is made on this one. */
static void test_preempt_knows_where_room_is_made_already(void **state)
{
    struct scene *s = *state;
    scene_node(s, "b", "A100-40GB", 1);
    add(s, "low", 1, "7g.40gb", 0, 8, LEAVING);
    SW_AUTO_CHARS *text = pod_text("p1", WHOLE, 10, NULL);
    SW_AUTO_CHARS *body = sw_printf("{\"Pod\":%s,\"NodeNameToMetaVictims\":{\"a\":{\"Pods\":[{"
                                    "\"UID\":\"hog-a\"}]},\"b\":{\"Pods\":[{\"UID\":\"hog-b\"}]"
                                    "}}}",
                                    text);
    struct pod *pod = scene_pod(s, "p1", WHOLE, 10, NULL);
    SW_AUTO_JSON *before = scene_ask(s, extender_preempt, body);
    assert_int_equal(sw_json_len(sw_json_get(before, "NodeNameToMetaVictims")), 2);
    cache_nominate(s->p, pod, cache_find_node(s->p, "a"), 1, 1000);
    SW_AUTO_JSON *doc = scene_ask(s, extender_preempt, body);
    struct json_object *nodes = sw_json_get(doc, "NodeNameToMetaVictims");
    assert_int_equal(sw_json_len(nodes), 1);
    assert_non_null(sw_json_get(nodes, "a"));
    /* all have left, and something else than slices is missing there: still on no other node */
    cache_pod_gone(s->p, "low");
    assert_int_equal(cache_observe_claim(s->p, "low", "uid-low", NULL, 1000, NULL), 0);
    SW_AUTO_JSON *after = scene_ask(s, extender_preempt, body);
    assert_int_equal(sw_json_len(sw_json_get(after, "NodeNameToMetaVictims")), 1);
    assert_non_null(pod->nominated);
    /* no eviction there would give it */
    SW_AUTO_CHARS *b_alone = sw_printf("{\"Pod\":%s,\"NodeNameToMetaVictims\":{\"b\":{\"Pods\":[{"
                                       "\"UID\":\"hog-b\"}]}}}",
                                       text);
    SW_AUTO_JSON *elsewhere = scene_ask(s, extender_preempt, b_alone);
    assert_int_equal(sw_json_len(sw_json_get(elsewhere, "NodeNameToMetaVictims")), 1);
    assert_null(pod->nominated);
}

/* kube-scheduler has nominated a node and evicts there; or its kubelet is not heard any more. */
static void test_preempt_stays_on_the_nominated_node_while_it_lives(void **state)
{
    struct scene *s = *state;
    scene_node(s, "b", "A100-40GB", 1);
    add(s, "low", 1, "7g.40gb", 0, 8, "");
    SW_AUTO_CHARS *text = pod_text("p1", WHOLE, 10, NULL);
    SW_AUTO_CHARS *body = sw_printf("{\"Pod\":%s,\"NodeNameToMetaVictims\":{\"a\":{\"Pods\":[{"
                                    "\"UID\":\"low\"}]},\"b\":{\"Pods\":[{\"UID\":\"hog-b\"}]"
                                    "}}}",
                                    text);
    struct pod *pod = scene_pod(s, "p1", WHOLE, 10, NULL);
    cache_observe_nomination(pod, "a", 1000);
    SW_AUTO_JSON *one = scene_ask(s, extender_preempt, body);
    assert_int_equal(sw_json_len(sw_json_get(one, "NodeNameToMetaVictims")), 1);
    assert_non_null(sw_json_find(one, "NodeNameToMetaVictims", "a", NULL));
    cache_observe_lost(s->p, "a", true);
    SW_AUTO_JSON *other = scene_ask(s, extender_preempt, body);
    assert_int_equal(sw_json_len(sw_json_get(other, "NodeNameToMetaVictims")), 1);
    assert_non_null(sw_json_find(other, "NodeNameToMetaVictims", "b", NULL));
}

static void test_equally_important_ones_stay(void **state)
{
    struct scene *s = *state;
    add(s, "equal", 10, "7g.40gb", 0, 8, "");
    expect_victims(s, WHOLE, "");
}

static void test_better_is_what_harms_less(void **state)
{
    (void)state;
    struct pod p1 = { .priority = 1 }, p2 = { .priority = 2 }, late = { .priority = 1 };
    late.created_ms = 5;
    const struct pod *one[] = { &p1 }, *two[] = { &p2 }, *both[] = { &p1, &p1 },
                     *young[] = { &late };
    const struct victims least = { one, 1, 0, 0 }, more = { two, 1, 0, 0 },
                         many = { both, 2, 0, 0 };
    const struct victims bad = { one, 1, 1, 0 }, later = { young, 1, 0, 0 };
    assert_true(victims_better(&least, &more) && !victims_better(&more, &least));
    assert_true(victims_better(&least, &many) && !victims_better(&many, &least));
    assert_true(victims_better(&more, &bad) && !victims_better(&bad, &more));
    assert_true(victims_better(&later, &least) && !victims_better(&least, &later));
}

static void test_filter_tells_where_others_could_leave(void **state)
{
    struct scene *s = *state;
    add(s, "low", 1, "7g.40gb", 0, 8, "");
    SW_AUTO_CHARS *pod = pod_text("p1", WHOLE, 10, NULL), *low = pod_text("p2", WHOLE, 1, NULL);
    SW_AUTO_JSON *doc = scene_filter(s, pod, "\"unknown\",\"a\"");
    assert_int_equal(s->outcome.n_likely, 1);
    assert_string_equal(s->outcome.likely[0]->name, "a");
    SW_AUTO_JSON *equal = scene_filter(s, low, "\"a\"");
    assert_int_equal(s->outcome.n_likely, 0);
    SW_AUTO_JSON *meek = scene_filter(
        s,
        "{\"metadata\":{\"name\":\"m\",\"uid\":\"m\"},\"spec\":{\"priority\":10,"
        "\"preemptionPolicy\":\"Never\",\"containers\":[{\"name\":\"c\",\"resources\":{\"limits\":"
        "{" WHOLE "}}}]}}",
        "\"a\"");
    assert_int_equal(s->outcome.n_likely, 0);
}

static size_t n_fit(struct scene *s, const char *uid, int priority)
{
    SW_AUTO_CHARS *pod = pod_text(uid, "\"mig.das.com/1g.5gb\":1", priority, NULL);
    SW_AUTO_JSON *doc = scene_filter(s, pod, "\"a\"");
    return s->outcome.n_fit;
}

static void test_room_that_is_made_is_kept(void **state)
{
    struct scene *s = *state;
    struct pod *pod = scene_pod(s, "asker", WHOLE, 10, NULL);
    SW_ERR(err);
    cache_nominate(s->p, pod, cache_find_node(s->p, "a"), 1, 1000);
    assert_int_equal(n_fit(s, "less", 9), 0);
    assert_int_equal(n_fit(s, "equal", 10), 0);
    assert_int_equal(n_fit(s, "more", 11), 1);
    assert_int_equal(cache_reserve(s->p, cache_find_pod(s->p, "less"), "a", 0, &err), SW_PENDING);
    SW_AUTO_CHARS *own = pod_text("asker", WHOLE, 10, NULL);
    SW_AUTO_JSON *doc = scene_filter(s, own, "\"a\"");
    assert_int_equal(s->outcome.n_fit, 1);
    s->p->any_grown = false;
    cache_pod_bound(s->p, pod, "a");
    assert_true(s->p->any_grown); /* others may have waited for it */
    assert_null(cache_find_node(s->p, "a")->nominee);
    assert_int_equal(n_fit(s, "less", 9), 1);
}

static void test_room_is_kept_for_nobody_who_is_gone(void **state)
{
    struct scene *s = *state;
    struct pod *pod = scene_pod(s, "asker", WHOLE, 10, NULL);
    cache_nominate(s->p, pod, cache_find_node(s->p, "a"), 1, 1000);
    cache_pod_gone(s->p, "asker");
    assert_null(cache_find_node(s->p, "a")->nominee);
    pod = scene_pod(s, "asker", WHOLE, 10, NULL);
    cache_nominate(s->p, pod, cache_find_node(s->p, "a"), 1, 1000);
    SW_AUTO_JSON *acc = accelerator("a", "A100-40GB", 2); /* its GPUs have other numbers, perhaps */
    assert_int_equal(cache_observe_accelerator(s->p, "a", acc, NULL), 0);
    assert_null(pod->nominated);
    cache_nominate(s->p, pod, cache_find_node(s->p, "a"), 1, 1000);
    (void)cache_observe_accelerator(s->p, "a", NULL, NULL);
    cache_observe_node(s->p, "a", false, false);
    assert_null(pod->nominated);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_whom_a_budget_protects_goes_last),
        T(test_budget_is_spent_pod_by_pod),
        T(test_budgets_of_others_do_not_count),
        T(test_preempt_counts_violations_of_those_it_adds),
        T(test_without_preemption_nobody_is_added),
        T(test_who_leaves_already_is_no_victim),
        T(test_room_that_is_coming_is_known),
        T(test_filter_tells_where_somebody_leaves_anyway),
        T(test_preempt_knows_where_room_is_made_already),
        T(test_preempt_stays_on_the_nominated_node_while_it_lives),
        T(test_equally_important_ones_stay),
        T(test_better_is_what_harms_less),
        T(test_filter_tells_where_others_could_leave),
        T(test_room_that_is_made_is_kept),
        T(test_room_is_kept_for_nobody_who_is_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
