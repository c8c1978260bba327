#!/bin/bash
# What slipway-scheduler prints for a kube-scheduler, and what states/scheduler deploys, are one text;
# and the v1 form is what the reference of that configuration allows.
cd "$(dirname "$0")/../../.." || exit 1
. test/tap.sh
slipway=${SLIPWAY:-build/test/slipway}
scheduler=build/test/slipway-scheduler

deployed() { # KUBE_VERSION [RENDER_FLAG...]: the ConfigMap's config.yaml
    local version=$1
    shift
    "$slipway" render states/scheduler --namespace team --kube-version "$version" "$@" |
        awk '/^  config.yaml: \|$/ { on = 1; next } on && !/^    / { exit } on { print substr($0, 5) }'
}
printed() { "$scheduler" --print-config --kube-version "$1" --leader-elect --namespace team; }
agree() {
    printed "$1" >"$tap_dir/printed" && deployed "$1" >"$tap_dir/deployed" && [ -s "$tap_dir/printed" ] &&
        diff -u "$tap_dir/printed" "$tap_dir/deployed" && grep -q "^apiVersion: kubescheduler.config.k8s.io/$2\$" "$tap_dir/printed"
}

# fits FILE: against the schema, by way of a chart whose values the file is
fits() {
    mkdir -p "$tap_dir/chart/templates"
    printf 'apiVersion: v2\nname: config\nversion: 0.1.0\n' >"$tap_dir/chart/Chart.yaml"
    cp test/golden/scheduler-config-v1.schema.json "$tap_dir/chart/values.schema.json"
    "$slipway" render "$tap_dir/chart" -f "$1"
}
v1_fits() { printed 1.29 >"$tap_dir/v1.yaml" && fits "$tap_dir/v1.yaml"; }
tls_fits() {
    "$scheduler" --print-config --kube-version 1.31 --tls --cacert /tls/ca.crt >"$tap_dir/tls.yaml" &&
        grep -q 'urlPrefix: https:' "$tap_dir/tls.yaml" && fits "$tap_dir/tls.yaml"
}
# names and paths stay the texts that they are
odd_texts() {
    "$scheduler" --print-config --kube-version 1.31 --scheduler-name 1234 --kubeconfig '/a: {b' --tls --cacert '/c, #d' \
        --leader-elect --leader-elect-namespace true --listen ::1 >"$tap_dir/odd.yaml" && fits "$tap_dir/odd.yaml" &&
        grep -qx -- '- schedulerName: "1234"' "$tap_dir/odd.yaml" && grep -qF '[::1]:8888' "$tap_dir/odd.yaml" || return 1
    printed 1.31 | sed 's/schedulerName: .*/schedulerName: "1234"/' >"$tap_dir/printed" &&
        deployed 1.31 --set schedulerName=1234 | diff -u "$tap_dir/printed" -
}
no_port() { ! "$scheduler" --print-config --port 0 2>"$tap_dir/err" && grep -q -- '--port' "$tap_dir/err"; }
schema_bites() {
    printed 1.29 | sed 's/nodeCacheCapable/nodeCachecapable/' >"$tap_dir/bad.yaml"
    ! fits "$tap_dir/bad.yaml"
}
every_profile() { # of the tables is managed, none twice, "+" is written "-plus-"
    printed 1.29 | sed -n 's|.*{name: mig.das.com/\(.*\), ignored.*|\1|p' >"$tap_dir/names"
    [ -z "$(sort "$tap_dir/names" | uniq -d)" ] && ! grep '[+*]' "$tap_dir/names" &&
        for p in 1g.5gb 1g.5gb-plus-me 7g.80gb 1g.24gb-plus-me.all 1g.24gb-me 7g.186gb 2g.12gb-plus-me; do
            grep -qx "$p" "$tap_dir/names" || { echo "$p is missing"; return 1; }
        done
}
about_all_nodes() {
    printed 1.29 | grep -qx 'percentageOfNodesToScore: 100' && printed 1.21 | grep -qx 'percentageOfNodesToScore: 100'
}
about_a_fifth() { printed 1.20 | grep -qx 'percentageOfNodesToScore: 20'; }
own_choice() {
    "$scheduler" --print-config --kube-version 1.29 --leader-elect --namespace team \
        --percentage-of-nodes-to-score 0 >"$tap_dir/printed" && ! grep percentageOfNodesToScore "$tap_dir/printed" &&
        deployed 1.29 --set percentageOfNodesToScore=0 | diff -u "$tap_dir/printed" - && fits "$tap_dir/printed"
}
told_all() {
    "$scheduler" --print-config --kube-version 1.20 --leader-elect --namespace team \
        --percentage-of-nodes-to-score 100 >"$tap_dir/printed" && grep -qx 'percentageOfNodesToScore: 100' "$tap_dir/printed" &&
        deployed 1.20.0 --set percentageOfNodesToScore=100 | diff -u "$tap_dir/printed" -
}
too_many() { ! "$scheduler" --print-config --percentage-of-nodes-to-score 101 2>"$tap_dir/err" && grep -q "0 to 100" "$tap_dir/err"; }
no_preemption() { printed 1.20 | grep -q DefaultPreemption && ! printed 1.22 | grep -q DefaultPreemption; }
refused() { ! "$scheduler" --print-config --kube-version "$1" 2>"$tap_dir/err" && grep -q -- "--kube-version: '$1'" "$tap_dir/err"; }

t "1.20: v1beta1" agree 1.20.2 v1beta1
t "1.21: v1beta1" agree v1.21.0 v1beta1
t "1.22: v1beta2" agree 1.22.1 v1beta2
t "1.24: v1beta3" agree 1.24.0 v1beta3
t "1.25: v1" agree 1.25.0 v1
t "1.31: v1" agree 1.31.4 v1
t "v1 is as its reference says" v1_fits
t "with TLS, too" tls_fits
t "texts that YAML would read as something else" odd_texts
t "a port that is not known is refused" no_port
t "a field that the reference does not have is found" schema_bites
t "every profile is managed" every_profile
t "kube-scheduler is told to ask about all nodes" about_all_nodes
t "1.20, which tries again at once, about a fifth" about_a_fifth
t "or may choose itself" own_choice
t "1.20 may be told to, too" told_all
t "more than all nodes are refused" too_many
t "preemption is off where kube-scheduler would end of it" no_preemption
t "1.19 is refused" refused 1.19.0
t "nonsense is refused" refused new
plan
