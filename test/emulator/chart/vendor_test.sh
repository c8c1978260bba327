#!/bin/bash
# slipway vendor: which charts a recipe is pinned to, what another version changes, and that what was locked is what one gets.
cd "$(dirname "$0")/../../.." || exit 1
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/test/slipway}")
export SLIPWAY_CACHE_DIR='' SLIPWAY_STAND_INS=
unset SLIPWAY_CHARTS_DIR
server=$PWD/test/emulator/chart/chart_server.py
cd "$tap_dir" || exit 1

stop() {
    [ ! -s "$tap_dir/pids" ] || xargs kill <"$tap_dir/pids" 2>/dev/null
    rm -rf "$tap_dir"
}
trap stop EXIT

# The vendor's chart: version 1.1.0 has another image, one right more, one value less, and a definition that grew.
engine() { # VERSION IMAGE VERBS VALUES FIELD
    rm -rf src && mkdir -p src/templates src/crds www
    printf 'apiVersion: v2\nname: engine\nversion: %s\nappVersion: "%s"\n' "$1" "${1#v}" >src/Chart.yaml
    printf '%b' "$4" >src/values.yaml
    cat >src/crds/d.yaml <<END
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: engines.example.com}
spec:
  group: example.com
  names: {kind: Engine, plural: engines}
  scope: Cluster
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {$5}}}}}
END
    cat >src/templates/all.yaml <<END
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: engine}
rules:
- {apiGroups: [apps], resources: [deployments], verbs: [$3]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: engine}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: engine}}
  template:
    metadata: {labels: {app: engine}}
    spec: {containers: [{name: c, image: $2}]}
END
    "$slipway" package src -d www >/dev/null
}
state() { # VERSION [REPOSITORY]
    rm -rf state && mkdir -p state/templates
    cat >state/Chart.yaml <<END
# Our thin chart.
apiVersion: v2
name: state
version: 0.1.0
appVersion: "1.0.0"   # the vendor's
dependencies:
- name: engine   # theirs
  version: $1
  repository: ${2:-$http}
END
    printf 'engine:\n  replicas: 2\n  legacy: true\n' >state/values.yaml
    echo 'entry' >state/templates/_helpers.tpl
}
serves() {
    engine 1.0.0 quay.io/e/engine:1.0.0 get 'replicas: 1\nlegacy: false\nlevel: info\n' 'size: {type: integer}' &&
        engine 1.1.0 quay.io/e/engine:1.1.0 'get, patch' 'replicas: 1\nlevel: debug\n' 'size: {type: string}, zone: {type: string}' || return 1
    printf 'apiVersion: v1\nentries:\n  engine:\n  - {name: engine, version: 1.0.0, urls: [engine-1.0.0.tgz]}\n  - {name: engine, version: 1.1.0, urls: [engine-1.1.0.tgz]}\n' \
        >www/index.yaml
    python3 "$server" www port log 2>server.err &
    echo $! >>pids
    until_ok 20 test -s port
}
vendor() { "$slipway" vendor "$@" >o 2>err || { cat o err; return 1; }; }
refused() { # WORDS ARGUMENT...
    ! "$slipway" vendor "${@:2}" >o 2>&1 && grep -q -- "$1" o || { cat o; return 1; }
}
digest() { echo "sha256:$(sha256sum "www/engine-$1.tgz" | cut -d' ' -f1)"; }

# ---- list ----
lists() { state 1.0.0 && vendor list state && grep -q "^state *engine *1.0.0 *$http *no$" o; }
lists_offline() { state 1.0.0 https://charts.example.com && vendor list state && grep -q 'engine *1.0.0' o; }
lists_newest() { state 1.0.0 && vendor list state --newest && grep -q 'NEWEST' o && grep -q 'engine *1.0.0 *1.1.0' o; }
lists_below() {
    state 1.0.0 && mkdir -p top &&
        printf 'apiVersion: v2\nname: top\nversion: 0.1.0\ndependencies:\n- {name: state, version: 0.1.0, repository: "file://../state"}\n' \
            >top/Chart.yaml && vendor list top -o json && grep -q '"name": "engine"' o && grep -q '"locked": false' o
}

# ---- lock ----
locks() {
    state '^1.0' && vendor lock state && grep -q '^wrote state/Chart.lock$' o && grep -q 'version: 1.1.0' state/Chart.lock &&
        grep -q "digest: $(digest 1.1.0)" state/slipway.lock && vendor list state && grep -q "1.1.0 .*$(digest 1.1.0)" o
}
locked_is_taken() {
    state '^1.0' && printf '%s\n' "$(sed 's/\^1.0/1.0.0/' state/Chart.yaml)" >state/Chart.yaml && vendor lock state &&
        "$slipway" render state >o 2>err && grep -q 'engine:1.0.0' o || { cat o err; return 1; }
}
other_bytes() {
    state 1.0.0 && vendor lock state && cp www/engine-1.0.0.tgz kept && (cd src && printf '# \n' >>values.yaml) &&
        cp www/engine-1.1.0.tgz kept.1 && sed -i 's/^version:.*/version: 1.0.0/' src/Chart.yaml && "$slipway" package src -d www >/dev/null || return 1
    "$slipway" render state >o 2>&1
    local rc=$?
    mv kept www/engine-1.0.0.tgz
    [ $rc -eq 2 ] && grep -q "its digest is sha256:.*slipway.lock has $(digest 1.0.0): what was published has changed" o || { cat o; return 1; }
}
stale() {
    state 1.0.0 && vendor lock state && sed -i 's/version: 1.0.0/version: 1.1.0/' state/Chart.yaml || return 1
    ! "$slipway" render state >o 2>&1 && grep -q 'its digest is of other dependencies.*slipway vendor lock' o && vendor lock state &&
        "$slipway" render state | grep -q 'engine:1.1.0'
}
of_others() { # something else has written Chart.lock, or died between the two: nothing is taken without a digest
    state 1.0.0 && vendor lock state && cp state/slipway.lock old.lock && state 1.1.0 && vendor lock state && cp old.lock state/slipway.lock || return 1
    ! "$slipway" render state >o 2>&1 && grep -q 'engine-1.1.0.tgz: slipway.lock has digests of other versions alone: slipway vendor lock takes this one' o || { cat o; return 1; }
    vendor list state && grep -q '1.1.0 .*stale$' o && vendor lock state && "$slipway" render state | grep -q 'engine:1.1.0'
}
modes() { # as they were, else as the umask has it
    state 1.0.0 && chmod 664 state/Chart.yaml && (umask 022 && vendor lock state && vendor update state --version 1.1.0) &&
        [ "$(stat -c %a state/Chart.yaml state/Chart.lock state/slipway.lock | paste -sd' ')" = '664 644 644' ]
}
killed() { killed_at 1 "$@"; }
killed_at() { # N ARGUMENT...: with -9, as it is about to put the Nth file in its place; the next one leaves nothing of that
    ! ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" strace -f -qq -o calls -e trace=rename,renameat,renameat2 \
        -e inject=rename,renameat,renameat2:signal=KILL:when="$1" "$slipway" "${@:2}" >o 2>&1 && grep -q 'killed by SIGKILL' calls || { cat o calls; return 1; }
}
killed_at_work() {
    state 1.0.0 && cp state/Chart.yaml want && killed vendor update state --version 1.1.0 && diff want state/Chart.yaml &&
        [ -n "$(left state)" ] && vendor update state --version 1.1.0 && [ -z "$(left state)" ] && is_locked || return 1
    killed vendor lock state && vendor lock state && [ -z "$(left state)" ] && killed dependency update state && [ -n "$(left state)" ] &&
        "$slipway" dependency update state >o 2>&1 && [ -z "$(left state)" ] || { cat o; left state; return 1; }
}
killed_between() { # at each file that it writes: the next one completes it, from the version that was locked
    local n
    for n in 1 2 3; do
        state 1.0.0 && vendor lock state && killed_at "$n" vendor update state --version 1.1.0 && vendor list state &&
            "$slipway" vendor update state --version 1.1.0 >o 2>err && is_locked && [ -z "$(left state)" ] || { echo "at rename $n"; cat o err; return 1; }
    done
}
# As a process that is killed leaves the folder: the first files are new, the others old.
half_way() { # NEW FILE...
    state 1.0.0 && vendor lock state && rm -rf new && cp -r state new && (cd new && "$slipway" vendor update . --version 1.1.0 >/dev/null) || return 1
    local file
    for file; do cp "new/$file" state/ || return 1; done
}
half_updated() {
    half_way Chart.yaml && vendor update state --version 1.1.0 && shows "state: engine 1.0.0 -> 1.1.0 ($http)" && shows '  + quay.io/e/engine:1.1.0' &&
        is_locked && [ ! -s err ] && half_way Chart.yaml Chart.lock && vendor update state --version 1.1.0 && is_locked && [ ! -s err ] &&
        vendor list state && grep -q "1.1.0 .*$(digest 1.1.0)\$" o && [ ! -s err ] || { cat o err; return 1; }
}
half_updated_lists() {
    local file
    for file in Chart.yaml 'Chart.yaml Chart.lock'; do
        half_way $file && vendor list state && grep -q "^state *engine *1.1.0 *$http *stale$" o &&
            grep -q 'state: .* (engine 1.1.0): slipway vendor lock state locks these, and slipway vendor update state engine goes on' err &&
            vendor list state -o json && python3 -c 'import json; d = json.load(open("o"))[0]; assert d["stale"] and not d["locked"] and not d["digest"]' ||
            { cat o err; return 1; }
    done
}
half_updated_fetches_nothing() { # by a lock that is stale nothing is rendered
    half_way Chart.yaml && ! "$slipway" render state >o 2>&1 && grep -q 'its digest is of other dependencies' o
}
left() { find "$1" -name '.*' -type f; }
in_turn() { # many at once: all succeed, and the three files are of one version
    local n pids=() version want
    state 1.0.0 && vendor lock state || return 1
    for n in 1 2 3 4 5 6; do
        "$slipway" vendor update state --version "1.$((n % 2)).0" >"turn.$n" 2>&1 &
        pids+=($!)
    done
    for n in 1 2 3 4 5 6; do wait "${pids[n - 1]}" || { cat "turn.$n"; return 1; }; done
    version=$(sed -n 's/^  version: //p' state/Chart.yaml) && want=$(digest "$version") &&
        grep -q "version: $version" state/Chart.lock && grep -q "$want" state/slipway.lock && "$slipway" render state | grep -q "engine:$version" &&
        [ -z "$(left state)" ]
}
waits() { # for whoever writes to the folder, and says so; then it goes on with what is there
    state 1.0.0 && vendor lock state && exec 9<state && flock 9 || return 1
    "$slipway" vendor update state --version 1.1.0 >turn 2>&1 9<&- &
    local pid=$! ok
    until_ok 20 grep -q 'slipway vendor: waiting for another slipway that writes to state' turn && grep -q 'version: 1.0.0' state/Chart.yaml
    ok=$?
    exec 9<&-
    wait "$pid" && [ $ok = 0 ] && is_locked || { cat turn; return 1; }
}
changed_bytes() { # they replace what is published as 1.0.0
    cp www/engine-1.0.0.tgz kept && rm -rf other && mkdir other && tar xzf kept -C other && echo '# other' >>other/engine/values.yaml &&
        "$slipway" package other/engine -d www >/dev/null
}
changed_is_refused() { # by lock: only where it is said
    local old new
    state 1.0.0 && vendor lock state && cp -r state as_before && old=$(digest 1.0.0) && changed_bytes || return 1
    new=$(digest 1.0.0)
    [ "$old" != "$new" ] &&
        refused "state: engine 1.0.0: its digest is $new, and slipway.lock has $old: what was published has changed; .*vendor lock --accept-changed" lock state &&
        refused 'what was published has changed' lock state --dry-run && diff -r as_before state && rm -r as_before
}
changed_is_accepted() {
    local old new
    old=sha256:$(sha256sum kept | cut -d' ' -f1) new=$(digest 1.0.0)
    vendor lock state --accept-changed && grep -q "warning: state: engine 1.0.0: its digest is $new, and slipway.lock has $old" err &&
        grep -q "$new" state/slipway.lock && vendor lock state && [ ! -s err ]
    local rc=$?
    mv kept www/engine-1.0.0.tgz
    return $rc
}
at_hand() {
    state 1.0.0 https://charts.example.com && mkdir -p hand && rm -rf hand/engine && cp -r src hand/engine &&
        vendor lock state --charts-dir hand && [ ! -e state/slipway.lock ] && grep -q 'version: 1.0.0' state/Chart.lock &&
        grep -q 'engine 1.0.0: taken from a folder.*no digest is locked' err
}
at_hand_range() {
    state '^1.0' https://charts.example.com && refused "is at hand for '^1.0', a range of versions" lock state --charts-dir hand
}
no_stand_ins() { state 1.0.0 && SLIPWAY_STAND_INS=1 refused 'stand-ins: only the vendors.* own charts are pinned' lock state; }
reproducible() {
    state 1.0.0 && SOURCE_DATE_EPOCH=1000000000 vendor lock state && grep -q 'generated: "2001-09-09T01:46:40Z"' state/Chart.lock
}
by_registry() {
    state 1.0.0 "oci://127.0.0.1:$(cat port)/charts" &&
        vendor lock state --username user --password 'pass word' && grep -q "$(digest 1.0.0)" state/slipway.lock
}

# ---- update ----
shows() { # WORDS: a line of the output, anywhere
    grep -qxF -- "$1" o || { echo "missing: $1"; cat o err; return 1; }
}
updates() {
    state 1.0.0 && vendor lock state && vendor update state --version 1.1.0 &&
        shows "state: engine 1.0.0 -> 1.1.0 ($http)" &&
        shows '  ~ level: "info" -> "debug"' && shows '  - engine.legacy' &&
        shows '  ~ engines.example.com v1.spec.size: integer -> string' && shows '  + engines.example.com v1.spec.zone: string' &&
        shows '  - quay.io/e/engine:1.0.0' && shows '  + quay.io/e/engine:1.1.0' &&
        shows '  ~ ClusterRole engine: deployments.apps: get -> get, patch' && shows 'wrote state/Chart.yaml'
}
keeps_the_rest() {
    sed -e 's/version: 1.0.0/version: 1.1.0/' -e 's/appVersion: "1.0.0"/appVersion: "1.1.0"/' >want <<END
# Our thin chart.
apiVersion: v2
name: state
version: 0.1.0
appVersion: "1.0.0"   # the vendor's
dependencies:
- name: engine   # theirs
  version: 1.0.0
  repository: $http
END
    diff want state/Chart.yaml
}
is_locked() { grep -q "$(digest 1.1.0)" state/slipway.lock && "$slipway" render state | grep -q 'engine:1.1.0'; }
to_newest() { state 1.0.0 && vendor update state engine && grep -q 'version: 1.1.0' state/Chart.yaml; }
and_back() { vendor update state --version 1.0.0 && grep -q 'version: 1.0.0' state/Chart.yaml && "$slipway" render state | grep -q 'engine:1.0.0'; }
only_shows() {
    state 1.0.0 && cp -r state before && vendor update state --dry-run -o json && diff -r before state && rm -r before &&
        python3 -c 'import json; d = json.load(open("o")); assert d["to"] == "1.1.0" and d["changes"]["rights"]["changed"] and not d["written"]'
}
same() { vendor update state --version 1.0.0 && shows 'nothing of what it installs changes'; }
switched_off() { # it renders nothing, and its values are those that it would begin with
    state 1.0.0 && sed -i 's/^  version: 1.0.0/&\n  condition: engine.enabled/' state/Chart.yaml && printf '  enabled: false\n' >>state/values.yaml &&
        vendor update state && shows '  ~ level: "info" -> "debug"' && ! grep -q 'images' o && grep -q 'version: 1.1.0' state/Chart.yaml
}
# The version from which one comes need not be published any more.
from_nowhere() {
    state 0.9.0 && vendor update state && grep -q "compared with nothing" err && shows "state: engine 1.1.0 ($http)" &&
        grep -q 'version: 1.1.0' state/Chart.yaml
}
in_one_line() {
    state 1.0.0 && sed -i -e '/^- name/,$d' state/Chart.yaml && echo "- {repository: \"$http\", version: '1.0.0', name: engine}" >>state/Chart.yaml &&
        vendor update state && grep -q "version: '1.1.0', name: engine" state/Chart.yaml
}
by_people() {
    state 1.0.0 && sed -i -e 's/version: 1.0.0/version: \&v 1.0.0/' state/Chart.yaml && cp state/Chart.yaml want &&
        refused 'set its version to 1.1.0 by hand, then slipway vendor lock' update state && diff want state/Chart.yaml
}
no_dependency() { state 1.0.0 && refused "state has no dependency 'motor' that is fetched; it has: engine" update state motor; }
no_version() { state 1.0.0 && refused '7.0.0' update state --version 7.0.0 && grep -q 'version: 1.0.0' state/Chart.yaml; }
no_folder() { refused 'none: the folder of a chart is needed' update none; }
no_accepting() { refused 'accept-changed: of lock alone' update state --accept-changed && refused 'accept-changed: of lock alone' list state --accept-changed; }
no_verb() { refused "'bump': list, lock or update is needed" bump state; }

t 'a server has two versions of a chart' serves
http=http://127.0.0.1:$(cat port)/ok
t 'list says which charts are fetched' lists
t 'for that no server is needed' lists_offline
t 'with --newest it says what there is' lists_newest
t 'it looks into the charts that a recipe is made of' lists_below
t 'lock writes the version, and the digest of its archive' locks
t 'what is locked is what is rendered' locked_is_taken
t 'other bytes of that version are refused' other_bytes
t 'a lock of other dependencies is refused, and made again' stale
t 'a version without a digest, where another has one, is refused' of_others
t 'files keep their modes' modes
if command -v strace >/dev/null; then
    t 'what is killed as it writes leaves nothing that piles up' killed_at_work
    t 'what is killed between two files is completed' killed_between
else
    skip 'what is killed as it writes' 'no strace here'
fi
t 'an update that ended half way is completed by the next one' half_updated
t 'list says so, and the way out' half_updated_lists
t 'nothing is fetched by its locks' half_updated_fetches_nothing
t 'updates at once are made one after another' in_turn
t 'who waits for another says so' waits
t 'lock refuses other bytes of a version that is locked' changed_is_refused
t 'with --accept-changed it takes them, and says so' changed_is_accepted
t 'of a chart at hand the version is locked, and that no digest is known is said' at_hand
t 'a range of versions is not locked by a chart at hand' at_hand_range
t 'stand-ins are not locked' no_stand_ins
t 'the time in the lock is SOURCE_DATE_EPOCH' reproducible
t 'a chart of a registry is locked by the digest of its archive' by_registry
t 'update says what changes, then pins' updates
t 'all else in Chart.yaml stays as it is' keeps_the_rest
t 'the new version is locked' is_locked
t 'without --version the newest one is taken' to_newest
t 'there is a way back' and_back
t 'with --dry-run nothing is written' only_shows
t 'the same version changes nothing' same
t 'a chart that is switched off is compared, too' switched_off
t 'a version that is gone is no reason to stay' from_nowhere
t 'a dependency may be written in one line' in_one_line
t 'what only people can change is refused, and stays' by_people
t 'a dependency that is not there is told' no_dependency
t 'a version that is not there is told' no_version
t 'what is no folder of a chart is told' no_folder
t 'what is no verb is told' no_verb
t 'only lock accepts what has changed' no_accepting
plan
