#!/bin/bash
# static-libs.sh DIR [ARCH SYSROOT]: libcurl.a and libgit2.a in DIR/lib, with HTTP, HTTPS and SSH only, from the sources of
# the Debian that this is, its patches in them. DIR/versions says which. apt works on lists of its own: nothing of the machine
# changes but packages that building them wants (root only).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:?static-libs.sh DIR [ARCH SYSROOT]} arch=${2:-} sysroot=${3:-}
say() { echo "static-libs: $*" >&2; }
command -v apt-get >/dev/null || { say "sources are taken from Debian's packages: this wants Debian"; exit 1; }
need=
command -v cmake >/dev/null || need="$need cmake"
command -v dpkg-source >/dev/null || need="$need dpkg-dev"
[ -n "$arch" ] || [ -e "/usr/lib/$(gcc -dumpmachine)/libzstd.a" ] || need="$need libzstd-dev"
if [ -n "$need" ]; then
    [ "$(id -u)" = 0 ] || { say "missing, and only root may install:$need"; exit 1; }
    # shellcheck disable=SC2086
    apt-get install -y -q $need >/dev/null
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$dir/lib" "$work/apt/lists/partial" "$work/apt/cache/archives/partial" "$work/apt/parts" "$work/src"
dir=$(cd "$dir" && pwd)
cd "$work"
# the sources of what this machine's apt knows the packages of
for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ ! -e "$list" ] || sed -n 's/^deb /deb-src /p' "$list" >>apt/parts/source.list
done
for list in /etc/apt/sources.list.d/*.sources; do
    [ ! -e "$list" ] || sed 's/^Types:.*/Types: deb-src/' "$list" >"apt/parts/${list##*/}"
done
options=(-q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$work/apt/parts" -o Dir::State::lists="$work/apt/lists"
    -o Dir::Cache="$work/apt/cache" -o APT::Sandbox::User=)
apt-get "${options[@]}" update >/dev/null || true # not all of them have sources
rm -f "$dir/versions.new"

# -O2 and what hack/hardening.sh adds, as for slipway itself; no path of this machine goes into them
cc=${CC_STATIC:-gcc} host=() cross=()
if [ -n "$arch" ]; then
    triplet=$([ "$arch" = arm64 ] && echo aarch64 || echo x86_64)-linux-gnu
    cc="$triplet-gcc --sysroot=$sysroot"
    host=(--host="$triplet")
    cross=(-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="${triplet%%-*}" -DCMAKE_C_COMPILER="$triplet-gcc" -DCMAKE_SYSROOT="$sysroot"
        -DCMAKE_FIND_ROOT_PATH="$sysroot" -DCMAKE_FIND_ROOT_PATH_MODE_PROGRAM=NEVER -DCMAKE_LIBRARY_ARCHITECTURE="$triplet")
    export PKG_CONFIG_SYSROOT_DIR=$sysroot PKG_CONFIG_LIBDIR=$sysroot/usr/lib/$triplet/pkgconfig:$sysroot/usr/share/pkgconfig
fi
flags="-O2 -ffunction-sections -fdata-sections -ffile-prefix-map=$work=. $("$here/hardening.sh" compile ${cc%% *})"

source_of() { # PACKAGE: unpack it into src/PACKAGE, in the newest version that can be had
    local version
    say "$1: sources"
    for version in $(apt-cache "${options[@]:1}" showsrc "$1" | sed -n 's/^Version: //p' | sort -rVu); do
        rm -rf "src/$1" src/"$1"_*
        (cd src && apt-get "${options[@]}" source --download-only "$1=$version" >/dev/null 2>"$work/apt/log" &&
            dpkg-source --no-check -x "$1"_*.dsc "$1" >/dev/null 2>>"$work/apt/log") || continue
        echo "$1 $version" >>"$dir/versions.new"
        return
    done
    cat apt/log >&2
    say "no sources of $1 can be had"
    exit 1
}

source_of curl
say "curl: building"
(
    cd src/curl
    ./configure "${host[@]}" CC="$cc" CFLAGS="$flags" --disable-shared --enable-static --with-openssl --with-nghttp2 --with-zlib \
        --without-brotli --without-zstd --without-libpsl --without-libidn2 --without-librtmp --without-libssh2 --without-gssapi \
        --disable-ldap --disable-ldaps --disable-dict --disable-telnet --disable-tftp --disable-pop3 --disable-imap --disable-smb \
        --disable-smtp --disable-gopher --disable-mqtt --disable-rtsp --disable-ftp --disable-file --disable-manual \
        --without-ca-bundle --without-ca-path --with-ca-fallback
    make -j"$(nproc)" -C lib
) >curl.log 2>&1 || { tail -20 curl.log >&2; say "curl cannot be built (curl.log)"; exit 1; }
cp src/curl/lib/.libs/libcurl.a "$dir/lib/"

source_of libgit2
say "libgit2: building"
{
    cmake -S src/libgit2 -B src/libgit2/build "${cross[@]}" -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS="$flags" -DBUILD_SHARED_LIBS=OFF \
        -DBUILD_CLI=OFF -DBUILD_TESTS=OFF -DUSE_HTTPS=OpenSSL -DUSE_SSH=ON -DUSE_GSSAPI=OFF -DUSE_NTLMCLIENT=OFF \
        -DREGEX_BACKEND=pcre2 -DUSE_HTTP_PARSER=system &&
        make -j"$(nproc)" -C src/libgit2/build
} >libgit2.log 2>&1 || { tail -20 libgit2.log >&2; say "libgit2 cannot be built (libgit2.log)"; exit 1; }
cp src/libgit2/build/libgit2.a "$dir/lib/"
mv "$dir/versions.new" "$dir/versions"
say "$(paste -sd, "$dir/versions") are in $dir/lib"
