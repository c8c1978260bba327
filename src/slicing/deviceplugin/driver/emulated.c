/* Emulated GPUs: every step succeeds at once, and the same slice gets the same UUID again. */
#include <stdlib.h>
#include <string.h>

#include "slicing/deviceplugin/driver/driver.h"

/* A UUID that follows from a text. */
static char *uuid_of(const char *prefix, const char *text)
{
    SW_AUTO_CHARS *other = sw_printf("%s/2", text);
    const uint64_t a = sw_fnv64a(text, strlen(text)), b = sw_fnv64a(other, strlen(other));
    return sw_printf("%s-%08x-%04x-%04x-%04x-%012llx", prefix, (unsigned)(a >> 32),
                     (unsigned)(a >> 16) & 0xffff, (unsigned)a & 0xffff, (unsigned)(b >> 48),
                     (unsigned long long)b & 0xffffffffffff);
}

static void run(struct dp_driver *d SW_UNUSED, size_t gpu SW_UNUSED, struct dp_job *job)
{
    char profile[SW_MIG_NAME_LEN];
    SW_AUTO_CHARS *text = sw_printf("%s/%s/%u", job->gpu,
                                    sw_mig_profile_text(&job->profile, profile), job->place.start);
    SW_AUTO_CHARS *uuid = uuid_of("MIG", text);
    job->code = job->step == DP_STEP_PROBE ? SW_NOTFOUND : 0;
    job->made_gi = job->place.start + 1u;
    job->made_ci = 0;
    (void)strncpy(job->uuid, uuid, sizeof job->uuid - 1);
}

static int next_xid(struct dp_driver *d SW_UNUSED, size_t *gpu SW_UNUSED, uint64_t *xid SW_UNUSED)
{
    return SW_PENDING;
}

static void free_driver(struct dp_driver *d)
{
    free(d);
}

static const struct dp_driver_ops emulated_ops = { run, next_xid, NULL, free_driver };

int dp_driver_emulate(const char *model, size_t count, const char *node, struct dp_driver **out,
                      struct sw_err *err)
{
    const struct sw_mig_model *m = sw_mig_model_find(model, 0);
    if (!m) {
        size_t n;
        const struct sw_mig_model *models = sw_mig_models(&n);
        SW_AUTO_CHARS *names = NULL;
        for (size_t i = 0; i < n; i++)
            sw_append(&names, "%s%s", i ? ", " : "", models[i].name);
        return sw_err_set(err, SW_INVALID, "'%s' is none of the models: %s", model, names);
    }
    struct dp_driver *d = sw_zalloc(1, sizeof *d);
    d->ops = &emulated_ops;
    d->gpus = sw_zalloc(count + 1, sizeof *d->gpus);
    SW_AUTO(sw_mig_geometry) *g = sw_mig_geometry_of(m);
    for (d->n_gpus = 0; d->n_gpus < count; d->n_gpus++) {
        SW_AUTO_CHARS *text = sw_printf("%s/%zu", node, d->n_gpus);
        d->gpus[d->n_gpus] = (struct dp_gpu){ .uuid = uuid_of("GPU", text),
                                              .name = sw_strdup(m->product),
                                              .memory_mib = m->memory_mib,
                                              .geometry = sw_mig_geometry_ref(g),
                                              .numa_node = -1,
                                              .minor = -1 };
    }
    *out = d;
    return 0;
}
