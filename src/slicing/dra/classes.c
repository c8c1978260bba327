/* DeviceClasses: what pods ask for by name, or by the name of an extended resource. */
#include <string.h>

#include "data/json/path.h"
#include "slicing/dra/dra.h"

static void add_class(struct json_object *classes, const char *name, const char *resource,
                      const char *expression)
{
    struct json_object *doc = json_object_new_object(), *selector = json_object_new_object();
    sw_json_set_str(doc, "resource.k8s.io/v1", "apiVersion", NULL);
    sw_json_set_str(doc, "DeviceClass", "kind", NULL);
    sw_json_set_str(doc, name, "metadata", "name", NULL);
    sw_json_set_str(doc, SW_DRA_DRIVER, "metadata", "labels", SW_DRA_LABEL, NULL);
    sw_json_set_str(selector, expression, "cel", "expression", NULL);
    json_object_array_add(sw_json_need_list(doc, "spec", "selectors", NULL), selector);
    if (resource)
        sw_json_set_str(doc, resource, "spec", "extendedResourceName", NULL);
    json_object_array_add(classes, doc);
}

static void add_type(struct json_object *classes, const char *name, const char *type)
{
    SW_AUTO_CHARS *expression = sw_printf("device.driver == \"" SW_DRA_DRIVER
                                          "\" && device.attributes[\"" SW_DRA_DRIVER
                                          "\"].type == \"%s\"",
                                          type);
    add_class(classes, name, NULL, expression);
}

static void add_profile(struct json_object *classes, const struct sw_mig_profile *profile)
{
    char text[SW_MIG_NAME_LEN], das[SW_MIG_NAME_LEN];
    /* a whole GPU has no profile: what has another type is not asked for it */
    SW_AUTO_CHARS *expression = sw_printf(
        "device.driver == \"" SW_DRA_DRIVER "\" && device.attributes[\"" SW_DRA_DRIVER
        "\"].type == \"mig\" && device.attributes[\"" SW_DRA_DRIVER "\"].profile == \"%s\"",
        sw_mig_profile_text(profile, text));
    (void)sw_mig_resource_text(profile, das);
    for (char *c = text; *c; c++)
        *c = *c == '+' ? '.' : *c; /* as NVIDIA's resources are called */
    SW_AUTO_CHARS *name = sw_printf("mig-%s.slipway.dev", text);
    SW_AUTO_CHARS *das_name = sw_printf("das-%s.slipway.dev", das);
    SW_AUTO_CHARS *resource = sw_printf(SW_MIG_NVIDIA_PREFIX "%s", text);
    SW_AUTO_CHARS *das_resource = sw_printf(SW_MIG_DAS_PREFIX "%s", das);
    add_class(classes, name, resource, expression);
    add_class(classes, das_name, das_resource, expression);
}

/* Whether a geometry before this one, or a kind before in this one, has the profile. */
static bool had(struct sw_mig_geometry *const *geometries, size_t n,
                const struct sw_mig_profile *profile)
{
    for (size_t i = 0; i < n; i++)
        if (sw_mig_kind_find(geometries[i], profile))
            return true;
    return false;
}

struct json_object *sw_dra_classes(struct sw_mig_geometry *const *geometries, size_t n_geometries)
{
    struct json_object *classes = json_object_new_array();
    add_type(classes, SW_DRA_CLASS_MIG, "mig");
    add_type(classes, SW_DRA_CLASS_GPU, "gpu");
    for (size_t i = 0; i < n_geometries; i++)
        for (size_t k = 0; geometries[i] && k < geometries[i]->n_kinds; k++)
            if (!had(geometries, i, &geometries[i]->kinds[k].profile))
                add_profile(classes, &geometries[i]->kinds[k].profile);
    return classes;
}
