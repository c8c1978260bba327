#pragma once
/* dra_view: what is known of a cluster whose kube-scheduler gives slices away itself, by Dynamic
 * Resource Allocation: ResourceSlices, DeviceClasses, ResourceClaims, pods, nodes, budgets. It does
 * no I/O, and holds nothing but what was observed. slipway-scheduler evicts by it, and `slipway
 * slices` says what would have to move. */
#include <json-c/json.h>

#include "base/base.h"
#include "slicing/scheduler/cache/cache.h"

/** The kinds that are kept as documents. */
enum dra_kind { DRA_NODES, DRA_SLICES, DRA_CLASSES, DRA_CLAIMS, DRA_N_KINDS };

/** A pod. What is said of all pods is in the cache's record of it. */
struct dra_pod {
    struct pod *pod;           /* borrowed from the cache */
    struct json_object *doc;   /* of one that waits; NULL: it is bound or has ended */
    struct json_object *bound; /* of one that is bound, if it is movable (or dra_view.every_pod);
                                  NULL: else */
    bool movable;              /* it opts in (DRA_MAY_MOVE), and a controller makes it again */
    int64_t cpu_milli, memory;
};

/** The tables own their entries. */
struct dra_view {
    struct cache *cache;                /* of pods and PodDisruptionBudgets alone */
    struct lh_table *docs[DRA_N_KINDS]; /* by name, claims by "namespace/name" */
    struct lh_table *pods;              /* by uid */
    unsigned max_runs; /* of the allocator for one answer of dra_choose(); 0: DRA_MAX_RUNS */
    bool every_pod;    /* dra_pod.bound of all that name claims or extended resources; set it before
                          any is observed */
};

/** What is read of nodes, pods and PodDisruptionBudgets: fields of lists and watches, ended by
 * NULL. Of the other kinds all is needed. */
extern const char *const dra_node_fields[];
extern const char *const dra_pod_fields[];
extern const char *const dra_budget_fields[];

/** An empty one; the caller's. */
struct dra_view *dra_view_new(void);
/** NULL is accepted. */
void dra_view_free(struct dra_view *v);
SW_DEFINE_AUTO(dra_view, dra_view_free)

/** The object is @obj now; NULL: it is gone. @ns: of a claim. */
void dra_observe(struct dra_view *v, enum dra_kind kind, const char *ns, const char *name,
                 struct json_object *obj);
/** A pod as the watch reports it. */
void dra_observe_pod(struct dra_view *v, struct json_object *obj, int64_t now_ms);
/** The pod of @uid is gone. */
void dra_pod_gone(struct dra_view *v, const char *uid);

/** Borrowed; NULL: not known. */
struct json_object *dra_find(const struct dra_view *v, enum dra_kind kind, const char *ns,
                             const char *name);
/** Borrowed; NULL: not known. */
struct dra_pod *dra_find_pod(const struct dra_view *v, const char *uid);
/** The DeviceClass that serves an extended resource; borrowed, NULL: none. Source: KEP-5004: of two
 * the newer one, else the first by name. */
struct json_object *dra_class_of(const struct dra_view *v, const char *resource);
/** Whether the devices of a class are our driver's. */
bool dra_class_is_ours(struct json_object *class);

/** The claim by which room is kept for the pod of @uid. The caller's. */
char *dra_room_name(const char *uid) SW_CHECKED;
/** A label of such a claim: the pod's uid. */
#define DRA_ROOM_LABEL "slipway.dev/room-for"

/** An annotation of pods, "true": they may be evicted so that another one gets its devices, if
 * there is another place for them. */
#define DRA_MAY_MOVE "slipway.dev/may-move"
/** kube-scheduler has found no node for @pod (a document), for want of devices on some. Source: its
 * plugin DynamicResources. */
bool dra_is_refused(struct json_object *pod);

/** What a pod asks for. */
struct dra_needs {
    struct json_object **todo; /* claims to be allocated; counted */
    struct json_object **done; /* those that are; counted */
    size_t n_todo, n_done;
    bool ours;     /* a claim to be allocated asks for devices of our driver */
    bool extended; /* one of them is made by kube-scheduler of the pod's limits */
    bool missing;  /* a claim does not exist yet, or is being deleted */
};
/** Read what @pod (a document) asks for on @node (may be NULL: on one without device plugins). */
void dra_needs_read(const struct dra_view *v, struct json_object *pod, struct json_object *node,
                    struct dra_needs *out);
/** What the bound pod @pod will ask for when it is made again elsewhere: claims that are its alone
 * are to be allocated anew. */
void dra_needs_again(const struct dra_view *v, const struct dra_pod *pod, struct json_object *node,
                     struct dra_needs *out);
/** Free what it owns. */
void dra_needs_done(struct dra_needs *needs);
