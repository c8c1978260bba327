#pragma once
/* nvml: NVIDIA's management library as far as slices need it, loaded at run time: which GPUs there
 * are, how they can be cut, GPU and compute instances made and destroyed, and what goes wrong on
 * the hardware. It decides nothing, remembers no instance, and never touches a GPU's MIG mode.
 *
 * Calls block, some for seconds; NVML allows them from any thread.
 * Source: NVIDIA's "NVML API Reference Guide", chapters "Device Queries", "Multi Instance GPU
 * Management", "Event Handling Methods". Pinned by test/unit/slicing/nvml_test.c against the
 * library in test/nvml/; on a GPU it has not run yet. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "slicing/mig/mig.h"

struct sw_nvml;

enum { SW_NVML_TEXT = 96 }; /* of a UUID or a name, with its NUL */

/** A GPU, by its index in NVML. */
struct sw_nvml_gpu {
    size_t index;
    char uuid[SW_NVML_TEXT], name[SW_NVML_TEXT];
    uint32_t memory_mib;
    bool mig; /* it is in MIG mode now */
    /* what a library or a GPU may not tell: "", NULL, 0 */
    char pci_bus_id[32];              /* "0000:10:00.0", as in /sys */
    const char *brand, *architecture; /* "Nvidia", "Ampere"; constants */
    uint8_t cuda_major, cuda_minor;   /* compute capability */
    int minor;                        /* N of /dev/nvidiaN; -1 */
};

/** The driver's version and that of CUDA that it has: "580.159.04", "13.0"; "" where the library
 * does not tell. */
void sw_nvml_versions(struct sw_nvml *n, char driver[static SW_NVML_TEXT],
                      char cuda[static SW_NVML_TEXT]);

/** @library: NULL or "": libnvidia-ml.so.1.
 * @return 0 | SW_NOTFOUND (no library, or no driver behind it: the message says which) | SW_INVALID
 * (a library without one of the functions) | SW_UNAVAILABLE */
int sw_nvml_open(const char *library, struct sw_nvml **out, struct sw_err *err) SW_CHECKED;
void sw_nvml_close(struct sw_nvml *n); /* NULL is accepted */
SW_DEFINE_AUTO(sw_nvml, sw_nvml_close)

/* What follows returns 0 or | SW_NOTFOUND (no such GPU or instance) | SW_CONFLICT (in use, or no
 * room there) | SW_FORBIDDEN | SW_INVALID (not supported) | SW_PENDING (timed out) | SW_UNAVAILABLE
 * (all else); the message names the call and what NVML says. */

/** How many GPUs there were when the library was opened. */
size_t sw_nvml_n_gpus(const struct sw_nvml *n);
/** Describe GPU number @index. */
int sw_nvml_gpu(struct sw_nvml *n, size_t index, struct sw_nvml_gpu *out,
                struct sw_err *err) SW_CHECKED;
/** The profiles of a GPU in MIG mode, with their placements. */
int sw_nvml_geometry(struct sw_nvml *n, const struct sw_nvml_gpu *gpu, struct sw_mig_geometry **out,
                     struct sw_err *err) SW_CHECKED;

/** The GPU instance that lies on any slice of @place: its id, and whether its place is the very
 * same. SW_NOTFOUND: there is none. */
int sw_nvml_gi_find(struct sw_nvml *n, const struct sw_nvml_gpu *gpu, struct sw_mig_place place,
                    uint32_t *gi, bool *same, struct sw_err *err) SW_CHECKED;
/** A GPU instance that is there. */
struct sw_nvml_gi {
    uint32_t id;
    const struct sw_mig_kind *kind; /* of the geometry, borrowed */
    struct sw_mig_place place;
};
/** The GPU instances of the profiles of @geometry, whoever made them: at most SW_MIG_MAX_SLICES. */
int sw_nvml_gi_list(struct sw_nvml *n, const struct sw_nvml_gpu *gpu,
                    const struct sw_mig_geometry *geometry,
                    struct sw_nvml_gi out[static SW_MIG_MAX_SLICES], size_t *count,
                    struct sw_err *err) SW_CHECKED;
/** Create a GPU instance at exactly @place; @gi: its id. */
int sw_nvml_gi_create(struct sw_nvml *n, const struct sw_nvml_gpu *gpu,
                      const struct sw_mig_kind *kind, struct sw_mig_place place, uint32_t *gi,
                      struct sw_err *err) SW_CHECKED;
/** Destroy a GPU instance, which must hold no compute instance. */
int sw_nvml_gi_destroy(struct sw_nvml *n, const struct sw_nvml_gpu *gpu, uint32_t gi,
                       struct sw_err *err) SW_CHECKED;
/** One of @ci_slices compute slices (all that the GPU instance has, or fewer). */
int sw_nvml_ci_create(struct sw_nvml *n, const struct sw_nvml_gpu *gpu, uint32_t gi,
                      unsigned ci_slices, uint32_t *ci, struct sw_err *err) SW_CHECKED;
/** Destroy a compute instance, which no process may use. */
int sw_nvml_ci_destroy(struct sw_nvml *n, const struct sw_nvml_gpu *gpu, uint32_t gi, uint32_t ci,
                       struct sw_err *err) SW_CHECKED;
/** Any compute instance of a GPU instance. SW_NOTFOUND: there is none. */
int sw_nvml_ci_find(struct sw_nvml *n, const struct sw_nvml_gpu *gpu, uint32_t gi, uint32_t *ci,
                    struct sw_err *err) SW_CHECKED;
/** The UUID that containers ask for ("MIG-..."). */
int sw_nvml_mig_uuid(struct sw_nvml *n, const struct sw_nvml_gpu *gpu, uint32_t gi, uint32_t ci,
                     char uuid[static SW_NVML_TEXT], struct sw_err *err) SW_CHECKED;

/** Let one process alone have a context on the GPU (a control daemon of MPS, whose clients have
 * none of their own), or any. */
int sw_nvml_set_exclusive(struct sw_nvml *n, const struct sw_nvml_gpu *gpu, bool exclusive,
                          struct sw_err *err) SW_CHECKED;

/** Begin to listen for critical errors of all GPUs. SW_INVALID: the hardware does not report them.
 */
int sw_nvml_listen(struct sw_nvml *n, struct sw_err *err) SW_CHECKED;
/** The next critical error, waiting for @wait_ms. @return 0 | SW_PENDING (none) | SW_UNAVAILABLE */
int sw_nvml_next_xid(struct sw_nvml *n, unsigned wait_ms, size_t *gpu_index, uint64_t *xid,
                     struct sw_err *err) SW_CHECKED;
