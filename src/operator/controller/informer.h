#pragma once
/* hub: many who want to know about objects, few watches. Objects that slipway owns come from one
 * watch a kind, by their owner label; others from a watch of their own. Before an object that the
 * owner's watch does not show is called "not there", it is looked for by name: it may be somebody
 * else's. */
#include "operator/engine/engine.h"

struct hub;
struct sub;
struct json_object;
struct sw_kind;
struct sw_kube;
struct sw_loop;

/** One thing told to a subscriber. Borrowed. @object NULL: not there; @code SW_NOTFOUND besides:
 * the kind is not served, @words say so. @synced: everything that the subscription matches was
 * told. */
struct hub_news {
    const struct sw_key *key;
    struct json_object *object;
    int code;
    const char *words;
    bool synced;
};
typedef void hub_fn(const struct hub_news *news, void *arg, uint64_t watch);

struct hub *hub_new(struct sw_loop *loop, struct sw_kube *kube);
/** Ends all subscriptions. NULL is accepted. */
void hub_free(struct hub *hub);

/** Tell @fn about @a->key (or what @a->selector matches) from now on, never before this returned.
 * Ended by hub_unsubscribe() with the same @arg and a->watch. */
void hub_subscribe(struct hub *hub, const struct sw_action *a, hub_fn *fn, void *arg);
void hub_unsubscribe(struct hub *hub, void *arg, uint64_t watch);
/** All of @arg's. */
void hub_unsubscribe_all(struct hub *hub, void *arg);

/** Other kinds are served than before: go on with those that were waited for. */
void hub_kinds_changed(struct hub *hub);

/** What is known without asking, so that nobody asks: this namespace did not exist a moment ago, so
 * nothing of anybody's is in it; this object is not there. */
void hub_namespace_is_new(struct hub *hub, const char *ns);
void hub_is_absent(struct hub *hub, const struct sw_key *key);
