#pragma once
/* recorded: a recipe out of the record of a release, as files and as a ConfigMap that the resource
 * can have it from. */
#include "base/base.h"

struct json_object;

/** The recipe of @release as the ConfigMap @ns/@name, the caller's. A record has Chart.yaml,
 * values, templates, other files and the charts it depends on, but no comments of the values and no
 * schema.
 * @return 0 | SW_INVALID: it depends on charts that the record has not, or is no recipe any more,
 *         or too large
 * Pinned by test/emulator/cli/history_test.sh. */
int sw_recorded_config_map(struct json_object *release, const char *ns, const char *name,
                           struct json_object **out, struct sw_err *err) SW_CHECKED;
