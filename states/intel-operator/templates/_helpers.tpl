{{/*
How the operator comes onto this cluster: observe, olm or chart (see values.yaml). What this state
installed carries the owner mark, so that the answer stays the same when the API is served later on.
*/}}
{{- define "state.intel-operator.mode" -}}
{{- $install := ternary "olm" "chart" (.Capabilities.APIVersions.Has "operators.coreos.com/v1alpha1") -}}
{{- if ne .Values.mode "auto" -}}
{{- .Values.mode -}}
{{- else if not (.Capabilities.APIVersions.Has "deviceplugin.intel.com/v1") -}}
{{- $install -}}
{{- else -}}
{{- $found := dict -}}
{{- if eq $install "olm" -}}
{{- $found = lookup "operators.coreos.com/v1alpha1" "Subscription" .Values.olm.namespace .Values.olm.package -}}
{{- else -}}
{{- $found = lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" "gpudeviceplugins.deviceplugin.intel.com" -}}
{{- end -}}
{{- $ours := eq (include "state.ours" (list . $found)) "true" -}}
{{- $begun := and (eq $install "chart") (empty $found) -}}
{{- ternary $install "observe" (or $begun $ours) -}}
{{- end -}}
{{- end -}}

{{/* Is the vendor's chart installed? */}}
{{- define "state.intel-operator.installs" -}}
{{- eq (include "state.intel-operator.mode" .) "chart" -}}
{{- end -}}
