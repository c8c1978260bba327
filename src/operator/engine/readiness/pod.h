#pragma once
/* Why a Pod is not ready: the container, its reason and its exit code. For Pods that are objects of
 * a recipe, and for those of its workloads. */
#include <stdbool.h>
#include <stdint.h>

#include "operator/engine/readiness/readiness.h"

/** The reason of a pod whose containers run, one of them without being ready. */
#define SW_POD_NOT_READY "PodNotReady"

/** What kubelet and the container engine say of an image that cannot be pulled, or of a container
 * that cannot be started, without the calls that they went through and the image's name, again and
 * again. Borrowed from @message. Source: the errors of containerd, CRI-O and runc. */
const char *pod_failure_cause(const char *message);
/** Is its condition Ready True, and is it not being deleted? */
bool pod_is_ready(struct json_object *pod);
/** Has it restartPolicy Never or OnFailure? It is ready when it has Succeeded. */
bool pod_runs_to_completion(struct json_object *pod);
/** A container that has ended counts again when it has run for twice as long as before, and for 2 s
 * doubled with each further restart, at most a minute: otherwise what ends soon after each start
 * would be ready in between. One that ran for ten minutes counts at once, as kubelet forgets its
 * restarts then. @return how long it must run,
 * of the pod's containers the one that ends last: until *@until_ms by the cluster's clock, with
 * @out saying so; 0: the pod, which is ready, counts. */
int64_t pod_must_run_ms(struct json_object *pod, int64_t *until_ms, struct sw_readiness *out);
/** The readiness of a Pod that exists, into @out. */
void pod_judge(struct json_object *pod, struct sw_readiness *out);
