#pragma once
/* tickets: kubelet's calls that wait for the broker. Internal to deviceplugin. */
#include "slicing/deviceplugin/state.h"

/** Allocate: hand its containers to the broker. @message: an AllocateRequest. @call is answered
 * later by dp_ticket_answer(), or at once where the message is invalid. */
void dp_ticket_allocate(struct sw_device_plugin *p, struct sw_grpc_call *call, const char *profile,
                        const uint8_t *message, size_t len);
/** PreStartContainer, likewise. */
void dp_ticket_start(struct sw_device_plugin *p, struct sw_grpc_call *call, const char *profile,
                     const uint8_t *message, size_t len);
/** Answer the call of action @a: DP_ACT_ALLOCATED or DP_ACT_STARTED. A call that kubelet has given
 * up is ignored. */
void dp_ticket_answer(struct sw_device_plugin *p, const struct dp_action *a);
/** After their sockets are closed. */
void dp_tickets_free(struct sw_device_plugin *p);
