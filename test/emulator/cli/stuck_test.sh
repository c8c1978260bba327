# Why it is stuck: the right culprit and hint in run, status, explain and the resource's Events, each once.
. test/tap.sh
. test/stuck.sh
slipway=$(realpath "${SLIPWAY:-build/slipway}")
command -v kubectl >/dev/null || { skip "why a resource is stuck" "no kubectl here"; plan; exit; }
export HOME=$tap_dir KUBECONFIG=$tap_dir/kubeconfig
top=$PWD
trap 'stop emulated; rm -rf "$tap_dir"' EXIT
mkdir "$tap_dir/rules"
printf 'images:\n- {match: "^registry.invalid/", exists: false}\n' >"$tap_dir/rules/images.yaml"
emulated --rules "$tap_dir/rules" >/dev/null || { plan; exit; }
cd "$tap_dir" || exit 1

quota() {
    made ResourceQuota v1 'metadata: {name: few}
spec: {hard: {pods: "0"}}' | template quota 0000-quota
    deployment "" busybox:1 | template quota 1000-it
    stuck quota 3 'exceeded quota: few, requested: pods=1' "raise the namespace's ResourceQuota"
}
quota_asks() {
    made ResourceQuota v1 'metadata: {name: cpus}
spec: {hard: {limits.cpu: "8"}}' | template quota-asks 0000-quota
    deployment "" busybox:1 | template quota-asks 1000-it
    stuck quota-asks 3 'failed quota: cpus: must specify limits.cpu for: main' 'give each container what the message names'
}
limits() {
    made LimitRange v1 'metadata: {name: l}
spec: {limits: [{type: Container, max: {memory: 1Mi}}]}' | template limits 0000-limits
    deployment "" busybox:1 ', resources: {limits: {memory: 2Gi}}' | template limits 1000-it
    stuck limits 3 'maximum memory usage per Container is 1Mi, but limit is 2Gi' "ask for what the namespace's LimitRange allows"
}
image() {
    deployment "" registry.invalid/x:1 | template image 1000-it
    stuck image 3 'state .*1000.*pod it-[^ ]* on node .*container main: ImagePullBackOff.*"registry.invalid/x:1"|1000 .*ImagePullBackOff.*registry.invalid/x:1' "see that the image exists"
}
crash() {
    deployment 'emulator.slipway.dev/exit-code: "3", emulator.slipway.dev/log: "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\nno such device"' busybox:1 | template crash 1000-it
    stuck crash 3 'CrashLoopBackOff: .*last exit code 3 .*the end of its log: no such device' "read the pod's log" &&
        grep -q "hint: read the pod's log: kubectl logs --previous -n crash it-[^ ]* -c main$" explained &&
        grep -qx ' *3' explained && ! grep -qx ' *2' explained && grep -qx '      and 1 more like it' explained
}
dies_at_once() { # it was ready for a second
    deployment 'emulator.slipway.dev/exit-code: "3", emulator.slipway.dev/run: 1s' busybox:1 | template dies 1000-it
    local rc=0
    "$slipway" run dies --timeout 6s --fail-fast=false >ran 2>errs </dev/null || rc=$?
    cat ran errs
    [ $rc -eq 3 ] && grep -q 'last exit code 3' errs && grep -q "hint: read the pod's log" errs
}
stays() { # what goes on is Ready, and a second run does not wait for that again
    deployment "" busybox:1 | template stays 1000-it
    "$slipway" run stays --timeout 20s >ran 2>&1 && sleep 3.2 && local from=${EPOCHREALTIME/./} &&
        "$slipway" run stays --timeout 20s >ran 2>&1 && [ $((${EPOCHREALTIME/./} - from)) -lt 1900000 ]
}
build_job() {
    made Job batch/v1 'metadata: {name: build}
spec:
  backoffLimit: 0
  template:
    metadata: {annotations: {emulator.slipway.dev/exit-code: "1", emulator.slipway.dev/log: "Unable to find a match: kernel-devel-5.14\nskipping\nerror: build error: exit status 1"}}
    spec:
      restartPolicy: Never
      containers: [{name: main, image: "buildah:1"}]' | template build 1000-it
    stuck build 1 'BackoffLimitExceeded.*the end of its log: Unable to find a match: kernel-devel-5.14 \.\.\. error: build error: exit status 1' "read the pod's log"
}
unschedulable() {
    deployment "" busybox:1 ', resources: {limits: {example.com/gpu: 1}}' | template unschedulable 1000-it
    stuck unschedulable 3 'cannot be scheduled: 0/5 nodes are available: 1 node\(s\) had untolerated taint .*, 4 Insufficient example.com/gpu' "see what the pod asks for"
}
no_label() {
    daemon_set '      nodeSelector: {gpu: "yes", kubernetes.io/os: linux}' | template nolabel 1000-it
    stuck nolabel 3 'DaemonSet nolabel/it matches no node: no node has gpu=yes$|matches no node: no node has gpu=yes ' "label nodes"
}
no_affinity() {
    daemon_set '      affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [a, b]}]}]}}}' | template noaffinity 1000-it
    stuck noaffinity 3 'matches no node: none of 5 nodes fits the node affinity zone in \(a,b\)' "label nodes as the affinity asks for"
}
no_toleration() {
    daemon_set '      nodeSelector: {node-role.kubernetes.io/master: ""}' | template notoleration 1000-it
    stuck notoleration 3 'matches no node: the taint node-role.kubernetes.io/master:NoSchedule of master-0 is not tolerated' "give the pods a toleration of the taint"
}
no_node() { # RECIPE KIND VERSION SPEC HINT TERM: no node has what its pods ask for; the master's taint, which it lacks a toleration for, is not why
    made "$2" "$3" "metadata: {name: it}
spec: $4" | template "$1" 1000-it
    stuck "$1" 3 "$2 $1/it .*cannot be scheduled: $6: 0/5 nodes are available: 1 node" "$5" || return 1
    [ "$(kubectl get specialresource "$1" -o jsonpath='{.status.states[?(@.name=="1000")].reason}')" = NoMatchingNodes ] # --fail-fast ends for it
}
gpu_pod='nodeSelector: {gpu: "yes", kubernetes.io/os: linux}, containers: [{name: main, image: "busybox:1"}]'
zone_pod='affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [a, b]}]}]}}}, containers: [{name: main, image: "busybox:1"}]'
replicas='replicas: 2, selector: {matchLabels: {app: it}}, template: {metadata: {labels: {app: it}}, spec:'
no_node_of_deployment() { no_node nonode-d Deployment apps/v1 "{$replicas {$gpu_pod}}}" "label nodes, or change the selector" 'no node has gpu=yes'; }
no_node_of_stateful_set() { no_node nonode-s StatefulSet apps/v1 "{serviceName: it, $replicas {$zone_pod}}}" "label nodes as the affinity asks for" 'none of 5 nodes fits the node affinity zone in \(a,b\)'; }
no_node_of_pod() { no_node nonode-p Pod v1 "{restartPolicy: Never, $gpu_pod}" "label nodes, or change the selector" 'no node has gpu=yes'; }
no_node_of_job() { no_node nonode-j Job batch/v1 "{template: {spec: {restartPolicy: Never, $gpu_pod}}}" "label nodes, or change the selector" 'no node has gpu=yes'; }
only_tainted() { # a node has the label: it is the taint
    made Deployment apps/v1 "metadata: {name: it}
spec: {$replicas {nodeSelector: {node-role.kubernetes.io/master: ''}, containers: [{name: main, image: 'busybox:1'}]}}}" | template tainted 1000-it
    stuck tainted 3 'cannot be scheduled: 0/5 nodes are available: 1 node\(s\) had untolerated taint' "give the pod a toleration of the taint"
}
no_kind() {
    made Thing example.com/v1 'metadata: {name: it}' | template nokind 1000-it
    stuck nokind 3 "kind 'Thing' of 'example.com/v1': API group 'example.com' is not served" "install what serves the kind"
}
misspelt_kind() {
    made Deploymnet apps/v1 'metadata: {name: it}' | template nokind2 1000-it
    stuck nokind2 3 "Deploymnet it is not served yet: kind 'Deploymnet' is not in 'apps/v1' as this cluster serves it; did you mean 'Deployment'\?" "correct apiVersion and kind in the recipe" &&
        made Deployment app/v1 'metadata: {name: it}' | template nokind3 1000-it &&
        stuck nokind3 3 "API group 'app' is not served by this cluster; did you mean 'apps/v1'\?" "correct apiVersion and kind in the recipe"
}
webhook_is_down() {
    made Secret v1 'metadata: {name: it}' | template hook 1000-it
    made ValidatingWebhookConfiguration admissionregistration.k8s.io/v1 'metadata: {name: down}
webhooks:
- name: w.example.com
  clientConfig: {service: {namespace: default, name: nowhere, path: /}}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: [secrets]}]
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Fail' | kubectl apply -f - >/dev/null
    stuck hook 3 'failed calling webhook "w.example.com".*service "nowhere" not found' "see that the webhook's Service has ready pods"
    local rc=$?
    kubectl delete validatingwebhookconfiguration down >/dev/null
    return $rc
}
foreign_object() {
    kubectl create namespace foreign >/dev/null && kubectl -n foreign create configmap it --from-literal=a=b >/dev/null
    made ConfigMap v1 'metadata: {name: it}' | template foreign 1000-it
    stuck foreign 1 "ConfigMap foreign/it exists and is not slipway's \\(written by kubectl-create\\): remove it, .* annotate its manifest in the recipe with slipway.dev/adopt" "" || return 1
    kubectl -n foreign patch configmap it --type=merge -p '{"metadata":{"finalizers":["acme.io/hold"]}}' >/dev/null && kubectl -n foreign delete configmap it --wait=false >/dev/null || return 1
    stuck foreign 1 "not slipway's \\(written by kubectl-patch\\): it is being deleted \\(finalizers: acme.io/hold\\)" "see that what set the finalizer runs" || return 1
    kubectl -n foreign patch configmap it --type=merge -p '{"metadata":{"finalizers":null}}' >/dev/null && kubectl -n foreign create configmap it --from-literal=a=b >/dev/null
}
no_namespace() {
    made ConfigMap v1 'metadata: {name: it, namespace: not-there}' | template nowhere 1000-it
    stuck nowhere 3 'namespaces "not-there" not found' "create the namespace (kubectl create namespace), or put a Namespace into the recipe"
}
late_namespace() { # of a state that comes after
    made ConfigMap v1 'metadata: {name: it, namespace: comes-late}' | template late 1000-it
    made Namespace v1 'metadata: {name: comes-late}' | template late 2000-ns
    stuck late 3 'namespaces "comes-late" not found \(state 2000 makes it\)' "" && ! grep -q hint: errs
}
terminating() {
    kubectl create namespace going >/dev/null && kubectl patch namespace going --type=merge -p '{"metadata":{"finalizers":["example.com/hold"]}}' >/dev/null &&
        kubectl delete namespace going --wait=false >/dev/null
    made ConfigMap v1 'metadata: {name: it}' | template going 1000-it
    stuck going 3 'Namespace going is being deleted \(finalizers: example.com/hold\) \[Waiting: see that what set the finalizer runs' ""
}
held_content() {
    kubectl create namespace full >/dev/null && kubectl -n full create configmap kept >/dev/null &&
        kubectl -n full patch configmap kept --type=merge -p '{"metadata":{"finalizers":["acme.io/hold"]}}' >/dev/null &&
        kubectl delete namespace full --wait=false >/dev/null
    made ConfigMap v1 'metadata: {name: it}' | template full 1000-it
    stuck full 3 'Namespace full is being deleted \(Some content in the namespace has finalizers remaining: acme.io/hold in 1 resource instances; .*\[Waiting: see that what set the finalizer runs' ""
}
immutable() {
    made ConfigMap v1 'metadata: {name: it}
immutable: true
data: {a: {{ .Values.a | quote }}}' | template immutable 1000-it
    echo 'a: x' >immutable/values.yaml && "$slipway" run immutable --timeout 20s >ran 2>&1 && echo 'a: y' >immutable/values.yaml &&
        stuck immutable 1 'field is immutable' "annotate the object with slipway.dev/replace"
}
contested() { # another manager changes what slipway applies, at once
    deployment "" busybox:1 | template contested 2000-it
    made ConfigMap v1 'metadata: {name: it}
data: {a: mine}' | template contested 1000-it
    (for _ in $(seq 200); do
        kubectl -n contested patch configmap it --field-manager=rival --type=merge -p '{"data":{"a":"theirs"}}' >/dev/null 2>&1; sleep 0.05
    done) & local rival=$! rc=0
    "$slipway" run contested --timeout 8s --fail-fast=false >ran 2>errs </dev/null
    "$slipway" explain contested >explained || true
    kill $rival; cat ran errs explained
    grep -q "ConfigMap contested/it is changed again and again by another client" explained && grep -q "field manager 'rival' has changed it last" explained
}
forbidden_user() { # whoever runs slipway has the rights of an operator, and none for what the recipe makes
    stop emulated
    (cd "$top" && emulated --authorization rbac --tls --platform kubernetes >/dev/null) || return 1
    deployment "" busybox:1 | template user 1000-it
    made Role rbac.authorization.k8s.io/v1 "metadata: {name: reader}
rules: [{apiGroups: [''], resources: [secrets], verbs: [get]}]" | template user 0500-role
    made ClusterRole rbac.authorization.k8s.io/v1 "metadata: {name: operators}
rules:
- {apiGroups: [sro.openshift.io], resources: ['*'], verbs: ['*']}
- {apiGroups: [''], resources: [nodes, namespaces, events, secrets], verbs: ['*']}
- {apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], verbs: ['*']}" | kubectl apply -f - >/dev/null
    kubectl create clusterrolebinding operators --clusterrole=operators --user=jane >/dev/null
    "$slipway" run user --as jane --timeout 10s --fail-fast=false >ran 2>errs && return 1
    "$slipway" status user >status; "$slipway" explain user >explained
    cat ran errs status explained
    for f in errs status explained; do
        grep -q 'User "jane" cannot patch resource "roles"' $f && ! grep -q 'cannot watch resource "roles"\|operator' $f || return 1
        grep -qF "hint: give user jane the right to patch roles.rbac.authorization.k8s.io in namespace user: slipway rbac $PWD/user --user 'jane' | kubectl apply -f -" $f || return 1
    done
    kubectl get events -A --field-selector type=Warning -o jsonpath='{.items[*].message}' | grep -q 'state 0500: .*User "jane" cannot patch resource "roles"' || return 1
    "$slipway" rbac user --user 'jane' | kubectl apply -f - >/dev/null && "$slipway" run user --as jane --timeout 20s
}
rights_of_a_user() { # what is printed for a user is all that a walk needs, if the definitions are there
    deployment "" busybox:1 | template printed 1000-it
    "$slipway" run printed --as ann --timeout 10s >ran 2>&1 && return 1
    grep -q "hint: give user ann the right to .*: slipway rbac $PWD/printed --user 'ann' | kubectl apply -f -$" ran || { cat ran; return 1; }
    "$slipway" rbac printed --user ann | kubectl apply -f - >/dev/null && "$slipway" run printed --as ann --timeout 20s >ran 2>&1 || { cat ran; return 1; }
    ! grep -i 'forbidden\|cannot' ran && "$slipway" status printed --as ann && "$slipway" uninstall printed --as ann --yes --timeout 20s
}
rights_of_an_account() { # as which slipway run is called; and no user takes another's rights away
    local account=system:serviceaccount:team:dev
    deployment "" busybox:1 | template called 1000-it
    "$slipway" run called --as $account --timeout 10s >ran 2>&1 && return 1
    grep -q "hint: give account team/dev the right to .*: slipway rbac $PWD/called --user '$account' | kubectl apply -f -$" ran || { cat ran; return 1; }
    "$slipway" rbac called --user $account | kubectl apply -f - >/dev/null && "$slipway" rbac called --user bob | kubectl apply -f - >/dev/null || return 1
    kubectl get clusterrolebindings -o name | grep -x '.*/slipway-called\.bob' && kubectl get clusterrolebindings -o name | grep '/slipway-called\.system-serviceaccount-team-dev-[0-9a-f]\{8\}$' || return 1
    "$slipway" run called --as $account --timeout 20s >ran 2>&1 || { cat ran; return 1; }
    ! grep -i 'forbidden\|cannot' ran && "$slipway" uninstall called --as bob --yes --timeout 20s
}
forbidden() { # KIND: the right lacks; told long before the time-out
    local from=$SECONDS rc=0
    printf 'faults:\n- {verb: [create, patch, update], kind: %s, answer: 403}\n' "$1" >faults.yaml
    made ConfigMap v1 'metadata: {name: it}' | template forbidden 1000-it
    "$slipway" run forbidden --emulate --faults faults.yaml --timeout 60s >ran 2>errs </dev/null || rc=$?
    cat ran errs
    [ $rc -eq 1 ] && [ $((SECONDS - from)) -lt 30 ] && grep -q "StateFailed: state .*: $1 .*forbidden by a fault" ran && grep -q 'slipway rbac' errs
}
events_say_it() { # the resource's Warning Events say the same
    kubectl get events -A --field-selector type=Warning,involvedObject.kind=SpecialResource -o 'jsonpath={range .items[*]}{.involvedObject.name} {.message}{"\n"}{end}' >events
    cat events
    grep -q '^build .*Unable to find a match\|^build .*BackoffLimitExceeded' events && grep -q '^foreign .*exists and is not' events &&
        grep -q '^nowhere state 1000: .*namespaces "not-there" not found' events &&
        grep -q '^immutable .*field is immutable' events && grep -q '^hook .*failed calling webhook' events
}

fits_columns() { # what kubectl shows of broken ones
    kubectl get specialresources >table && cat table
    [ "$(sed 's/ *$//' table | awk 'length > n { n = length } END { print n }')" -le 100 ] && grep -qE '^NAME +READY +STATUS +STATE +NODES +AGE *$' table &&
        grep -qE '^foreign +False +Errored +1000 +4 ' table && grep -qE '^stays +True +Ready +4 ' table
}
says_how_to_use_it() {
    "$slipway" emulate --no-controllers --kubeconfig-out other >url 2>log & local pid=$!
    until_ok 20 grep -q . log
    kill $pid
    grep -qx "export KUBECONFIG=$(realpath other)" log && [ "$(wc -l <url)" -eq 1 ]
}
t "a quota" quota
t "a quota that asks for limits" quota_asks
t "a LimitRange" limits
t "an image that is not there" image
t "a program that crashes: the last ten lines of its log, pods that are alike once" crash
t "a program that ends a second after its start is not Ready" dies_at_once
t "one that goes on is, and is not waited for twice" stays
t "a Job's build: the line that matters, not only the last" build_job
t "a pod that fits nowhere, with the count of nodes" unschedulable
t "no node has the label" no_label
t "nor that of a Deployment's pods" no_node_of_deployment
t "no node fits the affinity of a StatefulSet's pods" no_node_of_stateful_set
t "no node has the label of a Pod" no_node_of_pod
t "nor that of a Job's pods" no_node_of_job
t "a node has it, and a taint" only_tainted
t "no node fits the affinity" no_affinity
t "no node's taint is tolerated" no_toleration
t "a kind that is not served" no_kind
t "a kind that is misspelt, or its version" misspelt_kind
t "a webhook that is down" webhook_is_down
t "an object of somebody else's" foreign_object
t "a namespace that is not there" no_namespace
t "a namespace that a later state makes" late_namespace
t "a namespace that is being deleted, by its finalizer" terminating
t "a namespace that is being deleted, by what is in it" held_content
t "a field that is immutable" immutable
t "an object that another manager changes, by its name" contested
t "a right that lacks" forbidden ConfigMap
t "the right to make the namespace lacks" forbidden Namespace
t "the resource's Events" events_say_it
t "kubectl's table fits 100 columns" fits_columns
t "emulate prints how a shell uses it" says_how_to_use_it
t "a right that a user lacks, by the same verb everywhere, with the command that gives it to them" forbidden_user
t "the rights that are printed for a user are all that a walk by them needs" rights_of_a_user
t "an account that calls slipway run gets rights as a user does, and users keep theirs beside each other" rights_of_an_account
plan
