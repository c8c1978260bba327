#!/bin/bash
# The recipes that NVIDIA's catalogue resolves to, and its bundles, with the vendors' charts as far as they are at hand:
# each walks to Ready on an emulated cluster of its own, of its cloud, with its components' own health checks as gates and
# its validation behind them; then it is removed, and nothing is left. One of them by SW_SEED; SW_ALL=1: all (make
# test-aicr). ONLY=regex: those whose name matches. FIGURES=FILE: what each took, in seconds, is added to that file.
cd "$(dirname "$0")/../../.." || exit 1
. test/tap.sh
. test/aicr_charts.sh
slipway=${SLIPWAY_RELEASE:-${SLIPWAY:-build/slipway}} # a recipe has a thousand objects and more
shared=${SW_SHARED:-../shared}
[ -d "$shared/aicr/resolved" ] || { skip "NVIDIA's recipes" "no ../shared"; plan; }
export KUBECONFIG=$tap_dir/kubeconfig HOME=$tap_dir
export LC_ALL=C https_proxy=http://127.0.0.1:9 http_proxy=http://127.0.0.1:9 no_proxy=127.0.0.1 # nothing is fetched: no server is there
finish() {
    stop emulate
    rm -rf "$tap_dir"
}
trap finish EXIT

cloud() { # RECIPE: the --platform that it is for
    case $1 in *eks*) echo eks ;; *gke*) echo gke ;; *aks*) echo aks ;; *) echo kind ;; esac
}
start() {
    stop emulate
    rm -f "$KUBECONFIG"
    "$slipway" emulate --kube-version 1.34 --platform "$(cloud "$called")" --delays 0.1 --kubeconfig-out "$KUBECONFIG" >"$tap_dir/emulate" 2>&1 &
    echo $! >"$tap_dir/emulate.pid"
    until_ok 60 test -s "$KUBECONFIG" || return 1
    # the definitions of SpecialResources come with the first run
    "$slipway" run test/emulator/operator/charts/no-object --timeout 5s >"$tap_dir/o" 2>&1
    "$slipway" uninstall --yes --keep-operator no-object >"$tap_dir/o" 2>&1
    names >"$tap_dir/before"
}
names() { # each object of the cluster, but Events, Leases, and what the cluster and slipway write down themselves
    python3 - "$(sed -n 's/^ *server: //p' "$KUBECONFIG")" <<'PY' | LC_ALL=C sort
import json, sys, urllib.request

def get(path):
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(sys.argv[1] + path) as answer:
        return json.load(answer)

for version in ["/api/v1"] + ["/apis/" + g["preferredVersion"]["groupVersion"] for g in get("/apis")["groups"]]:
    for kind in get(version)["resources"]:
        if "/" in kind["name"] or "list" not in kind["verbs"] or kind["kind"] in ("Event", "Lease", "SpecialResource"):
            continue
        for o in get(version + "/" + kind["name"])["items"]:
            print(kind["kind"], o["metadata"].get("namespace", "-"), o["metadata"]["name"])
PY
}
walk() {
    "$slipway" run "$from" --name "$called" --data "$shared/aicr/catalog" --charts-dir "$tap_dir/charts" --ignore-constraints --timeout 300s >"$tap_dir/walk" 2>&1 &&
        grep -q "^ *[0-9.ms]* *$called: Ready$" "$tap_dir/walk" || { grep -v 'of whatever version' "$tap_dir/walk" | tail -n 30; return 1; }
}
# ordered: each component began when the last state of each component that it needs was Ready; each health check of the
# catalogue was one of these states, but those of objects that the cloud's manifests do not have; each check of the validation
# that the catalogue has has run
ordered() {
    rm -rf "$tap_dir/made" && "$slipway" create "$tap_dir/made" --from-aicr --recipe "$from" --data "$shared/aicr/catalog" >"$tap_dir/notes" 2>&1 || { cat "$tap_dir/notes"; return 1; }
    python3 - "$tap_dir/walk" "$recipe" "$shared/aicr/catalog" "$tap_dir/notes" <<'PY'
import os, re, sys

walk, recipe, catalog, notes = sys.argv[1:]
started, ready, bad = {}, {}, []
for line, text in enumerate(open(walk)):
    m = re.search(r"State(Started|Ready): state ([^:]+): ", text)
    if m and m.group(1) == "Started":
        started.setdefault(m.group(2), line)
    elif m:
        ready[m.group(2)] = line
needs, off, checks, name, section, key = {}, set(), [], "", "", ""
for text in open(recipe):
    m = re.match(r"(\w+):", text)
    section = m.group(1) if m else section
    if section == "componentRefs":
        m = re.match(r"  - name: (\S+)", text)
        name = m.group(1) if m else name
        needs.setdefault(name, []) if name else None
        m = re.match(r"    (\w+):", text)
        key = m.group(1) if m else key
        m = re.match(r"      - (\S+)$", text)
        if key == "dependencyRefs" and m:
            needs[name].append(m.group(1))
        if key == "overrides" and re.match(r"      enabled: false", text):
            off.add(name)
    if section == "validation":
        m = re.match(r"      - (\S+)$", text)
        checks += [m.group(1)] if m else []

def states(component):
    return [s for s in started if re.fullmatch(re.escape(component) + r"(-check|-pre|-post)?(\..*)?", s)]

for name in needs.keys() - off:
    if not states(name):
        bad.append(f"{name}: no state of it began")
    for other in set(needs[name]) - off:
        late = [s for s in states(other) if ready.get(s, 1 << 30) > min(started[s] for s in states(name))]
        bad += [f"{name} began before {s} was Ready" for s in late]
    check = f"{catalog}/checks/{name}/health-check.yaml"
    left_out = f"{name}: its health check asks for" in open(notes).read()
    if os.path.exists(check) and f"{name}-check" not in ready and not left_out:
        bad.append(f"{name}: its health check was no gate")
known = re.findall(r"^ *-? *name: (\S+)", open(f"{catalog}/validators/catalog.yaml").read(), re.M)
bad += [f"the check {c} has not run" for c in checks if c in known and f"validate-{c}" not in ready]
print(len(needs) - len(off), "components,", len(ready), "states,", sum(s.startswith("validate-") for s in ready), "checks")
print("\n".join(bad))
sys.exit(bool(bad))
PY
}
remove() {
    "$slipway" uninstall --yes --keep-operator "$called" --timeout 300s >"$tap_dir/o" 2>"$tap_dir/e" || { cat "$tap_dir/e"; return 1; }
    until_ok 20 gone
}
# gone: only what a chart says is to be kept stays (helm.sh/resource-policy), which uninstall names, and what every namespace has
gone() {
    names >"$tap_dir/after"
    sed -n 's/^keep \([A-Za-z]*\) \(.*\): its recipe says so$/\1 \2/p; s/^keep \(CustomResourceDefinition\) \([^ ]*\): .*/\1 \2/p' "$tap_dir/o" |
        sed 's/^\([^ ]*\) \([^/]*\)$/\1 - \2/; s/\// /; s/^Namespace - \(.*\)/&\nServiceAccount \1 default\nConfigMap \1 kube-root-ca.crt/' | sort -u >"$tap_dir/kept"
    comm -23 "$tap_dir/after" <(sort -u "$tap_dir/before" "$tap_dir/kept") >"$tap_dir/left"
    [ ! -s "$tap_dir/left" ] && [ -z "$(comm -23 "$tap_dir/before" "$tap_dir/after")" ] || { sed 's/^/left: /' "$tap_dir/left"; return 1; }
}

aicr_charts "$shared" "$tap_dir/charts" || exit 1
recipes=("$shared"/aicr/resolved/*.yaml "$shared"/aicr/bundles/*)
[ -n "${SW_ALL:-}${ONLY:-}" ] || { echo "# one of ${#recipes[@]}, SW_SEED=${SW_SEED:=0}; all: SW_ALL=1"; recipes=("${recipes[SW_SEED % ${#recipes[@]}]}"); }
nth=0
for from in "${recipes[@]}"; do
    called=$(basename "$from" .yaml) recipe=$from nth=$((nth + 1))
    [ -f "$from" ] || { called=bundle-$called recipe=$from/recipe.yaml; }
    [[ $called =~ ${ONLY:-.} ]] || continue
    echo "# $nth of ${#recipes[@]}, $(date +%H:%M:%S): $called"
    start || exit 1
    since=$SECONDS
    t "$called walks to Ready" walk
    [ -z "${FIGURES:-}" ] || echo "$called $((SECONDS - since))" >>"$FIGURES"
    t "$called: the health checks of what a component needs come before it" ordered
    t "$called is removed, and nothing is left" remove
done
plan
