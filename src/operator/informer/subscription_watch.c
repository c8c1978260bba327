/* Shared watches: what one watch shows, and whom it is told. */
#include "operator/informer/subscription.h"

#include <stdlib.h>
#include <string.h>

#define OWNED_SELECTOR SW_OWNED_LABEL "=true"

static const char *const worker_fields[] = {
    "metadata.labels",
    "metadata.ownerReferences",
    "metadata.annotations",
    "metadata.deletionTimestamp",
    "metadata.creationTimestamp",
    "spec.nodeName",
    "spec.restartPolicy",
    "status",
    NULL,
};

static void free_observed(struct lh_entry *e)
{
    free(lh_entry_k(e));
    (void)json_object_put((struct json_object *)lh_entry_v(e));
}

/* ---- notifying ---------------------------------------------------------------------------------
 */

static void notify(struct subscription *s, const struct informer_event *event)
{
    if (s->ended)
        return;
    s->notified = !event->code; /* a fault is no answer: say what is there once that can be seen */
    s->informer->notifying++;
    s->fn(event, s->arg, s->watch);
    s->informer->notifying--;
    informer_free_ended(s->informer);
}

void subscription_notify_object(struct subscription *s, struct json_object *object)
{
    notify(s, &(struct informer_event){ .key = &s->key, .object = object });
}

void subscription_notify_fault(struct subscription *s, int code, const char *message)
{
    notify(s, &(struct informer_event){ .key = &s->key, .code = code, .message = message });
}

/* ---- what a watch has seen ----------------------------------------------------------------------
 */

static char *observed_key(const char *ns, const char *name)
{
    return sw_printf("%s/%s", ns ? ns : "", name);
}

/* Remember that it is there; the document itself only until somebody was told. */
static void shared_watch_keep(struct shared_watch *f, const struct sw_watch_event *w,
                              bool was_notified)
{
    SW_AUTO_CHARS *k = observed_key(w->ns, w->name);
    struct lh_entry *e = lh_table_lookup_entry(f->seen, k);
    if (e)
        (void)lh_table_delete_entry(f->seen, e);
    if (w->type != SW_WATCH_DELETED)
        (void)lh_table_insert(f->seen, SW_TAKE(k),
                              was_notified ? NULL : json_object_get(w->object));
}

/* @return whether it is there; its document is the caller's, or NULL where it was told before. */
static bool shared_watch_take(struct shared_watch *f, const struct sw_key *key,
                              struct json_object **doc)
{
    SW_AUTO_CHARS *k = observed_key(key->ns, key->name);
    struct lh_entry *e = lh_table_lookup_entry(f->seen, k);
    *doc = e ? (struct json_object *)lh_entry_v(e) : NULL;
    if (e)
        lh_entry_set_val(e, NULL);
    return e;
}

/* Does the subscription mean this object of its watch? */
static bool concerns(const struct subscription *s, const struct shared_watch *f, const char *ns,
                     const char *name, struct json_object *object)
{
    if (s->shared != f || s->ended)
        return false;
    if (s->key.name)
        return sw_streq(s->key.name, name) && informer_same_ns(s->key.ns, ns);
    if (s->key.ns && *s->key.ns && !informer_same_ns(s->key.ns, ns))
        return false;
    return !object || sw_selector_matches_object(&s->parsed, object);
}

static void on_deleted(struct subscription *s, const struct sw_watch_event *w,
                       const struct sw_key *key)
{
    /* Gone from a watch by label may mean that only the label is gone. */
    bool really = !s->shared->of_owned || !s->key.name ||
                  sw_json_find(w->object, "metadata", "deletionTimestamp", NULL);
    if (really)
        notify(s, &(struct informer_event){ .key = key });
    else
        subscription_get(s);
}

/* Items of a list do not say what they are, and managedFields are nobody's business. */
static void make_whole(const struct shared_watch *f, struct json_object *object)
{
    if (!object)
        return;
    (void)sw_json_del(object, "metadata", "managedFields", NULL);
    if (!*sw_obj_kind(object))
        sw_json_set_str(object, f->kind->kind, "kind", NULL);
    if (!*sw_obj_api_version(object))
        sw_json_set_str(object, f->kind->api_version, "apiVersion", NULL);
}

static void shared_watch_changed(struct shared_watch *f, const struct sw_watch_event *w)
{
    struct sw_key key = { f->kind->api_version, f->kind->kind, w->ns, w->name };
    struct informer *informer = f->informer;
    make_whole(f, w->object);
    bool was_notified = false, gone = w->type == SW_WATCH_DELETED;
    informer->notifying++; /* keep the list as it is */
    for (struct subscription *s = informer->subscriptions; s; s = s->next) {
        if (!concerns(s, f, w->ns, w->name, gone ? NULL : w->object))
            continue;
        was_notified = true;
        if (gone)
            on_deleted(s, w, &key);
        else
            notify(s, &(struct informer_event){ .key = &key, .object = w->object });
    }
    shared_watch_keep(f, w, was_notified || !f->of_owned);
    informer->notifying--;
    informer_free_ended(informer);
}

/* Tell a subscription what its watch knows, as soon as that is certain. */
void subscription_notify_known(struct subscription *s)
{
    struct shared_watch *f = s->shared;
    bool synced = sw_kube_watch_is_synced(f->watch) || f->unlisted;
    if (!s->key.name) {
        if (synced)
            notify(s, &(struct informer_event){ .key = &s->key, .synced = true });
        return;
    }
    SW_AUTO_JSON *doc = NULL;
    bool there = shared_watch_take(f, &s->key, &doc);
    if (doc)
        subscription_notify_object(s, doc);
    else if (there)
        subscription_get(s);
    else if (informer_knows_absent(s->informer, &s->key))
        subscription_notify_object(s, NULL);
    else if (synced && f->of_owned)
        subscription_get(s);
    else if (synced)
        subscription_notify_object(s, NULL);
}

static void shared_watch_synced(struct shared_watch *f)
{
    struct informer *informer = f->informer;
    informer->notifying++;
    for (struct subscription *s = informer->subscriptions; s; s = s->next)
        if (s->shared == f && !s->ended && (!s->notified || !s->key.name))
            subscription_notify_known(s);
    informer->notifying--;
    informer_free_ended(informer);
}

static void shared_watch_failed(struct shared_watch *f, const struct sw_watch_event *w)
{
    struct informer *informer = f->informer;
    if (w->code == SW_UNAVAILABLE || w->code == SW_GONE)
        return; /* passes by itself; the client says so when the server is down */
    informer->notifying++;
    for (struct subscription *s = informer->subscriptions; s; s = s->next)
        if (s->shared == f && !s->ended)
            subscription_notify_fault(s, w->code, w->err ? sw_err_text(w->err) : "");
    informer->notifying--;
    informer_free_ended(informer);
}

static void on_watch(const struct sw_watch_event *w, void *arg)
{
    struct shared_watch *f = arg;
    switch (w->type) {
    case SW_WATCH_ADDED:
    case SW_WATCH_MODIFIED:
    case SW_WATCH_DELETED:
        shared_watch_changed(f, w);
        break;
    case SW_WATCH_SYNCED:
        shared_watch_synced(f);
        break;
    case SW_WATCH_ERROR:
        shared_watch_failed(f, w);
        break;
    }
}

void shared_watch_close(struct shared_watch *f)
{
    for (struct shared_watch **at = &f->informer->watches; *at; at = &(*at)->next)
        if (*at == f) {
            *at = f->next;
            break;
        }
    sw_kube_watch_close(f->watch);
    lh_table_free(f->seen);
    free(f->ns);
    free(f->name);
    free(f->selector);
    free(f);
}

void subscription_leave(struct subscription *s)
{
    struct shared_watch *f = SW_TAKE(s->shared);
    if (f && --f->n_subscriptions == 0)
        s->informer->has_ended = true;
}

static bool is_shared(const char *ns, const char *name, const char *selector)
{
    return name || (sw_streq(selector, OWNED_SELECTOR) && !ns);
}

static struct shared_watch *shared_watch_find(const struct informer *informer,
                                              const struct sw_kind *kind, const char *ns,
                                              const char *name, const char *selector)
{
    for (struct shared_watch *f = informer->watches; f && is_shared(ns, name, selector);
         f = f->next)
        if (f->kind == kind && informer_same_ns(f->ns, ns) && sw_streq(f->name, name) &&
            sw_streq(f->selector, selector))
            return f;
    return NULL;
}

static struct shared_watch *shared_watch_open(struct informer *informer, const struct sw_kind *kind,
                                              const char *ns, const char *name,
                                              const char *selector, enum sw_watch_use use,
                                              bool unlisted)
{
    struct shared_watch *f = shared_watch_find(informer, kind, ns, name, selector);
    if (f)
        return f;
    f = sw_zalloc(1, sizeof *f);
    *f = (struct shared_watch){
        .informer = informer,
        .next = informer->watches,
        .kind = kind,
        .ns = informer_copy(ns),
        .name = informer_copy(name),
        .selector = informer_copy(selector),
        .of_owned = is_shared(ns, NULL, selector),
        .unlisted = unlisted,
        .seen = lh_kchar_table_new(16, free_observed),
    };
    informer->watches = f;
    f->watch = sw_kube_watch_open(
        informer->kube, kind,
        &(struct sw_watch_opts){ .ns = ns,
                                 .name = name,
                                 .label_selector = selector,
                                 .unlisted = unlisted,
                                 .fields = use == SW_USE_WORKERS ? worker_fields : NULL },
        on_watch, f);
    return f;
}

/* How the watch that @s joins is opened: one of all that is owned, or of its own. */
struct watch_scope {
    const char *ns, *name, *selector;
};

static struct watch_scope scope_of(const struct subscription *s)
{
    bool by_owner = s->key.name && !s->foreign && s->use == SW_USE_WHOLE &&
                    !sw_streq(s->key.kind, "Pod");
    if (by_owner)
        return (struct watch_scope){ .selector = OWNED_SELECTOR };
    return (struct watch_scope){ .ns = s->key.ns && *s->key.ns ? s->key.ns : NULL,
                                 .name = s->key.name,
                                 .selector = s->key.name ? NULL : s->selector };
}

bool subscription_has_watch(const struct subscription *s, const struct sw_kind *kind)
{
    struct watch_scope f = scope_of(s);
    return shared_watch_find(s->informer, kind, f.ns, f.name, f.selector);
}

void subscription_join(struct subscription *s, const struct sw_kind *kind)
{
    struct watch_scope f = scope_of(s);
    s->shared = shared_watch_open(s->informer, kind, f.ns, f.name, f.selector, s->use,
                                  !s->foreign && informer_knows_absent(s->informer, &s->key));
    s->shared->n_subscriptions++;
}
