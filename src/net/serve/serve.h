#pragma once
/* serve: HTTP/1.1 for the programs that others call - admission reviews, a scheduler's extender,
 * probes, metrics - with or without TLS, on the process's one loop. Requests go by exact method and
 * path to the caller's routes; an answer may be given at once or later. What is asked and answered
 * is the caller's. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/base.h"
#include "base/loop.h"

struct sw_serve;       /* a server: one address */
struct sw_serve_reply; /* somebody who waits for an answer */

/** Borrowed for the call that gets it; texts are not NUL-terminated. */
struct sw_serve_request {
    const char *method, *path; /* path without query */
    size_t method_len, path_len;
    const char *body;
    size_t body_len;
    size_t total_len; /* bytes of the whole request: the next one begins behind them */
    bool keep_alive;
    bool not_json; /* a Content-Type that is something else */
};

/** Answer @reply exactly once, in the call or later, however long that takes: until then nothing
 * more is read from that connection. Whether it is still there does not matter. */
typedef void sw_serve_fn(const struct sw_serve_request *request, struct sw_serve_reply *reply,
                         void *arg);

struct sw_serve_route {
    const char *method, *path;
    sw_serve_fn *serve;
};

/** The reply is the server's again. @type: of the content. May be called after
 * sw_serve_close(). */
void sw_serve_answer(struct sw_serve_reply *reply, int status, const char *type, const char *body,
                     size_t len_bytes);
void sw_serve_text(struct sw_serve_reply *reply, int status, const char *text);
void sw_serve_json(struct sw_serve_reply *reply, const char *text, size_t len_bytes); /* 200 */

/** Zero is the default of each. Everything is borrowed until sw_serve_close(). */
struct sw_serve_opts {
    const struct sw_serve_route *routes;
    size_t n_routes;
    void *arg;                        /* of the routes and of on_stopped */
    void (*on_stopped)(void *arg);    /* after sw_serve_stop(): nobody is served any more */
    const char *address;              /* NULL or 0.0.0.0: all, IPv6 ones too */
    int port;                         /* 0: any free one */
    bool plain_http;                  /* no TLS */
    const char *cert_file, *key_file; /* PEM; read again when they change */
    const char *ca_file;              /* NULL, or whom the certificate is to be signed by */
    const char *min_version;          /* "VersionTLS12" (the default) ... "VersionTLS13" */
    const char *cipher_suites; /* comma-separated, IANA's or OpenSSL's names; NULL: OpenSSL's */
    int64_t request_ms;        /* for a handshake, for a request to arrive; 0: 10 s */
    int64_t idle_ms;           /* between requests; 0: 120 s */
    int64_t reload_ms;         /* how often the files are looked at; 0: 1 s */
    int64_t drain_ms;          /* from stop until the door closes; 0: at once */
    size_t max_body_bytes;     /* 0: 3 MiB */
    /** Of all requests that are being read and of answers that are not taken yet. A request that
     * does not fit is read past and answered with 503, unless it is small (32 KiB) or alone.
     * 0: 32 MiB */
    size_t max_bodies_bytes;
    int max_conns; /* 0: 1024 */
};

/** Rows for a program's table of options (base/options.h): @at(field) is the offset of its
 * settings' cert, key, ca, min_version and suites. */
#define SW_SERVE_TLS_OPTIONS(at)                                                                   \
    { "tlscert", SW_OPTION_TEXT, at(cert), "certificate chain, PEM; read again when it changes" }, \
        { "tlskey", SW_OPTION_TEXT, at(key), "the certificate's key, PEM" },                       \
        { "cacert", SW_OPTION_TEXT, at(ca),                                                        \
          "the certificate must be signed by one of these, PEM" },                                 \
        { "tls-min-version", SW_OPTION_TEXT, at(min_version),                                      \
          "VersionTLS12 (default) or VersionTLS13" },                                              \
    {                                                                                              \
        "tls-cipher-suites", SW_OPTION_TEXT, at(suites),                                           \
            "comma-separated; default: OpenSSL's choice"                                           \
    }

/** Listen and serve on @loop. A certificate that is not there yet is waited for: until then nobody
 * is answered.
 * @return 0 | SW_INVALID (an option) | SW_UNAVAILABLE, SW_FORBIDDEN (the address) */
int sw_serve_open(struct sw_loop *loop, const struct sw_serve_opts *opts, struct sw_serve **out,
                  struct sw_err *err) SW_CHECKED;
int sw_serve_port(const struct sw_serve *server);
/** NULL: it serves; else why not: "going down", "no certificate". */
const char *sw_serve_trouble(const struct sw_serve *server);
/** After drain_ms no new connections, requests that began are finished (or time out); then
 * on_stopped is called. */
void sw_serve_stop(struct sw_serve *server);
/** At once, on_stopped is not called. NULL is accepted. */
void sw_serve_close(struct sw_serve *server);

/** Split "127.0.0.1:8081", "[::1]:8081", ":8081" and "8081" into what the options take. @address
 * is the caller's, NULL for all addresses.
 * @return 0 | SW_INVALID */
int sw_serve_parse_address(const char *text, char **address, int *port,
                           struct sw_err *err) SW_CHECKED;

/** Since it was opened. */
struct sw_serve_counts {
    uint64_t bad_requests; /* no HTTP */
    uint64_t crowded_out;  /* by max_bodies_bytes */
    uint64_t handshake_errors, timeouts, conns, reloads;
    unsigned open_conns;
    time_t not_after; /* of the certificate; 0: none */
};
void sw_serve_count(const struct sw_serve *server, struct sw_serve_counts *out);
