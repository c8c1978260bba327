/* The warning that comes with each answer about a deprecated version of a kind. Source: Kubernetes
 * "Deprecated API Migration Guide", and the lifecycle of the types (k8s.io/api,
 * zz_generated.prerelease-lifecycle.go). */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "emulator/api/verbs.h"

/* minor numbers of releases; @gone 0: it stays */
static const struct {
    const char *group, *version, *kind;
    int since, gone;
    const char *instead; /* apiVersion and kind, or "" */
} rows[] = {
    { "", "v1", "ComponentStatus", 19, 0, "" },
    { "", "v1", "Endpoints", 33, 0, "discovery.k8s.io/v1 EndpointSlice" },
    { "extensions", "v1beta1", "Ingress", 14, 22, "networking.k8s.io/v1 Ingress" },
    { "networking.k8s.io", "v1beta1", "Ingress", 19, 22, "networking.k8s.io/v1 Ingress" },
    { "networking.k8s.io", "v1beta1", "IngressClass", 19, 22, "networking.k8s.io/v1 IngressClass" },
    { "apiextensions.k8s.io", "v1beta1", "CustomResourceDefinition", 16, 22,
      "apiextensions.k8s.io/v1 CustomResourceDefinition" },
    { "apiregistration.k8s.io", "v1beta1", "APIService", 19, 22,
      "apiregistration.k8s.io/v1 APIService" },
    { "admissionregistration.k8s.io", "v1beta1", "MutatingWebhookConfiguration", 16, 22,
      "admissionregistration.k8s.io/v1 MutatingWebhookConfiguration" },
    { "admissionregistration.k8s.io", "v1beta1", "ValidatingWebhookConfiguration", 16, 22,
      "admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration" },
    { "rbac.authorization.k8s.io", "v1beta1", "Role", 17, 22, "rbac.authorization.k8s.io/v1 Role" },
    { "rbac.authorization.k8s.io", "v1beta1", "RoleBinding", 17, 22,
      "rbac.authorization.k8s.io/v1 RoleBinding" },
    { "rbac.authorization.k8s.io", "v1beta1", "ClusterRole", 17, 22,
      "rbac.authorization.k8s.io/v1 ClusterRole" },
    { "rbac.authorization.k8s.io", "v1beta1", "ClusterRoleBinding", 17, 22,
      "rbac.authorization.k8s.io/v1 ClusterRoleBinding" },
    { "scheduling.k8s.io", "v1beta1", "PriorityClass", 14, 22,
      "scheduling.k8s.io/v1 PriorityClass" },
    { "coordination.k8s.io", "v1beta1", "Lease", 19, 22, "coordination.k8s.io/v1 Lease" },
    { "storage.k8s.io", "v1beta1", "StorageClass", 19, 22, "storage.k8s.io/v1 StorageClass" },
    { "storage.k8s.io", "v1beta1", "CSIDriver", 19, 22, "storage.k8s.io/v1 CSIDriver" },
    { "storage.k8s.io", "v1beta1", "CSINode", 17, 22, "storage.k8s.io/v1 CSINode" },
    { "batch", "v1beta1", "CronJob", 21, 25, "batch/v1 CronJob" },
    { "policy", "v1beta1", "PodDisruptionBudget", 21, 25, "policy/v1 PodDisruptionBudget" },
    { "policy", "v1beta1", "PodSecurityPolicy", 21, 25, "" },
    { "discovery.k8s.io", "v1beta1", "EndpointSlice", 21, 25, "discovery.k8s.io/v1 EndpointSlice" },
    { "autoscaling", "v2beta1", "HorizontalPodAutoscaler", 22, 25,
      "autoscaling/v2 HorizontalPodAutoscaler" },
    { "autoscaling", "v2beta2", "HorizontalPodAutoscaler", 23, 26,
      "autoscaling/v2 HorizontalPodAutoscaler" },
};

void sw_rest_warn_deprecated(struct sw_req *req)
{
    const int minor = sw_store_minor(req->store);
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        if (strcmp(rows[i].kind, req->kind->kind) != 0 || !sw_streq(rows[i].group, req->group) ||
            !sw_streq(rows[i].version, req->version) || minor < rows[i].since)
            continue;
        SW_AUTO_CHARS *gone = rows[i].gone ? sw_printf(", unavailable in v1.%d+", rows[i].gone)
                                           : sw_strdup("");
        sw_rest_add_warnings(req, sw_printf("%s%s%s %s is deprecated in v1.%d+%s%s%s",
                                            rows[i].group, *rows[i].group ? "/" : "",
                                            rows[i].version, rows[i].kind, rows[i].since, gone,
                                            *rows[i].instead ? "; use " : "", rows[i].instead));
    }
}
