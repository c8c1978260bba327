#!/bin/bash
# dist.sh [OPTION]...: what a release consists of, from programs that are built (make dist builds them).
#
#   --programs DIR   where they are (build/static)
#   --arch ARCH      what they were built for (amd64, arm64; this machine's)
#   --out DIR        where to write (build/dist)
#   --url URL        where the release will be ($RELEASE_URL)
#   --registry NAME  where its images and its chart will be ($REGISTRY, quay.io/slipway)
#
# In DIR: slipway-VERSION.tar.gz (the sources; from a git checkout), slipway-VERSION-linux-ARCH.tar.gz (programs, manual pages,
# completions, recipes), slipway_VERSION_ARCH.deb, slipway-VERSION-1.ARCH.rpm, slipway-VERSION-linux-ARCH.spdx.json (bill of
# materials), slipway-chart-VERSION.tgz (the operator as a Helm chart), install.yaml and install-openshift.yaml (the same as manifests),
# install.sh, slipway.yaml (for krew) and SHA256SUMS of all of these. A second run with another ARCH adds to them.
# The same input gives the same bytes: names are sorted, owners are root, times are $SOURCE_DATE_EPOCH, else those of the last
# commit. $DIST_LEVEL (9) is how hard they are compressed. A package whose tool is not here (dpkg-deb, rpmbuild) is left out, and said so.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
cd "$here"
umask 022
export LC_ALL=C TZ=UTC0
say() { echo "dist: $*" >&2; }
die() { say "$*"; exit 1; }

level=${DIST_LEVEL:-9}
case $(uname -m) in
x86_64) arch=amd64 ;;
aarch64) arch=arm64 ;;
*) arch=$(uname -m) ;;
esac
programs=build/static out=build/dist
version=$(hack/version.sh)
url=${RELEASE_URL:-} registry=${REGISTRY:-quay.io/slipway} slipway=${SLIPWAY:-build/slipway}
while [ $# -gt 0 ]; do
    [ $# -ge 2 ] || die "$1 needs a value"
    case $1 in
    --programs) programs=$2 ;;
    --arch) arch=$2 ;;
    --out) out=$2 ;;
    --url) url=$2 ;;
    --registry) registry=$2 ;;
    *) die "no such option: $1" ;;
    esac
    shift 2
done
: "${url:=https://slipway.dev/releases/v$version}"
case $arch in
amd64) machine=x86_64 ;;
arm64) machine=aarch64 ;;
*) die "architecture '$arch': amd64 or arm64" ;;
esac
for p in slipway slipway-webhook slipway-scheduler slipway-device-plugin; do
    [ -x "$programs/$p" ] || die "$programs/$p is not there: make static"
done
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
export SOURCE_DATE_EPOCH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
out=$(cd "$out" && pwd)
# what is left of another version is not of this release
find "$out" -maxdepth 1 -type f \( -name 'slipway[-_][0-9]*' -o -name 'slipway-chart-[0-9]*' \) \
    ! -name "slipway[-_]${version}[-_.]*" ! -name "slipway-chart-$version.tgz" -exec rm -f {} +

settle() { # DIR: times and rights that do not depend on when and by whom it was made
    find "$1" -type d -exec chmod 755 {} +
    find "$1" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
}

pack() { # DIR NAME FILE
    tar --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -C "$1" -cf - "$2" | gzip "-${level}n" >"$3"
}

# ---- programs, as they are installed ---------------------------------------------------------------
strip="strip"
[ "$machine" = "$(uname -m)" ] || strip="$machine-linux-gnu-strip"
hack/install-programs.sh "$work/root" /usr "$programs" >/dev/null
"$strip" "$work/root/usr/bin"/slipway*
install -D -m 644 LICENSE "$work/root/usr/share/doc/slipway/copyright"
install -m 644 README.md CHANGELOG.md SECURITY.md "$work/root/usr/share/doc/slipway/"

tree=slipway-$version-linux-$arch
cp -a "$work/root/usr" "$work/$tree"
pack "$work" "$tree" "$out/$tree.tar.gz"
say "$tree.tar.gz"

gzip -9n "$work/root/usr/share/man/man1"/*.1
settle "$work/root"

# ---- packages --------------------------------------------------------------------------------------
summary="walks an accelerator's software stack onto a Kubernetes cluster"
about="slipway installs what a GPU, a NIC or an FPGA needs on a Kubernetes or OpenShift cluster, one validated state after
another, and keeps it there. Recipes are Helm charts."

if command -v dpkg-deb >/dev/null; then
    cp -a "$work/root" "$work/deb"
    mkdir "$work/deb/DEBIAN"
    (cd "$work/deb" && find usr -type f | sort | xargs -d '\n' md5sum) >"$work/md5sums"
    mv "$work/md5sums" "$work/deb/DEBIAN/md5sums"
    cat >"$work/deb/DEBIAN/control" <<CONTROL
Package: slipway
Version: $version
Architecture: $arch
Maintainer: The slipway authors <security@slipway.dev>
Installed-Size: $(du -k -s --apparent-size "$work/root" | cut -f1)
Section: admin
Priority: optional
Depends: libc6 (>= 2.34)
Recommends: ca-certificates
Suggests: kubernetes-client
Homepage: https://slipway.dev
Description: $summary
$(sed 's/^/ /' <<<"$about")
CONTROL
    settle "$work/deb"
    dpkg-deb --root-owner-group -Zxz "-z$level" --build "$work/deb" "$out/slipway_${version}_$arch.deb" >/dev/null
    say "slipway_${version}_$arch.deb"
else
    say "no dpkg-deb here: no .deb"
fi

if command -v rpmbuild >/dev/null; then
    cat >"$work/slipway.spec" <<SPEC
Name: slipway
Version: $version
Release: 1
Summary: $summary
License: Apache-2.0
URL: https://slipway.dev
AutoReqProv: no
Requires: glibc >= 2.34
Recommends: ca-certificates

%description
$about

%install
cp -a $work/root/. %{buildroot}/

%files
$(cd "$work/root" && find usr -type f -o -type l | sort | sed 's|^|/|; s|^/usr/share/man/.*|%doc &|; s|^/usr/share/doc/.*|%doc &|')
$(cd "$work/root" && find usr/share/slipway usr/share/doc/slipway -type d | sort | sed 's|^|%dir /|')
SPEC
    rpmbuild --quiet -bb --target "$machine" --define "_topdir $work/rpm" --define "_rpmdir $work/rpms" --define "_build_name_fmt %{NAME}-%{VERSION}-%{RELEASE}.%{ARCH}.rpm" \
        --define "_buildhost slipway" --define "use_source_date_epoch_as_buildtime 1" --define "clamp_mtime_to_source_date_epoch 1" \
        --define "_binary_payload w$level.gzdio" --define "_build_id_links none" --define "debug_package %{nil}" \
        --define "__os_install_post %{nil}" --define "_dbpath $work/rpmdb" "$work/slipway.spec" >"$work/rpm.log" 2>&1 ||
        { cat "$work/rpm.log" >&2; die "rpmbuild failed"; }
    mv "$work/rpms"/*.rpm "$out/"
    say "slipway-$version-1.$machine.rpm"
else
    say "no rpmbuild here: no .rpm"
fi

# ---- what they are made of -------------------------------------------------------------------------
python3 hack/sbom.py --version "$version" --arch "$arch" --epoch "$SOURCE_DATE_EPOCH" --programs "$programs" --stripped "$work/root/usr/bin" \
    --versions "$(dirname "$programs")/static-libs/versions" >"$out/$tree.spdx.json"
say "$tree.spdx.json"

if git rev-parse -q --verify HEAD >/dev/null 2>&1; then
    git archive --prefix="slipway-$version/" HEAD | gzip -9n >"$out/slipway-$version.tar.gz"
    say "slipway-$version.tar.gz"
fi

# ---- onto a cluster --------------------------------------------------------------------------------
# The images are those of the version that the commits since then are behind (0.1.0+g1234567: v0.1.0).
images=
for p in webhook scheduler device-plugin; do images="$images${images:+, }$p: $registry/slipway-$p:v${version%%+*}"; done
mkdir "$work/chart"
cp -rL charts/slipway "$work/chart/"
sed -i "s/^version: .*/version: $version/; s/^appVersion: .*/appVersion: \"${version%%+*}\"/" "$work/chart/slipway/Chart.yaml"
sed -i "s|^  repository: quay.io/slipway/slipway\$|  repository: $registry/slipway|; s|^relatedImages: {}\$|relatedImages: {$images}|" "$work/chart/slipway/values.yaml"
grep -q "^relatedImages: {webhook" "$work/chart/slipway/values.yaml" || die "charts/slipway/values.yaml has another form than this script knows"
find "$work/chart" -type d -exec chmod 755 {} + -o -type f -exec chmod 644 {} +
pack "$work/chart" slipway "$out/slipway-chart-$version.tgz"
manifests() { # PLATFORM: a manifest cannot ask the cluster; what it has is served from Kubernetes 1.21 on
    echo "# slipway $version, for $1 (hack/dist.sh, from charts/slipway)"
    "$slipway" render "$work/chart/slipway" --namespace slipway --set "createNamespace=true,platform=$1" --include-crds --no-hooks --kube-version 1.29 -a policy/v1 | sed '/^# Source: /d'
}
manifests kubernetes >"$out/install.yaml"
manifests openshift >"$out/install-openshift.yaml"
say "slipway-chart-$version.tgz, install.yaml, install-openshift.yaml"

# ---- how to get it ---------------------------------------------------------------------------------
sed "s|@VERSION@|$version|; s|@URL@|$url|" hack/install.sh >"$out/install.sh"
chmod 755 "$out/install.sh"
cd "$out"
{
    cat <<KREW
apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: slipway
spec:
  version: v$version
  homepage: https://slipway.dev
  shortDescription: Walk an accelerator's software stack onto a cluster
  description: |
$(sed 's/^/    /' <<<"$about")
  platforms:
KREW
    for a in amd64 arm64; do
        [ ! -e "slipway-$version-linux-$a.tar.gz" ] || cat <<PLATFORM
    - selector:
        matchLabels:
          os: linux
          arch: $a
      uri: $url/slipway-$version-linux-$a.tar.gz
      sha256: $(sha256sum "slipway-$version-linux-$a.tar.gz" | cut -d' ' -f1)
      bin: bin/slipway
      files:
        - from: slipway-$version-linux-$a/bin/slipway
          to: bin/slipway
        - from: slipway-$version-linux-$a/share/slipway
          to: share/slipway
        - from: slipway-$version-linux-$a/share/doc/slipway/copyright
          to: LICENSE
PLATFORM
    done
} >slipway.yaml
for file in *; do
    case $file in
    SHA256SUMS | SHA256SUMS.asc) ;;
    *) sha256sum "$file" ;;
    esac
done >"$work/sums"
mv "$work/sums" SHA256SUMS
say "install.sh, slipway.yaml (krew), SHA256SUMS: all in $out"
