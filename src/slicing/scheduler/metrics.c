#include "slicing/scheduler/metrics.h"

#include <json-c/linkhash.h>
#include <json-c/printbuf.h>
#include <string.h>

#include "slicing/scheduler/internal.h"

/* For answers, and for pods that wait. */
const double sched_metrics_quick[METRICS_N_BUCKETS] = { 0.0005, 0.001, 0.0025, 0.005, 0.01,
                                                        0.025,  0.05,  0.1,    0.5,   1 };
const double sched_metrics_slow[METRICS_N_BUCKETS] = {
    0.05, 0.1, 0.5, 1, 3, 10, 30, 60, 300, 3600
};

static const char *const verbs[METRICS_N_VERBS] = { "filter", "prioritize", "preempt", "bind" };

void sched_metrics_observe(struct metrics_histogram *h, double seconds, const double *bounds)
{
    size_t i = 0;
    while (i < METRICS_N_BUCKETS && seconds > bounds[i])
        i++;
    h->buckets[i]++;
    h->sum_s += seconds;
}

#define NAME "slipway_scheduler_"

static void head(struct printbuf *out, const char *name, const char *type, const char *help)
{
    sprintbuf(out, "# HELP " NAME "%s %s\n# TYPE " NAME "%s %s\n", name, help, name, type);
}

static void one(struct printbuf *out, const char *name, const char *type, const char *help,
                uint64_t value)
{
    head(out, name, type, help);
    sprintbuf(out, NAME "%s %llu\n", name, (unsigned long long)value);
}

/* @label: "verb=\"filter\"", or "" */
static void histogram(struct printbuf *out, const char *name, const char *label,
                      const struct metrics_histogram *h, const double *bounds)
{
    const char *comma = *label ? "," : "";
    uint64_t n = 0;
    for (size_t i = 0; i <= METRICS_N_BUCKETS; i++) {
        n += h->buckets[i];
        sprintbuf(out, NAME "%s_bucket{%s%sle=\"", name, label, comma);
        if (i < METRICS_N_BUCKETS)
            sprintbuf(out, "%g\"} %llu\n", bounds[i], (unsigned long long)n);
        else
            sprintbuf(out, "+Inf\"} %llu\n", (unsigned long long)n);
    }
    sprintbuf(out, NAME "%s_sum%s%s%s %.6f\n", name, *label ? "{" : "", label, *label ? "}" : "",
              h->sum_s);
    sprintbuf(out, NAME "%s_count%s%s%s %llu\n", name, *label ? "{" : "", label, *label ? "}" : "",
              (unsigned long long)n);
}

/* ---- slices by profile -------------------------------------------------------------------------
 */

struct tally {
    struct sw_mig_profile profile;
    uint64_t n[CLAIM_N_STATES];
};

enum { MAX_PROFILES = 128 };

static void tally_claims(const struct cache *p, struct tally *tallies, size_t *n)
{
    for (struct lh_entry *e = lh_table_head(p->claims); e; e = e->next) {
        const struct claim *c = lh_entry_v(e);
        size_t i = 0;
        while (i < *n && !sw_mig_profile_equal(&tallies[i].profile, &c->profile))
            i++;
        if (i == MAX_PROFILES)
            continue;
        if (i == *n)
            tallies[(*n)++] = (struct tally){ .profile = c->profile };
        tallies[i].n[c->state]++;
    }
}

static void put_slices(struct printbuf *out, const struct cache *p)
{
    struct tally tallies[MAX_PROFILES];
    size_t n = 0;
    tally_claims(p, tallies, &n);
    head(out, "slices", "gauge", "Slices that are claimed or reserved, by profile and state.");
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < CLAIM_N_STATES; k++) {
            char name[SW_MIG_NAME_LEN];
            if (tallies[i].n[k])
                sprintbuf(out, NAME "slices{profile=\"%s\",state=\"%s\"} %llu\n",
                          sw_mig_profile_text(&tallies[i].profile, name),
                          claim_state_text((enum claim_state)k),
                          (unsigned long long)tallies[i].n[k]);
        }
}

static void put_request(const struct sw_kube_count *count, void *arg)
{
    sprintbuf(arg, NAME "requests_total{verb=\"%s\",resource=\"%s\",code=\"%d\"} %llu\n",
              count->verb, count->resource, count->http_status, (unsigned long long)count->n);
}

static uint64_t count_fragmented(const struct cache *p)
{
    uint64_t n = 0;
    for (struct lh_entry *e = lh_table_head(p->pods); e; e = e->next)
        n += ((const struct pod *)lh_entry_v(e))->advice != NULL;
    return n;
}

char *sw_scheduler_metrics(struct sw_scheduler *s)
{
    const struct metrics *m = &s->metrics;
    const struct cache *p = s->cache;
    struct printbuf *out = printbuf_new();
    head(out, "answer_seconds", "histogram", "Time to answer the scheduler, by verb.");
    for (size_t i = 0; i < METRICS_N_VERBS; i++) {
        SW_AUTO_CHARS *label = sw_printf("verb=\"%s\"", verbs[i]);
        histogram(out, "answer_seconds", label, &m->took[i], sched_metrics_quick);
    }
    head(out, "wait_seconds", "histogram", "From a pod's first filter until it was bound.");
    histogram(out, "wait_seconds", "", &m->waited, sched_metrics_slow);
    one(out, "bound_total", "counter", "Pods bound.", m->bound);
    one(out, "bind_failures_total", "counter", "Binds that were refused or failed.",
        m->bind_failed);
    one(out, "undone_total", "counter", "Binds whose claims were deleted again.", m->undone);
    one(out, "unschedulable_total", "counter", "Filters that left no node.", m->unschedulable);
    one(out, "bad_requests_total", "counter", "Requests that asked nothing sensible.",
        m->bad_requests);
    one(out, "collected_total", "counter", "Claims deleted because nobody would use them.",
        m->collected);
    one(out, "touches_total", "counter", "Times a node's " SW_SCHEDULER_EPOCH " was set.",
        m->touched);
    one(out, "sent_again_total", "counter",
        "Times a pod was to be tried again because a node that was not asked about has room.",
        m->sent_again);
    one(out, "evicted_total", "counter",
        "Pods sent away because a more important one needs their slices.", m->evicted);
    one(out, "evictions_refused_total", "counter", "Evictions that the API server refused.",
        m->evictions_refused);
    one(out, "waiting_pods", "gauge", "Pods that want slices and are not bound.", p->n_waiting);
    one(out, "fragmented_pods", "gauge",
        "Pods that wait and would fit if slices of others lay elsewhere.", count_fragmented(p));
    one(out, "reservations", "gauge", "Slices reserved for claims that are being written.",
        p->n_reserved);
    one(out, "nodes", "gauge", "Nodes that are known.", (uint64_t)lh_table_length(p->nodes));
    one(out, "leading", "gauge", "1 where this replica collects.",
        s->opts.leader_elect ? s->lease && sw_lease_is_leader(s->lease) : 1);
    put_slices(out, p);
    head(out, "requests_total", "counter", "Requests sent to the API server.");
    sw_kube_each_count(s->kube, put_request, out);
    char *text = sw_strndup(out->buf, (size_t)out->bpos);
    printbuf_free(out);
    return text;
}
