# Manifests that go through a program, and names that are made up, as with helm template.
. test/tap.sh
slipway=$(realpath "${SLIPWAY:-build/slipway}")
cd "$tap_dir" || exit 1
mkdir -p c/templates
printf 'apiVersion: v2\nname: c\nversion: 0.1.0\n' >c/Chart.yaml
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "{{ .Release.Name }}"}\n' >c/templates/a.yaml
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: hook, annotations: {helm.sh/hook: pre-install}}\n' >c/templates/h.yaml
program() { printf '#!/bin/sh\n%s\n' "$2" >"$1" && chmod +x "$1"; }
program change 'echo "# $# $1 $2"; sed s/ConfigMap/Changed/'
program fails 'exit 3'
program eats 'cat >/dev/null'
through() {
    "$slipway" render c --post-renderer ./change --post-renderer-args x --post-renderer-args 'y z' >made &&
        printf '# 2 x y z\n---\n# Source: c/templates/a.yaml\napiVersion: v1\nkind: Changed\nmetadata: {name: "c"}\n---\n# Source: c/templates/h.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: hook, annotations: {helm.sh/hook: pre-install}}\n' >wanted && diff wanted made
}
t "what a program makes of the manifests is printed, the hooks after it" through
t "it may leave nothing" eval '"$slipway" render c --no-hooks --post-renderer ./eats | diff - /dev/fd/3 3<<<""'
large() { # more than a pipe holds
    printf '{{- range $i := until 20000 }}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: "a{{ $i }}"}\n{{- end }}\n' >c/templates/b.yaml &&
        "$slipway" render c --post-renderer cat | grep -c 'name: "a' | grep -qx 20000
}
t "a program of the path reads as much as there is" large
rm -f c/templates/b.yaml
refused() { "$slipway" render c "${@:2}" >made 2>said; [ $? = "$1" ] && [ ! -s made ] && cat said; }
failed() { refused 1 --post-renderer ./fails | grep -q './fails ended with exit code 3'; }
t "one that fails is told, and nothing is printed" failed
missing() { refused 2 --post-renderer ./nowhere | grep -q './nowhere: No such file'; }
t "so is one that is not there" missing
named() { "$slipway" render -g c | grep -qE 'name: "c-[0-9]{10}"' && ! "$slipway" render -g n c 2>said && grep -q "has a name already, 'n'" said; }
t "a name is made up of the recipe's and the time" named
plan
