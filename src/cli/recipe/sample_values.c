#include "cli/recipe/sample_values.h"

#include <json-c/json.h>

#include "cli/recipe/resource.h"
#include "data/data.h"
#include "operator/facts/facts.h"
#include "operator/registries/release_image.h"

#define RESOURCE "SpecialResource"

/* What templates ask for, and whose it is. */
static const struct {
    const char *text, *key, *kind;
} asked[] = {
    { ".Values.specialresource", "specialresource", RESOURCE },
    { ".Values.specialResourceModule", "specialResourceModule", "SpecialResourceModule" },
    { ".Values.groupName", "groupName", RESOURCE },
};

/* What the cluster runs. */
static const struct sw_release_image release = {
    .version = "4.10.20",
    .os_version = "410.84.202205191234-0",
    .toolkit_image = "",
    .kernel = "4.18.0-305.45.1.el8_4.x86_64",
    .rt_kernel = "4.18.0-305.45.1.rt7.117.el8_4.x86_64",
    .rhel_version = "8.4",
};

/* Do the values of a chart, or the user's, have @key? What cannot be read is told when it is used.
 */
static bool has_value(const struct sw_recipe *recipe, const struct sw_values *values,
                      const char *key)
{
    SW_AUTO_JSON *given = sw_values_json(values);
    bool found = sw_json_get(given, key);
    for (size_t i = 0; !found && i < sw_recipe_n_charts(recipe); i++) {
        const struct sw_recipe_file *file = sw_recipe_chart_file(recipe, i, "values.yaml");
        SW_AUTO_JSON *own = NULL;
        SW_ERR(ignored);
        found = file && (sw_yaml_parse(file->bytes, file->len, NULL, &own, &ignored) < 0 ||
                         sw_json_get(own, key));
    }
    return found;
}

/* The resource as the operator hands it to templates. */
static struct json_object *complete(const struct sw_recipe *recipe, struct json_object *base,
                                    const char *kind, const char *name, const char *ns)
{
    struct json_object *doc = base ? sw_json_copy(base) : json_object_new_object();
    const char *own_name = *sw_obj_name(doc) ? sw_obj_name(doc) : sw_recipe_name(recipe);
    SW_AUTO_CHARS *used_name = sw_strdup(name ? name : own_name);
    SW_AUTO_CHARS *used_ns = sw_strdup(ns ? ns
                                          : sw_json_str(doc, used_name, "spec", "namespace", NULL));
    sw_json_set_str(doc, "sro.openshift.io/v1beta1", "apiVersion", NULL);
    sw_json_set_str(doc, kind, "kind", NULL);
    sw_json_set_str(doc, used_name, "metadata", "name", NULL);
    sw_json_set_str(doc, used_ns, "spec", "namespace", NULL);
    return doc;
}

/* spec.set of @resource, with what the user has set over it, are the values, and the other way
 * round. */
static int set_below(struct json_object *resource, struct sw_values **values, struct sw_err *err)
{
    struct json_object *set = sw_json_find(resource, "spec", "set", NULL);
    SW_AUTO(sw_values) *merged = sw_values_new();
    SW_AUTO_JSON *given = sw_values_json(*values);
    int rc = set ? sw_values_add_json(merged, set, err) : 0;
    if (rc == 0)
        rc = sw_values_add_json(merged, given, err);
    if (rc < 0)
        return rc;
    sw_json_set(resource, sw_values_json(merged), "spec", "set", NULL);
    sw_values_free(*values);
    *values = SW_TAKE(merged);
    return 0;
}

static struct json_object *values_of(struct json_object *resource)
{
    struct sw_facts *facts = sw_release_image_facts(&release, NULL, NULL, NULL);
    struct sw_groups groups;
    struct json_object *values;
    sw_facts_groups(facts, NULL, NULL, &groups);
    if (sw_streq(sw_obj_kind(resource), RESOURCE))
        values = sw_facts_values(facts,
                                 &(struct sw_facts_ask){ .groups = &groups, .resource = resource });
    else
        values = sw_release_image_module_values(&release, facts, resource);
    sw_groups_done(&groups);
    sw_facts_free(facts);
    return values;
}

int sw_sample_values(const struct sw_recipe *recipe, const char *path, const char *name,
                     const char *ns, struct sw_values **values, struct json_object **facts,
                     struct sw_err *err)
{
    for (size_t i = 0; i < SW_COUNT(asked); i++) {
        SW_AUTO_JSON *base = NULL;
        if (!sw_recipe_mentions(recipe, asked[i].text) || has_value(recipe, *values, asked[i].key))
            continue;
        int rc = sw_resource_base(recipe, path, asked[i].kind, &base, err);
        if (rc < 0)
            return rc;
        SW_AUTO_JSON *resource = complete(recipe, base, asked[i].kind, name, ns);
        rc = set_below(resource, values, err);
        if (rc == 0)
            *facts = values_of(resource);
        return rc;
    }
    return 0;
}

int sw_own_resource_values(const struct sw_recipe *recipe, const char *path,
                           struct sw_values **values, struct json_object **resource,
                           struct sw_err *err)
{
    int rc = sw_resource_base(recipe, path, RESOURCE, resource, err);
    return rc == 0 && *resource ? set_below(*resource, values, err) : rc;
}
