#pragma once
/* own_kinds: lint of slipway's own kinds by their CustomResourceDefinitions, which the program
 * carries, and by what else the operator refuses. */
#include "base/base.h"
#include "cli/lint/fields.h"

struct json_object;
struct sw_own_kinds;

/** Parse the definitions that the program carries. @return the caller's: sw_own_kinds_free() */
struct sw_own_kinds *sw_own_kinds_new(void);
/** NULL is accepted. */
void sw_own_kinds_free(struct sw_own_kinds *kinds);
SW_DEFINE_AUTO(sw_own_kinds, sw_own_kinds_free)

/** Call @fn for a kind that its group does not have, and for each field of spec that is unknown,
 * has a wrong type or a value that the operator refuses, or is required and missing. Metadata is
 * left to sw_fields_check().
 * @whole: @doc is applied as it is, so required fields are checked
 * Pinned by test/golden/cli/lint_test.sh.
 */
void sw_own_kinds_check(const struct sw_own_kinds *kinds, struct json_object *doc, bool whole,
                        sw_fields_fn *fn, void *arg);

/** The definition of the kind @name, no matter the case, borrowed; NULL: it is none of slipway's.
 */
struct json_object *sw_own_kinds_find(const struct sw_own_kinds *kinds, const char *name);
/** The schema of the newest version of a definition, borrowed. @version: of the same. */
struct json_object *sw_own_kinds_schema(struct json_object *crd, const char **version);
/** The schema of the field @key of what has the schema @above, in a list as well; borrowed. NULL:
 * there is none. */
struct json_object *sw_own_kinds_below(struct json_object *above, const char *key);
/** Whether @text is as @pattern, a regular expression of a schema. */
bool sw_own_kinds_match(const char *pattern, const char *text);
