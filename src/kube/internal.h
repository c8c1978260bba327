#pragma once
/* internal: what the sources of this module share. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/base.h"
#include "kube/kube.h"
#include "net/http/http.h"

struct sw_exec_answer;

struct json_object;
struct lh_table;
struct printbuf;
struct sw_projection;
struct sw_stream;
struct sw_timer;

/** Limits of bodies, and the default size of a list's pages. */
enum {
    MAX_BODY_BYTES = 64 << 20,  /* of an answer kept whole */
    MAX_EVENT_BYTES = 32 << 20, /* of one object in a list or watch */
    MAX_STATUS_BYTES = 1 << 20, /* of an error's body */
    MAX_TREE_BYTES = 32 << 20,  /* of an object in memory; a larger one is stripped */
    PAGE_SIZE = 500,
};

/* ---- the client (client.c) ---------------------------------------------------------------------
 */

/** The client; see kube.h. */
struct sw_kube {
    struct sw_loop *loop;
    struct sw_kube_config *config;
    struct sw_kube_opts opts; /* defaults filled in; strings owned */
    char *base_url;           /* what request paths are appended to */
    char *host_header;        /* "Host: ..." where base_url names another; or NULL */
    struct sw_http_tls *tls;
    struct sw_http *http;
    uint64_t random; /* state of the jitter's generator */

    bool down;
    bool answered;    /* the server has, at least once */
    bool is_awaited;  /* on_server is called at its next answer */
    int n_silent;     /* transfers in a row that got no answer */
    int64_t heard_ms; /* when it answered last */
    int64_t back_ms;  /* when the server answered again after it had not; 0: never */
    void (*on_up)(struct sw_kube *k); /* the server answers again */
    bool broken; /* a watch's connection has broken off, and none was answered since */
    void (*on_resumed)(void *arg); /* or NULL */
    void *resumed_arg;

    TAILQ_HEAD(request_queue, sw_kube_request) queue; /* wait to be sent */
    LIST_HEAD(request_list, sw_kube_request) requests;
    LIST_HEAD(watch_list, sw_kube_watch) watches;
    int n_in_flight;

    struct sw_kube_counts *counts;
    struct sw_kube_trace *trace;
    struct sw_kube_kinds *kinds;
    LIST_HEAD(fetch_list, fetch) fetches; /* discovery documents on their way */
    void (*on_kinds)(void *arg);
    void *kinds_arg;
    uint64_t kinds_signature; /* of the kinds at the last call of on_kinds */
    struct token *token;
    struct lh_table *warned; /* texts that on_warning was called with */
};

/* ---- the server (server.c) ---------------------------------------------------------------------
 */

/** A number from 0 to 1. */
double kube_random(struct sw_kube *k);
/** How long to wait before try @n (from 1): doubles from @first_ms up to @cap_ms, with jitter. */
int64_t kube_backoff_ms(struct sw_kube *k, int n, int64_t first_ms, int64_t cap_ms);
/** Record from a transfer's end whether the server is reachable; calls on_server on a change. */
void kube_note_server(struct sw_kube *k, const struct sw_http_result *result);
/** A watch is answered: calls on_resumed where one had broken off. */
void kube_note_resumed(struct sw_kube *k);

/* ---- counts (counts.c) -------------------------------------------------------------------------
 */

/** Empty counts; kube_counts_free() frees them. */
struct sw_kube_counts *kube_counts_new(void);
/** Free the counts. */
void kube_counts_free(struct sw_kube_counts *counts);
/** Count one request. */
void kube_counts_add(struct sw_kube_counts *counts, const char *verb, const char *resource,
                     int http_status);

/* ---- the last requests (trace.c) ---------------------------------------------------------------
 */

/** An empty trace; kube_trace_free() frees it. */
struct sw_kube_trace *kube_trace_new(void);
/** Free the trace. */
void kube_trace_free(struct sw_kube_trace *trace);
/** Copy @row, whose times are set here. @sent_ms: on the loop's clock; 0: not known. */
void kube_trace_add(struct sw_kube *k, const struct sw_kube_traced *row, int64_t sent_ms);

/* ---- headers (headers.c) -----------------------------------------------------------------------
 */

/** A transfer's headers. */
struct header_list {
    char *lines[16];
    const char *view[17]; /* the same, ended by NULL */
    int n;
};
/** The headers of one request: identity, Accept, Content-Type. @accept, @content_type, @as_user may
 * be NULL. @return 0 | SW_INVALID: an empty identity, which would be sent as none (libcurl drops a
 * header without a value), and others */
int kube_headers(struct sw_kube *k, const char *accept, const char *content_type,
                 const char *as_user, struct header_list *out, struct sw_err *err);
/** Free the lines. */
/** Add a bearer token for whom the API server forwards to. @return 0 | SW_INVALID (@headers is
 * freed) */
int kube_headers_proxied(struct header_list *headers, const char *token, struct sw_err *err);
void kube_headers_done(struct header_list *headers);

/** The cache of the token file, empty at first; kube_token_free() frees it. */
struct token *kube_token_new(void);
/** Free the token. */
void kube_token_free(struct token *token);
/** Take the token of @answer, the program's. */
void kube_token_take(struct token *token, struct sw_exec_answer *answer);
/** The server rejected the token: the next request reads the token file again, or asks the program.
 */
void kube_token_doubt(struct token *token);

/* ---- paths (path.c) ----------------------------------------------------------------------------
 */

/** "/apis/apps/v1/namespaces/a/deployments/b/status", the caller's. @name and @sub may be NULL. */
char *kube_path(const struct sw_kind *kind, const char *ns, const char *name, const char *sub);
/** Append "?key=value" or "&key=value", escaped. Nothing when @value is NULL. */
void kube_path_add(char **path, const char *key, const char *value);
void kube_path_add_int(char **path, const char *key, long long value); /* nothing when 0 */
/** A resource's name for people and counts: "deployments.apps", "pods/log". The caller's. */
char *kube_resource_name(const struct sw_kind *kind, const char *sub);

/* ---- what an answer means (answer.c) -----------------------------------------------------------
 */

/** @return the code for an HTTP status and, where there is one, a Status; may replace @*reason with
 * a better one (static text, or borrowed from @status). */
int kube_answer_code(int http_status, struct json_object *status, const char **reason);
/** Set @err to the server's message: Status.message, else the first line of the body. */
void kube_answer_error(int http_status, struct json_object *status, const char *body, size_t len,
                       int code, struct sw_err *err);
/** A body as a Status object, the caller's; NULL: it is not one. */
struct json_object *kube_status_parse(const char *body, size_t len);

/* ---- requests (request.c) ----------------------------------------------------------------------
 */

/** How the body of an answer is read. */
enum request_form { FORM_OBJECT, FORM_LIST, FORM_TEXT };

/** What to send. Heap strings are taken by kube_request_new(). */
struct request_spec {
    const char *verb;   /* for counts: "get"; static */
    const char *method; /* static, or in own_method */
    char *own_method;
    char *resource; /* for counts: "pods/log" */
    char *what;     /* for messages: "get pods 'ns/name'" */
    char *path;
    char *body;
    size_t body_len;
    char *content_type;
    char *proxied; /* or NULL */
    char *as_user;
    const char *purpose; /* static */
    const char *accept;  /* static */
    enum request_form form;
    bool repeatable;    /* it is idempotent */
    bool unconditional; /* a write that no other one can outdate: a conflict passes */
    bool ahead;         /* goes to the front of the queue */
    int retries;
    int timeout_ms;
    size_t max_bytes;           /* of a body kept whole; 0: MAX_BODY_BYTES */
    size_t max_tree_bytes;      /* as in sw_request_opts */
    size_t max_item_tree_bytes; /* a larger object is stripped; 0: MAX_TREE_BYTES */
    const char *const *fields;  /* used during the call only */
    /** list: give each item as it arrives instead of collecting them; may be NULL. */
    void (*on_item)(struct json_object *item, void *arg);
    /** text: give each piece as it arrives, with no end in sight; may be NULL. */
    void (*on_text)(const char *bytes, size_t len, void *arg);
};

/** The state of a request; RQ_GROUP: it stands for a discovery. */
enum request_state { RQ_QUEUED, RQ_RUNNING, RQ_WAITING, RQ_GROUP, RQ_OVER };

/** One request and its tries; see kube.h. */
struct sw_kube_request {
    struct sw_kube *k;
    LIST_ENTRY(sw_kube_request) in_all;
    TAILQ_ENTRY(sw_kube_request) in_queue;
    enum request_state state;
    struct request_spec spec;
    struct sw_projection *projection; /* or NULL */
    struct sw_timer *timer;           /* to try again, or to answer with @broken */
    struct sw_http_transfer *transfer;
    char *page; /* list: the continue token of the page asked for; NULL: the first */
    int n_tries;
    int64_t sent_ms;      /* the last try */
    struct sw_err broken; /* why it cannot be sent, or empty */
    /* of the answer that arrives */
    struct printbuf *body;
    struct sw_stream *stream;
    struct json_object *items;
    struct json_object *warnings;       /* sw_kube_answer.warnings */
    bool told;                          /* a piece was given to spec.on_text */
    size_t tree_bytes, page_tree_bytes; /* of the pages before, and of this one */
    sw_kube_answer_fn *on_answer;       /* RQ_GROUP: NULL */
    void *arg;
    void (*free_arg)(void *arg); /* RQ_GROUP: frees what it stands for */
};

/** Append a request to the queue. @spec's heap strings are taken. @broken (may be NULL) is moved:
 * answer with it without sending anything. */
struct sw_kube_request *kube_request_new(struct sw_kube *k, const struct request_spec *spec,
                                         struct sw_err *broken, sw_kube_answer_fn *cb, void *arg);
/** Compile fields, and those of metadata that every watch needs; NULL for none: whole objects. */
int kube_projection(const char *const *fields, struct sw_projection **out, struct sw_err *err);
/** A handle that stands for @arg, which is freed with it. */
struct sw_kube_request *kube_request_new_group(struct sw_kube *k, void (*free_arg)(void *arg),
                                               void *arg);
/** End a request, answered or not; its memory is freed when no callback runs. */
void kube_request_over(struct sw_kube_request *r);

/* ---- kinds (kinds.c) ---------------------------------------------------------------------------
 */

/** An empty set of kinds; kube_kinds_free() frees it. */
struct sw_kube_kinds *kube_kinds_new(void);
/** Free all kinds. */
void kube_kinds_free(struct sw_kube_kinds *kinds);
/** Learn from /api (@core) or /apis: APIVersions, APIGroupList, or aggregated discovery.
 * @*with_kinds: it was aggregated and named all kinds as well. @return 0 | SW_INVALID: none of
 * these */
int kube_kinds_learn_groups(struct sw_kube_kinds *kinds, bool core, struct json_object *doc,
                            bool *with_kinds, struct sw_err *err);
/** Learn from an APIGroup; NULL: it is not served. */
void kube_kinds_learn_group(struct sw_kube_kinds *kinds, const char *group,
                            struct json_object *doc);
/** Learn from an APIResourceList of one group version; NULL: it is not served. */
int kube_kinds_learn_version(struct sw_kube_kinds *kinds, const char *api_version,
                             struct json_object *doc, struct sw_err *err);
/** The last discovery request for this group version's kinds was @answered, or was not. */
void kube_kinds_set_answered(struct sw_kube_kinds *kinds, const char *api_version, bool answered);
/** A hash of the served kinds: it changes whenever they change. */
uint64_t kube_kinds_signature(const struct sw_kube_kinds *kinds);
/** Why a kind was not found: which part of its name is not served. */
void kube_kinds_explain(const struct sw_kube_kinds *kinds, const char *api_version,
                        const char *kind, struct sw_err *err);
/** Group versions in the order of discovery: the @i-th that is served, NULL behind the last. */
const char *kube_kinds_version_at(const struct sw_kube_kinds *kinds, size_t i);

/* ---- discovery (discovery.c) -------------------------------------------------------------------
 */

/** Free all discovery documents in flight. */
void kube_fetches_free(struct sw_kube *k);

/* ---- watches (watch.c) -------------------------------------------------------------------------
 */

/** Close all watches of the client. */
void kube_watch_unhook_all(struct sw_kube *k);
/** The server is back: end the pauses. */
void kube_watch_wake_all(struct sw_kube *k);
