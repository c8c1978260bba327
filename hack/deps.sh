#!/bin/sh
# deps.sh [tests]: see that what the build needs (and with `tests`, what the tests use) is there;
# install what is missing through the system's package manager. Exit 1, saying what to install, where
# that may not be; what only tests use may be missing: they say so themselves.
set -eu

debian="pkg-config libjson-c-dev libyaml-dev libssl-dev libcurl4-openssl-dev libevent-dev
 libarchive-dev libcmocka-dev zlib1g-dev libnghttp2-dev libprotobuf-c-dev
 protobuf-c-compiler"
fedora="pkgconf-pkg-config json-c-devel libyaml-devel openssl-devel libcurl-devel
 libevent-devel libarchive-devel libcmocka-devel zlib-devel libnghttp2-devel
 protobuf-c-devel protobuf-c-compiler"
modules="json-c zlib libarchive libcrypto libcurl libevent yaml-0.1 cmocka libnghttp2 libprotobuf-c"

# done without where it cannot be had: recipes from git
git_debian=libgit2-dev git_fedora=libgit2-devel

# what the tests play the other side with, and look at answers with
tools="curl gawk gpg gpg-agent gpgv jq openssl python3 rpmbuild xxd zstd"
tools_debian="busybox curl gawk gpg gpg-agent gpgv jq lua5.4 openssl procps python3 python3-grpcio python3-protobuf rpm xxd zstd"
tools_fedora="curl gawk gnupg2 jq lua openssl procps-ng python3 python3-grpcio python3-protobuf rpm-build vim-common zstd"
need_tools= need_site=
if [ "${1:-}" = tests ]; then
    command -v mkdocs >/dev/null 2>&1 || ! command -v apt-get >/dev/null 2>&1 || need_site=1 # no tool of RHEL's
    for t in $tools; do
        command -v "$t" >/dev/null 2>&1 || need_tools=1
    done
    command -v lua5.4 >/dev/null 2>&1 || command -v lua >/dev/null 2>&1 || need_tools=1
    /usr/bin/python3 -c 'import google.protobuf, grpc' 2>/dev/null || need_tools=1
fi

missing=
command -v pkg-config >/dev/null 2>&1 || missing=pkg-config
if [ -z "$missing" ]; then
    for m in $modules; do
        pkg-config --exists "$m" || missing="$missing $m"
    done
fi
need_kubectl=
command -v kubectl >/dev/null 2>&1 || need_kubectl=1
need_git=
pkg-config --exists libgit2 2>/dev/null || need_git=1
[ -n "$missing" ] || [ -n "$need_kubectl" ] || [ -n "$need_git" ] || [ -n "$need_tools" ] || [ -n "$need_site" ] || exit 0

root=
if [ "$(id -u)" != 0 ]; then
    if command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
        root=sudo
    else
        [ -n "$missing" ] || exit 0 # only tests use kubectl; they say so themselves, as git recipes do
        echo "slipway: these are missing: $missing" >&2
        echo "slipway: not root, so install them yourself:" >&2
        echo "  Debian, Ubuntu:  apt-get install $(echo $debian)" >&2
        echo "  Fedora, RHEL 9:  dnf install $(echo $fedora)" >&2
        exit 1
    fi
fi

if command -v apt-get >/dev/null 2>&1; then
    echo "slipway: installing build packages (apt-get)" >&2
    export DEBIAN_FRONTEND=noninteractive
    $root apt-get update -q >/dev/null || true # an old list may do
    [ -z "$missing" ] || $root apt-get -o DPkg::Lock::Timeout=300 install -y -q $debian >/dev/null
    [ -z "$need_kubectl" ] || $root apt-get -o DPkg::Lock::Timeout=300 install -y -q kubernetes-client >/dev/null || true
    [ -z "$need_git" ] || $root apt-get -o DPkg::Lock::Timeout=300 install -y -q $git_debian >/dev/null || true
    [ -z "$need_tools" ] || $root apt-get -o DPkg::Lock::Timeout=300 install -y -q $tools_debian >/dev/null || true
    [ -z "$need_site" ] || $root apt-get -o DPkg::Lock::Timeout=300 install -y -q mkdocs mkdocs-material >/dev/null || true
elif command -v dnf >/dev/null 2>&1; then
    echo "slipway: installing build packages (dnf)" >&2
    [ -z "$missing" ] || $root dnf install -y -q $fedora
    [ -z "$need_kubectl" ] || $root dnf install -y -q kubernetes-client || true
    [ -z "$need_git" ] || $root dnf install -y -q $git_fedora || true
    [ -z "$need_tools" ] || $root dnf install -y -q $tools_fedora || true
else
    echo "slipway: no apt-get and no dnf here; install the development files of: $missing" >&2
    exit 1
fi
for m in $modules; do
    pkg-config --exists "$m" || { echo "slipway: $m is still missing" >&2; exit 1; }
done
