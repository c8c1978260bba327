#include "chart/recipe/schema/schema.h"

#include <stdlib.h>

#include "chart/recipe/schema/check.h"

int sw_schema_new(const char *name, const char *text, size_t len, struct sw_schema **out,
                  struct sw_err *err)
{
    SW_AUTO(sw_schema) *schema = sw_zalloc(1, sizeof *schema);
    schema->arena = sw_arena_new();
    int rc = sw_value_from_json_text(schema->arena, name, text, len, &schema->root, err);
    if (rc < 0)
        return rc;
    if (!sw_value_is_map(schema->root) && schema->root.type != SW_T_BOOL)
        return sw_err_set(err, SW_INVALID, "%s: a schema is a map or a bool", name);
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

int sw_schema_check(const struct sw_schema *schema, struct sw_value value, struct sw_err *err)
{
    SW_AUTO(sw_arena) *arena = sw_arena_new();
    struct spot root = { 0 };
    struct check c = { .schema = schema, .arena = arena, .spot = &root, .err = err };
    bool ok = sw_check_fits(&c, schema->root, value);
    SW_AUTO_CHARS *problems = c.problems;
    if (c.gave_up)
        return SW_INVALID;
    if (ok)
        return 0;
    size_t more = c.n_problems > SW_CHECK_MAX_PROBLEMS ? c.n_problems - SW_CHECK_MAX_PROBLEMS : 0;
    return more ? sw_err_set(err, SW_INVALID, "%s\n- and %zu more", problems + 1, more)
                : sw_err_set(err, SW_INVALID, "%s", problems + 1);
}
