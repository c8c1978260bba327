/* The compiled-in admission controllers, defaults, quotas. */
#include "emulator/emulator/api.h"

#define PODS "/api/v1/namespaces/default/pods"
#define POD(more)                                                                                  \
    "{\"metadata\":{\"name\":\"p\"},\"spec\":{" more "\"containers\":[{\"name\":\"c\",\"image\":"  \
    "\"repo/i:1\"}]}}"

static void pods_get_their_defaults(void **state)
{
    struct api *api = *state;
    SW_AUTO_JSON *doc = api_expect(api, 201, "POST", PODS, NULL, POD(""));
    json_object *spec = sw_json_get(doc, "spec");
    assert_string_equal(str(spec, "restartPolicy", NULL, NULL), "Always");
    assert_string_equal(str(spec, "dnsPolicy", NULL, NULL), "ClusterFirst");
    assert_string_equal(str(spec, "schedulerName", NULL, NULL), "default-scheduler");
    assert_string_equal(str(spec, "serviceAccountName", NULL, NULL), "default");
    assert_int_equal(sw_json_int(spec, 0, "terminationGracePeriodSeconds", NULL), 30);
    assert_int_equal(sw_json_len(sw_json_get(spec, "tolerations")), 2);
    json_object *c = sw_json_at(sw_json_get(spec, "containers"), 0);
    assert_string_equal(str(c, "imagePullPolicy", NULL, NULL), "IfNotPresent");
    assert_string_equal(str(sw_json_at(sw_json_get(c, "volumeMounts"), 0), "mountPath", NULL, NULL),
                        "/var/run/secrets/kubernetes.io/serviceaccount");
    assert_string_equal(str(doc, "status", "phase", NULL), "Pending");
    assert_string_equal(str(doc, "status", "qosClass", NULL), "BestEffort");
}

static void a_runtime_class_must_exist(void **state)
{
    struct api *api = *state;
    SW_AUTO_JSON *doc = api_expect(api, 403, "POST", PODS, NULL,
                                   POD("\"runtimeClassName\":\"nvidia-legacy\","));
    assert_string_equal(str(doc, "message", NULL, NULL),
                        "pods \"p\" is forbidden: pod rejected: RuntimeClass \"nvidia-legacy\" "
                        "not found");
    api_must(api, 201, "POST", "/apis/node.k8s.io/v1/runtimeclasses", NULL,
             "{\"metadata\":{\"name\":\"nvidia-legacy\"},\"handler\":\"runc\",\"scheduling\":"
             "{\"nodeSelector\":{\"gpu\":\"yes\"}}}");
    SW_AUTO_JSON *pod = api_expect(api, 201, "POST", PODS, NULL,
                                   POD("\"runtimeClassName\":\"nvidia-legacy\","));
    assert_string_equal(str(pod, "spec", "nodeSelector", "gpu"), "yes");
}

static void a_priority_class_gives_the_number(void **state)
{
    struct api *api = *state;
    SW_AUTO_JSON *none = api_expect(api, 403, "POST", PODS, NULL,
                                    POD("\"priorityClassName\":\"nope\","));
    assert_non_null(
        strstr(str(none, "message", NULL, NULL), "no PriorityClass with name nope was found"));
    SW_AUTO_JSON *doc = api_expect(api, 201, "POST", PODS, NULL,
                                   POD("\"priorityClassName\":\"system-node-critical\","));
    assert_int_equal(sw_json_int(doc, 0, "spec", "priority", NULL), 2000001000);
}

static void a_service_account_must_exist(void **state)
{
    struct api *api = *state;
    SW_AUTO_JSON *doc = api_expect(api, 403, "POST", PODS, NULL,
                                   POD("\"serviceAccountName\":\"nobody\","));
    assert_string_equal(str(doc, "message", NULL, NULL),
                        "pods \"p\" is forbidden: error looking up service account "
                        "default/nobody: serviceaccount \"nobody\" not found");
}

static void services_get_an_address_of_their_own(void **state)
{
    struct api *api = *state;
    SW_AUTO_JSON *doc = api_expect(api, 201, "POST", "/api/v1/namespaces/default/services", NULL,
                                   "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"ports\":[{\"port\":"
                                   "80}]}}");
    const char *ip = str(doc, "spec", "clusterIP", NULL);
    assert_true(sw_starts_with(ip, "10.96."));
    json_object *port = sw_json_at(sw_json_find(doc, "spec", "ports", NULL), 0);
    assert_int_equal(sw_json_int(port, 0, "targetPort", NULL), 80);
    assert_string_equal(str(port, "protocol", NULL, NULL), "TCP");
    SW_AUTO_JSON *kept = api_expect(api, 200, "PUT", "/api/v1/namespaces/default/services/s", NULL,
                                    "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"ports\":[{\"port\""
                                    ":81}]}}");
    assert_string_equal(str(kept, "spec", "clusterIP", NULL), ip);
}

static void a_quota_is_kept(void **state)
{
    struct api *api = *state;
    api_must(api, 201, "POST", "/api/v1/namespaces/default/resourcequotas", NULL,
             "{\"metadata\":{\"name\":\"q\"},\"spec\":{\"hard\":{\"pods\":\"1\",\"count/secrets\":"
             "\"0\"}}}");
    api_must(api, 201, "POST", PODS, NULL, POD(""));
    SW_AUTO_JSON *doc = api_expect(api, 403, "POST", PODS, NULL,
                                   "{\"metadata\":{\"name\":\"p2\"},\"spec\":{\"containers\":"
                                   "[{\"name\":\"c\",\"image\":\"i\"}]}}");
    assert_string_equal(str(doc, "message", NULL, NULL),
                        "pods \"p2\" is forbidden: exceeded quota: q, requested: pods=1, used: "
                        "pods=1, limited: pods=1");
    api_must(api, 403, "POST", "/api/v1/namespaces/default/secrets", NULL,
             "{\"metadata\":{\"name\":\"s\"}}");
}

static void what_a_quota_refuses_is_said_whole(void **state)
{
    static const struct {
        const char *containers, *message;
    } rows[] = {
        { "[{\"name\":\"b\",\"image\":\"i\"},{\"name\":\"a\",\"image\":\"i\",\"resources\":"
          "{\"requests\":{\"cpu\":\"1\"}}}]",
          "failed quota: q: must specify limits.cpu for: a,b; requests.cpu for: b" },
        { "[{\"name\":\"a\",\"image\":\"i\",\"resources\":{\"limits\":{\"cpu\":\"3\"}}}]",
          "exceeded quota: q, requested: limits.cpu=3,requests.cpu=3, used: "
          "limits.cpu=0,requests.cpu=0, limited: limits.cpu=2,requests.cpu=1" },
    };
    struct api *api = *state;
    api_must(api, 201, "POST", "/api/v1/namespaces/default/resourcequotas", NULL,
             "{\"metadata\":{\"name\":\"q\"},\"spec\":{\"hard\":{\"requests.cpu\":\"1\","
             "\"limits.cpu\":\"2\",\"pods\":\"3\"}}}");
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO_CHARS *pod = sw_printf(
            "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":%s}}", rows[i].containers);
        SW_AUTO_CHARS *message = sw_printf("pods \"p\" is forbidden: %s", rows[i].message);
        SW_AUTO_JSON *doc = api_expect(api, 403, "POST", PODS, NULL, pod);
        assert_string_equal(str(doc, "message", NULL, NULL), message);
    }
}

/* A quota of no pods at all, with these scopes: which of the pods it refuses. */
static void a_quota_with_scopes_counts_the_pods_that_they_match(void **state)
{
    static const char none[] = "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]";
    static const char some[] = "\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":"
                               "{\"requests\":{\"cpu\":\"1\"}}}]";
    static const char ends[] = "\"activeDeadlineSeconds\":5,\"containers\":[{\"name\":\"c\","
                               "\"image\":\"i\"}]";
    static const char urgent[] = "\"priorityClassName\":\"system-node-critical\",\"containers\":"
                                 "[{\"name\":\"c\",\"image\":\"i\"}]";
    static const char apart[] =
        "\"affinity\":{\"podAntiAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":"
        "[{\"topologyKey\":\"t\",\"namespaceSelector\":{},\"labelSelector\":{}}]}},"
        "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]";
#define CLASS(op, values)                                                                          \
    "\"scopeSelector\":{\"matchExpressions\":[{\"scopeName\":\"PriorityClass\",\"operator\":\"" op \
    "\"" values "}]}"
#define VALUES ",\"values\":[\"system-node-critical\"]"
    static const struct {
        const char *scopes, *refused, *taken;
    } rows[] = {
        { "\"scopes\":[\"BestEffort\"]", none, some },
        { "\"scopes\":[\"NotBestEffort\"]", some, none },
        { "\"scopes\":[\"Terminating\"]", ends, none },
        { "\"scopes\":[\"NotTerminating\"]", none, ends },
        { "\"scopes\":[\"CrossNamespacePodAffinity\"]", apart, none },
        { "\"scopes\":[\"BestEffort\",\"Terminating\"]", ends, none },
        { CLASS("In", VALUES), urgent, none },
        { CLASS("NotIn", VALUES), none, urgent },
        { CLASS("Exists", ""), urgent, none },
        { CLASS("DoesNotExist", ""), none, urgent },
    };
    struct api *api = *state;
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO_CHARS *quota = sw_printf(
            "{\"metadata\":{\"name\":\"q\"},\"spec\":{\"hard\":{\"pods\":\"0\"},%s}}",
            rows[i].scopes);
        SW_AUTO_CHARS *bad = sw_printf("{\"metadata\":{\"name\":\"bad\"},\"spec\":{%s}}",
                                       rows[i].refused);
        SW_AUTO_CHARS *good = sw_printf("{\"metadata\":{\"name\":\"good\"},\"spec\":{%s}}",
                                        rows[i].taken);
        api_must(api, 201, "POST", "/api/v1/namespaces/default/resourcequotas", NULL, quota);
        api_must(api, 403, "POST", PODS, NULL, bad);
        api_must(api, 201, "POST", PODS, NULL, good);
        api_must(api, 200, "DELETE", PODS "/good", "gracePeriodSeconds=0", NULL);
        api_must(api, 200, "DELETE", "/api/v1/namespaces/default/resourcequotas/q", NULL, NULL);
    }
}

static void a_quota_with_scopes_counts_nothing_but_pods(void **state)
{
    struct api *api = *state;
    api_must(api, 201, "POST", "/api/v1/namespaces/default/resourcequotas", NULL,
             "{\"metadata\":{\"name\":\"q\"},\"spec\":{\"hard\":{\"pods\":\"9\",\"secrets\":\"0\"},"
             "\"scopes\":[\"BestEffort\"]}}");
    api_must(api, 201, "POST", "/api/v1/namespaces/default/secrets", NULL,
             "{\"metadata\":{\"name\":\"s\"}}");
}

static void what_a_limit_range_fills_in_decides_the_class_of_a_pod(void **state)
{
    struct api *api = *state;
    api_must(api, 201, "POST", "/api/v1/namespaces/default/limitranges", NULL,
             "{\"metadata\":{\"name\":\"l\"},\"spec\":{\"limits\":[{\"type\":\"Container\","
             "\"default\":{\"memory\":\"1Gi\"}}]}}");
    SW_AUTO_JSON *doc = api_expect(api, 201, "POST", PODS, NULL, POD(""));
    assert_string_equal(str(doc, "status", "qosClass", NULL), "Burstable");
}

static void a_limit_range_fills_in_and_limits(void **state)
{
    struct api *api = *state;
    api_must(api, 201, "POST", "/api/v1/namespaces/default/limitranges", NULL,
             "{\"metadata\":{\"name\":\"l\"},\"spec\":{\"limits\":[{\"type\":\"Container\","
             "\"default\":{\"memory\":\"1Gi\"},\"max\":{\"memory\":\"2Gi\"}}]}}");
    SW_AUTO_JSON *doc = api_expect(api, 201, "POST", PODS, NULL, POD(""));
    json_object *c = sw_json_at(sw_json_find(doc, "spec", "containers", NULL), 0);
    assert_string_equal(str(c, "resources", "limits", "memory"), "1Gi");
    SW_AUTO_JSON *large = api_expect(
        api, 403, "POST", PODS, NULL,
        "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":"
        "\"i\",\"resources\":{\"limits\":{\"memory\":\"3Gi\"}}}]}}");
    assert_non_null(strstr(str(large, "message", NULL, NULL),
                           "maximum memory usage per Container is 2Gi, but limit is 3Gi"));
}

static void extended_resources_need_limits(void **state)
{
    struct api *api = *state;
    SW_AUTO_JSON *doc = api_expect(
        api, 422, "POST", PODS, NULL,
        "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":"
        "\"i\",\"resources\":{\"requests\":{\"nvidia.com/gpu\":\"1\"}}}]}}");
    assert_non_null(strstr(str(doc, "message", NULL, NULL),
                           "Limit must be set for non overcommitable resources"));
    SW_AUTO_JSON *pod = api_expect(
        api, 201, "POST", PODS, NULL,
        "{\"metadata\":{\"name\":\"y1\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":"
        "\"i\",\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"1\"}}}]}}");
    json_object *c = sw_json_at(sw_json_find(pod, "spec", "containers", NULL), 0);
    assert_string_equal(str(c, "resources", "requests", "nvidia.com/gpu"), "1");
}

static void types_are_told_as_go_tells_them(void **state)
{
    static const struct {
        const char *path, *body, *words;
    } cases[] = {
        { CONFIG_MAPS, "{\"metadata\":{\"name\":\"a\"},\"data\":{\"k\":1}}",
          "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal "
          "number into Go struct field ConfigMap.data of type string" },
        { CONFIG_MAPS, "{\"metadata\":{\"name\":\"a\",\"labels\":{\"k\":true}}}",
          "json: cannot unmarshal bool into Go struct field ObjectMeta.metadata.labels of type "
          "string" },
        { PODS,
          "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":"
          "\"i\",\"env\":[{\"name\":\"N\",\"value\":1}]}]}}",
          "json: cannot unmarshal number into Go struct field EnvVar.spec.containers.env.value of "
          "type string" },
        { PODS, "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":{}}}",
          "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type "
          "[]v1.Container" },
        { "/apis/apps/v1/namespaces/default/deployments",
          "{\"metadata\":{\"name\":\"d\"},\"spec\":{\"replicas\":\"2\"}}",
          "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of "
          "type int32" },
    };
    struct api *api = *state;
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        SW_AUTO_JSON *doc = api_expect(api, 400, "POST", cases[i].path, NULL, cases[i].body);
        if (!strstr(str(doc, "message", NULL, NULL), cases[i].words))
            fail_msg("%s: %s", cases[i].body, str(doc, "message", NULL, NULL));
    }
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
        T(pods_get_their_defaults),
        T(a_runtime_class_must_exist),
        T(a_priority_class_gives_the_number),
        T(a_service_account_must_exist),
        T(services_get_an_address_of_their_own),
        T(a_quota_is_kept),
        T(what_a_quota_refuses_is_said_whole),
        T(a_quota_with_scopes_counts_the_pods_that_they_match),
        T(a_quota_with_scopes_counts_nothing_but_pods),
        T(what_a_limit_range_fills_in_decides_the_class_of_a_pod),
        T(a_limit_range_fills_in_and_limits),
        T(extended_resources_need_limits),
        T(types_are_told_as_go_tells_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
