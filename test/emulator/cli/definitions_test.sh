# Which definitions `slipway run` installs, and that it needs no right to where they are there.
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/slipway}")
command -v kubectl >/dev/null || { skip "definitions" "no kubectl here"; plan; }
export HOME=$tap_dir KUBECONFIG=$tap_dir/kubeconfig
crd=$PWD/deploy/crds/sro.openshift.io_specialresources.yaml
trap 'stop emulated; rm -rf "$tap_dir"' EXIT
cd "$tap_dir" || exit 1
cluster() { # OPTION...
    rm -f "$KUBECONFIG"
    "$slipway" emulate --delays 0 --kubeconfig-out "$KUBECONFIG" "$@" >/dev/null 2>&1 &
    echo $! >"$tap_dir/emulated.pid"
    until_ok 20 test -s "$KUBECONFIG"
}
chart() { # NAME
    mkdir -p "$1/templates"
    printf 'apiVersion: v2\nname: %s\nversion: 0.1.0\nannotations: {slipway.dev/wait: all}\n' "$1" >"$1/Chart.yaml"
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made}\n' >"$1/templates/1000-made.yaml"
}
chart demo
chart slices
printf 'apiVersion: inference.redhat.com/v1alpha1\nkind: DASOperator\nmetadata: {name: cluster, namespace: slices}\nspec: {managementState: Managed}\n' >slices/templates/2000-das.yaml
run() { "$slipway" run "$@" >said 2>errs; rc=$?; }
has() { grep -qE -- "$1" "${2:-said}" || { cat said errs; return 1; }; }
definitions() { kubectl get crd -o name | grep -E 'sro.openshift.io|inference.redhat.com' | sed 's|.*/||' | sort | paste -sd' ' -; }

cluster
own() { run demo && [ $rc = 0 ] && [ "$(definitions)" = specialresources.sro.openshift.io ]; }
t "run installs the definition of SpecialResource alone" own
stop emulated
cluster
named() { run slices --timeout 20s; [ "$(definitions)" = "dasoperators.inference.redhat.com specialresources.sro.openshift.io" ]; }
t "and those of its own kinds that the recipe has" named
stop emulated

printf 'faults:\n- verb: [create, patch, update]\n  kind: CustomResourceDefinition\n  userAgent: "slipway*"\n  answer: 403\n' >faults.yaml
cluster --faults faults.yaml
refused() { run demo; [ $rc = 1 ] && has 'customresourcedefinitions.*specialresources.sro.openshift.io' errs && has 'who administers it .* applies the folder deploy/crds' errs && ! grep 'hint' errs; }
t "without the right to write definitions it says which it cannot" refused
there() { kubectl apply -f "$crd" >/dev/null 2>&1 && established crd/specialresources.sro.openshift.io && run demo && [ $rc = 0 ]; }
t "where they are there it does not need that right" there
plan
