/* Admission webhooks, called for real: the server of the test is on the emulator's own loop, so an
 * answer can only come where the write waits for it without holding up the loop. */
#include "api.h"

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/http.h>
#include <sys/socket.h>

#include "data/text/base64.h"

struct world {
    struct api *api;
    struct evhttp *http;
    char *url;
    int n_calls;
    json_object *last; /* the last request */
    const char *patch; /* JSON patch to answer with; NULL: none */
    const char *deny;  /* words to refuse with; NULL: allowed */
    int http_status;   /* instead of an answer; 0: answer */
    bool silent, wrong_uid;
    struct evhttp_request *held;
};

static void reply(struct world *w, struct evhttp_request *req)
{
    struct evbuffer *out = evbuffer_new();
    size_t len;
    char *patch = w->patch ? sw_base64_encode(w->patch, strlen(w->patch), &len) : NULL;
    evbuffer_add_printf(
        out,
        "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\","
        "\"response\":{\"uid\":\"%s\",\"allowed\":%s%s%s%s%s%s%s}}",
        w->wrong_uid ? "other" : sw_json_str(w->last, "", "uid", NULL), w->deny ? "false" : "true",
        w->deny ? ",\"status\":{\"code\":403,\"message\":\"" : "", w->deny ? w->deny : "",
        w->deny ? "\"}" : "", patch ? ",\"patchType\":\"JSONPatch\",\"patch\":\"" : "",
        patch ? patch : "", patch ? "\"" : "");
    evhttp_send_reply(req, 200, "OK", out);
    evbuffer_free(out);
    free(patch);
}

static void on_review(struct evhttp_request *req, void *arg)
{
    struct world *w = arg;
    struct evbuffer *in = evhttp_request_get_input_buffer(req);
    size_t len = evbuffer_get_length(in);
    json_object *doc = NULL;
    assert_int_equal(sw_json_parse((char *)evbuffer_pullup(in, -1), len, NULL, &doc, NULL), 0);
    w->n_calls++;
    json_object_put(w->last);
    w->last = json_object_get(sw_json_get(doc, "request"));
    json_object_put(doc);
    if (w->silent)
        w->held = req;
    else if (w->http_status)
        evhttp_send_error(req, w->http_status, "no");
    else
        reply(w, req);
}

static int setup(void **state)
{
    struct world *w = *state = sw_zalloc(1, sizeof *w);
    w->api = api_open();
    w->http = evhttp_new(sw_loop_base(w->api->loop));
    evhttp_set_gencb(w->http, on_review, w);
    struct evhttp_bound_socket *s = evhttp_bind_socket_with_handle(w->http, "127.0.0.1", 0);
    struct sockaddr_in a;
    socklen_t len = sizeof a;
    assert_int_equal(getsockname(evhttp_bound_socket_get_fd(s), (struct sockaddr *)&a, &len), 0);
    w->url = sw_printf("http://127.0.0.1:%d/review", ntohs(a.sin_port));
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    json_object_put(w->last);
    free(w->url);
    evhttp_free(w->http);
    api_close(w->api);
    free(w);
    return 0;
}

#define CONFIGS "/apis/admissionregistration.k8s.io/v1/"
#define MAPS "/api/v1/namespaces/default/configmaps"

/* A configuration of one webhook for ConfigMaps; @more: fields, each with its comma. */
static void configure(struct world *w, const char *kind, const char *name, const char *more)
{
    SW_AUTO_CHARS *body = sw_printf(
        "{\"apiVersion\":\"admissionregistration.k8s.io/v1\",\"kind\":\"%sWebhookConfiguration\","
        "\"metadata\":{\"name\":\"%s\"},\"webhooks\":[{\"name\":\"%s.test.dev\",%s"
        "\"admissionReviewVersions\":[\"v1\"],\"sideEffects\":\"None\","
        "\"clientConfig\":{\"url\":\"%s\"},\"rules\":[{\"operations\":[\"*\"],\"apiGroups\":[\"\"],"
        "\"apiVersions\":[\"v1\"],\"resources\":[\"configmaps\"]}]}]}",
        kind, name, name, more, w->url);
    bool mutating = sw_streq(kind, "Mutating");
    api_must(w->api, 201, "POST",
             mutating ? CONFIGS "mutatingwebhookconfigurations"
                      : CONFIGS "validatingwebhookconfigurations",
             NULL, body);
}

static json_object *create(struct world *w, int code, const char *name, const char *more)
{
    SW_AUTO_CHARS *body = sw_printf("{\"metadata\":{\"name\":\"%s\"%s}}", name, more);
    return api_expect(w->api, code, "POST", MAPS, NULL, body);
}

static void a_patch_is_taken(void **state)
{
    struct world *w = *state;
    configure(w, "Mutating", "m", "");
    w->patch = "[{\"op\":\"add\",\"path\":\"/data\",\"value\":{\"a\":\"b\"}}]";
    json_object *doc = create(w, 201, "c", "");
    assert_string_equal(sw_json_str(doc, "", "data", "a", NULL), "b");
    assert_string_equal(sw_json_str(w->last, "", "operation", NULL), "CREATE");
    assert_string_equal(sw_json_str(w->last, "", "namespace", NULL), "default");
    /* what was asked about is what is stored */
    assert_string_equal(sw_json_str(w->last, "", "object", "metadata", "uid", NULL),
                        sw_json_str(doc, "-", "metadata", "uid", NULL));
    json_object_put(doc);
}

static void a_refusal_has_its_words_and_code(void **state)
{
    struct world *w = *state;
    configure(w, "Validating", "v", "");
    w->deny = "not today";
    json_object *doc = create(w, 403, "c", "");
    assert_string_equal(sw_json_str(doc, "", "message", NULL),
                        "admission webhook \"v.test.dev\" denied the request: not today");
    json_object_put(doc);
    api_must(w->api, 404, "GET", MAPS "/c", NULL, NULL);
}

static void updates_and_deletions_are_asked_about(void **state)
{
    struct world *w = *state;
    json_object_put(create(w, 201, "c", ""));
    configure(w, "Validating", "v", "");
    api_must(w->api, 200, "PATCH", MAPS "/c", "application/merge-patch+json",
             "{\"data\":{\"x\":\"y\"}}");
    assert_string_equal(sw_json_str(w->last, "", "operation", NULL), "UPDATE");
    assert_null(sw_json_find(w->last, "oldObject", "data", NULL));
    assert_string_equal(sw_json_str(w->last, "", "object", "data", "x", NULL), "y");
    w->deny = "keep it";
    api_must(w->api, 403, "DELETE", MAPS "/c", NULL, NULL);
    assert_string_equal(sw_json_str(w->last, "", "operation", NULL), "DELETE");
    w->deny = NULL;
    api_must(w->api, 200, "DELETE", MAPS "/c", NULL, NULL);
}

static void apply_is_asked_about(void **state)
{
    struct world *w = *state;
    configure(w, "Mutating", "m", "");
    w->patch = "[{\"op\":\"add\",\"path\":\"/metadata/labels\",\"value\":{\"by\":\"hook\"}}]";
    json_object *doc = api_expect(
        w->api, 201, "PATCH", MAPS "/c?fieldManager=t", "application/apply-patch+yaml",
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {k: v}}");
    assert_string_equal(sw_json_str(doc, "", "metadata", "labels", "by", NULL), "hook");
    json_object_put(doc);
}

static void failure_policy_decides(void **state)
{
    struct world *w = *state;
    configure(w, "Validating", "v", "");
    w->http_status = 500;
    json_object *doc = create(w, 500, "c", "");
    assert_non_null(strstr(sw_json_str(doc, "", "message", NULL),
                           "failed calling webhook \"v.test.dev\": failed to call webhook: Post"));
    json_object_put(doc);
    w->http_status = 0;
    w->wrong_uid = true;
    json_object_put(create(w, 500, "c", ""));
    api_must(w->api, 200, "PATCH", CONFIGS "validatingwebhookconfigurations/v",
             "application/json-patch+json",
             "[{\"op\":\"replace\",\"path\":\"/webhooks/0/failurePolicy\",\"value\":\"Ignore\"}]");
    json_object_put(create(w, 201, "c", ""));
}

static void silence_ends_with_the_timeout(void **state)
{
    struct world *w = *state;
    configure(w, "Validating", "v", "\"timeoutSeconds\":1,");
    w->silent = true;
    json_object_put(create(w, 500, "c", ""));
    assert_int_equal(w->n_calls, 1);
    reply(w, w->held);
}

static void selectors_and_conditions_narrow(void **state)
{
    struct world *w = *state;
    configure(w, "Validating", "v",
              "\"objectSelector\":{\"matchLabels\":{\"ask\":\"yes\"}},"
              "\"matchConditions\":[{\"name\":\"n\",\"expression\":"
              "\"object.metadata.name != 'free' && !has(object.metadata.annotations)\"}],");
    json_object_put(create(w, 201, "plain", ""));
    json_object_put(create(w, 201, "free", ",\"labels\":{\"ask\":\"yes\"}"));
    json_object_put(
        create(w, 201, "noted", ",\"labels\":{\"ask\":\"yes\"},\"annotations\":{\"a\":\"b\"}"));
    assert_int_equal(w->n_calls, 0);
    json_object_put(create(w, 201, "asked", ",\"labels\":{\"ask\":\"yes\"}"));
    assert_int_equal(w->n_calls, 1);
}

/* Of {"metadata": {"name": "c", "labels": {"a/b": "x"}}, "data": {"k": "v"}}. */
static void conditions_walk_lists_maps_and_optionals(void **state)
{
    static const struct {
        const char *expression;
        int calls; /* -1: it cannot be said, which is an error */
    } rows[] = {
        { "object.data.exists(k, k == 'k')", 1 },
        { "object.data.exists(k, k == 'v')", 0 },
        { "object.metadata.labels.exists(k, k.startsWith('a/') || k.startsWith('z'))", 1 },
        { "object.?binaryData.orValue({}).exists(k, true)", 0 },
        { "!object.?binaryData.?deep.orValue({}).exists(k, true) && true", 1 },
        { "object.?data.?k.orValue('no') == 'v'", 1 },
        { "object.?data.?x.orValue('n' + 'o') == 'no'", 1 },
        { "([] + object.?list.orValue([])).exists(c, c.x.exists(k, k == ''))", 0 },
        { "object.data.exists(k, object.metadata.labels.exists(l, l != k && k == 'k'))", 1 },
        { "object.binaryData.exists(k, true)", -1 },
        { "object.data.exists(k, object.nothing == k) || true", 1 },
        { "object.data.exists(k, object.nothing == k)", -1 },
        { "object.data.map(k, k) == ['x']", 0 },
        { "object.data.filter(k, object.data[k] == '\\\\u0076').size() == 1", 1 },
        { "object.data.size() == 7", 0 },
        { "object.data.all(k, k == 'k') && size(object.data) < 2", 1 },
        { "object.data.all(k, k == 'v')", 0 },
        { "object.data.k in ['u', 'v'] ? object.data.k.matches('^v$') : false", 1 },
        { "object.data.k.contains('x') || object.data.k.endsWith('w')", 0 },
    };
    struct world *w = *state;
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO_CHARS *more = sw_printf("\"matchConditions\":[{\"name\":\"n\",\"expression\":"
                                        "\"%s\"}],",
                                        rows[i].expression);
        configure(w, "Validating", "v", more);
        w->n_calls = 0;
        api_must(w->api, rows[i].calls < 0 ? 500 : 201, "POST", MAPS "?dryRun=All", NULL,
                 "{\"metadata\":{\"name\":\"c\",\"labels\":{\"a/b\":\"x\"}},\"data\":{\"k\":"
                 "\"v\"}}");
        if (w->n_calls != (rows[i].calls > 0))
            fail_msg("%s: %d calls", rows[i].expression, (int)w->n_calls);
        api_must(w->api, 200, "DELETE", CONFIGS "validatingwebhookconfigurations/v", NULL, NULL);
    }
}

static void a_condition_that_does_not_compile_is_refused(void **state)
{
    struct world *w = *state;
    json_object *doc = api_expect(
        w->api, 422, "POST", CONFIGS "validatingwebhookconfigurations", NULL,
        "{\"metadata\":{\"name\":\"v\"},\"webhooks\":[{\"name\":\"v.test.dev\",\"sideEffects\":"
        "\"None\",\"admissionReviewVersions\":[\"v1\"],\"clientConfig\":{\"url\":\"https://a\"},"
        "\"matchConditions\":[{\"name\":\"n\",\"expression\":\"params.x == 1\"}]}]}");
    assert_string_equal(
        sw_json_str(doc, "", "message", NULL),
        "ValidatingWebhookConfiguration.admissionregistration.k8s.io \"v\" is invalid: "
        "webhooks[0].matchConditions[0].expression: Invalid value: \"params.x == 1\": compilation "
        "failed: ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\n"
        " | params.x == 1\n | ^");
    json_object_put(doc);
}

static void a_namespace_is_chosen_by_its_labels(void **state)
{
    struct world *w = *state;
    configure(w, "Validating", "v",
              "\"namespaceSelector\":{\"matchExpressions\":[{\"key\":\"off\",\"operator\":"
              "\"DoesNotExist\"}]},");
    json_object_put(create(w, 201, "a", ""));
    assert_int_equal(w->n_calls, 1);
    api_must(w->api, 200, "PATCH", "/api/v1/namespaces/default", "application/merge-patch+json",
             "{\"metadata\":{\"labels\":{\"off\":\"\"}}}");
    json_object_put(create(w, 201, "b", ""));
    assert_int_equal(w->n_calls, 1);
}

static void dry_run_needs_a_webhook_without_side_effects(void **state)
{
    struct world *w = *state;
    configure(w, "Validating", "v", "");
    api_must(w->api, 201, "POST", MAPS "?dryRun=All", NULL, "{\"metadata\":{\"name\":\"c\"}}");
    assert_true(sw_json_bool(w->last, false, "dryRun", NULL));
    api_must(w->api, 200, "PATCH", CONFIGS "validatingwebhookconfigurations/v",
             "application/json-patch+json",
             "[{\"op\":\"replace\",\"path\":\"/webhooks/0/sideEffects\",\"value\":\"Some\"}]");
    api_must(w->api, 400, "POST", MAPS "?dryRun=All", NULL, "{\"metadata\":{\"name\":\"c\"}}");
    assert_int_equal(w->n_calls, 1);
}

/* The first wants to see what the second made of it. */
static void an_earlier_one_is_asked_again(void **state)
{
    struct world *w = *state;
    configure(w, "Mutating", "a", "\"reinvocationPolicy\":\"IfNeeded\",");
    json_object_put(create(w, 201, "one", ""));
    assert_int_equal(w->n_calls, 1); /* nobody changed it */
    configure(w, "Mutating", "b", "");
    w->n_calls = 0;
    w->patch = "[{\"op\":\"add\",\"path\":\"/data\",\"value\":{\"a\":\"b\"}}]";
    json_object_put(create(w, 201, "two", ""));
    assert_int_equal(w->n_calls, 2); /* the second changed nothing that the first had not */
}

/* Emulated pods answer for a service without an address, while one is ready. */
static void a_service_answers_as_its_pods_do(void **state)
{
    struct world *w = *state;
    free(w->url);
    w->url = sw_strdup("");
    SW_AUTO_CHARS *service = sw_strdup(
        "{\"apiVersion\":\"admissionregistration.k8s.io/v1\",\"kind\":"
        "\"ValidatingWebhookConfiguration\",\"metadata\":{\"name\":\"s\"},\"webhooks\":[{\"name\":"
        "\"s.test.dev\",\"admissionReviewVersions\":[\"v1\"],\"sideEffects\":\"None\","
        "\"clientConfig\":{\"service\":{\"namespace\":\"default\",\"name\":\"hook\"}},\"rules\":[{"
        "\"operations\":[\"*\"],\"apiGroups\":[\"\"],\"apiVersions\":[\"v1\"],\"resources\":["
        "\"configmaps\"]}]}]}");
    api_must(w->api, 201, "POST", CONFIGS "validatingwebhookconfigurations", NULL, service);
    json_object *doc = create(w, 500, "c", "");
    assert_non_null(strstr(sw_json_str(doc, "", "message", NULL), "service \"hook\" not found"));
    json_object_put(doc);
    api_must(w->api, 201, "POST", "/api/v1/namespaces/default/services", NULL,
             "{\"metadata\":{\"name\":\"hook\"},\"spec\":{\"ports\":[{\"port\":443}]}}");
    json_object_put(create(w, 500, "c", ""));
    api_must(
        w->api, 201, "POST", "/api/v1/namespaces/default/endpoints", NULL,
        "{\"metadata\":{\"name\":\"hook\"},\"subsets\":[{\"addresses\":[{\"ip\":\"10.0.0.9\"}],"
        "\"ports\":[{\"port\":443}]}]}");
    json_object_put(create(w, 201, "c", ""));
}

static void an_address_must_be_one(void **state)
{
    static const char *const wrong[] = { "a",      "a/b",    "a/b=",   "a/b=host",
                                         "/b=h:1", "a/=h:1", "a/b=:1", "a/b=h:x" };
    (void)state;
    for (size_t i = 0; i < SW_COUNT(wrong); i++) {
        SW_ERR(err);
        struct sw_emulator *emu = NULL;
        struct sw_loop *loop = sw_loop_new(NULL);
        struct sw_emulator_opts opts = { .webhook_addresses = wrong[i] };
        assert_int_equal(sw_emulator_open(loop, &opts, &emu, &err), SW_INVALID);
        assert_non_null(strstr(sw_err_text(&err), "NAMESPACE/SERVICE=HOST:PORT"));
        sw_loop_free(loop);
    }
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_patch_is_taken),
        T(a_refusal_has_its_words_and_code),
        T(updates_and_deletions_are_asked_about),
        T(apply_is_asked_about),
        T(failure_policy_decides),
        T(silence_ends_with_the_timeout),
        T(selectors_and_conditions_narrow),
        T(conditions_walk_lists_maps_and_optionals),
        T(a_condition_that_does_not_compile_is_refused),
        T(a_namespace_is_chosen_by_its_labels),
        T(dry_run_needs_a_webhook_without_side_effects),
        T(an_earlier_one_is_asked_again),
        T(a_service_answers_as_its_pods_do),
        cmocka_unit_test(an_address_must_be_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
