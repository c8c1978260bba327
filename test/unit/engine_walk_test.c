/* Walks of small recipes on a simulated cluster: what each row of the table is for. */
#include "engine_sim.h"

#include "engine/table.h"

/* ---- means -------------------------------------------------------------------------------------
 */

#define STATES(...)                                                                                \
    {                                                                                              \
        .states = { __VA_ARGS__ }, .n_states = 0                                                   \
    }

/* Counts what the initialisers left: fewer numbers to get wrong. */
static struct sim *new_sim(const struct sim_recipe *recipe)
{
    struct sim *sim = sim_new(recipe, 1);
    struct sim_recipe *r = &sim->recipe;
    while (r->n_states < SW_COUNT(r->states) && r->states[r->n_states].name) {
        struct sim_state *s = &r->states[r->n_states++];
        while (s->n_objects < SW_COUNT(s->objects) && s->objects[s->n_objects].kind)
            s->n_objects++;
    }
    sim_node(sim, "n0", "{'kernel':'k1'}");
    sim_node(sim, "n1", "{'kernel':'k1'}");
    return sim;
}

static struct sim *walked(const struct sim_recipe *recipe)
{
    struct sim *sim = new_sim(recipe);
    sim_start(sim);
    sim_run(sim, 60000);
    return sim;
}

static void edit(struct sim *sim, size_t state, size_t object)
{
    sim->recipe.states[state].objects[object].content++;
    sim->generation++;
    sim->revision = sw_arena_printf(sim->arena, "%lld", (long long)sim->generation);
    sim_spec(sim);
}

static void expect_phase(struct sim *sim, const char *state, const char *phase)
{
    if (strcmp(sim_phase(sim, state), phase) != 0)
        fail_msg("%s is %s (%s), not %s\n%s", state, sim_phase(sim, state), sim_message(sim, state),
                 phase, sim->log ? sim->log : "");
}

static void expect_message(struct sim *sim, const char *state, const char *part)
{
    if (!strstr(sim_message(sim, state), part))
        fail_msg("%s says '%s', not '%s'", state, sim_message(sim, state), part);
}

static size_t place_in_log(struct sim *sim, const char *what)
{
    const char *at = sim->log ? strstr(sim->log, what) : NULL;
    if (!at)
        fail_msg("there is no '%s' in\n%s", what, sim->log ? sim->log : "");
    return (size_t)(at - sim->log);
}

static void expect_order(struct sim *sim, const char *first, const char *second)
{
    if (place_in_log(sim, first) >= place_in_log(sim, second))
        fail_msg("'%s' does not come before '%s' in\n%s", first, second, sim->log);
}

static void expect_never(struct sim *sim, const char *what)
{
    if (sim->log && strstr(sim->log, what))
        fail_msg("there is a '%s' in\n%s", what, sim->log);
}

static const char *condition(struct sim *sim, const char *type, const char *field)
{
    struct json_object *all = sw_json_get(sim->status, "conditions");
    return sw_json_str(sw_json_find_by(all, "type", type), "", field, NULL);
}

/* Refuse what @arg names: "apply ConfigMap" and so on, with @code. */
struct refusal {
    enum sw_action_kind kind;
    const char *object;
    int code;
    size_t n;
};

static int refuse(struct sim *sim, const struct sw_action *a)
{
    struct refusal *r = sim->arg;
    const char *name = a->kind == SW_ACT_RENDER ? a->state : a->key.name;
    if (!r->code || a->kind != r->kind || (r->object && !sw_streq(r->object, name)))
        return 0;
    r->n++;
    return r->code;
}

static void set_status(struct sim *sim, const char *kind, const char *name, const char *status)
{
    (void)sim_set_status(sim, sim_find(sim, kind, name), sim_json(status));
}

/* Somebody else's object: not made by slipway. */
static void foreign(struct sim *sim, const char *kind, const char *name, const char *rest)
{
    struct json_object *doc = sim_json(rest);
    sw_json_set_str(doc, sim_api_version(kind), "apiVersion", NULL);
    sw_json_set_str(doc, kind, "kind", NULL);
    sw_json_set_str(doc, name, "metadata", "name", NULL);
    if (strcmp(kind, "Namespace") != 0)
        sw_json_set_str(doc, SIM_NS, "metadata", "namespace", NULL);
    (void)sim_put(sim, doc);
}

#define NEEDS(...) .needs = { __VA_ARGS__ }, .n_needs = SW_COUNT(((size_t[]){ __VA_ARGS__ }))

static const struct sim_recipe chain = STATES(
    { .name = "a",
      .objects = { { .kind = "ConfigMap", .name = "a1" },
                   { .kind = "Deployment", .name = "a2", .awaited = true } } },
    { .name = "b",
      NEEDS(0),
      .objects = { { .kind = "DaemonSet", .name = "b1", .awaited = true } } },
    { .name = "c", NEEDS(1), .objects = { { .kind = "Pod", .name = "c1", .awaited = true } } }, );

/* ---- the straight walk -------------------------------------------------------------------------
 */

static void states_follow_each_other(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    expect_phase(sim, "a", "Ready");
    expect_phase(sim, "c", "Ready");
    expect_order(sim, "apply Deployment a2", "apply DaemonSet b1");
    expect_order(sim, "apply DaemonSet b1", "apply Pod c1");
    assert_string_equal(sim_label(sim, "n0", "a"), "Ready");
    assert_string_equal(sim_label(sim, "n1", "c"), "Ready");
    assert_int_equal(sim->n_applies, 4);
    assert_int_equal(sw_engine_phase(sim->engine), SW_PHASE_READY);
    assert_string_equal(condition(sim, "Ready", "status"), "True");
    assert_string_equal(condition(sim, "Ready", "reason"), "Success");
    assert_string_equal(condition(sim, "Progressing", "status"), "False");
    assert_string_equal(condition(sim, "Progressing", "reason"), "SpecialResourceIsReady");
    sim_free(sim);
}

static void few_writes_are_enough(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    assert_in_range(sim->n_statuses, 2, 3); /* the plan, and that it is ready */
    assert_in_range(sim->n_labels, 2, 6);   /* at most one a node and state */
    assert_int_equal(sim->n_useless, 0);
    sim_free(sim);
}

static void at_rest_nothing_is_written(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    size_t before = sim->n_applies + sim->n_labels + sim->n_statuses;
    sim_resync(sim);
    sim_run(sim, 3600000);
    sim_step(sim, &(struct sw_event){ .kind = SW_EV_FACTS });
    sim_run(sim, 3600000);
    assert_int_equal(sim->n_applies + sim->n_labels + sim->n_statuses, before);
    sim_free(sim);
}

static void a_restart_writes_nothing(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    size_t before = sim->n_applies + sim->n_labels + sim->n_statuses;
    sim_clear_log(sim);
    sim_restart(sim);
    sim_run(sim, 3600000);
    expect_phase(sim, "c", "Ready");
    assert_int_equal(sim->n_applies + sim->n_labels + sim->n_statuses, before);
    expect_never(sim, "event");
    sim_free(sim);
}

static void independent_states_run_side_by_side(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a", .objects = { { .kind = "Deployment", .name = "a1", .awaited = true } } },
        { .name = "b", .objects = { { .kind = "Deployment", .name = "b1", .awaited = true } } },
        { .name = "c", NEEDS(0, 1), .objects = { { .kind = "ConfigMap", .name = "c1" } } }, );
    struct sim *sim = new_sim(&recipe);
    sim->frozen = true;
    sim_start(sim);
    sim_run(sim, 1000);
    expect_phase(sim, "a", "Waiting");
    expect_phase(sim, "b", "Waiting");
    expect_phase(sim, "c", "Pending");
    expect_message(sim, "c", "waits for a (Waiting), b (Waiting)");
    sim->frozen = false;
    sim_run(sim, 1000);
    expect_phase(sim, "c", "Ready");
    sim_free(sim);
}

static void nothing_is_applied_before_it_is_written_down(void **state)
{
    (void)state;
    struct refusal no = { SW_ACT_STATUS, NULL, SW_UNAVAILABLE, 0 };
    struct sim *sim = new_sim(&chain);
    sim->arg = &no;
    sim->refuse = refuse;
    sim_start(sim);
    sim_run(sim, 5000);
    assert_int_equal(sim->n_applies, 0);
    assert_in_range(no.n, 2, 10); /* it backs off */
    no.code = 0;
    sim_run(sim, 60000);
    expect_phase(sim, "c", "Ready");
    assert_int_equal(sw_json_len(sw_json_get(sim->status, "inventory")), 4);
    sim_free(sim);
}

/* ---- order within a state ----------------------------------------------------------------------
 */

static void objects_are_applied_by_stage_and_kind(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = { { .kind = "ValidatingWebhookConfiguration", .name = "a1" },
                       { .kind = "Deployment", .name = "a2", .awaited = true },
                       { .kind = "ConfigMap", .name = "a3" },
                       { .kind = "Namespace", .name = "a4" },
                       { .kind = "Job", .name = "a5", .awaited = true, .stage = -1 },
                       { .kind = "ConfigMap", .name = "a6", .stage = 1 } } }, );
    struct sim *sim = new_sim(&recipe);
    sim->frozen = true;
    sim_start(sim);
    sim_run(sim, 1000);
    assert_int_equal(sim->n_applies, 1); /* the hook before all, which has not ended */
    sim->frozen = false;
    sim_run(sim, 60000);
    expect_order(sim, "apply Job a5", "apply Namespace a4");
    expect_order(sim, "apply Namespace a4", "apply ConfigMap a3");
    expect_order(sim, "apply ConfigMap a3", "apply Deployment a2");
    expect_order(sim, "apply Deployment a2", "apply ValidatingWebhookConfiguration a1");
    expect_order(sim, "apply ValidatingWebhookConfiguration a1", "apply ConfigMap a6");
    expect_phase(sim, "a", "Ready");
    sim_free(sim);
}

static void webhooks_are_published_when_their_server_is_ready(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = { { .kind = "ValidatingWebhookConfiguration", .name = "a1" },
                       { .kind = "Deployment", .name = "a2", .awaited = true } } }, );
    struct sim *sim = new_sim(&recipe);
    sim->frozen = true;
    sim_start(sim);
    sim_run(sim, 60000);
    expect_never(sim, "apply ValidatingWebhookConfiguration");
    expect_phase(sim, "a", "Applying");
    expect_message(sim, "a", "Deployment ns/a2");
    sim->frozen = false;
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Ready");
    sim_free(sim);
}

static void a_failed_stage_fails_the_state(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = { { .kind = "Job",
                         .name = "a1",
                         .awaited = true,
                         .annotations = "{'sim/stuck':'1','slipway.dev/retries':'0'}",
                         .stage = -1 },
                       { .kind = "ConfigMap", .name = "a2" } } }, );
    struct sim *sim = walked(&recipe);
    expect_phase(sim, "a", "Applying");
    set_status(sim, "Job", "a1",
               "{'conditions':[{'type':'Failed','status':'True','reason':'Backoff'}]}");
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Failed");
    expect_message(sim, "a", "Job ns/a1 condition Failed is True: Backoff");
    assert_string_equal(condition(sim, "Errored", "status"), "True");
    assert_string_equal(condition(sim, "Errored", "reason"), "FailedToDeployChart");
    expect_never(sim, "apply ConfigMap a2");
    sim_free(sim);
}

/* ---- gates -------------------------------------------------------------------------------------
 */

static void only_what_is_awaited_is_waited_for(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = {
              { .kind = "Deployment", .name = "a1", .annotations = "{'sim/stuck':'1'}" } } }, );
    struct sim *sim = walked(&recipe);
    expect_phase(sim, "a", "Ready");
    sim_free(sim);
}

static void a_shut_gate_takes_ready_back(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    sim->frozen = true;
    set_status(sim, "Deployment", "a2",
               "{'observedGeneration':1,'replicas':1,'updatedReplicas':1}");
    sim_run(sim, 2000);
    expect_phase(sim, "a", "Waiting");
    expect_message(sim, "a", "Deployment ns/a2 0 of 1 pods are ready");
    expect_phase(sim, "b", "Ready"); /* what runs goes on */
    assert_string_equal(condition(sim, "Ready", "status"), "False");
    assert_string_equal(sim_label(sim, "n0", "a"), "Ready"); /* for a while */
    sim_run(sim, 600000);
    assert_null(sim_label(sim, "n0", "a"));
    sim->frozen = false;
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Ready");
    assert_string_equal(sim_label(sim, "n0", "a"), "Ready");
    sim_free(sim);
}

static void what_failed_may_recover(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = { { .kind = "Deployment",
                         .name = "a1",
                         .awaited = true,
                         .annotations = "{'sim/stuck':'1'}" } } }, );
    struct sim *sim = walked(&recipe);
    const char *timed_out = "{'observedGeneration':1,'conditions':[{'type':'Progressing',"
                            "'status':'False','reason':'ProgressDeadlineExceeded'}]}";
    set_status(sim, "Deployment", "a1", timed_out);
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Failed");
    set_status(sim, "Deployment", "a1", "{'observedGeneration':1,'replicas':1}");
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Waiting");
    sim_live_deployment(sim, sim_find(sim, "Deployment", "a1"));
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Ready");
    set_status(sim, "Deployment", "a1", timed_out);
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Failed");
    sim_live_deployment(sim, sim_find(sim, "Deployment", "a1"));
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Ready");
    sim_free(sim);
}

static const struct sim_recipe observing = STATES(
    { .name = "a",
      .objects = { { .kind = "ClusterPolicy",
                     .name = "p",
                     .annotations = "{'slipway.dev/observe':'true'}" } } },
    { .name = "b",
      NEEDS(0),
      .objects = { { .kind = "DaemonSet",
                     .name = "b1",
                     .awaited = true,
                     .needs_label = SIM_LABEL "a" } } },
    { .name = "c", NEEDS(0), .objects = { { .kind = "ConfigMap", .name = "c1" } } }, );

static void what_others_own_is_waited_for_and_never_written(void **state)
{
    (void)state;
    struct sim *sim = walked(&observing);
    expect_phase(sim, "a", "Waiting");
    expect_message(sim, "a", "ClusterPolicy ns/p does not exist");
    foreign(sim, "ClusterPolicy", "p", "{}");
    sim_run(sim, 60000);
    expect_message(sim, "a", "has no status.state yet");
    assert_int_equal(sim->n_applies, 0);
    set_status(sim, "ClusterPolicy", "p", "{'state':'ready'}");
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Ready");
    expect_phase(sim, "b", "Ready");
    expect_never(sim, "ClusterPolicy");
    sim_free(sim);
}

static void what_others_take_back_holds_new_nodes_only(void **state)
{
    (void)state;
    struct sim *sim = new_sim(&observing);
    foreign(sim, "ClusterPolicy", "p", "{'status':{'state':'ready'}}");
    sim_start(sim);
    sim_run(sim, 60000);
    expect_phase(sim, "b", "Ready");
    sim_clear_log(sim);
    set_status(sim, "ClusterPolicy", "p", "{'state':'notReady'}");
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Held");
    expect_phase(sim, "b", "Ready");
    (void)place_in_log(sim, "event StateHeld");
    assert_string_equal(condition(sim, "Ready", "status"), "False");
    sim_node(sim, "n2", "{'kernel':'k1'}");
    sim_run(sim, 3600000);
    assert_null(sim_label(sim, "n2", "a"));
    assert_null(sim_label(sim, "n2", "b"));
    assert_null(sim_find(sim, "Pod", "b1-n2"));
    assert_string_equal(sim_label(sim, "n0", "a"), "Ready"); /* running payload stays */
    assert_non_null(sim_find(sim, "Pod", "b1-n0"));
    sim_remove(sim, sim_find(sim, "ConfigMap", "c1")); /* nothing new begins, not even a repair */
    sim_run(sim, 60000);
    assert_null(sim_find(sim, "ConfigMap", "c1"));
    sim_restart(sim); /* all of this is found again */
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Held");
    expect_phase(sim, "b", "Ready");
    set_status(sim, "ClusterPolicy", "p", "{'state':'ready'}");
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Ready");
    assert_string_equal(sim_label(sim, "n2", "b"), "Ready");
    assert_non_null(sim_find(sim, "ConfigMap", "c1"));
    sim_free(sim);
}

static void what_others_bring_ready_holds_though_slipway_applied_it(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = { { .kind = "ClusterPolicy",
                         .name = "p",
                         .awaited = true,
                         .annotations = "{'slipway.dev/hold':'true'}" } } },
        { .name = "b", NEEDS(0), .objects = { { .kind = "ConfigMap", .name = "b1" } } }, );
    struct sim *sim = walked(&recipe);
    set_status(sim, "ClusterPolicy", "p", "{'state':'ready'}");
    sim_run(sim, 60000);
    expect_phase(sim, "b", "Ready");
    set_status(sim, "ClusterPolicy", "p", "{'state':'notReady'}");
    sim_node(sim, "n2", "{'kernel':'k1'}");
    sim_run(sim, 3600000);
    expect_phase(sim, "a", "Held");
    assert_string_equal(sim_label(sim, "n0", "a"), "Ready");
    assert_null(sim_label(sim, "n2", "a"));
    sim_remove(sim, sim_find(sim, "ClusterPolicy", "p")); /* it is slipway's to put right */
    sim_run(sim, 60000);
    assert_non_null(sim_find(sim, "ClusterPolicy", "p"));
    set_status(sim, "ClusterPolicy", "p", "{'state':'ready'}");
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Ready");
    assert_string_equal(sim_label(sim, "n2", "b"), "Ready");
    sim_free(sim);
}

static void held_states_follow_the_recipe_too(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = { { .kind = "ClusterPolicy",
                         .name = "p",
                         .annotations = "{'slipway.dev/observe':'true',"
                                        "'helm.sh/readiness-success':'[\\\"{"
                                        ".state} == ready\\\"]','helm.sh/"
                                        "readiness-failure':'[\\\"{.state} "
                                        "== broken\\\"]'}" },
                       { .kind = "ConfigMap", .name = "a2" } } }, );
    struct sim *sim = new_sim(&recipe);
    foreign(sim, "ClusterPolicy", "p", "{'status':{'state':'ready'}}");
    sim_start(sim);
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Ready");
    set_status(sim, "ClusterPolicy", "p", "{'state':'busy'}");
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Held");
    sim_remove(sim, sim_find(sim, "ConfigMap", "a2")); /* its own objects are kept in order */
    sim_run(sim, 60000);
    assert_non_null(sim_find(sim, "ConfigMap", "a2"));
    expect_phase(sim, "a", "Held");
    set_status(sim, "ClusterPolicy", "p", "{'state':'broken'}");
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Failed");
    expect_message(sim, "a", "{.state} == broken holds");
    set_status(sim, "ClusterPolicy", "p", "{'state':'ready'}");
    sim_run(sim, 60000);
    set_status(sim, "ClusterPolicy", "p", "{'state':'busy'}");
    sim_run(sim, 60000);
    edit(sim, 0, 1);
    sim_run(sim, 60000);
    assert_int_equal(sw_json_int(sim_find(sim, "ConfigMap", "a2"), 0, "spec", "content", NULL), 1);
    set_status(sim, "ClusterPolicy", "p", "{'state':'ready'}");
    sim_run(sim, 60000);
    set_status(sim, "ClusterPolicy", "p", "{'state':'busy'}");
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Held");
    sim->recipe.states[0].objects[2] = (struct sim_object){ .kind = "ConfigMap", .name = "a3" };
    sim->recipe.states[0].n_objects = 3;
    edit(sim, 0, 1); /* another object */
    sim_run(sim, 60000);
    assert_non_null(sim_find(sim, "ConfigMap", "a3"));
    sim_free(sim);
}

/* ---- nodes -------------------------------------------------------------------------------------
 */

static void a_new_node_walks_by_itself(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    sim_clear_log(sim);
    sim_node(sim, "n2", "{'kernel':'k1'}");
    sim_run(sim, 60000);
    assert_string_equal(sim_label(sim, "n2", "a"), "Ready");
    assert_string_equal(sim_label(sim, "n2", "b"), "Ready");
    assert_string_equal(sim_label(sim, "n2", "c"), "Ready");
    expect_never(sim, "apply");
    expect_never(sim, "label n0");
    sim_free(sim);
}

static void a_slow_node_holds_nobody_up(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a", .objects = { { .kind = "DaemonSet", .name = "a1", .awaited = true } } },
        { .name = "b",
          NEEDS(0),
          .objects = { { .kind = "DaemonSet",
                         .name = "b1",
                         .awaited = true,
                         .needs_label = SIM_LABEL "a" } } },
        { .name = "c",
          NEEDS(0),
          .objects = { { .kind = "Deployment", .name = "c1", .awaited = true } } }, );
    struct sim *sim = new_sim(&recipe);
    sim->frozen = true;
    sim_start(sim);
    sim_run(sim, 1000);
    struct json_object *a1 = sim_find(sim, "DaemonSet", "a1");
    for (int i = 0; i < 2; i++)
        (void)sim_live_daemon_set(sim, a1);                 /* both pods are made... */
    (void)sim_live_pod(sim, sim_find(sim, "Pod", "a1-n0")); /* ...and one becomes ready */
    (void)sim_live_daemon_set(sim, a1);
    sim_run(sim, 1000);
    assert_string_equal(sim_label(sim, "n0", "a"), "Ready");
    assert_null(sim_label(sim, "n1", "a"));
    expect_phase(sim, "a", "Waiting");
    expect_phase(sim, "b", "Waiting"); /* begun: its pods run where a has finished */
    expect_phase(sim, "c", "Pending"); /* this one might run anywhere */
    sim->frozen = false;
    sim_run(sim, 60000);
    expect_phase(sim, "c", "Ready");
    sim_free(sim);
}

static void a_broken_pod_takes_its_node_s_label_off(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    sim->frozen = true;
    struct json_object *pod = sim_find(sim, "Pod", "b1-n0");
    (void)sim_set_status(sim, pod,
                         sim_json("{'phase':'Running','containerStatuses':[{'name':'driver',"
                                  "'state':{'waiting':{'reason':'CrashLoopBackOff'}},'lastState':{"
                                  "'terminated':{'exitCode':7}}}]}"));
    sim_run(sim, 1000);
    assert_null(sim_label(sim, "n0", "b"));
    assert_string_equal(sim_label(sim, "n1", "b"), "Ready");
    expect_message(sim, "b", "pod b1-n0 on node n0: container driver: CrashLoopBackOff");
    expect_message(sim, "b", "exit code 7");
    sim->frozen = false;
    sim_run(sim, 60000);
    assert_string_equal(sim_label(sim, "n0", "b"), "Ready");
    sim_free(sim);
}

static void a_missed_heartbeat_takes_nothing_off_for_a_while(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    sim->frozen = true;
    sim_push(sim, SW_EV_NODE)->event.node = sim_roster_put(sim, "n0", "k1", false);
    (void)sim_set_status(sim, sim_find(sim, "Pod", "b1-n0"), sim_json("{'phase':'Running'}"));
    sim_run(sim, 200000);
    assert_string_equal(sim_label(sim, "n0", "b"), "Ready");
    sim_run(sim, 200000);
    assert_null(sim_label(sim, "n0", "b"));
    sim_free(sim);
}

static void deselected_nodes_lose_their_labels(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a", .objects = { { .kind = "ConfigMap", .name = "a1" } } }, );
    struct sim *sim = new_sim(&recipe);
    sim->node_selector = "{'gpu':'yes'}";
    sim_node(sim, "n0", "{'kernel':'k1','gpu':'yes'}");
    sim_start(sim);
    sim_run(sim, 60000);
    assert_string_equal(sim_label(sim, "n0", "a"), "Ready");
    assert_null(sim_label(sim, "n1", "a"));
    /* The node lost its label: wait, it may come back. */
    json_object_object_del(sw_json_get(sim->nodes, "n0"), "gpu");
    sim_push(sim, SW_EV_NODE)->event.node = sim_roster_put(sim, "n0", "k1", true);
    sim_run(sim, 200000);
    assert_string_equal(sim_label(sim, "n0", "a"), "Ready");
    sim_run(sim, 200000);
    assert_null(sim_label(sim, "n0", "a"));
    /* The user chose other nodes: at once. */
    json_object_object_add(sw_json_get(sim->nodes, "n0"), "gpu", json_object_new_string("yes"));
    sim_push(sim, SW_EV_NODE)->event.node = sim_roster_put(sim, "n0", "k1", true);
    sim_run(sim, 1000);
    assert_string_equal(sim_label(sim, "n0", "a"), "Ready");
    sim->node_selector = "{'gpu':'no'}";
    sim->generation++;
    sim_spec(sim);
    sim_run(sim, 1000);
    assert_null(sim_label(sim, "n0", "a"));
    sim_free(sim);
}

static void no_matching_node_is_not_ready(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = { { .kind = "DaemonSet",
                         .name = "a1",
                         .awaited = true,
                         .needs_label = "nobody-has-this" } } },
        { .name = "b",
          .affine = true,
          .objects = { { .kind = "DaemonSet", .name = "b1-%s", .awaited = true } } },
        { .name = "c",
          .objects = { { .kind = "ConfigMap",
                         .name = "c1",
                         .annotations = "{'slipway.dev/wait-for-node-labels':'x'}" } } }, );
    struct sim *sim = new_sim(&recipe);
    sim->node_selector = "{'none':'has'}";
    sim_start(sim);
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Waiting");
    expect_message(sim, "a", "matches no node");
    expect_phase(sim, "b", "Waiting");
    expect_message(sim, "b", "no node matches");
    expect_phase(sim, "c", "Waiting");
    expect_message(sim, "c", "no node matches");
    sim_free(sim);
}

static void node_labels_may_be_waited_for(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = {
              { .kind = "ConfigMap",
                .name = "a1",
                .annotations = "{'slipway.dev/wait-for-node-labels':'nfd, other'}" } } }, );
    struct sim *sim = walked(&recipe);
    expect_phase(sim, "a", "Waiting");
    expect_message(sim, "a", "2 of 2 nodes have no label nfd yet");
    sim_node(sim, "n0", "{'kernel':'k1','nfd':'1','other':''}");
    sim_run(sim, 60000);
    assert_string_equal(sim_label(sim, "n0", "a"), "Ready");
    assert_null(sim_label(sim, "n1", "a"));
    expect_message(sim, "a", "1 of 2 nodes");
    sim_node(sim, "n1", "{'kernel':'k1','nfd':'1','other':''}");
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Ready");
    sim_node(sim, "n2", "{'kernel':'k1'}");
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Waiting");
    assert_string_equal(sim_label(sim, "n0", "a"), "Ready");
    sim_node_gone(sim, "n2");
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Ready");
    sim_free(sim);
}

/* The answer to our own patch may be the first to show what others have set. */
static void labels_that_come_with_an_answer_count(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a", .objects = { { .kind = "ConfigMap", .name = "a1" } } },
        { .name = "b",
          .objects = { { .kind = "ConfigMap",
                         .name = "b1",
                         .annotations = "{'slipway.dev/wait-for-node-labels':'nfd'}" } } }, );
    struct sim *sim = new_sim(&recipe);
    sim_start(sim);
    while (!sim->n_labels && sim_deliver(sim))
        continue;
    for (size_t i = 0; i < sim->n_queue; i++) /* watch events tell nothing new */
        if (sim->queue[i].event.kind == SW_EV_NODE)
            sim->queue[i--] = sim->queue[--sim->n_queue];
    for (uint32_t n = 0; n < 2; n++) {
        struct json_object *labels = sw_json_get(sim->nodes, n ? "n1" : "n0");
        json_object_object_add(labels, "nfd", json_object_new_string("1"));
        (void)sw_roster_put_labels(sim->roster, n, labels, ++sim->version);
    }
    sim_run(sim, 5000);
    expect_phase(sim, "b", "Ready");
    sim_free(sim);
}

static void logs_may_be_waited_for(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = { { .kind = "DaemonSet",
                         .name = "a1",
                         .awaited = true,
                         .annotations = "{'specialresource.openshift.io/wait-for-logs':'all is "
                                        "\\\\w+'}" } } },
        { .name = "b",
          .objects = {
              { .kind = "DaemonSet",
                .name = "b1",
                .awaited = true,
                .annotations = "{'specialresource.openshift.io/wait-for-logs':'never'}" } } }, );
    struct sim *sim = walked(&recipe);
    expect_phase(sim, "a", "Ready");
    expect_phase(sim, "b", "Waiting");
    expect_message(sim, "b", "does not match 'never' yet");
    assert_null(sim_label(sim, "n0", "b"));
    sim_free(sim);
}

/* ---- kernels -----------------------------------------------------------------------------------
 */

static const struct sim_recipe kmod = STATES(
    { .name = "0000",
      .affine = true,
      .objects = { { .kind = "ConfigMap", .name = "stream" },
                   { .kind = "BuildConfig", .name = "build-%s", .awaited = true } } },
    { .name = "1000",
      NEEDS(0),
      .affine = true,
      .objects = { { .kind = "ConfigMap", .name = "account" },
                   { .kind = "DaemonSet", .name = "driver-%s", .awaited = true } } }, );

static void each_kernel_has_its_own_objects(void **state)
{
    (void)state;
    struct sim *sim = new_sim(&kmod);
    sim_node(sim, "n2", "{'kernel':'k2'}");
    sim_start(sim);
    sim_run(sim, 60000);
    expect_phase(sim, "1000", "Ready");
    assert_non_null(sim_find(sim, "DaemonSet", "driver-k1"));
    assert_non_null(sim_find(sim, "DaemonSet", "driver-k2"));
    assert_int_equal(sim->n_applies, 6); /* what is not renamed is applied once */
    sim_free(sim);
}

static void a_new_kernel_is_built_for_and_an_old_one_retired(void **state)
{
    (void)state;
    struct sim *sim = walked(&kmod);
    sim_clear_log(sim);
    sim_node(sim, "n2", "{'kernel':'k2'}");
    sim_run(sim, 60000);
    expect_order(sim, "apply BuildConfig build-k2", "apply DaemonSet driver-k2");
    expect_never(sim, "build-k1");
    expect_phase(sim, "1000", "Ready");
    sim_node_gone(sim, "n0");
    sim_run(sim, 60000);
    expect_never(sim, "delete");
    sim_node_gone(sim, "n1"); /* the last one */
    sim_run(sim, 60000);
    (void)place_in_log(sim, "delete DaemonSet driver-k1");
    (void)place_in_log(sim, "delete BuildConfig build-k1");
    assert_non_null(sim_find(sim, "ConfigMap", "account"));
    expect_phase(sim, "1000", "Ready");
    sim_free(sim);
}

static int refuse_k2(struct sim *sim, const struct sw_action *a)
{
    (void)sim;
    return a->kind == SW_ACT_RENDER && sw_streq(a->variant, "k2") ? SW_INVALID : 0;
}

static void a_kernel_that_fails_does_not_hide_nor_hold_the_others(void **state)
{
    (void)state;
    struct sim *sim = new_sim(&kmod);
    sim->refuse = refuse_k2;
    sim_node(sim, "n2", "{'kernel':'k2'}");
    sim_start(sim);
    sim_run(sim, 60000);
    expect_phase(sim, "0000", "Failed");
    expect_message(sim, "0000", "k2: templates/x.yaml:1: no");
    struct json_object *s = sw_json_find_by(sw_json_get(sim->status, "states"), "name", "0000");
    struct json_object *k2 = sw_json_find_by(sw_json_get(s, "variants"), "name", "k2");
    assert_string_equal(sw_json_str(k2, "", "message", NULL), "templates/x.yaml:1: no");
    sim->refuse = NULL;
    sim_run(sim, 600000);
    expect_phase(sim, "1000", "Ready");
    sim_free(sim);
}

/* ---- drift -------------------------------------------------------------------------------------
 */

static void what_is_deleted_comes_back(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    sim_clear_log(sim);
    sim_remove(sim, sim_find(sim, "ConfigMap", "a1"));
    sim_run(sim, 1000);
    assert_non_null(sim_find(sim, "ConfigMap", "a1"));
    expect_never(sim, "label"); /* no flapping */
    expect_phase(sim, "a", "Ready");
    sim_free(sim);
}

static void what_is_changed_is_put_right(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    struct json_object *other = sw_json_copy(sim_find(sim, "ConfigMap", "a1"));
    sw_json_set(other, json_object_new_int(77), "spec", "content", NULL);
    assert_true(sim_put(sim, other));
    sim_run(sim, 1000);
    assert_int_equal(sw_json_int(sim_find(sim, "ConfigMap", "a1"), 0, "spec", "content", NULL), 0);
    sim_free(sim);
}

static void what_others_add_is_left_alone(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    sim_clear_log(sim);
    struct json_object *more = sw_json_copy(sim_find(sim, "ConfigMap", "a1"));
    sw_json_set_str(more, "mine", "metadata", "annotations", "somebody", NULL);
    assert_true(sim_put(sim, more));
    sim_run(sim, 60000);
    expect_never(sim, "apply");
    sim_free(sim);
}

static void nobody_is_fought_at_full_speed(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    size_t before = sim->n_applies;
    for (int i = 0; i < 30; i++) {
        struct json_object *other = sw_json_copy(sim_find(sim, "ConfigMap", "a1"));
        sw_json_set(other, json_object_new_int(1000 + i), "spec", "content", NULL);
        (void)sim_put(sim, other);
        sim_run(sim, 1000);
        sim->now_ms += 1000;
    }
    assert_in_range(sim->n_applies - before, 3, 8);
    expect_message(sim, "a", "ConfigMap ns/a1 is changed again and again");
    sim_run(sim, 3600000);
    expect_phase(sim, "a", "Ready");
    sim_free(sim);
}

static void what_has_run_to_its_end_is_not_run_again(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    size_t before = sim->n_applies;
    sim_remove(sim, sim_find(sim, "Pod", "c1"));
    sim_run(sim, 60000);
    sim_restart(sim);
    sim_run(sim, 60000);
    expect_phase(sim, "c", "Ready");
    assert_int_equal(sim->n_applies, before);
    edit(sim, 2, 0); /* but for new content it is */
    sim_run(sim, 60000);
    assert_int_equal(sim->n_applies, before + 1);
    sim_free(sim);
}

/* ---- changes of the recipe ---------------------------------------------------------------------
 */

static void new_content_goes_through_the_gates_again(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    sim_clear_log(sim);
    sim->recipe.states[0].objects[1].content++;
    edit(sim, 1, 0);
    sim_run(sim, 60000);
    expect_order(sim, "apply Deployment a2", "apply DaemonSet b1");
    expect_order(sim, "event StateReady", "apply DaemonSet b1");
    expect_never(sim, "ConfigMap");
    expect_never(sim, "Pod");
    assert_int_equal(sw_json_int(sim->status, 0, "observedGeneration", NULL), 2);
    sim_free(sim);
}

static void what_cannot_be_changed_is_replaced(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    sim_clear_log(sim);
    edit(sim, 2, 0);
    sim_run(sim, 60000);
    expect_order(sim, "delete Pod c1", "apply Pod c1");
    expect_phase(sim, "c", "Ready");
    sim_free(sim);
}

static void objects_that_are_dropped_are_pruned(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    sim_clear_log(sim);
    sim->recipe.states[0].objects[0] = sim->recipe.states[0].objects[1];
    sim->recipe.states[0].n_objects = 1;
    edit(sim, 0, 0);
    sim_run(sim, 60000);
    expect_order(sim, "apply Deployment a2", "delete ConfigMap a1"); /* the new is there first */
    assert_null(sim_find(sim, "ConfigMap", "a1"));
    assert_int_equal(sw_json_len(sw_json_get(sim->status, "inventory")), 3);
    sim_free(sim);
}

static void states_that_are_dropped_are_removed(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    sim_clear_log(sim);
    sim->recipe.n_states = 1;
    sim->revision = "2";
    sim_spec(sim);
    sim_run(sim, 60000);
    expect_order(sim, "delete Pod c1", "delete DaemonSet b1");
    assert_null(sim_label(sim, "n0", "b"));
    assert_null(sim_label(sim, "n0", "c"));
    assert_string_equal(sim_label(sim, "n0", "a"), "Ready");
    assert_int_equal(sw_json_len(sw_json_get(sim->status, "states")), 1);
    expect_phase(sim, "a", "Ready");
    sim_free(sim);
}

static void objects_may_move_to_another_state(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    sim_clear_log(sim);
    sim->recipe.states[2].objects[1] = sim->recipe.states[0].objects[0];
    sim->recipe.states[2].n_objects = 2;
    sim->recipe.states[0].objects[0] = sim->recipe.states[0].objects[1];
    sim->recipe.states[0].n_objects = 1;
    sim->revision = "2";
    sim_spec(sim);
    sim_run(sim, 60000);
    expect_never(sim, "delete");
    assert_non_null(sim_find(sim, "ConfigMap", "a1"));
    expect_phase(sim, "c", "Ready");
    sim_free(sim);
}

static void a_state_being_applied_takes_new_content(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = { { .kind = "Job",
                         .name = "a1",
                         .awaited = true,
                         .annotations = "{'sim/stuck':'1'}",
                         .stage = -1 },
                       { .kind = "ConfigMap", .name = "a2" } } }, );
    struct sim *sim = walked(&recipe);
    expect_phase(sim, "a", "Applying");
    edit(sim, 0, 1); /* content */
    sim_run(sim, 1000);
    expect_phase(sim, "a", "Applying");
    sim->recipe.states[0].objects[2] =
        (struct sim_object){ .kind = "ConfigMap", .name = "a3", .stage = -1 };
    sim->recipe.states[0].n_objects = 3;
    edit(sim, 0, 1); /* another object */
    sim_run(sim, 1000);
    (void)place_in_log(sim, "apply ConfigMap a3");
    sim_free(sim);
}

static void a_state_waiting_takes_new_content(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = { { .kind = "Deployment",
                         .name = "a1",
                         .awaited = true,
                         .annotations = "{'sim/stuck':'1'}" } } },
        { .name = "b", NEEDS(0), .objects = { { .kind = "ConfigMap", .name = "b1" } } }, );
    struct sim *sim = walked(&recipe);
    expect_phase(sim, "a", "Waiting");
    sim->recipe.states[0].objects[1] = (struct sim_object){ .kind = "ConfigMap", .name = "a2" };
    sim->recipe.states[0].n_objects = 2;
    sim->recipe.states[1].objects[1] = (struct sim_object){ .kind = "ConfigMap", .name = "b2" };
    sim->recipe.states[1].n_objects = 2;
    edit(sim, 0, 0);
    sim_run(sim, 1000);
    expect_phase(sim, "a", "Waiting");
    expect_phase(sim, "b", "Pending");
    edit(sim, 0, 0);
    sim_remove(sim, sim_find(sim, "ConfigMap", "a2"));
    sim_run(sim, 1000);
    assert_non_null(sim_find(sim, "ConfigMap", "a2"));
    sim_free(sim);
}

static void what_it_needs_may_be_lost_while_it_applies(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a", .objects = { { .kind = "Deployment", .name = "a1", .awaited = true } } },
        { .name = "b",
          NEEDS(0),
          .objects = { { .kind = "Job",
                         .name = "b1",
                         .awaited = true,
                         .annotations = "{'sim/stuck':'1'}",
                         .stage = -1 },
                       { .kind = "ConfigMap", .name = "b2" } } }, );
    struct sim *sim = walked(&recipe);
    expect_phase(sim, "b", "Applying");
    sim->frozen = true;
    edit(sim, 0, 0); /* what it needs gets new content, and is not ready with it yet */
    sim_run(sim, 1000);
    expect_phase(sim, "a", "Waiting");
    expect_phase(sim, "b", "Pending");
    sim->frozen = false;
    sim_run(sim, 1000);
    expect_phase(sim, "b", "Applying");
    sim_free(sim);
}

/* ---- faults ------------------------------------------------------------------------------------
 */

static void what_passes_is_tried_again(void **state)
{
    (void)state;
    struct refusal no = { SW_ACT_APPLY, "a1", SW_UNAVAILABLE, 0 };
    struct sim *sim = new_sim(&chain);
    sim->arg = &no;
    sim->refuse = refuse;
    sim_start(sim);
    sim_run(sim, 10000);
    expect_phase(sim, "a", "Retrying");
    expect_message(sim, "a", "ConfigMap ns/a1: the server says no");
    assert_in_range(no.n, 4, 8); /* 0, 0.5, 1.5, 3.5, 7.5 s */
    assert_string_equal(condition(sim, "Progressing", "status"), "True");
    no.code = 0;
    sim_run(sim, 60000);
    expect_phase(sim, "c", "Ready");
    sim_free(sim);
}

static void what_lasts_is_an_error_and_tried_seldom(void **state)
{
    (void)state;
    struct refusal no = { SW_ACT_APPLY, "a1", SW_FORBIDDEN, 0 };
    struct sim *sim = new_sim(&chain);
    sim->arg = &no;
    sim->refuse = refuse;
    sim_start(sim);
    sim_run(sim, 30000);
    expect_phase(sim, "a", "Failed");
    assert_string_equal(condition(sim, "Errored", "status"), "True");
    assert_in_range(no.n, 2, 4);
    no.code = 0;
    sim_run(sim, 600000);
    expect_phase(sim, "c", "Ready");
    sim_free(sim);
}

static void a_changed_cause_ends_the_back_off(void **state)
{
    (void)state;
    struct refusal no = { SW_ACT_APPLY, "a1", SW_INVALID, 0 };
    struct sim *sim = new_sim(&chain);
    sim->arg = &no;
    sim->refuse = refuse;
    sim_start(sim);
    sim_run(sim, 20000);
    expect_phase(sim, "a", "Failed");
    no.code = 0;
    edit(sim, 0, 0);
    sim_run(sim, 1000);
    expect_phase(sim, "c", "Ready");
    sim_free(sim);
}

static void a_kind_that_is_not_served_is_waited_for(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = { { .kind = "ConfigMap", .name = "a0" },
                       { .kind = "Issuer", .name = "a1", .awaited = true } } }, );
    struct sim *sim = new_sim(&recipe);
    sim_start(sim);
    sim_step(sim, &(struct sw_event){ .kind = SW_EV_TIMER });
    while (sim->n_queue) { /* what is told of the Issuer is that there is no such thing */
        struct sw_event *e = &sim->queue[0].event;
        if (e->kind == SW_EV_OBSERVED && strcmp(e->key.kind, "Issuer") == 0) {
            e->code = SW_NOTFOUND;
            e->message = "cert-manager.io/v1 is not served";
        }
        (void)sim_deliver(sim);
    }
    expect_phase(sim, "a", "Applying");
    expect_message(sim, "a", "Issuer ns/a1 is not served yet: cert-manager.io/v1 is not served");
    expect_never(sim, "apply Issuer");
    sim_resync(sim); /* now it is */
    sim_run(sim, 1000);
    (void)place_in_log(sim, "apply Issuer a1");
    sim_free(sim);
}

static void what_cannot_be_looked_at_is_not_taken_for_absent(void **state)
{
    (void)state;
    struct sim *sim = new_sim(&chain);
    sim_start(sim);
    while (sim->n_queue) {
        struct sw_event *e = &sim->queue[0].event;
        if (e->kind == SW_EV_OBSERVED && strcmp(e->key.kind, "ConfigMap") == 0) {
            e->code = SW_FORBIDDEN;
            e->message = "cannot list configmaps";
        }
        (void)sim_deliver(sim);
    }
    expect_phase(sim, "a", "Failed");
    expect_message(sim, "a", "ConfigMap ns/a1 cannot be looked at: cannot list configmaps");
    assert_int_equal(sim->n_applies, 0);
    sim_resync(sim);
    sim_run(sim, 600000);
    expect_phase(sim, "c", "Ready");
    sim_free(sim);
}

static void a_recipe_that_does_not_render_is_shown_when_its_turn_comes(void **state)
{
    (void)state;
    struct refusal no = { SW_ACT_RENDER, "b", SW_INVALID, 0 };
    struct sim *sim = new_sim(&chain);
    sim->arg = &no;
    sim->refuse = refuse;
    sim->frozen = true;
    sim_start(sim);
    sim_run(sim, 5000);
    expect_phase(sim, "a", "Waiting");
    expect_phase(sim, "b", "Pending"); /* it may yet, when what it needs is there */
    sim->frozen = false;
    sim_run(sim, 5000);
    expect_phase(sim, "b", "Failed");
    expect_message(sim, "b", "templates/x.yaml:1: no");
    no.code = 0;
    sim_step(sim, &(struct sw_event){ .kind = SW_EV_FACTS });
    sim_run(sim, 5000);
    expect_phase(sim, "c", "Ready");
    sim_free(sim);
}

/* From whatever it is in, a bad edit is shown and harms nothing that runs. */
static void a_bad_edit_harms_nothing(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a", .objects = { { .kind = "Deployment", .name = "a1", .awaited = true } } },
        { .name = "b",
          .objects = { { .kind = "Deployment",
                         .name = "b1",
                         .awaited = true,
                         .annotations = "{'sim/stuck':'1'}" } } },
        { .name = "c", NEEDS(1), .objects = { { .kind = "ConfigMap", .name = "c1" } } },
        { .name = "d",
          .objects = { { .kind = "Job",
                         .name = "d1",
                         .awaited = true,
                         .annotations = "{'sim/stuck':'1'}",
                         .stage = -1 },
                       { .kind = "ConfigMap", .name = "d2" } } },
        { .name = "e",
          .objects = { { .kind = "ClusterPolicy",
                         .name = "p",
                         .annotations = "{'slipway.dev/observe':'true'}" } } }, );
    static const int codes[] = { SW_INVALID, SW_UNAVAILABLE };
    for (size_t i = 0; i < SW_COUNT(codes); i++) {
        struct refusal no = { SW_ACT_RENDER, NULL, 0, 0 };
        struct sim *sim = new_sim(&recipe);
        sim->arg = &no;
        sim->refuse = refuse;
        foreign(sim, "ClusterPolicy", "p", "{'status':{'state':'ready'}}");
        sim_start(sim);
        sim_run(sim, 5000);
        set_status(sim, "ClusterPolicy", "p", "{'state':'notReady'}");
        sim_run(sim, 5000);
        expect_phase(sim, "e", "Held");
        size_t before = sim->n_applies + sim->n_deletes;
        no.code = codes[i];
        edit(sim, 0, 0);
        sim_run(sim, 5000);
        expect_phase(sim, "a", i == 0 ? "Failed" : "Retrying");
        expect_phase(sim, "b", i == 0 ? "Failed" : "Retrying");
        expect_phase(sim, "d", i == 0 ? "Failed" : "Retrying");
        expect_phase(sim, "e", i == 0 ? "Failed" : "Retrying");
        assert_int_equal(sim->n_applies + sim->n_deletes, before);
        sim_run(sim, 3600000);
        assert_string_equal(sim_label(sim, "n0", "a"), "Ready");
        no.code = 0;
        sim_step(sim, &(struct sw_event){ .kind = SW_EV_FACTS });
        sim_run(sim, 600000);
        expect_phase(sim, "a", "Ready");
        sim_free(sim);
    }
}

static void a_chart_that_is_gone_is_an_error(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    struct sw_spec spec = { .name = "r",
                            .uid = SIM_UID,
                            .generation = 2,
                            .revision = "2",
                            .code = SW_NOTFOUND,
                            .message = "chart x 1.2 is not in the repository",
                            .reason = "ChartFailure" };
    sim_clear_log(sim);
    sim_step(sim, &(struct sw_event){ .kind = SW_EV_SPEC, .spec = &spec });
    sim_run(sim, 60000);
    assert_string_equal(condition(sim, "Errored", "reason"), "ChartFailure");
    assert_string_equal(condition(sim, "Errored", "message"),
                        "chart x 1.2 is not in the repository [Failed: check name, version and "
                        "repository.url of spec.chart]");
    expect_never(sim, "delete");
    expect_never(sim, "label");
    (void)place_in_log(sim, "event ChartFailure");
    sim_spec(sim);
    sim_run(sim, 60000);
    assert_string_equal(condition(sim, "Ready", "status"), "True");
    sim_free(sim);
}

static void labels_that_are_refused_are_reported(void **state)
{
    (void)state;
    struct refusal no = { SW_ACT_LABEL, NULL, SW_FORBIDDEN, 0 };
    struct sim *sim = new_sim(&chain);
    sim->arg = &no;
    sim->refuse = refuse;
    sim_start(sim);
    sim_run(sim, 20000);
    assert_string_equal(condition(sim, "Progressing", "status"), "True");
    assert_string_equal(condition(sim, "Progressing", "message"),
                        "Labelling nodes: the server says no");
    assert_in_range(no.n, 2, 12);
    no.code = 0;
    sim_run(sim, 600000);
    assert_string_equal(condition(sim, "Ready", "status"), "True");
    sim_free(sim);
}

/* ---- what belongs to others --------------------------------------------------------------------
 */

static void a_foreign_object_is_not_taken_over(void **state)
{
    (void)state;
    struct sim *sim = new_sim(&chain);
    foreign(sim, "ConfigMap", "a1", "{'data':{'x':'y'}}");
    sim_start(sim);
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Failed");
    expect_message(sim, "a", "ConfigMap ns/a1 exists and is not slipway's");
    assert_int_equal(sim->n_applies, 0);
    sim_remove(sim, sim_find(sim, "ConfigMap", "a1"));
    sim_run(sim, 60000);
    expect_phase(sim, "c", "Ready");
    sim_free(sim);
}

static void a_foreign_object_may_be_adopted_and_is_kept_at_the_end(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = {
              { .kind = "ConfigMap", .name = "a1", .annotations = "{'slipway.dev/adopt':'true'}" },
              { .kind = "ConfigMap",
                .name = "a2",
                .annotations = "{'helm.sh/resource-policy':'keep'}" },
              { .kind = "ConfigMap", .name = "a3" } } }, );
    struct sim *sim = new_sim(&recipe);
    foreign(sim, "ConfigMap", "a1", "{'data':{'x':'y'}}");
    sim_start(sim);
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Ready");
    (void)place_in_log(sim, "apply ConfigMap a1");
    sim_restart(sim);
    sim_run(sim, 60000);
    sim->deleting = true;
    sim_spec(sim);
    sim_run(sim, 60000);
    assert_true(sim->finalized);
    assert_non_null(sim_find(sim, "ConfigMap", "a1"));
    assert_non_null(sim_find(sim, "ConfigMap", "a2"));
    assert_null(sim_find(sim, "ConfigMap", "a3"));
    sim_free(sim);
}

static void a_namespace_of_others_is_used_and_left(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "pre", .hidden = true, .objects = { { .kind = "Namespace", .name = SIM_NS } } },
        { .name = "a", NEEDS(0), .objects = { { .kind = "ConfigMap", .name = "a1" } } }, );
    struct sim *sim = new_sim(&recipe);
    foreign(sim, "Namespace", SIM_NS, "{'status':{'phase':'Active'}}");
    sim_start(sim);
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Ready");
    expect_never(sim, "apply Namespace");
    assert_int_equal(sw_json_len(sw_json_get(sim->status, "states")), 1); /* hidden */
    sim->deleting = true;
    sim_spec(sim);
    sim_run(sim, 60000);
    assert_true(sim->finalized);
    assert_non_null(sim_find(sim, "Namespace", SIM_NS));
    sim_free(sim);
}

static void a_namespace_of_our_own_goes_last(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "pre", .hidden = true, .objects = { { .kind = "Namespace", .name = SIM_NS } } },
        { .name = "a", .objects = { { .kind = "ConfigMap", .name = "a1" } } }, );
    struct sim *sim = walked(&recipe);
    (void)place_in_log(sim, "apply Namespace ns");
    sim->deleting = true;
    sim_restart(sim);
    sim_run(sim, 60000);
    assert_true(sim->finalized);
    expect_order(sim, "delete ConfigMap a1", "delete Namespace ns");
    sim_free(sim);
}

static void a_dying_namespace_is_waited_for(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "pre", .hidden = true, .objects = { { .kind = "Namespace", .name = SIM_NS } } },
        { .name = "a", NEEDS(0), .objects = { { .kind = "ConfigMap", .name = "a1" } } }, );
    struct sim *sim = new_sim(&recipe);
    foreign(sim, "Namespace", SIM_NS,
            "{'metadata':{'deletionTimestamp':'2026-01-01T00:00:00Z','finalizers':['kubernetes']},"
            "'status':{'phase':'Terminating'}}");
    sim_start(sim);
    sim_run(sim, 60000);
    assert_int_equal(sim->n_applies, 0);
    assert_non_null(strstr(condition(sim, "Progressing", "message"),
                           "Namespace ns is being deleted (finalizers: kubernetes)"));
    sim_remove(sim, sim_find(sim, "Namespace", SIM_NS));
    sim_run(sim, 60000);
    expect_order(sim, "apply Namespace ns", "apply ConfigMap a1");
    sim_free(sim);
}

static void a_dry_run_is_tried_until_it_passes(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = { { .kind = "Deployment", .name = "a1", .awaited = true },
                       { .kind = "Issuer",
                         .name = "a2",
                         .annotations = "{'slipway.dev/dry-run':'true'}" } } }, );
    struct refusal no = { SW_ACT_APPLY, "a2", SW_UNAVAILABLE, 0 };
    struct sim *sim = new_sim(&recipe);
    sim->arg = &no;
    sim->refuse = refuse;
    sim_start(sim);
    sim_run(sim, 3000);
    expect_order(sim, "apply Deployment a1", "try Issuer a2");
    expect_phase(sim, "a", "Retrying");
    no.code = 0;
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Ready");
    assert_null(sim_find(sim, "Issuer", "a2"));
    size_t tries = sim->n_applies;
    sim->deleting = true;
    sim_spec(sim);
    sim_run(sim, 60000);
    assert_true(sim->finalized);
    assert_int_equal(sim->n_applies, tries);
    sim_free(sim);
}

/* ---- the end -----------------------------------------------------------------------------------
 */

static void removal_goes_backwards_and_leaves_nothing(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    sim_clear_log(sim);
    sim->deleting = true;
    sim_spec(sim);
    sim_run(sim, 60000);
    assert_true(sim->finalized);
    expect_order(sim, "delete Pod c1", "delete DaemonSet b1");
    expect_order(sim, "delete DaemonSet b1", "delete Deployment a2");
    expect_order(sim, "delete Deployment a2", "delete ConfigMap a1");
    expect_order(sim, "delete ConfigMap a1", "label n0 -a");
    expect_order(sim, "label n1 -", "finalized");
    assert_int_equal(json_object_object_length(sim->store), 0);
    assert_int_equal(json_object_object_length(sw_json_get(sim->nodes, "n0")), 1);
    sim_free(sim);
}

static void a_held_deletion_touches_nothing_and_keeps_the_hidden_state(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "base",
          .hidden = true,
          .objects = { { .kind = "Namespace", .name = "n1" } },
          .n_objects = 1 },
        { .name = "a", .objects = { { .kind = "ConfigMap", .name = "a1" } }, .n_objects = 1 }, );
    struct sim *sim = new_sim(&recipe);
    sim_start(sim);
    sim_run(sim, 60000);
    sim->deleting = true;
    sim->hold = SW_HOLD_ALL;
    sim_spec(sim);
    sim_run(sim, 60000);
    sim_restart(sim);
    sim_run(sim, 60000);
    assert_int_equal(sim->n_deletes, 0);
    assert_string_equal(condition(sim, "Errored", "reason"), "DeletionHookFailed");
    sim->hold = SW_HOLD_LAST;
    sim_spec(sim);
    sim_run(sim, 60000);
    assert_null(sim_find(sim, "ConfigMap", "a1"));
    assert_non_null(sim_find(sim, "Namespace", "n1"));
    expect_order(sim, "delete ConfigMap a1", "emptied");
    sim_clear_log(sim);
    sim_restart(sim);
    sim_run(sim, 60000);
    assert_non_null(strstr(sim->log, "emptied")); /* told again to who was not there */
    assert_false(sim->finalized);
    sim->hold = SW_HOLD_NONE;
    sim_spec(sim);
    sim_run(sim, 60000);
    assert_true(sim->finalized);
    assert_null(sim_find(sim, "Namespace", "n1"));
    sim_free(sim);
}

static void removal_needs_no_recipe(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    sim->recipe.n_states = 0; /* the chart is gone */
    sim->deleting = true;
    sim_clear_log(sim);
    sim_restart(sim);
    sim_run(sim, 60000);
    assert_true(sim->finalized);
    expect_order(sim, "delete Pod c1", "delete DaemonSet b1");
    expect_order(sim, "delete DaemonSet b1", "delete Deployment a2");
    assert_int_equal(json_object_object_length(sim->store), 0);
    assert_null(sim_label(sim, "n0", "b"));
    sim_free(sim);
}

static void labels_of_others_are_left(void **state)
{
    (void)state;
    struct sim *sim = new_sim(&chain);
    sim_node(sim, "n0", "{'kernel':'k1','" SIM_LABEL "a-b':'Ready','" SIM_LABEL "x':'Ready'}");
    sim_start(sim);
    sim_run(sim, 60000);
    sim->deleting = true;
    sim_spec(sim);
    sim_run(sim, 60000);
    assert_true(sim->finalized);
    assert_string_equal(sim_label(sim, "n0", "a-b"), "Ready"); /* of a resource named r-a */
    assert_string_equal(sim_label(sim, "n0", "x"), "Ready");
    assert_null(sim_label(sim, "n0", "a"));
    sim_free(sim);
}

static void a_deletion_that_is_refused_is_tried_again(void **state)
{
    (void)state;
    struct refusal no = { SW_ACT_DELETE, "b1", SW_FORBIDDEN, 0 };
    struct sim *sim = walked(&chain);
    sim->arg = &no;
    sim->refuse = refuse;
    sim->deleting = true;
    sim_spec(sim);
    sim_run(sim, 20000);
    assert_false(sim->finalized);
    assert_string_equal(condition(sim, "Progressing", "reason"), "MarkedForDeletion");
    assert_non_null(
        strstr(condition(sim, "Progressing", "message"), "DaemonSet ns/b1: the server says no"));
    no.code = 0;
    sim_run(sim, 600000);
    assert_true(sim->finalized);
    sim_free(sim);
}

static void removed_states_can_come_back(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    sim->management = SW_REMOVED;
    sim_spec(sim);
    sim_run(sim, 60000);
    assert_int_equal(json_object_object_length(sim->store), 0);
    assert_null(sim_label(sim, "n0", "a"));
    assert_false(sim->finalized);
    assert_string_equal(condition(sim, "Progressing", "reason"), "Removed");
    sim->management = SW_MANAGED;
    sim_spec(sim);
    sim_run(sim, 60000);
    expect_phase(sim, "c", "Ready");
    assert_string_equal(sim_label(sim, "n0", "c"), "Ready");
    sim_free(sim);
}

static void unmanaged_is_left_alone(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    sim->management = SW_UNMANAGED;
    sim_spec(sim);
    size_t before = sim->n_applies + sim->n_labels + sim->n_statuses;
    sim_remove(sim, sim_find(sim, "ConfigMap", "a1"));
    sim_run(sim, 60000);
    assert_int_equal(sim->n_applies + sim->n_labels + sim->n_statuses, before);
    sim->management = SW_MANAGED;
    sim_spec(sim);
    sim_run(sim, 60000);
    assert_non_null(sim_find(sim, "ConfigMap", "a1"));
    sim_free(sim);
}

/* From each phase a state can be removed. */
static void any_state_can_be_removed(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "ready", .objects = { { .kind = "ConfigMap", .name = "a1" } } },
        { .name = "gated",
          .objects = { { .kind = "Deployment",
                         .name = "b1",
                         .awaited = true,
                         .annotations = "{'sim/stuck':'1'}" } } },
        { .name = "pending", NEEDS(1), .objects = { { .kind = "ConfigMap", .name = "c1" } } },
        { .name = "applying",
          .objects = { { .kind = "Job",
                         .name = "d1",
                         .awaited = true,
                         .annotations = "{'sim/stuck':'1'}",
                         .stage = -1 },
                       { .kind = "ConfigMap", .name = "d2" } } },
        { .name = "failed", .objects = { { .kind = "ConfigMap", .name = "e1" } } },
        { .name = "retrying", .objects = { { .kind = "ConfigMap", .name = "f1" } } },
        { .name = "held",
          .objects = { { .kind = "ClusterPolicy",
                         .name = "p",
                         .annotations = "{'slipway.dev/observe':'true'}" },
                       { .kind = "ConfigMap", .name = "g1" } } }, );
    struct refusal no = { SW_ACT_APPLY, "f1", SW_UNAVAILABLE, 0 };
    struct sim *sim = new_sim(&recipe);
    sim->arg = &no;
    sim->refuse = refuse;
    foreign(sim, "ConfigMap", "e1", "{}");
    foreign(sim, "ClusterPolicy", "p", "{'status':{'state':'ready'}}");
    sim_start(sim);
    sim_run(sim, 5000);
    set_status(sim, "ClusterPolicy", "p", "{'state':'notReady'}");
    sim_run(sim, 5000);
    expect_phase(sim, "failed", "Failed");
    expect_phase(sim, "retrying", "Retrying");
    expect_phase(sim, "held", "Held");
    sim->deleting = true;
    sim_spec(sim);
    sim_run(sim, 60000);
    assert_true(sim->finalized);
    assert_int_equal(json_object_object_length(sim->store), 2); /* those of others */
    sim_free(sim);
}

static void it_can_be_removed_before_it_began(void **state)
{
    (void)state;
    struct sim *sim = new_sim(&chain);
    sim_start(sim);
    sim->deleting = true;
    sim_spec(sim); /* still being rendered */
    sim_run(sim, 60000);
    assert_true(sim->finalized);
    assert_int_equal(sim->n_applies, 0);
    sim_free(sim);

    sim = new_sim(&chain);
    sim_start(sim);
    while (sim->n_queue && sim->queue[0].event.kind == SW_EV_RENDERED)
        (void)sim_deliver(sim);
    sim->deleting = true;
    sim_spec(sim); /* being looked at */
    sim_run(sim, 60000);
    assert_true(sim->finalized);
    assert_int_equal(sim->n_applies, 0);
    sim_free(sim);
}

static const int both_codes[] = { SW_INVALID, SW_UNAVAILABLE };

static void expect_trouble(struct sim *sim, const char *name, int code)
{
    expect_phase(sim, name, code == SW_INVALID ? "Failed" : "Retrying");
}

static void a_render_may_fail_while_objects_are_looked_at(void **state)
{
    (void)state;
    for (size_t i = 0; i < SW_COUNT(both_codes); i++) {
        struct refusal no = { SW_ACT_RENDER, NULL, 0, 0 };
        struct sim *sim = new_sim(&chain);
        sim->arg = &no;
        sim->refuse = refuse;
        sim_start(sim);
        while (sim->n_queue && sim->queue[0].event.kind == SW_EV_RENDERED)
            (void)sim_deliver(sim);
        no.code = both_codes[i];
        edit(sim, 0, 0);
        for (size_t n = 0; n < 40 && sim->n_queue; n++) { /* the newest answers first */
            size_t last = sim->n_queue - 1;
            struct sim_pending p = sim->queue[last];
            memmove(&sim->queue[1], &sim->queue[0], last * sizeof p);
            sim->queue[0] = p;
            (void)sim_deliver(sim);
        }
        expect_trouble(sim, "a", no.code);
        no.code = 0;
        sim_run(sim, 600000);
        expect_phase(sim, "c", "Ready");
        sim_free(sim);
    }
}

static void a_render_may_fail_just_when_the_turn_comes(void **state)
{
    (void)state;
    for (size_t i = 0; i < SW_COUNT(both_codes); i++) {
        struct refusal no = { SW_ACT_RENDER, "b", 0, 0 };
        struct sim *sim = new_sim(&chain);
        sim->arg = &no;
        sim->refuse = refuse;
        sim->frozen = true;
        sim_start(sim);
        sim_run(sim, 5000);
        no.code = both_codes[i];
        sim_step(sim, &(struct sw_event){ .kind = SW_EV_FACTS });
        sim_run(sim, 5000);
        expect_phase(sim, "b", "Pending");
        sim->frozen = false;
        sim_run(sim, 2000);
        expect_trouble(sim, "b", no.code);
        no.code = 0;
        sim_run(sim, 600000);
        expect_phase(sim, "c", "Ready");
        sim_free(sim);
    }
}

/* ---- patience ----------------------------------------------------------------------------------
 */

static const char *reason_of(struct sim *sim, const char *state)
{
    struct json_object *doc = sw_engine_status(sim->engine, sim->now_ms);
    struct json_object *s = sw_json_find_by(sw_json_get(doc, "states"), "name", state);
    const char *reason = sim_keep(sim, sw_json_str(s, "", "reason", NULL));
    json_object_put(doc);
    return reason;
}

static const struct sim_recipe slow = STATES(
    { .name = "a",
      .objects = { { .kind = "Deployment",
                     .name = "a1",
                     .awaited = true,
                     .annotations = "{'sim/stuck':'1','slipway.dev/timeout':'2m'}" } } },
    { .name = "b", NEEDS(0), .objects = { { .kind = "ConfigMap", .name = "b1" } } }, );

static void a_state_that_takes_too_long_fails_and_still_recovers(void **state)
{
    (void)state;
    struct sim *sim = new_sim(&slow);
    sim_start(sim);
    sim_run(sim, 100000);
    expect_phase(sim, "a", "Waiting");
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Failed");
    assert_string_equal(reason_of(sim, "a"), "Timeout");
    expect_message(sim, "a", "not ready within 2m: Deployment ns/a1");
    assert_string_equal(condition(sim, "Errored", "status"), "True");
    size_t writes = sim->n_applies + sim->n_statuses;
    sim_run(sim, 3600000);
    assert_int_equal(sim->n_applies + sim->n_statuses, writes); /* told once */
    (void)sim_live_deployment(sim, sim_find(sim, "Deployment", "a1"));
    sim_run(sim, 10000);
    expect_phase(sim, "a", "Ready");
    expect_phase(sim, "b", "Ready");
    sim_free(sim);
}

static void a_restart_does_not_move_the_deadline(void **state)
{
    (void)state;
    struct sim *sim = new_sim(&slow);
    sim_start(sim);
    sim_run(sim, 100000);
    sim_restart(sim);
    sim_run(sim, 15000);
    expect_phase(sim, "a", "Waiting");
    sim_run(sim, 10000);
    expect_phase(sim, "a", "Failed");
    sim_restart(sim);
    sim_run(sim, 1000);
    expect_phase(sim, "a", "Failed");
    sim_free(sim);
}

static void new_content_gets_time_anew(void **state)
{
    (void)state;
    struct sim *sim = new_sim(&slow);
    sim_start(sim);
    sim_run(sim, 160000);
    expect_phase(sim, "a", "Failed");
    edit(sim, 0, 0);
    sim_run(sim, 60000);
    expect_phase(sim, "a", "Waiting");
    sim_run(sim, 120000);
    expect_phase(sim, "a", "Failed");
    sim_free(sim);
}

static void a_stage_may_take_too_long_as_well(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = { { .kind = "Deployment",
                         .name = "a1",
                         .awaited = true,
                         .stage = -1,
                         .annotations = "{'sim/stuck':'1'}" },
                       { .kind = "ConfigMap", .name = "a2" } } }, );
    struct sim *sim = new_sim(&recipe);
    sim->timeout_ms = 60000; /* the resource's own, for all states */
    sim_start(sim);
    sim_run(sim, 70000);
    expect_phase(sim, "a", "Failed");
    (void)sim_live_deployment(sim, sim_find(sim, "Deployment", "a1"));
    sim_run(sim, 3600000);
    expect_phase(sim, "a", "Ready");
    sim_free(sim);
}

static void a_late_node_holds_no_other_up(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a", .objects = { { .kind = "DaemonSet", .name = "a1", .awaited = true } } },
        { .name = "b",
          NEEDS(0),
          .objects = { { .kind = "DaemonSet",
                         .name = "b1",
                         .awaited = true,
                         .needs_label = SIM_LABEL "a" } } }, );
    struct sim *sim = new_sim(&recipe);
    sim->timeout_ms = 60000;
    sim->frozen = true;
    sim_start(sim);
    sim_run(sim, 1000);
    while (!sim_find(sim, "Pod", "a1-n0") || !sim_find(sim, "Pod", "a1-n1"))
        (void)sim_live_daemon_set(sim, sim_find(sim, "DaemonSet", "a1"));
    (void)sim_live_daemon_set(sim, sim_find(sim, "DaemonSet", "a1"));
    sim_run(sim, 70000);
    expect_phase(sim, "a", "Failed");
    (void)sim_live_pod(sim, sim_find(sim, "Pod", "a1-n0"));
    sim_run(sim, 10000);
    assert_non_null(sim_find(sim, "DaemonSet", "b1")); /* n0 goes on */
    assert_null(sim_label(sim, "n1", "a"));
    sim->frozen = false;
    sim_run(sim, 60000);
    expect_phase(sim, "b", "Ready");
    sim_free(sim);
}

#define JOB_FAILED                                                                                 \
    "{'conditions':[{'type':'Failed','status':'True','reason':'BackoffLimitExceeded',"             \
    "'message':'it failed'}]}"

static const struct sim_recipe job = STATES(
    { .name = "a",
      .objects = { { .kind = "ConfigMap", .name = "a0" },
                   { .kind = "Job",
                     .name = "a1",
                     .awaited = true,
                     .annotations = "{'slipway.dev/retries':'2'}" },
                   { .kind = "Pod", .name = "a2", .awaited = true } } }, );

static void fail_job(struct sim *sim)
{
    if (sim_find(sim, "Job", "a1"))
        set_status(sim, "Job", "a1", JOB_FAILED);
}

static void what_ran_and_failed_is_run_again_for_a_while(void **state)
{
    (void)state;
    struct sim *sim = new_sim(&job);
    sim->frozen = true;
    sim_start(sim);
    sim_run(sim, 1000);
    for (size_t i = 0; i < 20; i++) {
        fail_job(sim);
        sim_run(sim, 1000);
        if (i == 0)
            expect_phase(sim, "a", "Failed");
    }
    sim_run(sim, 3600000);
    assert_int_equal(sim->n_deletes, 2); /* as often as it may */
    expect_phase(sim, "a", "Failed");
    edit(sim, 0,
         0); /* the cause may be another now: it is run again at once, and may be twice more */
    sim_run(sim, 1000);
    assert_int_equal(sim->n_deletes, 3);
    sim->frozen = false;
    sim_run(sim, 1000);
    expect_phase(sim, "a", "Ready");
    sim_free(sim);
}

static void it_is_run_again_less_and_less_often(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a", .objects = { { .kind = "Pod", .name = "a1", .awaited = true } } }, );
    struct sim *sim = new_sim(&recipe);
    sim->frozen = true;
    sim_start(sim);
    sim_run(sim, 1000);
    for (size_t i = 0; i < 3600; i++) {
        if (sim_find(sim, "Pod", "a1"))
            set_status(sim, "Pod", "a1", "{'phase':'Failed'}");
        sim_run(sim, 1000);
    }
    assert_in_range(sim->n_deletes, 10, 20); /* every 5 minutes at last */
    sim->frozen = false;
    sim_run(sim, 600000);
    expect_phase(sim, "a", "Ready");
    sim_free(sim);
}

/* ---- what stays --------------------------------------------------------------------------------
 */

static void what_is_orphaned_stays_without_slipway_s_marks(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    sim_clear_log(sim);
    sim->deleting = sim->orphan = true;
    sim_spec(sim);
    sim_run(sim, 60000);
    assert_true(sim->finalized);
    expect_never(sim, "delete");
    expect_order(sim, "release Pod c1", "release DaemonSet b1");
    struct json_object *kept = sim_find(sim, "DaemonSet", "b1");
    assert_non_null(kept);
    assert_null(sw_obj_annotation(kept, "slipway.dev/resource"));
    assert_string_equal(sim_label(sim, "n0", "b"), "Ready"); /* pods select by it */
    sim_free(sim);
}

static void a_release_that_is_refused_or_cut_short_is_tried_again(void **state)
{
    (void)state;
    struct refusal no = { SW_ACT_RELEASE, "b1", SW_FORBIDDEN, 0 };
    struct sim *sim = walked(&chain);
    sim->arg = &no;
    sim->refuse = refuse;
    sim->deleting = sim->orphan = true;
    sim_spec(sim);
    sim_run(sim, 60000);
    assert_false(sim->finalized);
    assert_true(no.n > 1);
    sim_restart(sim);
    no.code = 0;
    sim_run(sim, 600000);
    assert_true(sim->finalized);
    assert_non_null(sim_find(sim, "DaemonSet", "b1"));
    sim_free(sim);
}

static void what_is_to_be_kept_is_released(void **state)
{
    (void)state;
    static const struct sim_recipe recipe = STATES(
        { .name = "a",
          .objects = { { .kind = "ConfigMap", .name = "a1" },
                       { .kind = "Secret",
                         .name = "a2",
                         .annotations = "{'helm.sh/resource-policy':'keep'}" } } }, );
    struct sim *sim = walked(&recipe);
    sim->deleting = true;
    sim_spec(sim);
    sim_run(sim, 60000);
    assert_true(sim->finalized);
    assert_null(sim_find(sim, "ConfigMap", "a1"));
    struct json_object *kept = sim_find(sim, "Secret", "a2");
    assert_non_null(kept);
    assert_null(sw_json_find(kept, "metadata", "ownerReferences", NULL));
    sim_free(sim);
}

/* ---- grace over restarts -----------------------------------------------------------------------
 */

static void a_restart_neither_prolongs_nor_ends_the_grace(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    sim_roster_put(sim, "n1", "k1", false);
    struct json_object *pod = sim_find(sim, "Pod", "b1-n1");
    (void)sim_set_status(sim, pod, sim_json("{'phase':'Running'}"));
    sim_step(sim,
             &(struct sw_event){ .kind = SW_EV_NODE, .node = sw_roster_find(sim->roster, "n1") });
    sim->frozen = true;
    sim_run(sim, 180000);
    assert_string_equal(sim_label(sim, "n1", "b"), "Ready");
    struct json_object *lost = sw_json_at(sw_json_get(sim->status, "lostNodes"), 0);
    assert_string_equal(json_object_get_string(sw_json_at(sw_json_get(lost, "nodes"), 0)), "n1");
    sim_restart(sim);
    sim_run(sim, 100000);
    assert_string_equal(sim_label(sim, "n1", "b"), "Ready"); /* 4:40 */
    sim_run(sim, 40000);
    assert_null(sim_label(sim, "n1", "b")); /* 5:20: not 5 minutes after the restart */
    assert_string_equal(sim_label(sim, "n0", "b"), "Ready");
    assert_null(sw_json_get(sim->status, "lostNodes"));
    sim_free(sim);
}

static void a_node_that_comes_back_in_time_is_forgiven(void **state)
{
    (void)state;
    struct sim *sim = walked(&chain);
    uint32_t n1 = sw_roster_find(sim->roster, "n1");
    sim->frozen = true;
    for (int i = 0; i < 4; i++) {
        sim_roster_put(sim, "n1", "k1", i % 2);
        (void)sim_set_status(sim, sim_find(sim, "Pod", "b1-n1"),
                             i % 2 ? sim_json("{'phase':'Running','conditions':[{'type':'Ready',"
                                              "'status':'True'}]}")
                                   : sim_json("{'phase':'Running'}"));
        sim_step(sim, &(struct sw_event){ .kind = SW_EV_NODE, .node = n1 });
        sim_run(sim, 240000);
        assert_string_equal(sim_label(sim, "n1", "b"), "Ready");
        sim_restart(sim);
        sim_run(sim, 1000);
    }
    assert_null(sw_json_get(sim->status, "lostNodes"));
    sim_free(sim);
}

/* ---- the table ---------------------------------------------------------------------------------
 */

static void every_row_was_taken(void **state)
{
    (void)state;
    bool all = true;
    for (size_t i = 0; i < table_n_rows; i++) {
        if (table_taken[i])
            continue;
        all = false;
        print_message("row not taken: %s, %s -> %s\n", phase_name(table_rows[i].in),
                      signal_name(table_rows[i].on), phase_name(table_rows[i].to));
    }
    assert_true(all);
}

static void every_phase_is_entered_and_left(void **state)
{
    (void)state;
    for (enum phase p = 0; p < PH_COUNT; p++) {
        bool entered = p == PH_ASKING, left = false;
        for (size_t i = 0; i < table_n_rows; i++) {
            entered = entered || table_rows[i].to == p;
            left = left || table_rows[i].in == p;
            assert_non_null(table_rows[i].why);
        }
        assert_true(entered);
        assert_true(left);
        assert_non_null(phase_name(p));
    }
}

static void no_row_is_hidden_by_another(void **state)
{
    (void)state;
    for (size_t i = 0; i < table_n_rows; i++)
        for (size_t k = 0; k < i; k++)
            if (table_rows[i].in == table_rows[k].in && table_rows[i].on == table_rows[k].on)
                fail_msg("%s %s has two rows", phase_name(table_rows[i].in),
                         signal_name(table_rows[i].on));
}

static void every_signal_is_used_and_explained(void **state)
{
    (void)state;
    for (enum signal g = 0; g < SG_COUNT; g++) {
        bool used = false;
        for (size_t i = 0; i < table_n_rows; i++)
            used = used || table_rows[i].on == g;
        assert_true(used);
        assert_non_null(signal_name(g));
        assert_non_null(signal_words(g));
    }
}

#define TEST(f) cmocka_unit_test(f)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(states_follow_each_other),
        TEST(few_writes_are_enough),
        TEST(at_rest_nothing_is_written),
        TEST(a_restart_writes_nothing),
        TEST(independent_states_run_side_by_side),
        TEST(nothing_is_applied_before_it_is_written_down),
        TEST(objects_are_applied_by_stage_and_kind),
        TEST(webhooks_are_published_when_their_server_is_ready),
        TEST(a_failed_stage_fails_the_state),
        TEST(only_what_is_awaited_is_waited_for),
        TEST(a_shut_gate_takes_ready_back),
        TEST(what_failed_may_recover),
        TEST(what_others_own_is_waited_for_and_never_written),
        TEST(what_others_take_back_holds_new_nodes_only),
        TEST(what_others_bring_ready_holds_though_slipway_applied_it),
        TEST(what_others_bring_ready_holds_though_slipway_applied_it),
        TEST(held_states_follow_the_recipe_too),
        TEST(a_new_node_walks_by_itself),
        TEST(a_slow_node_holds_nobody_up),
        TEST(a_broken_pod_takes_its_node_s_label_off),
        TEST(a_missed_heartbeat_takes_nothing_off_for_a_while),
        TEST(deselected_nodes_lose_their_labels),
        TEST(no_matching_node_is_not_ready),
        TEST(node_labels_may_be_waited_for),
        TEST(labels_that_come_with_an_answer_count),
        TEST(logs_may_be_waited_for),
        TEST(each_kernel_has_its_own_objects),
        TEST(a_new_kernel_is_built_for_and_an_old_one_retired),
        TEST(a_kernel_that_fails_does_not_hide_nor_hold_the_others),
        TEST(what_is_deleted_comes_back),
        TEST(what_is_changed_is_put_right),
        TEST(what_others_add_is_left_alone),
        TEST(nobody_is_fought_at_full_speed),
        TEST(what_has_run_to_its_end_is_not_run_again),
        TEST(new_content_goes_through_the_gates_again),
        TEST(what_cannot_be_changed_is_replaced),
        TEST(objects_that_are_dropped_are_pruned),
        TEST(states_that_are_dropped_are_removed),
        TEST(objects_may_move_to_another_state),
        TEST(a_state_being_applied_takes_new_content),
        TEST(a_state_waiting_takes_new_content),
        TEST(what_it_needs_may_be_lost_while_it_applies),
        TEST(what_passes_is_tried_again),
        TEST(what_lasts_is_an_error_and_tried_seldom),
        TEST(a_changed_cause_ends_the_back_off),
        TEST(a_kind_that_is_not_served_is_waited_for),
        TEST(what_cannot_be_looked_at_is_not_taken_for_absent),
        TEST(a_recipe_that_does_not_render_is_shown_when_its_turn_comes),
        TEST(a_bad_edit_harms_nothing),
        TEST(a_chart_that_is_gone_is_an_error),
        TEST(labels_that_are_refused_are_reported),
        TEST(a_foreign_object_is_not_taken_over),
        TEST(a_foreign_object_may_be_adopted_and_is_kept_at_the_end),
        TEST(a_namespace_of_others_is_used_and_left),
        TEST(a_namespace_of_our_own_goes_last),
        TEST(a_dying_namespace_is_waited_for),
        TEST(a_dry_run_is_tried_until_it_passes),
        TEST(removal_goes_backwards_and_leaves_nothing),
        TEST(a_held_deletion_touches_nothing_and_keeps_the_hidden_state),
        TEST(removal_needs_no_recipe),
        TEST(labels_of_others_are_left),
        TEST(a_deletion_that_is_refused_is_tried_again),
        TEST(removed_states_can_come_back),
        TEST(unmanaged_is_left_alone),
        TEST(any_state_can_be_removed),
        TEST(it_can_be_removed_before_it_began),
        TEST(a_render_may_fail_while_objects_are_looked_at),
        TEST(a_render_may_fail_just_when_the_turn_comes),
        TEST(a_state_that_takes_too_long_fails_and_still_recovers),
        TEST(a_restart_does_not_move_the_deadline),
        TEST(new_content_gets_time_anew),
        TEST(a_stage_may_take_too_long_as_well),
        TEST(a_late_node_holds_no_other_up),
        TEST(what_ran_and_failed_is_run_again_for_a_while),
        TEST(it_is_run_again_less_and_less_often),
        TEST(what_is_orphaned_stays_without_slipway_s_marks),
        TEST(a_release_that_is_refused_or_cut_short_is_tried_again),
        TEST(what_is_to_be_kept_is_released),
        TEST(a_restart_neither_prolongs_nor_ends_the_grace),
        TEST(a_node_that_comes_back_in_time_is_forgiven),
        TEST(every_row_was_taken),
        TEST(every_phase_is_entered_and_left),
        TEST(no_row_is_hidden_by_another),
        TEST(every_signal_is_used_and_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
