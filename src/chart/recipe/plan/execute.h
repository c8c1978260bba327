#pragma once
/* execute: run a plan's templates with what holds now. */
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"
#include "chart/recipe/plan/plan.h"

/** One template's output: bytes at @start of the run's text. */
struct sw_output {
    const struct sw_plan_template *tmpl;
    size_t start, len;
};

/** The outputs of a run; zero-initialise. */
struct sw_outputs {
    struct sw_template_out out;
    struct sw_output *files; /* owned; sorted by path */
    size_t n_files, cap_files;
};
/** Free it. Twice is harmless. */
void sw_outputs_done(struct sw_outputs *run);

/** Whether to run a template. */
typedef bool sw_plan_filter_fn(const void *arg, const struct sw_plan_template *tmpl);

/** Run the templates that @filter takes, in Helm's order, and add their outputs to @run. Partials
 * are left out; so is output with nothing but blanks in it.
 * @return 0 | SW_INVALID: a template's error | what lookup returned */
int sw_plan_run(const struct sw_plan *plan, const struct sw_render_env *env,
                sw_plan_filter_fn *filter, const void *arg, struct sw_outputs *run,
                struct sw_err *err) SW_CHECKED;

/** The root's values for one render: a copy, with the facts in it and in all subcharts' values. */
struct sw_value sw_plan_render_values(const struct sw_plan *plan, struct sw_arena *arena,
                                      const struct json_object *facts);
