# Slices end to end, as users of the Dynamic Accelerator Slicer know them: `make deploy-das`, the
# DASOperator, the recipe walked by the operator, and then pods that ask for slices. Real are the API
# server and its calls of the webhook, kube-scheduler, kubelet and the four programs in their images;
# the rules stand in for cert-manager (which somebody else has installed) and OpenShift's operators, and
# the GPUs are made up.
. test/tap.sh
. test/slicing_cleared.sh
. test/cluster_images.sh
. test/slicing_steps.sh

# ---- the ground ----------------------------------------------------------------------------------
# What DAS's operator made is there, and its Deployment is gone, as DAS_COMPAT leaves it. Of handlers that go
# Kubernetes 1.20 leaves empty ones, and refuses them: they are left out.
left_by_das() {
    kubectl create namespace $ns && kubectl create -f deploy/crds/inference.redhat.com_dasoperators.yaml && operator_resource >"$tap_dir/das.yaml" &&
        until_ok 30 kubectl create -f "$tap_dir/das.yaml" || return 1
    local uid
    uid=$(kubectl -n $ns get dasoperator cluster -o 'jsonpath={.metadata.uid}')
    awk -v RS='---\n' -v ORS='---\n' '!/\nkind: Deployment\n/ || !/\n  name: das-operator\n/' test/emulator/operator/takeover/das.yaml | sed "/^    kind: DASOperator/{n;s/.*/&\n    uid: $uid/};/^        startupProbe:/,/timeoutSeconds/d;/^        lifecycle:/,/sleep/d" >"$tap_dir/left.yaml"
    kubectl create --validate=false --field-manager das-operator -f "$tap_dir/left.yaml" && uids >"$tap_dir/uids" && [ "$(wc -l <"$tap_dir/uids")" = 12 ]
}
uids() { kubectl get -f "$tap_dir/left.yaml" --ignore-not-found -o 'jsonpath={range .items[*]}{.kind} {.metadata.name} {.metadata.uid}{"\n"}{end}'; }

walked() {
    until_ok 120 das_is || { kubectl -n $ns get dasoperator cluster -o yaml; "$SLIPWAY" status nvidia-mig; kubectl get pods -A; return 1; }
    [ "$(kubectl get node "$node" -o json | grep -c 'specialresource.openshift.io/state-nvidia-mig-.*Ready')" = 10 ] &&
        kubectl -n $ns get daemonset/das-daemonset deployment/das-scheduler deployment/das-operator-webhook \
            mutatingwebhookconfiguration/das-mutating-webhook-configuration networkpolicy/das-deny-all &&
        uids | diff "$tap_dir/uids" - && # taken over in place
        [ "$(kubectl -n nvidia-mig-validation get pod nvidia-mig-validation -o 'jsonpath={.status.phase} {.spec.schedulerName} {.spec.containers[0].resources.limits}')" = 'Succeeded das-scheduler {"mig.das.com/1g.5gb":"1"}' ]
}

# ---- pods ----------------------------------------------------------------------------------------
nothing_left() { [ -z "$(kubectl -n $ns get allocationclaims -o name)" ] && [ -z "$(ls "$cdi" 2>/dev/null)" ] && [ -z "$(find "$journal" -name '*.json' 2>/dev/null)" ]; }
gone() { kubectl delete pod "$@" --wait=false && until_ok 90 nothing_left || { kubectl -n $ns get allocationclaims -o wide; ls "$cdi" "$journal"; return 1; }; }
log_of() { kubectl logs "$@"; }
# The UUIDs that a container sees are those of the pod's CDI files and claims, each once.
sees() { # POD CONTAINER COUNT
    local log n
    log=$(kubectl logs "$1" -c "$2") || return 1
    echo "$log"
    n=$(sed -n 's/^visible=\([^ ]*\).*/\1/p' <<<"$log" | tr , '\n' | grep -c '^MIG-[0-9a-f-]*$')
    [ "$n" = "$3" ] && [ "$(sed -n 's/^visible=\([^ ]*\).*/\1/p' <<<"$log" | tr , '\n' | sort -u | wc -l)" = "$3" ]
}
overlap() { # any two slices on the same place of the same GPU
    kubectl -n $ns get allocationclaims -o 'jsonpath={range .items[*]}{.spec.gpuUUID} {.spec.migPlacement.start} {.spec.migPlacement.size}{"\n"}{end}' |
        awk '{ for (i = $2; i < $2 + $3; i++) if (seen[$1, i]++) { print "twice: " $1, i; bad = 1 } } END { exit !bad }'
}

one_slice() {
    pod one "$profile: 1" && [ "$(kubectl get pod one -o 'jsonpath={.spec.schedulerName} {.spec.runtimeClassName} {.spec.containers[0].resources.limits.mig\.das\.com/1g\.5gb}')" = "das-scheduler nvidia-legacy 1" ] &&
        runs one && sees one c1 1 && until_ok 20 states_are one 1 inUse &&
        ls "$cdi" | grep -q "^c1g.5gb_$(kubectl logs one | sed 's/visible=\([^ ]*\).*/\1/').cdi.json\$"
}
sample() { # as it stands in the tree, but for its image
    sed 's|image: .*|image: slipway.local/shell:1|' test/test-pod-emulated.yaml | kubectl apply -f - && until_ok 90 eval '[ "$(kubectl get pod test-emulated -o "jsonpath={.status.phase}")" = Succeeded ]' &&
        kubectl logs test-emulated | grep -q '^NVIDIA_VISIBLE_DEVICES=MIG-' && kubectl logs test-emulated | grep -q '^CUDA_VISIBLE_DEVICES=0$' && gone test-emulated one
}
many_ways() { # three in one container; several containers; an init container; two profiles, all at once
    pod three "$profile: 3" && pod mixed "init:$profile: 1" "$profile: 1" 'nvidia.com/mig-2g.10gb: 1' && pod both 'nvidia.com/mig-3g.20gb: 1, nvidia.com/mig-1g.5gb: 1' &&
        runs three && runs mixed && runs both && sees three c1 3 && sees mixed i1 1 && sees mixed c2 1 && sees mixed c3 1 && sees both c1 2 &&
        until_ok 20 states_are mixed 3 inUse && until_ok 20 states_are both 2 inUse && ! overlap
}
they_go() { gone three mixed both; }
refused() { # by the webhook, with the place
    local out
    out=$(printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: sly}\nspec: {containers: [{name: c, image: a, env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}], resources: {limits: {%s: 1}}}]}\n' "$profile" | kubectl apply -f - 2>&1)
    [ $? -ne 0 ] && echo "$out" && grep -q NVIDIA_VISIBLE_DEVICES <<<"$out"
}
start_0_twice() { # on both GPUs, and a third waits and says for what; deleted while it waits nothing is left of it
    pod whole-a 'nvidia.com/mig-7g.40gb: 1' && pod whole-b 'nvidia.com/mig-7g.40gb: 1' && runs whole-a && runs whole-b &&
        [ "$(kubectl -n $ns get allocationclaims -o 'jsonpath={range .items[*]}{.spec.migPlacement.start}{"\n"}{end}' | sort | uniq -c | tr -s ' ')" = " 2 0" ] &&
        pod whole-c 'nvidia.com/mig-7g.40gb: 1' &&
        until_ok 30 eval 'kubectl get pod whole-c -o "jsonpath={.status.conditions[0].message}" | grep -q "7g.40gb"' && [ -z "$(claims whole-c)" ] &&
        gone whole-c whole-a whole-b
}
available() { [ "$(kubectl get deployment "$1" -o 'jsonpath={.status.readyReplicas}')" = "$2" ]; }
# More pods than slices: the rest wait, and run as others go.
overcommit() {
    kubectl create -f - <<YAML && until_ok 90 available crowd 4 || { kubectl get pods; return 1; }
apiVersion: apps/v1
kind: Deployment
metadata: {name: crowd}
spec:
  replicas: 6
  selector: {matchLabels: {app: crowd}}
  template:
    metadata: {labels: {app: crowd}}
    spec:
      terminationGracePeriodSeconds: 0
      containers:
      - {name: c, image: slipway.local/shell:1, imagePullPolicy: Never, command: [sh, -c, '$show'], resources: {limits: {nvidia.com/mig-3g.20gb: 1}}}
YAML
    [ "$(kubectl get pods -l app=crowd --field-selector spec.nodeName= -o name | wc -l)" = 2 ] && ! overlap
}
bound_of_crowd() { kubectl get pods -l app=crowd -o 'jsonpath={range .items[?(@.spec.nodeName)]}{.metadata.name}{"\n"}{end}' | sort; }
# One that runs is deleted, while the extender of the leader is killed in the one case.
next_runs() {
    local victim claim begin
    victim=$(bound_of_crowd | head -1)
    claim=$(kubectl -n $ns get allocationclaims -o "jsonpath={.items[?(@.spec.podRef.name==\"$victim\")].metadata.name}")
    kubectl delete pod "$victim" --wait=false
    until_ok 60 eval '! kubectl -n $ns get allocationclaim "'"$claim"'" >/dev/null 2>&1'
    begin=$(date +%s%N)
    until_ok 60 eval '[ "$(bound_of_crowd | grep -cv "^'"$victim"'\$")" = 4 ]' || return 1
    echo $((($(date +%s%N) - begin) / 1000000)) >"$tap_dir/bound-ms"
    until_ok 60 available crowd 4 && ! overlap
}
crowd_agrees() { available crowd 4 && [ "$(kubectl -n $ns get allocationclaims -o 'jsonpath={range .items[*]}{.status.state}{"\n"}{end}' | sort | uniq -c | tr -s ' ')" = " 4 inUse" ]; }
# All three programs die while the crowd is replaced: afterwards claims, CDI files and pods agree.
in_the_middle() {
    kubectl delete pods -l app=crowd --wait=false && sleep 0.5 && killed slipway-scheduler && killed slipway-device-plugin && killed slipway-webhook
    until_ok 150 crowd_agrees ||
        { kubectl get pods -o wide; kubectl -n $ns get pods; kubectl -n $ns get allocationclaims -o 'jsonpath={range .items[*]}{.spec.podRef.name} {.status.state}{"\n"}{end}'; kubectl get events | tail -20; return 1; }
    ! overlap && [ "$(ls "$cdi" | wc -l)" = 4 ] && until_ok 60 das_is
}
# The records are those of an older boot, and the plugin begins anew: the slices are made again where they
# were; whose slice has another UUID then goes, and its Deployment makes another.
boots() { find "$journal" -name '*.json' -exec sed -n 's/.*"bootID": *"\([^"]*\)".*/\1/p' {} + | sort | uniq -c | tr -s ' '; }
rebooted() {
    local now
    now=$(cat /proc/sys/kernel/random/boot_id)
    [ "$(boots)" = " 4 $now" ] || { boots; return 1; }
    find "$journal" -name '*.json' -exec sed -i 's/\("bootID": *"\)[^"]*"/\1an-older-boot"/' {} +
    [ "$(boots)" = " 4 an-older-boot" ] && killed slipway-device-plugin || return 1
    # a container that died twice is started ten seconds later; after a boot it is another one
    kubectl -n $ns delete pod -l app=das-daemonset --grace-period=0 --force
    until_ok 150 eval 'crowd_agrees && [ "$(boots)" = " 4 '"$now"'" ] && [ "$(ls "$cdi" | wc -l)" = 4 ]' ||
        { kubectl get pods -o wide; kubectl -n $ns get allocationclaims; kubectl -n $ns logs ds/das-daemonset | tail -12; boots; ls "$cdi"; return 1; }
    ! overlap && until_ok 60 das_is
}
crowd_goes() { kubectl delete deployment crowd && until_ok 90 nothing_left; }
repaired() { # what the operator looks after comes back
    kubectl -n $ns delete networkpolicy das-allow-egress-cluster-dns && until_ok 30 kubectl -n $ns get networkpolicy das-allow-egress-cluster-dns
}
t "nothing is there of what will be deployed" slicing_cleared $ns
t "the images are packed from the build" packed
t "cert-manager is there, as somebody else's" cert_manager
t "what DAS's operator made is there" left_by_das
t "make deploy-das" deployed
[ $tap_bad = 0 ] || plan
t "the recipe is walked, and the DASOperator says so" walked
[ $tap_bad = 0 ] || plan
t "a pod asks for a slice: rewritten, placed, made, seen" one_slice
t "the sample pod runs, and its slice goes with it" sample
t "three in one container, containers, init containers, two profiles" many_ways
t "they go and leave nothing" they_go
t "a pod that opens all GPUs is refused" refused
t "a whole GPU twice, and a third that waits" start_0_twice
t "more pods than slices: the rest wait" overcommit
t "the next one runs when a slice is free" next_runs
[ ! -f "$tap_dir/bound-ms" ] || echo "# from the claim's deletion until a waiting pod is bound: $(cat "$tap_dir/bound-ms") ms"
t "scheduler, plugin and webhook die in the middle" in_the_middle
t "after a reboot claims, CDI files, records and pods agree" rebooted
t "the crowd goes and leaves nothing" crowd_goes
t "a deleted NetworkPolicy comes back" repaired
t "make undeploy-das and undeploy take it away" undeployed
t "cert-manager stays" cert_manager_stays
plan
