#pragma once
/* Why a Pod is not ready: the container, its reason and its exit code. For Pods that are objects of
 * a recipe, and for those of its workloads. */
#include <stdbool.h>

#include "operator/engine/readiness/readiness.h"

/** Is its condition Ready True, and is it not being deleted? */
bool pod_is_ready(struct json_object *pod);
/** Has it restartPolicy Never or OnFailure? It is ready when it has Succeeded. */
bool pod_runs_to_completion(struct json_object *pod);
/** The readiness of a Pod that exists, into @out. */
void pod_judge(struct json_object *pod, struct sw_readiness *out);
