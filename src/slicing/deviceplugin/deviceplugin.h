#pragma once
/* deviceplugin: the daemon of one node that makes MIG slices and hands them to kubelet. It follows
 * the scheduler's AllocationClaims: a container that kubelet starts gets the slices that its pod's
 * claims reserve, made at that moment, taken down when the pod ends.
 *
 *   broker.h    which pod gets which slices (pure)
 *   driver.h    the GPUs: real, by NVML, or made up
 *   journal.h   records of what may be there, and CDI files
 *   inventory.h resources, devices, the NodeAccelerator
 *   mps.h       control daemons for containers that use a GPU at once
 *   state.h     the shell around them: kubelet's sockets, the cluster, time
 *
 * What it leaves to others: where a slice lies (the scheduler), who may ask for one (the webhook),
 * whether a GPU is in MIG mode (the GPU operator).
 * Source: kubelet's device plugin API v1beta1 and PodResources v1; DAS's daemonset (names, files,
 * states of a claim). */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "base/loop.h"

struct sw_kube;
struct sw_device_plugin;

/** How a container learns which devices it has; they can be combined. Source: k8s-device-plugin's
 * flag. */
enum sw_device_list {
    SW_DEVICES_ENVVAR = 1 << 0,          /* NVIDIA_VISIBLE_DEVICES */
    SW_DEVICES_CDI_ANNOTATIONS = 1 << 1, /* cdi.k8s.io/... */
    SW_DEVICES_CDI_CRI = 1 << 2,         /* cdi_devices; kubelet 1.28 and newer */
};
/** "envvar,cdi-annotations,cdi-cri". @return 0 | SW_INVALID */
int sw_device_list_parse(const char *text, unsigned *out, struct sw_err *err) SW_CHECKED;

/** By which of kubelet's interfaces the node's slices are given out. */
enum sw_device_api {
    SW_DEVICE_API_AUTO,          /* DRA where the API server serves all that slices need */
    SW_DEVICE_API_DEVICE_PLUGIN, /* for the scheduler's AllocationClaims */
    SW_DEVICE_API_DRA,           /* Dynamic Resource Allocation: for kube-scheduler's claims */
};

/** The zero value is the default of each, where there is one. Texts are borrowed for its life. */
struct sw_device_plugin_opts {
    const char *node;        /* must be set */
    const char *ns;          /* of claims and NodeAccelerators; must be set */
    const char *kubelet_dir; /* "/var/lib/kubelet" */
    const char *driver_dir; /* of the DRA driver's socket: KUBELET_DIR/plugins; kubelet is told this
                               path, so it must be the node's */
    const char *cdi_dir;    /* "/var/run/cdi" */
    const char *journal_dir; /* "/var/lib/slipway/device-plugin" */
    const char *host_root;   /* "/": where the host's files are, as far as others are not said */
    const char *dev_dir, *proc_dir; /* "/dev", "/proc": of the device nodes in CDI files */
    const char *toolkit_cdi_dir; /* where NVIDIA's Container Toolkit has its CDI file, where it is
                                    not in cdi_dir; NULL: nowhere else */
    unsigned device_list;        /* enum sw_device_list; 0: envvar and cdi-annotations */
    enum sw_device_api api;
    const char *class_owner; /* a ClusterRole with which the DeviceClasses go; NULL or "": none */
    bool claim_views; /* with DRA: what ResourceClaims have is shown as AllocationClaims, too */
    bool mps;         /* with DRA: somebody runs control daemons on this node (mps.h) */
    bool reorders;    /* with DRA: devices are listed anew when slices are taken or free */
    bool whole_gpus;  /* with DRA: GPUs that are not in MIG mode are given out as a whole */
    bool emulated;
    const char *emulated_model; /* "A100-40GB" */
    int emulated_count;         /* 2 */
    const char *nvml_library;   /* NULL: libnvidia-ml.so.1 */
    const char *gate; /* "apiVersion/Kind/name" that must be ready, name "*": one of them; NULL or
                         "": none */
    const char *gate_ns;        /* NULL: it has none */
    const char *gate_condition; /* alternatives, " || " between them */
    bool keep_when_shut;        /* a gate that shuts again withdraws nothing */
    const char *boot_id_file;   /* "/proc/sys/kernel/random/boot_id" */
    int64_t claim_wait_ms;      /* 10 s */
};

#define SW_DEVICE_PLUGIN_GATE "nvidia.com/v1/ClusterPolicy/*"
#define SW_DEVICE_PLUGIN_GATE_CONDITION                                                            \
    "{.status.state} == ready || {.status.conditions[?(@.type==\"Ready\")].status} == True"

/** Begin. A GPU that is not there, a cluster that does not answer, a kubelet that is not up yet are
 * waited for.
 * @return 0 | SW_INVALID (an option) | SW_FORBIDDEN, SW_UNAVAILABLE (a folder) */
int sw_device_plugin_open(struct sw_loop *loop, struct sw_kube *kube,
                          const struct sw_device_plugin_opts *opts, struct sw_device_plugin **out,
                          struct sw_err *err) SW_CHECKED;
/** Pods keep what they have; the next life goes on from the records. NULL is accepted. */
void sw_device_plugin_close(struct sw_device_plugin *p);
/** NULL: it serves; else what it waits for, for people. Borrowed until the next turn. */
const char *sw_device_plugin_waits_for(const struct sw_device_plugin *p);
/** Prometheus' text format; the caller's. */
char *sw_device_plugin_metrics(const struct sw_device_plugin *p, size_t *len_bytes) SW_CHECKED;
