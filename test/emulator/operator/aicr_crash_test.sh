# A recipe of NVIDIA's AI Cluster Runtime, with health checks as gates and a validation behind it: the controller is killed
# after each of a walk's requests, one in eight, unless SW_ALL is set. RECIPE=DIR EVERY=50 tries a recipe of one's own.
# LARGE=h100-kind-training EVERY=50: one of NVIDIA's resolved recipes, with the vendors' charts (make test-aicr).
. test/tap.sh
here=$PWD chaos=$PWD/build/test/chaos
slipway=$(realpath "${SLIPWAY:-build/slipway}")
export HOME=$tap_dir
cd "$tap_dir" || exit 1
. "$here/test/aicr_catalog.sh"
put catalog/validators/catalog.yaml <<'Y'
apiVersion: aicr.nvidia.com/v1
kind: ValidatorCatalog
metadata: {name: validators, version: 1.0.0}
validators: [{name: operator-health, phase: deployment, image: "registry.example.com/v:1", args: [operator-health]}]
Y
made() { # with its charts inside
    "$slipway" create eks --from-aicr --data catalog --criteria service=eks && "$slipway" package eks --charts-dir charts -d . && mkdir -p whole && tar xzf eks-0.1.0.tgz -C whole
}
large() {
    local shared
    shared=$(cd "$here" && realpath "${SW_SHARED:-../shared}") && export https_proxy=http://127.0.0.1:9 http_proxy=http://127.0.0.1:9 || return 1
    . "$here/test/aicr_charts.sh" && aicr_charts "$shared" vendors &&
        "$slipway" create "$LARGE" --from-aicr --recipe "$shared/aicr/resolved/$LARGE.yaml" --data "$shared/aicr/catalog" >said 2>&1 &&
        # a namespace that is found by a lookup is left out of all renders but the first, as by helm upgrade; it stays
        sed -i 's/^{{ if not (lookup "v1" "Namespace" "" $ns) -}}/{{ if true -}}/' vendors/kai-scheduler/templates/services/resourcereservation-namespace.yaml &&
        "$slipway" package "$LARGE" --charts-dir vendors -d . >said 2>&1 && mkdir -p whole && tar xzf "$LARGE"-0.1.0.tgz -C whole || { tail -5 said; return 1; }
    RECIPE=$tap_dir/whole/$LARGE
}
if [ -n "${LARGE:-}" ]; then
    (cd "$here" && [ -d "${SW_SHARED:-../shared}/aicr/resolved" ]) || { skip "$LARGE survives kills" "no ../shared"; plan; }
    echo "# $LARGE is killed after one in $EVERY of its requests: some minutes"
    large || exit 1
    SW_ALL='' # one in $EVERY
fi
t "a recipe is made of a catalogue" made
killed() { (cd "$here" && "$chaos" --kubernetes --nodes 3 --sample "${EVERY:-8}" sweep "${RECIPE:-$tap_dir/whole/eks}"); }
t "it survives a kill after any request" killed
plan
