/* Objects of OpenShift that facts are made of are watched only when a recipe mentions the facts. A
 * plan waits until they are known, so that nothing is rendered without them first. */
#include "operator/controller/private.h"

#include <stdlib.h>

/* The watch of one of sw_facts_sources. */
struct fact_watch {
    struct sw_controller *c;
    struct sw_kube_watch *watch;
    bool known; /* the object was read, or cannot be */
};

static size_t source_count(void)
{
    size_t n = 0;
    while (sw_facts_sources[n].kind)
        n++;
    return n;
}

static void on_source(const struct sw_watch_event *w, void *arg)
{
    struct fact_watch *s = arg;
    struct sw_controller *c = s->c;
    size_t i = (size_t)(s - c->own->fact_watches);
    bool there = w->type == SW_WATCH_ADDED || w->type == SW_WATCH_MODIFIED;
    if ((there || w->type == SW_WATCH_DELETED) &&
        sw_facts_put_source(c->facts, i, there ? w->object : NULL) && s->known)
        facts_changed(c);
    if (!s->known && watch_is_final(w)) {
        s->known = true;
        plan_resume_all(c);
    }
}

/* Watch source @i, if it is not. @return whether its object is known */
static bool watch_source(struct sw_controller *c, size_t i)
{
    const struct sw_facts_source *from = &sw_facts_sources[i];
    const struct sw_kind *kind = sw_kube_kind_find(c->kube, from->api_version, from->kind);
    if (!c->own->fact_watches)
        c->own->fact_watches = sw_zalloc(source_count(), sizeof *c->own->fact_watches);
    struct fact_watch *s = &c->own->fact_watches[i];
    if (!kind) /* it is not served; or this is not known yet */
        return sw_kube_kinds_known(c->kube, from->api_version);
    if (!s->watch) {
        s->c = c;
        s->watch = sw_kube_watch_open(
            c->kube, kind, WATCH_OWN(FACTS, .ns = from->ns, .name = from->name), on_source, s);
    }
    return s->known;
}

bool fact_source_ready(struct sw_controller *c, const char *word)
{
    bool ready = true, openshift = cluster_is_openshift(c);
    for (size_t i = 0; openshift && sw_facts_sources[i].kind; i++)
        for (const char *const *w = sw_facts_sources[i].values; *w; w++)
            if (sw_streq(*w, word))
                ready &= watch_source(c, i);
    return ready;
}

bool fact_watches_ready(struct resource *r)
{
    bool ready = true, openshift = cluster_is_openshift(r->c);
    if (!kinds_ready(r))
        return false;
    for (size_t i = 0; openshift && sw_facts_sources[i].kind; i++)
        if (resource_mentions(r, sw_facts_sources[i].values))
            ready &= watch_source(r->c, i);
    return capabilities_facts_ready(r, ready);
}

void fact_watches_close(struct sw_controller *c)
{
    for (size_t i = 0; c->own->fact_watches && i < source_count(); i++)
        sw_kube_watch_close(c->own->fact_watches[i].watch);
    free(c->own->fact_watches);
}
