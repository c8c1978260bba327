#pragma once
/* kube: the client of one Kubernetes API server on the process's event loop: requests, watches that
 * reconnect by themselves, and discovery. No function blocks; every answer is a callback on the
 * loop's thread. Requests are only retried if their options say so, and a watch stores only the
 * versions of objects: the informer keeps objects. Server address and identity: kubeconfig.h.
 * Leader election: lease.h. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;
struct sw_err;
struct sw_kube;
struct sw_kube_config;
struct sw_kube_request;
struct sw_kube_traced;
struct sw_kube_watch;
struct sw_loop;

/* ---- the client --------------------------------------------------------------------------------
 */

/** The zero value is the default of each. Strings are copied. */
struct sw_kube_opts {
    const char *user_agent;    /* "slipway" */
    const char *field_manager; /* "slipway" */
    int max_in_flight;         /* requests (without watches); 0: 16. The others are queued */
    int timeout_ms;            /* the deadline of a request without its own; 0: 30000 */
    uint64_t seed;             /* of the jitter; 0: from the system */
    /** The server has become unreachable (@code and @why are those of a request), or reachable
     * again (0). Called on each change, not for each request; initially it counts as reachable. */
    void (*on_server)(int code, const char *why, void *arg);
    /** A warning from the server (deprecated version, unknown field...); each text only once. */
    void (*on_warning)(const char *text, void *arg);
    /** A request ended, or a watch was answered; borrowed. See sw_kube_each_traced(). */
    void (*on_traced)(const struct sw_kube_traced *traced, void *arg);
    void *arg; /* of all three */
};

/** Read the certificates. The client connects with its first request. @config is copied; @opts may
 * be NULL. @*out is the caller's: sw_kube_free().
 * @return 0 | SW_INVALID (server address, certificate, key: named) | SW_NOTFOUND, SW_FORBIDDEN (a
 * file)
 */
int sw_kube_new(struct sw_loop *loop, const struct sw_kube_config *config,
                const struct sw_kube_opts *opts, struct sw_kube **out, struct sw_err *err);
/** Cancel every request and close every watch: none of their callbacks runs any more, and their
 * handles are invalid. Not from a callback of this client. NULL is accepted. */
void sw_kube_free(struct sw_kube *k);

/** "https://10.0.0.1:6443". Borrowed. */
const char *sw_kube_server(const struct sw_kube *k);
/** The context's namespace, else "default". Borrowed. */
const char *sw_kube_ns(const struct sw_kube *k);
/** Whether the server counts as reachable; see sw_kube_opts.on_server. */
bool sw_kube_is_up(const struct sw_kube *k);
/** Whether the server has answered any request yet. One that takes connections and says nothing
 * counts as reachable until requests have timed out. */
bool sw_kube_has_answered(const struct sw_kube *k);
/** For how long the server has answered nothing, while a request waits for it; 0: none does. */
int64_t sw_kube_silent_ms(const struct sw_kube *k);
/** Have on_server() called with 0 at the next answer, also where the server did not count as
 * unreachable: for who has told that it is silent. */
void sw_kube_await_answer(struct sw_kube *k);
/** Call @fn (NULL: no function) when a watch is answered again after connections of watches have
 * broken off, as they do when the API server is restarted; once for all that broke before. A watch
 * that the server ends in order is none. It is called from within an answer: @fn must only record
 * it. A later call replaces @fn. */
void sw_kube_on_resumed(struct sw_kube *k, void (*fn)(void *arg), void *arg);

/* ---- kinds -------------------------------------------------------------------------------------
 */

/** The verbs that discovery reports for a kind. */
enum sw_kind_verb {
    SW_CAN_GET = 1 << 0,
    SW_CAN_LIST = 1 << 1,
    SW_CAN_WATCH = 1 << 2,
    SW_CAN_CREATE = 1 << 3,
    SW_CAN_UPDATE = 1 << 4,
    SW_CAN_PATCH = 1 << 5,
    SW_CAN_DELETE = 1 << 6,
    SW_CAN_DELETECOLLECTION = 1 << 7,
};

/** One kind of one group and version. Pointers to it are valid until sw_kube_free(); discovery
 * updates its fields in place. */
struct sw_kind {
    const char *group;       /* "" for core */
    const char *version;     /* "v1" */
    const char *api_version; /* "apps/v1", "v1" */
    const char *kind;        /* "Deployment" */
    const char *plural;      /* "deployments" */
    bool namespaced;
    bool served;     /* false: the last discovery did not report it any more */
    bool has_status; /* has the status subresource */
    unsigned verbs;  /* enum sw_kind_verb */
};

/** Kinds of every server: they need no discovery. */
extern const struct sw_kind sw_kind_pod, sw_kind_node, sw_kind_event;

/** @return the kind if discovery has reported it and it is served, else NULL. Borrowed until
 * sw_kube_free(). Sends no request; see sw_kube_kind(). */
const struct sw_kind *sw_kube_kind_find(const struct sw_kube *k, const char *api_version,
                                        const char *kind);

/** @kind is NULL when code is not 0. */
typedef void sw_kube_kind_fn(int code, const struct sw_kind *kind, const struct sw_err *err,
                             void *arg);
typedef void sw_kube_done_fn(int code, const struct sw_err *err, void *arg);

/** Find a kind, with a discovery request if it is not known yet (so that a CRD that was just
 * created is found); at most one request for a kind that is served. A failure is not cached.
 * @cb gets 0 | SW_NOTFOUND: the message names the kind and which part of its apiVersion is not
 * served | SW_UNAVAILABLE | SW_FORBIDDEN. Cancel it like a request. */
struct sw_kube_request *sw_kube_kind(struct sw_kube *k, const char *api_version, const char *kind,
                                     sw_kube_kind_fn *cb, void *arg);

/** Repeat discovery: of one group version ("apps/v1"), of the groups and their versions
 * (@api_version NULL; two requests), or of every kind of every version ("*"; two requests if the
 * server has aggregated discovery, Kubernetes 1.26, else one more for each group version). A group
 * version that does not answer does not fail "*": its kinds stay as they were, and
 * sw_kube_next_doubtful() names it. */
struct sw_kube_request *sw_kube_discover(struct sw_kube *k, const char *api_version,
                                         sw_kube_done_fn *cb, void *arg);

/** Call @fn (NULL: no function) whenever a discovery request shows that the served kinds have
 * changed, after the last answer in flight. It is called from within an answer: @fn must only
 * record the change. A later call replaces @fn. */
void sw_kube_on_kinds(struct sw_kube *k, void (*fn)(void *arg), void *arg);
/** Whether the list of all served groups and versions is known. If not, a false from
 * sw_kube_serves() does not mean that the group is not served. */
bool sw_kube_groups_known(const struct sw_kube *k);
/** Whether the kinds of a group version ("apps/v1") are known, or the group version is not served.
 * If not, a kind that is not found may still be served. */
bool sw_kube_kinds_known(const struct sw_kube *k, const char *api_version);
/** Iterate over the group versions whose kinds are not known or whose last discovery request failed
 * (repeat it). @at: 0 at first. @return NULL after the last one. Borrowed until sw_kube_free(). */
const char *sw_kube_next_doubtful(const struct sw_kube *k, size_t *at);
/** Whether the group version "apps/v1" or any version of the group "apps" was served at the last
 * discovery. "": the core group. */
bool sw_kube_serves(const struct sw_kube *k, const char *group_or_version);
/** Call @each with "v1", "apps/v1", "apps/v1/Deployment", ... (Helm's .Capabilities.APIVersions):
 * all versions, and the kinds of versions that were discovered. */
void sw_kube_each_api(const struct sw_kube *k, void (*each)(const char *api, void *arg), void *arg);
/** Call @each with every served kind that discovery has reported. */
void sw_kube_each_kind(const struct sw_kube *k, void (*each)(const struct sw_kind *kind, void *arg),
                       void *arg);

/* ---- requests ----------------------------------------------------------------------------------
 */

/** The answer to a request. Everything in it is borrowed for the call (json_object_get() to keep).
 */
struct sw_kube_answer {
    int code;           /* 0, or what to do next (enum sw_code) */
    int http_status;    /* 0: no answer came */
    const char *reason; /* Status.reason: "AlreadyExists", "Conflict", "Expired"...; "" for none.
                           Ours: "WebhookFailed" (an admission webhook could not be called) */
    const struct sw_err *err;     /* the verb, the object, and the server's message */
    int64_t retry_after_ms;       /* the server asks to wait so long; 0: it did not say */
    struct json_object *warnings; /* the texts of the answer's Warning headers; NULL: none */
    struct json_object *status;   /* the server's Status object on failure, or NULL */
    struct json_object *object;   /* the object: get, create, update, apply, patch; NULL otherwise.
                                     After a delete: the object while its finalizers run, else NULL */
    struct json_object *items;    /* list: this page's array, each whole or as projected */
    const char *resource_version; /* list: what a watch may start from; "" otherwise */
    bool more;                    /* list: another page follows, with a call of its own */
    const char *text; /* logs and raw paths: the body, NUL-terminated besides; else NULL */
    size_t len_bytes; /* of the text */
};

typedef void sw_kube_answer_fn(const struct sw_kube_answer *answer, void *arg);

/** The type of a patch: RFC 7386, RFC 6902, strategic merge. */
enum sw_kube_patch { SW_PATCH_MERGE, SW_PATCH_JSON, SW_PATCH_STRATEGIC };

/** The zero value is the default of each; what does not belong to a verb is ignored by it. */
struct sw_request_opts {
    int timeout_ms; /* from when it is sent, each try anew; 0: the client's */
    /** The number of retries after SW_UNAVAILABLE, with capped back-off and jitter, or after the
     * server's Retry-After. Requests that are not idempotent (create, JSON patch; a dry run is) are
     * only repeated if the server cannot have processed them. Ten of them at most after a conflict
     * with another writer of the same moment, for merge patches and applies of no certain
     * resourceVersion or uid, and for deletes (kubectl does so, too). */
    int retries;
    bool ahead;              /* insert it at the front of the queue */
    const char *subresource; /* "status", "scale", "eviction", ... */
    const char *as_user;     /* impersonate this user ("system:serviceaccount:ns:name"); an empty
                                one is refused: SW_INVALID. NULL: the client's own identity */
    const char *purpose; /* why it is sent as the client itself, for the trace; static, or NULL */
    /* list */
    const char *label_selector;
    const char *field_selector;
    int page_size; /* 0: 500 */
    /** list and get: keep only these fields ("metadata.labels"; data/json/stream.h), ended by NULL,
     * and metadata's name, namespace, uid and resourceVersion; or all but these
     * ("!metadata.managedFields"). NULL: whole objects. */
    const char *const *fields;
    /** list and get: what may be kept, all pages together, estimated from above (json/stream.h);
     * more is SW_INVALID. 0: any, but an object of more than 32 MiB is stripped. */
    size_t max_tree_bytes;
    /* create, update, apply, patch, delete */
    const char *field_manager; /* NULL: the client's */
    bool force;                /* apply: take fields over from other managers */
    bool dry_run;
    bool strict_fields; /* unknown or doubled fields are refused (Kubernetes 1.25 and newer) */
    /* delete */
    const char *propagation;      /* "Foreground", "Background", "Orphan"; NULL: the kind's own */
    const char *uid;              /* only this very object; else SW_CONFLICT */
    const char *resource_version; /* only while unchanged */
    int grace_period_s;           /* 0: the object's own; -1: none (at once) */
    /* logs */
    const char *container;
    int tail_lines;         /* 0: all */
    int limit_bytes;        /* 0: 1 MiB */
    bool previous;          /* of the previous instance of the container */
    bool timestamps;        /* before each line, and a blank: when it was written */
    const char *since_time; /* RFC 3339, of which servers take whole seconds: what was written from
                             * then on; NULL: from the beginning */
    /** Follow the log until the container ends, or the request is cancelled: each piece is given
     * here as it comes, borrowed, with the callback's argument; the answer has no text then. Such a
     * request has no limit of bytes, no deadline once it is answered, and is sent at once, as a
     * watch is. Tried again only if the log has not begun. NULL: the log as it is now. */
    void (*on_text)(const char *bytes, size_t len, void *arg);
    /* raw */
    const char *body;         /* sent as it is; @content_type says what it is */
    const char *content_type; /* NULL: application/json */
    const char *proxied;      /* a bearer token for whom a .../proxy path leads to, which gets it as
                                 X-Slipway-Authorization: the API server keeps Authorization */
};

/* All of these answer exactly once (a list: once for each page), never before they returned, unless
 * cancelled. @ns is NULL for what has none (list: all namespaces). Bodies are borrowed for the
 * call; strings are copied; @opts may be NULL. The handle is good until the (last) answer's
 * callback has returned.
 *
 * Codes: 0 | SW_INVALID (400, 422, 413, a server's 500 'failed to create typed patch object', an
 * untrusted certificate, an answer that is no JSON) | SW_FORBIDDEN (401, 403) | SW_NOTFOUND (404) |
 * SW_CONFLICT (409; the reason tells AlreadyExists from Conflict) | SW_GONE (410) | SW_UNAVAILABLE
 * (429, 5xx, no connection, deadline passed, a webhook that could not be called).
 * Source: Kubernetes "API Conventions" (response Status kind), "API Concepts".
 * Pinned by test/unit/kube/kube_request_test.c. */

/** Get one object: sw_kube_answer.object. */
struct sw_kube_request *sw_kube_get(struct sw_kube *k, const struct sw_kind *kind, const char *ns,
                                    const char *name, const struct sw_request_opts *opts,
                                    sw_kube_answer_fn *cb, void *arg);
/** List objects in pages, each with a call of @cb; an error ends the list. SW_GONE: the list took
 * too long; start again. */
struct sw_kube_request *sw_kube_list(struct sw_kube *k, const struct sw_kind *kind, const char *ns,
                                     const struct sw_request_opts *opts, sw_kube_answer_fn *cb,
                                     void *arg);
/** @name: NULL, or the object's whose subresource (opts) is created, such as an eviction. */
struct sw_kube_request *sw_kube_create(struct sw_kube *k, const struct sw_kind *kind,
                                       const char *ns, const char *name, struct json_object *body,
                                       const struct sw_request_opts *opts, sw_kube_answer_fn *cb,
                                       void *arg);
/** Replace an object (PUT). SW_CONFLICT: the resourceVersion in @body is not the current one. */
struct sw_kube_request *sw_kube_update(struct sw_kube *k, const struct sw_kind *kind,
                                       const char *ns, const char *name, struct json_object *body,
                                       const struct sw_request_opts *opts, sw_kube_answer_fn *cb,
                                       void *arg);
/** Server-side apply. http_status 201: it was not there before. */
struct sw_kube_request *sw_kube_apply(struct sw_kube *k, const struct sw_kind *kind, const char *ns,
                                      const char *name, struct json_object *body,
                                      const struct sw_request_opts *opts, sw_kube_answer_fn *cb,
                                      void *arg);
/** Patch an object; @body is a patch of type @type. */
struct sw_kube_request *sw_kube_patch(struct sw_kube *k, const struct sw_kind *kind, const char *ns,
                                      const char *name, enum sw_kube_patch type,
                                      struct json_object *body, const struct sw_request_opts *opts,
                                      sw_kube_answer_fn *cb, void *arg);
/** Delete an object. The answer comes when the server accepts it; finalizers may still run. */
struct sw_kube_request *sw_kube_delete(struct sw_kube *k, const struct sw_kind *kind,
                                       const char *ns, const char *name,
                                       const struct sw_request_opts *opts, sw_kube_answer_fn *cb,
                                       void *arg);
/** The text of a pod's log. */
struct sw_kube_request *sw_kube_logs(struct sw_kube *k, const char *ns, const char *pod,
                                     const struct sw_request_opts *opts, sw_kube_answer_fn *cb,
                                     void *arg);
/** Any path ("/version", "/healthz?verbose"), any method; the answer is text. */
struct sw_kube_request *sw_kube_raw(struct sw_kube *k, const char *method, const char *path,
                                    const struct sw_request_opts *opts, sw_kube_answer_fn *cb,
                                    void *arg);
/** /version: object is {"major", "minor", "gitVersion", ...}. */
struct sw_kube_request *sw_kube_version(struct sw_kube *k, const struct sw_request_opts *opts,
                                        sw_kube_answer_fn *cb, void *arg);

/** Cancel a request: its callback does not run any more. The server may still have processed it.
 * NULL is accepted. May be called from the request's own callback. */
void sw_kube_cancel(struct sw_kube_request *req);

/* ---- watches -----------------------------------------------------------------------------------
 */

/** The type of a watch's event. */
enum sw_watch_type {
    SW_WATCH_ADDED, /* also for each object of the first list */
    SW_WATCH_MODIFIED,
    SW_WATCH_DELETED, /* object: its last state, or NULL where the deletion was missed */
    SW_WATCH_SYNCED,  /* a list is complete: all existing objects were delivered. Also when the
                         cause of an ERROR is gone */
    SW_WATCH_ERROR,   /* @code, @err: list or watch failed. The watch retries; reported on change
                         only, and not while the server is unreachable (on_server) */
};

/** One event of a watch, borrowed for the call. */
struct sw_watch_event {
    enum sw_watch_type type;
    const struct sw_kind *kind;
    const char *ns;   /* "" for what has none; NULL for SYNCED and ERROR */
    const char *name; /* NULL for SYNCED and ERROR */
    const char *uid;
    const char *resource_version;
    struct json_object *object; /* whole, or as projected; json_object_get() to keep */
    int code;
    const struct sw_err *err;
};

typedef void sw_watch_fn(const struct sw_watch_event *event, void *arg);

/** The zero value is the default of each. Strings are copied. */
struct sw_watch_opts {
    const char *ns;      /* NULL: all */
    const char *name;    /* only the object of this name */
    const char *as_user; /* as in sw_request_opts */
    const char *purpose;
    const char *label_selector;
    const char *field_selector;
    /** Keep only these fields ("metadata.labels"; data/json/stream.h), ended by NULL, besides
     * metadata's name, namespace, uid and resourceVersion; or all but these
     * ("!metadata.managedFields"). NULL: whole objects. */
    const char *const *fields;
    size_t max_tree_bytes; /* of an object, estimated from above: larger ones are stripped
                              (sw_stream_is_stripped()); 0: 32 MiB */
    int page_size;         /* 0: 500 */
    int idle_ms;           /* begin anew after so long without a byte; 0: 5 minutes */
    /** Skip the first list: the watch itself delivers the existing objects ("Get State and Start at
     * Most Recent"). This saves one request for callers that do not need SYNCED, which then comes
     * with a bookmark after about a minute, or with the list after an early end of the watch. */
    bool unlisted;
};

/** Report every object of a kind and its changes until closed, across connection failures: list in
 * pages, then watch; resume after an interruption; list again if the version is too old, and report
 * only the differences. @cb runs on the loop's thread, never before this function has returned.
 * @kind must be from this client. Source: Kubernetes "API Concepts" (efficient detection of
 * changes, 410 Gone, bookmarks). Pinned by test/unit/kube/kube_watch_test.c. */
struct sw_kube_watch *sw_kube_watch_open(struct sw_kube *k, const struct sw_kind *kind,
                                         const struct sw_watch_opts *opts, sw_watch_fn *cb,
                                         void *arg);
/** Close the watch: its callback does not run any more. May be called from the callback. NULL is
 * accepted. */
void sw_kube_watch_close(struct sw_kube_watch *w);
/** Whether all existing objects were delivered (SYNCED) and no event is known to be missing since.
 */
bool sw_kube_watch_is_synced(const struct sw_kube_watch *w);
/** Whether it is synced and follows, or has just ended as watches do; not while the server refuses
 * it or does not answer. */
bool sw_kube_watch_is_established(const struct sw_kube_watch *w);
/** The number of objects that were reported and not deleted. */
size_t sw_kube_watch_n_objects(const struct sw_kube_watch *w);

/* ---- Events ------------------------------------------------------------------------------------
 */

/** The fields of a v1 Event; everything is borrowed. */
struct sw_kube_event {
    const char *id,
        *ns; /* the Event's own name and namespace; @id NULL: see sw_kube_event_send() */
    struct {
        const char *api_version, *kind, *ns, *name, *uid; /* @ns NULL: it has none */
    } of;
    const char *reason, *message;
    bool warning;
    const char *component, *host; /* its source; @host NULL: none */
    int64_t at_ms;                /* since the epoch */
};
/** Create an Event, named after its object, the time and @serial: Events about one object at one
 * time differ in it. A failure is logged at level debug. */
void sw_kube_event_send(struct sw_kube *k, const struct sw_kube_event *event, uint64_t serial);
/** When it happened last, borrowed: texts of one server are ordered as times are. "": it does not
 * say. */
const char *sw_kube_event_time(struct json_object *event);
/** An Event with count 1, to be created; the caller owns it. */
struct json_object *sw_kube_event_doc(const struct sw_kube_event *e);

/* ---- counts ------------------------------------------------------------------------------------
 */

struct sw_metrics;

/** Write the counts of requests as samples of metric @name, with the labels verb, resource and
 * code. Each try counts, and each start of a watch. */
void sw_kube_put_counts(const struct sw_kube *k, struct sw_metrics *out, const char *name);
/** One of the last requests, answered or failed. */
struct sw_kube_traced {
    int64_t wall_ms, took_ms; /* when it ended; 0: a watch, which has not ended */
    const char *verb; /* get list watch create update patch delete; raw: the method, lower case */
    const char *path; /* its beginning, with the query */
    int http_status;  /* 0: no answer */
    const char *as_user; /* whom it impersonated; NULL: nobody */
    const char *purpose; /* of sw_request_opts; NULL: none */
};
/** Call @each with the last 500 requests, the oldest first. */
void sw_kube_each_traced(const struct sw_kube *k,
                         void (*each)(const struct sw_kube_traced *traced, void *arg), void *arg);
