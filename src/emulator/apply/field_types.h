#pragma once
/* field_types: checks the types of fields of the built-in kinds that are often wrong in manifests:
 * numbers and booleans for strings, and the reverse. Messages are those of Go's decoder. Source:
 * Kubernetes' API reference. Pinned by test/emulator/emulator/api_admission_test.c. */
#include "emulator/store/store.h"

/** @return 0 | SW_INVALID (400): the message names the first field of a wrong type */
int sw_typed_check(const struct sw_emu_kind *kind, const char *version, json_object *doc,
                   struct sw_status *status);
