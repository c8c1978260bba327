#pragma once
/* Hooks that have a file of their own: rows of the table in hooks.c. */
#include "data/data.h"
#include "operator/controller/hooks.h"

#include <json-c/json.h>

/** What the annotation says, of the manifest or else of the resource; NULL: nothing. Borrowed. */
const char *hook_mirror_rules(struct json_object *doc, struct json_object *resource);
int hook_mirror_images(struct json_object *doc, const struct sw_hook_env *env, struct sw_err *err);
int hook_node_affinity(struct json_object *doc, const struct sw_hook_env *env, struct sw_err *err);
int hook_serve_cert(struct json_object *doc, const struct sw_hook_env *env, struct sw_err *err);
int hook_inject_ca(struct json_object *doc, const struct sw_hook_env *env, struct sw_err *err);
