#pragma once
/* plan: a recipe with its values, as the files that build and render it see it. */
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"
#include "chart/recipe/plan/plan_chart.h"
#include "chart/recipe/recipe.h"
#include "chart/template/template.h"

/* HIP-0025's annotations: an object's resource group, and the groups that it needs. */
#define SW_ANN_GROUP "helm.sh/resource-group"
#define SW_ANN_GROUP_NEEDS "helm.sh/depends-on/resource-groups"

/** The parsed templates of one set of enabled charts; shared by plans. */
struct sw_template_cache {
    struct sw_template_set *set;
    char *signature; /* paths and addresses of the templates */
    size_t refs;
};

/** A template of a chart in the plan. */
struct sw_plan_template {
    const char *path; /* "root/charts/a/templates/0000-x.yaml" */
    const struct sw_plan_chart *chart;
    const struct sw_recipe_file *file;
    bool kernel_affine;
    bool is_partial;
    bool is_notes;
    int number;   /* NNNN of a numbered template; -1: none */
    size_t state; /* SIZE_MAX: none, or by resource group */
    bool grouped; /* its documents belong to states by their resource group */
};

/** See recipe.h. All memory is in @arena, but for @parsed. */
struct sw_plan {
    const struct sw_recipe *recipe;
    struct sw_arena *arena;
    struct sw_plan_chart *root;
    struct sw_value values; /* of the root, coalesced, without facts; never handed to templates */
    struct sw_plan_template *templates; /* in the order to parse and execute */
    size_t n_templates;
    struct sw_template_cache *parsed;
    struct sw_recipe_state *states;
    size_t n_states;
    /* The charts with crds/ and the states of these, in the order of walking the tree. */
    const struct sw_plan_chart **crd_charts;
    size_t *crd_states;
    size_t n_crd_charts;
    size_t n_releases;                             /* of subcharts of their own: own_release.h */
    const struct sw_plan_release **state_releases; /* of each state; NULL: the recipe's */
};

/** The chart at @path, a full path ("root/charts/a"), in the plan's arena; NULL: there is none. */
const struct sw_plan_chart *sw_plan_chart_at(const struct sw_plan *plan, const char *path);

/** One reference less; the last one frees it. NULL is accepted. */
void sw_template_cache_unref(struct sw_template_cache *cache);
