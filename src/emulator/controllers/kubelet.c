#include "emulator/controllers/devices.h"
#include "emulator/controllers/pod_run.h"

#include <json-c/linkhash.h>
#include <stdlib.h>

/* The back-off before a crashed container is started again. It has no factor of --delays: a crash
 * loop without a delay would not let the clock advance. */
enum { CRASH_FIRST_MS = 1000, CRASH_MOST_MS = 300000, PULL_WAIT_MS = 100 };

static void on_alarm(struct sw_ctl *ctl, struct sw_alarm *alarm);

static void wait_for(struct sw_ctl *ctl, struct sw_pod *pod, int64_t in_ms)
{
    pod->alarm.fire = on_alarm;
    sw_alarm_set(ctl, &pod->alarm, in_ms);
}

static void enqueue(struct sw_ctl *ctl, json_object *pod)
{
    sw_ctl_enqueue(ctl, SW_Q_KUBELET, sw_obj_namespace(pod), sw_obj_name(pod));
}

/* ---- the status ---------------------------------------------------------------------------------
 */

static bool is_up(json_object *node)
{
    const char *ready = sw_cond_status(node, "Ready");
    return !*ready || sw_streq(ready, "True");
}

static void write_status(struct sw_ctl *ctl, struct sw_pod *pod, const struct sw_run *run)
{
    bool ready = pod->step == SW_STEP_READY && !run->never_ready && is_up(pod->node->doc);
    sw_ctl_put_status(ctl, ctl->kinds.pod, pod->doc, sw_pod_status(ctl, pod, run, ready));
    pod->n_seen = pod->n_changes;
}

static void enter(struct sw_ctl *ctl, struct sw_pod *pod, enum sw_pod_step step)
{
    struct sw_run run;
    pod->step = step;
    sw_run_init(ctl, pod, &run);
    write_status(ctl, pod, &run);
    sw_run_done(&run);
}

/* ---- images -------------------------------------------------------------------------------------
 */

static json_object *nth_container(const struct sw_pod *pod, size_t i)
{
    json_object *init = sw_json_find(pod->doc, "spec", "initContainers", NULL);
    size_t n = sw_json_len(init);
    return i < n ? sw_json_at(init, i)
                 : sw_json_at(sw_json_find(pod->doc, "spec", "containers", NULL), i - n);
}

static const char *nth_image(const struct sw_pod *pod, size_t i)
{
    return sw_json_str(nth_container(pod, i), NULL, "image", NULL);
}

/* The first image that cannot be pulled; borrowed, NULL: all can. *@why, which may be NULL: the
 * caller's. */
static const char *missing_image(struct sw_ctl *ctl, const struct sw_pod *pod, char **why)
{
    for (size_t i = 0; nth_container(pod, i); i++) {
        const char *image = nth_image(pod, i);
        SW_AUTO_CHARS *error = image ? sw_pod_pull_error(ctl, pod, image) : NULL;
        if (error && why)
            *why = SW_TAKE(error);
        if (error || (why && *why))
            return image;
    }
    return NULL;
}

/* The node has the pod's images from now on. */
static void note_images(struct sw_pod *pod)
{
    for (size_t i = 0; nth_container(pod, i); i++) {
        const char *image = nth_image(pod, i);
        if (image && !lh_table_lookup_entry(pod->node->images, image))
            (void)lh_table_insert(pod->node->images, sw_strdup(image), NULL);
    }
}

/* ---- the steps ----------------------------------------------------------------------------------
 */

/* The containers that end by themselves have ended. */
static void end_run(struct sw_ctl *ctl, struct sw_pod *pod, const struct sw_run *run)
{
    const char *policy = sw_json_str(pod->doc, "Always", "spec", "restartPolicy", NULL);
    pod->ended_ms = sw_ctl_now(ctl);
    pod->last_started_ms = pod->started_ms;
    if (run->failing_init >= 0 ? sw_streq(policy, "Never") : !run->restarts) {
        enter(ctl, pod, SW_STEP_ENDED);
        return;
    }
    int64_t wait_ms = CRASH_FIRST_MS;
    for (int i = 0; i < pod->n_restarts && wait_ms < CRASH_MOST_MS; i++)
        wait_ms *= 2;
    pod->n_restarts++;
    wait_for(ctl, pod, wait_ms < CRASH_MOST_MS ? wait_ms : CRASH_MOST_MS);
    sw_ctl_event(ctl, pod->doc, "Warning", "BackOff", "Back-off restarting failed container");
    enter(ctl, pod, SW_STEP_CRASHED);
}

static void become_ready(struct sw_ctl *ctl, struct sw_pod *pod, const struct sw_run *run)
{
    pod->step = SW_STEP_READY;
    if (run->ends) {
        int64_t left = pod->started_ms + run->run_ms - sw_ctl_now(ctl);
        wait_for(ctl, pod, left > 0 ? left : 0);
    }
    write_status(ctl, pod, run);
}

static void begin_run(struct sw_ctl *ctl, struct sw_pod *pod)
{
    struct sw_run run;
    sw_run_init(ctl, pod, &run);
    pod->started_ms = sw_ctl_now(ctl);
    if (run.failing_init >= 0) {
        end_run(ctl, pod, &run);
    } else if (ctl->delays.pod_ready_ms > 0) {
        pod->step = SW_STEP_RUNNING;
        wait_for(ctl, pod, sw_ctl_jitter(ctl, ctl->delays.pod_ready_ms));
        write_status(ctl, pod, &run);
    } else {
        become_ready(ctl, pod, &run);
    }
    sw_run_done(&run);
}

/* All images are there: mount the volumes, then start the containers. */
static void start(struct sw_ctl *ctl, struct sw_pod *pod)
{
    SW_AUTO_CHARS *lacking = sw_devices_unprepared(ctl, pod);
    if (lacking) {
        sw_ctl_event(ctl, pod->doc, "Warning", "FailedPrepareDynamicResources",
                     "Failed to prepare dynamic resources: %s", lacking);
        ctl->any_mounting = true;
        enter(ctl, pod, SW_STEP_PREPARING);
        return;
    }
    SW_AUTO_CHARS *missing = sw_pod_missing_volume(ctl, pod);
    if (missing) {
        sw_ctl_event(ctl, pod->doc, "Warning", "FailedMount", "%s", missing);
        ctl->any_mounting = true;
        enter(ctl, pod, SW_STEP_MOUNTING);
        return;
    }
    for (size_t i = 0; nth_container(pod, i); i++) {
        SW_AUTO_CHARS *lacks = sw_pod_missing_env(ctl, pod, nth_container(pod, i));
        if (!lacks)
            continue;
        sw_ctl_event(ctl, pod->doc, "Warning", "Failed", "Error: %s", lacks);
        ctl->any_mounting = true;
        enter(ctl, pod, SW_STEP_CONFIGURING);
        return;
    }
    if (ctl->delays.pod_start_ms <= 0) {
        begin_run(ctl, pod);
        return;
    }
    wait_for(ctl, pod, sw_ctl_jitter(ctl, ctl->delays.pod_start_ms));
    enter(ctl, pod, SW_STEP_STARTING);
}

/* The time to pull the images is over. */
static void pulled(struct sw_ctl *ctl, struct sw_pod *pod)
{
    SW_AUTO_CHARS *why = NULL;
    const char *missing = missing_image(ctl, pod, &why);
    if (!missing) {
        note_images(pod);
        start(ctl, pod);
        return;
    }
    SW_AUTO_CHARS *secrets = sw_pod_missing_pull_secrets(ctl, pod);
    if (secrets)
        sw_ctl_event(ctl, pod->doc, "Warning", "FailedToRetrieveImagePullSecret",
                     "Unable to retrieve some image pull secrets (%s); attempting to pull the "
                     "image may not succeed.",
                     secrets);
    sw_ctl_event(ctl, pod->doc, "Warning", "Failed", "Failed to pull image \"%s\": %s", missing,
                 why);
    sw_ctl_event(ctl, pod->doc, "Warning", "Failed", "Error: ErrImagePull");
    ctl->any_mounting = true;
    wait_for(ctl, pod, PULL_WAIT_MS);
    enter(ctl, pod, SW_STEP_PULL_ERROR);
}

static void pull(struct sw_ctl *ctl, struct sw_pod *pod)
{
    bool pulls = false;
    for (size_t i = 0; nth_container(pod, i); i++)
        pulls |= nth_image(pod, i) && !lh_table_lookup_entry(pod->node->images, nth_image(pod, i));
    if (!pulls || ctl->delays.pull_ms <= 0) {
        pulled(ctl, pod);
        return;
    }
    wait_for(ctl, pod, sw_ctl_jitter(ctl, ctl->delays.pull_ms));
    enter(ctl, pod, SW_STEP_PULLING);
}

/* Delete the pod when its grace period is over. */
static void stop(struct sw_ctl *ctl, struct sw_pod *pod)
{
    if (pod->step != SW_STEP_STOPPING && ctl->delays.pod_stop_ms > 0) {
        pod->step = SW_STEP_STOPPING;
        wait_for(ctl, pod, sw_ctl_jitter(ctl, ctl->delays.pod_stop_ms));
        return;
    }
    sw_alarm_stop(ctl, &pod->alarm);
    (void)sw_ctl_delete(ctl, ctl->kinds.pod, pod->doc, true); /* gone already: fine */
}

/* The time that the pod's step takes is over. The pod may be freed by this. */
static void on_alarm(struct sw_ctl *ctl, struct sw_alarm *alarm)
{
    struct sw_pod *pod = SW_OF_ALARM(struct sw_pod, alarm, alarm);
    struct sw_run run;
    switch (pod->step) {
    case SW_STEP_PULLING:
        pulled(ctl, pod);
        return;
    case SW_STEP_PULL_ERROR:
        sw_ctl_event(ctl, pod->doc, "Normal", "BackOff", "Back-off pulling image");
        enter(ctl, pod, SW_STEP_PULL_WAIT);
        return;
    case SW_STEP_STARTING:
    case SW_STEP_CRASHED:
        begin_run(ctl, pod);
        return;
    case SW_STEP_RUNNING:
    case SW_STEP_READY:
        sw_run_init(ctl, pod, &run);
        if (pod->step == SW_STEP_RUNNING)
            become_ready(ctl, pod, &run);
        else if (run.ends)
            end_run(ctl, pod, &run);
        sw_run_done(&run);
        return;
    case SW_STEP_STOPPING:
        stop(ctl, pod);
        return;
    default:
        return;
    }
}

/* ---- changes in the API -------------------------------------------------------------------------
 */

/* Continue a pod that was running before these controllers started. */
static void take_over(struct sw_ctl *ctl, struct sw_pod *pod)
{
    struct sw_run run;
    note_images(pod);
    sw_run_init(ctl, pod, &run);
    pod->started_ms = sw_ctl_now(ctl);
    become_ready(ctl, pod, &run);
    sw_run_done(&run);
}

static void work(struct sw_ctl *ctl, const char *ns, const char *name)
{
    struct sw_pod *pod = sw_ctl_pod(ctl, ns, name);
    if (!pod || pod->step == SW_STEP_STOPPING)
        return;
    if (sw_doc_is_deleted(pod->doc)) {
        stop(ctl, pod);
        return;
    }
    if (!pod->node)
        return;
    if (sw_pod_is_over(pod)) {
        pod->step = SW_STEP_ENDED;
        sw_alarm_stop(ctl, &pod->alarm);
        return;
    }
    bool no_image = pod->step == SW_STEP_PULL_ERROR || pod->step == SW_STEP_PULL_WAIT;
    if (pod->step == SW_STEP_READY && pod->n_seen != pod->n_changes)
        enter(ctl, pod, SW_STEP_READY); /* its annotations or its node's state have changed */
    else if (!is_up(pod->node->doc))
        return;
    else if (pod->step == SW_STEP_NONE && sw_streq(sw_pod_phase(pod), "Running"))
        take_over(ctl, pod);
    else if (pod->step == SW_STEP_NONE || (no_image && !missing_image(ctl, pod, NULL)))
        pull(ctl, pod);
    else if (pod->step == SW_STEP_PREPARING || pod->step == SW_STEP_MOUNTING ||
             pod->step == SW_STEP_CONFIGURING)
        start(ctl, pod);
}

static void on_pod(struct sw_ctl *ctl, json_object *before, json_object *after)
{
    (void)before;
    if (after && (*sw_json_str(after, "", "spec", "nodeName", NULL) || sw_doc_is_deleted(after)))
        enqueue(ctl, after);
}

static void on_node(struct sw_ctl *ctl, struct sw_node *node, json_object *before,
                    json_object *after)
{
    if (!after || (before && is_up(before) == is_up(after)))
        return;
    for (struct sw_pod *pod = node->pods; pod; pod = pod->node_next) {
        pod->n_seen = pod->n_changes - 1;
        enqueue(ctl, pod->doc);
    }
}

/* Enqueue the pods for which @waits returns true. */
static void enqueue_all(struct sw_ctl *ctl,
                        bool (*waits)(const struct sw_pod *pod, const void *arg), const void *arg)
{
    size_t n;
    struct sw_node *const *nodes = sw_ctl_nodes(ctl, &n);
    for (size_t i = 0; i < n; i++)
        for (struct sw_pod *pod = nodes[i] ? nodes[i]->pods : NULL; pod; pod = pod->node_next)
            if (waits(pod, arg))
                enqueue(ctl, pod->doc);
}

static bool waits_for_image(const struct sw_pod *pod, const void *image)
{
    if (pod->step != SW_STEP_PULL_ERROR && pod->step != SW_STEP_PULL_WAIT)
        return false;
    for (size_t i = 0; nth_container(pod, i); i++)
        if (sw_streq(nth_image(pod, i), image))
            return true;
    return false;
}

static bool waits_for_devices(const struct sw_pod *pod, const void *arg)
{
    (void)arg;
    return pod->step == SW_STEP_PREPARING;
}

void sw_kubelet_devices(struct sw_ctl *ctl)
{
    enqueue_all(ctl, waits_for_devices, NULL);
}

void sw_kubelet_image(void *arg, const char *image)
{
    enqueue_all(arg, waits_for_image, image);
}

static bool waits_for_volume(const struct sw_pod *pod, const void *ns)
{
    bool waits = pod->step == SW_STEP_MOUNTING || pod->step == SW_STEP_CONFIGURING ||
                 pod->step == SW_STEP_PULL_ERROR || pod->step == SW_STEP_PULL_WAIT;
    return waits && sw_streq(sw_pod_ns(pod), ns);
}

/* A new Secret or ConfigMap may be one that a pod waits for. */
static void on_mountable(const struct sw_store_event *event, void *arg)
{
    struct sw_ctl *ctl = arg;
    if (event->type == SW_STORE_ADDED && ctl->any_mounting)
        enqueue_all(ctl, waits_for_volume, sw_obj_namespace(event->object));
}

static void open_kubelet(struct sw_ctl *ctl)
{
    static const char *const kinds[] = { "Secret", "ConfigMap" };
    for (size_t i = 0; i < SW_COUNT(kinds); i++) {
        const struct sw_emu_kind *kind = sw_store_kind(ctl->store, "", kinds[i]);
        ctl->subs[ctl->n_subs++] = sw_store_subscribe(ctl->store, kind, on_mountable, ctl);
    }
}

/* ---- logs ---------------------------------------------------------------------------------------
 */

int sw_kubelet_logs(void *arg, json_object *doc, const char *container, bool previous, char **text)
{
    struct sw_ctl *ctl = arg;
    struct sw_pod *pod = sw_ctl_pod(ctl, sw_obj_namespace(doc), sw_obj_name(doc));
    if (!container || !*container)
        container = sw_json_str(sw_json_at(sw_json_find(doc, "spec", "containers", NULL), 0), "",
                                "name", NULL);
    if (!sw_json_find_by(sw_json_find(doc, "spec", "containers", NULL), "name", container) &&
        !sw_json_find_by(sw_json_find(doc, "spec", "initContainers", NULL), "name", container))
        return SW_NOTFOUND;
    if (previous && (!pod || !pod->n_restarts))
        return SW_NOTFOUND;
    if (!pod || pod->step < SW_STEP_RUNNING)
        return SW_PENDING;
    struct sw_pod_plan plan = { 0 };
    sw_rules_plan_pod(ctl->rules, doc, container, &plan);
    *text = plan.log ? plan.log : sw_printf("%s started\n", container);
    return 0;
}

const struct sw_controller sw_kubelet = {
    .work = work,
    .on_pod = on_pod,
    .on_node = on_node,
    .open = open_kubelet,
};
