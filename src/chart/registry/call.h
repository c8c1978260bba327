#pragma once
/* call: one question to registries on its way - through its places, tries and logins. */
#include "chart/registry/internal.h"

struct printbuf;
struct sw_timer;

enum { MAX_RETRY_MS = 60000 };

enum call_kind { CALL_CHECK, CALL_MANIFEST, CALL_BLOB, CALL_TAGS };

struct sw_registry_call {
    struct sw_registry *reg;
    struct sw_registry_call *next, **prev;
    enum call_kind kind;
    sw_registry_fn *fn;
    sw_registry_data_fn *on_data;
    void *arg;
    struct sw_logins *logins;
    char *platform; /* or NULL */
    char *image;    /* as asked for */
    char *digest; /* of the blob, or of the manifest that an index led to; NULL: the reference's */
    uint64_t max_bytes;

    struct sw_image_ref ref;
    struct sw_pull_sources sources;
    size_t at;             /* of sources */
    struct sw_err trouble; /* set: it could not be begun */
    struct sw_err worst;   /* what the places before this one said */

    /* of the place that is asked now */
    struct place *place;
    int n_tries;
    bool challenged; /* a login was tried here */
    bool basic;      /* it wants a password with each request */
    struct sw_timer *timer;
    struct sw_http_transfer *transfer;
    struct place *token_place;
    struct challenge challenge;

    /* of the answer that is coming */
    int status;
    struct printbuf *body;
    char *media_type, *said_digest, *next_page;
    struct digester digester;
    uint64_t n_bytes;
    bool delivered; /* the user has taken some of it */
    struct json_object *tags;
    int n_pages;
};

/** Ask the place that call->at says, from the beginning. */
void call_begin_place(struct sw_registry_call *c);
/** The same request again, or the next page's. */
void call_send(struct sw_registry_call *c);
/** What the last transfer brought is forgotten. */
void call_forget_answer(struct sw_registry_call *c);
/** This place said no: try it again if that may help, go on with the next one, or answer. */
void call_failed(struct sw_registry_call *c, int code, bool again, struct sw_err *err);
/** answer.c: an answer is there (c->status, c->body): understand it, go on or answer. */
void call_arrived(struct sw_registry_call *c, int64_t retry_after_ms);
/** answer.c: of the manifest that is asked for; NULL: the tag's. */
const char *call_wanted_digest(const struct sw_registry_call *c);
/** Answer, and end. */
void call_answer(struct sw_registry_call *c, const struct sw_registry_answer *answer);

/** The Authorization header for a request, the caller's; NULL: none (auth.c). */
char *call_authorization(struct sw_registry_call *c);
/** A 401 came with c->challenge: log in, then call_send(), or call_failed(). */
void call_log_in(struct sw_registry_call *c);
