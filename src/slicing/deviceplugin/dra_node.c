#include "slicing/deviceplugin/dra_node.h"

#include <stdlib.h>
#include <string.h>

#include "slicing/deviceplugin/nvidia_slices.h"
#include "slicing/deviceplugin/other_instances.h"

#define API .group = "resource.k8s.io", .version = "v1", .api_version = "resource.k8s.io/v1"

const struct sw_kind dp_kind_resource_claim = { API,
                                                .kind = "ResourceClaim",
                                                .plural = "resourceclaims",
                                                .namespaced = true,
                                                .served = true,
                                                .has_status = true };
const struct sw_kind dp_kind_resource_slice = { API, .kind = "ResourceSlice",
                                                .plural = "resourceslices", .served = true };
const struct sw_kind dp_kind_device_class = { API, .kind = "DeviceClass", .plural = "deviceclasses",
                                              .served = true };

/* GPUs that are not published have the index that they have in NVML all the same. */
static struct sw_dra_gpu gpu_of(const struct sw_device_plugin *p, const struct dp_gpu *gpu)
{
    return (struct sw_dra_gpu){ .uuid = gpu->uuid,
                                .product = gpu->name,
                                .brand = gpu->brand,
                                .architecture = gpu->architecture,
                                .pci_bus_id = gpu->pci_bus_id,
                                .pcie_root = gpu->pcie_root,
                                .numa_node = gpu->numa_node,
                                .cuda_major = gpu->cuda_major,
                                .cuda_minor = gpu->cuda_minor,
                                .memory_mib = gpu->memory_mib,
                                .geometry = gpu->geometry,
                                .barred = gpu->xid || (!gpu->geometry && !p->opts.whole_gpus) ||
                                          dp_other_instances_bar(p->other_instances,
                                                                 (size_t)(gpu - p->driver->gpus)) ||
                                          dp_nvidia_slices_have(p->nvidia_slices, gpu) };
}

/* ---- what is taken -----------------------------------------------------------------------------
 */

struct holding {
    const struct dp_driver *driver;
    struct sw_dra_gpu *gpus;
    bool of_claims; /* in @use, what ResourceClaims have; else in @held, what others have */
};

static void hold(const struct holding *h, const char *gpu, const char *profile,
                 struct sw_mig_place place)
{
    const struct dp_gpu *found = dp_driver_gpu(h->driver, gpu);
    struct sw_mig_profile p;
    if (!found || sw_mig_profile_parse(profile, strlen(profile), &p, NULL) < 0)
        return;
    const struct sw_mig_kind *kind = sw_mig_kind_find(found->geometry, &p);
    struct sw_dra_gpu *of = &h->gpus[found - h->driver->gpus];
    if (kind)
        sw_mig_take(h->of_claims ? &of->use : &of->held, kind, place);
}

static void hold_grant(struct dp_grant *g, void *arg)
{
    const struct holding *h = arg;
    for (size_t i = 0; h->of_claims == (g->claim.uid != NULL) && i < g->n_slices; i++)
        hold(h, g->slices[i].gpu, g->slices[i].profile, g->slices[i].place);
}

/* Promised to a pod, or held: that with a grant is counted with it. */
static void hold_claim(const struct dp_claim *c, void *arg)
{
    if (!c->grant)
        hold(arg, c->gpu, c->profile, c->place);
}

struct sw_dra_node dp_dra_node(const struct sw_device_plugin *p, const char *uid)
{
    struct sw_dra_node node = { .name = p->opts.node, .uid = uid };
    if (!p->driver)
        return node;
    struct sw_dra_gpu *gpus = sw_zalloc(p->driver->n_gpus + 1, sizeof *gpus);
    for (size_t i = 0; i < p->driver->n_gpus; i++) {
        gpus[i] = gpu_of(p, &p->driver->gpus[i]);
        gpus[i].held = dp_other_instances_use(p->other_instances, i);
    }
    struct holding h = { p->driver, gpus, false };
    dp_broker_each(p->broker, hold_grant, &h);
    dp_broker_each_claim(p->broker, hold_claim, &h);
    for (size_t i = 0; i < p->driver->n_gpus; i++)
        gpus[i].use = gpus[i].held;
    h.of_claims = true;
    if (p->opts.reorders)
        dp_broker_each(p->broker, hold_grant, &h);
    node.driver_version = p->driver->driver_version;
    node.cuda_version = p->driver->cuda_version;
    node.gpus = gpus;
    node.n_gpus = p->driver->n_gpus;
    return node;
}
