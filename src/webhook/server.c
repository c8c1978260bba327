/* Connections, requests, answers. One loop, no callback waits. */
#include <errno.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <event2/util.h>
#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "webhook/conn.h"
#include "webhook/http.h"
#include "webhook/metrics.h"
#include "webhook/tls.h"
#include "webhook/webhook.h"

enum {
    READS_PER_TURN = 16, /* then the others have a turn */
    GRACE_MS = 5000,     /* for requests that are under way when the door closes */
};

struct peer {
    struct sw_webhook_server *server;
    struct sw_conn conn;
    struct event *readable, *writable;
    struct sw_http_progress progress;
    bool shaken;  /* the handshake is over */
    bool stalled; /* answers wait for the other side to read */
    bool last;    /* close when all answers are out */
    int64_t deadline_ms;
    struct peer *prev, *next;
};

struct sw_webhook_server {
    struct sw_loop *loop;
    struct sw_webhook_server_opts opts;
    struct sw_webhook_tls tls;
    struct sw_webhook_reader *reader;
    struct sw_webhook_metrics metrics;
    struct evconnlistener *listener;
    struct sw_timer *tick, *drain;
    struct peer *peers;
    int64_t next_look_ms;   /* at the certificate */
    uint64_t trimmed_conns; /* connections seen when memory was given back last */
    bool full, stopping, closing;
};

/* ---- answers -----------------------------------------------------------------------------------
 */

static void answer(struct peer *p, int status, const char *type, const char *body, size_t len)
{
    char head[192];
    const int n = snprintf(
        head, sizeof head, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n%s\r\n",
        status, sw_http_reason(status), type, len, p->last ? "Connection: close\r\n" : "");
    sw_conn_put(&p->conn, head, (size_t)n);
    sw_conn_put(&p->conn, body, len);
}

static void answer_text(struct peer *p, int status, const char *text)
{
    answer(p, status, "text/plain; charset=utf-8", text, strlen(text));
}

static uint64_t now_ns(void)
{
    struct timespec ts;
    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void serve_mutate(struct peer *p, const struct sw_http_request *r)
{
    struct sw_webhook_server *s = p->server;
    struct sw_webhook_answer a = { 0 };
    SW_ERR(err);
    if (r->not_json) {
        s->metrics.bad_requests++;
        answer_text(p, 415, "expected Content-Type: application/json\n");
        return;
    }
    const uint64_t begin = now_ns();
    if (sw_webhook_read(s->reader, &s->opts.policy, r->body, r->body_len, &a, &err) < 0) {
        s->metrics.bad_requests++;
        (void)sw_err_wrap(&err, SW_INVALID, "bad request");
        answer_text(p, 400, sw_err_text(&err));
        return;
    }
    sw_webhook_metrics_observe(&s->metrics, now_ns() - begin);
    s->metrics.outcomes[a.outcome]++;
    answer(p, 200, "application/json", a.text, a.len_bytes);
    if (a.outcome == SW_WEBHOOK_MUTATED)
        sw_log(SW_LOG_INFO, "pod mutated", "pod", a.pod, NULL);
    else if (a.outcome == SW_WEBHOOK_DENIED)
        sw_log(SW_LOG_INFO, "pod denied", "pod", a.pod, "reason", a.reason, NULL);
    sw_webhook_answer_done(&a);
}

static void serve_healthz(struct peer *p, const struct sw_http_request *r SW_UNUSED)
{
    answer_text(p, 200, "ok\n");
}

static void serve_readyz(struct peer *p, const struct sw_http_request *r SW_UNUSED)
{
    const struct sw_webhook_server *s = p->server;
    if (s->stopping)
        answer_text(p, 503, "going down\n");
    else if (!s->opts.plain_http && !s->tls.ctx)
        answer_text(p, 503, "no certificate\n");
    else
        answer_text(p, 200, "ok\n");
}

static void serve_metrics(struct peer *p, const struct sw_http_request *r SW_UNUSED)
{
    size_t len;
    p->server->metrics.not_after = p->server->tls.not_after;
    SW_AUTO_CHARS *text = sw_webhook_metrics_text(&p->server->metrics, &len);
    answer(p, 200, "text/plain; version=0.0.4", text, len);
}

static const struct {
    const char *method, *path;
    void (*serve)(struct peer *p, const struct sw_http_request *r);
} routes[] = {
    { "POST", "/mutate-pod", serve_mutate },
    { "GET", "/healthz", serve_healthz },
    { "GET", "/readyz", serve_readyz },
    { "GET", "/metrics", serve_metrics },
};

static bool is(const char *text, size_t len, const char *what)
{
    return strlen(what) == len && memcmp(text, what, len) == 0;
}

static void serve(struct peer *p, const struct sw_http_request *r)
{
    for (size_t i = 0; i < SW_COUNT(routes); i++) {
        if (!is(r->path, r->path_len, routes[i].path))
            continue;
        if (is(r->method, r->method_len, routes[i].method))
            routes[i].serve(p, r);
        else
            answer_text(p, 405, "method not allowed here\n");
        return;
    }
    answer_text(p, 404, "not found: /mutate-pod, /healthz, /readyz, /metrics\n");
}

/* ---- connections -------------------------------------------------------------------------------
 */

static void maybe_finished(struct sw_webhook_server *s)
{
    if (s->closing && !s->peers)
        sw_loop_stop(s->loop);
}

static void hang_up(struct peer *p)
{
    struct sw_webhook_server *s = p->server;
    if (p->prev)
        p->prev->next = p->next;
    else
        s->peers = p->next;
    if (p->next)
        p->next->prev = p->prev;
    event_free(p->readable);
    event_free(p->writable);
    sw_conn_done(&p->conn);
    free(p);
    s->metrics.open_conns--;
    if (s->full && s->listener) {
        s->full = false;
        (void)evconnlistener_enable(s->listener);
    }
    maybe_finished(s);
}

static void set_deadline(struct peer *p, int64_t in_ms)
{
    p->deadline_ms = sw_loop_now_ms(p->server->loop) + in_ms;
}

/* Serve what has arrived completely. */
static void serve_all(struct peer *p)
{
    struct sw_conn_buffer *in = &p->conn.in;
    while (in->at < in->len && !p->last) {
        struct sw_http_request r;
        const int rc = sw_http_next(&p->progress, in->bytes + in->at, in->len - in->at,
                                    p->server->opts.max_body_bytes, &r);
        if (rc == 0) {
            if (p->progress.wants_continue && p->progress.head_len) {
                static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
                sw_conn_put(&p->conn, go_on, sizeof go_on - 1);
                p->progress.wants_continue = false;
            }
            return;
        }
        if (rc != 1) {
            p->server->metrics.bad_requests++;
            p->last = true;
            answer_text(p, rc, sw_http_reason(rc));
            return;
        }
        p->last = !r.keep_alive || p->server->stopping;
        serve(p, &r);
        sw_conn_consume(&p->conn, r.total_len);
        p->progress = (struct sw_http_progress){ 0 };
    }
}

/* @return false: the peer is gone */
static bool flush(struct peer *p)
{
    const enum sw_conn_result rc = sw_conn_flush(&p->conn);
    if (rc == SW_CONN_CLOSED || (rc == SW_CONN_OK && p->last)) {
        hang_up(p);
        return false;
    }
    if (rc == SW_CONN_WANT_WRITE) {
        if (!p->stalled)
            set_deadline(p, p->server->opts.request_ms);
        p->stalled = true; /* and nothing is read until it is out */
        (void)event_del(p->readable);
        (void)event_add(p->writable, NULL);
        return true;
    }
    if (p->stalled)
        (void)event_add(p->readable, NULL);
    p->stalled = false;
    return true;
}

/* @return false: not over, or the peer is gone */
static bool shake_hands(struct peer *p)
{
    switch (sw_conn_handshake(&p->conn)) {
    case SW_CONN_OK:
        p->shaken = true;
        set_deadline(p, p->server->opts.request_ms);
        return true;
    case SW_CONN_WANT_READ:
        return false;
    case SW_CONN_WANT_WRITE:
        (void)event_add(p->writable, NULL);
        return false;
    case SW_CONN_CLOSED:
        break;
    }
    p->server->metrics.handshake_errors++;
    hang_up(p);
    return false;
}

static void pump(struct peer *p)
{
    if (!p->shaken && !shake_hands(p))
        return;
    for (int i = 0; i < READS_PER_TURN; i++) {
        const bool fresh = p->conn.in.len == p->conn.in.at;
        const enum sw_conn_result rc = sw_conn_read(&p->conn);
        if (rc == SW_CONN_CLOSED) {
            hang_up(p);
            return;
        }
        if (rc != SW_CONN_OK)
            return;
        if (fresh)
            set_deadline(p, p->server->opts.request_ms);
        serve_all(p);
        if (p->conn.out.len && !flush(p))
            return;
        if (p->stalled)
            return;
        if (p->conn.in.len == p->conn.in.at)
            set_deadline(p, p->server->opts.idle_ms);
        if (!sw_conn_has_more(&p->conn))
            return;
    }
    event_active(p->readable, EV_READ, 0); /* the socket does not know of what OpenSSL holds */
}

static void on_readable(evutil_socket_t fd SW_UNUSED, short what SW_UNUSED, void *arg)
{
    pump(arg);
}

static void on_writable(evutil_socket_t fd SW_UNUSED, short what SW_UNUSED, void *arg)
{
    struct peer *p = arg;
    if (p->shaken) {
        if (!flush(p) || p->stalled)
            return;
        set_deadline(p, p->server->opts.idle_ms);
    }
    pump(p);
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd,
                      struct sockaddr *from SW_UNUSED, int from_len SW_UNUSED, void *arg)
{
    struct sw_webhook_server *s = arg;
    s->metrics.conns++;
    if (!s->opts.plain_http && !s->tls.ctx) {
        (void)evutil_closesocket(fd); /* no certificate, nothing to say */
        return;
    }
    const int on = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* a delay at worst */
    struct peer *p = sw_zalloc(1, sizeof *p);
    p->server = s;
    sw_conn_init(&p->conn, fd, s->opts.plain_http ? NULL : s->tls.ctx);
    struct event_base *base = sw_loop_base(s->loop);
    p->readable = event_new(base, fd, EV_READ | EV_PERSIST, on_readable, p);
    p->writable = event_new(base, fd, EV_WRITE, on_writable, p);
    p->next = s->peers;
    if (s->peers)
        s->peers->prev = p;
    s->peers = p;
    s->metrics.open_conns++;
    set_deadline(p, s->opts.request_ms);
    (void)event_add(p->readable, NULL);
    if (s->metrics.open_conns >= (unsigned)s->opts.max_conns) {
        s->full = true;
        (void)evconnlistener_disable(listener);
    }
}

/* Out of descriptors, most likely: look again at the next tick. */
static void on_accept_error(struct evconnlistener *listener, void *arg)
{
    struct sw_webhook_server *s = arg;
    sw_log(SW_LOG_WARN, "accept failed", "error", strerror(errno), NULL);
    s->full = true;
    (void)evconnlistener_disable(listener);
}

/* ---- time --------------------------------------------------------------------------------------
 */

static void refresh_certificate(struct sw_webhook_server *s, int64_t now_ms)
{
    if (s->opts.plain_http || now_ms < s->next_look_ms)
        return;
    s->next_look_ms = now_ms + s->opts.reload_ms;
    if (!sw_webhook_tls_refresh(&s->tls))
        return;
    s->metrics.reloads = s->tls.n_loads;
    char when[21];
    sw_log(SW_LOG_INFO, "certificate in use", "file", s->opts.cert_file, "expires",
           sw_time_rfc3339((int64_t)s->tls.not_after * 1000, when), NULL);
}

static void on_tick(void *arg)
{
    struct sw_webhook_server *s = arg;
    const int64_t now_ms = sw_loop_now_ms(s->loop);
    for (struct peer *p = s->peers, *next; p; p = next) {
        next = p->next;
        const bool idle = p->shaken && !p->stalled && p->conn.in.len == p->conn.in.at;
        if (now_ms < p->deadline_ms && !(s->closing && idle))
            continue;
        s->metrics.timeouts += !idle;
        hang_up(p);
    }
    refresh_certificate(s, now_ms);
    if (s->trimmed_conns != s->metrics.conns) { /* handshakes leave holes behind: give them back */
        s->trimmed_conns = s->metrics.conns;
        (void)malloc_trim(0);
    }
    if (s->full && s->listener && s->metrics.open_conns < (unsigned)s->opts.max_conns) {
        s->full = false;
        (void)evconnlistener_enable(s->listener);
    }
    int64_t in_ms = s->opts.reload_ms < s->opts.request_ms ? s->opts.reload_ms : s->opts.request_ms;
    sw_timer_set(s->tick, in_ms < 1000 ? in_ms : 1000);
}

static void on_drained(void *arg)
{
    struct sw_webhook_server *s = arg;
    if (s->closing) { /* the grace is over */
        while (s->peers)
            hang_up(s->peers);
        return;
    }
    s->closing = true;
    evconnlistener_free(s->listener);
    s->listener = NULL;
    sw_timer_set(s->drain, GRACE_MS);
    maybe_finished(s);
    on_tick(s); /* hangs up on those who wait */
}

void sw_webhook_server_stop(struct sw_webhook_server *server)
{
    if (server->stopping)
        return;
    server->stopping = true;
    sw_log(SW_LOG_INFO, "going down", NULL);
    sw_timer_set(server->drain, server->opts.drain_ms);
}

/* ---- opening and closing -----------------------------------------------------------------------
 */

static int listen_on(struct sw_webhook_server *s, struct sw_err *err)
{
    const char *address = s->opts.address ? s->opts.address : "0.0.0.0";
    struct sockaddr_storage addr = { 0 };
    int len = sizeof addr;
    const bool v6 = strchr(address, ':') != NULL && address[0] != '[';
    SW_AUTO_CHARS *text = sw_printf(v6 ? "[%s]:%d" : "%s:%d", address, s->opts.port);
    /* port 0 cannot be said in text */
    SW_AUTO_CHARS *bare = sw_printf(v6 ? "[%s]" : "%s", address);
    if (evutil_parse_sockaddr_port(bare, (struct sockaddr *)&addr, &len) != 0 || s->opts.port < 0 ||
        s->opts.port > 65535)
        return sw_err_set(err, SW_INVALID, "'%s' is no address to listen on", text);
    if (addr.ss_family == AF_INET6)
        ((struct sockaddr_in6 *)&addr)->sin6_port = htons((uint16_t)s->opts.port);
    else
        ((struct sockaddr_in *)&addr)->sin_port = htons((uint16_t)s->opts.port);
    s->listener = evconnlistener_new_bind(sw_loop_base(s->loop), on_accept, s,
                                          LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC |
                                              LEV_OPT_REUSEABLE,
                                          512, (struct sockaddr *)&addr, len);
    if (!s->listener)
        return sw_err_set(err, errno == EACCES ? SW_FORBIDDEN : SW_UNAVAILABLE, "listen on %s: %s",
                          text, strerror(errno));
    evconnlistener_set_error_cb(s->listener, on_accept_error);
    return 0;
}

static void fill_defaults(struct sw_webhook_server_opts *o)
{
    o->request_ms = o->request_ms ? o->request_ms : 10 * 1000;
    o->idle_ms = o->idle_ms ? o->idle_ms : 120 * 1000;
    o->reload_ms = o->reload_ms ? o->reload_ms : 1000;
    o->max_body_bytes = o->max_body_bytes ? o->max_body_bytes : 3 * 1024 * 1024;
    o->max_conns = o->max_conns ? o->max_conns : 1024;
}

static int open_tls(struct sw_webhook_server *s, struct sw_err *err)
{
    if (!s->opts.cert_file || !s->opts.key_file)
        return sw_err_set(err, SW_INVALID, "TLS needs a certificate and a key file");
    s->tls.cert_file = s->opts.cert_file;
    s->tls.key_file = s->opts.key_file;
    s->tls.ca_file = s->opts.ca_file;
    return sw_webhook_tls_init(&s->tls, s->opts.min_version, s->opts.cipher_suites, err);
}

int sw_webhook_server_open(struct sw_loop *loop, const struct sw_webhook_server_opts *opts,
                           struct sw_webhook_server **out, struct sw_err *err)
{
    struct sw_webhook_server *s = sw_zalloc(1, sizeof *s);
    s->loop = loop;
    s->opts = *opts;
    fill_defaults(&s->opts);
    s->reader = sw_webhook_reader_new();
    s->tick = sw_timer_new(loop, on_tick, s);
    s->drain = sw_timer_new(loop, on_drained, s);
    int rc = s->opts.plain_http ? 0 : open_tls(s, err);
    if (rc == 0)
        rc = listen_on(s, err);
    if (rc < 0) {
        sw_webhook_server_close(s);
        return rc;
    }
    on_tick(s);
    *out = s;
    return 0;
}

int sw_webhook_server_port(const struct sw_webhook_server *server)
{
    struct sockaddr_storage addr = { 0 };
    socklen_t len = sizeof addr;
    if (getsockname(evconnlistener_get_fd(server->listener), (struct sockaddr *)&addr, &len) != 0)
        return 0;
    return ntohs(addr.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&addr)->sin6_port
                                            : ((struct sockaddr_in *)&addr)->sin_port);
}

void sw_webhook_server_close(struct sw_webhook_server *server)
{
    if (!server)
        return;
    server->closing = false; /* the loop is the caller's again */
    server->full = false;
    while (server->peers)
        hang_up(server->peers);
    if (server->listener)
        evconnlistener_free(server->listener);
    sw_timer_free(server->tick);
    sw_timer_free(server->drain);
    sw_webhook_tls_done(&server->tls);
    sw_webhook_reader_free(server->reader);
    free(server);
}
