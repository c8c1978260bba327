# What two replicas of the operator live through on a real cluster: the API server away in the middle
# of a walk, etcd restarted, the leader killed, a lease that somebody else took. None of it ends a
# controller, and what it looks after is as an undisturbed walk leaves it.
. test/tap.sh
. test/cluster_programs.sh
slipway=${SLIPWAY_TEST:-build/test/slipway}
[ -x "$slipway" ] || slipway=${SLIPWAY:-build/slipway}
restarts=${RESTARTS:-3} chart=$tap_dir/survivor lease=b6ae617b.openshift.io
trap 'for p in $(cat "$tap_dir"/pid.* 2>/dev/null); do kill "$p" 2>/dev/null; done; rm -rf "$tap_dir"' EXIT

make_chart() { # each state a ConfigMap; the second waits for what the test makes
    mkdir -p "$chart/templates"
    printf 'apiVersion: v2\nname: survivor\nversion: 0.1.0\n' >"$chart/Chart.yaml"
    local n
    for n in 0000 0100 0200; do
        printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%s}\ndata: {state: "%s"}\n' $n $n >"$chart/templates/$n-map.yaml"
    done
    for n in $(seq "$restarts"); do # what is deleted again and again, slipway makes less and less often: one for each restart
        printf -- '---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: again-%s}\ndata: {state: again}\n' "$n" >>"$chart/templates/0100-map.yaml"
    done
    cat >>"$chart/templates/0100-map.yaml" <<'YAML'
---
apiVersion: batch/v1
kind: Job
metadata: {name: held, annotations: {specialresource.openshift.io/wait: "true"}}
spec:
  template:
    spec:
      nodeSelector: {survivor: go-on}
      restartPolicy: Never
      tolerations: [{operator: Exists}]
      containers: [{name: main, image: "slipway.local/done:1", imagePullPolicy: Never}]
YAML
    mkdir -p "$tap_dir/root" && printf 'int main(void)\n{\n    return 0;\n}\n' >"$tap_dir/done.c" &&
        gcc -static -Os -o "$tap_dir/root/done" "$tap_dir/done.c" && hack/cluster.sh image slipway.local/done:1 "$tap_dir/root" /done
}

replica() { # NAME
    POD_NAME=$1 OPERATOR_NAMESPACE=default "$slipway" controller --legacy-rights --leader-elect --metrics-bind-address 0 \
        --health-probe-bind-address 0 >"$tap_dir/log.$1" 2>&1 &
    echo $! >"$tap_dir/pid.$1"
}
alive() { kill -0 "$(cat "$tap_dir/pid.$1")"; }
holder() { kubectl -n default get lease $lease -o 'jsonpath={.spec.holderIdentity}'; }
leads() { [[ "$(holder)" == *"$1"* ]]; }
phase() { kubectl get specialresource survivor -o 'jsonpath={.status.state}'; }
ready() { [[ "$(phase)" == Ready:* ]]; }
has() { kubectl -n survivor get configmap "$1" -o 'jsonpath={.data.state}' 2>/dev/null | grep -q .; }
# every object of the recipe, and nobody else's: what must be the same after each blow
picture() { kubectl -n survivor get configmaps,jobs -o 'jsonpath={range .items[*]}{.kind} {.metadata.name} {.data.state} {.status.succeeded}{"\n"}{end}' | grep -v root-ca; }

starts() {
    make_chart && kubectl apply -f deploy/crds/sro.openshift.io_specialresources.yaml &&
        established crd/specialresources.sro.openshift.io || return 1
    kubectl -n default delete lease $lease --ignore-not-found
    replica one
    until_ok 30 leads one || { cat "$tap_dir/log.one"; return 1; }
    replica two
    kubectl apply -f - <<YAML
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResource
metadata: {name: survivor}
spec:
  namespace: survivor
  chart: {name: survivor, version: 0.1.0, repository: {name: r, url: "file://$chart"}}
YAML
    until_ok 60 has c0000 && until_ok 60 kubectl -n survivor get job held
}

server_away() { # longer than a lease lasts
    program_again kube-apiserver 20 && until_ok 60 kubectl get --raw /readyz && alive one && alive two || return 1
    kubectl label nodes --all survivor=go-on && until_ok 120 ready || { phase; tail -5 "$tap_dir"/log.*; return 1; }
    picture >"$tap_dir/calm" && cat "$tap_dir/calm" && [ "$(wc -l <"$tap_dir/calm")" -ge 4 ]
}

# Killed and started again and again while objects go and come: the first answers of an API server that
# has just started are 403, since it has not read the roles yet. RESTARTS=50 for a longer look.
server_again_and_again() {
    local n
    for n in $(seq "$restarts"); do
        kubectl -n survivor delete configmap "again-$n" --wait=false &&
            program_again kube-apiserver 0 && until_ok 60 kubectl get --raw /readyz &&
            until_ok 60 has "again-$n" && until_ok 60 ready || { echo "restart $n"; phase; return 1; }
    done
    alive one && alive two && picture | diff "$tap_dir/calm" -
}

mended() { # what is deleted comes back: somebody leads, and watches
    kubectl -n survivor delete configmap c0000 && until_ok 60 has c0000 && until_ok 60 ready && picture | diff "$tap_dir/calm" -
}

etcd_again() {
    program_again etcd 3 && until_ok 60 kubectl get --raw /readyz && alive one && alive two && until_ok 60 eval 'leads one || leads two' && mended
}

leader_killed() {
    local first=one other=two
    leads one || { first=two other=one; }
    kill -KILL "$(cat "$tap_dir/pid.$first")" && until_ok 30 leads $other && mended
}

lease_taken() { # it steps down, stays, and leads again when the lease has run out
    local left=one
    leads one || left=two
    kubectl -n default patch lease $lease --type merge -p "{\"spec\":{\"holderIdentity\":\"somebody\",\"renewTime\":\"$(date -u +%FT%T.000000Z)\"}}" &&
        until_ok 30 grep -qi 'not leading' "$tap_dir/log.$left" || { tail "$tap_dir/log.$left"; return 1; }
    alive $left && until_ok 60 leads $left && mended
}

goes() {
    kubectl delete specialresource survivor --timeout=240s && until_ok 60 eval '! kubectl get namespace survivor 2>/dev/null'
    local rc=$?
    kubectl label nodes --all survivor-
    kubectl -n default delete lease $lease --ignore-not-found
    return $rc
}

if [ -z "$(kubectl get nodes -o name)" ]; then
    skip "what replicas live through" "no node in this cluster"
    plan
fi
t "two replicas, one leads, and a walk stands at a gate" starts
[ $tap_bad = 0 ] || { cat "$tap_dir"/log.*; plan; }
t "the API server is away for longer than a lease, and the walk goes on" server_away
t "the API server is killed and started again and again: all is Ready each time" server_again_and_again
t "etcd is restarted" etcd_again
t "the leader is killed: the other one takes over" leader_killed
t "a lease that somebody took: it steps down, stays, and leads again" lease_taken
t "what was made goes" goes
[ $tap_bad = 0 ] || for f in "$tap_dir"/log.*; do tail -n 20 "$f" | sed 's/^/# /'; done
plan
