#pragma once
/* allocator: which devices the claims of a pod get on a node, as the structured allocator of
 * kube-scheduler 1.36 decides: pools, counters, constraints, CEL selectors, alternatives, taints
 * and capacities, depth first, the first solution that is complete. No I/O, no store. Source:
 * Kubernetes "Dynamic Resource Allocation" and KEP-3063, 4381, 4815, 4816, 5018, 5055, 5075.
 * Pinned by test/emulator/emulator/allocator_test.c, and held against a stock kube-scheduler by
 * test/emulator/emulator/allocator_cases_test.c. */
#include <json-c/json.h>
#include <stdbool.h>

#include "base/base.h"

/** What the allocator looks at; all of it is borrowed, as long as the allocator lives. */
struct sw_allocator_input {
    json_object *const *slices; /* the ResourceSlices of the cluster (v1) */
    size_t n_slices;
    json_object *const *claims; /* its ResourceClaims: what is allocated is in use */
    size_t n_claims;
    /** The DeviceClass @name; borrowed, NULL: there is none. */
    json_object *(*class_of)(void *arg, const char *name);
    void *arg;
};

struct sw_allocator;
/** An allocator for one attempt to schedule a pod; the caller's, sw_allocator_free(). */
struct sw_allocator *sw_allocator_new(const struct sw_allocator_input *input);
/** Free it. NULL is allowed. */
void sw_allocator_free(struct sw_allocator *a);
SW_DEFINE_AUTO(sw_allocator, sw_allocator_free)

/** Allocate all of @claims on @node. @*results: a new list, a `status.allocation` for each claim.
 * @return 0 | SW_NOTFOUND (this node has not what they ask for; @err: the scheduler's reason) |
 * SW_INVALID (the claims or classes are wrong: no other node is tried; @err says why) */
int sw_allocator_run(struct sw_allocator *a, json_object *node, json_object *const *claims,
                     size_t n_claims, json_object **results, struct sw_err *err) SW_CHECKED;

struct sw_cel;
/** Compile the expression of a selector, a string that keeps it. @return 0 | SW_INVALID */
int sw_allocator_compile(json_object *expression, const struct sw_cel **out,
                         struct sw_err *err) SW_CHECKED;

/** Of claims that kube-scheduler makes of a pod's extended resources: an annotation, "true". */
#define SW_EXTENDED_CLAIM "resource.kubernetes.io/extended-resource-claim"

/** An extended resource and the DeviceClass that serves it; borrowed. */
struct sw_allocator_resource {
    const char *name, *class;
};
/** The ResourceClaim that kube-scheduler makes of what @pod asks for of @resources, for all
 * containers one; new. @mappings (may be NULL): which container has which request, new.
 * @return NULL: the pod asks for none of them. Source: KEP-5004. */
json_object *sw_allocator_extended(json_object *pod, const struct sw_allocator_resource *resources,
                                   size_t n, json_object **mappings);
