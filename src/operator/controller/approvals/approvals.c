/* Install plans of the Operator Lifecycle Manager. Where a Subscription has its plans approved by
 * hand (installPlanApproval: Manual), the plan that installs exactly the versions which the recipe
 * names is approved, and no other: no upgrade that the catalogue offers later, no plan that brings
 * another Subscription's package with it. The annotation of the manifest counts, not the one in the
 * cluster, which others may write. */
#include "operator/controller/core.h"
#include "operator/manifests/hooks.h"

#include <stdlib.h>
#include <string.h>

#define OLM "operators.coreos.com/v1alpha1"

/* A Subscription of the resource with that annotation. */
struct approval {
    struct approval *next;
    char *ns, *name;
    struct json_object *versions; /* what may be installed: names of ClusterServiceVersions */
    char *plan;                   /* its present plan; NULL: none yet */
    char *settled;                /* the plan that needs no look any more; NULL: none */
};

struct approvals {
    struct approval *first;
};

static struct approvals *approvals_of(const struct resource *r)
{
    return r->state[CAPABILITY_approvals];
}

static struct approval **find(const struct resource *r, const char *ns, const char *name)
{
    struct approval **at = &approvals_of(r)->first;
    while (*at && !(sw_streq((*at)->ns, ns) && sw_streq((*at)->name, name)))
        at = &(*at)->next;
    return at;
}

static void drop(struct approval **at)
{
    struct approval *gone = *at;
    *at = gone->next;
    free(gone->ns);
    free(gone->name);
    json_object_put(gone->versions);
    free(gone->plan);
    free(gone->settled);
    free(gone);
}

static void resource_close(struct resource *r)
{
    while (approvals_of(r)->first)
        drop(&approvals_of(r)->first);
}

/* ---- what a plan installs -----------------------------------------------------------------------
 */

/* The names in comma separated @text, each once; the caller's. */
static struct json_object *names_in(const char *text)
{
    struct json_object *names = json_object_new_array();
    for (size_t len; *(text += strspn(text, ", ")); text += len) {
        len = strcspn(text, ", ");
        SW_AUTO_CHARS *name = sw_strndup(text, len);
        if (!sw_json_has_text(names, name))
            (void)json_object_array_add(names, json_object_new_string(name));
    }
    return names;
}

static bool installs_exactly(struct json_object *names, struct json_object *versions)
{
    size_t n = sw_json_len(names);
    for (size_t i = 0; i < n; i++)
        if (!sw_json_has_text(versions, sw_json_str(sw_json_at(names, i), "", NULL)))
            return false;
    return n > 0 && n == sw_json_len(versions);
}

/* ---- the requests ------------------------------------------------------------------------------
 */

/* The approval that @op is for; NULL: it has gone, or has another plan by now. */
static struct approval *approval_of(const struct op *op)
{
    struct approval *a = *find(op->r, op->key.ns, op->more);
    return a && sw_streq(a->plan, op->key.name) ? a : NULL;
}

static void settle(struct op *op)
{
    struct approval *a = approval_of(op);
    if (a) {
        sw_text_set(&a->settled, op->key.name);
    }
    op_free(op);
}

/* It is tried again, or told and left until the Subscription changes. */
static void failed(struct op *op, int code, const char *message)
{
    if (code == SW_CONFLICT || code == SW_UNAVAILABLE) {
        op_again(op);
        return;
    }
    SW_AUTO_CHARS *why = account_message(op->r, code, message);
    SW_AUTO_CHARS *text = sw_printf("install plan %s: %s", op->key.name, why);
    if (code != SW_NOTFOUND)
        event_record(op->r, &(struct sw_action){ .warning = true,
                                                 .reason = "InstallPlanNotApproved",
                                                 .message = text });
    op_free(op);
}

static void on_approved(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    op->req = NULL;
    if (a->code < 0) {
        failed(op, a->code, sw_err_text(a->err));
        return;
    }
    SW_AUTO_CHARS *names = sw_json_joined(
        sw_json_find(a->object, "spec", "clusterServiceVersionNames", NULL), ", ");
    SW_AUTO_CHARS *text = sw_printf("install plan %s: %s", op->key.name, names);
    event_record(op->r, &(struct sw_action){ .reason = "InstallPlanApproved", .message = text });
    settle(op);
}

/* The version that was read is approved, no later one. */
static void approve(struct op *op, const struct sw_kube_answer *a)
{
    json_object_put(op->doc);
    op->doc = json_object_new_object();
    sw_json_set_str(op->doc, sw_json_str(a->object, "", "metadata", "resourceVersion", NULL),
                    "metadata", "resourceVersion", NULL);
    sw_json_set(op->doc, json_object_new_boolean(true), "spec", "approved", NULL);
    const struct sw_kind *kind = sw_kube_kind_find(op->r->c->kube, OLM, "InstallPlan");
    op->req = sw_kube_patch(op->r->c->kube, kind, op->key.ns, op->key.name, SW_PATCH_MERGE, op->doc,
                            REQUEST_AS(op->r, .retries = 4), on_approved, op);
}

static void refuse(struct op *op, const struct approval *approval, struct json_object *names)
{
    SW_AUTO_CHARS *would = sw_json_joined(names, ", "),
                  *approved = sw_json_joined(approval->versions, ", ");
    SW_AUTO_CHARS *text = sw_printf("install plan %s of Subscription %s/%s would install %s; the "
                                    "recipe approves %s",
                                    op->key.name, approval->ns, approval->name, would, approved);
    event_record(op->r, &(struct sw_action){
                            .warning = true, .reason = "InstallPlanNotApproved", .message = text });
    settle(op);
}

static void on_plan(const struct sw_kube_answer *a, void *arg)
{
    struct op *op = arg;
    op->req = NULL;
    const struct approval *approval = approval_of(op);
    struct json_object *names =
        a->code < 0 ? NULL : sw_json_find(a->object, "spec", "clusterServiceVersionNames", NULL);
    if (a->code < 0)
        failed(op, a->code, sw_err_text(a->err));
    else if (!approval || sw_json_bool(a->object, false, "spec", "approved", NULL))
        settle(op);
    else if (installs_exactly(names, approval->versions))
        approve(op, a);
    else
        refuse(op, approval, names);
}

static void begin_read(struct op *op, const struct sw_kind *kind)
{
    op->req = sw_kube_get(op->r->c->kube, kind, op->key.ns, op->key.name,
                          REQUEST_AS(op->r, .retries = 4), on_plan, op);
}

/* Look at the present plan, unless that is done or under way. */
static void check_plan(struct resource *r, const struct approval *a)
{
    if (!a->plan || sw_streq(a->plan, a->settled) || op_find(r, begin_read, a->ns, a->plan))
        return;
    struct op *op = op_new(r, &(struct sw_key){ OLM, "InstallPlan", a->ns, a->plan }, 0);
    op->more = sw_strdup(a->name);
    op->release = free;
    op->begin = begin_read;
    op->failed = failed;
    op_with_kind(op);
}

/* ---- the row -----------------------------------------------------------------------------------
 */

static bool is_subscription(struct json_object *doc)
{
    return sw_streq(sw_obj_kind(doc), "Subscription") && sw_streq(sw_obj_api_version(doc), OLM);
}

static int object_rendered(struct resource *r, struct render *w SW_UNUSED, struct render_item *item,
                           struct sw_err *err SW_UNUSED)
{
    struct json_object *doc = item->object->doc;
    if (!is_subscription(doc))
        return 0;
    const char *ns = sw_obj_namespace(doc), *name = sw_obj_name(doc),
               *approved = sw_obj_annotation(doc, SW_APPROVE_INSTALL_PLAN);
    struct approval **at = find(r, ns, name), *a = *at;
    if (a && !approved)
        drop(at);
    SW_AUTO_JSON *versions = approved ? names_in(approved) : NULL;
    if (!versions || (a && sw_json_equal(a->versions, versions)))
        return 0;
    if (!a) {
        a = *at = sw_zalloc(1, sizeof *a);
        a->ns = sw_strdup(ns);
        a->name = sw_strdup(name);
    }
    json_object_put(a->versions);
    a->versions = SW_TAKE(versions);
    free(SW_TAKE(a->settled)); /* the plan that was refused may be the right one now */
    check_plan(r, a);
    return 0;
}

static void object_observed(struct resource *r, struct json_object *object)
{
    if (!object || !is_subscription(object))
        return;
    struct approval *a = *find(r, sw_obj_namespace(object), sw_obj_name(object));
    const char *plan = sw_json_str(object, NULL, "status", "installPlanRef", "name", NULL);
    if (!a || !plan || resource_is_deleting(r))
        return;
    if (!sw_streq(a->plan, plan)) {
        sw_text_set(&a->plan, plan);
    }
    check_plan(r, a);
}

const struct capability capability_approvals = {
    .name = "approvals",
    .summary = "approval of the install plans that a recipe's pinned versions need",
    .resource_size = sizeof(struct approvals),
    .object_rendered = object_rendered,
    .object_observed = object_observed,
    .resource_close = resource_close,
};
