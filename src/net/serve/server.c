/* Connections, requests, answers. One loop, no callback waits. */
#include <errno.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <event2/util.h>
#include <json-c/printbuf.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "net/serve/connection.h"
#include "net/serve/listen.h"

enum {
    READS_PER_TURN = 16, /* of one connection */
    ACCEPTS_PER_TURN = 16,
    MAX_WOKEN = 2,   /* while it waits for its turn; then its socket is not asked any more */
    GRACE_MS = 5000, /* for requests under way when no more connections are accepted */
    TICK_MS = 1000,
    SOCKET_BYTES = 64 * 1024,
    READ_AHEAD = 64 * 1024, /* bytes of the next requests, during an answer with on_close */
};

static const char overload[] = "too many requests at once; try again\n";

/* ---- answers -----------------------------------------------------------------------------------
 */

/* @framing: the header that says how long the body is. */
static void put_head(struct sw_serve_reply *p, int status, const char *type, const char *extra,
                     const char *framing)
{
    SW_AUTO_CHARS *head = sw_printf("HTTP/1.1 %d %s\r\nContent-Type: %s\r\n%s%s%s\r\n\r\n", status,
                                    sw_serve_reason(status), type, extra ? extra : "",
                                    p->last ? "Connection: close\r\n" : "", framing);
    sw_conn_put(&p->conn, head, strlen(head));
}

static void put_answer(struct sw_serve_reply *p, int status, const char *type, const char *extra,
                       const char *body, size_t len)
{
    char framing[48];
    (void)snprintf(framing, sizeof framing, "Content-Length: %zu", len);
    put_head(p, status, type, extra, framing);
    if (!p->no_body)
        sw_conn_put(&p->conn, body, len);
}

static const char *retry_after(int status)
{
    return status == 503 ? "Retry-After: 1\r\n" : NULL;
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
        const struct sw_serve_route *to = &o->routes[i];
        if (to->path && !is(r->path, r->path_len, to->path))
            continue;
        known = true;
        if (to->method && !is(r->method, r->method_len, to->method) &&
            !(r->is_head && strcmp(to->method, "GET") == 0))
            continue;
        to->serve(r, p, o->arg);
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
    if (s->closing && !s->conns && s->opts.on_stopped)
        s->opts.on_stopped(s->opts.arg);
}

/* The answer is complete, or there will be none. */
static void end_reply(struct sw_serve_reply *p)
{
    void (*on_close)(void *arg) = SW_TAKE(p->on_close);
    p->asked = p->no_body = false;
    p->step = NULL;
    if (on_close)
        on_close(p->on_close_arg);
}

/* The request was used up. */
static void forget_request(struct sw_serve_reply *p, size_t len_bytes)
{
    p->kept_len = 0;
    sw_conn_consume(&p->conn, len_bytes);
    p->progress = (struct sw_serve_progress){ 0 };
}

/* Go on with @p when it is its turn. What comes until then is not read: bytes that wait in the
 * socket would take a turn of the loop each time. */
static void later(struct sw_serve_reply *p)
{
    (void)event_del(p->readable);
    sw_serve_wait_turn(p);
}

static void hang_up(struct sw_serve_reply *p)
{
    struct sw_serve *s = p->server;
    sw_serve_leave_turns(p);
    if (p->prev)
        p->prev->next = p->next;
    else
        s->conns = p->next;
    if (p->next)
        p->next->prev = p->prev;
    event_free(p->readable);
    event_free(p->writable);
    sw_conn_done(&p->conn);
    sw_serve_leave(s, p->peer);
    p->server = NULL;
    if (p->on_close)
        end_reply(p);
    if (!p->asked) /* else its answer frees it */
        free(p);
    s->counts.open_conns--;
    maybe_finished(s);
}

static void set_deadline(struct sw_serve_reply *p, int64_t in_ms)
{
    const struct sw_serve *s = p->server;
    p->deadline_ms = s->opts.no_deadlines ? INT64_MAX : sw_loop_now_ms(s->loop) + in_ms;
}

static void refuse(struct sw_serve_reply *p, int status, const char *why)
{
    put_answer(p, status, "text/plain; charset=utf-8", retry_after(status), why, strlen(why));
}

/* What is left of a body of known length is skipped: a client that is still writing reads no
 * answer. */
static void refuse_overload(struct sw_serve_reply *p)
{
    const struct sw_serve_progress was = p->progress;
    p->server->counts.overloads++;
    p->progress = (struct sw_serve_progress){ 0 };
    if (was.chunked || was.wants_continue) {
        p->last = true;
        refuse(p, 503, overload);
    } else {
        p->skip = was.head_len + was.content_len;
    }
}

/* @return false: there is more to skip */
static bool skip_refused(struct sw_serve_reply *p)
{
    const size_t here = sw_serve_unread(p), n = p->skip < here ? p->skip : here;
    if (!p->skip)
        return true;
    sw_conn_consume(&p->conn, n);
    p->skip -= n;
    if (p->skip)
        return false;
    p->last = p->server->stopping;
    refuse(p, 503, overload);
    return true;
}

/* Serve what has arrived completely, up to the first answer. */
static void serve_next(struct sw_serve_reply *p)
{
    struct sw_conn_buffer *in = &p->conn.in;
    const struct sw_serve_limits limits = { p->server->opts.max_head_bytes,
                                            p->server->opts.max_body_bytes };
    p->more = false;
    while (skip_refused(p) && in->at < in->len && !p->last && !p->asked) {
        if (p->conn.out.len) {
            p->more = true;
            sw_conn_trim(&p->conn);
            return;
        }
        struct sw_serve_request r;
        const char *bytes = in->bytes + in->at;
        if (!p->progress.scanned && (*bytes == '\r' || *bytes == '\n')) {
            sw_conn_consume(&p->conn, 1); /* blank lines before a request: RFC 9112, 2.2 */
            continue;
        }
        const bool begun = p->progress.head_len > 0;
        const int rc = sw_serve_next(&p->progress, in->bytes + in->at, in->len - in->at, limits,
                                     &r);
        if (rc == 0 && !begun && p->progress.head_len && !sw_serve_make_room(p, hang_up)) {
            refuse_overload(p);
            continue;
        }
        if (rc == 0) {
            if (p->progress.wants_continue && p->progress.head_len) {
                static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
                sw_conn_put(&p->conn, go_on, sizeof go_on - 1);
                p->progress.wants_continue = false;
            }
            sw_conn_trim(&p->conn);
            return;
        }
        if (rc != 1) {
            p->server->counts.bad_requests++;
            p->last = true;
            refuse(p, rc, sw_serve_reason(rc));
            return;
        }
        p->last = !r.keep_alive || p->server->stopping;
        p->asked = p->serving = p->served = true;
        p->active_ms = sw_loop_now_ms(p->server->loop);
        p->no_body = r.is_head;
        route(p, &r);
        p->serving = false;
        if (p->step)
            p->kept_len = r.total_len;
        else
            forget_request(p, r.total_len);
    }
}

/* Read, or do not read, as the state of the answers asks for. */
static void set_reading(struct sw_serve_reply *p)
{
    const bool ahead = p->on_close && !p->step && sw_serve_unread(p) < READ_AHEAD;
    if (!p->stalled && (!p->asked || ahead))
        (void)event_add(p->readable, NULL);
    else
        (void)event_del(p->readable);
}

/* What goes out is not taken; nothing is read until it is. */
static void stall(struct sw_serve_reply *p)
{
    if (!p->stalled)
        set_deadline(p, p->server->opts.request_ms);
    p->stalled = true;
    set_reading(p);
    (void)event_add(p->writable, NULL);
}

/* @return false: the connection has ended */
static bool flush(struct sw_serve_reply *p)
{
    const enum sw_conn_result rc = sw_conn_flush(&p->conn);
    if (rc == SW_CONN_CLOSED || (rc == SW_CONN_OK && p->last && !p->asked)) {
        hang_up(p);
        return false;
    }
    if (rc == SW_CONN_WANT_WRITE) {
        stall(p);
        return p->peer->is_trusted || sw_serve_shed(p, hang_up);
    }
    if (p->stalled) {
        p->stalled = false;
        set_reading(p);
    }
    return true;
}

/* @return false: not over, or the connection has ended */
static bool shake_hands(struct sw_serve_reply *p)
{
    if (p->conn.tls && !p->conn.session) /* not when it was accepted: it takes long */
        p->conn.session = p->server->opts.tls->session_new(&p->server->tls, p->conn.fd);
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

/* After requests were served: send the answers that are there, and wait for the one that is not.
 * @return false: the connection has ended */
static bool send_answers(struct sw_serve_reply *p)
{
    if (p->finished) {
        hang_up(p);
        return false;
    }
    if (p->conn.out.len && !flush(p))
        return false;
    if (p->asked) {
        set_reading(p);
        p->deadline_ms = INT64_MAX;
    }
    return true;
}

/* Serve a request that has arrived completely; the one behind it has to wait until the answer is
 * out, and for its turn. @return false: the connection has ended, or waits */
static bool serve_all(struct sw_serve_reply *p)
{
    serve_next(p);
    if (!send_answers(p) || p->asked || p->stalled)
        return false;
    if (!p->more)
        return true;
    if (!sw_serve_fits(p, hang_up))
        return false;
    set_deadline(p, p->server->opts.request_ms); /* of the next request, which is there */
    later(p);
    return false;
}

static void pump(struct sw_serve_reply *p)
{
    if (!p->shaken && !shake_hands(p))
        return;
    if (p->more && !serve_all(p))
        return;
    for (int i = 0; i < READS_PER_TURN; i++) {
        const bool fresh = sw_serve_is_between(p);
        const enum sw_conn_result rc = sw_conn_read(&p->conn);
        if (rc == SW_CONN_CLOSED) {
            hang_up(p);
            return;
        }
        if (rc == SW_CONN_WANT_WRITE) /* TLS itself has something to say first */
            stall(p);
        if (rc != SW_CONN_OK)
            return;
        if (fresh)
            set_deadline(p, p->server->opts.request_ms);
        if (p->asked && !sw_serve_fits(p, hang_up))
            return;
        if (!serve_all(p) || !sw_serve_fits(p, hang_up))
            return;
        if (sw_serve_is_between(p))
            set_deadline(p, p->server->opts.idle_ms);
        if (!sw_conn_has_more(&p->conn))
            return;
    }
    later(p);
}

static void go_on(struct sw_serve_reply *p)
{
    if (p->step) {
        if (p->step(p->on_close_arg))
            sw_serve_wait_turn(p);
        return;
    }
    set_reading(p);
    if (!p->asked && !p->stalled)
        pump(p);
}

static void on_turn(void *arg)
{
    struct sw_serve *s = arg;
    if (s->n_accepted >= ACCEPTS_PER_TURN && s->listener && !s->full)
        (void)evconnlistener_enable(s->listener);
    s->n_accepted = 0;
    sw_serve_take_turns(s, go_on);
}

/* ---- what routes call --------------------------------------------------------------------------
 */

/* The answer is complete: serve the requests that came behind it meanwhile. */
static void next_request(struct sw_serve_reply *p)
{
    end_reply(p);
    if (p->serving)
        return;      /* serve_all() goes on */
    if (p->kept_len) /* sw_serve_work() */
        forget_request(p, p->kept_len);
    set_reading(p);
    set_deadline(p, p->server->opts.request_ms);
    if (!serve_all(p))
        return;
    if (sw_serve_is_between(p))
        set_deadline(p, p->server->opts.idle_ms);
    if (sw_conn_has_more(&p->conn))
        later(p);
}

void sw_serve_answer_with(struct sw_serve_reply *p, int status, const char *type, const char *extra,
                          const char *body, size_t len_bytes)
{
    if (!p->server) {
        free(p);
        return;
    }
    put_answer(p, status, type, extra, body, len_bytes);
    next_request(p);
}

void sw_serve_answer(struct sw_serve_reply *reply, int status, const char *type, const char *body,
                     size_t len_bytes)
{
    sw_serve_answer_with(reply, status, type, retry_after(status), body, len_bytes);
}

void sw_serve_text(struct sw_serve_reply *reply, int status, const char *text)
{
    sw_serve_answer(reply, status, "text/plain; charset=utf-8", text, strlen(text));
}

void sw_serve_ready(struct sw_serve_reply *reply, const char *trouble)
{
    SW_AUTO_CHARS *text = sw_printf("%s\n", trouble ? trouble : "ok");
    sw_serve_text(reply, trouble ? 503 : 200, text);
}

void sw_serve_healthz(const struct sw_serve_request *request SW_UNUSED,
                      struct sw_serve_reply *reply, void *arg SW_UNUSED)
{
    sw_serve_text(reply, 200, "ok\n");
}

void sw_serve_json(struct sw_serve_reply *reply, const char *text, size_t len_bytes)
{
    sw_serve_answer(reply, 200, "application/json", text, len_bytes);
}

void sw_serve_on_close(struct sw_serve_reply *p, void (*on_close)(void *arg), void *arg)
{
    p->on_close = on_close;
    p->on_close_arg = arg;
    if (p->server && !p->serving)
        set_reading(p);
}

void sw_serve_work(struct sw_serve_reply *p, bool (*step)(void *arg), void (*over)(void *arg),
                   void *arg)
{
    p->step = step;
    p->on_close = over;
    p->on_close_arg = arg;
    if (p->server) /* else the connection has ended: nobody asks for a step */
        sw_serve_wait_turn(p);
}

/* Never from within a write: the connection may end by it, and the caller's answer with it. */
static void send_soon(struct sw_serve_reply *p)
{
    if (!p->serving && !p->stalled)
        (void)event_add(p->writable, NULL);
}

void sw_serve_begin(struct sw_serve_reply *p, int status, const char *type, const char *extra)
{
    put_head(p, status, type, extra, "Transfer-Encoding: chunked");
    send_soon(p);
}

void sw_serve_write(struct sw_serve_reply *p, const char *bytes, size_t len_bytes)
{
    if (len_bytes == 0 || p->no_body) /* an empty chunk would be the end */
        return;
    char size[24];
    sw_conn_put(&p->conn, size, (size_t)snprintf(size, sizeof size, "%zx\r\n", len_bytes));
    sw_conn_put(&p->conn, bytes, len_bytes);
    sw_conn_put(&p->conn, "\r\n", 2);
    send_soon(p);
}

size_t sw_serve_backlog(const struct sw_serve_reply *p)
{
    return p->conn.out.len - p->conn.out.at;
}

void sw_serve_end(struct sw_serve_reply *p)
{
    if (!p->no_body)
        sw_conn_put(&p->conn, "0\r\n\r\n", 5);
    next_request(p);
}

void sw_serve_abort(struct sw_serve_reply *p, bool hard)
{
    if (!p->server) {
        free(p);
        return;
    }
    if (hard) {
        const struct linger now = { .l_onoff = 1 };
        (void)setsockopt(p->conn.fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    }
    p->last = true;
    p->finished = hard || sw_serve_backlog(p) == 0;
    end_reply(p);
    if (p->serving)
        return; /* send_answers() closes */
    if (p->finished)
        hang_up(p);
    else
        send_soon(p);
}

/* ---- events ------------------------------------------------------------------------------------
 */

static void on_readable(evutil_socket_t fd SW_UNUSED, short what SW_UNUSED, void *arg)
{
    struct sw_serve_reply *p = arg;
    if (!p->before_later)
        sw_serve_take_turn(p, pump);
    else if (++p->n_woken > MAX_WOKEN)
        (void)event_del(p->readable);
}

static void on_writable(evutil_socket_t fd SW_UNUSED, short what SW_UNUSED, void *arg)
{
    struct sw_serve_reply *p = arg;
    if (p->shaken) {
        if (!flush(p) || p->stalled || p->asked)
            return;
        set_deadline(p, p->server->opts.idle_ms);
        pump(p);
    } else {
        later(p);
    }
}

/* Look whether there is a new certificate. @needed: a connection wants one. */
static void refresh_certificate(struct sw_serve *s, bool needed)
{
    char when[21];
    if (!s->opts.tls->refresh(&s->tls, needed))
        return;
    s->counts.reloads = s->tls.n_loads;
    sw_log(SW_LOG_INFO, "certificate in use", "file",
           s->opts.cert_file ? s->opts.cert_file : "none: of its own making", "expires",
           sw_time_rfc3339((int64_t)s->tls.not_after * 1000, when), NULL);
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *from,
                      int from_len SW_UNUSED, void *arg)
{
    struct sw_serve *s = arg;
    if (++s->n_accepted >= ACCEPTS_PER_TURN && !sw_loop_is_virtual(s->loop)) {
        (void)evconnlistener_disable(listener);
        sw_timer_set(s->turn, 0);
    }
    struct sw_serve_peer *peer = sw_serve_join(s, from);
    struct sw_serve_reply *instead = NULL;
    s->counts.conns++;
    if (s->tls.own_name)
        refresh_certificate(s, true);
    const bool usable = !s->opts.tls || s->tls.ctx; /* else there is no certificate */
    if (!usable || !sw_serve_has_place(s, peer, &instead)) {
        s->counts.crowded_out += usable;
        sw_serve_leave(s, peer);
        (void)evutil_closesocket(fd);
        return;
    }
    if (instead) {
        s->counts.crowded_out++;
        hang_up(instead);
    }
    const int on = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* a delay at worst */
    const int ahead = SOCKET_BYTES; /* else the kernel keeps megabytes for who does not read */
    if (s->opts.max_conns != INT_MAX)
        (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &ahead, sizeof ahead);
    struct sw_serve_reply *p = sw_zalloc(1, sizeof *p);
    p->server = s;
    p->peer = peer;
    p->active_ms = sw_loop_now_ms(s->loop);
    const struct sw_serve_tls_ops *tls = s->opts.tls;
    sw_conn_init(&p->conn, fd, tls ? tls->conn : NULL, &s->spare);
    struct event_base *base = sw_loop_base(s->loop);
    p->readable = event_new(base, fd, EV_READ | EV_PERSIST, on_readable, p);
    p->writable = event_new(base, fd, EV_WRITE, on_writable, p);
    p->next = s->conns;
    if (s->conns)
        s->conns->prev = p;
    s->conns = p;
    s->counts.open_conns++;
    set_deadline(p, s->opts.request_ms);
    (void)event_add(p->readable, NULL);
}

/* Out of descriptors, most likely: accept again at the next tick. */
static void on_accept_error(struct evconnlistener *listener, void *arg)
{
    struct sw_serve *s = arg;
    sw_log(SW_LOG_WARN, "accept failed", "error", strerror(errno), NULL);
    s->full = true;
    (void)evconnlistener_disable(listener);
    sw_timer_set(s->tick, TICK_MS);
}

/* ---- time --------------------------------------------------------------------------------------
 */

static void on_tick(void *arg)
{
    struct sw_serve *s = arg;
    const int64_t now_ms = sw_loop_now_ms(s->loop);
    for (struct sw_serve_reply *p = s->conns, *next; p; p = next) {
        next = p->next;
        const bool idle = p->shaken && !p->stalled && !p->asked && sw_serve_is_between(p);
        if (now_ms < p->deadline_ms && !(s->closing && idle))
            continue;
        s->counts.timeouts += !idle;
        hang_up(p);
    }
    if (s->opts.tls && !s->tls.own_name && now_ms >= s->next_refresh_ms) {
        s->next_refresh_ms = now_ms + s->opts.reload_ms;
        refresh_certificate(s, false);
    }
    /* handshakes leave holes in the heap and much code behind, as the start does */
    if (s->opts.tls && s->settled_conns != s->counts.conns) {
        s->settled_conns = s->counts.conns;
        sw_memory_settle();
    }
    if (s->full && s->listener) {
        s->full = false;
        (void)evconnlistener_enable(s->listener);
    }
    if (!s->opts.tls && s->opts.no_deadlines)
        return; /* a virtual clock would find work in each second */
    int64_t in_ms = s->opts.reload_ms < s->opts.request_ms ? s->opts.reload_ms : s->opts.request_ms;
    sw_timer_set(s->tick, in_ms < TICK_MS ? in_ms : TICK_MS);
}

static void on_drained(void *arg)
{
    struct sw_serve *s = arg;
    if (s->closing) { /* the grace is over */
        while (s->conns)
            hang_up(SW_LINKED(s->conns));
        return;
    }
    s->closing = true;
    evconnlistener_free(s->listener);
    s->listener = NULL;
    sw_timer_set(s->drain, GRACE_MS);
    maybe_finished(s);
    on_tick(s); /* closes idle connections */
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
    o->max_head_bytes = o->max_head_bytes ? o->max_head_bytes : 16 * 1024;
    o->max_body_bytes = o->max_body_bytes ? o->max_body_bytes : 3 * 1024 * 1024;
    o->max_bodies_bytes = o->max_bodies_bytes ? o->max_bodies_bytes : 4 * 1024 * 1024;
    o->max_conns = o->max_conns ? o->max_conns : 384;
}

static int open_tls(struct sw_serve *s, struct sw_err *err)
{
    if (!s->opts.own_name && !s->opts.cert_pem && (!s->opts.cert_file || !s->opts.key_file))
        return sw_err_set(err, SW_INVALID, "TLS needs a certificate and a key file");
    s->tls.own_name = s->opts.cert_file ? NULL : s->opts.own_name;
    s->tls.cert_pem = s->opts.cert_pem;
    s->tls.key_pem = s->opts.key_pem;
    s->tls.cert_file = s->opts.cert_file;
    s->tls.key_file = s->opts.key_file;
    s->tls.ca_file = s->opts.ca_file;
    return s->opts.tls->init(&s->tls, s->opts.min_version, s->opts.cipher_suites, err);
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
    s->turn = sw_timer_new(loop, on_turn, s);
    int rc = sw_serve_read_trusted(s, err);
    if (rc == 0 && s->opts.tls)
        rc = open_tls(s, err);
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

int sw_serve_open_at(struct sw_loop *loop, const char *text, const struct sw_serve_opts *opts,
                     struct sw_serve **out, struct sw_err *err)
{
    SW_AUTO_CHARS *address = NULL; /* only read while the socket is opened */
    struct sw_serve_opts at = *opts;
    if (!text || sw_streq(text, "0"))
        return 0;
    int rc = sw_serve_parse_address(text, &address, &at.port, err);
    at.address = address;
    return rc < 0 ? rc : sw_serve_open(loop, &at, out, err);
}

int sw_serve_port(const struct sw_serve *server)
{
    return sw_serve_listener_port(server->listener);
}

int sw_serve_socket(const struct sw_serve *server)
{
    return evconnlistener_get_fd(server->listener);
}

void sw_serve_accept(struct sw_serve *server)
{
    struct sockaddr_in6 from; /* as large as any that it listens on */
    struct sockaddr *who = (struct sockaddr *)&from;
    socklen_t len = sizeof from;
    for (int fd;
         (fd = accept4(sw_serve_socket(server), who, &len, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;
         len = sizeof from)
        on_accept(server->listener, fd, who, (int)len, server);
}

void sw_serve_drop(struct sw_serve *server)
{
    while (server->conns)
        hang_up(SW_LINKED(server->conns));
}

const char *sw_serve_trouble(const struct sw_serve *server)
{
    if (server->stopping)
        return "going down";
    return server->opts.tls && !server->tls.ctx && !server->tls.own_name ? "no certificate" : NULL;
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
    server->closing = false; /* on_stopped is not called */
    sw_serve_drop(server);
    sw_conn_spare_done(&server->spare);
    if (server->listener)
        evconnlistener_free(server->listener);
    sw_timer_free(server->tick);
    sw_timer_free(server->drain);
    sw_timer_free(server->turn);
    free(server->trusted);
    if (server->opts.tls)
        server->opts.tls->done(&server->tls);
    free(server);
}
