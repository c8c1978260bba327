# A small catalogue of recipes of NVIDIA's AI Cluster Runtime, catalog/, and charts of the same names as its own, charts/, in the
# present folder: base has gpu-operator, which needs cert-manager; eks adds tuning, which is manifests alone. Sourced by tests.
put() { mkdir -p "$(dirname "$1")" && cat >"$1"; }
head='apiVersion: aicr.nvidia.com/v1alpha1'
put catalog/registry.yaml <<Y
$head
kind: ComponentRegistry
components:
- name: cert-manager
  helm: {defaultRepository: https://charts.example.com, defaultChart: x/cert-manager, defaultVersion: v1.2.3, defaultNamespace: cert-manager}
- name: gpu-operator
  healthCheck: {assertFile: checks/gpu-operator/health-check.yaml}
  helm: {defaultRepository: https://charts.example.com, defaultChart: x/gpu-operator-chart, defaultNamespace: gpu-operator}
  nodeScheduling: {accelerated: {tolerationPaths: [tolerations], nodeSelectorPaths: [daemonsets.nodeSelector]}}
Y
put catalog/overlays/base.yaml <<Y
$head
kind: RecipeMetadata
metadata: {name: base}
spec:
  constraints: [{name: K8s.server.version, value: ">= 1.25"}]
  componentRefs:
  - name: gpu-operator
    version: v2.0.0
    valuesFile: components/gpu-operator/values.yaml
    manifestFiles: [components/gpu-operator/manifests/config.yaml]
    dependencyRefs: [cert-manager]
  - {name: cert-manager}
Y
put catalog/overlays/eks.yaml <<Y
$head
kind: RecipeMetadata
metadata: {name: eks}
spec:
  criteria: {service: eks}
  constraints: [{name: OS.release.ID, value: ubuntu}]
  componentRefs:
  - {name: tuning, namespace: tuning, manifestFiles: [components/tuning/manifests/tuning.yaml], dependencyRefs: [gpu-operator], overrides: {level: high}}
  - {name: gpu-operator, overrides: {replicas: 2}}
  validation: {deployment: {checks: [operator-health]}}
Y
put catalog/overlays/aks.yaml <<Y
$head
kind: RecipeMetadata
metadata: {name: aks}
spec:
  criteria: {service: aks}
  componentRefs: [{name: cert-manager, overrides: {enabled: false}}]
Y
put catalog/components/gpu-operator/values.yaml <<<'replicas: 1'
put catalog/components/gpu-operator/manifests/config.yaml <<'Y'
apiVersion: v1
kind: ConfigMap
metadata: {name: config, namespace: "{{ .Release.Namespace }}"}
data: {replicas: "{{ index .Values "gpu-operator" "replicas" }}"}
Y
put catalog/components/tuning/manifests/tuning.yaml <<'Y'
apiVersion: v1
kind: ConfigMap
metadata: {name: tuning, namespace: "{{ .Release.Namespace }}"}
data: {level: "{{ .Values.tuning.level }}"}
Y
put catalog/checks/gpu-operator/health-check.yaml <<'Y'
apiVersion: chainsaw.kyverno.io/v1alpha1
kind: Test
metadata: {name: check}
spec:
  steps:
  - try:
    - assert:
        resource:
          apiVersion: apps/v1
          kind: Deployment
          metadata: {name: gpu-operator, namespace: gpu-operator}
          status: {(availableReplicas > `0`): true}
    - error: {resource: {apiVersion: v1, kind: Pod, metadata: {namespace: gpu-operator}, status: {phase: Failed}}}
Y
for chart in cert-manager gpu-operator-chart; do
    put charts/$chart/Chart.yaml <<<"{apiVersion: v2, name: $chart, version: 9.9.9}"
    put charts/$chart/values.yaml <<<'{replicas: 1, tolerations: []}'
    put charts/$chart/templates/deployment.yaml <<'Y'
apiVersion: apps/v1
kind: Deployment
metadata: {name: "{{ .Release.Name }}", namespace: "{{ .Release.Namespace }}"}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: "{{ .Release.Name }}"}}
  template:
    metadata: {labels: {app: "{{ .Release.Name }}"}}
    spec: {containers: [{name: c, image: "registry.example.com/x:1"}], tolerations: {{ toJson .Values.tolerations }}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: "{{ .Release.Name }}-none", namespace: "{{ .Release.Namespace }}"}
spec:
  selector: {matchLabels: {app: none}}
  template:
    metadata: {labels: {app: none}}
    spec: {nodeSelector: {no: node}, containers: [{name: c, image: "registry.example.com/x:1"}]}
Y
done
