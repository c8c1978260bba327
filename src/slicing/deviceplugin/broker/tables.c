/* The broker's tables: pods, claims, grants, calls that wait, and the queue of actions. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "slicing/deviceplugin/broker/broker_internal.h"

/* ---- memory ------------------------------------------------------------------------------------
 */

void dp_ref_done(struct dp_ref *ref)
{
    free(SW_TAKE(ref->ns));
    free(SW_TAKE(ref->name));
    free(SW_TAKE(ref->uid));
}

struct dp_ref dp_ref_copy(const struct dp_ref *ref)
{
    return (struct dp_ref){ sw_strdup(ref->ns), sw_strdup(ref->name), sw_strdup(ref->uid) };
}

static void free_texts(char **texts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(texts[i]);
    free(texts);
}

static char **copy_texts(const char *const *texts, size_t n)
{
    char **out = sw_zalloc(n + 1, sizeof *out);
    for (size_t i = 0; i < n; i++)
        out[i] = sw_strdup(texts[i]);
    return out;
}

void dp_pod_free(struct dp_pod *pod)
{
    if (!pod)
        return;
    for (size_t i = 0; i < pod->n_containers; i++) {
        free(pod->containers[i].name);
        free(pod->containers[i].requests);
    }
    free(pod->containers);
    dp_ref_done(&pod->ref);
    free(pod);
}

void dp_claim_free(struct dp_claim *claim)
{
    if (!claim)
        return;
    free(claim->ns);
    free(claim->name);
    free(claim->gpu);
    dp_ref_done(&claim->pod);
    free(claim);
}

struct dp_grant *dp_grant_new(void)
{
    struct dp_grant *g = sw_zalloc(1, sizeof *g);
    g->mps.threads = -1;
    return g;
}

void dp_grant_free(struct dp_grant *grant)
{
    if (!grant)
        return;
    for (size_t i = 0; i < grant->n_slices; i++) {
        struct dp_slice *s = &grant->slices[i];
        free(s->claim_ns);
        free(s->claim);
        free(s->gpu);
        free(s->uuid);
        free(s->old_uuid);
    }
    for (size_t i = 0; i < grant->n_devices; i++) {
        free(grant->devices[i].request);
        free(grant->devices[i].group);
        free(grant->devices[i].name);
        free(grant->devices[i].gpu);
    }
    for (size_t i = 0; i < grant->n_settings; i++)
        free(grant->settings[i].gpu);
    for (size_t i = 0; i < grant->mps.n_limits; i++)
        free(grant->mps.limits[i].device);
    dp_grant_unserve(grant);
    dp_grant_free(grant->follower);
    free(grant->settings);
    free(grant->mps.limits);
    free(grant->devices);
    free(grant->slices);
    dp_ref_done(&grant->pod);
    dp_ref_done(&grant->claim);
    free(grant->id);
    free(grant->cdi);
    free(grant->container);
    free(grant->boot_id);
    free(grant->why);
    free(grant);
}

struct dp_slice *dp_grant_add_slice(struct dp_grant *grant)
{
    grant->slices = sw_realloc(grant->slices, grant->n_slices + 1, sizeof *grant->slices);
    struct dp_slice *s = &grant->slices[grant->n_slices++];
    *s = (struct dp_slice){ 0 };
    return s;
}

void dp_grant_add_device(struct dp_grant *grant, const char *request, const char *group,
                         const char *name, const char *gpu, size_t slice)
{
    grant->devices = sw_realloc(grant->devices, grant->n_devices + 1, sizeof *grant->devices);
    grant->devices[grant->n_devices++] = (struct dp_device){ .request = sw_strdup(request),
                                                             .group = sw_strdup(group),
                                                             .name = sw_strdup(name),
                                                             .gpu = sw_strdup(gpu),
                                                             .slice = slice };
}

void dp_grant_add_setting(struct dp_grant *grant, enum dp_setting_kind kind, const char *gpu,
                          unsigned value)
{
    grant->settings = sw_realloc(grant->settings, grant->n_settings + 1, sizeof *grant->settings);
    grant->settings[grant->n_settings++] =
        (struct dp_setting){ .kind = kind, .gpu = sw_strdup(gpu), .value = value };
}

void dp_grant_add_limit(struct dp_grant *grant, const char *device, int64_t mib)
{
    struct dp_mps *m = &grant->mps;
    m->limits = sw_realloc(m->limits, m->n_limits + 1, sizeof *m->limits);
    m->limits[m->n_limits++] = (struct dp_mps_limit){ sw_strdup(device), mib };
}

void dp_grant_serve(struct dp_grant *grant, const char *profile, const char *const *ids,
                    size_t n_ids)
{
    grant->served = sw_realloc(grant->served, grant->n_served + 1, sizeof *grant->served);
    struct dp_served *s = &grant->served[grant->n_served++];
    *s = (struct dp_served){ .ids = copy_texts(ids, n_ids), .n_ids = n_ids };
    (void)strncpy(s->profile, profile, sizeof s->profile - 1);
}

void dp_grant_unserve(struct dp_grant *grant)
{
    for (size_t i = 0; i < grant->n_served; i++)
        free_texts(grant->served[i].ids, grant->served[i].n_ids);
    free(SW_TAKE(grant->served));
    grant->n_served = 0;
}

void waiting_free(struct waiting *w)
{
    LIST_REMOVE(w, link);
    free_texts(w->ids, w->n_ids);
    free(w);
}

struct waiting *waiting_new(struct waiting_list *list, uint64_t ticket, const char *profile,
                            const char *const *ids, size_t n_ids)
{
    struct waiting *w = sw_zalloc(1, sizeof *w), *last = NULL, *at;
    w->ticket = ticket;
    w->ids = copy_texts(ids, n_ids);
    w->n_ids = n_ids;
    (void)strncpy(w->profile, profile, sizeof w->profile - 1);
    LIST_FOREACH(at, list, link)
    last = at;
    if (last) /* who came first is served first */
        LIST_INSERT_AFTER(last, w, link);
    else
        LIST_INSERT_HEAD(list, w, link);
    return w;
}

/* ---- actions -----------------------------------------------------------------------------------
 */

struct dp_action *broker_act(struct dp_broker *b, enum dp_act act)
{
    struct dp_action *a = sw_zalloc(1, sizeof *a);
    a->act = act;
    STAILQ_INSERT_TAIL(&b->actions, a, link);
    return a;
}

struct dp_action *broker_log(struct dp_broker *b, int code, const char *fmt, ...)
{
    struct dp_action *a = broker_act(b, DP_ACT_LOG);
    va_list ap;
    va_start(ap, fmt);
    a->message = sw_vprintf(fmt, ap);
    va_end(ap);
    a->code = code;
    return a;
}

struct dp_action *dp_broker_next(struct dp_broker *b)
{
    struct dp_action *a = STAILQ_FIRST(&b->actions);
    if (a)
        STAILQ_REMOVE_HEAD(&b->actions, link);
    return a;
}

void dp_action_free(struct dp_action *a)
{
    if (!a)
        return;
    free(a->grant_id);
    free(a->message);
    dp_ref_done(&a->ref);
    free(a);
}

/* ---- finding -----------------------------------------------------------------------------------
 */

struct dp_pod *broker_pod(const struct dp_broker *b, const char *uid)
{
    struct dp_pod *p;
    LIST_FOREACH(p, &b->pods, link)
    if (sw_streq(p->ref.uid, uid))
        return p;
    return NULL;
}

struct dp_pod *broker_pod_named(const struct dp_broker *b, const char *ns, const char *name)
{
    struct dp_pod *p;
    LIST_FOREACH(p, &b->pods, link)
    if (sw_streq(p->ref.ns, ns) && sw_streq(p->ref.name, name))
        return p;
    return NULL;
}

struct dp_grant *dp_broker_grant(const struct dp_broker *b, const char *id)
{
    struct dp_grant *g;
    LIST_FOREACH(g, &b->grants, link)
    if (sw_streq(g->id, id))
        return g;
    return NULL;
}

struct dp_claim *dp_broker_claim(const struct dp_broker *b, const char *ns, const char *name)
{
    struct dp_claim *c;
    LIST_FOREACH(c, &b->claims, link)
    if (sw_streq(c->name, name) && sw_streq(c->ns, ns))
        return c;
    return NULL;
}

int64_t broker_backoff_ms(unsigned n_failed)
{
    int64_t ms = RETRY_FIRST_MS;
    for (unsigned i = 1; i < n_failed && ms < RETRY_MOST_MS; i++)
        ms *= 2;
    return ms < RETRY_MOST_MS ? ms : RETRY_MOST_MS;
}
