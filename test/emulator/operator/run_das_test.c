/* The DASOperator named cluster: it is a SpecialResource nvidia-mig with its spec as values, and
 * its conditions tell how that goes. */
#include "run_world.h"

#define DAS "inference.redhat.com/v1alpha1"
#define SRO "sro.openshift.io/v1beta1"

extern const struct sw_embedded sw_deploy_crds[];

static void create_crds(struct world *w)
{
    for (const struct sw_embedded *f = sw_deploy_crds; f->name; f++) {
        SW_ERR(err);
        SW_AUTO_JSON *crd = NULL;
        assert_int_equal(sw_yaml_parse(f->text, f->len_bytes, NULL, &crd, &err), 0);
        assert_int_equal(world_create(w, json_object_to_json_string(crd)), 0);
    }
}

/* Where GPUs are made up, a person says on which nodes. */
static void label_nodes(struct world *w)
{
    SW_AUTO_JSON *nodes = json_object_get(world_get(w, "v1", "Node", NULL, NULL));
    for (size_t i = 0; i < sw_json_len(nodes); i++) {
        struct json_object *node = sw_json_at(nodes, i);
        if (sw_obj_annotation(node, "emulator.slipway.dev/gpus"))
            assert_int_equal(
                world_patch(w, "v1", "Node", NULL, sw_obj_name(node), NULL,
                            "{\"metadata\":{\"labels\":{\"nvidia.com/mig.capable\":\"true\"}}}"),
                0);
    }
}

/* The DASOperator on Kubernetes @version, and no operator yet. */
static void prepare_on(struct world *w, const char *version, const char *spec)
{
    SW_AUTO_CHARS *das = sw_printf("{\"apiVersion\":\"" DAS "\",\"kind\":\"DASOperator\","
                                   "\"metadata\":{\"name\":\"cluster\",\"namespace\":"
                                   "\"das-operator\"},\"spec\":%s}",
                                   spec);
    (void)setenv("SLIPWAY_RECIPES", SW_SOURCE_DIR "/recipes", 1);
    (void)setenv("EMULATED_MODE", "enabled", 1);
    (void)setenv("RELATED_IMAGE_DAEMONSET_IMAGE", "here/daemonset:1", 1);
    (void)setenv("RELATED_IMAGES", "[{\"name\":\"das-webhook\",\"image\":\"here/webhook:1\"}]", 1);
    world_open_with(
        w, &(struct sw_emulator_opts){ .delays = sw_emu_delays_human, .kube_version = version });
    create_crds(w);
    world_wait(w, 1000);
    assert_int_equal(world_create(w, "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\","
                                     "\"metadata\":{\"name\":\"das-operator\"}}"),
                     0);
    assert_int_equal(world_create(w, das), 0);
    label_nodes(w);
    w->name = "nvidia-mig";
}

/* ... on the newest where slices are given out by webhook, scheduler and device plugin. */
static void prepare(struct world *w, const char *spec)
{
    prepare_on(w, "1.35", spec);
}

static void start(struct world *w, const char *spec)
{
    prepare(w, spec);
    world_start(w);
}

static struct json_object *resource(struct world *w)
{
    return world_get(w, SRO, "SpecialResource", NULL, "nvidia-mig");
}

static bool has_resource(struct world *w, void *arg SW_UNUSED)
{
    return resource(w) != NULL;
}

static bool has_no_resource(struct world *w, void *arg SW_UNUSED)
{
    return resource(w) == NULL;
}

/* @arg: the uid of the one before */
static bool is_another(struct world *w, void *arg)
{
    struct json_object *now = resource(w);
    return now && !sw_streq(sw_obj_uid(now), arg);
}

/* @arg: "Type=Status/Reason" */
static bool says(struct world *w, void *arg)
{
    struct json_object *das = world_get(w, DAS, "DASOperator", "das-operator", "cluster");
    struct json_object *list = sw_json_find(das, "status", "conditions", NULL);
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *c = sw_json_at(list, i);
        SW_AUTO_CHARS *text = sw_printf("%s=%s/%s", sw_json_str(c, "", "type", NULL),
                                        sw_json_str(c, "", "status", NULL),
                                        sw_json_str(c, "", "reason", NULL));
        if (sw_streq(text, arg))
            return true;
    }
    return false;
}

static void must_say(struct world *w, char *what)
{
    if (!world_until(w, says, what, 10 * 60000))
        fail_msg("never %s: %s", what,
                 json_object_to_json_string(sw_json_find(resource(w), "status", "states", NULL)));
}

static void spec_becomes_values_of_the_recipe(void **state SW_UNUSED)
{
    struct world w = { 0 };
    start(&w, "{\"managementState\":\"Managed\",\"logLevel\":\"Debug\",\"nodeSelector\":{\"gpu\":"
              "\"yes\"},"
              "\"unsupportedConfigOverrides\":{\"webhook\":{\"replicas\":1}}}");
    assert_true(world_until(&w, has_resource, NULL, 60000));
    struct json_object *set = sw_json_find(resource(&w), "spec", "set", NULL);
    assert_string_equal(sw_json_str(set, "", "device-plugin", "image", NULL), "here/daemonset:1");
    assert_string_equal(sw_json_str(set, "", "device-plugin", "emulatedMode", NULL), "enabled");
    assert_false(sw_json_bool(set, true, "nfd", "enabled", NULL)); /* nothing for GPUs */
    assert_false(sw_json_bool(set, true, "gpu-operator", "enabled", NULL));
    assert_string_equal(sw_json_str(set, "", "device-plugin", "nodeSelector", "gpu", NULL), "yes");
    assert_string_equal(sw_json_str(set, "", "scheduler", "logLevel", NULL), "debug");
    assert_string_equal(sw_json_str(set, "", "webhook", "image", NULL), "here/webhook:1");
    assert_string_equal(sw_json_str(set, "", "scheduler", "placement", NULL), "first-fit");
    assert_int_equal(sw_json_int(set, 0, "webhook", "replicas", NULL), 1);
    world_close(&w);
}

static void conditions_tell_how_the_walk_goes(void **state SW_UNUSED)
{
    struct world w = { 0 };
    start(&w, "{}");
    must_say(&w, "Available=False/ComponentsNotAvailable");
    must_say(&w, "Progressing=True/Reconciling");
    must_say(&w, "Available=True/AllRequiredComponentsAvailable");
    must_say(&w, "Progressing=False/AllComponentsAtDesiredState");
    must_say(&w, "Degraded=False/AllComponentsHealthy");
    struct json_object *das = world_get(&w, DAS, "DASOperator", "das-operator", "cluster");
    assert_int_equal(sw_json_len(sw_json_find(das, "status", "generations", NULL)), 4);
    assert_true(sw_json_int(das, 0, "status", "readyReplicas", NULL) >= 3);
    assert_null(world_get(&w, "nvidia.com/v1", "ClusterPolicy", NULL, "gpu-cluster-policy"));
    assert_null(world_get(&w, "v1", "Namespace", NULL, "openshift-nfd"));
    world_wait(&w, 60000);
    world_count(&w);
    world_wait(&w, 60000); /* at rest nothing is written */
    assert_int_equal(w.n_writes, 0);
    world_close(&w);
}

static void where_kube_scheduler_places_slices_the_scheduler_only_evicts(void **state SW_UNUSED)
{
    struct world w = { 0 };
    prepare_on(&w, "1.36", "{}");
    world_start(&w);
    must_say(&w, "Available=False/ComponentsNotAvailable");
    must_say(&w, "Available=True/AllRequiredComponentsAvailable");
    must_say(&w, "Progressing=False/AllComponentsAtDesiredState");
    must_say(&w, "Degraded=False/AllComponentsHealthy");
    struct json_object *das = world_get(&w, DAS, "DASOperator", "das-operator", "cluster");
    assert_int_equal(sw_json_len(sw_json_find(das, "status", "generations", NULL)), 2);
    assert_null(world_get(&w, "apps/v1", "Deployment", "das-operator", "das-operator-webhook"));
    struct json_object *d = world_get(&w, "apps/v1", "Deployment", "das-operator", "das-scheduler");
    assert_int_equal(sw_json_len(sw_json_find(d, "spec", "template", "spec", "containers", NULL)),
                     1);
    world_close(&w);
}

static void without_preemption_the_daemon_is_enough(void **state SW_UNUSED)
{
    struct world w = { 0 };
    prepare_on(&w, "1.36",
               "{\"unsupportedConfigOverrides\":{\"scheduler\":{\"preemption\":false}}}");
    world_start(&w);
    must_say(&w, "Available=True/AllRequiredComponentsAvailable");
    must_say(&w, "Progressing=False/AllComponentsAtDesiredState");
    assert_null(world_get(&w, "apps/v1", "Deployment", "das-operator", "das-scheduler"));
    assert_null(
        world_get(&w, "rbac.authorization.k8s.io/v1", "ClusterRole", NULL, "das-scheduler"));
    world_close(&w);
}

static void what_the_user_changes_in_the_resource_stays(void **state SW_UNUSED)
{
    struct world w = { 0 };
    start(&w, "{}");
    assert_true(world_until(&w, has_resource, NULL, 60000));
    assert_int_equal(world_patch(&w, SRO, "SpecialResource", NULL, "nvidia-mig", NULL,
                                 "{\"spec\":{\"set\":{\"device-plugin\":{\"image\":\"mine:1\"}}}}"),
                     0);
    world_kill(&w);
    world_start(&w);
    world_wait(&w, 30000);
    assert_string_equal(
        sw_json_str(resource(&w), "", "spec", "set", "device-plugin", "image", NULL), "mine:1");
    world_close(&w);
}

static void removed_takes_the_resource_away_and_managed_brings_it_back(void **state SW_UNUSED)
{
    struct world w = { 0 };
    start(&w, "{}");
    assert_true(world_until(&w, has_resource, NULL, 60000));
    assert_int_equal(world_patch(&w, DAS, "DASOperator", "das-operator", "cluster", NULL,
                                 "{\"spec\":{\"managementState\":\"Removed\"}}"),
                     0);
    assert_true(world_until(&w, has_no_resource, NULL, 10 * 60000));
    must_say(&w, "Available=False/Removed");
    assert_int_equal(world_patch(&w, DAS, "DASOperator", "das-operator", "cluster", NULL,
                                 "{\"spec\":{\"managementState\":\"Managed\"}}"),
                     0);
    assert_true(world_until(&w, has_resource, NULL, 60000));
    world_close(&w);
}

static void a_deleted_resource_comes_back_and_goes_with_the_operator(void **state SW_UNUSED)
{
    struct world w = { 0 };
    start(&w, "{}");
    assert_true(world_until(&w, has_resource, NULL, 60000));
    SW_AUTO_CHARS *uid = sw_strdup(sw_obj_uid(resource(&w)));
    assert_int_equal(world_delete(&w, SRO, "SpecialResource", NULL, "nvidia-mig"), 0);
    assert_true(world_until(&w, is_another, uid, 10 * 60000));
    assert_int_equal(world_delete(&w, DAS, "DASOperator", "das-operator", "cluster"), 0);
    assert_true(world_until(&w, has_no_resource, NULL, 10 * 60000));
    world_wait(&w, 30000);
    assert_null(resource(&w));
    world_close(&w);
}

static void a_resource_goes_whose_operator_was_deleted_while_nobody_looked(void **state SW_UNUSED)
{
    struct world w = { 0 };
    start(&w, "{}");
    assert_true(world_until(&w, has_resource, NULL, 60000));
    world_kill(&w);
    assert_int_equal(world_delete(&w, DAS, "DASOperator", "das-operator", "cluster"), 0);
    world_wait(&w, 30000);
    assert_non_null(resource(&w));
    world_start(&w);
    assert_true(world_until(&w, has_no_resource, NULL, 10 * 60000));
    world_close(&w);
}

/* A busy server: the CRD is established, and discovery does not know it yet. */
static void serve_late(const struct sw_emu_request *req, struct sw_emu_fault *fault,
                       struct world *w)
{
    static int n;
    (void)w;
    if (!sw_streq(req->verb, "get") || !sw_streq(req->path, "/apis/cert-manager.io/v1") || n > 9)
        return;
    n++;
    *fault = (struct sw_emu_fault){ .type = SW_FAULT_ERROR, .code = 404 };
}

static void a_kind_that_is_served_late_is_waited_for(void **state SW_UNUSED)
{
    struct world w = { .on_request = serve_late };
    start(&w, "{}");
    must_say(&w, "Progressing=False/AllComponentsAtDesiredState");
    world_close(&w);
}

static bool webhook_has(struct world *w, void *arg)
{
    struct json_object *d = world_get(w, "apps/v1", "Deployment", "das-operator",
                                      "das-operator-webhook");
    return d && strstr(json_object_to_json_string(d), arg) != NULL;
}

/* On OpenShift the webhook follows the profile that the cluster's API server has. */
static void the_webhook_follows_the_clusters_tls_profile(void **state SW_UNUSED)
{
    struct world w = { 0 };
    start(&w, "{}");
    assert_true(world_until(&w, webhook_has, "--tls-min-version=VersionTLS12", 10 * 60000));
    assert_true(webhook_has(&w, "tls-profile-hash"));
    assert_int_equal(
        world_patch(&w, "config.openshift.io/v1", "APIServer", NULL, "cluster", NULL,
                    "{\"spec\":{\"tlsSecurityProfile\":{\"type\":\"Modern\",\"modern\":{}}}}"),
        0);
    assert_true(world_until(&w, webhook_has, "--tls-min-version=VersionTLS13", 60000));
    world_close(&w);
}

static void unmanaged_is_left_alone(void **state SW_UNUSED)
{
    struct world w = { 0 };
    start(&w, "{\"managementState\":\"Unmanaged\"}");
    world_wait(&w, 30000);
    assert_null(resource(&w));
    world_close(&w);
}

/* ---- in the place of DAS -----------------------------------------------------------------------
 */

/* Owners of the file have no uid. */
static void create_as_das(struct world *w, struct json_object *doc, const char *owner_uid)
{
    const struct sw_kind *k = world_kind(w, sw_obj_api_version(doc), sw_obj_kind(doc));
    struct json_object *owners = sw_json_find(doc, "metadata", "ownerReferences", NULL);
    SW_AUTO_JSON *body = sw_json_copy(doc);
    assert_non_null(k);
    if (sw_json_len(owners))
        sw_json_set_str(sw_json_at(sw_json_find(body, "metadata", "ownerReferences", NULL), 0),
                        owner_uid, "uid", NULL);
    w->answer_code = SW_PENDING;
    (void)sw_kube_create(w->conn.kube, k, k->namespaced ? "das-operator" : NULL, NULL, body,
                         &(struct sw_request_opts){ .field_manager = "das-operator" },
                         world_on_answer, w);
    assert_true(world_until(w, world_is_answered, NULL, 60000));
    if (w->answer_code < 0)
        fail_msg("%s %s: %d", sw_obj_kind(doc), sw_obj_name(doc), w->answer_code);
}

/* Each object of the file with the uid that it has, a line each; @create: they are made, too. */
static char *left_by_das(struct world *w, bool create)
{
    SW_ERR(err);
    struct sw_yaml_docs docs = { 0 };
    SW_AUTO_CHARS *text = NULL, *owner = NULL;
    char *out = sw_strdup("");
    size_t len;
    owner = sw_strdup(sw_obj_uid(world_get(w, DAS, "DASOperator", "das-operator", "cluster")));
    assert_int_equal(sw_file_read(SW_SOURCE_DIR "/test/emulator/operator/takeover/das.yaml",
                                  1 << 20, &text, &len, &err),
                     0);
    if (sw_yaml_parse_all(text, len, NULL, &docs, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    for (size_t i = 0; i < docs.n_docs; i++) {
        struct json_object *doc = docs.docs[i].object;
        const char *ns = *sw_obj_namespace(doc) ? sw_obj_namespace(doc) : NULL;
        if (create)
            create_as_das(w, doc, owner);
        struct json_object *live = world_get(w, sw_obj_api_version(doc), sw_obj_kind(doc), ns,
                                             sw_obj_name(doc));
        sw_append(&out, "%s %s %s\n", sw_obj_kind(doc), sw_obj_name(doc),
                  live ? sw_obj_uid(live) : "is gone");
    }
    sw_yaml_docs_done(&docs);
    return out;
}

static struct json_object *only_container(struct world *w, const char *kind, const char *name)
{
    struct json_object *workload = world_get(w, "apps/v1", kind, "das-operator", name);
    struct json_object *list = sw_json_find(workload, "spec", "template", "spec", "containers",
                                            NULL);
    assert_string_equal(sw_obj_annotation(workload, "slipway.dev/resource"), "nvidia-mig");
    assert_int_equal(sw_json_len(list), 1);
    return sw_json_at(list, 0);
}

static void what_das_left_is_taken_over_in_place(void **state SW_UNUSED)
{
    struct world w = { 0 };
    prepare(&w, "{}");
    SW_AUTO_CHARS *before = left_by_das(&w, true);
    assert_null(strstr(before, "is gone"));
    world_start(&w);
    must_say(&w, "Available=True/AllRequiredComponentsAvailable");
    must_say(&w, "Progressing=False/AllComponentsAtDesiredState");
    SW_AUTO_CHARS *after = left_by_das(&w, false);
    assert_string_equal(after, before);

    /* of their containers nothing is left that slipway's images could not do */
    struct json_object *c = only_container(&w, "Deployment", "das-operator-webhook");
    assert_null(sw_json_get(c, "command"));
    assert_null(sw_json_get(c, "startupProbe"));
    assert_string_equal(sw_json_str(sw_json_at(sw_json_get(c, "args"), 0), "", NULL), "serve");
    c = only_container(&w, "DaemonSet", "das-daemonset");
    assert_null(sw_json_get(c, "command"));
    assert_null(sw_json_get(c, "lifecycle"));
    assert_non_null(strstr(json_object_to_json_string(c), "--tls-min-version=VersionTLS12"));
    struct json_object *hooks = world_get(&w, "admissionregistration.k8s.io/v1",
                                          "MutatingWebhookConfiguration", NULL,
                                          "das-mutating-webhook-configuration");
    assert_int_equal(sw_json_len(sw_json_get(hooks, "webhooks")), 1);

    struct json_object *das = world_get(&w, DAS, "DASOperator", "das-operator", "cluster");
    assert_int_equal(sw_json_int(das, 0, "status", "readyReplicas", NULL),
                     2); /* its Deployment's */
    struct json_object *webhook = sw_json_find_by(sw_json_find(das, "status", "generations", NULL),
                                                  "name", "das-mutating-webhook-configuration");
    assert_string_equal(sw_json_str(webhook, "", "resource", NULL),
                        "mutatingwebhookconfigurations");
    world_close(&w);
}

/* Of another owner: a user's, whatever it is called. */
static void what_is_not_das_s_is_left_alone(void **state SW_UNUSED)
{
    struct world w = { 0 };
    prepare(&w, "{}");
    assert_int_equal(world_create(&w, "{\"apiVersion\":\"v1\",\"kind\":\"ServiceAccount\","
                                      "\"metadata\":{\"name\":\"das-scheduler\",\"namespace\":"
                                      "\"das-operator\"}}"),
                     0);
    world_start(&w);
    must_say(&w, "Degraded=True/ComponentReplicaMismatch");
    struct json_object *theirs = world_get(&w, "v1", "ServiceAccount", "das-operator",
                                           "das-scheduler");
    assert_null(sw_obj_annotation(theirs, "slipway.dev/resource"));
    world_close(&w);
}

/* Whoever may write resources, but not use the account of this one, leaves something in it. */
static void what_is_walked_as_another_account_is_not_taken_over(void **state SW_UNUSED)
{
    struct world w = { 0 };
    prepare(&w, "{}");
    assert_int_equal(
        world_create(&w, "{\"apiVersion\":\"" SRO "\",\"kind\":\"SpecialResource\",\"metadata\":"
                         "{\"name\":\"nvidia-mig\"},\"spec\":{\"namespace\":\"team\",\"set\":{"
                         "\"webhook\":{\"image\":\"evil/image\"}},\"chart\":{\"name\":"
                         "\"nvidia-mig\",\"version\":\"0.1.0\",\"repository\":{\"name\":\"r\","
                         "\"url\":\"cm://team/none\"}}}}"),
        0);
    world_start(&w);
    must_say(&w, "Degraded=True/ComponentReplicaMismatch");
    world_wait(&w, 30000);
    assert_string_equal(sw_json_str(resource(&w), "", "spec", "namespace", NULL), "team");
    SW_AUTO_CHARS *uid = sw_strdup(sw_obj_uid(resource(&w)));
    assert_int_equal(world_delete(&w, SRO, "SpecialResource", NULL, "nvidia-mig"), 0);
    assert_true(world_until(&w, is_another, uid, 10 * 60000));
    assert_string_equal(sw_json_str(resource(&w), "", "spec", "namespace", NULL), "das-operator");
    assert_string_equal(sw_json_str(resource(&w), "", "spec", "set", "webhook", "image", NULL),
                        "here/webhook:1");
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spec_becomes_values_of_the_recipe),
        cmocka_unit_test(conditions_tell_how_the_walk_goes),
        cmocka_unit_test(where_kube_scheduler_places_slices_the_scheduler_only_evicts),
        cmocka_unit_test(without_preemption_the_daemon_is_enough),
        cmocka_unit_test(what_the_user_changes_in_the_resource_stays),
        cmocka_unit_test(removed_takes_the_resource_away_and_managed_brings_it_back),
        cmocka_unit_test(a_deleted_resource_comes_back_and_goes_with_the_operator),
        cmocka_unit_test(a_resource_goes_whose_operator_was_deleted_while_nobody_looked),
        cmocka_unit_test(unmanaged_is_left_alone),
        cmocka_unit_test(the_webhook_follows_the_clusters_tls_profile),
        cmocka_unit_test(a_kind_that_is_served_late_is_waited_for),
        cmocka_unit_test(what_das_left_is_taken_over_in_place),
        cmocka_unit_test(what_is_not_das_s_is_left_alone),
        cmocka_unit_test(what_is_walked_as_another_account_is_not_taken_over),
    };
    return cmocka_run_group_tests_name("run_das", tests, NULL, NULL);
}
