/* RecipeResults as files. */
#include <json-c/json.h>
#include <string.h>

#include "chart/aicr/aicr.h"
#include "chart/aicr/documents.h"
#include "data/data.h"
#include "data/yaml/yaml.h"

int sw_aicr_result_read(const char *file, const char *text, size_t len, struct json_object **out,
                        struct sw_err *err)
{
    static const char *const known[] = {
        "kind",          "apiVersion",      "metadata",   "criteria", "constraints",
        "componentRefs", "deploymentOrder", "validation", NULL
    };
    static const char *const metadata[] = {
        "version",        "appliedOverlays", "excludedOverlays",     "constraintWarnings",
        "gpuDriverState", "selectedProfile", "mariaDBOperatorState", NULL
    };
    SW_AUTO_JSON *doc = NULL, *order = NULL;
    int rc = sw_aicr_document(file, text, len, "RecipeResult", &doc, err);
    if (rc == 0)
        rc = sw_aicr_known(file, "the document", doc, known, err);
    if (rc == 0 && sw_json_get(doc, "metadata"))
        rc = sw_aicr_known(file, "metadata", sw_json_get(doc, "metadata"), metadata, err);
    if (rc == 0)
        rc = sw_aicr_check_criteria(file, "criteria", sw_json_get(doc, "criteria"), err);
    if (rc == 0)
        rc = sw_aicr_check_spec(file, doc, err);
    if (rc == 0 && !sw_json_len(sw_json_get(doc, "componentRefs")))
        rc = sw_err_set(err, SW_INVALID, "%s: componentRefs: there is no component", file);
    if (rc < 0)
        return rc;
    rc = sw_aicr_order(sw_json_get(doc, "componentRefs"), &order, err);
    if (rc < 0)
        return sw_err_wrap(err, rc, "%s", file);
    if (!sw_json_get(doc, "deploymentOrder"))
        (void)json_object_object_add(doc, "deploymentOrder", SW_TAKE(order));
    *out = SW_TAKE(doc);
    return 0;
}

/* ---- writing -----------------------------------------------------------------------------------
 */

/* AICR's order of fields; those that it does not name come by the alphabet. */
static size_t place_of(const char *key, size_t len)
{
    static const char *const order[] = {
        "kind",
        "apiVersion",
        "metadata",
        "criteria",
        "constraints",
        "componentRefs",
        "deploymentOrder",
        "readiness",
        "deployment",
        "performance",
        "conformance",
        "name",
        "namespace",
        "chart",
        "type",
        "source",
        "version",
        "tag",
        "valuesFile",
        "overrides",
        "dependencyRefs",
        "manifestFiles",
        "preManifestFiles",
        "path",
        "service",
        "accelerator",
        "intent",
        "os",
        "platform",
        "nodes",
        "value",
    };
    for (size_t i = 0; i < SW_COUNT(order); i++)
        if (strlen(order[i]) == len && memcmp(order[i], key, len) == 0)
            return i;
    return SW_COUNT(order);
}

static int compare_keys(const char *a, size_t a_len, const char *b, size_t b_len)
{
    const size_t x = place_of(a, a_len), y = place_of(b, b_len);
    return x != y ? (x > y) - (x < y) : sw_json_key_cmp(a, a_len, b, b_len);
}

char *sw_aicr_result_text(struct json_object *result)
{
    const struct sw_yaml_writer_opts opts = { .pretty = true };
    SW_AUTO(sw_yaml_writer) *w = sw_yaml_writer_new(&opts);
    if (sw_json_walk(result, compare_keys, sw_yaml_writer_sink(w), NULL) < 0)
        return sw_strdup(""); /* it has no limit to reach */
    return sw_yaml_writer_take(w, NULL);
}
