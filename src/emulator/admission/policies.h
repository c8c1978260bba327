#pragma once
/* policies: ValidatingAdmissionPolicies and their bindings: which concern a write, and what they
 * say of it. Source: Kubernetes "Validating Admission Policy"; each message compared with
 * kube-apiserver 1.36. Pinned by test/emulator/emulator/policy_test.sh. */
#include "emulator/admission/expressions.h"

/** Whether the write may be, by all policies that are bound. Warnings are added to the status.
 * @return 0 | the code of a refusal */
int sw_policies_validate(struct sw_write *w);
/** Check a ValidatingAdmissionPolicy itself. */
void sw_policy_check(struct sw_write *w, struct sw_field_errors *errors);
/** Check a ValidatingAdmissionPolicyBinding itself. */
void sw_policy_binding_check(struct sw_write *w, struct sw_field_errors *errors);

/* ---- inside -------------------------------------------------------------------------------------
 */

/** A policy with the variables that its expressions may name. */
struct policy {
    json_object *spec;
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
