#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/store/store_internal.h"

static struct sw_change *nth(struct sw_history *h, size_t i)
{
    return &h->ring[(h->first + i) % SW_HISTORY_CHANGES];
}

static void drop_oldest(struct sw_history *h)
{
    struct sw_change *change = nth(h, 0);
    sw_store_need_shelf(change->kind)->compacted = change->now->rv;
    h->bytes -= change->now->bytes;
    sw_version_unref(change->now);
    sw_version_unref(change->old);
    h->first = (h->first + 1) % SW_HISTORY_CHANGES;
    h->n--;
}

void sw_history_add(struct sw_store *store, const struct sw_change *change)
{
    struct sw_history *h = &store->history;
    if (h->n == SW_HISTORY_CHANGES)
        drop_oldest(h);
    struct sw_change *slot = nth(h, h->n++);
    *slot = *change;
    (void)sw_version_ref(slot->now);
    if (slot->old)
        (void)sw_version_ref(slot->old);
    h->bytes += slot->now->bytes;
    while (h->bytes > SW_HISTORY_BYTES && h->n > 1)
        drop_oldest(h);
}

void sw_store_compact(struct sw_store *store)
{
    while (store->history.n > 0)
        drop_oldest(&store->history);
}

/* Index of the first change after @rv. */
static size_t seek(struct sw_history *h, uint64_t rv)
{
    size_t low = 0, high = h->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (nth(h, mid)->now->rv <= rv)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static bool same_kind(const struct sw_change *change, const struct sw_emu_kind *kind)
{
    return change->kind == (kind->stored_as ? kind->stored_as : kind);
}

int sw_history_replay(struct sw_store *store, const struct sw_emu_kind *kind, uint64_t rv,
                      void (*cb)(const struct sw_change *change, void *arg), void *arg)
{
    struct sw_history *h = &store->history;
    const struct sw_shelf *shelf = sw_store_shelf(kind);
    if (rv < kind->since)
        return SW_GONE; /* the history begins when the kind was first served */
    if (!shelf || shelf->changed <= rv)
        return 0;
    if (rv < shelf->compacted)
        return SW_GONE;
    for (size_t i = seek(h, rv); i < h->n; i++)
        if (same_kind(nth(h, i), kind))
            cb(nth(h, i), arg);
    return 0;
}

/* ---- snapshots of the past ----------------------------------------------------------------------
 */

/* Insert an item at index @at; takes @key. */
static void insert(struct sw_snapshot *s, size_t at, char *key, struct sw_version *v)
{
    SW_GROW(s->items, s->n, s->cap);
    memmove(s->items + at + 1, s->items + at, (s->n++ - at) * sizeof *s->items);
    s->items[at] = (struct sw_snapshot_item){ .key = key, .version = sw_version_ref(v) };
}

/* Index of the first item at or after @key. */
static size_t find_key(const struct sw_snapshot *s, const char *key)
{
    size_t low = 0, high = s->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (strcmp(s->items[mid].key, key) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void undo(struct sw_snapshot *s, const struct sw_change *change)
{
    json_object *doc = change->now->doc;
    SW_AUTO_CHARS *key = sw_printf("%s\001%s", sw_obj_namespace(doc), sw_obj_name(doc));
    size_t at = find_key(s, key);
    bool found = at < s->n && strcmp(s->items[at].key, key) == 0;
    if (change->type == SW_STORE_DELETED) {
        insert(s, at, SW_TAKE(key), change->old);
    } else if (found && change->type == SW_STORE_MODIFIED) {
        sw_version_unref(s->items[at].version);
        s->items[at].version = sw_version_ref(change->old);
    } else if (found) {
        sw_version_unref(s->items[at].version);
        free(s->items[at].key);
        memmove(s->items + at, s->items + at + 1, (--s->n - at) * sizeof *s->items);
    }
}

int sw_history_snapshot(struct sw_store *store, const struct sw_emu_kind *kind, uint64_t rv,
                        struct sw_snapshot *out)
{
    struct sw_history *h = &store->history;
    const struct sw_shelf *shelf = sw_store_shelf(kind);
    *out = (struct sw_snapshot){ 0 };
    if (rv < kind->since)
        return SW_GONE;
    if (!shelf)
        return 0;
    if (rv < shelf->compacted)
        return SW_GONE;
    for (size_t i = 0; i < shelf->n; i++) {
        const struct sw_object *object = shelf->objects[i];
        insert(out, i, sw_printf("%s\001%s", object->ns, object->name), object->now);
    }
    for (size_t i = h->n, from = seek(h, rv); i-- > from;)
        if (same_kind(nth(h, i), kind))
            undo(out, nth(h, i));
    return 0;
}

void sw_snapshot_done(struct sw_snapshot *s)
{
    for (size_t i = 0; i < s->n; i++) {
        sw_version_unref(s->items[i].version);
        free(s->items[i].key);
    }
    free(SW_TAKE(s->items));
    s->n = s->cap = 0;
}

/* ---- watchers -----------------------------------------------------------------------------------
 */

void sw_watcher_add(const struct sw_emu_kind *kind, struct sw_watcher *watcher)
{
    struct sw_shelf *shelf = sw_store_need_shelf(kind);
    watcher->prev = NULL;
    watcher->next = shelf->watchers;
    if (watcher->next)
        watcher->next->prev = watcher;
    shelf->watchers = watcher;
}

void sw_watcher_remove(const struct sw_emu_kind *kind, struct sw_watcher *watcher)
{
    if (watcher->prev)
        watcher->prev->next = watcher->next;
    else
        sw_store_need_shelf(kind)->watchers = watcher->next;
    if (watcher->next)
        watcher->next->prev = watcher->prev;
    watcher->next = watcher->prev = NULL;
}
