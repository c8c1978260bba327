#pragma once
/* dra_node: this node as Dynamic Resource Allocation has it. Internal to deviceplugin. */
#include "slicing/deviceplugin/state.h"
#include "slicing/dra/dra.h"

/** Constants: there is no need to discover them where they are served. */
extern const struct sw_kind dp_kind_resource_claim, dp_kind_resource_slice, dp_kind_device_class;

/** The node's GPUs, what others than ResourceClaims hold of them left out. Its texts are the
 * plugin's, its GPUs the caller's: free() them. @uid: of the Node. */
struct sw_dra_node dp_dra_node(const struct sw_device_plugin *p, const char *uid);
