/* webhook_match: which writes a webhook is called for. */
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "emulator/admission/expressions.h"
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

/* Rules of policies may name objects. */
static bool names_object(json_object *rule, const struct sw_write *w)
{
    json_object *names = sw_json_get(rule, "resourceNames");
    return !sw_json_len(names) || sw_json_has_text(names, w->name);
}

/* @match: what has the matchPolicy. */
static bool rules_match(json_object *match, json_object *rules, const struct sw_write *w,
                        const char *operation)
{
    const char *scope = w->kind->namespaced ? "Namespaced" : "Cluster";
    for (size_t i = 0; i < sw_json_len(rules); i++) {
        json_object *rule = sw_json_at(rules, i);
        const char *wanted = sw_json_str(rule, "*", "scope", NULL);
        if (lists(sw_json_get(rule, "operations"), operation) &&
            lists(sw_json_get(rule, "apiGroups"), w->kind->group) &&
            names_version(match, rule, w) &&
            names_resource(sw_json_get(rule, "resources"), w->kind->plural, w->subresource) &&
            (strcmp(wanted, "*") == 0 || strcmp(wanted, scope) == 0) && names_object(rule, w))
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

static int conditions_hold(struct sw_write *w, json_object *hook, json_object *request,
                           struct sw_err *err)
{
    json_object *values[SW_N_ADMISSION_VARIABLES], *list = sw_json_get(hook, "matchConditions");
    struct sw_cel_input input;
    if (!sw_json_len(list))
        return 1;
    sw_admission_values(w, request, NULL, values, &input);
    return sw_admission_conditions(list, &(struct sw_admission_scope){ 0 }, &input, err);
}

int sw_admission_selects(struct sw_write *w, json_object *match, json_object *rules,
                         const char *operation, struct sw_err *err)
{
    if (rules && !rules_match(match, rules, w, operation))
        return 0;
    int rc = 1;
    json_object *selector = sw_json_get(match, "namespaceSelector");
    /* by the labels of the object's namespace, for a Namespace by its own; others match */
    if (w->kind->namespaced)
        rc = selects(selector,
                     sw_store_get(w->store, sw_store_kind(w->store, "", "Namespace"), NULL, w->ns),
                     err);
    else if (sw_write_is(w, "", "Namespace"))
        rc = selects(selector, w->doc ? w->doc : w->old, err);
    if (rc != 1)
        return rc;
    selector = sw_json_get(match, "objectSelector");
    rc = w->op != SW_OP_DELETE && w->doc ? selects(selector, w->doc, err) : 0;
    if (rc == 0 && w->old)
        rc = selects(selector, w->old, err);
    return rc;
}

int sw_webhook_matches(struct sw_write *w, json_object *hook, json_object *request,
                       struct sw_err *err)
{
    json_object *rules = sw_json_get(hook, "rules");
    const char *operation = sw_json_str(request, "", "operation", NULL);
    const int rc = rules ? sw_admission_selects(w, hook, rules, operation, err) : 0;
    return rc == 1 ? conditions_hold(w, hook, request, err) : rc;
}
