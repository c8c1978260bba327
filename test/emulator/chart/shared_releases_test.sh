# What several recipes use, in its details: a controller that is killed while it hands over, versions that do not go
# together, what the commands say and do.
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}
export KUBECONFIG=$tap_dir/kubeconfig
command -v kubectl >/dev/null || { skip "shared releases" "no kubectl here"; plan; }
trap 'stop operating; stop emulated; rm -rf "$tap_dir"' EXIT
recipe() { printf '%s' "$PWD/recipes/$1"; }
come() { resource "$1" "file://$PWD/recipes/$1" 0.1.0 | kubectl apply -f - && ready "$1"; }
is_ready() { [ "$(kubectl get specialresource "$1" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}')" = True ]; }
ready() { until_ok 30 is_ready "$1" || { kubectl get specialresource "$1" -o json | jq -r '.status.conditions[].message'; tail -5 "$tap_dir/log"; return 1; }; }
objects() { # of cert-manager and Node Feature Discovery
    kubectl get namespaces,customresourcedefinitions,clusterroles,clusterrolebindings,roles,rolebindings,serviceaccounts,services,deployments,daemonsets -A -o json |
        jq -r '.items[] | select(.metadata.labels["specialresource.openshift.io/owned"] == "true" and (.metadata | tostring | test("cert-manager|nfd|node-feature"))) |
            select(.metadata.namespace != "nvidia-mig") | "\(.kind) \(.metadata.name) \(.metadata.uid)"' | sort
}
entry() { kubectl get namespace "$1" -o json | jq -e ".metadata.annotations[\"slipway.dev/shared-releases\"] | fromjson | .[\"$1\"] | $2" >/dev/null; }
# Kubernetes 1.33: there the emulator has a GPU operator of its chart already, which is observed.
begin() { stop operating; stop emulated; emulated --platform kubernetes --kube-version 1.33 && operating --allowed-files "$PWD" "$@"; }

# the operator is killed again and again until the deletion is over: what it has done is found, and goes on. Writes
# take their time, so that it is in the middle of handing over
killed() {
    echo 'faults: [{verb: patch, delay: 150ms}]' >"$tap_dir/slow.yaml"
    stop operating; stop emulated
    emulated --platform kubernetes --kube-version 1.33 --faults "$tap_dir/slow.yaml" && operating --allowed-files "$PWD" || return 1
    come nvidia-mig && come intel-device-plugins && objects >"$tap_dir/before" && [ -s "$tap_dir/before" ] || return 1
    kubectl delete specialresource nvidia-mig --wait=false
    kill_until_deleted nvidia-mig && until_ok 20 handed_over || return 1
    ready intel-device-plugins && objects | diff "$tap_dir/before" - || return 1
    kubectl delete specialresource intel-device-plugins --timeout=60s && until_ok 10 nothing
}
hands_over() { entry cert-manager 'has("from")' || entry node-feature-discovery 'has("from")'; }
handed_over() { entry cert-manager '(has("from") | not) and .users[0].name == "intel-device-plugins"'; }
is_deleted() { ! kubectl get specialresource "$1" >/dev/null 2>&1; }
nothing() { [ -z "$(objects)" ]; }

other_version() {
    begin && come nvidia-gpu || return 1
    cp -r recipes states "$tap_dir/" && rm -rf "$tap_dir/recipes/nvidia-gpu"
    sed -i 's/version: 0.19.0/version: 0.18.3/' "$tap_dir/states/nfd/Chart.yaml"
    stop operating
    operating --allowed-files "$PWD" --allowed-files "$tap_dir"
    resource intel-device-plugins "file://$tap_dir/recipes/intel-device-plugins" 0.1.0 | kubectl apply -f -
    until_ok 20 refused || { kubectl get specialresource intel-device-plugins -o json | jq .status; return 1; }
    ! kubectl get namespace intel-device-plugins 2>/dev/null && ! kubectl get namespace cert-manager 2>/dev/null
}
refused() {
    kubectl get specialresource intel-device-plugins -o json | jq -r '.status.conditions[] | select(.type == "Errored" and .status == "True") | .reason + ": " + .message' |
        grep 'SharedReleaseVersion: .*node-feature-discovery: resource intel-device-plugins pins version 0.18.3, resource nvidia-gpu pins version 0.19.0'
}

run_follows() { # `slipway run`, one after the other, and uninstalled in that order
    stop operating; stop emulated
    emulated --platform kubernetes --kube-version 1.33 || return 1
    "$slipway" run recipes/nvidia-mig --timeout 60s -o json >/dev/null && "$slipway" run recipes/intel-device-plugins --timeout 60s -o json >/dev/null || return 1
    entry node-feature-discovery '[.users[].name] == ["nvidia-mig", "intel-device-plugins"]' && objects >"$tap_dir/before"
}
# its owner is gone by force: `slipway run` takes over what is there, as the operator does
run_takes_over() {
    begin && come nvidia-mig && come intel-device-plugins && kept_uids >"$tap_dir/before" || return 1
    lose nvidia-mig
    "$slipway" run recipes/intel-device-plugins --timeout 60s -o json 2>"$tap_dir/err" >/dev/null || { cat "$tap_dir/err"; return 1; }
    grep 'shared release cert-manager/cert-manager: resource nvidia-mig is gone and does not count any more' "$tap_dir/err" &&
        until_ok 10 taken_over && kept_uids | diff "$tap_dir/before" - || return 1
    begin && come nvidia-mig && kept_uids >"$tap_dir/before" && lose nvidia-mig || return 1 # nobody else is there
    "$slipway" run recipes/intel-device-plugins --timeout 60s -o json 2>"$tap_dir/err" >/dev/null || { cat "$tap_dir/err"; return 1; }
    taken_over && kept_uids | grep -v ' nvidia-mig ' | diff "$tap_dir/before" -
}
said() {
    "$slipway" plan recipes/nvidia-gpu | grep '^shared release node-feature-discovery/node-feature-discovery 0.19.0: shared with nvidia-mig, intel-device-plugins; owner nvidia-mig$' &&
        "$slipway" plan intel-device-plugins | grep '^shared release cert-manager/cert-manager 1.20.2: shared with nvidia-mig; owner nvidia-mig$' &&
        [ "$("$slipway" plan intel-device-plugins -o json | jq -r '.sharedReleases | length')" = 2 ] &&
        "$slipway" diff recipes/nvidia-gpu >"$tap_dir/diff" 2>/dev/null
    grep '^# shared release node-feature-discovery/node-feature-discovery' "$tap_dir/diff" && ! grep -i 'daemonset.*node-feature' "$tap_dir/diff"
}
uninstalled() {
    "$slipway" uninstall nvidia-mig --plan | grep "keep DaemonSet node-feature-discovery/node-feature-discovery-worker: it is resource intel-device-plugins's now" || return 1
    entry node-feature-discovery '.users[0].name == "nvidia-mig"' || return 1 # nothing was written
    "$slipway" uninstall nvidia-mig --yes && objects | diff "$tap_dir/before" - || return 1
    entry node-feature-discovery '.users == [.users[0]] and .users[0].name == "intel-device-plugins" and (has("from") | not)' || return 1
    "$slipway" run recipes/intel-device-plugins --timeout 60s -o json >/dev/null && objects | diff "$tap_dir/before" -
}
uninstalled_last() { "$slipway" uninstall intel-device-plugins --yes && until_ok 10 nothing; }

# a definition of which somebody has an object stays, with the object, and is taken again
certificate() { printf 'apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: mine, namespace: default}\nspec: {secretName: mine, dnsNames: [mine], issuerRef: {name: mine}}\n'; }
kept() {
    begin && come intel-device-plugins && certificate | kubectl apply -f - || return 1
    local uid
    uid=$(kubectl get certificate/mine -o 'jsonpath={.metadata.uid}')
    kubectl delete specialresource intel-device-plugins --timeout=60s || return 1
    [ "$(kubectl get certificate/mine -o 'jsonpath={.metadata.uid}')" = "$uid" ] && ! kubectl get crd issuers.cert-manager.io 2>/dev/null || return 1
    kubectl get events -A | grep 'DefinitionKept.*certificates.cert-manager.io stays: Certificate default/mine' || return 1
    come nvidia-mig && entry cert-manager '.users[0].name == "nvidia-mig"' && kubectl -n cert-manager get deployment cert-manager || return 1
    [ "$(kubectl get certificate/mine -o 'jsonpath={.metadata.uid}')" = "$uid" ] && kubectl delete certificate/mine
    kubectl delete specialresource nvidia-mig --timeout=60s && until_ok 10 nothing && ! kubectl get crd certificates.cert-manager.io 2>/dev/null
}

# a resource that waits for something else has not begun: it is not in the way of others
blocked() {
    begin || return 1
    { resource nvidia-mig "file://$PWD/recipes/nvidia-mig" 0.1.0
      printf '  dependencies: [{chart: {name: absent, version: 1.0.0, repository: {name: here, url: "file://%s/absent"}}}]\n' "$PWD"; } | kubectl apply -f -
    until_ok 20 says nvidia-mig "dependency absent" && ! kubectl get namespace cert-manager 2>/dev/null || return 1
    come intel-device-plugins && entry cert-manager '[.users[].name] == ["intel-device-plugins"]' &&
        entry node-feature-discovery '[.users[].name] == ["intel-device-plugins"]' || return 1
    kubectl delete specialresource intel-device-plugins --timeout=60s && ! kubectl get namespace cert-manager 2>/dev/null || return 1
    come intel-device-plugins
    kubectl patch specialresource nvidia-mig --type=merge -p '{"spec":{"dependencies":null}}'
    ready nvidia-mig && entry cert-manager '[.users[].name] == ["intel-device-plugins", "nvidia-mig"]'
}
# a state before it is stuck: the release is claimed, or joined, when its state's turn comes, however often the
# controller is killed then
late() {
    begin --allowed-files "$PWD,$tap_dir" && mkdir -p "$tap_dir/late/charts/first/templates" && cp -r states "$tap_dir/" || return 1
    printf 'apiVersion: v2\nname: late\nversion: 0.1.0\nannotations: {slipway.dev/wait: all}\ndependencies:\n- {name: first, version: 0.1.0}\n- {name: cert-manager, version: 0.1.0, repository: "file://../states/cert-manager", depends-on: [first]}\n' \
        >"$tap_dir/late/Chart.yaml"
    printf 'apiVersion: v2\nname: first\nversion: 0.1.0\nannotations: {slipway.dev/wait: all}\n' >"$tap_dir/late/charts/first/Chart.yaml"
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: go, namespace: default, annotations: {slipway.dev/observe: "true"}}\n' >"$tap_dir/late/charts/first/templates/go.yaml"
    resource late "file://$tap_dir/late" 0.1.0 | kubectl apply -f -
    until_ok 20 state_says cert-manager.cert-manager 'waits for first' && ! kubectl get namespace cert-manager 2>/dev/null || return 1
    come intel-device-plugins && entry cert-manager '[.users[].name] == ["intel-device-plugins"]' || return 1
    kubectl delete specialresource intel-device-plugins --timeout=60s && ! kubectl get namespace cert-manager 2>/dev/null || return 1
    come intel-device-plugins && killed_as_it_comes && entry cert-manager '[.users[].name] == ["intel-device-plugins", "late"]' || return 1
    kubectl delete specialresource late intel-device-plugins --timeout=60s && until_ok 10 nothing || return 1
    kubectl delete configmap go && resource late "file://$tap_dir/late" 0.1.0 | kubectl apply -f - && until_ok 20 state_says cert-manager.cert-manager 'waits for first' || return 1
    killed_as_it_comes && entry cert-manager '[.users[].name] == ["late"]' && kubectl -n cert-manager get deployment cert-manager || return 1
    kubectl delete specialresource late --timeout=60s && until_ok 10 nothing
}
killed_as_it_comes() {
    local n=0
    kubectl create configmap go
    while [ $n -lt 6 ]; do
        sleep "0.$((10 + n * 13 % 60))"
        kill -9 "$(cat "$tap_dir/operating.pid")"
        operating --allowed-files "$PWD,$tap_dir"
        n=$((n + 1))
    done
    ready late
}
state_says() { kubectl get specialresource late -o json | jq -r --arg name "$1" '.status.states[] | select(.name == $name).message' | grep -F "$2"; }
says() { kubectl get specialresource "$1" -o json | jq -r '.status.conditions[].message' | grep -F "$2"; }

# its finalizer was removed by force: who is left takes over what is there, however often the controller is killed
forced() {
    local n=0 all
    echo 'faults: [{verb: patch, delay: 100ms}]' >"$tap_dir/slow.yaml"
    begin_slow || return 1
    come nvidia-mig && come intel-device-plugins && kept_uids >"$tap_dir/before" && [ "$(wc -l <"$tap_dir/before")" -gt 4 ] || return 1
    lose nvidia-mig
    while [ $n -lt 8 ]; do
        operating --allowed-files "$PWD"
        sleep "0.$((20 + n * 17 % 70))"
        kill -9 "$(cat "$tap_dir/operating.pid")"
        n=$((n + 1))
    done
    operating --allowed-files "$PWD"
    until_ok 30 taken_over && ready intel-device-plugins && kept_uids | diff "$tap_dir/before" - || return 1
    kubectl delete specialresource intel-device-plugins --timeout=60s && until_ok 10 nothing
}
begin_slow() {
    stop operating; stop emulated
    emulated --platform kubernetes --kube-version 1.33 --faults "$tap_dir/slow.yaml" && operating --allowed-files "$PWD"
}
lose() { # RESOURCE: by force, while no controller runs
    stop operating
    kubectl delete specialresource "$1" --wait=false && kubectl patch specialresource "$1" --type=merge -p '{"metadata":{"finalizers":null}}' && until_ok 10 is_deleted "$1"
}
kept_uids() { objects | grep -E '^(Namespace|CustomResourceDefinition node)'; } # what has no owner reference, which the garbage collector would follow
taken_over() {
    entry cert-manager '[.users[].name] == ["intel-device-plugins"] and (has("former") | not)' &&
        entry node-feature-discovery '[.users[].name] == ["intel-device-plugins"] and (has("former") | not)' &&
        ! kubectl get namespaces,customresourcedefinitions -o json | jq -r '.items[] | select(.metadata.name | test("cert-manager|nfd|node-feature")) |
            .metadata.annotations["slipway.dev/resource"]' | grep -vx intel-device-plugins
}

# nobody is left when it goes by force: the next one that comes takes over all the same
abandoned() {
    begin && come nvidia-mig && kept_uids >"$tap_dir/before" || return 1
    lose nvidia-mig
    operating --allowed-files "$PWD"
    come intel-device-plugins && until_ok 10 taken_over && kept_uids | grep -v ' nvidia-mig ' | diff "$tap_dir/before" - || return 1
    kubectl delete specialresource intel-device-plugins --timeout=60s && until_ok 10 nothing
}

t "a controller that is killed while it hands over" killed
t "who waits for something else claims nothing" blocked
t "who is stuck in a state before claims nothing" late
t "an owner that lost its finalizer by force, and a controller that is killed" forced
t "the only owner lost its finalizer by force" abandoned
t "another version is refused, with both names" other_version
t "a definition of which somebody has an object stays" kept
t "slipway run takes over from an owner that is gone" run_takes_over
t "slipway run follows the same way" run_follows
t "plan and diff say who shares" said
status_says() { # an empty state of a release is not taken for one that works
    "$slipway" status intel-device-plugins | grep -E "^nfd.node-feature-discovery +Ready +0/0 .*the release is resource nvidia-mig's$" &&
        ! "$slipway" status nvidia-mig | grep 'release is resource' &&
        "$slipway" status nvidia-mig | grep -E '^gpu-operator.gpu-operator +Ready +0/0 .*chart not installed: ' &&
        ! "$slipway" status nvidia-mig | grep -E '^(nfd|cert-manager).* not installed'
}
t "status says whose a release is" status_says
t "slipway uninstall hands over" uninstalled
t "the last one takes all" uninstalled_last
plan
