#!/bin/sh
# install.sh [--prefix DIR] [--from URL|DIR]: install slipway @VERSION@. It takes the archive of this machine from the release,
# compares its checksum, and unpacks it below DIR: /usr/local where that may be written, else ~/.local. It asks nothing.
set -eu
version='@VERSION@'
from='@URL@'
prefix=
say() { echo "install: $*" >&2; }
die() { say "$*"; exit 1; }
while [ $# -gt 0 ]; do
    case $1 in
    --prefix | --from)
        [ $# -ge 2 ] || die "$1 needs a value"
        case $1 in --prefix) prefix=$2 ;; *) from=$2 ;; esac
        shift 2
        ;;
    -h | --help)
        echo "usage: install.sh [--prefix DIR] [--from URL|DIR]"
        echo "  --prefix DIR      install below DIR (/usr/local where that may be written, else ~/.local)"
        echo "  --from URL|DIR    where the release is ($from)"
        exit 0
        ;;
    *) die "no such option: $1 (--help)" ;;
    esac
done

[ "$(uname -s)" = Linux ] || die "slipway runs on Linux; this is $(uname -s)"
case $(uname -m) in
x86_64 | amd64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) die "there is no release for $(uname -m)" ;;
esac
if [ -z "$prefix" ]; then
    if [ -w /usr/local/bin ] || { [ ! -e /usr/local/bin ] && [ -w /usr/local ]; }; then
        prefix=/usr/local
    else
        prefix=${HOME:?}/.local
    fi
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

get() { # NAME: into $work
    case $from in
    *://*)
        if command -v curl >/dev/null 2>&1; then
            curl -fsSL --retry 3 -o "$work/$1" "$from/$1"
        elif command -v wget >/dev/null 2>&1; then
            wget -q -O "$work/$1" "$from/$1"
        else
            die "neither curl nor wget is here"
        fi || die "$from/$1 cannot be fetched"
        ;;
    *) cp "$from/$1" "$work/$1" || die "$from/$1 cannot be read" ;;
    esac
}

tree=slipway-$version-linux-$arch
get SHA256SUMS
get "$tree.tar.gz"
wanted=$(sed -n "s/^\([0-9a-f]\{64\}\)  $tree\.tar\.gz\$/\1/p" "$work/SHA256SUMS")
[ -n "$wanted" ] || die "SHA256SUMS of $from does not name $tree.tar.gz"
if command -v sha256sum >/dev/null 2>&1; then
    sum=$(sha256sum "$work/$tree.tar.gz")
elif command -v openssl >/dev/null 2>&1; then
    sum=$(openssl dgst -sha256 -r "$work/$tree.tar.gz")
else
    die "neither sha256sum nor openssl is here: the checksum cannot be compared"
fi
[ "${sum%% *}" = "$wanted" ] || die "$tree.tar.gz is not what SHA256SUMS says (${sum%% *} instead of $wanted): nothing was installed"
tar -xzf "$work/$tree.tar.gz" -C "$work"
"$work/$tree/bin/slipway" version >/dev/null || die "slipway does not run here: nothing was installed"
mkdir -p "$prefix"
(cd "$work/$tree" && tar -cf - .) | (cd "$prefix" && tar -xf - --no-same-owner 2>/dev/null) || die "$prefix cannot be written"
echo "$("$prefix/bin/slipway" version) is in $prefix/bin"
case :$PATH: in
*":$prefix/bin:"*) ;;
*) echo "add it to your path: export PATH=\"$prefix/bin:\$PATH\"" ;;
esac
echo "try it: slipway run nvidia-mig --emulate"
