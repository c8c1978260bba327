#pragma once
/* undeclared: fields that newer manifests have and an old cluster's API does not know. Server-side
 * apply is refused for them, other writes lose them without a word. */
#include "emulator/store/store.h"

/** @return the path of the first such field (".spec.a.b"), heap; NULL: none. */
char *sw_unknown_fields_find(const struct sw_emu_kind *kind, int minor, json_object *doc);
/** Remove all such fields from @doc. */
void sw_unknown_fields_drop(const struct sw_emu_kind *kind, int minor, json_object *doc);
