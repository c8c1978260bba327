#pragma once
/* path: borrowed looks into a document, and changes to it, by a path of keys. Nothing here fails on
 * a document of another shape: what is not there, or is not of the kind asked for, is the default.
 *
 *     const char *node = sw_json_str(pod, "", "spec", "nodeName", NULL);
 *     struct json_object *tpl = sw_json_find(ds, "spec", "template", NULL); */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

#include "base/base.h"

/** The value at a path of keys ended by NULL, borrowed; NULL where a key is missing, a value on the
 * way is no map, or the value is null. @doc may be NULL. */
struct json_object *sw_json_find(struct json_object *doc, ...) __attribute__((sentinel));
struct json_object *sw_json_find_at(struct json_object *doc, const char *const *keys,
                                    size_t n_keys);

/** The value of one key; NULL as above. The fast case of sw_json_find(). */
struct json_object *sw_json_get(struct json_object *map, const char *key);

/** The text at a path, borrowed; @otherwise where there is none or it is no string. */
const char *sw_json_str(struct json_object *doc, const char *otherwise, ...)
    __attribute__((sentinel));
/** An integer, or a float without a fraction. */
int64_t sw_json_int(struct json_object *doc, int64_t otherwise, ...) __attribute__((sentinel));
/* int: a bool cannot stand before "..." */
bool sw_json_bool(struct json_object *doc, int otherwise, ...) __attribute__((sentinel));

/** Number of elements of a list or map; 0 for anything else. */
size_t sw_json_len(struct json_object *doc);
/** Element @i of a list, borrowed; NULL out of range. */
struct json_object *sw_json_at(struct json_object *list, size_t i);
/** The element of @list whose string @key is @value (a container by its name), borrowed or NULL. */
struct json_object *sw_json_find_by(struct json_object *list, const char *key, const char *value);
/** Is @text one of the texts in @list? */
bool sw_json_has_text(struct json_object *list, const char *text);

/** Put @value (taken; NULL: null) at a path, making the maps on the way. What is on the way and is
 * no map is replaced by one. @doc must be a map. */
void sw_json_set(struct json_object *doc, struct json_object *value, ...) __attribute__((sentinel));
void sw_json_set_at(struct json_object *doc, struct json_object *value, const char *const *keys,
                    size_t n_keys);
void sw_json_set_str(struct json_object *doc, const char *value, ...) __attribute__((sentinel));
/** Remove what is at a path. @return whether something was there */
bool sw_json_del(struct json_object *doc, ...) __attribute__((sentinel));

/** The map (or list) at a path, borrowed, made where it is missing or of another kind. */
struct json_object *sw_json_need_map(struct json_object *doc, ...) __attribute__((sentinel));
struct json_object *sw_json_need_list(struct json_object *doc, ...) __attribute__((sentinel));

/* ---- Kubernetes objects ------------------------------------------------------------------------
 */

/** metadata.name and so on, borrowed; "" where missing. */
const char *sw_obj_name(struct json_object *obj);
const char *sw_obj_namespace(struct json_object *obj);
const char *sw_obj_kind(struct json_object *obj);
const char *sw_obj_api_version(struct json_object *obj);
const char *sw_obj_uid(struct json_object *obj);
/** The value of a label or annotation, borrowed; NULL where missing. */
const char *sw_obj_label(struct json_object *obj, const char *key);
const char *sw_obj_annotation(struct json_object *obj, const char *key);

/** The element of status.conditions of that type, borrowed or NULL. */
struct json_object *sw_obj_condition(struct json_object *obj, const char *type);

/* ---- JSON pointers -----------------------------------------------------------------------------
 */

/** RFC 6901: the value at @pointer ("" is @doc itself, "/a~1b/0"). @*out is borrowed and may be
 * NULL (null). @return 0 | SW_NOTFOUND | SW_INVALID (not a pointer) */
int sw_json_pointer(struct json_object *doc, const char *pointer, struct json_object **out,
                    struct sw_err *err) SW_CHECKED;
