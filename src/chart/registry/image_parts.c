/* Images that a custom resource names in parts. */
#include "chart/registry/registry.h"

#include "data/data.h"

#include <json-c/json.h>

char *sw_image_from_fields(struct json_object *map)
{
    const char *repository = sw_json_str(map, "", "repository", NULL);
    const char *image = sw_json_str(map, "", "image", NULL);
    const char *version = sw_json_str(map, "", "version", NULL);
    if (!*repository || !*image || !*version)
        return NULL;
    return sw_printf("%s/%s%s%s", repository, image, sw_starts_with(version, "sha256:") ? "@" : ":",
                     version);
}
