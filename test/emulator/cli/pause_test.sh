# A resource is left alone, and gone on with.
. test/tap.sh
with_cluster "pause and resume"
kubectl apply -k deploy/crds >/dev/null
cd "$tap_dir" || exit 1
mkdir -p demo/templates
printf 'apiVersion: v2\nname: demo\nversion: 0.1.0\n' >demo/Chart.yaml
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made}\ndata: {text: "as the recipe has it"}\n' >demo/templates/0000-made.yaml
"$slipway" configmap demo | kubectl apply -f - >/dev/null
"$slipway" controller --legacy-rights --metrics-bind-address 0 --health-probe-bind-address 0 2>controller.log &
pids="$pids $!"
kubectl apply -f - >/dev/null <<'Y'
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResource
metadata: {name: demo}
spec: {namespace: demo, chart: {name: demo, version: 0.1.0, repository: {name: r, url: "cm://default/demo"}}}
Y
text_is() { [ "$(kubectl -n demo get cm made -o 'jsonpath={.data.text}')" = "$1" ]; }
until_ok 20 text_is "as the recipe has it" >/dev/null
by_hand() { kubectl -n demo patch cm made --type merge -p '{"data": {"text": "by hand"}}'; }
paused() { "$slipway" pause demo | tee said && grep -q '^demo: paused' said && by_hand && sleep 2 && text_is "by hand"; }
t "a paused resource is left alone" paused
tells_pause() { # in the line, in detail, as a document
    "$slipway" status | tee said | grep -qE '^demo +Paused +1/1 .*paused when it was Ready: slipway resume demo goes on' &&
        "$slipway" status demo | tee -a said | head -1 | grep -qE '^demo  Paused .*1/1 states  paused when it was Ready: slipway resume demo goes on' &&
        "$slipway" status demo -o json | grep -q '"paused": true'
}
t "status tells that it is paused" tells_pause
explains_pause() { "$slipway" explain demo >said; cat said; grep -q '^SpecialResource demo  Paused: All states are ready$' said && grep -q 'hint: slipway resume demo goes on with it$' said; }
t "explain does" explains_pause
waits_paused() { ! "$slipway" wait demo --for Errored --timeout 1s 2>said && cat said && grep -q '^slipway wait: demo: paused: slipway resume demo goes on$' said; }
t "wait does, for what it waits" waits_paused
ready_paused() { "$slipway" wait demo | tee said && grep -qx 'demo: Ready, and paused: slipway resume demo goes on' said; }
t "and where it is Ready" ready_paused
t "kubectl's wide table does" eval 'kubectl get specialresource demo -o wide | grep -q " Unmanaged "'
t "pausing it again says so" eval '"$slipway" pause demo | grep -q "paused already"'
resumed() { "$slipway" resume demo | grep -q '^demo: resumed' && until_ok 20 text_is "as the recipe has it" && ! "$slipway" status | grep -i paused; }
t "one that goes on is repaired" resumed
t "going on again says so" eval '"$slipway" resume demo | grep -q "not paused"'
none() { "$slipway" pause nothing 2>said; [ $? = 2 ] && grep -q nothing said; }
t "a resource that is not there" none
removed() { kubectl patch sr demo --type merge -p '{"spec": {"managementState": "Removed"}}' && ! "$slipway" resume demo 2>said && grep -q 'managementState: Removed' said; }
t "one that is removed is not begun anew" removed
alone() { # without an operator nothing is walked, and what does it is named
    kill "${pids##* }"; wait "${pids##* }"
    kubectl patch sr demo --type merge -p '{"spec": {"managementState": "Unmanaged"}}' && kubectl -n demo delete cm made --ignore-not-found
    "$slipway" resume demo | tee said | grep -q 'no operator is seen to lead, and where none runs it is slipway retry demo$' &&
        "$slipway" retry demo >said 2>&1 && text_is "as the recipe has it"
}
t "where no operator leads that is said, and what walks it" alone
not_run() { # a resource of its own, with nobody else to walk it
    cp -r demo other && sed -i 's/demo/other/' other/Chart.yaml && "$slipway" run other --alongside >said 2>&1 && "$slipway" pause other &&
        ! timeout 60 "$slipway" run other --alongside --timeout 30s >said 2>&1
    cat said
    grep -q 'other is paused: its spec is written, and slipway resume other has it walked' said
}
t "run of one that is paused says so at once" not_run
plan
