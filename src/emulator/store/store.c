#include "emulator/store/store_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/base.h"
#include "base/loop.h"
#include "data/data.h"
#include "data/json/table.h"

/* ---- the index of owners ------------------------------------------------------------------------
 */

/* The objects that name an owner. */
struct sw_owned {
    char *uid; /* the owner's */
    struct sw_object **objects;
    size_t n, cap;
};

static void owned_entry_free(struct lh_entry *entry)
{
    struct sw_owned *owned = (struct sw_owned *)lh_entry_v(entry);
    free(owned->uid);
    free(owned->objects);
    free(owned);
}

static void own(struct sw_store *store, const char *uid, struct sw_object *object)
{
    struct sw_owned *owned = sw_table_find(store->owned, uid);
    if (!owned) {
        owned = sw_zalloc(1, sizeof *owned);
        owned->uid = sw_strdup(uid);
        (void)lh_table_insert(store->owned, owned->uid, owned);
    }
    SW_GROW(owned->objects, owned->n, owned->cap);
    owned->objects[owned->n++] = object;
}

static void disown(struct sw_store *store, const char *uid, const struct sw_object *object)
{
    struct sw_owned *owned = sw_table_find(store->owned, uid);
    for (size_t i = 0; owned && i < owned->n; i++) {
        if (owned->objects[i] != object)
            continue;
        owned->objects[i] = owned->objects[--owned->n];
        if (owned->n == 0)
            (void)lh_table_delete(store->owned, owned->uid);
        return;
    }
}

static void index_owners(struct sw_store *store, struct sw_object *object, json_object *doc,
                         bool add)
{
    json_object *refs = sw_json_find(doc, "metadata", "ownerReferences", NULL);
    for (size_t i = 0; i < sw_json_len(refs); i++) {
        const char *uid = sw_json_str(sw_json_at(refs, i), "", "uid", NULL);
        if (add)
            own(store, uid, object);
        else
            disown(store, uid, object);
    }
}

/* ---- changes ------------------------------------------------------------------------------------
 */

/* A version of @doc (taken) with the next resourceVersion. */
static struct sw_version *new_version(struct sw_store *store, json_object *doc)
{
    char rv[24];
    (void)snprintf(rv, sizeof rv, "%" PRIu64, ++store->rv);
    sw_json_set_str(doc, rv, "metadata", "resourceVersion", NULL);
    const size_t before = sw_json_pool_bytes(store->pool);
    sw_json_pool_share(store->pool, doc);
    const size_t after = sw_json_pool_bytes(store->pool), own = sw_json_own_bytes(doc);
    struct sw_version *v = sw_zalloc(1, sizeof *v);
    *v = (struct sw_version){ .refs = 1,
                              .rv = store->rv,
                              .doc = doc,
                              /* what was put in its place may have been freed */
                              .bytes = own + (after > before ? after - before : 0) };
    return v;
}

static void announce(struct sw_store *store, struct sw_shelf *shelf, const struct sw_change *change)
{
    shelf->changed = change->now->rv;
    struct sw_watcher *next;
    for (struct sw_watcher *w = shelf->watchers; w; w = next) {
        next = w->next; /* the call may close a watch that is too slow */
        w->cb(change, w->arg);
    }
    sw_subs_add(store, change);
    sw_history_add(store, change);
}

struct sw_object *sw_store_commit(struct sw_store *store, const struct sw_emu_kind *kind,
                                  struct sw_object *object, json_object *doc)
{
    struct sw_shelf *shelf = sw_store_need_shelf(kind);
    struct sw_change change = { .type = object ? SW_STORE_MODIFIED : SW_STORE_ADDED,
                                .kind = kind,
                                .now = new_version(store, doc) };
    if (object) {
        change.old = object->now;
        index_owners(store, object, change.old->doc, false);
        object->now = change.now;
    } else {
        object = sw_zalloc(1, sizeof *object);
        *object = (struct sw_object){ .kind = kind,
                                      .ns = sw_strdup(sw_obj_namespace(doc)),
                                      .name = sw_strdup(sw_obj_name(doc)),
                                      .uid = sw_strdup(sw_obj_uid(doc)),
                                      .now = change.now };
        (void)lh_table_insert(store->by_uid, object->uid, object);
        size_t i = sw_shelf_seek(shelf, object->ns, object->name);
        SW_GROW(shelf->objects, shelf->n, shelf->cap);
        memmove(shelf->objects + i + 1, shelf->objects + i,
                (shelf->n++ - i) * sizeof *shelf->objects);
        shelf->objects[i] = object;
    }
    index_owners(store, object, doc, true);
    announce(store, shelf, &change);
    sw_version_unref(change.old);
    return object;
}

static void object_free(struct sw_object *object)
{
    sw_version_unref(object->now);
    free(object->ns);
    free(object->name);
    free(object->uid);
    free(object);
}

void sw_store_remove(struct sw_store *store, struct sw_object *object, json_object *last)
{
    struct sw_shelf *shelf = sw_store_need_shelf(object->kind);
    size_t i = sw_shelf_seek(shelf, object->ns, object->name);
    memmove(shelf->objects + i, shelf->objects + i + 1, (--shelf->n - i) * sizeof *shelf->objects);
    index_owners(store, object, object->now->doc, false);
    (void)lh_table_delete(store->by_uid, object->uid);
    struct sw_change change = { .type = SW_STORE_DELETED,
                                .kind = object->kind,
                                .now = new_version(store, last),
                                .old = object->now };
    announce(store, shelf, &change);
    sw_version_unref(change.now);
    object_free(object);
}

/* ---- the store ----------------------------------------------------------------------------------
 */

struct sw_store *sw_store_new(struct sw_loop *loop, int minor, uint64_t seed)
{
    struct sw_store *store = sw_zalloc(1, sizeof *store);
    store->loop = loop;
    store->minor = minor;
    store->random = seed;
    while (store->random == 0)
        if (getrandom(&store->random, sizeof store->random, 0) < 0)
            store->random = (uint64_t)sw_now_ms();
    store->rv = 1;
    store->kinds = sw_kinds_new(minor);
    store->by_uid = lh_kchar_table_new(256, NULL);
    store->owned = lh_kchar_table_new(64, owned_entry_free);
    if (!store->by_uid || !store->owned)
        abort();
    store->pool = sw_json_pool_new();
    sw_subs_init(store);
    return store;
}

void sw_store_free(struct sw_store *store)
{
    if (!store)
        return;
    sw_subs_done(store);
    sw_store_compact(store);
    lh_table_free(store->owned);
    lh_table_free(store->by_uid);
    struct sw_emu_kind *kind;
    for (size_t i = 0; (kind = sw_kinds_nth(store->kinds, i)); i++) {
        for (size_t k = 0; kind->shelf && k < kind->shelf->n; k++)
            object_free(kind->shelf->objects[k]);
        if (kind->shelf)
            free(kind->shelf->objects);
        free(SW_TAKE(kind->shelf));
    }
    sw_kinds_free(store->kinds);
    json_object_put(store->webhook_addresses);
    sw_json_pool_free(store->pool);
    free(store->text.bytes);
    free(store);
}

uint64_t sw_store_random(struct sw_store *store)
{
    store->random ^= store->random << 13;
    store->random ^= store->random >> 7;
    store->random ^= store->random << 17;
    return store->random;
}

char *sw_store_uid(struct sw_store *store, char buf[static 37])
{
    uint64_t a = sw_store_random(store), b = sw_store_random(store);
    (void)snprintf(buf, 37, "%08x-%04x-4%03x-%04x-%012" PRIx64, (unsigned)(a >> 32),
                   (unsigned)(a >> 16 & 0xffff), (unsigned)(a & 0xfff),
                   (unsigned)(b >> 48 & 0x3fff) | 0x8000, b & 0xffffffffffff);
    return buf;
}

char *sw_store_time(struct sw_store *store, char buf[static 21])
{
    return sw_time_rfc3339(sw_loop_now_ms(store->loop), buf);
}

uint64_t sw_store_set_random(struct sw_store *store, uint64_t state)
{
    uint64_t before = store->random;
    store->random = state;
    return before;
}

int sw_store_minor(const struct sw_store *store)
{
    return store->minor;
}

void sw_store_upgrade(struct sw_store *store, int minor)
{
    store->minor = minor;
    sw_kinds_upgrade(store->kinds, minor);
}

struct sw_kinds *sw_store_kinds(struct sw_store *store)
{
    return store->kinds;
}

uint64_t sw_store_first_version(const struct sw_store *store)
{
    return store->first_version;
}

void sw_store_set_webhook_address(struct sw_store *store, const char *service, const char *address)
{
    if (!store->webhook_addresses)
        store->webhook_addresses = json_object_new_object();
    json_object_object_add(store->webhook_addresses, service, json_object_new_string(address));
}

const char *sw_store_webhook_address(const struct sw_store *store, const char *service)
{
    return sw_json_str(store->webhook_addresses, NULL, service, NULL);
}

int sw_store_logs(struct sw_store *store, json_object *pod, const char *container, bool previous,
                  char **text)
{
    return store->logs.fn ? store->logs.fn(store->logs.arg, pod, container, previous, text) : 0;
}

void sw_store_set_first_version(struct sw_store *store)
{
    store->first_version = store->rv;
}

uint64_t sw_store_version(const struct sw_store *store)
{
    return store->rv;
}

struct sw_loop *sw_store_loop(struct sw_store *store)
{
    return store->loop;
}

void sw_store_set_logs(struct sw_store *store, sw_store_logs_fn *fn, void *arg)
{
    store->logs.fn = fn;
    store->logs.arg = arg;
}

/* ---- reading ------------------------------------------------------------------------------------
 */

json_object *sw_store_get(struct sw_store *store, const struct sw_emu_kind *kind, const char *ns,
                          const char *name)
{
    struct sw_object *object = sw_store_object(store, kind, ns, name);
    return object ? object->now->doc : NULL;
}

json_object *sw_store_find_uid(struct sw_store *store, const char *uid,
                               const struct sw_emu_kind **kind)
{
    struct sw_object *object = uid ? sw_table_find(store->by_uid, uid) : NULL;
    if (!object)
        return NULL;
    if (kind)
        *kind = object->kind;
    return object->now->doc;
}

/* The objects of @ns (NULL, "": all of them) are those from @from up to, not including, @to. */
static void range(const struct sw_shelf *shelf, const char *ns, size_t *from, size_t *to)
{
    *from = 0;
    *to = shelf ? shelf->n : 0;
    if (!shelf || !ns || !ns[0])
        return;
    *from = sw_shelf_seek(shelf, ns, "");
    SW_AUTO_CHARS *after = sw_printf("%s\001", ns); /* sorts behind all names in ns */
    *to = sw_shelf_seek(shelf, after, "");
}

size_t sw_store_count(struct sw_store *store SW_UNUSED, const struct sw_emu_kind *kind,
                      const char *ns)
{
    size_t from, to;
    range(sw_store_shelf(kind), ns, &from, &to);
    return to - from;
}

void sw_store_list(struct sw_store *store SW_UNUSED, const struct sw_emu_kind *kind, const char *ns,
                   struct sw_store_list *out)
{
    const struct sw_shelf *shelf = sw_store_shelf(kind);
    size_t from, to;
    range(shelf, ns, &from, &to);
    struct sw_store_list list = { .items = sw_zalloc(to - from + 1, sizeof *list.items) };
    for (size_t i = from; i < to; i++)
        list.items[list.n++] = json_object_get(shelf->objects[i]->now->doc);
    sw_store_list_done(out);
    *out = list;
}

void sw_store_dependents(struct sw_store *store, const char *uid, struct sw_store_list *out)
{
    const struct sw_owned *owned = sw_table_find(store->owned, uid);
    size_t n = owned ? owned->n : 0;
    struct sw_store_list list = { .items = sw_zalloc(n + 1, sizeof *list.items), .n = n };
    for (size_t i = 0; i < n; i++)
        list.items[i] = json_object_get(owned->objects[i]->now->doc);
    sw_store_list_done(out);
    *out = list;
}

void sw_store_list_done(struct sw_store_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        json_object_put(list->items[i]);
    free(SW_TAKE(list->items));
    list->n = 0;
}

/* ---- kinds --------------------------------------------------------------------------------------
 */

const struct sw_emu_kind *sw_store_kind(struct sw_store *store, const char *group, const char *kind)
{
    return sw_kinds_by_kind(store->kinds, group, NULL, kind);
}

const struct sw_emu_kind *sw_store_kind_of(struct sw_store *store, json_object *doc)
{
    const char *api_version = sw_obj_api_version(doc), *slash = strchr(api_version, '/');
    SW_AUTO_CHARS *group = sw_strndup(api_version, slash ? (size_t)(slash - api_version) : 0);
    return sw_kinds_by_kind(store->kinds, group, NULL, sw_obj_kind(doc));
}

const struct sw_emu_kind *sw_store_find_resource(struct sw_store *store, const char *group,
                                                 const char *version, const char *plural)
{
    return sw_kinds_by_plural(store->kinds, group, version, plural);
}

const struct sw_emu_kind *sw_store_nth_kind(struct sw_store *store, size_t i)
{
    const struct sw_emu_kind *kind;
    for (size_t at = 0; (kind = sw_kinds_nth(store->kinds, at)); at++)
        if (kind->served && i-- == 0)
            return kind;
    return NULL;
}
