#!/bin/bash
# The awk programs of the scripts mean the same to every awk there is: gawk (also as POSIX has it), mawk,
# busybox and the original one. Each program is read by each; and scripts run with an `awk` in their
# PATH that gives each call to all of them and compares what they print.
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}
pids=""
trap 'for p in $pids; do kill "$p" 2>/dev/null; done; rm -rf "$tap_dir"' EXIT
export AWK_LOG=$tap_dir/awk.log AWKS=$tap_dir/awks KUBECONFIG=$tap_dir/kubeconfig KUBECTL=kubectl TIMEOUT=30 REGISTRY=example.test/x
unset IMG TAG NAMESPACE PLATFORM RELATED_IMAGES EMULATED_MODE API_SERVER PULL_POLICY REPLICAS OPERATOR_NAMESPACE

for a in gawk "gawk --posix" mawk "busybox awk" original-awk; do
    command -v "${a%% *}" >/dev/null && echo "$a"
done >"$AWKS"
[ -s "$AWKS" ] || echo awk >"$AWKS"
# a sample: the first and one other, by SW_SEED; SW_ALL=1 for all of them
if [ -z "${SW_ALL:-}" ] && [ "$(wc -l <"$AWKS")" -gt 2 ]; then
    other=$((2 + ${SW_SEED:-0} % ($(wc -l <"$AWKS") - 1)))
    sed -n "1p;${other}p" "$AWKS" >"$AWKS.sample" && mv "$AWKS.sample" "$AWKS"
fi
echo "# awks: $(paste -sd, "$AWKS")"

# ---- each program is read by each awk
# PROGRAMS: one file a program, its -v names in the file of the same name with .v
programs() {
    python3 - "$tap_dir/programs" $(git ls-files hack make test .ci Makefile | xargs grep -lw awk) <<'PY'
import os, re, sys
to = sys.argv[1]
os.makedirs(to)
n = 0
for path in sys.argv[2:]:
    text = open(path).read()
    if path.endswith("awk_test.sh"):
        continue
    if os.path.basename(path) == "Makefile" or path.endswith(".mk"):
        text = text.replace("$$", "$")
    # the program is the first text in single quotes that stands alone (-F'\t' does not)
    for m in re.finditer(r"\bawk (-[^\n]*?|)(?<=\s)'([^']*)'", text):
        if "\\\n" in m.group(1) or " | " in re.sub(r"\$\(.*?\)", "", m.group(1)):
            continue
        n += 1
        name = "%s/%03d-%s" % (to, n, path.replace("/", "_"))
        open(name, "w").write(m.group(2) + "\n")
        open(name + ".v", "w").write("\n".join(re.findall(r"-v (\w+)=", m.group(1))))
print(n, "programs")
sys.exit(n < 20)
PY
}
read_by_all() { # what a program does with no input, and no variable, is its own affair
    local awk p v args bad=0
    cd "$tap_dir" || return 1
    while read -r awk; do
        for p in programs/*[a-z]; do
            [[ $p != *.v ]] || continue
            args=()
            for v in $(cat "$p.v"); do args+=(-v "$v=1"); done
            $awk "${args[@]}" -f "$p" </dev/null >/dev/null 2>"err"
            [ $? -le 1 ] && ! [ -s err ] || { echo "$awk: $p: $(head -2 err)"; bad=1; }
        done
    done <"$AWKS"
    return $bad
}

# ---- scripts with all awks at once
mkdir "$tap_dir/bin"
cat >"$tap_dir/bin/awk" <<'SH'
#!/bin/bash
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
args=("$@") n=0 stdin=1
for ((i = 0; i < ${#args[@]}; i++)); do
    case ${args[i]} in
    -v | -F | -f) i=$((i + 1)) ;;
    -?*) ;;
    *) n=$((n + 1)); [ $n = 1 ] || [ "${args[i]}" = - ] || stdin= ;;
    esac
done
[[ " $* " != *" - "* ]] || stdin=1
if [ -n "$stdin" ]; then cat >"$dir/in"; else : >"$dir/in"; fi
n=0 rc=0
while read -r awk <&3; do
    $awk "$@" <"$dir/in" >"$dir/out.$n" 2>"$dir/err.$n"
    code=$?
    [ $n -gt 0 ] || rc=$code
    if [ $code != $rc ] || ! cmp -s <(sort "$dir/out.0") <(sort "$dir/out.$n"); then # `for (k in a)` has no order
        { echo "$awk: exit $code instead of $rc, or another output: $*"; head -3 "$dir/err.$n"; diff "$dir/out.0" "$dir/out.$n" | head -5; } >>"$AWK_LOG"
    fi
    n=$((n + 1))
done 3<"$AWKS"
echo 1 >>"$AWK_LOG.calls"
cat "$dir/out.0"
cat "$dir/err.0" >&2
exit $rc
SH
chmod +x "$tap_dir/bin/awk"

same() { # COMMAND...: it succeeds, called awk, and all awks agree
    : >"$AWK_LOG"; : >"$AWK_LOG.calls"
    PATH=$tap_dir/bin:$PATH "$@" || { cat "$AWK_LOG"; return 1; }
    cat "$AWK_LOG"
    [ -s "$AWK_LOG.calls" ] && [ ! -s "$AWK_LOG" ]
}

deployed() { # also into a namespace of another name, with its images named
    make -s deploy TAG=master && [ "$(kubectl -n slipway get deployment slipway -o 'jsonpath={.spec.template.spec.containers[0].image}')" = example.test/x/slipway:master ] &&
        make -s undeploy && ! kubectl get namespace slipway 2>/dev/null &&
        NAMESPACE=gpu RELATED_IMAGES='[{"name":"das-webhook","image":"example.test/w:1"},{"name":"das-scheduler","image":"example.test/s:1"},{"name":"das-daemonset","image":"example.test/d:1"}]' make -s deploy TAG=master &&
        kubectl get namespace gpu && kubectl -n gpu get deployment slipway -o json | grep -q 'example.test/d:1' && NAMESPACE=gpu make -s undeploy
}
prereq() { local p; for p in cert-manager nfd nvidia; do SLIPWAY=$slipway hack/prereq.sh deploy $p --dry-run && SLIPWAY=$slipway hack/prereq.sh deploy $p --ocp --dry-run || return 1; done; }
closure() { hack/image.sh closure slipway; }

t "every awk reads every program" eval 'programs && read_by_all'
t "make help" same make -s help
if command -v kubectl >/dev/null; then
    "$slipway" emulate --kubeconfig-out "$KUBECONFIG" >"$tap_dir/emulate.log" 2>&1 &
    pids="$pids $!"
    until_ok 20 eval 'kubectl get --raw /readyz >/dev/null 2>&1'
    t "make deploy TAG=master, and undeploy" same deployed
    t "what is deployed beforehand" same prereq
else
    skip "make deploy TAG=master, and undeploy" "kubectl is needed"
fi
if [ -x build/slipway ]; then t "what an image holds" same closure; else skip "what an image holds" "build/slipway is not there"; fi
plan
