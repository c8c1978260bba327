#include "operator/manifests/hooks_internal.h"

#include "data/data.h"
#include "operator/engine/readiness/pod_maker.h"
#include "operator/facts/facts.h"

#include <json-c/json.h>
#include <string.h>

/* Is @kind in the list "DaemonSet Deployment", or the list "*"? */
static bool names(const char *kinds, const char *kind)
{
    size_t len = strlen(kind);
    if (sw_streq(kinds, "*"))
        return true;
    for (const char *at = kinds; (at = strstr(at, kind)); at += len)
        if ((at == kinds || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
            return true;
    return false;
}

bool sw_hook_asked(struct json_object *doc, const char *annotation)
{
    return sw_streq(sw_obj_annotation(doc, annotation), "true");
}

bool sw_is_observed(struct json_object *doc)
{
    const char *text = sw_obj_annotation(doc, SW_OBSERVE);
    return sw_streq(text, "true") || sw_streq(text, "any") || sw_streq(text, "none");
}

/* ---- namespace, owner --------------------------------------------------------------------------
 */

static int fill_namespace(struct json_object *doc, const struct sw_hook_env *env,
                          struct sw_err *err SW_UNUSED)
{
    if (!env->namespaced)
        (void)sw_json_del(doc, "metadata", "namespace", NULL);
    else if (!*sw_obj_namespace(doc))
        sw_json_set_str(doc, env->ns, "metadata", "namespace", NULL);
    return 0;
}

static int set_owner(struct json_object *doc, const struct sw_hook_env *env,
                     struct sw_err *err SW_UNUSED)
{
    bool module = sw_streq(sw_obj_kind(env->resource), "SpecialResourceModule");
    const char *label = module ? SW_MODULE_OWNED_LABEL : SW_OWNED_LABEL;
    sw_json_set_str(doc, "true", "metadata", "labels", label, NULL);
    const char *kind = sw_obj_kind(doc);
    struct json_object *pod = sw_pod_template(doc);
    if (pod && pod != doc)
        sw_json_set_str(pod, "true", "metadata", "labels", label, NULL);
    const char *uid = sw_obj_uid(env->resource);
    if (env->from_crds || !*uid || sw_streq(kind, "Namespace") || sw_streq(kind, "SpecialResource"))
        return 0;
    struct json_object *owner = json_object_new_object(), *owners = json_object_new_array();
    sw_json_set_str(owner, sw_obj_api_version(env->resource), "apiVersion", NULL);
    sw_json_set_str(owner, sw_obj_kind(env->resource), "kind", NULL);
    sw_json_set_str(owner, sw_obj_name(env->resource), "name", NULL);
    sw_json_set_str(owner, uid, "uid", NULL);
    sw_json_set(owner, json_object_new_boolean(true), "controller", NULL);
    sw_json_set(owner, json_object_new_boolean(true), "blockOwnerDeletion", NULL);
    (void)json_object_array_add(owners, owner);
    sw_json_set(doc, owners, "metadata", "ownerReferences", NULL);
    return 0;
}

/* Helm finds what belongs to a release by these. */
static int mark_release(struct json_object *doc, const struct sw_hook_env *env,
                        struct sw_err *err SW_UNUSED)
{
    if (env->from_crds)
        return 0;
    sw_json_set_str(doc, sw_obj_name(env->resource), "metadata", "annotations",
                    "meta.helm.sh/release-name", NULL);
    sw_json_set_str(doc, env->ns, "metadata", "annotations", "meta.helm.sh/release-namespace",
                    NULL);
    sw_json_set_str(doc, "Helm", "metadata", "labels", "app.kubernetes.io/managed-by", NULL);
    return 0;
}

/* ---- which nodes -------------------------------------------------------------------------------
 */

/* Into the nodeSelector of pods, or of a BuildConfig, whose build pods get it. */
static void merge_selector(struct json_object *doc, struct json_object *labels)
{
    bool build = sw_streq(sw_obj_kind(doc), "BuildConfig");
    struct json_object *pod = build ? doc : sw_pod_template(doc);
    if (!pod || !sw_json_len(labels))
        return;
    struct json_object *selector = sw_json_need_map(pod, "spec", "nodeSelector", NULL);
    json_object_object_foreach(labels, key, value)
    {
        (void)json_object_object_add(selector, key, json_object_get(value));
    }
}

static int select_nodes(struct json_object *doc, const struct sw_hook_env *env,
                        struct sw_err *err SW_UNUSED)
{
    merge_selector(doc, sw_json_find(env->resource, "spec", "nodeSelector", NULL));
    return 0;
}

static int follow_states(struct json_object *doc, const struct sw_hook_env *env,
                         struct sw_err *err SW_UNUSED)
{
    merge_selector(doc, env->needs);
    return 0;
}

static int make_affine(struct json_object *doc, const struct sw_hook_env *env, struct sw_err *err)
{
    if (!env->group)
        return sw_err_set(err, SW_INVALID, "there is no node whose kernel it could be made for");
    const char *kind = sw_obj_kind(doc);
    SW_AUTO_CHARS *name = sw_printf("%s-%s", sw_obj_name(doc), env->group->suffix);
    sw_json_set_str(doc, name, "metadata", "name", NULL);
    if (names("DaemonSet Deployment StatefulSet", kind)) {
        sw_json_set_str(doc, name, "metadata", "labels", "app", NULL);
        sw_json_set_str(doc, name, "spec", "selector", "matchLabels", "app", NULL);
        sw_json_set_str(doc, name, "spec", "template", "metadata", "labels", "app", NULL);
    }
    if (sw_streq(kind, "BuildRun"))
        sw_json_set_str(doc, name, "spec", "buildRef", "name", NULL);
    merge_selector(doc, env->selector);
    return 0;
}

/* ---- proxy -------------------------------------------------------------------------------------
 */

static int set_proxy(struct json_object *doc, const struct sw_hook_env *env,
                     struct sw_err *err SW_UNUSED)
{
    static const struct {
        const char *variable, *key;
    } rows[] = { { "HTTP_PROXY", "httpProxy" },
                 { "HTTPS_PROXY", "httpsProxy" },
                 { "NO_PROXY", "wholeNoProxy" } };
    struct json_object *pod = sw_pod_template(doc), *container;
    for (size_t i = 0; (container = sw_pod_container(pod, i)); i++) {
        struct json_object *list = sw_json_need_list(container, "env", NULL);
        for (size_t r = 0; r < SW_COUNT(rows); r++) {
            const char *value = sw_json_str(env->values, "", "proxy", rows[r].key, NULL);
            if (!*value || sw_json_find_by(list, "name", rows[r].variable))
                continue; /* no proxy, or the recipe sets it itself */
            struct json_object *entry = json_object_new_object();
            sw_json_set_str(entry, rows[r].variable, "name", NULL);
            sw_json_set_str(entry, value, "value", NULL);
            (void)json_object_array_add(list, entry);
        }
    }
    return 0;
}

/* ---- what server-side apply needs of old servers ------------------------------------------------
 */

static void default_protocol(struct json_object *ports)
{
    for (size_t i = 0; i < sw_json_len(ports); i++) {
        struct json_object *port = sw_json_at(ports, i);
        if (json_object_is_type(port, json_type_object) && !sw_json_get(port, "protocol"))
            sw_json_set_str(port, "TCP", "protocol", NULL);
    }
}

/* Ports are keyed by port and protocol; servers before 1.21 refuse them without. */
static int set_protocol(struct json_object *doc, const struct sw_hook_env *env SW_UNUSED,
                        struct sw_err *err SW_UNUSED)
{
    struct json_object *pod = sw_pod_template(doc), *container;
    if (sw_streq(sw_obj_kind(doc), "Service"))
        default_protocol(sw_json_find(doc, "spec", "ports", NULL));
    for (size_t i = 0; (container = sw_pod_container(pod, i)); i++)
        default_protocol(sw_json_get(container, "ports"));
    return 0;
}

/* ---- drivers that are replaced node by node
 * ------------------------------------------------------
 */

/* Its pods are deleted by slipway when their node's turn comes, not by the DaemonSet controller. */
static int upgrade_by_node(struct json_object *doc, const struct sw_hook_env *env,
                           struct sw_err *err SW_UNUSED)
{
    struct json_object *policy = sw_json_find(env->resource, "spec", "upgradePolicy", NULL);
    bool driver = sw_hook_asked(doc, SW_DRIVER) ||
                  sw_streq(sw_obj_annotation(doc, SW_SRO_PREFIX "state"), "driver-container");
    if (!json_object_is_type(policy, json_type_object) || !driver)
        return 0;
    (void)sw_json_del(doc, "spec", "updateStrategy", NULL);
    sw_json_set_str(doc, "OnDelete", "spec", "updateStrategy", "type", NULL);
    sw_json_set_str(doc, "by-node", "metadata", "annotations", "slipway.dev/upgrade", NULL);
    return 0;
}

/* ---- the table ---------------------------------------------------------------------------------
 */

#define POD_MAKERS "DaemonSet Deployment StatefulSet ReplicaSet Job CronJob Pod"

/* A row for an annotation on which the engine acts. */
#define WAIT(name, kinds, doc, example)                                                            \
    {                                                                                              \
        name, SW_HOOK_WAIT, kinds, doc, example, .apply = NULL                                     \
    }

const struct sw_hook sw_hooks[] = {
    { "namespace", SW_HOOK_BEFORE_APPLY, "*",
      "a manifest of a namespaced kind without a namespace gets the resource's",
      .example = "spec:\n  namespace: my-driver\n", .apply = fill_namespace },
    { SW_KERNEL_AFFINE, SW_HOOK_BEFORE_APPLY, "*",
      "\"true\": one object for each kernel of the cluster, its name with a suffix of OS and "
      "kernel, "
      "its pods only on that kernel's nodes",
      .example = "true", .apply = make_affine },
    { "node-selector", SW_HOOK_BEFORE_APPLY, POD_MAKERS " BuildConfig",
      "spec.nodeSelector of the resource is merged into the pods'",
      .example = "spec:\n  nodeSelector:\n    nvidia.com/gpu.present: \"true\"\n",
      .apply = select_nodes },
    { "tolerations", SW_HOOK_BEFORE_APPLY, POD_MAKERS,
      "the taints that the resource sets on its nodes, and spec.tolerations, are tolerated by the "
      "pods",
      .example = "spec:\n  tolerations:\n  - key: example.com/gpu\n    operator: Exists\n    "
                 "effect: NoSchedule\n",
      .apply = hook_tolerate },
    { "priority", SW_HOOK_BEFORE_APPLY, POD_MAKERS,
      "spec.priorityClassName of the resource, for pods that name none",
      .example = "spec:\n  priorityClassName: system-node-critical\n", .apply = hook_set_priority },
    { SW_STATE_AFFINITY, SW_HOOK_BEFORE_APPLY, POD_MAKERS,
      "\"true\": its pods run only on nodes on which the states that its state needs have finished",
      .example = "true", .apply = follow_states },
    { SW_IMAGE_MIRROR, SW_HOOK_BEFORE_APPLY, POD_MAKERS " BuildConfig ClusterPolicy NVIDIADriver",
      "\"SOURCE=MIRROR, ...\": images whose name begins with SOURCE come from MIRROR; \"cluster\": "
      "from the first mirror that the cluster's own settings name; on the SpecialResource it is "
      "for "
      "all manifests",
      .example = "quay.io=registry.example.com/quay, nvcr.io=registry.example.com/nvcr",
      .apply = hook_mirror_images, .when = SW_HOOK_ALWAYS },
    { SW_SERVING_CERT, SW_HOOK_BEFORE_APPLY, "Service",
      "name of a Secret with a certificate for the Service: OpenShift's service CA makes it, else "
      "slipway, which renews it",
      .example = "my-webhook-tls", .apply = hook_serve_cert, .when = SW_HOOK_IF_SET },
    { SW_INJECT_CA, SW_HOOK_BEFORE_APPLY,
      "ValidatingWebhookConfiguration MutatingWebhookConfiguration CustomResourceDefinition "
      "APIService ConfigMap",
      "[<namespace>/]<secret> of a serving certificate: its CA becomes the object's caBundle, a "
      "ConfigMap's service-ca.crt",
      .example = "my-driver/my-webhook-tls", .apply = hook_inject_ca, .when = SW_HOOK_IF_SET },
    { SW_SRO_PREFIX "proxy", SW_HOOK_BEFORE_APPLY, POD_MAKERS,
      "\"true\": HTTP_PROXY, HTTPS_PROXY and NO_PROXY of the cluster in every container",
      .example = "true", .apply = set_proxy },
    { "protocol", SW_HOOK_BEFORE_APPLY, "Service " POD_MAKERS,
      "ports without a protocol get TCP, which server-side apply needs before Kubernetes 1.21",
      .example = "ports:\n- port: 8080\n", .apply = set_protocol },
    { SW_DRIVER, SW_HOOK_BEFORE_APPLY, "DaemonSet",
      "\"true\": where the resource has spec.upgradePolicy its old pods are replaced node by node, "
      "as those of driver containers are",
      .example = "true", .apply = upgrade_by_node, .when = SW_HOOK_ALWAYS },
    { "owner", SW_HOOK_BEFORE_APPLY, "*",
      "the label " SW_OWNED_LABEL "=true, on pod templates too, and an owner reference (not on "
      "namespaces, nor on what comes from crds/)",
      .example = "metadata:\n  labels:\n    " SW_OWNED_LABEL ": \"true\"\n", .apply = set_owner },
    { "release", SW_HOOK_BEFORE_APPLY, "*",
      "the annotations and the label by which Helm knows a release's objects",
      .example = "metadata:\n  annotations:\n    meta.helm.sh/release-name: my-driver\n    "
                 "meta.helm.sh/release-namespace: my-driver\n  labels:\n    "
                 "app.kubernetes.io/managed-by: Helm\n",
      .apply = mark_release },
    { "overrides", SW_HOOK_BEFORE_APPLY, "*",
      "spec.overrides of the resource: tolerations, nodeSelector, affinity, resources and "
      "priorityClassName of pods, JSON patches of any object",
      .example = "spec:\n  overrides:\n  - target: {kind: DaemonSet}\n    tolerations:\n    - "
                 "{operator: Exists}\n",
      .apply = hook_override },
    { "stay", SW_HOOK_BEFORE_APPLY, "DaemonSet",
      "what is asked of labels of Node Feature Discovery becomes a node affinity by which the pods "
      "stay, for the time of grace, where those labels are lost",
      .example = "nodeSelector:\n  feature.node.kubernetes.io/pci-10de.present: \"true\"\n",
      .apply = hook_node_affinity },
    WAIT(SW_SRO_PREFIX "wait", "*",
         "\"true\": the state ends only when the object is ready by its kind's rule", "true"),
    WAIT(SW_SRO_PREFIX "wait-for-logs", "DaemonSet",
         "a regular expression that the end of every pod's log must match",
         "\\+ wait \\$\\(pidof driver\\)"),
    WAIT(SW_SRO_PREFIX "state", "DaemonSet",
         "\"driver-container\": pods that cannot pull their image are looked for",
         "driver-container"),
    WAIT(SW_SRO_PREFIX "driver-container-vendor", "DaemonSet BuildConfig",
         "pairs a driver container with the BuildConfig that builds its image", "my-driver"),
    WAIT(SW_OBSERVE, "*",
         "\"true\": never applied; an object of that name that slipway has not made must be there "
         "and ready; "
         "\"any\", \"none\": one of all objects of its kind in its namespace is as asserted, or "
         "none is",
         "true"),
    WAIT("slipway.dev/assert", "*",
         "fields and JMESPath expressions, in YAML, that the object must have to be ready",
         "status:\n  (length(addresses)): 2\n"),
    WAIT("slipway.dev/assert-timeout", "*",
         "a duration: the state is Failed when slipway.dev/assert does not hold for so long", "5m"),
    WAIT("slipway.dev/driver-image", "DaemonSet",
         "a container whose image is for one kernel by its name, and after a blank the Job that "
         "makes the image: preflight looks for these",
         "image my-driver-build"),
    WAIT("slipway.dev/assert-message", "*",
         "text: what it means that slipway.dev/assert does not hold, and what to do; status and "
         "explain show it",
         "the node is to be rebooted"),
    WAIT("slipway.dev/note", "*",
         "text: what the state has chosen, and why; status, run, explain, plan and lint show it",
         "the driver is built here: no image is there for this kernel"),
    WAIT(
        "slipway.dev/observes", "*",
        "text: what of somebody else's the state has found; the status keeps it, and templates see "
        "it in observedStates",
        "nodefeatures.nfd.k8s-sigs.io"),
    WAIT("slipway.dev/hold", "*",
         "\"true\": others bring it ready; when it leaves ready later, nothing new begins after it",
         "true"),
    WAIT("slipway.dev/wait-for-node-labels", "*",
         "labels, comma separated, with any value or one (key=value): the state finishes node by "
         "node, as each node gets them",
         "nvidia.com/gpu.product,nvidia.com/gpu.count"),
    WAIT("slipway.dev/wait-for-node-resources", "*",
         "extended resources, comma separated: the state finishes node by node, as each node has "
         "some of each allocatable; <domain>/* is any of that domain",
         "nvidia.com/gpu,gpu.intel.com/*"),
    WAIT("slipway.dev/wait-for-nodes", "*",
         "labels with their values, comma separated: the two before it wait for nodes with these "
         "alone",
         "gpu=yes,zone=a"),
    WAIT("slipway.dev/shared-objects", "*",
         "\"false\": the object is the resource's own, though resources share the objects of its "
         "chart by its annotation of this name",
         "false"),
    WAIT("slipway.dev/adopt", "*",
         "\"true\": an object of that name that slipway has not made is taken over; it is not "
         "deleted later",
         "true"),
    WAIT("slipway.dev/replace", "*",
         "\"true\": deleted and made again where a field of it cannot be changed", "true"),
    WAIT("slipway.dev/timeout", "*",
         "a duration such as 30m: its state is Failed when it takes longer to get ready", "30m"),
    WAIT("slipway.dev/may-match-no-node", "DaemonSet",
         "\"true\": ready, too, while it matches no node", "true"),
    WAIT("slipway.dev/retries", "Job Pod",
         "a number: when it ran to its end and failed it is run again at most so often", "3"),
    WAIT(SW_DRY_RUN, "*", "\"true\": never stored; the API server must say that it would accept it",
         "true"),
    WAIT("helm.sh/readiness-success", "*",
         "a JSON array of conditions on .status, all of which make the object ready",
         "[\"{.phase} == Running\"]"),
    WAIT("helm.sh/readiness-failure", "*",
         "a JSON array of conditions on .status, any of which makes the object failed",
         "[\"{.phase} == Failed\"]"),
    { 0 },
};

const struct sw_hook *sw_hook_find(const char *name)
{
    for (const struct sw_hook *h = sw_hooks; h->name; h++)
        if (sw_streq(h->name, name))
            return h;
    return NULL;
}

const char *const *sw_hook_annotations(void)
{
    static const char *names[SW_COUNT(sw_hooks)];
    size_t n = 0;
    for (const struct sw_hook *h = sw_hooks; h->name; h++)
        if (strchr(h->name, '/'))
            names[n++] = h->name;
    return names;
}

int sw_hooks_apply(struct json_object *doc, const struct sw_hook_env *env, struct sw_err *err)
{
    for (const struct sw_hook *h = sw_hooks; h->name; h++) {
        /* names with a slash are annotations and must be asked for */
        bool asked = !strchr(h->name, '/') || h->when == SW_HOOK_ALWAYS ||
                     (h->when == SW_HOOK_IF_SET ? sw_obj_annotation(doc, h->name) != NULL
                                                : sw_hook_asked(doc, h->name));
        if (!h->apply || !asked || !names(h->kinds, sw_obj_kind(doc)))
            continue;
        int rc = h->apply(doc, env, err);
        if (rc < 0)
            return sw_err_wrap(err, rc, "%s '%s': %s", sw_obj_kind(doc), sw_obj_name(doc), h->name);
    }
    return 0;
}

struct json_object *sw_namespace_new(const char *name)
{
    struct json_object *doc = json_object_new_object();
    sw_json_set_str(doc, "v1", "apiVersion", NULL);
    sw_json_set_str(doc, "Namespace", "kind", NULL);
    sw_json_set_str(doc, name, "metadata", "name", NULL);
    sw_json_set_str(doc, "true", "metadata", "annotations", SW_SRO_PREFIX "wait", NULL);
    sw_json_set_str(doc, "true", "metadata", "annotations", "openshift.io/cluster-monitoring",
                    NULL);
    return doc;
}
