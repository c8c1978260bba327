#!/bin/bash
# The webhook's state without cert-manager: slipway makes the certificate and puts its CA into the
# configuration; with cert-manager nothing of that is there.
cd "$(dirname "$0")/../../.." || exit 1
. test/tap.sh
slipway=${SLIPWAY_RELEASE:-build/slipway}
dir=$(mktemp -d)
"$slipway" emulate --platform kubernetes --kube-version 1.35 --kubeconfig-out "$dir/kubeconfig" >"$dir/log" 2>&1 &
emulator=$!
trap 'kill $emulator; wait; rm -rf "$dir" "$tap_dir"' EXIT
until_ok 30 test -s "$dir/kubeconfig"
export KUBECONFIG=$dir/kubeconfig

walked() {
    timeout 120 "$slipway" run recipes/nvidia-mig --set webhook.certificates=slipway,cert-manager.enabled=false >"$dir/run" 2>&1 ||
        { tail -20 "$dir/run"; return 1; }
    ! grep -q 'state cert-manager' "$dir/run"
}
ns() { kubectl get secret -A -o 'jsonpath={range .items[*]}{.metadata.namespace} {.metadata.name}{"\n"}{end}' | awk '$2 == "webhook-server-cert" { print $1 }'; }
field() { kubectl -n "$(ns)" get secret webhook-server-cert -o "jsonpath={.data.$1}" | base64 -d; }
signed() {
    field 'tls\.crt' >"$dir/crt" && field 'ca\.crt' >"$dir/ca" && field 'tls\.key' | openssl pkey -noout &&
        openssl verify -CAfile "$dir/ca" "$dir/crt" && openssl x509 -in "$dir/crt" -noout -ext subjectAltName | grep "das-operator-webhook.$(ns).svc"
}
injected() {
    kubectl get mutatingwebhookconfiguration das-mutating-webhook-configuration -o 'jsonpath={.webhooks[0].clientConfig.caBundle}' |
        base64 -d | diff - "$dir/ca"
}
other() { "$slipway" render states/webhook --set global.slicing=deviceplugin | grep -q 'kind: Certificate' && ! "$slipway" render states/webhook --set global.slicing=deviceplugin | grep -q 'slipway.dev/serving-cert'; }
refused() { ! "$slipway" render states/webhook --set global.slicing=deviceplugin --set certificates=nobody 2>"$dir/err" && grep -q 'neither cert-manager nor slipway' "$dir/err"; }

t "the recipe walks without cert-manager" walked
t "the certificate is for the Service, and signed by the CA beside it" signed
t "the configuration trusts that CA" injected
t "with cert-manager it is cert-manager's" other
t "anything else is refused" refused
plan
