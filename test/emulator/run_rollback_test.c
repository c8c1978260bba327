/* spec.rollback: what a state was made of when it was ready last comes back where the new failed.
 */
#include "run_sro.h"

static const char values[] = "color: none\nzone: \"\"\n";
static const char first[] =
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n"
    "data:\n  color: {{ .Values.color | quote }}\n"
    "---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d\n  annotations:\n"
    "    " SRO "wait: \"true\"\nspec:\n  replicas: 1\n"
    "  selector: {matchLabels: {app: d}}\n  template:\n    metadata: {labels: {app: d}}\n"
    "    spec:\n{{- with .Values.zone }}\n      nodeSelector: {zone: {{ . }}}\n{{- end }}\n"
    "      containers: [{name: c, image: \"example.org/c:1\"}]\n";
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

/* Ready in the first place, with rollback and a deadline. */
static void begin(struct world *w, char **root)
{
    *root = chart_root();
    SW_AUTO_CHARS *dir = chart(*root);
    world_open(w);
    sro_apply(w, dir);
    set(w, "{\"spec\":{\"rollback\":true,\"stateTimeout\":\"3m\"}}");
    world_start(w);
    sro_until(w, "rel", "Ready", NULL);
    sro_until_there(w, "v1", "Secret", "rel", "slipway.rollback.rel");
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

/* From the change on, the controller dies after its n-th request, for every n. */
static void killed_at_any_request_it_ends_the_same(void **state)
{
    (void)state;
    bool killed = true;
    for (uint64_t at = 2; killed && at < 80; at += 2) {
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_that_is_late_gets_its_last_ready_content),
        cmocka_unit_test(a_rollback_outlives_the_controller),
        cmocka_unit_test(without_the_field_what_failed_stays),
        cmocka_unit_test(a_chart_may_ask_for_it),
        cmocka_unit_test(killed_at_any_request_it_ends_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
