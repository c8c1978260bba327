#include "operator/informer/subscription.h"

#include <stdlib.h>
#include <string.h>

enum { RETRY_MS = 1000, RETRY_CAP_MS = 60000 };

char *informer_copy(const char *s)
{
    return sw_strdup(s);
}

/* Not while subscribers are being notified: the lists stay as they are. */
static void free_ended(struct informer *informer)
{
    if (informer->notifying || !informer->has_ended)
        return;
    informer->has_ended = false;
    for (struct shared_watch *f = informer->watches, *next; f; f = next) {
        next = f->next;
        if (!f->n_subscriptions)
            shared_watch_close(f);
    }
    for (struct subscription **at = &informer->subscriptions; *at;) {
        struct subscription *s = *at;
        if (!s->ended) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        sw_kube_cancel(s->req);
        sw_selector_done(&s->parsed);
        sw_key_done(&s->key);
        free(s->selector);
        free(s);
    }
    informer->subscriptions_end = &informer->subscriptions;
    while (*informer->subscriptions_end)
        informer->subscriptions_end = &(*informer->subscriptions_end)->next;
}

void informer_notified(struct informer *informer)
{
    informer->notifying--;
    free_ended(informer);
}

void informer_retry_later(struct informer *informer, int code)
{
    int64_t ms = RETRY_MS;
    struct sw_timer *timer = informer->retry_timer;
    if (code != SW_UNAVAILABLE) {
        timer = informer->refused_timer;
        ms <<= informer->n_refused < 6 ? informer->n_refused : 6;
    }
    if (sw_timer_is_set(timer))
        return;
    if (timer == informer->refused_timer)
        informer->n_refused++;
    sw_timer_set(timer, ms < RETRY_CAP_MS ? ms : RETRY_CAP_MS);
}

static void on_kind(int code, const struct sw_kind *kind, const struct sw_err *err, void *arg)
{
    struct subscription *s = arg;
    s->req = NULL;
    if (code == 0) {
        s->no_kind = false;
        subscription_begin(s, kind);
        return;
    }
    s->no_kind = code != SW_UNAVAILABLE && code != SW_FORBIDDEN;
    if (!s->no_kind)
        informer_retry_later(s->informer, code);
    if (code != SW_UNAVAILABLE)
        subscription_notify_fault(s, code, sw_err_text(err));
}

static void start(struct subscription *s)
{
    const struct sw_kind *kind = sw_kube_kind_find(s->informer->kube, s->key.api_version,
                                                   s->key.kind);
    s->to_start = false;
    if (kind) {
        s->no_kind = false;
        subscription_begin(s, kind);
    } else if (!s->req) {
        s->req = sw_kube_kind(s->informer->kube, s->key.api_version, s->key.kind, on_kind, s);
    }
}

static void on_start(void *arg)
{
    struct informer *informer = arg;
    informer->notifying++;
    for (struct subscription *s = informer->subscriptions; s; s = s->next)
        if (s->to_start && !s->ended)
            start(s);
    informer_notified(informer);
}

/* The server did not answer a question, or refused it: ask again. */
static void on_retry(void *arg)
{
    struct informer *informer = arg;
    informer->notifying++;
    for (struct subscription *s = informer->subscriptions; s; s = s->next) {
        if (s->ended || s->req || s->no_kind || s->waits_for_ns)
            continue;
        if (!s->shared)
            start(s);
        else if (!s->notified)
            subscription_notify_known(s);
    }
    informer_notified(informer);
}

void informer_kinds_changed(struct informer *informer)
{
    informer->notifying++;
    for (struct subscription *s = informer->subscriptions; s; s = s->next)
        if (s->no_kind && !s->ended && !s->req && !s->shared &&
            sw_kube_kind_find(informer->kube, s->key.api_version, s->key.kind))
            start(s);
    informer_notified(informer);
}

void informer_subscribe(struct informer *informer, const struct sw_action *a, informer_fn *fn,
                        void *arg)
{
    struct subscription *s = sw_zalloc(1, sizeof *s);
    *s = (struct subscription){
        .informer = informer,
        .key = sw_key_copy(&a->key),
        .selector = informer_copy(a->selector),
        .use = a->use,
        .watch = a->watch,
        .fn = fn,
        .arg = arg,
        .to_start = true,
    };
    SW_ERR(err);
    if (a->selector && sw_selector_parse(a->selector, &s->parsed, &err) < 0)
        s->parsed.nothing = true;
    *informer->subscriptions_end = s;
    informer->subscriptions_end = &s->next;
    sw_timer_set(informer->start_timer, 0);
}

static void end(struct subscription *s)
{
    sw_kube_cancel(SW_TAKE(s->req));
    subscription_leave(s);
    s->ended = true;
    s->informer->has_ended = true;
}

void informer_unsubscribe(struct informer *informer, void *arg, uint64_t watch)
{
    for (struct subscription *s = informer->subscriptions; s; s = s->next)
        if (s->arg == arg && s->watch == watch && !s->ended)
            end(s);
    free_ended(informer);
}

void informer_unsubscribe_all(struct informer *informer, void *arg)
{
    for (struct subscription *s = informer->subscriptions; s; s = s->next)
        if (s->arg == arg && !s->ended)
            end(s);
    free_ended(informer);
}

struct informer *informer_new(struct sw_loop *loop, struct sw_kube *kube)
{
    struct informer *informer = sw_zalloc(1, sizeof *informer);
    informer->loop = loop;
    informer->kube = kube;
    informer->subscriptions_end = &informer->subscriptions;
    informer->start_timer = sw_timer_new(loop, on_start, informer);
    informer->retry_timer = sw_timer_new(loop, on_retry, informer);
    informer->refused_timer = sw_timer_new(loop, on_retry, informer);
    return informer;
}

void informer_free(struct informer *informer)
{
    if (!informer)
        return;
    for (struct subscription *s = informer->subscriptions; s; s = s->next)
        if (!s->ended)
            end(s);
    informer->notifying = 0;
    free_ended(informer);
    informer_absent_done(informer);
    sw_timer_free(informer->start_timer);
    sw_timer_free(informer->retry_timer);
    sw_timer_free(informer->refused_timer);
    free(informer);
}
