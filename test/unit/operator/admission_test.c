/* Who writes a resource needs the verb use on its account: what is asked of which review, and what
 * the API server's answer makes of it. The API server here is a route that answers as the test
 * says. */
#include "operator/admission/admission.h"

#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "base/certificates.h"
#include "base/loop.h"
#include "data/data.h"
#include "kube/config/kubeconfig.h"
#include "kube/kube.h"
#include "net/http/http.h"
#include "net/serve/serve.h"

#define OPERATOR "system:serviceaccount:slipway:slipway"

/* A review by @user of a write that makes @spec of @old (NULL: it creates it); heap. */
static char *review_of(const char *user, const char *spec, const char *annotations, const char *old,
                       const char *old_annotations)
{
    SW_AUTO_CHARS *before = old ? sw_printf("{\"metadata\":{\"name\":\"gpu\"%s},\"spec\":%s}",
                                            old_annotations, old)
                                : sw_strdup("null");
    return sw_printf(
        "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\","
        "\"request\":{\"uid\":\"u1\",\"operation\":\"%s\",\"userInfo\":{\"username\":"
        "\"%s\",\"uid\":\"7\",\"groups\":[\"team\",\"system:authenticated\"],"
        "\"extra\":{\"scopes\":[\"a\"]}},\"object\":{\"metadata\":{\"name\":\"gpu\"%s},"
        "\"spec\":%s},\"oldObject\":%s}}",
        old ? "UPDATE" : "CREATE", user, annotations, spec, before);
}

/* ---- what is asked -----------------------------------------------------------------------------
 */

#define A(text) ",\"annotations\":" text

static const struct row {
    const char *user, *spec, *annotations, *old, *old_annotations;
    bool legacy;
    const char *asks; /* "NAMESPACE/ACCOUNT"; NULL: nothing */
} rows[] = {
    { "jane", "{}", "", NULL, "", false, "gpu/slipway-gpu" },
    { "jane", "{\"namespace\":\"team\"}", "", NULL, "", false, "team/slipway-gpu" },
    { "jane", "{\"namespace\":\"team\",\"serviceAccountName\":\"strong\"}", "", NULL, "", false,
      "team/strong" },
    { "jane", "{\"namespace\":\"\",\"serviceAccountName\":\"strong\"}", "", NULL, "", false,
      "gpu/strong" },
    /* all namespaces */
    { "jane", "{\"namespace\":\"{{ .Values.ns }}\",\"serviceAccountName\":\"strong\"}", "", NULL,
      "", false, "/strong" },
    { OPERATOR, "{\"serviceAccountName\":\"strong\"}", "", NULL, "", false, NULL },
    { "system:serviceaccount:slipway:other", "{}", "", NULL, "", false, "gpu/slipway-gpu" },
    /* what stays as it was */
    { "jane", "{\"serviceAccountName\":\"strong\"}", "", "{\"serviceAccountName\":\"strong\"}", "",
      false, NULL },
    { "jane", "{\"a\":1,\"b\":2}", "", "{\"b\":2,\"a\":1}", "", false, NULL },
    { "jane", "{}", A("{}"), "{}", "", false, NULL },
    { "jane", "{}", A("{\"a\":\"1\"}"), "{}", A("{\"a\":\"1\"}"), false, NULL },
    /* what does not */
    { "jane", "{\"serviceAccountName\":\"strong\"}", "", "{\"serviceAccountName\":\"weak\"}", "",
      false, "gpu/strong" },
    { "jane", "{}", "", "{\"serviceAccountName\":\"strong\"}", "", false, "gpu/slipway-gpu" },
    { "jane", "{\"serviceAccountName\":\"strong\",\"set\":{\"a\":1}}", "",
      "{\"serviceAccountName\":\"strong\"}", "", false, "gpu/strong" },
    { "jane", "{}", A("{\"a\":\"2\"}"), "{}", A("{\"a\":\"1\"}"), false, "gpu/slipway-gpu" },
    { "jane", "{}", "", "{}", A("{\"a\":\"1\"}"), false, "gpu/slipway-gpu" },
    { "jane", "{}", A("{\"a\":\"1\"}"), "{}", "", false, "gpu/slipway-gpu" },
    /* with --legacy-rights */
    { "jane", "{}", "", NULL, "", true, NULL },
    { "jane", "{\"serviceAccountName\":\"strong\"}", "", NULL, "", true, "gpu/strong" },
};

static void what_the_policy_asks_is_asked(void **state)
{
    (void)state;
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        const struct row *r = &rows[i];
        SW_AUTO_CHARS *text = review_of(r->user, r->spec, r->annotations, r->old,
                                        r->old_annotations);
        SW_AUTO_JSON *review = json_tokener_parse(text);
        const struct sw_admission_opts opts = { .operator_user = OPERATOR, .legacy = r->legacy };
        struct sw_admission_question q;
        SW_ERR(err);
        assert_non_null(review);
        assert_int_equal(sw_admission_read(&opts, review, &q, &err), 0);
        SW_AUTO_CHARS *asks = q.asks ? sw_printf("%s/%s", q.ns, q.account) : NULL;
        if (!sw_streq(asks, r->asks))
            fail_msg("row %zu: asks %s", i, asks ? asks : "nothing");
        sw_admission_question_done(&q);
    }
}

static void without_author_or_name_it_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "{\"request\":{\"uid\":\"u\",\"object\":{\"metadata\":{\"name\":\"a\"}}}}",
        ("{\"request\":{\"uid\":\"u\",\"userInfo\":{\"username\":\"\"},\"object\":{\"metadata\":{"
         "\"name\":\"a\"}}}}"),
        "{\"request\":{\"uid\":\"u\",\"userInfo\":{\"username\":\"a\"},\"object\":{}}}",
        "{\"request\":{\"uid\":\"u\",\"userInfo\":{\"username\":\"a\"},\"object\":null}}",
    };
    for (size_t i = 0; i < SW_COUNT(bad); i++) {
        SW_AUTO_JSON *review = json_tokener_parse(bad[i]);
        struct sw_admission_question q;
        SW_ERR(err);
        assert_int_equal(sw_admission_read(&(struct sw_admission_opts){ 0 }, review, &q, &err),
                         SW_INVALID);
    }
}

/* ---- the server --------------------------------------------------------------------------------
 */

struct fixture {
    struct sw_loop *loop;
    struct sw_serve *api;
    struct sw_kube_config *config;
    struct sw_kube *kube;
    struct sw_admission *admission;
    struct sw_http *http;
    struct sw_http_tls *tls;
    char dir[32];
    const char *says; /* status of the SubjectAccessReview; NULL: 500 */
    struct json_object *asked;
    int n_asked;
    char *body;
    int http_status;
    bool done;
};

static void serve_review(const struct sw_serve_request *r, struct sw_serve_reply *reply, void *arg)
{
    struct fixture *f = arg;
    f->n_asked++;
    json_object_put(SW_TAKE(f->asked));
    assert_int_equal(sw_json_parse(r->body, r->body_len, NULL, &f->asked, NULL), 0);
    SW_AUTO_CHARS *text = sw_printf("{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":"
                                    "\"SubjectAccessReview\",\"status\":%s}",
                                    f->says ? f->says : "{}");
    sw_serve_answer(reply, f->says ? 201 : 500, "application/json", text, strlen(text));
}

static const struct sw_serve_route routes[] = {
    { "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", serve_review }
};

static void write_certificate(const struct fixture *f)
{
    SW_AUTO_CHARS *cert_file = sw_printf("%s/tls.crt", f->dir);
    SW_AUTO_CHARS *key_file = sw_printf("%s/tls.key", f->dir);
    static const char *const ips[] = { "127.0.0.1" };
    EVP_PKEY *key = sw_key_generate("ecdsa", 0);
    X509 *cert = NULL;
    assert_int_equal(sw_cert_make(&(struct sw_cert_request){ .common_name = "admission",
                                                             .ips = ips,
                                                             .n_ips = 1,
                                                             .days = 1,
                                                             .is_ca = true,
                                                             .now_sec = sw_now_ms() / 1000 },
                                  key, NULL, key, &cert, NULL),
                     0);
    SW_AUTO_CHARS *cert_text = sw_cert_pem(cert), *key_text = sw_key_pem(key);
    assert_int_equal(sw_file_write(cert_file, cert_text, strlen(cert_text), NULL), 0);
    assert_int_equal(sw_file_write(key_file, key_text, strlen(key_text), NULL), 0);
    X509_free(cert);
    EVP_PKEY_free(key);
}

static void open_fixture(struct fixture *f)
{
    SW_ERR(err);
    *f = (struct fixture){ .dir = "/tmp/admission_XXXXXX" };
    sw_log_set_level(SW_LOG_ERROR);
    assert_non_null(mkdtemp(f->dir));
    write_certificate(f);
    f->loop = sw_loop_new(NULL);
    if (sw_serve_open(
            f->loop,
            &(struct sw_serve_opts){
                .routes = routes, .n_routes = SW_COUNT(routes), .arg = f, .address = "127.0.0.1" },
            &f->api, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    SW_AUTO_CHARS *url = sw_printf("http://127.0.0.1:%d", sw_serve_port(f->api));
    f->config = sw_kube_config_new(url);
    if (sw_kube_new(f->loop, f->config, NULL, &f->kube, &err) < 0 ||
        sw_admission_open(f->loop,
                          &(struct sw_admission_opts){ .address = "127.0.0.1:0",
                                                       .cert_dir = f->dir,
                                                       .operator_user = OPERATOR,
                                                       .kube = f->kube },
                          &f->admission, &err) < 0 ||
        sw_http_tls_new(&(struct sw_http_tls_opts){ .insecure = true }, &f->tls, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    f->http = sw_http_new(f->loop, &(struct sw_http_opts){ .direct = true, .tls = f->tls });
}

static void close_fixture(struct fixture *f)
{
    SW_AUTO_CHARS *command = sw_printf("rm -r %s", f->dir);
    sw_http_free(f->http);
    sw_http_tls_free(f->tls);
    sw_admission_close(f->admission);
    sw_kube_free(f->kube);
    sw_kube_config_free(f->config);
    sw_serve_close(f->api);
    sw_loop_free(f->loop);
    json_object_put(f->asked);
    free(f->body);
    assert_int_equal(system(command), 0);
}

static int on_data(int status SW_UNUSED, const char *bytes, size_t len,
                   struct sw_err *err SW_UNUSED, void *arg)
{
    struct fixture *f = arg;
    sw_append(&f->body, "%.*s", (int)len, bytes);
    return 0;
}

static void on_done(const struct sw_http_result *result, void *arg)
{
    struct fixture *f = arg;
    f->done = true;
    f->http_status = result->http_status;
}

/* The answer's response, borrowed from @*doc. */
static struct json_object *post(struct fixture *f, const char *text, struct json_object **doc)
{
    SW_AUTO_CHARS *url = sw_printf("https://127.0.0.1:%d/validate",
                                   sw_admission_port(f->admission));
    static const char *const headers[] = { "Content-Type: application/json", NULL };
    f->done = false;
    free(f->body);
    f->body = sw_strdup("");
    (void)sw_http_start(f->http, &(struct sw_http_spec){ .method = "POST",
                                                         .url = url,
                                                         .headers = headers,
                                                         .body = text,
                                                         .body_len = strlen(text),
                                                         .on_data = on_data,
                                                         .on_done = on_done,
                                                         .arg = f });
    for (int64_t until_ms = sw_monotonic_ms() + 60000; !f->done && sw_monotonic_ms() < until_ms;)
        sw_loop_step(f->loop, 100);
    assert_true(f->done);
    json_object_put(*doc);
    *doc = json_tokener_parse(f->body);
    return sw_json_get(*doc, "response");
}

static void the_api_server_is_asked_for_the_author(void **state)
{
    (void)state;
    struct fixture f;
    SW_AUTO_JSON *doc = NULL;
    SW_AUTO_CHARS *text = review_of("jane", "{\"namespace\":\"team\"}", "", NULL, "");
    open_fixture(&f);
    f.says = "{\"allowed\":true}";
    struct json_object *response = post(&f, text, &doc);
    assert_int_equal(f.http_status, 200);
    assert_true(sw_json_bool(response, false, "allowed", NULL));
    assert_string_equal(sw_json_str(response, "", "uid", NULL), "u1");
    SW_AUTO_JSON *expected = json_tokener_parse(
        "{\"user\":\"jane\",\"uid\":\"7\",\"groups\":[\"team\",\"system:authenticated\"],\"extra\":"
        "{\"scopes\":[\"a\"]},\"resourceAttributes\":{\"verb\":\"use\",\"resource\":"
        "\"serviceaccounts\",\"namespace\":\"team\",\"name\":\"slipway-gpu\"}}");
    assert_true(sw_json_equal(sw_json_get(f.asked, "spec"), expected));
    f.says = "{\"allowed\":false}";
    response = post(&f, text, &doc);
    assert_false(sw_json_bool(response, true, "allowed", NULL));
    assert_int_equal(sw_json_int(response, 0, "status", "code", NULL), 403);
    assert_non_null(strstr(sw_json_str(response, "", "status", "message", NULL),
                           "team/slipway-gpu: who writes it needs the verb use"));
    f.says = "{\"allowed\":true,\"denied\":true}";
    response = post(&f, text, &doc);
    assert_false(sw_json_bool(response, true, "allowed", NULL));
    assert_int_equal(f.n_asked, 3);
    close_fixture(&f);
}

static void nothing_is_asked_for_the_operator(void **state)
{
    (void)state;
    struct fixture f;
    SW_AUTO_JSON *doc = NULL;
    SW_AUTO_CHARS *text = review_of(OPERATOR, "{}", "", NULL, "");
    open_fixture(&f);
    assert_true(sw_json_bool(post(&f, text, &doc), false, "allowed", NULL));
    assert_int_equal(f.n_asked, 0);
    close_fixture(&f);
}

/* No answer is no right: the webhook fails, and failurePolicy: Fail refuses the write. */
static void an_api_server_that_does_not_answer_allows_nothing(void **state)
{
    (void)state;
    struct fixture f;
    SW_AUTO_JSON *doc = NULL;
    SW_AUTO_CHARS *text = review_of("jane", "{}", "", NULL, "");
    open_fixture(&f);
    assert_null(post(&f, text, &doc));
    assert_int_equal(f.http_status, 503);
    assert_null(post(&f, "{\"kind\":\"AdmissionReview\"}", &doc));
    assert_int_equal(f.http_status, 400);
    assert_null(post(&f, "[", &doc));
    assert_int_equal(f.http_status, 400);
    close_fixture(&f);
}

/* A body of 3 MiB may be a tree of 800: not from whoever reaches the port. */
static void what_is_too_large_is_not_read(void **state)
{
    (void)state;
    enum { MAPS = 900 * 1000, MAX_KIB = 64 << 10 };
    struct fixture f;
    SW_AUTO_JSON *doc = NULL;
    SW_AUTO_CHARS *maps = sw_alloc(3 * MAPS + 1);
    for (size_t i = 0; i < MAPS; i++)
        memcpy(maps + 3 * i, "{},", 4);
    SW_AUTO_CHARS *spec = sw_printf("{\"set\":[%s{}]}", maps);
    SW_AUTO_CHARS *text = review_of("jane", spec, "", NULL, ""),
                  *own = review_of(OPERATOR, spec, "", NULL, ""),
                  *user = sw_printf("{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":"
                                    "\"AdmissionReview\",\"request\":{\"uid\":\"u1\",\"userInfo\":{"
                                    "\"username\":\"jane\",\"extra\":{\"a\":[%.*s{}]}},\"object\":{"
                                    "\"metadata\":{\"name\":\"a\"}}}}",
                                    3000, maps);
    struct rusage before, after;
    open_fixture(&f);
    f.says = "{\"allowed\":true}";
    assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
    struct json_object *response = post(&f, text, &doc);
    assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
    assert_true(after.ru_maxrss - before.ru_maxrss < MAX_KIB);
    assert_false(sw_json_bool(response, true, "allowed", NULL));
    assert_non_null(strstr(sw_json_str(response, "", "status", "message", NULL),
                           "more than 8192 KiB of memory"));
    response = post(&f, user, &doc);
    assert_non_null(strstr(sw_json_str(response, "", "status", "message", NULL),
                           "request.userInfo takes more than 128 KiB"));
    assert_true(sw_json_bool(post(&f, own, &doc), false, "allowed", NULL));
    assert_int_equal(f.n_asked, 0);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_policy_asks_is_asked),
        cmocka_unit_test(without_author_or_name_it_is_refused),
        cmocka_unit_test(the_api_server_is_asked_for_the_author),
        cmocka_unit_test(nothing_is_asked_for_the_operator),
        cmocka_unit_test(an_api_server_that_does_not_answer_allows_nothing),
        cmocka_unit_test(what_is_too_large_is_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
