#!/bin/bash
# Kubelets (system:node:NAME in the group system:nodes) read what the pods on their node use, and write their own
# Node and those pods: the node authorizer and NodeRestriction, in the words of kube-apiserver 1.36.
cd "$(dirname "$0")/../../.." || exit 1
. test/tap.sh
slipway=build/test/slipway
export KUBECONFIG=$tap_dir/kubeconfig
trap 'kill $(cat "$tap_dir"/*.pid) 2>/dev/null; rm -rf "$tap_dir"' EXIT
emulated --platform kubernetes --kube-version 1.36 --authorization rbac --no-controllers --nodes 3

mapfile -t nodes < <(kubectl get nodes -o name | sed 's|.*/||')
mine=${nodes[0]} other=${nodes[1]}
as_node() { kubectl "$@" --as "system:node:$mine" --as-group system:nodes; }
# raw VERB PATH [BODY]: as the node, as it would without reading first; what is said is in $tap_dir/o
raw() {
    local verb=$1 path=$2
    printf '%s' "${3-}" >"$tap_dir/body"
    as_node "$verb" --raw "$path" ${3:+-f "$tap_dir/body"} >"$tap_dir/o" 2>&1
}
says() { grep -qF -- "$1" "$tap_dir/o" || { cat "$tap_dir/o"; return 1; }; }
# refused TEXT ARGUMENT...: of kubectl, as the node
refused() {
    local text=$1
    shift
    ! as_node "$@" >"$tap_dir/o" 2>&1 && grep -qF -- "$text" "$tap_dir/o" || { cat "$tap_dir/o"; return 1; }
}
# pod NAME NODE [SPEC]: bound to that node
pod() {
    kubectl apply -f - >/dev/null <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $1, namespace: default}
spec: {nodeName: $2, containers: [{name: c, image: i${3:+, $3}}]}
YAML
}
mirror() { # NODE [ANNOTATIONS [SPEC]]
    local uid; uid=$(kubectl get node "$1" -o jsonpath='{.metadata.uid}')
    printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: static, namespace: kube-system, annotations: {%s}, ownerReferences: [{apiVersion: v1, kind: Node, name: %s, uid: %s, controller: true}]}\nspec: {nodeName: %s, containers: [{name: c, image: i}]%s}\n' \
        "${2-kubernetes.io/config.mirror: a}" "$1" "$uid" "$1" "${3:+, $3}" >"$tap_dir/mirror.yaml"
}
own_node() {
    as_node get node "$mine" && raw replace "/api/v1/nodes/$mine/status" "$(kubectl get node "$mine" -o json | jq '.status.nodeInfo.kernelVersion = "9"')" &&
        kubectl get node "$mine" -o json >"$tap_dir/o" && jq -e '.status.nodeInfo.kernelVersion == "9"' "$tap_dir/o" &&
        refused "node '$mine' cannot read '$other', only its own Node object" get node "$other" &&
        refused "node '$mine' cannot read all nodes, only its own Node object" get nodes &&
        ! raw replace "/api/v1/nodes/$other" "$(kubectl get node "$other" -o json | jq '.metadata.annotations.a = "b"')" && says "nodes \"$other\" is forbidden: node \"$mine\" is not allowed to modify node \"$other\"" &&
        refused 'cannot delete resource "nodes"' delete node "$mine"
}
# kubectl patch and label read first; as the node, only its own
labels() {
    as_node label node "$mine" example.com/a=b node.kubernetes.io/own=c && as_node label node "$mine" kubernetes.io/arch=arm64 --overwrite &&
        refused "is not allowed to modify labels: node-restriction.kubernetes.io/a, x.kubernetes.io/b" label node "$mine" node-restriction.kubernetes.io/a=1 x.kubernetes.io/b=2 &&
        refused "node \"$mine\" is not allowed to modify taints" patch node "$mine" --type merge -p '{"spec":{"taints":[{"key":"a","effect":"NoSchedule"}]}}'
}
reads() {
    kubectl create secret generic used --from-literal=a=b && kubectl create secret generic unused --from-literal=a=b &&
        kubectl create configmap used --from-literal=a=b && kubectl create configmap elsewhere --from-literal=a=b &&
        pod p "$mine" 'env: [{name: A, valueFrom: {secretKeyRef: {name: used, key: a}}}], envFrom: [{configMapRef: {name: used}}]' && pod q "$other" 'envFrom: [{configMapRef: {name: elsewhere}}]' &&
        as_node get secret used && as_node get configmap used && as_node get pod p && as_node get pods -A --field-selector "spec.nodeName=$mine" &&
        refused "no relationship found between node '$mine' and this object" get secret unused &&
        refused "no relationship found between node '$mine' and this object" get configmap elsewhere &&
        refused "no relationship found between node '$mine' and this object" get pod q &&
        refused "can only list/watch pods with spec.nodeName field selector" get pods -A &&
        refused "No Object name found" get secrets
}
pods() {
    local core=/api/v1/namespaces/default/pods evict='{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"q"}}'
    raw replace $core/p/status "$(kubectl get pod p -o json | jq '.status.phase = "Running"')" && kubectl wait --for jsonpath='{.status.phase}'=Running pod/p --timeout 5s &&
        ! raw replace $core/p/status "$(kubectl get pod p -o json | jq '.metadata.labels.a = "b"')" && says "node \"$mine\" cannot update labels through pod status" &&
        ! raw replace $core/q/status "$(kubectl get pod q -o json | jq '.status.phase = "Failed"')" && says "node \"$mine\" can only update pod status for pods with spec.nodeName set to itself" &&
        ! raw create $core/q/eviction "$evict" && says "node $mine can only evict pods with spec.nodeName set to itself" &&
        ! raw delete $core/q && says "node \"$mine\" can only delete pods with spec.nodeName set to itself" && raw delete $core/p
}
mirrors() {
    mirror "$mine" && as_node create -f "$tap_dir/mirror.yaml" && kubectl get pod static -n kube-system -o json >"$tap_dir/o" && jq -e '.spec.serviceAccountName == null' "$tap_dir/o" &&
        mirror "$other" && refused "node \"$mine\" can only create pods with spec.nodeName set to itself" create -f "$tap_dir/mirror.yaml" &&
        mirror "$mine" 'kubernetes.io/config.mirror: a' 'imagePullSecrets: [{name: s}]' && refused "node \"$mine\" can not create pods that reference secrets" create -f "$tap_dir/mirror.yaml" &&
        mirror "$mine" '' && refused "pod does not have \"kubernetes.io/config.mirror\" annotation, node \"$mine\" can only create mirror pods" create -f "$tap_dir/mirror.yaml"
}
tokens() {
    local uid; uid=$(kubectl get pod q -o jsonpath='{.metadata.uid}')
    refused "no relationship found between node '$mine' and this object" create token default -n kube-public &&
        pod r "$mine" && refused "node requested token not bound to a pod" create token default &&
        refused "node requested token bound to a pod scheduled on a different node" create token default --bound-object-kind Pod --bound-object-name q --bound-object-uid "$uid" &&
        as_node create token default --bound-object-kind Pod --bound-object-name r --bound-object-uid "$(kubectl get pod r -o jsonpath='{.metadata.uid}')" >"$tap_dir/o"
}
leases() {
    lease() { printf 'apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: %s, namespace: %s}\n' "$1" "$2" >"$tap_dir/lease.yaml"; }
    lease "$other" kube-node-lease && { kubectl create ns kube-node-lease >/dev/null 2>&1 || :; } &&
        refused "can only access node lease with the same name as the requesting node" create -f "$tap_dir/lease.yaml" &&
        lease "$mine" default && refused 'can only access leases in the "kube-node-lease" system namespace' create -f "$tap_dir/lease.yaml"
}
others() {
    kubectl auth can-i create pods --as "system:node:$mine" --as-group system:nodes && ! kubectl auth can-i create pods --as "system:node:$mine" &&
        ! kubectl auth can-i delete deployments --as "system:node:$mine" --as-group system:nodes && kubectl get clusterrole system:node
}
t "a kubelet reads and writes its own Node" own_node
t "labels that place others' work, and taints, are not a kubelet's to change" labels
t "a kubelet reads what pods on its node use" reads
t "a kubelet writes the status of its pods, evicts and deletes them" pods
t "a kubelet creates mirror pods of its own alone" mirrors
t "a kubelet gets tokens for its pods" tokens
t "a kubelet has its own lease" leases
t "who is not in system:nodes is no kubelet" others
plan
