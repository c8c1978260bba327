# gather, uninstall and bundle: what they hold, what they leave out, and that they take away what is
# slipway's and nothing else, whether an operator runs or not.
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}
export KUBECONFIG=$tap_dir/kubeconfig TAG=test KUBECTL=kubectl TIMEOUT=30
unset IMG NAMESPACE PLATFORM OPERATOR_NAMESPACE
pids=""
trap 'for p in $pids; do kill "$p" 2>/dev/null; done; rm -rf "$tap_dir"' EXIT
"$slipway" emulate --platform kubernetes --kubeconfig-out "$KUBECONFIG" >/dev/null 2>&1 &
pids="$!"
dump() {
    local kinds
    kinds=$(kubectl api-resources --verbs=list -o name | grep -v '^events' | sort | paste -sd,)
    kubectl get "$kinds" -A --ignore-not-found -o jsonpath='{range .items[*]}{.kind} {.metadata.namespace}/{.metadata.name} {.metadata.labels} {.spec}{"\n"}{end}' | sort
}

walked() { # a recipe with a Secret and a password in an environment, by an operator that ends then
    mkdir -p "$tap_dir/hello/templates"
    printf 'apiVersion: v2\nname: hello\nversion: 0.1.0\nannotations: {slipway.dev/wait: all}\n' >"$tap_dir/hello/Chart.yaml"
    cat >"$tap_dir/hello/templates/0000-all.yaml" <<'YAML'
apiVersion: v1
kind: Secret
metadata: {name: login}
stringData: {password: topsecret}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      containers:
      - name: agent
        image: example.test/agent:1
        env: [{name: DB_PASSWORD, value: topsecret}, {name: LEVEL, value: verysilent}]
YAML
    hack/deploy.sh deploy >/dev/null && "$slipway" configmap "$tap_dir/hello" --namespace slipway | kubectl apply -f - && kubectl apply -f - <<'YAML' || return 1
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResource
metadata: {name: hello}
spec:
  namespace: hello
  nodeSelector: {kubernetes.io/hostname: gpu-0}
  taints: [{key: example.com/hello, effect: NoSchedule}]
  chart: {name: hello, version: 0.1.0, repository: {name: here, url: "cm://slipway/hello", password: topsecret}}
YAML
    "$slipway" controller --metrics-bind-address 0 --health-probe-bind-address 0 >"$tap_dir/operator.log" 2>&1 &
    local operator=$!
    until_ok 30 eval '[ "$(kubectl get specialresource hello -o "jsonpath={.status.conditions[?(@.type==\"Ready\")].status}")" = True ]'
    local rc=$?
    # the record follows the condition
    until_ok 20 eval '[ "$(kubectl get secret -n hello sh.helm.release.v1.hello.v1 -o "jsonpath={.metadata.labels.status}")" = deployed ]' || rc=1
    kill $operator; wait $operator 2>/dev/null
    [ $rc = 0 ] || cat "$tap_dir/operator.log"
    return $rc
}

gathered() {
    "$slipway" gather -o "$tap_dir/g.tar.gz" && mkdir -p "$tap_dir/g" && tar -C "$tap_dir/g" -xzf "$tap_dir/g.tar.gz" --strip-components=1 || return 1
    local f
    for f in version.txt notes.txt status/hello.txt resources/SpecialResource-hello.yaml objects/hello/DaemonSet-hello-agent.yaml objects/hello/Secret-hello-login.yaml nodes/Node-gpu-0.yaml events/default.txt; do
        [ -s "$tap_dir/g/$f" ] || { echo "$f is not there"; ls -R "$tap_dir/g"; return 1; }
    done
    grep -q 'StateReady' "$tap_dir/g/events/default.txt" && grep -q '0000 *Ready' "$tap_dir/g/status/hello.txt" && [ "$(stat -c %a "$tap_dir/g.tar.gz")" = 600 ]
}
redacted() { # plain and as Secrets hold it
    ! grep -rE "topsecret|$(printf topsecret | base64)" "$tap_dir/g" && [ -d "$tap_dir/g/releases" ] && grep -q 'bytes redacted' "$tap_dir/g/objects/hello/Secret-hello-login.yaml" && grep -q verysilent "$tap_dir/g/objects/hello/DaemonSet-hello-agent.yaml"
}
records() { # Helm's, with what was deployed, but not what is secret in it
    local record
    record=$(grep -l 'name: sh.helm.release.v1.hello\.v1' "$tap_dir"/g/releases/*.yaml | head -1)
    [ -n "$record" ] || { ls "$tap_dir/g/releases"; return 1; }
    grep -q 'kind: DaemonSet' "$record" && grep -q 'kind: Secret' "$record" && grep -q verysilent "$record" &&
        grep -q 'bytes redacted' "$record" && grep -q 'status: deployed' "$record"
}
by_proxy() { # what the operator says at its port, through its pod
    local pod port
    "$slipway" controller --metrics-bind-address 127.0.0.1:0 --health-probe-bind-address 0 >"$tap_dir/operator2.log" 2>&1 &
    local operator=$!
    pids="$pids $operator"
    until_ok 30 grep -q 'serving metrics.* at=' "$tap_dir/operator2.log" || { cat "$tap_dir/operator2.log"; return 1; }
    port=$(sed -n 's/.*serving metrics.* at=\([0-9]*\).*/\1/p' "$tap_dir/operator2.log" | head -1)
    pod=$(kubectl -n slipway get pods -l app.kubernetes.io/component=controller -o 'jsonpath={.items[0].metadata.name}')
    kubectl -n slipway annotate pod "$pod" "emulator.slipway.dev/address.8443=127.0.0.1:$port" || return 1
    until_ok 30 eval 'kubectl get --raw "/api/v1/namespaces/slipway/pods/https:$pod:8443/proxy/metrics" 2>&1 | grep -q "provide credentials"' || return 1
    mkdir -p "$tap_dir/g2"
    until_ok 30 eval '"$slipway" gather -o "$tap_dir/g2.tar.gz" && tar -C "$tap_dir/g2" -xzf "$tap_dir/g2.tar.gz" --strip-components=1 && grep -q "^sro_" "$tap_dir/g2/metrics/$pod.txt"'
    local rc=$?
    kill $operator; wait $operator 2>/dev/null
    [ $rc = 0 ] && grep -q '^sro_' "$tap_dir/g2/metrics/$pod.txt" && grep -q ' /apis/sro.openshift.io/v1beta1/specialresources' "$tap_dir/g2/requests/$pod.txt" && return
    cat "$tap_dir/g2/notes.txt" "$tap_dir/operator2.log"; tail -20 "$tap_dir/g2/requests/$pod.txt"; head "$tap_dir/g2/metrics/$pod.txt"
    return 1
}
bounded() {
    "$slipway" gather --max-size 1 -o "$tap_dir/small.tar.gz" && [ "$(gzip -dc "$tap_dir/small.tar.gz" | wc -c)" -lt $((3 << 20)) ] && ! "$slipway" gather --max-size 0 2>/dev/null
}
without_rights() { ! KUBECONFIG=/nonexistent "$slipway" gather -o "$tap_dir/none.tgz" 2>/dev/null && [ ! -e "$tap_dir/none.tgz" ]; }

asked() { # without --yes it is the plan; both at once are refused, and so is a name that is not there
    dump >"$tap_dir/d0" && "$slipway" uninstall 2>/dev/null | grep -x 'delete SpecialResource hello' && dump | diff "$tap_dir/d0" - || return 1
    ! "$slipway" uninstall --plan --yes 2>/dev/null && ! "$slipway" uninstall nobody --plan 2>/dev/null
}
planned() { # says it, and does nothing
    dump >"$tap_dir/d1" && "$slipway" uninstall --plan >"$tap_dir/plan" && cat "$tap_dir/plan" && dump | diff "$tap_dir/d1" - &&
        grep -qx 'delete DaemonSet hello/agent' "$tap_dir/plan" && grep -q '^unlabel Node .*state-hello-0000$' "$tap_dir/plan" && grep -q '^untaint Node gpu-0: example.com/hello' "$tap_dir/plan" && grep -qx 'delete Deployment slipway/slipway' "$tap_dir/plan" && grep -qx 'delete Namespace slipway' "$tap_dir/plan"
}
foreign_kept() { # an object made anew by somebody else under the same name stays
    kubectl -n hello delete daemonset agent && kubectl -n hello create -f - <<'YAML' || return 1
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: mine}}
  template: {metadata: {labels: {app: mine}}, spec: {containers: [{name: a, image: "example.test/mine:1"}]}}
YAML
    "$slipway" uninstall --plan | grep -q '^keep DaemonSet hello/agent: it is another one'
}
label_of_another() { # whose name only begins alike
    kubectl label node gpu-0 specialresource.openshift.io/state-hello-0000-x=Ready && ! "$slipway" uninstall --plan | grep -q 'state-hello-0000-x'
    local rc=$?
    kubectl label node gpu-0 specialresource.openshift.io/state-hello-0000-x-
    return $rc
}
uninstalled() { # no operator runs
    kubectl -n hello delete daemonset agent && "$slipway" uninstall --yes && until_ok 20 eval 'dump | diff "$tap_dir/before" - >"$tap_dir/diff"' || { cat "$tap_dir/diff"; return 1; }
}
nothing_left() { "$slipway" uninstall --yes | grep -q 'nothing of slipway'; }

listed() {
    "$slipway" bundle recipes/nvidia-gpu --list -a nfd.openshift.io/v1 >"$tap_dir/images" && cat "$tap_dir/images" && grep -q '^nvcr.io/nvidia/k8s-device-plugin:' "$tap_dir/images" && [ "$(sort -u "$tap_dir/images" | wc -l)" = "$(wc -l <"$tap_dir/images")" ] &&
        diff <("$slipway" render recipes/nvidia-gpu -a nfd.openshift.io/v1 | sed -n 's/^ *\(- \)\{0,1\}image: "\{0,1\}\([^"]*\)"\{0,1\}$/\2/p' | sort -u) <(sort "$tap_dir/images" | grep -vE 'quay.io/slipway/nvidia-driver$|centos') | grep '^<' | wc -l | grep -qx 0
}
with_digests() { # each image by what the registry says it is; one that is not there is named
    mkdir -p "$tap_dir/apps/templates"
    mkfifo "$tap_dir/stdin"
    build/test/registry-server app:1 etc/motd=one tool:2 etc/motd=two <"$tap_dir/stdin" >"$tap_dir/host" &
    local registry=$! host digest rc
    exec 7>"$tap_dir/stdin"
    until_ok 20 test -s "$tap_dir/host"
    host=$(cat "$tap_dir/host")
    printf 'apiVersion: v2\nname: apps\nversion: 1.0.0\n' >"$tap_dir/apps/Chart.yaml"
    cat >"$tap_dir/apps/templates/0000-pods.yaml" <<YAML
apiVersion: v1
kind: Pod
metadata: {name: apps}
spec:
  initContainers: [{name: tool, image: "$host/tool:2"}]
  containers: [{name: app, image: "$host/app:{{ .Values.tag | default 1 }}"}]
YAML
    "$slipway" bundle "$tap_dir/apps" --digests --mirror "$host=reg.local/x" -o "$tap_dir/d.tgz" && mkdir -p "$tap_dir/d" && tar -C "$tap_dir/d" -xzf "$tap_dir/d.tgz" --strip-components=1 &&
        cat "$tap_dir/d/images.txt" && digest=$(curl -sI -H 'Accept: application/vnd.oci.image.manifest.v1+json' "http://$host/v2/app/manifests/1" | tr -d '\r' | sed -n 's/^[Dd]ocker-[Cc]ontent-[Dd]igest: //p') &&
        grep -qF "$host/app@$digest" "$tap_dir/d/images.txt" && grep -qE "^$host/tool@sha256:[0-9a-f]{64}" "$tap_dir/d/images.txt" && grep -qF "$host/app@$digest" "$tap_dir/d/mirror.sh" &&
        ! "$slipway" bundle "$tap_dir/apps" --set tag=gone --digests -o "$tap_dir/e.tgz" 2>"$tap_dir/err" && cat "$tap_dir/err" && grep -q "image $host/app:gone" "$tap_dir/err" && [ ! -e "$tap_dir/e.tgz" ]
    rc=$?
    exec 7>&-
    kill $registry 2>/dev/null
    return $rc
}
bundled() { # what is in it renders the same; the mirrors are written in three ways
    "$slipway" bundle recipes/simple-kmod --mirror registry.access.redhat.com=reg.local/redhat --mirror quay.io=reg.local/quay -o "$tap_dir/b.tgz" && mkdir -p "$tap_dir/b" && tar -C "$tap_dir/b" -xzf "$tap_dir/b.tgz" --strip-components=1 &&
        "$slipway" render "$tap_dir/b/simple-kmod-0.1.0.tgz" | diff - <("$slipway" render recipes/simple-kmod) && sh -n "$tap_dir/b/mirror.sh" && grep -q 'docker://reg.local/redhat/ubi9' "$tap_dir/b/mirror.sh" && grep -q 'source: quay.io' "$tap_dir/b/mirrors.yaml" &&
        ! "$slipway" bundle recipes/simple-kmod --mirror nonsense -o "$tap_dir/c.tgz" 2>/dev/null
}
# What NVIDIA's operator brings is named in three fields each; its driver's tag is the operator's to complete.
operands() {
    mkdir -p "$tap_dir/operands/templates"
    printf 'apiVersion: v2\nname: operands\nversion: 1.0.0\n' >"$tap_dir/operands/Chart.yaml"
    cat >"$tap_dir/operands/templates/policy.yaml" <<'YAML'
apiVersion: nvidia.com/v1
kind: ClusterPolicy
metadata: {name: cluster-policy}
spec:
  driver:
    {repository: r.example/nvidia, image: driver, version: "580.65", manager: {repository: r.example/nvidia, image: manager, version: v2}}
  toolkit: {repository: r.example/k8s, image: toolkit, version: "sha256:0000000000000000000000000000000000000000000000000000000000000002"}
  dcgm: {enabled: true, image: dcgm, version: v3}
YAML
    "$slipway" bundle "$tap_dir/operands" --list >"$tap_dir/images" 2>"$tap_dir/err" && cat "$tap_dir/images" "$tap_dir/err" &&
        grep -qx 'r.example/nvidia/manager:v2' "$tap_dir/images" && grep -qx 'r.example/k8s/toolkit@sha256:0*2' "$tap_dir/images" &&
        [ "$(wc -l <"$tap_dir/images")" = 2 ] && grep -q 'warning: r.example/nvidia/driver:580.65: ' "$tap_dir/err"
}
# Short names are docker.io's, as for slipway.dev/image-mirror; skopeo takes no tag beside a digest; OpenShift
# has a kind for digests and one for tags.
bundle_names() {
    local d=sha256:$(printf '%064d' 7)
    mkdir -p "$tap_dir/names/templates"
    printf 'apiVersion: v2\nname: names\nversion: 1.0.0\n' >"$tap_dir/names/Chart.yaml"
    printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: a, image: nginx}, {name: b, image: "bitnami/nginx:1"}, {name: c, image: "quay.io/a/b:1@%s"}, {name: d, image: "quay.io/a/c@%s"}]}\n' $d $d >"$tap_dir/names/templates/p.yaml"
    "$slipway" bundle "$tap_dir/names" --mirror docker.io=reg.local/hub/ --mirror quay.io/a=reg.local/a -o - | tar -C "$tap_dir" -xzf - && grep '^skopeo' "$tap_dir/names-1.0.0/mirror.sh" | tee "$tap_dir/got" &&
        diff - "$tap_dir/got" <<SH || return 1
skopeo copy --all "\$@" docker://nginx docker://reg.local/hub/library/nginx
skopeo copy --all "\$@" docker://bitnami/nginx:1 docker://reg.local/hub/bitnami/nginx:1
skopeo copy --all "\$@" docker://quay.io/a/b@$d docker://reg.local/a/b@$d
skopeo copy --all "\$@" docker://quay.io/a/c@$d docker://reg.local/a/c@$d
SH
    [ "$(sed -n 's/^kind: //p' "$tap_dir/names-1.0.0/mirrors.yaml" | paste -sd' ')" = 'ImageDigestMirrorSet ImageTagMirrorSet' ] &&
        [ "$(grep -c 'source: docker.io$' "$tap_dir/names-1.0.0/mirrors.yaml")" = 2 ] && grep -q 'mirrors: \[reg.local/hub\]' "$tap_dir/names-1.0.0/mirrors.yaml"
}
bundle_edges() { # to stdout; an image without a mirror is named; without skopeo it is said; no image is a command
    "$slipway" bundle recipes/simple-kmod --mirror quay.io=reg.local/quay -o - 2>"$tap_dir/err" | tar -tzf - | grep -q 'mirror.sh$' && grep -q 'no mirror is named for registry.access.redhat.com/' "$tap_dir/err" || return 1
    PATH=/nonexistent /bin/sh "$tap_dir/b/mirror.sh" 2>"$tap_dir/err" && return 1
    grep -q 'skopeo is needed' "$tap_dir/err" || return 1
    mkdir -p "$tap_dir/evil/templates"
    printf 'apiVersion: v2\nname: evil\nversion: 0.1.0\n' >"$tap_dir/evil/Chart.yaml"
    printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: "a/b:1$(touch x)"}]}\n' >"$tap_dir/evil/templates/p.yaml"
    ! "$slipway" bundle "$tap_dir/evil" --mirror a=b -o "$tap_dir/e.tgz" 2>"$tap_dir/err" && grep -q 'is no name of an image' "$tap_dir/err" && [ ! -e "$tap_dir/e.tgz" ]
}
gather_script() { OUT=$tap_dir/mg SLIPWAY=$slipway hack/must-gather.sh && ls "$tap_dir"/mg/*.tar.gz; }

until_ok 20 eval 'kubectl get --raw /readyz >/dev/null 2>&1'
dump >"$tap_dir/before"
t "an operator walks a recipe, and ends" walked
t "gather packs resources, objects, nodes, events and status" gathered
t "no secret is in it" redacted
t "Helm's records are in it, without what is secret" records
t "what the operator says at its port comes through its pod's proxy" by_proxy
t "it has a limit" bounded
t "no cluster, no archive" without_rights
t "hack/must-gather.sh writes it where oc adm must-gather looks" gather_script
t "uninstall without --yes changes nothing" asked
t "--plan says what would go, and nothing does" planned
t "a label that only begins alike is left" label_of_another
t "an object that is another one by now is left" foreign_kept
t "--yes leaves the cluster as it was, without an operator" uninstalled
t "a second time there is nothing to do" nothing_left
t "bundle lists each image once" listed
t "bundle --digests pins each image by its registry, or says which is not there" with_digests
t "bundle packs a recipe that renders the same, and the way to the mirrors" bundled
t "images that a ClusterPolicy names in parts are bundled" operands
t "bundle finds the mirror of each way to name an image" bundle_names
t "bundle writes to stdout, names what has no mirror, and refuses what is no image" bundle_edges
plan
