{{/*
How NFD comes onto this cluster: observe, olm or chart (see values.yaml). With OLM somebody else's is known by the
operand, since the operator alone finds nothing.
*/}}
{{- define "state.nfd.mode" -}}
{{- if ne .Values.mode "auto" -}}
{{- .Values.mode -}}
{{- else if eq (include "state.of-another" (list . "node-feature-discovery")) "true" -}}
observe
{{- else if and (eq (include "state.observed-before" (list . "nodefeatures.nfd.k8s-sigs.io")) "true") (ne (include "state.subscribed-by-another" .) "true") -}}
observe
{{- else -}}
{{- $mode := include "state.install" . -}}
{{- if .Capabilities.APIVersions.Has "nfd.k8s-sigs.io/v1alpha1" -}}
{{- $mode = include "state.by-definition" (list . "nodefeatures.nfd.k8s-sigs.io") -}}
{{- end -}}
{{- if and (eq $mode "olm") (.Capabilities.APIVersions.Has "nfd.openshift.io/v1") -}}
{{- $found := lookup "nfd.openshift.io/v1" "NodeFeatureDiscovery" .Values.olm.namespace .Values.olm.instance -}}
{{- $ours := or (eq (include "state.ours" (list . $found)) "true") (eq (include "state.subscribed-by-another" .) "true") -}}
{{- ternary "observe" "olm" (and (not (empty $found)) (not $ours)) -}}
{{- else -}}
{{- $mode -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Is the vendor's chart installed? */}}
{{- define "state.nfd.installs" -}}
{{- eq (include "state.nfd.mode" .) "chart" -}}
{{- end -}}
