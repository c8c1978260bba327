/* When an object of a kind is finished: vectors for each rule of the table. */
#include "operator/engine/readiness/gate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "data/json/json.h"
#include "data/json/path.h"
#include "kube/kube.h"

#define R SW_READINESS_READY
#define W SW_READINESS_WAITING
#define F SW_READINESS_FAILED

static const struct vector {
    const char *kind; /* "apps/v1 Deployment" */
    enum sw_readiness_kind verdict;
    const char *words; /* that the message has */
    const char *rest;  /* of the document, with ' for " */
} vectors[] = {
/* Deployment */
#define DEPLOYMENT "apps/v1 Deployment"
    { DEPLOYMENT, R, NULL,
      "'metadata':{'generation':2},'spec':{'replicas':2},'status':{'observedGeneration':2,"
      "'replicas':2,'updatedReplicas':2,'readyReplicas':2,'availableReplicas':2}" },
    { DEPLOYMENT, W, "generation 2",
      "'metadata':{'generation':2},'spec':{},"
      "'status':{'observedGeneration':1,'replicas':1,"
      "'updatedReplicas':1,'readyReplicas':1,"
      "'availableReplicas':1}" },
    { DEPLOYMENT, W, "generation 1", "'metadata':{'generation':1},'spec':{}" },
    { DEPLOYMENT, W, "1 of 2 pods are updated",
      "'metadata':{'generation':1},'spec':{'replicas':2},'status':{'observedGeneration':1,"
      "'replicas':2,'updatedReplicas':1,'readyReplicas':2,'availableReplicas':2}" },
    { DEPLOYMENT, W, "1 old pods",
      "'metadata':{'generation':1},'spec':{'replicas':1},'status':{'observedGeneration':1,"
      "'replicas':2,'updatedReplicas':1,'readyReplicas':1,'availableReplicas':1}" },
    { DEPLOYMENT, W, "1 of 2 pods are available",
      "'metadata':{'generation':1},'spec':{'replicas':2},'status':{'observedGeneration':1,"
      "'replicas':2,'updatedReplicas':2,'readyReplicas':2,'availableReplicas':1}" },
    { DEPLOYMENT, R, NULL,
      "'metadata':{'generation':1},'spec':{'replicas':0},'status':{'observedGeneration':1}" },
    { DEPLOYMENT, F, "condition Progressing is False: ProgressDeadlineExceeded: timed out",
      "'metadata':{'generation':1},'spec':{},'status':{'observedGeneration':1,'conditions':[{"
      "'type':'Progressing','status':'False','reason':'ProgressDeadlineExceeded','message':'timed "
      "out'}]}" },
    { DEPLOYMENT, F, "condition ReplicaFailure is True: FailedCreate: quota",
      "'metadata':{'generation':1},'spec':{},'status':{'observedGeneration':1,'conditions':[{"
      "'type':'Progressing','status':'False','reason':'ProgressDeadlineExceeded','message':'x'},{"
      "'type':'ReplicaFailure','status':'True','reason':'FailedCreate','message':'quota'}]}" },
    { DEPLOYMENT, W, "condition ReplicaFailure is True: FailedCreate: quota",
      "'metadata':{'generation':1},'spec':{},'status':{'observedGeneration':1,'conditions':[{"
      "'type':'ReplicaFailure','status':'True','reason':'FailedCreate','message':'quota'}]}" },
    { DEPLOYMENT, W, "is being deleted (finalizers: a, b)",
      "'metadata':{'deletionTimestamp':'2026-01-01T00:00:00Z','finalizers':['a','b']}" },
/* ReplicaSet */
#define REPLICASET "apps/v1 ReplicaSet"
    { REPLICASET, R, NULL,
      "'spec':{'replicas':1},'status':{'observedGeneration':0,'replicas':1,'readyReplicas':1,"
      "'availableReplicas':1}" },
    { REPLICASET, W, "0 of 1 pods are ready",
      "'spec':{'replicas':1},'status':{'observedGeneration':0,'replicas':1}" },
    { REPLICASET, W, "FailedCreate",
      "'spec':{},'status':{'observedGeneration':0,'conditions':[{'type':'ReplicaFailure',"
      "'status':'True','reason':'FailedCreate'}]}" },
/* StatefulSet */
#define STATEFULSET "apps/v1 StatefulSet"
    { STATEFULSET, R, NULL,
      "'spec':{'replicas':2},'status':{'observedGeneration':0,'replicas':2,'readyReplicas':2,"
      "'updatedReplicas':2,'currentRevision':'a','updateRevision':'a'}" },
    { STATEFULSET, W, "revision b",
      "'spec':{'replicas':2},'status':{'observedGeneration':0,'replicas':2,'readyReplicas':2,"
      "'updatedReplicas':2,'currentRevision':'a','updateRevision':'b'}" },
    { STATEFULSET, W, "0 of 1 pods are updated",
      "'spec':{'replicas':3,'updateStrategy':{'rollingUpdate':{'partition':2}}},'status':{"
      "'observedGeneration':0,'replicas':3,'readyReplicas':3}" },
    { STATEFULSET, R, NULL,
      "'spec':{'replicas':1,'updateStrategy':{'type':'OnDelete'}},'status':{"
      "'observedGeneration':0,'replicas':1,'readyReplicas':1,'currentRevision':'a',"
      "'updateRevision':'b'}" },
    { STATEFULSET, W, "1 of 2 pods are ready",
      "'spec':{'replicas':2},'status':{'observedGeneration':0,'replicas':2,'readyReplicas':1}" },
/* DaemonSet */
#define DAEMONSET "apps/v1 DaemonSet"
    { DAEMONSET, R, NULL,
      "'status':{'observedGeneration':0,'desiredNumberScheduled':3,'currentNumberScheduled':3,"
      "'updatedNumberScheduled':3,'numberReady':3,'numberAvailable':3}" },
    { DAEMONSET, W, "matches no node",
      "'status':{'observedGeneration':0,'desiredNumberScheduled':0}" },
    { DAEMONSET, R, NULL,
      "'metadata':{'annotations':{'slipway.dev/may-match-no-node':'true'}},"
      "'status':{'observedGeneration':0,'desiredNumberScheduled':0}" },
    { DAEMONSET, W, "generation 4",
      "'metadata':{'generation':4},'status':{'observedGeneration':3,'desiredNumberScheduled':1,"
      "'currentNumberScheduled':1,'updatedNumberScheduled':1,'numberReady':1,"
      "'numberAvailable':1}" },
    { DAEMONSET, W, "2 of 3 pods are scheduled",
      "'status':{'observedGeneration':0,'desiredNumberScheduled':3,'currentNumberScheduled':2}" },
    { DAEMONSET, W, "1 of 3 pods are updated",
      "'status':{'observedGeneration':0,'desiredNumberScheduled':3,'currentNumberScheduled':3,"
      "'updatedNumberScheduled':1,'numberReady':3,'numberAvailable':3}" },
    { DAEMONSET, W, "2 of 3 pods are of an older template",
      "'spec':{'updateStrategy':{'type':'OnDelete'}},'status':{'observedGeneration':0,"
      "'desiredNumberScheduled':3,'currentNumberScheduled':3,'updatedNumberScheduled':1,"
      "'numberReady':3,'numberAvailable':3}" },
    { DAEMONSET, W, "2 of 3 pods are available",
      "'status':{'observedGeneration':0,'desiredNumberScheduled':3,'currentNumberScheduled':3,"
      "'updatedNumberScheduled':3,'numberReady':3,'numberAvailable':2}" },
/* Job */
#define JOB "batch/v1 Job"
    { JOB, R, NULL, "'status':{'conditions':[{'type':'Complete','status':'True'}]}" },
    { JOB, F, "condition Failed is True: BackoffLimitExceeded",
      "'status':{'conditions':[{'type':'Failed','status':'True','reason':"
      "'BackoffLimitExceeded'}]}" },
    { JOB, W, "1 of 3 completions (2 pods active, 4 failed)",
      "'spec':{'completions':3},'status':{'active':2,'succeeded':1,'failed':4}" },
    { JOB, W, "is suspended", "'spec':{'suspend':true}" },
/* Pod */
#define POD "v1 Pod"
    { POD, R, NULL,
      "'status':{'phase':'Running','conditions':[{'type':'Ready','status':'True'}]}" },
    { POD, W, "has not succeeded yet",
      "'spec':{'restartPolicy':'Never'},'status':{'phase':'Running','conditions':[{"
      "'type':'Ready','status':'True'}]}" },
    { POD, R, NULL, "'spec':{'restartPolicy':'Never'},'status':{'phase':'Succeeded'}" },
    { POD, W, "cannot be scheduled: 0/3 nodes: Insufficient nvidia.com/mig-1g.5gb",
      "'status':{'phase':'Pending','conditions':[{'type':'PodScheduled','status':'False',"
      "'reason':'Unschedulable','message':'0/3 nodes: Insufficient nvidia.com/mig-1g.5gb'}]}" },
    { POD, F, "container slice ended: exit code 3 (Error): no device",
      "'status':{'phase':'Failed','containerStatuses':[{'name':'slice','state':{'terminated':{"
      "'exitCode':3,'reason':'Error','message':'no device'}}}]}" },
    { POD, F, "failed: Evicted: disk",
      "'status':{'phase':'Failed','reason':'Evicted',"
      "'message':'disk'}" },
    { POD, W,
      "container driver: CrashLoopBackOff: back-off 40s, last exit code 128 (StartError): exec: "
      "\"nvidia-driver\": executable file not found in $PATH: unknown",
      "'status':{'phase':'Running','containerStatuses':[{'name':'driver','state':{'waiting':{"
      "'reason':'CrashLoopBackOff','message':'back-off 40s restarting failed container=driver "
      "pod=p_ns(1-2)'}},'lastState':{'terminated':{'exitCode':128,'reason':'StartError','message':"
      "'failed to create containerd task: failed to create shim task: OCI runtime create failed: "
      "runc create failed: unable to start container process: exec: \\\"nvidia-driver\\\": "
      "executable file not found in $PATH: unknown'}}}]}" },
    { POD, W,
      "container driver: CreateContainerError: path \"/run/nvidia\" is mounted on \"/\" but it is "
      "not a shared mount",
      "'status':{'phase':'Pending','containerStatuses':[{'name':'driver','state':{'waiting':{"
      "'reason':'CreateContainerError','message':'failed to generate container \\\"9a4e\\\" spec: "
      "failed to generate spec: path \\\"/run/nvidia\\\" is mounted on \\\"/\\\" but it is not a "
      "shared mount'}}}]}" },
    { POD, W, "container driver: ContainerCreating: no runtime for \"kata\" is configured",
      "'status':{'phase':'Pending','containerStatuses':[{'name':'driver','state':{'waiting':{"
      "'reason':'ContainerCreating','message':'Failed to create pod sandbox: rpc error: code = "
      "Unknown desc = unable to get OCI runtime for sandbox \\\"261b\\\": no runtime for "
      "\\\"kata\\\" is configured'}}}]}" },
    { POD, W, "container driver: CrashLoopBackOff: back-off 5m, last exit code 1 (Error)",
      "'status':{'phase':'Running','containerStatuses':[{'name':'driver','state':{'waiting':{"
      "'reason':'CrashLoopBackOff','message':'back-off 5m'}},'lastState':{'terminated':{"
      "'exitCode':1,'reason':'Error'}}}]}" },
    { POD, W, "container driver: ImagePullBackOff: no such tag",
      "'status':{'phase':'Pending','containerStatuses':[{'name':'driver','state':{'waiting':{"
      "'reason':'ImagePullBackOff','message':'no such tag'}}}]}" },
    { POD, W, "init container wait ended: exit code 2",
      "'status':{'phase':'Pending','initContainerStatuses':[{'name':'wait','state':{"
      "'terminated':{'exitCode':2}}}],'containerStatuses':[{'name':'c','state':{'waiting':{"
      "'reason':'PodInitializing'}}}]}" },
    { POD, W, "container b is not ready",
      "'status':{'phase':'Running','containerStatuses':[{'name':'a','ready':true,'state':{"
      "'running':{}}},{'name':'b','ready':false,'state':{'running':{}}}]}" },
    { POD, W, "is Pending", "'spec':{}" },
    /* the rest, by phase or condition */
    { "v1 Namespace", R, NULL, "'status':{'phase':'Active'}" },
    { "v1 Namespace", R, NULL, "'spec':{}" },
    { "v1 Namespace", W, "Terminating", "'status':{'phase':'Terminating'}" },
    { "v1 Namespace", W,
      "is being deleted (finalizers: a; Some content has finalizers: b; Some resources remain)",
      "'metadata':{'deletionTimestamp':'2026-01-01T00:00:00Z','finalizers':['a']},'status':{"
      "'phase':'Terminating','conditions':[{'type':'NamespaceDeletionContentFailure','status':"
      "'False','message':'fine'},{'type':'NamespaceContentRemaining','status':'True','message':"
      "'Some resources remain'},{'type':'NamespaceFinalizersRemaining','status':'True','message':"
      "'Some content has finalizers: b'}]}" },
    { "v1 PersistentVolumeClaim", R, NULL, "'status':{'phase':'Bound'}" },
    { "v1 PersistentVolumeClaim", W, "Pending", "'status':{'phase':'Pending'}" },
    { "v1 PersistentVolumeClaim", F, "Lost", "'status':{'phase':'Lost'}" },
    { "v1 Service", R, NULL, "'spec':{'type':'ClusterIP'}" },
    { "v1 Service", W, "cluster IP", "'spec':{'type':'LoadBalancer'}" },
    { "v1 Service", R, NULL, "'spec':{'type':'LoadBalancer','clusterIP':'10.0.0.1'}" },
    { "v1 ConfigMap", R, NULL, "'data':{}" },
    { "v1 Secret", R, NULL, "'data':{}" },
    { "apiextensions.k8s.io/v1 CustomResourceDefinition", R, NULL,
      "'status':{'conditions':[{'type':'NamesAccepted','status':'True'},{'type':'Established',"
      "'status':'True'}]}" },
    { "apiextensions.k8s.io/v1 CustomResourceDefinition", W, "Installing",
      "'status':{'conditions':[{'type':'NamesAccepted','status':'True'},{'type':'Established',"
      "'status':'False','reason':'Installing'}]}" },
    { "apiextensions.k8s.io/v1 CustomResourceDefinition", W, "no condition Established",
      "'spec':{}" },
    { "apiextensions.k8s.io/v1 CustomResourceDefinition", F,
      "condition NamesAccepted is False: ListKindConflict",
      "'status':{'conditions':[{'type':'NamesAccepted','status':'False','reason':"
      "'ListKindConflict'},{'type':'Established','status':'False'}]}" },
    { "apiregistration.k8s.io/v1 APIService", R, NULL,
      "'status':{'conditions':[{'type':'Available','status':'True'}]}" },
    { "apiregistration.k8s.io/v1 APIService", W, "MissingEndpoints",
      "'status':{'conditions':[{'type':'Available','status':'False','reason':"
      "'MissingEndpoints'}]}" },
    { "build.openshift.io/v1 Build", R, NULL, "'status':{'phase':'Complete'}" },
    { "build.openshift.io/v1 Build", W, "Running", "'status':{'phase':'Running'}" },
    { "build.openshift.io/v1 Build", F, "Failed, not Complete: git clone",
      "'status':{'phase':'Failed','message':'git clone'}" },
    { "build.openshift.io/v1 Build", F, "Cancelled", "'status':{'phase':'Cancelled'}" },
    { "build.openshift.io/v1 BuildConfig", W, "not built", "'status':{'lastVersion':0}" },
    { "cert-manager.io/v1 Certificate", R, NULL,
      "'status':{'conditions':[{'type':'Ready','status':'True'}]}" },
    { "cert-manager.io/v1 Certificate", W, "no condition Ready", "'spec':{}" },
    { "cert-manager.io/v1 Certificate", W, "older generation",
      "'metadata':{'generation':2},'status':{'conditions':[{'type':'Ready','status':'True',"
      "'observedGeneration':1}]}" },
    { "cert-manager.io/v1 Issuer", R, NULL,
      "'status':{'conditions':[{'type':'Ready','status':'True'}]}" },
    { "cert-manager.io/v1 Issuer", W, "no condition Ready", "'spec':{}" },
    { "cert-manager.io/v1 ClusterIssuer", R, NULL,
      "'status':{'conditions':[{'type':'Ready','status':'True'}]}" },
    { "cert-manager.io/v1 ClusterIssuer", W, "condition Ready is False: Registering",
      "'status':{'conditions':[{'type':'Ready','status':'False','reason':'Registering'}]}" },
    { "nvidia.com/v1 ClusterPolicy", W, "no status.state yet", "'spec':{}" },
    { "nvidia.com/v1 ClusterPolicy", W, "notReady", "'status':{'state':'notReady'}" },
    { "nvidia.com/v1 ClusterPolicy", R, NULL, "'status':{'state':'ready'}" },
    { "nvidia.com/v1 ClusterPolicy", R, NULL,
      "'status':{'state':'','conditions':[{'type':'Ready','status':'True'}]}" },
    { "nvidia.com/v1alpha1 GPUCluster", R, NULL, "'status':{'state':'ready'}" },
    { "nvidia.com/v1alpha1 GPUCluster", W, "notReady", "'status':{'state':'notReady'}" },
    { "nvidia.com/v1alpha1 NVIDIADriver", R, NULL, "'status':{'state':'ready'}" },
    { "nvidia.com/v1alpha1 NVIDIADriver", W, "notReady", "'status':{'state':'notReady'}" },
    { "nvidia.com/v1 ClusterPolicy", W, "condition Error is True: OperandNotReady: driver",
      "'status':{'state':'notReady','conditions':[{'type':'Error','status':'True','reason':"
      "'OperandNotReady','message':'driver'}]}" },
    { "operators.coreos.com/v1alpha1 ClusterServiceVersion", R, NULL,
      "'status':{'phase':'Succeeded'}" },
    { "operators.coreos.com/v1alpha1 ClusterServiceVersion", F, "Failed",
      "'status':{'phase':'Failed'}" },
    { "operators.coreos.com/v1alpha1 InstallPlan", R, NULL, "'status':{'phase':'Complete'}" },
    { "operators.coreos.com/v1alpha1 InstallPlan", W, "Installing",
      "'status':{'phase':'Installing'}" },
    { "operators.coreos.com/v1alpha1 Subscription", R, NULL, "'status':{'state':'AtLatestKnown'}" },
    { "operators.coreos.com/v1alpha1 Subscription", W, "UpgradePending",
      "'status':{'state':'UpgradePending'}" },
    { "sro.openshift.io/v1beta1 SpecialResource", W, "condition Errored is True: ChartFailure",
      "'status':{'conditions':[{'type':'Errored','status':'True','reason':'ChartFailure'}]}" },
    { "sro.openshift.io/v1beta1 SpecialResource", R, NULL,
      "'status':{'conditions':[{'type':'Ready','status':'True'}]}" },
    /* kinds without a row */
    { "example.com/v1 Thing", R, NULL, "'spec':{}" },
    { "example.com/v1 Thing", W, "generation 2",
      "'metadata':{'generation':2},'status':{'observedGeneration':1}" },
    { "example.com/v1 Thing", W, "condition Ready is Unknown",
      "'status':{'conditions':[{'type':'Ready','status':'Unknown'}]}" },
    { "example.com/v1 Thing", W, "condition Reconciling is True: Busy",
      "'status':{'conditions':[{'type':'Reconciling','status':'True','reason':'Busy'},{"
      "'type':'Ready','status':'True'}]}" },
    { "example.com/v1 Thing", F, "condition Stalled is True: Broken",
      "'status':{'conditions':[{'type':'Stalled','status':'True','reason':'Broken'}]}" },
    { "example.com/v1 Thing", W, "condition Available is False",
      "'status':{'conditions':[{'type':'Available','status':'False'}]}" },
    { "other.com/v1 Deployment", R, NULL, "'spec':{}" }, /* another group's kind */
    { "example.com/v1 Thing", R, NULL, "'status':'odd'" },
    { "apps/v1 Deployment", W, "generation 0", "'status':[],'spec':7" },
};

static struct json_object *document(const struct vector *v)
{
    const char *space = strchr(v->kind, ' ');
    SW_AUTO_CHARS *text = sw_printf("{'apiVersion':'%.*s','kind':'%s',%s}", (int)(space - v->kind),
                                    v->kind, space + 1, v->rest);
    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    struct json_object *doc = NULL;
    SW_ERR(err);
    if (sw_json_parse(text, strlen(text), NULL, &doc, &err) < 0)
        fail_msg("%s: %s", text, sw_err_text(&err));
    return doc;
}

static void each_kind_is_judged_by_its_rule(void **state)
{
    (void)state;
    for (size_t i = 0; i < SW_COUNT(vectors); i++) {
        const struct vector *v = &vectors[i];
        SW_AUTO_JSON *doc = document(v);
        SW_READINESS(got);
        sw_kstatus(doc, &got);
        if (got.kind != v->verdict || (v->words && !strstr(got.message, v->words)))
            fail_msg("%s {%s}: %d '%s: %s', not %d '%s'", v->kind, v->rest, got.kind,
                     got.reason ? got.reason : "", got.message ? got.message : "", v->verdict,
                     v->words ? v->words : "");
        assert_int_equal(got.kind == SW_READINESS_READY, got.message == NULL);
    }
}

static void what_is_not_there_is_waited_for(void **state)
{
    (void)state;
    SW_READINESS(got);
    sw_kstatus(NULL, &got);
    assert_int_equal(got.kind, SW_READINESS_WAITING);
    assert_string_equal(got.reason, "NotFound");
}

/* Is there a vector of @kind in @group with one of the verdicts? */
static bool is_judged(const char *group, const char *kind, enum sw_readiness_kind one,
                      enum sw_readiness_kind other)
{
    SW_AUTO_CHARS *with_group = sw_printf("%s/", group), *with_kind = sw_printf(" %s", kind);
    for (size_t i = 0; i < SW_COUNT(vectors); i++) {
        const struct vector *v = &vectors[i];
        bool in_group = *group ? sw_starts_with(v->kind, with_group) : !strchr(v->kind, '/');
        if (in_group && sw_ends_with(v->kind, with_kind) &&
            (v->verdict == one || v->verdict == other))
            return true;
    }
    return false;
}

static void every_rule_has_vectors(void **state)
{
    (void)state;
    const char *group, *kind;
    for (size_t i = 0; (kind = sw_kstatus_kind(i, &group)); i++) {
        /* a BuildConfig is waited for by its builds, and never ready itself */
        if (!is_judged(group, kind, R, R) && strcmp(kind, "BuildConfig") != 0)
            fail_msg("no vector where %s/%s is ready", group, kind);
        if (!is_judged(group, kind, W, F))
            fail_msg("no vector where %s/%s is not ready", group, kind);
    }
}

/* Whoever may write a status, of a pod or of a custom resource, has it in ours, and in Events. */
static void what_others_wrote_is_cut(void **state)
{
    (void)state;
    enum { MANY = 10000, MOST = 1024 };
    static const char *const kinds[] = { "v1 Pod", "apps/v1 Deployment", "example.com/v1 Thing" };
    char text[MANY + 1];
    memset(text, 'x', MANY);
    text[MANY] = '\0';
    for (size_t i = 0; i < SW_COUNT(kinds); i++) {
        const struct vector v = { kinds[i], W, NULL, "'metadata':{'name':'o','generation':1}" };
        SW_AUTO_JSON *doc = document(&v);
        struct json_object *conditions = json_object_new_array(), *one;
        for (size_t k = 0; k < MANY; k++) {
            one = json_object_new_object();
            sw_json_set_str(one, k ? "Other" : "Stalled", "type", NULL);
            sw_json_set_str(one, k ? "False" : "True", "status", NULL);
            sw_json_set_str(one, k % 1000 ? "short" : text, "reason", NULL);
            sw_json_set_str(one, k % 1000 ? "short" : text, "message", NULL);
            (void)json_object_array_add(conditions, one);
        }
        sw_json_set(doc, conditions, "status", "conditions", NULL);
        sw_json_set_str(doc, "Failed", "status", "phase", NULL);
        sw_json_set_str(doc, text, "status", "message", NULL);
        SW_READINESS(got);
        sw_kstatus(doc, &got);
        assert_int_not_equal(got.kind, R);
        assert_true(strlen(got.message) <= MOST && strlen(got.reason) <= 128);
    }
    const struct sw_kube_event event = { .of = { "v1", "Pod", "ns", "pod", "uid" },
                                         .id = "pod.1",
                                         .ns = "ns",
                                         .reason = "Failed",
                                         .message = text,
                                         .component = "slipway" };
    SW_AUTO_JSON *doc = sw_kube_event_doc(&event);
    assert_int_equal(strlen(sw_json_str(doc, "", "message", NULL)), MOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_is_judged_by_its_rule),
        cmocka_unit_test(what_is_not_there_is_waited_for),
        cmocka_unit_test(every_rule_has_vectors),
        cmocka_unit_test(what_others_wrote_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
