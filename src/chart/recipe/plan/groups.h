#pragma once
/* groups: the resource groups that a chart's objects are in, and the groups that these need.
 * Source: HIP-0025. */
#include <stddef.h>

#include "base/base.h"
#include "chart/recipe/plan/cycle.h"
#include "chart/recipe/plan/plan.h"

/** Most resource groups of one chart. */
enum { SW_MAX_GROUPS = 200 };

/** A group that objects are in, or that one needs. */
struct sw_resource_group {
    const char *name;
    const char *where; /* "path:line" of the first document that named or needed it */
    bool exists;       /* objects are in it */
};

/** All of a chart; strings are in @arena, which is the plan's. */
struct sw_resource_groups {
    struct sw_arena *arena;
    struct sw_resource_group all[SW_MAX_GROUPS];
    size_t n;
    struct sw_needs needs; /* among SW_MAX_GROUPS */
    bool rest;             /* there are documents in no group */
};

/** Render @chart's grouped templates and read the groups of the output. @*out is the caller's.
 * @return 0 | SW_INVALID: an unknown group, a cycle | what rendering returned */
int sw_resource_groups_find(const struct sw_plan *plan, const struct sw_plan_chart *chart,
                            const struct sw_render_env *env, struct sw_resource_groups **out,
                            struct sw_err *err) SW_CHECKED;
/** NULL is accepted. */
void sw_resource_groups_free(struct sw_resource_groups *groups);
SW_DEFINE_AUTO(sw_resource_groups, sw_resource_groups_free)
