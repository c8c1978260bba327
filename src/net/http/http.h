#pragma once
/* http: HTTP transfers on the loop, by libcurl's multi interface, and the certificates for them.
 * Only this module uses libcurl. Callers that can block use sw_http_fetch().
 *
 * Two rules make callbacks safe. First, libcurl may not be called from its own callbacks: a start
 * or cancel inside one is recorded and carried out when the outermost frame of this module returns.
 * Second, memory that outer frames can still use is freed at the same time (sw_http_defer()).
 * Other modules that call a user's callback (such as from a timer) do so between sw_http_enter()
 * and sw_http_leave(). */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

struct sw_http;
struct sw_http_tls;
struct sw_http_transfer;
struct sw_loop;

/* ---- certificates ------------------------------------------------------------------------------
 */

/** The trusted CAs and the client's certificate. Data takes precedence over a file. All may be
 * NULL: the system's CAs, no client certificate. */
struct sw_http_tls_opts {
    const char *source;  /* where this comes from, for messages; NULL: "the configuration" */
    const char *ca_data; /* PEM, instead of the system's */
    const char *ca_file;
    bool with_system;      /* the system's CAs too */
    const char *cert_data; /* PEM: the client's certificate, and what is between it and the CA */
    const char *cert_file;
    const char *key_data; /* PEM, without a pass phrase */
    const char *key_file;
    bool insecure;    /* the server's certificate is not verified, because the user said so */
    const char *hint; /* advice if the server is not trusted; NULL: the fields of a kubeconfig */
};

/** Read CA, certificate and key once; transfers share them. Files are read now. The system's CAs
 * are OpenSSL's, or those of SSL_CERT_FILE and SSL_CERT_DIR (all files in it), as in Go's programs.
 * @return 0 | SW_INVALID (not PEM, key of another certificate: the field is named) | SW_NOTFOUND,
 * SW_FORBIDDEN (a file) */
int sw_http_tls_new(const struct sw_http_tls_opts *opts, struct sw_http_tls **out,
                    struct sw_err *err);
/** Free the certificates; no transfer may use them any more. NULL is accepted. */
void sw_http_tls_free(struct sw_http_tls *tls);
SW_DEFINE_AUTO(sw_http_tls, sw_http_tls_free)

/* ---- addresses ---------------------------------------------------------------------------------
 */

/** The parts of an http or https address. All are owned; NULL where there is none. */
struct sw_http_url {
    char *scheme;
    char *host;                /* of an IPv6 address with its brackets */
    char *port;                /* the scheme's where the address names none */
    char *path;                /* "/" where the address has none */
    char *query;               /* without the '?' */
    char *username, *password; /* without escapes; NULL: not in it */
};
/** Split an address. @out is the caller's: sw_http_url_done().
 * @return 0 | SW_INVALID: not an address; @out is untouched */
int sw_http_url_parse(const char *text, struct sw_http_url *out, struct sw_err *err);
/** Where a redirect of @base leads: its Location may be relative. @return the caller's; NULL: no
 * address of http or https */
char *sw_http_url_join(const char *base, const char *location);
/** Free the parts. */
void sw_http_url_done(struct sw_http_url *url);
/** "localhost", "127.1.2.3", "[::1]": never behind a proxy. */
bool sw_http_is_loopback(const char *host);

/** For this process: @gate decides about the URL of each transfer, and of each redirect before it
 * is followed, as an error of it says; from https to http none is followed. NULL: none is asked. */
void sw_http_set_gate(int (*gate)(const char *url, struct sw_err *err));

/* ---- transfers ---------------------------------------------------------------------------------
 */

/** The zero value is the default of each; strings are copied. */
struct sw_http_opts {
    const char *user_agent; /* "slipway" */
    const char *proxy_url;  /* NULL: as the environment says (HTTP_PROXY, HTTPS_PROXY, NO_PROXY) */
    const char *username;   /* with password: basic authentication */
    const char *password;
    const char *connect_to; /* "::host:port": there, whatever the URL's host; NULL: as it says */
    bool direct;            /* no proxy, whatever the environment says */
    const struct sw_http_tls *tls; /* borrowed for its life; NULL: the system's CAs */
    void (*on_warning)(const char *text, void *arg); /* a Warning header's text; may be NULL */
    void (*on_freed)(void *arg); /* called last: the owner can be freed now too; may be NULL */
    void *arg;
};

/** A client for any number of transfers; sw_http_free() frees it. Never fails. */
struct sw_http *sw_http_new(struct sw_loop *loop, const struct sw_http_opts *opts);
/** Cancel all transfers and free the client; inside a callback, after the callback has returned
 * (see on_freed). */
void sw_http_free(struct sw_http *http);

/** A frame begins that calls users' callbacks; see the top of this file. */
void sw_http_enter(struct sw_http *http);
void sw_http_leave(struct sw_http *http); /* @http may be gone after it */
/** Call @free_fn(@p) when no callback is running: now, or when the outermost has returned. */
void sw_http_defer(struct sw_http *http, void (*free_fn)(void *p), void *p);

/** How a transfer ended. Borrowed for the call. */
struct sw_http_result {
    int code; /* 0: an answer came whole, whatever its status | SW_UNAVAILABLE | SW_INVALID */
    int http_status; /* 0: none came */
    bool unsent;     /* the server cannot have seen the request */
    bool timed_out;
    int64_t retry_after_ms; /* 0: not said */
    const char *url;        /* who answered: another than asked, after redirects */
    const struct sw_err *err;
};

/** A request. Strings and body are copied; zero selects the default of each optional field. */
struct sw_http_spec {
    const char *method;
    const char *url;
    const char *const *headers; /* "Name: value", ended by NULL */
    const void *body;           /* copied; NULL: none */
    size_t body_len;
    int64_t timeout_ms; /* for all of it; 0: none */
    int64_t answer_ms;  /* until its status line has come; 0: none */
    int64_t idle_ms;    /* between bytes after that; 0: none */
    long buffer_bytes;  /* without TLS: read so much at once; 0: 16 KiB */
    size_t max_bytes;   /* of the body; one byte more ends it with SW_INVALID; 0: any */
    /** Follow so many redirects; 0: none, the answer is the 3xx itself. Credentials (basic, and an
     * Authorization header) go to the first host only, and never from https to http. */
    int max_redirects;
    bool may_downgrade; /* follow from https to http: for callers that verify a digest */
    /** A piece of the body, in order. @return 0 | SW_PENDING: nothing was taken, the same piece
     * comes again after sw_http_resume() | another code: stop; on_done gets it with its message. */
    int (*on_data)(int http_status, const char *bytes, size_t len, struct sw_err *err, void *arg);
    /** One header of the answer, in order, before on_head; may be NULL. Not of a redirect that is
     * followed. Both borrowed. */
    void (*on_header)(const char *name, const char *value, void *arg);
    /** A Warning header's text, before sw_http_opts.on_warning; may be NULL. */
    void (*on_warning)(const char *text, void *arg);
    /** All headers have arrived; may be NULL. */
    void (*on_head)(int http_status, void *arg);
    void (*on_done)(const struct sw_http_result *result, void *arg);
    void *arg;
};

/** Start a transfer. on_done is called once, never before this function has returned, unless the
 * transfer is cancelled. The handle is valid until then. */
struct sw_http_transfer *sw_http_start(struct sw_http *http, const struct sw_http_spec *spec);
/** Continue a transfer whose on_data returned SW_PENDING; no effect on others. */
void sw_http_resume(struct sw_http_transfer *t);
/** Cancel a transfer: none of its callbacks runs any more. NULL is accepted. */
void sw_http_cancel(struct sw_http_transfer *t);

/* ---- blocking transfers ------------------------------------------------------------------------
 */

/** An answer kept whole. */
struct sw_http_answer {
    int http_status;
    char *url;          /* who answered */
    char *content_type; /* "" where none is said */
    char *body;         /* NUL-terminated besides; "" where spec->on_data took it */
    size_t len_bytes;
};
/** Free the answer's strings. */
void sw_http_answer_done(struct sw_http_answer *answer);

/** Do one transfer on a loop of its own and wait for its end. Of @spec on_data, on_header and
 * on_head may be set (with arg); without on_data the body is kept, up to max_bytes (0: 64 MiB).
 * Without any time limit it gets 60 s until the status line and 60 s between bytes.
 * @return 0: an answer came, whatever its status | SW_UNAVAILABLE | SW_INVALID | what on_data
 * returned */
int sw_http_fetch(const struct sw_http_opts *opts, const struct sw_http_spec *spec,
                  struct sw_http_answer *out, struct sw_err *err);
