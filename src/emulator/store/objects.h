#pragma once
/* objects: the store for the API server's own files, beyond store.h. An object is a list of
 * versions, and a version never changes. A change makes a new version, numbers it, adds it to the
 * history, and calls watchers (at once: they only write to their sockets) and subscribers (in a
 * later turn). */
#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "emulator/store/kinds.h"
#include "emulator/store/store.h"

/** One version of an object, counted. Versions share the maps and lists in which they are equal. */
struct sw_version {
    unsigned refs;
    uint64_t rv;
    json_object *doc; /* apiVersion and kind first */
    size_t bytes;     /* about the memory of what it shared with no other one when it was made */
};
/** Take a reference. @return @v */
struct sw_version *sw_version_ref(struct sw_version *v);
/** Release a reference. NULL is accepted. */
void sw_version_unref(struct sw_version *v);
/** The JSON text of a version, borrowed until the store is asked for that of another one: what
 * several watchers are sent is written once. */
const char *sw_version_text(struct sw_store *store, const struct sw_version *v, size_t *len);

/** A stored object. */
struct sw_object {
    const struct sw_emu_kind *kind;
    char *ns, *name, *uid;
    struct sw_version *now;
};

/** One change of an object, borrowed for the call of a watcher. */
struct sw_change {
    enum sw_store_event_type type;
    const struct sw_emu_kind *kind;
    struct sw_version *now, *old; /* old: NULL for ADDED */
};

/** Called for each change of a kind, inside the call that makes it; must not call the store. */
struct sw_watcher {
    void (*cb)(const struct sw_change *change, void *arg);
    void *arg;
    struct sw_watcher *next, *prev;
};

/** All objects of a kind, sorted by namespace and name. */
struct sw_shelf {
    struct sw_object **objects;
    size_t n, cap;
    uint64_t compacted; /* the history has no changes of this kind up to this resourceVersion */
    uint64_t changed;   /* the resourceVersion of the last change */
    struct sw_watcher *watchers;
};

/** An empty store with the built-in kinds of the Kubernetes release 1.@minor. @loop is borrowed.
 * @seed: of names and uids; 0: from the system */
struct sw_store *sw_store_new(struct sw_loop *loop, int minor, uint64_t seed);
/** Free the store. Its subscriptions must be freed before. NULL is accepted. */
void sw_store_free(struct sw_store *store);

/* ---- shelves --------------------------------------------------------------------------
 */

/** @ns: "" or NULL for cluster-scoped kinds. @return borrowed, NULL: none */
struct sw_object *sw_store_object(struct sw_store *store, const struct sw_emu_kind *kind,
                                  const char *ns, const char *name);
/** Index of the first object of @kind at or after (ns, name). */
size_t sw_shelf_seek(const struct sw_shelf *shelf, const char *ns, const char *name);
/** All objects of @kind; NULL: there never was one. */
const struct sw_shelf *sw_store_shelf(const struct sw_emu_kind *kind);

/** Store @doc (taken) as a new object (@object NULL), or as the new version of @object, with the
 * next resourceVersion. No checks. @return the object, borrowed. */
struct sw_object *sw_store_commit(struct sw_store *store, const struct sw_emu_kind *kind,
                                  struct sw_object *object, json_object *doc);
/** Remove @object; watchers get @last (taken), its last document, with a new resourceVersion. */
void sw_store_remove(struct sw_store *store, struct sw_object *object, json_object *last);

/** The next random number, by xorshift. */
uint64_t sw_store_random(struct sw_store *store);
/** Set the generator's state. @return the one that it had */
uint64_t sw_store_set_random(struct sw_store *store, uint64_t state);
/** A new version 4 UUID. */
char *sw_store_uid(struct sw_store *store, char buf[static 37]);
/** The minor number of the Kubernetes release: 29 for 1.29. */
int sw_store_minor(const struct sw_store *store);
/** Make it another release: the kinds are served in its versions, the objects stay. */
void sw_store_upgrade(struct sw_store *store, int minor);
/** The registry of kinds; the store's. */
struct sw_kinds *sw_store_kinds(struct sw_store *store);
/** The resourceVersion when the cluster was up: no client has seen an earlier one. */
uint64_t sw_store_first_version(const struct sw_store *store);
/** The time on the loop's clock in RFC 3339, whole seconds. */
char *sw_store_time(struct sw_store *store, char buf[static 21]);

/** Set the real address ("host:port") of the admission webhooks of a service
 * ("namespace/service"); both are copied. */
void sw_store_set_webhook_address(struct sw_store *store, const char *service, const char *address);
/** @return that address, borrowed; NULL: none was set */
const char *sw_store_webhook_address(const struct sw_store *store, const char *service);
/** A container's log (heap, the caller's), from the function of sw_store_set_logs().
 * @return what it returns; 0 and no text where none was set */
int sw_store_logs(struct sw_store *store, json_object *pod, const char *container, bool previous,
                  char **text);

/* ---- history (history.c) ------------------------------------------------------------------------
 */

/** Replay the changes of @kind after @rv, oldest first. @return 0 | SW_GONE (some are dropped) */
int sw_history_replay(struct sw_store *store, const struct sw_emu_kind *kind, uint64_t rv,
                      void (*cb)(const struct sw_change *change, void *arg), void *arg);
/** The objects of a kind at one resourceVersion. */
struct sw_snapshot {
    struct sw_snapshot_item {
        char *key;                  /* "namespace\1name"; the items are sorted by it */
        struct sw_version *version; /* counted */
    } * items;
    size_t n, cap;
};
/** The objects of @kind as they were at @rv; free @out with sw_snapshot_done().
 * @return 0 | SW_GONE: the changes since then are dropped, or @kind was first served after @rv */
int sw_history_snapshot(struct sw_store *store, const struct sw_emu_kind *kind, uint64_t rv,
                        struct sw_snapshot *out);
/** Free the items. */
void sw_snapshot_done(struct sw_snapshot *snapshot);
/** Drop all changes so far, as etcd's compaction does: older watches get 410. */
void sw_store_compact(struct sw_store *store);

/** Call @watcher, which is the caller's, for each change of @kind until it is removed. */
void sw_watcher_add(const struct sw_emu_kind *kind, struct sw_watcher *watcher);
/** Do not call @watcher any more. */
void sw_watcher_remove(const struct sw_emu_kind *kind, struct sw_watcher *watcher);
