/* Dispatch of events whose answers are combined, or that capabilities send themselves. */
#include "operator/controller/private.h"

#include <stdlib.h>

/* ---- state --------------------------------------------------------------------------------------
 */

void capabilities_open(struct sw_controller *c)
{
    for (size_t i = 0; i < N_CAPABILITIES; i++)
        if (capabilities[i]->controller_size)
            c->state[i] = sw_zalloc(1, capabilities[i]->controller_size);
    EACH_CAPABILITY(open, c);
}

void capabilities_close(struct sw_controller *c)
{
    EACH_CAPABILITY(close, c);
    for (size_t i = 0; i < N_CAPABILITIES; i++)
        if (capabilities[i]->controller_size)
            free(SW_TAKE(c->state[i]));
}

void capabilities_open_resource(struct resource *r)
{
    for (size_t i = 0; i < N_CAPABILITIES; i++)
        if (capabilities[i]->resource_size)
            r->state[i] = sw_zalloc(1, capabilities[i]->resource_size);
    EACH_CAPABILITY(resource_open, r);
}

void capabilities_close_resource(struct resource *r)
{
    EACH_CAPABILITY(resource_close, r);
    for (size_t i = 0; i < N_CAPABILITIES; i++)
        if (capabilities[i]->resource_size)
            free(SW_TAKE(r->state[i]));
}

/* ---- events -------------------------------------------------------------------------------------
 */

void resource_ask_values(struct resource *r, struct sw_facts_ask *ask)
{
    EACH_CAPABILITY(ask_values, r, ask);
}

struct release_view capabilities_release(struct resource *r, int state)
{
    struct release_view view = { .revision = 1 };
    EACH_CAPABILITY(release, r, state, &view);
    return view;
}

void document_made(struct resource *r, const char *what, const char *state, struct json_object *doc)
{
    EACH_CAPABILITY(document_made, r, what, state, doc);
}

void resource_hooks_over(struct resource *r)
{
    EACH_CAPABILITY(hooks_over, r);
}

/* ---- questions ----------------------------------------------------------------------------------
 */

bool capabilities_intent(struct resource *r, enum resource_intent intent)
{
    bool may_be_told = true;
    for (size_t i = 0; i < N_CAPABILITIES; i++)
        if (capabilities[i]->intent && !capabilities[i]->intent(r, intent))
            may_be_told = false;
    return may_be_told;
}

void prerequisite_done(struct prerequisite *p)
{
    free(p->blocked);
    free(p->message);
    *p = (struct prerequisite){ 0 };
}

void capabilities_check(struct resource *r, struct prerequisite *out)
{
    for (size_t i = 0; i < N_CAPABILITIES; i++) {
        struct prerequisite found = { 0 };
        if (capabilities[i]->check)
            capabilities[i]->check(r, &found);
        if (out->code || out->blocked)
            prerequisite_done(&found);
        else
            *out = found;
    }
}

void capabilities_begin(struct resource *r, struct prerequisite *out)
{
    for (size_t i = 0; !out->code && !out->blocked && i < N_CAPABILITIES; i++)
        if (capabilities[i]->begin)
            capabilities[i]->begin(r, out);
}

bool capabilities_facts_ready(struct resource *r, bool so_far)
{
    for (size_t i = 0; i < N_CAPABILITIES; i++)
        if (capabilities[i]->facts_ready)
            so_far = capabilities[i]->facts_ready(r, so_far) && so_far;
    return so_far;
}

struct json_object *capabilities_default_set(struct resource *r)
{
    struct json_object *set = NULL;
    for (size_t i = 0; !set && i < N_CAPABILITIES; i++)
        set = capabilities[i]->default_set ? capabilities[i]->default_set(r) : NULL;
    return set;
}

bool capabilities_plan_ready(struct resource *r)
{
    for (size_t i = 0; i < N_CAPABILITIES; i++)
        if (capabilities[i]->plan_ready && !capabilities[i]->plan_ready(r))
            return false;
    return true;
}

int hook_env_fill(struct resource *r, struct render *w, struct json_object *doc,
                  struct sw_hook_env *env, struct sw_err *err)
{
    return TRY_CAPABILITIES(hook_env, r, w, doc, env, err);
}

unsigned capabilities_extra_hooks(const struct resource *r)
{
    unsigned events = 0;
    for (size_t i = 0; i < N_CAPABILITIES; i++)
        if (capabilities[i]->extra_hooks)
            events |= capabilities[i]->extra_hooks(r);
    return events;
}

const char *capabilities_rendered(struct resource *r, struct render *w)
{
    const char *why = NULL;
    for (size_t i = 0; !why && i < N_CAPABILITIES; i++)
        if (capabilities[i]->rendered)
            why = capabilities[i]->rendered(r, w);
    return why;
}

bool capabilities_are_busy(const struct resource *r)
{
    for (size_t i = 0; i < N_CAPABILITIES; i++)
        if (capabilities[i]->is_busy && capabilities[i]->is_busy(r))
            return true;
    return false;
}

bool resource_is_rolled_back(const struct resource *r)
{
    for (size_t i = 0; i < N_CAPABILITIES; i++)
        if (capabilities[i]->is_rolled_back && capabilities[i]->is_rolled_back(r))
            return true;
    return false;
}

int resource_release_is_used(const struct resource *r, const char *release)
{
    return TRY_CAPABILITIES(release_is_used, r, release);
}
