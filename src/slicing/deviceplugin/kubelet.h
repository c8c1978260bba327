#pragma once
/* kubelet: its folder, watched: when kubelet starts it empties the folder and makes a new socket.
 * Internal to deviceplugin. */
#include "slicing/deviceplugin/state.h"

/** Watch the folder; the caller's. @p is borrowed. */
struct dp_kubelet *dp_kubelet_new(struct sw_device_plugin *p);
/** NULL is accepted. */
void dp_kubelet_free(struct dp_kubelet *k);
/** Listen and register with every endpoint that does not. NULL is accepted. */
void dp_kubelet_check(struct dp_kubelet *k);
