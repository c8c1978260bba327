#pragma once
/* endpoint: one resource's DevicePlugin service: its socket in kubelet's folder, its registration.
 * Internal to deviceplugin. */
#include "slicing/deviceplugin/state.h"

/** The endpoint of @r, which is borrowed, as @p is. It does not listen yet. */
struct dp_endpoint *dp_endpoint_new(struct sw_device_plugin *p, const struct dp_resource *r);
/** Close the socket. NULL is accepted. */
void dp_endpoint_free(struct dp_endpoint *e);
/** Listen, unless it does and its socket is still in the folder.
 * @return 0 | SW_UNAVAILABLE, SW_FORBIDDEN (the folder) */
int dp_endpoint_listen(struct dp_endpoint *e, struct sw_err *err);
/** Send kubelet the devices, if they have changed. */
void dp_endpoint_refresh(struct dp_endpoint *e);
/** Register with kubelet, unless that is done or under way; a failure is retried. */
void dp_endpoint_register(struct dp_endpoint *e);
/** Whether kubelet has accepted the registration. */
bool dp_endpoint_is_registered(const struct dp_endpoint *e);
/** Devices that kubelet was told are healthy. */
size_t dp_endpoint_n_healthy(const struct dp_endpoint *e);
/** kubelet has restarted or stopped: the registration is void. */
void dp_endpoint_forget(struct dp_endpoint *e);
/** Take the socket away: kubelet takes the plugin for gone. */
void dp_endpoint_leave(struct dp_endpoint *e);
