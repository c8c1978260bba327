/* What the server serves, kept up to date: a CRD that came, changed or went has its own group
 * versions asked for anew, and no others. A cluster has dozens of them, an operator brings ten
 * CRDs.
 */
#include "controller/internal.h"

#include <stdlib.h>
#include <string.h>

enum { ALL_AT_ONCE = 16, RETRY_MS = 1000, MOST_TRIES = 60 };

/* One group version that a CRD speaks of. */
struct stale {
    struct sw_controller *c;
    struct stale *next;
    char *api_version; /* "*": everything */
    bool awaited;      /* a CRD says that it is served */
    unsigned n_tries;
    struct sw_kube_request *req;
};

static void ask(struct stale *s);

static bool is_asking(const struct sw_controller *c)
{
    for (const struct stale *s = c->stale; s; s = s->next)
        if (s->req)
            return true;
    return false;
}

static void stale_free(struct stale *s)
{
    sw_kube_cancel(s->req);
    free(s->api_version);
    free(s);
}

static void forget(struct stale *s)
{
    struct stale **at = &s->c->stale;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    stale_free(s);
}

static void on_discovered(int code, const struct sw_err *err, void *arg)
{
    struct stale *s = arg;
    struct sw_controller *c = s->c;
    s->req = NULL;
    if (code < 0 && code != SW_NOTFOUND) /* not served any more is an answer */
        sw_log(SW_LOG_DEBUG, "discovery failed", "api", s->api_version, "error",
               err ? sw_err_text(err) : "", NULL);
    /* a server that is busy calls a CRD established before it serves it */
    const bool early = code == SW_NOTFOUND && s->awaited && ++s->n_tries < MOST_TRIES;
    if (code == SW_UNAVAILABLE || early)
        sw_timer_set(c->kinds_timer, RETRY_MS);
    else
        forget(s);
    if (!is_asking(c))
        cluster_kinds_changed(c);
}

static void ask(struct stale *s)
{
    if (!s->req)
        s->req = sw_kube_discover(s->c->kube, s->api_version, on_discovered, s);
}

static void on_kinds_timer(void *arg)
{
    struct sw_controller *c = arg;
    for (struct stale *s = c->stale; s; s = s->next)
        ask(s);
}

static void add(struct sw_controller *c, const char *api_version, bool awaited)
{
    size_t n = 0;
    for (struct stale *s = c->stale; s; s = s->next, n++) {
        if (!sw_streq(s->api_version, api_version))
            continue;
        s->awaited = awaited;
        s->n_tries = 0;
        if (!s->req)
            return;
        /* the answer on its way may be older than this change */
        sw_kube_cancel(SW_TAKE(s->req));
        sw_timer_set(c->kinds_timer, 0);
        return;
    }
    struct stale *s = sw_zalloc(1, sizeof *s);
    *s = (struct stale){ .c = c,
                         .next = c->stale,
                         .awaited = awaited,
                         .api_version = sw_strdup(n < ALL_AT_ONCE ? api_version : "*") };
    c->stale = s;
    sw_timer_set(c->kinds_timer, 0);
}

static bool is_established(struct json_object *crd)
{
    struct json_object *c = sw_obj_condition(crd, "Established");
    return sw_streq(sw_json_str(c, "", "status", NULL), "True");
}

void kinds_crd_changed(struct sw_controller *c, struct json_object *crd, bool gone)
{
    struct json_object *versions = sw_json_find(crd, "spec", "versions", NULL);
    const char *kind = sw_json_str(crd, "", "spec", "names", "kind", NULL);
    const char *group = sw_json_str(crd, "", "spec", "group", NULL);
    if (gone && !*group) { /* its deletion was missed, and with it what it was */
        add(c, "*", false);
        return;
    }
    if (!gone && !is_established(crd))
        return;
    for (size_t i = 0; i < sw_json_len(versions); i++) {
        struct json_object *v = sw_json_at(versions, i);
        SW_AUTO_CHARS *api_version = sw_printf("%s/%s", group, sw_json_str(v, "", "name", NULL));
        bool served = !gone && sw_json_bool(v, false, "served", NULL);
        if (served == !sw_kube_kind_find(c->kube, api_version, kind))
            add(c, api_version, served);
    }
}

void kinds_open(struct sw_controller *c)
{
    c->kinds_timer = sw_timer_new(c->loop, on_kinds_timer, c);
}

void kinds_close(struct sw_controller *c)
{
    while (c->stale) {
        struct stale *s = c->stale;
        c->stale = s->next;
        stale_free(s);
    }
    sw_timer_free(c->kinds_timer);
}
