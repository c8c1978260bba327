#include "cli/recipe/images.h"

#include <string.h>

#include <json-c/json.h>

#include "chart/registry/registry.h"
#include "data/data.h"

static void add_image(struct json_object *images, const char *image)
{
    if (*image && !sw_json_get(images, image))
        (void)json_object_object_add(images, image, json_object_new_object());
}

static bool is_image_value(const char *text)
{
    struct sw_image_ref ref = { 0 };
    SW_ERR(err);
    bool ok = strchr(text, '/') && !strchr(text, ' ') && !strstr(text, "://") &&
              sw_image_ref_parse(text, &ref, &err) == 0 && (ref.tag || ref.digest);
    sw_image_ref_done(&ref);
    return ok;
}

void sw_images_find(struct json_object *doc, struct json_object *images,
                    struct json_object *drivers)
{
    for (size_t i = 0; json_object_is_type(doc, json_type_array) && i < sw_json_len(doc); i++)
        sw_images_find(sw_json_at(doc, i), images, drivers);
    if (!json_object_is_type(doc, json_type_object))
        return;
    const char *variable = sw_json_str(doc, "", "name", NULL);
    if (strstr(variable, "IMAGE") && is_image_value(sw_json_str(doc, "", "value", NULL)))
        add_image(images, sw_json_str(doc, "", "value", NULL));
    json_object_object_foreach(doc, key, value)
    {
        bool containers = (sw_streq(key, "containers") || sw_streq(key, "initContainers")) &&
                          json_object_is_type(value, json_type_array);
        for (size_t i = 0; containers && i < sw_json_len(value); i++) /* a tag is not needed */
            add_image(images, sw_json_str(sw_json_at(value, i), "", "image", NULL));
        bool named = sw_streq(key, "image") || sw_ends_with(key, "Image");
        if (json_object_is_type(value, json_type_string) && named &&
            is_image_value(json_object_get_string(value)))
            add_image(images, json_object_get_string(value));
        else
            sw_images_find(value, images, drivers);
        SW_AUTO_CHARS *parts = sw_image_from_fields(value);
        if (parts)
            add_image(sw_streq(key, "driver") ? drivers : images, parts);
    }
}
