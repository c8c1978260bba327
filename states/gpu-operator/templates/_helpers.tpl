{{/* The ClusterPolicy that is there: there is one in a cluster, whatever its name. JSON; without a name: none. */}}
{{- define "state.gpu-operator.found" -}}
{{- $found := dict -}}
{{- if .Capabilities.APIVersions.Has "nvidia.com/v1" -}}
{{- range default list (lookup "nvidia.com/v1" "ClusterPolicy" "" "").items -}}
{{- $found = . -}}
{{- end -}}
{{- end -}}
{{- toJson (dict "metadata" (pick (default dict $found.metadata) "name" "labels" "annotations" "deletionTimestamp")) -}}
{{- end -}}

{{/* How the GPU operator comes onto this cluster: observe, olm or chart (see values.yaml). */}}
{{- define "state.gpu-operator.mode" -}}
{{- if ne .Values.mode "auto" -}}
{{- .Values.mode -}}
{{- else if eq (include "state.of-another" (list . "gpu-operator")) "true" -}}
observe
{{- else if and (eq (include "state.observed-before" (list . "clusterpolicies.nvidia.com")) "true") (ne (include "state.subscribed-by-another" .) "true") -}}
observe
{{- else if and (.Capabilities.APIVersions.Has "nvidia.com/v1") (eq (include "state.by-definition" (list . "clusterpolicies.nvidia.com")) "chart") -}}
chart
{{- else -}}
{{- $found := fromJson (include "state.gpu-operator.found" .) -}}
{{- $ours := or (eq (include "state.ours" (list . $found)) "true") (eq (include "state.subscribed-by-another" .) "true") -}}
{{- ternary "observe" (include "state.install" .) (and (not (empty $found.metadata)) (not $ours)) -}}
{{- end -}}
{{- end -}}

{{/* Is the vendor's chart installed? */}}
{{- define "state.gpu-operator.installs" -}}
{{- eq (include "state.gpu-operator.mode" .) "chart" -}}
{{- end -}}
