/* The Secret that OpenShift's builder pushes images with; it is watched only if the recipe mentions
 * it. */
#include "operator/controller/builds/builds.h"

#include <stdlib.h>

static const char *const secret_fields[] = { "type", NULL };

static void on_secret(const struct sw_watch_event *w, void *arg)
{
    struct builds *b = arg;
    bool is_push_secret = w->name && sw_facts_is_push_secret(w->name);
    bool there = w->type == SW_WATCH_ADDED || w->type == SW_WATCH_MODIFIED;
    if (is_push_secret && there && !b->push_secret) {
        b->push_secret = sw_strdup(w->name);
        if (b->secrets_known)
            facts_changed(b->r->c);
    } else if (is_push_secret && w->type == SW_WATCH_DELETED && sw_streq(b->push_secret, w->name)) {
        free(SW_TAKE(b->push_secret));
    }
    if (!b->secrets_known && watch_is_final(w)) {
        b->secrets_known = true;
        plan_resume(b->r);
    }
}

static const char *const value[] = { "pushSecretName", NULL };

static bool facts_ready(struct resource *r, bool so_far SW_UNUSED)
{
    struct builds *b = builds_of(r);
    const struct sw_kind *kind = sw_kube_kind_find(r->c->kube, "v1", "Secret");
    if (!cluster_is_openshift(r->c) || !resource_mentions(r, value))
        return true;
    if (!b->secret_watch && kind)
        b->secret_watch = sw_kube_watch_open(
            r->c->kube, kind,
            WATCH_OWN(FACTS, .ns = resource_namespace(r), .fields = secret_fields), on_secret, b);
    return !kind || b->secrets_known;
}

static void ask_values(struct resource *r, struct sw_facts_ask *ask)
{
    ask->push_secret = builds_of(r)->push_secret;
}

static void planned(struct resource *r, int code)
{
    if (code == 0)
        image_puller_open(builds_of(r));
}

static bool intent(struct resource *r, enum resource_intent intent)
{
    if (intent != INTENT_WALK)
        image_puller_close(builds_of(r));
    return true;
}

static void resource_open(struct resource *r)
{
    builds_of(r)->r = r;
}

static void resource_close(struct resource *r)
{
    struct builds *b = builds_of(r);
    sw_kube_watch_close(b->secret_watch);
    image_puller_close(b);
    free(b->push_secret);
}

const struct capability capability_builds = {
    .name = "builds",
    .summary = "OpenShift builds: the builder account may pull images; .Values.pushSecretName",
    .words = value,
    .resource_size = sizeof(struct builds),
    .resource_open = resource_open,
    .facts_ready = facts_ready,
    .ask_values = ask_values,
    .planned = planned,
    .intent = intent,
    .resource_close = resource_close,
};
