/* constraints: what a recipe's Chart.yaml asks of the cluster (slipway.dev/constraints, as AICR's
 * recipes have it) is held against its nodes and its version. What is not met, and an error, stops
 * a resource that has written nothing yet; of one that has, and where the resource says so, it is
 * told. */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "chart/aicr/constraints.h"
#include "data/data.h"
#include "operator/controller/capability.h"
#include "operator/controller/core.h"

struct constraints {
    bool has;   /* the recipe has some */
    char *told; /* what was told last; NULL: nothing */
};

static struct constraints *constraints_of(const struct resource *r)
{
    return r->state[CAPABILITY_constraints];
}

/* All that is not met, of which @*stops says whether an error is among it; NULL: nothing is. */
static char *unmet(struct resource *r, struct json_object *constraints, bool *stops)
{
    struct sw_groups groups;
    char *all = NULL;
    *stops = false;
    resource_groups(r, &groups);
    SW_AUTO_JSON *facts = sw_groups_measured(&groups, r->c->kube_version);
    SW_AUTO_JSON *outcomes = sw_aicr_constraints_check(constraints, facts);
    sw_groups_done(&groups);
    for (size_t i = 0; i < sw_json_len(outcomes); i++) {
        struct json_object *v = sw_json_at(outcomes, i);
        const char *what = sw_json_str(v, "", "outcome", NULL);
        SW_AUTO_CHARS *text = sw_aicr_outcome_text(v);
        *stops = *stops || sw_aicr_outcome_stops(v);
        if (sw_streq(what, "unmet") || sw_streq(what, "invalid"))
            sw_append(&all, "%s%s", all ? "; " : "", text);
    }
    return all;
}

static void tell(struct resource *r, const char *message)
{
    struct constraints *own = constraints_of(r);
    const bool is_news = message && !sw_streq(own->told, message);
    sw_text_set(&own->told, message);
    if (is_news)
        event_report(r, &(struct sw_action){ .kind = SW_ACT_EVENT,
                                             .warning = true,
                                             .reason = "ConstraintNotMet",
                                             .message = message });
}

static void check(struct resource *r, struct prerequisite *out)
{
    SW_AUTO_JSON *constraints = resource_recipe_annotation(r, SW_ANN_CONSTRAINTS);
    struct constraints *own = constraints_of(r);
    bool stops = false;
    own->has = sw_json_len(constraints) > 0;
    SW_AUTO_CHARS *message = own->has ? unmet(r, constraints, &stops) : NULL;
    const bool is_told_only = sw_streq(sw_obj_annotation(r->doc, SW_ANN_CONSTRAINTS), "warn") ||
                              sw_json_len(sw_json_get(r->status, "inventory")) > 0;
    if (!stops || is_told_only) {
        tell(r, message);
        return;
    }
    sw_text_set(&own->told, NULL);
    out->code = SW_INVALID;
    out->reason = "ConstraintNotMet";
    out->message = sw_printf("the recipe asks for another cluster: %s", message);
}

static void on_node(struct sw_controller *c, uint32_t node SW_UNUSED)
{
    bool any = false;
    for (struct resource *r = c->resources; r && !any; r = r->next)
        any = r->doc && constraints_of(r)->has;
    if (any)
        recheck_soon(c);
}

static void resource_close(struct resource *r)
{
    sw_text_set(&constraints_of(r)->told, NULL);
}

const struct capability capability_constraints = {
    .name = "constraints",
    .summary = "what a recipe asks of the cluster is checked before anything is written",
    .resource_size = sizeof(struct constraints),
    .check = check,
    .node_changed = on_node,
    .resource_close = resource_close,
};
