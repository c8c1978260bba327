# Pod Security Admission's level "restricted" for every pod of deploy/ and states/, but those that work on
# the node itself. A field that breaks it is named.
# Source: Kubernetes "Pod Security Standards", as of 1.34.
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}
command -v python3 >/dev/null || { skip "pods are restricted" "no python3 here"; plan; }

# What these do needs the node's files, devices or namespaces, or is a program of others that does.
on_the_node='amd-gpu-operator device-plugin driver-build driver-container driver-validation feature-discovery gpu-cluster-operator
    gpu-device-plugin gpu-operator intel-gaudi-operator kmm-module monitoring nfd nvidia-network-operator runtime-hook'

cat >"$tap_dir/restricted.py" <<'PY'
"""JSON documents, one a line: each field of a pod that "restricted" does not allow is a line; 1 if there is one."""
import json, sys

VOLUMES = {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret"}
SYSCTLS = {"kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.ip_unprivileged_port_start", "net.ipv4.tcp_syncookies",
           "net.ipv4.ping_group_range", "net.ipv4.ip_local_reserved_ports", "net.ipv4.tcp_keepalive_time",
           "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes"}
SELINUX = {"", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"}
HANDLERS = ("livenessProbe", "readinessProbe", "startupProbe", "postStart", "preStop")


def pods(doc):
    """(path, spec, metadata) of each pod that a document describes"""
    kind, spec = doc.get("kind"), doc.get("spec") or {}
    if kind == "Pod":
        yield "spec", spec, doc["metadata"]
    elif kind == "CronJob":
        template = spec["jobTemplate"]["spec"]["template"]
        yield "spec.jobTemplate.spec.template.spec", template["spec"], template.get("metadata") or {}
    elif kind == "ClusterServiceVersion":
        for d in spec["install"]["spec"]["deployments"]:
            template = d["spec"]["template"]
            yield f"{d['name']}: spec.template.spec", template["spec"], template.get("metadata") or {}
    elif kind in ("Deployment", "DaemonSet", "StatefulSet", "ReplicaSet", "ReplicationController", "Job"):
        yield "spec.template.spec", spec["template"]["spec"], spec["template"].get("metadata") or {}


def either(path, context, where):
    """what a pod's security context and a container's may both say"""
    linux = context.get("seLinuxOptions") or {}
    if linux.get("type", "") not in SELINUX:
        yield f"{where}.seLinuxOptions.type"
    yield from (f"{where}.seLinuxOptions.{f}" for f in ("user", "role") if linux.get(f))
    if (context.get("windowsOptions") or {}).get("hostProcess"):
        yield f"{where}.windowsOptions.hostProcess"
    if (context.get("appArmorProfile") or {}).get("type") == "Unconfined":
        yield f"{where}.appArmorProfile.type"
    if (context.get("seccompProfile") or {}).get("type", "Localhost") not in ("RuntimeDefault", "Localhost"):
        yield f"{where}.seccompProfile.type"
    if context.get("runAsUser") == 0:
        yield f"{where}.runAsUser"


def container(where, c, pod):
    context = c.get("securityContext") or {}
    at = f"{where}.securityContext"
    yield from either(where, context, at)
    if context.get("privileged"):
        yield f"{at}.privileged"
    if context.get("allowPrivilegeEscalation") is not False:
        yield f"{at}.allowPrivilegeEscalation"
    if context.get("runAsNonRoot", pod.get("runAsNonRoot")) is not True:
        yield f"{at}.runAsNonRoot"
    if not (context.get("seccompProfile") or pod.get("seccompProfile")):
        yield f"{at}.seccompProfile"
    if context.get("procMount", "Default") != "Default":
        yield f"{at}.procMount"
    capabilities = context.get("capabilities") or {}
    if "ALL" not in (capabilities.get("drop") or []):
        yield f"{at}.capabilities.drop"
    if set(capabilities.get("add") or []) - {"NET_BIND_SERVICE"}:
        yield f"{at}.capabilities.add"
    for i, p in enumerate(c.get("ports") or []):
        if p.get("hostPort"):
            yield f"{where}.ports[{i}].hostPort"
    for name in HANDLERS:
        handler = (c.get("lifecycle") or {}).get(name) if name in ("postStart", "preStop") else c.get(name)
        for how in ("httpGet", "tcpSocket"):
            if ((handler or {}).get(how) or {}).get("host"):
                yield f"{where}.{name}.{how}.host"


def broken(path, spec, metadata):
    pod = spec.get("securityContext") or {}
    yield from (f"{path}.{f}" for f in ("hostNetwork", "hostPID", "hostIPC") if spec.get(f))
    for i, v in enumerate(spec.get("volumes") or []):
        yield from (f"{path}.volumes[{i}].{kind}" for kind in set(v) - {"name"} - VOLUMES)
    yield from either(path, pod, f"{path}.securityContext")
    for i, s in enumerate(pod.get("sysctls") or []):
        if s["name"] not in SYSCTLS:
            yield f"{path}.securityContext.sysctls[{i}]"
    for name, value in (metadata.get("annotations") or {}).items():
        if name.startswith("container.apparmor.security.beta.kubernetes.io/") and value == "unconfined":
            yield f"annotation {name}"
    for group in ("initContainers", "containers", "ephemeralContainers"):
        for i, c in enumerate(spec.get(group) or []):
            yield from container(f"{path}.{group}[{i}]", c, pod)


n, bad = 0, 0
for line in sys.stdin:
    doc = json.loads(line)
    for path, spec, metadata in pods(doc):
        n += 1
        for field in broken(path, spec, metadata):
            print(f"{doc['kind']} {doc['metadata']['name']}: {field}")
            bad += 1
if len(sys.argv) > 1 and n < int(sys.argv[1]):
    sys.exit(f"{n} pods found, {sys.argv[1]} expected")
sys.exit(1 if bad else 0)
PY

# YAML on stdin as JSON, one document a line: a template can do that
mkdir -p "$tap_dir/json/templates"
printf 'apiVersion: v2\nname: json\nversion: 1.0.0\n' >"$tap_dir/json/Chart.yaml"
cat >"$tap_dir/json/templates/all.yaml" <<'T'
{{- range regexSplit "(?m)^---.*$" (.Files.Get "all") -1 }}
{{- with fromYaml . }}
---
{{ toJson . }}
{{- end }}
{{- end }}
T
json() {
    cat >"$tap_dir/json/all"
    "$slipway" render "$tap_dir/json" | sed -n '/^{/p'
}
restricted() { json | python3 "$tap_dir/restricted.py" "$@"; } # [PODS]: that many there are at least
# webhook and scheduler have pods where slices are not given out by kube-scheduler itself
state() { "$slipway" render "states/$1" -a policy/v1 -a resource.k8s.io/v1/DeviceClass --set global.slicing=deviceplugin; }

every_state() { # those that are to be are, and the others are not
    local s bad=0
    for s in states/*; do
        ! grep -q "^type: library" "$s/Chart.yaml" || continue
        s=${s#states/}
        state "$s" >"$tap_dir/state" || { bad=1; continue; }
        if [[ " $(echo $on_the_node) " == *" $s "* ]]; then
            ! restricted 1 <"$tap_dir/state" >/dev/null || { echo "$s: restricted now; take it off the list"; bad=1; }
        else
            restricted <"$tap_dir/state" || { echo "states/$s"; bad=1; }
        fi
    done
    return $bad
}
runs() { state "$1" | restricted 1; }
evictor() { "$slipway" render states/scheduler --kube-version v1.36.0 -a resource.k8s.io/v1 | restricted 1; }
operator() { cat deploy/base/controller.yaml | restricted 1; }
bundle() { cat deploy/bundle/manifests/*.clusterserviceversion.yaml | restricted 1; }

planted() { # FIELD SED: the operator's Deployment, changed, breaks it there and nowhere else
    local got rc=0
    got=$(sed "$2" deploy/base/controller.yaml | restricted) || rc=$?
    echo "$got"
    [ $rc -eq 1 ] && [ "$got" = "Deployment slipway: $1" ]
}
pod=spec.template.spec one=spec.template.spec.containers[0]

t "the operator's pods are restricted" operator
t "so are those of the bundle" bundle
for s in webhook scheduler validation; do t "those of states/$s" runs $s; done
t "and of the scheduler that evicts alone" evictor
t "and of every state that does not work on the node" every_state
t "named: a field of the pod" planted "$pod.hostNetwork" 's/^    spec:$/&\n      hostNetwork: true/'
t "named: a volume" planted "$pod.volumes[0].hostPath" 's/^      - name: tmp$/&\n        hostPath: {path: \/}/; s/^        emptyDir:$/        configMap:/; /sizeLimit/d'
t "named: root" planted "$one.securityContext.runAsNonRoot" '/runAsNonRoot/d'
t "named: no seccomp profile" planted "$one.securityContext.seccompProfile" '/seccompProfile/,+1d'
t "named: seccomp switched off" planted "$pod.securityContext.seccompProfile.type" 's/RuntimeDefault/Unconfined/'
t "named: more privileges" planted "$one.securityContext.allowPrivilegeEscalation" '/allowPrivilegeEscalation/d'
t "named: capabilities that are kept" planted "$one.securityContext.capabilities.drop" 's/drop: \[ALL\]/drop: [KILL]/'
t "named: a capability" planted "$one.securityContext.capabilities.add" 's/drop: \[ALL\]/&\n            add: [SYS_ADMIN]/'
t "named: a port of the node" planted "$one.ports[0].hostPort" '0,/containerPort: 8443/s//&\n          hostPort: 8443/'
plan
