/* Checks of the rules in a definition: they are compiled when it is written. Each message compared
 * with kube-apiserver 1.36. */
#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/schema/schema_internal.h"
#include "emulator/schema/schema_rules.h"
#include "emulator/store/status.h"

/* A rule and where it is. */
struct rule {
    json_object *doc, *schema;
    const char *path;
    bool is_root;
    struct sw_field_errors *errors;
};

/* The rule as messages show it. */
static char *shown(json_object *rule)
{
    static const struct {
        const char *name, *key;
        bool is_pointer;
    } fields[] = {
        { "Rule", "rule", false },
        { "Message", "message", false },
        { "MessageExpression", "messageExpression", false },
        { "Reason", "reason", true },
        { "FieldPath", "fieldPath", false },
        { "OptionalOldSelf", "optionalOldSelf", true },
    };
    SW_AUTO_JSON *doc = json_object_new_object();
    for (size_t i = 0; i < SW_COUNT(fields); i++) {
        json_object *value = sw_json_get(rule, fields[i].key);
        json_object_object_add(doc, fields[i].name,
                               value || fields[i].is_pointer ? json_object_get(value)
                                                             : json_object_new_string(""));
    }
    return sw_json_text(doc, SW_JSON_HTML, NULL);
}

static void add_shown(const struct rule *r, const char *key, const char *detail)
{
    SW_AUTO_CHARS *at = sw_printf("%s.%s", r->path, key), *value = shown(r->doc);
    sw_field_error_raw(r->errors, SW_FIELD_INVALID, at, value, detail);
}

/* @wrong: what is said where the type is not @type. @return the expression, or NULL */
static const struct sw_cel *check_expression(const struct rule *r, const char *key,
                                             const char *type, const char *failed,
                                             const char *wrong)
{
    SW_ERR(why);
    const struct sw_cel *cel = NULL;
    if (sw_rule_compile(r->doc, key, r->schema, r->is_root, &cel, &why) < 0) {
        SW_AUTO_CHARS *detail = sw_printf("%s: %s", failed, sw_err_text(&why));
        add_shown(r, key, detail);
        return NULL;
    }
    if (!sw_streq(sw_cel_type_name(cel), type))
        add_shown(r, key, wrong);
    return cel;
}

static void check_old_self(const struct rule *r, const struct sw_cel *cel)
{
    SW_AUTO_CHARS *at = sw_printf("%s.optionalOldSelf", r->path);
    if (sw_json_bool(r->doc, false, "optionalOldSelf", NULL) &&
        (!cel || !sw_rule_is_of_change(cel)))
        sw_field_error(r->errors, SW_FIELD_INVALID, at, sw_json_get(r->doc, "optionalOldSelf"),
                       "may not be set if oldSelf is not used in rule");
}

static void check_message(const struct rule *r)
{
    const char *message = sw_json_str(r->doc, "", "message", NULL);
    SW_AUTO_CHARS *at = sw_printf("%s.message", r->path);
    if (strchr(message, '\n'))
        sw_field_error_str(r->errors, SW_FIELD_INVALID, at, message,
                           "must not contain line breaks");
}

static void check_reason(const struct rule *r)
{
    static const char *const reasons[] = { "FieldValueInvalid", "FieldValueForbidden",
                                           "FieldValueRequired", "FieldValueDuplicate" };
    const char *reason = sw_json_str(r->doc, NULL, "reason", NULL);
    SW_AUTO_CHARS *at = sw_printf("%s.reason", r->path);
    for (size_t i = 0; reason && i < SW_COUNT(reasons); i++)
        if (sw_streq(reasons[i], reason))
            return;
    if (reason)
        sw_field_error_str(r->errors, SW_FIELD_NOT_SUPPORTED, at, reason,
                           "supported values: \"FieldValueDuplicate\", \"FieldValueForbidden\", "
                           "\"FieldValueInvalid\", \"FieldValueRequired\"");
}

/* ".a.b", "['a.b']": the fields that a path names are declared. */
static bool is_path(json_object *schema, const char *path)
{
    while (*path && schema) {
        const bool quoted = sw_starts_with(path, "['");
        if (!quoted && *path != '.')
            return false;
        path += quoted ? 2 : 1;
        const char *end = quoted ? strstr(path, "']") : path + strcspn(path, ".[");
        if (!end || end == path)
            return false;
        SW_AUTO_CHARS *name = sw_strndup(path, (size_t)(end - path));
        schema = sw_structural_property(schema, name);
        path = end + (quoted ? 2 : 0);
    }
    return schema != NULL;
}

static void check_field_path(const struct rule *r)
{
    const char *path = sw_json_str(r->doc, "", "fieldPath", NULL);
    SW_AUTO_CHARS *at = sw_printf("%s.fieldPath", r->path);
    if (*path && !is_path(r->schema, path))
        sw_field_error_str(r->errors, SW_FIELD_INVALID, at, path, "must be a valid path");
}

void sw_structural_check_rules(json_object *schema, const char *path, bool is_root,
                               struct sw_field_errors *errors)
{
    json_object *rules = sw_json_get(schema, SW_RULES_KEY);
    for (size_t i = 0; i < sw_json_len(rules); i++) {
        SW_AUTO_CHARS *at = sw_printf("%s." SW_RULES_KEY "[%zu]", path, i);
        SW_AUTO_CHARS *field = sw_printf("%s.rule", at);
        const struct rule r = { sw_json_at(rules, i), schema, at, is_root, errors };
        if (!*sw_json_str(r.doc, "", "rule", NULL)) {
            sw_field_error_raw(errors, SW_FIELD_REQUIRED, field, NULL, "rule is not specified");
            continue;
        }
        check_message(&r);
        check_reason(&r);
        check_field_path(&r);
        const struct sw_cel *cel = check_expression(&r, "rule", "bool", "compilation failed",
                                                    "cel expression must evaluate to a bool");
        check_old_self(&r, cel);
        if (*sw_json_str(r.doc, "", "messageExpression", NULL))
            (void)check_expression(&r, "messageExpression", "string",
                                   "messageExpression compilation failed",
                                   "messageExpression must evaluate to a string");
    }
}
