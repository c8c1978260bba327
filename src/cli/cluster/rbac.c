#include "cli/cluster/rbac.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "data/json/hash.h"
#include "emulator/store/kinds.h"
#include "operator/engine/readiness/gate.h"
#include "operator/engine/readiness/pod_maker.h"
#include "operator/manifests/hooks.h"

#define RBAC_GROUP "rbac.authorization.k8s.io"
#define SRO_GROUP "sro.openshift.io"
#define RBAC_VERSION RBAC_GROUP "/v1"
#define PULLERS "system:image-pullers" /* a RoleBinding of each OpenShift namespace */

/* Rights by scope, which is a namespace or "" for the cluster. */
struct rights {
    const struct sw_rbac_opts *opts;
    const struct sw_rendered *rendered;
    struct json_object *by_scope; /* {scope: {"group\nresource\nname": {verb: true}}} */
    struct json_object *held;     /* {scope: [rule]}: rules of the recipe's roles */
    /* As by_scope: what the operator does itself if the resource has an account. Objects are read
     * and written as that account; watches and release records are not. */
    struct json_object *own;
    char *account; /* whom by_scope is for; NULL: the operator */
};

/* What is known of a kind without a cluster. */
struct kind_facts {
    char *group;    /* heap */
    char *resource; /* heap */
    bool namespaced;
};

static void kind_facts_done(struct kind_facts *k)
{
    free(k->group);
    free(k->resource);
}

/* ---- kinds --------------------------------------------------------------------------------------
 */

/* A kind of Kubernetes itself, or of OpenShift; NULL: it is neither. */
static const struct sw_builtin *find_builtin(const char *group, const char *kind)
{
    for (size_t i = 0; i < sw_n_builtins; i++)
        if (sw_streq(sw_builtins[i].group, group) && sw_streq(sw_builtins[i].kind, kind))
            return &sw_builtins[i];
    return NULL;
}

/* @namespaced: the default for kinds that are neither built in nor defined by the recipe */
static struct kind_facts facts_of_kind(const struct rights *r, const char *api_version,
                                       const char *kind, bool namespaced)
{
    const char *slash = strchr(api_version, '/');
    struct kind_facts k = {
        .group = sw_strndup(api_version, slash ? (size_t)(slash - api_version) : 0),
        .namespaced = namespaced,
    };
    const struct sw_builtin *b = find_builtin(k.group, kind);
    if (b) {
        k.resource = sw_strdup(b->plural);
        k.namespaced = b->flags & SW_K_NAMESPACED;
    }
    for (size_t i = 0; i < sw_rendered_n_manifests(r->rendered) && !k.resource; i++) {
        struct json_object *crd = sw_rendered_manifest(r->rendered, i)->doc;
        if (!sw_streq(sw_obj_kind(crd), "CustomResourceDefinition") ||
            !sw_streq(sw_json_str(crd, "", "spec", "group", NULL), k.group) ||
            !sw_streq(sw_json_str(crd, "", "spec", "names", "kind", NULL), kind))
            continue;
        k.resource = sw_strdup(sw_json_str(crd, "", "spec", "names", "plural", NULL));
        k.namespaced = sw_streq(sw_json_str(crd, "", "spec", "scope", NULL), "Namespaced");
    }
    if (k.resource)
        return k;
    /* as Kubernetes' meta.UnsafeGuessKindToResource, and a name that it gets wrong */
    SW_AUTO_CHARS *lower = sw_strdup(kind);
    for (char *c = lower; *c; c++)
        *c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
    if (sw_streq(lower, "securitycontextconstraints") || sw_streq(lower, "endpoints"))
        k.resource = SW_TAKE(lower);
    else if (sw_ends_with(lower, "y"))
        k.resource = sw_printf("%.*sies", (int)strlen(lower) - 1, lower);
    else
        k.resource = sw_printf("%s%s", lower, sw_ends_with(lower, "s") ? "es" : "s");
    return k;
}

/* ---- collecting ---------------------------------------------------------------------------------
 */

static bool is_rendered(const struct rights *r, const char *kind, const char *name)
{
    for (size_t i = 0; i < sw_rendered_n_manifests(r->rendered); i++) {
        struct json_object *doc = sw_rendered_manifest(r->rendered, i)->doc;
        if (sw_streq(sw_obj_kind(doc), kind) && sw_streq(sw_obj_name(doc), name))
            return true;
    }
    return false;
}

/* A namespace that the recipe creates does not exist yet when the Roles are applied. */
static const char *scope_of(const struct rights *r, const char *ns)
{
    return r->opts->cluster_wide || is_rendered(r, "Namespace", ns) ? "" : ns;
}

static void add_verbs(struct json_object *scopes, const char *scope, const char *key,
                      const char *const *verbs)
{
    for (; *verbs; verbs++)
        sw_json_set(scopes, json_object_new_boolean(true), scope, key, *verbs, NULL);
}

/* Rights of the account. @ns "": in the whole cluster; @name NULL: any name; @verbs ends with NULL.
 */
static void allow(struct rights *r, const char *ns, const char *group, const char *resource,
                  const char *name, const char *const *verbs)
{
    SW_AUTO_CHARS *key = sw_printf("%s\n%s\n%s", group, resource, name ? name : "");
    add_verbs(r->by_scope, scope_of(r, ns), key, verbs);
}

/* Rights for what the operator does itself, not as the resource's account. */
static void allow_own(struct rights *r, const char *ns, const char *group, const char *resource,
                      const char *name, const char *const *verbs)
{
    SW_AUTO_CHARS *key = sw_printf("%s\n%s\n%s", group, resource, name ? name : "");
    add_verbs(r->account ? r->own : r->by_scope, scope_of(r, ns), key, verbs);
}

static const char *const read_verbs[] = { "get", "list", "watch", NULL };
static const char *const write_verbs[] = { "create", "patch", "delete", NULL };
static const char *const release_verbs[] = { "get", "list", "create", "patch", "delete", NULL };
static const char *const get_verb[] = { "get", NULL };
static const char *const list_verb[] = { "list", NULL };
static const char *const watch_verb[] = { "watch", NULL };
static const char *const all_verbs[] = {
    "get", "list", "watch", "create", "patch", "delete", NULL
};
static const char *const bind_verb[] = { "bind", NULL };
static const char *const hand_on_verbs[] = { "bind", "escalate", NULL };

static const char *ns_of(const struct rights *r, const struct sw_manifest *m)
{
    return sw_json_str(m->doc, m->namespace ? m->namespace : r->opts->ns, "metadata", "namespace",
                       NULL);
}

/* Pods of @ns say why something is not ready. */
static void allow_pods(struct rights *r, const char *ns)
{
    allow_own(r, ns, "", "pods", NULL, read_verbs);
    allow(r, ns, "", "pods/log", NULL, get_verb);
    allow(r, ns, "", "events", NULL, list_verb);
}

static bool is_subscription(struct json_object *doc)
{
    return sw_is_subscription(sw_obj_api_version(doc), sw_obj_kind(doc));
}

/* Where the operator has its pods that makes @m ready, a Subscription or what it says is for one
 * (engine/late_workers.c); NULL: there is none, or its status alone says where. @ns: of @m; NULL:
 * it has none. */
static const char *operator_namespace(const struct rights *r, const struct sw_manifest *m,
                                      const char *ns)
{
    if (is_subscription(m->doc))
        return ns;
    const char *api = sw_obj_api_version(m->doc), *slash = strchr(api, '/');
    SW_AUTO_CHARS *group = sw_strndup(api, slash ? (size_t)(slash - api) : 0);
    bool is_theirs = sw_streq(sw_obj_annotation(m->doc, SW_ANN_OBSERVE), "true") ||
                     sw_streq(sw_obj_annotation(m->doc, SW_ANN_HOLD), "true") ||
                     sw_obj_annotation(m->doc, SW_ANN_NODE_LABELS) ||
                     sw_obj_annotation(m->doc, SW_ANN_NODE_RESOURCES);
    if (!is_theirs || find_builtin(group, sw_obj_kind(m->doc)))
        return NULL;
    for (size_t i = 0; i < sw_rendered_n_manifests(r->rendered); i++) {
        const struct sw_manifest *other = sw_rendered_manifest(r->rendered, i);
        if (other->state == m->state && is_subscription(other->doc))
            return NULL; /* which is asked, too */
    }
    return ns && !sw_pods_are_of_many(ns) ? ns : NULL;
}

/* Objects of a kind are watched by slipway's label in all namespaces. The readiness of what makes
 * pods is read from the pods. */
static void allow_object(struct rights *r, const struct sw_manifest *m)
{
    struct json_object *doc = m->doc;
    const char *ns = ns_of(r, m), *kind = sw_obj_kind(doc);
    struct kind_facts k = facts_of_kind(r, sw_obj_api_version(doc), kind, *sw_obj_namespace(doc));
    if (r->opts->module) { /* all as its account, which waits for them and deletes them, too */
        allow(r, k.namespaced ? ns : "", k.group, k.resource, NULL, all_verbs);
        if (sw_streq(kind, "BuildConfig"))
            allow(r, ns, k.group, "builds", NULL, read_verbs);
        kind_facts_done(&k);
        return;
    }
    if (!sw_streq(kind, "Pod"))
        allow_own(r, "", k.group, k.resource, NULL, read_verbs);
    allow(r, k.namespaced ? ns : "", k.group, k.resource, NULL, get_verb);
    allow(r, k.namespaced ? ns : "", k.group, k.resource, NULL, write_verbs);
    const char *operators = operator_namespace(r, m, k.namespaced ? ns : NULL);
    if (sw_pod_maker_find(kind))
        allow_pods(r, ns);
    if (operators)
        allow_pods(r, operators);
    if (sw_streq(kind, "BuildConfig")) {
        allow_own(r, ns, k.group, "builds", NULL, read_verbs);
        allow(r, ns, k.group, "buildconfigs/instantiate", NULL,
              (const char *const[]){ "create", NULL });
    }
    if (sw_streq(kind, "Subscription") && sw_obj_annotation(doc, SW_APPROVE_INSTALL_PLAN))
        allow(r, ns, k.group, "installplans", NULL, (const char *const[]){ "get", "patch", NULL });
    kind_facts_done(&k);
}

/* To create a role, an account must have the rights in it, or the verb escalate. */
static void allow_role(struct rights *r, const struct sw_manifest *m)
{
    struct json_object *doc = m->doc;
    bool everywhere = sw_streq(sw_obj_kind(doc), "ClusterRole");
    const char *ns = everywhere ? "" : ns_of(r, m);
    struct json_object *rules = sw_json_get(doc, "rules");
    if (r->opts->escalate || (everywhere && sw_json_get(doc, "aggregationRule"))) {
        allow(r, ns, RBAC_GROUP, everywhere ? "clusterroles" : "roles", sw_obj_name(doc),
              hand_on_verbs);
        return;
    }
    struct json_object *held = sw_json_need_list(r->held, scope_of(r, ns), NULL);
    for (size_t i = 0; i < sw_json_len(rules); i++)
        (void)json_object_array_add(held, json_object_get(sw_json_at(rules, i)));
}

/* Lookups are requests of the account that writes the objects. */
static void allow_lookups(struct rights *r)
{
    for (size_t i = 0; i < sw_json_len(r->opts->lookups); i++) {
        struct json_object *l = sw_json_at(r->opts->lookups, i);
        const char *ns = sw_json_str(l, "", "namespace", NULL),
                   *name = sw_json_str(l, "", "name", NULL);
        struct kind_facts k = facts_of_kind(r, sw_json_str(l, "", "apiVersion", NULL),
                                            sw_json_str(l, "", "kind", NULL), *ns != '\0');
        SW_AUTO_CHARS *key = sw_printf("%s\n%s\n%s", k.group, k.resource, name);
        add_verbs(r->by_scope, scope_of(r, k.namespaced ? ns : ""), key,
                  *name ? get_verb : list_verb);
        kind_facts_done(&k);
    }
}

/* Objects that a module watches for versions. */
static void allow_version_watches(struct rights *r)
{
    struct json_object *list = sw_json_find(r->opts->module, "spec", "watch", NULL);
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *w = sw_json_at(list, i);
        const char *ns = sw_json_str(w, "", "namespace", NULL),
                   *name = sw_json_str(w, "", "name", NULL);
        struct kind_facts k = facts_of_kind(r, sw_json_str(w, "", "apiVersion", NULL),
                                            sw_json_str(w, "", "kind", NULL), *ns != '\0');
        allow(r, k.namespaced ? ns : "", k.group, k.resource, *name ? name : NULL, read_verbs);
        kind_facts_done(&k);
    }
}

/* A recipe in a ConfigMap is read as the account; the operator sees when it changes. */
static void allow_config_map(struct rights *r)
{
    const char *map = r->opts->config_map, *slash = map ? strchr(map, '/') : NULL;
    if (!slash)
        return;
    SW_AUTO_CHARS *ns = sw_strndup(map, (size_t)(slash - map));
    allow(r, ns, "", "configmaps", slash + 1, get_verb);
    allow_own(r, ns, "", "configmaps", slash + 1, watch_verb);
}

/* That Secret, and in its namespace alone. */
static void allow_login(struct rights *r, const char *login)
{
    const char *slash = strchr(login, '/');
    SW_AUTO_CHARS *ns = slash ? sw_strndup(login, (size_t)(slash - login))
                              : sw_strdup(r->opts->operator_ns);
    SW_AUTO_CHARS *key = sw_printf("\nsecrets\n%s", slash ? slash + 1 : login);
    add_verbs(r->by_scope, ns, key, get_verb);
}

/* Who shares which objects is written on a namespace, which is there or rendered. */
static void allow_shared_objects(struct rights *r)
{
    const struct sw_plan *plan = r->opts->plan;
    for (size_t i = 0; i < sw_rendered_n_manifests(r->rendered); i++) {
        const struct sw_manifest *m = sw_rendered_manifest(r->rendered, i);
        const struct sw_recipe_state *state = sw_plan_state(plan, m->state);
        if (!sw_state_shares(state, m->doc))
            continue;
        SW_AUTO_CHARS *ns = sw_strndup(state->shared_objects, strcspn(state->shared_objects, "/"));
        allow(r, "", "", "namespaces", ns, (const char *const[]){ "get", "patch", NULL });
    }
}

/* What only a SpecialResource needs. */
static void allow_walk(struct rights *r)
{
    static const char *const patch_verb[] = { "patch", NULL };
    static const char *const create_verb[] = { "create", NULL };
    const struct sw_rbac_opts *o = r->opts;
    if (o->cluster_wide)
        allow(r, "", "", "namespaces", NULL,
              (const char *const[]){ "get", "create", "patch", "delete", NULL });
    else
        allow(r, "", "", "namespaces", o->ns,
              (const char *const[]){ "get", "patch", "delete", NULL });
    if (!o->cluster_wide)
        allow_shared_objects(r);
    /* OpenShift's builder may pull images of the namespace */
    allow(r, o->ns, RBAC_GROUP, "rolebindings", PULLERS, patch_verb);
    allow(r, o->ns, RBAC_GROUP, "clusterroles", "system:image-puller", bind_verb);
    allow_own(r, o->ns, RBAC_GROUP, "rolebindings", PULLERS, read_verbs);
    /* to own objects in a way that blocks the owner's deletion, where the cluster asks for that */
    allow(r, "", SRO_GROUP, "specialresources/finalizers", o->name,
          (const char *const[]){ "update", NULL });
    if (o->priority_classes) {
        allow_own(r, "", "scheduling.k8s.io", "priorityclasses", NULL, read_verbs);
        allow(r, "", "scheduling.k8s.io", "priorityclasses", NULL, get_verb);
        allow(r, "", "scheduling.k8s.io", "priorityclasses", NULL, write_verbs);
    }
    if (o->upgrades) { /* spec.upgradePolicy: old drivers' pods, and those of nodes that it drains
                        */
        allow(r, "", "", "pods", NULL, (const char *const[]){ "get", "delete", NULL });
        allow(r, "", "", "pods/eviction", NULL, (const char *const[]){ "create", NULL });
        allow_own(r, "", "", "pods", NULL, read_verbs);
    }
    if (o->secrets)
        allow(r, o->ns, "", "secrets", NULL, read_verbs);
    if (o->feature_gates) { /* by dry runs, which RBAC does not tell from others */
        allow(r, "", "resource.k8s.io", "resourceslices", NULL, create_verb);
        allow(r, "", "resource.k8s.io", "deviceclasses", NULL, create_verb);
    }
    if (o->login)
        allow_login(r, o->login);
    /* releases are recorded beside the recipe's objects, for helm */
    allow_own(r, o->ns, "", "configmaps", NULL, release_verbs);
    allow_own(r, o->ns, "", "secrets", NULL, release_verbs);
}

/* What `slipway run` does itself, whatever the recipe: an operator has it from its own manifests
 * (charts/slipway). The definitions of slipway's own kinds must be there. */
static void allow_run(struct rights *r)
{
    static const struct {
        const char *ns, *group, *resource;
        const char *verbs[8];
    } own[] = {
        { "",
          SRO_GROUP,
          "specialresources",
          { "get", "list", "watch", "create", "update", "patch", "delete" } },
        { "", SRO_GROUP, "specialresources/status", { "get", "patch" } },
        { "", "apiextensions.k8s.io", "customresourcedefinitions", { "get", "list", "watch" } },
        { "", "", "nodes", { "get", "list", "watch", "patch" } },
        { "", "", "namespaces", { "get", "list", "watch" } },
        { "", "", "events", { "list", "create", "patch" } },
        /* whether an operator leads; whose turn it is */
        { "", "coordination.k8s.io", "leases", { "list" } },
        { "default", "coordination.k8s.io", "leases", { "get", "create", "update", "delete" } },
    };
    for (size_t i = 0; i < SW_COUNT(own); i++)
        allow(r, own[i].ns, own[i].group, own[i].resource, NULL, own[i].verbs);
}

static void collect(struct rights *r)
{
    const struct sw_rbac_opts *o = r->opts;
    if (o->user)
        allow_run(r);
    allow_lookups(r);
    allow_config_map(r);
    for (size_t i = 0; i < sw_rendered_n_manifests(r->rendered); i++) {
        const struct sw_manifest *m = sw_rendered_manifest(r->rendered, i);
        struct json_object *doc = m->doc;
        allow_object(r, m);
        if (m->namespace) { /* a release of its own is recorded by the account */
            allow(r, m->namespace, "", "configmaps", NULL, release_verbs);
            allow(r, m->namespace, "", "secrets", NULL, release_verbs);
        }
        const char *kind = sw_obj_kind(doc);
        if (!sw_streq(sw_obj_api_version(doc), RBAC_VERSION))
            continue;
        if (sw_streq(kind, "ClusterRole") || sw_streq(kind, "Role")) {
            allow_role(r, m);
            continue;
        }
        /* a binding to a role that is not in the recipe, so its rules are unknown */
        const char *role_kind = sw_json_str(doc, "", "roleRef", "kind", NULL);
        const char *role = sw_json_str(doc, "", "roleRef", "name", NULL);
        if (!is_rendered(r, role_kind, role))
            allow(r, sw_streq(kind, "ClusterRoleBinding") ? "" : ns_of(r, m), RBAC_GROUP,
                  sw_streq(role_kind, "ClusterRole") ? "clusterroles" : "roles", role, bind_verb);
    }
    if (o->module) {
        allow_version_watches(r);
        if (o->cluster_wide)
            allow(r, "", "", "namespaces", NULL,
                  (const char *const[]){ "get", "create", "patch", NULL });
        /* to own objects in a way that blocks the owner's deletion */
        allow(r, "", SRO_GROUP, "specialresourcemodules/finalizers", o->name,
              (const char *const[]){ "update", NULL });
    } else {
        allow_walk(r);
    }
}

/* ---- rules --------------------------------------------------------------------------------------
 */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The keys of a map, sorted; the list is heap, the texts are the map's. */
static const char **sorted_keys(struct json_object *map, size_t *n)
{
    const char **keys = sw_zalloc((size_t)json_object_object_length(map) + 1, sizeof *keys);
    *n = 0;
    json_object_object_foreach(map, key, value)
    {
        (void)value;
        keys[(*n)++] = key;
    }
    qsort(keys, *n, sizeof *keys, by_text);
    return keys;
}

static struct json_object *list_of_one(const char *text, size_t len)
{
    struct json_object *list = json_object_new_array();
    (void)json_object_array_add(list, json_object_new_string_len(text, (int)len));
    return list;
}

/* Add the rule for @key, "group\nresource\nname", or add its resource to the last rule if the two
 * differ in nothing else. */
static void put_rule(struct json_object *rules, const char *key, struct json_object *verbs)
{
    const char *resource = strchr(key, '\n') + 1, *name = strchr(resource, '\n') + 1;
    size_t n = sw_json_len(rules);
    struct json_object *last = n ? sw_json_at(rules, n - 1) : NULL;
    struct json_object *group = list_of_one(key, (size_t)(resource - 1 - key));
    SW_AUTO_JSON *list = json_object_new_array();
    size_t n_verbs;
    const char **sorted = sorted_keys(verbs, &n_verbs);
    for (size_t i = 0; i < n_verbs; i++)
        (void)json_object_array_add(list, json_object_new_string(sorted[i]));
    free(sorted);
    if (last && !*name && !sw_json_get(last, "resourceNames") &&
        sw_json_equal(sw_json_get(last, "apiGroups"), group) &&
        sw_json_equal(sw_json_get(last, "verbs"), list)) {
        (void)json_object_array_add(
            sw_json_get(last, "resources"),
            json_object_new_string_len(resource, (int)(name - 1 - resource)));
        json_object_put(group);
        return;
    }
    struct json_object *rule = json_object_new_object();
    sw_json_set(rule, group, "apiGroups", NULL);
    sw_json_set(rule, list_of_one(resource, (size_t)(name - 1 - resource)), "resources", NULL);
    if (*name)
        sw_json_set(rule, list_of_one(name, strlen(name)), "resourceNames", NULL);
    sw_json_set(rule, json_object_get(list), "verbs", NULL);
    (void)json_object_array_add(rules, rule);
}

static struct json_object *rules_of(struct json_object *scopes, struct json_object *all_held,
                                    const char *ns)
{
    struct json_object *rules = json_object_new_array(), *map = sw_json_get(scopes, ns);
    struct json_object *held = sw_json_get(all_held, ns);
    size_t n = 0;
    const char **keys = map ? sorted_keys(map, &n) : NULL;
    for (size_t i = 0; i < n; i++)
        put_rule(rules, keys[i], sw_json_get(map, keys[i]));
    free(keys);
    for (size_t i = 0; i < sw_json_len(held); i++)
        (void)json_object_array_add(rules, json_object_get(sw_json_at(held, i)));
    return rules;
}

/* ---- manifests ----------------------------------------------------------------------------------
 */

static struct json_object *manifest(const struct sw_rbac_opts *o, const char *api_version,
                                    const char *kind, const char *name, const char *ns)
{
    struct json_object *doc = json_object_new_object();
    sw_json_set_str(doc, api_version, "apiVersion", NULL);
    sw_json_set_str(doc, kind, "kind", NULL);
    sw_json_set_str(doc, name, "metadata", "name", NULL);
    if (*ns)
        sw_json_set_str(doc, ns, "metadata", "namespace", NULL);
    sw_json_set_str(doc, "recipe", "metadata", "labels", "slipway.dev/rbac", NULL);
    sw_json_set_str(doc, o->name, "metadata", "labels", "slipway.dev/recipe", NULL);
    return doc;
}

static void put_binding(struct json_object *list, const struct sw_rbac_opts *o, const char *ns,
                        const char *role, const char *account_ns, const char *account)
{
    struct json_object *doc = manifest(o, RBAC_VERSION, *ns ? "RoleBinding" : "ClusterRoleBinding",
                                       role, ns);
    struct json_object *subject = json_object_new_object(), *subjects = json_object_new_array();
    sw_json_set_str(doc, RBAC_GROUP, "roleRef", "apiGroup", NULL);
    sw_json_set_str(doc, *ns ? "Role" : "ClusterRole", "roleRef", "kind", NULL);
    sw_json_set_str(doc, role, "roleRef", "name", NULL);
    sw_json_set_str(subject, o->user ? "User" : "ServiceAccount", "kind", NULL);
    if (o->user)
        sw_json_set_str(subject, RBAC_GROUP, "apiGroup", NULL);
    sw_json_set_str(subject, o->user ? o->user : account, "name", NULL);
    if (!o->user)
        sw_json_set_str(subject, account_ns, "namespace", NULL);
    (void)json_object_array_add(subjects, subject);
    sw_json_set(doc, subjects, "subjects", NULL);
    (void)json_object_array_add(list, doc);
}

/* What the names of roles for @user end with: no two users have the same, so that none takes the
 * other's rights away. The caller's. */
static char *user_suffix(const char *user)
{
    enum { LONGEST = 40, DIGITS = 8 };
    char digest[SW_SHA256_HEX];
    SW_AUTO_CHARS *plain = sw_strndup(user, LONGEST);
    for (char *c = plain; *c; c++)
        *c = (*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') ? *c : '-';
    if (sw_streq(plain, user))
        return sw_strdup(user);
    size_t start = strspn(plain, "-"), len = strlen(plain);
    while (len > start && plain[len - 1] == '-')
        len--;
    return sw_printf("%.*s%s%.*s", (int)(len - start), plain + start, len > start ? "-" : "",
                     DIGITS, sw_sha256_hex(user, strlen(user), digest));
}

/* Add a Role, or with @ns "" a ClusterRole. @return its name, the caller's */
static char *put_role(struct json_object *list, const struct sw_rbac_opts *o, const char *prefix,
                      const char *ns, struct json_object *rules)
{
    SW_AUTO_CHARS *suffix = o->user ? user_suffix(o->user) : NULL;
    char *name = sw_printf("%s-%s%s%s", prefix, o->name, suffix ? "." : "", suffix ? suffix : "");
    struct json_object *doc = manifest(o, RBAC_VERSION, *ns ? "Role" : "ClusterRole", name, ns);
    sw_json_set(doc, rules, "rules", NULL);
    (void)json_object_array_add(list, doc);
    return name;
}

/* Roles for @ns. The account's is named <account>-<name>, or as the account where that is the
 * default one; the operator's then slipway-watch-<name>, else slipway-<name>. */
static void put_roles(struct json_object *list, const struct rights *r, const char *ns)
{
    const struct sw_rbac_opts *o = r->opts;
    struct json_object *mine = r->account ? r->own : r->by_scope;
    bool usual = r->account && !o->service_account;
    if (sw_json_get(mine, ns)) {
        SW_AUTO_CHARS *role = put_role(list, o, usual ? "slipway-watch" : "slipway", ns,
                                       rules_of(mine, r->account ? NULL : r->held, ns));
        put_binding(list, o, ns, role, o->operator_ns, o->account);
    }
    if (r->account && (sw_json_get(r->by_scope, ns) || sw_json_get(r->held, ns))) {
        SW_AUTO_CHARS *role = put_role(list, o, usual ? "slipway" : r->account, ns,
                                       rules_of(r->by_scope, r->held, ns));
        put_binding(list, o, ns, role, o->account_ns ? o->account_ns : o->ns, r->account);
    }
}

/* The operator impersonates the account. A namespace that the recipe makes may not be there yet:
 * the role is the cluster's then. */
static void put_impersonation(struct json_object *list, const struct rights *r)
{
    const struct sw_rbac_opts *o = r->opts;
    const char *home = o->account_ns ? o->account_ns : o->ns, *ns = *scope_of(r, home) ? home : "";
    SW_AUTO_CHARS *name = sw_printf("slipway-as-%s", r->account);
    SW_AUTO_CHARS *key = sw_printf("\nserviceaccounts\n%s", r->account);
    SW_AUTO_JSON *verbs = json_object_new_object();
    struct json_object *role = manifest(o, RBAC_VERSION, *ns ? "Role" : "ClusterRole", name, ns);
    sw_json_set(verbs, json_object_new_boolean(true), "impersonate", NULL);
    put_rule(sw_json_need_list(role, "rules", NULL), key, verbs);
    if (*ns)
        (void)json_object_array_add(list, manifest(o, "v1", "ServiceAccount", r->account, ns));
    (void)json_object_array_add(list, role);
    put_binding(list, o, ns, name, o->operator_ns, o->account);
}

static void add_scopes(struct json_object *scopes, struct json_object *from)
{
    json_object_object_foreach(from, scope, unused)
    {
        (void)unused;
        (void)sw_json_need_map(scopes, scope, NULL);
    }
}

struct json_object *sw_rbac_of(const struct sw_rendered *rendered, const struct sw_rbac_opts *opts)
{
    struct rights r = { .opts = opts,
                        .rendered = rendered,
                        .by_scope = json_object_new_object(),
                        .held = json_object_new_object(),
                        .own = json_object_new_object() };
    struct json_object *list = json_object_new_array();
    SW_AUTO_JSON *scopes = json_object_new_object();
    size_t n;
    if (!opts->legacy && !opts->user)
        r.account = opts->service_account ? sw_strdup(opts->service_account)
                                          : sw_printf("slipway-%s", opts->name);
    collect(&r);
    add_scopes(scopes, r.by_scope);
    add_scopes(scopes, r.held);
    add_scopes(scopes, r.own);
    if (r.account && !opts->cluster_wide)
        (void)sw_json_need_map(scopes, scope_of(&r, opts->account_ns ? opts->account_ns : opts->ns),
                               NULL);
    const char **keys = sorted_keys(scopes, &n);
    for (size_t i = 0; i < n; i++)
        if (*keys[i] && !sw_streq(keys[i], "default") && !sw_starts_with(keys[i], "kube-"))
            (void)json_object_array_add(list, manifest(opts, "v1", "Namespace", keys[i], ""));
    for (size_t i = 0; i < n; i++)
        put_roles(list, &r, keys[i]);
    if (r.account)
        put_impersonation(list, &r);
    free(keys);
    free(r.account);
    json_object_put(r.by_scope);
    json_object_put(r.held);
    json_object_put(r.own);
    return list;
}
