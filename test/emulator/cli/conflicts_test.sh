# A server that answers some requests with 409 and 500: commands try again, as the walk does.
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/slipway}")
command -v kubectl >/dev/null || { skip "conflicts" "no kubectl here"; plan; }
export HOME=$tap_dir KUBECONFIG=$tap_dir/kubeconfig
chart=$PWD/charts/example/simple-kmod
trap 'stop emulated; rm -rf "$tap_dir"' EXIT
cd "$tap_dir" || exit 1
cat >faults.yaml <<'YAML'
faults:
- verb: [patch, update, delete]
  userAgent: "slipway*"
  answer: 409
  every: 3
- verb: [get, list, create, patch, delete]
  userAgent: "slipway*"
  answer: 500
  every: 7
YAML
"$slipway" emulate --delays 0 --nodes 2 --faults faults.yaml --kubeconfig-out "$KUBECONFIG" >/dev/null 2>&1 &
echo $! >"$tap_dir/emulated.pid"
until_ok 20 test -s "$KUBECONFIG"
ends_well() { "$slipway" "$@" >said 2>&1 || { cat said; return 1; }; }
walked() { ends_well run "$chart" --timeout 2m && ! grep 'not recorded' said; }
t "a walk gets Ready, and its release is recorded" walked
recorded() { ends_well history simple-kmod && grep -q '^1 .* deployed ' said; }
t "history has it" recorded
changed() {
    for _ in 1 2 3 4; do
        ends_well pause simple-kmod && ends_well resume simple-kmod && ends_well retry simple-kmod || return 1
    done
}
t "pause, resume and retry" changed
removed() {
    ends_well uninstall simple-kmod --yes || return 1
    kubectl get ns,specialresources -o name >left && ! grep simple-kmod left &&
        kubectl get nodes -o yaml >left && ! grep simple-kmod left
}
t "uninstall leaves nothing" removed
plan
