#!/bin/bash
# A bundle is all that a site without a network needs: charts as they were published, their signatures, the
# definitions, the images with their digests; and a walk from it opens no connection.
cd "$(dirname "$0")/../../.." || exit 1
. test/tap.sh
shared=$(realpath "${SW_SHARED:-../shared}" 2>/dev/null)
slipway=$(realpath "${SLIPWAY:-build/test/slipway}")
export SLIPWAY_CACHE_DIR=$tap_dir/cache KUBECONFIG=$tap_dir/kubeconfig HOME=$tap_dir SLIPWAY_STAND_INS=
unset SLIPWAY_CHARTS_DIR
server=$PWD/test/emulator/chart/chart_server.py
cd "$tap_dir" || exit 1

stop() {
    [ ! -s "$tap_dir/pids" ] || xargs kill <"$tap_dir/pids" 2>/dev/null
    gpgconf --kill all 2>/dev/null
    rm -rf "$tap_dir"
}
trap stop EXIT

charts() {
    mkdir -p engine/templates engine/crds top www
    printf 'apiVersion: v2\nname: engine\nversion: 1.2.0\n' >engine/Chart.yaml
    cat >engine/crds/d.yaml <<'END'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: engines.example.com}
spec:
  group: example.com
  names: {kind: Engine, plural: engines, singular: engine, listKind: EngineList}
  scope: Cluster
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
END
    cat >engine/templates/all.yaml <<'END'
apiVersion: apps/v1
kind: Deployment
metadata: {name: engine}
spec:
  selector: {matchLabels: {app: engine}}
  template:
    metadata: {labels: {app: engine}}
    spec: {containers: [{name: c, image: "quay.io/e/engine:1.2.0"}]}
END
    "$slipway" package engine -d www >/dev/null &&
        printf 'apiVersion: v1\nentries:\n  engine:\n  - {name: engine, version: 1.2.0, urls: [engine-1.2.0.tgz]}\n' >www/index.yaml || return 1
    python3 "$server" www port log 2>server.err &
    echo $! >>pids
    until_ok 20 test -s port &&
        printf 'apiVersion: v2\nname: top\nversion: 0.1.0\nannotations: {slipway.dev/wait: all}\ndependencies:\n- {name: engine, version: 1.2.0, repository: "%s"}\n' \
            "http://127.0.0.1:$(cat port)/ok" >top/Chart.yaml
}
unpack() { # BUNDLE FOLDER
    mkdir -p "$2" && tar -C "$2" -xzf "$1" --strip-components=1
}
holds() {
    "$slipway" bundle top -o b.tgz && unpack b.tgz b || return 1
    cmp b/charts/engine-1.2.0.tgz www/engine-1.2.0.tgz && grep -qx 'quay.io/e/engine:1.2.0' b/images.txt &&
        grep -q "digest: sha256:$(sha256sum <www/engine-1.2.0.tgz | cut -d' ' -f1)" b/charts.yaml &&
        grep -q "repository: http://127.0.0.1:$(cat port)/ok" b/charts.yaml && ! grep -q signature b/charts.yaml &&
        grep -q 'name: engines.example.com' b/definitions.yaml && (cd b && sha256sum -c --quiet checksums.txt)
}
# A key of its own, as a vendor's.
signatures() {
    export GNUPGHOME=$tap_dir/gnupg
    mkdir -m 700 -p "$GNUPGHOME"
    gpg --batch --quiet --passphrase '' --pinentry-mode loopback --quick-generate-key 'Vendor <v@example.com>' default default never &&
        gpg --batch --export >ring.gpg || return 1
    { cat engine/Chart.yaml; printf '\n...\nfiles:\n  engine-1.2.0.tgz: sha256:%s\n' "$(sha256sum <www/engine-1.2.0.tgz | cut -d' ' -f1)"; } |
        gpg --batch --quiet --passphrase '' --pinentry-mode loopback --clearsign >www/engine-1.2.0.tgz.prov || return 1
    "$slipway" bundle engine --repo "http://127.0.0.1:$(cat port)/ok" --verify --keyring ring.gpg -o s.tgz >o 2>&1 || { cat o; return 1; }
    unpack s.tgz s && cmp s/charts/engine-1.2.0.tgz.prov www/engine-1.2.0.tgz.prov &&
        grep -q 'signature: charts/engine-1.2.0.tgz.prov' s/charts.yaml
}
renders_alike() { diff <("$slipway" render top) <("$slipway" render b.tgz); }
changed() { # a recipe that is not the one that was bundled
    rm -rf d && cp -r b d && (cd d && printf 'x' >>top-0.1.0.tgz && cd .. && tar -czf d.tgz d) || return 1
    ! "$slipway" render d.tgz >o 2>&1 && grep -q 'its digest is not the one in checksums.txt' o || { cat o; return 1; }
}

# Nothing but loopback, with a cluster behind it.
alone() { unshare -n sh -c 'ip link set lo up && exec "$@"' sh "$@"; }
no_network() {
    ! alone python3 -c 'import socket; socket.create_connection(("192.0.2.1", 80), 2)' 2>o && grep -q unreachable o
}
walks() {
    cat >walk <<'END'
"$1" emulate --delays 0 --kubeconfig-out "$KUBECONFIG" >emulate 2>&1 &
trap "kill $!" EXIT
for i in $(seq 100); do [ -s "$KUBECONFIG" ] && break; sleep 0.1; done
"$1" run "$2" --timeout 30s
END
    rm -rf cache "$KUBECONFIG"
    ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" alone strace -f -qq -e trace=connect -o calls sh walk "$slipway" b.tgz >o 2>&1 || { cat o; return 1; }
    ! grep 'connect(' calls | grep -v 'AF_UNIX' | grep -v '127.0.0.1\|"::1"' || return 1
    grep -q 'connect(.*127.0.0.1' calls
}
walks_plain() { # without strace: what needs a connection fails by itself
    rm -rf cache "$KUBECONFIG"
    alone sh walk "$slipway" b.tgz >o 2>&1 || { cat o; return 1; }
}
not_without() { # the recipe itself wants its chart
    kill "$(cat pids 2>/dev/null | head -1)" 2>/dev/null
    ! alone "$slipway" render top >o 2>&1 && grep -q 'engine' o
}
recipe() { # a recipe of slipway's own, with the charts at hand, walked by a bare command
    SLIPWAY_STAND_INS=1 "$slipway" bundle "$OLDPWD/recipes/amd-gpu" -o amd.tgz >o 2>&1 || { cat o; return 1; }
    alone "$slipway" run amd.tgz --emulate --platform kubernetes --timeout 120s >o 2>&1 || { tail -20 o; return 1; }
}

# Recipes over the vendors' own charts, of ../shared under the pinned versions: bundled where the charts are at hand,
# walked where only the bundle is. It is no root that walks there.
vendors() {
    local chart name version
    "$slipway" vendor list "$OLDPWD"/recipes/* -o json >pins || return 1
    mkdir -p hand
    for chart in "$shared"/upstream/cert-manager "$shared"/upstream/intel/* "$shared"/charts/gpu-operator "$shared"/charts/gpu-operator/charts/node-feature-discovery \
        "$shared"/aicr/charts/network-operator; do
        name=$(sed -n 's/^name: *"\{0,1\}\([^"]*\)"\{0,1\}$/\1/p' "$chart/Chart.yaml")
        version=$(python3 -c 'import json, sys; print(next((p["version"] for p in json.load(open("pins")) if p["name"] == sys.argv[1]), ""))' "$name")
        [ -n "$version" ] || { echo "no recipe has $name"; return 1; }
        cp -rL "$chart" "hand/$name" && chmod -R u+w "hand/$name" && sed -i "s/^version:.*/version: $version/" "hand/$name/Chart.yaml" || return 1
    done
}
without_routes() { unshare -rn sh -c 'ip link set lo up && exec "$@"' sh "$@"; }
vendors_walk() { # RECIPE KUBERNETES
    "$slipway" bundle "$OLDPWD/recipes/$1" --charts-dir hand -a resource.k8s.io/v1/DeviceClass -o "$1.tgz" >o 2>&1 || { cat o; return 1; }
    rm -rf cache
    without_routes "$slipway" run "$1.tgz" --emulate --platform kubernetes --kube-version "$2" --timeout 120s >o 2>&1 && ! grep -i 'stand-in' o && grep ": Ready" o || { tail -20 o; return 1; }
}

if ! command -v python3 >/dev/null; then
    skip "a bundle" "no python3 here"
    plan
fi
t "a server of charts" charts
t "a bundle holds charts, images, definitions and the digests of all" holds
if command -v gpg >/dev/null && command -v gpgv >/dev/null; then
    t "with --verify it holds the signatures" signatures
else
    skip "signatures" "no gpg or gpgv here"
fi
t "it is a recipe, which renders as the one it was made of" renders_alike
t "a recipe in it that was changed is refused" changed
if [ "$(id -u)" != 0 ] || ! alone true 2>/dev/null; then
    skip "a walk without a network" "it takes root, unshare and ip to make a namespace of the network"
else
    t "here is no network" no_network
    if command -v strace >/dev/null; then
        t "it walks to Ready without a connection but to the cluster" walks
    else
        t "it walks to Ready" eval 'walks 2>/dev/null; walks_plain'
    fi
    t "without the bundle it does not" not_without
    t "recipes/amd-gpu walks from its bundle" recipe
fi
if [ ! -d "$shared/upstream" ]; then
    skip "the vendors' charts without a network" "no ../shared"
elif ! without_routes true 2>/dev/null; then
    skip "the vendors' charts without a network" "unshare -rn makes no network without routes here, or there is no ip"
else
    t "the vendors' charts are at hand" vendors
    for recipe in intel-device-plugins nvidia-gpu nvidia-mig nvidia-network; do
        t "recipes/$recipe walks over the vendors' charts from its bundle" vendors_walk $recipe 1.33
    done
    t "recipes/gpu-cluster walks over the vendors' charts from its bundle" vendors_walk gpu-cluster 1.36
fi
plan
