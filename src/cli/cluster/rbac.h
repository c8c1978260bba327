#pragma once
/* rbac: the rights that a recipe needs: those of the account that it is walked as, and what the
 * operator needs for it besides its own. Computed from the rendered manifests without a cluster. */
#include <stdbool.h>

#include "chart/recipe/recipe.h"

struct json_object;

/** The input of sw_rbac_of(). Strings are borrowed. */
struct sw_rbac_opts {
    const char *name;            /* of the resource; roles are named after it */
    const char *ns;              /* of the recipe */
    const char *operator_ns;     /* of the operator's account */
    const char *account;         /* the operator's account */
    const char *service_account; /* the resource's spec.serviceAccountName; NULL: the default one,
                                    "slipway-<name>" */
    const char *account_ns;      /* its namespace; NULL: that of the recipe */
    bool legacy;                 /* no account: all rights are the operator's (--legacy-rights) */
    const char *user;            /* no account: all rights are theirs, and those that `slipway run`
                                    needs for any recipe; NULL: nobody's */
    bool upgrades;               /* the resource has spec.upgradePolicy */
    bool cluster_wide;           /* in all namespaces, and to create the recipe's */
    bool escalate;               /* `bind` and `escalate` instead of what its roles contain */
    bool secrets;                /* templates use the builder's Secret */
    bool feature_gates;          /* templates use the API server's feature gates */
    bool priority_classes;       /* the resource has spec.priorityClasses */
    const char *config_map;      /* "NAMESPACE/NAME": the recipe is in that ConfigMap, which is not
                                    in the operator's namespace; NULL: it is not */
    struct json_object *module;  /* the SpecialResourceModule that applies it; NULL: a
                                    SpecialResource walks it */
    const char *login; /* "[namespace/]name" of its spec.chart.repository.secretRef; without a
                          namespace in the operator's; NULL: none */
    const struct sw_plan *plan; /* that is rendered */
    /* lookups of templates: [{apiVersion, kind, namespace, name}], "" if missing; NULL: none */
    struct json_object *lookups;
};

/** @return a list of manifests in the order to apply them; the caller's. Equal recipes give equal
 * lists.
 * Source: Kubernetes "Using RBAC Authorization", privilege escalation prevention; which verbs: the
 * calls of src/controller. Pinned by test/emulator/deploy/rbac_test.sh and
 * test/cluster/deploy_test.sh. */
struct json_object *sw_rbac_of(const struct sw_rendered *rendered, const struct sw_rbac_opts *opts);
