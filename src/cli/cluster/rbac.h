#pragma once
/* rbac: the rights that the operator needs for a recipe besides its own, computed from the rendered
 * manifests without a cluster. */
#include <stdbool.h>

#include "chart/recipe/recipe.h"

struct json_object;

/** The input of sw_rbac_of(). Strings are borrowed. */
struct sw_rbac_opts {
    const char *name;            /* of the roles: "slipway-<name>" */
    const char *ns;              /* of the recipe */
    const char *operator_ns;     /* of the operator's account */
    const char *account;         /* the operator's account */
    const char *service_account; /* the resource's spec.serviceAccountName: the rights to write are
                                    its, and the operator may act as it and read. NULL: none */
    bool cluster_wide;           /* in all namespaces, and to create the recipe's */
    bool escalate;               /* `bind` and `escalate` instead of what its roles contain */
    bool secrets;                /* templates use the builder's Secret */
    bool priority_classes;       /* the resource has spec.priorityClasses */
    /* lookups of templates: [{apiVersion, kind, namespace, name}], "" if missing; NULL: none */
    struct json_object *lookups;
};

/** @return a list of manifests in the order to apply them; the caller's. Equal recipes give equal
 * lists.
 * Source: Kubernetes "Using RBAC Authorization", privilege escalation prevention; which verbs: the
 * calls of src/controller. Pinned by test/emulator/deploy/rbac_test.sh and
 * test/cluster/deploy_test.sh. */
struct json_object *sw_rbac_of(const struct sw_rendered *rendered, const struct sw_rbac_opts *opts);
