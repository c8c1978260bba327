# What a resource was, and how it goes back: history, rollback, retry, tree.
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/slipway}")
command -v kubectl >/dev/null || { skip "history, rollback, retry and tree" "no kubectl here"; plan; }
export HOME=$tap_dir KUBECONFIG=$tap_dir/kubeconfig
trap 'stop operating; stop emulated; rm -rf "$tap_dir"' EXIT
crds=$PWD/deploy/crds
"$slipway" emulate --delays 0 --kubeconfig-out "$KUBECONFIG" >/dev/null 2>&1 &
echo $! >"$tap_dir/emulated.pid"
until_ok 20 test -s "$KUBECONFIG"
cd "$tap_dir" || exit 1

recipe() { # FOLDER VERSION
    mkdir -p "$1/templates"
    printf 'apiVersion: v2\nname: demo\nversion: %s\nannotations: {slipway.dev/wait: all}\n' "$2" >"$1/Chart.yaml"
    printf 'message: hello\n' >"$1/values.yaml"
    cat >"$1/templates/1000-made.yaml" <<'Y'
apiVersion: v1
kind: ConfigMap
metadata: {name: made}
data: {text: {{ .Values.message | quote }}}
---
apiVersion: v1
kind: Secret
metadata: {name: hidden}
stringData: {key: {{ .Values.message | quote }}}
Y
}
recipe demo 0.1.0
recipe newer 0.2.0
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\n' >newer/templates/2000-more.yaml
run() { "$slipway" run "$@" >said 2>errs || { cat said errs; return 1; }; }
says() { "$slipway" "$@" >said 2>errs; }
has() { grep -qE -- "$1" "${2:-said}" || { cat said errs; return 1; }; }
text_is() { [ "$(kubectl -n demo get cm made -o 'jsonpath={.data.text}')" = "$1" ]; }

run demo && run demo --set message=secretive --set password=hunter2 && run newer
lines() {
    says history demo && has '^1 .* slipway-run .* superseded .* demo-0.1.0 .* first$' &&
        has '^2 .* values message, password$' && has '^3 .* deployed .* demo-0.2.0 .* version 0.1.0 -> 0.2.0;.* objects \+1 -0$'
}
t "history has a line for each revision: when, by which program, and what has changed" lines
narrow() { # beside the columns there is room for the change on a terminal of 80 columns
    says history demo && [ "$(awk 'NR == 1 { print index($0, "CHANGE") }' said)" -le 72 ] && has '^REVISION +TIME +BY +STATUS +CHART +CHANGE$'
}
t "its columns are as wide as what they hold" narrow
whole() { says history demo 2 && has '\+ password: .*redacted' && has '~ ConfigMap demo/made data.text: "hello" -> "secretive"' && ! has hunter2 2>/dev/null; }
t "of one revision all that has changed is shown, but no secret" whole
secrets() { has '~ Secret demo/hidden stringData.key: .*redacted.* -> .*redacted' && ! grep 'hidden.*secretive' said; }
t "values of Secrets are told apart by digests" secrets
document() { says history demo -o json && [ "$(jq -r '.[1].changes.values.added.message' said)" = '"secretive"' ] && [ "$(jq length said)" = 3 ]; }
command -v jq >/dev/null && t "as a document" document

plan_only() {
    says rollback demo 1 && has '^demo: revision 3 -> what revision 1 was' && has '~ version: 0.2.0 -> 0.1.0' &&
        has '^  - ConfigMap demo/more' && has 'Nothing was done' && kubectl -n demo get cm more
}
t "rollback prints its plan, and does nothing without --yes" plan_only
patched() { # by hand, and walked by nobody
    kubectl patch sr demo --type merge -p '{"spec": {"set": {"secret": "hunter3"}}}' && says rollback demo && has '^demo: changed since revision 3 -> what revision 3 was' &&
        has '^The resource was changed since revision 3, which is overwritten:$' && has '^  spec.set.secret$' && ! grep hunter3 said &&
        says rollback demo 2 && has '^demo: revision 3 -> what revision 2 was' && has '^  spec.set.secret$' &&
        says rollback demo --yes && [ "$(kubectl get sr demo -o 'jsonpath={.spec.set}')" = "" ]
}
t "what was changed since the newest revision is named, and goes back first" patched
before() { says rollback demo && has 'what revision 2 was'; }
t "without a revision it is the last one that was Ready" before
back() { says rollback demo 2 --yes && has 'demo: Ready' && text_is secretive && ! kubectl -n demo get cm more 2>/dev/null; }
t "with --yes chart and values go back, and it is walked where no operator leads" back
told() { says history demo && has '^4 .* slipway-rollback .* deployed .* demo-0.1.0 '; }
t "what comes of it is a revision, too" told
same() { says history demo && has '^4 .* demo-0.1.0  *as revision 2: version 0.2.0 -> 0.1.0' && ! has '^[123] .* as revision' && says history demo -o json && [ "$(jq -c '[.[].sameAs]' said)" = '[null,null,null,2]' ]; }
command -v jq >/dev/null && t "and says of which it has what there was" same
there() { ! says rollback demo 4 && has 'at revision 4 already' errs; }
t "the revision of now is none to go back to" there
none() { ! says rollback demo 17 && has "no revision '17': slipway history demo" errs; }
t "a revision that is not there" none
changed() {
    kubectl -n demo get secret sh.helm.release.v1.demo.v1 -o yaml >record &&
        kubectl -n demo get secret sh.helm.release.v1.demo.v3 -o 'jsonpath={.data}' >data &&
        kubectl -n demo patch secret sh.helm.release.v1.demo.v1 --type merge -p "{\"data\": $(cat data)}" &&
        ! says rollback demo 1 --yes && has 'revision 1:' errs && text_is secretive
}
t "a record that others have changed is not gone back to" changed
in_place() {
    run demo --set message=secretive --set password=hunter2 && echo '# other' >>demo/templates/1000-made.yaml &&
        run demo --set message=secretive --set password=hunter2 && says history demo && has ' the recipe .* files templates/1000-made.yaml' &&
        ! says rollback demo && has 'what differs are the files of its recipe' errs
}
t "a recipe that has changed under the same version is said not to come back" in_place

of_record() { # the files of the revision before, from its record
    local n; says history demo && n=$(awk '/^[0-9]/ { n = $1 } END { print n }' said)
    says rollback demo $((n - 1)) --recorded && has "out of the record, from then on from ConfigMap demo/demo-revision-$((n - 1))" && has 'recorded --yes does it' &&
        ! kubectl -n demo get configmap "demo-revision-$((n - 1))" 2>/dev/null && says rollback demo $((n - 1)) --recorded --yes && text_is secretive &&
        [ "$(kubectl get specialresource demo -o 'jsonpath={.spec.chart.repository.url}')" = "cm://demo/demo-revision-$((n - 1))" ] &&
        kubectl -n demo get configmap "demo-revision-$((n - 1))" -o yaml >made && has 'kind: SpecialResource' made && ! grep -q '# other' made || { cat said errs; return 1; }
}
t "unless it is taken out of the record" of_record
based() { # TEXT: a recipe that depends on a chart, and on one below that, which makes a ConfigMap with the text
    mkdir -p based/charts/below/charts/deep/templates based/templates
    printf 'apiVersion: v2\nname: based\nversion: 0.1.0\ndependencies: [{name: below, version: 0.1.0, alias: under}]\n' >based/Chart.yaml
    printf 'apiVersion: v2\nname: below\nversion: 0.1.0\ndependencies: [{name: deep, version: 0.1.0}]\n' >based/charts/below/Chart.yaml
    printf 'apiVersion: v2\nname: deep\nversion: 0.1.0\n' >based/charts/below/charts/deep/Chart.yaml
    echo 'text: one' >based/values.yaml
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: based}\ndata: {text: "{{ .Values.text }}"}\n' >based/templates/0000-a.yaml
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: deep}\ndata: {text: "%s"}\n' "$1" >based/charts/below/charts/deep/templates/a.yaml
}
deep_is() { [ "$(kubectl -n based get cm deep -o 'jsonpath={.data.text}')" = "$1" ]; }
with_charts() {
    based old && run based && based new && run based && deep_is new || { cat said errs; return 1; }
    says rollback based --recorded --yes && has '~ charts/below/charts/deep/templates/a.yaml' && deep_is old || { cat said errs; return 1; }
}
t "and with it the charts that the recipe depends on, and those that these do" with_charts
too_large() { # BYTES COMMAND...: a file in a chart below that makes a record too large; it is made without them
    local n=$1; shift
    based old && "$@" | head -c "$n" >based/charts/below/large && run based --set text=two && run based --set text=three &&
        ! says rollback based --recorded && has 'depends on charts .below., and the record has' errs && has 'roll back without --recorded' errs &&
        says rollback based --yes && has 'based: Ready' || { cat said errs; return 1; }
}
t "but not where an object would not take them, which is said in one sentence" too_large 2000000 cat /dev/urandom
t "nor where they are too much to be kept with each revision" too_large 5000000 yes
rm -rf based

rest_goes_back() {
    run demo --set message=rest && kubectl patch specialresource demo --type merge -p '{"spec":{"debug":true,"nodeSelector":{"kubernetes.io/os":"linux"}}}' >/dev/null &&
        run demo --set message=other && kubectl patch specialresource demo --type merge -p '{"spec":{"debug":null,"nodeSelector":{"kubernetes.io/arch":"amd64"}}}' >/dev/null &&
        says history demo && local n; n=$(awk '/^[0-9]/ { n = $1 } END { print n }' said)
    says rollback demo $((n - 1)) --yes && has '~ spec.nodeSelector: .*amd64.* -> nothing' && has "The resource's spec goes back" &&
        text_is rest && [ -z "$(kubectl get specialresource demo -o 'jsonpath={.spec.nodeSelector}{.spec.debug}')" ] || { cat said errs; return 1; }
    says rollback demo "$n" --yes && has '~ spec.nodeSelector: nothing -> .*linux' && text_is other &&
        [ "$(kubectl get specialresource demo -o 'jsonpath={.spec.debug}')" = true ] || { cat said errs; return 1; }
}
t "what else the resource said goes back, too" rest_goes_back

mkdir -p bound
apart() { # what a rollback brought back is the next run's to leave out
    cp -r newer/. bound && sed -i 's/name: demo/name: bound/' bound/Chart.yaml && bound_is() { [ "$(kubectl -n bound get cm made -o 'jsonpath={.data.text}')" = "$1" ]; }
    run bound --set message=one && run bound && bound_is hello && says rollback bound 1 --yes && bound_is one && run bound && bound_is hello &&
        [ -z "$(kubectl get specialresource bound -o 'jsonpath={.spec.set}')" ] || { cat said errs; kubectl get specialresource bound -o yaml --show-managed-fields; return 1; }
}
t "values that it brought back go when a later run has them no longer" apart
repeated() { # the fourth has what the second had
    says history bound && has '^3 .* as revision 1: ' && has '^4 .* as revision 2: ' && ! says rollback bound 2 --yes && has 'bound is as it was in revision 2 already' errs || return 1
    says rollback bound 1 --yes && says history bound && has '^5 .* as revision 1: '
}
t "a revision that is there again is named by the first that had its content, and is none to go back to" repeated
gone() { # told by the plan, before the resource loses what works
    mv bound away && cp -r newer bound2
    sed -i 's/name: demo/name: bound/' bound2/Chart.yaml && run bound2 --name bound && ! says rollback bound 2 && has 'the recipe of revision 2 cannot be had any more: .*bound' errs &&
        ! says rollback bound 2 --yes && [ "$(kubectl get specialresource bound -o 'jsonpath={.spec.chart.repository.url}')" = "file://$PWD/bound2" ] || { cat said errs; kubectl get specialresource bound -o yaml; return 1; }
    says rollback bound 2 --recorded --yes && has 'bound: Ready'
}
t "a recipe that cannot be had any more is none to go back to, but out of the record" gone

# what runs to its end and fails
mkdir -p failing/templates
printf 'apiVersion: v2\nname: failing\nversion: 0.1.0\nannotations: {slipway.dev/wait: all}\n' >failing/Chart.yaml
cat >failing/templates/1000-job.yaml <<'Y'
apiVersion: batch/v1
kind: Job
metadata: {name: job}
spec:
  backoffLimit: 0
  template:
    metadata: {annotations: {emulator.slipway.dev/exit-code: "3"}}
    spec: {restartPolicy: Never, containers: [{name: c, image: x}]}
Y
"$slipway" run failing >/dev/null 2>&1
uid() { kubectl -n failing get job job -o 'jsonpath={.metadata.uid}'; }
tree() {
    ! says tree nothing && has 'not found' errs && says tree failing && has '^SpecialResource failing  Errored' && has '1000  Failed' &&
        has 'Job failing/job  failed: .*BackoffLimitExceeded' && has 'Pod job-[^ ]*  failed  on '
}
t "tree shows states, objects and pods, and why they are not ready" tree
few() { says tree demo -o json && [ "$(jq -r '.children | map(.name) | join(",")' said)" = "Namespace demo,1000" ]; }
command -v jq >/dev/null && t "and is a document" few
again() { local was; was=$(uid); ! says retry failing && has '^deleted Job failing/job' && has 'failing failed' errs && [ "$(uid)" != "$was" ]; }
t "retry makes a Job that has failed again, and walks where no operator leads" again

# an operator that leads
kubectl apply -f "$crds/sro.openshift.io_specialresources.yaml" >/dev/null 2>&1
operating --leader-elect --leader-elect-namespace default
until_ok 20 kubectl -n default get lease b6ae617b.openshift.io >/dev/null
operator_tries() {
    local was rc; was=$(uid); says retry failing --timeout 60s; rc=$?
    [ $rc = 4 ] && has 'failing: the operator default/[^ ]* walks it' && has 'failing: Errored' && [ "$(uid)" != "$was" ]
}
t "an operator that leads walks what is tried again; Errored is exit status 4" operator_tries
operator_walks() { says rollback demo 3 --yes && has 'demo: the operator default/' && has 'demo: Ready' && kubectl -n demo get cm more; }
t "and what goes back" operator_walks
paused() { "$slipway" pause demo && ! says rollback demo 2 --yes && has 'demo is paused: slipway resume demo first' errs; }
t "what is paused does not go back" paused
plan
