/* When an object is ready, by its kind. One row a kind; kinds without a row are judged by their
 * conditions. The rules are kstatus' (sigs.k8s.io/cli-utils), stricter where it lets pass what has
 * not happened yet: a Job must be complete, a Pod that runs to completion must have succeeded, a
 * BuildConfig must have built, cert-manager's objects must say that they are ready. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/json/path.h"
#include "operator/engine/readiness/gate.h"
#include "operator/engine/readiness/pod.h"
#include "operator/engine/readiness/readiness.h"

static void ready(struct sw_readiness *out)
{
    sw_readiness_set(out, SW_READINESS_READY, NULL, " ");
}

#define WAITING(out, reason, ...) sw_readiness_set(out, SW_READINESS_WAITING, reason, __VA_ARGS__)

/* ---- conditions --------------------------------------------------------------------------------
 */

static bool condition_is(struct json_object *live, const char *type, const char *status)
{
    return sw_streq(sw_json_str(sw_obj_condition(live, type), "", "status", NULL), status);
}

/* "condition Ready is False: reason: message" */
static void say_condition(struct json_object *live, const char *type, enum sw_readiness_kind kind,
                          struct sw_readiness *out)
{
    struct json_object *c = sw_obj_condition(live, type);
    const char *reason = sw_json_str(c, "", "reason", NULL);
    const char *message = sw_json_str(c, "", "message", NULL);
    sw_readiness_set(out, kind, *reason ? reason : type, "condition %s is %s%s%s%s%s", type,
                     sw_json_str(c, "missing", "status", NULL), *reason ? ": " : "", reason,
                     *message ? ": " : "", message);
}

/* A condition without observedGeneration is about the present generation. */
static void needs_condition(struct json_object *live, const char *type, struct sw_readiness *out)
{
    struct json_object *condition = sw_obj_condition(live, type);
    int64_t generation = sw_json_int(live, 0, "metadata", "generation", NULL);
    if (!condition)
        WAITING(out, type, "has no condition %s yet", type);
    else if (!condition_is(live, type, "True"))
        say_condition(live, type, SW_READINESS_WAITING, out);
    else if (sw_json_int(condition, generation, "observedGeneration", NULL) < generation)
        WAITING(out, "Outdated", "condition %s speaks of an older generation", type);
    else
        ready(out);
}

static void needs_ready(struct json_object *live, struct sw_readiness *out)
{
    needs_condition(live, "Ready", out);
}

static void needs_available(struct json_object *live, struct sw_readiness *out)
{
    needs_condition(live, "Available", out);
}

/* kstatus' generic rule; Available besides, which operators' own kinds often have instead of Ready.
 */
static void by_conditions(struct json_object *live, struct sw_readiness *out)
{
    if (condition_is(live, "Stalled", "True"))
        say_condition(live, "Stalled", SW_READINESS_FAILED, out);
    else if (condition_is(live, "Reconciling", "True"))
        say_condition(live, "Reconciling", SW_READINESS_WAITING, out);
    else if (sw_obj_condition(live, "Ready"))
        needs_ready(live, out);
    else if (sw_obj_condition(live, "Available"))
        needs_available(live, out);
    else
        ready(out);
}

/* ---- numbers of replicas -----------------------------------------------------------------------
 */

static int64_t status_int(struct json_object *live, const char *field)
{
    return sw_json_int(live, 0, "status", field, NULL);
}

/* @return true: fewer than @want, and @out says so. */
static bool too_few(struct json_object *live, const char *field, int64_t want, const char *what,
                    struct sw_readiness *out)
{
    int64_t have = status_int(live, field);
    if (have >= want)
        return false;
    WAITING(out, "Progressing", "%" PRId64 " of %" PRId64 " pods are %s", have, want, what);
    return true;
}

static bool has_excess(struct json_object *live, int64_t want, struct sw_readiness *out)
{
    int64_t have = status_int(live, "replicas");
    if (have <= want)
        return false;
    WAITING(out, "Progressing", "%" PRId64 " old pods have not ended yet", have - want);
    return true;
}

/* Has the controller not processed this generation? The built-in ones always set
 * observedGeneration. */
static bool is_unprocessed(struct json_object *live, struct sw_readiness *out)
{
    int64_t generation = sw_json_int(live, 0, "metadata", "generation", NULL);
    int64_t seen = sw_json_int(live, -1, "status", "observedGeneration", NULL);
    if (seen >= generation)
        return false;
    WAITING(out, "Outdated", "its controller has not seen generation %" PRId64 " yet", generation);
    return true;
}

static void deployment(struct json_object *live, struct sw_readiness *out)
{
    int64_t want = sw_json_int(live, 1, "spec", "replicas", NULL);
    struct json_object *progressing = sw_obj_condition(live, "Progressing");
    if (is_unprocessed(live, out))
        return;
    const bool is_late = sw_streq(sw_json_str(progressing, "", "reason", NULL),
                                  "ProgressDeadlineExceeded"),
               has_failed = condition_is(live, "ReplicaFailure", "True");
    if (is_late || has_failed) { /* the latter says why no pod can be made */
        say_condition(live, has_failed ? "ReplicaFailure" : "Progressing",
                      is_late ? SW_READINESS_FAILED : SW_READINESS_WAITING, out);
        return;
    }
    if (too_few(live, "updatedReplicas", want, "updated", out) ||
        has_excess(live, status_int(live, "updatedReplicas"), out) ||
        too_few(live, "readyReplicas", want, "ready", out) ||
        too_few(live, "availableReplicas", want, "available", out))
        return;
    if (condition_is(live, "Available", "False"))
        say_condition(live, "Available", SW_READINESS_WAITING, out);
    else
        ready(out);
}

static void replica_set(struct json_object *live, struct sw_readiness *out)
{
    int64_t want = sw_json_int(live, 1, "spec", "replicas", NULL);
    if (is_unprocessed(live, out))
        return;
    if (condition_is(live, "ReplicaFailure", "True"))
        say_condition(live, "ReplicaFailure", SW_READINESS_WAITING, out);
    else if (!too_few(live, "replicas", want, "created", out) &&
             !too_few(live, "readyReplicas", want, "ready", out) &&
             !too_few(live, "availableReplicas", want, "available", out) &&
             !has_excess(live, want, out))
        ready(out);
}

static void stateful_set(struct json_object *live, struct sw_readiness *out)
{
    int64_t want = sw_json_int(live, 1, "spec", "replicas", NULL);
    int64_t partition = sw_json_int(live, 0, "spec", "updateStrategy", "rollingUpdate", "partition",
                                    NULL);
    bool on_delete = sw_streq(sw_json_str(live, "", "spec", "updateStrategy", "type", NULL),
                              "OnDelete");
    if (is_unprocessed(live, out) || too_few(live, "replicas", want, "created", out) ||
        too_few(live, "readyReplicas", want, "ready", out) || has_excess(live, want, out))
        return;
    if (on_delete) {
        ready(out); /* its user decides when pods get the new revision */
        return;
    }
    if (partition < want && too_few(live, "updatedReplicas", want - partition, "updated", out))
        return;
    const char *current = sw_json_str(live, "", "status", "currentRevision", NULL);
    const char *update = sw_json_str(live, current, "status", "updateRevision", NULL);
    if (partition == 0 && !sw_streq(current, update))
        WAITING(out, "Progressing", "revision %s is not everywhere yet", update);
    else
        ready(out);
}

static void daemon_set(struct json_object *live, struct sw_readiness *out)
{
    int64_t want = status_int(live, "desiredNumberScheduled");
    bool on_delete = sw_streq(sw_json_str(live, "", "spec", "updateStrategy", "type", NULL),
                              "OnDelete");
    if (is_unprocessed(live, out))
        return;
    if (want == 0) {
        if (sw_streq(sw_json_str(live, "", "metadata", "annotations", SW_ANN_NO_NODE, NULL),
                     "true"))
            ready(out);
        else
            WAITING(out, "NoMatchingNodes", "matches no node");
        return;
    }
    if (on_delete && status_int(live, "currentNumberScheduled") >= want &&
        status_int(live, "updatedNumberScheduled") < want) {
        WAITING(out, "OldPods",
                "%" PRId64 " of %" PRId64
                " pods are of an older template (updateStrategy OnDelete: they go when deleted)",
                want - status_int(live, "updatedNumberScheduled"), want);
        return;
    }
    if (!too_few(live, "currentNumberScheduled", want, "scheduled", out) &&
        !too_few(live, "updatedNumberScheduled", want, "updated", out) &&
        !too_few(live, "numberReady", want, "ready", out) &&
        !too_few(live, "numberAvailable", want, "available", out))
        ready(out);
}

/* ---- what runs to its end ----------------------------------------------------------------------
 */

static void job(struct json_object *live, struct sw_readiness *out)
{
    if (condition_is(live, "Failed", "True"))
        say_condition(live, "Failed", SW_READINESS_FAILED, out);
    else if (condition_is(live, "Complete", "True"))
        ready(out);
    else if (sw_json_bool(live, false, "spec", "suspend", NULL))
        WAITING(out, "Suspended", "is suspended");
    else
        WAITING(out, "Running",
                "%" PRId64 " of %" PRId64 " completions (%" PRId64 " pods active, %" PRId64
                " failed)",
                status_int(live, "succeeded"), sw_json_int(live, 1, "spec", "completions", NULL),
                status_int(live, "active"), status_int(live, "failed"));
}

int64_t sw_build_number(struct json_object *build)
{
    const char *number = sw_obj_annotation(build, "openshift.io/build.number"),
               *dash = strrchr(sw_obj_name(build), '-');
    return strtoll(number ? number : dash ? dash + 1 : "0", NULL, 10);
}

/* Its Builds are objects of their own: without them there is nothing to say yet. */
static void build_config(struct json_object *live, struct sw_readiness *out)
{
    (void)live;
    WAITING(out, "NoBuild", "has not built yet");
}

/* ---- a phase that must be one of few -----------------------------------------------------------
 */

struct phase_rule {
    const char *field;
    const char *ready;
    const char *failed[3];
    bool absent_is_ready;
};

static void by_phase(struct json_object *live, const struct phase_rule *rule,
                     struct sw_readiness *out)
{
    const char *phase = sw_json_str(live, "", "status", rule->field, NULL);
    const char *message = sw_json_str(live, "", "status", "message", NULL);
    if (sw_streq(phase, rule->ready) || (!*phase && rule->absent_is_ready)) {
        ready(out);
        return;
    }
    enum sw_readiness_kind kind = SW_READINESS_WAITING;
    for (size_t i = 0; i < SW_COUNT(rule->failed); i++)
        if (rule->failed[i] && sw_streq(phase, rule->failed[i]))
            kind = SW_READINESS_FAILED;
    if (*phase)
        sw_readiness_set(out, kind, phase, "status.%s is %s, not %s%s%s", rule->field, phase,
                         rule->ready, *message ? ": " : "", message);
    else
        WAITING(out, "NoStatus", "has no status.%s yet", rule->field);
}

#define PHASE_KIND(function, ...)                                                                  \
    static void function(struct json_object *live, struct sw_readiness *out)                       \
    {                                                                                              \
        by_phase(live, &(const struct phase_rule){ __VA_ARGS__ }, out);                            \
    }
PHASE_KIND(build, .field = "phase", .ready = "Complete",
           .failed = { "Failed", "Error", "Cancelled" })
PHASE_KIND(namespace_, .field = "phase", .ready = "Active", .absent_is_ready = true)
PHASE_KIND(volume_claim, .field = "phase", .ready = "Bound", .failed = { "Lost" })
PHASE_KIND(csv, .field = "phase", .ready = "Succeeded", .failed = { "Failed" })
PHASE_KIND(install_plan, .field = "phase", .ready = "Complete", .failed = { "Failed" })
PHASE_KIND(subscription, .field = "state", .ready = "AtLatestKnown", .failed = { "UpgradeFailed" })

static void cluster_policy(struct json_object *live, struct sw_readiness *out)
{
    if (condition_is(live, "Ready", "True"))
        ready(out);
    else if (condition_is(live, "Error", "True"))
        say_condition(live, "Error", SW_READINESS_WAITING, out);
    else
        by_phase(live, &(const struct phase_rule){ .field = "state", .ready = "ready" }, out);
}

/* ---- the rest ----------------------------------------------------------------------------------
 */

static void service(struct json_object *live, struct sw_readiness *out)
{
    bool balanced = sw_streq(sw_json_str(live, "", "spec", "type", NULL), "LoadBalancer");
    if (balanced && !*sw_json_str(live, "", "spec", "clusterIP", NULL))
        WAITING(out, "NoAddress", "has no cluster IP yet");
    else
        ready(out);
}

static void crd(struct json_object *live, struct sw_readiness *out)
{
    if (condition_is(live, "NamesAccepted", "False"))
        say_condition(live, "NamesAccepted", SW_READINESS_FAILED, out);
    else
        needs_condition(live, "Established", out);
}

static void special_resource(struct json_object *live, struct sw_readiness *out)
{
    if (condition_is(live, "Errored", "True"))
        say_condition(live, "Errored", SW_READINESS_WAITING, out);
    else
        needs_ready(live, out);
}

static const struct {
    const char *group, *kind;
    void (*judge)(struct json_object *live, struct sw_readiness *out);
} rules[] = {
    { "", "Namespace", namespace_ },
    { "", "PersistentVolumeClaim", volume_claim },
    { "", "Pod", pod_judge },
    { "", "Service", service },
    { "apiextensions.k8s.io", "CustomResourceDefinition", crd },
    { "apiregistration.k8s.io", "APIService", needs_available },
    { "apps", "DaemonSet", daemon_set },
    { "apps", "Deployment", deployment },
    { "apps", "ReplicaSet", replica_set },
    { "apps", "StatefulSet", stateful_set },
    { "batch", "Job", job },
    { "build.openshift.io", "Build", build },
    { "build.openshift.io", "BuildConfig", build_config },
    { "cert-manager.io", "Certificate", needs_ready },
    { "cert-manager.io", "ClusterIssuer", needs_ready },
    { "cert-manager.io", "Issuer", needs_ready },
    { "nvidia.com", "ClusterPolicy", cluster_policy },
    { "nvidia.com", "GPUCluster", cluster_policy },
    { "nvidia.com", "NVIDIADriver", cluster_policy },
    { "operators.coreos.com", "ClusterServiceVersion", csv },
    { "operators.coreos.com", "InstallPlan", install_plan },
    { "operators.coreos.com", "Subscription", subscription },
    { "sro.openshift.io", "SpecialResource", special_resource },
};

const char *sw_kstatus_kind(size_t i, const char **group)
{
    *group = i < SW_COUNT(rules) ? rules[i].group : NULL;
    return i < SW_COUNT(rules) ? rules[i].kind : NULL;
}

/* What the namespace controller says of one that is being deleted, the causes before the rest. */
static const char *const deletion_conditions[] = {
    "NamespaceDeletionDiscoveryFailure", "NamespaceDeletionGroupVersionParsingFailure",
    "NamespaceDeletionContentFailure",   "NamespaceFinalizersRemaining",
    "NamespaceContentRemaining",
};

char *sw_deletion_held_by(struct json_object *live)
{
    struct json_object *list = sw_json_find(live, "metadata", "finalizers", NULL);
    SW_AUTO_CHARS *names = sw_json_joined(list, ", ");
    char *text = sw_printf("%s%s", *names ? "finalizers: " : "", names);
    if (!sw_streq(sw_obj_kind(live), "Namespace"))
        return text;
    for (size_t i = 0; i < SW_COUNT(deletion_conditions); i++) {
        const char *type = deletion_conditions[i];
        if (condition_is(live, type, "True"))
            sw_append(&text, "%s%s", *text ? "; " : "",
                      sw_json_str(sw_obj_condition(live, type), type, "message", NULL));
    }
    return text;
}

static void terminating(struct json_object *live, struct sw_readiness *out)
{
    SW_AUTO_CHARS *held_by = sw_deletion_held_by(live);
    WAITING(out, "Terminating", "is being deleted%s%s%s", *held_by ? " (" : "", held_by,
            *held_by ? ")" : "");
}

void sw_kstatus(struct json_object *live, struct sw_readiness *out)
{
    const char *version = sw_obj_api_version(live), *slash = strchr(version, '/');
    size_t i = 0, group_len = slash ? (size_t)(slash - version) : 0;
    while (i < SW_COUNT(rules) &&
           !(sw_streq(rules[i].kind, sw_obj_kind(live)) && strlen(rules[i].group) == group_len &&
             !strncmp(rules[i].group, version, group_len)))
        i++;
    int64_t generation = sw_json_int(live, 0, "metadata", "generation", NULL);
    if (!live)
        WAITING(out, "NotFound", "does not exist");
    else if (sw_json_find(live, "metadata", "deletionTimestamp", NULL))
        terminating(live, out);
    else if (sw_json_int(live, generation, "status", "observedGeneration", NULL) < generation)
        WAITING(out, "Outdated", "its controller has not seen generation %" PRId64 " yet",
                generation);
    else if (i < SW_COUNT(rules))
        rules[i].judge(live, out);
    else
        by_conditions(live, out);
}
