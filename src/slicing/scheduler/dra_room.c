/* Room is made for a pod and kept, one write after the other: nomination, claim, its allocation,
 * evictions. Each can be the last before a kill: what is there already is found again.
 *
 * A ResourceClaim in the pod's namespace, which the pod owns, is allocated what the pod is to get,
 * while the victims still hold it: so nothing of it is free for a moment before all of it is.
 * Taints of devices cannot do that: the claim that kube-scheduler makes of a pod's limits tolerates
 * none, and DeviceTaintRules are off by default. */
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "data/json/table.h"
#include "slicing/dra/dra.h"
#include "slicing/scheduler/dra_evictor.h"

enum {
    WRITE_MS = 10 * 1000,
    RIGHT_MS = 15 * 1000, /* until a write is tried again that was refused for want of a right */
};

struct dra_preemption {
    struct dra_evictor *e;
    struct evicted pod;
    char *node, *name; /* of the claim */
    struct json_object *devices;
    struct evicted *victims;
    char **to; /* where each of them finds its devices again; NULL: they are preempted */
    size_t n_victims, at;
    struct sw_kube_request *req;
};

static void free_evicted(struct evicted *v)
{
    free(v->uid);
    free(v->ns);
    free(v->name);
}

static void free_preemption(struct dra_preemption *m)
{
    sw_kube_cancel(m->req);
    free_evicted(&m->pod);
    for (size_t i = 0; i < m->n_victims; i++)
        free_evicted(&m->victims[i]);
    for (size_t i = 0; m->to && i < m->n_victims; i++)
        free(m->to[i]);
    free(m->to);
    free(m->victims);
    free(m->node);
    free(m->name);
    json_object_put(m->devices);
    free(m);
}

void dra_preemption_close(struct dra_evictor *e)
{
    if (e->preemption)
        free_preemption(SW_TAKE(e->preemption));
}

static void end(struct dra_preemption *m)
{
    struct dra_evictor *e = m->e;
    e->preemption = NULL;
    free_preemption(m);
    dra_check_soon(e);
}

static struct evicted copy_of(const struct pod *pod)
{
    return (struct evicted){ sw_strdup(pod->uid), sw_strdup(pod->ns), sw_strdup(pod->name) };
}

/* The pod still waits. */
static struct pod *pod_of(const struct dra_preemption *m)
{
    const struct dra_pod *p = dra_find_pod(m->e->view, m->pod.uid);
    return p && p->doc ? p->pod : NULL;
}

/* ---- what is refused ---------------------------------------------------------------------------
 * Nobody tells of a right that was granted: it is tried again, and said once.
 */

/* Source: who may write what a claim is allocated is checked as the object is validated
 * (resourceclaims/binding): that refusal is no 403. */
static bool lacks_right(const struct sw_kube_answer *a)
{
    return a->code == SW_FORBIDDEN ||
           (a->code == SW_INVALID && strstr(sw_err_text(a->err), " permission: "));
}

/* Nothing was made of it: it does not count as an attempt, and is tried again soon. */
static void try_again(struct dra_preemption *m, struct dra_wait *w)
{
    const int64_t at_ms = sw_loop_now_ms(m->e->s->loop) + RIGHT_MS;
    w->again_ms = at_ms;
    if (m->to) {
        w->moves_ms = m->e->moves_ms = at_ms;
        w->n_moves -= w->n_moves > 0;
    } else {
        w->n_made -= w->n_made > 0;
    }
}

/* Log @what, once for each pod and refusal; of a missing right tell the pod, too. */
static void refused(struct dra_preemption *m, const struct sw_kube_answer *a, const char *what)
{
    struct dra_wait *w = sw_table_find(m->e->waits, m->pod.uid);
    const char *why = sw_err_text(a->err);
    const uint64_t hash = sw_fnv64a(why, strlen(why));
    if (w && lacks_right(a))
        try_again(m, w);
    if (w && w->refused == hash)
        return;
    if (w)
        w->refused = hash;
    sw_log(SW_LOG_WARN, what, "pod", m->pod.name, "namespace", m->pod.ns, "error", why, NULL);
    if (!lacks_right(a))
        return;
    SW_AUTO_CHARS *message = sw_printf(
        "No room is made for its devices, as slipway-scheduler lacks "
        "a right; it is tried again: %s",
        why);
    sched_evict_event(m->e->s, &m->pod, "PreemptionRefused", message, 0);
}

/* ---- evictions ---------------------------------------------------------------------------------
 */

static void evict_next(struct dra_preemption *m);

/* Told once, by whom they know: the pod by name, its victims by the pod's. */
static void tell_pod(struct dra_preemption *m)
{
    SW_AUTO_CHARS *names = sw_strdup("");
    for (size_t i = 0; i < m->n_victims; i++) {
        char *more = i < 8 ? sw_printf("%s%s%s/%s", names, i ? ", " : "", m->victims[i].ns,
                                       m->victims[i].name)
                           : sw_printf("%s%s", names, i == 8 ? ", ..." : "");
        free(names);
        names = more;
    }
    SW_AUTO_CHARS *message = sw_printf("Room is made on node %s: evicted %s; the devices are kept "
                                       "for this pod",
                                       m->node, names);
    sched_evict_event(m->e->s, &m->pod, m->to ? "Defragmenting" : "Preempting", message, 0);
}

/* Told once that it is evicted. */
static void tell_victim(struct dra_preemption *m)
{
    const struct evicted *v = &m->victims[m->at];
    SW_AUTO_CHARS *message =
        m->to ? sw_printf("Evicted so that %s/%s gets its devices on node %s, as the annotation "
                          "" DRA_MAY_MOVE " allows; when this was decided there was room on %s",
                          m->pod.ns, m->pod.name, m->node, m->to[m->at])
              : sw_printf("Preempted by %s/%s on node %s, which needs its devices", m->pod.ns,
                          m->pod.name, m->node);
    sw_log(SW_LOG_INFO, m->to ? "pod moved for its devices" : "pod evicted for its devices", "pod",
           v->name, "namespace", v->ns, "for", m->pod.name, "node", m->node, NULL);
    sched_evict_event(m->e->s, v, m->to ? "Moved" : "Preempted", message, m->at);
}

static void on_evicted(const struct sw_kube_answer *a, void *arg)
{
    struct dra_preemption *m = arg;
    const struct evicted *v = &m->victims[m->at];
    struct sw_scheduler *s = m->e->s;
    m->req = NULL;
    if (a->code < 0 && a->code != SW_NOTFOUND && a->code != SW_CONFLICT) {
        /* A budget has been used up meanwhile, most likely. The room is kept, this node stays the
         * only one, and it is tried again, until it has lasted too long. */
        s->metrics.evictions_refused++;
        refused(m, a, "eviction refused, its room is kept");
        end(m);
        return;
    }
    if (a->code == 0) {
        *(m->to ? &s->metrics.moved : &s->metrics.evicted) += 1;
        tell_victim(m);
    }
    struct dra_pod *victim = dra_find_pod(m->e->view, v->uid);
    if (victim)
        victim->pod->leaving = true; /* until the watch says so */
    m->at++;
    evict_next(m);
}

static void evict_next(struct dra_preemption *m)
{
    if (m->at == m->n_victims || !pod_of(m)) {
        if (m->n_victims && m->at == m->n_victims)
            tell_pod(m);
        end(m);
        return;
    }
    m->req = sched_evict_send(m->e->s, &m->victims[m->at], on_evicted, m);
}

/* ---- the claim ---------------------------------------------------------------------------------
 */

static struct json_object *claim_document(const struct dra_preemption *m)
{
    struct json_object *doc = json_object_new_object(), *owner = json_object_new_object();
    struct json_object *request = json_object_new_object();
    sw_json_set_str(owner, "v1", "apiVersion", NULL);
    sw_json_set_str(owner, "Pod", "kind", NULL);
    sw_json_set_str(owner, m->pod.name, "name", NULL);
    sw_json_set_str(owner, m->pod.uid, "uid", NULL);
    sw_json_set_str(doc, "resource.k8s.io/v1", "apiVersion", NULL);
    sw_json_set_str(doc, "ResourceClaim", "kind", NULL);
    sw_json_set_str(doc, m->name, "metadata", "name", NULL);
    sw_json_set_str(doc, m->pod.ns, "metadata", "namespace", NULL);
    sw_json_set_str(doc, m->pod.uid, "metadata", "labels", DRA_ROOM_LABEL, NULL);
    json_object_array_add(sw_json_need_list(doc, "metadata", "ownerReferences", NULL), owner);
    sw_json_set_str(request, "room", "name", NULL);
    sw_json_set_str(request, SW_DRA_CLASS_MIG, "exactly", "deviceClassName", NULL);
    sw_json_set_str(request, "ExactCount", "exactly", "allocationMode", NULL);
    sw_json_set(request, json_object_new_int64((int64_t)sw_json_len(m->devices)), "exactly",
                "count", NULL);
    json_object_array_add(sw_json_need_list(doc, "spec", "devices", "requests", NULL), request);
    return doc;
}

/* A merge patch of the status: the devices, only those of the node's pool. */
static struct json_object *allocation_patch(const struct dra_preemption *m)
{
    static const char *const keys[] = { "driver", "pool", "device" };
    struct json_object *body = json_object_new_object(), *term = json_object_new_object();
    struct json_object *field = json_object_new_object();
    struct json_object *list = sw_json_need_list(body, "status", "allocation", "devices", "results",
                                                 NULL);
    for (size_t i = 0; i < sw_json_len(m->devices); i++) {
        struct json_object *result = json_object_new_object();
        sw_json_set_str(result, "room", "request", NULL);
        for (size_t k = 0; k < SW_COUNT(keys); k++)
            sw_json_set_str(result, sw_json_str(sw_json_at(m->devices, i), "", keys[k], NULL),
                            keys[k], NULL);
        json_object_array_add(list, result);
    }
    sw_json_set_str(field, "metadata.name", "key", NULL);
    sw_json_set_str(field, "In", "operator", NULL);
    json_object_array_add(sw_json_need_list(field, "values", NULL),
                          json_object_new_string(m->node));
    json_object_array_add(sw_json_need_list(term, "matchFields", NULL), field);
    json_object_array_add(
        sw_json_need_list(body, "status", "allocation", "nodeSelector", "nodeSelectorTerms", NULL),
        term);
    return body;
}

/* Without the claim nobody is evicted: another pod would get the room. */
static void not_kept(struct dra_preemption *m, const struct sw_kube_answer *a)
{
    refused(m, a, "room cannot be kept, no pod is evicted for it");
    end(m);
}

static void remember(struct dra_preemption *m, struct json_object *claim)
{
    dra_observe(m->e->view, DRA_CLAIMS, m->pod.ns, m->name, claim);
}

static void on_allocated(const struct sw_kube_answer *a, void *arg)
{
    struct dra_preemption *m = arg;
    m->req = NULL;
    if (a->code < 0) {
        not_kept(m, a);
        return;
    }
    remember(m, a->object);
    evict_next(m);
}

static void on_created(const struct sw_kube_answer *a, void *arg)
{
    struct dra_preemption *m = arg;
    m->req = NULL;
    /* one of this name is of an earlier attempt: it is allocated anew */
    if (a->code < 0 && a->code != SW_CONFLICT) {
        not_kept(m, a);
        return;
    }
    SW_AUTO_JSON *body = allocation_patch(m);
    m->req = sw_kube_patch(
        m->e->s->kube, m->e->sources[DRA_CLAIMS].kind, m->pod.ns, m->name, SW_PATCH_MERGE, body,
        &(struct sw_request_opts){ .subresource = "status", .timeout_ms = WRITE_MS, .retries = 2 },
        on_allocated, m);
}

/* From now on every replica knows where the pod's room is made: none begins on another node, a
 * restart included. */
static void on_nominated(const struct sw_kube_answer *a, void *arg)
{
    struct dra_preemption *m = arg;
    struct pod *pod = pod_of(m);
    m->req = NULL;
    if (a->code < 0 || !pod) {
        if (a->code < 0 && a->code != SW_NOTFOUND && a->code != SW_CONFLICT)
            not_kept(m, a);
        else
            end(m);
        return;
    }
    cache_observe_nomination(pod, m->node, sw_loop_now_ms(m->e->s->loop));
    SW_AUTO_JSON *body = claim_document(m);
    m->req = sw_kube_create(m->e->s->kube, m->e->sources[DRA_CLAIMS].kind, m->pod.ns, NULL, body,
                            &(struct sw_request_opts){ .timeout_ms = WRITE_MS }, on_created, m);
}

static struct dra_preemption *begin(struct dra_evictor *e, const char *node)
{
    struct dra_preemption *m = sw_zalloc(1, sizeof *m);
    *m = (struct dra_preemption){ .e = e, .node = sw_strdup(node) };
    e->preemption = m;
    return m;
}

void dra_make_room(struct dra_evictor *e, const struct dra_pod *pod, const struct dra_choice *c)
{
    struct dra_preemption *m = begin(e, c->node);
    m->pod = copy_of(pod->pod);
    m->name = dra_room_name(m->pod.uid);
    m->devices = json_object_get(c->devices);
    m->n_victims = c->victims.n;
    m->victims = sw_zalloc(c->victims.n + 1, sizeof *m->victims);
    for (size_t i = 0; i < m->n_victims; i++)
        m->victims[i] = copy_of(c->victims.list[i]);
    if (c->to)
        m->to = sw_zalloc(c->victims.n + 1, sizeof *m->to);
    for (size_t i = 0; m->to && i < m->n_victims; i++)
        m->to[i] = dra_destination_text(c, i);
    sw_log(SW_LOG_INFO, m->to ? "pods move" : "less important pods leave", "for", m->pod.name,
           "namespace", m->pod.ns, "node", m->node, NULL);
    m->req = sched_nominate(e->s, pod->pod, m->node, on_nominated, m);
}

/* ---- giving back -------------------------------------------------------------------------------
 * kube-scheduler tries waiting pods again when a claim loses its allocation, not when one goes: so
 * that is first.
 */

static void on_deleted(const struct sw_kube_answer *a, void *arg)
{
    struct dra_preemption *m = arg;
    m->req = NULL;
    if (a->code == 0 || a->code == SW_NOTFOUND)
        remember(m, NULL);
    else
        sw_log(SW_LOG_WARN, "ResourceClaim not deleted", "name", m->name, "error",
               sw_err_text(a->err), NULL);
    end(m);
}

static void on_given_back(const struct sw_kube_answer *a, void *arg)
{
    struct dra_preemption *m = arg;
    if (a->code < 0 && a->code != SW_NOTFOUND)
        sw_log(SW_LOG_WARN, "room not given back", "name", m->name, "error", sw_err_text(a->err),
               NULL);
    m->req = sw_kube_delete(m->e->s->kube, m->e->sources[DRA_CLAIMS].kind, m->pod.ns, m->name,
                            &(struct sw_request_opts){ .timeout_ms = WRITE_MS, .retries = 2 },
                            on_deleted, m);
}

void dra_release_room(struct dra_evictor *e, struct json_object *claim, const struct pod *nominee)
{
    struct dra_preemption *m = begin(e, "");
    SW_AUTO_JSON *body = json_object_new_object();
    m->pod.ns = sw_strdup(sw_obj_namespace(claim));
    m->name = sw_strdup(sw_obj_name(claim));
    if (nominee)
        (void)sched_nominate(e->s, nominee, NULL, sched_on_written, "nomination not taken back");
    sw_json_set(body, NULL, "status", "allocation", NULL);
    m->req = sw_kube_patch(
        e->s->kube, e->sources[DRA_CLAIMS].kind, m->pod.ns, m->name, SW_PATCH_MERGE, body,
        &(struct sw_request_opts){ .subresource = "status", .timeout_ms = WRITE_MS, .retries = 2 },
        on_given_back, m);
}
