# What an attacker gets on a server with RBAC who may write SpecialResources, and whatever is in one
# namespace, but nothing else: nothing. The operator runs as its own account, with the roles that deploy/ has.
. test/tap.sh
slipway=${SLIPWAY_TEST:-build/test/slipway}
[ -x "$slipway" ] || slipway=${SLIPWAY:-build/slipway}
ns=trust team=trust-team victim=trust-victim operator=system:serviceaccount:trust:slipway
log=$SLIPWAY_CLUSTER_DIR/log/audit.jsonl
trap '[ ! -f "$tap_dir/pid" ] || kill "$(cat "$tap_dir/pid")" 2>/dev/null; rm -rf "$tap_dir"' EXIT

as_account() { # NAMESPACE NAME: a kubeconfig. From 1.24 on no account has a Secret with a token
    echo '{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 7200}}' |
        kubectl create --raw "/api/v1/namespaces/$1/serviceaccounts/$2/token" -f - >"$tap_dir/token" || return 1
    sed '/^users:/d; s/user: admin/user: it/' "$KUBECONFIG"
    echo "users: [{name: it, user: {token: $(jq -r .status.token "$tap_dir/token")}}]"
}
mallory() { kubectl --kubeconfig "$tap_dir/mallory" "$@"; }
sr() { kubectl get specialresource "$1" -o "jsonpath=$2" 2>/dev/null; }
says() { # NAME TEXT: in its status
    until_ok 30 eval 'sr '"$1"' "{.status}" | grep -qF -- "'"$2"'"' || { sr "$1" '{.status}'; tail -5 "$tap_dir/log"; return 1; }
}
ready() { [ "$(sr "$1" '{.status.conditions[?(@.type=="Ready")].status}')" = True ]; }
none() { ! kubectl get clusterrolebinding trust-evil 2>/dev/null && ! kubectl -n kube-system get secret trust-evil 2>/dev/null && ! kubectl -n kube-system get configmap trust-evil 2>/dev/null; }

chart() { # NAME TEMPLATE: as a ConfigMap in the attacker's namespace
    local dir=$tap_dir/$1
    mkdir -p "$dir/templates"
    printf 'apiVersion: v2\nname: %s\nversion: 0.1.0\n' "$1" >"$dir/Chart.yaml"
    printf '%s\n' "$2" >"$dir/templates/0000-objects.yaml"
    "$slipway" configmap "$dir" --namespace $team | mallory apply -f -
}
resource() { # NAME URL [MORE [ANNOTATIONS]]
    mallory apply -f - <<YAML
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResource
metadata: {name: $1, annotations: {${4:-}}}
spec:
  namespace: $team
  chart: {name: ${1%-*}, version: 0.1.0, repository: {name: here, url: "$2"}}
  ${3:-}
YAML
}

binding='apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: trust-evil}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: mallory, namespace: trust-team}]'
evil="apiVersion: v1
kind: ConfigMap
metadata: {name: trust-evil, namespace: kube-system}
---
apiVersion: v1
kind: Secret
metadata: {name: trust-evil, namespace: kube-system}
---
$binding"

set_up() {
    local n
    for n in specialresources specialresourcemodules; do
        kubectl apply -f deploy/crds/sro.openshift.io_$n.yaml && established "crd/$n.sro.openshift.io" || return 1
    done
    for n in $ns $team $victim; do kubectl create namespace $n || return 1; done
    sed -e "s/name: slipway\$/name: $ns/; s/namespace: slipway\$/namespace: $ns/" deploy/base/rbac.yaml >"$tap_dir/rbac.yaml" &&
        sed -i "/^kind: ServiceAccount/,/^---/ s/name: $ns\$/name: slipway/; /^- kind: ServiceAccount/,/namespace/ s/name: $ns\$/name: slipway/" "$tap_dir/rbac.yaml" &&
        kubectl apply -f "$tap_dir/rbac.yaml" && kubectl -n $team create serviceaccount mallory &&
        kubectl create clusterrole trust-author --verb='*' --resource=specialresources.sro.openshift.io,specialresourcemodules.sro.openshift.io &&
        kubectl create clusterrolebinding trust-author --clusterrole trust-author --serviceaccount $team:mallory &&
        kubectl -n $team create rolebinding trust-edit --clusterrole edit --serviceaccount $team:mallory &&
        kubectl -n $victim create secret generic login --from-literal=password=hunter2 &&
        kubectl -n $victim create configmap app --from-literal=Chart.yaml='{apiVersion: v2, name: app, version: 0.1.0}' &&
        as_account $team mallory >"$tap_dir/mallory" && as_account $ns slipway >"$tap_dir/operator" && mkdir "$tap_dir/cert" &&
        openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=admission -addext subjectAltName=IP:127.0.0.1 -keyout "$tap_dir/cert/tls.key" -out "$tap_dir/cert/tls.crt" 2>/dev/null || return 1
    KUBECONFIG=$tap_dir/operator OPERATOR_NAMESPACE=$ns "$slipway" controller --metrics-bind-address 0 --health-probe-bind-address 0 \
        --admission-bind-address 127.0.0.1:0 --admission-cert-path "$tap_dir/cert" --admission-operator $operator >"$tap_dir/log" 2>&1 &
    echo $! >"$tap_dir/pid"
    chart app "$(printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: hello}\ndata: {a: "{{ .Values.token }}"}')" && chart evil "$evil" &&
        chart peek "$(printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: peeked}\ndata: {a: {{ (lookup "v1" "Secret" "'$victim'" "login").data | toJson | quote }}}')"
}

# the rights of the recipe @1 for the resource @2, as an admin gives them
given() { "$slipway" rbac "$tap_dir/$1" --name "$2" --namespace $team --config-map $team/$1 --operator-namespace $ns; }
honest() {
    given app app >"$tap_dir/given" && kubectl apply -f "$tap_dir/given" &&
        resource app cm://$team/app 'set: {kind: Values, apiVersion: v1, token: s3cret}' && until_ok 40 ready app || { sr app '{.status}'; tail -5 "$tap_dir/log"; return 1; }
    [ "$(kubectl -n $team get configmap hello -o 'jsonpath={.metadata.managedFields[0].manager} {.data.a}')" = "slipway s3cret" ]
}

forged_identity() { # the operator may impersonate accounts that admins let it; nobody else says which
    local who
    for who in system:admin system:serviceaccount:$team:slipway-app ""; do
        mallory delete specialresource evil-acts --ignore-not-found --wait=false >/dev/null
        until_ok 30 eval '! kubectl get specialresource evil-acts >/dev/null 2>&1' || return 1
        resource evil-acts cm://$team/evil "" "slipway.dev/acts-as: \"$who\"" && says evil-acts 'does not confirm' && none || return 1
    done
    mallory delete specialresource evil-acts --wait=false
    ! mallory auth can-i patch specialresources.sro.openshift.io/app --subresource=status
}

no_more_than_its_account() {
    resource evil cm://$team/evil && says evil "; as system:serviceaccount:$team:slipway-evil" && none &&
        resource evil-named cm://$team/evil 'serviceAccountName: default' && says evil-named 'cannot' && none
}
turned() { # a recipe that has rights becomes another one
    chart turned "$(printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: object}')" && given turned turned >"$tap_dir/turned.yaml" && kubectl apply -f "$tap_dir/turned.yaml" &&
        resource turned cm://$team/turned && until_ok 40 ready turned && chart turned "$evil" && says turned "is forbidden" && none
}
no_lookup() {
    resource peek cm://$team/peek && says peek "system:serviceaccount:$team:slipway-peek" &&
        ! kubectl -n $team get configmap peeked 2>/dev/null && ! sr peek '{.status}' | grep -q aHVudGVyMg
}
no_foreign_map() { given app app-foreign >"$tap_dir/foreign" && kubectl apply -f "$tap_dir/foreign" && resource app-foreign cm://$victim/app && says app-foreign "system:serviceaccount:$team:slipway-app-foreign" && says app-foreign 'cannot get'; }
no_foreign_watch() {
    mallory apply -f - <<YAML || return 1
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResourceModule
metadata: {name: spy}
spec:
  namespace: $team
  chart: {name: app, version: 0.1.0, repository: {name: here, url: "cm://$team/app"}}
  watch: [{apiVersion: v1, kind: Secret, name: login, namespace: $victim, path: \$.data.password}]
YAML
    until_ok 30 eval 'kubectl get specialresourcemodule spy -o "jsonpath={.status.message}" | grep -F "as system:serviceaccount:'$team':slipway-spy"' || { kubectl get specialresourcemodule spy -o yaml; tail -5 "$tap_dir/log"; return 1; }
    ! kubectl get specialresourcemodule spy -o 'jsonpath={.status}' | grep -q aHVudGVyMg && ! grep -q -e aHVudGVyMg -e hunter2 "$tap_dir/log"
}

unseen() { # what was rendered, and spec.set, is where view does not reach
    until_ok 20 kubectl -n $team get secret sh.helm.release.v1.app.v1 || return 1
    [ -z "$(kubectl -n $team get configmap -o name | grep helm)" ] &&
        ! kubectl auth can-i get secrets -n $team --as=x --as-group=y && ! kubectl get clusterrole view -o 'jsonpath={.rules[*].resources}' | grep -q secrets
}
forged_record() { # a hook in the record of the release, for the deletion
    local now
    now=$(kubectl -n $team get secret sh.helm.release.v1.app.v1 -o 'jsonpath={.data.release}' | base64 -d | base64 -d | gzip -d |
        jq -c --arg m "$binding" '.hooks = [{name: "trust-evil", kind: "ClusterRoleBinding", path: "app/templates/h.yaml", manifest: $m, events: ["pre-delete"]}]' |
        gzip -n | base64 -w0 | base64 -w0) && [ -n "$now" ] &&
        mallory -n $team patch secret sh.helm.release.v1.app.v1 --type merge -p "{\"data\":{\"release\":\"$now\"}}" || return 1
    mallory delete specialresource app --wait=false
    until_ok 30 eval 'kubectl get events -A -o "jsonpath={.items[*].reason}" | grep -q RecordNotUsed' && none
}
# ---- nodes ---------------------------------------------------------------------------------------
driver='apiVersion: apps/v1
kind: DaemonSet
metadata: {name: driver, annotations: {slipway.dev/driver: "true"}}
spec:
  selector: {matchLabels: {app: driver}}
  template:
    metadata: {labels: {app: driver}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: driver, image: "slipway.local/trust:1", imagePullPolicy: Never, env: [{name: VERSION, value: "{{ .Values.version }}"}]}]'
drains() { # VERSION
    resource drv cm://$team/drv "set: {kind: Values, apiVersion: v1, version: \"$1\"}
  upgradePolicy: {timeout: 20s, drain: {enable: true, podSelector: app=bystander, gracePeriodSeconds: 1}}"
}
bystander() { kubectl -n $victim get pod bystander -o 'jsonpath={.metadata.uid}' 2>/dev/null; }
a_driver() {
    mkdir -p "$tap_dir/root"
    printf '#include <unistd.h>\nint main(void)\n{\n    for (;;)\n        pause();\n}\n' >"$tap_dir/wait.c"
    gcc -static -Os -o "$tap_dir/root/wait" "$tap_dir/wait.c" && hack/cluster.sh image slipway.local/trust:1 "$tap_dir/root" /wait || return 1
    chart drv "$driver" && given drv drv >"$tap_dir/drv.yaml" && kubectl apply -f "$tap_dir/drv.yaml" && drains 1 && until_ok 120 ready drv || { sr drv '{.status}'; return 1; }
    kubectl apply -f - <<YAML && kubectl -n $victim wait --for=condition=Ready pod/bystander --timeout=120s
apiVersion: v1
kind: Pod
metadata: {name: bystander, namespace: $victim, labels: {app: bystander}, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: app, uid: $(kubectl -n $victim get configmap app -o 'jsonpath={.metadata.uid}'), controller: true}]}
spec: {terminationGracePeriodSeconds: 1, containers: [{name: main, image: "slipway.local/trust:1", imagePullPolicy: Never}]}
YAML
}
no_eviction() { # what its account may not evict the author evicts by nobody
    local uid
    uid=$(bystander) && [ -n "$uid" ] && drains 2 && says drv 'pods/eviction' && says drv "system:serviceaccount:$team:slipway-drv" && [ "$(bystander)" = "$uid" ]
}
evicted() { # with the right it goes, and the driver is replaced
    "$slipway" rbac "$tap_dir/drv" --name drv --namespace $team --config-map $team/drv --operator-namespace $ns --upgrade-policy >"$tap_dir/drv.yaml" && kubectl apply -f "$tap_dir/drv.yaml" &&
        until_ok 120 eval '[ -z "$(bystander)" ]' && until_ok 120 eval '[ "$(kubectl -n '$team' get pods -l app=driver -o "jsonpath={.items[*].spec.containers[0].env[0].value}")" = 2 ]' || { sr drv '{.status.upgrade}'; tail -5 "$tap_dir/log"; return 1; }
    tail -n +"$(cat "$tap_dir/mark")" "$log" | jq -r --arg u $operator 'select(.user.username == $u and .objectRef.resource == "pods" and (.verb == "delete" or .objectRef.subresource == "eviction")) | .impersonatedUser.username // "itself"' | sort | uniq -c >"$tap_dir/ends"
    cat "$tap_dir/ends"
    [ "$(awk '{ print $2 }' "$tap_dir/ends")" = "system:serviceaccount:$team:slipway-drv" ]
}

# ---- an account that is gone ---------------------------------------------------------------------
waits_for_its_account() {
    chart lone "$(printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: alone}')" && given lone lone >"$tap_dir/lone.yaml" && kubectl apply -f "$tap_dir/lone.yaml" &&
        resource lone cm://$team/lone && until_ok 40 ready lone || { sr lone '{.status}'; return 1; }
    kubectl delete clusterroles,clusterrolebindings -l slipway.dev/recipe=lone && kubectl -n $team delete serviceaccounts,roles,rolebindings -l slipway.dev/recipe=lone || return 1
    mallory delete specialresource lone --wait=false
    says lone "slipway rbac lone --namespace $team | kubectl apply -f -" && [ -n "$(sr lone '{.metadata.finalizers}')" ] &&
        kubectl -n $team get configmap alone && kubectl apply -f "$tap_dir/lone.yaml" || return 1
    until_ok 60 eval '! kubectl get specialresource lone >/dev/null 2>&1' && ! kubectl -n $team get configmap alone 2>/dev/null || { sr lone '{.status}'; tail -5 "$tap_dir/log"; return 1; }
}

own_requests() { # as itself the operator wrote only what is its own; 403: as an account that is gone
    tail -n +"$(cat "$tap_dir/mark")" "$log" | jq -r --arg u $operator 'select(.user.username == $u and (.impersonatedUser | not) and .responseStatus.code != 403 and (.verb | test("^(create|update|patch|delete|deletecollection)$"))) |
        "\(.verb) \(.objectRef.resource)\(if .objectRef.subresource then "/" + .objectRef.subresource else "" end) \(.objectRef.namespace // "-")"' | sort | uniq -c >"$tap_dir/own"
    cat "$tap_dir/own"
    [ -s "$tap_dir/own" ] && ! grep -vE ' (patch|delete) specialresource(module)?s(/status)? -$| patch nodes -$| (create|patch) events | (create|update) leases '$ns'$| (create|patch|delete) (secrets|configmaps) '$team'$| create (tokenreviews|subjectaccessreviews) -$' "$tap_dir/own"
}
impersonated() { # and nothing as anybody but accounts of resources
    tail -n +"$(cat "$tap_dir/mark")" "$log" | jq -r --arg u $operator 'select(.user.username == $u and .impersonatedUser) | .impersonatedUser.username' | sort | uniq -c >"$tap_dir/as"
    cat "$tap_dir/as"
    grep -q "slipway-app\$" "$tap_dir/as" && ! grep -vE ' system:serviceaccount:'$team':(slipway-[a-z-]+|default)$' "$tap_dir/as"
}
# ---- who may name which account ------------------------------------------------------------------
asked() { # the chart's webhook, at the address of the operator that runs here
    local port
    port=$(grep -o 'for=admission port=[0-9]*' "$tap_dir/log" | grep -o '[0-9]*$') && [ -n "$port" ] || { grep admission "$tap_dir/log"; return 1; }
    "$slipway" render charts/slipway --namespace $ns --set admissionWebhook.enabled=true,admissionPolicy=never -s templates/admission.yaml |
        awk 'function flush() { if (doc ~ /\nkind: ValidatingWebhookConfiguration\n/) printf "%s", doc; doc = "" } $0 == "---" { flush(); next } { doc = doc "\n" $0 } END { flush() }' |
        sed "/^    service:/,/^      port:/d; s|^  clientConfig:|&\n    url: https://127.0.0.1:$port/validate\n    caBundle: $(base64 -w0 <"$tap_dir/cert/tls.crt")|" | kubectl apply -f - || return 1
    until_ok 20 eval '! resource app-one cm://$team/app 2>"$tap_dir/err"' && grep "it is walked as the account $team/slipway-app-one: who writes it needs the verb use" "$tap_dir/err" || { cat "$tap_dir/err"; return 1; }
}
uses() { # NAME: the author may use that account of his namespace
    kubectl -n $team apply -f - <<YAML && kubectl -n $team create rolebinding "uses-$1" --role="uses-$1" --serviceaccount $team:mallory
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: uses-$1}
rules: [{apiGroups: [""], resources: [serviceaccounts], resourceNames: [$1], verbs: [use]}]
YAML
}
by_account() {
    uses slipway-app-two && until_ok 10 eval 'resource app-two cm://$team/app' &&
        ! resource app-two cm://$team/app 'serviceAccountName: default' && ! resource app-two cm://$team/app 'set: {kind: Values, apiVersion: v1, token: "{{ .a }}"}
  namespace: "{{ .Values.a }}"' && ! mallory patch specialresource app-two --type merge -p '{"spec":{"namespace":"'$victim'"}}' || return 1
    kubectl -n $team delete rolebinding uses-slipway-app-two
    until_ok 10 eval '! mallory annotate --overwrite specialresource app-two "a=$RANDOM"' && ! mallory patch specialresource app-two --type merge -p '{"spec":{"debug":true}}' && mallory label specialresource app-two a=b &&
        kubectl annotate specialresource app-two c=d && until_ok 30 eval 'sr app-two "{.metadata.finalizers}" | grep finalizer' # what stays, admins, and the operator itself
}
module() {
    mallory apply -f - <<YAML
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResourceModule
metadata: {name: hooked}
spec: {namespace: $team, chart: {name: app, version: 0.1.0, repository: {name: here, url: "cm://$team/app"}}, watch: []}
YAML
}
modules_too() {
    ! module 2>"$tap_dir/err" && grep "$team/slipway-hooked" "$tap_dir/err" && uses slipway-hooked && until_ok 10 module
}
no_webhook() { # while nobody can be asked, nobody may
    kill "$(cat "$tap_dir/pid")" && until_ok 20 eval '! kill -0 $(cat "$tap_dir/pid") 2>/dev/null' && ! resource app-two cm://$team/app 'set: {kind: Values, apiVersion: v1, token: x}' 2>"$tap_dir/err" && grep 'failed calling webhook' "$tap_dir/err"
    local rc=$?
    kubectl delete validatingwebhookconfiguration slipway-accounts
    return $rc
}
clean_up() {
    kubectl delete validatingwebhookconfiguration slipway-accounts --ignore-not-found
    local f
    for f in given foreign turned.yaml drv.yaml lone.yaml; do kubectl apply -f "$tap_dir/$f"; done >/dev/null 2>&1
    kubectl delete specialresources,specialresourcemodules --all --wait=false
    kill "$(cat "$tap_dir/pid")" 2>/dev/null
    rm "$tap_dir/pid"
    for f in $(kubectl get specialresources,specialresourcemodules -o name); do kubectl patch "$f" --type merge -p '{"metadata":{"finalizers":null}}'; done
    kubectl delete --ignore-not-found -f "$tap_dir/given" -f "$tap_dir/foreign" -f "$tap_dir/turned.yaml" -f "$tap_dir/drv.yaml" -f "$tap_dir/lone.yaml" -f "$tap_dir/rbac.yaml"
    kubectl delete clusterrole,clusterrolebinding trust-author --ignore-not-found
    kubectl delete namespace $ns $team $victim --timeout=240s
}

wc -l <"$log" >"$tap_dir/mark"
t "an author, a victim, and an operator with the roles of deploy/" set_up
t "a recipe is walked with the rights that slipway rbac prints" honest
t "an annotation makes nobody somebody else" forged_identity
t "a recipe writes nothing that its account may not" no_more_than_its_account
t "nor one that was given rights, and became another" turned
t "nor do its templates see it" no_lookup
t "cm:// reads no ConfigMap that the account may not" no_foreign_map
t "a module watches no Secret that its account may not" no_foreign_watch
t "records of releases are not for whom view is given" unseen
t "a hook that somebody writes into a record is not run" forged_record
t "a driver, and a pod of somebody else beside it" a_driver
t "a drain ends no pod that the account may not evict" no_eviction
t "and as the account those that it may" evicted
t "a deletion waits for an account that is gone, and says how to go on" waits_for_its_account
t "as itself the operator writes its own objects alone" own_requests
t "and all else as accounts of resources" impersonated
t "a webhook asks who writes a resource for the verb use on its account" asked
t "and lets pass who may, the operator, and what does not change" by_account
t "for modules, too" modules_too
t "what cannot be asked about is refused" no_webhook
clean_up >/dev/null 2>&1
plan
