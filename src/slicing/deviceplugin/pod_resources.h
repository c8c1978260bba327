#pragma once
/* pod_resources: kubelet's PodResources service. Internal to deviceplugin. */
#include "slicing/deviceplugin/state.h"

/** Ask kubelet which container holds which devices; the answer goes to dp_broker_on_held(). A
 * request that is under way is cancelled. */
void dp_held_request(struct sw_device_plugin *p);
