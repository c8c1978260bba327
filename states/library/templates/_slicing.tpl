{{/*
How slices are given out: dra (Dynamic Resource Allocation) or deviceplugin. global.slicing says it; with auto it is
dra from Kubernetes 1.36 on, where resource.k8s.io/v1 is served: older servers drop sharedCounters of ResourceSlices
and extendedResourceName of DeviceClasses, without which nothing is placed.
*/}}
{{- define "slicing.api" -}}
{{- $wanted := toString (dig "slicing" "auto" (default dict .Values.global)) -}}
{{- if not (has $wanted (list "auto" "deviceplugin" "dra")) -}}
{{- fail (printf "global.slicing: %q is none of auto, deviceplugin, dra" $wanted) -}}
{{- end -}}
{{- $served := .Capabilities.APIVersions.Has "resource.k8s.io/v1" -}}
{{- $new := semverCompare ">=1.36.0-0" .Capabilities.KubeVersion.Version -}}
{{- if eq $wanted "auto" -}}
{{- ternary "dra" "deviceplugin" (and $served $new) -}}
{{- else -}}
{{- if and (eq $wanted "dra") (not (and $served $new)) -}}
{{- fail (printf "global.slicing: dra needs Kubernetes 1.36 or newer and resource.k8s.io/v1; the cluster has %s%s: set auto or deviceplugin" .Capabilities.KubeVersion.Version (ternary "" ", which does not serve it" $served)) -}}
{{- end -}}
{{- $wanted -}}
{{- end -}}
{{- end -}}

{{/* The same for people, with the reason. */}}
{{- define "slicing.why" -}}
{{- $wanted := toString (dig "slicing" "auto" (default dict .Values.global)) -}}
{{- $version := .Capabilities.KubeVersion.Version -}}
{{- $dra := eq (include "slicing.api" .) "dra" -}}
{{- $how := ternary "slices by Dynamic Resource Allocation" "slices by the device plugin, with webhook and scheduler" $dra -}}
{{- $why := "global.slicing says so" -}}
{{- if eq $wanted "auto" -}}
{{- if $dra -}}
{{- $why = printf "Kubernetes %s serves resource.k8s.io/v1; no webhook and no extender of a scheduler is needed" $version -}}
{{- else if semverCompare ">=1.36.0-0" $version -}}
{{- $why = printf "Kubernetes %s does not serve resource.k8s.io/v1" $version -}}
{{- else -}}
{{- $why = printf "Kubernetes is %s, Dynamic Resource Allocation needs 1.36" $version -}}
{{- end -}}
{{- end -}}
{{- printf "%s: %s" $how $why -}}
{{- end -}}
