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
{{- $ours := eq (include "state.ours" (list . $found)) "true" -}}
{{- ternary "observe" "olm" (and (not (empty $found)) (not $ours)) -}}
{{- else if not (.Capabilities.APIVersions.Has "nfd.k8s-sigs.io/v1alpha1") -}}
{{- /* asked, so that the state is rendered again when the API goes with who brought it */ -}}
chart
{{- else -}}
{{- $found := lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" "nodefeatures.nfd.k8s-sigs.io" -}}
{{- $ours := eq (include "state.ours" (list . $found)) "true" -}}
{{- ternary "observe" "chart" (and (not (empty $found)) (not $ours)) -}}
{{- end -}}
{{- end -}}

{{/* Is the vendor's chart installed? */}}
{{- define "state.nfd.installs" -}}
{{- eq (include "state.nfd.mode" .) "chart" -}}
{{- end -}}
