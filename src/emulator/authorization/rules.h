#pragma once
/* rules: the rules of roles, and to whom bindings give them. Internal to authorization. */
#include "emulator/authorization/authorization.h"

#define RBAC_GROUP "rbac.authorization.k8s.io"

/** By what a rule is given. Borrowed for the call. */
struct rule_source {
    json_object *binding, *subject;
    bool of_cluster; /* a ClusterRoleBinding */
};
/** @return false: no more are needed */
typedef bool rule_fn(json_object *rule, const struct rule_source *from, void *arg);
/** Call @fn for the rules that @user has in @ns ("": of the cluster alone). Bindings of roles that
 * do not exist are told in @errors, a list of texts, or NULL. */
void rules_visit(struct sw_store *store, const struct sw_user *user, const char *ns, rule_fn *fn,
                 void *arg, json_object *errors);
/** The rules of a binding's roleRef. @return borrowed; NULL: no such role */
json_object *rules_of_role(struct sw_store *store, json_object *ref, const char *ns);

/** Whether the rule allows it. */
bool rule_allows(json_object *rule, const struct sw_attributes *what);
/** Whether a list of a rule holds @text, or "*". */
bool rule_holds(json_object *list, const char *text);
/** Whether @list holds "deployments/scale" for that resource and subresource, or a star that stands
 * for it. */
bool rule_holds_resource(json_object *list, const char *resource, const char *subresource);
/** Whether a list of nonResourceURLs holds @path, or its beginning with a star. */
bool rule_holds_path(json_object *list, const char *path);
