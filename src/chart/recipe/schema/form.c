#include "chart/recipe/schema/form.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEW = 64 }; /* lists up to this are searched for doubles here */

enum form {
    SCHEMA,
    SCHEMAS,     /* a list */
    ITEMS,       /* a schema; up to 2019-09 a list of them, too */
    SCHEMA_MAP,  /* schemas by name */
    PATTERN,     /* a regular expression */
    PATTERN_MAP, /* schemas by regular expressions */
    TEXT,
    REFERENCE, /* a text without escapes */
    BOOL,
    NUMBER,
    FACTOR, /* a number above 0 */
    COUNT,  /* a whole number, not below 0 */
    TYPE,
    LIST,
    NAMES, /* different texts */
    ENUM,
    ANY,
    RARE, /* not judged here */
};

static const struct row {
    const char *name;
    enum form form;
} rows[] = {
    { "$anchor", RARE },
    { "$comment", TEXT },
    { "$defs", SCHEMA_MAP },
    { "$dynamicAnchor", RARE },
    { "$dynamicRef", RARE },
    { "$id", RARE },
    { "$recursiveAnchor", RARE },
    { "$recursiveRef", RARE },
    { "$ref", REFERENCE },
    { "$schema", REFERENCE },
    { "$vocabulary", RARE },
    { "additionalItems", SCHEMA },
    { "additionalProperties", SCHEMA },
    { "allOf", SCHEMAS },
    { "anyOf", SCHEMAS },
    { "const", ANY },
    { "contains", SCHEMA },
    { "contentEncoding", TEXT },
    { "contentMediaType", TEXT },
    { "contentSchema", SCHEMA },
    { "default", ANY },
    { "definitions", SCHEMA_MAP },
    { "dependencies", RARE },
    { "dependentRequired", RARE },
    { "dependentSchemas", SCHEMA_MAP },
    { "deprecated", BOOL },
    { "description", TEXT },
    { "else", SCHEMA },
    { "enum", ENUM },
    { "examples", LIST },
    { "exclusiveMaximum", NUMBER },
    { "exclusiveMinimum", NUMBER },
    { "format", TEXT },
    { "id", RARE },
    { "if", SCHEMA },
    { "items", ITEMS },
    { "maxContains", COUNT },
    { "maxItems", COUNT },
    { "maxLength", COUNT },
    { "maxProperties", COUNT },
    { "maximum", NUMBER },
    { "minContains", COUNT },
    { "minItems", COUNT },
    { "minLength", COUNT },
    { "minProperties", COUNT },
    { "minimum", NUMBER },
    { "multipleOf", FACTOR },
    { "not", SCHEMA },
    { "oneOf", SCHEMAS },
    { "pattern", PATTERN },
    { "patternProperties", PATTERN_MAP },
    { "prefixItems", SCHEMAS },
    { "properties", SCHEMA_MAP },
    { "propertyNames", SCHEMA },
    { "readOnly", BOOL },
    { "required", NAMES },
    { "then", SCHEMA },
    { "title", TEXT },
    { "type", TYPE },
    { "unevaluatedItems", SCHEMA },
    { "unevaluatedProperties", SCHEMA },
    { "uniqueItems", BOOL },
    { "writeOnly", BOOL },
};

static int by_name(const void *key, const void *row)
{
    const struct sw_entry *e = key;
    return strcmp(e->key, ((const struct row *)row)->name);
}

static bool is_schema(struct sw_value v)
{
    return sw_value_is_map(v) || v.type == SW_T_BOOL;
}

static bool is_list_of_schemas(struct sw_value v)
{
    bool ok = sw_value_is_list(v) && v.as.list->n > 0;
    for (size_t i = 0; ok && i < v.as.list->n; i++)
        ok = is_schema(v.as.list->items[i]);
    return ok;
}

static bool is_map_of_schemas(struct sw_value v)
{
    const struct sw_entry *e = sw_value_is_map(v) ? sw_map_sorted(v.as.map) : NULL;
    bool ok = sw_value_is_map(v);
    for (size_t i = 0; ok && i < sw_map_count(v.as.map); i++)
        ok = is_schema(e[i].value);
    return ok;
}

/* Texts, each once, at least one of them. */
static bool is_list_of_texts(struct sw_value v)
{
    bool ok = sw_value_is_list(v) && v.as.list->n > 0 && v.as.list->n <= FEW;
    for (size_t i = 0; ok && i < v.as.list->n; i++) {
        const struct sw_value *one = &v.as.list->items[i];
        ok = sw_value_is_string(*one);
        for (size_t k = 0; ok && k < i; k++)
            ok = !sw_value_equal(*one, v.as.list->items[k]);
    }
    return ok;
}

static bool is_type(struct sw_value v)
{
    static const char *const names[] = { "array",  "boolean", "integer", "null",
                                         "number", "object",  "string" };
    if (sw_value_is_list(v)) {
        bool ok = is_list_of_texts(v);
        for (size_t i = 0; ok && i < v.as.list->n; i++)
            ok = is_type(v.as.list->items[i]);
        return ok;
    }
    for (size_t i = 0; sw_value_is_string(v) && i < SW_COUNT(names); i++)
        if (sw_streq(names[i], v.as.s))
            return true;
    return false;
}

static bool is_pattern(const struct sw_schema *schema, struct sw_value v)
{
    SW_ERR(ignored); /* the schema of schemas says it */
    return sw_value_is_string(v) && sw_schema_regex(schema, v, &ignored);
}

static bool is_map_of_patterns(const struct sw_schema *schema, struct sw_value v)
{
    const struct sw_entry *e = sw_value_is_map(v) ? sw_map_sorted(v.as.map) : NULL;
    bool ok = is_map_of_schemas(v);
    for (size_t i = 0; ok && i < sw_map_count(v.as.map); i++)
        ok = is_pattern(schema, sw_value_text(e[i].key, e[i].key_len));
    return ok;
}

static double number_of(struct sw_value v)
{
    return v.type == SW_T_FLOAT64 ? v.as.f : (double)v.as.i;
}

static bool has_form(const struct sw_schema *schema, enum form form, struct sw_value v, int version)
{
    switch (form) {
    case SCHEMA:
        return is_schema(v);
    case SCHEMAS:
        return is_list_of_schemas(v);
    case ITEMS:
        return is_schema(v) || (version < 2020 && is_list_of_schemas(v));
    case SCHEMA_MAP:
        return is_map_of_schemas(v);
    case PATTERN:
        return is_pattern(schema, v);
    case PATTERN_MAP:
        return is_map_of_patterns(schema, v);
    case TEXT:
        return sw_value_is_string(v);
    case REFERENCE:
        return sw_value_is_string(v) && !strpbrk(v.as.s, " %[]\\^`{|}<>\"") &&
               strlen(v.as.s) == v.len && (strstr(v.as.s, "://") || *v.as.s == '#');
    case BOOL:
        return v.type == SW_T_BOOL;
    case NUMBER:
        return sw_value_is_number(v);
    case FACTOR:
        return sw_value_is_number(v) && number_of(v) > 0;
    case COUNT:
        return sw_value_is_number(v) && number_of(v) >= 0 && floor(number_of(v)) == number_of(v);
    case TYPE:
        return is_type(v);
    case LIST:
        return sw_value_is_list(v);
    case NAMES:
    case ENUM: /* of other values, or of very many, the schema of schemas decides */
        return is_list_of_texts(v);
    case ANY:
        return true;
    case RARE:
        break;
    }
    return false;
}

bool sw_schema_is_plain(const struct sw_schema *schema, const struct schema_node *node)
{
    const struct sw_entry *e = sw_map_sorted((struct sw_map *)node->map);
    bool ok = node->res->draft > 4; /* where bools are no schemas */
    for (size_t i = 0; ok && i < sw_map_count(node->map); i++) {
        const struct row *row = bsearch(&e[i], rows, SW_COUNT(rows), sizeof *rows, by_name);
        ok = !row || has_form(schema, row->form, e[i].value, node->res->draft);
    }
    return ok;
}
