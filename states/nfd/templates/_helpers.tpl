{{/*
How NFD comes onto this cluster: observe, olm or chart (see values.yaml). Without OLM its definition
tells who brought it: what this state installed carries the owner mark.
*/}}
{{- define "state.nfd.mode" -}}
{{- $olm := .Capabilities.APIVersions.Has "operators.coreos.com/v1alpha1" -}}
{{- if ne .Values.mode "auto" -}}
{{- .Values.mode -}}
{{- else if $olm -}}
{{- $found := dict -}}
{{- if .Capabilities.APIVersions.Has "nfd.openshift.io/v1" -}}
{{- $found = lookup "nfd.openshift.io/v1" "NodeFeatureDiscovery" .Values.olm.namespace .Values.olm.instance -}}
{{- end -}}
{{- $owned := dig "metadata" "labels" "specialresource.openshift.io/owned" "" (default dict $found) -}}
{{- ternary "observe" "olm" (and (not (empty $found)) (ne $owned "true")) -}}
{{- else -}}
{{- $found := lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" "nodefeatures.nfd.k8s-sigs.io" -}}
{{- $owned := dig "metadata" "labels" "specialresource.openshift.io/owned" "" (default dict $found) -}}
{{- ternary "observe" "chart" (and (not (empty $found)) (ne $owned "true")) -}}
{{- end -}}
{{- end -}}

{{/* Is the vendor's chart installed? */}}
{{- define "state.nfd.installs" -}}
{{- eq (include "state.nfd.mode" .) "chart" -}}
{{- end -}}
