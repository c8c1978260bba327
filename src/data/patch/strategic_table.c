/* Source: the patchStrategy and patchMergeKey notes of the Kubernetes API reference, 1.20 to 1.30.
 */
#include "data/patch/strategic_table.h"

#include <string.h>

#include "base/base.h"
#include "data/patch/merge.h"

/* clang-format off */
static const struct sw_merge_rule rules[] = {
    /* type                  field                        merge  key              element */
    { "*",                   "metadata",                  false, NULL,            "ObjectMeta" },
    { "ObjectMeta",          "finalizers",                true,  NULL,            NULL },
    { "ObjectMeta",          "ownerReferences",           true,  "uid",           NULL },

    { "Pod",                 "spec",                      false, NULL,            "PodSpec" },
    { "PodTemplate",         "template",                  false, NULL,            "PodTemplateSpec" },
    { "ReplicationController", "spec",                    false, NULL,            "WorkloadSpec" },
    { "ReplicaSet",          "spec",                      false, NULL,            "WorkloadSpec" },
    { "Deployment",          "spec",                      false, NULL,            "WorkloadSpec" },
    { "StatefulSet",         "spec",                      false, NULL,            "WorkloadSpec" },
    { "DaemonSet",           "spec",                      false, NULL,            "WorkloadSpec" },
    { "Job",                 "spec",                      false, NULL,            "WorkloadSpec" },
    { "CronJob",             "spec",                      false, NULL,            "CronJobSpec" },
    { "CronJobSpec",         "jobTemplate",               false, NULL,            "JobTemplateSpec" },
    { "JobTemplateSpec",     "spec",                      false, NULL,            "WorkloadSpec" },
    { "WorkloadSpec",        "template",                  false, NULL,            "PodTemplateSpec" },
    { "PodTemplateSpec",     "spec",                      false, NULL,            "PodSpec" },

    { "PodSpec",             "containers",                true,  "name",          "Container" },
    { "PodSpec",             "initContainers",            true,  "name",          "Container" },
    { "PodSpec",             "ephemeralContainers",       true,  "name",          "Container" },
    { "PodSpec",             "volumes",                   true,  "name",          NULL },
    { "PodSpec",             "imagePullSecrets",          true,  "name",          NULL },
    { "PodSpec",             "hostAliases",               true,  "ip",            NULL },
    { "PodSpec",             "topologySpreadConstraints", true,  "topologyKey",   NULL },
    { "PodSpec",             "schedulingGates",           true,  "name",          NULL },
    { "PodSpec",             "resourceClaims",            true,  "name",          NULL },
    { "Container",           "env",                       true,  "name",          NULL },
    { "Container",           "ports",                     true,  "containerPort", NULL },
    { "Container",           "volumeMounts",              true,  "mountPath",     NULL },
    { "Container",           "volumeDevices",             true,  "devicePath",    NULL },

    { "Service",             "spec",                      false, NULL,            "ServiceSpec" },
    { "ServiceSpec",         "ports",                     true,  "port",          NULL },
    { "ServiceAccount",      "secrets",                   true,  "name",          NULL },
    { "Node",                "spec",                      false, NULL,            "NodeSpec" },
    { "NodeSpec",            "podCIDRs",                  true,  NULL,            NULL },
    { "CSINode",             "spec",                      false, NULL,            "CSINodeSpec" },
    { "CSINodeSpec",         "drivers",                   true,  "name",          NULL },
    { "MutatingWebhookConfiguration",   "webhooks",       true,  "name",          NULL },
    { "ValidatingWebhookConfiguration", "webhooks",       true,  "name",          NULL },

    /* the conditions of kinds of other groups are atomic, but those come as custom resources */
    { "*",                   "status",                    false, NULL,            "Status" },
    { "Status",              "conditions",                true,  "type",          NULL },
    { "Status",              "addresses",                 true,  "type",          NULL },
    { "Status",              "podIPs",                    true,  "ip",            NULL },
    { "ComponentStatus",     "conditions",                true,  "type",          NULL },
};
/* clang-format on */

/* Types that are inside of kinds do not have what every kind has. */
static bool is_kind(const char *type)
{
    static const char *const inner[] = {
        "ObjectMeta",  "WorkloadSpec", "CronJobSpec", "PodSpec", "Container",
        "ServiceSpec", "NodeSpec",     "CSINodeSpec", "Status",
    };
    for (size_t i = 0; i < SW_COUNT(inner); i++)
        if (strcmp(inner[i], type) == 0)
            return false;
    return true;
}

const struct sw_merge_rule *sw_merge_rule_find(const char *type, const char *field)
{
    if (!type)
        return NULL;
    for (size_t i = 0; i < SW_COUNT(rules); i++) {
        const struct sw_merge_rule *r = &rules[i];
        if (strcmp(r->field, field) != 0)
            continue;
        if (strcmp(r->type, type) == 0 || (*r->type == '*' && is_kind(type)))
            return r;
    }
    return NULL;
}

const struct sw_merge_rule *sw_merge_rule_at(unsigned i)
{
    return i < SW_COUNT(rules) ? &rules[i] : NULL;
}
