# The embedded cluster calls the real admission webhook over TLS: a pod that asks for a slice is
# changed as it would be on a cluster, whoever creates it.
. test/tap.sh
slipway=${SLIPWAY:-build/test/slipway}
program=$(dirname "$slipway")/slipway-webhook
export KUBECONFIG=$tap_dir/kubeconfig

port() { sed -n 's/.* port=\([0-9]*\).*/\1/p' "$tap_dir/log"; } # each test has a shell of its own
serve() { # PORT FLAGS...
    local at=$1
    shift
    : >"$tap_dir/log"
    "$program" --log-level=debug --listen=127.0.0.1 --port="$at" --tlscert="$tap_dir/tls.crt" --tlskey="$tap_dir/tls.key" \
        --drain=0 --metrics-bind-address=127.0.0.1:0 --metrics-secure=false --scheduler-name=my-scheduler "$@" 2>"$tap_dir/log" &
    echo $! | tee "$tap_dir/webhook-pid" >>"$tap_dir/pids"
    until_ok 20 grep -qs listening "$tap_dir/log"
}
no_longer() { kill "$(cat "$tap_dir/webhook-pid")" && until_ok 20 eval '! curl -sk "https://127.0.0.1:$(port)/healthz"'; }

cluster() { # NAMESPACE FLAGS...: a new one in place of that before, whose webhook is in that namespace
    [ ! -f "$tap_dir/emulator-pid" ] || kill "$(cat "$tap_dir/emulator-pid")"
    rm -f "$KUBECONFIG"
    "$slipway" emulate --webhook-address "$1/das-operator-webhook=127.0.0.1:$(port)" "${@:2}" --kubeconfig-out "$KUBECONFIG" >"$tap_dir/emu" 2>&1 &
    echo $! | tee "$tap_dir/emulator-pid" >>"$tap_dir/pids"
    until_ok 30 test -s "$KUBECONFIG" && kubectl create namespace "$1"
}

start() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=hook \
        -addext subjectAltName=DNS:das-operator-webhook.das.svc -keyout "$tap_dir/tls.key" -out "$tap_dir/tls.crt" 2>/dev/null
    serve 0 || return 1
    cluster das --platform kubernetes && kubectl apply -f - <<YAML
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: das}
webhooks:
- name: mutate-pod.test.dev
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig:
    caBundle: $(base64 -w0 <"$tap_dir/tls.crt")
    service: {namespace: das, name: das-operator-webhook, path: /mutate-pod}
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

# A review of more than 256 KiB is read in steps.
large_pod() {
    local pid
    head -c 500000 /dev/zero | tr '\0' x >"$tap_dir/xs"
    {
        printf '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":"CREATE","kind":{"group":"","version":"v1","kind":"Pod"},'
        printf '"object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"large","annotations":{"a":"%s"}},' "$(cat "$tap_dir/xs")"
        printf '"spec":{"containers":[{"name":"c","image":"x","resources":{"limits":{"nvidia.com/mig-1g.5gb":"1"}}}]}}}}'
    } >"$tap_dir/review"
    for pid in 1 2 3 4 5; do # one after the other, and none waits for its answer
        timeout 0.05 curl -sk -H 'Content-Type: application/json' --data-binary @"$tap_dir/review" "https://127.0.0.1:$(port)/mutate-pod" >/dev/null
    done
    curl -sk -H 'Content-Type: application/json' --data-binary @"$tap_dir/review" "https://127.0.0.1:$(port)/mutate-pod" >"$tap_dir/answer"
    grep -q '"patch":' "$tap_dir/answer" && [ "$(curl -sk "https://127.0.0.1:$(port)/healthz")" = ok ]
}

wrong_ca() { # a caBundle of somebody else's: failurePolicy Fail holds, and says why
    kubectl patch mutatingwebhookconfiguration das --type json \
        -p "[{\"op\":\"remove\",\"path\":\"/webhooks/0/clientConfig/caBundle\"}]" || return 1
    kubectl run c --image x >"$tap_dir/o" 2>&1 && return 1
    cat "$tap_dir/o"
    grep -q 'failed calling webhook "mutate-pod.test.dev".*certificate' "$tap_dir/o"
}

# ---- the configuration that the state webhook ships, in its own namespace das
shipped() { # VERSION
    kubectl delete mutatingwebhookconfiguration --all && "$slipway" render states/webhook --namespace das --kube-version "$1" --set certificates=slipway |
        awk -v ca="$(base64 -w0 <"$tap_dir/tls.crt")" 'function flush() {
                if (doc ~ /kind: MutatingWebhookConfiguration/) { sub(/clientConfig:\n/, "clientConfig:\n    caBundle: " ca "\n", doc); printf "%s", doc }
                doc = "" }
            $0 == "---" { flush(); next } { doc = doc $0 "\n" } END { flush() }' \
            >"$tap_dir/shipped.yaml"
    grep -q 'failurePolicy: Fail' "$tap_dir/shipped.yaml" && kubectl apply -f "$tap_dir/shipped.yaml"
}
asked() { curl -s "http://127.0.0.1:$(sed -n 's/.*serving metrics.* at=\([0-9]*\).*/\1/p' "$tap_dir/log")/metrics" | awk '/^slipway_webhook_admissions_total/ { n += $2 } END { print n + 0 }'; }
# pod_in NAMESPACE NAME SPEC: whether the webhook was asked is "1" or "0" in $tap_dir/asked
pod_in() {
    local before
    before=$(asked)
    printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: %s, namespace: %s}\nspec: {%s}\n' "$2" "$1" "$3" | kubectl create -f - || return 1
    echo $(($(asked) - before)) | tee "$tap_dir/asked"
}
resource_of() { kubectl -n "$1" get pod "$2" -o 'jsonpath={.spec.containers[*].resources.limits}{.spec.initContainers[*].resources.limits}'; }
not_asked() { # pods without slices, and those of namespaces that must come up without it
    pod_in default none 'containers: [{name: c, image: x}]' && grep -qx 0 "$tap_dir/asked" &&
        pod_in default whole 'containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: "1"}}}]' && grep -qx 0 "$tap_dir/asked" &&
        [ "$(kubectl get pod whole -o 'jsonpath={.spec.schedulerName}')" = default-scheduler ] || return 1
    local ns
    for ns in das kube-system cert-manager openshift-operators openshift-marketplace das-operator; do
        kubectl get namespace $ns 2>/dev/null || kubectl create namespace $ns || return 1
        pod_in $ns slice "$(slice)" && grep -qx 0 "$tap_dir/asked" && resource_of $ns slice | grep -q nvidia.com/mig-1g.5gb || return 1
    done
}
asked_about() { # limits, requests alone, init containers; NVIDIA's name or ours
    pod_in default s1 "$(slice)" && grep -qx 1 "$tap_dir/asked" && resource_of default s1 | grep -q mig.das.com/1g.5gb &&
        pod_in default s2 'containers: [{name: c, image: x, resources: {limits: {mig.das.com/1g.5gb: "1"}}}]' && grep -qx 1 "$tap_dir/asked" &&
        pod_in default s3 'initContainers: [{name: i, image: x, resources: {limits: {nvidia.com/mig-1g.5gb: "1"}}}], containers: [{name: c, image: x}]' &&
        grep -qx 1 "$tap_dir/asked" && resource_of default s3 | grep -q mig.das.com/1g.5gb
}
nobody_answers() { # only pods with slices notice
    no_longer || return 1
    printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: late}\nspec: {%s}\n' "$(slice)" | kubectl create -f - >"$tap_dir/o" 2>&1 && return 1
    cat "$tap_dir/o"
    grep -q 'failed calling webhook "instaslice.redhat.com"' "$tap_dir/o" && kubectl run plain --image x
}
excluded() { "$slipway" render states/webhook --namespace "$1" --kube-version 1.20 --set certificates=slipway | sed -n 's/^ *- \(--excluded-namespaces=.*\)/\1/p'; } # NAMESPACE
# 1.20 labels no namespaces: the webhook is asked about those that are excluded, too, and leaves them
# alone with the flag that the state gives it
old_cluster() {
    cluster das --platform kubernetes --kube-version 1.20 && shipped 1.20 || return 1
    local flag ns
    flag=$(excluded das)
    serve "$(port)" ${flag:+"$flag"} || return 1
    for ns in das kube-system cert-manager openshift-operators openshift-marketplace das-operator; do
        kubectl get namespace $ns 2>/dev/null || kubectl create namespace $ns || return 1
        pod_in $ns slice "$(slice)" && grep -qx 1 "$tap_dir/asked" && resource_of $ns slice | grep -q nvidia.com/mig-1g.5gb || return 1
    done
    pod_in default slice "$(slice)" && grep -qx 1 "$tap_dir/asked" && resource_of default slice | grep -q mig.das.com/1g.5gb
}
nobody_answers_old() { # whatever else waits, the webhook itself comes up again
    no_longer || return 1
    ! kubectl -n das run other --image x && kubectl -n das run server --image x --labels app=das-operator-webhook
}

# The recipe's last state proves what a user's pod would get: its pod must reach the webhook, too. What
# serves has the certificate that slipway makes for the state.
own_proof() { # VERSION
    serve 0 && cluster das-operator --kube-version "$1" || return 1
    "$slipway" run recipes/nvidia-mig --set webhook.certificates=slipway --timeout 120s >"$tap_dir/run" 2>&1 &
    local walk=$!
    until_ok 60 kubectl -n das-operator get secret webhook-server-cert && served_with_it && wait $walk || { cat "$tap_dir/run"; return 1; }
    local pod="kubectl -n nvidia-mig-validation get pod nvidia-mig-validation -o"
    [ "$($pod 'jsonpath={.status.phase} {.spec.schedulerName} {.spec.containers[0].resources.limits}')" = 'Succeeded das-scheduler {"mig.das.com/1g.5gb":"1"}' ] || { $pod yaml; return 1; }
}
served_with_it() {
    local f
    for f in crt key; do
        kubectl -n das-operator get secret webhook-server-cert -o "jsonpath={.data.tls\\.$f}" | base64 -d >"$tap_dir/tls.$f" || return 1
    done
    no_longer && serve "$(port)" --scheduler-name=das-scheduler "$(excluded das-operator)"
}

t "a webhook at an address of its own is configured" start
t "a pod that asks for a slice is changed" own_pod
t "a pod that asks for none is not" plain_pod
t "a Job's pod is changed too" job_pod
t "a pod of half a MiB is changed, and who goes away before is forgotten" large_pod
t "a webhook that cannot be trusted refuses by its failurePolicy" wrong_ca
t "the shipped configuration is taken" shipped 1.29
t "pods without slices and excluded namespaces do not reach the webhook" not_asked
t "pods with slices do" asked_about
t "where nobody answers only pods with slices are refused" nobody_answers
t "in Kubernetes 1.20 it leaves pods of excluded namespaces alone" old_cluster
t "there the webhook's own pods come up without it" nobody_answers_old
t "from Kubernetes 1.21 on nvidia-mig's own proof reaches it" own_proof 1.29
t "and before" own_proof 1.20
while read -r pid; do kill "$pid" 2>/dev/null; done <"$tap_dir/pids"
plan
