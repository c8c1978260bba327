/* Checks of policies: their expressions are compiled when they are written. */
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/admission/policies.h"
#include "emulator/store/status.h"

/* One of the values that a field may have, in the order in which a server lists them. NULL, a field
 * that is not there, is none of its business. @return whether it is none of them */
static bool check_choice(const char *value, const char *const *choices, const char *field,
                         struct sw_field_errors *errors)
{
    SW_AUTO_CHARS *supported = sw_strdup("supported values:");
    bool found = !value;
    for (size_t i = 0; choices[i]; i++) {
        sw_append(&supported, "%s \"%s\"", i ? "," : "", choices[i]);
        found = found || sw_streq(value, choices[i]);
    }
    if (!found)
        sw_field_error_str(errors, SW_FIELD_NOT_SUPPORTED, field, value, supported);
    return !found;
}

static void check_validations(const struct policy *p, struct sw_field_errors *errors)
{
    static const char *const reasons[] = { "Forbidden", "Invalid", "RequestEntityTooLarge", NULL };
    json_object *list = sw_json_get(p->spec, "validations");
    struct sw_admission_scope of_message = p->scope;
    of_message.has_no_authorizer = true;
    for (size_t i = 0; i < sw_json_len(list); i++) {
        json_object *validation = sw_json_at(list, i);
        json_object *message = sw_json_get(validation, "messageExpression");
        SW_AUTO_CHARS *at = sw_printf("spec.validations[%zu]", i);
        SW_AUTO_CHARS *field = sw_printf("%s.expression", at);
        SW_AUTO_CHARS *message_field = sw_printf("%s.messageExpression", at);
        SW_AUTO_CHARS *reason_field = sw_printf("%s.reason", at);
        sw_admission_check(sw_json_get(validation, "expression"), &p->scope, "bool", field, errors);
        if (message)
            sw_admission_check(message, &of_message, "string", message_field, errors);
        (void)check_choice(sw_json_str(validation, NULL, "reason", NULL), reasons, reason_field,
                           errors);
    }
}

static void check_annotations(const struct policy *p, struct sw_field_errors *errors)
{
    json_object *list = sw_json_get(p->spec, "auditAnnotations");
    for (size_t i = 0; i < sw_json_len(list); i++) {
        SW_AUTO_CHARS *at = sw_printf("spec.auditAnnotations[%zu].valueExpression", i);
        sw_admission_check(sw_json_get(sw_json_at(list, i), "valueExpression"), &p->scope,
                           "string null_type", at, errors);
    }
}

static void check_operations(json_object *list, const char *field, struct sw_field_errors *errors)
{
    static const char *const operations[] = { "*", "CONNECT", "CREATE", "DELETE", "UPDATE", NULL };
    bool all = false;
    for (size_t i = 0; i < sw_json_len(list); i++) {
        const char *operation = json_object_get_string(sw_json_at(list, i));
        SW_AUTO_CHARS *at = sw_printf("%s[%zu]", field, i);
        all = all || sw_streq(operation, "*");
        (void)check_choice(operation, operations, at, errors);
    }
    if (all && sw_json_len(list) > 1)
        sw_field_error_raw(errors, SW_FIELD_INVALID, field,
                           json_object_to_json_string_ext(list, JSON_C_TO_STRING_PLAIN),
                           "if '*' is present, must not specify other operations");
}

static void check_constraints(const struct policy *p, struct sw_field_errors *errors)
{
    static const char *const lists[] = { "operations", "apiGroups", "apiVersions", "resources" };
    static const char *const policies[] = { "Equivalent", "Exact", NULL };
    json_object *constraints = sw_json_get(p->spec, "matchConstraints");
    json_object *rules = sw_json_get(constraints, "resourceRules");
    if (!sw_json_len(rules))
        sw_field_error_raw(errors, SW_FIELD_REQUIRED,
                           constraints ? "spec.matchConstraints.resourceRules"
                                       : "spec.matchConstraints",
                           NULL, NULL);
    for (size_t i = 0; i < sw_json_len(rules); i++) {
        json_object *rule = sw_json_at(rules, i);
        for (size_t k = 0; k < SW_COUNT(lists); k++) {
            SW_AUTO_CHARS *at = sw_printf("spec.matchConstraints.resourceRules[%zu].%s", i,
                                          lists[k]);
            if (!sw_json_len(sw_json_get(rule, lists[k])))
                sw_field_error_raw(errors, SW_FIELD_REQUIRED, at, NULL, NULL);
            else if (k == 0)
                check_operations(sw_json_get(rule, lists[k]), at, errors);
        }
    }
    (void)check_choice(sw_json_str(constraints, NULL, "matchPolicy", NULL), policies,
                       "spec.matchConstraints.matchPolicy", errors);
}

/* Open the policy and check what both kinds have. @return false: its variables do not compile, and
 * nothing else can be looked at */
static bool check_policy(struct policy *p, struct sw_write *w, struct sw_field_errors *errors)
{
    SW_ERR(err);
    size_t wrong = 0;
    static const char *const failures[] = { "Fail", "Ignore", NULL };
    if (sw_policy_open(p, w->doc, &wrong, &err) < 0) {
        SW_AUTO_CHARS *at = sw_printf("spec.variables[%zu].expression", wrong);
        SW_AUTO_CHARS *detail = sw_printf("compilation failed: %s", sw_err_text(&err));
        json_object *variable = sw_json_at(sw_json_get(p->spec, "variables"), wrong);
        sw_field_error_str(errors, SW_FIELD_INVALID, at,
                           sw_json_str(variable, "", "expression", NULL), detail);
        return false;
    }
    (void)check_choice(sw_json_str(p->spec, NULL, "failurePolicy", NULL), failures,
                       "spec.failurePolicy", errors);
    check_constraints(p, errors);
    return true;
}

void sw_policy_check(struct sw_write *w, struct sw_field_errors *errors)
{
    struct policy p;
    static const char none[] = "validations or auditAnnotations must contain at least one item";
    if (check_policy(&p, w, errors)) {
        if (!sw_json_len(sw_json_get(p.spec, "validations")) &&
            !sw_json_len(sw_json_get(p.spec, "auditAnnotations"))) {
            sw_field_error_raw(errors, SW_FIELD_REQUIRED, "spec.validations", NULL, none);
            sw_field_error_raw(errors, SW_FIELD_REQUIRED, "spec.auditAnnotations", NULL, none);
        }
        sw_admission_check_conditions(sw_json_get(p.spec, "matchConditions"), &p.scope,
                                      "spec.matchConditions", errors);
        check_validations(&p, errors);
        check_annotations(&p, errors);
    }
    sw_policy_close(&p);
}

/* ---- mutating policies --------------------------------------------------------------------------
 */

/* Objects that are deleted cannot be changed. */
static void check_mutating_operations(json_object *match, const char *field,
                                      struct sw_field_errors *errors)
{
    static const char *const operations[] = { "*", "CONNECT", "CREATE", "UPDATE", NULL };
    json_object *rules = sw_json_get(match, "resourceRules");
    for (size_t i = 0; i < sw_json_len(rules); i++) {
        json_object *list = sw_json_get(sw_json_at(rules, i), "operations");
        for (size_t k = 0; k < sw_json_len(list); k++)
            (void)check_choice(json_object_get_string(sw_json_at(list, k)), operations, field,
                               errors);
    }
}

/* A patch of one of the two types, and none of the other. */
static void check_mutation(const struct policy *p, json_object *mutation, const char *at,
                           struct sw_field_errors *errors)
{
    static const struct {
        const char *type, *field, *result, *shown;
    } rows[] = {
        { "ApplyConfiguration", "applyConfiguration", "Object", "\"{applyConfiguration}\"" },
        { "JSONPatch", "jsonPatch", "list(JSONPatch)", "\"{jsonPatch}\"" },
    };
    static const char *const types[] = { "ApplyConfiguration", "JSONPatch", NULL };
    const char *type = sw_json_str(mutation, "", "patchType", NULL);
    struct sw_admission_scope scope = p->scope;
    SW_AUTO_CHARS *type_field = sw_printf("%s.patchType", at);
    scope.makes_patches = true;
    if (!*type)
        sw_field_error_raw(errors, SW_FIELD_REQUIRED, type_field, NULL, NULL);
    else if (check_choice(type, types, type_field, errors))
        return;
    for (size_t i = 0; *type && i < SW_COUNT(rows); i++) {
        json_object *patch = sw_json_get(mutation, rows[i].field);
        json_object *text = sw_json_get(patch, "expression");
        SW_AUTO_CHARS *field = sw_printf("%s.%s", at, rows[i].field);
        SW_AUTO_CHARS *expression = sw_printf("%s.expression", field);
        SW_AUTO_CHARS *detail = sw_printf("must %sbe specified when patchType is %s",
                                          sw_streq(rows[i].type, type) ? "" : "not ", type);
        if (!sw_streq(rows[i].type, type)) {
            if (patch)
                sw_field_error_raw(errors, SW_FIELD_INVALID, field, rows[i].shown, detail);
        } else if (!patch) {
            sw_field_error_raw(errors, SW_FIELD_REQUIRED, field, NULL, detail);
        } else if (!text || !*sw_json_str(patch, "", "expression", NULL)) {
            sw_field_error_raw(errors, SW_FIELD_REQUIRED, expression, NULL, NULL);
        } else {
            sw_admission_check(text, &scope, rows[i].result, expression, errors);
        }
    }
}

void sw_mutating_policy_check(struct sw_write *w, struct sw_field_errors *errors)
{
    struct policy p;
    static const char *const again[] = { "IfNeeded", "Never", NULL };
    if (check_policy(&p, w, errors)) {
        json_object *list = sw_json_get(p.spec, "mutations");
        const char *policy = sw_json_str(p.spec, NULL, "reinvocationPolicy", NULL);
        check_mutating_operations(sw_json_get(p.spec, "matchConstraints"),
                                  "spec.matchConstraints.resourceRules.operations", errors);
        sw_admission_check_conditions(sw_json_get(p.spec, "matchConditions"), &p.scope,
                                      "spec.matchConditions", errors);
        if (!sw_json_len(list))
            sw_field_error_raw(errors, SW_FIELD_REQUIRED, "spec.mutations", NULL,
                               "mutations must contain at least one item");
        for (size_t i = 0; i < sw_json_len(list); i++) {
            SW_AUTO_CHARS *at = sw_printf("spec.mutations[%zu]", i);
            check_mutation(&p, sw_json_at(list, i), at, errors);
        }
        if (!policy)
            sw_field_error_raw(errors, SW_FIELD_REQUIRED, "spec.reinvocationPolicy", NULL, NULL);
        (void)check_choice(policy, again, "spec.reinvocationPolicy", errors);
    }
    sw_policy_close(&p);
}

/* ---- bindings -----------------------------------------------------------------------------------
 */

static bool is_before(json_object *list, size_t end, const char *text)
{
    bool found = false;
    for (size_t i = 0; i < end && !found; i++)
        found = sw_streq(json_object_get_string(sw_json_at(list, i)), text);
    return found;
}

static void check_actions(json_object *list, struct sw_field_errors *errors)
{
    static const char *const actions[] = { "Audit", "Deny", "Warn", NULL };
    const size_t n = sw_json_len(list);
    for (size_t i = 0; i < n; i++) {
        const char *action = json_object_get_string(sw_json_at(list, i));
        SW_AUTO_CHARS *at = sw_printf("spec.validationActions[%zu]", i);
        if (!check_choice(action, actions, at, errors) && is_before(list, i, action))
            sw_field_error_str(errors, SW_FIELD_DUPLICATE, at, action, NULL);
    }
    if (sw_json_has_text(list, "Deny") && sw_json_has_text(list, "Warn"))
        sw_field_error_raw(errors, SW_FIELD_INVALID, "spec.validationActions",
                           json_object_to_json_string_ext(list, JSON_C_TO_STRING_PLAIN),
                           "must not contain both Deny and Warn (repeating the same validation "
                           "failure information in the API response and headers serves no "
                           "purpose)");
    if (!n)
        sw_field_error_raw(errors, SW_FIELD_REQUIRED, "spec.validationActions", NULL,
                           "at least one validation action is required");
}

static void check_params(json_object *ref, struct sw_field_errors *errors)
{
    static const char *const actions[] = { "Deny", "Allow", NULL };
    static const char exclusive[] = "name and selector are mutually exclusive";
    const char *action = sw_json_str(ref, NULL, "parameterNotFoundAction", NULL);
    const bool has_name = *sw_json_str(ref, "", "name", NULL);
    const bool has_selector = sw_json_get(ref, "selector");
    if (has_name && has_selector) {
        sw_field_error_raw(errors, SW_FIELD_FORBIDDEN, "spec.paramRef.name", NULL, exclusive);
        sw_field_error_raw(errors, SW_FIELD_FORBIDDEN, "spec.paramRef.selector", NULL, exclusive);
    } else if (!has_name && !has_selector) {
        sw_field_error_raw(errors, SW_FIELD_REQUIRED, "spec.paramRef", NULL,
                           "one of name or selector must be specified");
    }
    if (!action)
        sw_field_error_raw(errors, SW_FIELD_REQUIRED, "spec.paramRef.parameterNotFoundAction", NULL,
                           NULL);
    (void)check_choice(action, actions, "spec.paramRef.parameterNotFoundAction", errors);
}

static void check_binding(struct sw_write *w, struct sw_field_errors *errors)
{
    json_object *ref = sw_json_find(w->doc, "spec", "paramRef", NULL);
    if (!*sw_json_str(w->doc, "", "spec", "policyName", NULL))
        sw_field_error_raw(errors, SW_FIELD_REQUIRED, "spec.policyName", NULL, NULL);
    if (ref)
        check_params(ref, errors);
}

void sw_policy_binding_check(struct sw_write *w, struct sw_field_errors *errors)
{
    check_binding(w, errors);
    check_actions(sw_json_find(w->doc, "spec", "validationActions", NULL), errors);
}

void sw_mutating_policy_binding_check(struct sw_write *w, struct sw_field_errors *errors)
{
    check_binding(w, errors);
    check_mutating_operations(sw_json_find(w->doc, "spec", "matchResources", NULL),
                              "spec.matchResources.resourceRules.operations", errors);
}
