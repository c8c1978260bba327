/* A more important pod that finds no room: less important ones are evicted, within their budgets,
 * and the room is kept for it. */
#include "scheduler_world.h"

/* Pods get their priority from a class. */
static char *add_important(struct sched_world *w, const char *name, const char *limits,
                           int priority, const char *policy)
{
    SW_AUTO_CHARS *class = sw_printf("{\"apiVersion\":\"scheduling.k8s.io/"
                                     "v1\",\"kind\":\"PriorityClass\",\"metadata\":{\"name\":"
                                     "\"of-%s\"},\"value\":%d,\"preemptionPolicy\":\"%s\"}",
                                     name, priority, policy);
    SW_AUTO_CHARS *text = sw_printf(
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\",\"namespace\":"
        "\"default\",\"labels\":{\"app\":\"x\"}},\"spec\":{\"schedulerName\":\"das-scheduler\","
        "\"priorityClassName\":\"of-%s\",\"containers\":[{\"name\":\"main\",\"image\":\"i\","
        "\"resources\":{\"limits\":{%s}}}]}}",
        name, name, limits);
    if (world_create(&w->w, class) < 0 || world_create(&w->w, text) < 0)
        fail_msg("pod %s: %d", name, w->w.answer_code);
    return sw_strdup(sw_obj_uid(w->w.answer));
}

/* Asked about as kube-scheduler does, who knows the whole pod. @nodes: "\"a\",\"b\"" */
static const char *filter(struct sched_world *w, const char *name, const char *nodes)
{
    SW_AUTO_CHARS *pod = sw_strdup(
        json_object_to_json_string(world_get(&w->w, "v1", "Pod", "default", name)));
    SW_AUTO_CHARS *body = sw_printf("{\"Pod\":%s,\"NodeNames\":[%s]}", pod, nodes);
    return ask(w, "/filter", body);
}

static bool fits_for(struct sched_world *w, const char *name)
{
    return strstr(filter(w, name, "\"a\""), "\"NodeNames\":[\"a\"]") != NULL;
}

/* When the watch has told of what was written. */
static void expect_fits_soon(struct sched_world *w, const char *name, bool fits)
{
    int n = 1000;
    while (fits_for(w, name) != fits && --n)
        ;
    assert_int_not_equal(n, 0);
}

static bool never(struct world *w SW_UNUSED, void *arg SW_UNUSED)
{
    return false;
}

/* As long as it would take twice. */
static void let_time_pass(struct sched_world *w)
{
    (void)world_until(&w->w, never, NULL, 6000);
}

static bool is_known(struct world *w, void *arg)
{
    SW_AUTO_CHARS *text = sw_scheduler_metrics(((struct sched_world *)w)->s);
    return strstr(text, arg) != NULL;
}

static void run_until(struct sched_world *w, const char *metric_line)
{
    if (!world_until(&w->w, is_known, (void *)metric_line, 60000))
        fail_msg("never: %s", metric_line);
}

static bool is_leaving(struct sched_world *w, const char *name)
{
    return sw_json_find(world_get(&w->w, "v1", "Pod", "default", name), "metadata",
                        "deletionTimestamp", NULL) != NULL;
}

static void test_large_slice_evicts_the_small_one_in_its_way(void **state)
{
    struct sched_world *w = *state;
    SW_AUTO_CHARS *low = add_important(w, "low", ONE, 1, "PreemptLowerPriority");
    assert_string_equal(bind_pod(w, "low", low, "a"), "{\"Error\":\"\"}");
    SW_AUTO_CHARS *high = add_important(w, "high", ALL, 10, "PreemptLowerPriority");
    assert_false(fits_for(w, "high"));
    run_until(w, "slipway_scheduler_evicted_total 1\n");
    assert_true(is_leaving(w, "low"));
    assert_non_null(strstr(w->trail, "create pods/eviction;"));
    /* the room that comes is the important one's */
    SW_AUTO_CHARS *other = add_important(w, "other", ONE, 1, "PreemptLowerPriority");
    assert_false(fits_for(w, "other"));
    delete_pod(w, "low");
    assert_true(world_until(&w->w, has_no_claims, NULL, 60000));
    assert_false(fits_for(w, "other"));
    assert_true(fits_for(w, "high"));
    assert_string_equal(bind_pod(w, "high", high, "a"), "{\"Error\":\"\"}");
}

static bool has_event(struct world *w, void *arg SW_UNUSED)
{
    struct json_object *events = world_get(w, "v1", "Event", "default", NULL);
    for (size_t i = 0; i < sw_json_len(events); i++) {
        struct json_object *e = sw_json_at(events, i);
        if (sw_streq(sw_json_str(e, "", "reason", NULL), "Preempted") &&
            sw_streq(sw_json_str(e, "", "involvedObject", "name", NULL), "low") &&
            strstr(sw_json_str(e, "", "message", NULL), "default/high on node a"))
            return true;
    }
    return false;
}

static void test_victim_is_told_by_an_event(void **state)
{
    struct sched_world *w = *state;
    SW_AUTO_CHARS *low = add_important(w, "low", ONE, 1, "PreemptLowerPriority");
    (void)bind_pod(w, "low", low, "a");
    SW_AUTO_CHARS *high = add_important(w, "high", ALL, 10, "PreemptLowerPriority");
    assert_false(fits_for(w, "high"));
    assert_true(world_until(&w->w, has_event, NULL, 60000));
}

static void make_ready(struct sched_world *w, const char *name)
{
    assert_int_equal(world_patch(&w->w, "v1", "Pod", "default", name, "status",
                                 "{\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":"
                                 "\"Ready\",\"status\":\"True\"}]}}"),
                     0);
}

static void add_budget(struct sched_world *w, int allowed)
{
    SW_AUTO_CHARS *status = sw_printf("{\"status\":{\"disruptionsAllowed\":%d}}", allowed);
    assert_int_equal(world_create(&w->w,
                                  "{\"apiVersion\":\"policy/v1\",\"kind\":\"PodDisruptionBudget\","
                                  "\"metadata\":{\"name\":\"x\",\"namespace\":\"default\"},"
                                  "\"spec\":{\"minAvailable\":1,\"selector\":{\"matchLabels\":"
                                  "{\"app\":\"x\"}}}}"),
                     0);
    assert_int_equal(
        world_patch(&w->w, "policy/v1", "PodDisruptionBudget", "default", "x", "status", status),
        0);
}

/* Its status says that one may go, the API server knows better. */
static void test_eviction_that_a_budget_refuses_is_given_up(void **state)
{
    struct sched_world *w = *state;
    SW_AUTO_CHARS *low = add_important(w, "low", ONE, 1, "PreemptLowerPriority");
    (void)bind_pod(w, "low", low, "a");
    make_ready(w, "low");
    add_budget(w, 1);
    SW_AUTO_CHARS *high = add_important(w, "high", ALL, 10, "PreemptLowerPriority");
    assert_false(fits_for(w, "high"));
    run_until(w, "slipway_scheduler_evictions_refused_total 1\n");
    assert_false(is_leaving(w, "low"));
    /* nothing is kept for it */
    SW_AUTO_CHARS *other = add_important(w, "other", ONE, 1, "PreemptLowerPriority");
    assert_true(fits_for(w, "other"));
}

/* Two nodes, on both somebody less important; one of the two is protected. */
static void test_who_is_protected_is_not_even_asked_to_leave(void **state)
{
    struct sched_world *w = *state;
    SW_AUTO_CHARS *low = add_important(w, "low", ONE, 1, "PreemptLowerPriority");
    SW_AUTO_CHARS *mid = add_pod(w, "mid", ONE); /* no label, no priority: 0 */
    add_node(&w->w, "b", 1);
    (void)bind_pod(w, "mid", mid, "b");
    (void)bind_pod(w, "low", low, "a");
    make_ready(w, "low");
    add_budget(w, 0);
    SW_AUTO_CHARS *high = add_important(w, "high", ALL, 10, "PreemptLowerPriority");
    (void)filter(w, "high", "\"a\",\"b\"");
    run_until(w, "slipway_scheduler_evicted_total 1\n");
    assert_true(is_leaving(w, "mid"));
    assert_false(is_leaving(w, "low"));
    assert_true(metric(w, "slipway_scheduler_evictions_refused_total") == 0);
}

static void test_nobody_goes_for_who_may_not_preempt(void **state)
{
    struct sched_world *w = *state;
    SW_AUTO_CHARS *low = add_important(w, "low", ONE, 1, "PreemptLowerPriority");
    (void)bind_pod(w, "low", low, "a");
    SW_AUTO_CHARS *meek = add_important(w, "meek", ALL, 10, "Never");
    SW_AUTO_CHARS *equal = add_important(w, "equal", ALL, 1, "PreemptLowerPriority");
    assert_false(fits_for(w, "meek"));
    assert_false(fits_for(w, "equal"));
    let_time_pass(w);
    assert_true(metric(w, "slipway_scheduler_evicted_total") == 0);
    assert_false(is_leaving(w, "low"));
}

/* With a grace period: it stays a while. */
static void end_pod(struct sched_world *w, const char *name)
{
    const struct sw_kind *k = world_kind(&w->w, "v1", "Pod");
    w->w.answer_code = SW_PENDING;
    (void)sw_kube_delete(w->w.conn.kube, k, "default", name, NULL, world_on_answer, w);
    assert_true(world_until(&w->w, world_is_answered, NULL, 60000));
    assert_true(is_leaving(w, name));
}

/* Somebody's slices will be free soon: nobody else goes for them. */
static void test_nobody_goes_while_room_is_coming(void **state)
{
    struct sched_world *w = *state;
    add_node(&w->w, "b", 1);
    SW_AUTO_CHARS *one = add_important(w, "one", ONE, 1, "PreemptLowerPriority");
    SW_AUTO_CHARS *two = add_important(w, "two", ONE, 1, "PreemptLowerPriority");
    (void)bind_pod(w, "one", one, "a");
    (void)bind_pod(w, "two", two, "b");
    end_pod(w, "one");
    SW_AUTO_CHARS *high = add_important(w, "high", ALL, 10, "PreemptLowerPriority");
    (void)filter(w, "high", "\"a\",\"b\"");
    let_time_pass(w);
    assert_false(is_leaving(w, "two"));
    assert_true(metric(w, "slipway_scheduler_evicted_total") == 0);
    /* where it does not help, somebody goes */
    (void)filter(w, "high", "\"b\"");
    run_until(w, "slipway_scheduler_evicted_total 1\n");
    assert_true(is_leaving(w, "two"));
}

/* It sent somebody away itself, through the verb preempt or not: its nominee's room is kept, and is
 * the only one that is made. */
static void test_nominee_of_kube_scheduler_keeps_its_room(void **state)
{
    struct sched_world *w = *state;
    add_node(&w->w, "b", 1);
    SW_AUTO_CHARS *one = add_important(w, "one", ONE, 1, "PreemptLowerPriority");
    SW_AUTO_CHARS *two = add_important(w, "two", ONE, 1, "PreemptLowerPriority");
    (void)bind_pod(w, "one", one, "a");
    (void)bind_pod(w, "two", two, "b");
    SW_AUTO_CHARS *high = add_important(w, "high", ALL, 10, "PreemptLowerPriority");
    SW_AUTO_CHARS *other = add_important(w, "other", ONE, 1, "PreemptLowerPriority");
    end_pod(w, "one");
    assert_int_equal(world_patch(&w->w, "v1", "Pod", "default", "high", "status",
                                 "{\"status\":{\"nominatedNodeName\":\"a\"}}"),
                     0);
    expect_fits_soon(w, "other", false);
    (void)filter(w, "high", "\"b\""); /* although a is not even asked about */
    let_time_pass(w);
    assert_false(is_leaving(w, "two"));
    delete_pod(w, "one");
    assert_true(world_until(&w->w, has_n_claims, &(size_t){ 1 }, 60000));
    assert_false(fits_for(w, "other"));
    assert_true(fits_for(w, "high"));
    /* it thinks better of it */
    assert_int_equal(world_patch(&w->w, "v1", "Pod", "default", "high", "status",
                                 "{\"status\":{\"nominatedNodeName\":null}}"),
                     0);
    expect_fits_soon(w, "other", true);
}

/* Two on each of two nodes; the answer is the node where pods leave, after @n have. */
static const char *make_room_on_one(struct sched_world *w, int n)
{
    static const char *const names[] = { "a1", "a2", "b1", "b2" };
    add_node(&w->w, "b", 1);
    for (size_t i = 0; i < SW_COUNT(names); i++) {
        const char node[] = { names[i][0], '\0' };
        SW_AUTO_CHARS *uid = add_important(w, names[i], ONE, 1, "PreemptLowerPriority");
        assert_string_equal(bind_pod(w, names[i], uid, node), "{\"Error\":\"\"}");
    }
    SW_AUTO_CHARS *high = add_important(w, "high", ALL, 10, "PreemptLowerPriority");
    (void)filter(w, "high", "\"a\",\"b\"");
    SW_AUTO_CHARS *line = sw_printf("slipway_scheduler_evicted_total %d\n", n);
    run_until(w, line);
    return is_leaving(w, "a1") || is_leaving(w, "a2") ? "a" : "b";
}

static bool is_nominated_to(struct world *w, void *arg)
{
    return sw_streq(sw_json_str(world_get(w, "v1", "Pod", "default", "high"), "", "status",
                                "nominatedNodeName", NULL),
                    arg);
}

static void expect_none_leaves(struct sched_world *w, const char *node)
{
    for (int i = 1; i <= 2; i++) {
        SW_AUTO_CHARS *name = sw_printf("%s%d", node, i);
        assert_false(is_leaving(w, name));
    }
}

static void test_preemption_on_two_equal_nodes_touches_one(void **state)
{
    struct sched_world *w = *state;
    const char *node = make_room_on_one(w, 2), *other = *node == 'a' ? "b" : "a";
    assert_true(is_nominated_to(&w->w, (void *)node));
    /* kube-scheduler would rather have evicted pods on the other one */
    SW_AUTO_CHARS *pod = sw_strdup(
        json_object_to_json_string(world_get(&w->w, "v1", "Pod", "default", "high")));
    SW_AUTO_CHARS *body = sw_printf("{\"Pod\":%s,\"NodeNameToMetaVictims\":{\"%s\":{\"Pods\":[]}}}",
                                    pod, other);
    assert_string_equal(ask(w, "/preempt", body), "{\"NodeNameToMetaVictims\":{}}");
    (void)filter(w, "high", "\"a\",\"b\"");
    let_time_pass(w);
    expect_none_leaves(w, other);
    /* nor does the next process, which finds the pod nominated */
    kill_it(w);
    start(w);
    (void)filter(w, "high", "\"a\",\"b\"");
    assert_string_equal(ask(w, "/preempt", body), "{\"NodeNameToMetaVictims\":{}}");
    let_time_pass(w);
    expect_none_leaves(w, other);
}

/* A budget is used up after the first one: the second one is waited for, although nobody protects
 * those on the other node. */
static void test_preemption_that_a_budget_halts_goes_to_no_other_node(void **state)
{
    struct sched_world *w = *state;
    w->refuse_eviction = 2;
    const char *node = make_room_on_one(w, 1), *other = *node == 'a' ? "b" : "a";
    run_until(w, "slipway_scheduler_evictions_refused_total 1\n");
    (void)filter(w, "high", "\"a\",\"b\"");
    run_until(w, "slipway_scheduler_evicted_total 2\n");
    expect_none_leaves(w, other);
}

/* Who was sent away there never ends: kubelet is not heard any more. */
static void test_preemption_goes_elsewhere_when_its_node_dies(void **state)
{
    struct sched_world *w = *state;
    const char *node = make_room_on_one(w, 2), *other = *node == 'a' ? "b" : "a";
    assert_int_equal(
        world_patch(&w->w, "v1", "Node", NULL, node, NULL,
                    "{\"spec\":{\"taints\":[{\"key\":\"node.kubernetes.io/unreachable\","
                    "\"effect\":\"NoExecute\"}]}}"),
        0);
    SW_AUTO_CHARS *asked = sw_printf("\"%s\"", other);
    for (int i = 0; i < 20 && metric(w, "slipway_scheduler_evicted_total") < 4; i++) {
        (void)filter(w, "high", asked);
        let_time_pass(w);
    }
    assert_true(metric(w, "slipway_scheduler_evicted_total") == 4);
    assert_true(world_until(&w->w, is_nominated_to, (void *)other, 60000));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_large_slice_evicts_the_small_one_in_its_way),
        T(test_victim_is_told_by_an_event),
        T(test_eviction_that_a_budget_refuses_is_given_up),
        T(test_who_is_protected_is_not_even_asked_to_leave),
        T(test_nobody_goes_for_who_may_not_preempt),
        T(test_nobody_goes_while_room_is_coming),
        T(test_nominee_of_kube_scheduler_keeps_its_room),
        T(test_preemption_on_two_equal_nodes_touches_one),
        T(test_preemption_that_a_budget_halts_goes_to_no_other_node),
        T(test_preemption_goes_elsewhere_when_its_node_dies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
