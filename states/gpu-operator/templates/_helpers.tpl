{{/* The ClusterPolicy that is there: there is one in a cluster, whatever its name. JSON; without a name: none. */}}
{{- define "state.gpu-operator.found" -}}
{{- $found := dict -}}
{{- if .Capabilities.APIVersions.Has "nvidia.com/v1" -}}
{{- range default list (lookup "nvidia.com/v1" "ClusterPolicy" "" "").items -}}
{{- $found = . -}}
{{- end -}}
{{- end -}}
{{- toJson (dict "metadata" (pick (default dict $found.metadata) "name" "labels" "annotations")) -}}
{{- end -}}

{{/* How the GPU operator comes onto this cluster: observe, olm or chart (see values.yaml). */}}
{{- define "state.gpu-operator.mode" -}}
{{- $install := ternary "olm" "chart" (.Capabilities.APIVersions.Has "operators.coreos.com/v1alpha1") -}}
{{- if ne .Values.mode "auto" -}}
{{- .Values.mode -}}
{{- else -}}
{{- $found := fromJson (include "state.gpu-operator.found" .) -}}
{{- $ours := eq (include "state.ours" (list . $found)) "true" -}}
{{- ternary "observe" $install (and (not (empty $found.metadata)) (not $ours)) -}}
{{- end -}}
{{- end -}}

{{/* Is the vendor's chart installed? */}}
{{- define "state.gpu-operator.installs" -}}
{{- eq (include "state.gpu-operator.mode" .) "chart" -}}
{{- end -}}
