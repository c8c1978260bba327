#pragma once
/* The inside of the informer: subscription.c (subscriptions), subscription_watch.c (watches on the
 * server, and what subscribers are notified of), subscription_absent.c (objects read by name, and
 * what is known to be absent). */
#include "operator/informer/informer.h"

#include "base/base.h"
#include "base/loop.h"
#include "data/data.h"
#include "kube/kube.h"
#include "operator/account/account.h"
#include "operator/manifests/hooks.h"

#include <json-c/json.h>

/* One watch on the server, and what it has shown so far. */
struct shared_watch {
    struct informer *informer;
    struct shared_watch *next;
    const struct sw_kind *kind;
    char *ns, *name, *selector; /* as it was opened; each may be NULL */
    bool of_owned;              /* shows only what slipway owns */
    bool unlisted;              /* opened for an object known to be absent: there is no list */
    struct sw_kube_watch *watch;
    struct lh_table *seen; /* "namespace/name" -> document that no subscriber got yet, or NULL */
    size_t n_subscriptions;
};

struct subscription {
    struct informer *informer;
    struct subscription *next;
    struct sw_key key; /* strings owned */
    char *selector;
    struct sw_selector parsed;
    enum sw_watch_use use;
    uint64_t watch;
    informer_fn *fn;
    void *arg;
    struct shared_watch *shared;
    struct sw_kube_request *req; /* for its kind, or for the object by name */
    bool ended;    /* unsubscribed while subscribers are being notified: freed after */
    bool no_kind;  /* was notified that the kind is not served */
    bool foreign;  /* follow it by name: it is not ours */
    bool notified; /* of the object, or that it is absent */
    bool to_start;
    bool waits_for_ns;             /* its namespace is being looked for first */
    const struct sw_kind *to_join; /* and then this kind's watch is joined */
};

struct absence;
struct namespace_get;

struct informer {
    struct sw_loop *loop;
    struct sw_kube *kube;
    struct shared_watch *watches;
    struct subscription *subscriptions, **subscriptions_end;
    struct sw_timer *start_timer, *retry_timer, *refused_timer;
    struct absence *absences;
    struct namespace_get *namespace_gets;
    int n_refused; /* how often refused_timer was set since an answer was good */
    int notifying; /* depth of callbacks: nothing is freed meanwhile */
    bool has_ended;
};

char *informer_copy(const char *s); /* NULL stays NULL */
/* A request failed with @code: try again after a second what subscriptions still wait for; what
 * was refused, or cannot be, ever more seldom. */
void informer_retry_later(struct informer *informer, int code);
/* The end of what informer->notifying++ began: free what has ended meanwhile. */
void informer_notified(struct informer *informer);

/* subscription_watch.c */
void subscription_join(struct subscription *s, const struct sw_kind *kind);
void subscription_leave(struct subscription *s);
/* Is there a watch of @kind for it already? */
bool subscription_has_watch(const struct subscription *s, const struct sw_kind *kind);
/* Notify a subscription of what its watch knows, as soon as that is certain. */
void subscription_notify_known(struct subscription *s);
/* Take managedFields off @object: of what is followed by name (@by_name) and is not slipway's, who
 * wrote it last is left, see sw_obj_writer(); else no subscriber reads them. */
void subscription_drop_fields(struct json_object *object, bool by_name);
void subscription_notify_object(struct subscription *s, struct json_object *object);
void subscription_notify_fault(struct subscription *s, int code, const char *message);
void shared_watch_close(struct shared_watch *f);

/* subscription_absent.c */
/* The owner's watch does not show the object, which may belong to another owner: read it by name,
 * and notify. */
void subscription_get(struct subscription *s);
/* Join a watch of @kind and notify of what is known; read the namespace first where that saves a
 * list. */
void subscription_begin(struct subscription *s, const struct sw_kind *kind);
bool informer_knows_absent(struct informer *informer, const struct sw_key *key);
void informer_absent_done(struct informer *informer);
