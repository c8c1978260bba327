#include "emulator/admission/pdb.h"

#include <string.h>

#include "base/base.h"
#include "data/data.h"
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
    return !sw_json_find(pod, "metadata", "deletionTimestamp", NULL) &&
           strcmp(sw_json_str(sw_obj_condition(pod, "Ready"), "", "status", NULL), "True") == 0;
}

/* A number, or a percentage of @total, rounded up. */
static int64_t amount(json_object *value, int64_t total)
{
    const char *text = json_object_get_string(value);
    int64_t n = json_object_get_int64(value);
    return text && strchr(text, '%') ? (n * total + 99) / 100 : n;
}

struct health {
    int64_t expected, healthy, needed;
};

static struct health health_of(struct sw_store *store, json_object *budget)
{
    struct health h = { 0 };
    SW_STORE_LIST(pods);
    sw_store_list(store, sw_store_kind(store, "", "Pod"), sw_obj_namespace(budget), &pods);
    for (size_t i = 0; i < pods.n; i++) {
        if (!selects(budget, pods.items[i]))
            continue;
        h.expected++;
        h.healthy += is_healthy(pods.items[i]);
    }
    json_object *least = sw_json_find(budget, "spec", "minAvailable", NULL);
    json_object *most = sw_json_find(budget, "spec", "maxUnavailable", NULL);
    if (least)
        h.needed = amount(least, h.expected);
    else if (most)
        h.needed = h.expected - amount(most, h.expected);
    else
        h.needed = 1;
    return h;
}

static int refuse(json_object *budget, const struct health *h, struct sw_status *status)
{
    int rc = sw_status_set(status, 429, "TooManyRequests",
                           "Cannot evict pod as it would violate the pod's disruption budget.");
    SW_AUTO_CHARS *why = sw_printf("The disruption budget %s needs %lld healthy pods and has %lld "
                                   "currently",
                                   sw_obj_name(budget), (long long)h->needed,
                                   (long long)h->healthy);
    sw_status_cause(status, "DisruptionBudget", why, NULL);
    return rc;
}

int sw_pdb_allow(struct sw_store *store, json_object *pod, struct sw_status *status)
{
    const char *phase = sw_json_str(pod, "", "status", "phase", NULL);
    if (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0 ||
        strcmp(phase, "Pending") == 0 || sw_json_find(pod, "metadata", "deletionTimestamp", NULL))
        return 0;
    SW_STORE_LIST(budgets);
    sw_store_list(store, sw_store_kind(store, "policy", "PodDisruptionBudget"),
                  sw_obj_namespace(pod), &budgets);
    json_object *own = NULL;
    for (size_t i = 0; i < budgets.n; i++) {
        if (!selects(budgets.items[i], pod))
            continue;
        if (own)
            return sw_status_set(status, 500, "InternalError",
                                 "This pod has more than one PodDisruptionBudget, which the "
                                 "eviction subresource does not support.");
        own = budgets.items[i];
    }
    if (!own)
        return 0;
    struct health h = health_of(store, own);
    return h.healthy - 1 < h.needed && is_healthy(pod) ? refuse(own, &h, status) : 0;
}
