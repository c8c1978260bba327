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
    *p = (struct policy){ .doc = doc,
                          .spec = spec,
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

/* "[a, b]", as Go shows several errors; one alone as it is. Takes @all. */
static char *joined(char *all, const char *next, size_t n)
{
    SW_AUTO_CHARS *before = all;
    if (n == 0)
        return sw_strdup(next);
    return n == 1 ? sw_printf("[%s, %s]", before, next)
                  : sw_printf("%.*s, %s]", (int)strlen(before) - 1, before, next);
}

int sw_policy_conditions(const struct policy *p, const struct sw_cel_input *input,
                         struct sw_err *err)
{
    json_object *list = sw_json_get(p->spec, "matchConditions");
    SW_AUTO_CHARS *failed = NULL;
    size_t n_failed = 0;
    for (size_t i = 0; i < sw_json_len(list); i++) {
        SW_ERR(why);
        const struct sw_cel *cel = NULL;
        json_object *text = sw_json_get(sw_json_at(list, i), "expression");
        int rc = sw_admission_compile(text, &p->scope, &cel, &why);
        if (rc == 0)
            rc = sw_cel_holds(cel, input, NULL, &why);
        if (rc == 0)
            return 0;
        if (rc > 0)
            continue;
        SW_AUTO_CHARS *one = sw_printf("expression '%s' resulted in error: %s",
                                       json_object_get_string(text), sw_err_text(&why));
        failed = joined(SW_TAKE(failed), one, n_failed++);
    }
    return failed ? sw_err_set(err, SW_INVALID, "%s", failed) : 1;
}

/* ---- parameters ---------------------------------------------------------------------------------
 */

/* A policy, one of its bindings, and who is told of them. */
struct turn {
    const struct policy_visit *visit;
    struct sw_write *w;
    const struct policy *policy;
    json_object *binding;
};

static void evaluate(const struct turn *t, json_object *params)
{
    t->visit->evaluate(t->policy, t->binding, params, t->visit->arg);
}

/* @binding: NULL: it is the policy that cannot be used */
static void fail(const struct turn *t, json_object *binding, const char *why)
{
    SW_AUTO_CHARS *message = sw_printf("failed to configure %s: %s", binding ? "binding" : "policy",
                                       why);
    if (!sw_streq(sw_json_str(t->policy->spec, "Fail", "failurePolicy", NULL), "Ignore"))
        t->visit->fail(t->policy, binding, message, t->visit->arg);
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

/* Evaluate with the objects that the binding names. @return how many */
static size_t with_named(const struct turn *t, const struct sw_emu_kind *kind, const char *ns,
                         json_object *ref)
{
    const char *name = sw_json_str(ref, "", "name", NULL);
    if (!*name)
        return with_selected(t, kind, ns, sw_json_get(ref, "selector"));
    json_object *params = sw_store_get(t->w->store, kind, ns, name);
    if (params)
        evaluate(t, params);
    return params != NULL;
}

static void with_params(const struct turn *t)
{
    json_object *wanted = sw_json_get(t->policy->spec, "paramKind");
    json_object *ref = sw_json_find(t->binding, "spec", "paramRef", NULL);
    const char *version = sw_json_str(wanted, "", "apiVersion", NULL),
               *slash = strchr(version, '/'), *name = sw_json_str(wanted, "", "kind", NULL);
    SW_AUTO_CHARS *group = slash ? sw_strndup(version, (size_t)(slash - version)) : sw_strdup("");
    const struct sw_emu_kind *kind = sw_store_kind(t->w->store, group, name);
    if (!kind || !kind->served) {
        SW_AUTO_CHARS *why = sw_printf("failed to find resource referenced by paramKind: "
                                       "'%s, Kind=%s'",
                                       version, name);
        fail(t, NULL, why);
        return;
    }
    if (!ref) { /* the binding does not use them */
        evaluate(t, NULL);
        return;
    }
    const char *own = sw_json_str(ref, "", "namespace", NULL);
    const char *ns = *own ? own : t->w->ns;
    if (kind->namespaced && !(ns && *ns))
        fail(t, t->binding,
             "cannot use namespaced paramRef in policy binding that matches cluster-scoped "
             "resources");
    else if (!kind->namespaced && *own)
        fail(t, t->binding,
             "paramRef.namespace must not be provided for a cluster-scoped `paramKind`");
    else if (!with_named(t, kind, kind->namespaced ? ns : NULL, ref) &&
             !sw_streq(sw_json_str(ref, "", "parameterNotFoundAction", NULL), "Allow"))
        fail(t, t->binding,
             "no params found for policy binding with `Deny` parameterNotFoundAction");
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
static void visit_bindings(struct turn *t, const struct sw_store_list *bindings)
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
            fail(t, t->binding, sw_err_text(&err));
        if (rc != 1)
            continue;
        if (sw_json_get(t->policy->spec, "paramKind"))
            with_params(t);
        else
            evaluate(t, NULL);
    }
}

void sw_policies_visit(struct sw_write *w, const struct policy_visit *visit)
{
    const struct sw_emu_kind *policies = sw_store_kind(w->store, GROUP, visit->kind);
    const struct sw_emu_kind *bindings = sw_store_kind(w->store, GROUP, visit->binding);
    SW_STORE_LIST(list);
    SW_STORE_LIST(bound);
    /* policies are exempt: one that refuses all must not prevent its own repair */
    if (!policies || !bindings || !sw_store_count(w->store, bindings, NULL) ||
        (sw_streq(w->kind->group, GROUP) && strstr(w->kind->kind, "AdmissionPolicy")))
        return;
    sw_store_list(w->store, policies, NULL, &list);
    sw_store_list(w->store, bindings, NULL, &bound);
    for (size_t i = 0; i < list.n; i++) {
        SW_ERR(err);
        struct policy policy;
        struct turn turn = { .visit = visit, .w = w, .policy = &policy };
        if (sw_policy_open(&policy, list.items[i], NULL, &err) == 0)
            visit_bindings(&turn, &bound);
        sw_policy_close(&policy);
    }
}
