#!/bin/bash
# bundle.sh: the bundle of the Operator Lifecycle Manager, from charts/slipway.
#
#   bundle.sh generate [DIR]   write it (deploy/bundle)
#   bundle.sh check            fail where deploy/bundle is not what generate gives
#   bundle.sh catalog DIR IMAGE=BUNDLE...
#                              write a file-based catalog of bundles, the oldest first: DIR/slipway/catalog.yaml, and
#                              DIR/catalogsource.yaml for an image of files alone, DIR/catalog.Dockerfile and
#                              DIR/catalogsource-opm.yaml for one with opm. IMAGE is where the folder BUNDLE was pushed
#
# From the environment: VERSION (the chart's), CHANNEL (alpha; of several, as "stable,alpha", the first is the default), REPLACES
# (slipway.vX.Y.Z, the edge from the version before), SKIP_RANGE, IMG and RELATED_IMAGES_JSON ({"name": "image", ...}) to be named
# by digest for a catalog; OMIT (kinds of manifests that are left out, as "ConsoleLink ServiceMonitor PrometheusRule": OLM installs
# no bundle with a kind that the cluster does not serve).
set -euo pipefail
cd "$(dirname "$0")/.."
slipway=${SLIPWAY:-build/slipway}
: "${VERSION:=$(sed -n 's/^version: //p' charts/slipway/Chart.yaml)}" "${CHANNEL:=alpha}" "${REPLACES:=}" "${SKIP_RANGE:=<$VERSION}"
: "${IMG:=quay.io/slipway/slipway:v$VERSION}"
: "${RELATED_IMAGES_JSON:={\"webhook\": \"quay.io/slipway/slipway-webhook:v$VERSION\", \"scheduler\": \"quay.io/slipway/slipway-scheduler:v$VERSION\", \"device-plugin\": \"quay.io/slipway/slipway-device-plugin:v$VERSION\"\}}"
created=${CREATED:-2026-01-01T00:00:00Z}

render() { # TEMPLATE [OPTION]...
    local template=$1 image=(--set "image.repository=${IMG%:*},image.tag=${IMG##*:}")
    [[ $IMG != *@* ]] || image=(--set "image.repository=${IMG%@*},image.digest=${IMG#*@}")
    shift
    "$slipway" render charts/slipway --namespace slipway --kube-version 1.29 -a policy/v1 --set platform=kubernetes "${image[@]}" \
        --set-json "olm={\"version\": \"$VERSION\", \"replaces\": \"$REPLACES\", \"skipRange\": \"$SKIP_RANGE\", \"createdAt\": \"$created\", \"relatedImages\": $RELATED_IMAGES_JSON}" \
        --show-only "templates/$template" "$@" | sed '/^# Source: /d'
}

# One object a file, without the namespace, which is the catalog's user's to choose. kind NAME of a
# stream: the document.
only() { # KIND
    awk -v kind="$1" 'function flush() { if (doc ~ "(^|\n)kind: " kind "\n") printf "%s", doc; doc = "" }
        $0 == "---" { flush(); next } { doc = doc $0 "\n" } END { flush() }' | sed '/^  namespace: slipway$/d'
}

annotations() {
    cat <<YAML
operators.operatorframework.io.bundle.mediatype.v1: registry+v1
operators.operatorframework.io.bundle.manifests.v1: manifests/
operators.operatorframework.io.bundle.metadata.v1: metadata/
operators.operatorframework.io.bundle.package.v1: slipway
operators.operatorframework.io.bundle.channels.v1: $CHANNEL
operators.operatorframework.io.bundle.channel.default.v1: ${CHANNEL%%,*}
operators.operatorframework.io.test.mediatype.v1: scorecard+v1
operators.operatorframework.io.test.config.v1: tests/scorecard/
com.redhat.openshift.versions: v4.8
YAML
}

scorecard() {
    local t
    printf 'apiVersion: scorecard.operatorframework.io/v1alpha3\nkind: Configuration\nmetadata:\n  name: config\nstages:\n- parallel: true\n  tests:\n'
    for t in basic-check-spec:basic olm-bundle-validation:olm olm-crds-have-validation:olm olm-crds-have-resources:olm olm-spec-descriptors:olm olm-status-descriptors:olm; do
        printf '  - entrypoint: [scorecard-test, %s]\n    image: quay.io/operator-framework/scorecard-test:v1.32.0\n    labels: {suite: %s, test: %s-test}\n    storage: {spec: {mountPath: {}}}\n' \
            "${t%:*}" "${t#*:}" "${t%:*}"
    done
}

generate() { # DIR
    local to=$1 k
    rm -rf "$to"
    mkdir -p "$to/manifests" "$to/metadata" "$to/tests/scorecard"
    render olm.yaml | sed '1{/^---$/d}' >"$to/manifests/slipway.clusterserviceversion.yaml"
    cp deploy/crds/*_*.yaml "$to/manifests/"
    for k in Service PodDisruptionBudget PriorityClass; do
        render controller.yaml | only $k >"$to/manifests/slipway_$(tr A-Z a-z <<<"$k").yaml"
    done
    for k in ServiceMonitor PrometheusRule; do
        render monitoring.yaml --set metrics.serviceMonitor.enabled=true,metrics.rules.enabled=true | only $k >"$to/manifests/slipway_$(tr A-Z a-z <<<"$k").yaml"
    done
    render openshift.yaml --set platform=openshift | only ConsoleLink >"$to/manifests/slipway_consolelink.yaml"
    for k in ${OMIT:-}; do rm "$to/manifests/slipway_$(tr A-Z a-z <<<"$k").yaml"; done
    { echo "annotations:"; annotations | sed 's/^/  /'; } >"$to/metadata/annotations.yaml"
    scorecard >"$to/tests/scorecard/config.yaml"
    {
        echo "FROM scratch"
        annotations | sed 's/^\([^:]*\): \(.*\)/LABEL \1=\2/'
        printf 'COPY manifests /manifests/\nCOPY metadata /metadata/\nCOPY tests/scorecard /tests/scorecard/\n'
    } >"$to/bundle.Dockerfile"
}

# The catalog is an image of files: OLM 0.35 and newer take them out of it (extractContent without a cache); others need opm
# in it. opm serves from a cache only what it has put there while the image was built (opm generate dockerfile).
catalog() { # DIR IMAGE=BUNDLE...
    local to=$1 n=100 pair
    shift
    chart=$(mktemp -d)
    trap 'rm -rf "$chart"' EXIT
    cp -R hack/catalog/. "$chart"
    for pair; do
        [ -f "${pair#*=}/metadata/annotations.yaml" ] || { echo "bundle.sh: '$pair': expected IMAGE=BUNDLE, with BUNDLE a bundle's folder" >&2; exit 2; }
        n=$((n + 1))
        mkdir "$chart/$n"
        printf '%s\n' "${pair%%=*}" >"$chart/$n/image"
        cp "${pair#*=}"/manifests/*.clusterserviceversion.yaml "$chart/$n/csv.yaml"
        cp "${pair#*=}/metadata/annotations.yaml" "$chart/$n/"
    done
    mkdir -p "$to/slipway"
    "$slipway" render "$chart" >"$chart/rendered"
    sed -n 's/^    \(---\|{.*\)$/\1/p' "$chart/rendered" >"$to/slipway/catalog.yaml"
    cat >"$to/catalog.Dockerfile" <<'DOCKERFILE'
FROM quay.io/operator-framework/opm:latest
ENTRYPOINT ["/bin/opm"]
CMD ["serve", "/configs", "--cache-dir=/tmp/cache"]
COPY slipway /configs/slipway
RUN ["/bin/opm", "serve", "/configs", "--cache-dir=/tmp/cache", "--cache-only"]
LABEL operators.operatorframework.io.index.configs.v1=/configs
DOCKERFILE
    catalog_source >"$to/catalogsource-opm.yaml"
    catalog_source '    extractContent: {catalogDir: /configs}' >"$to/catalogsource.yaml"
}

catalog_source() { # [LINE]: of grpcPodConfig
    cat <<YAML
apiVersion: operators.coreos.com/v1alpha1
kind: CatalogSource
metadata:
  name: slipway
  namespace: ${CATALOG_NAMESPACE:-openshift-marketplace}
spec:
  sourceType: grpc
  image: ${CATALOG_IMG:-quay.io/slipway/slipway-catalog:v$VERSION}
  displayName: slipway
  publisher: slipway
  grpcPodConfig:
${1:+$1
}    securityContextConfig: restricted
YAML
}

case "${1:-}" in
catalog)
    [ $# -ge 3 ] || { sed -n '/^#   bundle.sh catalog/,/^#$/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
    shift
    catalog "$@"
    ;;
generate) generate "${2:-deploy/bundle}" ;;
check)
    tmp=$(mktemp -d)
    trap 'rm -rf "$tmp"' EXIT
    generate "$tmp"
    diff -r "$tmp" deploy/bundle || { echo "deploy/bundle is not what charts/slipway gives: run make bundle-generate"; exit 1; }
    ;;
-h | --help | help) sed -n '2,14p' "$0" | sed 's/^# \{0,1\}//' ;;
*) sed -n '2,14p' "$0" | sed 's/^# \{0,1\}//' >&2; exit 2 ;;
esac
