# versions_steps.sh: sourced by tests in which operators of two versions take turns with recipes/nvidia-mig: whether it is Ready, what
# there is of it, and whether what somebody changes by hand is set again.

is_ready() { [ "$(kubectl get specialresource nvidia-mig -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}')" = True ]; }

# inventory: that of the resource on stdin, as a list; of an older version it is one already
inventory() {
    local list
    list=$(jq -c .status.inventory)
    case $list in
        *'"packed"'*) jq -r '.[0].packed' <<<"$list" | base64 -d | gzip -d | jq .inventory ;;
        *) cat <<<"$list" ;;
    esac
}
# All objects of the recipe and their pods: kind, name, uid; what somebody makes for a moment (claims of the load) is not among them.
objects() {
    local kinds
    kinds=$(kubectl get specialresource nvidia-mig -o json | inventory |
        jq -r '[.[] | .kind + (if .apiVersion | contains("/") then "." + (.apiVersion / "/" | .[1] + "." + .[0]) else "" end)] | unique | join(",")')
    kubectl get "$kinds,Pod" -A -l specialresource.openshift.io/owned=true -o json | jq -r '.items[] | "\(.kind) \(.metadata.namespace) \(.metadata.name) \(.metadata.uid)"' | sort
    kubectl get nodes -o json | jq -r '.items[] | .metadata.name as $n | .metadata.labels | to_entries[] | select(.key | test("specialresource")) | "\($n) \(.key)=\(.value)"' | sort
}
selector() { kubectl get service das-daemonset-metrics -n das-operator -o 'jsonpath={.spec.selector}'; }
repaired() { # what somebody has changed
    local as_it_was
    as_it_was=$(selector)
    kubectl patch service das-daemonset-metrics -n das-operator --type merge -p '{"spec":{"selector":{"app":"nobody"}}}' && until_ok 30 eval '[ "$(selector)" = "$as_it_was" ]'
}
recorded_objects() { # there are some to compare
    objects >"$tap_dir/objects"
    [ "$(grep -c "^Pod " "$tap_dir/objects")" -gt 3 ] && grep -q "^DaemonSet das-operator" "$tap_dir/objects" && grep -q "state-nvidia-mig" "$tap_dir/objects"
}
nothing_made_anew() { objects >"$tap_dir/now" && diff "$tap_dir/objects" "$tap_dir/now"; }
unchanged() { [ "$(kubectl get specialresource nvidia-mig -o 'jsonpath={.metadata.generation} {.status.observedGeneration}')" = "1 1" ] && "$slipway" history nvidia-mig -o json | jq -e 'length == 1'; }
