/* The kinds of Dynamic Resource Allocation: which releases have them, what is filled in, and what
 * is refused with a server's own words (as Kubernetes 1.36 gave them). */
#include "emulator/emulator/api.h"

#define DEVICES "/apis/resource.k8s.io/v1"
#define CLAIMS DEVICES "/namespaces/default/resourceclaims"
#define TEMPLATES DEVICES "/namespaces/default/resourceclaimtemplates"
#define SLICES DEVICES "/resourceslices"

/* POST of a document that is refused with @words. */
static void refused(struct api *api, const char *path, const char *body, const char *words)
{
    SW_AUTO_JSON *doc = api_expect(api, 422, "POST", path, NULL, body);
    if (!strstr(str(doc, "message", NULL, NULL), words))
        fail_msg("%s\nlacks: %s", str(doc, "message", NULL, NULL), words);
}

static void older_releases_have_none(void **state)
{
    (void)state;
    static const struct {
        const char *release;
        int code;
    } rows[] = { { "1.33", 404 }, { "1.34", 200 } };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        struct api *api = api_open_with(&(struct sw_emulator_opts){
            .no_controllers = true, .no_nodes = true, .kube_version = rows[i].release });
        api_must(api, rows[i].code, "GET", DEVICES, NULL, NULL);
        api_close(api);
    }
}

static void requests_get_their_defaults(void **state)
{
    struct api *api = *state;
    SW_AUTO_JSON *doc = api_expect(
        api, 201, "POST", CLAIMS, NULL,
        "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"devices\":{\"requests\":[{\"name\":\"r\","
        "\"exactly\":{\"deviceClassName\":\"x\"}},{\"name\":\"s\",\"firstAvailable\":[{\"name\":"
        "\"t\",\"deviceClassName\":\"x\",\"allocationMode\":\"All\"}]}]}}}");
    json_object *requests = sw_json_find(doc, "spec", "devices", "requests", NULL);
    json_object *one = sw_json_get(sw_json_at(requests, 0), "exactly");
    json_object *all = sw_json_at(sw_json_get(sw_json_at(requests, 1), "firstAvailable"), 0);
    assert_string_equal(str(one, "allocationMode", NULL, NULL), "ExactCount");
    assert_int_equal(sw_json_int(one, 0, "count", NULL), 1);
    assert_null(sw_json_get(all, "count"));
}

static void what_a_claim_must_say(void **state)
{
    struct api *api = *state;
    static const struct {
        const char *requests, *words;
    } rows[] = {
        { "{\"name\":\"r\"}",
          "spec.devices.requests[0]: Required value: exactly one of `exactly` or "
          "`firstAvailable` is required" },
        { "{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"x\"},\"firstAvailable\":[{}]}",
          "spec.devices.requests[0]: Invalid value: null: exactly one of `exactly` or "
          "`firstAvailable` is required, but multiple fields are set" },
        { "{\"name\":\"r\",\"exactly\":{}}",
          "spec.devices.requests[0].exactly.deviceClassName: Required value" },
        { "{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"x\",\"count\":-1}}",
          "spec.devices.requests[0].exactly.count: Invalid value: -1: must be greater than zero" },
        { "{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"x\"}},{\"name\":\"r\",\"exactly\":{"
          "\"deviceClassName\":\"x\"}}",
          "spec.devices.requests[1]: Duplicate value: \"r\"" },
        { "{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"x\",\"allocationMode\":\"Some\"}}",
          "spec.devices.requests[0].exactly.allocationMode: Unsupported value: \"Some\"" },
        { "{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"x\",\"selectors\":[{}]}}",
          "spec.devices.requests[0].exactly.selectors[0].cel: Required value" },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO_CHARS *body = sw_printf("{\"metadata\":{\"name\":\"c\"},\"spec\":{\"devices\":{"
                                        "\"requests\":[%s]}}}",
                                        rows[i].requests);
        refused(api, CLAIMS, body, rows[i].words);
    }
}

static void admin_access_is_the_namespaces(void **state)
{
    struct api *api = *state;
    const char *body = "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"spec\":{\"devices\":{"
                       "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"x\","
                       "\"adminAccess\":true}}]}}}}";
    refused(api, TEMPLATES, body,
            "spec.devices.requests[0].adminAccess: Forbidden: admin access to devices requires the "
            "`resource.kubernetes.io/admin-access: true` label on the containing namespace");
    api_must(api, 200, "PATCH", "/api/v1/namespaces/default", "application/merge-patch+json",
             "{\"metadata\":{\"labels\":{\"resource.kubernetes.io/admin-access\":\"true\"}}}");
    api_must(api, 201, "POST", TEMPLATES, NULL, body);
}

static void what_a_slice_must_say(void **state)
{
    struct api *api = *state;
    refused(
        api, SLICES,
        "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"driver\":\"d.example\",\"nodeName\":\"n\","
        "\"allNodes\":true,\"pool\":{\"name\":\"n\"},\"devices\":[{\"name\":\"a\","
        "\"attributes\":{\"type\":{}}},{\"name\":\"a\"}]}}",
        "ResourceSlice.resource.k8s.io \"s\" is invalid: [spec.pool.resourceSliceCount: Invalid "
        "value: 0: must be greater than zero, spec: Invalid value: \"{`nodeName`, "
        "`allNodes`}\": exactly one of `nodeName`, `nodeSelector`, `allNodes`, "
        "`perDeviceNodeSelection` is required, but multiple fields are set, "
        "spec.devices[0].attributes[type]: Invalid value: \"\": exactly one value must be "
        "specified, spec.devices[1]: Duplicate value: \"a\"]");
    refused(api, SLICES, "{\"metadata\":{\"name\":\"s\"},\"spec\":{}}",
            "spec: Required value: exactly one of `nodeName`");
}

static void a_slice_keeps_its_place(void **state)
{
    struct api *api = *state;
    api_must(api, 201, "POST", SLICES, NULL,
             "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"driver\":\"d.example\",\"nodeName\":\"n\","
             "\"pool\":{\"name\":\"n\",\"resourceSliceCount\":1}}}");
    SW_AUTO_JSON *doc = api_expect(api, 422, "PATCH", SLICES "/s", "application/merge-patch+json",
                                   "{\"spec\":{\"nodeName\":\"m\"}}");
    assert_non_null(strstr(str(doc, "message", NULL, NULL),
                           "spec.nodeName: Invalid value: \"m\": field is immutable"));
}

static void a_class_has_expressions(void **state)
{
    struct api *api = *state;
    refused(api, DEVICES "/deviceclasses",
            "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"selectors\":[{}]}}",
            "spec.selectors[0].cel: Required value");
}

/* ---- what came by default with 1.36 -------------------------------------------------------------
 */

#define POOL                                                                                       \
    "\"driver\":\"d.example\",\"nodeName\":\"n\",\"pool\":{\"name\":\"n\",\"resourceSliceCount\":" \
    "1}"

static void counters_have_their_own_slice(void **state)
{
    struct api *api = *state;
    static const struct {
        const char *spec, *words;
    } rows[] = {
        { "\"sharedCounters\":[{\"name\":\"g\",\"counters\":{\"m\":{\"value\":\"1\"}}}],"
          "\"devices\":[]",
          "spec: Invalid value: \"\": only one of `sharedCounters` or `devices` is allowed" },
        { "\"sharedCounters\":[{}]",
          "[spec.sharedCounters[0].name: Required value, spec.sharedCounters[0].counters: Required "
          "value]" },
        { "\"devices\":[{\"name\":\"a\",\"consumesCounters\":[{\"counterSet\":\"g\"}]}]",
          "spec.devices[0].consumesCounters[0].counters: Required value" },
        { "\"devices\":[{\"name\":\"a\",\"taints\":[{\"key\":\"k\",\"effect\":\"Some\"}]}]",
          "spec.devices[0].taints[0].effect: Unsupported value: \"Some\": supported values: "
          "\"NoExecute\", \"NoSchedule\", \"None\"" },
        { "\"devices\":[{\"name\":\"a\",\"bindingConditions\":[\"x\"]}]",
          "bindingFailureConditions are required to use bindingConditions" },
        { "\"devices\":[{\"name\":\"a\",\"allNodes\":true}]",
          "spec.devices[0]: Invalid value: null: `nodeName`, `nodeSelector` and `allNodes` can "
          "only "
          "be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec" },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO_CHARS *body = sw_printf("{\"metadata\":{\"name\":\"s\"},\"spec\":{" POOL ",%s}}",
                                        rows[i].spec);
        refused(api, SLICES, body, rows[i].words);
    }
}

static void few_devices_where_they_take_counters(void **state)
{
    struct api *api = *state;
    SW_AUTO_CHARS *devices = NULL;
    for (int i = 0; i < 65; i++)
        sw_append(&devices, "%s{\"name\":\"a%d\"%s}", i ? "," : "", i,
                  i ? ""
                    : ",\"consumesCounters\":[{\"counterSet\":\"g\",\"counters\":{\"m\":{\"value\":"
                      "\"1\"}}}]");
    SW_AUTO_CHARS *body = sw_printf(
        "{\"metadata\":{\"name\":\"s\"},\"spec\":{" POOL ",\"devices\":[%s]}}", devices);
    refused(api, SLICES, body, "spec.devices: Too many: 65: must have at most 64 items");
}

static void a_status_names_devices_that_are_allocated(void **state)
{
    struct api *api = *state;
    api_must(api, 201, "POST", CLAIMS, NULL,
             "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"devices\":{\"requests\":[{\"name\":\"r\","
             "\"exactly\":{\"deviceClassName\":\"x\"}}]}}}");
    SW_AUTO_JSON *doc = api_expect(
        api, 422, "PATCH", CLAIMS "/c/status", "application/merge-patch+json",
        "{\"status\":{\"reservedFor\":[{\"resource\":\"pods\",\"name\":\"p\",\"uid\":\"1\"}],"
        "\"devices\":[{\"driver\":\"d.example\",\"pool\":\"n\",\"device\":\"a\"}]}}");
    assert_non_null(strstr(str(doc, "message", NULL, NULL),
                           "must be an allocated device in the claim, status.reservedFor: "
                           "Forbidden: may not be specified when `allocated` is not set"));
}

static void what_drivers_say_of_devices_has_limits(void **state)
{
    struct api *api = *state;
#define STATUS(rest)                                                                               \
    "{\"status\":{\"devices\":[{\"driver\":\"d.example\",\"pool\":\"n\",\"device\":\"a\"" rest     \
    "}]}}"
#define NETWORK(rest) STATUS(",\"networkData\":{" rest "}")
    static const struct {
        const char *status, *words; /* NULL: taken */
    } rows[] = {
        { STATUS(",\"data\":{\"any\":[\"thing\"]}"), NULL },
        { NETWORK("\"ips\":[\"10.9.8.7/24\",\"2001:db8::1/64\"]"), NULL },
        { NETWORK("\"ips\":[\"10.9.8.7\"]"), "status.devices[0].networkData.ips[0]: Invalid value: "
                                             "\"10.9.8.7\": must be a valid address "
                                             "in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)" },
        { NETWORK("\"ips\":[\"10.9.8.7/24\",\"10.9.8.7/24\"]"),
          "status.devices[0].networkData.ips[1]: Duplicate value: \"10.9.8.7/24\"" },
        { "{\"status\":{\"devices\":[{\"driver\":\"d.example\",\"pool\":\"n\",\"device\":\"a\"},"
          "{\"driver\":\"d.example\",\"pool\":\"n\",\"device\":\"b\"}]}}",
          "status.devices[1]: Invalid value: \"d.example/n/b\": must be an allocated device in the "
          "claim" },
    };
    char *long_text = sw_zalloc(1, 10 * 1024 + 1), *name = sw_zalloc(1, 258);
    memset(long_text, 'x', 10 * 1024);
    memset(name, 'x', 257);
    api_must(api, 201, "POST", CLAIMS, NULL,
             "{\"metadata\":{\"name\":\"limits\"},\"spec\":{\"devices\":{\"requests\":[{\"name\":"
             "\"r\",\"exactly\":{\"deviceClassName\":\"x\"}}]}}}");
    api_must(api, 200, "PATCH", CLAIMS "/limits/status", "application/merge-patch+json",
             "{\"status\":{\"allocation\":{\"devices\":{\"results\":[{\"request\":\"r\",\"driver\":"
             "\"d.example\",\"pool\":\"n\",\"device\":\"a\"}]}}}}");
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO_JSON *doc = api_expect(api, rows[i].words ? 422 : 200, "PATCH",
                                       CLAIMS "/limits/status", "application/merge-patch+json",
                                       rows[i].status);
        if (rows[i].words)
            assert_non_null(strstr(str(doc, "message", NULL, NULL), rows[i].words));
    }
    SW_AUTO_CHARS *data = sw_printf(STATUS(",\"data\":{\"a\":\"%s\"},\"networkData\":{"
                                           "\"interfaceName\":\"%s\",\"hardwareAddress\":\"%s\"}"),
                                    long_text, name, name);
    SW_AUTO_JSON *doc = api_expect(api, 422, "PATCH", CLAIMS "/limits/status",
                                   "application/merge-patch+json", data);
    const char *message = str(doc, "message", NULL, NULL);
    assert_non_null(
        strstr(message, "status.devices[0].data: Too long: may not be more than 10240 bytes"));
    assert_non_null(
        strstr(message, "networkData.interfaceName: Too long: may not be more than 256 bytes"));
    assert_non_null(
        strstr(message, "networkData.hardwareAddress: Too long: may not be more than 128 bytes"));
    SW_AUTO_CHARS *conditions = NULL;
    for (int i = 0; i < 9; i++)
        sw_append(&conditions,
                  "%s{\"type\":\"t%d\",\"status\":\"True\",\"reason\":\"r\",\"message\":\"\","
                  "\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}",
                  i ? "," : "", i);
    SW_AUTO_CHARS *many = sw_printf(STATUS(",\"conditions\":[%s]"), conditions);
    SW_AUTO_JSON *refusal = api_expect(api, 422, "PATCH", CLAIMS "/limits/status",
                                       "application/merge-patch+json", many);
    assert_non_null(strstr(str(refusal, "message", NULL, NULL),
                           "status.devices[0].conditions: Too many: 9: must have at most 8 items"));
    free(long_text);
    free(name);
}

static void older_releases_drop_what_they_do_not_know(void **state)
{
    (void)state;
    struct api *api = api_open_with(&(struct sw_emulator_opts){
        .no_controllers = true, .no_nodes = true, .kube_version = "1.35" });
    SW_AUTO_JSON *doc = api_expect(api, 201, "POST", SLICES, NULL,
                                   "{\"metadata\":{\"name\":\"s\"},\"spec\":{" POOL
                                   ",\"devices\":[{\"name\":\"a\",\"taints\":[{\"key\":\"k\","
                                   "\"effect\":\"NoSchedule\"}]}]}}");
    json_object *device = sw_json_at(sw_json_find(doc, "spec", "devices", NULL), 0);
    assert_string_equal(str(device, "name", NULL, NULL), "a");
    assert_null(sw_json_get(device, "taints"));
    SW_AUTO_JSON *class = api_expect(api, 201, "POST", DEVICES "/deviceclasses", NULL,
                                     "{\"metadata\":{\"name\":\"c\"},\"spec\":{"
                                     "\"extendedResourceName\":\"example.com/gpu\"}}");
    assert_null(sw_json_find(class, "spec", "extendedResourceName", NULL));
    api_close(api);
}

static int open_newest(void **state)
{
    *state = api_open_with(&(struct sw_emulator_opts){
        .no_controllers = true, .no_nodes = true, .seed = 7, .kube_version = "1.36" });
    return 0;
}

static int open_api(void **state)
{
    *state = api_open_with(&(struct sw_emulator_opts){
        .no_controllers = true, .no_nodes = true, .seed = 7, .kube_version = "1.34" });
    return 0;
}

static int close_api(void **state)
{
    api_close(*state);
    return 0;
}

#define T(f) cmocka_unit_test_setup_teardown(f, open_api, close_api)
#define N(f) cmocka_unit_test_setup_teardown(f, open_newest, close_api)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(older_releases_have_none),
        T(requests_get_their_defaults),
        T(what_a_claim_must_say),
        T(admin_access_is_the_namespaces),
        T(what_a_slice_must_say),
        T(a_slice_keeps_its_place),
        T(a_class_has_expressions),
        N(counters_have_their_own_slice),
        N(few_devices_where_they_take_counters),
        N(a_status_names_devices_that_are_allocated),
        N(what_drivers_say_of_devices_has_limits),
        cmocka_unit_test(older_releases_drop_what_they_do_not_know),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
