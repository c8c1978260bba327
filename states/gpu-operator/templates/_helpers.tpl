{{/* How the GPU operator comes onto this cluster: observe, olm or manifests (see values.yaml). */}}
{{- define "gpu-operator.mode" -}}
{{- $install := ternary "olm" "manifests" (.Capabilities.APIVersions.Has "operators.coreos.com/v1alpha1") -}}
{{- if ne .Values.mode "auto" -}}
{{- .Values.mode -}}
{{- else -}}
{{- $found := dict -}}
{{- if .Capabilities.APIVersions.Has "nvidia.com/v1" -}}
{{- $found = lookup "nvidia.com/v1" "ClusterPolicy" "" .Values.clusterPolicy -}}
{{- end -}}
{{- $owned := dig "metadata" "labels" "specialresource.openshift.io/owned" "" (default dict $found) -}}
{{- ternary "observe" $install (and (not (empty $found)) (ne $owned "true")) -}}
{{- end -}}
{{- end -}}

{{/* spec of the ClusterPolicy; OpenShift's driver toolkit is for OpenShift. */}}
{{- define "gpu-operator.spec" -}}
{{- $spec := deepCopy .Values.spec -}}
{{- if ne (include "gpu-operator.mode" .) "olm" -}}
{{- $_ := set $spec "operator" (merge (dict "defaultRuntime" "containerd" "use_ocp_driver_toolkit" false) (default dict $spec.operator)) -}}
{{- end -}}
{{- toYaml $spec -}}
{{- end -}}
