#include "cli/recipe/absent_charts.h"

#include <json-c/json.h>
#include <string.h>

#include "chart/recipe/recipe.h"
#include "data/data.h"
#include "operator/engine/readiness/pod_maker.h"
#include "operator/inventory/inventory.h"

#define NOT_INSTALLED "chart not installed: "
#define FOR_SOME_REASON NOT_INSTALLED "somebody else has brought it, or it is not needed"

/* Is the chart of state @name a subchart of @above's, "nfd"? It is "nfd.node-feature-discovery"
 * then, or, where that is the recipe, a state that @above needs. */
static bool is_below(const char *name, const char *above, bool needed)
{
    size_t len = strlen(above);
    return strchr(name, '.') ? strncmp(name, above, len) == 0 && name[len] == '.' : needed;
}

/* Of OLM's: an object, or what the inventory says of one. */
static bool is_subscription(struct json_object *doc)
{
    return sw_is_subscription(sw_obj_api_version(doc), sw_obj_kind(doc));
}

/* ---- of a resource -----------------------------------------------------------------------------
 */

/* Does state @above need @name? */
static bool needs(struct json_object *status, const char *above, const char *name)
{
    struct json_object *state = sw_json_find_by(sw_json_get(status, "states"), "name", above),
                       *list = sw_json_get(state, "needs");
    for (size_t i = 0; i < sw_json_len(list); i++)
        if (sw_streq(json_object_get_string(sw_json_at(list, i)), name))
            return true;
    return false;
}

/* The Subscription of the state that the chart of state @name is below. */
static struct json_object *subscription_above(struct json_object *status, const char *name)
{
    struct json_object *inventory = sw_inventory_of(status);
    for (size_t i = 0; i < sw_json_len(inventory); i++) {
        struct json_object *item = sw_json_at(inventory, i);
        const char *state = sw_json_str(item, "", "state", NULL);
        if (is_subscription(item) && is_below(name, state, needs(status, state, name)))
            return item;
    }
    return NULL;
}

char *sw_chart_note(struct json_object *status, struct json_object *state)
{
    struct json_object *release = sw_json_get(state, "release");
    if (!release || sw_json_get(release, "deployed") ||
        !sw_streq(sw_json_str(state, "", "phase", NULL), "Ready") ||
        sw_json_int(state, 0, "objects", "total", NULL))
        return NULL;
    const char *owner = sw_json_str(release, "", "owner", NULL);
    if (*owner)
        return sw_printf("the release is resource %s's", owner);
    struct json_object *item = subscription_above(status, sw_json_str(state, "", "name", NULL));
    return item ? sw_printf(NOT_INSTALLED "OLM installs it (Subscription %s/%s)",
                            sw_json_str(item, "", "namespace", NULL),
                            sw_json_str(item, "", "name", NULL))
                : sw_strdup(FOR_SOME_REASON);
}

struct json_object *sw_absent_charts_of(struct json_object *resource)
{
    struct json_object *status = sw_json_get(resource, "status"),
                       *states = sw_json_get(status, "states"), *list = json_object_new_array();
    (void)sw_inventory_of(status);
    for (size_t i = 0; i < sw_json_len(states); i++) {
        struct json_object *state = sw_json_at(states, i), *release = sw_json_get(state, "release");
        SW_AUTO_CHARS *note = sw_chart_note(status, state);
        if (!note || sw_json_get(release, "owner")) /* sw_preview_shared() tells of the latter */
            continue;
        struct json_object *item = json_object_new_object();
        sw_json_set_str(item, sw_json_str(state, "", "name", NULL), "state", NULL);
        sw_json_set_str(item, sw_json_str(release, "", "name", NULL), "release", NULL);
        sw_json_set_str(item, sw_json_str(release, "", "namespace", NULL), "namespace", NULL);
        sw_json_set_str(item, note, "why", NULL);
        (void)json_object_array_add(list, item);
    }
    return list;
}

/* ---- of a recipe -------------------------------------------------------------------------------
 */

struct json_object *sw_absent_charts_new(const struct sw_preview *preview)
{
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < sw_plan_n_states(preview->opened.plan); i++) {
        const struct sw_recipe_state *state = sw_plan_state(preview->opened.plan, i);
        const struct sw_release_of_state *release = state->release;
        if (!release)
            continue;
        struct json_object *item = json_object_new_object();
        sw_json_set_str(item, state->name, "state", NULL);
        sw_json_set_str(item, release->name, "release", NULL);
        sw_json_set_str(item, FOR_SOME_REASON, "why", NULL);
        sw_json_set_str(item, release->namespace ? release->namespace : preview->ns, "namespace",
                        NULL);
        if (release->shared)
            sw_json_set_str(item, release->shared, "shared", NULL);
        (void)json_object_array_add(list, item);
    }
    return list;
}

/* What @m, of the state above, is instead of the chart; heap, NULL: nothing. */
static char *instead(struct json_object *doc)
{
    const char *ns = sw_obj_namespace(doc);
    if (is_subscription(doc))
        return sw_printf(NOT_INSTALLED "OLM installs it (Subscription %s%s%s)", ns ? ns : "",
                         ns ? "/" : "", sw_obj_name(doc));
    return NULL;
}

void sw_absent_charts_take(struct json_object *list, const struct sw_preview *preview,
                           const struct sw_manifest *m)
{
    const struct sw_recipe_state *state = sw_plan_state(preview->opened.plan, m->state);
    for (size_t i = sw_json_len(list); i-- > 0;) {
        struct json_object *item = sw_json_at(list, i);
        const char *name = sw_json_str(item, "", "state", NULL);
        bool needed = false;
        for (size_t k = 0; k < state->n_needs; k++)
            needed |= sw_streq(sw_plan_state(preview->opened.plan, state->needs[k])->name, name);
        if (m->release && sw_streq(name, state->name)) {
            (void)json_object_array_del_idx(list, i, 1);
        } else if (is_below(name, state->name, needed)) {
            SW_AUTO_CHARS *why = instead(m->doc);
            if (why)
                sw_json_set_str(item, why, "why", NULL);
        }
    }
}

void sw_absent_charts_drop_shared(struct json_object *list, struct json_object *shared)
{
    for (size_t i = sw_json_len(list); i-- > 0;) {
        const char *name = sw_json_str(sw_json_at(list, i), NULL, "shared", NULL);
        if (name && sw_json_find_by(shared, "release", name))
            (void)json_object_array_del_idx(list, i, 1);
    }
}

char *sw_absent_charts_text(struct json_object *list)
{
    char *out = sw_strdup("");
    for (size_t i = 0; i < sw_json_len(list); i++) {
        struct json_object *item = sw_json_at(list, i);
        sw_append(&out, "release %s of namespace %s: %s\n", sw_json_str(item, "", "release", NULL),
                  sw_json_str(item, "", "namespace", NULL),
                  sw_json_str(item, FOR_SOME_REASON, "why", NULL));
    }
    return out;
}
