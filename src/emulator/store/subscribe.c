#include <stdlib.h>

#include "base/base.h"
#include "base/loop.h"
#include "emulator/store/store_internal.h"

struct sw_subscription {
    struct sw_store *store;
    const struct sw_emu_kind *kind; /* NULL: all */
    void (*cb)(const struct sw_store_event *event, void *arg);
    void *arg;
    uint64_t since; /* the number of the first change that it receives */
    bool closed;
    struct sw_subscription *next;
};

/* An event that is not delivered yet. */
struct sw_pending {
    struct sw_subscription *only; /* an object that existed before: the only receiver; or NULL */
    enum sw_store_event_type type;
    const struct sw_emu_kind *kind;
    json_object *object, *old; /* counted */
    uint64_t number;
};

static void push(struct sw_store *store, const struct sw_pending *p)
{
    SW_GROW(store->subs.pending, store->subs.n, store->subs.cap);
    store->subs.pending[store->subs.n++] = *p;
    if (!sw_timer_is_set(store->subs.timer))
        sw_timer_set(store->subs.timer, 0);
}

static void pending_done(struct sw_pending *p)
{
    json_object_put(p->object);
    json_object_put(p->old);
}

static void free_closed(struct sw_store *store)
{
    for (struct sw_subscription **at = &store->subs.first; *at;) {
        struct sw_subscription *sub = *at;
        if (!sub->closed) {
            at = &sub->next;
            continue;
        }
        for (size_t i = 0; i < store->subs.n; i++)
            if (store->subs.pending[i].only == sub) { /* the event stays, without a receiver */
                store->subs.pending[i].only = NULL;
                store->subs.pending[i].number = 0;
            }
        *at = sub->next;
        free(sub);
    }
}

/* Deliver the events. Changes that the callbacks make are delivered in the next turn. */
static void on_turn(void *arg)
{
    struct sw_store *store = arg;
    struct sw_pending *batch = SW_TAKE(store->subs.pending);
    size_t n = store->subs.n;
    store->subs.n = store->subs.cap = 0;
    store->subs.delivering = true;
    for (size_t i = 0; i < n; i++) {
        struct sw_pending *p = &batch[i];
        struct sw_store_event event = {
            .type = p->type, .kind = p->kind, .object = p->object, .old = p->old
        };
        for (struct sw_subscription *sub = store->subs.first; sub; sub = sub->next) {
            bool receives = p->only ? p->only == sub : p->number >= sub->since;
            if (receives && !sub->closed && (!sub->kind || sub->kind == p->kind))
                sub->cb(&event, sub->arg);
        }
        pending_done(p);
    }
    free(batch);
    store->subs.delivering = false;
    free_closed(store);
}

void sw_subs_init(struct sw_store *store)
{
    store->subs.timer = sw_timer_new(store->loop, on_turn, store);
    store->subs.n_changes = 1;
}

void sw_subs_done(struct sw_store *store)
{
    for (struct sw_subscription *sub = store->subs.first; sub; sub = sub->next)
        sub->closed = true;
    free_closed(store);
    for (size_t i = 0; i < store->subs.n; i++)
        pending_done(&store->subs.pending[i]);
    free(store->subs.pending);
    sw_timer_free(store->subs.timer);
}

void sw_subs_add(struct sw_store *store, const struct sw_change *change)
{
    if (!store->subs.first)
        return;
    push(store, &(struct sw_pending){ .type = change->type,
                                      .kind = change->kind,
                                      .object = json_object_get(change->now->doc),
                                      .old = change->old ? json_object_get(change->old->doc) : NULL,
                                      .number = store->subs.n_changes++ });
}

static void push_existing(struct sw_subscription *sub, const struct sw_emu_kind *kind)
{
    const struct sw_shelf *shelf = kind->stored_as ? NULL : kind->shelf;
    for (size_t i = 0; shelf && i < shelf->n; i++)
        push(sub->store,
             &(struct sw_pending){ .only = sub,
                                   .type = SW_STORE_ADDED,
                                   .kind = kind,
                                   .object = json_object_get(shelf->objects[i]->now->doc) });
}

struct sw_subscription *
sw_store_subscribe(struct sw_store *store, const struct sw_emu_kind *kind,
                   void (*cb)(const struct sw_store_event *event, void *arg), void *arg)
{
    struct sw_subscription *sub = sw_zalloc(1, sizeof *sub), **at = &store->subs.first;
    if (kind && kind->stored_as)
        kind = kind->stored_as;
    *sub = (struct sw_subscription){
        .store = store, .kind = kind, .cb = cb, .arg = arg, .since = store->subs.n_changes
    };
    while (*at)
        at = &(*at)->next;
    *at = sub;
    const struct sw_emu_kind *each;
    if (kind)
        push_existing(sub, kind);
    for (size_t i = 0; !kind && (each = sw_kinds_nth(store->kinds, i)); i++)
        push_existing(sub, each);
    return sub;
}

void sw_store_unsubscribe(struct sw_subscription *sub)
{
    if (!sub)
        return;
    sub->closed = true;
    if (!sub->store->subs.delivering)
        free_closed(sub->store);
}
