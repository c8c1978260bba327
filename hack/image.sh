#!/bin/bash
# image.sh: container images of slipway's programs, without a daemon and without the network.
#
#   image.sh build [OPTION]... PROGRAM...   pack build/PROGRAM, what it links and the CA bundle
#   image.sh closure PROGRAM...             list what a program brings along, and how large that is
#   image.sh bundle DIR REFERENCE           pack an OLM bundle (hack/bundle.sh) into build/images
#   image.sh catalog DIR REFERENCE          the same with a catalog of bundles
#   image.sh chart FILE REFERENCE           the same with an archive of a Helm chart, as `helm push` sends it
#   image.sh root DIR PROGRAM               write what an image holds into a folder
#   image.sh load FILE...                   hand docker archives to $CONTAINER_COMMAND
#   image.sh push DIR... REFERENCE          send an OCI layout to a registry, over HTTP; several, one for each
#                                           architecture, under one name
#   image.sh send PREFIX REFERENCE          push by $CONTAINER_COMMAND, podman or docker, else as push
#
# build's options:
#   --out DIR        where to write (build/images)
#   --registry NAME  images are NAME/PROGRAM:TAG ($REGISTRY, quay.io/slipway); $IMG: all of slipway's own
#   --tag TAG        ($TAG, else the git branch)
#   --programs DIR   where the programs are (build)
#   --arch ARCH      amd64, arm64: what the programs were built for (this machine's)
#   --sysroot DIR    where the libraries of that architecture are (/)
#
# For each program: DIR/PROGRAM.oci (an OCI image layout), DIR/PROGRAM.tar (the same as a docker
# archive, for docker load, podman load, ctr images import) and DIR/PROGRAM.spdx.json (its bill of
# materials). An image has a layer for each set of libraries that the same programs need, one for the
# recipes (slipway's own image only), one for the program; so four images cost little more than one.
# The same input gives the same bytes: names are sorted, owners are 0, times are $SOURCE_DATE_EPOCH,
# else those of the last commit.
#
# libarchive is built in from its static library, tar with gzip and zstd only: the shared one of
# Debian brings libxml2 and 31 MB of ICU.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
umask 022
export LC_ALL=C TZ=UTC0

say() { echo "image: $*" >&2; }
die() { say "$*"; exit 1; }

# ---- what a program needs ------------------------------------------------------------------------
sysroot=/ programs=$here/build arch= dirs=()
library_dirs() {
    local triplet
    case $arch in
    amd64) triplet=x86_64-linux-gnu ;;
    arm64) triplet=aarch64-linux-gnu ;;
    esac
    printf '%s\n' "$sysroot/usr/lib/$triplet" "$sysroot/lib/$triplet" "$sysroot/usr/$triplet/lib" \
        "$sysroot/usr/lib64" "$sysroot/lib64"
}

host_arch() {
    case $(uname -m) in
    x86_64) echo amd64 ;;
    aarch64) echo arm64 ;;
    *) uname -m ;;
    esac
}

tool() { # NAME: of the compiler for that architecture
    case $arch in
    "$(host_arch)") echo "$1" ;;
    amd64) echo "x86_64-linux-gnu-$1" ;;
    arm64) echo "aarch64-linux-gnu-$1" ;;
    esac
}

find_library() { # SONAME: its file
    local d
    for d in "${dirs[@]}"; do
        [ ! -e "$d/$1" ] || { readlink -f "$d/$1"; return 0; }
    done
    return 1
}

interpreter() { # FILE
    readelf -l "$1" | sed -n 's|.*interpreter: \(/[^]]*\)\]|\1|p'
}

needed() { # FILE: the sonames that it links
    local known=$work/needed/${1//\//+}
    [ -e "$known" ] || readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' >"$known"
    cat "$known"
}

# Libraries that a program opens by itself when it first needs them. The GPU driver's library comes
# from the node.
opened() { # FILE
    strings -a "$1" | grep -E '^lib[a-z0-9_+-]+\.so\.[0-9]+(\.[0-9]+)*$' | grep -v '^libnvidia-' | sort -u || true
}

# libcurl is linked with libraries for protocols that slipway does not let it speak (src/http/setup.c):
# RTMP, LDAP. They bring GnuTLS, SASL and more along, two of twelve MiB compressed. In an image each is a
# library of the same name whose functions do nothing but fail.
empty_library() { # SONAME: its file, or status 1: nothing to make it with
    local made=$work/empty/$1 real versions v cc=${CROSS_CC:-$(tool gcc)$([ "$sysroot" = / ] || echo " --sysroot=$sysroot")}
    [ ! -e "$made" ] || { echo "$made"; return 0; }
    real=$(find_library "$1") && mkdir -p "$work/empty" || return 1
    # "FUNCTION VERSION" of what libcurl takes from it
    join <(readelf -W --dyn-syms "$(find_library libcurl.so.4)" | awk '$7 == "UND" { n = split($8, s, "@"); print s[1], (n > 1 ? s[n] : "-") }' | sort -u) \
        <(readelf -W --dyn-syms "$real" | awk '$7 != "UND" && $8 != "" { sub(/@.*/, "", $8); print $8 }' | sort -u) >"$made.symbols"
    [ -s "$made.symbols" ] || return 1
    awk '{ print "long " $1 "(void); long " $1 "(void) { return -1; }" }' "$made.symbols" >"$made.c"
    versions=$(cut -d' ' -f2 "$made.symbols" | sort -u)
    for v in $versions; do
        [ "$v" != - ] || v='' # a library without versions
        echo "$v { global: $(awk -v v="${v:--}" '$2 == v { printf "%s; ", $1 }' "$made.symbols") local: *; };"
    done >"$made.map"
    $cc -shared -s -nostdlib -fno-builtin -o "$made.new" -Wl,-soname,"$1" -Wl,--build-id=none -Wl,--version-script="$made.map" "$made.c" 2>"$made.log" || return 1
    mv "$made.new" "$made"
    echo "$made"
}

# closure FILE: "SONAME PATH" of every library, sorted; some are of our own making.
closure() {
    local todo more seen=" " name path
    todo=$({ needed "$1"; opened "$1"; } | sort -u)
    while [ -n "$todo" ]; do
        name=${todo%%$'\n'*}
        if [ "$todo" = "$name" ]; then todo=; else todo=${todo#*$'\n'}; fi
        case $seen in *" $name "*) continue ;; esac
        case $name in ld-linux*) continue ;; esac # the loader, see put_loader
        seen="$seen$name "
        if [ "$name" = libarchive.so.13 ] && [ -n "$own_archive" ]; then
            path=$own_archive
        elif [[ $name =~ ^lib(rtmp|ldap|lber)[-.] ]] && path=$(empty_library "$name"); then
            : # and nothing that it needs
        else
            path=$(find_library "$name") || die "$(basename "$1") needs $name, which is not there (${dirs[*]})"
        fi
        echo "$name $path"
        more=$(needed "$path")
        todo=$todo${todo:+${more:+$'\n'}}$more
    done | sort -u
}

# A libarchive with the functions that slipway calls and nothing else, from the static library.
own_archive=
make_archive() {
    local static zstd symbols cc=${CROSS_CC:-$(tool gcc)$([ "$sysroot" = / ] || echo " --sysroot=$sysroot")}
    static=$(find_library libarchive.a) || { say "no libarchive.a here: the shared library goes into the image"; return 0; }
    zstd=$(find_library libzstd.so.1) || die "libzstd.so.1 is not there"
    symbols=$(sed -n 's/^ *X(\(archive_[a-z0-9_]*\), .*/\1/p' "$here/src/chart/archive/libarchive.h" | sort -u)
    [ -n "$symbols" ] || die "no function of libarchive is used any more: mend make_archive"
    { echo '{ global:'; sed 's/$/;/' <<<"$symbols"; echo 'local: *; };'; } >"$work/archive.map"
    # shellcheck disable=SC2046
    $cc -shared -s -o "$work/libarchive.so.13" -Wl,-soname,libarchive.so.13 -Wl,--build-id=none \
        -Wl,--version-script="$work/archive.map" -Wl,--gc-sections -Wl,--as-needed -Wl,-z,relro,-z,now,-z,defs \
        $(sed 's/^/-Wl,-u,/' <<<"$symbols") "$static" -lz "$zstd" $($cc -print-file-name=libacl.so | grep / || true) \
        2>"$work/archive.log" || {
        # without the headers of libacl and others: leave what only writing to disks needs unresolved
        $cc -shared -s -o "$work/libarchive.so.13" -Wl,-soname,libarchive.so.13 -Wl,--build-id=none \
            -Wl,--version-script="$work/archive.map" -Wl,--gc-sections -Wl,--as-needed -Wl,-z,relro \
            $(sed 's/^/-Wl,-u,/' <<<"$symbols") "$static" -lz "$zstd"
    }
    own_archive=$work/libarchive.so.13
}

# ---- layers --------------------------------------------------------------------------------------
pack() { # DIR FILE NAME...: a tar that is the same wherever and whenever it is made
    tar --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mtime="@$epoch" -C "$1" -cf "$2" "${@:3}"
}

digest() { sha256sum "$1" | cut -d' ' -f1; }

put_library() { # ROOT SONAME PATH
    install -D -m 755 "$3" "$1/usr/lib/slipway/$2"
}

put_base() { # ROOT: what every image has
    local root=$1 ca
    mkdir -p "$root"/{etc/ssl/certs,tmp,usr/lib/slipway,usr/bin,var}
    chmod 1777 "$root/tmp"
    printf 'root:x:0:0:root:/:/sbin/nologin\nslipway:x:65532:65532:slipway:/tmp:/sbin/nologin\n' >"$root/etc/passwd"
    printf 'root:x:0:\nslipway:x:65532:\n' >"$root/etc/group"
    echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
    for ca in ${CA_BUNDLE:-} /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt; do
        [ -s "$ca" ] && { cp "$ca" "$root/etc/ssl/certs/ca-certificates.crt"; break; }
    done
    [ -s "$root/etc/ssl/certs/ca-certificates.crt" ] || die "no CA bundle here (CA_BUNDLE=FILE names one)"
    chmod 644 "$root/etc/ssl/certs/ca-certificates.crt"
}

# The loader looks where the programs say it is; libraries lie beside each other.
put_loader() { # ROOT PROGRAM
    local i path
    i=$(interpreter "$2")
    [ -n "$i" ] || return 0
    path=$(readlink -f "$sysroot$i") || die "the loader $i is not there"
    mkdir -p "$1$(dirname "$i")" "$1/etc"
    cp "$path" "$1$i"
    chmod 755 "$1$i"
}

put_recipes() { # ROOT: charts that the operator can walk without any repository
    local d
    mkdir -p "$1/charts"
    for d in recipes states; do
        (cd "$here" && git ls-files -z "$d" 2>/dev/null || find "$d" -type f -print0) |
            (cd "$here" && tar --null -T - -cf -) | tar -C "$1" --no-same-permissions -xf -
    done
    (cd "$here" && { git ls-files -z charts/example 2>/dev/null || find charts/example -type f -print0; } |
        tar --null -T - -cf -) | tar -C "$1" --no-same-permissions -xf -
    # of these alone: the folder may hold a whole image
    find "$1/recipes" "$1/states" "$1/charts" -type d -exec chmod 755 {} + -o -type f -exec chmod 644 {} +
}

# add_layer ROOT: becomes layer $n_layers of the image under way, unless it is empty
n_layers=0
add_layer() {
    [ -n "$(find "$1" -type f -print -quit)" ] || return 0
    local tar=$work/layer.tar diff
    pack "$1" "$tar" .
    diff=$(digest "$tar")
    [ -f "$work/layers/$diff.tar" ] || { mv "$tar" "$work/layers/$diff.tar"; gzip -9nc "$work/layers/$diff.tar" >"$work/layers/$diff.tgz"; }
    layers[n_layers]=$diff
    n_layers=$((n_layers + 1))
}

# ---- one image -----------------------------------------------------------------------------------
json() { local s=${1//\\/\\\\}; printf '%s' "${s//\"/\\\"}"; }

labels() { # PROGRAM
    local title summary
    title=$1
    case $1 in
    slipway) summary="Walks an accelerator's software stack onto a cluster, one validated state after another" ;;
    slipway-webhook) summary="Admission of pods that ask for slices of a GPU" ;;
    slipway-scheduler) summary="Places slices of GPUs, as an extender of kube-scheduler" ;;
    slipway-device-plugin) summary="Makes slices of a node's GPUs when kubelet asks for them" ;;
    *) summary=$1 ;;
    esac
    cat <<JSON
   "io.k8s.description": "$(json "$summary")",
   "io.k8s.display-name": "$title",
   "io.openshift.tags": "operator,accelerator,gpu",
   "maintainer": "slipway",
   "name": "$title",
   "org.opencontainers.image.created": "$created",
   "org.opencontainers.image.description": "$(json "$summary")",
   "org.opencontainers.image.licenses": "Apache-2.0",
   "org.opencontainers.image.ref.name": "$(json "$tag")",
   "org.opencontainers.image.revision": "$revision",
   "org.opencontainers.image.title": "$title",
   "org.opencontainers.image.vendor": "slipway",
   "org.opencontainers.image.version": "$(json "$version")",
   "summary": "$(json "$summary")",
   "vendor": "slipway",
   "version": "$(json "$version")"
JSON
}

config() { # PROGRAM: the image's config
    local i sep=""
    cat <<JSON
{
 "architecture": "$arch",
 "config": {
  "Cmd": [$([ "$1" != slipway ] || echo '"controller"')],
  "Entrypoint": ["/usr/bin/$1"],
  "Env": ["PATH=/usr/bin", "LD_LIBRARY_PATH=/usr/lib/slipway", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt", "HOME=/tmp"],
  "Labels": {
$(labels "$1")
  },
  "User": "65532:65532",
  "WorkingDir": "/"
 },
 "created": "$created",
 "history": [
JSON
    for ((i = 0; i < n_layers; i++)); do
        printf '%s  {"created": "%s", "created_by": "hack/image.sh"}' "$sep" "$created"
        sep=$',\n'
    done
    printf '\n ],\n "os": "linux",\n "rootfs": {"diff_ids": ['
    sep=""
    for ((i = 0; i < n_layers; i++)); do
        printf '%s"sha256:%s"' "$sep" "${layers[i]}"
        sep=", "
    done
    printf '], "type": "layers"}\n}\n'
}

blob() { # LAYOUT FILE: put it in, print its digest
    local d
    d=$(digest "$2")
    cp "$2" "$1/blobs/sha256/$d"
    echo "$d"
}

finish_layout() { # LAYOUT MANIFEST REST: put the manifest in, and name it in the index with the fields of REST
    manifest_digest=$(blob "$1" "$2")
    echo '{"imageLayoutVersion": "1.0.0"}' >"$1/oci-layout"
    cat >"$1/index.json" <<JSON
{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [
 {"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": "sha256:$manifest_digest", "size": $(stat -c %s "$2"),
  $3}]}
JSON
}

write_oci() { # LAYOUT CONFIG REFERENCE
    local layout=$1 conf d i sep="" m=$work/manifest.json
    rm -rf "$layout"
    mkdir -p "$layout/blobs/sha256"
    conf=$(blob "$layout" "$2")
    {
        printf '{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",\n'
        printf ' "config": {"mediaType": "application/vnd.oci.image.config.v1+json", "digest": "sha256:%s", "size": %d},\n "layers": [\n' \
            "$conf" "$(stat -c %s "$2")"
        for ((i = 0; i < n_layers; i++)); do
            d=$(blob "$layout" "$work/layers/${layers[i]}.tgz")
            printf '%s  {"mediaType": "application/vnd.oci.image.layer.v1.tar+gzip", "digest": "sha256:%s", "size": %d}' \
                "$sep" "$d" "$(stat -c %s "$layout/blobs/sha256/$d")"
            sep=$',\n'
        done
        printf '\n ]}\n'
    } >"$m"
    finish_layout "$layout" "$m" "\"platform\": {\"architecture\": \"$arch\", \"os\": \"linux\"},
  \"annotations\": {\"io.containerd.image.name\": \"$(json "$3")\", \"org.opencontainers.image.ref.name\": \"$(json "$tag")\"}"
}

write_docker() { # FILE CONFIG REFERENCE
    local dir=$work/docker i sep="" conf
    rm -rf "$dir"
    mkdir -p "$dir"
    conf=$(digest "$2").json
    cp "$2" "$dir/$conf"
    {
        printf '[{"Config": "%s", "RepoTags": ["%s"], "Layers": [' "$conf" "$(json "$3")"
        for ((i = 0; i < n_layers; i++)); do
            ln -f "$work/layers/${layers[i]}.tar" "$dir/${layers[i]}.tar"
            printf '%s"%s.tar"' "$sep" "${layers[i]}"
            sep=", "
        done
        printf ']}]\n'
    } >"$dir/manifest.json"
    (cd "$dir" && pack "$dir" "$1" *)
}

# ---- bill of materials ---------------------------------------------------------------------------
# Of all files at once, "FILE NAME VERSION": dpkg reads the lists of all packages for each question.
find_packages() { # FILE...
    dpkg-query -S "$@" "${@#/usr}" 2>/dev/null | sed -n 's/^\([^:, ]*\)[^ ]*: /\1 /p' | sort -u >"$work/owners" || true
    # shellcheck disable=SC2046
    dpkg-query -W -f='${Package} ${Version}\n' $(cut -d' ' -f1 "$work/owners" | sort -u) 2>/dev/null |
        awk 'NR == FNR { if (!($1 in v)) v[$1] = $2; next } { print $2, $1, v[$1]; print "/usr" $2, $1, v[$1] }' - "$work/owners" >"$work/packages"
}

package_of() { # FILE: "name version" of what it came from
    local p
    case $1 in
    "$work"/empty/*) echo "slipway ${version:-0}"; return 0 ;;
    esac
    if [ "$1" = "$own_archive" ]; then
        set -- "$(find_library libarchive.a)"
    fi
    if command -v dpkg-query >/dev/null && [ "$sysroot" = / ]; then
        [ -f "$work/packages" ] || find_packages $(cut -d' ' -f2 "$work"/*.closure | sort -u) $(find_library libarchive.a || true)
        p=$(grep -m1 "^$1 " "$work/packages") && echo "${p#* }" || echo "unknown 0"
    elif command -v rpm >/dev/null && [ "$sysroot" = / ]; then
        rpm -qf --qf '%{NAME} %{VERSION}-%{RELEASE}\n' "$1" 2>/dev/null || echo "unknown 0"
    else
        echo "unknown 0"
    fi
}

write_sbom() { # FILE PROGRAM CLOSURE
    local name path pkg ver id sum sep=$',\n' rel="" ns from=rpm/fedora
    local -A sums=()
    while read -r sum path; do sums[$path]=$sum; done < <(cut -d' ' -f2 "$3" | xargs sha256sum)
    [ ! -e /etc/debian_version ] || from=deb/debian
    ns=$(printf '%s' "$2 $version $arch $manifest_digest" | sha256sum | cut -c1-32)
    {
        cat <<JSON
{"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
 "name": "$2-$(json "$version")-$arch", "documentNamespace": "https://slipway.dev/spdx/$2-$ns",
 "creationInfo": {"created": "$created", "creators": ["Tool: hack/image.sh", "Organization: slipway"]},
 "documentDescribes": ["SPDXRef-$2"],
 "packages": [
  {"SPDXID": "SPDXRef-$2", "name": "$2", "versionInfo": "$(json "$version")", "downloadLocation": "NOASSERTION",
   "filesAnalyzed": false, "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0", "copyrightText": "NOASSERTION",
   "primaryPackagePurpose": "APPLICATION",
   "checksums": [{"algorithm": "SHA256", "checksumValue": "$(digest "$work/bin/$2")"}]}
JSON
        while read -r name path; do
            read -r pkg ver < <(package_of "$path")
            id=SPDXRef-${name//[^A-Za-z0-9.-]/-}
            printf '%s  {"SPDXID": "%s", "name": "%s", "versionInfo": "%s", "downloadLocation": "NOASSERTION",\n' "$sep" "$id" "$pkg" "$(json "$ver")"
            printf '   "filesAnalyzed": false, "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION",\n'
            printf '   "primaryPackagePurpose": "LIBRARY", "packageFileName": "/usr/lib/slipway/%s",\n' "$name"
            [ "$pkg" = unknown ] || printf '   "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": "pkg:%s/%s@%s?arch=%s"}],\n' \
                "$from" "$pkg" "$(json "$ver")" "$arch"
            printf '   "checksums": [{"algorithm": "SHA256", "checksumValue": "%s"}]}' "${sums[$path]}"
            rel="$rel$sep  {\"spdxElementId\": \"SPDXRef-$2\", \"relationshipType\": \"DYNAMIC_LINK\", \"relatedSpdxElement\": \"$id\"}"
        done <"$3"
        printf '\n ],\n "relationships": [\n  {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-%s"}%s\n ]}\n' "$2" "$rel"
    } >"$1"
}

# ---- commands ------------------------------------------------------------------------------------
start() { # a place to work in, removed at the end
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    mkdir -p "$work/bin" "$work/layers" "$work/needed"
    : "${arch:=$(host_arch)}"
    case $arch in amd64 | arm64) ;; *) die "architecture '$arch': amd64 or arm64" ;; esac
    mapfile -t dirs < <(library_dirs)
}

identify() { # version, revision and times, as they go into labels
    version=$("$here/hack/version.sh")
    revision=$("$here/hack/version.sh" --commit) || revision=unknown
    epoch=${SOURCE_DATE_EPOCH:-$(git -C "$here" log -1 --format=%ct 2>/dev/null || echo 0)}
    created=$(date -u -d "@$epoch" +%Y-%m-%dT%H:%M:%SZ)
}

prepare() { # PROGRAM...: strip them, find what they link and what they share
    local p
    start
    make_archive
    for p in "$@"; do
        [ -x "$programs/$p" ] || die "$programs/$p is not there: build it first (make)"
        "${STRIP:-$(tool strip)}" -o "$work/bin/$p" "$programs/$p"
        chmod 755 "$work/bin/$p"
        closure "$work/bin/$p" >"$work/$p.closure"
    done
    group "$@"
}

# Libraries by the programs that need them, "PROGRAM,PROGRAM NAME PATH": a layer each, so that none is
# stored twice. The most shared come first.
group() { # PROGRAM...
    local p
    for p in "$@"; do sed "s/^/$p /" "$work/$p.closure"; done |
        awk '{ key = $2 " " $3; by[key] = by[key] == "" ? $1 : by[key] "," $1; n[key]++ } END { for (k in by) print n[k], by[k], k }' |
        sort -k1,1nr -k2 | cut -d' ' -f2- >"$work/groups"
}

# Which programs share the first layer: all that are built, whichever are packed now.
built_programs() {
    local p
    for p in $(sed -n 's/^PROGRAMS *:= *//p' "$here/Makefile"); do
        [ ! -x "$programs/$p" ] || echo "$p"
    done
}

pack_one() { # PROGRAM
    local p=$1 name path set _ reference=$registry/$1:$tag
    [ "$p" != slipway ] || [ -z "${IMG:-}" ] || reference=$IMG
    layers=() n_layers=0
    rm -rf "$work/root"; mkdir -p "$work/root"
    put_base "$work/root"
    put_loader "$work/root" "$work/bin/$p"
    add_layer "$work/root"
    while read -r set; do
        rm -rf "$work/root"; mkdir -p "$work/root"
        while read -r _ name path; do put_library "$work/root" "$name" "$path"; done < <(grep "^$set " "$work/groups")
        add_layer "$work/root"
    done < <(cut -d' ' -f1 "$work/groups" | uniq | grep -E "(^|,)$p(,|\$)")
    rm -rf "$work/root"; mkdir -p "$work/root"
    [ "$p" != slipway ] || put_recipes "$work/root"
    add_layer "$work/root"
    rm -rf "$work/root"; mkdir -p "$work/root/usr/bin"
    cp "$work/bin/$p" "$work/root/usr/bin/$p"
    add_layer "$work/root"
    config "$p" >"$work/config.json"
    write_oci "$out/$p.oci" "$work/config.json" "$reference"
    write_docker "$out/$p.tar" "$work/config.json" "$reference"
    write_sbom "$out/$p.spdx.json" "$p" "$work/$p.closure"
    printf '%-22s %s  %s  %s layers, %s KiB, compressed %s KiB\n' "$p" "$reference" "sha256:${manifest_digest:0:12}" "$n_layers" \
        "$(($(stat -c %s "$out/$p.tar") / 1024))" "$(($(cat "$out/$p.oci"/blobs/sha256/* | wc -c) / 1024))"
}

report_total() { # all images together, each layer once
    local raw=0 gz=0 f
    for f in "$work"/layers/*.tar; do raw=$((raw + $(stat -c %s "$f"))); done
    for f in "$work"/layers/*.tgz; do gz=$((gz + $(stat -c %s "$f"))); done
    printf '%-22s %s KiB, compressed %s KiB\n' "together" $((raw / 1024)) $((gz / 1024))
}

cmd_build() {
    out=$here/build/images registry=${REGISTRY:-quay.io/slipway} tag=${TAG:-}
    local names=() p
    while [ $# -gt 0 ]; do
        case $1 in
        --out) out=$2; shift ;;
        --registry) registry=$2; shift ;;
        --tag) tag=$2; shift ;;
        --programs) programs=$2; shift ;;
        --arch) arch=$2; shift ;;
        --sysroot) sysroot=$2; shift ;;
        -*) die "build: unknown option $1" ;;
        *) names+=("$1") ;;
        esac
        shift
    done
    [ ${#names[@]} -gt 0 ] || die "build: which programs?"
    : "${tag:=$(git -C "$here" rev-parse --abbrev-ref HEAD 2>/dev/null | tr / - || echo latest)}"
    identify
    mkdir -p "$out"
    out=$(cd "$out" && pwd)
    # shellcheck disable=SC2046
    prepare $( { built_programs; printf '%s\n' "${names[@]}"; } | sort -u)
    for p in "${names[@]}"; do pack_one "$p"; done
    report_total
}

# What an image holds, as a folder: for builds that pack it themselves (see Containerfile).
cmd_root() {
    [ $# = 2 ] || die "root: DIR PROGRAM"
    local name path
    prepare "$2"
    mkdir -p "$1/usr/bin"
    put_base "$1"
    put_loader "$1" "$work/bin/$2"
    while read -r name path; do put_library "$1" "$name" "$path"; done <"$work/$2.closure"
    [ "$2" != slipway ] || put_recipes "$1"
    cp "$work/bin/$2" "$1/usr/bin/$2"
}

# An OLM bundle, and a catalog of them, is an image of files and labels, which nobody runs.
files_config() { # DOCKERFILE
    local labels
    labels=$(sed -n 's/^LABEL \([^=]*\)=\(.*\)/   "\1": "\2",/p' "$1")
    cat <<JSON
{
 "architecture": "$arch",
 "config": {"Labels": {
${labels%,}
 }},
 "created": "$created",
 "history": [{"created": "$created", "created_by": "hack/image.sh"}],
 "os": "linux",
 "rootfs": {"diff_ids": ["sha256:${layers[0]}"], "type": "layers"}
}
JSON
}

start_files() { # REFERENCE
    out=$here/build/images tag=${1##*:} layers=() n_layers=0
    identify
    mkdir -p "$out"
    start
}
pack_files() { # NAME REFERENCE DOCKERFILE: $work/root, with the labels of the Dockerfile
    chmod -R u=rwX,go=rX "$work/root"
    add_layer "$work/root"
    files_config "$3" >"$work/config.json"
    write_oci "$out/$1.oci" "$work/config.json" "$2"
    write_docker "$out/$1.tar" "$work/config.json" "$2"
    echo "$2 sha256:$manifest_digest"
}

cmd_bundle() {
    [ $# = 2 ] || die "bundle: DIR REFERENCE"
    start_files "$2"
    mkdir -p "$work/root/tests"
    cp -R "$1/manifests" "$1/metadata" "$work/root/"
    cp -R "$1/tests/scorecard" "$work/root/tests/"
    pack_files slipway-bundle "$2" "$1/bundle.Dockerfile"
}

cmd_catalog() {
    [ $# = 2 ] || die "catalog: DIR REFERENCE"
    start_files "$2"
    mkdir -p "$work/root/configs"
    cp -R "$1/slipway" "$work/root/configs/"
    pack_files slipway-catalog "$2" "$1/catalog.Dockerfile"
}

# The media types are Helm's: its config is Chart.yaml as JSON, its one layer the archive.
cmd_chart() {
    [ $# = 2 ] || die "chart: FILE REFERENCE"
    local out=$here/build/images/slipway-chart.oci field value sep="" d conf
    start
    { tar -tzf "$1" >"$work/files" && tar -xzOf "$1" "$(sed -n '1s|/.*||p' "$work/files")/Chart.yaml" >"$work/Chart.yaml"; } 2>/dev/null || die "chart: $1 is no archive of a chart"
    for field in name version description type appVersion apiVersion; do
        value=$(sed -n "s/^$field: *//p" "$work/Chart.yaml" | sed 's/^"\(.*\)"$/\1/')
        [ -z "$value" ] || { printf '%s"%s": "%s"' "$sep" "$field" "$(json "$value")"; sep=', '; }
    done | sed 's/.*/{&}/' >"$work/config.json"
    rm -rf "$out"
    mkdir -p "$out/blobs/sha256"
    conf=$(blob "$out" "$work/config.json") d=$(blob "$out" "$1")
    cat >"$work/manifest.json" <<JSON
{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
 "config": {"mediaType": "application/vnd.cncf.helm.config.v1+json", "digest": "sha256:$conf", "size": $(stat -c %s "$work/config.json")},
 "layers": [{"mediaType": "application/vnd.cncf.helm.chart.content.v1.tar+gzip", "digest": "sha256:$d", "size": $(stat -c %s "$1")}]}
JSON
    finish_layout "$out" "$work/manifest.json" "\"annotations\": {\"org.opencontainers.image.ref.name\": \"$(json "${2##*:}")\"}"
    say "$out: $2"
}

cmd_closure() {
    local p name path
    prepare "$@"
    for p in "$@"; do
        printf '%s: %s bytes\n' "$p" "$(stat -c %s "$work/bin/$p")"
        while read -r name path; do printf '  %9d  %-24s %s\n' "$(stat -c %s "$path")" "$name" "$(package_of "$path")"; done <"$work/$p.closure"
        awk -v p="$p" '{ print $2 }' "$work/$p.closure" | xargs stat -c %s | awk '{ s += $1 } END { printf "  %9d  together\n", s }'
    done
}

cmd_load() {
    local f tool=${CONTAINER_COMMAND:-${PODMAN:-}}
    [ -n "$tool" ] || tool=$(command -v podman || command -v docker) || die "load: neither podman nor docker here (CONTAINER_COMMAND=...)"
    for f in "$@"; do "$tool" load -i "$f"; done
}

# send PREFIX REFERENCE: PREFIX.tar by a daemon or podman that has the logins, else PREFIX.oci by HTTP
cmd_send() {
    [ $# = 2 ] || die "send: PREFIX REFERENCE"
    [ -d "$1.oci" ] || die "send: $1.oci is not there (make local-image-build)"
    if [ -z "${CONTAINER_COMMAND:-}" ]; then
        cmd_push "$1.oci" "$2"
    else
        "$CONTAINER_COMMAND" load -i "$1.tar" && "$CONTAINER_COMMAND" push "$2"
    fi
}

# ---- push ----------------------------------------------------------------------------------------
# The distribution protocol: a blob that the registry has is not sent again. The login is that of
# docker or podman ($REGISTRY_AUTH_FILE, else ~/.docker/config.json), or $REGISTRY_USER:$REGISTRY_PASSWORD.
basic_login() { # HOST: base64, or nothing
    local f
    if [ -n "${REGISTRY_USER:-}" ]; then
        printf '%s:%s' "$REGISTRY_USER" "${REGISTRY_PASSWORD:-}" | base64 -w0
        return 0
    fi
    for f in "${REGISTRY_AUTH_FILE:-}" "${XDG_RUNTIME_DIR:-/nonexistent}/containers/auth.json" "$HOME/.docker/config.json"; do
        [ -n "$f" ] && [ -f "$f" ] || continue
        tr -d '\n\t ' <"$f" | grep -o "\"$1\":{[^}]*}" | sed -n 's/.*"auth":"\([^"]*\)".*/\1/p' | sed -n 1p
        return 0
    done
}

# call METHOD URL [CURL OPTION]...: headers into $work/headers, the status code printed. The login
# goes to curl through a file, so that no process list shows it.
call() {
    local method=$1 url=$2
    shift 2
    curl -sS --proto '=http,https' -K "$work/login" -X "$method" -D "$work/headers" -o "$work/body" -w '%{http_code}' "$@" "$url"
}

header() { tr -d '\r' <"$work/headers" | awk -v k="$1" 'tolower($1) == k ":" { sub(/^[^ ]* /, ""); v = $0 } END { print v }'; }

log_in() { # BASE HOST REPOSITORY
    local code login how realm service token
    : >"$work/login"
    chmod 600 "$work/login"
    code=$(call GET "$1/") || die "push: $2 cannot be reached"
    [ "$code" = 401 ] || return 0
    login=$(basic_login "$2")
    how=$(header www-authenticate)
    case $how in
    [Bb]asic*)
        [ -n "$login" ] || die "push: $2 wants a login, and there is none (podman login, docker login, or REGISTRY_USER)"
        echo "header = \"Authorization: Basic $login\"" >"$work/login"
        ;;
    [Bb]earer*)
        realm=$(sed -n 's/.*realm="\([^"]*\)".*/\1/p' <<<"$how")
        service=$(sed -n 's/.*service="\([^"]*\)".*/\1/p' <<<"$how")
        [ -z "$login" ] || echo "header = \"Authorization: Basic $login\"" >"$work/login"
        code=$(call GET "$realm?service=$service&scope=repository:$3:pull,push")
        token=$(tr -d '\n' <"$work/body" | sed -n 's/.*"\(access_\)\{0,1\}token" *: *"\([^"]*\)".*/\2/p')
        [ -n "$token" ] || die "push: $2 gives no token for $3 (HTTP $code)"
        echo "header = \"Authorization: Bearer $token\"" >"$work/login"
        ;;
    esac
}

push_blob() { # BASE REPOSITORY LAYOUT DIGEST
    local code where
    code=$(call HEAD "$1/$2/blobs/sha256:$4" -I)
    [ "$code" != 200 ] || return 0
    code=$(call POST "$1/$2/blobs/uploads/" -H 'Content-Length: 0')
    [ "$code" = 202 ] || die "push: no upload to $2 (HTTP $code): $(head -c 300 "$work/body")"
    where=$(header location)
    case $where in
    http*) ;;
    *) where=${1%/v2}$where ;;
    esac
    case $where in *\?*) where="$where&" ;; *) where="$where?" ;; esac
    code=$(call PUT "${where}digest=sha256:$4" -H 'Content-Type: application/octet-stream' --data-binary "@$3/blobs/sha256/$4")
    [ "$code" = 201 ] || die "push: blob sha256:$4 was not taken (HTTP $code): $(head -c 300 "$work/body")"
}

# put_manifest BASE REPOSITORY NAME FILE TYPE: under a tag, or under its digest
put_manifest() {
    local code
    code=$(call PUT "$1/$2/manifests/$3" -H "Content-Type: $5" --data-binary "@$4")
    [ "$code" = 201 ] || die "push: the manifest was not taken (HTTP $code): $(head -c 300 "$work/body")"
}

cmd_push() {
    [ $# -ge 2 ] || die "push: DIR... REFERENCE"
    local ref=${*: -1} layouts=("${@:1:$#-1}") host repo tag scheme=https manifest d layout name sep="" index
    for layout in "${layouts[@]}"; do
        [ -f "$layout/index.json" ] || die "push: $layout is no OCI layout (image.sh build makes one)"
    done
    command -v curl >/dev/null || die "push: curl is needed"
    host=${ref%%/*} repo=${ref#*/}
    tag=${repo##*:} repo=${repo%:*}
    case $host in localhost* | 127.*) scheme=http ;; esac
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    log_in "$scheme://$host/v2" "$host" "$repo"
    index=$work/index.json
    printf '{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [' >"$index"
    for layout in "${layouts[@]}"; do
        manifest=$(grep -o '"digest": "sha256:[0-9a-f]*"' "$layout/index.json" | sed -n 1p | grep -o '[0-9a-f]\{64\}')
        for d in $(grep -o 'sha256:[0-9a-f]\{64\}' "$layout/blobs/sha256/$manifest" | cut -d: -f2); do
            push_blob "$scheme://$host/v2" "$repo" "$layout" "$d"
        done
        name=$tag
        [ ${#layouts[@]} = 1 ] || name=sha256:$manifest
        put_manifest "$scheme://$host/v2" "$repo" "$name" "$layout/blobs/sha256/$manifest" application/vnd.oci.image.manifest.v1+json
        printf '%s\n {"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": "sha256:%s", "size": %d, "platform": {"architecture": "%s", "os": "linux"}}' \
            "$sep" "$manifest" "$(stat -c %s "$layout/blobs/sha256/$manifest")" "$(sed -n 's/.*"architecture": "\([a-z0-9]*\)".*/\1/p' "$layout/index.json" | sed -n 1p)" >>"$index"
        sep=,
    done
    if [ ${#layouts[@]} -gt 1 ]; then
        printf '\n]}\n' >>"$index"
        manifest=$(digest "$index")
        put_manifest "$scheme://$host/v2" "$repo" "$tag" "$index" application/vnd.oci.image.index.v1+json
    fi
    echo "$host/$repo@sha256:$manifest"
}

case "${1:-}" in
build | bundle | catalog | chart | root | closure | load | push | send) c=$1; shift; "cmd_$c" "$@" ;;
-h | --help | help) sed -n '2,31p' "$0" | sed 's/^# \{0,1\}//' ;;
*) sed -n '2,31p' "$0" | sed 's/^# \{0,1\}//' >&2; exit 2 ;;
esac
