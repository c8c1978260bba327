/* What is served, by release; and that the table of kinds is whole. */
#include "emulator/emulator/api.h"

#include "emulator/store/kinds.h"

static void groups_name_their_preferred_version(void **state)
{
    struct api *api = *state;
    SW_AUTO_JSON *core = api_expect(api, 200, "GET", "/api", NULL, NULL);
    assert_string_equal(json_object_get_string(sw_json_at(sw_json_get(core, "versions"), 0)), "v1");
    SW_AUTO_JSON *list = api_expect(api, 200, "GET", "/apis", NULL, NULL);
    json_object *scaling = sw_json_find_by(sw_json_get(list, "groups"), "name", "autoscaling");
    assert_string_equal(str(scaling, "preferredVersion", "groupVersion", NULL), "autoscaling/v2");
    SW_AUTO_JSON *one = api_expect(api, 200, "GET", "/apis/apps", NULL, NULL);
    assert_string_equal(str(one, "kind", NULL, NULL), "APIGroup");
    api_must(api, 404, "GET", "/apis/nope.io", NULL, NULL);
    api_must(api, 404, "GET", "/apis/apps/v1beta1", NULL, NULL);
}

static void resources_name_verbs_and_subresources(void **state)
{
    struct api *api = *state;
    SW_AUTO_JSON *list = api_expect(api, 200, "GET", "/api/v1", NULL, NULL);
    json_object *resources = sw_json_get(list, "resources");
    json_object *pods = sw_json_find_by(resources, "name", "pods");
    assert_true(sw_json_bool(pods, false, "namespaced", NULL));
    assert_string_equal(json_object_get_string(sw_json_at(sw_json_get(pods, "shortNames"), 0)),
                        "po");
    assert_int_equal(sw_json_len(sw_json_get(pods, "verbs")), 8);
    json_object *eviction = sw_json_find_by(resources, "name", "pods/eviction");
    assert_string_equal(str(eviction, "group", NULL, NULL), "policy");
    assert_string_equal(str(eviction, "version", NULL, NULL), "v1");
    assert_non_null(sw_json_find_by(resources, "name", "pods/status"));
    assert_non_null(sw_json_find_by(resources, "name", "serviceaccounts/token"));
}

static void an_old_cluster_serves_old_versions(void **state)
{
    (void)state;
    struct api *api = api_open_with(&(struct sw_emulator_opts){
        .no_controllers = true, .no_nodes = true, .kube_version = "1.20" });
    SW_AUTO_JSON *version = api_expect(api, 200, "GET", "/version", NULL, NULL);
    assert_string_equal(str(version, "gitVersion", NULL, NULL), "v1.20.0");
    assert_string_equal(str(version, "minor", NULL, NULL), "20");
    api_must(api, 404, "GET", "/apis/policy/v1", NULL, NULL);
    api_must(api, 200, "GET", "/apis/policy/v1beta1", NULL, NULL);
    api_must(api, 404, "GET", "/apis/batch/v1/cronjobs", NULL, NULL);
    api_must(api, 200, "GET", "/apis/batch/v1beta1/cronjobs", NULL, NULL);
    SW_AUTO_JSON *list = api_expect(api, 200, "GET", "/api/v1", NULL, NULL);
    json_object *eviction = sw_json_find_by(sw_json_get(list, "resources"), "name",
                                            "pods/eviction");
    assert_string_equal(str(eviction, "version", NULL, NULL), "v1beta1");
    api_close(api);
}

static void other_releases_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = { "1.19", "2.0", "1.99", "x", "1.", "1.2x" };
    struct sw_loop *loop = sw_loop_new(NULL);
    for (size_t i = 0; i < SW_COUNT(bad); i++) {
        SW_ERR(err);
        struct sw_emulator *emu = NULL;
        assert_int_equal(sw_emulator_open(loop,
                                          &(struct sw_emulator_opts){ .kube_version = bad[i],
                                                                      .no_controllers = true,
                                                                      .no_nodes = true },
                                          &emu, &err),
                         SW_INVALID);
        assert_non_null(strstr(sw_err_text(&err), "is not a Kubernetes version"));
        assert_null(emu);
    }
    sw_loop_free(loop);
}

static void openapi_says_that_the_server_validates(void **state)
{
    struct api *api = *state;
    SW_AUTO_JSON *index = api_expect(api, 200, "GET", "/openapi/v3", NULL, NULL);
    const char *url = str(sw_json_find(index, "paths", "apis/apps/v1", NULL), "serverRelativeURL",
                          NULL, NULL);
    SW_AUTO_JSON *doc = api_expect(api, 200, "GET", url, NULL, NULL);
    json_object *patch = sw_json_find(
        doc, "paths", "/apis/apps/v1/namespaces/{namespace}/deployments/{name}", "patch", NULL);
    assert_non_null(sw_json_find_by(sw_json_get(patch, "parameters"), "name", "fieldValidation"));
    assert_string_equal(str(patch, "x-kubernetes-group-version-kind", "kind", NULL), "Deployment");
    api_must(api, 404, "GET", "/openapi/v3/apis/nope/v1", NULL, NULL);
    ANSWER(v2) = api_finish(
        api_begin(api, "GET", "/openapi/v2", NULL, NULL,
                  "Accept: application/com.github.proto-openapi.spec.v2@v1.0+protobuf"));
    assert_int_equal(v2.code, 200);
    assert_non_null(memmem(v2.text, v2.len, "dryRun", 6));
    assert_non_null(memmem(v2.text, v2.len, "kind: Deployment", 16));
}

static void health_is_fine(void **state)
{
    struct api *api = *state;
    static const char *const paths[] = { "/healthz", "/livez", "/readyz", "/readyz/ping" };
    for (size_t i = 0; i < SW_COUNT(paths); i++) {
        ANSWER(a) = api_get(api, paths[i]);
        assert_int_equal(a.code, 200);
        assert_string_equal(a.text, "ok");
    }
    ANSWER(none) = api_get(api, "/healthzz");
    assert_int_equal(none.code, 404);
}

/* All kinds in two documents, for who asks for it and from the release that has it. */
static void one_document_names_all_kinds(void **state)
{
    static const char accept[] =
        "Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
        "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/"
        "json";
    static const struct {
        const char *release, *kind, *api_version;
    } rows[] = { { "1.20", "APIGroupList", "v1" },
                 { "1.29", "APIGroupDiscoveryList", "apidiscovery.k8s.io/v2beta1" },
                 { "1.31", "APIGroupDiscoveryList", "apidiscovery.k8s.io/v2" } };
    (void)state;
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        struct api *api = api_open_with(&(struct sw_emulator_opts){
            .no_controllers = true, .no_nodes = true, .kube_version = rows[i].release });
        ANSWER(a) = api_finish(api_begin(api, "GET", "/apis", NULL, NULL, accept));
        assert_int_equal(a.code, 200);
        assert_string_equal(sw_json_str(a.doc, "", "kind", NULL), rows[i].kind);
        assert_string_equal(sw_json_str(a.doc, "", "apiVersion", NULL), rows[i].api_version);
        if (i > 0) {
            assert_non_null(strstr(a.headers, "as=APIGroupDiscoveryList"));
            assert_non_null(strstr(a.text, "{\"resource\":\"deployments\""));
            assert_non_null(strstr(a.text, "{\"subresource\":\"scale\",\"responseKind\":{"
                                           "\"group\":\"autoscaling\""));
        }
        api_close(api);
    }
}

static void every_row_of_the_table_is_served_by_some_release(void **state)
{
    (void)state;
    for (size_t i = 0; i < sw_n_builtins; i++) {
        bool served = false;
        for (int minor = 20; minor <= 36; minor++) {
            struct sw_kinds *kinds = sw_kinds_new(minor);
            const struct sw_emu_kind *kind = sw_kinds_nth(kinds, i);
            assert_string_equal(kind->kind, sw_builtins[i].kind);
            served = served || kind->served;
            sw_kinds_free(kinds);
        }
        if (!served)
            fail_msg("%s is never served", sw_builtins[i].kind);
        for (size_t k = 0; k < i; k++)
            if (strcmp(sw_builtins[k].group, sw_builtins[i].group) == 0 &&
                strcmp(sw_builtins[k].plural, sw_builtins[i].plural) == 0)
                fail_msg("%s is there twice", sw_builtins[i].plural);
    }
}

static void versions_are_ordered_as_kubernetes_orders_them(void **state)
{
    (void)state;
    const char *names[] = { "v1alpha1", "v1", "foo", "v2beta1", "v11", "v1beta2", "v2", "v1beta1" };
    static const char *const sorted[] = { "v11",     "v2",      "v1",       "v2beta1",
                                          "v1beta2", "v1beta1", "v1alpha1", "foo" };
    qsort(names, SW_COUNT(names), sizeof *names, sw_version_order);
    for (size_t i = 0; i < SW_COUNT(names); i++)
        assert_string_equal(names[i], sorted[i]);
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
        T(groups_name_their_preferred_version),
        T(resources_name_verbs_and_subresources),
        cmocka_unit_test(an_old_cluster_serves_old_versions),
        cmocka_unit_test(other_releases_are_refused),
        T(openapi_says_that_the_server_validates),
        T(health_is_fine),
        cmocka_unit_test(one_document_names_all_kinds),
        cmocka_unit_test(every_row_of_the_table_is_served_by_some_release),
        cmocka_unit_test(versions_are_ordered_as_kubernetes_orders_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
