# A Module of Kernel Module Management becomes a recipe, and walks.
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/slipway}")
command -v kubectl >/dev/null || { skip "modules of Kernel Module Management" "no kubectl here"; plan; }
export HOME=$tap_dir KUBECONFIG=$tap_dir/kubeconfig
stop() { [ ! -f "$tap_dir/pid" ] || kill "$(cat "$tap_dir/pid")" 2>/dev/null; }
trap 'stop; wait; rm -rf "$tap_dir"' EXIT
cd "$tap_dir" || exit 1
cat >module.yaml <<'Y'
apiVersion: kmm.sigs.x-k8s.io/v1beta1
kind: Module
metadata: {name: radio, namespace: team}
spec:
  imageRepoSecret: {name: registry}
  moduleLoader:
    container:
      version: ""
      inTreeModulesToRemove: [old_radio]
      modprobe:
        moduleName: radio_core
        parameters: [debug=1, "power level='2'"]
        modulesLoadingOrder: [radio_core, radio_bus, radio_lib]
        firmwarePath: /firmware
        args: {load: [--ignore-install], unload: [-w]}
      build:
        buildArgs: [{name: LEVEL, value: low}, {name: KIND, value: all}]
        dockerfileConfigMap: {name: sources}
      kernelMappings:
      - literal: 4.18.0-none.x86_64
        containerImage: quay.io/team/none:1
      - regexp: '^(5\.14\..+|5\.15\..+-91-.+|4\.18\..+305\.45.+)$'
        containerImage: quay.io/$MOD_NAMESPACE/${MOD_NAME}:${KERNEL_XYZ}-$KERNEL_FULL_VERSION
        build:
          buildArgs: [{name: LEVEL, value: high}]
          secrets: [{name: token}]
        sign:
          keySecret: {name: key}
          certSecret: {name: cert}
          filesToSign: ["/opt/lib/modules/$KERNEL_FULL_VERSION/*.ko"]
  devicePlugin:
    container:
      image: quay.io/team/plugin:1
      env: [{name: A, value: b}]
      volumeMounts: [{name: dev, mountPath: /dev}]
    serviceAccountName: plugin
    volumes: [{name: dev, hostPath: {path: /dev}}]
  selector: {kubernetes.io/os: linux}
  tolerations: [{key: radio, operator: Exists}]
Y
create() { "$slipway" create "$@" >said 2>&1; }
made() {
    create --from-kmm module.yaml && cat said && grep -q "^created radio of Module team/radio" said && for object in "Secret registry" "ConfigMap sources" "Secret token" "Secret key" "Secret cert"; do
        grep -q "^needs: $object in namespace team$" said || return 1
    done
}
t "a Module becomes a recipe, and what it needs is named" made
linted() { "$slipway" lint radio >lint 2>&1; grep -v 'changes under its tag' lint >&2 || [ "$(grep -c . lint)" -le 2 ]; }
t "whose only doubt is the tag of the loader's image" linted
render() { "$slipway" render radio --namespace team --set kernelFullVersion="$1" "${@:2}"; }
has() { # FILE TEXT...
    local file=$1
    shift
    for text; do grep -qF -- "$text" "$file" || { echo "lacks: $text"; return 1; }; done
}
kernel=5.14.0-99.el9.x86_64
loads() {
    render $kernel >rendered && has rendered "quay.io/team/radio:5.14.0-$kernel" "modprobe -rv 'old_radio'" "modprobe -v -d '/tmp/opt' '--ignore-install' 'radio_core' 'debug=1' 'power level='\\''2'\\'''" \
        "modprobe -rv -d '/tmp/opt' '-w' 'radio_core' 'radio_bus' 'radio_lib'" 'firmware_class' &&
        sed -n "/modprobe -v -d .*'radio_lib'/,/radio_core/p" rendered | tr -d ' \n' | grep -q "radio_lib'modprobe.*radio_bus'modprobe.*radio_core'"
}
t "the module is loaded as modprobe says, after those that it depends on" loads
builds() { has rendered "--build-arg 'LEVEL=high'" "--build-arg 'KIND=all'" '--build-arg "KERNEL_FULL_VERSION=$KERNEL"' "/modules/opt/lib/modules/$kernel/*.ko" /run/secrets/token; }
t "its image is built with the mapping's arguments, and signed" builds
other() { render 6.1.0-other.x86_64 >other && ! grep -q 'kind: Job' other && [ "$(grep -c 'kind: DaemonSet' other)" = 1 ] && render 4.18.0-none.x86_64 | grep -q quay.io/team/none:1; }
t "a kernel that no mapping fits gets nothing; a literal one fits that kernel" other
versions() {
    render $kernel --set 'versions[0].version=2,versions[0].modprobe.moduleName=radio_two' >versions && has versions 'name: radio-2' 'kmm.node.kubernetes.io/version-module.team.radio: "2"' radio_two
}
t "a second version is for the nodes whose label names it" versions
raw() {
    sed -e 's/moduleName: radio_core/rawArgs: {load: [-d, \/tmp\/opt, x], unload: [-r, x]}/' -e '/modulesLoadingOrder\|parameters\|args: {load: \[--/d' module.yaml | "$slipway" create raw --from-kmm - >out 2>&1 &&
        "$slipway" render raw --namespace team --set kernelFullVersion=$kernel >rendered && has rendered "modprobe '-d' '/tmp/opt' 'x'" "modprobe '-r' 'x'"
}
t "raw arguments are modprobe's own" raw
# The scripts run with programs that do nothing: what a Module says is no command.
words() {
    mkdir -p none && local p
    for p in mkdir cp modprobe find touch sleep buildah rm uname; do printf '#!/bin/sh\n' >none/$p && chmod +x none/$p; done
    printf '#!/bin/sh\n: >"%s/ran"\n' "$tap_dir" >none/reboot && chmod +x none/reboot
    sed -e 's|firmwarePath: /firmware|firmwarePath: "/lib/$(reboot)"\n        dirName: "/opt; reboot; `reboot`"|' -e "s/\\[old_radio\\]/[\"old'; reboot; '\"]/" -e 's|"/opt/lib/modules/|"/opt; reboot; `reboot`/lib/|' module.yaml >hostile.yaml
    rm -rf hostile && "$slipway" create hostile --from-kmm hostile.yaml && "$slipway" render hostile --namespace team --set kernelFullVersion=$kernel >rendered || return 1
    grep -q 'lib/$(reboot)' rendered && grep -q "old'" rendered || return 1
    rendered_scripts <rendered >scripts.json && jq -e 'length >= 3' scripts.json || return 1
    for p in $(jq -r 'keys[]' scripts.json); do
        jq -r ".[$p]" scripts.json | sed 's/while :; do.*done$//; s/^ *trap .*//; s/^ *exit 0$//' >script && sh -n script || return 1
        PATH=$tap_dir/none:$PATH IMAGE=i KERNEL=k timeout 10 sh -c '. ./script; [ -z "$(command -v unload)" ] || unload' >/dev/null 2>&1 </dev/null
    done
    [ ! -e "$tap_dir/ran" ]
}
rendered_scripts() { # of sh -ec, a list
    python3 -c 'import json, sys, yaml
found = []
def walk(d):
    if isinstance(d, dict):
        if d.get("command") == ["sh", "-ec"]: found.append(d["args"][0])
        for v in d.values(): walk(v)
    elif isinstance(d, list):
        for v in d: walk(v)
for d in yaml.safe_load_all(sys.stdin): walk(d)
json.dump(found, sys.stdout)'
}
if python3 -c 'import yaml' 2>/dev/null; then t "what a Module says is no command" words; else skip "what a Module says is no command" "no python3 with yaml here"; fi
broken() { # a line of a script of its own
    sed 's|firmwarePath: /firmware|firmwarePath: "/firmware\\n reboot"|' module.yaml >broken.yaml && rm -rf broken && { ! "$slipway" create broken --from-kmm broken.yaml >out 2>&1 ||
        ! "$slipway" render broken --namespace team --set kernelFullVersion=$kernel >out 2>&1; } && grep -q 'line break\|control' out
}
t "nor a line of a script" broken
dra() {
    sed '/devicePlugin:/,/volumes:/d' module.yaml >dra.yaml && cat >>dra.yaml <<'Y' && create dra --from-kmm dra.yaml && "$slipway" render dra --namespace team --api-versions resource.k8s.io/v1 >rendered
  dra:
    driverName: radio.example.com
    container: {image: "quay.io/team/dra:1"}
    deviceClasses: [{name: radio, selectors: [{cel: {expression: "true"}}]}]
Y
    has rendered 'kind: DeviceClass' /var/lib/kubelet/plugins_registry KUBELET_REGISTRAR_DIRECTORY_PATH && grep -q 'dra-ready' dra/Chart.yaml
}
t "a DRA driver brings its classes" dra

# ---- what is refused -------------------------------------------------------------------------------
refuses() { # EXPECTED SED...
    local text=$1
    shift
    sed "$@" module.yaml | "$slipway" create refused --from-kmm - >out 2>&1
    [ $? = 2 ] && grep -qF -- "$text" out && [ ! -e refused ] || { cat out; return 1; }
}
t "an unknown field, by its place" refuses "spec.moduleLoader.container.kernelMappings[1].sing: a recipe has nothing for this field" -e 's/sign:/sing:/'
t "a mapping without a kernel" refuses "kernelMappings[0]: expected either literal or regexp" -e 's/literal: .*/imagePullPolicy: Always/' -e 's/- imagePullPolicy: Always/- inTreeModuleToRemove: a/'
t "a broken regexp" refuses "kernelMappings[1]: regexp: error parsing regexp" -e 's/\^(5/(5(/'
t "an image without a tag" refuses "kernelMappings[0].containerImage: 'quay.io/team/none' has neither a tag nor a digest" -e 's/none:1/none/'
t "a word that no kernel has" refuses "'\${KERNEL_ABC}' is none of" -e 's/KERNEL_XYZ/KERNEL_ABC/'
t "files to sign elsewhere" refuses "is not below '/opt'" -e 's/"\/opt\/lib/"\/usr\/lib/'
t "another loading order" refuses "modulesLoadingOrder: its first one has to be moduleName" -e 's/\[radio_core, radio_bus/[radio_bus, radio_core/'
t "a module twice in it" refuses "modulesLoadingOrder[2]: 'radio_bus' is there twice" -e 's/radio_bus, radio_lib/radio_bus, radio_bus/'
t "both ways to name modules of the kernel's own" refuses "spec.moduleLoader.container.inTreeModuleToRemove: it and inTreeModulesToRemove exclude each other" -e 's/^      version: ""/      inTreeModuleToRemove: old/'
t "one of them in a mapping" refuses "kernelMappings[0].inTreeModuleToRemove: it and inTreeModulesToRemove exclude each other" -e 's/^        containerImage: .*none:1/&\n        inTreeModuleToRemove: old/'
t "empty arguments" refuses "modprobe.args.load: it has none" -e 's/\[--ignore-install\]/[]/'
t "an empty folder of modules" refuses "modprobe.dirName: '' is no absolute path" -e 's/firmwarePath: /dirName: ""\n        &/'
t "a folder of firmware that is relative" refuses "modprobe.firmwarePath: 'tmpfirmware' is no absolute path" -e 's/firmwarePath: .*/firmwarePath: tmpfirmware/'
t "a policy of pulls that there is not" refuses "spec.moduleLoader.container.imagePullPolicy: 'Perhaps' is none of" -e 's/^      version: ""/      imagePullPolicy: Perhaps/'
t "that of the plugin, too" refuses "spec.devicePlugin.container.imagePullPolicy: 'Perhaps' is none of" -e 's/^      image: .*/&\n      imagePullPolicy: Perhaps/'
t "a plugin without an image" refuses "spec.devicePlugin.container: image is missing" -e 's/^      image: .*/      args: [a]/'
for path in /etc /dev/../etc / /device dev; do
    t "the node's $path for a plugin" refuses "spec.devicePlugin.volumes[0].hostPath.path: '$path' is not below /dev, /sys, /var or /opt" -e "s|path: /dev|path: $path|"
done
t "a version that is a number" refuses "spec.moduleLoader.container.version: '2' is of another type than in a Module; a text may need quotes" -e 's/version: ""/version: 2/'
t "a selector's value that is no text" refuses "spec.selector[kubernetes.io/os]: 'true' is no text; it may need quotes" -e 's/os: linux/os: true/'
t "a selector's value that no label has" refuses "spec.selector[kubernetes.io/os]: " -e 's/os: linux/os: "a b"/'
tolerates() { # TOLERATION EXPECTED
    t "a toleration {$1}" refuses "spec.tolerations[0]: $2" -e "s/{key: radio, operator: Exists}/{$1}/"
}
tolerates 'key: a, operator: Maybe' "operator 'Maybe' is neither Equal nor Exists"
tolerates 'value: a' 'without a key its operator has to be Exists'
tolerates 'key: a, operator: Exists, value: b' 'with the operator Exists it has no value'
tolerates 'key: a b, operator: Exists' "key 'a b': "
tolerates 'key: a, value: b c' "value 'b c': "
tolerates 'operator: Exists, effect: Never' "effect 'Never' is none of"
tolerates 'operator: Exists, effect: NoSchedule, tolerationSeconds: 3' 'with tolerationSeconds its effect has to be NoExecute'
t "a name that no object has" refuses "Module 'ICE_X': metadata.name: " -e 's/name: radio,/name: ICE_X,/'
t "names too long for the labels of both" refuses "have 41 characters together, 40 are allowed" -e "s/name: radio,/name: $(printf 'a%.0s' {1..37}),/"
fits() { sed "s/name: radio,/name: $(printf 'a%.0s' {1..36}),/" module.yaml | "$slipway" create longest --from-kmm - >out 2>&1 || { cat out; return 1; }; }
t "those that just fit are taken" fits
drivers() { # DRIVER CLASSES EXPECTED
    sed -e "s/driverName: .*/driverName: $1/" -e "s/deviceClasses: .*/deviceClasses: [$2]/" dra.yaml >classes.yaml && ! create refused --from-kmm classes.yaml && grep -qF -- "$3" said && [ ! -e refused ] || { cat said; return 1; }
}
t "a DRA driver without a name" drivers '""' '{name: radio}' "spec.dra.driverName: '': "
t "a class without one" drivers radio.example.com '{selectors: []}' "spec.dra.deviceClasses[0].name: '': "
t "a class twice" drivers radio.example.com '{name: radio}, {name: radio}' "spec.dra.deviceClasses[1].name: 'radio' is there twice"
t "a namespace that is not the Module's" eval '! create refused --from-kmm module.yaml -n other && grep -q "is in namespace .team., not in .other." said'
t "no Module at all" eval '! create refused --from-kmm radio/Chart.yaml && grep -q "expected one Module" said'

hub() {
    printf 'apiVersion: hub.kmm.sigs.x-k8s.io/v1beta1\nkind: ManagedClusterModule\nmetadata: {name: radio}\nspec: {spokeNamespace: team, selector: {a: b}, moduleSpec: {}}\n' >hub.yaml
    ! create refused --from-kmm hub.yaml && grep -q "hub.yaml:1: ManagedClusterModule 'radio': spec.selector, spec.spokeNamespace: a recipe is walked on one cluster" said
}
t "a module for the clusters of a hub" hub

# ---- on a cluster ----------------------------------------------------------------------------------
start() { # PLATFORM
    stop
    rm -f "$KUBECONFIG"
    "$slipway" emulate --platform "$1" --kubeconfig-out "$KUBECONFIG" >emulate.log 2>&1 &
    echo $! >"$tap_dir/pid"
    until_ok 20 test -s "$KUBECONFIG" && kubectl create namespace team && kubectl -n team create configmap sources --from-literal=dockerfile="FROM scratch" &&
        kubectl -n team create serviceaccount plugin && for s in registry token key cert; do kubectl -n team create secret generic $s --from-literal=a=b || return 1; done
}
n_ready() { kubectl get nodes -l "kmm.node.kubernetes.io/team.radio.$1" -o name | wc -l; }
n_planned() { "$slipway" plan radio --namespace team >plan.log 2>&1; grep -c "label .*team\.radio\.$1=\$" plan.log || :; }
walks() { # PLATFORM
    local planned
    start "$1" && planned=$(n_planned ready),$(n_planned device-plugin-ready) && "$slipway" run radio --namespace team --timeout 60s >run.log 2>&1 || { tail -5 run.log; return 1; }
    local all
    all=$(kubectl get nodes -o name | wc -l)
    echo "$all nodes, $(n_ready ready) ready, $(n_ready device-plugin-ready) with the plugin"
    [ "$planned" = "$(n_ready ready),$(n_ready device-plugin-ready)" ] || { echo "planned: $planned"; return 1; }
    [ "$(n_planned ready)" = 0 ] && [ "$(n_ready ready)" -gt 0 ] && [ "$(n_ready ready)" = "$(n_ready device-plugin-ready)" ] && [ "$(n_ready ready)" -lt "$all" ]
}
t "it gets Ready, and nodes whose kernel a mapping fits have KMM's labels, as plan foresaw" walks kubernetes
removed() { # by a controller, without uninstall
    "$slipway" controller --metrics-bind-address 0 --health-probe-bind-address 0 --legacy-rights 2>controller.log &
    local controller=$!
    until_ok 30 eval '[ "$(kubectl get sr radio -o "jsonpath={.metadata.finalizers}")" ]' && kubectl delete sr radio --timeout=40s && [ "$(n_ready ready)$(n_ready device-plugin-ready)" = 00 ]
    local rc=$?
    kill "$controller"
    wait "$controller" 2>/dev/null
    return $rc
}
gone() { "$slipway" uninstall radio --yes >said 2>&1 && [ "$(n_ready ready)$(n_ready device-plugin-ready)" = 00 ] || { cat said; kubectl get nodes --show-labels; return 1; }; }
t "which go with the resource" gone
t "on OpenShift, too" walks openshift
foreign() { # a recipe marks no nodes for the modules of others
    cp -r radio foreign && sed -i 's/team\.radio\.ready/kube-system.radio.ready/' foreign/Chart.yaml &&
        ! "$slipway" run foreign --namespace team --timeout 20s >said 2>&1 && grep -q "a recipe may not set the label 'kmm.node.kubernetes.io/kube-system.radio.ready'" said || { cat said; return 1; }
}
t "and with a resource that a controller removes" removed
version_of() { kubectl get node "$1" -o 'jsonpath={.metadata.labels.kmm\.node\.kubernetes\.io/team\.radio\.version\.ready}'; }
chosen() { kubectl label node "$1" "kmm.node.kubernetes.io/version-module.team.radio=$2" --overwrite; }
has_version() { [ "$(version_of "$1")" = "$2" ]; }
versions=module.moduleLoader.container.version=1,versions[0].version=2
n_planned_version() { "$slipway" plan radio --namespace team --set "$versions" >plan.log 2>&1; grep -c "label .*team\.radio\.version\.ready=$1\$" plan.log || :; }
ordered() { # node by node: the label of what is ready follows that of what is chosen, as plan foresaw
    local planned first second
    start kubernetes && kubectl label nodes --all kmm.node.kubernetes.io/version-module.team.radio=1 &&
        planned=$(n_planned_version 1) && "$slipway" run radio --namespace team --timeout 60s --set "$versions" >run.log 2>&1 || { tail -5 run.log; return 1; }
    [ "$planned" = "$(n_ready version.ready=1)" ] && [ "$(n_planned_version 1)" = 0 ] || { cat plan.log; return 1; }
    first=$(kubectl get nodes -l kmm.node.kubernetes.io/team.radio.ready -o 'jsonpath={.items[0].metadata.name}')
    second=$(kubectl get nodes -l kmm.node.kubernetes.io/team.radio.ready -o 'jsonpath={.items[1].metadata.name}')
    has_version "$first" 1 && has_version "$second" 1 || { kubectl get nodes --show-labels; return 1; }
    "$slipway" controller --metrics-bind-address 0 --health-probe-bind-address 0 --legacy-rights 2>controller.log &
    echo $! >controller.pid
    chosen "$first" 2 && until_ok 30 has_version "$first" 2 && has_version "$second" 1 &&
        kubectl get pods -n team -o json | jq -e --arg node "$first" '[.items[] | select(.spec.nodeName == $node and (.metadata.labels.app // "" | startswith("radio-2")))] | length == 1' &&
        kubectl label node "$first" kmm.node.kubernetes.io/version-module.team.radio- && until_ok 30 has_version "$first" ""
    local rc=$?
    kill "$(cat controller.pid)"
    wait "$(cat controller.pid)" 2>/dev/null
    return $rc
}
if command -v jq >/dev/null; then
    t "versions in order: version.ready says which is loaded" ordered
else
    skip "versions in order" "no jq here"
fi
t "labels of another namespace's modules are refused" foreign
plan
