#pragma once
/* aicr_source: a SpecialResource that names a recipe of NVIDIA's AI Cluster Runtime by spec.aicr
 * alone, {data: where the catalogue is, criteria: which recipe of it}, instead of by spec.chart. */
#include "base/base.h"

struct json_object;

/** Give @doc, a SpecialResource with spec.aicr and without spec.chart, the spec.chart that means
 * the same, in place; the cluster's stays as it is. What is no map, or has no data, is left alone.
 */
void sw_aicr_source_expand(struct json_object *doc);
/** @return 0 | SW_INVALID: spec.aicr has no data, or another place for the recipe is named beside
 * it; the message begins with the field */
int sw_aicr_source_check(struct json_object *doc, struct sw_err *err) SW_CHECKED;
