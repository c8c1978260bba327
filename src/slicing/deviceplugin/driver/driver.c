#include "slicing/deviceplugin/driver/driver.h"

#include <stdlib.h>

void dp_driver_free(struct dp_driver *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->n_gpus; i++) {
        free(d->gpus[i].uuid);
        free(d->gpus[i].name);
        free(d->gpus[i].pci_bus_id);
        free(d->gpus[i].pcie_root);
        sw_mig_geometry_unref(d->gpus[i].geometry);
    }
    free(d->gpus);
    free(d->driver_version);
    free(d->cuda_version);
    d->ops->free(d);
}

struct dp_gpu *dp_driver_gpu(const struct dp_driver *d, const char *uuid)
{
    for (size_t i = 0; i < d->n_gpus; i++)
        if (sw_streq(d->gpus[i].uuid, uuid))
            return &d->gpus[i];
    return NULL;
}

void dp_driver_run(struct dp_driver *d, struct dp_job *job)
{
    const struct dp_gpu *gpu = dp_driver_gpu(d, job->gpu);
    if (gpu) {
        d->ops->run(d, (size_t)(gpu - d->gpus), job);
        return;
    }
    /* a GPU that is not there any more holds nothing, and nothing is set on it */
    job->code = job->step == DP_STEP_REMOVE || job->step == DP_STEP_UNSET ? SW_NOTFOUND
                                                                          : SW_INVALID;
    (void)sw_err_set(&job->err, job->code, "there is no GPU %s here", job->gpu);
}

struct dp_step_result dp_job_result(const struct dp_job *job)
{
    return (struct dp_step_result){ .code = job->code,
                                    .gi = job->made_gi,
                                    .ci = job->made_ci,
                                    .uuid = job->uuid,
                                    .message = sw_err_text(&job->err) };
}

void dp_job_done(struct dp_job *job)
{
    free(SW_TAKE(job->gpu));
    sw_err_done(&job->err);
}

bool dp_xid_is_application(uint64_t xid)
{
    static const uint64_t programs[] = {
        13,  /* graphics engine exception */
        31,  /* page fault of a program */
        43,  /* GPU stopped processing */
        45,  /* preemptive clean-up after others */
        68,  /* video processor exception */
        109, /* context switch timeout */
    };
    for (size_t i = 0; i < SW_COUNT(programs); i++)
        if (programs[i] == xid)
            return true;
    return false;
}
