#include "slicing/scheduler/counters.h"

#include <json-c/linkhash.h>

#include "slicing/scheduler/internal.h"

static const struct sw_histogram_bounds answer_bounds = {
    .n = 10,
    .sum_decimals = 6,
    .le = { 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1 },
};
static const struct sw_histogram_bounds wait_bounds = {
    .n = 10,
    .sum_decimals = 6,
    .le = { 0.05, 0.1, 0.5, 1, 3, 10, 30, 60, 300, 3600 },
};

void sched_metrics_answered(struct metrics *m, enum metrics_verb verb, double seconds)
{
    sw_histogram_observe(&m->took[verb], &answer_bounds, seconds);
}

void sched_metrics_waited(struct metrics *m, double seconds)
{
    sw_histogram_observe(&m->waited, &wait_bounds, seconds);
}

/* ---- slices by profile -------------------------------------------------------------------------
 */

struct tally {
    struct sw_mig_profile profile;
    uint64_t n[SW_CLAIM_N_STATES];
};

enum { MAX_PROFILES = 128 };

static void put_slices(struct sw_metrics *out, const struct cache *p)
{
    struct tally tallies[MAX_PROFILES];
    size_t n = 0;
    for (struct lh_entry *e = lh_table_head(p->claims); e; e = e->next) {
        const struct claim *c = lh_entry_v(e);
        size_t i = 0;
        while (i < n && !sw_mig_profile_equal(&tallies[i].profile, &c->profile))
            i++;
        if (i == MAX_PROFILES)
            continue;
        if (i == n)
            tallies[n++] = (struct tally){ .profile = c->profile };
        tallies[i].n[c->state]++;
    }
    sw_metrics_head(out, "slices", "gauge",
                    "Slices that are claimed or reserved, by profile and state.");
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < SW_CLAIM_N_STATES; k++) {
            char name[SW_MIG_NAME_LEN];
            if (tallies[i].n[k])
                sw_metrics_add(out, "slices", tallies[i].n[k], "profile",
                               sw_mig_profile_text(&tallies[i].profile, name), "state",
                               sw_claim_state_text((enum sw_claim_state)k), NULL);
        }
}

char *sw_scheduler_metrics(struct sw_scheduler *s)
{
    static const char *const verbs[METRICS_N_VERBS] = { "filter", "prioritize", "preempt", "bind" };
    const struct metrics *m = &s->metrics;
    const struct cache *p = s->cache;
    uint64_t n_fragmented = 0;
    for (struct lh_entry *e = lh_table_head(p->pods); e; e = e->next)
        n_fragmented += ((const struct pod *)lh_entry_v(e))->advice != NULL;
    struct sw_metrics text = { .prefix = "slipway_scheduler_" }, *out = &text;
    sw_metrics_head(out, "answer_seconds", "histogram", "Time to answer the scheduler, by verb.");
    for (size_t i = 0; i < METRICS_N_VERBS; i++)
        sw_metrics_add_histogram(out, "answer_seconds", &m->took[i], &answer_bounds, "verb",
                                 verbs[i]);

    sw_metrics_head(out, "wait_seconds", "histogram",
                    "From a pod's first filter until it was bound.");
    sw_metrics_add_histogram(out, "wait_seconds", &m->waited, &wait_bounds, NULL, NULL);
    sw_metrics_one(out, "bound_total", "counter", "Pods bound.", m->bound);
    sw_metrics_one(out, "bind_failures_total", "counter", "Binds that were refused or failed.",
                   m->bind_failed);
    sw_metrics_one(out, "undone_total", "counter", "Binds whose claims were deleted again.",
                   m->undone);
    sw_metrics_one(out, "unschedulable_total", "counter", "Filters that left no node.",
                   m->unschedulable);
    sw_metrics_one(out, "bad_requests_total", "counter", "Requests that could not be parsed.",
                   m->bad_requests);
    sw_metrics_one(out, "collected_total", "counter", "Claims deleted because no pod uses them.",
                   m->collected);
    sw_metrics_one(out, "touches_total", "counter",
                   "Times a node's " SW_SCHEDULER_EPOCH " was set.", m->touched);
    sw_metrics_one(out, "woken_total", "counter",
                   "Times a waiting pod was written to because a node had room for it.", m->woken);
    sw_metrics_one(out, "sent_again_total", "counter",
                   "Times a pod was queued again because a node outside the sample had room.",
                   m->sent_again);
    sw_metrics_one(out, "evicted_total", "counter",
                   "Pods evicted for a pod of higher priority that needs their slices.",
                   m->evicted);
    sw_metrics_one(out, "moved_total", "counter",
                   "Pods evicted so that they are made again elsewhere.", m->moved);
    sw_metrics_one(out, "evictions_refused_total", "counter",
                   "Evictions that the API server refused.", m->evictions_refused);
    sw_metrics_one(out, "waiting_pods", "gauge", "Pods that want slices and are not bound.",
                   p->n_waiting);
    sw_metrics_one(out, "fragmented_pods", "gauge",
                   "Pods that wait and would fit if slices of others lay elsewhere.", n_fragmented);
    sw_metrics_one(out, "reservations", "gauge",
                   "Slices reserved for claims that are being created.", p->n_reserved);
    sw_metrics_one(out, "nodes", "gauge", "Nodes that the scheduler knows.",
                   (uint64_t)lh_table_length(p->nodes));
    sw_metrics_one(out, "leading", "gauge", "1 for the replica that collects unused claims.",
                   s->opts.leader_elect ? s->lease && sw_lease_is_leader(s->lease) : 1);
    put_slices(out, p);
    sw_metrics_head(out, "requests_total", "counter", "Requests sent to the API server.");
    sw_kube_put_counts(s->kube, out, "requests_total");
    return sw_metrics_take(out, NULL);
}
