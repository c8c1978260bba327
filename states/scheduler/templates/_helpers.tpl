{{/*
What slipway-scheduler is here: extender, of a kube-scheduler in the same pod; evictor, where the cluster's own
kube-scheduler gives slices away (Dynamic Resource Allocation); or none, where nobody is to be evicted for it.
*/}}
{{- define "scheduler.mode" -}}
{{- if eq (include "slicing.api" .) "deviceplugin" -}}
extender
{{- else if .Values.preemption -}}
evictor
{{- else -}}
none
{{- end -}}
{{- end -}}
