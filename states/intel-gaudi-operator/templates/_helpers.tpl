{{/* The ClusterPolicy that is there: there is one in a cluster, whatever its name. JSON; without a name: none. */}}
{{- define "state.intel-gaudi-operator.found" -}}
{{- $found := dict -}}
{{- if .Capabilities.APIVersions.Has "habanalabs.habana.ai/v1" -}}
{{- range default list (lookup "habanalabs.habana.ai/v1" "ClusterPolicy" "" "").items -}}
{{- $found = . -}}
{{- end -}}
{{- end -}}
{{- toJson (dict "metadata" (pick (default dict $found.metadata) "name" "labels" "annotations" "deletionTimestamp")) -}}
{{- end -}}

{{/* How Intel's operator comes onto this cluster: observe, olm or chart (see values.yaml). */}}
{{- define "state.intel-gaudi-operator.mode" -}}
{{- if ne .Values.mode "auto" -}}
{{- .Values.mode -}}
{{- else if eq (include "state.of-another" (list . "habana-ai-operator")) "true" -}}
observe
{{- else if and (eq (include "state.observed-before" (list . "clusterpolicies.habanalabs.habana.ai")) "true") (ne (include "state.subscribed-by-another" .) "true") -}}
observe
{{- else if and (.Capabilities.APIVersions.Has "habanalabs.habana.ai/v1") (eq (include "state.by-definition" (list . "clusterpolicies.habanalabs.habana.ai")) "chart") -}}
chart
{{- else -}}
{{- $found := fromJson (include "state.intel-gaudi-operator.found" .) -}}
{{- $ours := or (eq (include "state.ours" (list . $found)) "true") (eq (include "state.subscribed-by-another" .) "true") -}}
{{- ternary "observe" (include "state.install" .) (and (not (empty $found.metadata)) (not $ours)) -}}
{{- end -}}
{{- end -}}

{{/* Is the vendor's chart installed? */}}
{{- define "state.intel-gaudi-operator.installs" -}}
{{- eq (include "state.intel-gaudi-operator.mode" .) "chart" -}}
{{- end -}}
