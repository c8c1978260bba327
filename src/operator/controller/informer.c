#include "operator/controller/informer_internal.h"

#include <stdlib.h>
#include <string.h>

enum { RETRY_MS = 1000 };

char *hub_copy(const char *s)
{
    return s ? sw_strdup(s) : NULL;
}

struct sw_key hub_key_copy(const struct sw_key *key)
{
    return (struct sw_key){ hub_copy(key->api_version), hub_copy(key->kind), hub_copy(key->ns),
                            hub_copy(key->name) };
}

void hub_key_free(struct sw_key *key)
{
    free((char *)key->api_version);
    free((char *)key->kind);
    free((char *)key->ns);
    free((char *)key->name);
    *key = (struct sw_key){ 0 };
}

bool hub_same_ns(const char *a, const char *b)
{
    return sw_streq(a ? a : "", b ? b : "");
}

static void sub_free(struct sub *s)
{
    sw_kube_cancel(s->req);
    sw_selector_done(&s->parsed);
    hub_key_free(&s->key);
    free(s->selector);
    free(s);
}

/* Free what ended, once nobody iterates. */
void hub_sweep(struct hub *hub)
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

void hub_retry_later(struct hub *hub)
{
    if (!sw_timer_is_set(hub->retry_timer))
        sw_timer_set(hub->retry_timer, RETRY_MS);
}

static void on_kind(int code, const struct sw_kind *kind, const struct sw_err *err, void *arg)
{
    struct sub *s = arg;
    s->req = NULL;
    if (code == 0) {
        s->no_kind = false;
        sub_begin(s, kind);
    } else if (code == SW_UNAVAILABLE) {
        hub_retry_later(s->hub);
    } else {
        s->no_kind = true;
        sub_tell_fault(s, code, sw_err_text(err));
    }
}

static void start(struct sub *s)
{
    const struct sw_kind *kind = sw_kube_kind_find(s->hub->kube, s->key.api_version, s->key.kind);
    s->to_start = false;
    if (kind) {
        s->no_kind = false;
        sub_begin(s, kind);
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
    hub_sweep(hub);
}

/* The server did not answer a question: ask again. */
static void on_retry(void *arg)
{
    struct hub *hub = arg;
    hub->telling++;
    for (struct sub *s = hub->subs; s; s = s->next) {
        if (s->ended || s->req || s->no_kind || s->waits_for_ns)
            continue;
        if (!s->feed)
            start(s);
        else if (!s->told)
            sub_tell_known(s);
    }
    hub->telling--;
    hub_sweep(hub);
}

void hub_kinds_changed(struct hub *hub)
{
    hub->telling++;
    for (struct sub *s = hub->subs; s; s = s->next)
        if (s->no_kind && !s->ended && !s->req && !s->feed &&
            sw_kube_kind_find(hub->kube, s->key.api_version, s->key.kind))
            start(s);
    hub->telling--;
    hub_sweep(hub);
}

void hub_subscribe(struct hub *hub, const struct sw_action *a, hub_fn *fn, void *arg)
{
    struct sub *s = sw_zalloc(1, sizeof *s);
    *s = (struct sub){
        .hub = hub,
        .key = hub_key_copy(&a->key),
        .selector = hub_copy(a->selector),
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
    sub_leave(s);
    s->ended = true;
    s->hub->has_ended = true;
}

void hub_unsubscribe(struct hub *hub, void *arg, uint64_t watch)
{
    for (struct sub *s = hub->subs; s; s = s->next)
        if (s->arg == arg && s->watch == watch && !s->ended)
            end(s);
    hub_sweep(hub);
}

void hub_unsubscribe_all(struct hub *hub, void *arg)
{
    for (struct sub *s = hub->subs; s; s = s->next)
        if (s->arg == arg && !s->ended)
            end(s);
    hub_sweep(hub);
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
    hub_sweep(hub);
    hub_look_done(hub);
    sw_timer_free(hub->start_timer);
    sw_timer_free(hub->retry_timer);
    free(hub);
}
