#!/bin/bash
# manifests.sh [--check]: write deploy/ and docs/metrics.md from charts/slipway, so that kustomize, Helm and OLM install
# the same. --check writes nothing and fails where deploy/ is not what the chart gives.
set -euo pipefail
cd "$(dirname "$0")/.."
slipway=${SLIPWAY:-build/slipway}
to=deploy pages=docs
if [ "${1:-}" = --check ]; then
    to=$(mktemp -d) pages=$(mktemp -d)
    trap 'rm -rf "$to" "$pages"' EXIT
fi

render() { # TEMPLATE [OPTION]...
    local template=$1
    shift
    "$slipway" render charts/slipway --namespace slipway --set createNamespace=true,image.tag=latest \
        --kube-version 1.29 -a policy/v1 --show-only "templates/$template" "$@" | sed '/^# Source: /d'
}

file() { # FILE: what comes in, under a head
    mkdir -p "$to/$(dirname "$1")"
    { echo "# Written by hack/manifests.sh from charts/slipway; change it there."; sed '1{/^---$/d}'; } >"$to/$1"
}

# A row of files/metrics.yaml is one line in braces: its fields.
field() { # NAME
    sed -n "s/.*[{ ]$1: \(\"\([^\"]*\)\"\|'\([^']*\)'\|\(\[[^]]*\]\)\|\([^,}]*\)\).*/\2\3\4\5/p" <<<"$row"
}

page() { # docs/metrics.md
    local row part=""
    cat <<'MD'
# Metrics

Every metric of slipway's programs, the alerts that are made of them, and who may read them. This page, the alerts
(PrometheusRule) and the Grafana dashboard are written by hack/manifests.sh from charts/slipway/files/metrics.yaml. Each
replica of the operator says whether it leads, and the leader says the rest. `make deploy` installs the ServiceMonitor,
the alerts and the dashboard where the cluster serves monitoring.coreos.com; the chart has values for them
(`metrics.serviceMonitor`, `metrics.rules`, `metrics.dashboard`).

## Who may read them

Each program serves its metrics by HTTPS at `--metrics-bind-address`: the operator, the scheduler and the device
plugin on port 8443 of their pods, the webhook on 8444. Health (`/healthz`, `/readyz`) is on 8081, for the webhook
on its own port, for everybody.

A request brings a bearer token. The program asks the API server who that is (TokenReview) and whether he may `get`
`/metrics` (SubjectAccessReview), and keeps the answer: a minute for who may, 30 seconds for who may not, 10 for a
token that nobody knows. Whom the API server does not know gets 401, who may not 403; while the API server cannot be asked,
or too many strangers ask at once, the answer is 503; who guesses does not keep other addresses out. OpenShift's Prometheus and kube-prometheus' may already; others
get the ClusterRole `slipway-metrics-reader`:

```sh
kubectl create clusterrolebinding prometheus-slipway --clusterrole slipway-metrics-reader --serviceaccount monitoring:prometheus
kubectl -n slipway port-forward deployment/slipway 8443 &
curl -sk -H "Authorization: Bearer $(kubectl -n monitoring create token prometheus)" https://localhost:8443/metrics
```

| flag | of all four programs |
| --- | --- |
| `--metrics-bind-address` | HOST:PORT; 0: not served. SRO's name `--metrics-addr` is known, too: on loopback it means HTTP, for the kube-rbac-proxy before it |
| `--metrics-secure` | `false`: by HTTP, to everybody who reaches the port (chart: `metrics.secure`) |
| `--metrics-cert-path`, `--metrics-cert-name`, `--metrics-cert-key` | folder, certificate and key, read again when they change (chart: `metrics.certSecret`); without them each program makes a certificate that signs itself, and Prometheus is told not to verify it |

The operator's last requests to the API server are at `/requests` of the same port, for whom may `get` that path.

## Metrics

| metric | of | type | labels | meaning |
| --- | --- | --- | --- | --- |
MD
    while IFS= read -r row; do
        case $row in
        alerts:*) part=alerts; printf '\n## Alerts\n\n| alert | after | severity | says | look at |\n| --- | --- | --- | --- | --- |\n' ;;
        panels:*) part=panels; printf '\n## Dashboard\n\n| panel | expression |\n| --- | --- |\n' ;;
        metrics:*) part=metrics ;;
        "- {"*)
            case $part in
            metrics) printf '| `%s` | %s | %s | %s | %s |\n' "$(field name)" "$(field program)" "$(field type)" "$(field labels | tr -d '[]')" "$(field help)" ;;
            alerts) printf '| %s | %s | %s | %s | %s |\n' "$(field name)" "$(field for | sed 's/@stuckAfter@/`metrics.rules.stuckAfter`, 30m/')" "$(field severity)" "$(field summary)" "$(field action)" ;;
            panels) printf '| %s | `%s` |\n' "$(field title)" "$(field expr)" ;;
            esac
            ;;
        esac
    done <charts/slipway/files/metrics.yaml
}

kustomization() { # DIR RESOURCE...
    local dir=$1
    shift
    { printf 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n'; printf -- '- %s\n' "$@"; } |
        file "$dir/kustomization.yaml"
}

# shellcheck disable=SC2046
kustomization crds $(cd deploy/crds && printf '%s\n' *_*.yaml)
render namespace.yaml --set platform=kubernetes | file base/namespace.yaml
render rbac.yaml --set platform=kubernetes | file base/rbac.yaml
render controller.yaml --set platform=kubernetes | file base/controller.yaml
render admission.yaml --set platform=kubernetes,admissionPolicy=always | file admission/admission.yaml
kustomization admission admission.yaml
kustomization base namespace.yaml rbac.yaml controller.yaml
# with the webhook of charts/slipway's admissionWebhook, for cert-manager's CA
webhook="platform=kubernetes,admissionPolicy=never,admissionWebhook.enabled=true,admissionWebhook.annotations.cert-manager\\.io/inject-ca-from=slipway/slipway-admission"
for part in namespace rbac controller admission; do render $part.yaml --set "$webhook" | file admission-webhook/$part.yaml; done
kustomization admission-webhook namespace.yaml rbac.yaml controller.yaml admission.yaml
render openshift.yaml --set platform=openshift | file openshift/openshift.yaml
kustomization openshift openshift.yaml
render sro.yaml --set rbac.sro=true | file sro/rbac.yaml
kustomization sro rbac.yaml
render monitoring.yaml --set platform=kubernetes,metrics.serviceMonitor.enabled=true,metrics.rules.enabled=true,metrics.dashboard.enabled=true |
    file monitoring/monitoring.yaml
kustomization monitoring monitoring.yaml
kustomization overlays/kubernetes ../../crds ../../base
kustomization overlays/admission-webhook ../../crds ../../admission-webhook
kustomization overlays/openshift ../../crds ../../base ../../openshift ../../monitoring
page >"$pages/metrics.md"

[ "$to" != deploy ] || exit 0
cmp -s "$pages/metrics.md" docs/metrics.md || { echo "docs/metrics.md is not what charts/slipway/files gives: run make manifests"; exit 1; }
(cd "$to" && find . -type f | sort) | while read -r f; do
    cmp -s "$to/$f" "deploy/$f" || { echo "deploy/$f is not what charts/slipway gives: run make manifests"; diff "$to/$f" "deploy/$f" | sed -n 1,5p; false; }
done
