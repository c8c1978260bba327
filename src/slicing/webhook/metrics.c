#include "slicing/webhook/metrics.h"

static const struct sw_histogram_bounds bounds = {
    .n = 8,
    .sum_decimals = 9,
    .le = { 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.005, 0.025 },
};

void sw_webhook_metrics_observe(struct sw_webhook_metrics *m, double seconds)
{
    sw_histogram_observe(&m->took, &bounds, seconds);
}

char *sw_webhook_metrics_text(const struct sw_webhook_metrics *m, const struct sw_serve_counts *c,
                              size_t *len_bytes)
{
    static const char *const outcomes[] = { "unchanged", "mutated", "denied" };
    struct sw_metrics out = { .prefix = "slipway_webhook_" };
    sw_metrics_head(&out, "admissions_total", "counter", "Pods reviewed, by what became of them.");
    for (size_t i = 0; i < SW_COUNT(outcomes); i++)
        sw_metrics_add(&out, "admissions_total", m->outcomes[i], "outcome", outcomes[i], NULL);
    sw_metrics_one(&out, "bad_requests_total", "counter",
                   "Requests that were no AdmissionReview or no HTTP.",
                   m->bad_requests + c->bad_requests);
    sw_metrics_one(&out, "crowded_out_total", "counter",
                   "Requests refused because too many were in progress.", c->overloads);
    sw_metrics_one(&out, "connections_total", "counter", "Connections accepted.", c->conns);
    sw_metrics_one(&out, "connections", "gauge", "Connections open now.", c->open_conns);
    sw_metrics_one(&out, "handshake_errors_total", "counter", "TLS handshakes that failed.",
                   c->handshake_errors);
    sw_metrics_one(&out, "timeouts_total", "counter", "Connections closed for being slow.",
                   c->timeouts);
    sw_metrics_one(&out, "certificate_loads_total", "counter", "Times a certificate was loaded.",
                   c->reloads);
    if (c->not_after)
        sw_metrics_one(&out, "certificate_expiry_timestamp_seconds", "gauge",
                       "When the serving certificate expires.", (uint64_t)c->not_after);
    sw_metrics_head(&out, "duration_seconds", "histogram", "Time to compute an answer.");
    sw_metrics_add_histogram(&out, "duration_seconds", &m->took, &bounds, NULL, NULL);
    return sw_metrics_take(&out, len_bytes);
}
