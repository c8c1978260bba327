#pragma once
/* crd: kinds that CustomResourceDefinitions declare. Each served version has a structural schema by
 * which documents are pruned, filled with defaults and checked. A CRD is accepted, established and
 * served in the turn of the loop after it was created, as a cluster's controllers do it. */
#include "emulator/store/change.h"

struct sw_field_errors;

/** Prune and default w->doc by the schema of the version it came in. @return 0 | SW_INVALID (a
 * strict caller's unknown fields) */
int sw_crd_decode(struct sw_write *w);
/** Its schema's defaults once more, after the strategy dropped what it drops. */
void sw_crd_default(struct sw_write *w);
/** Check w->doc by its schema. */
void sw_crd_validate(struct sw_write *w, struct sw_field_errors *errors);
/** Check a CustomResourceDefinition itself. */
void sw_crd_check(struct sw_write *w, struct sw_field_errors *errors);

/** The openAPIV3Schema of a served version, borrowed; NULL: none. */
json_object *sw_crd_schema(const struct sw_emu_kind *kind, const char *version);
/** spec.versions[] of that version, borrowed: columns, scale paths. */
json_object *sw_crd_version(const struct sw_emu_kind *kind, const char *version);

/** @kind is declared by @crd (counted here) from now on; NULL: by none. */
void sw_crd_set(struct sw_emu_kind *kind, json_object *crd);
