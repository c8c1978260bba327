#pragma once
/* metrics: what the server counts, in Prometheus' text format. Internal to webhook. */
#include <stdint.h>

#include "net/serve/serve.h"
#include "slicing/webhook/webhook.h"

enum { SW_WEBHOOK_N_BUCKETS = 8 };

struct sw_webhook_metrics {
    uint64_t outcomes[3];                       /* by enum sw_webhook_outcome */
    uint64_t bad_requests;                      /* HTTP, but no AdmissionReview */
    uint64_t buckets[SW_WEBHOOK_N_BUCKETS + 1]; /* the last: longer than all */
    uint64_t total_ns;
};

void sw_webhook_metrics_observe(struct sw_webhook_metrics *m, uint64_t ns);
/** The caller's. */
char *sw_webhook_metrics_text(const struct sw_webhook_metrics *m, const struct sw_serve_counts *c,
                              size_t *len_bytes);
