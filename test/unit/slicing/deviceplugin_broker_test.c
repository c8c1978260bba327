/* The device plugin's decisions, without kubelet, cluster or GPU: a small world carries out what
 * the broker asks for, in any order and with any failure, and looks whether what must always hold
 * does. */
#include "slicing/deviceplugin/broker/broker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_PODS = 12, N_PLACES = 7 };

/* ---- the world ---------------------------------------------------------------------------------
 */

struct claim {
    char name[32], pod[32];
    enum sw_claim_state state;
    unsigned place;
    bool there;
};

struct world {
    struct dp_broker *b;
    int64_t now_ms;
    uint64_t random;
    bool gi[N_PLACES], ci[N_PLACES]; /* the hardware: one GPU of seven places */
    struct claim claims[MAX_PODS * 2];
    size_t n_claims;
    struct dp_action *held[64]; /* asked for, not answered yet */
    size_t n_held;
    uint64_t answered[64]; /* tickets */
    int codes[64];
    size_t n_answered;
    char message[512];
    int fail_next; /* this code for the next step; 0: none */
    size_t n_cdi, n_evicted, n_looks;
};

static unsigned rnd(struct world *w, unsigned n)
{
    w->random = w->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(w->random >> 33) % n;
}

static void open_world(struct world *w, uint64_t seed)
{
    *w = (struct world){ .random = seed, .now_ms = 1000 };
    w->b = dp_broker_new(&(struct dp_opts){ .boot_id = "boot", .check_start = true });
}

static void drop_held(struct world *w)
{
    for (size_t i = 0; i < w->n_held; i++)
        dp_action_free(w->held[i]);
    w->n_held = 0;
}

static void close_world(struct world *w)
{
    drop_held(w);
    dp_broker_free(w->b);
}

static struct claim *find_claim(struct world *w, const char *name)
{
    for (size_t i = 0; i < w->n_claims; i++)
        if (w->claims[i].there && strcmp(w->claims[i].name, name) == 0)
            return &w->claims[i];
    return NULL;
}

static void do_step(struct world *w, const struct dp_action *a)
{
    const struct dp_grant *g = dp_broker_grant(w->b, a->grant_id);
    assert_non_null(g);
    const unsigned place = g->slices[a->i].place.start;
    struct dp_step_result r = { .gi = place + 100, .uuid = "MIG-x", .message = "told to fail" };
    if (w->fail_next && a->step != DP_STEP_PROBE) {
        r.code = w->fail_next;
        w->fail_next = 0;
    } else if (a->step == DP_STEP_PROBE) {
        r.code = w->gi[place] ? 0 : SW_NOTFOUND;
    } else if (a->step == DP_STEP_MAKE_GI) {
        assert_false(w->gi[place]); /* nobody's slice is made twice */
        w->gi[place] = true;
    } else if (a->step == DP_STEP_MAKE_CI) {
        assert_true(w->gi[place] && !w->ci[place]);
        w->ci[place] = true;
    } else {
        r.code = w->gi[place] ? 0 : SW_NOTFOUND;
        w->gi[place] = w->ci[place] = false;
    }
    dp_broker_on_step(w->b, a->grant_id, a->i, a->step, &r, w->now_ms);
}

static void do_write(struct world *w, const struct dp_action *a)
{
    struct claim *c = find_claim(w, a->ref.name);
    const struct dp_claim *its = dp_broker_claim(w->b, a->ref.ns, a->ref.name);
    if (c && a->act == DP_ACT_CLAIM_STATE)
        c->state = a->state;
    else if (c && a->act == DP_ACT_CLAIM_DELETE)
        c->there = false;
    else if (c && its)
        (void)snprintf(c->pod, sizeof c->pod, "%s", its->pod.uid);
    dp_broker_on_written(w->b, a->act, a->ref.ns, a->ref.name, a->state, c ? 0 : SW_NOTFOUND, 0,
                         w->now_ms);
    if (a->act == DP_ACT_CLAIM_DELETE)
        dp_broker_on_claim_gone(w->b, a->ref.ns, a->ref.name, w->now_ms);
}

static void carry_out(struct world *w, const struct dp_action *a)
{
    switch (a->act) {
    case DP_ACT_STEP:
        do_step(w, a);
        break;
    case DP_ACT_COMMIT:
        w->n_cdi++;
        dp_broker_on_commit(w->b, a->grant_id, 0, "", w->now_ms);
        break;
    case DP_ACT_ALLOCATED:
    case DP_ACT_STARTED:
        w->codes[w->n_answered] = a->code;
        w->answered[w->n_answered++] = a->ticket;
        (void)snprintf(w->message, sizeof w->message, "%s", a->message ? a->message : "");
        break;
    case DP_ACT_CLAIM_STATE:
    case DP_ACT_CLAIM_POD:
    case DP_ACT_CLAIM_DELETE:
        do_write(w, a);
        break;
    case DP_ACT_EVICT:
        w->n_evicted++;
        break;
    case DP_ACT_LIST_HELD:
        w->n_looks++;
        break;
    default:
        break;
    }
}

/* Until nothing is left to do. */
static void settle(struct world *w)
{
    struct dp_action *a;
    while ((a = dp_broker_next(w->b))) {
        carry_out(w, a);
        dp_action_free(a);
    }
}

/* ---- what happens in it ------------------------------------------------------------------------
 */

static void add_pod(struct world *w, const char *uid, const char *profile, unsigned count,
                    bool ended)
{
    struct dp_pod *p = sw_zalloc(1, sizeof *p);
    p->ref = (struct dp_ref){ sw_strdup("ns"), sw_strdup(uid), sw_strdup(uid) };
    p->ended = ended;
    p->n_containers = 1;
    p->containers = sw_zalloc(1, sizeof *p->containers);
    p->containers[0].name = sw_strdup("c");
    p->containers[0].requests = sw_zalloc(1, sizeof(struct dp_request));
    p->containers[0].n_requests = 1;
    p->containers[0].requests[0].count = count;
    (void)strcpy(p->containers[0].requests[0].profile, profile);
    dp_broker_on_pod(w->b, p, w->now_ms);
}

static void tell_claim(struct world *w, const struct claim *c)
{
    struct dp_claim *k = sw_zalloc(1, sizeof *k);
    k->ns = sw_strdup("das");
    k->name = sw_strdup(c->name);
    k->pod = (struct dp_ref){ sw_strdup("ns"), sw_strdup(c->pod), sw_strdup(c->pod) };
    k->gpu = sw_strdup("GPU-0");
    k->state = c->state;
    k->place = (struct sw_mig_place){ (uint8_t)c->place, 1 };
    (void)strcpy(k->profile, "1g.5gb");
    dp_broker_on_claim(w->b, k, w->now_ms);
}

static struct claim *add_claim(struct world *w, const char *name, const char *pod, unsigned place)
{
    struct claim *c = &w->claims[w->n_claims++];
    *c = (struct claim){ .state = SW_CLAIM_CREATED, .place = place, .there = true };
    (void)snprintf(c->name, sizeof c->name, "%s", name);
    (void)snprintf(c->pod, sizeof c->pod, "%s", pod);
    tell_claim(w, c);
    return c;
}

static void sync_all(struct world *w)
{
    dp_broker_on_pods_synced(w->b, w->now_ms);
    dp_broker_on_gpus(w->b, w->now_ms);
}

static void allocate(struct world *w, uint64_t ticket, const char *id)
{
    dp_broker_allocate(w->b, ticket, "1g.5gb", &id, 1, w->now_ms);
}

static void hold(struct world *w, const char *pod, const char *id)
{
    char *ids[] = { sw_strdup(id) };
    struct dp_held h = { .ns = (char *)(uintptr_t) "ns",
                         .pod = (char *)(uintptr_t)pod,
                         .container = (char *)(uintptr_t) "c",
                         .profile = "1g.5gb",
                         .ids = ids,
                         .n_ids = 1 };
    dp_broker_on_held(w->b, 0, &h, 1, w->now_ms);
    free(ids[0]);
}

static size_t n_made(const struct world *w)
{
    size_t n = 0;
    for (size_t i = 0; i < N_PLACES; i++)
        n += w->gi[i];
    return n;
}

/* ---- tests -------------------------------------------------------------------------------------
 */

static void test_a_slice_is_made_and_taken_down(void **state SW_UNUSED)
{
    struct world w;
    open_world(&w, 1);
    sync_all(&w);
    add_pod(&w, "a", "1g.5gb", 1, false);
    struct claim *c = add_claim(&w, "c1", "a", 3);
    allocate(&w, 7, "1g.5gb-0");
    settle(&w);
    assert_int_equal(w.n_answered, 1);
    assert_int_equal(w.codes[0], 0);
    assert_true(w.gi[3] && w.ci[3]);
    assert_int_equal(c->state, SW_CLAIM_IN_USE);
    dp_broker_on_pod_gone(w.b, "a", w.now_ms);
    settle(&w);
    assert_int_equal(n_made(&w), 0);
    assert_false(c->there);
    close_world(&w);
}

static void test_claims_go_through_every_state(void **state SW_UNUSED)
{
    struct world w;
    open_world(&w, 1);
    sync_all(&w);
    add_pod(&w, "a", "1g.5gb", 1, false);
    add_claim(&w, "c1", "a", 0);
    allocate(&w, 1, "1g.5gb-0");
    enum sw_claim_state seen[4];
    size_t n = 0;
    struct dp_action *a;
    while ((a = dp_broker_next(w.b))) {
        if (a->act == DP_ACT_CLAIM_STATE && n < 4)
            seen[n++] = a->state;
        carry_out(&w, a);
        dp_action_free(a);
    }
    assert_int_equal(n, 2);
    assert_int_equal(seen[0], SW_CLAIM_PROCESSING);
    assert_int_equal(seen[1], SW_CLAIM_IN_USE);
    close_world(&w);
}

static void test_no_claim_in_time_is_refused_with_words(void **state SW_UNUSED)
{
    struct world w;
    open_world(&w, 1);
    sync_all(&w);
    add_pod(&w, "a", "1g.5gb", 1, false);
    allocate(&w, 1, "1g.5gb-0");
    settle(&w);
    assert_int_equal(dp_broker_next_ms(w.b), w.now_ms + 10000);
    w.now_ms += 9999;
    dp_broker_tick(w.b, w.now_ms);
    settle(&w);
    assert_int_equal(w.n_answered, 0);
    w.now_ms += 1;
    dp_broker_tick(w.b, w.now_ms);
    settle(&w);
    assert_int_equal(w.codes[0], SW_NOTFOUND);
    assert_non_null(strstr(w.message, "no AllocationClaim for 1 x 1g.5gb within 10 s"));
    close_world(&w);
}

static void test_only_a_container_that_wants_just_that_is_a_candidate(void **state SW_UNUSED)
{
    struct world w;
    open_world(&w, 1);
    sync_all(&w);
    add_pod(&w, "two", "1g.5gb", 2, false);
    add_claim(&w, "c1", "two", 0);
    add_claim(&w, "c2", "two", 1);
    add_pod(&w, "other", "2g.10gb", 1, false);
    add_claim(&w, "c3", "other", 2); /* a claim for a profile that its pod does not want */
    add_pod(&w, "over", "1g.5gb", 1, true);
    allocate(&w, 1, "1g.5gb-0");
    settle(&w);
    assert_int_equal(w.n_answered, 0);
    assert_int_equal(n_made(&w), 0);
    const char *ids[] = { "1g.5gb-0", "1g.5gb-1" };
    dp_broker_allocate(w.b, 2, "1g.5gb", ids, 2, w.now_ms);
    settle(&w);
    assert_int_equal(w.n_answered, 1);
    assert_int_equal(w.answered[0], 2);
    assert_int_equal(n_made(&w), 2);
    close_world(&w);
}

static void test_the_oldest_claim_comes_first(void **state SW_UNUSED)
{
    struct world w;
    open_world(&w, 1);
    sync_all(&w);
    add_pod(&w, "young", "1g.5gb", 1, false);
    add_pod(&w, "old", "1g.5gb", 1, false);
    struct claim *first = add_claim(&w, "z-first", "old", 0);
    struct claim *second = add_claim(&w, "a-second", "young", 1);
    allocate(&w, 1, "1g.5gb-0");
    settle(&w);
    assert_int_equal(first->state, SW_CLAIM_IN_USE);
    assert_int_equal(second->state, SW_CLAIM_CREATED);
    close_world(&w);
}

static void test_claims_change_hands_when_kubelet_says_so(void **state SW_UNUSED)
{
    struct world w;
    open_world(&w, 1);
    sync_all(&w);
    add_pod(&w, "a", "1g.5gb", 1, false);
    add_pod(&w, "b", "1g.5gb", 1, false);
    struct claim *ca = add_claim(&w, "ca", "a", 0), *cb = add_claim(&w, "cb", "b", 1);
    allocate(&w, 1, "1g.5gb-0"); /* b's, but we think a's */
    settle(&w);
    hold(&w, "b", "1g.5gb-0");
    settle(&w);
    assert_string_equal(ca->pod, "b");
    assert_string_equal(cb->pod, "a");
    dp_broker_on_pod_gone(w.b, "a", w.now_ms);
    settle(&w);
    assert_true(w.gi[0]); /* b keeps it */
    assert_false(cb->there);
    dp_broker_on_pod_gone(w.b, "b", w.now_ms);
    settle(&w);
    assert_int_equal(n_made(&w), 0);
    close_world(&w);
}

static void test_a_failed_step_undoes_all_and_gives_the_claims_back(void **state SW_UNUSED)
{
    for (int at = 1; at <= 4; at++) { /* GI and CI of two slices */
        struct world w;
        open_world(&w, 1);
        sync_all(&w);
        add_pod(&w, "a", "1g.5gb", 2, false);
        struct claim *c1 = add_claim(&w, "c1", "a", 0), *c2 = add_claim(&w, "c2", "a", 1);
        const char *ids[] = { "1g.5gb-0", "1g.5gb-1" };
        dp_broker_allocate(w.b, 1, "1g.5gb", ids, 2, w.now_ms);
        struct dp_action *a;
        int n = 0;
        while ((a = dp_broker_next(w.b))) {
            if (a->act == DP_ACT_STEP &&
                (a->step == DP_STEP_MAKE_GI || a->step == DP_STEP_MAKE_CI) && ++n == at)
                w.fail_next = SW_UNAVAILABLE;
            carry_out(&w, a);
            dp_action_free(a);
        }
        assert_int_equal(w.codes[0], SW_UNAVAILABLE);
        assert_int_equal(n_made(&w), 0);
        assert_int_equal(c1->state, SW_CLAIM_CREATED);
        assert_int_equal(c2->state, SW_CLAIM_CREATED);
        close_world(&w);
    }
}

static void test_a_removal_that_fails_is_tried_again_ever_more_slowly(void **state SW_UNUSED)
{
    struct world w;
    open_world(&w, 1);
    sync_all(&w);
    add_pod(&w, "a", "1g.5gb", 1, false);
    add_claim(&w, "c1", "a", 0);
    allocate(&w, 1, "1g.5gb-0");
    settle(&w);
    hold(&w, "a", "1g.5gb-0");
    dp_broker_on_pod_gone(w.b, "a", w.now_ms);
    static const int64_t waits[] = { 1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000 };
    for (size_t i = 0; i < SW_COUNT(waits); i++) {
        w.fail_next = SW_CONFLICT;
        settle(&w);
        assert_int_equal(dp_broker_next_ms(w.b), w.now_ms + waits[i]);
        w.now_ms += waits[i];
        dp_broker_tick(w.b, w.now_ms);
    }
    settle(&w);
    assert_int_equal(n_made(&w), 0);
    close_world(&w);
}

static struct dp_grant *record(const char *boot, enum dp_grant_state state, enum dp_slice_step step)
{
    struct dp_grant *g = dp_grant_new();
    g->id = sw_strdup("0123");
    g->state = state;
    g->boot_id = sw_strdup(boot);
    g->container = sw_strdup("c");
    g->pod = (struct dp_ref){ sw_strdup("ns"), sw_strdup("a"), sw_strdup("a") };
    struct dp_slice *s = dp_grant_add_slice(g);
    s->claim_ns = sw_strdup("das");
    s->claim = sw_strdup("c1");
    s->gpu = sw_strdup("GPU-0");
    s->place = (struct sw_mig_place){ 2, 1 };
    s->step = step;
    s->gi = 102;
    s->uuid = step == DP_MADE ? sw_strdup("MIG-x") : NULL;
    (void)strcpy(s->profile, "1g.5gb");
    return g;
}

static void test_records_of_another_life(void **state SW_UNUSED)
{
    for (int alive = 0; alive < 2; alive++)
        for (int made = 0; made < 3; made++)
            for (int there = 0; there < 2; there++) {
                struct world w;
                open_world(&w, 1);
                w.gi[2] = there;
                dp_broker_adopt(w.b, record("boot", made == 2 ? DP_READY : DP_MAKING,
                                            made == 2 ? DP_MADE
                                            : made    ? DP_INSTANCE
                                                      : DP_INTENT));
                add_pod(&w, alive ? "a" : "b", "1g.5gb", 1, false);
                struct claim *c = add_claim(&w, "c1", "a", 2);
                c->state = made == 2 ? SW_CLAIM_IN_USE : SW_CLAIM_PROCESSING;
                tell_claim(&w, c);
                settle(&w);
                assert_int_equal(w.gi[2], there); /* nothing before the pods are known */
                sync_all(&w);
                settle(&w);
                assert_int_equal(w.gi[2], there && alive && made == 2);
                assert_int_equal(c->there, alive);
                assert_int_equal(c->there ? c->state : SW_CLAIM_STAGED, !alive ? SW_CLAIM_STAGED
                                                                        : made == 2
                                                                            ? SW_CLAIM_IN_USE
                                                                            : SW_CLAIM_CREATED);
                close_world(&w);
            }
}

static void test_after_a_reboot(void **state SW_UNUSED)
{
    for (int same = 0; same < 2; same++) {
        struct world w;
        open_world(&w, 1);
        struct dp_grant *g = record("an older boot", DP_READY, DP_MADE);
        if (!same) {
            free(g->slices[0].uuid);
            g->slices[0].uuid = sw_strdup("MIG-another");
        }
        dp_broker_adopt(w.b, g);
        add_pod(&w, "a", "1g.5gb", 1, false);
        struct claim *c = add_claim(&w, "c1", "a", 2);
        c->state = SW_CLAIM_IN_USE;
        tell_claim(&w, c);
        dp_broker_on_pods_synced(w.b, w.now_ms);
        settle(&w);
        assert_int_equal(w.n_evicted, 0); /* the driver is not there yet: nobody is to blame */
        assert_int_equal(c->state, SW_CLAIM_IN_USE);
        sync_all(&w);
        settle(&w);
        assert_int_equal(w.gi[2], same);
        assert_int_equal(w.n_evicted, !same);
        close_world(&w);
    }
}

/* ---- any order ---------------------------------------------------------------------------------
 */

/* Answer some of what is asked for now, the rest later; fail some steps. */
static void mess_about(struct world *w)
{
    struct dp_action *a;
    while ((a = dp_broker_next(w->b))) {
        if (rnd(w, 3) == 0 && w->n_held < SW_COUNT(w->held)) {
            w->held[w->n_held++] = a;
            continue;
        }
        if (rnd(w, 12) == 0)
            w->fail_next = SW_UNAVAILABLE;
        carry_out(w, a);
        w->fail_next = 0;
        dp_action_free(a);
    }
    while (w->n_held && rnd(w, 2)) {
        const size_t i = rnd(w, (unsigned)w->n_held);
        a = w->held[i];
        w->held[i] = w->held[--w->n_held];
        if (a->act != DP_ACT_STEP || dp_broker_grant(w->b, a->grant_id))
            carry_out(w, a);
        dp_action_free(a);
    }
}

static void one_life(uint64_t seed)
{
    struct world w;
    open_world(&w, seed);
    sync_all(&w);
    const unsigned n = 2 + rnd(&w, 4);
    char uids[MAX_PODS][24], ids[MAX_PODS][24];
    for (unsigned i = 0; i < n; i++) {
        (void)snprintf(uids[i], sizeof uids[i], "p%u", i);
        (void)snprintf(ids[i], sizeof ids[i], "1g.5gb-%u", i);
    }
    unsigned asked = 0;
    for (unsigned i = 0; i < n; i++) {
        char name[24];
        (void)snprintf(name, sizeof name, "c%u", i);
        add_pod(&w, uids[i], "1g.5gb", 1, false);
        add_claim(&w, name, uids[i], i);
        mess_about(&w);
        if (rnd(&w, 2)) {
            asked++;
            allocate(&w, asked, ids[asked - 1]);
        }
        mess_about(&w);
        if (rnd(&w, 3) == 0 && asked)
            hold(&w, uids[rnd(&w, i + 1)], ids[rnd(&w, asked)]);
        mess_about(&w);
        if (rnd(&w, 4) == 0)
            dp_broker_on_pod_gone(w.b, uids[rnd(&w, i + 1)], w.now_ms);
        mess_about(&w);
        w.now_ms += rnd(&w, 3000);
        dp_broker_tick(w.b, w.now_ms);
    }
    for (unsigned i = 0; i < n; i++)
        dp_broker_on_pod_gone(w.b, uids[i], w.now_ms);
    for (int i = 0; i < 200; i++) { /* everything that was asked for is answered at last */
        while (w.n_held) {
            struct dp_action *a = w.held[--w.n_held];
            if (a->act != DP_ACT_STEP || dp_broker_grant(w.b, a->grant_id))
                carry_out(&w, a);
            dp_action_free(a);
        }
        settle(&w);
        w.now_ms += 61000;
        dp_broker_tick(w.b, w.now_ms);
    }
    struct dp_counts counts;
    dp_broker_count(w.b, &counts);
    if (n_made(&w) || counts.n_grants[0] + counts.n_grants[1] + counts.n_grants[2] ||
        counts.n_claims || counts.n_waiting)
        fail_msg("seed %llu: %zu slices, %zu claims, %zu calls are left", (unsigned long long)seed,
                 n_made(&w), counts.n_claims, counts.n_waiting);
    assert_int_equal(w.n_answered, asked); /* each call once */
    close_world(&w);
}

static void test_whatever_the_order_nothing_is_left(void **state SW_UNUSED)
{
    for (uint64_t seed = 1; seed <= 3000; seed++)
        one_life(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_slice_is_made_and_taken_down),
        cmocka_unit_test(test_claims_go_through_every_state),
        cmocka_unit_test(test_no_claim_in_time_is_refused_with_words),
        cmocka_unit_test(test_only_a_container_that_wants_just_that_is_a_candidate),
        cmocka_unit_test(test_the_oldest_claim_comes_first),
        cmocka_unit_test(test_claims_change_hands_when_kubelet_says_so),
        cmocka_unit_test(test_a_failed_step_undoes_all_and_gives_the_claims_back),
        cmocka_unit_test(test_a_removal_that_fails_is_tried_again_ever_more_slowly),
        cmocka_unit_test(test_records_of_another_life),
        cmocka_unit_test(test_after_a_reboot),
        cmocka_unit_test(test_whatever_the_order_nothing_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
