#pragma once
/* http: the HTTP/1.1 server under the emulator's REST API: requests in, whole or streamed replies
 * out, over plain sockets on loopback. Why not libevent's evhttp: a watch is a reply that lasts for
 * hours, and evhttp neither notices there that the client has gone nor survives it when the client
 * sends its next request early. It leaves to others what a path or a body means. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_base;
struct sw_err;
struct sw_http_server;
struct sw_http_exchange;

enum {
    SW_HTTP_MAX_HEADERS = 64,           /* number of them */
    SW_HTTP_MAX_HEAD = 64 * 1024,       /* bytes of request line and headers */
    SW_HTTP_MAX_BODY = 3 * 1024 * 1024, /* bytes, as kube-apiserver has it */
};

/** A slice of the request's bytes. */
struct sw_http_header {
    const char *name, *value; /* NUL-terminated; name in lower case */
};

/** One request. The strings live as long as the exchange. */
struct sw_http_request {
    char *method; /* "GET" */
    char *target; /* as sent: "/api/v1/pods?limit=5" */
    char *path;   /* "/api/v1/pods", not decoded */
    char *query;  /* "limit=5", "" */
    struct sw_http_header headers[SW_HTTP_MAX_HEADERS];
    size_t n_headers;
    char *body; /* NUL-terminated besides */
    size_t body_len;
    bool keep_alive;
};
/** The value of the header @name (lower case), or NULL. */
const char *sw_http_header(const struct sw_http_request *req, const char *name);

/* ---- parsing, apart from sockets (for the fuzzer)
 * ------------------------------------------------
 */

/** A parser of one request, fed piecemeal. */
struct sw_http_parser;
struct sw_http_parser *sw_http_parser_new(void);
void sw_http_parser_free(struct sw_http_parser *parser);
enum sw_http_progress { SW_HTTP_MORE, SW_HTTP_CONTINUE, SW_HTTP_DONE, SW_HTTP_BAD };
/** Take as much of @bytes as belongs to the request; *@used says how much.
 * @return MORE | CONTINUE (as MORE; the client waits for "100 Continue") | DONE (see
 * sw_http_parser_request) | BAD: answer with *@code and close */
enum sw_http_progress sw_http_parser_feed(struct sw_http_parser *parser, const char *bytes,
                                          size_t len, size_t *used, int *code);
/** Borrowed from the parser. */
struct sw_http_request *sw_http_parser_request(struct sw_http_parser *parser);

/* ---- serving ------------------------------------------------------------------------------------
 */

/** Listen on "ADDRESS:PORT" (port 0: any). @handler is called once for each request, and must see
 * to it that the exchange is answered or aborted, then or later.
 * @return 0 | SW_INVALID (the address) | SW_UNAVAILABLE (it is taken) */
int sw_http_open(struct event_base *base, const char *listen,
                 void (*handler)(struct sw_http_exchange *x, void *arg), void *arg,
                 struct sw_http_server **out, struct sw_err *err);
/** Closes the socket and all connections; the exchanges' on_close are called. */
void sw_http_close(struct sw_http_server *server);
/** Close all connections and go on listening. Not from a handler. */
void sw_http_drop(struct sw_http_server *server);
/** Whoever has connected is taken in now, not in the next turn of the loop. Not from a handler. */
void sw_http_accept(struct sw_http_server *server);
/** In a child of fork(), before the loop's own part: no socket is the parent's any more (fork.h),
 * and the address another. */
void sw_http_part(struct sw_http_server *server);
/** "127.0.0.1:43210". Borrowed. */
const char *sw_http_address(const struct sw_http_server *server);

struct sw_http_request *sw_http_exchange_request(struct sw_http_exchange *x);
/** Something of the handler's own for this exchange; @on_close is called once, when the reply has
 * been handed over, or the client went away before (after it the exchange is gone). */
void sw_http_exchange_own(struct sw_http_exchange *x, void *arg, void (*on_close)(void *arg));

/** A whole reply. @extra: more header lines ("Name: value\r\n" each), or NULL. The exchange is
 * over.
 */
void sw_http_reply(struct sw_http_exchange *x, int code, const char *content_type,
                   const char *extra, const char *body, size_t len);
/** A reply in parts. */
void sw_http_begin(struct sw_http_exchange *x, int code, const char *content_type);
void sw_http_write(struct sw_http_exchange *x, const char *bytes, size_t len);
/** Bytes that the client has not taken yet. */
size_t sw_http_backlog(const struct sw_http_exchange *x);
void sw_http_end(struct sw_http_exchange *x);
/** Close the connection without (more of) an answer. @hard: by a TCP reset. */
void sw_http_abort(struct sw_http_exchange *x, bool hard);
