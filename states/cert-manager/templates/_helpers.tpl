{{/*
How cert-manager comes onto this cluster: observe, olm or chart. What this state installed
itself carries the owner mark, so the answer stays the same when the API is served later on. Asked
is what makes the API served: its definition is there, and marked, before anything else of this state,
or not there yet, while others of the group are.
*/}}
{{- define "state.cert-manager.mode" -}}
{{- $install := ternary "olm" "chart" (.Capabilities.APIVersions.Has "operators.coreos.com/v1alpha1") -}}
{{- if ne .Values.mode "auto" -}}
{{- .Values.mode -}}
{{- else if not (.Capabilities.APIVersions.Has "cert-manager.io/v1") -}}
{{- $install -}}
{{- else -}}
{{- $found := dict -}}
{{- if eq $install "olm" -}}
{{- $found = lookup "operators.coreos.com/v1alpha1" "Subscription" .Values.olm.namespace .Values.olm.package -}}
{{- else -}}
{{- $found = lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" "certificates.cert-manager.io" -}}
{{- end -}}
{{- $ours := eq (include "state.ours" (list . $found)) "true" -}}
{{- $begun := and (eq $install "chart") (empty $found) -}}
{{- ternary $install "observe" (or $begun $ours) -}}
{{- end -}}
{{- end -}}

{{/* Is the vendor's chart installed? */}}
{{- define "state.cert-manager.installs" -}}
{{- eq (include "state.cert-manager.mode" .) "chart" -}}
{{- end -}}
