#pragma once
/* own_kinds: what SpecialResources and their like are made of, for lint: by the definitions that
 * the program carries, and by what the operator refuses beyond them. */
#include "base/base.h"
#include "cli/lint/fields.h"

struct json_object;
struct sw_own_kinds;

/** Parse the definitions that the program carries. @return the caller's: sw_own_kinds_free() */
struct sw_own_kinds *sw_own_kinds_new(void);
/** NULL is accepted. */
void sw_own_kinds_free(struct sw_own_kinds *kinds);
SW_DEFINE_AUTO(sw_own_kinds, sw_own_kinds_free)

/** Call @fn for a kind that its group does not have, and for each field of spec that the definition
 * does not have ("is it '...'?"), that has a wrong type, that is required and missing, or that has
 * a value which the operator refuses. Metadata is left to sw_fields_check().
 * @whole: nothing is added to @doc before it is applied, so that required fields are checked
 * Pinned by test/golden/cli/lint_test.sh.
 */
void sw_own_kinds_check(const struct sw_own_kinds *kinds, struct json_object *doc, bool whole,
                        sw_fields_fn *fn, void *arg);
