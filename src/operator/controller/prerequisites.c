/* Facts that only some recipes need are watched only when a recipe speaks of them: single objects
 * of an OpenShift, and the Secret that its builder pushes images with. A plan waits until they are
 * known, so that nothing is rendered with gaps first. */
#include "operator/controller/internal.h"

#include <stdlib.h>
#include <string.h>

/* One of sw_facts_sources. */
struct source_watch {
    struct sw_controller *c;
    struct sw_kube_watch *watch;
    bool known; /* what is there was told, or cannot be */
};

static const char *const secret_fields[] = { "type", NULL };

/* A template that hands all values on speaks of each of them. */
static const char *const whole_values[] = { ".Values }", ".Values)", ".Values |", ".Values -",
                                            NULL };

/* Does the recipe, or a template in the resource itself, speak of one of @words? */
static bool mentions(const struct resource *r, const char *const *words)
{
    const char *spec = resolve_is_needed(r->seen)
                           ? json_object_to_json_string(sw_json_get(r->seen, "spec"))
                           : "";
    for (; *words; words++)
        if (strstr(spec, *words) || (r->recipe && sw_recipe_mentions(r->recipe, *words)))
            return true;
    return false;
}

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

void wants_resume(struct sw_controller *c)
{
    for (struct resource *r = c->resources, *next; r; r = next) {
        next = r->next;
        plan_resume(r);
    }
}

static void on_source(const struct sw_watch_event *w, void *arg)
{
    struct source_watch *s = arg;
    struct sw_controller *c = s->c;
    bool there = w->type == SW_WATCH_ADDED || w->type == SW_WATCH_MODIFIED;
    bool told = there || w->type == SW_WATCH_DELETED;
    if (told && sw_facts_put_source(c->facts, (size_t)(s - c->sources), there ? w->object : NULL) &&
        s->known)
        cluster_facts_changed(c);
    if (is_final(w) && !s->known) {
        s->known = true;
        wants_resume(c);
    }
}

/* @return whether it is known what the source says. */
static bool want_source(struct sw_controller *c, size_t i)
{
    const struct sw_facts_source *from = &sw_facts_sources[i];
    struct source_watch *s = &c->sources[i];
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

static void on_secret(const struct sw_watch_event *w, void *arg)
{
    struct resource *r = arg;
    bool ours = w->name && sw_facts_is_push_secret(w->name);
    bool there = w->type == SW_WATCH_ADDED || w->type == SW_WATCH_MODIFIED;
    if (ours && there && !r->push_secret) {
        r->push_secret = sw_strdup(w->name);
        if (r->secrets_known)
            cluster_facts_changed(r->c);
    } else if (ours && w->type == SW_WATCH_DELETED && sw_streq(r->push_secret, w->name)) {
        free(SW_TAKE(r->push_secret));
    }
    if (is_final(w) && !r->secrets_known) {
        r->secrets_known = true;
        plan_resume(r);
    }
}

static bool want_secret(struct resource *r)
{
    const struct sw_kind *kind = sw_kube_kind_find(r->c->kube, "v1", "Secret");
    if (!r->secret_watch && kind)
        r->secret_watch = sw_kube_watch_open(
            r->c->kube, kind,
            &(struct sw_watch_opts){ .ns = resource_namespace(r), .fields = secret_fields },
            on_secret, r);
    return !kind || r->secrets_known;
}

bool wants_source_ready(struct sw_controller *c, const char *word)
{
    bool ready = true;
    if (!sw_kube_serves(c->kube, "config.openshift.io"))
        return true;
    if (!c->sources)
        c->sources = sw_zalloc(source_count(), sizeof *c->sources);
    for (size_t i = 0; sw_facts_sources[i].kind; i++)
        for (const char *const *w = sw_facts_sources[i].words; *w; w++)
            if (sw_streq(*w, word))
                ready &= want_source(c, i);
    return ready;
}

bool wants_ready(struct resource *r)
{
    static const char *const push_secret[] = { "pushSecretName", NULL };
    static const char *const toolkit[] = { "driverToolkitImage", "clusterUpgradeInfo", NULL };
    struct sw_controller *c = r->c;
    if (!kinds_ready(r))
        return false;
    if (!sw_kube_serves(c->kube, "config.openshift.io"))
        return true;
    if (!c->sources)
        c->sources = sw_zalloc(source_count(), sizeof *c->sources);
    bool all = mentions(r, whole_values), ready = true;
    for (size_t i = 0; sw_facts_sources[i].kind; i++)
        if (all || mentions(r, sw_facts_sources[i].words))
            ready &= want_source(c, i);
    if (all || mentions(r, push_secret))
        ready &= want_secret(r);
    if (ready && (all || mentions(r, toolkit)))
        ready = toolkits_ready(r);
    return ready;
}

void wants_close(struct sw_controller *c)
{
    for (size_t i = 0; c->sources && i < source_count(); i++)
        sw_kube_watch_close(c->sources[i].watch);
    free(c->sources);
}
