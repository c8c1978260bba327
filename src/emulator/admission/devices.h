#pragma once
/* devices: the defaults and the validation of the kinds of Dynamic Resource Allocation
 * (resource.k8s.io/v1). Source: Kubernetes' API reference, and the server's messages. Pinned by
 * test/emulator/emulator/api_devices_test.c. */
#include "emulator/store/change.h"

struct sw_field_errors;

/** Fill in the requests of a ResourceClaim, or of a ResourceClaimTemplate. */
void sw_device_claim_default(struct sw_write *w);
/** Drop what the release does not know of a DeviceClass. */
void sw_device_class_default(struct sw_write *w);
/** Drop what the release does not know of a ResourceSlice. */
void sw_device_slice_default(struct sw_write *w);
/** Add the errors of a DeviceClass. */
void sw_device_class_check(struct sw_write *w, struct sw_field_errors *e);
/** Add the errors of a ResourceClaim. */
void sw_device_claim_check(struct sw_write *w, struct sw_field_errors *e);
/** Add the errors of a ResourceClaimTemplate. */
void sw_device_template_check(struct sw_write *w, struct sw_field_errors *e);
/** Add the errors of a ResourceSlice. */
void sw_device_slice_check(struct sw_write *w, struct sw_field_errors *e);
