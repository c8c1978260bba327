/* Images of a recipe's parts, as OLM, mirrors and `make deploy` pass them to an operator: in its
 * environment. RELATED_IMAGES is JSON, {part: image} or [{name, image}]; RELATED_IMAGE_<PART>_IMAGE
 * is one image. */
#include "operator/manifests/related_images.h"

#include <ctype.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"

extern char **environ;

/* Parts of the Dynamic Accelerator Slicer: the name of an image holds that of its part. */
static const char *const parts[] = { "webhook", "scheduler", "device-plugin" };

static void put(struct json_object *images, const char *part, const char *image)
{
    if (image && *image)
        sw_json_set_str(images, image, strstr(part, "daemonset") ? "device-plugin" : part, NULL);
}

static void put_named(struct json_object *images, const char *name, const char *image)
{
    for (size_t i = 0; i < SW_COUNT(parts); i++)
        if (strstr(name, parts[i])) {
            put(images, parts[i], image);
            return;
        }
    put(images, name, image);
}

/* RELATED_IMAGES. */
static void read_all(struct json_object *images, const char *text)
{
    SW_AUTO_JSON *doc = NULL;
    SW_ERR(err);
    if (sw_json_parse(text, strlen(text), NULL, &doc, &err) < 0) {
        sw_log(SW_LOG_WARN, "RELATED_IMAGES is not JSON", "error", sw_err_text(&err), NULL);
        return;
    }
    for (size_t i = 0; json_object_is_type(doc, json_type_array) && i < sw_json_len(doc); i++)
        put_named(images, sw_json_str(sw_json_at(doc, i), "", "name", NULL),
                  sw_json_str(sw_json_at(doc, i), "", "image", NULL));
    if (json_object_is_type(doc, json_type_object)) {
        json_object_object_foreach(doc, name, image)
            put_named(images, name, json_object_get_string(image));
    }
}

/* RELATED_IMAGE_DEVICE_PLUGIN_IMAGE=x: device-plugin is x. */
static void read_one(struct json_object *images, const char *variable)
{
    static const char begin[] = "RELATED_IMAGE_", end[] = "_IMAGE";
    const char *equals = strchr(variable, '=');
    if (!equals || !sw_starts_with(variable, begin))
        return;
    SW_AUTO_CHARS *part = sw_strndup(variable + sizeof begin - 1,
                                     (size_t)(equals - variable) - (sizeof begin - 1));
    if (sw_ends_with(part, end))
        part[strlen(part) - (sizeof end - 1)] = '\0';
    for (char *c = part; *c; c++)
        *c = *c == '_' ? '-' : (char)tolower((unsigned char)*c);
    if (*part)
        put(images, part, equals + 1);
}

struct json_object *sw_related_images(void)
{
    struct json_object *images = json_object_new_object();
    const char *all = getenv("RELATED_IMAGES");
    if (all && *all)
        read_all(images, all);
    for (char **variable = environ; *variable; variable++)
        read_one(images, *variable);
    if (json_object_object_length(images) > 0)
        return images;
    json_object_put(images);
    return NULL;
}
