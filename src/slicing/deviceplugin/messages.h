#pragma once
/* messages: kubelet's protobuf messages as plain data. Internal to deviceplugin. */
#include "slicing/deviceplugin/broker/broker.h"

#define DP_SERVICE "/v1beta1.DevicePlugin/"

/** Bytes of a message; free() them. */
struct dp_bytes {
    uint8_t *bytes;
    size_t len;
};

/** RegisterRequest: the socket's name, the resource, whether PreStartContainer is to be called. */
struct dp_bytes dp_message_register(const char *endpoint, const char *resource, bool pre_start);
/** DevicePluginOptions. */
struct dp_bytes dp_message_options(bool pre_start);
/** ListAndWatchResponse: devices "<prefix>-<i>". */
struct dp_bytes dp_message_devices(const char *prefix, const bool *healthy, size_t n);

/** One list of device ids for each container; the caller's (dp_id_lists_free()). */
struct dp_id_list {
    char **ids;
    size_t n;
};
/** Also frees @lists. NULL is accepted. */
void dp_id_lists_free(struct dp_id_list *lists, size_t n);
/** AllocateRequest. @return 0 | SW_INVALID */
int dp_message_read_ids(const uint8_t *bytes, size_t len, struct dp_id_list **out, size_t *n,
                        struct sw_err *err) SW_CHECKED;
/** PreStartContainerRequest: one list. */
int dp_message_read_start(const uint8_t *bytes, size_t len, struct dp_id_list *out,
                          struct sw_err *err) SW_CHECKED;
/** PreferredAllocationRequest -> its answer: what must be, then the first of what may. */
int dp_message_prefer(const uint8_t *bytes, size_t len, struct dp_bytes *out,
                      struct sw_err *err) SW_CHECKED;

/** AllocateResponse: one grant's answer for each container, by @device_list. */
struct dp_bytes dp_message_allocated(struct dp_grant *const *grants, const char *resource_text,
                                     size_t n, unsigned device_list);

/** ListPodResourcesResponse: only our resources; the caller's. */
int dp_message_read_held(const uint8_t *bytes, size_t len, struct dp_held **out, size_t *n,
                         struct sw_err *err) SW_CHECKED;
/** Of dp_message_read_held(). NULL is accepted. */
void dp_held_free(struct dp_held *held, size_t n);
