# What others have changed, deleted or made, and who they were.
. test/tap.sh
with_cluster "what others change"
cd "$tap_dir" || exit 1
mkdir -p demo/templates
printf 'apiVersion: v2\nname: demo\nversion: 0.1.0\nannotations: {slipway.dev/wait: all}\n' >demo/Chart.yaml
recipe() { # IMAGE [ANNOTATIONS]
    cat >demo/templates/web.yaml <<Y
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, annotations: {$2}}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: "$1"}]}
Y
}
runs() { "$slipway" run demo --timeout 30s "$@" >said 2>&1; local rc=$?; cat said; return $rc; }
recipe some/image:1
runs >/dev/null

by_hand() { kubectl -n demo set image deployment web c=other/image:2 >/dev/null; }
difference() {
    by_hand && ! "$slipway" diff demo >said 2>&1
    cat said
    grep -q "^# field manager 'kubectl-set' has set .spec.template.spec.containers\[{\"name\":\"c\"}\].image$" said && grep -q '^-      - image: other/image:2' said
}
t "diff names whose fields a walk would set" difference
drift() { runs && grep -q "StateDrifted: state demo: Deployment demo/web was changed by field manager 'kubectl-set'; it is applied again" said; }
t "run names who has changed an object" drift
deleted() { kubectl -n demo delete deployment web >/dev/null && runs && grep -q 'StateDrifted: state demo: Deployment demo/web was deleted; it is applied again' said; }
t "run names what was deleted" deleted
upgrade() { recipe some/image:3 && runs && grep -q ' NotReady: Working on: ' said && ! grep -q 'warning: NotReady' said && ! grep -q StateDrifted said; }
t "an upgrade is no warning, and no drift" upgrade

theirs() { # of another Helm release, and then taken over
    kubectl create namespace legacy >/dev/null
    kubectl -n legacy create deployment web --image=theirs:1 >/dev/null
    kubectl -n legacy annotate deployment web meta.helm.sh/release-name=old >/dev/null
    recipe some/image:3 'slipway.dev/adopt: "true"'
    kubectl -n legacy get deployment web -o json | jq '.spec.selector = {matchLabels: {app: "web"}}' >/dev/null
    runs --name legacy && grep -q "TakenOver: Deployment legacy/web, which is not slipway's, is written from now on (slipway.dev/adopt), and stays when the resource goes" said &&
        kubectl -n legacy get deployment web -o json | jq -e '.metadata.ownerReferences == null and .metadata.annotations["meta.helm.sh/release-name"] == "old"' >/dev/null
}
t "what a recipe takes over has no owner, and stays with the release that it was of" theirs
stays() {
    kubectl delete specialresource legacy >/dev/null && sleep 1 && kubectl -n legacy get deployment web >/dev/null
}
t "it stays when the resource is deleted" stays
keeps() {
    recipe some/image:3 'helm.sh/resource-policy: keep' && runs --name kept && kubectl delete specialresource kept >/dev/null && sleep 1 && kubectl -n kept get deployment web >/dev/null
}
t "so does what is to be kept" keeps
plan
