#pragma once
/* store: the objects of the embedded cluster, and the rules of an API server by which they change.
 * The REST server answers from it; the controllers (DaemonSets, pods, the YAML rules) call it
 * directly. It holds documents by (kind, namespace, name), numbers every change, keeps a bounded
 * history of changes for watches, and calls subscribers. It never blocks, and contains no HTTP.
 * Source of the behaviour: the Kubernetes API concepts and conventions; pinned by
 * test/emulator/emulator/api_*_test.c.
 *
 * Stored documents are immutable: callers get borrowed or counted ones, and do not change them. To
 * change an object, pass a function to sw_store_modify() (write/write.h), or update it with a
 * copy. */
#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sw_builtin;
struct sw_err;
struct sw_loop;
struct sw_store;

/* ---- kinds --------------------------------------------------------------------------------------
 */

/** The most versions that a kind is served in, and a NULL. */
enum { SW_KIND_VERSIONS = 8 };

/** One resource type; the same resource in several versions is one kind. It exists as long as the
 * store, also when its CRD is deleted (then !served). It owns its strings. */
struct sw_emu_kind {
    const char *group; /* "" for core */
    const char *kind;
    const char *list_kind;
    const char *plural; /* "daemonsets" */
    const char *singular;
    const char *short_names; /* "ds,daemon", or NULL */
    const char *categories;  /* "all", or NULL */
    const char *verbs;       /* NULL: all; else e.g. "create" */
    bool namespaced;
    bool has_status; /* the status subresource */
    bool has_scale;  /* the scale subresource */
    bool served;
    uint64_t since; /* declared by a CRD: the store's version when it began to be served */
    const char *versions[SW_KIND_VERSIONS]; /* served ones, the preferred first, ended by NULL */
    const char *storage_version;            /* what documents in the store carry */
    const struct sw_builtin *builtin;       /* its row in the table; NULL: declared by a CRD */
    json_object *crd;                       /* as last accepted, counted; NULL: built in */
    struct sw_shelf *shelf;                 /* the objects */
    const struct sw_emu_kind *stored_as;    /* the kind of another group that has its objects, or
                                               NULL */
};

/** The kind that is served in any version by group and name: ("apps", "DaemonSet"). NULL: none. */
const struct sw_emu_kind *sw_store_kind(struct sw_store *store, const char *group,
                                        const char *kind);
/** The kind by the parts of a path; @version NULL: any. NULL: none. */
const struct sw_emu_kind *sw_store_find_resource(struct sw_store *store, const char *group,
                                                 const char *version, const char *plural);
/** All served kinds, in the order of discovery: i from 0 until NULL. */
const struct sw_emu_kind *sw_store_nth_kind(struct sw_store *store, size_t i);

/* ---- errors: a Kubernetes Status
 * -----------------------------------------------------------------
 */

struct sw_session;
/** The content of an API server's Status of an error. Zero-initialise; the texts are owned. */
struct sw_status {
    int code;             /* 404, 409, 422... */
    const char *reason;   /* "NotFound", "Invalid"...; static */
    char *message;        /* heap */
    json_object *details; /* {name, group, kind, causes: [...]}, or NULL; owned */
    char *warnings;       /* the Warning headers, one a line, or NULL; also on success */
};
/** Free what it holds; harmless on a zeroed one. */
void sw_status_done(struct sw_status *status);
/** Declare an empty one that frees itself at the end of its scope. */
#define SW_STATUS(name) __attribute__((cleanup(sw_status_done))) struct sw_status name = { 0 }

/* ---- reading ------------------------------------------------------------------------------------
 */

/** @ns NULL or "" for cluster-scoped kinds. @return borrowed until the next change, NULL: none. */
json_object *sw_store_get(struct sw_store *store, const struct sw_emu_kind *kind, const char *ns,
                          const char *name);
/** By metadata.uid; *@kind (may be NULL) is its kind. @return borrowed, NULL: none */
json_object *sw_store_find_uid(struct sw_store *store, const char *uid,
                               const struct sw_emu_kind **kind);
/** Number of objects of the kind in @ns (NULL: everywhere). */
size_t sw_store_count(struct sw_store *store, const struct sw_emu_kind *kind, const char *ns);

/** A snapshot, ordered by namespace and name: counted documents, which may not be changed. */
struct sw_store_list {
    json_object **items;
    size_t n;
};
#define SW_STORE_LIST(name)                                                                        \
    __attribute__((cleanup(sw_store_list_done))) struct sw_store_list name = { 0 }
/** Free what it holds; harmless on a zeroed one. */
void sw_store_list_done(struct sw_store_list *list);
/** @ns NULL: everywhere. */
void sw_store_list(struct sw_store *store, const struct sw_emu_kind *kind, const char *ns,
                   struct sw_store_list *out);
/** The objects of any kind that have @uid among their ownerReferences; from an index. */
void sw_store_dependents(struct sw_store *store, const char *uid, struct sw_store_list *out);
/** The kind of a stored document, by its apiVersion and kind. */
const struct sw_emu_kind *sw_store_kind_of(struct sw_store *store, json_object *doc);

/** The store's resourceVersion: that of the last change. */
uint64_t sw_store_version(const struct sw_store *store);
/** The cluster is up now: no client sees an older state, not even in a list that is late. */
void sw_store_set_first_version(struct sw_store *store);
/** The loop whose clock the cluster has; borrowed. */
struct sw_loop *sw_store_loop(struct sw_store *store);

/* ---- writing (the calls: write/write.h) ---------------------------------------------------------
 */

struct sw_cel_question;
/** Of a write; zero is the default of each. Borrowed for the call. */
struct sw_store_opts {
    const char *subresource; /* NULL: the object itself; "status", "ephemeralcontainers"... */
    const char *manager;     /* field manager; NULL: "kube-controller-manager" */
    const char *version;     /* the API version that the document is in; NULL: what it says */
    bool dry_run;
    bool force;                   /* apply: take conflicting fields */
    const char *propagation;      /* delete: Foreground, Background (default), Orphan */
    const char *if_uid;           /* delete: preconditions */
    const char *if_version;       /* delete, patch */
    int grace_period_s;           /* delete of a pod; -1 or 0 with @grace_set: at once */
    bool grace_set;               /* @grace_period_s was given */
    const char *field_validation; /* Ignore, Warn (default), Strict */
    struct sw_session *session;   /* calls webhooks without blocking (webhook.h); or NULL */
    /** Whether an object may be created or changed to @doc, before it is validated; @old: NULL for
     * a new one. NULL: it may. @return 0, or a negative code with @status filled */
    int (*guard)(const struct sw_emu_kind *kind, const char *ns, json_object *doc, json_object *old,
                 struct sw_status *status, void *arg);
    void *guard_arg;
    json_object *user; /* who sends it: {username, groups}; NULL: the administrator, or a controller
                          of the cluster */
    /** What he, or another, may do, for expressions of admission; with @guard_arg. NULL: all. */
    bool (*allows)(const struct sw_cel_question *question, char **reason, void *arg);
    /** patch, but for apply: the patch is meant for the object in another version. @to takes the
     * stored object and gives it in that version, @from takes that and gives it back. NULL: it is
     * meant for the stored one. */
    json_object *(*to)(json_object *doc, void *arg);
    json_object *(*from)(json_object *doc, void *arg);
    void *version_arg;
};

/** The formats of a patch: merge, JSON, strategic merge, server-side apply. */
enum sw_patch_type { SW_PATCH_MERGE, SW_PATCH_JSON, SW_PATCH_STRATEGIC, SW_PATCH_APPLY };

/* ---- changes ------------------------------------------------------------------------------------
 */

/** How an object changed. */
enum sw_store_event_type { SW_STORE_ADDED, SW_STORE_MODIFIED, SW_STORE_DELETED };

/** Borrowed for the call. @old is NULL for ADDED. */
struct sw_store_event {
    enum sw_store_event_type type;
    const struct sw_emu_kind *kind;
    json_object *object; /* DELETED: as it last was */
    json_object *old;
};
struct sw_subscription;

/** Call @cb for each change of @kind (NULL: of every kind, later ones too), once and in order.
 * Existing objects come first, as ADDED. The calls are made in a later turn of the loop, never
 * inside a call of the store; by then the store may have changed again. */
struct sw_subscription *
sw_store_subscribe(struct sw_store *store, const struct sw_emu_kind *kind,
                   void (*cb)(const struct sw_store_event *event, void *arg), void *arg);
/** No call after this one. May be called from the callback. NULL is accepted. */
void sw_store_unsubscribe(struct sw_subscription *sub);

/* ---- seams --------------------------------------------------------------------------------------
 */

/** Get a container's log. @return 0 and the text (heap, the caller's) | SW_NOTFOUND (no such
 * container) | SW_PENDING (waiting to start: 400, as kubelet answers) */
typedef int sw_store_logs_fn(void *arg, json_object *pod, const char *container, bool previous,
                             char **text);
/** Set the function that returns containers' logs; NULL: none. */
void sw_store_set_logs(struct sw_store *store, sw_store_logs_fn *fn, void *arg);
