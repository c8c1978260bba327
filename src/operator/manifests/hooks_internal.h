#pragma once
/* Hooks that have a file of their own: rows of the table in hooks.c. */
#include "data/data.h"
#include "operator/manifests/hooks.h"

#include <json-c/json.h>

int hook_mirror_images(struct json_object *doc, const struct sw_hook_env *env, struct sw_err *err);
int hook_node_affinity(struct json_object *doc, const struct sw_hook_env *env, struct sw_err *err);
int hook_serve_cert(struct json_object *doc, const struct sw_hook_env *env, struct sw_err *err);
int hook_inject_ca(struct json_object *doc, const struct sw_hook_env *env, struct sw_err *err);
int hook_tolerate(struct json_object *doc, const struct sw_hook_env *env, struct sw_err *err);
int hook_set_priority(struct json_object *doc, const struct sw_hook_env *env, struct sw_err *err);
int hook_override(struct json_object *doc, const struct sw_hook_env *env, struct sw_err *err);
