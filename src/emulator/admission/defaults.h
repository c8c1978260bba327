#pragma once
/* defaults: what an API server fills into objects of the built-in kinds, of which only
 * those that clients read. Source: the defaults of Kubernetes' API reference. */
#include <json-c/json_object.h>

/** A PodSpec, in a pod (@is_pod) or in a template. */
void sw_default_pod_spec(json_object *spec, int is_pod);

/** Set @key unless it is there; the value is taken. */
void sw_default(json_object *map, const char *key, json_object *value);
/** sw_default() with a string. */
void sw_default_str(json_object *map, const char *key, const char *value);
/** sw_default() with an integer. */
void sw_default_int(json_object *map, const char *key, int value);
/** sw_default() with a boolean. */
void sw_default_bool(json_object *map, const char *key, int value);
