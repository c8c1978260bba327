#include "emulator/admission/policies.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/admission/webhook.h"
#include "emulator/store/status.h"

#define GROUP "admissionregistration.k8s.io"

/* ---- a policy -----------------------------------------------------------------------------------
 */

int sw_policy_open(struct policy *p, json_object *doc, size_t *wrong, struct sw_err *err)
{
    json_object *spec = sw_json_get(doc, "spec"), *variables = sw_json_get(spec, "variables");
    const size_t n = sw_json_len(variables);
    *p = (struct policy){ .spec = spec,
                          .name = sw_obj_name(doc),
                          .names = sw_zalloc(n + 1, sizeof *p->names),
                          .composed = sw_zalloc(n + 1, sizeof *p->composed) };
    p->scope = (struct sw_admission_scope){ .is_policy = true,
                                            .has_params = sw_json_get(spec, "paramKind"),
                                            .names = n ? p->names : NULL,
                                            .composed = p->composed };
    for (size_t i = 0; i < n; i++) {
        json_object *variable = sw_json_at(variables, i);
        json_object *text = sw_json_get(variable, "expression");
        int rc = sw_admission_compile(text, &p->scope, &p->composed[i], err);
        if (rc < 0) {
            if (wrong)
                *wrong = i;
            return rc;
        }
        p->names[i] = sw_json_str(variable, "", "name", NULL);
        p->scope.n_composed = i + 1;
    }
    return 0;
}

void sw_policy_close(struct policy *p)
{
    free(SW_TAKE(p->names));
    free(SW_TAKE(p->composed));
}

/* ---- what they say ------------------------------------------------------------------------------
 */

/* A policy, one of its bindings, and the write that both concern. */
struct turn {
    struct sw_write *w;
    const struct policy *policy;
    json_object *binding;
    json_object *request;
    char **denied;       /* the first refusal of all */
    const char **reason; /* of it */
};

static bool acts(const struct turn *t, const char *action)
{
    return sw_json_has_text(sw_json_find(t->binding, "spec", "validationActions", NULL), action);
}

static void decide(const struct turn *t, const char *reason, const char *message)
{
    const char *binding = sw_obj_name(t->binding);
    if (acts(t, "Warn"))
        sw_status_warn(t->w->status,
                       "Validation failed for ValidatingAdmissionPolicy '%s' with binding '%s': %s",
                       t->policy->name, binding, message);
    if (!acts(t, "Deny") || *t->denied)
        return;
    *t->denied = sw_printf("ValidatingAdmissionPolicy '%s' with binding '%s' denied request: %s",
                           t->policy->name, binding, message);
    *t->reason = reason;
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

/* @return whether all conditions hold; one that fails is told of, unless another is false */
static bool conditions_hold(const struct turn *t, const struct sw_cel_input *input)
{
    json_object *list = sw_json_get(t->policy->spec, "matchConditions"), *failed = NULL;
    SW_ERR(first);
    for (size_t i = 0; i < sw_json_len(list); i++) {
        SW_ERR(why);
        const struct sw_cel *cel = NULL;
        json_object *text = sw_json_get(sw_json_at(list, i), "expression");
        int rc = sw_admission_compile(text, &t->policy->scope, &cel, &why);
        if (rc == 0)
            rc = sw_cel_holds(cel, input, NULL, &why);
        if (rc == 0)
            return false;
        if (rc < 0 && !failed) {
            failed = text;
            (void)sw_err_move(&first, &why);
        }
    }
    if (failed)
        fail_expression(t, failed, sw_err_text(&first));
    return !failed;
}

static void evaluate(const struct turn *t, json_object *params)
{
    json_object *values[SW_N_ADMISSION_VARIABLES];
    json_object *list = sw_json_get(t->policy->spec, "validations");
    struct sw_cel_input input;
    sw_admission_values(t->w, t->request, params, values, &input);
    if (!conditions_hold(t, &input))
        return;
    for (size_t i = 0; i < sw_json_len(list); i++)
        validate(t, sw_json_at(list, i), &input);
}

/* ---- parameters ---------------------------------------------------------------------------------
 */

static const struct sw_emu_kind *param_kind(const struct turn *t)
{
    json_object *ref = sw_json_get(t->policy->spec, "paramKind");
    const char *version = sw_json_str(ref, "", "apiVersion", NULL), *slash = strchr(version, '/');
    SW_AUTO_CHARS *group = slash ? sw_strndup(version, (size_t)(slash - version)) : sw_strdup("");
    return sw_store_kind(t->w->store, group, sw_json_str(ref, "", "kind", NULL));
}

/* Evaluate with each object that a selector finds. @return how many */
static size_t with_selected(const struct turn *t, const struct sw_emu_kind *kind, const char *ns,
                            json_object *selector)
{
    SW_STORE_LIST(list);
    struct sw_selector parsed;
    SW_ERR(ignored);
    size_t n = 0;
    if (sw_selector_from_object(selector, &parsed, &ignored) < 0)
        return 0;
    sw_store_list(t->w->store, kind, ns, &list);
    for (size_t i = 0; i < list.n; i++) {
        if (!sw_selector_matches_object(&parsed, list.items[i]))
            continue;
        evaluate(t, list.items[i]);
        n++;
    }
    sw_selector_done(&parsed);
    return n;
}

static void with_params(const struct turn *t)
{
    json_object *ref = sw_json_find(t->binding, "spec", "paramRef", NULL);
    const struct sw_emu_kind *kind = param_kind(t);
    if (!kind || !kind->served) {
        fail(t, "failed to configure policy: failed to find resource referenced by paramKind");
        return;
    }
    const char *own = sw_json_str(ref, t->w->ns, "namespace", NULL);
    const char *ns = kind->namespaced ? own : NULL;
    const char *name = sw_json_str(ref, "", "name", NULL);
    size_t n = 0;
    if (*name) {
        json_object *params = sw_store_get(t->w->store, kind, ns, name);
        if (params)
            evaluate(t, params);
        n = params != NULL;
    } else {
        n = with_selected(t, kind, ns, sw_json_get(ref, "selector"));
    }
    if (!n && !sw_streq(sw_json_str(ref, "", "parameterNotFoundAction", NULL), "Allow"))
        fail(t, "failed to configure binding: no params found for policy binding with `Deny` "
                "parameterNotFoundAction");
}

/* ---- all of them --------------------------------------------------------------------------------
 */

static const char *operation_of(const struct sw_write *w)
{
    return w->op == SW_OP_CREATE ? "CREATE" : w->op == SW_OP_UPDATE ? "UPDATE" : "DELETE";
}

/* Whether the write is among what is matched, and not among what is left out of it. An empty
 * @match is all. @return 1 | 0 | a negative code */
static int selects(struct sw_write *w, json_object *match, struct sw_err *err)
{
    json_object *rules = sw_json_get(match, "resourceRules");
    json_object *without = sw_json_get(match, "excludeResourceRules");
    if (!match)
        return 1;
    if (sw_json_len(without) && sw_admission_selects(w, match, without, operation_of(w), err) == 1)
        return 0;
    return sw_admission_selects(w, match, sw_json_len(rules) ? rules : NULL, operation_of(w), err);
}

/* Evaluate the policy for each of its bindings. */
static void run_policy(struct turn *t, const struct sw_store_list *bindings)
{
    for (size_t i = 0; i < bindings->n; i++) {
        SW_ERR(err);
        t->binding = bindings->items[i];
        json_object *spec = sw_json_get(t->binding, "spec");
        if (!sw_streq(sw_json_str(spec, "", "policyName", NULL), t->policy->name))
            continue;
        int rc = selects(t->w, sw_json_get(t->policy->spec, "matchConstraints"), &err);
        if (rc == 1)
            rc = selects(t->w, sw_json_get(spec, "matchResources"), &err);
        if (rc < 0)
            fail(t, sw_err_text(&err));
        if (rc != 1)
            continue;
        if (sw_json_get(t->policy->spec, "paramKind"))
            with_params(t);
        else
            evaluate(t, NULL);
    }
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
    const struct sw_emu_kind *policies = sw_store_kind(w->store, GROUP,
                                                       "ValidatingAdmissionPolicy");
    const struct sw_emu_kind *kind = sw_store_kind(w->store, GROUP,
                                                   "ValidatingAdmissionPolicyBinding");
    SW_STORE_LIST(list);
    SW_STORE_LIST(bindings);
    /* policies are exempt: one that refuses all must not prevent its own repair */
    if (!policies || !kind || !sw_store_count(w->store, kind, NULL) ||
        (sw_streq(w->kind->group, GROUP) && strstr(w->kind->kind, "AdmissionPolicy")))
        return 0;
    sw_store_list(w->store, policies, NULL, &list);
    sw_store_list(w->store, kind, NULL, &bindings);
    SW_AUTO_JSON *request = sw_admission_request(w);
    SW_AUTO_CHARS *denied = NULL;
    const char *reason = NULL;
    for (size_t i = 0; i < list.n; i++) {
        SW_ERR(err);
        struct policy policy;
        struct turn turn = {
            .w = w, .policy = &policy, .request = request, .denied = &denied, .reason = &reason
        };
        if (sw_policy_open(&policy, list.items[i], NULL, &err) == 0)
            run_policy(&turn, &bindings);
        sw_policy_close(&policy);
    }
    return denied ? refuse(w, reason, denied) : 0;
}
