# slipway lint --fix: files that are changed, and those that are not.
. test/tap.sh
slipway=${SLIPWAY:-build/slipway}

make_recipe() { # a recipe with one fault of each kind, in $tap_dir/$1
    "$slipway" create "$tap_dir/$1" >/dev/null
    cat >"$tap_dir/$1/templates/2000-job.yaml" <<'YAML'
# each night
apiVersion: batch/v1beta1
kind: CronJob
metadata:
  name: {{ .Release.Name }}-night
  annotations:
    slipway.dev/timout: "5 minutes" # enough
    slipway.dev/adopt: true
spec:
  schedule: "0 1 * * *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers:
            - name: night
              image: busybox:1.36
YAML
    mkdir -p "$tap_dir/$1/charts/theirs/templates" "$tap_dir/$1/charts/ours/templates"
    for sub in theirs ours; do
        printf 'apiVersion: v2\nname: %s\nversion: 1.0.0\n' $sub >"$tap_dir/$1/charts/$sub/Chart.yaml"
        printf 'apiVersion: batch/v1beta1\nkind: CronJob\nmetadata:\n  name: %s\n' $sub >"$tap_dir/$1/charts/$sub/templates/c.yaml"
    done
    printf 'dependencies:\n- name: theirs\n  version: 1.0.0\n  repository: https://charts.example.com\n- name: ours\n  version: 1.0.0\n' >>"$tap_dir/$1/Chart.yaml"
}

prints_each_change() {
    make_recipe one
    chmod 640 "$tap_dir/one/templates/2000-job.yaml"
    "$slipway" lint --fix "$tap_dir/one" >"$tap_dir/got"
    cat "$tap_dir/got"
    sed "s|$tap_dir/||" "$tap_dir/got" | grep fixed >"$tap_dir/fixed"
    cat >"$tap_dir/want" <<'TEXT'
one/templates/2000-job.yaml:2: fixed: batch/v1beta1 of CronJob is now batch/v1
one/templates/2000-job.yaml:7: fixed: slipway.dev/timout is now slipway.dev/timeout
one/templates/2000-job.yaml:8: fixed: slipway.dev/adopt: true is in quotes now: it must be text
one/templates/2000-job.yaml:7: fixed: '5 minutes' is now 5m
one/charts/ours/templates/c.yaml:1: fixed: batch/v1beta1 of CronJob is now batch/v1
TEXT
    diff "$tap_dir/want" "$tap_dir/fixed"
}

keeps_the_rest() {
    grep -qx '# each night' "$tap_dir/one/templates/2000-job.yaml" &&
        grep -qx '    slipway.dev/timeout: "5m" # enough' "$tap_dir/one/templates/2000-job.yaml" &&
        [ "$(stat -c %a "$tap_dir/one/templates/2000-job.yaml")" = 640 ] &&
        grep -qx 'apiVersion: batch/v1beta1' "$tap_dir/one/charts/theirs/templates/c.yaml"
}

changes_nothing_twice() {
    cp -r "$tap_dir/one" "$tap_dir/before"
    "$slipway" lint --fix "$tap_dir/one" >"$tap_dir/got" || true
    cat "$tap_dir/got"
    ! grep -q fixed "$tap_dir/got" && diff -r "$tap_dir/before" "$tap_dir/one"
}

leaves_links() {
    make_recipe two
    mv "$tap_dir/two/templates/2000-job.yaml" "$tap_dir/elsewhere.yaml"
    ln -s "$tap_dir/elsewhere.yaml" "$tap_dir/two/templates/2000-job.yaml"
    "$slipway" lint --fix "$tap_dir/two" >"$tap_dir/got" || true
    grep -q batch/v1beta1 "$tap_dir/elsewhere.yaml"
}

a_file_of_manifests() {
    printf 'apiVersion: batch/v1beta1\nkind: CronJob\nmetadata:\n  name: a' >"$tap_dir/m.yaml"
    "$slipway" lint --fix "$tap_dir/m.yaml" -o json >"$tap_dir/got" || true
    cat "$tap_dir/got"
    [ "$(grep -c '"level": "fixed"' "$tap_dir/got")" -eq 2 ] && [ "$(wc -l <"$tap_dir/m.yaml")" -eq 4 ]
}

refuses_an_archive() {
    local rc=0
    "$slipway" package "$tap_dir/before" -o "$tap_dir/before.tgz" >/dev/null 2>&1 || : >"$tap_dir/before.tgz"
    "$slipway" lint --fix "$tap_dir/before.tgz" 2>"$tap_dir/got" || rc=$?
    cat "$tap_dir/got"
    [ $rc -eq 2 ] && grep -q 'changes a folder or a file of manifests' "$tap_dir/got"
}

shipped_recipes_need_no_change() {
    cp -r recipes states "$tap_dir/"
    for r in "$tap_dir"/recipes/*/; do
        "$slipway" lint --fix "$r" >>"$tap_dir/all" 2>&1 || true
    done
    ! grep fixed "$tap_dir/all" && diff -r recipes "$tap_dir/recipes"
}

t "each change is printed" prints_each_change
t "comments, rights and what comes from elsewhere stay" keeps_the_rest
t "twice changes nothing" changes_nothing_twice
t "links are left alone" leaves_links
t "a file of manifests" a_file_of_manifests
t "an archive is refused" refuses_an_archive
t "the recipes that are shipped need no change" shipped_recipes_need_no_change
plan
