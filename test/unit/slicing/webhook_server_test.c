/* The server over TLS, with certificates made on the spot. Its loop runs in a thread of its own;
 * the client here blocks. */
#include "slicing/webhook/webhook.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "data/data.h"
#include "unit/net/identity.h"

/* ---- certificates ------------------------------------------------------------------------------
 */

static void write_pem(const char *path, X509 *cert, EVP_PKEY *key)
{
    SW_AUTO_CHARS *tmp = sw_printf("%s.tmp", path);
    FILE *f = fopen(tmp, "w");
    assert_non_null(f);
    if (cert)
        (void)PEM_write_X509(f, cert);
    if (key)
        (void)PEM_write_PrivateKey(f, key, NULL, NULL, 0, NULL, NULL);
    (void)fclose(f);
    assert_int_equal(rename(tmp, path), 0);
}

/* ---- the world ---------------------------------------------------------------------------------
 */

struct fixture {
    struct sw_loop *loop;
    struct sw_webhook_server *server;
    pthread_t thread;
    atomic_bool done, stop;
    char dir[64], cert[96], key[96];
    struct identity ca, first, second;
    SSL_CTX *client;
    int port;
};

static void *serve(void *arg)
{
    struct fixture *f = arg;
    bool stopped = false;
    while (!atomic_load(&f->done)) {
        sw_loop_step(f->loop, 5);
        if (atomic_load(&f->stop) && !stopped) {
            stopped = true;
            sw_serve_stop(sw_webhook_server_http(f->server));
        }
    }
    return NULL;
}

static int set_up(void **state)
{
    (void)signal(SIGPIPE, SIG_IGN);
    sw_log_set_level(SW_LOG_ERROR);
    struct fixture *f = sw_zalloc(1, sizeof *f);
    (void)snprintf(f->dir, sizeof f->dir, "/tmp/slipway-test-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    (void)snprintf(f->cert, sizeof f->cert, "%s/tls.crt", f->dir);
    (void)snprintf(f->key, sizeof f->key, "%s/tls.key", f->dir);
    f->ca = make_identity("test-ca", NULL, NULL);
    f->first = make_identity("first", NULL, &f->ca);
    f->second = make_identity("second", NULL, &f->ca);
    f->client = SSL_CTX_new(TLS_client_method());
    (void)X509_STORE_add_cert(SSL_CTX_get_cert_store(f->client), f->ca.cert);
    SSL_CTX_set_verify(f->client, SSL_VERIFY_PEER, NULL);
    *state = f;
    return 0;
}

static void write_first(const struct fixture *f)
{
    write_pem(f->cert, f->first.cert, NULL);
    write_pem(f->key, NULL, f->first.key);
}

static void start_plain(struct fixture *f, struct sw_webhook_server_opts opts)
{
    SW_ERR(err);
    opts.serve.address = "127.0.0.1";
    opts.serve.cert_file = f->cert;
    opts.serve.key_file = f->key;
    opts.serve.reload_ms = opts.serve.reload_ms ? opts.serve.reload_ms : 20;
    opts.policy = (struct sw_webhook_policy){ .scheduler_name = "das-scheduler",
                                              .runtime_class = "nvidia-legacy" };
    f->loop = sw_loop_new(NULL);
    if (sw_webhook_server_open(f->loop, &opts, &f->server, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    f->port = sw_serve_port(sw_webhook_server_http(f->server));
    assert_int_equal(pthread_create(&f->thread, NULL, serve, f), 0);
}

static void start(struct fixture *f, struct sw_webhook_server_opts opts)
{
    opts.serve.tls = &sw_serve_openssl;
    start_plain(f, opts);
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    if (f->server) {
        atomic_store(&f->done, true);
        (void)pthread_join(f->thread, NULL);
        sw_webhook_server_close(f->server);
    }
    if (f->loop)
        sw_loop_free(f->loop);
    SSL_CTX_free(f->client);
    identity_done(&f->ca);
    identity_done(&f->first);
    identity_done(&f->second);
    (void)unlink(f->cert);
    (void)unlink(f->key);
    (void)rmdir(f->dir);
    free(f);
    return 0;
}

/* ---- a client ----------------------------------------------------------------------------------
 */

struct wire {
    int fd;
    SSL *ssl; /* NULL: plain */
    char buf[1 << 16];
    size_t len;
};

static bool dial(const struct fixture *f, struct wire *w, bool plain)
{
    *w = (struct wire){ .fd = socket(AF_INET, SOCK_STREAM, 0) };
    struct sockaddr_in a = { .sin_family = AF_INET,
                             .sin_port = htons((uint16_t)f->port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    const struct timeval limit = { .tv_sec = 10 };
    (void)setsockopt(w->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (connect(w->fd, (struct sockaddr *)&a, sizeof a) != 0)
        return false;
    if (plain)
        return true;
    w->ssl = SSL_new(f->client);
    (void)SSL_set_fd(w->ssl, w->fd);
    return SSL_connect(w->ssl) == 1;
}

static void hang_up(struct wire *w)
{
    SSL_free(w->ssl);
    (void)close(w->fd);
}

static bool wire_send(struct wire *w, const char *bytes, size_t len)
{
    return w->ssl ? SSL_write(w->ssl, bytes, (int)len) == (int)len
                  : send(w->fd, bytes, len, MSG_NOSIGNAL) == (ssize_t)len;
}

/* The next answer; its status, 0 when the other side hung up. @body is the caller's. */
static int wire_receive(struct wire *w, char **body)
{
    for (;;) {
        w->buf[w->len] = '\0';
        char *end = strstr(w->buf, "\r\n\r\n");
        const char *length = strstr(w->buf, "Content-Length: ");
        const bool go_on = strncmp(w->buf, "HTTP/1.1 100", 12) == 0;
        const size_t head = end ? (size_t)(end + 4 - w->buf) : 0;
        const size_t need = end && !go_on && length ? (size_t)strtol(length + 16, NULL, 10) : 0;
        if (end && w->len >= head + need) {
            const int status = (int)strtol(w->buf + 9, NULL, 10);
            *body = sw_strndup(w->buf + head, need);
            w->len -= head + need;
            memmove(w->buf, w->buf + head + need, w->len);
            return status;
        }
        const size_t room = sizeof w->buf - 1 - w->len;
        const ssize_t n = w->ssl ? SSL_read(w->ssl, w->buf + w->len, (int)room)
                                 : recv(w->fd, w->buf + w->len, room, 0);
        if (n <= 0) {
            *body = NULL;
            return 0;
        }
        w->len += (size_t)n;
    }
}

static int ask(struct wire *w, const char *request, char **body)
{
    *body = NULL;
    return wire_send(w, request, strlen(request)) ? wire_receive(w, body) : 0;
}

static int ask_status(struct wire *w, const char *request)
{
    SW_AUTO_CHARS *body = NULL;
    return ask(w, request, &body);
}

/* Nothing comes any more. */
static bool ended(struct wire *w)
{
    SW_AUTO_CHARS *body = NULL;
    return wire_receive(w, &body) == 0;
}

static char *post(const char *body)
{
    return sw_printf("POST /mutate-pod?timeout=10s HTTP/1.1\r\nHost: x\r\nContent-Type: "
                     "application/json\r\nContent-Length: %zu\r\n\r\n%s",
                     strlen(body), body);
}

#define REVIEW                                                                                     \
    "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":{\"uid\":"   \
    "\"u-%d\",\"kind\":{\"kind\":\"Pod\"},\"object\":{\"kind\":\"Pod\",\"spec\":{\"containers\":[" \
    "{"                                                                                            \
    "\"resources\":{\"limits\":{\"nvidia.com/mig-1g.5gb\":\"1\"}}}]}}}}"

#define GET(path) "GET " path " HTTP/1.1\r\nHost: x\r\n\r\n"

/* Until @condition holds, for at most ten seconds. */
#define EVENTUALLY(condition)                                                                      \
    do {                                                                                           \
        int left_ = 1000;                                                                          \
        while (!(condition) && left_-- > 0)                                                        \
            (void)usleep(10000);                                                                   \
        assert_true(left_ > 0);                                                                    \
    } while (0)

static void common_name(struct wire *w, char name[64])
{
    X509 *cert = SSL_get1_peer_certificate(w->ssl);
    assert_non_null(cert);
    (void)X509_NAME_get_text_by_NID(X509_get_subject_name(cert), NID_commonName, name, 64);
    X509_free(cert);
}

/* ---- tests -------------------------------------------------------------------------------------
 */

static void answers_many_requests_on_one_connection(void **state)
{
    struct fixture *f = *state;
    write_first(f);
    start(f, (struct sw_webhook_server_opts){ 0 });
    struct wire w;
    assert_true(dial(f, &w, false));
    for (int i = 0; i < 50; i++) {
        SW_AUTO_CHARS *review = sw_printf(REVIEW, i), *request = post(review), *body = NULL;
        assert_int_equal(ask(&w, request, &body), 200);
        SW_AUTO_JSON *doc = NULL;
        assert_int_equal(sw_json_parse(body, strlen(body), NULL, &doc, NULL), 0);
        SW_AUTO_CHARS *uid = sw_printf("u-%d", i);
        assert_string_equal(sw_json_str(doc, "", "response", "uid", NULL), uid);
        assert_non_null(sw_json_find(doc, "response", "patch", NULL));
    }
    hang_up(&w);
}

static void answers_pipelined_requests_in_order(void **state)
{
    struct fixture *f = *state;
    write_first(f);
    start(f, (struct sw_webhook_server_opts){ 0 });
    struct wire w;
    assert_true(dial(f, &w, false));
    SW_AUTO_CHARS *one = sw_printf(REVIEW, 1), *two = sw_printf(REVIEW, 2);
    SW_AUTO_CHARS *first = post(one), *second = post(two);
    SW_AUTO_CHARS *all = sw_printf("%s" GET("/healthz") "%s", first, second);
    assert_true(wire_send(&w, all, strlen(all)));
    static const char *const words[] = { "\"u-1\"", "ok\n", "\"u-2\"" };
    for (size_t i = 0; i < SW_COUNT(words); i++) {
        SW_AUTO_CHARS *body = NULL;
        assert_int_equal(wire_receive(&w, &body), 200);
        assert_non_null(strstr(body, words[i]));
    }
    hang_up(&w);
}

static void a_request_may_come_byte_by_byte(void **state)
{
    struct fixture *f = *state;
    write_first(f);
    start(f, (struct sw_webhook_server_opts){ 0 });
    struct wire w;
    assert_true(dial(f, &w, false));
    SW_AUTO_CHARS *review = sw_printf(REVIEW, 1), *request = post(review), *body = NULL;
    for (const char *p = request; *p; p++)
        assert_true(wire_send(&w, p, 1));
    assert_int_equal(wire_receive(&w, &body), 200);
    hang_up(&w);
}

static void reads_chunked_bodies_and_goes_on_when_asked(void **state)
{
    struct fixture *f = *state;
    write_first(f);
    start(f, (struct sw_webhook_server_opts){ 0 });
    struct wire w;
    assert_true(dial(f, &w, false));
    SW_AUTO_CHARS *review = sw_printf(REVIEW, 7), *body = NULL, *after = NULL;
    SW_AUTO_CHARS *chunks = sw_printf("a\r\n%.10s\r\n%zx;x=y\r\n%s\r\n0\r\nT: x\r\n\r\n", review,
                                      strlen(review) - 10, review + 10);
    assert_int_equal(ask_status(&w, "POST /mutate-pod HTTP/1.1\r\nTransfer-Encoding: chunked\r\n"
                                    "Expect: 100-continue\r\n\r\n"),
                     100);
    assert_int_equal(ask(&w, chunks, &body), 200);
    assert_non_null(strstr(body, "\"u-7\""));
    assert_int_equal(ask(&w, GET("/healthz"), &after), 200);
    hang_up(&w);
}

static void refuses_what_is_wrong_with_a_status(void **state)
{
    struct fixture *f = *state;
    write_first(f);
    start(f, (struct sw_webhook_server_opts){ .serve.max_body_bytes = 1000 });
    static const struct {
        const char *request;
        int status;
        bool stays; /* open */
    } rows[] = {
        { "POST /mutate-pod HTTP/1.1\r\nContent-Length: 3\r\n\r\n{x}", 400, true },
        { "POST /mutate-pod HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", 400, true },
        { "POST /mutate-pod HTTP/1.1\r\nContent-Length: 0\r\n\r\n", 400, true },
        { "POST /mutate-pod HTTP/1.1\r\nContent-Type: text/xml\r\nContent-Length: 2\r\n\r\n{}", 415,
          true },
        { GET("/mutate-pod"), 405, true },
        { GET("/nothing"), 404, true },
        { "POST /mutate-pod HTTP/1.1\r\nContent-Length: 1001\r\n\r\n", 413, false },
        { "POST /mutate-pod HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", 400, false },
        { "POST /mutate-pod HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400, false },
        { "POST /m HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx", 400, false },
        { "POST /m HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400,
          false },
        { "POST /m HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 501, false },
        { "POST /m HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400, false },
        { "POST /m HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n400\r\n", 413, false },
        { "GET / HTTP/2.0\r\n\r\n", 505, false },
        { "garbage\r\n\r\n", 400, false },
        { "GET /healthz HTTP/1.1\r\n folded: x\r\n\r\n", 400, false },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        struct wire w;
        assert_true(dial(f, &w, false));
        const int status = ask_status(&w, rows[i].request);
        if (status != rows[i].status)
            fail_msg("row %zu: %d", i, status);
        assert_int_equal(ask_status(&w, GET("/healthz")), rows[i].stays ? 200 : 0);
        hang_up(&w);
    }
    struct wire w;
    assert_true(dial(f, &w, false));
    char chunks[32 * 1024] = "POST /m HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (size_t n = strlen(chunks); n + 256 < sizeof chunks; n += strlen(chunks + n))
        (void)snprintf(chunks + n, 256, "1;%0200d\r\nx\r\n", 1); /* much framing, little body */
    assert_int_equal(ask_status(&w, chunks), 413);
    hang_up(&w);
    assert_true(dial(f, &w, false));
    SW_AUTO_CHARS *long_head = sw_printf("GET / HTTP/1.1\r\nX: %20000d\r\n\r\n", 1);
    assert_int_equal(ask_status(&w, long_head), 431);
    hang_up(&w);
}

static void garbage_instead_of_a_handshake_harms_nobody(void **state)
{
    struct fixture *f = *state;
    write_first(f);
    start(f, (struct sw_webhook_server_opts){ 0 });
    struct wire bad, good;
    assert_true(dial(f, &bad, true));
    assert_true(wire_send(&bad, "GET / HTTP/1.1\r\n\r\n", 18));
    char byte[64];
    while (recv(bad.fd, byte, sizeof byte, 0) > 0) /* an alert, then the end */
        continue;
    assert_true(dial(f, &good, false));
    SW_AUTO_CHARS *body = NULL;
    assert_int_equal(ask(&good, GET("/metrics"), &body), 404); /* they have a port of their own */
    struct sw_serve_counts counts;
    sw_serve_count(sw_webhook_server_http(f->server), &counts);
    assert_int_equal(counts.handshake_errors, 1);
    hang_up(&bad);
    hang_up(&good);
}

static void slow_clients_are_hung_up_on(void **state)
{
    struct fixture *f = *state;
    write_first(f);
    start(f, (struct sw_webhook_server_opts){ .serve.request_ms = 300, .serve.idle_ms = 60000 });
    struct wire silent, slow, idle;
    assert_true(dial(f, &idle, false));
    assert_int_equal(ask_status(&idle, GET("/healthz")), 200);
    assert_true(dial(f, &silent, true)); /* never shakes hands */
    assert_true(dial(f, &slow, false));
    assert_true(wire_send(&slow, "POST /mutate-pod HTTP/1.1\r\n", 27));
    char byte;
    assert_true(recv(silent.fd, &byte, 1, 0) <= 0);
    assert_true(ended(&slow));
    assert_int_equal(ask_status(&idle, GET("/healthz")), 200); /* between requests there is time */
    hang_up(&silent);
    hang_up(&slow);
    hang_up(&idle);
}

static void a_new_certificate_is_taken_up_while_old_connections_stay(void **state)
{
    struct fixture *f = *state;
    write_first(f);
    start(f, (struct sw_webhook_server_opts){ 0 });
    struct wire old, now;
    char name[64];
    assert_true(dial(f, &old, false));
    common_name(&old, name);
    assert_string_equal(name, "first");
    write_pem(f->cert, f->second.cert, NULL); /* for a moment they do not belong together */
    (void)usleep(60000);
    assert_true(dial(f, &now, false));
    common_name(&now, name);
    assert_string_equal(name, "first");
    hang_up(&now);
    write_pem(f->key, NULL, f->second.key);
    bool second = false;
    for (int i = 0; i < 500 && !second; i++) {
        assert_true(dial(f, &now, false)); /* never without an answer in between */
        common_name(&now, name);
        second = strcmp(name, "second") == 0;
        assert_int_equal(ask_status(&now, GET("/readyz")), 200);
        hang_up(&now);
        (void)usleep(10000);
    }
    assert_true(second);
    assert_int_equal(ask_status(&old, GET("/healthz")), 200);
    hang_up(&old);
}

static bool ready(struct fixture *f)
{
    struct wire w;
    const bool yes = dial(f, &w, false) && ask_status(&w, GET("/readyz")) == 200;
    hang_up(&w);
    return yes;
}

static void a_certificate_is_waited_for(void **state)
{
    struct fixture *f = *state;
    start(f, (struct sw_webhook_server_opts){ 0 });
    assert_false(ready(f));
    write_first(f);
    EVENTUALLY(ready(f));
}

static void versions_and_suites_are_the_ones_asked_for(void **state)
{
    struct fixture *f = *state;
    write_first(f);
    start(f, (struct sw_webhook_server_opts){
                 .serve.min_version = "VersionTLS12",
                 .serve.cipher_suites =
                     "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,"
                     "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305,TLS_AES_256_GCM_SHA384" });
    struct wire w;
    assert_true(dial(f, &w, false));
    assert_string_equal(SSL_get_cipher_name(w.ssl), "TLS_AES_256_GCM_SHA384");
    hang_up(&w);
    (void)SSL_CTX_set_max_proto_version(f->client, TLS1_2_VERSION);
    (void)SSL_CTX_set_cipher_list(f->client, "ECDHE-ECDSA-CHACHA20-POLY1305");
    assert_true(dial(f, &w, false));
    assert_string_equal(SSL_get_cipher_name(w.ssl), "ECDHE-ECDSA-CHACHA20-POLY1305");
    hang_up(&w);
    (void)SSL_CTX_set_cipher_list(f->client, "ECDHE-ECDSA-AES128-GCM-SHA256");
    assert_false(dial(f, &w, false));
    hang_up(&w);
}

/* No suite of TLS 1.2 is in the list: none may be chosen. */
static void suites_of_13_alone_mean_13_alone(void **state)
{
    struct fixture *f = *state;
    write_first(f);
    start(f, (struct sw_webhook_server_opts){ .serve.cipher_suites = "TLS_AES_128_GCM_SHA256" });
    struct wire w;
    assert_true(dial(f, &w, false));
    assert_string_equal(SSL_get_cipher_name(w.ssl), "TLS_AES_128_GCM_SHA256");
    hang_up(&w);
    (void)SSL_CTX_set_max_proto_version(f->client, TLS1_2_VERSION);
    assert_false(dial(f, &w, false));
    hang_up(&w);
}

static void suites_that_nobody_has_any_more_are_left_out(void **state)
{
    struct fixture *f = *state;
    write_first(f);
    start(f, (struct sw_webhook_server_opts){
                 .serve.cipher_suites = "DES-CBC3-SHA,TLS_RSA_WITH_3DES_EDE_CBC_SHA,"
                                        "TLS_RSA_WITH_RC4_128_SHA,ECDHE-ECDSA-AES128-GCM-SHA256" });
    (void)SSL_CTX_set_max_proto_version(f->client, TLS1_2_VERSION);
    struct wire w;
    assert_true(dial(f, &w, false));
    assert_string_equal(SSL_get_cipher_name(w.ssl), "ECDHE-ECDSA-AES128-GCM-SHA256");
    hang_up(&w);
}

static void tls_12_is_refused_where_13_is_the_least(void **state)
{
    struct fixture *f = *state;
    write_first(f);
    start(f, (struct sw_webhook_server_opts){ .serve.min_version = "VersionTLS13" });
    (void)SSL_CTX_set_max_proto_version(f->client, TLS1_2_VERSION);
    struct wire w;
    assert_false(dial(f, &w, false));
    hang_up(&w);
}

static void http_11_is_chosen_where_h2_is_offered_too(void **state)
{
    struct fixture *f = *state;
    write_first(f);
    start(f, (struct sw_webhook_server_opts){ 0 });
    static const unsigned char offer[] = "\x02h2\x08http/1.1";
    (void)SSL_CTX_set_alpn_protos(f->client, offer, sizeof offer - 1);
    struct wire w;
    assert_true(dial(f, &w, false));
    const unsigned char *chosen;
    unsigned len;
    SSL_get0_alpn_selected(w.ssl, &chosen, &len);
    assert_int_equal(len, 8);
    assert_memory_equal(chosen, "http/1.1", 8);
    hang_up(&w);
}

static void stopping_lets_requests_finish(void **state)
{
    struct fixture *f = *state;
    write_first(f);
    start(f, (struct sw_webhook_server_opts){ .serve.drain_ms = 200 });
    struct wire busy, idle, other;
    SW_AUTO_CHARS *review = sw_printf(REVIEW, 1), *request = post(review), *body = NULL;
    assert_true(dial(f, &busy, false));
    assert_true(dial(f, &idle, false));
    assert_true(wire_send(&busy, request, strlen(request) - 5));
    assert_int_equal(ask_status(&idle, GET("/readyz")), 200);
    atomic_store(&f->stop, true);
    EVENTUALLY(!ready(f)); /* the door is open, but nobody is to come */
    EVENTUALLY(!dial(f, &other, true) || (hang_up(&other), false));
    hang_up(&other);
    assert_true(wire_send(&busy, request + strlen(request) - 5, 5));
    assert_int_equal(wire_receive(&busy, &body), 200);
    assert_true(ended(&busy));
    assert_int_equal(ask_status(&idle, GET("/healthz")), 0);
    hang_up(&busy);
    hang_up(&idle);
}

static void too_many_connections_wait_their_turn(void **state)
{
    struct fixture *f = *state;
    write_first(f);
    start_plain(f, (struct sw_webhook_server_opts){ .serve.max_conns = 2 });
    struct wire w[3];
    SW_AUTO_CHARS *body = NULL;
    for (int i = 0; i < 2; i++) {
        assert_true(dial(f, &w[i], true));
        assert_int_equal(ask_status(&w[i], GET("/healthz")), 200);
    }
    assert_true(dial(f, &w[2], true)); /* in the backlog */
    assert_true(wire_send(&w[2], GET("/readyz"), strlen(GET("/readyz"))));
    hang_up(&w[0]);
    assert_int_equal(wire_receive(&w[2], &body), 200);
    hang_up(&w[1]);
    hang_up(&w[2]);
}

static void bad_options_are_named(void **state)
{
    struct fixture *f = *state;
#define TLS .tls = &sw_serve_openssl, .cert_file = "a"
    static const struct {
        struct sw_webhook_server_opts opts;
        const char *words;
    } rows[] = {
        { { .serve = { TLS, .key_file = "b", .min_version = "TLS9" } }, "'TLS9'" },
        { { .serve = { TLS, .key_file = "b", .cipher_suites = "TLS_AES_128_GCM_SHA256,NOPE" } },
          "'NOPE'" },
        { { .serve = { TLS, .key_file = "b", .cipher_suites = "DES-CBC3-SHA" } },
          "none of the cipher suites" },
        { { .serve = { TLS } }, "key file" },
        { { .serve = { .address = "no.address" } }, "no.address" },
    };
#undef TLS
    f->loop = sw_loop_new(NULL);
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_ERR(err);
        struct sw_webhook_server *server;
        assert_int_equal(sw_webhook_server_open(f->loop, &rows[i].opts, &server, &err), SW_INVALID);
        if (!strstr(sw_err_text(&err), rows[i].words))
            fail_msg("%s", sw_err_text(&err));
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(answers_many_requests_on_one_connection),
        TEST(answers_pipelined_requests_in_order),
        TEST(a_request_may_come_byte_by_byte),
        TEST(reads_chunked_bodies_and_goes_on_when_asked),
        TEST(refuses_what_is_wrong_with_a_status),
        TEST(garbage_instead_of_a_handshake_harms_nobody),
        TEST(slow_clients_are_hung_up_on),
        TEST(a_new_certificate_is_taken_up_while_old_connections_stay),
        TEST(a_certificate_is_waited_for),
        TEST(versions_and_suites_are_the_ones_asked_for),
        TEST(suites_of_13_alone_mean_13_alone),
        TEST(suites_that_nobody_has_any_more_are_left_out),
        TEST(tls_12_is_refused_where_13_is_the_least),
        TEST(http_11_is_chosen_where_h2_is_offered_too),
        TEST(stopping_lets_requests_finish),
        TEST(too_many_connections_wait_their_turn),
        TEST(bad_options_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
