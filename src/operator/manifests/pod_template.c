/* Where the pod template is in the kinds that make pods. */
#include "operator/manifests/hooks_internal.h"

enum { MAX_DEPTH = 4 };

/* @pod: the path to {metadata, spec} of the pods. */
static const struct {
    const char *kind;
    const char *pod[MAX_DEPTH];
} pod_makers[] = {
    { "DaemonSet", { "spec", "template" } },
    { "Deployment", { "spec", "template" } },
    { "StatefulSet", { "spec", "template" } },
    { "ReplicaSet", { "spec", "template" } },
    { "Job", { "spec", "template" } },
    { "CronJob", { "spec", "jobTemplate", "spec", "template" } },
    { "Pod", { 0 } },
};

struct json_object *sw_hook_pod_template(struct json_object *doc)
{
    for (size_t i = 0; i < SW_COUNT(pod_makers); i++) {
        if (!sw_streq(sw_obj_kind(doc), pod_makers[i].kind))
            continue;
        struct json_object *at = doc;
        for (size_t k = 0; k < MAX_DEPTH && pod_makers[i].pod[k]; k++)
            at = sw_json_get(at, pod_makers[i].pod[k]);
        return at;
    }
    return NULL;
}

struct json_object *hook_container(struct json_object *pod, size_t i)
{
    struct json_object *first = sw_json_find(pod, "spec", "initContainers", NULL);
    size_t n = sw_json_len(first);
    return i < n ? sw_json_at(first, i)
                 : sw_json_at(sw_json_find(pod, "spec", "containers", NULL), i - n);
}

bool sw_hook_asked(struct json_object *doc, const char *annotation)
{
    return sw_streq(sw_obj_annotation(doc, annotation), "true");
}
