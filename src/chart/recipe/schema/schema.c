#include "chart/recipe/schema/schema.h"

#include <stdlib.h>
#include <string.h>

#include "chart/recipe/schema/document.h"
#include "chart/recipe/schema/meta.h"

/* Check a schema against the schema of schemas of its draft. */
static int check_form(const struct sw_schema *schema, struct sw_err *err)
{
    int draft = sw_schema_version(schema);
    SW_AUTO(sw_schema) *meta = sw_zalloc(1, sizeof *meta);
    meta->arena = sw_arena_new();
    meta->checks_formats = true;
    char *text = sw_arena_strdup(meta->arena, sw_meta_text(draft));
    for (char *at = text; (at = strchr(at, '\'')); at++)
        *at = '"';
    int rc = sw_value_from_json_text(meta->arena, "meta", text, strlen(text), &meta->root, err);
    if (rc == 0)
        rc = sw_schema_find(meta, err);
    if (rc == 0)
        rc = sw_schema_use(meta, err);
    if (rc < 0)
        return rc;
    SW_ERR(why);
    rc = sw_schema_check(meta, schema->root, &why);
    return rc < 0 ? sw_err_set(err, rc,
                               "\"file:///values.schema.json#\" is not valid against metaschema: "
                               "jsonschema validation failed with '%s'\n%s",
                               sw_meta_url(draft), sw_err_text(&why))
                  : 0;
}

int sw_schema_new(const char *name, const char *text, size_t len, struct sw_schema **out,
                  struct sw_err *err)
{
    SW_AUTO(sw_schema) *schema = sw_zalloc(1, sizeof *schema);
    schema->arena = sw_arena_new();
    int rc = sw_value_from_json_text(schema->arena, name, text, len, &schema->root, err);
    if (rc < 0)
        return rc;
    rc = sw_schema_find(schema, err);
    bool is_root = sw_value_is_map(schema->root) || schema->root.type == SW_T_BOOL;
    if (rc == 0 && (schema->is_odd || !is_root))
        rc = check_form(schema, err);
    if (rc == 0)
        rc = sw_schema_use(schema, err);
    if (rc < 0)
        return rc;
    *out = SW_TAKE(schema);
    return 0;
}

void sw_schema_free(struct sw_schema *schema)
{
    if (!schema)
        return;
    for (size_t i = 0; i < schema->n_patterns; i++)
        sw_regex_free(schema->patterns[i].regex);
    free(schema->patterns);
    sw_arena_free(schema->arena);
    free(schema);
}
