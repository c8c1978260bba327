{{/* How AMD's GPU operator comes onto this cluster: observe, olm or chart (see values.yaml). */}}
{{- define "state.amd-gpu-operator.mode" -}}
{{- if ne .Values.mode "auto" -}}
{{- .Values.mode -}}
{{- else if eq (include "state.of-another" (list . "amd-gpu-operator")) "true" -}}
observe
{{- else if and (eq (include "state.observed-before" (list . "deviceconfigs.amd.com")) "true") (ne (include "state.subscribed-by-another" .) "true") -}}
observe
{{- else if not (.Capabilities.APIVersions.Has "amd.com/v1alpha1") -}}
{{- /* asked, so that the state is rendered again when the API comes or goes */ -}}
{{- include "state.install" . -}}
{{- else -}}
{{- include "state.by-definition" (list . "deviceconfigs.amd.com") -}}
{{- end -}}
{{- end -}}

{{/* Is the vendor's chart installed? */}}
{{- define "state.amd-gpu-operator.installs" -}}
{{- eq (include "state.amd-gpu-operator.mode" .) "chart" -}}
{{- end -}}
