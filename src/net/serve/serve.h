#pragma once
/* serve: the HTTP/1.1 server of every program (admission reviews, a scheduler's extender, probes,
 * metrics, the emulated API server), with or without TLS, on the process's one loop. It bounds what
 * a connection may hold. Requests go to the caller's routes by method and path; an answer is given
 * at once, later, or as a stream. It leaves the meaning of requests and answers to the caller. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/base.h"
#include "base/loop.h"

struct sw_serve;       /* a server: one address */
struct sw_serve_reply; /* one request's answer, to be given */
struct sw_serve_tls_ops;

/** HTTPS by OpenSSL, for sw_serve_opts.tls. */
extern const struct sw_serve_tls_ops sw_serve_openssl;

/** Borrowed for the call that gets it; texts are not NUL-terminated. */
struct sw_serve_request {
    const char *method, *path; /* path: not decoded, without the query */
    size_t method_len, path_len;
    size_t target_len; /* of the path with the query: they stand in one piece */
    const char *head;  /* the header lines, see sw_serve_header() */
    size_t head_len;
    const char *body;
    size_t body_len;
    size_t total_len; /* bytes of the whole request: the next one begins behind them */
    bool keep_alive;
    bool is_head;  /* method HEAD */
    bool not_json; /* the Content-Type is another one than application/json */
};

/** The value of the first header @name (in any case); heap, the caller's. NULL: it is not there. */
char *sw_serve_header(const struct sw_serve_request *request, const char *name);
/** The same of the @n-th such header, from 0. */
char *sw_serve_header_nth(const struct sw_serve_request *request, const char *name, size_t n);

/** Answer @reply exactly once, in the call or later; there is no deadline. Until then no further
 * request of the connection is served. The client may be gone meanwhile, see sw_serve_on_close().
 */
typedef void sw_serve_fn(const struct sw_serve_request *request, struct sw_serve_reply *reply,
                         void *arg);

/** A GET route serves HEAD too: the answer's body is left out. */
struct sw_serve_route {
    const char *method, *path; /* NULL: every method, every path */
    sw_serve_fn *serve;
};

enum { SW_SERVE_ADDRESS_LEN = 16 };
/** Who asks, in the route: the address of the other side, of IPv6 its first 64 bits; borrowed. */
const uint8_t *sw_serve_address(const struct sw_serve_reply *reply);
/** Whether that is one of opts.trusted_peers; in the route. */
bool sw_serve_is_trusted(const struct sw_serve_reply *reply);

/** Answer with @body, of Content-Type @type; status 503 gets a Retry-After of a second. The reply
 * is the server's again. May be called after sw_serve_close(). */
void sw_serve_answer(struct sw_serve_reply *reply, int status, const char *type, const char *body,
                     size_t len_bytes);
/** sw_serve_answer() with further header lines ("Name: value\r\n" each) instead of Retry-After. */
void sw_serve_answer_with(struct sw_serve_reply *reply, int status, const char *type,
                          const char *extra, const char *body, size_t len_bytes);
/** sw_serve_answer() with plain text. */
void sw_serve_text(struct sw_serve_reply *reply, int status, const char *text);
/** The answer of /readyz: status 200 and "ok", or status 503 and @trouble where it is not NULL. */
void sw_serve_ready(struct sw_serve_reply *reply, const char *trouble);
/** A route for /healthz: the process runs. */
sw_serve_fn sw_serve_healthz;
/** sw_serve_answer() with status 200 and JSON. */
void sw_serve_json(struct sw_serve_reply *reply, const char *text, size_t len_bytes);

/** Call @on_close once: when the answer is complete, or when the connection ends before, as by
 * sw_serve_close(). After it the reply is gone. A connection whose reply has it is read while the
 * answer is outstanding, up to 64 KiB, so that a client that goes away is noticed. Call it in the
 * route, or later, before the answer. */
void sw_serve_on_close(struct sw_serve_reply *reply, void (*on_close)(void *arg), void *arg);

/** Make an answer that takes long in steps of a fraction of a millisecond, which come in turns with
 * those of other connections. Until @step has answered @reply it returns true, and is called again.
 * The request stays as it is until then, and counts towards max_bodies_bytes. @over is called once,
 * as on_close of sw_serve_on_close(): the answer is complete, or nobody waits for it, since the
 * connection has ended; then @step is not called any more. Call it in the route. */
void sw_serve_work(struct sw_serve_reply *reply, bool (*step)(void *arg), void (*over)(void *arg),
                   void *arg);

/* A streamed answer, of a reply with sw_serve_on_close(): begin, write, ..., end. What is written
 * goes out in the next turn of the loop. */
void sw_serve_begin(struct sw_serve_reply *reply, int status, const char *type, const char *extra);
/** Send these bytes as they are; empty is nothing. */
void sw_serve_write(struct sw_serve_reply *reply, const char *bytes, size_t len_bytes);
/** Bytes that the client has not taken yet. They are not bounded here. */
size_t sw_serve_backlog(const struct sw_serve_reply *reply);
/** The answer is complete. The reply is the server's again. */
void sw_serve_end(struct sw_serve_reply *reply);
/** End the connection instead of the answer: at once by a TCP reset (@hard), or after what was
 * written. The reply is the server's again. */
void sw_serve_abort(struct sw_serve_reply *reply, bool hard);

/** Zero is the default of each. Everything is borrowed until sw_serve_close(). */
struct sw_serve_opts {
    const struct sw_serve_route *routes;
    size_t n_routes;
    void *arg;                     /* of the routes and of on_stopped */
    void (*on_stopped)(void *arg); /* after sw_serve_stop(): all connections have ended */
    const char *address;           /* NULL or 0.0.0.0: all, IPv6 ones too */
    int port;                      /* 0: any free one */
    /** NULL: plain HTTP; &sw_serve_openssl: HTTPS. OpenSSL is loaded when the
     * first certificate is. */
    const struct sw_serve_tls_ops *tls;
    const char *cert_file, *key_file; /* PEM; read again when they change */
    const char *cert_pem, *key_pem;   /* instead of the files: their content */
    const char *own_name;    /* without cert_file: it makes a certificate for this name, which signs
                                itself, when the first connection comes */
    const char *ca_file;     /* NULL, or the CAs of which one signed the certificate */
    const char *min_version; /* "VersionTLS12" (the default) ... "VersionTLS13" */
    const char *cipher_suites; /* comma-separated, IANA's or OpenSSL's names; NULL: OpenSSL's */
    int64_t request_ms;        /* for a handshake, for a request to arrive; 0: 10 s */
    int64_t idle_ms;           /* between requests; 0: 120 s */
    bool no_deadlines;         /* none of the two: for a virtual clock */
    int64_t reload_ms;         /* how often the files are read; 0: 1 s */
    int64_t drain_ms;          /* from stop until no connection is accepted; 0: at once */
    size_t max_head_bytes;     /* request line and headers; 0: 16 KiB */
    size_t max_body_bytes;     /* 0: 3 MiB */
    /** Of all requests that are being read, their heads too, and of answers that are not taken yet,
     * but for those of @trusted_peers. What does not fit ends one of the address that has most of
     * these bytes; where that is its own, a request is skipped and answered with 503, unless it is
     * small (8 KiB) or alone. 0: 4 MiB */
    size_t max_bodies_bytes;
    /* When there are so many, a new one takes the place of one of the address that has most: first
     * those that never sent a whole request, then the one that has been idle for longest. One
     * address may have a quarter of them, unless it is in @trusted_peers. INT_MAX: without bound.
     * 0: 384 */
    int max_conns;
    const char *trusted_peers; /* addresses and CIDRs, separated by commas; NULL: none */
};

/** What a program's flags say about the address that it serves at. */
struct sw_serve_flags {
    const char *listen, *cert, *key, *ca, *min_version, *suites, *trusted;
    int port, drain_s;
    bool tls;
};
/** The options that they stand for; texts are borrowed. */
struct sw_serve_opts sw_serve_flags_opts(const struct sw_serve_flags *flags);

/** Rows for a program's table of flags (data/flags/flags.h): @at(field) is the offset of a field of
 * its struct sw_serve_flags. */
#define SW_SERVE_FLAGS(at)                                                                         \
    { "tlscert",                                                                                   \
      0,                                                                                           \
      SW_FLAG_STRING,                                                                              \
      at(cert),                                                                                    \
      "FILE",                                                                                      \
      NULL,                                                                                        \
      "certificate chain, PEM; read again when it changes" },                                      \
        { "tlskey", 0, SW_FLAG_STRING, at(key), "FILE", NULL, "the certificate's key, PEM" },      \
        { "cacert",                                                                                \
          0,                                                                                       \
          SW_FLAG_STRING,                                                                          \
          at(ca),                                                                                  \
          "FILE",                                                                                  \
          NULL,                                                                                    \
          "the certificate must be signed by one of these, PEM" },                                 \
        { "tls-min-version",                                                                       \
          0,                                                                                       \
          SW_FLAG_STRING,                                                                          \
          at(min_version),                                                                         \
          "VERSION",                                                                               \
          NULL,                                                                                    \
          "VersionTLS12 (default) or VersionTLS13" },                                              \
        { "trusted-peers",                                                                         \
          0,                                                                                       \
          SW_FLAG_STRING,                                                                          \
          at(trusted),                                                                             \
          "CIDRS",                                                                                 \
          NULL,                                                                                    \
          "addresses that may have all connections, another one a quarter; comma-separated" },     \
    {                                                                                              \
        "tls-cipher-suites", 0, SW_FLAG_STRING, at(suites), "LIST", NULL,                          \
            "comma-separated; default: OpenSSL's choice"                                           \
    }

/** Listen and serve on @loop. While there is no certificate yet, connections are closed at once.
 * @return 0 | SW_INVALID (an option) | SW_UNAVAILABLE, SW_FORBIDDEN (the address) */
int sw_serve_open(struct sw_loop *loop, const struct sw_serve_opts *opts, struct sw_serve **out,
                  struct sw_err *err) SW_CHECKED;
/** sw_serve_open() with the address and port of @text, see sw_serve_parse_address(), instead of
 * those of @opts. NULL or "0": no server, *out is left as it is. */
int sw_serve_open_at(struct sw_loop *loop, const char *text, const struct sw_serve_opts *opts,
                     struct sw_serve **out, struct sw_err *err) SW_CHECKED;
/** The port that it listens on; 0 after sw_serve_stop(). */
int sw_serve_port(const struct sw_serve *server);
/** The socket that it listens on. */
int sw_serve_socket(const struct sw_serve *server);
/** Accept the connections that are waiting now, not in the next turn of the loop. Not from a route.
 */
void sw_serve_accept(struct sw_serve *server);
/** Close all connections and go on listening. Not from a route. */
void sw_serve_drop(struct sw_serve *server);
/** NULL: it serves; else why not: "going down", "no certificate". */
const char *sw_serve_trouble(const struct sw_serve *server);
/** After drain_ms no new connections, requests that began are finished (or time out); then
 * on_stopped is called. */
void sw_serve_stop(struct sw_serve *server);
/** Close the socket and all connections at once; on_stopped is not called. NULL is accepted. */
void sw_serve_close(struct sw_serve *server);

/** Split "127.0.0.1:8081", "[::1]:8081", ":8081" and "8081" into what the options take. @address
 * is the caller's, NULL for all addresses.
 * @return 0 | SW_INVALID */
int sw_serve_parse_address(const char *text, char **address, int *port,
                           struct sw_err *err) SW_CHECKED;

/** Counted since it was opened. */
struct sw_serve_counts {
    uint64_t bad_requests; /* no HTTP */
    uint64_t overloads;    /* refused because of max_bodies_bytes */
    uint64_t crowded_out;  /* closed, or not accepted, because of max_conns */
    uint64_t handshake_errors, timeouts, conns, reloads;
    unsigned open_conns;
    time_t not_after; /* of the certificate; 0: none */
};
/** Copy the counts. */
void sw_serve_count(const struct sw_serve *server, struct sw_serve_counts *out);
