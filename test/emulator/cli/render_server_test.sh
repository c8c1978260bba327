# slipway render --dry-run=server: lookups of templates ask the cluster, as helm template's do.
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/slipway}")
export HOME=$tap_dir KUBECONFIG=$tap_dir/kubeconfig
pids=
trap 'for p in $pids; do kill "$p" 2>/dev/null; done; wait; rm -rf "$tap_dir"' EXIT
"$slipway" emulate --kubeconfig-out "$KUBECONFIG" >"$tap_dir/emulate.log" 2>&1 &
pids=$!
until_ok 20 test -s "$KUBECONFIG"
cd "$tap_dir" || exit 1
mkdir -p c/templates
printf 'apiVersion: v2\nname: c\nversion: 0.1.0\n' >c/Chart.yaml
cat >c/templates/a.yaml <<'END'
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data:
  one: {{ dig "metadata" "name" "nothing" (lookup "v1" "Namespace" "" "kube-system") | quote }}
  list: {{ dig "kind" "nothing" (lookup "v1" "Namespace" "" "") | quote }}
  items: {{ dig "items" list (lookup "v1" "Namespace" "" "") | len | lt 1 | quote }}
  none: {{ lookup "v1" "ConfigMap" "default" "none" | len | quote }}
  kind: {{ lookup "example.com/v1" "Other" "default" "x" | len | quote }}
END
rendered() { # WANT ARGS...: the lines of data
    local want=$1
    shift
    "$slipway" render c "$@" 2>err | sed -n 's/^  //p' | tr '\n' ' ' >got && [ "$(cat got)" = "$want" ] || { cat got err; return 1; }
}
refused() { # WORDS ARGS...
    local words=$1
    shift
    ! "$slipway" render c "$@" >got 2>err && [ ! -s got ] && grep -qF -- "$words" err || { cat got err; return 1; }
}
t "without it nothing is found" rendered 'one: "nothing" list: "nothing" items: "false" none: "0" kind: "0" '
t "objects and lists of the cluster are found; what is not there is empty" \
    rendered 'one: "kube-system" list: "NamespaceList" items: "true" none: "0" kind: "0" ' --dry-run=server
t "client is the default" rendered 'one: "nothing" list: "nothing" items: "false" none: "0" kind: "0" ' --dry-run=client
t "a cluster that does not answer is an error with the lookup" refused "lookup of Namespace 'kube-system'" --dry-run=server --server http://127.0.0.1:1
t "other words are refused" refused "--dry-run" --dry-run=cluster
plan
