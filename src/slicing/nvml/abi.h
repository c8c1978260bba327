#pragma once
/* abi: nvml.h's numbers, structs and functions, as far as they are called here; the library in
 * test/nvml includes this too. Source: NVML API Reference Guide. */
#include <stdint.h>

enum {
    NVML_SUCCESS = 0,
    NVML_ERROR_UNINITIALIZED = 1,
    NVML_ERROR_INVALID_ARGUMENT = 2,
    NVML_ERROR_NOT_SUPPORTED = 3,
    NVML_ERROR_NO_PERMISSION = 4,
    NVML_ERROR_NOT_FOUND = 6,
    NVML_ERROR_INSUFFICIENT_SIZE = 7,
    NVML_ERROR_DRIVER_NOT_LOADED = 9,
    NVML_ERROR_TIMEOUT = 10,
    NVML_ERROR_GPU_IS_LOST = 15,
    NVML_ERROR_IN_USE = 19,
    NVML_ERROR_INSUFFICIENT_RESOURCES = 23,
    NVML_ERROR_UNKNOWN = 999,
};

enum { NVML_N_GI_PROFILES = 17, NVML_N_CI_PROFILES = 8 };
enum { NVML_EVENT_XID = 0x8 };
enum { NVML_MIG_ENABLED = 1 };
enum { NVML_COMPUTE_DEFAULT = 0, NVML_COMPUTE_EXCLUSIVE_PROCESS = 3 };

struct nvml_memory {
    unsigned long long total, free, used;
};

struct nvml_place {
    unsigned start, size;
};

struct nvml_gi_profile {
    unsigned id, p2p, slices, instances, multiprocessors, copy, decoders, encoders, jpeg, ofa;
    unsigned long long memory_mb;
};

/* nvmlGpuInstanceProfileInfo_v2_t */
struct nvml_gi_profile_v2 {
    unsigned version, id, p2p, slices, instances, multiprocessors, copy, decoders, encoders, jpeg,
        ofa;
    unsigned long long memory_mb;
    char name[96];
};
#define NVML_GI_PROFILE_V2 ((unsigned)(sizeof(struct nvml_gi_profile_v2) | 2u << 24))

/* nvmlPciInfo_t */
struct nvml_pci {
    char legacy[16];
    unsigned domain, bus, device, id, subsystem;
    char bus_id[32];
};

struct nvml_gi_info {
    void *device;
    unsigned id, profile;
    struct nvml_place place;
};

struct nvml_ci_profile {
    unsigned id, slices, instances, multiprocessors, copy, decoders, encoders, jpeg, ofa;
};

struct nvml_ci_info {
    void *device, *gi;
    unsigned id, profile;
    struct nvml_place place;
};

struct nvml_event {
    void *device;
    unsigned long long type, data;
    unsigned gi, ci;
};

_Static_assert(sizeof(struct nvml_gi_profile) == 48, "as in nvml.h");
_Static_assert(sizeof(struct nvml_gi_profile_v2) == 152, "as in nvml.h");
_Static_assert(sizeof(struct nvml_pci) == 68, "as in nvml.h");
_Static_assert(sizeof(struct nvml_gi_info) == 24, "as in nvml.h");
_Static_assert(sizeof(struct nvml_ci_info) == 32, "as in nvml.h");
_Static_assert(sizeof(struct nvml_event) == 32, "as in nvml.h");

/* X(result, name in struct nvml_api, symbol, parameters, needed) */
#define NVML_FUNCTIONS(X)                                                                          \
    X(int, init, "nvmlInit_v2", (void), 1)                                                         \
    X(int, shutdown, "nvmlShutdown", (void), 1)                                                    \
    X(const char *, error_string, "nvmlErrorString", (int), 1)                                     \
    X(int, count, "nvmlDeviceGetCount_v2", (unsigned *), 1)                                        \
    X(int, by_index, "nvmlDeviceGetHandleByIndex_v2", (unsigned, void **), 1)                      \
    X(int, uuid, "nvmlDeviceGetUUID", (void *, char *, unsigned), 1)                               \
    X(int, name, "nvmlDeviceGetName", (void *, char *, unsigned), 1)                               \
    X(int, memory, "nvmlDeviceGetMemoryInfo", (void *, struct nvml_memory *), 1)                   \
    X(int, mig_mode, "nvmlDeviceGetMigMode", (void *, unsigned *, unsigned *), 1)                  \
    X(int, gi_profile, "nvmlDeviceGetGpuInstanceProfileInfo",                                      \
      (void *, unsigned, struct nvml_gi_profile *), 1)                                             \
    X(int, gi_profile_v, "nvmlDeviceGetGpuInstanceProfileInfoV",                                   \
      (void *, unsigned, struct nvml_gi_profile_v2 *), 0)                                          \
    X(int, gi_places, "nvmlDeviceGetGpuInstancePossiblePlacements_v2",                             \
      (void *, unsigned, struct nvml_place *, unsigned *), 1)                                      \
    X(int, gi_create, "nvmlDeviceCreateGpuInstanceWithPlacement",                                  \
      (void *, unsigned, const struct nvml_place *, void **), 1)                                   \
    X(int, gi_destroy, "nvmlGpuInstanceDestroy", (void *), 1)                                      \
    X(int, gi_list, "nvmlDeviceGetGpuInstances", (void *, unsigned, void **, unsigned *), 1)       \
    X(int, gi_by_id, "nvmlDeviceGetGpuInstanceById", (void *, unsigned, void **), 1)               \
    X(int, gi_info, "nvmlGpuInstanceGetInfo", (void *, struct nvml_gi_info *), 1)                  \
    X(int, ci_profile, "nvmlGpuInstanceGetComputeInstanceProfileInfo",                             \
      (void *, unsigned, unsigned, struct nvml_ci_profile *), 1)                                   \
    X(int, ci_create, "nvmlGpuInstanceCreateComputeInstance", (void *, unsigned, void **), 1)      \
    X(int, ci_destroy, "nvmlComputeInstanceDestroy", (void *), 1)                                  \
    X(int, ci_list, "nvmlGpuInstanceGetComputeInstances", (void *, unsigned, void **, unsigned *), \
      1)                                                                                           \
    X(int, ci_by_id, "nvmlGpuInstanceGetComputeInstanceById", (void *, unsigned, void **), 1)      \
    X(int, ci_info, "nvmlComputeInstanceGetInfo_v2", (void *, struct nvml_ci_info *), 1)           \
    X(int, max_mig, "nvmlDeviceGetMaxMigDeviceCount", (void *, unsigned *), 1)                     \
    X(int, mig_by_index, "nvmlDeviceGetMigDeviceHandleByIndex", (void *, unsigned, void **), 1)    \
    X(int, mig_gi, "nvmlDeviceGetGpuInstanceId", (void *, unsigned *), 1)                          \
    X(int, mig_ci, "nvmlDeviceGetComputeInstanceId", (void *, unsigned *), 1)                      \
    X(int, driver_version, "nvmlSystemGetDriverVersion", (char *, unsigned), 0)                    \
    X(int, cuda_version, "nvmlSystemGetCudaDriverVersion_v2", (int *), 0)                          \
    X(int, pci, "nvmlDeviceGetPciInfo_v3", (void *, struct nvml_pci *), 0)                         \
    X(int, cuda_capability, "nvmlDeviceGetCudaComputeCapability", (void *, int *, int *), 0)       \
    X(int, minor_number, "nvmlDeviceGetMinorNumber", (void *, unsigned *), 0)                      \
    X(int, brand, "nvmlDeviceGetBrand", (void *, int *), 0)                                        \
    X(int, architecture, "nvmlDeviceGetArchitecture", (void *, unsigned *), 0)                     \
    X(int, compute_mode, "nvmlDeviceSetComputeMode", (void *, int), 0)                             \
    X(int, set_create, "nvmlEventSetCreate", (void **), 0)                                         \
    X(int, set_free, "nvmlEventSetFree", (void *), 0)                                              \
    X(int, set_register, "nvmlDeviceRegisterEvents", (void *, unsigned long long, void *), 0)      \
    X(int, set_wait, "nvmlEventSetWait_v2", (void *, struct nvml_event *, unsigned), 0)
