/* Where the pod template is in the kinds that make pods. */
#include "operator/manifests/hooks_internal.h"

enum { MAX_DEPTH = 4 };

/* pod: the way to {metadata, spec} of the pods; selector: to the nodeSelector. */
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

bool sw_hook_asked(struct json_object *doc, const char *annotation)
{
    return sw_streq(sw_obj_annotation(doc, annotation), "true");
}
