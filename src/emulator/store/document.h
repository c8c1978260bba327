#pragma once
/* document: building and comparing Kubernetes documents, beyond data/json/path.h. */
#include "data/json/json.h"
#include "data/json/path.h"

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

/** A new object of key, value pairs ended by NULL; takes the values, leaves NULL ones out. */
json_object *sw_doc_new(const char *key, ...) __attribute__((sentinel));
/** A new array of values ended by NULL; takes them. */
json_object *sw_doc_list(json_object *first, ...) __attribute__((sentinel));
/** A new string. */
json_object *sw_str(const char *s);
/** A new integer. */
json_object *sw_int(int64_t i);
/** A new boolean. */
json_object *sw_bool(bool b);
/** A time as Kubernetes writes it. */
json_object *sw_time(int64_t ms);

/** The value at a dotted path ("spec.replicas"), borrowed; NULL: missing. */
json_object *sw_doc_at(json_object *doc, const char *path);
/** A new map with the values of @map. */
json_object *sw_doc_shallow_copy(json_object *map);
/** Whether @value is null, {} or []. */
bool sw_doc_is_empty(json_object *value);
/** Whether both are equal; a missing value, null, {} and [] count as equal. */
bool sw_doc_same(json_object *a, json_object *b);

/** `status` of the condition of @type, "" where it is missing; borrowed. */
const char *sw_cond_status(json_object *doc, const char *type);
/** Add or change the condition of @type in @conditions (a list), keeping lastTransitionTime where
 * @status stays the same. @reason and @message may be NULL: left out. @return whether it changed.
 */
bool sw_cond_set(json_object *conditions, const char *type, const char *status, const char *reason,
                 const char *message, int64_t now_ms);

/** The reference among @doc's owners that has controller: true; borrowed, NULL: none. */
json_object *sw_doc_controller(json_object *doc);
/** A controller's ownerReference to @owner, new. */
json_object *sw_doc_owner_ref(json_object *owner);
/** Whether @doc has a deletionTimestamp. */
bool sw_doc_is_deleted(json_object *doc);
/** Whether the phase of the pod @doc (or NULL) is Succeeded or Failed. */
bool sw_doc_is_over(json_object *doc);

/** The letters of generated names. There are no vowels, so they spell no words. */
#define SW_NAME_LETTERS "bcdfghjklmnpqrstvwxz2456789"
/** The letter that stands for the number @n in a generated name. */
#define SW_NAME_LETTER(n) SW_NAME_LETTERS[(n) % (sizeof SW_NAME_LETTERS - 1)]

/** Short text that names a document's content: equal documents, equal text (10 letters). */
void sw_doc_hash(json_object *doc, char out[static 11]);

/** A Deployment's maxSurge and its like: an integer, or a percentage of @total. */
int64_t sw_doc_share(json_object *value, int64_t total, bool round_up, int64_t dflt);
