#include "chart/aicr/validation.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "chart/aicr/aicr.h"
#include "data/data.h"
#include "data/yaml/yaml.h"

/* As AICR's own validator has them. */
#define NAMESPACE "aicr-validation"
#define ACCOUNT "aicr-validator"
enum { DEFAULT_TIMEOUT_MS = 5 * 60000 };

const char *sw_aicr_phase(size_t i)
{
    static const char *const phases[] = { "deployment", "performance", "conformance" };
    return i < SW_COUNT(phases) ? phases[i] : NULL;
}

/* ---- the catalogue of validators ---------------------------------------------------------------
 */

static bool is_phase(const char *name)
{
    for (size_t i = 0; sw_aicr_phase(i); i++)
        if (sw_streq(sw_aicr_phase(i), name))
            return true;
    return false;
}

static int check_validator(struct json_object *v, struct sw_err *err)
{
    const char *name = sw_json_str(v, "", "name", NULL), *phase = sw_json_str(v, "", "phase", NULL);
    const char *timeout = sw_json_str(v, NULL, "timeout", NULL);
    int64_t ms;
    if (!*name || strlen(name) > 40)
        return sw_err_set(err, SW_INVALID, "name: '%s' is none that a Job may have", name);
    if (!is_phase(phase))
        return sw_err_set(err, SW_INVALID,
                          "%s: phase: '%s' is none of deployment, performance, conformance", name,
                          phase);
    if (!*sw_json_str(v, "", "image", NULL))
        return sw_err_set(err, SW_INVALID, "%s: image: there is none", name);
    if (timeout && sw_span_parse(timeout, &ms, err) < 0)
        return sw_err_wrap(err, SW_INVALID, "%s: timeout", name);
    return 0;
}

int sw_aicr_validators_read(const char *origin, const char *text, size_t len,
                            struct json_object **out, struct sw_err *err)
{
    SW_AUTO_JSON *doc = NULL;
    const struct sw_yaml_opts opts = { .file = origin };
    int rc = sw_yaml_parse(text, len, &opts, &doc, err);
    if (rc < 0)
        return rc;
    const char *version = sw_json_str(doc, "", "apiVersion", NULL);
    if (!sw_streq(sw_obj_kind(doc), "ValidatorCatalog"))
        return sw_err_set(err, SW_INVALID, "%s: kind: '%s' is no ValidatorCatalog", origin,
                          sw_obj_kind(doc));
    if (!sw_starts_with(version, "aicr.nvidia.com/v1") && !sw_starts_with(version, "aicr.run/v1"))
        return sw_err_set(err, SW_INVALID, "%s: apiVersion: '%s' is not known here", origin,
                          version);
    struct json_object *list = sw_json_get(doc, "validators");
    for (size_t i = 0; i < sw_json_len(list); i++) {
        rc = check_validator(sw_json_at(list, i), err);
        if (rc < 0)
            return sw_err_wrap(err, rc, "%s: validators[%zu]", origin, i);
    }
    *out = list ? json_object_get(list) : json_object_new_array();
    return 0;
}

/* ---- what all checks need ----------------------------------------------------------------------
 */

static void add_labels(struct json_object *meta)
{
    sw_json_set_str(meta, "aicr", "labels", "app.kubernetes.io/name", NULL);
    sw_json_set_str(meta, "validation", "labels", "app.kubernetes.io/component", NULL);
}

/* The text as it stands in a template. */
static void append_literal(char **out, const char *text)
{
    for (const char *brace; (brace = strstr(text, "{{")); text = brace + 2)
        sw_append(out, "%.*s{{\"{{\"}}", (int)(brace - text), text);
    sw_append(out, "%s", text);
}

char *sw_aicr_validation_template(struct json_object *result, const char *run)
{
    static const char fixed[] =
        "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: " NAMESPACE "\n  labels: "
        "{app.kubernetes.io/name: aicr, app.kubernetes.io/component: validation}\n"
        "---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: " ACCOUNT
        ", namespace: " NAMESPACE "}\n"
        "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\n"
        "metadata: {name: " ACCOUNT "}\n"
        "subjects: [{kind: ServiceAccount, name: " ACCOUNT ", namespace: " NAMESPACE "}]\n"
        "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}\n";
    SW_AUTO_JSON *recipe = json_object_new_object();
    SW_AUTO_CHARS *text = sw_aicr_result_text(result), *name = sw_printf("aicr-recipe-%s", run);
    sw_json_set_str(recipe, "v1", "apiVersion", NULL);
    sw_json_set_str(recipe, "ConfigMap", "kind", NULL);
    sw_json_set_str(recipe, name, "metadata", "name", NULL);
    sw_json_set_str(recipe, NAMESPACE, "metadata", "namespace", NULL);
    add_labels(sw_json_get(recipe, "metadata"));
    sw_json_set_str(recipe, text, "data", "recipe.yaml", NULL);
    SW_AUTO_CHARS *yaml = sw_yaml_text(recipe, NULL);
    char *all = sw_printf(
        "%s---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: aicr-snapshot-%s, "
        "namespace: " NAMESPACE "}\ndata:\n  snapshot.yaml: |\n    kind: Snapshot\n"
        "    apiVersion: %s\n    metadata: {source: slipway}\n    measurements:\n    - type: K8s\n"
        "      subtypes: [{subtype: server, data: {version: "
        "{{ .Capabilities.KubeVersion.Version | quote }}}}]\n---\n",
        fixed, run, sw_json_str(result, "", "apiVersion", NULL));
    append_literal(&all, yaml);
    return all;
}

/* ---- a check -----------------------------------------------------------------------------------
 */

/* The image: "latest" is that of the release which has made the recipe. Heap. */
static char *image_of(struct json_object *validator, struct json_object *result)
{
    static const char latest[] = ":latest";
    const char *image = sw_json_str(validator, "", "image", NULL);
    const char *version = sw_json_str(result, "", "metadata", "version", NULL);
    const bool is_release = *version && !sw_streq(version, "dev") && !strstr(version, "-next");
    if (!is_release || !sw_ends_with(image, latest))
        return sw_strdup(image);
    return sw_printf("%.*s:%s%s", (int)(strlen(image) - sizeof latest + 1), image,
                     *version == 'v' ? "" : "v", version);
}

static void add_env(struct json_object *env, const char *name, const char *value)
{
    struct json_object *one = json_object_new_object();
    sw_json_set_str(one, name, "name", NULL);
    sw_json_set_str(one, value, "value", NULL);
    (void)json_object_array_add(env, one);
}

static struct json_object *env_of(struct json_object *validator, const char *run)
{
    struct json_object *env = json_object_new_array(), *own = sw_json_get(validator, "env"),
                       *ns = json_object_new_object();
    add_env(env, "AICR_SNAPSHOT_PATH", "/data/snapshot/snapshot.yaml");
    add_env(env, "AICR_RECIPE_PATH", "/data/recipe/recipe.yaml");
    add_env(env, "AICR_VALIDATOR_NAME", sw_json_str(validator, "", "name", NULL));
    add_env(env, "AICR_VALIDATOR_PHASE", sw_json_str(validator, "", "phase", NULL));
    add_env(env, "AICR_RUN_ID", run);
    sw_json_set_str(ns, "AICR_NAMESPACE", "name", NULL);
    sw_json_set_str(ns, "metadata.namespace", "valueFrom", "fieldRef", "fieldPath", NULL);
    (void)json_object_array_add(env, ns);
    for (size_t i = 0; i < sw_json_len(own); i++)
        add_env(env, sw_json_str(sw_json_at(own, i), "", "name", NULL),
                sw_json_str(sw_json_at(own, i), "", "value", NULL));
    return env;
}

/* A ConfigMap of sw_aicr_validation_template(), mounted. */
static void mount(struct json_object *spec, struct json_object *container, const char *what,
                  const char *run)
{
    struct json_object *volume = json_object_new_object(), *mounted = json_object_new_object();
    SW_AUTO_CHARS *map = sw_printf("aicr-%s-%s", what, run), *path = sw_printf("/data/%s", what);
    sw_json_set_str(volume, what, "name", NULL);
    sw_json_set_str(volume, map, "configMap", "name", NULL);
    (void)json_object_array_add(sw_json_need_list(spec, "volumes", NULL), volume);
    sw_json_set_str(mounted, what, "name", NULL);
    sw_json_set_str(mounted, path, "mountPath", NULL);
    sw_json_set(mounted, json_object_new_boolean(true), "readOnly", NULL);
    (void)json_object_array_add(sw_json_need_list(container, "volumeMounts", NULL), mounted);
}

static struct json_object *container_of(struct json_object *validator, struct json_object *result,
                                        const char *run)
{
    struct json_object *c = json_object_new_object(), *args = sw_json_get(validator, "args");
    SW_AUTO_CHARS *image = image_of(validator, result);
    static const char *const kinds[] = { "requests", "limits" };
    sw_json_set_str(c, "validator", "name", NULL);
    sw_json_set_str(c, image, "image", NULL);
    sw_json_set_str(c, sw_ends_with(image, ":latest") ? "Always" : "IfNotPresent",
                    "imagePullPolicy", NULL);
    if (sw_json_len(args))
        sw_json_set(c, sw_json_copy(args), "args", NULL);
    sw_json_set(c, env_of(validator, run), "env", NULL);
    for (size_t i = 0; i < SW_COUNT(kinds); i++) {
        sw_json_set_str(c, sw_json_str(validator, "1", "resources", "cpu", NULL), "resources",
                        kinds[i], "cpu", NULL);
        sw_json_set_str(c, sw_json_str(validator, "1Gi", "resources", "memory", NULL), "resources",
                        kinds[i], "memory", NULL);
    }
    return c;
}

/* What is asked of the value that the check measures: of the constraint that is called as it is.
 * Heap; NULL: nothing. */
static char *threshold_of(struct json_object *validator, struct json_object *result)
{
    const char *name = sw_json_str(validator, "", "name", NULL);
    struct json_object *list = sw_json_find(
        result, "validation", sw_json_str(validator, "", "phase", NULL), "constraints", NULL);
    const char *value = sw_json_str(sw_json_find_by(list, "name", name), NULL, "value", NULL);
    return value ? sw_printf("asked for: %s %s", name, value) : NULL;
}

/* Exit code 2: it does not apply; what is neither that nor 1 is no answer. */
static const char policy[] =
    "{\"rules\":[{\"action\":\"FailJob\",\"onExitCodes\":{\"containerName\":\"validator\","
    "\"operator\":\"In\",\"values\":[2]}},{\"action\":\"FailJob\",\"onExitCodes\":"
    "{\"containerName\":\"validator\",\"operator\":\"NotIn\",\"values\":[1,2]}}]}";
static const char tolerations[] = "[{\"operator\":\"Exists\"}]";
static const char affinity[] =
    "{\"nodeAffinity\":{\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":100,"
    "\"preference\":{\"matchExpressions\":[{\"key\":\"nvidia.com/gpu.present\",\"operator\":"
    "\"DoesNotExist\"}]}}]}}";

struct json_object *sw_aicr_validation_job(struct json_object *validator,
                                           struct json_object *result, const char *run)
{
    const char *name = sw_json_str(validator, "", "name", NULL);
    const char *phase = sw_json_str(validator, "", "phase", NULL);
    const char *timeout = sw_json_str(validator, NULL, "timeout", NULL);
    int64_t ms = 0;
    if (!timeout || sw_span_parse(timeout, &ms, NULL) < 0 || ms <= 0)
        ms = DEFAULT_TIMEOUT_MS;
    SW_AUTO_CHARS *job_name = sw_printf("aicr-%s-%s", name, run);
    SW_AUTO_CHARS *threshold = threshold_of(validator, result);
    struct json_object *job = json_object_new_object(), *pod = json_object_new_object();
    sw_json_set_str(job, "batch/v1", "apiVersion", NULL);
    sw_json_set_str(job, "Job", "kind", NULL);
    sw_json_set_str(job, job_name, "metadata", "name", NULL);
    sw_json_set_str(job, NAMESPACE, "metadata", "namespace", NULL);
    add_labels(sw_json_get(job, "metadata"));
    sw_json_set_str(job, run, "metadata", "labels", "aicr.nvidia.com/run-id", NULL);
    sw_json_set_str(job, name, "metadata", "labels", "aicr.nvidia.com/validator", NULL);
    sw_json_set_str(job, phase, "metadata", "labels", "aicr.nvidia.com/phase", NULL);
    sw_json_set_str(job, phase, "metadata", "annotations", "slipway.dev/check", NULL);
    sw_json_set_str(job, "0", "metadata", "annotations", "slipway.dev/retries", NULL);
    if (threshold)
        sw_json_set_str(job, threshold, "metadata", "annotations", "slipway.dev/note", NULL);
    sw_json_set(job, json_object_new_int64(ms / 1000), "spec", "activeDeadlineSeconds", NULL);
    sw_json_set(job, json_object_new_int(0), "spec", "backoffLimit", NULL);
    sw_json_set(job, json_tokener_parse(policy), "spec", "podFailurePolicy", NULL);
    sw_json_set_str(job, "aicr", "spec", "template", "metadata", "labels", "app.kubernetes.io/name",
                    NULL);
    sw_json_set_str(job, name, "spec", "template", "metadata", "labels",
                    "aicr.nvidia.com/validator", NULL);
    sw_json_set(job, pod, "spec", "template", "spec", NULL);
    sw_json_set_str(pod, ACCOUNT, "serviceAccountName", NULL);
    sw_json_set_str(pod, "Never", "restartPolicy", NULL);
    sw_json_set(pod, json_object_new_int(30), "terminationGracePeriodSeconds", NULL);
    sw_json_set(pod, json_tokener_parse(tolerations), "tolerations", NULL);
    sw_json_set(pod, json_tokener_parse(affinity), "affinity", NULL);
    struct json_object *container = container_of(validator, result, run);
    mount(pod, container, "snapshot", run);
    mount(pod, container, "recipe", run);
    (void)json_object_array_add(sw_json_need_list(pod, "containers", NULL), container);
    return job;
}
