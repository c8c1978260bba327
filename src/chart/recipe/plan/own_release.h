#pragma once
/* own_release: subcharts that are Helm releases of their own, as vendors' charts want to be. The
 * annotation slipway.dev/releases of the chart above names them (docs/recipes.md). Helm itself does
 * not know it: there they are subcharts like others. */
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"
#include "chart/recipe/recipe.h"

struct json_object;
struct sw_plan;
struct sw_plan_chart;

/** An annotation for objects of a vendor's chart: what slipway waits for, say. */
struct sw_plan_annotation {
    const char *kind, *name; /* of the objects; name NULL: all of the kind */
    const char *field;       /* dotted: only those that have it; NULL: all */
    const char *key, *value;
};

/** A subchart's release; all that is below the subchart is in it, too. In the plan's arena. */
struct sw_plan_release {
    struct sw_release_of_state of;
    const char *labels;  /* of its namespace, if it is made: a JSON object; NULL: none */
    const char *only_if; /* a named template of the chart above, which prints "true" where the
                          * release is to be installed; NULL: always */
    const struct sw_plan_annotation *annotations; /* for its objects */
    size_t n_annotations;
    const struct sw_plan_chart *above; /* the chart with the annotation */
    size_t number;                     /* among the releases of the plan, from 0 */
    bool is_recipes; /* it has the name and namespace of the whole recipe's release: it is that one,
                      * as where a state is walked alone */
};

/** Read the annotations of all charts (of shared_objects.h, too), once values and templates are
 * known.
 * @return 0 | SW_INVALID: names the Chart.yaml and the field */
int sw_plan_find_releases(struct sw_plan *plan, const struct sw_render_env *env,
                          struct sw_err *err) SW_CHECKED;
/** The annotation @key of @chart, a template of its .Values, rendered; the caller's. *@out NULL: it
 * has none. @return 0 | SW_INVALID */
int sw_plan_annotation_text(const struct sw_plan *plan, const struct sw_plan_chart *chart,
                            const struct sw_render_env *env, const char *key, char **out,
                            struct sw_err *err) SW_CHECKED;
/** The release that @chart is in; NULL: the one of the whole recipe. */
const struct sw_plan_release *sw_plan_release_of(const struct sw_plan_chart *chart);
/** Give @object, which @release renders, the annotations that the chart above has for it.
 * @return true: there are some */
bool sw_plan_annotate(const struct sw_plan_release *release, struct json_object *object);
