# slipway create, package, configmap and diff: what is made by one is taken by the others.
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/slipway}")
root=$PWD

fails() { # CODE WORDS COMMAND...: that exit status, and those words on stderr
    local code=$1 words=$2 rc=0
    shift 2
    "$@" >"$tap_dir/stdout" 2>"$tap_dir/stderr" || rc=$?
    cat "$tap_dir/stderr"
    [ $rc -eq "$code" ] && grep -qF -- "$words" "$tap_dir/stderr"
}

# ---- create --------------------------------------------------------------------------------------

creates() {
    cd "$tap_dir" && "$slipway" create my-recipe && cd "$root" &&
        [ -f "$tap_dir/my-recipe/README.md" ] && ! grep -r '<NAME>' "$tap_dir/my-recipe"
}

renders() {
    "$slipway" render "$tap_dir/my-recipe" >"$tap_dir/manifests" &&
        [ "$(grep -c '^kind:' "$tap_dir/manifests")" -eq 3 ] &&
        grep -q 'slipway.dev/wait: all' "$tap_dir/my-recipe/Chart.yaml"
}

lints_clean() {
    "$slipway" lint "$tap_dir/my-recipe" >"$tap_dir/lint" && [ ! -s "$tap_dir/lint" ]
}

walks() {
    "$slipway" run "$tap_dir/my-recipe" --emulate --delays 0 --timeout 60s -o json >"$tap_dir/run" &&
        grep -q '"name": "1000"' "$tap_dir/run"
}

two_files() { # both are read: the second one is refused
    echo 'message: x' >"$tap_dir/1.yaml"; echo '- x' >"$tap_dir/2.yaml"
    fails 2 ": $tap_dir/2.yaml" "$slipway" run "$tap_dir/my-recipe" --emulate -f "$tap_dir/1.yaml,$tap_dir/2.yaml"
}

overwrites_nothing() {
    echo mine >"$tap_dir/my-recipe/values.yaml.keep"
    fails 2 "exists already" "$slipway" create "$tap_dir/my-recipe" &&
        [ -f "$tap_dir/my-recipe/values.yaml.keep" ] && rm "$tap_dir/my-recipe/values.yaml.keep"
}

refuses_names() {
    local name
    for name in Upper under_score -dash dash- "$(printf 'a%.0s' {1..54})" ""; do
        fails 2 "is no name for a recipe" "$slipway" create -- "$tap_dir/$name" || return 1
    done
    fails 2 "what is the recipe to be called" "$slipway" create &&
        fails 2 "No such file" "$slipway" create "$tap_dir/no/such/parent"
}

is_no_recipe() { # what was meant is said
    : >"$tap_dir/empty.tgz"
    fails 2 'empty.tgz: not a packaged chart: it is empty' "$slipway" run "$tap_dir/empty.tgz" --emulate &&
        fails 2 'simple-kmod.yaml: not a packaged chart: a manifest, which kubectl applies; a recipe is a folder' "$slipway" run charts/example/simple-kmod-0.0.1/simple-kmod.yaml --emulate &&
        fails 2 'Chart.yaml: not a packaged chart: of a chart as a folder, name the folder' "$slipway" run charts/example/simple-kmod-0.0.1/Chart.yaml --emulate
}
full_disk() { # must not look like success, whoever prints
    local c
    [ -w /dev/full ] || return 0
    for c in --help --version 'hooks' 'completion bash' "render $tap_dir/my-recipe" "graph $tap_dir/my-recipe" 'lint --help'; do
        "$slipway" $c >/dev/full 2>"$tap_dir/stderr" && { echo "$c: success"; return 1; }
        grep -q 'could not be written' "$tap_dir/stderr" || { cat "$tap_dir/stderr"; return 1; }
    done
    # a reader that goes away is told nothing
    "$slipway" hooks 2>"$tap_dir/stderr" | true
    [ ! -s "$tap_dir/stderr" ]
}
nobody_reads() { # a walk that went well does not fail because of that
    "$slipway" run "$tap_dir/my-recipe" --emulate --delays 0 --timeout 60s 2>"$tap_dir/stderr" | true
    [ ! -s "$tap_dir/stderr" ] || { cat "$tap_dir/stderr"; return 1; }
    "$slipway" run "$tap_dir/my-recipe" --emulate --delays 0 --timeout 60s >&- 2>"$tap_dir/stderr" && return 1
    cat "$tap_dir/stderr"
    grep -q 'could not be written' "$tap_dir/stderr" && ! grep -q failed "$tap_dir/stderr"
}
keeps_closed_descriptors() { # what is printed there must not go into a connection
    local pid fd rc=0
    rm -f "$tap_dir/closed.yaml"
    "$slipway" emulate --kubeconfig-out "$tap_dir/closed.yaml" <&- >&- 2>&- &
    pid=$!
    until_ok 20 test -s "$tap_dir/closed.yaml" || rc=1
    for fd in 0 1 2; do
        [ "$(readlink "/proc/$pid/fd/$fd")" = /dev/null ] || rc=1
    done
    kill "$pid"
    wait "$pid" || true
    return $rc
}

one_cluster() { # not two, and over TLS only what speaks it
    fails 2 '--kubeconfig and --context name a cluster that is there, --emulate makes one' "$slipway" run "$tap_dir/my-recipe" --emulate --kubeconfig /nope &&
        fails 2 'which of them?' "$slipway" run "$tap_dir/my-recipe" --emulate --context x || return 1
    local pid rc=0
    "$slipway" emulate --kubeconfig-out "$tap_dir/plain.yaml" >"$tap_dir/emu" 2>&1 &
    pid=$!
    until_ok 20 test -s "$tap_dir/plain.yaml" && sed 's|http://|https://|' "$tap_dir/plain.yaml" >"$tap_dir/tls.yaml" || rc=1
    timeout 100 "$slipway" run "$tap_dir/my-recipe" --kubeconfig "$tap_dir/tls.yaml" --timeout 0 2>"$tap_dir/stderr" && rc=1
    cat "$tap_dir/stderr"
    [ "$(grep -c 'does not speak TLS' "$tap_dir/stderr")" -eq 1 ] && ! grep -q 'trying again' "$tap_dir/stderr" || rc=1
    kill "$pid"
    wait "$pid" || true
    return $rc
}

t "create: writes a recipe" creates
t "create: it renders three objects" renders
t "create: it lints without a word" lints_clean
t "create: it walks to Ready" walks
t "run takes files with commas between" two_files
t "create: nothing is overwritten" overwrites_nothing
t "create: bad names are refused" refuses_names
t "what is no recipe is said to be what it is" is_no_recipe
t "one cluster, which speaks as it is called" one_cluster
t "a full disk is a failure, with a word" full_disk
t "a walk that nobody watches is not one that failed" nobody_reads
t "stdin, stdout and stderr that are closed are given to nothing else" keeps_closed_descriptors

# ---- package -------------------------------------------------------------------------------------

packs() {
    mkdir -p "$tap_dir/packed" && touch "$tap_dir/my-recipe/x.bak" &&
        "$slipway" package "$tap_dir/my-recipe" -d "$tap_dir/packed" &&
        tar tzf "$tap_dir/packed/my-recipe-0.1.0.tgz" >"$tap_dir/list" 2>"$tap_dir/stderr" &&
        [ ! -s "$tap_dir/stderr" ] &&
        [ "$(head -n 1 "$tap_dir/list")" = my-recipe/Chart.yaml ] &&
        ! grep -v '^my-recipe/' "$tap_dir/list" && ! grep -F x.bak "$tap_dir/list"
}

renders_as_before() {
    "$slipway" render "$tap_dir/packed/my-recipe-0.1.0.tgz" | diff "$tap_dir/manifests" -
}

packs_the_same_again() {
    cp -r "$tap_dir/my-recipe" "$tap_dir/copy" && mkdir "$tap_dir/again" &&
        "$slipway" package "$tap_dir/copy/" -d "$tap_dir/again" &&
        cmp "$tap_dir/packed/my-recipe-0.1.0.tgz" "$tap_dir/again/my-recipe-0.1.0.tgz"
}

skips_schema() {
    local chart=$tap_dir/strict
    mkdir -p "$chart/templates" && printf 'apiVersion: v2\nname: strict\nversion: 1.0.0\n' >"$chart/Chart.yaml" &&
        printf '{"properties": {"a": {"type": "integer"}}}' >"$chart/values.schema.json" &&
        printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "{{ .Values.a }}"}\n' >"$chart/templates/a.yaml" || return 1
    ! "$slipway" render "$chart" --set a=x && "$slipway" render "$chart" --set a=x --skip-schema-validation | grep -q 'name: "x"'
}

packs_dependencies() {
    "$slipway" package recipes/nvidia-mig -d "$tap_dir/again" &&
        "$slipway" render recipes/nvidia-mig >"$tap_dir/before" &&
        "$slipway" render "$tap_dir"/again/nvidia-mig-*.tgz | diff "$tap_dir/before" -
}

# Values may be secret: what is written with them is for its owner alone.
writes_for_its_owner() {
    local others
    (umask 0 && "$slipway" create "$tap_dir/own" && "$slipway" package "$tap_dir/own" -d "$tap_dir/own" &&
        "$slipway" render "$tap_dir/own" --output-dir "$tap_dir/own/out" &&
        "$slipway" bundle "$tap_dir/own" -o "$tap_dir/own/bundle.tgz") || return 1
    others=$(find "$tap_dir/own" -type f ! -perm 600)
    echo "$others"
    [ -z "$others" ] && [ "$(find "$tap_dir/own" -type f | wc -l)" -gt 6 ]
}

packs_no_nonsense() {
    fails 2 "Chart.yaml" "$slipway" package "$tap_dir/packed" &&
        fails 2 "which recipe" "$slipway" package &&
        fails 2 "no/folder" "$slipway" package "$tap_dir/my-recipe" -d "$tap_dir/no/folder" &&
        fails 2 "--destination: '' is no folder" "$slipway" package "$tap_dir/my-recipe" -d ''
}

t "package: an archive with one folder, without what .helmignore names" packs
t "package: it renders as the folder does" renders_as_before
t "package: equal recipes, equal bytes" packs_the_same_again
t "render: --skip-schema-validation takes what a schema refuses" skips_schema
t "package: dependencies in other folders are packed too" packs_dependencies
t "what is written may be read by its owner alone" writes_for_its_owner
t "package: bad input is told" packs_no_nonsense

# ---- configmap -----------------------------------------------------------------------------------

prints_readable_keys() {
    "$slipway" configmap "$tap_dir/my-recipe" --name carrier --namespace here >"$tap_dir/cm.yaml" &&
        grep -qx '  name: carrier' "$tap_dir/cm.yaml" &&
        grep -qx '  0000-settings.yaml: |' "$tap_dir/cm.yaml" &&
        ! grep -q binaryData "$tap_dir/cm.yaml"
}

prints_an_archive() {
    "$slipway" configmap recipes/nvidia-mig --namespace here >"$tap_dir/cm-packed.yaml" &&
        grep -q 'cm://here/nvidia-mig/nvidia-mig-0.1.0.tgz' "$tap_dir/cm-packed.yaml" &&
        sed -n 's/^  nvidia-mig-0.1.0.tgz: //p' "$tap_dir/cm-packed.yaml" | base64 -d |
        cmp - "$tap_dir/again/nvidia-mig-0.1.0.tgz"
}

packs_for_sro() { # which reads no keys
    "$slipway" configmap "$tap_dir/my-recipe" --namespace here --packed >"$tap_dir/cm-sro.yaml" &&
        grep -q 'cm://here/my-recipe/my-recipe-0.1.0.tgz' "$tap_dir/cm-sro.yaml" && ! grep -q 0000-settings "$tap_dir/cm-sro.yaml" &&
        sed -n 's/^  my-recipe-0.1.0.tgz: //p' "$tap_dir/cm-sro.yaml" | base64 -d | tar tz | grep -qx my-recipe/templates/0000-settings.yaml
}

refuses_too_much() {
    cp -r "$tap_dir/my-recipe" "$tap_dir/large" &&
        head -c 2000000 /dev/urandom >"$tap_dir/large/noise.bin" &&
        fails 2 "more than a ConfigMap may hold" "$slipway" configmap "$tap_dir/large" &&
        fails 2 "is no name" "$slipway" configmap "$tap_dir/my-recipe" --name Not/One
}

t "configmap: a single chart is one key a file" prints_readable_keys
t "configmap: dependencies make it an archive with an index" prints_an_archive
t "configmap: --packed makes an archive of any recipe" packs_for_sro
t "configmap: what is too large or misnamed is refused" refuses_too_much

# ---- no cluster ----------------------------------------------------------------------------------

promises_nothing() { # who asks once does not say that it tries again; who does, says so
    local c
    sed 's/^    //' >"$tap_dir/refused.yaml" <<'YAML'
    apiVersion: v1
    kind: Config
    current-context: a
    clusters: [{name: a, cluster: {server: "http://127.0.0.1:1"}}]
    contexts: [{name: a, context: {cluster: a, user: u}}]
    users: [{name: u, user: {}}]
YAML
    for c in status 'explain x' 'test x' 'plan x' "diff $tap_dir/my-recipe" 'uninstall --plan' 'gather -o /dev/null'; do
        "$slipway" $c --kubeconfig "$tap_dir/refused.yaml" 2>"$tap_dir/stderr" && return 1
        cat "$tap_dir/stderr"
        [ "$(grep -c 'Connection refused' "$tap_dir/stderr")" -eq 1 ] && ! grep -q again "$tap_dir/stderr" || return 1
    done
    "$slipway" run "$tap_dir/my-recipe" --kubeconfig "$tap_dir/refused.yaml" --timeout 1s 2>"$tap_dir/stderr"
    [ $? -eq 3 ] && grep -q 'trying again until it answers' "$tap_dir/stderr"
}

t "a server that does not answer: no attempt is promised that is not made" promises_nothing

# ---- a cluster -----------------------------------------------------------------------------------

"$slipway" emulate --kubeconfig-out "$tap_dir/kubeconfig" >"$tap_dir/log" 2>&1 &
emulator=$!
trap 'kill $emulator $controller 2>/dev/null; wait; rm -rf "$tap_dir"' EXIT
controller=
until_ok 20 test -s "$tap_dir/kubeconfig" || cat "$tap_dir/log"
export KUBECONFIG=$tap_dir/kubeconfig
server=$(sed -n 's/^ *server: *//p' "$KUBECONFIG" | tr -d '"')

put() { # PATH FILE: server-side apply
    curl -fsS -X PATCH -H 'Content-Type: application/apply-patch+yaml' --data-binary "@$2" \
        "$server$1?fieldManager=test&force=true" >/dev/null
}

# ---- diff ----------------------------------------------------------------------------------------

differs() { # CODE ARGS...: that exit status; the diff is in $tap_dir/diff
    local code=$1 rc=0
    shift
    "$slipway" diff "$@" >"$tap_dir/diff" 2>"$tap_dir/stderr" || rc=$?
    cat "$tap_dir/diff" "$tap_dir/stderr"
    [ $rc -eq "$code" ]
}

all_is_new() {
    differs 1 "$tap_dir/my-recipe" && [ "$(grep -c '(not there)$' "$tap_dir/diff")" -eq 3 ] &&
        ! grep '^-[^-]' "$tap_dir/diff" &&
        grep -qF '+++ apps/v1 DaemonSet my-recipe/my-recipe (applied)' "$tap_dir/diff"
}

nothing_was_changed() {
    ! curl -fsS "$server/api/v1/namespaces/my-recipe/configmaps/my-recipe" 2>/dev/null
}

none_once_applied() {
    "$slipway" run "$tap_dir/my-recipe" --timeout 60s && differs 0 "$tap_dir/my-recipe" &&
        [ ! -s "$tap_dir/diff" ]
}

only_what_changes() {
    differs 1 "$tap_dir/my-recipe" --set message=Bye &&
        [ "$(grep -c '^[-+][^-+]' "$tap_dir/diff")" -eq 2 ] &&
        grep -qx -- '-  message: Hello from my-recipe' "$tap_dir/diff" &&
        grep -qx -- '+  message: Bye' "$tap_dir/diff" && ! grep -q managedFields "$tap_dir/diff"
}

names_unserved_kinds() {
    cp -r "$tap_dir/my-recipe" "$tap_dir/odd" &&
        printf 'apiVersion: odd.example.com/v1\nkind: Odd\nmetadata: {name: odd}\n' \
            >"$tap_dir/odd/templates/2000-odd.yaml" &&
        differs 1 "$tap_dir/odd" &&
        grep -qF 'odd.example.com/v1 Odd is not served yet' "$tap_dir/stderr" &&
        grep -qx '+kind: Odd' "$tap_dir/diff"
}

# The scope of a kind that another state's definition brings: its objects are in the namespace, or in none.
knows_scopes() { # SCOPE NAMESPACES
    printf 'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: odds.odd.example.com}\nspec: {group: odd.example.com, scope: %s, names: {kind: Odd, plural: odds}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}\n' \
        "$1" >"$tap_dir/odd/templates/1500-odd.yaml"
    differs 1 "$tap_dir/odd" && sed -n '/^+kind: Odd/,/^---/p' "$tap_dir/diff" >"$tap_dir/odd.diff" &&
        [ "$(grep -c '^+  namespace: my-recipe' "$tap_dir/odd.diff")" = "$2" ] || { cat "$tap_dir/odd.diff"; return 1; }
}

hides_secrets() {
    rm -f "$tap_dir/odd/templates/1500-odd.yaml"
    printf 'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {key: hush}\n' \
        >"$tap_dir/odd/templates/2000-odd.yaml"
    differs 1 "$tap_dir/odd" && grep -qF '*** (after)' "$tap_dir/diff" &&
        ! grep -e hush -e "$(printf hush | base64)" "$tap_dir/diff"
}

tells_errors() {
    printf 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {replicas: x}\n' \
        >"$tap_dir/odd/templates/2000-odd.yaml"
    differs 2 "$tap_dir/odd" && grep -qF '2000-odd.yaml:1: ' "$tap_dir/stderr" &&
        differs 2 "$tap_dir/no-such-recipe" &&
        differs 2 "$tap_dir/my-recipe" --kubeconfig "$tap_dir/no-such-file" && differs 2
}

t "diff: on an empty cluster all is new" all_is_new
t "diff: nothing is changed by it" nothing_was_changed
t "diff: none once it is applied" none_once_applied
t "diff: only what changes is shown" only_what_changes
t "diff: kinds that are not served are named" names_unserved_kinds
t "diff puts what another state's definition brings into the namespace" knows_scopes Namespaced 1
t "and what has none not" knows_scopes Cluster 0
t "diff: values of Secrets are not shown" hides_secrets
once_a_kernel() { # the resource's own values and each kernel's objects: two kernels, two DaemonSets
    "$slipway" run charts/example/simple-kmod --timeout 60s && differs 0 charts/example/simple-kmod &&
        [ ! -s "$tap_dir/diff" ] && differs 1 charts/example/simple-kmod --set-json 'buildArgs=[]' &&
        [ "$(grep -c '^+++ build.openshift.io/v1 BuildConfig' "$tap_dir/diff")" -eq 2 ]
}
none_of_a_large_recipe() {
    "$slipway" run recipes/nvidia-mig --timeout 120s && differs 0 recipes/nvidia-mig
}

kept_template() { # a driver that SRO brought up: its template goes on in the form that it has
    local spec='selector: {matchLabels: {app: kept}}, template: {metadata: {labels: {app: kept, specialresource.openshift.io/owned: "true"}}, spec: {nodeSelector: {feature.node.kubernetes.io/a: "1"}, containers: [{name: c, image: i}]}}'
    mkdir -p "$tap_dir/kept/templates" && printf 'apiVersion: v2\nname: kept\nversion: 0.0.1\n' >"$tap_dir/kept/Chart.yaml" &&
        printf 'apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: kept}\nspec: {%s}\n' "$spec" >"$tap_dir/kept/templates/1000-d.yaml" &&
        differs 1 "$tap_dir/kept" && grep nodeAffinity "$tap_dir/diff" &&
        printf 'apiVersion: v1\nkind: Namespace\nmetadata: {name: kept}\n' >"$tap_dir/ns" && put /api/v1/namespaces/kept "$tap_dir/ns" &&
        printf 'apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: kept, namespace: kept}\nspec: {%s}\n' "$spec" >"$tap_dir/d" &&
        put /apis/apps/v1/namespaces/kept/daemonsets/kept "$tap_dir/d" &&
        differs 1 "$tap_dir/kept" && ! grep nodeAffinity "$tap_dir/diff"
}

t "diff: the template of pods that run is kept where it means the same" kept_template
t "diff: what is applied once for each kernel is compared for each" once_a_kernel
without_nodes() { # as the operator, which waits for a node
    rm -f "$tap_dir/bare"
    "$slipway" emulate --no-nodes --platform kubernetes --kubeconfig-out "$tap_dir/bare" >/dev/null 2>&1 &
    local pid=$! rc
    until_ok 20 test -s "$tap_dir/bare"
    KUBECONFIG=$tap_dir/bare differs 1 recipes/simple-kmod
    rc=$?
    kill $pid
    [ $rc -eq 0 ] && grep -q 'left out: no node has a kernel for it" state=driver-container' "$tap_dir/stderr" &&
        grep -q '^+++ ' "$tap_dir/diff"
}
t "diff: where no node has a kernel, what is for each kernel is left out" without_nodes
t "diff: errors end with 2" tells_errors
t "diff: none of a recipe with dependencies and hooks, once it is applied" none_of_a_large_recipe

# ---- ConfigMaps, read by the controller ----------------------------------------------------------

resource() { # NAME CHART VERSION MAP: a resource whose recipe is in a ConfigMap
    cat >"$tap_dir/sr.yaml" <<YAML
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResource
metadata: {name: $1}
spec:
  namespace: $1
  chart: {name: $2, version: $3, repository: {name: test, url: "cm://here/$4"}}
YAML
    put "/apis/sro.openshift.io/v1beta1/specialresources/$1" "$tap_dir/sr.yaml"
}

is_ready() { "$slipway" status "$1" -o json | grep -q '"phase": "Ready"'; }

has_agent() { curl -fsS "$server/apis/apps/v1/namespaces/$1/daemonsets/$1" >/dev/null; }

walks_from_keys() {
    printf 'apiVersion: v1\nkind: Namespace\nmetadata: {name: here}\n' >"$tap_dir/ns.yaml"
    put /api/v1/namespaces/here "$tap_dir/ns.yaml" &&
        put /api/v1/namespaces/here/configmaps/carrier "$tap_dir/cm.yaml" &&
        resource by-keys my-recipe 0.1.0 carrier && until_ok 30 is_ready by-keys && has_agent by-keys
}

walks_from_an_archive() {
    cp -r "$tap_dir/my-recipe" "$tap_dir/nested" && mkdir -p "$tap_dir/nested/charts/sub" &&
        printf 'apiVersion: v2\nname: sub\nversion: 1.0.0\n' >"$tap_dir/nested/charts/sub/Chart.yaml" &&
        "$slipway" configmap "$tap_dir/nested" --name packed --namespace here >"$tap_dir/packed.yaml" &&
        grep -q '^binaryData:' "$tap_dir/packed.yaml" &&
        put /api/v1/namespaces/here/configmaps/packed "$tap_dir/packed.yaml" &&
        resource by-archive my-recipe 0.1.0 packed && until_ok 30 is_ready by-archive &&
        has_agent by-archive
}

nobody_looked() { # says that, without tables of nothing
    resource unseen my-recipe 0.1.0 carrier && "$slipway" status unseen >"$tap_dir/status" || return 1
    cat "$tap_dir/status"
    grep -qx 'no operator has looked at it yet; does one run?' "$tap_dir/status" &&
        ! grep -e STATE -e NODE "$tap_dir/status"
}
t "status: a resource that no operator has seen" nobody_looked

"$slipway" controller >"$tap_dir/controller.log" 2>&1 &
controller=$!
t "configmap: the controller walks one that has a key a file" walks_from_keys
t "configmap: the controller walks one that has an archive" walks_from_an_archive

plan
