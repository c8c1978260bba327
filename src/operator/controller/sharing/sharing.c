/* spec.taints, tolerations and priorityClasses: which pods may use a resource's nodes. */
#include "operator/manifests/sharing.h"
#include "operator/controller/core.h"

struct sharing {
    struct json_object *tolerations; /* of the engine's spec; owned */
};

static struct sharing *sharing_of(const struct resource *r)
{
    return r->state[CAPABILITY_sharing];
}

/* NoExecute ends pods that do not tolerate it, whatever their budgets say. */
static int check_force(struct resource *r, struct sw_err *err)
{
    struct json_object *taints = sw_json_find(r->doc, "spec", "taints", NULL);
    for (size_t i = 0; !r->c->opts.node_policy->force && i < sw_json_len(taints); i++)
        if (sw_streq(sw_json_str(sw_json_at(taints, i), "", "effect", NULL), "NoExecute"))
            return sw_err_set(err, SW_INVALID,
                              "spec.taints[%zu].effect: NoExecute ends pods by force, which the "
                              "cluster's admins do not allow (--nodes-force)",
                              i);
    return 0;
}

static int validate(struct resource *r, struct sw_err *err)
{
    int rc = sw_sharing_check(r->doc, err);
    return rc < 0 ? rc : check_force(r, err);
}

static void fill_spec(struct resource *r, struct sw_spec *spec)
{
    struct sharing *s = sharing_of(r);
    json_object_put(s->tolerations);
    s->tolerations = resource_node_tolerations(r);
    spec->taints = sw_json_find(r->doc, "spec", "taints", NULL);
    spec->tolerations = s->tolerations;
}

/* PriorityClasses are applied before the pods that name them. */
static int add_priority_classes(struct resource *r, struct render *w, struct sw_err *err)
{
    struct json_object *doc;
    int rc = 0;
    for (size_t i = 0; rc == 0 && (doc = sw_sharing_priority_class(r->doc, i)); i++)
        rc = render_add(w, doc, RENDER_WITH_HOOK_ENV, err);
    return rc;
}

static void resource_close(struct resource *r)
{
    json_object_put(SW_TAKE(sharing_of(r)->tolerations));
}

const struct capability capability_sharing = {
    .name = "sharing",
    .summary = "spec.taints, tolerations and priorityClasses: taints on nodes, PriorityClasses",
    .resource_size = sizeof(struct sharing),
    .validate = validate,
    .fill_spec = fill_spec,
    .namespace_objects = add_priority_classes,
    .resource_close = resource_close,
};
