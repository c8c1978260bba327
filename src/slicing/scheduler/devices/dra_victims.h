#pragma once
/* dra_victims: which pods would have to be evicted, and from which node, so that kube-scheduler
 * finds the devices that a pod asks for: less important ones, or ones that are made again elsewhere
 * (defragmentation). Reads the view and changes nothing.
 *
 * Whether the devices suffice says the allocator, which is kube-scheduler's: counters, selectors,
 * constraints, alternatives. Harm is compared as kube-scheduler's DefaultPreemption does it. */
#include "slicing/scheduler/devices/dra_view.h"
#include "slicing/scheduler/devices/harm.h"

/** What there is to do for a pod. */
enum dra_outcome {
    DRA_HOPELESS, /* evictions do not help, a budget forbids them, or it asks for nothing here */
    DRA_FITS,     /* it fits: kube-scheduler's turn */
    DRA_COMES,    /* it fits when pods have ended that end anyway */
    DRA_EVICT,
};

/** Who may be evicted for a pod. */
enum dra_way {
    DRA_PREEMPT,  /* pods of lower priority */
    DRA_MOVE,     /* pods that opt in (dra_pod.movable), where each finds another place */
    DRA_MOVE_ANY, /* the same, whether they opt in or not: for advice */
};

/** Zero is an empty one. */
struct dra_choice {
    const char *node;            /* borrowed from the view; NULL: none */
    struct victims victims;      /* with DRA_EVICT */
    struct json_object *devices; /* what the pod would get there of our driver, as
                                    status.allocation.devices.results; NULL: nothing */
    struct json_object *to; /* of pods that move, where each would find its devices, in the order
                               of victims: [{"node", "devices": [results]}]; else NULL */
    const char *why;        /* DRA_HOPELESS, of the node asked about last: static text, or NULL */
};
/** Free what it owns. */
void dra_choice_done(struct dra_choice *c);

/** Where the victim @i of @c finds its devices again: "gpu-0-mig-1g5gb-1 of node gpu-a"; the
 * caller's. */
char *dra_destination_text(const struct dra_choice *c, size_t i) SW_CHECKED;

/** Find the least harm for @pod, one that waits. @node: only there; NULL: on any. What is kept by a
 * claim with DRA_ROOM_LABEL for a pod of lower priority counts as free, and what is kept for @pod.
 * DRA_MOVE and DRA_MOVE_ANY know only pods with dra_pod.bound.
 * @return what to do; with DRA_FITS, DRA_COMES and DRA_EVICT @out has the node and the devices */
enum dra_outcome dra_choose(const struct dra_view *v, const struct dra_pod *pod, const char *node,
                            enum dra_way way, struct dra_choice *out);
