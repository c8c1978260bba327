#pragma once
/* own_kinds: what SpecialResources and their like are made of, for lint: by the definitions that
 * the program carries, and by what the operator refuses beyond them. */
#include "base/base.h"
#include "cli/lint/fields.h"

struct json_object;
struct sw_own_kinds;

struct sw_own_kinds *sw_own_kinds_new(void);
void sw_own_kinds_free(struct sw_own_kinds *kinds);
SW_DEFINE_AUTO(sw_own_kinds, sw_own_kinds_free)

/** Is @doc of a kind that is defined here? Such a kind in a version that is not counts too: @fn of
 * sw_own_kinds_check() is told. */
bool sw_own_kinds_has(const struct sw_own_kinds *kinds, struct json_object *doc);
/** Call @fn for a kind that its group does not have, and for each field of spec that the definition
 * does not have ("is it '...'?"), holds another type, is needed and not there (@whole: nobody adds
 * to it before it is applied), or has a value that is refused. Metadata is left to
 * sw_fields_check(). Pinned by test/golden/cli/lint_test.sh.
 */
void sw_own_kinds_check(const struct sw_own_kinds *kinds, struct json_object *doc, bool whole,
                        sw_fields_fn *fn, void *arg);
