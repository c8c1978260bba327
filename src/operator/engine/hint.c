/* What a person can do about a failure, by the reason and the message that are shown. */
#include <stdlib.h>
#include <string.h>

#include "operator/engine/internal.h"

#define WEBHOOK "see that the webhook's Service has ready pods; it is tried again by itself"
#define LIMITS "ask for what the namespace's LimitRange allows, or change the LimitRange"
#define REPLACE "annotate the object with " SW_ANN_REPLACE " to have it deleted and made again"
#define EXPIRED                                                                                    \
    "renew the certificate; if it is valid, set the clock of the machine that refuses it"
#define AUTHORITY                                                                                  \
    "give the one that calls the authority's certificate (caBundle of a webhook, the node's "      \
    "trust "                                                                                       \
    "for a registry)"
#define IMAGE "see that the image exists and may be pulled"
#define CLAIM                                                                                      \
    "give the claim a StorageClass that exists; with WaitForFirstConsumer it is bound once a pod " \
    "uses it"
#define LOGIN "give the pod a pull secret whose login may pull the image (imagePullSecrets)"
#define SOURCE "create it in the pod's namespace, or mark it optional in the pod"
#define DISK "free disk space on the node; its taint node.kubernetes.io/disk-pressure goes then"
#define MEMORY "free memory on the node; its taint node.kubernetes.io/memory-pressure goes then"
#define NOT_READY "see why the node is not ready: kubectl describe node"
#define UNCORDON "uncordon the node (kubectl uncordon), or take another"
#define LIMIT "raise the limit that the message names, or have the program write less"
#define CORRECT "correct what the message names in the recipe or its values"
#define PROGRAM "correct the container's command, or take an image that has the program"
#define MENDED "change what the message names; it goes on by itself"
#define VERSION "correct apiVersion and kind in the recipe"
#define PREVIOUS "read the pod's log: kubectl logs --previous"
#define SERVER                                                                                     \
    "see the log of the API server, or of the one behind the API; it is tried again by itself"
#define HOLDER                                                                                     \
    "see that what set the finalizer runs, and takes it off: slipway goes on when it is gone"
#define APPLIED " | kubectl apply -f -"
#define RECIPE "RECIPE"
#define RIGHTS "give the operator the rights: slipway rbac " RECIPE APPLIED

/* ---- pods that fit nowhere ----------------------------------------------------------------------
 * "0/4 nodes are available: 1 node(s) had taint {a: }, that the pod didn't tolerate, 3 Insufficient
 * cpu." Nodes that the pod does not select are none that it misses. */

#define AFFINITY                                                                                   \
    "have fewer replicas or more nodes, or change the podAntiAffinity: "                           \
    "pods that may not run together need a node (its topologyKey) each"
#define SPREAD "change topologySpreadConstraints, or give more nodes the label of its topologyKey"
#define VOLUME                                                                                     \
    "have the pod run where its volume is: see the nodeAffinity of the PersistentVolume that its " \
    "claim is bound to"

/* Sources: the messages of the scheduler's plugins (pkg/scheduler/framework/plugins). */
static const struct {
    const char *text, *hint;
} obstacles[] = {
    { "node.kubernetes.io/disk-pressure", DISK },
    { "node.kubernetes.io/memory-pressure", MEMORY },
    { "node.kubernetes.io/pid-pressure", "end processes on the node, or allow it more of them" },
    { "node.kubernetes.io/not-ready", NOT_READY },
    { "node.kubernetes.io/unreachable", NOT_READY },
    { "node.kubernetes.io/unschedulable", UNCORDON },
    { " were unschedulable", UNCORDON },
    { " taint", "give the pod a toleration of the taint, or take it off the node" },
    { " Insufficient ", "see what the pod asks for that no node has" },
    { " anti-affinity rules", AFFINITY },
    { " pod affinity rules",
      "see that a pod runs which the podAffinity's labelSelector matches, or change the "
      "podAffinity" },
    { " affinity/anti-affinity", "change the podAffinity or podAntiAffinity, or add nodes" },
    { " topology spread constraints", SPREAD },
    { " free ports ",
      "take another hostPort, or end what has it on the node: one pod of a node may have a port" },
    { " volume node affinity conflict", VOLUME },
    { " PersistentVolume's node affinity", VOLUME },
    { " no available volume zone", VOLUME },
    { "available persistent volumes to bind",
      "create a PersistentVolume that the claim fits, or give the claim a StorageClass that makes "
      "them" },
    { " max volume count", "the node has as many volumes as it can attach: add nodes" },
    { " Too many pods", "the node has as many pods as it may: add nodes, or raise its maxPods" },
};

/* Not selected by the pod: such nodes are none that it misses. */
static const char *const not_selected[] = {
    "didn't match Pod's node affinity", /* or ".../selector" */
    "didn't match node selector",
    "didn't match scheduler-enforced node affinity",
};

/* Most pods are not for these nodes: they are blamed where nothing else is. */
static const char *const of_control_plane[] = {
    "{node-role.kubernetes.io/master",
    "{node-role.kubernetes.io/control-plane",
};

static bool has_one_of(const char *text, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strstr(text, list[i]))
            return true;
    return false;
}

static const char *obstacle_hint(const char *text)
{
    for (size_t i = 0; i < SW_COUNT(obstacles); i++)
        if (strstr(text, obstacles[i].text))
            return obstacles[i].hint;
    return NULL;
}

/* By what keeps most of the nodes away; NULL: the message is none of these, or says another thing.
 */
static const char *unschedulable_hint(const char *message)
{
    static const char start[] = " nodes are available: ";
    const char *at = strstr(message, start), *hint = NULL, *last = NULL;
    unsigned long most = 0;
    bool is_tie = false;
    if (!at)
        return NULL;
    SW_AUTO_CHARS *text = sw_strdup(at + strlen(start));
    text[strcspn(text, ";")] = '\0';
    char *preemption = strstr(text, ". preemption"), *next;
    if (preemption)
        *preemption = '\0';
    for (char *clause = text; clause; clause = next) {
        next = strstr(clause, ", ");
        while (next &&
               !(next[2] >= '0' && next[2] <= '9')) /* "..., that the pod didn't tolerate" */
            next = strstr(next + 1, ", ");
        if (next) {
            *next = '\0';
            next += 2;
        }
        const unsigned long n = strtoul(clause, NULL, 10);
        if (!n || has_one_of(clause, not_selected, SW_COUNT(not_selected)))
            continue;
        if (has_one_of(clause, of_control_plane, SW_COUNT(of_control_plane))) {
            last = obstacle_hint(clause);
            continue;
        }
        is_tie = n == most;
        if (n > most) {
            most = n;
            hint = obstacle_hint(clause);
        }
    }
    if (is_tie)
        return "see which of these nodes the pod is for, and what keeps it off them";
    return most ? hint : last;
}

/* ---- all others ---------------------------------------------------------------------------------
 */

/* The first row whose reason is the one, and whose text is in the message; NULL: any. */
static const struct {
    const char *reason, *text, *hint;
} hints[] = {
    { "Foreign", "(finalizers: ", HOLDER },
    { "Foreign", NULL, NULL }, /* its message says what to do */
    { NULL, "certificate has expired or is not yet valid", EXPIRED },
    { NULL, "certificate is not yet valid", EXPIRED },
    { NULL, "certificate has expired", EXPIRED },
    { NULL, "certificate signed by unknown authority", AUTHORITY },
    { NULL, "unable to get local issuer certificate", AUTHORITY },
    { NULL, "self-signed certificate", AUTHORITY },
    { NULL, "exceeded quota", "raise the namespace's ResourceQuota, or free what it counts" },
    { NULL, "failed quota",
      "give each container what the message names, or the namespace a LimitRange with defaults" },
    { NULL, "failed calling webhook", WEBHOOK },
    { NULL, "failed to call webhook", WEBHOOK },
    { NULL, "denied the request", "an admission webhook rejected it: ask its owner" },
    { NULL, "denied request: ", "a ValidatingAdmissionPolicy rejected it: ask its owner" },
    { NULL, "pod rejected: RuntimeClass ", "create the RuntimeClass, or name another one" },
    { NULL, "violates PodSecurity",
      "label the namespace pod-security.kubernetes.io/enforce with the level that the pod needs" },
    { NULL, "per Container is", LIMITS },
    { NULL, "per Pod is", LIMITS },
    { NULL, "per PersistentVolumeClaim is", LIMITS },
    { NULL, "no PriorityClass with name", "create the PriorityClass, or name one that exists" },
    { NULL, "error looking up service account", "create the ServiceAccount that the pod names" },
    { NULL, "attempting to grant RBAC permissions",
      "an account cannot grant rights that it lacks: apply this as an admin" },
    { NULL, "being terminated", "wait until the namespace is gone, or look what holds it" },
    { NULL, "field is immutable", REPLACE },
    { NULL, "is immutable after creation", REPLACE },
    { NULL, "updates to statefulset spec", REPLACE },
    { NULL, "pod updates may not change fields", REPLACE },
    { NULL, "may not be changed in an update", REPLACE },
    { NULL, "may not change once set", REPLACE },
    { NULL, "Forbidden: updates to ", REPLACE },
    { NULL, "cannot change roleRef", REPLACE },
    { NULL, ": Forbidden: ", CORRECT }, /* of a field, not of a right */
    { NULL, "slipway rbac ", "give the account the rights, by the command that is named" },
    { "NotVisible", NULL, RIGHTS },
    { NULL, "cannot patch resource", RIGHTS },
    { NULL, "orbidden", RIGHTS }, /* "Forbidden" or "forbidden" */
    { "NamespaceMissing", NULL,
      "create the namespace (kubectl create namespace), or put a Namespace into the recipe" },
    { "NotServed", "; did you mean '", VERSION },
    { "NotServed", "' has it", VERSION },
    { NULL, "this cluster does not serve that version (but ",
      "take a version that the message names, or choose it by .Capabilities.APIVersions" },
    { "NotServed", NULL,
      "install what serves the kind, or choose the version by .Capabilities.APIVersions" },
    { "NotRendered", " cannot be fetched: ", NULL }, /* its message says what to do */
    { "NotRendered", NULL, "correct the template or the values" },
    { "NoMatchingNodes", " is not tolerated",
      "give the pods a toleration of the taint, or take it off the nodes" },
    { "NoMatchingNodes", " fits the node affinity ",
      "label nodes as the affinity asks for, or change it" },
    { "NoMatchingNodes", NULL, "label nodes, or change the selector" },
    { "Terminating", "inalizers", HOLDER },
    { "Removing", "inalizer", HOLDER },
    { "Terminating", "iscovery failed",
      "see kubectl get apiservices: delete the APIService that nothing serves any more" },
    { "Terminating", NULL, "see which finalizer holds it" },
    { "Contested", NULL, "see who changes it: slipway explain NAME" },
    { NULL, "image pull secrets",
      "create the pull secret that the pod names, in its namespace, and see that the image "
      "exists" },
    { NULL, "no basic auth credentials", LOGIN },
    { NULL, "401 Unauthorized", LOGIN },
    { NULL, "unauthorized: ", LOGIN },
    { "ErrImagePull", NULL, IMAGE },
    { "ImagePullBackOff", NULL, IMAGE },
    { "ErrImageNeverPull", NULL, IMAGE },
    { "InvalidImageName", NULL, "correct the image's name" },
    { "ImageMissing", NULL, "see that the image is there for the node's kernel, or push it" },
    { NULL, "MountVolume.SetUp failed", SOURCE },
    { "CreateContainerConfigError", NULL, SOURCE },
    { NULL, "unbound immediate PersistentVolumeClaims", CLAIM },
    { NULL, "persistentvolumeclaim \"", "create the claim that the pod names" },
    { NULL, "storageclass.storage.k8s.io", CLAIM },
    { NULL, "status.phase is Pending, not Bound", CLAIM },
    { NULL, " exceeds the limit ", LIMIT },
    { NULL, " exceeds the total limit of containers ", LIMIT },
    { NULL, "exceeded its local ephemeral storage limit ", LIMIT },
    { NULL, "low on resource: memory", MEMORY },
    { "Evicted", NULL, DISK },
    { NULL, "node.kubernetes.io/disk-pressure", DISK },
    { NULL, "OOMKilled", "raise the container's memory limit" },
    { NULL, "is not a shared mount",
      "on the node, let containers pass mounts on: mount --make-rshared /" },
    { NULL, "no runtime for ",
      "configure the runtime on the node (NVIDIA's is set up by the container toolkit), or name "
      "another RuntimeClass" },
    { NULL, "executable file not found", PROGRAM },
    { NULL, "exec format error", "take an image of the node's architecture" },
    { "CrashLoopBackOff", NULL, PREVIOUS },
    { NULL, " runs again, after ", PREVIOUS },
    { "Unschedulable", NULL, "see what the pod asks for that no node has" },
    { NULL, "status.phase is Failed, not Complete",
      "read the build's log; what is corrected is built again by: oc start-build" },
    { "BackoffLimitExceeded", NULL, "read the Job's logs; change or delete it to run it again" },
    { "PodFailed", NULL, "read the pod's log; change or delete it to run it again" },
    { "OldPods", NULL, "see `slipway plan NAME` for which node comes next, and what holds it up" },
    { "NotAsserted", " has what none may have", MENDED },
    { "PodNotReady", NULL,
      "see why the container's readiness probe fails: its log, kubectl describe pod" },
    { "WaitingForLogs", NULL, "read the pod's log" },
    /* of a container that will be started again, in the moment before that is said */
    { NULL, " ended: exit code ", "read the pod's log" },
    { NULL, "Operation cannot be fulfilled", "see who changes it: slipway explain NAME" },
    { NULL, "Internal error occurred", SERVER },
    { NULL, "HTTP status 5", SERVER },
    { "Timeout", NULL,
      "see why it is not ready: slipway explain NAME; what only takes longer needs a higher "
      "time-out (slipway.dev/timeout, spec.stateTimeout)" },
};

const char *hint_for(const char *reason, const char *message, bool lasts)
{
    const bool is_matched = !sw_streq(reason, "NoMatchingNodes"); /* else nothing is in the way */
    const char *nodes = message && is_matched ? unschedulable_hint(message) : NULL;
    if (nodes)
        return nodes;
    for (size_t i = 0; message && *message && i < SW_COUNT(hints); i++)
        if ((!hints[i].reason || sw_streq(hints[i].reason, reason)) &&
            (!hints[i].text || strstr(message, hints[i].text)))
            return hints[i].hint ? hints[i].hint : "";
    return lasts && sw_streq(reason, "NotApplied") ? CORRECT : "";
}

/* What is between @start and the next quote in *@at, which goes behind it; of @arena. NULL: there
 * is no such thing. */
static const char *quoted(struct sw_arena *arena, const char **at, const char *start)
{
    const char *from = strstr(*at, start);
    from = from ? from + strlen(start) : NULL;
    const char *end = from ? strchr(from, '"') : NULL;
    if (!end)
        return NULL;
    *at = end + 1;
    return sw_arena_printf(arena, "%.*s", (int)(end - from), from);
}

/* Whom the server has refused what, by its message: 'User "a" cannot get resource "b" in API group
 * "c" in the namespace "d"'. NULL: it does not say. @is_operator: an operator asked, else
 * `slipway run` as whoever calls it, which an account may be.
 * Source: the API server's responsewriters.Forbidden. */
static const char *rights_hint(struct sw_arena *arena, const char *message, const char *recipe,
                               bool is_operator)
{
    static const char accounts[] = "system:serviceaccount:",
                      plain[] = "abcdefghijklmnopqrstuvwxyz0123456789-.:";
    const char *at = message, *name = quoted(arena, &at, "User \""), *from = at;
    const char *resource = name ? quoted(arena, &at, " resource \"") : NULL;
    if (!resource || !sw_starts_with(from, " cannot ") || strchr(name, '\''))
        return NULL;
    from += strlen(" cannot ");
    const char *group = sw_starts_with(at, " in API group ")
                            ? quoted(arena, &at, " in API group \"")
                            : "";
    const char *ns = sw_starts_with(at, " in the namespace ") ? quoted(arena, &at, " \"") : NULL;
    const char *right = sw_arena_printf(arena, "the right to %.*s %s%s%s%s%s",
                                        (int)strcspn(from, " "), from, resource,
                                        group && *group ? "." : "", group ? group : "",
                                        ns ? " in namespace " : " in all namespaces", ns ? ns : "");
    const char *account = sw_starts_with(name, accounts) ? name + strlen(accounts) : "";
    const char *colon = account[strspn(account, plain)] ? NULL : strchr(account, ':');
    if (!colon) /* shells take what is quoted so as it is */
        return sw_arena_printf(arena, "give user %s %s: slipway rbac %s --user '%s'" APPLIED, name,
                               right, recipe, name);
    const int len = (int)(colon - account);
    if (!is_operator)
        return sw_arena_printf(arena,
                               "give account %.*s/%s %s: slipway rbac %s --user '%s'" APPLIED, len,
                               account, colon + 1, right, recipe, name);
    const bool usual = sw_streq(account, "slipway:slipway");
    const char *whose = usual ? ""
                              : sw_arena_printf(arena,
                                                " --operator-namespace %.*s --operator-account %s",
                                                len, account, colon + 1);
    return sw_arena_printf(arena, "give account %.*s/%s %s: slipway rbac %s%s" APPLIED, len,
                           account, colon + 1, right, recipe, whose);
}

char *sw_rights_hint(const char *message, const char *recipe)
{
    SW_AUTO(sw_arena) *arena = sw_arena_new();
    return sw_strdup(rights_hint(arena, message, sw_text_or(recipe, RECIPE), false));
}

/* PREVIOUS of the pod and container that @message names: "DaemonSet ns/name: ... pod x on node n:
 * container c: CrashLoopBackOff", or "pod ns/x". NULL: it names none. */
static const char *log_hint(struct sw_arena *arena, const char *message)
{
    static const char pod_is[] = "pod ", container_is[] = "container ";
    const char *pod = strstr(message, pod_is), *object = strchr(message, ' ');
    if (!pod || (pod > message && pod[-1] != ' '))
        return NULL;
    pod += sizeof pod_is - 1;
    const int len = (int)strcspn(pod, " :");
    const char *slash = memchr(pod, '/', (size_t)len);
    const char *ns = slash ? pod : object && object < pod ? object + 1 : "";
    const int ns_len = (int)strcspn(ns, "/ :");
    if (!ns_len || ns[ns_len] != '/')
        return NULL;
    const char *name = slash ? slash + 1 : pod, *container = strstr(name, container_is);
    container = container ? container + sizeof container_is - 1 : "";
    const int container_len = (int)strcspn(container, ": ");
    return sw_arena_printf(arena, PREVIOUS " -n %.*s %.*s%s%.*s", ns_len, ns,
                           (int)(pod + len - name), name, container_len ? " -c " : "",
                           container_len, container);
}

const char *hint_of(struct sw_engine *e, const char *reason, const char *message, bool lasts)
{
    const char *hint = hint_for(reason, message, lasts);
    const char *exact = sw_streq(hint, RIGHTS)
                            ? rights_hint(e->arena, message, sw_text_or(e->rights_of, RECIPE),
                                          !e->rights_of)
                        : sw_streq(hint, PREVIOUS) ? log_hint(e->arena, message)
                                                   : NULL;
    return exact ? exact : hint;
}

const char *hint_for_recipe(int code, const char *message)
{
    message = message ? message : "";
    if (strstr(message, " --allowed-files")) /* what `slipway run` has walked from a folder */
        return "put the recipe where the operator can read it: a repository, or a ConfigMap "
               "(slipway "
               "configmap FOLDER), or name its folder by the operator's --allowed-files";
    if (strstr(message, "spec.chart.verify.secretRef"))
        return "make the Secret with the authors' public keys, or correct spec.chart.verify";
    if (strstr(message, "spec.chart.verify") && code != SW_UNAVAILABLE)
        return "have the chart signed by one of the authors in the Secret (helm package --sign), "
               "or correct "
               "spec.chart.verify";
    if (sw_starts_with(message, "the recipe asks for another cluster"))
        return "give it such nodes, or annotate the resource with slipway.dev/constraints: warn";
    switch (code) {
    case SW_NOTFOUND:
        return "check name, version and repository.url of spec.chart";
    case SW_FORBIDDEN:
        return "check the credentials of spec.chart.repository, and the operator's rights";
    case SW_UNAVAILABLE:
        return "it is tried again by itself";
    default:
        return "correct what the message names";
    }
}
