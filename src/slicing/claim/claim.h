#pragma once
/* claim: AllocationClaims, the custom resources in which the scheduler says which slices a pod has,
 * and the device plugin how far they are. Both read and write them here. Source: DAS. */
#include <json-c/json.h>

#include "kube/kube.h"
#include "slicing/mig/mig.h"

#define SW_CLAIM_GROUP "inference.redhat.com"
#define SW_CLAIM_API SW_CLAIM_GROUP "/v1alpha1"

/** Constants, so that a watch waits for a CRD that is not there yet. */
extern const struct sw_kind sw_kind_claim, sw_kind_accelerator;

/** A NodeAccelerator's condition: the node's slices are given out by Dynamic Resource Allocation,
 * and not for AllocationClaims. */
#define SW_ACCELERATOR_DRA "DynamicResourceAllocation"

/** A label of an AllocationClaim that only shows what a ResourceClaim has: the kind of that. Nobody
 * acts on it. The annotation names the ResourceClaim, which is in the same namespace. */
#define SW_CLAIM_VIEW "slipway.dev/view"
#define SW_CLAIM_VIEW_OF "slipway.dev/resource-claim"

/** status.state, in the order in which a claim goes through them. */
enum sw_claim_state {
    SW_CLAIM_STAGED,
    SW_CLAIM_CREATED,
    SW_CLAIM_PROCESSING,
    SW_CLAIM_IN_USE,
    SW_CLAIM_ORPHANED,
};
enum { SW_CLAIM_N_STATES = SW_CLAIM_ORPHANED + 1 };
/** As in status.state: "inUse". A constant. */
const char *sw_claim_state_text(enum sw_claim_state state);

/** What a claim says; the texts are borrowed from its document. */
struct sw_claim {
    const char *pod_ns, *pod_name, *pod_uid;
    const char *node, *gpu; /* @gpu: the UUID */
    struct sw_mig_profile profile;
    struct sw_mig_place place;
    enum sw_claim_state state; /* SW_CLAIM_STAGED where there is no status */
};
/** @return 0 | SW_NOTFOUND: it claims nothing (SW_CLAIM_VIEW) | SW_INVALID: the message names the
 * field */
int sw_claim_read(struct json_object *doc, struct sw_claim *out, struct sw_err *err) SW_CHECKED;
/** {status} of a claim in this state: status.state, and DAS's condition State. The caller's. */
struct json_object *sw_claim_status(enum sw_claim_state state, const char *message,
                                    int64_t wall_ms);
