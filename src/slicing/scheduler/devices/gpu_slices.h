#pragma once
/* gpu_slices: the slices of all GPUs as they lie, who holds them, and which pods wait for one: of
 * nodes that publish ResourceSlices and of those that have NodeAccelerators, in one document.
 * `slipway slices` and the page of the dashboard show it. It does no I/O. */
#include "slicing/scheduler/devices/dra_view.h"

struct json_object;

/** What there is. The view has been told of all, the lists are of NodeAccelerators and
 * AllocationClaims. All is borrowed. */
struct gpu_slices_source {
    const struct dra_view *view;
    struct json_object *accelerators, *claims;
    const char *node; /* only its GPUs; NULL: all */
};

/** The GPUs, by node and number; the caller's.
 *
 *     [{"node", "gpu": 0, "uuid", "product", "by": "ResourceClaims"|"AllocationClaims",
 *       "memorySlices": 8, "healthy": true,
 *       "slices": [{"profile", "start", "size", "state", "claim": "NS/NAME",
 *                   "pods": ["NS/NAME"], "keptFor": "NS/NAME"}]}]
 *
 * The number is -1 where a claim names a GPU that nobody reports. The state of a ResourceClaim's
 * slice is "allocated", "inUse" once its node has prepared it, or "kept" where a claim of
 * slipway-scheduler keeps the room. Pinned by test/emulator/cli/slices_test.sh. */
struct json_object *gpu_slices_gpus(const struct gpu_slices_source *from) SW_CHECKED;

/** A pod that waits for slices; the caller's. NULL: it does not.
 *
 *     {"pod": "NS/NAME", "since", "asksFor": ["1 x nvidia.com/mig-1g.5gb"], "message"} */
struct json_object *gpu_slices_waiting(const struct dra_view *v,
                                       const struct dra_pod *p) SW_CHECKED;
/** Add to @doc, of gpu_slices_waiting(), why the pod waits and what would make room:
 *
 *     {"why", "node", "move": [{"pod", "mayMove", "to"}], "evict": ["NS/NAME"]}
 *
 * Nothing is added where kube-scheduler does not allocate the slices: the scheduler's message says
 * it. It runs the allocator, many times where the cluster is large. */
void gpu_slices_explain(const struct dra_view *v, const struct dra_pod *p, struct json_object *doc);
