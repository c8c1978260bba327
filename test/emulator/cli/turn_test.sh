# One process at a time walks a resource: another one, or one beside an operator that leads, is told and stops.
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/slipway}")
command -v kubectl >/dev/null || { skip "walks that would be beside others" "no kubectl here"; plan; }
export HOME=$tap_dir KUBECONFIG=$tap_dir/kubeconfig
trap 'stop first; stop operating; stop emulated; rm -rf "$tap_dir"' EXIT
"$slipway" emulate --delays 0 --kubeconfig-out "$KUBECONFIG" >/dev/null 2>&1 &
echo $! >"$tap_dir/emulated.pid"
until_ok 20 test -s "$KUBECONFIG"
cd "$tap_dir" || exit 1
mkdir -p demo/templates endless/templates
for name in demo endless; do printf 'apiVersion: v2\nname: %s\nversion: 0.1.0\nannotations: {slipway.dev/wait: all}\n' $name >$name/Chart.yaml; done
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made}\n' >demo/templates/1000-made.yaml
cat >endless/templates/1000-job.yaml <<'Y'
apiVersion: batch/v1
kind: Job
metadata: {name: job}
spec:
  template:
    metadata: {annotations: {emulator.slipway.dev/run: forever}}
    spec: {restartPolicy: Never, containers: [{name: c, image: x}]}
Y
run() { "$slipway" run "$@" >said 2>errs; rc=$?; }
has() { grep -qE -- "$1" "${2:-said}" || { cat said errs; return 1; }; }
leases() { kubectl -n default get leases -o name; }

alone() { run demo && [ $rc = 0 ] && [ -z "$(leases)" ]; }
t "a walk leaves no Lease behind" alone
"$slipway" run endless --fail-fast=false >first.said 2>first.errs &
echo $! >first.pid
until_ok 20 eval '[ "$(leases)" = lease.coordination.k8s.io/slipway-run.endless ]' >/dev/null
second() {
    run endless
    [ $rc = 1 ] && has "endless is walked by another slipway \(.*process $(cat first.pid)\): looking" errs && has 'walked by another slipway .*; --alongside walks it' errs
}
t "a second walk of the same resource is told, and stops" second
short() { run endless --timeout 500ms; [ $rc = 3 ] && has "another slipway \(.*process $(cat first.pid)\) had begun to walk it" errs && ! grep 'goes on from here' said errs; }
t "one whose time limit passes before that is known says so" short
other() { run demo && [ $rc = 0 ]; }
t "one of another resource goes on" other
goes_on() { kill -0 "$(cat first.pid)" && [ "$(leases)" = lease.coordination.k8s.io/slipway-run.endless ]; }
t "the first one keeps its turn" goes_on
asked() { run endless --alongside --fail-fast=false --timeout 2s; [ $rc = 3 ] && ! grep -q 'another slipway' errs; }
t "--alongside walks it all the same" asked
killed() {
    kill -9 "$(cat first.pid)" && rm first.pid
    run endless --fail-fast=false --timeout 20s
    [ $rc = 3 ] && has 'state .1000.: Job endless/job' errs && [ -z "$(leases)" ]
}
t "what was killed is taken over when its Lease has run out" killed
established crd/specialresources.sro.openshift.io >/dev/null
operating --leader-elect --leader-elect-namespace default
until_ok 20 eval 'leases | grep -q b6ae617b' >/dev/null
operator() { run demo; [ $rc = 2 ] && has 'the operator default/.* leads on this cluster: it would walk demo, too' errs; }
t "beside an operator that leads it is told, and nothing is done" operator
document() { run demo -o json; [ $rc = 2 ] && has '"message": "the operator default/'; }
t "in a document, too" document
both() { run demo --alongside && [ $rc = 0 ]; }
t "unless that is asked for" both
plan
