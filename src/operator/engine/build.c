/* A driver container's image is built only where it cannot be pulled: a BuildConfig and a DaemonSet
 * of one vendor (specialresource.openshift.io/driver-container-vendor) belong together, and the
 * BuildConfig sleeps until a pod of the DaemonSet fails to pull, or until the image was looked for
 * and is not there: then the DaemonSet waits for the build. Each vendor, and each kernel of
 * it, for itself. What is there is there: a BuildConfig that exists is never asleep.
 * Source: SRO's rule, which knew one vendor at a time. */
#include <stdlib.h>
#include <string.h>

#include "operator/engine/internal.h"

static bool is_build(const struct object *o)
{
    return o->text && o->gate->vendor && sw_streq(o->key.kind, "BuildConfig");
}

static bool is_driver(const struct object *o)
{
    return o->text && o->gate->vendor && o->gate->driver_container &&
           sw_streq(o->key.kind, "DaemonSet");
}

/* Are both for one kernel, or one of them for all? */
static bool share_kernel(const struct object *a, const struct object *b)
{
    for (size_t i = 0; i < a->n_variants; i++)
        for (size_t k = 0; k < b->n_variants; k++)
            if (!*a->variants[i]->name || !*b->variants[k]->name ||
                sw_streq(a->variants[i]->name, b->variants[k]->name))
                return true;
    return false;
}

/* What is known of the vendor's driver containers. */
struct drivers {
    bool any, mine; /* one of the vendor; one that runs what this build makes */
    const struct object *starved;
};

static struct drivers find_drivers(const struct sw_engine *e, const struct object *build)
{
    struct drivers found = { 0 };
    for (size_t i = 0; i < e->n_states; i++)
        for (size_t k = 0; k < e->states[i]->n_objects; k++) {
            const struct object *o = e->states[i]->objects[k];
            if (!is_driver(o) || !sw_streq(o->gate->vendor, build->gate->vendor))
                continue;
            found.any = true;
            if (!share_kernel(build, o))
                continue;
            found.mine = true;
            if (object_lacks_image(o) || workers_lack_image(o))
                found.starved = o;
        }
    return found;
}

/* Is a state still to be rendered for the first time? It may bring the driver container. */
static bool may_bring_driver(const struct sw_engine *e)
{
    for (size_t i = 0; i < e->n_states; i++)
        for (size_t k = 0; k < e->states[i]->n_variants; k++) {
            const struct variant *v = e->states[i]->variants[k];
            if (e->states[i]->listed && !v->known && !v->fault.code)
                return true;
        }
    return false;
}

static bool wakes(struct sw_engine *e, struct object *o, const struct object **why)
{
    struct drivers drivers = find_drivers(e, o);
    *why = drivers.starved;
    if (drivers.starved || (o->present && o->ours))
        return true;
    return !drivers.any && !may_bring_driver(e);
}

static void update(struct sw_engine *e, struct object *o)
{
    const struct object *why;
    bool asleep = !wakes(e, o, &why);
    if (o->asleep == asleep)
        return;
    o->asleep = asleep;
    if (!asleep && why)
        act_event(e, false, "Building", "%s: the image of %s cannot be pulled: building it",
                  object_words(e, o), object_words(e, why));
    o->state->woke = o->state->woke || (!asleep && why);
    object_judge(o);
    state_nudge(e, o->state);
    e->status_dirty = true;
}

/* What the vendor has built is there, whatever a registry said before. */
static void release(struct sw_engine *e, struct object *build)
{
    if (build->asleep || !build->present || build->readiness.kind != SW_READINESS_READY ||
        !object_is_applied(build))
        return;
    for (size_t i = 0; i < e->n_states; i++)
        for (size_t k = 0; k < e->states[i]->n_objects; k++) {
            struct object *o = e->states[i]->objects[k];
            if (!o->missing || !is_driver(o) || !sw_streq(o->gate->vendor, build->gate->vendor) ||
                !share_kernel(build, o))
                continue;
            free(SW_TAKE(o->missing));
            o->awaited = o->gate->awaited;
            object_judge(o);
            state_nudge(e, o->state);
            e->status_dirty = true;
        }
}

void builds_update(struct sw_engine *e)
{
    if (!e->has_builds)
        return;
    for (size_t i = 0; i < e->n_states; i++)
        for (size_t k = 0; k < e->states[i]->n_objects; k++)
            if (is_build(e->states[i]->objects[k])) {
                update(e, e->states[i]->objects[k]);
                release(e, e->states[i]->objects[k]);
            }
}

bool build_may_sleep(const struct object *o)
{
    return is_build(o);
}
