/* Feeds: what one watch shows, and whom it is told. */
#include "operator/controller/informer_internal.h"

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

static void free_seen(struct lh_entry *e)
{
    free(lh_entry_k(e));
    (void)json_object_put((struct json_object *)lh_entry_v(e));
}

/* ---- telling ---------------------------------------------------------------------------------
 */

static void tell(struct sub *s, const struct hub_news *news)
{
    if (s->ended)
        return;
    s->told = !news->code; /* a fault is no answer: say what is there once that can be seen */
    s->hub->telling++;
    s->fn(news, s->arg, s->watch);
    s->hub->telling--;
    hub_sweep(s->hub);
}

void sub_tell_object(struct sub *s, struct json_object *object)
{
    tell(s, &(struct hub_news){ .key = &s->key, .object = object });
}

void sub_tell_fault(struct sub *s, int code, const char *words)
{
    tell(s, &(struct hub_news){ .key = &s->key, .code = code, .words = words });
}

/* ---- what a feed has seen ----------------------------------------------------------------------
 */

static char *seen_key(const char *ns, const char *name)
{
    return sw_printf("%s/%s", ns ? ns : "", name);
}

/* Remember that it is there; the document itself only until somebody was told. */
static void feed_keep(struct feed *f, const struct sw_watch_event *w, bool was_told)
{
    SW_AUTO_CHARS *k = seen_key(w->ns, w->name);
    struct lh_entry *e = lh_table_lookup_entry(f->seen, k);
    if (e)
        (void)lh_table_delete_entry(f->seen, e);
    if (w->type != SW_WATCH_DELETED)
        (void)lh_table_insert(f->seen, SW_TAKE(k), was_told ? NULL : json_object_get(w->object));
}

/* @return whether it is there; its document is the caller's, or NULL where it was told before. */
static bool feed_take(struct feed *f, const struct sw_key *key, struct json_object **doc)
{
    SW_AUTO_CHARS *k = seen_key(key->ns, key->name);
    struct lh_entry *e = lh_table_lookup_entry(f->seen, k);
    *doc = e ? (struct json_object *)lh_entry_v(e) : NULL;
    if (e)
        lh_entry_set_val(e, NULL);
    return e;
}

/* Does the subscription mean this object of its feed? */
static bool concerns(const struct sub *s, const struct feed *f, const char *ns, const char *name,
                     struct json_object *object)
{
    if (s->feed != f || s->ended)
        return false;
    if (s->key.name)
        return sw_streq(s->key.name, name) && hub_same_ns(s->key.ns, ns);
    if (s->key.ns && *s->key.ns && !hub_same_ns(s->key.ns, ns))
        return false;
    return !object || sw_selector_matches_object(&s->parsed, object);
}

static void on_deleted(struct sub *s, const struct sw_watch_event *w, const struct sw_key *key)
{
    /* Gone from a watch by label may mean that only the label is gone. */
    bool really = !s->feed->of_owned || !s->key.name ||
                  sw_json_find(w->object, "metadata", "deletionTimestamp", NULL);
    if (really)
        tell(s, &(struct hub_news){ .key = key });
    else
        sub_look(s);
}

/* Items of a list do not say what they are, and managedFields are nobody's business. */
static void make_whole(const struct feed *f, struct json_object *object)
{
    if (!object)
        return;
    (void)sw_json_del(object, "metadata", "managedFields", NULL);
    if (!*sw_obj_kind(object))
        sw_json_set_str(object, f->kind->kind, "kind", NULL);
    if (!*sw_obj_api_version(object))
        sw_json_set_str(object, f->kind->api_version, "apiVersion", NULL);
}

static void feed_changed(struct feed *f, const struct sw_watch_event *w)
{
    struct sw_key key = { f->kind->api_version, f->kind->kind, w->ns, w->name };
    struct hub *hub = f->hub;
    make_whole(f, w->object);
    bool was_told = false, gone = w->type == SW_WATCH_DELETED;
    hub->telling++; /* keep the list as it is */
    for (struct sub *s = hub->subs; s; s = s->next) {
        if (!concerns(s, f, w->ns, w->name, gone ? NULL : w->object))
            continue;
        was_told = true;
        if (gone)
            on_deleted(s, w, &key);
        else
            tell(s, &(struct hub_news){ .key = &key, .object = w->object });
    }
    feed_keep(f, w, was_told || !f->of_owned);
    hub->telling--;
    hub_sweep(hub);
}

/* Tell a subscription what its feed knows, as soon as that is certain. */
void sub_tell_known(struct sub *s)
{
    struct feed *f = s->feed;
    bool synced = sw_kube_watch_is_synced(f->watch) || f->unlisted;
    if (!s->key.name) {
        if (synced)
            tell(s, &(struct hub_news){ .key = &s->key, .synced = true });
        return;
    }
    SW_AUTO_JSON *doc = NULL;
    bool there = feed_take(f, &s->key, &doc);
    if (doc)
        sub_tell_object(s, doc);
    else if (there)
        sub_look(s);
    else if (hub_knows_absent(s->hub, &s->key))
        sub_tell_object(s, NULL);
    else if (synced && f->of_owned)
        sub_look(s);
    else if (synced)
        sub_tell_object(s, NULL);
}

static void feed_synced(struct feed *f)
{
    struct hub *hub = f->hub;
    hub->telling++;
    for (struct sub *s = hub->subs; s; s = s->next)
        if (s->feed == f && !s->ended && (!s->told || !s->key.name))
            sub_tell_known(s);
    hub->telling--;
    hub_sweep(hub);
}

static void feed_failed(struct feed *f, const struct sw_watch_event *w)
{
    struct hub *hub = f->hub;
    if (w->code == SW_UNAVAILABLE || w->code == SW_GONE)
        return; /* passes by itself; the client says so when the server is down */
    hub->telling++;
    for (struct sub *s = hub->subs; s; s = s->next)
        if (s->feed == f && !s->ended)
            sub_tell_fault(s, w->code, w->err ? sw_err_text(w->err) : "");
    hub->telling--;
    hub_sweep(hub);
}

static void on_watch(const struct sw_watch_event *w, void *arg)
{
    struct feed *f = arg;
    switch (w->type) {
    case SW_WATCH_ADDED:
    case SW_WATCH_MODIFIED:
    case SW_WATCH_DELETED:
        feed_changed(f, w);
        break;
    case SW_WATCH_SYNCED:
        feed_synced(f);
        break;
    case SW_WATCH_ERROR:
        feed_failed(f, w);
        break;
    }
}

void feed_close(struct feed *f)
{
    for (struct feed **at = &f->hub->feeds; *at; at = &(*at)->next)
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

void sub_leave(struct sub *s)
{
    struct feed *f = SW_TAKE(s->feed);
    if (f && --f->n_subs == 0)
        s->hub->has_ended = true;
}

static bool is_shared(const char *ns, const char *name, const char *selector)
{
    return name || (sw_streq(selector, OWNED_SELECTOR) && !ns);
}

static struct feed *feed_find(const struct hub *hub, const struct sw_kind *kind, const char *ns,
                              const char *name, const char *selector)
{
    for (struct feed *f = hub->feeds; f && is_shared(ns, name, selector); f = f->next)
        if (f->kind == kind && hub_same_ns(f->ns, ns) && sw_streq(f->name, name) &&
            sw_streq(f->selector, selector))
            return f;
    return NULL;
}

static struct feed *feed_open(struct hub *hub, const struct sw_kind *kind, const char *ns,
                              const char *name, const char *selector, enum sw_watch_use use,
                              bool unlisted)
{
    struct feed *f = feed_find(hub, kind, ns, name, selector);
    if (f)
        return f;
    f = sw_zalloc(1, sizeof *f);
    *f = (struct feed){
        .hub = hub,
        .next = hub->feeds,
        .kind = kind,
        .ns = hub_copy(ns),
        .name = hub_copy(name),
        .selector = hub_copy(selector),
        .of_owned = is_shared(ns, NULL, selector),
        .unlisted = unlisted,
        .seen = lh_kchar_table_new(16, free_seen),
    };
    hub->feeds = f;
    f->watch = sw_kube_watch_open(
        hub->kube, kind,
        &(struct sw_watch_opts){ .ns = ns,
                                 .name = name,
                                 .label_selector = selector,
                                 .unlisted = unlisted,
                                 .fields = use == SW_USE_WORKERS ? worker_fields : NULL },
        on_watch, f);
    return f;
}

/* How the feed that @s joins is opened: one of all that is owned, or of its own. */
struct feed_shape {
    const char *ns, *name, *selector;
};

static struct feed_shape shape_of(const struct sub *s)
{
    bool by_owner = s->key.name && !s->foreign && s->use == SW_USE_WHOLE &&
                    !sw_streq(s->key.kind, "Pod");
    if (by_owner)
        return (struct feed_shape){ .selector = OWNED_SELECTOR };
    return (struct feed_shape){ .ns = s->key.ns && *s->key.ns ? s->key.ns : NULL,
                                .name = s->key.name,
                                .selector = s->key.name ? NULL : s->selector };
}

bool sub_has_feed(const struct sub *s, const struct sw_kind *kind)
{
    struct feed_shape f = shape_of(s);
    return feed_find(s->hub, kind, f.ns, f.name, f.selector);
}

void sub_join(struct sub *s, const struct sw_kind *kind)
{
    struct feed_shape f = shape_of(s);
    s->feed = feed_open(s->hub, kind, f.ns, f.name, f.selector, s->use,
                        !s->foreign && hub_knows_absent(s->hub, &s->key));
    s->feed->n_subs++;
}
