# Who signed a chart: .prov files beside archives on this machine and on servers, and in registries.
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/slipway}")
root=$PWD
export SLIPWAY_CACHE_DIR=$tap_dir/cache HOME=$tap_dir/home GNUPGHOME=$tap_dir/gnupg
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy NO_PROXY no_proxy
for p in gpg gpg-agent gpgv python3; do
    command -v $p >/dev/null || { skip "signed charts" "no $p here"; plan; }
done
cd "$tap_dir" || exit 1
mkdir -p www src/a/templates home
mkdir -m 700 gnupg
printf 'apiVersion: v2\nname: a\nversion: 1.0.0\n' >src/a/Chart.yaml
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n' >src/a/templates/cm.yaml
"$slipway" package -d www src/a >/dev/null

for who in author stranger; do
    gpg --batch --quiet --passphrase '' --pinentry-mode loopback \
        --quick-generate-key "$who <$who@example.com>" default default never 2>/dev/null
    gpg --batch --export "$who" >"$who.gpg"
done
sign() { # WHO ARCHIVE DIGEST FILE: as helm package --sign writes it
    { cat src/a/Chart.yaml; printf '\n...\nfiles:\n  %s: %s\n' "$2" "$3"; } |
        gpg --batch --quiet --yes --passphrase '' --pinentry-mode loopback -u "$1" \
            --clearsign >"$4" 2>/dev/null
}
digest="sha256:$(sha256sum <www/a-1.0.0.tgz | cut -d' ' -f1)"
sign author a-1.0.0.tgz "$digest" www/a-1.0.0.tgz.prov

other() { # NAME: another copy of the archive
    cp www/a-1.0.0.tgz "$1.tgz"
    sign author "$1.tgz" "${2:-$digest}" "$1.tgz.prov"
}
other b
other wrong "sha256:$(printf '%064d' 0)"
cp b.tgz unsigned.tgz
cp b.tgz renamed.tgz; cp b.tgz.prov renamed.tgz.prov
cp b.tgz edited.tgz; sed 's/name: a/name: z/' b.tgz.prov >edited.tgz.prov
cp b.tgz plain.tgz; printf 'name: a\n\n...\nfiles:\n  plain.tgz: %s\n' "$digest" >plain.tgz.prov
# unsigned words around the signed ones count for nothing
cp b.tgz around.tgz; { printf 'x: y\n\n...\nfiles:\n  around.tgz: %s\n\n' "$digest"; cat b.tgz.prov; } >around.tgz.prov

python3 "$root/test/emulator/chart/chart_server.py" www port log 2>err &
server=$!
trap 'kill $server 2>/dev/null; gpgconf --kill all 2>/dev/null; rm -rf "$tap_dir"' EXIT
until_ok 20 test -s port
http=http://127.0.0.1:$(cat port)
cat >www/index.yaml <<Y
apiVersion: v1
entries:
  a: [{name: a, version: 1.0.0, urls: [a-1.0.0.tgz], digest: "${digest#*:}"}]
Y

got() { # WORDS COMMAND...
    local words=$1
    shift
    "$@" >stdout && cat stdout && grep -qF -- "$words" stdout
}
fails() { # WORDS COMMAND...
    local words=$1
    shift
    ! "$@" >stdout 2>stderr && cat stderr && grep -qF -- "$words" stderr
}
v() { "$slipway" fetch --verify --keyring author.gpg "$@"; }

t "a signed archive, and who signed it" got "author <author@example.com>" v b.tgz
t "the keyring is found where gpg has it" got "signed by" \
    env GNUPGHOME="$tap_dir/gnupg" "$slipway" fetch --verify b.tgz
t "render takes it too" got "name: a" "$slipway" render --verify --keyring author.gpg b.tgz
t "an archive on a server" got "signed by" v "$http/ok/a-1.0.0.tgz"
t "a chart of a repository" got "signed by" v a --repo "$http/ok"
t "and once more from the cache" got "(cached)" v a --repo "$http/ok"
t "a chart in a registry" got "signed by" v "oci://127.0.0.1:$(cat port)/charts/a:1.0.0" \
    --insecure-skip-tls-verify --username user --password "pass word"
t "nobody signed it" fails "unsigned.tgz.prov" v unsigned.tgz
t "somebody else signed it" fails "the keyring has no key" \
    "$slipway" fetch --verify --keyring stranger.gpg b.tgz
t "another archive was signed" fails "the archive is $digest, signed was sha256:0000" v wrong.tgz
t "an archive of another name was signed" fails "does not name renamed.tgz" v renamed.tgz
t "the text was edited after it was signed" fails "the signature does not hold: BAD signature" v edited.tgz
t "a text without a signature" fails "the signature does not hold" v plain.tgz
t "words around the signed ones" fails "around.tgz" v around.tgz
t "no signature on a server" fails "--verify: $http/ok/b.tgz.prov: HTTP 404" \
    bash -c 'cp b.tgz www/b.tgz; "$@"' - "$slipway" fetch --verify --keyring author.gpg "$http/ok/b.tgz"
t "no keyring" fails "there is no keyring in $tap_dir/none" \
    env GNUPGHOME="$tap_dir/none" "$slipway" fetch --verify b.tgz
t "a keyring that is not there" fails "the keyring nowhere.gpg" \
    "$slipway" fetch --verify --keyring nowhere.gpg b.tgz
t "a folder cannot be signed" fails "only packed charts are signed" v src/a
t "a ConfigMap neither" fails "only packed charts are signed" v cm://x/y
keeps_signatures() { # slipway dependency --verify: beside the archives, as they came
    export SLIPWAY_STAND_INS=
    rm -rf top && mkdir top
    printf 'apiVersion: v1\nentries:\n  a:\n  - {name: a, version: 1.0.0, urls: [a-1.0.0.tgz]}\n' >www/index.yaml
    printf 'apiVersion: v2\nname: top\nversion: 1.0.0\ndependencies:\n- {name: a, version: 1.x, repository: "%s/ok"}\n' "$http" >top/Chart.yaml
    "$slipway" dependency update --verify --keyring author.gpg top && cmp www/a-1.0.0.tgz.prov top/charts/a-1.0.0.tgz.prov && "$slipway" render top >/dev/null &&
        "$slipway" dependency update top && [ ! -e top/charts/a-1.0.0.tgz.prov ] && [ -e top/charts/a-1.0.0.tgz ] || return 1
    ! "$slipway" dependency build --verify --keyring stranger.gpg top
}
t "charts/ keeps the signatures that were checked" keeps_signatures
t "without gpgv it is said" fails "gpgv, which cannot be run" \
    env PATH=/nonexistent "$slipway" fetch --verify --keyring author.gpg b.tgz
plan
