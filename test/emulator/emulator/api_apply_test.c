/* Server-side apply: who owns what, conflicts, what is given up. */
#include "emulator/emulator/api.h"

static char *path_of(const char *name, const char *manager, const char *more)
{
    return sw_printf(CONFIG_MAPS "/%s?fieldManager=%s%s", name, manager, more);
}

static json_object *apply(struct api *api, int code, const char *manager, const char *more,
                          const char *data)
{
    SW_AUTO_CHARS *path = path_of("a", manager, more);
    SW_AUTO_CHARS *body = sw_printf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
                                    "data: %s\n",
                                    data);
    return api_expect(api, code, "PATCH", path, APPLY_PATCH, body);
}

static json_object *entry(json_object *doc, const char *manager, const char *operation)
{
    json_object *list = sw_json_find(doc, "metadata", "managedFields", NULL);
    for (size_t i = 0; i < sw_json_len(list); i++) {
        json_object *e = sw_json_at(list, i);
        if (strcmp(sw_json_str(e, "", "manager", NULL), manager) == 0 &&
            strcmp(sw_json_str(e, "", "operation", NULL), operation) == 0)
            return e;
    }
    return NULL;
}

static void apply_creates_and_owns(void **state)
{
    struct api *api = *state;
    SW_AUTO_JSON *doc = apply(api, 201, "me", "", "{k: v}");
    json_object *own = entry(doc, "me", "Apply");
    assert_string_equal(sw_json_str(own, "", "apiVersion", NULL), "v1");
    assert_string_equal(sw_json_str(own, "", "fieldsType", NULL), "FieldsV1");
    SW_AUTO_CHARS *fields = sw_json_text(sw_json_get(own, "fieldsV1"), SW_JSON_PLAIN, NULL);
    assert_string_equal(fields, "{\"f:data\":{\"f:k\":{}}}");
}

static void applying_the_same_again_is_no_change(void **state)
{
    struct api *api = *state;
    json_object_put(apply(api, 201, "me", "", "{k: v}"));
    uint64_t before = sw_store_version(api->store);
    json_object_put(apply(api, 200, "me", "", "{k: v}"));
    assert_int_equal(sw_store_version(api->store), before);
}

static void what_is_no_longer_said_goes(void **state)
{
    struct api *api = *state;
    json_object_put(apply(api, 201, "me", "", "{k: v, x: w}"));
    json_object_put(apply(api, 200, "you", "", "{z: w}"));
    SW_AUTO_JSON *doc = apply(api, 200, "me", "", "{k: v}");
    assert_null(sw_json_find(doc, "data", "x", NULL));
    assert_string_equal(str(doc, "data", "k", NULL), "v");
    assert_string_equal(str(doc, "data", "z", NULL), "w");
}

static void what_another_owns_stays(void **state)
{
    struct api *api = *state;
    json_object_put(apply(api, 201, "me", "", "{k: v}"));
    json_object_put(apply(api, 200, "you", "", "{k: v}"));
    SW_AUTO_JSON *doc = apply(api, 200, "me", "", "{n: m}");
    assert_string_equal(str(doc, "data", "k", NULL), "v");
}

static void a_conflict_names_manager_and_field(void **state)
{
    struct api *api = *state;
    json_object_put(apply(api, 201, "me", "", "{k: v, l: w}"));
    SW_AUTO_JSON *doc = apply(api, 409, "you", "", "{k: other}");
    assert_string_equal(str(doc, "reason", NULL, NULL), "Conflict");
    assert_string_equal(str(doc, "message", NULL, NULL),
                        "Apply failed with 1 conflict: conflict with \"me\": .data.k");
    json_object *cause = sw_json_at(sw_json_find(doc, "details", "causes", NULL), 0);
    assert_string_equal(str(cause, "reason", NULL, NULL), "FieldManagerConflict");
    assert_string_equal(str(cause, "field", NULL, NULL), ".data.k");
    assert_string_equal(str(cause, "message", NULL, NULL), "conflict with \"me\"");
    SW_AUTO_JSON *two = apply(api, 409, "you", "", "{k: o, l: o}");
    assert_string_equal(str(two, "message", NULL, NULL),
                        "Apply failed with 2 conflicts: conflicts with \"me\":\n- .data.k\n"
                        "- .data.l");
}

static void an_update_owns_too(void **state)
{
    struct api *api = *state;
    json_object_put(apply(api, 201, "me", "", "{k: v}"));
    SW_AUTO_CHARS *path = path_of("a", "editor", "");
    api_must(api, 200, "PATCH", path, MERGE_PATCH, "{\"data\":{\"k\":\"edited\"}}");
    SW_AUTO_JSON *doc = apply(api, 409, "me", "", "{k: v}");
    assert_true(sw_starts_with(str(doc, "message", NULL, NULL),
                               "Apply failed with 1 conflict: conflict with \"editor\" using v1 "
                               "at 20"));
    SW_AUTO_JSON *now = api_expect(api, 200, "GET", CONFIG_MAPS "/a", NULL, NULL);
    assert_null(entry(now, "me", "Apply"));
    assert_non_null(entry(now, "editor", "Update"));
}

static void what_an_update_removes_is_nobodys(void **state)
{
    struct api *api = *state;
    SW_AUTO_CHARS *path = path_of("a", "editor", "");
    json_object_put(apply(api, 201, "me", "", "{k: v}"));
    api_must(api, 200, "PATCH", path, MERGE_PATCH, "{\"data\":{\"x\":\"1\",\"y\":\"2\"}}");
    api_must(api, 200, "PATCH", path, MERGE_PATCH, "{\"data\":{\"x\":null,\"z\":\"3\"}}");
    SW_AUTO_JSON *one = api_expect(api, 200, "GET", CONFIG_MAPS "/a", NULL, NULL);
    SW_AUTO_CHARS *left = sw_json_text(sw_json_get(entry(one, "editor", "Update"), "fieldsV1"),
                                       SW_JSON_PLAIN, NULL);
    assert_string_equal(left, "{\"f:data\":{\"f:y\":{},\"f:z\":{}}}");
    api_must(api, 200, "PATCH", path, MERGE_PATCH, "{\"data\":{\"y\":null,\"z\":null}}");
    SW_AUTO_JSON *none = api_expect(api, 200, "GET", CONFIG_MAPS "/a", NULL, NULL);
    assert_null(entry(none, "editor", "Update"));
    assert_non_null(entry(none, "me", "Apply"));
}

static void force_takes_the_field(void **state)
{
    struct api *api = *state;
    json_object_put(apply(api, 201, "me", "", "{k: v, l: w}"));
    SW_AUTO_JSON *doc = apply(api, 200, "you", "&force=true", "{k: other}");
    assert_string_equal(str(doc, "data", "k", NULL), "other");
    SW_AUTO_CHARS *left = sw_json_text(sw_json_get(entry(doc, "me", "Apply"), "fieldsV1"),
                                       SW_JSON_PLAIN, NULL);
    assert_string_equal(left, "{\"f:data\":{\"f:l\":{}}}");
}

#define DEPLOYMENT                                                                                 \
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n"                          \
    "  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n"             \
    "    spec:\n      containers:\n"

static json_object *apply_deployment(struct api *api, int code, const char *manager,
                                     const char *containers)
{
    SW_AUTO_CHARS *path = sw_printf("/apis/apps/v1/namespaces/default/deployments/d?"
                                    "fieldManager=%s",
                                    manager);
    SW_AUTO_CHARS *body = sw_printf(DEPLOYMENT "%s", containers);
    return api_expect(api, code, "PATCH", path, APPLY_PATCH, body);
}

static void lists_merge_by_their_keys(void **state)
{
    struct api *api = *state;
    json_object_put(apply_deployment(api, 201, "me",
                                     "      - {name: c, image: i, ports: [{containerPort: 80}]}\n"
                                     "      - {name: gone, image: j}\n"));
    json_object_put(
        apply_deployment(api, 200, "you", "      - {name: c, env: [{name: E, value: f}]}\n"));
    SW_AUTO_JSON *doc = apply_deployment(api, 200, "me", "      - {name: c, image: i2}\n");
    json_object *list = sw_json_find(doc, "spec", "template", "spec", "containers", NULL);
    assert_int_equal(sw_json_len(list), 1);
    json_object *c = sw_json_at(list, 0);
    assert_string_equal(str(c, "image", NULL, NULL), "i2");
    assert_string_equal(str(sw_json_at(sw_json_get(c, "env"), 0), "value", NULL, NULL), "f");
    assert_int_equal(sw_json_len(sw_json_get(c, "ports")), 0);
    SW_AUTO_JSON *conflict = apply_deployment(api, 409, "you", "      - {name: c, image: x}\n");
    assert_non_null(strstr(str(conflict, "message", NULL, NULL),
                           ".spec.template.spec.containers[name=\"c\"].image"));
}

static void a_status_is_not_applied_with_the_object(void **state)
{
    struct api *api = *state;
    SW_AUTO_JSON *doc = apply_deployment(api, 201, "me",
                                         "      - {name: c, image: i}\nstatus: {replicas: 4}\n");
    assert_null(sw_json_find(doc, "status", "replicas", NULL));
    SW_AUTO_JSON *status = api_expect(
        api, 200, "PATCH", "/apis/apps/v1/namespaces/default/deployments/d/status?fieldManager=ctl",
        APPLY_PATCH,
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, status: {replicas: 4}}");
    assert_int_equal(sw_json_int(status, 0, "status", "replicas", NULL), 4);
    assert_string_equal(sw_json_str(entry(status, "ctl", "Apply"), "", "subresource", NULL),
                        "status");
    assert_non_null(sw_json_find(status, "spec", "template", NULL));
}

static void bad_configurations_are_refused(void **state)
{
    struct api *api = *state;
    SW_AUTO_JSON *anonymous = api_expect(api, 422, "PATCH", CONFIG_MAPS "/a", APPLY_PATCH,
                                         "{apiVersion: v1, kind: ConfigMap}");
    assert_non_null(strstr(str(anonymous, "message", NULL, NULL),
                           "fieldManager: Required value: is required for apply patch"));
    SW_AUTO_JSON *managed = api_expect(
        api, 400, "PATCH", CONFIG_MAPS "/a?fieldManager=me", APPLY_PATCH,
        "{apiVersion: v1, kind: ConfigMap, metadata: {managedFields: [{manager: x}]}}");
    assert_string_equal(str(managed, "message", NULL, NULL), "metadata.managedFields must be nil");
    SW_AUTO_JSON *twice = apply_deployment(api, 500, "me",
                                           "      - {name: c, image: i}\n"
                                           "      - {name: c, image: j}\n");
    assert_true(sw_starts_with(str(twice, "message", NULL, NULL),
                               "failed to create typed patch object (default/d; apps/v1, "
                               "Kind=Deployment): .spec.template.spec.containers"));
    api_must(api, 400, "PATCH", CONFIG_MAPS "/a?fieldManager=me", APPLY_PATCH,
             "{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}");
    api_must(api, 400, "PATCH", CONFIG_MAPS "/a?fieldManager=me", APPLY_PATCH, "a: [");
}

static void a_stale_version_in_the_configuration_conflicts(void **state)
{
    struct api *api = *state;
    json_object_put(apply(api, 201, "me", "", "{k: v}"));
    api_must(api, 409, "PATCH", CONFIG_MAPS "/a?fieldManager=me", APPLY_PATCH,
             "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, resourceVersion: '1'}, "
             "data: {k: w}}");
}

static void scaling_is_an_owner_of_its_own(void **state)
{
    struct api *api = *state;
    json_object_put(
        apply_deployment(api, 201, "me", "      - {name: c, image: i}\n  replicas: 1\n"));
    api_must(api, 200, "PATCH",
             "/apis/apps/v1/namespaces/default/deployments/d/scale?fieldManager=hpa", MERGE_PATCH,
             "{\"spec\":{\"replicas\":5}}");
    SW_AUTO_JSON *doc = apply_deployment(api, 409, "me",
                                         "      - {name: c, image: i}\n  replicas: 1\n");
    assert_non_null(strstr(str(doc, "message", NULL, NULL),
                           "conflict with \"hpa\" with subresource \"scale\" using apps/v1 at "));
}

static void unreadable_managed_fields_are_ignored(void **state)
{
    struct api *api = *state;
    static const char *const unreadable[] = { "7",
                                              "[7]",
                                              "[{\"fieldsV1\": 7}]",
                                              "[{\"fieldsV1\": {\"f:data\": 7}}]",
                                              "[{\"fieldsV1\": {\"f:data\": {\"f\": {}}}}]",
                                              "[{\"fieldsV1\": {\"f:data\": {\"\": {}}}}]" };
    json_object_put(apply(api, 201, "me", "", "{k: v}"));
    for (size_t i = 0; i < SW_COUNT(unreadable); i++) {
        SW_AUTO_CHARS *body = sw_printf("{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", "
                                        "\"metadata\": {\"name\": \"a\", \"managedFields\": %s}, "
                                        "\"data\": {\"k\": \"v\"}}",
                                        unreadable[i]);
        SW_AUTO_JSON *doc = api_expect(api, 200, "PUT", CONFIG_MAPS "/a", NULL, body);
        assert_non_null(entry(doc, "me", "Apply"));
        json_object_put(apply(api, 409, "you", "", "{k: w}"));
    }
}

static void an_old_cluster_refuses_what_it_does_not_know(void **state)
{
    (void)state;
    struct api *api = api_open_with(&(struct sw_emulator_opts){
        .no_controllers = true, .no_nodes = true, .kube_version = "1.20" });
    SW_AUTO_JSON *port = apply_deployment(
        api, 500, "me", "      - {name: c, image: i, ports: [{containerPort: 80}]}\n");
    assert_true(sw_starts_with(str(port, "message", NULL, NULL),
                               "failed to create typed patch object: .spec.template.spec."));
    assert_non_null(strstr(str(port, "message", NULL, NULL), "omits key field \"protocol\""));
    static const char hook[] =
        "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, "
        "metadata: {name: h}, webhooks: [{name: a.b.c, sideEffects: None, "
        "admissionReviewVersions: [v1], clientConfig: {url: 'https://x'}, matchConditions: []}]}";
    SW_AUTO_JSON *field = api_expect(
        api, 500, "PATCH",
        "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/h?fieldManager=m",
        APPLY_PATCH, hook);
    assert_string_equal(str(field, "message", NULL, NULL),
                        "failed to create typed patch object: .webhooks[0].matchConditions: "
                        "field not declared in schema");
    SW_AUTO_JSON *made = api_expect(
        api, 201, "POST", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
        "application/yaml", hook);
    assert_null(sw_json_get(sw_json_at(sw_json_get(made, "webhooks"), 0), "matchConditions"));
    api_close(api);
}

static int setup(void **state)
{
    *state = api_open();
    return 0;
}

static int teardown(void **state)
{
    api_close(*state);
    return 0;
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(apply_creates_and_owns),
        T(applying_the_same_again_is_no_change),
        T(what_is_no_longer_said_goes),
        T(what_another_owns_stays),
        T(a_conflict_names_manager_and_field),
        T(an_update_owns_too),
        T(what_an_update_removes_is_nobodys),
        T(force_takes_the_field),
        T(lists_merge_by_their_keys),
        T(a_status_is_not_applied_with_the_object),
        T(bad_configurations_are_refused),
        T(a_stale_version_in_the_configuration_conflicts),
        T(scaling_is_an_owner_of_its_own),
        T(unreadable_managed_fields_are_ignored),
        cmocka_unit_test(an_old_cluster_refuses_what_it_does_not_know),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
