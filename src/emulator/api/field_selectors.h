#pragma once
/* field_selectors: the fields that a field selector may name, by kind. */
#include "emulator/store/store.h"

/** Whether a field selector may name @field: metadata.name, metadata.namespace, the fields of a
 * built-in kind in the API reference, a CRD's selectableFields. */
bool sw_fields_selectable(const struct sw_emu_kind *kind, const char *version, const char *field);
