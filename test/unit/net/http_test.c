/* http: redirects, limits, headers, HEAD, CAs of the environment, and the one that blocks. */
#include "net/http/http.h"

#include "identity.h"
#include "unit/kube/kube_server.h"

#include <pthread.h>
#include <signal.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a client on the server's loop --------------------------------------------------------------
 */

struct seen {
    struct sw_loop *loop;
    int code, http_status, n_done;
    bool timed_out;
    char *words, *url, *body, *headers;
};

static void append(char **to, const char *bytes, size_t len)
{
    SW_AUTO_CHARS *old = *to;
    *to = sw_printf("%s%.*s", old ? old : "", (int)len, bytes);
}

static int on_data(int status SW_UNUSED, const char *bytes, size_t len,
                   struct sw_err *err SW_UNUSED, void *arg)
{
    append(&((struct seen *)arg)->body, bytes, len);
    return 0;
}

static void on_header(const char *name, const char *value, void *arg)
{
    SW_AUTO_CHARS *line = sw_printf("%s=%s;", name, value);
    append(&((struct seen *)arg)->headers, line, strlen(line));
}

static void on_done(const struct sw_http_result *r, void *arg)
{
    struct seen *s = arg;
    s->n_done++;
    s->code = r->code;
    s->http_status = r->http_status;
    s->timed_out = r->timed_out;
    s->words = sw_strdup(r->code ? sw_err_text(r->err) : "");
    s->url = sw_strdup(r->url);
    sw_loop_stop(s->loop);
}

static void seen_done(struct seen *s)
{
    free(s->words);
    free(s->url);
    free(s->body);
    free(s->headers);
}

/** Ask the server for @path as @spec says and wait for the end. */
static struct seen ask(struct server *srv, const struct sw_http_opts *opts, const char *path,
                       struct sw_http_spec spec)
{
    struct seen s = { .loop = srv->loop };
    SW_AUTO_CHARS *url = sw_printf("%s://127.0.0.1:%d%s", srv->tls ? "https" : "http", srv->port,
                                   path);
    struct sw_http *http = sw_http_new(srv->loop, opts ? opts : &(struct sw_http_opts){ 0 });
    spec.url = url;
    spec.method = spec.method ? spec.method : "GET";
    spec.on_data = on_data;
    spec.on_header = on_header;
    spec.on_done = on_done;
    spec.arg = &s;
    (void)sw_http_start(http, &spec);
    sw_loop_run(srv->loop);
    sw_http_free(http);
    assert_int_equal(s.n_done, 1);
    return s;
}

/* ---- what the server answers --------------------------------------------------------------------
 */

static void on_request(struct server *srv, struct sreq *req, void *arg)
{
    SW_AUTO_CHARS *auth = sreq_header(req, "Authorization");
    SW_AUTO_CHARS *to = NULL;
    if (sw_starts_with(req->path, "/to/"))
        to = sw_printf("Location: %s\r\nX-Of: redirect\r\n", req->path + 3);
    else if (sw_streq(req->path, "/elsewhere"))
        to = sw_printf("Location: http://localhost:%d/whoami\r\n", srv->port);
    else if (sw_streq(req->path, "/round"))
        to = sw_printf("Location: /round\r\n");
    else if (sw_streq(req->path, "/down"))
        to = sw_printf("Location: http://127.0.0.1:1/\r\n");
    else if (sw_streq(req->path, "/file"))
        to = sw_printf("Location: file:///etc/passwd\r\n");
    if (to)
        reply_with(req, 302, to, "moved");
    else if (sw_streq(req->path, "/nowhere"))
        reply(req, 302, "");
    else if (sw_streq(req->path, "/whoami"))
        reply(req, 200, auth ? auth : "nobody");
    else if (sw_streq(req->method, "HEAD"))
        send_text(req->conn, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nX-Of: head\r\n\r\n");
    else
        reply_with(req, 200, "X-Of:  answer \r\n", arg ? arg : "0123456789");
}

static void start(struct server *srv, char *body)
{
    *srv = (struct server){ .on_request = on_request, .arg = body };
    server_start(srv, sw_loop_new(NULL));
}

static void stop_server(struct server *srv)
{
    server_stop(srv);
    SSL_CTX_free(srv->tls);
    sw_loop_free(srv->loop);
}

/* ---- the tests ----------------------------------------------------------------------------------
 */

static void a_redirect_is_the_answer_unless_following_is_asked_for(void **state)
{
    (void)state;
    struct server srv;
    start(&srv, NULL);
    struct seen s = ask(&srv, NULL, "/to/file-a", (struct sw_http_spec){ 0 });
    assert_int_equal(s.code, 0);
    assert_int_equal(s.http_status, 302);
    assert_non_null(strstr(s.headers, "Location=/file-a;"));
    seen_done(&s);
    stop_server(&srv);
}

static void a_followed_redirect_shows_only_the_last_answer(void **state)
{
    (void)state;
    struct server srv;
    start(&srv, NULL);
    struct seen s = ask(&srv, NULL, "/to/blob", (struct sw_http_spec){ .max_redirects = 3 });
    assert_int_equal(s.http_status, 200);
    assert_string_equal(s.body, "0123456789");
    assert_null(strstr(s.headers, "redirect"));
    assert_non_null(strstr(s.headers, "X-Of=answer;"));
    assert_true(sw_ends_with(s.url, "/blob"));
    seen_done(&s);
    stop_server(&srv);
}

static void credentials_do_not_follow_to_another_host(void **state)
{
    (void)state;
    struct server srv;
    start(&srv, NULL);
    const char *const headers[] = { "Authorization: Bearer secret", NULL };
    struct sw_http_spec spec = { .headers = headers, .max_redirects = 3 };
    struct seen s = ask(&srv, NULL, "/elsewhere", spec);
    assert_string_equal(s.body, "nobody");
    seen_done(&s);
    s = ask(&srv, NULL, "/to/whoami", spec);
    assert_string_equal(s.body, "Bearer secret");
    seen_done(&s);
    stop_server(&srv);
}

static void redirects_without_end_or_aim_fail(void **state)
{
    (void)state;
    struct server srv;
    start(&srv, NULL);
    struct seen s = ask(&srv, NULL, "/round", (struct sw_http_spec){ .max_redirects = 3 });
    assert_int_equal(s.code, SW_INVALID);
    assert_non_null(strstr(s.words, "redirects too many times"));
    seen_done(&s);
    s = ask(&srv, NULL, "/nowhere", (struct sw_http_spec){ .max_redirects = 3 });
    assert_int_equal(s.code, SW_INVALID);
    assert_non_null(strstr(s.words, "without saying where to"));
    seen_done(&s);
    s = ask(&srv, NULL, "/file", (struct sw_http_spec){ .max_redirects = 3 });
    assert_int_equal(s.code, SW_INVALID);
    seen_done(&s);
    stop_server(&srv);
}

static void a_body_over_the_limit_ends_the_transfer(void **state)
{
    (void)state;
    struct server srv;
    start(&srv, NULL);
    struct seen s = ask(&srv, NULL, "/a", (struct sw_http_spec){ .max_bytes = 9 });
    assert_int_equal(s.code, SW_INVALID);
    assert_non_null(strstr(s.words, "larger than 9 bytes"));
    seen_done(&s);
    s = ask(&srv, NULL, "/a", (struct sw_http_spec){ .max_bytes = 10 });
    assert_int_equal(s.code, 0);
    seen_done(&s);
    stop_server(&srv);
}

static void head_waits_for_no_body(void **state)
{
    (void)state;
    struct server srv;
    start(&srv, NULL);
    struct sw_http_spec spec = { .method = "HEAD", .timeout_ms = 20000 };
    struct seen s = ask(&srv, NULL, "/a", spec);
    assert_int_equal(s.code, 0);
    assert_int_equal(s.http_status, 200);
    assert_non_null(strstr(s.headers, "X-Of=head;"));
    assert_string_equal(srv.log, "HEAD /a\n");
    seen_done(&s);
    stop_server(&srv);
}

/* ---- TLS ----------------------------------------------------------------------------------------
 */

struct certs {
    struct identity ca, server;
    char *pem;
};

static void start_tls(struct server *srv, struct certs *c)
{
    c->ca = make_identity("http-ca", NULL, NULL);
    c->server = make_identity("server", "IP:127.0.0.1", &c->ca);
    c->pem = cert_pem(&c->ca);
    start(srv, NULL);
    srv->tls = identity_server(&c->server);
}

static void stop_tls(struct server *srv, struct certs *c)
{
    stop_server(srv);
    identity_done(&c->ca);
    identity_done(&c->server);
    free(c->pem);
}

static void https_does_not_redirect_to_http_unless_allowed(void **state)
{
    (void)state;
    struct server srv;
    struct certs c;
    start_tls(&srv, &c);
    SW_AUTO(sw_http_tls) *tls = NULL;
    assert_int_equal(sw_http_tls_new(&(struct sw_http_tls_opts){ .ca_data = c.pem }, &tls, NULL),
                     0);
    struct sw_http_opts opts = { .tls = tls };
    struct seen s = ask(&srv, &opts, "/down", (struct sw_http_spec){ .max_redirects = 3 });
    assert_int_equal(s.code, SW_INVALID);
    assert_non_null(strstr(s.words, "https to another kind of address"));
    seen_done(&s);
    s = ask(&srv, &opts, "/down",
            (struct sw_http_spec){ .max_redirects = 3, .may_downgrade = true });
    assert_int_equal(s.code, SW_UNAVAILABLE); /* nobody listens on port 1 */
    seen_done(&s);
    stop_tls(&srv, &c);
}

static void the_environment_names_cas(void **state)
{
    (void)state;
    struct server srv;
    struct certs c;
    start_tls(&srv, &c);
    char dir[] = "/tmp/http_test_XXXXXX";
    assert_non_null(mkdtemp(dir));
    SW_AUTO_CHARS *file = sw_printf("%s/any-name", dir);
    SW_AUTO_CHARS *dirs = sw_printf("/nonexistent:%s", dir);
    assert_int_equal(sw_file_write(file, c.pem, strlen(c.pem), NULL), 0);
    (void)unsetenv("SSL_CERT_DIR");
    (void)unsetenv("SSL_CERT_FILE");
    struct seen s = ask(&srv, NULL, "/a", (struct sw_http_spec){ 0 });
    assert_int_equal(s.code, SW_INVALID);
    seen_done(&s);
    (void)setenv("SSL_CERT_DIR", dirs, 1);
    s = ask(&srv, NULL, "/a", (struct sw_http_spec){ 0 });
    assert_int_equal(s.code, 0);
    seen_done(&s);
    (void)unsetenv("SSL_CERT_DIR");
    (void)setenv("SSL_CERT_FILE", file, 1);
    s = ask(&srv, NULL, "/a", (struct sw_http_spec){ 0 });
    assert_int_equal(s.code, 0);
    seen_done(&s);
    (void)unsetenv("SSL_CERT_FILE");
    (void)unlink(file);
    (void)rmdir(dir);
    stop_tls(&srv, &c);
}

static void a_hint_says_what_would_mend_a_server_that_is_not_trusted(void **state)
{
    (void)state;
    struct server srv;
    struct certs c;
    start_tls(&srv, &c);
    SW_AUTO(sw_http_tls) *tls = NULL;
    struct sw_http_tls_opts t = { .hint = "add its CA to the list" };
    assert_int_equal(sw_http_tls_new(&t, &tls, NULL), 0);
    struct sw_http_opts opts = { .tls = tls };
    struct seen s = ask(&srv, &opts, "/a", (struct sw_http_spec){ 0 });
    assert_int_equal(s.code, SW_INVALID);
    assert_non_null(strstr(s.words, "add its CA to the list"));
    seen_done(&s);
    stop_tls(&srv, &c);
}

/* ---- blocking -----------------------------------------------------------------------------------
 */

static void *serve(void *arg)
{
    sw_loop_run(((struct server *)arg)->loop);
    return NULL;
}

static void stop_serving(evutil_socket_t fd, short what SW_UNUSED, void *arg)
{
    char byte;
    (void)!read(fd, &byte, 1);
    sw_loop_stop(((struct server *)arg)->loop);
}

static void fetch_waits_for_the_whole_answer(void **state)
{
    (void)state;
    struct server srv;
    pthread_t thread;
    int ends[2];
    start(&srv, NULL);
    assert_int_equal(pipe(ends), 0);
    struct event *end = event_new(sw_loop_base(srv.loop), ends[0], EV_READ, stop_serving, &srv);
    (void)event_add(end, NULL);
    assert_int_equal(pthread_create(&thread, NULL, serve, &srv), 0);
    SW_AUTO_CHARS *url = sw_printf("http://127.0.0.1:%d/to/a", srv.port);
    struct sw_http_spec spec = { .method = "GET", .url = url, .max_redirects = 1 };
    struct sw_http_answer a = { 0 };
    SW_ERR(err);
    assert_int_equal(sw_http_fetch(NULL, &spec, &a, &err), 0);
    assert_int_equal(a.http_status, 200);
    assert_string_equal(a.body, "0123456789");
    assert_string_equal(a.content_type, "application/json");
    sw_http_answer_done(&a);
    spec.max_bytes = 3;
    assert_int_equal(sw_http_fetch(NULL, &spec, &a, &err), SW_INVALID);
    assert_non_null(err.text);
    (void)!write(ends[1], "x", 1);
    (void)pthread_join(thread, NULL);
    event_free(end);
    (void)close(ends[0]);
    (void)close(ends[1]);
    stop_server(&srv);
}

static void an_address_is_taken_apart(void **state)
{
    (void)state;
    struct sw_http_url u;
    assert_int_equal(sw_http_url_parse("https://reg.example:5000/v2/a?b=c", &u, NULL), 0);
    assert_string_equal(u.host, "reg.example");
    assert_string_equal(u.port, "5000");
    assert_string_equal(u.path, "/v2/a");
    assert_string_equal(u.query, "b=c");
    sw_http_url_done(&u);
    assert_int_equal(sw_http_url_parse("http://[::1]", &u, NULL), 0);
    assert_string_equal(u.port, "80");
    assert_true(sw_http_is_loopback(u.host));
    assert_true(sw_http_is_loopback("127.1.2.3"));
    assert_false(sw_http_is_loopback("127.example"));
    assert_false(sw_http_is_loopback("127.0.0.1.example"));
    sw_http_url_done(&u);
    assert_int_equal(sw_http_url_parse("http://a b", &u, NULL), SW_INVALID);
}

static void a_redirect_is_joined(void **state SW_UNUSED)
{
    static const struct {
        const char *location, *to; /* NULL: not followed */
    } rows[] = {
        { "c d", "https://h/a/c%20d" },
        { "//i:1/\xc3\xa4", "https://i:1/%c3%a4" },
        { "HTTP://169.254.169.254/x y", "http://169.254.169.254/x%20y" },
        { "file:///etc/passwd", NULL },
        { "http://a b/", NULL },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO_CHARS *to = sw_http_url_join("https://h/a/b", rows[i].location);
        if (strcasecmp(to ? to : "", rows[i].to ? rows[i].to : "") != 0) /* %c3 or %C3 */
            fail_msg("%s: %s", rows[i].location, to ? to : "(none)");
    }
    SW_AUTO_CHARS *dots = sw_http_url_join("https://h/a/b", "/%2e%2e/x");
    if (!sw_streq(dots, "https://h/%2e%2e/x") && !sw_streq(dots, "https://h/x")) /* libcurl 8 */
        fail_msg("%s", dots ? dots : "(none)");
}

int main(void)
{
    (void)signal(SIGPIPE, SIG_IGN); /* as the programs do */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_redirect_is_the_answer_unless_following_is_asked_for),
        cmocka_unit_test(a_followed_redirect_shows_only_the_last_answer),
        cmocka_unit_test(credentials_do_not_follow_to_another_host),
        cmocka_unit_test(redirects_without_end_or_aim_fail),
        cmocka_unit_test(a_body_over_the_limit_ends_the_transfer),
        cmocka_unit_test(head_waits_for_no_body),
        cmocka_unit_test(https_does_not_redirect_to_http_unless_allowed),
        cmocka_unit_test(the_environment_names_cas),
        cmocka_unit_test(a_hint_says_what_would_mend_a_server_that_is_not_trusted),
        cmocka_unit_test(fetch_waits_for_the_whole_answer),
        cmocka_unit_test(an_address_is_taken_apart),
        cmocka_unit_test(a_redirect_is_joined),
    };
    return cmocka_run_group_tests_name("http", tests, NULL, NULL);
}
