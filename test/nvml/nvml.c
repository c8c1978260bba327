/* A libnvidia-ml.so.1 without a GPU: GPU and compute instances as a state machine, kept in a file,
 * so that they outlive the process as on a real GPU.
 *
 *   SLIPWAY_NVML_STATE  the file (made when it is not there); needed
 *   SLIPWAY_NVML_GPUS   how many GPUs a new one has (default 2)
 *   SLIPWAY_NVML_MODE   "off": the GPUs are not in MIG mode; "none": no driver
 *   SLIPWAY_NVML_FAIL   a file with lines "FUNCTION CODE [TIMES]": the next TIMES (1) calls of that
 *                       name (as in abi.h: gi_create, ...) fail with that NVML error, having done
 *                       nothing; CODE "die": the process is killed after the call has taken effect;
 *                       CODE "wait": the call takes until there is no such file. Read at each call
 *   SLIPWAY_NVML_XID    a file with "GPU XID": one critical error, told once and removed
 *
 * The profiles are those of an A100 with 40 GB. Rules that a GPU keeps: instances do not overlap;
 * one +me a GPU; a GPU instance with compute instances, or one in use, is not destroyed. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "slicing/nvml/abi.h"

enum { MAX_GPUS = 8, MAX_GI = 8, MAX_CI = 8, MAX_DEVICES = 8 };

struct ci {
    bool used;
    unsigned id, slices;
};

struct gi {
    bool used, busy; /* busy: a process holds it */
    unsigned id, row;
    struct nvml_place place;
    unsigned serial; /* of its making: part of the UUID */
    struct ci ci[MAX_CI];
};

struct gpu {
    struct gi gi[MAX_GI];
    unsigned n_made;
};

struct state {
    unsigned n_gpus;
    struct gpu gpus[MAX_GPUS];
    int compute_mode[MAX_GPUS];
};

static struct state *state;

static const struct {
    unsigned number, id, slices, size, starts, max;
    unsigned long long mb;
    const char *name;
    unsigned multiprocessors, copy, decoders, jpeg, ofa;
} rows[] = {
    { 0, 19, 1, 1, 0x7f, 7, 4864, "MIG 1g.5gb", 14, 1, 0, 0, 0 },
    { 7, 20, 1, 1, 0x7f, 1, 4864, "MIG 1g.5gb+me", 14, 1, 1, 1, 1 },
    { 9, 15, 1, 2, 0x55, 4, 9856, "MIG 1g.10gb", 14, 1, 1, 0, 0 },
    { 1, 14, 2, 2, 0x15, 3, 9856, "MIG 2g.10gb", 28, 2, 1, 0, 0 },
    { 2, 9, 3, 4, 0x11, 2, 19968, "MIG 3g.20gb", 42, 3, 2, 0, 0 },
    { 3, 5, 4, 4, 0x01, 1, 19968, "MIG 4g.20gb", 56, 4, 2, 0, 0 },
    { 4, 0, 7, 8, 0x01, 1, 40192, "MIG 7g.40gb", 98, 7, 5, 1, 1 },
};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

#define EXPORT __attribute__((visibility("default")))

/* ---- failures on demand ------------------------------------------------------------------------
 */

/* @return 0, an NVML error to fail with, -1: die afterwards, -2: wait before */
static int take_order(const char *path, const char *function)
{
    FILE *f = path ? fopen(path, "r+") : NULL;
    if (!f)
        return 0;
    char name[64], code[16], rest[4096] = "";
    int times, result = 0;
    char line[128];
    while (fgets(line, sizeof line, f)) {
        times = 1;
        if (sscanf(line, "%63s %15s %d", name, code, &times) < 2)
            continue;
        if (result == 0 && strcmp(name, function) == 0 && times > 0) {
            result = strcmp(code, "die") == 0 ? -1 : strcmp(code, "wait") == 0 ? -2 : atoi(code);
            times--;
        }
        if (times > 0)
            (void)snprintf(rest + strlen(rest), sizeof rest - strlen(rest), "%s %s %d\n", name,
                           code, times);
    }
    rewind(f);
    if (ftruncate(fileno(f), 0) == 0)
        (void)fputs(rest, f);
    (void)fclose(f);
    return result;
}

/* @return 0, an NVML error to fail with, -1: die afterwards */
static int told(const char *function)
{
    static pthread_mutex_t lock =
        PTHREAD_MUTEX_INITIALIZER; /* NVML is called from several threads */
    const char *path = getenv("SLIPWAY_NVML_FAIL");
    (void)pthread_mutex_lock(&lock);
    const int result = take_order(path, function);
    (void)pthread_mutex_unlock(&lock);
    while (result == -2 && access(path, F_OK) == 0)
        (void)usleep(10 * 1000);
    return result == -2 ? 0 : result;
}

static int done(int told_to)
{
    if (told_to < 0)
        (void)kill(getpid(), SIGKILL);
    return NVML_SUCCESS;
}

#define FAIL_IF_TOLD(function)                                                                     \
    const int order = told(function);                                                              \
    if (order > 0)                                                                                 \
        return order;

static bool off(void)
{
    const char *mode = getenv("SLIPWAY_NVML_MODE");
    return mode && strcmp(mode, "off") == 0;
}

/* ---- handles -----------------------------------------------------------------------------------
 */

/* A device's handle is its address in the state, one more for its MIG devices. */
struct mig {
    unsigned gpu, gi, ci;
};
static struct mig migs[MAX_GPUS][MAX_GI * MAX_CI];

static struct gpu *gpu_of(void *h)
{
    for (unsigned i = 0; i < state->n_gpus; i++)
        if (h == &state->gpus[i])
            return h;
    return NULL;
}

static struct gi *gi_of(void *h, struct gpu **gpu)
{
    for (unsigned g = 0; g < state->n_gpus; g++)
        for (unsigned i = 0; i < MAX_GI; i++)
            if (h == &state->gpus[g].gi[i] && state->gpus[g].gi[i].used) {
                *gpu = &state->gpus[g];
                return h;
            }
    return NULL;
}

static struct ci *ci_of(void *h, struct gi **gi)
{
    for (unsigned g = 0; g < state->n_gpus; g++)
        for (unsigned i = 0; i < MAX_GI; i++)
            for (unsigned c = 0; c < MAX_CI; c++)
                if (h == &state->gpus[g].gi[i].ci[c] && state->gpus[g].gi[i].ci[c].used) {
                    *gi = &state->gpus[g].gi[i];
                    return h;
                }
    return NULL;
}

static int row_of_id(unsigned id)
{
    for (int i = 0; i < N_ROWS; i++)
        if (rows[i].id == id)
            return i;
    return -1;
}

static int row_of_number(unsigned number)
{
    for (int i = 0; i < N_ROWS; i++)
        if (rows[i].number == number)
            return i;
    return -1;
}

/* ---- the library -------------------------------------------------------------------------------
 */

EXPORT int nvmlInit_v2(void);
EXPORT int nvmlInit_v2(void)
{
    const char *path = getenv("SLIPWAY_NVML_STATE"), *mode = getenv("SLIPWAY_NVML_MODE");
    if (!path || (mode && strcmp(mode, "none") == 0))
        return NVML_ERROR_DRIVER_NOT_LOADED;
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof *state) != 0)
        return NVML_ERROR_UNKNOWN;
    state = mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    (void)close(fd);
    if (state == MAP_FAILED)
        return NVML_ERROR_UNKNOWN;
    const char *n = getenv("SLIPWAY_NVML_GPUS");
    if (!state->n_gpus)
        state->n_gpus = n ? (unsigned)atoi(n) : 2;
    return NVML_SUCCESS;
}

EXPORT int nvmlShutdown(void);
EXPORT int nvmlShutdown(void)
{
    return state && munmap(state, sizeof *state) == 0 ? NVML_SUCCESS : NVML_ERROR_UNINITIALIZED;
}

EXPORT const char *nvmlErrorString(int ret);
EXPORT const char *nvmlErrorString(int ret)
{
    return ret == NVML_ERROR_IN_USE                   ? "In use by another client"
           : ret == NVML_ERROR_INSUFFICIENT_RESOURCES ? "Insufficient Resources"
           : ret == NVML_ERROR_NOT_FOUND              ? "Not Found"
           : ret == NVML_ERROR_DRIVER_NOT_LOADED      ? "Driver Not Loaded"
                                                      : "Unknown Error";
}

EXPORT int nvmlDeviceGetCount_v2(unsigned *n);
EXPORT int nvmlDeviceGetCount_v2(unsigned *n)
{
    *n = state->n_gpus;
    return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **out);
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **out)
{
    if (i >= state->n_gpus)
        return NVML_ERROR_NOT_FOUND;
    *out = &state->gpus[i];
    return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetUUID(void *h, char *buf, unsigned len);
EXPORT int nvmlDeviceGetUUID(void *h, char *buf, unsigned len)
{
    if (gpu_of(h)) {
        (void)snprintf(buf, len, "GPU-00000000-0000-0000-0000-00000000000%u",
                       (unsigned)(gpu_of(h) - state->gpus));
        return NVML_SUCCESS;
    }
    const struct mig *m = h;
    if (m < &migs[0][0] || m >= &migs[MAX_GPUS][0])
        return NVML_ERROR_INVALID_ARGUMENT;
    (void)snprintf(buf, len, "MIG-00000000-000%u-000%u-000%u-%012u", m->gpu, m->gi, m->ci,
                   state->gpus[m->gpu].gi[m->gi].serial);
    return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetName(void *h, char *buf, unsigned len);
EXPORT int nvmlDeviceGetName(void *h, char *buf, unsigned len)
{
    (void)snprintf(buf, len, "%s", gpu_of(h) ? "NVIDIA A100-SXM4-40GB" : "MIG");
    return NVML_SUCCESS;
}

EXPORT int nvmlSystemGetDriverVersion(char *buf, unsigned len);
EXPORT int nvmlSystemGetDriverVersion(char *buf, unsigned len)
{
    (void)snprintf(buf, len, "580.159.04");
    return NVML_SUCCESS;
}

EXPORT int nvmlSystemGetCudaDriverVersion_v2(int *version);
EXPORT int nvmlSystemGetCudaDriverVersion_v2(int *version)
{
    *version = 13000;
    return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetPciInfo_v3(void *h, struct nvml_pci *out);
EXPORT int nvmlDeviceGetPciInfo_v3(void *h, struct nvml_pci *out)
{
    if (!gpu_of(h))
        return NVML_ERROR_INVALID_ARGUMENT;
    /* in a domain that no machine here has */
    *out = (struct nvml_pci){ .domain = 0xfff0, .bus = 0x10 + (unsigned)(gpu_of(h) - state->gpus) };
    (void)snprintf(out->bus_id, sizeof out->bus_id, "%08X:%02X:00.0", out->domain, out->bus);
    return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetCudaComputeCapability(void *h, int *major, int *minor);
EXPORT int nvmlDeviceGetCudaComputeCapability(void *h, int *major, int *minor)
{
    *major = 8;
    *minor = 0;
    return gpu_of(h) ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

/* another number than the index, as after a boot that found them in another order */
EXPORT int nvmlDeviceGetMinorNumber(void *h, unsigned *number);
EXPORT int nvmlDeviceGetMinorNumber(void *h, unsigned *number)
{
    if (!gpu_of(h))
        return NVML_ERROR_INVALID_ARGUMENT;
    *number = 4 + (unsigned)(gpu_of(h) - state->gpus);
    return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetBrand(void *h, int *brand);
EXPORT int nvmlDeviceGetBrand(void *h, int *brand)
{
    *brand = 14;
    return gpu_of(h) ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

EXPORT int nvmlDeviceGetArchitecture(void *h, unsigned *architecture);
EXPORT int nvmlDeviceGetArchitecture(void *h, unsigned *architecture)
{
    *architecture = 7;
    return gpu_of(h) ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

EXPORT int nvmlDeviceGetMemoryInfo(void *h, struct nvml_memory *out);
EXPORT int nvmlDeviceGetMemoryInfo(void *h, struct nvml_memory *out)
{
    out->total = 40960ull << 20;
    return gpu_of(h) ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

EXPORT int nvmlDeviceSetComputeMode(void *h, int mode);
EXPORT int nvmlDeviceSetComputeMode(void *h, int mode)
{
    FAIL_IF_TOLD("compute_mode");
    if (!gpu_of(h))
        return NVML_ERROR_INVALID_ARGUMENT;
    state->compute_mode[gpu_of(h) - state->gpus] = mode;
    return done(order);
}

EXPORT int nvmlDeviceGetMigMode(void *h, unsigned *now, unsigned *next);
EXPORT int nvmlDeviceGetMigMode(void *h, unsigned *now, unsigned *next)
{
    *now = *next = !off();
    return gpu_of(h) ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

EXPORT int nvmlDeviceGetGpuInstanceProfileInfo(void *h, unsigned number,
                                               struct nvml_gi_profile *out);
EXPORT int nvmlDeviceGetGpuInstanceProfileInfo(void *h, unsigned number,
                                               struct nvml_gi_profile *out)
{
    const int r = row_of_number(number);
    if (!gpu_of(h) || r < 0 || off())
        return NVML_ERROR_NOT_SUPPORTED;
    *out = (struct nvml_gi_profile){ .id = rows[r].id,
                                     .slices = rows[r].slices,
                                     .instances = rows[r].max,
                                     .multiprocessors = rows[r].multiprocessors,
                                     .copy = rows[r].copy,
                                     .decoders = rows[r].decoders,
                                     .jpeg = rows[r].jpeg,
                                     .ofa = rows[r].ofa,
                                     .memory_mb = rows[r].mb };
    return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetGpuInstanceProfileInfoV(void *h, unsigned number,
                                                struct nvml_gi_profile_v2 *out);
EXPORT int nvmlDeviceGetGpuInstanceProfileInfoV(void *h, unsigned number,
                                                struct nvml_gi_profile_v2 *out)
{
    const int r = row_of_number(number);
    if (!gpu_of(h) || r < 0 || off() || getenv("SLIPWAY_NVML_OLD"))
        return NVML_ERROR_NOT_SUPPORTED;
    if (out->version != NVML_GI_PROFILE_V2)
        return NVML_ERROR_INVALID_ARGUMENT;
    out->id = rows[r].id;
    out->slices = rows[r].slices;
    out->multiprocessors = rows[r].multiprocessors;
    out->copy = rows[r].copy;
    out->decoders = rows[r].decoders;
    out->jpeg = rows[r].jpeg;
    out->ofa = rows[r].ofa;
    out->encoders = 0;
    out->memory_mb = rows[r].mb;
    (void)snprintf(out->name, sizeof out->name, "%s", rows[r].name);
    return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetGpuInstancePossiblePlacements_v2(void *h, unsigned id,
                                                         struct nvml_place *out, unsigned *n);
EXPORT int nvmlDeviceGetGpuInstancePossiblePlacements_v2(void *h, unsigned id,
                                                         struct nvml_place *out, unsigned *n)
{
    const int r = row_of_id(id);
    if (!gpu_of(h) || r < 0)
        return NVML_ERROR_INVALID_ARGUMENT;
    unsigned count = 0;
    for (unsigned start = 8; start-- > 0;) /* in no order that anybody promised */
        if (rows[r].starts >> start & 1) {
            if (out && count < *n)
                out[count] = (struct nvml_place){ start, rows[r].size };
            count++;
        }
    const bool small = out && count > *n;
    *n = count;
    return small ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
}

static unsigned slices_of(struct nvml_place p)
{
    return ((1u << p.size) - 1) << p.start;
}

EXPORT int nvmlDeviceCreateGpuInstanceWithPlacement(void *h, unsigned id,
                                                    const struct nvml_place *at, void **out);
EXPORT int nvmlDeviceCreateGpuInstanceWithPlacement(void *h, unsigned id,
                                                    const struct nvml_place *at, void **out)
{
    FAIL_IF_TOLD("gi_create");
    struct gpu *g = gpu_of(h);
    const int r = row_of_id(id);
    if (!g || r < 0 || at->size != rows[r].size || !(rows[r].starts >> at->start & 1))
        return NVML_ERROR_INVALID_ARGUMENT;
    unsigned taken = 0, of_row = 0;
    struct gi *space = NULL;
    for (unsigned i = 0; i < MAX_GI; i++) {
        if (!g->gi[i].used) {
            space = space ? space : &g->gi[i];
            continue;
        }
        taken |= slices_of(g->gi[i].place);
        of_row += g->gi[i].row == (unsigned)r;
    }
    if (!space || (taken & slices_of(*at)) || of_row >= rows[r].max)
        return NVML_ERROR_INSUFFICIENT_RESOURCES;
    *space = (struct gi){ .used = true,
                          .id = 1 + (unsigned)(space - g->gi),
                          .row = (unsigned)r,
                          .place = *at,
                          .serial = ++g->n_made };
    *out = space;
    return done(order);
}

EXPORT int nvmlGpuInstanceDestroy(void *h);
EXPORT int nvmlGpuInstanceDestroy(void *h)
{
    FAIL_IF_TOLD("gi_destroy");
    struct gpu *g;
    struct gi *gi = gi_of(h, &g);
    if (!gi)
        return NVML_ERROR_INVALID_ARGUMENT;
    for (unsigned c = 0; c < MAX_CI; c++)
        if (gi->ci[c].used)
            return NVML_ERROR_IN_USE;
    gi->used = false;
    return done(order);
}

EXPORT int nvmlDeviceGetGpuInstances(void *h, unsigned id, void **out, unsigned *n);
EXPORT int nvmlDeviceGetGpuInstances(void *h, unsigned id, void **out, unsigned *n)
{
    FAIL_IF_TOLD("gi_list");
    struct gpu *g = gpu_of(h);
    const int r = row_of_id(id);
    if (!g || r < 0)
        return NVML_ERROR_INVALID_ARGUMENT;
    unsigned count = 0;
    for (unsigned i = 0; i < MAX_GI && count < *n; i++)
        if (g->gi[i].used && g->gi[i].row == (unsigned)r)
            out[count++] = &g->gi[i];
    *n = count;
    return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetGpuInstanceById(void *h, unsigned id, void **out);
EXPORT int nvmlDeviceGetGpuInstanceById(void *h, unsigned id, void **out)
{
    struct gpu *g = gpu_of(h);
    if (!g || id < 1 || id > MAX_GI || !g->gi[id - 1].used)
        return NVML_ERROR_NOT_FOUND;
    *out = &g->gi[id - 1];
    return NVML_SUCCESS;
}

EXPORT int nvmlGpuInstanceGetInfo(void *h, struct nvml_gi_info *out);
EXPORT int nvmlGpuInstanceGetInfo(void *h, struct nvml_gi_info *out)
{
    struct gpu *g;
    const struct gi *gi = gi_of(h, &g);
    if (!gi)
        return NVML_ERROR_INVALID_ARGUMENT;
    *out = (struct nvml_gi_info){ g, gi->id, rows[gi->row].id, gi->place };
    return NVML_SUCCESS;
}

static unsigned ci_slices_of(unsigned number)
{
    static const unsigned slices[] = { 1, 2, 3, 4, 7, 8, 6, 1 };
    return number < 7 ? slices[number] : 0;
}

EXPORT int nvmlGpuInstanceGetComputeInstanceProfileInfo(void *h, unsigned number, unsigned engine,
                                                        struct nvml_ci_profile *out);
EXPORT int nvmlGpuInstanceGetComputeInstanceProfileInfo(void *h, unsigned number, unsigned engine,
                                                        struct nvml_ci_profile *out)
{
    struct gpu *g;
    const struct gi *gi = gi_of(h, &g);
    const unsigned slices = ci_slices_of(number);
    if (!gi || engine || !slices || slices > rows[gi->row].slices)
        return NVML_ERROR_NOT_SUPPORTED;
    *out = (struct nvml_ci_profile){ .id = 100 + slices, .slices = slices };
    return NVML_SUCCESS;
}

EXPORT int nvmlGpuInstanceCreateComputeInstance(void *h, unsigned id, void **out);
EXPORT int nvmlGpuInstanceCreateComputeInstance(void *h, unsigned id, void **out)
{
    FAIL_IF_TOLD("ci_create");
    struct gpu *g;
    struct gi *gi = gi_of(h, &g);
    if (!gi || id <= 100)
        return NVML_ERROR_INVALID_ARGUMENT;
    unsigned used = 0;
    struct ci *space = NULL;
    for (unsigned c = 0; c < MAX_CI; c++)
        if (gi->ci[c].used)
            used += gi->ci[c].slices;
        else
            space = space ? space : &gi->ci[c];
    if (!space || used + id - 100 > rows[gi->row].slices)
        return NVML_ERROR_INSUFFICIENT_RESOURCES;
    *space = (struct ci){ true, (unsigned)(space - gi->ci), id - 100 };
    *out = space;
    return done(order);
}

EXPORT int nvmlComputeInstanceDestroy(void *h);
EXPORT int nvmlComputeInstanceDestroy(void *h)
{
    FAIL_IF_TOLD("ci_destroy");
    struct gi *gi;
    struct ci *ci = ci_of(h, &gi);
    if (!ci)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (gi->busy)
        return NVML_ERROR_IN_USE;
    ci->used = false;
    return done(order);
}

EXPORT int nvmlGpuInstanceGetComputeInstances(void *h, unsigned id, void **out, unsigned *n);
EXPORT int nvmlGpuInstanceGetComputeInstances(void *h, unsigned id, void **out, unsigned *n)
{
    struct gpu *g;
    struct gi *gi = gi_of(h, &g);
    if (!gi)
        return NVML_ERROR_INVALID_ARGUMENT;
    unsigned count = 0;
    for (unsigned c = 0; c < MAX_CI && count < *n; c++)
        if (gi->ci[c].used && gi->ci[c].slices + 100 == id)
            out[count++] = &gi->ci[c];
    *n = count;
    return NVML_SUCCESS;
}

EXPORT int nvmlGpuInstanceGetComputeInstanceById(void *h, unsigned id, void **out);
EXPORT int nvmlGpuInstanceGetComputeInstanceById(void *h, unsigned id, void **out)
{
    struct gpu *g;
    struct gi *gi = gi_of(h, &g);
    if (!gi || id >= MAX_CI || !gi->ci[id].used)
        return NVML_ERROR_NOT_FOUND;
    *out = &gi->ci[id];
    return NVML_SUCCESS;
}

EXPORT int nvmlComputeInstanceGetInfo_v2(void *h, struct nvml_ci_info *out);
EXPORT int nvmlComputeInstanceGetInfo_v2(void *h, struct nvml_ci_info *out)
{
    struct gi *gi;
    const struct ci *ci = ci_of(h, &gi);
    if (!ci)
        return NVML_ERROR_INVALID_ARGUMENT;
    *out = (struct nvml_ci_info){ .gi = gi, .id = ci->id, .profile = ci->slices + 100 };
    return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetMaxMigDeviceCount(void *h, unsigned *n);
EXPORT int nvmlDeviceGetMaxMigDeviceCount(void *h, unsigned *n)
{
    *n = MAX_GI * MAX_CI;
    return gpu_of(h) ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

EXPORT int nvmlDeviceGetMigDeviceHandleByIndex(void *h, unsigned i, void **out);
EXPORT int nvmlDeviceGetMigDeviceHandleByIndex(void *h, unsigned i, void **out)
{
    FAIL_IF_TOLD("mig_by_index");
    const struct gpu *g = gpu_of(h);
    if (!g || i >= MAX_GI * MAX_CI)
        return NVML_ERROR_INVALID_ARGUMENT;
    const unsigned gpu = (unsigned)(g - state->gpus), gi = i / MAX_CI, ci = i % MAX_CI;
    if (!g->gi[gi].used || !g->gi[gi].ci[ci].used)
        return NVML_ERROR_NOT_FOUND;
    migs[gpu][i] = (struct mig){ gpu, gi, ci };
    *out = &migs[gpu][i];
    return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetGpuInstanceId(void *h, unsigned *id);
EXPORT int nvmlDeviceGetGpuInstanceId(void *h, unsigned *id)
{
    *id = ((const struct mig *)h)->gi + 1;
    return NVML_SUCCESS;
}

EXPORT int nvmlDeviceGetComputeInstanceId(void *h, unsigned *id);
EXPORT int nvmlDeviceGetComputeInstanceId(void *h, unsigned *id)
{
    *id = ((const struct mig *)h)->ci;
    return NVML_SUCCESS;
}

EXPORT int nvmlEventSetCreate(void **out);
EXPORT int nvmlEventSetCreate(void **out)
{
    *out = &migs;
    return NVML_SUCCESS;
}

EXPORT int nvmlEventSetFree(void *set);
EXPORT int nvmlEventSetFree(void *set)
{
    return set == &migs ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

EXPORT int nvmlDeviceRegisterEvents(void *h, unsigned long long types, void *set);
EXPORT int nvmlDeviceRegisterEvents(void *h, unsigned long long types, void *set)
{
    return gpu_of(h) && types == NVML_EVENT_XID && set == &migs ? NVML_SUCCESS
                                                                : NVML_ERROR_INVALID_ARGUMENT;
}

EXPORT int nvmlEventSetWait_v2(void *set, struct nvml_event *out, unsigned wait_ms);
EXPORT int nvmlEventSetWait_v2(void *set, struct nvml_event *out, unsigned wait_ms)
{
    const char *path = getenv("SLIPWAY_NVML_XID");
    FILE *f = path ? fopen(path, "r") : NULL;
    unsigned gpu;
    unsigned long long xid;
    const bool there = f && fscanf(f, "%u %llu", &gpu, &xid) == 2 && gpu < state->n_gpus;
    if (f)
        (void)fclose(f);
    if (!there || set != &migs) {
        (void)usleep(wait_ms * 1000);
        return NVML_ERROR_TIMEOUT;
    }
    (void)unlink(path);
    *out = (struct nvml_event){ .device = &state->gpus[gpu], .type = NVML_EVENT_XID, .data = xid };
    return NVML_SUCCESS;
}

/* For tests that load it themselves: hold an instance, or let go of it. @return its state */
EXPORT int slipway_nvml_hold(unsigned gpu, unsigned gi, int busy);
EXPORT int slipway_nvml_hold(unsigned gpu, unsigned gi, int busy)
{
    state->gpus[gpu].gi[gi - 1].busy = busy;
    return state->gpus[gpu].gi[gi - 1].used;
}
