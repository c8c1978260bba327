/* Putting a step's actions together. */
#include <stdarg.h>
#include <stdlib.h>

#include <json-c/json.h>

#include "operator/engine/internal.h"

struct sw_action *act_add(struct sw_engine *e, enum sw_action_kind kind)
{
    SW_GROW(e->acts, e->n_acts, e->cap_acts);
    struct sw_action *a = &e->acts[e->n_acts++];
    *a = (struct sw_action){ .kind = kind, .node = SW_NO_NODE };
    return a;
}

uint64_t act_serial(struct sw_engine *e)
{
    return ++e->last_serial;
}

struct json_object *act_keep(struct sw_engine *e, struct json_object *doc)
{
    SW_GROW(e->docs, e->n_docs, e->cap_docs);
    e->docs[e->n_docs++] = doc;
    return doc;
}

void act_event(struct sw_engine *e, bool warning, const char *reason, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *text = sw_vprintf(fmt, ap);
    va_end(ap);
    struct sw_action *a = act_add(e, SW_ACT_EVENT);
    a->warning = warning;
    a->reason = reason;
    a->message = sw_arena_strdup(e->arena, text);
}

void act_wake(struct sw_engine *e, int64_t at_ms)
{
    if (e->deadline_ms == 0 || at_ms < e->deadline_ms)
        e->deadline_ms = at_ms;
}

int64_t act_backoff(const struct sw_engine *e, unsigned n_tries, bool lasting)
{
    int64_t wait_ms = e->opts.retry_min_ms, max_ms = e->opts.retry_max_ms;
    for (unsigned i = 0; i < n_tries && wait_ms < max_ms; i++)
        wait_ms *= 2;
    if (wait_ms > max_ms)
        wait_ms = max_ms;
    return lasting ? wait_ms * 10 : wait_ms;
}

/* ---- watches: one for all who want the same ----------------------------------------------------
 */

static bool same_text(const char *a, const char *b)
{
    return sw_streq(a ? a : "", b ? b : "");
}

static bool same_watch(const struct watch *w, const struct sw_key *key, const char *selector,
                       enum sw_watch_use use)
{
    return w->id && w->use == use && sw_streq(w->key.api_version, key->api_version) &&
           sw_streq(w->key.kind, key->kind) && same_text(w->key.ns, key->ns) &&
           same_text(w->key.name, key->name) && same_text(w->selector, selector);
}

static struct watch *free_watch(struct sw_engine *e)
{
    for (size_t i = 0; i < e->n_watches; i++)
        if (!e->watches[i].id)
            return &e->watches[i];
    SW_GROW(e->watches, e->n_watches, e->cap_watches);
    return &e->watches[e->n_watches++];
}

static void send_watch(struct sw_engine *e, const struct watch *w)
{
    struct sw_action *a = act_add(e, SW_ACT_WATCH);
    a->watch = w->id;
    a->use = w->use;
    a->key = (struct sw_key){ sw_arena_strdup(e->arena, w->key.api_version),
                              sw_arena_strdup(e->arena, w->key.kind),
                              w->key.ns ? sw_arena_strdup(e->arena, w->key.ns) : NULL,
                              w->key.name ? sw_arena_strdup(e->arena, w->key.name) : NULL };
    a->selector = w->selector ? sw_arena_strdup(e->arena, w->selector) : NULL;
}

uint64_t act_watch(struct sw_engine *e, const struct sw_key *key, const char *selector,
                   enum sw_watch_use use)
{
    for (size_t i = 0; i < e->n_watches; i++)
        if (same_watch(&e->watches[i], key, selector, use)) {
            e->watches[i].refs++;
            return e->watches[i].id;
        }
    struct watch *w = free_watch(e);
    *w = (struct watch){ .id = act_serial(e), .use = use, .refs = 1 };
    w->key.api_version = sw_strdup(key->api_version);
    w->key.kind = sw_strdup(key->kind);
    w->key.ns = key->ns && *key->ns ? sw_strdup(key->ns) : NULL;
    w->key.name = key->name ? sw_strdup(key->name) : NULL;
    w->selector = selector ? sw_strdup(selector) : NULL;
    send_watch(e, w);
    return w->id;
}

static void watch_done(struct watch *w)
{
    free((char *)w->key.api_version);
    free((char *)w->key.kind);
    free((char *)w->key.ns);
    free((char *)w->key.name);
    free(w->selector);
    *w = (struct watch){ 0 };
}

void act_watch_again(struct sw_engine *e, uint64_t id)
{
    struct watch *w = act_find_watch(e, id);
    if (!w || !w->told)
        return;
    w->told = w->synced = false;
    act_add(e, SW_ACT_UNWATCH)->watch = id;
    send_watch(e, w);
}

struct watch *act_find_watch(struct sw_engine *e, uint64_t id)
{
    for (size_t i = 0; id && i < e->n_watches; i++)
        if (e->watches[i].id == id)
            return &e->watches[i];
    return NULL;
}

void act_unwatch(struct sw_engine *e, uint64_t id)
{
    struct watch *w = act_find_watch(e, id);
    if (!w || --w->refs > 0)
        return;
    act_add(e, SW_ACT_UNWATCH)->watch = id;
    watch_done(w);
}

void act_free_watches(struct sw_engine *e)
{
    for (size_t i = 0; i < e->n_watches; i++)
        watch_done(&e->watches[i]);
    free(e->watches);
}
