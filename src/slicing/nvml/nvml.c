/* The library and its GPUs. */
#include "slicing/nvml/nvml.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/library.h"
#include "slicing/nvml/api.h"

enum { MAX_GPUS = 64 };

/* ---- loading -----------------------------------------------------------------------------------
 */

static const struct sw_symbol functions[] = {
#define ROW(result, name, symbol, parameters, needed)                                              \
    { symbol, offsetof(struct nvml_api, name), !(needed), NULL },
    NVML_FUNCTIONS(ROW)
#undef ROW
};

int nvml_fail(struct sw_nvml *n, int ret, struct sw_err *err, const char *call, const char *what)
{
    static const struct {
        int ret, code;
    } codes[] = {
        { NVML_ERROR_NOT_FOUND, SW_NOTFOUND },
        { NVML_ERROR_DRIVER_NOT_LOADED, SW_NOTFOUND },
        { NVML_ERROR_IN_USE, SW_CONFLICT },
        { NVML_ERROR_INSUFFICIENT_RESOURCES, SW_CONFLICT },
        { NVML_ERROR_NO_PERMISSION, SW_FORBIDDEN },
        { NVML_ERROR_NOT_SUPPORTED, SW_INVALID },
        { NVML_ERROR_INVALID_ARGUMENT, SW_INVALID },
        { NVML_ERROR_TIMEOUT, SW_PENDING },
    };
    int code = SW_UNAVAILABLE;
    for (size_t i = 0; i < SW_COUNT(codes); i++)
        if (codes[i].ret == ret)
            code = codes[i].code;
    return sw_err_set(err, code, "%s of %s: %s (NVML error %d)", call, what,
                      n->api.error_string(ret), ret);
}

int sw_nvml_open(const char *library, struct sw_nvml **out, struct sw_err *err)
{
    SW_AUTO(sw_nvml) *n = sw_zalloc(1, sizeof *n);
    library = sw_text_or(library, "libnvidia-ml.so.1");
    const char *missing;
    n->library = sw_library_load(library, RTLD_NOW | RTLD_LOCAL, functions, SW_COUNT(functions),
                                 &n->api, &missing);
    if (missing)
        return sw_err_set(err, SW_INVALID, "%s has no %s: a newer driver is needed", library,
                          missing);
    if (!n->library)
        return sw_err_set(err, SW_NOTFOUND, "no NVML: %s", dlerror());
    int ret = n->api.init();
    if (ret)
        return nvml_fail(n, ret, err, "initialisation", "NVML");
    n->initialised = true;
    unsigned count = 0;
    ret = n->api.count(&count);
    if (ret)
        return nvml_fail(n, ret, err, "count", "GPUs");
    n->n_gpus = count < MAX_GPUS ? count : MAX_GPUS;
    n->gpus = sw_zalloc(n->n_gpus + 1, sizeof *n->gpus);
    for (unsigned i = 0; i < n->n_gpus; i++) {
        ret = n->api.by_index(i, &n->gpus[i]);
        if (ret)
            return nvml_fail(n, ret, err, "handle", "a GPU");
    }
    *out = SW_TAKE(n);
    return 0;
}

void sw_nvml_close(struct sw_nvml *n)
{
    if (!n)
        return;
    if (n->events)
        (void)n->api.set_free(n->events);
    if (n->initialised)
        (void)n->api.shutdown();
    if (n->library)
        (void)dlclose(n->library);
    free(n->gpus);
    free(n);
}

/* ---- GPUs --------------------------------------------------------------------------------------
 */

size_t sw_nvml_n_gpus(const struct sw_nvml *n)
{
    return n->n_gpus;
}

void sw_nvml_versions(struct sw_nvml *n, char driver[static SW_NVML_TEXT],
                      char cuda[static SW_NVML_TEXT])
{
    int version = 0;
    driver[0] = cuda[0] = '\0';
    if (!n->api.driver_version || n->api.driver_version(driver, SW_NVML_TEXT))
        driver[0] = '\0';
    if (n->api.cuda_version && n->api.cuda_version(&version) == 0)
        (void)snprintf(cuda, SW_NVML_TEXT, "%d.%d", version / 1000, version % 1000 / 10);
}

/* Names as NVIDIA's DRA driver writes them. */
static const char *name_of(const char *const *names, size_t n, int64_t number)
{
    return number >= 0 && (size_t)number < n ? names[number] : NULL;
}

static void describe(struct sw_nvml *n, void *h, struct sw_nvml_gpu *g)
{
    static const char *const brands[] = {
        [1] = "Quadro",
        [2] = "Tesla",
        [3] = "NVS",
        [4] = "Grid",
        [5] = "GeForce",
        [6] = "Titan",
        [7] = "NvidiaVApps",
        [8] = "NvidiaVPC",
        [9] = "NvidiaVCS",
        [10] = "NvidiaVWS",
        [11] = "NvidiaCloudGaming",
        [12] = "QuadroRTX",
        [13] = "NvidiaRTX",
        [14] = "Nvidia",
        [15] = "GeForceRTX",
        [16] = "TitanRTX",
    };
    static const char *const architectures[] = {
        [2] = "Kepler", [3] = "Maxwell",      [4] = "Pascal", [5] = "Volta",      [6] = "Turing",
        [7] = "Ampere", [8] = "Ada Lovelace", [9] = "Hopper", [10] = "Blackwell",
    };
    struct nvml_pci pci = { 0 };
    int brand = 0, major = 0, minor = 0;
    unsigned architecture = 0, number = 0;
    if (n->api.pci && n->api.pci(h, &pci) == 0)
        (void)snprintf(g->pci_bus_id, sizeof g->pci_bus_id, "%04x:%02x:%02x.0", pci.domain & 0xffff,
                       pci.bus & 0xff, pci.device & 0xff);
    if (n->api.brand && n->api.brand(h, &brand) == 0)
        g->brand = name_of(brands, SW_COUNT(brands), brand);
    if (n->api.architecture && n->api.architecture(h, &architecture) == 0)
        g->architecture = name_of(architectures, SW_COUNT(architectures), architecture);
    if (n->api.cuda_capability && n->api.cuda_capability(h, &major, &minor) == 0) {
        g->cuda_major = (uint8_t)major;
        g->cuda_minor = (uint8_t)minor;
    }
    g->minor = n->api.minor_number && n->api.minor_number(h, &number) == 0 ? (int)number : -1;
}

int sw_nvml_gpu(struct sw_nvml *n, size_t index, struct sw_nvml_gpu *out, struct sw_err *err)
{
    if (index >= n->n_gpus)
        return sw_err_set(err, SW_NOTFOUND, "there is no GPU %zu", index);
    void *h = n->gpus[index];
    struct sw_nvml_gpu g = { .index = index };
    struct nvml_memory memory = { 0 };
    unsigned now = 0, next = 0;
    int ret = n->api.uuid(h, g.uuid, sizeof g.uuid);
    if (ret == 0)
        ret = n->api.name(h, g.name, sizeof g.name);
    if (ret == 0)
        ret = n->api.memory(h, &memory);
    if (ret)
        return nvml_fail(n, ret, err, "look", "a GPU");
    ret = n->api.mig_mode(h, &now, &next);
    if (ret && ret != NVML_ERROR_NOT_SUPPORTED)
        return nvml_fail(n, ret, err, "MIG mode", g.uuid);
    g.memory_mib = (uint32_t)(memory.total >> 20);
    g.mig = ret == 0 && now == NVML_MIG_ENABLED;
    describe(n, h, &g);
    *out = g;
    return 0;
}

/* What an instance of a profile has; @p in either version of NVML's structure. */
#define RESOURCES(p)                                                                               \
    ((struct sw_mig_resources){ .memory_mib = (uint32_t)(p).memory_mb,                             \
                                .multiprocessors = (uint16_t)(p).multiprocessors,                  \
                                .copy_engines = (uint8_t)(p).copy,                                 \
                                .decoders = (uint8_t)(p).decoders,                                 \
                                .encoders = (uint8_t)(p).encoders,                                 \
                                .jpeg_engines = (uint8_t)(p).jpeg,                                 \
                                .ofa_engines = (uint8_t)(p).ofa })

static int read_profile(struct sw_nvml *n, const struct sw_nvml_gpu *gpu, unsigned number,
                        struct sw_mig_kind *k)
{
    /* by number, where the library is too old to give the profile's name */
    static const uint8_t attrs[NVML_N_GI_PROFILES] = {
        [7] = SW_MIG_ME,     [8] = SW_MIG_ME,      [10] = SW_MIG_GFX,
        [11] = SW_MIG_GFX,   [12] = SW_MIG_GFX,    [13] = SW_MIG_NO_ME,
        [14] = SW_MIG_NO_ME, [15] = SW_MIG_ME_ALL, [16] = SW_MIG_ME_ALL,
    };
    void *h = n->gpus[gpu->index];
    struct nvml_gi_profile_v2 v2 = { .version = NVML_GI_PROFILE_V2 };
    k->gi_profile = (uint8_t)number;
    if (n->api.gi_profile_v && n->api.gi_profile_v(h, number, &v2) == 0) {
        v2.name[sizeof v2.name - 1] = '\0';
        const char *name = sw_starts_with(v2.name, "MIG ") ? v2.name + 4 : v2.name;
        k->gi_id = (uint8_t)v2.id;
        k->has = RESOURCES(v2);
        if (sw_mig_profile_parse(name, strlen(name), &k->profile, NULL) == 0)
            return 0;
    }
    struct nvml_gi_profile p = { 0 };
    const int ret = n->api.gi_profile(h, number, &p);
    if (ret)
        return ret;
    k->gi_id = (uint8_t)p.id;
    k->has = RESOURCES(p);
    /* As `nvidia-smi` names it: eighths of the GPU's memory, rounded up, of its size in GB.
     * Source: MIG user guide, "MIG device names"; k8s-device-plugin's naming. */
    const double eighths = ceil((double)p.memory_mb / gpu->memory_mib * 8) / 8;
    k->profile = (struct sw_mig_profile){
        .gi = (uint8_t)p.slices,
        .gb = (uint16_t)lround(eighths * ceil(gpu->memory_mib / 1024.0)),
        .attrs = attrs[number],
    };
    return 0;
}

static int place_cmp(const void *a, const void *b)
{
    const struct nvml_place *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

static int read_places(struct sw_nvml *n, const struct sw_nvml_gpu *gpu, struct sw_mig_kind *k)
{
    struct nvml_place places[SW_MIG_MAX_PLACES * 2];
    unsigned count = SW_COUNT(places);
    const int ret = n->api.gi_places(n->gpus[gpu->index], k->gi_id, places, &count);
    if (ret)
        return ret;
    qsort(places, count, sizeof places[0], place_cmp);
    for (unsigned i = 0; i < count && i < SW_MIG_MAX_PLACES; i++)
        k->places[k->n_places++] = (struct sw_mig_place){ (uint8_t)places[i].start,
                                                          (uint8_t)places[i].size };
    return 0;
}

uint8_t nvml_ci_profile_of(unsigned slices)
{
    static const uint8_t by_slices[] = { 0, 0, 1, 2, 3, 0, 6, 4, 5 };
    return slices < SW_COUNT(by_slices) ? by_slices[slices] : UINT8_MAX;
}

int sw_nvml_geometry(struct sw_nvml *n, const struct sw_nvml_gpu *gpu, struct sw_mig_geometry **out,
                     struct sw_err *err)
{
    struct sw_mig_kind kinds[SW_MIG_MAX_KINDS] = { 0 };
    size_t n_kinds = 0;
    for (unsigned number = 0; number < NVML_N_GI_PROFILES; number++) {
        struct sw_mig_kind k = { 0 };
        int ret = read_profile(n, gpu, number, &k);
        if (ret == 0)
            ret = read_places(n, gpu, &k);
        if (ret == NVML_ERROR_NOT_SUPPORTED || ret == NVML_ERROR_INVALID_ARGUMENT ||
            (ret == 0 && !k.n_places))
            continue; /* this GPU, or this library, has it not */
        if (ret)
            return nvml_fail(n, ret, err, "profiles", gpu->uuid);
        k.ci_profile = nvml_ci_profile_of(k.profile.gi);
        if (n_kinds < SW_COUNT(kinds))
            kinds[n_kinds++] = k;
    }
    const int rc = sw_mig_geometry_new(kinds, n_kinds, out, err);
    return rc < 0 ? sw_err_wrap(err, rc, "GPU %s", gpu->uuid) : 0;
}

/* ---- what goes wrong ---------------------------------------------------------------------------
 */

int sw_nvml_listen(struct sw_nvml *n, struct sw_err *err)
{
    const struct nvml_api *a = &n->api;
    if (!a->set_create || !a->set_free || !a->set_register || !a->set_wait)
        return sw_err_set(err, SW_INVALID, "this NVML has no events");
    int ret = a->set_create(&n->events);
    if (ret)
        return nvml_fail(n, ret, err, "events", "NVML");
    for (size_t i = 0; i < n->n_gpus; i++) {
        ret = a->set_register(n->gpus[i], NVML_EVENT_XID, n->events);
        if (ret)
            return nvml_fail(n, ret, err, "critical errors", "a GPU");
    }
    return 0;
}

int sw_nvml_next_xid(struct sw_nvml *n, unsigned wait_ms, size_t *gpu_index, uint64_t *xid,
                     struct sw_err *err)
{
    struct nvml_event e = { 0 };
    if (!n->events)
        return SW_PENDING;
    const int ret = n->api.set_wait(n->events, &e, wait_ms);
    if (ret == NVML_ERROR_TIMEOUT)
        return SW_PENDING;
    if (ret)
        return nvml_fail(n, ret, err, "wait for events", "NVML");
    if (e.type != NVML_EVENT_XID)
        return SW_PENDING;
    *xid = e.data;
    for (*gpu_index = 0; *gpu_index < n->n_gpus; ++*gpu_index)
        if (n->gpus[*gpu_index] == e.device)
            return 0;
    *gpu_index = SIZE_MAX; /* which one is not said: all are meant */
    return 0;
}

int sw_nvml_set_exclusive(struct sw_nvml *n, const struct sw_nvml_gpu *gpu, bool exclusive,
                          struct sw_err *err)
{
    if (!n->api.compute_mode)
        return sw_err_set(err, SW_INVALID,
                          "NVML has no nvmlDeviceSetComputeMode: a newer driver "
                          "is needed");
    const int ret = n->api.compute_mode(
        n->gpus[gpu->index], exclusive ? NVML_COMPUTE_EXCLUSIVE_PROCESS : NVML_COMPUTE_DEFAULT);
    return ret ? nvml_fail(n, ret, err, "compute mode", gpu->uuid) : 0;
}
