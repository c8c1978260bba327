# Recipes of NVIDIA's AI Cluster Runtime: resolved from a catalogue, made into a recipe, and walked with their
# own health checks as gates. The charts are small ones of the same names.
. test/tap.sh
here=$PWD
slipway=$(realpath "${SLIPWAY:-build/slipway}")
shared=${SW_SHARED:-$PWD/../shared}
export HOME=$tap_dir
emulator=
trap '[ -z "$emulator" ] || kill "$emulator"; rm -rf "$tap_dir"' EXIT
cd "$tap_dir" || exit 1

. "$here/test/aicr_catalog.sh" # put, head, catalog/, charts/
aicr() { "$slipway" create "$@" --from-aicr >said 2>&1; }
of() { # CRITERIA NAME
    aicr "$2" --data catalog --criteria "$1"
}

result() {
    aicr --data catalog --criteria service=eks -o recipe.yaml && grep -q '^  service: eks$' recipe.yaml &&
        [ "$(sed -n '/^deploymentOrder/,/^[a-z]*:$/p' recipe.yaml | grep -c '^  - ')" = 3 ] &&
        "$slipway" create --from-aicr --data catalog --criteria service=eks -o - | cmp - recipe.yaml
}
t "criteria are resolved to a RecipeResult, to a file or standard output" result

recipe() {
    of service=eks eks && grep -q '^    - name: OS.release.ID$' eks/Chart.yaml && grep -q 'not run, as there is no validators/catalog.yaml: deployment (1)' said &&
        grep -q '^kubeVersion: .>= 1.25-0' eks/Chart.yaml && cmp eks/recipe.yaml recipe.yaml || { cat said eks/Chart.yaml; return 1; }
    aicr again --data catalog --recipe recipe.yaml && diff <(sed s/eks/again/ eks/Chart.yaml) <(sed s/eks/again/ again/Chart.yaml)
}
t "both become a recipe, which says what it leaves out" recipe

walks() {
    "$slipway" run eks --emulate --delays 0 --charts-dir charts --timeout 60s >said 2>&1 || { cat said; return 1; }
    [ "$(grep -o 'StateStarted: state [a-z-]*' said | sort -u | wc -l)" = 5 ] && grep -q 'StateReady: state gpu-operator-check: ready' said &&
        [ "$(grep -n 'StateReady: state gpu-operator-check' said | cut -d: -f1)" -lt "$(grep -n 'StateStarted: state tuning' said | cut -d: -f1)" ] || { cat said; return 1; }
}
t "it walks, and a component waits for the health checks of those that it needs" walks

rendered() {
    "$slipway" render eks --charts-dir charts --kube-version 1.29 >out.yaml 2>said || { cat said; return 1; }
    grep -q 'data: {replicas: "2"}' out.yaml && grep -q 'data: {level: "high"}' out.yaml && grep -q '  tolerations:$' out.yaml && grep -q -e '- operator: Exists$' out.yaml &&
        grep -q '{name: tuning, namespace: "tuning"}' out.yaml && [ "$(grep -A1 '^  name: gpu-operator$' out.yaml | grep -c '^  namespace: gpu-operator$')" -ge 1 ] || { cat out.yaml; return 1; }
}
gated() {
    cp -r catalog gated && sed -i 's/^- name: gpu-operator$/- name: tuning\n  healthCheck: {assertFile: checks\/tuning.yaml}\n&/' gated/registry.yaml &&
        put gated/components/tuning/manifests/tuning.yaml <<'Y' &&
apiVersion: apps/v1
kind: Deployment
metadata:
  name: tuning
  namespace: tuning
spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: "registry.example.com/x:1"}]}}}
Y
        put gated/checks/tuning.yaml <<<'{spec: {steps: [{try: [{assert: {resource: {apiVersion: apps/v1, kind: Deployment, metadata: {name: tuning, namespace: tuning}, status: {phase: complete}}}}]}]}}' &&
        aicr gate --data gated --criteria service=eks || { cat said; return 1; }
    ! "$slipway" run gate --emulate --delays 0 --charts-dir charts --timeout 5s >said 2>&1 && grep -q "state 'tuning': Deployment tuning/tuning.*phase" said || { cat said; return 1; }
}
t "what a check says of an object of the recipe itself is that object's gate" gated

other() {
    sed -i 's/^  name: tuning/  name: other/' gated/components/tuning/manifests/tuning.yaml && aicr other --data gated --criteria service=eks &&
        grep -q "note: tuning: its health check asks for Deployment tuning, which its manifests do not have: left out" said && [ ! -e other/charts/tuning-check ] || { cat said; return 1; }
}
t "what it says of an object that is nowhere is left out, and told" other

late() { # the vendor's own time limit, as that of the state
    rm -rf stop checked && cp -r catalog checked && put checked/checks/gpu-operator/health-check.yaml <<<'{spec: {timeouts: {assert: 2s}, steps: [{name: s, try: [{assert: {resource: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: gpu-operator}, data: {never: "1"}}}}]}]}}' &&
        aicr stop --data checked --criteria service=eks && ! "$slipway" run stop --emulate --delays 0 --charts-dir charts --fail-fast --timeout 60s >said 2>&1 &&
        grep -q "StateFailed: state gpu-operator-check: .*Timeout\|state 'gpu-operator-check': .*within 2s\|gpu-operator-check.*[Tt]ime" said || { cat said; return 1; }
    sed -i 's/2s/soon/' checked/checks/gpu-operator/health-check.yaml && ! aicr late --data checked --criteria service=eks && grep -q "health-check.yaml: step 's', try\[0\]: timeout: .*soon" said || { cat said; return 1; }
}
t "a check that does not hold within its time fails its state" late
late_own() { # so does one of the component's own object, whose state may take longer by itself
    rm -rf stop checked && cp -r catalog checked &&
        put checked/checks/gpu-operator/health-check.yaml <<<'{spec: {timeouts: {assert: 1s}, steps: [{name: s, try: [{assert: {timeout: 2s, resource: {apiVersion: apps/v1, kind: Deployment, metadata: {name: gpu-operator, namespace: gpu-operator}, status: {(availableReplicas > `5`): true}}}}]}]}}' &&
        aicr stop --data checked --criteria service=eks && ! "$slipway" run stop --emulate --delays 0 --charts-dir charts --fail-fast --timeout 60s >said 2>&1 &&
        grep -q "state 'gpu-operator': .*not ready within 2s: Deployment gpu-operator/gpu-operator" said || { cat said; return 1; }
}
t "a check of a component's own object that does not hold within its time fails the component's state" late_own
unknown() {
    cp -r catalog odd && put odd/checks/gpu-operator/health-check.yaml <<<'{spec: {steps: [{name: s, try: [{script: {content: "true"}}]}]}}' &&
        ! aicr odd1 --data odd --criteria service=eks && grep -q "step 's', try\[0\]: 'script' has no counterpart here" said || { cat said; return 1; }
}
t "other statements than assert and error are refused by name" unknown

t "manifests and charts have the catalogue's values, overrides and namespaces" rendered

began() { # OPTIONS: an emulated cluster of its own, whose nodes run Red Hat's CoreOS
    rm -f kubeconfig
    "$slipway" emulate "$@" --kubeconfig-out kubeconfig >emulate.log 2>&1 &
    emulator=$!
    for _ in $(seq 100); do [ ! -s kubeconfig ] || return 0; sleep 0.1; done
    cat emulate.log; return 1
}
ended() { kill "$emulator" && wait "$emulator" 2>/dev/null; emulator=; }
walk_there() { "$slipway" run catalog --criteria service=eks --kubeconfig kubeconfig --charts-dir charts --fail-fast --timeout "$@" >said 2>&1; }
asked() {
    local rc=0 since=$SECONDS
    began || return 1
    ! walk_there 60s && [ $SECONDS -lt $((since + 30)) ] && grep -q 'the recipe asks for another cluster: OS.release.ID is rhel on 4 nodes with 4.18.0-305.45.1.el8_4.x86_64, 1 node with .*, ubuntu is asked for' said || rc=1
    [ $rc = 0 ] && ! kubectl --kubeconfig kubeconfig get namespace gpu-operator >there 2>&1 && grep -q 'not found' there || rc=1
    [ $rc = 0 ] && walk_there 60s --ignore-constraints && grep -q 'warning: ConstraintNotMet: OS.release.ID is rhel' said && grep -q 'eks: Ready' said || rc=1
    ended
    [ $rc = 0 ] || cat said
    return $rc
}
t "a cluster that is not as the recipe asks stops it before anything is written, unless that is to be told only" asked
pinned() {
    cp -r catalog pinned && sed -i 's/validation: {deployment: {checks: \[operator-health\]}}/validation: {deployment: {constraints: [{name: Deployment.gpu-operator.version, value: ">= v3.1"}]}}/' pinned/overlays/eks.yaml &&
        ! "$slipway" graph pinned --criteria service=eks --charts-dir charts >said 2>&1 && grep -q 'validation.deployment: Deployment.gpu-operator.version: >= v3.1 is asked for, it is v2.0.0' said || { cat said; return 1; }
}
t "a component that is older than the recipe itself asks is refused" pinned

old() { ! "$slipway" run eks --emulate --kube-version 1.24 --charts-dir charts --timeout 20s >said 2>&1 && grep -q 'asks for Kubernetes >= 1.25-0, this is v1.24' said || { cat said; return 1; }; }
t "a cluster that is too old is told before anything is written" old

scheduled() {
    aicr placed --data catalog --criteria service=eks --accelerated-node-selector pool=gpu,a.b/c=d --accelerated-node-toleration nvidia.com/gpu=present:NoSchedule,other || { cat said; return 1; }
    "$slipway" render placed --charts-dir charts --kube-version 1.29 >out.yaml 2>/dev/null && grep -A3 -e '- effect: NoSchedule$' out.yaml | tr -d '\n' | grep -q 'key: nvidia.com/gpu *operator: Equal *value: present' &&
        grep -A1 -e '- key: other$' out.yaml | grep -q 'operator: Exists$' && sed -n '/^gpu-operator:/,/^[a-z]/p' placed/values.yaml | grep -q 'a.b/c: d' || { cat placed/values.yaml; return 1; }
    ! aicr bad --data catalog --criteria service=eks --accelerated-node-toleration a=b:Sometimes && grep -q "'a=b:Sometimes' is no KEY=VALUE:EFFECT" said && [ ! -e bad ]
}
t "pods go where the flags say, at the paths of the registry" scheduled

off() { of service=aks aks && grep -q 'note: cert-manager: it is switched off' said && ! grep -q 'name: cert-manager' aks/Chart.yaml && ! grep -q depends-on.*cert aks/Chart.yaml; }
t "a component that is switched off is left out, and counts as there" off

bundle() {
    mkdir -p b/gpu-operator/manifests b/cert-manager && cp recipe.yaml b/recipe.yaml && echo 'replicas: 3' >b/gpu-operator/values.yaml && echo '{}' >b/cert-manager/values.yaml &&
        mkdir -p b/tuning/manifests && sed 's/{{ .Release.Namespace }}/tuning/; s/{{ .Values.tuning.level }}/{{braces}}/' catalog/components/tuning/manifests/tuning.yaml >b/tuning/manifests/tuning.yaml &&
        (cd b && sha256sum */values.yaml */manifests/*.yaml >checksums.txt) && aicr fromb --recipe b &&
        "$slipway" render fromb --charts-dir charts --kube-version 1.29 >out.yaml && grep -q 'replicas: 3' out.yaml && grep -q 'level: "{{braces}}"' out.yaml || { cat said; return 1; }
    echo 'replicas: 4' >b/gpu-operator/values.yaml
    ! aicr fromb2 --recipe b && grep -q 'checksums.txt: gpu-operator/values.yaml has another digest' said && [ ! -e fromb2 ]
}
t "a bundle is taken as it is rendered, and checked against its checksums" bundle

numbered() { # as since release 0.12
    rm -rf n && mkdir -p n/001-cert-manager n/002-gpu-operator n/003-gpu-operator-post/templates n/004-tuning/templates && cp recipe.yaml n/ &&
        echo '{}' >n/001-cert-manager/values.yaml && echo '{replicas: 5, tolerations: []}' >n/002-gpu-operator/values.yaml && echo '# yours' >n/002-gpu-operator/cluster-values.yaml &&
        printf 'kind: ConfigMap\napiVersion: v1\nmetadata: {name: behind, namespace: gpu-operator}\n' >n/003-gpu-operator-post/templates/a.yaml &&
        printf 'kind: ConfigMap\napiVersion: v1\nmetadata: {name: tuned, namespace: tuning}\n' >n/004-tuning/templates/b.yaml &&
        touch n/003-gpu-operator-post/Chart.yaml n/004-tuning/Chart.yaml n/002-gpu-operator/install.sh && printf '# which\nCHART=oci://registry.example.com/nv/gpu-operator-chart\nREPO=\nVERSION="v2.5.0"\n' >n/002-gpu-operator/upstream.env && (cd n && find [0-9]* -type f | sort | xargs sha256sum >checksums.txt) &&
        echo 'replicas: 7' >n/002-gpu-operator/cluster-values.yaml && aicr numbered --recipe n && "$slipway" render numbered --charts-dir charts --kube-version 1.29 >out.yaml || { cat said; return 1; }
    grep -q 'replicas: 7' out.yaml && grep -q 'name: behind' out.yaml && grep -q 'name: tuned' out.yaml || { cat out.yaml; return 1; }
    grep -A3 'name: gpu-operator-chart$' numbered/Chart.yaml | tr -d '\n' | grep -q 'version: v2.5.0 *repository: oci://registry.example.com/nv *alias: gpu-operator' || { cat numbered/Chart.yaml; return 1; }
}
t "a bundle with numbered folders is taken, with what the user fills in and the chart that upstream.env names" numbered

vendored() { # its charts are inside
    rm -rf v w && cp -r n v && rm v/*/upstream.env && mkdir -p v/001-cert-manager/charts v/002-gpu-operator/charts &&
        put v/001-cert-manager/Chart.yaml <<<'{apiVersion: v2, name: cert-manager, version: 0.1.0, dependencies: [{name: cert-manager, version: 9.9.9, repository: ""}]}' &&
        put v/002-gpu-operator/Chart.yaml <<<'{apiVersion: v2, name: gpu-operator, version: 0.1.0, dependencies: [{name: gpu-operator-chart, version: 9.9.9, repository: ""}]}' &&
        tar czf v/001-cert-manager/charts/cert-manager-9.9.9.tgz -C charts cert-manager && cp -r charts/gpu-operator-chart v/002-gpu-operator/charts/ &&
        echo '{gpu-operator-chart: {replicas: 6}}' >v/002-gpu-operator/values.yaml && echo '{gpu-operator-chart: {replicas: 8}}' >v/002-gpu-operator/cluster-values.yaml &&
        (cd v && find [0-9]* -type f | sort | xargs sha256sum >checksums.txt) && tar czf v.tgz v && "$slipway" render v.tgz --kube-version 1.29 >out.yaml 2>said || { cat said; return 1; }
    grep -q 'replicas: 8' out.yaml && grep -q 'name: cert-manager$' out.yaml && grep -q 'name: tuned' out.yaml || { cat out.yaml; return 1; }
    echo x >>v/002-gpu-operator/charts/gpu-operator-chart/values.yaml && ! "$slipway" render v >said 2>&1 &&
        grep -q 'v/checksums.txt: 002-gpu-operator/charts/gpu-operator-chart/values.yaml has another digest' said || { cat said; return 1; }
}
t "a bundle with charts inside needs no other, and each of its files is checked" vendored
resource() { # NAME SPEC
    printf 'apiVersion: sro.openshift.io/v1beta1\nkind: SpecialResource\nmetadata: {name: %s}\nspec: {namespace: %s, %s}\n' "$1" "$1" "$2" |
        kubectl --kubeconfig kubeconfig apply -f - >applied 2>&1
}
state_of() { kubectl --kubeconfig kubeconfig get specialresource "$1" -o 'jsonpath={.status.state}' | grep -q -- "$2"; }
named() { # by a resource, which the operator walks: a bundle, and a catalogue's recipe
    local rc=0 operator
    began --platform aks || return 1
    kubectl --kubeconfig kubeconfig apply -k "$here/deploy/crds" >applied 2>&1 || { cat applied; return 1; }
    "$slipway" controller --kubeconfig kubeconfig --allowed-files "$tap_dir" --legacy-rights --metrics-bind-address 0 --health-probe-bind-address 0 >operator.log 2>&1 &
    operator=$!
    resource bundle "aicr: {data: $tap_dir/v.tgz}" && until_ok 40 state_of bundle '^Ready' && [ "$(kubectl --kubeconfig kubeconfig get configmap tuned -n tuning -o name)" = configmap/tuned ] || rc=1
    [ $rc = 0 ] && "$slipway" history bundle --kubeconfig kubeconfig >said 2>&1 && grep -q "deployed *eks-0.1.0" said || rc=1
    [ $rc = 0 ] && resource catalog "aicr: {data: \"file://$tap_dir/catalog\", criteria: service=gke}" && until_ok 20 state_of catalog "no overlay is for service 'gke'" || rc=1
    [ $rc = 0 ] && resource both "aicr: {data: /a}, chart: {name: b, version: 1.0.0, repository: {name: b, url: \"file://$tap_dir/charts/cert-manager\"}}" && until_ok 20 state_of both 'spec.aicr: spec.chart names a recipe already' || rc=1
    [ $rc = 0 ] && ! resource none "aicr: {criteria: a=b}" && grep -q 'spec.aicr.data: Required' applied || rc=1
    [ $rc = 0 ] || { cat said applied; kubectl --kubeconfig kubeconfig get specialresources -o wide; tail -5 operator.log; }
    kill $operator
    wait $operator 2>/dev/null
    ended
    return $rc
}
pushed() { # as `aicr bundle` pushes it: no chart, and no folder at its top
    openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out ca.pem -days 2 -subj "/CN=127.0.0.1" -addext subjectAltName=IP:127.0.0.1 >said 2>&1 &&
        rm -rf www && mkdir www && tar -C n -czf www/bundle-1.0.0.tgz . && touch www/bundle-1.0.0.tgz.aicr && : >log || { cat said; return 1; }
    python3 "$here/test/emulator/chart/chart_server.py" www port log ca.pem key.pem 2>server.err &
    local server=$! rc=0
    until_ok 20 test -s port
    "$slipway" render n --charts-dir charts --kube-version 1.29 >there.yaml 2>said &&
        "$slipway" render "oci://127.0.0.1:$(cat port)/nv/bundle:1.0.0" --ca-file ca.pem --username user --password "pass word" --charts-dir charts --kube-version 1.29 >out.yaml 2>said &&
        diff there.yaml out.yaml >said || rc=1
    # an image is none
    rm www/bundle-1.0.0.tgz.aicr; ! "$slipway" render "oci://127.0.0.1:$(cat port)/nv/bundle:image" --ca-file ca.pem --username user --password "pass word" >out.yaml 2>refused &&
        grep -q 'an image, not a chart' refused || rc=1
    kill "$server"
    [ $rc = 0 ] || cat said refused
    return $rc
}
t "a bundle that AICR has pushed to a registry is taken from there" pushed
t "a resource names a recipe by spec.aicr alone" named
everywhere() { # a RecipeResult, a bundle, one that is packed, and a catalogue: each command takes them
    local source
    rm -rf all && mkdir all && tar czf all/b.tgz n && cp recipe.yaml all/
    for source in "all/recipe.yaml --data catalog" n all/b.tgz "catalog --criteria service=eks"; do
        # shellcheck disable=SC2086 # words
        "$slipway" graph $source --charts-dir charts >said 2>&1 && grep -q '^gpu-operator *after cert-manager (release gpu-operator of namespace gpu-operator)' said &&
            "$slipway" lint $source --charts-dir charts >said 2>&1 && "$slipway" render $source --charts-dir charts --kube-version 1.29 >out.yaml 2>said && grep -q 'name: cert-manager$' out.yaml &&
            "$slipway" rbac $source --charts-dir charts >out.yaml 2>said && grep -q 'kind: ClusterRole' out.yaml && rm -rf all/packed && "$slipway" bundle $source --charts-dir charts -o all/packed >said 2>&1 &&
            "$slipway" package $source --charts-dir charts -d all >said 2>&1 && [ -e all/eks-0.1.0.tgz ] && "$slipway" graph all/eks-0.1.0.tgz >said 2>&1 && rm all/eks-0.1.0.tgz &&
            "$slipway" run $source --emulate --delays 0 --charts-dir charts --timeout 60s >said 2>&1 && grep -q 'eks: Ready' said || { echo "$source"; cat said; return 1; }
    done
}
t "every command takes a RecipeResult, a bundle, one that is packed, and a catalogue with criteria" everywhere
beside() { cp recipe.yaml catalog/ && "$slipway" graph catalog/recipe.yaml --charts-dir charts >said 2>&1 && rm catalog/recipe.yaml && grep -q '^tuning' said || { cat said; return 1; }; }
t "the catalogue of a RecipeResult may be where it is" beside
unclear() {
    ! "$slipway" graph recipe.yaml >said 2>&1 && grep -q 'recipe.yaml: its values and manifests are in the catalogue' said && ! "$slipway" graph catalog >said 2>&1 && grep -q 'catalog is a catalogue: criteria say' said &&
        ! "$slipway" graph n --criteria service=eks >said 2>&1 && grep -q 'n/recipe.yaml is for its own criteria' said && ! "$slipway" graph charts/cert-manager --criteria a=b >said 2>&1 && grep -q 'is no recipe of NVIDIA' said || { cat said; return 1; }
}
t "what a recipe is made of is asked for where it is not clear" unclear
checks() { # a bundle has none
    "$slipway" graph n --data catalog --charts-dir charts >said 2>&1 && grep -q '^gpu-operator-check' said && ! "$slipway" graph n --charts-dir charts 2>&1 | grep -q check || { cat said; return 1; }
}
t "a bundle takes the health checks of the catalogue that goes with it" checks
snapshot() { # FILE VERSION OS
    put "$1" <<Y
metadata: {source-node: gpu-1}
measurements:
- {type: K8s, subtypes: [{subtype: server, data: {version: $2}}, {subtype: helm, data: {cert-manager.version: 1.2.3, cert-manager.namespace: cert-manager, gpu-operator.version: v1.0.0, gpu-operator.namespace: old}}]}
- {type: OS, subtypes: [{subtype: release, data: {ID: $3}}]}
Y
}
recommended() {
    snapshot s1 v1.33.1-eks-1 ubuntu && "$slipway" recommend catalog --snapshot s1 >said 2>&1 || { cat said; return 1; }
    grep -q '^cluster: Kubernetes v1.33.1-eks-1, service eks, accelerator not known, os ubuntu$' said && grep -q '^fits *eks$' said && grep -q '^no *aks: it is for service aks, the cluster has eks$' said &&
        grep -q '^try: slipway run catalog --criteria service=eks$' said && grep -q '^cert-manager  *cert-manager  *v1.2.3  *the same$' said &&
        grep -q '^gpu-operator  *gpu-operator  *v2.0.0  *v1.0.0, in namespace old$' said && grep -q '^tuning  *tuning  *nothing$' said || { cat said; return 1; }
}
t "recommend says which recipe fits, what speaks against the others, and what it would go over" recommended
upgraded() { # a record of AICR says what the step from what is there asks for
    cp -r catalog recorded && put recorded/components/gpu-operator/upgrades.yaml <<'Y' &&
apiVersion: aicr.run/v1beta1
kind: ComponentUpgrades
component: gpu-operator
transitions:
- from: "<2.0.0"
  to: ">=2.0.0 <=2.0.0"
  verdict: manual
  summary: A kind is renamed.
  precondition: No old object is left.
  stepsByDeployer:
  - {deployers: [argocd], steps: [{id: a, description: Commit it.}]}
  - steps: [{id: b, description: Rename the objects.}]
Y
        snapshot s1 v1.33.1-eks-1 ubuntu && "$slipway" recommend recorded --snapshot s1 >said 2>&1 && grep -q '^upgrade of gpu-operator from v1.0.0 to v2.0.0: manual: A kind is renamed.$' said && grep -q '^  before: No old object is left.$' said &&
        grep -q '^  1. Rename the objects.$' said && ! grep -q 'Commit it\|upgrade of cert-manager' said && "$slipway" recommend catalog --snapshot s1 | grep -q 'upgrade of gpu-operator from v1.0.0 to v2.0.0: unknown: it has no record' || { cat said; return 1; }
    sed -i 's/verdict: manual/verdict: probably/' recorded/components/gpu-operator/upgrades.yaml && ! "$slipway" recommend recorded --snapshot s1 >said 2>&1 && grep -q "verdict: 'probably' is none of safe, manual, blocked" said || { cat said; return 1; }
}
t "recommend says what AICR's records ask for where a component is upgraded" upgraded
planned() { # from one recipe to another: of each release the record
    local rc=0
    sed -i 's/probably/manual/' recorded/components/gpu-operator/upgrades.yaml && cp -r catalog older && sed -i 's/version: v2.0.0/version: v1.0.0/' older/overlays/base.yaml && began || return 1
    "$slipway" lint recorded --criteria service=eks --charts-dir charts >said 2>&1 && ! grep -q 'dev/upgrades' said || rc=1
    "$slipway" run older --criteria service=eks --kubeconfig kubeconfig --charts-dir charts --ignore-constraints --timeout 60s >said 2>&1 &&
        cp -r charts newer && echo '{tolerations: []}' >newer/gpu-operator-chart/values.yaml &&
        "$slipway" plan ./recorded --criteria service=eks --kubeconfig kubeconfig --charts-dir newer >said 2>&1
    grep -A5 '^release gpu-operator of namespace gpu-operator' said | grep -q '^  values that its chart does not have any more: replicas$' || rc=1
    grep -A3 '^release gpu-operator of namespace gpu-operator: 1.0.0 to 2.0.0$' said | tr -d '\n' | grep -q 'record: manual: A kind is renamed. *before: No old object is left. *1. Rename the objects.' || rc=1
    ended
    [ $rc = 0 ] || cat said
    return $rc
}
t "plan says of each release that goes to another version what its record asks for" planned
walk_to() { "$slipway" run "./$1" --criteria service=eks --kubeconfig kubeconfig --charts-dir charts --ignore-constraints --timeout 60s "${@:2}" >said 2>&1; }
objects() { # of the component: which they are, and that nothing was written
    kubectl --kubeconfig kubeconfig get configmaps,deployments -n gpu-operator -o 'jsonpath={range .items[*]}{.metadata.name} {.metadata.resourceVersion} {end}'
}
stopped() { # a step that is not safe: nothing is written before it is allowed
    local rc=0 before= since
    began || return 1
    walk_to older && before=$(objects) && since=$SECONDS && [ -n "$before" ] || rc=1
    [ $rc = 0 ] && ! walk_to recorded --fail-fast && [ $((SECONDS - since)) -lt 30 ] && [ "$(objects)" = "$before" ] &&
        grep -q 'UpgradeNotAllowed.*gpu-operator from 1.0.0 to 2.0.0 is manual: A kind is renamed. Before: No old object is left. 1. Rename the objects.; when that is done, allow it by .*slipway.dev/upgrades' said &&
        grep -A1 'slipway run: eks failed:' said | grep -q '^  the recipe upgrades what is there' || rc=1
    # who names another component allows nothing
    [ $rc = 0 ] && ! walk_to recorded --fail-fast --allow-upgrades cert-manager && [ "$(objects)" = "$before" ] || rc=1
    [ $rc = 0 ] && walk_to recorded --allow-upgrades cert-manager,gpu-operator && grep -q 'eks: Ready' said || rc=1
    # the next walk has no step to make
    [ $rc = 0 ] && walk_to recorded && grep -q 'eks: Ready' said || rc=1
    ended
    [ $rc = 0 ] || { echo "$before"; cat said; }
    return $rc
}
t "an upgrade that its record does not call safe is stopped before anything is written, until it is allowed" stopped
safe() { # without a word of anybody
    local rc=0
    sed -i 's/verdict: manual/verdict: safe/; /precondition/d; /stepsByDeployer/,$d' recorded/components/gpu-operator/upgrades.yaml && began || return 1
    walk_to older && walk_to recorded --fail-fast && grep -q 'eks: Ready' said || rc=1
    ended
    [ $rc = 0 ] || cat said
    return $rc
}
t "one that its record calls safe goes on by itself" safe
replaced() { # a component in the place of another: as with an upgrade, its record counts
    local rc=0
    cp -r catalog successor && grep -rl gpu-operator successor | xargs sed -i 's/gpu-operator/gpu-stack/g' && mv successor/components/gpu-operator successor/components/gpu-stack &&
        mv successor/checks/gpu-operator successor/checks/gpu-stack && cp -r charts/gpu-operator-chart charts/gpu-stack-chart && sed -i 's/gpu-operator/gpu-stack/' charts/gpu-stack-chart/Chart.yaml &&
        put successor/components/gpu-stack/upgrades.yaml <<'Y' && began || return 1
apiVersion: aicr.run/v1beta1
kind: ComponentUpgrades
component: gpu-stack
replaces: {component: gpu-operator, verdict: manual, summary: It has another name., stepsByDeployer: [{steps: [{id: a, description: Move the policies.}]}]}
Y
    snapshot s1 v1.33.1-eks-1 ubuntu && "$slipway" recommend successor --snapshot s1 >said 2>&1
    grep -q '^gpu-stack v2.0.0 replaces gpu-operator: manual: It has another name.$' said && grep -q '^  1. Move the policies.$' said || rc=1
    [ $rc = 0 ] && walk_to older && { "$slipway" plan ./successor --criteria service=eks --kubeconfig kubeconfig --charts-dir charts >said 2>&1; grep -A2 '^release gpu-stack of namespace gpu-stack: install 2.0.0$' said | tr -d '\n' | grep -q 'record: manual: It has another name. *1. Move the policies.'; } || rc=1
    [ $rc = 0 ] && ! walk_to successor --fail-fast && grep -q 'UpgradeNotAllowed.*gpu-stack in the place of gpu-operator is manual: It has another name. 1. Move the policies.; when that is done' said &&
        ! kubectl --kubeconfig kubeconfig get namespace gpu-stack >there 2>&1 && kubectl --kubeconfig kubeconfig get deployment -n gpu-operator gpu-operator >there || rc=1
    [ $rc = 0 ] && walk_to successor --allow-upgrades gpu-stack && grep -q 'eks: Ready' said && ! kubectl --kubeconfig kubeconfig get deployment -n gpu-operator gpu-operator >there 2>&1 || rc=1
    ended
    [ $rc = 0 ] || cat said
    return $rc
}
t "a component in the place of another is stopped likewise, until it is allowed" replaced
unfit() {
    local rc
    snapshot s2 v1.20.3-eks-1 rhel; "$slipway" recommend catalog --snapshot s2 >said 2>&1; rc=$?
    [ $rc = 1 ] && grep -q '^no *eks: K8s.server.version is v1.20.3-eks-1, >= 1.25 is asked for; OS.release.ID is rhel on gpu-1, ubuntu is asked for$' said && ! grep -q '^try' said || { cat said; return 1; }
    "$slipway" recommend recipe.yaml --snapshot s2 -o json >said 2>&1; rc=$?
    [ $rc = 1 ] && jq -e '.recipes[0].name == "recipe.yaml" and (.recipes[0].against | length) == 2 and .components[0].there == "the same" and .facts.nodes[0].name == "gpu-1"' said >/dev/null || { cat said; return 1; }
}
t "recommend of a recipe that does not fit ends with 1, and says all that speaks against it" unfit
planned_offline() { # 1: there is something to do, 2: a constraint stops it
    local rc=0
    snapshot s1 v1.33.1-eks-1 ubuntu; KUBECONFIG=none "$slipway" plan recipe.yaml --snapshot s1 >said 2>&1 || rc=$?
    [ $rc = 1 ] && grep -q '^fits *recipe.yaml' said && grep -q '^gpu-operator  *gpu-operator  *v2.0.0  *v1.0.0, in namespace old$' said || { cat said; return 1; }
    rc=0; snapshot s2 v1.20.3-eks-1 rhel; KUBECONFIG=none "$slipway" plan recipe.yaml --snapshot s2 -o json >said 2>&1 || rc=$?
    [ $rc = 2 ] && jq -e '.recipes[0].against | length == 2' said >/dev/null || { cat said; return 1; }
    rc=0; KUBECONFIG=none "$slipway" plan catalog --criteria service=eks --snapshot s1 >said 2>&1 || rc=$?
    [ $rc = 1 ] && grep -q '^fits *eks$' said || { cat said; return 1; }
    rc=0; "$slipway" plan recipe.yaml --snapshot nowhere >said 2>&1 || rc=$?
    [ $rc = 2 ] && grep -q '^slipway plan: nowhere: No such file' said || { cat said; return 1; }
}
t "plan of a snapshot asks no cluster" planned_offline
there() { # what is on a cluster: its nodes, and Helm's releases
    local rc=0
    began || return 1
    walk_there 60s --ignore-constraints && "$slipway" recommend catalog --kubeconfig kubeconfig --criteria service=eks >said 2>&1 && rc=1 # OS.release.ID
    [ $rc = 0 ] && grep -q '^no *eks: OS.release.ID is rhel on ' said && "$slipway" recommend recipe.yaml --kubeconfig kubeconfig >said 2>&1 && rc=1
    [ $rc = 0 ] && grep -q '^cluster: Kubernetes v1.36.0, service not known, accelerator not known, os rhel$' said && grep -q '^gpu-operator  *gpu-operator  *v2.0.0  *9.9.9$' said || rc=1
    ended
    [ $rc = 0 ] || cat said
    return $rc
}
t "recommend reads a cluster" there
empty() {
    rm -r b/tuning && sed -i '/tuning/d' b/checksums.txt &&
        echo 'replicas: 3' >b/gpu-operator/values.yaml && aicr empty --recipe b && ! grep -q tuning empty/Chart.yaml || { cat said; return 1; }
}
t "a component whose manifests are empty is no state" empty

refused() {
    ! aicr x --data catalog --criteria service=gke && grep -q "no overlay is for service 'gke'; there are: " said &&
        ! aicr x --data catalog && grep -q 'either --criteria or --recipe' said && ! aicr x --criteria service=eks && grep -q 'where the catalogue is' said &&
        ! aicr x --data /nonexistent --criteria service=eks && grep -q '/nonexistent: No such file' said && ! aicr x --data charts --criteria service=eks && grep -q 'charts is no catalogue' said && ! aicr eks --data catalog --criteria service=eks && grep -q 'exists already' said &&
        ! "$slipway" create x --data catalog >said 2>&1 && grep -q 'are for --from-aicr' said && [ ! -e x ]
}
t "what cannot be is told in one line, and nothing is written" refused

kustomize() { sed 's/^    type: Helm$/    type: Kustomize/' recipe.yaml >k.yaml; ! aicr k --data catalog --recipe k.yaml && grep -q "type: 'Kustomize' has no counterpart here" said && [ ! -e k ]; }
t "components of kustomize are refused by name" kustomize

bundles() { # of NVIDIA's own, with small charts in place of all
    local b c
    for b in "$shared"/aicr/bundles/*; do
        rm -rf r all && aicr r --recipe "$b" && mkdir all || { cat said; return 1; }
        sed -n 's/^  - name: \(.*\)/\1/p' r/Chart.yaml | while read -r c; do
            [ -d "r/charts/$c" ] || { cp -r charts/cert-manager "all/$c" && sed -i "s/cert-manager/$c/" "all/$c/Chart.yaml"; }
        done
        "$slipway" render r --charts-dir all --kube-version 1.34 >out.yaml 2>said || { tail -5 said; return 1; }
        [ "$(grep -c '^kind: Deployment' out.yaml)" -ge 10 ] || return 1
    done
}
if [ -d "$shared/aicr/bundles" ]; then t "NVIDIA's bundles become recipes" bundles; else skip "NVIDIA's bundles" "no ../shared"; fi
plan
