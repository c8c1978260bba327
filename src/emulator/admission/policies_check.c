/* Checks of policies: their expressions are compiled when they are written. */
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/admission/policies.h"
#include "emulator/store/status.h"

static void check_reason(json_object *validation, const char *at, struct sw_field_errors *errors)
{
    static const char *const reasons[] = { "Forbidden", "Invalid", "RequestEntityTooLarge" };
    const char *reason = sw_json_str(validation, NULL, "reason", NULL);
    SW_AUTO_CHARS *field = sw_printf("%s.reason", at);
    for (size_t i = 0; reason && i < SW_COUNT(reasons); i++)
        if (sw_streq(reason, reasons[i]))
            return;
    if (reason)
        sw_field_error_str(errors, SW_FIELD_NOT_SUPPORTED, field, reason,
                           "supported values: \"Forbidden\", \"Invalid\", "
                           "\"RequestEntityTooLarge\"");
}

static void check_validations(const struct policy *p, struct sw_field_errors *errors)
{
    json_object *list = sw_json_get(p->spec, "validations");
    struct sw_admission_scope of_message = p->scope;
    of_message.has_no_authorizer = true;
    for (size_t i = 0; i < sw_json_len(list); i++) {
        json_object *validation = sw_json_at(list, i);
        json_object *message = sw_json_get(validation, "messageExpression");
        SW_AUTO_CHARS *at = sw_printf("spec.validations[%zu]", i);
        SW_AUTO_CHARS *field = sw_printf("%s.expression", at);
        SW_AUTO_CHARS *message_field = sw_printf("%s.messageExpression", at);
        sw_admission_check(sw_json_get(validation, "expression"), &p->scope, "bool", field, errors);
        if (message)
            sw_admission_check(message, &of_message, "string", message_field, errors);
        check_reason(validation, at, errors);
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

void sw_policy_check(struct sw_write *w, struct sw_field_errors *errors)
{
    SW_ERR(err);
    struct policy p;
    size_t wrong = 0;
    static const char none[] = "validations or auditAnnotations must contain at least one item";
    if (sw_policy_open(&p, w->doc, &wrong, &err) < 0) {
        SW_AUTO_CHARS *at = sw_printf("spec.variables[%zu].expression", wrong);
        SW_AUTO_CHARS *detail = sw_printf("compilation failed: %s", sw_err_text(&err));
        json_object *variable = sw_json_at(sw_json_get(p.spec, "variables"), wrong);
        sw_field_error_str(errors, SW_FIELD_INVALID, at,
                           sw_json_str(variable, "", "expression", NULL), detail);
    } else {
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

void sw_policy_binding_check(struct sw_write *w, struct sw_field_errors *errors)
{
    if (!sw_json_len(sw_json_find(w->doc, "spec", "validationActions", NULL)))
        sw_field_error_raw(errors, SW_FIELD_REQUIRED, "spec.validationActions", NULL,
                           "at least one validation action is required");
    if (!*sw_json_str(w->doc, "", "spec", "policyName", NULL))
        sw_field_error_raw(errors, SW_FIELD_REQUIRED, "spec.policyName", NULL, NULL);
}
