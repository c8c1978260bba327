/* The port of metrics, by HTTPS, and the API server that says who may read them: the embedded one,
 * all on one loop whose clock the test turns. */
#include "emulator/emulator/api.h"
#include <signal.h>
#include <unistd.h>

#include "kube/metrics/metrics_server.h"
#include "net/serve/serve.h"
#include "ranges.h"

struct world {
    struct api *api;
    char kubeconfig[64];
    struct sw_metrics_flags flags;
    struct sw_metrics_server *server;
    int n_asked;          /* TokenReviews and SubjectAccessReviews that came */
    int broken;           /* status that they get; 0: their answer; -1: none */
    char *reader, *other; /* tokens */
};

static void on_request(const struct sw_emu_request *r, struct sw_emu_fault *fault, void *arg)
{
    struct world *w = arg;
    if (!r->resource || (strcmp(r->resource, "tokenreviews") != 0 &&
                         strcmp(r->resource, "subjectaccessreviews") != 0))
        return;
    w->n_asked++;
    if (w->broken > 0)
        *fault = (struct sw_emu_fault){ .type = SW_FAULT_ERROR, .code = w->broken };
    else if (w->broken < 0)
        *fault = (struct sw_emu_fault){ .type = SW_FAULT_HANG };
}

static void serve_metrics(struct sw_serve_reply *reply, void *arg SW_UNUSED)
{
    sw_serve_text(reply, 200, "up 1\n");
}

static const struct sw_metrics_page pages[] = { { "/metrics", serve_metrics },
                                                { "/requests", serve_metrics } };

/* A token of the ServiceAccount @name, which is made. */
static char *token_of(struct api *api, const char *name)
{
    SW_AUTO_CHARS *account = sw_printf("{\"metadata\":{\"name\":\"%s\"}}", name);
    SW_AUTO_CHARS *path = sw_printf("/api/v1/namespaces/default/serviceaccounts/%s/token", name);
    api_must(api, 201, "POST", "/api/v1/namespaces/default/serviceaccounts", NULL, account);
    SW_AUTO_JSON *doc = api_expect(api, 201, "POST", path, NULL,
                                   "{\"spec\":{\"expirationSeconds\":3600}}");
    return sw_strdup(str(doc, "status", "token", NULL));
}

static void make_reader(struct api *api)
{
    api_must(api, 201, "POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", NULL,
             "{\"metadata\":{\"name\":\"slipway-metrics-reader\"},\"rules\":[{\"nonResourceURLs\":"
             "[\"/metrics\"],\"verbs\":[\"get\"]}]}");
    api_must(api, 201, "POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", NULL,
             "{\"metadata\":{\"name\":\"b\"},\"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s."
             "io\",\"kind\":\"ClusterRole\",\"name\":\"slipway-metrics-reader\"},\"subjects\":[{"
             "\"kind\":\"ServiceAccount\",\"namespace\":\"default\",\"name\":\"reader\"}]}");
}

static void open_server(struct world *w)
{
    SW_ERR(err);
    const struct sw_metrics_server_opts opts = { .flags = &w->flags,
                                                 .pages = pages,
                                                 .n_pages = SW_COUNT(pages),
                                                 .kubeconfig = w->kubeconfig,
                                                 .program = "slipway-test" };
    if (sw_metrics_server_open(w->api->loop, &opts, &w->server, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
}

static int set_up(void **state)
{
    struct world *w = sw_zalloc(1, sizeof *w);
    struct api *api = w->api = sw_zalloc(1, sizeof *api);
    SW_ERR(err);
    (void)signal(SIGPIPE, SIG_IGN);
    sw_log_set_level(SW_LOG_ERROR);
    api->loop = sw_loop_new(&(struct sw_loop_opts){ .virtual_clock = true });
    assert_int_equal(sw_emulator_open(api->loop,
                                      &(struct sw_emulator_opts){ .no_controllers = true,
                                                                  .no_nodes = true,
                                                                  .seed = 7,
                                                                  .on_request = on_request,
                                                                  .arg = w },
                                      &api->emu, &err),
                     0);
    api->store = sw_emulator_store(api->emu);
    api->multi = curl_multi_init();
    SW_AUTO_CHARS *config = sw_emulator_kubeconfig(api->emu);
    (void)snprintf(w->kubeconfig, sizeof w->kubeconfig, "/tmp/slipway-test-XXXXXX");
    const int fd = mkstemp(w->kubeconfig);
    assert_int_equal(write(fd, config, strlen(config)), strlen(config));
    (void)close(fd);
    w->flags = (struct sw_metrics_flags)SW_METRICS_FLAGS_DEFAULT("127.0.0.1:0");
    w->reader = token_of(api, "reader");
    w->other = token_of(api, "other");
    make_reader(api);
    open_server(w);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    sw_metrics_server_close(w->server);
    (void)unlink(w->kubeconfig);
    api_close(w->api);
    free(w->reader);
    free(w->other);
    free(w);
    return 0;
}

/* ---- a client ----------------------------------------------------------------------------------
 */

static struct call *begin(struct world *w, const char *path, const char *token)
{
    SW_AUTO_CHARS *header = token ? sw_printf("Authorization: Bearer %s", token) : NULL;
    SW_AUTO_CHARS *url = sw_printf("%s://127.0.0.1:%d%s", w->flags.secure ? "https" : "http",
                                   sw_metrics_server_port(w->server), path);
    struct call *c = api_begin(w->api, "GET", "/", NULL, NULL, header);
    curl_easy_setopt(c->easy, CURLOPT_URL, url);
    curl_easy_setopt(c->easy, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(c->easy, CURLOPT_SSL_VERIFYHOST, 0L);
    return c;
}

static int ask_path(struct world *w, const char *path, const char *token)
{
    struct answer a = api_finish(begin(w, path, token));
    const int code = a.code;
    if (code == 200)
        assert_string_equal(a.text, "up 1\n");
    answer_done(&a);
    return code;
}

static int ask(struct world *w, const char *token)
{
    return ask_path(w, "/metrics", token);
}

/* Let so much time pass. */
static void pass(struct world *w, int64_t ms)
{
    const int64_t until = sw_loop_now_ms(w->api->loop) + ms;
    while (sw_loop_now_ms(w->api->loop) < until)
        sw_loop_step(w->api->loop, until - sw_loop_now_ms(w->api->loop));
}

/* ---- tests -------------------------------------------------------------------------------------
 */

static void who_may_read_reads(void **state)
{
    struct world *w = *state;
    assert_int_equal(ask(w, w->reader), 200);
    assert_int_equal(ask(w, w->other), 403);
    assert_int_equal(ask(w, "stolen"), 401);
    assert_int_equal(ask(w, ""), 401);
    assert_int_equal(ask(w, NULL), 401);
    assert_int_equal(ask_path(w, "/none", w->reader), 404);
    /* the role names one path */
    assert_int_equal(ask_path(w, "/requests", w->reader), 403);
}

static void a_denial_names_the_user(void **state)
{
    struct world *w = *state;
    struct answer a = api_finish(begin(w, "/metrics", w->other));
    assert_int_equal(a.code, 403);
    assert_string_equal(a.text,
                        "Authorization denied for user system:serviceaccount:default:other\n");
    answer_done(&a);
}

static void answers_are_kept_for_a_while(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < 5; i++)
        assert_int_equal(ask(w, w->reader), 200);
    assert_int_equal(w->n_asked, 2);
    for (int i = 0; i < 5; i++)
        assert_int_equal(ask(w, "stolen"), 401);
    assert_int_equal(w->n_asked, 3);
    pass(w, 59 * 1000);
    assert_int_equal(ask(w, w->reader), 200);
    assert_int_equal(w->n_asked, 3);
    pass(w, 2 * 1000);
    assert_int_equal(ask(w, w->reader), 200);
    assert_int_equal(w->n_asked, 5);
    assert_int_equal(ask(w, "stolen"), 401);
    assert_int_equal(w->n_asked, 6);
}

static void what_is_taken_away_is_gone_after_a_minute(void **state)
{
    struct world *w = *state;
    assert_int_equal(ask(w, w->reader), 200);
    api_must(w->api, 200, "DELETE", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/b",
             NULL, NULL);
    pass(w, 61 * 1000);
    assert_int_equal(ask(w, w->reader), 403);
    api_must(w->api, 200, "DELETE", "/api/v1/namespaces/default/serviceaccounts/reader", NULL,
             NULL);
    pass(w, 61 * 1000);
    assert_int_equal(ask(w, w->reader), 401);
}

static void an_expired_token_is_nobodys(void **state)
{
    struct world *w = *state;
    assert_int_equal(ask(w, w->reader), 200);
    pass(w, 3601 * 1000);
    assert_int_equal(ask(w, w->reader), 401);
}

/* Never open: also to whom it was open before. */
static void nobody_reads_while_nobody_can_be_asked(void **state)
{
    static const int statuses[] = { 403, 404, 500, 503 };
    struct world *w = *state;
    assert_int_equal(ask(w, w->reader), 200);
    for (size_t i = 0; i < SW_COUNT(statuses); i++) {
        w->broken = statuses[i];
        pass(w, 61 * 1000);
        assert_int_equal(ask(w, w->reader), 503);
        assert_int_equal(ask(w, w->other), 503);
    }
    w->broken = 0;
    assert_int_equal(ask(w, w->reader), 200);
}

static void a_silent_api_server_is_waited_for_five_seconds(void **state)
{
    struct world *w = *state;
    w->broken = -1;
    struct call *c = begin(w, "/metrics", w->reader);
    while (w->n_asked == 0)
        assert_false(api_turn(c));
    pass(w, 4900);
    assert_false(api_turn(c));
    pass(w, 200);
    struct answer a = api_finish(c);
    assert_int_equal(a.code, 503);
    answer_done(&a);
}

/* Thousands of guesses, and the one who may read is not kept out, nor is the API server flooded. */
static void guesses_are_bounded(void **state)
{
    struct world *w = *state;
    const int64_t begin_ms = sw_loop_now_ms(w->api->loop);
    int n_busy = 0, n_unknown = 0;
    assert_int_equal(ask(w, w->reader), 200);
    w->n_asked = 0;
    for (int i = 0; i < 2000; i++) {
        SW_AUTO_CHARS *token = sw_printf("guess-%d", i);
        const int code = ask(w, token);
        n_unknown += code == 401;
        n_busy += code == 503;
    }
    const int64_t took_ms = sw_loop_now_ms(w->api->loop) - begin_ms;
    assert_int_equal(n_unknown + n_busy, 2000);
    assert_int_equal(w->n_asked, n_unknown);
    assert_between(n_unknown, 1, 16 + took_ms / 250 + 2);
    pass(w, 61 * 1000 - took_ms % 1000);
    for (int i = 0; i < 40; i++) {
        SW_AUTO_CHARS *token = sw_printf("again-%d", i);
        (void)ask(w, token);
    }
    assert_int_equal(ask(w, w->reader), 200);
}

static int ask_from(struct world *w, const char *address, const char *token)
{
    struct call *c = begin(w, "/metrics", token);
    curl_easy_setopt(c->easy, CURLOPT_INTERFACE, address);
    struct answer a = api_finish(c);
    const int code = a.code;
    answer_done(&a);
    return code;
}

/* The reader's token is a new one now and then, and others guess all the time. */
static void a_new_token_is_heard_beside_guesses(void **state)
{
    struct world *w = *state;
    int n_busy = 0;
    for (int i = 0; i < 60; i++) {
        SW_AUTO_CHARS *token = sw_printf("guess-%d", i);
        n_busy += ask(w, token) == 503;
    }
    assert_true(n_busy > 0);
    assert_int_equal(ask_from(w, "127.0.0.2", w->reader), 200);
    assert_int_equal(ask_from(w, "127.0.0.3", "guess"), 401);
    n_busy = 0;
    for (int i = 0; i < 60; i++) {
        SW_AUTO_CHARS *token = sw_printf("more-%d", i);
        n_busy += ask_from(w, "127.0.0.3", token) == 503;
    }
    assert_true(n_busy > 40); /* it is none of the fresh ones any more */
}

static void who_waits_is_bounded(void **state)
{
    enum { N = 100 };
    struct world *w = *state;
    struct call *calls[N];
    int n_busy = 0;
    w->broken = -1;
    for (int i = 0; i < N; i++) {
        SW_AUTO_CHARS *token = sw_printf("t%d", i % 8);
        calls[i] = begin(w, "/metrics", token);
    }
    for (int i = 0; i < 2000; i++)
        (void)api_turn(calls[0]);
    assert_between(w->n_asked, 1, 6);
    pass(w, 6000);
    for (int i = 0; i < 500; i++)
        (void)api_turn(calls[0]);
    for (int i = 0; i < N; i++) {
        long code = 0;
        curl_easy_getinfo(calls[i]->easy, CURLINFO_RESPONSE_CODE, &code);
        n_busy += code == 503;
        struct answer a = api_end(calls[i]);
        answer_done(&a);
    }
    assert_between(n_busy, 1, N); /* the others had no connection: 16 for an address */
}

static void a_client_that_goes_does_no_harm(void **state)
{
    struct world *w = *state;
    w->broken = -1;
    struct call *c = begin(w, "/metrics", w->reader);
    while (w->n_asked == 0)
        assert_false(api_turn(c));
    struct answer a = api_end(c);
    answer_done(&a);
    for (int i = 0; i < 20; i++)
        sw_loop_step(w->api->loop, 0);
    pass(w, 6000);
    w->broken = -1;
    c = begin(w, "/metrics", w->reader);
    w->n_asked = 0;
    while (w->n_asked == 0)
        assert_false(api_turn(c));
    sw_metrics_server_close(SW_TAKE(w->server)); /* with a question under way */
    a = api_end(c);
    answer_done(&a);
}

static void without_security_everybody_reads(void **state)
{
    struct world *w = *state;
    sw_metrics_server_close(w->server);
    w->flags.secure = false;
    open_server(w);
    assert_int_equal(ask(w, NULL), 200);
    assert_int_equal(w->n_asked, 0);
    sw_metrics_server_close(w->server);
    w->flags.address = "0";
    open_server(w);
    assert_null(w->server);
}

/* A client of its own, from a kubeconfig that is not there. */
static void nobody_reads_where_there_is_no_api_server(void **state)
{
    struct world *w = *state;
    sw_metrics_server_close(w->server);
    SW_ERR(err);
    const struct sw_metrics_server_opts opts = { .flags = &w->flags,
                                                 .pages = pages,
                                                 .n_pages = SW_COUNT(pages),
                                                 .kubeconfig = "/nowhere",
                                                 .program = "slipway-test" };
    assert_int_equal(sw_metrics_server_open(w->api->loop, &opts, &w->server, &err), 0);
    assert_int_equal(ask(w, w->reader), 503);
    assert_int_equal(ask(w, NULL), 401);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(who_may_read_reads),
        CASE(a_denial_names_the_user),
        CASE(answers_are_kept_for_a_while),
        CASE(what_is_taken_away_is_gone_after_a_minute),
        CASE(an_expired_token_is_nobodys),
        CASE(nobody_reads_while_nobody_can_be_asked),
        CASE(a_silent_api_server_is_waited_for_five_seconds),
        CASE(guesses_are_bounded),
        CASE(a_new_token_is_heard_beside_guesses),
        CASE(who_waits_is_bounded),
        CASE(a_client_that_goes_does_no_harm),
        CASE(without_security_everybody_reads),
        CASE(nobody_reads_where_there_is_no_api_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
