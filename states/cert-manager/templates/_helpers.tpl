{{/* How cert-manager comes onto this cluster: observe, olm or chart (see values.yaml). */}}
{{- define "state.cert-manager.mode" -}}
{{- if ne .Values.mode "auto" -}}
{{- .Values.mode -}}
{{- else if eq (include "state.of-another" (list . "cert-manager")) "true" -}}
observe
{{- else if not (.Capabilities.APIVersions.Has "cert-manager.io/v1") -}}
{{- /* asked, so that the state is rendered again when the API comes or goes */ -}}
{{- include "state.install" . -}}
{{- else -}}
{{- include "state.by-definition" (list . "certificates.cert-manager.io") -}}
{{- end -}}
{{- end -}}

{{/* Is the vendor's chart installed? */}}
{{- define "state.cert-manager.installs" -}}
{{- eq (include "state.cert-manager.mode" .) "chart" -}}
{{- end -}}
