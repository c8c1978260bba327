{{/* The NicClusterPolicy that is there. JSON; without a name: none. */}}
{{- define "state.nvidia-network-operator.found" -}}
{{- $found := dict -}}
{{- if .Capabilities.APIVersions.Has "mellanox.com/v1alpha1" -}}
{{- $found = lookup "mellanox.com/v1alpha1" "NicClusterPolicy" "" "nic-cluster-policy" -}}
{{- end -}}
{{- toJson (dict "metadata" (pick (default dict $found.metadata) "name" "labels" "annotations" "deletionTimestamp")) -}}
{{- end -}}

{{/* How the network operator comes onto this cluster: observe, olm or chart (see values.yaml). */}}
{{- define "state.nvidia-network-operator.mode" -}}
{{- if ne .Values.mode "auto" -}}
{{- .Values.mode -}}
{{- else if eq (include "state.of-another" (list . "network-operator")) "true" -}}
observe
{{- else if and (eq (include "state.observed-before" (list . "nicclusterpolicies.mellanox.com")) "true") (ne (include "state.subscribed-by-another" .) "true") -}}
observe
{{- else if and (.Capabilities.APIVersions.Has "mellanox.com/v1alpha1") (eq (include "state.by-definition" (list . "nicclusterpolicies.mellanox.com")) "chart") -}}
chart
{{- else -}}
{{- $found := fromJson (include "state.nvidia-network-operator.found" .) -}}
{{- $ours := or (eq (include "state.ours" (list . $found)) "true") (eq (include "state.subscribed-by-another" .) "true") -}}
{{- ternary "observe" (include "state.install" .) (and (not (empty $found.metadata)) (not $ours)) -}}
{{- end -}}
{{- end -}}

{{/* Is the vendor's chart installed? */}}
{{- define "state.nvidia-network-operator.installs" -}}
{{- eq (include "state.nvidia-network-operator.mode" .) "chart" -}}
{{- end -}}
