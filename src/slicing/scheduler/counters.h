#pragma once
/* counters: what the scheduler counts; metrics.c writes it for Prometheus. Internal to scheduler.
 */
#include <stdint.h>

#include "data/text/metrics.h"

/** The extender's verbs, whose answers are timed. */
enum metrics_verb { METRICS_FILTER, METRICS_PRIORITIZE, METRICS_PREEMPT, METRICS_BIND };
enum { METRICS_N_VERBS = METRICS_BIND + 1 };

/** Zero at first. */
struct metrics {
    struct sw_histogram took[METRICS_N_VERBS]; /* seconds to answer */
    struct sw_histogram waited; /* seconds from a pod's first filter to its Binding */
    uint64_t bad_requests, bound, bind_failed, undone, unschedulable;
    uint64_t collected, touched, woken, sent_again, evicted, evictions_refused, moved;
};

/** An answer to @verb took so many @seconds. */
void sched_metrics_answered(struct metrics *m, enum metrics_verb verb, double seconds);
/** A pod was bound so many @seconds after its first filter. */
void sched_metrics_waited(struct metrics *m, double seconds);
