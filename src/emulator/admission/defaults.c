#include "emulator/admission/defaults.h"
#include "emulator/admission/admission.h"

#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "data/text/base64.h"
#include "emulator/admission/devices.h"
#include "emulator/store/change.h"

static json_object *spec_of(struct sw_write *w)
{
    return sw_json_need_map(w->doc, "spec", NULL);
}

static void default_template(json_object *spec)
{
    json_object *tpl = sw_json_get(spec, "template");
    if (tpl)
        sw_default_pod_spec(sw_json_get(tpl, "spec"), false);
}

/* ---- workloads ----------------------------------------------------------------------------------
 */

const char *sw_pod_qos_class(json_object *spec)
{
    static const char *const lists[] = { "containers", "initContainers" };
    static const char *const names[] = { "cpu", "memory" };
    bool any = false, all = true;
    for (size_t l = 0; l < SW_COUNT(lists); l++) {
        json_object *containers = sw_json_get(spec, lists[l]);
        for (size_t i = 0; i < sw_json_len(containers) * SW_COUNT(names); i++) {
            json_object *c = sw_json_at(containers, i / SW_COUNT(names));
            const char *name = names[i % SW_COUNT(names)];
            json_object *limit = sw_json_find(c, "resources", "limits", name, NULL);
            json_object *request = sw_json_find(c, "resources", "requests", name, NULL);
            any = any || limit || request;
            all = all && limit && request && sw_json_equal(limit, request);
        }
    }
    return !any ? "BestEffort" : all ? "Guaranteed" : "Burstable";
}

static void default_pod(struct sw_write *w)
{
    json_object *spec = spec_of(w);
    sw_default_pod_spec(spec, true);
    if (w->op == SW_OP_CREATE) {
        sw_json_set_str(w->doc, "Pending", "status", "phase", NULL);
        sw_json_set_str(w->doc, sw_pod_qos_class(spec), "status", "qosClass", NULL);
    }
}

/* Default the type of the strategy @key to RollingUpdate. @return its parameters, borrowed; NULL:
 * it is of another type */
static json_object *default_strategy(json_object *spec, const char *key)
{
    json_object *strategy = sw_json_need_map(spec, key, NULL);
    sw_default_str(strategy, "type", "RollingUpdate");
    if (strcmp(sw_json_str(strategy, "", "type", NULL), "RollingUpdate") != 0)
        return NULL;
    return sw_json_need_map(strategy, "rollingUpdate", NULL);
}

static void default_deployment(struct sw_write *w)
{
    json_object *spec = spec_of(w);
    sw_default_int(spec, "replicas", 1);
    sw_default_int(spec, "revisionHistoryLimit", 10);
    sw_default_int(spec, "progressDeadlineSeconds", 600);
    json_object *rolling = default_strategy(spec, "strategy");
    if (rolling) {
        sw_default_str(rolling, "maxUnavailable", "25%");
        sw_default_str(rolling, "maxSurge", "25%");
    }
    default_template(spec);
}

static void default_replica_set(struct sw_write *w)
{
    sw_default_int(spec_of(w), "replicas", 1);
    default_template(spec_of(w));
}

static void default_daemon_set(struct sw_write *w)
{
    json_object *spec = spec_of(w);
    sw_default_int(spec, "revisionHistoryLimit", 10);
    json_object *rolling = default_strategy(spec, "updateStrategy");
    if (rolling)
        sw_default_int(rolling, "maxUnavailable", 1);
    if (rolling && sw_store_minor(w->store) >= 22)
        sw_default_int(rolling, "maxSurge", 0);
    default_template(spec);
}

static void default_claim(json_object *doc)
{
    sw_default_str(sw_json_need_map(doc, "spec", NULL), "volumeMode", "Filesystem");
    sw_default_str(sw_json_need_map(doc, "status", NULL), "phase", "Pending");
}

static void default_stateful_set(struct sw_write *w)
{
    json_object *spec = spec_of(w);
    sw_default_int(spec, "replicas", 1);
    sw_default_str(spec, "podManagementPolicy", "OrderedReady");
    sw_default_int(spec, "revisionHistoryLimit", 10);
    json_object *rolling = default_strategy(spec, "updateStrategy");
    if (rolling)
        sw_default_int(rolling, "partition", 0);
    if (sw_store_minor(w->store) >= 27) {
        json_object *policy = sw_json_need_map(spec, "persistentVolumeClaimRetentionPolicy", NULL);
        sw_default_str(policy, "whenDeleted", "Retain");
        sw_default_str(policy, "whenScaled", "Retain");
    }
    json_object *claims = sw_json_get(spec, "volumeClaimTemplates");
    for (size_t i = 0; i < sw_json_len(claims); i++) {
        sw_default_str(sw_json_at(claims, i), "apiVersion", "v1");
        sw_default_str(sw_json_at(claims, i), "kind", "PersistentVolumeClaim");
        default_claim(sw_json_at(claims, i));
    }
    default_template(spec);
}

/* The selector of a job, and the labels of its pods, have its uid, unless manualSelector is set. */
static void default_job(struct sw_write *w)
{
    json_object *spec = spec_of(w);
    if (!sw_json_get(spec, "parallelism"))
        sw_default_int(spec, "completions", 1);
    sw_default_int(spec, "parallelism", 1);
    sw_default_int(spec, "backoffLimit", 6);
    if (sw_store_minor(w->store) >= 22) {
        sw_default_str(spec, "completionMode", "NonIndexed");
        sw_default_bool(spec, "suspend", false);
    }
    default_template(spec);
    if (w->op != SW_OP_CREATE || sw_json_bool(spec, false, "manualSelector", NULL))
        return;
    const char *uid = sw_obj_uid(w->doc), *name = sw_obj_name(w->doc);
    bool prefixed = sw_store_minor(w->store) >= 27;
    json_object *labels = sw_json_need_map(spec, "template", "metadata", "labels", NULL);
    sw_default_str(labels, "controller-uid", uid);
    sw_default_str(labels, "job-name", name);
    if (prefixed) {
        sw_default_str(labels, "batch.kubernetes.io/controller-uid", uid);
        sw_default_str(labels, "batch.kubernetes.io/job-name", name);
    }
    if (!sw_json_get(spec, "selector"))
        sw_json_set_str(spec, uid, "selector", "matchLabels",
                        prefixed ? "batch.kubernetes.io/controller-uid" : "controller-uid", NULL);
}

static void default_cron_job(struct sw_write *w)
{
    json_object *spec = spec_of(w);
    sw_default_str(spec, "concurrencyPolicy", "Allow");
    sw_default_bool(spec, "suspend", false);
    sw_default_int(spec, "successfulJobsHistoryLimit", 3);
    sw_default_int(spec, "failedJobsHistoryLimit", 1);
    json_object *job = sw_json_find(spec, "jobTemplate", "spec", NULL);
    if (job)
        default_template(job);
}

/* ---- the rest of core ---------------------------------------------------------------------------
 */

static void default_namespace(struct sw_write *w)
{
    if (sw_store_minor(w->store) >= 21)
        sw_json_set_str(w->doc, w->name, "metadata", "labels", "kubernetes.io/metadata.name", NULL);
    if (w->op != SW_OP_CREATE)
        return;
    sw_default_list(spec_of(w), "finalizers", "kubernetes");
    sw_json_set_str(w->doc, "Active", "status", "phase", NULL);
}

static void default_secret(struct sw_write *w)
{
    sw_default_str(w->doc, "type", "Opaque");
    json_object *plain = sw_json_get(w->doc, "stringData");
    if (!plain)
        return;
    json_object *data = sw_json_need_map(w->doc, "data", NULL);
    json_object_object_foreach(plain, key, value)
    {
        size_t len = (size_t)json_object_get_string_len(value);
        SW_AUTO_CHARS *coded = sw_base64_encode(json_object_get_string(value), len, &len);
        sw_json_set_str(data, coded, key, NULL);
    }
    json_object_object_del(w->doc, "stringData"); /* write only */
}

static void default_service(struct sw_write *w)
{
    json_object *spec = spec_of(w);
    sw_default_str(spec, "sessionAffinity", "None");
    sw_default_str(spec, "type", "ClusterIP");
    if (sw_store_minor(w->store) >= 22 &&
        strcmp(sw_json_str(spec, "", "type", NULL), "ExternalName") != 0)
        sw_default_str(spec, "internalTrafficPolicy", "Cluster");
    json_object *ports = sw_json_get(spec, "ports");
    for (size_t i = 0; i < sw_json_len(ports); i++) {
        json_object *port = sw_json_at(ports, i), *number = sw_json_get(port, "port");
        sw_default_str(port, "protocol", "TCP");
        if (number)
            sw_default(port, "targetPort", json_object_get(number));
    }
    if (w->op == SW_OP_CREATE)
        (void)sw_json_need_map(w->doc, "status", "loadBalancer", NULL);
}

static void default_endpoints(struct sw_write *w)
{
    json_object *subsets = sw_json_get(w->doc, "subsets");
    for (size_t i = 0; i < sw_json_len(subsets); i++) {
        json_object *ports = sw_json_get(sw_json_at(subsets, i), "ports");
        for (size_t p = 0; p < sw_json_len(ports); p++)
            sw_default_str(sw_json_at(ports, p), "protocol", "TCP");
    }
}

static void default_pvc(struct sw_write *w)
{
    default_claim(w->doc);
}

static void default_pv(struct sw_write *w)
{
    sw_default_str(spec_of(w), "persistentVolumeReclaimPolicy", "Retain");
    sw_default_str(spec_of(w), "volumeMode", "Filesystem");
    sw_default_str(sw_json_need_map(w->doc, "status", NULL), "phase", "Pending");
}

/* ---- other groups -------------------------------------------------------------------------------
 */

static void default_binding(struct sw_write *w)
{
    json_object *role = sw_json_get(w->doc, "roleRef");
    if (role)
        sw_default_str(role, "apiGroup", "rbac.authorization.k8s.io");
    json_object *subjects = sw_json_get(w->doc, "subjects");
    for (size_t i = 0; i < sw_json_len(subjects); i++) {
        json_object *subject = sw_json_at(subjects, i);
        if (strcmp(sw_json_str(subject, "", "kind", NULL), "ServiceAccount") != 0)
            sw_default_str(subject, "apiGroup", "rbac.authorization.k8s.io");
    }
}

static void default_webhooks(struct sw_write *w)
{
    json_object *hooks = sw_json_get(w->doc, "webhooks");
    bool mutating = strcmp(w->kind->kind, "MutatingWebhookConfiguration") == 0;
    for (size_t i = 0; i < sw_json_len(hooks); i++) {
        json_object *hook = sw_json_at(hooks, i);
        sw_default_str(hook, "failurePolicy", "Fail");
        sw_default_str(hook, "matchPolicy", "Equivalent");
        sw_default(hook, "namespaceSelector", json_object_new_object());
        sw_default(hook, "objectSelector", json_object_new_object());
        sw_default_int(hook, "timeoutSeconds", 10);
        if (mutating)
            sw_default_str(hook, "reinvocationPolicy", "Never");
        json_object *service = sw_json_find(hook, "clientConfig", "service", NULL);
        if (service)
            sw_default_int(service, "port", 443);
        json_object *rules = sw_json_get(hook, "rules");
        for (size_t r = 0; r < sw_json_len(rules); r++)
            sw_default_str(sw_json_at(rules, r), "scope", "*");
    }
}

static void default_match(json_object *match)
{
    static const char *const lists[] = { "resourceRules", "excludeResourceRules" };
    if (!match)
        return;
    sw_default_str(match, "matchPolicy", "Equivalent");
    sw_default(match, "namespaceSelector", json_object_new_object());
    sw_default(match, "objectSelector", json_object_new_object());
    for (size_t i = 0; i < SW_COUNT(lists); i++) {
        json_object *rules = sw_json_get(match, lists[i]);
        for (size_t r = 0; r < sw_json_len(rules); r++)
            sw_default_str(sw_json_at(rules, r), "scope", "*");
    }
}

static void default_policy(struct sw_write *w)
{
    sw_default_str(spec_of(w), "failurePolicy", "Fail");
    sw_default(w->doc, "status", json_object_new_object());
    default_match(sw_json_get(spec_of(w), "matchConstraints"));
}

static void default_mutating_policy(struct sw_write *w)
{
    sw_default_str(spec_of(w), "failurePolicy", "Fail");
    default_match(sw_json_get(spec_of(w), "matchConstraints"));
}

static void default_policy_binding(struct sw_write *w)
{
    default_match(sw_json_get(spec_of(w), "matchResources"));
}

static void default_crd(struct sw_write *w)
{
    json_object *spec = spec_of(w), *names = sw_json_need_map(spec, "names", NULL);
    const char *kind = sw_json_str(names, "", "kind", NULL);
    SW_AUTO_CHARS *list_kind = sw_printf("%sList", kind), *singular = sw_strdup(kind);
    for (char *c = singular; *c; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
    sw_default_str(names, "listKind", list_kind);
    sw_default_str(names, "singular", singular);
    sw_default_str(sw_json_need_map(spec, "conversion", NULL), "strategy", "None");
}

static void default_storage_class(struct sw_write *w)
{
    sw_default_str(w->doc, "reclaimPolicy", "Delete");
    sw_default_str(w->doc, "volumeBindingMode", "Immediate");
}

static void default_csi_driver(struct sw_write *w)
{
    json_object *spec = spec_of(w);
    sw_default_bool(spec, "attachRequired", true);
    sw_default_bool(spec, "podInfoOnMount", false);
    sw_default_bool(spec, "storageCapacity", false);
    sw_default_str(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
    sw_default_list(spec, "volumeLifecycleModes", "Persistent");
}

static void default_priority_class(struct sw_write *w)
{
    sw_default_str(w->doc, "preemptionPolicy", "PreemptLowerPriority");
    sw_default_int(w->doc, "value", 0);
}

static void default_autoscaler(struct sw_write *w)
{
    sw_default_int(spec_of(w), "minReplicas", 1);
}

static void default_network_policy(struct sw_write *w)
{
    json_object *spec = spec_of(w);
    if (sw_json_get(spec, "policyTypes"))
        return;
    json_object *types = sw_json_need_list(spec, "policyTypes", NULL);
    json_object_array_add(types, json_object_new_string("Ingress"));
    if (sw_json_len(sw_json_get(spec, "egress")) > 0)
        json_object_array_add(types, json_object_new_string("Egress"));
}

#define RBAC "rbac.authorization.k8s.io"
#define ADMISSION "admissionregistration.k8s.io"
#define DEVICES "resource.k8s.io"

static const struct {
    const char *group, *kind;
    void (*fill)(struct sw_write *w);
} rows[] = {
    { "", "Pod", default_pod },
    { "", "Namespace", default_namespace },
    { "", "Secret", default_secret },
    { "", "Service", default_service },
    { "", "Endpoints", default_endpoints },
    { "", "PersistentVolumeClaim", default_pvc },
    { "", "PersistentVolume", default_pv },
    { "", "ReplicationController", default_replica_set },
    { "apps", "Deployment", default_deployment },
    { "apps", "ReplicaSet", default_replica_set },
    { "apps", "DaemonSet", default_daemon_set },
    { "apps", "StatefulSet", default_stateful_set },
    { "batch", "Job", default_job },
    { "batch", "CronJob", default_cron_job },
    { RBAC, "RoleBinding", default_binding },
    { RBAC, "ClusterRoleBinding", default_binding },
    { ADMISSION, "MutatingWebhookConfiguration", default_webhooks },
    { ADMISSION, "ValidatingWebhookConfiguration", default_webhooks },
    { ADMISSION, "MutatingAdmissionPolicy", default_mutating_policy },
    { ADMISSION, "MutatingAdmissionPolicyBinding", default_policy_binding },
    { ADMISSION, "ValidatingAdmissionPolicy", default_policy },
    { ADMISSION, "ValidatingAdmissionPolicyBinding", default_policy_binding },
    { "apiextensions.k8s.io", "CustomResourceDefinition", default_crd },
    { "storage.k8s.io", "StorageClass", default_storage_class },
    { "storage.k8s.io", "CSIDriver", default_csi_driver },
    { "scheduling.k8s.io", "PriorityClass", default_priority_class },
    { "autoscaling", "HorizontalPodAutoscaler", default_autoscaler },
    { "networking.k8s.io", "NetworkPolicy", default_network_policy },
    { DEVICES, "DeviceClass", sw_device_class_default },
    { DEVICES, "ResourceSlice", sw_device_slice_default },
    { DEVICES, "ResourceClaim", sw_device_claim_default },
    { DEVICES, "ResourceClaimTemplate", sw_device_claim_default },
};

void sw_defaults(struct sw_write *w)
{
    for (size_t i = 0; i < SW_COUNT(rows); i++)
        if (sw_write_is(w, rows[i].group, rows[i].kind))
            rows[i].fill(w);
}
