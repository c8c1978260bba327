#include "emulator/controllers/pod_run.h"

#include "data/text/quantity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_object *waiting(const char *reason, const char *fmt, const char *what)
{
    SW_AUTO_CHARS *message = NULL;
    if (fmt) {
        const char *at = strstr(fmt, "%s");
        message = at ? sw_printf("%.*s%s%s", (int)(at - fmt), fmt, what, at + 2) : sw_strdup(fmt);
    }
    return sw_doc_new(
        "waiting",
        sw_doc_new("reason", sw_str(reason), "message", message ? sw_str(message) : NULL, NULL),
        NULL);
}

static json_object *terminated(const struct sw_pod *pod, int exit_code)
{
    return sw_doc_new("terminated",
                      sw_doc_new("exitCode", sw_int(exit_code), "reason",
                                 sw_str(exit_code ? "Error" : "Completed"), "startedAt",
                                 sw_time(pod->started_ms), "finishedAt", sw_time(pod->ended_ms),
                                 NULL),
                      NULL);
}

static json_object *running(const struct sw_pod *pod)
{
    return sw_doc_new("running", sw_doc_new("startedAt", sw_time(pod->started_ms), NULL), NULL);
}

/* A container whose image is not there waits for that; the others for it. */
static json_object *pull_state(struct sw_ctl *ctl, const struct sw_pod *pod, const char *image)
{
    if (sw_rules_image(ctl->rules, image))
        return waiting("ContainerCreating", NULL, NULL);
    return pod->step == SW_STEP_PULL_ERROR
               ? waiting(
                     "ErrImagePull",
                     "rpc error: code = NotFound desc = failed to pull and unpack image \"%s\": "
                     "not found",
                     image)
               : waiting("ImagePullBackOff", "Back-off pulling image \"%s\"", image);
}

static json_object *crash_state(const struct sw_pod *pod, const char *container)
{
    SW_AUTO_CHARS *what = sw_printf("%s pod=%s_%s(%s)", container, sw_pod_name(pod), sw_pod_ns(pod),
                                    sw_obj_uid(pod->doc));
    return waiting("CrashLoopBackOff", "back-off restarting failed container=%s", what);
}

static bool is_started(enum sw_pod_step step)
{
    return step == SW_STEP_RUNNING || step == SW_STEP_READY || step == SW_STEP_CRASHED ||
           step == SW_STEP_ENDED;
}

static json_object *container_state(struct sw_ctl *ctl, const struct sw_pod *pod,
                                    const struct sw_run *run, size_t i, json_object *container)
{
    const struct sw_pod_plan *plan = &run->plans[i];
    bool ended = plan->run_ms >= 0;
    if (run->failing_init >= 0)
        return waiting("PodInitializing", NULL, NULL);
    switch (pod->step) {
    case SW_STEP_PULL_ERROR:
    case SW_STEP_PULL_WAIT:
        return pull_state(ctl, pod, sw_json_str(container, "", "image", NULL));
    case SW_STEP_CRASHED:
        return ended ? crash_state(pod, sw_json_str(container, "", "name", NULL)) : running(pod);
    case SW_STEP_ENDED:
        return terminated(pod, plan->exit_code);
    case SW_STEP_RUNNING:
    case SW_STEP_READY:
        return running(pod);
    default:
        return sw_json_len(sw_json_find(pod->doc, "spec", "initContainers", NULL))
                   ? waiting("PodInitializing", NULL, NULL)
                   : waiting("ContainerCreating", NULL, NULL);
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
    return sw_doc_new(
        "name", sw_str(sw_json_str(c, "", "name", NULL)), "image", sw_str(image), "imageID",
        sw_str(is_started(pod->step) ? image : ""), "containerID",
        is_started(pod->step) && !sw_json_get(state, "waiting") ? sw_str(id) : NULL, "ready",
        sw_bool(ready && runs && !run->plans[i].never_ready), "started", sw_bool(runs),
        "restartCount", sw_int(ended ? pod->n_restarts : 0), "state", state, "lastState",
        ended ? terminated(pod, run->plans[i].exit_code) : json_object_new_object(), NULL);
}

static json_object *init_status(const struct sw_pod *pod, const struct sw_run *run, size_t i)
{
    json_object *c = sw_json_at(sw_json_find(pod->doc, "spec", "initContainers", NULL), i);
    const char *name = sw_json_str(c, "", "name", NULL);
    bool over = is_started(pod->step), failed = run->failing_init == (long)i;
    json_object *state;
    if (!over || (run->failing_init >= 0 && (long)i > run->failing_init))
        state = waiting("PodInitializing", NULL, NULL);
    else if (failed && pod->step == SW_STEP_CRASHED)
        state = crash_state(pod, name);
    else
        state = terminated(pod, failed ? run->init_exit_code : 0);
    return sw_doc_new("name", sw_str(name), "image", sw_str(sw_json_str(c, "", "image", NULL)),
                      "imageID", sw_str(over ? sw_json_str(c, "", "image", NULL) : ""), "ready",
                      sw_bool(over && !failed && sw_json_get(state, "terminated")), "restartCount",
                      sw_int(failed ? pod->n_restarts : 0), "state", state, "lastState",
                      json_object_new_object(), NULL);
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

/* The names of the containers that are not ready, as kubelet lists them: "[a b]". */
static char *unready_names(json_object *statuses)
{
    char *text = sw_strdup("containers with unready status: [");
    const char *sep = "";
    for (size_t i = 0; i < sw_json_len(statuses); i++) {
        json_object *s = sw_json_at(statuses, i);
        if (sw_json_bool(s, false, "ready", NULL))
            continue;
        char *more = sw_printf("%s%s%s", text, sep, sw_json_str(s, "", "name", NULL));
        free(text);
        text = more;
        sep = " ";
    }
    char *full = sw_printf("%s]", text);
    free(text);
    return full;
}

static void set_conditions(struct sw_ctl *ctl, const struct sw_pod *pod, const struct sw_run *run,
                           json_object *status, bool ready)
{
    json_object *list = sw_json_need_list(status, "conditions", NULL);
    int64_t now = sw_ctl_now(ctl);
    bool over = pod->step == SW_STEP_ENDED && !run->worst_exit_code && run->failing_init < 0;
    bool initialized = is_started(pod->step) && run->failing_init < 0;
    SW_AUTO_CHARS *message = ready || over
                                 ? NULL
                                 : unready_names(sw_json_get(status, "containerStatuses"));
    const char *why = ready ? NULL : over ? "PodCompleted" : "ContainersNotReady";
    if (!initialized && !sw_json_len(sw_json_find(pod->doc, "spec", "initContainers", NULL)))
        initialized = true;
    (void)sw_cond_set(list, "Initialized", initialized ? "True" : "False",
                      initialized ? NULL : "ContainersNotInitialized", NULL, now);
    (void)sw_cond_set(list, "Ready", ready ? "True" : "False", why, message, now);
    (void)sw_cond_set(list, "ContainersReady", ready ? "True" : "False", why, message, now);
    (void)sw_cond_set(list, "PodScheduled", "True", NULL, NULL, now);
}

/* An address of the pod's own in its node's range. */
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

/* Quality of service, as the API server's documentation defines the classes. */
static const char *qos_of(json_object *pod)
{
    static const char *const kinds[] = { "cpu", "memory" };
    json_object *list = sw_json_find(pod, "spec", "containers", NULL);
    bool any = false, all = true;
    for (size_t i = 0; i < sw_json_len(list); i++) {
        json_object *r = sw_json_get(sw_json_at(list, i), "resources");
        for (size_t k = 0; k < SW_COUNT(kinds); k++) {
            json_object *limit = sw_json_find(r, "limits", kinds[k], NULL);
            json_object *request = sw_json_find(r, "requests", kinds[k], NULL);
            any |= limit || request;
            all &= limit && (!request || json_object_equal(limit, request));
        }
    }
    return !any ? "BestEffort" : all && sw_json_len(list) ? "Guaranteed" : "Burstable";
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
    if (!sw_json_get(status, "qosClass"))
        sw_json_set_str(status, qos_of(pod->doc), "qosClass", NULL);
    set_conditions(ctl, pod, run, status, ready);
    set_addresses(pod, status);
    return status;
}
