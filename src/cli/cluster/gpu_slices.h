#pragma once
/* gpu_slices: the slices of all GPUs as they lie, who holds them, and which pods wait for one: of
 * nodes that publish ResourceSlices and of those that have NodeAccelerators, in one document. */
#include "base/base.h"

struct json_object;
struct sw_connection;

/** Read it from the cluster; @*out is the caller's. @node: only its GPUs; NULL: all.
 *
 *     {"gpus": [{"node", "gpu": 0, "uuid", "product", "by": "ResourceClaims"|"AllocationClaims",
 *                "memorySlices": 8, "healthy": true,
 *                "slices": [{"profile", "start", "size", "state", "claim": "NS/NAME",
 *                            "pods": ["NS/NAME"], "keptFor": "NS/NAME"}]}],
 *      "waiting": [{"pod": "NS/NAME", "asksFor": ["1 x nvidia.com/mig-1g.5gb"], "message", "why",
 *                   "node", "move": [{"pod", "mayMove", "to"}], "evict": ["NS/NAME"]}]}
 *
 * The state of a ResourceClaim's slice is "allocated", "inUse" once its node has prepared it, or
 * "kept" where a claim of slipway-scheduler keeps the room.
 * @return 0 | as sw_cluster_find(). Pinned by test/emulator/cli/slices_test.sh. */
int sw_gpu_slices_read(struct sw_connection *conn, const char *node, struct json_object **out,
                       struct sw_err *err) SW_CHECKED;
