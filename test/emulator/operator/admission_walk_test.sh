# The webhook for accounts, called by an API server: the configuration of the chart, at the address of
# a controller. Everybody may do everything on the emulator, so what is seen is that it is asked, and
# that without an answer nothing is written. Who may not is in admission_test.c and test/cluster/trust_test.sh.
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}
if ! command -v kubectl >/dev/null; then echo "ok 1 - webhook # SKIP kubectl is not here"; echo 1..1; exit 0; fi
export KUBECONFIG=$tap_dir/kubeconfig OPERATOR_NAMESPACE=slipway
trap 'kill $(cat "$tap_dir"/*.pid) 2>/dev/null; rm -rf "$tap_dir"' EXIT

start() { # a cluster with the CRDs, and the controller
    "$slipway" emulate --kubeconfig-out "$KUBECONFIG" >/dev/null 2>&1 &
    echo $! >"$tap_dir/emulator.pid"
    mkdir "$tap_dir/cert" && openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=admission -addext subjectAltName=IP:127.0.0.1 \
        -keyout "$tap_dir/cert/tls.key" -out "$tap_dir/cert/tls.crt" 2>/dev/null && until_ok 20 eval 'kubectl get --raw /readyz >/dev/null 2>&1' &&
        kubectl apply -f deploy/crds/sro.openshift.io_specialresources.yaml && kubectl apply -f deploy/crds/sro.openshift.io_specialresourcemodules.yaml || return 1
    "$slipway" controller --metrics-bind-address 127.0.0.1:0 --metrics-secure=false --health-probe-bind-address 0 --admission-bind-address 127.0.0.1:0 \
        --admission-cert-path "$tap_dir/cert" --admission-operator system:serviceaccount:slipway:slipway >"$tap_dir/log" 2>&1 &
    echo $! >"$tap_dir/controller.pid"
    until_ok 20 grep -q 'for=admission' "$tap_dir/log" || { cat "$tap_dir/log"; return 1; }
}
port() { grep -o "$1=[0-9]*" "$tap_dir/log" | head -1 | grep -o '[0-9]*$'; }
configured() {
    "$slipway" render charts/slipway --namespace slipway --set admissionWebhook.enabled=true,admissionPolicy=never -s templates/admission.yaml |
        awk 'function flush() { if (doc ~ /\nkind: ValidatingWebhookConfiguration\n/) printf "%s", doc; doc = "" } $0 == "---" { flush(); next } { doc = doc "\n" $0 } END { flush() }' |
        sed "/^    service:/,/^      port:/d; s|^  clientConfig:|&\n    url: https://127.0.0.1:$(port 'for=admission port')/validate\n    caBundle: $(base64 -w0 <"$tap_dir/cert/tls.crt")|" | kubectl apply -f -
}
resource() {
    kubectl apply -f - <<YAML
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResource
metadata: {name: gpu}
spec: {namespace: gpu, managementState: Unmanaged, set: {kind: Values, apiVersion: v1, step: "$1"}, chart: {name: gpu, version: 0.1.0, repository: {name: none, url: "file:///none"}}}
YAML
}
asked() { # how many SubjectAccessReviews were sent
    curl -sf "http://127.0.0.1:$(port '"serving metrics" at')/metrics" | awk '/^slipway_requests_total.*subjectaccessreviews/ { n += $NF } END { print n + 0 }'
}
each_change() {
    resource a && [ "$(asked)" = 1 ] && kubectl label specialresource gpu step=2 && [ "$(asked)" = 1 ] && resource b && [ "$(asked)" = 2 ] || { asked; tail -3 "$tap_dir/log"; return 1; }
}
nothing_unasked() {
    kill "$(cat "$tap_dir/controller.pid")" && until_ok 20 eval '! kill -0 $(cat "$tap_dir/controller.pid") 2>/dev/null' && ! resource c 2>"$tap_dir/err" && grep 'failed calling webhook' "$tap_dir/err"
}
needs_certificate() { ! "$slipway" controller --metrics-bind-address 0 --health-probe-bind-address 0 --admission-bind-address 127.0.0.1:0 2>"$tap_dir/err" && grep 'admission: it needs a certificate' "$tap_dir/err"; }

t "an API server, and a controller with the webhook" start
t "the chart's configuration names it" configured
t "the API server is asked for each change of what a resource says, and for no other" each_change
t "a write that it cannot answer for is refused" nothing_unasked
t "it does not serve without a certificate" needs_certificate
plan
