#include "data/text/metrics.h"

#include "slicing/deviceplugin/endpoint.h"

char *sw_device_plugin_metrics(const struct sw_device_plugin *p, size_t *len_bytes)
{
    static const char *const states[] = { "making", "ready", "undoing" };
    struct sw_metrics out = { .prefix = "slipway_device_plugin_" };
    struct dp_counts c;
    dp_broker_count(p->broker, &c);
    sw_metrics_one(&out, "gpus", "gauge", "GPUs found.", p->driver ? p->driver->n_gpus : 0);
    sw_metrics_one(&out, "gate_open", "gauge", "1 where the readiness gate is open.",
                   p->open && !p->shut_again);
    sw_metrics_head(&out, "devices", "gauge", "Devices advertised to kubelet.");
    for (size_t i = 0; i < p->n_resources; i++) {
        const struct dp_resource *r = &p->resources[i];
        const size_t healthy = dp_endpoint_n_healthy(p->endpoints[i]);
        sw_metrics_add(&out, "devices", healthy, "resource", r->name, "health", "Healthy", NULL);
        sw_metrics_add(&out, "devices", r->n_devices - healthy, "resource", r->name, "health",
                       "Unhealthy", NULL);
    }
    sw_metrics_head(&out, "registered", "gauge", "Whether kubelet knows the resource.");
    for (size_t i = 0; i < p->n_resources; i++)
        sw_metrics_add(&out, "registered", dp_endpoint_is_registered(p->endpoints[i]), "resource",
                       p->resources[i].name, NULL);
    sw_metrics_head(&out, "grants", "gauge", "Containers with slices, by state.");
    for (size_t i = 0; i < SW_COUNT(states); i++)
        sw_metrics_add(&out, "grants", c.n_grants[i], "state", states[i], NULL);
    sw_metrics_one(&out, "claims", "gauge", "AllocationClaims of this node.", c.n_claims);
    sw_metrics_one(&out, "waiting", "gauge", "Allocations that wait for a claim.", c.n_waiting);
    sw_metrics_one(&out, "refused_total", "counter", "Allocations and starts refused.",
                   p->n.refused);
    sw_metrics_head(&out, "allocate_seconds", "summary", "Time from Allocate to its answer.");
    sw_metrics_add_real(&out, "allocate_seconds_sum", 9, p->n.allocate_s, NULL);
    sw_metrics_add(&out, "allocate_seconds_count", p->n.allocated, NULL);
    sw_metrics_head(&out, "step_seconds", "summary", "Time of steps on GPUs.");
    sw_metrics_add_real(&out, "step_seconds_sum", 9, p->n.nvml_s, NULL);
    sw_metrics_add(&out, "step_seconds_count", p->n.steps, NULL);
    sw_metrics_one(&out, "step_errors_total", "counter", "Steps on GPUs that failed.",
                   p->n.step_errors);
    sw_metrics_one(&out, "registrations_total", "counter", "Registrations that kubelet took.",
                   p->n.registrations);
    sw_metrics_one(&out, "claims_swapped_total", "counter", "Claims that went to another pod.",
                   p->n.swaps);
    sw_metrics_one(&out, "evictions_total", "counter",
                   "Pods deleted because a reboot took their slices.", p->n.evictions);
    sw_metrics_one(&out, "file_errors_total", "counter",
                   "Records and CDI files not written or read.", p->n.journal_errors);
    return sw_metrics_take(&out, len_bytes);
}
