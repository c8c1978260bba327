# slipway tree: a resource, its states, their objects and pods; a BuildConfig is as its newest build is.
. test/tap.sh
. test/stuck.sh
slipway=$(realpath "${SLIPWAY:-build/slipway}")
command -v kubectl >/dev/null || { skip "the tree of a resource" "no kubectl here"; plan; exit; }
export HOME=$tap_dir KUBECONFIG=$tap_dir/kubeconfig
trap 'stop emulated; rm -rf "$tap_dir"' EXIT
emulated --platform openshift >/dev/null || { plan; exit; }
cd "$tap_dir" || exit 1

build_config() { # NAME ANNOTATIONS
    made BuildConfig build.openshift.io/v1 "metadata: {name: $1, annotations: {$2}}
spec:
  triggers: [{type: ConfigChange}]
  source: {type: Git, git: {uri: 'https://example.com/x'}}
  strategy: {type: Docker, dockerStrategy: {}}"
}
says() { "$slipway" "${@:2}" >said 2>&1; grep -qE -- "$1" said || { cat said; return 1; }; }
built() {
    build_config driver "" | template built 1000-build && daemon_set '      nodeSelector: {kubernetes.io/os: linux}' | template built 2000-it &&
        "$slipway" run built --timeout 60s >ran 2>&1 || { cat ran; return 1; }
    says 'BuildConfig built/driver  ready$' tree built && says 'DaemonSet built/it  ready$' tree built && says 'Pod it-[^ ]*  ready  on ' tree built && ! grep 'has not built' said
}
explained() { # what else is waited for is not the build
    daemon_set '      nodeSelector: {gpu: "yes"}' | template built 2000-it && sed -i 's/2000/1000/' built/templates/2000-it.yaml && mv built/templates/2000-it.yaml built/templates/1000-it.yaml
    "$slipway" run built --timeout 3s --fail-fast=false >ran 2>&1 && return 1
    says 'matches no node' explain built && ! grep 'BuildConfig' said
}
failed() {
    build_config driver 'emulator.slipway.dev/build: Failed' | template failed 1000-build
    "$slipway" run failed --timeout 20s >ran 2>&1 && return 1
    says 'BuildConfig failed/driver  failed: build driver-1: status.phase is Failed, not Complete' tree failed
}
none() {
    build_config driver "" | sed '/triggers/d' | template unbuilt 1000-build
    "$slipway" run unbuilt --timeout 2s --fail-fast=false >ran 2>&1 && return 1
    says 'BuildConfig unbuilt/driver  waiting: has not built yet' tree unbuilt
}
t "a build that is complete" built
t "of which explain says nothing, either" explained
t "one that failed" failed
t "one that was never begun" none
plan
