/* A DASOperator whose SpecialResource slipway has not made yet: what the recipe would do. */
#include <json-c/json.h>

#include "cli/commands/takeover.h"
#include "data/data.h"
#include "operator/manifests/das_resource.h"

/* The resource that the operator has made for a DASOperator, or somebody else by that name. */
static bool is_made(const struct takeover *t, struct json_object *resource)
{
    for (size_t i = 0; i < sw_json_len(t->resources); i++)
        if (sw_streq(sw_obj_name(sw_json_at(t->resources, i)), sw_obj_name(resource)))
            return true;
    return false;
}

void takeover_das(struct takeover *t, struct json_object *das)
{
    const char *state = sw_json_str(das, "", "spec", "managementState", NULL);
    bool is_the_one = sw_streq(sw_obj_name(das), DAS_NAME) &&
                      (!*sw_obj_namespace(das) || sw_streq(sw_obj_namespace(das), DAS_NAMESPACE));
    SW_AUTO_JSON *resource = sw_das_resource(das);
    if (takeover_is_left_alone(t, das))
        return;
    if (!is_the_one || sw_streq(state, "Removed")) {
        takeover_add(t, TAKEOVER_UNCHANGED, das,
                     &(struct takeover_more){ .why = is_the_one ? "nothing is made for it now"
                                                                : "only " DAS_NAMESPACE "/" DAS_NAME
                                                                  " is carried out" });
        return;
    }
    takeover_add(t, TAKEOVER_ADOPTED, das, &(struct takeover_more){ 0 });
    if (!is_made(t, resource))
        takeover_resource(t, resource);
}
