# The OLM bundle against the rules that `operator-sdk bundle validate` applies (operator-framework/api,
# pkg/validation: bundle, CSV, CRD and good-practice validators), read off the API server's own parse of
# the manifests; and the image that carries it.
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}
bundle=deploy/bundle
export KUBECONFIG=$tap_dir/kubeconfig
"$slipway" emulate --platform openshift --kubeconfig-out "$KUBECONFIG" >/dev/null 2>&1 &
emulator=$!
trap 'kill $emulator 2>/dev/null; rm -rf "$tap_dir"' EXIT

parse() { kubectl create --dry-run=server -o json -f "$1"; }
csv() { [ -s "$tap_dir/csv.json" ] && jq -e "$@" "$tap_dir/csv.json"; }
parsed() { # every manifest is one that a server takes
    local f
    for f in "$bundle"/manifests/*.yaml; do
        case $f in
        *clusterserviceversion*) parse "$f" >"$tap_dir/csv.json" ;;
        *sro.openshift.io* | *inference.redhat.com*) parse "$f" >"$tap_dir/$(basename "$f" .yaml).crd.json" ;;
        *) parse "$f" >/dev/null ;;
        esac || return 1
    done
}
value() { sed -n "s/^  operators.operatorframework.io.bundle.$1: //p" "$bundle/metadata/annotations.yaml"; }

generated() { env -u TAG -u IMG -u REGISTRY SLIPWAY="$slipway" hack/bundle.sh check; } # make exports them
annotated() {
    [ "$(value mediatype.v1)" = registry+v1 ] && [ "$(value manifests.v1)" = manifests/ ] && [ "$(value metadata.v1)" = metadata/ ] && [ "$(value package.v1)" = slipway ] &&
        [[ ",$(value channels.v1)," == *",$(value channel.default.v1),"* ]] && diff <(sed -n 's/^  \(.*\): \(.*\)/\1=\2/p' "$bundle/metadata/annotations.yaml") <(sed -n 's/^LABEL //p' "$bundle/bundle.Dockerfile")
}
one_csv() { [ "$(ls "$bundle"/manifests/*clusterserviceversion* | wc -l)" = 1 ] && ! ls "$bundle"/manifests | grep -v '\.yaml$'; }
named() { csv '.spec.version as $v | ($v | test("^[0-9]+\\.[0-9]+\\.[0-9]+(-[0-9A-Za-z.-]+)?$")) and .metadata.name == "slipway.v" + $v and (.spec.minKubeVersion | test("^[0-9]+\\.[0-9]+\\.[0-9]+$"))'; }
modes() { csv '([.spec.installModes[].type] | sort) == ["AllNamespaces","MultiNamespace","OwnNamespace","SingleNamespace"] and any(.spec.installModes[]; .supported)'; }
owned() { # what is owned is defined here, and what is defined is owned
    diff <(csv -r '.spec.customresourcedefinitions.owned[] | "\(.name) \(.kind) \(.version)"' | sort) \
        <(jq -r '.metadata.name + " " + .spec.names.kind + " " + (.spec.versions[] | select(.served) | .name)' "$tap_dir"/*.crd.json | sort)
}
sampled() { # one example each, valid for the definitions
    csv '(.metadata.annotations["alm-examples"] | fromjson | map(.kind) | sort) == ([.spec.customresourcedefinitions.owned[].kind] | sort)' || return 1
    kubectl apply -f deploy/crds/sro.openshift.io_preflightvalidations.yaml -f deploy/crds/sro.openshift.io_specialresourcemodules.yaml -f deploy/crds/sro.openshift.io_specialresources.yaml -f deploy/crds/inference.redhat.com_dasoperators.yaml &&
        until_ok 10 eval 'kubectl get specialresources,specialresourcemodules,preflightvalidations,dasoperators >/dev/null 2>&1' &&
        csv -r '.metadata.annotations["alm-examples"]' | jq '{apiVersion: "v1", kind: "List", items: .}' | kubectl apply --validate=true --dry-run=server -f -
}
told() { csv '.spec.displayName != "" and (.spec.description | length) > 100 and (.spec.maintainers[0].email | test("@")) and .spec.provider.name != "" and (.spec.keywords | length) > 0 and all(.spec.links[]; .url | test("^https://"))
    and (.spec.icon[0].mediatype | IN("image/svg+xml", "image/png", "image/jpeg", "image/gif")) and (.spec.icon[0].base64data | @base64d | test("<svg")) and (.spec.maturity | IN("planning","pre-alpha","alpha","beta","stable","mature","inactive","deprecated"))'; }
catalogued() { csv '.metadata.annotations | (.capabilities | IN("Basic Install","Seamless Upgrades","Full Lifecycle","Deep Insights","Auto Pilot"))
    and ([.categories | split(", ")[] | IN("AI/Machine Learning","Application Runtime","Big Data","Cloud Provider","Developer Tools","Database","Drivers and plugins","Integration & Delivery","Logging & Tracing","Modernization & Migration","Monitoring","Networking","OpenShift Optional","Security","Storage","Streaming & Messaging","Observability")] | all) and (.createdAt | fromdate > 0) and .description != "" and .containerImage != ""'; }
installed() { csv '.spec.install.strategy == "deployment" and (.spec.install.spec.deployments | length) == 1 and .spec.install.spec.deployments[0].name == "slipway" and (.spec.install.spec.deployments[0].spec.template.spec as $p |
    $p.serviceAccountName == .spec.install.spec.clusterPermissions[0].serviceAccountName and all($p.containers[]; .resources.requests.cpu and .resources.requests.memory))'; }
imaged() { csv '([.spec.install.spec.deployments[].spec.template.spec.containers[].image] - [.spec.relatedImages[].image]) == [] and .metadata.annotations.containerImage == .spec.install.spec.deployments[0].spec.template.spec.containers[0].image and ([.spec.relatedImages[].name] | length) == ([.spec.relatedImages[].name] | unique | length) and (.spec.relatedImages | length) >= 4'; }
same_rights() { # as the manifests of make deploy, the OpenShift ones merged in
    diff <(csv -S '.spec.install.spec.clusterPermissions[0].rules') <(kubectl create --dry-run=server -o json -f <(sed '/^  namespace:/d' deploy/base/rbac.yaml deploy/openshift/openshift.yaml) 2>/dev/null | jq -S -s '[.[] | if .items then .items[] else . end | select(.kind == "ClusterRole" and .metadata.name != "slipway-metrics-reader") | .rules[]]')
}
supported_kinds() { # that OLM accepts in a bundle, and nothing that it makes itself
    [ -d "$bundle/manifests" ] && ! cat "$bundle"/manifests/*.yaml | grep -E '^kind: ' | grep -vxE 'kind: (ClusterServiceVersion|CustomResourceDefinition|Service|PodDisruptionBudget|PriorityClass|ServiceMonitor|PrometheusRule|ConsoleLink|ConfigMap|Secret|Role|RoleBinding|ClusterRole|ClusterRoleBinding|NetworkPolicy)'
}
default_channel() { CHANNEL=stable,alpha SLIPWAY=$slipway hack/bundle.sh generate "$tap_dir/two" && grep -x '  operators.operatorframework.io.bundle.channel.default.v1: stable' "$tap_dir/two/metadata/annotations.yaml"; }
edge() { VERSION=0.2.0 REPLACES=slipway.v0.1.0 SLIPWAY=$slipway hack/bundle.sh generate "$tap_dir/next" && parse "$tap_dir/next/manifests/slipway.clusterserviceversion.yaml" | jq -e '.spec.replaces == "slipway.v0.1.0" and .metadata.name == "slipway.v0.2.0" and .metadata.annotations["olm.skipRange"] == "<0.2.0"'; }
by_digest() { IMG=example.test/s@sha256:$(printf '%064d' 7) SLIPWAY=$slipway hack/bundle.sh generate "$tap_dir/d" && grep -q "image: example.test/s@sha256:0" "$tap_dir/d/manifests/slipway.clusterserviceversion.yaml"; }
omitted() { # OLM takes no bundle with a kind that the cluster does not serve
    OMIT="ConsoleLink ServiceMonitor PrometheusRule" SLIPWAY=$slipway hack/bundle.sh generate "$tap_dir/plain" && ! grep -rlE '^kind: (ConsoleLink|ServiceMonitor|PrometheusRule)' "$tap_dir/plain/manifests" &&
        [ "$(ls "$tap_dir/plain/manifests" | wc -l)" = $(($(ls "$bundle/manifests" | wc -l) - 3)) ] && ! OMIT=Nothing SLIPWAY=$slipway hack/bundle.sh generate "$tap_dir/none-such"
}
scored() { [ "$(grep -c entrypoint "$bundle/tests/scorecard/config.yaml")" = 6 ] && grep -q '^kind: Configuration$' "$bundle/tests/scorecard/config.yaml"; }
packed() {
    hack/image.sh bundle "$bundle" example.test/slipway-bundle:t && local d=build/images/slipway-bundle.oci m c
    m=$(jq -r '.manifests[0].digest' $d/index.json) && c=$(jq -r .config.digest "$d/blobs/sha256/${m#sha256:}") &&
        jq -e '.config.Labels["operators.operatorframework.io.bundle.package.v1"] == "slipway"' "$d/blobs/sha256/${c#sha256:}" &&
        tar -tzf "$d/blobs/sha256/$(jq -r '.layers[0].digest' "$d/blobs/sha256/${m#sha256:}" | cut -d: -f2)" | grep -qx ./manifests/slipway.clusterserviceversion.yaml
}

# ---- the catalog: https://olm.operatorframework.io/docs/reference/file-based-catalogs/
blobs() { grep '^{' "$tap_dir/catalog/slipway/catalog.yaml" | jq -s "$@"; }
catalog_of_two() { # this version, and one that replaces it
    VERSION=0.2.0 REPLACES=slipway.v0.1.0 SLIPWAY=$slipway hack/bundle.sh generate "$tap_dir/next" &&
        SLIPWAY=$slipway hack/bundle.sh catalog "$tap_dir/catalog" "example.test/b:1=$bundle" "example.test/b:2=$tap_dir/next" &&
        blobs -e 'map(.schema) == ["olm.package","olm.channel","olm.bundle","olm.bundle"] and (map(select((.package // .name) != "slipway")) == [])'
}
catalog_channel() { # each entry is a bundle; the newest replaces the one before; the package's channel is there
    blobs -e '(map(select(.schema == "olm.bundle").name)) as $bundles | (.[] | select(.schema == "olm.channel")) as $c |
        ($c.entries | map(.name)) == $bundles and $c.entries[0].replaces == null and $c.entries[1].replaces == $bundles[0] and
        $c.entries[1].skipRange == "<0.2.0" and .[0].defaultChannel == $c.name'
}
catalog_bundles() { # properties by which OLM resolves and shows them, as opm makes them
    blobs -e 'map(select(.schema == "olm.bundle")) | all(
        ([.properties[] | select(.type == "olm.package").value.packageName] == ["slipway"]) and
        ([.properties[] | select(.type == "olm.gvk").value | .kind] | sort == ["DASOperator","PreflightValidation","SpecialResource","SpecialResourceModule"]) and
        ([.properties[] | select(.type == "olm.gvk").value | .group] | unique == ["inference.redhat.com","sro.openshift.io"]) and
        ([.properties[] | select(.type == "olm.csv.metadata").value | .displayName, .annotations.capabilities, .installModes[3].supported] == ["slipway","Deep Insights",true]) and
        (.image as $i | [.relatedImages[].image] | index($i)))'
}
catalog_packed() {
    hack/image.sh catalog "$tap_dir/catalog" example.test/slipway-catalog:t && local d=build/images/slipway-catalog.oci m c
    m=$(jq -r '.manifests[0].digest' $d/index.json) && c=$(jq -r .config.digest "$d/blobs/sha256/${m#sha256:}") &&
        jq -e '.config.Labels["operators.operatorframework.io.index.configs.v1"] == "/configs"' "$d/blobs/sha256/${c#sha256:}" &&
        tar -tzf "$d/blobs/sha256/$(jq -r '.layers[0].digest' "$d/blobs/sha256/${m#sha256:}" | cut -d: -f2)" | grep -x ./configs/slipway/catalog.yaml
}
# OLM 0.35 and newer copy the folders that are named out of the image, and fail where one is not there; opm in an image of
# its own serves with a folder for its cache only what it put there before. (operator-framework/operator-lifecycle-manager,
# cmd/copy-content; operator-registry, cmd/opm/serve)
catalog_sources() {
    local d=$tap_dir/catalog
    [ "$(parse "$d/catalogsource.yaml" | jq -cS .spec.grpcPodConfig)" = '{"extractContent":{"catalogDir":"/configs"},"securityContextConfig":"restricted"}' ] &&
        [ "$(parse "$d/catalogsource-opm.yaml" | jq -cS .spec.grpcPodConfig)" = '{"securityContextConfig":"restricted"}' ] &&
        grep -A1 '^COPY slipway /configs/' "$d/catalog.Dockerfile" | grep -xF 'RUN ["/bin/opm", "serve", "/configs", "--cache-dir=/tmp/cache", "--cache-only"]' &&
        grep -xF 'CMD ["serve", "/configs", "--cache-dir=/tmp/cache"]' "$d/catalog.Dockerfile"
}
catalog_refuses() {
    local rc=0
    SLIPWAY=$slipway hack/bundle.sh catalog "$tap_dir/none" example.test/b:1=docs 2>"$tap_dir/said" || rc=$?
    cat "$tap_dir/said"
    [ $rc -eq 2 ] && grep "'example.test/b:1=docs': expected IMAGE=BUNDLE" "$tap_dir/said"
}
catalog_heads() { # of two versions in a channel one replaces the other: opm takes no others
    local rc=0
    VERSION=0.2.0 SLIPWAY=$slipway hack/bundle.sh generate "$tap_dir/alone" || return 1
    SLIPWAY=$slipway hack/bundle.sh catalog "$tap_dir/none" "example.test/b:1=$bundle" "example.test/b:2=$tap_dir/alone" 2>"$tap_dir/said" || rc=$?
    cat "$tap_dir/said"
    [ $rc -ne 0 ] && [ ! -s "$tap_dir/none/slipway/catalog.yaml" ] && grep 'channel alpha: nothing replaces slipway.v0.1.0 and slipway.v0.2.0' "$tap_dir/said"
}

if ! command -v kubectl >/dev/null || ! command -v jq >/dev/null; then
    skip "the OLM bundle" "kubectl and jq are needed"
    plan
fi
t "deploy/bundle is what the chart gives" generated
until_ok 20 eval 'kubectl get --raw /readyz >/dev/null 2>&1'
t "every manifest is taken by a server" parsed
t "annotations are complete, and the image's labels are the same" annotated
t "there is one ClusterServiceVersion, and nothing but YAML" one_csv
t "name and versions are well-formed" named
t "all install modes are listed, one is supported" modes
t "owned definitions and manifests match" owned
t "each kind has an example that its definition takes" sampled
t "it is described, with provider, maintainer, links and icon" told
t "capabilities and categories are known words" catalogued
t "the deployment names its account and its requests" installed
t "images are all related images" imaged
t "rights are those of make deploy" same_rights
t "only kinds that a bundle may have" supported_kinds
t "a next version replaces this one" edge
t "of several channels the first is the default one" default_channel
t "images may be named by digest" by_digest
t "kinds that a cluster does not serve may be left out" omitted
t "the scorecard runs six tests" scored
t "bundle-build packs it with its labels" packed
t "a catalog has a package, a channel and its bundles" catalog_of_two
t "the channel leads from one version to the next" catalog_channel
t "bundles have the properties by which OLM resolves and shows them" catalog_bundles
t "catalog-build packs it with its label" catalog_packed
t "a CatalogSource names no folder that its image has not" catalog_sources
t "a folder that is no bundle is refused" catalog_refuses
t "so are versions of which none replaces the other" catalog_heads
plan
