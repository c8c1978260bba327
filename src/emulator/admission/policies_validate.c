/* What ValidatingAdmissionPolicies say of a write. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/admission/policies.h"
#include "emulator/store/status.h"

/* What the policies have decided of a write so far. */
struct decision {
    struct sw_write *w;
    json_object *request;
    char *denied;       /* the first refusal of all */
    const char *reason; /* of it */
};

/* A policy, one of its bindings, and the write that both concern. */
struct turn {
    struct decision *decision;
    const struct policy *policy;
    json_object *binding;
};

static bool acts(const struct turn *t, const char *action)
{
    return sw_json_has_text(sw_json_find(t->binding, "spec", "validationActions", NULL), action);
}

static void decide(const struct turn *t, const char *reason, const char *message)
{
    const char *binding = sw_obj_name(t->binding);
    if (acts(t, "Warn"))
        sw_status_warn(t->decision->w->status,
                       "Validation failed for ValidatingAdmissionPolicy '%s' with binding '%s': %s",
                       t->policy->name, binding, message);
    if (!acts(t, "Deny") || t->decision->denied)
        return;
    t->decision->denied = sw_printf(
        "ValidatingAdmissionPolicy '%s' with binding '%s' denied request: %s", t->policy->name,
        binding, message);
    t->decision->reason = reason;
}

/* Something could not be evaluated: the failurePolicy decides. */
static void fail(const struct turn *t, const char *message)
{
    if (!sw_streq(sw_json_str(t->policy->spec, "Fail", "failurePolicy", NULL), "Ignore"))
        decide(t, "Invalid", message);
}

static void fail_expression(const struct turn *t, json_object *text, const char *why)
{
    SW_AUTO_CHARS *message = sw_printf("expression '%s' resulted in error: %s",
                                       json_object_get_string(text), why);
    fail(t, message);
}

/* The text of messageExpression; NULL: there is none, or it cannot be evaluated. */
static char *own_message(const struct turn *t, json_object *validation,
                         const struct sw_cel_input *input)
{
    SW_ERR(ignored);
    const struct sw_cel *cel = NULL;
    SW_AUTO_JSON *out = NULL;
    json_object *text = sw_json_get(validation, "messageExpression");
    if (!text || sw_admission_compile(text, &t->policy->scope, &cel, &ignored) < 0 ||
        sw_cel_run(cel, input, &out, NULL, &ignored) < 0 ||
        !json_object_is_type(out, json_type_string))
        return NULL;
    static const char space[] = " \t\r\n";
    const char *message = json_object_get_string(out);
    message += strspn(message, space);
    size_t len = strlen(message);
    while (len && strchr(space, message[len - 1]))
        len--;
    return len && !memchr(message, '\n', len) ? sw_strndup(message, len) : NULL;
}

/* The reason of a refusal; as the documents are not kept, one of these. */
static const char *reason_of(json_object *validation)
{
    static const char *const reasons[] = { "Invalid", "Forbidden", "Unauthorized",
                                           "RequestEntityTooLarge" };
    const char *reason = sw_json_str(validation, "Invalid", "reason", NULL);
    for (size_t i = 0; i < SW_COUNT(reasons); i++)
        if (sw_streq(reasons[i], reason))
            return reasons[i];
    return reasons[0];
}

static void validate(const struct turn *t, json_object *validation,
                     const struct sw_cel_input *input)
{
    SW_ERR(why);
    const struct sw_cel *cel = NULL;
    json_object *text = sw_json_get(validation, "expression");
    int rc = sw_admission_compile(text, &t->policy->scope, &cel, &why);
    if (rc == 0)
        rc = sw_cel_holds(cel, input, NULL, &why);
    if (rc < 0) {
        fail_expression(t, text, sw_err_text(&why));
        return;
    }
    if (rc)
        return;
    SW_AUTO_CHARS *own = own_message(t, validation, input);
    const char *plain = sw_json_str(validation, "", "message", NULL);
    SW_AUTO_CHARS *message = own ? SW_TAKE(own)
                             : *plain
                                 ? sw_strdup(plain)
                                 : sw_printf("failed expression: %s", json_object_get_string(text));
    decide(t, reason_of(validation), message);
}

static void evaluate(const struct policy *policy, json_object *binding, json_object *params,
                     void *arg)
{
    SW_ERR(why);
    struct decision *decision = arg;
    const struct turn t = { .decision = decision, .policy = policy, .binding = binding };
    json_object *values[SW_N_ADMISSION_VARIABLES];
    json_object *list = sw_json_get(policy->spec, "validations");
    struct sw_cel_input input;
    if (!decision->request)
        decision->request = sw_admission_request(decision->w);
    sw_admission_values(decision->w, decision->request, params, values, &input);
    const int rc = sw_policy_conditions(policy, &input, &why);
    if (rc < 0)
        fail(&t, sw_err_text(&why));
    for (size_t i = 0; rc == 1 && i < sw_json_len(list); i++)
        validate(&t, sw_json_at(list, i), &input);
}

/* What cannot be evaluated at all is denied, whatever the binding's actions. */
static void on_failure(const struct policy *policy, json_object *binding, const char *message,
                       void *arg)
{
    struct decision *decision = arg;
    if (decision->denied)
        return;
    decision->reason = "Invalid";
    decision->denied = binding
                           ? sw_printf("ValidatingAdmissionPolicy '%s' with binding '%s' denied "
                                       "request: %s",
                                       policy->name, sw_obj_name(binding), message)
                           : sw_printf("ValidatingAdmissionPolicy '%s' denied request: %s",
                                       policy->name, message);
}

static int refuse(struct sw_write *w, const char *reason, const char *message)
{
    static const struct {
        const char *reason;
        int code;
    } rows[] = {
        { "Invalid", 422 },
        { "Forbidden", 403 },
        { "Unauthorized", 401 },
        { "RequestEntityTooLarge", 413 },
    };
    int code = 422;
    for (size_t i = 0; i < SW_COUNT(rows); i++)
        if (sw_streq(rows[i].reason, reason))
            code = rows[i].code;
    SW_AUTO_CHARS *resource = sw_kind_resource(w->kind);
    const int rc = sw_status_set(w->status, code, reason, "%s \"%s\" is forbidden: %s", resource,
                                 w->name, message);
    sw_status_about(w->status, w->kind, w->name);
    sw_status_cause(w->status, NULL, message, NULL);
    return rc;
}

int sw_policies_validate(struct sw_write *w)
{
    struct decision decision = { .w = w };
    sw_policies_visit(w, &(struct policy_visit){ .kind = "ValidatingAdmissionPolicy",
                                                 .binding = "ValidatingAdmissionPolicyBinding",
                                                 .evaluate = evaluate,
                                                 .fail = on_failure,
                                                 .arg = &decision });
    SW_AUTO_CHARS *denied = decision.denied;
    json_object_put(decision.request);
    return denied ? refuse(w, decision.reason, denied) : 0;
}
