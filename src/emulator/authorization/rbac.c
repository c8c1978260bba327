/* What roles allow, and what a request is told that they do not. */
#include <json-c/printbuf.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/authorization/nodes.h"
#include "emulator/authorization/rules.h"
#include "emulator/store/document.h"
#include "emulator/store/status.h"

static const char *text(const char *or_null)
{
    return or_null ? or_null : "";
}

bool rule_allows(json_object *rule, const struct sw_attributes *w)
{
    if (!rule_holds(sw_json_get(rule, "verbs"), text(w->verb)))
        return false;
    if (w->path)
        return rule_holds_path(sw_json_get(rule, "nonResourceURLs"), w->path);
    json_object *names = sw_json_get(rule, "resourceNames");
    if (!rule_holds(sw_json_get(rule, "apiGroups"), text(w->group)) ||
        !rule_holds_resource(sw_json_get(rule, "resources"), text(w->resource), w->subresource))
        return false;
    if (sw_json_len(names) == 0)
        return true;
    for (size_t i = 0; i < sw_json_len(names); i++) /* a star is a name here */
        if (sw_streq(json_object_get_string(sw_json_at(names, i)), text(w->name)))
            return true;
    return false;
}

/* `RoleBinding "b/ns" of Role "r" to ServiceAccount "a/ns"` */
static char *describe(const struct rule_source *from)
{
    const char *ns = sw_obj_namespace(from->binding), *kind = from->of_cluster ? "Cluster" : "";
    const char *who = sw_json_str(from->subject, "", "kind", NULL);
    const bool account = strcmp(who, "ServiceAccount") == 0;
    return sw_printf("RBAC: allowed by %sRoleBinding \"%s%s%s\" of %s \"%s\" to %s \"%s%s%s\"",
                     kind, sw_obj_name(from->binding), from->of_cluster ? "" : "/",
                     from->of_cluster ? "" : ns,
                     sw_json_str(from->binding, "", "roleRef", "kind", NULL),
                     sw_json_str(from->binding, "", "roleRef", "name", NULL), who,
                     sw_json_str(from->subject, "", "name", NULL), account ? "/" : "",
                     account ? sw_json_str(from->subject, ns, "namespace", NULL) : "");
}

struct search {
    const struct sw_attributes *what;
    bool allowed;
    char **reason;
};

static bool on_rule(json_object *rule, const struct rule_source *from, void *arg)
{
    struct search *s = arg;
    if (!rule_allows(rule, s->what))
        return true;
    s->allowed = true;
    if (s->reason)
        *s->reason = describe(from);
    return false;
}

/* As an aggregate of Go's errors: one is itself, several are in brackets. */
static char *join_errors(json_object *errors)
{
    struct printbuf *out = printbuf_new();
    const size_t n = sw_json_len(errors);
    for (size_t i = 0; i < n; i++)
        sprintbuf(out, "%s%s%s%s", i == 0 ? "RBAC: " : ", ", i == 0 && n > 1 ? "[" : "",
                  json_object_get_string(sw_json_at(errors, i)), i + 1 == n && n > 1 ? "]" : "");
    char *joined = n ? sw_strndup(out->buf, (size_t)out->bpos) : NULL;
    printbuf_free(out);
    return joined;
}

bool sw_rbac_allows(struct sw_store *store, const struct sw_user *user,
                    const struct sw_attributes *what, char **reason)
{
    SW_AUTO_JSON *errors = reason ? json_object_new_array() : NULL;
    struct search s = { .what = what, .reason = reason };
    if (reason)
        *reason = NULL;
    if (sw_user_is_in(user, "system:masters"))
        return true;
    SW_AUTO_CHARS *of_node = NULL;
    if (nodes_allow(store, user, what, &of_node))
        return true;
    rules_visit(store, user, what->path ? "" : what->ns, on_rule, &s, errors);
    if (!s.allowed && reason) {
        SW_AUTO_CHARS *of_roles = join_errors(errors);
        const bool both = of_node && of_roles;
        *reason = both ? sw_printf("%s\n%s", of_node, of_roles)
                       : (of_node ? SW_TAKE(of_node) : SW_TAKE(of_roles));
    }
    return s.allowed;
}

static char *refusal(const struct sw_user *user, const struct sw_attributes *w, const char *reason)
{
    const bool has_ns = w->ns && *w->ns, sub = w->subresource && *w->subresource;
    SW_AUTO_CHARS *scope = has_ns ? sw_printf("in the namespace \"%s\"", w->ns)
                                  : sw_strdup("at the cluster scope");
    SW_AUTO_CHARS *what = w->path ? sw_printf("path \"%s\"", w->path)
                                  : sw_printf("resource \"%s%s%s\" in API group \"%s\" %s",
                                              text(w->resource), sub ? "/" : "",
                                              sub ? w->subresource : "", text(w->group), scope);
    return sw_printf("User \"%s\" cannot %s %s%s%s", user->name, text(w->verb), what,
                     reason ? ": " : "", text(reason));
}

int sw_rbac_refuse(const struct sw_user *user, const struct sw_attributes *w, const char *reason,
                   struct sw_status *status)
{
    SW_AUTO_CHARS *why = refusal(user, w, reason);
    const bool dot = w->group && *w->group, named = w->name && *w->name;
    int rc;
    if (w->path)
        rc = sw_status_set(status, 403, "Forbidden", "forbidden: %s", why);
    else
        rc = sw_status_set(status, 403, "Forbidden", "%s%s%s%s%s%s is forbidden: %s",
                           text(w->resource), dot ? "." : "", text(w->group), named ? " \"" : "",
                           named ? w->name : "", named ? "\"" : "", why);
    status->details = json_object_new_object();
    if (named && !w->path)
        sw_json_set_str(status->details, w->name, "name", NULL);
    if (dot && !w->path)
        sw_json_set_str(status->details, w->group, "group", NULL);
    if (!w->path)
        sw_json_set_str(status->details, text(w->resource), "kind", NULL);
    return rc;
}

int sw_rbac_check(struct sw_store *store, const struct sw_user *user,
                  const struct sw_attributes *what, struct sw_status *status)
{
    SW_AUTO_CHARS *reason = NULL;
    if (sw_rbac_allows(store, user, what, &reason))
        return 0;
    return sw_rbac_refuse(user, what, reason, status);
}

/* ---- all that a user may -----------------------------------------------------------------------
 */

static void copy_list(json_object *to, json_object *rule, const char *key)
{
    json_object *list = sw_json_get(rule, key);
    if (sw_json_len(list))
        json_object_object_add(to, key, json_object_get(list));
}

static void add_rule(json_object *doc, json_object *rule)
{
    static const char *const keys[] = { "verbs", "apiGroups", "resources", "resourceNames",
                                        "nonResourceURLs" };
    json_object *one = json_object_new_object();
    const bool is_path = sw_json_len(sw_json_get(rule, "nonResourceURLs")) > 0;
    for (size_t i = 0; i < SW_COUNT(keys); i++)
        copy_list(one, rule, keys[i]);
    json_object_array_add(
        sw_json_need_list(doc, "status", is_path ? "nonResourceRules" : "resourceRules", NULL),
        one);
}

static bool on_any_rule(json_object *rule, const struct rule_source *from SW_UNUSED, void *arg)
{
    add_rule(arg, rule);
    return true;
}

void sw_rbac_rules(struct sw_store *store, const struct sw_user *user, const char *ns,
                   json_object *doc)
{
    static const char *const all[] = {
        "{\"verbs\":[\"*\"],\"apiGroups\":[\"*\"],\"resources\":[\"*\"]}",
        "{\"verbs\":[\"*\"],\"nonResourceURLs\":[\"*\"]}",
    };
    (void)sw_json_need_list(doc, "status", "resourceRules", NULL);
    (void)sw_json_need_list(doc, "status", "nonResourceRules", NULL);
    for (size_t i = 0; sw_user_is_in(user, "system:masters") && i < SW_COUNT(all); i++) {
        SW_AUTO_JSON *rule = json_tokener_parse(all[i]);
        add_rule(doc, rule);
    }
    rules_visit(store, user, ns, on_any_rule, doc, NULL);
    sw_json_set(doc, sw_bool(false), "status", "incomplete", NULL);
}
