#include <json-c/printbuf.h>
#include <string.h>

#include "slicing/deviceplugin/plugin.h"

#define PREFIX "slipway_device_plugin_"

static void head(struct printbuf *pb, const char *name, const char *type, const char *help)
{
    sprintbuf(pb, "# HELP " PREFIX "%s %s\n# TYPE " PREFIX "%s %s\n", name, help, name, type);
}

static void one(struct printbuf *pb, const char *name, const char *type, const char *help,
                double value)
{
    head(pb, name, type, help);
    sprintbuf(pb, PREFIX "%s %.9g\n", name, value);
}

static void of_resources(struct printbuf *pb, const struct sw_device_plugin *p)
{
    head(pb, "devices", "gauge", "Devices told to kubelet.");
    for (size_t i = 0; i < p->n_resources; i++) {
        const size_t healthy = dp_endpoint_n_healthy(p->endpoints[i]);
        sprintbuf(pb, PREFIX "devices{resource=\"%s\",health=\"Healthy\"} %zu\n",
                  p->resources[i].name, healthy);
        sprintbuf(pb, PREFIX "devices{resource=\"%s\",health=\"Unhealthy\"} %zu\n",
                  p->resources[i].name, p->resources[i].n_devices - healthy);
    }
    head(pb, "registered", "gauge", "Whether kubelet knows the resource.");
    for (size_t i = 0; i < p->n_resources; i++)
        sprintbuf(pb, PREFIX "registered{resource=\"%s\"} %d\n", p->resources[i].name,
                  dp_endpoint_is_registered(p->endpoints[i]));
}

char *sw_device_plugin_metrics(const struct sw_device_plugin *p, size_t *len_bytes)
{
    static const char *const states[] = { "making", "ready", "undoing" };
    struct printbuf *pb = printbuf_new();
    struct dp_counts c;
    dp_broker_count(p->broker, &c);
    one(pb, "gpus", "gauge", "GPUs found.", p->driver ? (double)p->driver->n_gpus : 0);
    one(pb, "gate_open", "gauge", "Whether what is waited for is ready.",
        p->open && !p->shut_again);
    of_resources(pb, p);
    head(pb, "grants", "gauge", "Containers with slices, by state.");
    for (size_t i = 0; i < SW_COUNT(states); i++)
        sprintbuf(pb, PREFIX "grants{state=\"%s\"} %zu\n", states[i], c.n_grants[i]);
    one(pb, "claims", "gauge", "AllocationClaims of this node.", (double)c.n_claims);
    one(pb, "waiting", "gauge", "Allocations that wait for a claim.", (double)c.n_waiting);
    one(pb, "refused_total", "counter", "Allocations and starts refused.", (double)p->n.refused);
    head(pb, "allocate_seconds", "summary", "Time from Allocate to its answer.");
    sprintbuf(pb, PREFIX "allocate_seconds_sum %.9f\n" PREFIX "allocate_seconds_count %llu\n",
              p->n.allocate_s, (unsigned long long)p->n.allocated);
    head(pb, "step_seconds", "summary", "Time of steps on GPUs.");
    sprintbuf(pb, PREFIX "step_seconds_sum %.9f\n" PREFIX "step_seconds_count %llu\n", p->n.nvml_s,
              (unsigned long long)p->n.steps);
    one(pb, "step_errors_total", "counter", "Steps on GPUs that failed.", (double)p->n.step_errors);
    one(pb, "registrations_total", "counter", "Registrations that kubelet took.",
        (double)p->n.registrations);
    one(pb, "claims_swapped_total", "counter", "Claims that went to another pod.",
        (double)p->n.swaps);
    one(pb, "evictions_total", "counter", "Pods deleted because a reboot took their slices.",
        (double)p->n.evictions);
    one(pb, "file_errors_total", "counter", "Records and CDI files not written or read.",
        (double)p->n.journal_errors);
    *len_bytes = (size_t)pb->bpos;
    char *text = sw_strndup(pb->buf, (size_t)pb->bpos);
    printbuf_free(pb);
    return text;
}
