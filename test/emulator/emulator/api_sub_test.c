/* Patches and subresources: scale, log, eviction, binding, token, reviews; events in both groups.
 */
#include "emulator/emulator/api.h"

#define PODS "/api/v1/namespaces/default/pods"
#define DEPLOYMENTS "/apis/apps/v1/namespaces/default/deployments"
#define DEPLOYMENT                                                                                 \
    "{\"metadata\":{\"name\":\"d\"},\"spec\":{\"replicas\":2,\"selector\":{\"matchLabels\":"       \
    "{\"a\":\"b\"}},\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":"               \
    "{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}"

static void make_pod(struct api *api, const char *name)
{
    SW_AUTO_CHARS *body = sw_printf("{\"metadata\":{\"name\":\"%s\",\"labels\":{\"a\":\"b\"}},"
                                    "\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"},"
                                    "{\"name\":\"d\",\"image\":\"i\"}]}}",
                                    name);
    api_must(api, 201, "POST", PODS, NULL, body);
}

/* ---- patches ------------------------------------------------------------------------------------
 */

static void json_patches_are_all_or_nothing(void **state)
{
    struct api *api = *state;
    api_must(api, 201, "POST", CONFIG_MAPS, NULL,
             "{\"metadata\":{\"name\":\"a\"},\"data\":{\"k\":\"v\"}}");
    SW_AUTO_JSON *bad = api_expect(
        api, 422, "PATCH", CONFIG_MAPS "/a", JSON_PATCH,
        "[{\"op\":\"add\",\"path\":\"/data/x\",\"value\":\"1\"},{\"op\":\"test\",\"path\":"
        "\"/data/k\",\"value\":\"other\"}]");
    assert_string_equal(str(bad, "reason", NULL, NULL), "Invalid");
    api_must(api, 422, "PATCH", CONFIG_MAPS "/a", JSON_PATCH,
             "[{\"op\":\"remove\",\"path\":\"/data/none\"}]");
    api_must(api, 400, "PATCH", CONFIG_MAPS "/a", JSON_PATCH, "{\"op\":\"add\"}");
    SW_AUTO_JSON *doc = api_expect(api, 200, "PATCH", CONFIG_MAPS "/a", JSON_PATCH,
                                   "[{\"op\":\"replace\",\"path\":\"/data/k\",\"value\":\"w\"}]");
    assert_string_equal(str(doc, "data", "k", NULL), "w");
    assert_null(sw_json_find(doc, "data", "x", NULL));
}

static void strategic_patches_merge_lists(void **state)
{
    struct api *api = *state;
    api_must(api, 201, "POST", DEPLOYMENTS, NULL, DEPLOYMENT);
    SW_AUTO_JSON *doc = api_expect(
        api, 200, "PATCH", DEPLOYMENTS "/d", STRATEGIC_PATCH,
        "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"j\"},"
        "{\"name\":\"e\",\"image\":\"k\"}]}}}}");
    json_object *list = sw_json_find(doc, "spec", "template", "spec", "containers", NULL);
    assert_int_equal(sw_json_len(list), 2);
    assert_string_equal(str(sw_json_find_by(list, "name", "c"), "image", NULL, NULL), "j");
}

static void a_patch_may_name_the_version_it_is_for(void **state)
{
    struct api *api = *state;
    api_must(api, 201, "POST", CONFIG_MAPS, NULL, "{\"metadata\":{\"name\":\"a\"}}");
    api_must(api, 409, "PATCH", CONFIG_MAPS "/a", MERGE_PATCH,
             "{\"metadata\":{\"resourceVersion\":\"1\"},\"data\":{\"k\":\"v\"}}");
    api_must(api, 409, "PATCH", CONFIG_MAPS "/a", MERGE_PATCH,
             "{\"metadata\":{\"uid\":\"other\"},\"data\":{\"k\":\"v\"}}");
    api_must(api, 404, "PATCH", CONFIG_MAPS "/none", MERGE_PATCH, "{}");
}

static void managed_fields_can_be_patched_away(void **state)
{
    struct api *api = *state;
    api_must(api, 201, "POST", CONFIG_MAPS, NULL,
             "{\"metadata\":{\"name\":\"a\"},\"data\":{\"k\":\"v\"}}");
    SW_AUTO_JSON *doc = api_expect(
        api, 200, "PATCH", CONFIG_MAPS "/a", JSON_PATCH,
        "[{\"op\":\"replace\",\"path\":\"/metadata/managedFields\",\"value\":[]}]");
    assert_null(sw_json_find(doc, "metadata", "managedFields", NULL));
}

/* ---- subresources -------------------------------------------------------------------------------
 */

static void scale_shows_and_sets_replicas(void **state)
{
    struct api *api = *state;
    api_must(api, 201, "POST", DEPLOYMENTS, NULL, DEPLOYMENT);
    SW_AUTO_JSON *scale = api_expect(api, 200, "GET", DEPLOYMENTS "/d/scale", NULL, NULL);
    assert_int_equal(sw_json_int(scale, 0, "spec", "replicas", NULL), 2);
    assert_string_equal(str(scale, "status", "selector", NULL), "a=b");
    sw_json_set(scale, json_object_new_int(6), "spec", "replicas", NULL);
    SW_AUTO_CHARS *body = sw_json_text(scale, SW_JSON_PLAIN, NULL);
    SW_AUTO_JSON *after = api_expect(api, 200, "PUT", DEPLOYMENTS "/d/scale", NULL, body);
    assert_int_equal(sw_json_int(after, 0, "spec", "replicas", NULL), 6);
    api_must(api, 409, "PUT", DEPLOYMENTS "/d/scale", NULL, body);
    api_must(api, 422, "PATCH", DEPLOYMENTS "/d/scale", MERGE_PATCH,
             "{\"spec\":{\"replicas\":-1}}");
    api_must(api, 404, "GET", CONFIG_MAPS "/a/scale", NULL, NULL);
}

static int logs(void *arg, json_object *pod, const char *container, bool previous, char **text)
{
    (void)arg;
    if (previous)
        return SW_NOTFOUND;
    if (strcmp(container, "d") == 0)
        return SW_PENDING;
    *text = sw_printf("one\ntwo of %s\nthree\n", sw_obj_name(pod));
    return 0;
}

static void logs_are_what_who_runs_the_pods_says(void **state)
{
    struct api *api = *state;
    sw_store_set_logs(api->store, logs, NULL);
    make_pod(api, "p");
    int64_t began_ms = sw_monotonic_ms();
    ANSWER(all) = api_get(api, PODS "/p/log?container=c");
    assert_string_equal(all.text, "one\ntwo of p\nthree\n");
    assert_true(sw_monotonic_ms() - began_ms >= 9); /* the end does not come with the text */
    assert_non_null(strstr(all.headers, "Transfer-Encoding: chunked"));
    ANSWER(tail) = api_get(api, PODS "/p/log?container=c&tailLines=2");
    assert_string_equal(tail.text, "two of p\nthree\n");
    SW_AUTO_JSON *which = api_expect(api, 400, "GET", PODS "/p/log", NULL, NULL);
    assert_string_equal(str(which, "message", NULL, NULL),
                        "a container name must be specified for pod p, choose one of: [c d]");
    SW_AUTO_JSON *early = api_expect(api, 400, "GET", PODS "/p/log?container=d", NULL, NULL);
    assert_string_equal(str(early, "message", NULL, NULL),
                        "container \"d\" in pod \"p\" is waiting to start: ContainerCreating");
    SW_AUTO_JSON *before = api_expect(api, 400, "GET", PODS "/p/log?container=c&previous=true",
                                      NULL, NULL);
    assert_non_null(strstr(str(before, "message", NULL, NULL), "previous terminated container"));
    api_must(api, 404, "GET", PODS "/none/log", NULL, NULL);
}

/* What the pod's annotation says that its log is by now. */
static int growing_logs(void *arg, json_object *pod, const char *container, bool previous,
                        char **text)
{
    (void)arg;
    (void)container;
    (void)previous;
    *text = sw_strdup(str(pod, "metadata", "annotations", "log"));
    return 0;
}

static void patch_pod(struct api *api, const char *path, const char *patch)
{
    api_must(api, 200, "PATCH", path, MERGE_PATCH, patch);
}

static void a_log_is_followed_until_its_container_ends(void **state)
{
    struct api *api = *state;
    sw_store_set_logs(api->store, growing_logs, NULL);
    make_pod(api, "p");
    patch_pod(api, PODS "/p", "{\"metadata\":{\"annotations\":{\"log\":\"one\\ntwo\\n\"}}}");
    struct call *c = api_begin(api, "GET", PODS "/p/log?container=c&follow=true&tailLines=1", NULL,
                               NULL, NULL);
    api_lines(c, 1);
    assert_string_equal(c->answer.text, "two\n");
    patch_pod(api, PODS "/p",
              "{\"metadata\":{\"annotations\":{\"log\":\"one\\ntwo\\nthree\\n\"}}}");
    api_lines(c, 2);
    assert_string_equal(c->answer.text, "two\nthree\n");
    patch_pod(api, PODS "/p/status",
              "{\"status\":{\"containerStatuses\":[{\"name\":\"c\",\"ready\":false,"
              "\"restartCount\":0,\"image\":\"i\",\"imageID\":\"\",\"state\":{\"terminated\":"
              "{\"exitCode\":0}}}]}}");
    ANSWER(whole) = api_finish(c);
    assert_int_equal(whole.code, 200);
    assert_string_equal(whole.text, "two\nthree\n");
}

static void a_log_that_is_followed_ends_with_its_pod(void **state)
{
    struct api *api = *state;
    sw_store_set_logs(api->store, logs, NULL);
    make_pod(api, "p");
    struct call *c = api_begin(api, "GET", PODS "/p/log?container=c&follow=true", NULL, NULL, NULL);
    api_lines(c, 3);
    api_must(api, 200, "DELETE", PODS "/p?gracePeriodSeconds=0", NULL, NULL);
    ANSWER(whole) = api_finish(c);
    assert_int_equal(whole.code, 200);
    assert_null(sw_store_kind(api->store, "", "Pod")->shelf->watchers);
}

static void make_ready(struct api *api, const char *name)
{
    SW_AUTO_CHARS *path = sw_printf(PODS "/%s/status", name);
    make_pod(api, name);
    api_must(api, 200, "PATCH", path, MERGE_PATCH,
             "{\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":"
             "\"True\"}]}}");
}

static void a_budget_stops_evictions(void **state)
{
    struct api *api = *state;
    static const char eviction[] = "{\"apiVersion\":\"policy/v1\",\"kind\":\"Eviction\","
                                   "\"metadata\":{\"name\":\"p\"}}";
    make_ready(api, "p");
    make_ready(api, "q");
    api_must(api, 201, "POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets", NULL,
             "{\"metadata\":{\"name\":\"b\"},\"spec\":{\"minAvailable\":1,\"selector\":"
             "{\"matchLabels\":{\"a\":\"b\"}}}}");
    api_must(api, 201, "POST", PODS "/p/eviction", NULL, eviction);
    SW_AUTO_JSON *doc = api_expect(api, 429, "POST", PODS "/q/eviction", NULL, eviction);
    assert_string_equal(str(doc, "message", NULL, NULL),
                        "Cannot evict pod as it would violate the pod's disruption budget.");
    assert_string_equal(
        str(sw_json_at(sw_json_find(doc, "details", "causes", NULL), 0), "reason", NULL, NULL),
        "DisruptionBudget");
    api_must(api, 429, "POST", PODS "/q/eviction", NULL, /* as kubectl 1.20 asks */
             "{\"apiVersion\":\"policy/v1beta1\",\"kind\":\"Eviction\",\"metadata\":{\"name\":"
             "\"q\"}}");
    api_must(api, 400, "POST", PODS "/q/eviction", NULL,
             "{\"apiVersion\":\"policy/v2\",\"kind\":\"Eviction\"}");
}

static void a_pod_is_bound_once(void **state)
{
    struct api *api = *state;
    make_pod(api, "p");
    api_must(api, 201, "POST", PODS "/p/binding", NULL,
             "{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{\"name\":\"p\"},"
             "\"target\":{\"kind\":\"Node\",\"name\":\"n\"}}");
    SW_AUTO_JSON *pod = api_expect(api, 200, "GET", PODS "/p", NULL, NULL);
    assert_string_equal(str(pod, "spec", "nodeName", NULL), "n");
    assert_string_equal(str(sw_obj_condition(pod, "PodScheduled"), "status", NULL, NULL), "True");
    SW_AUTO_JSON *again = api_expect(api, 409, "POST", PODS "/p/binding", NULL,
                                     "{\"target\":{\"name\":\"m\"}}");
    assert_non_null(strstr(str(again, "message", NULL, NULL), "is already assigned to node \"n\""));
}

static void a_pod_stays_what_it_is(void **state)
{
    struct api *api = *state;
    make_pod(api, "p");
    SW_AUTO_JSON *doc = api_expect(api, 422, "PATCH", PODS "/p", MERGE_PATCH,
                                   "{\"spec\":{\"dnsPolicy\":\"Default\"}}");
    assert_non_null(strstr(str(doc, "message", NULL, NULL),
                           "spec: Forbidden: pod updates may not change fields other than"));
    api_must(api, 200, "PATCH", PODS "/p", STRATEGIC_PATCH,
             "{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"j\"}]}}");
}

static void tokens_and_reviews_are_answered(void **state)
{
    struct api *api = *state;
    SW_AUTO_JSON *token = api_expect(api, 201, "POST",
                                     "/api/v1/namespaces/default/serviceaccounts/default/token",
                                     NULL, "{\"spec\":{\"expirationSeconds\":600}}");
    assert_true(str(token, "status", "token", NULL)[0]);
    SW_AUTO_JSON *review = api_expect(
        api, 201, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", NULL,
        "{\"spec\":{\"resourceAttributes\":{\"verb\":\"get\",\"resource\":\"pods\"}}}");
    assert_true(sw_json_bool(review, false, "status", "allowed", NULL));
    api_must(api, 405, "GET", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", NULL, NULL);
}

static void events_have_two_faces(void **state)
{
    struct api *api = *state;
    api_must(api, 201, "POST", "/apis/events.k8s.io/v1/namespaces/default/events", NULL,
             "{\"metadata\":{\"name\":\"e\"},\"regarding\":{\"kind\":\"Pod\",\"name\":\"p\"},"
             "\"note\":\"hello\",\"reason\":\"R\",\"type\":\"Normal\",\"reportingController\":"
             "\"me\"}");
    SW_AUTO_JSON *core = api_expect(api, 200, "GET", "/api/v1/namespaces/default/events/e", NULL,
                                    NULL);
    assert_string_equal(str(core, "message", NULL, NULL), "hello");
    assert_string_equal(str(core, "involvedObject", "name", NULL), "p");
    assert_string_equal(str(core, "reportingComponent", NULL, NULL), "me");
    SW_AUTO_JSON *list = api_expect(
        api, 200, "GET", "/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Dp",
        NULL, NULL);
    assert_int_equal(sw_json_len(sw_json_get(list, "items")), 1);
    SW_AUTO_JSON *other = api_expect(
        api, 200, "GET",
        "/apis/events.k8s.io/v1/namespaces/default/events?fieldSelector=regarding.name%3Dp", NULL,
        NULL);
    assert_int_equal(sw_json_len(sw_json_get(other, "items")), 1);
    assert_string_equal(str(sw_json_at(sw_json_get(other, "items"), 0), "note", NULL, NULL),
                        "hello");
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
        T(json_patches_are_all_or_nothing),
        T(strategic_patches_merge_lists),
        T(a_patch_may_name_the_version_it_is_for),
        T(managed_fields_can_be_patched_away),
        T(scale_shows_and_sets_replicas),
        T(logs_are_what_who_runs_the_pods_says),
        T(a_log_is_followed_until_its_container_ends),
        T(a_log_that_is_followed_ends_with_its_pod),
        T(a_budget_stops_evictions),
        T(a_pod_is_bound_once),
        T(a_pod_stays_what_it_is),
        T(tokens_and_reviews_are_answered),
        T(events_have_two_faces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
