/* discovery: requests the kinds that the server serves. A document that is already in flight is not
 * requested twice: all discoveries that need it wait for it. */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "data/data.h"
#include "kube/internal.h"

enum document { DOC_CORE, DOC_GROUPS, DOC_GROUP, DOC_VERSION };

/** A document in flight. */
struct fetch {
    LIST_ENTRY(fetch) in_all;
    struct sw_kube *k;
    enum document document;
    char *name;      /* of the group or version; "" else */
    bool aggregated; /* requested with the kinds; after the answer: it contained them */
    struct discovery **waiters;
    size_t n_waiters, cap_waiters;
};

enum goal { GOAL_KIND, GOAL_VERSION, GOAL_GROUPS, GOAL_ALL };

/** One call of sw_kube_kind() or sw_kube_discover(). */
struct discovery {
    struct sw_kube *k;
    struct sw_kube_request *handle;
    enum goal goal;
    char *api_version;
    char *kind;
    int n_open;          /* documents that it waits for */
    bool joined;         /* the last one was in flight already */
    bool group_asked;    /* GOAL_KIND: for the message only */
    bool versions_asked; /* GOAL_ALL: the second round has begun */
    bool lacks_kinds;    /* GOAL_ALL: a list of groups came without them */
    struct sw_err failure;
    struct sw_timer *timer; /* answers what needs no request */
    sw_kube_kind_fn *on_kind;
    sw_kube_done_fn *on_done;
    void *arg;
};

static void check_done(struct discovery *d);

/* ---- documents ----------------------------------------------------------------------------------
 */

static void fetch_free(struct fetch *f)
{
    free(f->name);
    free(f->waiters);
    free(f);
}

void kube_fetches_free(struct sw_kube *k)
{
    struct fetch *f;
    while ((f = LIST_FIRST(&k->fetches))) {
        LIST_REMOVE(f, in_all);
        fetch_free(f);
    }
}

/** Store what a document says. A missing group or version is not served. */
static int learn(struct fetch *f, const struct sw_kube_answer *a, struct sw_err *err)
{
    struct sw_kube_kinds *kinds = f->k->kinds;
    bool missing = a->code == SW_NOTFOUND;
    if (a->code < 0 && !missing)
        return sw_err_set(err, a->code, "%s", sw_err_text(a->err));
    switch (f->document) {
    case DOC_VERSION:
        return kube_kinds_learn_version(kinds, f->name, missing ? NULL : a->object, err);
    case DOC_GROUP:
        kube_kinds_learn_group(kinds, f->name, missing ? NULL : a->object);
        return 0;
    case DOC_CORE:
    case DOC_GROUPS:
        break;
    }
    if (missing)
        return sw_err_set(err, a->code, "%s", sw_err_text(a->err));
    return kube_kinds_learn_groups(kinds, f->document == DOC_CORE, a->object, &f->aggregated, err);
}

static void on_document(const struct sw_kube_answer *a, void *arg)
{
    struct fetch *f = arg;
    struct sw_kube *k = f->k;
    SW_ERR(err);
    LIST_REMOVE(f, in_all); /* later discoveries request the document again */
    int rc = learn(f, a, &err);
    /* one group's own server may be down: the other groups are discovered all the same */
    bool partial = f->document == DOC_VERSION;
    if (rc < 0 && partial)
        kube_kinds_set_answered(k->kinds, f->name, false);
    for (size_t i = 0; i < f->n_waiters; i++) {
        struct discovery *d = f->waiters[i]; /* allocated until this turn ends, if cancelled too */
        d->n_open--;
        if (f->document == DOC_CORE || f->document == DOC_GROUPS)
            d->lacks_kinds |= !f->aggregated;
        if (rc < 0 && !d->failure.text && !(partial && d->goal == GOAL_ALL))
            (void)sw_err_set(&d->failure, rc, "%s", sw_err_text(&err));
        if (d->handle->state != RQ_OVER)
            check_done(d);
    }
    fetch_free(f);
    uint64_t signature = kube_kinds_signature(k->kinds);
    if (k->on_kinds && LIST_EMPTY(&k->fetches) && signature != k->kinds_signature) {
        k->kinds_signature = signature;
        k->on_kinds(k->kinds_arg);
    }
}

void sw_kube_on_kinds(struct sw_kube *k, void (*fn)(void *arg), void *arg)
{
    k->on_kinds = fn;
    k->kinds_arg = arg;
    k->kinds_signature = kube_kinds_signature(k->kinds);
}

static void send_fetch(struct fetch *f)
{
    static const char aggregated[] =
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
        "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,"
        "application/json";
    bool core = f->document == DOC_CORE || (f->document == DOC_VERSION && !strchr(f->name, '/'));
    char *path = sw_printf("%s%s%s", core ? "/api" : "/apis", f->name[0] ? "/" : "", f->name);
    struct request_spec spec = { .verb = "get",
                                 .method = "GET",
                                 .resource = sw_strdup("discovery"),
                                 .what = sw_printf("discovery of %s", path),
                                 .path = path,
                                 .accept = f->aggregated ? aggregated : NULL,
                                 .purpose = "discovery",
                                 .repeatable = true,
                                 .ahead = true, /* requests of the queue may wait for it */
                                 .form = FORM_OBJECT };
    (void)kube_request_new(f->k, &spec, NULL, on_document, f);
}

/** Wait for a document; request it unless it is in flight. */
static void need(struct discovery *d, enum document document, const char *name, bool aggregated)
{
    struct sw_kube *k = d->k;
    struct fetch *f;
    LIST_FOREACH(f, &k->fetches, in_all)
    if (f->document == document && f->aggregated == aggregated && sw_streq(f->name, name))
        break;
    bool is_new = !f;
    if (is_new) {
        f = sw_zalloc(1, sizeof *f);
        *f = (struct fetch){
            .k = k, .document = document, .name = sw_strdup(name), .aggregated = aggregated
        };
        LIST_INSERT_HEAD(&k->fetches, f, in_all);
    }
    SW_GROW(f->waiters, f->n_waiters, f->cap_waiters);
    f->waiters[f->n_waiters++] = d;
    d->n_open++;
    d->joined = !is_new;
    if (is_new)
        send_fetch(f);
}

/* ---- goals --------------------------------------------------------------------------------------
 */

static void discovery_free(void *arg)
{
    struct discovery *d = arg;
    struct fetch *f;
    LIST_FOREACH(f, &d->k->fetches, in_all)
    {
        size_t n = 0;
        for (size_t i = 0; i < f->n_waiters; i++)
            if (f->waiters[i] != d)
                f->waiters[n++] = f->waiters[i]; /* the order is that of the answers */
        f->n_waiters = n;
    }
    sw_timer_free(d->timer);
    sw_err_done(&d->failure);
    free(d->api_version);
    free(d->kind);
    free(d);
}

static void finish(struct discovery *d)
{
    int code = d->failure.text ? d->failure.code : 0;
    kube_request_over(d->handle);
    if (d->goal == GOAL_KIND)
        d->on_kind(code, code ? NULL : sw_kube_kind_find(d->k, d->api_version, d->kind),
                   &d->failure, d->arg);
    else
        d->on_done(code, &d->failure, d->arg);
}

static void check_kind(struct discovery *d)
{
    if (!sw_kube_kind_find(d->k, d->api_version, d->kind)) {
        if (d->joined) { /* that document may be older than this discovery */
            need(d, DOC_VERSION, d->api_version, false);
            return;
        }
        const char *slash = strchr(d->api_version, '/');
        if (!d->group_asked && slash && !sw_kube_serves(d->k, d->api_version)) {
            SW_AUTO_CHARS *group = sw_strndup(d->api_version, (size_t)(slash - d->api_version));
            d->group_asked = true;
            need(d, DOC_GROUP, group, false);
            return;
        }
        kube_kinds_explain(d->k->kinds, d->api_version, d->kind, &d->failure);
    }
    finish(d);
}

static void check_all(struct discovery *d)
{
    if (d->versions_asked || !d->lacks_kinds) {
        finish(d);
        return;
    }
    d->versions_asked = true;
    d->n_open++; /* not done before all are asked for */
    const char *version;
    for (size_t i = 0; (version = kube_kinds_version_at(d->k->kinds, i)); i++)
        need(d, DOC_VERSION, version, false);
    d->n_open--;
    check_done(d);
}

/** Continue when all documents have arrived. */
static void check_done(struct discovery *d)
{
    if (d->n_open)
        return;
    if (d->failure.text)
        finish(d);
    else if (d->goal == GOAL_KIND)
        check_kind(d);
    else if (d->goal == GOAL_ALL)
        check_all(d);
    else if (d->goal == GOAL_VERSION && !sw_kube_serves(d->k, d->api_version)) {
        (void)sw_err_set(&d->failure, SW_NOTFOUND, "'%s' is not served by this cluster",
                         d->api_version);
        finish(d);
    } else {
        finish(d);
    }
}

static void on_timer(void *arg)
{
    struct discovery *d = arg;
    struct sw_http *http = d->k->http;
    sw_http_enter(http);
    finish(d);
    sw_http_leave(http);
}

static struct discovery *discovery_new(struct sw_kube *k, enum goal goal, const char *api_version,
                                       void *arg)
{
    struct discovery *d = sw_zalloc(1, sizeof *d);
    *d = (struct discovery){ .k = k, .goal = goal, .arg = arg };
    d->api_version = sw_strdup(api_version);
    d->handle = kube_request_new_group(k, discovery_free, d);
    return d;
}

/** An apiVersion becomes part of a path: anything else is refused. */
static bool is_api_version(const char *s)
{
    const char *slash = strchr(s, '/');
    if (slash && (slash == s || !slash[1] || strchr(slash + 1, '/')))
        return false;
    return s[0] && s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789.-/")] == '\0';
}

static void finish_soon(struct discovery *d)
{
    d->timer = sw_timer_new(d->k->loop, on_timer, d);
    sw_timer_set(d->timer, 0);
}

struct sw_kube_request *sw_kube_kind(struct sw_kube *k, const char *api_version, const char *kind,
                                     sw_kube_kind_fn *cb, void *arg)
{
    struct discovery *d = discovery_new(k, GOAL_KIND, api_version, arg);
    d->kind = sw_strdup(kind);
    d->on_kind = cb;
    if (!is_api_version(api_version) || !kind[0])
        (void)sw_err_set(&d->failure, SW_INVALID, "'%s' of '%s' is no kind's name", kind,
                         api_version);
    if (d->failure.text || sw_kube_kind_find(k, api_version, kind))
        finish_soon(d);
    else
        need(d, DOC_VERSION, api_version, false);
    return d->handle;
}

struct sw_kube_request *sw_kube_discover(struct sw_kube *k, const char *api_version,
                                         sw_kube_done_fn *cb, void *arg)
{
    enum goal goal = !api_version                 ? GOAL_GROUPS
                     : sw_streq(api_version, "*") ? GOAL_ALL
                                                  : GOAL_VERSION;
    struct discovery *d = discovery_new(k, goal, api_version ? api_version : "", arg);
    d->on_done = cb;
    if (goal == GOAL_VERSION && !is_api_version(api_version)) {
        (void)sw_err_set(&d->failure, SW_INVALID, "'%s' is no apiVersion", api_version);
        finish_soon(d);
    } else if (goal == GOAL_VERSION) {
        need(d, DOC_VERSION, api_version, false);
    } else {
        need(d, DOC_CORE, "", goal == GOAL_ALL);
        need(d, DOC_GROUPS, "", goal == GOAL_ALL);
    }
    return d->handle;
}
