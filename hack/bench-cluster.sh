# bench-cluster.sh: sourced by the scripts that measure against a real API server, where cluster.sh has
# built one. Ends them where there is none. bench_cluster brings up a new cluster without a node.
bin=${KUBEBUILDER_ASSETS:-${SLIPWAY_CACHE:-$HOME/.cache/slipway}/bin}
[ -x "$bin/kube-scheduler" ] || { echo "$(basename "$0" .sh): no Kubernetes in $bin (hack/cluster.sh build)" >&2; exit 0; }
dir=$(mktemp -d)
export SLIPWAY_CLUSTER_DIR=$dir/cluster
pids=""
end() {
    local p
    for p in $pids; do kill "$p" 2>/dev/null || true; done
    hack/cluster.sh down 2>/dev/null
    rm -rf "$dir"
}
trap end EXIT

# KUBECONFIG is the administrator's; $deployed that of a ServiceAccount: whom a cluster runs has its
# token, which the API server knows again; a client's certificate it checks with every request.
bench_cluster() {
    hack/cluster.sh down 2>/dev/null
    KUBECONFIG=$(hack/cluster.sh up --no-node 2>/dev/null)
    export KUBECONFIG
    deployed=$dir/deployed
    local token
    kubectl -n kube-system create serviceaccount bench >/dev/null
    kubectl create clusterrolebinding bench --clusterrole=cluster-admin --serviceaccount=kube-system:bench >/dev/null
    # servers from 1.24 on give no token that stays without being asked
    printf 'apiVersion: v1\nkind: Secret\ntype: kubernetes.io/service-account-token\nmetadata: {name: bench, annotations: {kubernetes.io/service-account.name: bench}}\n' |
        kubectl -n kube-system create -f - >/dev/null
    until token=$(kubectl -n kube-system get secret bench -o 'jsonpath={.data.token}' | base64 -d) && [ -n "$token" ] &&
        kubectl get serviceaccount default >/dev/null 2>&1; do sleep 0.2; done
    kubectl config view --raw --flatten | sed '/client-certificate-data:/d; /client-key-data:/d' >"$deployed"
    kubectl --kubeconfig "$deployed" config set-credentials "$(kubectl config view -o 'jsonpath={.users[0].name}')" --token="$token" >/dev/null
}

# The middle of what `measure` has written to $dir/runs-NODES
median() { # NODES COLUMN
    cut -d ' ' -f "$2" "$dir/runs-$1" | sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# measure each number of nodes $repeat times, upwards and downwards in turn, then tell of each
in_turns() { # NODES...
    local turn=$* n
    for _ in $(seq "$repeat"); do
        for n in $turn; do measure "$n"; done
        turn=$(printf '%s\n' $turn | tac)
    done
    for n; do tell "$n"; done
}
