#!/bin/bash
# back-to-das.sh: slipway, which is in the place of the Dynamic Accelerator Slicer, goes, and DAS can go on
# with what is there. What `make back-to-das` calls: once before DAS is deployed again, once after it.
#
#   before   the SpecialResource nvidia-mig goes and leaves its objects, which serve until DAS changes them;
#            slipway's operator and its rights go. The objects are marked.
#   after    what is marked and not DAS's goes, and so do slipway's labels on nodes.
#
# Definitions stay, and so do AllocationClaims, slices and pods. From the environment: KUBECTL (kubectl, else
# oc), KUBECONFIG, TIMEOUT (seconds, 120).
set -euo pipefail
ns=das-operator resource=nvidia-mig mark=slipway.dev/left-by=nvidia-mig
: "${TIMEOUT:=120}"
say() { echo "$*" >&2; }
die() { say "back-to-das: $*"; exit 1; }
[ -n "${KUBECTL:-}" ] || KUBECTL=$(command -v kubectl || command -v oc) || die "neither kubectl nor oc is here (KUBECTL=...)"
k() { "$KUBECTL" "$@"; }

workloads="daemonset/das-daemonset deployment/das-scheduler deployment/das-operator-webhook"
in_namespace=serviceaccounts,services,configmaps,networkpolicies.networking.k8s.io,roles.rbac.authorization.k8s.io,rolebindings.rbac.authorization.k8s.io
of_cluster=clusterroles.rbac.authorization.k8s.io,clusterrolebindings.rbac.authorization.k8s.io
operators=app.kubernetes.io/name=slipway,app.kubernetes.io/part-of=slipway

operator_is_ours() { [ -n "$(k -n $ns get deployments --field-selector metadata.name=das-operator -l $operators -o name)" ]; }
has_resource() { k get specialresource $resource >/dev/null 2>&1; }

# Mark what the resource made: whose each is shows when DAS has written its own again.
mark_ours() {
    k -n $ns label --overwrite $in_namespace -l specialresource.openshift.io/owned=true $mark >/dev/null
    k label --overwrite $of_cluster -l specialresource.openshift.io/owned=true $mark >/dev/null
    ! k get namespace $resource-validation >/dev/null 2>&1 || k label --overwrite namespace $resource-validation $mark >/dev/null
}

# What is marked and no DASOperator owns goes; the mark of the rest goes.
drop_marked() { # KINDS [-n NAMESPACE]
    local names
    # shellcheck disable=SC2016 # a template's variables
    names=$(k get "$@" -l $mark -o go-template='{{range .items}}{{$das := false}}{{range .metadata.ownerReferences}}{{if eq .kind "DASOperator"}}{{$das = true}}{{end}}{{end}}{{if not $das}}{{.kind}}/{{.metadata.name}}{{"\n"}}{{end}}{{end}}')
    # shellcheck disable=SC2086
    [ -z "$names" ] || k delete "${@:2}" $names >/dev/null
    k label "$@" -l $mark "${mark%=*}-" >/dev/null
}

# DAS stages a claim for every node that a pod might go to: none of them is created until it says so.
stage_claims() {
    k patch crd allocationclaims.inference.redhat.com --type json -p \
        '[{"op":"replace","path":"/spec/versions/0/schema/openAPIV3Schema/properties/status/default/state","value":"staged"}]' >/dev/null 2>&1 || true
}

# DAS compares a workload's generation and a hash that it left on it: without the hash it writes its own again.
forget_hashes() {
    local w
    for w in $workloads; do k -n $ns annotate "$w" operator.openshift.io/spec-hash- >/dev/null; done
    k annotate mutatingwebhookconfiguration das-mutating-webhook-configuration operator.openshift.io/spec-hash- >/dev/null
}

before() {
    local others w
    others=$(k get specialresources -o name | grep -vx "specialresource.sro.openshift.io/$resource" || true)
    [ -z "$others" ] || die "the operator is still needed by $(tr '\n' ' ' <<<"$others")"
    if has_resource; then
        # else the operator would make it anew, to its last moment; DAS does not look at it
        k -n $ns patch dasoperator cluster --type merge -p '{"spec":{"managementState":"Unmanaged"}}' >/dev/null
        mark_ours
        k patch specialresource $resource --type merge -p '{"spec":{"deletionPolicy":"orphan"}}' >/dev/null
        k delete specialresource $resource --timeout="${TIMEOUT}s" >/dev/null ||
            die "$resource is not gone after $TIMEOUT s. Is the operator running? This can be repeated"
    fi
    stage_claims
    forget_hashes
    k -n $ns delete deployment das-operator --cascade=foreground --timeout="${TIMEOUT}s" >/dev/null
    k -n $ns delete $in_namespace,poddisruptionbudgets.policy -l $operators --field-selector metadata.name!=das-operator --ignore-not-found >/dev/null
    k delete $of_cluster -l $operators --ignore-not-found >/dev/null
    for w in servicemonitors.monitoring.coreos.com prometheusrules.monitoring.coreos.com; do k -n $ns delete $w -l $operators >/dev/null 2>&1 || true; done
    for w in securitycontextconstraints.security.openshift.io consolelinks.console.openshift.io priorityclasses.scheduling.k8s.io; do k delete $w -l $operators >/dev/null 2>&1 || true; done
    k delete $of_cluster -l slipway.dev/recipe=$resource --ignore-not-found >/dev/null
    say "slipway is gone. Deploy DAS now, then say 'make back-to-das' again: it takes away what only slipway needed"
}

after() {
    local w labels
    k -n $ns get deployment das-operator >/dev/null 2>&1 || die "the operator of DAS is not there yet: deploy it, then say this again"
    for w in $workloads; do
        [ -n "$(k -n $ns get "$w" -o 'jsonpath={.metadata.annotations.operator\.openshift\.io/spec-hash}')" ] || die "DAS has not written $w yet: say this again when it has"
        k -n $ns rollout status "$w" --timeout="${TIMEOUT}s" >/dev/null || die "the pods of $w are not DAS's yet: say this again when they are"
    done
    k -n $ns get networkpolicy das-deny-all -o 'jsonpath={.metadata.ownerReferences[*].kind}' | grep DASOperator >/dev/null || die "DAS has not written its NetworkPolicies yet: say this again when it has"
    drop_marked $in_namespace -n $ns
    drop_marked $of_cluster,namespaces
    labels=$(k get nodes -o 'jsonpath={.items[*].metadata.labels}' | grep -o "specialresource\.openshift\.io/state-$resource-[A-Za-z0-9._-]*" | sort -u | sed 's/$/-/') || true
    # shellcheck disable=SC2086
    [ -z "$labels" ] || k label nodes --all $labels >/dev/null
    k -n $ns patch dasoperator cluster --type merge -p '{"spec":{"managementState":"Managed"}}' >/dev/null
    say "nothing of slipway is left but the definitions"
}

k version --request-timeout=10s >/dev/null 2>&1 || die "no cluster can be reached with ${KUBECONFIG:-the default kubeconfig}"
if operator_is_ours; then before; else after; fi
