{{/* How the GPU operator comes onto this cluster: observe or olm (see values.yaml). */}}
{{- define "gpu-operator.mode" -}}
{{- if ne .Values.mode "auto" -}}
{{- .Values.mode -}}
{{- else if not (.Capabilities.APIVersions.Has "operators.coreos.com/v1alpha1") -}}
observe
{{- else -}}
{{- $found := dict -}}
{{- if .Capabilities.APIVersions.Has "nvidia.com/v1" -}}
{{- $found = lookup "nvidia.com/v1" "ClusterPolicy" "" .Values.clusterPolicy -}}
{{- end -}}
{{- $owned := dig "metadata" "labels" "specialresource.openshift.io/owned" "" (default dict $found) -}}
{{- ternary "observe" "olm" (and (not (empty $found)) (ne $owned "true")) -}}
{{- end -}}
{{- end -}}
