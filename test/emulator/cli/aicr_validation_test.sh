# The validation of an AICR recipe: each check is a Job of the image that the catalogue names, and a state behind
# all components; its exit code says whether it passed, failed or does not apply.
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/slipway}")
export HOME=$tap_dir
emulator=
trap '[ -z "$emulator" ] || kill "$emulator"; rm -rf "$tap_dir"' EXIT
cd "$tap_dir" || exit 1
put() { mkdir -p "$(dirname "$1")" && cat >"$1"; }
head='apiVersion: aicr.nvidia.com/v1alpha1'
put catalog/registry.yaml <<Y
$head
kind: ComponentRegistry
components: [{name: tuning}]
Y
put catalog/overlays/base.yaml <<Y
$head
kind: RecipeMetadata
metadata: {name: base}
spec:
  componentRefs: [{name: tuning, namespace: tuning, manifestFiles: [components/tuning/manifests/tuning.yaml]}]
  validation:
    deployment: {checks: [operator-health, gone]}
    performance: {checks: [nccl-all-reduce-bw], constraints: [{name: nccl-all-reduce-bw, value: ">= 300"}]}
    conformance: {checks: [dra-support, gang-scheduling, platform-health]}
Y
put catalog/components/tuning/manifests/tuning.yaml <<'Y'
apiVersion: v1
kind: ConfigMap
metadata: {name: tuning, namespace: "{{ .Release.Namespace }}"}
Y
put catalog/validators/catalog.yaml <<'Y'
apiVersion: aicr.nvidia.com/v1
kind: ValidatorCatalog
metadata: {name: validators, version: 1.0.0}
validators:
- {name: operator-health, phase: deployment, image: "ghcr.io/nvidia/aicr-validators/deployment:latest", timeout: 2m, args: [operator-health], env: [{name: A, value: "{{b}}"}]}
- {name: nccl-all-reduce-bw, phase: performance, image: "ghcr.io/nvidia/aicr-validators/performance:latest", timeout: 30m, args: [nccl-all-reduce-bw]}
- {name: dra-support, phase: conformance, image: "ghcr.io/nvidia/aicr-validators/conformance:v1.2.3", args: [dra-support]}
- {name: gang-scheduling, phase: conformance, image: "ghcr.io/nvidia/aicr-validators/conformance:latest", timeout: 10m, args: [gang-scheduling]}
- {name: platform-health, phase: conformance, image: "ghcr.io/nvidia/aicr-validators/conformance:latest", timeout: 5m, args: [platform-health]}
Y
# all pass but for what a rule says: what the containers of AICR end with, and write
rules() { # CHECK EXIT-CODE MORE
    put rules/rules.yaml <<Y
pods:
- {labels: aicr.nvidia.com/validator=$1, exitCode: $2, $3}
Y
}
walk() { "$slipway" run catalog --emulate --delays 0 --timeout 60s "$@" >doc 2>said; }

as_aicr_does() {
    "$slipway" render catalog --criteria service=any --kube-version 1.33 >out.yaml 2>said || { cat said; return 1; }
    "$slipway" render catalog --criteria service=any --kube-version 1.33 -o json 2>/dev/null | jq -e '[.. | objects | select(.kind? == "Job" and .metadata.name? != null)] | length == 5' >/dev/null ||
        grep -c '^kind: Job' out.yaml | grep -qx 5 || return 1
    grep -q 'image: ghcr.io/nvidia/aicr-validators/conformance:v1.2.3' out.yaml && grep -q 'value: .{{b}}' out.yaml && grep -q 'activeDeadlineSeconds: 1800' out.yaml && grep -q 'activeDeadlineSeconds: 300' out.yaml &&
        grep -q 'mountPath: /data/recipe' out.yaml && grep -q 'name: AICR_RECIPE_PATH' out.yaml && grep -q 'serviceAccountName: aicr-validator' out.yaml && grep -q 'data: {version: "v1.33.0"}' out.yaml || { cat out.yaml; return 1; }
}
t "a check is a Job as AICR makes it: image, arguments, environment, mounts, deadline" as_aicr_does

noted() { "$slipway" create x --from-aicr --data catalog --criteria service=any >said 2>&1; grep -q "check 'gone' of the validation: validators/catalog.yaml has none of phase deployment" said && grep -q 'run as cluster-admin' said || { cat said; return 1; }; }
t "what the catalogue does not have is told, and as whom the checks run" noted

passes() {
    rules x 0 'log: "ok"' && walk --rules rules --criteria service=any || { cat doc; return 1; }
    [ "$(grep -c 'StateReady: state validate-' doc)" = 5 ] && [ "$(grep -n 'StateReady: state tuning' doc | cut -d: -f1)" -lt "$(grep -n 'StateStarted: state validation' doc | cut -d: -f1)" ] || { cat doc; return 1; }
}
t "all components come first, then the phases" passes

skipped() {
    rules dra-support 2 'log: "level=INFO msg=SKIP reason=\"no DRA driver here\""' && walk --rules rules --criteria service=any -o junit || { cat said; return 1; }
    grep -q 'failures="0" errors="0" skipped="1"' doc && grep -A1 'name="validate-dra-support"' doc | grep -q '<skipped message="no DRA driver here"/>' || { cat doc; return 1; }
    rules dra-support 2 'log: "level=INFO msg=SKIP reason=\"no DRA driver here\""' && walk --rules rules --criteria service=any && grep -q 'CheckSkipped' doc said || { cat doc said; return 1; }
}
t "a check that does not apply is skipped, with its reason, and its state is Ready" skipped

fails() {
    rules dra-support 1 'message: "no ResourceSlice"' && ! walk --rules rules --criteria service=any -o junit --fail-fast || { cat said; return 1; }
    grep -A1 'name="validate-dra-support"' doc | grep -q '<failure message=.*BackoffLimitExceeded.*no ResourceSlice' || { cat doc; return 1; }
}
t "a check that fails is a failure, with what it wrote" fails

goes_on() { # without --fail-fast
    rules dra-support 1 'message: "no ResourceSlice"' && ! walk --rules rules --criteria service=any -o json --timeout 10s || { cat said; return 1; }
    jq -e '[.states[] | select(.name == "validate-gang-scheduling" or .name == "validate-platform-health") | .phase] == ["Ready", "Ready"]' doc >/dev/null || { cat doc; return 1; }
    rules operator-health 1 'message: "2 pods are not ready"' && ! walk --rules rules --criteria service=any -o junit --timeout 10s || { cat said; return 1; }
    [ "$(grep -c '<skipped message="waits for validate-' doc)" = 4 ] || { cat doc; return 1; }
}
t "checks of a phase that failed run all the same, those of later phases do not" goes_on

ctrf() {
    rules dra-support 2 'log: "level=INFO msg=SKIP reason=none"' && walk --rules rules --criteria service=any -o ctrf || { cat said; return 1; }
    jq -e '.reportFormat == "CTRF" and .results.summary.tests == 5 and .results.summary.passed == 4 and .results.summary.skipped == 1 and
        (.results.tests[] | select(.name == "dra-support") | .status == "skipped" and .message == "none" and .suite == ["conformance"])' doc >/dev/null || { cat doc; return 1; }
    rules nccl-all-reduce-bw 1 'message: "NCCL bandwidth 120 is below 300"' && ! walk --rules rules --criteria service=any -o ctrf --fail-fast || { cat said; return 1; }
    jq -e '.results.summary.failed == 1 and (.results.tests[] | select(.name == "nccl-all-reduce-bw") | .status == "failed" and (.message | contains("NCCL bandwidth 120 is below 300")))' doc >/dev/null || { cat doc; return 1; }
    rules operator-health 137 'reason: OOMKilled' && ! walk --rules rules --criteria service=any -o ctrf --fail-fast && jq -e '.results.summary.other == 1 and .results.summary.skipped == 4' doc >/dev/null || { cat doc; return 1; }
}
t "run -o ctrf prints the results of the checks" ctrf

switched() {
    ! "$slipway" graph catalog --criteria service=any --set validation.enabled=false 2>&1 | grep -q valid || return 1
    "$slipway" graph catalog --criteria service=any --set validation.performance=false >said 2>&1 && grep -q validate-dra-support said && ! grep -q nccl said || { cat said; return 1; }
}
t "validation is switched off by a value, all of it or a phase" switched

shown() { # on a cluster
    local rc=0
    rules dra-support 2 'log: "level=INFO msg=SKIP reason=\"no DRA driver here\""'
    rm -f kubeconfig
    "$slipway" emulate --rules rules --kubeconfig-out kubeconfig >emulate.log 2>&1 &
    emulator=$!
    until_ok 20 test -s kubeconfig
    export KUBECONFIG=$PWD/kubeconfig
    "$slipway" run catalog --criteria service=any --name eks --timeout 60s >said 2>&1 || rc=1
    [ $rc = 0 ] && "$slipway" report -o report.html >said 2>&1 && grep -q 'no DRA driver here' report.html || rc=1
    [ $rc = 0 ] && kubectl get clusterrolebinding aicr-validator >said 2>&1 && "$slipway" uninstall eks --yes --timeout 60s >said 2>&1 &&
        ! kubectl get clusterrolebinding aicr-validator >gone 2>&1 && grep -q 'not found' gone || rc=1
    kill "$emulator" && wait "$emulator" 2>/dev/null; emulator=
    [ $rc = 0 ] || cat said
    return $rc
}
t "report keeps what the checks came to, and uninstall leaves nothing of them" shown
plan
