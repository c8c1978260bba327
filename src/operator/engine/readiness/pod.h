#pragma once
/* What a Pod is waiting for, in words: the container that holds it up, why, and with which exit
 * code. For Pods that are objects of a recipe, and for those of its workloads. */
#include <stdbool.h>

#include "operator/engine/readiness/readiness.h"

/** Condition Ready is True, and it is not being deleted. */
bool pod_is_ready(struct json_object *pod);
/** Meant to end (restartPolicy Never or OnFailure): ready means Succeeded. */
bool pod_runs_to_completion(struct json_object *pod);
void pod_judge(struct json_object *pod, struct sw_readiness *out);
