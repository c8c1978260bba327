#pragma once
/* policies: ValidatingAdmissionPolicies, MutatingAdmissionPolicies and their bindings: which
 * concern a write, and what they say of it or make of it. Source: Kubernetes "Validating Admission
 * Policy" and "Mutating Admission Policy"; each message compared with kube-apiserver 1.36. Pinned
 * by test/emulator/emulator/policy_test.sh and mutating_policy_test.sh. */
#include "emulator/admission/expressions.h"

/** Whether the write may be, by all policies that are bound. Warnings are added to the status.
 * @return 0 | the code of a refusal */
int sw_policies_validate(struct sw_write *w);
/** Change w->doc by all MutatingAdmissionPolicies that are bound. @again: a second time, by those
 * that ask for it (reinvocationPolicy IfNeeded), when something has changed the object meanwhile.
 * @return 0 | the code of a failure */
int sw_policies_mutate(struct sw_write *w, bool again);
/** Check a ValidatingAdmissionPolicy itself. */
void sw_policy_check(struct sw_write *w, struct sw_field_errors *errors);
/** Check a MutatingAdmissionPolicy itself. */
void sw_mutating_policy_check(struct sw_write *w, struct sw_field_errors *errors);
/** Check a MutatingAdmissionPolicyBinding itself. */
void sw_mutating_policy_binding_check(struct sw_write *w, struct sw_field_errors *errors);
/** Check a ValidatingAdmissionPolicyBinding itself. */
void sw_policy_binding_check(struct sw_write *w, struct sw_field_errors *errors);

/* ---- inside -------------------------------------------------------------------------------------
 */

/** A policy with the variables that its expressions may name. */
struct policy {
    json_object *doc, *spec;
    const char *name;
    const char **names;
    const struct sw_cel **composed;
    struct sw_admission_scope scope;
};
/** Compile the variables. @wrong: the number of the one that does not compile; may be NULL.
 * @return 0 | SW_INVALID */
int sw_policy_open(struct policy *p, json_object *doc, size_t *wrong, struct sw_err *err);
/** Free what it holds; harmless on a zeroed one. */
void sw_policy_close(struct policy *p);
/** Whether all matchConditions hold; one that is false wins over those that fail.
 * @return 1 | 0 | SW_INVALID "expression '...' resulted in error: ..." */
int sw_policy_conditions(const struct policy *p, const struct sw_cel_input *input,
                         struct sw_err *err) SW_CHECKED;

/** What is done with the policies of a kind that concern a write. */
struct policy_visit {
    const char *kind,
        *binding; /* "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding" */
    /** Called for each binding and each of its parameters (NULL: it has none). All is borrowed:
     * @policy for the call, the documents from the store. */
    void (*evaluate)(const struct policy *policy, json_object *binding, json_object *params,
                     void *arg);
    /** Its parameters cannot be found, and its failurePolicy is Fail. @binding: NULL: it is the
     * policy. */
    void (*fail)(const struct policy *policy, json_object *binding, const char *message, void *arg);
    void *arg;
};
/** Find the policies that are bound and concern the write. */
void sw_policies_visit(struct sw_write *w, const struct policy_visit *visit);
