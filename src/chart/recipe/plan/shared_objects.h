#pragma once
/* shared_objects: states whose plain objects several resources share, as they share releases of
 * their own (own_release.h): what OLM is told, say. The annotation slipway.dev/shared-objects of
 * the state's chart gives them a name (docs/recipes.md). */
#include <stdbool.h>

#include "base/base.h"
#include "chart/recipe/recipe.h"

struct json_object;
struct sw_plan;
struct sw_plan_chart;

/** Read the annotation of @chart: "<namespace>/<name>[@<version>]", a template of the chart's
 * .Values; without a version the chart's own counts, and an empty text is no name. @path: the
 * chart's file, for messages.
 * @return 0 | SW_INVALID: it is no such name, or the chart is in a release of its own */
int sw_plan_shared_objects_read(struct sw_plan *plan, struct sw_plan_chart *chart,
                                const struct sw_render_env *env, struct sw_err *err) SW_CHECKED;
/** Does another resource have the objects of @state, for all? */
bool sw_plan_has_another(const struct sw_recipe_state *state, const struct sw_render_env *env);
/** Make @object, of a state that another resource has, or all items of a list, one that is waited
 * for and not written. @return whether that changes anything */
bool sw_plan_observe(struct json_object *object);
