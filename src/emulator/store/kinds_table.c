#include "emulator/store/kinds.h"

#include "base/base.h"

#define N SW_K_NAMESPACED
#define S SW_K_STATUS
#define C SW_K_SCALE
#define G SW_K_GENERATION
#define V SW_K_VIRTUAL
#define ADMISSION "admissionregistration.k8s.io"
#define AUTHZ "authorization.k8s.io"
#define DEVICES "resource.k8s.io"
#define DEVICES_VERSIONS "v1:34- v1beta2:33-off v1beta1:32-off"
#define F SW_K_FIRST
#define FLOW "flowcontrol.apiserver.k8s.io"
#define FLOW_VERSIONS "v1:29- v1beta3:26-31 v1beta2:23-28 v1beta1:20-25"
#define RBAC "rbac.authorization.k8s.io"
#define RBAC_VERSIONS "v1 v1beta1:-21"
#define STORAGE "storage.k8s.io"
#define POD_SUBRESOURCES "attach,binding,ephemeralcontainers,eviction,exec,log,portforward,proxy"

/* Source: the discovery documents of Kubernetes 1.20 to 1.36, and its deprecated API guide. */
const struct sw_builtin sw_builtins[] = {
    /* group, versions, kind, plural, short names, categories, flags, other subresources */
    { "", "v1", "Binding", "bindings", NULL, NULL, N | V, NULL },
    { "", "v1", "ConfigMap", "configmaps", "cm", NULL, N, NULL },
    { "", "v1", "Endpoints", "endpoints", "ep", NULL, N, NULL },
    { "", "v1", "Event", "events", "ev", NULL, N, NULL },
    { "", "v1", "LimitRange", "limitranges", "limits", NULL, N, NULL },
    { "", "v1", "Namespace", "namespaces", "ns", NULL, S, "finalize" },
    { "", "v1", "Node", "nodes", "no", NULL, S, "proxy" },
    { "", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", "pvc", NULL, N | S, NULL },
    { "", "v1", "PersistentVolume", "persistentvolumes", "pv", NULL, S, NULL },
    { "", "v1", "Pod", "pods", "po", "all", N | S, POD_SUBRESOURCES },
    { "", "v1", "PodTemplate", "podtemplates", NULL, NULL, N | G, NULL },
    { "", "v1", "ReplicationController", "replicationcontrollers", "rc", "all", N | S | C | G,
      NULL },
    { "", "v1", "ResourceQuota", "resourcequotas", "quota", NULL, N | S, NULL },
    { "", "v1", "Secret", "secrets", NULL, NULL, N, NULL },
    { "", "v1", "ServiceAccount", "serviceaccounts", "sa", NULL, N, "token" },
    { "", "v1", "Service", "services", "svc", "all", N | S, "proxy" },

    { "apiregistration.k8s.io", "v1 v1beta1:-21", "APIService", "apiservices", NULL,
      "api-extensions", S, NULL },

    { "apps", "v1", "ControllerRevision", "controllerrevisions", NULL, NULL, N, NULL },
    { "apps", "v1", "DaemonSet", "daemonsets", "ds", "all", N | S | G, NULL },
    { "apps", "v1", "Deployment", "deployments", "deploy", "all", N | S | C | G, NULL },
    { "apps", "v1", "ReplicaSet", "replicasets", "rs", "all", N | S | C | G, NULL },
    { "apps", "v1", "StatefulSet", "statefulsets", "sts", "all", N | S | C | G, NULL },

    { "events.k8s.io", "v1 v1beta1:-24", "Event", "events", "ev", NULL, N, NULL },

    { "authentication.k8s.io", "v1", "TokenReview", "tokenreviews", NULL, NULL, V, NULL },
    { "authentication.k8s.io", "v1:28-", "SelfSubjectReview", "selfsubjectreviews", NULL, NULL, V,
      NULL },
    { AUTHZ, "v1", "LocalSubjectAccessReview", "localsubjectaccessreviews", NULL, NULL, N | V,
      NULL },
    { AUTHZ, "v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews", NULL, NULL, V, NULL },
    { AUTHZ, "v1", "SelfSubjectRulesReview", "selfsubjectrulesreviews", NULL, NULL, V, NULL },
    { AUTHZ, "v1", "SubjectAccessReview", "subjectaccessreviews", NULL, NULL, V, NULL },

    { "autoscaling", "v2:23- v1 v2beta2:-25 v2beta1:-24", "HorizontalPodAutoscaler",
      "horizontalpodautoscalers", "hpa", "all", N | S, NULL },

    { "batch", "v1:21- v1beta1:-24", "CronJob", "cronjobs", "cj", "all", N | S | G, NULL },
    { "batch", "v1", "Job", "jobs", NULL, "all", N | S | G, NULL },

    { "certificates.k8s.io", "v1 v1beta1:-21", "CertificateSigningRequest",
      "certificatesigningrequests", "csr", NULL, S, "approval" },

    { "networking.k8s.io", "v1 v1beta1:-21", "Ingress", "ingresses", "ing", NULL, N | S | G, NULL },
    { "networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies", "netpol", NULL, N | G, NULL },
    { "networking.k8s.io", "v1 v1beta1:-21", "IngressClass", "ingressclasses", NULL, NULL, G,
      NULL },

    { "policy", "v1:21- v1beta1:-24", "PodDisruptionBudget", "poddisruptionbudgets", "pdb", NULL,
      N | S | G, NULL },
    { "policy", "v1beta1:-24", "PodSecurityPolicy", "podsecuritypolicies", "psp", NULL, 0, NULL },

    { RBAC, RBAC_VERSIONS, "ClusterRoleBinding", "clusterrolebindings", NULL, NULL, 0, NULL },
    { RBAC, RBAC_VERSIONS, "ClusterRole", "clusterroles", NULL, NULL, 0, NULL },
    { RBAC, RBAC_VERSIONS, "RoleBinding", "rolebindings", NULL, NULL, N, NULL },
    { RBAC, RBAC_VERSIONS, "Role", "roles", NULL, NULL, N, NULL },

    { STORAGE, "v1 v1beta1:-21", "StorageClass", "storageclasses", "sc", NULL, 0, NULL },
    { STORAGE, "v1 v1beta1:-21", "VolumeAttachment", "volumeattachments", NULL, NULL, S, NULL },
    { STORAGE, "v1 v1beta1:-21", "CSIDriver", "csidrivers", NULL, NULL, 0, NULL },
    { STORAGE, "v1 v1beta1:-21", "CSINode", "csinodes", NULL, NULL, 0, NULL },
    { STORAGE, "v1:24- v1beta1:21-26", "CSIStorageCapacity", "csistoragecapacities", NULL, NULL, N,
      NULL },

    { ADMISSION, "v1 v1beta1:-21", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations",
      NULL, "api-extensions", G, NULL },
    { ADMISSION, "v1 v1beta1:-21", "ValidatingWebhookConfiguration",
      "validatingwebhookconfigurations", NULL, "api-extensions", G, NULL },
    { ADMISSION, "v1:36- v1beta1:34-off", "MutatingAdmissionPolicy", "mutatingadmissionpolicies",
      NULL, "api-extensions", G, NULL },
    { ADMISSION, "v1:36- v1beta1:34-off", "MutatingAdmissionPolicyBinding",
      "mutatingadmissionpolicybindings", NULL, "api-extensions", G, NULL },
    { ADMISSION, "v1:30- v1beta1:28-33", "ValidatingAdmissionPolicy", "validatingadmissionpolicies",
      NULL, "api-extensions", S | G, NULL },
    { ADMISSION, "v1:30- v1beta1:28-33", "ValidatingAdmissionPolicyBinding",
      "validatingadmissionpolicybindings", NULL, "api-extensions", G, NULL },

    { "apiextensions.k8s.io", "v1 v1beta1:-21", "CustomResourceDefinition",
      "customresourcedefinitions", "crd,crds", "api-extensions", S | G, NULL },

    { "scheduling.k8s.io", "v1 v1beta1:-21", "PriorityClass", "priorityclasses", "pc", NULL, G,
      NULL },
    { "coordination.k8s.io", "v1 v1beta1:-21", "Lease", "leases", NULL, NULL, N, NULL },
    { "node.k8s.io", "v1 v1beta1:-24", "RuntimeClass", "runtimeclasses", NULL, NULL, 0, NULL },
    { "discovery.k8s.io", "v1:21- v1beta1:-24", "EndpointSlice", "endpointslices", NULL, NULL,
      N | G, NULL },
    { DEVICES, DEVICES_VERSIONS, "DeviceClass", "deviceclasses", NULL, NULL, G | F, NULL },
    { DEVICES, DEVICES_VERSIONS, "ResourceClaim", "resourceclaims", NULL, NULL, N | S | F, NULL },
    { DEVICES, DEVICES_VERSIONS, "ResourceClaimTemplate", "resourceclaimtemplates", NULL, NULL,
      N | F, NULL },
    { DEVICES, DEVICES_VERSIONS, "ResourceSlice", "resourceslices", NULL, NULL, G | F, NULL },
    { FLOW, FLOW_VERSIONS, "FlowSchema", "flowschemas", NULL, NULL, S | G, NULL },
    { FLOW, FLOW_VERSIONS, "PriorityLevelConfiguration", "prioritylevelconfigurations", NULL, NULL,
      S | G, NULL },
};
const size_t sw_n_builtins = SW_COUNT(sw_builtins);
