# Why what others run is not ready: of workloads that a recipe observes, and of operators behind custom resources, the
# pods are told of as those of the recipe's own workloads are, in run, status, explain and the resource's Events.
. test/tap.sh
. test/stuck.sh
slipway=$(realpath "${SLIPWAY:-build/slipway}")
command -v kubectl >/dev/null || { skip "why what others run is not ready" "no kubectl here"; plan; exit; }
export HOME=$tap_dir KUBECONFIG=$tap_dir/kubeconfig
top=$PWD
trap 'stop emulated; rm -rf "$tap_dir"' EXIT
mkdir "$tap_dir/rules"
printf 'images:\n- {match: "^registry.invalid/", exists: false}\n' >"$tap_dir/rules/images.yaml"
emulated --rules "$tap_dir/rules" >/dev/null || { plan; exit; }
cd "$tap_dir" || exit 1
time=5s

theirs() { # NAMESPACE: what standard input says is there, made by somebody else
    kubectl get namespace "$1" >/dev/null 2>&1 || kubectl create namespace "$1" >/dev/null
    kubectl -n "$1" apply -f - >/dev/null
}
observed() { # KIND NAME NAMESPACE
    printf 'apiVersion: apps/v1\nkind: %s\nmetadata: {name: %s, namespace: %s, annotations: {slipway.dev/observe: "true"}}\n' "$1" "$2" "$3"
}
has_crashed() { # NAMESPACE: its two pods have been ready three times, and are not for the next eight seconds
    kubectl -n "$1" get pods -o 'jsonpath={range .items[*].status.containerStatuses[*]}{.restartCount} {.state.waiting.reason} {end}' | grep -qx '3 CrashLoopBackOff 3 CrashLoopBackOff '
}
crash() {
    deployment 'emulator.slipway.dev/exit-code: "7", emulator.slipway.dev/log: "no such device"' busybox:1 | theirs crashing
    until_ok 20 has_crashed crashing || return 1
    observed Deployment it crashing | template crash 1000-it
    stuck crash 3 'pod it-[^ ]*( on node [^ ]*)?: container main: CrashLoopBackOff.*the end of its log: no such device' "read the pod's log"
}
image() {
    daemon_set '      nodeSelector: {kubernetes.io/os: linux}' | sed 's/busybox:1/registry.invalid\/x:1/' | theirs pulling
    observed DaemonSet it pulling | template image 1000-it
    stuck image 3 'pod it-[^ ]* on node [^ ]*: (container main: )?(ErrImagePull|ImagePullBackOff)' "see that the image exists"
}
placed() {
    deployment "" busybox:1 ', resources: {limits: {example.com/gpu: 1}}' | theirs placing
    observed Deployment it placing | template placed 1000-it
    stuck placed 3 'pod it-[^ ]*: cannot be scheduled: 0/5 nodes are available: .*Insufficient example.com/gpu' "see what the pod asks for"
}
absent() { # the operator's own image is not there, so what it would make is not, either
    deployment "" registry.invalid/operator:1 | sed 's/metadata: {name: it}/metadata: {name: operator}/' | theirs operating
    observed Deployment operand operating | template absent 1000-it
    time=14s stuck absent 3 'Deployment operating/operand does not exist; pod operator-[^ ]* on node [^ ]*: (container main: )?(ErrImagePull|ImagePullBackOff)' "see that the image exists"
}
held() { # a custom resource that says no more than that it waits
    kubectl apply -f - >/dev/null <<'CRD' && kubectl wait --for=condition=Established crd/engines.example.com >/dev/null || return 1
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: engines.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Engine, plural: engines, singular: engine, listKind: EngineList}
  versions: [{name: v1, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
CRD
    deployment 'emulator.slipway.dev/exit-code: "3", emulator.slipway.dev/log: "modprobe: not found"' busybox:1 | theirs engine
    until_ok 20 has_crashed engine || return 1
    printf 'apiVersion: example.com/v1\nkind: Engine\nmetadata: {name: e, namespace: engine, annotations: {slipway.dev/hold: "true", helm.sh/readiness-success: %s}}\nspec: {}\n' "'[\"{.state} == ready\"]', helm.sh/readiness-failure: '[\"{.state} == failed\"]'" |
        template held 1000-it
    time=14s stuck held 3 'Engine engine/e .*; pod it-[^ ]* on node [^ ]*: container main: CrashLoopBackOff.*the end of its log: modprobe: not found' "read the pod's log"
}
general() { # where many have their pods nobody's is taken for the operator's
    deployment 'emulator.slipway.dev/exit-code: "3"' busybox:1 | theirs default
    observed Deployment operand default | template general 1000-it
    "$slipway" run general --timeout 12s --fail-fast=false >ran 2>errs </dev/null
    cat errs
    grep -q 'Deployment default/operand does not exist' errs && ! grep -q 'pod it-' errs
}
mended() { # what is there when its pods are well is Ready, and the pods are not told of any more
    kubectl -n crashing delete deployment it --wait >/dev/null
    deployment "" busybox:1 | theirs crashing
    "$slipway" run crash --timeout 20s
}
narrow() { # on a terminal of 60 columns no line is longer, but for words that are; in a pipe no sentence is broken
    command -v script >/dev/null || return 0
    LC_ALL=C NO_COLOR=1 TERM=xterm script -qec "stty cols 60; $slipway status placed; $slipway explain placed; $slipway run placed --timeout 3s --fail-fast=false 2>&1 >/dev/null" /dev/null </dev/null |
        tr -d '\r' >shown
    cat shown
    "$slipway" explain placed | grep -q 'cannot be scheduled: 0/5 nodes are available: .*Insufficient example.com/gpu' || return 1
    ! grep -E '^.{61,}$' shown && [ "$(grep -c '^ *Insufficient example.com\|^ *example.com' shown)" -eq 3 ]
}
# What an operator's own custom resource does not say: "not ready", or nothing at all.
operand() { # RECIPE TROUBLE TEXT
    local r=$1 rc=0 f
    stop emulated
    (cd "$top" && emulated --platform kubernetes --trouble "$2" >/dev/null) || return 1
    (cd "$top" && "$slipway" run "recipes/$r" --timeout 12s --fail-fast=false >/dev/null) 2>errs || rc=$?
    "$slipway" status "$r" >status
    "$slipway" explain "$r" >explained
    cat errs status explained
    for f in errs status explained; do [ "$(grep -cE -- "$3" $f)" -eq 1 ] || { echo "not once in $f"; return 1; }; done
    [ $rc -eq 3 ]
}
fits_columns() { # states that wait for others are counted; what is Ready and has nothing to tell has one row
    kubectl get specialresources >table
    "$slipway" status nvidia-mig >status
    cat table status
    [ "$(sed 's/ *$//' table | awk 'length > n { n = length } END { print n }')" -le 100 ] &&
        grep -qE '^nvidia-mig +False +Progressing +gpu-operator \+3 +4 ' table &&
        grep -qE '^5 states +Ready +15/15 +4/4 .*, nfd,' status && grep -q '^gpu-operator  *Waiting ' status && [ "$(wc -l <status)" -le 16 ]
}
events_say_it() { # EXPECTED...
    kubectl get events -A --field-selector type=Warning,involvedObject.kind=SpecialResource -o 'jsonpath={range .items[*]}{.involvedObject.name} {.message}{"\n"}{end}' >events
    cat events
    for expected; do grep -qE "$expected" events || { echo "no Event: $expected"; return 1; }; done
}

t "a program that crashes, with its log" crash
t "an image that is not there" image
t "a pod that fits nowhere" placed
t "at 60 columns sentences are broken" narrow
t "an operand that does not exist, since its operator does not start" absent
t "a custom resource whose operator's pods fail" held
t "in a namespace of everybody's nobody's pod is taken for the operator's" general
t "with pods that are well it is Ready" mended
t "the resources' Events" events_say_it '^absent state 1000: .*Deployment operating/operand does not exist; pod operator-' '^held .*modprobe: not found'
t "an operand of the network operator that runs and never gets ready" operand nvidia-network operand-not-ready \
    'NicClusterPolicy nic-cluster-policy .*; pod nvidia-network-operator/rdma-shared-dp-ds-[^ ]* on node worker-0: container rdma-shared-dp is not ready'
t "an operand of the GPU operator" operand nvidia-mig operand-not-ready \
    'states not ready: .gpu-feature-discovery.; pod gpu-operator/gpu-feature-discovery-[^ ]* on node gpu-[0-9]: container gpu-feature-discovery is not ready'
t "a driver of Gaudi's operator, whose custom resource says nothing" operand intel-gaudi driver-does-not-compile \
    'no allocatable habana.ai/gaudi yet .worker-0.; pod habana-ai-operator/habana-ai-driver-[^ ]* on node worker-0: container driver: CrashLoopBackOff.*the end of its log: .*Makefile:1234: modules. Error 2'
gaudi_ends_with_it() { # the chain ends with the pod, its container and the end of the log, as others' do
    sed -n '/^    ClusterPolicy /,/^  state /p' explained | head -n -1 >chain
    cat chain
    grep -qE '^ {6}DaemonSet habana-ai-operator/habana-ai-driver' chain && grep -qE '^ {8}Pod habana-ai-operator/habana-ai-driver-[^ ]* on node worker-0' chain &&
        grep -qE '^ {10}container driver: .*exit code 2 ' chain && grep -qE '^ {12}the end of its log' chain && grep -q 'Makefile:1234' chain
}
t "with what its operator runs at the end of explain" gaudi_ends_with_it
t "in an Event, too" events_say_it '^intel-gaudi state intel-gaudi-operator.*: .*pod habana-ai-operator/habana-ai-driver-.*Error 2'
t "slices that the GPUs cannot have" operand nvidia-mig mig-config-fails 'gpu-0 has what none may have: label nvidia.com/mig.config.state is failed; the GPUs cannot be divided'
t "in an Event, too" events_say_it '^nvidia-mig .*label nvidia.com/mig.config.state is failed'
t "kubectl's table fits 100 columns, and status a screen" fits_columns
plan
