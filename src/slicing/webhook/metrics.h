#pragma once
/* metrics: what the server counts, in Prometheus' text format. Internal to webhook. */
#include <stdint.h>

#include "data/text/metrics.h"
#include "net/serve/serve.h"
#include "slicing/webhook/webhook.h"

/** Zero at first. */
struct sw_webhook_metrics {
    uint64_t outcomes[3];  /* by enum sw_webhook_outcome */
    uint64_t bad_requests; /* HTTP, but no AdmissionReview */
    struct sw_histogram took;
};

/** A review was answered after so many @seconds. */
void sw_webhook_metrics_observe(struct sw_webhook_metrics *m, double seconds);
/** The text of /metrics, with the server's own counts @c; the caller's. */
char *sw_webhook_metrics_text(const struct sw_webhook_metrics *m, const struct sw_serve_counts *c,
                              size_t *len_bytes);
