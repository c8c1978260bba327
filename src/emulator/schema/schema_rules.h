#pragma once
/* schema_rules: the expressions of x-kubernetes-validations, as they are compiled for a schema.
 * Internal to schema. */
#include "data/cel/cel.h"
#include "emulator/schema/schema.h"

#define SW_RULES_KEY "x-kubernetes-validations"

/** Compile @text, the `rule` or `messageExpression` of @rule, a rule of @schema; the document keeps
 * it. @is_root: the schema is that of the whole object. @return 0 | SW_INVALID */
int sw_rule_compile(json_object *rule, const char *key, json_object *schema, bool is_root,
                    const struct sw_cel **out, struct sw_err *err) SW_CHECKED;
/** Whether the expression names `oldSelf`. */
bool sw_rule_is_of_change(const struct sw_cel *rule);
