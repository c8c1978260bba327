/* The owners of a child that was created for a dependency are the resources that need it. The API
 * server deletes it with the last of them; slipway deletes it when the last one has no entry for it
 * any more. A child that a user created has no owner. */
#include "operator/controller/dependencies/dependency.h"

#include <string.h>

/* The child's owners with (or without) @r: a new list, the caller's; NULL: they are so already. */
static struct json_object *owners_with(const struct resource *child, const struct resource *r,
                                       bool with)
{
    struct json_object *now = sw_json_find(child->seen, "metadata", "ownerReferences", NULL);
    if (sw_obj_has_owner(child->seen, r->uid) == with)
        return NULL;
    struct json_object *owners = with ? resource_as_owner(r) : json_object_new_array();
    for (size_t i = 0; i < sw_json_len(now); i++)
        if (!sw_streq(sw_json_str(sw_json_at(now, i), "", "uid", NULL), r->uid))
            (void)json_object_array_add(owners, json_object_get(sw_json_at(now, i)));
    return owners;
}

static void begin(struct op *op, const struct sw_kind *kind);

static bool any_under_way(const struct resource *r, const char *child)
{
    return op_find(r, begin, NULL, child);
}

static bool is_busy(const struct resource *r)
{
    return any_under_way(r, NULL) || depend_map_is_forgetting(r);
}

void depend_finalized(struct resource *r)
{
    if (dependencies_of(r)->finalizing && !is_busy(r))
        finalize_done(r, CAPABILITY_dependencies);
}

static void over(struct op *op)
{
    struct resource *r = op->r;
    op_free(op);
    depend_finalized(r);
}

static void failed(struct op *op, int code, const char *message)
{
    if (code != SW_CONFLICT && code != SW_UNAVAILABLE)
        sw_log(SW_LOG_WARN, "owner of a dependency not written", "resource", op->r->name,
               "dependency", op->key.name, "error", message, NULL);
    op_again(op);
}

static void on_written(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    op->req = NULL;
    if (a->code < 0 && a->code != SW_NOTFOUND)
        failed(op, a->code, sw_err_text(a->err));
    else
        over(op);
}

static void begin(struct op *op, const struct sw_kind *kind)
{
    struct resource *child = resource_find(op->r->c, op->key.name);
    bool needed = !dependencies_of(op->r)->releases_children && depend_needs(op->r, op->key.name);
    struct json_object *owners = child ? owners_with(child, op->r, needed) : NULL;
    if (!owners) {
        over(op); /* it is gone, or this was done meanwhile */
        return;
    }
    SW_AUTO_JSON *body = json_object_new_object();
    sw_json_set(body, owners, "metadata", "ownerReferences", NULL);
    sw_json_set_str(body, sw_json_str(child->seen, "", "metadata", "resourceVersion", NULL),
                    "metadata", "resourceVersion", NULL);
    op->req = sw_kube_patch(op->r->c->kube, kind, NULL, child->name, SW_PATCH_MERGE, body,
                            REQUEST_OWN(KINDS, .retries = 2), on_written, op);
}

static void write_owner(struct resource *r, const char *child)
{
    struct op *op = op_new(r, &(struct sw_key){ SW_GROUP_VERSION, "SpecialResource", NULL, child },
                           0);
    op->begin = begin;
    op->failed = failed;
    op_with_kind(op);
}

void depend_own(struct resource *r, struct resource *child)
{
    struct json_object *owners = owners_with(child, r, true);
    if (owners && !any_under_way(r, child->name))
        write_owner(r, child->name);
    json_object_put(owners);
}

bool depend_finalize(struct resource *r)
{
    struct dependencies *d = dependencies_of(r);
    bool begun = d->finalizing;
    d->finalizing = true;
    d->releases_children = resource_is_orphaning(r);
    if (!begun && sw_json_len(sw_json_find(r->doc, "spec", "dependencies", NULL)))
        depend_map_forget(r, NULL);
    for (struct resource *child = r->c->resources; child && d->releases_children && !begun;
         child = child->next) {
        struct json_object *owners = owners_with(child, r, false);
        if (owners)
            write_owner(r, child->name);
        json_object_put(owners);
    }
    return !is_busy(r);
}

/* ---- children that are not needed any more -----------------------------------------------------
 */

static bool any_needs(const struct resource *child)
{
    for (const struct resource *r = child->c->resources; r; r = r->next)
        if (depend_needs(r, child->name) && !resource_is_deleting(r))
            return true;
    return false;
}

static void on_removed(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    op->req = NULL;
    if (a->code < 0 && a->code != SW_NOTFOUND && a->code != SW_CONFLICT)
        failed(op, a->code, sw_err_text(a->err));
    else
        over(op);
}

static void begin_removal(struct op *op, const struct sw_kind *kind)
{
    struct resource *child = resource_find(op->r->c, op->key.name);
    if (!child || any_needs(child)) {
        over(op);
        return;
    }
    op->req = sw_kube_delete(
        op->r->c->kube, kind, NULL, child->name,
        REQUEST_OWN(KINDS, .propagation = "Background", .uid = child->uid, .retries = 2),
        on_removed, op);
}

static void remove_child(struct resource *r, const struct resource *child)
{
    SW_AUTO_CHARS *message = sw_printf(
        "spec.dependencies: %s was created for this resource, and no "
        "resource needs it any more: it is deleted",
        child->name);
    sw_log(SW_LOG_INFO, "dependency deleted", "resource", r->name, "dependency", child->name, NULL);
    event_record(r, &(struct sw_action){ .reason = "DependencyRemoved", .message = message });
    struct op *op = op_new(
        r, &(struct sw_key){ SW_GROUP_VERSION, "SpecialResource", NULL, child->name }, 0);
    op->begin = begin_removal;
    op->failed = failed;
    op_with_kind(op);
}

/* Do all entries name their child? Templates that cannot be rendered now may name any. */
static bool entries_are_known(const struct resource *r)
{
    struct json_object *list = sw_json_find(r->doc, "spec", "dependencies", NULL);
    for (size_t i = 0; i < sw_json_len(list); i++) {
        const char *name = sw_dependency_name(sw_json_at(list, i));
        if (!*name || strstr(name, "{{"))
            return false;
    }
    return true;
}

void depend_prune(struct resource *r)
{
    struct sw_policy policy;
    if (r->c->only || !r->c->resources_synced || !entries_are_known(r))
        return;
    (void)sw_policy_read(r->doc, &policy, NULL);
    for (struct resource *child = r->c->resources; child; child = child->next) {
        if (!sw_obj_annotation(child->seen, SW_DEPENDENCY_OF) || depend_needs(r, child->name) ||
            resource_is_deleting(child) || any_under_way(r, child->name) ||
            op_find(r, begin_removal, NULL, child->name))
            continue;
        SW_AUTO_JSON *others = owners_with(child, r, false);
        if (others && (sw_json_len(others) || policy.orphan || any_needs(child)))
            write_owner(r, child->name);
        else if (others)
            remove_child(r, child);
        if (!others)
            continue;
        depend_map_forget(r, child->name);
        recheck_soon(r->c); /* the entry of another resource may decide its values now */
    }
}
