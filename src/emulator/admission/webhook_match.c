/* webhook_match: which writes a webhook is called for. */
#include <stdlib.h>
#include <string.h>

#include "data/cel/cel.h"
#include "data/data.h"
#include "emulator/admission/webhook.h"
#include "emulator/store/document.h"

/* Whether @list has @value or "*". */
static bool lists(json_object *list, const char *value)
{
    for (size_t i = 0; i < sw_json_len(list); i++) {
        const char *item = json_object_get_string(sw_json_at(list, i));
        if (strcmp(item, "*") == 0 || strcmp(item, value) == 0)
            return true;
    }
    return false;
}

/* Whether @list has the resource, or with @sub its subresource: "pods", "pods/status", with "*" for
 * either part. "*" alone matches no subresource. */
static bool names_resource(json_object *list, const char *plural, const char *sub)
{
    for (size_t i = 0; i < sw_json_len(list); i++) {
        const char *item = json_object_get_string(sw_json_at(list, i));
        const char *slash = strchr(item, '/');
        SW_AUTO_CHARS *main = sw_strndup(item, slash ? (size_t)(slash - item) : strlen(item));
        bool same = strcmp(main, "*") == 0 || strcmp(main, plural) == 0;
        bool same_sub = slash ? strcmp(slash + 1, "*") == 0 || sw_streq(slash + 1, sub) : !sub;
        if (same && same_sub)
            return true;
    }
    return false;
}

/* With the matchPolicy Equivalent, the default, any version of the kind matches. */
static bool names_version(json_object *hook, json_object *rule, const struct sw_write *w)
{
    json_object *list = sw_json_get(rule, "apiVersions");
    bool exact = sw_streq(sw_json_str(hook, NULL, "matchPolicy", NULL), "Exact");
    if (exact)
        return lists(list, w->opts->version ? w->opts->version : w->kind->versions[0]);
    for (size_t i = 0; w->kind->versions[i]; i++)
        if (lists(list, w->kind->versions[i]))
            return true;
    return false;
}

static bool rules_match(json_object *hook, const struct sw_write *w, const char *operation)
{
    json_object *rules = sw_json_get(hook, "rules");
    const char *scope = w->kind->namespaced ? "Namespaced" : "Cluster";
    for (size_t i = 0; i < sw_json_len(rules); i++) {
        json_object *rule = sw_json_at(rules, i);
        const char *wanted = sw_json_str(rule, "*", "scope", NULL);
        if (lists(sw_json_get(rule, "operations"), operation) &&
            lists(sw_json_get(rule, "apiGroups"), w->kind->group) && names_version(hook, rule, w) &&
            names_resource(sw_json_get(rule, "resources"), w->kind->plural, w->subresource) &&
            (strcmp(wanted, "*") == 0 || strcmp(wanted, scope) == 0))
            return true;
    }
    return false;
}

/* ---- selectors ----------------------------------------------------------------------------------
 */

/* Whether the selector matches the labels of @doc. @return 1, 0, or a negative code */
static int selects(json_object *selector, json_object *doc, struct sw_err *err)
{
    struct sw_selector parsed;
    if (!sw_json_len(selector))
        return 1;
    int rc = sw_selector_from_object(selector, &parsed, err);
    if (rc < 0)
        return rc;
    bool match = sw_selector_matches_object(&parsed, doc);
    sw_selector_done(&parsed);
    return match;
}

/* ---- matchConditions ----------------------------------------------------------------------------
 */

/* A condition that is false wins over one that fails. @return 1, 0, or an error */
static int conditions_hold(json_object *hook, json_object *request, struct sw_err *err)
{
    json_object *list = sw_json_get(hook, "matchConditions");
    int all = 1;
    SW_AUTO_JSON *root = sw_doc_new("request", json_object_get(request), NULL);
    json_object_object_add(root, "object", json_object_get(sw_json_get(request, "object")));
    json_object_object_add(root, "oldObject", json_object_get(sw_json_get(request, "oldObject")));
    for (size_t i = 0; i < sw_json_len(list); i++) {
        SW_ERR(why);
        json_object *condition = sw_json_at(list, i);
        int rc = sw_cel_holds(sw_json_str(condition, "", "expression", NULL), root, &why);
        if (rc == 0)
            return 0;
        /* SW_NOTFOUND, unknown CEL: the webhook is called, and decides itself */
        if (rc < 0 && rc != SW_NOTFOUND && all == 1)
            all = sw_err_set(err, SW_INVALID, "matchCondition '%s': %s",
                             sw_json_str(condition, "", "name", NULL), sw_err_text(&why));
    }
    return all;
}

int sw_webhook_matches(struct sw_write *w, json_object *hook, json_object *request,
                       struct sw_err *err)
{
    if (!rules_match(hook, w, sw_json_str(request, "", "operation", NULL)))
        return 0;
    int rc = 1;
    json_object *selector = sw_json_get(hook, "namespaceSelector");
    /* by the labels of the object's namespace, for a Namespace by its own; others match */
    if (w->kind->namespaced)
        rc = selects(selector,
                     sw_store_get(w->store, sw_store_kind(w->store, "", "Namespace"), NULL, w->ns),
                     err);
    else if (sw_write_is(w, "", "Namespace"))
        rc = selects(selector, w->doc ? w->doc : w->old, err);
    if (rc != 1)
        return rc;
    selector = sw_json_get(hook, "objectSelector");
    rc = w->op != SW_OP_DELETE && w->doc ? selects(selector, w->doc, err) : 0;
    if (rc == 0 && w->old)
        rc = selects(selector, w->old, err);
    return rc == 1 ? conditions_hold(hook, request, err) : rc;
}
