/* What the cluster does by itself: dependents follow owners, namespaces end empty. */
#include "emulator/emulator/api.h"

static char *create(struct api *api, const char *name, const char *owner_uid, const char *more)
{
    SW_AUTO_CHARS *refs = owner_uid
                              ? sw_printf(",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":"
                                          "\"ConfigMap\",\"name\":\"o\",\"uid\":\"%s\","
                                          "\"blockOwnerDeletion\":true}]",
                                          owner_uid)
                              : sw_strdup("");
    SW_AUTO_CHARS *body = sw_printf("{\"metadata\":{\"name\":\"%s\"%s%s}}", name, refs, more);
    SW_AUTO_JSON *doc = api_expect(api, 201, "POST", CONFIG_MAPS, NULL, body);
    return sw_strdup(sw_obj_uid(doc));
}

static bool is_there(struct api *api, const char *name)
{
    return sw_store_get(api->store, sw_store_kind(api->store, "", "ConfigMap"), "default", name);
}

static void dependents_follow_their_owner(void **state)
{
    struct api *api = *state;
    SW_AUTO_CHARS *owner = create(api, "o", NULL, "");
    SW_AUTO_CHARS *child = create(api, "c", owner, "");
    SW_AUTO_CHARS *grandchild = create(api, "g", child, "");
    api_must(api, 200, "DELETE", CONFIG_MAPS "/o", NULL, NULL);
    api_settle(api);
    assert_false(is_there(api, "c"));
    assert_false(is_there(api, "g"));
}

static void orphans_stay(void **state)
{
    struct api *api = *state;
    SW_AUTO_CHARS *owner = create(api, "o", NULL, "");
    SW_AUTO_CHARS *child = create(api, "c", owner, "");
    api_must(api, 200, "DELETE", CONFIG_MAPS "/o?propagationPolicy=Orphan", NULL, NULL);
    api_settle(api);
    assert_false(is_there(api, "o"));
    SW_AUTO_JSON *doc = api_expect(api, 200, "GET", CONFIG_MAPS "/c", NULL, NULL);
    assert_null(sw_json_find(doc, "metadata", "ownerReferences", NULL));
}

static void in_the_foreground_the_owner_goes_last(void **state)
{
    struct api *api = *state;
    SW_AUTO_CHARS *owner = create(api, "o", NULL, "");
    SW_AUTO_CHARS *child = create(api, "c", owner, ",\"finalizers\":[\"x.io/hold\"]");
    SW_AUTO_JSON *doc = api_expect(api, 200, "DELETE", CONFIG_MAPS "/o", NULL,
                                   "{\"propagationPolicy\":\"Foreground\"}");
    assert_string_equal(
        json_object_get_string(sw_json_at(sw_json_find(doc, "metadata", "finalizers", NULL), 0)),
        "foregroundDeletion");
    api_settle(api);
    assert_true(is_there(api, "o"));
    api_must(api, 200, "PATCH", CONFIG_MAPS "/c", MERGE_PATCH,
             "{\"metadata\":{\"finalizers\":null}}");
    api_settle(api);
    assert_false(is_there(api, "c"));
    assert_false(is_there(api, "o"));
}

static void who_names_no_living_owner_goes(void **state)
{
    struct api *api = *state;
    SW_AUTO_CHARS *owner = create(api, "o", NULL, "");
    SW_AUTO_CHARS *uid = create(api, "c", "00000000-0000-4000-8000-000000000000", "");
    SW_AUTO_CHARS *body = sw_printf("{\"metadata\":{\"name\":\"two\",\"ownerReferences\":["
                                    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":"
                                    "\"x\",\"uid\":\"gone\"},{\"apiVersion\":\"v1\",\"kind\":"
                                    "\"ConfigMap\",\"name\":\"o\",\"uid\":\"%s\"}]}}",
                                    owner);
    api_must(api, 201, "POST", CONFIG_MAPS, NULL, body);
    api_settle(api);
    assert_false(is_there(api, "c"));
    assert_true(is_there(api, "two"));
}

static void a_namespace_has_an_account_and_ends_empty(void **state)
{
    struct api *api = *state;
    api_must(api, 201, "POST", "/api/v1/namespaces", NULL, "{\"metadata\":{\"name\":\"n\"}}");
    api_settle(api);
    api_must(api, 200, "GET", "/api/v1/namespaces/n/serviceaccounts/default", NULL, NULL);
    api_must(api, 201, "POST", "/api/v1/namespaces/n/configmaps", NULL,
             "{\"metadata\":{\"name\":\"a\",\"finalizers\":[\"x.io/hold\"]}}");
    SW_AUTO_JSON *doc = api_expect(api, 200, "DELETE", "/api/v1/namespaces/n", NULL, NULL);
    assert_string_equal(str(doc, "status", "phase", NULL), "Terminating");
    SW_AUTO_JSON *refused = api_expect(api, 403, "POST", "/api/v1/namespaces/n/configmaps", NULL,
                                       "{\"metadata\":{\"name\":\"b\"}}");
    assert_string_equal(str(refused, "message", NULL, NULL),
                        "configmaps \"b\" is forbidden: unable to create new content in namespace "
                        "n because it is being terminated");
    api_settle(api);
    SW_AUTO_JSON *held = api_expect(api, 200, "GET", "/api/v1/namespaces/n", NULL, NULL);
    struct json_object *remains = sw_obj_condition(held, "NamespaceFinalizersRemaining");
    assert_string_equal(str(remains, "message", NULL, NULL),
                        "Some content in the namespace has finalizers remaining: x.io/hold in 1 "
                        "resource instances");
    assert_string_equal(str(remains, "reason", NULL, NULL), "SomeFinalizersRemain");
    assert_string_equal(
        str(sw_obj_condition(held, "NamespaceContentRemaining"), "message", NULL, NULL),
        "Some resources are remaining: configmaps. has 1 resource instances");
    assert_string_equal(
        str(sw_obj_condition(held, "NamespaceDeletionContentFailure"), "status", NULL, NULL),
        "False");
    api_must(api, 200, "PATCH", "/api/v1/namespaces/n/configmaps/a", MERGE_PATCH,
             "{\"metadata\":{\"finalizers\":null}}");
    api_settle(api);
    api_must(api, 404, "GET", "/api/v1/namespaces/n", NULL, NULL);
}

static void some_namespaces_are_for_ever(void **state)
{
    struct api *api = *state;
    SW_AUTO_JSON *doc = api_expect(api, 403, "DELETE", "/api/v1/namespaces/default", NULL, NULL);
    assert_string_equal(str(doc, "message", NULL, NULL),
                        "namespaces \"default\" is forbidden: this namespace may not be deleted");
}

static void jobs_leave_their_pods_unless_told_otherwise(void **state)
{
    struct api *api = *state;
    api_must(api, 201, "POST", "/apis/batch/v1/namespaces/default/jobs", NULL,
             "{\"metadata\":{\"name\":\"j\"},\"spec\":{\"template\":{\"spec\":{\"restartPolicy\":"
             "\"Never\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}");
    ANSWER(a) = api_send(api, "DELETE", "/apis/batch/v1/namespaces/default/jobs/j", NULL, NULL);
    assert_int_equal(a.code, 200);
    assert_non_null(strstr(a.headers, "Warning: 299 - \"child pods are preserved by default"));
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
        T(dependents_follow_their_owner),
        T(orphans_stay),
        T(in_the_foreground_the_owner_goes_last),
        T(who_names_no_living_owner_goes),
        T(a_namespace_has_an_account_and_ends_empty),
        T(some_namespaces_are_for_ever),
        T(jobs_leave_their_pods_unless_told_otherwise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
