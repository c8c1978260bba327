{{/* How cert-manager comes onto this cluster: observe, olm or chart (see values.yaml); none: it is not needed. */}}
{{- define "state.cert-manager.mode" -}}
{{- if ne .Values.mode "auto" -}}
{{- .Values.mode -}}
{{- else if and .Values.onlyWithSlicing (ne .Values.onlyWithSlicing (include "slicing.api" .)) -}}
{{- include "state.cert-manager.kept" . -}}
{{- else if eq (include "state.of-another" (list . "cert-manager")) "true" -}}
observe
{{- else if and (eq (include "state.observed-before" (list . "certificates.cert-manager.io")) "true") (ne (include "state.subscribed-by-another" .) "true") -}}
observe
{{- else if not (.Capabilities.APIVersions.Has "cert-manager.io/v1") -}}
{{- /* asked, so that the state is rendered again when the API comes or goes */ -}}
{{- include "state.install" . -}}
{{- else -}}
{{- include "state.by-definition" (list . "certificates.cert-manager.io") -}}
{{- end -}}
{{- end -}}

{{/* Not needed: what this resource has installed before stays, as others may have certificates of it. */}}
{{- define "state.cert-manager.kept" -}}
{{- $definition := dict -}}
{{- if .Capabilities.APIVersions.Has "cert-manager.io/v1" -}}
{{- $definition = lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" "certificates.cert-manager.io" | default dict -}}
{{- end -}}
{{- if or (eq (include "state.of-another" (list . "cert-manager")) "true") (eq (include "state.subscribed-by-another" .) "true") -}}
none
{{- else if eq (include "state.subscribed" .) "true" -}}
olm
{{- else -}}
{{- ternary "chart" "none" (and (not (empty $definition)) (eq (include "state.ours" (list . $definition)) "true")) -}}
{{- end -}}
{{- end -}}

{{/* Is the vendor's chart installed? */}}
{{- define "state.cert-manager.installs" -}}
{{- eq (include "state.cert-manager.mode" .) "chart" -}}
{{- end -}}
