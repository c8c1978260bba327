#pragma once
/* face: which of kubelet's interfaces is used, as the options say or by what the API server serves:
 * Dynamic Resource Allocation where ResourceSlices may have counters and pods may ask for
 * DeviceClasses by the names of resources. Internal to deviceplugin. */
#include "slicing/deviceplugin/state.h"

struct dp_face_choice;
/** Choose, at once or when the API server has answered, and again now and then: a cluster is
 * upgraded while this process runs. The caller's. */
struct dp_face_choice *dp_face_choice_new(struct sw_device_plugin *p);
/** NULL is accepted. */
void dp_face_choice_free(struct dp_face_choice *c);
