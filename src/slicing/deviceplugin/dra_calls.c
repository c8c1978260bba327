#include "slicing/deviceplugin/dra_calls.h"

#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "net/grpc/grpc.h"
#include "slicing/deviceplugin/claim_status.h"
#include "slicing/deviceplugin/claim_views.h"
#include "slicing/deviceplugin/dra_messages.h"
#include "slicing/deviceplugin/dra_node.h"

enum { READ_TIMEOUT_MS = 20 * 1000 };

/* One claim of a call. */
struct entry {
    struct dp_dra_call *of;
    struct dp_ref claim;
    struct sw_kube_request *request; /* it is being read */
    uint64_t ticket;                 /* at the broker; 0: not yet */
    bool done;
    char *error; /* NULL: none */
};

struct dp_dra_call {
    LIST_ENTRY(dp_dra_call) link;
    struct sw_device_plugin *p;
    struct sw_grpc_call *call;
    bool unprepares;
    double began;
    struct entry *entries;
    size_t n;
};

static void free_call(struct dp_dra_call *c)
{
    LIST_REMOVE(c, link);
    for (size_t i = 0; i < c->n; i++) {
        struct entry *e = &c->entries[i];
        sw_kube_cancel(e->request);
        free(e->claim.ns);
        free(e->claim.name);
        free(e->claim.uid);
        free(e->error);
    }
    free(c->entries);
    free(c);
}

static void on_gone(struct sw_grpc_call *call SW_UNUSED, void *arg)
{
    struct dp_dra_call *c = arg;
    for (size_t i = 0; i < c->n; i++)
        if (c->entries[i].ticket)
            dp_broker_cancel(c->p->broker, c->entries[i].ticket);
    free_call(c);
}

/* Answer the call where all of its claims are done. */
static void finish(struct dp_dra_call *c)
{
    struct sw_device_plugin *p = c->p;
    for (size_t i = 0; i < c->n; i++)
        if (!c->entries[i].done)
            return;
    struct dp_dra_answer *answers = sw_zalloc(c->n + 1, sizeof *answers);
    for (size_t i = 0; i < c->n; i++) {
        const struct entry *e = &c->entries[i];
        const struct dp_grant *g = c->unprepares || e->error
                                       ? NULL
                                       : dp_broker_prepared(p->broker, e->claim.uid);
        answers[i] = (struct dp_dra_answer){ .uid = e->claim.uid, .grant = g, .error = e->error };
        if (!c->unprepares && !e->error && (!g || g->state != DP_READY)) {
            answers[i].grant = NULL;
            answers[i].error = "its slices were taken down meanwhile";
        }
        if (answers[i].error) {
            p->n.refused++;
            sw_log(SW_LOG_WARN, c->unprepares ? "claim not unprepared" : "claim not prepared",
                   "claim", e->claim.name, "namespace", e->claim.ns, "reason", answers[i].error,
                   NULL);
        }
    }
    SW_AUTO_CHARS *pool = sw_dra_pool(p->opts.node);
    struct dp_bytes m = c->unprepares ? dp_dra_unprepared(answers, c->n)
                                      : dp_dra_prepared(answers, c->n, pool);
    free(answers);
    if (!c->unprepares) {
        p->n.allocated++;
        p->n.allocate_s += sw_monotonic_s() - c->began;
    }
    sw_grpc_call_send(c->call, m.bytes, m.len);
    free(m.bytes);
    sw_grpc_call_end(c->call, SW_GRPC_OK, NULL);
    free_call(c);
}

static struct dp_dra_call *new_call(struct sw_device_plugin *p, struct sw_grpc_call *call,
                                    bool unprepares, const uint8_t *message, size_t len)
{
    SW_ERR(err);
    struct dp_ref *refs = NULL;
    size_t n = 0;
    if (dp_dra_read_claims(message, len, &refs, &n, &err) < 0) {
        sw_grpc_call_end(call, SW_GRPC_INVALID_ARGUMENT, sw_err_text(&err));
        return NULL;
    }
    struct dp_dra_call *c = sw_zalloc(1, sizeof *c);
    *c = (struct dp_dra_call){ .p = p, .call = call, .unprepares = unprepares, .n = n };
    c->began = sw_monotonic_s();
    c->entries = sw_zalloc(n + 1, sizeof *c->entries);
    for (size_t i = 0; i < n; i++)
        c->entries[i] = (struct entry){ .of = c, .claim = refs[i] };
    free(refs);
    LIST_INSERT_HEAD(&p->dra_calls, c, link);
    sw_grpc_call_on_gone(call, on_gone, c);
    return c;
}

/* ---- prepare -----------------------------------------------------------------------------------
 */

static void fail(struct entry *e, const char *message)
{
    e->done = true;
    sw_text_set(&e->error, message);
}

/* What is to be set for it; @whole: a GPU, no slice. A claim has one control daemon: a container
 * can be the client of one alone. */
static int add_sharing(const struct sw_device_plugin *p, struct dp_grant *g,
                       const struct sw_dra_result *result, bool whole, struct sw_err *err)
{
    const struct sw_dra_sharing *s = &result->sharing;
    struct dp_device *device = &g->devices[g->n_devices - 1];
    if (whole && s->interval)
        dp_grant_add_setting(g, DP_SET_TIMESLICE, device->gpu, s->interval);
    if (!s->mps)
        return 0;
    if (!p->opts.mps && !p->opts.emulated)
        return sw_err_set(err, SW_INVALID,
                          "config[%zu]: sharing.strategy: MPS: nobody runs control daemons on this "
                          "node (--mps; the value mps of the state device-plugin)",
                          result->config);
    device->mps = true;
    if (whole)
        dp_grant_add_setting(g, DP_SET_EXCLUSIVE, device->gpu, 0);
    return 0;
}

/* After all devices: the daemon itself. */
static int add_daemon(struct dp_grant *g, const struct sw_dra_result *results, size_t n,
                      struct sw_err *err)
{
    const struct sw_dra_result *first = NULL;
    for (size_t i = 0; i < n; i++) {
        if (!results[i].sharing.mps)
            continue;
        if (first && results[i].config != first->config)
            return sw_err_set(err, SW_INVALID,
                              "config[%zu] and config[%zu] are both for MPS, and a claim has one "
                              "control daemon: make one of them for all these requests",
                              first->config, results[i].config);
        first = first ? first : &results[i];
    }
    if (!first)
        return 0;
    g->mps.threads = first->sharing.threads;
    g->mps.multi_user = first->sharing.multi_user;
    for (size_t i = 0; i < first->sharing.n_limits; i++)
        dp_grant_add_limit(g, first->sharing.limits[i].device, first->sharing.limits[i].mib);
    dp_grant_add_setting(g, DP_SET_MPS, NULL, 0);
    return 0;
}

/* One of the claim's devices, and the slice that is to be made for it. */
static int add_device(const struct sw_device_plugin *p, struct dp_grant *g,
                      const struct sw_dra_node *node, const struct sw_dra_result *result,
                      struct sw_err *err)
{
    sw_dra_device device = { 0 };
    const int rc = sw_dra_device_find(node, result->device, &device, err);
    if (rc < 0)
        return rc;
    const char *gpu = node->gpus[device.gpu].uuid;
    size_t slice = DP_NO_SLICE;
    if (device.kind && !result->admin) {
        struct dp_slice *s = dp_grant_add_slice(g);
        s->gpu = sw_strdup(gpu);
        s->place = device.place;
        (void)sw_mig_profile_text(&device.kind->profile, s->profile);
        slice = g->n_slices - 1;
    }
    dp_grant_add_device(g, result->request, result->group, result->device, gpu, slice);
    return add_sharing(p, g, result, !device.kind, err);
}

/* The claim as the cluster has it: what is to be made. @*out: the caller's */
static int grant_of(const struct sw_device_plugin *p, const struct dp_ref *ref,
                    struct json_object *claim, struct dp_grant **out, struct sw_err *err)
{
    SW_AUTO_CHARS *pool = sw_dra_pool(p->opts.node);
    struct sw_dra_result *results = NULL;
    size_t n = 0;
    if (!p->driver)
        return sw_err_set(err, SW_UNAVAILABLE, "no GPU: %s", p->no_gpu ? p->no_gpu : "not yet");
    int rc = sw_dra_results_read(claim, ref->uid, pool, &results, &n, err);
    SW_AUTO(dp_grant) *g = dp_grant_new();
    g->claim = (struct dp_ref){ sw_strdup(ref->ns), sw_strdup(ref->name), sw_strdup(ref->uid) };
    const struct sw_dra_node node = dp_dra_node(p, NULL);
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = add_device(p, g, &node, &results[i], err);
    if (rc == 0)
        rc = add_daemon(g, results, n, err);
    free((void *)(uintptr_t)node.gpus);
    sw_dra_results_free(results, n);
    if (rc == 0)
        *out = SW_TAKE(g);
    return rc;
}

static void on_claim(const struct sw_kube_answer *answer, void *arg)
{
    struct entry *e = arg;
    struct dp_dra_call *c = e->of;
    struct sw_device_plugin *p = c->p;
    SW_ERR(err);
    struct dp_grant *g = NULL;
    e->request = NULL;
    if (answer->code < 0) {
        fail(e, sw_err_text(answer->err));
    } else if (grant_of(p, &e->claim, answer->object, &g, &err) < 0) {
        fail(e, sw_err_text(&err));
    } else {
        e->ticket = ++p->last_ticket;
        dp_broker_prepare(p->broker, e->ticket, g, dp_now_ms(p));
        p->perform(p);
        return;
    }
    finish(c);
}

void dp_dra_prepare(struct sw_device_plugin *p, struct sw_grpc_call *call, const uint8_t *message,
                    size_t len)
{
    struct dp_dra_call *c = new_call(p, call, false, message, len);
    for (size_t i = 0; c && i < c->n; i++) {
        struct entry *e = &c->entries[i];
        const struct dp_grant *g = dp_broker_prepared(p->broker, e->claim.uid);
        if (g && g->state == DP_READY && !g->adopted)
            e->done = true; /* as it was answered before */
        else
            e->request = sw_kube_get(p->kube, &dp_kind_resource_claim, e->claim.ns, e->claim.name,
                                     &(struct sw_request_opts){ .timeout_ms = READ_TIMEOUT_MS },
                                     on_claim, e);
    }
    if (c)
        finish(c);
}

/* ---- unprepare ---------------------------------------------------------------------------------
 */

void dp_dra_unprepare(struct sw_device_plugin *p, struct sw_grpc_call *call, const uint8_t *message,
                      size_t len)
{
    struct dp_dra_call *c = new_call(p, call, true, message, len);
    for (size_t i = 0; c && i < c->n; i++) {
        c->entries[i].ticket = ++p->last_ticket;
        dp_views_hide(p->views, c->entries[i].claim.uid);
        dp_broker_unprepare(p->broker, c->entries[i].ticket, c->entries[i].claim.uid, dp_now_ms(p));
    }
    if (c && !c->n)
        finish(c);
    p->perform(p);
}

/* ---- answers -----------------------------------------------------------------------------------
 */

void dp_dra_answer(struct sw_device_plugin *p, const struct dp_action *a)
{
    const struct dp_grant *g = a->act == DP_ACT_PREPARED ? dp_broker_grant(p->broker, a->grant_id)
                                                         : NULL;
    if (g && a->code == 0)
        dp_claim_status_write(p, g);
    struct dp_dra_call *c;
    if (!a->ticket) /* nobody waits for it */
        return;
    LIST_FOREACH(c, &p->dra_calls, link)
    for (size_t i = 0; i < c->n; i++) {
        struct entry *e = &c->entries[i];
        if (e->ticket != a->ticket || e->done)
            continue;
        e->done = true;
        e->ticket = 0;
        if (a->code < 0)
            sw_text_set(&e->error, sw_text_or(a->message, "failed"));
        finish(c);
        return;
    }
}

void dp_dra_calls_free(struct sw_device_plugin *p)
{
    while (!LIST_EMPTY(&p->dra_calls)) /* their calls have gone with the socket */
        free_call(SW_LINKED(LIST_FIRST(&p->dra_calls)));
}
