#include "slicing/deviceplugin/other_instances.h"

#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "slicing/deviceplugin/resource_slices.h"

/* A GPU that has not answered after a while is published without; NVML's calls have no deadline. */
enum { ROUND_MS = 10 * 1000, SILENT_MS = 3 * 1000 };

struct dp_other_instances {
    struct sw_device_plugin *p;
    struct sw_timer *timer;
    bool begun;
    struct state { /* of a GPU, by its number */
        bool known, reading, tried;
        int64_t asked_ms;
        bool again; /* once it is read: it may have changed since */
        struct sw_mig_use use;
        char *text; /* said last: the instances, or why they cannot be read; NULL: none */
    } * gpus;
    size_t n_gpus;
};

/* Whether there is anything to be known. */
static bool reads(const struct sw_device_plugin *p)
{
    return p->face == DP_FACE_DRA && p->driver && p->driver->ops->instances;
}

/* ---- whose an instance is ----------------------------------------------------------------------
 */

struct ownership {
    const char *gpu;
    const struct dp_instance *instance;
    bool ours;
};

/* As the driver takes a slice down: by its place, and its id where that is recorded. */
static void compare(struct dp_grant *g, void *arg)
{
    struct ownership *o = arg;
    for (size_t i = 0; i < g->n_slices; i++) {
        const struct dp_slice *s = &g->slices[i];
        o->ours |= s->step >= DP_INTENT && sw_streq(s->gpu, o->gpu) &&
                   s->place.start == o->instance->place.start &&
                   s->place.size == o->instance->place.size &&
                   (s->step < DP_INSTANCE || s->gi == o->instance->gi);
    }
}

static bool is_ours(const struct sw_device_plugin *p, const char *gpu,
                    const struct dp_instance *instance)
{
    struct ownership o = { .gpu = gpu, .instance = instance };
    dp_broker_each(p->broker, compare, &o);
    return o.ours;
}

/* ---- reading -----------------------------------------------------------------------------------
 */

static void say(const struct sw_device_plugin *p, size_t gpu, const struct dp_instances *found,
                const char *text)
{
    const char *const uuid = p->driver->gpus[gpu].uuid;
    if (found->code < 0)
        sw_log(SW_LOG_WARN, "GPU instances cannot be read", "gpu", uuid, "error", text, NULL);
    else if (*text)
        sw_log(SW_LOG_WARN, "GPU instances that others made: their places are not given out", "gpu",
               uuid, "instances", text, NULL);
    else
        sw_log(SW_LOG_INFO, "no GPU instances that others made any more", "gpu", uuid, NULL);
}

static void on_read(const struct dp_instances *found, void *arg)
{
    struct dp_other_instances *o = arg;
    struct state *state = &o->gpus[found->gpu];
    const char *const uuid = o->p->driver->gpus[found->gpu].uuid;
    struct sw_mig_use use = { 0 };
    SW_AUTO_CHARS *text = sw_strdup(found->code < 0 ? sw_err_text(&found->err) : "");
    for (size_t i = 0; i < found->n; i++) {
        const struct dp_instance *instance = &found->list[i];
        char profile[SW_MIG_NAME_LEN];
        if (is_ours(o->p, uuid, instance))
            continue;
        sw_mig_take(&use, instance->kind, instance->place);
        sw_append(&text, "%s%s at %u", *text ? ", " : "",
                  sw_mig_profile_text(&instance->kind->profile, profile),
                  (unsigned)instance->place.start);
    }
    if (!sw_streq(text, sw_text_or(state->text, "")))
        say(o->p, found->gpu, found, text);
    sw_text_set(&state->text, text);
    if (found->code == 0) { /* else what was known last stays */
        state->use = use;
        state->known = true;
    }
    state->reading = false;
    state->tried = true;
    if (state->again)
        dp_other_instances_read(o);
    dp_slices_refresh(o->p->slices);
}

/* It has not answered. */
static void pass_over(struct dp_other_instances *o, size_t gpu)
{
    struct state *state = &o->gpus[gpu];
    if (state->tried || sw_loop_now_ms(o->p->loop) - state->asked_ms < SILENT_MS)
        return;
    state->tried = true;
    sw_text_set(&state->text, "not read yet");
    sw_log(SW_LOG_WARN, "GPU instances are not read yet: the GPU is not given out", "gpu",
           o->p->driver->gpus[gpu].uuid, NULL);
    dp_slices_refresh(o->p->slices);
}

static void on_timer(void *arg)
{
    struct dp_other_instances *o = arg;
    const struct sw_device_plugin *p = o->p;
    o->begun = reads(p);
    if (!o->begun)
        return;
    if (!o->gpus) { /* which GPUs there are stays so */
        o->n_gpus = p->driver->n_gpus;
        o->gpus = sw_zalloc(o->n_gpus + 1, sizeof *o->gpus);
    }
    for (size_t i = 0; i < o->n_gpus; i++) {
        if (!p->driver->gpus[i].geometry)
            continue;
        if (o->gpus[i].reading) {
            pass_over(o, i);
            continue;
        }
        o->gpus[i].again = false;
        o->gpus[i].reading = true;
        o->gpus[i].asked_ms = sw_loop_now_ms(p->loop);
        dp_worker_instances(p->worker, i, on_read, o);
    }
    sw_timer_set(o->timer, dp_other_instances_are_known(o) ? ROUND_MS : SILENT_MS);
}

void dp_other_instances_read(struct dp_other_instances *o)
{
    if (!reads(o->p))
        return;
    for (size_t i = 0; i < o->n_gpus; i++)
        o->gpus[i].again = o->gpus[i].reading; /* what it reads may be older */
    sw_timer_set(o->timer, 0);
}

void dp_other_instances_refresh(struct dp_other_instances *o)
{
    if (!o || o->begun || !reads(o->p))
        return;
    o->begun = true;
    sw_timer_set(o->timer, 0);
}

bool dp_other_instances_are_known(const struct dp_other_instances *o)
{
    if (!reads(o->p))
        return true;
    for (size_t i = 0; i < o->n_gpus; i++)
        if (o->p->driver->gpus[i].geometry && !o->gpus[i].tried)
            return false;
    return o->gpus;
}

bool dp_other_instances_bar(const struct dp_other_instances *o, size_t gpu)
{
    return o && gpu < o->n_gpus && o->gpus[gpu].tried && !o->gpus[gpu].known;
}

struct sw_mig_use dp_other_instances_use(const struct dp_other_instances *o, size_t gpu)
{
    return o && gpu < o->n_gpus ? o->gpus[gpu].use : (struct sw_mig_use){ 0 };
}

struct dp_other_instances *dp_other_instances_new(struct sw_device_plugin *p)
{
    struct dp_other_instances *o = sw_zalloc(1, sizeof *o);
    o->p = p;
    o->timer = sw_timer_new(p->loop, on_timer, o);
    return o;
}

void dp_other_instances_free(struct dp_other_instances *o)
{
    if (!o)
        return;
    sw_timer_free(o->timer);
    for (size_t i = 0; i < o->n_gpus; i++)
        free(o->gpus[i].text);
    free(o->gpus);
    free(o);
}
