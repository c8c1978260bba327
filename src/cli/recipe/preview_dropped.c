#include "cli/recipe/preview_dropped.h"

#include <json-c/json.h>

#include "cli/recipe/preview.h"
#include "data/data.h"
#include "operator/inventory/inventory.h"

void sw_preview_note(struct json_object **rendered, const struct sw_preview *preview,
                     const struct sw_manifest *manifest, struct json_object *applied)
{
    struct json_object *one = json_object_new_object();
    struct json_object *doc = applied ? applied : manifest->doc; /* hooks may rename it */
    *rendered = *rendered ? *rendered : json_object_new_array();
    sw_json_set_str(one, sw_obj_kind(doc), "kind", NULL);
    sw_json_set_str(one, sw_obj_name(doc), "name", NULL);
    if (applied)
        sw_json_set_str(one, sw_obj_namespace(applied), "namespace", NULL);
    sw_json_set_str(one, sw_plan_state(preview->opened.plan, manifest->state)->name, "state", NULL);
    (void)json_object_array_add(*rendered, one);
}

static bool is_rendered(struct json_object *rendered, struct json_object *entry)
{
    for (size_t i = 0; i < sw_json_len(rendered); i++) {
        struct json_object *one = sw_json_at(rendered, i);
        const char *ns = sw_json_str(one, NULL, "namespace", NULL);
        if (sw_streq(sw_json_str(one, "", "kind", NULL), sw_json_str(entry, "", "kind", NULL)) &&
            sw_streq(sw_json_str(one, "", "name", NULL), sw_json_str(entry, "", "name", NULL)) &&
            (!ns || sw_streq(ns, sw_json_str(entry, "", "namespace", NULL))))
            return true;
    }
    return false;
}

/* The recipe has the state, and nothing of it was rendered: no node has a kernel for it, or its
 * chart is not here. */
static bool is_unknown(const struct sw_preview *preview, struct json_object *rendered,
                       const char *state)
{
    for (size_t i = 0; i < sw_plan_n_states(preview->opened.plan); i++)
        if (sw_streq(sw_plan_state(preview->opened.plan, i)->name, state))
            return !sw_json_find_by(rendered, "state", state);
    return false;
}

struct json_object *sw_preview_dropped(const struct sw_preview *preview,
                                       struct json_object *rendered)
{
    struct json_object *status = sw_json_get(preview->resource, "status"),
                       *inventory = sw_inventory_of(status), *out = json_object_new_array();
    struct json_object *states = sw_json_get(status, "states");
    for (size_t i = 0; i < sw_json_len(inventory); i++) {
        struct json_object *entry = sw_json_at(inventory, i);
        const char *state = sw_json_str(entry, "", "state", NULL);
        if (sw_json_find_by(states, "name", state) && /* else the resource's namespace */
            !sw_json_bool(entry, false, "done", NULL) && !is_rendered(rendered, entry) &&
            !is_unknown(preview, rendered, state))
            (void)json_object_array_add(out, json_object_get(entry));
    }
    return out;
}
