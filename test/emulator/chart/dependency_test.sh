#!/bin/bash
# slipway dependency: the charts/ folder of a chart, as helm dependency lists, updates and builds it.
cd "$(dirname "$0")/../../.." || exit 1
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/test/slipway}")
export SLIPWAY_CACHE_DIR='' SLIPWAY_STAND_INS='' HELM_REPOSITORY_CONFIG=$tap_dir/repositories.yaml
unset SLIPWAY_CHARTS_DIR
server=$PWD/test/emulator/chart/chart_server.py
cd "$tap_dir" || exit 1

stop() {
    [ ! -s "$tap_dir/pids" ] || xargs kill <"$tap_dir/pids" 2>/dev/null
    rm -rf "$tap_dir"
}
trap stop EXIT

packed() { # VERSION: the chart one, in www
    rm -rf src && mkdir -p src/templates www
    printf 'apiVersion: v2\nname: one\nversion: %s\n' "$1" >src/Chart.yaml
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\ndata: {version: "%s"}\n' "$1" >src/templates/a.yaml
    "$slipway" package src -d www >/dev/null
}
beside() { # a folder that is a dependency
    rm -rf two && mkdir -p two
    printf 'apiVersion: v2\nname: two\nversion: 0.2.0\n' >two/Chart.yaml
}
parent() { # RANGE
    rm -rf top && mkdir -p top/charts/own
    printf 'apiVersion: v2\nname: own\nversion: 0.3.0\n' >top/charts/own/Chart.yaml
    cat >top/Chart.yaml <<END
apiVersion: v2
name: top
version: 1.0.0
dependencies:
- {name: one, version: $1, repository: "$http"}
- {name: two, version: 0.2.0, repository: file://../two}
- {name: own, version: 0.3.0}
END
}
dependency() { "$slipway" dependency "$@" >o 2>err || { cat o err; return 1; }; }
refused() { # WORDS ARGS...
    local words=$1
    shift
    ! "$slipway" dependency "$@" >o 2>err && grep -qF -- "$words" err || { cat o err; return 1; }
}
serves() {
    packed 1.0.0 && packed 1.1.0 && beside || return 1
    printf 'apiVersion: v1\nentries:\n  one:\n  - {name: one, version: 1.0.0, urls: [one-1.0.0.tgz]}\n  - {name: one, version: 1.1.0, urls: [one-1.1.0.tgz]}\n' >www/index.yaml
    python3 "$server" www port log 2>server.err &
    echo $! >>pids
    until_ok 20 test -s port
}
lists_what_is_missing() {
    parent 1.x && dependency list top || return 1
    printf 'NAME\tVERSION\tREPOSITORY%s\tSTATUS  \n' "$(printf '%*s' $((${#http} - 10)) '')" >want
    printf 'one \t1.x    \t%s\tmissing \n' "$http" >>want
    printf 'two \t0.2.0  \t%-*s\tmissing \n' ${#http} file://../two >>want
    printf 'own \t0.3.0  \t%-*s\tunpacked\n\n' ${#http} '' >>want
    diff want o
}
updates() { # the archives as they are served, and the lock of what was taken
    parent 1.x && dependency update top && cmp www/one-1.1.0.tgz top/charts/one-1.1.0.tgz && [ -s top/charts/two-0.2.0.tgz ] &&
        grep -qx 'Saving 3 charts' o && grep -qx "Downloading one from repo $http" o && grep -qx '  version: 1.1.0' top/Chart.lock &&
        dependency list top && [ "$(grep -c 'ok  ' o)" = 2 ] && "$slipway" render top | grep -q 'version: "1.1.0"'
}
builds_what_is_locked() {
    parent 1.0.0 && dependency update top && sed -i 's/version: 1.0.0, rep/version: 1.x, rep/' top/Chart.yaml &&
        refused 'its digest is of other dependencies' build top || return 1
    parent 1.x && dependency update top && rm top/charts/*.tgz && printf '%s\n' '  - {name: one, version: 1.9.0, urls: [none.tgz]}' >>www/index.yaml &&
        dependency build top && [ -s top/charts/one-1.1.0.tgz ]
    local rc=$?
    sed -i '/1.9.0/d' www/index.yaml
    return $rc
}
builds_without_a_lock_as_update() { parent 1.x && dependency build top && [ -s top/Chart.lock ] && [ -s top/charts/one-1.1.0.tgz ]; }
older_archives_go() {
    parent 1.0.0 && dependency update top && sed -i 's/1.0.0, rep/1.1.0, rep/' top/Chart.yaml && dependency update top &&
        [ ! -e top/charts/one-1.0.0.tgz ] && [ -s top/charts/one-1.1.0.tgz ] && [ -d top/charts/own ]
}
a_lock_that_says_the_same_keeps_its_time() {
    parent 1.x && SOURCE_DATE_EPOCH=1000000000 dependency update top && cp top/Chart.lock before && dependency update top && cmp before top/Chart.lock
}
each_status() {
    parent 1.0.0 && dependency update top && sed -i 's/1.0.0, rep/2.x, rep/' top/Chart.yaml && mkdir -p top/charts/none top/charts/else &&
        printf 'apiVersion: v2\nname: else\nversion: 1.0.0\n' >top/charts/else/Chart.yaml && echo x >top/charts/two-0.2.0.tgz && dependency list top || return 1
    grep -q 'wrong version$' o && grep -q 'corrupt      $' o && grep -qx 'WARNING: "top/charts/none" is not a chart.' o &&
        grep -qx 'WARNING: "top/charts/else" is not in Chart.yaml.' o && cp www/one-1.0.0.tgz top/charts/one-1.2.0.tgz && dependency list top &&
        grep -q 'too many matches' o || { cat o; return 1; }
}
a_chart_of_v1() {
    parent 1.x && sed 1,3d top/Chart.yaml >top/requirements.yaml && printf 'apiVersion: v1\nname: top\nversion: 1.0.0\n' >top/Chart.yaml &&
        dependency update top && [ -s top/requirements.lock ] && [ ! -e top/Chart.lock ] && dependency list top && grep -q 'ok' o
}
render_updates_first() {
    parent 1.x && "$slipway" template top --dependency-update >o 2>err && head -1 o | grep -qx -- --- && [ -s top/charts/one-1.1.0.tgz ]
}
nothing_is_written_when_one_is_missing() {
    parent 1.x && sed -i 's/name: one/name: none/' top/Chart.yaml && refused "none" update top && [ ! -e top/Chart.lock ] && [ "$(ls top/charts)" = own ]
}

named() { # WHAT URL [LINE...]: the repository as helm repo add writes it, and the dependency that names it
    local what=$1 url=$2
    shift 2
    printf 'apiVersion: ""\ngenerated: "0001-01-01T00:00:00Z"\nrepositories:\n- name: acme\n  url: %s\n' "$url" >repositories.yaml
    [ $# = 0 ] || printf '  %s\n' "$@" >>repositories.yaml
    http=$what parent 1.x
}
takes_names() { # the lock has the URL, as Helm's
    local what
    for what in @acme alias:acme; do
        named "$what" "$http" && dependency update top && cmp www/one-1.1.0.tgz top/charts/one-1.1.0.tgz && grep -qx "  repository: $http" top/Chart.lock &&
            rm top/charts/*.tgz && dependency build top && [ -s top/charts/one-1.1.0.tgz ] && "$slipway" render top | grep -q 'version: "1.1.0"' || return 1
    done
    ! named @acme "$http" || [ ! -e top/Chart.lock ]
}
logs_in_as_helm_repo_add() {
    named @acme "${http%/ok}/auth" 'username: user' 'password: pass word' && dependency update top && [ -s top/charts/one-1.1.0.tgz ] &&
        named "${http%/ok}/auth/" "${http%/ok}/auth" 'username: user' 'password: pass word' && dependency update top &&
        named @acme "${http%/ok}/auth" && refused 401 update top
}
tells_unknown_names() {
    named @other "$http" && refused "no repository is called @other: helm repo add has put none of that name into $tap_dir/repositories.yaml" update top &&
        rm repositories.yaml && refused 'no repository is called @other' update top && echo 'a: [' >repositories.yaml &&
        refused "repository @other: $tap_dir/repositories.yaml:" update top && rm repositories.yaml &&
        mkdir -p top/charts/one && cp src/Chart.yaml top/charts/one/ && "$slipway" render top >/dev/null
}

t 'a chart repository serves' serves
http=http://127.0.0.1:$(cat port)/ok
t 'list says what is missing, as helm dependency list' lists_what_is_missing
t 'update gets archives byte for byte, and locks them' updates
t 'build gets what Chart.lock names, and refuses a lock of other dependencies' builds_what_is_locked
t 'build without a lock is update' builds_without_a_lock_as_update
t 'archives of older versions go, folders stay' older_archives_go
t 'a lock that says the same keeps its time' a_lock_that_says_the_same_keeps_its_time
t 'list tells wrong versions, broken archives, and what is no dependency' each_status
t 'a chart of apiVersion v1 has requirements.yaml and requirements.lock' a_chart_of_v1
t 'render --dependency-update fills charts/, and prints manifests alone' render_updates_first
t 'nothing is written when one cannot be had' nothing_is_written_when_one_is_missing
t 'repositories may be named as helm repo add has named them' takes_names
t 'they are asked with the login that helm repo add was given' logs_in_as_helm_repo_add
t 'a name that is not there is told where its chart is needed' tells_unknown_names
t 'without dependencies there is nothing to list' bash -c "$slipway dependency list two | grep -qx 'WARNING: no dependencies at two/charts'"
t 'knows three verbs' refused "'repair': list, update or build is needed" repair top
plan
