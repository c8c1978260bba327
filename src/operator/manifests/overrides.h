#pragma once
/* overrides: spec.overrides, by which a user changes objects of a recipe without a chart. */
#include <stdint.h>

#include "base/base.h"

struct json_object;

enum { SW_MAX_OVERRIDES = 64 };

/** Check spec.overrides of @resource, a SpecialResource with its templates rendered.
 * @return 0 | SW_INVALID: the message begins with the field */
int sw_overrides_check(struct json_object *resource, struct sw_err *err);
/** The overrides that matched no object, by @used (one bit for each entry): "spec.overrides[1]
 * (DaemonSet 'x')", comma separated; heap. NULL: all of them did. */
char *sw_overrides_unused(struct json_object *resource, uint64_t used);
