#include "emulator/controllers/workload.h"

#include "data/text/time.h"

#include <stdlib.h>

/* A Job and the numbers of its pods. Source: Kubernetes "Jobs". Pods of an indexed job have their
 * index as an annotation and a label. Of a pod failure policy the rules about exit codes count
 * (FailJob, Ignore, Count); those about conditions, FailIndex and success policies are ignored. */
struct job {
    struct sw_ctl *ctl;
    json_object *doc; /* counted */
    int64_t active, ready, succeeded, failed, restarts;
    int64_t parallelism, completions; /* completions -1: until one has succeeded */
    bool indexed;
    unsigned char *index_taken; /* of an indexed job: a pod is active or has succeeded */
    char *forbidden;            /* what FailJob of the policy says of a pod; NULL: of none; owned */
};

static const char index_key[] = "batch.kubernetes.io/job-completion-index";

/* Is @code one that onExitCodes asks for? */
static bool has_code(json_object *on, int64_t code)
{
    json_object *values = sw_json_get(on, "values");
    bool listed = false;
    for (size_t i = 0; i < sw_json_len(values); i++)
        listed |= sw_json_int(sw_json_at(values, i), -1, NULL) == code;
    return sw_streq(sw_json_str(on, "", "operator", NULL), "In") ? listed : !listed;
}

/* The container of @p that the rule is about, which has ended so; NULL: none. */
static json_object *matching_container(const struct sw_pod *p, json_object *on)
{
    json_object *list = sw_json_find(p->doc, "status", "containerStatuses", NULL);
    const char *name = sw_json_str(on, NULL, "containerName", NULL);
    for (size_t i = 0; on && i < sw_json_len(list); i++) {
        json_object *c = sw_json_at(list, i);
        int64_t code = sw_json_int(c, 0, "state", "terminated", "exitCode", NULL);
        if ((!name || sw_streq(name, sw_json_str(c, "", "name", NULL))) && code &&
            has_code(on, code))
            return c;
    }
    return NULL;
}

/* What the job's policy says of a pod that has failed: the first rule that matches counts.
 * Source: Kubernetes, "Pod failure policy", and the Job controller's message. @return whether the
 * failure counts against backoffLimit */
static bool is_counted(struct job *j, const struct sw_pod *p)
{
    json_object *rules = sw_json_find(j->doc, "spec", "podFailurePolicy", "rules", NULL);
    for (size_t i = 0; i < sw_json_len(rules); i++) {
        json_object *rule = sw_json_at(rules, i);
        json_object *c = matching_container(p, sw_json_get(rule, "onExitCodes"));
        const char *action = sw_json_str(rule, "", "action", NULL);
        if (!c)
            continue;
        if (sw_streq(action, "FailJob") && !j->forbidden)
            j->forbidden = sw_printf(
                "Container %s for pod %s/%s failed with exit code %lld matching %s rule at index "
                "%zu",
                sw_json_str(c, "", "name", NULL), sw_pod_ns(p), sw_pod_name(p),
                (long long)sw_json_int(c, 0, "state", "terminated", "exitCode", NULL), action, i);
        return !sw_streq(action, "Ignore");
    }
    return true;
}

/* Count the pods that exist: a finished pod that is deleted no longer counts, as in Jobs that do
 * not track their pods by finalizers. */
static void count_pods(struct job *j)
{
    json_object *spec = sw_json_get(j->doc, "spec");
    j->parallelism = sw_json_int(spec, 1, "parallelism", NULL);
    j->completions = sw_json_int(spec, sw_json_get(spec, "parallelism") ? -1 : 1, "completions",
                                 NULL);
    j->indexed = sw_streq(sw_json_str(spec, "", "completionMode", NULL), "Indexed") &&
                 j->completions > 0 && j->completions <= 100000;
    j->index_taken = sw_zalloc(j->indexed ? (size_t)j->completions : 1, 1);
    for (struct sw_pod *p = sw_ctl_owned_pods(j->ctl, sw_obj_uid(j->doc)); p; p = p->owner_next) {
        bool succeeded = sw_streq(sw_pod_phase(p), "Succeeded");
        bool failed = sw_streq(sw_pod_phase(p), "Failed");
        const char *index = sw_obj_annotation(p->doc, index_key);
        int64_t i = j->indexed && index ? strtoll(index, NULL, 10) : -1;
        j->succeeded += succeeded;
        j->failed += failed && is_counted(j, p);
        j->active += sw_pod_is_active(p);
        j->ready += sw_pod_is_active(p) && sw_pod_is_ready(p);
        json_object *statuses = sw_json_find(p->doc, "status", "containerStatuses", NULL);
        for (size_t k = 0; sw_pod_is_active(p) && k < sw_json_len(statuses); k++)
            j->restarts += sw_json_int(sw_json_at(statuses, k), 0, "restartCount", NULL);
        if (i >= 0 && i < j->completions && (succeeded || sw_pod_is_active(p)))
            j->index_taken[i] = 1;
    }
}

/* The time for which the job may still run; -1: no limit. */
static int64_t time_left(const struct job *j)
{
    int64_t limit_s = sw_json_int(j->doc, -1, "spec", "activeDeadlineSeconds", NULL), start;
    if (limit_s < 0)
        return -1;
    if (sw_time_parse(sw_json_str(j->doc, "", "status", "startTime", NULL), &start, NULL) < 0)
        start = sw_ctl_now(j->ctl);
    int64_t left = start + limit_s * 1000 - sw_ctl_now(j->ctl);
    return left > 0 ? left : 0;
}

/* ---- pods ---------------------------------------------------------------------------------------
 */

/* @return whether the pod was created. */
static bool create_pod(struct job *j)
{
    SW_AUTO_CHARS *prefix = sw_printf("%s-", sw_obj_name(j->doc));
    json_object *pod = sw_workload_pod(j->doc, prefix), *labels = sw_workload_labels(pod);
    static const char *const keys[][2] = {
        { "job-name", "batch.kubernetes.io/job-name" },
        { "controller-uid", "batch.kubernetes.io/controller-uid" },
    };
    for (size_t k = 0; k < 2; k++) {
        sw_json_set_str(labels, sw_obj_name(j->doc), keys[0][k], NULL);
        sw_json_set_str(labels, sw_obj_uid(j->doc), keys[1][k], NULL);
    }
    int64_t i = 0;
    while (j->indexed && i < j->completions && j->index_taken[i])
        i++;
    if (j->indexed && i < j->completions) {
        SW_AUTO_CHARS *index = sw_printf("%lld", (long long)i);
        j->index_taken[i] = 1;
        sw_json_set_str(pod, index, "metadata", "annotations", index_key, NULL);
        sw_json_set_str(labels, index, index_key, NULL);
    }
    return sw_ctl_create(j->ctl, j->ctl->kinds.pod, pod, j->doc) == 0;
}

static void stop_pods(struct job *j)
{
    struct sw_doomed all = { 0 };
    for (struct sw_pod *p = sw_ctl_owned_pods(j->ctl, sw_obj_uid(j->doc)); p; p = p->owner_next)
        if (sw_pod_is_active(p))
            sw_doom(&all, p);
    sw_doomed_delete(j->ctl, &all, false);
    j->active = 0;
    j->ready = 0;
}

/* ---- status -------------------------------------------------------------------------------------
 */

/* Stop the pods and set the condition @type, Complete or Failed, in @status. */
static void finish(struct job *j, json_object *status, const char *type, const char *reason,
                   const char *message)
{
    json_object *list = sw_json_need_list(status, "conditions", NULL);
    int64_t now = sw_ctl_now(j->ctl);
    stop_pods(j);
    json_object_object_del(status, "active");
    json_object_object_del(status, "ready");
    (void)sw_cond_set(list, type, "True", reason, message, now);
    json_object_object_add(sw_json_find_by(list, "type", type), "lastProbeTime", sw_time(now));
    if (sw_streq(type, "Complete"))
        json_object_object_add(status, "completionTime", sw_time(now));
    sw_ctl_event(j->ctl, j->doc, sw_streq(type, "Complete") ? "Normal" : "Warning",
                 reason ? reason : "Completed", "%s", message ? message : "Job completed");
}

/* Finish the job, or create the pods that are missing. @return false: a pod could not be created */
static bool run(struct job *j, json_object *status)
{
    int64_t limit = sw_json_int(j->doc, 6, "spec", "backoffLimit", NULL), left = time_left(j);
    bool counted = j->completions >= 0;
    if (counted ? j->succeeded >= j->completions : j->succeeded > 0 && j->active == 0) {
        finish(j, status, "Complete", NULL, NULL);
        return true;
    }
    if (j->forbidden) {
        finish(j, status, "Failed", "PodFailurePolicy", j->forbidden);
        return true;
    }
    if (j->failed + j->restarts > limit) {
        finish(j, status, "Failed", "BackoffLimitExceeded",
               "Job has reached the specified backoff limit");
        return true;
    }
    if (left == 0) {
        finish(j, status, "Failed", "DeadlineExceeded",
               "Job was active longer than specified deadline");
        return true;
    }
    bool ok = true;
    int64_t want = counted ? j->completions - j->succeeded : j->succeeded > 0 ? 0 : j->parallelism;
    want = want < j->parallelism ? want : j->parallelism;
    while (ok && j->active < want) {
        ok = create_pod(j);
        j->active += ok;
    }
    if (left > 0)
        sw_ctl_enqueue_in(j->ctl, SW_Q_JOB, sw_obj_namespace(j->doc), sw_obj_name(j->doc),
                          left + 1);
    if (j->active)
        json_object_object_add(status, "active", sw_int(j->active));
    return ok;
}

/* Delete a finished job when its ttlSecondsAfterFinished are over. */
static void expire(struct job *j)
{
    int64_t ttl_s = sw_json_int(j->doc, -1, "spec", "ttlSecondsAfterFinished", NULL), since = 0;
    json_object *c = sw_obj_condition(j->doc, "Complete");
    c = c ? c : sw_obj_condition(j->doc, "Failed");
    if (ttl_s < 0 ||
        sw_time_parse(sw_json_str(c, "", "lastTransitionTime", NULL), &since, NULL) < 0)
        return;
    int64_t left = since + ttl_s * 1000 - sw_ctl_now(j->ctl);
    if (left > 0)
        sw_ctl_enqueue_in(j->ctl, SW_Q_JOB, sw_obj_namespace(j->doc), sw_obj_name(j->doc), left);
    else
        (void)sw_ctl_delete(j->ctl, j->ctl->kinds.job, j->doc, false); /* gone already: fine */
}

static void work(struct sw_ctl *ctl, const char *ns, const char *name)
{
    struct job j = { .ctl = ctl };
    j.doc = json_object_get(sw_store_get(ctl->store, ctl->kinds.job, ns, name));
    if (!j.doc)
        return;
    count_pods(&j);
    if (sw_streq(sw_cond_status(j.doc, "Complete"), "True") ||
        sw_streq(sw_cond_status(j.doc, "Failed"), "True")) {
        expire(&j);
    } else if (!sw_doc_is_deleted(j.doc)) {
        bool suspended = sw_json_bool(j.doc, false, "spec", "suspend", NULL);
        if (suspended)
            stop_pods(&j);
        json_object *old = sw_json_get(j.doc, "status");
        json_object *status = old ? sw_json_copy(old) : json_object_new_object();
        json_object_object_add(status, "active", sw_int(j.active));
        json_object_object_add(status, "ready", sw_int(j.ready));
        json_object_object_add(status, "succeeded", sw_int(j.succeeded));
        json_object_object_add(status, "failed", sw_int(j.failed));
        sw_status_omit_zeros(status, "active", "ready", "succeeded", "failed", NULL);
        if (!suspended && !sw_json_get(status, "startTime"))
            json_object_object_add(status, "startTime", sw_time(sw_ctl_now(ctl)));
        if (!suspended && !run(&j, status))
            sw_ctl_enqueue_in(ctl, SW_Q_JOB, ns, name, SW_CTL_RETRY_MS);
        sw_ctl_put_status(ctl, ctl->kinds.job, j.doc, status);
    }
    free(j.index_taken);
    free(j.forbidden);
    json_object_put(j.doc);
}

const struct sw_controller sw_job_controller = {
    .group = "batch",
    .kind = "Job",
    .owns_pods = true,
    .work = work,
};
