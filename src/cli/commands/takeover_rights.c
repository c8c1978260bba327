/* Whether the account of a resource may write what its recipe makes. Who may act as the account
 * makes the dry runs as it; who may not asks the API server for each object. */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cluster/releases.h"
#include "cli/cluster/requests.h"
#include "cli/commands/takeover.h"
#include "data/data.h"
#include "kube/kube.h"
#include "operator/manifests/rights_command.h"

#define SERVICE_ACCOUNT "system:serviceaccount:"

/* The account as those who authenticate it would tell of it; the caller's. */
static struct json_object *user_of(const char *account)
{
    const char *rest = account + strlen(SERVICE_ACCOUNT);
    SW_AUTO_CHARS *group = sw_printf("system:serviceaccounts:%.*s", (int)strcspn(rest, ":"), rest);
    const char *const groups[] = { "system:serviceaccounts", group, "system:authenticated" };
    struct json_object *user = json_object_new_object();
    sw_json_set_str(user, account, "username", NULL);
    for (size_t i = 0; i < SW_COUNT(groups); i++)
        (void)json_object_array_add(sw_json_need_list(user, "groups", NULL),
                                    json_object_new_string(groups[i]));
    return user;
}

static struct json_object *question(const char *verb, const char *group, const char *resource,
                                    const char *ns, const char *name)
{
    struct json_object *what = json_object_new_object();
    const char *const attributes[][2] = {
        { "verb", verb },    { "group", group }, { "resource", resource },
        { "namespace", ns }, { "name", name },
    };
    for (size_t i = 0; i < SW_COUNT(attributes); i++)
        sw_json_set_str(what, attributes[i][1], "resourceAttributes", attributes[i][0], NULL);
    return what;
}

int takeover_rights_open(struct takeover *t, struct json_object *doc, struct sw_err *err)
{
    bool may = false;
    t->account = takeover_account(t, doc);
    if (!t->account)
        return 0;
    const char *rest = t->account + strlen(SERVICE_ACCOUNT), *name = strchr(rest, ':') + 1;
    SW_AUTO_CHARS *ns = sw_strndup(rest, (size_t)(name - 1 - rest));
    SW_AUTO_JSON *what = question("impersonate", "", "serviceaccounts", ns, name);
    SW_ERR(why);
    int rc = sw_cluster_access(&t->preview.conn, NULL, what, &may, &why);
    if (rc < 0 && rc != SW_FORBIDDEN)
        return sw_err_set(err, rc, "%s", sw_err_text(&why));
    if (may)
        t->preview.account = t->account;
    return 0;
}

/* Is the account allowed @verb on @doc? Where that cannot be asked, it counts as allowed, and the
 * resource's entry says so. */
static int ask(struct takeover *t, const struct sw_kind *kind, struct json_object *doc,
               const char *verb, bool *allowed, struct sw_err *err)
{
    SW_AUTO_JSON *user = user_of(t->account);
    SW_AUTO_JSON *what = question(verb, kind->group, kind->plural,
                                  kind->namespaced ? sw_obj_namespace(doc) : "", sw_obj_name(doc));
    SW_ERR(why);
    int rc = sw_cluster_access(&t->preview.conn, user, what, allowed, &why);
    if (rc == SW_FORBIDDEN) {
        t->rights_unknown = *allowed = true;
        return 0;
    }
    return rc < 0 ? sw_err_set(err, rc, "%s", sw_err_text(&why)) : 0;
}

int takeover_rights_check(struct takeover *t, const struct sw_preview_change *change,
                          struct sw_err *err)
{
    const struct sw_kind *kind = sw_kube_kind_find(
        t->preview.conn.kube, sw_obj_api_version(change->wanted), sw_obj_kind(change->wanted));
    const char *const verbs[] = { "patch", change->live ? NULL : "create" };
    if (!t->account || t->preview.account || !kind || change->is_left || change->has_run)
        return 0; /* the dry run was made as the account, or nothing is written */
    for (size_t i = 0; i < SW_COUNT(verbs) && verbs[i] && !t->rights_unknown; i++) {
        bool allowed = false;
        int rc = ask(t, kind, change->wanted, verbs[i], &allowed, err);
        if (rc < 0)
            return rc;
        if (!allowed)
            return sw_err_set(err, SW_FORBIDDEN, "%s may not %s it", t->account, verbs[i]);
    }
    return 0;
}

char *takeover_rights_close(struct takeover *t, struct json_object *doc)
{
    char *text = NULL;
    if (t->n_forbidden && t->account && sw_streq(sw_obj_kind(doc), "SpecialResource")) {
        SW_AUTO_CHARS *command = sw_rights_command(doc, sw_releases_namespace(doc), t->account);
        text = sw_printf("%s may not write %zu of its objects: %s", t->account, t->n_forbidden,
                         command);
    } else if (t->n_forbidden && t->account) {
        text = sw_printf("%s may not write %zu of its objects", t->account, t->n_forbidden);
    } else if (t->rights_unknown) {
        text = sw_printf("whether %s may write its objects is not known: you may neither act as "
                         "it nor ask (create subjectaccessreviews)",
                         t->account);
    }
    free(SW_TAKE(t->account));
    t->preview.account = NULL;
    t->rights_unknown = false;
    t->n_forbidden = 0;
    return text;
}
