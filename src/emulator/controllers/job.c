#include "emulator/controllers/workload.h"

#include "data/text/time.h"

#include <stdlib.h>

/* One look at a Job. Source: Kubernetes "Jobs". Indexed jobs get their index as an annotation and
 * label; pod failure and success policies are not looked at. */
struct job {
    struct sw_ctl *ctl;
    json_object *doc; /* counted */
    int64_t active, ready, succeeded, failed, restarts;
    int64_t parallelism, completions; /* completions -1: until one succeeded */
    bool indexed;
    unsigned char *index_taken; /* of an indexed job: pod running or succeeded */
};

static const char index_key[] = "batch.kubernetes.io/job-completion-index";

static int64_t index_of(const struct job *j, json_object *pod)
{
    const char *text = sw_obj_annotation(pod, index_key);
    int64_t i = text ? strtoll(text, NULL, 10) : -1;
    return i >= 0 && i < j->completions ? i : -1;
}

static int64_t restarts_of(json_object *pod)
{
    json_object *list = sw_json_find(pod, "status", "containerStatuses", NULL);
    int64_t n = 0;
    for (size_t i = 0; i < sw_json_len(list); i++)
        n += sw_json_int(sw_json_at(list, i), 0, "restartCount", NULL);
    return n;
}

/* Pods are counted as long as they are there: who deletes a finished one loses its count, as with
 * Jobs that do not track their pods by finalizers. */
static void gather(struct job *j)
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
        int64_t i = j->indexed ? index_of(j, p->doc) : -1;
        j->succeeded += succeeded;
        j->failed += failed;
        j->active += sw_pod_is_active(p);
        j->ready += sw_pod_is_active(p) && sw_pod_is_ready(p);
        j->restarts += sw_pod_is_active(p) ? restarts_of(p->doc) : 0;
        if (i >= 0 && (succeeded || sw_pod_is_active(p)))
            j->index_taken[i] = 1;
    }
}

static bool is_finished(json_object *job)
{
    return sw_streq(sw_cond_status(job, "Complete"), "True") ||
           sw_streq(sw_cond_status(job, "Failed"), "True");
}

static bool is_complete(const struct job *j)
{
    return j->completions >= 0 ? j->succeeded >= j->completions
                               : j->succeeded > 0 && j->active == 0;
}

static int64_t start_of(const struct job *j)
{
    int64_t start = 0;
    const char *text = sw_json_str(j->doc, "", "status", "startTime", NULL);
    return sw_time_parse(text, &start, NULL) < 0 ? sw_ctl_now(j->ctl) : start;
}

/* How long the job may still run; -1: no limit. */
static int64_t time_left(const struct job *j)
{
    int64_t limit_s = sw_json_int(j->doc, -1, "spec", "activeDeadlineSeconds", NULL);
    if (limit_s < 0)
        return -1;
    int64_t left = start_of(j) + limit_s * 1000 - sw_ctl_now(j->ctl);
    return left > 0 ? left : 0;
}

/* ---- pods ---------------------------------------------------------------------------------------
 */

static void set_index(struct job *j, json_object *pod)
{
    for (int64_t i = 0; i < j->completions; i++) {
        if (j->index_taken[i])
            continue;
        SW_AUTO_CHARS *text = sw_printf("%lld", (long long)i);
        j->index_taken[i] = 1;
        sw_json_set_str(pod, text, "metadata", "annotations", index_key, NULL);
        sw_json_set_str(sw_workload_labels(pod), text, index_key, NULL);
        return;
    }
}

static bool create_pod(struct job *j)
{
    SW_AUTO_CHARS *prefix = sw_printf("%s-", sw_obj_name(j->doc));
    json_object *pod = sw_workload_pod(j->doc, prefix), *labels = sw_workload_labels(pod);
    static const char *const keys[][2] = {
        { "job-name", "batch.kubernetes.io/job-name" },
        { "controller-uid", "batch.kubernetes.io/controller-uid" },
    };
    for (size_t i = 0; i < 2; i++) {
        sw_json_set_str(labels, sw_obj_name(j->doc), keys[0][i], NULL);
        sw_json_set_str(labels, sw_obj_uid(j->doc), keys[1][i], NULL);
    }
    if (j->indexed)
        set_index(j, pod);
    return sw_ctl_create(j->ctl, j->ctl->kinds.pod, pod, j->doc) == 0;
}

static bool start_pods(struct job *j)
{
    int64_t left = j->completions >= 0 ? j->completions - j->succeeded
                   : j->succeeded > 0  ? 0
                                       : j->parallelism;
    int64_t want = left < j->parallelism ? left : j->parallelism;
    for (; j->active < want; j->active++)
        if (!create_pod(j))
            return false;
    return true;
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

static json_object *status_of(struct job *j)
{
    json_object *old = sw_json_get(j->doc, "status");
    json_object *status = old ? sw_json_copy(old) : json_object_new_object();
    const struct {
        const char *key;
        int64_t n;
    } rows[] = { { "active", j->active },
                 { "ready", j->ready },
                 { "succeeded", j->succeeded },
                 { "failed", j->failed } };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        json_object_object_del(status, rows[i].key);
        if (rows[i].n)
            json_object_object_add(status, rows[i].key, sw_int(rows[i].n));
    }
    return status;
}

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

/* @return false where it must be tried again. */
static bool carry_on(struct job *j, json_object *status)
{
    int64_t limit = sw_json_int(j->doc, 6, "spec", "backoffLimit", NULL), left = time_left(j);
    if (is_complete(j)) {
        finish(j, status, "Complete", NULL, NULL);
    } else if (j->failed + j->restarts > limit) {
        finish(j, status, "Failed", "BackoffLimitExceeded",
               "Job has reached the specified backoff limit");
    } else if (left == 0) {
        finish(j, status, "Failed", "DeadlineExceeded",
               "Job was active longer than specified deadline");
    } else {
        bool fine = start_pods(j);
        if (left > 0)
            sw_ctl_enqueue_in(j->ctl, SW_Q_JOB, sw_obj_namespace(j->doc), sw_obj_name(j->doc),
                              left + 1);
        if (j->active)
            json_object_object_add(status, "active", sw_int(j->active));
        return fine;
    }
    return true;
}

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
    bool fine = true;
    j.doc = json_object_get(sw_store_get(ctl->store, ctl->kinds.job, ns, name));
    if (!j.doc)
        return;
    gather(&j);
    if (is_finished(j.doc)) {
        expire(&j);
    } else if (!sw_doc_is_deleted(j.doc)) {
        bool suspended = sw_json_bool(j.doc, false, "spec", "suspend", NULL);
        if (suspended)
            stop_pods(&j);
        json_object *status = status_of(&j);
        if (!suspended && !sw_json_get(status, "startTime"))
            json_object_object_add(status, "startTime", sw_time(sw_ctl_now(ctl)));
        fine = suspended || carry_on(&j, status);
        (void)sw_ctl_put_status(ctl, ctl->kinds.job, j.doc, status);
    }
    if (!fine)
        sw_ctl_enqueue_in(ctl, SW_Q_JOB, ns, name, 1000);
    free(j.index_taken);
    json_object_put(j.doc);
}

static void on_pod(struct sw_ctl *ctl, json_object *before, json_object *after)
{
    sw_workload_on_pod(ctl, SW_Q_JOB, "Job", before, after);
}

const struct sw_controller sw_job_controller = {
    .queue = SW_Q_JOB,
    .group = "batch",
    .kind = "Job",
    .work = work,
    .on_pod = on_pod,
};
