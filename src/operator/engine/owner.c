#include "operator/engine/owner.h"

#include "base/base.h"
#include "data/json/json.h"
#include "data/json/path.h"

#define ANN_RESOURCE "slipway.dev/resource"
#define ANN_KEPT "slipway.dev/kept" /* see operator/manifests/ownership.h */

bool sw_owner_is_predecessor(struct json_object *live, const char *predecessor)
{
    struct json_object *owners = sw_json_find(live, "metadata", "ownerReferences", NULL);
    return predecessor &&
           sw_streq(sw_json_str(sw_json_find_by(owners, "uid", predecessor), "", "kind", NULL),
                    "DASOperator");
}

/* Its shared release was handed over, though the owner's status does not say so yet. */
static bool is_handed_over(const struct sw_owner *owner, const char *mark)
{
    return owner->shared && mark && !sw_streq(mark, owner->name);
}

bool sw_owner_is_former(const struct sw_owner *owner, struct json_object *live)
{
    const char *mark = sw_obj_annotation(live, ANN_RESOURCE);
    return owner->shared && mark && !sw_obj_controller(live) &&
           sw_json_has_text(owner->former, mark) && !sw_streq(mark, owner->name);
}

char *sw_owner_foreign(const struct sw_owner *owner, struct json_object *live)
{
    struct json_object *controller = sw_obj_controller(live);
    const char *mark = sw_obj_annotation(live, ANN_RESOURCE);
    if ((owner->uid && sw_obj_has_owner(live, owner->uid)) ||
        sw_owner_is_predecessor(live, owner->predecessor) || sw_owner_is_former(owner, live) ||
        (owner->object_uid && sw_streq(owner->object_uid, sw_obj_uid(live)) &&
         !is_handed_over(owner, mark)))
        return NULL;
    if (controller)
        return sw_printf("belongs to %s %s", sw_json_str(controller, "?", "kind", NULL),
                         sw_json_str(controller, "?", "name", NULL));
    const char *kept = mark ? NULL : sw_obj_annotation(live, ANN_KEPT);
    if ((mark && sw_streq(mark, owner->name)) || (kept && sw_streq(kept, owner->shared)))
        return NULL;
    return mark ? sw_printf("belongs to SpecialResource %s", mark)
                : sw_strdup("exists and is not slipway's");
}

bool sw_owner_borrows(struct json_object *live)
{
    return sw_streq(sw_obj_kind(live), "Namespace") ||
           sw_streq(sw_obj_kind(live), "CustomResourceDefinition");
}
