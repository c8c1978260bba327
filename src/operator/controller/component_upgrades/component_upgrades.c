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

/* What keeps the release of the plan's @state from its new version, appended to @out. @records: the
 * recipe's, by component, once a release changes; the caller's. */
static void check_state(const struct resource *r, size_t state, struct json_object **records,
                        char **out)
{
    SW_AUTO_JSON *release = own_revision_of(r, state, NULL);
    const char *name = sw_json_str(release, "", "name", NULL),
               *from = sw_json_str(release, NULL, "deployed", NULL),
               *to = sw_json_str(release, "", "version", NULL);
    if (!from || sw_streq(from, to) || is_allowed(r, name))
        return;
    if (!*records)
        *records = resource_recipe_annotation(r, SW_ANN_UPGRADES);
    SW_AUTO_JSON *step = sw_aicr_upgrade(sw_json_get(*records, name), from, to);
    const char *verdict = sw_json_str(step, "", "verdict", NULL);
    if (!*records || sw_streq(verdict, "safe") || sw_streq(verdict, "unversioned"))
        return;
    SW_AUTO_CHARS *text = sw_aicr_upgrade_text(step, " ", "Before");
    sw_append(out, "%s%s from %s to %s is %s: %s", *out ? "; " : "", name, from, to, verdict, text);
}

static void check(struct resource *r, struct prerequisite *out)
{
    SW_AUTO_JSON *records = NULL;
    SW_AUTO_CHARS *found = NULL;
    for (size_t i = 0; r->plan && i < r->plan->n_states; i++)
        check_state(r, i, &records, &found);
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
