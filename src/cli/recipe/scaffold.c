/* Two states each, to show their order: what is needed, then what needs it. Each recipe must
 * render, lint without a warning and get Ready: test/emulator/cli/create_test.sh. */
#include "cli/recipe/scaffold.h"

static const char chart_yaml[] = "apiVersion: v2\n"
                                 "name: \"<NAME>\"\n"
                                 "description: What <NAME> does, in a sentence\n"
                                 "type: application\n"
                                 "version: 0.1.0\n"
                                 "appVersion: \"0.1.0\"\n"
                                 "annotations:\n"
                                 "  # a state begins when all objects of the one before are ready\n"
                                 "  slipway.dev/wait: all\n";

static const char values_yaml[] = "# What users of the recipe may set (spec.set, -f, --set).\n"
                                  "image: <IMAGE>\n"
                                  "message: Hello from <NAME>\n"
                                  "nodeSelector:\n"
                                  "  kubernetes.io/os: linux\n";

static const char helpers_tpl[] = "{{- define \"recipe.labels\" -}}\n"
                                  "app.kubernetes.io/name: {{ .Chart.Name | quote }}\n"
                                  "app.kubernetes.io/instance: {{ .Release.Name | quote }}\n"
                                  "{{- end }}\n";

static const char settings_yaml[] = "# State 0000: what the agent needs.\n"
                                    "apiVersion: v1\n"
                                    "kind: ServiceAccount\n"
                                    "metadata:\n"
                                    "  name: {{ .Release.Name | quote }}\n"
                                    "  namespace: {{ .Release.Namespace }}\n"
                                    "  labels:\n"
                                    "    {{- include \"recipe.labels\" . | nindent 4 }}\n"
                                    "---\n"
                                    "apiVersion: v1\n"
                                    "kind: ConfigMap\n"
                                    "metadata:\n"
                                    "  name: {{ .Release.Name | quote }}\n"
                                    "  namespace: {{ .Release.Namespace }}\n"
                                    "  labels:\n"
                                    "    {{- include \"recipe.labels\" . | nindent 4 }}\n"
                                    "data:\n"
                                    "  message: {{ .Values.message | quote }}\n";

static const char agent_yaml[] = "# State 1000: the agent, on each node that is chosen.\n"
                                 "apiVersion: apps/v1\n"
                                 "kind: DaemonSet\n"
                                 "metadata:\n"
                                 "  name: {{ .Release.Name | quote }}\n"
                                 "  namespace: {{ .Release.Namespace }}\n"
                                 "  labels:\n"
                                 "    {{- include \"recipe.labels\" . | nindent 4 }}\n"
                                 "spec:\n"
                                 "  selector:\n"
                                 "    matchLabels:\n"
                                 "      {{- include \"recipe.labels\" . | nindent 6 }}\n"
                                 "  template:\n"
                                 "    metadata:\n"
                                 "      labels:\n"
                                 "        {{- include \"recipe.labels\" . | nindent 8 }}\n"
                                 "    spec:\n"
                                 "      serviceAccountName: {{ .Release.Name | quote }}\n"
                                 "      nodeSelector:\n"
                                 "        {{- toYaml .Values.nodeSelector | nindent 8 }}\n"
                                 "      containers:\n"
                                 "        - name: agent\n"
                                 "          image: {{ .Values.image | quote }}\n"
                                 "          command: [sh, -c, 'echo \"$MESSAGE\"; exec sleep "
                                 "infinity']\n"
                                 "          env:\n"
                                 "            - name: MESSAGE\n"
                                 "              valueFrom:\n"
                                 "                configMapKeyRef:\n"
                                 "                  name: {{ .Release.Name | quote }}\n"
                                 "                  key: message\n";

static const char helmignore[] = "# What is here besides, and no part of the recipe.\n"
                                 ".git/\n"
                                 ".gitignore\n"
                                 "*.swp\n"
                                 "*.bak\n"
                                 "*.orig\n"
                                 "*~\n";

#define README(states)                                                                             \
    "# <NAME>\n"                                                                                   \
    "\n"                                                                                           \
    "A recipe: a Helm chart whose parts are ordered. Templates that begin with four digits are\n"  \
    "states; a state is applied when the one before it is ready.\n"                                \
    "\n"                                                                                           \
    "| state | what it does |\n"                                                                   \
    "| --- | --- |\n" states "\n"                                                                  \
    "From the folder that holds this one:\n"                                                       \
    "\n"                                                                                           \
    "    slipway render <NAME>                        # the manifests\n"                           \
    "    slipway lint <NAME>                          # what is wrong with them\n"                 \
    "    slipway run <NAME> --emulate                 # walk it on an embedded cluster\n"          \
    "    slipway diff <NAME>                          # what it would change on yours\n"           \
    "    slipway package <NAME>                       # an archive to give away\n"                 \
    "    slipway configmap <NAME> | kubectl apply -f -   # for the operator: "                     \
    "cm://default/<NAME>\n"

/* ---- a driver -----------------------------------------------------------------------------------
 */

static const char driver_values_yaml[] =
    "# What users of the recipe may set (spec.set, -f, --set).\n"
    "# The driver's image, without a tag: that is the kernel's version.\n"
    "image: <IMAGE>\n"
    "# Kernel modules that the image holds in /lib/modules/<kernel>, in the order of their "
    "loading.\n"
    "modules: []\n"
    "# What looks whether they are loaded: any image with a shell.\n"
    "checkImage: busybox:1.36\n"
    "# The operator says which kernel it is; this one is for `slipway render` without a cluster.\n"
    "kernelFullVersion: 5.14.0-284.el9.x86_64\n"
    "nodeSelector:\n"
    "  kubernetes.io/os: linux\n";

static const char driver_yaml[] =
    "# State 0000: the driver, a DaemonSet for each kernel of the cluster.\n"
    "apiVersion: apps/v1\n"
    "kind: DaemonSet\n"
    "metadata:\n"
    "  name: {{ .Release.Name | quote }}\n"
    "  namespace: {{ .Release.Namespace }}\n"
    "  labels:\n"
    "    {{- include \"recipe.labels\" . | nindent 4 }}\n"
    "  annotations:\n"
    "    specialresource.openshift.io/kernel-affine: \"true\"\n"
    "    specialresource.openshift.io/state: driver-container\n"
    "spec:\n"
    "  selector:\n"
    "    matchLabels:\n"
    "      {{- include \"recipe.labels\" . | nindent 6 }}\n"
    "      app.kubernetes.io/component: driver\n"
    "  template:\n"
    "    metadata:\n"
    "      labels:\n"
    "        {{- include \"recipe.labels\" . | nindent 8 }}\n"
    "        app.kubernetes.io/component: driver\n"
    "    spec:\n"
    "      automountServiceAccountToken: false\n"
    "      priorityClassName: system-node-critical\n"
    "      nodeSelector:\n"
    "        {{- toYaml .Values.nodeSelector | nindent 8 }}\n"
    "      containers:\n"
    "        - name: driver\n"
    "          image: \"{{ .Values.image }}:{{ .Values.kernelFullVersion }}\"\n"
    "          command: [sleep, infinity]\n"
    "          {{- with .Values.modules }}\n"
    "          lifecycle:\n"
    "            postStart:\n"
    "              exec:\n"
    "                command: {{ toJson (concat (list \"modprobe\" \"-v\" \"-a\") .) }}\n"
    "            preStop:\n"
    "              exec:\n"
    "                command: {{ toJson (concat (list \"modprobe\" \"-r\" \"-a\") .) }}\n"
    "          {{- end }}\n"
    "          securityContext:\n"
    "            privileged: true\n";

static const char check_yaml[] =
    "# State 1000: a pod a node, which is ready while the modules are loaded.\n"
    "{{- $checks := list \"true\" }}\n"
    "{{- range .Values.modules }}\n"
    "{{- $checks = append $checks (printf \"test -d /sys/module/%s\" (replace \"-\" \"_\" .)) }}\n"
    "{{- end }}\n"
    "apiVersion: apps/v1\n"
    "kind: DaemonSet\n"
    "metadata:\n"
    "  name: {{ .Release.Name }}-check\n"
    "  namespace: {{ .Release.Namespace }}\n"
    "  labels:\n"
    "    {{- include \"recipe.labels\" . | nindent 4 }}\n"
    "spec:\n"
    "  selector:\n"
    "    matchLabels:\n"
    "      {{- include \"recipe.labels\" . | nindent 6 }}\n"
    "      app.kubernetes.io/component: check\n"
    "  template:\n"
    "    metadata:\n"
    "      labels:\n"
    "        {{- include \"recipe.labels\" . | nindent 8 }}\n"
    "        app.kubernetes.io/component: check\n"
    "    spec:\n"
    "      automountServiceAccountToken: false\n"
    "      nodeSelector:\n"
    "        {{- toYaml .Values.nodeSelector | nindent 8 }}\n"
    "      containers:\n"
    "        - name: check\n"
    "          image: {{ .Values.checkImage | quote }}\n"
    "          command: [sleep, infinity]\n"
    "          readinessProbe:\n"
    "            exec:\n"
    "              command: {{ toJson (list \"sh\" \"-c\" (join \" && \" $checks)) }}\n"
    "            periodSeconds: 5\n";

/* ---- a service ----------------------------------------------------------------------------------
 */

static const char service_values_yaml[] =
    "# What users of the recipe may set (spec.set, -f, --set).\n"
    "image: <IMAGE>\n"
    "port: 8080\n"
    "replicas: 1\n"
    "message: Hello from <NAME>\n";

static const char service_yaml[] =
    "# State 1000: the program, once for the cluster, and its Service.\n"
    "apiVersion: apps/v1\n"
    "kind: Deployment\n"
    "metadata:\n"
    "  name: {{ .Release.Name | quote }}\n"
    "  namespace: {{ .Release.Namespace }}\n"
    "  labels:\n"
    "    {{- include \"recipe.labels\" . | nindent 4 }}\n"
    "spec:\n"
    "  replicas: {{ .Values.replicas }}\n"
    "  selector:\n"
    "    matchLabels:\n"
    "      {{- include \"recipe.labels\" . | nindent 6 }}\n"
    "  template:\n"
    "    metadata:\n"
    "      labels:\n"
    "        {{- include \"recipe.labels\" . | nindent 8 }}\n"
    "    spec:\n"
    "      serviceAccountName: {{ .Release.Name | quote }}\n"
    "      containers:\n"
    "        - name: server\n"
    "          image: {{ .Values.image | quote }}\n"
    "          command: [sh, -c, 'mkdir -p /tmp/www; echo \"$MESSAGE\" >/tmp/www/index.html; exec "
    "httpd -f -p {{ .Values.port }} -h /tmp/www']\n"
    "          ports:\n"
    "            - {name: http, containerPort: {{ .Values.port }}}\n"
    "          readinessProbe:\n"
    "            httpGet: {path: /, port: http}\n"
    "          env:\n"
    "            - name: MESSAGE\n"
    "              valueFrom:\n"
    "                configMapKeyRef:\n"
    "                  name: {{ .Release.Name | quote }}\n"
    "                  key: message\n"
    "---\n"
    "apiVersion: v1\n"
    "kind: Service\n"
    "metadata:\n"
    "  name: {{ .Release.Name | quote }}\n"
    "  namespace: {{ .Release.Namespace }}\n"
    "  labels:\n"
    "    {{- include \"recipe.labels\" . | nindent 4 }}\n"
    "spec:\n"
    "  selector:\n"
    "    {{- include \"recipe.labels\" . | nindent 4 }}\n"
    "  ports:\n"
    "    - {name: http, port: {{ .Values.port }}, targetPort: http}\n";

/* ---- the kinds ----------------------------------------------------------------------------------
 */

#define COMMON_FILES                                                                               \
    { "Chart.yaml", chart_yaml, 0 }, { ".helmignore", helmignore, 0 },                             \
    {                                                                                              \
        "templates/_helpers.tpl", helpers_tpl, 0                                                   \
    }

static const struct sw_scaffold_file agent[] = {
    COMMON_FILES,
    { "values.yaml", values_yaml, 0 },
    { "README.md",
      README("| `0000-settings` | account and settings of the agent |\n"
             "| `1000-agent` | the agent, one pod on each node of `nodeSelector` |\n"),
      0 },
    { "templates/0000-settings.yaml", settings_yaml, 0 },
    { "templates/1000-agent.yaml", agent_yaml, 0 },
    { 0 },
};

static const struct sw_scaffold_file driver[] = {
    COMMON_FILES,
    { "values.yaml", driver_values_yaml, 0 },
    { "README.md",
      README("| `0000-driver` | the driver's container for each kernel, which loads `modules` |\n"
             "| `1000-check` | a pod a node that is ready while they are loaded |\n"),
      0 },
    { "templates/0000-driver.yaml", driver_yaml, 0 },
    { "templates/1000-check.yaml", check_yaml, 0 },
    { 0 },
};

static const struct sw_scaffold_file service[] = {
    COMMON_FILES,
    { "values.yaml", service_values_yaml, 0 },
    { "README.md",
      README("| `0000-settings` | account and settings of the program |\n"
             "| `1000-service` | the program, `replicas` times, and its Service |\n"),
      0 },
    { "templates/0000-settings.yaml", settings_yaml, 0 },
    { "templates/1000-service.yaml", service_yaml, 0 },
    { 0 },
};

const struct sw_scaffold sw_scaffolds[] = {
    { "agent", "a program on each node", "busybox:1.36", agent },
    { "driver", "a kernel module, by an image for each kernel",
      "registry.example.com/" SW_SCAFFOLD_NAME, driver },
    { "service", "a program of the cluster, with a Service", "busybox:1.36", service },
    { 0 },
};
