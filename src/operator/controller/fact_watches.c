/* Facts that only some recipes need are watched only when a recipe mentions them: single objects of
 * an OpenShift. A plan waits until they are known, so that nothing is rendered with gaps first. */
#include "operator/controller/private.h"

#include <stdlib.h>
#include <string.h>

/* One of sw_facts_sources. */
struct source_watch {
    struct sw_controller *c;
    struct sw_kube_watch *watch;
    bool known; /* what is there was told, or cannot be */
};

static size_t source_count(void)
{
    size_t n = 0;
    while (sw_facts_sources[n].kind)
        n++;
    return n;
}

static bool is_final(const struct sw_watch_event *w)
{
    return w->type == SW_WATCH_SYNCED ||
           (w->type == SW_WATCH_ERROR && w->code != SW_UNAVAILABLE && w->code != SW_GONE);
}

static void on_source(const struct sw_watch_event *w, void *arg)
{
    struct source_watch *s = arg;
    struct sw_controller *c = s->c;
    bool there = w->type == SW_WATCH_ADDED || w->type == SW_WATCH_MODIFIED;
    bool told = there || w->type == SW_WATCH_DELETED;
    if (told &&
        sw_facts_put_source(c->facts, (size_t)(s - c->own->fact_watches),
                            there ? w->object : NULL) &&
        s->known)
        facts_changed(c);
    if (is_final(w) && !s->known) {
        s->known = true;
        plan_resume_all(c);
    }
}

/* @return whether it is known what the source says. */
static bool want_source(struct sw_controller *c, size_t i)
{
    const struct sw_facts_source *from = &sw_facts_sources[i];
    struct source_watch *s = &c->own->fact_watches[i];
    const struct sw_kind *kind = sw_kube_kind_find(c->kube, from->api_version, from->kind);
    if (!kind) /* nobody can say, or not yet */
        return sw_kube_kinds_known(c->kube, from->api_version);
    if (!s->watch) {
        s->c = c;
        s->watch = sw_kube_watch_open(c->kube, kind,
                                      &(struct sw_watch_opts){ .ns = from->ns, .name = from->name },
                                      on_source, s);
    }
    return s->known;
}

bool fact_source_ready(struct sw_controller *c, const char *word)
{
    bool ready = true;
    if (!cluster_is_openshift(c))
        return true;
    if (!c->own->fact_watches)
        c->own->fact_watches = sw_zalloc(source_count(), sizeof *c->own->fact_watches);
    for (size_t i = 0; sw_facts_sources[i].kind; i++)
        for (const char *const *w = sw_facts_sources[i].values; *w; w++)
            if (sw_streq(*w, word))
                ready &= want_source(c, i);
    return ready;
}

bool fact_watches_ready(struct resource *r)
{
    struct sw_controller *c = r->c;
    bool ready = true;
    if (!kinds_ready(r))
        return false;
    if (cluster_is_openshift(c)) {
        if (!c->own->fact_watches)
            c->own->fact_watches = sw_zalloc(source_count(), sizeof *c->own->fact_watches);
        for (size_t i = 0; sw_facts_sources[i].kind; i++)
            if (resource_mentions(r, sw_facts_sources[i].values))
                ready &= want_source(c, i);
    }
    return capabilities_facts_ready(r, ready);
}

void fact_watches_close(struct sw_controller *c)
{
    for (size_t i = 0; c->own->fact_watches && i < source_count(); i++)
        sw_kube_watch_close(c->own->fact_watches[i].watch);
    free(c->own->fact_watches);
}
