#pragma once
/* store_impl: the inside of the store, for the files that are the API server. Objects are versions
 * that never change; a change makes a new version, numbers it, files it in the history, and tells
 * watchers (at once, they only write to their sockets) and subscribers (in a later turn). */
#include <json-c/json.h>
#include <json-c/linkhash.h>
#include <stdbool.h>
#include <stdint.h>

#include "emulator/store/kinds.h"
#include "emulator/store/store.h"

/** One state of an object, counted. Has a document, a text, or both. */
struct sw_version {
    unsigned refs;
    uint64_t rv;
    json_object *doc; /* NULL: only in history, parse the text */
    char *text;       /* JSON, apiVersion and kind first; NULL: nobody has asked yet */
    size_t text_len;
};
struct sw_version *sw_version_ref(struct sw_version *v);
void sw_version_unref(struct sw_version *v);
/** The JSON text: written once, whoever asks. Borrowed. */
const char *sw_version_text(struct sw_version *v, size_t *len);
/** The document, counted: the caller's to put. */
json_object *sw_version_doc(struct sw_version *v);

/** Something on a shelf. */
struct sw_object {
    const struct sw_emu_kind *kind;
    char *ns, *name, *uid;
    struct sw_version *now;
};

struct sw_change {
    enum sw_store_event_type type;
    const struct sw_emu_kind *kind;
    struct sw_version *now, *old; /* old: NULL for ADDED */
};

/** Told of each change of a kind inside the call that makes it; must not call the store. */
struct sw_watcher {
    void (*cb)(const struct sw_change *change, void *arg);
    void *arg;
    struct sw_watcher *next, *prev;
};

/** All objects of a kind, sorted by namespace and name. */
struct sw_shelf {
    struct sw_object **objects;
    size_t n, cap;
    uint64_t compacted; /* changes of this kind up to this number are forgotten */
    uint64_t changed;   /* the last change */
    struct sw_watcher *watchers;
};

enum { SW_HISTORY_CHANGES = 4096, SW_HISTORY_BYTES = 4 * 1024 * 1024 };

/** The last changes of all kinds, a ring. */
struct sw_history {
    struct sw_change ring[SW_HISTORY_CHANGES];
    size_t first, n, bytes;
};

struct sw_pending; /* subscribe.c: an event that was not delivered yet */

struct sw_store {
    struct sw_loop *loop;
    struct sw_kinds *kinds;
    int minor; /* of the Kubernetes version */
    uint64_t rv;
    uint64_t born;           /* rv when the cluster was up: nobody has seen it earlier */
    uint64_t random;         /* state of the generator */
    struct lh_table *by_uid; /* uid -> struct sw_object */
    struct lh_table *owned;  /* owner's uid -> struct sw_owned */
    struct sw_history history;
    struct {
        struct sw_timer *timer;
        struct sw_subscription *first;
        struct sw_pending *pending;
        size_t n, cap;
        uint64_t n_changes;
        bool delivering;
    } subs;
    json_object *webhook_addresses; /* "namespace/service" -> "host:port"; NULL: none */
    struct {
        sw_store_logs_fn *fn;
        void *arg;
    } logs;
};

struct sw_store_config {
    struct sw_loop *loop;
    int minor;     /* 29 for 1.29 */
    uint64_t seed; /* 0: from the system */
};
struct sw_store *sw_store_new(const struct sw_store_config *config);
/** Subscriptions must be gone. NULL is accepted. */
void sw_store_free(struct sw_store *store);

/* ---- shelves (store.c) --------------------------------------------------------------------------
 */

struct sw_object *sw_store_object(struct sw_store *store, const struct sw_emu_kind *kind,
                                  const char *ns, const char *name);
/** Index of the first object of @kind at or after (ns, name). */
size_t sw_shelf_seek(const struct sw_shelf *shelf, const char *ns, const char *name);
const struct sw_shelf *sw_store_shelf(const struct sw_emu_kind *kind); /* NULL: nothing there */

/** Put @doc (taken) on the shelf as a new object, or as the new version of one; the store numbers
 * it. No checks. @return the object, borrowed. */
struct sw_object *sw_store_commit(struct sw_store *store, const struct sw_emu_kind *kind,
                                  struct sw_object *old, json_object *doc);
/** Remove it; watchers see its last document with a new resourceVersion. @last (taken) is that
 * document, or NULL for the current one. */
void sw_store_remove(struct sw_store *store, struct sw_object *object, json_object *last);

/** xorshift: the next random number. */
uint64_t sw_store_random(struct sw_store *store);
/** A new version 4 UUID. */
char *sw_store_uid(struct sw_store *store, char buf[static 37]);
/** The time on the loop's clock in RFC 3339, whole seconds. */
char *sw_store_time(struct sw_store *store, char buf[static 21]);

/* ---- history (history.c) ------------------------------------------------------------------------
 */

void sw_history_add(struct sw_store *store, const struct sw_change *change);
void sw_history_done(struct sw_store *store);
/** Replay the changes of @kind after @rv, oldest first. @return 0 | SW_GONE (some are forgotten) */
int sw_history_replay(struct sw_store *store, const struct sw_emu_kind *kind, uint64_t rv,
                      void (*cb)(const struct sw_change *change, void *arg), void *arg);
/** The objects of @kind as they were at @rv. @return 0 | SW_GONE */
struct sw_snapshot {
    struct sw_version **versions; /* counted, sorted by namespace and name */
    size_t n, cap;
};
int sw_history_snapshot(struct sw_store *store, const struct sw_emu_kind *kind, uint64_t rv,
                        struct sw_snapshot *out);
void sw_snapshot_done(struct sw_snapshot *snapshot);
/** Forget all changes so far, as etcd's compaction does: older watches get 410. */
void sw_store_compact(struct sw_store *store);

void sw_watcher_add(struct sw_store *store, const struct sw_emu_kind *kind,
                    struct sw_watcher *watcher);
void sw_watcher_remove(const struct sw_emu_kind *kind, struct sw_watcher *watcher);

/* ---- subscribers (subscribe.c) ------------------------------------------------------------------
 */

void sw_subs_init(struct sw_store *store);
void sw_subs_done(struct sw_store *store);
void sw_subs_add(struct sw_store *store, const struct sw_change *change);
