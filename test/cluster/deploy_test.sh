# The operator as users install it: images packed from the build, `make deploy` with nothing but its
# own account and its RBAC, a recipe from a ConfigMap walked, changed and walked again, `make
# undeploy`, and the cluster as it was before.
. test/tap.sh
. test/cluster_images.sh
slipway=${SLIPWAY:-build/slipway}
chart=$tap_dir/hello
api=$(kubectl config view --minify -o 'jsonpath={.clusters[0].cluster.server}')
node_ip=$(kubectl get nodes -o 'jsonpath={.items[0].status.addresses[?(@.type=="InternalIP")].address}')
# there is no service network here
export API_SERVER=$node_ip:${api##*:} TAG=e2e REGISTRY=slipway.local PULL_POLICY=Never KUBECTL=kubectl TIMEOUT=60

# Every object but what comes and goes by itself; what the server stamps is left out.
dump() {
    local kinds
    kinds=$(kubectl api-resources --verbs=list -o name | grep -v -e '^events' -e '^leases' -e componentstatuses | sort | paste -sd,)
    kubectl get "$kinds" -A --ignore-not-found 2>/dev/null -o jsonpath='{range .items[*]}{.kind} {.metadata.namespace}/{.metadata.name} {.metadata.uid} {.metadata.labels} {.spec}{"\n"}{end}' | sort
}
# What other tests deleted is on its way still: begin when nothing goes any more.
settled() {
    dump >"$tap_dir/before"
    for _ in $(seq 30); do
        sleep 4
        dump >"$tap_dir/later"
        cmp -s "$tap_dir/before" "$tap_dir/later" &&
            [ -z "$(kubectl get namespaces -o 'jsonpath={.items[?(@.status.phase=="Terminating")].metadata.name}')" ] && return
        mv "$tap_dir/later" "$tap_dir/before"
    done
}

deployed() {
    make deploy && [ "$(kubectl -n slipway get deployment slipway -o 'jsonpath={.status.availableReplicas}')" = 2 ]
}

twice() {
    local generation
    generation=$(kubectl -n slipway get deploy,netpol,pdb -o 'jsonpath={.items[*].metadata.generation}')
    make deploy >"$tap_dir/again" && ! grep -E ' created$' "$tap_dir/again" &&
        [ "$generation" = "$(kubectl -n slipway get deploy,netpol,pdb -o 'jsonpath={.items[*].metadata.generation}')" ]
}

one_leads() {
    [ -n "$(kubectl -n slipway get lease b6ae617b.openshift.io -o 'jsonpath={.spec.holderIdentity}')" ]
}

confined() { # the account may do what the role says, and nothing else
    local as="--as=system:serviceaccount:slipway:slipway"
    kubectl auth can-i patch nodes $as && kubectl auth can-i watch specialresources.sro.openshift.io $as &&
        ! kubectl auth can-i create deployments.apps $as -n default && ! kubectl auth can-i get secrets $as -n kube-system &&
        ! kubectl auth can-i create clusterroles.rbac.authorization.k8s.io $as && ! kubectl auth can-i delete nodes $as
}

make_chart() {
    mkdir -p "$chart/templates" "$tap_dir/root"
    printf '#include <signal.h>\n#include <unistd.h>\nstatic void stop(int n)\n{\n    _exit(n != SIGTERM);\n}\nint main(void)\n{\n    signal(SIGTERM, stop);\n    for (;;)\n        pause();\n}\n' >"$tap_dir/wait.c"
    gcc -static -Os -o "$tap_dir/root/wait" "$tap_dir/wait.c" && hack/cluster.sh image slipway.local/agent:1 "$tap_dir/root" /wait || return 1
    printf 'apiVersion: v2\nname: hello\nversion: 0.1.0\nannotations: {slipway.dev/wait: all}\n' >"$chart/Chart.yaml"
    cat >"$chart/templates/0000-settings.yaml" <<'YAML'
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {greeting: "first"}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: agent}
rules:
- apiGroups: [""]
  resources: [configmaps]
  verbs: [get]
YAML
    cat >"$chart/templates/0100-agent.yaml" <<'YAML'
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - {name: agent, image: slipway.local/agent:1, imagePullPolicy: Never}
YAML
}

resource() { # VERSION
    cat <<YAML
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResource
metadata: {name: hello}
spec:
  namespace: hello
  chart: {name: hello, version: $1, repository: {name: here, url: "cm://slipway/hello"}}
YAML
}

denied() { # without rights for it, the resource says which one is missing
    "$slipway" configmap "$chart" --namespace slipway | kubectl apply -f - && resource 0.1.0 | kubectl apply -f - &&
        until_ok 30 eval 'kubectl get specialresource hello -o "jsonpath={.status.conditions[*].message}" | grep -E "cannot (list|create|patch|get|watch)"'
}

walks() {
    # the server's own view of roles follows within moments
    "$slipway" rbac "$chart" | kubectl apply -f - && until_ok 10 kubectl auth can-i create daemonsets.apps -n hello --as=system:serviceaccount:hello:slipway-hello &&
        until_ok 10 kubectl auth can-i list daemonsets.apps -A --as=system:serviceaccount:slipway:slipway &&
        wc -l <"$SLIPWAY_CLUSTER_DIR/log/audit.jsonl" >"$tap_dir/mark" &&
        until_ok 90 eval '[ "$(kubectl get specialresource hello -o "jsonpath={.status.conditions[?(@.type==\"Ready\")].status}")" = True ]' &&
        [ "$(kubectl -n hello get daemonset agent -o 'jsonpath={.status.numberAvailable}')" = 1 ] &&
        kubectl get nodes -l specialresource.openshift.io/state-hello-0100=Ready -o name | grep -q node/
}

edited() {
    sed -i 's/first/second/' "$chart/templates/0000-settings.yaml" && sed -i 's/version: 0.1.0/version: 0.2.0/' "$chart/Chart.yaml" &&
        "$slipway" configmap "$chart" --namespace slipway | kubectl apply -f - && resource 0.2.0 | kubectl apply -f - &&
        until_ok 60 eval '[ "$(kubectl -n hello get configmap settings -o "jsonpath={.data.greeting}")" = second ]' &&
        until_ok 60 eval '[ "$(kubectl get specialresource hello -o "jsonpath={.status.conditions[?(@.type==\"Ready\")].status}")" = True ]'
}

# The same chart in another namespace, written as an account that is told apart from the operator.
as_account() {
    "$slipway" rbac "$chart" --name hired --namespace hired --service-account installer >"$tap_dir/hired.yaml" && kubectl apply -f "$tap_dir/hired.yaml" &&
        until_ok 10 kubectl auth can-i list daemonsets.apps -A --as=system:serviceaccount:slipway:slipway &&
        kubectl apply -f - <<'YAML' || return 1
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResource
metadata: {name: hired}
spec:
  namespace: hired
  serviceAccountName: installer
  chart: {name: hello, version: 0.2.0, repository: {name: here, url: "cm://slipway/hello"}}
YAML
    until_ok 60 eval '[ "$(kubectl get specialresource hired -o "jsonpath={.status.conditions[?(@.type==\"Ready\")].status}")" = True ]' || { kubectl get specialresource hired -o 'jsonpath={.status.conditions[*].message}'; return 1; }
    ! kubectl auth can-i create daemonsets.apps -n hired --as=system:serviceaccount:slipway:slipway &&
        grep '"impersonatedUser"' "$SLIPWAY_CLUSTER_DIR/log/audit.jsonl" | grep 'system:serviceaccount:hired:installer' | grep -q '"verb":"patch"'
}

# The overlay with the webhook, which the API server calls by its Service: with a certificate of a CA of its own.
behind_its_service() {
    local dir=build/overlay.$$ rc ca=$tap_dir/ca cert=$tap_dir/serving policy=policy/v1
    kubectl api-versions | grep -qx policy/v1 || policy=policy/v1beta1 # before 1.21; as make deploy does
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=ca -keyout "$ca.key" -out "$ca.crt" 2>/dev/null &&
        openssl req -newkey rsa:2048 -nodes -subj /CN=slipway-admission -keyout "$cert.key" -out "$cert.csr" 2>/dev/null &&
        openssl x509 -req -in "$cert.csr" -CA "$ca.crt" -CAkey "$ca.key" -CAcreateserial -days 2 -out "$cert.crt" \
            -extfile <(echo subjectAltName=DNS:slipway-admission.slipway.svc) 2>/dev/null &&
        kubectl -n slipway create secret tls slipway-admission --cert "$cert.crt" --key "$cert.key" || return 1
    mkdir -p "$dir"
    cat >"$dir/kustomization.yaml" <<YAML
bases: [../../deploy/overlays/admission-webhook]
images: [{name: quay.io/slipway/slipway, newName: slipway.local/slipway, newTag: e2e}]
patchesStrategicMerge: [patch.yaml]
YAML
    cat >"$dir/patch.yaml" <<YAML
apiVersion: apps/v1
kind: Deployment
metadata: {name: slipway, namespace: slipway}
spec:
  template:
    spec:
      containers:
      - name: controller
        imagePullPolicy: Never
        env:
        - {name: KUBERNETES_SERVICE_HOST, value: "${API_SERVER%:*}"}
        - {name: KUBERNETES_SERVICE_PORT, value: "${API_SERVER##*:}"}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: slipway-accounts}
webhooks:
- name: accounts.slipway.dev
  clientConfig: {caBundle: $(base64 -w0 <"$ca.crt")}
YAML
    kubectl kustomize "$dir" | sed "s|^apiVersion: policy/v1\$|apiVersion: $policy|" | kubectl apply -f -
    rc=$?
    rm -rf "$dir"
    return $rc
}
author() { kubectl --as=jane "$@"; }
hired_by() { # NAME ACCOUNT
    author apply -f - 2>&1 <<YAML
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResource
metadata: {name: $1}
spec:
  namespace: hired
  serviceAccountName: $2
  chart: {name: hello, version: 0.2.0, repository: {name: here, url: "cm://slipway/hello"}}
YAML
}
asks() { # the author needs the verb use on the account; while nobody answers, nobody writes
    local said
    kubectl create clusterrole deploy-author --verb='*' --resource=specialresources.sro.openshift.io &&
        kubectl create clusterrolebinding deploy-author --clusterrole deploy-author --user jane &&
        behind_its_service && kubectl -n slipway rollout status deployment/slipway --timeout=60s || return 1
    until_ok 60 eval 'hired_by mine installer | grep -F "needs the verb use"' && ! kubectl get specialresource mine 2>/dev/null &&
        kubectl apply -f - <<'YAML' || return 1
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: use-installer, namespace: hired}
rules:
- {apiGroups: [""], resources: [serviceaccounts], resourceNames: [installer], verbs: [use]}
YAML
    kubectl -n hired create rolebinding use-installer --role use-installer --user jane &&
        until_ok 20 eval 'hired_by mine installer | grep -E "created|configured"' && hired_by other default | grep -F "needs the verb use" &&
        until_ok 60 eval 'kubectl get specialresource mine -o "jsonpath={.status.conditions[*].type}" | grep -q Ready' || return 1
    kubectl -n slipway scale deployment/slipway --replicas 0 && until_ok 60 eval '[ -z "$(kubectl -n slipway get endpoints slipway-admission -o "jsonpath={.subsets}")" ]' &&
        said=$(hired_by third installer) && echo "$said" && return 1
    kubectl -n slipway scale deployment/slipway --replicas 2 && kubectl -n slipway rollout status deployment/slipway --timeout=60s &&
        until_ok 30 author delete specialresource mine --wait=false && until_ok 60 eval '! kubectl get specialresource mine 2>/dev/null'
}
asks_no_more() {
    kubectl delete validatingwebhookconfiguration slipway-accounts && kubectl -n slipway delete service,secret slipway-admission &&
        kubectl delete clusterrole,clusterrolebinding deploy-author && deployed
}

# Every refused request of the operator's account since its rights were there. Whether a release that is
# there is the resource's is asked as the resource's account, which need not have a right to it.
nothing_refused() {
    local log=$SLIPWAY_CLUSTER_DIR/log/audit.jsonl
    ! tail -n +"$(cat "$tap_dir/mark")" "$log" | grep '"username":"system:serviceaccount:slipway:slipway"' | grep '"code":403' |
        grep -vE '"requestURI":"/api/v1/namespaces/hired/secrets\?labelSelector=owner%3Dhelm.*"verb":"list".*"impersonatedUser"'
}

taken_over() { # the leader goes, the other one leads
    local old
    until_ok 60 one_leads || return 1 # who led last may have gone and given the lease back
    old=$(kubectl -n slipway get lease b6ae617b.openshift.io -o 'jsonpath={.spec.holderIdentity}')
    kubectl -n slipway delete pod "$old" --wait=false && until_ok 60 eval '[ "$(kubectl -n slipway get lease b6ae617b.openshift.io -o "jsonpath={.spec.holderIdentity}")" != "'"$old"'" ]'
}

small() { # what it uses fits what it asks for
    local kib
    for pid in $(pgrep -x slipway); do
        grep kubepods "/proc/$pid/cgroup" | grep -q "$(cat "$SLIPWAY_CLUSTER_DIR/bridge")" || continue # of this cluster
        kib=$(awk '/^VmRSS/ { print $2 }' "/proc/$pid/status")
        echo "RSS $kib KiB"
        [ "$kib" -lt $((24 * 1024)) ] || return 1
    done
}

undeployed() {
    # what the operator could not do would be lost with it
    (sleep 20; kubectl get specialresource hello -o yaml; kubectl -n slipway logs deploy/slipway --all-containers --tail=20
        tail -n +"$(cat "$tap_dir/mark")" "$SLIPWAY_CLUSTER_DIR/log/audit.jsonl" | grep '"code":403' | grep -o '"requestURI":"[^"]*","verb":"[^"]*"' | sort | uniq -c) >"$tap_dir/stuck" 2>&1 &
    "$slipway" rbac "$chart" >"$tap_dir/rbac.yaml" && { TIMEOUT=180 make undeploy || { cat "$tap_dir/stuck"; kubectl get specialresource hello -o 'jsonpath={.status.state} {.metadata.finalizers}'; false; }; } && kubectl delete -f "$tap_dir/rbac.yaml" -f "$tap_dir/hired.yaml" --ignore-not-found &&
        { until_ok 60 as_before || diff "$tap_dir/before" "$tap_dir/after"; }
}
as_before() { dump >"$tap_dir/after" && cmp -s "$tap_dir/before" "$tap_dir/after"; } # what others delete goes by and by

unpullable() {
    local out
    out=$(make deploy IMG=slipway.local/none:1 TIMEOUT=60 2>&1)
    [ $? -ne 0 ] && echo "$out" && [ "$(grep -c 'image slipway.local/none:1 cannot be pulled' <<<"$out")" = 1 ] && make undeploy
}

no_rights() {
    local out
    sed 's/^users:.*/users: [{name: admin, user: {token: slipway-nobody-token}}]/' "$KUBECONFIG" >"$tap_dir/nobody"
    out=$(KUBECONFIG=$tap_dir/nobody make deploy 2>&1)
    [ $? -ne 0 ] && echo "$out" && grep -q 'may not create customresourcedefinitions' <<<"$out"
}

if [ -n "$node_ip" ]; then
    # what a test before this one installed would go with make undeploy
    kubectl patch specialresources.sro.openshift.io --all --type merge -p '{"metadata":{"finalizers":null}}' >/dev/null 2>&1
    kubectl delete -k deploy/crds --ignore-not-found >/dev/null 2>&1
    settled
    t "the images are packed and imported" images_imported
    t "an account without rights is told so, once" no_rights
    t "an image that cannot be pulled is told so, once" unpullable
    t "make deploy brings two replicas up" deployed
    t "one of them leads" until_ok 30 one_leads
    t "make deploy again changes nothing" twice
    t "the account may do what its roles say and no more" confined
    make_chart >/dev/null 2>&1
    t "without a recipe's rights the resource says which one is missing" denied
    t "with what slipway rbac prints, a recipe from a ConfigMap walks to Ready" walks
    t "the edited recipe is walked again" edited
    t "another account's rights serve a resource that names it" as_account
    t "behind its Service the webhook asks whether an author may use the account" asks
    asks_no_more >/dev/null 2>&1
    t "another replica takes over" taken_over
    t "nothing that the operator asked for was refused" nothing_refused
    t "it uses less memory than it requests" small
    t "make undeploy leaves the cluster as it was" undeployed
fi
plan
