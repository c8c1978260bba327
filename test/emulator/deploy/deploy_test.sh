# make deploy and undeploy against the embedded cluster: what is installed, that doing it twice
# changes nothing, that a recipe from a ConfigMap is walked and walked again when it changes, that
# nothing is left behind, and what is said when it cannot work. Here the operator's pods only seem to
# run; a controller beside does their work (test/cluster/deploy_test.sh has the real thing).
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}
chart=$tap_dir/hello
pids=""
trap 'for p in $pids; do kill "$p" 2>/dev/null; done; rm -rf "$tap_dir"' EXIT
export KUBECONFIG=$tap_dir/kubeconfig KUBECTL=kubectl TAG=test TIMEOUT=30 REGISTRY=example.test/x
unset IMG NAMESPACE PLATFORM RELATED_IMAGES EMULATED_MODE API_SERVER PULL_POLICY REPLICAS OPERATOR_NAMESPACE

cluster() { # PLATFORM
    rm -f "$KUBECONFIG"
    "$slipway" emulate --platform "$1" --kubeconfig-out "$KUBECONFIG" >"$tap_dir/emulate.log" 2>&1 &
    pids="$pids $!" emulator=$!
    until_ok 20 eval 'kubectl get --raw /readyz >/dev/null 2>&1'
}

operator() {
    "$slipway" controller --leader-elect --leader-elect-namespace slipway --metrics-bind-address 127.0.0.1:0 --health-probe-bind-address 127.0.0.1:0 \
        >"$tap_dir/operator.log" 2>&1 &
    pids="$pids $!" controller=$!
}

dump() {
    local kinds
    kinds=$(kubectl api-resources --verbs=list -o name | grep -v '^events' | sort | paste -sd,)
    kubectl get "$kinds" -A --ignore-not-found -o jsonpath='{range .items[*]}{.kind} {.metadata.namespace}/{.metadata.name} {.metadata.labels} {.spec}{"\n"}{end}' | sort
}

deployed() {
    make -s deploy && [ "$(kubectl -n slipway get deployment slipway -o 'jsonpath={.status.availableReplicas}')" = 2 ] &&
        [ "$(kubectl -n slipway get deployment slipway -o 'jsonpath={.spec.template.spec.containers[0].image}')" = example.test/x/slipway:test ]
}

twice() {
    local before
    before=$(kubectl get all,netpol,pdb,role,rolebinding,sa -n slipway -o 'jsonpath={.items[*].metadata.resourceVersion}')
    hack/deploy.sh deploy && [ "$before" = "$(kubectl get all,netpol,pdb,role,rolebinding,sa -n slipway -o 'jsonpath={.items[*].metadata.resourceVersion}')" ]
}

hardened() { # what a security scanner looks for
    kubectl -n slipway get deployment slipway -o json | jq -e '.spec.template.spec as $p | $p.containers[0] as $c |
        $p.securityContext.runAsNonRoot and $p.securityContext.seccompProfile.type == "RuntimeDefault" and
        $c.securityContext.readOnlyRootFilesystem and ($c.securityContext.allowPrivilegeEscalation | not) and $c.securityContext.capabilities.drop == ["ALL"] and
        $c.resources.requests.memory and $c.resources.limits.memory == "128Mi" and $c.livenessProbe and $c.readinessProbe and $p.priorityClassName == "slipway" and
        ($c.args | index("--leader-elect"))' &&
        kubectl -n slipway get pdb slipway && kubectl -n slipway get networkpolicy slipway && kubectl get priorityclass slipway
}

make_chart() {
    mkdir -p "$chart/templates"
    printf 'apiVersion: v2\nname: hello\nversion: 0.1.0\nannotations: {slipway.dev/wait: all}\n' >"$chart/Chart.yaml"
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {greeting: first}\n' >"$chart/templates/0000-settings.yaml"
    cat >"$chart/templates/0100-agent.yaml" <<'YAML'
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: agent, image: example.test/agent:1}]}
YAML
}

apply_recipe() {
    local version
    version=$(sed -n 's/^version: //p' "$chart/Chart.yaml")
    "$slipway" configmap "$chart" --namespace slipway | kubectl apply -f - && kubectl apply -f - <<YAML
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResource
metadata: {name: hello}
spec:
  namespace: hello
  chart: {name: hello, version: $version, repository: {name: here, url: "cm://slipway/hello"}}
YAML
}

is_ready() { [ "$(kubectl get specialresource hello -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}')" = True ]; }
walks() { make_chart && apply_recipe && until_ok 60 is_ready && [ "$(kubectl -n hello get configmap settings -o 'jsonpath={.data.greeting}')" = first ]; }
edited() {
    sed -i 's/first/second/' "$chart/templates/0000-settings.yaml" && sed -i 's/0\.1\.0/0.2.0/' "$chart/Chart.yaml" && apply_recipe &&
        until_ok 60 eval '[ "$(kubectl -n hello get configmap settings -o "jsonpath={.data.greeting}")" = second ]' && until_ok 60 is_ready
}

not_uninstalled() {
    local out
    out=$(hack/deploy.sh uninstall 2>&1)
    [ $? -ne 0 ] && grep -q 'specialresource.*hello' <<<"$out" && kubectl get specialresource hello
}

undeployed() { make -s undeploy && dump >"$tap_dir/after" && diff "$tap_dir/before" "$tap_dir/after"; }
undeployed_twice() { hack/deploy.sh undeploy; }

# A release's manifests, a recipe that labels nodes with their kernel, and the way out that docs/release.md names.
from_manifests() {
    local left
    "$slipway" render charts/slipway --namespace slipway --set createNamespace=true,platform=kubernetes --include-crds --no-hooks --kube-version 1.29 >"$tap_dir/install.yaml" &&
        kubectl apply --server-side -f "$tap_dir/install.yaml" || return 1
    operator
    make_chart && sed -i 's/name: agent}/name: agent, annotations: {specialresource.openshift.io\/kernel-affine: "true"}}/' "$chart/templates/0100-agent.yaml" && apply_recipe && until_ok 60 is_ready &&
        [ -n "$(kubectl get nodes -l feature.node.kubernetes.io/kernel-version.full -o name)" ] && "$slipway" uninstall hello --yes && kubectl delete --ignore-not-found -f "$tap_dir/install.yaml"
    left=$?
    kill "$controller"
    [ $left -eq 0 ] && dump >"$tap_dir/after" && diff "$tap_dir/before" "$tap_dir/after"
}

repeated() { # a deploy that failed half-way
    kubectl create namespace slipway && kubectl label namespace slipway app.kubernetes.io/part-of=slipway && kubectl -n slipway create serviceaccount slipway && kubectl apply -f deploy/crds/sro.openshift.io_specialresources.yaml &&
        hack/deploy.sh deploy && hack/deploy.sh undeploy
}

elsewhere() { # another namespace, image by digest, mode
    NAMESPACE=gpu IMG=example.test/y@sha256:$(printf '%064d' 1) EMULATED_MODE=enabled RELATED_IMAGES='[{"name":"das-webhook","image":"example.test/w:1"},{"name":"das-scheduler","image":"example.test/s:1"},{"name":"das-daemonset","image":"example.test/d:1"}]' hack/deploy.sh deploy &&
        kubectl -n gpu get deployment slipway -o json | jq -e '.spec.template.spec.containers[0] | .image == "example.test/y@sha256:'"$(printf '%064d' 1)"'" and
            (.env | any(.name == "EMULATED_MODE" and .value == "enabled")) and (.env | any(.name == "RELATED_IMAGE_DAEMONSET_IMAGE" and .value == "example.test/d:1"))' &&
        [ "$(kubectl get clusterrolebinding slipway -o 'jsonpath={.subjects[0].namespace}')" = gpu ] && NAMESPACE=gpu hack/deploy.sh undeploy
}

# Kernel-affine states find nodes by NFD's label; where there is no NFD slipway puts it there, and undeploy
# takes it off again, but none that somebody else put there, and none of a node that NFD labels.
kernel_labels() {
    local label=feature.node.kubernetes.io/kernel-version.full
    kubectl label node worker-0 $label=theirs && kubectl label node gpu-0 feature.node.kubernetes.io/cpu-model.id=1 && dump >"$tap_dir/unlabelled" &&
        kubectl label --field-manager=slipway node gpu-1 $label=5.15 && kubectl label --field-manager=slipway node gpu-0 $label=5.15 && hack/deploy.sh undeploy || return 1
    [ "$(kubectl get nodes -l $label -o 'jsonpath={.items[*].metadata.name}')" = "gpu-0 worker-0" ] && kubectl label node gpu-0 $label- && dump | diff "$tap_dir/unlabelled" - &&
        kubectl label node worker-0 $label- && kubectl label node gpu-0 feature.node.kubernetes.io/cpu-model.id-
}

in_anothers() { # into a namespace with somebody else's work in it, which outlives undeploy
    kubectl create namespace shared && kubectl -n shared create configmap theirs --from-literal=a=b && dump >"$tap_dir/shared" || return 1
    NAMESPACE=shared hack/deploy.sh deploy >"$tap_dir/said" 2>&1 && grep 'namespace shared is there already' "$tap_dir/said" && kubectl apply -f - <<'YAML' || return 1
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: b6ae617b.openshift.io, namespace: shared}
YAML
    NAMESPACE=shared hack/deploy.sh deploy && NAMESPACE=shared hack/deploy.sh undeploy && dump >"$tap_dir/after" && diff "$tap_dir/shared" "$tap_dir/after" && kubectl delete namespace shared
}

on_openshift() {
    hack/deploy.sh deploy && kubectl get scc slipway -o 'jsonpath={.users[0]}' | grep -qx system:serviceaccount:slipway:slipway &&
        kubectl get consolelink slipway && kubectl get clusterrole slipway-openshift && kubectl get namespace slipway -o 'jsonpath={.metadata.labels}' | grep -q cluster-monitoring &&
        hack/deploy.sh undeploy && ! kubectl get scc slipway 2>/dev/null
}

unreachable() {
    local out
    out=$(KUBECONFIG=$tap_dir/none hack/deploy.sh deploy 2>&1)
    [ $? -ne 0 ] && echo "$out" && [ "$(wc -l <<<"$out")" = 1 ] && grep -q "$tap_dir/none" <<<"$out"
}

badly_told() { # a mistake in what deploy is told is one line, and nothing is applied
    local out images
    for images in '{"web":"x/y:1"}' /no/such.json; do
        out=$(RELATED_IMAGES=$images hack/deploy.sh deploy 2>&1) && return 1
        echo "$out"
        [ "$(wc -l <<<"$out")" = 1 ] && grep -q '^deploy: RELATED_IMAGES' <<<"$out" || return 1
    done
    out=$(KUBECTL=/no/kubectl hack/deploy.sh deploy 2>&1) && return 1
    [ "$out" = 'deploy: /no/kubectl is not there (KUBECTL=...)' ] && ! kubectl get crd specialresources.sro.openshift.io 2>/dev/null
}

# run-local has the recipes of the checkout, which an image has in /recipes.
local_recipes() { make -n run-local | grep -q "SLIPWAY_RECIPES=.*$PWD/recipes.*slipway controller"; }

# and the images that RELATED_IMAGES names, a file for make and JSON for the operator
local_images() {
    local line file=$tap_dir/related
    for file in "$file" '{"webhook": "q.test/w:1"}'; do
        echo '{"webhook": "q.test/w:1"}' >"$tap_dir/related"
        line=$(RELATED_IMAGES=$file make -n run-local | grep 'slipway controller') || return 1
        RELATED_IMAGES=$file bash -c "${line%%build/slipway controller*} env" | grep -x 'RELATED_IMAGES={"webhook": "q.test/w:1"}' || return 1
    done
}

# Names of the Special Resource Operator and of the Dynamic Accelerator Slicer.
their_targets() {
    SPECIALRESOURCE=simple-kmod VERSION=0.0.1 make -n | grep 'apply -f charts/example/simple-kmod/simple-kmod.yaml' &&
        make -s create-related-images filename="$tap_dir/images" TAG=x && RELATED_IMAGES=$tap_dir/images hack/deploy.sh render | grep 'slipway-webhook:x' &&
        make -n catalog-build BUNDLE_IMG=q.test/b:1 | grep 'q.test/b:1=deploy/bundle' &&
        ! SPECIALRESOURCE=acm-ice VERSION=0.0.1 make -s 2>"$tap_dir/said" && grep 'make acm-ice: .*charts/example/acm-ice-\*/acm-ice.yaml' "$tap_dir/said" &&
        make -s manager helm-plugins && ! make -s generate-clients 2>"$tap_dir/said" && grep 'make generate-clients: ' "$tap_dir/said" &&
        ! scripts/make-cm-recipe "$tap_dir/none" 2>"$tap_dir/said" && [ "$(wc -l <"$tap_dir/said")" = 1 ]
}

# What RELATED_IMAGES names is built, pushed and deployed; the rest is as without it.
their_images() {
    printf '[\n  {"name": "instaslice-operator-bundle-next", "image": "q.test/me/bundle:1"},\n  {"name": "instaslice-operator-next", "image": "q.test/me/operator:1"},\n  {"name": "instaslice-daemonset-next", "image": "q.test/me/daemonset:1"}\n]\n' >"$tap_dir/related"
    RELATED_IMAGES=$tap_dir/related make -n local-image-push REGISTRY=q.test/us TAG=x >"$tap_dir/said" && cat "$tap_dir/said" &&
        grep 'slipway q.test/me/operator:1' "$tap_dir/said" && grep 'slipway-device-plugin q.test/me/daemonset:1' "$tap_dir/said" &&
        grep 'slipway-webhook q.test/us/slipway-webhook:x' "$tap_dir/said" && [ "$(RELATED_IMAGES=$tap_dir/related make -s info REGISTRY=q.test/us IMG=q.test/mine:1 | awk '$1 == "image" { print $2 }')" = q.test/mine:1 ]
}

cm_recipe() {
    kubectl create namespace simple-kmod && scripts/make-cm-recipe charts/example/simple-kmod-0.0.1 simple-kmod-chart simple-kmod &&
        kubectl -n simple-kmod get configmap simple-kmod-chart && kubectl delete namespace simple-kmod
}

# as docs/migrating.md has it
back_to_sro() {
    ! kubectl apply -f "$tap_dir/sro.yaml" && kubectl -n openshift-special-resource-operator delete deployment special-resource-controller-manager &&
        kubectl apply -f "$tap_dir/sro.yaml" && kubectl get crd specialresources.sro.openshift.io
}

in_place_of_sro() {
    cat >"$tap_dir/sro.yaml" <<'YAML'
apiVersion: apps/v1
kind: Deployment
metadata: {name: special-resource-controller-manager, namespace: openshift-special-resource-operator}
spec:
  selector: {matchLabels: {control-plane: controller-manager}}
  template:
    metadata: {labels: {control-plane: controller-manager}}
    spec: {containers: [{name: manager, image: quay.io/openshift/special-resource-operator}]}
YAML
    kubectl create namespace openshift-special-resource-operator && kubectl apply -f "$tap_dir/sro.yaml" || return 1
    ! hack/deploy.sh deploy 2>"$tap_dir/said" && grep 'SRO_COMPAT=1 make deploy' "$tap_dir/said" && ! kubectl get namespace slipway 2>/dev/null &&
        make -s deploy SRO_COMPAT=1 &&
        kubectl -n openshift-special-resource-operator get deployment special-resource-controller-manager -o 'jsonpath={.spec.replicas} {.status.readyReplicas} {.spec.template.spec.containers[0].args}' |
        grep '^1 1 .*--legacy-rights.*--keep-node-selectors' && kubectl get clusterrole slipway-as-sro -o 'jsonpath={.rules[*].resources}' | grep daemonsets &&
        kubectl get clusterrolebinding slipway-as-sro -o 'jsonpath={.subjects[*].namespace}/{.subjects[*].name}' | grep -x openshift-special-resource-operator/slipway &&
        ! make -s undeploy 2>"$tap_dir/said" && grep 'SRO_COMPAT=1 make undeploy NAMESPACE=openshift-special-resource-operator removes it' "$tap_dir/said" &&
        ! make -s deploy 2>"$tap_dir/said" && grep 'SRO_COMPAT=1 make deploy NAMESPACE=openshift-special-resource-operator changes it' "$tap_dir/said" && ! kubectl get namespace slipway 2>/dev/null &&
        NAMESPACE=openshift-special-resource-operator hack/deploy.sh deploy && [ "$(kubectl get deployments -n openshift-special-resource-operator -o name)" = deployment.apps/slipway ] &&
        ! kubectl get clusterrole slipway-as-sro 2>/dev/null &&
        SRO_COMPAT=1 hack/deploy.sh deploy && back_to_sro && SRO_COMPAT=1 hack/deploy.sh deploy && SRO_COMPAT=1 hack/deploy.sh undeploy && ! kubectl get clusterrole slipway-as-sro 2>/dev/null &&
        ! kubectl -n openshift-special-resource-operator get deployment special-resource-controller-manager 2>/dev/null &&
        kubectl delete namespace openshift-special-resource-operator
}

of_the_first_version() { # whose DASOperators had no namespace
    sed 's/scope: Namespaced/scope: Cluster/' deploy/crds/inference.redhat.com_dasoperators.yaml | kubectl create -f - || return 1
    ! hack/deploy.sh install 2>"$tap_dir/said" && grep 'docs/migrating.md .From the Dynamic Accelerator Slicer. has the step' "$tap_dir/said" &&
        kubectl delete crd dasoperators.inference.redhat.com
}

in_place_of_das() {
    kubectl create namespace das-operator && kubectl -n das-operator create serviceaccount das-operator && kubectl apply -f - <<'YAML' || return 1
apiVersion: apps/v1
kind: Deployment
metadata: {name: das-operator, namespace: das-operator}
spec:
  selector: {matchLabels: {app: das-operator}}
  template:
    metadata: {labels: {app: das-operator}}
    spec: {serviceAccountName: das-operator, containers: [{name: instaslice-operator, image: das/operator}]}
YAML
    ! hack/deploy.sh deploy 2>"$tap_dir/said" && grep 'DAS_COMPAT=1 make deploy-das' "$tap_dir/said" && ! kubectl get namespace slipway 2>/dev/null &&
        make -s deploy DAS_COMPAT=1 &&
        [ "$(kubectl -n das-operator get deployment das-operator -o 'jsonpath={.spec.replicas} {.status.readyReplicas} {.spec.template.spec.serviceAccountName} {.spec.template.spec.containers[0].name}')" = '2 2 das-operator controller' ] &&
        [ "$(kubectl get clusterrolebinding slipway -o 'jsonpath={.subjects[0].namespace}/{.subjects[0].name}')" = das-operator/das-operator ] &&
        DAS_COMPAT=1 hack/deploy.sh deploy && DAS_COMPAT=1 hack/deploy.sh undeploy && ! kubectl -n das-operator get deployment das-operator 2>/dev/null && kubectl delete namespace das-operator
}

# The internal registry has only what was built.
unpullable() {
    local out
    out=$(IMG=image-registry.openshift-image-registry.svc:5000/slipway/none:1 hack/deploy.sh deploy 2>&1)
    [ $? -ne 0 ] && echo "$out" && [ "$(grep -c 'image image-registry.*/slipway/none:1 cannot be pulled: ' <<<"$out")" = 1 ] && hack/deploy.sh deploy && hack/deploy.sh undeploy
}

up_to_date() { SLIPWAY="$slipway" hack/manifests.sh --check; }
informed() { make -s info | grep -q 'example.test/x/slipway:test'; }

if ! command -v kubectl >/dev/null || ! command -v jq >/dev/null; then
    skip "make deploy" "kubectl and jq are needed"
    plan
fi
t "deploy/ is what the chart gives" up_to_date
t "without a cluster: one line that names the kubeconfig" unreachable
cluster kubernetes
dump >"$tap_dir/before"
t "make deploy brings the operator up" deployed
t "make info says what would be used" informed
t "a second deploy changes nothing" twice
t "the operator is confined" hardened
operator
t "a recipe from a ConfigMap walks to Ready" walks
t "its change is walked" edited
t "uninstall refuses while there are resources" not_uninstalled
t "make undeploy leaves the cluster as it was" undeployed
kill "$controller"
t "undeploy may be repeated" undeployed_twice
t "what install.yaml brought goes without a trace, and what a recipe did to nodes" from_manifests
t "deploy goes on from what a failed one left" repeated
t "what it is told wrongly is said before anything is applied" badly_told
t "run-local takes the recipes of the checkout" local_recipes
t "run-local has the images of RELATED_IMAGES" local_images
t "targets that SRO's and DAS's users know" their_targets
t "images are those of RELATED_IMAGES" their_images
t "make-cm-recipe puts a chart into a ConfigMap" cm_recipe
t "SRO is named before anything is done; SRO_COMPAT takes its place" in_place_of_sro
t "a definition of slipway 0.x names the step" of_the_first_version
t "DAS is named before anything is done; DAS_COMPAT takes its place" in_place_of_das
t "namespace, image and mode are variables" elsewhere
t "the kernel's label goes from nodes that slipway gave it to" kernel_labels
t "a namespace that was there before stays, with what is in it" in_anothers
kill "$emulator"; wait "$emulator" 2>/dev/null
cluster openshift
t "OpenShift gets its SCC, console link and monitoring label" on_openshift
t "an image that cannot be pulled is named, and deploy goes on from there" unpullable
plan
