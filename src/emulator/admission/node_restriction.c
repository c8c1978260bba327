#include "emulator/admission/node_restriction.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/store/status.h"

static const char mirror_key[] = "kubernetes.io/config.mirror";

const char *sw_node_identity(const char *name, json_object *groups)
{
    static const char prefix[] = "system:node:";
    return name && sw_starts_with(name, prefix) && sw_json_has_text(groups, "system:nodes")
               ? name + strlen(prefix)
               : NULL;
}

static const char *node_of(json_object *user)
{
    return sw_node_identity(sw_json_str(user, "", "username", NULL), sw_json_get(user, "groups"));
}

static bool is_on(json_object *pod, const char *node)
{
    return sw_streq(sw_json_str(pod, "", "spec", "nodeName", NULL), node);
}

/* Go sees no difference between what is empty and what is not there. */
static bool same(json_object *a, json_object *b)
{
    const bool empty = (!a || !sw_json_len(a)) && (!b || !sw_json_len(b));
    return sw_json_equal(a, b) || (empty && !(a && json_object_is_type(a, json_type_object)));
}

#define FORBID(w, ...) sw_status_forbidden((w)->status, (w)->kind, (w)->name, __VA_ARGS__)

/* ---- pods ---------------------------------------------------------------------------------------
 */

/* The first kind of object that a part of a pod refers to; NULL: none. */
static const char *reference_in(json_object *value)
{
    static const char *const rows[][2] = {
        { "secret", "secrets" },
        { "secretRef", "secrets" },
        { "secretKeyRef", "secrets" },
        { "configMap", "configmaps" },
        { "configMapRef", "configmaps" },
        { "configMapKeyRef", "configmaps" },
        { "persistentVolumeClaim", "persistentvolumeclaims" },
        { "imagePullSecrets", "secrets" },
        { "resourceClaims", "resourceclaims" },
    };
    const char *found = NULL;
    for (size_t i = 0;
         json_object_is_type(value, json_type_array) && i < sw_json_len(value) && !found; i++)
        found = reference_in(sw_json_at(value, i));
    if (!json_object_is_type(value, json_type_object))
        return found;
    json_object_object_foreach(value, key, child)
    {
        for (size_t i = 0; i < SW_COUNT(rows) && !found; i++)
            if (sw_streq(rows[i][0], key) && child)
                found = rows[i][1];
        found = found ? found : reference_in(child);
    }
    return found;
}

static int admit_owner(struct sw_write *w, const char *node)
{
    json_object *owners = sw_json_find(w->doc, "metadata", "ownerReferences", NULL);
    json_object *owner = sw_json_at(owners, 0);
    if (sw_json_len(owners) > 1)
        return FORBID(
            w, "node \"%s\" can only create pods with a single owner reference set to itself",
            node);
    if (!owner || !sw_streq(sw_json_str(owner, "", "apiVersion", NULL), "v1") ||
        !sw_streq(sw_json_str(owner, "", "kind", NULL), "Node") ||
        !sw_streq(sw_json_str(owner, "", "name", NULL), node))
        return FORBID(w, "node \"%s\" can only create pods with an owner reference set to itself",
                      node);
    if (!sw_json_bool(owner, false, "controller", NULL))
        return FORBID(w,
                      "node \"%s\" can only create pods with a controller owner reference set to "
                      "itself",
                      node);
    if (sw_json_bool(owner, false, "blockOwnerDeletion", NULL))
        return FORBID(w, "node \"%s\" must not set blockOwnerDeletion on an owner reference", node);
    const struct sw_emu_kind *nodes = sw_store_kind(w->store, "", "Node");
    json_object *own = sw_store_get(w->store, nodes, NULL, node);
    const char *wanted = sw_json_str(owner, "", "uid", NULL);
    if (!own)
        return sw_status_not_found(w->status, nodes, node);
    if (!sw_streq(wanted, sw_json_str(own, "", "metadata", "uid", NULL)))
        return FORBID(w, "node %s UID mismatch: expected %s got %s", node, wanted,
                      sw_json_str(own, "", "metadata", "uid", NULL));
    return 0;
}

/* Kubelets create pods for their own files alone: mirror pods. */
static int admit_pod_create(struct sw_write *w, const char *node)
{
    json_object *spec = sw_json_get(w->doc, "spec");
    if (!sw_obj_annotation(w->doc, mirror_key))
        return FORBID(
            w, "pod does not have \"%s\" annotation, node \"%s\" can only create mirror pods",
            mirror_key, node);
    if (!is_on(w->doc, node))
        return FORBID(w, "node \"%s\" can only create pods with spec.nodeName set to itself", node);
    const int rc = admit_owner(w, node);
    const char *found = *sw_json_str(spec, "", "serviceAccountName", NULL) ? "serviceaccounts"
                                                                           : reference_in(spec);
    if (rc == 0 && found)
        return FORBID(w, "node \"%s\" can not create pods that reference %s", node, found);
    return rc;
}

static int admit_pod_status(struct sw_write *w, const char *node)
{
    static const char *const claims[][2] = {
        { "resourceClaimStatuses", "resource claim statues" },
        { "extendedResourceClaimStatus", "extended resource claim status" },
    };
    if (!is_on(w->old, node))
        return FORBID(w,
                      "node \"%s\" can only update pod status for pods with spec.nodeName set to "
                      "itself",
                      node);
    if (!same(sw_json_find(w->old, "metadata", "labels", NULL),
              sw_json_find(w->doc, "metadata", "labels", NULL)))
        return FORBID(w, "node \"%s\" cannot update labels through pod status", node);
    for (size_t i = 0; i < SW_COUNT(claims); i++)
        if (!same(sw_json_find(w->old, "status", claims[i][0], NULL),
                  sw_json_find(w->doc, "status", claims[i][0], NULL)))
            return FORBID(w, "node \"%s\" cannot update %s", node, claims[i][1]);
    return 0;
}

static int admit_pod(struct sw_write *w, const char *node)
{
    if (sw_streq(w->subresource, "status"))
        return admit_pod_status(w, node);
    if (w->subresource)
        return FORBID(w,
                      "unexpected pod subresource \"%s\", only 'status' and 'eviction' are allowed",
                      w->subresource);
    if (w->op == SW_OP_CREATE)
        return admit_pod_create(w, node);
    if (w->op == SW_OP_UPDATE)
        return FORBID(w,
                      "unexpected operation \"UPDATE\", node \"%s\" can only create and delete "
                      "mirror pods",
                      node);
    return is_on(w->old, node)
               ? 0
               : FORBID(w, "node \"%s\" can only delete pods with spec.nodeName set to itself",
                        node);
}

/* ---- nodes --------------------------------------------------------------------------------------
 */

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* Whether what is before the slash of a label is @domain, or below it. */
static bool is_below(const char *domain, const char *of)
{
    SW_AUTO_CHARS *below = sw_printf(".%s", of);
    return sw_streq(domain, of) || ends_with(domain, below);
}

/* Whether a kubelet may not set the label on its node. */
static bool is_forbidden_label(const char *label)
{
    static const char *const own[] = {
        "kubernetes.io/hostname",
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region",
        "beta.kubernetes.io/instance-type",
        "node.kubernetes.io/instance-type",
        "kubernetes.io/os",
        "kubernetes.io/arch",
        "beta.kubernetes.io/os",
        "beta.kubernetes.io/arch",
    };
    const char *slash = strchr(label, '/');
    SW_AUTO_CHARS *domain = slash ? sw_strndup(label, (size_t)(slash - label)) : sw_strdup("");
    if (is_below(domain, "node-restriction.kubernetes.io"))
        return true;
    for (size_t i = 0; i < SW_COUNT(own); i++)
        if (sw_streq(own[i], label))
            return false;
    if (is_below(domain, "kubelet.kubernetes.io") || is_below(domain, "node.kubernetes.io"))
        return false;
    return is_below(domain, "kubernetes.io") || is_below(domain, "k8s.io");
}

/* The labels that were changed and may not be, in order: "a, b"; heap. NULL: none. */
static char *forbidden_labels(json_object *now, json_object *before)
{
    SW_AUTO_JSON *changed = json_object_new_object();
    json_object *maps[] = { now, before };
    for (size_t i = 0; i < SW_COUNT(maps); i++) {
        if (!json_object_is_type(maps[i], json_type_object))
            continue;
        json_object_object_foreach(maps[i], key, value)
        {
            if (!sw_json_equal(value, sw_json_get(maps[!i], key)) && is_forbidden_label(key))
                json_object_object_add(changed, key, NULL);
        }
    }
    SW_AUTO_JSON *keys = sw_json_sorted_keys(changed);
    return sw_json_len(keys) ? sw_json_joined(keys, ", ") : NULL;
}

static int admit_node(struct sw_write *w, const char *node)
{
    if (!sw_streq(w->name, node))
        return FORBID(w, "node \"%s\" is not allowed to modify node \"%s\"", node, w->name);
    if (w->op == SW_OP_DELETE)
        return 0;
    const bool create = w->op == SW_OP_CREATE;
    if (!create && !same(sw_json_find(w->doc, "spec", "taints", NULL),
                         sw_json_find(w->old, "spec", "taints", NULL)))
        return FORBID(w, "node \"%s\" is not allowed to modify taints", node);
    if (!create && !same(sw_json_find(w->doc, "metadata", "ownerReferences", NULL),
                         sw_json_find(w->old, "metadata", "ownerReferences", NULL)))
        return FORBID(w, "node \"%s\" is not allowed to modify ownerReferences", node);
    SW_AUTO_CHARS *labels = forbidden_labels(
        sw_json_find(w->doc, "metadata", "labels", NULL),
        create ? NULL : sw_json_find(w->old, "metadata", "labels", NULL));
    if (!labels)
        return 0;
    return create ? FORBID(w, "node \"%s\" is not allowed to set the following labels: %s", node,
                           labels)
                  : FORBID(w, "is not allowed to modify labels: %s", labels);
}

/* ---- others -------------------------------------------------------------------------------------
 */

static json_object *without_sizes(json_object *doc)
{
    static const char *const sizes[] = { "capacity", "conditions", "allocatedResources",
                                         "allocatedResourceStatuses" };
    json_object *copy = sw_json_copy(doc);
    (void)sw_json_del(copy, "metadata", "resourceVersion", NULL);
    (void)sw_json_del(copy, "metadata", "managedFields", NULL);
    for (size_t i = 0; i < SW_COUNT(sizes); i++)
        (void)sw_json_del(copy, "status", sizes[i], NULL);
    return copy;
}

static int admit_volume_claim(struct sw_write *w, const char *node)
{
    if (!sw_streq(w->subresource, "status"))
        return FORBID(w, "may only update PVC status");
    SW_AUTO_JSON *now = without_sizes(w->doc), *before = without_sizes(w->old);
    return sw_json_equal(now, before)
               ? 0
               : FORBID(w,
                        "node \"%s\" is not allowed to update fields other than status.quantity "
                        "and status.conditions",
                        node);
}

static int admit_lease(struct sw_write *w, const char *node)
{
    if (!sw_streq(w->ns, "kube-node-lease"))
        return FORBID(w, "can only access leases in the \"kube-node-lease\" system namespace");
    return sw_streq(w->name, node)
               ? 0
               : FORBID(w, "can only access node lease with the same name as the requesting node");
}

static int admit_csi_node(struct sw_write *w, const char *node)
{
    return sw_streq(w->name, node)
               ? 0
               : FORBID(w, "can only access CSINode with the same name as the requesting node");
}

static int admit_slice(struct sw_write *w, const char *node)
{
    json_object *doc = w->op == SW_OP_DELETE ? w->old : w->doc;
    return w->op == SW_OP_UPDATE || is_on(doc, node)
               ? 0
               : FORBID(w,
                        "can only %s ResourceSlice with the same NodeName as the requesting node",
                        w->op == SW_OP_CREATE ? "create" : "delete");
}

static const struct {
    const char *group, *kind;
    int (*admit)(struct sw_write *w, const char *node);
} rows[] = {
    { "", "Pod", admit_pod },
    { "", "Node", admit_node },
    { "", "PersistentVolumeClaim", admit_volume_claim },
    { "coordination.k8s.io", "Lease", admit_lease },
    { "storage.k8s.io", "CSINode", admit_csi_node },
    { "resource.k8s.io", "ResourceSlice", admit_slice },
};

static int admit(struct sw_write *w)
{
    const char *node = w->opts->allows ? node_of(w->opts->user) : NULL;
    if (!node)
        return 0;
    if (!*node)
        return FORBID(w, "could not determine node from user \"system:node:\"");
    for (size_t i = 0; i < SW_COUNT(rows); i++)
        if (sw_write_is(w, rows[i].group, rows[i].kind))
            return rows[i].admit(w, node);
    return 0;
}

int sw_node_restriction(struct sw_write *w)
{
    return admit(w);
}

int sw_node_restriction_delete(struct sw_write *w)
{
    return w->op == SW_OP_DELETE ? admit(w) : 0;
}

/* ---- subresources -------------------------------------------------------------------------------
 */

int sw_node_may_evict(struct sw_store *store, json_object *user, json_object *pod,
                      struct sw_status *status)
{
    const char *node = node_of(user);
    if (!node || is_on(pod, node))
        return 0;
    return sw_status_forbidden(status, sw_store_kind(store, "", "Pod"), sw_obj_name(pod),
                               "node %s can only evict pods with spec.nodeName set to itself",
                               node);
}

int sw_node_may_request_token(struct sw_store *store, json_object *user, const char *ns,
                              const char *name, json_object *request, struct sw_status *status)
{
    const struct sw_emu_kind *accounts = sw_store_kind(store, "", "ServiceAccount");
    const struct sw_emu_kind *pods = sw_store_kind(store, "", "Pod");
    json_object *ref = sw_json_find(request, "spec", "boundObjectRef", NULL);
    const char *node = node_of(user), *pod_name = sw_json_str(ref, "", "name", NULL);
    const char *uid = sw_json_str(ref, "", "uid", NULL);
    if (!node)
        return 0;
    if (!sw_streq(sw_json_str(ref, "", "apiVersion", NULL), "v1") ||
        !sw_streq(sw_json_str(ref, "", "kind", NULL), "Pod") || !*pod_name)
        return sw_status_forbidden(status, accounts, name,
                                   "node requested token not bound to a pod");
    if (!*uid)
        return sw_status_forbidden(status, accounts, name,
                                   "node requested token with a pod binding without a uid");
    json_object *pod = sw_store_get(store, pods, ns, pod_name);
    if (!pod)
        return sw_status_not_found(status, pods, pod_name);
    if (!sw_streq(uid, sw_json_str(pod, "", "metadata", "uid", NULL)))
        return sw_status_forbidden(status, accounts, name,
                                   "the UID in the bound object reference (%s) does not match the "
                                   "UID in record. The object might have been deleted and then "
                                   "recreated",
                                   uid);
    return is_on(pod, node) ? 0
                            : sw_status_forbidden(status, accounts, name,
                                                  "node requested token bound to a pod scheduled "
                                                  "on a different node");
}
