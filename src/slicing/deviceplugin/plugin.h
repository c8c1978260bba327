#pragma once
/* plugin: the shell. Its sources: plugin.c (opening, carrying the broker's actions out), kubelet.c
 * (kubelet's folder, registration), endpoint.c (one resource's service), pod_resources.c
 * (PodResources), cluster.c (watches), claim_writes.c, accelerator.c (the NodeAccelerator), gate.c,
 * metrics.c. Internal to deviceplugin. */
#include <sys/queue.h>

#include "kube/kube.h"
#include "slicing/deviceplugin/broker/broker.h"
#include "slicing/deviceplugin/deviceplugin.h"
#include "slicing/deviceplugin/driver/driver.h"
#include "slicing/deviceplugin/driver/worker.h"
#include "slicing/deviceplugin/inventory.h"

struct dp_endpoint;
struct dp_gate;
struct dp_accelerator;
struct dp_kubelet;
struct dp_ticket;
struct sw_grpc_call;
struct sw_grpc_request;

struct sw_device_plugin {
    struct sw_loop *loop;
    struct sw_kube *kube;
    struct sw_device_plugin_opts opts;
    char *plugins_dir, *held_socket; /* under kubelet's folder */
    int lock;                        /* of the records: nobody else is at work on this node */

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

    struct sw_kube_watch *pods, *claims;
    LIST_HEAD(dp_writes, dp_write) writes;
    struct dp_accelerator *accelerator;
    struct dp_gate *gate;
    bool open;             /* the gate is, or has been and what is shut is kept */
    bool shut_again;       /* withdrawn for new pods */
    struct sw_timer *look; /* for GPUs, then at their health */
    struct sw_timer *settled;

    struct {
        uint64_t allocated, refused, steps, step_errors, registrations, evictions;
        uint64_t swaps, journal_errors, events;
        double allocate_s, nvml_s;
    } n;
};

/* plugin.c */
/** Carry out what the broker wants done, and what follows from it. */
void dp_plugin_perform(struct sw_device_plugin *p);
int64_t dp_plugin_now(const struct sw_device_plugin *p);
/** The gate opened or shut, GPUs were found or fell ill: tell kubelet and the cluster. */
void dp_plugin_changed(struct sw_device_plugin *p);

/* endpoint.c: one resource's DevicePlugin service */
struct dp_endpoint *dp_endpoint_new(struct sw_device_plugin *p, const struct dp_resource *r);
void dp_endpoint_free(struct dp_endpoint *e);
/** Listen where it does not yet, or where somebody removed the socket. */
int dp_endpoint_listen(struct dp_endpoint *e, struct sw_err *err);
/** Tell kubelet the devices, if they have changed. */
void dp_endpoint_refresh(struct dp_endpoint *e);
void dp_endpoint_register(struct dp_endpoint *e);
bool dp_endpoint_is_registered(const struct dp_endpoint *e);
size_t dp_endpoint_n_healthy(const struct dp_endpoint *e);
/** kubelet is another one now. */
void dp_endpoint_forget(struct dp_endpoint *e);

/* tickets.c: calls of kubelet's that wait for the broker */
void dp_ticket_allocate(struct sw_device_plugin *p, struct sw_grpc_call *call, const char *profile,
                        const uint8_t *message, size_t len);
void dp_ticket_start(struct sw_device_plugin *p, struct sw_grpc_call *call, const char *profile,
                     const uint8_t *message, size_t len);
/** The broker has spoken. */
void dp_ticket_answer(struct sw_device_plugin *p, const struct dp_action *a);
void dp_tickets_free(struct sw_device_plugin *p);

/* kubelet.c */
struct dp_kubelet *dp_kubelet_new(struct sw_device_plugin *p);
void dp_kubelet_free(struct dp_kubelet *k);
/** Listen and register whatever is not. */
void dp_kubelet_check(struct dp_kubelet *k);

/* pod_resources.c */
void dp_held_ask(struct sw_device_plugin *p);

/* cluster.c */
void dp_cluster_open(struct sw_device_plugin *p);
void dp_cluster_close(struct sw_device_plugin *p);
void dp_cluster_write(struct sw_device_plugin *p, const struct dp_action *a);
/** A warning about @pod that `kubectl describe` shows. Written once, and not again where it is
 * lost. */
void dp_cluster_event(struct sw_device_plugin *p, const struct dp_ref *pod, const char *reason,
                      const char *words);

/* accelerator.c */
struct dp_accelerator *dp_accelerator_new(struct sw_device_plugin *p);
void dp_accelerator_free(struct dp_accelerator *a);
void dp_accelerator_publish(struct dp_accelerator *a);

/* gate.c */
int dp_gate_new(struct sw_device_plugin *p, struct dp_gate **out, struct sw_err *err);
void dp_gate_free(struct dp_gate *g);
const char *dp_gate_text(const struct dp_gate *g); /* what is waited for */
