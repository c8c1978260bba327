# Why a resource is stuck, on a real API server and a real kubelet: many at once, each with the right culprit in run, status
# and explain, and those that wait long in the resource's Events.
. test/tap.sh
. test/stuck.sh
slipway=$(realpath "${SLIPWAY:-build/slipway}")
trap 'stop hook; rm -rf "$tap_dir"' EXIT
top=$PWD
minor=$(kubectl version -o json | tr -d ' "\n' | sed 's/.*serverVersion.*minor:\([0-9]*\).*/\1/')

failing_image() { # a program that writes what is wrong, and ends
    mkdir -p "$tap_dir/root"
    printf '#include <unistd.h>\nint main(void)\n{\n    (void)!write(1, "no such device\\n", 15);\n    return 3;\n}\n' >"$tap_dir/fail.c"
    gcc -static -Os -o "$tap_dir/root/fail" "$tap_dir/fail.c" && hack/cluster.sh image slipway.local/fail:1 "$tap_dir/root" /fail
}
failing_image >/dev/null || { plan; exit; }
cd "$tap_dir" || exit 1

made ResourceQuota v1 'metadata: {name: few}
spec: {hard: {pods: "0"}}' | template c-quota 0000-quota
deployment "" busybox:1 | template c-quota 1000-it
made LimitRange v1 'metadata: {name: l}
spec: {limits: [{type: Container, max: {memory: 4Mi}}]}' | template c-limits 0000-limits
deployment "" busybox:1 ', resources: {limits: {memory: 2Gi}}' | template c-limits 1000-it
deployment "" busybox:1 "" '      priorityClassName: nosuch' | template c-priority 1000-it
deployment "" slipway.local/none:1 ', imagePullPolicy: Never' | template c-image 1000-it
deployment "" slipway.local/fail:1 ', imagePullPolicy: Never' | template c-crash 1000-it
deployment "" slipway.local/fail:1 ', imagePullPolicy: Never, command: [nvidia-driver]' | template c-command 1000-it
{
    made RuntimeClass node.k8s.io/v1 'metadata: {name: c-runtime}
handler: kata'
    echo ---
    deployment "" busybox:1 "" '      runtimeClassName: c-runtime'
} | template c-runtime 1000-it
deployment "" slipway.local/fail:1 ', imagePullPolicy: Never, envFrom: [{secretRef: {name: nosuch}}]' | template c-env 1000-it
deployment "" slipway.local/fail:1 ', imagePullPolicy: Never, volumeMounts: [{name: v, mountPath: /v}]' '      volumes: [{name: v, secret: {secretName: nosuch}}]' | template c-volume 1000-it
deployment "" busybox:1 ', resources: {limits: {example.com/gpu: 1}}' | template c-unschedulable 1000-it
daemon_set '      nodeSelector: {gpu: "yes"}' | template c-nolabel 1000-it
made Thing example.com/v1 'metadata: {name: it}' | template c-nokind 1000-it
made Job batch/v1 'metadata: {name: build}
spec:
  backoffLimit: 0
  template:
    spec: {restartPolicy: Never, containers: [{name: main, image: "slipway.local/fail:1", imagePullPolicy: Never}]}' | template c-build 1000-it
made PersistentVolumeClaim v1 'metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], storageClassName: nosuch, resources: {requests: {storage: 1Mi}}}' | template c-claim 1000-it
deployment "" busybox:1 "" '      volumes: [{name: v, persistentVolumeClaim: {claimName: nosuch}}]' | template c-noclaim 1000-it
made ConfigMap v1 'metadata: {name: it}' | template c-foreign 1000-it
made ConfigMap v1 'metadata: {name: it}' | template c-going 1000-it
made ConfigMap v1 'metadata: {name: it}' | template c-held 1000-it
made ConfigMap v1 'metadata: {name: it}
immutable: true
data: {a: x}' | template c-immutable 1000-it
deployment "" busybox:1 ', securityContext: {privileged: true}' | template c-security 1000-it
deployment "" busybox:1 | template c-denied 1000-it
made Secret v1 'metadata: {name: it}' | template c-hook 1000-it

prepare() {
    kubectl create namespace c-foreign && kubectl -n c-foreign create configmap it --from-literal=a=b || return 1
    kubectl create namespace c-going && kubectl -n c-going create configmap kept && kubectl -n c-going patch configmap kept --type=merge -p '{"metadata":{"finalizers":["example.com/hold"]}}' &&
        kubectl delete namespace c-going --wait=false || return 1
    "$slipway" run c-immutable --timeout 60s && sed -i 's/a: x/a: other/' c-immutable/templates/1000-it.yaml || return 1
    "$slipway" run c-held --timeout 60s && kubectl -n c-held patch configmap it --type=merge -p '{"metadata":{"finalizers":["example.com/hold"]}}' &&
        kubectl -n c-held delete configmap it --wait=false || return 1
    kubectl create namespace c-security && kubectl label namespace c-security pod-security.kubernetes.io/enforce=baseline || return 1
    kubectl create namespace c-denied && kubectl label namespace c-denied kubernetes.io/metadata.name=c-denied --overwrite || return 1
    kubectl create namespace c-hook && kubectl label namespace c-hook kubernetes.io/metadata.name=c-hook --overwrite || return 1
    made ValidatingWebhookConfiguration admissionregistration.k8s.io/v1 'metadata: {name: c-down}
webhooks:
- name: down.example.com
  clientConfig: {service: {namespace: default, name: nowhere, path: /}}
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: c-hook}}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: [secrets]}]
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Fail' | kubectl apply -f - || return 1
    certificate "$(year yesterday)" "$(year 'next year')" && hook && configured c-denied ca.crt
}
events_say_it() { # EXPECTED...
    kubectl get events -A -o 'jsonpath={range .items[?(@.involvedObject.kind=="SpecialResource")]}{.type} {.involvedObject.name} {.message}{"\n"}{end}' | grep '^Warning' >events
    cat events
    for expected; do grep -qE "$expected" events || { echo "no Event: $expected"; return 1; }; done
}
rights() { # an account that may read and not write
    kubectl create serviceaccount reader && kubectl create clusterrolebinding c-reader --clusterrole=view --serviceaccount=default:reader || return 1
    "$slipway" run c-foreign --as system:serviceaccount:default:reader --timeout 20s >ran 2>&1
    local rc=$?
    cat ran
    [ $rc -ne 0 ] && grep -qE 'cannot (create|patch|get|list|update) resource' ran
}

t "what is needed" prepare
walk_all() {
    local r limit
    for r in c-*/; do
        r=${r%/} limit=45s
        case $r in # a busy kubelet says it late, and is asked again after a minute
        c-volume | c-command | c-runtime) limit=75s ;;
        esac
        echo "$r $limit"
    done | walked
}
t "all are walked at once" walk_all
t "a quota" said c-quota 'exceeded quota: few, requested: pods=1' "raise the namespace's ResourceQuota"
t "a LimitRange" said c-limits 'maximum memory usage per Container is 4Mi, but limit is 2Gi' "ask for what the namespace's LimitRange allows"
t "a PriorityClass" said c-priority 'no PriorityClass with name nosuch was found' "create the PriorityClass"
t "an image that is not there" said c-image 'container main: ErrImageNeverPull: Container image "slipway.local/none:1" is not present' "see that the image exists"
t "a program that crashes, with its log" said c-crash 'container main( ended: exit|: CrashLoopBackOff: .*last exit) code 3 .*the end of its log: no such device' "read the pod's log"
t "a program that the image has not" said c-command '(RunContainerError|last exit code 128 \(StartError\)): exec: "nvidia-driver": executable file not found' "correct the container's command"
t "a runtime that the node has not" said c-runtime 'no runtime for "kata" is configured' "configure the runtime on the node"
t "a Secret of the environment" said c-env 'container main: CreateContainerConfigError: secret "nosuch" not found' "create it in the pod's namespace"
t "a Secret of a volume" said c-volume 'MountVolume.SetUp failed for volume "v" : secret "nosuch" not found' "create it in the pod's namespace"
t "a pod that fits nowhere" said c-unschedulable 'cannot be scheduled: 0/1 nodes are available: 1 Insufficient example.com/gpu' "see what the pod asks for"
t "no node has the label" said c-nolabel 'DaemonSet c-nolabel/it matches no node: no node has gpu=yes' "label nodes"
t "a kind that is not served" said c-nokind "API group 'example.com' is not served" "install what serves the kind"
t "a Job that failed, with its log" said c-build 'BackoffLimitExceeded.*the end of its log: no such device' "read the pod's log"
t "a StorageClass that is missing" said c-claim 'PersistentVolumeClaim c-claim/data status.phase is Pending, not Bound: storageclass.storage.k8s.io "nosuch" not found' "give the claim a StorageClass that exists"
t "a claim that is missing" said c-noclaim 'persistentvolumeclaim "nosuch" not found' "create the claim that the pod names"
t "an object of another owner" said c-foreign "ConfigMap c-foreign/it exists and is not slipway's \\(written by kubectl-create\\)" ""
t "a namespace that is being deleted" said c-going 'Namespace c-going is being deleted .*finalizers remaining: example.com/hold .*\[Waiting: see that what set the finalizer runs' ""
t "an object that a foreign finalizer holds" said c-held 'ConfigMap c-held/it is being deleted \(finalizers: example.com/hold\)' "see that what set the finalizer runs"
t "a field that is immutable" said c-immutable 'field is immutable' "annotate the object with slipway.dev/replace"
t "a webhook that denies" said c-denied 'admission webhook "images.example.com" denied the request: images must come from registry.example.com' "an admission webhook rejected it: ask its owner"
t "a webhook that is down" said c-hook 'failed calling webhook "down.example.com".*service "nowhere" not found' "see that the webhook's Service has ready pods"
if [ "${minor:-0}" -ge 25 ]; then
    t "a pod that Pod Security refuses" said c-security 'violates PodSecurity "baseline:latest": privileged' "label the namespace pod-security.kubernetes.io/enforce"
else
    skip "a pod that Pod Security refuses" "Kubernetes 1.$minor has no Pod Security"
fi
t "a right that lacks" rights
t "the resources' Events" events_say_it '^Warning c-quota .*exceeded quota' '^Warning c-env .*secret "nosuch" not found' '^Warning c-claim .*storageclass' '^Warning c-unschedulable .*Insufficient example.com/gpu' \
    '^Warning c-denied .*denied the request' '^Warning c-hook .*failed calling webhook' '^Warning c-build .*no such device' '^Warning c-immutable .*field is immutable'
stop hook
kubectl delete validatingwebhookconfiguration c-down images >/dev/null
kubectl -n c-held patch configmap it --type=merge -p '{"metadata":{"finalizers":null}}' >/dev/null
kubectl -n c-going patch configmap kept --type=merge -p '{"metadata":{"finalizers":null}}' >/dev/null
for r in c-*/; do "$slipway" uninstall "${r%/}" --yes >/dev/null 2>&1 & done
wait
plan
