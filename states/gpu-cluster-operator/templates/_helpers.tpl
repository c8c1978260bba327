{{/* The GPUCluster that is there. JSON; without a name: none. */}}
{{- define "state.gpu-cluster-operator.found" -}}
{{- $found := dict -}}
{{- if .Capabilities.APIVersions.Has "nvidia.com/v1alpha1/GPUCluster" -}}
{{- $found = lookup "nvidia.com/v1alpha1" "GPUCluster" "" "gpu-cluster" -}}
{{- end -}}
{{- toJson (default dict $found) -}}
{{- end -}}

{{/* How the operator comes onto this cluster: observe, olm or chart (see values.yaml); there: somebody else's, without a GPUCluster. */}}
{{- define "state.gpu-cluster-operator.mode" -}}
{{- if ne .Values.mode "auto" -}}
{{- .Values.mode -}}
{{- else if eq (include "state.of-another" (list . "gpu-operator")) "true" -}}
observe
{{- else if and (eq (include "state.observed-before" (list . "gpuclusters.nvidia.com")) "true") (ne (include "state.subscribed-by-another" .) "true") -}}
observe
{{- else if not (.Capabilities.APIVersions.Has "nvidia.com/v1alpha1/GPUCluster") -}}
{{- include "state.install" . -}}
{{- else -}}
{{- $mode := include "state.by-definition" (list . "gpuclusters.nvidia.com") -}}
{{- $found := fromJson (include "state.gpu-cluster-operator.found" .) -}}
{{- $free := or (eq (include "state.subscribed-by-another" .) "true") (empty $found.metadata) (eq (include "state.ours" (list . $found)) "true") -}}
{{- ternary "there" $mode (and (eq $mode "observe") $free) -}}
{{- end -}}
{{- end -}}

{{/* Is the vendor's chart installed? */}}
{{- define "state.gpu-cluster-operator.installs" -}}
{{- eq (include "state.gpu-cluster-operator.mode" .) "chart" -}}
{{- end -}}
