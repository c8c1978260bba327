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

a_resource_of_that_name() { # one operand is a resource
    local rc=0
    "$slipway" explain state >"$tap_dir/said" 2>&1 || rc=$?
    [ $rc -ne 0 ] && ! grep -q 'it comes from' "$tap_dir/said"
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
t "a field without its beginning" says field chart.name 'spec.chart.name: text, of SpecialResource (sro.openshift.io/v1beta1)'
t "a field of another kind" says field SpecialResourceModule.spec.watch '      watch:'
t "the fields of a map" says field upgradePolicy fields: '    maxParallel          Nodes at a time; default 1, 0 is any number.'
t "a hook that nobody asks for" says hook tolerations '    spec:' '      tolerations:'
t "a phase, and what leads there and away" says state held Held 'it comes from:' 'it goes to:' '    Ready      it is ready again (Event StateReady)'
t "a slip of the pen in an annotation" refuses annotation timoeut "is it 'timeout'?"
t "a slip of the pen in a field" refuses field spec.upgradPolicy "is it 'spec.upgradePolicy'?"
t "a field that is elsewhere" refuses field maxParallel "but spec.upgradePolicy.maxParallel"
t "a slip of the pen in a hook" refuses hook tolertions "is it 'tolerations'?"
t "a slip of the pen in a state" refuses state Wating "is it 'Waiting'?"
t "what is no phase" refuses state 1000 "slipway explain NAME STATE"
t "every annotation has an example" every_annotation
t "every field has an example" every_field
t "a resource called state is one" a_resource_of_that_name
t "lines have a width" fits
plan
