#include "operator/engine/readiness/pod.h"

#include <inttypes.h>

#include "base/base.h"
#include "data/json/path.h"

bool pod_is_ready(struct json_object *pod)
{
    struct json_object *ready = sw_obj_condition(pod, "Ready");
    return sw_streq(sw_json_str(ready, "", "status", NULL), "True") &&
           !sw_json_find(pod, "metadata", "deletionTimestamp", NULL);
}

bool pod_runs_to_completion(struct json_object *pod)
{
    const char *policy = sw_json_str(pod, "Always", "spec", "restartPolicy", NULL);
    return sw_streq(policy, "Never") || sw_streq(policy, "OnFailure");
}

/* "exit code 1 (Error): text", or "" where nothing has ended. */
static char *ending(struct json_object *terminated)
{
    if (!terminated)
        return sw_strdup("");
    const char *reason = sw_json_str(terminated, "", "reason", NULL);
    const char *message = sw_json_str(terminated, "", "message", NULL);
    return sw_printf("exit code %" PRId64 "%s%s%s%s%s",
                     sw_json_int(terminated, 0, "exitCode", NULL), *reason ? " (" : "", reason,
                     *reason ? ")" : "", *message ? ": " : "", message);
}

/* Says what @container does that keeps the pod from being ready. @return false: nothing. */
static bool container_trouble(struct json_object *container, bool init, struct sw_readiness *out)
{
    const char *name = sw_json_str(container, "?", "name", NULL);
    const char *what = init ? "init container" : "container";
    struct json_object *waiting = sw_json_find(container, "state", "waiting", NULL);
    struct json_object *ended = sw_json_find(container, "state", "terminated", NULL);
    if (waiting) {
        const char *reason = sw_json_str(waiting, "Waiting", "reason", NULL);
        const char *message = sw_json_str(waiting, "", "message", NULL);
        SW_AUTO_CHARS *last = ending(sw_json_find(container, "lastState", "terminated", NULL));
        sw_readiness_set(out, SW_READINESS_WAITING, reason, "%s %s: %s%s%s%s%s", what, name, reason,
                         *message ? ": " : "", message, *last ? ", last " : "", last);
        if (*last)
            out->container = sw_strdup(name);
        /* A pod that is being started says this of all its containers: look for a better reason. */
        return !sw_streq(reason, "PodInitializing") && !sw_streq(reason, "ContainerCreating");
    }
    if (ended && (!init || sw_json_int(ended, 0, "exitCode", NULL) != 0)) {
        SW_AUTO_CHARS *how = ending(ended);
        sw_readiness_set(out, SW_READINESS_WAITING,
                         sw_json_str(ended, "Terminated", "reason", NULL), "%s %s ended: %s", what,
                         name, how);
        out->container = sw_strdup(name);
        return true;
    }
    if (!init && !sw_json_bool(container, false, "ready", NULL))
        sw_readiness_set(out, SW_READINESS_WAITING, "NotReady", "%s %s is not ready", what, name);
    return false;
}

static bool containers_trouble(struct json_object *pod, const char *list, bool init,
                               struct sw_readiness *out)
{
    struct json_object *statuses = sw_json_find(pod, "status", list, NULL);
    for (size_t i = 0; i < sw_json_len(statuses); i++)
        if (container_trouble(sw_json_at(statuses, i), init, out))
            return true;
    return false;
}

static void pod_failed(struct json_object *pod, struct sw_readiness *out)
{
    const char *reason = sw_json_str(pod, "", "status", "reason", NULL);
    const char *message = sw_json_str(pod, "", "status", "message", NULL);
    struct json_object *statuses = sw_json_find(pod, "status", "containerStatuses", NULL);
    for (size_t i = 0; !*reason && i < sw_json_len(statuses); i++) {
        struct json_object *ended = sw_json_find(sw_json_at(statuses, i), "state", "terminated",
                                                 NULL);
        if (ended && sw_json_int(ended, 0, "exitCode", NULL) != 0) {
            SW_AUTO_CHARS *how = ending(ended);
            sw_readiness_set(out, SW_READINESS_FAILED, "PodFailed",
                             "failed: container %s ended: %s",
                             sw_json_str(sw_json_at(statuses, i), "?", "name", NULL), how);
            out->container = sw_strdup(sw_json_str(sw_json_at(statuses, i), "?", "name", NULL));
            return;
        }
    }
    sw_readiness_set(out, SW_READINESS_FAILED, *reason ? reason : "PodFailed", "failed%s%s%s%s",
                     *reason ? ": " : "", reason, *message ? ": " : "", message);
}

void pod_judge(struct json_object *pod, struct sw_readiness *out)
{
    const char *phase = sw_json_str(pod, "Pending", "status", "phase", NULL);
    struct json_object *scheduled = sw_obj_condition(pod, "PodScheduled");
    bool is_ready = pod_is_ready(pod);
    if (sw_streq(phase, "Failed")) {
        pod_failed(pod, out);
    } else if (sw_streq(phase, "Succeeded") || (is_ready && !pod_runs_to_completion(pod))) {
        sw_readiness_set(out, SW_READINESS_READY, NULL, " ");
    } else if (is_ready) {
        sw_readiness_set(out, SW_READINESS_WAITING, "Running",
                         "is running and has not succeeded yet");
    } else if (sw_streq(sw_json_str(scheduled, "", "status", NULL), "False")) {
        sw_readiness_set(out, SW_READINESS_WAITING,
                         sw_json_str(scheduled, "Unschedulable", "reason", NULL),
                         "cannot be scheduled: %s", sw_json_str(scheduled, "", "message", NULL));
    } else {
        /* the first container that has a reason of its own decides */
        sw_readiness_set(out, SW_READINESS_WAITING, phase, "is %s", phase);
        if (!containers_trouble(pod, "initContainerStatuses", true, out))
            (void)containers_trouble(pod, "containerStatuses", false, out);
    }
}
