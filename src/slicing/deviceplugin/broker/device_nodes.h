#pragma once
/* device_nodes: what a container needs of the node besides UUIDs: device nodes, and NVIDIA's
 * libraries as the CDI file of its Container Toolkit names them. Internal to deviceplugin.
 * Source: NVIDIA's "Multi-Instance GPU User Guide", chapter "Device Nodes and Capabilities"; CDI
 * specification 0.6.0. Pinned by test/kubelet/dra_test.py. */
#include <json-c/json.h>

#include "slicing/deviceplugin/broker/broker.h"

/** The node, with real GPUs. Texts are borrowed. */
struct dp_host {
    const char *dev_dir, *proc_dir;              /* "/dev", "/proc" */
    const char *cdi_dir, *toolkit_dir;           /* where CDI files are; NULL: none */
    const char *driver_version;                  /* "580.159.04"; NULL: not known */
    int (*minor_of)(const char *gpu, void *arg); /* N of /dev/nvidiaN; -1: not known */
    void *arg;                                   /* of minor_of */
};

/** Add the device nodes of the GPU @gpu, with @slice those of that instance, to @nodes, each path
 * once; only those that the node has. @return whether that is all that a container needs */
bool dp_device_nodes(const struct dp_host *host, const char *gpu, const struct dp_slice *slice,
                     struct json_object *nodes);

/** What the toolkit's CDI file adds to a container with any GPU (libraries, hooks, control
 * devices), without NVIDIA_VISIBLE_DEVICES; the caller's. NULL: there is no such file, or none of
 * the driver that is loaded. @version: of its format, the caller's. */
struct json_object *dp_toolkit_edits(const struct dp_host *host, char **version) SW_CHECKED;
