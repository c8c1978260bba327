#include "emulator/authorization/nodes.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/admission/node_restriction.h"
#include "emulator/authorization/policy.h"
#include "emulator/store/kinds.h"
#include "emulator/store/store.h"

/* A request of a node. */
struct request {
    struct sw_store *store;
    const char *node;
    const struct sw_attributes *what;
    char **reason; /* NULL: nobody asks */
};

static bool refuse(const struct request *r, const char *why)
{
    if (r->reason && !*r->reason)
        *r->reason = sw_strdup(why);
    return false;
}

static bool is_verb(const struct request *r, const char *verbs)
{
    return sw_names_contain(verbs, r->what->verb);
}

static bool has_subresource(const struct request *r)
{
    return r->what->subresource && *r->what->subresource;
}

static const char *name_of(const struct request *r)
{
    return sw_text_or(r->what->name, "");
}

/* ---- what pods use ------------------------------------------------------------------------------
 */

/* Whether a part of a pod's spec names the Secret or ConfigMap. */
static bool names(json_object *value, const char *const *keys, const char *name)
{
    bool found = false;
    for (size_t i = 0;
         json_object_is_type(value, json_type_array) && i < sw_json_len(value) && !found; i++)
        found = names(sw_json_at(value, i), keys, name);
    if (!json_object_is_type(value, json_type_object))
        return found;
    json_object_object_foreach(value, key, child)
    {
        for (size_t i = 0; keys[i] && !found; i++)
            found = sw_streq(keys[i], key) &&
                    (sw_streq(sw_json_str(child, "", "name", NULL), name) ||
                     sw_streq(sw_json_str(child, "", "secretName", NULL), name));
        found = found || names(child, keys, name);
    }
    return found;
}

static bool uses_secret(json_object *pod, const char *name)
{
    static const char *const keys[] = { "secret", "secretRef", "secretKeyRef",
                                        "nodePublishSecretRef", NULL };
    json_object *spec = sw_json_get(pod, "spec");
    return names(spec, keys, name) ||
           sw_json_find_by(sw_json_get(spec, "imagePullSecrets"), "name", name);
}

static bool uses_config_map(json_object *pod, const char *name)
{
    static const char *const keys[] = { "configMap", "configMapRef", "configMapKeyRef", NULL };
    return names(sw_json_get(pod, "spec"), keys, name);
}

static bool uses_volume_claim(json_object *pod, const char *name)
{
    json_object *volumes = sw_json_find(pod, "spec", "volumes", NULL);
    for (size_t i = 0; i < sw_json_len(volumes); i++) {
        json_object *v = sw_json_at(volumes, i);
        SW_AUTO_CHARS *own = sw_printf("%s-%s", sw_obj_name(pod), sw_json_str(v, "", "name", NULL));
        if (sw_streq(sw_json_str(v, "", "persistentVolumeClaim", "claimName", NULL), name) ||
            (sw_json_get(v, "ephemeral") && sw_streq(own, name)))
            return true;
    }
    return false;
}

static bool uses_device_claim(json_object *pod, const char *name)
{
    json_object *made = sw_json_find(pod, "status", "resourceClaimStatuses", NULL);
    return sw_json_find_by(sw_json_find(pod, "spec", "resourceClaims", NULL), "resourceClaimName",
                           name) ||
           sw_json_find_by(made, "resourceClaimName", name);
}

static bool uses_account(json_object *pod, const char *name)
{
    return sw_streq(sw_json_str(pod, "", "spec", "serviceAccountName", NULL), name);
}

static bool is_pod(json_object *pod, const char *name)
{
    return sw_streq(sw_obj_name(pod), name);
}

typedef bool uses_fn(json_object *pod, const char *name);

static bool is_used(const struct request *r, const char *ns, uses_fn *uses, const char *name)
{
    SW_STORE_LIST(pods);
    sw_store_list(r->store, sw_store_kind(r->store, "", "Pod"), ns, &pods);
    for (size_t i = 0; i < pods.n; i++)
        if (sw_streq(sw_json_str(pods.items[i], "", "spec", "nodeName", NULL), r->node) &&
            uses(pods.items[i], name))
            return true;
    return false;
}

/* ---- requests -----------------------------------------------------------------------------------
 */

static bool related(const struct request *r, bool is)
{
    SW_AUTO_CHARS *why = sw_printf("no relationship found between node '%s' and this object",
                                   r->node);
    return is || refuse(r, *name_of(r) ? why : "No Object name found");
}

/* Reads of what pods use in their namespaces. */
static bool may_read(const struct request *r, uses_fn *uses, bool lists)
{
    if (!is_verb(r, lists ? "get,list,watch" : "get"))
        return refuse(r, lists ? "can only read resources of this type"
                               : "can only get individual resources of this type");
    if (has_subresource(r))
        return refuse(r, lists ? "cannot read subresource" : "cannot get subresource");
    if (lists && !(r->what->ns && *r->what->ns))
        return refuse(r, "can only read namespaced object of this type");
    return related(r, *name_of(r) && is_used(r, r->what->ns, uses, name_of(r)));
}

static bool may_secret(const struct request *r)
{
    return may_read(r, uses_secret, true);
}

static bool may_config_map(const struct request *r)
{
    return may_read(r, uses_config_map, true);
}

static bool may_volume_claim(const struct request *r)
{
    if (!sw_streq(r->what->subresource, "status"))
        return may_read(r, uses_volume_claim, false);
    if (!is_verb(r, "update,patch"))
        return refuse(r, "can only get/update/patch this type");
    return related(r, is_used(r, r->what->ns, uses_volume_claim, name_of(r)));
}

static bool may_device_claim(const struct request *r)
{
    return may_read(r, uses_device_claim, false);
}

/* A volume is used by the pods that use its claim. */
static bool may_volume(const struct request *r)
{
    json_object *volume = sw_store_get(r->store, sw_store_kind(r->store, "", "PersistentVolume"),
                                       NULL, name_of(r));
    json_object *claim = sw_json_find(volume, "spec", "claimRef", NULL);
    if (!is_verb(r, "get"))
        return refuse(r, "can only get individual resources of this type");
    return related(r, claim && is_used(r, sw_json_str(claim, "", "namespace", NULL),
                                       uses_volume_claim, sw_json_str(claim, "", "name", NULL)));
}

static bool is_of_node(const struct request *r, const char *group, const char *kind)
{
    json_object *doc = sw_store_get(r->store, sw_store_kind(r->store, group, kind), NULL,
                                    name_of(r));
    return sw_streq(sw_json_str(doc, "", "spec", "nodeName", NULL), r->node);
}

static bool may_attachment(const struct request *r)
{
    if (!is_verb(r, "get"))
        return refuse(r, "can only get individual resources of this type");
    return related(r, is_of_node(r, "storage.k8s.io", "VolumeAttachment"));
}

static bool may_account(const struct request *r)
{
    if (is_verb(r, "get") && !has_subresource(r))
        return sw_store_minor(r->store) >= 34 ? may_read(r, uses_account, true)
                                              : refuse(r, "not allowed to get service accounts");
    if (!is_verb(r, "create") || !*name_of(r))
        return refuse(r, "can only create tokens for individual service accounts");
    if (!sw_streq(r->what->subresource, "token"))
        return refuse(r, "can only create token subresource of serviceaccount");
    return related(r, is_used(r, r->what->ns, uses_account, name_of(r)));
}

static bool may_lease(const struct request *r)
{
    if (!is_verb(r, "get,create,update,patch,delete"))
        return refuse(r, "can only get, create, update, patch, or delete a node lease");
    if (!sw_streq(r->what->ns, "kube-node-lease"))
        return refuse(r, "can only access leases in the \"kube-node-lease\" system namespace");
    return is_verb(r, "create") || sw_streq(name_of(r), r->node) ||
           refuse(r, "can only access node lease with the same name as the requesting node");
}

static bool may_csi_node(const struct request *r)
{
    if (!is_verb(r, "get,create,update,patch,delete"))
        return refuse(r, "can only get, create, update, patch, or delete a CSINode");
    if (has_subresource(r))
        return refuse(r, "cannot authorize CSINode subresources");
    return is_verb(r, "create") || sw_streq(name_of(r), r->node) ||
           refuse(r, "can only access CSINode with the same name as the requesting node");
}

/* Since 1.32 lists and watches have to ask for the node's own objects. */
static bool selects_own(const struct request *r)
{
    SW_AUTO_CHARS *wanted = sw_printf("spec.nodeName=%s", r->node);
    SW_AUTO_CHARS *also = sw_printf("spec.nodeName==%s", r->node);
    const char *fields = sw_text_or(r->what->fields, "");
    return sw_names_contain(fields, wanted) || sw_names_contain(fields, also);
}

static bool may_slice(const struct request *r)
{
    if (has_subresource(r))
        return refuse(r, "cannot authorize ResourceSlice subresources");
    if (is_verb(r, "create"))
        return true;
    if (is_verb(r, "get,update,patch,delete"))
        return related(r, is_of_node(r, "resource.k8s.io", "ResourceSlice"));
    return sw_store_minor(r->store) < 32 || selects_own(r) ||
           refuse(r, "can only list/watch/deletecollection resourceslices with nodeName field "
                     "selector");
}

static bool may_node(const struct request *r)
{
    if (sw_streq(r->what->subresource, "status"))
        return is_verb(r, "update,patch");
    if (has_subresource(r) || !is_verb(r, "create,update,patch,get,list,watch"))
        return false;
    if (is_verb(r, "create,update,patch") || sw_streq(name_of(r), r->node))
        return true; /* whose they may write is for NodeRestriction to say */
    SW_AUTO_CHARS *all = sw_printf("node '%s' cannot read all nodes, only its own Node object",
                                   r->node);
    SW_AUTO_CHARS *one = sw_printf("node '%s' cannot read '%s', only its own Node object", r->node,
                                   name_of(r));
    return refuse(r, *name_of(r) ? one : all);
}

static bool may_pod(const struct request *r)
{
    if (sw_streq(r->what->subresource, "status"))
        return is_verb(r, "update,patch");
    if (sw_streq(r->what->subresource, "eviction"))
        return is_verb(r, "create");
    if (has_subresource(r))
        return false;
    if (is_verb(r, "create,delete"))
        return true;
    if (is_verb(r, "get") || (is_verb(r, "list,watch") && *name_of(r)))
        return selects_own(r) || related(r, is_used(r, r->what->ns, is_pod, name_of(r)));
    return is_verb(r, "list,watch") &&
           (selects_own(r) ||
            refuse(r, "can only list/watch pods with spec.nodeName field selector"));
}

static const struct {
    const char *group, *resource;
    bool (*may)(const struct request *r);
    int since; /* before, the rules of system:node alone count */
} rows[] = {
    { "", "secrets", may_secret, 0 },
    { "", "configmaps", may_config_map, 0 },
    { "", "persistentvolumeclaims", may_volume_claim, 0 },
    { "", "persistentvolumes", may_volume, 0 },
    { "", "serviceaccounts", may_account, 0 },
    { "", "nodes", may_node, 32 },
    { "", "pods", may_pod, 32 },
    { "resource.k8s.io", "resourceclaims", may_device_claim, 0 },
    { "resource.k8s.io", "resourceslices", may_slice, 0 },
    { "storage.k8s.io", "volumeattachments", may_attachment, 0 },
    { "storage.k8s.io", "csinodes", may_csi_node, 0 },
    { "coordination.k8s.io", "leases", may_lease, 0 },
};

bool nodes_allow(struct sw_store *store, const struct sw_user *user,
                 const struct sw_attributes *what, char **reason)
{
    const struct request r = { .store = store,
                               .node = sw_node_identity(user->name, user->groups),
                               .what = what,
                               .reason = reason };
    if (!r.node)
        return false;
    if (!*r.node) {
        SW_AUTO_CHARS *why = sw_printf("unknown node for user \"%s\"", user->name);
        return refuse(&r, why);
    }
    for (size_t i = 0; i < SW_COUNT(rows) && !what->path; i++)
        if (sw_streq(rows[i].group, sw_text_or(what->group, "")) &&
            sw_streq(rows[i].resource, what->resource) && sw_store_minor(store) >= rows[i].since)
            return rows[i].may(&r);
    return policy_allows("system:node", what);
}
