#!/bin/bash
# root.sh: a command in another Debian, for builds and tests with its compilers and libraries.
#
#   root.sh SUITE [COMMAND]...     trixie, sid, ...; without a command the root is only made
#
# The root is made once, by debootstrap from the mirror of this machine's apt, with the packages of
# hack/deps.sh and the compilers, in ${SLIPWAY_CACHE:-~/.cache/slipway}/roots/SUITE. When it ends
# half-way the next call goes on; when the list of packages changes they are installed. The command
# runs in a copy of this machine's view of the files: the working tree at the same path, but with its own
# build/ (build-SUITE/ outside), this user's ccache, an empty /tmp, and loopback only as the host has it.
#
# Exit status: the command's; 77: a root cannot be had here, and why is on stderr.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
cache=${SLIPWAY_CACHE:-$HOME/.cache/slipway}
say() { echo "root: $*" >&2; }
cannot() { say "$*"; exit 77; }
case "${1:-}" in
-h | --help | "") sed -n '2,13p' "$0" | sed 's/^# \{0,1\}//'; [ -n "${1:-}" ] || exit 2; exit 0 ;;
-* | *[!a-z0-9-]*) say "no suite: $1"; exit 2 ;;
esac
suite=$1
shift
root=$cache/roots/$suite

# ---- making it -----------------------------------------------------------------------------------
packages() {
    sed -n '/^debian="/,/"$/p; s/^git_debian=\([^ ]*\).*/\1/p; s/^tools_debian="\(.*\)"/\1/p' "$here/hack/deps.sh" | tr -d '"' | sed 's/^debian=//' | tr ' ' '\n' | sed '/^$/d'
    printf '%s\n' ca-certificates gcc libc6-dev make clang libclang-rt-dev ccache git gawk mawk kubernetes-client
}

mirror() { # that of this machine's own release
    apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Created-By: Packages' 2>/dev/null |
        sed -n "s/ $(. /etc/os-release && echo "${VERSION_CODENAME:-stable}")\$//p" | sed -n 1p
}

# A root of its own for mounts and processes: all of them end with the command.
within() { # ROOT SCRIPT [ARGUMENT]...: $1 is the root's folder in SCRIPT, which ends in chroot
    # shellcheck disable=SC2016
    setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child --propagation private bash -euc 'mount -t proc proc "$1/proc"; mount --rbind /dev "$1/dev"; '"$2" root "$1" "${@:3}"
}

install_packages() { # ROOT
    local log=$cache/roots/$suite.log
    # shellcheck disable=SC2016
    # shellcheck disable=SC2046
    within "$1" 'dir=$1; shift; exec chroot "$dir" sh -ec "apt-get update -q; exec apt-get install -y -q --no-install-recommends \"\$@\"" sh "$@"' \
        $(packages) >"$log" 2>&1 </dev/null || { grep -E '^(E|Err)' "$log" >&2 || tail -3 "$log" >&2; cannot "the packages cannot be installed ($log)"; }
    rm -rf "$1"/var/cache/apt/archives/*.deb
    packages >"$1/.packages"
}

make_root() {
    local from new=$root.new log=$cache/roots/$suite.log
    from=$(mirror)
    [ -n "$from" ] || cannot "apt names no mirror of this machine's release"
    if [ ! -e "$new/.base" ]; then
        say "making $suite in $root (once, some minutes)"
        rm -rf --one-file-system "$new"
        mkdir -p "$cache/roots/debs"
        debootstrap --variant=minbase --cache-dir="$cache/roots/debs" "$suite" "$new" "$from" >"$log" 2>&1 </dev/null ||
            { grep -E '^(E|W):' "$log" >&2 || true; cannot "debootstrap failed ($log)"; }
        # what this machine's apt says of how to fetch, and nobody starts services
        apt-config dump Acquire 2>/dev/null | grep -E '^Acquire::(Check-|http|https|Retries)[^ ]* "[^"]+";' >"$new/etc/apt/apt.conf.d/99host" || true
        [ ! -e /etc/resolv.conf ] || cp -L /etc/resolv.conf "$new/etc/resolv.conf"
        printf '#!/bin/sh\nexit 101\n' >"$new/usr/sbin/policy-rc.d"
        chmod +x "$new/usr/sbin/policy-rc.d"
        touch "$new/.base"
    fi
    install_packages "$new"
    mv "$new" "$root"
}

[ "$(id -u)" = 0 ] || cannot "only root can have a root of $suite (chroot, mounts)"
command -v unshare >/dev/null && unshare --mount --pid --fork true 2>/dev/null || cannot "no mounts of its own for a process here (unshare)"
mkdir -p "$cache/roots"
exec 9>"$cache/roots/$suite.lock"
flock 9
if [ ! -d "$root" ] || ! packages | cmp -s - "$root/.packages"; then
    if ! command -v debootstrap >/dev/null; then
        command -v apt-get >/dev/null || cannot "debootstrap is needed"
        DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y -q --no-install-recommends debootstrap >/dev/null 2>&1 || cannot "debootstrap cannot be installed"
    fi
    if [ -d "$root" ]; then install_packages "$root"; else make_root; fi
fi
flock -u 9
exec 9>&-
[ $# -gt 0 ] || exit 0

# ---- running in it -------------------------------------------------------------------------------
ccache=${CCACHE_DIR:-$HOME/.cache/ccache}
common=$(git -C "$here" rev-parse --path-format=absolute --git-common-dir 2>/dev/null || true)
shared=$(realpath -sm "${SW_SHARED:-$here/../shared}")
[ -d "$shared" ] || shared=
find "$root" -maxdepth 1 -name 'tmp.*' -mtime +0 -exec rm -rf --one-file-system {} + # of calls that were killed
tmp=$(mktemp -d "$root/tmp.XXXXXX")
trap 'rm -rf --one-file-system "$tmp"' EXIT
chmod 1777 "$tmp"
mkdir -p "$here/build-$suite" "$here/build" "$ccache"
keep=()
for v in CC TESTS ALL SAMPLE CI TERM SEED SW_TEST_TIMEOUT SW_TEST_TAIL SW_PATIENCE; do
    [ -z "${!v+set}" ] || keep+=("$v=${!v}")
done
# shellcheck disable=SC2016
within "$root" '
    root=$1 tmp=$2 tree=$3 suite=$4 ccache=$5 common=$6 shared=$7
    shift 7
    at() { mkdir -p "$root$2"; mount --rbind "$1" "$root$2"; }
    mount --bind "$tmp" "$root/tmp"
    mount -t sysfs -o ro sysfs "$root/sys" 2>/dev/null || true
    at "$ccache" /root/.cache/ccache
    at "$tree" "$tree"
    case $common in "" | "$tree"/*) ;; *) at "$common" "$common" ;; esac
    [ -z "$shared" ] || at "$shared" "$shared"
    mount --bind "$tree/build-$suite" "$root$tree/build"
    ip link set lo up 2>/dev/null || true
    exec env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 CCACHE_NOHASHDIR=1 "CCACHE_BASEDIR=$tree" "SW_SHARED=$shared" \
        chroot "$root" sh -c '\''cd "$1" && shift && exec env "$@"'\'' sh "$tree" "$@"' \
    "$tmp" "$here" "$suite" "$ccache" "$common" "$shared" "${keep[@]}" "$@"
