# What the recipes that come with slipway give, whole: a change of it is to be seen, and meant. Write the
# files anew with UPDATE=1. Where there is a helm, it must give the same documents.
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/slipway}")
goldens=test/golden/recipes

# NAME RECIPE ARGS...
same() {
    local name=$1 recipe=$2
    shift 2
    "$slipway" render "recipes/$recipe" --name "$recipe" --namespace "$recipe" --kube-version "${kube:-v1.29.0}" "$@" >"$tap_dir/got" || return 1
    # what a call makes at random, and Helm too
    sed -i -E 's/^( *(tls\.(crt|key)|ca\.crt|caBundle|password)): .*/\1: .../' "$tap_dir/got"
    [ -z "${UPDATE:-}" ] || cp "$tap_dir/got" "$goldens/$name.yaml"
    diff -u "$goldens/$name.yaml" "$tap_dir/got" | head -60
    cmp -s "$goldens/$name.yaml" "$tap_dir/got"
}

# The documents of `helm template`, whatever their order: states are folders beside the recipe, so they
# are packed with it first.
as_helm() { # RECIPE ARGS...
    local recipe=$1
    shift
    "$slipway" package "recipes/$recipe" -d "$tap_dir" >/dev/null || return 1
    local packed
    packed=$(ls "$tap_dir/$recipe"-*.tgz)
    "${HELM:-helm}" template "$recipe" "$packed" --namespace "$recipe" --kube-version "${kube:-v1.29.0}" "$@" >"$tap_dir/helm.yaml" || return 1
    "$slipway" render "$packed" --name "$recipe" --namespace "$recipe" --kube-version "${kube:-v1.29.0}" "$@" >"$tap_dir/own.yaml" || return 1
    diff <(documents "$tap_dir/helm.yaml") <(documents "$tap_dir/own.yaml")
}
documents() { # FILE: one a line, sorted
    awk 'function flush() { sub(/(\\n)+$/, "", doc); if (doc ~ /[^ \t]/) print doc; doc = "" }
        $0 == "---" { flush(); next } { doc = doc $0 "\\n" } END { flush() }' "$1" | sort
}

t "nvidia-gpu" same nvidia-gpu nvidia-gpu --facts $goldens/facts.yaml
t "nvidia-gpu on OpenShift" same nvidia-gpu-openshift nvidia-gpu --facts $goldens/facts-openshift.yaml \
    --api-versions security.openshift.io/v1 --api-versions build.openshift.io/v1 --api-versions image.openshift.io/v1 \
    --api-versions monitoring.coreos.com/v1
t "simple-kmod" same simple-kmod simple-kmod --facts $goldens/facts.yaml
t "simple-kmod on OpenShift" same simple-kmod-openshift simple-kmod --facts $goldens/facts-openshift.yaml \
    --api-versions build.openshift.io/v1 --api-versions image.openshift.io/v1 --api-versions security.openshift.io/v1
t "intel-device-plugins" same intel-device-plugins intel-device-plugins
t "nvidia-mig" same nvidia-mig nvidia-mig
kube=v1.36.0 t "nvidia-mig by Dynamic Resource Allocation" same nvidia-mig-dra nvidia-mig --api-versions resource.k8s.io/v1
t "amd-gpu" same amd-gpu amd-gpu
t "nvidia-network" same nvidia-network nvidia-network
t "intel-gaudi" same intel-gaudi intel-gaudi
devices=(--api-versions resource.k8s.io/v1/DeviceClass)
kube=v1.34.0 t "gpu-cluster" same gpu-cluster gpu-cluster "${devices[@]}"
if command -v "${HELM:-helm}" >/dev/null; then
    for r in intel-device-plugins simple-kmod nvidia-mig nvidia-gpu amd-gpu nvidia-network intel-gaudi; do t "$r as helm gives it" as_helm $r; done
    kube=v1.34.0 t "gpu-cluster as helm gives it" as_helm gpu-cluster "${devices[@]}"
else
    skip "the same by helm" "no helm here"
fi
plan
