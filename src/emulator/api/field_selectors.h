#pragma once
/* field_selectors: which fields a field selector may name, by kind. */
#include "emulator/store/store.h"

/** metadata.name and metadata.namespace always; others as the API reference lists them, and a
 * CRD's selectableFields. */
bool sw_fields_selectable(const struct sw_emu_kind *kind, const char *version, const char *field);
