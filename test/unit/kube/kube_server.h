#pragma once
/* kube_server: a scripted HTTP/1.1 server on loopback, in the test's own loop, for the tests of
 * src/kube. It is written on bare sockets so that a test decides every byte: where a chunk is
 * split, when a connection breaks, what is never answered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/queue.h>

#include "base/base.h"
#include "base/loop.h"
#include "data/text/metrics.h"
#include "kube/config/kubeconfig.h"
#include "kube/kube.h"

/** The counts of all requests, as metric n. */
static inline void assert_counts(const struct sw_kube *k, const char *expected)
{
    struct sw_metrics m = { .prefix = "" };
    sw_kube_put_counts(k, &m, "n");
    SW_AUTO_CHARS *text = sw_metrics_take(&m, NULL);
    assert_string_equal(text, expected);
}

struct server;

struct conn {
    LIST_ENTRY(conn) in_all;
    struct server *srv;
    struct bufferevent *bev;
    bool close_when_written;
};

/** One request; its texts are freed after the handler returned. */
struct sreq {
    struct conn *conn;
    int n; /* from 1 */
    char *method;
    char *path;    /* with the query, as sent */
    char *headers; /* all lines */
    char *body;
};

struct server {
    struct sw_loop *loop;
    struct evconnlistener *listener;
    SSL_CTX *tls;
    LIST_HEAD(, conn) conns;
    int port;
    int n_requests;
    int n_conns; /* ever accepted */
    char *log;   /* "GET /path\n" of each request */
    void (*on_request)(struct server *srv, struct sreq *req, void *arg);
    void *arg;
};

static SW_UNUSED void conn_close(struct conn *c)
{
    LIST_REMOVE(c, in_all);
    bufferevent_free(c->bev);
    free(c);
}

static void conn_reset(struct conn *c) SW_UNUSED;
static void conn_reset(struct conn *c)
{
    struct linger now = { .l_onoff = 1 };
    (void)setsockopt(bufferevent_getfd(c->bev), SOL_SOCKET, SO_LINGER, &now, sizeof now);
    conn_close(c);
}

static SW_UNUSED void send_text(struct conn *c, const char *text)
{
    (void)bufferevent_write(c->bev, text, strlen(text));
}

/** A whole answer. @headers: further lines, each with its CRLF; NULL: none. */
static SW_UNUSED void reply_with(struct sreq *req, int status, const char *headers,
                                 const char *body)
{
    SW_AUTO_CHARS *text = sw_printf("HTTP/1.1 %d Status\r\nContent-Type: application/json\r\n"
                                    "Content-Length: %zu\r\n%s\r\n%s",
                                    status, strlen(body), headers ? headers : "", body);
    send_text(req->conn, text);
}

static SW_UNUSED void reply(struct sreq *req, int status, const char *body)
{
    reply_with(req, status, NULL, body);
}

/** A Status as the API server answers it. */
static SW_UNUSED void reply_status(struct sreq *req, int status, const char *reason,
                                   const char *message)
{
    SW_AUTO_CHARS *body = sw_printf("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
                                    "\"status\":\"Failure\",\"message\":\"%s\",\"reason\":\"%s\","
                                    "\"code\":%d}\n",
                                    message, reason, status);
    reply(req, status, body);
}

/** The beginning of an answer without an end: a watch's. */
static SW_UNUSED void reply_chunked(struct sreq *req)
{
    send_text(req->conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                         "Transfer-Encoding: chunked\r\n\r\n");
}

static SW_UNUSED void send_chunk(struct conn *c, const char *text)
{
    char head[32];
    (void)snprintf(head, sizeof head, "%zx\r\n", strlen(text));
    send_text(c, head);
    send_text(c, text);
    send_text(c, "\r\n");
}

static SW_UNUSED void end_chunks(struct conn *c)
{
    send_text(c, "0\r\n\r\n");
}

/** The value of a header, or NULL; the caller's. */
static SW_UNUSED char *sreq_header(const struct sreq *req, const char *name)
{
    size_t len = strlen(name);
    for (const char *line = req->headers; line && *line;) {
        size_t n = strcspn(line, "\r\n");
        if (n > len && strncasecmp(line, name, len) == 0 && line[len] == ':')
            return sw_strndup(line + len + 2, n - len - 2);
        line += n + strspn(line + n, "\r\n");
    }
    return NULL;
}

static SW_UNUSED bool sreq_is(const struct sreq *req, const char *method, const char *path_prefix)
{
    return sw_streq(req->method, method) && sw_starts_with(req->path, path_prefix);
}

static void sreq_log(struct server *srv, const struct sreq *req)
{
    char *longer = sw_printf("%s%s %s\n", srv->log, req->method, req->path);
    free(srv->log);
    srv->log = longer;
}

/** Take one request from the input. @return false: it is not complete */
static bool read_request(struct conn *c, struct sreq *req)
{
    struct evbuffer *in = bufferevent_get_input(c->bev);
    struct evbuffer_ptr end = evbuffer_search(in, "\r\n\r\n", 4, NULL);
    if (end.pos < 0)
        return false;
    size_t head_len = (size_t)end.pos + 4;
    char *head = sw_zalloc(1, head_len + 1);
    (void)evbuffer_copyout(in, head, head_len);
    req->headers = head;
    SW_AUTO_CHARS *length = sreq_header(req, "Content-Length");
    size_t body_len = length ? strtoul(length, NULL, 10) : 0;
    if (evbuffer_get_length(in) < head_len + body_len) {
        free(head);
        return false;
    }
    (void)evbuffer_drain(in, head_len);
    req->body = sw_zalloc(1, body_len + 1);
    (void)evbuffer_remove(in, req->body, body_len);
    size_t method_len = strcspn(head, " "), path_len = strcspn(head + method_len + 1, " ");
    req->method = sw_strndup(head, method_len);
    req->path = sw_strndup(head + method_len + 1, path_len);
    req->conn = c;
    return true;
}

static bool conn_lives(struct server *srv, const struct conn *c)
{
    struct conn *at;
    LIST_FOREACH(at, &srv->conns, in_all)
    if (at == c)
        return true;
    return false;
}

static void on_conn_read(struct bufferevent *bev SW_UNUSED, void *arg)
{
    struct conn *c = arg;
    struct server *srv = c->srv;
    char first = 0;
    (void)evbuffer_copyout(bufferevent_get_input(c->bev), &first, 1);
    if (!srv->tls && first == 0x16) { /* the beginning of TLS, which is not spoken here */
        conn_close(c);
        return;
    }
    for (;;) {
        struct sreq req = { 0 };
        if (!conn_lives(srv, c) || !read_request(c, &req))
            return;
        req.n = ++srv->n_requests;
        sreq_log(srv, &req);
        srv->on_request(srv, &req, srv->arg);
        free(req.method);
        free(req.path);
        free(req.headers);
        free(req.body);
    }
}

static void on_conn_event(struct bufferevent *bev SW_UNUSED, short what, void *arg)
{
    if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR))
        conn_close(arg);
}

static void on_accept(struct evconnlistener *l SW_UNUSED, evutil_socket_t fd,
                      struct sockaddr *sa SW_UNUSED, int len SW_UNUSED, void *arg)
{
    struct server *srv = arg;
    struct event_base *base = sw_loop_base(srv->loop);
    struct conn *c = sw_zalloc(1, sizeof *c);
    int no_delay = 1; /* or the kernel holds small writes back, and a virtual clock runs ahead */
    c->srv = srv;
    srv->n_conns++;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &no_delay, sizeof no_delay);
    if (srv->tls)
        c->bev = bufferevent_openssl_socket_new(base, fd, SSL_new(srv->tls),
                                                BUFFEREVENT_SSL_ACCEPTING,
                                                BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS);
    else
        c->bev = bufferevent_socket_new(base, fd, BEV_OPT_CLOSE_ON_FREE);
    bufferevent_setcb(c->bev, on_conn_read, NULL, on_conn_event, c);
    (void)bufferevent_enable(c->bev, EV_READ | EV_WRITE);
    LIST_INSERT_HEAD(&srv->conns, c, in_all);
}

static void server_listen(struct server *srv)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                              .sin_port = htons((uint16_t)srv->port) };
    srv->listener = evconnlistener_new_bind(sw_loop_base(srv->loop), on_accept, srv,
                                            LEV_OPT_CLOSE_ON_FREE | LEV_OPT_REUSEABLE, 16,
                                            (struct sockaddr *)&at, sizeof at);
    if (!srv->listener)
        abort();
    socklen_t len = sizeof at;
    (void)getsockname(evconnlistener_get_fd(srv->listener), (struct sockaddr *)&at, &len);
    srv->port = ntohs(at.sin_port);
}

static SW_UNUSED void server_start(struct server *srv, struct sw_loop *loop)
{
    srv->loop = loop;
    srv->log = sw_strdup("");
    server_listen(srv);
}

/** Nobody listens there any more, and all connections break. */
static SW_UNUSED void server_down(struct server *srv)
{
    if (srv->listener)
        evconnlistener_free(srv->listener);
    srv->listener = NULL;
    while (!LIST_EMPTY(&srv->conns))
        conn_close(LIST_FIRST(&srv->conns));
}

static SW_UNUSED void server_stop(struct server *srv)
{
    server_down(srv);
    free(srv->log);
    srv->log = NULL;
}

static SW_UNUSED struct sw_kube_config *server_config(const struct server *srv)
{
    SW_AUTO_CHARS *url = sw_printf("%s://127.0.0.1:%d", srv->tls ? "https" : "http", srv->port);
    return sw_kube_config_new(url);
}

/** Run the loop until @*n is at least @at_least; a test that waits for ever fails after 20 s. */
static SW_UNUSED void run_until(struct sw_loop *loop, const int *n, int at_least)
{
    int64_t began_ms = sw_monotonic_ms();
    while (*n < at_least) {
        sw_loop_step(loop, 200);
        if (sw_monotonic_ms() - began_ms > 20000) {
            print_message("waited for %d, got %d\n", at_least, *n);
            assert_true(*n >= at_least);
        }
    }
}

/** Let what is under way happen. On a virtual clock @ms of it pass. */
static SW_UNUSED void run_for(struct sw_loop *loop, int64_t ms)
{
    int64_t end_ms = sw_loop_now_ms(loop) + ms;
    while (sw_loop_now_ms(loop) < end_ms)
        sw_loop_step(loop, end_ms - sw_loop_now_ms(loop));
}
