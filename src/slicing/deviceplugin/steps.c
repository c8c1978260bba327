#include "slicing/deviceplugin/steps.h"

#include <stdlib.h>
#include <string.h>

#include "slicing/deviceplugin/broker/journal.h"
#include "slicing/deviceplugin/mps_claims.h"
#include "slicing/deviceplugin/other_instances.h"

struct step_tag {
    size_t i;
    double began;
    char grant_id[]; /* one block: the worker may drop it */
};

void dp_journal_failed(struct sw_device_plugin *p, const char *event, const struct sw_err *err)
{
    p->n.journal_errors++;
    sw_log(SW_LOG_ERROR, event, "error", sw_err_text(err), NULL);
}

static bool is_setting(enum dp_step step)
{
    return step == DP_STEP_SET || step == DP_STEP_UNSET;
}

static void tell(struct sw_device_plugin *p, const char *grant_id, size_t i, enum dp_step step,
                 const struct dp_step_result *r)
{
    if (is_setting(step))
        dp_broker_on_setting(p->broker, grant_id, i, step, r, dp_now_ms(p));
    else
        dp_broker_on_step(p->broker, grant_id, i, step, r, dp_now_ms(p));
}

void dp_step_done(struct dp_job *job, void *tag, void *arg)
{
    struct sw_device_plugin *p = arg;
    struct step_tag *t = tag;
    const struct dp_step_result r = dp_job_result(job);
    p->n.steps++;
    p->n.nvml_s += sw_monotonic_s() - t->began;
    p->n.step_errors += r.code < 0 && r.code != SW_NOTFOUND;
    tell(p, t->grant_id, t->i, job->step, &r);
    free(t);
    if ((job->step == DP_STEP_PROBE && r.code == 0) ||
        (job->step == DP_STEP_MAKE_GI && r.code == SW_CONFLICT)) /* somebody's instance is there */
        dp_other_instances_read(p->other_instances);
    p->perform(p);
}

/* @return whether the step is to be done: what takes down is, even if that cannot be recorded */
static bool record(struct sw_device_plugin *p, const struct dp_action *a, const struct dp_grant *g)
{
    SW_ERR(err);
    if (dp_journal_write(p->opts.journal_dir, g, &err) == 0)
        return true;
    dp_journal_failed(p, "record not written", &err);
    if (a->step == DP_STEP_REMOVE || a->step == DP_STEP_UNSET)
        return true;
    const struct dp_step_result r = { .code = SW_UNAVAILABLE, .message = sw_err_text(&err) };
    tell(p, a->grant_id, a->i, a->step, &r);
    return false;
}

/* @job's own fields are taken. */
static void run(struct sw_device_plugin *p, const struct dp_action *a, struct dp_job *job)
{
    const size_t id_len = strlen(a->grant_id);
    struct step_tag *t = sw_zalloc(1, sizeof *t + id_len + 1);
    t->i = a->i;
    t->began = sw_monotonic_s();
    memcpy(t->grant_id, a->grant_id, id_len);
    if (!p->driver) { /* the GPUs are gone: nothing can be made */
        job->code = a->step == DP_STEP_REMOVE || a->step == DP_STEP_UNSET ? SW_UNAVAILABLE
                                                                          : SW_INVALID;
        (void)sw_err_set(&job->err, job->code, "no GPU: %s", p->no_gpu ? p->no_gpu : "");
    } else if (p->driver->blocks) {
        dp_worker_run(p->worker, job, t);
        return;
    } else {
        dp_driver_run(p->driver, job);
    }
    dp_step_done(job, t, p);
    dp_job_done(job);
}

void dp_step_do(struct sw_device_plugin *p, const struct dp_action *a)
{
    const struct dp_grant *g = dp_broker_grant(p->broker, a->grant_id);
    const struct dp_slice *s = &g->slices[a->i];
    if (a->step != DP_STEP_PROBE && !record(p, a, g)) /* a probe changes nothing */
        return;
    struct dp_job job = { .step = a->step,
                          .gpu = sw_strdup(s->gpu),
                          .place = s->place,
                          .gi_known = s->step >= DP_INSTANCE,
                          .gi = s->gi };
    (void)!sw_mig_profile_parse(s->profile, strlen(s->profile), &job.profile, NULL); /* is one */
    run(p, a, &job);
}

void dp_setting_do(struct sw_device_plugin *p, const struct dp_action *a)
{
    const struct dp_grant *g = dp_broker_grant(p->broker, a->grant_id);
    const struct dp_setting *s = &g->settings[a->i];
    if (!record(p, a, g))
        return;
    if (s->kind == DP_SET_MPS) {
        dp_mps_claims_do(p->mps_claims, g, a->i, a->step);
        return;
    }
    struct dp_job job = {
        .step = a->step, .gpu = sw_strdup(s->gpu), .setting = s->kind, .value = s->value
    };
    run(p, a, &job);
}
