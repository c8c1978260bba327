/* The kinds that the server serves, kept up to date. When a CRD changes, only its own group
 * versions are discovered again: a cluster has dozens of others. A group version whose discovery
 * failed is discovered again until it succeeds; until then its kinds do not count as "not served".
 */
#include "operator/controller/private.h"

#include <stdlib.h>
#include <string.h>

enum { ALL_AT_ONCE = 16, RETRY_MS = 1000, RETRY_MAX_MS = 60000, MOST_TRIES = 60, LONG_MS = 8000 };

/* A kind that the server should serve soon, since its CRD is established. */
struct awaited {
    struct awaited *next;
    char *api_version, *kind;
};

/* A group version that is to be discovered again. */
struct stale {
    struct sw_controller *c;
    struct stale *next;
    char *api_version; /* "*": all group versions */
    struct awaited *awaited;
    unsigned n_tries;
    struct sw_kube_request *req;
};

static bool is_discovering(const struct sw_controller *c)
{
    for (const struct stale *s = c->own->stale; s; s = s->next)
        if (s->req)
            return true;
    return false;
}

/* Free the awaited kinds that are served now; @all: every one. */
static void drop_awaited(struct stale *s, bool all)
{
    struct awaited **at = &s->awaited;
    while (*at) {
        struct awaited *a = *at;
        if (!all && !sw_kube_kind_find(s->c->kube, a->api_version, a->kind)) {
            at = &a->next;
            continue;
        }
        *at = a->next;
        free(a->api_version);
        free(a->kind);
        free(a);
    }
}

static void stale_free(struct stale *s)
{
    struct stale **at = &s->c->own->stale;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    drop_awaited(s, true);
    sw_kube_cancel(s->req);
    free(s->api_version);
    free(s);
}

static bool is_doubtful(const struct sw_controller *c, const char *api_version)
{
    const char *name;
    for (size_t at = 0; (name = sw_kube_next_doubtful(c->kube, &at));)
        if (sw_streq(name, api_version))
            return true;
    return false;
}

static void on_discovered(int code, const struct sw_err *err, void *arg)
{
    struct stale *s = arg;
    struct sw_controller *c = s->c;
    s->req = NULL;
    if (code < 0 && code != SW_NOTFOUND) /* NOTFOUND: not served any more */
        sw_log(SW_LOG_DEBUG, "discovery failed", "api", s->api_version, "error",
               err ? sw_err_text(err) : "", NULL);
    /* a busy server establishes a CRD before it serves or lists its kind */
    drop_awaited(s, false);
    const bool early = s->awaited && ++s->n_tries < MOST_TRIES;
    if (code != SW_UNAVAILABLE && !early && !is_doubtful(c, s->api_version))
        stale_free(s);
    if (!is_discovering(c))
        c->own->on_kinds(c);
}

static void on_kinds_timer(void *arg)
{
    struct sw_controller *c = arg;
    for (struct stale *s = c->own->stale; s; s = s->next)
        if (!s->req)
            s->req = sw_kube_discover(c->kube, s->api_version, on_discovered, s);
}

/* @n: how many stand before it, or there are. */
static struct stale *find(struct sw_controller *c, const char *api_version, size_t *n)
{
    struct stale *s = c->own->stale;
    for (*n = 0; s && !sw_streq(s->api_version, api_version); s = s->next)
        ++*n;
    return s;
}

static struct stale *stale_new(struct sw_controller *c, const char *api_version)
{
    struct stale *s = sw_zalloc(1, sizeof *s);
    *s = (struct stale){ .c = c, .next = c->own->stale, .api_version = sw_strdup(api_version) };
    return c->own->stale = s;
}

/* Discover @api_version again, soon. @awaited: the kind that should be served; NULL: none. */
static void add(struct sw_controller *c, const char *api_version, const char *awaited)
{
    size_t n;
    struct stale *s = find(c, api_version, &n);
    if (!s && n >= ALL_AT_ONCE)
        s = find(c, "*", &n);
    if (s) /* its answer may be older than this change */
        sw_kube_cancel(SW_TAKE(s->req));
    else
        s = stale_new(c, n >= ALL_AT_ONCE ? "*" : api_version);
    if (awaited) {
        struct awaited *a = sw_zalloc(1, sizeof *a);
        *a = (struct awaited){ s->awaited, sw_strdup(api_version), sw_strdup(awaited) };
        s->awaited = a;
    }
    s->n_tries = 0;
    sw_timer_set(c->own->kinds_timer, 0);
}

void kinds_recheck(struct sw_controller *c)
{
    const char *name;
    size_t n;
    for (size_t at = 0; (name = sw_kube_next_doubtful(c->kube, &at));) {
        if (find(c, name, &n))
            continue;
        (void)stale_new(c, name);
        sw_log(SW_LOG_WARN, "the server lists a group version and does not say its kinds", "api",
               name, NULL);
    }
    if (!c->own->stale) {
        c->own->kinds_retry_ms = RETRY_MS;
    } else if (!is_discovering(c) && !sw_timer_is_set(c->own->kinds_timer)) {
        bool is_awaiting = false;
        for (const struct stale *s = c->own->stale; s; s = s->next)
            is_awaiting |= s->awaited != NULL;
        sw_timer_set(c->own->kinds_timer, is_awaiting ? RETRY_MS : c->own->kinds_retry_ms);
        c->own->kinds_retry_ms = c->own->kinds_retry_ms * 2 < RETRY_MAX_MS
                                     ? c->own->kinds_retry_ms * 2
                                     : RETRY_MAX_MS;
    }
}

/* A request for one kind has discovered others besides. */
static void on_news(void *arg)
{
    struct sw_controller *c = arg;
    if (!c->own->discovery && !is_discovering(c))
        c->own->on_kinds(c);
}

static void note_news(void *arg)
{
    struct sw_controller *c = arg;
    sw_timer_set(c->own->kinds_news, 0);
}

/* ---- is enough known? --------------------------------------------------------------------------
 */

/* What the controller itself reads; not every cluster serves all of it. */
static const char *const own_versions[] = {
    "v1",
    "rbac.authorization.k8s.io/v1",
    "apiextensions.k8s.io/v1",
    "config.openshift.io/v1",
    "image.openshift.io/v1",
    "operator.openshift.io/v1alpha1",
    SW_GROUP_VERSION,
};

/* A group version whose kinds @r needs and that are not known; NULL: none. */
static const char *unknown_for(const struct resource *r)
{
    struct sw_kube *kube = r->c->kube;
    const char *name;
    for (size_t at = 0; (name = sw_kube_next_doubtful(kube, &at));) {
        bool needed = r->recipe && sw_recipe_view_mentions(r->recipe, name);
        for (size_t i = 0; !needed && i < SW_COUNT(own_versions); i++)
            needed = sw_streq(own_versions[i], name);
        if (needed && !sw_kube_kinds_known(kube, name))
            return name;
    }
    return NULL;
}

bool kinds_ready(struct resource *r)
{
    return !unknown_for(r);
}

char *kinds_trouble(const struct resource *r)
{
    const char *name = r->c->own->kinds_retry_ms >= LONG_MS ? unknown_for(r) : NULL, *slash;
    if (!name)
        return NULL;
    slash = strchr(name, '/');
    if (!slash)
        return sw_printf("the API server does not say which kinds %s has", name);
    return sw_printf(
        "the recipe mentions %s, and the server of that API does not answer: kubectl get "
        "apiservice %s.%.*s",
        name, slash + 1, (int)(slash - name), name);
}

void kinds_crd_changed(struct sw_controller *c, struct json_object *crd, bool gone)
{
    struct json_object *versions = sw_json_find(crd, "spec", "versions", NULL);
    const char *kind = sw_json_str(crd, "", "spec", "names", "kind", NULL);
    const char *group = sw_json_str(crd, "", "spec", "group", NULL);
    if (gone && !*group) { /* it was deleted unseen: its group is not known */
        add(c, "*", NULL);
        return;
    }
    struct json_object *established = sw_obj_condition(crd, "Established");
    if (!gone && !sw_streq(sw_json_str(established, "", "status", NULL), "True"))
        return;
    for (size_t i = 0; i < sw_json_len(versions); i++) {
        struct json_object *v = sw_json_at(versions, i);
        SW_AUTO_CHARS *api_version = sw_printf("%s/%s", group, sw_json_str(v, "", "name", NULL));
        bool served = !gone && sw_json_bool(v, false, "served", NULL);
        if (served == !sw_kube_kind_find(c->kube, api_version, kind))
            add(c, api_version, served ? kind : NULL);
    }
}

bool kinds_are_awaited(const struct resource *r)
{
    for (const struct stale *s = r->c->own->stale; s; s = s->next)
        for (const struct awaited *a = s->awaited; a; a = a->next)
            if (r->recipe && sw_recipe_view_mentions(r->recipe, a->api_version))
                return true;
    return false;
}

void kinds_open(struct sw_controller *c, void (*on_changed)(struct sw_controller *c))
{
    c->own->on_kinds = on_changed;
    c->own->kinds_timer = sw_timer_new(c->loop, on_kinds_timer, c);
    c->own->kinds_news = sw_timer_new(c->loop, on_news, c);
    c->own->kinds_retry_ms = RETRY_MS;
    sw_kube_on_kinds(c->kube, note_news, c);
}

void kinds_close(struct sw_controller *c)
{
    while (c->own->stale)
        stale_free(SW_LINKED(c->own->stale));
    sw_kube_on_kinds(c->kube, NULL, NULL);
    sw_timer_free(c->own->kinds_timer);
    sw_timer_free(c->own->kinds_news);
}
