/* The objects of one SpecialResource: each manifest of its recipe is applied as a dry run. */
#include <json-c/json.h>
#include <string.h>
#include <unistd.h>

#include "base/loop.h"
#include "chart/fetch/fetch.h"
#include "cli/cluster/releases.h"
#include "cli/cluster/requests.h"
#include "cli/commands/takeover.h"
#include "cli/recipe/preview.h"
#include "data/data.h"
#include "kube/kube.h"
#include "operator/manifests/dependency.h"
#include "operator/manifests/hooks.h"

/* Where SRO's image has its charts. */
static const char image_charts[] = "file:///charts";

/* ---- its recipe --------------------------------------------------------------------------------
 */

/* The URL of the repository, on this machine: a folder of the operator's image is that of --charts.
 */
static char *url_of(const struct takeover *t, struct json_object *resource)
{
    const char *url = sw_json_str(resource, "", "spec", "chart", "repository", "url", NULL);
    const char *rest = url + strlen(image_charts);
    if (!sw_starts_with(url, image_charts) || (*rest && *rest != '/') ||
        access(url + strlen("file://"), R_OK) == 0)
        return sw_strdup(url);
    return sw_printf("file://%s%s", t->opts.charts, rest);
}

/* Open @p with the recipe of p->resource. @flags and @place are borrowed by it. */
static int open_recipe(struct takeover *t, struct sw_preview *p, struct sw_recipe_flags *flags,
                       const char *place, struct sw_err *err)
{
    struct json_object *chart = sw_json_find(p->resource, "spec", "chart", NULL);
    struct json_object *repository = sw_json_get(chart, "repository");
    const char *version = sw_json_str(chart, "", "version", NULL), *source = place;
    if (!*place)
        return sw_err_set(err, SW_INVALID, "spec.chart.repository.url is missing");
    if (sw_json_get(repository, "secretRef"))
        return sw_err_set(err, SW_FORBIDDEN,
                          "the Secret of spec.chart.repository.secretRef is not read here: "
                          "`slipway diff` takes its login as options");
    flags->name = sw_obj_name(p->resource);
    flags->namespace = sw_releases_namespace(p->resource);
    if (sw_starts_with(place, "file://")) {
        source = place + strlen("file://");
    } else {
        source = sw_json_str(chart, "", "name", NULL);
        flags->source = (struct sw_source_flags){
            .repo = place,
            .version = *version ? version : NULL,
            .username = sw_json_str(repository, NULL, "username", NULL),
            .password = sw_json_str(repository, NULL, "password", NULL),
            .insecure = sw_json_bool(repository, false, "insecure_skip_tls_verify", NULL),
            .pass_credentials = sw_json_bool(repository, false, "pass_credentials_all", NULL),
        };
    }
    p->conn.until_ms = sw_loop_now_ms(p->conn.loop) + t->opts.timeout_ms;
    return sw_preview_open(p, flags, &t->opts.connect, source, err);
}

/* @resource with the values that it gets as a child of another; the caller's. Where one of them
 * names an account, they have two. */
static struct json_object *with_values(const struct takeover *t, struct json_object *resource)
{
    struct json_object *set = NULL, *copy = sw_json_copy(resource);
    for (size_t i = 0; !set && i < sw_json_len(t->resources); i++) {
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

static void add_change(struct takeover *t, const struct sw_preview *p,
                       const struct sw_preview_change *c)
{
    struct takeover_more more = { .resource = sw_obj_name(p->resource) };
    SW_AUTO_JSON *live = sw_json_copy(c->live);
    if (!live) {
        takeover_add(t, TAKEOVER_CREATED, c->wanted, &more);
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
    if (rc == 0 && !change.has_run)
        add_change(t, p, &change);
    sw_preview_change_done(&change);
    if (rc == SW_UNAVAILABLE || rc == SW_CANCELED)
        return sw_err_set(err, rc, "%s", sw_err_text(&why));
    if (rc < 0)
        takeover_add(t, TAKEOVER_REFUSED, m->doc,
                     &(struct takeover_more){ .resource = sw_obj_name(p->resource),
                                              .why = sw_err_text(&why) });
    return 0;
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

void takeover_resource(struct takeover *t, struct json_object *resource)
{
    struct sw_recipe_flags flags = { 0 };
    SW_AUTO_CHARS *url = url_of(t, resource);
    SW_AUTO_CHARS *place = sw_fetch_chart_url(
        url, sw_json_str(resource, "", "spec", "chart", "name", NULL),
        sw_json_str(resource, "", "spec", "chart", "version", NULL), NULL);
    SW_ERR(err);
    if (sw_json_find(resource, "metadata", "deletionTimestamp", NULL)) {
        takeover_add(t, TAKEOVER_DELETED, resource,
                     &(struct takeover_more){ .why = "its deletion goes on" });
        return;
    }
    struct sw_preview *p = &t->preview;
    p->resource = with_values(t, resource);
    int rc = open_recipe(t, p, &flags, place, &err);
    if (rc == 0 &&
        sw_streq(sw_json_str(resource, "", "spec", "managementState", NULL), "Unmanaged"))
        takeover_add(t, TAKEOVER_UNCHANGED, resource,
                     &(struct takeover_more){ .why = "it is Unmanaged" });
    else if (rc == 0) {
        takeover_add(t, TAKEOVER_ADOPTED, resource, &(struct takeover_more){ 0 });
        add_namespace(t, p);
        rc = sw_preview_each(p, plan_object, t, &err);
        if (rc == 0)
            rc = add_records(t, p, &err);
        if (rc == 0)
            rc = add_labels(t, p, &err);
    }
    if (rc < 0)
        takeover_add(t, TAKEOVER_REFUSED, resource,
                     &(struct takeover_more){ .why = sw_err_text(&err) });
    sw_preview_close(p);
    sw_recipe_flags_done(&flags);
}
