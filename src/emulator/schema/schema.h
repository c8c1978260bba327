#pragma once
/* schema: structural OpenAPI v3 schemas, as custom resources have them. Source: Kubernetes "Extend
 * the Kubernetes API with CustomResourceDefinitions" and OpenAPI 3.0. Pinned by
 * test/emulator/emulator/api_crd_test.c. */
#include <json-c/json_object.h>
#include <stdbool.h>

struct sw_field_errors;

/** Remove the fields of a custom resource that @schema does not declare, unless it has
 * x-kubernetes-preserve-unknown-fields. @unknown (may be NULL) is called with the path of each. */
void sw_structural_prune(json_object *doc, json_object *schema,
                         void (*unknown)(const char *path, void *arg), void *arg);
/** Fill in defaults; null where null is not allowed and there is a default counts as missing. */
void sw_structural_default(json_object *value, json_object *schema);
/** Add the errors of @value by @schema. @path: of the value; "": the root. */
void sw_structural_validate(json_object *value, json_object *schema, const char *path,
                            struct sw_field_errors *errors);
/** Add the errors of the object @value by the rules of @schema (x-kubernetes-validations), which is
 * valid by the rest of it. @old: what it was, for rules about a change; or NULL. @names_type: a
 * rule that fails shows the value's type, as before Kubernetes 1.36. @kept gets those of what an
 * update has not changed: it stays valid, and 1.36 warns of it. */
void sw_structural_rules(json_object *value, json_object *old, json_object *schema, bool names_type,
                         struct sw_field_errors *errors, struct sw_field_errors *kept);
/** Add the errors of the rules of @schema itself, not of those in it. @is_root: it is that of the
 * whole object. */
void sw_structural_check_rules(json_object *schema, const char *path, bool is_root,
                               struct sw_field_errors *errors);
/** Add the errors of rules in @schema, that of the whole object at @path, which may cost too much.
 * @is_old: the schema was there before: its rules may each, but not all together. */
void sw_structural_check_costs(json_object *schema, const char *path, bool is_old,
                               struct sw_field_errors *errors);
/** Has @schema, or one in it, such rules? */
bool sw_structural_has_rules(json_object *schema);
/** Add the errors of @schema itself: it must be structural. */
void sw_structural_check(json_object *schema, const char *path, bool is_root,
                         struct sw_field_errors *errors);
/** The schema of a property (also through additionalProperties); borrowed, NULL: not declared. */
json_object *sw_structural_property(json_object *schema, const char *key);
/** The schema of a list's elements; borrowed, NULL: not declared. */
json_object *sw_structural_items(json_object *schema);
