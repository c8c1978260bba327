#include "slicing/deviceplugin/leftover_claims.h"

#include <stdlib.h>

#include "data/data.h"
#include "kube/kube.h"
#include "slicing/claim/claim.h"

enum {
    FIRST_MS = 5000,
    ROUND_MS = 60 * 1000,
    UNBOUND_MS = 30 * 1000, /* as slipway-scheduler: until then its pod may be bound */
};

/* A claim of a round. */
struct promise {
    char *ns, *name;
};

struct dp_leftover_claims {
    struct sw_device_plugin *p;
    struct sw_timer *timer;
    struct sw_kube_request *request;
    struct promise *promises; /* of this round */
    size_t n, at, cap;
    bool found; /* the pod of the one that is looked at, where it still has a use for it */
};

static void end_round(struct dp_leftover_claims *c)
{
    for (size_t i = 0; i < c->n; i++) {
        free(c->promises[i].ns);
        free(c->promises[i].name);
    }
    c->n = c->at = 0;
    sw_timer_set(c->timer, ROUND_MS);
}

static void check_next(struct dp_leftover_claims *c);

/* The claim that is looked at, if it is still no more than a promise. */
static const struct dp_claim *current(const struct dp_leftover_claims *c)
{
    const struct promise *promise = &c->promises[c->at];
    const struct dp_claim *claim = dp_broker_claim(c->p->broker, promise->ns, promise->name);
    return claim && !claim->grant && claim->state <= SW_CLAIM_CREATED ? claim : NULL;
}

static void next(struct dp_leftover_claims *c)
{
    c->at++;
    check_next(c);
}

static void on_deleted(const struct sw_kube_answer *answer, void *arg)
{
    struct dp_leftover_claims *c = arg;
    c->request = NULL;
    if (answer->code == 0)
        sw_log(SW_LOG_INFO, "AllocationClaim of a pod that is gone deleted", "claim",
               c->promises[c->at].name, NULL);
    else if (answer->code != SW_NOTFOUND && answer->code != SW_CONFLICT)
        sw_log(SW_LOG_WARN, "AllocationClaim not deleted", "claim", c->promises[c->at].name,
               "error", sw_err_text(answer->err), NULL);
    next(c);
}

static void delete_claim(struct dp_leftover_claims *c, const struct dp_claim *claim)
{
    SW_AUTO_CHARS *version = sw_printf("%llu", (unsigned long long)claim->version);
    c->request = sw_kube_delete(
        c->p->kube, &sw_kind_claim, claim->ns, claim->name,
        &(struct sw_request_opts){ .resource_version = claim->version ? version : NULL },
        on_deleted, c);
}

/* Whether the pod may still get what the claim promises. */
static bool is_wanted(const struct dp_leftover_claims *c, const struct dp_claim *claim,
                      struct json_object *pod)
{
    const char *phase = sw_json_str(pod, "", "status", "phase", NULL);
    const char *node = sw_json_str(pod, "", "spec", "nodeName", NULL);
    if (!sw_streq(sw_obj_uid(pod), claim->pod.uid) || sw_streq(phase, "Succeeded") ||
        sw_streq(phase, "Failed"))
        return false;
    return *node ? sw_streq(node, c->p->opts.node)
                 : sw_loop_wall_ms(c->p->loop) - claim->created_ms < UNBOUND_MS;
}

static void on_pod(const struct sw_kube_answer *answer, void *arg)
{
    struct dp_leftover_claims *c = arg;
    const struct dp_claim *claim = current(c);
    for (size_t i = 0; answer->code == 0 && claim && i < sw_json_len(answer->items); i++)
        c->found |= is_wanted(c, claim, sw_json_at(answer->items, i));
    if (answer->code == 0 && answer->more)
        return;
    c->request = NULL;
    if (answer->code == 0 && claim && !c->found)
        delete_claim(c, claim);
    else
        next(c);
}

/* A pod is read by a list: that is a right that the program has. */
static void check_next(struct dp_leftover_claims *c)
{
    static const char *const fields[] = { "spec.nodeName", "status.phase", NULL };
    const struct dp_claim *claim = NULL;
    while (c->at < c->n && !(claim = current(c)))
        c->at++;
    if (!claim) {
        end_round(c);
        return;
    }
    SW_AUTO_CHARS *selector = sw_printf("metadata.name=%s", claim->pod.name);
    c->found = false;
    c->request = sw_kube_list(
        c->p->kube, &sw_kind_pod, claim->pod.ns,
        &(struct sw_request_opts){ .field_selector = selector, .fields = fields }, on_pod, c);
}

static void add(const struct dp_claim *claim, void *arg)
{
    struct dp_leftover_claims *c = arg;
    if (claim->grant || claim->state > SW_CLAIM_CREATED || !claim->pod.name)
        return;
    SW_GROW(c->promises, c->n, c->cap);
    c->promises[c->n++] = (struct promise){ sw_strdup(claim->ns), sw_strdup(claim->name) };
}

static void on_round(void *arg)
{
    struct dp_leftover_claims *c = arg;
    if (c->p->face == DP_FACE_DRA)
        dp_broker_each_claim(c->p->broker, add, c);
    check_next(c);
}

struct dp_leftover_claims *dp_leftover_claims_new(struct sw_device_plugin *p)
{
    struct dp_leftover_claims *c = sw_zalloc(1, sizeof *c);
    c->p = p;
    c->timer = sw_timer_new(p->loop, on_round, c);
    sw_timer_set(c->timer, FIRST_MS);
    return c;
}

void dp_leftover_claims_free(struct dp_leftover_claims *c)
{
    if (!c)
        return;
    sw_kube_cancel(c->request);
    sw_timer_free(c->timer);
    for (size_t i = 0; i < c->n; i++) {
        free(c->promises[i].ns);
        free(c->promises[i].name);
    }
    free(c->promises);
    free(c);
}
