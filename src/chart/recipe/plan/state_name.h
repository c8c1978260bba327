#pragma once
/* state_name: the names of the states of charts that name these themselves, by what the cluster is:
 * the annotation slipway.dev/state-name of a chart names a template that prints it. The chart's
 * values, and what depends on it, keep the chart's name. */
#include "base/base.h"

struct sw_plan;
struct sw_render_env;

/** Name the states of all charts of @plan, whose templates are known.
 * @return 0 | SW_INVALID: no name, or a neighbour's; the message names the Chart.yaml | what
 *         rendering returned */
int sw_plan_name_states(struct sw_plan *plan, const struct sw_render_env *env,
                        struct sw_err *err) SW_CHECKED;
