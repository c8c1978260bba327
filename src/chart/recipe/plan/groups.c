#include "chart/recipe/plan/groups.h"

#include <stdlib.h>

#include <json-c/json_object.h>

#include "data/json/path.h"

/* @return the group's number, added where it is new; -1 with @err set. */
static int find_group(struct sw_resource_groups *gs, const char *name, const char *path, int line,
                      struct sw_err *err)
{
    for (size_t i = 0; i < gs->n; i++)
        if (sw_streq(gs->all[i].name, name))
            return (int)i;
    if (gs->n == SW_MAX_GROUPS)
        return sw_err_set(err, SW_INVALID, "more than %d resource groups", SW_MAX_GROUPS), -1;
    gs->all[gs->n] = (struct sw_resource_group){
        .name = sw_arena_strdup(gs->arena, name),
        .where = sw_arena_printf(gs->arena, "%s:%d", path, line),
    };
    return (int)gs->n++;
}

static int on_group(void *arg, const char *path, int line, const char *group,
                    struct json_object *needs, struct sw_err *err)
{
    struct sw_resource_groups *gs = arg;
    if (!group) {
        gs->rest = true;
        return 0;
    }
    int i = find_group(gs, group, path, line, err);
    if (i < 0)
        return SW_INVALID;
    gs->all[i].exists = true;
    for (size_t k = 0; k < sw_json_len(needs); k++) {
        int j = find_group(gs, json_object_get_string(sw_json_at(needs, k)), path, line, err);
        if (j < 0)
            return SW_INVALID;
        sw_needs_add(&gs->needs, (size_t)i, (size_t)j);
    }
    return 0;
}

static int check_groups(struct sw_resource_groups *gs, struct sw_err *err)
{
    const char *names[SW_MAX_GROUPS];
    size_t order[SW_MAX_GROUPS];
    for (size_t i = 0; i < gs->n; i++) {
        names[i] = gs->all[i].name;
        if (!gs->all[i].exists)
            return sw_err_set(err, SW_INVALID,
                              "%s: helm.sh/depends-on/resource-groups: there is no group '%s'",
                              gs->all[i].where, gs->all[i].name);
    }
    struct sw_needs used = sw_needs_init(gs->n);
    for (size_t i = 0; i < gs->n; i++)
        for (size_t j = 0; j < gs->n; j++)
            if (sw_needs_has(&gs->needs, i, j))
                sw_needs_add(&used, i, j);
    int rc = sw_needs_sort(&used, names, order, err);
    sw_needs_done(&used);
    return rc < 0 ? sw_err_wrap(err, rc, "%s: helm.sh/depends-on/resource-groups",
                                gs->all[order[0]].where)
                  : 0;
}

int sw_resource_groups_find(const struct sw_plan *plan, const struct sw_plan_chart *part,
                            const struct sw_render_env *env, struct sw_resource_groups **out,
                            struct sw_err *err)
{
    SW_AUTO(sw_resource_groups) *gs = sw_zalloc(1, sizeof *gs);
    gs->arena = plan->arena;
    gs->needs = sw_needs_init(SW_MAX_GROUPS);
    int rc = sw_plan_each_group(plan, part, env, on_group, gs, err);
    if (rc == 0)
        rc = check_groups(gs, err);
    if (rc == 0)
        *out = SW_TAKE(gs);
    return rc;
}

void sw_resource_groups_free(struct sw_resource_groups *groups)
{
    if (!groups)
        return;
    sw_needs_done(&groups->needs);
    free(groups);
}
