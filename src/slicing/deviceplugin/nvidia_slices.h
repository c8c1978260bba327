#pragma once
/* nvidia_slices: the GPUs of this node that NVIDIA's own DRA driver publishes. Two drivers that
 * give the same GPU out would give it out twice: slipway leaves it to the other one. Internal to
 * deviceplugin. */
#include "slicing/deviceplugin/state.h"

struct dp_nvidia_slices;
/** The caller's. Nothing is watched before the face is known. */
struct dp_nvidia_slices *dp_nvidia_slices_new(struct sw_device_plugin *p);
/** NULL is accepted. */
void dp_nvidia_slices_free(struct dp_nvidia_slices *n);
/** The face may be known now. */
void dp_nvidia_slices_refresh(struct dp_nvidia_slices *n);
/** Whether it is known what that driver publishes. */
bool dp_nvidia_slices_are_known(const struct dp_nvidia_slices *n);
/** Whether @gpu, or a slice of it, is among that, by its UUID or its place on the PCI bus.
 * Source: the attributes uuid, parentUUID and resource.kubernetes.io/pciBusID of the driver
 * gpu.nvidia.com. Pinned by test/kubelet/dra_test.py. */
bool dp_nvidia_slices_have(const struct dp_nvidia_slices *n, const struct dp_gpu *gpu);
