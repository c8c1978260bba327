#pragma once
/* devices_internal: what the files of devices share. */
#include "emulator/controllers/devices.h"

/** What holds a claim while it is allocated. */
#define SW_CLAIM_FINALIZER "resource.kubernetes.io/delete-protection"

/** The claim of the pod's spec.resourceClaims at @i; borrowed, NULL: none. */
json_object *sw_devices_claim(struct sw_ctl *ctl, json_object *pod, size_t i);
/** How many there are. */
size_t sw_devices_n_claims(json_object *pod);
/** The claim that the scheduler made of the pod's extended resources; borrowed, NULL: none. */
json_object *sw_devices_made_claim(struct sw_ctl *ctl, json_object *pod);
/** A new name, "<base><five letters>"; the caller's. */
char *sw_devices_name(struct sw_ctl *ctl, const char *base);
/** Delete the pods whose devices have a NoExecute taint that is not tolerated, now or later. */
void sw_devices_evict(struct sw_ctl *ctl);
/** Drop the claim's allocation, and let it go if it is deleted. */
void sw_devices_deallocate(struct sw_ctl *ctl, json_object *claim);

/* ---- extended resources (devices_extended.c)
 * ------------------------------------------------------ */

/** An extended resource that a class stands for. */
struct sw_devices_resource {
    const char *name; /* of ctl */
    uint32_t number;
    json_object *class; /* borrowed */
};
/** Those that the pod asks for; *@n of them, the caller's array. */
struct sw_devices_resource *sw_devices_resources(struct sw_ctl *ctl, const struct sw_pod *pod,
                                                 size_t *n);
/** The claim for those that @node has no device plugin for: {claim, mappings}; new, NULL: none. */
json_object *sw_devices_extended(const struct sw_pod *pod,
                                 const struct sw_devices_resource *resources, size_t n,
                                 const struct sw_node *node);
