/* slipway takeover --plan: what slipway in the place of the Special Resource Operator, or of the
 * Dynamic Accelerator Slicer, would do to a cluster, object by object: the definitions, what is
 * stored by them, the operator that goes, and what recipes make. Nothing is written. */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "cli/cluster/requests.h"
#include "cli/commands/commands.h"
#include "cli/commands/takeover.h"
#include "cli/recipe/preview.h"
#include "data/data.h"
#include "kube/kube.h"
#include "operator/manifests/hooks.h"

/* As `slipway diff`. */
enum { NO_CHANGE = 0, SOME_CHANGE = 1, TROUBLE = 2 };

enum { RETRIES = 3, SHOWN_FIELDS = 4 };

#define API_VERSION "sro.openshift.io/v1beta1"
#define LEASE "b6ae617b.openshift.io"
#define SRO_NAMESPACE "openshift-special-resource-operator"

extern const struct sw_embedded sw_deploy_crds[];

static const struct sw_flag flags[] = {
    { "plan", 0, SW_FLAG_BOOL, offsetof(struct takeover_opts, plan), NULL, NULL,
      "print what would be done, and do nothing" },
    { "output", 'o', SW_FLAG_STRING, offsetof(struct takeover_opts, output), "FORMAT", "text|json",
      "json: one document (default text)" },
    { "charts", 0, SW_FLAG_STRING, offsetof(struct takeover_opts, charts), "DIR", NULL,
      "folder that is /charts in the operator's image (default charts)" },
    { "recipes", 0, SW_FLAG_STRING, offsetof(struct takeover_opts, recipes), "DIR", NULL,
      "folder that is /recipes in slipway's image (default recipes)" },
    { "keep-node-selectors", 0, SW_FLAG_BOOL, offsetof(struct takeover_opts, keep_selectors), NULL,
      NULL, "slipway will run with this option, as SRO_COMPAT=1 sets it" },
    { "legacy-rights", 0, SW_FLAG_BOOL, offsetof(struct takeover_opts, legacy_rights), NULL, NULL,
      "the same; without it a resource that names no account has slipway-NAME, its own" },
    { "timeout", 0, SW_FLAG_DURATION, offsetof(struct takeover_opts, timeout_ms), "TIME", NULL,
      "time limit for each resource, such as 90s or 5m (default 60s)" },
    SW_CONNECT_FLAGS(struct takeover_opts, connect),
    { 0 },
};

/* What happens to an object; by enum takeover_change. */
static const struct {
    const char *name;
    bool counts; /* for the exit status: what runs, or what is stored, becomes another */
} changes[] = {
    [TAKEOVER_UNCHANGED] = { "unchanged", false },
    [TAKEOVER_ADOPTED] = { "adopted", false },
    [TAKEOVER_CHANGED] = { "changed", true },
    [TAKEOVER_PODS_REPLACED] = { "pods replaced", true },
    [TAKEOVER_REPLACED] = { "replaced", false },
    [TAKEOVER_CREATED] = { "created", true },
    [TAKEOVER_DELETED] = { "deleted", true },
    [TAKEOVER_LEFT] = { "left", false },
    [TAKEOVER_REFUSED] = { "refused", true },
};

/* ---- entries -----------------------------------------------------------------------------------
 */

void takeover_add(struct takeover *t, enum takeover_change change, struct json_object *doc,
                  const struct takeover_more *more)
{
    struct json_object *entry = json_object_new_object();
    sw_json_set_str(entry, changes[change].name, "change", NULL);
    sw_json_set_str(entry, sw_obj_api_version(doc), "apiVersion", NULL);
    sw_json_set_str(entry, sw_obj_kind(doc), "kind", NULL);
    if (*sw_obj_namespace(doc))
        sw_json_set_str(entry, sw_obj_namespace(doc), "namespace", NULL);
    sw_json_set_str(entry, sw_obj_name(doc), "name", NULL);
    if (more->resource)
        sw_json_set_str(entry, more->resource, "resource", NULL);
    if (sw_json_len(more->fields))
        sw_json_set(entry, json_object_get(more->fields), "fields", NULL);
    json_object_put(more->fields);
    if (more->pods)
        sw_json_set(entry, json_object_new_int64(more->pods), "pods", NULL);
    if (more->why)
        sw_json_set_str(entry, more->why, "why", NULL);
    (void)json_object_array_add(t->entries, entry);
    if (*sw_obj_uid(doc))
        sw_json_set(t->told, json_object_new_boolean(true), sw_obj_uid(doc), NULL);
    t->n_changed += changes[change].counts && !more->is_operators;
    t->n_refused += change == TAKEOVER_REFUSED;
}

void takeover_add_at(struct takeover *t, size_t at, enum takeover_change change,
                     struct json_object *doc, const struct takeover_more *more)
{
    takeover_add(t, change, doc, more);
    struct json_object *entry = json_object_get(
        sw_json_at(t->entries, sw_json_len(t->entries) - 1));
    for (size_t i = sw_json_len(t->entries) - 1; i > at; i--)
        (void)json_object_array_put_idx(t->entries, i,
                                        json_object_get(sw_json_at(t->entries, i - 1)));
    (void)json_object_array_put_idx(t->entries, at, entry);
}

bool takeover_is_told(const struct takeover *t, struct json_object *doc)
{
    return *sw_obj_uid(doc) && sw_json_get(t->told, sw_obj_uid(doc));
}

/* @path with @key behind it, as in JSONPath; heap. */
static char *below(const char *path, const char *key)
{
    if (strpbrk(key, "./[]"))
        return sw_printf("%s['%s']", path, key);
    return sw_printf("%s%s%s", path, *path ? "." : "", key);
}

static void find_fields(struct json_object *before, struct json_object *after, const char *path,
                        struct json_object *out)
{
    bool maps = json_object_is_type(before, json_type_object) &&
                json_object_is_type(after, json_type_object);
    bool lists = json_object_is_type(before, json_type_array) &&
                 json_object_is_type(after, json_type_array) &&
                 sw_json_len(before) == sw_json_len(after);
    if (sw_json_equal(before, after))
        return;
    if (maps) {
        json_object_object_foreach(before, key, value)
        {
            SW_AUTO_CHARS *at = below(path, key);
            find_fields(value, sw_json_get(after, key), at, out);
        }
        json_object_object_foreach(after, new_key, new_value)
        {
            SW_AUTO_CHARS *at = below(path, new_key);
            if (!json_object_object_get_ex(before, new_key, NULL))
                find_fields(NULL, new_value, at, out);
        }
    } else if (lists) {
        for (size_t i = 0; i < sw_json_len(before); i++) {
            SW_AUTO_CHARS *at = sw_printf("%s[%zu]", path, i);
            find_fields(sw_json_at(before, i), sw_json_at(after, i), at, out);
        }
    } else {
        (void)json_object_array_add(out, json_object_new_string(path));
    }
}

struct json_object *takeover_fields(struct json_object *before, struct json_object *after)
{
    struct json_object *out = json_object_new_array();
    find_fields(before, after, "", out);
    return out;
}

/* All objects of a kind, with what items of a list may lack. */
static int find_all(struct takeover *t, const char *api_version, const char *kind, const char *ns,
                    struct json_object **out, struct sw_err *err)
{
    int rc = sw_cluster_find(&t->preview.conn, api_version, kind, ns, NULL,
                             &(struct sw_request_opts){ .retries = RETRIES }, out, err);
    for (size_t i = 0; rc == 0 && i < sw_json_len(*out); i++) {
        sw_json_set_str(sw_json_at(*out, i), api_version, "apiVersion", NULL);
        sw_json_set_str(sw_json_at(*out, i), kind, "kind", NULL);
    }
    return rc;
}

/* ---- definitions, and what is stored by them ---------------------------------------------------
 */

/* The kinds by which objects are made. */
static const struct {
    const char *api_version, *kind;
    void (*plan)(struct takeover *t, struct json_object *doc);
} makers[] = {
    { API_VERSION, "SpecialResource", takeover_resource },
    { API_VERSION, "SpecialResourceModule", takeover_module },
    { "inference.redhat.com/v1alpha1", "DASOperator", takeover_das },
};

static bool makes_objects(const char *kind)
{
    for (size_t i = 0; i < SW_COUNT(makers); i++)
        if (sw_streq(makers[i].kind, kind))
            return true;
    return false;
}

static void check_stored(struct takeover *t, struct json_object *schema, struct json_object *doc)
{
    SW_AUTO_CHARS *why = NULL;
    struct takeover_more more = { .fields = json_object_new_array() };
    if (!takeover_accepts(schema, doc, more.fields, &why)) {
        more.why = why;
        takeover_add(t, TAKEOVER_REFUSED, doc, &more);
    } else if (sw_json_len(more.fields)) {
        more.why = "the definition does not know these fields: they go with the next write";
        takeover_add(t, TAKEOVER_CHANGED, doc, &more);
    } else if (makes_objects(sw_obj_kind(doc))) {
        json_object_put(more.fields); /* has its own entry, with its recipe */
    } else {
        takeover_add(t, TAKEOVER_ADOPTED, doc, &more);
    }
}

static int check_version(struct takeover *t, struct json_object *crd, struct json_object *version,
                         struct sw_err *err)
{
    SW_AUTO_CHARS *api_version = sw_printf("%s/%s", sw_json_str(crd, "", "spec", "group", NULL),
                                           sw_json_str(version, "", "name", NULL));
    const char *kind = sw_json_str(crd, "", "spec", "names", "kind", NULL);
    SW_AUTO_JSON *list = NULL;
    SW_ERR(why);
    int rc = find_all(t, api_version, kind, NULL, &list, &why);
    if (rc == SW_NOTFOUND)
        return 0; /* this version is not served yet */
    if (rc < 0)
        return sw_err_set(err, rc, "%s", sw_err_text(&why));
    for (size_t i = 0; i < sw_json_len(list); i++)
        check_stored(t, sw_json_find(version, "schema", "openAPIV3Schema", NULL),
                     sw_json_at(list, i));
    return 0;
}

static int check_definition(struct takeover *t, struct json_object *crd, struct sw_err *err)
{
    const struct sw_request_opts get = { .retries = RETRIES },
                                 dry_run = { .retries = RETRIES, .dry_run = true, .force = true };
    const struct sw_kind *kind;
    SW_AUTO_JSON *live = NULL;
    SW_AUTO_JSON *applied = NULL;
    SW_ERR(why);
    int rc = sw_cluster_kind(&t->preview.conn, sw_obj_api_version(crd), sw_obj_kind(crd), &kind,
                             err);
    if (rc < 0)
        return rc;
    rc = sw_cluster_get(&t->preview.conn, kind, NULL, sw_obj_name(crd), &get, &live, &why);
    if (rc == SW_NOTFOUND) {
        takeover_add(t, TAKEOVER_CREATED, crd, &(struct takeover_more){ .is_operators = true });
        return 0;
    }
    if (rc == 0)
        rc = sw_cluster_apply(&t->preview.conn, kind, NULL, sw_obj_name(crd), crd, &dry_run,
                              &applied, &why);
    if (rc < 0) {
        takeover_add(t, TAKEOVER_REFUSED, live ? live : crd,
                     &(struct takeover_more){ .why = sw_err_text(&why) });
        return 0;
    }
    SW_AUTO_JSON *before = sw_json_copy(live);
    sw_preview_strip(before);
    sw_preview_strip(applied);
    bool same = sw_json_equal(before, applied);
    takeover_add(t, same ? TAKEOVER_UNCHANGED : TAKEOVER_REPLACED, live,
                 &(struct takeover_more){ 0 });
    struct json_object *versions = sw_json_find(crd, "spec", "versions", NULL);
    for (size_t i = 0; rc == 0 && i < sw_json_len(versions); i++)
        rc = check_version(t, crd, sw_json_at(versions, i), err);
    return rc;
}

static int check_definitions(struct takeover *t, struct sw_err *err)
{
    int rc = 0;
    for (const struct sw_embedded *f = sw_deploy_crds; rc == 0 && f->name; f++) {
        SW_AUTO_JSON *crd = NULL;
        rc = sw_yaml_parse(f->text, f->len_bytes, &(struct sw_yaml_opts){ .file = f->name }, &crd,
                           err);
        if (rc == 0 && sw_streq(sw_obj_kind(crd), "CustomResourceDefinition"))
            rc = check_definition(t, crd, err);
    }
    return rc;
}

/* ---- the operator that goes --------------------------------------------------------------------
 */

/* The operators whose place slipway takes, the beginning of the names of their objects, and the
 * account as which slipway's Deployment runs on. */
static const struct operator
{
    const char *deployment, *ns, *prefix, *account;
}
operators[] = {
    { "special-resource-controller-manager", NULL, "special-resource-", NULL },
    { "das-operator", "das-operator", "das-operator", "das-operator" },
};

/* What an operator's own installation is made of, besides the Deployment. */
static const struct {
    const char *api_version, *kind;
    bool is_of_cluster;
} parts[] = {
    { "v1", "ServiceAccount", false },
    { "v1", "Service", false },
    { "rbac.authorization.k8s.io/v1", "Role", false },
    { "rbac.authorization.k8s.io/v1", "RoleBinding", false },
    { "rbac.authorization.k8s.io/v1", "ClusterRole", true },
    { "rbac.authorization.k8s.io/v1", "ClusterRoleBinding", true },
    { "monitoring.coreos.com/v1", "ServiceMonitor", false },
    { "monitoring.coreos.com/v1", "PrometheusRule", false },
};

/* An object of an operator's installation; what a recipe of slipway's makes is told already. */
static void add_installed(struct takeover *t, const struct operator* op, struct json_object *doc)
{
    bool stays = op->account && sw_streq(sw_obj_kind(doc), "ServiceAccount") &&
                 sw_streq(sw_obj_name(doc), op->account);
    if (!sw_starts_with(sw_obj_name(doc), op->prefix) || takeover_is_told(t, doc))
        return;
    takeover_add(t, stays ? TAKEOVER_ADOPTED : TAKEOVER_LEFT, doc,
                 &(struct takeover_more){ .why = stays ? "slipway's Deployment runs as it"
                                                       : "of the operator that goes" });
}

static int add_parts(struct takeover *t, const struct operator* op, struct json_object *deployment,
                     struct sw_err *err)
{
    const char *ns = sw_obj_namespace(deployment);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < SW_COUNT(parts); i++) {
        SW_AUTO_JSON *list = NULL;
        SW_ERR(why);
        rc = find_all(t, parts[i].api_version, parts[i].kind, parts[i].is_of_cluster ? NULL : ns,
                      &list, &why);
        for (size_t k = 0; k < sw_json_len(list); k++)
            add_installed(t, op, sw_json_at(list, k));
        rc = rc == SW_NOTFOUND ? 0 : rc < 0 ? sw_err_set(err, rc, "%s", sw_err_text(&why)) : 0;
    }
    return rc;
}

static int add_lease(struct takeover *t, const char *ns, struct sw_err *err)
{
    SW_AUTO_JSON *lease = NULL;
    SW_ERR(why);
    int rc = sw_cluster_find(&t->preview.conn, "coordination.k8s.io/v1", "Lease", ns, LEASE, NULL,
                             &lease, &why);
    if (rc == 0)
        takeover_add(t, TAKEOVER_UNCHANGED, lease,
                     &(struct takeover_more){
                         .why = "slipway begins when the operator before it has let go of it" });
    return rc == SW_NOTFOUND ? 0 : rc < 0 ? sw_err_set(err, rc, "%s", sw_err_text(&why)) : 0;
}

/* The Deployment goes; where its resources have their logins, slipway looks for them, too. */
static int add_operator(struct takeover *t, const struct operator* op SW_UNUSED,
                        struct json_object *deployment, struct sw_err *err)
{
    takeover_add(
        t, TAKEOVER_REPLACED, deployment,
        &(struct takeover_more){ .pods = sw_json_int(deployment, 0, "status", "replicas", NULL),
                                 .why = "slipway's Deployment of this name takes its place" });
    free((char *)t->operator_ns);
    t->operator_ns = sw_strdup(sw_obj_namespace(deployment));
    return add_lease(t, t->operator_ns, err);
}

/* Call @each with the Deployments of operators, but not slipway's own, which is in the place of one
 * already. */
static int find_operators(struct takeover *t,
                          int (*each)(struct takeover *t, const struct operator* op,
                                      struct json_object *deployment, struct sw_err *err),
                          struct sw_err *err)
{
    SW_AUTO_JSON *list = NULL;
    int rc = find_all(t, "apps/v1", "Deployment", NULL, &list, err);
    for (size_t i = 0; rc == 0 && i < sw_json_len(list); i++) {
        struct json_object *d = sw_json_at(list, i);
        for (size_t k = 0; rc == 0 && k < SW_COUNT(operators); k++) {
            const struct operator* op = & operators[k];
            if (sw_streq(sw_obj_name(d), op->deployment) &&
                (!op->ns || sw_streq(sw_obj_namespace(d), op->ns)) &&
                !sw_streq(sw_obj_label(d, "app.kubernetes.io/part-of"), "slipway"))
                rc = each(t, op, d, err);
        }
    }
    return rc;
}

/* ---- objects that no recipe asks for -----------------------------------------------------------
 */

static struct json_object *owner_of(struct json_object *doc)
{
    struct json_object *owners = sw_json_find(doc, "metadata", "ownerReferences", NULL);
    for (size_t i = 0; i < sw_json_len(owners); i++)
        if (sw_starts_with(sw_json_str(sw_json_at(owners, i), "", "apiVersion", NULL),
                           "sro.openshift.io/"))
            return sw_json_at(owners, i);
    return NULL;
}

static void add_one_more(struct takeover *t, struct json_object *doc, bool module)
{
    struct json_object *owner = owner_of(doc);
    const char *apart = sw_json_str(t->apart, NULL, sw_json_str(owner, "", "uid", NULL), NULL);
    if (!owner || takeover_is_told(t, doc))
        return;
    takeover_add(t, apart ? TAKEOVER_UNCHANGED : TAKEOVER_LEFT, doc,
                 &(struct takeover_more){
                     .resource = sw_json_str(owner, NULL, "name", NULL),
                     .why = apart    ? apart
                            : module ? "the chart does not make it for the versions that are there"
                                     : "the recipe does not make it for these nodes" });
}

/* The objects of @kind with @label that have no entry yet. */
static void add_rest(struct takeover *t, const struct sw_kind *kind, const char *label, bool module)
{
    static const char *const fields[] = { "metadata", NULL };
    SW_AUTO_JSON *list = NULL;
    SW_ERR(ignored); /* a kind whose server does not answer says nothing about the others */
    if (sw_cluster_list(&t->preview.conn, kind, NULL,
                        &(struct sw_request_opts){
                            .retries = RETRIES, .label_selector = label, .fields = fields },
                        &list, &ignored) < 0)
        return;
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *doc = sw_json_at(list, i);
        sw_json_set_str(doc, kind->api_version, "apiVersion", NULL);
        sw_json_set_str(doc, kind->kind, "kind", NULL);
        add_one_more(t, doc, module);
    }
}

static void find_rest(struct takeover *t)
{
    struct sw_kind_list kinds = sw_cluster_removable(&t->preview.conn);
    for (size_t i = 0; i < kinds.n; i++) {
        add_rest(t, kinds.items[i], SW_MODULE_OWNED_LABEL "=true", true);
        add_rest(t, kinds.items[i], SW_OWNED_LABEL "=true", false);
    }
    free(kinds.items);
}

/* ---- all of it ---------------------------------------------------------------------------------
 */

static int find_makers(struct takeover *t, const char *api_version, const char *kind,
                       struct json_object **list, struct sw_err *err)
{
    SW_ERR(why);
    int rc = find_all(t, api_version, kind, NULL, list, &why);
    return rc < 0 && rc != SW_NOTFOUND ? sw_err_set(err, rc, "%s", sw_err_text(&why)) : 0;
}

static int read_makers(struct takeover *t, struct sw_err *err)
{
    SW_AUTO_JSON *resources = NULL;
    int rc = find_makers(t, makers[0].api_version, makers[0].kind, &resources, err);
    t->resources = resources;
    for (size_t i = 0; rc == 0 && i < SW_COUNT(makers); i++) {
        SW_AUTO_JSON *list = NULL;
        rc = find_makers(t, makers[i].api_version, makers[i].kind, &list, err);
        for (size_t k = 0; rc == 0 && !t->preview.conn.signal && k < sw_json_len(list); k++)
            makers[i].plan(t, sw_json_at(list, k));
    }
    t->resources = NULL;
    return rc;
}

static int read_all(struct takeover *t, struct sw_err *err)
{
    t->preview.keep_selectors = t->opts.keep_selectors;
    int rc = sw_preview_connect(&t->preview, "takeover", &t->opts.connect, t->opts.timeout_ms, err);
    if (rc == 0)
        rc = check_definitions(t, err);
    if (rc == 0)
        rc = find_operators(t, add_operator, err);
    if (rc == 0)
        rc = read_makers(t, err);
    if (rc == 0)
        rc = find_operators(t, add_parts, err);
    if (rc == 0)
        find_rest(t);
    if (rc == 0 && t->preview.conn.signal)
        rc = sw_err_set(err, SW_CANCELED, "interrupted");
    return rc;
}

/* ---- printing ----------------------------------------------------------------------------------
 */

static struct json_object *counts_of(const struct takeover *t)
{
    struct json_object *counts = json_object_new_object();
    for (size_t i = 0; i < sw_json_len(t->entries); i++) {
        const char *change = sw_json_str(sw_json_at(t->entries, i), "", "change", NULL);
        int64_t n = sw_json_int(counts, 0, change, NULL) + 1;
        sw_json_set(counts, json_object_new_int64(n), change, NULL);
    }
    return counts;
}

static int print_json(const struct takeover *t)
{
    SW_AUTO_JSON *doc = json_object_new_object();
    sw_json_set(doc, json_object_get(t->entries), "objects", NULL);
    sw_json_set(doc, counts_of(t), "counts", NULL);
    return sw_cli_print_json(doc);
}

/* "ConfigMap ns/name"; heap. */
static char *object_text(struct json_object *entry)
{
    const char *ns = sw_json_str(entry, "", "namespace", NULL);
    return sw_printf("%s %s%s%s", sw_json_str(entry, "", "kind", NULL), ns, *ns ? "/" : "",
                     sw_json_str(entry, "", "name", NULL));
}

static void put_entry(struct printbuf *out, struct json_object *entry, int width)
{
    struct json_object *fields = sw_json_get(entry, "fields");
    int64_t pods = sw_json_int(entry, 0, "pods", NULL);
    const char *why = sw_json_str(entry, "", "why", NULL), *between = "  ";
    SW_AUTO_CHARS *object = object_text(entry);
    size_t n = sw_json_len(fields);
    bool more = pods || n || *why;
    sprintbuf(out, "%-13s  %-*s", sw_json_str(entry, "", "change", NULL), more ? width : 0, object);
    if (pods) {
        sprintbuf(out, "%s%d pod%s", between, (int)pods, pods == 1 ? "" : "s");
        between = "; ";
    }
    for (size_t i = 0; i < n && i < SHOWN_FIELDS; i++) {
        sprintbuf(out, "%s%s", between, json_object_get_string(sw_json_at(fields, i)));
        between = ", ";
    }
    if (n > SHOWN_FIELDS)
        sprintbuf(out, " and %zu more", n - SHOWN_FIELDS);
    sprintbuf(out, "%s%s\n", !*why ? "" : n || pods ? ": " : between, why);
}

static int print_text(const struct takeover *t)
{
    struct printbuf *out = printbuf_new();
    SW_AUTO_JSON *counts = counts_of(t);
    const char *between = "";
    int width = 6;
    for (size_t i = 0; i < sw_json_len(t->entries); i++) {
        SW_AUTO_CHARS *object = object_text(sw_json_at(t->entries, i));
        width = (int)strlen(object) > width ? (int)strlen(object) : width;
    }
    sprintbuf(out, "%-13s  %-*s  WHAT\n", "CHANGE", width, "OBJECT");
    for (size_t i = 0; i < sw_json_len(t->entries); i++)
        put_entry(out, sw_json_at(t->entries, i), width);
    json_object_object_foreach(counts, change, n)
    {
        sprintbuf(out, "%s%d %s", between, json_object_get_int(n), change);
        between = ", ";
    }
    sprintbuf(out, "\n");
    int rc = sw_cli_print(out->buf, (size_t)out->bpos);
    printbuf_free(out);
    return rc;
}

/* ---- the command -------------------------------------------------------------------------------
 */

static int execute(const struct sw_call *call)
{
    struct takeover t = { .opts = { .charts = "charts", .recipes = "recipes", .timeout_ms = 60000 },
                          .entries = json_object_new_array(),
                          .operator_ns = sw_strdup(SRO_NAMESPACE),
                          .told = json_object_new_object(),
                          .apart = json_object_new_object() };
    struct sw_operands rest;
    SW_ERR(err);
    sw_log_set_level(SW_LOG_WARN);
    int rc = sw_cli_parse(call, &t.opts, 0, &rest);
    if (rc) {
        rc--;
    } else if (!t.opts.plan) {
        rc = sw_cli_usage("takeover", "--plan says what would change; `make deploy SRO_COMPAT=1` "
                                      "(`make deploy-das DAS_COMPAT=1`) does it");
    } else if (read_all(&t, &err) < 0) {
        (void)sw_cli_fail("takeover", &err);
        rc = TROUBLE;
    } else {
        rc = sw_streq(t.opts.output, "json") ? print_json(&t) : print_text(&t);
        rc = rc || t.n_refused ? TROUBLE : t.n_changed ? SOME_CHANGE : NO_CHANGE;
    }
    sw_preview_done(&t.preview);
    json_object_put(t.entries);
    json_object_put(t.told);
    json_object_put(t.apart);
    free((char *)t.operator_ns);
    return rc;
}

const struct sw_command sw_command_takeover = {
    .name = "takeover",
    .args = "",
    .summary = "print what slipway in the place of SRO or DAS would change",
    .details =
        "Reads the definitions and the objects that are stored by them, the operator that goes, "
        "and what the\n"
        "recipe of each SpecialResource, SpecialResourceModule and DASOperator makes, as a dry "
        "run, and prints\n"
        "for each object:\n"
        "\n"
        "  unchanged      slipway does not write it\n"
        "  adopted        it gets slipway's marks and nothing else changes\n"
        "  changed        these fields get other values\n"
        "  pods replaced  its pods are, since the template changes\n"
        "  replaced       a definition, or the operator's Deployment: slipway's takes its place\n"
        "  created        it is not there yet\n"
        "  deleted        it goes\n"
        "  left           nobody looks after it any more\n"
        "  refused        it cannot be taken over, and why\n"
        "\n"
        "A chart in the operator's image (file:///charts/...) is read from --charts, a recipe in "
        "slipway's from\n"
        "--recipes. Secrets with logins and ConfigMaps are read as the account that the resource "
        "names, and dry runs\n"
        "are made as it; who may not act as it has the API server asked for each object whether it "
        "may write it.\n"
        "Nothing is written.\n"
        "\n"
        "Exit status: 0 what runs goes on as it is, 1 changes, 2 errors, or something is refused.",
    .flags = flags,
    .execute = execute,
};
