#pragma once
/* expressions: what expressions of admission may name: matchConditions of webhooks and policies,
 * and what policies check. Source: Kubernetes "Validating Admission Policy". Pinned by
 * test/emulator/emulator/policy_test.sh. */
#include "data/cel/cel.h"
#include "emulator/store/change.h"

struct sw_field_errors;

/** The variables, by number. */
enum sw_admission_variable {
    SW_V_OBJECT,
    SW_V_OLD_OBJECT,
    SW_V_REQUEST,
    SW_V_AUTHORIZER,
    SW_V_RESOURCE, /* authorizer.requestResource */
    SW_V_NAMESPACE,
    SW_V_PARAMS,
    SW_N_ADMISSION_VARIABLES
};

/** What there is besides: of policies. */
struct sw_admission_scope {
    bool is_policy;           /* namespaceObject */
    bool has_params;          /* params */
    bool has_no_authorizer;   /* of messages */
    bool makes_patches;       /* Object{...}, JSONPatch{...}: of mutations */
    const char *const *names; /* of `variables` */
    const struct sw_cel *const *composed;
    size_t n_composed;
};

/** Compile @text, which keeps it. @return 0 | SW_INVALID */
int sw_admission_compile(json_object *text, const struct sw_admission_scope *scope,
                         const struct sw_cel **out, struct sw_err *err) SW_CHECKED;
/** The values of a write's variables, from its review's @request; borrowed. @params: NULL:
 * none. */
void sw_admission_values(struct sw_write *w, json_object *request, json_object *params,
                         json_object *values[static SW_N_ADMISSION_VARIABLES],
                         struct sw_cel_input *input);
/** Whether the conditions in @list hold; one that is false wins over one that fails.
 * @return 1 | 0 | SW_INVALID: one fails, or does not compile */
int sw_admission_conditions(json_object *list, const struct sw_admission_scope *scope,
                            const struct sw_cel_input *input, struct sw_err *err) SW_CHECKED;
/** Add the errors of the conditions in @list, at @path. */
void sw_admission_check_conditions(json_object *list, const struct sw_admission_scope *scope,
                                   const char *path, struct sw_field_errors *errors);
/** Add the errors of the expression @text, which has to have one of @types ("string null_type"). */
void sw_admission_check(json_object *text, const struct sw_admission_scope *scope,
                        const char *types, const char *path, struct sw_field_errors *errors);

/** The `request` of a review; new (webhook.c). */
json_object *sw_admission_request(struct sw_write *w);
