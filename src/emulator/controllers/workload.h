#pragma once
/* ctl_workload: what controllers of pods share. */
#include "emulator/controllers/core.h"

/** Pods that a controller makes before it lets others have their turn. */
enum { SW_PODS_A_ROUND = 100 };

/** A pod of @owner's spec.template, with its controller reference. @name, or with a dash at its end
 * a prefix for a generated one. New. */
json_object *sw_workload_pod(json_object *owner, const char *name);
/** Its template's labels, made where missing; borrowed from @pod. */
json_object *sw_workload_labels(json_object *pod);

/** How many of an owner's pods are what. Those that are over or being deleted do not count. */
struct sw_workload_count {
    int64_t active, ready, available, updated, updated_ready;
    int64_t wait_ms; /* until another one becomes available by itself; -1: none */
};
/** @label/@value: what marks the updated ones; NULL: all. */
void sw_workload_count(struct sw_ctl *ctl, json_object *owner, const char *label, const char *value,
                       struct sw_workload_count *out);
bool sw_pod_is_active(const struct sw_pod *pod);
bool sw_pod_has_label(const struct sw_pod *pod, const char *key, const char *value);

/** The active pods of @owner, those to give up first in front: not bound, not ready, the youngest.
 * @*out is the caller's array of borrowed pods, good until the next write. */
size_t sw_workload_pods(struct sw_ctl *ctl, json_object *owner, struct sw_pod ***out);

/** Pods that must go, collected first: deleting one changes the lists that are walked. Zero is
 * empty. */
struct sw_doomed {
    json_object **docs; /* counted */
    size_t n, cap;
};
void sw_doom(struct sw_doomed *doomed, const struct sw_pod *pod);
/** Delete them all (@now: without a grace period), and be empty again. */
void sw_doomed_delete(struct sw_ctl *ctl, struct sw_doomed *doomed, bool now);

/** Enqueue the controller of a pod that changed, if it is of this kind. */
void sw_workload_on_pod(struct sw_ctl *ctl, enum sw_queue queue, const char *kind,
                        json_object *before, json_object *after);

/** The ControllerRevision of @owner's template: made where it is missing. @hash names it. */
int sw_workload_revision(struct sw_ctl *ctl, json_object *owner, const char *hash);

/** `status` with integer fields: name, number pairs ended by NULL. Keeps what else was there. */
json_object *sw_workload_status(json_object *doc, ...) __attribute__((sentinel));
