#include "slicing/deviceplugin/inventory.h"

#include <stdlib.h>
#include <string.h>

#include "data/data.h"

/* How many of a profile an empty GPU holds. Other than the number of placements, which DAS counts:
 * of 1g.5gb+me a GPU has seven, and room for one. */
static size_t room(const struct dp_gpu *gpu, const char *profile)
{
    struct sw_mig_profile p;
    const struct sw_mig_use none = { 0 };
    if (sw_mig_profile_parse(profile, strlen(profile), &p, NULL) < 0)
        return 0;
    const struct sw_mig_kind *k = sw_mig_kind_find(gpu->geometry, &p);
    return k ? sw_mig_room(gpu->geometry, &none, k) : 0;
}

struct dp_resource *dp_inventory_resources(const struct dp_driver *d, size_t *n)
{
    struct dp_resource *out = sw_zalloc(d->n_gpus * SW_MIG_MAX_KINDS + 1, sizeof *out);
    *n = 0;
    for (size_t g = 0; g < d->n_gpus; g++) {
        const struct sw_mig_geometry *geometry = d->gpus[g].geometry;
        for (size_t k = 0; geometry && k < geometry->n_kinds; k++) {
            const struct sw_mig_profile *p = &geometry->kinds[k].profile;
            struct dp_resource *r = &out[*n], *same = out;
            (void)sw_mig_profile_text(p, r->profile);
            while (strcmp(same->profile, r->profile) != 0)
                same++;
            if (same < r)
                continue;
            (void)sw_mig_resource_text(p, r->text);
            r->name = sw_printf(SW_MIG_DAS_PREFIX "%s", r->text);
            r->socket = sw_printf("mig.das.com_%s.sock", r->text);
            for (size_t i = 0; i < d->n_gpus; i++)
                r->n_devices += room(&d->gpus[i], r->profile);
            ++*n;
        }
    }
    return out;
}

void dp_inventory_resources_free(struct dp_resource *resources, size_t n)
{
    for (size_t i = 0; resources && i < n; i++) {
        free(resources[i].name);
        free(resources[i].socket);
    }
    free(resources);
}

void dp_inventory_health(const struct dp_driver *d, const struct dp_resource *r,
                         const struct dp_broker *b, bool withdrawn, bool *healthy)
{
    size_t n_more = 0, n_held_healthy = 0;
    for (size_t i = 0; i < d->n_gpus; i++)
        n_more += d->gpus[i].xid ? 0 : room(&d->gpus[i], r->profile);
    for (size_t i = 0; i < r->n_devices; i++) {
        SW_AUTO_CHARS *id = sw_printf("%s-%zu", r->text, i);
        const struct dp_grant *g = dp_broker_holder(b, r->profile, id);
        healthy[i] = g != NULL;
        for (size_t k = 0; g && k < g->n_slices; k++) {
            const struct dp_gpu *gpu = dp_driver_gpu(d, g->slices[k].gpu);
            healthy[i] &= gpu && !gpu->xid;
        }
        n_held_healthy += healthy[i];
    }
    n_more = withdrawn || n_more < n_held_healthy ? 0 : n_more - n_held_healthy;
    for (size_t i = 0; i < r->n_devices && n_more; i++) {
        SW_AUTO_CHARS *id = sw_printf("%s-%zu", r->text, i);
        if (healthy[i] || dp_broker_holder(b, r->profile, id))
            continue;
        healthy[i] = true;
        n_more--;
    }
}

struct json_object *dp_inventory_document(const struct dp_driver *d)
{
    struct json_object *doc = json_object_new_object();
    struct json_object *gpus = sw_json_need_list(doc, "nodeGpus", NULL);
    const struct sw_mig_geometry *first = NULL;
    for (size_t i = 0; i < d->n_gpus; i++) {
        const struct dp_gpu *gpu = &d->gpus[i];
        if (!gpu->geometry)
            continue;
        struct json_object *g = json_object_new_object();
        SW_AUTO_CHARS *memory = sw_printf("%uMi", gpu->memory_mib);
        sw_json_set_str(g, gpu->uuid, "gpuUuid", NULL);
        sw_json_set_str(g, gpu->name, "gpuName", NULL);
        sw_json_set_str(g, memory, "gpuMemory", NULL);
        if (!first)
            first = gpu->geometry;
        else if (!sw_mig_geometry_equal(first, gpu->geometry))
            sw_json_set(g, sw_mig_geometry_to_json(gpu->geometry), "migPlacement", NULL);
        if (gpu->xid)
            sw_json_set(g, json_object_new_boolean(false), "healthy", NULL);
        json_object_array_add(gpus, g);
    }
    sw_json_set(doc, first ? sw_mig_geometry_to_json(first) : json_object_new_object(),
                "migPlacement", NULL);
    return doc;
}
