/* The actions of a step, the watches that the engine holds, and small helpers of all files. */
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

struct sw_key act_key(struct sw_engine *e, const struct sw_key *key)
{
    return (struct sw_key){ sw_arena_strdup(e->arena, key->api_version),
                            sw_arena_strdup(e->arena, key->kind),
                            key->ns ? sw_arena_strdup(e->arena, key->ns) : NULL,
                            key->name ? sw_arena_strdup(e->arena, key->name) : NULL };
}

struct sw_action *act_event(struct sw_engine *e, bool warning, const char *reason, const char *fmt,
                            ...)
{
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *text = sw_vprintf(fmt, ap);
    va_end(ap);
    struct sw_action *a = act_add(e, SW_ACT_EVENT);
    a->warning = warning;
    a->reason = reason;
    a->message = sw_arena_strdup(e->arena, text);
    return a;
}

void act_wake(struct sw_engine *e, int64_t at_ms)
{
    if (e->deadline_ms == 0 || at_ms < e->deadline_ms)
        e->deadline_ms = at_ms;
}

int64_t act_backoff(const struct sw_engine *e, unsigned n_tries, bool lasts)
{
    int64_t wait_ms = e->opts.retry_min_ms, max_ms = e->opts.retry_max_ms;
    for (unsigned i = 0; i < n_tries && wait_ms < max_ms; i++)
        wait_ms *= 2;
    if (wait_ms > max_ms)
        wait_ms = max_ms;
    return lasts ? wait_ms * 10 : wait_ms;
}

/* ---- watches: one for all objects that need the same -------------------------------------------
 */

static void send_watch(struct sw_engine *e, const struct watch *w)
{
    struct sw_action *a = act_add(e, SW_ACT_WATCH);
    a->watch = w->id;
    a->use = w->use;
    a->key = act_key(e, &w->key);
    a->selector = w->selector ? sw_arena_strdup(e->arena, w->selector) : NULL;
}

uint64_t act_watch(struct sw_engine *e, const struct sw_key *key, const char *selector,
                   enum sw_watch_use use)
{
    struct watch *unused = NULL;
    for (size_t i = 0; i < e->n_watches; i++) {
        struct watch *w = &e->watches[i];
        if (!w->id) {
            unused = unused ? unused : w;
        } else if (w->use == use && sw_streq(w->key.api_version, key->api_version) &&
                   sw_streq(w->key.kind, key->kind) && sw_ns_equal(w->key.ns, key->ns) &&
                   sw_streq(w->key.name, key->name) && sw_streq(w->selector, selector)) {
            w->refs++;
            return w->id;
        }
    }
    if (!unused) {
        SW_GROW(e->watches, e->n_watches, e->cap_watches);
        unused = &e->watches[e->n_watches++];
    }
    *unused = (struct watch){ .id = act_serial(e),
                              .key = sw_key_copy(key),
                              .selector = sw_strdup(selector),
                              .use = use,
                              .refs = 1 };
    send_watch(e, unused);
    return unused->id;
}

static void watch_done(struct watch *w)
{
    sw_key_done(&w->key);
    free(w->selector);
    *w = (struct watch){ 0 };
}

void act_watch_again(struct sw_engine *e, uint64_t id)
{
    struct watch *w = act_find_watch(e, id);
    if (!w || !w->delivered)
        return;
    w->delivered = w->synced = false;
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

/* ---- keys and texts ----------------------------------------------------------------------------
 */

struct sw_key sw_key_copy(const struct sw_key *key)
{
    return (struct sw_key){ sw_strdup(key->api_version), sw_strdup(key->kind),
                            key->ns && *key->ns ? sw_strdup(key->ns) : NULL, sw_strdup(key->name) };
}

void sw_key_done(struct sw_key *key)
{
    free((char *)key->api_version);
    free((char *)key->kind);
    free((char *)key->ns);
    free((char *)key->name);
    *key = (struct sw_key){ 0 };
}

bool sw_ns_equal(const char *a, const char *b)
{
    return sw_streq(a ? a : "", b ? b : "");
}
