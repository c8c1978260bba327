/* Drivers replaced node by node, on an emulated cluster and its clock. */
#include "run_world.h"

#define CHART "test/emulator/chart/charts/driver"
#define SR "sro.openshift.io/v1beta1", "SpecialResource"
#define STEP "upgrade.slipway.dev/driver"
#define GATE "specialresource.openshift.io/state-driver-1000"

/* ---- means -------------------------------------------------------------------------------------
 */

static void patch(struct world *w, const char *json)
{
    assert_int_equal(world_patch(w, SR, NULL, "driver", NULL, json), 0);
}

static void walk(struct world *w, const char *policy)
{
    SW_AUTO_CHARS *path = sw_printf("%s/" CHART, SW_SOURCE_DIR);
    world_apply(w, &(struct sw_resource_opts){ .recipe = path });
    SW_AUTO_CHARS *spec = sw_printf("{\"spec\":{\"upgradePolicy\":%s}}", policy);
    patch(w, spec);
    world_start(w);
    world_must_be_ready(w);
}

#define NEW_VERSION "{\"spec\":{\"set\":{\"version\":\"2\"}}}"
#define OLD_VERSION "{\"spec\":{\"set\":{\"version\":\"1\"}}}"

struct seen {
    size_t nodes, under_way, cordoned, gated, failed, old_pods, new_pods;
};

static void look(struct world *w, struct seen *s)
{
    *s = (struct seen){ 0 };
    struct json_object *nodes = world_get(w, "v1", "Node", NULL, NULL);
    for (size_t i = 0; i < sw_json_len(nodes); i++) {
        struct json_object *node = sw_json_at(nodes, i);
        const char *step = sw_obj_label(node, STEP);
        s->nodes += sw_obj_label(node, "node-role.kubernetes.io/worker") != NULL;
        s->under_way += sw_streq(step, "drain") || sw_streq(step, "restart");
        s->failed += sw_streq(step, "drain-failed") || sw_streq(step, "restart-failed");
        s->cordoned += sw_json_bool(node, false, "spec", "unschedulable", NULL);
        s->gated += sw_obj_label(node, GATE) != NULL;
    }
    struct json_object *pods = world_get(w, "v1", "Pod", "driver", NULL);
    for (size_t i = 0; i < sw_json_len(pods); i++) {
        struct json_object *pod = sw_json_at(pods, i);
        const char *image = sw_json_str(
            sw_json_at(sw_json_find(pod, "spec", "containers", NULL), 0), "", "image", NULL);
        s->old_pods += sw_streq(image, "quay.io/example/driver:1");
        s->new_pods += sw_streq(image, "quay.io/example/driver:2");
    }
}

static bool all_new(struct world *w, void *arg)
{
    struct seen s, *most = arg;
    look(w, &s);
    if (most) {
        most->under_way = s.under_way > most->under_way ? s.under_way : most->under_way;
        most->cordoned = s.cordoned > most->cordoned ? s.cordoned : most->cordoned;
        most->failed = s.failed > most->failed ? s.failed : most->failed;
        size_t ungated = s.nodes - s.gated;
        most->gated = ungated > most->gated ? ungated : most->gated; /* without the label */
    }
    return s.nodes && s.new_pods == s.nodes && !s.old_pods && !s.under_way && !s.failed &&
           s.gated == s.nodes;
}

static bool some_failed(struct world *w, void *arg SW_UNUSED)
{
    struct seen s;
    look(w, &s);
    return s.failed > 0;
}

static bool some_under_way(struct world *w, void *arg SW_UNUSED)
{
    struct seen s;
    look(w, &s);
    return s.under_way > 0;
}

static size_t events_with(struct world *w, const char *reason)
{
    struct json_object *events = world_get(w, "v1", "Event", "default", NULL);
    size_t n = 0;
    for (size_t i = 0; i < sw_json_len(events); i++)
        n += sw_streq(sw_json_str(sw_json_at(events, i), "", "reason", NULL), reason);
    return n;
}

/* ---- tests -------------------------------------------------------------------------------------
 */

static void one_node_after_another(void **state)
{
    (void)state;
    struct world w = { 0 };
    struct seen most = { 0 }, end;
    world_open(&w);
    walk(&w, "{}");
    struct json_object *ds = world_get(&w, "apps/v1", "DaemonSet", "driver", "driver");
    assert_string_equal(sw_json_str(ds, "", "spec", "updateStrategy", "type", NULL), "OnDelete");
    patch(&w, NEW_VERSION);
    assert_true(world_until(&w, all_new, &most, 60 * 60000));
    assert_int_equal(most.under_way, 1);
    assert_int_equal(most.cordoned, 1);
    assert_int_equal(most.gated, 1); /* what waits for its turn keeps its label */
    world_must_be_ready(&w);
    look(&w, &end);
    assert_int_equal(end.cordoned, 0);
    assert_int_equal(events_with(&w, "NodeUpgradeStarted"), end.nodes);
    assert_int_equal(events_with(&w, "NodeUpgraded"), end.nodes);
    struct json_object *sr = world_get(&w, SR, NULL, "driver");
    assert_int_equal(sw_json_int(sr, 0, "status", "upgrade", "upToDate", NULL), end.nodes);
    world_wait(&w, 10 * 60000);
    world_count(&w);
    world_wait(&w, 3 * 60000);
    assert_int_equal(w.n_writes, 0); /* at rest again */
    world_close(&w);
}

static void without_a_policy_the_daemonset_controller_does_it(void **state)
{
    (void)state;
    struct world w = { 0 };
    world_open(&w);
    world_run(&w, CHART);
    world_must_be_ready(&w);
    patch(&w, NEW_VERSION);
    assert_true(world_until(&w, all_new, NULL, 60 * 60000));
    assert_int_equal(events_with(&w, "NodeUpgradeStarted"), 0);
    world_close(&w);
}

static void as_many_as_may_at_a_time(void **state)
{
    (void)state;
    struct world w = { 0 };
    struct seen most = { 0 };
    w.nodes.at_work = 3;
    world_open(&w);
    walk(&w, "{\"maxParallel\":0,\"maxUnavailable\":2}");
    patch(&w, NEW_VERSION);
    assert_true(world_until(&w, all_new, &most, 60 * 60000));
    assert_int_equal(most.under_way, 2);
    assert_int_equal(most.cordoned, 2);
    world_close(&w);
}

static const char *a_worker(struct world *w)
{
    struct json_object *nodes = world_get(w, "v1", "Node", NULL, NULL);
    for (size_t i = 0; i < sw_json_len(nodes); i++)
        if (sw_obj_label(sw_json_at(nodes, i), "node-role.kubernetes.io/worker"))
            return sw_obj_name(sw_json_at(nodes, i));
    fail_msg("no worker");
    return "";
}

static void a_cordon_of_others_stays(void **state)
{
    (void)state;
    struct world w = { 0 };
    world_open(&w);
    walk(&w, "{\"maxUnavailable\":1}");
    SW_AUTO_CHARS *name = sw_strdup(a_worker(&w));
    assert_int_equal(
        world_patch(&w, "v1", "Node", NULL, name, NULL, "{\"spec\":{\"unschedulable\":true}}"), 0);
    patch(&w, NEW_VERSION);
    assert_true(world_until(&w, all_new, NULL, 60 * 60000)); /* its own driver, too */
    struct json_object *node = world_get(&w, "v1", "Node", NULL, name);
    assert_true(sw_json_bool(node, false, "spec", "unschedulable", NULL));
    assert_null(sw_obj_label(node, "upgrade-cordon.slipway.dev/driver"));
    struct seen end;
    look(&w, &end);
    assert_int_equal(end.cordoned, 1);
    world_close(&w);
}

#define APP                                                                                        \
    "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"app\","          \
    "\"namespace\":\"default\"},\"spec\":{\"replicas\":8,\"selector\":{\"matchLabels\":{\"app\":"  \
    "\"app\"}},\"template\":{\"metadata\":{\"labels\":{\"app\":\"app\"}},\"spec\":{"               \
    "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}"
#define BUDGET(version)                                                                            \
    "{\"apiVersion\":\"policy/" version "\",\"kind\":\"PodDisruptionBudget\",\"metadata\":{"       \
    "\"name\":\"app\",\"namespace\":\"default\"},\"spec\":{\"minAvailable\":8,\"selector\":{"      \
    "\"matchLabels\":{\"app\":\"app\"}}}}"

static bool app_runs(struct world *w, void *arg SW_UNUSED)
{
    struct json_object *app = world_get(w, "apps/v1", "Deployment", "default", "app");
    return sw_json_int(app, 0, "status", "readyReplicas", NULL) == 8;
}

static void drain(const char *version, const char *budget, const char *budget_api)
{
    struct world w = { 0 };
    world_open_with(
        &w, &(struct sw_emulator_opts){ .delays = sw_emu_delays_human, .kube_version = version });
    walk(&w, "{\"timeout\":\"5m\",\"drain\":{\"enable\":true}}");
    assert_int_equal(world_create(&w, APP), 0);
    assert_true(world_until(&w, app_runs, NULL, 10 * 60000));
    assert_int_equal(world_create(&w, budget), 0);
    patch(&w, NEW_VERSION);
    assert_true(world_until(&w, some_failed, NULL, 30 * 60000)); /* the budget allows nothing */
    assert_true(events_with(&w, "NodeUpgradeFailed") > 0);
    world_wait(&w, 5000); /* the status is not written more than once a second */
    struct json_object *sr = world_get(&w, SR, NULL, "driver");
    assert_true(sw_json_int(sr, 0, "status", "upgrade", "failed", NULL) > 0);
    assert_int_equal(world_delete(&w, budget_api, "PodDisruptionBudget", "default", "app"), 0);
    assert_true(world_until(&w, all_new, NULL, 3 * 60 * 60000)); /* failed nodes are tried again */
    assert_true(world_until(&w, app_runs, NULL, 10 * 60000));
    struct seen end;
    look(&w, &end);
    assert_int_equal(end.cordoned, 0);
    world_close(&w);
}

static void budgets_are_waited_for(void **state)
{
    (void)state;
    drain(NULL, BUDGET("v1"), "policy/v1");
}

static void old_servers_evict_by_their_own_version(void **state)
{
    (void)state;
    drain("1.20", BUDGET("v1beta1"), "policy/v1beta1");
}

#define BARE                                                                                       \
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"bare\",\"namespace\":"       \
    "\"default\"},\"spec\":{\"nodeName\":\"%s\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]" \
    "}}"

static bool says_bare(struct world *w, void *arg SW_UNUSED)
{
    struct json_object *events = world_get(w, "v1", "Event", "default", NULL);
    for (size_t i = 0; i < sw_json_len(events); i++)
        if (strstr(sw_json_str(sw_json_at(events, i), "", "message", NULL),
                   "pod default/bare: no controller would make it again"))
            return true;
    return false;
}

static bool status_says(struct world *w, const char *text)
{
    struct json_object *nodes = sw_json_find(world_get(w, SR, NULL, "driver"), "status", "upgrade",
                                             "nodes", NULL);
    for (size_t i = 0; i < sw_json_len(nodes); i++)
        if (strstr(sw_json_str(sw_json_at(nodes, i), "", "message", NULL), text))
            return true;
    return false;
}

static bool status_says_why(struct world *w, void *arg SW_UNUSED)
{
    return status_says(w, "it failed: 1 pod is still there: pod default/bare: no controller");
}

static void a_pod_that_nobody_would_make_again_is_left(void **state)
{
    (void)state;
    struct world w = { 0 };
    world_open(&w);
    walk(&w, "{\"drain\":{\"enable\":true}}");
    SW_AUTO_CHARS *pod = sw_printf(BARE, a_worker(&w));
    assert_int_equal(world_create(&w, pod), 0);
    patch(&w, NEW_VERSION);
    assert_true(world_until(&w, says_bare, NULL, 30 * 60000));
    assert_non_null(world_get(&w, "v1", "Pod", "default", "bare"));
    assert_true(world_until(&w, status_says_why, NULL, 60000));
    world_kill(&w);
    world_start(&w);
    world_wait(&w, 5000);
    assert_true(status_says_why(&w, NULL)); /* whoever comes next knows it from there */
    patch(&w, "{\"spec\":{\"upgradePolicy\":{\"drain\":{\"force\":true}}}}");
    world_wait(&w, 60 * 60000);
    assert_non_null(world_get(&w, "v1", "Pod", "default", "bare"));
    assert_true(status_says(&w, "the cluster's admins allow no force (--nodes-force)"));
    world_kill(&w);
    w.nodes.force = true; /* the admins do */
    world_start(&w);
    assert_true(world_until(&w, all_new, NULL, 3 * 60 * 60000));
    assert_null(world_get(&w, "v1", "Pod", "default", "bare"));
    world_close(&w);
}

static void kill_when_due(const struct sw_emu_request *req SW_UNUSED,
                          struct sw_emu_fault *fault SW_UNUSED, struct world *w)
{
    w->killed = w->killed || (w->kill_at && w->n_requests >= w->kill_at);
}

static bool is_killed(struct world *w, void *arg SW_UNUSED)
{
    return w->killed;
}

/* Dies again and again: after a request more each time. */
static void whoever_comes_next_goes_on(void **state)
{
    (void)state;
    struct world w = { .on_request = kill_when_due };
    struct seen most = { 0 };
    size_t n_lives = 0;
    world_open(&w);
    walk(&w, "{\"drain\":{\"enable\":true}}");
    assert_int_equal(world_create(&w, APP), 0);
    assert_true(world_until(&w, app_runs, NULL, 10 * 60000));
    patch(&w, NEW_VERSION);
    for (; n_lives < 200 && !all_new(&w, &most); n_lives++) {
        world_count(&w);
        w.killed = false;
        w.kill_at = 25 + n_lives % 20;
        (void)world_until(&w, is_killed, NULL, 5000);
        w.kill_at = 0;
        world_kill(&w);
        world_start(&w);
    }
    assert_true(n_lives > 1);
    assert_true(world_until(&w, all_new, &most, 3 * 60 * 60000));
    assert_int_equal(most.under_way, 1);
    assert_int_equal(most.cordoned, 1);
    assert_int_equal(most.failed, 0);
    world_must_be_ready(&w);
    world_close(&w);
}

static bool is_gone(struct world *w, void *arg SW_UNUSED)
{
    return !world_get(w, SR, NULL, "driver");
}

static void a_resource_that_goes_uncordons_what_it_cordoned(void **state)
{
    (void)state;
    struct world w = { 0 };
    world_open(&w);
    walk(&w, "{}");
    patch(&w, NEW_VERSION);
    assert_true(world_until(&w, some_under_way, NULL, 10 * 60000));
    assert_int_equal(world_delete(&w, SR, NULL, "driver"), 0);
    assert_true(world_until(&w, is_gone, NULL, 10 * 60000));
    struct seen end;
    look(&w, &end);
    assert_int_equal(end.cordoned + end.under_way + end.failed, 0);
    world_close(&w);
}

static void a_paused_upgrade_waits(void **state)
{
    (void)state;
    struct world w = { 0 };
    struct seen s;
    world_open(&w);
    walk(&w, "{\"autoUpgrade\":false}");
    patch(&w, NEW_VERSION);
    world_wait(&w, 60 * 60000);
    look(&w, &s);
    assert_int_equal(s.new_pods, 0);
    assert_int_equal(s.gated, s.nodes);
    struct json_object *sr = world_get(&w, SR, NULL, "driver");
    assert_int_equal(sw_json_int(sr, 0, "status", "upgrade", "waiting", NULL), s.nodes);
    SW_AUTO_CHARS *metrics = sw_controller_metrics(w.controller);
    assert_non_null(strstr(metrics, "slipway_upgrade_nodes{specialresource=\"driver\",step=\""
                                    "upToDate\"} 0\n"));
    assert_non_null(
        strstr(json_object_to_json_string(sw_json_find(sr, "status", "upgrade", NULL)), "paused"));
    patch(&w, "{\"spec\":{\"upgradePolicy\":{\"autoUpgrade\":true}}}");
    assert_true(world_until(&w, all_new, NULL, 60 * 60000));
    world_close(&w);
}

/* ---- what the cluster's admins allow -----------------------------------------------------------
 */

static void whatever_the_author_asks_for_it_is_one_node_at_a_time(void **state)
{
    (void)state;
    struct world w = { 0 };
    struct seen most = { 0 };
    world_open(&w);
    walk(&w, "{\"maxParallel\":0,\"maxUnavailable\":\"100%\"}");
    patch(&w, NEW_VERSION);
    assert_true(world_until(&w, all_new, &most, 60 * 60000));
    assert_int_equal(most.under_way, 1);
    assert_int_equal(most.cordoned, 1);
    world_close(&w);
}

#define LABEL(json) "{\"metadata\":{\"labels\":{" json "}}}"

static bool all_old(struct world *w, void *arg SW_UNUSED)
{
    struct seen s;
    look(w, &s);
    return s.old_pods == s.nodes && !s.new_pods && !s.under_way && s.gated == s.nodes;
}

/* All but one node are new, and the one, @arg, is as it was. */
static bool all_but_one(struct world *w, void *arg)
{
    struct seen s;
    look(w, &s);
    struct json_object *node = world_get(w, "v1", "Node", NULL, arg);
    return s.new_pods == s.nodes - 1 && s.old_pods == 1 && !s.under_way && !s.cordoned &&
           !sw_obj_label(node, STEP);
}

static void only_nodes_that_the_admins_allow_are_touched(void **state)
{
    (void)state;
    struct world w = { 0 };
    SW_ERR(err);
    assert_int_equal(sw_node_policy_read(&w.nodes, "keep!=yes", NULL, NULL, &err), 0);
    world_open(&w);
    walk(&w, "{\"drain\":{\"enable\":true}}");
    SW_AUTO_CHARS *name = sw_strdup(a_worker(&w));
    static const char *const labels[][2] = {
        { LABEL("\"node-role.kubernetes.io/control-plane\":\"\""),
          LABEL("\"node-role.kubernetes.io/control-plane\":null") },
        { LABEL("\"keep\":\"yes\""), LABEL("\"keep\":null") },
    };
    for (size_t i = 0; i < SW_COUNT(labels); i++) {
        patch(&w, OLD_VERSION);
        assert_true(world_until(&w, all_old, NULL, 60 * 60000));
        assert_int_equal(world_patch(&w, "v1", "Node", NULL, name, NULL, labels[i][0]), 0);
        patch(&w, NEW_VERSION);
        assert_true(world_until(&w, all_but_one, name, 60 * 60000));
        world_wait(&w, 5000);
        assert_true(status_says(&w, "the cluster's admins allow no work on the node"));
        assert_int_equal(world_patch(&w, "v1", "Node", NULL, name, NULL, labels[i][1]), 0);
        assert_true(world_until(&w, all_new, NULL, 60 * 60000));
    }
    sw_node_policy_done(&w.nodes);
    world_close(&w);
}

/* ---- as whom -----------------------------------------------------------------------------------
 */

#define ACCOUNT "system:serviceaccount:driver:weak"

static struct {
    size_t evictions, deletes, of_others, at_once;
    bool may_evict, may_delete;
} asked;

/* The account has what rights the scene says, and the operator none to end pods. */
static void as_the_account(const struct sw_emu_request *req, struct sw_emu_fault *fault,
                           struct world *w SW_UNUSED)
{
    bool eviction = sw_streq(req->subresource, "eviction");
    if (!sw_streq(req->resource, "pods") || !(eviction || sw_streq(req->verb, "delete")))
        return;
    asked.evictions += eviction;
    asked.deletes += !eviction;
    asked.of_others += !sw_streq(req->as_user, ACCOUNT);
    asked.at_once += req->body_len &&
                     memmem(req->body, req->body_len, "gracePeriodSeconds", 18) != NULL;
    if (!(eviction ? asked.may_evict : asked.may_delete))
        *fault = (struct sw_emu_fault){ .type = SW_FAULT_ERROR, .code = 403 };
}

static void pods_are_ended_as_the_resources_account(void **state)
{
    (void)state;
    struct world w = { .on_request = as_the_account };
    memset(&asked, 0, sizeof asked);
    world_open(&w);
    walk(&w, "{\"timeout\":\"5m\",\"drain\":{\"enable\":true,\"gracePeriodSeconds\":0}}");
    patch(&w, "{\"spec\":{\"serviceAccountName\":\"weak\"}}");
    assert_int_equal(world_create(&w, APP), 0);
    assert_true(world_until(&w, app_runs, NULL, 10 * 60000));
    patch(&w, NEW_VERSION);
    assert_true(world_until(&w, some_failed, NULL, 4 * 60000)); /* at once, not when it is late */
    world_wait(&w, 5000);
    assert_true(asked.evictions > 0);
    assert_true(status_says(&w, "forbidden"));
    asked.may_evict = true; /* but not to delete the old driver */
    assert_true(world_until(&w, some_under_way, NULL, 30 * 60000));
    world_wait(&w, 2 * 60000);
    assert_true(asked.deletes > 0);
    assert_true(status_says(&w, "forbidden"));
    asked.may_delete = true;
    assert_true(world_until(&w, all_new, NULL, 3 * 60 * 60000));
    assert_int_equal(asked.of_others, 0);
    assert_int_equal(asked.at_once, 0); /* that would be force */
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_node_after_another),
        cmocka_unit_test(without_a_policy_the_daemonset_controller_does_it),
        cmocka_unit_test(as_many_as_may_at_a_time),
        cmocka_unit_test(a_cordon_of_others_stays),
        cmocka_unit_test(budgets_are_waited_for),
        cmocka_unit_test(old_servers_evict_by_their_own_version),
        cmocka_unit_test(a_pod_that_nobody_would_make_again_is_left),
        cmocka_unit_test(whoever_comes_next_goes_on),
        cmocka_unit_test(a_resource_that_goes_uncordons_what_it_cordoned),
        cmocka_unit_test(a_paused_upgrade_waits),
        cmocka_unit_test(whatever_the_author_asks_for_it_is_one_node_at_a_time),
        cmocka_unit_test(pods_are_ended_as_the_resources_account),
        cmocka_unit_test(only_nodes_that_the_admins_allow_are_touched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
