#include "kube/observed.h"

#include <json-c/linkhash.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/** A resourceVersion: a number that grows, so that late events can be detected. A text that is no
 * number can only be compared for equality. Source: Kubernetes KEP-5504. */
struct version {
    uint64_t n; /* the number, or a hash of the text */
    bool is_number;
};

struct entry {
    struct version version;
    unsigned list; /* the last list that had it */
    unsigned short ns_len;
    char text[]; /* "ns/name", NUL, uid, NUL */
};

enum { N_TOMBS = 32 };

struct observed {
    struct lh_table *by_key;
    unsigned list;
    struct lh_entry *cursor; /* of observed_next_missing() */
    struct entry *taken;     /* by observed_next_missing() */
    char *taken_ns;
    struct {
        uint64_t key;
        struct version version;
    } tombs[N_TOMBS]; /* the last deleted objects: a late event must not add them again */
    unsigned n_tombs;
};

struct observed *observed_new(void)
{
    struct observed *s = sw_zalloc(1, sizeof *s);
    s->by_key = lh_kchar_table_new(16, NULL);
    return s;
}

static void free_taken(struct observed *s)
{
    free(s->taken);
    free(s->taken_ns);
    s->taken = NULL;
    s->taken_ns = NULL;
}

void observed_free(struct observed *s)
{
    if (!s)
        return;
    struct lh_entry *e;
    lh_foreach(s->by_key, e) free(lh_entry_v(e));
    lh_table_free(s->by_key);
    free_taken(s);
    free(s);
}

size_t observed_count(const struct observed *s)
{
    return (size_t)lh_table_length(s->by_key);
}

static struct version version_of(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    if (digits && digits < 20 && !text[digits])
        return (struct version){ .n = strtoull(text, NULL, 10), .is_number = true };
    return (struct version){ .n = sw_fnv64a(text, strlen(text)) };
}

static bool same(struct version a, struct version b)
{
    return a.n == b.n && a.is_number == b.is_number;
}

static bool older(struct version a, struct version b)
{
    return a.is_number && b.is_number && a.n < b.n;
}

static char *key_of(const struct observed_object *o)
{
    return sw_printf("%s/%s", o->ns, o->name);
}

static const char *uid_of(const struct entry *e)
{
    return e->text + strlen(e->text) + 1;
}

static void insert(struct observed *s, const char *key, const struct observed_object *o,
                   struct version v)
{
    size_t key_len = strlen(key), uid_len = strlen(o->uid);
    struct entry *e = sw_alloc(sizeof *e + key_len + uid_len + 2);
    *e = (struct entry){ .version = v, .list = s->list, .ns_len = (unsigned short)strlen(o->ns) };
    memcpy(e->text, key, key_len + 1);
    memcpy(e->text + key_len + 1, o->uid, uid_len + 1);
    (void)lh_table_insert(s->by_key, e->text, e);
}

/** Whether the object was deleted at this version or a later one. */
static bool is_deleted(const struct observed *s, const char *key, struct version v)
{
    uint64_t hash = sw_fnv64a(key, strlen(key));
    for (unsigned i = 0; i < N_TOMBS && i < s->n_tombs; i++)
        if (s->tombs[i].key == hash &&
            (same(v, s->tombs[i].version) || older(v, s->tombs[i].version)))
            return true;
    return false;
}

enum observed_change observed_put(struct observed *s, const struct observed_object *o, bool listed)
{
    SW_AUTO_CHARS *key = key_of(o);
    struct version v = version_of(o->resource_version);
    struct lh_entry *at = lh_table_lookup_entry(s->by_key, key);
    if (!at) {
        if (!listed && is_deleted(s, key, v))
            return OBSERVED_SAME;
        insert(s, key, o, v);
        return OBSERVED_NEW;
    }
    struct entry *e = lh_entry_v(at);
    if (!listed && older(v, e->version))
        return OBSERVED_SAME;
    if (!sw_streq(uid_of(e), o->uid)) {
        (void)lh_table_delete_entry(s->by_key, at);
        free(e);
        insert(s, key, o, v);
        return OBSERVED_REPLACED;
    }
    bool unchanged = same(v, e->version);
    e->version = v;
    e->list = s->list;
    return unchanged ? OBSERVED_SAME : OBSERVED_CHANGED;
}

bool observed_remove(struct observed *s, const struct observed_object *o)
{
    SW_AUTO_CHARS *key = key_of(o);
    struct version v = version_of(o->resource_version);
    struct lh_entry *at = lh_table_lookup_entry(s->by_key, key);
    struct entry *e = at ? lh_entry_v(at) : NULL;
    if (!e || older(v, e->version))
        return false;
    (void)lh_table_delete_entry(s->by_key, at);
    free(e);
    unsigned i = s->n_tombs++ % N_TOMBS;
    s->tombs[i].key = sw_fnv64a(key, strlen(key));
    s->tombs[i].version = v;
    return true;
}

void observed_begin_list(struct observed *s)
{
    s->list++;
}

void observed_end_list(struct observed *s)
{
    s->cursor = lh_table_head(s->by_key);
}

bool observed_next_missing(struct observed *s, struct observed_object *key)
{
    struct lh_entry *at = s->cursor;
    free_taken(s);
    while (at && ((struct entry *)lh_entry_v(at))->list == s->list)
        at = lh_entry_next(at);
    if (!at)
        return false;
    s->cursor = lh_entry_next(at);
    s->taken = lh_entry_v(at);
    (void)lh_table_delete_entry(s->by_key, at);
    s->taken_ns = sw_strndup(s->taken->text, s->taken->ns_len);
    *key = (struct observed_object){ .ns = s->taken_ns,
                                     .name = s->taken->text + s->taken->ns_len + 1,
                                     .uid = uid_of(s->taken),
                                     .resource_version = "" };
    return true;
}
