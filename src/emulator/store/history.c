#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/store/store_internal.h"

static struct sw_change *nth(struct sw_history *h, size_t i)
{
    return &h->ring[(h->first + i) % SW_HISTORY_CHANGES];
}

static struct sw_shelf *shelf_of(const struct sw_emu_kind *kind)
{
    return (struct sw_shelf *)sw_store_shelf(kind);
}

static void forget_oldest(struct sw_history *h)
{
    struct sw_change *change = nth(h, 0);
    shelf_of(change->kind)->compacted = change->now->rv;
    h->bytes -= change->now->text_len;
    sw_version_unref(change->now);
    sw_version_unref(change->old);
    h->first = (h->first + 1) % SW_HISTORY_CHANGES;
    h->n--;
}

/* What is only remembered is kept as text: a tenth of its tree. */
static void freeze(struct sw_version *v)
{
    if (!v)
        return;
    (void)sw_version_text(v, NULL);
    json_object_put(SW_TAKE(v->doc));
}

void sw_history_add(struct sw_store *store, const struct sw_change *change)
{
    struct sw_history *h = &store->history;
    if (h->n == SW_HISTORY_CHANGES)
        forget_oldest(h);
    struct sw_change *slot = nth(h, h->n++);
    *slot = *change;
    (void)sw_version_ref(slot->now);
    if (slot->old)
        (void)sw_version_ref(slot->old);
    freeze(slot->old);
    (void)sw_version_text(slot->now, NULL);
    if (slot->type == SW_STORE_DELETED)
        freeze(slot->now);
    h->bytes += slot->now->text_len;
    while (h->bytes > SW_HISTORY_BYTES && h->n > 1)
        forget_oldest(h);
}

void sw_store_compact(struct sw_store *store)
{
    while (store->history.n > 0)
        forget_oldest(&store->history);
}

void sw_history_done(struct sw_store *store)
{
    sw_store_compact(store);
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
        return SW_GONE; /* nothing is remembered of before it was served */
    if (!shelf || shelf->changed <= rv)
        return 0;
    if (rv < shelf->compacted)
        return SW_GONE;
    for (size_t i = seek(h, rv); i < h->n; i++)
        if (same_kind(nth(h, i), kind))
            cb(nth(h, i), arg);
    return 0;
}

/* ---- the past -----------------------------------------------------------------------------------
 */

static void snapshot_insert(struct sw_snapshot *s, size_t at, struct sw_version *v)
{
    SW_GROW(s->versions, s->n, s->cap);
    memmove(s->versions + at + 1, s->versions + at, (s->n - at) * sizeof *s->versions);
    s->versions[at] = sw_version_ref(v);
    s->n++;
}

/* The keys of the snapshot's objects, kept beside while changes are taken back. */
struct undo {
    struct sw_snapshot *s;
    char **keys; /* "namespace\1name" */
    size_t n, cap;
};

static char *key_of(struct sw_version *v)
{
    SW_AUTO_JSON *doc = sw_version_doc(v);
    return sw_printf("%s\001%s", sw_obj_namespace(doc), sw_obj_name(doc));
}

static size_t find_key(const struct undo *u, const char *key, bool *found)
{
    size_t low = 0, high = u->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (strcmp(u->keys[mid], key) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    *found = low < u->n && strcmp(u->keys[low], key) == 0;
    return low;
}

static void undo_change(struct undo *u, const struct sw_change *change)
{
    bool found;
    SW_AUTO_CHARS *key = key_of(change->now);
    size_t at = find_key(u, key, &found);
    struct sw_snapshot *s = u->s;
    if (change->type == SW_STORE_DELETED) {
        snapshot_insert(s, at, change->old);
        SW_GROW(u->keys, u->n, u->cap);
        memmove(u->keys + at + 1, u->keys + at, (u->n - at) * sizeof *u->keys);
        u->keys[at] = SW_TAKE(key);
        u->n++;
    } else if (found && change->type == SW_STORE_MODIFIED) {
        sw_version_unref(s->versions[at]);
        s->versions[at] = sw_version_ref(change->old);
    } else if (found) {
        sw_version_unref(s->versions[at]);
        s->n--;
        memmove(s->versions + at, s->versions + at + 1, (s->n - at) * sizeof *s->versions);
        free(u->keys[at]);
        u->n--;
        memmove(u->keys + at, u->keys + at + 1, (u->n - at) * sizeof *u->keys);
    }
}

int sw_history_snapshot(struct sw_store *store, const struct sw_emu_kind *kind, uint64_t rv,
                        struct sw_snapshot *out)
{
    struct sw_history *h = &store->history;
    const struct sw_shelf *shelf = sw_store_shelf(kind);
    *out = (struct sw_snapshot){ 0 };
    if (!shelf)
        return 0;
    if (rv < shelf->compacted)
        return SW_GONE;
    struct undo u = { .s = out };
    for (size_t i = 0; i < shelf->n; i++) {
        snapshot_insert(out, out->n, shelf->objects[i]->now);
        SW_GROW(u.keys, u.n, u.cap);
        u.keys[u.n++] = sw_printf("%s\001%s", shelf->objects[i]->ns, shelf->objects[i]->name);
    }
    for (size_t i = h->n, from = seek(h, rv); i-- > from;)
        if (same_kind(nth(h, i), kind))
            undo_change(&u, nth(h, i));
    for (size_t i = 0; i < u.n; i++)
        free(u.keys[i]);
    free(u.keys);
    return 0;
}

void sw_snapshot_done(struct sw_snapshot *s)
{
    for (size_t i = 0; i < s->n; i++)
        sw_version_unref(s->versions[i]);
    free(SW_TAKE(s->versions));
    s->n = s->cap = 0;
}

/* ---- watchers -----------------------------------------------------------------------------------
 */

void sw_watcher_add(struct sw_store *store SW_UNUSED, const struct sw_emu_kind *kind,
                    struct sw_watcher *watcher)
{
    struct sw_emu_kind *own = (struct sw_emu_kind *)(kind->stored_as ? kind->stored_as : kind);
    if (!own->shelf)
        own->shelf = sw_zalloc(1, sizeof *own->shelf);
    watcher->prev = NULL;
    watcher->next = own->shelf->watchers;
    if (watcher->next)
        watcher->next->prev = watcher;
    own->shelf->watchers = watcher;
}

void sw_watcher_remove(const struct sw_emu_kind *kind, struct sw_watcher *watcher)
{
    struct sw_shelf *shelf = shelf_of(kind);
    if (watcher->prev)
        watcher->prev->next = watcher->next;
    else
        shelf->watchers = watcher->next;
    if (watcher->next)
        watcher->next->prev = watcher->prev;
    watcher->next = watcher->prev = NULL;
}
