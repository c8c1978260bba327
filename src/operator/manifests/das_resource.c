/* The DASOperator's spec as values of the nvidia-mig recipe. */
#include "operator/manifests/das_resource.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/loglevel.h"
#include "data/data.h"
#include "operator/manifests/related_images.h"

/* States of the recipe that run a program of slipway. */
static const char *const programs[] = { "webhook", "scheduler", "device-plugin" };

/* States that are of no use where GPUs are made up. */
static const char *const for_gpus[] = { "nfd", "gpu-operator" };

/* Log levels of OpenShift (OperatorSpec), and those of slipway. */
static const struct {
    const char *theirs, *ours;
    enum sw_log_level level;
} log_levels[] = {
    { "Normal", "info", SW_LOG_INFO },
    { "Debug", "debug", SW_LOG_DEBUG },
    { "Trace", "debug", SW_LOG_DEBUG },
    { "TraceAll", "debug", SW_LOG_DEBUG },
};

/* Merge values as Helm does: maps by their keys; everything else is replaced. */
static void merge(struct json_object *into, struct json_object *from)
{
    json_object_object_foreach(from, key, value)
    {
        struct json_object *there = sw_json_get(into, key);
        if (json_object_is_type(there, json_type_object) &&
            json_object_is_type(value, json_type_object))
            merge(there, value);
        else
            sw_json_set(into, sw_json_copy(value), key, NULL);
    }
}

static struct json_object *values_of(struct json_object *doc)
{
    struct json_object *values = json_object_new_object();
    struct json_object *spec = sw_json_get(doc, "spec");
    struct json_object *nodes = sw_json_get(spec, "nodeSelector");
    struct json_object *more = sw_json_get(spec, "unsupportedConfigOverrides");
    const char *log_level = sw_json_str(spec, "", "logLevel", NULL), *emulated;
    SW_AUTO_JSON *images = sw_related_images();
    for (size_t i = 0; i < SW_COUNT(programs); i++) {
        const char *image = sw_json_str(images, "", programs[i], NULL);
        if (*image)
            sw_json_set_str(values, image, programs[i], "image", NULL);
    }
    if ((emulated = getenv("EMULATED_MODE")) && *emulated)
        sw_json_set_str(values, emulated, "device-plugin", "emulatedMode", NULL);
    for (size_t i = 0; sw_streq(emulated, "enabled") && i < SW_COUNT(for_gpus); i++)
        sw_json_set(values, json_object_new_boolean(false), for_gpus[i], "enabled", NULL);
    for (size_t i = 0; i < SW_COUNT(log_levels); i++)
        for (size_t k = 0; sw_streq(log_levels[i].theirs, log_level) && k < SW_COUNT(programs); k++)
            sw_json_set_str(values, log_levels[i].ours, programs[k], "logLevel", NULL);
    if (sw_json_len(nodes)) /* besides nvidia.com/mig.capable, which the state's values have */
        sw_json_set(values, sw_json_copy(nodes), "device-plugin", "nodeSelector", NULL);
    sw_json_set_str(values, "first-fit", "scheduler", "placement", NULL); /* as DAS places */
    if (json_object_is_type(more, json_type_object))
        merge(values, more);
    return values;
}

struct json_object *sw_das_resource(struct json_object *doc)
{
    char hash[17];
    const char *recipes = getenv("SLIPWAY_RECIPES"); /* the image has them in /recipes */
    struct json_object *body = json_object_new_object();
    sw_json_set_str(body, "sro.openshift.io/v1beta1", "apiVersion", NULL);
    sw_json_set_str(body, "SpecialResource", "kind", NULL);
    sw_json_set_str(body, "nvidia-mig", "metadata", "name", NULL);
    if (*sw_obj_namespace(doc)) { /* what has no namespace cannot be owned by it */
        sw_json_set_str(body, sw_obj_uid(doc), "metadata", "annotations", DAS_OWNER_ANNOTATION,
                        NULL);
    } else {
        struct json_object *owner = json_object_new_object();
        sw_json_set_str(owner, sw_obj_api_version(doc), "apiVersion", NULL);
        sw_json_set_str(owner, sw_obj_kind(doc), "kind", NULL);
        sw_json_set_str(owner, sw_obj_name(doc), "name", NULL);
        sw_json_set_str(owner, sw_obj_uid(doc), "uid", NULL);
        (void)json_object_array_add(sw_json_need_list(body, "metadata", "ownerReferences", NULL),
                                    owner);
    }
    sw_json_set_str(body, DAS_NAMESPACE, "spec", "namespace", NULL);
    sw_json_set_str(body, "nvidia-mig", "spec", "chart", "name", NULL);
    sw_json_set_str(body, "0.1.0", "spec", "chart", "version", NULL);
    sw_json_set_str(body, "recipes", "spec", "chart", "repository", "name", NULL);
    SW_AUTO_CHARS *url = sw_printf("file://%s/nvidia-mig",
                                   recipes && *recipes ? recipes : "/recipes");
    sw_json_set_str(body, url, "spec", "chart", "repository", "url", NULL);
    sw_json_set(body, values_of(doc), "spec", "set", NULL);
    const char *text = json_object_to_json_string_ext(body, JSON_C_TO_STRING_PLAIN);
    (void)snprintf(hash, sizeof hash, "%016llx", (unsigned long long)sw_fnv64a(text, strlen(text)));
    sw_json_set_str(body, hash, "metadata", "annotations", "slipway.dev/das-operator", NULL);
    return body;
}

void sw_das_log_level(struct json_object *doc)
{
    const char *level = sw_json_str(doc, "", "spec", "operatorLogLevel", NULL);
    for (size_t i = 0; i < SW_COUNT(log_levels); i++)
        if (sw_streq(log_levels[i].theirs, level))
            sw_log_level_change(log_levels[i].level, "DASOperator/cluster");
}
