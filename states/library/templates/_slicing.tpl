{{/*
Why slices cannot be given out by Dynamic Resource Allocation; empty: they can. It takes resource.k8s.io/v1, counters of
ResourceSlices and extendedResourceName of DeviceClasses, which a server drops whose feature gates are off. Where slipway has
found out which are on, it goes by that; else by the version: with 1.36 they are on by default.
*/}}
{{- define "slicing.lacks" -}}
{{- $version := .Capabilities.KubeVersion.Version -}}
{{- $gates := dict -}}
{{- with .Values.featureGates }}{{ $gates = . }}{{ end -}}
{{- $partitionable := dig "DRAPartitionableDevices" "" $gates -}}
{{- $extended := dig "DRAExtendedResource" "" $gates -}}
{{- if not (.Capabilities.APIVersions.Has "resource.k8s.io/v1") -}}
{{- if semverCompare ">=1.36.0-0" $version -}}
{{- printf "Kubernetes %s does not serve resource.k8s.io/v1" $version -}}
{{- else -}}
{{- printf "Kubernetes is %s, Dynamic Resource Allocation needs 1.36" $version -}}
{{- end -}}
{{- else if eq (toString $partitionable) "false" -}}
{{- printf "the API server of Kubernetes %s has its feature gate DRAPartitionableDevices off (by default it is on from 1.36 on)" $version -}}
{{- else if eq (toString $extended) "false" -}}
{{- printf "the API server of Kubernetes %s has its feature gate DRAExtendedResource off (by default it is on from 1.36 on)" $version -}}
{{- else if and (semverCompare "<1.36.0-0" $version) (not (and $partitionable $extended)) -}}
{{- printf "Kubernetes is %s, Dynamic Resource Allocation needs 1.36" $version -}}
{{- end -}}
{{- end -}}

{{/*
How slices are given out: dra (Dynamic Resource Allocation) or deviceplugin. global.slicing says it; with auto it is
dra where that lacks nothing.
*/}}
{{- define "slicing.api" -}}
{{- $wanted := toString (dig "slicing" "auto" (default dict .Values.global)) -}}
{{- if not (has $wanted (list "auto" "deviceplugin" "dra")) -}}
{{- fail (printf "global.slicing: %q is none of auto, deviceplugin, dra" $wanted) -}}
{{- end -}}
{{- $lacks := include "slicing.lacks" . -}}
{{- if eq $wanted "auto" -}}
{{- ternary "deviceplugin" "dra" (ne $lacks "") -}}
{{- else -}}
{{- if and (eq $wanted "dra") $lacks -}}
{{- fail (printf "global.slicing: dra cannot be: %s; set auto or deviceplugin" $lacks) -}}
{{- end -}}
{{- $wanted -}}
{{- end -}}
{{- end -}}

{{/* What the state of the node daemon is called: by Dynamic Resource Allocation it is a driver; else as its chart. */}}
{{- define "slicing.state-name" -}}
{{- if eq (include "slicing.api" .) "dra" }}dra-driver{{ end -}}
{{- end -}}

{{/* The same for people, with the reason. */}}
{{- define "slicing.why" -}}
{{- $wanted := toString (dig "slicing" "auto" (default dict .Values.global)) -}}
{{- $dra := eq (include "slicing.api" .) "dra" -}}
{{- $how := ternary "slices by Dynamic Resource Allocation" "slices by the device plugin, with webhook and scheduler" $dra -}}
{{- $why := "global.slicing says so" -}}
{{- if eq $wanted "auto" -}}
{{- $why = include "slicing.lacks" . -}}
{{- if $dra -}}
{{- $why = printf "Kubernetes %s serves resource.k8s.io/v1; no webhook and no extender of a scheduler is needed" .Capabilities.KubeVersion.Version -}}
{{- end -}}
{{- end -}}
{{- printf "%s: %s" $how $why -}}
{{- end -}}
