/* GPU instances and compute instances. */
#include <stdlib.h>

#include "slicing/nvml/api.h"

enum { MAX_INSTANCES = 16 };

static void *handle_of(const struct sw_nvml *n, const struct sw_nvml_gpu *gpu)
{
    return n->gpus[gpu->index];
}

/* Among the instances of one profile. @return 0: found | NVML_ERROR_NOT_FOUND | ... */
static int find_among(struct sw_nvml *n, void *device, unsigned number, struct sw_mig_place place,
                      uint32_t *gi, bool *same)
{
    struct nvml_gi_profile p = { 0 };
    if (n->api.gi_profile(device, number, &p) != 0)
        return NVML_ERROR_NOT_FOUND; /* no such profile here */
    void *instances[MAX_INSTANCES];
    unsigned count = MAX_INSTANCES;
    int ret = n->api.gi_list(device, p.id, instances, &count);
    for (unsigned i = 0; ret == 0 && i < count; i++) {
        struct nvml_gi_info info = { 0 };
        ret = n->api.gi_info(instances[i], &info);
        if (ret || info.place.start >= (unsigned)place.start + place.size ||
            place.start >= info.place.start + info.place.size)
            continue; /* they do not overlap */
        *gi = info.id;
        *same = info.place.start == place.start && info.place.size == place.size;
        return 0;
    }
    return ret ? ret : NVML_ERROR_NOT_FOUND;
}

int sw_nvml_gi_find(struct sw_nvml *n, const struct sw_nvml_gpu *gpu, struct sw_mig_place place,
                    uint32_t *gi, bool *same, struct sw_err *err)
{
    for (unsigned number = 0; number < NVML_N_GI_PROFILES; number++) {
        const int ret = find_among(n, handle_of(n, gpu), number, place, gi, same);
        if (ret == 0)
            return 0;
        if (ret != NVML_ERROR_NOT_FOUND)
            return nvml_fail(n, ret, err, "GPU instances", gpu->uuid);
    }
    return sw_err_set(err, SW_NOTFOUND, "no GPU instance at slice %u of %s", place.start,
                      gpu->uuid);
}

int sw_nvml_gi_list(struct sw_nvml *n, const struct sw_nvml_gpu *gpu,
                    const struct sw_mig_geometry *geometry,
                    struct sw_nvml_gi out[static SW_MIG_MAX_SLICES], size_t *count,
                    struct sw_err *err)
{
    *count = 0;
    for (size_t k = 0; k < geometry->n_kinds; k++) {
        const struct sw_mig_kind *kind = &geometry->kinds[k];
        void *instances[MAX_INSTANCES];
        unsigned n_instances = MAX_INSTANCES;
        int ret = n->api.gi_list(handle_of(n, gpu), kind->gi_id, instances, &n_instances);
        for (unsigned i = 0; ret == 0 && i < n_instances && *count < SW_MIG_MAX_SLICES; i++) {
            struct nvml_gi_info info = { 0 };
            ret = n->api.gi_info(instances[i], &info);
            if (ret == 0)
                out[(*count)++] = (struct sw_nvml_gi){
                    info.id, kind, { (uint8_t)info.place.start, (uint8_t)info.place.size }
                };
        }
        if (ret && ret != NVML_ERROR_NOT_FOUND && ret != NVML_ERROR_NOT_SUPPORTED) {
            *count = 0;
            return nvml_fail(n, ret, err, "GPU instances", gpu->uuid);
        }
    }
    return 0;
}

int sw_nvml_gi_create(struct sw_nvml *n, const struct sw_nvml_gpu *gpu,
                      const struct sw_mig_kind *kind, struct sw_mig_place place, uint32_t *gi,
                      struct sw_err *err)
{
    void *device = handle_of(n, gpu), *instance = NULL;
    struct nvml_gi_profile p = { 0 };
    struct nvml_gi_info info = { 0 };
    const struct nvml_place at = { place.start, place.size };
    int ret = n->api.gi_profile(device, kind->gi_profile, &p);
    if (ret == 0)
        ret = n->api.gi_create(device, p.id, &at, &instance);
    if (ret == 0)
        ret = n->api.gi_info(instance, &info);
    if (ret) {
        SW_AUTO_CHARS *what = sw_printf("slices %u to %u of %s", place.start,
                                        place.start + place.size - 1u, gpu->uuid);
        return nvml_fail(n, ret, err, "GPU instance", what);
    }
    *gi = info.id;
    return 0;
}

static int open_gi(struct sw_nvml *n, const struct sw_nvml_gpu *gpu, uint32_t gi, void **out,
                   struct sw_err *err)
{
    const int ret = n->api.gi_by_id(handle_of(n, gpu), gi, out);
    return ret ? nvml_fail(n, ret, err, "GPU instance", gpu->uuid) : 0;
}

int sw_nvml_gi_destroy(struct sw_nvml *n, const struct sw_nvml_gpu *gpu, uint32_t gi,
                       struct sw_err *err)
{
    void *instance;
    const int rc = open_gi(n, gpu, gi, &instance, err);
    if (rc < 0)
        return rc;
    const int ret = n->api.gi_destroy(instance);
    return ret ? nvml_fail(n, ret, err, "destruction of a GPU instance", gpu->uuid) : 0;
}

int sw_nvml_ci_create(struct sw_nvml *n, const struct sw_nvml_gpu *gpu, uint32_t gi,
                      unsigned ci_slices, uint32_t *ci, struct sw_err *err)
{
    void *instance, *made = NULL;
    const int rc = open_gi(n, gpu, gi, &instance, err);
    if (rc < 0)
        return rc;
    struct nvml_ci_profile p = { 0 };
    struct nvml_ci_info info = { 0 };
    int ret = n->api.ci_profile(instance, nvml_ci_profile_of(ci_slices), 0, &p);
    if (ret == 0)
        ret = n->api.ci_create(instance, p.id, &made);
    if (ret == 0)
        ret = n->api.ci_info(made, &info);
    if (ret)
        return nvml_fail(n, ret, err, "compute instance", gpu->uuid);
    *ci = info.id;
    return 0;
}

int sw_nvml_ci_find(struct sw_nvml *n, const struct sw_nvml_gpu *gpu, uint32_t gi, uint32_t *ci,
                    struct sw_err *err)
{
    void *instance;
    const int rc = open_gi(n, gpu, gi, &instance, err);
    if (rc < 0)
        return rc;
    for (unsigned number = 0; number < NVML_N_CI_PROFILES; number++) {
        struct nvml_ci_profile p = { 0 };
        void *found[MAX_INSTANCES];
        unsigned count = MAX_INSTANCES;
        struct nvml_ci_info info = { 0 };
        if (n->api.ci_profile(instance, number, 0, &p) != 0 ||
            n->api.ci_list(instance, p.id, found, &count) != 0 || count == 0)
            continue;
        const int ret = n->api.ci_info(found[0], &info);
        if (ret)
            return nvml_fail(n, ret, err, "compute instances", gpu->uuid);
        *ci = info.id;
        return 0;
    }
    return sw_err_set(err, SW_NOTFOUND, "no compute instance in GPU instance %u of %s", gi,
                      gpu->uuid);
}

int sw_nvml_ci_destroy(struct sw_nvml *n, const struct sw_nvml_gpu *gpu, uint32_t gi, uint32_t ci,
                       struct sw_err *err)
{
    void *instance, *compute = NULL;
    const int rc = open_gi(n, gpu, gi, &instance, err);
    if (rc < 0)
        return rc;
    int ret = n->api.ci_by_id(instance, ci, &compute);
    if (ret == 0)
        ret = n->api.ci_destroy(compute);
    return ret ? nvml_fail(n, ret, err, "destruction of a compute instance", gpu->uuid) : 0;
}

int sw_nvml_mig_uuid(struct sw_nvml *n, const struct sw_nvml_gpu *gpu, uint32_t gi, uint32_t ci,
                     char uuid[static SW_NVML_TEXT], struct sw_err *err)
{
    unsigned count = 0;
    int ret = n->api.max_mig(handle_of(n, gpu), &count);
    if (ret)
        return nvml_fail(n, ret, err, "MIG devices", gpu->uuid);
    for (unsigned i = 0; i < count; i++) {
        void *mig;
        unsigned its_gi, its_ci;
        if (n->api.mig_by_index(handle_of(n, gpu), i, &mig) != 0 ||
            n->api.mig_gi(mig, &its_gi) != 0 || n->api.mig_ci(mig, &its_ci) != 0 || its_gi != gi ||
            its_ci != ci)
            continue;
        ret = n->api.uuid(mig, uuid, SW_NVML_TEXT);
        return ret ? nvml_fail(n, ret, err, "UUID of a MIG device", gpu->uuid) : 0;
    }
    return sw_err_set(err, SW_NOTFOUND,
                      "no MIG device for GPU instance %u, compute instance %u of %s", gi, ci,
                      gpu->uuid);
}
