{{/* Did this resource bring the object (list . OBJECT)? Another resource's is observed as anybody's. */}}
{{- define "state.ours" -}}
{{- $me := (index . 0).Release.Name -}}
{{- $object := default dict (index . 1) -}}
{{- $owned := eq (dig "metadata" "labels" "specialresource.openshift.io/owned" "" $object) "true" -}}
{{- and $owned (eq (dig "metadata" "annotations" "slipway.dev/resource" $me $object) $me) -}}
{{- end -}}

{{- define "state.olm.group" -}}
apiVersion: v1
kind: Namespace
metadata:
  name: {{ .Values.olm.namespace }}
---
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata:
  name: {{ .Values.olm.package }}
  namespace: {{ .Values.olm.namespace }}
spec:
  targetNamespaces:
  - {{ .Values.olm.namespace }}
{{- end -}}

{{- define "state.olm.subscription" -}}
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata:
  name: {{ .Values.olm.package }}
  namespace: {{ .Values.olm.namespace }}
  annotations:
    {{- /* the catalogue's next version makes it UpgradePending, and is not wanted */}}
    helm.sh/readiness-success: '["{{ with .Values.olm.startingCSV }}{.installedCSV} == {{ . }}{{ else }}{.state} == AtLatestKnown{{ end }}"]'
    helm.sh/readiness-failure: '["{.state} == UpgradeFailed"]'
    {{- with .Values.olm.startingCSV }}
    slipway.dev/approve-install-plan: {{ . }}
    {{- end }}
spec:
  name: {{ .Values.olm.package }}
  channel: {{ .Values.olm.channel | quote }}
  source: {{ .Values.olm.source }}
  sourceNamespace: {{ .Values.olm.sourceNamespace }}
  installPlanApproval: {{ ternary "Automatic" "Manual" (empty .Values.olm.startingCSV) }}
  {{- with .Values.olm.startingCSV }}
  startingCSV: {{ . }}
  {{- end }}
{{- end -}}
