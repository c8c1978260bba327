/* The objects that an assertion without a name speaks of: it holds for any of them, or for none. Of
 * each is kept whether it holds, and why not. */
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <json-c/linkhash.h>

#include "data/json/path.h"
#include "data/json/table.h"
#include "operator/engine/internal.h"

struct member {
    bool holds;
    char *why; /* it does not; NULL: it does */
};

struct members {
    struct lh_table *by_name; /* "namespace/name", or "name" where the assertion has a namespace */
};

static void free_member(struct lh_entry *entry)
{
    struct member *m = (struct member *)lh_entry_v(entry);
    free(m->why);
    free(m);
    free(lh_entry_k(entry));
}

static struct members *members_new(void)
{
    struct members *m = sw_zalloc(1, sizeof *m);
    m->by_name = lh_kchar_table_new(16, free_member);
    if (!m->by_name)
        abort();
    return m;
}

void members_free(struct members *m)
{
    if (!m)
        return;
    lh_table_free(m->by_name);
    free(m);
}

/* ---- what follows from them --------------------------------------------------------------------
 */

/* The first by name that holds, or that does not; NULL: there is none. */
static const char *first(const struct members *m, bool holds, const struct member **out)
{
    const char *best = NULL;
    struct lh_entry *entry;
    lh_foreach(m->by_name, entry)
    {
        const struct member *one = lh_entry_v(entry);
        const char *name = lh_entry_k(entry);
        if (one->holds != holds || (best && strcmp(name, best) > 0))
            continue;
        best = name;
        *out = one;
    }
    return best;
}

static void judge(struct object *o)
{
    const struct member *one = NULL;
    const bool any = o->gate->of == SW_GATE_OF_ANY;
    const char *holder = first(o->members, true, &one);
    const char *other = any && !holder ? first(o->members, false, &one) : NULL;
    const char *message = o->gate->assert_message ? o->gate->assert_message : "";
    const char *before = *message ? "; " : "";
    if (any == (holder != NULL))
        sw_readiness_set(&o->judged, SW_READINESS_READY, NULL, " ");
    else if (holder)
        sw_readiness_set(&o->judged, SW_READINESS_WAITING, "NotAsserted",
                         "%s has what none may have%s%s%s%s", holder, o->gate->hides ? "" : ": ",
                         o->gate->hides ? "" : o->gate->asserted, before, message);
    else if (other)
        sw_readiness_set(&o->judged, SW_READINESS_WAITING, "NotAsserted",
                         "none of %d is as asserted: %s: %s%s%s",
                         lh_table_length(o->members->by_name), other, one->why, before, message);
    else
        sw_readiness_set(&o->judged, SW_READINESS_WAITING, "NotAsserted", "there is none%s%s%s%s",
                         o->gate->selector ? " with " : "",
                         o->gate->selector ? o->gate->selector : "", before, message);
}

/* ---- observing them ----------------------------------------------------------------------------
 */

/* Others that have the watch read all anew, too: what was deleted meanwhile is not told. */
static void forget_all(struct sw_engine *e, uint64_t watch)
{
    struct object_iter it = { 0 };
    for (struct object *o; (o = object_next(e, &it));) {
        if (!o->members || o->watch != watch)
            continue;
        members_free(o->members);
        o->members = members_new();
        o->observed = false;
    }
}

void members_watch(struct sw_engine *e, struct object *o)
{
    const bool speaks = o->gate && o->gate->of != SW_GATE_OF_ONE;
    if (!speaks && !o->members)
        return;
    act_unwatch(e, o->watch);
    o->watch = 0;
    o->observed = false;
    members_free(o->members);
    o->members = speaks ? members_new() : NULL;
    if (!speaks)
        return;
    object_drop_live(o);
    o->present = false;
    const struct sw_key key = { o->key.api_version, o->key.kind, o->key.ns, NULL };
    o->watch = act_watch(e, &key, o->gate->selector, SW_USE_MEMBERS);
    const struct watch *w = act_find_watch(e, o->watch);
    if (w->delivered) {
        forget_all(e, o->watch);
        act_watch_again(e, o->watch);
    }
    sw_readiness_set(&o->judged, SW_READINESS_WAITING, "Unknown", "has not been looked at yet");
}

void members_observe(struct object *o, const struct sw_key *key, struct json_object *live)
{
    SW_AUTO_CHARS *name = o->key.ns ? sw_strdup(key->name)
                                    : sw_printf("%s%s%s", key->ns ? key->ns : "",
                                                key->ns && *key->ns ? "/" : "", key->name);
    struct lh_entry *entry = lh_table_lookup_entry(o->members->by_name, name);
    if (entry)
        (void)lh_table_delete_entry(o->members->by_name, entry);
    const bool any = o->gate->of == SW_GATE_OF_ANY;
    SW_AUTO_CHARS *why = NULL;
    const bool holds = live && sw_gate_holds(o->gate, live, any ? &why : NULL);
    if (live && (any || holds)) { /* where none may, others do not matter */
        struct member *m = sw_zalloc(1, sizeof *m);
        *m = (struct member){ holds, SW_TAKE(why) };
        if (lh_table_insert(o->members->by_name, SW_TAKE(name), m))
            abort();
    }
    if (o->observed)
        judge(o);
}

void members_synced(struct object *o)
{
    o->observed = true;
    o->unserved = false;
    judge(o);
}
