/* spec.overrides: checked, and reported where no object matches. */
#include "operator/manifests/overrides.h"
#include "operator/controller/core.h"

#include <stdlib.h>

struct overrides {
    uint64_t used;  /* one bit for each of spec.overrides: it has matched an object */
    char *reported; /* the revision whose unused overrides were reported */
};

static struct overrides *overrides_of(const struct resource *r)
{
    return r->state[CAPABILITY_overrides];
}

static int validate(struct resource *r, struct sw_err *err)
{
    return sw_overrides_check(r->doc, err);
}

/* Everything is rendered again, or nothing. */
static void planned(struct resource *r, int code SW_UNUSED)
{
    overrides_of(r)->used = 0;
}

static int hook_env(struct resource *r, struct render *w, struct json_object *doc SW_UNUSED,
                    struct sw_hook_env *env, struct sw_err *err SW_UNUSED)
{
    if (w) /* hooks of a deletion do not count */
        env->overrides_used = &overrides_of(r)->used;
    return 0;
}

/* Report overrides that match no object once all is rendered: most likely they are misspelt. */
static void report_unused(struct resource *r)
{
    struct overrides *o = overrides_of(r);
    if (!sw_json_find(r->doc, "spec", "overrides", NULL) || resource_is_rendering(r) ||
        resource_is_planning(r) || sw_engine_phase(r->engine) != SW_PHASE_READY ||
        sw_streq(o->reported, r->revision))
        return;
    sw_text_set(&o->reported, r->revision);
    SW_AUTO_CHARS *unused = sw_overrides_unused(r->doc, o->used);
    if (!unused)
        return;
    SW_AUTO_CHARS *message = sw_printf("no object of the recipe is meant by %s", unused);
    sw_log(SW_LOG_WARN, "override is not used", "resource", r->name, "why", message, NULL);
    event_record(
        r, &(struct sw_action){ .warning = true, .reason = "OverrideUnused", .message = message });
}

static void resource_close(struct resource *r)
{
    free(SW_TAKE(overrides_of(r)->reported));
}

const struct capability capability_overrides = {
    .name = "overrides",
    .summary = "spec.overrides is checked, and unused overrides are reported",
    .resource_size = sizeof(struct overrides),
    .validate = validate,
    .planned = planned,
    .hook_env = hook_env,
    .stepped = report_unused,
    .resource_close = resource_close,
};
