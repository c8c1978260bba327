#include "cli/recipe/recorded.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "chart/recipe/load/files.h"
#include "chart/recipe/package/config_map.h"
#include "chart/recipe/recipe.h"
#include "data/data.h"
#include "data/text/base64.h"
#include "data/yaml/yaml.h"
#include "operator/release/record.h"

/* Add @doc as the YAML file @name. */
static int add_document(struct sw_files *files, const char *name, struct json_object *doc,
                        struct sw_err *err)
{
    size_t len;
    char *text = sw_yaml_text(doc, &len);
    return sw_files_add(files, name, text, len, err);
}

/* Add the files of a list of {name, data}; data is base64. */
static int add_list(struct sw_files *files, struct json_object *list, struct sw_err *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sw_json_len(list); i++) {
        const char *name = sw_json_str(sw_json_at(list, i), "", "name", NULL);
        const char *data = sw_json_str(sw_json_at(list, i), "", "data", NULL);
        size_t len;
        char *bytes = sw_base64_decode(data, strlen(data), &len);
        rc = bytes ? sw_files_add(files, name, bytes, len, err)
                   : sw_err_set(err, SW_INVALID, "%s: no base64", name);
    }
    return rc;
}

/* Does the record have files of subcharts? Those of older versions have none, nor has one that
 * would be too large with them. */
static bool has_charts(struct json_object *files)
{
    bool any = false;
    for (size_t i = 0; i < sw_json_len(files); i++)
        any = any || sw_starts_with(sw_json_str(sw_json_at(files, i), "", "name", NULL), "charts/");
    return any;
}

static int refuse_dependencies(struct json_object *list, struct sw_err *err)
{
    SW_AUTO_CHARS *names = sw_strdup("");
    for (size_t i = 0; i < sw_json_len(list); i++)
        sw_append(&names, "%s%s", *names ? ", " : "",
                  sw_json_str(sw_json_at(list, i), "", "name", NULL));
    return sw_err_set(
        err, SW_INVALID,
        "the recipe depends on charts (%s), and the record has the recipe's own files "
        "alone: an older slipway wrote it, or the charts were too large for it. Bring "
        "the files of then back to where they lay, and roll back without --recorded",
        names);
}

static int read_files(struct json_object *chart, struct sw_files *files, struct sw_err *err)
{
    SW_AUTO_JSON *metadata = sw_json_copy(sw_json_get(chart, "metadata"));
    struct json_object *dependencies = sw_json_get(metadata, "dependencies");
    if (sw_json_len(dependencies) && !has_charts(sw_json_get(chart, "files")))
        return refuse_dependencies(dependencies, err);
    (void)sw_json_del(metadata, "annotations", SW_RELEASE_ORIGIN, NULL);
    int rc = add_document(files, "Chart.yaml", metadata, err);
    if (rc == 0)
        rc = add_document(files, "values.yaml", sw_json_get(chart, "values"), err);
    if (rc == 0)
        rc = add_list(files, sw_json_get(chart, "templates"), err);
    return rc < 0 ? rc : add_list(files, sw_json_get(chart, "files"), err);
}

int sw_recorded_config_map(struct json_object *release, const char *ns, const char *name,
                           struct json_object **out, struct sw_err *err)
{
    struct sw_files files = sw_files_init(NULL);
    SW_AUTO(sw_recipe) *recipe = NULL;
    int rc = read_files(sw_json_get(release, "chart"), &files, err);
    if (rc == 0)
        rc = sw_recipe_from_files("the record", files.items, files.n, NULL, &recipe, err);
    if (rc == 0)
        rc = sw_recipe_to_config_map(recipe, name, ns, false, out, err);
    sw_files_done(&files);
    return rc;
}
