#pragma once
/* fields: the fields of Kubernetes' own kinds, for lint. The API server drops or refuses a field
 * that a kind does not have; mostly it is a misspelling.
 *
 * Source: fields.txt, made by hack/field-table.py from a release's OpenAPI document. Of kinds that
 * are not in it only the name and metadata are checked. Pinned by
 * test/unit/cli/cli_fields_test.c. */
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

struct json_object;
struct sw_fields;

/** Read the table of fields that the program carries. @return the caller's: sw_fields_free() */
struct sw_fields *sw_fields_new(void);
/** NULL is accepted. */
void sw_fields_free(struct sw_fields *fields);
SW_DEFINE_AUTO(sw_fields, sw_fields_free)

/** @path: of the field ("spec.containers[0].image"); both borrowed. */
typedef void sw_fields_fn(void *arg, const char *path, const char *text);
/** Call @fn for each field of @doc that is unknown or has a value of a wrong type, and for a kind
 * that its group does not have. */
void sw_fields_check(const struct sw_fields *fields, struct json_object *doc, sw_fields_fn *fn,
                     void *arg);

/** Whether the field of @kind that the names @path lead to, in lists as well, must be text. @n: of
 * them. Pinned by test/unit/cli/cli_fix_test.c. */
bool sw_fields_is_text(const struct sw_fields *fields, const char *version, const char *kind,
                       const char *const *path, size_t n);
