/* Objects over HTTP: create, read, update, delete, as kube-apiserver answers. */
#include "emulator/emulator/api.h"

static void create_fills_in_what_the_server_owns(void **state)
{
    struct api *api = *state;
    SW_AUTO_JSON *doc = api_expect(api, 201, "POST", CONFIG_MAPS, NULL,
                                   "{\"metadata\":{\"name\":\"a\",\"uid\":\"mine\"},"
                                   "\"data\":{\"k\":\"v\"}}");
    assert_string_equal(sw_obj_kind(doc), "ConfigMap");
    assert_string_equal(sw_obj_api_version(doc), "v1");
    assert_string_equal(sw_obj_namespace(doc), "default");
    assert_int_equal(strlen(sw_obj_uid(doc)), 36);
    assert_true(strtol(str(doc, "metadata", "resourceVersion", NULL), NULL, 10) > 0);
    assert_int_equal(strlen(str(doc, "metadata", "creationTimestamp", NULL)), 20);
    assert_string_equal(str(doc, "data", "k", NULL), "v");
    api_must(api, 200, "GET", CONFIG_MAPS "/a", NULL, NULL);
}

static void a_name_is_taken_once(void **state)
{
    struct api *api = *state;
    api_must(api, 201, "POST", CONFIG_MAPS, NULL, "{\"metadata\":{\"name\":\"a\"}}");
    SW_AUTO_JSON *doc = api_expect(api, 409, "POST", CONFIG_MAPS, NULL,
                                   "{\"metadata\":{\"name\":\"a\"}}");
    assert_string_equal(str(doc, "reason", NULL, NULL), "AlreadyExists");
    assert_string_equal(str(doc, "message", NULL, NULL), "configmaps \"a\" already exists");
    assert_string_equal(str(doc, "details", "kind", NULL), "configmaps");
}

static void what_is_not_there_is_a_status(void **state)
{
    struct api *api = *state;
    SW_AUTO_JSON *doc = api_expect(api, 404, "GET",
                                   "/apis/apps/v1/namespaces/default/deployments/x", NULL, NULL);
    assert_string_equal(str(doc, "kind", NULL, NULL), "Status");
    assert_string_equal(str(doc, "message", NULL, NULL), "deployments.apps \"x\" not found");
    SW_AUTO_JSON *other = api_expect(api, 404, "GET", "/apis/nope/v1/things", NULL, NULL);
    assert_string_equal(str(other, "message", NULL, NULL),
                        "the server could not find the requested resource");
    SW_AUTO_JSON *ns = api_expect(api, 404, "POST", "/api/v1/namespaces/nope/configmaps", NULL,
                                  "{\"metadata\":{\"name\":\"a\"}}");
    assert_string_equal(str(ns, "message", NULL, NULL), "namespaces \"nope\" not found");
}

static void generated_names_have_the_prefix(void **state)
{
    struct api *api = *state;
    SW_AUTO_JSON *doc = api_expect(api, 201, "POST", CONFIG_MAPS, NULL,
                                   "{\"metadata\":{\"generateName\":\"run-\"}}");
    assert_true(sw_starts_with(sw_obj_name(doc), "run-"));
    assert_int_equal(strlen(sw_obj_name(doc)), 9);
}

static void bad_names_are_refused_with_the_field(void **state)
{
    struct api *api = *state;
    SW_AUTO_JSON *doc = api_expect(api, 422, "POST", CONFIG_MAPS, NULL,
                                   "{\"metadata\":{\"name\":\"A_b\"}}");
    assert_string_equal(str(doc, "reason", NULL, NULL), "Invalid");
    assert_true(sw_starts_with(str(doc, "message", NULL, NULL),
                               "ConfigMap \"A_b\" is invalid: metadata.name: Invalid value: "
                               "\"A_b\": "));
    json_object *cause = sw_json_at(sw_json_find(doc, "details", "causes", NULL), 0);
    assert_string_equal(str(cause, "field", NULL, NULL), "metadata.name");
    SW_AUTO_JSON *none = api_expect(api, 422, "POST", CONFIG_MAPS, NULL, "{\"metadata\":{}}");
    assert_non_null(strstr(str(none, "message", NULL, NULL), "name or generateName is required"));
}

static void an_update_needs_the_current_version(void **state)
{
    struct api *api = *state;
    SW_AUTO_JSON *doc = api_expect(api, 201, "POST", CONFIG_MAPS, NULL,
                                   "{\"metadata\":{\"name\":\"a\"}}");
    SW_AUTO_CHARS *first = sw_json_text(doc, SW_JSON_PLAIN, NULL);
    sw_json_set_str(doc, "v", "data", "k", NULL);
    SW_AUTO_CHARS *changed = sw_json_text(doc, SW_JSON_PLAIN, NULL);
    api_must(api, 200, "PUT", CONFIG_MAPS "/a", NULL, changed);
    SW_AUTO_JSON *conflict = api_expect(api, 409, "PUT", CONFIG_MAPS "/a", NULL, first);
    assert_string_equal(str(conflict, "reason", NULL, NULL), "Conflict");
    assert_string_equal(str(conflict, "message", NULL, NULL),
                        "Operation cannot be fulfilled on configmaps \"a\": the object has been "
                        "modified; please apply your changes to the latest version and try again");
    api_must(api, 200, "PUT", CONFIG_MAPS "/a", NULL, "{\"metadata\":{\"name\":\"a\"}}");
}

static void an_update_that_changes_nothing_is_no_change(void **state)
{
    struct api *api = *state;
    SW_AUTO_JSON *doc = api_expect(api, 201, "POST", CONFIG_MAPS, NULL,
                                   "{\"metadata\":{\"name\":\"a\"},\"data\":{\"k\":\"v\"}}");
    SW_AUTO_CHARS *same = sw_json_text(doc, SW_JSON_PLAIN, NULL);
    uint64_t before = sw_store_version(api->store);
    SW_AUTO_JSON *again = api_expect(api, 200, "PUT", CONFIG_MAPS "/a", NULL, same);
    assert_string_equal(str(again, "metadata", "resourceVersion", NULL),
                        str(doc, "metadata", "resourceVersion", NULL));
    assert_int_equal(sw_store_version(api->store), before);
}

static void a_wrong_name_in_the_body_is_refused(void **state)
{
    struct api *api = *state;
    api_must(api, 201, "POST", CONFIG_MAPS, NULL, "{\"metadata\":{\"name\":\"a\"}}");
    SW_AUTO_JSON *doc = api_expect(api, 400, "PUT", CONFIG_MAPS "/a", NULL,
                                   "{\"metadata\":{\"name\":\"b\"}}");
    assert_string_equal(str(doc, "message", NULL, NULL),
                        "the name of the object (b) does not match the name on the URL (a)");
    api_must(api, 400, "POST", CONFIG_MAPS, NULL,
             "{\"metadata\":{\"name\":\"c\",\"namespace\":\"kube-system\"}}");
    api_must(api, 400, "POST", CONFIG_MAPS, NULL,
             "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"c\"}}");
}

static void the_namespace_of_what_has_none_is_cleared(void **state)
{
    struct api *api = *state;
    SW_AUTO_JSON *doc = api_expect(api, 201, "POST", "/api/v1/persistentvolumes", NULL,
                                   "{\"metadata\":{\"name\":\"a\",\"namespace\":\"x\"},"
                                   "\"spec\":{\"capacity\":{\"storage\":\"1Gi\"},"
                                   "\"accessModes\":[\"ReadWriteOnce\"],"
                                   "\"hostPath\":{\"path\":\"/a\"}}}");
    assert_string_equal(str(doc, "metadata", "name", NULL), "a");
    assert_null(sw_json_find(doc, "metadata", "namespace", NULL));
}

#define DEPLOYMENTS "/apis/apps/v1/namespaces/default/deployments"
#define DEPLOYMENT(replicas)                                                                       \
    "{\"metadata\":{\"name\":\"d\"},\"spec\":{\"replicas\":" replicas                              \
    ",\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"template\":{\"metadata\":{\"labels\":"        \
    "{\"a\":\"b\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}},"               \
    "\"status\":{\"replicas\":9}}"

static void spec_and_status_are_written_apart(void **state)
{
    struct api *api = *state;
    SW_AUTO_JSON *doc = api_expect(api, 201, "POST", DEPLOYMENTS, NULL, DEPLOYMENT("1"));
    assert_null(sw_json_find(doc, "status", "replicas", NULL));
    assert_int_equal(sw_json_int(doc, 0, "metadata", "generation", NULL), 1);
    SW_AUTO_JSON *bumped = api_expect(api, 200, "PUT", DEPLOYMENTS "/d", NULL, DEPLOYMENT("2"));
    assert_int_equal(sw_json_int(bumped, 0, "metadata", "generation", NULL), 2);
    assert_null(sw_json_find(bumped, "status", "replicas", NULL));
    SW_AUTO_JSON *status = api_expect(api, 200, "PUT", DEPLOYMENTS "/d/status", NULL,
                                      DEPLOYMENT("5"));
    assert_int_equal(sw_json_int(status, 0, "status", "replicas", NULL), 9);
    assert_int_equal(sw_json_int(status, 0, "spec", "replicas", NULL), 2);
    assert_int_equal(sw_json_int(status, 0, "metadata", "generation", NULL), 2);
}

static void empty_lists_and_maps_of_a_template_are_not_stored(void **state)
{
    struct api *api = *state;
    const char *empty = "{\"spec\":{\"template\":{\"spec\":{\"nodeSelector\":{},"
                        "\"tolerations\":[],\"securityContext\":{}}}}}";
    api_must(api, 201, "POST", DEPLOYMENTS, NULL, DEPLOYMENT("1"));
    SW_AUTO_JSON *doc = api_expect(api, 200, "PATCH", DEPLOYMENTS "/d", MERGE_PATCH, empty);
    json_object *spec = sw_json_find(doc, "spec", "template", "spec", NULL);
    assert_false(json_object_object_get_ex(spec, "nodeSelector", NULL));
    assert_false(json_object_object_get_ex(spec, "tolerations", NULL));
    assert_true(json_object_object_get_ex(spec, "securityContext", NULL));
    assert_int_equal(sw_json_int(doc, 0, "metadata", "generation", NULL), 1);
}

static void a_selector_is_for_ever(void **state)
{
    struct api *api = *state;
    api_must(api, 201, "POST", DEPLOYMENTS, NULL, DEPLOYMENT("1"));
    SW_AUTO_JSON *doc = api_expect(
        api, 422, "PATCH", DEPLOYMENTS "/d", MERGE_PATCH,
        "{\"spec\":{\"selector\":{\"matchLabels\":{\"a\":\"c\"}},\"template\":{\"metadata\":"
        "{\"labels\":{\"a\":\"c\"}}}}}");
    assert_string_equal(str(doc, "message", NULL, NULL),
                        "Deployment.apps \"d\" is invalid: spec.selector: Invalid value: "
                        "v1.LabelSelector{MatchLabels:map[string]string{\"a\":\"c\"}, "
                        "MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: field is "
                        "immutable");
}

static void several_faults_are_told_together(void **state)
{
    struct api *api = *state;
    SW_AUTO_JSON *doc = api_expect(
        api, 422, "POST", "/api/v1/namespaces/default/pods", NULL,
        "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"x\"},{\"name\":"
        "\"x\",\"image\":\"i\",\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/v\"}]}]}}");
    const char *message = str(doc, "message", NULL, NULL);
    assert_non_null(strstr(message, "Pod \"p\" is invalid: ["));
    assert_non_null(strstr(message, "spec.containers[0].image: Required value"));
    assert_non_null(strstr(message, "spec.containers[1].name: Duplicate value: \"x\""));
    assert_non_null(strstr(message, "spec.containers[1].volumeMounts[0].name: Not found: \"v\""));
}

static void finalizers_hold_an_object(void **state)
{
    struct api *api = *state;
    api_must(api, 201, "POST", CONFIG_MAPS, NULL,
             "{\"metadata\":{\"name\":\"a\",\"finalizers\":[\"x.io/hold\"]}}");
    SW_AUTO_JSON *doc = api_expect(api, 200, "DELETE", CONFIG_MAPS "/a", NULL, NULL);
    assert_true(str(doc, "metadata", "deletionTimestamp", NULL)[0]);
    SW_AUTO_JSON *more = api_expect(api, 422, "PATCH", CONFIG_MAPS "/a", MERGE_PATCH,
                                    "{\"metadata\":{\"finalizers\":[\"x.io/hold\",\"y.io/z\"]}}");
    assert_non_null(strstr(str(more, "message", NULL, NULL),
                           "metadata.finalizers: Forbidden: no new finalizers can be added if "
                           "the object is being deleted"));
    api_must(api, 200, "PATCH", CONFIG_MAPS "/a", MERGE_PATCH,
             "{\"metadata\":{\"finalizers\":null}}");
    api_must(api, 404, "GET", CONFIG_MAPS "/a", NULL, NULL);
}

static void deletion_has_preconditions(void **state)
{
    struct api *api = *state;
    api_must(api, 201, "POST", CONFIG_MAPS, NULL, "{\"metadata\":{\"name\":\"a\"}}");
    SW_AUTO_JSON *doc = api_expect(api, 409, "DELETE", CONFIG_MAPS "/a", NULL,
                                   "{\"preconditions\":{\"uid\":\"other\"}}");
    assert_non_null(strstr(str(doc, "message", NULL, NULL),
                           "Precondition failed: UID in precondition: other, UID in object "
                           "meta: "));
    SW_AUTO_JSON *done = api_expect(api, 200, "DELETE", CONFIG_MAPS "/a", NULL, "{}");
    assert_string_equal(str(done, "status", NULL, NULL), "Success");
    assert_string_equal(str(done, "details", "name", NULL), "a");
}

static void a_running_pod_is_given_time(void **state)
{
    struct api *api = *state;
    api_must(api, 201, "POST", "/api/v1/namespaces/default/pods", NULL,
             "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"nodeName\":\"n\",\"containers\":"
             "[{\"name\":\"c\",\"image\":\"i\"}]}}");
    SW_AUTO_JSON *doc = api_expect(api, 200, "DELETE", "/api/v1/namespaces/default/pods/p", NULL,
                                   NULL);
    assert_int_equal(sw_json_int(doc, 0, "metadata", "deletionGracePeriodSeconds", NULL), 30);
    api_must(api, 200, "DELETE", "/api/v1/namespaces/default/pods/p", NULL,
             "{\"gracePeriodSeconds\":0}");
    api_must(api, 404, "GET", "/api/v1/namespaces/default/pods/p", NULL, NULL);
}

static void a_dry_run_changes_nothing(void **state)
{
    struct api *api = *state;
    uint64_t before = sw_store_version(api->store);
    api_must(api, 201, "POST", CONFIG_MAPS "?dryRun=All", NULL, "{\"metadata\":{\"name\":\"a\"}}");
    api_must(api, 404, "GET", CONFIG_MAPS "/a", NULL, NULL);
    assert_int_equal(sw_store_version(api->store), before);
    api_must(api, 422, "POST", CONFIG_MAPS "?dryRun=Some", NULL, "{\"metadata\":{\"name\":\"a\"}}");
}

static void bad_bodies_are_refused_with_words(void **state)
{
    struct api *api = *state;
    SW_AUTO_JSON *doc = api_expect(api, 400, "POST", CONFIG_MAPS, NULL, "{\"metadata\":");
    assert_string_equal(str(doc, "reason", NULL, NULL), "BadRequest");
    api_must(api, 400, "POST", CONFIG_MAPS, NULL, "[]");
    api_must(api, 400, "POST", CONFIG_MAPS, NULL, "");
    api_must(api, 400, "POST", CONFIG_MAPS, "application/vnd.kubernetes.protobuf", "k8s");
    api_must(api, 415, "PATCH", CONFIG_MAPS "/a", "text/plain", "{}");
    api_must(api, 405, "POST", CONFIG_MAPS "/a", NULL, "{\"metadata\":{\"name\":\"a\"}}");
    api_must(api, 201, "POST", CONFIG_MAPS, "application/yaml",
             "metadata: {name: yam}\ndata: {k: v}\n");
}

static void all_of_a_kind_can_be_deleted(void **state)
{
    struct api *api = *state;
    api_must(api, 201, "POST", CONFIG_MAPS, NULL,
             "{\"metadata\":{\"name\":\"a\",\"labels\":{\"x\":\"1\"}}}");
    api_must(api, 201, "POST", CONFIG_MAPS, NULL, "{\"metadata\":{\"name\":\"b\"}}");
    SW_AUTO_JSON *gone = api_expect(api, 200, "DELETE", CONFIG_MAPS "?labelSelector=x%3D1", NULL,
                                    NULL);
    assert_int_equal(sw_json_len(sw_json_get(gone, "items")), 1);
    api_must(api, 404, "GET", CONFIG_MAPS "/a", NULL, NULL);
    api_must(api, 200, "GET", CONFIG_MAPS "/b", NULL, NULL);
}

static void a_secret_keeps_what_was_given_as_text(void **state)
{
    struct api *api = *state;
    SW_AUTO_JSON *doc = api_expect(api, 201, "POST", "/api/v1/namespaces/default/secrets", NULL,
                                   "{\"metadata\":{\"name\":\"s\"},\"stringData\":{\"a\":\"bc\"}}");
    assert_string_equal(str(doc, "data", "a", NULL), "YmM=");
    assert_null(sw_json_get(doc, "stringData"));
    assert_string_equal(str(doc, "type", NULL, NULL), "Opaque");
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
        T(create_fills_in_what_the_server_owns),
        T(a_name_is_taken_once),
        T(what_is_not_there_is_a_status),
        T(generated_names_have_the_prefix),
        T(bad_names_are_refused_with_the_field),
        T(an_update_needs_the_current_version),
        T(an_update_that_changes_nothing_is_no_change),
        T(a_wrong_name_in_the_body_is_refused),
        T(the_namespace_of_what_has_none_is_cleared),
        T(empty_lists_and_maps_of_a_template_are_not_stored),
        T(spec_and_status_are_written_apart),
        T(a_selector_is_for_ever),
        T(several_faults_are_told_together),
        T(finalizers_hold_an_object),
        T(deletion_has_preconditions),
        T(a_running_pod_is_given_time),
        T(a_dry_run_changes_nothing),
        T(bad_bodies_are_refused_with_words),
        T(all_of_a_kind_can_be_deleted),
        T(a_secret_keeps_what_was_given_as_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
