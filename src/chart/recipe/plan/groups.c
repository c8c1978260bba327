#include "chart/recipe/plan/groups.h"

#include <stdlib.h>

#include "chart/recipe/load/names.h"
#include "chart/recipe/plan/execute.h"
#include "chart/recipe/plan/split.h"
#include "data/json/json.h"
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

/* One document: its group, and what the group needs. Hooks are in no group. */
static int read_document(struct sw_resource_groups *gs, struct json_object *object,
                         const char *path, int line, struct sw_err *err)
{
    if (!object || sw_obj_annotation(object, "helm.sh/hook"))
        return 0;
    const char *group = sw_obj_annotation(object, SW_ANN_GROUP);
    if (!group) {
        gs->rest = true;
        return 0;
    }
    struct json_object *value = sw_json_find(object, "metadata", "annotations", SW_ANN_GROUP_NEEDS,
                                             NULL);
    SW_AUTO_JSON *needs = value ? sw_recipe_names(value, err) : NULL;
    if (value && !needs)
        return sw_err_wrap(err, SW_INVALID, "%s:%d: %s", path, line, SW_ANN_GROUP_NEEDS);
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

static bool is_grouped_of(const void *chart, const struct sw_plan_template *t)
{
    return t->grouped && t->chart == chart;
}

int sw_resource_groups_find(const struct sw_plan *plan, const struct sw_plan_chart *chart,
                            const struct sw_render_env *env, struct sw_resource_groups **out,
                            struct sw_err *err)
{
    SW_AUTO(sw_resource_groups) *gs = sw_zalloc(1, sizeof *gs);
    gs->arena = plan->arena;
    gs->needs = sw_needs_init(SW_MAX_GROUPS);
    struct sw_outputs run = { 0 };
    struct sw_plan_filter filter = { .takes = is_grouped_of, .arg = chart };
    int rc = sw_plan_run(plan, env, &filter, &run, err);
    for (size_t i = 0; i < run.n_files && rc == 0; i++) {
        const struct sw_output *file = &run.files[i];
        struct sw_split split = { .text = run.out.text + file->start, .len = file->len };
        while (rc == 0 && sw_split_next(&split)) {
            SW_AUTO_JSON *object = NULL;
            rc = sw_split_parse(&split, file->tmpl->path, &object, err);
            if (rc == 0)
                rc = read_document(gs, object, file->tmpl->path, split.line, err);
        }
    }
    sw_outputs_done(&run);
    if (rc < 0)
        return rc;
    const char *names[SW_MAX_GROUPS];
    size_t order[SW_MAX_GROUPS];
    for (size_t i = 0; i < gs->n; i++) {
        names[i] = gs->all[i].name;
        if (!gs->all[i].exists)
            return sw_err_set(err, SW_INVALID, "%s: " SW_ANN_GROUP_NEEDS ": there is no group '%s'",
                              gs->all[i].where, gs->all[i].name);
    }
    gs->needs.n = gs->n;
    rc = sw_needs_sort(&gs->needs, names, order, err);
    if (rc < 0)
        return sw_err_wrap(err, rc, "%s: " SW_ANN_GROUP_NEEDS, gs->all[order[0]].where);
    *out = SW_TAKE(gs);
    return 0;
}

void sw_resource_groups_free(struct sw_resource_groups *groups)
{
    if (!groups)
        return;
    sw_needs_done(&groups->needs);
    free(groups);
}
