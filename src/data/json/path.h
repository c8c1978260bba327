#pragma once
/* path: reading and changing the values of a document by a path of keys. No getter fails: for a
 * value that is missing or has another type it returns the default.
 *
 *     const char *node = sw_json_str(pod, "", "spec", "nodeName", NULL);
 *     struct json_object *tpl = sw_json_find(ds, "spec", "template", NULL); */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

#include "base/base.h"

/** The value at a path of keys (char *) that ends with NULL, borrowed. NULL if a key is missing, a
 * value on the path is not a map, or the value is null. @doc may be NULL. */
struct json_object *sw_json_find(struct json_object *doc, ...) __attribute__((sentinel));
/** As sw_json_find(), with the path as an array. */
struct json_object *sw_json_find_at(struct json_object *doc, const char *const *keys,
                                    size_t n_keys);

/** The value of one key, borrowed; as sw_json_find() with one key, but faster. */
struct json_object *sw_json_get(struct json_object *map, const char *key);

/** The string at a path, borrowed; @otherwise if it is missing or not a string. */
const char *sw_json_str(struct json_object *doc, const char *otherwise, ...)
    __attribute__((sentinel));
/** The integer at a path; a float without a fraction counts as one. @otherwise if it is missing or
 * not an integer. */
int64_t sw_json_int(struct json_object *doc, int64_t otherwise, ...) __attribute__((sentinel));
/** The boolean at a path; @otherwise if it is missing or not a boolean. @otherwise is an int since
 * C does not allow a bool as the last parameter before "...". */
bool sw_json_bool(struct json_object *doc, int otherwise, ...) __attribute__((sentinel));

/** Number of elements of a list or map; 0 for anything else. */
size_t sw_json_len(struct json_object *doc);
/** Element @i of a list, borrowed; NULL out of range. */
struct json_object *sw_json_at(struct json_object *list, size_t i);
/** The element of @list whose string @key is @value (a container by its name), borrowed or NULL. */
struct json_object *sw_json_find_by(struct json_object *list, const char *key, const char *value);
/** The keys of @map in byte order, an array of strings; the caller's. */
struct json_object *sw_json_sorted_keys(struct json_object *map);
/** Whether @list contains the string @text. */
bool sw_json_has_text(struct json_object *list, const char *text);
/** The strings of @list with @between between them, "a, b"; what is no string is empty. Heap, the
 * caller's. */
char *sw_json_joined(struct json_object *list, const char *between);

/** Set the value at a path to @value, which is taken (NULL: null). Missing maps on the path are
 * created; a value on the path that is not a map is replaced by one. @doc must be a map. */
void sw_json_set(struct json_object *doc, struct json_object *value, ...) __attribute__((sentinel));
/** As sw_json_set(), with the path as an array. */
void sw_json_set_at(struct json_object *doc, struct json_object *value, const char *const *keys,
                    size_t n_keys);
/** As sw_json_set(), with a copy of the string @value. */
void sw_json_set_str(struct json_object *doc, const char *value, ...) __attribute__((sentinel));
/** Remove the value at a path. @return whether the key was there */
bool sw_json_del(struct json_object *doc, ...) __attribute__((sentinel));

/** The map at a path, borrowed. A value that is missing or has another type is replaced by an empty
 * map. @doc must be a map. */
struct json_object *sw_json_need_map(struct json_object *doc, ...) __attribute__((sentinel));
/** As sw_json_need_map(), for a list. */
struct json_object *sw_json_need_list(struct json_object *doc, ...) __attribute__((sentinel));

/* ---- Kubernetes objects ------------------------------------------------------------------------
 */

/** metadata.name, borrowed; "" if it is missing. */
const char *sw_obj_name(struct json_object *obj);
/** metadata.namespace, borrowed; "" if it is missing. */
const char *sw_obj_namespace(struct json_object *obj);
/** kind, borrowed; "" if it is missing. */
const char *sw_obj_kind(struct json_object *obj);
/** apiVersion, borrowed; "" if it is missing. */
const char *sw_obj_api_version(struct json_object *obj);
/** metadata.uid, borrowed; "" if it is missing. */
const char *sw_obj_uid(struct json_object *obj);
/** The value of the label @key, borrowed; NULL if it is missing. */
const char *sw_obj_label(struct json_object *obj, const char *key);
/** The value of the annotation @key, borrowed; NULL if it is missing. */
const char *sw_obj_annotation(struct json_object *obj, const char *key);

/** The element of metadata.ownerReferences that has controller: true, borrowed; NULL if there is
 * none.
 */
struct json_object *sw_obj_controller(struct json_object *obj);
/** Has it an element whose uid is @uid? */
bool sw_obj_has_owner(struct json_object *obj, const char *uid);
/** The manager of the newest entry of metadata.managedFields that is not about the status; one that
 * has written labels and annotations alone (a controller) counts where there is no other. Borrowed;
 * "" if there is none. */
const char *sw_obj_writer(struct json_object *obj);
/** The element of status.conditions whose type is @type, borrowed; NULL if it is missing. */
struct json_object *sw_obj_condition(struct json_object *obj, const char *type);

/* ---- JSON pointers -----------------------------------------------------------------------------
 */

/** The value at a JSON pointer, "" for @doc itself or as in "/a~1b/0". @*out is borrowed and may be
 * NULL (null). Source: RFC 6901.
 * @return 0 | SW_NOTFOUND | SW_INVALID: @pointer is not a JSON pointer */
int sw_json_pointer(struct json_object *doc, const char *pointer, struct json_object **out,
                    struct sw_err *err) SW_CHECKED;
