#pragma once
/* defaults: the defaults that an API server sets in objects of the built-in kinds, as far as
 * clients read them. Source: the defaults of Kubernetes' API reference. */
#include <json-c/json_object.h>
#include <stdbool.h>

/** Set the defaults of a PodSpec, of a pod (@is_pod) or of a template. */
void sw_default_pod_spec(json_object *spec, bool is_pod);

/** Guaranteed, Burstable or BestEffort, by the cpu and memory of all containers. */
const char *sw_pod_qos_class(json_object *spec);

/** Set @key unless it is there; the value is taken. */
void sw_default(json_object *map, const char *key, json_object *value);
/** sw_default() with a string. */
void sw_default_str(json_object *map, const char *key, const char *value);
/** sw_default() with an integer. */
void sw_default_int(json_object *map, const char *key, int value);
/** sw_default() with a boolean. */
void sw_default_bool(json_object *map, const char *key, bool value);
/** Make @key a list with the string @value unless it is a list with elements. */
void sw_default_list(json_object *map, const char *key, const char *value);
