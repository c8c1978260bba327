{{- define "slipway.openshift" -}}
{{- if .Values.platform }}{{ if eq .Values.platform "openshift" }}true{{ end }}
{{- else if .Capabilities.APIVersions.Has "config.openshift.io/v1" }}true{{ end }}
{{- end }}

{{- define "slipway.image" -}}
{{- if .Values.image.digest }}{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else }}{{ .Values.image.repository }}:{{ .Values.image.tag | default (printf "v%s" .Chart.AppVersion) }}{{ end }}
{{- end }}

{{- define "slipway.labels" -}}
app.kubernetes.io/name: slipway
app.kubernetes.io/part-of: slipway
{{- end }}

{{- define "slipway.selector" -}}
app.kubernetes.io/name: slipway
app.kubernetes.io/component: controller
{{- end }}

{{- define "slipway.relatedImages" -}}
{{- if kindIs "string" .Values.relatedImages }}{{ .Values.relatedImages }}
{{- else if .Values.relatedImages }}{{ toJson .Values.relatedImages }}{{ end }}
{{- end }}

{{- /* What slipway does on every cluster, whatever the recipes are. */ -}}
{{- define "slipway.clusterRules" -}}
- apiGroups: [sro.openshift.io]
  resources: [specialresources, specialresourcemodules, preflightvalidations]
  verbs: [get, list, watch, create, update, patch, delete]
- apiGroups: [sro.openshift.io]
  resources: [specialresources/status, specialresourcemodules/status, preflightvalidations/status]
  verbs: [get, update, patch]
- apiGroups: [sro.openshift.io]
  resources: [specialresources/finalizers, specialresourcemodules/finalizers, preflightvalidations/finalizers]
  verbs: [update]
- apiGroups: [inference.redhat.com]
  resources: [dasoperators]
  verbs: [get, list, watch]
- apiGroups: [inference.redhat.com]
  resources: [dasoperators/status]
  verbs: [get, update, patch]
- apiGroups: [apiextensions.k8s.io]
  resources: [customresourcedefinitions]
  verbs: [get, list, watch]
- apiGroups: [""]
  resources: [nodes]
  verbs: [get, list, watch, patch]
- apiGroups: [""]
  resources: [pods]
  verbs: [get, list, watch{{ if .Values.legacyRights }}, delete{{ end }}]
{{- if .Values.legacyRights }}
- apiGroups: [""]
  resources: [pods/eviction]
  verbs: [create]
{{- end }}
- apiGroups: ["", events.k8s.io]
  resources: [events]
  verbs: [create, patch]
- apiGroups: [""]
  resources: [namespaces]
  verbs: [get, list, watch]
# the ranges of services, which no recipe may come from
- apiGroups: [networking.k8s.io]
  resources: [servicecidrs]
  verbs: [list]
- apiGroups: [""]
  resources: [services]
  resourceNames: [kubernetes]
  verbs: [get]
{{- if .Values.dashboard.enabled }}
# what the page shows besides
- apiGroups: [""]
  resources: [events]
  verbs: [list, watch]
- apiGroups: [""]
  resources: [pods/log]
  verbs: [get]
- apiGroups: [inference.redhat.com]
  resources: [nodeaccelerators, allocationclaims]
  verbs: [list, watch]
- apiGroups: [resource.k8s.io]
  resources: [resourceslices, deviceclasses, resourceclaims]
  verbs: [list, watch]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [list, watch]
{{- end }}
{{- if or .Values.metrics.secure .Values.dashboard.enabled }}
# who may read metrics
- apiGroups: [authentication.k8s.io]
  resources: [tokenreviews]
  verbs: [create]
- apiGroups: [authorization.k8s.io]
  resources: [subjectaccessreviews]
  verbs: [create]
{{- end }}
{{- if .Values.metrics.secure }}
# its own, for slipway gather
- nonResourceURLs: [/metrics, /requests]
  verbs: [get]
{{- end }}
{{- if and .Values.admissionWebhook.enabled (not (or .Values.metrics.secure .Values.dashboard.enabled)) }}
# who may act as which account
- apiGroups: [authorization.k8s.io]
  resources: [subjectaccessreviews]
  verbs: [create]
{{- end }}
{{- with .Values.rbac.extraRules }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* Where facts come from that templates are given: versions, proxy, networks, image mirrors, TLS profile, the
     driver toolkit; and what registries are asked with: the cluster's pull secret and CAs. */ -}}
{{- define "slipway.openshiftRules" -}}
- apiGroups: [config.openshift.io]
  resources: [clusterversions, proxies, infrastructures, images, imagedigestmirrorsets, imagetagmirrorsets, apiservers, networks]
  verbs: [get, list, watch]
- apiGroups: [operator.openshift.io]
  resources: [imagecontentsourcepolicies]
  verbs: [get, list, watch]
- apiGroups: [image.openshift.io]
  resources: [imagestreams]
  resourceNames: [driver-toolkit]
  verbs: [get, list, watch]
- apiGroups: [""]
  resources: [configmaps]
  resourceNames: [machine-config-osimageurl, user-ca-bundle]
  verbs: [get, list, watch]
- apiGroups: [""]
  resources: [secrets]
  resourceNames: [pull-secret]
  verbs: [get]
{{- end }}

{{- /* What it does in its own namespace: the lock of the leader, recipes in ConfigMaps,
     which resource depends on which, who it is to the sources of recipes. */ -}}
{{- define "slipway.namespaceRules" -}}
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [get, create, update, patch]
- apiGroups: [""]
  resources: [configmaps]
  verbs: [get, list, watch, create, patch]
- apiGroups: [""]
  resources: [secrets]
  verbs: [get]
{{- end }}

{{- define "slipway.podSpec" -}}
serviceAccountName: {{ .Values.serviceAccount.name }}
{{- if .Values.priorityClass.name }}
priorityClassName: {{ .Values.priorityClass.name }}
{{- end }}
terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
securityContext:
  runAsNonRoot: true
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
{{- toYaml . | nindent 0 }}
{{- end }}
containers:
- name: controller
  image: {{ include "slipway.image" . }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  args:
  - controller
  {{- if .Values.leaderElect }}
  - --leader-elect
  {{- end }}
  - --metrics-bind-address=:{{ .Values.metrics.port }}
  {{- if not .Values.metrics.secure }}
  - --metrics-secure=false
  {{- else if .Values.metrics.certSecret }}
  - --metrics-cert-path=/etc/slipway-metrics
  {{- end }}
  - --health-probe-bind-address=:8081
  - --log-level={{ .Values.logLevel }}
  - --log-level-file=/etc/slipway/logLevel
  {{- if not .Values.legacyRights }}
  - --allowed-files={{ join "," .Values.allowedFiles }}
  {{- end }}
  {{- with .Values.nodePolicy }}
  {{- with .selector }}
  - {{ printf "--nodes-selector=%s" . | quote }}
  {{- end }}
  {{- if .controlPlane }}
  - --nodes-control-plane
  {{- end }}
  {{- if ne (toString .atWork) "1" }}
  - --nodes-at-work={{ .atWork }}
  {{- end }}
  {{- if ne (toString .tainted) "50%" }}
  - --nodes-tainted={{ .tainted }}
  {{- end }}
  {{- if .force }}
  - --nodes-force
  {{- end }}
  {{- end }}
  {{- with .Values.allowedSources }}
  - {{ printf "--allowed-sources=%s" (join "," .) | quote }}
  {{- end }}
  {{- with .Values.mirror }}
  - {{ printf "--mirror=%s" (join "," .) | quote }}
  {{- end }}
  {{- if .Values.legacyRights }}
  - --legacy-rights
  {{- end }}
  {{- if .Values.admissionWebhook.enabled }}
  - --admission-bind-address=:{{ .Values.admissionWebhook.port }}
  - --admission-cert-path=/etc/slipway-admission
  - --admission-operator=system:serviceaccount:{{ .Release.Namespace }}:{{ .Values.serviceAccount.name }}
  {{- end }}
  {{- if .Values.dashboard.enabled }}
  - --dashboard-bind-address=:{{ .Values.dashboard.port }}
  {{- if .Values.dashboard.certSecret }}
  - --dashboard-cert-path=/etc/slipway-dashboard
  {{- end }}
  {{- end }}
  {{- with .Values.extraArgs }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  env:
  - name: OPERATOR_NAMESPACE
    valueFrom:
      fieldRef:
        fieldPath: metadata.namespace
  - name: POD_NAME
    valueFrom:
      fieldRef:
        fieldPath: metadata.name
  - name: SLIPWAY_CACHE_DIR
    value: /tmp/cache
  {{- with .Values.emulatedMode }}
  - name: EMULATED_MODE
    value: {{ . | quote }}
  {{- end }}
  {{- with (include "slipway.relatedImages" .) }}
  - name: RELATED_IMAGES
    value: {{ . | quote }}
  {{- end }}
  {{- with .Values.apiServer }}
  - name: KUBERNETES_SERVICE_HOST
    value: {{ regexReplaceAll ":[0-9]+$" . "" | quote }}
  - name: KUBERNETES_SERVICE_PORT
    value: {{ regexFind "[0-9]+$" . | default "443" | quote }}
  {{- end }}
  {{- with .Values.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  ports:
  - name: metrics
    protocol: TCP
    containerPort: {{ .Values.metrics.port }}
  - name: health
    protocol: TCP
    containerPort: 8081
  {{- if .Values.admissionWebhook.enabled }}
  - name: admission
    protocol: TCP
    containerPort: {{ .Values.admissionWebhook.port }}
  {{- end }}
  {{- if .Values.dashboard.enabled }}
  - name: dashboard
    protocol: TCP
    containerPort: {{ .Values.dashboard.port }}
  {{- end }}
  startupProbe:
    httpGet: {path: /healthz, port: health}
    periodSeconds: 1
    failureThreshold: 60
  livenessProbe:
    httpGet: {path: /healthz, port: health}
    periodSeconds: 20
    timeoutSeconds: 5
  readinessProbe:
    httpGet: {path: /readyz, port: health}
    periodSeconds: 5
  resources:
    {{- toYaml .Values.resources | nindent 4 }}
  securityContext:
    allowPrivilegeEscalation: false
    readOnlyRootFilesystem: true
    capabilities:
      drop: [ALL]
  volumeMounts:
  - {name: tmp, mountPath: /tmp}
  - {name: config, mountPath: /etc/slipway, readOnly: true}
  {{- if .Values.metrics.certSecret }}
  - {name: metrics-certificate, mountPath: /etc/slipway-metrics, readOnly: true}
  {{- end }}
  {{- if .Values.admissionWebhook.enabled }}
  - {name: admission-certificate, mountPath: /etc/slipway-admission, readOnly: true}
  {{- end }}
  {{- if and .Values.dashboard.enabled .Values.dashboard.certSecret }}
  - {name: dashboard-certificate, mountPath: /etc/slipway-dashboard, readOnly: true}
  {{- end }}
volumes:
# Recipes that were downloaded (256 MiB at most), and git repositories while they are fetched.
- name: tmp
  emptyDir:
    sizeLimit: 1Gi
# kubectl create configmap slipway-config --from-literal=logLevel=debug: acts while the pod runs
- name: config
  configMap:
    name: slipway-config
    optional: true
{{- with .Values.metrics.certSecret }}
- name: metrics-certificate
  secret:
    secretName: {{ . }}
{{- end }}
{{- if .Values.admissionWebhook.enabled }}
- name: admission-certificate
  secret:
    secretName: {{ .Values.admissionWebhook.certSecret }}
{{- end }}
{{- if and .Values.dashboard.enabled .Values.dashboard.certSecret }}
- name: dashboard-certificate
  secret:
    secretName: {{ .Values.dashboard.certSecret }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
{{- toYaml . | nindent 0 }}
{{- end }}
affinity:
{{- if .Values.affinity }}
  {{- toYaml .Values.affinity | nindent 2 }}
{{- else }}
  # not both on one node
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
    - weight: 100
      podAffinityTerm:
        topologyKey: kubernetes.io/hostname
        labelSelector:
          matchLabels:
            {{- include "slipway.selector" . | nindent 12 }}
{{- end }}
{{- end }}
