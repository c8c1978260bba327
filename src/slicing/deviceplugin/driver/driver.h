#pragma once
/* driver: GPUs and what is done to them, real (NVML) or made up (emulation). Steps block; for real
 * GPUs worker.h does them on a thread. Internal to deviceplugin. */
#include "slicing/deviceplugin/broker/broker.h"

/** A GPU of this node. */
struct dp_gpu {
    char *uuid, *name;
    uint32_t memory_mib;
    struct sw_mig_geometry *geometry; /* NULL: not in MIG mode */
    /* NULL, 0 and -1 where it is not known */
    char *pci_bus_id, *pcie_root;     /* "0000:10:00.0", "pci0000:10" */
    const char *brand, *architecture; /* constants */
    uint8_t cuda_major, cuda_minor;
    int numa_node;
    int minor;    /* N of /dev/nvidiaN */
    uint64_t xid; /* of the critical error that made it unhealthy; 0: it is well */
};

/** One step of the broker's, copied so that a thread can do it. */
struct dp_job {
    enum dp_step step;
    char *gpu;
    struct sw_mig_profile profile;
    struct sw_mig_place place;
    bool gi_known;
    uint32_t gi;
    enum dp_setting_kind setting; /* of DP_STEP_SET and DP_STEP_UNSET */
    unsigned value;
    /* the answer */
    int code;
    uint32_t made_gi, made_ci;
    char uuid[128];
    struct sw_err err;
};

/** The GPU instances of a GPU, whoever made them. */
struct dp_instances {
    size_t gpu;
    int code; /* 0, or what was wrong: then @err says it */
    struct sw_err err;
    size_t n;
    struct dp_instance {
        uint32_t gi;
        const struct sw_mig_kind *kind; /* of the GPU's geometry */
        struct sw_mig_place place;
    } list[SW_MIG_MAX_SLICES];
};

struct dp_driver;
/** What a driver does. run: do the step on the GPU at index @gpu and fill in the answer; it may
 * block. free: the driver's own memory. */
struct dp_driver_ops {
    void (*run)(struct dp_driver *d, size_t gpu, struct dp_job *job);
    /** The next critical error of a GPU: its index, or SIZE_MAX for all. @return 0 | SW_PENDING */
    int (*next_xid)(struct dp_driver *d, size_t *gpu, uint64_t *xid);
    /** Which there are on @found's GPU, which has a geometry; it may block. NULL: none that others
     * could have made. */
    void (*instances)(struct dp_driver *d, struct dp_instances *found);
    void (*free)(struct dp_driver *d);
};
/** The first member of each driver's own struct. */
struct dp_driver {
    const struct dp_driver_ops *ops;
    struct dp_gpu *gpus;
    size_t n_gpus;
    char *driver_version, *cuda_version; /* "580.159.04", "13.0"; NULL: not known */
    bool blocks;                         /* steps go to a thread */
};
/** Free it with its GPUs. NULL is accepted. */
void dp_driver_free(struct dp_driver *d);
SW_DEFINE_AUTO(dp_driver, dp_driver_free)

/** @count GPUs of a model from the tables; their UUIDs follow from @node, so that they are the same
 * after a restart. @return 0 | SW_INVALID (the message lists the models) */
int dp_driver_emulate(const char *model, size_t count, const char *node, struct dp_driver **out,
                      struct sw_err *err) SW_CHECKED;
/** @host_root: where the host's files are, for nvidia-smi (root.h); borrowed for the driver's life.
 * @return 0 | SW_NOTFOUND (no library, no driver, no GPU) | others of nvml.h */
int dp_driver_nvml(const char *library, const char *host_root, struct dp_driver **out,
                   struct sw_err *err) SW_CHECKED;

/** The GPU of that UUID, borrowed; NULL: it is not there. */
struct dp_gpu *dp_driver_gpu(const struct dp_driver *d, const char *uuid);
/** Do the step of @job on its GPU, and fill in the answer; it may block. */
void dp_driver_run(struct dp_driver *d, struct dp_job *job);
/** What a step found or made, for the broker. */
struct dp_step_result dp_job_result(const struct dp_job *job);
/** Free what it owns. */
void dp_job_done(struct dp_job *job);
/** Errors of a program that ran, not of the GPU: they do not make it unhealthy.
 * Source: NVIDIA's "XID Errors" (application errors); k8s-device-plugin skips the same. */
bool dp_xid_is_application(uint64_t xid);
