#include "slicing/deviceplugin/claims_check.h"

#include <stdlib.h>

#include "data/data.h"
#include "slicing/deviceplugin/dra_node.h"

enum { FIRST_MS = 5000, ROUND_MS = 10 * 60 * 1000 };

struct dp_claims_check {
    struct sw_device_plugin *p;
    struct sw_timer *timer;
    struct sw_kube_request *request;
    char **uids; /* of this round */
    size_t n, at, cap;
};

static void end_round(struct dp_claims_check *c)
{
    for (size_t i = 0; i < c->n; i++)
        free(c->uids[i]);
    c->n = c->at = 0;
    sw_timer_set(c->timer, ROUND_MS);
}

static void read_next(struct dp_claims_check *c);

static void on_claim(const struct sw_kube_answer *answer, void *arg)
{
    struct dp_claims_check *c = arg;
    struct sw_device_plugin *p = c->p;
    const char *uid = c->uids[c->at++];
    c->request = NULL;
    const bool gone = answer->code == SW_NOTFOUND ||
                      (answer->code == 0 && !sw_streq(sw_obj_uid(answer->object), uid));
    if (gone && dp_broker_prepared(p->broker, uid)) {
        sw_log(SW_LOG_WARN, "a ResourceClaim with devices was deleted", "uid", uid, NULL);
        dp_broker_unprepare(p->broker, 0, uid, dp_now_ms(p));
        p->perform(p);
    }
    read_next(c);
}

static void read_next(struct dp_claims_check *c)
{
    static const char *const fields[] = { "metadata.uid", NULL };
    for (; c->at < c->n; c->at++) {
        const struct dp_grant *g = dp_broker_prepared(c->p->broker, c->uids[c->at]);
        if (!g)
            continue;
        c->request = sw_kube_get(c->p->kube, &dp_kind_resource_claim, g->claim.ns, g->claim.name,
                                 &(struct sw_request_opts){ .fields = fields }, on_claim, c);
        return;
    }
    end_round(c);
}

static void add(struct dp_grant *g, void *arg)
{
    struct dp_claims_check *c = arg;
    if (!g->claim.uid || g->state != DP_READY)
        return;
    SW_GROW(c->uids, c->n, c->cap);
    c->uids[c->n++] = sw_strdup(g->claim.uid);
}

static void on_round(void *arg)
{
    struct dp_claims_check *c = arg;
    dp_broker_each(c->p->broker, add, c);
    read_next(c);
}

struct dp_claims_check *dp_claims_check_new(struct sw_device_plugin *p)
{
    struct dp_claims_check *c = sw_zalloc(1, sizeof *c);
    c->p = p;
    c->timer = sw_timer_new(p->loop, on_round, c);
    sw_timer_set(c->timer, FIRST_MS);
    return c;
}

void dp_claims_check_free(struct dp_claims_check *c)
{
    if (!c)
        return;
    sw_kube_cancel(c->request);
    sw_timer_free(c->timer);
    for (size_t i = 0; i < c->n; i++)
        free(c->uids[i]);
    free(c->uids);
    free(c);
}
