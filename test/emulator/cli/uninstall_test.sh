# slipway uninstall: the hooks of a deletion, and what is left behind, whether an operator runs or not.
. test/tap.sh
slipway=${SLIPWAY:-build/test/slipway}
export KUBECONFIG=$tap_dir/kubeconfig
trap 'for p in "$tap_dir"/*.pid; do kill "$(cat "$p")" 2>/dev/null; done; rm -rf "$tap_dir"' EXIT

hook() { # NAME WHEN WEIGHT EXIT-CODE: it outlives the namespace of the release
    cat <<END
---
apiVersion: v1
kind: Pod
metadata:
  name: $1
  namespace: default
  annotations: {helm.sh/hook: $2, helm.sh/hook-weight: "$3", emulator.slipway.dev/exit-code: "$4", emulator.slipway.dev/log: "no luck"}
spec: {restartPolicy: Never, containers: [{name: main, image: ubi9}]}
END
}

recipe() { # NAME: a chart of a ConfigMap, of a ClusterRole that is kept, and of the hooks on stdin
    mkdir -p "$tap_dir/$1/templates"
    printf 'apiVersion: v2\nname: %s\nversion: 0.1.0\n' "$1" >"$tap_dir/$1/Chart.yaml"
    cat >"$tap_dir/$1/templates/0000-c.yaml" <<END
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: kept-$1, annotations: {helm.sh/resource-policy: keep}}
END
    cat >"$tap_dir/$1/templates/hooks.yaml"
}

operator() {
    "$slipway" controller --allowed-files "$tap_dir" --metrics-bind-address 0 --health-probe-bind-address 0 >>"$tap_dir/controller.log" 2>&1 &
    echo $! >"$tap_dir/controller.pid"
}
no_operator() { kill -9 "$(cat "$tap_dir/controller.pid")"; wait "$(cat "$tap_dir/controller.pid")" 2>/dev/null; true; }
recorded() { [ -n "$(kubectl get secret -n "$1" -l owner=helm,status=deployed -o name)" ]; }

start() {
    "$slipway" emulate --kubeconfig-out "$KUBECONFIG" >"$tap_dir/emulate" 2>&1 &
    echo $! >"$tap_dir/emulate.pid"
    until_ok 30 test -s "$KUBECONFIG" || return 1
    local name
    for name in alone beside; do { hook "late-$name" pre-delete 5 0; hook "early-$name" pre-delete -5 0; hook "after-$name" post-delete 0 0; } | recipe $name; done
    hook broken pre-delete 0 3 | recipe bad
    hook stuck pre-delete 0 0 | sed 's/^spec: {/spec: {nodeSelector: {rack: far}, /' | recipe slow
    hook never pre-delete 0 0 | recipe orphaned
    { hook once pre-delete 0 0; hook end post-delete 0 3; } | recipe late
    : | recipe upgraded
    { printf 'apiVersion: v1\nkind: Namespace\nmetadata: {name: elsewhere}\n'; hook sweep post-delete 0 0 | sed 's/namespace: default/namespace: elsewhere/'; } | recipe roaming
    for name in alone beside bad slow orphaned upgraded late roaming; do
        "$slipway" run "$tap_dir/$name" --timeout 60s >/dev/null 2>&1 || { echo "$name is not Ready"; return 1; }
    done
    kubectl patch specialresource orphaned --type merge -p '{"spec":{"deletionPolicy":"orphan"}}' || return 1
    operator
    for name in alone beside bad slow orphaned upgraded late; do until_ok 60 recorded "$name" || { tail -5 "$tap_dir/controller.log"; return 1; }; done
    no_operator
}

removes() { # EXIT-STATUS ARGUMENTS...; the output is in $tap_dir/o
    local want=$1 rc
    shift
    "$slipway" uninstall "$@" >"$tap_dir/o" 2>&1
    rc=$?
    cat "$tap_dir/o"
    [ $rc -eq "$want" ] || { echo "exit status $rc, not $want"; return 1; }
}
says() { grep -q -- "$1" "$tap_dir/o" || { echo "it does not say: $1"; return 1; }; }
says_not() { ! grep -q -- "$1" "$tap_dir/o" || { echo "it says: $1"; return 1; }; }
in_order() { # LINE...: they are in the output, one after the other
    local at=0 next line
    for line; do
        next=$(grep -nx -- "$line" "$tap_dir/o" | head -1 | cut -d: -f1)
        [ "${next:-0}" -gt $at ] || { echo "not in its place: $line"; return 1; }
        at=$next
    done
}
gone() { ! kubectl get "$@" >/dev/null 2>&1; }
there() { kubectl get "$@" >/dev/null; }
mark() { kubectl get "$1" -o 'jsonpath={.metadata.ownerReferences}{.metadata.labels.specialresource\.openshift\.io/owned}' "${@:2}"; }
left_behind() { there clusterrole "kept-$1" && [ -z "$(mark "clusterrole/kept-$1")" ]; }

planned() {
    removes 0 alone --plan && in_order "run hook pre-delete Pod default/early-alone" "run hook pre-delete Pod default/late-alone" "delete ConfigMap alone/c" "run hook post-delete Pod default/after-alone" "delete Namespace alone" &&
        gone pod early-alone && there configmap c -n alone
}
unasked() { # neither
    removes 0 alone && says '^delete Namespace alone$' && says '^slipway uninstall: nothing was deleted: --yes deletes it$' && gone pod early-alone && there configmap c -n alone &&
        removes 2 alone --plan --yes && says 'either --plan, which says what would go, or --yes' && there specialresource alone &&
        removes 2 alonne && says "there is no SpecialResource 'alonne'; did you mean 'alone'?"
}
foreign() { # what others have put there; not what every namespace has, nor what an owner takes with it
    ! says '^warning:' && kubectl -n alone create configmap theirs >/dev/null && kubectl -n alone create deployment d --image=x >/dev/null && until_ok 10 there replicasets -n alone &&
        removes 0 alone --plan && says "^warning: with Namespace alone goes what is not the resource's: ConfigMap theirs, Deployment d$" && kubectl -n alone delete configmap/theirs deployment/d
}
alone() {
    removes 0 alone --yes && in_order "pre-delete Pod default/early-alone: Succeeded" "pre-delete Pod default/late-alone: Succeeded" "delete ConfigMap alone/c" "post-delete Pod default/after-alone: Succeeded" "delete Namespace alone" &&
        gone specialresource alone && until_ok 20 gone namespace alone && there pod early-alone after-alone && left_behind alone
}
roaming() { # a namespace that is one of the recipe's objects
    removes 0 roaming --yes && in_order "delete ConfigMap roaming/c" "post-delete Pod elsewhere/sweep: Succeeded" "delete Namespace elsewhere" && until_ok 20 gone namespace elsewhere
}
upgrading() { # in the middle of it nobody is left who would uncordon the node; gpu-1 is another's, too
    local cordon=upgrade-cordon.slipway.dev
    kubectl cordon gpu-0 gpu-1 gpu-2 >/dev/null && kubectl label node gpu-0 gpu-1 $cordon/upgraded=slipway upgrade.slipway.dev/upgraded=draining upgrade-since.slipway.dev/upgraded=1 >/dev/null &&
        kubectl label node gpu-1 $cordon/other=slipway >/dev/null && removes 0 upgraded --yes && says '^uncordon Node gpu-0$' && says_not 'uncordon Node gpu-[12]' &&
        [ "$(kubectl get nodes gpu-0 gpu-1 gpu-2 -o 'jsonpath={.items[*].spec.unschedulable}')" = "true true" ] && ! kubectl get nodes -o 'jsonpath={.items[*].metadata.labels}' | grep slipway.dev/upgraded
    local rc=$?
    kubectl uncordon gpu-1 gpu-2 >/dev/null
    kubectl label node gpu-1 $cordon/other- >/dev/null
    return $rc
}
failing() {
    removes 1 bad --yes && says 'pre-delete Pod default/broken: Failed' && says 'no luck' && says 'bad: pre-delete hooks.*--no-hooks' && says_not '^delete' &&
        there specialresource bad && there configmap c -n bad
}
at_the_end() { # each time again, until it succeeds: but not what has succeeded
    removes 1 late --yes && says 'pre-delete Pod default/once: Succeeded' && says 'post-delete Pod default/end: Failed' && says 'late: post-delete hooks' &&
        there specialresource late && there namespace late && gone configmap c -n late &&
        removes 1 late --yes && says_not 'pre-delete Pod' && says 'post-delete Pod default/end: Failed' &&
        removes 0 late --yes --no-hooks && gone specialresource late && until_ok 20 gone namespace late
}
everything() { # what fails keeps the operator; the others go
    removes 1 --yes --timeout 2s && says 'the operator and the definitions stay' && there crd specialresources.sro.openshift.io
}
late() { removes 1 slow --yes --timeout 2s && says 'stuck has not ended in time' && there configmap c -n slow; }
interrupted() { # the second goes on with the pod of the first
    local uid
    uid=$(kubectl get pod stuck -o 'jsonpath={.metadata.uid}') && [ -n "$uid" ] || return 1
    "$slipway" uninstall slow --yes >"$tap_dir/o" 2>&1 &
    kubectl label node --all rack=far >/dev/null && wait $! && cat "$tap_dir/o" && says 'pre-delete Pod default/stuck: Succeeded' && [ "$(kubectl get pod stuck -o 'jsonpath={.metadata.uid}')" = "$uid" ] && gone specialresource slow
}
without() { removes 0 bad --yes --no-hooks && says_not pre-delete && gone specialresource bad && until_ok 20 gone namespace bad && left_behind bad; }
orphaned() {
    removes 0 orphaned --yes && says 'keep ConfigMap orphaned/c: .*orphan' && says_not never && gone specialresource orphaned && gone pod never && until_ok 20 left_behind orphaned &&
        there configmap c -n orphaned && [ -z "$(mark configmap/c -n orphaned)" ] && recorded orphaned && [ -z "$(mark secret/sh.helm.release.v1.orphaned.v1 -n orphaned)" ] &&
        there node gpu-0 && kubectl get node gpu-0 -o 'jsonpath={.metadata.labels}' | grep -q state-orphaned-0000
}
beside() { # the operator leaves the hooks, and what they wait for, alone
    operator
    kubectl delete configmap c -n beside && until_ok 30 there configmap c -n beside || return 1 # it looks after it
    removes 0 beside --yes && in_order "pre-delete Pod default/early-beside: Succeeded" "delete ConfigMap beside/c" "post-delete Pod default/after-beside: Succeeded" "delete Namespace beside" &&
        gone specialresource beside && until_ok 20 gone namespace beside && there pod early-beside after-beside && left_behind beside
    local rc=$?
    no_operator
    return $rc
}
# The kernel's label, which slipway sets where there is no Node Feature Discovery, goes with the last resource.
kernel_label=feature.node.kubernetes.io/kernel-version.full
labelled() { kubectl get nodes -l $kernel_label -o 'jsonpath={.items[*].metadata.name}'; }
kernels() {
    kubectl delete specialresource --all >/dev/null && kubectl label node worker-0 "$kernel_label=$(kubectl get node worker-0 -o 'jsonpath={.status.nodeInfo.kernelVersion}')" >/dev/null && kubectl label node gpu-0 feature.node.kubernetes.io/cpu-model.id=1 >/dev/null || return 1
    both_affine first last || return 1
    [ "$(labelled)" = "gpu-0 gpu-1 gpu-2 worker-0" ] || { labelled; return 1; }
    removes 0 first --yes && says_not "$kernel_label" && removes 0 last --plan && says "^unlabel Node gpu-1: $kernel_label" && [ "$(labelled)" = "gpu-0 gpu-1 gpu-2 worker-0" ] || return 1
    removes 0 last --yes && [ "$(labelled)" = "gpu-0 worker-0" ] || { labelled; return 1; }
}
both_affine() { # NAME NAME: whose pods are for one kernel
    local name
    for name; do
        : | recipe $name
        cat >>"$tap_dir/$name/templates/0000-c.yaml" <<END
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: driver, annotations: {specialresource.openshift.io/kernel-affine: "true"}}
spec: {selector: {matchLabels: {app: d}}, template: {metadata: {labels: {app: d}}, spec: {containers: [{name: main, image: ubi9}]}}}
END
        "$slipway" run "$tap_dir/$name" --timeout 60s || return 1
    done
}
operator_kernels() { # so it does where the operator deletes the resource
    both_affine next final && operator && kubectl delete specialresource next --timeout=60s && [ "$(labelled)" = "gpu-0 gpu-1 gpu-2 worker-0" ] &&
        kubectl delete specialresource final --timeout=60s && [ "$(labelled)" = "gpu-0 worker-0" ]
    local rc=$?
    labelled
    no_operator
    return $rc
}
held() { kubectl get specialresource "$1" -o 'jsonpath={.metadata.finalizers}' | grep -q sro.openshift.io; }
killed_kernels() { # and is killed on the way
    local n=0
    both_affine one other && operator && until_ok 20 held one && until_ok 20 held other || return 1
    no_operator
    kubectl delete specialresource one other --wait=false || return 1
    while [ -n "$(kubectl get specialresource one other --ignore-not-found -o name)" ] && [ $n -lt 30 ]; do
        operator
        sleep "0.$((10 + n * 7 % 30))"
        no_operator
        n=$((n + 1))
    done
    labelled
    echo "killed $n times"
    [ $n -lt 30 ] && [ "$(labelled)" = "gpu-0 worker-0" ]
}

# What a controller holds by a finalizer needs the controller, whose objects are of an earlier state.
with_finalizer() { # NAME FINALIZER
    : | recipe $1
    cat >"$tap_dir/$1/templates/0001-held.yaml" <<END
apiVersion: v1
kind: ConfigMap
metadata: {name: held, finalizers: [$2]}
END
    "$slipway" run "$tap_dir/$1" --timeout 60s
}
take_off() { kubectl patch configmap held -n "$1" --type merge -p '{"metadata":{"finalizers":null}}'; }
finalizer() {
    with_finalizer guarded example.com/driver && removes 1 guarded --yes --timeout 1s && in_order "delete ConfigMap guarded/held" "wait for ConfigMap guarded/held: example.com/driver" &&
        says 'guarded: .*ConfigMap guarded/held is deleted and has not gone: its controller has not taken off the finalizer example.com/driver$' && says_not 'ConfigMap guarded/c' &&
        there configmap c -n guarded && there specialresource guarded && kubectl get configmap held -n guarded -o 'jsonpath={.metadata.finalizers}' | grep -q example.com/driver || return 1
    "$slipway" status guarded >"$tap_dir/shown" && "$slipway" explain guarded >>"$tap_dir/shown" && cat "$tap_dir/shown" && grep -q '^guarded  Deleting ' "$tap_dir/shown" &&
        [ "$(grep -c 'it is being uninstalled: .* the finalizer example.com/driver; slipway uninstall guarded goes on$' "$tap_dir/shown")" = 2 ] || return 1
    "$slipway" uninstall guarded --yes >"$tap_dir/o" 2>&1 &
    until_ok 10 grep -q 'wait for' "$tap_dir/o" && take_off guarded && wait $! && cat "$tap_dir/o" &&
        in_order "wait for ConfigMap guarded/held: example.com/driver" "delete ConfigMap guarded/c" "delete Namespace guarded" && gone specialresource guarded && until_ok 20 gone namespace guarded
}
clusters_finalizer() {
    with_finalizer plain kubernetes.io/guard && removes 0 plain --yes --timeout 1s && says_not 'wait for' && gone specialresource plain && take_off plain && until_ok 20 gone namespace plain
}
operators_finalizer() {
    with_finalizer watched example.com/driver && operator && until_ok 20 held watched && kubectl delete specialresource watched --wait=false &&
        until_ok 10 deleted configmap held -n watched && sleep 1 && there configmap c -n watched && take_off watched && until_ok 20 gone specialresource watched && until_ok 20 gone namespace watched
    local rc=$?
    no_operator
    return $rc
}
labels_of() { kubectl get nodes -o yaml | grep -c "specialresource.openshift.io/state-$1-"; }
bygone() { # deleted while no operator runs: the garbage collector leaves what has no owner
    local name n
    for name in bygone bygone-too; do
        mkdir -p "$tap_dir/$name/templates"
        printf 'apiVersion: v2\nname: %s\nversion: 0.1.0\n' $name >"$tap_dir/$name/Chart.yaml"
        printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n' >"$tap_dir/$name/templates/0000-c.yaml"
        "$slipway" run "$tap_dir/$name" --alongside --timeout 60s >/dev/null || return 1
    done
    kubectl delete specialresource bygone && gone specialresource bygone && there namespace bygone || return 1
    n=$(labels_of bygone-too)
    [ "$(labels_of bygone)" -gt "$n" ] && [ "$n" -gt 0 ] && removes 0 bygone && says "there is no SpecialResource 'bygone' any more: this is what it has left behind" &&
        says '^delete Namespace bygone$' && says '^unlabel Node .*state-bygone-0000$' && says_not 'bygone-too' && says 'nothing was deleted: --yes' && there namespace bygone || return 1
    removes 0 bygone --yes && until_ok 20 gone namespace bygone && [ "$(labels_of bygone)" = "$n" ] && [ "$(labels_of bygone-too)" = "$n" ] && there namespace bygone-too &&
        removes 2 bygone --yes && says "there is no SpecialResource 'bygone'$" && removes 0 bygone-too --yes
}
deleted() { [ -n "$(kubectl get "$@" -o 'jsonpath={.metadata.deletionTimestamp}')" ]; }

t "start" start
t "--plan says which hooks would run, and runs none" planned
t "without --plan and --yes it says what would go, and how it goes" unasked
t "it says what goes with a namespace and is somebody else's" foreign
t "hooks run before and after the objects go; what is to be kept stays" alone
t "a hook after the objects has its namespace still" roaming
t "a node whose upgrade was under way is uncordoned" upgrading
t "a hook that fails: its log, and the resource stays with its objects" failing
t "a hook that does not end in time" late
t "what was interrupted goes on with the hook that runs" interrupted
t "deletionPolicy orphan: all stays, and belongs to nobody; no hooks" orphaned
t "beside an operator each hook runs from here" beside
t "a hook after the objects that fails is run again" at_the_end
t "a resource that stays keeps the operator" everything
t "--no-hooks goes without" without
t "what a finalizer holds is waited for, and what its controller needs stays as long" finalizer
t "finalizers of Kubernetes' own are left to the cluster" clusters_finalizer
t "so an operator waits, too" operators_finalizer
t "what a resource leaves behind that is deleted without an operator goes likewise" bygone
t "the kernel's label goes with the last resource, where slipway has set it" kernels
t "so it does where the operator deletes the last one" operator_kernels
t "and is killed on the way" killed_kernels
plan
