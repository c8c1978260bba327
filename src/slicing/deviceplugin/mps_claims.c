#include "slicing/deviceplugin/mps_claims.h"

#include <stdlib.h>

#include "slicing/deviceplugin/mps/mps.h"

/* kubelet waits 45 s for an answer */
enum { UP_MS = 25 * 1000, END_MS = 20 * 1000, CHECK_MS = 50 };

/* A daemon that is starting or ending. */
struct wait {
    LIST_ENTRY(wait) link;
    char *grant_id, *uid;
    size_t i;
    enum dp_step step;
    int64_t deadline_ms;
};

struct dp_mps_claims {
    struct sw_device_plugin *p;
    struct sw_timer *timer;
    LIST_HEAD(waits, wait) waits;
};

static void free_wait(struct wait *w)
{
    LIST_REMOVE(w, link);
    free(w->grant_id);
    free(w->uid);
    free(w);
}

static int check(struct sw_device_plugin *p, const struct wait *w, struct sw_err *err)
{
    const struct dp_grant *g = dp_broker_grant(p->broker, w->grant_id);
    const bool starts = w->step == DP_STEP_SET;
    const int rc = starts ? dp_mps_check(p->opts.host_root, w->uid, err)
                          : dp_mps_end(p->opts.host_root, w->uid, err);
    if (rc != SW_PENDING)
        return rc;
    if (starts && (!g || g->undo_next))
        return sw_err_set(err, SW_CONFLICT, "kubelet needs it no more");
    if (dp_now_ms(p) < w->deadline_ms)
        return SW_PENDING;
    return starts ? sw_err_set(err, SW_UNAVAILABLE,
                               "nobody has started it after %d s: does slipway-device-plugin mps "
                               "(the DaemonSet das-mps) run on this node?",
                               UP_MS / 1000)
                  : sw_err_set(err, SW_CONFLICT, "it still runs after %d s", END_MS / 1000);
}

static void on_timer(void *arg)
{
    struct dp_mps_claims *m = arg;
    struct sw_device_plugin *p = m->p;
    struct wait *w = LIST_FIRST(&m->waits), *next;
    for (; w; w = next) {
        SW_ERR(err);
        const int rc = check(p, w, &err);
        next = LIST_NEXT(w, link);
        if (rc == SW_PENDING)
            continue;
        const struct dp_step_result r = { .code = rc, .message = sw_err_text(&err) };
        dp_broker_on_setting(p->broker, w->grant_id, w->i, w->step, &r, dp_now_ms(p));
        free_wait(w);
        p->perform(p); /* what it adds comes first in the list */
    }
    if (!LIST_EMPTY(&m->waits))
        sw_timer_set(m->timer, CHECK_MS);
}

void dp_mps_claims_do(struct dp_mps_claims *m, const struct dp_grant *g, size_t i,
                      enum dp_step step)
{
    struct sw_device_plugin *p = m->p;
    SW_ERR(err);
    const int rc = p->opts.emulated || step == DP_STEP_UNSET
                       ? 0
                       : dp_mps_ask(p->opts.host_root, g, &err);
    if (rc < 0 || p->opts.emulated) {
        const struct dp_step_result r = { .code = rc, .message = sw_err_text(&err) };
        dp_broker_on_setting(p->broker, g->id, i, step, &r, dp_now_ms(p));
        return;
    }
    struct wait *w = sw_zalloc(1, sizeof *w);
    *w = (struct wait){ .grant_id = sw_strdup(g->id),
                        .uid = sw_strdup(g->claim.uid),
                        .i = i,
                        .step = step,
                        .deadline_ms = dp_now_ms(p) + (step == DP_STEP_SET ? UP_MS : END_MS) };
    LIST_INSERT_HEAD(&m->waits, w, link);
    sw_timer_set(m->timer, 0);
}

void dp_mps_claims_keep(struct sw_device_plugin *p, const struct dp_grant *g)
{
    SW_ERR(err);
    for (size_t i = 0; g->state == DP_READY && !p->opts.emulated && i < g->n_settings; i++)
        if (g->settings[i].kind == DP_SET_MPS && dp_mps_ask(p->opts.host_root, g, &err) < 0)
            sw_log(SW_LOG_ERROR, "MPS control daemon not asked for", "claim", g->claim.name,
                   "error", sw_err_text(&err), NULL);
}

struct dp_mps_claims *dp_mps_claims_new(struct sw_device_plugin *p)
{
    struct dp_mps_claims *m = sw_zalloc(1, sizeof *m);
    m->p = p;
    LIST_INIT(&m->waits);
    m->timer = sw_timer_new(p->loop, on_timer, m);
    return m;
}

void dp_mps_claims_free(struct dp_mps_claims *m)
{
    if (!m)
        return;
    while (!LIST_EMPTY(&m->waits))
        free_wait(SW_LINKED(LIST_FIRST(&m->waits)));
    sw_timer_free(m->timer);
    free(m);
}
