#pragma once
/* validation: the checks that a recipe of AICR asks for, as Jobs of the images that its catalogue
 * names (validators/catalog.yaml). A Job reads the recipe and a snapshot, which are mounted, and
 * says by its exit code whether the check has passed (0), does not apply (2) or has failed.
 * Source: NVIDIA/aicr, pkg/validator, validators/. Pinned by test/emulator/cli/aicr_test.sh. */
#include <stddef.h>

#include "base/base.h"

struct json_object;

/** The phases, in their order; NULL after the last. */
const char *sw_aicr_phase(size_t i);

/** Read a catalogue of validators: a list of {name, phase, image, timeout, args, env, resources},
 * the caller's. @return 0 | SW_INVALID: the field and what is wrong with it */
int sw_aicr_validators_read(const char *origin, const char *text, size_t len,
                            struct json_object **out, struct sw_err *err) SW_CHECKED;
/** What all checks of @result need: the namespace, the account, and the recipe and a snapshot in
 * ConfigMaps, as a template. @run: which run it is, for their names. Heap. */
char *sw_aicr_validation_template(struct json_object *result, const char *run);
/** The Job of @validator, of the list, for @result; the caller's. */
struct json_object *sw_aicr_validation_job(struct json_object *validator,
                                           struct json_object *result, const char *run);
