#!/bin/bash
# deploy.sh: slipway onto a cluster, and off again. What `make deploy` and its kin call.
#
#   deploy.sh install | uninstall      the custom resource definitions alone
#   deploy.sh deploy                   those, RBAC and the operator; waits until it runs
#   deploy.sh undeploy                 takes everything away again, resources first
#   deploy.sh das | undas              the operator and the nvidia-mig recipe for slices of GPUs
#   deploy.sh render                   print what deploy applies
#   deploy.sh info                     what this would use, and what is there
#   deploy.sh related PART             the image that RELATED_IMAGES names for it, if it names one
#
# From the environment: KUBECTL (kubectl, else oc), KUBECONFIG, IMG, REGISTRY, TAG, NAMESPACE
# (slipway), PLATFORM (kubernetes, openshift; asked of the cluster), MONITORING (no), EMULATED_MODE, RELATED_IMAGES
# (a JSON file or text), API_SERVER (host:port, where pods cannot reach the service's address),
# PULL_POLICY, REPLICAS, TIMEOUT (seconds, 120), DAS_CR (a file with the DASOperator), LEGACY_RIGHTS (yes: the
# controller runs with --legacy-rights), SRO_COMPAT (1: in the place of a Special Resource Operator: its namespace, the name of
# its Deployment, one replica, drivers in its form (--keep-node-selectors), LEGACY_RIGHTS, since its users' resources name no
# account, and what its role allowed), DAS_COMPAT (1: in the place of
# the Dynamic Accelerator Slicer's operator: namespace, Deployment and ServiceAccount das-operator).
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
deployment=slipway account=slipway das_namespace=das-operator
if [ -n "${SRO_COMPAT:-}" ]; then
    [ "${NAMESPACE:-slipway}" != slipway ] || NAMESPACE=openshift-special-resource-operator # the Makefile sets it
    : "${REPLICAS:=1}" "${LEGACY_RIGHTS:=yes}"
    deployment=special-resource-controller-manager
elif [ -n "${DAS_COMPAT:-}" ]; then
    [ "${NAMESPACE:-slipway}" != slipway ] || NAMESPACE=$das_namespace
    deployment=das-operator account=das-operator
fi
: "${NAMESPACE:=slipway}" "${REGISTRY:=quay.io/slipway}" "${TIMEOUT:=120}" "${EMULATED_MODE:=}" "${API_SERVER:=}"
: "${TAG:=$(git -C "$here" rev-parse --abbrev-ref HEAD 2>/dev/null | tr / - || echo latest)}"
: "${IMG:=$REGISTRY/slipway:$TAG}" "${RELATED_IMAGES:=}" "${PULL_POLICY:=}" "${REPLICAS:=}" "${LEGACY_RIGHTS:=}"
das_made=app.kubernetes.io/managed-by=slipway-deploy

say() { echo "$*" >&2; }
die() { say "deploy: $*"; exit 1; }

# shellcheck disable=SC2086
[ -n "${KUBECTL:-}" ] || KUBECTL=$(command -v kubectl || command -v oc) || die "neither kubectl nor oc is here (KUBECTL=...)"
command -v "$KUBECTL" >/dev/null || die "$KUBECTL is not there (KUBECTL=...)"
k() { "$KUBECTL" "$@"; }

# ---- before anything is tried --------------------------------------------------------------------
served="" # the API versions of the cluster, one a line; asked for once
reach() {
    local where
    if ! served=$(k api-versions --request-timeout=10s 2>&1); then
        where=${KUBECONFIG:-"the default kubeconfig"}
        die "no cluster can be reached with $where: $(tail -1 <<<"$served")"
    fi
}

# may VERB RESOURCE: whether this account may; a server that cannot say is believed to allow it
may() {
    local answer
    answer=$(k auth can-i "$@" 2>/dev/null) || [ "$answer" = no ] || return 0
    [ "$answer" != no ]
}

check_rights() { # VERB RESOURCE...: one message naming all that lacks
    local verb=$1 lacks="" r
    shift
    for r in "$@"; do may "$verb" "$r" || lacks="$lacks${lacks:+, }$verb $r"; done
    [ -z "$lacks" ] || die "this account may not $lacks (cluster-wide). Ask somebody who may: the definitions and roles need it once; KUBECONFIG=${KUBECONFIG:-~/.kube/config}"
}

platform() {
    if [ -n "${PLATFORM:-}" ]; then
        echo "$PLATFORM"
    elif [ -n "${offline:-}" ]; then
        echo kubernetes
    elif grep -q '^config.openshift.io/' <<<"$served"; then
        echo openshift
    else
        echo kubernetes
    fi
}

# ---- what is applied -----------------------------------------------------------------------------
# Images by their part: webhook, scheduler, device-plugin (DAS calls it daemonset).
related() { # PART
    local text
    [ -n "$RELATED_IMAGES" ] || { echo "$REGISTRY/slipway-$1:$TAG"; return; }
    if [ -f "$RELATED_IMAGES" ]; then
        text=$(cat "$RELATED_IMAGES")
    elif [[ $RELATED_IMAGES == *[\[{]* ]]; then
        text=$RELATED_IMAGES
    else
        die "RELATED_IMAGES: $RELATED_IMAGES is no file and no JSON"
    fi
    # [{"name": "...webhook...", "image": "..."}] or {"webhook": "..."}
    text=$(tr -d '\n' <<<"$text" | tr '}{,' '\n\n\n' |
        awk -v part="$1" -v other="${2:-$1}" '
            /"name" *:/ { name = $0 }
            /"image" *:/ { if ((name ~ part || name ~ other) && name !~ /bundle/) { sub(/.*"image" *: *"/, ""); sub(/".*/, ""); print; exit } }
            !/"(name|image)" *:/ && match($0, "\"[^\"]*(" part "|" other ")[^\"]*\" *: *\"") { sub(/^[^:]*: *"/, ""); sub(/".*/, ""); print; exit }')
    [ -n "$text" ] || die "RELATED_IMAGES names no image for $1"
    echo "$text"
}

check_images() { # before anything is applied
    related webhook >/dev/null
    related scheduler >/dev/null
    related device-plugin daemonset >/dev/null
}

env_patch() {
    cat <<YAML
apiVersion: apps/v1
kind: Deployment
metadata:
  name: slipway
  namespace: slipway
spec:
${REPLICAS:+  replicas: $REPLICAS
}  template:
    spec:
      containers:
      - name: controller
${PULL_POLICY:+        imagePullPolicy: $PULL_POLICY
}        env:
        - {name: RELATED_IMAGE_WEBHOOK_IMAGE, value: "$(related webhook)"}
        - {name: RELATED_IMAGE_SCHEDULER_IMAGE, value: "$(related scheduler)"}
        - {name: RELATED_IMAGE_DAEMONSET_IMAGE, value: "$(related device-plugin daemonset)"}
YAML
    [ -z "$EMULATED_MODE" ] || echo "        - {name: EMULATED_MODE, value: \"$EMULATED_MODE\"}"
    [ -z "$API_SERVER" ] || cat <<YAML
        - {name: KUBERNETES_SERVICE_HOST, value: "${API_SERVER%:*}"}
        - {name: KUBERNETES_SERVICE_PORT, value: "${API_SERVER##*:}"}
YAML
}

# kustomize before 2.1 (kubectl before 1.21) takes folders as bases only; later ones warn of that word.
folders_word() {
    local minor
    minor=$(k version --client 2>/dev/null | sed -n 's/.*v1\.\([0-9]*\)\..*/\1/p; s/.*Minor:"\([0-9]*\).*/\1/p' | sed -n 1p)
    if [ "${minor:-99}" -lt 21 ]; then echo bases; else echo resources; fi
}

# The part of DEPLOY that is asked for: a kustomization beside the checkout's, then kubectl's own kustomize.
render() { # FOLDER...
    local dir=$here/build/deploy.$$ image=${IMG%:*} tag=${IMG##*:} f rc=0 # of its own: two may run at once
    [[ $IMG == *@* ]] && image=${IMG%@*}
    [[ ${IMG##*/} == *:* || $IMG == *@* ]] || { image=$IMG; tag=latest; }
    rm -rf "$dir"; mkdir -p "$dir"
    env_patch >"$dir/env.yaml"
    {
        echo "namespace: $NAMESPACE"
        echo "$(folders_word):"
        for f in "$@"; do echo "- ../../deploy/$f"; done
        if [[ $IMG == *@* ]]; then
            printf 'images:\n- {name: quay.io/slipway/slipway, newName: "%s", digest: "%s"}\n' "$image" "${IMG#*@}"
        else
            printf 'images:\n- {name: quay.io/slipway/slipway, newName: "%s", newTag: "%s"}\n' "$image" "$tag"
        fi
        case " $* " in *" base "*) printf 'patchesStrategicMerge:\n- env.yaml\n' ;; esac
    } >"$dir/kustomization.yaml"
    { k kustomize "$dir" 2>"$dir/log" || die "kustomize: $(tail -1 "$dir/log")"; } | fit || rc=$?
    rm -rf "$dir"
    return $rc
}

# A namespace that was there before is somebody else's: neither labelled nor taken away.
own_namespace() {
    local label
    [ -z "${offline:-}" ] || return 0
    label=$(k get namespace "$NAMESPACE" --ignore-not-found -o 'jsonpath={.metadata.name} {.metadata.labels.app\.kubernetes\.io/part-of}' 2>/dev/null) || return 0
    [ -z "$label" ] || [ "$label" = "$NAMESPACE slipway" ]
}

# An SCC names the account in a text, which kustomize does not know for a namespace, and one before
# 2.1 does not rename a Namespace; before Kubernetes 1.21 a PodDisruptionBudget is of v1beta1; an OpenShift may be without its console, which else wants
# dashboards in a namespace of its own.
fit() {
    local pdb=policy/v1 console=1 foreign=""
    own_namespace || foreign=1
    if [ -z "${offline:-}" ]; then
        grep -qx policy/v1 <<<"$served" || pdb=policy/v1beta1
        grep -q '^console.openshift.io/' <<<"$served" || console=
    fi
    awk -v console="$console" -v foreign="$foreign" -v ns="$NAMESPACE" -v deployment="$deployment" -v account="$account" -v openshift="$([ "$(platform)" != openshift ] || echo 1)" 'function flush() {
            if (doc ~ /(^|\n)kind: Deployment\n/) sub(/\n  name: slipway\n/, "\n  name: " deployment "\n", doc)
            if (doc ~ /(^|\n)kind: ServiceAccount\n/) sub(/\n  name: slipway\n/, "\n  name: " account "\n", doc)
            sub(/\n      serviceAccountName: slipway\n/, "\n      serviceAccountName: " account "\n", doc)
            sub(/\n- kind: ServiceAccount\n  name: slipway\n/, "\n- kind: ServiceAccount\n  name: " account "\n", doc)
            if (doc ~ /(^|\n)kind: Namespace\n/) sub(/\n  name: slipway\n/, "\n  name: " ns "\n", doc)
            if (openshift && doc ~ /\n  name: slipway-dashboard\n/) sub(/\n  namespace: [^\n]*/, "\n  namespace: openshift-config-managed", doc); if ((console || doc !~ /(^|\n)kind: ConsoleLink\n/) && !(foreign && doc ~ /(^|\n)kind: Namespace\n/)) printf "%s", doc; doc = "" }
        $0 == "---" { flush() } { doc = doc $0 "\n" } END { flush() }' |
        sed ${LEGACY_RIGHTS:+-e '/- --allowed-files=/d'} -e "s|^\( *\)- --leader-elect\$|&${LEGACY_RIGHTS:+\\n\\1- --legacy-rights}${SRO_COMPAT:+\\n\\1- --keep-node-selectors}|" -e "s|system:serviceaccount:slipway:slipway|system:serviceaccount:$NAMESPACE:$account|" -e "s|^apiVersion: policy/v1\$|apiVersion: $pdb|"
}

parts() {
    local p=base
    [ "$(platform)" != openshift ] || p="$p openshift"
    [ -z "${SRO_COMPAT:-}" ] || p="$p sro"
    # who may act as which account; with LEGACY_RIGHTS whoever writes a resource has the operator's rights anyway
    [ -n "$LEGACY_RIGHTS" ] || ! k get --raw /apis/admissionregistration.k8s.io/v1 2>/dev/null | grep '"validatingadmissionpolicies"' >/dev/null ||
        p="$p admission"
    [ "${MONITORING:-}" = no ] || ! grep -q '^monitoring.coreos.com/' <<<"$served" || p="$p monitoring"
    echo "$p"
}

crds() { k kustomize "$here/deploy/crds"; }

# ---- waiting -------------------------------------------------------------------------------------
# Why a pod of the operator does not come up: the first reason that waiting does not cure.
trouble() {
    local image
    image=$(k -n "$NAMESPACE" get deployment "$deployment" -o 'jsonpath={.spec.template.spec.containers[0].image}')
    k -n "$NAMESPACE" get pods -l app.kubernetes.io/name=slipway,app.kubernetes.io/component=controller \
        -o 'jsonpath={range .items[*]}{.spec.containers[0].image}{"\t"}{.status.containerStatuses[0].state.waiting.reason}{"\t"}{.status.containerStatuses[0].state.waiting.message}{.status.containerStatuses[0].lastState.terminated.message}{"\n"}{end}' 2>/dev/null |
        awk -F'\t' -v image="$image" '$1 != image || said { next } # of an older deploy; and all is read, since kubectl dies of a closed pipe
            $2 ~ /^(ErrImagePull|ImagePullBackOff|ErrImageNeverPull|InvalidImageName)$/ { print "image " $1 " cannot be pulled: " ($3 == "" ? $2 : $3); said = 1 }
            $2 ~ /^(CrashLoopBackOff|CreateContainerConfigError|CreateContainerError|RunContainerError)$/ { print "the operator does not start (" $2 "): " $3; said = 1 }'
}

available() {
    local want generation available updated observed
    IFS=, read -r want generation available updated observed < <(k -n "$NAMESPACE" get deployment "$deployment" \
        -o 'jsonpath={.spec.replicas},{.metadata.generation},{.status.availableReplicas},{.status.updatedReplicas},{.status.observedGeneration}{"\n"}') || return 1
    [ "$available $updated $observed" = "$want $want $generation" ]
}

wait_available() {
    local end=$((SECONDS + TIMEOUT)) why="" again=""
    until available; do
        why=$(trouble)
        # twice, so that a pull that is just being retried is no verdict
        [ -z "$why" ] || [ -z "$again" ] || die "$why"
        again=$why
        [ $SECONDS -lt "$end" ] || die "the operator is not available after $TIMEOUT s; see: $KUBECTL -n $NAMESPACE describe pods"
        sleep 1
    done
}

# ---- commands ------------------------------------------------------------------------------------
apply() { # kubectl's one message a failure, and which step it was
    local what=$1 out
    shift
    out=$(k apply -f - 2>&1) || { grep -v -e configured -e unchanged -e created <<<"$out" | sed -n 1,3p >&2; die "$what could not be applied (above); it can be repeated once that is mended"; }
    grep -v 'Warning: .*last-applied' <<<"$out" || true
}

cmd_install() {
    reach
    say "the cluster is $(k config view --minify -o 'jsonpath={.clusters[0].cluster.server}' 2>/dev/null || echo 'the one of this pod')"
    check_rights create customresourcedefinitions.apiextensions.k8s.io
    [ "$(k get crd dasoperators.inference.redhat.com -o 'jsonpath={.spec.scope}' 2>/dev/null)" != Cluster ] ||
        die "DASOperators have no namespace here, as in slipway 0.x, and a scope cannot be changed: docs/migrating.md (From the Dynamic Accelerator Slicer) has the step, which is done once"
    local definitions
    definitions=$(crds)
    apply "the custom resource definitions" <<<"$definitions"
    # shellcheck disable=SC2046
    k wait --for=condition=Established --timeout=60s >/dev/null $(awk '/^  name: .*\..*\./ { print "crd/" $2 }' <<<"$definitions") ||
        die "a definition is not served (above)"
}

# A Special Resource Operator that is here: "namespace/name" of its Deployment.
sro() {
    k get deployments --all-namespaces --field-selector metadata.name=special-resource-controller-manager -l '!app.kubernetes.io/part-of' \
        -o 'jsonpath={range .items[*]}{.metadata.namespace}/{.metadata.name}{"\n"}{end}' 2>/dev/null || true
}

# The operator of the Dynamic Accelerator Slicer, likewise.
das_operator() {
    k -n "$das_namespace" get deployments --field-selector metadata.name=das-operator -l '!app.kubernetes.io/part-of' \
        -o 'jsonpath={range .items[*]}{.metadata.namespace}/{.metadata.name}{"\n"}{end}' 2>/dev/null || true
}

# A Deployment's selector cannot be changed, so theirs go before ours comes; what they made stays.
replace() { # WHAT NAMESPACE/NAME...
    local what=$1 namespace name
    while IFS=/ read -r namespace name; do
        say "the Deployment $namespace/$name of $what goes"
        k -n "$namespace" delete deployment "$name" --cascade=foreground --wait=true --timeout="${TIMEOUT}s" >/dev/null
    done <<<"$2"
}

replace_others() { # [only-told]: those whose place is to be taken go; of others it is said how
    local of_sro of_das
    of_sro=$(sro)
    of_das=$(das_operator)
    [ -z "$of_sro" ] || [ -n "${SRO_COMPAT:-}" ] || die "a Special Resource Operator is here (${of_sro//$'\n'/, }): SRO_COMPAT=1 $0 deploy (SRO_COMPAT=1 make deploy) takes its place; see docs/migrating.md"
    [ -z "$of_das" ] || [ -n "${DAS_COMPAT:-}" ] || die "the Dynamic Accelerator Slicer's operator is here ($of_das): DAS_COMPAT=1 $0 das (DAS_COMPAT=1 make deploy-das) takes its place; see docs/migrating.md"
    [ -z "${1:-}" ] || return 0
    [ -z "$of_sro" ] || replace "the Special Resource Operator" "$of_sro"
    [ -z "$of_das" ] || replace "the Dynamic Accelerator Slicer" "$of_das"
}

# slipway itself, under another name or elsewhere: "namespace/name" of each Deployment.
ourselves() {
    k get deployments --all-namespaces -l app.kubernetes.io/name=slipway,app.kubernetes.io/part-of=slipway \
        -o 'jsonpath={range .items[?(@.spec.selector.matchLabels.app\.kubernetes\.io/component=="controller")]}{.metadata.namespace}/{.metadata.name}{"\n"}{end}' 2>/dev/null |
        grep -vx "$NAMESPACE/$deployment" || true
}

# NAMESPACE/NAME COMMAND: how that is made with what is installed so
as_installed() {
    case $1 in
    */special-resource-controller-manager) echo "SRO_COMPAT=1 make $2 NAMESPACE=${1%/*}" ;;
    */das-operator) echo "DAS_COMPAT=1 make $2 NAMESPACE=${1%/*}" ;;
    *) echo "make $2 NAMESPACE=${1%/*}" ;;
    esac
}

# Two operators would work against each other: of what this script has installed in the same namespace under
# another name ours takes the place.
replace_ourselves() { # [only-told]
    local there
    while read -r there; do
        case $there in
        "") continue ;;
        "$NAMESPACE"/slipway | "$NAMESPACE"/special-resource-controller-manager | "$NAMESPACE"/das-operator) ;;
        *) die "slipway is installed already, as $there: $(as_installed "$there" deploy) changes it; before another takes its place it has to go ($KUBECTL -n ${there%/*} delete deployment ${there#*/})" ;;
        esac
        [ -n "${1:-}" ] || replace "slipway, which is $deployment now," "$there"
    done <<<"$(ourselves)"
    [ -n "${1:-}${SRO_COMPAT:-}" ] || k delete clusterrole,clusterrolebinding -l app.kubernetes.io/part-of=slipway --field-selector metadata.name=slipway-as-sro --ignore-not-found >/dev/null
}

cmd_deploy() {
    local p
    check_images
    reach
    replace_others only-told # before anything is changed
    replace_ourselves only-told
    cmd_install
    check_rights create namespaces clusterroles.rbac.authorization.k8s.io clusterrolebindings.rbac.authorization.k8s.io
    p=$(parts)
    own_namespace || say "namespace $NAMESPACE is there already: it stays as it is, and after undeploy too"
    replace_others
    replace_ourselves
    # shellcheck disable=SC2086
    render $p | apply "the operator"
    say "waiting for $IMG in namespace $NAMESPACE"
    wait_available
    say "slipway runs ($KUBECTL get specialresources)"
}

resources_left() { k get specialresources.sro.openshift.io -o name 2>/dev/null || true; }

# The kernel's label of nodes that have it from slipway, because no Node Feature Discovery is there to put
# more on them: it is of no use to anybody else.
unlabel_kernels() {
    local label=feature.node.kubernetes.io/kernel-version.full nodes
    nodes=$(k get nodes -l "$label" -o 'jsonpath={range .items[*]}{.metadata.name}{"\t"}{.metadata.labels}{"\t"}{range .metadata.managedFields[*]}{"\t"}{.manager}{"="}{.fieldsV1}{end}{"\n"}{end}' 2>/dev/null |
        awk -F'\t' '{ labels = $2 } gsub("feature.node.kubernetes.io/", "", labels) == 1 && $0 ~ /\tslipway=[^\t]*kernel-version.full/ { print $1 }') || return 0
    # shellcheck disable=SC2086
    [ -z "$nodes" ] || k label node $nodes "$label-"
}

# Resources first, while there is an operator to clean up after them; the definitions last.
cmd_undeploy() {
    local end left there
    reach
    there=$(ourselves)
    [ -z "$there" ] || k -n "$NAMESPACE" get deployment "$deployment" >/dev/null 2>&1 ||
        die "slipway is installed as ${there//$'\n'/, }: $(as_installed "${there%%$'\n'*}" undeploy) removes it"
    # it would make its resource anew
    k delete dasoperators.inference.redhat.com --all --all-namespaces --ignore-not-found >/dev/null 2>&1 || true
    left=$(resources_left)
    if [ -n "$left" ]; then
        say "removing $(tr '\n' ' ' <<<"$left")"
        # shellcheck disable=SC2086
        k delete --ignore-not-found --wait=false $left >/dev/null
        end=$((SECONDS + TIMEOUT))
        while left=$(resources_left) && [ -n "$left" ]; do
            [ $SECONDS -lt "$end" ] || die "not gone after $TIMEOUT s: $(tr '\n' ' ' <<<"$left"). Is the operator running? 'slipway uninstall --yes' cleans up without one"
            sleep 0.5
        done
    fi
    local p
    p=$(parts)
    # shellcheck disable=SC2086
    render $p | k delete --ignore-not-found --wait=true -f - 2>&1 | grep -v 'Warning: deleting cluster-scoped' || true
    own_namespace || { # what the operator made there itself
        k -n "$NAMESPACE" wait --for=delete pod -l app.kubernetes.io/name=slipway,app.kubernetes.io/component=controller --timeout="${TIMEOUT}s" >/dev/null 2>&1 || true
        k -n "$NAMESPACE" delete lease b6ae617b.openshift.io --ignore-not-found
    }
    k delete clusterrole,clusterrolebinding -l slipway.dev/rbac=recipe --ignore-not-found
    drop_das_namespace
    crds | k delete --ignore-not-found --wait=true -f -
    unlabel_kernels
}

cmd_uninstall() {
    local left
    reach
    left=$(resources_left)
    [ -z "$left" ] || [ -n "${FORCE:-}" ] || die "there are resources still, which would go with their definition: $(tr '\n' ' ' <<<"$left")(FORCE=1 does it)"
    crds | k delete --ignore-not-found --wait=true -f -
}

rights_of_mig() { # VERSION FLAG...: those that recipe nvidia-mig needs on a cluster of that version
    local v=$1
    shift
    "$here/build/slipway" rbac "$here/recipes/nvidia-mig" "$@" --kube-version "$v" --cluster-wide --operator-namespace "$NAMESPACE" --operator-account "$account" --namespace "$das_namespace"
}

renamed() { # SUFFIX: roles and bindings alone, under other names
    awk -v suffix="$1" '
        function flush() { if (doc ~ /\nkind: (Cluster)?Role(Binding)?\n/) printf "---\n%s", doc; doc = "" }
        $0 == "---" { flush(); next }
        /^[a-zA-Z]/ { top = $1 }
        /^  name: / && (top == "metadata:" || top == "roleRef:") { $0 = $0 suffix }
        { doc = doc $0 "\n" }
        END { flush() }'
}

cmd_das() {
    [ -x "$here/build/slipway" ] || die "build/slipway is needed to say which rights the recipe needs (make)"
    reach
    # before anything is changed: its parts may have to be fetched. What the recipe brings along follows from what
    # this cluster serves
    local v minor groups="" rights other suffix=-from-1-36 when="after an upgrade to Kubernetes 1.36"
    for v in $(k api-versions); do [[ $v != *.*/* || $v == *.k8s.io/* ]] || groups="$groups -a $v"; done
    v=$(k get --raw /version | tr -d ' \n' | sed -n 's/.*"gitVersion":"v\([0-9.]*\).*/\1/p')
    v=${v:-1.29} minor=${v#*.}
    # shellcheck disable=SC2086
    rights=$(rights_of_mig "$v" $groups) || die "which rights the recipe nvidia-mig needs cannot be said (above); nothing is changed"
    # and those for the other way to give slices out: an upgrade of the cluster changes over by itself, global.slicing
    # of the DASOperator does it back
    set -- 1.36.0 $groups -a resource.k8s.io/v1
    if [ "${minor%%.*}" -ge 36 ]; then
        suffix=-deviceplugin when="where global.slicing is deviceplugin"
        set -- "$v" $groups --set global.slicing=deviceplugin
    fi
    other=$(rights_of_mig "$@") || die "which rights the recipe nvidia-mig needs $when cannot be said (above); nothing is changed"
    cmd_deploy
    apply "the rights of recipe nvidia-mig" <<<"$rights"
    renamed "$suffix" <<<"$other" | apply "those that it needs $when"
    k get namespace "$das_namespace" >/dev/null 2>&1 || {
        k create namespace "$das_namespace" >/dev/null
        k label namespace "$das_namespace" openshift.io/cluster-monitoring=true "$das_made" >/dev/null
    }
    apply "DASOperator cluster" <"${DAS_CR:-$here/deploy/03_instaslice_operator.cr.yaml}"
    say "the operator walks recipe nvidia-mig ($KUBECTL -n $das_namespace get dasoperator cluster; slipway status nvidia-mig)"
}

drop_das_namespace() { # where cmd_das made it
    [ -z "$(k get namespace -l "$das_made" -o name)" ] || k delete namespace "$das_namespace" --wait=true --timeout="${TIMEOUT}s"
}

cmd_undas() {
    reach
    k -n "$das_namespace" delete dasoperators.inference.redhat.com cluster --ignore-not-found --wait=true --timeout="${TIMEOUT}s"
    k delete specialresource nvidia-mig --ignore-not-found --wait=true --timeout="${TIMEOUT}s"
    k delete clusterrole,clusterrolebinding -l slipway.dev/recipe=nvidia-mig --ignore-not-found
    drop_das_namespace
}

cmd_render() {
    offline=1
    local p=base
    [ "${PLATFORM:-}" != openshift ] || p="base openshift"
    crds
    echo ---
    # shellcheck disable=SC2086
    render $p
}

cmd_related() {
    local other=$1
    [ "$1" != device-plugin ] || other=daemonset
    [ -z "$RELATED_IMAGES" ] || (related "$1" "$other") 2>/dev/null || true
}

cmd_info() {
    local v
    v=$(k get --raw /version --request-timeout=5s 2>/dev/null | tr -d ' \n' | sed -n 's/.*"gitVersion":"\([^"]*\)".*/\1/p') || true
    printf '%-16s %s\n' image "$IMG" tag "$TAG" registry "$REGISTRY" namespace "$NAMESPACE" \
        webhook "$(related webhook)" scheduler "$(related scheduler)" device-plugin "$(related device-plugin daemonset)" \
        emulated "${EMULATED_MODE:-no}" kubectl "$KUBECTL" kubeconfig "${KUBECONFIG:-the default}" cluster "${v:-not reachable}"
    [ -z "$v" ] || served=$(k api-versions 2>/dev/null) || true
    [ -z "$v" ] || printf '%-16s %s\n' platform "$(platform)" operator "$(k -n "$NAMESPACE" get deployment "$deployment" -o 'jsonpath={.status.availableReplicas} of {.spec.replicas} available, {.spec.template.spec.containers[0].image}' 2>/dev/null || echo 'not deployed')"
}

case "${1:-}" in
install | uninstall | deploy | undeploy | das | undas | render | info | related) c=$1; shift; "cmd_$c" "$@" ;;
-h | --help | help) sed -n '2,19p' "$0" | sed 's/^# \{0,1\}//' ;;
*) sed -n '2,19p' "$0" | sed 's/^# \{0,1\}//' >&2; exit 2 ;;
esac
