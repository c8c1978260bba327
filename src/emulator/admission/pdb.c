#include "emulator/admission/pdb.h"

#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/store/document.h"
#include "emulator/store/status.h"

static bool selects(json_object *budget, json_object *pod)
{
    struct sw_selector selector = { 0 };
    json_object *own = sw_json_find(budget, "spec", "selector", NULL);
    bool found = own && sw_selector_from_object(own, &selector, NULL) == 0 &&
                 sw_selector_matches_object(&selector, pod);
    sw_selector_done(&selector);
    return found;
}

static bool is_healthy(json_object *pod)
{
    return !sw_doc_is_deleted(pod) && strcmp(sw_cond_status(pod, "Ready"), "True") == 0;
}

int sw_pdb_allow(struct sw_store *store, json_object *pod, struct sw_status *status)
{
    const char *phase = sw_json_str(pod, "", "status", "phase", NULL);
    if (strcmp(phase, "Pending") == 0 || sw_doc_is_over(pod) || sw_doc_is_deleted(pod))
        return 0;
    SW_STORE_LIST(budgets);
    sw_store_list(store, sw_store_kind(store, "policy", "PodDisruptionBudget"),
                  sw_obj_namespace(pod), &budgets);
    json_object *budget = NULL;
    for (size_t i = 0; i < budgets.n; i++) {
        if (!selects(budgets.items[i], pod))
            continue;
        if (budget)
            return sw_status_set(status, 500, "InternalError",
                                 "This pod has more than one PodDisruptionBudget, which the "
                                 "eviction subresource does not support.");
        budget = budgets.items[i];
    }
    if (!budget)
        return 0;
    int64_t expected = 0, healthy = 0;
    SW_STORE_LIST(pods);
    sw_store_list(store, sw_store_kind(store, "", "Pod"), sw_obj_namespace(budget), &pods);
    for (size_t i = 0; i < pods.n; i++) {
        if (!selects(budget, pods.items[i]))
            continue;
        expected++;
        healthy += is_healthy(pods.items[i]);
    }
    json_object *least = sw_json_find(budget, "spec", "minAvailable", NULL);
    json_object *most = sw_json_find(budget, "spec", "maxUnavailable", NULL);
    int64_t needed = least  ? sw_doc_share(least, expected, true, 0)
                     : most ? expected - sw_doc_share(most, expected, true, 0)
                            : 1;
    if (healthy > needed || !is_healthy(pod))
        return 0;
    int rc = sw_status_set(status, 429, "TooManyRequests",
                           "Cannot evict pod as it would violate the pod's disruption budget.");
    SW_AUTO_CHARS *why = sw_printf(
        "The disruption budget %s needs %lld healthy pods and has %lld currently",
        sw_obj_name(budget), (long long)needed, (long long)healthy);
    sw_status_cause(status, "DisruptionBudget", why, NULL);
    return rc;
}
