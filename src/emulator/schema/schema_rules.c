/* Rules of custom resources: x-kubernetes-validations. Source: Kubernetes "Extend the Kubernetes
 * API with CustomResourceDefinitions", validation rules; each message compared with
 * kube-apiserver 1.36. */
#include "emulator/schema/schema_rules.h"

#include <string.h>

#include "base/base.h"
#include "data/data.h"
#include "emulator/schema/schema_internal.h"
#include "emulator/store/status.h"

/* What the rules of one object may cost. */
enum { MOST_COST = 10000000 };

enum { SELF, OLD_SELF, N_VARIABLES };

int sw_rule_compile(json_object *rule, const char *key, json_object *schema, bool is_root,
                    const struct sw_cel **out, struct sw_err *err)
{
    const bool optional = sw_json_bool(rule, false, "optionalOldSelf", NULL);
    const enum sw_cel_sort self = is_root ? SW_CEL_ROOT : SW_CEL_TYPED;
    const enum sw_cel_sort maybe = is_root ? SW_CEL_ROOT_OPTIONAL : SW_CEL_OPTIONAL;
    const struct sw_cel_variable variables[N_VARIABLES] = {
        [SELF] = { "self", self, schema },
        [OLD_SELF] = { "oldSelf", optional ? maybe : self, schema },
    };
    const struct sw_cel_env env = { .variables = variables, .n_variables = N_VARIABLES };
    return sw_cel_keep(sw_json_get(rule, key), &env, out, err);
}

bool sw_rule_is_of_change(const struct sw_cel *rule)
{
    return sw_cel_names(rule, OLD_SELF);
}

bool sw_structural_has_rules(json_object *schema)
{
    static const char *const below[] = { "items", "additionalProperties" };
    if (!json_object_is_type(schema, json_type_object))
        return false;
    if (sw_json_len(sw_json_get(schema, SW_RULES_KEY)))
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

/* A value and where its rules are. */
struct subject {
    json_object *value, *old, *schema;
    const char *path;
    bool is_root;
    bool is_kept; /* it is in a list without keys that is as it was: its elements have no @old */
};

/* The rules of one object on their way. */
struct evaluation {
    struct sw_field_errors *errors;
    struct sw_field_errors *kept; /* of what an update has not changed, which stays valid */
    bool names_type;              /* before Kubernetes 1.36 a failed rule shows the value's type */
    uint64_t cost;
    bool ended; /* the budget is spent */
};

static const char *path_or_nil(const char *path)
{
    return *path ? path : "<nil>";
}

/* ---- messages -----------------------------------------------------------------------------------
 */

/* What an error calls the rule: its message, or the expression. */
static char *rule_text(json_object *rule)
{
    const char *message = sw_json_str(rule, "", "message", NULL);
    return sw_strtrim(*message ? message : sw_json_str(rule, "", "rule", NULL));
}

/* The text of messageExpression; NULL: there is none, or it cannot be evaluated, is empty or has
 * several lines. */
static char *own_message(struct evaluation *e, const struct subject *s, json_object *rule)
{
    SW_ERR(ignored);
    const struct sw_cel *cel = NULL;
    SW_AUTO_JSON *out = NULL;
    json_object *const values[N_VARIABLES] = { [SELF] = s->value, [OLD_SELF] = s->old };
    const struct sw_cel_input input = { .values = values };
    if (!*sw_json_str(rule, "", "messageExpression", NULL) ||
        sw_rule_compile(rule, "messageExpression", s->schema, s->is_root, &cel, &ignored) < 0 ||
        (sw_rule_is_of_change(cel) && !s->old) ||
        sw_cel_run(cel, &input, &out, &e->cost, &ignored) < 0)
        return NULL;
    SW_AUTO_CHARS *text = sw_strtrim(
        json_object_is_type(out, json_type_string) ? json_object_get_string(out) : "");
    return *text && !strchr(text, '\n') ? SW_TAKE(text) : NULL;
}

static void add_failure(struct evaluation *e, const struct subject *s, json_object *rule)
{
    SW_AUTO_CHARS *own = own_message(e, s, rule), *plain = rule_text(rule);
    const bool has_message = *sw_json_str(rule, "", "message", NULL);
    SW_AUTO_CHARS *message = own ? SW_TAKE(own)
                                 : sw_printf("%s%s", has_message ? "" : "failed rule: ", plain);
    SW_AUTO_CHARS *at = sw_printf("%s%s", s->path, sw_json_str(rule, "", "fieldPath", NULL));
    const char *where = path_or_nil(at + (*at == '.'));
    const enum sw_field_error type = type_of(sw_json_str(rule, "", "reason", NULL));
    const bool valued = type == SW_FIELD_INVALID || type == SW_FIELD_DUPLICATE;
    if (valued && e->names_type)
        sw_field_error_str(e->errors, type, where, sw_json_str(s->schema, "object", "type", NULL),
                           message);
    else if (valued && !json_object_is_type(s->value, json_type_object) &&
             !json_object_is_type(s->value, json_type_array))
        sw_field_error(e->errors, type, where, s->value, type == SW_FIELD_DUPLICATE ? NULL : "%s",
                       message);
    else /* of a duplicate nothing else is said */
        sw_field_error_raw(e->errors, type, where, NULL,
                           type == SW_FIELD_DUPLICATE ? NULL : message);
}

/* The rule could not be evaluated. */
static void add_error(struct evaluation *e, const struct subject *s, json_object *rule,
                      const char *why)
{
    SW_AUTO_CHARS *text = rule_text(rule);
    const char *fmt = "%s evaluating rule: %s";
    if (sw_starts_with(why, "no such overload"))
        fmt = "'%s': call arguments did not match a supported operator, function or macro "
              "signature for rule: %s";
    else if (sw_starts_with(why, "operation cancelled"))
        fmt = "'%s': no further validation rules will be run due to call cost exceeded after rule: "
              "%s";
    e->ended = sw_starts_with(why, "operation cancelled");
    SW_AUTO_CHARS *detail = sw_printf(fmt, why, text);
    sw_field_error_str(e->errors, SW_FIELD_INVALID, path_or_nil(s->path),
                       sw_json_str(s->schema, "object", "type", NULL), detail);
}

/* ---- evaluation ---------------------------------------------------------------------------------
 */

/* What has not changed stays valid, whatever rules say now: that is a warning. */
static bool is_unchanged(const struct subject *s)
{
    return s->is_kept || (s->old && sw_json_equal(s->old, s->value));
}

static void check_rule(struct evaluation *e, const struct subject *s, json_object *rule)
{
    SW_ERR(why);
    const struct sw_cel *cel = NULL;
    if (sw_rule_compile(rule, "rule", s->schema, s->is_root, &cel, &why) < 0) {
        SW_AUTO_CHARS *detail = sw_printf("rule compile error: compilation failed: %s",
                                          sw_err_text(&why));
        sw_field_error_str(e->errors, SW_FIELD_INVALID, path_or_nil(s->path),
                           sw_json_str(s->schema, "object", "type", NULL), detail);
        return;
    }
    const bool of_change = sw_rule_is_of_change(cel);
    if (of_change && !s->old && !sw_json_bool(rule, false, "optionalOldSelf", NULL))
        return;
    json_object *const values[N_VARIABLES] = { [SELF] = s->value, [OLD_SELF] = s->old };
    const struct sw_cel_input input = { .values = values };
    const int rc = sw_cel_holds(cel, &input, &e->cost, &why);
    if (rc == 1)
        return;
    struct evaluation at = *e;
    if (!of_change && is_unchanged(s))
        at.errors = e->kept;
    if (rc < 0)
        add_error(&at, s, rule, sw_err_text(&why));
    else
        add_failure(&at, s, rule);
    e->cost = at.cost;
    e->ended = at.ended;
}

static void check_rules(struct evaluation *e, const struct subject *s)
{
    json_object *rules = sw_json_get(s->schema, SW_RULES_KEY);
    for (size_t i = 0; s->value && i < sw_json_len(rules) && !e->ended; i++) {
        check_rule(e, s, sw_json_at(rules, i));
        if (e->cost <= MOST_COST)
            continue;
        e->ended = true;
        sw_field_error_str(e->errors, SW_FIELD_INVALID, path_or_nil(s->path),
                           sw_json_str(s->schema, "object", "type", NULL),
                           "validation failed due to running out of cost budget, no further "
                           "validation rules will be run");
    }
}

static void check_value(struct evaluation *e, const struct subject *s);

/* The element of a map list that was there before, by its keys. */
static json_object *old_element(const struct subject *list, json_object *element)
{
    json_object *keys = sw_json_get(list->schema, "x-kubernetes-list-map-keys");
    if (!sw_streq(sw_json_str(list->schema, "", "x-kubernetes-list-type", NULL), "map"))
        return NULL;
    for (size_t i = 0; i < sw_json_len(list->old); i++) {
        json_object *old = sw_json_at(list->old, i);
        bool same = true;
        for (size_t k = 0; k < sw_json_len(keys) && same; k++) {
            const char *key = json_object_get_string(sw_json_at(keys, k));
            same = sw_json_equal(sw_json_get(old, key), sw_json_get(element, key));
        }
        if (same)
            return old;
    }
    return NULL;
}

static void check_elements(struct evaluation *e, const struct subject *s)
{
    json_object *items = sw_structural_items(s->schema);
    const bool kept = items && is_unchanged(s);
    for (size_t i = 0; items && i < sw_json_len(s->value) && !e->ended; i++) {
        SW_AUTO_CHARS *at = sw_printf("%s[%zu]", s->path, i);
        json_object *element = sw_json_at(s->value, i);
        check_value(e,
                    &(struct subject){ element, old_element(s, element), items, at, false, kept });
    }
}

static void check_value(struct evaluation *e, const struct subject *s)
{
    check_rules(e, s);
    if (json_object_is_type(s->value, json_type_array))
        check_elements(e, s);
    if (!json_object_is_type(s->value, json_type_object))
        return;
    json_object_object_foreach(s->value, key, child)
    {
        json_object *own = sw_json_find(s->schema, "properties", key, NULL);
        json_object *of = sw_structural_property(s->schema, key);
        SW_AUTO_CHARS *at = own ? sw_printf("%s%s%s", s->path, *s->path ? "." : "", key)
                                : sw_printf("%s[%s]", s->path, key);
        if (of && !e->ended)
            check_value(
                e, &(struct subject){ child, sw_json_get(s->old, key), of, at, false, s->is_kept });
    }
}

void sw_structural_rules(json_object *value, json_object *old, json_object *schema, bool names_type,
                         struct sw_field_errors *errors, struct sw_field_errors *kept)
{
    struct evaluation e = { .errors = errors, .kept = kept, .names_type = names_type };
    check_value(&e, &(struct subject){ value, old, schema, "", true, false });
}
