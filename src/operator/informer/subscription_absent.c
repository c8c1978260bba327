/* Objects that are read by name, with few requests: where a namespace is absent, all in it is. */
#include "operator/informer/subscription.h"

#include <stdlib.h>
#include <string.h>

enum { LOOK_RETRIES = 4, ABSENT_MS = 1000, NEW_NAMESPACE_MS = 60000 };

/* What was absent a moment ago: one object, or (without kind) all objects in a namespace. */
struct absence {
    struct absence *next;
    struct sw_key key;
    bool of_namespace; /* the namespace, too */
    int64_t until_ms;
};

/* A namespace that is being read, or was found a moment ago. */
struct namespace_get {
    struct informer *informer;
    struct namespace_get *next;
    char *ns;
    struct sw_kube_request *req; /* NULL: answered, it is there */
    int64_t until_ms;
};

static bool is_namespace(const struct sw_key *key)
{
    return sw_streq(key->kind, "Namespace") && sw_streq(key->api_version, "v1");
}

static bool covers(const struct absence *a, const struct sw_key *key)
{
    if (a->key.kind)
        return sw_streq(a->key.kind, key->kind) && sw_streq(a->key.name, key->name) &&
               sw_ns_equal(a->key.ns, key->ns) && sw_streq(a->key.api_version, key->api_version);
    if (is_namespace(key))
        return a->of_namespace && sw_streq(a->key.ns, key->name);
    return key->ns && sw_streq(a->key.ns, key->ns);
}

bool informer_knows_absent(struct informer *informer, const struct sw_key *key)
{
    int64_t now_ms = sw_loop_now_ms(informer->loop);
    for (struct absence *a = informer->absences; a; a = a->next)
        if (covers(a, key) && a->until_ms > now_ms)
            return true;
    return false;
}

static void forget_absences(struct informer *informer, int64_t before_ms)
{
    for (struct absence **at = &informer->absences; *at;) {
        struct absence *a = *at;
        if (a->until_ms > before_ms) {
            at = &a->next;
            continue;
        }
        *at = a->next;
        sw_key_done(&a->key);
        free(a);
    }
}

static struct absence *remember_absence(struct informer *informer, const struct sw_key *key,
                                        int64_t for_ms)
{
    int64_t now_ms = sw_loop_now_ms(informer->loop);
    forget_absences(informer, now_ms);
    struct absence *a = sw_zalloc(1, sizeof *a);
    *a = (struct absence){ .next = informer->absences,
                           .key = sw_key_copy(key),
                           .until_ms = now_ms + for_ms };
    return informer->absences = a;
}

void informer_namespace_is_new(struct informer *informer, const char *ns)
{
    for (struct absence *a = informer->absences; a; a = a->next)
        if (sw_streq(a->key.ns, ns))
            a->of_namespace = false;
    (void)remember_absence(informer, &(struct sw_key){ .ns = ns }, NEW_NAMESPACE_MS);
}

void informer_is_absent(struct informer *informer, const struct sw_key *key)
{
    (void)remember_absence(informer, key, ABSENT_MS);
}

/* ---- one object --------------------------------------------------------------------------------
 */

static void got(struct subscription *s, const struct sw_kube_answer *answer)
{
    const struct sw_kind *kind = s->shared->kind;
    if (answer->code == SW_NOTFOUND) {
        subscription_notify_object(s, NULL);
        return;
    }
    if (answer->code < 0 && answer->code != SW_UNAVAILABLE)
        subscription_notify_fault(s, answer->code, sw_err_text(answer->err));
    if (answer->code < 0) {
        informer_retry_later(s->informer, answer->code);
        return;
    }
    s->informer->n_refused = 0;
    subscription_drop_fields(answer->object, true);
    if (!sw_streq(sw_obj_label(answer->object, SW_OWNED_LABEL), "true")) {
        subscription_leave(s);
        s->foreign = true;
        subscription_join(s, kind);
    }
    subscription_notify_object(s, answer->object);
}

static void on_object(const struct sw_kube_answer *answer, void *arg)
{
    struct subscription *s = arg;
    s->req = NULL;
    got(s, answer);
}

static void ask(struct subscription *s)
{
    if (!s->req)
        s->req = sw_kube_get(s->informer->kube, s->shared->kind, s->key.ns, s->key.name,
                             REQUEST_OWN(OBJECTS, .retries = LOOK_RETRIES), on_object, s);
}

/* ---- namespaces, and what is in them -----------------------------------------------------------
 */

static void namespace_get_free(struct namespace_get *l)
{
    sw_kube_cancel(l->req);
    free(l->ns);
    free(l);
}

/* The namespace that an object is in, or is. */
static const char *ns_of(const struct subscription *s)
{
    return is_namespace(&s->key) ? s->key.name : s->key.ns;
}

static void join(struct subscription *s)
{
    subscription_join(s, SW_TAKE(s->to_join));
    subscription_notify_known(s);
}

static void on_namespace(const struct sw_kube_answer *answer, void *arg)
{
    struct namespace_get *l = arg;
    struct informer *informer = l->informer;
    l->req = NULL;
    l->until_ms = sw_loop_now_ms(informer->loop) + ABSENT_MS;
    bool absent = answer->code == SW_NOTFOUND;
    if (absent)
        remember_absence(informer, &(struct sw_key){ .ns = l->ns }, ABSENT_MS)->of_namespace = true;
    informer->notifying++;
    for (struct subscription *s = informer->subscriptions; s; s = s->next) {
        if (!s->waits_for_ns || s->ended || !sw_streq(ns_of(s), l->ns))
            continue;
        s->waits_for_ns = false;
        if (s->to_join)
            join(s);
        else if (absent)
            subscription_notify_object(s, NULL);
        else if (is_namespace(&s->key))
            got(s, answer);
        else
            ask(s);
    }
    informer_notified(informer);
}

static struct namespace_get *find_namespace_get(struct informer *informer, const char *ns)
{
    for (struct namespace_get **at = &informer->namespace_gets; *at;) {
        struct namespace_get *l = *at;
        if (!l->req && l->until_ms <= sw_loop_now_ms(informer->loop)) {
            *at = l->next;
            namespace_get_free(l);
            continue;
        }
        if (sw_streq(l->ns, ns))
            return l;
        at = &l->next;
    }
    return NULL;
}

/* Read its namespace first. @return false: that is known to be there, or its kind is not served */
static bool ask_namespace(struct subscription *s)
{
    struct informer *informer = s->informer;
    struct namespace_get *l = find_namespace_get(informer, ns_of(s));
    const struct sw_kind *kind = sw_kube_kind_find(informer->kube, "v1", "Namespace");
    if (!kind || (l && !l->req))
        return false;
    s->waits_for_ns = true;
    if (l)
        return true;
    l = sw_zalloc(1, sizeof *l);
    *l = (struct namespace_get){ .informer = informer,
                                 .next = informer->namespace_gets,
                                 .ns = sw_strdup(ns_of(s)) };
    informer->namespace_gets = l;
    l->req = sw_kube_get(informer->kube, kind, NULL, l->ns,
                         REQUEST_OWN(OBJECTS, .retries = LOOK_RETRIES), on_namespace, l);
    return true;
}

static bool is_in_namespace(const struct subscription *s, const struct sw_kind *kind)
{
    return is_namespace(&s->key) || (kind->namespaced && s->key.ns && *s->key.ns);
}

void subscription_begin(struct subscription *s, const struct sw_kind *kind)
{
    if (kind->namespaced && s->key.name && !(s->key.ns && *s->key.ns)) {
        /* it was rendered when nothing said that its kind has namespaces: it will be again */
        s->no_kind = true;
        subscription_notify_fault(s, SW_NOTFOUND, "its kind has namespaces, which was not known");
        return;
    }
    s->to_join = kind;
    bool spares_a_list = is_in_namespace(s, kind) && !subscription_has_watch(s, kind) &&
                         !informer_knows_absent(s->informer, &s->key);
    if (!spares_a_list || !ask_namespace(s))
        join(s);
}

void subscription_get(struct subscription *s)
{
    if (s->req || s->waits_for_ns)
        return;
    if (!is_in_namespace(s, s->shared->kind) || !ask_namespace(s))
        ask(s);
}

void informer_absent_done(struct informer *informer)
{
    forget_absences(informer, INT64_MAX);
    while (informer->namespace_gets) {
        struct namespace_get *l = informer->namespace_gets;
        informer->namespace_gets = l->next;
        namespace_get_free(l);
    }
}
