{{/* The texts of a Module name kernels: {{ include "module.expand" (dict "text" T "root" $) }} */}}
{{- define "module.expand" -}}
{{- $kernel := .root.Values.kernelFullVersion | replace "+" "_" -}}
{{- $parts := regexSplit "[.,-]" $kernel -1 -}}
{{- $text := .text -}}
{{- $words := list
  (list "KERNEL_FULL_VERSION" $kernel) (list "KERNEL_VERSION" $kernel)
  (list "KERNEL_XYZ" (slice $parts 0 3 | join ".")) (list "KERNEL_X" (index $parts 0))
  (list "KERNEL_Y" (index $parts 1)) (list "KERNEL_Z" (index $parts 2))
  (list "MOD_NAMESPACE" .root.Values.namespace) (list "MOD_NAME" .root.Values.name) -}}
{{- range $words }}
{{- $text = $text | replace (printf "${%s}" (index . 0)) (index . 1) | replace (printf "$%s" (index . 0)) (index . 1) -}}
{{- end }}
{{- $text -}}
{{- end }}

{{/* The kernel mapping for this kernel with what it takes from the container, as YAML; empty: there is
none. . is {"container", "root"}. */}}
{{- define "module.mapping" -}}
{{- $kernel := .root.Values.kernelFullVersion -}}
{{- $container := .container -}}
{{- $found := dict -}}
{{- range $container.kernelMappings }}
{{- $fits := eq (.literal | default "") $kernel -}}
{{- if and (not $fits) .regexp }}{{ $fits = regexMatch .regexp $kernel }}{{ end -}}
{{- if and $fits (not $found) }}{{ $found = . }}{{ end -}}
{{- end }}
{{- if $found }}
{{- $build := dict -}}
{{- if or $container.build $found.build }}
{{- $usual := $container.build | default dict }}{{ $own := $found.build | default dict -}}
{{- $args := dict -}}
{{- range concat ($usual.buildArgs | default list) ($own.buildArgs | default list) }}{{ $_ := set $args .name .value }}{{ end -}}
{{- $build = dict "dockerfile" ($own.dockerfileConfigMap | default $usual.dockerfileConfigMap).name "args" $args
  "secrets" (concat ($usual.secrets | default list) ($own.secrets | default list))
  "selector" ($usual.selector | default $own.selector) "tls" ($usual.baseImageRegistryTLS | default $own.baseImageRegistryTLS | default dict) -}}
{{- end }}
{{- $sign := dict -}}
{{- if or $container.sign $found.sign }}
{{- $usual := $container.sign | default dict }}{{ $own := $found.sign | default dict -}}
{{- $files := list -}}
{{- range concat ($usual.filesToSign | default list) ($own.filesToSign | default list) }}
{{- $files = append $files (include "module.expand" (dict "text" . "root" $.root)) }}
{{- end -}}
{{- $sign = dict "key" ($own.keySecret | default $usual.keySecret).name "cert" ($own.certSecret | default $usual.certSecret).name
  "files" $files "image" (include "module.expand" (dict "text" ($own.unsignedImage | default $usual.unsignedImage | default "") "root" .root))
  "tls" ($usual.unsignedImageRegistryTLS | default $own.unsignedImageRegistryTLS | default dict) -}}
{{- end }}
{{- $remove := $container.inTreeModulesToRemove | default (compact (list ($container.inTreeModuleToRemove | default ""))) -}}
{{- $remove = $found.inTreeModulesToRemove | default (compact (list ($found.inTreeModuleToRemove | default ""))) | default $remove -}}
{{- toYaml (dict "image" (include "module.expand" (dict "text" ($found.containerImage | default $container.containerImage) "root" .root))
  "tls" ($found.registryTLS | default $container.registryTLS | default dict)
  "build" $build "sign" $sign "remove" $remove) -}}
{{- end }}
{{- end }}

{{/* The versions of the module: {"versions": [{"version", "suffix", "container"}]}, as YAML. */}}
{{- define "module.versions" -}}
{{- $container := (.Values.module.moduleLoader | default dict).container -}}
{{- $list := list -}}
{{- if $container }}
{{- range prepend .Values.versions dict }}
{{- $one := mergeOverwrite (deepCopy $container) . -}}
{{- $version := $one.version | default "" | toString -}}
{{- $list = append $list (dict "version" $version "suffix" (ternary (printf "-%s" ($version | lower | replace "_" "-" | replace "." "-")) "" (ne $version "")) "container" $one) -}}
{{- end }}
{{- end }}
{{- toYaml (dict "versions" $list) -}}
{{- end }}

{{- define "module.labels" -}}
app.kubernetes.io/name: {{ .Values.name | quote }}
app.kubernetes.io/part-of: kmm
kmm.node.kubernetes.io/module.name: {{ .Values.name | quote }}
{{- end }}

{{- define "module.pullSecrets" -}}
{{- with .Values.module.imageRepoSecret -}}
imagePullSecrets:
- name: {{ .name }}
{{- end -}}
{{- end }}

{{/* A text as one word of a shell. */}}
{{- define "module.shell" -}}
{{- if contains "\n" (toString .) }}{{ fail (printf "%q: a line break in what is one word of a command" .) }}{{ end -}}
'{{ . | toString | replace "'" "'\\''" }}'
{{- end }}

{{/* A folder or file of an image, from its root. */}}
{{- define "module.path" -}}
/{{ . | toString | trimPrefix "/" }}
{{- end }}
