#pragma once
/* dra_search: whether a pod would find its devices on a node if others were not there. What
 * dra_victims.c and dra_moves.c share. Internal to scheduler/devices. */
#include "slicing/scheduler/devices/dra_victims.h"

enum {
    DRA_MAX_VICTIMS = 256,
    DRA_MAX_USERS = 8,   /* pods that share a claim; one with more of them is left alone */
    DRA_MAX_RUNS = 4000, /* of the allocator for one pod: then the best so far counts; by default */
};

/** An allocated claim with devices of the node. */
struct use {
    struct json_object *doc;
    const struct pod *pods[DRA_MAX_USERS];
    size_t n_pods;
    bool fixed; /* none of its pods' ends frees it */
};

/** A pod on a node. */
struct search {
    const struct dra_view *v;
    const struct dra_pod *pod;
    const struct dra_pod *asker; /* of another's move: for whom; what is kept for it is not in the
                                    way. NULL: @pod is the one */
    struct json_object *doc;     /* of the pod; borrowed */
    struct json_object *node;
    enum dra_way way;
    struct dra_needs needs;
    struct json_object **slices; /* of the node; borrowed */
    size_t n_slices;
    struct use *uses;
    size_t n_uses;
    int64_t cpu_milli, memory, n_pods;          /* of the node, for all pods */
    const struct pod *victims[DRA_MAX_VICTIMS]; /* beginning with those that a budget protects */
    size_t n_protected, n_victims;
    const struct pod *all[DRA_MAX_VICTIMS]; /* candidates; the protected first */
    size_t n_all, n_all_protected;
    const struct pod *list[DRA_MAX_VICTIMS], *open[DRA_MAX_VICTIMS]; /* while they are sorted */
    unsigned *runs;
};

/** A search without needs and uses; the caller's. */
struct search *search_new(const struct dra_view *v, const struct dra_pod *pod,
                          struct json_object *doc, struct json_object *node, unsigned *runs);
/** Free it. */
void search_free(struct search *t);
/** Read which claims have devices of the node. */
void search_read_node(struct search *t);
/** One more claim, borrowed. */
void search_add_use(struct search *t, struct json_object *claim);
/** Whether the pod may be on the node at all: taints, selectors, claims that it has already. */
bool search_may_be_there(const struct search *t);
/** Whether the pod finds its devices without the victims. @ends: pods that end anyway have ended.
 * @without: the index of a victim that stays; SIZE_MAX: none. @devices (may be NULL): what it gets,
 * a list of allocations, the caller's. */
bool search_fits(struct search *t, bool ends, size_t without, struct json_object **devices);
/** What a claim was allocated; borrowed. */
struct json_object *search_results_of(struct json_object *claim);
/** Its deletion has begun, or it has ended. */
bool search_is_leaving(const struct pod *pod);

/** All slices of our driver, by node; the array is the caller's. */
struct json_object **dra_published(const struct dra_view *v, size_t *n);
/** The index behind those that the node of @list[@i] publishes. */
size_t dra_published_end(struct json_object *const *list, size_t n, size_t i);

/** dra_moves.c: where the victims of @t would go once its pod has @allocations, in the order of
 * @movers. @return a list of {"node", "devices"}, the caller's; NULL: one of them finds no place */
struct json_object *dra_destinations(const struct search *t, const struct victims *movers,
                                     struct json_object *allocations);
/** Of all allocations the results of our driver, a list; the caller's. */
struct json_object *dra_ours_of(struct json_object *allocations);
/** How often the allocator may run for one answer. */
static inline unsigned dra_max_runs(const struct dra_view *v)
{
    return v->max_runs ? v->max_runs : DRA_MAX_RUNS;
}
