#include "chart/recipe/plan/state_name.h"

#include <string.h>

#include "chart/recipe/plan/execute.h"
#include "chart/recipe/plan/plan.h"
#include "data/selector/selector.h"

/* Which chart below the same one has the state name @name, other than @chart; NULL: none. */
static const struct sw_plan_chart *neighbour_named(const struct sw_plan_chart *chart,
                                                   const char *name)
{
    for (size_t i = 0; chart->parent && i < chart->parent->n_subcharts; i++) {
        const struct sw_plan_chart *other = chart->parent->subcharts[i];
        if (other != chart && (sw_streq(other->name, name) || sw_streq(other->state_name, name)))
            return other;
    }
    return NULL;
}

static int name_chart(struct sw_plan *plan, struct sw_plan_chart *chart,
                      const struct sw_render_env *env, const char *template, struct sw_err *err)
{
    SW_AUTO_CHARS *name = NULL;
    int rc = sw_plan_run_named(plan, env, chart, template, &name, err);
    if (rc == SW_NOTFOUND)
        return sw_err_set(err, SW_INVALID, "there is no such template");
    if (rc < 0 || !*name)
        return rc;
    const char *fault = sw_dns_label_fault(name);
    const struct sw_plan_chart *other = neighbour_named(chart, name);
    if (fault)
        return sw_err_set(err, SW_INVALID, "'%s': %s", name, fault);
    if (other)
        return sw_err_set(err, SW_INVALID, "'%s' is the name of %s", name, other->path);
    chart->state_name = sw_arena_strdup(plan->arena, name);
    return 0;
}

static int name_below(struct sw_plan *plan, struct sw_plan_chart *chart,
                      const struct sw_render_env *env, struct sw_err *err)
{
    const char *template = sw_chart_annotation(chart->loaded, SW_ANN_STATE_NAME);
    int rc = template ? name_chart(plan, chart, env, template, err) : 0;
    if (rc < 0 && rc != SW_PENDING)
        return sw_err_wrap(err, rc, "%s/Chart.yaml: %s: '%s'", chart->loaded->origin,
                           SW_ANN_STATE_NAME, template);
    for (size_t i = 0; rc == 0 && i < chart->n_subcharts; i++)
        rc = name_below(plan, chart->subcharts[i], env, err);
    return rc;
}

int sw_plan_name_states(struct sw_plan *plan, const struct sw_render_env *env, struct sw_err *err)
{
    return name_below(plan, plan->root, env, err);
}
