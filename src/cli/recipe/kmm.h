#pragma once
/* kmm: a recipe made of a Module of Kernel Module Management (KMM), kmm.sigs.x-k8s.io/v1beta1. Its
 * templates are those of states/kmm-module, which travel in the program; the Module's spec becomes
 * their values as it is. What has no counterpart is refused by its field's name.
 * Sources: api/v1beta1/module_types.go and internal/webhook/module.go of
 * kubernetes-sigs/kernel-module-management. */
#include <stddef.h>

#include "base/base.h"

struct json_object;

/** The templates and values of states/kmm-module; ends with a NULL name. */
extern const struct sw_embedded sw_kmm_module[];

/** What became of a Module. Owned by the caller; sw_kmm_recipe_done(). */
struct sw_kmm_recipe {
    char *name, *ns;           /* of the Module */
    char *annotations;         /* of Chart.yaml: lines of YAML, indented by two */
    char *values;              /* values.yaml */
    struct json_object *needs; /* objects that it names in its namespace: "Secret x" */
    struct json_object *notes; /* what is left out, and why: sentences */
};
void sw_kmm_recipe_done(struct sw_kmm_recipe *recipe);

/** Read the Module in @text, YAML of one or several documents or of a List. @file: for messages.
 * @ns: where the Module is, if it does not say so itself; NULL: "default".
 * @return 0 | SW_INVALID: the place, the field and what is wrong; @out is empty then */
int sw_kmm_read(const char *file, const char *text, size_t len, const char *ns,
                struct sw_kmm_recipe *out, struct sw_err *err) SW_CHECKED;
