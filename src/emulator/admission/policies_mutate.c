/* What MutatingAdmissionPolicies make of an object. All policies that concern a write are found
 * first; then their mutations are done one after another, each on what the one before has made. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "data/json/pointer.h"
#include "emulator/admission/policies.h"
#include "emulator/apply/apply.h"
#include "emulator/formats/declared.h"
#include "emulator/store/document.h"
#include "emulator/store/status.h"

/* A policy with one binding and one parameter; borrowed from the store. */
struct invocation {
    json_object *policy, *binding, *params;
};

/* The mutations of a write. */
struct mutations {
    struct sw_write *w;
    struct invocation *items;
    size_t n, cap;
    char **failed; /* messages of failures that count */
    size_t n_failed, cap_failed;
    const char *reason; /* of the first; NULL: that of what is forbidden */
};

static void on_policy(const struct policy *policy, json_object *binding, json_object *params,
                      void *arg)
{
    struct mutations *m = arg;
    SW_GROW(m->items, m->n, m->cap);
    m->items[m->n++] = (struct invocation){ policy->doc, binding, params };
}

static void note(struct mutations *m, const char *policy, json_object *binding, const char *reason,
                 const char *message)
{
    if (m->n_failed == 0)
        m->reason = reason;
    SW_GROW(m->failed, m->n_failed, m->cap_failed);
    m->failed[m->n_failed++] = binding
                                   ? sw_printf("policy '%s' with binding '%s' denied request: "
                                               "%s",
                                               policy, sw_obj_name(binding), message)
                                   : sw_printf("policy \"%s\" denied request: %s", policy, message);
}

/* Whether failures of the policy refuse the write. */
static bool counts(const struct policy *p)
{
    return !sw_streq(sw_json_str(p->spec, "Fail", "failurePolicy", NULL), "Ignore");
}

static void on_failure(const struct policy *policy, json_object *binding, const char *message,
                       void *arg)
{
    note(arg, policy->name, binding, NULL, message);
}

/* ---- JSON patches -------------------------------------------------------------------------------
 */

/* What holds the last step of a path; NULL: it is not there. */
static json_object *parent_of(json_object *doc, const struct sw_pointer *path)
{
    for (size_t i = 0; doc && i + 1 < path->n; i++) {
        size_t index = 0;
        if (!json_object_is_type(doc, json_type_array))
            doc = sw_json_get(doc, path->tokens[i]);
        else
            doc = sw_pointer_index(path->tokens[i], &index) ? sw_json_at(doc, index) : NULL;
    }
    return json_object_is_type(doc, json_type_object) || json_object_is_type(doc, json_type_array)
               ? doc
               : NULL;
}

/* Why an operation cannot be done, as the server's library says it. */
static int patch_error(json_object *doc, json_object *op, struct sw_err *err)
{
    static const struct {
        const char *op, *no_parent;
    } rows[] = {
        { "add", "doc is missing path: \"%s\"" },
        { "remove", "doc is missing path: \"%s\"" },
        { "replace", "doc is missing path: %s" },
        { "test", "is missing path: %s" },
        { "move", "doc is missing destination path: %s" },
        { "copy", "doc is missing destination path: %s" },
    };
    SW_ERR(ignored);
    struct sw_pointer pointer = { 0 };
    const char *name = sw_json_str(op, "", "op", NULL), *path = sw_json_str(op, "", "path", NULL);
    const char *from = sw_json_str(op, NULL, "from", NULL);
    size_t row = 0;
    while (row < SW_COUNT(rows) && !sw_streq(rows[row].op, name))
        row++;
    if (row == SW_COUNT(rows))
        return sw_err_set(err, SW_INVALID, "Unexpected kind: %s", name);
    json_object *parent = NULL;
    if (sw_pointer_parse(path, &pointer, &ignored) == 0)
        parent = parent_of(doc, &pointer);
    SW_AUTO_CHARS *last = sw_strdup(pointer.n ? pointer.tokens[pointer.n - 1] : "");
    sw_pointer_done(&pointer);
    if (from && parent)
        return sw_err_set(err, SW_INVALID,
                          "%s operation does not apply: doc is missing from path: %s: missing "
                          "value",
                          name, from);
    if (!parent) {
        SW_AUTO_CHARS *missing = sw_printf(rows[row].no_parent, path);
        return sw_err_set(err, SW_INVALID, "%s operation does not apply: %s: missing value", name,
                          missing);
    }
    if (sw_streq(name, "replace"))
        return sw_err_set(err, SW_INVALID,
                          "replace operation does not apply: doc is missing key: %s: missing value",
                          path);
    if (json_object_is_type(parent, json_type_array))
        return sw_err_set(err, SW_INVALID,
                          "error in %s for path: '%s': Unable to access invalid index: %s: invalid "
                          "index referenced",
                          name, path, last);
    return sw_err_set(err, SW_INVALID,
                      "error in %s for path: '%s': Unable to %s nonexistent key: %s: missing value",
                      name, path, name, last);
}

/* Whether an operation tests something that is not there, which is no error but false. */
static bool tests_nothing(json_object *doc, json_object *op)
{
    SW_ERR(ignored);
    struct sw_pointer pointer = { 0 };
    bool there = false;
    if (sw_streq(sw_json_str(op, "", "op", NULL), "test") &&
        sw_pointer_parse(sw_json_str(op, "", "path", NULL), &pointer, &ignored) == 0)
        there = json_object_is_type(parent_of(doc, &pointer), json_type_object);
    sw_pointer_done(&pointer);
    return there;
}

/* @out: the patched document, new; NULL: a test failed, and the object stays as it is */
static int patch_json(json_object *doc, json_object *patch, json_object **out, struct sw_err *err)
{
    SW_AUTO_JSON *now = json_object_get(doc);
    for (size_t i = 0; i < sw_json_len(patch); i++) {
        SW_ERR(why);
        json_object *op = sw_json_at(patch, i), *next = NULL;
        SW_AUTO_JSON *one = json_object_new_array();
        json_object_array_add(one, json_object_get(op));
        const int rc = sw_jsonpatch_apply(now, one, &next, &why);
        if (rc == SW_CONFLICT || (rc == SW_NOTFOUND && tests_nothing(now, op))) {
            *out = NULL;
            return 0;
        }
        if (rc < 0)
            return sw_err_wrap(err, patch_error(now, op, err), "JSON Patch");
        json_object_put(now);
        now = next;
    }
    *out = SW_TAKE(now);
    return 0;
}

/* ---- mutations ----------------------------------------------------------------------------------
 */

/* @out: the document that the mutation makes of w->doc, new; NULL: it stays as it is */
static int compute(struct sw_write *w, const struct policy *p, json_object *mutation,
                   const struct sw_cel_input *input, json_object **out, struct sw_err *err)
{
    const bool json = sw_streq(sw_json_str(mutation, "", "patchType", NULL), "JSONPatch");
    json_object *text = sw_json_find(mutation, json ? "jsonPatch" : "applyConfiguration",
                                     "expression", NULL);
    struct sw_admission_scope scope = p->scope;
    const struct sw_cel *cel = NULL;
    SW_AUTO_JSON *result = NULL;
    scope.makes_patches = true;
    if (!text)
        return sw_err_set(err, SW_INVALID, "the mutation has no expression");
    int rc = sw_admission_compile(text, &scope, &cel, err);
    if (rc < 0)
        return sw_err_wrap(err, rc, "compilation error");
    rc = sw_cel_run(cel, input, &result, NULL, err);
    if (rc < 0)
        return sw_starts_with(sw_err_text(err), "type mismatch: ")
                   ? rc
                   : sw_err_wrap(err, rc, "expression '%s' resulted in error",
                                 json_object_get_string(text));
    if (json)
        return patch_json(w->doc, result, out, err);
    rc = sw_apply_configuration(w, result, out, err);
    return rc < 0 ? sw_err_wrap(err, rc, "error applying patch") : 0;
}

/* Take what a mutation has made, @doc. */
static int take(struct sw_write *w, json_object *doc)
{
    SW_AUTO_CHARS *unknown = sw_unknown_field(sw_obj_api_version(doc), w->kind->kind, doc);
    if (!unknown)
        return w->redecode(w, doc);
    json_object_put(doc);
    return sw_status_set(w->status, 500, "InternalError",
                         "Internal error occurred: strict decoding error: unknown field \"%s\"",
                         unknown);
}

/* Do one mutation. One that fails is noted where its policy says so. */
static int mutate(struct mutations *m, const struct policy *p, const struct invocation *i,
                  json_object *mutation)
{
    SW_ERR(why);
    json_object *values[SW_N_ADMISSION_VARIABLES], *out = NULL;
    struct sw_cel_input input;
    SW_AUTO_JSON *request = sw_admission_request(m->w);
    sw_admission_values(m->w, request, i->params, values, &input);
    if (compute(m->w, p, mutation, &input, &out, &why) == 0)
        return out ? take(m->w, out) : 0;
    if (counts(p))
        note(m, p->name, i->binding, "Invalid", sw_err_text(&why));
    return 0;
}

/* Do the mutations of a policy, if its conditions hold. */
static int invoke(struct mutations *m, const struct policy *p, const struct invocation *i)
{
    SW_ERR(why);
    json_object *values[SW_N_ADMISSION_VARIABLES], *list = sw_json_get(p->spec, "mutations");
    struct sw_cel_input input;
    SW_AUTO_JSON *request = sw_admission_request(m->w);
    sw_admission_values(m->w, request, i->params, values, &input);
    const int holds = sw_policy_conditions(p, &input, &why);
    int rc = 0;
    if (holds < 0 && counts(p))
        note(m, p->name, i->binding, "Invalid", sw_err_text(&why));
    for (size_t k = 0; rc == 0 && holds == 1 && k < sw_json_len(list); k++)
        rc = mutate(m, p, i, sw_json_at(list, k));
    return rc;
}

static int refuse(struct mutations *m)
{
    const int rc = sw_status_set(m->w->status, 403, m->reason ? m->reason : "Forbidden", "%s",
                                 m->failed[0]);
    sw_status_about(m->w->status, m->w->kind, m->w->name);
    for (size_t i = 0; i < m->n_failed; i++)
        sw_status_cause(m->w->status, NULL, m->failed[i], NULL);
    return rc;
}

static void done(struct mutations *m)
{
    for (size_t i = 0; i < m->n_failed; i++)
        free(m->failed[i]);
    free(SW_TAKE(m->failed));
    free(SW_TAKE(m->items));
}

int sw_policies_mutate(struct sw_write *w, bool again)
{
    struct mutations m = { .w = w };
    int rc = 0;
    if (w->op == SW_OP_DELETE || !w->redecode) /* there is nothing to change */
        return 0;
    sw_policies_visit(w, &(struct policy_visit){ .kind = "MutatingAdmissionPolicy",
                                                 .binding = "MutatingAdmissionPolicyBinding",
                                                 .evaluate = on_policy,
                                                 .fail = on_failure,
                                                 .arg = &m });
    for (size_t i = 0; rc == 0 && i < m.n; i++) {
        SW_ERR(err);
        struct policy p;
        if (sw_policy_open(&p, m.items[i].policy, NULL, &err) == 0 &&
            (!again || sw_streq(sw_json_str(p.spec, "", "reinvocationPolicy", NULL), "IfNeeded")))
            rc = invoke(&m, &p, &m.items[i]);
        sw_policy_close(&p);
    }
    if (rc == 0 && m.n_failed)
        rc = refuse(&m);
    done(&m);
    return rc;
}
