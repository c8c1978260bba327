/* Which node gets its new driver next: by rows, and on random clusters with random accidents. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "data/data.h"
#include "operator/engine/upgrade/upgrade.h"

static const char *const do_names[] = {
    [SW_UPDO_NOTHING] = "nothing", [SW_UPDO_WAIT] = "wait",       [SW_UPDO_BEGIN] = "begin",
    [SW_UPDO_DRAIN] = "drain",     [SW_UPDO_RESTART] = "restart", [SW_UPDO_FINISH] = "finish",
    [SW_UPDO_FAIL] = "fail",
};

#define MINUTE INT64_C(60000)

static struct sw_upgrade_policy policy_of(const char *json)
{
    struct sw_upgrade_policy policy;
    SW_ERR(err);
    static struct json_object *doc; /* the policy borrows of it */
    json_object_put(doc);
    doc = json_tokener_parse(json);
    if (sw_upgrade_policy_read(doc, &policy, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    if (!*json) {
        json_object_put(doc);
        doc = NULL;
    }
    return policy;
}

static void the_policy_has_careful_defaults(void **state)
{
    (void)state;
    struct sw_upgrade_policy p = policy_of("{}");
    assert_int_equal(p.parallel, 1);
    assert_int_equal(sw_upgrade_max_unavailable(&p, 3), 1); /* a quarter, rounded up */
    assert_int_equal(sw_upgrade_max_unavailable(&p, 100), 25);
    assert_true(p.cordon);
    assert_false(p.drain || p.force || p.empty_dir || p.paused);
    assert_int_equal(p.timeout_ms, 30 * MINUTE);
    p = policy_of(
        "{\"maxParallel\":0,\"maxUnavailable\":2,\"autoUpgrade\":false,\"timeout\":\"90s\","
        "\"cordon\":false,\"drain\":{\"enable\":true,\"gracePeriodSeconds\":7}}");
    assert_int_equal(sw_upgrade_max_unavailable(&p, 100), 2);
    assert_true(p.paused && p.drain && !p.cordon);
    assert_int_equal(p.timeout_ms, 90000);
    assert_int_equal(p.grace_s, 7);
    policy_of("");
}

static void a_bad_policy_is_named(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        { "{\"maxParallel\":\"many\"}", "spec.upgradePolicy.maxParallel: 'many' is not a number" },
        { "{\"maxParallel\":\"10%\"}", "spec.upgradePolicy.maxParallel: '10%' is not a number" },
        { "{\"maxUnavailable\":\"150%\"}",
          "spec.upgradePolicy.maxUnavailable: '150%' is not a number" },
        { "{\"maxUnavailable\":-1}", "spec.upgradePolicy.maxUnavailable: '-1' is not a number" },
        { "{\"timeout\":\"soon\"}", "spec.upgradePolicy.timeout: 'soon' is not a duration" },
        { "{\"timeout\":\"1ms\"}", "spec.upgradePolicy.timeout: '1ms' is less than 10s" },
        { "{\"drain\":{\"podSelector\":\"a in\"}}", "spec.upgradePolicy.drain.podSelector: " },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        struct sw_upgrade_policy policy;
        SW_ERR(err);
        SW_AUTO_JSON *doc = json_tokener_parse(rows[i][0]);
        assert_int_equal(sw_upgrade_policy_read(doc, &policy, &err), SW_INVALID);
        if (!strstr(sw_err_text(&err), rows[i][1]))
            fail_msg("%s, not %s", sw_err_text(&err), rows[i][1]);
    }
}

/* ---- rows --------------------------------------------------------------------------------------
 */

#define OLD .ready = true, .outdated = true
#define NEW .ready = true, .finished = true
#define OURS .cordoned = true, .unschedulable = true

struct row {
    const char *policy;
    struct sw_upgrade_node node;
    enum sw_upgrade_do what;
    enum sw_upgrade_why why;
    enum sw_upgrade_step next;
    bool cordon, uncordon;
};

static void one_node_is_decided_for(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { "{}", { NEW }, SW_UPDO_NOTHING, 0, SW_UP_NONE, false, false },
        { "{}", { OLD }, SW_UPDO_BEGIN, 0, SW_UP_RESTARTING, true, false },
        { "{\"drain\":{\"enable\":true}}", { OLD }, SW_UPDO_BEGIN, 0, SW_UP_DRAINING, true, false },
        { "{\"cordon\":false}", { OLD }, SW_UPDO_BEGIN, 0, SW_UP_RESTARTING, false, false },
        { "{\"autoUpgrade\":false}",
          { OLD },
          SW_UPDO_WAIT,
          SW_UPWHY_PAUSED,
          SW_UP_NONE,
          false,
          false },
        { "{}", { OLD, .skipped = true }, SW_UPDO_WAIT, SW_UPWHY_SKIPPED, 0, false, false },
        { "{}", { .outdated = true }, SW_UPDO_WAIT, SW_UPWHY_NOT_READY, 0, false, false },
        { "{\"maxUnavailable\":0}", { OLD }, SW_UPDO_WAIT, SW_UPWHY_UNAVAILABLE, 0, false, false },
        /* somebody else's cordon costs nothing and stays */
        { "{\"maxUnavailable\":0}",
          { OLD, .unschedulable = true },
          SW_UPDO_BEGIN,
          0,
          SW_UP_RESTARTING,
          false,
          false },
        { "{}",
          { NEW, .unschedulable = true, .step = SW_UP_RESTARTING },
          SW_UPDO_FINISH,
          0,
          SW_UP_NONE,
          false,
          false },
        { "{}",
          { NEW, OURS, .step = SW_UP_RESTARTING },
          SW_UPDO_FINISH,
          0,
          SW_UP_NONE,
          false,
          true },
        /* another resource's upgrade is still there: the last one uncordons */
        { "{}",
          { OLD, .unschedulable = true, .shared = true },
          SW_UPDO_BEGIN,
          0,
          SW_UP_RESTARTING,
          true,
          false },
        { "{}",
          { NEW, OURS, .shared = true, .step = SW_UP_RESTARTING },
          SW_UPDO_FINISH,
          0,
          SW_UP_NONE,
          false,
          false },
        { "{\"drain\":{\"enable\":true}}",
          { OLD, OURS, .step = SW_UP_DRAINING },
          SW_UPDO_DRAIN,
          SW_UPWHY_EVICTION,
          SW_UP_DRAINING,
          false,
          false },
        { "{\"drain\":{\"enable\":true}}",
          { OLD, OURS, .step = SW_UP_DRAINING, .drained = true },
          SW_UPDO_RESTART,
          SW_UPWHY_GATE,
          SW_UP_RESTARTING,
          false,
          false },
        { "{\"drain\":{\"enable\":true}}",
          { OLD, OURS, .step = SW_UP_DRAINING, .refused = true },
          SW_UPDO_FAIL,
          SW_UPWHY_REFUSED,
          SW_UP_DRAIN_FAILED,
          false,
          true },
        { "{\"drain\":{\"enable\":true}}",
          { OLD, OURS, .step = SW_UP_DRAINING, .since_ms = -40 * MINUTE },
          SW_UPDO_FAIL,
          SW_UPWHY_LATE,
          SW_UP_DRAIN_FAILED,
          false,
          true },
        /* draining was switched off meanwhile */
        { "{}",
          { OLD, OURS, .step = SW_UP_DRAINING },
          SW_UPDO_RESTART,
          SW_UPWHY_GATE,
          SW_UP_RESTARTING,
          false,
          false },
        { "{}",
          { .ready = true, OURS, .step = SW_UP_RESTARTING },
          SW_UPDO_RESTART,
          SW_UPWHY_GATE,
          SW_UP_RESTARTING,
          false,
          false },
        { "{}",
          { .ready = true, OURS, .step = SW_UP_RESTARTING, .since_ms = -40 * MINUTE },
          SW_UPDO_FAIL,
          SW_UPWHY_LATE,
          SW_UP_RESTART_FAILED,
          false,
          false },
        { "{}",
          { .ready = true, OURS, .step = SW_UP_RESTART_FAILED },
          SW_UPDO_WAIT,
          SW_UPWHY_RETRY,
          SW_UP_RESTART_FAILED,
          false,
          false },
        { "{}",
          { NEW, OURS, .step = SW_UP_RESTART_FAILED },
          SW_UPDO_FINISH,
          0,
          SW_UP_NONE,
          false,
          true },
        /* a newer template: at once */
        { "{}",
          { OLD, OURS, .step = SW_UP_RESTART_FAILED },
          SW_UPDO_BEGIN,
          0,
          SW_UP_RESTARTING,
          false,
          false },
        { "{}",
          { OLD, .step = SW_UP_DRAIN_FAILED },
          SW_UPDO_WAIT,
          SW_UPWHY_RETRY,
          SW_UP_DRAIN_FAILED,
          false,
          false },
        { "{\"timeout\":\"10s\"}",
          { OLD, .step = SW_UP_DRAIN_FAILED, .since_ms = -MINUTE / 2 },
          SW_UPDO_WAIT,
          SW_UPWHY_RETRY,
          SW_UP_DRAIN_FAILED,
          false,
          false },
        { "{}",
          { OLD, .step = SW_UP_DRAIN_FAILED, .since_ms = -40 * MINUTE },
          SW_UPDO_BEGIN,
          0,
          SW_UP_RESTARTING,
          true,
          false },
        /* what the cluster's admins forbid is not begun, and ended where it was */
        { "{}", { OLD, .forbidden = true }, SW_UPDO_WAIT, SW_UPWHY_FORBIDDEN, 0, false, false },
        { "{}",
          { OLD, OURS, .forbidden = true, .step = SW_UP_DRAINING },
          SW_UPDO_FINISH,
          SW_UPWHY_FORBIDDEN,
          SW_UP_NONE,
          false,
          true },
        { "{}",
          { OLD, OURS, .forbidden = true, .step = SW_UP_RESTART_FAILED },
          SW_UPDO_FINISH,
          SW_UPWHY_FORBIDDEN,
          SW_UP_NONE,
          false,
          true },
        /* paused: what was begun is ended */
        { "{\"autoUpgrade\":false}",
          { OLD, OURS, .step = SW_UP_RESTARTING },
          SW_UPDO_RESTART,
          SW_UPWHY_GATE,
          SW_UP_RESTARTING,
          false,
          false },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        const struct row *r = &rows[i];
        struct sw_upgrade_policy policy = policy_of(r->policy);
        struct sw_upgrade_decision d;
        struct sw_upgrade_node node = r->node;
        node.name = "n";
        sw_upgrade_decide(&policy, &node, 1, 0, &d);
        if (d.what != r->what || d.why != r->why || d.cordon != r->cordon ||
            d.uncordon != r->uncordon || (r->next && d.next != r->next))
            fail_msg("row %zu: %s, %s, %s%s%s", i, do_names[d.what], sw_upgrade_why_text(d.why),
                     sw_upgrade_step_name(d.next), d.cordon ? ", cordon" : "",
                     d.uncordon ? ", uncordon" : "");
    }
    policy_of("");
}

static void all_resources_share_what_the_admins_allow(void **state)
{
    (void)state;
    struct sw_upgrade_policy policy = policy_of("{\"maxParallel\":0,\"maxUnavailable\":\"100%\"}");
    struct sw_upgrade_node nodes[3] = { { .name = "a", OLD },
                                        { .name = "b", OLD },
                                        { .name = "c", OLD, .at_work = true } };
    struct sw_upgrade_decision d[3];
    static const struct {
        int64_t at_work, elsewhere;
        enum sw_upgrade_do a, b; /* c is at work anyway */
    } rows[] = { { 0, 9, SW_UPDO_BEGIN, SW_UPDO_BEGIN },
                 { 1, 0, SW_UPDO_WAIT, SW_UPDO_WAIT },
                 { 2, 0, SW_UPDO_BEGIN, SW_UPDO_WAIT },
                 { 2, 1, SW_UPDO_WAIT, SW_UPDO_WAIT },
                 { 3, 0, SW_UPDO_BEGIN, SW_UPDO_BEGIN } };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        policy.at_work = rows[i].at_work;
        policy.at_work_elsewhere = rows[i].elsewhere;
        sw_upgrade_decide(&policy, nodes, 3, 0, d);
        assert_int_equal(d[0].what, rows[i].a);
        assert_int_equal(d[1].what, rows[i].b);
        assert_int_equal(d[1].why, rows[i].b == SW_UPDO_WAIT ? SW_UPWHY_AT_WORK : SW_UPWHY_NONE);
        assert_int_equal(d[2].what, SW_UPDO_BEGIN);
    }
    policy_of("");
}

static void words_are_there_for_all(void **state)
{
    (void)state;
    for (int i = 0; i < SW_UPWHY_COUNT; i++)
        assert_non_null(sw_upgrade_why_text(i));
    for (int i = 0; i < SW_UP_COUNT; i++)
        assert_int_equal(sw_upgrade_step_find(sw_upgrade_step_name(i)), i);
    assert_int_equal(sw_upgrade_step_find("of a later version"), SW_UP_RESTARTING);
}

/* ---- random clusters ---------------------------------------------------------------------------
 */

enum { MAX_NODES = 12 };

struct real_node {
    struct sw_upgrade_node facts;
    bool foreign;       /* cordoned by a person */
    bool pods, pod_old; /* something to drain; its driver's template */
    bool broken;        /* the new driver does not start there */
};

struct cluster {
    struct real_node nodes[MAX_NODES];
    size_t n;
    uint64_t random;
    int64_t now_ms;
};

static uint64_t dice(struct cluster *c, uint64_t n)
{
    c->random ^= c->random << 13;
    c->random ^= c->random >> 7;
    c->random ^= c->random << 17;
    return c->random % n;
}

static void check(const struct cluster *c, const struct sw_upgrade_policy *policy, uint64_t seed)
{
    int64_t parallel = 0, out_of_service = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct real_node *node = &c->nodes[i];
        parallel += node->facts.step == SW_UP_DRAINING || node->facts.step == SW_UP_RESTARTING;
        out_of_service += node->facts.cordoned;
        if (node->foreign && !node->facts.unschedulable)
            fail_msg("seed %" PRIu64 ": a foreign cordon was taken off", seed);
    }
    if (policy->parallel && parallel > policy->parallel)
        fail_msg("seed %" PRIu64 ": %" PRId64 " at a time", seed, parallel);
    if (out_of_service > sw_upgrade_max_unavailable(policy, c->n))
        fail_msg("seed %" PRIu64 ": %" PRId64 " out of service", seed, out_of_service);
}

/* Carry out what was decided, or not: a process may die between any two writes. */
static void carry_out(struct cluster *c, struct real_node *node, const struct sw_upgrade_policy *p,
                      const struct sw_upgrade_decision *d)
{
    struct sw_upgrade_node *f = &node->facts;
    switch (d->what) {
    case SW_UPDO_BEGIN:
    case SW_UPDO_FAIL:
    case SW_UPDO_FINISH:
        f->step = d->next;
        f->since_ms = c->now_ms;
        f->cordoned = (f->cordoned || d->cordon) && !d->uncordon && d->what != SW_UPDO_FINISH;
        f->unschedulable = (f->unschedulable || d->cordon) && !d->uncordon;
        break;
    case SW_UPDO_DRAIN:
        node->pods = node->pods && dice(c, 3);
        f->drained = !node->pods;
        break;
    case SW_UPDO_RESTART:
        if (f->step != d->next) {
            f->step = d->next;
            f->since_ms = c->now_ms;
            break;
        }
        assert_true(!p->drain || !node->pods || f->step == SW_UP_RESTARTING);
        node->pod_old = false;
        f->outdated = false;
        f->finished = !node->broken && dice(c, 2);
        break;
    default:
        break;
    }
}

static void live(struct cluster *c, bool calm)
{
    for (size_t i = 0; i < c->n; i++) {
        struct real_node *node = &c->nodes[i];
        if (calm) {
            node->broken = false;
            node->facts.ready = true;
            node->facts.finished = !node->pod_old;
            continue;
        }
        if (dice(c, 40) == 0)
            node->facts.ready = !node->facts.ready;
        if (dice(c, 60) == 0 && !node->facts.unschedulable)
            node->foreign = node->facts.unschedulable = true;
        if (dice(c, 90) == 0)
            node->broken = !node->broken;
        if (!node->pod_old)
            node->facts.finished = !node->broken;
    }
    if (!calm && dice(c, 80) == 0) /* yet another version */
        for (size_t i = 0; i < c->n; i++) {
            c->nodes[i].pod_old = c->nodes[i].facts.outdated = true;
            c->nodes[i].facts.finished = false;
        }
}

static void play(uint64_t seed)
{
    static const char *const policies[] = {
        "{}",
        "{\"maxParallel\":3,\"maxUnavailable\":2}",
        "{\"maxParallel\":2,\"maxUnavailable\":\"50%\",\"drain\":{\"enable\":true}}",
        "{\"maxParallel\":0,\"maxUnavailable\":\"100%\",\"timeout\":\"3m\"}",
    };
    struct cluster c = { .random = seed * 2654435761u + 88172645463325252u };
    struct sw_upgrade_policy policy = policy_of(policies[dice(&c, SW_COUNT(policies))]);
    struct sw_upgrade_node facts[MAX_NODES];
    struct sw_upgrade_decision d[MAX_NODES];
    static const char *const names[MAX_NODES] = { "a", "b", "c", "d", "e", "f",
                                                  "g", "h", "i", "j", "k", "l" };
    c.n = 1 + dice(&c, MAX_NODES);
    for (size_t i = 0; i < c.n; i++)
        c.nodes[i] =
            (struct real_node){ .facts = { .name = names[i], .ready = true, .outdated = true },
                                .pod_old = true,
                                .pods = dice(&c, 2) };
    for (size_t turn = 0; turn < 2000; turn++) {
        bool calm = turn > 300;
        for (size_t i = 0; i < c.n; i++)
            facts[i] = c.nodes[i].facts;
        sw_upgrade_decide(&policy, facts, c.n, c.now_ms, d);
        for (size_t i = 0; i < c.n; i++)
            if (calm || dice(&c, 4)) /* not every write arrives */
                carry_out(&c, &c.nodes[i], &policy, &d[i]);
        check(&c, &policy, seed);
        live(&c, calm);
        c.now_ms += (int64_t)dice(&c, 60000);
    }
    for (size_t i = 0; i < c.n; i++) {
        const struct real_node *node = &c.nodes[i];
        if (node->pod_old || node->facts.step || node->facts.cordoned ||
            node->facts.unschedulable != node->foreign)
            fail_msg("seed %" PRIu64 ": node %s ends at '%s'%s", seed, names[i],
                     sw_upgrade_step_name(node->facts.step), node->pod_old ? ", old" : "");
    }
}

static void whatever_happens_all_get_it_and_no_more_at_a_time_than_may(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++)
        play(seed);
    policy_of("");
}

/* ---- the plan ----------------------------------------------------------------------------------
 */

struct told {
    char text[2000];
};

static void on_plan(size_t round, const struct sw_upgrade_node *node,
                    const struct sw_upgrade_decision *d, void *arg)
{
    struct told *t = arg;
    size_t at = strlen(t->text);
    snprintf(t->text + at, sizeof t->text - at, "%zu %s %s%s%s; ", round, node->name,
             do_names[d->what], d->cordon ? "+cordon" : "", d->uncordon ? "+uncordon" : "");
}

static void a_plan_is_what_is_decided_if_all_goes_well(void **state)
{
    (void)state;
    struct sw_upgrade_policy policy = policy_of(
        "{\"maxParallel\":2,\"maxUnavailable\":1,\"drain\":{\"enable\":true}}");
    const struct sw_upgrade_node nodes[] = { { .name = "a", OLD },
                                             { .name = "b", NEW },
                                             { .name = "c", OLD, .unschedulable = true },
                                             { .name = "d", .outdated = true } };
    struct told told = { "" };
    sw_upgrade_plan(&policy, nodes, 2, 0, on_plan, &told);
    assert_string_equal(told.text,
                        "0 a begin+cordon; 1 a drain; 2 a restart; 3 a finish+uncordon; ");
    told.text[0] = '\0';
    sw_upgrade_plan(&policy, nodes + 2, 1, 0, on_plan, &told);
    assert_string_equal(told.text, "0 c begin; 1 c drain; 2 c restart; 3 c finish; ");
    told.text[0] = '\0';
    sw_upgrade_plan(&policy, nodes + 3, 1, 0, on_plan, &told);
    assert_string_equal(told.text, "1 d wait; ");
    sw_upgrade_plan(&policy, nodes, 0, 0, on_plan, &told);
    policy_of("");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_policy_has_careful_defaults),
        cmocka_unit_test(a_bad_policy_is_named),
        cmocka_unit_test(one_node_is_decided_for),
        cmocka_unit_test(all_resources_share_what_the_admins_allow),
        cmocka_unit_test(words_are_there_for_all),
        cmocka_unit_test(whatever_happens_all_get_it_and_no_more_at_a_time_than_may),
        cmocka_unit_test(a_plan_is_what_is_decided_if_all_goes_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
