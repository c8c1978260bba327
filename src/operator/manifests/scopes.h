#pragma once
/* scopes: whether kinds that are not served yet have a namespace, by the CustomResourceDefinitions
 * that a recipe brings: those of one state may define what another one has, and be served only when
 * it has its turn. */
#include <stdbool.h>

struct json_object;

/** Note what @doc says, if it is a CustomResourceDefinition. @*scopes: a document, owned by the
 * caller; NULL: nothing is known yet. */
void sw_scopes_note(struct json_object **scopes, struct json_object *doc);
/** Has the kind of @doc a namespace by @scopes (or NULL)? Where nothing is known of it: has @doc
 * one?
 */
bool sw_scopes_namespaced(struct json_object *scopes, struct json_object *doc);
