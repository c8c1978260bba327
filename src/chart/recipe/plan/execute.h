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
    struct sw_output *notes; /* owned; of NOTES.txt, likewise, where the environment keeps them */
    size_t n_notes, cap_notes;
    bool *left_out; /* owned; by number of releases of their own: it is not to be installed */
};
/** Free it. Twice is harmless. */
void sw_outputs_done(struct sw_outputs *run);
/** As sw_rendered_notes(). */
char *sw_outputs_notes(const struct sw_outputs *run, bool of_all);

/** Which templates are run. */
struct sw_plan_filter {
    bool (*takes)(const void *arg, const struct sw_plan_template *tmpl);
    const void *arg;
    /* Releases of their own are asked whether they are to be installed (own_release.h): that of
     * this state, or SW_ALL_STATES, and those of the templates. */
    bool asks;
    size_t state;
};

/** Run the templates that @filter takes, in Helm's order, and add their outputs to @run. Partials
 * are left out; so is output with nothing but blanks in it, and what belongs to a release that is
 * not to be installed.
 * @return 0 | SW_INVALID: a template's error | SW_NOTFOUND: a chart that could not be fetched |
 *         what lookup returned */
int sw_plan_run(const struct sw_plan *plan, const struct sw_render_env *env,
                const struct sw_plan_filter *filter, struct sw_outputs *run,
                struct sw_err *err) SW_CHECKED;

/** Run the named template @name with what the templates of @chart see. @*out: what it prints,
 * without blanks around it, the caller's. @return as sw_plan_run() */
int sw_plan_run_named(const struct sw_plan *plan, const struct sw_render_env *env,
                      const struct sw_plan_chart *chart, const char *name, char **out,
                      struct sw_err *err) SW_CHECKED;

/** The values of @chart for one render: a copy, as sw_plan_render_values() has them. */
struct sw_value sw_plan_chart_values(const struct sw_plan *plan, const struct sw_plan_chart *chart,
                                     struct sw_arena *arena, const struct json_object *facts);
/** The root's values for one render: a copy, with the facts in it and in all subcharts' values. */
struct sw_value sw_plan_render_values(const struct sw_plan *plan, struct sw_arena *arena,
                                      const struct json_object *facts);
