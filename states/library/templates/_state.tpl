{{/*
Did this resource bring the object (list . OBJECT)? Another resource's is observed as anybody's, but for one that is
gone without having handed over what this resource owns now.
*/}}
{{- define "state.ours" -}}
{{- $me := (index . 0).Release.Name -}}
{{- $marks := list $me -}}
{{- range (index . 0).Values.formerOwners -}}
{{- $marks = concat $marks . -}}
{{- end -}}
{{- $object := default dict (index . 1) -}}
{{- $owned := eq (dig "metadata" "labels" "specialresource.openshift.io/owned" "" $object) "true" -}}
{{- and $owned (has (dig "metadata" "annotations" "slipway.dev/resource" $me $object) $marks) -}}
{{- end -}}

{{/* Does another resource install the release (list . NAME) of .Values.namespace, for all of them? */}}
{{- define "state.of-another" -}}
{{- $root := index . 0 -}}
{{- hasKey (default dict $root.Values.releasesOfOthers) (printf "%s/%s" $root.Values.namespace (index . 1)) -}}
{{- end -}}

{{/*
How a part that nobody else has brought is installed: olm where OLM is served, unless its catalogue of .Values.olm
answers and lacks the package; else chart. Once there is a Subscription of this resource's, it stays olm.
*/}}
{{- define "state.install" -}}
{{- $olm := .Values.olm -}}
{{- if not (.Capabilities.APIVersions.Has "operators.coreos.com/v1alpha1") -}}
chart
{{- else if eq (include "state.subscribed" .) "true" -}}
olm
{{- else if not (.Capabilities.APIVersions.Has "packages.operators.coreos.com/v1") -}}
olm
{{- else -}}
{{- $catalogue := lookup "operators.coreos.com/v1alpha1" "CatalogSource" $olm.sourceNamespace $olm.source | default dict -}}
{{- $answers := eq (dig "status" "connectionState" "lastObservedState" "" $catalogue) "READY" -}}
{{- $package := lookup "packages.operators.coreos.com/v1" "PackageManifest" $olm.sourceNamespace $olm.package -}}
{{- ternary "chart" "olm" (and $answers (empty $package)) -}}
{{- end -}}
{{- end -}}

{{/* Has another resource subscribed to .Values.olm, for all of them? What it has made is observed then. */}}
{{- define "state.subscribed-by-another" -}}
{{- hasKey (default dict .Values.releasesOfOthers) (printf "%s/%s" .Values.olm.namespace (default .Values.olm.package .Values.olm.sharedAs)) -}}
{{- end -}}

{{/* Has this resource a Subscription of .Values.olm, or another one, for all of them? */}}
{{- define "state.subscribed" -}}
{{- if eq (include "state.subscribed-by-another" .) "true" -}}
true
{{- else if .Capabilities.APIVersions.Has "operators.coreos.com/v1alpha1" -}}
{{- include "state.ours" (list . (lookup "operators.coreos.com/v1alpha1" "Subscription" .Values.olm.namespace .Values.olm.package)) -}}
{{- end -}}
{{- end -}}

{{/*
Is OBJECT (list . OBJECT) what OLM has brought for .Values.olm, which is gone: by the label that OLM gives to what
belongs to a Subscription's operator? The operator runs while its ClusterServiceVersion is there, without a
Subscription, too. Source: pkg/controller/operators/decorators/operator.go of operator-lifecycle-manager.
*/}}
{{- define "state.left-by-olm" -}}
{{- $root := index . 0 -}}
{{- $olm := $root.Values.olm -}}
{{- $label := printf "operators.coreos.com/%s" (printf "%s.%s" $olm.package $olm.namespace | trunc 63) -}}
{{- $labels := default dict (dig "metadata" "labels" dict (default dict (index . 1))) -}}
{{- $left := and (hasKey $labels $label) ($root.Capabilities.APIVersions.Has "operators.coreos.com/v1alpha1") -}}
{{- if $left -}}
{{- $left = empty (lookup "operators.coreos.com/v1alpha1" "Subscription" $olm.namespace $olm.package) -}}
{{- range default list (lookup "operators.coreos.com/v1alpha1" "ClusterServiceVersion" $olm.namespace "").items -}}
{{- if hasKey (default dict .metadata.labels) $label -}}
{{- $left = false -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $left -}}
{{- end -}}

{{/*
How a part with the definition (list . NAME) is there or comes: chart where this resource brought the definition,
which it does by the chart alone, whatever a catalogue gets later; olm where it has a Subscription; observe where
somebody else brought it; and as it is installed where nobody has.
*/}}
{{- define "state.by-definition" -}}
{{- $root := index . 0 -}}
{{- $definition := lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" (index . 1) -}}
{{- $kept := dig "metadata" "annotations" "slipway.dev/kept" "" (default dict $definition) -}}
{{- $mark := dig "metadata" "annotations" "slipway.dev/resource" "" (default dict $definition) -}}
{{- if or (empty $definition) (and $kept (not $mark)) -}}
{{- /* slipway left it behind, since somebody has objects of it */ -}}
{{- include "state.install" $root -}}
{{- else if eq (include "state.ours" (list $root $definition)) "true" -}}
chart
{{- else if eq (include "state.left-by-olm" (list $root $definition)) "true" -}}
{{- include "state.install" $root -}}
{{- else -}}
{{- ternary "olm" "observe" (eq (include "state.subscribed" $root) "true") -}}
{{- end -}}
{{- end -}}

{{/*
Is OBJECT (list . OBJECT) somebody's for good: slipway did not make it, and it is not about to go? Of what OLM has
brought for .Values.olm somebody else's Subscription says that.
*/}}
{{- define "state.foreign" -}}
{{- $root := index . 0 -}}
{{- $olm := $root.Values.olm -}}
{{- $metadata := default dict (default dict (index . 1)).metadata -}}
{{- $label := printf "operators.coreos.com/%s" (printf "%s.%s" $olm.package $olm.namespace | trunc 63) -}}
{{- if hasKey (default dict $metadata.labels) $label -}}
{{- $metadata = default dict (lookup "operators.coreos.com/v1alpha1" "Subscription" $olm.namespace $olm.package).metadata -}}
{{- end -}}
{{- $owned := eq (dig "labels" "specialresource.openshift.io/owned" "" $metadata) "true" -}}
{{- $kept := hasKey (default dict $metadata.annotations) "slipway.dev/kept" -}}
{{- and (not (empty $metadata.name)) (not $metadata.deletionTimestamp) (not $owned) (not $kept) -}}
{{- end -}}

{{/* Has a state chosen before to observe NAME (list . NAME), which was somebody else's? The status keeps that. */}}
{{- define "state.observed-before" -}}
{{- has (index . 1) (values (default dict (index . 0).Values.observedStates)) -}}
{{- end -}}

{{/*
The annotation of what is observed (list . RELEASE NAME OBJECT) that has the status keep the choice: where it was made
before, or OBJECT, by which NAME is known, is somebody's for good.
*/}}
{{- define "state.observes" -}}
{{- $root := index . 0 -}}
{{- $another := or (eq (include "state.of-another" (list $root (index . 1))) "true") (eq (include "state.subscribed-by-another" $root) "true") -}}
{{- if and (eq $root.Values.mode "auto") (not $another) -}}
{{- if or (eq (include "state.observed-before" (list $root (index . 2))) "true") (eq (include "state.foreign" (list $root (index . 3))) "true") -}}
slipway.dev/observes: {{ index . 2 }}
{{- end -}}
{{- end -}}
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

{{/*
Statements that no node has the labels of .Values.refuse (NAME: {enabled, labels, message}): an operator says by them
that it has given up on a node; message is what to do. Nodes are selected at the API server, so that a large cluster costs nothing.
*/}}
{{- define "state.refuse" -}}
{{- range $name, $entry := .Values.refuse }}
{{- if and $entry.labels (ne (toString $entry.enabled) "false") }}
---
apiVersion: v1
kind: Node
metadata:
  name: {{ $name }}
  annotations:
    slipway.dev/observe: none
    slipway.dev/assert: {{ dict "metadata" (dict "labels" $entry.labels) | toJson | quote }}
    {{- with $entry.message }}
    slipway.dev/assert-message: {{ . | quote }}
    {{- end }}
{{- end }}
{{- end }}
{{- end -}}
