/* Two states, to show their order: what the agent reads, then the agent on each node. The recipe
 * must render, lint without a warning and get Ready: test/emulator/cli/tools_test.sh. */
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
                                  "image: busybox:1.36\n"
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

static const char readme_md[] =
    "# <NAME>\n"
    "\n"
    "A recipe: a Helm chart whose parts are ordered. Templates that begin with four digits are\n"
    "states; a state is applied when the one before it is ready.\n"
    "\n"
    "| state | what it does |\n"
    "| --- | --- |\n"
    "| `0000-settings` | account and settings of the agent |\n"
    "| `1000-agent` | the agent, one pod on each node of `nodeSelector` |\n"
    "\n"
    "From the folder that holds this one:\n"
    "\n"
    "    slipway render <NAME>                        # the manifests\n"
    "    slipway lint <NAME>                          # what is wrong with them\n"
    "    slipway run <NAME> --emulate                 # walk it on an embedded cluster\n"
    "    slipway diff <NAME>                          # what it would change on yours\n"
    "    slipway package <NAME>                       # an archive to give away\n"
    "    slipway configmap <NAME> | kubectl apply -f -   # for the operator: cm://default/<NAME>\n";

const struct sw_scaffold_file sw_scaffold[] = {
    { "Chart.yaml", chart_yaml, 0 },
    { "values.yaml", values_yaml, 0 },
    { "README.md", readme_md, 0 },
    { ".helmignore", helmignore, 0 },
    { "templates/_helpers.tpl", helpers_tpl, 0 },
    { "templates/0000-settings.yaml", settings_yaml, 0 },
    { "templates/1000-agent.yaml", agent_yaml, 0 },
    { 0 },
};
