#pragma once
/* documents: what AICR's documents have in common. Internal to aicr. */
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

struct json_object;

/** Read one YAML document of a kind and of a version that is known. @file: for messages.
 * @return 0 | SW_INVALID */
int sw_aicr_document(const char *file, const char *text, size_t len_bytes, const char *kind,
                     struct json_object **out, struct sw_err *err) SW_CHECKED;
/** Is @doc a map that has no other fields than @known, which ends with NULL? @where: "componentRefs
 * 'x'", for messages. @return 0 | SW_INVALID */
int sw_aicr_known(const char *file, const char *where, struct json_object *doc,
                  const char *const *known, struct sw_err *err) SW_CHECKED;
/** Has @criteria (NULL: there are none) known fields alone? @where: as for sw_aicr_known().
 * @return 0 | SW_INVALID */
int sw_aicr_check_criteria(const char *file, const char *where, struct json_object *criteria,
                           struct sw_err *err) SW_CHECKED;
/** Check constraints, componentRefs and validation of @spec. @return 0 | SW_INVALID */
int sw_aicr_check_spec(const char *file, struct json_object *spec, struct sw_err *err) SW_CHECKED;

/** A name for sorting lists of things with a name. */
int sw_aicr_by_name(const void *a, const void *b);
/** The names of @components, each one behind those that it depends on; of those that could be next
 * the first of the alphabet is. @*out is the caller's. @return 0 | SW_INVALID: a circle, no such
 * component */
int sw_aicr_order(struct json_object *components, struct json_object **out,
                  struct sw_err *err) SW_CHECKED;
