/* The mutation as a function: what a pod asks for, what comes back. The patch is applied and the
 * result looked at, so that a patch that says the right thing in other words passes too. */
#include "slicing/webhook/webhook.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <openssl/evp.h>

#include "data/data.h"
#include "unit/data/data_util.h"

static const struct sw_webhook_policy defaults = { .scheduler_name = "das-scheduler",
                                                   .runtime_class = "nvidia-legacy" };

static char *review_of(const char *version, const char *spec)
{
    return sw_printf(
        "{\"apiVersion\":\"admission.k8s.io/%s\",\"kind\":\"AdmissionReview\","
        "\"request\":{\"uid\":\"u-1\",\"operation\":\"CREATE\",\"dryRun\":true,"
        "\"kind\":{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Pod\"},"
        "\"namespace\":\"ns\",\"object\":{\"metadata\":{\"name\":\"p\"},\"spec\":%s}}}",
        version, spec);
}

/* Both ways in: the whole document, and the bytes. @return the response's document */
static struct json_object *answer(const struct sw_webhook_policy *policy, const char *review,
                                  enum sw_webhook_outcome *outcome)
{
    SW_AUTO_JSON *doc = parse(review);
    SW_ERR(err);
    struct json_object *out = NULL;
    if (sw_webhook_mutate(policy, doc, &out, outcome, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    SW_AUTO(sw_webhook_reader) *reader = sw_webhook_reader_new(policy);
    struct sw_webhook_answer a = { 0 };
    assert_int_equal(sw_webhook_read(reader, review, strlen(review), &a, &err), 0);
    SW_AUTO_JSON *again = parse(a.text);
    assert_true(sw_json_equal(out, again));
    assert_int_equal(a.outcome, *outcome);
    assert_int_equal(a.pod != NULL, *outcome != SW_WEBHOOK_UNCHANGED);
    sw_webhook_answer_done(&a);
    assert_string_equal(sw_json_str(out, "", "response", "uid", NULL), "u-1");
    assert_string_equal(sw_json_str(out, "", "kind", NULL), "AdmissionReview");
    return out;
}

/* The pod's spec after the answer's patch. */
static struct json_object *patched(const char *review, struct json_object *response, size_t *n_ops)
{
    SW_AUTO_JSON *doc = parse(review);
    struct json_object *object = sw_json_find(doc, "request", "object", NULL);
    const char *encoded = sw_json_str(response, NULL, "response", "patch", NULL);
    *n_ops = 0;
    if (!encoded)
        return json_object_get(sw_json_get(object, "spec"));
    assert_string_equal(sw_json_str(response, "", "response", "patchType", NULL), "JSONPatch");
    char text[8192];
    assert_true(strlen(encoded) < sizeof text);
    int n = EVP_DecodeBlock((unsigned char *)text, (const unsigned char *)encoded,
                            (int)strlen(encoded));
    assert_true(n > 0);
    while (n > 0 && text[n - 1] == '\0')
        n--;
    text[n] = '\0';
    SW_AUTO_JSON *patch = parse(text), *result = NULL;
    SW_ERR(err);
    *n_ops = sw_json_len(patch);
    if (sw_jsonpatch_apply(object, patch, &result, &err) < 0)
        fail_msg("%s: %s", text, sw_err_text(&err));
    return json_object_get(sw_json_get(result, "spec"));
}

#define C(resources) "{\"containers\":[{\"name\":\"a\",\"resources\":" resources "}]"
#define DAS ",\"schedulerName\":\"das-scheduler\",\"runtimeClassName\":\"nvidia-legacy\"}"

static const struct row {
    const char *what, *spec, *expected; /* NULL: unchanged */
} rows[] = {
    { "a limit is renamed, its request made equal",
      C("{\"limits\":{\"nvidia.com/mig-1g.5gb\":\"1\"}}") "}",
      C("{\"limits\":{\"mig.das.com/1g.5gb\":\"1\"},\"requests\":{\"mig.das.com/"
        "1g.5gb\":\"1\"}}") DAS },
    { "limit and request",
      C("{\"limits\":{\"cpu\":\"2\",\"nvidia.com/mig-1g.5gb\":\"2\"},"
        "\"requests\":{\"cpu\":\"1\",\"nvidia.com/mig-1g.5gb\":\"2\"}}") "}",
      C("{\"limits\":{\"cpu\":\"2\",\"mig.das.com/1g.5gb\":\"2\"},"
        "\"requests\":{\"cpu\":\"1\",\"mig.das.com/1g.5gb\":\"2\"}}") DAS },
    { "only a request", C("{\"requests\":{\"nvidia.com/mig-2g.10gb\":1}}") "}",
      C("{\"requests\":{\"nvidia.com/mig-2g.10gb\":1}}") "}" },
    { "a request that differs becomes the limit",
      C("{\"limits\":{\"mig.das.com/1g.5gb\":\"2\"},\"requests\":{\"mig.das.com/"
        "1g.5gb\":\"1\"}}") "}",
      C("{\"limits\":{\"mig.das.com/1g.5gb\":\"2\"},\"requests\":{\"mig.das.com/"
        "1g.5gb\":\"2\"}}") DAS },
    { "media extensions, as NVIDIA's plugin writes them",
      C("{\"limits\":{\"nvidia.com/mig-1g.5gb.me\":\"1\"}}") "}",
      C("{\"limits\":{\"mig.das.com/1g.5gb-plus-me\":\"1\"},"
        "\"requests\":{\"mig.das.com/1g.5gb-plus-me\":\"1\"}}") DAS },
    { "several profiles in one container",
      C("{\"limits\":{\"nvidia.com/mig-1g.5gb\":\"3\",\"nvidia.com/mig-3g.20gb\":\"1\"}}") "}",
      C("{\"limits\":{\"mig.das.com/1g.5gb\":\"3\",\"mig.das.com/3g.20gb\":\"1\"},"
        "\"requests\":{\"mig.das.com/1g.5gb\":\"3\",\"mig.das.com/3g.20gb\":\"1\"}}") DAS },
    { "our own names stay",
      C("{\"limits\":{\"mig.das.com/1g.5gb\":\"1\"},"
        "\"requests\":{\"mig.das.com/1g.5gb\":\"1\"}}") "}",
      C("{\"limits\":{\"mig.das.com/1g.5gb\":\"1\"},\"requests\":{\"mig.das.com/"
        "1g.5gb\":\"1\"}}") DAS },
    { "our own prefix before NVIDIA's way of writing",
      C("{\"limits\":{\"mig.das.com/mig-1g.5gb\":\"1\"}}") "}",
      C("{\"limits\":{\"mig.das.com/1g.5gb\":\"1\"},\"requests\":{\"mig.das.com/"
        "1g.5gb\":\"1\"}}") DAS },
    { "the user's scheduler and class are overridden",
      C("{\"limits\":{\"nvidia.com/mig-1g.5gb\":\"1\"}}") ",\"schedulerName\":\"mine\","
                                                          "\"runtimeClassName\":\"kata\"}",
      C("{\"limits\":{\"mig.das.com/1g.5gb\":\"1\"},\"requests\":{\"mig.das.com/"
        "1g.5gb\":\"1\"}}") DAS },
    { "scheduling gates stay closed",
      C("{\"limits\":{\"nvidia.com/mig-1g.5gb\":\"1\"}}") ",\"schedulingGates\":[{\"name\":"
                                                          "\"kueue\"}]}",
      C("{\"limits\":{\"mig.das.com/1g.5gb\":\"1\"},\"requests\":{\"mig.das.com/"
        "1g.5gb\":\"1\"}}") ",\"schedulingGates\":[{\"name\":\"kueue\"}]" DAS },
    { "init and ephemeral containers",
      "{\"containers\":[{\"name\":\"a\"}],"
      "\"initContainers\":[{\"name\":\"b\"},{\"name\":\"i\",\"resources\":{\"limits\":{"
      "\"nvidia.com/mig-1g.5gb\":1}}}],"
      "\"ephemeralContainers\":[{\"name\":\"e\",\"resources\":{\"limits\":{\"nvidia.com/"
      "mig-1g.5gb\":1}}}]}",
      "{\"containers\":[{\"name\":\"a\"}],"
      "\"initContainers\":[{\"name\":\"b\"},{\"name\":\"i\",\"resources\":{\"limits\":{\"mig."
      "das.com/1g.5gb\":1},"
      "\"requests\":{\"mig.das.com/1g.5gb\":1}}}],"
      "\"ephemeralContainers\":[{\"name\":\"e\",\"resources\":{\"limits\":{\"mig.das.com/"
      "1g.5gb\":1},"
      "\"requests\":{\"mig.das.com/1g.5gb\":1}}}]" DAS },
    { "whole GPUs are left alone", C("{\"limits\":{\"nvidia.com/gpu\":\"1\"}}") "}", NULL },
    { "and beside slices too",
      C("{\"limits\":{\"nvidia.com/gpu\":\"1\",\"nvidia.com/mig-1g.5gb\":\"1\"}}") "}",
      C("{\"limits\":{\"nvidia.com/gpu\":\"1\",\"mig.das.com/1g.5gb\":\"1\"},"
        "\"requests\":{\"mig.das.com/1g.5gb\":\"1\"}}") DAS },
    { "a pod without slices keeps everything",
      C("{\"limits\":{\"cpu\":\"1\"}}") ",\"schedulerName\":\"default-scheduler\"}", NULL },
    { "and may set NVIDIA_VISIBLE_DEVICES",
      "{\"containers\":[{\"name\":\"a\",\"env\":[{\"name\":\"NVIDIA_VISIBLE_DEVICES\","
      "\"value\":\"all\"}]}]}",
      NULL },
    { "what has been mutated is left alone",
      C("{\"limits\":{\"mig.das.com/1g.5gb\":\"1\"},\"requests\":{\"mig.das.com/"
        "1g.5gb\":\"1\"}}") DAS,
      NULL },
    { "none of something is asked for",
      C("{\"limits\":{\"mig.das.com/1g.5gb\":\"0\"},"
        "\"requests\":{\"mig.das.com/1g.5gb\":\"0\"}}") "}",
      NULL },
    { "names that are no profile are left alone",
      C("{\"limits\":{\"nvidia.com/mig-all\":\"1\"}}") "}", NULL },
    { "no containers at all", "{}", NULL },
    { "shapes that are none",
      "{\"containers\":[1,null,\"x\",{\"resources\":[]},{\"resources\":{\"limits\":7}}]}", NULL },
};

static void pods_become_what_they_should(void **state)
{
    (void)state;
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO_CHARS *review = review_of("v1", rows[i].spec);
        enum sw_webhook_outcome outcome;
        SW_AUTO_JSON *response = answer(&defaults, review, &outcome);
        assert_true(sw_json_bool(response, 0, "response", "allowed", NULL));
        size_t n_ops;
        SW_AUTO_JSON *now = patched(review, response, &n_ops);
        SW_AUTO_JSON *expected = parse(rows[i].expected ? rows[i].expected : rows[i].spec);
        SW_AUTO_CHARS *text = sw_json_text(now, SW_JSON_SORTED, NULL);
        if (!sw_json_equal(now, expected))
            fail_msg("%s: %s", rows[i].what, text);
        assert_int_equal(outcome, n_ops ? SW_WEBHOOK_MUTATED : SW_WEBHOOK_UNCHANGED);
        if (!rows[i].expected)
            assert_int_equal(n_ops, 0);
    }
}

#define SLICE "\"resources\":{\"limits\":{\"nvidia.com/mig-1g.5gb\":\"1\"}}"

static void users_fields_are_kept_by_policy(void **state)
{
    (void)state;
    static const struct {
        const char *sets_scheduler, *sets_class;
        bool keeps;
        const char *has, *scheduler, *runtime_class;
    } cases[] = {
        { "s", "r", true, ",\"schedulerName\":\"mine\"", "mine", "r" },
        { "s", "r", true, ",\"schedulerName\":\"default-scheduler\"", "s", "r" },
        { "s", "r", true, ",\"runtimeClassName\":\"kata\"", "s", "kata" },
        { "s", "r", false, ",\"runtimeClassName\":\"kata\"", "s", "r" },
        { "s", "", false, "", "s", "" },
        { "", NULL, false, ",\"schedulerName\":\"mine\"", "mine", "" },
    };
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        const struct sw_webhook_policy policy = { .scheduler_name = cases[i].sets_scheduler,
                                                  .runtime_class = cases[i].sets_class,
                                                  .keep_user_fields = cases[i].keeps };
        SW_AUTO_CHARS *spec = sw_printf("{\"containers\":[{" SLICE "}]%s}", cases[i].has);
        SW_AUTO_CHARS *review = review_of("v1", spec);
        enum sw_webhook_outcome outcome;
        SW_AUTO_JSON *response = answer(&policy, review, &outcome);
        size_t n_ops;
        SW_AUTO_JSON *now = patched(review, response, &n_ops);
        assert_string_equal(sw_json_str(now, "", "schedulerName", NULL), cases[i].scheduler);
        assert_string_equal(sw_json_str(now, "", "runtimeClassName", NULL), cases[i].runtime_class);
    }
}

static void visible_devices_are_refused_with_their_place(void **state)
{
    (void)state;
    static const struct {
        const char *env, *words; /* NULL: allowed */
    } cases[] = {
        { "{\"name\":\"NVIDIA_VISIBLE_DEVICES\",\"value\":\"all\"}", "/spec/containers/1/env/1" },
        { "{\"name\":\"NVIDIA_VISIBLE_DEVICES\"}", "NVIDIA_VISIBLE_DEVICES" },
        /* however it is written */
        { "{\"name\":\"\\u004eVIDIA_VISIBLE_DEVICES\"}", "NVIDIA_VISIBLE_DEVICES" },
        { "{\"name\":\"NVIDIA\\u005FVISIBLE_DEVICES\"}", "NVIDIA_VISIBLE_DEVICES" },
        { "{\"name\":\"B\",\"value\":\"\\\\\"},{\"name\":\"NVIDIA_VISIBLE_DEVICE\\u0053\"}",
          "/spec/containers/1/env/2" },
        { "{\"name\":\"NVIDIA_VISIBLE_DEVICES\",\"valueFrom\":{\"fieldRef\":{\"fieldPath\":\"x\"}}"
          "}",
          "NVIDIA_VISIBLE_DEVICES" },
        { "{\"name\":\"NVIDIA_VISIBLE_DEVICES\",\"value\":\"none\"}", NULL },
        { "{\"name\":\"NVIDIA_VISIBLE_DEVICES\",\"value\":\"void\"}", NULL },
        { "{\"name\":\"NVIDIA_DRIVER_CAPABILITIES\",\"value\":\"all\"}", NULL },
    };
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        SW_AUTO_CHARS *spec = sw_printf(
            "{\"containers\":[{" SLICE "},{\"env\":[{\"name\":\"A\"},%s]}]}", cases[i].env);
        SW_AUTO_CHARS *review = review_of("v1", spec);
        enum sw_webhook_outcome outcome;
        SW_AUTO_JSON *response = answer(&defaults, review, &outcome);
        assert_int_equal(outcome, cases[i].words ? SW_WEBHOOK_DENIED : SW_WEBHOOK_MUTATED);
        assert_int_equal(sw_json_bool(response, 0, "response", "allowed", NULL), !cases[i].words);
        if (!cases[i].words)
            continue;
        assert_null(sw_json_find(response, "response", "patch", NULL));
        assert_int_equal(sw_json_int(response, 0, "response", "status", "code", NULL), 403);
        assert_non_null(strstr(sw_json_str(response, "", "response", "status", "message", NULL),
                               cases[i].words));
    }
}

static void visible_devices_are_stripped_by_policy(void **state)
{
    (void)state;
    const struct sw_webhook_policy policy = { .scheduler_name = "s",
                                              .runtime_class = "r",
                                              .strip_visible_devices = true };
    SW_AUTO_CHARS *review = review_of(
        "v1", "{\"containers\":[{" SLICE ",\"env\":[{\"name\":\"NVIDIA_VISIBLE_DEVICES\",\"value\":"
              "\"all\"},{\"name\":\"B\",\"value\":\"b\"},{\"name\":\"NVIDIA_VISIBLE_DEVICES\","
              "\"value\":\"0\"},{\"name\":\"C\",\"value\":\"c\"}]}]}");
    enum sw_webhook_outcome outcome;
    SW_AUTO_JSON *response = answer(&policy, review, &outcome);
    size_t n_ops;
    SW_AUTO_JSON *now = patched(review, response, &n_ops);
    struct json_object *env = sw_json_get(sw_json_at(sw_json_get(now, "containers"), 0), "env");
    assert_int_equal(sw_json_len(env), 2);
    assert_string_equal(sw_json_str(sw_json_at(env, 0), "", "name", NULL), "B");
    assert_string_equal(sw_json_str(sw_json_at(env, 1), "", "name", NULL), "C");
}

/* What a ConfigMap holds nobody sees here: said, refused or let through, unless a prefix rules it
 * out. */
static void env_from_is_warned_of_or_refused(void **state)
{
    (void)state;
    static const struct {
        enum sw_webhook_env_from policy;
        const char *from;
        bool denied, warned;
    } cases[] = {
        { SW_WEBHOOK_ENV_WARN, "{\"configMapRef\":{\"name\":\"c\"}}", false, true },
        { SW_WEBHOOK_ENV_WARN, "{\"prefix\":\"NVIDIA_\",\"secretRef\":{\"name\":\"c\"}}", false,
          true },
        { SW_WEBHOOK_ENV_WARN, "{\"prefix\":\"APP_\",\"configMapRef\":{\"name\":\"c\"}}", false,
          false },
        { SW_WEBHOOK_ENV_REFUSE, "{\"configMapRef\":{\"name\":\"c\"}}", true, false },
        { SW_WEBHOOK_ENV_REFUSE, "{\"prefix\":\"APP_\",\"configMapRef\":{\"name\":\"c\"}}", false,
          false },
        { SW_WEBHOOK_ENV_ALLOW, "{\"configMapRef\":{\"name\":\"c\"}}", false, false },
    };
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        const struct sw_webhook_policy policy = { .env_from = cases[i].policy };
        SW_AUTO_CHARS *spec = sw_printf("{\"containers\":[{" SLICE ",\"envFrom\":[%s]}]}",
                                        cases[i].from);
        SW_AUTO_CHARS *review = review_of("v1", spec);
        enum sw_webhook_outcome outcome;
        SW_AUTO_JSON *response = answer(&policy, review, &outcome);
        assert_int_equal(outcome == SW_WEBHOOK_DENIED, cases[i].denied);
        assert_int_equal(sw_json_len(sw_json_find(response, "response", "warnings", NULL)),
                         cases[i].warned);
    }
}

/* kubectl debug, on a pod that has a slice or has none. */
static void ephemeral_containers_are_looked_at_when_they_are_added(void **state)
{
    (void)state;
    static const struct {
        const char *slice, *added;
        enum sw_webhook_outcome refused, stripped;
    } cases[] = {
        { "mig.das.com/1g.5gb",
          "{\"name\":\"new\",\"env\":[{\"name\":\"NVIDIA_VISIBLE_DEVICES\",\"value\":\"all\"}]}",
          SW_WEBHOOK_DENIED, SW_WEBHOOK_MUTATED },
        { "mig.das.com/1g.5gb", "{\"name\":\"new\",\"env\":[{\"name\":\"A\",\"value\":\"all\"}]}",
          SW_WEBHOOK_UNCHANGED, SW_WEBHOOK_UNCHANGED },
        { "cpu",
          "{\"name\":\"new\",\"env\":[{\"name\":\"NVIDIA_VISIBLE_DEVICES\",\"value\":\"all\"}]}",
          SW_WEBHOOK_UNCHANGED, SW_WEBHOOK_UNCHANGED },
        /* an old one, and a pod that never came by here: neither can be changed any more */
        { "nvidia.com/mig-1g.5gb", "{\"name\":\"new\"}", SW_WEBHOOK_UNCHANGED,
          SW_WEBHOOK_UNCHANGED },
    };
    const struct sw_webhook_policy strip = { .scheduler_name = "s",
                                             .runtime_class = "r",
                                             .strip_visible_devices = true };
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        SW_AUTO_CHARS *review = sw_printf(
            "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":{"
            "\"uid\":\"u-1\",\"operation\":\"UPDATE\",\"subResource\":\"ephemeralcontainers\","
            "\"kind\":{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Pod\"},\"object\":{\"spec\":{"
            "\"containers\":[{\"resources\":{\"limits\":{\"%s\":\"1\"},\"requests\":{\"%s\":\"1\"}}"
            ","
            "\"env\":[{\"name\":\"NVIDIA_VISIBLE_DEVICES\",\"value\":\"all\"}]}],"
            "\"ephemeralContainers\":[{\"name\":\"old\",\"env\":[{\"name\":\"NVIDIA_VISIBLE_"
            "DEVICES\","
            "\"value\":\"all\"}]},%s]}},\"oldObject\":{\"spec\":{\"ephemeralContainers\":["
            "{\"name\":\"old\"}]}}}}",
            cases[i].slice, cases[i].slice, cases[i].added);
        enum sw_webhook_outcome outcome;
        SW_AUTO_JSON *response = answer(&defaults, review, &outcome);
        assert_int_equal(outcome, cases[i].refused);
        if (outcome == SW_WEBHOOK_DENIED)
            assert_non_null(strstr(sw_json_str(response, "", "response", "status", "message", NULL),
                                   "/spec/ephemeralContainers/1/env/0"));
        SW_AUTO_JSON *stripped = answer(&strip, review, &outcome);
        assert_int_equal(outcome, cases[i].stripped);
        size_t n_ops;
        SW_AUTO_JSON *spec = patched(review, stripped, &n_ops);
        struct json_object *list = sw_json_get(spec, "ephemeralContainers");
        assert_int_equal(n_ops, outcome == SW_WEBHOOK_MUTATED);
        assert_int_equal(sw_json_len(sw_json_get(sw_json_at(list, 0), "env")), 1);
    }
}

static void one_slice_by_two_names_is_refused(void **state)
{
    (void)state;
    SW_AUTO_CHARS *review = review_of(
        "v1", C("{\"limits\":{\"nvidia.com/mig-1g.5gb\":1,\"mig.das.com/1g.5gb\":1}}") "}");
    enum sw_webhook_outcome outcome;
    SW_AUTO_JSON *response = answer(&defaults, review, &outcome);
    assert_int_equal(outcome, SW_WEBHOOK_DENIED);
    assert_non_null(strstr(sw_json_str(response, "", "response", "status", "message", NULL),
                           "/spec/containers/0/resources/limits: nvidia.com/mig-1g.5gb and "
                           "mig.das.com/1g.5gb"));
}

static void the_answer_has_the_questions_version(void **state)
{
    (void)state;
    for (int beta = 0; beta < 2; beta++) {
        SW_AUTO_CHARS *review = review_of(beta ? "v1beta1" : "v1",
                                          C("{\"limits\":{\"nvidia.com/mig-all\":1}}") "}");
        enum sw_webhook_outcome outcome;
        SW_AUTO_JSON *response = answer(&defaults, review, &outcome);
        assert_string_equal(sw_json_str(response, "", "apiVersion", NULL),
                            beta ? "admission.k8s.io/v1beta1" : "admission.k8s.io/v1");
        /* v1beta1 of Kubernetes 1.18 and older knows no warnings */
        assert_int_equal(sw_json_len(sw_json_find(response, "response", "warnings", NULL)), !beta);
    }
}

static void a_name_in_a_warning_is_cut_between_characters(void **state)
{
    (void)state;
#define E8 "\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9"
    SW_AUTO_CHARS *review = review_of(
        "v1", C("{\"limits\":{\"nvidia.com/mig-" E8 E8 E8 E8 E8 "\":1}}") "}");
    enum sw_webhook_outcome outcome;
    SW_AUTO_JSON *response = answer(&defaults, review, &outcome);
    assert_string_equal(
        json_object_get_string(sw_json_at(sw_json_find(response, "response", "warnings", NULL), 0)),
        "/spec/containers/0/resources/limits: 'nvidia.com/mig-" E8 E8 E8 E8
        "' names no MIG profile such as 1g.5gb and is left alone");
}

static void only_pods_being_created_are_looked_at(void **state)
{
    (void)state;
    static const char *const changes[][2] = { { "\"Pod\"", "\"Job\"" },
                                              { "\"CREATE\"", "\"UPDATE\"" },
                                              { "\"group\":\"\"", "\"group\":\"x.y\"" } };
    for (size_t i = 0; i < SW_COUNT(changes); i++) {
        SW_AUTO_CHARS *review = review_of("v1", "{\"containers\":[{" SLICE "}]}");
        char *at = strstr(review, changes[i][0]);
        assert_non_null(at);
        SW_AUTO_CHARS *other = sw_printf("%.*s%s%s", (int)(at - review), review, changes[i][1],
                                         at + strlen(changes[i][0]));
        enum sw_webhook_outcome outcome;
        SW_AUTO_JSON *response = answer(&defaults, other, &outcome);
        assert_int_equal(outcome, SW_WEBHOOK_UNCHANGED);
    }
}

static void a_pod_that_is_none_is_denied(void **state)
{
    (void)state;
    static const char *const objects[] = { "null", "[]", "\"x\"", "7" };
    for (size_t i = 0; i < SW_COUNT(objects); i++) {
        SW_AUTO_CHARS *review = sw_printf(
            "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":"
            "{\"uid\":\"u-1\",\"operation\":\"CREATE\",\"kind\":{\"kind\":\"Pod\"},\"object\":%s}}",
            objects[i]);
        enum sw_webhook_outcome outcome;
        SW_AUTO_JSON *response = answer(&defaults, review, &outcome);
        assert_int_equal(outcome, SW_WEBHOOK_DENIED);
        assert_int_equal(sw_json_int(response, 0, "response", "status", "code", NULL), 400);
    }
}

static void what_is_no_quantity_is_denied(void **state)
{
    (void)state;
    static const char *const values[] = { "null", "{}", "[1]" };
    for (size_t i = 0; i < SW_COUNT(values); i++) {
        SW_AUTO_CHARS *spec = sw_printf("{\"containers\":[{\"resources\":{\"requests\":{"
                                        "\"nvidia.com/mig-1g.5gb\":%s}}}]}",
                                        values[i]);
        SW_AUTO_CHARS *review = review_of("v1", spec);
        enum sw_webhook_outcome outcome;
        SW_AUTO_JSON *response = answer(&defaults, review, &outcome);
        assert_int_equal(outcome, SW_WEBHOOK_DENIED);
        assert_int_equal(sw_json_int(response, 0, "response", "status", "code", NULL), 400);
        assert_string_equal(
            sw_json_str(response, "", "response", "status", "message", NULL),
            "/spec/containers/0/resources/requests: nvidia.com/mig-1g.5gb: expected "
            "a quantity");
    }
}

static void what_is_no_review_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } bad[] = {
        { "", "" },
        { "{", "" },
        { "null", "" },
        { "[]", "" },
        { "{}", "kind" },
        { "{\"kind\":\"AdmissionReview\"}", "apiVersion" },
        { "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v2\"}", "v2" },
        { "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\"}", "uid" },
        { "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\","
          "\"request\":{\"uid\":7}}",
          "uid" },
        { "{\"kind\":\"AdmissionReview\"} x", "" },
        { "{\"kind\":\"Status\"}", "" },
    };
    SW_AUTO(sw_webhook_reader) *reader = sw_webhook_reader_new(&defaults);
    for (size_t i = 0; i < SW_COUNT(bad); i++) {
        SW_ERR(err);
        struct sw_webhook_answer a;
        const int rc = sw_webhook_read(reader, bad[i].text, strlen(bad[i].text), &a, &err);
        if (rc != SW_INVALID || !strstr(sw_err_text(&err), bad[i].words))
            fail_msg("'%s': %d %s", bad[i].text, rc, sw_err_text(&err));
    }
}

static const struct {
    const char *rules, *spec, *expected;
} toleration_rows[] = {
#define T(key) "{\"key\":\"" key "\",\"operator\":\"Exists\",\"effect\":\"NoSchedule\"}"
    { "nvidia.com/gpu", C("{\"limits\":{\"nvidia.com/gpu\":\"1\"}}") "}",
      "[" T("nvidia.com/gpu") "]" },
    { "*",
      C("{\"requests\":{\"amd.com/gpu\":1,\"cpu\":1,\"hugepages-2Mi\":1,\"a.kubernetes.io/"
        "b\":1}}") "}",
      "[" T("amd.com/gpu") "]" },
    { "x.com/y, nvidia.com/*=gpu",
      C("{\"limits\":{\"nvidia.com/gpu\":1,\"nvidia.com/other\":1}}") "}", "[" T("gpu") "]" },
    { "nvidia.com/gpu", C("{\"limits\":{\"nvidia.com/gpus\":1}}") "}", NULL },
    { "", C("{\"limits\":{\"nvidia.com/gpu\":1}}") "}", NULL },
    { "nvidia.com/gpu", C("{\"limits\":{\"nvidia.com/gpu\":1}}") ",\"tolerations\":[" T("a") "]}",
      "[" T("a") "," T("nvidia.com/gpu") "]" },
    { "nvidia.com/gpu",
      C("{\"limits\":{\"nvidia.com/gpu\":1}}") ",\"tolerations\":[{\"operator\":\"Exists\"}]}",
      "[{\"operator\":\"Exists\"}]" },
    { "mig.das.com/*=gpu,nvidia.com/mig-*=gpu",
      "{\"initContainers\":[{\"name\":\"i\",\"resources\":{\"limits\":{\"nvidia.com/"
      "mig-1g.5gb\":1}}}]}",
      "[" T("gpu") "]" },
};

static void pods_that_ask_tolerate_the_taint(void **state)
{
    (void)state;
    for (size_t i = 0; i < SW_COUNT(toleration_rows); i++) {
        struct sw_webhook_policy policy = defaults;
        policy.tolerate = toleration_rows[i].rules;
        assert_null(sw_webhook_tolerate_fault(policy.tolerate));
        SW_AUTO_CHARS *review = review_of("v1", toleration_rows[i].spec);
        enum sw_webhook_outcome outcome;
        size_t n;
        SW_AUTO_JSON *response = answer(&policy, review, &outcome);
        SW_AUTO_JSON *spec = patched(review, response, &n);
        SW_AUTO_JSON *wanted = toleration_rows[i].expected ? parse(toleration_rows[i].expected)
                                                           : NULL;
        if (!sw_json_equal(sw_json_get(spec, "tolerations"), wanted))
            fail_msg("%s, %s: %s", toleration_rows[i].rules, toleration_rows[i].spec,
                     json_object_to_json_string(spec));
    }
}

/* review_of() asks about a pod in "ns". */
static void pods_of_excluded_namespaces_are_left_alone(void **state)
{
    (void)state;
    static const struct {
        const char *names;
        enum sw_webhook_outcome outcome;
    } lists[] = {
        { "ns", SW_WEBHOOK_UNCHANGED },
        { "kube-system,ns,a", SW_WEBHOOK_UNCHANGED },
        { "kube-system, ns", SW_WEBHOOK_UNCHANGED },
        { "n,nss,s,kube-ns,ns-a", SW_WEBHOOK_DENIED },
        { ",", SW_WEBHOOK_DENIED },
        { "", SW_WEBHOOK_DENIED },
    };
    SW_AUTO_CHARS *review = review_of(
        "v1", "{\"containers\":[{\"env\":[{\"name\":\"NVIDIA_VISIBLE_DEVICES\"}],"
              "\"resources\":{\"limits\":{\"nvidia.com/mig-1g.5gb\":1}}}]}");
    for (size_t i = 0; i < SW_COUNT(lists); i++) {
        struct sw_webhook_policy policy = defaults;
        policy.excluded_namespaces = lists[i].names;
        enum sw_webhook_outcome outcome;
        SW_AUTO_JSON *response = answer(&policy, review, &outcome);
        if (outcome != lists[i].outcome)
            fail_msg("'%s': %s", lists[i].names, json_object_to_json_string(response));
        assert_int_equal(sw_json_bool(response, false, "response", "allowed", NULL),
                         outcome == SW_WEBHOOK_UNCHANGED);
    }
}

/* @n times "@before<number>@after", with commas between. */
static char *many(const char *before, const char *after, int n)
{
    const size_t each = strlen(before) + strlen(after) + 12;
    char *text = malloc(each * (size_t)n + 1), *at = text;
    assert_non_null(text);
    for (int i = 0; i < n; i++)
        at += snprintf(at, each, "%s%s%d%s", i ? "," : "", before, i, after);
    return text;
}

/* Whoever may create a pod fills a body: looking at each against all others would keep everybody
 * else waiting for minutes (here: for hours). */
static void pods_as_large_as_a_body_are_answered(void **state)
{
    (void)state;
    enum { N = 200000 };
    SW_AUTO_CHARS *names = many("\"a.b/", "\":1", N);
    SW_AUTO_CHARS *have = many("{\"operator\":\"Exists\",\"key\":\"a.b/0", "\"}", N);
    SW_AUTO_CHARS *added = many("{\"name\":\"e", "\"}", N);
    SW_AUTO_CHARS *spec = sw_printf(
        "{\"containers\":[{\"resources\":{\"limits\":{%s}}}],\"tolerations\":[%s]}", names, have);
    SW_AUTO_CHARS *created = review_of("v1", spec);
    SW_AUTO_CHARS *updated = sw_printf(
        "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":{"
        "\"uid\":\"u-1\",\"operation\":\"UPDATE\",\"subResource\":\"ephemeralcontainers\","
        "\"kind\":{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Pod\"},\"object\":{\"spec\":{"
        "\"containers\":[{\"resources\":{\"limits\":{\"mig.das.com/1g.5gb\":1},\"requests\":{"
        "\"mig.das.com/1g.5gb\":1}}}],\"ephemeralContainers\":[%s]}},"
        "\"oldObject\":{\"spec\":{\"ephemeralContainers\":[{\"name\":\"x\"},%s]}}}}",
        added, added);
    struct sw_webhook_policy policy = defaults;
    policy.tolerate = "*";
    SW_AUTO(sw_webhook_reader) *reader = sw_webhook_reader_new(&policy);
    const char *const reviews[] = { created, updated };
    const enum sw_webhook_outcome outcomes[] = { SW_WEBHOOK_MUTATED, SW_WEBHOOK_UNCHANGED };
    for (size_t i = 0; i < SW_COUNT(reviews); i++) {
        struct sw_webhook_answer a = { 0 };
        assert_int_equal(sw_webhook_read(reader, reviews[i], strlen(reviews[i]), &a, NULL), 0);
        assert_int_equal(a.outcome, outcomes[i]);
        struct sw_webhook_answer in_steps = { 0 };
        SW_AUTO(sw_webhook_reading) *reading = sw_webhook_reading_new(reader, reviews[i],
                                                                      strlen(reviews[i]));
        int rc, n = 0;
        while ((rc = sw_webhook_reading_step(reading, &in_steps, NULL)) == SW_PENDING)
            n++;
        assert_int_equal(rc, 0);
        assert_true(n > 5);
        assert_string_equal(in_steps.text, a.text);
        sw_webhook_answer_done(&in_steps);
        sw_webhook_answer_done(&a);
    }
}

static void rules_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = { "gpu", "=x", "nvidia.com/*gpu", "nvidia.com/gpu=a/b/c",
                                       "nvidia.com/gpu=" };
    for (size_t i = 0; i < SW_COUNT(bad); i++)
        if (!sw_webhook_tolerate_fault(bad[i]))
            fail_msg("%s is taken", bad[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_become_what_they_should),
        cmocka_unit_test(users_fields_are_kept_by_policy),
        cmocka_unit_test(visible_devices_are_refused_with_their_place),
        cmocka_unit_test(visible_devices_are_stripped_by_policy),
        cmocka_unit_test(env_from_is_warned_of_or_refused),
        cmocka_unit_test(ephemeral_containers_are_looked_at_when_they_are_added),
        cmocka_unit_test(one_slice_by_two_names_is_refused),
        cmocka_unit_test(the_answer_has_the_questions_version),
        cmocka_unit_test(a_name_in_a_warning_is_cut_between_characters),
        cmocka_unit_test(only_pods_being_created_are_looked_at),
        cmocka_unit_test(a_pod_that_is_none_is_denied),
        cmocka_unit_test(what_is_no_quantity_is_denied),
        cmocka_unit_test(what_is_no_review_is_refused),
        cmocka_unit_test(pods_that_ask_tolerate_the_taint),
        cmocka_unit_test(pods_of_excluded_namespaces_are_left_alone),
        cmocka_unit_test(pods_as_large_as_a_body_are_answered),
        cmocka_unit_test(rules_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
