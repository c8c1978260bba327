#!/bin/bash
# test-dist.sh: install each artifact of build/dist (make dist) where nothing else is, and use it there: the archive in an empty
# root, the .deb in the smallest Debian of each SUITE ("bookworm trixie"), the .rpm by rpm's own tools. The programs are linked
# a second time, and the release must be the same. Only root can; roots are made by debootstrap, and kept in ~/.cache/slipway.
. "$(dirname "$0")/../test/tap.sh"
cd "$(dirname "$0")/.." || exit 1
[ "$(id -u)" = 0 ] || { echo "test-dist: only root can have roots (chroot, mounts)" >&2; exit 1; }
case $(uname -m) in x86_64) arch=amd64 ;; aarch64) arch=arm64 ;; *) arch=$(uname -m) ;; esac
version=$(hack/version.sh) dist=$PWD/build/dist cache=${XDG_CACHE_HOME:-$HOME/.cache}/slipway
files_of=slipway-$version-linux-$arch
[ -e "$dist/SHA256SUMS" ] || { echo "test-dist: make dist first" >&2; exit 1; }

# inside ROOT COMMAND...: with /proc and /dev, in mounts and processes of its own that end with it
inside() {
    # shellcheck disable=SC2016
    setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child --propagation private \
        bash -euc 'root=$1; shift; mkdir -p "$root/proc" "$root/dev" "$root/tmp"; mount -t proc proc "$root/proc"; mount --rbind /dev "$root/dev"
            exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp SLIPWAY_STAND_INS=1 chroot "$root" "$@"' - "$@"
}
walks() { recipe_walks nvidia-mig "$@"; }
recipe_walks() { # RECIPE ROOT PROGRAM...
    inside "${@:2}" run "$1" --emulate --platform kubernetes >"$tap_dir/walk" 2>&1 && grep -q "$1: Ready" "$tap_dir/walk" || { cat "$tap_dir/walk"; return 1; }
}

t "the files are those that SHA256SUMS names" build/static/slipway verify-release "$dist"

others=$(for a in amd64 arm64; do [ $a = "$arch" ] || [ ! -e "$dist/slipway-$version-linux-$a.tar.gz" ] || echo $a; done)
same() {
    local a
    rm -f build/static/slipway* && make -s static && hack/dist.sh --out "$tap_dir/again" || return 1
    for a in $others; do
        rm -f "build/$a/static/slipway"* && make -s "ARCH=$a" static && hack/dist.sh --out "$tap_dir/again" --arch "$a" --programs "build/$a/static" || return 1
    done
    cmp "$dist/SHA256SUMS" "$tap_dir/again/SHA256SUMS"
}
t "programs that are linked again give the same release" same

archive() {
    mkdir "$tap_dir/empty" && tar -xzf "$dist/$files_of.tar.gz" -C "$tap_dir/empty" --strip-components=1 || return 1
    inside "$tap_dir/empty" /bin/slipway version && walks "$tap_dir/empty" /bin/slipway || return 1
    for p in webhook scheduler; do inside "$tap_dir/empty" "/bin/slipway-$p" --help >/dev/null || return 1; done
}
t "the archive's programs run in a root where nothing else is" archive

git_source() {
    local repo=$tap_dir/repo.git work=$tap_dir/empty
    mkdir -p "$tap_dir/chart" && cp -r charts/example/simple-kmod/. "$tap_dir/chart/" && git -C "$tap_dir/chart" init -q &&
        git -C "$tap_dir/chart" add -A && git -C "$tap_dir/chart" -c user.name=t -c user.email=t@example.com commit -qm chart &&
        git clone -q --bare "$tap_dir/chart" "$repo" && cp -r "$repo" "$work/repo.git" &&
        inside "$work" /bin/slipway render git+file:///repo.git >/dev/null
}
t "they read git repositories without a library beside them" git_source

deb_in() { # SUITE
    local clean=$cache/clean/$1 root=$tap_dir/$1
    if [ ! -e "$clean/etc/debian_version" ]; then
        mkdir -p "$cache/clean" "$cache/clean/debs" && debootstrap --variant=minbase --cache-dir="$cache/clean/debs" "$1" "$clean.new" \
            "$(apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Created-By: Packages' | sed -n "s/ $(. /etc/os-release && echo "$VERSION_CODENAME")\$//p" | sed -n 1p)" \
            >"$cache/clean/$1.log" 2>&1 </dev/null && mv "$clean.new" "$clean" || { tail -5 "$cache/clean/$1.log"; return 1; }
    fi
    cp -a "$clean" "$root" && cp "$dist/slipway_${version}_$arch.deb" "$root/tmp/slipway.deb" || return 1
    inside "$root" dpkg -i /tmp/slipway.deb && inside "$root" slipway version && walks "$root" slipway || return 1
    inside "$root" sh -c 'ldd /usr/bin/slipway-device-plugin && slipway-device-plugin --help >/dev/null' || return 1
    inside "$root" dpkg --purge slipway && [ -z "$(find "$root/usr" "$root/etc" -name '*slipway*')" ]
}
# foreign ARCH: another architecture's archive and package (make test-dist ARCHES="amd64 arm64"). qemu runs one program, not what that
# one starts: so it is a recipe for which nothing is fetched.
foreign() {
    local root=$tap_dir/$1 p
    mkdir -p "$root/tmp" "$tap_dir/deb-$1" && tar -xzf "$dist/slipway-$version-linux-$1.tar.gz" -C "$root" --strip-components=1 && cp "$(command -v "$(qemu_of "$1")")" "$root/tmp/qemu" &&
        inside "$root" /tmp/qemu /bin/slipway version && recipe_walks simple-kmod "$root" /tmp/qemu /bin/slipway || return 1
    for p in webhook scheduler; do inside "$root" /tmp/qemu "/bin/slipway-$p" --help >/dev/null || return 1; done
    dpkg-deb -x "$dist/slipway_${version}_$1.deb" "$tap_dir/deb-$1" && [ "$(dpkg-deb -f "$dist/slipway_${version}_$1.deb" Architecture)" = "$1" ] || return 1
    for p in slipway slipway-webhook slipway-scheduler slipway-device-plugin; do cmp "$root/bin/$p" "$tap_dir/deb-$1/usr/bin/$p" || return 1; done
}
qemu_of() { case $1 in arm64) echo qemu-aarch64-static ;; amd64) echo qemu-x86_64-static ;; esac; }
for other in $others; do
    if command -v "$(qemu_of "$other")" >/dev/null; then
        t "the archive for $other runs in an empty root, and the .deb has the same programs" foreign "$other"
    else
        skip "the archive for $other" "no $(qemu_of "$other") here"
    fi
done

command -v debootstrap >/dev/null || apt-get -o DPkg::Lock::Timeout=300 install -y -q --no-install-recommends debootstrap >/dev/null 2>&1 || true
if command -v debootstrap >/dev/null; then
    for suite in ${SUITES:-bookworm trixie}; do
        t "the .deb installs in the smallest Debian ($suite), walks a recipe there, and goes whole" deb_in "$suite"
    done
else
    skip "the .deb installs in the smallest Debian" "no debootstrap here"
fi

rpm_in() {
    local root=$tap_dir/rpm
    mkdir -p "$root" && rpm --root "$root" --initdb && rpm --root "$root" --nodeps --force-debian -i "$dist/slipway-$version-1.$(uname -m).rpm" &&
        rpm --root "$root" -V --nodeps slipway && walks "$root" /usr/bin/slipway && rpm --root "$root" --force-debian -e slipway &&
        [ -z "$(find "$root/usr" -name '*slipway*' 2>/dev/null)" ]
}
if command -v rpm >/dev/null; then
    t "the .rpm installs by rpm, walks a recipe there, and goes whole" rpm_in
else
    skip "the .rpm installs by rpm" "no rpm here"
fi
plan
