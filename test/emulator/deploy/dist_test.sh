#!/bin/bash
# What `make dist` writes of programs that are built: archives and packages that are the same each time, their checksums, and
# how they are installed. The programs are those of the shared build here; hack/test-dist.sh tries the static ones.
. "$(dirname "$0")/../../tap.sh"
cd "$(dirname "$0")/../../.." || exit 1
tree=$PWD
export SOURCE_DATE_EPOCH=1700000000 DIST_LEVEL=1
slipway=${SLIPWAY:-$PWD/build/test/slipway}
case $(uname -m) in x86_64) arch=amd64 ;; aarch64) arch=arm64 ;; *) arch=$(uname -m) ;; esac
version=$(hack/version.sh)
rel=$tap_dir/release
files_of=slipway-$version-linux-$arch

mkdir -p build/man
[ -e build/man/slipway.1 ] || build/slipway man >build/man/slipway.1

packed() { hack/dist.sh --programs build --out "$rel" && ls "$rel"; }
t "programs are packed, with checksums and a bill of materials" packed
[ -e "$rel/SHA256SUMS" ] || plan

same_bytes() {
    hack/dist.sh --programs build --out "$tap_dir/again" || return 1
    cmp "$rel/SHA256SUMS" "$tap_dir/again/SHA256SUMS"
}
t "the same programs give the same bytes" same_bytes
of_another_version() { # lay there
    touch "$tap_dir/again/slipway-0.0.9-linux-amd64.tar.gz" "$tap_dir/again/slipway_0.0.9_amd64.deb" "$tap_dir/again/slipway-chart-0.0.9.tgz" && same_bytes
}
t "what is left of another version is not in the release" of_another_version

verified() { (cd "$rel" && sha256sum -c SHA256SUMS) && "$slipway" verify-release "$rel"; }
t "what SHA256SUMS names is there" verified

# copied: the release at $1, to be spoilt
copied() { rm -rf "$1" && cp -r "$rel" "$1"; }
refused() { # TEXT COMMAND...
    local text=$1
    shift
    "$@" >"$tap_dir/said" 2>&1 && { cat "$tap_dir/said"; return 1; }
    grep -qF -- "$text" "$tap_dir/said" || { cat "$tap_dir/said"; return 1; }
}
changed_byte() {
    copied "$tap_dir/bad" && printf x >>"$tap_dir/bad/$files_of.tar.gz" || return 1
    refused "$files_of.tar.gz: NOT what SHA256SUMS says" "$slipway" verify-release "$tap_dir/bad"
}
t "verify-release names a file that was changed" changed_byte
foreign_file() {
    copied "$tap_dir/bad" && : >"$tap_dir/bad/more" || return 1
    refused "more: not in SHA256SUMS" "$slipway" verify-release "$tap_dir/bad"
}
t "verify-release names a file that does not belong to it" foreign_file
some_files() {
    copied "$tap_dir/bad" && rm "$tap_dir/bad/install.sh" || return 1
    "$slipway" verify-release "$tap_dir/bad" >"$tap_dir/said" && grep -qx 'install.sh: not here' "$tap_dir/said" || return 1
    rm -rf "$tap_dir/bad" && mkdir "$tap_dir/bad" && cp "$rel/SHA256SUMS" "$tap_dir/bad/" || return 1
    refused "no file that SHA256SUMS names is here" "$slipway" verify-release "$tap_dir/bad"
}
t "not all files of a release need be there, but one must" some_files
broken_list() {
    copied "$tap_dir/bad" && echo "what is this" >"$tap_dir/bad/SHA256SUMS" || return 1
    refused "SHA256SUMS: line 1: no digest and name of a file" "$slipway" verify-release "$tap_dir/bad" || return 1
    echo "$(printf '%064d' 0)  ../x" >"$tap_dir/bad/SHA256SUMS"
    refused "SHA256SUMS: line 1: '../x' is not in this folder" "$slipway" verify-release "$tap_dir/bad" || return 1
    : >"$tap_dir/bad/SHA256SUMS"
    refused "names no file" "$slipway" verify-release "$tap_dir/bad" || return 1
    rm "$tap_dir/bad/SHA256SUMS"
    refused "SHA256SUMS" "$slipway" verify-release "$tap_dir/bad"
}
t "a list that is none is refused by its line" broken_list
as_json() {
    "$slipway" verify-release "$rel" -o json | jq -e '.verified and (.files | length > 3) and all(.files[]; .result == "ok")'
}
t "verify-release -o json" as_json

signed() {
    export GNUPGHOME=$tap_dir/gnupg
    mkdir -m 700 "$GNUPGHOME" && copied "$tap_dir/signed" || return 1
    gpg --batch --quiet --passphrase '' --quick-gen-key 'Release <release@example.com>' ed25519 sign never || return 1
    gpg --batch --quiet --clearsign -o "$tap_dir/signed/SHA256SUMS.asc" "$rel/SHA256SUMS" || return 1
    gpg --batch --quiet --export >"$tap_dir/keys.gpg"
    gpgconf --kill all
    "$slipway" verify-release --keyring "$tap_dir/keys.gpg" "$tap_dir/signed" | tail -1 | grep 'signed by .*Release <release@example.com>' || return 1
    sed -i "s/^\\([0-9a-f]*\\)  install.sh/$(printf '%064d' 0)  install.sh/" "$tap_dir/signed/SHA256SUMS.asc"
    refused "the signature does not hold" "$slipway" verify-release --keyring "$tap_dir/keys.gpg" "$tap_dir/signed"
}
if command -v gpg >/dev/null && command -v gpgv >/dev/null; then
    t "with a keyring only what is signed counts" signed
else
    skip "with a keyring only what is signed counts" "no gpg, gpgv here"
fi

# ---- the archive and its installer -------------------------------------------------------------------
installed() { # SHELL...
    local prefix="$tap_dir/a b/${1##*/}"
    "$@" "$rel/install.sh" --from "$rel" --prefix "$prefix" && [ "$("$prefix/bin/slipway" version)" = "$(build/slipway version)" ] || return 1
    for file in bin/kubectl-slipway bin/slipway-webhook share/man/man1/slipway.1 share/bash-completion/completions/slipway \
        share/slipway/recipes/nvidia-mig/Chart.yaml share/doc/slipway/copyright; do
        [ -e "$prefix/$file" ] || { echo "no $file"; return 1; }
    done
}
t "install.sh installs below a folder whose name has a space" installed sh
in_path() { # what it says to do does it
    sh "$rel/install.sh" --from "$rel" --prefix "$tap_dir/a b/path" >"$tap_dir/said" && eval "$(sed -n 's/^add it to your path: //p' "$tap_dir/said")" || return 1
    [ "$(command -v slipway)" = "$tap_dir/a b/path/bin/slipway" ] && command -v sed >/dev/null
}
t "the line for the path that install.sh prints holds for a name with a space" in_path
for shell in dash 'busybox sh' bash; do
    # shellcheck disable=SC2086
    command -v ${shell%% *} >/dev/null && t "install.sh runs under $shell" installed $shell
done
completed() { # EXPECTED WORD...
    local expected=$1
    shift
    diff <(printf '%s\n' "$expected") <("$tap_dir/a b/sh/bin/kubectl_complete-slipway" "$@")
}
completes() {
    completed $'status\n:4' stat && completed $'--output\n:4' status --outp && completed $'json\n:4' status -o js && completed $'build\n:4' dependency bu && completed :0 status -o none
}
t "kubectl completes what follows kubectl slipway: commands, options, their values" completes
by_name() { cd / && "$tap_dir/a b/sh/bin/slipway" run nvidia-mig --emulate --platform kubernetes; }
t "an installed slipway finds the recipes that came with it by their names" by_name
not_its_bytes() {
    copied "$tap_dir/bad" && printf x >>"$tap_dir/bad/$files_of.tar.gz" || return 1
    refused "nothing was installed" sh "$rel/install.sh" --from "$tap_dir/bad" --prefix "$tap_dir/none" && [ ! -e "$tap_dir/none" ]
}
t "install.sh installs nothing whose checksum differs" not_its_bytes
not_named() {
    copied "$tap_dir/bad" && : >"$tap_dir/bad/SHA256SUMS" || return 1
    refused "does not name $files_of.tar.gz" sh "$rel/install.sh" --from "$tap_dir/bad" --prefix "$tap_dir/none"
    refused "cannot be read" sh "$rel/install.sh" --from "$tap_dir/nowhere" --prefix "$tap_dir/none"
    refused "no such option: --prefx" sh "$rel/install.sh" --prefx x
}
t "install.sh says what it lacks" not_named

# ---- packages --------------------------------------------------------------------------------------
deb() {
    local deb=$rel/slipway_${version}_$arch.deb
    [ "$(dpkg-deb -f "$deb" Version)" = "$version" ] && [ "$(dpkg-deb -f "$deb" Architecture)" = "$arch" ] || return 1
    dpkg-deb -c "$deb" >"$tap_dir/files" && ! grep -v ' root/root ' "$tap_dir/files" || return 1
    for file in ./usr/bin/slipway ./usr/share/man/man1/slipway.1.gz ./usr/share/doc/slipway/copyright; do
        grep -q " $file\$" "$tap_dir/files" || { echo "no $file"; return 1; }
    done
    dpkg-deb -x "$deb" "$tap_dir/deb" && dpkg-deb -e "$deb" "$tap_dir/deb/DEBIAN" && (cd "$tap_dir/deb" && md5sum --quiet -c DEBIAN/md5sums)
}
if command -v dpkg-deb >/dev/null; then
    t ".deb: its fields, its files, root's" deb
else
    skip ".deb: its fields, its files, root's" "no dpkg-deb here"
fi
rpm_package() {
    local rpm=$rel/slipway-$version-1.$(uname -m).rpm
    rpm -qpl "$rpm" >"$tap_dir/files" || return 1
    for file in /usr/bin/slipway /usr/share/man/man1/slipway.1.gz /usr/share/slipway/recipes/nvidia-mig/Chart.yaml; do
        grep -qx "$file" "$tap_dir/files" || { echo "no $file"; return 1; }
    done
    [ "$(rpm -qp --qf '%{NAME} %{VERSION} %{LICENSE}' "$rpm")" = "slipway $version Apache-2.0" ] || return 1
    ! rpm -qp --qf '[%{FILEUSERNAME}\n]' "$rpm" | grep -vx root
}
if command -v rpmbuild >/dev/null; then
    t ".rpm: its fields, its files, root's" rpm_package
else
    skip ".rpm: its fields, its files, root's" "no rpmbuild here"
fi

# Onto a cluster: the chart and what it gives, with images of this version in the registry of the release.
on_a_cluster() {
    local file
    "$slipway" render "$rel/slipway-chart-$version.tgz" -n slipway --set createNamespace=true,platform=kubernetes --include-crds --no-hooks --kube-version 1.29 -a policy/v1 | sed '/^# Source: /d' >"$tap_dir/rendered" &&
        sed 1d "$rel/install.yaml" | cmp - "$tap_dir/rendered" || return 1
    for file in install.yaml install-openshift.yaml; do
        grep -q "image: quay.io/slipway/slipway:v${version%%+*}\$" "$rel/$file" && grep -q "slipway-device-plugin:v${version%%+*}" "$rel/$file" && grep -q "^kind: CustomResourceDefinition" "$rel/$file" || { echo "$file"; return 1; }
    done
    cmp -s "$rel/install.yaml" "$rel/install-openshift.yaml" && return 1
    hack/dist.sh --programs build --out "$tap_dir/elsewhere" --registry ghcr.io/some/body && ! grep -h 'quay.io/slipway' "$tap_dir/elsewhere"/install*.yaml && grep -q 'image: ghcr.io/some/body/slipway:v' "$tap_dir/elsewhere/install.yaml"
}
t "install.yaml and the chart give the operator with this version's images" on_a_cluster
applied() { # to an emulated cluster, twice, and taken away again
    build/slipway emulate --platform kubernetes --kubeconfig-out "$tap_dir/kubeconfig" >/dev/null 2>&1 &
    local emulator=$! rc=0
    export KUBECONFIG=$tap_dir/kubeconfig
    until_ok 20 kubectl get nodes && kubectl apply --server-side -f "$rel/install.yaml" && kubectl apply --server-side -f "$rel/install.yaml" &&
        kubectl -n slipway rollout status deployment/slipway --timeout=60s && kubectl delete --wait=false --ignore-not-found -f "$rel/install.yaml" || rc=1
    kill $emulator && wait $emulator 2>/dev/null
    return $rc
}
if command -v kubectl >/dev/null; then t "kubectl apply -f install.yaml" applied; else skip "kubectl apply -f install.yaml" "no kubectl here"; fi

krew() {
    grep -q "sha256: $(sha256sum "$rel/$files_of.tar.gz" | cut -d' ' -f1)" "$rel/slipway.yaml" || return 1
    tar -tzf "$rel/$files_of.tar.gz" | sed 's|/$||' >"$tap_dir/files"
    sed -n 's/^ *- from: //p' "$rel/slipway.yaml" | while read -r file; do
        grep -qx "$file" "$tap_dir/files" || { echo "no $file"; exit 1; }
    done
}
# as krew does it: what the manifest names is moved, and a link to the program is in the PATH (sigs.k8s.io/krew, internal/installation/move.go)
by_krew() {
    local top=$tap_dir/krew from to
    mkdir -p "$top/unpacked" "$top/store" "$top/bin" && tar -xzf "$rel/$files_of.tar.gz" -C "$top/unpacked" || return 1
    paste -d ' ' <(sed -n 's/^ *- from: //p' "$rel/slipway.yaml") <(sed -n 's/^ *to: //p' "$rel/slipway.yaml") | while read -r from to; do
        mkdir -p "$(dirname "$top/store/$to")" && mv "$top/unpacked/$from" "$top/store/$to" || exit 1
    done || return 1
    ln -s "$top/store/$(sed -n 's/^ *bin: //p' "$rel/slipway.yaml")" "$top/bin/kubectl-slipway" && cd / && PATH=$top/bin:$PATH kubectl slipway run nvidia-mig --emulate --platform kubernetes
}
t "krew's manifest names the archive's checksum and files that are in it" krew
t "what krew installs finds its recipes" by_krew
sbom() {
    jq -e '.spdxVersion == "SPDX-2.3" and ([.packages[].SPDXID] as $ids | all(.relationships[]; .relatedSpdxElement as $e | $ids | index($e) != null))' "$rel/$files_of.spdx.json" &&
        [ "$(jq -r '.packages[] | select(.name == "slipway") | .checksums[0].checksumValue' "$rel/$files_of.spdx.json")" = "$(sha256sum <"$tap_dir/a b/sh/bin/slipway" | cut -d' ' -f1)" ]
}
t "the bill of materials has the digests of the programs" sbom

sources() {
    local commit
    commit=$(git rev-parse HEAD)
    mkdir "$tap_dir/src" && tar -xzf "$rel/slipway-$version.tar.gz" -C "$tap_dir/src" || return 1
    cd "$tap_dir/src/slipway-$version" && [ "$(hack/version.sh --commit)" = "$commit" ] && [ -n "$(hack/version.sh --date)" ] &&
        case $(hack/version.sh) in *"+g$(echo "$commit" | cut -c1-8)" | "$(sed -n 's/^version: //p' charts/slipway/Chart.yaml)") ;; *) return 1 ;; esac
}
if git -C "$tree" rev-parse -q --verify HEAD >/dev/null 2>&1; then
    t "the sources know their commit without git" sources
else
    skip "the sources know their commit without git" "this is no git checkout"
fi
plan
