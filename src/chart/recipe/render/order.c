#include "chart/recipe/render/order.h"

#include <string.h>

#include "base/base.h"

static const char *const kinds[] = {
    "PriorityClass",
    "Namespace",
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "PodSecurityPolicy",
    "PodDisruptionBudget",
    "ServiceAccount",
    "Secret",
    "SecretList",
    "ConfigMap",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleList",
    "ClusterRoleBinding",
    "ClusterRoleBindingList",
    "Role",
    "RoleList",
    "RoleBinding",
    "RoleBindingList",
    "Certificates", /* as SRO spells it; no kind has this name */
    "Issuer",
    "ClusterIssuer", /* slipway: with its namespaced sister, before what they sign */
    "Certificate",
    "SecurityContextConstraints",
    "ImageStream",
    "BuildConfig",
    "Service",
    "DaemonSet",
    "Pod",
    "ReplicationController",
    "ReplicaSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "StatefulSet",
    "Job",
    "CronJob",
    "IngressClass",
    "Ingress",
    "APIService",
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
};

unsigned sw_kind_rank(const char *kind)
{
    unsigned i = 0;
    while (i < SW_COUNT(kinds) && strcmp(kinds[i], kind) != 0)
        i++;
    return i;
}
