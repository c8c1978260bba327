#include "emulator/admission/quota.h"

#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/admission/defaults.h"
#include "emulator/store/document.h"
#include "emulator/store/status.h"

/* ---- LimitRange ---------------------------------------------------------------------------------
 */

/* Default the requests or limits (@field) of a container to @amounts, which may be NULL. */
static void fill(json_object *container, const char *field, json_object *amounts)
{
    if (!amounts)
        return;
    json_object *own = sw_json_need_map(container, "resources", field, NULL);
    json_object_object_foreach(amounts, name, amount)
    {
        sw_default(own, name, json_object_get(amount));
    }
}

static int check_max(struct sw_write *w, json_object *container, json_object *max)
{
    if (!max)
        return 0;
    json_object_object_foreach(max, name, amount)
    {
        json_object *own = sw_json_find(container, "resources", "limits", name, NULL);
        struct sw_quantity limit, most;
        if (own && sw_quantity_from_json(own, &limit, NULL) == 0 &&
            sw_quantity_from_json(amount, &most, NULL) == 0 && sw_quantity_cmp(&limit, &most) > 0)
            return sw_status_forbidden(w->status, w->kind, w->name,
                                       "maximum %s usage per Container is %s, but limit is %s",
                                       name, json_object_get_string(amount),
                                       json_object_get_string(own));
    }
    return 0;
}

static int apply_limit(struct sw_write *w, json_object *limit)
{
    json_object *containers = sw_json_find(w->doc, "spec", "containers", NULL);
    if (strcmp(sw_json_str(limit, "", "type", NULL), "Container") != 0)
        return 0;
    for (size_t i = 0; i < sw_json_len(containers); i++) {
        json_object *container = sw_json_at(containers, i);
        json_object *request = sw_json_get(limit, "defaultRequest");
        json_object *full = sw_json_get(limit, "default");
        fill(container, "limits", full);
        fill(container, "requests", request ? request : full);
        int rc = check_max(w, container, sw_json_get(limit, "max"));
        if (rc < 0)
            return rc;
    }
    return 0;
}

int sw_limit_ranger(struct sw_write *w)
{
    if (w->op != SW_OP_CREATE || !sw_write_is(w, "", "Pod"))
        return 0;
    SW_STORE_LIST(ranges);
    sw_store_list(w->store, sw_store_kind(w->store, "", "LimitRange"), w->ns, &ranges);
    int rc = 0;
    for (size_t r = 0; r < ranges.n && rc == 0; r++) {
        json_object *limits = sw_json_find(ranges.items[r], "spec", "limits", NULL);
        for (size_t i = 0; i < sw_json_len(limits) && rc == 0; i++)
            rc = apply_limit(w, sw_json_at(limits, i));
    }
    return rc;
}

/* ---- ResourceQuota ------------------------------------------------------------------------------
 */

/* Add the containers' requests or limits (@field) of the resource @name. */
static void add_pod(json_object *pod, const char *field, const char *name, struct sw_quantity *sum)
{
    json_object *containers = sw_json_find(pod, "spec", "containers", NULL);
    for (size_t i = 0; i < sw_json_len(containers); i++) {
        struct sw_quantity q;
        json_object *amount = sw_json_find(sw_json_at(containers, i), "resources", field, name,
                                           NULL);
        if (amount && sw_quantity_from_json(amount, &q, NULL) == 0)
            sw_quantity_add(sum, &q);
    }
}

/* How much an object uses of a quota's @resource: "pods", "count/pods", "requests.cpu",
 * "limits.memory", "cpu". *@counts: whether the resource is about the object's kind. */
static struct sw_quantity charge(const struct sw_emu_kind *kind, json_object *doc,
                                 const char *resource, bool *counts)
{
    struct sw_quantity none = sw_quantity_from_int(0), one = sw_quantity_from_int(1);
    SW_AUTO_CHARS *type = sw_kind_resource(kind);
    bool pod = strcmp(type, "pods") == 0;
    *counts = true;
    if (strncmp(resource, "count/", 6) == 0) {
        *counts = strcmp(resource + 6, type) == 0;
        return *counts ? one : none;
    }
    if (strcmp(resource, type) == 0)
        return pod && sw_doc_is_over(doc) ? none : one;
    *counts = pod;
    if (!pod || sw_doc_is_over(doc))
        return none;
    if (strncmp(resource, "limits.", 7) == 0)
        add_pod(doc, "limits", resource + 7, &none);
    else if (strncmp(resource, "requests.", 9) == 0)
        add_pod(doc, "requests", resource + 9, &none);
    else
        add_pod(doc, "requests", resource, &none);
    return none;
}

/* Of one resource of a quota. */
struct sums {
    struct sw_quantity requested, used, hard;
};

/* Whether this create exceeds @hard, the quota of @resource. */
static bool is_exceeded(struct sw_write *w, const char *resource, json_object *hard,
                        struct sums *sums)
{
    bool counts;
    sums->requested = charge(w->kind, w->doc, resource, &counts);
    sums->used = sw_quantity_from_int(0);
    if (!counts || sums->requested.nano == 0 || sw_quantity_from_json(hard, &sums->hard, NULL) < 0)
        return false;
    SW_STORE_LIST(existing);
    sw_store_list(w->store, w->kind, w->ns, &existing);
    for (size_t i = 0; i < existing.n; i++) {
        struct sw_quantity q = charge(w->kind, existing.items[i], resource, &counts);
        sw_quantity_add(&sums->used, &q);
    }
    struct sw_quantity total = sums->used;
    sw_quantity_add(&total, &sums->requested);
    return sw_quantity_cmp(&total, &sums->hard) > 0;
}

static int check_quota(struct sw_write *w, json_object *quota)
{
    json_object *hard = sw_json_find(quota, "spec", "hard", NULL);
    struct sums sums;
    if (!json_object_is_type(hard, json_type_object))
        return 0;
    json_object_object_foreach(hard, resource, limit)
    {
        if (!is_exceeded(w, resource, limit, &sums))
            continue;
        char requested[64], used[64], most[64];
        return sw_status_forbidden(
            w->status, w->kind, w->name,
            "exceeded quota: %s, requested: %s=%s, used: %s=%s, limited: %s=%s", sw_obj_name(quota),
            resource, sw_quantity_text(&sums.requested, requested), resource,
            sw_quantity_text(&sums.used, used), resource, sw_quantity_text(&sums.hard, most));
    }
    return 0;
}

int sw_resource_quota(struct sw_write *w)
{
    if (w->op != SW_OP_CREATE || !w->kind->namespaced)
        return 0;
    const struct sw_emu_kind *kind = sw_store_kind(w->store, "", "ResourceQuota");
    if (sw_store_count(w->store, kind, w->ns) == 0)
        return 0;
    SW_STORE_LIST(quotas);
    sw_store_list(w->store, kind, w->ns, &quotas);
    for (size_t i = 0; i < quotas.n; i++) {
        int rc = check_quota(w, quotas.items[i]);
        if (rc < 0)
            return rc;
    }
    return 0;
}
