# The operator's Helm chart and what is generated beside it: clean for lint, refusing bad values, with
# notes and a test; and the list of metrics against what the programs say.
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}
list=charts/slipway/files/metrics.yaml
render() { "$slipway" render charts/slipway --namespace ops "$@"; }

linted() { [ -z "$("$slipway" lint charts/slipway 2>&1)" ] && "$slipway" lint charts/slipway --set metrics.rules.enabled=true,metrics.dashboard.enabled=true,metrics.serviceMonitor.enabled=true,platform=openshift; }
refused() { # VALUES FIELD
    local out
    out=$(render --set "$1" 2>&1)
    [ $? -ne 0 ] && grep -qF -e "'/${2//.//}" -e "'$2'" <<<"$out" || { echo "$1: $out"; return 1; }
}
refuses() {
    refused replicas=many replicas && refused image.digest=abc image.digest && refused 'platform=windows' platform && refused surprise=1 surprise && refused logLevel=loud logLevel &&
        refused metrics.rules.stuckAfter=soon metrics.rules.stuckAfter && refused apiServer=nowhere apiServer && refused metrics.port=99999 metrics.port
}
every_value() { # in values.yaml is in the schema: additionalProperties says no otherwise
    render >/dev/null && ! grep -n '"additionalProperties": true' charts/slipway/values.schema.json
}
namespaced() { ! render --set metrics.serviceMonitor.enabled=true,metrics.rules.enabled=true | grep -E '^  namespace: ' | grep -vx '  namespace: ops'; }
tested() { render | grep -q 'helm.sh/hook: test' && ! render --skip-tests | grep -q 'helm.sh/hook: test'; }
noted() { grep -q 'slipway rbac RECIPE' charts/slipway/templates/NOTES.txt; }
old() { render --kube-version 1.20 -s templates/controller.yaml >"$tap_dir/old" && grep -q '^apiVersion: policy/v1' "$tap_dir/old"; }
acting_as() {
    render --set 'rbac.impersonate[0].namespace=gpu,rbac.impersonate[0].name=installer' -s templates/rbac.yaml | grep -A3 'resourceNames: \[installer\]' | grep -q 'impersonate'
}
legacy() { # only where it is asked for, and then it may do what it did
    ! render | grep -qE -- '--legacy-rights|pods/eviction' && render --set legacyRights=true >"$tap_dir/legacy" && grep -qx -- ' *- --legacy-rights' "$tap_dir/legacy" && grep -q 'pods/eviction' "$tap_dir/legacy" &&
        refused legacyRights=perhaps legacyRights
}
accounts() { # whoever writes a resource needs the verb use on its account, where the server can ask for that
    local policy=admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy
    ! render | grep -q '^kind: ValidatingAdmissionPolicy' && ! render -a $policy --set admissionPolicy=never | grep -q '^kind: ValidatingAdmissionPolicy' &&
        render -a $policy >"$tap_dir/policy" && [ "$(grep -c '^kind: ValidatingAdmissionPolicy' "$tap_dir/policy")" = 2 ] &&
        grep -qF "!= 'system:serviceaccount:ops:slipway'" "$tap_dir/policy" && grep -qF "check('use').allowed()" "$tap_dir/policy" &&
        ! grep -q names-an-account "$tap_dir/policy" && render --set admissionPolicy=always,legacyRights=true | grep -q names-an-account &&
        refused admissionPolicy=perhaps admissionPolicy
}
same_question() { # policy and webhook ask about the same writes and accounts, in the same words
    local says="who writes it needs the verb use on that account" what text
    "$slipway" render charts/slipway --namespace ops -a admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy --set admissionWebhook.enabled=true -s templates/admission.yaml >"$tap_dir/both" || return 1
    for text in "authorizer.group('').resource('serviceaccounts').namespace(variables.accountNamespace).name(variables.account).check('use').allowed()" \
        "variables.given.contains('{{') ? '' : variables.given == '' ? object.metadata.name : variables.given" \
        "has(object.spec.serviceAccountName) ? object.spec.serviceAccountName : 'slipway-' + object.metadata.name" \
        "$says" "request.userInfo.username != 'system:serviceaccount:ops:slipway'"; do
        grep -qF -- "$text" "$tap_dir/both" || { echo "not there: $text"; return 1; }
    done
    for what in "$says" 'strstr(ns, "{{") ? "" : \*ns ? ns : name' '"slipway-%s", name' '"use", resource, "verb"' '"serviceaccounts", resource, "resource"'; do
        grep -q -- "$what" src/operator/admission/admission.c || { echo "the webhook asks otherwise: $what"; return 1; }
    done
    [ "$(grep -cF 'resources: [specialresources, specialresourcemodules]' "$tap_dir/both")" = 2 ] && [ "$(grep -c 'operations: \[CREATE, UPDATE\]' "$tap_dir/both")" = 2 ]
}
webhook() { # off unless asked for; then it is told who the operator is, and a write that it cannot answer for is refused
    ! render -s templates/controller.yaml | grep -q admission && ! render | grep -q '^kind: ValidatingWebhookConfiguration' &&
        render --set admissionWebhook.enabled=true,admissionWebhook.port=9999,admissionWebhook.caBundle=Q0E= >"$tap_dir/webhook" &&
        [ "$(grep -cE -- '- --admission-(bind-address=:9999|cert-path=/etc/slipway-admission|operator=system:serviceaccount:ops:slipway)$' "$tap_dir/webhook")" = 3 ] &&
        grep -q '^  failurePolicy: Fail$' "$tap_dir/webhook" && grep -q 'caBundle: Q0E=$' "$tap_dir/webhook" && grep -qF 'resources: [specialresources, specialresourcemodules]' "$tap_dir/webhook" &&
        grep -qF 'port: 9999}' "$tap_dir/webhook" && grep -q 'secretName: slipway-admission$' "$tap_dir/webhook" && ! grep -q inject-cabundle "$tap_dir/webhook" &&
        render --set admissionWebhook.enabled=true,platform=openshift | grep -q 'service.beta.openshift.io/inject-cabundle: "true"' &&
        render --set admissionWebhook.enabled=true,metrics.secure=false -s templates/rbac.yaml | grep -q subjectaccessreviews && refused admissionWebhook.port=0 admissionWebhook.port
}
page() { # off unless asked for; then it has a Service, an opening in the NetworkPolicy and the rights that it lacks
    ! render | grep -qE '8444|dashboard-bind|nodeaccelerators' &&
        render --set dashboard.enabled=true,dashboard.port=9998,metrics.secure=false,dashboard.certSecret=mine,'dashboard.readers[0].namespace=team,dashboard.readers[0].name=viewer' >"$tap_dir/page" &&
        [ "$(grep -cE -- '- --dashboard-(bind-address=:9998|cert-path=/etc/slipway-dashboard)$' "$tap_dir/page")" = 2 ] &&
        [ "$(grep -cE 'port: 9998}|containerPort: 9998$|^    port: 9998$' "$tap_dir/page")" = 3 ] && grep -q 'secretName: mine$' "$tap_dir/page" &&
        grep -q 'nonResourceURLs: \[/dashboard\]' "$tap_dir/page" && grep -A3 '^- kind: ServiceAccount' "$tap_dir/page" | grep -q 'name: viewer' &&
        grep -q 'resources: \[tokenreviews\]' "$tap_dir/page" && grep -q 'resources: \[subjectaccessreviews\]' "$tap_dir/page" && grep -q 'resources: \[pods/log\]' "$tap_dir/page" &&
        ! grep -q '/requests' "$tap_dir/page" && refused dashboard.port=0 dashboard.port && refused dashboard.surprise=1 dashboard
}
nodes() { # bounded by the program's own defaults unless admins say more
    ! render -s templates/controller.yaml | grep -q -- '--nodes-' &&
        render --set 'nodePolicy.selector=pool in (gpu),nodePolicy.atWork=10%,nodePolicy.tainted=3,nodePolicy.force=true,nodePolicy.controlPlane=true' -s templates/controller.yaml >"$tap_dir/nodes" &&
        [ "$(grep -cE -- '- ("--nodes-selector=pool in \(gpu\)"|--nodes-control-plane|--nodes-at-work=10%|--nodes-tainted=3|--nodes-force)$' "$tap_dir/nodes")" = 5 ] &&
        refused nodePolicy.atWork=0 nodePolicy.atWork && refused nodePolicy.atWork=some nodePolicy.atWork && refused nodePolicy.tainted=0 nodePolicy.tainted
}
sources() {
    ! render -s templates/controller.yaml | grep -q -- '--allowed-sources' &&
        render --set 'allowedSources={*,reg.corp:5000,!10.0.0.0/8}' -s templates/controller.yaml | grep -qF -- '- "--allowed-sources=*,reg.corp:5000,!10.0.0.0/8"' &&
        refused 'allowedSources={a b}' allowedSources &&
        render --set 'mirror={quay.io=m.local/q,ghcr.io=m.local/g}' -s templates/controller.yaml |
        grep -qF -- '- "--mirror=quay.io=m.local/q,ghcr.io=m.local/g"' && refused 'mirror={quay.io}' mirror
}
alone() { ! render --set replicas=1 | grep -q 'kind: PodDisruptionBudget'; }
single_source() { # of the definitions that Helm installs
    diff <(cd deploy/crds && cat *_*.yaml) <(cat charts/slipway/crds/*.yaml) && [ "$(render --include-crds | grep -c '^kind: CustomResourceDefinition')" = "$(ls deploy/crds/*_*.yaml | wc -l)" ]
}

rules() { render --set metrics.rules.enabled=true -s templates/monitoring.yaml; }
panels() { "$slipway" render charts/slipway --set metrics.dashboard.enabled=true -s templates/monitoring.yaml | sed -n 's/^  slipway.json: //p' | jq -r . | jq -e '(.panels | length) == '"$(grep -c '^- {title' $list)"' and all(.panels[]; .targets[0].expr != "" and .gridPos.w > 0)'; }
alerts() { [ "$(rules | grep -c '  - alert: ')" = "$(sed -n '/^alerts:/,/^panels:/p' $list | grep -c '^- {name')" ] && ! rules | grep -q '@stuckAfter@'; }
# every metric that an expression speaks of is in the list
known() {
    local m
    for m in $(sed -n '/^alerts:/,$p' $list | grep -oE '\b(sro|slipway)_[a-z_]+' | sort -u); do
        grep -qE "^- \{name: (${m}|${m%_bucket})," $list || { echo "$m is no metric"; return 1; }
    done
}

# HELP and TYPE of what the operator serves, as "name type help"
served() {
    export KUBECONFIG=$tap_dir/kubeconfig
    "$slipway" emulate --kubeconfig-out "$KUBECONFIG" >/dev/null 2>&1 &
    local emulator=$! operator port
    until_ok 20 eval 'kubectl get --raw /readyz >/dev/null 2>&1'
    kubectl apply -f deploy/crds/sro.openshift.io_specialresources.yaml >/dev/null
    port=$((20000 + RANDOM % 12000)) # below the range that the kernel gives out
    "$slipway" controller --metrics-bind-address 127.0.0.1:$port --metrics-secure=false --health-probe-bind-address 127.0.0.1:0 >"$tap_dir/operator.log" 2>&1 &
    operator=$!
    until_ok 20 eval 'curl -sf http://127.0.0.1:'$port'/metrics >"$tap_dir/metrics" && grep -q "^slipway_leader 1" "$tap_dir/metrics"'
    kill $operator $emulator
    awk '/^# HELP/ { h[$3] = substr($0, index($0, $4)) } /^# TYPE/ { print $3 " " $4 " " h[$3] }' "$tap_dir/metrics" | sort
}
contract() {
    served >"$tap_dir/served" && sed -n '/^metrics:/,/^# /p' $list | grep 'program: slipway,' |
        sed -E 's/^- \{name: ([a-z_]+), .*type: ([a-z]+), .*help: "?([^"}]*)"?\}/\1 \2 \3/' | sort | diff "$tap_dir/served" -
}
# The others print theirs under a prefix; each name of the list is in their source, and the other way round.
webhook_contract() {
    diff <(grep -oE 'sw_metrics_(head|one)\(&out, "[a-z_]+"' src/slicing/webhook/metrics.c | sed 's/.*"\(.*\)"/slipway_webhook_\1/' | sort -u) \
        <(sed -n 's/^- {name: \(slipway_webhook_[a-z_]*\),.*/\1/p' $list | sort)
}

t "lint finds nothing" linted
t "what resources may do to nodes is the admins' to say" nodes
t "where recipes may come from, too" sources
t "bad values are refused by name" refuses
t "each value is in the schema" every_value
t "everything goes to the release's namespace" namespaced
t "it has a test and notes" eval 'tested && noted'
t "an older cluster gets the older PodDisruptionBudget" old
t "one replica needs no PodDisruptionBudget" alone
t "an account to act as is granted by name" acting_as
t "the rights of SRO are only for those who ask" legacy
t "a webhook asks the same, where that is wanted" webhook
t "the page is off by default, and then has what it needs" page
t "with a policy for who may act as which account, where the server has the kind" accounts
t "the policy asks what the webhook asks" same_question
t "its definitions are those of deploy/crds" single_source
t "each alert of the list is in the PrometheusRule" alerts
t "alerts and panels speak of metrics that exist" known
if command -v jq >/dev/null && command -v kubectl >/dev/null && command -v curl >/dev/null; then
    t "each panel of the list is in the dashboard" panels
    t "the operator says exactly the metrics of the list" contract
fi
t "so does the webhook" webhook_contract
plan
