#include "emulator/api/http.h"

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <event2/util.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/base.h"
#include "emulator/api/fork.h"

/* Bytes of the next requests that are taken while one is being answered. */
enum { READ_AHEAD = 64 * 1024 };

struct conn {
    struct sw_http_server *server;
    struct bufferevent *bev;
    struct sw_http_parser *parser;
    struct sw_http_exchange *x; /* being answered */
    bool busy;                  /* in advance(): free later */
    bool dead;                  /* to be freed as soon as not busy */
    bool last;                  /* close when all output is out */
    struct conn *prev, *next;
};

struct sw_http_exchange {
    struct conn *conn;
    bool chunked, head_only;
    void *own;
    void (*on_close)(void *arg);
};

struct sw_http_server {
    struct evconnlistener *listener;
    void (*handler)(struct sw_http_exchange *x, void *arg);
    void *arg;
    struct conn *conns;
    char address[INET6_ADDRSTRLEN + 16];
};

static void end_exchange(struct conn *c)
{
    struct sw_http_exchange *x = c->x;
    if (!x)
        return;
    c->x = NULL;
    if (x->on_close)
        x->on_close(x->own);
    free(x);
}

static void conn_free(struct conn *c)
{
    end_exchange(c);
    if (c->prev)
        c->prev->next = c->next;
    else
        c->server->conns = c->next;
    if (c->next)
        c->next->prev = c->prev;
    sw_http_parser_free(c->parser);
    bufferevent_free(c->bev);
    free(c);
}

static void conn_close(struct conn *c)
{
    c->dead = true;
    if (!c->busy)
        conn_free(c);
}

static void refuse(struct conn *c, int code)
{
    (void)evbuffer_add_printf(bufferevent_get_output(c->bev),
                              "HTTP/1.1 %d Bad Request\r\nContent-Length: 0\r\n"
                              "Connection: close\r\n\r\n",
                              code);
    c->last = true;
}

static void start_exchange(struct conn *c)
{
    struct sw_http_exchange *x = sw_zalloc(1, sizeof *x);
    x->conn = c;
    x->head_only = strcmp(sw_http_parser_request(c->parser)->method, "HEAD") == 0;
    c->x = x;
    c->server->handler(x, c->server->arg);
}

/* Take requests out of what has come in, until one cannot be answered at once. */
static void advance(struct conn *c)
{
    if (c->busy)
        return;
    c->busy = true;
    struct evbuffer *in = bufferevent_get_input(c->bev);
    while (!c->dead && !c->x && !c->last && evbuffer_get_length(in) > 0) {
        if (!c->parser)
            c->parser = sw_http_parser_new();
        size_t used, len = evbuffer_get_contiguous_space(in);
        int code;
        const char *bytes = (const char *)evbuffer_pullup(in, (ev_ssize_t)len);
        enum sw_http_progress got = sw_http_parser_feed(c->parser, bytes, len, &used, &code);
        (void)evbuffer_drain(in, used);
        if (got == SW_HTTP_BAD)
            refuse(c, code);
        else if (got == SW_HTTP_DONE)
            start_exchange(c);
        else if (got == SW_HTTP_CONTINUE && evbuffer_get_length(in) == 0)
            (void)bufferevent_write(c->bev, "HTTP/1.1 100 Continue\r\n\r\n", 25);
    }
    c->busy = false;
    if (c->dead)
        conn_free(c);
}

static void on_read(struct bufferevent *bev, void *arg)
{
    struct conn *c = arg;
    if (c->last) /* whatever else it says, nobody listens */
        (void)evbuffer_drain(bufferevent_get_input(bev),
                             evbuffer_get_length(bufferevent_get_input(bev)));
    else
        advance(c);
}

static void on_written(struct bufferevent *bev, void *arg)
{
    struct conn *c = arg;
    if (c->last && !c->x && evbuffer_get_length(bufferevent_get_output(bev)) == 0)
        conn_close(c);
}

static void on_event(struct bufferevent *bev SW_UNUSED, short what, void *arg)
{
    if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR))
        conn_close(arg);
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd,
                      struct sockaddr *addr SW_UNUSED, int len SW_UNUSED, void *arg)
{
    struct sw_http_server *server = arg;
    int on = 1; /* a watch's small events must not wait for each other */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct conn *c = sw_zalloc(1, sizeof *c);
    c->server = server;
    c->bev = bufferevent_socket_new(evconnlistener_get_base(listener), fd, BEV_OPT_CLOSE_ON_FREE);
    c->next = server->conns;
    if (c->next)
        c->next->prev = c;
    server->conns = c;
    bufferevent_setcb(c->bev, on_read, on_written, on_event, c);
    bufferevent_setwatermark(c->bev, EV_READ, 0, READ_AHEAD);
    (void)bufferevent_enable(c->bev, EV_READ | EV_WRITE);
}

static void note_address(struct sw_http_server *server)
{
    struct sockaddr_storage ss = { 0 };
    socklen_t len = sizeof ss;
    (void)getsockname(evconnlistener_get_fd(server->listener), (struct sockaddr *)&ss, &len);
    char host[INET6_ADDRSTRLEN] = "";
    if (ss.ss_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&ss;
        (void)inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof host);
        (void)snprintf(server->address, sizeof server->address, "[%s]:%u", host,
                       ntohs(in6->sin6_port));
    } else {
        const struct sockaddr_in *in4 = (const struct sockaddr_in *)&ss;
        (void)inet_ntop(AF_INET, &in4->sin_addr, host, sizeof host);
        (void)snprintf(server->address, sizeof server->address, "%s:%u", host,
                       ntohs(in4->sin_port));
    }
}

/* "127.0.0.1:80", "[::1]:80". libevent's own parser refuses port 0. */
static bool parse_address(const char *text, struct sockaddr_storage *ss, int *len)
{
    const char *colon = strrchr(text, ':');
    char *end;
    if (!colon)
        return false;
    long port = strtol(colon + 1, &end, 10);
    if (colon[1] == '\0' || *end || port < 0 || port > 65535)
        return false;
    SW_AUTO_CHARS *host = sw_printf("%.*s:1", (int)(colon - text), text);
    if (evutil_parse_sockaddr_port(host, (struct sockaddr *)ss, len) < 0)
        return false;
    if (ss->ss_family == AF_INET6)
        ((struct sockaddr_in6 *)ss)->sin6_port = htons((uint16_t)port);
    else
        ((struct sockaddr_in *)ss)->sin_port = htons((uint16_t)port);
    return true;
}

int sw_http_open(struct event_base *base, const char *listen_on,
                 void (*handler)(struct sw_http_exchange *x, void *arg), void *arg,
                 struct sw_http_server **out, struct sw_err *err)
{
    struct sockaddr_storage ss;
    int len = sizeof ss;
    if (!parse_address(listen_on, &ss, &len))
        return sw_err_set(err, SW_INVALID, "'%s' is not an address: expected IP:PORT", listen_on);
    struct sw_http_server *server = sw_zalloc(1, sizeof *server);
    server->handler = handler;
    server->arg = arg;
    server->listener = evconnlistener_new_bind(
        base, on_accept, server, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE,
        -1, (struct sockaddr *)&ss, len);
    if (!server->listener) {
        free(server);
        return sw_err_set(err, SW_UNAVAILABLE, "cannot listen on %s: %s", listen_on,
                          evutil_socket_error_to_string(EVUTIL_SOCKET_ERROR()));
    }
    note_address(server);
    *out = server;
    return 0;
}

void sw_http_drop(struct sw_http_server *server)
{
    while (server->conns)
        conn_free(server->conns);
}

void sw_http_close(struct sw_http_server *server)
{
    if (!server)
        return;
    evconnlistener_free(server->listener);
    sw_http_drop(server);
    free(server);
}

void sw_http_accept(struct sw_http_server *server)
{
    int fd, listening = evconnlistener_get_fd(server->listener);
    while ((fd = accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
        on_accept(server->listener, fd, NULL, 0, server);
}

void sw_http_part(struct sw_http_server *server)
{
    sw_fork_sockets(evconnlistener_get_fd(server->listener));
    note_address(server);
}

const char *sw_http_address(const struct sw_http_server *server)
{
    return server->address;
}

struct sw_http_request *sw_http_exchange_request(struct sw_http_exchange *x)
{
    return sw_http_parser_request(x->conn->parser);
}

void sw_http_exchange_own(struct sw_http_exchange *x, void *arg, void (*on_close)(void *arg))
{
    x->own = arg;
    x->on_close = on_close;
}

static const struct {
    int code;
    const char *text;
} reasons[] = {
    { 200, "OK" },
    { 201, "Created" },
    { 202, "Accepted" },
    { 301, "Moved Permanently" },
    { 304, "Not Modified" },
    { 400, "Bad Request" },
    { 401, "Unauthorized" },
    { 403, "Forbidden" },
    { 404, "Not Found" },
    { 405, "Method Not Allowed" },
    { 406, "Not Acceptable" },
    { 409, "Conflict" },
    { 410, "Gone" },
    { 413, "Request Entity Too Large" },
    { 415, "Unsupported Media Type" },
    { 422, "Unprocessable Entity" },
    { 429, "Too Many Requests" },
    { 500, "Internal Server Error" },
    { 501, "Not Implemented" },
    { 503, "Service Unavailable" },
    { 504, "Gateway Timeout" },
};

static const char *reason_of(int code)
{
    for (size_t i = 0; i < SW_COUNT(reasons); i++)
        if (reasons[i].code == code)
            return reasons[i].text;
    return "Unknown";
}

static void write_head(struct sw_http_exchange *x, int code, const char *type, const char *extra)
{
    struct conn *c = x->conn;
    if (!sw_http_parser_request(c->parser)->keep_alive)
        c->last = true;
    (void)evbuffer_add_printf(bufferevent_get_output(c->bev),
                              "HTTP/1.1 %d %s\r\nContent-Type: %s\r\n"
                              "Cache-Control: no-cache, private\r\n%s%s",
                              code, reason_of(code), type, extra ? extra : "",
                              c->last ? "Connection: close\r\n" : "");
}

/* The reply is complete: on to the next request of the connection. */
static void finish(struct sw_http_exchange *x)
{
    struct conn *c = x->conn;
    end_exchange(c);
    sw_http_parser_free(SW_TAKE(c->parser));
    advance(c);
}

void sw_http_reply(struct sw_http_exchange *x, int code, const char *content_type,
                   const char *extra, const char *body, size_t len)
{
    struct evbuffer *out = bufferevent_get_output(x->conn->bev);
    write_head(x, code, content_type, extra);
    (void)evbuffer_add_printf(out, "Content-Length: %zu\r\n\r\n", len);
    if (!x->head_only)
        (void)evbuffer_add(out, body, len);
    finish(x);
}

void sw_http_begin(struct sw_http_exchange *x, int code, const char *content_type)
{
    x->chunked = true;
    write_head(x, code, content_type, NULL);
    (void)bufferevent_write(x->conn->bev, "Transfer-Encoding: chunked\r\n\r\n", 30);
}

void sw_http_write(struct sw_http_exchange *x, const char *bytes, size_t len)
{
    if (len == 0 || x->head_only) /* an empty chunk would be the end */
        return;
    struct evbuffer *out = bufferevent_get_output(x->conn->bev);
    (void)evbuffer_add_printf(out, "%zx\r\n", len);
    (void)evbuffer_add(out, bytes, len);
    (void)evbuffer_add(out, "\r\n", 2);
}

size_t sw_http_backlog(const struct sw_http_exchange *x)
{
    return evbuffer_get_length(bufferevent_get_output(x->conn->bev));
}

void sw_http_end(struct sw_http_exchange *x)
{
    if (!x->head_only)
        (void)bufferevent_write(x->conn->bev, "0\r\n\r\n", 5);
    finish(x);
}

void sw_http_abort(struct sw_http_exchange *x, bool hard)
{
    struct conn *c = x->conn;
    if (!hard && evbuffer_get_length(bufferevent_get_output(c->bev)) > 0) {
        c->last = true; /* what was written is still sent */
        end_exchange(c);
        return;
    }
    if (hard) {
        struct linger now = { .l_onoff = 1, .l_linger = 0 };
        (void)setsockopt(bufferevent_getfd(c->bev), SOL_SOCKET, SO_LINGER, &now, sizeof now);
    }
    conn_close(c);
}
