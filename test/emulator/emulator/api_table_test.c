/* What `kubectl get` prints: tables, partial metadata, durations. */
#include "emulator/emulator/api.h"

#include "emulator/api/table.h"

#define TABLE "Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
#define PARTIAL                                                                                    \
    "Accept: application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json"
#define PODS "/api/v1/namespaces/default/pods"

static json_object *get(struct api *api, const char *path, const char *accept)
{
    struct answer a = api_finish(api_begin(api, "GET", path, NULL, NULL, accept));
    assert_int_equal(a.code, 200);
    json_object *doc = SW_TAKE(a.doc);
    answer_done(&a);
    return doc;
}

static char *column_names(json_object *table)
{
    json_object *list = sw_json_get(table, "columnDefinitions");
    char *all = sw_strdup("");
    for (size_t i = 0; i < sw_json_len(list); i++) {
        SW_AUTO_CHARS *before = all;
        bool wide = sw_json_int(sw_json_at(list, i), 0, "priority", NULL) > 0;
        all = sw_printf("%s%s%s%s", before, i ? " " : "",
                        str(sw_json_at(list, i), "name", NULL, NULL), wide ? "*" : "");
    }
    return all;
}

static char *cells(json_object *table, size_t row)
{
    json_object *list = sw_json_get(sw_json_at(sw_json_get(table, "rows"), row), "cells");
    char *all = sw_strdup("");
    for (size_t i = 0; i < sw_json_len(list); i++) {
        SW_AUTO_CHARS *before = all;
        const char *cell = json_object_get_string(sw_json_at(list, i));
        all = sw_printf("%s%s%s", before, i ? "|" : "", cell ? cell : "null");
    }
    return all;
}

static void make_pod(struct api *api, const char *status)
{
    api_must(api, 201, "POST", PODS, NULL,
             "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"nodeName\":\"n\",\"containers\":["
             "{\"name\":\"c\",\"image\":\"i\"},{\"name\":\"d\",\"image\":\"i\"}]}}");
    SW_AUTO_CHARS *body = sw_printf("{\"status\":%s}", status);
    api_must(api, 200, "PATCH", PODS "/p/status", MERGE_PATCH, body);
}

static void pods_show_what_kubectl_shows(void **state)
{
    static const struct {
        const char *status, *cells;
    } cases[] = {
        { "{\"phase\":\"Pending\"}", "p|0/2|Pending|0|0s|<none>|n|<none>|<none>" },
        { "{\"phase\":\"Running\",\"podIP\":\"10.1.2.3\",\"containerStatuses\":["
          "{\"name\":\"c\",\"ready\":true,\"restartCount\":2,\"state\":{\"running\":{}}},"
          "{\"name\":\"d\",\"ready\":false,\"restartCount\":0,\"state\":{\"waiting\":{\"reason\":"
          "\"CrashLoopBackOff\"}}}]}",
          "p|1/2|CrashLoopBackOff|2|0s|10.1.2.3|n|<none>|<none>" },
        { "{\"phase\":\"Succeeded\",\"containerStatuses\":[{\"name\":\"c\",\"ready\":false,"
          "\"restartCount\":0,\"state\":{\"terminated\":{\"exitCode\":0,\"reason\":"
          "\"Completed\"}}}]}",
          "p|0/2|Completed|0|0s|<none>|n|<none>|<none>" },
        { "{\"phase\":\"Failed\",\"containerStatuses\":[{\"name\":\"c\",\"ready\":false,"
          "\"restartCount\":0,\"state\":{\"terminated\":{\"exitCode\":3}}}]}",
          "p|0/2|ExitCode:3|0|0s|<none>|n|<none>|<none>" },
        { "{\"phase\":\"Failed\",\"reason\":\"Evicted\"}",
          "p|0/2|Evicted|0|0s|<none>|n|<none>|<none>" },
    };
    struct api *api = *state;
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        make_pod(api, cases[i].status);
        SW_AUTO_JSON *table = get(api, PODS, TABLE);
        SW_AUTO_CHARS *names = column_names(table), *row = cells(table, 0);
        assert_string_equal(names, "Name Ready Status Restarts Age IP* Node* Nominated Node* "
                                   "Readiness Gates*");
        for (char *age = strstr(row, "|1s|"); age; age = NULL)
            age[1] = '0'; /* a slow machine */
        assert_string_equal(row, cases[i].cells);
        api_must(api, 200, "DELETE", PODS "/p?gracePeriodSeconds=0", NULL, NULL);
    }
}

static void a_pod_that_goes_is_terminating(void **state)
{
    struct api *api = *state;
    make_pod(api, "{\"phase\":\"Running\"}");
    api_must(api, 200, "DELETE", PODS "/p", NULL, NULL);
    SW_AUTO_JSON *table = get(api, PODS "/p", TABLE);
    SW_AUTO_CHARS *row = cells(table, 0);
    assert_true(sw_starts_with(row, "p|0/2|Terminating|0|"));
}

static void rows_carry_what_is_asked_for(void **state)
{
    struct api *api = *state;
    SW_AUTO_JSON *meta = get(api, "/api/v1/namespaces/default", TABLE);
    json_object *object = sw_json_get(sw_json_at(sw_json_get(meta, "rows"), 0), "object");
    assert_string_equal(sw_obj_kind(object), "PartialObjectMetadata");
    assert_string_equal(sw_obj_name(object), "default");
    SW_AUTO_JSON *full = get(api, "/api/v1/namespaces/default?includeObject=Object", TABLE);
    object = sw_json_get(sw_json_at(sw_json_get(full, "rows"), 0), "object");
    assert_string_equal(str(object, "status", "phase", NULL), "Active");
    SW_AUTO_JSON *none = get(api, "/api/v1/namespaces/default?includeObject=None", TABLE);
    assert_null(sw_json_get(sw_json_at(sw_json_get(none, "rows"), 0), "object"));
}

static void custom_columns_are_the_crds(void **state)
{
    struct api *api = *state;
    api_must(api, 201, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
             "application/yaml",
             "{metadata: {name: things.ex.io}, spec: {group: ex.io, scope: Cluster, names: "
             "{plural: things, kind: Thing}, versions: [{name: v1, served: true, storage: true, "
             "additionalPrinterColumns: [{name: State, type: string, jsonPath: .status.state}, "
             "{name: Count, type: integer, jsonPath: .spec.count}, {name: Ready, type: string, "
             "jsonPath: '.status.conditions[?(@.type==\"Ready\")].status'}], schema: "
             "{openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}");
    api_settle(api);
    api_must(api, 201, "POST", "/apis/ex.io/v1/things", NULL,
             "{\"metadata\":{\"name\":\"t\"},\"spec\":{\"count\":4},\"status\":{\"state\":\"up\","
             "\"conditions\":[{\"type\":\"X\",\"status\":\"False\"},{\"type\":\"Ready\","
             "\"status\":\"True\"}]}}");
    SW_AUTO_JSON *table = get(api, "/apis/ex.io/v1/things", TABLE);
    SW_AUTO_CHARS *names = column_names(table), *row = cells(table, 0);
    assert_string_equal(names, "Name State Count Ready");
    assert_string_equal(row, "t|up|4|True");
}

static void partial_metadata_is_metadata_alone(void **state)
{
    struct api *api = *state;
    SW_AUTO_JSON *list = get(api, "/api/v1/namespaces", PARTIAL);
    assert_string_equal(sw_obj_kind(list), "PartialObjectMetadataList");
    json_object *item = sw_json_at(sw_json_get(list, "items"), 0);
    assert_string_equal(sw_obj_kind(item), "PartialObjectMetadata");
    assert_null(sw_json_get(item, "status"));
}

static void a_table_can_be_watched(void **state)
{
    struct api *api = *state;
    struct call *c = api_begin(api, "GET", "/api/v1/namespaces?watch=1", NULL, NULL, TABLE);
    api_lines(c, 2);
    SW_AUTO_JSON *first = api_event(c, 0), *second = api_event(c, 1);
    assert_string_equal(str(first, "object", "kind", NULL), "Table");
    assert_int_equal(sw_json_len(sw_json_find(first, "object", "columnDefinitions", NULL)), 3);
    assert_int_equal(sw_json_len(sw_json_find(second, "object", "columnDefinitions", NULL)), 0);
    assert_int_equal(sw_json_len(sw_json_find(second, "object", "rows", NULL)), 1);
    ANSWER(a) = api_end(c);
}

static void yaml_is_given_to_who_wants_it(void **state)
{
    struct api *api = *state;
    ANSWER(a) = api_finish(api_begin(api, "GET", "/api/v1/namespaces/default", NULL, NULL,
                                     "Accept: application/yaml"));
    assert_true(sw_starts_with(a.text, "apiVersion: v1\nkind: Namespace\n"));
    ANSWER(none) = api_finish(api_begin(api, "GET", "/api/v1/namespaces/default", NULL, NULL,
                                        "Accept: application/vnd.kubernetes.protobuf"));
    assert_int_equal(none.code, 406);
}

static void durations_are_rounded_as_kubectl_does(void **state)
{
    (void)state;
    static const struct {
        int64_t s;
        const char *text;
    } cases[] = {
        { -5, "<invalid>" },       { 0, "0s" },
        { 119, "119s" },           { 120, "2m" },
        { 125, "2m5s" },           { 600, "10m" },
        { 10799, "179m" },         { 10800, "3h" },
        { 3 * 3600 + 60, "3h1m" }, { 8 * 3600, "8h" },
        { 47 * 3600, "47h" },      { 48 * 3600, "2d" },
        { 49 * 3600, "2d1h" },     { 8 * 86400, "8d" },
        { 729 * 86400LL, "729d" }, { 730 * 86400LL, "2y" },
        { 735 * 86400LL, "2y5d" }, { 3000 * 86400LL, "8y" },
    };
    char buf[32];
    for (size_t i = 0; i < SW_COUNT(cases); i++)
        assert_string_equal(sw_human_duration(cases[i].s * 1000, buf), cases[i].text);
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
        T(pods_show_what_kubectl_shows),
        T(a_pod_that_goes_is_terminating),
        T(rows_carry_what_is_asked_for),
        T(custom_columns_are_the_crds),
        T(partial_metadata_is_metadata_alone),
        T(a_table_can_be_watched),
        T(yaml_is_given_to_who_wants_it),
        cmocka_unit_test(durations_are_rounded_as_kubectl_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
