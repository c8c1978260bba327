#pragma once
/* rbac: which rights the operator needs for a recipe, besides those that it always has. Found from
 * what the recipe renders to: no cluster is asked, no more is granted than the objects call for. */
#include <stdbool.h>

#include "chart/recipe/recipe.h"

struct json_object;

/** Strings are borrowed. */
struct sw_rbac_opts {
    const char *name;            /* of the roles: "slipway-<name>" */
    const char *ns;              /* where the recipe goes */
    const char *operator_ns;     /* where the operator's account is */
    const char *account;         /* the operator's account */
    const char *service_account; /* the resource's spec.serviceAccountName: the rights to write are
                                    its, and the operator may act as it and read. NULL: none */
    bool cluster_wide;           /* in all namespaces, and to make the recipe's own */
    bool escalate;               /* `bind` and `escalate` instead of what its roles contain */
    bool secrets;                /* templates ask for the builder's Secret */
    bool priority_classes;       /* the resource has spec.priorityClasses */
    /* what templates look up: [{apiVersion, kind, namespace, name}], "" where not said; NULL: none
     */
    struct json_object *lookups;
};

/** @return a list of manifests in the order to apply them; the caller's. Equal recipes give equal
 * lists.
 * Source: Kubernetes "Using RBAC Authorization", privilege escalation prevention; which verbs: the
 * calls of src/controller. Pinned by test/emulator/deploy/rbac_test.sh and
 * test/cluster/deploy_test.sh. */
struct json_object *sw_rbac_of(const struct sw_rendered *rendered, const struct sw_rbac_opts *opts);
