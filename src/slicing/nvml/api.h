#pragma once
/* api: the loaded library. Internal to nvml. */
#include "slicing/nvml/abi.h"
#include "slicing/nvml/nvml.h"

/** The functions of the library; NULL where it lacks one that is not needed. */
struct nvml_api {
#define MEMBER(result, name, symbol, parameters, needed) result(*name) parameters;
    NVML_FUNCTIONS(MEMBER)
#undef MEMBER
};

/** See nvml.h. */
struct sw_nvml {
    void *library;
    struct nvml_api api;
    bool initialised;
    void **gpus;
    size_t n_gpus;
    void *events;
};

/** What NVML's @ret means: "<call> of <what>: ...". @return the code */
int nvml_fail(struct sw_nvml *n, int ret, struct sw_err *err, const char *call, const char *what);
/** NVML_COMPUTE_INSTANCE_PROFILE_* for so many slices; 0xff: none. */
uint8_t nvml_ci_profile_of(unsigned slices);
