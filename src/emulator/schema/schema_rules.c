/* Rules of custom resources: x-kubernetes-validations. Source: Kubernetes "Extend the Kubernetes
 * API with CustomResourceDefinitions", validation rules; apiextensions-apiserver's
 * pkg/apiserver/schema/cel. A rule with a part of the language that cel.h does not know, or that
 * fails, counts as met. */
#include <string.h>

#include "base/base.h"
#include "data/cel/cel.h"
#include "data/data.h"
#include "emulator/schema/schema_internal.h"
#include "emulator/store/status.h"

static const char KEY[] = "x-kubernetes-validations";

bool sw_structural_has_rules(json_object *schema)
{
    static const char *const below[] = { "items", "additionalProperties" };
    if (!json_object_is_type(schema, json_type_object))
        return false;
    if (sw_json_len(sw_json_get(schema, KEY)))
        return true;
    for (size_t i = 0; i < SW_COUNT(below); i++)
        if (sw_structural_has_rules(sw_json_get(schema, below[i])))
            return true;
    json_object *properties = sw_json_get(schema, "properties");
    if (!json_object_is_type(properties, json_type_object))
        return false;
    json_object_object_foreach(properties, key, property)
    {
        (void)key;
        if (sw_structural_has_rules(property))
            return true;
    }
    return false;
}

static enum sw_field_error type_of(const char *reason)
{
    return sw_streq(reason, "FieldValueForbidden")   ? SW_FIELD_FORBIDDEN
           : sw_streq(reason, "FieldValueRequired")  ? SW_FIELD_REQUIRED
           : sw_streq(reason, "FieldValueDuplicate") ? SW_FIELD_DUPLICATE
                                                     : SW_FIELD_INVALID;
}

static void check_rule(json_object *value, json_object *old, json_object *schema, const char *path,
                       json_object *rule, struct sw_field_errors *errors)
{
    const char *expression = sw_json_str(rule, "", "rule", NULL);
    const bool of_change = strstr(expression, "oldSelf");
    SW_ERR(ignored);
    if (of_change && !old)
        return;
    SW_AUTO_JSON *root = json_object_new_object();
    sw_json_set(root, json_object_get(value), "self", NULL);
    if (of_change)
        sw_json_set(root, json_object_get(old), "oldSelf", NULL);
    if (sw_cel_holds(expression, root, &ignored) != 0)
        return;
    SW_AUTO_CHARS *failed = sw_printf("failed rule: %s", expression);
    SW_AUTO_CHARS *at = sw_printf("%s%s", path, sw_json_str(rule, "", "fieldPath", NULL));
    const char *message = sw_json_str(rule, "", "message", NULL), *where = at + (*at == '.');
    const enum sw_field_error type = type_of(sw_json_str(rule, "", "reason", NULL));
    const bool has_value = type == SW_FIELD_INVALID || type == SW_FIELD_DUPLICATE;
    message = *message ? message : failed;
    where = *where ? where : "<nil>";
    if (has_value)
        sw_field_error_str(errors, type, where, sw_json_str(schema, "object", "type", NULL),
                           message);
    else
        sw_field_error_raw(errors, type, where, NULL, message);
}

void sw_structural_rules(json_object *value, json_object *old, json_object *schema,
                         const char *path, struct sw_field_errors *errors)
{
    json_object *rules = sw_json_get(schema, KEY);
    for (size_t i = 0; value && i < sw_json_len(rules); i++)
        check_rule(value, old, schema, path, sw_json_at(rules, i), errors);
    if (json_object_is_type(value, json_type_array) && sw_structural_items(schema)) {
        for (size_t i = 0; i < sw_json_len(value); i++) {
            SW_AUTO_CHARS *at = sw_printf("%s[%zu]", path, i);
            sw_structural_rules(sw_json_at(value, i), NULL, sw_structural_items(schema), at,
                                errors);
        }
    }
    if (!json_object_is_type(value, json_type_object))
        return;
    json_object_object_foreach(value, key, child)
    {
        json_object *of = sw_structural_property(schema, key);
        SW_AUTO_CHARS *at = sw_printf("%s%s%s", path, *path ? "." : "", key);
        if (of)
            sw_structural_rules(child, sw_json_get(old, key), of, at, errors);
    }
}
