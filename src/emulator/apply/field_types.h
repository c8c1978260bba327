#pragma once
/* typed: the types of the built-in kinds' fields, as far as people get them wrong: numbers and
 * booleans where texts are meant, and the other way round. Said in the words of Go's decoder, which
 * users know. Source: Kubernetes' API reference. Pinned by
 * test/emulator/emulator/api_admission_test.c. */
#include "emulator/store/store.h"

/** @return 0 | SW_INVALID (400) with the first field that has another type than it should. */
int sw_typed_check(const struct sw_emu_kind *kind, const char *version, json_object *doc,
                   struct sw_status *status);
