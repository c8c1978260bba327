#include "controller/hub.h"

#include "base/base.h"
#include "base/loop.h"
#include "controller/hooks.h"
#include "data/data.h"
#include "kube/kube.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#define OWNED_SELECTOR SW_OWNED_LABEL "=true"

enum { LOOK_RETRIES = 4, RETRY_MS = 1000, ABSENT_MS = 1000, NEW_NAMESPACE_MS = 60000 };

/* One watch on the server, and what it has shown so far. */
struct feed {
    struct hub *hub;
    struct feed *next;
    const struct sw_kind *kind;
    char *ns, *name, *selector; /* as it was opened; each may be NULL */
    bool of_owned;              /* shows only what slipway owns */
    struct sw_kube_watch *watch;
    struct lh_table *seen; /* "namespace/name" -> document, a reference each */
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
};

/* Something that was not there when last seen: one object, or (no kind) all in a namespace. */
struct absence {
    struct absence *next;
    struct sw_key key;
    int64_t until_ms;
};

struct hub {
    struct sw_loop *loop;
    struct sw_kube *kube;
    struct feed *feeds;
    struct sub *subs, **subs_end;
    struct sw_timer *start_timer, *retry_timer;
    struct absence *absences;
    int telling; /* how deep in callbacks: nothing is freed meanwhile */
    bool has_ended;
};

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

static void join(struct sub *s, const struct sw_kind *kind);

/* ---- keys --------------------------------------------------------------------------------------
 */

static char *copy_of(const char *s)
{
    return s ? sw_strdup(s) : NULL;
}

static struct sw_key key_copy(const struct sw_key *key)
{
    return (struct sw_key){ copy_of(key->api_version), copy_of(key->kind), copy_of(key->ns),
                            copy_of(key->name) };
}

static void key_free(struct sw_key *key)
{
    free((char *)key->api_version);
    free((char *)key->kind);
    free((char *)key->ns);
    free((char *)key->name);
    *key = (struct sw_key){ 0 };
}

static bool same_ns(const char *a, const char *b)
{
    return sw_streq(a ? a : "", b ? b : "");
}

static bool same_key(const struct sw_key *a, const struct sw_key *b)
{
    return sw_streq(a->kind, b->kind) && sw_streq(a->name, b->name) && same_ns(a->ns, b->ns) &&
           sw_streq(a->api_version, b->api_version);
}

static void free_seen(struct lh_entry *e)
{
    free(lh_entry_k(e));
    (void)json_object_put((struct json_object *)lh_entry_v(e));
}

/* ---- telling -----------------------------------------------------------------------------------
 */

static void sub_free(struct sub *s)
{
    sw_kube_cancel(s->req);
    sw_selector_done(&s->parsed);
    key_free(&s->key);
    free(s->selector);
    free(s);
}

static void sweep(struct hub *hub);

static void tell(struct sub *s, const struct hub_news *news)
{
    if (s->ended)
        return;
    s->told = true;
    s->hub->telling++;
    s->fn(news, s->arg, s->watch);
    s->hub->telling--;
    sweep(s->hub);
}

static void tell_object(struct sub *s, struct json_object *object)
{
    tell(s, &(struct hub_news){ .key = &s->key, .object = object });
}

static void tell_fault(struct sub *s, int code, const char *words)
{
    tell(s, &(struct hub_news){ .key = &s->key, .code = code, .words = words });
}

/* ---- feeds -------------------------------------------------------------------------------------
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
        return sw_streq(s->key.name, name) && same_ns(s->key.ns, ns);
    if (s->key.ns && *s->key.ns && !same_ns(s->key.ns, ns))
        return false;
    return !object || sw_selector_matches_object(&s->parsed, object);
}

static void look(struct sub *s);

static void on_deleted(struct sub *s, const struct sw_watch_event *w, const struct sw_key *key)
{
    /* Gone from a watch by label may mean that only the label is gone. */
    bool really = !s->feed->of_owned || !s->key.name ||
                  sw_json_find(w->object, "metadata", "deletionTimestamp", NULL);
    if (really)
        tell(s, &(struct hub_news){ .key = key });
    else
        look(s);
}

static void feed_changed(struct feed *f, const struct sw_watch_event *w)
{
    struct sw_key key = { f->kind->api_version, f->kind->kind, w->ns, w->name };
    struct hub *hub = f->hub;
    if (w->object)
        (void)sw_json_del(w->object, "metadata", "managedFields", NULL);
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
    sweep(hub);
}

static bool is_known_absent(struct hub *hub, const struct sw_key *key)
{
    int64_t now_ms = sw_loop_now_ms(hub->loop);
    for (struct absence *a = hub->absences; a; a = a->next) {
        bool covers = a->key.kind ? same_key(&a->key, key)
                                  : key->ns && sw_streq(a->key.ns, key->ns);
        if (covers && a->until_ms > now_ms)
            return true;
    }
    return false;
}

/* Tell a subscription what its feed knows, as soon as that is certain. */
static void tell_known(struct sub *s)
{
    struct feed *f = s->feed;
    bool synced = sw_kube_watch_is_synced(f->watch);
    if (!s->key.name) {
        if (synced)
            tell(s, &(struct hub_news){ .key = &s->key, .synced = true });
        return;
    }
    SW_AUTO_JSON *doc = NULL;
    bool there = feed_take(f, &s->key, &doc);
    if (doc)
        tell_object(s, doc);
    else if (there)
        look(s);
    else if (is_known_absent(s->hub, &s->key))
        tell_object(s, NULL);
    else if (synced && f->of_owned)
        look(s);
    else if (synced)
        tell_object(s, NULL);
}

static void feed_synced(struct feed *f)
{
    struct hub *hub = f->hub;
    hub->telling++;
    for (struct sub *s = hub->subs; s; s = s->next)
        if (s->feed == f && !s->ended && !s->told)
            tell_known(s);
    hub->telling--;
    sweep(hub);
}

static void feed_failed(struct feed *f, const struct sw_watch_event *w)
{
    struct hub *hub = f->hub;
    if (w->code == SW_UNAVAILABLE || w->code == SW_GONE)
        return; /* passes by itself; the client says so when the server is down */
    hub->telling++;
    for (struct sub *s = hub->subs; s; s = s->next)
        if (s->feed == f && !s->ended) {
            tell_fault(s, w->code, w->err ? sw_err_text(w->err) : "");
            s->told = false; /* say again what is there once it can be watched */
        }
    hub->telling--;
    sweep(hub);
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

static void feed_close(struct feed *f)
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

static void leave(struct sub *s)
{
    struct feed *f = SW_TAKE(s->feed);
    if (f && --f->n_subs == 0)
        s->hub->has_ended = true;
}

/* Free what ended, once nobody iterates. */
static void sweep(struct hub *hub)
{
    if (hub->telling || !hub->has_ended)
        return;
    hub->has_ended = false;
    for (struct feed *f = hub->feeds, *next; f; f = next) {
        next = f->next;
        if (!f->n_subs)
            feed_close(f);
    }
    for (struct sub **at = &hub->subs; *at;) {
        struct sub *s = *at;
        if (!s->ended) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        sub_free(s);
    }
    hub->subs_end = &hub->subs;
    while (*hub->subs_end)
        hub->subs_end = &(*hub->subs_end)->next;
}

static struct feed *feed_open(struct hub *hub, const struct sw_kind *kind, const char *ns,
                              const char *name, const char *selector, enum sw_watch_use use)
{
    bool of_owned = sw_streq(selector, OWNED_SELECTOR) && !ns;
    for (struct feed *f = hub->feeds; f && (name || of_owned); f = f->next)
        if (f->kind == kind && same_ns(f->ns, ns) && sw_streq(f->name, name) &&
            sw_streq(f->selector, selector))
            return f;
    struct feed *f = sw_zalloc(1, sizeof *f);
    *f = (struct feed){
        .hub = hub,
        .next = hub->feeds,
        .kind = kind,
        .ns = copy_of(ns),
        .name = copy_of(name),
        .selector = copy_of(selector),
        .of_owned = of_owned,
        .seen = lh_kchar_table_new(16, free_seen),
    };
    hub->feeds = f;
    f->watch = sw_kube_watch_open(
        hub->kube, kind,
        &(struct sw_watch_opts){ .ns = ns,
                                 .name = name,
                                 .label_selector = selector,
                                 .fields = use == SW_USE_WORKERS ? worker_fields : NULL },
        on_watch, f);
    return f;
}

/* ---- looking by name ---------------------------------------------------------------------------
 */

static void start_again_later(struct hub *hub)
{
    if (!sw_timer_is_set(hub->retry_timer))
        sw_timer_set(hub->retry_timer, RETRY_MS);
}

static void on_looked(const struct sw_kube_answer *answer, void *arg)
{
    struct sub *s = arg;
    const struct sw_kind *kind = s->feed->kind;
    s->req = NULL;
    if (answer->code == SW_NOTFOUND) {
        tell_object(s, NULL);
        return;
    }
    if (answer->code == SW_UNAVAILABLE) {
        start_again_later(s->hub);
        return;
    }
    if (answer->code < 0) {
        tell_fault(s, answer->code, sw_err_text(answer->err));
        return;
    }
    (void)sw_json_del(answer->object, "metadata", "managedFields", NULL);
    if (!sw_streq(sw_obj_label(answer->object, SW_OWNED_LABEL), "true")) {
        leave(s);
        s->foreign = true;
        join(s, kind);
    }
    tell_object(s, answer->object);
}

/* The owner's watch does not show it: is it somebody else's? */
static void look(struct sub *s)
{
    if (!s->req)
        s->req = sw_kube_get(s->hub->kube, s->feed->kind, s->key.ns, s->key.name,
                             &(struct sw_request_opts){ .retries = LOOK_RETRIES }, on_looked, s);
}

/* ---- subscriptions -----------------------------------------------------------------------------
 */

static void join(struct sub *s, const struct sw_kind *kind)
{
    bool by_owner = s->key.name && !s->foreign && s->use == SW_USE_WHOLE &&
                    !sw_streq(s->key.kind, "Pod");
    const char *ns = s->key.ns && *s->key.ns ? s->key.ns : NULL;
    if (by_owner)
        s->feed = feed_open(s->hub, kind, NULL, NULL, OWNED_SELECTOR, s->use);
    else
        s->feed = feed_open(s->hub, kind, ns, s->key.name, s->key.name ? NULL : s->selector,
                            s->use);
    s->feed->n_subs++;
}

static void on_kind(int code, const struct sw_kind *kind, const struct sw_err *err, void *arg)
{
    struct sub *s = arg;
    s->req = NULL;
    if (code == 0) {
        s->no_kind = false;
        join(s, kind);
        tell_known(s);
    } else if (code == SW_UNAVAILABLE) {
        start_again_later(s->hub);
    } else {
        s->no_kind = true;
        tell_fault(s, code, sw_err_text(err));
    }
}

static void start(struct sub *s)
{
    const struct sw_kind *kind = sw_kube_kind_find(s->hub->kube, s->key.api_version, s->key.kind);
    s->to_start = false;
    if (kind) {
        s->no_kind = false;
        join(s, kind);
        tell_known(s);
    } else if (!s->req) {
        s->req = sw_kube_kind(s->hub->kube, s->key.api_version, s->key.kind, on_kind, s);
    }
}

static void on_start(void *arg)
{
    struct hub *hub = arg;
    hub->telling++;
    for (struct sub *s = hub->subs; s; s = s->next)
        if (s->to_start && !s->ended)
            start(s);
    hub->telling--;
    sweep(hub);
}

/* The server did not answer a question: ask again. */
static void on_retry(void *arg)
{
    struct hub *hub = arg;
    hub->telling++;
    for (struct sub *s = hub->subs; s; s = s->next) {
        if (s->ended || s->req || s->no_kind)
            continue;
        if (!s->feed)
            start(s);
        else if (!s->told)
            tell_known(s);
    }
    hub->telling--;
    sweep(hub);
}

void hub_kinds_changed(struct hub *hub)
{
    hub->telling++;
    for (struct sub *s = hub->subs; s; s = s->next)
        if (s->no_kind && !s->ended && !s->req && !s->feed &&
            sw_kube_kind_find(hub->kube, s->key.api_version, s->key.kind))
            start(s);
    hub->telling--;
    sweep(hub);
}

void hub_subscribe(struct hub *hub, const struct sw_action *a, hub_fn *fn, void *arg)
{
    struct sub *s = sw_zalloc(1, sizeof *s);
    *s = (struct sub){
        .hub = hub,
        .key = key_copy(&a->key),
        .selector = copy_of(a->selector),
        .use = a->use,
        .watch = a->watch,
        .fn = fn,
        .arg = arg,
        .to_start = true,
    };
    SW_ERR(err);
    if (a->selector && sw_selector_parse(a->selector, &s->parsed, &err) < 0)
        s->parsed.nothing = true;
    *hub->subs_end = s;
    hub->subs_end = &s->next;
    sw_timer_set(hub->start_timer, 0);
}

static void end(struct sub *s)
{
    sw_kube_cancel(SW_TAKE(s->req));
    leave(s);
    s->ended = true;
    s->hub->has_ended = true;
}

void hub_unsubscribe(struct hub *hub, void *arg, uint64_t watch)
{
    for (struct sub *s = hub->subs; s; s = s->next)
        if (s->arg == arg && s->watch == watch && !s->ended)
            end(s);
    sweep(hub);
}

void hub_unsubscribe_all(struct hub *hub, void *arg)
{
    for (struct sub *s = hub->subs; s; s = s->next)
        if (s->arg == arg && !s->ended)
            end(s);
    sweep(hub);
}

/* ---- what is known without asking --------------------------------------------------------------
 */

static void forget_absences(struct hub *hub, int64_t before_ms)
{
    for (struct absence **at = &hub->absences; *at;) {
        struct absence *a = *at;
        if (a->until_ms > before_ms) {
            at = &a->next;
            continue;
        }
        *at = a->next;
        key_free(&a->key);
        free(a);
    }
}

static void remember_absence(struct hub *hub, const struct sw_key *key, int64_t for_ms)
{
    int64_t now_ms = sw_loop_now_ms(hub->loop);
    forget_absences(hub, now_ms);
    struct absence *a = sw_zalloc(1, sizeof *a);
    *a = (struct absence){ hub->absences, key_copy(key), now_ms + for_ms };
    hub->absences = a;
}

void hub_namespace_is_new(struct hub *hub, const char *ns)
{
    remember_absence(hub, &(struct sw_key){ .ns = ns }, NEW_NAMESPACE_MS);
}

void hub_is_absent(struct hub *hub, const struct sw_key *key)
{
    remember_absence(hub, key, ABSENT_MS);
}

struct hub *hub_new(struct sw_loop *loop, struct sw_kube *kube)
{
    struct hub *hub = sw_zalloc(1, sizeof *hub);
    hub->loop = loop;
    hub->kube = kube;
    hub->subs_end = &hub->subs;
    hub->start_timer = sw_timer_new(loop, on_start, hub);
    hub->retry_timer = sw_timer_new(loop, on_retry, hub);
    return hub;
}

void hub_free(struct hub *hub)
{
    if (!hub)
        return;
    for (struct sub *s = hub->subs; s; s = s->next)
        if (!s->ended)
            end(s);
    hub->telling = 0;
    sweep(hub);
    forget_absences(hub, INT64_MAX);
    sw_timer_free(hub->start_timer);
    sw_timer_free(hub->retry_timer);
    free(hub);
}
