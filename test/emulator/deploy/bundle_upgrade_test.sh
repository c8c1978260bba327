# From one bundle to the next, and back, as the Operator Lifecycle Manager does it, and with its checks (operator-framework/
# operator-lifecycle-manager, pkg/controller: catalog/step.go, catalog/operator.go, lib/crd/storage.go; operator-registry, alpha/model):
# each version of a channel comes to its head, no stored version of a definition goes, and what is there is valid for the new ones. The
# operator has no rights but those of its bundle. The bundle before is that of the newest release in git, before there are any of the commit
# before there was anything to release; without git it is this one under its own version. SLIPWAY_BEFORE is the program of that version.
. test/tap.sh
. test/versions_steps.sh
slipway=$(realpath "${SLIPWAY:-build/slipway}")
before=$(realpath "${SLIPWAY_BEFORE:-${SLIPWAY_RELEASE:-$slipway}}")
for tool in kubectl jq curl; do command -v $tool >/dev/null || { skip "from bundle to bundle" "no $tool here"; plan; exit; }; done
export KUBECONFIG=$tap_dir/kubeconfig
trap 'for job in one two three emulated; do stop $job; done; rm -rf "$tap_dir"' EXIT
older=$tap_dir/older newer=$tap_dir/newer

# ---- the bundles -------------------------------------------------------------------------------------
commit_before() {
    local commit
    commit=$(git describe --tags --abbrev=0 --match 'v[0-9]*' 'HEAD^' 2>/dev/null) || { commit=$(git log --diff-filter=A --format=%H -- hack/dist.sh 2>/dev/null | tail -n 1)^ && [ "$commit" != '^' ]; } || return 1
    git archive "$commit" deploy/bundle | tar -x -C "$tap_dir" 2>/dev/null && mv "$tap_dir/deploy/bundle" "$older" && echo "$commit"
}
name_of() { sed -n 's/^  name: \(slipway\.v.*\)/\1/p' "$1/manifests/slipway.clusterserviceversion.yaml" | sed -n 1p; }
# generate DIR VERSION OPTION...: the bundle of this tree under that version
generate() { env -u TAG -u IMG -u REGISTRY SLIPWAY="$slipway" VERSION="$2" "${@:3}" hack/bundle.sh generate "$1"; }
next() { name_of "$older" | awk -v n="$1" '{ split($0, parts, /[v.]/); print parts[3] "." parts[4] + n ".0" }'; } # N: the version N minor ones after the older
generated() {
    commit_before || { cp -r deploy/bundle "$older" && echo "no commit before"; } || return 1
    generate "$newer" "$(next 1)" REPLACES="$(name_of "$older")" && [ "$(name_of "$newer")" = "slipway.v$(next 1)" ] && echo "from $(name_of "$older") to $(name_of "$newer")"
}

# ---- the catalog -------------------------------------------------------------------------------------
# From each version of a channel to its head: OLM goes to the head at once where its skipRange has the version, else to what replaces it.
edges() {
    jq -s 'def numbers: sub("[-+].*"; "") | split(".") | map(tonumber);
        def below($range): (.name | sub("^slipway\\.v"; "") | numbers) < ($range | sub("^<"; "") | numbers);
        [.[] | select(.schema == "olm.channel") | .entries as $all |
            ($all | map(.name) - ($all | map(.replaces))) as $heads | ($all[] | select(.name == $heads[0])) as $head |
            def steps: .name as $name | if $name == $head.name then 0 elif ($head.skipRange // "") != "" and below($head.skipRange) then 1
                else (first($all[] | select(.replaces == $name)) // null) as $next | if $next then 1 + ($next | steps) else 1000 end end;
            {channel: .name, heads: $heads, steps: ($all | map({key: .name, value: steps}) | from_entries)}]' <(grep '^{' "$1/slipway/catalog.yaml")
}
catalog() { SLIPWAY=$slipway hack/bundle.sh catalog "$@"; }
each_comes_to_the_head() { # of four versions in two channels, of which one has not all
    generate "$tap_dir/third" "$(next 2)" REPLACES="slipway.v$(next 1)" CHANNEL=stable,alpha && generate "$tap_dir/last" "$(next 3)" REPLACES="slipway.v$(next 2)" CHANNEL=stable,alpha &&
        catalog "$tap_dir/catalog" "example.test/b:1=$older" "example.test/b:2=$newer" "example.test/b:3=$tap_dir/third" "example.test/b:4=$tap_dir/last" &&
        edges "$tap_dir/catalog" | tee "$tap_dir/edges" | jq -e --arg head "slipway.v$(next 3)" 'map(.channel) == ["stable", "alpha"] and all(.heads == [$head] and all(.steps[]; . <= 1)) and
            (map(.steps | length) == [2, 4])' || { cat "$tap_dir/edges"; return 1; }
}
step_by_step() { # without skipRange, too
    generate "$tap_dir/stepped" "$(next 2)" REPLACES="slipway.v$(next 1)" SKIP_RANGE='<0.0.0' &&
        catalog "$tap_dir/catalog" "example.test/b:1=$older" "example.test/b:2=$newer" "example.test/b:3=$tap_dir/stepped" &&
        [ "$(edges "$tap_dir/catalog" | jq -c '.[0].steps[]' | tr '\n' ' ')" = '2 1 0 ' ]
}

# ---- definitions -------------------------------------------------------------------------------------
# cluster OPTION...: an emulated one, with nothing of slipway
cluster() {
    rm -f "$KUBECONFIG"
    "$slipway" emulate --platform openshift --delays 0 --kubeconfig-out "$KUBECONFIG" "$@" >/dev/null 2>&1 &
    echo $! >"$tap_dir/emulated.pid"
    until_ok 20 test -s "$KUBECONFIG" && until_ok 20 kubectl get --raw /readyz
}
server() { # OPTION... PATH: what the API server answers
    curl -sk -H 'Content-Type: application/json' "${@:1:$#-1}" "$(kubectl config view --minify -o 'jsonpath={.clusters[0].cluster.server}')${*: -1}"
}
definitions() { grep -l '^kind: CustomResourceDefinition$' "$1"/manifests/*.yaml; }
# define FILE...: definitions take the place of those that are there, but where a stored version would go, or a served one
define() {
    local f name
    for f; do
        name=$(kubectl create --dry-run=client -o 'jsonpath={.metadata.name}' -f "$f") || return 1
        if server "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/$name" | tee "$tap_dir/defined" | jq -e '.kind == "Status"'; then
            kubectl create -f "$f" && established "crd/$name" || return 1
        else
            kubectl create --dry-run=client -o json -f "$f" | jq --slurpfile old "$tap_dir/defined" '. as $new | $old[0] | if (.status.storedVersions + [.spec.versions[] | select(.served).name]) - [$new.spec.versions[].name] == []
                then .spec = $new.spec else error("\(.metadata.name): a stored or served version is gone") end' >"$tap_dir/definition" && kubectl replace -f "$tap_dir/definition" || return 1
        fi
    done
}
# resources: the paths of all of those that are defined
resources() {
    local kind
    for kind in specialresources specialresourcemodules preflightvalidations; do
        kubectl get $kind.sro.openshift.io -o "jsonpath={range .items[*]}/apis/sro.openshift.io/v1beta1/$kind/{.metadata.name}{\"\\n\"}{end}"
    done
    kubectl get dasoperators.inference.redhat.com -A -o 'jsonpath={range .items[*]}/apis/inference.redhat.com/v1alpha1/namespaces/{.metadata.namespace}/dasoperators/{.metadata.name}{"\n"}{end}'
}
all_valid() { # each is taken as it is, its status too
    local path
    for path in $(resources | sed 'p;s|$|/status|'); do
        server "$path" | server -X PUT -d @- "$path?dryRun=All" | tee "$tap_dir/said" | jq -e '.kind != "Status"' >/dev/null || { cat "$tap_dir/said"; return 1; }
    done
}
contents() { # that each has after it was written again, as it is
    local path
    for path in $(resources); do
        server "$path" | server -X PUT -d @- "$path" >/dev/null && server "$path/status" | server -X PUT -d @- "$path/status" | jq -S 'del(.metadata.resourceVersion, .metadata.managedFields)' || return 1
    done
}
of_the_older() { # its examples, and what each version has recorded
    local state
    cluster && define $(definitions "$older") && kubectl create --dry-run=server -o json -f "$older/manifests/slipway.clusterserviceversion.yaml" | jq -r '.metadata.annotations["alm-examples"]' |
        jq '{apiVersion: "v1", kind: "List", items: .}' | kubectl create -f - || return 1
    for state in test/golden/operator/state-*; do
        jq --arg name "$(basename "$state")" '.metadata.name = $name | del(.status)' "$state/resource.json" | kubectl create -f - &&
            patch_status "/apis/sro.openshift.io/v1beta1/specialresources/$(basename "$state")" "$(jq -c '{status}' "$state/resource.json")" || return 1
    done
    [ "$(resources | wc -l)" -ge 5 ] && contents >"$tap_dir/contents" && grep -q '"inventory"' "$tap_dir/contents"
}
change() { kubectl create --dry-run=client -o json -f "$newer/manifests/sro.openshift.io_specialresources.yaml" | jq "$1" >"$tap_dir/changed.json"; } # FILTER of the newer definition
taken() { define $(definitions "$newer") && all_valid && contents | diff "$tap_dir/contents" -; }
taken_back() { define $(definitions "$older") && all_valid && contents | diff "$tap_dir/contents" -; }
gone_version_is_found() { change '.spec.versions[0].name = "v1"' && ! define "$tap_dir/changed.json" 2>"$tap_dir/said" && grep 'a stored or served version is gone' "$tap_dir/said"; }
narrower_is_found() { change '.spec.versions[0].schema.openAPIV3Schema.properties.spec.required += ["paused"]' && define "$tap_dir/changed.json" && ! all_valid && define $(definitions "$newer") && all_valid; }
pruned_is_found() {
    change 'del(.spec.versions[0].schema.openAPIV3Schema.properties.status.properties.inventory)' && define "$tap_dir/changed.json" && ! contents | diff "$tap_dir/contents" - >"$tap_dir/said" && grep '^<.*"inventory"' "$tap_dir/said"
}

# ---- what OLM does with a bundle ---------------------------------------------------------------------
csv_of() { kubectl create --dry-run=server -o json -f "$1/manifests/slipway.clusterserviceversion.yaml"; }
# install BUNDLE: its definitions, its other manifests, and of its ClusterServiceVersion the account, the roles and the deployment
install() {
    local f
    define $(definitions "$1") || return 1
    for f in "$1"/manifests/slipway_*.yaml; do kubectl apply -n slipway -f "$f" || return 1; done
    csv_of "$1" | jq '.metadata.name as $name | .spec.install.spec as $install | {apiVersion: "rbac.authorization.k8s.io/v1"} as $rbac | {namespace: "slipway"} as $here |
        def subject: [{kind: "ServiceAccount", name: .serviceAccountName} + $here];
        {apiVersion: "v1", kind: "List", items: (
            [$install.clusterPermissions[], $install.permissions[] | {apiVersion: "v1", kind: "ServiceAccount", metadata: ({name: .serviceAccountName} + $here)}] +
            [$install.clusterPermissions[] | ($rbac + {kind: "ClusterRole", metadata: {name: $name}, rules}),
                ($rbac + {kind: "ClusterRoleBinding", metadata: {name: $name}, roleRef: {apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: $name}, subjects: subject})] +
            [$install.permissions[] | ($rbac + {kind: "Role", metadata: ({name: $name} + $here), rules}),
                ($rbac + {kind: "RoleBinding", metadata: ({name: $name} + $here), roleRef: {apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: $name}, subjects: subject})] +
            [$install.deployments[] | {apiVersion: "apps/v1", kind: "Deployment", metadata: ({name, labels: .label} + $here), spec}])}' | kubectl apply -f - &&
        until_ok 30 rolled_out "$1"
}
rolled_out() {
    [ "$(kubectl -n slipway get deployment slipway -o 'jsonpath={.status.observedGeneration} {.status.updatedReplicas} {.status.availableReplicas} {.spec.template.spec.containers[0].image}')" = \
        "$(kubectl -n slipway get deployment slipway -o 'jsonpath={.metadata.generation}') 2 2 $(csv_of "$1" | jq -r '.spec.install.spec.deployments[0].spec.template.spec.containers[0].image')" ]
}
forget() { # BUNDLE: the rights of a version that another has replaced
    local name
    name=$(name_of "$1") && kubectl delete clusterrole,clusterrolebinding "$name" && kubectl -n slipway delete role,rolebinding "$name"
}
# operator NAME PROGRAM BUNDLE: it begins to stand by, or to lead, as the deployment of the bundle starts it
operator() {
    local args
    mapfile -t args < <(csv_of "$3" | jq -r '.spec.install.spec.deployments[0].spec.template.spec.containers[0].args[]' | sed 's/\(-bind-address\)=.*/\1=0/') && [ ${#args[@]} -gt 3 ] || return 1
    KUBECONFIG=$tap_dir/operator OPERATOR_NAMESPACE=slipway POD_NAME=$1 "$2" "${args[@]}" --no-registries >"$tap_dir/$1.log" 2>&1 &
    echo $! >"$tap_dir/$1.pid"
}
works() { grep -q '"the controller works"' "$tap_dir/$1.log"; }
# kubectl sends no token where there is no TLS; the operator does
operator_kubeconfig() {
    server -X POST -d '{"spec":{"expirationSeconds":86400}}' /api/v1/namespaces/slipway/serviceaccounts/slipway/token | jq -re .status.token >"$tap_dir/token" &&
        sed "s/  user: {}/  user: {token: \"$(cat "$tap_dir/token")\"}/" "$KUBECONFIG" >"$tap_dir/operator" && grep -q 'token: "' "$tap_dir/operator"
}
walked() {
    cluster --authorization rbac && kubectl create namespace slipway && install "$older" && operator_kubeconfig &&
        "$slipway" rbac recipes/nvidia-mig --stand-ins --namespace das-operator $(kubectl api-versions | sed 's/^/-a /') | kubectl apply -f - &&
        "$slipway" configmap recipes/nvidia-mig --packed --namespace slipway --stand-ins | kubectl apply --server-side -f - && operator one "$before" "$older" &&
        resource nvidia-mig cm://slipway/nvidia-mig "$(sed -n 's/^version: //p' recipes/nvidia-mig/Chart.yaml)" | sed 's/^  namespace: .*/  namespace: das-operator/' |
        kubectl apply -f - && until_ok 60 is_ready && recorded_objects && of_the_bundle >"$tap_dir/of_the_bundle" || { tail -n 5 "$tap_dir/one.log"; kubectl get specialresources; return 1; }
}
of_the_bundle() { { kubectl get crd,priorityclass,consolelink -o json; kubectl -n slipway get deployment,service,poddisruptionbudget,serviceaccount,servicemonitor,prometheusrule -o json; } | jq -r '.items[] | select(.metadata.name | test("slipway|sro.openshift|inference")) | "\(.kind) \(.metadata.name) \(.metadata.uid)"' | sort; }
# step FROM TO PROGRAM OLD NEW: bundle NEW takes the place of OLD, and its operator, PROGRAM, that of the one before
step() {
    install "$5" && operator "$2" "$3" "$5" && until_ok 30 test -s "$tap_dir/$2.log" && stop "$1" && until_ok 60 works "$2" && forget "$4" && repaired && until_ok 30 is_ready &&
        nothing_made_anew && of_the_bundle | diff "$tap_dir/of_the_bundle" - || { tail -n 5 "$tap_dir/$2.log"; return 1; }
}
refused_nothing() { ! grep 'is forbidden' "$tap_dir/two.log" "$tap_dir/one.log"; }
all_goes() { # with the resource, by the operator of the bundle
    kubectl delete specialresource nvidia-mig --timeout=60s && [ -z "$(kubectl get daemonsets,deployments -n das-operator -o name)" ]
}

t "the bundle before and the one after it" generated
cat "$tap_dir/out" | sed 's/^/# /'
t "each version of a channel comes to the channel's head" each_comes_to_the_head
t "also without a skipRange, step by step" step_by_step
t "resources of the older version are there" of_the_older
t "the newer definitions drop no version, and take each resource with all that it has" taken
t "so do the older ones after them" taken_back
t "a stored version that would go is found" gone_version_is_found
t "so is a definition that takes no longer what is there" narrower_is_found
t "and one that prunes what is there" pruned_is_found
stop emulated
t "the older operator, with the rights of its bundle, has walked a recipe ($("$before" version))" walked
t "the newer bundle takes its place: nothing is made anew" step one two "$slipway" "$older" "$newer"
t "the older one takes it again" step two three "$before" "$newer" "$older"
t "and the newer one once more" step three one "$slipway" "$older" "$newer"
t "with the rights of its bundle and the recipe's this version is refused nothing" refused_nothing
t "no new revision came of it" unchanged
t "with the resource all of it goes" all_goes
plan
