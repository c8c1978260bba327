#pragma once
/* kube: one Kubernetes API server's client on the process's event loop. Requests, watches that keep
 * themselves alive, and what kinds the server serves. Nothing here blocks; every answer is a
 * callback on the loop's thread. What it leaves to others: what to ask for and when to try again
 * (requests retry only if told so), and to keep objects (a watch remembers only their versions).
 * Where the server is and who we are: kubeconfig.h. Leader election: lease.h. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;
struct sw_err;
struct sw_kube;
struct sw_kube_config;
struct sw_kube_request;
struct sw_kube_watch;
struct sw_loop;

/* ---- the client --------------------------------------------------------------------------------
 */

/** The zero value is the default of each. Strings are copied. */
struct sw_kube_opts {
    const char *user_agent;    /* "slipway" */
    const char *field_manager; /* "slipway" */
    int max_in_flight;         /* requests (watches not counted); 0: 16. More wait in line */
    int timeout_ms;            /* a request's deadline where it names none; 0: 30000 */
    uint64_t seed;             /* of the jitter; 0: from the system */
    /** The server has become unreachable (@code and @why are those of a request), or reachable
     * again (0). Told on each change, not for each request; it is taken for reachable at first. */
    void (*on_server)(int code, const char *why, void *arg);
    /** A warning of the server's (deprecated version, unknown field...); each text only once. */
    void (*on_warning)(const char *text, void *arg);
    void *arg; /* of both */
};

/** Read the certificates and be ready; connects only when asked for something. @config is copied;
 * @opts may be NULL.
 * @return 0 | SW_INVALID (server address, certificate, key: named) | SW_NOTFOUND, SW_FORBIDDEN (a
 * file)
 */
int sw_kube_new(struct sw_loop *loop, const struct sw_kube_config *config,
                const struct sw_kube_opts *opts, struct sw_kube **out, struct sw_err *err);
/** Cancels every request and closes every watch: none of their callbacks runs any more, and their
 * handles are dead. Not from a callback of its own. NULL is accepted. */
void sw_kube_free(struct sw_kube *k);

/** "https://10.0.0.1:6443". Borrowed. */
const char *sw_kube_server(const struct sw_kube *k);
/** The context's namespace, else "default". Borrowed. */
const char *sw_kube_ns(const struct sw_kube *k);
/** Whether the last thing heard of the server was an answer. */
bool sw_kube_is_up(const struct sw_kube *k);

/* ---- kinds -------------------------------------------------------------------------------------
 */

/** What may be done with a kind, as discovery says. */
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

/** One kind of one group and version. Pointers to it stay good until sw_kube_free(); what it says
 * is renewed in place. */
struct sw_kind {
    const char *group;       /* "" for core */
    const char *version;     /* "v1" */
    const char *api_version; /* "apps/v1", "v1" */
    const char *kind;        /* "Deployment" */
    const char *plural;      /* "deployments" */
    bool namespaced;
    bool served;     /* false: it was once, and is not since the last look */
    bool has_status; /* has the status subresource */
    unsigned verbs;  /* enum sw_kind_verb */
};

/** @return the kind if discovery has seen it and it is served, else NULL. Borrowed until
 * sw_kube_free(). Asks nobody: see sw_kube_kind(). */
const struct sw_kind *sw_kube_kind_find(const struct sw_kube *k, const char *api_version,
                                        const char *kind);
/** The same by plural name; @group NULL: any. The first that is served. */
const struct sw_kind *sw_kube_kind_find_plural(const struct sw_kube *k, const char *group,
                                               const char *plural);

/** @kind is NULL when code is not 0. */
typedef void sw_kube_kind_fn(int code, const struct sw_kind *kind, const struct sw_err *err,
                             void *arg);
typedef void sw_kube_done_fn(int code, const struct sw_err *err, void *arg);

/** Find a kind, asking the server when it is not known yet (so that a CRD made a moment ago is
 * found); one request at most for a kind that is served. A kind not found is not remembered as
 * such.
 * @cb gets 0 | SW_NOTFOUND: the message names the kind and which part of its apiVersion is not
 * served | SW_UNAVAILABLE | SW_FORBIDDEN. Cancel it like a request. */
struct sw_kube_request *sw_kube_kind(struct sw_kube *k, const char *api_version, const char *kind,
                                     sw_kube_kind_fn *cb, void *arg);

/** Ask the server anew what it serves: one group's version ("apps/v1"), the groups and their
 * versions
 * (@api_version NULL; two requests), or every kind of every version ("*"; two requests where the
 * server aggregates its discovery, Kubernetes 1.26, else one more for each group version). A group
 * version that cannot be asked for does not fail "*": its kinds stay as they were known, and
 * sw_kube_next_doubtful() names it. */
struct sw_kube_request *sw_kube_discover(struct sw_kube *k, const char *api_version,
                                         sw_kube_done_fn *cb, void *arg);

/** Call @fn (NULL: nobody) whenever the server has been found to serve something else than before,
 * by any question, a single kind's too; not while more answers are on their way. From within an
 * answer: @fn only notes it. One at a time. */
void sw_kube_on_kinds(struct sw_kube *k, void (*fn)(void *arg), void *arg);
/** Whether all groups and versions that are served have been told: until then what sw_kube_serves()
 * does not know may be there all the same. */
bool sw_kube_groups_known(const struct sw_kube *k);
/** Whether the kinds of a group version ("apps/v1") are known, as far as it is served: false where
 * it stands in the list of groups and nobody has answered for it yet, so that a kind that is not
 * found may be there all the same. */
bool sw_kube_kinds_known(const struct sw_kube *k, const char *api_version);
/** Those of which that is not known, or of which the last question had no answer (ask again), one
 * after the other; @at: 0 at first. NULL behind the last. Borrowed until sw_kube_free(). */
const char *sw_kube_next_doubtful(const struct sw_kube *k, size_t *at);
/** Whether "apps/v1" or a whole group "apps" was served at the last look. "" asks for core. */
bool sw_kube_serves(const struct sw_kube *k, const char *group_or_version);
/** Call @each with "v1", "apps/v1", "apps/v1/Deployment", ... (Helm's .Capabilities.APIVersions):
 * all versions, and the kinds of those that were looked at. */
void sw_kube_each_api(const struct sw_kube *k, void (*each)(const char *api, void *arg), void *arg);
/** Call @each with every kind served that discovery has seen. */
void sw_kube_each_kind(const struct sw_kube *k, void (*each)(const struct sw_kind *kind, void *arg),
                       void *arg);

/* ---- requests ----------------------------------------------------------------------------------
 */

/** What came back. Everything in it is borrowed for the call (json_object_get() to keep). */
struct sw_kube_answer {
    int code;           /* 0, or what to do next (enum sw_code) */
    int http_status;    /* 0: no answer came */
    const char *reason; /* Status.reason: "AlreadyExists", "Conflict", "Expired"...; "" for none.
                           Ours: "WebhookFailed" (an admission webhook could not be called) */
    const struct sw_err *err;   /* words: which verb on what, and the server's own */
    int64_t retry_after_ms;     /* the server asks to wait so long; 0: it did not say */
    struct json_object *status; /* the server's Status object on failure, or NULL */
    struct json_object
        *object;                  /* the object: get, create, update, apply, patch; NULL otherwise.
                                     After   a delete: the object while its finalizers run, else NULL */
    struct json_object *items;    /* list: this page's array, each whole or as projected */
    const char *resource_version; /* list: what a watch may start from; "" otherwise */
    bool more;                    /* list: another page follows, with a call of its own */
    const char *text; /* logs and raw paths: the body, NUL-terminated besides; else NULL */
    size_t len_bytes; /* of the text */
};

typedef void sw_kube_answer_fn(const struct sw_kube_answer *answer, void *arg);

enum sw_kube_patch { SW_PATCH_MERGE, SW_PATCH_JSON, SW_PATCH_STRATEGIC };

/** The zero value is the default of each; what does not belong to a verb is ignored by it. */
struct sw_request_opts {
    int timeout_ms; /* from when it is sent, each try anew; 0: the client's */
    /** Try again so many times after SW_UNAVAILABLE, with capped back-off and jitter, or after what
     * the server's Retry-After says. What may not be done twice (create, JSON patch) is repeated
     * only where the server cannot have acted. */
    int retries;
    bool ahead;              /* goes before what waits in line already */
    const char *subresource; /* "status", "scale", "eviction", ... */
    const char *as_user;     /* do it as this user ("system:serviceaccount:ns:name") */
    /* list */
    const char *label_selector;
    const char *field_selector;
    int page_size; /* 0: 500 */
    /** list and get: keep only these fields ("metadata.labels"; data/json/stream.h), ended by NULL,
     * and metadata's name, namespace, uid and resourceVersion; or all but these
     * ("!metadata.managedFields"). NULL: whole objects. */
    const char *const *fields;
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
    int tail_lines;  /* 0: all */
    int limit_bytes; /* 0: 1 MiB */
    bool previous;   /* of the container's life before */
    /* raw */
    const char *body;         /* sent as it is; @content_type says what it is */
    const char *content_type; /* NULL: application/json */
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

struct sw_kube_request *sw_kube_get(struct sw_kube *k, const struct sw_kind *kind, const char *ns,
                                    const char *name, const struct sw_request_opts *opts,
                                    sw_kube_answer_fn *cb, void *arg);
/** In pages, each with a call of @cb; an error ends it. SW_GONE: it took too long, begin again. */
struct sw_kube_request *sw_kube_list(struct sw_kube *k, const struct sw_kind *kind, const char *ns,
                                     const struct sw_request_opts *opts, sw_kube_answer_fn *cb,
                                     void *arg);
/** @name: NULL, or the object's whose subresource (opts) is created, such as an eviction. */
struct sw_kube_request *sw_kube_create(struct sw_kube *k, const struct sw_kind *kind,
                                       const char *ns, const char *name, struct json_object *body,
                                       const struct sw_request_opts *opts, sw_kube_answer_fn *cb,
                                       void *arg);
struct sw_kube_request *sw_kube_update(struct sw_kube *k, const struct sw_kind *kind,
                                       const char *ns, const char *name, struct json_object *body,
                                       const struct sw_request_opts *opts, sw_kube_answer_fn *cb,
                                       void *arg);
/** Server-side apply. http_status 201: it was not there before. */
struct sw_kube_request *sw_kube_apply(struct sw_kube *k, const struct sw_kind *kind, const char *ns,
                                      const char *name, struct json_object *body,
                                      const struct sw_request_opts *opts, sw_kube_answer_fn *cb,
                                      void *arg);
struct sw_kube_request *sw_kube_patch(struct sw_kube *k, const struct sw_kind *kind, const char *ns,
                                      const char *name, enum sw_kube_patch type,
                                      struct json_object *body, const struct sw_request_opts *opts,
                                      sw_kube_answer_fn *cb, void *arg);
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

/** No callback of it runs from here on. The server may have done it all the same. NULL is accepted,
 * and so is calling it from its own callback. */
void sw_kube_cancel(struct sw_kube_request *req);

/* ---- watches -----------------------------------------------------------------------------------
 */

enum sw_watch_type {
    SW_WATCH_ADDED, /* also for each object of the first list */
    SW_WATCH_MODIFIED,
    SW_WATCH_DELETED, /* object: its last state, or NULL where the deletion was missed */
    SW_WATCH_SYNCED,  /* a list has been delivered: everything there is was told. Also when what an
                         ERROR told has passed */
    SW_WATCH_ERROR,   /* @code, @err: cannot list or watch. It goes on trying; told on change only,
                         and not for a server that is down (on_server) */
};

/** Borrowed for the call. */
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
    const char *ns;   /* NULL: all */
    const char *name; /* only the object of this name */
    const char *label_selector;
    const char *field_selector;
    /** Keep only these fields ("metadata.labels"; data/json/stream.h), ended by NULL, besides
     * metadata's name, namespace, uid and resourceVersion; or all but these
     * ("!metadata.managedFields"). NULL: whole objects. */
    const char *const *fields;
    int page_size; /* 0: 500 */
    int idle_ms;   /* begin anew after so long without a byte; 0: 5 minutes */
    /** Do without the first list: the watch itself brings what there is, as it comes ("Get State
     * and Start at Most Recent"). One question less, for who needs no SYNCED: that comes with a
     * bookmark, a minute later, or with the list that follows when the watch ends before. */
    bool unlisted;
};

/** Tell about every object of a kind, from now on, whatever happens to the connection: list in
 * pages, then watch; resume where it broke off; list again where that is too old, telling only the
 * differences. @cb runs on the loop's thread, never before this returned, until closed.
 * @kind must be from this client. Source: Kubernetes "API Concepts" (efficient detection of
 * changes, 410 Gone, bookmarks). Pinned by test/unit/kube/kube_watch_test.c. */
struct sw_kube_watch *sw_kube_watch_open(struct sw_kube *k, const struct sw_kind *kind,
                                         const struct sw_watch_opts *opts, sw_watch_fn *cb,
                                         void *arg);
/** No callback of it runs from here on; may be called from its own. NULL is accepted. */
void sw_kube_watch_close(struct sw_kube_watch *w);
/** Whether everything that there is was told (SYNCED) and nothing is known to be missing since. */
bool sw_kube_watch_is_synced(const struct sw_kube_watch *w);
/** How many objects there are as far as was told. */
size_t sw_kube_watch_n_objects(const struct sw_kube_watch *w);

/* ---- Events ------------------------------------------------------------------------------------
 */

/** What a v1 Event says; everything borrowed. */
struct sw_kube_event {
    const char *id, *ns; /* the Event's own name and namespace */
    struct {
        const char *api_version, *kind, *ns, *name, *uid; /* @ns NULL: it has none */
    } of;
    const char *reason, *message;
    bool warning;
    const char *component, *host; /* who says it; @host NULL: wherever */
    int64_t at_ms;                /* since the epoch */
};
/** The Event that was seen once, to be created; the caller's. */
struct json_object *sw_kube_event_doc(const struct sw_kube_event *e);

/* ---- counts ------------------------------------------------------------------------------------
 */

struct sw_metrics;

/** Requests sent (each try counts; so does each start of a watch), for metrics and tests. */
struct sw_kube_count {
    const char *verb; /* get list watch create update patch delete; raw: the method, lower case */
    const char *resource; /* "pods", "pods/log", "nodes/status"; raw: "" */
    int http_status;      /* 0: no answer */
    uint64_t n;
};
void sw_kube_each_count(const struct sw_kube *k,
                        void (*each)(const struct sw_kube_count *count, void *arg), void *arg);
/** Write each of them as a sample of metric @name, with the labels verb, resource and code. */
void sw_kube_put_counts(const struct sw_kube *k, struct sw_metrics *out, const char *name);
/** One of the last requests, answered or given up. */
struct sw_kube_traced {
    int64_t wall_ms, took_ms; /* when it was over; 0: a watch, which goes on */
    const char *verb;         /* as of sw_kube_count */
    const char *path;         /* its beginning, with the query */
    int http_status;          /* 0: no answer */
};
/** The last 500, the oldest first. */
void sw_kube_each_traced(const struct sw_kube *k,
                         void (*each)(const struct sw_kube_traced *traced, void *arg), void *arg);
/** Sum over what fits; NULL fits all. */
uint64_t sw_kube_n_requests(const struct sw_kube *k, const char *verb, const char *resource);
