/* The roles and bindings of a new cluster, and the rules of aggregated ClusterRoles. Source: the
 * default roles in Kubernetes "Using RBAC Authorization", and what a kube-apiserver 1.20 creates.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/authorization/policy.h"
#include "emulator/authorization/rules.h"
#include "emulator/store/document.h"
#include "emulator/store/store.h"
#include "emulator/write/write.h"

#define READ "get list watch"
#define CHANGE "create delete deletecollection patch update"
#define ALL "create delete deletecollection get list patch update watch"

/* Rules of one role stand together. */
static const struct {
    const char *role;
    const char *group, *resources, *verbs; /* separated by spaces; group NULL: paths */
} rows[] = {
    { "cluster-admin", "*", "*", "*" },
    { "cluster-admin", NULL, "*", "*" },
    { "system:discovery", NULL,
      "/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/",
      "get" },
    { "system:service-account-issuer-discovery", NULL,
      "/.well-known/openid-configuration /openid/v1/jwks", "get" },
    { "system:public-info-viewer", NULL, "/healthz /livez /readyz /version /version/", "get" },
    { "system:basic-user", "authorization.k8s.io",
      "selfsubjectaccessreviews selfsubjectrulesreviews", "create" },
    { "system:basic-user", "authentication.k8s.io", "selfsubjectreviews", "create" },
    { "system:auth-delegator", "authentication.k8s.io", "tokenreviews", "create" },
    { "system:auth-delegator", "authorization.k8s.io", "subjectaccessreviews", "create" },
    { "system:kube-scheduler", "", "events", "create patch update" },
    { "system:kube-scheduler", "events.k8s.io", "events", "create patch update" },
    { "system:kube-scheduler", "coordination.k8s.io", "leases", "create get list update watch" },
    { "system:kube-scheduler", "", "nodes namespaces", READ },
    { "system:kube-scheduler", "", "pods", "delete get list watch" },
    { "system:kube-scheduler", "", "bindings pods/binding", "create" },
    { "system:kube-scheduler", "", "pods/status", "patch update" },
    { "system:kube-scheduler", "", "replicationcontrollers services", READ },
    { "system:kube-scheduler", "apps", "replicasets statefulsets", READ },
    { "system:kube-scheduler", "policy", "poddisruptionbudgets", READ },
    { "system:kube-scheduler", "", "persistentvolumeclaims persistentvolumes", READ },
    { "system:kube-scheduler", "authentication.k8s.io", "tokenreviews", "create" },
    { "system:kube-scheduler", "authorization.k8s.io", "subjectaccessreviews", "create" },
    { "system:kube-scheduler", "storage.k8s.io", "csidrivers csinodes csistoragecapacities", READ },
    { "system:node", "authentication.k8s.io", "tokenreviews", "create" },
    { "system:node", "authorization.k8s.io", "localsubjectaccessreviews subjectaccessreviews",
      "create" },
    { "system:node", "", "services", READ },
    { "system:node", "", "nodes", "create get list watch" },
    { "system:node", "", "nodes/status", "patch update" },
    { "system:node", "", "nodes", "patch update" },
    { "system:node", "", "events", "create patch update" },
    { "system:node", "events.k8s.io", "events", "create patch update" },
    { "system:node", "", "pods", READ },
    { "system:node", "", "pods", "create delete" },
    { "system:node", "", "pods/status", "patch update" },
    { "system:node", "", "pods/eviction", "create" },
    { "system:node", "", "configmaps secrets", READ },
    { "system:node", "", "persistentvolumeclaims persistentvolumes", "get" },
    { "system:node", "", "endpoints", "get" },
    { "system:node", "certificates.k8s.io", "certificatesigningrequests", "create get list watch" },
    { "system:node", "coordination.k8s.io", "leases", "create delete get patch update" },
    { "system:node", "storage.k8s.io", "volumeattachments", "get" },
    { "system:node", "", "serviceaccounts/token", "create" },
    { "system:node", "", "persistentvolumeclaims/status", "get patch update" },
    { "system:node", "storage.k8s.io", "csidrivers", READ },
    { "system:node", "storage.k8s.io", "csinodes", "create delete get patch update" },
    { "system:node", "node.k8s.io", "runtimeclasses", READ },
    { "system:node", "resource.k8s.io", "resourceclaims", "get" },
    { "system:node", "resource.k8s.io", "resourceslices", "deletecollection" },
    { "system:volume-scheduler", "", "persistentvolumes", "get list patch update watch" },
    { "system:volume-scheduler", "storage.k8s.io", "storageclasses", READ },
    { "system:volume-scheduler", "", "persistentvolumeclaims", "get list patch update watch" },
    { "system:aggregate-to-view", "",
      "configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods "
      "replicationcontrollers replicationcontrollers/scale serviceaccounts services "
      "services/status",
      READ },
    { "system:aggregate-to-view", "",
      "bindings events limitranges namespaces/status pods/log pods/status "
      "replicationcontrollers/status resourcequotas resourcequotas/status",
      READ },
    { "system:aggregate-to-view", "", "namespaces", READ },
    { "system:aggregate-to-view", "discovery.k8s.io", "endpointslices", READ },
    { "system:aggregate-to-view", "apps",
      "controllerrevisions daemonsets daemonsets/status deployments deployments/scale "
      "deployments/status replicasets replicasets/scale replicasets/status statefulsets "
      "statefulsets/scale statefulsets/status",
      READ },
    { "system:aggregate-to-view", "autoscaling",
      "horizontalpodautoscalers horizontalpodautoscalers/status", READ },
    { "system:aggregate-to-view", "batch", "cronjobs cronjobs/status jobs jobs/status", READ },
    { "system:aggregate-to-view", "policy", "poddisruptionbudgets poddisruptionbudgets/status",
      READ },
    { "system:aggregate-to-view", "networking.k8s.io", "ingresses ingresses/status networkpolicies",
      READ },
    { "system:aggregate-to-edit", "",
      "pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy", READ },
    { "system:aggregate-to-edit", "", "serviceaccounts", "impersonate" },
    { "system:aggregate-to-edit", "", "pods pods/attach pods/exec pods/portforward pods/proxy",
      CHANGE },
    { "system:aggregate-to-edit", "", "pods/eviction", "create" },
    { "system:aggregate-to-edit", "",
      "configmaps events persistentvolumeclaims replicationcontrollers "
      "replicationcontrollers/scale "
      "secrets serviceaccounts services services/proxy",
      CHANGE },
    { "system:aggregate-to-edit", "", "serviceaccounts/token", "create" },
    { "system:aggregate-to-edit", "apps",
      "daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale "
      "statefulsets statefulsets/scale",
      CHANGE },
    { "system:aggregate-to-edit", "autoscaling", "horizontalpodautoscalers", CHANGE },
    { "system:aggregate-to-edit", "batch", "cronjobs jobs", CHANGE },
    { "system:aggregate-to-edit", "policy", "poddisruptionbudgets", CHANGE },
    { "system:aggregate-to-edit", "networking.k8s.io", "ingresses networkpolicies", CHANGE },
    { "system:aggregate-to-edit", "coordination.k8s.io", "leases", ALL },
    { "system:aggregate-to-admin", "authorization.k8s.io", "localsubjectaccessreviews", "create" },
    { "system:aggregate-to-admin", RBAC_GROUP, "rolebindings roles", ALL },
};

/* Labels by which roles are put together: a role with one is part of that aggregated one. */
static const struct {
    const char *role, *label;
} labels[] = {
    { "system:aggregate-to-view", "aggregate-to-view" },
    { "system:aggregate-to-edit", "aggregate-to-edit" },
    { "system:aggregate-to-admin", "aggregate-to-admin" },
    { "view", "aggregate-to-edit" },
    { "edit", "aggregate-to-admin" },
};
static const char *const aggregated[] = { "admin", "edit", "view" };

static const struct {
    const char *role, *group;
} bindings[] = {
    { "cluster-admin", "system:masters" },
    { "system:discovery", "system:authenticated" },
    { "system:basic-user", "system:authenticated" },
    { "system:service-account-issuer-discovery", "system:serviceaccounts" },
    { "system:public-info-viewer", "system:authenticated" },
    { "system:public-info-viewer", "system:unauthenticated" },
};

struct sw_rbac {
    struct sw_store *store;
    struct sw_subscription *roles;
};

static json_object *split(const char *text)
{
    json_object *list = json_object_new_array();
    for (; *text; text += *text == ' ') {
        const size_t len = strcspn(text, " ");
        json_object_array_add(list, json_object_new_string_len(text, (int)len));
        text += len;
    }
    if (!sw_json_len(list)) /* the group "" */
        json_object_array_add(list, sw_str(""));
    return list;
}

static json_object *new_object(const char *kind, const char *name)
{
    json_object *doc = json_object_new_object();
    sw_json_set_str(doc, RBAC_GROUP "/v1", "apiVersion", NULL);
    sw_json_set_str(doc, kind, "kind", NULL);
    sw_json_set_str(doc, name, "metadata", "name", NULL);
    sw_json_set_str(doc, "true", "metadata", "annotations",
                    "rbac.authorization.kubernetes.io/autoupdate", NULL);
    sw_json_set_str(doc, "rbac-defaults", "metadata", "labels", "kubernetes.io/bootstrapping",
                    NULL);
    return doc;
}

/* Takes @doc. */
static void create(struct sw_store *store, const char *ns, json_object *doc)
{
    static const struct sw_store_opts opts = { .manager = "kube-apiserver" };
    SW_AUTO_JSON *mine = doc;
    SW_STATUS(status);
    const struct sw_emu_kind *kind = sw_store_kind(store, RBAC_GROUP,
                                                   sw_json_str(doc, "", "kind", NULL));
    if (sw_store_create(store, kind, ns, mine, &opts, NULL, &status) < 0) {
        sw_log(SW_LOG_ERROR, "cannot seed the cluster", "role", sw_obj_name(mine), "why",
               status.message, NULL);
        abort(); /* our own text */
    }
}

static void add_labels(json_object *doc)
{
    for (size_t i = 0; i < SW_COUNT(labels); i++) {
        SW_AUTO_CHARS *key = sw_printf("rbac.authorization.k8s.io/%s", labels[i].label);
        if (sw_streq(labels[i].role, sw_obj_name(doc)))
            sw_json_set_str(doc, "true", "metadata", "labels", key, NULL);
    }
}

static json_object *new_rule(size_t row)
{
    json_object *rule = json_object_new_object();
    if (rows[row].group) {
        sw_json_set(rule, split(rows[row].group), "apiGroups", NULL);
        sw_json_set(rule, split(rows[row].resources), "resources", NULL);
    } else {
        sw_json_set(rule, split(rows[row].resources), "nonResourceURLs", NULL);
    }
    sw_json_set(rule, split(rows[row].verbs), "verbs", NULL);
    return rule;
}

/* Whether a rule is of later releases, which have its kind. */
static bool is_newer(struct sw_store *store, size_t row)
{
    static const char *const kinds[][2] = { { "selfsubjectreviews", "SelfSubjectReview" },
                                            { "resourceclaims", "ResourceClaim" },
                                            { "resourceslices", "ResourceSlice" } };
    for (size_t i = 0; i < SW_COUNT(kinds); i++) {
        if (!sw_streq(rows[row].resources, kinds[i][0]))
            continue;
        const struct sw_emu_kind *kind = sw_store_kind(store, rows[row].group, kinds[i][1]);
        return !kind || !kind->served;
    }
    return false;
}

bool policy_allows(const char *role, const struct sw_attributes *what)
{
    bool allowed = false;
    for (size_t i = 0; i < SW_COUNT(rows) && !allowed; i++) {
        if (!sw_streq(rows[i].role, role))
            continue;
        SW_AUTO_JSON *rule = new_rule(i);
        allowed = rule_allows(rule, what);
    }
    return allowed;
}

static void create_roles(struct sw_store *store)
{
    for (size_t i = 0, next; i < SW_COUNT(rows); i = next) {
        json_object *doc = new_object("ClusterRole", rows[i].role);
        json_object *rules = sw_json_need_list(doc, "rules", NULL);
        add_labels(doc);
        for (next = i; next < SW_COUNT(rows) && sw_streq(rows[next].role, rows[i].role); next++) {
            if (is_newer(store, next))
                continue;
            json_object_array_add(rules, new_rule(next));
        }
        create(store, NULL, doc);
    }
    for (size_t i = 0; i < SW_COUNT(aggregated); i++) {
        json_object *doc = new_object("ClusterRole", aggregated[i]);
        SW_AUTO_CHARS *key = sw_printf("rbac.authorization.k8s.io/aggregate-to-%s", aggregated[i]);
        json_object *selector = json_object_new_object();
        add_labels(doc);
        sw_json_set_str(selector, "true", "matchLabels", key, NULL);
        json_object_array_add(
            sw_json_need_list(doc, "aggregationRule", "clusterRoleSelectors", NULL), selector);
        create(store, NULL, doc);
    }
}

static void create_bindings(struct sw_store *store)
{
    for (size_t i = 0, next; i < SW_COUNT(bindings); i = next) {
        json_object *doc = new_object("ClusterRoleBinding", bindings[i].role);
        json_object *subjects = sw_json_need_list(doc, "subjects", NULL);
        sw_json_set_str(doc, RBAC_GROUP, "roleRef", "apiGroup", NULL);
        sw_json_set_str(doc, "ClusterRole", "roleRef", "kind", NULL);
        sw_json_set_str(doc, bindings[i].role, "roleRef", "name", NULL);
        for (next = i; next < SW_COUNT(bindings) && sw_streq(bindings[next].role, bindings[i].role);
             next++) {
            json_object *subject = json_object_new_object();
            sw_json_set_str(subject, RBAC_GROUP, "apiGroup", NULL);
            sw_json_set_str(subject, "Group", "kind", NULL);
            sw_json_set_str(subject, bindings[next].group, "name", NULL);
            json_object_array_add(subjects, subject);
        }
        create(store, NULL, doc);
    }
}

/* Who serves an extension API may read how the API server authenticates. */
static void create_reader(struct sw_store *store)
{
    json_object *doc = new_object("Role", "extension-apiserver-authentication-reader");
    json_object *rule = json_object_new_object();
    sw_json_set(rule, split(""), "apiGroups", NULL);
    sw_json_set(rule, split("configmaps"), "resources", NULL);
    sw_json_set(rule, split("extension-apiserver-authentication"), "resourceNames", NULL);
    sw_json_set(rule, split(READ), "verbs", NULL);
    json_object_array_add(sw_json_need_list(doc, "rules", NULL), rule);
    create(store, "kube-system", doc);
}

/* ---- aggregation -------------------------------------------------------------------------------
 */

static bool selects(json_object *selectors, json_object *role)
{
    for (size_t i = 0; i < sw_json_len(selectors); i++) {
        struct sw_selector s = { 0 };
        const bool is = sw_selector_from_object(sw_json_at(selectors, i), &s, NULL) == 0 &&
                        sw_selector_matches(&s, sw_json_find(role, "metadata", "labels", NULL));
        sw_selector_done(&s);
        if (is)
            return true;
    }
    return false;
}

static bool has_rule(json_object *rules, json_object *rule)
{
    for (size_t i = 0; i < sw_json_len(rules); i++)
        if (sw_json_equal(sw_json_at(rules, i), rule))
            return true;
    return false;
}

static json_object *rules_together(const struct sw_store_list *roles, json_object *of)
{
    json_object *out = json_object_new_array();
    json_object *selectors = sw_json_find(of, "aggregationRule", "clusterRoleSelectors", NULL);
    for (size_t i = 0; i < roles->n; i++) {
        json_object *rules = sw_json_get(roles->items[i], "rules");
        if (sw_streq(sw_obj_name(roles->items[i]), sw_obj_name(of)) ||
            !selects(selectors, roles->items[i]))
            continue;
        for (size_t r = 0; r < sw_json_len(rules); r++)
            if (!has_rule(out, sw_json_at(rules, r)))
                json_object_array_add(out, json_object_get(sw_json_at(rules, r)));
    }
    return out;
}

static int set_rules(json_object *doc, void *rules)
{
    json_object_object_add(doc, "rules", json_object_get(rules));
    return 0;
}

/* What changes is told of again, until nothing does. */
static void on_role(const struct sw_store_event *e, void *arg)
{
    static const struct sw_store_opts opts = { .manager = "clusterrole-aggregation-controller" };
    struct sw_rbac *rbac = arg;
    SW_STORE_LIST(roles);
    if (e->type == SW_STORE_MODIFIED && e->old &&
        sw_json_equal(sw_json_get(e->old, "rules"), sw_json_get(e->object, "rules")) &&
        sw_json_equal(sw_json_find(e->old, "metadata", "labels", NULL),
                      sw_json_find(e->object, "metadata", "labels", NULL)) &&
        sw_json_equal(sw_json_get(e->old, "aggregationRule"),
                      sw_json_get(e->object, "aggregationRule")))
        return;
    sw_store_list(rbac->store, e->kind, NULL, &roles);
    for (size_t i = 0; i < roles.n; i++) {
        if (!sw_json_get(roles.items[i], "aggregationRule"))
            continue;
        SW_AUTO_JSON *rules = rules_together(&roles, roles.items[i]);
        if (!sw_json_equal(rules, sw_json_get(roles.items[i], "rules")))
            (void)sw_store_modify(rbac->store, e->kind, NULL, sw_obj_name(roles.items[i]), &opts,
                                  set_rules, rules, NULL);
    }
}

struct sw_rbac *sw_rbac_new(struct sw_store *store)
{
    struct sw_rbac *rbac = sw_zalloc(1, sizeof *rbac);
    rbac->store = store;
    create_roles(store);
    create_bindings(store);
    create_reader(store);
    rbac->roles = sw_store_subscribe(store, sw_store_kind(store, RBAC_GROUP, "ClusterRole"),
                                     on_role, rbac);
    return rbac;
}

void sw_rbac_free(struct sw_rbac *rbac)
{
    if (!rbac)
        return;
    sw_store_unsubscribe(rbac->roles);
    free(rbac);
}
