/* A driver container's image is built only where it cannot be pulled. A BuildConfig and a DaemonSet
 * of one vendor (specialresource.openshift.io/driver-container-vendor) belong together: the
 * BuildConfig is deferred until a pod of the DaemonSet cannot pull its image, or until a registry
 * has said that the image does not exist; then the DaemonSet waits for the build. Each vendor, and
 * each of its kernels, by itself. A BuildConfig that exists is never deferred.
 * Source: SRO's rule, which knew one vendor at a time. */
#include <stdlib.h>

#include "operator/engine/internal.h"

/* Is @o a driver container whose image @build makes (@any_kernel: or one for another kernel)? */
static bool is_driver_of(const struct object *o, const struct object *build, bool any_kernel)
{
    if (!o->text || !o->gate->driver_container || !sw_streq(o->key.kind, "DaemonSet") ||
        !o->gate->vendor || !sw_streq(o->gate->vendor, build->gate->vendor))
        return false;
    for (size_t i = 0; i < o->n_variants; i++)
        for (size_t k = 0; k < build->n_variants; k++)
            if (!*o->variants[i]->name || !*build->variants[k]->name ||
                sw_streq(o->variants[i]->name, build->variants[k]->name))
                return true;
    return any_kernel;
}

static void update(struct sw_engine *e, struct object *build)
{
    const struct object *without_image = NULL;
    bool may_have_driver = false;
    struct object_iter it = { 0 };
    for (const struct object *o; (o = object_next(e, &it));) {
        may_have_driver = may_have_driver || is_driver_of(o, build, true);
        if (is_driver_of(o, build, false) && (object_lacks_image(o) || workers_lack_image(o)))
            without_image = o;
    }
    /* a state that is still to be rendered for the first time may bring the driver container */
    for (size_t i = 0; i < e->n_states; i++)
        for (size_t k = 0; e->states[i]->listed && k < e->states[i]->n_variants; k++)
            may_have_driver = may_have_driver || (!e->states[i]->variants[k]->known &&
                                                  !e->states[i]->variants[k]->fault.code);
    bool needed = without_image || (build->present && build->ours) || !may_have_driver;
    if (build->deferred == !needed)
        return;
    build->deferred = !needed;
    if (needed && without_image) {
        act_event(e, false, "Building", "%s: the image of %s cannot be pulled: building it",
                  object_title(e, build), object_title(e, without_image));
        build->state->builds_begun = true;
    }
    object_judge(build);
    state_note_change(e, build->state);
}

/* The image of a build that is done exists, whatever a registry said before. */
static void release_drivers(struct sw_engine *e, struct object *build)
{
    if (build->deferred || !build->present || build->readiness.kind != SW_READINESS_READY ||
        !object_is_applied(build))
        return;
    struct object_iter it = { 0 };
    for (struct object *o; (o = object_next(e, &it));) {
        if (!o->missing || !is_driver_of(o, build, false))
            continue;
        free(SW_TAKE(o->missing));
        o->awaited = o->gate->awaited;
        object_judge(o);
        state_note_change(e, o->state);
    }
}

void builds_update(struct sw_engine *e)
{
    struct object_iter it = { 0 };
    if (!e->has_builds)
        return;
    for (struct object *o; (o = object_next(e, &it));)
        if (object_is_build(o)) {
            update(e, o);
            release_drivers(e, o);
        }
}
