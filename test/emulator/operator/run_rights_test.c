/* Whose the controller's requests are: what run_world.h holds against the requests of all
 * scenarios. Here: that it finds those that are nobody's. */
#include "run_sro.h"

#define ACCOUNT "system:serviceaccount:r:slipway-r"
#define CONFIG_MAP "/api/v1/namespaces/r/configmaps/a"

static const struct row {
    const char *verb, *path, *as_user, *purpose;
    bool good;
} rows[] = {
    { "patch", CONFIG_MAP, ACCOUNT, NULL, true },
    { "patch", CONFIG_MAP, NULL, NULL, false },         /* nobody's */
    { "patch", CONFIG_MAP, "", NULL, false },           /* an empty identity is none */
    { "patch", CONFIG_MAP, ACCOUNT, "records", false }, /* one of both */
    { "patch", CONFIG_MAP, NULL, "records", true },
    { "patch", CONFIG_MAP "?fieldManager=slipway", NULL, "objects", false }, /* those are read */
    { "get", CONFIG_MAP, NULL, "objects", true },
    { "patch", CONFIG_MAP, NULL, "walk", false }, /* only with --legacy-rights */
    { "patch", CONFIG_MAP, NULL, "anything", false },
    { "patch", "/api/v1/nodes/a", NULL, "nodes", true },
    { "patch", "/api/v1/nodes/a/status", NULL, "nodes", false },
    { "delete", "/api/v1/nodes/a", NULL, "nodes", false },
    { "create", "/api/v1/namespaces/r/pods/a/eviction", NULL, "objects", false },
    { "create", "/api/v1/namespaces/r/pods/a/eviction", ACCOUNT, NULL, true },
    { "patch", "/api/v1/namespaces/r", NULL, "records", false },
    { "patch", "/apis/sro.openshift.io/v1beta1/specialresources/r/status", NULL, "kinds", true },
    { "delete", "/apis/rbac.authorization.k8s.io/v1/clusterroles/r", NULL, "kinds", false },
    { "watch", "daemonsets.apps", NULL, "objects", true },
    { "watch", "daemonsets.apps", NULL, "nodes", false },
    { "get", "/version", NULL, "discovery", true },
    { "get", "/version", NULL, NULL, false },
};

static void every_request_is_an_accounts_or_for_a_purpose_of_the_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        const struct row *r = &rows[i];
        SW_AUTO_CHARS *fault = world_rights_fault(&(struct sw_kube_traced){
            .verb = r->verb, .path = r->path, .as_user = r->as_user, .purpose = r->purpose });
        if (r->good != !fault)
            fail_msg("row %zu: %s %s: %s", i, r->verb, r->path, fault ? fault : "found good");
    }
}

static size_t n_accounts, n_own;

static void count(const struct sw_emu_request *req, struct sw_emu_fault *fault SW_UNUSED,
                  struct world *w SW_UNUSED)
{
    n_accounts += req->as_user != NULL;
    n_own += !req->as_user;
}

/* What is checked is what the server gets. */
static void a_walk_and_a_deletion_are_seen(void **state)
{
    (void)state;
    char *root = chart_root();
    SW_AUTO_CHARS *dir = CHART(
        root, "r",
        { "templates/0000-map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n" });
    struct world w = { .on_request = count };
    n_accounts = n_own = 0;
    world_open(&w);
    sro_run(&w, dir);
    sro_until(&w, "r", "Ready", NULL);
    sro_delete(&w, "r");
    assert_true(n_accounts >= 3); /* namespace, map, its deletion */
    assert_true(n_own > 0);
    assert_null(w.rights_fault);
    world_close(&w);
    chart_remove(root);
}

static size_t legacy_events(struct world *w)
{
    struct json_object *list = world_get(w, "v1", "Event", NULL, NULL);
    size_t n = 0;
    for (size_t i = 0; i < sw_json_len(list); i++)
        n += sw_streq(sw_json_str(sw_json_at(list, i), "", "reason", NULL), "LegacyRights") &&
             sw_streq(sw_json_str(sw_json_at(list, i), "", "type", NULL), "Warning");
    return n;
}

/* With the operator's own rights the same walk is found, and told: once a start, of a resource that
 * names no account. */
static void a_walk_with_legacy_rights_is_found(void **state)
{
    (void)state;
    char *root = chart_root();
    SW_AUTO_CHARS *dir = CHART(
        root, "r",
        { "templates/0000-map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n" });
    struct world w = { .rights = SW_RIGHTS_LEGACY };
    world_open(&w);
    sro_run(&w, dir);
    sro_until(&w, "r", "Ready", NULL);
    assert_non_null(w.rights_fault);
    assert_non_null(strstr(w.rights_fault, "as itself for walk"));
    assert_int_equal(legacy_events(&w), 1);
    assert_int_equal(world_patch(&w, SR_VERSION, "SpecialResource", NULL, "r", NULL,
                                 "{\"spec\":{\"set\":{\"a\":1}}}"),
                     0);
    world_wait(&w, 60000);
    assert_int_equal(legacy_events(&w), 1);
    world_kill(&w);
    world_start(&w);
    world_wait(&w, 60000);
    assert_int_equal(legacy_events(&w), 2);
    assert_int_equal(world_patch(&w, SR_VERSION, "SpecialResource", NULL, "r", NULL,
                                 "{\"spec\":{\"serviceAccountName\":\"weak\"}}"),
                     0);
    world_kill(&w);
    world_start(&w);
    world_wait(&w, 60000);
    assert_int_equal(legacy_events(&w), 2);
    world_close(&w);
    chart_remove(root);
}

/* DaemonSets go by the labels of states: who has one by another spelling of it could end them. */
static void a_label_of_nodes_is_one_resources(void **state)
{
    (void)state;
    char *root = chart_root();
    static const char map[] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
    SW_AUTO_CHARS *dir = CHART(
        root, "gpu-driver", { "templates/0000-map.yaml", map },
        { "templates/1000-map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n" });
    SW_AUTO_CHARS *other = CHART(root, "driver-0000", { "templates/map.yaml", map });
    struct sw_resource_opts opts = { .recipe = other, .name = "gpu", .ns = "gpu" };
    struct world w = { 0 };
    world_open(&w);
    sro_run(&w, dir);
    sro_until(&w, "gpu-driver", "Ready", NULL);
    world_apply(&w, &opts);
    sro_until(&w, "gpu", "Errored",
              "state 'driver-0000': SpecialResource 'gpu-driver' has its label "
              "'specialresource.openshift.io/state-gpu-driver-0000'");
    world_kill(&w); /* whose it is, is in the statuses */
    world_start(&w);
    world_wait(&w, 60000);
    sro_until(&w, "gpu", "Errored", NULL);
    sro_until(&w, "gpu-driver", "Ready", NULL);
    sro_delete(&w, "gpu-driver");
    sro_until(&w, "gpu", "Ready", NULL);
    world_close(&w);
    chart_remove(root);
}

/* Who may write a namespace's annotations says what a resource is handed over, but not that an
 * object of somebody else is its own. */
static void what_is_handed_over_says_itself_whose_it_is(void **state)
{
    (void)state;
    char *root = chart_root();
    SW_AUTO_CHARS *dir = CHART(
        root, "r",
        { "templates/0000-map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n" });
    struct world w = { 0 };
    world_open(&w);
    sro_run(&w, dir);
    sro_until(&w, "r", "Ready", NULL);
    assert_int_equal(world_create(&w, "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\","
                                      "\"metadata\":{\"name\":\"team\"}}"),
                     0);
    assert_int_equal(world_create(&w, "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\","
                                      "\"metadata\":{\"name\":\"victim\",\"namespace\":"
                                      "\"default\"}}"),
                     0);
    SW_AUTO_CHARS *uid = sw_strdup(sw_obj_uid(sro_get(&w, "r")));
    SW_AUTO_CHARS *victim = sw_strdup(
        sw_obj_uid(world_get(&w, "v1", "ConfigMap", "default", "victim")));
    SW_AUTO_CHARS *note = sw_printf(
        "{\"evil\":{\"version\":\"1\",\"users\":[{\"name\":\"r\",\"uid\":\"%s\",\"version\":\"1\"}]"
        ","
        "\"objects\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"namespace\":\"default\","
        "\"name\":\"victim\",\"uid\":\"%s\",\"state\":\"0000\",\"release\":\"team/evil\"}]}}",
        uid, victim);
    SW_AUTO_JSON *patch = json_object_new_object();
    sw_json_set_str(patch, note, "metadata", "annotations", "slipway.dev/shared-releases", NULL);
    sw_json_set_str(patch, "true", "metadata", "labels", "slipway.dev/shared-releases", NULL);
    assert_int_equal(
        world_patch(&w, "v1", "Namespace", NULL, "team", NULL, json_object_to_json_string(patch)),
        0);
    world_wait(&w, 60000);
    assert_non_null(world_get(&w, "v1", "ConfigMap", "default", "victim"));
    sro_delete(&w, "r");
    assert_non_null(world_get(&w, "v1", "ConfigMap", "default", "victim"));
    world_close(&w);
    chart_remove(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_request_is_an_accounts_or_for_a_purpose_of_the_table),
        cmocka_unit_test(a_walk_and_a_deletion_are_seen),
        cmocka_unit_test(a_walk_with_legacy_rights_is_found),
        cmocka_unit_test(a_label_of_nodes_is_one_resources),
        cmocka_unit_test(what_is_handed_over_says_itself_whose_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
