#pragma once
/* dra_calls: kubelet's calls about ResourceClaims, which wait for the cluster and the broker.
 * Internal to deviceplugin. */
#include "slicing/deviceplugin/state.h"

/** NodePrepareResources: each claim is read from the cluster, and its devices are made. The call is
 * answered when all of its claims are, each with its devices or an error. */
void dp_dra_prepare(struct sw_device_plugin *p, struct sw_grpc_call *call, const uint8_t *message,
                    size_t len);
/** NodeUnprepareResources: the devices of each claim are taken down. */
void dp_dra_unprepare(struct sw_device_plugin *p, struct sw_grpc_call *call, const uint8_t *message,
                      size_t len);
/** DP_ACT_PREPARED, DP_ACT_UNPREPARED. */
void dp_dra_answer(struct sw_device_plugin *p, const struct dp_action *a);
/** At the end of the plugin. */
void dp_dra_calls_free(struct sw_device_plugin *p);
