#pragma once
/* dra_victims: which pods would have to be evicted, and from which node, so that kube-scheduler
 * finds the devices that a pod asks for. Reads the view and changes nothing. Internal to scheduler.
 *
 * Whether the devices suffice says the allocator, which is kube-scheduler's: counters, selectors,
 * constraints, alternatives. Harm is compared as kube-scheduler's DefaultPreemption does it. */
#include "slicing/scheduler/dra_view.h"
#include "slicing/scheduler/victims.h"

/** What there is to do for a pod. */
enum dra_outcome {
    DRA_HOPELESS, /* evictions do not help, a budget forbids them, or it asks for nothing here */
    DRA_FITS,     /* it fits: kube-scheduler's turn */
    DRA_COMES,    /* it fits when pods have ended that end anyway */
    DRA_EVICT,
};

/** Zero is an empty one. */
struct dra_choice {
    const char *node;            /* borrowed from the view; NULL: none */
    struct victims victims;      /* with DRA_EVICT */
    struct json_object *devices; /* what the pod would get there of our driver, as
                                    status.allocation.devices.results; NULL: nothing */
    const char *why; /* DRA_HOPELESS, of the node asked about last: static text, or NULL */
};
/** Free what it owns. */
void dra_choice_done(struct dra_choice *c);

/** Find the least harm for @pod, one that waits. @node: only there; NULL: on any. What is kept by a
 * claim with DRA_ROOM_LABEL for a pod of lower priority counts as free, and what is kept for @pod.
 * @return what to do; with DRA_FITS, DRA_COMES and DRA_EVICT @out has the node and the devices */
enum dra_outcome dra_choose(const struct dra_view *v, const struct dra_pod *pod, const char *node,
                            struct dra_choice *out);
