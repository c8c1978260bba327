# slipway emulate --tls: HTTPS with a CA of its own, and who sends what.
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}
export KUBECONFIG=$tap_dir/kubeconfig
command -v kubectl >/dev/null || { skip "HTTPS" "no kubectl here"; plan; }
trap 'stop emulated; rm -rf "$tap_dir"' EXIT

url() { kubectl config view --minify -o 'jsonpath={.clusters[0].cluster.server}'; }
who() { kubectl create -o json -f - "$@" <<<'{"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}' | jq -r .status.userInfo.username; }
token() { kubectl create --raw "/api/v1/namespaces/default/serviceaccounts/$1/token" -f - <<<'{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}' | jq -r .status.token; }
again() { stop emulated; emulated --tls "$@"; }
without() { # FIELD: a kubeconfig without it
    sed "/$1/{s/{token.*/{}/;/$1/d}" "$KUBECONFIG" >"$tap_dir/without"
    ! grep -q "$1" "$tap_dir/without"
}

works() { again && [[ "$(url)" = https://* ]] && [ "$(kubectl get nodes -o name | wc -l)" = 5 ] && [ "$(who)" = kubernetes-admin ]; }
distrusted() { # whoever has not the CA refuses the server
    without certificate-authority-data && ! kubectl --kubeconfig "$tap_dir/without" get nodes >"$tap_dir/said" 2>&1 && grep -qi 'certificate' "$tap_dir/said" &&
        ! "$slipway" status --kubeconfig "$tap_dir/without" >"$tap_dir/said" 2>&1 && grep -qi 'certificate' "$tap_dir/said"
}
names() { # for which the certificate is good
    kubectl config view --raw --minify -o 'jsonpath={.clusters[0].cluster.certificate-authority-data}' | base64 -d >"$tap_dir/ca" && local port=${1:-$(url)} name
    port=${port##*:}
    for name in localhost kubernetes.default.svc; do
        curl -sf --cacert "$tap_dir/ca" --resolve "$name:$port:127.0.0.1" "https://$name:$port/version" >"$tap_dir/said" && jq -e '.major == "1"' "$tap_dir/said" || return 1
    done
    ! curl -sf --cacert "$tap_dir/ca" --resolve "elsewhere:$port:127.0.0.1" "https://elsewhere:$port/version"
}
account() { kubectl create serviceaccount reader && [ "$(who --token "$(token reader)")" = system:serviceaccount:default:reader ]; }
nobody() {
    ! kubectl --token nobodys get pods >"$tap_dir/said" 2>&1 && grep -q Unauthorized "$tap_dir/said" &&
        curl -sfk -X POST -H 'Content-Type: application/json' -d '{"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}' \
            "$(url)/apis/authentication.k8s.io/v1/selfsubjectreviews" >"$tap_dir/said" && jq -e '.status.userInfo.username == "system:anonymous"' "$tap_dir/said"
}
roles() { # with roles an account may what they say, and who sends no token nothing
    again --authorization rbac && kubectl create serviceaccount reader && ! kubectl --token "$(token reader)" get pods >"$tap_dir/said" 2>&1 &&
        grep -q 'User "system:serviceaccount:default:reader" cannot list resource "pods"' "$tap_dir/said" &&
        kubectl create clusterrolebinding reader --clusterrole view --serviceaccount default:reader && kubectl --token "$(token reader)" get pods &&
        [ "$(curl -sk -o /dev/null -w '%{http_code}' "$(url)/api/v1/secrets")" = 403 ]
}
walks() { "$slipway" run recipes/simple-kmod --timeout 40s >"$tap_dir/said" && grep -q 'simple-kmod: Ready' "$tap_dir/said"; }
follows() {
    kubectl run echo --image=i && kubectl wait --for=condition=Ready pod/echo --timeout=20s && kubectl logs -f --pod-running-timeout=10s echo >"$tap_dir/logs" 2>&1 &
    local pid=$!
    until_ok 20 test -s "$tap_dir/logs"
    local rc=$?
    kill $pid 2>/dev/null
    return $rc
}
other_address() { # is in the certificate, too
    again --listen 127.0.0.2:0 && [[ "$(url)" = https://127.0.0.2:* ]] && kubectl get nodes && again --listen 0.0.0.0:0 && kubectl get nodes
}
alone() { ! "$slipway" emulate --tls --rules-only 2>"$tap_dir/said" && grep -q 'rules-only goes with' "$tap_dir/said"; }

t "kubectl trusts the kubeconfig's CA, and is the administrator" works
t "whoever has not the CA refuses the server" distrusted
t "the certificate is good for a Service's names, and this machine's" names
t "a token of an account is that account" account
t "an unknown token is nobody's, and without one who asks is anonymous" nobody
t "roles say what accounts may" roles
t "a recipe is walked" walks
t "logs are followed" follows
t "at another address" other_address
t "rules alone have no server" alone
plan
