#include "slicing/webhook/metrics.h"

#include <json-c/printbuf.h>

static const struct {
    uint64_t ns;
    const char *le;
} buckets[SW_WEBHOOK_N_BUCKETS] = {
    { 25000, "0.000025" }, { 50000, "0.00005" }, { 100000, "0.0001" }, { 250000, "0.00025" },
    { 500000, "0.0005" },  { 1000000, "0.001" }, { 5000000, "0.005" }, { 25000000, "0.025" },
};

void sw_webhook_metrics_observe(struct sw_webhook_metrics *m, uint64_t ns)
{
    size_t i = 0;
    while (i < SW_WEBHOOK_N_BUCKETS && ns > buckets[i].ns)
        i++;
    m->buckets[i]++;
    m->total_ns += ns;
}

static void head(struct printbuf *pb, const char *name, const char *type, const char *help)
{
    sprintbuf(pb, "# HELP slipway_webhook_%s %s\n# TYPE slipway_webhook_%s %s\n", name, help, name,
              type);
}

static void one(struct printbuf *pb, const char *name, const char *type, const char *help,
                uint64_t value)
{
    head(pb, name, type, help);
    sprintbuf(pb, "slipway_webhook_%s %llu\n", name, (unsigned long long)value);
}

static void histogram(struct printbuf *pb, const struct sw_webhook_metrics *m)
{
    uint64_t n = 0;
    head(pb, "duration_seconds", "histogram", "Time to work out an answer.");
    for (size_t i = 0; i < SW_WEBHOOK_N_BUCKETS; i++) {
        n += m->buckets[i];
        sprintbuf(pb, "slipway_webhook_duration_seconds_bucket{le=\"%s\"} %llu\n", buckets[i].le,
                  (unsigned long long)n);
    }
    n += m->buckets[SW_WEBHOOK_N_BUCKETS];
    sprintbuf(pb, "slipway_webhook_duration_seconds_bucket{le=\"+Inf\"} %llu\n",
              (unsigned long long)n);
    sprintbuf(pb, "slipway_webhook_duration_seconds_sum %.9f\n", (double)m->total_ns / 1e9);
    sprintbuf(pb, "slipway_webhook_duration_seconds_count %llu\n", (unsigned long long)n);
}

char *sw_webhook_metrics_text(const struct sw_webhook_metrics *m, const struct sw_serve_counts *c,
                              size_t *len_bytes)
{
    static const char *const outcomes[] = { "unchanged", "mutated", "denied" };
    struct printbuf *pb = printbuf_new();
    head(pb, "admissions_total", "counter", "Pods reviewed, by what became of them.");
    for (size_t i = 0; i < SW_COUNT(outcomes); i++)
        sprintbuf(pb, "slipway_webhook_admissions_total{outcome=\"%s\"} %llu\n", outcomes[i],
                  (unsigned long long)m->outcomes[i]);
    one(pb, "bad_requests_total", "counter", "Requests that were no AdmissionReview or no HTTP.",
        m->bad_requests + c->bad_requests);
    one(pb, "crowded_out_total", "counter", "Requests refused because too much was asked at once.",
        c->overloads);
    one(pb, "connections_total", "counter", "Connections accepted.", c->conns);
    one(pb, "connections", "gauge", "Connections open now.", c->open_conns);
    one(pb, "handshake_errors_total", "counter", "TLS handshakes that failed.",
        c->handshake_errors);
    one(pb, "timeouts_total", "counter", "Connections closed for being slow.", c->timeouts);
    one(pb, "certificate_loads_total", "counter", "Times a certificate was taken into use.",
        c->reloads);
    if (c->not_after)
        one(pb, "certificate_expiry_timestamp_seconds", "gauge",
            "When the serving certificate expires.", (uint64_t)c->not_after);
    histogram(pb, m);
    *len_bytes = (size_t)pb->bpos;
    char *text = sw_strndup(pb->buf, (size_t)pb->bpos);
    printbuf_free(pb);
    return text;
}
