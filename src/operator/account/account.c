#include "operator/account/account.h"

const struct sw_purpose_row sw_purposes[SW_N_PURPOSES] = {
    [SW_OWN_DISCOVERY] = { "discovery", "", "get", "what the server is and serves" },
    [SW_OWN_KINDS] = { "kinds",
                       "specialresources specialresources/status specialresourcemodules "
                       "specialresourcemodules/status preflightvalidations "
                       "preflightvalidations/status dasoperators dasoperators/status",
                       "get list watch create patch delete",
                       "its own kinds: status, finalizer, resources made for dependencies" },
    [SW_OWN_NODES] = { "nodes", "nodes", "get list watch patch",
                       "labels and taints of states, cordons" },
    [SW_OWN_OBJECTS] = { "objects", "*", "get list watch",
                         "how the objects of states are: one watch of a kind for all resources" },
    [SW_OWN_FACTS] = { "facts", "*", "get list watch",
                       "what is known of the cluster: versions, proxy, mirrors, CRDs" },
    [SW_OWN_RECORDS] = { "records", "configmaps secrets", "get list create patch delete",
                         "what it has done: records of releases, contents for rollbacks" },
    [SW_OWN_RECIPES] = { "recipes", "configmaps", "get watch",
                         "recipes in its own namespace; of all, whether they change" },
    [SW_OWN_EVENTS] = { "events", "events", "create", "Events" },
    [SW_OWN_LEASE] = { "lease", "leases", "get create update", "which replica leads" },
    [SW_OWN_REVIEWS] = { "reviews", "tokenreviews subjectaccessreviews", "create",
                         "who asks for metrics, and may he" },
    [SW_OWN_WALK] = { "walk", "*", "*",
                      "resources without spec.serviceAccountName: only with --legacy-rights, and "
                      "in "
                      "walks of one's own (slipway run)" },
};
