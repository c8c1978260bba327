#pragma once
/* metrics: what the scheduler counts. Internal to scheduler. */
#include <stdint.h>

enum metrics_verb { METRICS_FILTER, METRICS_PRIORITIZE, METRICS_PREEMPT, METRICS_BIND };
enum { METRICS_N_VERBS = METRICS_BIND + 1, METRICS_N_BUCKETS = 10 };

struct metrics_histogram {
    uint64_t buckets[METRICS_N_BUCKETS + 1]; /* the last: longer than all */
    double sum_s;
};

struct metrics {
    struct metrics_histogram took[METRICS_N_VERBS]; /* to answer */
    struct metrics_histogram waited;                /* from a pod's first filter to its Binding */
    uint64_t bad_requests, bound, bind_failed, undone, unschedulable;
    uint64_t collected, touched, sent_again, evicted, evictions_refused;
};

void sched_metrics_observe(struct metrics_histogram *h, double seconds, const double *bounds);
extern const double sched_metrics_quick[METRICS_N_BUCKETS], sched_metrics_slow[METRICS_N_BUCKETS];
