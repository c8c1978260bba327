{{/* How NFD comes onto this cluster: observe, olm or manifests (see values.yaml). */}}
{{- define "nfd.mode" -}}
{{- $olm := .Capabilities.APIVersions.Has "operators.coreos.com/v1alpha1" -}}
{{- if ne .Values.mode "auto" -}}
{{- .Values.mode -}}
{{- else if $olm -}}
{{- $found := dict -}}
{{- if .Capabilities.APIVersions.Has "nfd.openshift.io/v1" -}}
{{- $found = lookup "nfd.openshift.io/v1" "NodeFeatureDiscovery" .Values.namespace .Values.instance -}}
{{- end -}}
{{- $owned := dig "metadata" "labels" "specialresource.openshift.io/owned" "" (default dict $found) -}}
{{- ternary "observe" "olm" (and (not (empty $found)) (ne $owned "true")) -}}
{{- else -}}
{{- $found := lookup "apps/v1" "DaemonSet" .Values.namespace "nfd-worker" -}}
{{- $owned := dig "metadata" "labels" "specialresource.openshift.io/owned" "" (default dict $found) -}}
{{- ternary "observe" "manifests" (and (not (empty $found)) (ne $owned "true")) -}}
{{- end -}}
{{- end -}}
