/* Hooks of an install that SRO has run: a ConfigMap says so for each event. They are not run again
 * where slipway takes its place before it has recorded a release. */
#include "operator/controller/releases/releases.h"
#include "operator/release/hooks.h"

static void read_next(struct resource *r);

static void on_marker(const struct sw_kube_answer *a, void *arg)
{
    struct resource *r = arg;
    struct releases *s = releases_of(r);
    s->marker_req = NULL;
    if (a->code == 0 && sw_hook_marker_is_of(a->object, r->uid))
        s->sro_ran |= sw_hook_markers[s->n_markers].event;
    else if (a->code == SW_UNAVAILABLE)
        sw_log(SW_LOG_WARN, "hooks of SRO", "resource", r->name, "error", sw_err_text(a->err),
               NULL);
    s->n_markers++; /* one that the account may not read is none */
    read_next(r);
}

static void read_next(struct resource *r)
{
    struct releases *s = releases_of(r);
    const struct sw_kind *kind = sw_kube_kind_find(r->c->kube, "v1", "ConfigMap");
    const char *name = sw_hook_markers[s->n_markers].name;
    if (name && kind)
        s->marker_req = sw_kube_get(r->c->kube, kind, resource_namespace(r), name,
                                    REQUEST_AS(r, .retries = 8), on_marker, r);
    else
        plan_resume(r);
}

static void skip(struct releases *s)
{
    while (sw_hook_markers[s->n_markers].name)
        s->n_markers++;
}

bool sro_hooks_known(struct resource *r)
{
    struct releases *s = releases_of(r);
    if (!r->status) /* nobody has worked on it */
        skip(s);
    if (s->was_deployed || !sw_hook_markers[s->n_markers].name ||
        !sw_recipe_view_mentions(r->recipe, "helm.sh/hook") ||
        !sw_kube_kind_find(r->c->kube, "v1", "ConfigMap"))
        return true;
    if (!s->marker_req)
        read_next(r);
    return false;
}
