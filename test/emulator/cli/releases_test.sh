# slipway releases: which records there are and whether they are used, and ConfigMaps that become Secrets; and that
# commands run no hook of a record that others have changed.
. test/tap.sh
slipway=${SLIPWAY:-build/test/slipway}
export KUBECONFIG=$tap_dir/kubeconfig
trap 'for p in "$tap_dir"/*.pid; do kill "$(cat "$p")" 2>/dev/null; done; rm -rf "$tap_dir"' EXIT

operator() { # KIND
    "$slipway" controller --releases "$1" --allowed-files "$tap_dir" --metrics-bind-address 0 --health-probe-bind-address 0 >>"$tap_dir/controller.log" 2>&1 &
    echo $! >"$tap_dir/controller.pid"
}
no_operator() {
    kill -9 "$(cat "$tap_dir/controller.pid")"
    wait "$(cat "$tap_dir/controller.pid")" 2>/dev/null
    rm "$tap_dir/controller.pid"
}
says() { # WORDS ARGUMENTS...: of slipway
    "$slipway" "${@:2}" >"$tap_dir/o" 2>&1
    grep -q -- "$1" "$tap_dir/o" || { echo "slipway ${*:2} does not say: $1"; cat "$tap_dir/o"; return 1; }
}
exits() { # STATUS ARGUMENTS...
    "$slipway" "${@:2}" >"$tap_dir/o" 2>&1
    local rc=$?
    [ $rc -eq "$1" ] || { echo "exit status $rc, not $1"; cat "$tap_dir/o"; return 1; }
}

start() {
    mkdir -p "$tap_dir/rel/templates"
    printf 'apiVersion: v2\nname: rel\nversion: 0.1.0\n' >"$tap_dir/rel/Chart.yaml"
    cat >"$tap_dir/rel/templates/0000-c.yaml" <<'END'
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
---
apiVersion: v1
kind: Pod
metadata: {name: bye, annotations: {helm.sh/hook: "pre-delete,test"}}
spec: {restartPolicy: Never, containers: [{name: main, image: ubi9}]}
END
    "$slipway" emulate --kubeconfig-out "$KUBECONFIG" >"$tap_dir/emulate" 2>&1 &
    echo $! >"$tap_dir/emulate.pid"
    until_ok 30 test -s "$KUBECONFIG" && "$slipway" run "$tap_dir/rel" --releases none --timeout 60s >/dev/null 2>&1 || return 1
    operator configmap
    until_ok 60 says 'rel  *1  deployed  *ConfigMap rel/sh.helm.release.v1.rel.v1  *yes' releases rel || return 1
    no_operator
}
alone() { exits 3 releases rel --to-secrets --timeout 2s && grep -q 'no operator answers' "$tap_dir/o"; }
moves() {
    operator secret
    exits 0 releases --to-secrets && grep -q "the records of 'rel' are Secrets" "$tap_dir/o" &&
        says 'rel  *1  deployed  *Secret rel/sh.helm.release.v1.rel.v1  *yes' releases &&
        ! kubectl get configmap -n rel sh.helm.release.v1.rel.v1 2>/dev/null
}
forge() { # the hook makes a ClusterRoleBinding
    local release
    release=$(kubectl get secret -n rel sh.helm.release.v1.rel.v1 -o 'jsonpath={.data.release}' | base64 -d | base64 -d | gunzip |
        sed 's/"manifest":"[^"]*kind: Pod[^"]*"/"manifest":"apiVersion: rbac.authorization.k8s.io\/v1\\nkind: ClusterRoleBinding\\nmetadata: {name: evil, annotations: {helm.sh\/hook: \\"pre-delete,test\\"}}\\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}\\n"/' |
        gzip | base64 -w0 | base64 -w0) || return 1
    no_operator
    kubectl patch secret -n rel sh.helm.release.v1.rel.v1 --type merge -p "{\"data\":{\"release\":\"$release\"}}" &&
        says 'sh.helm.release.v1.rel.v1  *no: it was changed' releases rel
}
refused() { # by whoever runs it, with all his rights
    exits 1 test rel || exits 2 test rel || return 1
    grep -q 'is not used: it is not what slipway wrote' "$tap_dir/o" && exits 1 uninstall rel --yes &&
        grep -q 'is not used: it is not what slipway wrote' "$tap_dir/o" && kubectl get configmap -n rel c >/dev/null &&
        ! kubectl get clusterrolebinding evil 2>/dev/null
}
goes() { exits 0 uninstall rel --yes --no-hooks && ! kubectl get specialresource rel 2>/dev/null && ! kubectl get clusterrolebinding evil 2>/dev/null; }

if ! command -v kubectl >/dev/null; then
    skip "slipway releases" "no kubectl here"
else
    t "records are shown" start
    t "without an operator nothing is moved" alone
    t "--to-secrets makes Secrets of ConfigMaps" moves
    t "what others have changed is shown" forge
    t "and none of its hooks is run by test and uninstall" refused
    t "without hooks it goes" goes
fi
plan
