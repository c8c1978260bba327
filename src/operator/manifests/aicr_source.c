#include "operator/manifests/aicr_source.h"

#include <json-c/json.h>
#include <string.h>

#include "data/json/json.h"
#include "data/json/path.h"

static struct json_object *aicr_of(struct json_object *doc)
{
    return sw_json_find(doc, "spec", "aicr", NULL);
}

/* Is spec.chart what sw_aicr_source_expand() makes of spec.aicr? */
static bool is_expanded(struct json_object *doc, struct json_object *chart)
{
    SW_AUTO_JSON *made = json_object_new_object();
    sw_json_set(made, json_object_get(aicr_of(doc)), "spec", "aicr", NULL);
    sw_aicr_source_expand(made);
    return json_object_equal(sw_json_find(made, "spec", "chart", NULL), chart);
}

void sw_aicr_source_expand(struct json_object *doc)
{
    struct json_object *aicr = aicr_of(doc), *chart = json_object_new_object();
    const char *data = sw_json_str(aicr, "", "data", NULL),
               *criteria = sw_json_str(aicr, "", "criteria", NULL);
    if (!*data || sw_json_find(doc, "spec", "chart", NULL)) {
        json_object_put(chart);
        return;
    }
    SW_AUTO_CHARS *url = sw_printf("%s%s", data[0] == '/' ? "file://" : "", data);
    sw_json_set_str(chart, "aicr", "name", NULL);
    sw_json_set_str(chart, "", "version", NULL);
    sw_json_set_str(chart, "aicr", "repository", "name", NULL);
    sw_json_set_str(chart, url, "repository", "url", NULL);
    if (*criteria)
        sw_json_set_str(chart, criteria, "aicr", "criteria", NULL);
    sw_json_set(doc, chart, "spec", "chart", NULL);
}

int sw_aicr_source_check(struct json_object *doc, struct sw_err *err)
{
    struct json_object *aicr = aicr_of(doc), *chart = sw_json_find(doc, "spec", "chart", NULL);
    if (!aicr)
        return 0;
    if (!*sw_json_str(aicr, "", "data", NULL))
        return sw_err_set(err, SW_INVALID,
                          "spec.aicr.data: it has to say where the catalogue, bundle or "
                          "RecipeResult is");
    if (chart && !is_expanded(doc, chart))
        return sw_err_set(err, SW_INVALID,
                          "spec.aicr: spec.chart names a recipe already: give one of them");
    return 0;
}
