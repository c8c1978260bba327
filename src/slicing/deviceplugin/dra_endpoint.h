#pragma once
/* dra_endpoint: the sockets where kubelet finds the driver for Dynamic Resource Allocation:
 * Registration in plugins_registry, DRAPlugin and DRAResourceHealth in plugins. Internal to
 * deviceplugin. */
#include "slicing/deviceplugin/state.h"

struct dp_dra_endpoint;
/** The caller's. Sockets are made by dp_dra_endpoint_check(). */
struct dp_dra_endpoint *dp_dra_endpoint_new(struct sw_device_plugin *p);
/** NULL is accepted. */
void dp_dra_endpoint_free(struct dp_dra_endpoint *e);
/** The face, the GPUs or the gate have changed: make the sockets or take them away. While a
 * ResourceClaim has devices kubelet must reach the driver, whatever the face. */
void dp_dra_endpoint_check(struct dp_dra_endpoint *e);
/** Tell kubelet the health of all devices where it is another one than before. */
void dp_dra_endpoint_refresh(struct dp_dra_endpoint *e);
/** Whether kubelet has taken the registration. */
bool dp_dra_endpoint_is_registered(const struct dp_dra_endpoint *e);
