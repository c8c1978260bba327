/* What has to be there before a resource is walked: what capabilities ask for, and nodes that it
 * selects. */
#include "operator/controller/private.h"

bool prerequisites_update(struct resource *r)
{
    struct prerequisite now = { 0 }, *last = &r->own->prerequisite;
    struct json_object *selector = sw_json_find(r->doc, "spec", "nodeSelector", NULL);
    capabilities_check(r, &now);
    if (!now.code && !now.blocked)
        now.blocked = account_unconfirmed(r);
    if (!now.code && !now.blocked && sw_json_len(selector) && !cluster_selects_any(r))
        now.blocked = sw_printf(
            "NoMatchingNodes: no untainted node matches spec.nodeSelector %s [Waiting:"
            " label nodes, or change the selector]",
            json_object_to_json_string_ext(selector, JSON_C_TO_STRING_NOSLASHESCAPE));
    capabilities_begin(r, &now);
    bool changed = now.code != last->code || !sw_streq(now.blocked, last->blocked) ||
                   !sw_streq(now.message, last->message);
    prerequisite_done(last);
    *last = now;
    return changed;
}

bool resource_is_blocked(const struct resource *r)
{
    return r->own->prerequisite.code || r->own->prerequisite.blocked;
}
