/* The objects of one SpecialResource: each manifest of its recipe is applied as a dry run. */
#include <json-c/json.h>

#include "base/loop.h"
#include "cli/cluster/releases.h"
#include "cli/cluster/requests.h"
#include "cli/commands/takeover.h"
#include "cli/recipe/preview.h"
#include "data/data.h"
#include "kube/kube.h"
#include "operator/engine/owner.h"
#include "operator/manifests/dependency.h"
#include "operator/manifests/hooks.h"

#define VENDOR SW_SRO_PREFIX "driver-container-vendor"

/* @resource with the values that it gets as a child of another; the caller's. Where one of them
 * names an account, or each has its own, they have two. */
static struct json_object *with_values(const struct takeover *t, struct json_object *resource)
{
    struct json_object *set = NULL, *copy = sw_json_copy(resource);
    for (size_t i = 0; t->opts.legacy_rights && !set && i < sw_json_len(t->resources); i++) {
        struct json_object *parent = sw_json_at(t->resources, i);
        if (parent != resource && !*sw_json_str(parent, "", "spec", "serviceAccountName", NULL) &&
            !*sw_json_str(resource, "", "spec", "serviceAccountName", NULL))
            set = sw_dependency_values(parent, resource);
    }
    if (set)
        sw_json_set(copy, sw_json_copy(set), "spec", "set", NULL);
    return copy;
}

/* ---- one object --------------------------------------------------------------------------------
 */

static bool is_of_template(struct json_object *fields)
{
    for (size_t i = 0; i < sw_json_len(fields); i++)
        if (sw_starts_with(json_object_get_string(sw_json_at(fields, i)), "spec.template"))
            return true;
    return false;
}

/* How many pods the workload has; 0: none, or it is no workload. */
static int64_t pods_of(struct json_object *live)
{
    static const struct {
        const char *kind, *field;
    } rows[] = { { "DaemonSet", "currentNumberScheduled" },
                 { "Deployment", "replicas" },
                 { "StatefulSet", "replicas" } };
    for (size_t i = 0; i < SW_COUNT(rows); i++)
        if (sw_streq(rows[i].kind, sw_obj_kind(live)))
            return sw_json_int(live, 0, "status", rows[i].field, NULL);
    return 0;
}

/* Remove what says whose the object is: SRO's marks become slipway's, or go from a definition,
 * which outlives its resource here. */
static void strip_marks(struct json_object *doc)
{
    static const char *const marks[][2] = {
        { "labels", "app.kubernetes.io/managed-by" },
        { "labels", SW_OWNED_LABEL },
        { "annotations", "meta.helm.sh/release-name" },
        { "annotations", "meta.helm.sh/release-namespace" },
    };
    (void)sw_json_del(doc, "metadata", "ownerReferences", NULL);
    for (size_t i = 0; i < SW_COUNT(marks); i++) /* both have the maps, for what is compared */
        json_object_object_del(sw_json_need_map(doc, "metadata", marks[i][0], NULL), marks[i][1]);
}

/* What is not there: a BuildConfig that has a driver container waits for all others, since it is
 * made only where the container's image cannot be pulled. */
static void add_new(struct takeover *t, const struct sw_preview *p, struct json_object *doc)
{
    if (sw_streq(sw_obj_kind(doc), "BuildConfig") && sw_obj_annotation(doc, VENDOR) &&
        sw_streq(sw_obj_kind(p->resource), "SpecialResource"))
        (void)json_object_array_add(t->builds, json_object_get(doc));
    else
        takeover_add(t, TAKEOVER_CREATED, doc,
                     &(struct takeover_more){ .resource = sw_obj_name(p->resource) });
}

static void add_builds(struct takeover *t, const struct sw_preview *p)
{
    for (size_t i = 0; i < sw_json_len(t->builds); i++) {
        struct json_object *doc = sw_json_at(t->builds, i);
        bool waits = sw_json_get(t->vendors, sw_obj_annotation(doc, VENDOR));
        takeover_add(
            t, waits ? TAKEOVER_UNCHANGED : TAKEOVER_CREATED, doc,
            &(struct takeover_more){
                .resource = sw_obj_name(p->resource),
                .why = waits ? "not there: it is made where its image cannot be pulled" : NULL });
    }
}

static void add_change(struct takeover *t, const struct sw_preview *p,
                       const struct sw_preview_change *c)
{
    struct takeover_more more = { .resource = sw_obj_name(p->resource) };
    SW_AUTO_JSON *live = sw_json_copy(c->live);
    const char *vendor = sw_obj_annotation(c->wanted, VENDOR);
    if (vendor && sw_streq(sw_obj_kind(c->wanted), "DaemonSet"))
        sw_json_set(t->vendors, json_object_new_boolean(true), vendor, NULL);
    if (!live) {
        add_new(t, p, c->wanted);
        return;
    }
    if (c->foreign) {
        bool borrowed = sw_owner_borrows(live);
        SW_AUTO_CHARS *why = sw_printf("%s%s", c->foreign, borrowed ? ": used as it is" : "");
        more.why = why;
        takeover_add(t, borrowed ? TAKEOVER_UNCHANGED : TAKEOVER_REFUSED, c->live, &more);
        return;
    }
    int64_t pods = pods_of(live);
    sw_preview_strip(live);
    sw_preview_strip(c->wanted);
    strip_marks(live);
    strip_marks(c->wanted);
    more.fields = takeover_fields(live, c->wanted);
    enum takeover_change change = sw_json_len(more.fields) ? TAKEOVER_CHANGED
                                  : c->is_left             ? TAKEOVER_UNCHANGED
                                                           : TAKEOVER_ADOPTED;
    if (pods && is_of_template(more.fields)) {
        bool waits = sw_streq(sw_json_str(c->wanted, "", "spec", "updateStrategy", "type", NULL),
                              "OnDelete");
        if (waits)
            more.why = "OnDelete: its pods stay until they are deleted";
        else
            change = TAKEOVER_PODS_REPLACED, more.pods = pods;
    }
    takeover_add(t, change, c->live, &more);
}

/* A sw_preview_fn. */
static int plan_object(struct sw_preview *p, const struct sw_preview_pass *pass,
                       const struct sw_manifest *m, void *arg, struct sw_err *err)
{
    struct takeover *t = arg;
    struct sw_preview_change change = { 0 };
    SW_ERR(why);
    int rc = sw_preview_apply(p, pass, m, &change, &why);
    if (rc == 0)
        rc = takeover_rights_check(t, &change, &why);
    t->n_forbidden += rc == SW_FORBIDDEN;
    bool goes_on = rc != SW_UNAVAILABLE && rc != SW_CANCELED;
    if (rc == 0 && !change.has_run)
        add_change(t, p, &change);
    else if (rc < 0 && goes_on)
        takeover_add(t, TAKEOVER_REFUSED, change.live ? change.live : m->doc,
                     &(struct takeover_more){ .resource = sw_obj_name(p->resource),
                                              .why = sw_err_text(&why) });
    sw_preview_change_done(&change);
    return goes_on ? 0 : sw_err_set(err, rc, "%s", sw_err_text(&why));
}

/* ---- what is not applied -----------------------------------------------------------------------
 */

static void add_namespace(struct takeover *t, struct sw_preview *p)
{
    SW_AUTO_JSON *live = NULL;
    SW_AUTO_JSON *made = json_object_new_object();
    const struct takeover_more more = { .resource = sw_obj_name(p->resource) };
    SW_ERR(why);
    sw_json_set_str(made, "v1", "apiVersion", NULL);
    sw_json_set_str(made, "Namespace", "kind", NULL);
    sw_json_set_str(made, p->ns, "metadata", "name", NULL);
    int rc = sw_cluster_find(&p->conn, "v1", "Namespace", NULL, p->ns, NULL, &live, &why);
    takeover_add(t, rc == 0 ? TAKEOVER_UNCHANGED : TAKEOVER_CREATED, rc == 0 ? live : made, &more);
}

/* The labels of nodes by which other pods follow a state. */
static int add_labels(struct takeover *t, struct sw_preview *p, struct sw_err *err)
{
    SW_AUTO_JSON *nodes = NULL;
    int rc = sw_cluster_find(&p->conn, "v1", "Node", NULL, NULL, NULL, &nodes, err);
    for (size_t i = 0; rc == 0 && i < sw_plan_n_states(p->opened.plan); i++) {
        const char *suffix = sw_plan_state(p->opened.plan, i)->label;
        SW_AUTO_CHARS *key = NULL;
        int64_t n = 0;
        if (suffix)
            rc = sw_recipe_label(sw_obj_name(p->resource), suffix, &key, err);
        for (size_t k = 0; key && k < sw_json_len(nodes); k++)
            n += sw_obj_label(sw_json_at(nodes, k), key) != NULL;
        if (n == 0)
            continue;
        SW_AUTO_JSON *label = json_object_new_object();
        SW_AUTO_CHARS *why = sw_printf("of %d node%s", (int)n, n == 1 ? "" : "s");
        sw_json_set_str(label, "v1", "apiVersion", NULL);
        sw_json_set_str(label, "Node label", "kind", NULL);
        sw_json_set_str(label, key, "metadata", "name", NULL);
        takeover_add(t, TAKEOVER_UNCHANGED, label,
                     &(struct takeover_more){ .resource = sw_obj_name(p->resource), .why = why });
    }
    return rc;
}

static int add_records(struct takeover *t, struct sw_preview *p, struct sw_err *err)
{
    SW_AUTO_JSON *records = NULL;
    int rc = sw_releases_list(&p->conn, p->resource, &records, err);
    for (size_t i = 0; i < sw_json_len(records); i++)
        takeover_add(t, TAKEOVER_UNCHANGED, sw_json_at(records, i),
                     &(struct takeover_more){ .resource = sw_obj_name(p->resource),
                                              .why = "record of the release" });
    return rc;
}

/* ---- a resource --------------------------------------------------------------------------------
 */

int takeover_objects(struct takeover *t, struct sw_err *err)
{
    struct sw_preview *p = &t->preview;
    struct sw_recipe_flags flags = { .name = sw_obj_name(p->resource) };
    p->conn.until_ms = sw_loop_now_ms(p->conn.loop) + t->opts.timeout_ms;
    int rc = takeover_recipe(t, p->resource, &flags.recipe, err);
    flags.namespace = sw_releases_namespace(p->resource);
    if (rc == 0)
        rc = sw_preview_open(p, &flags, &t->opts.connect, "", err);
    if (rc == 0) {
        t->builds = json_object_new_array();
        t->vendors = json_object_new_object();
        add_namespace(t, p);
        rc = sw_preview_each(p, plan_object, t, err);
        add_builds(t, p);
        json_object_put(SW_TAKE(t->builds));
        json_object_put(SW_TAKE(t->vendors));
    }
    sw_recipe_flags_done(&flags);
    return rc;
}

/* Its objects stay as they are, for that reason, which is told with each. */
static void set_apart(struct takeover *t, struct json_object *doc, const char *reason)
{
    SW_AUTO_CHARS *why = sw_printf("not compared: %s %s %s", sw_obj_kind(doc), sw_obj_name(doc),
                                   reason);
    if (*sw_obj_uid(doc))
        sw_json_set_str(t->apart, why, sw_obj_uid(doc), NULL);
}

void takeover_close(struct takeover *t, size_t at, struct json_object *doc, int code,
                    const char *why)
{
    bool is_there = *sw_obj_uid(doc);
    if (code < 0) {
        set_apart(t, doc, "is refused");
        takeover_add_at(t, at, TAKEOVER_REFUSED, doc, &(struct takeover_more){ .why = why });
    } else {
        takeover_add_at(t, at, is_there ? TAKEOVER_ADOPTED : TAKEOVER_CREATED, doc,
                        &(struct takeover_more){ .why = why, .is_operators = !is_there });
    }
}

bool takeover_is_left_alone(struct takeover *t, struct json_object *doc)
{
    if (takeover_is_told(t, doc)) { /* its definition does not take it */
        set_apart(t, doc, "is refused");
        return true;
    }
    if (sw_json_find(doc, "metadata", "deletionTimestamp", NULL)) {
        takeover_add(t, TAKEOVER_DELETED, doc,
                     &(struct takeover_more){ .why = "its deletion goes on" });
        set_apart(t, doc, "is being deleted");
        return true;
    }
    if (sw_streq(sw_json_str(doc, "", "spec", "managementState", NULL), "Unmanaged")) {
        takeover_add(t, TAKEOVER_UNCHANGED, doc,
                     &(struct takeover_more){ .why = "it is Unmanaged" });
        set_apart(t, doc, "is Unmanaged");
        return true;
    }
    return false;
}

void takeover_resource(struct takeover *t, struct json_object *resource)
{
    struct sw_preview *p = &t->preview;
    size_t at = sw_json_len(t->entries);
    SW_ERR(err);
    if (takeover_is_left_alone(t, resource))
        return;
    p->resource = with_values(t, resource);
    int rc = takeover_rights_open(t, resource, &err);
    if (rc == 0)
        rc = sw_preview_resolve(p, &err);
    if (rc == 0)
        rc = takeover_objects(t, &err);
    if (rc == 0 && *sw_obj_uid(resource))
        rc = add_records(t, p, &err);
    if (rc == 0)
        rc = add_labels(t, p, &err);
    SW_AUTO_CHARS *rights = takeover_rights_close(t, resource);
    takeover_close(t, at, resource, rc, rc < 0 ? sw_err_text(&err) : rights);
    sw_preview_close(p);
}
