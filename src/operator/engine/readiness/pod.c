#include "operator/engine/readiness/pod.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/json/path.h"
#include "data/text/time.h"

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
                     *reason ? ")" : "", *message ? ": " : "", pod_failure_cause(message));
}

const char *pod_failure_cause(const char *message)
{
    static const struct {
        const char *start, *end;
    } calls[] = { { "Failed to pull image \"", "\": " },
                  { "failed to pull and unpack image \"", "\": " },
                  { "failed to resolve reference \"", "\": " },
                  { "failed to resolve image \"", "\": " },
                  { "Failed to create pod sandbox: ", "" },
                  { "unable to get OCI runtime for sandbox \"", "\": " },
                  { "failed to get sandbox runtime: ", "" },
                  { "failed to setup network for sandbox \"", "\": " },
                  { "failed to generate container \"", "\" spec: " },
                  { "rpc error: code = ", " desc = " },
                  { "failed to generate spec: ", "" },
                  { "failed to create containerd task: ", "" },
                  { "failed to create shim task: ", "" },
                  { "OCI runtime create failed: ", "" },
                  { "container create failed: ", "" },
                  { "runc create failed: ", "" },
                  { "unable to start container process: ", "" } };
    for (size_t i = 0; i < SW_COUNT(calls); i++) {
        const char *end = sw_starts_with(message, calls[i].start)
                              ? strstr(message + strlen(calls[i].start), calls[i].end)
                              : NULL;
        if (!end)
            continue;
        message = end + strlen(calls[i].end);
        i = SIZE_MAX; /* from the first on again */
    }
    return message;
}

/* " (no pull secret)", " (pull secrets a, b)"; "" unless an image cannot be pulled. The caller's.
 */
static char *pull_secrets(struct json_object *pod, const char *reason)
{
    struct json_object *list = sw_json_find(pod, "spec", "imagePullSecrets", NULL);
    size_t n = sw_json_len(list);
    if (!sw_streq(reason, "ErrImagePull") && !sw_streq(reason, "ImagePullBackOff"))
        return sw_strdup("");
    char *text = sw_strdup(n ? n > 1 ? " (pull secrets " : " (pull secret " : " (no pull secret");
    for (size_t i = 0; i < n; i++)
        sw_append(&text, "%s%s", i ? ", " : "", sw_json_str(sw_json_at(list, i), "", "name", NULL));
    sw_append(&text, ")");
    return text;
}

/* " (claims a, b)": of a pod that waits for its claims; else "". The caller's. */
static char *claims(struct json_object *pod, const char *message)
{
    struct json_object *volumes = sw_json_find(pod, "spec", "volumes", NULL);
    char *text = sw_strdup("");
    for (size_t i = 0; strstr(message, "PersistentVolumeClaims") && i < sw_json_len(volumes); i++) {
        const char *name = sw_json_str(sw_json_at(volumes, i), NULL, "persistentVolumeClaim",
                                       "claimName", NULL);
        if (name)
            sw_append(&text, "%s%s", *text ? ", " : " (claims ", name);
    }
    if (*text)
        sw_append(&text, ")");
    return text;
}

/* What is said of a container that waits, without what is known already: names of the image, the
 * pod and the container. The caller's. */
static char *waiting_message(struct json_object *container, const char *reason, const char *message)
{
    const char *name = strstr(message, " restarting failed container");
    if (name && sw_streq(reason, "CrashLoopBackOff"))
        return sw_strndup(message, (size_t)(name - message)); /* "back-off 40s" */
    message = pod_failure_cause(message);
    return sw_streq(reason, "ErrImagePull")
               ? sw_printf("image \"%s\": %s", sw_json_str(container, "?", "image", NULL), message)
               : sw_strdup(message);
}

/* Says what @container of @pod does that keeps the pod from being ready. @return false: nothing. */
static bool container_trouble(struct json_object *pod, struct json_object *container, bool init,
                              struct sw_readiness *out)
{
    const char *name = sw_json_str(container, "?", "name", NULL);
    const char *what = init ? "init container" : "container";
    struct json_object *waiting = sw_json_find(container, "state", "waiting", NULL);
    struct json_object *ended = sw_json_find(container, "state", "terminated", NULL);
    if (waiting) {
        const char *reason = sw_json_str(waiting, "Waiting", "reason", NULL);
        const char *message = sw_json_str(waiting, "", "message", NULL);
        SW_AUTO_CHARS *said = waiting_message(container, reason, message);
        SW_AUTO_CHARS *last = ending(sw_json_find(container, "lastState", "terminated", NULL));
        SW_AUTO_CHARS *secrets = pull_secrets(pod, reason);
        sw_readiness_set(out, SW_READINESS_WAITING, reason, "%s %s: %s%s%s%s%s%s", what, name,
                         reason, *said ? ": " : "", said, secrets, *last ? ", last " : "", last);
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
    if (!init && !sw_json_bool(container, false, "ready", NULL)) { /* it runs */
        sw_readiness_set(out, SW_READINESS_WAITING, SW_POD_NOT_READY, "%s %s is not ready", what,
                         name);
        out->container = sw_strdup(name);
    }
    return false;
}

int64_t pod_must_run_ms(struct json_object *pod, int64_t *until_ms, struct sw_readiness *out)
{
    enum { MOST_MS = 60000, MOST_DOUBLED = 5, FORGOTTEN_MS = 600000, ROUNDED_MS = 1000 };
    struct json_object *list = sw_json_find(pod, "status", "containerStatuses", NULL);
    int64_t longest_ms = 0;
    for (size_t i = 0; i < sw_json_len(list); i++) {
        SW_ERR(ignored);
        struct json_object *c = sw_json_at(list, i);
        struct json_object *last = sw_json_find(c, "lastState", "terminated", NULL);
        const char *runs = sw_json_str(c, "", "state", "running", "startedAt", NULL);
        int64_t n = sw_json_int(c, 0, "restartCount", NULL), runs_ms, from_ms, to_ms;
        if (!n || sw_time_parse(runs, &runs_ms, &ignored) < 0 ||
            sw_time_parse(sw_json_str(last, "", "startedAt", NULL), &from_ms, &ignored) < 0 ||
            sw_time_parse(sw_json_str(last, "", "finishedAt", NULL), &to_ms, &ignored) < 0 ||
            to_ms - from_ms >= FORGOTTEN_MS)
            continue;
        const int64_t ran_ms = (to_ms > from_ms ? to_ms - from_ms : 0) + ROUNDED_MS;
        const int64_t backed_ms = (int64_t)ROUNDED_MS << (n <= MOST_DOUBLED ? n - 1 : MOST_DOUBLED);
        int64_t must_ms = 2 * (ran_ms > backed_ms ? ran_ms : backed_ms);
        must_ms = must_ms < MOST_MS ? must_ms : MOST_MS;
        if (longest_ms && runs_ms + must_ms <= *until_ms)
            continue;
        SW_AUTO_CHARS *how = ending(last);
        const char *name = sw_json_str(c, "?", "name", NULL);
        *until_ms = runs_ms + must_ms;
        longest_ms = must_ms;
        sw_readiness_set(out, SW_READINESS_WAITING, "Restarting",
                         "container %s runs again, after %" PRId64 " restart%s; last %s", name, n,
                         n > 1 ? "s" : "", how);
        out->container = sw_strdup(name);
    }
    return longest_ms;
}

static bool containers_trouble(struct json_object *pod, const char *list, bool init,
                               struct sw_readiness *out)
{
    struct json_object *statuses = sw_json_find(pod, "status", list, NULL);
    for (size_t i = 0; i < sw_json_len(statuses); i++)
        if (container_trouble(pod, sw_json_at(statuses, i), init, out))
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

/* Whose log kubectl shows. Source: kubectl, `kubectl logs`. */
static const char *default_container(struct json_object *pod)
{
    struct json_object *first = sw_json_at(sw_json_find(pod, "spec", "containers", NULL), 0);
    const char *named = sw_obj_annotation(pod, "kubectl.kubernetes.io/default-container");
    return named ? named : sw_json_str(first, NULL, "name", NULL);
}

void pod_judge(struct json_object *pod, struct sw_readiness *out)
{
    const char *phase = sw_json_str(pod, "Pending", "status", "phase", NULL);
    struct json_object *scheduled = sw_obj_condition(pod, "PodScheduled");
    bool is_ready = pod_is_ready(pod);
    if (sw_streq(phase, "Failed")) {
        pod_failed(pod, out);
    } else if (sw_streq(phase, "Succeeded")) {
        const char *container = default_container(pod);
        sw_readiness_set(out, SW_READINESS_READY, NULL, " ");
        out->container = container ? sw_strdup(container) : NULL;
    } else if (is_ready && !pod_runs_to_completion(pod)) {
        sw_readiness_set(out, SW_READINESS_READY, NULL, " ");
    } else if (is_ready) {
        sw_readiness_set(out, SW_READINESS_WAITING, "Running",
                         "is running and has not succeeded yet");
    } else if (sw_streq(sw_json_str(scheduled, "", "status", NULL), "False")) {
        const char *message = sw_json_str(scheduled, "", "message", NULL);
        SW_AUTO_CHARS *names = claims(pod, message);
        sw_readiness_set(out, SW_READINESS_WAITING,
                         sw_json_str(scheduled, "Unschedulable", "reason", NULL),
                         "cannot be scheduled: %s%s", message, names);
    } else {
        /* the first container that has a reason of its own decides */
        sw_readiness_set(out, SW_READINESS_WAITING, phase, "is %s", phase);
        if (!containers_trouble(pod, "initContainerStatuses", true, out))
            (void)containers_trouble(pod, "containerStatuses", false, out);
    }
}
