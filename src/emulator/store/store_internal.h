#pragma once
/* struct sw_store, for the files of this folder. */
#include <json-c/linkhash.h>

#include "data/json/pool.h"
#include "emulator/store/feature_gates.h"
#include "emulator/store/objects.h"

/** The most changes that the history holds, and about the most memory that it takes. */
enum { SW_HISTORY_CHANGES = 4096, SW_HISTORY_BYTES = 8 * 1024 * 1024 };

/** The last changes of all kinds, a ring. */
struct sw_history {
    struct sw_change ring[SW_HISTORY_CHANGES];
    size_t first, n, bytes;
};

struct sw_pending; /* subscribe.c: an event that is not delivered yet */

/** A cluster's objects. */
struct sw_store {
    struct sw_loop *loop;
    struct sw_kinds *kinds;
    int minor; /* of the Kubernetes version */
    struct sw_emu_gates gates;
    uint64_t rv;
    uint64_t first_version;    /* rv when the cluster was up: no client has seen an earlier one */
    uint64_t random;           /* state of the generator */
    struct lh_table *by_uid;   /* uid -> struct sw_object */
    struct lh_table *owned;    /* owner's uid -> struct sw_owned */
    struct sw_json_pool *pool; /* what the stored documents consist of */
    struct sw_history history;
    struct {
        uint64_t rv; /* of the version that it is of; 0: none */
        char *bytes;
        size_t len;
    } text; /* see sw_version_text() */
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

/** The objects of @kind, made if there are none yet. The store may change them although callers
 * hold the kind as const. */
struct sw_shelf *sw_store_need_shelf(const struct sw_emu_kind *kind);

/* history.c */
/** Add a change; the oldest ones are dropped where there are too many. */
void sw_history_add(struct sw_store *store, const struct sw_change *change);

/* subscribe.c */
/** Make the timer of the deliveries. */
void sw_subs_init(struct sw_store *store);
/** Free all subscriptions and events. */
void sw_subs_done(struct sw_store *store);
/** Add a change; subscribers get it in a later turn. */
void sw_subs_add(struct sw_store *store, const struct sw_change *change);
