/* PodResources: kubelet lists the devices that containers hold. */
#include "slicing/deviceplugin/pod_resources.h"

#include <stdlib.h>

#include "net/grpc/grpc.h"
#include "slicing/deviceplugin/messages.h"

enum { TIMEOUT_MS = 5000 };

static void on_message(const uint8_t *bytes, size_t len, void *arg)
{
    struct sw_device_plugin *p = arg;
    struct dp_held *held = NULL;
    size_t n = 0;
    SW_ERR(err);
    const int rc = dp_message_read_held(bytes, len, &held, &n, &err);
    if (rc < 0)
        sw_log(SW_LOG_WARN, "PodResources", "error", sw_err_text(&err), NULL);
    dp_broker_on_held(p->broker, rc, held, n, dp_now_ms(p));
    dp_held_free(held, n);
}

static void on_done(int status, const char *message, void *arg)
{
    struct sw_device_plugin *p = arg;
    p->held_request = NULL;
    if (status == SW_GRPC_UNIMPLEMENTED && !p->held_alpha) {
        p->held_alpha = true; /* kubelet 1.19 and older */
        dp_held_request(p);
        return;
    }
    if (status != SW_GRPC_OK) {
        sw_log(SW_LOG_DEBUG, "PodResources", "error", message, NULL);
        dp_broker_on_held(p->broker, SW_UNAVAILABLE, NULL, 0, dp_now_ms(p));
    }
    p->perform(p);
}

void dp_held_request(struct sw_device_plugin *p)
{
    sw_grpc_request_cancel(p->held_request);
    p->held_request = sw_grpc_request_start(
        p->loop,
        &(struct sw_grpc_request_opts){ .socket = p->held_socket,
                                        .path = p->held_alpha ? "/v1alpha1.PodResourcesLister/List"
                                                              : "/v1.PodResourcesLister/List",
                                        .timeout_ms = TIMEOUT_MS,
                                        .on_message = on_message,
                                        .on_done = on_done,
                                        .arg = p });
}
