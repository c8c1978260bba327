/* Dispatch: one function for each event of capability.h. The core calls these and no capability. */
#include "operator/controller/private.h"

#include <stdlib.h>

/* Call @event of every row that has it. */
#define EACH(event, ...)                                                                           \
    for (size_t i = 0; i < N_CAPABILITIES; i++)                                                    \
        if (capabilities[i]->event)                                                                \
    capabilities[i]->event(__VA_ARGS__)

/* ---- state --------------------------------------------------------------------------------------
 */

void capabilities_open(struct sw_controller *c)
{
    for (size_t i = 0; i < N_CAPABILITIES; i++)
        if (capabilities[i]->controller_size)
            c->state[i] = sw_zalloc(1, capabilities[i]->controller_size);
    EACH(open, c);
}

void capabilities_close(struct sw_controller *c)
{
    EACH(close, c);
    for (size_t i = 0; i < N_CAPABILITIES; i++)
        if (capabilities[i]->controller_size)
            free(SW_TAKE(c->state[i]));
}

void capabilities_open_resource(struct resource *r)
{
    for (size_t i = 0; i < N_CAPABILITIES; i++)
        if (capabilities[i]->resource_size)
            r->state[i] = sw_zalloc(1, capabilities[i]->resource_size);
    EACH(resource_open, r);
}

void capabilities_close_resource(struct resource *r)
{
    EACH(resource_close, r);
    for (size_t i = 0; i < N_CAPABILITIES; i++)
        if (capabilities[i]->resource_size)
            free(SW_TAKE(r->state[i]));
}

/* ---- events that every row gets -----------------------------------------------------------------
 */

void capabilities_start(struct sw_controller *c)
{
    EACH(start, c);
}

void capabilities_stop(struct sw_controller *c)
{
    EACH(stop, c);
}

void capabilities_changed(struct resource *r)
{
    EACH(changed, r);
}

void capabilities_fill_spec(struct resource *r, struct sw_spec *spec)
{
    EACH(fill_spec, r, spec);
}

void capabilities_planned(struct resource *r, int code)
{
    EACH(planned, r, code);
}

void resource_ask_values(struct resource *r, struct sw_facts_ask *ask)
{
    EACH(ask_values, r, ask);
}

void capabilities_add_values(struct resource *r, struct json_object *values)
{
    EACH(add_values, r, values);
}

void capabilities_add_revision(struct resource *r, struct json_object *all)
{
    EACH(add_revision, r, all);
}

struct release_view capabilities_release(struct resource *r)
{
    struct release_view view = { .revision = 1 };
    EACH(release, r, &view);
    return view;
}

void capabilities_manifest_hooked(struct resource *r, const struct render_item *item)
{
    EACH(manifest_hooked, r, item);
}

void document_made(struct resource *r, const char *what, const char *state, struct json_object *doc)
{
    EACH(document_made, r, what, state, doc);
}

void capabilities_object_observed(struct resource *r, struct json_object *object)
{
    EACH(object_observed, r, object);
}

void capabilities_applying(struct resource *r, const struct sw_action *action)
{
    EACH(applying, r, action);
}

void capabilities_stepped(struct resource *r)
{
    EACH(stepped, r);
}

void resource_hooks_over(struct resource *r)
{
    EACH(hooks_over, r);
}

void capabilities_emptied(struct resource *r)
{
    EACH(emptied, r);
}

void capabilities_node_changed(struct sw_controller *c, uint32_t node)
{
    EACH(node_changed, c, node);
}

void capabilities_node_observed(struct sw_controller *c, uint32_t node,
                                const struct sw_group *group)
{
    EACH(node_observed, c, node, group);
}

void capabilities_node_patch(struct resource *r, const char *node, struct json_object *patch)
{
    EACH(node_patch, r, node, patch);
}

void capabilities_node_patched(struct resource *r, const char *node, int code)
{
    EACH(node_patched, r, node, code);
}

void capabilities_metrics(struct sw_controller *c, struct sw_metrics *out)
{
    EACH(metrics, c, out);
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

int capabilities_validate(struct resource *r, struct sw_err *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < N_CAPABILITIES; i++)
        if (capabilities[i]->validate)
            rc = capabilities[i]->validate(r, err);
    return rc;
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

bool capabilities_facts_ready(struct resource *r, bool so_far)
{
    for (size_t i = 0; i < N_CAPABILITIES; i++)
        if (capabilities[i]->facts_ready)
            so_far = capabilities[i]->facts_ready(r, so_far) && so_far;
    return so_far;
}

bool capabilities_plan_ready(struct resource *r)
{
    for (size_t i = 0; i < N_CAPABILITIES; i++)
        if (capabilities[i]->plan_ready && !capabilities[i]->plan_ready(r))
            return false;
    return true;
}

int capabilities_namespace_objects(struct resource *r, struct render *w, struct sw_err *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < N_CAPABILITIES; i++)
        if (capabilities[i]->namespace_objects)
            rc = capabilities[i]->namespace_objects(r, w, err);
    return rc;
}

int capabilities_hook_env(struct resource *r, struct render *w, struct json_object *doc,
                          struct sw_hook_env *env, struct sw_err *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < N_CAPABILITIES; i++)
        if (capabilities[i]->hook_env)
            rc = capabilities[i]->hook_env(r, w, doc, env, err);
    return rc;
}

int hook_env_fill(struct resource *r, struct json_object *doc, struct sw_hook_env *env,
                  struct sw_err *err)
{
    return capabilities_hook_env(r, NULL, doc, env, err);
}

unsigned capabilities_extra_hooks(const struct resource *r)
{
    unsigned events = 0;
    for (size_t i = 0; i < N_CAPABILITIES; i++)
        if (capabilities[i]->extra_hooks)
            events |= capabilities[i]->extra_hooks(r);
    return events;
}

int capabilities_object_rendered(struct resource *r, struct render *w, struct render_item *item,
                                 struct sw_err *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < N_CAPABILITIES; i++)
        if (capabilities[i]->object_rendered)
            rc = capabilities[i]->object_rendered(r, w, item, err);
    return rc;
}

const char *capabilities_rendered(struct resource *r, struct render *w)
{
    const char *why = NULL;
    for (size_t i = 0; !why && i < N_CAPABILITIES; i++)
        if (capabilities[i]->rendered)
            why = capabilities[i]->rendered(r, w);
    return why;
}

bool resource_is_rolled_back(const struct resource *r)
{
    for (size_t i = 0; i < N_CAPABILITIES; i++)
        if (capabilities[i]->is_rolled_back && capabilities[i]->is_rolled_back(r))
            return true;
    return false;
}
