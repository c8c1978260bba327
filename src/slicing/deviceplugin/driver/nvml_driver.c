/* GPUs by NVML. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "slicing/deviceplugin/driver/driver.h"
#include "slicing/deviceplugin/driver/root.h"
#include "slicing/nvml/nvml.h"

enum { SMI_MS = 20 * 1000 };

struct real {
    struct dp_driver base;
    struct sw_nvml *nvml;
    struct sw_nvml_gpu *gpus;
    const char *host_root;
};

/* Destroy the GPU instance at exactly that place, with the recorded id where there is one, and all
 * in it. Anything else that lies there belongs to others. */
static int remove_slice(struct real *r, const struct sw_nvml_gpu *gpu, const struct dp_job *job,
                        struct sw_err *err)
{
    uint32_t gi, ci;
    bool same;
    int rc = sw_nvml_gi_find(r->nvml, gpu, job->place, &gi, &same, err);
    if (rc < 0)
        return rc;
    if (!same || (job->gi_known && gi != job->gi))
        return SW_NOTFOUND;
    while ((rc = sw_nvml_ci_find(r->nvml, gpu, gi, &ci, err)) == 0) {
        rc = sw_nvml_ci_destroy(r->nvml, gpu, gi, ci, err);
        if (rc < 0)
            return rc;
    }
    return rc == SW_NOTFOUND ? sw_nvml_gi_destroy(r->nvml, gpu, gi, err) : rc;
}

/* NVML has no call for the length of turns. Source: nvidia-smi's manual page, compute-policy. */
static int set_timeslice(const struct real *r, const struct sw_nvml_gpu *gpu, unsigned value,
                         struct sw_err *err)
{
    char number[16];
    (void)snprintf(number, sizeof number, "%u", value);
    const char *const argv[] = { "nvidia-smi",      "compute-policy", "-i", gpu->uuid,
                                 "--set-timeslice", number,           NULL };
    SW_AUTO_CHARS *root = dp_driver_root(r->host_root);
    return dp_root_run(root, argv, "", SMI_MS, err);
}

static int do_setting(struct real *r, const struct sw_nvml_gpu *gpu, const struct dp_job *job,
                      struct sw_err *err)
{
    const bool set = job->step == DP_STEP_SET;
    if (job->setting == DP_SET_EXCLUSIVE)
        return sw_nvml_set_exclusive(r->nvml, gpu, set, err);
    if (job->setting != DP_SET_TIMESLICE)
        return sw_err_set(err, SW_INVALID, "no setting of a GPU");
    /* turns need several processes; where it cannot be set it is so by default */
    if (set && sw_nvml_set_exclusive(r->nvml, gpu, false, err) < 0)
        sw_err_done(err);
    return set_timeslice(r, gpu, set ? job->value : 0, err);
}

static void run(struct dp_driver *d, size_t index, struct dp_job *job)
{
    struct real *r = (struct real *)d;
    const struct sw_nvml_gpu *gpu = &r->gpus[index];
    const struct sw_mig_kind *kind = sw_mig_kind_find(d->gpus[index].geometry, &job->profile);
    const unsigned slices = job->profile.ci ? job->profile.ci : job->profile.gi;
    uint32_t gi;
    bool same;
    switch (job->step) {
    case DP_STEP_PROBE:
        job->code = sw_nvml_gi_find(r->nvml, gpu, job->place, &gi, &same, &job->err);
        break;
    case DP_STEP_MAKE_GI:
        job->code = kind ? sw_nvml_gi_create(r->nvml, gpu, kind, job->place, &job->made_gi,
                                             &job->err)
                         : sw_err_set(&job->err, SW_INVALID, "%s has no such profile", gpu->uuid);
        break;
    case DP_STEP_MAKE_CI:
        job->code = sw_nvml_ci_create(r->nvml, gpu, job->gi, slices, &job->made_ci, &job->err);
        if (job->code == 0)
            job->code = sw_nvml_mig_uuid(r->nvml, gpu, job->gi, job->made_ci, job->uuid, &job->err);
        break;
    case DP_STEP_REMOVE:
        job->code = remove_slice(r, gpu, job, &job->err);
        break;
    case DP_STEP_SET:
    case DP_STEP_UNSET:
        job->code = do_setting(r, gpu, job, &job->err);
        break;
    }
}

static int next_xid(struct dp_driver *d, size_t *gpu, uint64_t *xid)
{
    return sw_nvml_next_xid(((struct real *)d)->nvml, 0, gpu, xid, NULL);
}

static void list_instances(struct dp_driver *d, struct dp_instances *found)
{
    const struct real *r = (const struct real *)d;
    struct sw_nvml_gi list[SW_MIG_MAX_SLICES];
    found->code = sw_nvml_gi_list(r->nvml, &r->gpus[found->gpu], d->gpus[found->gpu].geometry, list,
                                  &found->n, &found->err);
    for (size_t i = 0; i < found->n; i++)
        found->list[i] = (struct dp_instance){ list[i].id, list[i].kind, list[i].place };
}

static void free_driver(struct dp_driver *d)
{
    struct real *r = (struct real *)d;
    sw_nvml_close(r->nvml);
    free(r->gpus);
    free(r);
}

static const struct dp_driver_ops real_ops = { run, next_xid, list_instances, free_driver };

/* Where the GPU is in the machine, as the kernel knows it. */
static void find_place(struct dp_gpu *gpu, const char *pci_bus_id)
{
    SW_AUTO_CHARS *device = sw_printf("/sys/bus/pci/devices/%s", pci_bus_id);
    SW_AUTO_CHARS *numa = sw_printf("%s/numa_node", device), *text = NULL;
    char path[512];
    size_t len;
    const ssize_t n = readlink(device, path, sizeof path - 1);
    gpu->pci_bus_id = sw_strdup(pci_bus_id);
    if (n > 0) { /* "../../../devices/pci0000:10/0000:10:00.0" */
        path[n] = '\0';
        const char *root = strstr(path, "/pci");
        gpu->pcie_root = root ? sw_strndup(root + 1, strcspn(root + 1, "/")) : NULL;
    }
    if (sw_file_read(numa, 32, &text, &len, NULL) == 0)
        gpu->numa_node = (int)strtol(text, NULL, 10);
}

int dp_driver_nvml(const char *library, const char *host_root, struct dp_driver **out,
                   struct sw_err *err)
{
    struct real *r = sw_zalloc(1, sizeof *r);
    SW_AUTO(dp_driver) *d = &r->base;
    d->ops = &real_ops;
    d->blocks = true;
    r->host_root = host_root;
    int rc = sw_nvml_open(library, &r->nvml, err);
    if (rc < 0)
        return rc;
    const size_t n = sw_nvml_n_gpus(r->nvml);
    if (!n)
        return sw_err_set(err, SW_NOTFOUND, "NVML knows no GPU");
    r->gpus = sw_zalloc(n, sizeof *r->gpus);
    d->gpus = sw_zalloc(n, sizeof *d->gpus);
    for (; d->n_gpus < n && rc == 0; d->n_gpus++) {
        struct sw_nvml_gpu *g = &r->gpus[d->n_gpus];
        struct dp_gpu *gpu = &d->gpus[d->n_gpus];
        rc = sw_nvml_gpu(r->nvml, d->n_gpus, g, err);
        if (rc == 0 && g->mig)
            rc = sw_nvml_geometry(r->nvml, g, &gpu->geometry, err);
        gpu->uuid = sw_strdup(g->uuid);
        gpu->name = sw_strdup(g->name);
        gpu->memory_mib = g->memory_mib;
        gpu->brand = g->brand;
        gpu->architecture = g->architecture;
        gpu->cuda_major = g->cuda_major;
        gpu->cuda_minor = g->cuda_minor;
        gpu->numa_node = -1;
        gpu->minor = g->minor;
        if (*g->pci_bus_id)
            find_place(gpu, g->pci_bus_id);
    }
    char driver[SW_NVML_TEXT], cuda[SW_NVML_TEXT];
    sw_nvml_versions(r->nvml, driver, cuda);
    d->driver_version = sw_strdup(*driver ? driver : NULL);
    d->cuda_version = sw_strdup(*cuda ? cuda : NULL);
    if (rc < 0)
        return rc;
    SW_ERR(why); /* without events GPUs count as healthy */
    if (sw_nvml_listen(r->nvml, &why) < 0)
        sw_log(SW_LOG_WARN, "health of GPUs is not known", "error", sw_err_text(&why), NULL);
    *out = SW_TAKE(d);
    return 0;
}
