# A recipe of NVIDIA's AI Cluster Runtime, with health checks as gates and a validation behind it: the controller is killed
# after each of a walk's requests, one in eight, unless SW_ALL is set. RECIPE=DIR EVERY=50 tries a recipe of one's own.
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
    "$slipway" create eks --from-aicr --data catalog --criteria service=eks && "$slipway" package eks --charts-dir charts -d . && mkdir whole && tar xzf eks-0.1.0.tgz -C whole
}
t "a recipe is made of a catalogue" made
killed() { (cd "$here" && "$chaos" --kubernetes --nodes 3 --sample "${EVERY:-8}" sweep "${RECIPE:-$tap_dir/whole/eks}"); }
t "it survives a kill after any request" killed
plan
