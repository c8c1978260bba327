#include "operator/controller/upgrades/drain.h"

#include "operator/controller/core.h"
#include "operator/engine/upgrade/upgrade.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { AGAIN_MS = 5000 };

/* A pod that is to be evicted. */
struct victim {
    struct drain *d;
    struct victim *next;
    char *ns, *name, *uid;
    char *refusal; /* why it may not be evicted; or NULL */
    bool is_terminating;
    bool is_forbidden; /* the resource's account may not evict it */
    struct sw_kube_request *req;
    int64_t again_ms; /* no request is sent before */
    char *message;    /* the server's, of a failure; or NULL */
};

struct drain {
    struct sw_controller *c;
    struct resource *r; /* for which the node is emptied, and as whose account */
    char *selector;     /* of the policy */
    struct sw_upgrade_policy policy;
    char self[256];
    struct sw_kube_watch *watch;
    struct sw_timer *timer;
    struct victim *victims;
    bool synced, beta;
    char *message;
    void (*changed)(void *arg);
    void *arg;
};

/* ---- victims -----------------------------------------------------------------------------------
 */

static struct victim **find(struct drain *d, const char *ns, const char *name)
{
    struct victim **at = &d->victims;
    while (*at && !(sw_streq((*at)->name, name) && sw_streq((*at)->ns, ns)))
        at = &(*at)->next;
    return at;
}

static void drop(struct victim **at)
{
    struct victim *v = *at;
    *at = v->next;
    sw_kube_cancel(v->req);
    free(v->ns);
    free(v->name);
    free(v->uid);
    free(v->refusal);
    free(v->message);
    free(v);
}

static void put(struct drain *d, struct json_object *pod)
{
    const char *ns = sw_obj_namespace(pod), *name = sw_obj_name(pod);
    struct victim **at = find(d, ns, name);
    const char *why = sw_upgrade_eviction(pod, &d->policy, d->c->ns, d->self);
    if (*at && (!why || !sw_streq((*at)->uid, sw_obj_uid(pod))))
        drop(at);
    if (!why)
        return;
    if (!*at) {
        *at = sw_zalloc(1, sizeof **at);
        **at = (struct victim){
            .d = d, .ns = sw_strdup(ns), .name = sw_strdup(name), .uid = sw_strdup(sw_obj_uid(pod))
        };
    }
    free((*at)->refusal);
    (*at)->refusal = *why ? sw_strdup(why) : NULL;
    (*at)->is_terminating = sw_json_find(pod, "metadata", "deletionTimestamp", NULL) != NULL;
}

/* ---- evicting ----------------------------------------------------------------------------------
 */

static void go_on(struct drain *d);

static void on_evicted(const struct sw_kube_answer *a, void *arg)
{
    struct victim *v = arg;
    struct drain *d = v->d;
    v->req = NULL;
    if (a->code == 0) {
        v->is_terminating = true; /* its end comes through the watch */
    } else if (a->code == SW_NOTFOUND) {
        drop(find(d, v->ns, v->name));
    } else if (a->code == SW_INVALID && !d->beta) {
        d->beta = true; /* servers before 1.22 serve policy/v1beta1 only */
    } else {
        /* 429: a disruption budget is used up; it is tried again */
        v->is_forbidden = a->code == SW_FORBIDDEN;
        sw_text_set(&v->message, sw_err_text(a->err));
        v->again_ms = sw_loop_now_ms(d->c->loop) +
                      (a->retry_after_ms ? a->retry_after_ms : AGAIN_MS);
    }
    go_on(d);
    d->changed(d->arg);
}

static void evict(struct victim *v, const struct sw_kind *pods)
{
    struct drain *d = v->d;
    struct json_object *body = json_object_new_object();
    sw_json_set_str(body, d->beta ? "policy/v1beta1" : "policy/v1", "apiVersion", NULL);
    sw_json_set_str(body, "Eviction", "kind", NULL);
    sw_json_set_str(body, v->name, "metadata", "name", NULL);
    sw_json_set_str(body, v->ns, "metadata", "namespace", NULL);
    /* 0 is force: the pod is gone from the API before its node has ended it */
    if (d->policy.grace_s > 0 || (d->policy.grace_s == 0 && !d->policy.force_forbidden))
        sw_json_set(body, json_object_new_int64(d->policy.grace_s), "deleteOptions",
                    "gracePeriodSeconds", NULL);
    sw_json_set_str(body, v->uid, "deleteOptions", "preconditions", "uid", NULL);
    v->req = sw_kube_create(d->c->kube, pods, v->ns, v->name, body,
                            REQUEST_AS(d->r, .subresource = "eviction"), on_evicted, v);
    json_object_put(body);
}

static void go_on(struct drain *d)
{
    const struct sw_kind *pods = sw_kube_kind_find(d->c->kube, "v1", "Pod");
    int64_t now_ms = sw_loop_now_ms(d->c->loop), next_ms = 0;
    if (!d->synced || drain_is_refused(d) || !pods)
        return;
    for (struct victim *v = d->victims; v; v = v->next) {
        if (v->is_terminating || v->req)
            continue;
        if (v->again_ms <= now_ms)
            evict(v, pods);
        else if (!next_ms || v->again_ms < next_ms)
            next_ms = v->again_ms;
    }
    if (next_ms)
        sw_timer_set(d->timer, next_ms - now_ms);
}

static void on_timer(void *arg)
{
    go_on(arg);
}

static void on_pod(const struct sw_watch_event *w, void *arg)
{
    struct drain *d = arg;
    struct victim **at;
    switch (w->type) {
    case SW_WATCH_ADDED:
    case SW_WATCH_MODIFIED:
        put(d, w->object);
        break;
    case SW_WATCH_DELETED:
        at = find(d, w->ns, w->name);
        if (*at)
            drop(at);
        break;
    case SW_WATCH_SYNCED:
        d->synced = true;
        break;
    case SW_WATCH_ERROR:
        return; /* the watch retries; the upgrade has a deadline */
    }
    if (!d->synced)
        return;
    go_on(d);
    d->changed(d->arg);
}

/* ---- the drain ---------------------------------------------------------------------------------
 */

struct drain *drain_open(struct resource *r, const char *node,
                         const struct sw_upgrade_policy *policy, void (*changed)(void *arg),
                         void *arg)
{
    struct sw_controller *c = r->c;
    const struct sw_kind *pods = sw_kube_kind_find(c->kube, "v1", "Pod");
    SW_AUTO_CHARS *field = sw_printf("spec.nodeName=%s", node);
    const char *minor = c->kube_version ? strchr(c->kube_version, '.') : NULL;
    struct drain *d = sw_zalloc(1, sizeof *d);
    *d = (struct drain){ .c = c,
                         .r = r,
                         .policy = *policy,
                         .selector = sw_strdup(policy->pod_selector),
                         .beta = minor && strtol(minor + 1, NULL, 10) < 22,
                         .changed = changed,
                         .arg = arg };
    d->policy.pod_selector = d->selector;
    if (gethostname(d->self, sizeof d->self - 1) < 0)
        d->self[0] = '\0';
    d->timer = sw_timer_new(c->loop, on_timer, d);
    if (pods)
        d->watch = sw_kube_watch_open(c->kube, pods, WATCH_OWN(OBJECTS, .field_selector = field),
                                      on_pod, d);
    return d;
}

void drain_close(struct drain *d)
{
    if (!d)
        return;
    sw_kube_watch_close(d->watch);
    while (d->victims)
        drop(&d->victims);
    sw_timer_free(d->timer);
    free(d->selector);
    free(d->message);
    free(d);
}

bool drain_is_done(const struct drain *d)
{
    return d->synced && !d->victims;
}

bool drain_is_refused(const struct drain *d)
{
    for (const struct victim *v = d->victims; v; v = v->next)
        if ((v->refusal || v->is_forbidden) && !v->is_terminating)
            return d->synced;
    return false;
}

/* Which of the pods is worth a word: one that may not be evicted first. */
static int rank_of(const struct victim *v)
{
    return v->refusal || v->is_forbidden ? 2 : v->message != NULL;
}

const char *drain_message(struct drain *d)
{
    size_t n = 0;
    const struct victim *first = NULL;
    for (const struct victim *v = d->victims; v; v = v->next) {
        n++;
        int rank = rank_of(v), best = first ? rank_of(first) : -1;
        first = rank > best ? v : first;
    }
    free(d->message);
    d->message = first ? sw_printf("%zu pod%s still there: pod %s/%s%s%s", n,
                                   n == 1 ? " is" : "s are", first->ns, first->name,
                                   first->refusal || first->message ? ": " : "",
                                   first->refusal   ? first->refusal
                                   : first->message ? first->message
                                                    : "")
                       : sw_strdup("");
    return d->message;
}
