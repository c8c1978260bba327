#include "slicing/scheduler/devices/gpu_slices.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "data/json/table.h"
#include "slicing/claim/claim.h"
#include "slicing/dra/dra.h"

/* While the list is made. */
struct laying {
    const struct gpu_slices_source *from;
    struct json_object *gpus;
    struct lh_table *by_name; /* its GPUs, by "node/number" and by "node uuid" */
    struct lh_table *devices; /* that are published, by "pool name" */
};

/* ---- GPUs --------------------------------------------------------------------------------------
 */

static bool is_meant(const struct laying *r, const char *node)
{
    return !r->from->node || strcmp(r->from->node, node) == 0;
}

/* Tables whose values are borrowed from documents. */
static void remember(struct lh_table *table, char *key, struct json_object *value)
{
    if (lh_table_lookup_entry(table, key))
        free(key);
    else if (lh_table_insert(table, key, value) != 0)
        abort(); /* no memory */
}

/* The GPU of the list; NULL: it is not there. @uuid: NULL: by @index */
static struct json_object *find_gpu(const struct laying *r, const char *node, int64_t index,
                                    const char *uuid)
{
    SW_AUTO_CHARS *key = uuid ? sw_printf("%s %s", node, uuid)
                              : sw_printf("%s/%lld", node, (long long)index);
    return sw_table_find(r->by_name, key);
}

static struct json_object *add_gpu(struct laying *r, const char *node, int64_t index,
                                   const char *uuid, const char *product, const char *by)
{
    struct json_object *gpu = json_object_new_object();
    sw_json_set_str(gpu, node, "node", NULL);
    sw_json_set(gpu, json_object_new_int64(index), "gpu", NULL);
    sw_json_set_str(gpu, uuid, "uuid", NULL);
    sw_json_set_str(gpu, product, "product", NULL);
    sw_json_set_str(gpu, by, "by", NULL);
    sw_json_set(gpu, json_object_new_int64(0), "memorySlices", NULL);
    sw_json_set(gpu, json_object_new_boolean(true), "healthy", NULL);
    (void)sw_json_need_list(gpu, "slices", NULL);
    json_object_array_add(r->gpus, gpu);
    remember(r->by_name, sw_printf("%s/%lld", node, (long long)index), gpu);
    remember(r->by_name, sw_printf("%s %s", node, uuid), gpu);
    return gpu;
}

static void grow(struct json_object *gpu, int64_t memory_slices)
{
    if (sw_json_int(gpu, 0, "memorySlices", NULL) < memory_slices)
        sw_json_set(gpu, json_object_new_int64(memory_slices), "memorySlices", NULL);
}

static int64_t number_of(struct json_object *device, const char *name, int64_t otherwise)
{
    return sw_json_int(device, otherwise, "attributes", name, "int", NULL);
}

static const char *text_of(struct json_object *device, const char *name)
{
    return sw_json_str(device, "", "attributes", name, "string", NULL);
}

/* A device that a node publishes: its GPU, if it is not there yet. */
static void add_device(struct laying *r, const char *node, struct json_object *device)
{
    const int64_t index = number_of(device, "index", 0);
    struct json_object *gpu = find_gpu(r, node, index, NULL);
    const char *uuid = text_of(device, "parentUUID");
    if (!gpu)
        gpu = add_gpu(r, node, index, *uuid ? uuid : text_of(device, "uuid"),
                      text_of(device, "productName"), "ResourceClaims");
    grow(gpu, number_of(device, "placementStart", 0) + number_of(device, "placementSize", 0));
}

static void add_published(struct laying *r)
{
    struct lh_table *slices = r->from->view->docs[DRA_SLICES];
    for (struct lh_entry *e = lh_table_head(slices); e; e = e->next) {
        struct json_object *spec = sw_json_get(lh_entry_v(e), "spec");
        struct json_object *devices = sw_json_get(spec, "devices");
        const char *node = sw_json_str(spec, "", "nodeName", NULL);
        for (size_t i = 0; is_meant(r, node) && i < sw_json_len(devices); i++) {
            struct json_object *device = sw_json_at(devices, i);
            add_device(r, node, device);
            remember(r->devices,
                     sw_printf("%s %s", sw_json_str(spec, "", "pool", "name", NULL),
                               sw_json_str(device, "", "name", NULL)),
                     device);
        }
    }
}

static int64_t slices_of(struct json_object *resources, struct json_object *gpu)
{
    struct json_object *placement = sw_json_get(gpu, "migPlacement");
    SW_AUTO(sw_mig_geometry) *g = NULL;
    if (!placement)
        placement = sw_json_get(resources, "migPlacement");
    return sw_mig_geometry_from_json(placement, &g, NULL) == 0 ? g->n_slices : 0;
}

/* GPUs of a NodeAccelerator, but for those that are published. */
static void add_accelerator(struct laying *r, struct json_object *accelerator)
{
    struct json_object *resources = sw_json_find(accelerator, "status", "nodeResources", NULL);
    struct json_object *gpus = sw_json_get(resources, "nodeGpus");
    const char *node = sw_obj_name(accelerator);
    const bool dra = sw_streq(
        sw_json_str(sw_obj_condition(accelerator, SW_ACCELERATOR_DRA), "", "status", NULL), "True");
    for (size_t i = 0; is_meant(r, node) && i < sw_json_len(gpus); i++) {
        struct json_object *g = sw_json_at(gpus, i);
        const char *uuid = sw_json_str(g, "", "gpuUuid", NULL);
        struct json_object *gpu = find_gpu(r, node, 0, uuid);
        if (!gpu)
            gpu = add_gpu(r, node, (int64_t)i, uuid, sw_json_str(g, "", "gpuName", NULL),
                          dra ? "ResourceClaims" : "AllocationClaims");
        grow(gpu, slices_of(resources, g));
        sw_json_set(gpu, json_object_new_boolean(sw_json_bool(g, true, "healthy", NULL)), "healthy",
                    NULL);
    }
}

/* ---- slices ------------------------------------------------------------------------------------
 */

static struct json_object *add_slice(struct json_object *gpu, const char *profile, int64_t start,
                                     int64_t size, const char *state, struct json_object *claim)
{
    struct json_object *slice = json_object_new_object();
    SW_AUTO_CHARS *name = sw_printf("%s/%s", sw_obj_namespace(claim), sw_obj_name(claim));
    sw_json_set_str(slice, profile, "profile", NULL);
    sw_json_set(slice, json_object_new_int64(start), "start", NULL);
    sw_json_set(slice, json_object_new_int64(size), "size", NULL);
    sw_json_set_str(slice, state, "state", NULL);
    sw_json_set_str(slice, name, "claim", NULL);
    (void)sw_json_need_list(slice, "pods", NULL);
    json_object_array_add(sw_json_get(gpu, "slices"), slice);
    grow(gpu, start + size);
    return slice;
}

static void add_pod(struct json_object *slice, const char *ns, const char *name)
{
    SW_AUTO_CHARS *text = sw_printf("%s/%s", ns, name);
    json_object_array_add(sw_json_get(slice, "pods"), json_object_new_string(text));
}

static struct json_object *device_of(const struct laying *r, const char *pool, const char *name)
{
    SW_AUTO_CHARS *key = sw_printf("%s %s", pool, name);
    return sw_table_find(r->devices, key);
}

/* A device of a GPU that is not published any more, by its name alone: "gpu-1-mig-1g5gb-4". */
static void place_by_name(const char *name, int64_t *index, int64_t *start)
{
    const char *last = strrchr(name, '-');
    *index = sw_starts_with(name, "gpu-") ? strtoll(name + 4, NULL, 10) : 0;
    *start = last && strstr(name, "-mig-") ? strtoll(last + 1, NULL, 10) : 0;
}

static void add_result(struct laying *r, struct json_object *claim, struct json_object *result)
{
    const char *pool = sw_json_str(result, "", "pool", NULL);
    const char *name = sw_json_str(result, "", "device", NULL), *slash = strchr(pool, '/');
    const char *node = slash ? slash + 1 : pool, *kept_for = sw_obj_label(claim, DRA_ROOM_LABEL);
    struct json_object *users = sw_json_find(claim, "status", "reservedFor", NULL);
    struct json_object *device = device_of(r, pool, name);
    int64_t index, start;
    if (!sw_streq(sw_json_str(result, "", "driver", NULL), SW_DRA_DRIVER) || !is_meant(r, node) ||
        sw_json_bool(result, false, "adminAccess", NULL))
        return;
    place_by_name(name, &index, &start);
    index = number_of(device, "index", index);
    struct json_object *gpu = find_gpu(r, node, index, NULL);
    if (!gpu)
        gpu = add_gpu(r, node, index, "", "", "ResourceClaims");
    /* a GPU as a whole has no profile, and takes all of it */
    const char *profile = text_of(device, "profile");
    const bool whole = device && !*profile;
    const bool in_use = sw_json_find_by(sw_json_find(claim, "status", "devices", NULL), "device",
                                        name) != NULL;
    struct json_object *slice = add_slice(gpu,
                                          whole      ? "GPU"
                                          : *profile ? profile
                                                     : name,
                                          number_of(device, "placementStart", start),
                                          number_of(device, "placementSize", 1),
                                          kept_for ? "kept"
                                          : in_use ? "inUse"
                                                   : "allocated",
                                          claim);
    const struct dra_pod *nominee = kept_for ? dra_find_pod(r->from->view, kept_for) : NULL;
    if (nominee) {
        SW_AUTO_CHARS *text = sw_printf("%s/%s", nominee->pod->ns, nominee->pod->name);
        sw_json_set_str(slice, text, "keptFor", NULL);
    }
    for (size_t i = 0; i < sw_json_len(users); i++)
        add_pod(slice, sw_obj_namespace(claim),
                sw_json_str(sw_json_at(users, i), "", "name", NULL));
}

static void add_resource_claims(struct laying *r)
{
    struct lh_table *claims = r->from->view->docs[DRA_CLAIMS];
    for (struct lh_entry *e = lh_table_head(claims); e; e = e->next) {
        struct json_object *claim = lh_entry_v(e);
        struct json_object *results = sw_json_find(claim, "status", "allocation", "devices",
                                                   "results", NULL);
        for (size_t i = 0; i < sw_json_len(results); i++)
            add_result(r, claim, sw_json_at(results, i));
    }
}

static void add_allocation_claim(struct laying *r, struct json_object *doc)
{
    struct sw_claim c;
    char profile[SW_MIG_NAME_LEN];
    if (sw_claim_read(doc, &c, NULL) < 0 || !is_meant(r, c.node))
        return;
    struct json_object *gpu = find_gpu(r, c.node, 0, c.gpu);
    if (!gpu)
        gpu = add_gpu(r, c.node, -1, c.gpu, "", "AllocationClaims");
    struct json_object *slice = add_slice(gpu, sw_mig_profile_text(&c.profile, profile),
                                          c.place.start, c.place.size, sw_claim_state_text(c.state),
                                          doc);
    add_pod(slice, c.pod_ns, c.pod_name);
}

/* ---- order -------------------------------------------------------------------------------------
 */

static int by_place(const void *a, const void *b)
{
    struct json_object *const *x = a, *const *y = b;
    const int64_t p = sw_json_int(*x, 0, "start", NULL), q = sw_json_int(*y, 0, "start", NULL);
    return p != q ? (p < q ? -1 : 1)
                  : strcmp(sw_json_str(*x, "", "claim", NULL), sw_json_str(*y, "", "claim", NULL));
}

static int by_gpu(const void *a, const void *b)
{
    struct json_object *const *x = a, *const *y = b;
    const int order = strcmp(sw_json_str(*x, "", "node", NULL), sw_json_str(*y, "", "node", NULL));
    const int64_t p = sw_json_int(*x, 0, "gpu", NULL), q = sw_json_int(*y, 0, "gpu", NULL);
    return order ? order : (p > q) - (p < q);
}

static void sort(struct laying *r)
{
    json_object_array_sort(r->gpus, by_gpu);
    for (size_t i = 0; i < sw_json_len(r->gpus); i++)
        json_object_array_sort(sw_json_get(sw_json_at(r->gpus, i), "slices"), by_place);
}

struct json_object *gpu_slices_gpus(const struct gpu_slices_source *from)
{
    struct laying r = { .from = from, .gpus = json_object_new_array() };
    r.by_name = lh_kchar_table_new(64, sw_table_free_key);
    r.devices = lh_kchar_table_new(64, sw_table_free_key);
    add_published(&r);
    for (size_t i = 0; i < sw_json_len(from->accelerators); i++)
        add_accelerator(&r, sw_json_at(from->accelerators, i));
    add_resource_claims(&r);
    for (size_t i = 0; i < sw_json_len(from->claims); i++)
        add_allocation_claim(&r, sw_json_at(from->claims, i));
    sort(&r);
    lh_table_free(r.by_name);
    lh_table_free(r.devices);
    return r.gpus;
}
