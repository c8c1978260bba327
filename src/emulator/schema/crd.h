#pragma once
/* crd: the kinds of CustomResourceDefinitions. By the structural schema of each served version,
 * documents are pruned, filled with defaults and checked. */
#include "emulator/store/change.h"

struct sw_field_errors;

/** Prune and default w->doc by the schema of the version of the request. @return 0 | SW_INVALID
 * (unknown fields, with strict validation) */
int sw_crd_decode(struct sw_write *w);
/** Fill in the schema's defaults again: a dropped status comes back with its default. */
void sw_crd_default(struct sw_write *w);
/** Check w->doc by its schema. */
void sw_crd_validate(struct sw_write *w, struct sw_field_errors *errors);
/** Check a CustomResourceDefinition itself. */
void sw_crd_check(struct sw_write *w, struct sw_field_errors *errors);

/** The openAPIV3Schema of a version, borrowed; NULL: none. @version NULL: the storage version. */
json_object *sw_crd_schema(const struct sw_emu_kind *kind, const char *version);
/** The element of spec.versions (columns, scale paths), borrowed; NULL: none. */
json_object *sw_crd_version(const struct sw_emu_kind *kind, const char *version);

/** Set the CRD that declares @kind (counted here); NULL: none. */
void sw_crd_set(struct sw_emu_kind *kind, json_object *crd);
