#!/bin/bash
# sysroot.sh ARCH DIR: the libraries and headers of another architecture (arm64, amd64) in a folder, from
# Debian's packages, for `make ARCH=...` and hack/image.sh. apt works on lists of its own in that folder:
# nothing of the machine changes. Repeated, it fetches only what is new.
set -euo pipefail
arch=${1:?sysroot.sh ARCH DIR} dir=${2:?sysroot.sh ARCH DIR}
here=$(cd "$(dirname "$0")/.." && pwd)
command -v apt-get >/dev/null || { echo "sysroot: Debian's apt-get is needed" >&2; exit 1; }
case $arch in
arm64 | amd64) ;;
*) echo "sysroot: no such architecture: $arch (arm64, amd64)" >&2; exit 1 ;;
esac
dir=$(mkdir -p "$dir" && cd "$dir" && pwd)
apt=$dir/.apt
mkdir -p "$apt"/{lists,cache/archives/partial,state}
touch "$apt/status"
options=(-q -o APT::Architecture="$arch" -o APT::Architectures::="$arch" -o Dir::State="$apt/state"
    -o Dir::State::lists="$apt/lists" -o Dir::State::status="$apt/status" -o Dir::Cache="$apt/cache"
    -o Debug::NoLocking=1 -o APT::Install-Recommends=false -o APT::Sandbox::User=)

# what the build wants (hack/deps.sh), and git, which is opened at run time
packages="libc6-dev libgcc-$(gcc -dumpversion | cut -d. -f1)-dev libzstd-dev libgit2-dev $(sed -n '/^debian="/,/"$/p' "$here/hack/deps.sh" | tr -d '"' | sed 's/^debian=//' |
    tr ' ' '\n' | grep -E '^(lib|zlib)')"
apt-get "${options[@]}" update >/dev/null
# shellcheck disable=SC2086
apt-get "${options[@]}" -y --download-only install $packages >/dev/null ||
    { echo "sysroot: these could not all be fetched: $packages" >&2; exit 1; }
for deb in "$apt"/cache/archives/*.deb; do
    [ -e "$apt/$(basename "$deb").done" ] && continue
    dpkg-deb -x "$deb" "$dir" && touch "$apt/$(basename "$deb").done"
done
# absolute links would lead out of it
find "$dir/usr/lib" "$dir/lib" -type l -lname '/*' 2>/dev/null | while read -r link; do
    ln -sfn "$(realpath -m --relative-to="$(dirname "$link")" "$dir$(readlink "$link")")" "$link"
done
echo "sysroot: $arch in $dir"
