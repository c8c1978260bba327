/* The DASOperator's spec as values of the nvidia-mig recipe. */
#include "base/loglevel.h"
#include "operator/controller/das/das.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"

/* What the operator's pod was told about images, and where that goes. */
static const struct {
    const char *variable, *part, *other; /* other: DAS's word for it */
} images[] = {
    { "RELATED_IMAGE_WEBHOOK_IMAGE", "webhook", "webhook" },
    { "RELATED_IMAGE_SCHEDULER_IMAGE", "scheduler", "scheduler" },
    { "RELATED_IMAGE_DAEMONSET_IMAGE", "device-plugin", "daemonset" },
};

/* OpenShift's words for how much is logged (OperatorSpec), ours beside them. */
static const struct {
    const char *theirs, *ours;
    enum sw_log_level level;
} log_levels[] = {
    { "Normal", "info", SW_LOG_INFO },
    { "Debug", "debug", SW_LOG_DEBUG },
    { "Trace", "debug", SW_LOG_DEBUG },
    { "TraceAll", "debug", SW_LOG_DEBUG },
};

static void set_image(struct json_object *values, const char *name, const char *image)
{
    for (size_t i = 0; i < SW_COUNT(images); i++)
        if (*image && (strstr(name, images[i].part) || strstr(name, images[i].other)))
            sw_json_set_str(values, image, images[i].part, "image", NULL);
}

/* $RELATED_IMAGES: [{"name": "...webhook...", "image": "..."}] or {"webhook": "..."}. */
static void set_related(struct json_object *values, const char *text)
{
    SW_AUTO_JSON *related = NULL;
    SW_ERR(err);
    if (sw_json_parse(text, strlen(text), NULL, &related, &err) < 0) {
        sw_log(SW_LOG_WARN, "RELATED_IMAGES is no JSON", "error", sw_err_text(&err), NULL);
        return;
    }
    for (size_t i = 0; i < sw_json_len(related) && json_object_is_type(related, json_type_array);
         i++)
        set_image(values, sw_json_str(sw_json_at(related, i), "", "name", NULL),
                  sw_json_str(sw_json_at(related, i), "", "image", NULL));
    if (!json_object_is_type(related, json_type_object))
        return;
    json_object_object_foreach(related, name, image)
    {
        set_image(values, name, sw_json_str(image, "", NULL));
    }
}

static void set_images(struct json_object *values)
{
    const char *all = getenv("RELATED_IMAGES");
    if (all && *all)
        set_related(values, all);
    for (size_t i = 0; i < SW_COUNT(images); i++) {
        const char *image = getenv(images[i].variable);
        if (image && *image)
            sw_json_set_str(values, image, images[i].part, "image", NULL);
    }
    const char *emulated = getenv("EMULATED_MODE");
    if (emulated && *emulated)
        sw_json_set_str(values, emulated, "device-plugin", "emulatedMode", NULL);
}

static void set_log_level(struct json_object *values, const char *level)
{
    for (size_t i = 0; i < SW_COUNT(log_levels); i++) {
        if (strcmp(log_levels[i].theirs, level) != 0)
            continue;
        for (size_t k = 0; k < SW_COUNT(images); k++)
            sw_json_set_str(values, log_levels[i].ours, images[k].part, "logLevel", NULL);
    }
}

/* Helm's rule of merging values: maps by their keys, all else is replaced. */
static void merge(struct json_object *into, struct json_object *from)
{
    json_object_object_foreach(from, key, value)
    {
        struct json_object *there = sw_json_get(into, key);
        if (json_object_is_type(there, json_type_object) &&
            json_object_is_type(value, json_type_object))
            merge(there, value);
        else
            (void)json_object_object_add(into, key, sw_json_copy(value));
    }
}

static struct json_object *values_of(struct json_object *doc)
{
    struct json_object *values = json_object_new_object();
    struct json_object *spec = sw_json_get(doc, "spec");
    struct json_object *nodes = sw_json_get(spec, "nodeSelector");
    struct json_object *more = sw_json_get(spec, "unsupportedConfigOverrides");
    set_images(values);
    set_log_level(values, sw_json_str(spec, "", "logLevel", NULL));
    if (sw_json_len(nodes)) /* besides nvidia.com/mig.capable, which the state's values have */
        sw_json_set(values, sw_json_copy(nodes), "device-plugin", "nodeSelector", NULL);
    if (json_object_is_type(more, json_type_object))
        merge(values, more);
    return values;
}

/* Deleted with the DASOperator. */
static void set_owner(struct json_object *body, struct json_object *doc)
{
    struct json_object *owner = json_object_new_object();
    sw_json_set_str(owner, sw_json_str(doc, "", "apiVersion", NULL), "apiVersion", NULL);
    sw_json_set_str(owner, sw_json_str(doc, "", "kind", NULL), "kind", NULL);
    sw_json_set_str(owner, sw_obj_name(doc), "name", NULL);
    sw_json_set_str(owner, sw_obj_uid(doc), "uid", NULL);
    (void)json_object_array_add(sw_json_need_list(body, "metadata", "ownerReferences", NULL),
                                owner);
}

struct json_object *das_resource(struct json_object *doc)
{
    char hash[17];
    const char *recipes = getenv("SLIPWAY_RECIPES"); /* the image has them in /recipes */
    struct json_object *body = json_object_new_object();

    sw_json_set_str(body, "sro.openshift.io/v1beta1", "apiVersion", NULL);
    sw_json_set_str(body, "SpecialResource", "kind", NULL);
    sw_json_set_str(body, "nvidia-mig", "metadata", "name", NULL);
    set_owner(body, doc);
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

void das_log_level(struct json_object *doc)
{
    const char *level = sw_json_str(doc, "", "spec", "operatorLogLevel", NULL);
    for (size_t i = 0; i < SW_COUNT(log_levels); i++)
        if (strcmp(log_levels[i].theirs, level) == 0)
            sw_log_level_change(log_levels[i].level, "DASOperator/cluster");
}
