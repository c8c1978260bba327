# A resource that takes only charts that somebody has signed: spec.chart.verify.
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/slipway}")
root=$PWD
for tool in kubectl python3 gpg gpg-agent gpgv; do
    command -v $tool >/dev/null || { skip "signed charts in the controller" "no $tool here"; plan; }
done
export SLIPWAY_CACHE_DIR=$tap_dir/cache HOME=$tap_dir TMPDIR=$tap_dir/tmp KUBECONFIG=$tap_dir/kubeconfig \
    GNUPGHOME=$tap_dir/gnupg
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy NO_PROXY no_proxy
mkdir -p "$TMPDIR" "$tap_dir/www" "$tap_dir/src/a/templates"
mkdir -m 700 "$GNUPGHOME"
pids=
trap 'for p in $pids; do kill "$p" 2>/dev/null; done; wait; gpgconf --kill all 2>/dev/null; rm -rf "$tap_dir"' EXIT
cd "$tap_dir" || exit 1

printf 'apiVersion: v2\nname: a\nversion: 1.0.0\n' >src/a/Chart.yaml
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n' >src/a/templates/0000-cm.yaml
"$slipway" package -d www src/a >/dev/null
digest="sha256:$(sha256sum <www/a-1.0.0.tgz | cut -d' ' -f1)"
for who in author stranger; do
    gpg --batch --quiet --passphrase '' --pinentry-mode loopback \
        --quick-generate-key "$who <$who@example.com>" default default never 2>/dev/null
done
gpg --batch --export author >author.gpg
gpg --batch --export --armor author >author.asc
gpg --batch --export stranger >stranger.gpg
sign() { # DIGEST
    { cat src/a/Chart.yaml; printf '\n...\nfiles:\n  a-1.0.0.tgz: %s\n' "$1"; } |
        gpg --batch --quiet --yes --passphrase '' --pinentry-mode loopback -u author --clearsign 2>/dev/null
}
sign "$digest" >www/a-1.0.0.tgz.prov

"$slipway" emulate --kubeconfig-out kubeconfig >emulate.log 2>&1 &
pids="$pids $!"
python3 "$root/test/emulator/chart/chart_server.py" www port server.log 2>server.err &
pids="$pids $!"
until_ok 20 test -s kubeconfig && until_ok 20 test -s port
http=http://127.0.0.1:$(cat port)/ok
printf 'apiVersion: v1\nentries:\n  a: [{name: a, version: 1.0.0, urls: [a-1.0.0.tgz], digest: "%s"}]\n' \
    "${digest#*:}" >www/index.yaml
kubectl apply -k "$root/deploy/crds" >/dev/null
for s in author.gpg author.asc stranger.gpg; do
    kubectl create secret generic "${s%.*}-${s#*.}" --from-file="$s" >/dev/null
done
kubectl create secret generic none --from-literal=unused= >/dev/null
export SLIPWAY_ALLOWED_SOURCES=127.0.0.1
"$slipway" controller --allowed-files "$tap_dir" --metrics-bind-address 0 --health-probe-bind-address 0 \
    --recipe-interval 500ms 2>controller.log &
pids="$pids $!"

resource() { # NAME SECRET [URL]
    kubectl apply -f - <<Y
apiVersion: sro.openshift.io/v1beta1
kind: SpecialResource
metadata: {name: $1}
spec:
  namespace: $1
  chart:
    {name: a, version: 1.0.0, repository: {name: r, url: "${3:-$http}"}, verify: {secretRef: {name: "$2", namespace: default}}}
Y
}
ready() { kubectl wait --for=condition=Ready "sr/$1" --timeout=60s; }
says() { # NAME WORDS: in the condition Errored
    kubectl get sr "$1" -o 'jsonpath={.status.conditions[?(@.type=="Errored")].message}' | grep -qF -- "$2"
}
refused() { # NAME WORDS...
    local name=$1
    shift
    for words; do
        until_ok 60 says "$name" "$words" || { kubectl get sr "$name" -o yaml; tail -5 controller.log; return 1; }
    done
    ! kubectl get cm -n "$name" a 2>/dev/null
}
taken() { resource "$@" && ready "$1" && kubectl get cm -n "$1" a; }
not_taken() { # NAME SECRET URL WORDS...
    resource "$1" "$2" "$3" && refused "$1" "${@:4}"
}

t "a chart that the author signed" taken good author-gpg
t "a key in ASCII armour" taken armored author-asc
t "a signed archive on this machine" taken here author-gpg "file://$tap_dir/www"
t "somebody else's keys: class, field, object and what to do" not_taken other stranger-gpg "" \
    "spec.chart.verify: $http/a-1.0.0.tgz.prov: the signature does not hold: the keyring has no key" \
    "[Failed: have the chart signed"
t "no such Secret" not_taken nobody nothing "" "spec.chart.verify.secretRef: " "make the Secret"
appears() { kubectl create secret generic nothing --from-file=author.gpg && ready nobody; }
t "it is waited for" appears
t "a Secret without keys" not_taken empty none "" "spec.chart.verify.secretRef: none: " "make the Secret"
t "git is not signed" not_taken git author-gpg "git+https://127.0.0.1:1/x" \
    "spec.chart.verify: only packed charts are signed"
t "nor is a folder" not_taken folder author-gpg "file://$tap_dir/src/a" \
    "$tap_dir/src/a: spec.chart.verify: only packed charts are signed"
t "nor a ConfigMap" not_taken map author-gpg "cm://default/hand" "spec.chart.verify: only packed charts are signed"
swapped() { # a new archive under the old name, its index with it: what stands stays
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {evil: "yes"}\n' >src/a/templates/0000-cm.yaml
    "$slipway" package -d www src/a >/dev/null
    local now
    now=$(sha256sum <www/a-1.0.0.tgz | cut -d' ' -f1)
    sed -i "s/${digest#*:}/$now/" www/index.yaml
    until_ok 60 says good "the archive is sha256:$now, signed was $digest" || { kubectl get sr good -o yaml; return 1; }
    [ -z "$(kubectl get cm -n good a -o 'jsonpath={.data.evil}')" ]
}
t "another archive under its name is not walked" swapped
resigned() {
    sign "sha256:$(sha256sum <www/a-1.0.0.tgz | cut -d' ' -f1)" >www/a-1.0.0.tgz.prov
    is_new() { [ "$(kubectl get cm -n good a -o 'jsonpath={.data.evil}')" = yes ]; }
    until_ok 60 is_new && ready good
}
t "signed, it is" resigned
nothing_is_left() { [ -z "$(ls -A "$TMPDIR")" ]; }
t "no keyring is left behind" until_ok 20 nothing_is_left
plan
