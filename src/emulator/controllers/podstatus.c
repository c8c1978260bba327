#include "emulator/controllers/pod_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The state of a waiting container. @message may be NULL. */
static json_object *waiting(const char *reason, const char *message)
{
    return sw_doc_new(
        "waiting",
        sw_doc_new("reason", sw_str(reason), "message", message ? sw_str(message) : NULL, NULL),
        NULL);
}

/* @message: what the container wrote to its terminationMessagePath; NULL: nothing. */
static json_object *terminated(const struct sw_pod *pod, int exit_code, const char *reason,
                               const char *message)
{
    const char *usual = exit_code ? "Error" : "Completed";
    return sw_doc_new(
        "terminated",
        sw_doc_new("exitCode", sw_int(exit_code), "reason", sw_str(reason ? reason : usual),
                   "message", message ? sw_str(message) : NULL, "startedAt",
                   sw_time(pod->last_started_ms), "finishedAt", sw_time(pod->ended_ms), NULL),
        NULL);
}

static json_object *running(const struct sw_pod *pod)
{
    return sw_doc_new("running", sw_doc_new("startedAt", sw_time(pod->started_ms), NULL), NULL);
}

/* While an image of the pod is missing: an error for its container, the others wait. */
static json_object *pull_state(struct sw_ctl *ctl, const struct sw_pod *pod, const char *image)
{
    SW_AUTO_CHARS *error = sw_pod_pull_error(ctl, pod, image);
    if (!error)
        return waiting("ContainerCreating", NULL);
    bool back_off = pod->step == SW_STEP_PULL_WAIT;
    SW_AUTO_CHARS *message = back_off ? sw_printf("Back-off pulling image \"%s\"", image)
                                      : sw_strdup(error);
    return waiting(back_off ? "ImagePullBackOff" : "ErrImagePull", message);
}

static json_object *crash_state(const struct sw_pod *pod, const char *container)
{
    SW_AUTO_CHARS *message = sw_printf("back-off restarting failed container=%s pod=%s_%s(%s)",
                                       container, sw_pod_name(pod), sw_pod_ns(pod),
                                       sw_obj_uid(pod->doc));
    return waiting("CrashLoopBackOff", message);
}

static bool is_started(enum sw_pod_step step)
{
    return step >= SW_STEP_RUNNING && step <= SW_STEP_ENDED;
}

static json_object *container_state(struct sw_ctl *ctl, const struct sw_pod *pod,
                                    const struct sw_run *run, size_t i, json_object *container)
{
    const struct sw_pod_plan *plan = &run->plans[i];
    bool ended = plan->run_ms >= 0;
    bool has_inits = sw_json_len(sw_json_find(pod->doc, "spec", "initContainers", NULL));
    if (run->failing_init >= 0)
        return waiting("PodInitializing", NULL);
    switch (pod->step) {
    case SW_STEP_PULL_ERROR:
    case SW_STEP_PULL_WAIT:
        return pull_state(ctl, pod, sw_json_str(container, "", "image", NULL));
    case SW_STEP_CONFIGURING: {
        SW_AUTO_CHARS *missing = sw_pod_missing_env(ctl, pod, container);
        return missing ? waiting("CreateContainerConfigError", missing) : running(pod);
    }
    case SW_STEP_CRASHED:
        return ended ? crash_state(pod, sw_json_str(container, "", "name", NULL)) : running(pod);
    case SW_STEP_ENDED:
        return terminated(pod, plan->exit_code, plan->reason, plan->message);
    case SW_STEP_RUNNING:
    case SW_STEP_READY:
        return running(pod);
    default:
        return waiting(has_inits ? "PodInitializing" : "ContainerCreating", NULL);
    }
}

static json_object *container_status(struct sw_ctl *ctl, const struct sw_pod *pod,
                                     const struct sw_run *run, size_t i, bool ready)
{
    json_object *c = sw_json_at(sw_json_find(pod->doc, "spec", "containers", NULL), i);
    json_object *state = container_state(ctl, pod, run, i, c);
    bool runs = sw_json_get(state, "running") != NULL;
    bool ended = run->plans[i].run_ms >= 0 && pod->n_restarts > 0;
    const char *image = sw_json_str(c, "", "image", NULL);
    SW_AUTO_CHARS *id = sw_printf(
        "cri-o://%016llx%08zx",
        (unsigned long long)sw_fnv64a(sw_obj_uid(pod->doc), strlen(sw_obj_uid(pod->doc))),
        i + 256 * (size_t)pod->n_restarts);
    return sw_doc_new("name", sw_str(sw_json_str(c, "", "name", NULL)), "image", sw_str(image),
                      "imageID", sw_str(is_started(pod->step) ? image : ""), "containerID",
                      is_started(pod->step) && !sw_json_get(state, "waiting") ? sw_str(id) : NULL,
                      "ready", sw_bool(ready && runs && !run->plans[i].never_ready), "started",
                      sw_bool(runs), "restartCount", sw_int(ended ? pod->n_restarts : 0), "state",
                      state, "lastState",
                      ended ? terminated(pod, run->plans[i].exit_code, run->plans[i].reason,
                                         run->plans[i].message)
                            : json_object_new_object(),
                      NULL);
}

static json_object *init_status(const struct sw_pod *pod, const struct sw_run *run, size_t i)
{
    json_object *c = sw_json_at(sw_json_find(pod->doc, "spec", "initContainers", NULL), i);
    const char *name = sw_json_str(c, "", "name", NULL);
    bool over = is_started(pod->step), failed = run->failing_init == (long)i;
    json_object *state;
    if (!over || (run->failing_init >= 0 && (long)i > run->failing_init))
        state = waiting("PodInitializing", NULL);
    else if (failed && pod->step == SW_STEP_CRASHED)
        state = crash_state(pod, name);
    else
        state = terminated(pod, failed ? run->init_exit_code : 0, NULL, NULL);
    return sw_doc_new("name", sw_str(name), "image", sw_str(sw_json_str(c, "", "image", NULL)),
                      "imageID", sw_str(over ? sw_json_str(c, "", "image", NULL) : ""), "ready",
                      sw_bool(over && !failed && sw_json_get(state, "terminated")), "restartCount",
                      sw_int(failed ? pod->n_restarts : 0), "state", state, "lastState",
                      failed && pod->n_restarts ? terminated(pod, run->init_exit_code, NULL, NULL)
                                                : json_object_new_object(),
                      NULL);
}

static const char *phase_of(const struct sw_pod *pod, const struct sw_run *run)
{
    switch (pod->step) {
    case SW_STEP_RUNNING:
    case SW_STEP_READY:
        return "Running";
    case SW_STEP_CRASHED:
        return run->failing_init >= 0 ? "Pending" : "Running";
    case SW_STEP_ENDED:
        return run->failing_init >= 0 || run->worst_exit_code ? "Failed" : "Succeeded";
    default:
        return "Pending";
    }
}

/* A message with the names of the containers that are not ready, as kubelet lists them: "[a b]". */
static char *unready_message(json_object *statuses)
{
    char *text = sw_strdup("containers with unready status: [");
    const char *sep = "";
    for (size_t i = 0; i < sw_json_len(statuses); i++) {
        json_object *s = sw_json_at(statuses, i);
        if (sw_json_bool(s, false, "ready", NULL))
            continue;
        sw_append(&text, "%s%s", sep, sw_json_str(s, "", "name", NULL));
        sep = " ";
    }
    sw_append(&text, "]");
    return text;
}

static void set_conditions(struct sw_ctl *ctl, const struct sw_pod *pod, const struct sw_run *run,
                           json_object *status, bool ready)
{
    json_object *list = sw_json_need_list(status, "conditions", NULL);
    int64_t now = sw_ctl_now(ctl);
    bool over = pod->step == SW_STEP_ENDED && !run->worst_exit_code && run->failing_init < 0;
    bool has_inits = sw_json_len(sw_json_find(pod->doc, "spec", "initContainers", NULL));
    bool initialized = !has_inits || (is_started(pod->step) && run->failing_init < 0);
    SW_AUTO_CHARS *message = ready || over
                                 ? NULL
                                 : unready_message(sw_json_get(status, "containerStatuses"));
    const char *reason = ready ? NULL : over ? "PodCompleted" : "ContainersNotReady";
    (void)sw_cond_set(list, "Initialized", initialized ? "True" : "False",
                      initialized ? NULL : "ContainersNotInitialized", NULL, now);
    (void)sw_cond_set(list, "Ready", ready ? "True" : "False", reason, message, now);
    (void)sw_cond_set(list, "ContainersReady", ready ? "True" : "False", reason, message, now);
    (void)sw_cond_set(list, "PodScheduled", "True", NULL, NULL, now);
}

/* The pod's address in its node's range; the same one for its life. */
static char *new_address(struct sw_pod *pod)
{
    const char *range = sw_json_str(pod->node->doc, "", "spec", "podCIDR", NULL);
    unsigned a, b, c;
    size_t n = pod->node->number;
    if (!pod->ip)
        pod->ip = ++pod->node->last_ip;
    if (sscanf(range, "%3u.%3u.%3u.0/24", &a, &b, &c) == 3)
        return sw_printf("%u.%u.%u.%u", a, b, c, pod->ip % 253 + 2);
    return sw_printf("10.%zu.%zu.%u", 200 + n / 256 % 50, n % 256, pod->ip % 253 + 2);
}

/* Set hostIP, and podIP once the pod has started. */
static void set_addresses(struct sw_pod *pod, json_object *status)
{
    json_object *addresses = sw_json_find(pod->node->doc, "status", "addresses", NULL);
    json_object *host = sw_json_find_by(addresses, "type", "InternalIP");
    const char *host_ip = sw_json_str(host, "", "address", NULL);
    bool on_host = sw_json_bool(pod->doc, false, "spec", "hostNetwork", NULL) && *host_ip;
    if (*host_ip)
        sw_json_set_str(status, host_ip, "hostIP", NULL);
    if (!is_started(pod->step) || sw_json_get(status, "podIP"))
        return;
    SW_AUTO_CHARS *ip = on_host ? sw_strdup(host_ip) : new_address(pod);
    sw_json_set_str(status, ip, "podIP", NULL);
    json_object_object_add(status, "podIPs", sw_doc_list(sw_doc_new("ip", sw_str(ip), NULL), NULL));
}

json_object *sw_pod_status(struct sw_ctl *ctl, struct sw_pod *pod, const struct sw_run *run,
                           bool ready)
{
    json_object *old = sw_json_get(pod->doc, "status");
    json_object *status = old ? sw_json_copy(old) : json_object_new_object();
    json_object *containers = json_object_new_array(), *inits = NULL;
    for (size_t i = 0; i < run->n_plans; i++)
        json_object_array_add(containers, container_status(ctl, pod, run, i, ready));
    size_t n_inits = sw_json_len(sw_json_find(pod->doc, "spec", "initContainers", NULL));
    for (size_t i = 0; i < n_inits; i++) {
        inits = inits ? inits : json_object_new_array();
        json_object_array_add(inits, init_status(pod, run, i));
    }
    sw_json_set_str(status, phase_of(pod, run), "phase", NULL);
    json_object_object_add(status, "containerStatuses", containers);
    if (inits)
        json_object_object_add(status, "initContainerStatuses", inits);
    if (!sw_json_get(status, "startTime"))
        json_object_object_add(status, "startTime", sw_time(sw_ctl_now(ctl)));
    set_conditions(ctl, pod, run, status, ready);
    set_addresses(pod, status);
    return status;
}
