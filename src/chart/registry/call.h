#pragma once
/* call: one request of a caller, as HTTP requests to the mirrors and the source of an image, with
 * retries and logins. call.c sends, call_auth.c logs in, call_answer.c reads the answers. */
#include "chart/registry/internal.h"

struct printbuf;
struct sw_timer;

enum { MAX_RETRY_MS = 60000 };

enum call_kind { CALL_CHECK, CALL_MANIFEST, CALL_BLOB, CALL_TAGS };

/** See registry.h. Strings are owned. */
struct sw_registry_call {
    struct sw_registry *reg;
    struct sw_registry_call *next, **prev;
    enum call_kind kind;
    sw_registry_fn *fn;
    sw_registry_data_fn *on_data;
    void *arg;
    struct sw_logins *logins;
    char *platform; /* or NULL */
    char *image;    /* as the caller named it */
    char *digest; /* of the blob, or of the manifest that an index led to; NULL: the reference's */
    uint64_t max_bytes;

    struct sw_image_ref ref;
    struct sw_pull_sources sources;
    size_t at;               /* index into sources of the current endpoint */
    struct sw_err start_err; /* why the call cannot start; code 0: it can */
    struct sw_err failures;  /* of the endpoints before this one */

    /* of the current endpoint */
    struct endpoint *endpoint;
    int n_tries;
    bool challenged; /* a login was tried here */
    bool basic;      /* it requires a password with each request */
    struct sw_timer *timer;
    struct sw_http_transfer *transfer;
    struct endpoint *token_endpoint;
    struct challenge challenge;

    /* of the answer that arrives */
    int status;
    struct printbuf *body;
    char *media_type, *header_digest, *next_page;
    struct digester digester;
    uint64_t n_bytes;
    bool delivered; /* on_data has taken some of it */
    struct json_object *tags;
    int n_pages;
};

/** Start with the endpoint at call->at. */
void call_begin_endpoint(struct sw_registry_call *c);
/** Send the request again, or that for the next page. */
void call_send(struct sw_registry_call *c);
/** Reset all members about the last answer. */
void call_forget_answer(struct sw_registry_call *c);
/** This endpoint failed: retry it where @again, else continue with the next one, else answer. The
 * call may be freed when this returns. */
void call_failed(struct sw_registry_call *c, int code, bool again, struct sw_err *err);
/** The same with a message. */
void call_refuse(struct sw_registry_call *c, int code, bool again, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/** call_answer.c: read an answer (c->status, c->body), then send the next request or answer. */
void call_arrived(struct sw_registry_call *c, int64_t retry_after_ms);
/** call_answer.c: the digest that the answer must have; NULL: a tag is requested. Borrowed. */
const char *call_wanted_digest(const struct sw_registry_call *c);
/** Call the caller back and free the call. */
void call_answer(struct sw_registry_call *c, const struct sw_registry_answer *answer);

/** The Authorization header for a request, the caller's; NULL: none (call_auth.c). */
char *call_authorization(struct sw_registry_call *c);
/** After a 401 with c->challenge: log in, then call_send(), or call_failed(). */
void call_log_in(struct sw_registry_call *c);
