#pragma once
/* graph: the states of a plan, in an order in which each comes after all that it needs. */
#include "base/base.h"

struct sw_plan;
struct sw_render_env;

/** Find the states of @plan, whose charts and templates are known, and their needs. @env: for
 * charts with resource groups, which are rendered for it. @return as sw_recipe_plan() */
int sw_plan_build_graph(struct sw_plan *plan, const struct sw_render_env *env,
                        struct sw_err *err) SW_CHECKED;
