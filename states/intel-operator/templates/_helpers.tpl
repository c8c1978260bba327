{{/* How the operator comes onto this cluster: observe, olm or chart (see values.yaml). */}}
{{- define "state.intel-operator.mode" -}}
{{- if ne .Values.mode "auto" -}}
{{- .Values.mode -}}
{{- else if eq (include "state.of-another" (list . "intel-device-plugins-operator")) "true" -}}
observe
{{- else if and (eq (include "state.observed-before" (list . "gpudeviceplugins.deviceplugin.intel.com")) "true") (ne (include "state.subscribed-by-another" .) "true") -}}
observe
{{- else if not (.Capabilities.APIVersions.Has "deviceplugin.intel.com/v1") -}}
{{- /* asked, so that the state is rendered again when the API comes or goes */ -}}
{{- include "state.install" . -}}
{{- else -}}
{{- include "state.by-definition" (list . "gpudeviceplugins.deviceplugin.intel.com") -}}
{{- end -}}
{{- end -}}

{{/* Is the vendor's chart installed? */}}
{{- define "state.intel-operator.installs" -}}
{{- eq (include "state.intel-operator.mode" .) "chart" -}}
{{- end -}}
