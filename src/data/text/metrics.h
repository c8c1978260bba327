#pragma once
/* metrics: writes Prometheus' text format 0.0.4, which a program serves at /metrics. A metric is a
 * heading followed by its samples. There is no registry: the caller keeps its counters and writes
 * them for each request. Source:
 * https://prometheus.io/docs/instrumenting/exposition_formats/ Pinned by
 * test/unit/data/data_metrics_test.c. */
#include <stddef.h>
#include <stdint.h>

#include "data/text/buffer.h"

#define SW_METRICS_CONTENT_TYPE "text/plain; version=0.0.4"

/** The text that is being written. Zero-initialise and set @prefix, which every metric's name
 * begins with ("" for none; borrowed). sw_metrics_take() empties it. */
struct sw_metrics {
    const char *prefix;
    struct sw_buffer text;
};

/** The heading of metric @name: its lines HELP and TYPE. @type: "counter", "gauge", "histogram" or
 * "summary". The samples are to follow. */
void sw_metrics_head(struct sw_metrics *m, const char *name, const char *type, const char *help);

/** A sample with an integer. The labels are pairs of name and value (char *), ended by NULL; what
 * the format reserves in values is escaped. */
void sw_metrics_add(struct sw_metrics *m, const char *name, uint64_t value, ...)
    __attribute__((sentinel));

/** sw_metrics_add() with a fraction of so many @decimals. */
void sw_metrics_add_real(struct sw_metrics *m, const char *name, int decimals, double value, ...)
    __attribute__((sentinel));

/** A label's value that names things: of @names, separated by commas, the first @most, and "..."
 * for others. @n: how many there are. @return the caller's */
char *sw_metrics_names(const char *names, size_t most, size_t *n) __attribute__((returns_nonnull));

/** A metric of one sample without labels: its heading and the sample. */
void sw_metrics_one(struct sw_metrics *m, const char *name, const char *type, const char *help,
                    uint64_t value);

/** The largest number of bounds of a histogram, without +Inf. */
enum { SW_HISTOGRAM_MAX_BOUNDS = 10 };

/** The upper bounds of a histogram's buckets, ascending; +Inf is implied. */
struct sw_histogram_bounds {
    size_t n;
    int sum_decimals; /* of the sample _sum */
    double le[SW_HISTOGRAM_MAX_BOUNDS];
};

/** How many observations fell into each bucket; zero at first. */
struct sw_histogram {
    uint64_t buckets[SW_HISTOGRAM_MAX_BOUNDS + 1]; /* not cumulated; [n]: above all bounds */
    double sum;
};

/** Count @value in the first bucket whose bound is not below it. */
void sw_histogram_observe(struct sw_histogram *h, const struct sw_histogram_bounds *bounds,
                          double value);

/** The samples of @h: cumulated buckets, the sum, the count. @label: one label for all of them, its
 * value @label_value; NULL: none. */
void sw_metrics_add_histogram(struct sw_metrics *m, const char *name, const struct sw_histogram *h,
                              const struct sw_histogram_bounds *bounds, const char *label,
                              const char *label_value);

/** The text, NUL-terminated, the caller's. @len_bytes may be NULL. */
char *sw_metrics_take(struct sw_metrics *m, size_t *len_bytes) __attribute__((returns_nonnull));
