/* Kinds that CustomResourceDefinitions declare: when they are served, and what their schemas do. */
#include "emulator/emulator/api.h"

#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define WIDGETS "/apis/ex.io/v1/namespaces/default/widgets"

static const char crd[] =
    "metadata: {name: widgets.ex.io}\n"
    "spec:\n"
    "  group: ex.io\n"
    "  names: {plural: widgets, kind: Widget, shortNames: [wd]}\n"
    "  scope: Namespaced\n"
    "  versions:\n"
    "  - name: v1\n"
    "    served: true\n"
    "    storage: true\n"
    "    subresources: {status: {}, scale: {specReplicasPath: .spec.size, statusReplicasPath: "
    ".status.size}}\n"
    "    schema:\n"
    "      openAPIV3Schema:\n"
    "        type: object\n"
    "        properties:\n"
    "          spec:\n"
    "            type: object\n"
    "            required: [color]\n"
    "            properties:\n"
    "              color: {type: string, enum: [red, blue]}\n"
    "              size: {type: integer, default: 3, minimum: 1, maximum: 10}\n"
    "              word: {type: string, pattern: '^[a-z]+$', maxLength: 4}\n"
    "              any: {x-kubernetes-preserve-unknown-fields: true}\n"
    "              port: {x-kubernetes-int-or-string: true}\n"
    "              none: {type: string, nullable: true}\n"
    "              parts:\n"
    "                type: array\n"
    "                x-kubernetes-list-type: map\n"
    "                x-kubernetes-list-map-keys: [id]\n"
    "                items:\n"
    "                  type: object\n"
    "                  required: [id]\n"
    "                  properties:\n"
    "                    id: {type: string}\n"
    "                    count: {type: integer, default: 1}\n"
    "          status: {type: object, x-kubernetes-preserve-unknown-fields: true}\n"
    "  - name: v1beta1\n"
    "    served: true\n"
    "    storage: false\n"
    "    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}\n";

static void install(struct api *api)
{
    api_must(api, 201, "POST", CRDS, "application/yaml", crd);
    api_settle(api);
}

static void properties_of_a_schema_have_any_name(void **state)
{
    struct api *api = *state;
    api_must(api, 201, "POST", CRDS, "application/yaml",
             "metadata: {name: issuers.ex.io}\n"
             "spec:\n"
             "  group: ex.io\n"
             "  names: {plural: issuers, kind: Issuer}\n"
             "  scope: Namespaced\n"
             "  versions:\n"
             "  - name: v1\n"
             "    served: true\n"
             "    storage: true\n"
             "    schema:\n"
             "      openAPIV3Schema:\n"
             "        type: object\n"
             "        properties:\n"
             "          spec:\n"
             "            type: object\n"
             "            properties:\n"
             "              matchLabels: {type: object, additionalProperties: {type: string}}\n"
             "              containers: {type: object}\n"
             "              nodeSelector: {type: object, description: where}\n");
}

static json_object *make(struct api *api, int code, const char *spec)
{
    SW_AUTO_CHARS *body = sw_printf("{\"metadata\":{\"name\":\"a\"},\"spec\":%s}", spec);
    return api_expect(api, code, "POST", WIDGETS, NULL, body);
}

static void a_kind_is_served_when_its_crd_says_so(void **state)
{
    struct api *api = *state;
    api_must(api, 404, "GET", WIDGETS, NULL, NULL);
    install(api);
    SW_AUTO_JSON *doc = api_expect(api, 200, "GET", CRDS "/widgets.ex.io", NULL, NULL);
    assert_string_equal(str(sw_obj_condition(doc, "Established"), "status", NULL, NULL), "True");
    assert_string_equal(str(doc, "status", "acceptedNames", "kind"), "Widget");
    assert_string_equal(str(doc, "spec", "names", "listKind"), "WidgetList");
    api_must(api, 200, "GET", WIDGETS, NULL, NULL);
    SW_AUTO_JSON *group = api_expect(api, 200, "GET", "/apis/ex.io", NULL, NULL);
    assert_string_equal(str(group, "preferredVersion", "version", NULL), "v1");
    assert_int_equal(sw_json_len(sw_json_get(group, "versions")), 2);
    SW_AUTO_JSON *resources = api_expect(api, 200, "GET", "/apis/ex.io/v1", NULL, NULL);
    json_object *list = sw_json_get(resources, "resources");
    assert_non_null(sw_json_find_by(list, "name", "widgets/status"));
    assert_string_equal(str(sw_json_find_by(list, "name", "widgets/scale"), "group", NULL, NULL),
                        "autoscaling");
}

static void documents_are_pruned_and_filled_in(void **state)
{
    struct api *api = *state;
    install(api);
    SW_AUTO_JSON *doc = make(api, 201,
                             "{\"color\":\"red\",\"bogus\":1,\"any\":{\"deep\":{\"x\":1}},"
                             "\"parts\":[{\"id\":\"p\",\"junk\":true}],\"size\":null,"
                             "\"none\":null}");
    assert_null(sw_json_find(doc, "spec", "bogus", NULL));
    assert_int_equal(sw_json_int(doc, 0, "spec", "any", "deep", "x", NULL), 1);
    assert_int_equal(sw_json_int(doc, 0, "spec", "size", NULL), 3);
    json_object *part = sw_json_at(sw_json_find(doc, "spec", "parts", NULL), 0);
    assert_int_equal(sw_json_int(part, 0, "count", NULL), 1);
    assert_null(sw_json_get(part, "junk"));
    assert_true(json_object_object_get_ex(sw_json_get(doc, "spec"), "none", NULL));
    assert_int_equal(sw_json_int(doc, 0, "metadata", "generation", NULL), 1);
}

static void unknown_fields_are_told_as_asked(void **state)
{
    struct api *api = *state;
    install(api);
    const char *body = "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"color\":\"red\",\"b\":1}}";
    SW_AUTO_JSON *strict = api_expect(api, 400, "POST", WIDGETS "?fieldValidation=Strict", NULL,
                                      body);
    assert_non_null(strstr(str(strict, "message", NULL, NULL),
                           "strict decoding error: unknown field \"spec.b\""));
    ANSWER(warned) = api_send(api, "POST", WIDGETS "?fieldValidation=Warn", NULL, body);
    assert_int_equal(warned.code, 201);
    assert_non_null(strstr(warned.headers, "Warning: 299 - \"unknown field \\\"spec.b\\\"\""));
}

static void faults_are_told_in_the_servers_words(void **state)
{
    static const struct {
        const char *spec, *words;
    } cases[] = {
        { "{}", "Widget.ex.io \"a\" is invalid: spec.color: Required value" },
        { "{\"color\":\"green\"}",
          "spec.color: Unsupported value: \"green\": supported values: \"red\", \"blue\"" },
        { "{\"color\":\"red\",\"size\":11}",
          "spec.size: Invalid value: 11: spec.size in body should be less than or equal to 10" },
        { "{\"color\":\"red\",\"size\":0}",
          "spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1" },
        { "{\"color\":\"red\",\"size\":\"x\"}",
          "spec.size: Invalid value: \"string\": spec.size in body must be of type integer: "
          "\"string\"" },
        { "{\"color\":\"red\",\"word\":\"A\"}",
          "spec.word: Invalid value: \"A\": spec.word in body should match '^[a-z]+$'" },
        { "{\"color\":\"red\",\"word\":\"abcde\"}",
          "spec.word: Too long: may not be longer than 4" },
        { "{\"color\":\"red\",\"port\":[]}",
          "spec.port: Invalid value: \"array\": spec.port in body must be of type "
          "integer,string: \"array\"" },
        { "{\"color\":\"red\",\"parts\":[{\"id\":\"a\"},{\"id\":\"a\"}]}",
          "spec.parts[1]: Duplicate value: {\"id\":\"a\"" },
        { "{\"color\":\"red\",\"parts\":[{}]}", "spec.parts[0].id: Required value" },
    };
    struct api *api = *state;
    install(api);
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        SW_AUTO_JSON *doc = make(api, 422, cases[i].spec);
        if (!strstr(str(doc, "message", NULL, NULL), cases[i].words))
            fail_msg("%s: %s", cases[i].spec, str(doc, "message", NULL, NULL));
    }
}

static void the_status_is_apart(void **state)
{
    struct api *api = *state;
    install(api);
    json_object_put(make(api, 201, "{\"color\":\"red\"}"));
    SW_AUTO_JSON *doc = api_expect(
        api, 200, "PATCH", WIDGETS "/a/status", MERGE_PATCH,
        "{\"spec\":{\"color\":\"blue\"},\"metadata\":{\"labels\":{\"x\":\"y\"}},"
        "\"status\":{\"ok\":true}}");
    assert_string_equal(str(doc, "spec", "color", NULL), "red");
    assert_null(sw_json_find(doc, "metadata", "labels", NULL));
    assert_true(sw_json_bool(doc, false, "status", "ok", NULL));
    SW_AUTO_JSON *main_part = api_expect(api, 200, "PATCH", WIDGETS "/a", MERGE_PATCH,
                                         "{\"status\":{\"ok\":false}}");
    assert_true(sw_json_bool(main_part, false, "status", "ok", NULL));
    assert_int_equal(sw_json_int(main_part, 0, "metadata", "generation", NULL), 1);
}

static void scale_follows_the_paths_of_the_crd(void **state)
{
    struct api *api = *state;
    install(api);
    json_object_put(make(api, 201, "{\"color\":\"red\"}"));
    SW_AUTO_JSON *scale = api_expect(api, 200, "GET", WIDGETS "/a/scale", NULL, NULL);
    assert_string_equal(sw_obj_kind(scale), "Scale");
    assert_int_equal(sw_json_int(scale, 0, "spec", "replicas", NULL), 3);
    api_must(api, 200, "PATCH", WIDGETS "/a/scale", MERGE_PATCH, "{\"spec\":{\"replicas\":7}}");
    SW_AUTO_JSON *doc = api_expect(api, 200, "GET", WIDGETS "/a", NULL, NULL);
    assert_int_equal(sw_json_int(doc, 0, "spec", "size", NULL), 7);
}

static void other_versions_show_the_same(void **state)
{
    struct api *api = *state;
    install(api);
    json_object_put(make(api, 201, "{\"color\":\"red\"}"));
    SW_AUTO_JSON *doc = api_expect(api, 200, "GET",
                                   "/apis/ex.io/v1beta1/namespaces/default/widgets/a", NULL, NULL);
    assert_string_equal(sw_obj_api_version(doc), "ex.io/v1beta1");
    assert_string_equal(str(doc, "spec", "color", NULL), "red");
    api_must(api, 404, "GET", "/apis/ex.io/v2/namespaces/default/widgets/a", NULL, NULL);
    SW_AUTO_JSON *other = api_expect(
        api, 201, "POST", "/apis/ex.io/v1beta1/namespaces/default/widgets", NULL,
        "{\"apiVersion\":\"ex.io/v1beta1\",\"kind\":\"Widget\",\"metadata\":{\"name\":\"b\"},"
        "\"spec\":{\"color\":\"blue\"}}");
    assert_string_equal(sw_obj_api_version(other), "ex.io/v1beta1");
    SW_AUTO_JSON *list = api_expect(api, 200, "GET", WIDGETS, NULL, NULL);
    assert_string_equal(sw_obj_api_version(sw_json_at(sw_json_get(list, "items"), 1)), "ex.io/v1");
}

static void strategic_patches_are_not_for_custom_resources(void **state)
{
    struct api *api = *state;
    install(api);
    json_object_put(make(api, 201, "{\"color\":\"red\"}"));
    api_must(api, 415, "PATCH", WIDGETS "/a", STRATEGIC_PATCH, "{}");
}

static void applied_lists_merge_by_the_keys_of_the_schema(void **state)
{
    struct api *api = *state;
    install(api);
    api_must(api, 201, "PATCH", WIDGETS "/a?fieldManager=x", APPLY_PATCH,
             "{apiVersion: ex.io/v1, kind: Widget, metadata: {name: a}, spec: {color: red, parts: "
             "[{id: one}]}}");
    SW_AUTO_JSON *doc = api_expect(api, 200, "PATCH", WIDGETS "/a?fieldManager=z", APPLY_PATCH,
                                   "{apiVersion: ex.io/v1, kind: Widget, metadata: {name: a}, "
                                   "spec: {parts: [{id: two}]}}");
    assert_int_equal(sw_json_len(sw_json_find(doc, "spec", "parts", NULL)), 2);
}

static void with_the_crd_go_its_objects(void **state)
{
    struct api *api = *state;
    install(api);
    json_object_put(make(api, 201, "{\"color\":\"red\"}"));
    api_must(api, 200, "PATCH", WIDGETS "/a", MERGE_PATCH,
             "{\"metadata\":{\"finalizers\":[\"x.io/hold\"]}}");
    api_must(api, 200, "DELETE", CRDS "/widgets.ex.io", NULL, NULL);
    api_settle(api);
    SW_AUTO_JSON *doc = api_expect(api, 200, "GET", WIDGETS "/a", NULL, NULL);
    assert_true(str(doc, "metadata", "deletionTimestamp", NULL)[0]);
    api_must(api, 200, "PATCH", WIDGETS "/a", MERGE_PATCH, "{\"metadata\":{\"finalizers\":null}}");
    api_settle(api);
    api_must(api, 404, "GET", CRDS "/widgets.ex.io", NULL, NULL);
    api_must(api, 404, "GET", WIDGETS, NULL, NULL);
    install(api); /* and again */
    SW_AUTO_JSON *list = api_expect(api, 200, "GET", WIDGETS, NULL, NULL);
    assert_int_equal(sw_json_len(sw_json_get(list, "items")), 0);
}

static void a_kind_declared_again_has_no_past(void **state)
{
    struct api *api = *state;
    install(api);
    json_object_put(make(api, 201, "{\"color\":\"red\"}"));
    SW_AUTO_CHARS *before = sw_printf(WIDGETS "?resourceVersionMatch=Exact&resourceVersion=%llu",
                                      (unsigned long long)sw_store_version(api->store));
    api_must(api, 200, "GET", before, NULL, NULL);
    api_must(api, 200, "DELETE", CRDS "/widgets.ex.io", NULL, NULL);
    api_settle(api);
    install(api);
    SW_AUTO_JSON *gone = api_expect(api, 410, "GET", before, NULL, NULL);
    assert_string_equal(str(gone, "reason", NULL, NULL), "Expired");
    SW_AUTO_CHARS *now = sw_printf(WIDGETS "?resourceVersionMatch=Exact&resourceVersion=%llu",
                                   (unsigned long long)sw_store_version(api->store));
    api_must(api, 200, "GET", now, NULL, NULL);
}

static void bad_crds_are_refused(void **state)
{
    struct api *api = *state;
    SW_AUTO_JSON *name = api_expect(
        api, 422, "POST", CRDS, "application/yaml",
        "{metadata: {name: x.ex.io}, spec: {group: ex.io, scope: Cluster, names: {plural: things, "
        "kind: Thing}, versions: [{name: v1, served: true, storage: true, schema: "
        "{openAPIV3Schema: {type: object}}}]}}");
    assert_non_null(
        strstr(str(name, "message", NULL, NULL), "must be spec.names.plural+\".\"+spec.group"));
    SW_AUTO_JSON *schema = api_expect(
        api, 422, "POST", CRDS, "application/yaml",
        "{metadata: {name: things.ex.io}, spec: {group: ex.io, scope: Cluster, names: {plural: "
        "things, kind: Thing}, versions: [{name: v1, served: true, storage: true, schema: "
        "{openAPIV3Schema: {type: object, properties: {a: {description: no type}}}}}]}}");
    assert_non_null(strstr(str(schema, "message", NULL, NULL),
                           "must not be empty for specified object fields"));
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
        T(properties_of_a_schema_have_any_name),
        T(a_kind_is_served_when_its_crd_says_so),
        T(documents_are_pruned_and_filled_in),
        T(unknown_fields_are_told_as_asked),
        T(faults_are_told_in_the_servers_words),
        T(the_status_is_apart),
        T(scale_follows_the_paths_of_the_crd),
        T(other_versions_show_the_same),
        T(strategic_patches_are_not_for_custom_resources),
        T(applied_lists_merge_by_the_keys_of_the_schema),
        T(with_the_crd_go_its_objects),
        T(a_kind_declared_again_has_no_past),
        T(bad_crds_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
