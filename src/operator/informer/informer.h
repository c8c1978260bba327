#pragma once
/* informer: watches of objects, shared between subscribers. Objects that slipway owns come from one
 * watch for each kind, by their owner label; others from a watch of their own. An object that the
 * owner's watch does not show is read by name before subscribers are notified that it is absent: it
 * may belong to another owner. */
#include "operator/engine/engine.h"

struct informer;
struct json_object;
struct sw_kind;
struct sw_kube;
struct sw_loop;

/** One notification of a subscriber. Borrowed. */
struct informer_event {
    const struct sw_key *key;
    struct json_object *object; /* NULL: it is not there */
    int code;                   /* SW_NOTFOUND: the kind is not served; else of a failed request */
    const char *message;        /* of @code; NULL for 0 */
    bool synced;                /* the subscriber was notified of everything that there was */
};
/** @watch: the number given to informer_subscribe(). */
typedef void informer_fn(const struct informer_event *event, void *arg, uint64_t watch);

/** @loop and @kube are borrowed. */
struct informer *informer_new(struct sw_loop *loop, struct sw_kube *kube);
/** Ends all subscriptions. NULL is accepted. */
void informer_free(struct informer *informer);

/** Notify @fn of @a->key (or of what @a->selector matches) from now on, never before this returned.
 * Ended by informer_unsubscribe() with the same @arg and a->watch. */
void informer_subscribe(struct informer *informer, const struct sw_action *a, informer_fn *fn,
                        void *arg);
/** End the subscription of @arg with this number. */
void informer_unsubscribe(struct informer *informer, void *arg, uint64_t watch);
/** End all subscriptions of @arg. */
void informer_unsubscribe_all(struct informer *informer, void *arg);

/** The server serves other kinds than before: go on with subscriptions that waited for theirs. */
void informer_kinds_changed(struct informer *informer);

/** The namespace @ns was created a moment ago: nothing is in it, so nothing in it need be read. */
void informer_namespace_is_new(struct informer *informer, const char *ns);
/** The object of @key is known to be absent: it need not be read. */
void informer_is_absent(struct informer *informer, const struct sw_key *key);
