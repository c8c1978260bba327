#include "emulator/authorization/rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/store/document.h"
#include "emulator/store/store.h"

/* ---- users -------------------------------------------------------------------------------------
 */

void sw_user_done(struct sw_user *user)
{
    free(user->name);
    free(user->node);
    (void)json_object_put(user->groups);
    *user = (struct sw_user){ 0 };
}

static void add_group(json_object *groups, const char *name)
{
    for (size_t i = 0; i < sw_json_len(groups); i++)
        if (sw_streq(json_object_get_string(sw_json_at(groups, i)), name))
            return;
    json_object_array_add(groups, sw_str(name));
}

void sw_user_init(struct sw_user *user, const char *name, json_object *groups)
{
    static const char account[] = "system:serviceaccount:";
    const bool is_anonymous = strcmp(name, "system:anonymous") == 0;
    const bool own = groups == NULL;
    *user = (struct sw_user){ .name = sw_strdup(name),
                              .groups = groups ? groups : json_object_new_array() };
    if (own && sw_starts_with(name, account)) {
        const char *ns = name + strlen(account);
        SW_AUTO_CHARS *of_ns = sw_printf("system:serviceaccounts:%.*s", (int)strcspn(ns, ":"), ns);
        add_group(user->groups, "system:serviceaccounts");
        add_group(user->groups, of_ns);
    }
    add_group(user->groups, is_anonymous ? "system:unauthenticated" : "system:authenticated");
}

bool sw_user_is_in(const struct sw_user *user, const char *group)
{
    for (size_t i = 0; i < sw_json_len(user->groups); i++)
        if (sw_streq(json_object_get_string(sw_json_at(user->groups, i)), group))
            return true;
    return false;
}

/* ---- rules -------------------------------------------------------------------------------------
 */

bool rule_holds(json_object *list, const char *text)
{
    for (size_t i = 0; i < sw_json_len(list); i++) {
        const char *one = json_object_get_string(sw_json_at(list, i));
        if (sw_streq(one, "*") || sw_streq(one, text))
            return true;
    }
    return false;
}

bool rule_holds_resource(json_object *list, const char *resource, const char *subresource)
{
    const bool sub = subresource && *subresource;
    SW_AUTO_CHARS *whole = sub ? sw_printf("%s/%s", resource, subresource) : sw_strdup(resource);
    SW_AUTO_CHARS *any = sub ? sw_printf("*/%s", subresource) : sw_strdup("*");
    for (size_t i = 0; i < sw_json_len(list); i++) {
        const char *one = json_object_get_string(sw_json_at(list, i));
        if (sw_streq(one, "*") || sw_streq(one, whole) || sw_streq(one, any))
            return true;
    }
    return false;
}

bool rule_holds_path(json_object *list, const char *path)
{
    for (size_t i = 0; i < sw_json_len(list); i++) {
        const char *one = json_object_get_string(sw_json_at(list, i));
        const size_t len = one ? strlen(one) : 0;
        if (sw_streq(one, path) || (len && one[len - 1] == '*' && strncmp(one, path, len - 1) == 0))
            return true;
    }
    return false;
}

/* ---- bindings ----------------------------------------------------------------------------------
 */

static bool is_subject(json_object *subject, const char *ns, const struct sw_user *user)
{
    const char *kind = sw_json_str(subject, "", "kind", NULL);
    const char *name = sw_json_str(subject, "", "name", NULL);
    if (strcmp(kind, "User") == 0)
        return sw_streq(name, user->name);
    if (strcmp(kind, "Group") == 0)
        return sw_user_is_in(user, name);
    SW_AUTO_CHARS *account = sw_printf("system:serviceaccount:%s:%s",
                                       sw_json_str(subject, ns, "namespace", NULL), name);
    return strcmp(kind, "ServiceAccount") == 0 && sw_streq(account, user->name);
}

static json_object *find_subject(json_object *binding, const char *ns, const struct sw_user *user)
{
    json_object *subjects = sw_json_get(binding, "subjects");
    for (size_t i = 0; i < sw_json_len(subjects); i++)
        if (is_subject(sw_json_at(subjects, i), ns, user))
            return sw_json_at(subjects, i);
    return NULL;
}

static json_object *find_role(struct sw_store *store, json_object *ref, const char *ns)
{
    const bool of_cluster = sw_streq(sw_json_str(ref, "", "kind", NULL), "ClusterRole");
    return sw_store_get(store,
                        sw_store_kind(store, RBAC_GROUP, of_cluster ? "ClusterRole" : "Role"),
                        of_cluster ? NULL : ns, sw_json_str(ref, "", "name", NULL));
}

json_object *rules_of_role(struct sw_store *store, json_object *ref, const char *ns)
{
    json_object *role = find_role(store, ref, ns);
    return role ? sw_json_get(role, "rules") : NULL;
}

/* @return false: no more are needed */
static bool visit_binding(struct sw_store *store, const struct sw_user *user,
                          const struct rule_source *from, const char *ns, rule_fn *fn, void *arg,
                          json_object *errors)
{
    struct rule_source source = *from;
    source.subject = find_subject(from->binding, ns, user);
    if (!source.subject)
        return true;
    json_object *ref = sw_json_get(from->binding, "roleRef"), *role = find_role(store, ref, ns);
    if (!role && errors) {
        const char *kind = sw_json_str(ref, "", "kind", NULL);
        SW_AUTO_CHARS *text = sw_printf("%s." RBAC_GROUP " \"%s\" not found",
                                        sw_streq(kind, "ClusterRole") ? "clusterrole" : "role",
                                        sw_json_str(ref, "", "name", NULL));
        add_group(errors, text);
    }
    json_object *rules = role ? sw_json_get(role, "rules") : NULL;
    for (size_t i = 0; i < sw_json_len(rules); i++)
        if (!fn(sw_json_at(rules, i), &source, arg))
            return false;
    return true;
}

void rules_visit(struct sw_store *store, const struct sw_user *user, const char *ns, rule_fn *fn,
                 void *arg, json_object *errors)
{
    SW_STORE_LIST(of_cluster);
    SW_STORE_LIST(of_ns);
    sw_store_list(store, sw_store_kind(store, RBAC_GROUP, "ClusterRoleBinding"), NULL, &of_cluster);
    for (size_t i = 0; i < of_cluster.n; i++)
        if (!visit_binding(store, user, &(struct rule_source){ of_cluster.items[i], NULL, true },
                           "", fn, arg, errors))
            return;
    if (!ns || !*ns)
        return;
    sw_store_list(store, sw_store_kind(store, RBAC_GROUP, "RoleBinding"), ns, &of_ns);
    for (size_t i = 0; i < of_ns.n; i++)
        if (!visit_binding(store, user, &(struct rule_source){ of_ns.items[i], NULL, false }, ns,
                           fn, arg, errors))
            return;
}
