#!/bin/bash
# manifests.sh [--check]: write deploy/ from charts/slipway, so that kustomize, Helm and OLM install
# the same. --check writes nothing and fails where deploy/ is not what the chart gives.
set -euo pipefail
cd "$(dirname "$0")/.."
slipway=${SLIPWAY:-build/slipway}
to=deploy
if [ "${1:-}" = --check ]; then
    to=$(mktemp -d)
    trap 'rm -rf "$to"' EXIT
fi

render() { # TEMPLATE [OPTION]...
    local template=$1
    shift
    "$slipway" render charts/slipway --namespace slipway --set createNamespace=true,image.tag=latest \
        --kube-version 1.29 -a policy/v1 --show-only "templates/$template" "$@" | sed '/^# Source: /d'
}

file() { # FILE: what comes in, under a head
    mkdir -p "$to/$(dirname "$1")"
    { echo "# Written by hack/manifests.sh from charts/slipway; change it there."; sed '1{/^---$/d}'; } >"$to/$1"
}

kustomization() { # DIR RESOURCE...
    local dir=$1
    shift
    { printf 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n'; printf -- '- %s\n' "$@"; } |
        file "$dir/kustomization.yaml"
}

# shellcheck disable=SC2046
kustomization crds $(cd deploy/crds && printf '%s\n' *_*.yaml)
render namespace.yaml --set platform=kubernetes | file base/namespace.yaml
render rbac.yaml --set platform=kubernetes | file base/rbac.yaml
render controller.yaml --set platform=kubernetes | file base/controller.yaml
kustomization base namespace.yaml rbac.yaml controller.yaml
render openshift.yaml --set platform=openshift | file openshift/openshift.yaml
kustomization openshift openshift.yaml
kustomization overlays/kubernetes ../../crds ../../base
kustomization overlays/openshift ../../crds ../../base ../../openshift

[ "$to" != deploy ] || exit 0
(cd "$to" && find . -type f | sort) | while read -r f; do
    cmp -s "$to/$f" "deploy/$f" || { echo "deploy/$f is not what charts/slipway gives: run make manifests"; diff "$to/$f" "deploy/$f" | head -5; false; }
done
