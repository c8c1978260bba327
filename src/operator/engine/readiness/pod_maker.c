#include "operator/engine/readiness/pod_maker.h"

#include "base/base.h"
#include "data/json/path.h"

static const struct sw_pod_maker makers[] = {
    { "DaemonSet", { "spec", "template" }, .selects = true, .is_silent = true },
    { "Deployment", { "spec", "template" }, .selects = true },
    { "StatefulSet", { "spec", "template" }, .selects = true, .is_silent = true },
    { "ReplicaSet", { "spec", "template" }, .selects = true },
    { "Job", { "spec", "template" }, .selects = true, .is_silent = true },
    { .kind = "CronJob", .template = { "spec", "jobTemplate", "spec", "template" } },
    { .kind = "Pod" },
};

const struct sw_pod_maker *sw_pod_maker_find(const char *kind)
{
    for (size_t i = 0; i < SW_COUNT(makers); i++)
        if (sw_streq(kind, makers[i].kind))
            return &makers[i];
    return NULL;
}

bool sw_is_subscription(const char *api_version, const char *kind)
{
    return sw_streq(kind, "Subscription") && sw_starts_with(api_version, "operators.coreos.com/");
}

bool sw_pods_are_of_many(const char *ns)
{
    return sw_streq(ns, "default") || sw_starts_with(ns, "kube-") || sw_streq(ns, "openshift");
}

struct json_object *sw_pod_template(struct json_object *doc)
{
    const struct sw_pod_maker *maker = sw_pod_maker_find(sw_obj_kind(doc));
    if (!maker)
        return NULL;
    for (size_t i = 0; i < SW_COUNT(maker->template) && maker->template[i]; i++)
        doc = sw_json_get(doc, maker->template[i]);
    return doc;
}

struct json_object *sw_pod_container(struct json_object *template, size_t i)
{
    struct json_object *first = sw_json_find(template, "spec", "initContainers", NULL);
    size_t n = sw_json_len(first);
    return i < n ? sw_json_at(first, i)
                 : sw_json_at(sw_json_find(template, "spec", "containers", NULL), i - n);
}
