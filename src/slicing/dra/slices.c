/* ResourceSlices of a node. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/json/json.h"
#include "data/json/path.h"
#include "slicing/dra/dra.h"

/* Source: the limits of resource.k8s.io/v1: devices that take counters, and sets of counters. */
enum { MAX_DEVICES = 64, MAX_SETS = 8, MAX_NAME = 253, KEPT_OF_NAME = 200 };

char *sw_dra_pool(const char *node)
{
    return sw_printf("slipway/%s", node);
}

/* The beginning of the names of the node's ResourceSlices. */
static char *slice_name(const char *node)
{
    enum { REST = sizeof "-" SW_DRA_DRIVER "-000" };
    const size_t len = strlen(node);
    if (len + REST <= MAX_NAME)
        return sw_printf("%s-" SW_DRA_DRIVER, node);
    return sw_printf("%.*s-%016llx-" SW_DRA_DRIVER, KEPT_OF_NAME, node,
                     (unsigned long long)sw_fnv64a(node, len));
}

/* ---- counters ----------------------------------------------------------------------------------
 */

static void set_counter(struct json_object *counters, const char *name, unsigned n)
{
    SW_AUTO_CHARS *value = sw_printf("%u", n);
    sw_json_set_str(counters, value, name, "value", NULL);
}

/* Set the counters of a place, or of what is left of a whole GPU. @zeros: those that are none, too
 */
static struct json_object *counters_of(const struct sw_mig_geometry *g, unsigned slices,
                                       unsigned compute, unsigned media, unsigned ofa, bool zeros)
{
    struct json_object *counters = json_object_new_object();
    for (unsigned i = 0; i < g->n_slices; i++) {
        char name[24];
        (void)snprintf(name, sizeof name, "memory-%u", i);
        if (zeros || slices >> i & 1)
            set_counter(counters, name, slices >> i & 1);
    }
    if (zeros || compute)
        set_counter(counters, "compute", compute);
    if (g->n_media && (zeros || media))
        set_counter(counters, "media", media);
    if (g->n_ofa && (zeros || ofa))
        set_counter(counters, "ofa", ofa);
    return counters;
}

/* Compute slices of the GPU: as many as its largest profile has. */
static unsigned n_compute(const struct sw_mig_geometry *g)
{
    unsigned most = 0;
    for (size_t k = 0; k < g->n_kinds; k++)
        if (g->kinds[k].profile.gi > most)
            most = g->kinds[k].profile.gi;
    return most;
}

/* Promised to one and taken by another, more may be held than there is. */
static unsigned left(unsigned have, unsigned held)
{
    return have > held ? have - held : 0;
}

/* What others hold is not there. Compute slices are all there: where memory slices are free, so are
 * the compute slices that go with them. */
static struct json_object *counter_set(const struct sw_dra_gpu *gpu, size_t i)
{
    const struct sw_mig_geometry *g = gpu->geometry;
    SW_AUTO_CHARS *name = sw_printf("gpu-%zu", i);
    struct json_object *set = json_object_new_object();
    sw_json_set_str(set, name, "name", NULL);
    sw_json_set(set,
                counters_of(g, (unsigned)~gpu->held.slices, n_compute(g),
                            left(g->n_media, gpu->held.media), left(g->n_ofa, gpu->held.ofa), true),
                "counters", NULL);
    return set;
}

/* ---- devices -----------------------------------------------------------------------------------
 */

static void set_text(struct json_object *device, const char *type, const char *name,
                     const char *value)
{
    if (value && *value)
        sw_json_set_str(device, value, "attributes", name, type, NULL);
}

static void set_int(struct json_object *device, const char *name, int64_t value)
{
    sw_json_set(device, json_object_new_int64(value), "attributes", name, "int", NULL);
}

/* "580.159.04" and "13.0" as semantic versions, without zeros in front: "580.159.4", "13.0.0". */
static void set_version(struct json_object *device, const char *name, const char *text)
{
    unsigned number[3] = { 0 };
    char version[48];
    if (!text || sscanf(text, "%9u.%9u.%9u", &number[0], &number[1], &number[2]) < 1)
        return;
    (void)snprintf(version, sizeof version, "%u.%u.%u", number[0], number[1], number[2]);
    set_text(device, "version", name, version);
}

static void set_gpu(struct json_object *device, const struct sw_dra_node *node, size_t i)
{
    const struct sw_dra_gpu *gpu = &node->gpus[i];
    SW_AUTO_CHARS *capability = gpu->cuda_major
                                    ? sw_printf("%u.%u", gpu->cuda_major, gpu->cuda_minor)
                                    : NULL;
    set_int(device, "index", (int64_t)i);
    set_text(device, "string", "productName", gpu->product);
    set_text(device, "string", "brand", gpu->brand);
    set_text(device, "string", "architecture", gpu->architecture);
    set_version(device, "cudaComputeCapability", capability);
    set_version(device, "driverVersion", node->driver_version);
    set_version(device, "cudaDriverVersion", node->cuda_version);
    set_text(device, "string", "resource.kubernetes.io/pciBusID", gpu->pci_bus_id);
    set_text(device, "string", "resource.kubernetes.io/pcieRoot", gpu->pcie_root);
    if (gpu->numa_node >= 0) {
        set_int(device, "numaNode", gpu->numa_node);
        set_int(device, "resource.kubernetes.io/numaNode",
                gpu->numa_node); /* other drivers', too */
    }
}

static void set_capacity(struct json_object *device, const char *name, const char *value)
{
    sw_json_set_str(device, value, "capacity", name, "value", NULL);
}

static void set_count(struct json_object *device, const char *name, unsigned n)
{
    SW_AUTO_CHARS *value = sw_printf("%u", n);
    set_capacity(device, name, value);
}

/* Where NVML does not tell, the memory that the profile's name has. */
static void set_capacities(struct json_object *device, const struct sw_mig_kind *kind)
{
    const struct sw_mig_resources *has = &kind->has;
    SW_AUTO_CHARS *memory = has->memory_mib ? sw_printf("%uMi", has->memory_mib)
                                            : sw_printf("%uG", (unsigned)kind->profile.gb);
    set_capacity(device, "memory", memory);
    if (!has->multiprocessors)
        return;
    set_count(device, "multiprocessors", has->multiprocessors);
    set_count(device, "copyEngines", has->copy_engines);
    set_count(device, "decoders", has->decoders);
    set_count(device, "encoders", has->encoders);
    set_count(device, "jpegEngines", has->jpeg_engines);
    set_count(device, "ofaEngines", has->ofa_engines);
}

static void set_slice(struct json_object *device, const struct sw_dra_gpu *gpu,
                      const sw_dra_device *d)
{
    char profile[SW_MIG_NAME_LEN];
    (void)sw_mig_profile_text(&d->kind->profile, profile);
    SW_AUTO_CHARS *set_name = sw_printf("gpu-%zu", d->gpu);
    set_text(device, "string", "type", "mig");
    set_text(device, "string", "profile", profile);
    set_text(device, "string", "parentUUID", gpu->uuid);
    set_int(device, "placementStart", d->place.start);
    set_int(device, "placementSize", d->place.size);
    set_capacities(device, d->kind);
    const unsigned slices = ((1u << d->place.size) - 1) << d->place.start;
    struct json_object *takes = json_object_new_object();
    sw_json_set_str(takes, set_name, "counterSet", NULL);
    sw_json_set(takes,
                counters_of(gpu->geometry, slices, d->kind->profile.gi, d->kind->n_media,
                            d->kind->n_ofa, false),
                "counters", NULL);
    json_object_array_add(sw_json_need_list(device, "consumesCounters", NULL), takes);
}

static struct json_object *device_document(const struct sw_dra_node *node, const sw_dra_device *d)
{
    const struct sw_dra_gpu *gpu = &node->gpus[d->gpu];
    SW_AUTO_CHARS *name = sw_dra_device_name(d);
    struct json_object *device = json_object_new_object();
    sw_json_set_str(device, name, "name", NULL);
    if (d->kind) {
        set_slice(device, gpu, d);
    } else {
        SW_AUTO_CHARS *memory = sw_printf("%uMi", gpu->memory_mib);
        set_text(device, "string", "type", "gpu");
        set_text(device, "string", "uuid", gpu->uuid);
        set_capacity(device, "memory", memory);
    }
    set_gpu(device, node, d->gpu);
    return device;
}

/* ---- slices ------------------------------------------------------------------------------------
 */

/* The spec of one more slice in @slices, borrowed. */
static struct json_object *add_slice(struct json_object *slices, const struct sw_dra_node *node,
                                     int64_t generation)
{
    struct json_object *doc = json_object_new_object(), *owner = json_object_new_object();
    SW_AUTO_CHARS *prefix = slice_name(node->name), *pool = sw_dra_pool(node->name);
    SW_AUTO_CHARS *name = sw_printf("%s-%03zu", prefix, (size_t)json_object_array_length(slices));
    sw_json_set_str(doc, "resource.k8s.io/v1", "apiVersion", NULL);
    sw_json_set_str(doc, "ResourceSlice", "kind", NULL);
    sw_json_set_str(doc, name, "metadata", "name", NULL);
    sw_json_set_str(owner, "v1", "apiVersion", NULL);
    sw_json_set_str(owner, "Node", "kind", NULL);
    sw_json_set_str(owner, node->name, "name", NULL);
    sw_json_set_str(owner, node->uid, "uid", NULL);
    sw_json_set(owner, json_object_new_boolean(true), "controller", NULL);
    json_object_array_add(sw_json_need_list(doc, "metadata", "ownerReferences", NULL), owner);
    sw_json_set_str(doc, SW_DRA_DRIVER, "spec", "driver", NULL);
    sw_json_set_str(doc, node->name, "spec", "nodeName", NULL);
    sw_json_set_str(doc, pool, "spec", "pool", "name", NULL);
    sw_json_set(doc, json_object_new_int64(generation), "spec", "pool", "generation", NULL);
    json_object_array_add(slices, doc);
    return sw_json_get(doc, "spec");
}

static void add_all(struct json_object *slices, const struct sw_dra_node *node, int64_t generation,
                    const char *field, size_t most, struct json_object *items)
{
    struct json_object *spec = NULL;
    for (size_t i = 0; i < json_object_array_length(items); i++) {
        if (i % most == 0)
            spec = add_slice(slices, node, generation);
        json_object_array_add(sw_json_need_list(spec, field, NULL),
                              json_object_get(json_object_array_get_idx(items, i)));
    }
}

struct json_object *sw_dra_slices(const struct sw_dra_node *node, int64_t generation)
{
    struct json_object *slices = json_object_new_array();
    SW_AUTO_JSON *sets = json_object_new_array(), *documents = json_object_new_array();
    sw_dra_device *devices = NULL;
    const size_t n_devices = sw_dra_devices(node, &devices);
    for (size_t i = 0; i < node->n_gpus; i++)
        if (node->gpus[i].geometry && !node->gpus[i].barred)
            json_object_array_add(sets, counter_set(&node->gpus[i], i));
    for (size_t i = 0; i < n_devices; i++)
        json_object_array_add(documents, device_document(node, &devices[i]));
    free(devices);
    add_all(slices, node, generation, "sharedCounters", MAX_SETS, sets);
    add_all(slices, node, generation, "devices", MAX_DEVICES, documents);
    const size_t n = json_object_array_length(slices);
    for (size_t i = 0; i < n; i++)
        sw_json_set(json_object_array_get_idx(slices, i), json_object_new_int64((int64_t)n), "spec",
                    "pool", "resourceSliceCount", NULL);
    return slices;
}
