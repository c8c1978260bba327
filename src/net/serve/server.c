/* Connections, requests, answers. One loop, no callback waits. */
#include <errno.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <event2/util.h>
#include <json-c/printbuf.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "net/serve/conn.h"
#include "net/serve/listen.h"
#include "net/serve/request.h"
#include "net/serve/serve.h"
#include "net/serve/tls.h"

enum {
    READS_PER_TURN = 16,     /* then the others have a turn */
    GRACE_MS = 5000,         /* for requests that are under way when the door closes */
    SMALL_BYTES = 32 * 1024, /* what each connection may read, however many there are */
};

static const char too_much[] = "too much is asked at once; try again\n";

/* One connection; it is also the reply that a route gets. */
struct sw_serve_reply {
    struct sw_serve *server; /* NULL: it is gone, only the answer is still to come */
    struct sw_conn conn;
    struct event *readable, *writable;
    struct sw_serve_progress progress;
    size_t skip;  /* bytes still to come of a request that is refused */
    bool shaken;  /* the handshake is over */
    bool stalled; /* answers wait for the other side to read */
    bool last;    /* close when all answers are out */
    bool asked;   /* a route has not answered yet */
    bool serving; /* within the route's call */
    int64_t deadline_ms;
    struct sw_serve_reply *prev, *next;
};

struct sw_serve {
    struct sw_loop *loop;
    struct sw_serve_opts opts;
    struct sw_serve_tls tls;
    struct sw_serve_counts counts;
    struct evconnlistener *listener;
    struct sw_timer *tick, *drain;
    struct sw_serve_reply *peers;
    struct sw_conn_spare spare;
    int64_t next_look_ms;   /* at the certificate */
    uint64_t settled_conns; /* connections seen when memory was given back last */
    bool full, stopping, closing;
};

/* ---- answers -----------------------------------------------------------------------------------
 */

static void put_answer(struct sw_serve_reply *p, int status, const char *type, const char *body,
                       size_t len)
{
    char head[192];
    const int n = snprintf(
        head, sizeof head, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n%s%s\r\n",
        status, sw_serve_reason(status), type, len, status == 503 ? "Retry-After: 1\r\n" : "",
        p->last ? "Connection: close\r\n" : "");
    sw_conn_put(&p->conn, head, (size_t)n);
    sw_conn_put(&p->conn, body, len);
}

static bool is(const char *text, size_t len, const char *what)
{
    return strlen(what) == len && memcmp(text, what, len) == 0;
}

static void not_found(struct sw_serve_reply *p)
{
    const struct sw_serve_opts *o = &p->server->opts;
    struct printbuf *text = printbuf_new();
    for (size_t i = 0; i < o->n_routes; i++)
        sprintbuf(text, "%s%s", i ? ", " : "not found: ", o->routes[i].path);
    (void)printbuf_memappend(text, "\n", 1);
    sw_serve_answer(p, 404, "text/plain; charset=utf-8", text->buf, (size_t)text->bpos);
    printbuf_free(text);
}

static void route(struct sw_serve_reply *p, const struct sw_serve_request *r)
{
    const struct sw_serve_opts *o = &p->server->opts;
    bool known = false;
    for (size_t i = 0; i < o->n_routes; i++) {
        if (!is(r->path, r->path_len, o->routes[i].path))
            continue;
        known = true;
        if (!is(r->method, r->method_len, o->routes[i].method))
            continue;
        o->routes[i].serve(r, p, o->arg);
        return;
    }
    if (known)
        sw_serve_text(p, 405, "method not allowed here\n");
    else
        not_found(p);
}

/* ---- connections -------------------------------------------------------------------------------
 */

static void maybe_finished(struct sw_serve *s)
{
    if (s->closing && !s->peers && s->opts.on_stopped)
        s->opts.on_stopped(s->opts.arg);
}

static void hang_up(struct sw_serve_reply *p)
{
    struct sw_serve *s = p->server;
    if (p->prev)
        p->prev->next = p->next;
    else
        s->peers = p->next;
    if (p->next)
        p->next->prev = p->prev;
    event_free(p->readable);
    event_free(p->writable);
    sw_conn_done(&p->conn);
    p->server = NULL;
    if (!p->asked) /* else its answer frees it */
        free(p);
    s->counts.open_conns--;
    if (s->full && s->listener) {
        s->full = false;
        (void)evconnlistener_enable(s->listener);
    }
    maybe_finished(s);
}

static void set_deadline(struct sw_serve_reply *p, int64_t in_ms)
{
    p->deadline_ms = sw_loop_now_ms(p->server->loop) + in_ms;
}

static void refuse(struct sw_serve_reply *p, int status, const char *why)
{
    put_answer(p, status, "text/plain; charset=utf-8", why, strlen(why));
}

static size_t body_bytes(const struct sw_serve_reply *p)
{
    const struct sw_serve_progress *at = &p->progress;
    return !at->head_len ? 0 : at->chunked ? p->server->opts.max_body_bytes : at->content_len;
}

/* Whether the request whose head has come fits in beside the others. */
static bool has_room(const struct sw_serve_reply *p)
{
    const struct sw_serve *s = p->server;
    const size_t wanted = body_bytes(p);
    size_t taken = 0;
    for (const struct sw_serve_reply *q = s->peers; q && wanted > SMALL_BYTES; q = q->next)
        if (q != p)
            taken += body_bytes(q) + q->conn.out.len - q->conn.out.at;
    return !taken || taken + wanted <= s->opts.max_bodies_bytes;
}

/* What is left of a body of known length is read past: who is still writing would not hear. */
static void crowd_out(struct sw_serve_reply *p)
{
    const struct sw_serve_progress was = p->progress;
    p->server->counts.crowded_out++;
    p->progress = (struct sw_serve_progress){ 0 };
    if (was.chunked || was.wants_continue) {
        p->last = true;
        refuse(p, 503, too_much);
    } else {
        p->skip = was.head_len + was.content_len;
    }
}

/* @return false: there is more to skip */
static bool skip_refused(struct sw_serve_reply *p)
{
    const size_t here = p->conn.in.len - p->conn.in.at, n = p->skip < here ? p->skip : here;
    if (!p->skip)
        return true;
    sw_conn_consume(&p->conn, n);
    p->skip -= n;
    if (p->skip)
        return false;
    p->last = p->server->stopping;
    refuse(p, 503, too_much);
    return true;
}

/* Nothing of a request has come. */
static bool is_between(const struct sw_serve_reply *p)
{
    return p->conn.in.len == p->conn.in.at && !p->skip;
}

/* Serve what has arrived completely. */
static void serve_all(struct sw_serve_reply *p)
{
    struct sw_conn_buffer *in = &p->conn.in;
    while (skip_refused(p) && in->at < in->len && !p->last && !p->asked) {
        struct sw_serve_request r;
        const bool begun = p->progress.head_len > 0;
        const int rc = sw_serve_next(&p->progress, in->bytes + in->at, in->len - in->at,
                                     p->server->opts.max_body_bytes, &r);
        if (rc == 0 && !begun && p->progress.head_len && !has_room(p)) {
            crowd_out(p);
            continue;
        }
        if (rc == 0) {
            if (p->progress.wants_continue && p->progress.head_len) {
                static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
                sw_conn_put(&p->conn, go_on, sizeof go_on - 1);
                p->progress.wants_continue = false;
            }
            return;
        }
        if (rc != 1) {
            p->server->counts.bad_requests++;
            p->last = true;
            refuse(p, rc, sw_serve_reason(rc));
            return;
        }
        p->last = !r.keep_alive || p->server->stopping;
        p->asked = p->serving = true;
        route(p, &r);
        p->serving = false;
        sw_conn_consume(&p->conn, r.total_len);
        p->progress = (struct sw_serve_progress){ 0 };
    }
}

/* @return false: the peer is gone */
static bool flush(struct sw_serve_reply *p)
{
    const enum sw_conn_result rc = sw_conn_flush(&p->conn);
    if (rc == SW_CONN_CLOSED || (rc == SW_CONN_OK && p->last && !p->asked)) {
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
    if (p->stalled && !p->asked)
        (void)event_add(p->readable, NULL);
    p->stalled = false;
    return true;
}

/* @return false: not over, or the peer is gone */
static bool shake_hands(struct sw_serve_reply *p)
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
    p->server->counts.handshake_errors++;
    hang_up(p);
    return false;
}

/* What is answered goes out; while an answer is still to come nothing is read.
 * @return false: the peer is gone */
static bool rest(struct sw_serve_reply *p)
{
    if (p->conn.out.len && !flush(p))
        return false;
    if (p->asked) {
        (void)event_del(p->readable);
        p->deadline_ms = INT64_MAX;
    }
    return true;
}

static void pump(struct sw_serve_reply *p)
{
    if (!p->shaken && !shake_hands(p))
        return;
    for (int i = 0; i < READS_PER_TURN; i++) {
        const bool fresh = is_between(p);
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
        if (!rest(p) || p->asked || p->stalled)
            return;
        if (is_between(p))
            set_deadline(p, p->server->opts.idle_ms);
        if (!sw_conn_has_more(&p->conn))
            return;
    }
    event_active(p->readable, EV_READ, 0); /* the socket does not know of what OpenSSL holds */
}

void sw_serve_answer(struct sw_serve_reply *p, int status, const char *type, const char *body,
                     size_t len_bytes)
{
    p->asked = false;
    if (!p->server) {
        free(p);
        return;
    }
    put_answer(p, status, type, body, len_bytes);
    if (p->serving)
        return; /* pump() goes on */
    (void)event_add(p->readable, NULL);
    set_deadline(p, p->server->opts.request_ms);
    serve_all(p); /* what came behind it meanwhile */
    if (rest(p) && !p->stalled && !p->asked && is_between(p))
        set_deadline(p, p->server->opts.idle_ms);
}

void sw_serve_text(struct sw_serve_reply *reply, int status, const char *text)
{
    sw_serve_answer(reply, status, "text/plain; charset=utf-8", text, strlen(text));
}

void sw_serve_json(struct sw_serve_reply *reply, const char *text, size_t len_bytes)
{
    sw_serve_answer(reply, 200, "application/json", text, len_bytes);
}

static void on_readable(evutil_socket_t fd SW_UNUSED, short what SW_UNUSED, void *arg)
{
    pump(arg);
}

static void on_writable(evutil_socket_t fd SW_UNUSED, short what SW_UNUSED, void *arg)
{
    struct sw_serve_reply *p = arg;
    if (p->shaken) {
        if (!flush(p) || p->stalled || p->asked)
            return;
        set_deadline(p, p->server->opts.idle_ms);
    }
    pump(p);
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd,
                      struct sockaddr *from SW_UNUSED, int from_len SW_UNUSED, void *arg)
{
    struct sw_serve *s = arg;
    s->counts.conns++;
    if (!s->opts.plain_http && !s->tls.ctx) {
        (void)evutil_closesocket(fd); /* no certificate, nothing to say */
        return;
    }
    const int on = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* a delay at worst */
    struct sw_serve_reply *p = sw_zalloc(1, sizeof *p);
    p->server = s;
    sw_conn_init(&p->conn, fd, s->opts.plain_http ? NULL : s->tls.ctx, &s->spare);
    struct event_base *base = sw_loop_base(s->loop);
    p->readable = event_new(base, fd, EV_READ | EV_PERSIST, on_readable, p);
    p->writable = event_new(base, fd, EV_WRITE, on_writable, p);
    p->next = s->peers;
    if (s->peers)
        s->peers->prev = p;
    s->peers = p;
    s->counts.open_conns++;
    set_deadline(p, s->opts.request_ms);
    (void)event_add(p->readable, NULL);
    if (s->counts.open_conns >= (unsigned)s->opts.max_conns) {
        s->full = true;
        (void)evconnlistener_disable(listener);
    }
}

/* Out of descriptors, most likely: look again at the next tick. */
static void on_accept_error(struct evconnlistener *listener, void *arg)
{
    struct sw_serve *s = arg;
    sw_log(SW_LOG_WARN, "accept failed", "error", strerror(errno), NULL);
    s->full = true;
    (void)evconnlistener_disable(listener);
}

/* ---- time --------------------------------------------------------------------------------------
 */

static void refresh_certificate(struct sw_serve *s, int64_t now_ms)
{
    if (s->opts.plain_http || now_ms < s->next_look_ms)
        return;
    s->next_look_ms = now_ms + s->opts.reload_ms;
    if (!sw_serve_tls_refresh(&s->tls))
        return;
    s->counts.reloads = s->tls.n_loads;
    char when[21];
    sw_log(SW_LOG_INFO, "certificate in use", "file", s->opts.cert_file, "expires",
           sw_time_rfc3339((int64_t)s->tls.not_after * 1000, when), NULL);
}

static void on_tick(void *arg)
{
    struct sw_serve *s = arg;
    const int64_t now_ms = sw_loop_now_ms(s->loop);
    for (struct sw_serve_reply *p = s->peers, *next; p; p = next) {
        next = p->next;
        const bool idle = p->shaken && !p->stalled && !p->asked && is_between(p);
        if (now_ms < p->deadline_ms && !(s->closing && idle))
            continue;
        s->counts.timeouts += !idle;
        hang_up(p);
    }
    refresh_certificate(s, now_ms);
    /* handshakes leave holes in the heap and much code behind, as the start does */
    if (!s->opts.plain_http && s->settled_conns != s->counts.conns) {
        s->settled_conns = s->counts.conns;
        sw_memory_settle();
    }
    if (s->full && s->listener && s->counts.open_conns < (unsigned)s->opts.max_conns) {
        s->full = false;
        (void)evconnlistener_enable(s->listener);
    }
    int64_t in_ms = s->opts.reload_ms < s->opts.request_ms ? s->opts.reload_ms : s->opts.request_ms;
    sw_timer_set(s->tick, in_ms < 1000 ? in_ms : 1000);
}

static void on_drained(void *arg)
{
    struct sw_serve *s = arg;
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

void sw_serve_stop(struct sw_serve *server)
{
    if (server->stopping)
        return;
    server->stopping = true;
    sw_log(SW_LOG_INFO, "going down", NULL);
    sw_timer_set(server->drain, server->opts.drain_ms);
}

/* ---- opening and closing -----------------------------------------------------------------------
 */

static int listen_on(struct sw_serve *s, struct sw_err *err)
{
    int rc = sw_serve_listen(s->loop, s->opts.address, s->opts.port, on_accept, s, &s->listener,
                             err);
    if (rc == 0)
        evconnlistener_set_error_cb(s->listener, on_accept_error);
    return rc;
}

static void fill_defaults(struct sw_serve_opts *o)
{
    o->request_ms = o->request_ms ? o->request_ms : 10 * 1000;
    o->idle_ms = o->idle_ms ? o->idle_ms : 120 * 1000;
    o->reload_ms = o->reload_ms ? o->reload_ms : 1000;
    o->max_body_bytes = o->max_body_bytes ? o->max_body_bytes : 3 * 1024 * 1024;
    o->max_bodies_bytes = o->max_bodies_bytes ? o->max_bodies_bytes : 32 * 1024 * 1024;
    o->max_conns = o->max_conns ? o->max_conns : 1024;
}

static int open_tls(struct sw_serve *s, struct sw_err *err)
{
    if (!s->opts.cert_file || !s->opts.key_file)
        return sw_err_set(err, SW_INVALID, "TLS needs a certificate and a key file");
    s->tls.cert_file = s->opts.cert_file;
    s->tls.key_file = s->opts.key_file;
    s->tls.ca_file = s->opts.ca_file;
    return sw_serve_tls_init(&s->tls, s->opts.min_version, s->opts.cipher_suites, err);
}

int sw_serve_open(struct sw_loop *loop, const struct sw_serve_opts *opts, struct sw_serve **out,
                  struct sw_err *err)
{
    struct sw_serve *s = sw_zalloc(1, sizeof *s);
    s->loop = loop;
    s->opts = *opts;
    s->settled_conns = UINT64_MAX;
    fill_defaults(&s->opts);
    s->tick = sw_timer_new(loop, on_tick, s);
    s->drain = sw_timer_new(loop, on_drained, s);
    int rc = s->opts.plain_http ? 0 : open_tls(s, err);
    if (rc == 0)
        rc = listen_on(s, err);
    if (rc < 0) {
        sw_serve_close(s);
        return rc;
    }
    on_tick(s);
    *out = s;
    return 0;
}

int sw_serve_port(const struct sw_serve *server)
{
    return sw_serve_listener_port(server->listener);
}

const char *sw_serve_trouble(const struct sw_serve *server)
{
    if (server->stopping)
        return "going down";
    return !server->opts.plain_http && !server->tls.ctx ? "no certificate" : NULL;
}

void sw_serve_count(const struct sw_serve *server, struct sw_serve_counts *out)
{
    *out = server->counts;
    out->not_after = server->tls.not_after;
}

void sw_serve_close(struct sw_serve *server)
{
    if (!server)
        return;
    server->closing = false; /* nobody is to be told */
    server->full = false;
    while (server->peers)
        hang_up(server->peers);
    sw_conn_spare_done(&server->spare);
    if (server->listener)
        evconnlistener_free(server->listener);
    sw_timer_free(server->tick);
    sw_timer_free(server->drain);
    sw_serve_tls_done(&server->tls);
    free(server);
}
