#pragma once
/* dra: the GPUs of a node as Dynamic Resource Allocation sees them: the ResourceSlices that the
 * node publishes, the names of their devices, the DeviceClasses that pods ask by.
 *
 * A GPU in MIG mode is a device for each place of each profile. Each takes counters of its GPU: the
 * memory slices that it covers, compute slices, engines; so what overlaps is never allocated at
 * once. kube-scheduler takes the first device that fits: the order of the devices is the policy.
 *
 * It does no I/O, and includes no cluster.
 * Source: Kubernetes resource.k8s.io/v1 (KEP-4815, partitionable devices; KEP-5004, extended
 * resources); names of attributes and capacities as NVIDIA's DRA driver has them. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

#include "base/base.h"
#include "slicing/mig/mig.h"

/** The driver's name in ResourceSlices, claims and selectors. */
#define SW_DRA_DRIVER "mig.slipway.dev"
/** The class of a profile is "mig-1g.5gb.slipway.dev"; those of all slices and of whole GPUs: */
#define SW_DRA_CLASS_MIG "mig.slipway.dev"
#define SW_DRA_CLASS_GPU "gpu.slipway.dev"

/** What DeviceClasses of ours have: the driver's name. */
#define SW_DRA_LABEL "slipway.dev/driver"

/** A GPU of the node; texts are borrowed, NULL where something is not known. */
struct sw_dra_gpu {
    const char *uuid, *product, *brand, *architecture;
    const char *pci_bus_id;         /* "0000:10:00.0" */
    const char *pcie_root;          /* "pci0000:10" */
    int numa_node;                  /* -1: not known */
    uint8_t cuda_major, cuda_minor; /* compute capability; 0: not known */
    uint32_t memory_mib;
    struct sw_mig_geometry *geometry; /* borrowed; NULL: not in MIG mode, a device as a whole */
    struct sw_mig_use held;           /* by others than claims of Kubernetes: nobody else gets it */
    struct sw_mig_use use; /* all that is taken now, @held among it: the order goes by it */
    bool barred;           /* unhealthy: nothing of it is published */
};

/** A node and what it publishes. */
struct sw_dra_node {
    const char *name, *uid;
    const char *driver_version, *cuda_version; /* "580.159.04", "13.0"; NULL: not known */
    const struct sw_dra_gpu *gpus;             /* borrowed; GPU i is "gpu-i" */
    size_t n_gpus;
};

/** A device: a place of a profile on a GPU, or with @kind NULL the GPU as a whole. */
typedef struct sw_mig_choice sw_dra_device;

/** The devices of @node in the order in which kube-scheduler is to try them: what fits now before
 * what does not, then what takes the least from what can still be made, as SW_MIG_PACKED places.
 * @out: the caller's, to be freed. @return how many */
size_t sw_dra_devices(const struct sw_dra_node *node, sw_dra_device **out);
/** A device's name: "gpu-0-mig-1g5gb-me-4", "gpu-1-mig-2g48gb-no-me-0", "gpu-0". The
 * caller's. */
char *sw_dra_device_name(const sw_dra_device *device) SW_CHECKED;
/** The device of that name, as a claim's allocation has it. @return 0 | SW_NOTFOUND */
int sw_dra_device_find(const struct sw_dra_node *node, const char *name, sw_dra_device *out,
                       struct sw_err *err) SW_CHECKED;

/** The node's pool: not the node's name alone, since kube-scheduler 1.36 mixes up the counters of
 * two drivers whose pools have one name. The caller's. */
char *sw_dra_pool(const char *node) SW_CHECKED;
/** The ResourceSlices of the node, an array of documents, the caller's: first those with the
 * counters (at most 8 sets each), then those with the devices (at most 64 each). Their names sort
 * in the order of the devices, which is that in which kube-scheduler reads them. @generation: of
 * the pool, higher than any before. */
struct json_object *sw_dra_slices(const struct sw_dra_node *node, int64_t generation) SW_CHECKED;

/** A limit of the memory that each client of a control daemon may have pinned on a device. */
struct sw_dra_limit {
    char *device; /* a UUID, its number among those of the daemon, or SW_DRA_ALL; owned */
    int64_t mib;
};
#define SW_DRA_ALL "*"
/** How the containers of a claim share a device. */
struct sw_dra_sharing {
    bool of_slices;              /* MigDeviceConfig; else it is of whole GPUs */
    unsigned interval;           /* of their turns: 0 (as the driver has it) to 3 (Long) */
    bool mps;                    /* at once, as clients of a control daemon; then: */
    int threads;                 /* per cent; -1: all */
    bool multi_user;             /* clients of several users at once */
    struct sw_dra_limit *limits; /* what comes later counts */
    size_t n_limits;
};
/** Free what it owns. */
void sw_dra_sharing_done(struct sw_dra_sharing *sharing);
/** The parameters of an opaque configuration for this driver: GpuConfig or MigDeviceConfig. @out:
 * the caller's (sw_dra_sharing_done()). @return 0 | SW_INVALID: the message says which field is
 * wrong. Source: NVIDIA's DRA driver, resource.nvidia.com/v1beta1. */
int sw_dra_config_read(struct json_object *parameters, struct sw_dra_sharing *out,
                       struct sw_err *err) SW_CHECKED;

/** A device of ours that a ResourceClaim was allocated; the texts are owned. */
struct sw_dra_result {
    char *request; /* without the name of an alternative: "gpu" of "gpu/large" */
    char *group;   /* requests of one group are those of the same containers */
    char *device;  /* in the pool */
    bool admin;    /* adminAccess: it may be another claim's, nothing is made for it */
    struct sw_dra_sharing sharing; /* of the configuration that counts for it */
    size_t config;                 /* which of the claim's that is; SIZE_MAX: none */
    bool of_claim;                 /* it is the claim's own, not its DeviceClass's */
};
/** What the ResourceClaim @claim was allocated of the pool @pool. @uid: which one is meant. @out:
 * the caller's (sw_dra_results_free()).
 * @return 0 | SW_CONFLICT: another claim of this name | SW_PENDING: not allocated | SW_NOTFOUND:
 *         nothing of this pool | SW_INVALID: a result or a configuration that cannot be read */
int sw_dra_results_read(struct json_object *claim, const char *uid, const char *pool,
                        struct sw_dra_result **out, size_t *n, struct sw_err *err) SW_CHECKED;
/** With the array. NULL is accepted. */
void sw_dra_results_free(struct sw_dra_result *results, size_t n);

/** The DeviceClasses for the profiles of these geometries, an array, the caller's: for each profile
 * one that pods get by nvidia.com/mig-PROFILE, and one by mig.das.com/PROFILE; one of all slices,
 * one of whole GPUs. */
struct json_object *sw_dra_classes(struct sw_mig_geometry *const *geometries,
                                   size_t n_geometries) SW_CHECKED;
