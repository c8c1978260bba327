#pragma once
/* unknown_fields: fields of newer manifests that the emulated release does not have. Server-side
 * apply refuses them; other writes drop them silently. */
#include "emulator/store/store.h"

/** @return the path of the first such field (".spec.a.b"), heap; NULL: none. */
char *sw_unknown_fields_find(const struct sw_emu_kind *kind, int minor, json_object *doc);
/** Remove all such fields from @doc. */
void sw_unknown_fields_drop(const struct sw_emu_kind *kind, int minor, json_object *doc);
