#include "emulator/api/reviews.h"

#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "data/data.h"
#include "emulator/api/rest.h"
#include "emulator/store/document.h"
#include "emulator/store/store.h"

/* ---- tokens ------------------------------------------------------------------------------------
 */

#define PREFIX "emulated."

#define BOUND "pod-" /* before the uid of the pod that a token is bound to */
#define EXTRA_NODE "authentication.kubernetes.io/node-name"

char *sw_reviews_token(const char *ns, const char *name, int64_t expires_s, const char *uid,
                       bool bound)
{
    return sw_printf(PREFIX "%s.%s.%lld.%s%s", ns, name, (long long)expires_s, bound ? BOUND : "",
                     uid);
}

/* The pod that a token is bound to; borrowed. NULL: it is gone. */
static json_object *bound_pod(struct sw_store *store, const char *ns, const char *uid)
{
    SW_STORE_LIST(list);
    sw_store_list(store, sw_store_kind(store, "", "Pod"), ns, &list);
    for (size_t i = 0; i < list.n; i++)
        if (sw_streq(sw_json_str(list.items[i], "", "metadata", "uid", NULL), uid))
            return list.items[i];
    return NULL;
}

/* The parts of a token: a namespace and a uid have no dots, a name may have some. */
static bool split_token(const char *token, char **ns, char **name, int64_t *expires_s)
{
    if (!sw_starts_with(token, PREFIX))
        return false;
    const char *from = token + strlen(PREFIX), *dot = strchr(from, '.');
    const char *uid = strrchr(from, '.'), *at = uid;
    while (at && at > from && at[-1] != '.')
        at--;
    if (!dot || !uid || at <= dot + 2)
        return false;
    char *end;
    *expires_s = strtoll(at, &end, 10);
    if (end != uid)
        return false;
    *ns = sw_strndup(from, (size_t)(dot - from));
    *name = sw_strndup(dot + 1, (size_t)(at - 1 - dot - 1));
    return true;
}

char *sw_rest_account_token(struct sw_store *store, const char *ns, const char *account)
{
    enum { DAY_S = 24 * 3600 };
    char uid[37];
    const int64_t now_s = sw_loop_now_ms(sw_store_loop(store)) / 1000;
    return sw_reviews_token(ns, account, now_s + DAY_S, sw_store_uid(store, uid), false);
}

json_object *sw_reviews_account(struct sw_store *store, const char *token, char **user, char **node)
{
    SW_AUTO_CHARS *ns = NULL, *name = NULL;
    int64_t expires_s = 0;
    json_object *account = NULL;
    if (split_token(token, &ns, &name, &expires_s) &&
        expires_s > sw_loop_now_ms(sw_store_loop(store)) / 1000)
        account = sw_store_get(store, sw_store_kind(store, "", "ServiceAccount"), ns, name);
    const char *uid = account ? strrchr(token, '.') + 1 : "";
    json_object *pod = NULL;
    if (sw_starts_with(uid, BOUND)) {
        pod = bound_pod(store, ns, uid + strlen(BOUND));
        account = pod ? account : NULL;
    }
    if (!account)
        return NULL;
    *user = sw_printf("system:serviceaccount:%s:%s", ns, name);
    *node = sw_strdup(sw_json_str(pod, NULL, "spec", "nodeName", NULL));
    return account;
}

static void review_token(struct sw_req *req, json_object *doc)
{
    __attribute__((cleanup(sw_user_done))) struct sw_user user = { 0 };
    SW_AUTO_CHARS *name = NULL, *node = NULL;
    const char *token = sw_json_str(doc, "", "spec", "token", NULL);
    if (*token && sw_streq(token, req->admin_token)) {
        sw_user_init(&user, SW_ADMIN, sw_doc_list(sw_str("system:masters"), NULL));
        sw_json_set(doc, sw_bool(true), "status", "authenticated", NULL);
        sw_json_set_str(doc, user.name, "status", "user", "username", NULL);
        sw_json_set(doc, json_object_get(user.groups), "status", "user", "groups", NULL);
        return;
    }
    json_object *account = sw_reviews_account(req->store, token, &name, &node);
    sw_json_set(doc, sw_bool(account != NULL), "status", "authenticated", NULL);
    if (!account) {
        sw_json_set_str(doc, "the emulated cluster knows the tokens that it made", "status",
                        "error", NULL);
        return;
    }
    sw_user_init(&user, name, NULL);
    sw_json_set_str(doc, name, "status", "user", "username", NULL);
    sw_json_set_str(doc, sw_json_str(account, "", "metadata", "uid", NULL), "status", "user", "uid",
                    NULL);
    sw_json_set(doc, json_object_get(user.groups), "status", "user", "groups", NULL);
    if (node)
        sw_json_set(doc, sw_doc_list(sw_str(node), NULL), "status", "user", "extra", EXTRA_NODE,
                    NULL);
}

/* ---- access ------------------------------------------------------------------------------------
 */

/* A star at the end of @pattern stands for any rest. */
static bool path_matches(const char *pattern, const char *path)
{
    const size_t len = strlen(pattern);
    if (len && pattern[len - 1] == '*')
        return strncmp(pattern, path, len - 1) == 0;
    return strcmp(pattern, path) == 0;
}

static bool holds(json_object *list, const char *text)
{
    for (size_t i = 0; i < sw_json_len(list); i++) {
        const char *one = json_object_get_string(sw_json_at(list, i));
        if (sw_streq(one, "*") || sw_streq(one, text))
            return true;
    }
    return false;
}

static bool role_allows(json_object *role, const char *verb, const char *path)
{
    json_object *rules = sw_json_get(role, "rules");
    for (size_t i = 0; i < sw_json_len(rules); i++) {
        json_object *rule = sw_json_at(rules, i), *urls = sw_json_get(rule, "nonResourceURLs");
        for (size_t u = 0; holds(sw_json_get(rule, "verbs"), verb) && u < sw_json_len(urls); u++)
            if (path_matches(json_object_get_string(sw_json_at(urls, u)), path))
                return true;
    }
    return false;
}

static bool is_subject(json_object *subject, json_object *spec)
{
    const char *kind = sw_json_str(subject, "", "kind", NULL);
    const char *name = sw_json_str(subject, "", "name", NULL);
    const char *user = sw_json_str(spec, "", "user", NULL);
    json_object *groups = sw_json_get(spec, "groups");
    if (strcmp(kind, "User") == 0)
        return sw_streq(name, user);
    if (strcmp(kind, "ServiceAccount") == 0) {
        SW_AUTO_CHARS *account = sw_printf("system:serviceaccount:%s:%s",
                                           sw_json_str(subject, "", "namespace", NULL), name);
        return sw_streq(account, user);
    }
    for (size_t i = 0; strcmp(kind, "Group") == 0 && i < sw_json_len(groups); i++)
        if (sw_streq(json_object_get_string(sw_json_at(groups, i)), name))
            return true;
    return false;
}

static bool is_subject_of(json_object *binding, json_object *spec)
{
    json_object *subjects = sw_json_get(binding, "subjects");
    for (size_t i = 0; i < sw_json_len(subjects); i++)
        if (is_subject(sw_json_at(subjects, i), spec))
            return true;
    return false;
}

/* Paths that every authenticated user may read: the roles system:discovery and
 * system:public-info-viewer of a new cluster. */
static bool is_public(const char *path)
{
    static const char *const all[] = { "/api",     "/api/*",   "/apis",    "/apis/*",
                                       "/healthz", "/livez",   "/openapi", "/openapi/*",
                                       "/readyz",  "/version", "/version/" };
    for (size_t i = 0; i < SW_COUNT(all); i++)
        if (path_matches(all[i], path))
            return true;
    return false;
}

static bool may_read(struct sw_store *store, json_object *spec)
{
    const char *verb = sw_json_str(spec, "", "nonResourceAttributes", "verb", NULL);
    const char *path = sw_json_str(spec, "", "nonResourceAttributes", "path", NULL);
    const struct sw_emu_kind *roles = sw_store_kind(store, "rbac.authorization.k8s.io",
                                                    "ClusterRole");
    if (sw_streq(sw_json_str(spec, "", "user", NULL), SW_ADMIN) || is_public(path))
        return true;
    SW_STORE_LIST(bindings);
    sw_store_list(store, sw_store_kind(store, "rbac.authorization.k8s.io", "ClusterRoleBinding"),
                  NULL, &bindings);
    for (size_t i = 0; i < bindings.n; i++) {
        json_object *binding = bindings.items[i];
        const char *name = sw_json_str(binding, "", "roleRef", "name", NULL);
        if (is_subject_of(binding, spec) &&
            role_allows(sw_store_get(store, roles, NULL, name), verb, path))
            return true;
    }
    return false;
}

/* What a SubjectAccessReview asks, with @user as who asks. */
static void review_rights(struct sw_req *req, json_object *doc, const struct sw_user *user)
{
    json_object *r = sw_json_find(doc, "spec", "resourceAttributes", NULL);
    json_object *path = sw_json_find(doc, "spec", "nonResourceAttributes", NULL);
    const struct sw_attributes what = {
        .verb = sw_json_str(r ? r : path, "", "verb", NULL),
        .group = sw_json_str(r, "", "group", NULL),
        .resource = sw_json_str(r, "", "resource", NULL),
        .subresource = sw_json_str(r, "", "subresource", NULL),
        .name = sw_json_str(r, "", "name", NULL),
        .ns = sw_json_str(r, "", "namespace", NULL),
        .path = r ? NULL : sw_json_str(path, "", "path", NULL),
    };
    SW_AUTO_CHARS *reason = NULL;
    sw_json_set(doc, sw_bool(sw_rbac_allows(req->store, user, &what, &reason)), "status", "allowed",
                NULL);
    if (reason)
        sw_json_set_str(doc, reason, "status", "reason", NULL);
}

static void review_access(struct sw_req *req, json_object *doc)
{
    json_object *spec = sw_json_get(doc, "spec");
    if (req->rbac) {
        const struct sw_user user = { .name = (char *)sw_json_str(spec, "", "user", NULL),
                                      .groups = sw_json_get(spec, "groups") };
        review_rights(req, doc, &user);
        return;
    }
    const bool is_path = sw_json_get(spec, "nonResourceAttributes") != NULL;
    const bool allowed = !is_path || holds(sw_json_get(spec, "groups"), "system:masters") ||
                         may_read(req->store, spec);
    sw_json_set(doc, sw_bool(allowed), "status", "allowed", NULL);
    sw_json_set_str(doc,
                    is_path ? "as ClusterRoles and their bindings say"
                            : "the emulated cluster allows everything with objects",
                    "status", "reason", NULL);
}

static void review_own_access(struct sw_req *req, json_object *doc)
{
    if (req->rbac) {
        review_rights(req, doc, &req->user);
        return;
    }
    sw_json_set(doc, sw_bool(true), "status", "allowed", NULL);
    sw_json_set_str(doc, "the emulated cluster allows everything", "status", "reason", NULL);
}

static void list_rules(struct sw_req *req, json_object *doc)
{
    if (req->rbac) {
        sw_rbac_rules(req->store, &req->user, sw_json_str(doc, "", "spec", "namespace", NULL), doc);
        return;
    }
    json_object *rule = sw_doc_new("verbs", sw_doc_list(sw_str("*"), NULL), "apiGroups",
                                   sw_doc_list(sw_str("*"), NULL), "resources",
                                   sw_doc_list(sw_str("*"), NULL), NULL);
    json_object_array_add(sw_json_need_list(doc, "status", "resourceRules", NULL), rule);
    (void)sw_json_need_list(doc, "status", "nonResourceRules", NULL);
    sw_json_set(doc, sw_bool(false), "status", "incomplete", NULL);
}

static void review_self(struct sw_req *req, json_object *doc)
{
    const bool is_known = req->user.name;
    sw_json_set_str(doc, is_known ? req->user.name : SW_ADMIN, "status", "userInfo", "username",
                    NULL);
    if (is_known)
        sw_json_set(doc, json_object_get(req->user.groups), "status", "userInfo", "groups", NULL);
    else
        json_object_array_add(sw_json_need_list(doc, "status", "userInfo", "groups", NULL),
                              sw_str("system:masters"));
}

static const struct {
    const char *kind;
    void (*answer)(struct sw_req *req, json_object *doc);
} reviews[] = {
    { "TokenReview", review_token },
    { "SubjectAccessReview", review_access },
    { "SelfSubjectAccessReview", review_own_access },
    { "LocalSubjectAccessReview", review_access },
    { "SelfSubjectRulesReview", list_rules },
    { "SelfSubjectReview", review_self },
};

void sw_reviews_answer(struct sw_req *req, json_object *doc)
{
    for (size_t i = 0; i < SW_COUNT(reviews); i++)
        if (strcmp(reviews[i].kind, req->kind->kind) == 0)
            reviews[i].answer(req, doc);
}
