#pragma once
/* state: the running plugin, which its parts share. A part has a header of its own and includes
 * this one; only plugin.c includes all of them:
 *
 *   endpoint.h       one resource's DevicePlugin service
 *   tickets.h        kubelet's calls that wait for the broker
 *   kubelet.h        kubelet's folder, registration
 *   pod_resources.h  kubelet's PodResources
 *   cluster.h        watches and writes of pods and claims
 *   accelerator.h    the NodeAccelerator
 *   gate.h           what must be ready before anything is offered
 *   face.h           which of kubelet's interfaces is used
 *   dra_endpoint.h   the driver's sockets for Dynamic Resource Allocation
 *   resource_slices.h  what the node publishes of its GPUs for it
 *   device_classes.h  by which names pods ask for it
 *   dra_calls.h      kubelet's calls about ResourceClaims
 *   claims_check.h   whether the claims that have devices still exist
 *   claim_status.h   what became of a ResourceClaim's devices
 *   claim_views.h    the same as AllocationClaims
 *   steps.h          what is done on GPUs, recorded before
 *   other_instances.h  what others have made on the GPUs
 *   mps_claims.h     control daemons of ResourceClaims
 *
 * Internal to deviceplugin. */
#include <sys/queue.h>

#include "kube/kube.h"
#include "slicing/deviceplugin/broker/broker.h"
#include "slicing/deviceplugin/broker/device_nodes.h"
#include "slicing/deviceplugin/deviceplugin.h"
#include "slicing/deviceplugin/driver/driver.h"
#include "slicing/deviceplugin/driver/worker.h"
#include "slicing/deviceplugin/inventory.h"

struct dp_claims_check;
struct dp_dra_call;
struct dp_dra_endpoint;
struct dp_endpoint;
struct dp_face_choice;
struct dp_leftover_claims;
struct dp_gate;
struct dp_accelerator;
struct dp_kubelet;
struct dp_mps_claims;
struct dp_other_instances;
struct dp_slices;
struct dp_ticket;
struct dp_views;
struct sw_grpc_call;
struct sw_grpc_request;

/** The interface in use. What was given out by the other one stays until it ends. */
enum dp_face { DP_FACE_UNKNOWN, DP_FACE_DEVICE_PLUGIN, DP_FACE_DRA };

/** One for each process. */
struct sw_device_plugin {
    /* plugin.c's, for its parts. perform: carry out the actions that the broker has queued, after
     * each input to it. changed: the gate opened or shut, GPUs were found or failed; kubelet and
     * the NodeAccelerator follow. */
    void (*perform)(struct sw_device_plugin *p);
    void (*changed)(struct sw_device_plugin *p);

    struct sw_loop *loop;
    struct sw_kube *kube;
    struct sw_device_plugin_opts opts;
    char *plugins_dir, *held_socket; /* under kubelet's folder */
    int lock;                        /* of the records: no other plugin works on this node */

    struct dp_host host;      /* of real GPUs */
    struct dp_driver *driver; /* NULL: no GPU yet */
    char *no_gpu;             /* why not */
    const char *no_gpu_reason;
    struct dp_worker *worker;
    struct dp_resource *resources;
    struct dp_endpoint **endpoints;
    size_t n_resources;

    struct dp_broker *broker;
    struct sw_timer *tick; /* the broker's */
    bool performing;

    struct dp_kubelet *kubelet;
    struct sw_grpc_request *held_request;
    bool held_alpha; /* kubelet knows v1alpha1 only */
    LIST_HEAD(dp_tickets, dp_ticket) tickets;
    uint64_t last_ticket;

    enum dp_face face;
    char *face_reason; /* for people; NULL while it is not known */
    struct dp_face_choice *face_choice;
    struct dp_dra_endpoint *dra_endpoint;
    struct dp_slices *slices;
    struct dp_nvidia_slices *nvidia_slices;
    struct dp_other_instances *other_instances;
    struct dp_claims_check *claims_check;
    struct dp_leftover_claims *leftover_claims;
    struct dp_views *views;
    struct dp_mps_claims *mps_claims;
    LIST_HEAD(dp_dra_calls, dp_dra_call) dra_calls;

    struct sw_kube_watch *pods, *claims;
    LIST_HEAD(dp_writes, dp_write) writes;
    struct dp_accelerator *accelerator;
    struct dp_gate *gate;
    bool open;              /* the gate is, or has been and what is shut is kept */
    bool shut_again;        /* withdrawn for new pods */
    struct sw_timer *check; /* for GPUs, then at their health */
    struct sw_timer *settled;

    struct {
        uint64_t allocated, refused, steps, step_errors, registrations, evictions;
        uint64_t swaps, journal_errors, events;
        double allocate_s, nvml_s;
    } n;
};

/** The loop's time, which the broker gets with every input. */
static inline int64_t dp_now_ms(const struct sw_device_plugin *p)
{
    return sw_loop_now_ms(p->loop);
}
