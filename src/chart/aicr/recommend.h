#pragma once
/* recommend: which recipes of a catalogue fit a cluster, and what speaks against the others. Pure.
 * Facts are those of chart/aicr/constraints.h. */
#include "chart/aicr/aicr.h"

/** What facts say of criteria: {"service": [..], "accelerator": [..], "os": [..]}, each list empty
 * where nothing is known. Where nodes have GPUs, the others do not count. The caller's.
 * Source: NVIDIA/aicr, pkg/recipe/snapshot.go. */
struct json_object *sw_aicr_criteria_known(struct json_object *facts) SW_CHECKED;
/** Which overlays of @catalog fit @facts: a list of {name, criteria, against, unknown}, those that
 * fit (nothing is @against) first, then by how much they say, then by name. @wanted: criteria that
 * a cluster does not decide (intent, platform), or NULL. @*out is the caller's.
 * @return 0 | SW_INVALID: an overlay cannot be resolved */
int sw_aicr_recommend(const struct sw_aicr_catalog *catalog, struct json_object *facts,
                      struct json_object *wanted, struct json_object **out,
                      struct sw_err *err) SW_CHECKED;
/** The same of one RecipeResult; the caller's. */
struct json_object *sw_aicr_judge(const char *name, struct json_object *result,
                                  struct json_object *facts, struct json_object *wanted) SW_CHECKED;
/** What the components of a RecipeResult would be installed over: a list of {component, namespace,
 * version, there}, where @there says what is there ("nothing", "the same", "v1.2.3 is, in namespace
 * x"), by facts "K8s.helm.<release>.version" and ".namespace" of the cluster. The caller's. */
struct json_object *sw_aicr_over(struct json_object *result, struct json_object *facts) SW_CHECKED;
