#include <math.h>
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/schema/schema_internal.h"
#include "emulator/store/status.h"

/* The value under validation. */
struct subject {
    json_object *value, *schema;
    const char *path;
    struct sw_field_errors *errors;
};

static const char *type_name(json_object *value)
{
    switch (json_object_get_type(value)) {
    case json_type_null:
        return "null";
    case json_type_boolean:
        return "boolean";
    case json_type_double:
        return "number";
    case json_type_int:
        return "integer";
    case json_type_string:
        return "string";
    case json_type_array:
        return "array";
    default:
        return "object";
    }
}

static bool has_type(json_object *value, const char *type)
{
    if (strcmp(type, "number") == 0)
        return json_object_is_type(value, json_type_int) ||
               json_object_is_type(value, json_type_double);
    if (strcmp(type, "integer") == 0 && json_object_is_type(value, json_type_double))
        return json_object_get_double(value) == floor(json_object_get_double(value));
    return strcmp(type_name(value), type) == 0;
}

/* @return whether the rules for its type apply: it has the type, and is not null */
static bool check_type(const struct subject *s)
{
    const char *type = sw_json_str(s->schema, "", "type", NULL);
    if (!s->value && sw_structural_flag(s->schema, "nullable"))
        return false;
    if (sw_structural_flag(s->schema, "x-kubernetes-int-or-string")) {
        if (has_type(s->value, "integer") || has_type(s->value, "string"))
            return true;
        type = "integer,string";
    } else if (!type[0] || has_type(s->value, type)) {
        return s->value != NULL;
    }
    SW_AUTO_CHARS *detail = sw_printf("%s in body must be of type %s: \"%s\"", s->path, type,
                                      type_name(s->value));
    sw_field_error_str(s->errors, SW_FIELD_TYPE, s->path, type_name(s->value), detail);
    return false;
}

static void add_error(const struct subject *s, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static void add_error(const struct subject *s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *what = sw_vprintf(fmt, ap);
    va_end(ap);
    sw_field_error(s->errors, SW_FIELD_INVALID, s->path, s->value, "%s in body %s", s->path, what);
}

static void check_enum(const struct subject *s)
{
    json_object *allowed = sw_json_get(s->schema, "enum");
    if (!allowed)
        return;
    SW_AUTO_CHARS *list = sw_strdup("supported values: ");
    for (size_t i = 0; i < sw_json_len(allowed); i++) {
        if (sw_json_equal(sw_json_at(allowed, i), s->value))
            return;
        const char *text = json_object_get_string(sw_json_at(allowed, i));
        sw_append(&list, "%s\"%s\"", i ? ", " : "", text ? text : "null");
    }
    sw_field_error(s->errors, SW_FIELD_NOT_SUPPORTED, s->path, s->value, "%s", list);
}

static void check_string(const struct subject *s)
{
    const char *text = json_object_get_string(s->value);
    const char *pattern = sw_json_str(s->schema, NULL, "pattern", NULL);
    const char *format = sw_json_str(s->schema, "", "format", NULL);
    int64_t most = sw_json_int(s->schema, INT64_MAX, "maxLength", NULL);
    int64_t least = sw_json_int(s->schema, 0, "minLength", NULL);
    int64_t len = 0, ms; /* len: in characters of UTF-8 */
    for (const char *c = text; *c; c++)
        len += ((unsigned char)*c & 0xc0) != 0x80;
    if (len > most)
        sw_field_error(s->errors, SW_FIELD_TOO_LONG, s->path, NULL, "may not be longer than %lld",
                       (long long)most);
    if (len < least)
        add_error(s, "should be at least %lld chars long", (long long)least);
    if (pattern && !sw_pattern_matches(pattern, text))
        add_error(s, "should match '%s'", pattern);
    if (strcmp(format, "date-time") == 0 && sw_time_parse(text, &ms, NULL) < 0)
        add_error(s, "must be of type date-time: \"%s\"", text);
}

static void check_number(const struct subject *s)
{
    double value = json_object_get_double(s->value);
    json_object *most = sw_json_get(s->schema, "maximum"),
                *least = sw_json_get(s->schema, "minimum");
    json_object *step = sw_json_get(s->schema, "multipleOf");
    bool below = sw_structural_flag(s->schema, "exclusiveMaximum");
    bool above = sw_structural_flag(s->schema, "exclusiveMinimum");
    double max = json_object_get_double(most), min = json_object_get_double(least);
    if (most && (value > max || (below && value == max)))
        add_error(s, "should be less than %s%s", below ? "" : "or equal to ",
                  json_object_get_string(most));
    if (least && (value < min || (above && value == min)))
        add_error(s, "should be greater than %s%s", above ? "" : "or equal to ",
                  json_object_get_string(least));
    if (step && json_object_get_double(step) > 0 && fmod(value, json_object_get_double(step)) != 0)
        add_error(s, "should be a multiple of %s", json_object_get_string(step));
}

/* Whether two elements of a map list have the same keys, or two of a set are equal. */
static bool same_element(const struct subject *s, json_object *a, json_object *b)
{
    json_object *keys = sw_json_get(s->schema, "x-kubernetes-list-map-keys");
    if (!keys)
        return sw_json_equal(a, b);
    for (size_t i = 0; i < sw_json_len(keys); i++) {
        const char *key = json_object_get_string(sw_json_at(keys, i));
        if (!sw_json_equal(sw_json_get(a, key), sw_json_get(b, key)))
            return false;
    }
    return true;
}

static void check_duplicates(const struct subject *s)
{
    const char *type = sw_json_str(s->schema, "", "x-kubernetes-list-type", NULL);
    if (strcmp(type, "map") != 0 && strcmp(type, "set") != 0 &&
        !sw_structural_flag(s->schema, "uniqueItems"))
        return;
    for (size_t i = 1; i < sw_json_len(s->value); i++) {
        for (size_t before = 0; before < i; before++) {
            if (!same_element(s, sw_json_at(s->value, i), sw_json_at(s->value, before)))
                continue;
            SW_AUTO_CHARS *at = sw_printf("%s[%zu]", s->path, i);
            sw_field_error(s->errors, SW_FIELD_DUPLICATE, at, sw_json_at(s->value, i), NULL);
            break;
        }
    }
}

static void check_array(const struct subject *s)
{
    int64_t n = (int64_t)sw_json_len(s->value);
    int64_t most = sw_json_int(s->schema, INT64_MAX, "maxItems", NULL);
    int64_t least = sw_json_int(s->schema, 0, "minItems", NULL);
    if (n > most) {
        SW_AUTO_CHARS *count = sw_printf("%lld", (long long)n);
        SW_AUTO_CHARS *detail = sw_printf("must have at most %lld items", (long long)most);
        sw_field_error_raw(s->errors, SW_FIELD_TOO_MANY, s->path, count, detail);
    }
    if (n < least)
        add_error(s, "should have at least %lld items", (long long)least);
    check_duplicates(s);
    json_object *items = sw_structural_items(s->schema);
    for (size_t i = 0; items && i < sw_json_len(s->value); i++) {
        SW_AUTO_CHARS *at = sw_printf("%s[%zu]", s->path, i);
        sw_structural_validate(sw_json_at(s->value, i), items, at, s->errors);
    }
}

static void check_object(const struct subject *s)
{
    int64_t n = json_object_object_length(s->value);
    int64_t most = sw_json_int(s->schema, INT64_MAX, "maxProperties", NULL);
    int64_t least = sw_json_int(s->schema, 0, "minProperties", NULL);
    if (n > most)
        add_error(s, "should have at most %lld properties", (long long)most);
    if (n < least)
        add_error(s, "should have at least %lld properties", (long long)least);
    json_object *required = sw_json_get(s->schema, "required");
    for (size_t i = 0; i < sw_json_len(required); i++) {
        const char *key = json_object_get_string(sw_json_at(required, i));
        SW_AUTO_CHARS *at = sw_printf("%s%s%s", s->path, s->path[0] ? "." : "", key);
        if (!json_object_object_get_ex(s->value, key, NULL))
            sw_field_error_raw(s->errors, SW_FIELD_REQUIRED, at, NULL, NULL);
    }
    json_object_object_foreach(s->value, key, child)
    {
        json_object *child_schema = sw_structural_property(s->schema, key);
        SW_AUTO_CHARS *at = sw_printf("%s%s%s", s->path, s->path[0] ? "." : "", key);
        if (child_schema)
            sw_structural_validate(child, child_schema, at, s->errors);
    }
}

/* Whether the value is valid by another schema. */
static bool is_valid(const struct subject *s, json_object *schema)
{
    SW_FIELD_ERRORS(ignored);
    sw_structural_validate(s->value, schema, s->path, &ignored);
    return ignored.n == 0;
}

static size_t n_valid(const struct subject *s, json_object *schemas)
{
    size_t n = 0;
    for (size_t i = 0; i < sw_json_len(schemas); i++)
        n += is_valid(s, sw_json_at(schemas, i));
    return n;
}

/* allOf, anyOf, oneOf and not. */
static void check_logic(const struct subject *s)
{
    json_object *all = sw_json_get(s->schema, "allOf"), *any = sw_json_get(s->schema, "anyOf");
    json_object *one = sw_json_get(s->schema, "oneOf"), *never = sw_json_get(s->schema, "not");
    const char *what = NULL;
    size_t found = one ? n_valid(s, one) : 1;
    for (size_t i = 0; i < sw_json_len(all); i++)
        sw_structural_validate(s->value, sw_json_at(all, i), s->path, s->errors);
    if (any && n_valid(s, any) == 0)
        what = "must validate at least one schema (anyOf)";
    else if (found == 0)
        what = "must validate one and only one schema (oneOf). Found none valid";
    else if (found > 1)
        what = "must validate one and only one schema (oneOf). Found more than one valid";
    else if (never && is_valid(s, never))
        what = "must not validate the schema (not)";
    if (!what)
        return;
    SW_AUTO_CHARS *detail = sw_printf("\"%s\" %s", s->path, what);
    sw_field_error_str(s->errors, SW_FIELD_INVALID, s->path[0] ? s->path : "<nil>", "", detail);
}

void sw_structural_validate(json_object *value, json_object *schema, const char *path,
                            struct sw_field_errors *errors)
{
    struct subject s = { value, schema, path, errors };
    if (!check_type(&s))
        return;
    check_enum(&s);
    switch (json_object_get_type(value)) {
    case json_type_string:
        check_string(&s);
        break;
    case json_type_int:
    case json_type_double:
        check_number(&s);
        break;
    case json_type_array:
        check_array(&s);
        break;
    case json_type_object:
        check_object(&s);
        break;
    default:
        break;
    }
    check_logic(&s);
}

/* ---- checks of a schema -------------------------------------------------------------------------
 */

void sw_structural_check(json_object *schema, const char *path, bool is_root,
                         struct sw_field_errors *errors)
{
    const char *type = sw_json_str(schema, "", "type", NULL);
    SW_AUTO_CHARS *type_field = sw_printf("%s.type", path), *items = sw_printf("%s.items", path);
    bool untyped = sw_structural_flag(schema, "x-kubernetes-int-or-string") ||
                   sw_structural_flag(schema, "x-kubernetes-preserve-unknown-fields");
    static const char *const types[] = {
        "array", "boolean", "integer", "number", "object", "string"
    };
    bool known = false;
    for (size_t i = 0; i < SW_COUNT(types); i++)
        known = known || strcmp(type, types[i]) == 0;
    if (!type[0] && !untyped)
        sw_field_error_raw(errors, SW_FIELD_REQUIRED, type_field, NULL,
                           "must not be empty for specified object fields");
    else if (type[0] && !known)
        sw_field_error_str(errors, SW_FIELD_NOT_SUPPORTED, type_field, type,
                           "supported values: \"array\", \"boolean\", \"integer\", \"number\", "
                           "\"object\", \"string\"");
    if (strcmp(type, "array") == 0 && !sw_structural_items(schema))
        sw_field_error_raw(errors, SW_FIELD_REQUIRED, items, NULL, "must be specified");
    sw_structural_check_rules(schema, path, is_root, errors);
    if (sw_structural_items(schema))
        sw_structural_check(sw_structural_items(schema), items, false, errors);
    SW_AUTO_CHARS *others = sw_printf("%s.additionalProperties", path);
    if (json_object_is_type(sw_json_get(schema, "additionalProperties"), json_type_object))
        sw_structural_check(sw_json_get(schema, "additionalProperties"), others, false, errors);
    json_object *properties = sw_json_get(schema, "properties");
    if (!json_object_is_type(properties, json_type_object))
        return;
    json_object_object_foreach(properties, key, property)
    {
        SW_AUTO_CHARS *at = sw_printf("%s.properties[%s]", path, key);
        sw_structural_check(property, at, false, errors);
    }
}
