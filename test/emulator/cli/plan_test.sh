# slipway plan: every action on a node, before it is done; nothing is written.
. test/tap.sh
slipway=${SLIPWAY:-build/test/slipway}
export KUBECONFIG=$tap_dir/kubeconfig

start() {
    "$slipway" emulate --delays 0 --kubeconfig-out "$KUBECONFIG" >"$tap_dir/emulate" 2>&1 &
    echo $! >"$tap_dir/pid"
    until_ok 30 test -s "$KUBECONFIG"
    "$slipway" run test/emulator/chart/charts/driver --timeout 60s
}

server() { sed -n 's/^ *server: *"\{0,1\}\(http[^"]*\)"\{0,1\}$/\1/p' "$KUBECONFIG"; }

patch() { # JSON
    curl -sf -X PATCH -H 'Content-Type: application/merge-patch+json' -d "$1" \
        "$(server)/apis/sro.openshift.io/v1beta1/specialresources/driver" >/dev/null
}

without_policy() {
    "$slipway" plan driver >"$tap_dir/o"
    [ $? -eq 0 ] && grep 'has no spec.upgradePolicy' "$tap_dir/o"
}

whole() { # every node, one after another, with what is evicted there
    patch '{"spec":{"upgradePolicy":{"autoUpgrade":false,"drain":{"enable":true}}}}' || return 1
    "$slipway" run test/emulator/chart/charts/driver --timeout 60s || return 1
    "$slipway" plan driver --all >"$tap_dir/o"
    [ $? -eq 1 ] || return 1
    cat "$tap_dir/o"
    head -1 "$tap_dir/o" | grep -q '^ROUND  NODE' &&
        [ "$(grep -c ' cordon ' "$tap_dir/o")" -ge 3 ] &&
        [ "$(grep -c ' cordon ' "$tap_dir/o")" -eq "$(grep -c ' uncordon ' "$tap_dir/o")" ] &&
        grep -q 'replace driver  driver/driver-' "$tap_dir/o" && grep -q 'It is paused' "$tap_dir/o"
}

json() {
    "$slipway" plan driver --all -o json >"$tap_dir/o"
    [ $? -eq 1 ] && grep -q '"action": "replace driver"' "$tap_dir/o" && grep -q '"paused": true' "$tap_dir/o"
}

recipe() { # as applying it would be: the same, with a new driver; one label goes and comes
    "$slipway" plan test/emulator/chart/charts/driver --set version=2 >"$tap_dir/o"
    [ $? -eq 1 ] || return 1
    cat "$tap_dir/o"
    [ "$(grep -c ' replace driver ' "$tap_dir/o")" -eq 4 ] &&
        [ "$(grep -c ' label .*state-driver-1000-$' "$tap_dir/o")" -eq 4 ] &&
        [ "$(grep -c ' label .*state-driver-1000=Ready$' "$tap_dir/o")" -eq 4 ] &&
        grep -q 'cordon .*upgrade.slipway.dev/driver=drain' "$tap_dir/o" &&
        ! grep -q 'master-0' "$tap_dir/o"
}

same_recipe() { # what is there already
    "$slipway" plan test/emulator/chart/charts/driver >"$tap_dir/o"
    [ $? -eq 0 ] && grep 'no node needs a new driver' "$tap_dir/o"
}

new_recipe() { # labels in the order of the states, taints before them
    echo 'specialresource: {spec: {taints: [{key: a, value: b, effect: NoSchedule}]}}' >"$tap_dir/v.yaml"
    "$slipway" plan test/emulator/chart/charts/driver --name another -f "$tap_dir/v.yaml" >"$tap_dir/o"
    [ $? -eq 1 ] || return 1
    cat "$tap_dir/o"
    [ "$(grep -c '^1 .* taint  *a=b:NoSchedule$' "$tap_dir/o")" -eq 4 ] &&
        [ "$(grep -c '^2 .* label .*state-another-1000=Ready$' "$tap_dir/o")" -eq 4 ] &&
        [ "$(grep -c '^3 .* label .*state-another-2000=Ready$' "$tap_dir/o")" -eq 4 ]
}

recipe_json() {
    "$slipway" plan test/emulator/chart/charts/driver --name another -o json >"$tap_dir/o"
    [ $? -eq 1 ] && grep -q '"specialresource.openshift.io/state-another-1000": "Ready"' "$tap_dir/o"
}

folder() { # a bare name is a resource's, if there is one, else that of a folder here
    cp -r test/emulator/chart/charts/driver "$tap_dir/driver" && cp -r test/emulator/chart/charts/driver "$tap_dir/fresh" || return 1
    sed -i 's/^name: driver/name: fresh/' "$tap_dir/fresh/Chart.yaml"
    local program
    program=$(realpath "$slipway")
    (cd "$tap_dir" && "$program" plan driver) | grep 'no node needs' &&
        (cd "$tap_dir" && "$program" plan fresh) | grep 'state-fresh-1000=Ready'
}

bad_recipe() {
    "$slipway" plan ./nowhere >"$tap_dir/o" 2>&1
    [ $? -eq 2 ] && grep -q nowhere "$tap_dir/o" &&
        [ "$(wc -l <"$tap_dir/o")" -eq 1 ]
}

warned() { # of resources that take the same nodes, before anything is applied
    patch '{"spec":{"nodeSelector":{"node-role.kubernetes.io/worker":""}}}' || return 1
    echo 'specialresource: {spec: {nodeSelector: {kubernetes.io/hostname: gpu-0}}}' >"$tap_dir/v.yaml"
    "$slipway" run test/emulator/chart/charts/driver --name other -f "$tap_dir/v.yaml" --timeout 2s >/dev/null 2>"$tap_dir/o"
    cat "$tap_dir/o"
    head -1 "$tap_dir/o" | grep -qx 'slipway run: warning: 1 node is selected by driver as well: gpu-0'
}

gone() { # a resource that is removed: every label of its states goes
    patch '{"spec":{"managementState":"Removed"}}' || return 1
    "$slipway" plan driver >"$tap_dir/o"
    [ $? -eq 1 ] && [ "$(grep -c ' label .*state-driver-[12]000-$' "$tap_dir/o")" -eq 8 ]
}

nothing() {
    "$slipway" plan driver >"$tap_dir/o"
    [ $? -eq 0 ] && grep 'no node needs a new driver' "$tap_dir/o"
}

writes_nothing() {
    curl -sf "$(server)/api/v1/nodes" | sed 's/"resourceVersion":"[0-9]*"//' >"$tap_dir/before"
    "$slipway" plan driver --all >/dev/null
    curl -sf "$(server)/api/v1/nodes" | sed 's/"resourceVersion":"[0-9]*"//' >"$tap_dir/after"
    cmp "$tap_dir/before" "$tap_dir/after"
}

unknown() {
    "$slipway" plan nobody >"$tap_dir/o" 2>&1
    [ $? -eq 2 ] && grep nobody "$tap_dir/o"
}

# a vendor's chart that OLM's Subscription makes needless, or a value, before a walk and after it
absent() {
    local why='release node-feature-discovery of namespace node-feature-discovery: chart not installed: OLM installs it (Subscription openshift-nfd/nfd)'
    "$slipway" plan states/nfd >"$tap_dir/o" 2>/dev/null
    grep -Fx "$why" "$tap_dir/o" || { cat "$tap_dir/o"; return 1; }
    "$slipway" plan states/nfd --set mode=observe 2>/dev/null | grep 'chart not installed: somebody else has brought it, or it is not needed$' || return 1
    "$slipway" plan states/nfd --set mode=chart >"$tap_dir/o" 2>/dev/null
    grep '^release node-feature-discovery of namespace node-feature-discovery: install ' "$tap_dir/o" && ! grep 'not installed' "$tap_dir/o" || return 1
    "$slipway" run states/nfd --timeout 60s && "$slipway" plan nfd | grep -Fx "$why" || return 1
    "$slipway" explain nfd node-feature-discovery | grep 'state node-feature-discovery .*Ready .*: chart not installed: OLM installs it'
}

# whose nodes are those with labels of Node Feature Discovery, which the recipe itself installs, cannot be foreseen
awaited() {
    "$slipway" plan recipes/nvidia-gpu >"$tap_dir/o" 2>/dev/null
    grep -x 'no node has these labels before state nfd is ready: feature.node.kubernetes.io/pci-10de.present=true (driver-container, runtime-hook, .*)' "$tap_dir/o" ||
        { cat "$tap_dir/o"; return 1; }
    "$slipway" plan recipes/nvidia-gpu -o json 2>/dev/null |
        jq -e '.awaitedLabels[0] == {state: "driver-container", labels: ["feature.node.kubernetes.io/pci-10de.present=true"]} and ([.awaitedLabels[].state] | index("nfd") == null)' &&
        "$slipway" plan recipes/intel-device-plugins -o json 2>/dev/null | jq -e '.awaitedLabels == [{state: "gpu", labels: ["intel.feature.node.kubernetes.io/gpu=true"]}]'
}
not_awaited() { # what somebody else has installed, and what nodes have, is no news
    "$slipway" plan recipes/nvidia-gpu --set nfd.mode=observe -o json 2>/dev/null | jq -e '.awaitedLabels == []' || return 1
    curl -sf -X PATCH -H 'Content-Type: application/merge-patch+json' -d '{"metadata":{"labels":{"feature.node.kubernetes.io/pci-10de.present":"true"}}}' \
        "$(server)/api/v1/nodes/gpu-0" >/dev/null && "$slipway" plan recipes/nvidia-gpu >"$tap_dir/o" 2>/dev/null
    grep -q 'state-nvidia-gpu' "$tap_dir/o" && ! grep 'no node has these labels' "$tap_dir/o" || return 1
    curl -sf -X PATCH -H 'Content-Type: application/merge-patch+json' -d '{"metadata":{"labels":{"feature.node.kubernetes.io/pci-10de.present":null}}}' "$(server)/api/v1/nodes/gpu-0" >/dev/null
}

t 'a cluster with a driver is there' start
t 'without a policy there is no plan' without_policy
t 'every action on every node is listed' whole
t 'as a document, too' json
t 'what needs nothing says so' nothing
t 'a recipe as it would be applied' recipe
t 'a recipe that is there already needs nothing' same_recipe
t 'a new one: taints and labels, state by state' new_recipe
t 'as a document, too' recipe_json
t 'nothing is written' writes_nothing
t 'a bare name: the resource first, then a folder' folder
t 'a recipe that is not there is named' bad_recipe
t 'run warns of nodes that another resource takes' warned
t 'a resource that goes takes its labels along' gone
t 'a resource that is not there is named' unknown
t 'who waits for labels that the recipe brings is told' awaited
t 'labels that are there already are not awaited' not_awaited
t 'a chart that is not installed is told, with what is there instead' absent
kill "$(cat "$tap_dir/pid")" 2>/dev/null
plan
