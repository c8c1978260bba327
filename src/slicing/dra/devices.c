/* Devices: which there are, in which order, and their names. */
#include <stdlib.h>
#include <string.h>

#include "slicing/dra/dra.h"

/* Of all that can be asked for the one that leaves most is the first: a claim that names no profile
 * gets the smallest. */
struct ranked {
    sw_dra_device device;
    uint32_t cost;
    uint8_t place; /* in NVML's order */
};

static uint32_t cost_of(const struct sw_dra_gpu *gpu, const sw_dra_device *d)
{
    enum { TAKEN = 1u << 31 };
    const struct sw_mig_geometry *g = gpu->geometry;
    if (!g)
        return gpu->use.slices ? TAKEN : 0;
    struct sw_mig_use before = gpu->use;
    if (!sw_mig_fits(g, &before, d->kind, d->place))
        before = (struct sw_mig_use){ 0 }; /* when it fits again: what it would take of a whole */
    struct sw_mig_use after = before;
    sw_mig_take(&after, d->kind, d->place);
    const uint32_t loss = sw_mig_capability(g, &before) - sw_mig_capability(g, &after);
    const bool fits = sw_mig_fits(g, &gpu->use, d->kind, d->place);
    return (fits ? 0 : TAKEN) | loss << 8 | sw_mig_free_slices(g, &before);
}

/* As place_one() of slicing/mig chooses: by cost, then by GPU, then from the last place. */
static int by_cost(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->cost != y->cost)
        return x->cost < y->cost ? -1 : 1;
    if (x->device.gpu != y->device.gpu)
        return x->device.gpu < y->device.gpu ? -1 : 1;
    if (x->device.kind != y->device.kind)
        return x->device.kind < y->device.kind ? -1 : 1;
    return (int)y->place - (int)x->place;
}

static size_t count(const struct sw_dra_gpu *gpu)
{
    size_t n = gpu->geometry ? 0 : 1;
    for (size_t k = 0; gpu->geometry && k < gpu->geometry->n_kinds; k++)
        n += gpu->geometry->kinds[k].n_places;
    return gpu->barred ? 0 : n;
}

size_t sw_dra_devices(const struct sw_dra_node *node, sw_dra_device **out)
{
    size_t n = 0, at = 0;
    for (size_t i = 0; i < node->n_gpus; i++)
        n += count(&node->gpus[i]);
    struct ranked *ranked = sw_zalloc(n + 1, sizeof *ranked);
    for (size_t i = 0; i < node->n_gpus; i++) {
        const struct sw_dra_gpu *gpu = &node->gpus[i];
        if (gpu->barred)
            continue;
        if (!gpu->geometry)
            ranked[at++] = (struct ranked){ .device = { .gpu = i } };
        for (size_t k = 0; gpu->geometry && k < gpu->geometry->n_kinds; k++) {
            const struct sw_mig_kind *kind = &gpu->geometry->kinds[k];
            for (uint8_t p = 0; p < kind->n_places; p++)
                ranked[at++] = (struct ranked){ { i, kind, kind->places[p] }, 0, p };
        }
    }
    for (size_t i = 0; i < n; i++)
        ranked[i].cost = cost_of(&node->gpus[ranked[i].device.gpu], &ranked[i].device);
    qsort(ranked, n, sizeof *ranked, by_cost);
    *out = sw_zalloc(n + 1, sizeof **out);
    for (size_t i = 0; i < n; i++)
        (*out)[i] = ranked[i].device;
    free(ranked);
    return n;
}

char *sw_dra_device_name(const sw_dra_device *device)
{
    if (!device->kind)
        return sw_printf("gpu-%zu", device->gpu);
    char text[SW_MIG_NAME_LEN];
    SW_AUTO_CHARS *label = sw_strdup("");
    (void)sw_mig_profile_text(&device->kind->profile, text);
    const char *const dot = strchr(text, '.');
    for (const char *c = text; *c; c++) { /* a DNS label: "1g.5gb+me" is "1g5gb-me" */
        if (*c == '-')                    /* "2g.48gb-me" is "2g48gb-no-me" */
            sw_append(&label, "-no-");
        else if (c != dot)
            sw_append(&label, "%c", *c == '+' || *c == '.' ? '-' : *c);
    }
    return sw_printf("gpu-%zu-mig-%s-%u", device->gpu, label, (unsigned)device->place.start);
}

int sw_dra_device_find(const struct sw_dra_node *node, const char *name, sw_dra_device *out,
                       struct sw_err *err)
{
    sw_dra_device *devices = NULL;
    const size_t n = sw_dra_devices(node, &devices);
    bool found = false;
    for (size_t i = 0; i < n && !found; i++) {
        SW_AUTO_CHARS *own = sw_dra_device_name(&devices[i]);
        found = strcmp(own, name) == 0;
        if (found)
            *out = devices[i];
    }
    free(devices);
    return found ? 0 : sw_err_set(err, SW_NOTFOUND, "the node has no device '%s'", name);
}
