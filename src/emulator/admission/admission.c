/* The admission controllers that are enabled by default, as far as their work can be seen in the
 * API. Webhooks come after the mutating ones. Source: Kubernetes "Admission Controllers". */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/admission/admission.h"
#include "emulator/admission/defaults.h"
#include "emulator/admission/node_restriction.h"
#include "emulator/admission/pod_security.h"
#include "emulator/admission/quota.h"
#include "emulator/store/change.h"
#include "emulator/store/document.h"
#include "emulator/store/status.h"

static bool is_pod(const struct sw_write *w)
{
    return w->op == SW_OP_CREATE && sw_write_is(w, "", "Pod");
}

static json_object *find(struct sw_write *w, const char *group, const char *kind, const char *ns,
                         const char *name)
{
    return sw_store_get(w->store, sw_store_kind(w->store, group, kind), ns, name);
}

/* ---- NamespaceLifecycle -------------------------------------------------------------------------
 */

static int namespace_lifecycle(struct sw_write *w)
{
    if (w->op != SW_OP_CREATE || !w->kind->namespaced)
        return 0;
    json_object *ns = find(w, "", "Namespace", NULL, w->ns);
    if (!ns)
        return sw_status_not_found(w->status, sw_store_kind(w->store, "", "Namespace"), w->ns);
    if (!sw_doc_is_deleted(ns))
        return 0;
    int rc = sw_status_forbidden(w->status, w->kind, w->name,
                                 "unable to create new content in namespace %s because it is "
                                 "being terminated",
                                 w->ns);
    SW_AUTO_CHARS *message = sw_printf("namespace %s is being terminated", w->ns);
    sw_status_cause(w->status, "NamespaceTerminating", message, "metadata.namespace");
    return rc;
}

static int namespace_protection(struct sw_write *w)
{
    static const char *const immortal[] = { "default", "kube-system", "kube-public" };
    if (w->op != SW_OP_DELETE || !sw_write_is(w, "", "Namespace"))
        return 0;
    for (size_t i = 0; i < SW_COUNT(immortal); i++)
        if (strcmp(w->name, immortal[i]) == 0)
            return sw_status_forbidden(w->status, w->kind, w->name,
                                       "this namespace may not be deleted");
    return 0;
}

/* ---- ServiceAccount -----------------------------------------------------------------------------
 */

#define TOKEN_PATH "/var/run/secrets/kubernetes.io/serviceaccount"

static void mount_token(json_object *containers, const char *volume)
{
    for (size_t i = 0; i < sw_json_len(containers); i++) {
        json_object *c = sw_json_at(containers, i);
        if (!json_object_is_type(c, json_type_object))
            continue;
        json_object *mounts = sw_json_need_list(c, "volumeMounts", NULL);
        if (sw_json_find_by(mounts, "mountPath", TOKEN_PATH))
            continue;
        json_object_array_add(mounts, sw_doc_new("name", sw_str(volume), "readOnly", sw_bool(true),
                                                 "mountPath", sw_str(TOKEN_PATH), NULL));
    }
}

/* Add the volume with the token of the ServiceAccount, and mount it into the containers. */
static void add_token(struct sw_write *w, json_object *spec)
{
    json_object *volumes = sw_json_need_list(spec, "volumes", NULL);
    for (size_t i = 0; i < sw_json_len(volumes); i++)
        if (sw_starts_with(sw_json_str(sw_json_at(volumes, i), "", "name", NULL),
                           "kube-api-access-"))
            return;
    char name[] = "kube-api-access-xxxxx";
    for (char *c = strchr(name, 'x'); *c; c++)
        *c = SW_NAME_LETTER(sw_store_random(w->store));
    SW_AUTO_CHARS *text = sw_printf(
        "{\"name\":\"%s\",\"projected\":{\"sources\":["
        "{\"serviceAccountToken\":{\"expirationSeconds\":3607,\"path\":\"token\"}},"
        "{\"configMap\":{\"items\":[{\"key\":\"ca.crt\",\"path\":\"ca.crt\"}],"
        "\"name\":\"kube-root-ca.crt\"}},"
        "{\"downwardAPI\":{\"items\":[{\"fieldRef\":{\"apiVersion\":\"v1\","
        "\"fieldPath\":\"metadata.namespace\"},\"path\":\"namespace\"}]}}],\"defaultMode\":420}}",
        name);
    json_object *volume = NULL;
    if (sw_json_parse(text, strlen(text), NULL, &volume, NULL) == 0)
        json_object_array_add(volumes, volume);
    mount_token(sw_json_get(spec, "containers"), name);
    mount_token(sw_json_get(spec, "initContainers"), name);
}

static int service_account(struct sw_write *w)
{
    if (!is_pod(w) || sw_obj_annotation(w->doc, "kubernetes.io/config.mirror"))
        return 0; /* the pods of a kubelet's own files have no account */
    json_object *spec = sw_json_get(w->doc, "spec");
    sw_default_str(spec, "serviceAccountName", "default");
    sw_default_str(spec, "serviceAccount", "default");
    const char *name = sw_json_str(spec, "", "serviceAccountName", NULL);
    json_object *account = find(w, "", "ServiceAccount", w->ns, name);
    if (!account)
        return sw_status_forbidden(w->status, w->kind, w->name,
                                   "error looking up service account %s/%s: serviceaccount "
                                   "\"%s\" not found",
                                   w->ns, name, name);
    json_object *secrets = sw_json_get(account, "imagePullSecrets");
    if (sw_json_len(secrets) > 0)
        sw_default(spec, "imagePullSecrets", sw_json_copy(secrets));
    bool wanted = sw_json_bool(account, true, "automountServiceAccountToken", NULL);
    if (sw_json_bool(spec, wanted, "automountServiceAccountToken", NULL))
        add_token(w, spec);
    return 0;
}

/* ---- RuntimeClass -------------------------------------------------------------------------------
 */

static int runtime_class(struct sw_write *w)
{
    if (!is_pod(w))
        return 0;
    json_object *spec = sw_json_get(w->doc, "spec");
    const char *name = sw_json_str(spec, "", "runtimeClassName", NULL);
    if (!name[0])
        return 0;
    json_object *class = find(w, "node.k8s.io", "RuntimeClass", NULL, name);
    if (!class)
        return sw_status_forbidden(w->status, w->kind, w->name,
                                   "pod rejected: RuntimeClass \"%s\" not found", name);
    json_object *overhead = sw_json_find(class, "overhead", "podFixed", NULL);
    if (overhead)
        sw_default(spec, "overhead", sw_json_copy(overhead));
    json_object *selector = sw_json_find(class, "scheduling", "nodeSelector", NULL);
    if (selector) {
        json_object_object_foreach(selector, key, value)
        {
            sw_default(sw_json_need_map(spec, "nodeSelector", NULL), key, json_object_get(value));
        }
    }
    json_object *tolerations = sw_json_find(class, "scheduling", "tolerations", NULL);
    for (size_t i = 0; i < sw_json_len(tolerations); i++)
        json_object_array_add(sw_json_need_list(spec, "tolerations", NULL),
                              sw_json_copy(sw_json_at(tolerations, i)));
    return 0;
}

/* ---- Priority -----------------------------------------------------------------------------------
 */

static int priority(struct sw_write *w)
{
    if (!is_pod(w))
        return 0;
    json_object *spec = sw_json_get(w->doc, "spec");
    const char *name = sw_json_str(spec, "", "priorityClassName", NULL);
    json_object *class = NULL;
    SW_STORE_LIST(classes);
    if (name[0])
        class = find(w, "scheduling.k8s.io", "PriorityClass", NULL, name);
    else
        sw_store_list(w->store, sw_store_kind(w->store, "scheduling.k8s.io", "PriorityClass"), NULL,
                      &classes);
    for (size_t i = 0; i < classes.n; i++)
        if (sw_json_bool(classes.items[i], false, "globalDefault", NULL))
            class = classes.items[i];
    if (name[0] && !class)
        return sw_status_forbidden(w->status, w->kind, w->name,
                                   "no PriorityClass with name %s was found", name);
    if (class)
        sw_json_set_str(spec, sw_obj_name(class), "priorityClassName", NULL);
    int64_t value = sw_json_int(class, 0, "value", NULL);
    json_object *given = sw_json_get(spec, "priority");
    if (given && json_object_get_int64(given) != value)
        return sw_status_forbidden(w->status, w->kind, w->name,
                                   "the integer value of priority (%" PRId64
                                   ") must not be provided in pod spec; priority admission "
                                   "controller computed %" PRId64 " from the given PriorityClass "
                                   "name",
                                   json_object_get_int64(given), value);
    sw_json_set(spec, json_object_new_int64(value), "priority", NULL);
    sw_default_str(spec, "preemptionPolicy",
                   sw_json_str(class, "PreemptLowerPriority", "preemptionPolicy", NULL));
    return 0;
}

/* ---- DefaultTolerationSeconds -------------------------------------------------------------------
 */

static int toleration_seconds(struct sw_write *w)
{
    static const char *const keys[] = { "node.kubernetes.io/not-ready",
                                        "node.kubernetes.io/unreachable" };
    /* on an update, too: an apply may have replaced the list */
    if (w->op == SW_OP_DELETE || !sw_write_is(w, "", "Pod"))
        return 0;
    json_object *list = sw_json_need_list(w->doc, "spec", "tolerations", NULL);
    for (size_t k = 0; k < SW_COUNT(keys); k++) {
        bool tolerated = false;
        for (size_t i = 0; i < sw_json_len(list); i++) {
            const char *key = sw_json_str(sw_json_at(list, i), "", "key", NULL);
            const char *effect = sw_json_str(sw_json_at(list, i), "", "effect", NULL);
            tolerated |= (!*key || strcmp(key, keys[k]) == 0) &&
                         (!*effect || strcmp(effect, "NoExecute") == 0);
        }
        if (!tolerated)
            json_object_array_add(list, sw_doc_new("key", sw_str(keys[k]), "operator",
                                                   sw_str("Exists"), "effect", sw_str("NoExecute"),
                                                   "tolerationSeconds", sw_int(300), NULL));
    }
    return 0;
}

/* ---- addresses of services ----------------------------------------------------------------------
 */

static bool address_taken(struct sw_write *w, const char *address)
{
    SW_STORE_LIST(services);
    sw_store_list(w->store, w->kind, NULL, &services);
    for (size_t i = 0; i < services.n; i++)
        if (strcmp(sw_json_str(services.items[i], "", "spec", "clusterIP", NULL), address) == 0)
            return true;
    return false;
}

static void give_address(struct sw_write *w, json_object *spec)
{
    char address[32];
    const char *old = sw_json_str(w->old, "", "spec", "clusterIP", NULL);
    if (old[0]) {
        sw_default_str(spec, "clusterIP", old);
    } else {
        do {
            uint64_t r = sw_store_random(w->store);
            (void)snprintf(address, sizeof address, "10.96.%u.%u", (unsigned)(r & 255),
                           (unsigned)(r >> 8) % 254 + 1);
        } while (address_taken(w, address));
        sw_default_str(spec, "clusterIP", address);
    }
    sw_default_list(spec, "clusterIPs", sw_json_str(spec, "", "clusterIP", NULL));
    sw_default_list(spec, "ipFamilies", "IPv4");
    sw_default_str(spec, "ipFamilyPolicy", "SingleStack");
}

/* The work of the API server's service registry: it is no admission controller, but is done here.
 */
static int service_addresses(struct sw_write *w)
{
    if (!sw_write_is(w, "", "Service") || w->op == SW_OP_DELETE || w->subresource)
        return 0;
    json_object *spec = sw_json_get(w->doc, "spec");
    const char *type = sw_json_str(spec, "", "type", NULL);
    if (strcmp(type, "ExternalName") == 0)
        return 0;
    give_address(w, spec);
    if (strcmp(type, "NodePort") != 0 && strcmp(type, "LoadBalancer") != 0)
        return 0;
    json_object *ports = sw_json_get(spec, "ports");
    json_object *old_ports = sw_json_find(w->old, "spec", "ports", NULL);
    for (size_t i = 0; i < sw_json_len(ports); i++) {
        int port = 30000 + (int)(sw_store_random(w->store) % 2768);
        int64_t old = sw_json_int(sw_json_at(old_ports, i), port, "nodePort", NULL);
        sw_default_int(sw_json_at(ports, i), "nodePort", (int)old);
    }
    return 0;
}

/* ---- the chain ----------------------------------------------------------------------------------
 */

typedef int admit_fn(struct sw_write *w);

static admit_fn *const mutating[] = {
    namespace_lifecycle, service_addresses, sw_limit_ranger, service_account,
    sw_node_restriction, runtime_class,     priority,        toleration_seconds,
};

static admit_fn *const validating[] = {
    namespace_protection, sw_node_restriction_delete, sw_pod_security,
    sw_resource_quota, /* the last: what passes is counted */
};

static int run(admit_fn *const *controllers, size_t n, struct sw_write *w)
{
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = controllers[i](w);
    return rc;
}

int sw_admit_mutate(struct sw_write *w)
{
    return run(mutating, SW_COUNT(mutating), w);
}

int sw_admit_validate(struct sw_write *w)
{
    return run(validating, SW_COUNT(validating), w);
}
