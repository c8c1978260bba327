# Scripts print the same wherever they are run: in a folder with a space, with busybox's tools in the place of GNU's, in the Turkish
# locale (whose capital of i is another letter), as who is not root, by each shell.
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/slipway}")
unset KUBECTL IMG TAG NAMESPACE PLATFORM RELATED_IMAGES EMULATED_MODE API_SERVER PULL_POLICY REPLICAS OPERATOR_NAMESPACE
export SLIPWAY=$slipway REGISTRY=example.test/x PLATFORM=kubernetes TAG=v1 KUBECONFIG=/dev/null # no cluster is asked

# work FOLDER: what the scripts make in the current folder, which is a copy of the tree
work() {
    mkdir -p "$1" &&
        make -s help >"$1/help" &&
        hack/deploy.sh render >"$1/deploy.yaml" &&
        PLATFORM=openshift RELATED_IMAGES='[{"name":"das-webhook","image":"example.test/w:1"}]' hack/deploy.sh render >"$1/openshift.yaml" &&
        hack/bundle.sh generate "$1/bundle" &&
        hack/bundle.sh catalog "$1/catalog" example.test/b:1="$1/bundle" &&
        hack/version.sh >"$1/version"
}
copy() { # FOLDER: the tree
    mkdir -p "$1/build" && git ls-files -z | tar cf - --null -T - | tar xf - -C "$1"
}
same() { diff -r "$tap_dir/usual" "$1" && [ "$(find "$1" -type f | wc -l)" -gt 10 ]; }

usual() { copy "$tap_dir/tree" && cd "$tap_dir/tree" && work "$tap_dir/usual"; }
with_a_space() { copy "$tap_dir/a b/t" && cd "$tap_dir/a b/t" && work "$tap_dir/a b/made" && same "$tap_dir/a b/made"; }
of_busybox() {
    local tool
    mkdir -p "$tap_dir/tools"
    for tool in awk basename cat cmp cp cut date diff dirname env expr find grep head mkdir mktemp mv printf readlink realpath rm sed seq sort stat tail tee tr uniq wc xargs; do
        ln -s "$(command -v busybox)" "$tap_dir/tools/$tool" || return 1
    done
    (cd "$tap_dir/tree" && PATH=$tap_dir/tools:$PATH work "$tap_dir/busybox") && same "$tap_dir/busybox"
}
in_turkish() {
    localedef -i tr_TR -f UTF-8 "$tap_dir/tr_TR.UTF-8" 2>/dev/null
    [ "$(LOCPATH=$tap_dir LC_ALL=tr_TR.UTF-8 bash -c 'i=i; echo ${i^}' 2>&1)" != I ] || return 1
    (cd "$tap_dir/tree" && LOCPATH=$tap_dir LC_ALL=tr_TR.UTF-8 work "$tap_dir/turkish") && same "$tap_dir/turkish"
}
as_nobody() { # whose tree it is
    # with the program: the tree's own folder may be closed to others
    copy "$tap_dir/nobody" && cp "$slipway" "$tap_dir/nobody/slipway" && chmod 755 "$tap_dir" && chown -R 65534:65534 "$tap_dir/nobody" || return 1
    setpriv --reuid 65534 --regid 65534 --clear-groups env SLIPWAY="$tap_dir/nobody/slipway" HOME="$tap_dir/nobody" TMPDIR="$tap_dir/nobody" \
        bash -c "$(declare -f work); cd '$tap_dir/nobody' && work '$tap_dir/nobody/made'" && same "$tap_dir/nobody/made"
}
# scripts for any shell are read by each; install.sh is run by each in dist_test
by_each_shell() { # SHELL
    local script n=0
    for script in $(git ls-files hack scripts test make); do
        case $(sed -n 1p "$script") in '#!/bin/sh'*) ;; *) continue ;; esac
        $1 -n "$script" || { echo "$script"; return 1; }
        n=$((n + 1))
    done
    [ $n -gt 0 ]
}

t "the scripts work" usual
t "in a folder with a space" with_a_space
if command -v busybox >/dev/null; then t "with busybox's tools" of_busybox; else skip "with busybox's tools" "no busybox here"; fi
if command -v localedef >/dev/null && [ -e /usr/share/i18n/locales/tr_TR ]; then t "in Turkish" in_turkish; else skip "in Turkish" "no sources of locales here"; fi
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then t "as nobody" as_nobody; else skip "as nobody" "only root can be somebody else"; fi
for shell in dash 'busybox sh' bash; do
    if command -v "${shell%% *}" >/dev/null; then t "scripts for any shell are read by $shell" by_each_shell "$shell"; fi
done
plan
