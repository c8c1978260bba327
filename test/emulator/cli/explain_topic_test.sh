# slipway explain annotation|field|hook|state: what a name means, with an example, without a cluster.
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/slipway}")
export KUBECONFIG=$tap_dir/none

says() { # TOPIC NAME LINE...: exactly these lines are among what is printed
    local topic=$1 name=$2; shift 2
    "$slipway" explain "$topic" "$name" >"$tap_dir/said" || { cat "$tap_dir/said"; return 1; }
    for line; do grep -qxF -- "$line" "$tap_dir/said" || { echo "no line '$line' in:"; cat "$tap_dir/said"; return 1; }; done
}

refuses() { # TOPIC NAME TEXT
    local rc=0
    "$slipway" explain "$1" "$2" >"$tap_dir/said" 2>&1 || rc=$?
    cat "$tap_dir/said"
    [ $rc -eq 2 ] && grep -qF -- "$3" "$tap_dir/said"
}

every_annotation() { # each has an example that lint takes
    "$slipway" hooks -o json | sed "s|\\\\/|/|g" | sed -n 's|^ *"name": "\(.*/.*\)",*$|\1|p' >"$tap_dir/names"
    [ "$(wc -l <"$tap_dir/names")" -ge 20 ] || return 1
    while read -r name; do
        "$slipway" explain annotation "$name" >"$tap_dir/said" && grep -qx 'example:' "$tap_dir/said" || { echo "$name"; return 1; }
    done <"$tap_dir/names"
}

of_others() { # all that docs/annotations.md has but labels
    says annotation helm.sh/hook '    an annotation of manifests; it is Helm'"'"'s' '        helm.sh/hook: pre-install,pre-upgrade' &&
        says annotation slipway.dev/no-hooks '    an annotation of a SpecialResource' '        slipway.dev/no-hooks: "true"' &&
        says annotation mig.das.com/allocation "    an annotation of the answer to kubelet; it is DAS's" || return 1
    sed -n 's/^| `\([a-z.]*\/[a-z/-]*\)`.*| .* | .*/\1/p' docs/annotations.md | sort -u >"$tap_dir/names"
    [ "$(wc -l <"$tap_dir/names")" -ge 30 ] || return 1
    local unknown=0
    while read -r name; do
        "$slipway" explain annotation "$name" >"$tap_dir/said" 2>&1 || { cat "$tap_dir/said"; unknown=$((unknown + 1)); }
    done <"$tap_dir/names"
    [ $unknown -eq 0 ]
}
every_field() { # each field below the first two levels, and its example is one that lint takes
    "$slipway" explain field spec | sed -n '/^fields:/,$s/^    \([a-zA-Z][a-zA-Z]*\) .*/\1/p' >"$tap_dir/fields"
    [ "$(wc -l <"$tap_dir/fields")" -ge 20 ] || return 1
    while read -r field; do
        "$slipway" explain field "spec.$field" >"$tap_dir/said" && grep -q "^ *$field:" "$tap_dir/said" || { echo "$field"; return 1; }
    done <"$tap_dir/fields"
}

alone() { # TOPIC LINE...: without a name it lists what there is, without a cluster
    local topic=$1; shift
    "$slipway" explain "$topic" >"$tap_dir/said" || { cat "$tap_dir/said"; return 1; }
    for line; do grep -qE -- "$line" "$tap_dir/said" || { echo "no line '$line' in:"; cat "$tap_dir/said"; return 1; }; done
    grep -qx "'slipway explain $topic NAME' says more, with an example." "$tap_dir/said"
}
only_required() { # of spec.chart: what has to be there
    "$slipway" explain field spec.chart | sed -n '/^example:/,/^$/p' >"$tap_dir/example"
    cat "$tap_dir/example"
    [ "$(sed -n 's/^ *\([a-z]*\):.*/\1/p' "$tap_dir/example" | sort -u | paste -sd' ')" = 'chart example name repository spec url version' ]
}
a_resource_of_that_name() { # it is explained, where there is one
    "$slipway" emulate --kubeconfig-out "$tap_dir/kubeconfig" >/dev/null 2>"$tap_dir/log" &
    local pid=$! rc=0
    until_ok 20 [ -s "$tap_dir/kubeconfig" ]
    export KUBECONFIG=$tap_dir/kubeconfig
    until_ok 20 "$slipway" explain hook && "$slipway" explain hook | grep -q 'says more, with an example' || rc=1
    kubectl apply -f deploy/crds/sro.openshift.io_specialresources.yaml >/dev/null && until_ok 20 kubectl get specialresources && kubectl apply -f - <<'YAML' >/dev/null || rc=1
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResource
metadata: {name: hook}
spec: {chart: {name: a, version: 0.1.0, repository: {name: r, url: "file:///none"}}}
YAML
    "$slipway" explain hook >"$tap_dir/said" 2>&1
    cat "$tap_dir/said"
    grep -q '^SpecialResource hook' "$tap_dir/said" && ! grep -q 'says more' "$tap_dir/said" || rc=1
    kill $pid; wait $pid
    return $rc
}

fits() {
    for t in "annotation wait-for-node-resources" "field spec" "hook overrides" "state Failed"; do
        # shellcheck disable=SC2086 # two words
        "$slipway" explain $t | awk 'length > 100 { print; bad = 1 } END { exit bad }' || return 1
    done
}

t "the annotations of a SpecialResource, of Helm and of DAS" of_others
t "an annotation, by the end of its name" says annotation timeout slipway.dev/timeout example: '        slipway.dev/timeout: 30m'
t "an annotation of a chart" says annotation rollback '    an annotation of a chart, in its Chart.yaml' '      slipway.dev/rollback: "true"'
t "an annotation of both" says annotation wait specialresource.openshift.io/wait slipway.dev/wait
t "a field, with its values and an example" says field spec.taints.effect '    one of NoSchedule, PreferNoSchedule, NoExecute' '      - effect: NoSchedule'
t "a path as in a JSONPath" says field .spec.chart 'spec.chart: a map, of SpecialResource (sro.openshift.io/v1beta1)'
t "a field without its beginning" says field chart.name 'spec.chart.name: text, of SpecialResource (sro.openshift.io/v1beta1)'
t "a field of another kind" says field SpecialResourceModule.spec.watch '      watch:'
t "the fields of a map" says field upgradePolicy fields: '    maxParallel          Nodes at a time; default 1, 0 is any number.'
t "a hook that nobody asks for" says hook tolerations '    spec:' '      tolerations:'
t "a phase, and what leads there and away" says state held Held 'it comes from:' 'it goes to:' '    Ready      it is ready again (Event StateReady)'
t "a slip of the pen in an annotation" refuses annotation timoeut "is it 'timeout'?"
t "a slip of the pen in a field" refuses field spec.upgradPolicy "is it 'spec.upgradePolicy'?"
t "a field that is elsewhere" refuses field maxParallel "but spec.upgradePolicy.maxParallel"
helms() { says hook pre-install '        helm.sh/hook: pre-install,pre-upgrade' && says hook helm.sh/hook-weight 'helm.sh/hook-weight' && refuses hook pre-instal "is it 'pre-install'?"; }
t "Helm's hooks by their events, and by their annotations" helms
t "a slip of the pen in a hook" refuses hook tolertions "is it 'tolerations'?"
t "a slip of the pen in a state" refuses state Wating "is it 'Waiting'?"
t "what is no phase" refuses state 1000 "slipway explain NAME STATE"
documents() { [ "$("$slipway" explain hook tolerations -o json | jq -r '"\(.topic) \(.name) \(.text | test("example:"))"')" = 'hook tolerations true' ] && "$slipway" explain field -o json | jq -e '.topic == "field" and (.text | test("spec.chart"))'; }
command -v jq >/dev/null && t "as a document" documents
t "every annotation has an example" every_annotation
t "every field has an example" every_field
t "hooks alone are listed" alone hook '^tolerations  +the taints' '^slipway.dev/timeout  +a duration'
t "annotations alone are listed" alone annotation '^slipway.dev/wait ' '^helm.sh/hook '
t "fields alone are listed" alone field '^spec.chart  +The recipe.$'
t "phases of states alone are listed" alone state '^Held  +it was ready'
t "the example of a map has what it requires" only_required
t "a resource called hook is explained" a_resource_of_that_name
t "lines have a width" fits
plan
