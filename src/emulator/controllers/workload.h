#pragma once
/* ctl_workload: what the controllers that create pods share. */
#include "emulator/controllers/core.h"

/** The most pods that a controller creates in one turn. */
enum { SW_PODS_A_ROUND = 100 };

/** A new pod of @owner's spec.template, with its controller reference. @name: the pod's name; with
 * a dash at its end the prefix of a generated one. */
json_object *sw_workload_pod(json_object *owner, const char *name);
/** The pod's labels, borrowed; an empty map where it has none. */
json_object *sw_workload_labels(json_object *pod);

/** The numbers of an owner's pods. Pods that are over or being deleted do not count. */
struct sw_workload_count {
    int64_t active, ready, available, updated, updated_ready;
    int64_t wait_ms; /* until another one becomes available by itself; -1: none */
};
/** Count the pods of @owner. @label, @value: the label of the updated ones; NULL: all are. */
void sw_workload_count(struct sw_ctl *ctl, json_object *owner, const char *label, const char *value,
                       struct sw_workload_count *out);
/** Whether it is neither over nor being deleted. */
bool sw_pod_is_active(const struct sw_pod *pod);
/** Whether the label @key has this value. */
bool sw_pod_has_label(const struct sw_pod *pod, const char *key, const char *value);

/** The active pods of @owner, those to delete first in front: not bound, not ready, the youngest.
 * *@out is the caller's array of borrowed pods, valid until the next write. */
size_t sw_workload_pods(struct sw_ctl *ctl, json_object *owner, struct sw_pod ***out);

/** Pods to delete after a walk over the index's lists, which a deletion changes. Zero-initialise.
 */
struct sw_doomed {
    json_object **docs; /* counted */
    size_t n, cap;
};
/** Add a pod. */
void sw_doom(struct sw_doomed *doomed, const struct sw_pod *pod);
/** Delete them all (@now: without a grace period), and be empty again. */
void sw_doomed_delete(struct sw_ctl *ctl, struct sw_doomed *doomed, bool now);

/** Create the ControllerRevision of @owner's template where it is missing; @hash is the end of its
 * name. @return as sw_ctl_create() */
int sw_workload_revision(struct sw_ctl *ctl, json_object *owner, const char *hash);

/** A new status: a copy of @doc's with observedGeneration and these integer fields, pairs of a name
 * and an int64_t ended by NULL. */
json_object *sw_workload_status(json_object *doc, ...) __attribute__((sentinel));
/** Remove these fields, names ended by NULL, where they are 0, as Go's omitempty does. */
void sw_status_omit_zeros(json_object *status, ...) __attribute__((sentinel));
