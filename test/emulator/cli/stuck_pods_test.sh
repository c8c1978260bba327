# Why pods do not start, builds fail and certificates are refused: the right culprit and hint in run, status, explain and
# the resource's Events, each once.
. test/tap.sh
. test/stuck.sh
slipway=$(realpath "${SLIPWAY:-build/slipway}")
command -v kubectl >/dev/null || { skip "why pods do not start" "no kubectl here"; plan; exit; }
export HOME=$tap_dir KUBECONFIG=$tap_dir/kubeconfig
top=$PWD
another() { stop emulated; (cd "$top" && emulated "$@" >/dev/null); } # cluster
trap 'stop operating; stop emulated; stop hook; rm -rf "$tap_dir"' EXIT
mkdir "$tap_dir/rules"
printf 'images:\n- {match: "^private.invalid/", login: "me:right"}\n- {match: "^gone.invalid/", exists: false}\n' >"$tap_dir/rules/images.yaml"
emulated --rules "$tap_dir/rules" >/dev/null || { plan; exit; }
cd "$tap_dir" || exit 1
time=4s

login() { # NAME PASSWORD: a pull secret for private.invalid
    made Secret v1 "metadata: {name: $1}
type: kubernetes.io/dockerconfigjson
stringData: {.dockerconfigjson: '{\"auths\":{\"private.invalid\":{\"username\":\"me\",\"password\":\"$2\"}}}'}"
}
# The emulated OpenShift gives each pod a login for its own registry.
no_login() {
    deployment "" private.invalid/x:1 | template nologin 1000-it
    stuck nologin 3 'pulling image "private.invalid/x:1" \(pull secret default-dockercfg-[^)]*\): pull access denied.*no basic auth credentials|image "private.invalid/x:1": pull access denied.*no basic auth credentials \(pull secret default-dockercfg' "give the pod a pull secret"
}
harmless_event() { # a newer Warning, which kubelet repeats for each pod of a node, does not hide why
    made Pod v1 'metadata: {name: it}
spec: {containers: [{name: main, image: "private.invalid/x:1"}]}' | template dns 1000-it
    kubectl create namespace dns >/dev/null
    made Event v1 "metadata: {name: dns, namespace: dns}
type: Warning
reason: DNSConfigForming
message: 'Nameserver limits were exceeded, some nameservers have been omitted'
involvedObject: {apiVersion: v1, kind: Pod, namespace: dns, name: it}
lastTimestamp: '$(date -u -d '1 hour' +%Y-%m-%dT%H:%M:%SZ)'" | kubectl apply -f - >/dev/null
    stuck dns 3 'Pod dns/it .*private.invalid/x:1.*no basic auth credentials' "give the pod a pull secret"
}
wrong_login() {
    login regcred wrong | template wronglogin 0000-secret
    deployment "" private.invalid/x:1 "" '      imagePullSecrets: [{name: regcred}]' | template wronglogin 1000-it
    stuck wronglogin 3 '401 Unauthorized.*\(pull secret regcred\)|\(pull secret regcred\).*401 Unauthorized' "give the pod a pull secret whose login may pull the image"
}
right_login() {
    login regcred right | template rightlogin 0000-secret
    deployment "" private.invalid/x:1 "" '      imagePullSecrets: [{name: regcred}]' | template rightlogin 1000-it
    "$slipway" run rightlogin --timeout 20s
}
missing_login() {
    deployment "" private.invalid/x:1 "" '      imagePullSecrets: [{name: nosuch}]' | template misslogin 1000-it
    stuck misslogin 3 'pull secret nosuch\).*Unable to retrieve some image pull secrets \(nosuch\)|Unable to retrieve some image pull secrets \(nosuch\)' "create the pull secret that the pod names"
}
missing_login_and_image() { # kubelet goes on without the secret: the image's error is why the pod stops, and neither hides the other
    deployment "" gone.invalid/x:1 "" '      imagePullSecrets: [{name: nosuch}]' | template missboth 1000-it
    stuck missboth 3 'image "gone.invalid/x:1".*not found.*; Unable to retrieve some image pull secrets \(nosuch\)|gone.invalid/x:1.*not found.*; Unable to retrieve some image pull secrets \(nosuch\)' "create the pull secret that the pod names, in its namespace, and see that the image exists" &&
        [ "$(grep -o 'image pull secrets' errs | wc -l)" = 1 ]
}
missing_volume() { # KIND SOURCE
    deployment "" busybox:1 "" "      volumes: [{name: v, $2}]" | template "novolume${1,,}" 1000-it
    stuck "novolume${1,,}" 3 "MountVolume.SetUp failed for volume \"v\" : ${1,,} \"nosuch\" not found" "create it in the pod's namespace"
}
missing_env() {
    deployment "" busybox:1 ', env: [{name: A, valueFrom: {secretKeyRef: {name: nosuch, key: a}}}]' | template noenv 1000-it
    stuck noenv 3 'container main: CreateContainerConfigError: secret "nosuch" not found' "create it in the pod's namespace" &&
        kubectl -n noenv create secret generic nosuch --from-literal=a=b >/dev/null && "$slipway" run noenv --timeout 20s
}
oom() {
    deployment 'emulator.slipway.dev/exit-code: "137", emulator.slipway.dev/reason: OOMKilled' busybox:1 | template oom 1000-it
    stuck oom 3 'last exit code 137 \(OOMKilled\)' "raise the container's memory limit"
}
init_crash() {
    deployment 'emulator.slipway.dev/exit-code.first: "7", emulator.slipway.dev/log.first: "no module here"' busybox:1 "" '      initContainers: [{name: first, image: "busybox:1"}]' | template initcrash 1000-it
    stuck initcrash 3 'init container first: CrashLoopBackOff.*the end of its log: no module here' "read the pod's log"
}
claim() { # CLAIM
    printf 'apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, %s}\n' "$1"
}
no_class() {
    claim 'storageClassName: fast' | template noclass 1000-it
    stuck noclass 3 'PersistentVolumeClaim noclass/data status.phase is Pending, not Bound: storageclass.storage.k8s.io "fast" not found' "give the claim a StorageClass that exists"
}
pod_of_claim() {
    claim 'storageClassName: fast' | sed 's/^metadata: {name: data/&, annotations: {slipway.dev\/wait: "false"}/' | template claimed 1000-it
    deployment "" busybox:1 "" '      volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]' | template claimed 1000-pod
    sed -i 's/slipway.dev\/wait: all/x: y/' claimed/Chart.yaml
    sed -i 's/^metadata: {name: it}/metadata: {name: it, annotations: {specialresource.openshift.io\/wait: "true"}}/' claimed/templates/1000-pod.yaml
    stuck claimed 3 'cannot be scheduled: 0/5 nodes are available: pod has unbound immediate PersistentVolumeClaims. \(claims data\)' "give the claim a StorageClass that exists"
}
no_claim() {
    deployment "" busybox:1 "" '      volumes: [{name: v, persistentVolumeClaim: {claimName: nosuch}}]' | template noclaim 1000-it
    stuck noclaim 3 'persistentvolumeclaim "nosuch" not found' "create the claim that the pod names"
}
bound_claim() { # the class is there, and what waits goes on
    made StorageClass storage.k8s.io/v1 'metadata: {name: fast}
provisioner: example.com/fast' | kubectl apply -f - >/dev/null && "$slipway" run noclass --timeout 20s && "$slipway" run claimed --timeout 20s
}
pod_security() {
    made Namespace v1 'metadata: {name: podsecurity, labels: {pod-security.kubernetes.io/enforce: restricted}}' | kubectl apply -f - >/dev/null
    deployment "" busybox:1 ', securityContext: {privileged: true}' | template podsecurity 1000-it
    stuck podsecurity 3 'violates PodSecurity "restricted:latest": privileged \(container "main" must not set securityContext.privileged=true\), allowPrivilegeEscalation' "label the namespace pod-security.kubernetes.io/enforce" || return 1
    made Namespace v1 'metadata: {name: secured, labels: {pod-security.kubernetes.io/enforce: restricted}}' | kubectl apply -f - >/dev/null
    daemon_set '      hostNetwork: true' | template secured 1000-it # its pods' names are made up
    stuck secured 3 'violates PodSecurity "restricted:latest": host namespaces' "label the namespace pod-security.kubernetes.io/enforce"
}
priority() {
    deployment "" busybox:1 "" '      priorityClassName: nosuch' | template priority 1000-it
    stuck priority 3 'no PriorityClass with name nosuch was found' "create the PriorityClass"
}
disk() {
    another --delays 0.3 --trouble disk-pressure
    daemon_set '      nodeSelector: {kubernetes.io/os: linux}' | template disk 1000-it
    stuck disk 3 'pod it-[^ ]* on node [^ ]*: failed: Evicted: The node was low on resource: ephemeral-storage' "free disk space on the node" &&
        deployment "" busybox:1 | template disk2 1000-it &&
        stuck disk2 3 'untolerated taint \{node.kubernetes.io/disk-pressure: \}|Evicted: The node was low on resource' "free disk space on the node"
}
build() {
    another --platform openshift
    made BuildConfig build.openshift.io/v1 'metadata:
  name: driver
  annotations:
    emulator.slipway.dev/build: Failed
    emulator.slipway.dev/log: "STEP 3: RUN dnf install\nUnable to find a match: kernel-devel-5.14\nSTEP 4\nerror: build error: exit status 1"
spec:
  triggers: [{type: ConfigChange}]
  source: {type: Git, git: {uri: "https://example.com/x"}}
  strategy: {type: Docker, dockerStrategy: {}}' | template build 1000-it
    stuck build 1 'BuildConfig build/driver build driver-1: status.phase is Failed, not Complete: Dockerfile build strategy has failed.; the end of its log: .*Unable to find a match: kernel-devel-5.14' "read the build's log"
}

build_of_driver() { # what waits for its image is no second culprit
    local f
    another --platform openshift --trouble driver-does-not-compile
    (cd "$top" && "$slipway" run recipes/simple-kmod --timeout 20s --fail-fast=false 2>"$tap_dir/errs" >/dev/null) && return 1
    "$slipway" status simple-kmod >status; "$slipway" explain simple-kmod >explained
    cat errs status explained
    for f in errs status explained; do
        grep -q 'BuildConfig .* build .*Makefile:1234: modules. Error 2' $f && ! grep -E 'ErrImagePull|ImagePullBackOff|has not built' $f || return 1
    done
    grep -q 'state driver-container .*waits for driver-build (Failed)' explained
}

condition_of() { kubectl get specialresource "$1" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}'; }
restarts() { kubectl get pods -n "$1" -o 'jsonpath={.items[0].status.containerStatuses[0].restartCount}'; }
has_restarted() { [ "$(restarts "$1")" -ge "$2" ]; }
ready() { [ "$(condition_of "$1")" = True ]; }
is_not_ready() { ! ready "$1"; }
dies_again() { # it is ready for a second after each start, and its resource is not Ready any more
    deployment 'emulator.slipway.dev/exit-code: "3", emulator.slipway.dev/run: 1s, emulator.slipway.dev/log: "no such device"' busybox:1 | sed 's/replicas: 2/replicas: 1/' | template again 1000-it
    another && (cd "$top" && operating --allowed-files "$tap_dir") || return 1
    resource again "file://$tap_dir/again" 0.1.0 | kubectl apply -f - >/dev/null
    until_ok 20 has_restarted again 1 && until_ok 5 is_not_ready again || return 1
    local n=0
    until has_restarted again 3; do
        ! ready again || { echo "Ready after $(restarts again) restarts"; return 1; }
        n=$((n + 1))
    done
    "$slipway" status again >status || true
    cat status
    [ $n -ge 3 ] && tr '\n' ' ' <status | grep -q 'container main: .*last exit code 3 .*no such device'
}
lives_again() { # what goes on after its restarts is Ready, once it has run longer than before
    kubectl -n again annotate --overwrite "$(kubectl -n again get pods -o name)" emulator.slipway.dev/run=forever >/dev/null && until_ok 30 ready again
    local rc=$?
    stop operating
    return $rc
}

denies() {
    certificate "$(year yesterday)" "$(year 'next year')" && hook && configured denied ca.crt
    deployment "" busybox:1 | template denied 1000-it
    stuck denied 3 'admission webhook "images.example.com" denied the request: images must come from registry.example.com' "an admission webhook rejected it: ask its owner"
}
expired() {
    certificate 20200101000000Z 20210101000000Z && hook && configured expired ca.crt
    deployment "" busybox:1 | template expired 1000-it
    stuck expired 3 'failed calling webhook "images.example.com".*certificate has expired' "renew the certificate"
}
not_yet_valid() { # what a clock that is behind sees
    certificate 20990101000000Z 21000101000000Z && hook && configured future ca.crt
    deployment "" busybox:1 | template future 1000-it
    stuck future 3 'failed calling webhook "images.example.com".*certificate (has expired or )?is not yet valid' "renew the certificate; if it is valid, set the clock"
}
unknown_authority() {
    certificate "$(year yesterday)" "$(year 'next year')" && hook
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=other -keyout other.key -out other.crt 2>/dev/null
    configured unknown other.crt
    deployment "" busybox:1 | template unknown 1000-it
    stuck unknown 3 'failed calling webhook "images.example.com".*(unknown authority|unable to get local issuer)' "give the one that calls the authority's certificate"
}
stuck_long() { # after 10 s the resource has an Event
    made Namespace v1 'metadata: {name: long, labels: {pod-security.kubernetes.io/enforce: restricted}}' | kubectl apply -f - >/dev/null
    deployment "" busybox:1 ', env: [{name: A, valueFrom: {configMapKeyRef: {name: nosuch, key: a}}}]' | template long 1000-it
    deployment "" private.invalid/x:1 | template long2 1000-it
    claim 'storageClassName: slow' | template long3 1000-it
    local pids=
    for r in long long2 long3 oom; do "$slipway" run $r --timeout 12s --fail-fast=false >$r.ran 2>&1 </dev/null & pids="$pids $!"; done
    wait $pids
    cat long*.ran oom.ran
}
events_say_it() { # EXPECTED...: lines of the resources' Warning Events
    kubectl get events -A --field-selector type=Warning,involvedObject.kind=SpecialResource -o 'jsonpath={range .items[*]}{.involvedObject.name} {.message}{"\n"}{end}' >events
    cat events
    for expected; do grep -qE "$expected" events || { echo "no Event: $expected"; return 1; }; done
}

t "an image that nobody may pull without a login" no_login
t "which a Warning about the node's DNS does not hide" harmless_event
t "a pull secret with the wrong login, by its name" wrong_login
t "one with the right login pulls it" right_login
t "a pull secret that is missing" missing_login
t "a pull secret and an image that are both missing" missing_login_and_image
t "a Secret that a volume lacks" missing_volume Secret 'secret: {secretName: nosuch}'
t "a ConfigMap that a volume lacks" missing_volume ConfigMap 'configMap: {name: nosuch}'
t "a Secret that the environment lacks; when it is there the pod starts" missing_env
t "a program that is killed for its memory" oom
t "an init container that crashes, with its log" init_crash
t "a claim whose StorageClass is missing" no_class
t "a pod that waits for a claim, by the claim's name" pod_of_claim
t "a claim that does not exist" no_claim
t "with the StorageClass both go on" bound_claim
t "a pod that Pod Security refuses" pod_security
t "a PriorityClass that is missing" priority
if command -v openssl >/dev/null && command -v python3 >/dev/null; then
    t "a webhook that denies, in its words" denies
    t "a webhook whose certificate has expired" expired
    t "a webhook whose certificate is not yet valid: a clock" not_yet_valid
    t "a webhook whose authority is not known" unknown_authority
else
    skip "webhooks and their certificates" "no openssl or python3 here"
fi
stuck_long >/dev/null 2>&1
t "the resources' Events" events_say_it '^long state 1000: .*violates PodSecurity "restricted:latest"' '^long2 .*no basic auth' '^long3 .*storageclass.storage.k8s.io "slow" not found' '^oom .*OOMKilled'
t "a disk that is full: pods that are evicted, and that find no node" disk
t "a program that dies a second after each start is not Ready in between, with the operator" dies_again
t "one that goes on is" lives_again
t "an OpenShift build that failed, by the line that matters" build
t "the driver that waits for such a build is no second culprit" build_of_driver
plan
