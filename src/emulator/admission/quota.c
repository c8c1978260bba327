#include "emulator/admission/quota.h"

#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/admission/defaults.h"
#include "emulator/admission/quota_scopes.h"
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
    if (ranges.n)
        sw_json_set_str(w->doc, sw_pod_qos_class(sw_json_get(w->doc, "spec")), "status", "qosClass",
                        NULL);
    return rc;
}

/* ---- ResourceQuota ------------------------------------------------------------------------------
 */

/* The requests or limits (@field) of one container, of the resource @name. */
static struct sw_quantity amount_of(json_object *container, const char *field, const char *name)
{
    struct sw_quantity q;
    json_object *amount = sw_json_find(container, "resources", field, name, NULL);
    if (!amount || sw_quantity_from_json(amount, &q, NULL) < 0)
        return sw_quantity_from_int(0);
    return q;
}

/* The requests or limits (@field) of the resource @name that a pod needs at most at one time: of
 * its containers with the sidecars, or of an init container with the sidecars before it; and what
 * its RuntimeClass adds. */
static struct sw_quantity pod_use(json_object *pod, const char *field, const char *name)
{
    json_object *inits = sw_json_find(pod, "spec", "initContainers", NULL);
    json_object *containers = sw_json_find(pod, "spec", "containers", NULL);
    json_object *overhead = sw_json_find(pod, "spec", "overhead", name, NULL);
    struct sw_quantity sum = sw_quantity_from_int(0), most = sum, sidecars = sum, more;
    for (size_t i = 0; i < sw_json_len(inits); i++) {
        json_object *init = sw_json_at(inits, i);
        struct sw_quantity now = amount_of(init, field, name);
        sw_quantity_add(&now, &sidecars);
        if (sw_streq(sw_json_str(init, "", "restartPolicy", NULL), "Always"))
            sidecars = now;
        if (sw_quantity_cmp(&now, &most) > 0)
            most = now;
    }
    for (size_t i = 0; i < sw_json_len(containers); i++) {
        struct sw_quantity q = amount_of(sw_json_at(containers, i), field, name);
        sw_quantity_add(&sum, &q);
    }
    sw_quantity_add(&sum, &sidecars);
    if (sw_quantity_cmp(&sum, &most) > 0)
        most = sum;
    if (overhead && sw_quantity_from_json(overhead, &more, NULL) == 0)
        sw_quantity_add(&most, &more);
    return most;
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
    if (strcmp(resource, "requests.storage") == 0) {
        json_object *amount = sw_json_find(doc, "spec", "resources", "requests", "storage", NULL);
        *counts = strcmp(type, "persistentvolumeclaims") == 0;
        if (*counts && amount && sw_quantity_from_json(amount, &one, NULL) == 0)
            return one;
        return none;
    }
    *counts = pod;
    if (!pod || sw_doc_is_over(doc))
        return none;
    if (strncmp(resource, "limits.", 7) == 0)
        return pod_use(doc, "limits", resource + 7);
    return pod_use(doc, "requests",
                   strncmp(resource, "requests.", 9) == 0 ? resource + 9 : resource);
}

/* The kind whose objects a quota's @resource is about; NULL: none that is served. */
static const struct sw_emu_kind *counted_kind(struct sw_store *store, const char *resource)
{
    struct sw_kinds *kinds = sw_store_kinds(store);
    const char *type = strncmp(resource, "count/", 6) == 0 ? resource + 6 : resource;
    const struct sw_emu_kind *kind;
    for (size_t i = 0; (kind = sw_kinds_nth(kinds, i)); i++) {
        SW_AUTO_CHARS *name = kind->namespaced ? sw_kind_resource(kind) : NULL;
        if (sw_streq(name, type))
            return kind;
    }
    if (sw_streq(resource, "requests.storage"))
        return sw_store_kind(store, "", "PersistentVolumeClaim");
    bool is_compute = strncmp(resource, "requests.", 9) == 0 ||
                      strncmp(resource, "limits.", 7) == 0 || sw_streq(resource, "cpu") ||
                      sw_streq(resource, "memory") || sw_streq(resource, "ephemeral-storage");
    return is_compute ? sw_store_kind(store, "", "Pod") : NULL;
}

/* What the objects of @kind that @quota counts use of @resource. */
static struct sw_quantity use_of(struct sw_store *store, const struct sw_emu_kind *kind,
                                 json_object *quota, const char *resource)
{
    struct sw_quantity sum = sw_quantity_from_int(0);
    bool counts;
    SW_STORE_LIST(objects);
    sw_store_list(store, kind, sw_obj_namespace(quota), &objects);
    for (size_t i = 0; i < objects.n; i++) {
        if (!sw_quota_counts(quota, kind, objects.items[i]))
            continue;
        struct sw_quantity q = charge(kind, objects.items[i], resource, &counts);
        sw_quantity_add(&sum, &q);
    }
    return sum;
}

json_object *sw_quota_used(struct sw_store *store, json_object *quota)
{
    json_object *hard = sw_json_find(quota, "spec", "hard", NULL), *used = json_object_new_object();
    if (!json_object_is_type(hard, json_type_object))
        return used;
    json_object_object_foreach(hard, resource, limit)
    {
        (void)limit;
        const struct sw_emu_kind *kind = counted_kind(store, resource);
        if (!kind)
            continue;
        char text[64];
        struct sw_quantity sum = use_of(store, kind, quota, resource);
        sw_json_set_str(used, sw_quantity_text(&sum, text), resource, NULL);
    }
    return used;
}

/* Of one resource of a quota. */
struct sums {
    struct sw_quantity requested, used, hard;
};

/* Whether this create exceeds what @quota has of @resource. */
static bool is_exceeded(struct sw_write *w, json_object *quota, const char *resource,
                        struct sums *sums)
{
    json_object *hard = sw_json_find(quota, "spec", "hard", resource, NULL);
    bool counts;
    sums->requested = charge(w->kind, w->doc, resource, &counts);
    if (!counts || sums->requested.nano == 0 || sw_quantity_from_json(hard, &sums->hard, NULL) < 0)
        return false;
    sums->used = use_of(w->store, w->kind, quota, resource);
    struct sw_quantity total = sums->used;
    sw_quantity_add(&total, &sums->requested);
    return sw_quantity_cmp(&total, &sums->hard) > 0;
}

/* The containers of @pod that do not name @resource, which a quota of it asks of each, "a,b"; heap.
 * NULL: all do. */
static char *without(json_object *pod, const char *resource)
{
    static const char *const lists[] = { "containers", "initContainers" };
    const char *field = strncmp(resource, "limits.", 7) == 0 ? "limits" : "requests";
    const char *dot = strchr(resource, '.'), *name = dot ? dot + 1 : resource;
    SW_AUTO_JSON *missing = json_object_new_object();
    char *names = NULL;
    for (size_t l = 0; l < SW_COUNT(lists); l++) {
        json_object *containers = sw_json_find(pod, "spec", lists[l], NULL);
        for (size_t i = 0; i < sw_json_len(containers); i++) {
            json_object *c = sw_json_at(containers, i);
            if (!sw_json_find(c, "resources", field, name, NULL))
                (void)json_object_object_add(missing, sw_json_str(c, "", "name", NULL), NULL);
        }
    }
    SW_AUTO_JSON *sorted = sw_json_sorted_keys(missing);
    for (size_t i = 0; i < sw_json_len(sorted); i++)
        sw_append(&names, "%s%s", names ? "," : "", json_object_get_string(sw_json_at(sorted, i)));
    return names;
}

/* A quota of CPU or memory asks each container for its own. Source: the pod evaluator's
 * Constraints() of kube-apiserver 1.36. */
static int check_constraints(struct sw_write *w, json_object *quota, json_object *resources)
{
    static const char *const asked[] = { "cpu",          "memory",
                                         "requests.cpu", "requests.memory",
                                         "limits.cpu",   "limits.memory" };
    SW_AUTO_CHARS *all = NULL;
    for (size_t i = 0; i < sw_json_len(resources); i++) {
        const char *resource = json_object_get_string(sw_json_at(resources, i));
        bool is_asked = false;
        for (size_t k = 0; k < SW_COUNT(asked); k++)
            is_asked = is_asked || sw_streq(resource, asked[k]);
        SW_AUTO_CHARS *names = is_asked ? without(w->doc, resource) : NULL;
        if (names)
            sw_append(&all, "%s%s for: %s", all ? "; " : "", resource, names);
    }
    return all ? sw_status_forbidden(w->status, w->kind, w->name,
                                     "failed quota: %s: must specify %s", sw_obj_name(quota), all)
               : 0;
}

static void append_amount(char **list, const char *resource, const struct sw_quantity *q)
{
    char text[64];
    sw_append(list, "%s%s=%s", *list ? "," : "", resource, sw_quantity_text(q, text));
}

static int check_quota(struct sw_write *w, json_object *quota)
{
    json_object *hard = sw_json_find(quota, "spec", "hard", NULL);
    struct sums sums;
    if (!json_object_is_type(hard, json_type_object) || !sw_quota_counts(quota, w->kind, w->doc))
        return 0;
    SW_AUTO_JSON *resources = sw_json_sorted_keys(hard);
    int rc = sw_write_is(w, "", "Pod") ? check_constraints(w, quota, resources) : 0;
    SW_AUTO_CHARS *requested = NULL, *used = NULL, *limited = NULL;
    for (size_t i = 0; rc == 0 && i < sw_json_len(resources); i++) {
        const char *resource = json_object_get_string(sw_json_at(resources, i));
        if (!is_exceeded(w, quota, resource, &sums))
            continue;
        append_amount(&requested, resource, &sums.requested);
        append_amount(&used, resource, &sums.used);
        append_amount(&limited, resource, &sums.hard);
    }
    return requested
               ? sw_status_forbidden(w->status, w->kind, w->name,
                                     "exceeded quota: %s, requested: %s, used: %s, limited: %s",
                                     sw_obj_name(quota), requested, used, limited)
               : rc;
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
