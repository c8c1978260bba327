#pragma once
/* The inside of the hub: informer.c (subscriptions), subscriber.c (watches and what they tell),
 * informer_lookup.c (looking by name, and what is known to be absent). */
#include "operator/controller/informer.h"

#include "base/base.h"
#include "base/loop.h"
#include "data/data.h"
#include "kube/kube.h"
#include "operator/controller/hooks.h"

#include <json-c/json.h>

/* One watch on the server, and what it has shown so far. */
struct feed {
    struct hub *hub;
    struct feed *next;
    const struct sw_kind *kind;
    char *ns, *name, *selector; /* as it was opened; each may be NULL */
    bool of_owned;              /* shows only what slipway owns */
    bool unlisted;              /* was opened where nothing was: there is no list to wait for */
    struct sw_kube_watch *watch;
    struct lh_table *seen; /* "namespace/name" -> document that nobody was told yet, or NULL */
    size_t n_subs;
};

struct sub {
    struct hub *hub;
    struct sub *next;
    struct sw_key key; /* strings owned */
    char *selector;
    struct sw_selector parsed;
    enum sw_watch_use use;
    uint64_t watch;
    hub_fn *fn;
    void *arg;
    struct feed *feed;
    struct sw_kube_request *req; /* for its kind, or for the object by name */
    bool ended;                  /* unsubscribed while news were being told: freed after */
    bool no_kind;                /* told that the kind is not served */
    bool foreign;                /* follow it by name: it is not ours */
    bool told;                   /* knows whether it is there */
    bool to_start;
    bool waits_for_ns;             /* its namespace is being looked for first */
    const struct sw_kind *to_join; /* and then this kind's feed is joined */
};

struct absence;
struct ns_look;

struct hub {
    struct sw_loop *loop;
    struct sw_kube *kube;
    struct feed *feeds;
    struct sub *subs, **subs_end;
    struct sw_timer *start_timer, *retry_timer;
    struct absence *absences;
    struct ns_look *ns_looks;
    int telling; /* how deep in callbacks: nothing is freed meanwhile */
    bool has_ended;
};

char *hub_copy(const char *s); /* NULL stays NULL */
struct sw_key hub_key_copy(const struct sw_key *key);
void hub_key_free(struct sw_key *key);
bool hub_same_ns(const char *a, const char *b);
void hub_retry_later(struct hub *hub);
/* Free what ended, once nobody iterates. */
void hub_sweep(struct hub *hub);

/* subscriber.c */
void sub_join(struct sub *s, const struct sw_kind *kind);
void sub_leave(struct sub *s);
/* Is there a feed for it already? */
bool sub_has_feed(const struct sub *s, const struct sw_kind *kind);
/* Tell a subscription what its feed knows, as soon as that is certain. */
void sub_tell_known(struct sub *s);
void sub_tell_object(struct sub *s, struct json_object *object);
void sub_tell_fault(struct sub *s, int code, const char *words);
void feed_close(struct feed *f);

/* informer_lookup.c */
/* The owner's watch does not show it: is it somebody else's? Ask, and tell. */
void sub_look(struct sub *s);
/* Join a feed of @kind and tell what is known; first find out whether its namespace is there, where
 * that spares a list. */
void sub_begin(struct sub *s, const struct sw_kind *kind);
bool hub_knows_absent(struct hub *hub, const struct sw_key *key);
void hub_look_done(struct hub *hub);
