#pragma once
/* internal: what the files of allocator share. */
#include "kube/allocator/allocator.h"

#include <stdint.h>

#include "data/data.h"

/** Of an allocation; Kubernetes' limit for the devices of one claim. */
enum { SW_MAX_RESULTS = 32 };

/** So much of one counter. */
struct sw_counter {
    const char *set, *name;
    uint64_t hash; /* of both */
    struct sw_quantity value;
    __int128 consumed; /* of a pool's counter: by devices of this attempt, in nano-units */
    size_t at;         /* of a device's: where the pool's counter was last */
};

struct sw_alloc_slice;

/** A device of a slice, or what is known of it. */
struct sw_alloc_device {
    const char *name;
    json_object *doc;
    struct sw_alloc_slice *slice;
    size_t number;            /* in the attempt on this node */
    struct sw_counter *takes; /* consumesCounters */
    size_t n_takes;
    json_object *cel; /* what CEL calls `device`; NULL: not asked for yet */
    bool multiple;    /* allowMultipleAllocations */
    bool allocated;   /* by a claim of the cluster, for itself */
    bool shared;      /* by claims of the cluster, a share each */
    unsigned n_allocating;
    json_object *consumed;   /* of a shared one: capacity by name, of the cluster's claims */
    json_object *allocating; /* the same of this attempt: capacity by name to a list */
};

/** A ResourceSlice. */
struct sw_alloc_slice {
    const char *name, *driver;
    json_object *doc, *spec;
    struct sw_alloc_pool *pool;
    int64_t generation;
    struct sw_alloc_device *devices; /* read when first needed */
    size_t n_devices;
    bool is_read;
};

/** All slices of a pool, in the order of their names. */
struct sw_alloc_pool {
    const char *driver, *name;
    struct sw_alloc_slice **slices;
    size_t n_slices, cap;
    /* on the node of the attempt: */
    struct sw_alloc_slice **here; /* slices with devices for it */
    size_t n_here;
    struct sw_counter *counters;
    size_t n_counters;
    int64_t generation;
    bool is_used; /* it has to do with this node */
    bool is_incomplete, is_invalid, is_checked, binds;
    bool was_checked, was_invalid; /* the counters, for any node */
    int64_t checked_generation;
};

/** One way to satisfy a request: `exactly`, or one of `firstAvailable`. */
struct sw_alloc_wish {
    json_object *doc, *class;
    const char *name;
    bool all, admin;
    int64_t count;
    struct sw_alloc_device **devices; /* of mode All */
    size_t n_devices, cap;
    signed char *matches; /* by device's number: 0 not asked yet, 1 yes, -1 no */
};

/** A request of a claim. */
struct sw_alloc_request {
    const char *name;
    struct sw_alloc_wish *wishes;
    size_t n_wishes, chosen;
    bool is_list; /* firstAvailable */
};

/** A constraint of a claim. */
struct sw_alloc_constraint {
    json_object *requests; /* NULL or empty: of all */
    const char *attribute;
    bool distinct;
    size_t n_devices;
    json_object *value;  /* matchAttribute: of the first device; borrowed */
    json_object *values; /* distinctAttribute: by request; owned */
};

/** A device that a claim gets. */
struct sw_alloc_grant {
    struct sw_alloc_device *device;
    struct sw_alloc_request *request;
    struct sw_alloc_wish *wish;
    json_object *consumed; /* capacity by name; owned, NULL: none */
};

/** A claim of the attempt. */
struct sw_alloc_claim {
    json_object *doc;
    struct sw_alloc_request *requests;
    size_t n_requests;
    struct sw_alloc_constraint *constraints;
    size_t n_constraints;
    struct sw_alloc_grant grants[SW_MAX_RESULTS];
    size_t n_grants;
};

struct sw_allocator {
    struct sw_allocator_input input;
    struct sw_alloc_pool *pools; /* by driver and name */
    size_t n_pools, cap;
    struct sw_alloc_slice *slices;
    json_object *in_use; /* "driver/pool/device": true, or a list of capacities by name */
    /* the attempt on a node: */
    json_object *node;
    struct sw_alloc_pool **order; /* of the pools: those with binding conditions are last */
    size_t n_order, n_numbers;
    struct sw_alloc_claim *claims;
    size_t n_claims;
    uint64_t n_steps;
    struct sw_err *err;
};

/* ---- pools (pools.c)
 * ----------------------------------------------------------------------------- */

/** Group the slices of the input, and note what is in use. */
void sw_alloc_pools_open(struct sw_allocator *a);
/** Free what sw_alloc_pools_open() and the attempts made. */
void sw_alloc_pools_close(struct sw_allocator *a);
/** Find the pools that have to do with a->node, in the order in which devices are tried. */
void sw_alloc_pools_gather(struct sw_allocator *a);
/** Whether the pool contradicts itself: two devices of one name, counters that do not exist. */
bool sw_alloc_pool_is_invalid(struct sw_allocator *a, struct sw_alloc_pool *pool);
/** Whether a place of a slice or a device (`nodeName`, `allNodes`, `nodeSelector`) is @node. */
bool sw_alloc_is_place(json_object *place, json_object *node);
/** Take the device's counters. They are given back if there are not enough. @return whether
 * there are */
bool sw_alloc_counters_take(struct sw_alloc_device *device);
/** Give the device's counters back. */
void sw_alloc_counters_give(struct sw_alloc_device *device);

/* ---- capacities (capacity.c)
 * --------------------------------------------------------------------- */

/** Whether the device has what the wish asks of its capacities. */
bool sw_alloc_capacity_fits(const struct sw_alloc_device *device, json_object *wish);
/** What the wish consumes of the device: a new map of capacities. */
json_object *sw_alloc_capacity_of(const struct sw_alloc_device *device, json_object *wish);

/* ---- selection (match.c)
 * ------------------------------------------------------------------------- */

/** Whether class and wish select the device, and it is a device of the node. @claim: for the text
 * of an error. @return 1 | 0 | SW_INVALID */
int sw_alloc_selects(struct sw_allocator *a, json_object *claim, struct sw_alloc_wish *wish,
                     struct sw_alloc_device *device);
/** Whether a taint of the device keeps the wish from it. */
bool sw_alloc_is_tainted(const struct sw_alloc_device *device, json_object *wish);
/** Add the device to what a constraint has to do with. @return whether it may be */
bool sw_alloc_constraint_add(struct sw_alloc_constraint *c, const struct sw_alloc_request *request,
                             const struct sw_alloc_wish *wish,
                             const struct sw_alloc_device *device);
/** Take it out again. */
void sw_alloc_constraint_remove(struct sw_alloc_constraint *c,
                                const struct sw_alloc_request *request,
                                const struct sw_alloc_wish *wish);

/* ---- results (result.c)
 * -------------------------------------------------------------------------- */

/** "request", or "request/alternative"; the caller's. */
char *sw_alloc_request_name(const struct sw_alloc_request *request,
                            const struct sw_alloc_wish *wish);
/** The `status.allocation` of a claim that got its devices; new. */
json_object *sw_alloc_result(struct sw_allocator *a, struct sw_alloc_claim *claim);
