/* The validation of the built-in kinds, as far as users run into it: names, required fields,
 * immutable fields. Source: Kubernetes' API reference and validation messages. */
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/admission/admission.h"
#include "emulator/admission/devices.h"
#include "emulator/admission/policies.h"
#include "emulator/schema/crd.h"
#include "emulator/store/change.h"
#include "emulator/store/status.h"

/* ---- metadata -----------------------------------------------------------------------------------
 */

enum { MAX_ANNOTATIONS = 256 * 1024 };

static void check_labels(json_object *labels, const char *field, struct sw_field_errors *e)
{
    if (!json_object_is_type(labels, json_type_object))
        return;
    json_object_object_foreach(labels, key, value)
    {
        const char *fault = sw_label_key_fault(key);
        if (fault)
            sw_field_error_str(e, SW_FIELD_INVALID, field, key, fault);
        const char *text = json_object_get_string(value);
        fault = sw_label_value_fault(text ? text : "");
        if (fault)
            sw_field_error_str(e, SW_FIELD_INVALID, field, text, fault);
    }
}

static void check_annotations(json_object *annotations, struct sw_field_errors *e)
{
    size_t total = 0;
    if (!json_object_is_type(annotations, json_type_object))
        return;
    json_object_object_foreach(annotations, key, value)
    {
        const char *fault = sw_label_key_fault(key);
        if (fault)
            sw_field_error_str(e, SW_FIELD_INVALID, "metadata.annotations", key, fault);
        total += strlen(key) + (size_t)json_object_get_string_len(value);
    }
    if (total > MAX_ANNOTATIONS)
        sw_field_error_raw(e, SW_FIELD_TOO_LONG, "metadata.annotations", NULL,
                           "may not be more than 262144 bytes");
}

/* What is wrong with the name: it becomes a segment of a path, a DNS label or a DNS subdomain, by
 * kind. NULL: nothing. */
static const char *name_fault(const struct sw_write *w)
{
    static const char *const dns_labels[] = { "Namespace", "Service" };
    static const char *const any_segment[] = { "Role", "ClusterRole", "RoleBinding",
                                               "ClusterRoleBinding" };
    for (size_t i = 0; i < SW_COUNT(any_segment); i++)
        if (sw_write_is(w, "rbac.authorization.k8s.io", any_segment[i]))
            return strpbrk(w->name, "/%") ? "may not contain '/' or '%'" : NULL;
    for (size_t i = 0; i < SW_COUNT(dns_labels); i++)
        if (sw_write_is(w, "", dns_labels[i]))
            return sw_dns_label_fault(w->name);
    return sw_dns_subdomain_fault(w->name);
}

static void check_meta(struct sw_write *w, struct sw_field_errors *e)
{
    json_object *meta = sw_json_get(w->doc, "metadata");
    const char *fault = w->name[0] && w->op == SW_OP_CREATE ? name_fault(w) : NULL;
    if (!w->name[0])
        sw_field_error_raw(e, SW_FIELD_REQUIRED, "metadata.name", NULL,
                           "name or generateName is required");
    else if (fault)
        sw_field_error_str(e, SW_FIELD_INVALID, "metadata.name", w->name, fault);
    check_labels(sw_json_get(meta, "labels"), "metadata.labels", e);
    check_annotations(sw_json_get(meta, "annotations"), e);
    static const char *const needed[] = { "apiVersion", "kind", "name", "uid" };
    json_object *refs = sw_json_get(meta, "ownerReferences");
    for (size_t i = 0; i < sw_json_len(refs); i++) {
        for (size_t k = 0; k < SW_COUNT(needed); k++) {
            if (sw_json_str(sw_json_at(refs, i), "", needed[k], NULL)[0])
                continue;
            SW_AUTO_CHARS *field = sw_printf("metadata.ownerReferences.%s", needed[k]);
            sw_field_error_str(e, SW_FIELD_INVALID, field, "", "must not be empty");
        }
    }
    if (w->op != SW_OP_UPDATE)
        return;
    json_object *finalizers = sw_json_get(meta, "finalizers");
    for (size_t i = 0; i < sw_json_len(finalizers); i++) {
        const char *each = json_object_get_string(sw_json_at(finalizers, i));
        if (!sw_doc_is_deleted(w->old) || sw_meta_has_finalizer(w->old, each))
            continue;
        SW_AUTO_CHARS *message = sw_printf("no new finalizers can be added if the object is being "
                                           "deleted, found new finalizers []string{\"%s\"}",
                                           each);
        sw_field_error_raw(e, SW_FIELD_FORBIDDEN, "metadata.finalizers", NULL, message);
    }
}

/* ---- helpers ------------------------------------------------------------------------------------
 */

static json_object *spec_of(struct sw_write *w)
{
    return sw_json_get(w->doc, "spec");
}

/* A string map as Go's %#v prints it. */
static char *go_string_map(json_object *map)
{
    char *text = sw_strdup("map[string]string{");
    const char *comma = "";
    if (json_object_is_type(map, json_type_object)) {
        json_object_object_foreach(map, key, value)
        {
            SW_AUTO_CHARS *k = sw_status_quote(key);
            SW_AUTO_CHARS *v = sw_status_quote(json_object_get_string(value));
            sw_append(&text, "%s%s:%s", comma, k, v);
            comma = ", ";
        }
    }
    sw_append(&text, "}");
    return text;
}

/* The value must not change in an update. */
static void immutable(struct sw_write *w, struct sw_field_errors *e, const char *field,
                      json_object *was, json_object *is)
{
    if (w->op != SW_OP_UPDATE || sw_json_equal(was, is))
        return;
    sw_field_error(e, SW_FIELD_INVALID, field, is, "field is immutable");
}

static void immutable_selector(struct sw_write *w, struct sw_field_errors *e)
{
    json_object *was = sw_json_find(w->old, "spec", "selector", NULL);
    json_object *is = sw_json_find(w->doc, "spec", "selector", NULL);
    if (w->op != SW_OP_UPDATE || sw_json_equal(was, is))
        return;
    SW_AUTO_CHARS *labels = go_string_map(sw_json_get(is, "matchLabels"));
    SW_AUTO_CHARS *shown = sw_printf("v1.LabelSelector{MatchLabels:%s, "
                                     "MatchExpressions:[]v1.LabelSelectorRequirement(nil)}",
                                     labels);
    sw_field_error_raw(e, SW_FIELD_INVALID, "spec.selector", shown, "field is immutable");
}

static void not_negative(json_object *spec, const char *key, struct sw_field_errors *e)
{
    json_object *value = sw_json_get(spec, key);
    SW_AUTO_CHARS *field = sw_printf("spec.%s", key);
    if (value && !json_object_is_type(value, json_type_int))
        sw_field_error(e, SW_FIELD_INVALID, field, value, "must be an integer");
    else if (json_object_get_int64(value) < 0)
        sw_field_error(e, SW_FIELD_INVALID, field, value, "must be greater than or equal to 0");
}

/* ---- pods ---------------------------------------------------------------------------------------
 */

static void check_one_of(json_object *value, const char *field, const char *const *allowed,
                         struct sw_field_errors *e)
{
    if (!value)
        return;
    SW_AUTO_CHARS *list = sw_strdup("supported values: ");
    for (size_t i = 0; allowed[i]; i++) {
        if (strcmp(json_object_get_string(value), allowed[i]) == 0)
            return;
        sw_append(&list, "%s\"%s\"", i ? ", " : "", allowed[i]);
    }
    sw_field_error(e, SW_FIELD_NOT_SUPPORTED, field, value, "%s", list);
}

static void check_ports(json_object *ports, const char *path, const char *key,
                        struct sw_field_errors *e)
{
    static const char *const protocols[] = { "SCTP", "TCP", "UDP", NULL };
    for (size_t i = 0; i < sw_json_len(ports); i++) {
        json_object *port = sw_json_at(ports, i), *number = sw_json_get(port, key);
        SW_AUTO_CHARS *field = sw_printf("%s[%zu].%s", path, i, key);
        SW_AUTO_CHARS *protocol = sw_printf("%s[%zu].protocol", path, i);
        int64_t n = json_object_get_int64(number);
        if (!number)
            sw_field_error_raw(e, SW_FIELD_REQUIRED, field, NULL, NULL);
        else if (n < 1 || n > 65535)
            sw_field_error(e, SW_FIELD_INVALID, field, number,
                           "must be between 1 and 65535, inclusive");
        check_one_of(sw_json_get(port, "protocol"), protocol, protocols, e);
    }
}

static void check_resources(json_object *container, const char *path, struct sw_field_errors *e)
{
    static const char *const fields[] = { "limits", "requests" };
    for (size_t f = 0; f < SW_COUNT(fields); f++) {
        json_object *amounts = sw_json_find(container, "resources", fields[f], NULL);
        if (!json_object_is_type(amounts, json_type_object))
            continue;
        json_object_object_foreach(amounts, name, amount)
        {
            SW_AUTO_CHARS *field = sw_printf("%s.resources.%s[%s]", path, fields[f], name);
            struct sw_quantity q, limit;
            json_object *most = sw_json_find(container, "resources", "limits", name, NULL);
            if (sw_quantity_from_json(amount, &q, NULL) < 0)
                sw_field_error(e, SW_FIELD_INVALID, field, amount,
                               "quantities must match the regular expression "
                               "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
            else if (f == 1 && most && sw_quantity_from_json(most, &limit, NULL) == 0 &&
                     sw_quantity_cmp(&q, &limit) > 0)
                sw_field_error(e, SW_FIELD_INVALID, field, amount,
                               "must be less than or equal to %s limit of %s", name,
                               json_object_get_string(most));
            else if (strchr(name, '/') && f == 1 && !most)
                sw_field_error_raw(e, SW_FIELD_REQUIRED, field, NULL,
                                   "Limit must be set for non overcommitable resources");
        }
    }
}

/* A mount names a volume, or one of a StatefulSet's volumeClaimTemplates (@claims, or NULL). */
static void check_mounts(json_object *container, json_object *spec, json_object *claims,
                         const char *path, struct sw_field_errors *e)
{
    json_object *mounts = sw_json_get(container, "volumeMounts");
    for (size_t i = 0; i < sw_json_len(mounts); i++) {
        const char *name = sw_json_str(sw_json_at(mounts, i), "", "name", NULL);
        bool found = sw_json_find_by(sw_json_get(spec, "volumes"), "name", name);
        for (size_t c = 0; c < sw_json_len(claims); c++)
            found = found || strcmp(sw_obj_name(sw_json_at(claims, c)), name) == 0;
        SW_AUTO_CHARS *field = sw_printf("%s.volumeMounts[%zu].name", path, i);
        if (!found)
            sw_field_error_str(e, SW_FIELD_NOT_FOUND, field, name, NULL);
    }
}

/* Element @i of @list has a name, a DNS label, that no element before it has. */
static void check_name(json_object *list, size_t i, const char *field, struct sw_field_errors *e)
{
    const char *name = sw_json_str(sw_json_at(list, i), "", "name", NULL);
    if (!name[0])
        sw_field_error_raw(e, SW_FIELD_REQUIRED, field, NULL, NULL);
    else if (sw_dns_label_fault(name))
        sw_field_error_str(e, SW_FIELD_INVALID, field, name, sw_dns_label_fault(name));
    for (size_t k = 0; k < i; k++)
        if (name[0] && strcmp(sw_json_str(sw_json_at(list, k), "", "name", NULL), name) == 0)
            sw_field_error_str(e, SW_FIELD_DUPLICATE, field, name, NULL);
}

static void check_container(json_object *list, size_t i, const char *path,
                            struct sw_field_errors *e)
{
    static const char *const policies[] = { "Always", "IfNotPresent", "Never", NULL };
    json_object *c = sw_json_at(list, i);
    SW_AUTO_CHARS *name = sw_printf("%s.name", path), *image = sw_printf("%s.image", path);
    SW_AUTO_CHARS *ports = sw_printf("%s.ports", path);
    SW_AUTO_CHARS *policy = sw_printf("%s.imagePullPolicy", path);
    check_name(list, i, name, e);
    if (!sw_json_str(c, "", "image", NULL)[0])
        sw_field_error_raw(e, SW_FIELD_REQUIRED, image, NULL, NULL);
    check_ports(sw_json_get(c, "ports"), ports, "containerPort", e);
    check_resources(c, path, e);
    check_one_of(sw_json_get(c, "imagePullPolicy"), policy, policies, e);
}

static void check_pod_spec(json_object *spec, json_object *claims, const char *path,
                           struct sw_field_errors *e)
{
    static const char *const restarts[] = { "Always", "OnFailure", "Never", NULL };
    static const char *const lists[] = { "containers", "initContainers" };
    SW_AUTO_CHARS *containers = sw_printf("%s.containers", path);
    SW_AUTO_CHARS *restart = sw_printf("%s.restartPolicy", path);
    if (sw_json_len(sw_json_get(spec, "containers")) == 0)
        sw_field_error_raw(e, SW_FIELD_REQUIRED, containers, NULL, NULL);
    json_object *volumes = sw_json_get(spec, "volumes");
    for (size_t i = 0; i < sw_json_len(volumes); i++) {
        SW_AUTO_CHARS *name = sw_printf("%s.volumes[%zu].name", path, i);
        check_name(volumes, i, name, e);
    }
    for (size_t l = 0; l < SW_COUNT(lists); l++) {
        json_object *list = sw_json_get(spec, lists[l]);
        for (size_t i = 0; i < sw_json_len(list); i++) {
            SW_AUTO_CHARS *at = sw_printf("%s.%s[%zu]", path, lists[l], i);
            check_container(list, i, at, e);
            check_mounts(sw_json_at(list, i), spec, claims, at, e);
        }
    }
    check_one_of(sw_json_get(spec, "restartPolicy"), restart, restarts, e);
}

/* A copy of a pod's spec without the fields that an update may change. */
static json_object *immutable_fields(json_object *doc)
{
    json_object *spec = sw_json_copy(sw_json_get(doc, "spec"));
    static const char *const free_fields[] = { "activeDeadlineSeconds", "tolerations",
                                               "ephemeralContainers", "schedulingGates",
                                               "terminationGracePeriodSeconds" };
    static const char *const lists[] = { "containers", "initContainers" };
    for (size_t i = 0; i < SW_COUNT(free_fields); i++)
        json_object_object_del(spec, free_fields[i]);
    for (size_t l = 0; l < SW_COUNT(lists); l++) {
        json_object *list = sw_json_get(spec, lists[l]);
        for (size_t i = 0; i < sw_json_len(list); i++)
            json_object_object_del(sw_json_at(list, i), "image");
    }
    return spec;
}

static void check_pod(struct sw_write *w, struct sw_field_errors *e)
{
    check_pod_spec(spec_of(w), NULL, "spec", e);
    if (w->op != SW_OP_UPDATE || w->subresource)
        return;
    SW_AUTO_JSON *was = immutable_fields(w->old), *is = immutable_fields(w->doc);
    if (!sw_json_equal(was, is))
        sw_field_error_raw(
            e, SW_FIELD_FORBIDDEN, "spec", NULL,
            "pod updates may not change fields other than `spec.containers[*].image`,"
            "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` "
            "(only additions to existing tolerations),`spec.terminationGracePeriodSeconds` "
            "(allow it to be set to 1 if it was previously negative)");
}

/* ---- workloads ----------------------------------------------------------------------------------
 */

static void check_template(struct sw_write *w, json_object *claims, struct sw_field_errors *e)
{
    json_object *spec = spec_of(w), *selector = sw_json_get(spec, "selector");
    json_object *labels = sw_json_find(spec, "template", "metadata", "labels", NULL);
    struct sw_selector parsed = { 0 };
    SW_ERR(err);
    check_labels(labels, "spec.template.metadata.labels", e);
    check_pod_spec(sw_json_find(spec, "template", "spec", NULL), claims, "spec.template.spec", e);
    if (!selector) {
        sw_field_error_raw(e, SW_FIELD_REQUIRED, "spec.selector", NULL, NULL);
        return;
    }
    if (sw_json_len(sw_json_get(selector, "matchLabels")) +
            sw_json_len(sw_json_get(selector, "matchExpressions")) ==
        0) {
        sw_field_error_raw(e, SW_FIELD_INVALID, "spec.selector",
                           "v1.LabelSelector{MatchLabels:map[string]string(nil), "
                           "MatchExpressions:[]v1.LabelSelectorRequirement(nil)}",
                           "empty selector is invalid for deployment");
        return;
    }
    if (sw_selector_from_object(selector, &parsed, &err) < 0) {
        sw_field_error(e, SW_FIELD_INVALID, "spec.selector", selector, "%s", sw_err_text(&err));
    } else if (!sw_selector_matches(&parsed, labels)) {
        SW_AUTO_CHARS *shown = go_string_map(labels);
        sw_field_error_raw(e, SW_FIELD_INVALID, "spec.template.metadata.labels", shown,
                           "`selector` does not match template `labels`");
    }
    sw_selector_done(&parsed);
}

/* A workload whose pods run until they are deleted. */
static void check_replicated(struct sw_write *w, json_object *claims, struct sw_field_errors *e)
{
    static const char *const always[] = { "Always", NULL };
    check_template(w, claims, e);
    check_one_of(sw_json_find(spec_of(w), "template", "spec", "restartPolicy", NULL),
                 "spec.template.spec.restartPolicy", always, e);
    not_negative(spec_of(w), "replicas", e);
}

static void check_workload(struct sw_write *w, struct sw_field_errors *e)
{
    check_replicated(w, NULL, e);
    immutable_selector(w, e);
}

static void check_stateful_set(struct sw_write *w, struct sw_field_errors *e)
{
    static const char *const open[] = { "replicas",
                                        "template",
                                        "updateStrategy",
                                        "ordinals",
                                        "persistentVolumeClaimRetentionPolicy",
                                        "minReadySeconds" };
    check_replicated(w, sw_json_get(spec_of(w), "volumeClaimTemplates"), e);
    if (w->op != SW_OP_UPDATE)
        return;
    SW_AUTO_JSON *was = sw_json_copy(sw_json_get(w->old, "spec")), *is = sw_json_copy(spec_of(w));
    for (size_t i = 0; i < SW_COUNT(open); i++) {
        json_object_object_del(was, open[i]);
        json_object_object_del(is, open[i]);
    }
    if (!sw_json_equal(was, is))
        sw_field_error_raw(e, SW_FIELD_FORBIDDEN, "spec", NULL,
                           "updates to statefulset spec for fields other than 'replicas', "
                           "'ordinals', 'template', 'updateStrategy', "
                           "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are "
                           "forbidden");
}

static void check_job(struct sw_write *w, struct sw_field_errors *e)
{
    static const char *const ends[] = { "OnFailure", "Never", NULL };
    json_object *spec = spec_of(w), *was = sw_json_get(w->old, "spec");
    check_template(w, NULL, e);
    check_one_of(sw_json_find(spec, "template", "spec", "restartPolicy", NULL),
                 "spec.template.spec.restartPolicy", ends, e);
    not_negative(spec, "parallelism", e);
    not_negative(spec, "completions", e);
    not_negative(spec, "backoffLimit", e);
    if (sw_json_bool(was, false, "suspend", NULL))
        return; /* a suspended job's template may still be changed */
    immutable(w, e, "spec.template", sw_json_get(was, "template"), sw_json_get(spec, "template"));
    immutable(w, e, "spec.completions", sw_json_get(was, "completions"),
              sw_json_get(spec, "completions"));
    immutable_selector(w, e);
}

/* ---- others -------------------------------------------------------------------------------------
 */

static void check_service(struct sw_write *w, struct sw_field_errors *e)
{
    json_object *spec = spec_of(w), *ports = sw_json_get(spec, "ports");
    const char *type = sw_json_str(spec, "", "type", NULL);
    static const char *const types[] = { "ClusterIP", "ExternalName", "LoadBalancer", "NodePort",
                                         NULL };
    check_one_of(sw_json_get(spec, "type"), "spec.type", types, e);
    bool headless = strcmp(sw_json_str(spec, "", "clusterIP", NULL), "None") == 0;
    if (sw_json_len(ports) == 0 && !headless && strcmp(type, "ExternalName") != 0)
        sw_field_error_raw(e, SW_FIELD_REQUIRED, "spec.ports", NULL, NULL);
    for (size_t i = 0; i < sw_json_len(ports); i++) {
        SW_AUTO_CHARS *field = sw_printf("spec.ports[%zu].name", i);
        if (sw_json_len(ports) > 1 && !sw_json_str(sw_json_at(ports, i), "", "name", NULL)[0])
            sw_field_error_raw(e, SW_FIELD_REQUIRED, field, NULL, NULL);
    }
    check_ports(ports, "spec.ports", "port", e);
    if (w->op == SW_OP_UPDATE && strcmp(type, "ExternalName") != 0 &&
        sw_json_get(sw_json_get(w->old, "spec"), "clusterIP"))
        immutable(w, e, "spec.clusterIP", sw_json_find(w->old, "spec", "clusterIP", NULL),
                  sw_json_get(spec, "clusterIP"));
}

static void check_data_keys(struct sw_write *w, struct sw_field_errors *e)
{
    json_object *data = sw_json_get(w->doc, "data");
    if (data && !json_object_is_type(data, json_type_object))
        return;
    if (data) {
        json_object_object_foreach(data, key, value)
        {
            SW_AUTO_CHARS *field = sw_printf("data[%s]", key);
            if (!key[0] || key[strspn(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                           "0123456789-._")])
                sw_field_error_str(e, SW_FIELD_INVALID, field, key,
                                   "a valid config key must consist of alphanumeric characters, "
                                   "'-', '_' or '.'");
            if (value && !json_object_is_type(value, json_type_string))
                sw_field_error(e, SW_FIELD_INVALID, field, value, "must be a string");
        }
    }
    static const char *const frozen[] = { "data", "binaryData", "immutable" };
    if (w->op != SW_OP_UPDATE || !sw_json_bool(w->old, false, "immutable", NULL))
        return;
    for (size_t i = 0; i < SW_COUNT(frozen); i++)
        if (!sw_json_equal(sw_json_get(w->old, frozen[i]), sw_json_get(w->doc, frozen[i])))
            sw_field_error_raw(e, SW_FIELD_FORBIDDEN, frozen[i], NULL,
                               "field is immutable when `immutable` is set");
}

static void check_secret(struct sw_write *w, struct sw_field_errors *e)
{
    check_data_keys(w, e);
    immutable(w, e, "type", sw_json_get(w->old, "type"), sw_json_get(w->doc, "type"));
}

static void check_role_binding(struct sw_write *w, struct sw_field_errors *e)
{
    json_object *role = sw_json_get(w->doc, "roleRef");
    static const char *const kinds[] = { "Role", "ClusterRole", NULL };
    check_one_of(sw_json_get(role, "kind"), "roleRef.kind", kinds, e);
    if (!sw_json_str(role, "", "name", NULL)[0])
        sw_field_error_raw(e, SW_FIELD_REQUIRED, "roleRef.name", NULL, NULL);
    if (w->op == SW_OP_UPDATE && !sw_json_equal(sw_json_get(w->old, "roleRef"), role)) {
        SW_AUTO_CHARS *shown = sw_printf("rbac.RoleRef{APIGroup:\"%s\", Kind:\"%s\", Name:\"%s\"}",
                                         sw_json_str(role, "", "apiGroup", NULL),
                                         sw_json_str(role, "", "kind", NULL),
                                         sw_json_str(role, "", "name", NULL));
        sw_field_error_raw(e, SW_FIELD_INVALID, "roleRef", shown, "cannot change roleRef");
    }
}

static void check_priority_class(struct sw_write *w, struct sw_field_errors *e)
{
    if (w->op == SW_OP_UPDATE &&
        !sw_json_equal(sw_json_get(w->old, "value"), sw_json_get(w->doc, "value")))
        sw_field_error_raw(e, SW_FIELD_FORBIDDEN, "value", NULL,
                           "may not be changed in an update.");
}

static void check_runtime_class(struct sw_write *w, struct sw_field_errors *e)
{
    const char *handler = sw_json_str(w->doc, "", "handler", NULL);
    if (sw_dns_label_fault(handler))
        sw_field_error_str(e, SW_FIELD_INVALID, "handler", handler, sw_dns_label_fault(handler));
    immutable(w, e, "handler", sw_json_get(w->old, "handler"), sw_json_get(w->doc, "handler"));
}

static void check_claim(struct sw_write *w, struct sw_field_errors *e)
{
    json_object *spec = spec_of(w);
    if (sw_json_len(sw_json_get(spec, "accessModes")) == 0)
        sw_field_error_raw(e, SW_FIELD_REQUIRED, "spec.accessModes", NULL,
                           "at least 1 access mode is required");
    if (!sw_json_find(spec, "resources", "requests", "storage", NULL))
        sw_field_error_raw(e, SW_FIELD_REQUIRED, "spec.resources[storage]", NULL, NULL);
}

static void check_webhooks(struct sw_write *w, struct sw_field_errors *e)
{
    json_object *hooks = sw_json_get(w->doc, "webhooks");
    for (size_t i = 0; i < sw_json_len(hooks); i++) {
        json_object *hook = sw_json_at(hooks, i);
        SW_AUTO_CHARS *effects = sw_printf("webhooks[%zu].sideEffects", i);
        SW_AUTO_CHARS *versions = sw_printf("webhooks[%zu].admissionReviewVersions", i);
        SW_AUTO_CHARS *client = sw_printf("webhooks[%zu].clientConfig", i);
        if (!sw_json_get(hook, "sideEffects"))
            sw_field_error_raw(e, SW_FIELD_REQUIRED, effects, NULL,
                               "must specify one of None, NoneOnDryRun");
        if (sw_json_len(sw_json_get(hook, "admissionReviewVersions")) == 0)
            sw_field_error_raw(e, SW_FIELD_REQUIRED, versions, NULL,
                               "must specify one of v1, v1beta1");
        SW_AUTO_CHARS *conditions = sw_printf("webhooks[%zu].matchConditions", i);
        sw_admission_check_conditions(sw_json_get(hook, "matchConditions"),
                                      &(struct sw_admission_scope){ 0 }, conditions, e);
        bool url = sw_json_find(hook, "clientConfig", "url", NULL);
        bool service = sw_json_find(hook, "clientConfig", "service", NULL);
        if (url == service)
            sw_field_error_raw(e, SW_FIELD_REQUIRED, client, NULL,
                               "exactly one of url or service is required");
    }
}

#define RBAC "rbac.authorization.k8s.io"
#define ADMISSION "admissionregistration.k8s.io"
#define DEVICES "resource.k8s.io"

static const struct {
    const char *group, *kind;
    void (*check)(struct sw_write *w, struct sw_field_errors *e);
} rows[] = {
    { "", "Pod", check_pod },
    { "", "Service", check_service },
    { "", "ConfigMap", check_data_keys },
    { "", "Secret", check_secret },
    { "", "PersistentVolumeClaim", check_claim },
    { "apps", "Deployment", check_workload },
    { "apps", "ReplicaSet", check_workload },
    { "apps", "DaemonSet", check_workload },
    { "apps", "StatefulSet", check_stateful_set },
    { "batch", "Job", check_job },
    { RBAC, "RoleBinding", check_role_binding },
    { RBAC, "ClusterRoleBinding", check_role_binding },
    { ADMISSION, "MutatingWebhookConfiguration", check_webhooks },
    { ADMISSION, "ValidatingWebhookConfiguration", check_webhooks },
    { ADMISSION, "MutatingAdmissionPolicy", sw_mutating_policy_check },
    { ADMISSION, "MutatingAdmissionPolicyBinding", sw_mutating_policy_binding_check },
    { ADMISSION, "ValidatingAdmissionPolicy", sw_policy_check },
    { ADMISSION, "ValidatingAdmissionPolicyBinding", sw_policy_binding_check },
    { "scheduling.k8s.io", "PriorityClass", check_priority_class },
    { "node.k8s.io", "RuntimeClass", check_runtime_class },
    { "apiextensions.k8s.io", "CustomResourceDefinition", sw_crd_check },
    { DEVICES, "DeviceClass", sw_device_class_check },
    { DEVICES, "ResourceClaim", sw_device_claim_check },
    { DEVICES, "ResourceClaimTemplate", sw_device_template_check },
    { DEVICES, "ResourceSlice", sw_device_slice_check },
};

int sw_validate(struct sw_write *w)
{
    SW_FIELD_ERRORS(e);
    check_meta(w, &e);
    for (size_t i = 0; i < SW_COUNT(rows); i++)
        if (sw_write_is(w, rows[i].group, rows[i].kind))
            rows[i].check(w, &e);
    if (w->kind->crd)
        sw_crd_validate(w, &e);
    return sw_status_invalid(w->status, w->kind, w->name, &e);
}
