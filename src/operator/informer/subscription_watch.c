/* Shared watches: what one watch shows, and which subscribers are notified of it. */
#include "operator/informer/subscription.h"

#include <stdlib.h>
#include <string.h>

#include "data/json/large.h"

#define OWNED_SELECTOR SW_OWNED_LABEL "=true"

static const char *const worker_fields[] = {
    "metadata.labels",
    "metadata.ownerReferences",
    "metadata.annotations",
    "metadata.deletionTimestamp",
    "metadata.creationTimestamp",
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.imagePullSecrets",
    "spec.containers.name",
    "spec.volumes.persistentVolumeClaim",
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
    s->notified = !event->code; /* after a fault the object itself is still to come */
    s->informer->notifying++;
    s->fn(event, s->arg, s->watch);
    informer_notified(s->informer);
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

/* Is the subscription for this object of the watch? */
static bool concerns(const struct subscription *s, const struct shared_watch *f, const char *ns,
                     const char *name, struct json_object *object)
{
    if (s->shared != f || s->ended)
        return false;
    if (s->key.name)
        return sw_streq(s->key.name, name) && sw_ns_equal(s->key.ns, ns);
    if (s->key.ns && *s->key.ns && !sw_ns_equal(s->key.ns, ns))
        return false;
    return !object || sw_selector_matches_object(&s->parsed, object);
}

void subscription_drop_fields(struct json_object *object, bool by_name)
{
    const bool owned = sw_streq(sw_obj_label(object, SW_OWNED_LABEL), "true");
    SW_AUTO_CHARS *writer = by_name || owned ? sw_strdup(sw_obj_writer(object)) : NULL;
    (void)sw_json_del(object, "metadata", "managedFields", NULL);
    if (writer && owned && sw_starts_with(writer, "slipway"))
        return;
    if (!writer || !*writer)
        return;
    struct json_object *entry = json_object_new_object();
    sw_json_set_str(entry, writer, "manager", NULL);
    (void)json_object_array_add(sw_json_need_list(object, "metadata", "managedFields", NULL),
                                entry);
}

static void shared_watch_changed(struct shared_watch *f, const struct sw_watch_event *w)
{
    struct sw_key key = { f->kind->api_version, f->kind->kind, w->ns, w->name };
    struct informer *informer = f->informer;
    if (w->object) {
        subscription_drop_fields(w->object, f->name);
        /* not every server sends the kind of a list's items */
        if (!*sw_obj_kind(w->object))
            sw_json_set_str(w->object, f->kind->kind, "kind", NULL);
        if (!*sw_obj_api_version(w->object))
            sw_json_set_str(w->object, f->kind->api_version, "apiVersion", NULL);
    }
    bool was_notified = false, gone = w->type == SW_WATCH_DELETED;
    bool deleted = sw_json_find(w->object, "metadata", "deletionTimestamp", NULL);
    informer->notifying++; /* keep the list as it is */
    for (struct subscription *s = informer->subscriptions; s; s = s->next) {
        if (!concerns(s, f, w->ns, w->name, gone ? NULL : w->object))
            continue;
        was_notified = true;
        if (!gone)
            notify(s, &(struct informer_event){ .key = &key, .object = w->object });
        else if (!f->of_owned || !s->key.name || deleted)
            notify(s, &(struct informer_event){ .key = &key });
        else
            subscription_get(s); /* perhaps only the label is gone by which the watch selects */
    }
    /* keep that it is there, and the document itself until a subscriber was notified; a large one
     * is read again for it */
    SW_AUTO_CHARS *k = observed_key(w->ns, w->name);
    struct lh_entry *e = lh_table_lookup_entry(f->seen, k);
    if (e)
        (void)lh_table_delete_entry(f->seen, e);
    if (!gone)
        (void)lh_table_insert(f->seen, SW_TAKE(k),
                              was_notified || !f->of_owned || sw_json_is_large(w->object)
                                  ? NULL
                                  : json_object_get(w->object));
    informer_notified(informer);
}

void subscription_notify_known(struct subscription *s)
{
    struct shared_watch *f = s->shared;
    bool synced = sw_kube_watch_is_synced(f->watch) || f->unlisted;
    if (!s->key.name) {
        if (synced)
            notify(s, &(struct informer_event){ .key = &s->key, .synced = true });
        return;
    }
    SW_AUTO_CHARS *k = observed_key(s->key.ns, s->key.name);
    struct lh_entry *e = lh_table_lookup_entry(f->seen, k);
    SW_AUTO_JSON *doc = e ? (struct json_object *)lh_entry_v(e) : NULL;
    if (doc)
        lh_entry_set_val(e, NULL);
    if (doc)
        subscription_notify_object(s, doc);
    else if (e)
        subscription_get(s);
    else if (informer_knows_absent(s->informer, &s->key))
        subscription_notify_object(s, NULL);
    else if (synced && f->of_owned)
        subscription_get(s);
    else if (synced)
        subscription_notify_object(s, NULL);
}

static void on_watch(const struct sw_watch_event *w, void *arg)
{
    struct shared_watch *f = arg;
    struct informer *informer = f->informer;
    bool synced = w->type == SW_WATCH_SYNCED;
    if (!synced && w->type != SW_WATCH_ERROR) {
        shared_watch_changed(f, w);
        return;
    }
    if (!synced && (w->code == SW_UNAVAILABLE || w->code == SW_GONE))
        return; /* passes by itself; the client says so when the server is down */
    informer->notifying++;
    for (struct subscription *s = informer->subscriptions; s; s = s->next) {
        if (s->shared != f || s->ended)
            continue;
        if (!synced)
            subscription_notify_fault(s, w->code, w->err ? sw_err_text(w->err) : "");
        else if (!s->notified || !s->key.name)
            subscription_notify_known(s);
    }
    informer_notified(informer);
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

static bool is_of_owned(const struct watch_scope *scope)
{
    return sw_streq(scope->selector, OWNED_SELECTOR) && !scope->ns;
}

/* Watches by a selector of the recipe's are not shared. */
static struct shared_watch *shared_watch_find(const struct informer *informer,
                                              const struct sw_kind *kind,
                                              const struct watch_scope *scope)
{
    if (!scope->name && !is_of_owned(scope))
        return NULL;
    for (struct shared_watch *f = informer->watches; f; f = f->next)
        if (f->kind == kind && sw_ns_equal(f->ns, scope->ns) && sw_streq(f->name, scope->name) &&
            sw_streq(f->selector, scope->selector))
            return f;
    return NULL;
}

bool subscription_has_watch(const struct subscription *s, const struct sw_kind *kind)
{
    struct watch_scope scope = scope_of(s);
    return shared_watch_find(s->informer, kind, &scope);
}

void subscription_join(struct subscription *s, const struct sw_kind *kind)
{
    struct informer *informer = s->informer;
    struct watch_scope scope = scope_of(s);
    s->shared = shared_watch_find(informer, kind, &scope);
    if (!s->shared) {
        struct shared_watch *f = s->shared = sw_zalloc(1, sizeof *f);
        *f = (struct shared_watch){
            .informer = informer,
            .next = informer->watches,
            .kind = kind,
            .ns = informer_copy(scope.ns),
            .name = informer_copy(scope.name),
            .selector = informer_copy(scope.selector),
            .of_owned = is_of_owned(&scope),
            .unlisted = !s->foreign && informer_knows_absent(informer, &s->key),
            .seen = lh_kchar_table_new(16, free_observed),
        };
        informer->watches = f;
        f->watch = sw_kube_watch_open(
            informer->kube, kind,
            WATCH_OWN(OBJECTS, .ns = scope.ns, .name = scope.name, .label_selector = scope.selector,
                      .unlisted = f->unlisted,
                      .fields = s->use == SW_USE_WORKERS ? worker_fields : NULL),
            on_watch, f);
    }
    s->shared->n_subscriptions++;
}
