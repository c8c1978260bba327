#include "chart/recipe/plan/shared_objects.h"

#include <json-c/json.h>
#include <string.h>

#include "chart/recipe/plan/own_release.h"
#include "chart/recipe/plan/plan.h"
#include "data/json/json.h"
#include "data/json/path.h"
#include "data/selector/selector.h"

static const char observe[] = "slipway.dev/observe";

/* ---- the annotation -----------------------------------------------------------------------------
 */

/* Why @ns and @name name nothing; NULL: they do. */
static const char *name_fault(const char *ns, const char *name)
{
    const char *fault = name ? sw_dns_label_fault(ns) : "expected <namespace>/<name>[@<version>]";
    return fault ? fault : sw_dns_subdomain_fault(name);
}

static int read_name(struct sw_plan *plan, struct sw_plan_chart *chart, const char *text,
                     struct sw_err *err)
{
    size_t len = strcspn(text, "@"), ns_len = strcspn(text, "/");
    SW_AUTO_CHARS *ns = sw_strndup(text, ns_len < len ? ns_len : len);
    SW_AUTO_CHARS *name = ns_len < len ? sw_strndup(text + ns_len + 1, len - ns_len - 1) : NULL;
    const char *fault = name_fault(ns, name), *version = text[len] ? text + len + 1 : "";
    if (fault)
        return sw_err_set(err, SW_INVALID, "'%s': %s", text, fault);
    if (chart->release || (chart->parent && sw_plan_release_of(chart->parent)))
        return sw_err_set(err, SW_INVALID, "the chart is in release '%s'",
                          sw_plan_release_of(chart)->of.name);
    if (!*version && chart->loaded->version)
        version = chart->loaded->version;
    chart->shared_objects = sw_arena_strndup(plan->arena, text, len);
    chart->shared_version = sw_arena_strdup(plan->arena, version);
    return 0;
}

int sw_plan_shared_objects_read(struct sw_plan *plan, struct sw_plan_chart *chart,
                                const struct sw_render_env *env, struct sw_err *err)
{
    static const char blanks[] = " \t\r\n";
    SW_AUTO_CHARS *text = NULL, *name = NULL;
    int rc = sw_plan_annotation_text(plan, chart, env, SW_ANN_SHARED_OBJECTS, &text, err);
    if (rc == 0 && text) {
        const char *from = text + strspn(text, blanks);
        name = sw_strndup(from, strcspn(from, blanks));
    }
    if (rc == 0 && name && *name)
        rc = read_name(plan, chart, name, err);
    return rc < 0 ? sw_err_wrap(err, rc, "%s", SW_ANN_SHARED_OBJECTS) : 0;
}

const char *sw_state_shared(const struct sw_recipe_state *state)
{
    return state->release && state->release->shared ? state->release->shared
                                                    : state->shared_objects;
}

const char *sw_state_shared_version(const struct sw_recipe_state *state)
{
    const char *version = state->release && state->release->shared ? state->release->version
                                                                   : state->shared_version;
    return version ? version : "";
}

/* ---- objects of another resource ----------------------------------------------------------------
 */

bool sw_plan_has_another(const struct sw_recipe_state *state, const struct sw_render_env *env)
{
    struct json_object *others = sw_json_get((struct json_object *)env->facts,
                                             SW_RELEASES_OF_OTHERS);
    return state->shared_objects && sw_json_get(others, state->shared_objects);
}

bool sw_state_shares(const struct sw_recipe_state *state, struct json_object *object)
{
    return state->shared_objects && !sw_obj_annotation(object, observe) &&
           !sw_obj_annotation(object, "slipway.dev/dry-run") &&
           !sw_streq(sw_obj_annotation(object, SW_ANN_SHARED_OBJECTS), "false");
}

bool sw_plan_observe(struct json_object *object)
{
    /* what would be done with an object of one's own */
    static const char *const drop[] = { "slipway.dev/adopt", "slipway.dev/approve-install-plan" };
    struct json_object *items = sw_json_get(object, "items");
    bool changes = false;
    if (sw_ends_with(sw_obj_kind(object), "List") && json_object_is_type(items, json_type_array)) {
        for (size_t i = 0; i < sw_json_len(items); i++)
            changes = sw_plan_observe(sw_json_at(items, i)) || changes;
        return changes;
    }
    if (!sw_state_shares(&(struct sw_recipe_state){ .shared_objects = "" }, object))
        return false;
    for (size_t i = 0; i < SW_COUNT(drop); i++)
        (void)sw_json_del(object, "metadata", "annotations", drop[i], NULL);
    sw_json_set_str(object, "true", "metadata", "annotations", observe, NULL);
    return true;
}
