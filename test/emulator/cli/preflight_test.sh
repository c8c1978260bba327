#!/bin/bash
# slipway preflight: what it says of a recipe, or of a resource on the cluster, for another kernel.
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}
program=$(realpath "$slipway")
kernel=5.14.0-70.13.1.el9_0.x86_64
export KUBECONFIG=$tap_dir/kubeconfig HOME=$tap_dir
unset REGISTRY_AUTH_FILE XDG_RUNTIME_DIR DOCKER_CONFIG
pids=
trap 'for p in $pids; do kill "$p" 2>/dev/null; done; rm -rf "$tap_dir"' EXIT

# ---- a registry with a release, its driver toolkit, and drivers
mkfifo "$tap_dir/stdin"
build/test/registry-server \
    release:next 'release-manifests/image-references={"spec":{"tags":[{"name":"driver-toolkit","from":{"name":"@HOST@/dtk:next"}}]}}' \
    'release-manifests/release-metadata={"version":"4.12.1"}' \
    dtk:next "etc/driver-toolkit-release.json={\"KERNEL_VERSION\":\"$kernel\",\"RHEL_VERSION\":\"9.0\"}" \
    "good:v$kernel" "etc/driver-toolkit-release.json={\"KERNEL_VERSION\":\"$kernel\"}" \
    "wrong:v$kernel" 'etc/driver-toolkit-release.json={"KERNEL_VERSION":"4.18.0-1.el8.x86_64"}' \
    "mute:v$kernel" 'etc/motd=hello' \
    <"$tap_dir/stdin" >"$tap_dir/host" &
pids=$!
exec 7>"$tap_dir/stdin"
until_ok 10 test -s "$tap_dir/host"
host=$(cat "$tap_dir/host")

recipe() { # NAME IMAGE [build]: a driver container of that image
    mkdir -p "$tap_dir/$1/templates"
    printf 'apiVersion: v2\nname: %s\nversion: 0.1.0\n' "$1" >"$tap_dir/$1/Chart.yaml"
    cat >"$tap_dir/$1/templates/1000-driver.yaml" <<YAML
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: driver
  annotations:
    specialresource.openshift.io/state: driver-container
    specialresource.openshift.io/driver-container-vendor: us
spec:
  selector: {matchLabels: {app: driver}}
  template:
    metadata: {labels: {app: driver}}
    spec:
      containers:
      - {name: driver, image: "$host/$2:v{{ .Values.kernelFullVersion }}"}
YAML
    [ -z "$3" ] || cat >"$tap_dir/$1/templates/0000-build.yaml" <<'YAML'
apiVersion: build.openshift.io/v1
kind: BuildConfig
metadata:
  name: build
  annotations: {specialresource.openshift.io/driver-container-vendor: us}
YAML
}
for r in good wrong mute gone; do recipe $r $r; done
recipe built gone build
mkdir -p "$tap_dir/none/templates"
printf 'apiVersion: v2\nname: none\nversion: 0.1.0\n' >"$tap_dir/none/Chart.yaml"
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n' >"$tap_dir/none/templates/x.yaml"

says() { # RC TEXT RECIPE ARGS...
    local want=$1 text=$2 rc; shift 2
    "$slipway" preflight --registries-conf /dev/null "$@" >"$tap_dir/said" 2>&1; rc=$?
    cat "$tap_dir/said"
    [ $rc -eq "$want" ] && grep -qF -- "$text" "$tap_dir/said"
}
t "an image for the kernel is verified" says 0 "verified" "$tap_dir/good" --kernel $kernel
t "an image for another kernel is named" says 1 "is for kernel 4.18.0-1.el8.x86_64, not for $kernel" "$tap_dir/wrong" --kernel $kernel
t "an image that does not say is told" says 1 "does not say for which kernel" "$tap_dir/mute" --kernel $kernel
t "an image that is not there is named" says 1 "$host/gone:v$kernel is not accessible" "$tap_dir/gone" --kernel $kernel
t "a BuildConfig of the vendor is enough" says 0 "BuildConfig" "$tap_dir/built" --kernel $kernel
t "a recipe without drivers is well" says 0 "no driver container" "$tap_dir/none" --kernel $kernel
t "a release image says which kernel" says 0 "kernel $kernel, OpenShift 4.12.1: True" "$tap_dir/good" --image "$host/release:next"
t "a driver toolkit says it too" says 0 "kernel $kernel: True" "$tap_dir/good" --toolkit "$host/dtk:next"
t "a release that is not there is an error" says 2 "there is no such image" "$tap_dir/good" --image "$host/release:old"
t "offline nothing is asked, and the image is named" says 1 "Unknown" "$tap_dir/good" --kernel $kernel --offline
t "kernel or image must be given" says 2 "expected --kernel" "$tap_dir/good"
t "an empty kernel is none" says 2 "expected --kernel" "$tap_dir/good" --kernel ""
t "offline cannot look into an image" says 2 "--offline cannot" "$tap_dir/good" --image x/y --offline
json_says() {
    "$slipway" preflight "$tap_dir/wrong" --kernel $kernel --registries-conf /dev/null -o json >"$tap_dir/json"
    grep -q '"verificationStatus": "False"' "$tap_dir/json" && grep -q '"daemonSet": "driver"' "$tap_dir/json"
}
t "JSON has the verdict and each driver container" json_says

# ---- a Module of Kernel Module Management: its image's name is for one kernel, the image need not say so itself
module() { # NAME IMAGE [BUILD]
    printf 'apiVersion: kmm.sigs.x-k8s.io/v1beta1\nkind: Module\nmetadata: {name: %s, namespace: team}\nspec:\n  selector: {a: b}\n' "$1"
    printf '  moduleLoader:\n    container:\n      modprobe: {moduleName: a}\n      kernelMappings:\n'
    printf "      - {regexp: '^5[.].+\$', containerImage: \"%s:v\${KERNEL_FULL_VERSION}\"%s}\n" "$2" "$3"
}
of_module() { # RC TEXT NAME IMAGE [BUILD]
    (cd "$tap_dir" && module "$3" "$4" "$5" >"$3.yaml" && "$program" create "$3" --from-kmm "$3.yaml") && says "$1" "$2" "$tap_dir/$3" --kernel $kernel
}
t "a Module whose image is there" of_module 0 "image $host/mute:v$kernel is there" there "$host/mute"
t "one whose image is not" of_module 1 "image $host/gone:v$kernel is not accessible" not-there "$host/gone"
t "one that builds it" of_module 0 "Job builds-image makes the image where it is not there" builds "$host/gone" ", build: {dockerfileConfigMap: {name: d}}"

# ---- a mirror, by registries.conf
mirrored() {
    sed -i "s|$host/good|quay.invalid/team/good|" "$tap_dir/good/templates/1000-driver.yaml"
    printf '[[registry]]\nprefix = "quay.invalid/team"\nblocked = true\n[[registry.mirror]]\nlocation = "%s"\n' "$host" >"$tap_dir/mirrors.conf"
    "$slipway" preflight "$tap_dir/good" --kernel $kernel --registries-conf "$tap_dir/mirrors.conf"
}
t "a mirror stands for a registry that cannot be reached" mirrored
bad_conf() { printf '[[registry]]\n' >"$tap_dir/bad.conf"; ! "$slipway" preflight "$tap_dir/good" --kernel $kernel --registries-conf "$tap_dir/bad.conf" >"$tap_dir/said" 2>&1 && grep "bad.conf" "$tap_dir/said"; }
t "a broken registries.conf is named" bad_conf

# ---- a resource on the cluster
"$slipway" emulate --kubeconfig-out "$KUBECONFIG" >/dev/null 2>&1 &
pids="$pids $!"
until_ok 20 test -s "$KUBECONFIG"
on_cluster() {
    "$slipway" run "$tap_dir/none" --set a=1 --registries-conf /dev/null >/dev/null 2>&1
    says 0 "no driver container" none --kernel $kernel
}
t "a SpecialResource is found by its name" on_cluster
t "a name that nobody has is told" says 2 "nobody" nobody --kernel $kernel
exec 7>&-
plan
