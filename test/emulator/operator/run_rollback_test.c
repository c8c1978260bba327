/* spec.rollback: what a state was made of when it was ready last comes back where the new failed.
 */
#include "run_sro.h"
#include "sample.h"

static const char values[] = "color: none\nzone: \"\"\n";
static const char first[] =
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n"
    "data:\n  color: {{ .Values.color | quote }}\n"
    "---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d\n  annotations:\n"
    "    " SRO "wait: \"true\"\nspec:\n  replicas: 1\n"
    "  selector: {matchLabels: {app: d}}\n  template:\n    metadata: {labels: {app: d}}\n"
    "    spec:\n{{- with .Values.zone }}\n      nodeSelector: {zone: {{ . }}}\n{{- end }}\n"
    "      containers:\n      - name: c\n        image: example.org/c:1\n";
static const char second[] = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: after\n"
                             "data:\n  color: {{ .Values.color | quote }}\n";

static char *chart(const char *root)
{
    return CHART(root, "rel", { "values.yaml", values }, { "templates/0000-d.yaml", first },
                 { "templates/1000-after.yaml", second });
}

static void set(struct world *w, const char *spec)
{
    assert_int_equal(world_patch(w, SR_VERSION, "SpecialResource", NULL, "rel", NULL, spec), 0);
}

/* Ready, and what it is ready with is kept. */
static void begin_chart(struct world *w, const char *dir)
{
    sro_apply(w, dir);
    set(w, "{\"spec\":{\"rollback\":true,\"stateTimeout\":\"3m\"}}");
    world_start(w);
    sro_until(w, "rel", "Ready", NULL);
    sro_until_there(w, "v1", "Secret", "rel", "slipway.rollback.rel");
}

/* Ready in the first place, with rollback and a deadline. */
static void begin(struct world *w, char **root)
{
    *root = chart_root();
    SW_AUTO_CHARS *dir = chart(*root);
    world_open(w);
    begin_chart(w, dir);
}

#define BAD                                                                                        \
    "{\"spec\":{\"set\":{\"kind\":\"Values\",\"apiVersion\":\"sro.openshift.io/v1beta1\","         \
    "\"color\":\"red\",\"zone\":\"mars\"}}}"
#define GOOD "{\"spec\":{\"set\":{\"color\":\"blue\",\"zone\":\"\"}}}"

static const char *color(struct world *w, const char *name)
{
    return sw_json_str(world_get(w, "v1", "ConfigMap", "rel", name), "", "data", "color", NULL);
}

static bool is_bound(struct world *w)
{
    struct json_object *d = world_get(w, "apps/v1", "Deployment", "rel", "d");
    return sw_json_find(d, "spec", "template", "spec", "nodeSelector", "zone", NULL);
}

static void must_be_as_before(struct world *w)
{
    sro_until(w, "rel", "RolledBack", "not ready within 3m");
    sro_until(w, "rel", "Ready", "rolled back: state ");
    assert_false(is_bound(w));
    assert_string_equal(color(w, "c"), "none");
    assert_string_equal(color(w, "after"), "red"); /* its own state has not failed */
}

static size_t n_events(struct world *w, const char *reason)
{
    struct json_object *events = world_get(w, "v1", "Event", NULL, NULL);
    size_t n = 0;
    for (size_t i = 0; i < sw_json_len(events); i++)
        n += sw_streq(sw_json_str(sw_json_at(events, i), "", "reason", NULL), reason);
    return n;
}

static void a_state_that_is_late_gets_its_last_ready_content(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root;
    begin(&w, &root);
    set(&w, BAD);
    must_be_as_before(&w);
    assert_int_equal(n_events(&w, "RolledBack"), 1);
    set(&w, GOOD); /* another content is tried */
    sro_until(&w, "rel", "Ready", "\"reason\": \"AsAsked\"");
    assert_string_equal(color(&w, "c"), "blue");
    assert_string_equal(color(&w, "after"), "blue");
    world_close(&w);
    chart_remove(root);
}

static void a_rollback_outlives_the_controller(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root;
    begin(&w, &root);
    set(&w, BAD);
    must_be_as_before(&w);
    world_wait(&w, 5000);
    world_kill(&w);
    world_start(&w);
    world_wait(&w, 10 * 60000);
    must_be_as_before(&w);
    assert_int_equal(n_events(&w, "RolledBack"), 1);
    world_close(&w);
    chart_remove(root);
}

/* Counted by what it holds: a restart reads the recipe for the first time again. */
static void a_recipe_is_known_by_its_content_after_a_restart(void **state)
{
    (void)state;
    static const char blue[] = "color: blue\nzone: \"\"\n";
    SW_AUTO_CHARS *never = sw_printf("%s        env: [{name: R, value: {{ randAlphaNum 8 }}}]\n",
                                     first);
    struct world w = { 0 };
    char *root;
    begin(&w, &root);
    SW_AUTO_CHARS *bad_root = sw_printf("%s/bad", root), *good_root = sw_printf("%s/good", root);
    SW_AUTO_CHARS *bad = CHART(bad_root, "rel", { "values.yaml", "color: red\nzone: mars\n" },
                               { "templates/0000-d.yaml", never });
    sro_apply(&w, bad);
    sro_until(&w, "rel", "RolledBack", "not ready within 3m");
    sro_until(&w, "rel", "Ready", "rolled back: state ");
    world_wait(&w, 60000);
    world_kill(&w);
    world_start(&w);
    world_wait(&w, 10 * 60000);
    sro_until(&w, "rel", "Ready", "rolled back: state ");
    assert_int_equal(n_events(&w, "RolledBack"), 1); /* it is not tried once more */
    SW_AUTO_CHARS *good = CHART(good_root, "rel", { "values.yaml", blue },
                                { "templates/0000-d.yaml", first });
    sro_apply(&w, good); /* the second that this controller reads, as the bad one was */
    sro_until(&w, "rel", "Ready", "\"reason\": \"AsAsked\"");
    assert_string_equal(color(&w, "c"), "blue");
    world_close(&w);
    chart_remove(root);
}

static void without_the_field_what_failed_stays(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root;
    begin(&w, &root);
    set(&w, "{\"spec\":{\"rollback\":false}}");
    set(&w, BAD);
    sro_until(&w, "rel", "Errored", "not ready within 3m");
    assert_true(is_bound(&w));
    world_close(&w);
    chart_remove(root);
}

static void a_chart_may_ask_for_it(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = chart_root();
    SW_AUTO_CHARS *dir = CHART(root, "rel", { "values.yaml", values },
                               { "templates/0000-d.yaml", first },
                               { "templates/1000-after.yaml", second },
                               { "Chart.yaml", "apiVersion: v2\nname: rel\nversion: 0.0.1\n"
                                               "annotations: {slipway.dev/rollback: \"true\"}\n" });
    world_open(&w);
    sro_apply(&w, dir);
    set(&w, "{\"spec\":{\"stateTimeout\":\"3m\"}}");
    world_start(&w);
    sro_until(&w, "rel", "Ready", NULL);
    sro_until_there(&w, "v1", "Secret", "rel", "slipway.rollback.rel");
    world_wait(&w, 60000);
    world_count(&w);
    world_wait(&w, 3 * 60000);
    assert_int_equal(w.n_requests, 0); /* what is kept costs nothing at rest */
    set(&w, BAD);
    must_be_as_before(&w);
    world_close(&w);
    chart_remove(root);
}

static void kill_when_due(const struct sw_emu_request *req SW_UNUSED,
                          struct sw_emu_fault *fault SW_UNUSED, struct world *w)
{
    if (w->kill_at && w->n_requests == w->kill_at)
        w->killed = true;
}

static bool was_killed(struct world *w, void *arg SW_UNUSED)
{
    return w->killed;
}

/* From the change on, the controller is killed after its n-th request, for each n in the sample. */
static void killed_at_any_request_it_ends_the_same(void **state)
{
    (void)state;
    struct sample sample = sample_of(7);
    bool killed = true;
    for (uint64_t at = 1; killed && at < 100; at++) {
        if (!sample_has(&sample, at))
            continue;
        struct world w = { .on_request = kill_when_due };
        char *root;
        begin(&w, &root);
        world_wait(&w, 60000);
        world_count(&w);
        w.kill_at = at;
        set(&w, BAD);
        (void)world_until(&w, was_killed, NULL, 10 * 60000);
        killed = w.killed;
        world_kill(&w);
        w.kill_at = 0;
        world_start(&w);
        must_be_as_before(&w);
        world_close(&w);
        chart_remove(root);
    }
    assert_false(killed); /* the last time it ran through */
}

/* ---- hooks, and what brings a rollback about ----------------------------------------------------
 */

#define HOOK(name, when, weight)                                                                   \
    "---\napiVersion: batch/v1\nkind: Job\nmetadata:\n  name: " name                               \
    "\n  annotations:\n    helm.sh/hook: " when "\n    helm.sh/hook-weight: \"" weight "\"\n"      \
    "    helm.sh/hook-delete-policy: {{ .Values.policy }}\n    color: {{ .Values.color | quote "   \
    "}}\n"                                                                                         \
    "spec:\n  backoffLimit: 0\n  template:\n    spec:\n      restartPolicy: Never\n"               \
    "      containers: [{name: c, image: i}]\n"
#define HOOKS                                                                                      \
    HOOK("second", "pre-rollback", "5")                                                            \
    HOOK("first", "pre-upgrade,pre-rollback", "-5")                                                \
    HOOK("up", "post-upgrade", "0")                                                                \
    HOOK("last", "post-rollback", "0")                                                             \
    HOOK("gone", "pre-delete", "0")
static const char hook_values[] = "color: none\nzone: \"\"\nbad: false\n"
                                  "policy: before-hook-creation\n";
static const char map[] = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n"
                          "data:\n  color: {{ .Values.color | quote }}\n";

static char order[512]; /* what was applied, each once in a row */

static void note_apply(const struct sw_emu_request *req, struct sw_emu_fault *fault SW_UNUSED,
                       struct world *w)
{
    kill_when_due(req, fault, w);
    bool job = sw_streq(req->resource, "jobs") && !req->subresource && !sw_streq(req->name, "j");
    bool c = sw_streq(req->resource, "configmaps") && sw_streq(req->name, "c");
    if (!sw_streq(req->verb, "patch") || !(job || c))
        return;
    SW_AUTO_CHARS *word = sw_printf("%s ", req->name);
    size_t len = strlen(order), n = strlen(word);
    bool again = len >= n && sw_streq(order + len - n, word);
    if (!again && len + n < sizeof order)
        strcpy(order + len, word);
}

/* Something of the state that a value makes fail; @bad in its words. */
static const struct cause {
    const char *object, *words;
} causes[] = {
    { "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  annotations:\n    " SRO
      "wait: \"true\"\nspec:\n  restartPolicy: Never\n{{- if .Values.bad }}\n"
      "  nodeSelector: {zone: mars}\n{{- end }}\n  containers: [{name: c, image: i}]\n",
      "not ready within 3m" },
    { "---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d\n  annotations:\n"
      "    helm.sh/readiness-success: '[\"{.readyReplicas} >= 1\"]'\n"
      "    helm.sh/readiness-failure: '[\"{.replicas} == 2\"]'\nspec:\n"
      "  replicas: {{ if .Values.bad }}2{{ else }}1{{ end }}\n  selector: {matchLabels: {app: d}}\n"
      "  template:\n    metadata: {labels: {app: d}}\n    spec:\n"
      "      containers: [{name: c, image: i}]\n",
      "{.replicas} == 2 holds" },
    { "---\napiVersion: v1\nkind: Service\nmetadata:\n  name: s\nspec:\n  ports:\n"
      "  - port: {{ if .Values.bad }}123456{{ else }}80{{ end }}\n",
      "123456" },
    { "---\napiVersion: batch/v1\nkind: Job\nmetadata:\n  name: j\n  annotations:\n    " SRO
      "wait: \"true\"\n    slipway.dev/retries: \"0\"\nspec:\n  backoffLimit: 0\n  template:\n"
      "    metadata:\n      annotations:\n        emulator.slipway.dev/exit-code: "
      "{{ if .Values.bad }}\"3\"{{ else }}\"0\"{{ end }}\n    spec:\n      restartPolicy: Never\n"
      "      containers: [{name: c, image: i}]\n",
      "Job" },
};

/* Ready with the object of @cause and the hooks, all in one state. */
static char *begin_with_hooks(struct world *w, const char *object)
{
    char *root = chart_root();
    SW_AUTO_CHARS *text = sw_printf("%s%s%s", map, object, HOOKS);
    SW_AUTO_CHARS *dir = CHART(root, "rel", { "values.yaml", hook_values },
                               { "templates/0000-all.yaml", text });
    w->releases = SW_RELEASES_CONFIG_MAPS;
    w->on_request = note_apply;
    world_open(w);
    begin_chart(w, dir);
    sro_until_there(w, "v1", "ConfigMap", "rel", "sh.helm.release.v1.rel.v1");
    world_wait(w, 60000);
    order[0] = '\0';
    return root;
}

#define RED "\"color\":\"red\""
#define SET_BAD "{\"spec\":{\"set\":{\"kind\":\"Values\"," RED ",\"bad\":true}}}"

static void must_be_back(struct world *w, const char *words)
{
    sro_until(w, "rel", "RolledBack", words);
    sro_until(w, "rel", "Ready", "rolled back: state ");
    assert_string_equal(color(w, "c"), "none");
    struct json_object *job = world_get(w, "batch/v1", "Job", "rel", "last");
    assert_string_equal(sw_obj_annotation(job, "color"), "none"); /* what is gone back to has it */
}

/* The upgrade's hook and content, then all of the rollback; what failed late may have got to its
 * last hook. */
static bool is_ordered(struct world *w SW_UNUSED, void *arg SW_UNUSED)
{
    return sw_streq(order, "first c first second c last ") ||
           sw_streq(order, "first c up first second c last ");
}

static void hooks_of_a_rollback_run_whatever_its_cause(void **state)
{
    (void)state;
    for (size_t i = 0; i < SW_COUNT(causes); i++) {
        struct world w = { 0 };
        char *root = begin_with_hooks(&w, causes[i].object);
        set(&w, SET_BAD);
        must_be_back(&w, causes[i].words);
        if (!is_ordered(&w, NULL))
            fail_msg("%s: %s", causes[i].words, order);
        struct json_object *job = world_get(&w, "batch/v1", "Job", "rel", "j");
        if (job) /* it has run once more */
            assert_non_null(sw_obj_condition(job, "Complete"));
        assert_null(world_get(&w, "batch/v1", "Job", "rel", "gone"));
        world_close(&w);
        chart_remove(root);
    }
}

static void each_rollback_runs_its_hooks_once(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = begin_with_hooks(&w, causes[2].object);
    set(&w, SET_BAD);
    must_be_back(&w, causes[2].words);
    world_wait(&w, 60000);
    world_kill(&w);
    world_start(&w);
    world_wait(&w, 10 * 60000);
    must_be_back(&w, causes[2].words);
    assert_true(is_ordered(&w, NULL));
    order[0] = '\0';
    set(&w, "{\"spec\":{\"set\":{\"color\":\"blue\"}}}"); /* fails, too */
    assert_true(world_until(&w, is_ordered, NULL, 10 * 60000));
    must_be_back(&w, causes[2].words);
    world_close(&w);
    chart_remove(root);
}

static void a_hook_that_fails_holds_the_rollback(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = chart_root();
    SW_AUTO_CHARS *text = sw_printf(
        "%s%s%s", map, causes[2].object,
        "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: stop\n  annotations:\n"
        "    helm.sh/hook: pre-rollback\n    emulator.slipway.dev/exit-code: \"3\"\n"
        "spec:\n  restartPolicy: Never\n  containers: [{name: c, image: i}]\n");
    SW_AUTO_CHARS *dir = CHART(root, "rel", { "values.yaml", hook_values },
                               { "templates/0000-all.yaml", text });
    world_open(&w);
    begin_chart(&w, dir);
    set(&w, SET_BAD);
    sro_until(&w, "rel", "Errored", "Pod rel/stop");
    assert_string_equal(color(&w, "c"), "red"); /* nothing is touched before it */
    world_close(&w);
    chart_remove(root);
}

static void hooks_of_a_rollback_outlive_the_controller(void **state)
{
    (void)state;
    struct sample sample = sample_of(10);
    bool killed = true;
    for (uint64_t at = 1; killed && at < 150; at++) {
        if (!sample_has(&sample, at))
            continue;
        struct world w = { 0 };
        char *root = begin_with_hooks(&w, causes[2].object);
        world_count(&w);
        w.kill_at = at;
        set(&w, SET_BAD);
        (void)world_until(&w, was_killed, NULL, 10 * 60000);
        killed = w.killed;
        world_kill(&w);
        w.kill_at = 0;
        world_start(&w);
        must_be_back(&w, causes[2].words);
        world_close(&w);
        chart_remove(root);
    }
    assert_false(killed);
}

static size_t n_with_color(struct world *w, const char *want)
{
    struct json_object *list = world_get(w, "apps/v1", "DaemonSet", "rel", NULL);
    size_t n = 0;
    for (size_t i = 0; i < sw_json_len(list); i++)
        n += sw_streq(sw_obj_annotation(sw_json_at(list, i), "color"), want);
    return n;
}

/* What fails on the nodes of one kernel goes back on all of them, with a hook for each. */
static void kernels_go_back_together(void **state)
{
    (void)state;
    static const char driver[] =
        "apiVersion: apps/v1\nkind: DaemonSet\nmetadata:\n  name: d\n  annotations:\n"
        "    " SRO "kernel-affine: \"true\"\n    " SRO "wait: \"true\"\n"
        "    color: {{ .Values.color | quote }}\nspec:\n  selector: {matchLabels: {app: d}}\n"
        "  template:\n    metadata:\n      labels: {app: d}\n"
        "{{- if and .Values.bad (contains \"305.49\" .Values.kernelFullVersion) }}\n"
        "      annotations: {emulator.slipway.dev/ready: \"false\"}\n{{- end }}\n"
        "    spec:\n      containers: [{name: c, image: i}]\n"
        "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: undo\n  annotations:\n"
        "    " SRO "kernel-affine: \"true\"\n    helm.sh/hook: pre-rollback\n"
        "spec:\n  restartPolicy: Never\n  containers: [{name: c, image: i}]\n";
    struct world w = { 0 };
    char *root = chart_root();
    SW_AUTO_CHARS *dir = CHART(root, "rel", { "values.yaml", hook_values },
                               { "templates/0000-driver.yaml", driver });
    world_open(&w);
    begin_chart(&w, dir);
    size_t n = n_with_color(&w, "none");
    assert_true(n > 1);
    set(&w, SET_BAD);
    sro_until(&w, "rel", "RolledBack", "not ready within 3m");
    sro_until(&w, "rel", "Ready", "rolled back: state ");
    assert_int_equal(n_with_color(&w, "none"), n);
    assert_int_equal(n_with_color(&w, "red"), 0);
    assert_int_equal(sw_json_len(world_get(&w, "v1", "Pod", "rel", NULL)) > n, true);
    world_close(&w);
    chart_remove(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_that_is_late_gets_its_last_ready_content),
        cmocka_unit_test(a_rollback_outlives_the_controller),
        cmocka_unit_test(a_recipe_is_known_by_its_content_after_a_restart),
        cmocka_unit_test(without_the_field_what_failed_stays),
        cmocka_unit_test(a_chart_may_ask_for_it),
        cmocka_unit_test(killed_at_any_request_it_ends_the_same),
        cmocka_unit_test(hooks_of_a_rollback_run_whatever_its_cause),
        cmocka_unit_test(each_rollback_runs_its_hooks_once),
        cmocka_unit_test(a_hook_that_fails_holds_the_rollback),
        cmocka_unit_test(hooks_of_a_rollback_outlive_the_controller),
        cmocka_unit_test(kernels_go_back_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
