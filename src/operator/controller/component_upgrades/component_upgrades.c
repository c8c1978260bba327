/* component_upgrades: where a recipe has records of its components' upgrades (slipway.dev/upgrades,
 * as AICR's catalogues have them), a release that is Ready in one version does not go to another
 * before its record calls that step safe, or the resource says that it may. Until then all stays as
 * it is. */
#include <stdlib.h>
#include <string.h>

#include "chart/aicr/upgrades.h"
#include "data/data.h"
#include "operator/controller/capability.h"
#include "operator/controller/core.h"

/* Is @component among the names in the resource's annotation, or are all? */
static bool is_allowed(const struct resource *r, const char *component)
{
    static const char between[] = ", \t\n";
    const char *at = sw_text_or(sw_obj_annotation(r->doc, SW_ANN_UPGRADES), "");
    while (*at) {
        const size_t len = strcspn(at, between);
        if (len && ((len == 3 && strncmp(at, "all", len) == 0) ||
                    (len == strlen(component) && strncmp(at, component, len) == 0)))
            return true;
        at += len + (at[len] != '\0');
    }
    return false;
}

/* Is the release @name deployed, and no release of the plan? */
static bool is_going(const struct resource *r, const char *name)
{
    struct json_object *states = sw_json_get(r->status, "states");
    bool is_there = false;
    for (size_t i = 0; i < sw_json_len(states) && !is_there; i++) {
        struct json_object *release = sw_json_get(sw_json_at(states, i), "release");
        is_there = sw_streq(sw_json_str(release, "", "name", NULL), name) &&
                   sw_json_str(release, NULL, "deployed", NULL);
    }
    for (size_t i = 0; i < r->plan->n_states && is_there; i++)
        is_there = !r->plan->states[i].release || !sw_streq(r->plan->states[i].release->name, name);
    return is_there;
}

/* The step that brings the release @name, deployed in version @from (NULL: it is not), to @to;
 * NULL: there is nothing to be said of it. The caller's. */
static struct json_object *step_of(const struct resource *r, struct json_object *records,
                                   const char *name, const char *from, const char *to)
{
    struct json_object *record = sw_json_get(records, name);
    if (from)
        return sw_aicr_upgrade(record, from, to);
    const char *old = sw_aicr_replaces(record);
    return old && is_going(r, old) ? sw_aicr_replacement(record, to) : NULL;
}

/* What keeps the release of the plan's @state from its new version, appended to @out. */
static void check_state(const struct resource *r, size_t state, struct json_object *records,
                        char **out)
{
    SW_AUTO_JSON *release = own_revision_of(r, state, NULL);
    const char *name = sw_json_str(release, "", "name", NULL),
               *from = sw_json_str(release, NULL, "deployed", NULL),
               *to = sw_json_str(release, "", "version", NULL);
    if (!release || sw_streq(from, to) || is_allowed(r, name))
        return;
    SW_AUTO_JSON *step = step_of(r, records, name, from, to);
    const char *verdict = sw_json_str(step, "safe", "verdict", NULL);
    if (sw_streq(verdict, "safe") || sw_streq(verdict, "unversioned"))
        return;
    SW_AUTO_CHARS *text = sw_aicr_upgrade_text(step, " ", "Before");
    SW_AUTO_CHARS *what = from ? sw_printf("from %s to %s", from, to)
                               : sw_printf("in the place of %s",
                                           sw_json_str(step, "", "replaces", NULL));
    sw_append(out, "%s%s %s is %s: %s", *out ? "; " : "", name, what, verdict, text);
}

/* Is the plan's @state the first of its release? The others go the same step. */
static bool is_first(const struct resource *r, size_t state)
{
    const struct sw_release_of_state *release = r->plan->states[state].release;
    for (size_t i = 0; release && i < state; i++)
        if (r->plan->states[i].release &&
            sw_streq(r->plan->states[i].release->name, release->name) &&
            sw_streq(r->plan->states[i].release->namespace, release->namespace))
            return false;
    return release;
}

static void check(struct resource *r, struct prerequisite *out)
{
    SW_AUTO_JSON *records = resource_recipe_annotation(r, SW_ANN_UPGRADES);
    SW_AUTO_CHARS *found = NULL;
    for (size_t i = 0; records && r->plan && i < r->plan->n_states; i++)
        if (is_first(r, i))
            check_state(r, i, records, &found);
    if (!found)
        return;
    out->code = SW_INVALID;
    out->reason = "UpgradeNotAllowed";
    out->message = sw_printf(
        "the recipe upgrades what is there: %s; when that is done, allow it by "
        "the resource's annotation " SW_ANN_UPGRADES ", which names the components",
        found);
}

const struct capability capability_component_upgrades = {
    .name = "component_upgrades",
    .summary = "a component whose record does not call its upgrade safe keeps its version until "
               "that is allowed",
    .check = check,
};
