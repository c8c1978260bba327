#include "emulator/controllers/pod_run.h"

#include <json-c/linkhash.h>
#include <stdlib.h>
#include <string.h>

/* Back-off before a crashed container is started again; a crash costs time even where nothing else
 * does, or a crash loop would spin. */
enum { CRASH_FIRST_MS = 1000, CRASH_MOST_MS = 300000, PULL_WAIT_MS = 100 };

static void advance(struct sw_ctl *ctl, struct sw_pod *pod);

static void on_alarm(struct sw_ctl *ctl, struct sw_alarm *alarm)
{
    advance(ctl, SW_OF_ALARM(struct sw_pod, alarm, alarm));
}

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

static bool node_is_up(const struct sw_pod *pod)
{
    return is_up(pod->node->doc);
}

static bool is_ready_now(const struct sw_pod *pod, const struct sw_run *run)
{
    return pod->step == SW_STEP_READY && !run->never_ready && node_is_up(pod);
}

static void write_status(struct sw_ctl *ctl, struct sw_pod *pod, const struct sw_run *run)
{
    json_object *status = sw_pod_status(ctl, pod, run, is_ready_now(pod, run));
    (void)sw_ctl_put_status(ctl, ctl->kinds.pod, pod->doc, status);
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

/* The first image that does not exist; borrowed, NULL: all do. */
static const char *missing_image(struct sw_ctl *ctl, const struct sw_pod *pod)
{
    for (size_t i = 0; nth_container(pod, i); i++)
        if (nth_image(pod, i) && !sw_rules_image(ctl->rules, nth_image(pod, i)))
            return nth_image(pod, i);
    return NULL;
}

/* @return whether an image was new to the node. */
static bool note_images(struct sw_pod *pod)
{
    bool any = false;
    for (size_t i = 0; nth_container(pod, i); i++) {
        const char *image = nth_image(pod, i);
        if (!image || lh_table_lookup_entry(pod->node->images, image))
            continue;
        (void)lh_table_insert(pod->node->images, sw_strdup(image), NULL);
        any = true;
    }
    return any;
}

/* ---- volumes ------------------------------------------------------------------------------------
 */

static bool is_there(struct sw_ctl *ctl, const struct sw_pod *pod, const char *kind,
                     const char *name, bool optional)
{
    const struct sw_emu_kind *k = sw_store_kind(ctl->store, "", kind);
    return !name || optional || !k || sw_store_get(ctl->store, k, sw_pod_ns(pod), name);
}

/* The first Secret or ConfigMap that a volume needs and that does not exist; the caller's. */
static char *missing_volume(struct sw_ctl *ctl, const struct sw_pod *pod)
{
    json_object *list = sw_json_find(pod->doc, "spec", "volumes", NULL);
    for (size_t i = 0; i < sw_json_len(list); i++) {
        json_object *v = sw_json_at(list, i), *secret = sw_json_get(v, "secret");
        json_object *map = sw_json_get(v, "configMap");
        const char *secret_name = sw_json_str(secret, NULL, "secretName", NULL);
        const char *map_name = sw_json_str(map, NULL, "name", NULL);
        const char *kind = NULL, *name = NULL;
        if (!is_there(ctl, pod, "Secret", secret_name,
                      sw_json_bool(secret, false, "optional", NULL)))
            kind = "secret", name = secret_name;
        else if (!is_there(ctl, pod, "ConfigMap", map_name,
                           sw_json_bool(map, false, "optional", NULL)))
            kind = "configmap", name = map_name;
        if (kind)
            return sw_printf("MountVolume.SetUp failed for volume \"%s\" : %s \"%s\" not found",
                             sw_json_str(v, "", "name", NULL), kind, name);
    }
    return NULL;
}

/* ---- the steps ----------------------------------------------------------------------------------
 */

static void begin_run(struct sw_ctl *ctl, struct sw_pod *pod);

static void crash(struct sw_ctl *ctl, struct sw_pod *pod)
{
    int64_t wait_ms = CRASH_FIRST_MS;
    for (int i = 0; i < pod->n_restarts && wait_ms < CRASH_MOST_MS; i++)
        wait_ms *= 2;
    pod->n_restarts++;
    pod->ended_ms = sw_ctl_now(ctl);
    wait_for(ctl, pod, wait_ms < CRASH_MOST_MS ? wait_ms : CRASH_MOST_MS);
    sw_ctl_event(ctl, pod->doc, "Warning", "BackOff", "Back-off restarting failed container");
    enter(ctl, pod, SW_STEP_CRASHED);
}

/* The containers that end have ended. */
static void end_run(struct sw_ctl *ctl, struct sw_pod *pod, const struct sw_run *run)
{
    const char *policy = sw_json_str(pod->doc, "Always", "spec", "restartPolicy", NULL);
    bool restarts = run->failing_init >= 0 ? !sw_streq(policy, "Never") : run->restarts;
    pod->ended_ms = sw_ctl_now(ctl);
    if (restarts)
        crash(ctl, pod);
    else
        enter(ctl, pod, SW_STEP_ENDED);
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

static void start(struct sw_ctl *ctl, struct sw_pod *pod)
{
    SW_AUTO_CHARS *missing = missing_volume(ctl, pod);
    if (missing) {
        sw_ctl_event(ctl, pod->doc, "Warning", "FailedMount", "%s", missing);
        ctl->any_mounting = true;
        enter(ctl, pod, SW_STEP_MOUNTING);
        return;
    }
    if (ctl->delays.pod_start_ms <= 0) {
        begin_run(ctl, pod);
        return;
    }
    wait_for(ctl, pod, sw_ctl_jitter(ctl, ctl->delays.pod_start_ms));
    enter(ctl, pod, SW_STEP_STARTING);
}

static void pulled(struct sw_ctl *ctl, struct sw_pod *pod)
{
    const char *missing = missing_image(ctl, pod);
    if (!missing) {
        (void)note_images(pod);
        start(ctl, pod);
        return;
    }
    sw_ctl_event(ctl, pod->doc, "Warning", "Failed", "Failed to pull image \"%s\": not found",
                 missing);
    wait_for(ctl, pod, PULL_WAIT_MS);
    enter(ctl, pod, SW_STEP_PULL_ERROR);
}

static bool is_new_to_node(const struct sw_pod *pod)
{
    for (size_t i = 0; nth_container(pod, i); i++)
        if (nth_image(pod, i) && !lh_table_lookup_entry(pod->node->images, nth_image(pod, i)))
            return true;
    return false;
}

static void pull(struct sw_ctl *ctl, struct sw_pod *pod)
{
    if (ctl->delays.pull_ms <= 0 || !is_new_to_node(pod)) {
        pulled(ctl, pod);
        return;
    }
    wait_for(ctl, pod, sw_ctl_jitter(ctl, ctl->delays.pull_ms));
    enter(ctl, pod, SW_STEP_PULLING);
}

static void stop(struct sw_ctl *ctl, struct sw_pod *pod)
{
    if (pod->step != SW_STEP_STOPPING && ctl->delays.pod_stop_ms > 0) {
        pod->step = SW_STEP_STOPPING;
        wait_for(ctl, pod, sw_ctl_jitter(ctl, ctl->delays.pod_stop_ms));
        return;
    }
    sw_alarm_stop(ctl, &pod->alarm);
    (void)sw_ctl_delete(ctl, ctl->kinds.pod, pod->doc, true); /* gone already: so much the better */
}

static void on_run_alarm(struct sw_ctl *ctl, struct sw_pod *pod)
{
    struct sw_run run;
    sw_run_init(ctl, pod, &run);
    if (pod->step == SW_STEP_RUNNING)
        become_ready(ctl, pod, &run);
    else if (run.ends)
        end_run(ctl, pod, &run);
    sw_run_done(&run);
}

/* What the pod waited for is over. @pod may be gone afterwards. */
static void advance(struct sw_ctl *ctl, struct sw_pod *pod)
{
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
        on_run_alarm(ctl, pod);
        return;
    case SW_STEP_STOPPING:
        stop(ctl, pod);
        return;
    default:
        return;
    }
}

/* ---- what the API says about it -----------------------------------------------------------------
 */

/* A pod that was running before these controllers looked goes on. */
static void take_over(struct sw_ctl *ctl, struct sw_pod *pod)
{
    if (!sw_streq(sw_pod_phase(pod), "Running")) {
        pull(ctl, pod);
        return;
    }
    struct sw_run run;
    (void)note_images(pod);
    sw_run_init(ctl, pod, &run);
    pod->started_ms = sw_ctl_now(ctl);
    become_ready(ctl, pod, &run);
    sw_run_done(&run);
}

static void check_again(struct sw_ctl *ctl, struct sw_pod *pod)
{
    if (pod->step == SW_STEP_NONE)
        take_over(ctl, pod);
    else if ((pod->step == SW_STEP_PULL_ERROR || pod->step == SW_STEP_PULL_WAIT) &&
             !missing_image(ctl, pod))
        pull(ctl, pod);
    else if (pod->step == SW_STEP_MOUNTING)
        start(ctl, pod);
    else if (pod->step == SW_STEP_READY && pod->n_seen != pod->n_changes)
        enter(ctl, pod, SW_STEP_READY); /* its annotations, or its node's state */
}

static void work(struct sw_ctl *ctl, const char *ns, const char *name)
{
    struct sw_pod *pod = sw_ctl_pod(ctl, ns, name);
    if (!pod || (!pod->node && !sw_doc_is_deleted(pod->doc)) || pod->step == SW_STEP_STOPPING)
        return;
    if (sw_doc_is_deleted(pod->doc)) {
        stop(ctl, pod);
    } else if (sw_pod_is_over(pod)) {
        pod->step = SW_STEP_ENDED;
        sw_alarm_stop(ctl, &pod->alarm);
    } else if (node_is_up(pod) || pod->step == SW_STEP_READY) {
        check_again(ctl, pod);
    }
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

static void enqueue_all(struct sw_ctl *ctl,
                        bool (*wants)(const struct sw_pod *pod, const void *arg), const void *arg)
{
    size_t n;
    struct sw_node *const *nodes = sw_ctl_nodes(ctl, &n);
    for (size_t i = 0; i < n; i++)
        for (struct sw_pod *pod = nodes[i] ? nodes[i]->pods : NULL; pod; pod = pod->node_next)
            if (wants(pod, arg))
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

void sw_kubelet_image(struct sw_ctl *ctl, const char *image)
{
    enqueue_all(ctl, waits_for_image, image);
}

static bool waits_for_volume(const struct sw_pod *pod, const void *ns)
{
    return pod->step == SW_STEP_MOUNTING && sw_streq(sw_pod_ns(pod), ns);
}

/* A Secret or ConfigMap came: perhaps the one that a pod waits for. */
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

static bool has_run(const struct sw_pod *pod)
{
    return pod->step == SW_STEP_RUNNING || pod->step == SW_STEP_READY ||
           pod->step == SW_STEP_CRASHED || pod->step == SW_STEP_ENDED ||
           pod->step == SW_STEP_STOPPING;
}

static bool has_container(json_object *pod, const char *name)
{
    static const char *const lists[] = { "containers", "initContainers" };
    for (size_t i = 0; i < SW_COUNT(lists); i++)
        if (sw_json_find_by(sw_json_find(pod, "spec", lists[i], NULL), "name", name))
            return true;
    return false;
}

int sw_kubelet_logs(void *arg, json_object *doc, const char *container, bool previous, char **text)
{
    struct sw_ctl *ctl = arg;
    struct sw_pod *pod = sw_ctl_pod(ctl, sw_obj_namespace(doc), sw_obj_name(doc));
    if (!container || !*container)
        container = sw_json_str(sw_json_at(sw_json_find(doc, "spec", "containers", NULL), 0), "",
                                "name", NULL);
    if (!has_container(doc, container) || (previous && (!pod || !pod->n_restarts)))
        return SW_NOTFOUND;
    if (!pod || !has_run(pod))
        return SW_PENDING;
    struct sw_pod_plan plan = { 0 };
    sw_rules_plan_pod(ctl->rules, doc, container, &plan);
    *text = plan.log ? plan.log : sw_printf("%s started\n", container);
    return 0;
}

const struct sw_controller sw_kubelet = {
    .queue = SW_Q_KUBELET,
    .work = work,
    .on_pod = on_pod,
    .on_node = on_node,
    .open = open_kubelet,
};
