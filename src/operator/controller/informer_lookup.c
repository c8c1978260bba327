/* Looking for objects by name, in as few questions as will do: where a namespace is not there,
 * nothing in it is. */
#include "operator/controller/informer_internal.h"

#include <stdlib.h>
#include <string.h>

enum { LOOK_RETRIES = 4, ABSENT_MS = 1000, NEW_NAMESPACE_MS = 60000 };

/* Something that was not there when last seen: one object, or (no kind) all in a namespace. */
struct absence {
    struct absence *next;
    struct sw_key key;
    bool of_namespace; /* that is not there either */
    int64_t until_ms;
};

/* A namespace being looked for, or found a moment ago. */
struct ns_look {
    struct hub *hub;
    struct ns_look *next;
    char *ns;
    struct sw_kube_request *req; /* NULL: answered, it is there */
    int64_t until_ms;
};

static bool same_key(const struct sw_key *a, const struct sw_key *b)
{
    return sw_streq(a->kind, b->kind) && sw_streq(a->name, b->name) && hub_same_ns(a->ns, b->ns) &&
           sw_streq(a->api_version, b->api_version);
}

static bool is_namespace(const struct sw_key *key)
{
    return sw_streq(key->kind, "Namespace") && sw_streq(key->api_version, "v1");
}

static bool covers(const struct absence *a, const struct sw_key *key)
{
    if (a->key.kind)
        return same_key(&a->key, key);
    if (is_namespace(key))
        return a->of_namespace && sw_streq(a->key.ns, key->name);
    return key->ns && sw_streq(a->key.ns, key->ns);
}

bool hub_knows_absent(struct hub *hub, const struct sw_key *key)
{
    int64_t now_ms = sw_loop_now_ms(hub->loop);
    for (struct absence *a = hub->absences; a; a = a->next)
        if (covers(a, key) && a->until_ms > now_ms)
            return true;
    return false;
}

static void forget_absences(struct hub *hub, int64_t before_ms)
{
    for (struct absence **at = &hub->absences; *at;) {
        struct absence *a = *at;
        if (a->until_ms > before_ms) {
            at = &a->next;
            continue;
        }
        *at = a->next;
        hub_key_free(&a->key);
        free(a);
    }
}

static struct absence *remember_absence(struct hub *hub, const struct sw_key *key, int64_t for_ms)
{
    int64_t now_ms = sw_loop_now_ms(hub->loop);
    forget_absences(hub, now_ms);
    struct absence *a = sw_zalloc(1, sizeof *a);
    *a = (struct absence){ .next = hub->absences,
                           .key = hub_key_copy(key),
                           .until_ms = now_ms + for_ms };
    return hub->absences = a;
}

static void forget_namespace_absence(struct hub *hub, const char *ns)
{
    for (struct absence *a = hub->absences; a; a = a->next)
        if (a->of_namespace && sw_streq(a->key.ns, ns))
            a->of_namespace = false;
}

void hub_namespace_is_new(struct hub *hub, const char *ns)
{
    forget_namespace_absence(hub, ns);
    (void)remember_absence(hub, &(struct sw_key){ .ns = ns }, NEW_NAMESPACE_MS);
}

void hub_is_absent(struct hub *hub, const struct sw_key *key)
{
    (void)remember_absence(hub, key, ABSENT_MS);
}

/* ---- one object --------------------------------------------------------------------------------
 */

static void looked(struct sub *s, const struct sw_kube_answer *answer)
{
    const struct sw_kind *kind = s->feed->kind;
    if (answer->code == SW_NOTFOUND) {
        sub_tell_object(s, NULL);
        return;
    }
    if (answer->code == SW_UNAVAILABLE) {
        hub_retry_later(s->hub);
        return;
    }
    if (answer->code < 0) {
        sub_tell_fault(s, answer->code, sw_err_text(answer->err));
        return;
    }
    (void)sw_json_del(answer->object, "metadata", "managedFields", NULL);
    if (!sw_streq(sw_obj_label(answer->object, SW_OWNED_LABEL), "true")) {
        sub_leave(s);
        s->foreign = true;
        sub_join(s, kind);
    }
    sub_tell_object(s, answer->object);
}

static void on_looked(const struct sw_kube_answer *answer, void *arg)
{
    struct sub *s = arg;
    s->req = NULL;
    looked(s, answer);
}

static void ask(struct sub *s)
{
    if (!s->req)
        s->req = sw_kube_get(s->hub->kube, s->feed->kind, s->key.ns, s->key.name,
                             &(struct sw_request_opts){ .retries = LOOK_RETRIES }, on_looked, s);
}

/* ---- namespaces, and what is in them
 * -----------------------------------------------------------------------
 */

static void ns_look_free(struct ns_look *l)
{
    sw_kube_cancel(l->req);
    free(l->ns);
    free(l);
}

/* The namespace that an object is in, or is. */
static const char *ns_of(const struct sub *s)
{
    return is_namespace(&s->key) ? s->key.name : s->key.ns;
}

static void join(struct sub *s)
{
    sub_join(s, SW_TAKE(s->to_join));
    sub_tell_known(s);
}

static void on_ns_looked(const struct sw_kube_answer *answer, void *arg)
{
    struct ns_look *l = arg;
    struct hub *hub = l->hub;
    l->req = NULL;
    l->until_ms = sw_loop_now_ms(hub->loop) + ABSENT_MS;
    bool absent = answer->code == SW_NOTFOUND;
    if (absent)
        remember_absence(hub, &(struct sw_key){ .ns = l->ns }, ABSENT_MS)->of_namespace = true;
    hub->telling++;
    for (struct sub *s = hub->subs; s; s = s->next) {
        if (!s->waits_for_ns || s->ended || !sw_streq(ns_of(s), l->ns))
            continue;
        s->waits_for_ns = false;
        if (s->to_join)
            join(s);
        else if (absent)
            sub_tell_object(s, NULL);
        else if (is_namespace(&s->key))
            looked(s, answer);
        else
            ask(s);
    }
    hub->telling--;
    hub_sweep(hub);
}

static struct ns_look *find_look(struct hub *hub, const char *ns)
{
    for (struct ns_look **at = &hub->ns_looks; *at;) {
        struct ns_look *l = *at;
        if (!l->req && l->until_ms <= sw_loop_now_ms(hub->loop)) {
            *at = l->next;
            ns_look_free(l);
            continue;
        }
        if (sw_streq(l->ns, ns))
            return l;
        at = &l->next;
    }
    return NULL;
}

/* @return false: there is nobody to ask, or its namespace is there */
static bool ask_namespace(struct sub *s)
{
    struct hub *hub = s->hub;
    struct ns_look *l = find_look(hub, ns_of(s));
    const struct sw_kind *kind = sw_kube_kind_find(hub->kube, "v1", "Namespace");
    if (!kind || (l && !l->req))
        return false;
    s->waits_for_ns = true;
    if (l)
        return true;
    l = sw_zalloc(1, sizeof *l);
    *l = (struct ns_look){ .hub = hub, .next = hub->ns_looks, .ns = sw_strdup(ns_of(s)) };
    hub->ns_looks = l;
    l->req = sw_kube_get(hub->kube, kind, NULL, l->ns,
                         &(struct sw_request_opts){ .retries = LOOK_RETRIES }, on_ns_looked, l);
    return true;
}

static bool is_in_namespace(const struct sub *s, const struct sw_kind *kind)
{
    return is_namespace(&s->key) || (kind->namespaced && s->key.ns && *s->key.ns);
}

void sub_begin(struct sub *s, const struct sw_kind *kind)
{
    s->to_join = kind;
    bool spares_a_list = is_in_namespace(s, kind) && !sub_has_feed(s, kind) &&
                         !hub_knows_absent(s->hub, &s->key);
    if (!spares_a_list || !ask_namespace(s))
        join(s);
}

void sub_look(struct sub *s)
{
    if (s->req || s->waits_for_ns)
        return;
    if (!is_in_namespace(s, s->feed->kind) || !ask_namespace(s))
        ask(s);
}

void hub_look_done(struct hub *hub)
{
    forget_absences(hub, INT64_MAX);
    while (hub->ns_looks) {
        struct ns_look *l = hub->ns_looks;
        hub->ns_looks = l->next;
        ns_look_free(l);
    }
}
