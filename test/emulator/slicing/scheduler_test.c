/* The scheduler on the emulator, asked as kube-scheduler asks it: what it writes, what it takes
 * back when a write fails, what it collects, whom it wakes. */
#include "ranges.h"
#include "scheduler_world.h"

/* ---- binding -----------------------------------------------------------------------------------
 */

/* The definition that DAS and older versions bring: a claim is staged until it is marked. */
static void stage_new_claims(struct sched_world *w)
{
    struct json_object *crd = world_get(&w->w, "apiextensions.k8s.io/v1",
                                        "CustomResourceDefinition", NULL,
                                        "allocationclaims.inference.redhat.com");
    struct json_object *versions = sw_json_find(crd, "spec", "versions", NULL);
    sw_json_set_str(sw_json_at(versions, 0), "staged", "schema", "openAPIV3Schema", "properties",
                    "status", "default", "state", NULL);
    SW_AUTO_CHARS *patch = sw_printf("{\"spec\":{\"versions\":%s}}",
                                     json_object_to_json_string(versions));
    assert_int_equal(world_patch(&w->w, "apiextensions.k8s.io/v1", "CustomResourceDefinition", NULL,
                                 "allocationclaims.inference.redhat.com", NULL, patch),
                     0);
}

static void test_bind_takes_two_writes(void **state)
{
    struct sched_world *w = *state;
    SW_AUTO_CHARS *uid = add_pod(w, "p", ONE);
    assert_string_equal(bind_pod(w, "p", uid, "a"), "{\"Error\":\"\"}");
    assert_string_equal(w->trail, "create allocationclaims;create pods/binding;");
    assert_string_equal(pod_node(w, "p"), "a");
    SW_AUTO_CHARS *name = sw_printf("%s-a-main-0", uid);
    struct json_object *claim = world_get(&w->w, CLAIMS, NS, name);
    assert_string_equal(sw_json_str(claim, "", "status", "state", NULL), "created");
    assert_string_equal(sw_json_str(claim, "", "spec", "profile", NULL), "1g.5gb");
    assert_string_equal(sw_json_str(claim, "", "spec", "gpuUUID", NULL), "GPU-a-0");
    assert_string_equal(sw_json_str(claim, "", "spec", "nodename", NULL), "a");
    assert_string_equal(sw_obj_label(claim, "slipway.dev/node"), "a");
    assert_string_equal(sw_obj_label(claim, "slipway.dev/pod-uid"), uid);
    assert_string_equal(sw_json_str(claim, "", "spec", "podRef", "uid", NULL), uid);
    assert_string_equal(sw_json_str(claim, "", "spec", "podRef", "namespace", NULL), "default");
    assert_int_equal(sw_json_int(claim, 0, "spec", "migPlacement", "size", NULL), 1);
    assert_true(metric(w, "slipway_scheduler_bound_total") == 1);
    assert_true(metric(w, "slipway_scheduler_reservations") == 0);
}

static void test_staged_claim_is_marked_before_its_pod_is_bound(void **state)
{
    struct sched_world *w = *state;
    stage_new_claims(w);
    SW_AUTO_CHARS *uid = add_pod(w, "p", ONE);
    assert_string_equal(bind_pod(w, "p", uid, "a"), "{\"Error\":\"\"}");
    assert_string_equal(w->trail, "create allocationclaims;update allocationclaims/status;"
                                  "create pods/binding;");
    SW_AUTO_CHARS *name = sw_printf("%s-a-main-0", uid);
    struct json_object *claim = world_get(&w->w, CLAIMS, NS, name);
    assert_string_equal(sw_json_str(claim, "", "status", "state", NULL), "created");
    assert_string_equal(sw_json_str(sw_obj_condition(claim, "State"), "", "reason", NULL),
                        "created");
}

/* The clock of the node was set after the start. */
static void test_times_in_claims_are_those_of_the_wall_clock(void **state)
{
    struct sched_world *w = *state;
    char now[21];
    stage_new_claims(w);
    SW_AUTO_CHARS *uid = add_pod(w, "p", ONE);
    sw_loop_set_wall(w->w.conn.loop, INT64_C(400) * 86400 * 1000);
    assert_string_equal(bind_pod(w, "p", uid, "a"), "{\"Error\":\"\"}");
    SW_AUTO_CHARS *name = sw_printf("%s-a-main-0", uid);
    struct json_object *claim = world_get(&w->w, CLAIMS, NS, name);
    const char *since = sw_json_str(sw_obj_condition(claim, "State"), "", "lastTransitionTime",
                                    NULL);
    (void)sw_time_rfc3339(sw_loop_wall_ms(w->w.conn.loop), now);
    assert_memory_equal(since, now, strlen("2026-01-02"));
}

/* A client writes to a claim between its creation and its mark. */
static void test_claim_changed_meanwhile_is_marked_all_the_same(void **state)
{
    struct sched_world *w = *state;
    stage_new_claims(w);
    SW_AUTO_CHARS *uid = add_pod(w, "p", ONE);
    w->fail_at = 2;
    w->fault = SW_FAULT_ERROR;
    w->fault_code = 409;
    assert_string_equal(bind_pod(w, "p", uid, "a"), "{\"Error\":\"\"}");
    assert_string_equal(w->trail, "create allocationclaims;update allocationclaims/status;"
                                  "patch allocationclaims/status;create pods/binding;");
    SW_AUTO_CHARS *name = sw_printf("%s-a-main-0", uid);
    struct json_object *claim = world_get(&w->w, CLAIMS, NS, name);
    assert_string_equal(sw_json_str(claim, "", "status", "state", NULL), "created");
    assert_string_equal(sw_obj_label(claim, "slipway.dev/node"), "a");
}

static void test_new_claim_is_created(void **state)
{
    struct sched_world *w = *state;
    assert_int_equal(world_create(&w->w,
                                  "{\"apiVersion\":\"inference.redhat.com/v1alpha1\",\"kind\":"
                                  "\"AllocationClaim\",\"metadata\":{\"name\":\"x\",\"namespace\":"
                                  "\"" NS "\"},\"spec\":{}}"),
                     0);
    assert_string_equal(sw_json_str(world_get(&w->w, CLAIMS, NS, "x"), "", "status", "state", NULL),
                        "created");
}

static void test_gang_is_bound_with_a_claim_for_each_slice(void **state)
{
    struct sched_world *w = *state;
    SW_AUTO_CHARS *uid = add_pod(w, "p", "\"mig.das.com/1g.5gb\":3,\"mig.das.com/2g.10gb\":1");
    assert_string_equal(bind_pod(w, "p", uid, "a"), "{\"Error\":\"\"}");
    assert_int_equal(n_claims(w), 4);
    assert_int_equal(w->n_writes, 5);
    assert_false(fits(w, ALL));
    assert_true(fits(w, ONE));
}

static void test_pod_without_slices_passes(void **state)
{
    struct sched_world *w = *state;
    SW_AUTO_CHARS *uid = add_pod(w, "p", "\"cpu\":1");
    assert_string_equal(bind_pod(w, "p", uid, "a"), "{\"Error\":\"\"}");
    assert_string_equal(w->trail, "create pods/binding;");
    assert_string_equal(pod_node(w, "p"), "a");
}

static void test_full_node_is_refused_before_anything_is_written(void **state)
{
    struct sched_world *w = *state;
    SW_AUTO_CHARS *first = add_pod(w, "p1", ALL), *second = add_pod(w, "p2", ONE);
    (void)bind_pod(w, "p1", first, "a");
    w->n_writes = 0;
    assert_string_equal(bind_pod(w, "p2", second, "a"),
                        "{\"Error\":\"a: room for 0 of 1 x 1g.5gb\"}");
    assert_int_equal(w->n_writes, 0);
    assert_int_equal(n_claims(w), 1);
}

static bool is_unlabelled(struct world *w, void *arg SW_UNUSED)
{
    return !fits((struct sched_world *)w, ONE);
}

static void test_bind_of_another_pod_of_that_name_is_refused(void **state)
{
    struct sched_world *w = *state;
    SW_AUTO_CHARS *uid = add_pod(w, "p", ONE);
    assert_non_null(strstr(bind_pod(w, "p", "another-uid", "a"), "another one"));
    assert_non_null(strstr(bind_pod(w, "nobody", "no-uid", "a"), "read the pod"));
    assert_int_equal(n_claims(w), 0);
}

/* Each write in turn fails in each way: either the pod is bound with its claims, or nothing is
 * left, and trying again succeeds. */
static void fail_any_write(struct sched_world *w, uint64_t n_writes)
{
    static const struct {
        enum sw_emu_fault_type type;
        int code;
    } faults[] = { { SW_FAULT_ERROR, 403 }, { SW_FAULT_ERROR, 409 }, { SW_FAULT_ERROR, 500 },
                   { SW_FAULT_RESET, 0 },   { SW_FAULT_LOST, 0 },    { SW_FAULT_HANG, 0 } };
    const char *gang = "\"mig.das.com/1g.5gb\":2";
    for (size_t f = 0; f < SW_COUNT(faults); f++)
        for (uint64_t at = 1; at <= n_writes; at++) {
            SW_AUTO_CHARS *name = sw_printf("p-%zu-%d", f, (int)at);
            SW_AUTO_CHARS *uid = add_pod(w, name, gang);
            w->n_writes = 0;
            w->fail_at = at;
            w->fault = faults[f].type;
            w->fault_code = faults[f].code;
            const bool ok = strcmp(bind_pod(w, name, uid, "a"), "{\"Error\":\"\"}") == 0;
            const bool bound = strcmp(pod_node(w, name), "a") == 0;
            w->fail_at = 0;
            if (ok != bound)
                fail_msg("fault %zu at write %d: said %d, is %d", f, (int)at, ok, bound);
            if (!bound) {
                assert_true(world_until(&w->w, has_no_claims, NULL, 90000));
                assert_string_equal(bind_pod(w, name, uid, "a"), "{\"Error\":\"\"}");
            }
            assert_int_equal(n_claims(w), 2);
            assert_true(metric(w, "slipway_scheduler_reservations") == 0);
            delete_pod(w, name);
            assert_true(world_until(&w->w, has_no_claims, NULL, 90000));
        }
}

static void test_any_write_may_fail(void **state)
{
    fail_any_write(*state, 3);
}

static void test_any_write_may_fail_where_claims_are_staged(void **state)
{
    stage_new_claims(*state);
    fail_any_write(*state, 5);
}

static void test_node_that_is_not_usable_any_more_is_refused(void **state)
{
    struct sched_world *w = *state;
    SW_AUTO_CHARS *uid = add_pod(w, "p", ONE);
    assert_true(fits(w, ONE));
    (void)world_patch(&w->w, "v1", "Node", NULL, "a", NULL,
                      "{\"metadata\":{\"labels\":{\"nvidia.com/mig.capable\":null}}}");
    assert_true(world_until(&w->w, is_unlabelled, NULL, 10000));
    assert_string_equal(bind_pod(w, "p", uid, "a"),
                        "{\"Error\":\"a: not labelled as able to cut GPUs\"}");
    assert_int_equal(w->n_writes, 0);
    assert_non_null(strstr(bind_pod(w, "p", uid, "nowhere"), "nowhere: no GPU here"));
}

/* ---- with others at work -----------------------------------------------------------------------
 */

static bool is_trailing(struct world *w, void *arg)
{
    return ((struct sched_world *)w)->n_writes >= *(const uint64_t *)arg;
}

static const struct sw_kind *claim_kind(struct sched_world *w)
{
    return sw_kube_kind_find(w->w.conn.kube, CLAIMS);
}

static void on_done(const struct sw_kube_answer *a, void *arg SW_UNUSED)
{
    assert_int_equal(a->code, 0);
}

static bool delete_claim_at_binding(struct sched_world *w, const struct sw_emu_request *req)
{
    if (!sw_streq(req->subresource, "binding"))
        return false;
    SW_AUTO_CHARS *name = sw_printf("%s-a-main-0", w->uid);
    (void)sw_kube_delete(w->w.conn.kube, claim_kind(w), NS, name, NULL, on_done, w);
    return true;
}

static bool is_room_for_all(struct world *w, void *arg SW_UNUSED)
{
    return fits((struct sched_world *)w, ALL);
}

/* Somebody deletes the claim while its pod is being bound: what it took is free again. */
static void test_claim_deleted_while_its_pod_is_bound(void **state)
{
    struct sched_world *w = *state;
    SW_AUTO_CHARS *uid = add_pod(w, "p", ONE);
    assert_int_equal(n_claims(w), 0); /* and so the kind is known */
    w->uid = uid;
    w->at_write = delete_claim_at_binding;
    (void)bind_pod(w, "p", uid, "a");
    w->at_write = NULL;
    assert_int_equal(n_claims(w), 0);
    delete_pod(w, "p");
    assert_true(world_until(&w->w, is_room_for_all, NULL, 60000));
}

/* The API server takes nothing any more: what was reserved for claims that were never made is free
 * when nobody works at them any more. */
static void test_nothing_stays_reserved_when_nothing_can_be_written(void **state)
{
    struct sched_world *w = *state;
    SW_AUTO_CHARS *uid = add_pod(w, "p", "\"mig.das.com/1g.5gb\":2");
    w->fail_at = 1;
    w->fail_until = 1000;
    w->fault = SW_FAULT_RESET;
    assert_non_null(strstr(bind_pod(w, "p", uid, "a"), "create the claim"));
    w->fail_at = w->fail_until = 0;
    assert_true(metric(w, "slipway_scheduler_reservations") == 0);
    delete_pod(w, "p");
    assert_true(world_until(&w->w, is_room_for_all, NULL, 60000));
}

/* API servers of 1.20 bind whatever pod has the name, the Binding's uid notwithstanding: one that
 * is made anew under the same name is not bound for the one that is gone. */
static bool delete_pod_at_claim(struct sched_world *w, const struct sw_emu_request *req)
{
    if (!sw_streq(req->verb, "create") || !sw_streq(req->resource, "allocationclaims"))
        return false;
    (void)sw_kube_delete(w->w.conn.kube, sw_kube_kind_find(w->w.conn.kube, "v1", "Pod"), "default",
                         "p", &(struct sw_request_opts){ .grace_period_s = -1 }, on_done, w);
    return true;
}

static void test_pod_that_goes_while_its_claim_is_written_is_not_bound(void **state)
{
    struct sched_world *w = *state;
    SW_AUTO_CHARS *uid = add_pod(w, "p", ONE);
    w->at_write = delete_pod_at_claim;
    assert_non_null(strstr(bind_pod(w, "p", uid, "a"), "the pod is gone"));
    assert_null(strstr(w->trail, "binding"));
    assert_int_equal(n_claims(w), 0);
    assert_true(fits(w, ALL));
}

/* What another replica has created for the pod a moment before is not ours to delete. */
static bool create_it_first(struct sched_world *w, const struct sw_emu_request *req)
{
    SW_AUTO_JSON *doc = NULL;
    assert_int_equal(sw_json_parse(req->body, req->body_len, NULL, &doc, NULL), 0);
    (void)sw_kube_create(w->w.conn.kube, claim_kind(w), NS, NULL, doc, NULL, on_done, w);
    w->at_write = NULL;
    return true;
}

static void test_claim_that_another_replica_created_stays(void **state)
{
    struct sched_world *w = *state;
    SW_AUTO_CHARS *uid = add_pod(w, "p", ONE);
    assert_int_equal(n_claims(w), 0); /* and so the kind is known */
    w->at_write = create_it_first;
    assert_non_null(strstr(bind_pod(w, "p", uid, "a"), "already exists"));
    assert_int_equal(n_claims(w), 1);
    assert_false(fits(w, ALL));
    assert_string_equal(bind_pod(w, "p", uid, "a"), "{\"Error\":\"\"}"); /* it serves */
    assert_int_equal(n_claims(w), 1);
}

/* One that was stopped for a while, or hears late, does not know what another one has given away
 * since: it finds out before it binds. */
static void test_replica_that_hears_late_gives_nothing_away_twice(void **state)
{
    struct sched_world *w = *state;
    SW_AUTO_CHARS *first = add_pod(w, "p1", ALL), *second = add_pod(w, "p2", ALL);
    struct sched_world late = { .w = w->w }; /* another replica in the same world */
    w->late_ms = 5000;
    start(&late);
    assert_string_equal(bind_pod(w, "p1", first, "a"), "{\"Error\":\"\"}");
    assert_true(fits(&late, ALL)); /* so it thinks */
    assert_non_null(strstr(bind_pod(&late, "p2", second, "a"), "gave the same slices away"));
    assert_string_equal(pod_node(w, "p2"), "");
    assert_int_equal(n_claims(w), 1);
    assert_string_equal(pod_node(w, "p1"), "a");
    free(late.answer);
    kill_it(&late);
}

/* A replica is stuck between claim and Binding, another one takes over and binds the pod; what the
 * first one takes back then is not what the pod runs with. */
static void test_replica_that_was_stuck_leaves_the_other_s_claim(void **state)
{
    struct sched_world *w = *state;
    stage_new_claims(w);
    SW_AUTO_CHARS *uid = add_pod(w, "p", ONE);
    SW_AUTO_CHARS *body = sw_printf("{\"PodName\":\"p\",\"PodNamespace\":\"default\",\"PodUID\":"
                                    "\"%s\",\"Node\":\"a\"}",
                                    uid);
    struct sched_world stuck = { .w = w->w }; /* another replica in the same world */
    const uint64_t two = 2;
    start(&stuck);
    w->fail_at = 2;
    w->fault = SW_FAULT_HANG;
    (void)sw_kube_raw(stuck.ask, "POST", "/bind",
                      &(struct sw_request_opts){ .body = body, .timeout_ms = 60000 }, on_answer,
                      &stuck);
    assert_true(world_until(&w->w, is_trailing, (void *)&two, 60000));
    assert_string_equal(bind_pod(w, "p", uid, "a"), "{\"Error\":\"\"}");
    w->fail_at = w->n_writes + 1;
    w->fail_until = w->n_writes + 1000;
    w->fail_verb = "update";
    assert_true(world_until(&stuck.w, is_told, NULL, 60000));
    assert_non_null(strstr(stuck.answer, "mark the claim created"));
    world_wait(&w->w, 60000);
    assert_string_equal(pod_node(w, "p"), "a");
    assert_int_equal(n_claims(w), 1);
    assert_false(fits(&stuck, ALL));
    free(stuck.answer);
    kill_it(&stuck);
}

/* ---- restarts ----------------------------------------------------------------------------------
 */

/* Killed after each write: the next one knows what is taken, and the pod is bound in the end. */
static void test_killed_at_any_write(void **state)
{
    struct sched_world *w = *state;
    for (uint64_t at = 1; at <= 2; at++) {
        SW_AUTO_CHARS *name = sw_printf("p-%d", (int)at);
        SW_AUTO_CHARS *uid = add_pod(w, name, ALL);
        SW_AUTO_CHARS *body = sw_printf("{\"PodName\":\"%s\",\"PodNamespace\":\"default\","
                                        "\"PodUID\":\"%s\",\"Node\":\"a\"}",
                                        name, uid);
        w->n_writes = 0;
        free(SW_TAKE(w->answer));
        (void)sw_kube_raw(w->ask, "POST", "/bind",
                          &(struct sw_request_opts){ .body = body, .timeout_ms = 60000 }, on_answer,
                          w);
        assert_true(world_until(&w->w, is_trailing, (void *)&at, 60000));
        kill_it(w);
        start(w);
        assert_int_equal(n_claims(w), 1);
        assert_false(fits(w, ONE)); /* what was written counts */
        if (strcmp(pod_node(w, name), "a") != 0)
            assert_string_equal(bind_pod(w, name, uid, "a"), "{\"Error\":\"\"}");
        assert_string_equal(pod_node(w, name), "a");
        assert_int_equal(n_claims(w), 1);
        delete_pod(w, name);
        assert_true(world_until(&w->w, has_no_claims, NULL, 90000));
    }
}

static void test_left_on_another_node_is_cleared_first(void **state)
{
    struct sched_world *w = *state;
    add_node(&w->w, "b", 1);
    SW_AUTO_CHARS *uid = add_pod(w, "p", ALL);
    /* as a scheduler that died between claim and Binding leaves it */
    w->n_writes = 0;
    w->fail_at = 2;
    w->fault = SW_FAULT_HANG;
    free(SW_TAKE(w->answer));
    SW_AUTO_CHARS *body = sw_printf("{\"PodName\":\"p\",\"PodNamespace\":\"default\",\"PodUID\":"
                                    "\"%s\",\"Node\":\"b\"}",
                                    uid);
    (void)sw_kube_raw(w->ask, "POST", "/bind",
                      &(struct sw_request_opts){ .body = body, .timeout_ms = 60000 }, on_answer, w);
    const uint64_t two = 2;
    assert_true(world_until(&w->w, is_trailing, (void *)&two, 60000));
    kill_it(w);
    w->fail_at = 0;
    start(w);
    w->trail[0] = '\0';
    assert_string_equal(bind_pod(w, "p", uid, "a"), "{\"Error\":\"\"}");
    assert_true(sw_starts_with(w->trail, "delete allocationclaims;create allocationclaims;"));
    assert_int_equal(n_claims(w), 1);
    assert_string_equal(sw_json_str(sw_json_at(world_get(&w->w, CLAIMS, NS, NULL), 0), "", "spec",
                                    "nodename", NULL),
                        "a");
}

/* A scheduler that has not seen the Binding asks for another node; then for the same one. */
static void test_bound_pod_keeps_its_claims(void **state)
{
    struct sched_world *w = *state;
    add_node(&w->w, "b", 1);
    SW_AUTO_CHARS *uid = add_pod(w, "p", ALL), *plain = add_pod(w, "plain", "\"cpu\":1");
    assert_string_equal(bind_pod(w, "p", uid, "a"), "{\"Error\":\"\"}");
    assert_string_equal(bind_pod(w, "plain", plain, "a"), "{\"Error\":\"\"}");
    w->trail[0] = '\0';
    assert_non_null(strstr(bind_pod(w, "p", uid, "b"), "bound to node 'a' already"));
    assert_non_null(strstr(bind_pod(w, "plain", plain, "b"), "bound to node 'a' already"));
    assert_string_equal(bind_pod(w, "p", uid, "a"), "{\"Error\":\"\"}");
    assert_string_equal(w->trail, "");
    assert_int_equal(n_claims(w), 1);
    /* nor does one that begins anew, and may have seen the claim before the pod */
    kill_it(w);
    start(w);
    assert_non_null(strstr(bind_pod(w, "p", uid, "b"), "bound to node 'a' already"));
    assert_string_equal(w->trail, "");
    assert_int_equal(n_claims(w), 1);
}

/* ---- collecting --------------------------------------------------------------------------------
 */

static void add_claim(struct sched_world *w, const char *name, const char *pod, const char *uid,
                      const char *state)
{
    SW_AUTO_CHARS *text = sw_printf(
        "{\"apiVersion\":\"inference.redhat.com/v1alpha1\",\"kind\":\"AllocationClaim\","
        "\"metadata\":{\"name\":\"%s\",\"namespace\":\"" NS "\"},\"spec\":{\"profile\":\"1g.5gb\","
        "\"podRef\":{\"namespace\":\"default\",\"name\":\"%s\",\"uid\":\"%s\"},\"migPlacement\":"
        "{\"size\":1,\"start\":0},\"gpuUUID\":\"GPU-a-0\",\"nodename\":\"a\"}}",
        name, pod, uid);
    SW_AUTO_CHARS *status = sw_printf("{\"status\":{\"state\":\"%s\"}}", state);
    assert_int_equal(world_create(&w->w, text), 0);
    assert_int_equal(world_patch(&w->w, CLAIMS, NS, name, "status", status), 0);
}

static bool is_gone(struct world *w, void *arg)
{
    return world_get(w, CLAIMS, NS, arg) == NULL;
}

static void test_claims_of_vanished_pods_are_collected(void **state)
{
    struct sched_world *w = *state;
    add_claim(w, "staged", "nobody", "u1", "staged");
    add_claim(w, "created", "nobody", "u2", "created");
    add_claim(w, "in-use", "nobody", "u3", "inUse"); /* a slice exists: the node's to unmake */
    assert_true(world_until(&w->w, is_gone, "staged", 60000));
    assert_true(world_until(&w->w, is_gone, "created", 60000));
    world_wait(&w->w, 120000);
    assert_false(is_gone(&w->w, "in-use"));
    /* but where the node is gone nobody will */
    (void)world_delete(&w->w, "inference.redhat.com/v1alpha1", "NodeAccelerator", NS, "a");
    (void)world_delete(&w->w, "v1", "Node", NULL, "a");
    assert_true(world_until(&w->w, is_gone, "in-use", 180000));
}

static void test_many_claims_of_a_vanished_pod_are_collected_at_once(void **state)
{
    struct sched_world *w = *state;
    SW_AUTO_CHARS *uid = add_pod(w, "p", ONE);
    (void)bind_pod(w, "p", uid, "a");
    for (int i = 0; i < 200; i++) {
        SW_AUTO_CHARS *name = sw_printf("c%d", i);
        add_claim(w, name, "p", uid, "created");
    }
    assert_int_equal(n_claims(w), 201);
    delete_pod(w, "p");
    /* some at a time, and none waits for the next round of two seconds */
    assert_true(world_until(&w->w, has_no_claims, NULL, 6000));
}

static bool has_no_accelerator(struct world *w, void *arg)
{
    return world_get(w, "inference.redhat.com/v1alpha1", "NodeAccelerator", NS, arg) == NULL;
}

static void test_accelerator_of_a_deselected_node_goes(void **state)
{
    struct sched_world *w = *state;
    assert_false(has_no_accelerator(&w->w, "a"));
    assert_int_equal(world_patch(&w->w, "v1", "Node", NULL, "a", NULL,
                                 "{\"metadata\":{\"labels\":{\"nvidia.com/mig.capable\":null}}}"),
                     0);
    assert_true(world_until(&w->w, has_no_accelerator, "a", 180000));
}

static bool is_labelled(struct world *w, void *arg)
{
    return sw_streq(sw_obj_label(world_get(w, CLAIMS, NS, arg), "slipway.dev/node"), "a");
}

static void test_claims_of_others_get_the_label_of_their_node(void **state)
{
    struct sched_world *w = *state;
    add_claim(w, "theirs", "nobody", "u1", "inUse");
    assert_true(world_until(&w->w, is_labelled, "theirs", 60000));
}

static void test_claims_of_living_pods_stay(void **state)
{
    struct sched_world *w = *state;
    SW_AUTO_CHARS *uid = add_pod(w, "p", ONE);
    (void)bind_pod(w, "p", uid, "a");
    world_wait(&w->w, 300000);
    assert_int_equal(n_claims(w), 1);
}

static void test_claim_of_a_pod_that_is_never_bound_is_collected(void **state)
{
    struct sched_world *w = *state;
    SW_AUTO_CHARS *uid = add_pod(w, "p", ONE);
    add_claim(w, "left", "p", uid, "staged");
    world_wait(&w->w, 20000);
    assert_false(is_gone(&w->w, "left"));
    assert_true(world_until(&w->w, is_gone, "left", 60000));
    assert_true(metric(w, "slipway_scheduler_collected_total") == 1);
}

/* ---- waking ------------------------------------------------------------------------------------
 */

static const char *epoch(struct world *w)
{
    const char *value = sw_obj_label(world_get(w, "v1", "Node", NULL, "a"), SW_SCHEDULER_EPOCH);
    return value ? value : "";
}

static bool is_touched(struct world *w, void *arg)
{
    return strcmp(epoch(w), arg) != 0;
}

/* @nodes: "\"a\",\"b\"" */
static void refuse_at(struct sched_world *w, const char *name, const char *uid, const char *limits,
                      const char *nodes)
{
    SW_AUTO_CHARS *body = sw_printf(
        "{\"Pod\":{\"metadata\":{\"name\":\"%s\",\"namespace\":\"default\",\"uid\":\"%s\"},"
        "\"spec\":{\"containers\":[{\"name\":\"main\",\"resources\":{\"limits\":{%s}}}]}},"
        "\"NodeNames\":[%s]}",
        name, uid, limits, nodes);
    assert_non_null(strstr(ask(w, "/filter", body), "\"NodeNames\":[]"));
}

static void refuse(struct sched_world *w, const char *name, const char *uid, const char *limits)
{
    refuse_at(w, name, uid, limits, "\"a\"");
}

static void test_node_is_touched_when_somebody_waits(void **state)
{
    struct sched_world *w = *state;
    SW_AUTO_CHARS *first = add_pod(w, "p1", ALL), *second = add_pod(w, "p2", ONE);
    (void)bind_pod(w, "p1", first, "a");
    SW_AUTO_CHARS *claim = sw_printf("%s-a-main-0", first);
    refuse(w, "p2", second, ONE);
    world_wait(&w->w, 10000);
    assert_string_equal(epoch(&w->w), "");
    const int64_t begin_ms = world_now(&w->w);
    (void)world_delete(&w->w, CLAIMS, NS, claim);
    assert_true(world_until(&w->w, is_touched, "", 10000));
    /* the clock leaps while an answer is on its way: so this is an upper bound of what is needed */
    assert_between(strtoll(epoch(&w->w), NULL, 10) - begin_ms, 0, 2999);
    SW_AUTO_CHARS *once = sw_strdup(epoch(&w->w));
    /* bound by now, nobody waits: nothing is written any more */
    (void)bind_pod(w, "p2", second, "a");
    SW_AUTO_CHARS *other = sw_printf("%s-a-main-0", second);
    (void)world_delete(&w->w, CLAIMS, NS, other);
    world_wait(&w->w, 10000);
    assert_string_equal(epoch(&w->w), once);
}

static void test_node_is_touched_once_a_second_at_most(void **state)
{
    struct sched_world *w = *state;
    SW_AUTO_CHARS *uid = add_pod(w, "waiting", ONE);
    add_claim(w, "whole", "x", "ux", "inUse");
    (void)world_patch(&w->w, CLAIMS, NS, "whole", NULL,
                      "{\"spec\":{\"profile\":\"7g.40gb\",\"migPlacement\":{\"size\":8}}}");
    world_wait(&w->w, 100);
    refuse(w, "waiting", uid, ONE);
    (void)world_delete(&w->w, CLAIMS, NS, "whole");
    world_wait(&w->w, 500);
    const double before = metric(w, "slipway_scheduler_touches_total");
    const int64_t begin_ms = world_now(&w->w);
    assert_true(before == 1);
    for (int i = 0; i < 20; i++) {
        SW_AUTO_CHARS *name = sw_printf("c%d", i);
        add_claim(w, name, "x", "ux", "inUse");
        (void)world_delete(&w->w, CLAIMS, NS, name);
        world_wait(&w->w, 100);
    }
    const double n = metric(w, "slipway_scheduler_touches_total") - before;
    assert_between((int)n, 1, (world_now(&w->w) - begin_ms) / 1000 + 1);
}

static void test_claim_for_nobody_s_profile_wakes_nobody(void **state)
{
    struct sched_world *w = *state;
    SW_AUTO_CHARS *uid = add_pod(w, "big", ALL);
    add_claim(w, "c1", "x", "ux", "inUse");
    add_claim(w, "c2", "x", "ux", "inUse");
    (void)world_patch(&w->w, CLAIMS, NS, "c2", NULL, "{\"spec\":{\"migPlacement\":{\"start\":4}}}");
    world_wait(&w->w, 100);
    refuse(w, "big", uid, ALL);
    (void)world_delete(&w->w, CLAIMS, NS, "c1"); /* c2 is still in its way */
    world_wait(&w->w, 5000);
    assert_string_equal(epoch(&w->w), "");
    (void)world_delete(&w->w, CLAIMS, NS, "c2");
    assert_true(world_until(&w->w, is_touched, "", 5000));
}

static const char *sent_again(struct world *w)
{
    return sw_json_str(world_get(w, "v1", "Pod", "default", "p"), "", "metadata", "annotations",
                       SW_SCHEDULER_EPOCH, NULL);
}

static bool is_sent_again(struct world *w, void *arg SW_UNUSED)
{
    return *sent_again(w) != '\0';
}

/* Of a big cluster kube-scheduler has asked about the others: 1.20 tries a pod that is written to
 * at once. Source: test/cluster/scheduler_test.sh. */
static void test_pod_is_sent_again_when_a_node_not_asked_about_has_room(void **state)
{
    struct sched_world *w = *state;
    SW_AUTO_CHARS *uid = add_pod(w, "p", ONE);
    struct printbuf *names = printbuf_new();
    for (int i = 0; i < 100; i++)
        sprintbuf(names, "%s\"other-%d\"", i ? "," : "", i);
    refuse_at(w, "p", uid, ONE, names->buf);
    printbuf_free(names);
    assert_true(world_until(&w->w, is_sent_again, NULL, 1000));
    assert_true(world_until(&w->w, is_touched, "", 10000)); /* newer ones look at nodes */
    assert_true(metric(w, "slipway_scheduler_sent_again_total") == 1);
}

static bool is_woken(struct world *w, void *arg)
{
    return *sw_json_str(world_get(w, "v1", "Pod", "default", arg), "", "metadata", "annotations",
                        SW_SCHEDULER_EPOCH, NULL);
}

/* kube-scheduler moves a pod that is updated into its active queue, and leaves all others alone. */
static void test_waiting_pods_are_woken_as_many_as_fit(void **state)
{
    struct sched_world *w = *state;
    SW_AUTO_CHARS *first = add_pod(w, "first", ALL);
    (void)bind_pod(w, "first", first, "a");
    SW_AUTO_CHARS *claim = sw_printf("%s-a-main-0", first);
    static const char *const names[] = { "w1", "w2", "w3" };
    for (size_t i = 0; i < SW_COUNT(names); i++) {
        SW_AUTO_CHARS *uid = add_pod(w, names[i], "\"mig.das.com/3g.20gb\":1");
        refuse(w, names[i], uid, "\"mig.das.com/3g.20gb\":1");
    }
    world_wait(&w->w, 5000);
    (void)world_delete(&w->w, CLAIMS, NS, claim);
    w->trail[0] = '\0';
    assert_true(world_until(&w->w, is_woken, "w1", 200));
    assert_true(world_until(&w->w, is_woken, "w2", 200));
    assert_false(is_woken(&w->w, "w3")); /* a GPU has room for two */
    /* that did not help: all are tried */
    assert_true(world_until(&w->w, is_touched, "", 10000));
    assert_string_equal(w->trail, "patch pods;patch pods;patch nodes;");
}

static void test_claim_of_a_deleted_pod_is_collected_at_once(void **state)
{
    struct sched_world *w = *state;
    SW_AUTO_CHARS *uid = add_pod(w, "p", ONE);
    (void)bind_pod(w, "p", uid, "a");
    world_wait(&w->w, 2500);
    delete_pod(w, "p");
    assert_true(world_until(&w->w, has_no_claims, NULL, 200));
}

/* ---- the rest ----------------------------------------------------------------------------------
 */

/* Two replicas: any answers, one collects; when it is gone the other one does. */
static void test_one_of_two_replicas_collects(void **state)
{
    struct sched_world *w = *state;
    struct sw_scheduler *two[2] = { NULL };
    static const char *const names[] = { "one", "two" };
    SW_AUTO_CHARS *uid = add_pod(w, "p", ONE);
    kill_it(w);
    for (int i = 0; i < 2; i++) {
        const struct sw_scheduler_opts opts = { .ns = NS,
                                                .node_label = "nvidia.com/mig.capable=true",
                                                .extender = { .address = "127.0.0.1" },
                                                .leader_elect = true,
                                                .lease_ns = NS,
                                                .lease_name = "slipway-scheduler",
                                                .identity = names[i] };
        assert_int_equal(sw_scheduler_open(w->w.conn.loop, w->w.conn.config, &opts, &two[i], NULL),
                         0);
        w->s = two[i];
        assert_true(world_until(&w->w, is_synced, NULL, 60000));
    }
    world_wait(&w->w, 30000);
    w->s = two[0];
    const bool first = metric(w, "slipway_scheduler_leading") == 1;
    w->s = two[1];
    assert_true((metric(w, "slipway_scheduler_leading") == 1) == !first);
    add_claim(w, "left", "nobody", "u1", "created");
    assert_true(world_until(&w->w, is_gone, "left", 60000));
    sw_scheduler_close(two[!first]); /* whoever leads dies without a word */
    w->s = two[first];
    SW_AUTO_CHARS *url = sw_printf("http://127.0.0.1:%d", sw_scheduler_port(w->s));
    w->config = sw_kube_config_new(url);
    assert_int_equal(sw_kube_new(w->w.conn.loop, w->config, NULL, &w->ask, NULL), 0);
    assert_string_equal(bind_pod(w, "p", uid, "a"), "{\"Error\":\"\"}"); /* it answers at once */
    add_claim(w, "again", "nobody", "u2", "created");
    assert_true(world_until(&w->w, is_gone, "again", 120000));
    assert_true(metric(w, "slipway_scheduler_leading") == 1);
}

static void on_counted(const struct sw_kube_answer *a, void *arg)
{
    if (a->code == 0 && strcmp(a->text, "{\"Error\":\"\"}") == 0)
        ++*(int *)arg;
}

/* More at once than are let through: the next question waits, everybody is answered. */
static void test_burst_of_binds_holds_the_next_question_back(void **state)
{
    enum { N = 70 };
    struct sched_world *w = *state;
    struct sw_kube *many = NULL;
    int n_bound = 0;
    char *uids[N];
    add_node(&w->w, "big", 10);
    assert_int_equal(sw_kube_new(w->w.conn.loop, w->config,
                                 &(struct sw_kube_opts){ .max_in_flight = N }, &many, NULL),
                     0);
    for (int i = 0; i < N; i++) {
        SW_AUTO_CHARS *name = sw_printf("p%d", i);
        uids[i] = add_pod(w, name, ONE);
    }
    for (int i = 0; i < N; i++) {
        SW_AUTO_CHARS *body = sw_printf("{\"PodName\":\"p%d\",\"PodNamespace\":\"default\","
                                        "\"PodUID\":\"%s\",\"Node\":\"big\"}",
                                        i, uids[i]);
        (void)sw_kube_raw(many, "POST", "/bind", &(struct sw_request_opts){ .body = body },
                          on_counted, &n_bound);
        free(uids[i]);
    }
    for (int i = 0; i < 50; i++) /* they arrive */
        sw_loop_step(w->w.conn.loop, 0);
    SW_AUTO_CHARS *pod = sw_printf(
        "{\"Pod\":{\"metadata\":{\"name\":\"x\",\"uid\":\"x\"},\"spec\":{"
        "\"containers\":[{\"name\":\"c\",\"resources\":{\"limits\":{%s}}}]}},"
        "\"NodeNames\":[\"a\",\"big\"]}",
        ONE);
    assert_non_null(strstr(ask(w, "/filter", pod), "\"NodeNames\":[\"a\"]"));
    while (n_bound < N)
        sw_loop_step(w->w.conn.loop, 1000);
    assert_int_equal(n_claims(w), N);
    assert_true(metric(w, "slipway_scheduler_undone_total") == 0);
    sw_kube_free(many);
}

static void test_nothing_is_written_at_rest(void **state)
{
    struct sched_world *w = *state;
    SW_AUTO_CHARS *uid = add_pod(w, "p", ONE);
    (void)bind_pod(w, "p", uid, "a");
    w->n_writes = 0;
    world_wait(&w->w, 3600000);
    assert_int_equal(w->n_writes, 0);
}

static void test_filter_writes_nothing(void **state)
{
    struct sched_world *w = *state;
    for (int i = 0; i < 50; i++)
        assert_true(fits(w, ONE));
    assert_int_equal(w->n_writes, 0);
    assert_true(fits(w, ALL)); /* nor is anything reserved by asking */
}

static void test_bad_requests_are_answered(void **state)
{
    struct sched_world *w = *state;
    static const char *const paths[] = { "/filter", "/prioritize", "/preempt", "/bind" };
    for (size_t i = 0; i < SW_COUNT(paths); i++) {
        (void)ask(w, paths[i], "nonsense");
        assert_int_equal(w->status, 400);
    }
    (void)ask(w, "/other", "{}");
    assert_int_equal(w->status, 404);
    assert_true(metric(w, "slipway_scheduler_bad_requests_total") == 4);
}

static void test_before_the_cluster_is_read_nobody_is_answered_wrongly(void **state)
{
    struct sched_world *w = *state;
    (void)world_delete(&w->w, "apiextensions.k8s.io/v1", "CustomResourceDefinition", NULL,
                       "allocationclaims.inference.redhat.com");
    kill_it(w);
    SW_ERR(err);
    const struct sw_scheduler_opts opts = { .ns = NS, .extender = { .address = "127.0.0.1" } };
    assert_int_equal(sw_scheduler_open(w->w.conn.loop, w->w.conn.config, &opts, &w->s, &err), 0);
    SW_AUTO_CHARS *url = sw_printf("http://127.0.0.1:%d", sw_scheduler_port(w->s));
    w->config = sw_kube_config_new(url);
    assert_int_equal(sw_kube_new(w->w.conn.loop, w->config, NULL, &w->ask, &err), 0);
    assert_non_null(strstr(ask(w, "/filter", "{}"), "\"Error\":\"slipway-scheduler: "));
    assert_non_null(strstr(bind_pod(w, "p", "u", "a"), "slipway-scheduler: "));
    apply_crd(&w->w, "allocationclaims"); /* it comes after all */
    assert_true(world_until(&w->w, is_synced, NULL, 60000));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_bind_takes_two_writes),
        T(test_staged_claim_is_marked_before_its_pod_is_bound),
        T(test_times_in_claims_are_those_of_the_wall_clock),
        T(test_claim_changed_meanwhile_is_marked_all_the_same),
        T(test_new_claim_is_created),
        T(test_gang_is_bound_with_a_claim_for_each_slice),
        T(test_pod_without_slices_passes),
        T(test_full_node_is_refused_before_anything_is_written),
        T(test_bind_of_another_pod_of_that_name_is_refused),
        T(test_node_that_is_not_usable_any_more_is_refused),
        T(test_any_write_may_fail),
        T(test_any_write_may_fail_where_claims_are_staged),
        T(test_claim_deleted_while_its_pod_is_bound),
        T(test_nothing_stays_reserved_when_nothing_can_be_written),
        T(test_pod_that_goes_while_its_claim_is_written_is_not_bound),
        T(test_claim_that_another_replica_created_stays),
        T(test_replica_that_hears_late_gives_nothing_away_twice),
        T(test_replica_that_was_stuck_leaves_the_other_s_claim),
        T(test_killed_at_any_write),
        T(test_left_on_another_node_is_cleared_first),
        T(test_bound_pod_keeps_its_claims),
        T(test_claims_of_vanished_pods_are_collected),
        T(test_many_claims_of_a_vanished_pod_are_collected_at_once),
        T(test_claims_of_others_get_the_label_of_their_node),
        T(test_accelerator_of_a_deselected_node_goes),
        T(test_claims_of_living_pods_stay),
        T(test_claim_of_a_pod_that_is_never_bound_is_collected),
        T(test_node_is_touched_when_somebody_waits),
        T(test_node_is_touched_once_a_second_at_most),
        T(test_claim_for_nobody_s_profile_wakes_nobody),
        T(test_waiting_pods_are_woken_as_many_as_fit),
        T(test_claim_of_a_deleted_pod_is_collected_at_once),
        T(test_pod_is_sent_again_when_a_node_not_asked_about_has_room),
        T(test_one_of_two_replicas_collects),
        T(test_burst_of_binds_holds_the_next_question_back),
        T(test_nothing_is_written_at_rest),
        T(test_filter_writes_nothing),
        T(test_bad_requests_are_answered),
        T(test_before_the_cluster_is_read_nobody_is_answered_wrongly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
