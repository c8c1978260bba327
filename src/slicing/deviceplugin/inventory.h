#pragma once
/* inventory: what the node's GPUs amount to for kubelet and for the scheduler. Pure. Internal to
 * deviceplugin. */
#include <json-c/json.h>

#include "slicing/deviceplugin/broker/broker.h"
#include "slicing/deviceplugin/driver/driver.h"

/** An extended resource: one profile. Its texts are its own. */
struct dp_resource {
    char profile[SW_MIG_NAME_LEN]; /* "1g.5gb+me" */
    char text[SW_MIG_NAME_LEN];    /* "1g.5gb-plus-me" */
    char *name;                    /* "mig.das.com/1g.5gb-plus-me" */
    char *socket;                  /* "mig.das.com_1g.5gb-plus-me.sock" */
    size_t n_devices;              /* as many as the GPUs can hold of it, were they empty */
};

/** One for each profile of any GPU; the caller's. */
struct dp_resource *dp_inventory_resources(const struct dp_driver *d, size_t *n);
/** Of dp_inventory_resources(). NULL is accepted. */
void dp_inventory_resources_free(struct dp_resource *resources, size_t n);

/** Whether device @i ("<text>-<i>") may be had, for each of the resource's. A device that a grant
 * holds is well while its GPUs are; of the others as many are as healthy GPUs could hold beside
 * them, none if @withdrawn. */
void dp_inventory_health(const struct dp_driver *d, const struct dp_resource *r,
                         const struct dp_broker *b, bool withdrawn, bool *healthy);

/** NodeAccelerator.status.nodeResources; the caller's. GPUs that are cut otherwise than the first
 * carry their own migPlacement. */
struct json_object *dp_inventory_document(const struct dp_driver *d) SW_CHECKED;
