# The embedded cluster calls the real admission webhook over TLS: a pod that asks for a slice is
# changed as it would be on a cluster, whoever creates it.
. test/tap.sh
slipway=${SLIPWAY:-build/test/slipway}
program=$(dirname "$slipway")/slipway-webhook
export KUBECONFIG=$tap_dir/kubeconfig

start() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=hook \
        -addext subjectAltName=DNS:hook.das.svc -keyout "$tap_dir/tls.key" -out "$tap_dir/tls.crt" 2>/dev/null
    "$program" --log-level=debug --listen=127.0.0.1 --port=0 --tlscert="$tap_dir/tls.crt" --tlskey="$tap_dir/tls.key" \
        --drain=0 --scheduler-name=my-scheduler 2>"$tap_dir/log" &
    echo $! >>"$tap_dir/pids"
    until_ok 20 grep -qs listening "$tap_dir/log" || return 1
    port=$(sed -n 's/.* port=\([0-9]*\).*/\1/p' "$tap_dir/log")
    "$slipway" emulate --platform kubernetes --webhook-address "das/hook=127.0.0.1:$port" --kubeconfig-out "$KUBECONFIG" >"$tap_dir/emu" 2>&1 &
    echo $! >>"$tap_dir/pids"
    until_ok 30 test -s "$KUBECONFIG" && kubectl create namespace das && kubectl apply -f - <<YAML
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: das}
webhooks:
- name: mutate-pod.test.dev
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig:
    caBundle: $(base64 -w0 <"$tap_dir/tls.crt")
    service: {namespace: das, name: hook, path: /mutate-pod}
  rules: [{operations: [CREATE], apiGroups: [""], apiVersions: [v1], resources: [pods]}]
YAML
}

slice() {
    printf 'containers: [{name: c, image: x, resources: {limits: {nvidia.com/mig-1g.5gb: "1"}}}]'
}

own_pod() {
    kubectl create -f - <<YAML && [ "$(kubectl get pod a -o 'jsonpath={.spec.schedulerName}')" = my-scheduler ] &&
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {$(slice)}
YAML
        kubectl get pod a -o 'jsonpath={.spec.containers[0].resources.limits}' | grep -q mig.das.com/1g.5gb
}

plain_pod() { # asks for no slice: left alone
    kubectl create -f - <<'YAML' && [ "$(kubectl get pod b -o 'jsonpath={.spec.schedulerName}')" = default-scheduler ]
apiVersion: v1
kind: Pod
metadata: {name: b}
spec: {containers: [{name: c, image: x}]}
YAML
}

job_pod() { # made by a controller of the cluster, which waits for the answer
    kubectl create -f - <<YAML && until_ok 20 job_has_it
apiVersion: batch/v1
kind: Job
metadata: {name: j}
spec: {template: {spec: {restartPolicy: Never, $(slice)}}}
YAML
}

job_has_it() { kubectl get pods -l job-name=j -o 'jsonpath={.items[*].spec.schedulerName}' | grep -q my-scheduler; }

wrong_ca() { # a caBundle of somebody else's: failurePolicy Fail holds, and says why
    kubectl patch mutatingwebhookconfiguration das --type json \
        -p "[{\"op\":\"remove\",\"path\":\"/webhooks/0/clientConfig/caBundle\"}]" || return 1
    kubectl run c --image x >"$tap_dir/o" 2>&1 && return 1
    cat "$tap_dir/o"
    grep -q 'failed calling webhook "mutate-pod.test.dev".*certificate' "$tap_dir/o"
}

t "a webhook at an address of its own is configured" start
t "a pod that asks for a slice is changed" own_pod
t "a pod that asks for none is not" plain_pod
t "a Job's pod is changed too" job_pod
t "a webhook that cannot be trusted refuses by its failurePolicy" wrong_ca
while read -r pid; do kill "$pid"; done <"$tap_dir/pids"
plan
