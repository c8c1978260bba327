/* AllocationClaims: their desired state, and the writes that bring them there, one at a time for
 * each claim. */
#include <stdlib.h>
#include <string.h>

#include "slicing/deviceplugin/broker/broker_internal.h"

static void write_claim(struct dp_broker *b, struct dp_claim *c, enum dp_act act,
                        enum sw_claim_state state)
{
    struct dp_action *a = broker_act(b, act);
    a->ref = (struct dp_ref){ .ns = sw_strdup(c->ns), .name = sw_strdup(c->name) };
    a->state = state;
    c->writing = true;
}

static void write_state(struct dp_broker *b, struct dp_claim *c, enum sw_claim_state state)
{
    if (c->state == SW_CLAIM_CREATED && state == SW_CLAIM_IN_USE)
        state = SW_CLAIM_PROCESSING; /* no state is left out */
    if (c->state != state)
        write_claim(b, c, DP_ACT_CLAIM_STATE, state);
}

void broker_settle(struct dp_broker *b, int64_t now_ms)
{
    struct dp_claim *c = NULL;
    LIST_FOREACH(c, &b->claims, link)
    {
        if (c->writing || c->retry_ms > now_ms)
            continue;
        c->retry_ms = 0;
        if (c->pod_changed) {
            write_claim(b, c, DP_ACT_CLAIM_POD, c->state);
            continue;
        }
        if (c->grant) {
            const bool busy = c->grant->adopted || c->grant->state == DP_UNDOING;
            if (!busy && c->grant->state == DP_READY)
                write_state(b, c, SW_CLAIM_IN_USE);
            else if (!busy && c->state == SW_CLAIM_CREATED)
                write_state(b, c, SW_CLAIM_PROCESSING);
            continue;
        }
        /* Staged claims, and those of pods that are not known here yet, are the scheduler's. */
        if (c->state == SW_CLAIM_STAGED || !b->pods_synced)
            continue;
        const struct dp_pod *pod = broker_pod(b, c->pod.uid);
        const bool begun = c->state == SW_CLAIM_PROCESSING || c->state == SW_CLAIM_IN_USE;
        if (pod ? pod->ended : c->pod_gone || begun)
            write_claim(b, c, DP_ACT_CLAIM_DELETE, c->state);
        else if (begun)
            write_state(b, c, SW_CLAIM_CREATED);
    }
}

void claim_written(struct dp_claim *c, enum dp_act act, enum sw_claim_state state, int code,
                   uint64_t version, int64_t now_ms)
{
    c->writing = false;
    if (code == SW_NOTFOUND || (code == 0 && act == DP_ACT_CLAIM_DELETE)) {
        c->retry_ms = now_ms + RETRY_MOST_MS; /* the watch reports its deletion */
        return;
    }
    if (code < 0) {
        c->retry_ms = now_ms + broker_backoff_ms(++c->n_failed);
        return;
    }
    c->n_failed = 0;
    if (version > c->version)
        c->version = version;
    if (act == DP_ACT_CLAIM_STATE)
        c->state = state;
    else
        c->pod_changed = false;
}
